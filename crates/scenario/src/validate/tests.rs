use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::config::Generation;
use crate::pack::{self, Pack, PackError, Target};
use crate::sample::Programmatic;

fn pack(turns: u32) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    let generation = Generation { n_scenarios: 2, n_turns: turns, base_seed: 3, ..Generation::default() };
    pack::generate(
        &generation,
        &Programmatic,
        &Target::at(&path),
        &pack::Options::default(),
        &|_| {},
        &AtomicBool::new(false),
    )
    .expect("it is generated");
    (temp, path)
}

fn look(path: &std::path::Path, change: impl FnOnce(&mut Options)) -> Result<Report, PackError> {
    let pack = Pack::open_path(path).expect("it is a pack");
    let mut options = Options::all(&pack.manifest().config);
    change(&mut options);
    validate(&pack, &options, &|_| {}, &AtomicBool::new(false))
}

#[test]
fn a_generated_pack_is_sound_and_not_vacuous_and_notices_mutants() {
    let (_temp, path) = pack(3);
    let report = look(&path, |_| {}).expect("it is read");
    assert_eq!((report.scenarios, report.turns), (2, 3));
    assert_eq!((&report.failures, &report.unstated, &report.vacuous), (&vec![], &vec![], &vec![]));
    assert!(report.hashes_ok && report.mismatches.is_empty());
    assert!(report.mutants > 100 && report.operators.len() >= 25, "{:?}", report.operators);
    assert_eq!(report.survivors.len() as u64, report.mutants - report.killed);
    assert!(report.operators.contains_key("change_left_out"));
    let sum = |of: fn(&Operator) -> u64| report.operators.values().map(of).sum::<u64>();
    assert_eq!((sum(|o| o.mutants), sum(|o| o.killed)), (report.mutants, report.killed));
}

#[test]
fn what_is_found_does_not_depend_on_threads_or_on_what_else_is_looked_at() {
    let (_temp, path) = pack(2);
    let all = look(&path, |options| options.threads = NonZero::new(1)).expect("it is read");
    assert_eq!(look(&path, |options| options.threads = NonZero::new(2)).expect("it is read"), all);
    let part = |scenario| look(&path, |options| options.scenarios = vec![scenario]).expect("it is read");
    assert_eq!(part(0).mutants + part(1).mutants, all.mutants);
}

#[test]
fn a_demand_that_no_text_states_is_found() {
    let (_temp, path) = pack(2);
    let suite = path.join("scenario_0/test_suites/turn_2.json");
    let text = std::fs::read_to_string(&suite).expect("a text");
    std::fs::write(&suite, text.replacen("[\"equal\",\"/", "[\"equal\",\"/made_up_", 1))
        .expect("it is written");
    let specification = path.join("scenario_1/specs/turn_1.md");
    let text = std::fs::read_to_string(&specification).expect("a text");
    std::fs::write(&specification, text.replacen("/reset", "/restart", 1)).expect("it is written");
    let report = look(&path, |options| options.mutants = 0).expect("it is read");
    let found: Vec<(u32, u32, &str)> =
        report.unstated.iter().map(|found| (found.scenario, found.turn, found.what.as_str())).collect();
    assert_eq!(found.len() as u64, report.unstated_demands);
    assert!(found[0].0 == 0 && found[0].1 == 2 && found[0].2.contains("made_up_"), "{found:?}");
    assert!(
        found[1..].iter().all(|one| *one == (1, 1, "the specification does not have this clause")),
        "{found:?}"
    );
    assert!(found.len() > 1 && !report.is_good());
}

#[test]
fn a_suite_that_demands_too_much_or_too_little_is_found() {
    let (_temp, path) = pack(2);
    let file = path.join("scenario_1/test_suites/turn_2.json");
    let text = std::fs::read_to_string(&file).expect("a text");
    let broken = text.replacen("\"status\":20", "\"status\":29", 1);
    std::fs::write(&file, broken).expect("it is written");
    let report = look(&path, |options| options.mutants = 0).expect("it is read");
    assert!(report.reference_failures > 0 && !report.is_good());
    assert_eq!((report.failures[0].scenario, report.failures[0].turn), (1, 2));
    assert!(!report.failures[0].message.is_empty());
    assert_eq!(report.mismatches.iter().map(|m| m.at.as_str()).collect::<Vec<_>>(), ["scenario_1, turn 2"]);

    // A suite of nothing but the first case is passed by everyone.
    let lines: Vec<&str> = text.lines().collect();
    let cases = lines.iter().position(|line| line.starts_with("\"cases\"")).expect("the cases");
    let only = lines[cases + 1].trim_end_matches(',');
    let thin = format!("{}\n{only}\n]}}\n", lines[..=cases].join("\n"));
    std::fs::write(&file, thin).expect("it is written");
    let report = look(&path, |options| options.scenarios = vec![1]).expect("it is read");
    assert_eq!(report.vacuous, [Vacuous { scenario: 1, turn: 2 }]);
    assert!(report.killed * 100 < report.mutants * SENSITIVE && !report.survivors.is_empty());
    assert!(report.survivors.iter().any(|survivor| survivor.turn == 2));
    assert!(report.survivors.iter().all(|survivor| !survivor.reason.is_empty()));
    assert!(!report.is_good());
}

#[test]
fn it_can_be_stopped_and_says_what_can_not_be_read() {
    let (_temp, path) = pack(1);
    let opened = Pack::open_path(&path).expect("it is a pack");
    let options = Options::all(&opened.manifest().config);
    let stopped = validate(&opened, &options, &|_| {}, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(PackError::Cancelled)));
    std::fs::remove_file(path.join("scenario_0/test_suites/turn_1.json")).expect("it is removed");
    let error = look(&path, |_| {}).expect_err("a suite is missing");
    assert!(error.to_string().starts_with("scenario_0/test_suites/turn_1.json: "), "{error}");
}

#[test]
fn a_report_about_nothing_is_not_good() {
    let (_temp, path) = pack(1);
    let good = |report: Result<Report, PackError>| report.expect("it is read").is_good();
    assert!(good(look(&path, |options| options.mutants = 0)));
    assert!(!good(look(&path, |options| options.scenarios.clear())));
    assert!(!good(look(&path, |options| options.turns.clear())));
    assert!(!Report { hashes_ok: true, ..Report::default() }.is_good());
}

#[test]
fn an_error_in_one_scenario_is_told_though_another_is_stopped_by_it() {
    let (_temp, path) = pack(3);
    std::fs::remove_file(path.join("scenario_1/test_suites/turn_1.json")).expect("it is removed");
    let error = look(&path, |options| options.threads = NonZero::new(2)).expect_err("a suite is missing");
    assert!(error.to_string().starts_with("scenario_1/test_suites/turn_1.json: "), "{error}");
}

#[test]
fn it_is_stopped_within_a_scenario() {
    let (_temp, path) = pack(1);
    let opened = Pack::open_path(&path).expect("it is a pack");
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let schema = std::sync::Arc::new(opened.schema(0, 1).expect("a schema"));
    let mut suite = opened.suite(0, 1).expect("a suite");
    let mut report = Report::default();
    let seed = crate::Seed { base: 3, scenario: 0 };
    super::sensitive::sensitive(seed, None, &schema, &mut suite, 1, &stop, &mut report);
    assert_eq!(report.mutants, 3);
    std::fs::remove_dir_all(path.join("scenario_0")).expect("it is removed");
    let opened = Pack::open_path(&path).expect("it is a pack");
    assert!(!opened.verify_scenario(0, &|| false).is_empty());
    assert!(opened.verify_scenario(0, &|| true).is_empty());
}
