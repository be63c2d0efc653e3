//! Means over scenarios, with intervals.

use serde::Serialize;

use crate::tail_probabilities::student_975;

/// A mean over scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanOverScenarios {
    /// The mean.
    pub mean: f64,
    /// Lower end of its 95 % interval; `None` = fewer than two scenarios, or no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// The number of scenarios with a known value.
    pub n: u32,
}

/// The mean of one value per scenario, with Student's interval over scenarios. A value that is not finite is left out. `None` =
/// there is no value.
pub fn mean_over_scenarios(values: impl IntoIterator<Item = f64>) -> Option<MeanOverScenarios> {
    let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    let n = u32::try_from(values.len()).ok().filter(|n| *n > 0)?;
    let count = f64::from(n);
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (n > 1).then(|| (squares / (count - 1.0) / count).sqrt()).filter(|error| *error > 1e-12);
    let half = error.zip(n.checked_sub(1).and_then(student_975)).map(|(error, quantile)| error * quantile);
    Some(MeanOverScenarios {
        mean,
        ci_low: half.map(|half| mean - half),
        ci_high: half.map(|half| mean + half),
        n,
    })
}

#[cfg(test)]
mod tests {
    use super::mean_over_scenarios;

    #[test]
    fn the_interval_is_students() {
        // By hand: mean 2, standard deviation 1, t(2) = 4.302652730, half-width 4.302652730 / √3.
        let found = mean_over_scenarios([1.0, 2.0, 3.0, f64::NAN]).unwrap();
        assert!((found.mean - 2.0).abs() < 1e-12 && found.n == 3);
        assert!((found.ci_low.unwrap() - (2.0 - 4.302_652_730 / 3.0_f64.sqrt())).abs() < 1e-6);
        assert!(mean_over_scenarios([1.0, 1.0]).is_some_and(|alike| alike.ci_low.is_none()));
        assert!(mean_over_scenarios([1.0]).is_some_and(|summary| summary.ci_high.is_none()));
        assert_eq!(mean_over_scenarios([]), None);
    }
}
