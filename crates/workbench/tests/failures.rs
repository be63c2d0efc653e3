//! Servers that are wrong in one known way are told from what the suite says about them.
//!
//! The operators of `validation::mutants` make servers with one fault each. A suite is run against them, its messages
//! become an attempt, and the class of that attempt is held against the classes that are natural for the operator.
#![allow(clippy::print_stdout, reason = "what a test found is shown where it fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use analysis::failures::{ClassifiedTest, Context, FailureClass as C, Suites, classify_attempt};
use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::Report;
use model::{Attempt, Episode, TestOutcome, TestResult, Verdict};
use scenario::Seed;
use scenario::change::Change;
use scenario::ir::Schema;
use scenario::reference::World;
use scenario::sample::{ProgrammaticSampler, Sampler as _};
use scenario::suite::{Suite, suite};
use validation::client::{CaseStatus, verdicts_in_process};
use validation::mutants::{Mutant, Operator, sites};

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
fn turns(base: u64, scenarios: u32, turns: u32) -> Vec<(Seed, Schema, Vec<Change>, Arc<Schema>)> {
    let mut out = Vec::new();
    for scenario in 0..scenarios {
        let seed = Seed { base, scenario };
        let mut schema = ProgrammaticSampler.first_schema(seed).expect("a first schema").value;
        for _ in 2..=turns {
            let changes = ProgrammaticSampler.next_turn(seed, &schema, 4).expect("changes").value;
            let after = Arc::new(changes.after);
            out.push((seed, schema, changes.changes, Arc::clone(&after)));
            schema = (*after).clone();
        }
    }
    out
}

/// By operator: how often each class was given.
type Table = BTreeMap<Operator, BTreeMap<C, u32>>;

/// `SHOW=guard_dropped,…` prints what the suite says about those.
fn table(base: u64, scenarios: u32, last: u32, most_rows: usize) -> Table {
    let mut table = Table::new();
    for (seed, before, changes, after) in turns(base, scenarios, last) {
        let suite = suite(seed, &after, None);
        let mut taken: BTreeMap<Operator, usize> = BTreeMap::new();
        for site in sites(Some((&before, &changes)), &after) {
            let taken = taken.entry(site.operator).or_default();
            if *taken >= most_rows {
                continue;
            }
            *taken += 1;
            let Some(Mutant { operator, schema, flaws, site, .. }) = site.make(&after) else { continue };
            let attempt = attempt(&mut World::flawed(schema, flaws), &suite);
            let context = Context { suites: Suites::Own, ..Context::default() };
            let Some(classified) = classify_attempt(&attempt, &context) else { continue };
            if std::env::var("SHOW").is_ok_and(|shown| shown.split(',').any(|s| s == operator.name())) {
                println!("{} {site}: {:?} by {}", operator.name(), classified.primary, classified.rule);
                for test in &classified.tests {
                    let shown = &attempt.tests[test.test];
                    println!(
                        "   {:?} {} {} | {}",
                        test.class,
                        test.rule,
                        shown.id,
                        shown.message.as_deref().unwrap_or("")
                    );
                }
            }
            *table.entry(operator).or_default().entry(classified.primary).or_insert(0) += 1;
        }
    }
    table
}

