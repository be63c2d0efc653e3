//! The same trials in two sources count once wherever runs are combined, and the output says where they count.

mod parts;
mod while_played;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::TestHome;
use crate::folders;

fn fixture() -> PathBuf {
    folders::fixtures().join("world/same-trial/job-a")
}

/// A library with a job and a copy of it in another source.
fn with_a_copy() -> TestHome {
    let library = TestHome::new();
    let copied = library.path("job-b");
    folders::copy(&fixture(), &copied);
    library.ingest(&fixture());
    library.ingest(&copied);
    library
}

fn sorted_runs(library: &TestHome) -> Vec<String> {
    let mut ids = library.run_ids();
    ids.sort_unstable();
    ids
}

#[test]
fn reading_a_copy_says_so() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    let copies = &library.ingest(&library.path("job-b"))["sources"][0]["copies"];
    assert_eq!(copies, &json!([{ "run": runs[1], "also_in": [{ "run": runs[0], "trials": 2 }] }]));
}

#[test]
fn a_job_and_its_copy_are_one() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    assert_eq!(runs.len(), 2);
    for run in library.json(&["runs"]).as_array().expect("runs") {
        assert_eq!(run["stamina"]["n"], 2, "each is whole by itself");
    }
    let survival = library.json(&["survival", &runs[0]]);
    assert_eq!((&survival[0]["at_risk"], &survival[0]["events"]), (&2.into(), &1.into()));

    let matrix = library.json(&["matrix"]);
    let cells = matrix["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0]["n"], 2, "{matrix}");
    assert_eq!(cells[0]["runs"].as_array().map(Vec::len), Some(1));
    let has_caution = |value: &Value| value["cautions"].to_string().contains("the same trials as in");
    assert!(has_caution(&matrix), "{matrix}");

    let failures = library.json(&["failures"]);
    assert_eq!(failures["attempts"], 1, "{failures}");
    assert!(has_caution(&failures), "{failures}");

    let group = library.json(&["compare", "harness:agent-a"]);
    assert_eq!(group["runs"][0]["n"], 2, "{group}");
    assert!(group["runs"][0]["caveats"].to_string().contains("the same trials as in"), "{group}");
}

#[test]
fn a_run_is_not_tested_against_its_copy() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    let compared = library.json(&["compare", &runs[0], &runs[1]]);
    assert_eq!(compared["pairs"][0]["in_both"], 1, "{compared}");
    assert!(compared["pairs"][0]["logrank"].is_null(), "{compared}");
    assert_eq!(compared["overlaps"].as_array().map(Vec::len), Some(1));
}

/// Their sources say that they play other scenarios, and they have a trial in common: it is of one scenario.
#[test]
fn members_with_a_trial_in_common_are_not_said_to_share_no_scenario() {
    let library = TestHome::new();
    for set in ["x", "y"] {
        let path = library.path(&format!("{set}.csv"));
        let head = "run,harness,model,scenario,turn,attempt,passed,episode_id,scenario_set";
        let row = |turn, passed| format!("of-{set},h,m,s1,{turn},1,{passed},id-0123456789abcdef,{set}\n");
        std::fs::write(&path, format!("{head}\n{}{}", row(1, true), row(2, false))).expect("a table");
        library.ingest(&path);
    }
    let runs = sorted_runs(&library);
    let compared = library.json(&["compare", &runs[0], &runs[1]]);
    assert_eq!((&compared["shared_scenarios"], &compared["overlaps"][0]["runs"]), (&json!(0), &json!(1)));
    let text = library.text(&["compare", &runs[0], &runs[1]]);
    assert!(text.contains("is in both: nothing is tested between these two"), "{text}");
    assert!(!text.contains("0 scenarios are shared"), "{text}");
    assert!(!text.contains("No scenario is shared") && !text.contains("one set may be harder"), "{text}");
    let figure = library.path("survival.svg");
    let out = figure.to_str().expect("UTF-8");
    let caption = &library.json(&["figure", "survival", &runs[0], &runs[1], "--out", out])["caption"];
    assert!(!caption.to_string().contains("share no scenario"), "{caption}");
}

