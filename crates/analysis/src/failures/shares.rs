//! Counts and shares of classes over runs; each leads to its cases.

use std::collections::BTreeMap;

use model::Episode;
use serde::Serialize;

use super::history::{History, Repair, RepairTimes, StandingCounts, history, repair_times, turn_repairs};
use super::{Classified, Context, FailureClass, classify_attempt};
use crate::proportion::{Proportion, wilson};

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CaseKey {
    /// Index of the run, as it was given.
    pub run: usize,
    /// Index of the episode in its run, as it was given.
    pub episode: usize,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
}

/// A failed attempt of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Where it stands.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Whether the class is the attempt's own; else only some of its failing tests are of the class.
    pub primary: bool,
    /// How many of its failing tests are of the class.
    pub tests: u32,
}

/// One class in one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The class.
    pub class: FailureClass,
    /// Failed attempts whose class it is.
    pub attempts: u32,
    /// Of all failed attempts of the group, with Wilson's interval.
    pub of_attempts: Option<Proportion>,
    /// Failing tests of the class.
    pub tests: u32,
    /// Of all failing tests of the group that are described, 0 to 1. Without an interval: tests of one attempt fail
    /// together.
    pub of_tests: Option<f64>,
    /// The attempts that it has to do with, in order of their keys.
    pub cases: Vec<Case>,
}

/// All classes in one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Breakdown {
    /// Attempts made, passed ones included.
    pub made: u32,
    /// Attempts that failed.
    pub failed: u32,
    /// Failing tests that are described.
    pub tests: u32,
    /// Failing tests that are counted and not described; in no share.
    pub not_described: u32,
    /// Of the failing tests that are described: how many are new, regressions, still failing.
    pub standings: StandingCounts,
    /// Classes that occur, by failed attempts, then by failing tests, both descending, then in the order of classes.
    pub classes: Vec<Share>,
}

/// Shares of failures over everything that was added, and by groups.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shares {
    /// Over everything.
    pub all: Breakdown,
    /// By index of the run.
    pub by_run: BTreeMap<usize, Breakdown>,
    /// By number of the turn.
    pub by_turn: BTreeMap<u32, Breakdown>,
    /// By number of the attempt: 1 is the first try at a turn.
    pub by_attempt: BTreeMap<u32, Breakdown>,
    /// Times to repair over everything.
    pub repairs: Repairs,
    /// Times to repair by index of the run.
    pub repairs_by_run: BTreeMap<usize, Repairs>,
}

/// How long repairs took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Repairs {
    /// Until a failing test passed again.
    pub tests: RepairTimes,
    /// Until a failed turn passed.
    pub turns: RepairTimes,
}

/// Collects episodes, one after another, so that only one need be in memory.
#[derive(Debug, Default)]
pub struct Tally {
    all: Group,
    by_run: BTreeMap<usize, Group>,
    by_turn: BTreeMap<u32, Group>,
    by_attempt: BTreeMap<u32, Group>,
    repairs: BTreeMap<usize, (Vec<Repair>, Vec<Repair>)>,
}

#[derive(Debug, Default)]
struct Group {
    standings: StandingCounts,
    made: u32,
    failed: u32,
    tests: u32,
    not_described: u32,
    classes: BTreeMap<FailureClass, Vec<Case>>,
}

impl Tally {
    /// Adds an episode of a run, classified without logs.
    pub fn add(&mut self, run: usize, episode: usize, played: &Episode) {
        for turn in &played.turns {
            for attempt in &turn.attempts {
                let key = CaseKey { run, episode, turn: turn.number, attempt: attempt.number };
                self.add_attempt(key, classify_attempt(attempt, &Context::default()).as_ref());
            }
        }
        let history = history(played);
        self.add_history(run, &history, turn_repairs(played));
    }

    /// Adds what the turns of an episode say about its failing tests.
    pub fn add_history(&mut self, run: usize, history: &History, turns: Vec<Repair>) {
        for attempt in &history.attempts {
            let counts = attempt.counts();
            for group in [
                &mut self.all,
                self.by_run.entry(run).or_default(),
                self.by_turn.entry(attempt.turn).or_default(),
                self.by_attempt.entry(attempt.attempt).or_default(),
            ] {
                group.standings = group.standings.plus(counts);
            }
        }
        let repairs = self.repairs.entry(run).or_default();
        // Ids are not needed for times.
        repairs.0.extend(history.repairs.iter().map(Repair::without_id));
        repairs.1.extend(turns);
    }

    /// Adds an attempt; `None`: it did not fail.
    pub fn add_attempt(&mut self, key: CaseKey, classified: Option<&Classified>) {
        self.all.add(key, classified);
        self.by_run.entry(key.run).or_default().add(key, classified);
        self.by_turn.entry(key.turn).or_default().add(key, classified);
        self.by_attempt.entry(key.attempt).or_default().add(key, classified);
    }

    /// The shares of what was added.
    pub fn finish(self) -> Shares {
        fn of<K: Ord>(groups: BTreeMap<K, Group>) -> BTreeMap<K, Breakdown> {
            groups.into_iter().map(|(key, group)| (key, group.finish())).collect()
        }
        fn times<'a>(runs: impl IntoIterator<Item = &'a (Vec<Repair>, Vec<Repair>)> + Clone) -> Repairs {
            Repairs {
                tests: repair_times(runs.clone().into_iter().flat_map(|(tests, _)| tests)),
                turns: repair_times(runs.into_iter().flat_map(|(_, turns)| turns)),
            }
        }
        Shares {
            all: self.all.finish(),
            by_run: of(self.by_run),
            by_turn: of(self.by_turn),
            by_attempt: of(self.by_attempt),
            repairs: times(self.repairs.values()),
            repairs_by_run: self.repairs.iter().map(|(run, both)| (*run, times([both]))).collect(),
        }
    }
}

impl Group {
    fn add(&mut self, key: CaseKey, classified: Option<&Classified>) {
        self.made = self.made.saturating_add(1);
        let Some(classified) = classified else { return };
        self.failed = self.failed.saturating_add(1);
        self.not_described = self.not_described.saturating_add(classified.not_described);
        let mut add = |class: FailureClass, tests: u32| {
            let case = Case { key, primary: class == classified.primary, tests };
            self.classes.entry(class).or_default().push(case);
            self.tests = self.tests.saturating_add(tests);
        };
        for (&class, &tests) in &classified.counts {
            add(class, tests);
        }
        if !classified.counts.contains_key(&classified.primary) {
            add(classified.primary, 0);
        }
    }

    fn finish(self) -> Breakdown {
        let mut classes: Vec<Share> = self
            .classes
            .into_iter()
            .map(|(class, mut cases)| {
                cases.sort_by_key(|case| case.key);
                let attempts = cases.iter().filter(|case| case.primary).count() as u32;
                let tests = cases.iter().fold(0_u32, |sum, case| sum.saturating_add(case.tests));
                Share {
                    class,
                    attempts,
                    of_attempts: wilson(attempts, self.failed),
                    tests,
                    of_tests: (self.tests > 0).then(|| f64::from(tests) / f64::from(self.tests)),
                    cases,
                }
            })
            .collect();
        classes.sort_by(|a, b| {
            b.attempts.cmp(&a.attempts).then(b.tests.cmp(&a.tests)).then(a.class.cmp(&b.class))
        });
        Breakdown {
            made: self.made,
            failed: self.failed,
            tests: self.tests,
            not_described: self.not_described,
            standings: self.standings,
            classes,
        }
    }
}