/// The classes that are natural for a fault, and the least share of its mutants, in percent, that must be given one.
#[rustfmt::skip]
fn natural(operator: Operator) -> (&'static [C], u32) {
    use Operator as O;
    match operator {
        // Any change: whatever it was about.
        O::ChangeLeftOut => (&[
            C::StaleName, C::MissingRoute, C::MissingField, C::GuardIgnored, C::MissingCascade, C::WrongAggregate,
            C::Nullability, C::WrongDefault, C::InventedFeature, C::TooStrict, C::TooLax, C::WrongStatus,
            C::WrongEffect, C::WrongList,
        ], 80),
        O::StaleNameKept => (&[C::StaleName], 60),
        O::CollectionMissing | O::NestedMissing | O::ActionMissing | O::AnalyticMissing | O::WrongPathCase
        | O::WrongPrefix => (&[C::MissingRoute], 100),
        // Where unknown fields are refused, one that is not there is refused.
        O::FieldMissing => (&[C::MissingField, C::TooStrict], 80),
        O::WrongFieldCase => (&[C::MissingField, C::TooStrict, C::StaleName], 100),
        O::BoundOffByOne => (&[C::TooStrict, C::TooLax], 100),
        O::BoundsExclusive | O::RequiredAdded | O::EnumValueMissing | O::ImmutableInvented | O::ReadOnlyRefused =>
            (&[C::TooStrict], 90),
        O::BoundDropped | O::PatternDropped | O::EnumAsString | O::TypeUnchecked | O::RequiredDropped
        | O::UniqueDropped | O::ReferenceUnchecked | O::BodyUnchecked => (&[C::TooLax], 90),
        O::ImmutableDropped => (&[C::TooLax, C::TooStrict], 80),
        O::ConstraintInvented => (&[C::InventedFeature, C::TooStrict], 100),
        O::UnknownRouteOk => (&[C::InventedFeature, C::StaleName], 100),
        O::TypeConfused | O::UniqueConfused | O::ImmutableConfused | O::UnknownFieldsFlipped =>
            (&[C::TooStrict, C::TooLax], 75),
        O::TextChanged => (&[C::WrongValue, C::TooStrict, C::InventedFeature], 90),
        O::WrongDefault => (&[C::WrongDefault], 90),
        O::DefaultDropped => (&[C::WrongDefault, C::Nullability], 75),
        O::NullRefused | O::NullAccepted | O::NullConfused => (&[C::Nullability], 85),
        // Without groups the answer lacks the list of them.
        O::GroupDropped => (&[C::WrongAggregate, C::MissingField], 90),
        O::ComputedWrong | O::ComputedFrozen | O::AggregateWrong | O::EmptyAggregateWrong | O::GroupWrong | O::RestrictionDropped | O::RestrictionWrong | O::AnalyticFilterIgnored =>
            (&[C::WrongAggregate], 90),
        O::WrongDeleteRule | O::CascadeMissing | O::RestrictMissing | O::SetNullMissing | O::SoftDeletedSeen => (&[C::MissingCascade], 90),
        // Then no record shows the field `deleted`.
        O::SoftDeleteDropped => (&[C::MissingCascade, C::MissingField], 90),
        O::SoftDeleteInvented => (&[C::InventedFeature, C::MissingCascade], 90),
        // Ignored ones take any value too.
        O::FilterIgnored | O::SortIgnored | O::NestedUnfiltered => (&[C::WrongList, C::TooLax], 100),
        O::FilterMissing | O::FilterWrong | O::SortMissing | O::SortWrong | O::DefaultSortWrong | O::PageOffByOne
        | O::PageIgnored | O::WrongPageSize | O::WrongPagination | O::TotalCountsPage => (&[C::WrongList], 90),
        O::GuardDropped | O::GuardInverted | O::GuardsConfused => (&[C::GuardIgnored], 80),
        // One that refuses too much refuses in the cases of effects, too.
        O::GuardOffByOne => (&[C::GuardIgnored, C::TooStrict], 80),
        O::EffectDropped | O::EffectWrongValue | O::IncrementOffByOne | O::CreateEffectDropped
        | O::CreateEffectWrong | O::ActionAnswerWrong => (&[C::WrongEffect], 90),
        O::EffectUnchecked => (&[C::WrongEffect, C::WrongStatus, C::TooLax], 90),
        O::ParamUnchecked => (&[C::TooLax, C::WrongStatus], 90),
        O::WrongStatus | O::WrongErrorCode | O::ChecksInWrongOrder => (&[C::WrongStatus], 90),
        O::WrongErrorShape => (&[C::WrongStatus, C::MissingField], 100),
        O::WrongListShape => (&[C::MissingField, C::WrongList], 100),
        O::ResetIncomplete | O::IdWrong => (&[C::WrongValue, C::WrongList], 40),
        O::PatchResetsAbsent | O::WriteNotKept => (&[C::WrongValue], 90),
        O::ReplaceWrong => (&[C::WrongValue, C::TooLax], 90),
    }
}

