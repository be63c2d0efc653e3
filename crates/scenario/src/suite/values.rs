//! Values that tests send: valid ones, those on a bound, and those that break exactly one rule.
//!
//! A value depends on the kind of its field and on a start drawn once per scenario, so that it stays the same over
//! turns as long as the rules let it. Written from the rules, without the reference: the two check one another.

use serde_json::{Value, json};

use crate::ir::{Kind, Pattern};

/// Plain words; twenty neighbors begin with twenty different letters, so that they differ even when cut to one.
const WORDS: [&str; 20] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper", "kettle",
    "lantern", "meadow", "north", "olive", "pebble", "quartz", "river", "summit", "timber",
];

/// The order of the numbers of the first records: not that of their ids.
const ORDER: [u32; 5] = [2, 0, 3, 1, 4];

/// The place of the `n`th value (from 1) among all values.
fn place(n: u32) -> u32 {
    let n = n.saturating_sub(1);
    n / 5 * 5 + ORDER[(n % 5) as usize]
}

/// The `n`th valid value of a kind (from 1), no reference. The first five differ where the kind has room for it.
pub(super) fn valid(kind: &Kind, start: u32, n: u32) -> Value {
    let place = place(n);
    match kind {
        Kind::String { pattern: Some(pattern), .. } => json!(pattern.sample(1 + start % 800 + place)),
        Kind::String { min_length, max_length, .. } => json!(text(start, n, *min_length, *max_length)),
        Kind::Integer { min, max } => {
            json!(number(start, place, min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX), 1))
        }
        Kind::Number { min, max } => {
            let quarters = number(
                start,
                place,
                min.map_or(i64::MIN, |min| (min * 4.0).ceil() as i64),
                max.map_or(i64::MAX, |max| (max * 4.0).floor() as i64),
                5,
            );
            json!(quarters as f64 / 4.0)
        }
        Kind::Boolean => json!((start + n).is_multiple_of(2)),
        Kind::DateTime => json!(format!(
            "2024-{:02}-{:02}T{:02}:{:02}:00Z",
            // The first five stay in one year, in the order of their places.
            1 + (start % 4 + place * 2) % 12,
            1 + (start + n) % 28,
            (start + place) % 24,
            15 * (n % 4),
        )),
        Kind::Enum { values } => values
            .get(n.saturating_sub(1) as usize % values.len().max(1))
            .map_or(Value::Null, |value| json!(value)),
        Kind::StringList { min_items, max_items } => {
            let count = 2.max(min_items.unwrap_or(0)).min(max_items.unwrap_or(u32::MAX));
            json!((0..count).map(|item| word(start % 16 + place + item)).collect::<Vec<_>>())
        }
        Kind::Reference { .. } => Value::Null,
    }
}

fn word(index: u32) -> &'static str {
    WORDS[index as usize % WORDS.len()]
}

/// A word, made longer or shorter until it fits.
fn text(start: u32, n: u32, min: Option<u32>, max: Option<u32>) -> String {
    let word = word(start % 16 + place(n));
    let mut text = word.to_owned();
    if n > 5 {
        text = format!("{word} {n}");
    }
    while text.len() < min.unwrap_or(0) as usize {
        text.push(' ');
        text.push_str(word);
    }
    let end = max.map_or(text.len(), |max| text.len().min(max as usize));
    text.truncate(end);
    if text.ends_with(' ') {
        text.pop();
        text.push('x');
    }
    text
}

/// A whole number from 3 upwards, or inside the bounds if those leave no room there.
fn number(start: u32, place: u32, low: i64, high: i64, scale: i64) -> i64 {
    let step = (2 + i64::from(start % 3)) * scale;
    let base = (3 + i64::from(start % 20)) * scale + i64::from(start % 4);
    let least = if low == i64::MIN { high.saturating_sub(1000) } else { low };
    let room = high.saturating_sub(least).clamp(0, 1000) + 1;
    let (first, step, end) = if low <= base && base + 4 * step <= high {
        (base, step, high)
    } else {
        (least, if room >= 5 * step { step } else { 1 }, least + room - 1)
    };
    let place = i64::from(place);
    let straight = first + place * step;
    if straight <= end {
        return straight;
    }
    if place < 5 {
        return least + (place * step) % room;
    }
    // Where the bounds leave no room after the first ones, those between them.
    let before = place - (end - first) / step - 1;
    let between = |value: &i64| *value < first || (value - first) % step != 0;
    (least..=end).filter(between).nth(before as usize).unwrap_or(end)
}

