//! Shares in percent.

/// A share in percent, without the last digits of floating point: 7/25 is 28, and not 28.000000000000004.
pub(super) fn percent(share: f64) -> f64 {
    // A little less than nothing would be -0.
    (1e11 * share).round() / 1e9 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_percents_are_whole() {
        let shares =
            [(7.0, 25.0), (11.0, 20.0), (14.0, 25.0), (3.0, 10.0), (-7.0, 25.0), (-1e-20, 3.0), (1.0, 8.0)];
        let texts = shares.map(|(passed, total)| percent(passed / total).to_string());
        assert_eq!(texts, ["28", "55", "56", "30", "-28", "0", "12.5"]);
        assert_eq!(percent(1.0 / 3.0).to_string(), "33.333333333");
    }
}
