//! Failures of results in which something is not known, or not independent: what counts, and how sure it is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use figures::table::Value;
use model::{CensoringPolicy, EndReason, Ending, RateInterval};
use serde_json::json;

use crate::api::{
    ExportFormat, ExportRequest, ExportSubject, FailureCasesRequest, FailureGroup, FailureOrigin,
    FailureScope, Failures, FailuresRequest, FigureSubject, ListRuns, Member, TableSubject,
};
use crate::{Options, Workbench};

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    root.join("tests/fixtures").join(name)
}

/// A library with one source, and the folder that it lies in.
fn library(source: &Path) -> (tempfile::TempDir, std::sync::Arc<Workbench>) {
    let folder = tempfile::tempdir().expect("a folder");
    let db = Some(folder.path().join("library.sqlite"));
    let workbench = Workbench::open(Options { db, ..Options::default() }).expect("a library");
    workbench.ingest(source, &|_, _| {}).expect("read");
    (folder, workbench)
}

/// Its run whose id ends so; the only one of a library of one.
fn request(workbench: &Workbench, end: &str, scope: FailureScope) -> FailuresRequest {
    let runs = workbench.list_runs(ListRuns::default()).expect("runs").rows;
    let run = runs.into_iter().find(|run| run.id.ends_with(end)).expect("the run");
    FailuresRequest { members: vec![Member::Run { run: run.id }], scope, ..FailuresRequest::default() }
}

fn failures(workbench: &Workbench, end: &str, scope: FailureScope) -> Failures {
    workbench.get_failures(request(workbench, end, scope)).expect("failures")
}

/// Of five trials the environment ended one: four are scored, of which three failed. All four that did not pass were first
/// failures, beside a caption that counted three.
#[test]
fn a_trial_that_is_not_scored_is_no_first_failure() {
    let (_folder, workbench) = library(&fixture("world/docker-words"));
    let first = |environment: u32| {
        let first = failures(&workbench, "", FailureScope::First);
        let classes: u32 = first
            .total
            .shares
            .iter()
            .filter(|s| s.class == "infrastructure")
            .map(|share| share.attempts)
            .sum();
        assert_eq!(classes, environment, "{first:?}");
        let rate = first.total.rate.expect("a rate").0;
        assert!((rate - f64::from(first.attempts) / f64::from(first.total.attempts_in_scope)).abs() < 1e-12);
        (first.attempts, first.total.attempts_in_scope, first.episodes)
    };
    assert_eq!(first(0), (3, 4, 5));
    // It is a failed attempt all the same.
    for scope in [FailureScope::Turns, FailureScope::Attempts] {
        let all = failures(&workbench, "", scope);
        assert_eq!((all.attempts, all.total.attempts_in_scope), (4, 5));
    }
    let request = request(&workbench, "", FailureScope::First);
    let table = workbench.table(&TableSubject::Failures { request }).expect("the table");
    let notes = table.notes.join(" ");
    assert!(notes.contains("3 failed attempts of 4 in scope"), "{notes}");
    assert!(notes.contains("of 4 scored trials in 5 trials"), "{notes}");
    // The policy decides, also about what was read before it.
    let mut policy = CensoringPolicy::default();
    policy.overrides.insert(EndReason::Environment, Ending::Event);
    workbench.store.set_policy(&policy).expect("a policy");
    assert_eq!(first(1), (4, 5, 5));
}

