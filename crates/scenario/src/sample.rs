//! The programmatic sampler: a first schema, and the changes of each turn.
//!
//! Everything is made of the words of [`crate::vocabulary`]. A change is made in two steps: which kind comes next
//! ([`draw_kind`], weighted, and drawn towards a schedule of size), and a whole change of that kind ([`propose`]).
//! Changes that [`apply`] refuses, or that touch what the same turn has touched ([`TouchedParts`]), are drawn again. Another
//! sampler can take any of the steps.

mod actions;
mod analytics;
mod conventions;
mod entities;
mod fields;
mod first_schema;
mod guards;
mod kind;
mod names;
mod proposals;
mod size;
#[cfg(test)]
mod tests;
mod touched_parts;

pub use self::first_schema::topic;
pub use self::kind::draw_kind;
pub use self::names::note_names;
pub use self::proposals::propose;
pub use self::size::{lines_behind, scheduled_lines, size};
pub use self::touched_parts::TouchedParts;
pub use crate::vocabulary::topics;

use crate::Seed;
use crate::change::{Change, ChangeKind, apply, next_turn};
use crate::draw::Draw;
use crate::ir::Schema;

/// Makes the schemas of a scenario.
pub trait Sampler: Sync {
    /// The word in the manifest: `programmatic`, `llm`.
    fn name(&self) -> &'static str;
    /// The schema of turn 1.
    fn first_schema(&self, seed: Seed) -> Result<SamplerOutput<Schema>, SampleError>;
    /// `count` changes that lead from a schema to the next turn's. Each can be seen from outside. Independent of how
    /// many turns follow.
    fn next_turn(&self, seed: Seed, before: &Schema, count: u32) -> Result<SamplerOutput<Turn>, SampleError>;
}

/// What a sampler made, and what a model answered while it did (recorded in the pack, so that it replays without the model).
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerOutput<T> {
    /// The schema or the turn.
    pub value: T,
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

/// Where a change, or a first schema, comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The programmatic sampler.
    #[default]
    Programmatic,
    /// A model.
    Model,
    /// The programmatic sampler, after a model's answers were refused.
    Replaced,
}

impl Origin {
    /// Where a first schema comes from, by what a model answered: the last answer is the one that was taken, unless it
    /// was refused.
    pub fn from_answers(answers: &[Answer]) -> Self {
        match answers.last() {
            None => Self::Programmatic,
            Some(Answer { refused: None, .. }) => Self::Model,
            Some(_) => Self::Replaced,
        }
    }

    /// Whether no model was asked.
    pub fn is_programmatic(&self) -> bool {
        *self == Self::Programmatic
    }
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
    /// The model cannot be reached at all, or refuses to serve.
    #[error("{0}")]
    Endpoint(String),
    /// A pack that is replayed has no answer where one is needed.
    #[error("The pack has no recorded answer for {0}")]
    NotRecorded(String),
    /// Whoever asked for it wants it no more.
    #[error("It was stopped before its end")]
    Stopped,
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
pub struct ProgrammaticSampler;

impl Sampler for ProgrammaticSampler {
    fn name(&self) -> &'static str {
        "programmatic"
    }

    fn first_schema(&self, seed: Seed) -> Result<SamplerOutput<Schema>, SampleError> {
        let schema = first_schema::first_schema(seed)
            .ok_or(SampleError::Stuck { scenario: seed.scenario, turn: 1 })?;
        Ok(SamplerOutput { value: schema, answers: Vec::new() })
    }

    fn next_turn(&self, seed: Seed, before: &Schema, count: u32) -> Result<SamplerOutput<Turn>, SampleError> {
        let mut after = next_turn(before);
        let turn = after.turn;
        let mut touched = TouchedParts::new();
        let mut changes = Vec::new();
        for index in 1..=count {
            let mut draw = seed.draw(turn, &format!("change {index}"));
            let (change, changed) = draw_change(&mut draw, &after, &mut touched)
                .ok_or(SampleError::Stuck { scenario: seed.scenario, turn })?;
            changes.push(change);
            after = changed;
        }
        let origins = vec![Origin::Programmatic; changes.len()];
        Ok(SamplerOutput { value: Turn { changes, origins, after }, answers: Vec::new() })
    }
}

/// How many kinds are drawn for one change before all are tried in order.
const DRAWS: usize = 60;

/// The next change of a turn, and the schema after it; nothing if none fits. Noted in `touched`.
pub fn draw_change(draw: &mut Draw, schema: &Schema, touched: &mut TouchedParts) -> Option<(Change, Schema)> {
    for _ in 0..DRAWS {
        let kind = draw_kind(draw, schema, !touched.is_swept());
        if let Some(drawn) = draw_change_of(kind, draw, schema, touched) {
            return Some(drawn);
        }
    }
    ChangeKind::ALL
        .iter()
        .filter(|kind| !kind.is_sweeping())
        .find_map(|kind| draw_change_of(*kind, draw, schema, touched))
}

/// A change of a kind, and the schema after it; nothing if none was found at once. Noted in `touched`.
pub fn draw_change_of(
    kind: ChangeKind,
    draw: &mut Draw,
    schema: &Schema,
    touched: &mut TouchedParts,
) -> Option<(Change, Schema)> {
    let change = propose(kind, draw, schema, touched)?;
    let after = apply(schema, &change).ok()?;
    touched.note(schema, &change, &after).then_some((change, after))
}
