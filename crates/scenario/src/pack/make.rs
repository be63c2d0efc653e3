//! The turns of one scenario, made one after the other in memory.

use serde::{Deserialize, Serialize};

use crate::Seed;
use crate::change::{Change, apply, next_turn};
use crate::config::Benchmark;
use crate::ir::Schema;
use crate::pack::PackError;
use crate::sample::{Answer, Origin, SampleError, Sampler, Turn};
use crate::suite::{Suite, suite_after};
use crate::text;

/// The version of `changes/turn_N.yaml`.
pub const CHANGES_VERSION: &str = "stamina-changes/1";

/// The changes that led to a turn: `changes/turn_N.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnChanges {
    /// [`CHANGES_VERSION`].
    pub version: String,
    /// The turn that they lead to.
    pub turn: u32,
    /// In order.
    pub changes: Vec<RecordedChange>,
}

/// A change as a pack keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedChange {
    /// In a sentence.
    pub summary: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The change itself.
    pub what: Change,
}

/// All that a turn consists of, but for what is written out as code.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// From 1.
    pub turn: u32,
    /// The schema.
    pub schema: Schema,
    /// What led to it; nothing at turn 1.
    pub changes: Option<TurnChanges>,
    /// The request.
    pub request: String,
    /// The full specification.
    pub specification: String,
    /// The tests.
    pub suite: Suite,
    /// What a model answered.
    pub answers: Vec<Answer>,
    /// For each case of the suite: where in the suite of the turn before the one stands that it is equal to in everything
    /// but the mark, if there is one.
    pub(super) equals: Vec<Option<usize>>,
}

/// Makes the turns of a scenario.
pub struct Maker<'a> {
    sampler: &'a dyn Sampler,
    seed: Seed,
    changes: u32,
    benchmark: Benchmark,
    last: Option<Made>,
}

impl<'a> Maker<'a> {
    /// Nothing is made yet. `changes` per turn of the iterative benchmark.
    pub fn new(sampler: &'a dyn Sampler, seed: Seed, changes: u32) -> Self {
        Self::of(Benchmark::Iterative, sampler, seed, changes)
    }

    /// The same for any benchmark: that of one turn announces no later ones.
    pub fn of(benchmark: Benchmark, sampler: &'a dyn Sampler, seed: Seed, changes: u32) -> Self {
        Self { sampler, seed, changes, benchmark, last: None }
    }

    /// The turn that was made last.
    pub fn last(&self) -> Option<&Made> {
        self.last.as_ref()
    }

    /// Makes the next turn; turn 1 first.
    ///
    /// Errors: the sampler gives up, or says that its changes lead elsewhere than they do.
    pub fn make_next(&mut self) -> Result<&Made, PackError> {
        let sampling = |error| match error {
            SampleError::Stopped => PackError::Cancelled,
            error => PackError::Sample { scenario: self.seed.scenario, error },
        };
        let made = match &self.last {
            None => {
                let first = self.sampler.first(self.seed).map_err(sampling)?;
                self.first(first.made, first.answers)
            }
            Some(before) => {
                let sampled = self.sampler.turn(self.seed, &before.schema, self.changes).map_err(sampling)?;
                self.later(before, sampled.made, sampled.answers)?
            }
        };
        Ok(self.last.insert(made))
    }

    fn first(&self, schema: Schema, answers: Vec<Answer>) -> Made {
        let (suite, equals) = suite_after(self.seed, &schema, None);
        Made {
            turn: 1,
            request: text::first_request(self.seed, &schema, self.benchmark),
            specification: text::specification(&schema),
            suite,
            equals,
            changes: None,
            schema,
            answers,
        }
    }

    fn later(&self, before: &Made, turn: Turn, answers: Vec<Answer>) -> Result<Made, PackError> {
        let Turn { changes, origins, after } = turn;
        let number = before.turn + 1;
        let faulty = |what: String| PackError::Faulty { scenario: self.seed.scenario, turn: number, what };
        if origins.len() != changes.len() {
            return Err(faulty(format!("{} changes have {} origins", changes.len(), origins.len())));
        }
        let request = text::change_request(self.seed, &before.schema, &changes, &after);
        // A change is told by the schema that it meets, which the ones before it may have changed.
        let mut schema = next_turn(&before.schema);
        let mut recorded = Vec::with_capacity(changes.len());
        for (what, origin) in changes.into_iter().zip(origins) {
            let next = apply(&schema, &what).map_err(|error| faulty(error.to_string()))?;
            recorded.push(RecordedChange { summary: text::summary(&schema, &what), origin, what });
            schema = next;
        }
        if schema != after {
            return Err(faulty("The changes do not lead to the schema that the sampler made".to_owned()));
        }
        let (suite, equals) = suite_after(self.seed, &after, Some(&before.suite));
        Ok(Made {
            turn: number,
            request,
            specification: text::specification(&after),
            suite,
            equals,
            changes: Some(TurnChanges {
                version: CHANGES_VERSION.to_owned(),
                turn: number,
                changes: recorded,
            }),
            schema: after,
            answers,
        })
    }
}
