//! The programmatic sampler: a first schema, and the changes of each turn.

use crate::Seed;
use crate::change::Change;
use crate::ir::Schema;

/// Makes the schemas of a scenario.
pub trait Sampler: Sync {
    /// The word in the manifest: `programmatic`, `llm`.
    fn name(&self) -> &'static str;
    /// The schema of turn 1.
    fn first(&self, seed: Seed) -> Result<Sampled<Schema>, SampleError>;
    /// `count` changes that lead from a schema to the next turn's. Each can be seen from outside. Independent of how
    /// many turns follow.
    fn turn(&self, seed: Seed, before: &Schema, count: u32) -> Result<Sampled<Turn>, SampleError>;
}

/// What a sampler made, and what a model said while it did (recorded in the pack, so that it replays without the model).
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled<T> {
    /// What was made.
    pub made: T,
    /// In the order in which they came; empty for the programmatic sampler.
    pub answers: Vec<Answer>,
}

/// The changes of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// In order.
    pub changes: Vec<Change>,
    /// Where each comes from.
    pub origins: Vec<Origin>,
    /// The schema after them.
    pub after: Schema,
}

/// Where a change comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The programmatic sampler.
    Programmatic,
    /// A model.
    Model,
    /// The programmatic sampler, after a model's answers were refused.
    Replaced,
}

/// One answer of a model, as it came.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Answer {
    /// What was asked for: `first`, `change 3`.
    pub purpose: String,
    /// From 1; the last of a purpose is the one that was taken, unless it was refused.
    pub attempt: u32,
    /// The text, bounded in length; empty if none came.
    pub text: String,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Why a scenario could not be sampled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The model can not be reached at all, or refuses to serve.
    #[error("{0}")]
    Endpoint(String),
    /// A pack that is replayed has no answer where one is needed.
    #[error("The pack has no recorded answer for {0}")]
    NotRecorded(String),
    /// No change fits.
    #[error("No change fits turn {turn} of scenario {scenario}")]
    Stuck {
        /// From 0.
        scenario: u32,
        /// From 1.
        turn: u32,
    },
}

/// The sampler that needs nothing: the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Programmatic;

impl Sampler for Programmatic {
    fn name(&self) -> &'static str {
        "programmatic"
    }

    fn first(&self, _seed: Seed) -> Result<Sampled<Schema>, SampleError> {
        todo!("owned by: sample")
    }

    fn turn(&self, _seed: Seed, _before: &Schema, _count: u32) -> Result<Sampled<Turn>, SampleError> {
        todo!("owned by: sample")
    }
}
