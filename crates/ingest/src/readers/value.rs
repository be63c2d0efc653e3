//! Values that can be what their names say: one rule for each kind, for every format.
//!
//! | kind | what can be one |
//! |---|---|
//! | tokens | a whole number from 0 to 10^12; a text is none |
//! | cost | a finite number from 0 on; a text is none |
//! | duration | a finite number of seconds from 0 on |
//! | time | a date of the calendar and a time of the day, with or without a zone |
//! | span | an end that is not before its start, both with a zone or both without |
//! | share | a finite number from 0 to 1; a text is none |
//! | figure | a finite number; a text is none |
//! | tests | whole numbers from 0, at most as many passed as there are; a text is none |
//!
//! What is none becomes unknown, with the warning `value.not_usable`.

use model::{Attempt, Timing, Warning};
use serde_json::Value;

use super::clock;
use super::json::Node;
use crate::format_trait::Report;

/// More tokens than this are no count of tokens.
pub(crate) const MOST_TOKENS: u64 = 1_000_000_000_000;
/// Values that one warning names.
const NAMED: usize = 8;

/// A count of tokens.
pub(crate) fn tokens(value: &Node) -> Option<u64> {
    value.count().filter(|n| *n <= MOST_TOKENS)
}

/// A count of tests, rounds or trials.
pub(crate) fn count(value: &Node) -> Option<u32> {
    value.count().and_then(|n| u32::try_from(n).ok())
}

/// A figure that a source reports: a finite number.
pub(crate) fn figure(value: &Node) -> Option<f64> {
    matches!(value, Node::Number(_)).then(|| value.number()).flatten()
}

/// An amount of US dollars.
pub(crate) fn dollars(value: &Node) -> Option<f64> {
    figure(value).filter(|n| is_amount(*n))
}

/// A share of tests, rounds or trials.
pub(crate) fn share(value: &Node) -> Option<f64> {
    figure(value).filter(|n| (0.0..=1.0).contains(n))
}

/// A reward: a finite number, or what Python takes for one. A text is none.
pub(crate) fn reward(value: &Node) -> Option<f64> {
    matches!(value, Node::Number(_) | Node::Bool(_)).then(|| value.number()).flatten()
}

