//! What the runner itself costs: its own seconds an attempt, and whether its memory grows.
//!
//! `runner_cost [EPISODES TURNS [local|docker [AT_ONCE]]]` plays that many episodes, 20 at once (100 × 10 without containers, if
//! nothing is said), with the mock agent and the simulated model, on a pack with short suites, and prints one JSON object.
//! Suites are short because what tests cost is not the runner's. An agent's conversation grows with its turns and passes
//! through the gateway, and the simulated model, with every request: so memory is that of the longest conversations at once,
//! and a run of many short episodes tells what the runner itself keeps.

#![allow(clippy::print_stdout, reason = "a measuring program prints what it measured")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use runner::Event;
use scenario::ir::Schema;
use scenario::pack::{Options, Pack, Part, Target, generate};
use serde_json::{Value, json};

/// Episodes at once, where nothing is said.
const AT_ONCE: u32 = 20;
/// Cases that are left of each suite.
const CASES: usize = 10;

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("serve-reference") => serve(&arguments),
        _ => measure(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What serves a schema where there are no containers, on the socket that is standard input.
fn serve(arguments: &[String]) -> Result<(), Error> {
    let value = |name: &str| {
        let index = arguments.iter().position(|argument| argument == name);
        index.and_then(|index| arguments.get(index + 1)).ok_or_else(|| format!("{name} is missing"))
    };
    let schema = Schema::from_yaml(&std::fs::read_to_string(value("--schema")?)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let _serving = scenario::reference::serve_on_stdin(world)?;
        std::future::pending::<Result<(), Error>>().await
    })
}

fn measure(arguments: &[String]) -> Result<(), Error> {
    let number =
        |position: usize, default: u32| arguments.get(position).map_or(Ok(default), |text| text.parse());
    let (episodes, turns, at_once) = (number(0, 100)?, number(1, 10)?, number(3, AT_ONCE)?);
    let docker = arguments.get(2).is_some_and(|word| word == "docker");
    let room = std::env::temp_dir().join(format!("stamina-runner-cost-{}", std::process::id()));
    std::fs::create_dir_all(&room)?;
    let measured = played(&room, episodes, turns, docker, at_once.min(episodes));
    let _ = std::fs::remove_dir_all(&room);
    println!("{}", measured?);
    Ok(())
}

#[derive(Default)]
struct Costs {
    own: Vec<f64>,
    /// Turns begun, and bytes of memory then.
    memory: Vec<(usize, u64)>,
    turns: usize,
}

fn played(room: &Path, episodes: u32, turns: u32, docker: bool, at_once: u32) -> Result<Value, Error> {
    let pack = room.join("pack");
    make_pack(&pack, episodes, turns)?;
    let values = [
        "agent=MOCK".to_owned(),
        format!("output_dir={}", room.join("run").display()),
        format!("scenarios_dir={}", pack.display()),
        format!("use_docker={docker}"),
        format!("batch_size={at_once}"),
        "keep_snapshots=2".to_owned(),
    ];
    let settings = runner::settings::resolve(&[], &values)?;
    let costs = Arc::new(Mutex::new(Costs::default()));
    let kept_costs = costs.clone();
    let every = (episodes * turns / 20).max(1) as usize;
    let on_event: runner::OnEvent = Arc::new(move |event| {
        let Ok(mut costs) = kept_costs.lock() else { return };
        match event {
            Event::Attempt { own_seconds, .. } => costs.own.push(*own_seconds),
            Event::Turn { .. } => {
                costs.turns += 1;
                if costs.turns % every == 0 {
                    let turns = costs.turns;
                    costs.memory.push((turns, memory()));
                }
            }
            _ => {}
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let started = Instant::now();
    let finish = runtime.block_on(runner::run(settings, on_event))?;
    let seconds = started.elapsed().as_secs_f64();
    let mut costs = costs.lock().map_err(|_| "a thread of the run has failed")?;
    costs.own.sort_by(f64::total_cmp);
    let quantile =
        |share: f64| costs.own.get((costs.own.len() as f64 * share) as usize).or(costs.own.last()).copied();
    Ok(json!({
        "containers": if docker { "docker" } else { "none" },
        "finish": finish,
        "episodes": episodes,
        "at_once": at_once,
        "turns": costs.turns,
        "attempts": costs.own.len(),
        "seconds": seconds,
        "own_seconds_median": quantile(0.5),
        "own_seconds_p95": quantile(0.95),
        "own_seconds_most": quantile(1.0),
        "memory_bytes_by_turn": costs.memory,
    }))
}

/// A pack with short suites.
fn make_pack(path: &Path, episodes: u32, turns: u32) -> Result<(), Error> {
    let generation = scenario::config::Generation {
        n_scenarios: episodes,
        n_turns: turns,
        ..scenario::config::Generation::default()
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let target = Target::Folder(path.to_owned());
    generate(
        &generation,
        &scenario::sample::ProgrammaticSampler,
        &target,
        &Options::default(),
        &|_| {},
        &stop,
    )?;
    let pack = Pack::open_path(path)?;
    for scenario in 0..episodes {
        // Files refer to those of earlier turns: all are read before one is replaced.
        let suites = (1..=turns).map(|turn| pack.suite(scenario, turn)).collect::<Result<Vec<_>, _>>()?;
        for mut suite in suites {
            suite.cases.truncate(CASES);
            let file = path.join(pack.path(scenario, suite.turn, Part::Suite)?);
            std::fs::write(file, suite.to_json()?)?;
        }
    }
    Ok(())
}

/// Resident bytes of this process (proc(5), statm counts pages of 4 KiB on the machines that this runs on).
fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
