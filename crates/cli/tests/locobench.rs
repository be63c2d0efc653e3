//! LoCoBench-Agent through the program: its figures, and that no statistic of stamina ever has its runs.

use serde_json::Value;

use crate::app::{TestHome, text};
use crate::folders::{copy, fixtures};
use crate::kinds;

const METRICS: [&str; 9] = model::LOCOBENCH_METRICS;

/// A library with its runs, and with a run that has tests.
fn library() -> TestHome {
    let library = TestHome::new();
    let read = library.ingest(&fixtures().join("locobench/recorded"));
    assert_eq!(read["sources"][0]["format"], "locobench");
    assert_eq!((&read["sources"][0]["runs"], &read["sources"][0]["episodes"]), (&4.into(), &13.into()));
    library.ingest(&fixtures().join("world/same-trial/job-a"));
    library
}

fn run_of(library: &TestHome, model: &str) -> String {
    let runs = library.json(&["runs"]);
    let found = runs.as_array().expect("runs").iter().find(|run| run["model"] == model).expect("the run");
    found["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_page_of_sessions_has_the_means_of_all() {
    let library = library();
    let run = run_of(&library, "gpt-4o");
    let sessions_of = |request: Value| library.json(&["rpc", "list_sessions", &request.to_string()]);
    let all = sessions_of(serde_json::json!({ "run": run }));
    let sessions = all["sessions"].as_array().expect("sessions");
    assert_eq!(sessions.len(), 8);
    let page = sessions_of(serde_json::json!({ "run": run, "offset": 3, "limit": 2 }));
    assert_eq!(page["sessions"].as_array().map(Vec::as_slice), Some(&sessions[3..5]));
    for part in ["all", "categories", "differs", "running", "cautions"] {
        assert_eq!(page[part], all[part], "{part}");
    }
}

#[test]
fn figures_stand_in_three_columns_with_means() {
    let library = library();
    let run = run_of(&library, "gpt-4o");
    let all = library.json(&["locobench", &run]);
    let sessions = all["sessions"].as_array().expect("sessions");
    assert_eq!(sessions.len(), 8);
    let session = |play: &str, repeat: u32| -> &Value {
        let is_it = |s: &&Value| {
            s["scenario"].as_str().is_some_and(|name| name.contains(play)) && s["repeat"] == repeat
        };
        sessions.iter().find(is_it).expect("the session")
    };
    let done = session("_completed_", 1);
    assert_eq!(
        (&done["status"], &done["turns"], &done["tool_calls"]),
        (&"completed".into(), &3.into(), &4.into())
    );
    for metric in METRICS.iter().chain(&["comprehension", "efficiency"]) {
        let (imported, compat) = (done["imported"][metric].as_f64(), done["compat"][metric].as_f64());
        assert!((imported.expect(metric) - compat.expect(metric)).abs() < 1e-9, "{metric}");
    }
    assert_eq!(done["corrected"]["tool_success"], 1.0);
    assert_eq!(
        (&done["corrected"]["distinct_functions"], &done["corrected"]["files_written"]),
        (&3.into(), &2.into())
    );
    assert_eq!(done["corrected"]["read_before_write"], 0.5);
    assert_eq!(done["differs"].as_array().map(Vec::len), Some(0));
    // Its comprehension is not the mean of its own five any more.
    let differs = &session("_completed_", 2)["differs"];
    assert_eq!(*differs, serde_json::json!(["execution_success_rate", "comprehension", "overall"]));
    assert_eq!((&done["counts"], &session("_completed_", 2)["counts"]), (&false.into(), &true.into()));
    assert_eq!(session("_refused_", 1)["compat"], Value::Null, "its line is cut off");
    assert_eq!(session("_slow_", 1)["imported"]["execution_success_rate"], Value::Null, "NaN");
    let means = &all["means"]["all"];
    assert_eq!((&means["scenarios"], &means["sessions"]), (&7.into(), &8.into()));
    // The conversation of one with 14 turns is not recorded.
    let turns = ["turns", "answered", "answered_of"].map(|key| means[key].as_u64());
    assert_eq!(turns, [Some(44), Some(20), Some(30)]);
    let running = all["running"].as_array().expect("steps");
    assert_eq!(running[0]["at_risk"], 6);
    assert!((running[2]["share"].as_f64().expect("a share") - 0.8).abs() < 1e-12, "{running:?}");
    // The record of one of 14 turns is cut off before it says how it ended; the other one completed there.
    assert_eq!((&running[13]["step"], &running[13]["at_risk"]), (&14.into(), &2.into()));
    assert!((running[13]["share"].as_f64().expect("a share") - 0.2).abs() < 1e-12, "{running:?}");
    assert_eq!(means["compat"]["comprehension"]["n"], 5, "two lines are cut off");
    assert_eq!((&means["differ"], &means["differ_of"]), (&1.into(), &5.into()));
    // Of six scenarios both are known, of a seventh only comprehension.
    let balance = &means["imported"]["balance"];
    assert_eq!(balance["n"], 6);
    assert!((balance["mean"].as_f64().expect("a mean") - 0.677_605_898_674_573_4).abs() < 1e-12, "{balance}");
    let value = |s: &Value| s["compat"]["comprehension"].as_f64();
    let counted: Vec<f64> = sessions.iter().filter(|s| s["counts"] == true).filter_map(value).collect();
    let mean = counted.iter().sum::<f64>() / counted.len() as f64;
    assert!((means["compat"]["comprehension"]["mean"].as_f64().expect("a mean") - mean).abs() < 1e-12);
    assert!(means["compat"]["comprehension"]["ci_low"].as_f64().is_some_and(|low| low < mean));
    assert_eq!(all["means"]["difficulty"]["easy"]["scenarios"], 3);
    assert_eq!(all["means"]["category"]["feature_implementation"]["scenarios"], 1);
    assert_eq!(all["means"]["language"]["rust"]["scenarios"], 1);
    assert_eq!(all["published"].as_array().map(Vec::len), Some(12), "six models, both figures");

    let message = library.text(&["locobench", &run]);
    assert!(message.contains("A session that does nothing scores .780 / .650"), "{message}");
    assert!(message.contains("≠ execution_success_rate") && message.contains("(retried)"), "{message}");
    // Each mean says of how many of the 7 scenarios it is, where it is of fewer.
    assert!(message.contains("0.671 (0.617–0.724), known for 6"), "{message}");
    assert!(message.contains("0.675 (0.606–0.744), known for 5"), "{message}");
    assert!(message.contains("In 1 of 5 sessions an imported figure is another"), "{message}");
    let never = library.text(&["locobench", &run_of(&library, "gpt-4.1")]);
    assert!(never.contains("2 of 2 sessions never started"), "{never}");
    assert!(never.contains("the share of sessions still running leaves it out"), "{never}");
    assert!(never.contains("A session that does nothing scores .780 / .650"), "{never}");
}

#[test]
fn such_runs_enter_no_statistic_of_stamina() {
    let library = library();
    let runs = library.json(&["runs"]);
    let (loco, tested): (Vec<&Value>, Vec<&Value>) =
        runs.as_array().expect("runs").iter().partition(|run| run["benchmark"] == "locobench-agent");
    assert_eq!((loco.len(), tested.len()), (4, 1), "{runs}");
    for run in &loco {
        assert_eq!((&run["stamina"], &run["score"]), (&Value::Null, &Value::Null), "{run}");
        // Nothing is judged: no session is scored, and none ended without a verdict that it might have had.
        let coverage = &run["coverage"];
        assert!(coverage["scored"].is_null() && coverage["present"] == run["episodes"], "{run}");
        assert_eq!(run["end_reasons"], serde_json::json!({}), "{run}");
    }
    assert!(tested[0]["stamina"]["tau"].is_number(), "{}", tested[0]);
    assert!(tested[0]["coverage"]["scored"].is_number(), "{}", tested[0]);
    assert!(tested[0]["end_reasons"].as_object().is_some_and(|ends| !ends.is_empty()), "{}", tested[0]);
    let shown = library.text(&["runs"]);
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("no tests")).collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines.iter().all(|line| line.contains("n/a") && !line.contains("0/0")), "{shown}");
    let table = library.json(&["table", "library"]);
    let rows = table["rows"].as_array().expect("rows");
    let test_columns = ["n", "events", "censored", "mean_stamina", "tau", "median", "end_reasons"];
    let known = |row: &&Value| test_columns.iter().any(|column| !row[*column].is_null());
    assert_eq!((rows.len(), rows.iter().filter(known).count()), (5, 1), "{table}");
    let (run, other) = (run_of(&library, "gpt-4o"), run_of(&library, "gpt-4.1"));
    let own_run = tested[0]["id"].as_str().expect("an id");

    // What a command wrongly gave, or said instead of why there is nothing.
    let wrong = |args: &[&str]| -> Option<String> {
        let output = library.stamina(args);
        let message = text(&output.stderr);
        let is_refused = !output.status.success()
            && message.contains("has no tests")
            && message.contains("stamina locobench");
        (!is_refused).then(|| format!("{args:?}: {message}{}", text(&output.stdout)))
    };
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["survival", &run],
        vec!["show", &run],
        vec!["rerun-list", &run],
        vec!["compare", &run],
        vec!["compare", &run, &other],
        vec!["compare", own_run, &run],
        vec!["compare", "harness:openai"],
        vec!["compare", "model:gpt-4o@locobench-agent"],
        vec!["matrix", &run],
        vec!["matrix", "--benchmark", "locobench-agent"],
        vec!["failures", &run],
        vec!["failures", "--benchmark", "locobench-agent"],
        vec!["report", &run, "--out", "report"],
    ];
    let (figures, tables) = (kinds::figures(), kinds::tables());
    for kind in &figures {
        commands.push(vec!["figure", kind, &run, &other, "--out", "figure.svg"]);
    }
    for kind in tables.iter().filter(|kind| !kinds::OF_NO_RUN.contains(&kind.as_str())) {
        commands.push(vec!["table", kind, &run, &other]);
    }
    let first_row = format!("{{\"run\": \"{run}\"}}");
    for name in ["run_survival", "run_grid"] {
        commands.push(vec!["rpc", name, &first_row]);
    }
    let all: Vec<String> = commands.iter().filter_map(|args| wrong(args)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));

    // Where no run is named, only those that have tests are taken.
    let matrix = library.json(&["matrix"]);
    assert!(!matrix.to_string().contains("gpt-4o") && !matrix.to_string().contains("locobench"), "{matrix}");
    let failures = library.json(&["failures"]);
    assert!(!failures.to_string().contains("locobench"), "{failures}");
    // The other way round: a run with tests has no such figures.
    let output = library.stamina(&["locobench", own_run]);
    assert!(!output.status.success() && text(&output.stderr).contains("no such sessions"));
}

