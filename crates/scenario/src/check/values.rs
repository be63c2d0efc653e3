//! Which values a kind accepts.

use serde_json::Value;

use crate::ir::{Kind, Pattern};

/// The greatest size of a number in a schema.
pub const GREATEST_NUMBER: i64 = 1_000_000;

/// Whether a written-down value (not null) obeys a kind. Never for a reference: no id can be known beforehand.
pub fn fits(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::String { min_length, max_length, pattern } => value.as_str().is_some_and(|text| {
            let length = text.chars().count();
            is_in_range(length, *min_length, *max_length)
                && pattern.is_none_or(|pattern| matches(pattern, text))
                && length <= 500
        }),
        Kind::Integer { min, max } => value.as_i64().is_some_and(|number| {
            min.is_none_or(|min| number >= min)
                && max.is_none_or(|max| number <= max)
                && (-GREATEST_NUMBER..=GREATEST_NUMBER).contains(&number)
        }),
        Kind::Number { min, max } => value.as_f64().is_some_and(|number| {
            min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max) && is_exact(number)
        }),
        Kind::Boolean => value.is_boolean(),
        Kind::DateTime => value.as_str().is_some_and(is_date_time),
        Kind::Enum { values } => value.as_str().is_some_and(|word| values.iter().any(|value| value == word)),
        Kind::StringList { min_items, max_items } => value.as_array().is_some_and(|items| {
            is_in_range(items.len(), *min_items, *max_items) && items.iter().all(Value::is_string)
        }),
        Kind::Reference { .. } => false,
    }
}

/// Whether some values of a numeric kind are at least this one, and some are less.
pub(super) fn divides_from_below(kind: &Kind, value: &Value) -> bool {
    fits(kind, value)
        && match kind {
            Kind::Integer { min: Some(min), .. } => value.as_i64() != Some(*min),
            Kind::Number { min: Some(min), .. } => value.as_f64().is_some_and(|value| value > *min),
            _ => true,
        }
}

/// Whether some values of a numeric kind are at most this one, and some are greater.
pub(super) fn divides_from_above(kind: &Kind, value: &Value) -> bool {
    fits(kind, value)
        && match kind {
            Kind::Integer { max: Some(max), .. } => value.as_i64() != Some(*max),
            Kind::Number { max: Some(max), .. } => value.as_f64().is_some_and(|value| value < *max),
            _ => true,
        }
}

fn is_in_range(length: usize, min: Option<u32>, max: Option<u32>) -> bool {
    min.is_none_or(|min| length >= min as usize) && max.is_none_or(|max| length <= max as usize)
}

/// Whether a number is a multiple of 0.25 of at most 1,000,000 in size.
pub fn is_exact(number: f64) -> bool {
    number.abs() <= GREATEST_NUMBER as f64 && (number * 4.0).fract() == 0.0
}

/// Whether a text has a form, as a whole: the same as [`Pattern::regex`].
pub fn matches(pattern: Pattern, text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match pattern {
        Pattern::Code => text.split_once('-').is_some_and(|(letters, number)| {
            letters.len() == 3
                && letters.bytes().all(|b| b.is_ascii_uppercase())
                && number.len() == 4
                && digits(number)
        }),
        Pattern::Slug => text.split('-').all(|word| !word.is_empty() && word.bytes().all(lower)),
        Pattern::Email => text.split_once('@').is_some_and(|(name, host)| {
            let Some((host, top)) = host.split_once('.') else { return false };
            !name.is_empty()
                && name.bytes().all(|b| lower(b) || b == b'.')
                && !host.is_empty()
                && host.bytes().all(lower)
                && (2..=6).contains(&top.len())
                && top.bytes().all(|b| b.is_ascii_lowercase())
        }),
        Pattern::Phone => {
            text.strip_prefix('+').is_some_and(|rest| (7..=12).contains(&rest.len()) && digits(rest))
        }
        Pattern::Color => text.strip_prefix('#').is_some_and(|rest| {
            rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        }),
        Pattern::PostalCode => text.len() == 5 && digits(text),
    }
}

/// Whether a text is a real date and time, written `YYYY-MM-DDTHH:MM:SSZ`.
pub fn is_date_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let form = b"0000-00-00T00:00:00Z";
    if bytes.len() != form.len()
        || !bytes.iter().zip(form).all(|(b, f)| if *f == b'0' { b.is_ascii_digit() } else { b == f })
    {
        return false;
    }
    let number =
        |start: usize, end: usize| bytes[start..end].iter().fold(0_u32, |n, b| n * 10 + u32::from(b - b'0'));
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    year >= 1
        && (1..=days).contains(&day)
        && number(11, 13) < 24
        && number(14, 16) < 60
        && number(17, 19) < 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_knows_its_own_texts() {
        for pattern in Pattern::ALL {
            for n in [1, 42, 999] {
                assert!(matches(pattern, &pattern.sample(n)), "{}", pattern.sample(n));
            }
            assert!(!matches(pattern, pattern.counterexample()), "{}", pattern.counterexample());
            assert!(!matches(pattern, ""));
        }
        assert!(!matches(Pattern::Slug, "a--b"));
        assert!(!matches(Pattern::Email, "a@b.c"));
    }

    #[test]
    fn only_real_dates_are_dates() {
        for good in ["2024-02-29T00:00:00Z", "2023-12-31T23:59:59Z"] {
            assert!(is_date_time(good), "{good}");
        }
        for bad in [
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01",
            "",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }
}
