//! Runs that were copied while they were played, or before they were resumed.

use std::path::Path;

use serde_json::{Value, json};

use super::sorted_runs;
use crate::app::TestHome;
use crate::folders;

/// The mean stamina and the number of episodes of the one cell of a matrix, and what a run shares with another.
fn pooled(library: &TestHome) -> (Value, Value, Value) {
    let matrix = library.json(&["matrix"]);
    let run = &sorted_runs(library)[0];
    let copies = library.json(&["copies", run]);
    let cell = &matrix["cells"][0];
    (cell["n"].clone(), cell["mean_stamina"]["value"].clone(), copies["copies"][0]["trials"].clone())
}

/// Libraries of an early and a late copy of a run, once for each order in which they can be opened.
fn early_and_late_libraries(early: impl Fn(&Path), late: impl Fn(&Path)) -> Vec<(TestHome, String)> {
    let libraries = [true, false].into_iter().map(|early_first| {
        let library = TestHome::new();
        let places = ["early/run-a", "late/run-a"].map(|place| library.path(place));
        early(&places[0]);
        late(&places[1]);
        let order = if early_first { [0, 1] } else { [1, 0] };
        for folder in order {
            library.ingest(&places[folder]);
        }
        (library, format!("the early one first: {early_first}"))
    });
    libraries.collect()
}

/// A run of `tb` of one task with two trials, of which the second has a result or none yet. A resume gives it another `uuid`.
fn run_of_tb(results_folder: &Path, second: Option<bool>, uuid: &str) {
    std::fs::create_dir_all(results_folder).expect("a folder");
    let metadata = json!({
        "run_id": "run-a", "uuid": uuid, "agent_name": "agent-a",
        "model_name": "vendor/model-a", "dataset_name": "set-a", "dataset_size": 1, "n_attempts": 2,
    });
    std::fs::write(results_folder.join("run_metadata.json"), metadata.to_string()).expect("to write");
    for (attempt, resolved) in [(1, Some(false)), (2, second)] {
        let name = format!("task-a.{attempt}-of-2.run-a");
        let folder = results_folder.join("task-a").join(&name);
        std::fs::create_dir_all(folder.join("panes")).expect("a folder");
        std::fs::write(folder.join("panes/pre-agent.txt"), "$").expect("to write");
        let Some(resolved) = resolved else { continue };
        let result = json!({
            "id": format!("id-{attempt}"), "trial_name": name, "task_id": "task-a", "is_resolved": resolved,
            "failure_mode": "unset", "parser_results": { "test_one": if resolved { "passed" } else { "failed" } },
            "trial_started_at": "2026-01-02T10:00:00.5+00:00", "agent_started_at": "2026-01-02T10:00:01.5+00:00",
        });
        std::fs::write(folder.join("results.json"), result.to_string()).expect("to write");
    }
}

const BEGUN: &str = "7d0e4c1e-5f57-4a3c-9a57-0c9f3f1b2a10";
const RESUMED: &str = "0b6c62a7-3d0b-4d0e-8f5a-52c1c0a9e7d4";

#[test]
fn a_run_of_tb_that_was_copied_while_it_ran_is_its_result() {
    for uuid in [BEGUN, RESUMED] {
        for (library, order) in early_and_late_libraries(
            |folder| run_of_tb(folder, None, BEGUN),
            |folder| run_of_tb(folder, Some(true), uuid),
        ) {
            assert_eq!(pooled(&library), (json!(2), json!(0.5), json!(2)), "{uuid}, {order}");
        }
    }
}

/// A run of which every trial has ended is resumed, too: what is there stays, and the run has another id.
#[test]
fn a_run_of_tb_and_what_a_resume_made_of_it_are_one() {
    let at_the_end = |uuid: &'static str| move |folder: &Path| run_of_tb(folder, Some(true), uuid);
    for (library, order) in early_and_late_libraries(at_the_end(BEGUN), at_the_end(RESUMED)) {
        assert_eq!(pooled(&library), (json!(2), json!(0.5), json!(2)), "{order}");
    }
}

/// Two runs of one name, each with its own results, are two: nothing of them is the same.
#[test]
fn runs_of_tb_of_one_name_are_not_the_same() {
    let with_other_ids = |folder: &Path| {
        run_of_tb(folder, Some(true), RESUMED);
        for attempt in [1, 2] {
            let path = folder.join(format!("task-a/task-a.{attempt}-of-2.run-a/results.json"));
            let text = std::fs::read_to_string(&path).expect("a result");
            std::fs::write(&path, text.replace("\"id-", "\"other-")).expect("to write");
        }
    };
    for (library, order) in early_and_late_libraries(|folder| run_of_tb(folder, None, BEGUN), with_other_ids)
    {
        for run in library.run_ids() {
            assert_eq!(library.json(&["copies", &run])["copies"], json!([]), "{order}");
        }
    }
}

