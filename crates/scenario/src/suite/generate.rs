//! From schema to suite.

use super::dependencies::{BlockTopic, Blocks, PreviousBlocks, ReadDepth};
use super::plan::{BODIES, SuitePlan};
use super::shorthand::ChangedBuilders;
use super::{Builder, Case, Method, Reset, SUITE_VERSION, Suite, marks};
use super::{
    actions, analytics, computed, conventions, deletion, fields, lists, records, references, removed, rules,
};
use crate::Seed;
use crate::ir::Schema;

/// The suite of a schema. `before` is the suite of the turn before (none at turn 1), for the marks.
pub fn suite(seed: Seed, schema: &Schema, before: Option<&Suite>) -> Suite {
    let plan = SuitePlan::new(seed, schema);
    let mut draft = SuiteDraft::new(&plan, None);
    draft.make_all();
    let mut suite = draft.suite(seed);
    if let Some(before) = before {
        marks::mark(&mut suite, before, &draft.known);
    }
    suite
}

/// The turn before: what of it is the same is taken over.
pub(crate) struct PreviousTurn<'b> {
    pub(crate) schema: &'b Schema,
    pub(crate) suite: Suite,
    pub(crate) blocks: Blocks,
}

/// A suite and what the next one needs.
pub(crate) struct NextSuite {
    pub(crate) suite: Suite,
    pub(crate) blocks: Blocks,
    /// For each case: where in the suite before the one stands that it is equal to in everything but the mark, also in what
    /// the builders say of it, if there is one. What is written of that one is written of this one too.
    pub(crate) equals: Vec<Option<usize>>,
}

/// The same suite as [`suite`], with cases taken over from the turn before.
pub(crate) fn next_suite(seed: Seed, schema: &Schema, before: Option<PreviousTurn<'_>>) -> NextSuite {
    let plan = SuitePlan::new(seed, schema);
    let Some(mut before) = before else {
        let mut draft = SuiteDraft::new(&plan, None);
        draft.make_all();
        let suite = draft.suite(seed);
        return NextSuite { equals: vec![None; suite.cases.len()], suite, blocks: draft.blocks };
    };
    let old = PreviousBlocks::new(before.blocks, before.schema, schema);
    let mut draft = SuiteDraft::new(&plan, Some((old, &mut before.suite)));
    draft.make_all();
    let mut suite = draft.suite(seed);
    let SuiteDraft { known, blocks, .. } = draft;
    let mut equals = marks::mark(&mut suite, &before.suite, &known);
    let touched = ChangedBuilders::new(&suite.builders, &before.suite.builders);
    for (equal, case) in equals.iter_mut().zip(&suite.cases) {
        *equal = equal.filter(|_| !touched.has(case));
    }
    NextSuite { suite, blocks, equals }
}

/// Cases while they are made, block by block.
struct SuiteDraft<'p, 'a, 'o> {
    plan: &'p SuitePlan<'a>,
    old: Option<(PreviousBlocks<'o>, &'o mut Suite)>,
    cases: Vec<Case>,
    blocks: Blocks,
    /// Where each case was taken from, if it was.
    known: Vec<Option<usize>>,
}

impl<'p, 'a, 'o> SuiteDraft<'p, 'a, 'o> {
    fn new(plan: &'p SuitePlan<'a>, old: Option<(PreviousBlocks<'o>, &'o mut Suite)>) -> Self {
        let room = old.as_ref().map_or(256, |(_, suite)| suite.cases.len() + 64);
        let (cases, known) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Self { plan, old, cases, blocks: Blocks::default(), known }
    }

    /// A block of cases: taken over, or made.
    fn block(
        &mut self,
        about: BlockTopic,
        entity: &str,
        part: &str,
        depth: ReadDepth,
        make: impl FnOnce(&'p SuitePlan<'a>, &mut Vec<Case>),
    ) {
        let begin = self.cases.len();
        if let Some((old, suite)) = &mut self.old
            && let Some(places) = old.find(about, entity, part)
        {
            for place in places {
                if let Some(case) = suite.cases.get_mut(place) {
                    self.cases.push(std::mem::replace(case, Case::placeholder()));
                    self.known.push(Some(place));
                }
            }
            old.keep(&mut self.blocks, begin..self.cases.len());
            return;
        }
        if !entity.is_empty() {
            self.plan.dependencies.note(entity, depth);
        }
        make(self.plan, &mut self.cases);
        self.known.resize(self.cases.len(), None);
        self.blocks.add((about, entity, part), &self.plan.dependencies, begin..self.cases.len());
    }

    fn make_all(&mut self) {
        let plan = self.plan;
        self.block(BlockTopic::Conventions, "", "", ReadDepth::Fields, conventions::cases);
        for facts in &plan.entities {
            let key = facts.key;
            self.block(BlockTopic::Records, key, "", ReadDepth::Fields, |plan, cases| {
                records::cases(plan, facts, cases);
            });
            for part in &facts.parts {
                if part.field.is_writable() {
                    self.block(BlockTopic::Field, key, &part.field.key, ReadDepth::Base, |plan, cases| {
                        fields::cases(plan, facts, part, cases);
                        rules::cases(plan, facts, part, cases);
                        references::cases(plan, facts, part, cases);
                        deletion::cases(plan, facts, part, cases);
                    });
                } else {
                    self.block(BlockTopic::Field, key, &part.field.key, ReadDepth::Fields, |plan, cases| {
                        computed::cases(plan, facts, part, cases);
                    });
                }
            }
            self.block(BlockTopic::SoftDelete, key, "", ReadDepth::Base, |plan, cases| {
                deletion::soft_delete(plan, facts, cases);
            });
            self.block(BlockTopic::Lists, key, "", ReadDepth::Base, |plan, cases| {
                lists::cases(plan, facts, cases);
            });
            for action in &facts.entity.actions {
                self.block(BlockTopic::Action, key, &action.key, ReadDepth::Base, |plan, cases| {
                    actions::cases(plan, facts, action, cases);
                });
            }
        }
        for analytic in &plan.schema.analytics {
            self.block(BlockTopic::Analytic, "", &analytic.key, ReadDepth::Fields, |plan, cases| {
                analytics::cases(plan, analytic, cases);
            });
        }
        self.block(BlockTopic::Removed, "", "", ReadDepth::Fields, removed::cases);
    }

    /// The suite with the cases that were made, not yet marked.
    fn suite(&mut self, seed: Seed) -> Suite {
        let schema = self.plan.schema;
        let builders = self.plan.entities.iter().map(|facts| Builder {
            entity: facts.key.to_owned(),
            path: facts.path.clone(),
            status: schema.conventions.status.created,
            bodies: (1..=BODIES).map(|n| facts.body(n).into()).collect(),
        });
        Suite {
            version: SUITE_VERSION.to_owned(),
            scenario: seed.scenario,
            turn: schema.turn,
            reset: Reset { method: Method::Post, path: "/reset".to_owned() },
            builders: builders.collect(),
            cases: std::mem::take(&mut self.cases),
        }
    }
}
