//! Lists of numbers.

/// Numbers as `0,3` or `1-10`, or both: `0,3,5-7`.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(Vec<std::ops::RangeInclusive<u32>>);

impl Numbers {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no list of numbers such as 0,3 or 1-10");
        let number = |part: &str| part.trim().parse::<u32>().map_err(|_| wrong());
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let (low, high) = match part.split_once('-') {
                Some((low, high)) => (number(low)?, number(high)?),
                None => (number(part)?, number(part)?),
            };
            if low > high {
                return Err(wrong());
            }
            ranges.push(low..=high);
        }
        Ok(Self(ranges))
    }

    /// The numbers of a range that the list names.
    pub(crate) fn among(&self, all: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        all.filter(|number| self.0.iter().any(|range| range.contains(number))).collect()
    }

    /// The first named numbers that lie outside a range.
    pub(crate) fn outside(
        &self,
        all: &std::ops::RangeInclusive<u32>,
    ) -> Option<std::ops::RangeInclusive<u32>> {
        self.0.iter().find_map(|range| {
            let (low, high) = (*range.start(), *range.end());
            if low < *all.start() {
                Some(low..=high.min(all.start() - 1))
            } else if high > *all.end() {
                Some(low.max(all.end() + 1)..=high)
            } else {
                None
            }
        })
    }
}
