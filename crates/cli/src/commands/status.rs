//! `stamina status`: what a run of any process is doing.

use std::path::Path;
use std::process::ExitCode;

use model::{counted, dollars};
use runner::live;
use serde_json::json;
use workbench::api::{
    ApiError, LiveEpisode, LivePhase, LiveRunDetail, LiveRunRow, LiveSpeed, LiveState, TokenSpeed,
};
use workbench::runs::{self, duration, endpoint_attempts, short};

use super::preflight::absolute;
use crate::print::{print, print_json};
use crate::run_lines::{cells, cost_of, phase, tokens_of};
use crate::text_table;

/// `stamina status`: prints what a run is doing, with the numbers of the app's Runs page.
pub(crate) fn status(folder: &Path, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    if as_json {
        print_json(&json!(live::read(&folder).map_err(runs::run_error)?));
    } else {
        print(&status_text(&runs::read_run_detail(&folder)?));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the table of the episodes has.
const COLUMNS: [&str; 11] = [
    "episode",
    "state",
    "turns",
    "turn",
    "attempt",
    "elapsed",
    "left",
    "tokens",
    "cost",
    "last event",
    "now",
];

/// The state of a run as text.
fn status_text(run: &LiveRunDetail) -> String {
    let row = &run.row;
    let model = row.model.as_deref().unwrap_or("model unknown");
    let simulated = if row.simulated { ", simulated" } else { "" };
    let is_live = matches!(
        row.state,
        LiveState::Starting | LiveState::Running | LiveState::Paused | LiveState::Stopping
    );
    let mut lines = vec![format!("{} · {model}{simulated}: {}", row.agent, state(row))];
    let mut time = vec![duration(row.seconds)];
    if is_live {
        time.push(run.forecast.map_or_else(
            || "time left unknown".to_owned(),
            |forecast| format!("{} left at this pace", range(forecast.seconds_left, duration)),
        ));
    }
    time.push(format!(
        "last event {}",
        row.last_event_at.as_deref().map_or_else(|| "unknown".to_owned(), moment)
    ));
    lines.push(time.join(", "));
    lines.push(format!(
        "{} of {} decided, {} of {} over",
        at_least(row.turns.0, row.unread),
        counted(row.turns.1.into(), "turn"),
        at_least(row.episodes.0, row.unread),
        counted(row.episodes.1.into(), "episode")
    ));
    let cached = row.tokens.cached.map_or_else(String::new, |n| format!(" ({} cached)", short(n as f64)));
    lines.push(format!(
        "{}, {}{cached}, {}",
        counted(run.requests, "request"),
        tokens_of(&row.tokens),
        spend(run, is_live)
    ));
    if run.unmetered > 0 {
        lines.push(format!(
            "{} reported no usage: tokens and cost are too low",
            counted(run.unmetered, "answer")
        ));
    }
    if !run.faults.is_empty() {
        let faults: Vec<String> = run
            .faults
            .iter()
            .map(|(status, n)| {
                format!("{n} × {}", if *status == 0 { "no answer".to_owned() } else { status.to_string() })
            })
            .collect();
        lines.push(format!("endpoint, last 10 min: {}", faults.join(", ")));
    }
    lines.extend(speed(run));
    let at_endpoint = row.endpoint_retried.zip(row.endpoint_lost);
    lines.extend(at_endpoint.and_then(|(retried, lost)| endpoint_attempts(retried, lost)));
    lines.extend(row.problems.iter().map(|problem| format!("warning: {problem}")));
    // The sentence is too long for the table.
    lines.extend(run.episodes.iter().filter_map(|e| Some(format!("{}: {}", e.name, e.stuck.as_ref()?))));
    let rows: Vec<Vec<String>> =
        run.episodes.iter().map(|episode| cells_of(episode, row.simulated)).collect();
    let of_numbers = [false, false, false, true, true, true, true, true, true, false, false];
    lines.push(text_table::table(&COLUMNS, &of_numbers, &rows));
    lines.join("\n")
}

/// A number without what the records of some episodes would say, which cannot be read.
fn at_least(number: u32, unread: u32) -> String {
    match (number, unread) {
        (number, 0) => number.to_string(),
        (0, _) => "an unknown number".to_owned(),
        (number, _) => format!("at least {number}"),
    }
}

fn state(row: &LiveRunRow) -> String {
    let word = match row.state {
        LiveState::Starting => "starting",
        LiveState::Running => "running",
        LiveState::Paused => "paused",
        LiveState::Stopping => "stopping",
        LiveState::Finished => "finished",
        LiveState::Stopped => "stopped",
        LiveState::Budget => "stopped: the budget is spent",
        LiveState::Failed => "failed",
        LiveState::Unreadable => "unknown: its record cannot be read",
        LiveState::Lost => "lost: its process is gone; `stamina resume` continues it",
    };
    row.message.as_ref().map_or_else(|| word.to_owned(), |message| format!("{word}: {message}"))
}

/// The speed of the endpoint; `None` where it is unknown.
fn speed(run: &LiveRunDetail) -> Option<String> {
    let LiveSpeed { prompt, answer } = run.tokens_per_second;
    let part = |name: &str, speed: Option<TokenSpeed>| {
        speed.map(|speed| format!("{name} {:.1} tokens/s (p10 {:.1})", speed.median, speed.p10))
    };
    let parts: Vec<String> = [part("prompt", prompt), part("answer", answer)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("speed: {}", parts.join(", ")))
}

/// What was spent, of which budget, and what the run costs at this pace.
fn spend(run: &LiveRunDetail, is_live: bool) -> String {
    let usd = match cost_of(run.row.cost_usd, run.row.simulated) {
        Ok(words) => return words,
        Err(usd) => usd,
    };
    let budget = run.budget.usd.map_or_else(String::new, |most| format!(" of {}", dollars(most)));
    let at_end = run
        .forecast
        .filter(|_| is_live)
        .and_then(|forecast| forecast.cost_usd)
        .map_or_else(String::new, |cost| format!(", {} at this pace", range(cost, dollars)));
    format!("cost {}{budget}{at_end}", dollars(usd))
}

fn range((low, high): (f64, f64), words: impl Fn(f64) -> String) -> String {
    let (low, high) = (words(low), words(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `2026-11-18 11:06:40 UTC`: moments are written in UTC.
fn moment(rfc3339: &str) -> String {
    let seconds = rfc3339.split(['.', 'Z']).next().unwrap_or(rfc3339);
    format!("{} UTC", seconds.replace('T', " "))
}

/// The cells of an episode's row.
fn cells_of(episode: &LiveEpisode, simulated: bool) -> Vec<String> {
    let unknown = || "unknown".to_owned();
    let is_over = episode.phase == LivePhase::Over;
    let begun = episode.turn > 0;
    let tokens = match (episode.tokens.input, episode.tokens.output) {
        (Some(input), Some(output)) => short(input as f64 + output as f64),
        _ => unknown(),
    };
    let cost = match cost_of(episode.cost_usd, simulated) {
        Err(usd) => dollars(usd),
        Ok(_) if simulated => "none".to_owned(),
        Ok(_) => unknown(),
    };
    if episode.phase == LivePhase::Unknown {
        let mut cells = vec![episode.name.clone(), phase(episode).to_owned()];
        cells.resize_with(COLUMNS.len(), unknown);
        return cells;
    }
    let when_begun = |text: String| if begun { text } else { String::new() };
    vec![
        episode.name.clone(),
        phase(episode).to_owned(),
        cells(&episode.cells),
        format!("{} / {}", episode.turn, episode.turns),
        episode.attempt.to_string(),
        when_begun(duration(episode.seconds)),
        if is_over || !begun { String::new() } else { episode.eta_seconds.map_or_else(unknown, duration) },
        when_begun(tokens),
        when_begun(cost),
        // The lines above show the day.
        episode
            .last_event_at
            .as_deref()
            .map(moment)
            .and_then(|at| Some(at.split_once(' ')?.1.to_owned()))
            .unwrap_or_default(),
        episode
            .end_reason
            .map(|reason| reason.label().to_owned())
            .or_else(|| episode.now.clone())
            .unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(simulated: bool) -> LiveRunDetail {
        let mut run: LiveRunDetail = serde_json::from_value(json!({
            "row": {
                "folder": "/r", "name": "r", "run": null, "agent": "opencode", "model": "glm-5", "simulated": simulated,
                "endpoint_retried": 3, "endpoint_lost": 1,
                "shakedown": false, "verdict": null, "state": "running", "message": null,
                "started_at": "2026-11-18T10:00:00Z", "seconds": 4000.0, "episodes": [0, 2], "turns": [12, 80],
                "tokens": { "input": 2_310_000, "cached": 1_000_000, "output": 19_800 }, "cost_usd": 12.34,
                "last_event_at": "2026-11-18T11:06:40.123Z"
            },
            "turns": 40, "attempt_limit": 10, "requests": 900, "unmetered": 0,
            "budget": { "tokens": null, "usd": 60.0, "seconds": null },
            "episode_budget": { "tokens": null, "usd": null, "seconds": null },
            "attempt_budget": { "tokens": null, "usd": null, "seconds": null },
            "forecast": { "seconds_left": [36_000.0, 93_600.0], "cost_usd": [43.0, 58.0], "tokens": null },
            "episodes": [],
            "usual_gap": 14.0, "faults": [[429, 4], [0, 1]],
            "tokens_per_second": { "prompt": { "median": 148.25, "p10": 96.0 }, "answer": { "median": 21.4, "p10": 5.0 } }
        }))
        .unwrap();
        let episode: LiveEpisode = serde_json::from_value(json!({
            "name": "scenario_1", "title": null, "phase": "agent", "turns": 40, "turn": 13, "attempt": 2,
            "cells": ["passed", "passed_after_retries"], "stamina": 2, "end_reason": null, "is_resumable": false,
            "seconds": 2000.0, "tokens": { "input": 1_000_000, "cached": null, "output": 10_000 }, "cost_usd": 6.5,
            "last_event_at": "2026-11-18T10:51:02Z", "now": "writes server.py", "eta_seconds": 3600.0,
            "stuck": "No sign of life for 15 min; one usually comes every 14 s."
        }))
        .unwrap();
        let waits = LiveEpisode {
            name: "scenario_2".to_owned(),
            phase: LivePhase::Queued,
            turn: 0,
            stuck: None,
            now: None,
            last_event_at: None,
            cells: Vec::new(),
            ..episode.clone()
        };
        run.episodes = vec![episode, waits];
        run
    }

    #[test]
    fn the_status_of_a_run_has_the_numbers_of_its_page() {
        let text = status_text(&run(false));
        for expected in [
            "opencode · glm-5: running",
            "1 h 06 m, 10 h 00 m to 1 d 2 h left at this pace, last event 2026-11-18 11:06:40 UTC",
            "12 of 80 turns decided, 0 of 2 episodes over",
            "900 requests, 2.31 M in, 19.8 k out (1.00 M cached), cost $12.34 of $60.00, $43.00 to $58.00 at this pace",
            "endpoint, last 10 min: 4 × 429, 1 × no answer",
            "speed: prompt 148.2 tokens/s (p10 96.0), answer 21.4 tokens/s (p10 5.0)",
            "3 attempts retried for the endpoint, 1 attempt lost to it",
            "scenario_1: No sign of life for 15 min; one usually comes every 14 s.",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected}\n{text}");
        }
        let row = text.lines().find(|line| line.starts_with("scenario_1  ")).unwrap();
        for expected in [
            "stuck?",
            "13 / 40",
            "33 m 20 s",
            "1 h 00 m",
            "1.01 M",
            "$6.50",
            "10:51:02 UTC",
            "writes server.py",
        ] {
            assert!(row.contains(expected), "{expected}: {row}");
        }
        let queued = text.lines().find(|line| line.starts_with("scenario_2  ")).unwrap();
        assert!(queued.contains("queued") && !queued.contains('$'), "{queued}");
    }

    #[test]
    fn what_cannot_be_read_is_named_and_unknown() {
        let mut half = run(false);
        half.episodes[1].phase = LivePhase::Unknown;
        half.row.unread = 1;
        half.row.problems = vec![".stamina/episodes/scenario_2.json cannot be read: no JSON".to_owned()];
        let text = status_text(&half);
        for expected in [
            "at least 12 of 80 turns decided, an unknown number of 2 episodes over",
            "warning: .stamina/episodes/scenario_2.json cannot be read: no JSON",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected}\n{text}");
        }
        let row = text.lines().find(|line| line.starts_with("scenario_2  ")).unwrap();
        assert!(row.contains("unknown") && !row.contains("queued") && !row.contains('0'), "{row}");
    }

    /// "1 requests" and "1 answers" stood there.
    #[test]
    fn one_request_is_in_the_singular() {
        let mut one = run(false);
        (one.requests, one.unmetered) = (1, 1);
        let text = status_text(&one);
        assert!(text.lines().any(|line| line.starts_with("1 request, ")), "{text}");
        assert!(text.contains("\n1 answer reported no usage: "), "{text}");
    }

    #[test]
    fn a_small_budget_is_not_nothing() {
        let mut small = run(false);
        small.row.cost_usd = Some(0.003);
        small.budget.usd = Some(0.004);
        assert!(status_text(&small).contains("cost $0.003 of $0.004, "), "{}", status_text(&small));
    }

    #[test]
    fn a_simulated_run_has_no_cost_and_a_finished_one_no_forecast() {
        let mut simulated = run(true);
        simulated.row.cost_usd = None;
        assert!(
            status_text(&simulated).contains("no cost (simulated)")
                && !status_text(&simulated).contains("unknown")
        );
        let mut over = run(false);
        over.row.state = LiveState::Failed;
        over.row.message = Some("the disk is full".to_owned());
        over.row.cost_usd = None;
        let text = status_text(&over);
        assert!(text.contains("failed: the disk is full") && text.contains("cost unknown"), "{text}");
        assert!(!text.contains("at this pace"), "{text}");
        // A record that somebody else wrote may hold any number.
        let mut endless = run(false);
        endless.episodes[0].tokens =
            model::Tokens { input: Some(u64::MAX), cached: None, output: Some(u64::MAX) };
        assert!(status_text(&endless).contains("scenario_1"));
        over.tokens_per_second = LiveSpeed::default();
        assert!(!status_text(&over).contains("speed"), "unknown");
    }
}