/// The first `turns` turns of a trajectory of others: the second is solved at its second attempt.
fn scenario_of_others(run: &Path, turns: usize) {
    let attempt = |turn: u32, attempt: u32, success: bool| {
        json!({
            "attempt": attempt, "success": success, "passed": u32::from(success), "total": 1,
            "started_at": format!("2026-01-02T1{turn}:0{attempt}:00.125Z"),
            "usage": { "input_tokens": 900 + turn, "output_tokens": 40 },
        })
    };
    let all = [
        json!({ "turn": 1, "attempts": [attempt(1, 1, true)] }),
        json!({ "turn": 2, "attempts": [attempt(2, 1, false), attempt(2, 2, true)] }),
        json!({ "turn": 3, "attempts": [attempt(3, 1, true)] }),
    ];
    let mut content: Vec<Value> = all[..turns].to_vec();
    if turns == 2 {
        content[1]["attempts"].as_array_mut().expect("attempts").truncate(1);
    }
    let folder = run.join("scenario_0");
    std::fs::create_dir_all(&folder).expect("a folder");
    let config = "agent: MINI_SWE\nmodel: vendor/model-a\nrestful_server_gen_iterative:\n  n_turns: 3\n";
    std::fs::write(run.join("config.yaml"), config).expect("to write");
    let trajectory = json!({ "n_turns": 3, "turns": content });
    std::fs::write(folder.join("trajectory.json"), trajectory.to_string()).expect("to write");
}

/// A copy that was made between two attempts of a turn says that the turn failed; the longer one knows better.
#[test]
fn a_scenario_that_was_copied_while_it_was_played_is_the_finished_one() {
    for turns in [1, 2] {
        for (library, order) in early_and_late_libraries(
            |folder| scenario_of_others(folder, turns),
            |folder| scenario_of_others(folder, 3),
        ) {
            assert_eq!(pooled(&library), (json!(1), json!(3.0), json!(1)), "{turns}, {order}");
        }
    }
}

/// A run of Stamina Lab as today's version writes it: it has an id.
pub(super) fn own_run(folder: &Path) {
    folders::copy(&folders::fixtures().join("staminabench/own"), folder);
    let path = folder.join("report.json");
    let mut report: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a report")).expect("JSON");
    report["run"]["run_id"] = json!("9c2b1f4e-0000-4000-8000-6d1f6a0f2c11");
    std::fs::write(&path, report.to_string()).expect("to write");
}

/// The same run before the first turn of its first scenario ended.
fn own_run_that_has_begun(folder: &Path) {
    own_run(folder);
    let path = folder.join("scenario_0/trajectory.json");
    let mut content: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a trajectory")).expect("JSON");
    for key in ["finished_at", "end_reason"] {
        content[key] = Value::Null;
    }
    content["turns"] = json!([]);
    std::fs::write(&path, content.to_string()).expect("to write");
}

/// The matrix of a run of Stamina Lab without copies.
fn right() -> Value {
    let whole = TestHome::new();
    let run = whole.path("run-a");
    own_run(&run);
    whole.ingest(&run);
    whole.json(&["matrix"])
}

/// Runs of Stamina Lab have an id, so copies are known from the first turn on.
#[test]
fn a_run_that_was_copied_while_it_ran_is_the_finished_one() {
    let right = right();
    for (library, order) in early_and_late_libraries(own_run_that_has_begun, own_run) {
        let matrix = library.json(&["matrix"]);
        for field in ["n", "mean_stamina"] {
            assert_eq!(matrix["cells"][0][field], right["cells"][0][field], "{field}, {order}");
        }
        let copies = library.json(&["copies", &sorted_runs(&library)[0]]);
        assert_eq!(copies["copies"][0]["trials"], right["cells"][0]["n"], "{copies}");
    }
}

/// The folder of a scenario does not say of which run it is, nor whose.
#[test]
fn a_scenario_folder_without_its_run_belongs_to_that_run() {
    let right = right();
    let alone = |folder: &Path| {
        let fixture = folders::fixtures().join("staminabench/own/scenario_0");
        folders::copy(&fixture, &folder.join("scenario_0"));
    };
    for (library, order) in early_and_late_libraries(alone, own_run) {
        let matrix = library.json(&["matrix"]);
        assert_eq!(matrix["cells"].as_array().map(Vec::len), Some(1), "{order}: {matrix}");
        for field in ["n", "mean_stamina", "harness"] {
            assert_eq!(matrix["cells"][0][field], right["cells"][0][field], "{field}, {order}");
        }
        let shared: Vec<Value> = library
            .run_ids()
            .iter()
            .map(|run| library.json(&["copies", run])["copies"][0]["trials"].clone())
            .collect();
        assert_eq!(shared, [1, 1], "{order}");
    }
}
