//! How fast a suite runs natively and with pytest, against the same server in the same run, as JSON:
//!
//! ```sh
//! cargo run --release -p validation --example suite_speed -- --turns 1,25,50,75,100 --rounds 5 --server reference
//! ```
//!
//! The server is the native reference (on a thread of its own) or, with `--server flask`, the generated Flask server of
//! the same schema. A round is a native run followed by a run of pytest; both are printed with the ratio of that round, and
//! the ratio of a turn is the median of its rounds. `--native-only` leaves pytest out, to profile the rest.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

#[path = "../tests/python/mod.rs"]
mod python;

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use python::{Failure, HOW_TO_GET_PYTHON, Python, Turn, find_python, native, reference, sampled};
use scenario::Seed;
use scenario::code::{flask, pytest};
use scenario::suite::Suite;
use serde_json::{Value, json};

struct Options {
    turns: Vec<u32>,
    rounds: usize,
    flask: bool,
    native_only: bool,
}

fn options() -> Result<Options, Failure> {
    let mut options =
        Options { turns: vec![1, 25, 50, 75, 100], rounds: 3, flask: false, native_only: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--native-only" {
            options.native_only = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match (name.as_str(), value.as_str()) {
            ("--turns", turns) => {
                options.turns = turns.split(',').map(str::parse).collect::<Result<_, _>>()?;
                options.turns.sort_unstable();
            }
            ("--rounds", rounds) => options.rounds = rounds.parse::<usize>()?.max(1),
            ("--server", "reference") => options.flask = false,
            ("--server", "flask") => options.flask = true,
            _ => return Err(format!("there is no {name} {value}").into()),
        }
    }
    Ok(options)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What is written, and how long the quickest of some times took.
fn written(write: impl Fn() -> String) -> (String, f64) {
    let time = |_| {
        let begun = Instant::now();
        std::hint::black_box(write());
        begun.elapsed().as_secs_f64() * 1e3
    };
    (write(), (0..20).map(time).fold(f64::INFINITY, f64::min))
}

/// Processor time of this process and of those that it waited for so far, in seconds, where the system says it (in
/// hundredths).
fn processor() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<f64>().ok()).sum::<Option<f64>>()?;
    Some(ticks / 100.0)
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let python = Python::new(find_python().ok_or(HOW_TO_GET_PYTHON)?)?;
    let mut rows = Vec::new();
    for Turn { schema, suite, .. } in sampled(Seed { base: 0, scenario: 0 }, &options.turns)? {
        let url;
        let _servers = if options.flask {
            let server = python.serve(&schema)?;
            url = server.url();
            (Some(server), None)
        } else {
            let server = reference(&schema, BTreeSet::new())?;
            url = server.url.clone();
            (None, Some(server))
        };
        let rounds: Vec<Round> = (0..options.rounds)
            .map(|_| round((!options.native_only).then_some(&python), &suite, &url))
            .collect::<Result<_, _>>()?;
        let median_of = |figure: fn(&Round) -> Option<f64>| {
            let all: Vec<f64> = rounds.iter().filter_map(figure).collect();
            if all.is_empty() { Value::Null } else { json!(median(all)) }
        };
        let (server, flask_milliseconds) = written(|| flask(&schema));
        let (tests, tests_milliseconds) = written(|| pytest(&suite));
        rows.push(json!({
            "turn": schema.turn,
            "entities": schema.entities.len(),
            "cases": suite.cases.len(),
            "requests": suite.cases.iter().map(|case| case.steps.len() + 1).sum::<usize>(),
            "flask_lines": server.lines().count(),
            "flask_milliseconds": flask_milliseconds,
            "pytest_bytes": tests.len(),
            "pytest_milliseconds": tests_milliseconds,
            "native_seconds": median_of(|round| Some(round.native)),
            "pytest_seconds": median_of(|round| Some(round.pytest?.0)),
            // Of the client and, if it is the reference, of the server.
            "native_processor_seconds": median_of(|round| round.processor),
            "pytest_processor_seconds": median_of(|round| round.pytest?.1),
            "ratio": median_of(Round::ratio),
            "ratios": rounds.iter().filter_map(Round::ratio).collect::<Vec<_>>(),
        }));
    }
    println!("{:#}", json!({ "turns": rows }));
    Ok(())
}

struct Round {
    native: f64,
    processor: Option<f64>,
    /// Seconds and processor time.
    pytest: Option<(f64, Option<f64>)>,
}

impl Round {
    fn ratio(&self) -> Option<f64> {
        Some(self.pytest?.0 / self.native)
    }
}

fn round(python: Option<&Python>, suite: &Suite, url: &str) -> Result<Round, Failure> {
    let taken = |before: Option<f64>| Some(processor()? - before?);
    let (begun, before) = (Instant::now(), processor());
    let by_native = native(suite, url)?;
    let (native, processor_of_native) = (begun.elapsed().as_secs_f64(), taken(before));
    let failed = by_native.iter().filter(|(passed, _)| !passed).count();
    if failed > 0 {
        return Err(format!("{failed} cases fail").into());
    }
    let Some(python) = python else {
        return Ok(Round { native, processor: processor_of_native, pytest: None });
    };
    let (begun, before) = (Instant::now(), processor());
    let (by_pytest, output) = python.pytest(suite, url)?;
    let pytest = (begun.elapsed().as_secs_f64(), taken(before));
    // Both do the same work, or the ratio says nothing.
    if by_pytest.len() != suite.cases.len() || by_pytest.values().any(|passed| !passed) {
        return Err(format!("pytest and the native client differ: {output}").into());
    }
    Ok(Round { native, processor: processor_of_native, pytest: Some(pytest) })
}
