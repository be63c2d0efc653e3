//! What a setting takes.

use serde_json::Value;

use crate::bounds::MOST_SCENARIOS;

/// Longest text that a key takes, in bytes.
const LONGEST_TEXT: usize = 4096;

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    /// `true` or `false`.
    Truth,
    /// An integer between two, both included.
    Integer(u64, u64),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A text that is not empty.
    Text,
    /// Numbers with commas between, such as `1,5,10`.
    Numbers,
    /// A number, whole or not, between two, both included.
    Amount(f64, f64),
    /// A list of words, or words with commas between.
    Words,
}

impl ValueKind {
    /// What it takes, in words.
    pub fn words(self) -> String {
        match self {
            Self::Truth => "true or false".to_owned(),
            Self::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Text => "a text that is not empty".to_owned(),
            Self::Numbers => "numbers with commas between, such as 1,5,10".to_owned(),
            Self::Amount(low, high) => format!("a number from {low} to {high}"),
            Self::Words => "words with commas between".to_owned(),
        }
    }

    /// The value in its one form; nothing if it does not take it. Texts are read as what they spell, because a
    /// `key=value` list has nothing else.
    pub(crate) fn take(self, value: &Value) -> Option<Value> {
        match self {
            Self::Truth => match value {
                Value::Bool(_) => Some(value.clone()),
                Value::String(word) => match word.to_ascii_lowercase().as_str() {
                    "true" | "yes" | "on" => Some(Value::Bool(true)),
                    "false" | "no" | "off" => Some(Value::Bool(false)),
                    _ => None,
                },
                _ => None,
            },
            Self::Integer(low, high) => {
                let number = match value {
                    Value::Number(number) => number.as_u64(),
                    Value::String(text) => digits(text),
                    _ => None,
                };
                number.filter(|number| (low..=high).contains(number)).map(Value::from)
            }
            Self::Word(words) => {
                let text = value.as_str()?;
                words.iter().find(|word| **word == text).map(|word| Value::from(*word))
            }
            Self::Text => match value {
                Value::String(text) if !text.is_empty() && text.len() <= LONGEST_TEXT => Some(value.clone()),
                Value::Number(number) => Some(Value::String(number.to_string())),
                _ => None,
            },
            Self::Numbers => {
                let numbers: Vec<u64> = match value {
                    Value::String(text) if text.len() <= LONGEST_TEXT => {
                        text.split(',').map(|part| digits(part.trim())).collect::<Option<_>>()?
                    }
                    Value::Number(number) => vec![number.as_u64()?],
                    Value::Array(items) => items.iter().map(Value::as_u64).collect::<Option<_>>()?,
                    _ => return None,
                };
                let fits = !numbers.is_empty() && numbers.iter().all(|number| *number <= MOST_SCENARIOS);
                fits.then(|| Value::from(numbers))
            }
            Self::Amount(low, high) => {
                let number = match value {
                    Value::Number(number) => number.as_f64(),
                    Value::String(text) => text.trim().parse().ok(),
                    _ => None,
                };
                // Not a number is in no range.
                number.filter(|number| (low..=high).contains(number)).map(Value::from)
            }
            Self::Words => {
                let words: Vec<String> = match value {
                    Value::String(text) if text.len() <= LONGEST_TEXT => {
                        text.split(',').map(|word| word.trim().to_owned()).collect()
                    }
                    Value::Array(items) => {
                        items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?
                    }
                    _ => return None,
                };
                let fit = |word: &String| !word.is_empty() && word.len() <= 200 && !word.contains(',');
                (!words.is_empty() && words.len() <= 100 && words.iter().all(fit)).then(|| Value::from(words))
            }
        }
    }
}

/// An integer written with digits only: no sign, no blank, no underscore.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
