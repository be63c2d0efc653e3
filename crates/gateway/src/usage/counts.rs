//! The counts of tokens that the three APIs report.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Counts as the endpoint reports them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    /// Cached inside the input.
    pub(super) cached: Option<u64>,
    /// Cached beside the input (Anthropic).
    pub(super) read: Option<u64>,
    pub(super) written: Option<u64>,
}

impl Counts {
    /// Later counts replace earlier ones: they are sums up to their event.
    pub(super) fn update(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let details = usage.prompt_tokens_details.or(usage.input_tokens_details);
        let cached = details
            .and_then(|details| details.cached_tokens)
            .or(usage.prompt_cache_hit_tokens)
            .or(usage.cached_tokens);
        for (count, reported) in [
            (&mut self.input, usage.prompt_tokens.or(usage.input_tokens)),
            (&mut self.output, usage.completion_tokens.or(usage.output_tokens)),
            (&mut self.cached, cached),
            (&mut self.read, usage.cache_read_input_tokens),
            (&mut self.written, usage.cache_creation_input_tokens),
        ] {
            *count = reported.or(*count);
        }
    }
}

/// The counts of all three APIs, with the fields of `DeepSeek` and Moonshot for cached tokens.
#[derive(Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    #[serde(default)]
    input_tokens_details: Option<Details>,
    #[serde(default, deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
}

/// An unreadable usage counts as none. The rest of the answer still counts.
pub(super) fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.is_object().then(|| serde_json::from_value(value).ok()).flatten())
}

/// A count, also as `12.0`. Everything else is unknown.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let float = || value.as_f64().filter(|float| *float >= 0.0 && *float < 9e15).map(|float| float as u64);
    Ok(value.as_u64().or_else(float))
}
