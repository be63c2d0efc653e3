//! The turns of one scenario, made one after the other in memory.

use serde::{Deserialize, Serialize};

use crate::Seed;
use crate::change::{Change, FollowingSchema};
use crate::config::Benchmark;
use crate::ir::Schema;
use crate::pack::PackError;
use crate::sample::{Answer, Origin, SampleError, Sampler, Turn};
use crate::suite::{Blocks, NextSuite, PreviousTurn, Suite, next_suite};
use crate::text::{self, Texts};

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
pub struct MadeTurn {
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

impl MadeTurn {
    /// How many of its parts come from there: of turn 1 the first schema, of later ones the changes.
    pub fn parts_from(&self, origin: Origin) -> u32 {
        match &self.changes {
            None => u32::from(Origin::from_answers(&self.answers) == origin),
            Some(changes) => changes.changes.iter().filter(|change| change.origin == origin).count() as u32,
        }
    }
}

/// Makes the turns of a scenario.
pub struct TurnMaker<'a> {
    sampler: &'a dyn Sampler,
    seed: Seed,
    changes: u32,
    benchmark: Benchmark,
    last: Option<MadeTurn>,
    /// Of the suite of the turn that was made last.
    blocks: Blocks,
    /// As far as that turn.
    texts: Texts,
}

/// A turn that was sampled, but for what is made of its schema.
struct SampledTurn {
    schema: Schema,
    changes: Vec<RecordedChange>,
    request: String,
    specification: String,
    answers: Vec<Answer>,
}

impl<'a> TurnMaker<'a> {
    /// Nothing is made yet. `changes` per turn of the iterative benchmark.
    pub fn new(sampler: &'a dyn Sampler, seed: Seed, changes: u32) -> Self {
        Self::with_benchmark(Benchmark::Iterative, sampler, seed, changes)
    }

    /// The same for any benchmark: that of one turn announces no later ones.
    pub fn with_benchmark(benchmark: Benchmark, sampler: &'a dyn Sampler, seed: Seed, changes: u32) -> Self {
        Self {
            sampler,
            seed,
            changes,
            benchmark,
            last: None,
            blocks: Blocks::default(),
            texts: Texts::default(),
        }
    }

    /// The turn that was made last.
    pub fn last(&self) -> Option<&MadeTurn> {
        self.last.as_ref()
    }

    /// Makes the next turn; turn 1 first. What is the same as in the turn before is taken over from it: the result is that
    /// of making the turn again.
    ///
    /// Errors: the sampler gives up, or says that its changes lead elsewhere than they do.
    pub fn make_next(&mut self) -> Result<&MadeTurn, PackError> {
        let mut texts = std::mem::take(&mut self.texts);
        let sampled = match &self.last {
            None => self.first(&mut texts),
            Some(before) => self.later(before, &mut texts),
        };
        self.texts = texts;
        let sampled = sampled?;
        let before = self.last.take();
        let turn = before.as_ref().map_or(1, |before| before.turn + 1);
        let SampledTurn { schema, changes, request, specification, answers } = sampled;
        let blocks = std::mem::take(&mut self.blocks);
        let (previous, suite) = before.map(|before| (before.schema, before.suite)).unzip();
        let before =
            previous.as_ref().zip(suite).map(|(schema, suite)| PreviousTurn { schema, suite, blocks });
        let NextSuite { suite, equals, blocks } = next_suite(self.seed, &schema, before);
        self.blocks = blocks;
        let changes = (turn > 1).then(|| TurnChanges { version: CHANGES_VERSION.to_owned(), turn, changes });
        Ok(self.last.insert(MadeTurn {
            turn,
            schema,
            changes,
            request,
            specification,
            suite,
            answers,
            equals,
        }))
    }

    fn first(&self, texts: &mut Texts) -> Result<SampledTurn, PackError> {
        let first = self.sampler.first_schema(self.seed).map_err(|error| self.sample_failure(error))?;
        let (request, specification) = texts.first(self.seed, &first.value, self.benchmark);
        let (schema, answers) = (first.value, first.answers);
        Ok(SampledTurn { schema, changes: Vec::new(), request, specification, answers })
    }

    fn later(&self, before: &MadeTurn, texts: &mut Texts) -> Result<SampledTurn, PackError> {
        let sampled = self.sampler.next_turn(self.seed, &before.schema, self.changes);
        let sampled = sampled.map_err(|error| self.sample_failure(error))?;
        let Turn { changes, origins, after } = sampled.value;
        let turn = before.turn + 1;
        let faulty = |problem: String| PackError::Faulty { scenario: self.seed.scenario, turn, problem };
        if origins.len() != changes.len() {
            return Err(faulty(format!("{} changes have {} origins", changes.len(), origins.len())));
        }
        // The summary of a change describes the schema that it meets, which earlier changes of the turn may have changed.
        let mut follow = FollowingSchema::new(&before.schema);
        let mut summaries = Vec::with_capacity(changes.len());
        for change in &changes {
            summaries.push(text::summary(follow.schema(), change));
            follow.apply(change).map_err(|error| faulty(error.to_string()))?;
        }
        if !follow.leads_to(&after) {
            return Err(faulty("The changes do not lead to the schema that the sampler made".to_owned()));
        }
        let (request, specification) = texts.next(self.seed, &before.schema, &changes, &after);
        let recorded = changes.into_iter().zip(origins).zip(summaries);
        let changes = recorded
            .map(|((change, origin), summary)| RecordedChange { summary, origin, what: change })
            .collect();
        Ok(SampledTurn { schema: after, changes, request, specification, answers: sampled.answers })
    }

    fn sample_failure(&self, error: SampleError) -> PackError {
        match error {
            SampleError::Stopped => PackError::Cancelled,
            error => PackError::Sample { scenario: self.seed.scenario, error },
        }
    }
}
