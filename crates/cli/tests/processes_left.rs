//! Verdicts that processes of the agent could write, and that no second verification confirms, are counted where the numbers of
//! the run stand.

use std::fs;

use serde_json::json;

use crate::app::TestHome;

/// A run of one's own at two tasks of two steps; of each step the verdict, and what a second verification came to.
fn own_run(home: &TestHome, benchmark: &str) {
    let run = home.path("lab/run");
    let episodes = [
        [("passed", "same_verdict"), ("passed", "unconfirmed")],
        [("passed", "unconfirmed"), ("failed", "other_verdict")],
    ];
    for (number, steps) in episodes.iter().enumerate() {
        let turns: Vec<serde_json::Value> = (1..)
            .zip(steps)
            .map(|(turn, (verdict, left))| {
                let passed = *verdict == "passed";
                let end = (!passed).then_some("tests_failed");
                json!({ "turn": turn, "tests": [], "attempts": [{
                    "attempt": 1, "verdict": verdict, "success": passed, "end_reason": end, "reward": f64::from(u8::from(passed)),
                    "processes_left": left,
                }] })
            })
            .collect();
        let task = if benchmark == "HARBOR" { format!(r#""task":"task-{number}","#) } else { String::new() };
        // The version stands first.
        let trajectory = format!(
            r#"{{"schema_version":"stamina-lab/1",{task}"scenario":"scenario_{number}","planned_turns":2,"attempt_limit":1,"turns":{},"finished_at":"2026-11-01T00:00:00Z"}}"#,
            json!(turns)
        );
        let scenario = run.join(format!("scenario_{number}"));
        fs::create_dir_all(&scenario).expect("a folder");
        fs::write(scenario.join("trajectory.json"), trajectory).expect("written");
    }
    let report = json!({
        "schema_version": "stamina-lab/1", "agent": "x", "benchmark": benchmark, "num_tasks": 2,
        "run": { "harness": "h", "model": "m", "runner": "Stamina Lab", "data_set": "tasks", "attempt_limit": 1 },
    });
    fs::write(run.join("report.json"), report.to_string()).expect("written");
    fs::write(run.join("config.yaml"), format!("agent: X\nbenchmark: {benchmark}\n")).expect("written");
    home.ingest(&run);
}

#[test]
fn verdicts_of_processes_that_an_agent_left_are_doubts_of_its_run() {
    let doubts = [
        "1 attempt came to other results without processes that the agent left",
        "2 attempts may have the verdict of processes that the agent left",
    ];
    let note = "In 3 attempts the agent left processes that could write the verdict";
    for (benchmark, is_stated) in [("HARBOR", true), ("RESTFUL_SERVER_GEN_ITERATIVE", false)] {
        let home = TestHome::new();
        own_run(&home, benchmark);
        let run = home.run_ids().remove(0);
        let listed = home.json(&["runs"])[0]["doubts"].to_string();
        let page = home.json(&["rpc", "get_run", &json!({ "run": run }).to_string()])["caveats"].to_string();
        let [table, shown] = [home.text(&["runs"]), home.text(&["show", &run])];
        for doubt in doubts {
            for text in [&listed, &page, &table, &shown] {
                assert_eq!(text.contains(doubt), is_stated, "{benchmark}: {doubt}: {text}");
            }
        }
        for text in [&page, &shown] {
            assert_eq!(text.contains(note), is_stated, "{benchmark}: {text}");
        }
    }
}
