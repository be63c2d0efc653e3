//! What a cell can be: one rule for each kind.

use model::{EndReason, Verdict, is_missing_value, without_guard};

use crate::readers::clock;
use crate::readers::value::MOST_TOKENS;

/// A cell as its file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    /// Nothing, or nothing that is known: an empty field, `null`, `NaN`.
    Empty,
    /// Words; in CSV everything.
    Text(&'a str),
    /// A list or an object, as its JSON text: words where they are wanted, and neither a name nor a number.
    Nested(&'a str),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
}

/// Words for what is not known, as pandas, R and spreadsheets write them. In columns of text only those of
/// [`is_missing_value`] are, and names of runs and scenarios are taken as they stand, unless they are empty.
const UNKNOWN: [&str; 11] = ["", "nan", "na", "n/a", "null", "none", "-", "?", "unknown", "<na>", "nat"];

impl<'a> Cell<'a> {
    /// A text cell of a CSV, where a text in front of which the export put an apostrophe against spreadsheets.
    pub(super) fn from_csv(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        Some(if text.is_empty() { Self::Empty } else { Self::Text(without_guard(text)) })
    }

    /// Whether it says nothing.
    pub(super) fn is_unknown(self) -> bool {
        match self {
            Self::Empty => true,
            Self::Text(text) => is_unknown(text),
            Self::Number(number) => number.is_nan(),
            Self::Nested(_) | Self::Integer(_) | Self::Flag(_) => false,
        }
    }

    /// As words, unless they are those of a program for a value that is missing.
    pub(super) fn text(self) -> Option<std::borrow::Cow<'a, str>> {
        self.words().filter(|words| !is_missing_value(words))
    }

    fn words(self) -> Option<std::borrow::Cow<'a, str>> {
        use std::borrow::Cow;
        match self {
            Self::Empty => None,
            Self::Text(text) | Self::Nested(text) => {
                Some(text.trim()).filter(|text| !text.is_empty()).map(Cow::Borrowed)
            }
            Self::Integer(number) => Some(Cow::Owned(number.to_string())),
            Self::Number(number) if number.is_nan() => None,
            // A column of whole numbers with a gap is one of floats in pandas.
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Flag(flag) => Some(Cow::Borrowed(if flag { "true" } else { "false" })),
        }
    }

    /// As the name of a run or a scenario.
    pub(super) fn name(self) -> Option<std::borrow::Cow<'a, str>> {
        if matches!(self, Self::Nested(_)) { None } else { self.words() }
    }

    /// As a number.
    pub(super) fn number(self, decimal_comma: bool) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(number as f64),
            Self::Number(number) => Some(number),
            Self::Text(text) if decimal_comma && text.contains(',') => {
                text.trim().replace(',', ".").parse().ok()
            }
            Self::Text(text) => text.trim().parse().ok(),
            Self::Empty | Self::Nested(_) | Self::Flag(_) => None,
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// As a whole number from 0.
    pub(super) fn count(self, decimal_comma: bool) -> Option<u64> {
        if let Self::Integer(number) = self {
            return u64::try_from(number).ok();
        }
        if let Self::Text(text) = self
            && let Ok(number) = text.trim().parse::<u64>()
        {
            return Some(number);
        }
        self.number(decimal_comma)
            .filter(|number| *number >= 0.0 && number.fract() == 0.0 && *number <= 9_007_199_254_740_992.0)
            .map(|number| number as u64)
    }

    /// As yes or no.
    pub(super) fn flag(self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(flag),
            Self::Integer(0) | Self::Number(0.0) => Some(false),
            Self::Integer(1) | Self::Number(1.0) => Some(true),
            Self::Text(text) => {
                let is_one_of =
                    |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
                if is_one_of(&["true", "1", "yes", "pass", "passed", "t", "y", "1.0", "success", "resolved"])
                {
                    Some(true)
                } else if is_one_of(&[
                    "false",
                    "0",
                    "no",
                    "fail",
                    "failed",
                    "f",
                    "n",
                    "0.0",
                    "failure",
                    "unresolved",
                ]) {
                    Some(false)
                } else {
                    // A column of flags with a gap is one of numbers in pandas, written with decimals.
                    match text.trim().replace(',', ".").parse::<f64>() {
                        Ok(0.0) => Some(false),
                        Ok(1.0) => Some(true),
                        _ => None,
                    }
                }
            }
            Self::Empty | Self::Nested(_) | Self::Integer(_) | Self::Number(_) => None,
        }
    }

    /// As a count of tokens.
    pub(super) fn tokens(self, decimal_comma: bool) -> Option<u64> {
        if decimal_comma && matches!(self, Self::Text(text) if may_be_thousands(text)) {
            return None;
        }
        self.count(decimal_comma).filter(|n| *n <= MOST_TOKENS)
    }

    /// As dollars or seconds.
    pub(super) fn amount(self, decimal_comma: bool) -> Option<f64> {
        self.number(decimal_comma).filter(|n| *n >= 0.0)
    }

    /// As a time, as it stands.
    pub(super) fn time(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|t| clock::micros(t).is_some()).map(str::to_owned),
            _ => None,
        }
    }

    /// As an end reason.
    pub(super) fn end_reason(self) -> Option<EndReason> {
        match self {
            Self::Text(text) | Self::Nested(text) => EndReason::parse(&super::mapping::plain(text)),
            _ => None,
        }
    }

    /// As a verdict.
    pub(super) fn verdict(self) -> Option<Verdict> {
        match self {
            // A turn without tests is none that a table has an attempt of.
            Self::Text(text) | Self::Nested(text) => {
                Verdict::parse(&super::mapping::plain(text)).filter(|verdict| *verdict != Verdict::NotTested)
            }
            _ => None,
        }
    }

    /// As a person reads it, cut.
    pub(super) fn shown(self) -> String {
        self.words().unwrap_or_default().chars().take(40).collect::<String>().escape_debug().to_string()
    }
}

