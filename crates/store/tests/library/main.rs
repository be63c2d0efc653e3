//! The library as a whole: reading returns what was written, also after writing again, closing, purging and restoring.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod lists;
mod parts;
mod taken_out;

use model::{
    Attempt, Benchmark, Episode, Request, Run, Stamina, TestOutcome, TestResult, Turn, Verdict, Warning,
};
use store::{ParsedPart, SourceId, StaleRun, Store, Summary};

fn run(key: &str, model: &str) -> Run {
    let benchmark = Benchmark { key: "staminabench".into(), name: "StaminaBench".into() };
    Run { model: Some(model.into()), harness: Some("mini_swe".into()), ..Run::unknown(key, benchmark) }
}

fn attempt(number: u32, verdict: Verdict, passed: u32, total: u32) -> Attempt {
    let outcome = |n| if n < passed { TestOutcome::Passed } else { TestOutcome::Failed };
    let mut attempt = Attempt::new(number, verdict);
    attempt.passed = Some(passed);
    attempt.total = Some(total);
    attempt.tests =
        (0..total).map(|n| TestResult::new(format!("test_api.py::test_{n}"), outcome(n))).collect();
    for test in attempt.tests.iter_mut().filter(|test| test.is_failing()) {
        test.message = Some(format!("AssertionError: expected 201 for {}, got 404", test.id));
    }
    attempt
}

/// Passes `stamina` of `planned` turns, then fails one.
fn episode(scenario: &str, planned: u32, stamina: u32) -> Episode {
    let mut episode = Episode::new(scenario, scenario);
    episode.planned_turns = Some(planned);
    for number in 1..=planned.min(stamina + 1) {
        let mut turn = Turn::new(number);
        turn.request = Some(Request::Text(format!("Add endpoint number {number} to {scenario}.")));
        turn.attempts = if number <= stamina {
            vec![attempt(1, Verdict::Failed, 1, 4), attempt(2, Verdict::Passed, 4, 4)]
        } else {
            vec![attempt(1, Verdict::Failed, 3, 4)]
        };
        episode.turns.push(turn);
    }
    episode
}

fn put(
    store: &Store,
    source: SourceId,
    part: &str,
    stamp: u64,
    episodes: &[(&str, Episode)],
    warnings: &[Warning],
) {
    let episodes: Vec<(String, Episode)> =
        episodes.iter().map(|(run, e)| ((*run).to_owned(), e.clone())).collect();
    let part = ParsedPart { place: "", key: part, stamp, episodes: &episodes, warnings, files_read: 3 };
    store.put_part(source, &part).unwrap();
}

/// A source with one run `a` of two episodes and one run `b` of one.
fn library() -> (Store, SourceId) {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    store.put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen")]).unwrap();
    put(&store, source, "1", 1, &[("a", episode("shop", 5, 2)), ("b", episode("shop", 5, 0))], &[]);
    let warning = Warning::skipped("two/x.json", "json.truncated", "The file ends in the middle.");
    put(&store, source, "2", 2, &[("a", episode("library", 5, 5))], &[warning]);
    (store, source)
}

fn summarize(store: &Store, mean: impl Fn(&StaleRun) -> Option<f64>) {
    for stale in store.stale_runs().unwrap() {
        let summary = Summary {
            stamina: Stamina { mean: mean(&stale), tau: Some(5), ..Stamina::default() },
            score: Some(50.0),
            ..Summary::default()
        };
        store.put_summary(&stale, &summary).unwrap();
    }
}
