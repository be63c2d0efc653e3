//! Validating scenario by scenario, turn by turn.
//!
//! A damaged file is reported as a mismatch and never ends the validation: checks that need it are skipped, and all others
//! run.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use scenario::Seed;
use scenario::change::Change;
use scenario::ir::Schema;
use scenario::pack::{Mismatch, PACK_VERSION, Pack, PackError, Progress};
use scenario::reference::World;
use scenario::suite::{Suite, unstated_demands};
use scenario::text;

use super::damage::Damage;
use super::sensitive::check_sensitive;
use super::{Failure, Options, Report, UnstatedDemand, VacuousTurn};
use crate::client::{CaseStatus, run_in_process};

/// Most reported failures of the reference, and unstated demands, per turn.
const REPORTED_PER_TURN: usize = 5;

/// Validates a pack. It blocks, and validates scenarios in parallel. `progress` is called after every turn, from any
/// thread.
///
/// Errors: the pack has no such scenario or turn; the validation was stopped. Damage is in the report.
pub fn validate(
    pack: &Pack,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
    cancel: &AtomicBool,
) -> Result<Report, PackError> {
    let threads = options
        .threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZero::get)
        .min(options.scenarios.len());
    let total = options.scenarios.len() as u64 * options.turns.len() as u64;
    let failed = AtomicBool::new(false);
    let stop = || cancel.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let work = Work { pack, options, progress, stop: &stop, done: AtomicU64::new(0), total };
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Report, PackError>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&scenario) = options.scenarios.get(index) else { return };
                    if failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let report = work.scenario(scenario);
                    failed.fetch_or(report.is_err(), Ordering::Relaxed);
                    model::lock(&found).push((index, report));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Threads that stopped because of the error of another thread only report the stop.
    found.sort_by_key(|(index, report)| (matches!(report, Err(PackError::Cancelled)), *index));
    let mut report = Report {
        scenarios: options.scenarios.len() as u32,
        turns: options.turns.len() as u32,
        ..Report::default()
    };
    for (_, part) in found {
        report.add(part?);
    }
    // Folders have been listed by now. Each path is reported once.
    let reported: BTreeSet<String> = report.mismatches.iter().map(|mismatch| mismatch.at.clone()).collect();
    let left_out = pack.tree().warnings().into_iter().filter(|warning| !reported.contains(&warning.path));
    report.mismatches.extend(left_out.map(|warning| Mismatch {
        at: if warning.path.is_empty() { pack.tree().name() } else { warning.path },
        what: warning.message,
    }));
    report.hashes_ok = report.mismatches.is_empty();
    Ok(report)
}

struct Work<'a> {
    pack: &'a Pack,
    options: &'a Options,
    progress: &'a (dyn Fn(Progress) + Sync),
    /// Whether the validation must end: it was stopped, or another thread has an error.
    stop: &'a (dyn Fn() -> bool + Sync),
    done: AtomicU64,
    total: u64,
}

