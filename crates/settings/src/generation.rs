//! What decides about the bytes of a pack, and the benchmarks.

use serde::{Deserialize, Serialize};

use crate::bounds::{MOST_CHANGES, MOST_SCENARIOS, MOST_SEED, MOST_TURNS};
use crate::{ConfigError, ValueKind};

/// The model that samples if none is named: that of the README.
pub const MODEL: &str = "zai.glm-5";

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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Iterative, Self::SingleTurn, Self::Harbor];

    /// As the README spells it.
    pub const fn as_str(self) -> &'static str {
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

impl Generation {
    /// Whether every number is in its range. For settings that did not come through [`crate::resolve`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let section = self.benchmark.section();
        let within = |name: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(ConfigError::Value {
                key: format!("{section}.{name}"),
                value: value.to_string(),
                wanted: ValueKind::Integer(low, high).words(),
                place: String::new(),
            })
        };
        within("n_scenarios", u64::from(self.n_scenarios), 1, MOST_SCENARIOS)?;
        within("base_seed", self.base_seed, 0, MOST_SEED)?;
        match self.benchmark {
            Benchmark::SingleTurn | Benchmark::Harbor => within("n_turns", u64::from(self.n_turns), 1, 1),
            Benchmark::Iterative => {
                within("n_turns", u64::from(self.n_turns), 1, MOST_TURNS)?;
                within("num_changes_per_turn", u64::from(self.num_changes_per_turn), 1, MOST_CHANGES)
            }
        }
    }
}
