//! Whether a pack is valid: sound, stated, not vacuous, sensitive.
//!
//! - *Sound*: the reference of a turn passes the suite of that turn.
//! - *Stated*: every demand of the suite is in the clauses that its cases name ([`scenario::suite::unstated_demands`]). These
//!   clauses are in the specification or, for removed parts, in the request.
//! - *Not vacuous*: the reference of the turn before fails the suite.
//! - *Sensitive*: mutants of the reference ([`crate::mutants`]) fail the suite. A mutant that passes every case is a
//!   *survivor*, and is reported with the reason.
//!
//! A pack with a missing or damaged file is not valid. The report names the file, and validation continues with the others.
//!
//! Servers are [`World`](scenario::reference::World)s in this process, without sockets and ports. A server that should fail is
//! stopped at its first failing case, and the cases about its fault run first.

mod damage;
mod run;
mod sensitive;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZero;

use scenario::pack::Mismatch;
use serde::Serialize;

pub use self::run::validate;

/// Share of mutants that the suites must detect, in percent.
pub const LEAST_DETECTED_PERCENT: u64 = 99;

/// The scope of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Scenarios, from 0.
    pub scenarios: Vec<u32>,
    /// Turns, from 1.
    pub turns: Vec<u32>,
    /// Mutants of each operator at each turn.
    pub mutants: u32,
    /// Scenarios at the same time. The default is the number of processors.
    pub threads: Option<NonZero<usize>>,
}

impl Options {
    /// Everything in a pack, with one mutant of each operator at each turn.
    pub fn all(config: &scenario::config::Generation) -> Self {
        Self {
            scenarios: (0..config.n_scenarios).collect(),
            turns: (1..=config.n_turns).collect(),
            mutants: 1,
            threads: None,
        }
    }
}

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Validated scenarios.
    pub scenarios: u32,
    /// Validated turns of each.
    pub turns: u32,
    /// Cases that the reference fails.
    pub reference_failures: u64,
    /// Demands that no text states.
    pub unstated_demands: u64,
    /// Turns whose suite the reference of the turn before passes.
    pub vacuous_turns: u64,
    /// Mutants.
    pub mutants: u64,
    /// Mutants that a suite detected.
    pub killed: u64,
    /// By operator.
    pub operators: BTreeMap<String, Operator>,
    /// Mutants that no case detected, by scenario and turn.
    pub survivors: Vec<Survivor>,
    /// Whether the content of the validated scenarios matches the manifest: there are no mismatches.
    pub hashes_ok: bool,
    /// Mismatches with the manifest, missing or damaged files, and unsafe files of the folder or zip that were skipped.
    pub mismatches: Vec<Mismatch>,
    /// Cases that the reference fails: the first five of each turn.
    pub failures: Vec<Failure>,
    /// Demands that no text states: the first five of each turn.
    pub unstated: Vec<UnstatedDemand>,
    /// The vacuous turns.
    pub vacuous: Vec<VacuousTurn>,
}

/// Mutants of one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Operator {
    /// Mutants.
    pub mutants: u64,
    /// Detected mutants.
    pub killed: u64,
}

/// A mutant that no case detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survivor {
    /// The operator.
    pub operator: String,
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// The place: `orders.cancel.guard.shipped`.
    pub site: String,
    /// The effect of the mutant, and the reason of its survival.
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
    /// Expectation and response.
    pub message: String,
}

/// A demand of a suite that no text states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnstatedDemand {
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// Id of the case, or of the clause that is not in the text.
    #[serde(rename = "at")]
    pub place: String,
    /// The demand.
    pub what: String,
}

/// A turn whose suite passes the reference of the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VacuousTurn {
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
}

impl Report {
    /// Whether the pack is sound, stated, not vacuous, sensitive, and matches the manifest. A report about nothing is not good.
    pub fn is_good(&self) -> bool {
        self.scenarios > 0
            && self.turns > 0
            && self.reference_failures == 0
            && self.unstated_demands == 0
            && self.vacuous_turns == 0
            && self.hashes_ok
            && self.killed * 100 >= self.mutants * LEAST_DETECTED_PERCENT
    }

    /// Adds the report of another thread.
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