/// Whether a value obeys the rules of a kind. References are not checked.
pub(super) fn fits(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::String { min_length, max_length, pattern } => value.as_str().is_some_and(|text| {
            let length = text.chars().count();
            min_length.is_none_or(|min| length >= min as usize)
                && max_length.is_none_or(|max| length <= max as usize)
                && pattern.is_none_or(|pattern| matches(pattern, text))
        }),
        Kind::Integer { min, max } => value
            .as_i64()
            .is_some_and(|value| min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)),
        Kind::Number { min, max } => value
            .as_f64()
            .is_some_and(|value| min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)),
        Kind::Boolean => value.is_boolean(),
        Kind::DateTime => value.as_str().is_some_and(|text| text.len() == 20 && text.ends_with('Z')),
        Kind::Enum { values } => value.as_str().is_some_and(|word| values.iter().any(|value| value == word)),
        Kind::StringList { min_items, max_items } => value.as_array().is_some_and(|items| {
            min_items.is_none_or(|min| items.len() >= min as usize)
                && max_items.is_none_or(|max| items.len() <= max as usize)
                && items.iter().all(Value::is_string)
        }),
        Kind::Reference { .. } => true,
    }
}

/// Whether a text has a form; written out by hand, as the forms are few.
fn matches(pattern: Pattern, text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let lower = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    match pattern {
        Pattern::Code => text.split_once('-').is_some_and(|(left, right)| {
            left.len() == 3
                && left.bytes().all(|byte| byte.is_ascii_uppercase())
                && right.len() == 4
                && digits(right)
        }),
        Pattern::Slug => text.split('-').all(lower),
        Pattern::Email => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty()
                && name.split('.').all(|part| part.is_empty() || lower(part))
                && host.split_once('.').is_some_and(|(host, end)| {
                    lower(host)
                        && (2..=6).contains(&end.len())
                        && end.bytes().all(|byte| byte.is_ascii_lowercase())
                })
        }),
        Pattern::Phone => {
            text.strip_prefix('+').is_some_and(|rest| (7..=12).contains(&rest.len()) && digits(rest))
        }
        Pattern::Color => text.strip_prefix('#').is_some_and(|rest| {
            rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        }),
        Pattern::PostalCode => text.len() == 5 && digits(text),
    }
}

/// A bound of a kind: the last value that is valid and the first that is not.
#[derive(Debug)]
pub(super) struct Bound {
    /// Last part of the case's id.
    pub(super) key: &'static str,
    /// For titles: `shorter than 3 characters`.
    pub(super) words: String,
    /// Valid.
    pub(super) edge: Value,
    /// Not valid.
    pub(super) beyond: Value,
}

/// The bounds of a kind.
pub(super) fn bounds(kind: &Kind) -> Vec<Bound> {
    let mut found = Vec::new();
    let mut add = |key, words: String, edge, beyond| found.push(Bound { key, words, edge, beyond });
    match kind {
        Kind::String { min_length, max_length, pattern: None } => {
            if let Some(min) = min_length.filter(|&min| min > 0) {
                let least = min as usize;
                // Characters, not bytes: the text that is too short has enough bytes in UTF-8.
                add(
                    "too_short",
                    format!("shorter than {min} characters"),
                    json!("s".repeat(least)),
                    json!("é".repeat(least - 1)),
                );
            }
            if let Some(max) = *max_length {
                // The longest text that is valid has twice as many bytes.
                let most = max as usize;
                // And spaces at both ends are characters like any other.
                let edge = if most < 3 { "é".repeat(most) } else { format!(" {} ", "é".repeat(most - 2)) };
                add(
                    "too_long",
                    format!("longer than {max} characters"),
                    json!(edge),
                    json!("l".repeat(most + 1)),
                );
            }
        }
        Kind::Integer { min, max } => {
            if let Some(min) = *min {
                add("too_small", format!("below {min}"), json!(min), json!(min - 1));
            }
            if let Some(max) = *max {
                add("too_large", format!("above {max}"), json!(max), json!(max + 1));
            }
        }
        Kind::Number { min, max } => {
            if let Some(min) = *min {
                add("too_small", format!("below {min}"), json!(min), json!(min - 0.25));
            }
            if let Some(max) = *max {
                add("too_large", format!("above {max}"), json!(max), json!(max + 0.25));
            }
        }
        Kind::StringList { min_items, max_items } => {
            let items = |count: u32| json!((0..count).map(word).collect::<Vec<_>>());
            if let Some(min) = min_items.filter(|&min| min > 0) {
                add("too_few", format!("with fewer than {min} items"), items(min), items(min - 1));
            }
            if let Some(max) = *max_items {
                add("too_many", format!("with more than {max} items"), items(max), items(max + 1));
            }
        }
        _ => {}
    }
    found
}