/// A table whose durations are rounded: what two models did alike in 12.5 seconds are two observations.
#[test]
fn episodes_of_two_models_that_took_equally_long_are_no_copies() {
    let library = TestHome::new();
    let mut text = "run,harness,model,scenario,turn,attempt,passed,seconds\n".to_owned();
    for model in ["m-a", "m-b"] {
        for (scenario, passed) in [("s1", true), ("s2", false), ("s3", true)] {
            writeln!(text, "of-{model},h,{model},{scenario},1,1,{passed},12.5").expect("a row");
        }
    }
    let folders = ["one", "two"].map(|name| library.path(name));
    for folder in &folders {
        std::fs::create_dir(folder).expect("a folder");
        std::fs::write(folder.join("t.csv"), &text).expect("a table");
    }
    library.ingest(&folders[0]);
    let runs = sorted_runs(&library);
    assert_eq!(runs.len(), 2);
    let compared = library.json(&["compare", &runs[0], &runs[1]]);
    assert_eq!(
        (&compared["pairs"][0]["in_both"], &compared["overlaps"]),
        (&json!(0), &json!([])),
        "{compared}"
    );
    let in_cells = || {
        let matrix = library.json(&["matrix"]);
        matrix["cells"].as_array().expect("cells").iter().map(|cell| cell["n"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(in_cells(), [3, 3]);
    assert_eq!(library.json(&["failures"])["attempts"], 2);
    // The same table again has the same episodes, in runs of the same names.
    library.ingest(&folders[1]);
    assert_eq!(library.run_ids().len(), 4);
    assert_eq!(in_cells(), [3, 3]);
}

/// Of two of its episodes hardly anything was measured: they ended before the agent used a token.
#[test]
fn a_table_that_is_opened_twice_counts_once_with_episodes_that_were_hardly_measured() {
    let library = TestHome::new();
    let table = folders::fixtures().join("../../data/sample-table.csv");
    let in_cells = || {
        let matrix = library.json(&["matrix"]);
        matrix["cells"].as_array().expect("cells").iter().map(|cell| cell["n"].clone()).collect::<Vec<_>>()
    };
    for folder in ["one", "two"].map(|name| library.path(name)) {
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::copy(&table, folder.join("t.csv")).expect("a table");
        library.ingest(&folder);
        assert_eq!(in_cells(), [8, 8, 8, 8]);
    }
    assert_eq!(library.run_ids().len(), 8);
}

/// Nothing but verdicts is known of these runs, which have one name: all of an agent that does nothing are alike.
#[test]
fn runs_that_were_not_measured_are_copies_only_where_their_verdicts_tell() {
    for (passed, n) in [("0", 20), ("1", 10)] {
        let library = TestHome::new();
        for folder in ["one", "two"].map(|name| library.path(name)) {
            let mut table = "run,harness,model,scenario,turn,attempt,passed\n".to_owned();
            for scenario in 0..10 {
                let passed = if scenario == 7 { passed } else { "0" };
                writeln!(table, "run-a,agent-a,model-a,s{scenario},1,1,{passed}").expect("to write");
            }
            std::fs::create_dir(&folder).expect("a folder");
            std::fs::write(folder.join("t.csv"), table).expect("a table");
            library.ingest(&folder);
        }
        assert_eq!(library.json(&["matrix"])["cells"][0]["n"], n, "scenario 7: {passed}");
    }
}

#[test]
fn which_one_counts_is_shown_and_can_be_chosen() {
    let library = with_a_copy();
    let counted = |run: &str| {
        let copies = library.json(&["copies", run]);
        assert_eq!(copies["copies"][0]["trials"], 2, "{copies}");
        copies["copies"][0]["counted_in"].as_str().expect("a run").to_owned()
    };
    let in_matrix = || library.json(&["matrix"])["cells"][0]["runs"][0].as_str().expect("a run").to_owned();
    let runs = sorted_runs(&library);
    let first = counted(&runs[0]);
    assert!(first.starts_with("job-a"), "that of the source that was opened first: {first}");
    assert_eq!(in_matrix(), first);
    let other = runs.iter().find(|run| **run != first).expect("the copy").clone();
    library.json(&["copies", &other, "--count-here"]);
    let all = [counted(&runs[0]), counted(&runs[1]), in_matrix()];
    assert_eq!(all, [other.as_str(); 3]);
    library.json(&["copies", &first, "--count-here"]);
    assert_eq!(in_matrix(), first);
    // What is closed counts nowhere.
    library.json(&["close", fixture().to_str().expect("UTF-8")]);
    assert_eq!(in_matrix(), other);
    assert_eq!(library.json(&["copies", &other])["copies"].as_array().map(Vec::len), Some(0));
}

/// One library of two jobs, the second with the trials of the first and one more.
#[test]
fn files_of_a_group_have_each_trial_once() {
    let library = TestHome::new();
    let larger = library.path("job-b");
    folders::copy(&fixture(), &larger);
    let further = larger.join("y__EEEEEE3");
    folders::copy(&larger.join("y__EEEEEE2"), &further);
    for file in ["result.json", "config.json"] {
        let text = std::fs::read_to_string(further.join(file)).expect("a file of the trial");
        std::fs::write(
            further.join(file),
            text.replace("EEEEEE2", "EEEEEE3").replace("\"id-y\"", "\"id-z\""),
        )
        .expect("to change it");
    }
    library.ingest(&fixture());
    library.ingest(&larger);

    let group = library.json(&["compare", "harness:agent-a"]);
    assert_eq!(group["runs"][0]["n"], 3, "{group}");
    let table = library.path("episodes.csv");
    let file = table.to_str().expect("a name");
    library.text(&["table", "episodes", "harness:agent-a", "--out", file]);
    let rows = std::fs::read_to_string(&table).expect("the table");
    let trial_rows = rows.lines().filter(|line| line.contains("job-")).count();
    assert_eq!(trial_rows, 3, "{rows}");

    let report = library.path("report");
    library.text(&["report", "harness:agent-a", "--out", report.to_str().expect("a name")]);
    let attempts = std::fs::read_to_string(report.join("tables/attempts.csv")).expect("the table");
    assert!(attempts.contains("\nagent-a,1,3,"), "three attempts were made: {attempts}");
}

/// A trial of task `t` with this name in a job, with the reward of its result: `None` = none is written yet.
fn trial(job: &Path, name: &str, reward: Option<f64>) {
    let folder = job.join(name);
    std::fs::create_dir_all(folder.join("agent")).expect("a folder");
    let config = json!({
        "task": { "path": "tasks/t", "source": "set-a" }, "trial_name": name, "job_id": "the-job",
        "agent": { "name": "agent-a", "model_name": "vendor/model-a" },
    });
    std::fs::write(folder.join("config.json"), config.to_string()).expect("to write");
    std::fs::write(folder.join("agent/log.txt"), "It works.").expect("to write");
    let job_config = json!({
        "job_name": "job-a", "agents": [{ "name": "agent-a", "model_name": "vendor/model-a" }],
        "datasets": [{ "path": "tasks" }],
    });
    std::fs::write(job.join("config.json"), job_config.to_string()).expect("to write");
    std::fs::write(job.join("result.json"), json!({ "id": "the-job", "n_total_trials": 2 }).to_string())
        .expect("to write");
    let Some(reward) = reward else { return };
    let result = json!({
        "id": format!("id-{name}"), "task_name": "t", "trial_name": name, "source": "set-a", "config": config,
        "agent_info": { "name": "agent-a", "version": "1.0" },
        "verifier_result": { "rewards": { "reward": reward } }, "started_at": "2026-01-01T10:00:00Z",
    });
    std::fs::write(folder.join("result.json"), result.to_string()).expect("to write");
}

#[test]
fn a_trial_that_was_copied_while_it_ran_is_its_result() {
    for cut in [false, true] {
        for snapshot_first in [true, false] {
            let library = TestHome::new();
            let (early, late) = (library.path("early/job-a"), library.path("late/job-a"));
            for job in [&early, &late] {
                trial(job, "t__AAAAAA2", Some(0.0));
            }
            trial(&early, "t__AAAAAA1", None);
            if cut {
                std::fs::write(early.join("t__AAAAAA1/result.json"), "{\"id\": \"x\",").expect("to write");
            }
            trial(&late, "t__AAAAAA1", Some(1.0));
            for job in if snapshot_first { [&early, &late] } else { [&late, &early] } {
                library.ingest(job);
            }
            let matrix = library.json(&["matrix"]);
            let cell = &matrix["cells"][0];
            assert_eq!(
                (&cell["n"], &cell["mean_stamina"]["value"]),
                (&json!(2), &json!(0.5)),
                "{cut}: {matrix}"
            );
            let runs = sorted_runs(&library);
            let copies = library.json(&["copies", &runs[0]]);
            assert_eq!(copies["copies"][0]["trials"], 2, "{copies}");
        }
    }
}

#[test]
fn a_result_counts_before_a_snapshot_in_the_same_source() {
    let library = TestHome::new();
    let folder = library.path("results");
    // The names of the folders put the snapshot first.
    trial(&folder.join("job-a"), "t__AAAAAA1", None);
    trial(&folder.join("job-b"), "t__AAAAAA1", Some(1.0));
    library.ingest(&folder);
    let runs = library.json(&["runs"]);
    let n: u64 =
        runs.as_array().expect("runs").iter().map(|run| run["stamina"]["n"].as_u64().unwrap_or(0)).sum();
    let matrix = library.json(&["matrix"]);
    assert_eq!(matrix["cells"][0]["n"], 1, "{n} in {runs}: {matrix}");
    assert_eq!(matrix["cells"][0]["mean_stamina"]["value"], 1.0, "{matrix}");
}

#[test]
fn a_withdrawn_run_is_not_the_one_that_counts() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    library.text(&["withdraw", &runs[0], "--reason", "a wrong model"]);
    for run in &runs {
        let copies = library.json(&["copies", run]);
        assert_eq!(copies["copies"][0]["counted_in"], runs[1].as_str(), "{copies}");
    }
    assert_eq!(library.json(&["matrix"])["cells"][0]["runs"][0], runs[1].as_str());
    let page = library.text(&["rpc", "get_run", &format!("{{\"run\": \"{}\"}}", runs[1])]);
    assert!(page.contains("which is withdrawn (a wrong model)"), "{page}");
}

/// Ids that others give their episodes are numbers of rows: the same ones in two tables are not the same trials.
#[test]
fn tables_that_number_their_episodes_share_none() {
    let library = TestHome::new();
    for (run, passed) in [("run-a", ["1", "0"]), ("run-b", ["1", "1"])] {
        let mut table = "run,harness,model,scenario,episode_id,turn,attempt,passed\n".to_owned();
        for (id, passed) in [1, 2].into_iter().zip(passed) {
            let verdict = if passed == "1" { "true" } else { "false" };
            writeln!(table, "{run},agent-a,model-a,s{id},{id},1,1,{verdict}").expect("to write");
        }
        let folder = library.path(run);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("episodes.csv"), table).expect("to write");
        library.ingest(&folder);
    }
    for run in library.run_ids() {
        assert_eq!(library.json(&["copies", &run])["copies"].as_array().map(Vec::len), Some(0));
    }
}
