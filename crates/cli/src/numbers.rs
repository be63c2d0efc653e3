//! Numbers in text and in JSON. Unknown is `unknown` or `null`; an interval that is not defined is `n/a`.

use serde_json::{Value, json};
use workbench::api::{ChiSquare, Estimate, Stamina};

pub(crate) fn mean_stamina(stamina: &Stamina) -> Value {
    json!({
        "value": stamina.mean,
        "ci_low": stamina.ci_low,
        "ci_high": stamina.ci_high,
        "clustered": stamina.clustered,
        "tau": stamina.tau,
    })
}

pub(crate) fn chi_square(test: Option<ChiSquare>) -> Value {
    test.map_or(Value::Null, |t| json!({ "chi2": t.chi2, "df": t.df, "p": t.p }))
}

pub(crate) fn estimate(estimate: Option<Estimate>) -> Value {
    estimate.map_or(
        Value::Null,
        |e| json!({ "value": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high, "p": e.p }),
    )
}

/// The benchmarks of the library, each with its number of runs.
pub(crate) fn benchmarks(all: &[(String, String, u32)]) -> Vec<Value> {
    all.iter().map(|(key, name, runs)| json!({ "key": key, "name": name, "runs": runs })).collect()
}

pub(crate) fn unknown() -> String {
    "unknown".to_owned()
}

pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(unknown, |value| format!("{value:.digits$}"))
}

/// A score from 0 to 100.
pub(crate) fn score_text(value: Option<f64>) -> String {
    value.map_or_else(unknown, |value| model::bounded(value, 100.0, 1))
}

/// An interval, of which the upper end alone may be `n/a`: a ratio that is unbounded.
pub(crate) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low:.2}–{high:.2}"),
        (Some(low), None) => format!("{low:.2}–n/a"),
        _ => "n/a".to_owned(),
    }
}

/// Seconds, rounded to a millisecond.
pub(crate) fn rounded_seconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// A share in percent.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(unknown, |share| format!("{} %", model::bounded(100.0 * share, 100.0, 1)))
}

/// The interval of a share, in percent.
pub(crate) fn percent_interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:.1}–{:.1} %", 100.0 * low, 100.0 * high),
        _ => "n/a".to_owned(),
    }
}

/// Appends sentences, one per line, after an empty line.
pub(crate) fn notes(text: &mut String, sentences: &[String]) {
    if !sentences.is_empty() {
        text.push('\n');
    }
    for sentence in sentences {
        text.push_str(sentence);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_end_that_is_unbounded_does_not_hide_the_lower_one() {
        assert_eq!(interval(Some(2.333), Some(9.0)), "2.33–9.00");
        assert_eq!(interval(Some(2.333), None), "2.33–n/a");
        assert_eq!(interval(None, None), "n/a");
    }
}
