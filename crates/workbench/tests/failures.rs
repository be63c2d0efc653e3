//! Servers that are wrong in one known way are told from what the suite says about them.
//!
//! The operators of `scenario::mutants` make servers with one fault each. A suite is run against them, its messages
//! become an attempt, and the class of that attempt is held against the classes that are natural for the operator.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use analysis::failures::{Context, FailureClass as C, classify_attempt};
use files::Tree;
use ingest::discover::discover;
use ingest::format::Report;
use model::{Attempt, Episode, TestOutcome, TestResult, Verdict};
use scenario::Seed;
use scenario::change::Change;
use scenario::client::{CaseStatus, verdicts_in_process};
use scenario::ir::Schema;
use scenario::mutants::{Mutant, Operator, sites};
use scenario::reference::World;
use scenario::sample::{Programmatic, Sampler as _};
use scenario::suite::{Suite, suite};

/// What a suite says about a server, as an attempt.
fn attempt(world: &mut World, suite: &Suite) -> Attempt {
    let verdicts = verdicts_in_process(world, suite);
    let verdict = if verdicts.passed == verdicts.total { Verdict::Passed } else { Verdict::Failed };
    let mut attempt = Attempt::new(1, verdict);
    attempt.passed = u32::try_from(verdicts.passed).ok();
    attempt.total = u32::try_from(verdicts.total).ok();
    attempt.tests = verdicts
        .cases
        .into_iter()
        .map(|case| {
            let outcome = match case.status {
                CaseStatus::Passed => TestOutcome::Passed,
                CaseStatus::Failed => TestOutcome::Failed,
                CaseStatus::Error => TestOutcome::Error,
            };
            let mut test = TestResult::new(case.id, outcome);
            test.message = case.message;
            test
        })
        .collect();
    attempt
}

/// Turns of sampled scenarios: the schema before, its changes, the schema after.
fn turns(scenarios: u32, turns: u32) -> Vec<(Seed, Schema, Vec<Change>, Arc<Schema>)> {
    let mut out = Vec::new();
    for scenario in 0..scenarios {
        let seed = Seed { base: 7, scenario };
        let mut schema = Programmatic.first(seed).expect("a first schema").made;
        for _ in 2..=turns {
            let made = Programmatic.turn(seed, &schema, 4).expect("changes").made;
            let after = Arc::new(made.after);
            out.push((seed, schema, made.changes, Arc::clone(&after)));
            schema = (*after).clone();
        }
    }
    out
}

/// By operator: how often each class was given.
type Table = BTreeMap<&'static str, BTreeMap<C, u32>>;

fn table(scenarios: u32, last: u32, most: usize) -> Table {
    let mut table = Table::new();
    for (seed, before, changes, after) in turns(scenarios, last) {
        let suite = suite(seed, &after, None);
        let mut taken: BTreeMap<Operator, usize> = BTreeMap::new();
        for site in sites(Some((&before, &changes)), &after) {
            let taken = taken.entry(site.operator).or_default();
            if *taken >= most {
                continue;
            }
            *taken += 1;
            let Some(Mutant { operator, schema, flaws, site, .. }) = site.make(&after) else { continue };
            let attempt = attempt(&mut World::flawed(schema, flaws), &suite);
            let Some(classified) = classify_attempt(&attempt, &Context::default()) else { continue };
            if std::env::var("SHOW").is_ok_and(|shown| shown.split(",").any(|s| s == operator.name())) {
                println!("{} {site}: {:?} by {}", operator.name(), classified.primary, classified.rule);
                for test in &classified.tests {
                    let shown = &attempt.tests[test.test];
                    println!("   {:?} {} {} | {}", test.class, test.rule, shown.id, shown.message.as_deref().unwrap_or(""));
                }
            }
            *table.entry(operator.name()).or_default().entry(classified.primary).or_insert(0) += 1;
        }
    }
    table
}

#[test]
fn mutants_are_told() {
    let table = table(2, 4, 2);
    for (operator, classes) in &table {
        println!("{operator}: {:?}", classes.iter().map(|(c, n)| format!("{} {n}", c.as_str())).collect::<Vec<_>>());
    }
}

/// Every episode that the readers find in a folder or zip.
fn episodes(path: &Path) -> Vec<Episode> {
    let tree = Tree::open(path).expect("a source");
    let mut report = Report::default();
    let mut episodes = Vec::new();
    for place in discover(&tree).expect("results").places {
        for part in place.format.survey(&tree, &place.at, &mut report).parts {
            episodes.extend(place.format.read(&tree, &place.at, &part, &mut report).into_iter().map(|r| r.episode));
        }
    }
    episodes
}

/// Prints classes, rules and, of what is not classified, examples. `FAILURES_OF` is a folder or zip of results.
#[test]
#[ignore = "prints what is said about results of one's own"]
fn of_results() {
    let Ok(path) = std::env::var("FAILURES_OF") else { return };
    let mut tally = analysis::failures::shares::Tally::default();
    let mut rules: BTreeMap<(C, &str), u32> = BTreeMap::new();
    let mut shown = BTreeMap::new();
    for (at, episode) in episodes(Path::new(&path)).iter().enumerate() {
        tally.add(0, at, episode);
        for attempt in episode.turns.iter().flat_map(|turn| &turn.attempts) {
            let Some(classified) = classify_attempt(attempt, &Context::default()) else { continue };
            for test in &classified.tests {
                let count = rules.entry((test.class, test.rule)).or_insert(0);
                *count += 1;
                let shown: &mut u32 = shown.entry(test.rule).or_default();
                if *count % 37 == 1 && *shown < 12 {
                    *shown += 1;
                    let test_result = &attempt.tests[test.test];
                    println!("{:?} {}: {:?}", test.class, test.rule, (&test_result.id, &test_result.kind, &test_result.intent, &test_result.expected, &test_result.actual, test_result.message.as_deref().map(|m| m.chars().take(300).collect::<String>())));
                }
            }
            if classified.tests.is_empty() {
                println!("{} {:?} {:?} {:?}", classified.rule, classified.primary, attempt.end_reason, attempt.exception.as_ref().map(|e| &e.0));
            }
        }
        let h = analysis::failures::history::history(episode);
        if !h.flips.is_empty() { println!("flips {:?}", h.flips.iter().take(2).collect::<Vec<_>>()); }
    }
    for ((class, rule), count) in &rules {
        println!("{count:>6} {} {rule}", class.as_str());
    }
    let shares = tally.finish();
    println!("{} attempts, {} failed, {} tests, {} not described, {:?}, {:?}", shares.all.made, shares.all.failed, shares.all.tests, shares.all.not_described, shares.all.standings, shares.repairs);
    for share in &shares.all.classes {
        println!("{:>20} {:>5} attempts {:>5.1}%  {:>6} tests {:>5.1}%", share.class.label(), share.attempts, 100.0 * share.of_attempts.map_or(0.0, |p| p.share), share.tests, 100.0 * share.of_tests.unwrap_or(0.0));
    }
}
