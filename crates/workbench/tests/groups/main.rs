//! Runs made by hand: groups and what they pool, runs in two members, sums of which a part is unknown, and failing tests
//! with the turn in which they passed before.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod comparable;
mod failing_tests;
mod horizons;
mod spending;
mod tables;

use std::path::Path;

use workbench::api::{AnnotateRuns, CompareRequest, Comparison, Member, Pairs};

use crate::library::Library;

/// An attempt at a turn: the outcomes of its tests, and what is known of its use.
#[derive(Clone, Copy)]
struct Try {
    outcomes: &'static str,
    cost: Option<f64>,
    tokens: Option<u64>,
    calls: Option<u32>,
    steps: Option<u32>,
}

const PASSED: Try = Try { outcomes: "..", cost: Some(1.0), tokens: Some(10), calls: Some(2), steps: Some(3) };
const FAILED: Try = Try { outcomes: ".F", ..PASSED };

/// A run to be written: name, harness, model, hash of its pack, and for each scenario its turns with their attempts.
struct Given<'a> {
    name: &'a str,
    harness: &'a str,
    model: &'a str,
    pack: Option<&'a str>,
    attempt_limit: u32,
    scenarios: &'a [&'a [&'a [Try]]],
}

const fn given<'a>(
    name: &'a str,
    harness: &'a str,
    model: &'a str,
    scenarios: &'a [&'a [&'a [Try]]],
) -> Given<'a> {
    Given { name, harness, model, pack: None, attempt_limit: 3, scenarios }
}

fn write(folder: &Path, run: &Given<'_>) {
    let place = folder.join(run.name);
    for (number, turns) in run.scenarios.iter().enumerate() {
        let turns: Vec<String> = (1..)
            .zip(*turns)
            .map(|(turn, attempts)| {
                let attempts: Vec<String> =
                    (1..).zip(*attempts).map(|(number, attempt)| written(number, attempt)).collect();
                format!(
                    r#"{{"turn": {turn}, "tests": ["t::one", "t::two"], "attempts": [{}]}}"#,
                    attempts.join(", ")
                )
            })
            .collect();
        let text = format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "finished_at": "2026-06-01T10:00:00Z", "turns": [{}]}}"#,
            turns.join(", ")
        );
        let scenario = place.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).unwrap();
        std::fs::write(scenario.join("trajectory.json"), text).unwrap();
    }
    let pack = run.pack.map_or("null".to_owned(), |hash| format!("\"{hash}\""));
    let report = format!(
        r#"{{"schema_version": "stamina-lab/1", "agent": "x", "benchmark": "restful_server_gen_iterative", "num_tasks": {},
            "run": {{"harness": "{}", "model": "{}", "runner": "Stamina Lab", "attempt_limit": {}, "pack_sha256": {pack},
                    "started_at": "2026-06-01T0{}:00:00Z"}}}}"#,
        run.scenarios.len(),
        run.harness,
        run.model,
        run.attempt_limit,
        run.name.len()
    );
    std::fs::write(place.join("report.json"), report).unwrap();
}

fn written(number: u32, attempt: &Try) -> String {
    let verdict = if attempt.outcomes.contains('F') { "failed" } else { "passed" };
    let passed = attempt.outcomes.matches('.').count();
    let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let tokens = attempt.tokens.map(|n| format!(r#"{{"input": {n}, "output": {n}}}"#));
    format!(
        r#"{{"attempt": {number}, "verdict": "{verdict}", "passed": {passed}, "total": {}, "outcomes": "{}", "tokens": {},
            "cost_usd": {}, "tool_calls": {}, "model_requests": {}}}"#,
        attempt.outcomes.len(),
        attempt.outcomes,
        or_null(tokens),
        or_null(attempt.cost.map(|n| n.to_string())),
        or_null(attempt.calls.map(|n| n.to_string())),
        or_null(attempt.steps.map(|n| n.to_string())),
    )
}

fn library(runs: &[Given<'_>]) -> (tempfile::TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    for run in runs {
        write(&folder.path().join("lab"), run);
    }
    let library = Library::new(&[folder.path().join("lab")]);
    (folder, library)
}

impl Library {
    fn compared(&self, members: Vec<Member>, pairs: Pairs) -> Comparison {
        let request = CompareRequest { members, pairs, ..CompareRequest::default() };
        self.workbench.compare_runs(request).unwrap()
    }

    fn tag(&self, tag: &str, runs: &[&str]) -> Member {
        let runs = runs.iter().map(|run| format!("lab.{run}")).collect();
        let annotate = AnnotateRuns { runs, add_tags: vec![tag.into()], remove_tags: vec![], note: None };
        self.workbench.annotate(annotate).unwrap();
        Member::Tag { tag: tag.into(), benchmark: String::new() }
    }
}
