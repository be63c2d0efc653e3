//! Holds generated Flask servers and pytest suites against the native ones, for as many turns as is wanted:
//!
//! ```sh
//! npm run parity -- --scenarios 20 --turns 100 --every 1 --mutants 3
//! ```
//!
//! Every `--every`th turn of every scenario (or those of `--at 1,25,100`), without a fault and with `--mutants` mutants
//! each, of operators in turn: a changed schema is served by both servers, a flaw of the reference by the reference only.
//! `--seed` is the base seed of the scenarios, by default 0.
//! Ends with a failure if a verdict differs anywhere, or a case fails on a server without a fault. The command gets a
//! Python with Flask, pytest and requests first; with one in `STAMINA_PYTHON`, `cargo run --release -p validation --example
//! parity` is the same.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

#[path = "../tests/python/mod.rs"]
mod python;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;

use python::{Failure, HOW_TO_GET_PYTHON, Python, compare, find_python, mutants, sampled};
use scenario::Seed;

struct Size {
    seed: u64,
    scenarios: u32,
    /// In rising order.
    turns: Vec<u32>,
    mutants: usize,
}

fn size() -> Result<Size, Failure> {
    let (mut seed, mut scenarios, mut turns, mut every, mut mutants, mut cell_path) =
        (0, 20, 100, 1, 3, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--seed" => seed = value.parse()?,
            "--scenarios" => scenarios = value.parse()?,
            "--turns" => turns = value.parse()?,
            "--every" => every = value.parse::<u32>()?.max(1),
            "--at" => cell_path = Some(value.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?),
            "--mutants" => mutants = value.parse()?,
            _ => return Err(format!("there is no option {name}").into()),
        }
    }
    let every_so_many = || (1..=turns).filter(|turn| *turn == 1 || turn % every == 0).collect();
    let mut turns: Vec<u32> = cell_path.unwrap_or_else(every_so_many);
    turns.sort_unstable();
    Ok(Size { seed, scenarios, turns, mutants })
}

fn main() -> Result<ExitCode, Failure> {
    let size = size()?;
    let python = Python::new(find_python().ok_or(HOW_TO_GET_PYTHON)?)?;
    let (mut servers, mut cases, mut wrong) = (0, 0, 0);
    let mut operators = BTreeMap::new();
    let mut on_flask = BTreeSet::new();
    for scenario in 0..size.scenarios {
        for turn in sampled(Seed { base: size.seed, scenario }, &size.turns)? {
            let mut served = vec![(None, Arc::clone(&turn.schema), BTreeSet::new())];
            for mutant in mutants(&turn, size.mutants, &mut operators) {
                let label = format!("{} at {}", mutant.operator.name(), mutant.site);
                if mutant.flaws.is_empty() {
                    on_flask.insert(mutant.operator.name());
                }
                served.push((Some(label), mutant.schema, mutant.flaws));
            }
            for (fault, schema, flaws) in served {
                let agreement = compare(&python, &schema, &flaws, &turn.suite)?;
                servers += 1;
                cases += agreement.cases;
                println!(
                    "scenario {scenario}, turn {}, {}: {} cases, {} fail, {} differ",
                    turn.schema.turn,
                    fault.as_deref().unwrap_or("no fault"),
                    agreement.cases,
                    agreement.failed.len(),
                    agreement.differ.len()
                );
                // On a server without a fault a case that fails everywhere is wrong as well.
                let unwanted = if fault.is_none() { agreement.failed.as_slice() } else { &[] };
                let faults: Vec<&String> = agreement.differ.iter().chain(unwanted).collect();
                wrong += faults.len();
                for fault in faults.iter().take(10) {
                    eprintln!("  {fault}");
                }
                if !faults.is_empty() {
                    eprintln!("{}", agreement.output);
                }
            }
        }
    }
    println!("{} operators on both servers: {}", on_flask.len(), joined(on_flask.iter().copied()));
    let rest = operators.iter().filter(|(name, times)| **times > 0 && !on_flask.contains(*name));
    println!("On the reference only: {}", joined(rest.map(|(name, _)| *name)));
    println!("{servers} servers, {cases} cases: {wrong} wrong");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn joined<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
