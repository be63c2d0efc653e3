//! Tasks of Harbor that were played here without the internet: the run says that published results had it.

use std::fs;

use serde_json::json;

use crate::app::TestHome;
use crate::folders::fixtures;

const NOTE: &str = "without the internet (limits.network=gateway); published results of such tasks had it";

/// How often the page of the only run, and `stamina show`, have the note.
fn count_notes(home: &TestHome) -> [usize; 2] {
    let ids = home.run_ids();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let page = home.json(&["rpc", "get_run", &json!({ "run": ids[0] }).to_string()]);
    [page["caveats"].to_string(), home.text(&["show", &ids[0]])].map(|text| text.matches(NOTE).count())
}

#[test]
fn a_run_of_tasks_without_the_internet_says_that_published_results_had_it() {
    for (benchmark, network, expected) in [
        ("HARBOR", Some("gateway"), [1, 1]),
        ("HARBOR", Some("open"), [0, 0]),
        // It is unknown.
        ("HARBOR", None, [0, 0]),
        ("RESTFUL_SERVER_GEN_ITERATIVE", Some("gateway"), [0, 0]),
    ] {
        let home = TestHome::new();
        let run = home.path("lab/run");
        let scenario = run.join("scenario_0");
        fs::create_dir_all(&scenario).expect("a folder");
        let mut trajectory = json!({
            "schema_version": "stamina-lab/1", "scenario": "scenario_0", "planned_turns": 2, "attempt_limit": 1,
            "turns": [{ "turn": 1, "tests": [], "attempts": [
                { "attempt": 1, "verdict": "failed", "success": false, "passed": 0, "total": 1, "end_reason": "tests_failed" }
            ] }],
            "finished_at": "2026-11-01T00:00:00Z",
        });
        if benchmark == "HARBOR" {
            trajectory["task"] = "parser".into();
        }
        let report = json!({
            "schema_version": "stamina-lab/1", "agent": "x", "benchmark": benchmark, "num_tasks": 1,
            "run": { "harness": "h", "model": "m", "runner": "Stamina Lab", "data_set": "tasks", "attempt_limit": 1 },
        });
        let network = network.map_or_else(String::new, |network| format!("limits:\n  network: {network}\n"));
        let config = format!("agent: X\nbenchmark: {benchmark}\n{network}");
        for (path, text) in [
            (run.join("config.yaml"), config),
            (run.join("report.json"), report.to_string()),
            (scenario.join("trajectory.json"), trajectory.to_string()),
        ] {
            fs::write(path, text).expect("written");
        }
        home.ingest(&run);
        assert_eq!(count_notes(&home), expected, "{benchmark} {network}");
    }
    // Harbor has a network of its own.
    let home = TestHome::new();
    home.ingest(&fixtures().join("harbor/jobs/nop-k1"));
    assert_eq!(count_notes(&home), [0, 0]);
}
