//! What a suite may take in memory while it is read. A file may be hostile, and a few bytes of JSON can become hundreds.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What all that is read of a suite may weigh, in bytes: four times what the largest of a scenario of 1000 turns does (30 MB).
const MOST_BYTES: usize = 128 << 20;
/// What a value weighs beside its text, and a key.
const NODE: usize = size_of::<Value>();
/// What a list takes once it has an element: room for four.
const LIST: usize = 4 * NODE;
/// What a map takes once it has an entry: room for four of them and their index.
const MAP: usize = 4 * (NODE + size_of::<String>() + 8) + 64;
/// Half of what a short text takes beside its bytes: it has two quotation marks.
const QUOTE: usize = 16;

/// The bytes that may still be taken.
#[derive(Debug)]
pub(super) struct MemoryBudget(usize);

impl MemoryBudget {
    /// All of it.
    pub(super) fn new() -> Self {
        Self(MOST_BYTES)
    }

    /// Takes so many bytes.
    ///
    /// Errors: that much is not left.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => {
                return Err(format!(
                    "written out in full it is too large (more than {} MiB)",
                    MOST_BYTES >> 20
                ));
            }
        }
        Ok(())
    }

    /// Reads a value, if there is room for whatever the text may become.
    ///
    /// Errors: there is not; it is no JSON, or of another form.
    pub(super) fn read<T: DeserializeOwned>(&mut self, json: &[u8]) -> Result<T, String> {
        self.take(most_memory(json))?;
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }
}

/// The most that a text of JSON takes in memory. Every value but the first follows one of these characters; those in texts count as well.
fn most_memory(json: &[u8]) -> usize {
    let weight_of = |byte: &u8| match byte {
        b',' | b':' => 1 + NODE,
        b'[' => 1 + LIST,
        b'{' => 1 + MAP,
        b'"' => 1 + QUOTE,
        _ => 1,
    };
    NODE + json.iter().map(weight_of).sum::<usize>()
}

/// What a value takes in memory.
pub(super) fn weight(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => 2 * QUOTE + text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => {
            MAP + map.iter().map(|(key, value)| key_weight(key) + weight(value)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// What a key takes beside its value.
pub(super) fn key_weight(key: &str) -> usize {
    NODE + key.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_may_become_is_at_least_what_it_becomes() {
        for json in [
            "0",
            "[]",
            "[0,0,0,0]",
            "[[[0]],[]]",
            "{\"a\":{},\"b\":[{\"c\":\"text\"}]}",
            "[{\"a\":1},{\"a\":1}]",
            "[\"\",\",\\\"\"]",
        ] {
            let value: Value = serde_json::from_str(json).expect("it is JSON");
            assert!(most_memory(json.as_bytes()) >= weight(&value), "{json}");
        }
    }

    #[test]
    fn what_may_become_too_large_is_not_parsed() {
        // 12 MB that would become more than 400.
        let zeros = format!("[{}0]", "0,".repeat(6 << 20));
        let error = MemoryBudget::new().read::<Value>(zeros.as_bytes()).expect_err("it is too large");
        assert!(error.contains("too large"), "{error}");
        let maps = format!("[{}{{}}]", "{\"a\":0},".repeat(1 << 20));
        MemoryBudget::new().read::<Value>(maps.as_bytes()).expect_err("it is too large");
    }
}