/// Whether a number may be one of thousands (`120.000`) as well as one with decimals: tables with decimal commas have both.
fn may_be_thousands(text: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    text.trim().split_once([',', '.']).is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len()) && rest.len() == 3 && is_digits(whole) && is_digits(rest)
    })
}

fn is_unknown(text: &str) -> bool {
    let text = text.trim();
    text.len() <= 7 && UNKNOWN.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_rule() {
        let text = Cell::Text;
        for word in ["true", "TRUE", "1", "yes", "Pass", "passed", "1.0", "1.00", "1,0"] {
            assert_eq!(text(word).flag(), Some(true), "{word}");
        }
        for word in ["false", "0", "No", "fail", "FAILED", "0,0", "0.000"] {
            assert_eq!(text(word).flag(), Some(false), "{word}");
        }
        assert_eq!(
            (text("maybe").flag(), Cell::Integer(2).flag(), Cell::Number(1.0).flag()),
            (None, None, Some(true))
        );
        assert_eq!((text("0.5").flag(), text("10").flag(), text("nan").flag()), (None, None, None));
        for (word, comma, tokens) in [
            ("120.000", true, None),
            ("120,000", true, None),
            ("1.000", false, Some(1)),
            ("1234,000", true, Some(1234)),
            ("12,0", true, Some(12)),
        ] {
            assert_eq!(text(word).tokens(comma), tokens, "{word}");
        }
        for (cell, count) in [
            (text("12"), Some(12)),
            (text("12.0"), Some(12)),
            (Cell::Number(3.0), Some(3)),
            (text("1e3"), Some(1000)),
            (text("1.5"), None),
            (text("-1"), None),
            (Cell::Integer(-1), None),
            (text("inf"), None),
        ] {
            assert_eq!(cell.count(false), count, "{cell:?}");
        }
        assert_eq!(text("0,25").amount(true), Some(0.25));
        assert_eq!(text("0,25").amount(false), None);
        assert_eq!(text("-0.1").amount(false), None);
        assert_eq!(text("1e13").tokens(false), None);
        for word in ["", "NaN", "NA", "null", "None", "-", "<NA>", "NaT"] {
            assert!(text(word).is_unknown(), "{word}");
        }
        assert_eq!((text("NA").text(), text("NA").name().as_deref()), (None, Some("NA")));
        assert_eq!(text("none").text().as_deref(), Some("none"));
        assert!(Cell::Number(f64::NAN).is_unknown() && !text("0").is_unknown());
        assert_eq!(text("Tests failed").end_reason(), Some(EndReason::TestsFailed));
        assert_eq!(text("ran away").end_reason(), None);
        assert_eq!(text("2026-02-30T00:00:00Z").time(), None);
        assert_eq!(Cell::from_csv(b" '=SUM(A1) "), Some(text("=SUM(A1)")));
        assert_eq!(Cell::from_csv(b"''=x"), Some(text("'=x")));
        assert_eq!(Cell::from_csv(b"'\tx"), Some(text("\tx")));
        assert_eq!(Cell::from_csv(b"'quoted'"), Some(text("'quoted'")));
        assert_eq!(Cell::from_csv(b"\xff"), None);
    }
}
