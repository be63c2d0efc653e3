//! Writes a synthetic library of results, for benchmarks, tests and pictures:
//!
//! ```text
//! synthesize [--small | --varied] [--runs N] [--scenarios N] [--turns N] [--seed N] [--threads N] FOLDER
//! ```
//!
//! Without options 42 runs of 20 scenarios of 100 turns, about 3 GB in a million files; `--small` is 2 × 5 × 20. `--varied`
//! is 13 runs of 25 scenarios of 5 to 15 turns, uneven as published results are. The same options give the same bytes. Prints what was made as JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it does")]

mod chance;
mod course;
mod library;
mod logs;
mod scenario;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;

use library::Size;

fn main() -> ExitCode {
    let outcome = arguments(std::env::args().skip(1)).and_then(|(folder, size)| {
        if folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(format!("{} is not empty", folder.display()));
        }
        library::write(&folder, size).map_err(|e| format!("{}: {e}", folder.display()))
    });
    match outcome {
        Ok(outcome) => {
            let library::Counts { runs, episodes, turns, attempts, files, bytes, folders } = outcome;
            println!(
                "{{\"runs\": {runs}, \"episodes\": {episodes}, \"turns\": {turns}, \"attempts\": {attempts}, \"files\": {files}, \"folders\": {folders}, \"bytes\": {bytes}}}"
            );
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<(PathBuf, Size), String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut size = Size { runs: 42, scenarios: 20, turns: 100, varied: false, seed: 42, threads };
    let mut folder = None;
    while let Some(argument) = words.next() {
        let mut number = |least: u64| {
            let value = words.next().and_then(|text| text.parse::<u64>().ok()).filter(|n| *n >= least);
            value.ok_or_else(|| format!("{argument} takes a number from {least}"))
        };
        match argument.as_str() {
            "--small" => size = Size { runs: 2, scenarios: 5, turns: 20, ..size },
            "--varied" => size = Size { runs: 13, scenarios: 25, turns: 15, varied: true, ..size },
            "--runs" => size.runs = number(1)? as usize,
            "--scenarios" => size.scenarios = number(1)? as usize,
            "--turns" => size.turns = number(1)? as usize,
            "--seed" => size.seed = number(0)?,
            "--threads" => size.threads = number(1)? as usize,
            _ if argument.starts_with('-') || folder.is_some() => {
                return Err(format!("{argument} is not understood"));
            }
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    Ok((folder.ok_or("Name the folder to write")?, size))
}
