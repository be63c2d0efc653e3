//! Tokens, cost and times, under the names and in the units that harnesses and providers write them.

use model::{StepKind, Tokens};

use super::lean::Steps;
use super::steps::kind_of;
use super::words::{self, normal};
use crate::readers::json::Node;

/// Tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    /// Tokens; `input` includes `cached`.
    pub(super) tokens: Tokens,
    /// US dollars.
    pub(super) cost_usd: Option<f64>,
}

impl Usage {
    /// Adds what is known.
    pub(super) fn add(&mut self, other: Self) {
        self.tokens = self.tokens.plus(other.tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
    }

    /// Fills in what is not known yet.
    pub(super) fn complete(&mut self, other: Self) {
        self.tokens.input = self.tokens.input.or(other.tokens.input);
        self.tokens.cached = self.tokens.cached.or(other.tokens.cached);
        self.tokens.output = self.tokens.output.or(other.tokens.output);
        self.cost_usd = self.cost_usd.or(other.cost_usd);
    }
}

/// Which count of tokens a key names.
fn token_kind(key: &str) -> Option<usize> {
    let key = key
        .strip_prefix("total_")
        .or_else(|| key.strip_prefix("n_"))
        .or_else(|| key.strip_prefix("num_"))
        .unwrap_or(key);
    let key = key.strip_suffix("_count").unwrap_or(key);
    Some(match key {
        "input_tokens" | "prompt_tokens" | "tokens_in" | "input" | "prompt" | "tokens_input"
        | "tokens_prompt" => 0,
        "output_tokens" | "completion_tokens" | "tokens_out" | "output" | "completion" | "tokens_output"
        | "generated_tokens" => 1,
        "cached_tokens"
        | "cache_tokens"
        | "cached_input_tokens"
        | "cached_prompt_tokens"
        | "cached"
        | "cache_hit_tokens" => 2,
        // These two are counted beside the input, not in it (Anthropic's way).
        "cache_read_input_tokens" | "cache_read_tokens" | "cache_read" => 3,
        "cache_creation_input_tokens" | "cache_creation_tokens" | "cache_write_tokens" | "cache_write" => 4,
        _ => return None,
    })
}

/// More tokens than this are no count of tokens.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// A count of tokens that can be one.
fn tokens_of(value: &Node) -> Option<u64> {
    value.count().filter(|n| *n <= MOST_TOKENS)
}

/// Fields of a usage object that are named as counts of tokens and can not be.
pub(super) fn odd_tokens(node: &Node) -> Vec<(String, serde_json::Value)> {
    let odd = |(key, value): &&(String, Node)| {
        token_kind(&normal(key)).is_some()
            && *value != Node::Null
            && tokens_of(value).is_none()
            && value.map().is_empty()
    };
    node.map().iter().filter(odd).take(8).map(|(k, v)| (k.clone(), super::facts::kept(v))).collect()
}

/// Whether a key outside a usage object is a count of tokens.
pub(super) fn is_token_key(key: &str) -> bool {
    key.contains("token") && token_kind(key).is_some()
}

/// Tokens and cost out of the fields of an object.
pub(super) fn usage(node: &Node) -> Usage {
    let mut counts = [None::<u64>; 5];
    let mut cost_usd = None;
    let mut look = |map: &[(String, Node)], all: bool| {
        for (key, value) in map {
            let key = normal(key);
            if words::COST.contains(&key.as_str()) {
                cost_usd = cost_usd.or_else(|| value.number().filter(|n| *n >= 0.0));
            } else if (all || key.contains("token"))
                && let (Some(kind), Some(count)) = (token_kind(&key), tokens_of(value))
            {
                counts[kind].get_or_insert(count);
            }
        }
    };
    look(node.map(), true);
    for (key, value) in node.map() {
        if normal(key).ends_with("_details") {
            look(value.map(), false);
        }
    }
    let [input, output, cached, read, created] = counts;
    let beside = read.is_some() || created.is_some();
    let input = match input {
        Some(n) if beside => Some(n.saturating_add(read.unwrap_or(0)).saturating_add(created.unwrap_or(0))),
        // More cached than input: then the input is what was not cached.
        Some(n) if cached.is_some_and(|c| c > n) => Some(n.saturating_add(cached.unwrap_or(0))),
        n => n,
    };
    Usage { tokens: Tokens { input, cached: cached.or(read), output }, cost_usd }
}

/// Adds one step of a transcript to its sums.
pub(super) fn sum_step(node: &Node, sum: &mut Steps) {
    sum.count = sum.count.saturating_add(1);
    sum.of_agent = sum.of_agent.saturating_add(u32::from(kind_of(node) == StepKind::Agent));
    let mut of_step = usage_near(node);
    for (key, value) in node.map() {
        let key = normal(key);
        match key.as_str() {
            "tool_calls" => {
                let calls = u32::try_from(value.list().len()).unwrap_or(u32::MAX);
                sum.tool_calls = Some(sum.tool_calls.unwrap_or(0).saturating_add(calls));
            }
            // What a harness wraps around a provider's answer.
            "response" | "extra" | "message" | "info" => {
                of_step.complete(usage_near(value));
                for (inner, value) in value.map() {
                    if normal(inner) == "response" {
                        of_step.complete(usage_near(value));
                    }
                }
            }
            "timestamp" | "time" | "created_at" | "at" => {
                if let Some(at) = time(value) {
                    sum.first_at.get_or_insert_with(|| at.clone());
                    sum.last_at = Some(at);
                }
            }
            _ => {}
        }
    }
    sum.usage.add(of_step);
}

/// Tokens and cost that an object names, itself or in its usage object.
pub(super) fn usage_near(node: &Node) -> Usage {
    let mut found = Usage::default();
    for (key, value) in node.map() {
        let key = normal(key);
        if (words::USAGE.contains(&key.as_str()) || key == "metrics") && !value.map().is_empty() {
            found.complete(usage(value));
        }
    }
    let named: Vec<(String, Node)> = node
        .map()
        .iter()
        .filter(|(k, _)| {
            let k = normal(k);
            is_token_key(&k) || words::COST.contains(&k.as_str())
        })
        .cloned()
        .collect();
    found.complete(usage(&Node::Map(named)));
    found
}

/// A time: RFC 3339 as it stands, or seconds (milliseconds) since 1970 put into it.
pub(super) fn time(node: &Node) -> Option<String> {
    if let Some(text) = node.word() {
        return crate::readers::clock::micros(text).map(|_| text.to_owned());
    }
    let Node::Number(_) = node else { return None };
    let number = node.number()?;
    let seconds = if number > 1e11 { number / 1000.0 } else { number };
    // From 2001 to 2100; anything else is a duration or a counter.
    if !(9.8e8..4.1e9).contains(&seconds) {
        return None;
    }
    let whole = seconds.floor();
    Some(model::rfc3339(whole as i64, Some(((seconds - whole) * 1e3) as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &str) -> Node {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn tokens_under_common_names() {
        let of = |json: &str| {
            let t = usage(&node(json)).tokens;
            (t.input, t.cached, t.output)
        };
        assert_eq!(
            of(
                r#"{"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}"#
            ),
            (Some(10), Some(4), Some(3))
        );
        assert_eq!(of(r#"{"input": 10, "output": 3}"#), (Some(10), None, Some(3)));
        assert_eq!(
            of(
                r#"{"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 3}"#
            ),
            (Some(105), Some(90), Some(3))
        );
        assert_eq!(
            of(r#"{"inputTokens": 10, "totalOutputTokens": 3, "cachedTokens": 70}"#),
            (Some(80), Some(70), Some(3))
        );
        assert_eq!(of(r#"{"prompt_tokens": null, "completion_tokens": "3"}"#), (None, None, None));
    }

    #[test]
    fn times_of_several_kinds() {
        let of = |json: &str| time(&node(json));
        assert_eq!(of("1767225600.5").as_deref(), Some("2026-01-01T00:00:00.500Z"));
        assert_eq!(of("1767225600500").as_deref(), Some("2026-01-01T00:00:00.500Z"));
        assert_eq!(of("\"2026-01-01 10:00:00\"").as_deref(), Some("2026-01-01 10:00:00"));
        assert_eq!(of("12.5"), None);
        assert_eq!(of("\"soon\""), None);
    }
}
