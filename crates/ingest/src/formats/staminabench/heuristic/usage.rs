//! Tokens, cost and times, under the names and in the units that harnesses and providers write them.

use model::{Attempt, CachedInput, Episode, Tokens};

use super::field_names;
use crate::formats::staminabench::json_fields::{kept_value, normal};
use crate::readers::json::Node;
use crate::readers::value;

/// Tokens and cost, as far as fields name them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    input: Option<u64>,
    output: Option<u64>,
    /// Cached tokens that may be in the input.
    cached: Option<u64>,
    /// Whether these are named as a detail of the input, so a part of it.
    is_detail: bool,
    /// Tokens read from a cache, counted beside the input.
    read: Option<u64>,
    /// Tokens written to a cache, counted beside the input.
    written: Option<u64>,
    /// What is known of the cached tokens, where the counts are a sum: then they need no further look.
    known_basis: Option<CachedInput>,
    /// US dollars; of a sum what is known.
    pub(super) cost_usd: Option<f64>,
    /// What a sum is of; `None` = it is none.
    parts: Option<Parts>,
}

/// Which parts a sum has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Parts {
    /// One with tokens and their cost.
    priced: bool,
    /// One with tokens whose cost is not recorded.
    unpriced: bool,
}

impl Usage {
    /// US dollars. Unknown where a sum has some tokens with a cost and others without: it lacks that of the others.
    pub(super) fn cost(&self) -> Option<f64> {
        let is_partial = self.parts.is_some_and(|parts| parts.priced && parts.unpriced);
        self.cost_usd.filter(|_| !is_partial)
    }

    fn parts(&self) -> Parts {
        let used = [self.input, self.output, self.cached, self.read, self.written];
        let has_tokens = used.into_iter().flatten().any(|count| count > 0);
        let (priced, unpriced) = (self.cost_usd.is_some(), self.cost_usd.is_none());
        self.parts.unwrap_or(Parts { priced: has_tokens && priced, unpriced: has_tokens && unpriced })
    }

    /// Tokens with an input that includes the cached ones, and how they came into it.
    pub(super) fn tokens(&self) -> (Tokens, CachedInput) {
        let as_named = Tokens { input: self.input, cached: self.cached.or(self.read), output: self.output };
        if let Some(known_basis) = self.known_basis {
            return (as_named, known_basis);
        }
        if self.read.is_some() || self.written.is_some() {
            let cache_tokens = self.read.unwrap_or(0).saturating_add(self.written.unwrap_or(0));
            let input = self.input.map(|input| input.saturating_add(cache_tokens));
            return (Tokens { input, ..as_named }.with_cached_included(), CachedInput::Included);
        }
        let basis = match CachedInput::from_counts(&as_named) {
            CachedInput::Assumed if self.is_detail => CachedInput::Included,
            basis => basis,
        };
        (as_named.with_cached_included(), basis)
    }

    /// Adds what is known. Where one of the two proves that cached tokens stand beside the input, both are read so.
    pub(super) fn add(&mut self, other: Self) {
        let mut parts = [self.tokens(), other.tokens()];
        let basis = if parts.iter().any(|(_, basis)| *basis == CachedInput::Added) {
            for (tokens, _) in parts.iter_mut().filter(|(_, basis)| *basis == CachedInput::Assumed) {
                *tokens = tokens.adding_cached();
            }
            CachedInput::Added
        } else if parts.iter().any(|(_, basis)| *basis == CachedInput::Assumed) {
            CachedInput::Assumed
        } else {
            CachedInput::Included
        };
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        let (own, more) = (self.parts(), other.parts());
        let all_parts = Parts { priced: own.priced || more.priced, unpriced: own.unpriced || more.unpriced };
        let [(own_tokens, _), (other_tokens, _)] = parts;
        let Tokens { input, cached, output } = own_tokens.plus(other_tokens);
        let known = !own_tokens.plus(other_tokens).is_unknown();
        *self = Self {
            input,
            output,
            cached,
            is_detail: false,
            read: None,
            written: None,
            known_basis: known.then_some(basis),
            cost_usd,
            parts: (known || cost_usd.is_some()).then_some(all_parts),
        };
    }

    /// Fills in what is not known yet. An input goes with the cached tokens that were named beside it.
    pub(super) fn complete(&mut self, other: Self) {
        let knows_cache =
            |usage: &Self| usage.cached.is_some() || usage.read.is_some() || usage.written.is_some();
        let takes_cache =
            !knows_cache(self) || self.input.is_none() && other.input.is_some() && knows_cache(&other);
        if takes_cache {
            (self.cached, self.read, self.written) = (other.cached, other.read, other.written);
            self.is_detail = other.is_detail;
            self.known_basis = other.known_basis.or(self.known_basis);
        }
        self.input = self.input.or(other.input);
        self.output = self.output.or(other.output);
        if self.cost().is_none() && other.cost_usd.is_some() {
            (self.cost_usd, self.parts) = (other.cost_usd, other.parts);
        }
    }

