//! Runs that are or were played here, and the episodes of one of them.

use figures::table::{Column, Table, Value, known, maybe};
use runner::live::Phase;
use serde::Serialize;

use crate::Workbench;
use crate::api::{ApiError, LiveEpisode, LiveRunRow, LiveState, Nothing, RunFolder, marked};
use crate::runs::endpoint_attempts;

/// In place of "not begun" and the like, where that is unknown.
const UNKNOWN: &str = "unknown";

/// The stable word of a value, with spaces for a reader.
pub(super) fn word(value: impl Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("unknown").replace('_', " ")
}

/// The runs that were played here; `only_ended` = only those that nobody plays.
pub(super) fn runs(workbench: &Workbench, only_ended: bool) -> Result<Table, ApiError> {
    let mut live_runs = workbench.list_live_runs(Nothing {})?.runs;
    let playing = |state| {
        matches!(state, LiveState::Starting | LiveState::Running | LiveState::Paused | LiveState::Stopping)
    };
    live_runs.retain(|run| !(only_ended && playing(run.state)));
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("folder", "Folder").for_machines(),
        Column::text("run_id", "Id of the run").missing("not read yet").for_machines(),
        Column::text("harness", "Harness"),
        Column::text("model", "Model"),
        Column::flag("shakedown", "Smoke test").for_machines(),
        Column::text("state", "State"),
        Column::text("message", "Why it failed").missing("n/a").for_machines(),
        Column::integer("episodes_over", "Episodes done"),
        Column::integer("episodes", "Of"),
        Column::integer("turns_decided", "Turns decided"),
        Column::integer("turns", "Of"),
        Column::number("seconds", "Elapsed", 0).unit("s"),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        endpoint_column("endpoint_retried", "Attempts retried for the endpoint", &live_runs),
        endpoint_column("endpoint_lost", "Attempts lost to the endpoint", &live_runs),
        Column::text("started_at", "Started"),
        Column::text("last_event_at", "Last sign of life").for_machines(),
    ];
    let title = if only_ended { "Runs that were played here" } else { "Runs that are or were played here" };
    let mut table = Table::new("played", title, columns);
    for run in live_runs {
        if run.state == LiveState::Unreadable {
            table.push_absent(played(&run), UNKNOWN);
        } else {
            table.push(played(&run));
        }
        let place = marked(&run.name, run.simulated);
        table.notes.extend(run.problems.iter().map(|problem| format!("{place}: {problem}.")));
    }
    Ok(table)
}

/// Attempts that the endpoint cost. Where it cost no run any, a page does not show them.
fn endpoint_column(name: &str, heading: &str, runs: &[LiveRunRow]) -> Column {
    let column = Column::integer(name, heading);
    let has_cost = |run: &LiveRunRow| run.endpoint_retried.max(run.endpoint_lost) > Some(0);
    if runs.iter().any(has_cost) { column } else { column.for_machines() }
}

/// What the endpoint cost a run, as a note. `None` = nothing.
fn endpoint_note(run: &LiveRunRow) -> Option<String> {
    let Some((retried, lost)) = run.endpoint_retried.zip(run.endpoint_lost) else {
        return Some(
            "How many attempts were retried for the endpoint, or lost to it, is unknown: an older version began the run."
                .to_owned(),
        );
    };
    endpoint_attempts(retried, lost).map(|attempts| format!("Over the whole run: {attempts}."))
}

