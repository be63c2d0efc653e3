//! Suites with mutants of the reference.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use scenario::Seed;
use scenario::change::Change;
use scenario::ir::Schema;
use scenario::reference::World;
use scenario::suite::{Case, Suite};

use super::{Report, Survivor};
use crate::client::{CaseStatus, run_in_process};
use crate::mutants::{Mutant, Operator, Site, sites};

/// Makes at most `count` mutants of each operator and runs the suite with each. The seed decides the sites. It changes the
/// order of the cases of the suite. It ends early if `stop` returns true.
pub(super) fn check_sensitive(
    seed: Seed,
    before: Option<(&Schema, &[Change])>,
    schema: &Arc<Schema>,
    suite: &mut Suite,
    count: u32,
    stop: &dyn Fn() -> bool,
    report: &mut Report,
) {
    let sites = sites(before, schema);
    let mut by_operator: BTreeMap<Operator, Vec<&Site<'_>>> = BTreeMap::new();
    for site in &sites {
        by_operator.entry(site.operator).or_default().push(site);
    }
    for (operator, mut places) in by_operator {
        seed.draw(suite.turn, &format!("mutants {}", operator.name())).shuffle(&mut places);
        let mutants = places.into_iter().filter_map(|site| site.make(schema)).take(count as usize);
        for mutant in mutants {
            if stop() {
                return;
            }
            let killed = is_noticed(&mutant, suite);
            let sum = report.operators.entry(operator.name().to_owned()).or_default();
            sum.mutants += 1;
            sum.killed += u64::from(killed);
            report.mutants += 1;
            report.killed += u64::from(killed);
            if !killed {
                report.survivors.push(Survivor {
                    operator: operator.name().to_owned(),
                    scenario: seed.scenario,
                    turn: suite.turn,
                    reason: reason(&mutant, suite),
                    site: mutant.site,
                });
            }
        }
    }
}

/// The effect of an undetected mutant, and how many cases of the suite are about its place.
fn reason(mutant: &Mutant, suite: &Suite) -> String {
    let site = mutant.site.split(' ').next().unwrap_or_default();
    let is_about =
        |case: &&Case| lies_in(&case.id, site) || case.clauses.iter().any(|clause| lies_in(clause, site));
    let close = suite.cases.iter().filter(is_about).count();
    let all = suite.cases.len();
    let near = match close {
        0 => String::new(),
        1 => ", also the one about this place".to_owned(),
        _ => format!(", also the {close} about this place"),
    };
    format!("{} All {all} cases pass against it{near}.", mutant.operator.description())
}

/// Whether a case fails. Cases about the place of the mutant run first, because they are the most likely ones.
fn is_noticed(mutant: &Mutant, suite: &mut Suite) -> bool {
    let site = mutant.site.as_str();
    let first = site.split('.').next().unwrap_or(site);
    suite.cases.sort_by_cached_key(|case| match case.id.as_str() {
        id if lies_in(id, site) => 0_u8,
        _ if case.clauses.iter().any(|clause| lies_in(clause, site)) => 1,
        id if lies_in(id, first) => 2,
        _ => 3,
    });
    let mut world = World::flawed(Arc::clone(&mutant.schema), mutant.flaws.clone());
    let mut noticed = false;
    run_in_process(&mut world, suite, &mut |_, result| {
        noticed = result.status != CaseStatus::Passed;
        if noticed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    noticed
}

/// Whether an id equals another one, or is below it.
fn lies_in(id: &str, within: &str) -> bool {
    id.strip_prefix(within).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
