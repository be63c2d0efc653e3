//! The values that were given, by key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The values that were given, and the section of the benchmark among them.
pub(super) struct Keys<'a> {
    pub(super) values: &'a BTreeMap<String, Value>,
    pub(super) section: &'static str,
}

impl Keys<'_> {
    pub(super) fn benchmark_value(&self, name: &str) -> Option<&Value> {
        self.values.get(&format!("{}.{name}", self.section))
    }

    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    /// One of the words that a key takes, as the type that has them.
    pub(super) fn choice<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.values.get(key).and_then(choice_from_word)
    }

    /// A text, or a number that was meant as one.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.values.get(key)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        self.word(key).map(PathBuf::from)
    }

    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        self.values.get(key).and_then(Value::as_bool)
    }

    pub(super) fn amount(&self, key: &str) -> Option<u64> {
        self.values.get(key).and_then(Value::as_u64)
    }

    pub(super) fn count(&self, key: &str) -> Option<u32> {
        self.values.get(key).and_then(whole_number)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.values.get(key).and_then(Value::as_f64)
    }

    /// A list of words; a text is taken apart at commas.
    pub(super) fn words(&self, key: &str) -> Vec<String> {
        match self.values.get(key) {
            Some(Value::String(text)) => {
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

/// A choice from its word.
pub(super) fn choice_from_word<T: DeserializeOwned>(word: &Value) -> Option<T> {
    serde_json::from_value(word.clone()).ok()
}

/// A whole number from 0 up.
pub(super) fn whole_number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}
