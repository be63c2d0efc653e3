//! Runs from the command line: the real program plays the mock agent with the simulated model, without an engine.

mod app_runs;
mod before;
mod library;
mod output;
mod playing;
mod resumes;
mod stops;

use std::path::Path;

use serde_json::Value;

use crate::app::text;

/// Arguments of a run of so many scenarios and turns into `results`.
fn small(scenarios: u32, turns: u32) -> Vec<String> {
    [
        "run".to_owned(),
        "--json".to_owned(),
        "--values".to_owned(),
        "agent=MOCK".to_owned(),
        "output_dir=results".to_owned(),
        format!("restful_server_gen_iterative.n_scenarios={scenarios}"),
        format!("restful_server_gen_iterative.n_turns={turns}"),
        "restful_server_gen_iterative.num_changes_per_turn=1".to_owned(),
        "restful_server_gen_iterative.base_seed=7".to_owned(),
    ]
    .to_vec()
}

fn with_args(mut args: Vec<String>, more: &[&str]) -> Vec<String> {
    args.extend(more.iter().map(|&arg| arg.to_owned()));
    args
}

fn refs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

fn events(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).expect("an event a line")).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

fn attempts_of(folder: &Path) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).expect("a trajectory");
    let trajectory: Value = serde_json::from_str(&text).expect("JSON");
    trajectory["turns"]
        .as_array()
        .expect("turns")
        .iter()
        .flat_map(|turn| {
            let number = turn["turn"].as_u64().expect("its number");
            turn["attempts"]
                .as_array()
                .expect("attempts")
                .iter()
                .map(move |a| (number, a["attempt"].as_u64().expect("its number")))
        })
        .collect()
}