/// Values of other JSON types than a field's. Read too kindly they would be inside its bounds: those are beside the point.
pub(super) fn wrong_types(kind: &Kind, sample: &Value) -> Vec<Value> {
    match kind {
        Kind::String { pattern: Some(Pattern::PostalCode), .. } => {
            vec![json!(12345), json!(true), json!(["12345"])]
        }
        Kind::String { min_length, .. } => {
            let digits = min_length.unwrap_or(0).clamp(2, 15);
            vec![json!(12 * 10_i64.pow(digits - 2)), json!(true), json!(["amber"])]
        }
        Kind::Integer { max, .. } => {
            let whole = sample.as_i64().unwrap_or(12);
            let up = max.is_none_or(|max| whole < max);
            let fraction = whole as f64 + if up { 0.5 } else { -0.5 };
            vec![json!(whole.to_string()), json!(fraction), json!(true)]
        }
        Kind::Number { .. } => vec![json!(sample.to_string()), json!(true)],
        Kind::Boolean => vec![json!("true"), json!(1)],
        Kind::DateTime => vec![json!(20_240_301), json!(true)],
        Kind::Enum { .. } => vec![json!(1), json!(true)],
        Kind::StringList { .. } => vec![json!("amber"), json!(["amber", 1])],
        Kind::Reference { .. } => vec![json!("1"), json!(true)],
    }
}

/// Texts that are no date-time, each for one reason.
pub(super) const NO_DATE_TIMES: [&str; 7] = [
    "2024-03-01",
    "2024-03-01 12:30:00Z",
    "2024-03-01T12:30:00",
    "2024-03-01T12:30:00+00:00",
    "2024-13-01T12:30:00Z",
    "2024-02-30T12:30:00Z",
    "2024-03-01T25:30:00Z",
];

/// The two ends of what a kind takes where no rule is stated: (low, high).
pub(super) fn unstated_bounds(kind: &Kind) -> (Option<Value>, Option<Value>) {
    match kind {
        Kind::String { min_length, max_length, pattern: None } => (
            min_length.is_none_or(|min| min == 0).then(|| json!("")),
            max_length.is_none().then(|| json!(" aZ9_-.,:;\"'<>/ßé✓# ".repeat(25))),
        ),
        Kind::Integer { min, max } => {
            (min.is_none().then(|| json!(-1_000_000)), max.is_none().then(|| json!(1_000_000)))
        }
        Kind::Number { min, max } => {
            (min.is_none().then(|| json!(-999_999.75)), max.is_none().then(|| json!(999_999)))
        }
        Kind::StringList { min_items, max_items } => (
            min_items.is_none_or(|min| min == 0).then(|| json!([])),
            max_items.is_none().then(|| json!((0..20).map(word).collect::<Vec<_>>())),
        ),
        Kind::DateTime => (Some(json!("1970-01-01T00:00:00Z")), Some(json!("2024-02-29T23:59:59Z"))),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::can_be_unique;

    #[test]
    fn what_can_be_unique_has_ten_values() {
        let bounds = [None, Some(0), Some(-3), Some(7), Some(20)];
        let integers = bounds.into_iter().flat_map(|min| {
            let spans = [None, Some(9), Some(10), Some(17), Some(31), Some(400)];
            spans
                .into_iter()
                .map(move |span| Kind::Integer { min, max: span.map(|span| min.unwrap_or(0) + span) })
        });
        let lengths = [(None, Some(3)), (Some(3), Some(3)), (Some(8), None), (None, Some(7)), (None, None)];
        let texts = lengths.into_iter().map(|(min_length, max_length)| Kind::String {
            min_length,
            max_length,
            pattern: None,
        });
        let forms = Pattern::ALL.iter().map(|&pattern| Kind::String {
            min_length: None,
            max_length: None,
            pattern: Some(pattern),
        });
        for kind in integers.chain(texts).chain(forms).filter(can_be_unique) {
            for start in 0..1000 {
                let values: Vec<Value> = (1..=10).map(|n| valid(&kind, start, n)).collect();
                for (index, value) in values.iter().enumerate() {
                    assert!(fits(&kind, value), "{value} of {kind:?} from {start}");
                    assert!(!values[..index].contains(value), "{value} twice in {kind:?} from {start}");
                }
            }
        }
    }
}
