//! Intervals for proportions, which stay within 0 to 1.

use serde::{Deserialize, Serialize};

use crate::Z_95;

/// A share with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    /// Successes divided by trials.
    pub share: f64,
    /// Lower end of the interval, ≥ 0.
    pub ci_low: f64,
    /// Upper end, ≤ 1.
    pub ci_high: f64,
}

/// Wilson's score interval (Wilson 1927, JASA 22:209; Brown, Cai and DasGupta 2001, Stat. Sci. 16:101), without
/// continuity correction. `None` without trials. More successes than trials count as all.
pub fn wilson(successes: u32, trials: u32) -> Option<Proportion> {
    if trials == 0 {
        return None;
    }
    Some(wilson_from_share(f64::from(successes.min(trials)) / f64::from(trials), f64::from(trials)))
}

/// The same for a share over `n` > 0 trials. `n` may be a fraction, like an effective number of trials.
pub(crate) fn wilson_from_share(share: f64, n: f64) -> Proportion {
    let z2 = Z_95 * Z_95;
    let center = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends, one limit is the share itself, except for rounding.
    let ci_low = if share <= 0.0 { 0.0 } else { (center - half).clamp(0.0, share) };
    let ci_high = if share >= 1.0 { 1.0 } else { (center + half).clamp(share, 1.0) };
    Proportion { share, ci_low, ci_high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn textbook_values() {
        // Newcombe 1998 (Stat. Med. 17:857), table I, method 3: 81/263, 15/148, 0/20, 1/29.
        for (k, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let p = wilson(k, n).unwrap();
            assert!((p.ci_low - low).abs() < 5e-5 && (p.ci_high - high).abs() < 5e-5, "{k}/{n}: {p:?}");
        }
        assert_eq!(wilson(0, 0), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_share_and_stays_inside(n in 1u32..2000, k in 0u32..2000) {
            let p = wilson(k, n).unwrap();
            prop_assert!(0.0 <= p.ci_low && p.ci_low <= p.share && p.share <= p.ci_high && p.ci_high <= 1.0);
            prop_assert!(p.ci_low < p.ci_high);
        }
    }
}
