//! How long a comparison takes: 8 runs × 20 episodes × 100 turns, all pairs and against a baseline, with the bootstrap.
//!
//!     cargo run --release -p analysis --example compare_speed
#![allow(clippy::print_stdout, reason = "it is there to print")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use analysis::bootstrap::Resampling;
use analysis::clusters::InScenario;
use analysis::compare::{CompareOptions, ComparedRun, Pairs, compare};
use analysis::survival::Observation;

const RUNS: u32 = 8;
const EPISODES: u32 = 20;
const TURNS: u32 = 100;

fn main() {
    let runs: Vec<Vec<InScenario>> = (0..RUNS).map(episodes).collect();
    let compared: Vec<ComparedRun<'_>> =
        runs.iter().map(|r| ComparedRun { episodes: r, planned: Some(TURNS) }).collect();
    println!("{RUNS} runs × {EPISODES} episodes × {TURNS} turns, 2,000 resamples; fastest and median of 41");
    for threads in [1, 2, 4] {
        for (name, pairs) in [("to a baseline", Pairs::Baseline(0)), ("all pairs", Pairs::All)] {
            let resampling = Resampling { threads, ..Resampling::default() };
            let options = CompareOptions { pairs, resampling, ..CompareOptions::default() };
            let mut times: Vec<Duration> = (0..41)
                .map(|_| {
                    let start = Instant::now();
                    black_box(compare(black_box(&compared), options));
                    start.elapsed()
                })
                .collect();
            times.sort();
            let ms = |i: usize| times[i].as_secs_f64() * 1000.0;
            println!("{threads} threads, {name:14} {:7.1} ms {:7.1} ms", ms(0), ms(20));
        }
    }
}

/// Episodes of a made-up run: the higher its number, the earlier they fail; a few are censored.
fn episodes(run: u32) -> Vec<InScenario> {
    (0..EPISODES)
        .map(|scenario| {
            let mixed = (scenario * 2_654_435 + run * 40_503 + 17) % 97;
            let turn = 1 + mixed * (TURNS + 20) / (97 * (1 + run / 3));
            let observation = if turn > TURNS {
                Observation::censored_after(TURNS)
            } else if mixed.is_multiple_of(13) {
                Observation::censored_after(turn)
            } else {
                Observation::failed_at(turn)
            };
            InScenario::new(format!("scenario_{scenario:02}"), observation)
        })
        .collect()
}
