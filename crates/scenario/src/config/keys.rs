//! The keys, and what each takes.

use serde_json::Value;

pub(super) const MOST_SCENARIOS: u64 = 1000;
pub(super) const MOST_TURNS: u64 = 1000;
pub(super) const MOST_CHANGES: u64 = 50;
/// Seeds fit into a signed number of 64 bits, so that every YAML and JSON reader keeps them exactly.
pub(super) const MOST_SEED: u64 = i64::MAX as u64;
/// Longest text that a key takes.
const LONGEST: usize = 4096;

/// A key and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Section; empty at the top.
    pub section: &'static str,
    /// Last part.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Its default, in words of the configuration; empty = none.
    pub default: &'static str,
}

impl Key {
    /// With its section: `restful_server_gen_iterative.n_turns`.
    pub fn dotted(&self) -> String {
        if self.section.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.section, self.name) }
    }
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
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
}

const fn key(section: &'static str, name: &'static str, takes: Takes, default: &'static str) -> Key {
    Key { section, name, takes, default }
}

const TOP: &str = "";
const ITERATIVE: &str = "restful_server_gen_iterative";
const SINGLE: &str = "restful_server_gen";
const AGENTS: &[&str] = &["MINI_SWE", "OPENHANDS", "OPENCODE", "QWEN_CODE", "KIMI_CLI", "VIBE", "MOCK"];
const BENCHMARKS: &[&str] = &["RESTFUL_SERVER_GEN_ITERATIVE", "RESTFUL_SERVER_GEN"];
const FEEDBACK: &[&str] = &["DETAILED", "MEDIUM", "MINIMAL"];

/// The model that is asked if none is named: that of the README.
pub const MODEL: &str = "zai.glm-5";

/// Every key by name.
pub const KEYS: &[Key] = &[
    key(TOP, "agent", Takes::Word(AGENTS), ""),
    key(TOP, "benchmark", Takes::Word(BENCHMARKS), "RESTFUL_SERVER_GEN_ITERATIVE"),
    key(TOP, "output_dir", Takes::Text, ""),
    key(TOP, "use_docker", Takes::Truth, ""),
    key(TOP, "batch_size", Takes::Integer(1, 1000), ""),
    key(TOP, "quick_debug", Takes::Truth, "false"),
    key(TOP, "scenarios_dir", Takes::Text, ""),
    key(ITERATIVE, "n_scenarios", Takes::Integer(1, MOST_SCENARIOS), "10"),
    key(ITERATIVE, "n_turns", Takes::Integer(1, MOST_TURNS), "3"),
    key(ITERATIVE, "num_changes_per_turn", Takes::Integer(1, MOST_CHANGES), "5"),
    key(ITERATIVE, "attempt_limit", Takes::Integer(1, 1000), "10"),
    key(ITERATIVE, "base_seed", Takes::Integer(0, MOST_SEED), "42"),
    key(ITERATIVE, "enable_feedback", Takes::Truth, "true"),
    key(ITERATIVE, "test_fail_feedback_type", Takes::Word(FEEDBACK), "DETAILED"),
    key(ITERATIVE, "use_llm_sampler", Takes::Truth, "false"),
    key(ITERATIVE, "llm_sampler_model_id", Takes::Text, MODEL),
    key(ITERATIVE, "execute_episodes", Takes::Numbers, ""),
    key(SINGLE, "n_scenarios", Takes::Integer(1, MOST_SCENARIOS), "10"),
    key(SINGLE, "attempt_limit", Takes::Integer(1, 1000), "10"),
    key(SINGLE, "base_seed", Takes::Integer(0, MOST_SEED), "42"),
    key(SINGLE, "enable_feedback", Takes::Truth, "true"),
    key(SINGLE, "test_fail_feedback_type", Takes::Word(FEEDBACK), "DETAILED"),
    key(SINGLE, "use_llm_sampler", Takes::Truth, "false"),
    key(SINGLE, "llm_sampler_model_id", Takes::Text, MODEL),
    key(SINGLE, "execute_episodes", Takes::Numbers, ""),
];

/// Sections whose keys are the business of others: the agents', Docker's, and the endpoint of the model that samples.
/// Anything goes in them.
pub const FREE_SECTIONS: &[&str] =
    &["docker", "mini_swe", "openhands", "opencode", "qwen_code", "kimi_cli", "vibe", "mock", "llm_sampler"];

impl Takes {
    /// What it takes, in words.
    pub fn words(self) -> String {
        match self {
            Self::Truth => "true or false".to_owned(),
            Self::Integer(low, high) => format!("an integer from {low} to {high}"),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Text => "a text that is not empty".to_owned(),
            Self::Numbers => "numbers with commas between, such as 1,5,10".to_owned(),
        }
    }

    /// The value in its one form; nothing if it does not take it. Texts are read as what they spell, because a
    /// `key=value` list has nothing else.
    pub(super) fn take(self, value: &Value) -> Option<Value> {
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
                let given = value.as_str()?;
                words.iter().find(|word| **word == given).map(|word| Value::from(*word))
            }
            Self::Text => match value {
                Value::String(text) if !text.is_empty() && text.len() <= LONGEST => Some(value.clone()),
                Value::Number(number) => Some(Value::String(number.to_string())),
                _ => None,
            },
            Self::Numbers => {
                let numbers: Vec<u64> = match value {
                    Value::String(text) if text.len() <= LONGEST => {
                        text.split(',').map(|part| digits(part.trim())).collect::<Option<_>>()?
                    }
                    Value::Number(number) => vec![number.as_u64()?],
                    Value::Array(items) => items.iter().map(Value::as_u64).collect::<Option<_>>()?,
                    _ => return None,
                };
                let fits = !numbers.is_empty() && numbers.iter().all(|number| *number <= MOST_SCENARIOS);
                fits.then(|| Value::from(numbers))
            }
        }
    }
}

/// An integer written with digits only: no sign, no blank, no underscore.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