/// Cases of these jobs are numbered anew in each turn, and their descriptions identify them. Counted from the CASE lines by
/// requirement, intent and scenario. All 24 were unknown, and so was whether they passed again.
#[test]
fn numbered_cases_of_harbor_are_new_or_regressed_and_seen_to_pass_again() {
    for (job, new, regressed, repaired) in
        [("failures-k1", 16, 8, 19), ("oracle-k2", 8, 8, 16), ("interrupted", 4, 4, 8)]
    {
        let (_folder, workbench) = library(&fixture("harbor/jobs").join(job));
        let all = failures(&workbench, "", FailureScope::Attempts);
        let mut origins = all.origins.clone();
        origins.retain(|(_, tests)| *tests > 0);
        assert_eq!(origins, [(FailureOrigin::New, new), (FailureOrigin::Regressed, regressed)], "{job}");
        let repair = all.repair;
        assert_eq!((repair.stretches, repair.stretches_unknown), (new + regressed, 0), "{job}");
        assert_eq!(repair.stretches_repaired, Some(repaired), "{job}");
        let request = request(&workbench, "", FailureScope::Attempts);
        let notes = workbench.table(&TableSubject::Repairs { request }).expect("the table").notes.join(" ");
        assert!(!notes.contains("is unknown"), "{job}: {notes}");
    }
}

/// Two trials of one task read alike among failed attempts.
#[test]
fn repeats_of_a_scenario_are_told_apart() {
    let (_folder, workbench) = library(&fixture("harbor/jobs/oracle-k2"));
    let cases_request = FailureCasesRequest {
        failures: request(&workbench, "", FailureScope::Attempts),
        ..FailureCasesRequest::default()
    };
    let cases = workbench.list_failure_cases(cases_request.clone()).expect("cases").rows;
    assert!(cases.iter().any(|case| case.repeat == 2), "{cases:?}");
    for case in &cases {
        assert!([1, 2].contains(&case.repeat), "{case:?}");
        assert_eq!(case.episode.ends_with("-r2"), case.repeat == 2, "{case:?}");
    }
    let table = workbench.table(&TableSubject::Cases { request: cases_request }).expect("the table");
    let column = table.columns.iter().position(|column| column.name == "repeat").expect("the column");
    assert!(!table.columns[column].for_machines, "people see it where scenarios repeat");
    let repeats = table.rows.iter().map(|row| row[column].clone());
    assert!(repeats.eq(cases.iter().map(|case| Some(Value::Integer(case.repeat.into())))));
    let (_folder, workbench) = library(&fixture("harbor/jobs/failures-k1"));
    let cases_request = FailureCasesRequest {
        failures: request(&workbench, "", FailureScope::Attempts),
        ..FailureCasesRequest::default()
    };
    let table = workbench.table(&TableSubject::Cases { request: cases_request }).expect("the table");
    assert!(table.columns[column].for_machines, "and not where none does");
}

/// Writes a run in our own layout: of each scenario its turns, of each turn the outcomes of its attempts, `F` = failed.
fn write_run(folder: &Path, tests: [&str; 2], scenarios: &[&[&[&str]]]) {
    for (number, turns) in scenarios.iter().enumerate() {
        let turn = |(turn, attempts): (u32, &&[&str])| {
            let attempt = |(number, outcomes): (u32, &&str)| {
                let passed = outcomes.matches('.').count();
                let verdict = if passed == 2 { "passed" } else { "failed" };
                json!({ "attempt": number, "verdict": verdict, "passed": passed, "total": 2, "outcomes": outcomes })
            };
            let attempts: Vec<_> = (1..).zip(attempts.iter()).map(attempt).collect();
            json!({ "turn": turn, "tests": tests, "attempts": attempts })
        };
        let turns: Vec<_> = (1..).zip(turns.iter()).map(turn).collect();
        let trajectory = json!({
            "schema_version": "stamina-lab/1", "planned_turns": turns.len(), "turns": turns,
            "finished_at": "2026-06-01T10:00:00Z",
        });
        let scenario = folder.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).expect("a folder");
        std::fs::write(scenario.join("trajectory.json"), trajectory.to_string()).expect("written");
    }
    let report = json!({
        "schema_version": "stamina-lab/1", "agent": "x", "benchmark": "restful_server_gen_iterative",
        "num_tasks": scenarios.len(),
        "run": { "harness": "h", "model": "m", "runner": "Stamina Lab", "attempt_limit": 3,
                 "started_at": "2026-06-01T09:00:00Z" },
    });
    std::fs::write(folder.join("report.json"), report.to_string()).expect("written");
}