#[test]
fn servers_that_are_wrong_in_a_known_way_are_told() {
    let number = |name: &str, or: u32| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(or);
    let table = table(
        number("FAILURES_SEED", 7).into(),
        number("FAILURES_SCENARIOS", 2),
        number("FAILURES_TURNS", 3),
        number("FAILURES_SITES", 2) as usize,
    );
    let (mut correct, mut all, mut unclassified) = (0, 0, 0);
    let mut below = Vec::new();
    for (operator, classes) in &table {
        let (natural, floor) = natural(*operator);
        let class_count: u32 = classes.values().sum();
        let right: u32 = natural.iter().filter_map(|class| classes.get(class)).sum();
        let words: Vec<String> = classes.iter().map(|(class, n)| format!("{} {n}", class.as_str())).collect();
        println!("{:>24} {right:>4} of {class_count:>4}  {}", operator.name(), words.join(", "));
        if right * 100 < floor * class_count {
            below.push(format!("{}: {right} of {class_count} ({})", operator.name(), words.join(", ")));
        }
        correct += right;
        all += class_count;
        unclassified += classes.get(&C::Other).copied().unwrap_or(0);
    }
    println!("{correct} of {all}");
    assert!(table.len() > 60 && all > 200, "{} operators, {all} mutants", table.len());
    assert!(below.is_empty(), "{below:#?}");
    assert!(correct * 100 >= all * 95, "{correct} of {all}");
    assert_eq!(unclassified, 0);
}

/// Every episode that the readers find in a folder or zip, and whose suites the tests of its place are of.
fn episodes(path: &Path) -> Vec<(Episode, Suites)> {
    let tree = Tree::open(path).expect("a source");
    let mut report = Report::default();
    let mut episodes = Vec::new();
    for place in discover(&tree).expect("results").places {
        let survey = place.format.survey(&tree, &place.folder, &mut report);
        let all_have_own_suites = survey.runs.iter().all(|run| run.benchmark.has_own_suites());
        let suites = if all_have_own_suites { Suites::Own } else { Suites::Foreign };
        for part in survey.parts {
            let read = place.format.read(&tree, &place.folder, &part, &mut report);
            episodes.extend(read.into_iter().map(|r| (r.episode, suites)));
        }
    }
    episodes
}

/// Prints classes, rules, and some tests that are not classified. `FAILURES_OF` is a folder or zip of results.
#[test]
#[ignore = "prints what is said about results of one's own"]
fn failures_of_results_are_printed() {
    let Ok(path) = std::env::var("FAILURES_OF") else { return };
    let mut rules: BTreeMap<(C, &str), u32> = BTreeMap::new();
    let mut attempts: BTreeMap<C, u32> = BTreeMap::new();
    for (episode, suites) in episodes(Path::new(&path)) {
        for attempt in episode.turns.iter().flat_map(|turn| &turn.attempts) {
            let context = Context { suites, ..Context::default() };
            let Some(classified) = classify_attempt(attempt, &context) else { continue };
            *attempts.entry(classified.primary).or_insert(0) += 1;
            for ClassifiedTest { test, class, rule } in classified.tests {
                let count = rules.entry((class, rule)).or_insert(0);
                *count += 1;
                if class == C::Other && *count % 500 == 1 {
                    println!("not classified: {:?}", attempt.tests[test]);
                }
            }
        }
    }
    for ((class, rule), count) in &rules {
        println!("{count:>6} {} by {rule}", class.label());
    }
    for (class, count) in &attempts {
        println!("{:>22} {count:>5} attempts", class.label());
    }
}
