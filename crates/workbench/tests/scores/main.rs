//! Scores of turns: equal on every page and in every file, refused where they are not to be had, and, of EvoCode-Bench's
//! published results, those of an independent calculation.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; what a file states is what was computed"
)]

mod pages;
mod published;
mod rounds;
mod tidy_tables;

use std::path::Path;

use workbench::api::{CompareRequest, ListRuns, RunRow, TurnScores};

use crate::library::{Library, members};

fn runs(library: &Library) -> Vec<RunRow> {
    library.workbench.list_runs(ListRuns::default()).unwrap().rows
}

fn compared_runs(runs: &[&str]) -> CompareRequest {
    CompareRequest { members: members(runs), ..CompareRequest::default() }
}

/// The scores of a run as a comparison has them.
fn compared(library: &Library, run: &str) -> Option<TurnScores> {
    library.workbench.compare_runs(compared_runs(&[run])).unwrap().members.remove(0).scores
}

/// A library of one tidy table.
fn table(text: &str) -> (Library, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(&path, text).unwrap();
    (Library::new(&[path]), folder)
}

/// A run of tasks of Harbor in our own layout: of each task its rounds, of each round its tries, `1` = passed.
fn write_tasks(folder: &Path, protocol: &str, day: u32, tasks: &[(&str, &[&str])]) {
    let config = format!(
        "agent: MINI_SWE\nbenchmark: HARBOR\nrestore_before_try: true\nmini_swe:\n  model: m\nharbor:\n  protocol: {protocol}\n  attempt_limit: 4\n"
    );
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("config.yaml"), config).unwrap();
    for (number, (task, rounds)) in tasks.iter().enumerate() {
        let time = |second: usize| format!("2026-01-{day:02}T10:{number:02}:{second:02}.250Z");
        let turns: Vec<serde_json::Value> = (1..)
            .zip(*rounds)
            .map(|(turn, tries)| {
                let attempts: Vec<serde_json::Value> = (1..)
                    .zip(tries.bytes())
                    .map(|(attempt, passed)| {
                        let (verdict, reward) =
                            if passed == b'1' { ("passed", 1.0) } else { ("failed", 0.0) };
                        serde_json::json!({
                            "attempt": attempt, "verdict": verdict, "reward": reward,
                            "started_at": time(turn), "finished_at": time(turn),
                        })
                    })
                    .collect();
                serde_json::json!({ "turn": turn, "step": format!("round-{turn}"), "attempts": attempts })
            })
            .collect();
        let rest = serde_json::json!({
            "planned_turns": 3, "attempt_limit": 4, "started_at": time(0), "finished_at": time(59), "task": task, "turns": turns,
        });
        let protocol = if protocol == "sr" { "\"protocol\": \"sr\"," } else { "" };
        let text = format!(
            "{{\"schema_version\": \"stamina-lab/1\", {protocol}{}",
            rest.to_string().trim_start_matches('{')
        );
        let scenario = folder.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).unwrap();
        std::fs::write(scenario.join("trajectory.json"), text).unwrap();
    }
}
