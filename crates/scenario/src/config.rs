//! The settings of a generation, as the keys of the StaminaBench README: YAML files and `key=value` lists.
//!
//! Keys are dotted: `restful_server_gen_iterative.n_turns`. In YAML they may also be nested. A later file wins over an
//! earlier one, a `key=value` over every file, and a later one over an earlier one. `null` takes a key back to its
//! default. Every key is one of [`KEYS`], or lies in a section that belongs to an agent, to Docker or to the sampler's
//! endpoint ([`FREE_SECTIONS`]); an unknown one is an error that names the nearest. Keys that only matter when a
//! benchmark is *run* are checked and kept ([`Config::given`]), and change nothing about what is generated. A file that was
//! written elsewhere is read with more patience ([`read`]).

mod error;
mod keys;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::error::ConfigError;
pub use self::keys::{FREE_SECTIONS, KEYS, Key, MODEL, Takes};
pub use self::resolve::{ConfigFile, LeftOut, read, resolve};

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// What decides about the bytes of a pack.
    pub generation: Generation,
    /// Where the pack goes, if it says so (`output_dir`).
    pub output_dir: Option<String>,
    /// Every key that was given and not taken back, with its last value.
    pub given: BTreeMap<String, Value>,
}

/// Which benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Benchmark {
    /// One turn: build a server from a specification. Section `restful_server_gen`.
    #[serde(rename = "RESTFUL_SERVER_GEN")]
    SingleTurn,
    /// Many turns. Section `restful_server_gen_iterative`.
    #[default]
    #[serde(rename = "RESTFUL_SERVER_GEN_ITERATIVE")]
    Iterative,
    /// Tasks of Harbor, which nothing generates: `tasks` names them. Section `harbor`.
    #[serde(rename = "HARBOR")]
    Harbor,
}

impl Benchmark {
    /// As the README spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SingleTurn => "RESTFUL_SERVER_GEN",
            Self::Iterative => "RESTFUL_SERVER_GEN_ITERATIVE",
            Self::Harbor => "HARBOR",
        }
    }

    /// Its section in a configuration.
    pub fn section(self) -> &'static str {
        match self {
            Self::SingleTurn => "restful_server_gen",
            Self::Iterative => "restful_server_gen_iterative",
            Self::Harbor => "harbor",
        }
    }
}

/// What decides about the bytes of a pack: two packs of the same version, sampler and `Generation` are the same. Kept
/// in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Which benchmark.
    pub benchmark: Benchmark,
    /// Scenarios, 1 to 1000.
    pub n_scenarios: u32,
    /// Turns of each, 1 to 1000; 1 for the single-turn benchmark.
    pub n_turns: u32,
    /// Changes from a turn to the next, 1 to 50; 0 for the single-turn benchmark, which has none.
    pub num_changes_per_turn: u32,
    /// Where every random choice comes from; below 2^63.
    pub base_seed: u64,
    /// Whether a model fills in names and details.
    pub use_llm_sampler: bool,
    /// Which model; only with `use_llm_sampler`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_sampler_model_id: Option<String>,
}

impl Config {
    /// Takes a key and all below it away. False if there was none.
    pub fn leave_out(&mut self, key: &str) -> bool {
        let (before, within) = (self.given.len(), format!("{key}."));
        self.given.retain(|other, _| other != key && !other.starts_with(&within));
        self.given.len() < before
    }
}

impl Default for Generation {
    /// The defaults of the README.
    fn default() -> Self {
        Self {
            benchmark: Benchmark::Iterative,
            n_scenarios: 10,
            n_turns: 3,
            num_changes_per_turn: 5,
            base_seed: 42,
            use_llm_sampler: false,
            llm_sampler_model_id: None,
        }
    }
}

impl Generation {
    /// Whether every number is in its range. For settings that did not come through [`resolve`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let section = self.benchmark.section();
        let within = |name: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(ConfigError::Value {
                key: format!("{section}.{name}"),
                given: value.to_string(),
                wanted: format!("a whole number from {low} to {high}"),
                place: String::new(),
            })
        };
        within("n_scenarios", u64::from(self.n_scenarios), 1, keys::MOST_SCENARIOS)?;
        within("base_seed", self.base_seed, 0, keys::MOST_SEED)?;
        match self.benchmark {
            Benchmark::SingleTurn | Benchmark::Harbor => within("n_turns", u64::from(self.n_turns), 1, 1),
            Benchmark::Iterative => {
                within("n_turns", u64::from(self.n_turns), 1, keys::MOST_TURNS)?;
                within("num_changes_per_turn", u64::from(self.num_changes_per_turn), 1, keys::MOST_CHANGES)
            }
        }
    }
}