fn is_amount(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// The warning for a reward outside 0 to 1; `prefix` is what stands before the sentence.
pub(crate) fn reward_range(path: &str, prefix: &str, reward: f64) -> Warning {
    let message = format!(
        "{prefix}The reward is {reward}, which is not in 0 to 1. It counts as passed from 0.999 on all the same."
    );
    Warning::read_differently(path, "reward.range", message)
}

/// Values of one file or attempt that cannot be what their names say.
#[derive(Debug, Default)]
pub(crate) struct UnusableValues {
    named: Vec<String>,
    count: usize,
}

impl UnusableValues {
    /// The value under a rule. One that is there and breaks it is remembered.
    pub(crate) fn take<T>(
        &mut self,
        name: &str,
        value: Option<&Node>,
        rule: impl FnOnce(&Node) -> Option<T>,
    ) -> Option<T> {
        let value = value.filter(|v| **v != Node::Null)?;
        let taken = rule(value);
        if taken.is_none() {
            self.add(name, &value.to_value());
        }
        taken
    }

    /// A time as it stands, if it is one.
    pub(crate) fn time(&mut self, name: &str, value: Option<&Node>) -> Option<String> {
        let rule = |value: &Node| value.word().filter(|t| clock::micros(t).is_some()).map(str::to_owned);
        self.take(name, value, rule)
    }

    /// Seconds from one time to another, both as [`Self::time`] gives them.
    pub(crate) fn span(&mut self, name: &str, start: Option<&str>, end: Option<&str>) -> Option<f64> {
        let (start, end) = (start?, end?);
        let seconds = clock::seconds_between(start, end);
        if seconds.is_none() {
            self.add(name, &format!("{start} to {end}").into());
        }
        seconds
    }

    /// Checks the numbers of an attempt, whatever format they come from. What cannot be is unknown, and kept as an
    /// extra field.
    pub(crate) fn take_from_attempt(&mut self, attempt: &mut Attempt) {
        let mut keep = |name: &str, value: Value| {
            self.add(name, &value);
            attempt.extra.entry(name).or_insert(value);
        };
        if let (Some(passed), Some(total)) = (attempt.passed, attempt.total)
            && passed > total
        {
            keep("tests passed of total", format!("{passed} of {total}").into());
            (attempt.passed, attempt.total) = (None, None);
        }
        for (name, seconds) in [
            ("agent_seconds", &mut attempt.timing.agent_seconds),
            ("test_seconds", &mut attempt.timing.test_seconds),
        ] {
            if let Some(odd) = seconds.take_if(|n| !is_amount(*n)) {
                keep(name, odd.into());
            }
        }
        if let Some(odd) = attempt.cost_usd.take_if(|n| !is_amount(*n)) {
            keep("cost_usd", odd.into());
        }
        let tokens = &mut attempt.tokens;
        for (name, count) in [
            ("input tokens", &mut tokens.input),
            ("cached tokens", &mut tokens.cached),
            ("output tokens", &mut tokens.output),
        ] {
            if let Some(odd) = count.take_if(|n| *n > MOST_TOKENS) {
                keep(name, odd.into());
            }
        }
        self.take_from_timing(&mut attempt.timing);
    }

    /// Checks a begin and an end. One that is no time is unknown; of an end before its start both stay as they are.
    pub(crate) fn take_from_timing(&mut self, timing: &mut Timing) {
        for (name, time) in [("started_at", &mut timing.started_at), ("finished_at", &mut timing.finished_at)]
        {
            if let Some(odd) = time.take_if(|t| clock::micros(t).is_none()) {
                self.add(name, &odd.into());
            }
        }
        self.span("started_at to finished_at", timing.started_at.as_deref(), timing.finished_at.as_deref());
    }

    /// Remembers what another one has.
    pub(crate) fn append(&mut self, other: Self) {
        let unnamed = other.count - other.named.len();
        for named in other.named {
            self.count += 1;
            if self.named.len() < NAMED {
                self.named.push(named);
            }
        }
        self.count += unnamed;
    }

    /// Remembers a value.
    pub(crate) fn add(&mut self, name: &str, value: &Value) {
        self.count += 1;
        if self.named.len() < NAMED {
            let shown: String = value.to_string().chars().take(80).collect();
            self.named.push(format!("{name} {shown}"));
        }
    }

    /// Says what was remembered of `path`.
    pub(crate) fn warn(self, path: &str, report: &mut Report) {
        report.warn_all(self.warning(path));
    }

    /// The same as a warning; `None` where every value can be what its name says.
    pub(crate) fn warning(self, path: &str) -> Option<Warning> {
        if self.count == 0 {
            return None;
        }
        let unnamed = self.count - self.named.len();
        let unnamed = if unnamed == 0 { String::new() } else { format!(", and {unnamed} more") };
        let message = format!(
            "It has {}{unnamed}, which cannot be. What they should say is unknown.",
            self.named.join(", ")
        );
        Some(Warning::read_differently(path, "value.not_usable", message))
    }
}

#[cfg(test)]
mod tests {
    use model::Verdict;
    use serde_json::json;

    use super::*;

    fn node(value: &Value) -> Node {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn each_kind_has_one_rule() {
        for (value, tokens_of, dollars_of) in [
            (json!(12), Some(12), Some(12.0)),
            (json!(12.0), Some(12), Some(12.0)),
            (json!(0), Some(0), Some(0.0)),
            (json!(0.5), None, Some(0.5)),
            (json!(-3), None, None),
            (json!("12"), None, None),
            (json!(true), None, None),
            (json!([1]), None, None),
            (json!(1e15), None, Some(1e15)),
        ] {
            assert_eq!((tokens(&node(&value)), dollars(&node(&value))), (tokens_of, dollars_of), "{value}");
            assert_eq!(count(&node(&value)).map(u64::from), tokens_of, "{value}");
        }
        for (value, share_of, figure_of) in [
            (json!(0.5), Some(0.5), Some(0.5)),
            (json!(1), Some(1.0), Some(1.0)),
            (json!(1.5), None, Some(1.5)),
            (json!(-0.5), None, Some(-0.5)),
            (json!("0.5"), None, None),
            (json!(true), None, None),
        ] {
            assert_eq!((share(&node(&value)), figure(&node(&value))), (share_of, figure_of), "{value}");
        }
        let mut unusable = UnusableValues::default();
        assert_eq!(unusable.take("n", Some(&node(&json!("12"))), tokens), None);
        assert_eq!(unusable.take("n", Some(&Node::Null), tokens), None);
        assert_eq!(unusable.take("n", None, tokens), None);
        assert_eq!(unusable.time("t", Some(&node(&json!("2026-02-30T00:00:00Z")))), None);
        assert_eq!(unusable.span("s", Some("2026-01-01T10:00:00Z"), Some("2026-01-01T10:00:05")), None);
        let warning = unusable.warning("f").unwrap();
        assert_eq!(warning.code, "value.not_usable");
        assert_eq!(
            warning.message,
            "It has n \"12\", t \"2026-02-30T00:00:00Z\", s \"2026-01-01T10:00:00Z to 2026-01-01T10:00:05\", which cannot be. \
             What they should say is unknown."
        );
        assert_eq!(UnusableValues::default().warning("f"), None);
    }

    #[test]
    fn an_attempt_keeps_what_can_be() {
        let mut attempt = Attempt::new(1, Verdict::Passed);
        (attempt.passed, attempt.total) = (Some(3), Some(2));
        attempt.cost_usd = Some(-0.5);
        attempt.timing.agent_seconds = Some(f64::NAN);
        attempt.timing.test_seconds = Some(1.0);
        attempt.timing.started_at = Some("2026-01-01T10:00:00Z".to_owned());
        attempt.timing.finished_at = Some("2026-01-01T09:00:00Z".to_owned());
        attempt.tokens.input = Some(5);
        let mut unusable = UnusableValues::default();
        unusable.take_from_attempt(&mut attempt);
        assert_eq!((attempt.passed, attempt.total, attempt.cost_usd), (None, None, None));
        assert_eq!((attempt.timing.agent_seconds, attempt.timing.test_seconds), (None, Some(1.0)));
        assert_eq!((attempt.tokens.input, unusable.count), (Some(5), 4));
        assert_eq!(attempt.extra["cost_usd"], json!(-0.5));
    }
}
