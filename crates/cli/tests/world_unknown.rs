//! Results of which something is not known, through the program: what is unknown is so in every command.

use serde_json::{Value, json};
use test_folders::copy;

use crate::app::TestHome;
use crate::folders;

/// A library with one source of `tests/fixtures/world`.
fn library_of(name: &str) -> TestHome {
    let library = TestHome::new();
    library.ingest(&folders::fixtures().join("world").join(name));
    library
}

#[test]
fn where_nobody_was_at_risk_nothing_is_known_in_any_command() {
    let library = library_of("never-at-risk");
    let ids = library.run_ids();
    let id = ids[0].as_str();
    let run = &library.json(&["runs"])[0];
    assert_eq!((run["stamina"]["n"].as_u64(), run["stamina"]["censored"].as_u64()), (Some(3), Some(3)));
    for unknown in ["score", "dataset_score", "case_score", "perfect"] {
        assert!(run[unknown].is_null(), "{unknown}: {run}");
    }
    for unknown in ["mean", "ci_low", "ci_high", "median", "median_reached"] {
        assert!(run["stamina"][unknown].is_null(), "{unknown}: {run}");
    }

    let survival = library.json(&["survival", id]);
    assert_eq!(survival[0]["at_risk"], 0);
    assert!(survival[0]["survival"].is_null(), "{survival}");
    assert!(library.text(&["survival", id]).contains("unknown"));
    let shown = library.json(&["show", id]);
    assert!(
        shown["episodes"]
            .as_array()
            .is_some_and(|all| all.len() == 3 && all.iter().all(|e| e["score"].is_null()))
    );

    let compared = library.json(&["compare", id]);
    let member = &compared["runs"][0];
    for unknown in ["median", "median_reached", "score", "early_censored"] {
        assert!(member[unknown].is_null(), "{unknown}: {member}");
    }
    let cautions = compared["cautions"].to_string();
    assert!(cautions.contains("Nobody was at risk"), "{cautions}");
    for (args, wrong) in [
        (vec!["compare", id], "not reached"),
        (vec!["matrix", id], "not reached"),
        (vec!["table", "runs", id], "not reached"),
        (vec!["table", "library"], "not reached"),
        (vec!["table", "matrix", id], "not reached"),
        (vec!["table", "sensitivity", id], "not reached"),
        (vec!["table", "survival", id], "1.000"),
    ] {
        let text = library.text(&args);
        assert!(text.contains("unknown") && !text.contains(wrong), "{args:?}: {text}");
    }
    // A horizon of nobody was 0.
    for kind in ["runs", "matrix", "sensitivity"] {
        let table = library.json(&["table", kind, id]);
        let rows = table["rows"].as_array().expect("rows");
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row["tau"].is_null() == row["mean_stamina"].is_null()),
            "{kind}: {table}"
        );
    }
    assert!(library.json(&["table", "library"])["rows"][0]["tau"].is_null());
    for args in [&["compare", id][..], &["matrix", id]] {
        let text = library.text(args);
        assert!(text.contains("τ = unknown") && !text.contains("0 turns"), "{args:?}: {text}");
    }
    let failures = library.text(&["failures", id]);
    assert!(
        failures.contains("s failed at the first attempt.\n") && !failures.contains("not reached"),
        "{failures}"
    );
    let report = library.path("report");
    library.text(&["report", id, "--out", report.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(report.join("report.html")).expect("the report");
    // Turns that were not reached are something else.
    assert!(report.contains("median unknown") && !report.contains("median not reached"));
}

#[test]
fn a_median_that_is_not_reached_is_not_unknown() {
    let library = library_of("steps-unknown");
    let stamina = &library.json(&["runs"])[0]["stamina"];
    assert!(stamina["median"].is_null());
    assert_eq!(stamina["median_reached"], false);
    // The run is of one turn: a reader of the comparison sees its pass rate.
    let compared = &library.json(&["compare", &library.run_ids()[0]])["runs"][0];
    assert!(compared["median"].is_null());
    assert_eq!(compared["median_reached"], false);
}

#[test]
fn a_reported_score_of_nothing_is_unknown() {
    let library = library_of("sweep-no-cases");
    let run = &library.json(&["runs"])[0];
    assert_eq!(run["case_score"].as_f64(), Some(62.5));
    assert!(run["reported"].get("evocode.case_score").is_none(), "{}", run["reported"]);
    assert_eq!(run["reported"]["evocode.dataset_score"].as_f64(), Some(50.0));
}

#[test]
fn steps_that_are_known_only_where_there_were_none_are_unknown() {
    let library = library_of("steps-unknown");
    let id = library.run_ids().remove(0);
    let spent = &library.json(&["compare", &id])["runs"][0]["spent"];
    for unknown in ["steps_survived", "steps_per_turn", "cost_usd", "input_tokens", "tokens_per_turn"] {
        assert!(spent[unknown].is_null(), "{unknown}: {spent}");
    }
}

#[test]
fn the_note_beside_harbors_mean_names_the_cause_that_was_found() {
    let note = |name: &str| {
        let library = library_of(name);
        let caveats = library.json(&["compare", &library.run_ids()[0]])["runs"][0]["caveats"].to_string();
        assert!(caveats.contains("mean reward") || name != "mean-note", "{caveats}");
        caveats
    };
    let partial = note("mean-note");
    assert!(partial.contains("1 reward is neither 0 nor 1"), "{partial}");
    assert!(!partial.contains("have no reward") && !partial.contains("trials"), "{partial}");
    // Nothing that is found here makes the difference: nothing is said.
    let unexplained = note("mean-unexplained");
    assert!(!unexplained.contains("Harbor reports"), "{unexplained}");
    let fewer = note("mean-of-fewer");
    assert!(fewer.contains("Harbor counts 1 trial, here are 2"), "{fewer}");
}

#[test]
fn what_was_stopped_from_outside_is_counted_apart() {
    // words: ok: the name of a fixture.
    let library = library_of("cancelled");
    let id = library.run_ids().remove(0);
    let text = library.text(&["failures", &id]);
    assert!(text.contains("1 of 2 scored trials failed") && !text.contains("turns"), "{text}");
    let folder = library.path("report");
    library.text(&["report", &id, "--out", folder.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(folder.join("report.md")).expect("the report");
    assert!(report.contains("2 of 3 attempts did not pass; 1 of them is unfinished"), "{report}");
    // A run alone is tested against none.
    assert!(
        report.contains("Intervals are wide.") && !report.contains("p-values of the log-rank"),
        "{report}"
    );
    let csv = std::fs::read_to_string(folder.join("tables/attempts.csv")).expect("attempts by their number");
    let (head, row) = csv.split_once("\r\n").expect("a heading line");
    let cell = |name: &str| {
        let index = head.split(',').position(|column| column == name).expect("the column");
        row.trim_end().split(',').nth(index).map(str::to_owned)
    };
    let counts =
        ["made", "passed", "failed", "errors", "unfinished"].map(|name| cell(name).expect("a count"));
    assert_eq!(counts, ["3", "1", "1", "0", "1"], "{csv}");
}

#[test]
fn one_trial_is_not_counted_as_several() {
    let library = library_of("copied");
    let id = library.run_ids().remove(0);
    let text = library.text(&["failures", &id]);
    assert!(text.contains("0 of 1 scored trial failed"), "{text}");
    let table = library.text(&["table", "failures", &id]);
    assert!(table.contains("of 1 scored trial in 1 trial."), "{table}");
}

/// EvoCode-Bench publishes the failing tests and no others.
#[test]
fn how_many_tests_passed_again_is_unknown_where_no_source_names_those_that_pass() {
    let library = TestHome::new();
    library.ingest(&folders::fixtures().join("evocode"));
    let repair = library.json(&["failures"])["repair"].clone();
    assert_eq!(repair["stretches"], 3, "{repair}");
    for unknown in ["stretches_repaired", "repaired_in_same_turn", "median_turns"] {
        assert!(repair[unknown].is_null(), "{unknown}: {repair}");
    }
    let shown = library.text(&["failures"]);
    let ends =
        "3 stretches in which a test failed were followed; how many ended with a pass is unknown: passed";
    assert!(shown.contains(ends), "{shown}");
    let table = library.text(&["table", "repairs"]);
    assert!(table.contains("ended with a pass is unknown") && !table.contains("0 ended"), "{table}");
    // No turn was tried again, so that none could pass later.
    let times = library.json(&["table", "repair-times"]);
    let rows = times["rows"].as_array().expect("rows");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["share"].is_null()), "{times}");
    // Both say it in one sentence.
    for text in [&shown, &table] {
        assert!(
            text.contains(ends) && text.contains("; none was tried again.") && !text.contains("0 of them"),
            "{text}"
        );
    }
    let flips = library.text(&["table", "flips"]);
    assert!(
        flips.contains("outcome is unknown: passed tests are not described, or not followed over turns."),
        "{flips}"
    );
    let folder = library.path("report");
    let id = library.run_ids().remove(0);
    library.text(&["report", &id, "--out", folder.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(folder.join("report.md")).expect("the report");
    assert!(report.contains("; none was tried again.") && !report.contains("0 of them passed"), "{report}");
}

/// That is known, although no failing test is described.
#[test]
fn where_nothing_failed_no_test_changed_its_outcome() {
    let library = TestHome::new();
    let table = library.path("t.csv");
    let rows = "r,h,m,a,1,1,true\nr,h,m,a,2,1,true\n";
    std::fs::write(&table, format!("run,harness,model,scenario,turn,attempt,passed\n{rows}"))
        .expect("a table");
    library.ingest(&table);
    let flips = library.text(&["table", "flips"]);
    assert!(flips.contains("No test changed its outcome more than once."), "{flips}");
    assert!(!flips.contains("outcome is unknown"), "{flips}");
}

#[test]
fn settings_that_are_sets_are_the_same_in_any_order() {
    let library = library_of("set-order");
    let ids = library.run_ids();
    let compared = library.json(&["compare", &ids[0], &ids[1]]);
    let named = compared["differences"].to_string();
    assert!(!named.contains("exclude_exceptions"), "{named}");
    assert_eq!(compared["comparability"], "no_effect");
}

/// The same beside episodes of which it is known.
#[test]
fn stretches_whose_end_is_unknown_are_not_taken_for_never_repaired() {
    let library = TestHome::new();
    library.ingest(&folders::fixtures().join("staminabench/own"));
    let repair = || {
        let ids = library.run_ids();
        let named: Vec<&str> = std::iter::once("failures").chain(ids.iter().map(String::as_str)).collect();
        (library.json(&named)["repair"].clone(), library.text(&named))
    };
    let (known, _) = repair();
    assert!(known["stretches"].as_u64() > Some(0) && known["stretches_unknown"] == 0, "{known}");
    library.ingest(&folders::fixtures().join("evocode"));
    let (all, shown) = repair();
    assert_eq!(all["stretches_unknown"], 3, "{all}");
    assert_eq!(all["stretches"].as_u64(), known["stretches"].as_u64().map(|n| n + 3), "{all}");
    for same in ["stretches_repaired", "repaired_in_same_turn", "median_turns"] {
        assert!(!known["stretches_repaired"].is_null() && all[same] == known[same], "{same}: {all}, {known}");
    }
    assert!(shown.contains("How the other 3 ended is unknown: passed tests are not described"), "{shown}");
}

/// Where every test fails at every turn, each attempt names all its tests: such episodes are chosen by their outcome.
#[test]
fn episodes_in_which_all_fail_do_not_tell_how_often_tests_pass_again_where_passes_are_not_named() {
    let library = TestHome::new();
    let source = library.path("evocode");
    copy(&folders::fixtures().join("evocode"), &source);
    let file = source.join("tasks/task_two.json");
    let mut task: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("the task")).expect("JSON");
    let all_fail = |outcome: &Value| {
        let fails = outcome["fails"].clone();
        json!({ "pass": 0, "total": 1, "fail": 1, "reward": 0, "fails": fails })
    };
    let rounds = &mut task["models"]["Big-2-high"];
    let failed = all_fail(&rounds["2"]);
    rounds["1"] = failed.clone();
    rounds["2"] = failed;
    std::fs::write(&file, task.to_string()).expect("the task");
    library.ingest(&source);
    let repair = library.json(&["failures"])["repair"].clone();
    assert!(repair["stretches"].as_u64() > Some(0), "{repair}");
    assert_eq!(repair["stretches_unknown"], repair["stretches"], "{repair}");
    for unknown in ["stretches_repaired", "repaired_in_same_turn", "median_turns"] {
        assert!(repair[unknown].is_null(), "{unknown}: {repair}");
    }
}
