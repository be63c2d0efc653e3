//! Runs for tests of figures.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of them")]

pub mod many;
pub mod tables;

use analysis::survival::{Observation, kaplan_meier, summarize};
use figures::RunData;

/// A run of `planned` turns.
pub fn run(name: &str, episodes: &[Observation], planned: u32) -> RunData {
    RunData {
        name: name.to_owned(),
        points: kaplan_meier(episodes, planned),
        summary: summarize(episodes, Some(planned)),
        policy: "default".to_owned(),
    }
}

fn times(n: usize, episode: Observation) -> Vec<Observation> {
    vec![episode; n]
}

/// 25 episodes of up to 15 turns, as in EvoCode-Bench: tasks end at different turns.
pub fn normal() -> RunData {
    let failed = [(1, 6), (2, 2), (3, 3), (4, 1), (5, 4)].map(|(t, n)| times(n, Observation::failed_at(t)));
    let passed = [(7, 5), (8, 2), (9, 2)].map(|(t, n)| times(n, Observation::censored_after(t)));
    run("Claude-Opus-4.8 · terminus-2", &[failed.concat(), passed.concat()].concat(), 15)
}

/// 20 episodes of 100 turns, as in StaminaBench.
pub fn hundred_turns() -> RunData {
    let failed = [2, 6, 10, 11, 13, 15, 16, 20, 43, 49, 78, 100].map(Observation::failed_at);
    let stopped = [17, 26, 31, 32, 59, 100, 100, 100].map(Observation::censored_after);
    run("oracle · medium", &[&failed[..], &stopped[..]].concat(), 100)
}

pub fn one_episode() -> RunData {
    run("one <episode> & \"quotes\"", &[Observation::failed_at(4)], 9)
}

pub fn all_fail_at_turn_1() -> RunData {
    run("nop", &times(12, Observation::failed_at(1)), 9)
}

pub fn all_censored() -> RunData {
    let stopped = [2, 3, 3, 5, 9, 9].map(Observation::censored_after);
    run("all stopped from outside", &stopped, 9)
}

/// 1,000 episodes of 40 turns from a seeded generator.
pub fn thousand() -> RunData {
    run("1,000 episodes", &drawn_at_random(1_000), 40)
}

/// Episodes of 40 turns from a seeded generator.
pub fn drawn_at_random(count: u32) -> Vec<Observation> {
    let mut state = 20_261_121_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..count)
        .map(|_| {
            let fails = (1..=40).find(|_| random().is_multiple_of(18));
            let stopped = 1 + random() % 120;
            match fails {
                Some(turn) if turn <= stopped => Observation::failed_at(turn),
                _ => Observation::censored_after(stopped.min(40)),
            }
        })
        .collect()
}

pub fn nothing() -> RunData {
    run("empty", &[], 9)
}