impl Work<'_> {
    fn scenario(&self, scenario: u32) -> Result<Report, PackError> {
        let mut report = Report::default();
        let mut damage = Damage::new(self.pack.verify_scenario(scenario, self.stop));
        let mut before: Option<Arc<Schema>> = None;
        for &turn in &self.options.turns {
            self.check_stop()?;
            before = self.turn(scenario, turn, before, &mut damage, &mut report)?;
            self.check_stop()?;
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress { done, total: self.total });
        }
        report.mismatches = damage.into_mismatches();
        Ok(report)
    }

    /// Validates a turn with its readable files. Returns its schema. `before` is the schema of the turn validated before it.
    fn turn(
        &self,
        scenario: u32,
        turn: u32,
        before: Option<Arc<Schema>>,
        damage: &mut Damage,
        report: &mut Report,
    ) -> Result<Option<Arc<Schema>>, PackError> {
        let schema = damage.read_or_record(turn, self.pack.schema(scenario, turn))?.map(Arc::new);
        let suite = damage.read_or_record(turn, self.pack.suite(scenario, turn))?;
        let (Some(schema), Some(mut suite)) = (schema.clone(), suite) else { return Ok(schema) };
        check_sound(scenario, &schema, &suite, self.stop, report);
        self.check_stated(scenario, &schema, &suite, damage, report)?;
        self.check_stop()?;
        let before_this = match before {
            Some(before) if before.turn + 1 == turn => Some(before),
            _ if turn > 1 => damage.read_or_record(turn, self.pack.schema(scenario, turn - 1))?.map(Arc::new),
            _ => None,
        };
        if let Some(before) = &before_this
            && passes(&mut World::new(Arc::clone(before)), &suite, self.stop)
        {
            report.vacuous_turns += 1;
            report.vacuous.push(VacuousTurn { scenario, turn });
        }
        if self.options.mutants > 0 {
            let changes: Vec<Change> = damage
                .read_or_record(turn, self.pack.changes(scenario, turn))?
                .flatten()
                .map(|changes| changes.changes.into_iter().map(|change| change.what).collect())
                .unwrap_or_default();
            let before = before_this.as_deref().map(|before| (before, changes.as_slice()));
            let seed = Seed { base: self.pack.manifest().seed, scenario };
            check_sensitive(seed, before, &schema, &mut suite, self.options.mutants, self.stop, report);
        }
        Ok(Some(schema))
    }

    /// Checks that texts state the demands of the suite of a turn.
    fn check_stated(
        &self,
        scenario: u32,
        schema: &Schema,
        suite: &Suite,
        damage: &mut Damage,
        report: &mut Report,
    ) -> Result<(), PackError> {
        let turn = schema.turn;
        let clauses = text::clauses(schema);
        let demands =
            unstated_demands(suite, &clauses).into_iter().map(|demand| (demand.case, demand.demand));
        let specification = damage.read_or_record(turn, self.pack.specification(scenario, turn))?;
        let request = damage.read_or_record(turn, self.pack.request(scenario, turn))?;
        // A pack of an earlier version has other texts for the same demands.
        let has_these_words = self.pack.manifest().format == PACK_VERSION;
        let left_out = clauses.iter().filter(|_| has_these_words).filter_map(|clause| {
            let (name, text) = if clause.id.starts_with("gone.") {
                ("request", &request)
            } else {
                ("specification", &specification)
            };
            let is_present = text.as_ref().is_none_or(|text| text.contains(&clause.text));
            (!is_present).then(|| (clause.id.clone(), format!("the {name} does not have this clause")))
        });
        for (count, (place, demand)) in demands.chain(left_out).enumerate() {
            report.unstated_demands += 1;
            if count < REPORTED_PER_TURN {
                report.unstated.push(UnstatedDemand { scenario, turn, place, what: demand });
            }
        }
        Ok(())
    }

    /// A stopped validation has no report.
    fn check_stop(&self) -> Result<(), PackError> {
        if (self.stop)() { Err(PackError::Cancelled) } else { Ok(()) }
    }
}

/// Checks that the reference passes its suite.
fn check_sound(
    scenario: u32,
    schema: &Arc<Schema>,
    suite: &Suite,
    stop: &dyn Fn() -> bool,
    report: &mut Report,
) {
    let mut reported = 0;
    run_in_process(&mut World::new(Arc::clone(schema)), suite, &mut |_, result| {
        if result.status != CaseStatus::Passed {
            report.reference_failures += 1;
            if reported < REPORTED_PER_TURN {
                reported += 1;
                report.failures.push(Failure {
                    scenario,
                    turn: suite.turn,
                    case: result.id.clone(),
                    message: result.message.clone().unwrap_or_default(),
                });
            }
        }
        if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

/// Whether a server passes every case. It stops at the first failing case.
fn passes(world: &mut World, suite: &Suite, stop: &dyn Fn() -> bool) -> bool {
    let mut all = true;
    run_in_process(world, suite, &mut |_, result| {
        if result.status == CaseStatus::Passed && !stop() {
            return ControlFlow::Continue(());
        }
        all = false;
        ControlFlow::Break(())
    });
    all
}