/// How many stretches there are, how many of unknown end, and how many of the others ended with a pass. And the notes of the
/// tables of repairs and flips.
fn stretches(tests: [&str; 2], scenarios: &[&[&[&str]]]) -> ((u32, u32, Option<u32>), String) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("lab/run");
    write_run(&run, tests, scenarios);
    let (_folder, workbench) = library(&folder.path().join("lab"));
    let repair = failures(&workbench, "", FailureScope::First).repair;
    let first = || request(&workbench, "", FailureScope::First);
    let notes = [TableSubject::Repairs { request: first() }, TableSubject::Flips { request: first() }]
        .map(|subject| workbench.table(&subject).expect("the table").notes.join(" "));
    ((repair.stretches, repair.stretches_unknown, repair.stretches_repaired), notes.join(" "))
}

/// "0 ended with a pass" was said of trials that had one attempt.
#[test]
fn whether_tests_passed_again_is_unknown_where_they_ran_once() {
    let named = ["t::one", "t::two"];
    let (counts, notes) = stretches(named, &[&[&[".F"]], &[&["F."]]]);
    assert_eq!(counts, (2, 2, None), "{notes}");
    assert!(notes.contains("is unknown") && notes.contains("or tests ran once"), "{notes}");
    assert!(notes.contains("No test changed its outcome: nothing was tried again."), "{notes}");
    let (counts, notes) = stretches(named, &[&[&[".F"]], &[&["F.", ".."]], &[&["F.", "F."]]]);
    assert_eq!(counts, (3, 1, Some(1)), "{notes}");
}

/// One turn that was tried again made known how the tests of the others ended.
#[test]
fn how_a_numbered_test_ended_is_known_only_of_turns_that_were_tried_again() {
    let turns: &[&[&[&str]]] = &[&[&[".F", ".."], &[".F"]]];
    assert_eq!(stretches(["c001", "c002"], turns).0, (2, 1, Some(1)));
    assert_eq!(stretches(["t::one", "t::two"], turns).0, (2, 0, Some(1)));
}

/// Of three scored trials one failed before its agent began: "1 of 2 scored trials failed" stood beside a pass rate of 1 of 3.
#[test]
fn a_failure_without_an_attempt_is_said_not_to_be_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("trials.csv");
    let head = "run,harness,model,scenario,repeat,turn,attempt,passed,episode_end_reason,planned_turns\n";
    let rows = "r,h,m,a,1,1,1,true,,1\nr,h,m,b,1,1,1,false,,1\nr,h,m,c,1,,,,agent_error,1\n";
    std::fs::write(&table, format!("{head}{rows}")).expect("written");
    let (_folder, workbench) = library(&table);
    let scored = workbench.list_runs(ListRuns::default()).expect("runs").rows.remove(0).pass_rate;
    assert_eq!(scored.map(|rate| (rate.passed, rate.trials)), Some((1, 3)));
    let counts = |scope| {
        let found = failures(&workbench, "", scope);
        let sentence = "1 scored trial failed without an attempt, and is not counted here.";
        (
            found.attempts,
            found.total.attempts_in_scope,
            found.cautions.iter().any(|caution| caution == sentence),
        )
    };
    assert_eq!(counts(FailureScope::First), (1, 2, true));
    assert_eq!(counts(FailureScope::Turns), (1, 2, false));
    // The caption of the figure says it, too, and only where it is so.
    let is_in_caption = |scope| {
        let figure = FigureSubject::Failures { request: request(&workbench, "", scope) };
        let subject =
            ExportSubject::Figure { figure, preset: "icml".to_owned(), height_pt: None, grey: false };
        let export_request = ExportRequest { subject, format: ExportFormat::Svg, path: None };
        let exported = workbench.export(export_request).expect("a figure");
        exported.caption.contains("1 scored trial failed without an attempt, and is not counted here.")
    };
    assert!(is_in_caption(FailureScope::First) && !is_in_caption(FailureScope::Turns));
}