/// A run as a row. What a record would say that cannot be read is unknown.
fn played(run: &LiveRunRow) -> Vec<Option<Value>> {
    let is_read = run.state != LiveState::Unreadable;
    // Those whose records cannot be read may be over, too.
    let all_read = is_read && run.unread == 0;
    vec![
        known(marked(&run.name, run.simulated)),
        known(run.folder.as_str()),
        maybe(run.run.as_deref()),
        maybe(is_read.then_some(run.agent.as_str())),
        maybe(run.model.as_deref()),
        maybe(is_read.then_some(run.is_smoke_test)),
        known(word(run.state)),
        maybe(run.message.as_deref()),
        maybe(all_read.then_some(run.episodes.0)),
        maybe(is_read.then_some(run.episodes.1)),
        maybe(all_read.then_some(run.turns.0)),
        maybe(is_read.then_some(run.turns.1)),
        maybe(is_read.then_some(run.seconds)),
        maybe(run.tokens.input),
        maybe(run.tokens.output),
        maybe(run.cost_usd),
        maybe(run.endpoint_retried),
        maybe(run.endpoint_lost),
        maybe(is_read.then_some(run.started_at.as_str())),
        maybe(run.last_event_at.as_deref().filter(|_| all_read)),
    ]
}

/// The episodes of a run as far as they are played.
pub(super) fn progress(workbench: &Workbench, folder: &RunFolder) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("episode", "Episode"),
        Column::text("title", "Title").missing("none").for_machines(),
        Column::text("phase", "State"),
        Column::text("end_reason", "End").missing("not over"),
        Column::integer("turn", "Turn").missing("not begun"),
        Column::integer("turns", "Of"),
        Column::integer("attempt", "Attempt").missing("not begun"),
        Column::integer("stamina", "Stamina").unit("turns"),
        Column::text("outcomes", "Turn by turn").missing("none decided"),
        Column::number("seconds", "Elapsed", 0).unit("s"),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::text("last_event_at", "Last sign of life").for_machines(),
        Column::number("eta_seconds", "Time left", 0).unit("s").for_machines(),
        Column::text("stuck", "Why it may be stuck").missing("n/a").for_machines(),
    ];
    let run = workbench.get_live_run(folder.clone())?;
    let title = format!("Episodes of {}", marked(&run.row.name, run.row.simulated));
    let mut table = Table::new("progress", &title, columns);
    for episode in &run.episodes {
        let row = played_so_far(episode, run.turns);
        if episode.phase == Phase::Unknown {
            table.push_absent(row, UNKNOWN);
        } else {
            table.push(row);
        }
    }
    table.notes.push(format!(
        "The run is {}. Turn by turn: p passed, r passed after retries, f failed, e error, c censored, . not reached.",
        word(run.row.state)
    ));
    table.notes.extend(endpoint_note(&run.row));
    table.notes.extend(run.row.problems.iter().map(|problem| format!("{problem}.")));
    Ok(table)
}

/// An episode of a run of so many turns, as a row. Of one whose record cannot be read all else is unknown.
fn played_so_far(episode: &LiveEpisode, turns: u32) -> Vec<Option<Value>> {
    let is_read = episode.phase != Phase::Unknown;
    let begun = is_read && episode.turn > 0;
    let outcomes: String = episode.cells.iter().map(|state| letter(*state)).collect();
    vec![
        known(episode.name.as_str()),
        maybe(episode.title.as_deref()),
        known(word(episode.phase)),
        maybe(episode.end_reason.map(model::EndReason::label)),
        maybe(begun.then_some(episode.turn)),
        known(turns),
        maybe(begun.then_some(episode.attempt)),
        maybe(is_read.then_some(episode.stamina)),
        maybe(Some(outcomes).filter(|outcomes| !outcomes.is_empty())),
        maybe(is_read.then_some(episode.seconds)),
        maybe(episode.tokens.input),
        maybe(episode.tokens.output),
        maybe(episode.cost_usd),
        maybe(episode.last_event_at.as_deref()),
        maybe(episode.eta_seconds),
        maybe(episode.stuck.as_deref()),
    ]
}

