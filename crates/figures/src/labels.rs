//! The places of labels beside their objects, without overlap.

/// Places labels of one height as near to their wanted places as possible without overlap, between `top` and `bottom` (their
/// middles stay half a height inside). `None` = they do not fit.
///
/// Neighbors that would overlap are pooled and placed around the mean of their wanted places.
pub(crate) fn spread(wanted: &[f64], height: f64, top: f64, bottom: f64) -> Option<Vec<f64>> {
    let room = bottom - top;
    if wanted.len() as f64 * height > room + 1e-9 {
        return None;
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
    // A pool: its members in order, and the middle of its first member.
    let mut pools: Vec<(Vec<usize>, f64)> = Vec::new();
    for i in order {
        let mut pool = vec![i];
        loop {
            let first = first_middle(&pool, wanted, height, top, bottom);
            match pools.pop() {
                Some((before, at)) if at + before.len() as f64 * height > first + 1e-9 => {
                    pool = before.into_iter().chain(pool).collect();
                }
                other => {
                    pools.extend(other);
                    pools.push((pool, first));
                    break;
                }
            }
        }
    }
    let mut places = vec![0.0; wanted.len()];
    for (pool, first) in pools {
        for (k, i) in pool.into_iter().enumerate() {
            places[i] = first + k as f64 * height;
        }
    }
    Some(places)
}

fn first_middle(pool: &[usize], wanted: &[f64], height: f64, top: f64, bottom: f64) -> f64 {
    let count = pool.len() as f64;
    let wanted_middle =
        pool.iter().enumerate().map(|(k, i)| wanted[*i] - k as f64 * height).sum::<f64>() / count;
    let last = bottom - height * (count - 0.5);
    wanted_middle.min(last).max(top + height / 2.0)
}

/// A rectangle: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    /// Around a point.
    pub(crate) fn around((x, y): (f64, f64), half: f64) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    /// The area of a text in one line, by its left end and base line.
    pub(crate) fn from_text_line((left, base): (f64, f64), width: f64, size: f64) -> Self {
        Self { left, top: base - 0.8 * size, right: left + width, bottom: base + 0.25 * size }
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it is inside another one.
    pub(crate) fn within(&self, other: &Self) -> bool {
        self.left >= other.left
            && self.right <= other.right
            && self.top >= other.top
            && self.bottom <= other.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_stand_where_they_are_wanted_if_they_can() {
        assert_eq!(spread(&[10.0, 50.0], 12.0, 0.0, 100.0), Some(vec![10.0, 50.0]));
        assert_eq!(spread(&[50.0, 50.0, 50.0], 12.0, 0.0, 100.0), Some(vec![38.0, 50.0, 62.0]));
        assert_eq!(spread(&[99.0, 98.0], 12.0, 0.0, 100.0), Some(vec![94.0, 82.0]));
        assert_eq!(spread(&[0.0; 9], 12.0, 0.0, 100.0), None);
    }

    proptest! {
        #[test]
        fn no_two_overlap(wanted in prop::collection::vec(-50.0..250.0f64, 0..16)) {
            let places = spread(&wanted, 12.0, 0.0, 200.0).unwrap();
            let mut sorted = places.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 12.0 - 1e-6), "{places:?}");
            assert!(places.iter().all(|p| (6.0 - 1e-6..=194.0 + 1e-6).contains(p)), "{places:?}");
        }
    }
}