/// As of any other benchmark.
#[test]
fn a_plane_refuses_withdrawn_runs_beside_others_and_names_copies() {
    let library = library();
    let (first, second) = (run_of(&library, "gpt-4o"), run_of(&library, "gpt-4.1"));
    let copied = library.path("copied");
    copy(&fixtures().join("locobench/recorded"), &copied);
    library.ingest(&copied);
    let ids = library.run_ids();
    let is_copy = |id: &&String| **id != first && id.ends_with("openai-gpt-4o");
    let copy_of_first = ids.iter().find(is_copy).expect("the copy");
    let csv_path = library.path("plane.csv");
    let csv_path = csv_path.to_str().expect("UTF-8");
    let caption = library.text(&["figure", "plane", &first, copy_of_first, "--out", csv_path]);
    let in_both = format!("sessions are in both {first} and {copy_of_first}, and counted in each");
    assert!(caption.contains(&in_both), "{caption}");
    let caption = library.text(&["figure", "plane", &first, &second, "--out", csv_path]);
    assert!(caption.contains(&format!("{second}: 2 of 2 sessions never started")), "{caption}");
    assert!(!caption.contains("in both"), "{caption}");

    library.json(&["withdraw", &second, "--reason", "wrong key"]);
    let mark = "The run is withdrawn: wrong key.";
    assert!(library.text(&["locobench", &second]).contains(mark));
    let alone = library.text(&["figure", "plane", &second, "--out", csv_path]);
    assert!(alone.contains(mark), "{alone}");
    let refused = library.stamina(&["figure", "plane", &first, &second, "--out", csv_path]);
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(message.contains("cannot be taken together with other runs: wrong key"), "{message}");
}
