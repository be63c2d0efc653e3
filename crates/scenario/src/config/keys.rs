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
    /// A number, whole or not, between two, both included.
    Amount(u64, u64),
    /// A list of words, or words with commas between.
    Words,
}

const fn key(section: &'static str, name: &'static str, takes: Takes, default: &'static str) -> Key {
    Key { section, name, takes, default }
}

const TOP: &str = "";
const ITERATIVE: &str = "restful_server_gen_iterative";
const SINGLE: &str = "restful_server_gen";
const HARBOR: &str = "harbor";
/// The README's, then ours; `CUSTOM` is the one of `harness_file`.
const AGENTS: &[&str] = &[
    "MINI_SWE",
    "OPENHANDS",
    "OPENCODE",
    "QWEN_CODE",
    "KIMI_CLI",
    "VIBE",
    "MOCK",
    "KIMI_CODE",
    "CLAUDE_CODE",
    "CODEX",
    "CUSTOM",
    // Players of tasks: the reference solution, and nobody.
    "ORACLE",
    "NOP",
];
const BENCHMARKS: &[&str] = &["RESTFUL_SERVER_GEN_ITERATIVE", "RESTFUL_SERVER_GEN", "HARBOR"];
const TIMEOUTS: &[&str] = &["graded", "stop"];
const BACKGROUND: &[&str] = &["keep", "end"];
const SESSIONS: &[&str] = &["continue", "fresh"];
const PROTOCOLS: &[&str] = &["evocode", "mt_at_k", "sr", "ours"];
const FEEDBACK: &[&str] = &["DETAILED", "MEDIUM", "MINIMAL"];

const MODES: &[&str] = &["gateway", "direct", "oracle"];
const NETWORKS: &[&str] = &["gateway", "open"];
const STACKS: &[&str] = &["flask", "native"];
/// Most tokens, dollars, minutes, gibibytes that a limit takes.
const MOST: u64 = 1_000_000_000_000;

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
    // What follows is not the README's; it only matters when a benchmark is run.
    key(TOP, "tasks", Takes::Text, ""),
    key(TOP, "attempt_limit", Takes::Integer(1, 1000), ""),
    key(TOP, "restore_before_try", Takes::Truth, "false"),
    key(HARBOR, "protocol", Takes::Word(PROTOCOLS), ""),
    key(HARBOR, "attempt_limit", Takes::Integer(1, 1000), ""),
    key(HARBOR, "execute_episodes", Takes::Numbers, ""),
    key(HARBOR, "timeout", Takes::Word(TIMEOUTS), ""),
    key(HARBOR, "background", Takes::Word(BACKGROUND), ""),
    key(HARBOR, "session", Takes::Word(SESSIONS), ""),
    key(TOP, "fail_stop", Takes::Truth, "false"),
    key(TOP, "harness_file", Takes::Text, ""),
    key(TOP, "tags", Takes::Words, ""),
    key(TOP, "keep_snapshots", Takes::Integer(0, 1_000_000), ""),
    key("endpoint", "mode", Takes::Word(MODES), ""),
    key("endpoint", "base_url", Takes::Text, ""),
    key("endpoint", "key_env", Takes::Text, ""),
    key("endpoint", "key_name", Takes::Text, ""),
    key("endpoint", "context_window", Takes::Integer(1_000, 100_000_000), "200000"),
    key("endpoint.price", "input", Takes::Amount(0, 1_000_000), ""),
    key("endpoint.price", "cached", Takes::Amount(0, 1_000_000), ""),
    key("endpoint.price", "cache_write", Takes::Amount(0, 1_000_000), ""),
    key("endpoint.price", "output", Takes::Amount(0, 1_000_000), ""),
    key("endpoint.price", "per_hour", Takes::Amount(0, 1_000_000), ""),
    key("limits", "cpus", Takes::Amount(0, 1_000), "2"),
    key("limits", "memory_gib", Takes::Amount(0, 100_000), "4"),
    key("limits", "pids", Takes::Integer(16, 1_000_000), "512"),
    key("limits", "disk_gib", Takes::Amount(0, 1_000_000), "4"),
    key("limits", "attempt_minutes", Takes::Amount(0, 100_000), "20"),
    key("limits", "network", Takes::Word(NETWORKS), "gateway"),
    key("limits.attempt", "tokens", Takes::Integer(1, MOST), ""),
    key("limits.attempt", "usd", Takes::Amount(0, MOST), ""),
    key("limits.attempt", "minutes", Takes::Amount(0, MOST), ""),
    key("limits.episode", "tokens", Takes::Integer(1, MOST), ""),
    key("limits.episode", "usd", Takes::Amount(0, MOST), ""),
    key("limits.episode", "minutes", Takes::Amount(0, MOST), ""),
    key("limits.run", "tokens", Takes::Integer(1, MOST), ""),
    key("limits.run", "usd", Takes::Amount(0, MOST), ""),
    key("limits.run", "minutes", Takes::Amount(0, MOST), ""),
    key("oracle", "seed", Takes::Integer(0, MOST_SEED), "0"),
    key("oracle", "defect_rate", Takes::Amount(0, 1), "0"),
    key("oracle", "most_defects", Takes::Integer(1, 100), "3"),
    key("oracle", "repair", Takes::Amount(0, 1), "1"),
    key("oracle", "carries_over", Takes::Truth, "true"),
    key("oracle", "stack", Takes::Word(STACKS), ""),
    key("oracle.mischief", "stall", Takes::Amount(0, 1), "0"),
    key("oracle.mischief", "overflow", Takes::Amount(0, 1), "0"),
    key("oracle.mischief", "malformed", Takes::Amount(0, 1), "0"),
    key("oracle.mischief", "kill", Takes::Amount(0, 1), "0"),
    key("oracle.mischief", "give_up", Takes::Amount(0, 1), "0"),
];

/// Sections whose keys are the business of others: the agents', Docker's, and the endpoint of the model that samples.
/// Anything goes in them.
pub const FREE_SECTIONS: &[&str] = &[
    "docker",
    "mini_swe",
    "openhands",
    "opencode",
    "qwen_code",
    "kimi_cli",
    "vibe",
    "mock",
    "kimi_code",
    "claude_code",
    "codex",
    "custom",
    "llm_sampler",
];

impl Takes {
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
            Self::Amount(low, high) => {
                let number = match value {
                    Value::Number(number) => number.as_f64(),
                    Value::String(text) => text.trim().parse().ok(),
                    _ => None,
                };
                // Not a number is in no range.
                number.filter(|number| (low as f64..=high as f64).contains(number)).map(Value::from)
            }
            Self::Words => {
                let words: Vec<String> = match value {
                    Value::String(text) if text.len() <= LONGEST => {
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