/// Runs of one turn of which every trial fails: of each task its trials, and how many of them ran out of time.
fn trials(run: &str, tasks: &[(u32, u32)]) -> String {
    let mut rows = String::new();
    for (task, (trials, timeouts)) in tasks.iter().enumerate() {
        for repeat in 1..=*trials {
            let end = if repeat <= *timeouts { "agent_timeout" } else { "tests_failed" };
            writeln!(rows, "{run},h,{run},task-{task},{repeat},1,1,false,{end},1").expect("written");
        }
    }
    rows
}

/// Ends from an independent program: 8 of 20 failures of five tasks, p = 0.4, V = 0.04125 and Student's t of 4 degrees of
/// freedom 2.776. Wilson's over 20 is 0.219 to 0.613, and stood here.
#[test]
fn shares_of_failures_are_clustered_where_scenarios_repeat() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("trials.csv");
    let head = "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns\n";
    let rows = [
        trials("several", &[(4, 4), (4, 3), (4, 0), (4, 1), (4, 0)]),
        trials("single", &[(1, 1), (1, 0), (1, 0), (1, 1)]),
        trials("alone", &[(3, 1)]),
        // Several trials of a task, and one failure.
        "mixed,h,mixed,task-0,1,1,1,false,agent_timeout,1\nmixed,h,mixed,task-0,2,1,1,true,,1\n".to_owned(),
        "mixed,h,mixed,task-1,1,1,1,true,,1\n".to_owned(),
    ];
    std::fs::write(&table, format!("{head}{}", rows.concat())).expect("written");
    let (_folder, workbench) = library(&table);
    let share = |group: &FailureGroup| {
        let share = group.shares.iter().find(|share| share.class == "agent_timeout").expect("timeouts");
        (share.attempts, share.ci_low.zip(share.ci_high))
    };
    let near = |ends: Option<(f64, f64)>, low: f64, high: f64| {
        let (found_low, found_high) = ends.expect("an interval");
        assert!((found_low - low).abs() < 1e-6 && (found_high - high).abs() < 1e-6, "{ends:?}");
    };
    let several = failures(&workbench, "several", FailureScope::First);
    assert_eq!(several.total.interval, Some(RateInterval::Clustered));
    let (attempts, ends) = share(&several.total);
    assert_eq!((attempts, several.attempts), (8, 20));
    near(ends, 0.082_797_480_8, 0.831_178_193_5);
    let first = request(&workbench, "several", FailureScope::First);
    let table = workbench.table(&TableSubject::Failures { request: first }).expect("the table");
    let notes = table.notes.join(" ");
    assert!(notes.contains("clustered by task"), "{notes}");
    let kind = table.columns.iter().position(|column| column.name == "interval").expect("the column");
    assert_eq!(table.rows[0][kind], Some(Value::Text("clustered".to_owned())));

    // One trial of each task: 2 of 4, as in R, prop.test(2, 4, correct = FALSE).
    let single = failures(&workbench, "single", FailureScope::First);
    assert_eq!(single.total.interval, Some(RateInterval::Wilson));
    near(share(&single.total).1, 0.150_038_988_9, 0.849_961_011_1);

    // How alike the trials of one task are, nothing tells.
    let alone = failures(&workbench, "alone", FailureScope::First);
    assert_eq!((alone.total.interval, share(&alone.total)), (None, (1, None)));
    assert_eq!(alone.total.rate, Some((1.0, None, None)));

    // The interval of the rate goes by the attempts that were made, not by those that failed.
    let mixed = failures(&workbench, "mixed", FailureScope::First).total;
    assert_eq!((mixed.attempts, mixed.attempts_in_scope), (1, 3));
    assert_eq!(mixed.interval, Some(RateInterval::Wilson));
    assert_eq!(mixed.rate_interval, Some(RateInterval::Clustered));
    assert!(share(&mixed).1.is_some());
    assert_eq!((single.total.rate_interval, alone.total.rate_interval), (Some(RateInterval::Wilson), None));
}