const fn letter(state: model::TurnState) -> char {
    match state {
        model::TurnState::Passed => 'p',
        model::TurnState::PassedAfterRetries => 'r',
        model::TurnState::Failed => 'f',
        model::TurnState::Error => 'e',
        model::TurnState::Censored => 'c',
        model::TurnState::NotReached => '.',
        model::TurnState::NotTested => 't',
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(state: &str, agent: &str, unread: u32) -> LiveRunRow {
        serde_json::from_value(json!({
            "folder": "/r", "name": "r", "run": null, "agent": agent, "model": null, "simulated": false,
            "endpoint_retried": null, "endpoint_lost": null, "shakedown": false, "verdict": null, "state": state,
            "message": null, "started_at": "2026-11-18T10:00:00Z", "seconds": 40.0, "episodes": [1, 2], "turns": [3, 8],
            "unread": unread, "tokens": { "input": null, "cached": null, "output": null }, "cost_usd": null,
            "last_event_at": "2026-11-18T10:01:00Z"
        }))
        .unwrap()
    }

    fn cells<const N: usize>(row: &[Option<Value>], places: [usize; N]) -> [Option<Value>; N] {
        places.map(|place| row[place].clone())
    }

    #[test]
    fn what_cannot_be_read_of_a_run_is_empty() {
        // Harness, smoke test, episodes over and planned, turns decided and planned, seconds, begin, last event.
        let places = [3, 5, 8, 9, 10, 11, 12, 18, 19];
        let whole = cells(&played(&row("finished", "opencode", 0)), places);
        assert!(whole.iter().all(Option::is_some), "{whole:?}");
        let part = cells(&played(&row("finished", "opencode", 1)), places);
        let empty: Vec<usize> = (0..part.len()).filter(|i| part[*i].is_none()).collect();
        assert_eq!(empty, [2, 4, 8], "episodes over, turns decided, last event: {part:?}");
        assert_eq!(cells(&played(&row("unreadable", "unknown", 0)), places), [const { None }; 9]);
    }

    /// The page showed them, and no export had them.
    #[test]
    fn attempts_that_the_endpoint_cost_are_in_a_row_and_unknown_where_nobody_counted_them() {
        let places = [16, 17];
        let uncounted = row("finished", "opencode", 0);
        assert_eq!(cells(&played(&uncounted), places), [None, None]);
        let counted = LiveRunRow { endpoint_retried: Some(3), endpoint_lost: Some(0), ..uncounted.clone() };
        assert_eq!(cells(&played(&counted), places), [known(3_u32), known(0_u32)]);
        // A page has the columns where there is something to show.
        let is_shown = |run: &LiveRunRow| {
            !endpoint_column("endpoint_lost", "Lost", std::slice::from_ref(run)).for_machines
        };
        assert!(is_shown(&counted));
        let free = LiveRunRow { endpoint_retried: Some(0), ..counted.clone() };
        assert!(!is_shown(&free) && !is_shown(&uncounted));
        // So has the table of one run, in a note.
        assert_eq!(
            endpoint_note(&counted).unwrap(),
            "Over the whole run: 3 attempts retried for the endpoint."
        );
        assert_eq!(endpoint_note(&free), None);
        assert!(endpoint_note(&uncounted).unwrap().contains("is unknown"));
    }

    #[test]
    fn an_episode_whose_record_cannot_be_read_has_no_0() {
        let episode = |phase: &str| -> LiveEpisode {
            serde_json::from_value(json!({
                "name": "scenario_1", "title": null, "phase": phase, "turns": 4, "turn": 0, "attempt": 0, "cells": [],
                "stamina": 0, "end_reason": null, "is_resumable": false, "seconds": 0.0,
                "tokens": { "input": null, "cached": null, "output": null }, "cost_usd": null, "last_event_at": null,
                "now": null, "eta_seconds": null, "stuck": null
            }))
            .unwrap()
        };
        let (stamina, seconds) = (7, 9);
        let queued = played_so_far(&episode("queued"), 4);
        assert_eq!(cells(&queued, [stamina, seconds]), [known(0_u32), known(0.0)]);
        let unknown = played_so_far(&episode("unknown"), 4);
        assert_eq!(cells(&unknown, [stamina, seconds]), [None, None]);
        assert_eq!(
            cells(&unknown, [2, 5]),
            [known("unknown"), known(4_u32)],
            "its phase, and what was planned"
        );
    }
}
