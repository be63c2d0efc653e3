//! Numbers of a range, for people: scores, and shares in percent.

/// A number from 0 to `top` with this number of decimals. One that rounds to an end of the range and is not that end says so:
/// `> 99.9`, `< 0.1`. What misses an end by less than a billionth of the range is that end: sums of floating point do.
///
/// `bounded` of the pages (`ui/src/parts/format.ts`) has the same words.
pub fn bounded(value: f64, top: f64, decimals: u8) -> String {
    let (digits, missed) = (usize::from(decimals), 1e-9 * top);
    let step = 0.1_f64.powi(i32::from(decimals));
    let written = |number: f64| format!("{number:.digits$}");
    let text = written(value);
    if value > missed && text == written(0.0) {
        format!("< {}", written(step))
    } else if value < top - missed && text == written(top) {
        format!("> {}", written(top - step))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of the pages have the same numbers.
    #[test]
    fn only_what_is_all_or_nothing_reads_so() {
        // 301 of 303 tests of one of 20 turns: 100 / 20 · (19 + 301/303).
        let almost = 5.0 * (19.0 + 301.0 / 303.0);
        assert_eq!(bounded(almost, 100.0, 1), "> 99.9");
        assert_eq!(bounded(almost, 100.0, 0), "> 99");
        assert_eq!(bounded(almost, 100.0, 2), "99.97");
        assert_eq!(
            [0.0, 0.04, 0.06, 50.0, 99.94, 100.0].map(|score| bounded(score, 100.0, 1)),
            ["0.0", "< 0.1", "0.1", "50.0", "99.9", "100.0"]
        );
        assert_eq!(
            [0.0004, 0.9996, 1.0].map(|share| bounded(share, 1.0, 3)),
            ["< 0.001", "> 0.999", "1.000"]
        );
        // A sum of floating point.
        assert_eq!(bounded(100.0 - 1e-12, 100.0, 1), "100.0");
        assert_eq!(bounded(1e-12, 100.0, 1), "0.0");
    }
}
