//! How fast a suite runs natively and with pytest, against the same native server, as JSON:
//!
//! ```sh
//! cargo run --release -p scenario --example suite_speed
//! ```
//!
//! Per turn: seconds of both (the native one is the median of five runs) and their ratio, and what the Flask server and
//! the pytest file of the turn measure and take to write.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

#[path = "../tests/python/mod.rs"]
mod python;

use std::collections::BTreeSet;
use std::time::Instant;

use python::{Failure, HOW_TO_GET_PYTHON, Python, Turn, find_python, native, reference, sampled};
use scenario::code::{flask, pytest};
use serde_json::json;

/// What is written, and how long the quickest of some times took.
fn written(write: impl Fn() -> String) -> (String, f64) {
    let time = |_| {
        let begun = Instant::now();
        std::hint::black_box(write());
        begun.elapsed().as_secs_f64() * 1e3
    };
    (write(), (0..20).map(time).fold(f64::INFINITY, f64::min))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let python = Python::new(find_python().ok_or(HOW_TO_GET_PYTHON)?)?;
    let mut rows = Vec::new();
    for Turn { schema, suite, .. } in sampled(0, &[1, 25, 50, 75, 100])? {
        let server = reference(&schema, BTreeSet::new()).await?;
        let url = format!("http://{}", server.address);
        let (mut seconds, mut failed) = (Vec::new(), 0);
        for _ in 0..5 {
            let begun = Instant::now();
            let verdicts = native(&suite, &url).await?;
            seconds.push(begun.elapsed().as_secs_f64());
            failed = verdicts.iter().filter(|(passed, _)| !passed).count();
        }
        seconds.sort_by(f64::total_cmp);
        let native_seconds = seconds[seconds.len() / 2];
        let begun = Instant::now();
        let (verdicts, said) = tokio::task::block_in_place(|| python.pytest(&suite, &url))?;
        let pytest_seconds = begun.elapsed().as_secs_f64();
        // Both do the same work, or the ratio says nothing.
        if verdicts.len() != suite.cases.len()
            || verdicts.values().filter(|passed| !**passed).count() != failed
        {
            return Err(format!("pytest and the native client differ: {said}").into());
        }
        let (server, flask_milliseconds) = written(|| flask(&schema));
        let (tests, tests_milliseconds) = written(|| pytest(&suite));
        rows.push(json!({
            "turn": schema.turn,
            "entities": schema.entities.len(),
            "cases": suite.cases.len(),
            "failed": failed,
            "flask_lines": server.lines().count(),
            "flask_milliseconds": flask_milliseconds,
            "pytest_bytes": tests.len(),
            "pytest_milliseconds": tests_milliseconds,
            "native_seconds": native_seconds,
            "pytest_seconds": pytest_seconds,
            "ratio": pytest_seconds / native_seconds,
        }));
    }
    println!("{:#}", json!({ "turns": rows }));
    Ok(())
}