    /// Gives an episode these tokens and this cost as those of the whole, where those of an attempt are unknown, unless its
    /// attempts have more already.
    pub(super) fn complete_episode(&self, episode: &mut Episode) {
        let attempts: Vec<&Attempt> = episode.turns.iter().flat_map(|turn| &turn.attempts).collect();
        let sum = attempts.iter().fold(Tokens::default(), |sum, attempt| sum.plus(attempt.tokens));
        let lacks_tokens = sum.is_unknown()
            || attempts.iter().any(|a| a.tokens.input.is_none() || a.tokens.output.is_none());
        let costs: f64 = attempts.iter().filter_map(|attempt| attempt.cost_usd).sum();
        let lacks_cost = attempts.is_empty() || attempts.iter().any(|attempt| attempt.cost_usd.is_none());
        let (tokens, basis) = self.tokens();
        if lacks_tokens && !tokens.is_unknown() && tokens.input >= sum.input && tokens.output >= sum.output {
            (episode.tokens, episode.cached_input) = (Some(tokens), basis);
        }
        if lacks_cost {
            episode.cost_usd = self.cost().filter(|cost| *cost >= costs);
        }
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

/// Fields of a usage object that are named as counts of tokens and cannot be.
pub(super) fn odd_tokens(node: &Node) -> Vec<(String, serde_json::Value)> {
    let odd = |(key, value): &&(String, Node)| {
        token_kind(&normal(key)).is_some()
            && *value != Node::Null
            && value::tokens(value).is_none()
            && value.map().is_empty()
    };
    node.map().iter().filter(odd).take(8).map(|(k, v)| (k.clone(), kept_value(v))).collect()
}

/// Whether a key outside a usage object is a count of tokens.
pub(super) fn is_token_key(key: &str) -> bool {
    key.contains("token") && token_kind(key).is_some()
}

/// Tokens and cost out of the fields of an object.
pub(super) fn usage(node: &Node) -> Usage {
    let mut counts = [None::<u64>; 5];
    let mut cost_usd = None;
    let mut add_counts = |counts: &mut [Option<u64>; 5], map: &[(String, Node)], all: bool| {
        for (key, value) in map {
            let key = normal(key);
            if field_names::COST.contains(&key.as_str()) {
                cost_usd = cost_usd.or_else(|| value::dollars(value));
            } else if (all || key.contains("token"))
                && let (Some(kind), Some(count)) = (token_kind(&key), value::tokens(value))
            {
                counts[kind].get_or_insert(count);
            }
        }
    };
    add_counts(&mut counts, node.map(), true);
    let named_cached = counts[2];
    for (key, value) in node.map() {
        if normal(key).ends_with("_details") {
            add_counts(&mut counts, value.map(), false);
        }
    }
    let [input, output, cached, read, written] = counts;
    let is_detail = named_cached.is_none() && cached.is_some();
    Usage { input, output, cached, is_detail, read, written, known_basis: None, cost_usd, parts: None }
}

/// Tokens and cost that an object names, itself or in its usage object.
pub(super) fn usage_near(node: &Node) -> Usage {
    let mut found = Usage::default();
    for (key, value) in node.map() {
        let key = normal(key);
        if (field_names::USAGE.contains(&key.as_str()) || key == "metrics") && !value.map().is_empty() {
            found.complete(usage(value));
        }
    }
    let named: Vec<(String, Node)> = node
        .map()
        .iter()
        .filter(|(k, _)| {
            let k = normal(k);
            is_token_key(&k) || field_names::COST.contains(&k.as_str())
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
    model::timestamp::from_milliseconds((seconds * 1e3).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &str) -> Node {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn tokens_under_common_names() {
        let counts_of = |json: &str| {
            let t = usage(&node(json)).tokens().0;
            (t.input, t.cached, t.output)
        };
        assert_eq!(
            counts_of(
                r#"{"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}"#
            ),
            (Some(10), Some(4), Some(3))
        );
        assert_eq!(counts_of(r#"{"input": 10, "output": 3}"#), (Some(10), None, Some(3)));
        assert_eq!(
            counts_of(
                r#"{"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 3}"#
            ),
            (Some(105), Some(90), Some(3))
        );
        assert_eq!(
            counts_of(r#"{"inputTokens": 10, "totalOutputTokens": 3, "cachedTokens": 70}"#),
            (Some(80), Some(70), Some(3))
        );
        assert_eq!(counts_of(r#"{"prompt_tokens": null, "completion_tokens": "3"}"#), (None, None, None));
    }

    #[test]
    fn input_and_cache_may_be_named_apart() {
        let counts_of = |parts: &[&str]| {
            let mut found = Usage::default();
            for part in parts {
                found.complete(usage(&node(part)));
            }
            let (t, basis) = found.tokens();
            (t.input, t.cached, basis)
        };
        let added = (Some(80), Some(70), CachedInput::Added);
        assert_eq!(counts_of(&[r#"{"input_tokens": 10}"#, r#"{"cached_tokens": 70}"#]), added);
        assert_eq!(counts_of(&[r#"{"cached_tokens": 70}"#, r#"{"input_tokens": 10}"#]), added);
        let separate_counts = (Some(85), Some(5), CachedInput::Included);
        assert_eq!(
            counts_of(&[r#"{"input_tokens": 80}"#, r#"{"cache_read_input_tokens": 5}"#]),
            separate_counts
        );
        // A detail of the input is a part of it, unless there is more of it.
        let detail = r#"{"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90}}"#;
        assert_eq!(counts_of(&[detail]), (Some(100), Some(90), CachedInput::Included));
        let more = r#"{"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 90}}"#;
        assert_eq!(counts_of(&[more]), (Some(100), Some(90), CachedInput::Added));
        // Two ways to state the same usage are not mixed.
        let shapes = [
            r#"{"prompt_tokens": 100, "cached_tokens": 90}"#,
            r#"{"input_tokens": 10, "cache_read_input_tokens": 90}"#,
        ];
        assert_eq!(counts_of(&shapes), (Some(100), Some(90), CachedInput::Assumed));
        assert_eq!(counts_of(&[shapes[1], shapes[0]]), (Some(100), Some(90), CachedInput::Included));
    }

    #[test]
    fn one_step_proves_it_for_those_that_are_added_to_it() {
        let mut sum = Usage::default();
        for step in [
            r#"{"input_tokens": 50, "cached_tokens": 0}"#,
            r#"{"input_tokens": 50, "cached_tokens": 40}"#,
            r#"{"input_tokens": 5, "cached_tokens": 80}"#,
        ] {
            sum.add(usage(&node(step)));
        }
        let (tokens, basis) = sum.tokens();
        assert_eq!((tokens.input, tokens.cached, basis), (Some(50 + 90 + 85), Some(120), CachedInput::Added));
    }

    #[test]
    fn a_cost_that_some_steps_do_not_say_is_unknown() {
        let priced = r#"{"input_tokens": 50, "output_tokens": 5, "cost": 0.25}"#;
        let (unpriced, free, nothing) = (
            r#"{"input_tokens": 50, "output_tokens": 5}"#,
            r#"{"input_tokens": 0, "output_tokens": 0}"#,
            "{}",
        );
        let cost_of = |steps: &[&str]| {
            let mut sum = Usage::default();
            for step in steps {
                sum.add(usage(&node(step)));
            }
            sum.cost()
        };
        assert_eq!(cost_of(&[priced, nothing, priced, free, nothing]), Some(0.5));
        assert_eq!(cost_of(&[priced, unpriced, nothing]), None);
        assert_eq!(cost_of(&[unpriced, nothing, priced, priced]), None);
        assert_eq!(cost_of(&[unpriced, r#"{"cost": 0.25}"#, nothing]), Some(0.25), "said beside the tokens");
        let mut sum = Usage::default();
        for step in [priced, unpriced] {
            sum.add(usage(&node(step)));
        }
        sum.complete(usage(&node(r#"{"cost": 0.75}"#)));
        assert_eq!(sum.cost(), Some(0.75), "that of the whole is said");
    }

    #[test]
    fn what_the_whole_says_stands_where_an_attempt_says_nothing() {
        let whole = usage(&node(r#"{"input_tokens": 900, "output_tokens": 90, "cost": 2.5}"#));
        let given = |attempts: &[(u64, Option<f64>)]| {
            let mut episode = Episode::new("e", "e");
            let mut turn = model::Turn::new(1);
            turn.attempts = attempts
                .iter()
                .map(|(input, cost_usd)| {
                    let mut attempt = Attempt::new(1, model::Verdict::Passed);
                    let count = Some(*input).filter(|input| *input > 0);
                    (attempt.tokens.input, attempt.tokens.output, attempt.cost_usd) =
                        (count, count, *cost_usd);
                    attempt
                })
                .collect();
            episode.turns.push(turn);
            whole.complete_episode(&mut episode);
            (episode.tokens.and_then(|tokens| tokens.input), episode.cost_usd)
        };
        let all = (Some(900), Some(2.5));
        assert_eq!(given(&[]), all);
        assert_eq!(given(&[(0, None), (0, None)]), all);
        assert_eq!(given(&[(50, Some(0.5)), (0, None)]), all);
        assert_eq!(given(&[(50, Some(0.5)), (60, Some(0.5))]), (None, None), "each attempt says it");
        assert_eq!(given(&[(950, Some(3.5)), (0, None)]), (None, None), "less than is known of attempts");
    }

    #[test]
    fn times_of_several_kinds() {
        let time_of = |json: &str| time(&node(json));
        assert_eq!(time_of("1767225600.5").as_deref(), Some("2026-01-01T00:00:00.500Z"));
        assert_eq!(time_of("1767225600500").as_deref(), Some("2026-01-01T00:00:00.500Z"));
        assert_eq!(time_of("\"2026-01-01 10:00:00\"").as_deref(), Some("2026-01-01 10:00:00"));
        assert_eq!(time_of("12.5"), None);
        assert_eq!(time_of("\"soon\""), None);
    }
}
