//! Whether a pack is valid: sound, stated, not vacuous, sensitive.
//!
//! - *Sound*: the reference of a turn passes the suite of that turn.
//! - *Stated*: whatever the suite demands stands in the clauses that its cases name ([`crate::suite::unstated`]), and these
//!   in the specification or, for what is gone, in the request.
//! - *Not vacuous*: the reference of the turn before fails it.
//! - *Sensitive*: mutants of the reference ([`crate::mutants`]) fail it. A mutant that passes every case is a
//!   *survivor*, and told with the reason.
//!
//! A pack of which a file is missing or damaged is not valid; the report says which, and everything else is looked at.
//!
//! Servers are [`World`](crate::reference::World)s in this process: no sockets, no ports. A server that is expected to
//! fail is stopped at its first failing case, and the cases about what is wrong with it come first.

mod damage;
mod run;
mod sensitive;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZero;

use serde::Serialize;

pub use self::run::validate;
use crate::pack::Mismatch;

/// Share of mutants that must be noticed, in percent.
pub const SENSITIVE: u64 = 99;

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Scenarios, from 0.
    pub scenarios: Vec<u32>,
    /// Turns, from 1.
    pub turns: Vec<u32>,
    /// Mutants of each operator at each turn.
    pub mutants: u32,
    /// Scenarios at the same time; by default as many as there are processors.
    pub threads: Option<NonZero<usize>>,
}

impl Options {
    /// Everything in a pack, with one mutant of each operator at each turn.
    pub fn all(config: &crate::config::Generation) -> Self {
        Self {
            scenarios: (0..config.n_scenarios).collect(),
            turns: (1..=config.n_turns).collect(),
            mutants: 1,
            threads: None,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Scenarios that were looked at.
    pub scenarios: u32,
    /// Turns of each that were looked at.
    pub turns: u32,
    /// Cases that the reference fails.
    pub reference_failures: u64,
    /// Demands that no text states.
    pub unstated_demands: u64,
    /// Turns whose suite the reference of the turn before passes.
    pub vacuous_turns: u64,
    /// Mutants that were made.
    pub mutants: u64,
    /// Those that a suite noticed.
    pub killed: u64,
    /// By operator.
    pub operators: BTreeMap<String, Operator>,
    /// Those that no case noticed, by scenario and turn.
    pub survivors: Vec<Survivor>,
    /// Whether the content of the scenarios looked at is what the manifest says: there are no mismatches.
    pub hashes_ok: bool,
    /// Where it is not, which files are missing or damaged, and what of the folder or zip was left out as unsafe.
    pub mismatches: Vec<Mismatch>,
    /// What the reference fails: the first five of each turn.
    pub failures: Vec<Failure>,
    /// What no text states: the first five of each turn.
    pub unstated: Vec<Unstated>,
    /// Which turns are vacuous.
    pub vacuous: Vec<Vacuous>,
}

/// Mutants of one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Operator {
    /// Made.
    pub mutants: u64,
    /// Noticed.
    pub killed: u64,
}

/// A mutant that no case noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survivor {
    /// What was done.
    pub operator: String,
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// Where: `orders.cancel.guard.shipped`.
    pub site: String,
    /// What the mutant does, and that nothing noticed it.
    pub reason: String,
}

/// A case that the reference fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// Id of the case.
    pub case: String,
    /// What was expected and what came.
    pub message: String,
}

/// Something that a suite demands and no text states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unstated {
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// Id of the case, or of the clause that is not in the text.
    pub at: String,
    /// What is not said.
    pub what: String,
}

/// A turn whose suite does not tell it from the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Vacuous {
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
}

impl Report {
    /// Sound, stated, not vacuous, sensitive, and what the manifest says. Where nothing was looked at, nothing is good.
    pub fn is_good(&self) -> bool {
        self.scenarios > 0
            && self.turns > 0
            && self.reference_failures == 0
            && self.unstated_demands == 0
            && self.vacuous_turns == 0
            && self.hashes_ok
            && self.killed * 100 >= self.mutants * SENSITIVE
    }

    /// Takes in what another thread found.
    fn add(&mut self, other: Self) {
        self.reference_failures += other.reference_failures;
        self.unstated_demands += other.unstated_demands;
        self.vacuous_turns += other.vacuous_turns;
        self.mutants += other.mutants;
        self.killed += other.killed;
        for (name, operator) in other.operators {
            let sum = self.operators.entry(name).or_default();
            sum.mutants += operator.mutants;
            sum.killed += operator.killed;
        }
        self.survivors.extend(other.survivors);
        self.mismatches.extend(other.mismatches);
        self.failures.extend(other.failures);
        self.unstated.extend(other.unstated);
        self.vacuous.extend(other.vacuous);
    }
}
