//! A run in progress as the API shows it.

use std::path::Path;

use runner::Finish;
use runner::live::{self, Phase, RunState};

use super::is_resumable;
use crate::api::{Forecast, LiveEpisode, LiveRunDetail, LiveRunRow, LiveSpeed, LiveState, RunBudget};
use crate::runs::estimate::spread;
use crate::runs::smoke_test;
use crate::runs::threads::OwnRun;

/// Whether a run is in progress.
pub(super) fn is_live(state: LiveState) -> bool {
    matches!(state, LiveState::Starting | LiveState::Running | LiveState::Paused | LiveState::Stopping)
}

/// The place of a state in lists.
pub(super) fn rank(state: LiveState) -> u8 {
    match state {
        _ if is_live(state) => 0,
        LiveState::Lost => 1,
        LiveState::Finished => 3,
        // The list is cut: what cannot be read takes the place of no run that can.
        LiveState::Unreadable => 4,
        _ => 2,
    }
}

/// Most characters of why a record cannot be read.
const LONGEST_REASON: usize = 300;

fn name_of(folder: &Path) -> String {
    folder
        .file_name()
        .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A run whose folder tells nothing yet, or that could not begin.
pub(super) fn just_begun(folder: &Path, own_run: &OwnRun) -> LiveRunDetail {
    let seconds = own_run.begun.elapsed().map_or(0.0, |d| d.as_secs_f64());
    LiveRunDetail {
        row: LiveRunRow {
            agent: own_run.agent.clone(),
            model: own_run.model.clone(),
            simulated: own_run.simulated,
            endpoint_retried: Some(0),
            endpoint_lost: Some(0),
            is_smoke_test: own_run.is_smoke_test,
            state: if own_run.playing { LiveState::Starting } else { LiveState::Failed },
            message: own_run.error.clone(),
            started_at: model::timestamp::to_the_second(own_run.begun),
            seconds,
            // Nothing else is known of it.
            ..unreadable(folder, None, "")
        },
        turns: 0,
        attempt_limit: 0,
        requests: 0,
        unmetered: 0,
        budget: RunBudget::default(),
        episode_budget: RunBudget::default(),
        attempt_budget: RunBudget::default(),
        forecast: None,
        episodes: Vec::new(),
        usual_gap: None,
        faults: Vec::new(),
        tokens_per_second: LiveSpeed::default(),
    }
}

/// A run whose record cannot be read, as a row of the list.
pub(super) fn unreadable(folder: &Path, run: Option<String>, reason: &str) -> LiveRunRow {
    LiveRunRow {
        folder: folder.display().to_string(),
        name: name_of(folder),
        run,
        agent: "unknown".to_owned(),
        model: None,
        simulated: false,
        endpoint_retried: None,
        endpoint_lost: None,
        is_smoke_test: false,
        verdict: None,
        state: LiveState::Unreadable,
        message: Some(model::one_line(reason, LONGEST_REASON)),
        started_at: String::new(),
        seconds: 0.0,
        episodes: (0, 0),
        turns: (0, 0),
        unread: 0,
        problems: Vec::new(),
        tokens: model::Tokens::default(),
        cost_usd: None,
        last_event_at: None,
    }
}

/// A run as a row of the list.
pub(super) fn row(
    folder: &Path,
    run: Option<String>,
    read: &live::LiveRun,
    own_run: Option<&OwnRun>,
) -> LiveRunRow {
    let (state, mut message) = match &read.state {
        RunState::Running => (LiveState::Running, None),
        RunState::Paused => (LiveState::Paused, None),
        RunState::Stopping => (LiveState::Stopping, None),
        RunState::Lost => (LiveState::Lost, None),
        RunState::Ended { finish } => match finish {
            Finish::Finished => (LiveState::Finished, None),
            Finish::Stopped => (LiveState::Stopped, None),
            Finish::Budget => (LiveState::Budget, None),
            Finish::Failed { message } => (LiveState::Failed, Some(message.clone())),
        },
    };
    if message.is_none() && !is_live(state) {
        message = own_run.and_then(|own_run| own_run.error.clone());
    }
    let planned = read.episodes.iter().map(|episode| episode.turns).sum();
    LiveRunRow {
        folder: folder.display().to_string(),
        name: name_of(folder),
        run,
        agent: read.agent.clone(),
        model: read.model.clone(),
        simulated: read.simulated,
        endpoint_retried: read.endpoint.map(|attempts| attempts.retried),
        endpoint_lost: read.endpoint.map(|attempts| attempts.lost),
        is_smoke_test: read.is_smoke_test,
        verdict: smoke_test::verdict(folder, read),
        state,
        message,
        started_at: read.started_at.clone(),
        seconds: read.seconds,
        episodes: (
            read.episodes.iter().filter(|e| e.phase == Phase::Over).count() as u32,
            read.episodes.len() as u32,
        ),
        turns: (read.episodes.iter().map(|e| e.cells.len() as u32).sum(), planned),
        unread: read.episodes.iter().filter(|e| e.phase == Phase::Unknown).count() as u32,
        problems: read.problems.clone(),
        tokens: read.spent.tokens,
        cost_usd: read.spent.cost_usd,
        last_event_at: read.episodes.iter().filter_map(|e| e.last_event_at.clone()).max(),
    }
}

/// A run with its episodes.
pub(super) fn detail(
    folder: &Path,
    run: Option<String>,
    read: live::LiveRun,
    own_run: Option<&OwnRun>,
) -> LiveRunDetail {
    let row = row(folder, run, &read, own_run);
    let forecast = is_live(row.state).then(|| forecast(&read)).flatten();
    let limits = |budget: gateway::Budget| RunBudget {
        tokens: budget.tokens,
        usd: budget.usd,
        seconds: budget.seconds.map(|seconds| seconds as f64),
    };
    LiveRunDetail {
        row,
        turns: read.turns,
        attempt_limit: read.attempt_limit,
        requests: read.spent.requests,
        unmetered: read.spent.unmetered,
        budget: limits(read.budgets.run),
        episode_budget: limits(read.budgets.episode),
        attempt_budget: limits(read.budgets.attempt),
        forecast,
        usual_gap: read.usual_gap,
        faults: read.faults.iter().map(|(status, n)| (u32::from(*status), *n)).collect(),
        tokens_per_second: read.tokens_per_second,
        episodes: read.episodes.into_iter().map(episode).collect(),
    }
}

fn episode(read: live::LiveEpisode) -> LiveEpisode {
    let passed = |state: &&model::TurnState| {
        matches!(state, model::TurnState::Passed | model::TurnState::PassedAfterRetries)
    };
    LiveEpisode {
        is_resumable: is_resumable(read.phase, read.end_reason),
        stamina: read.cells.iter().take_while(passed).count() as u32,
        name: read.name,
        title: read.title,
        phase: read.phase,
        turns: read.turns,
        turn: read.turn,
        attempt: read.attempt,
        cells: read.cells,
        end_reason: read.end_reason,
        seconds: read.seconds,
        tokens: read.spent.tokens,
        cost_usd: read.spent.cost_usd,
        last_event_at: read.last_event_at,
        now: read.now,
        eta_seconds: read.eta_seconds,
        stuck: read.stuck,
    }
}

/// Turns that must be decided before a forecast is made.
const ENOUGH_TURNS: usize = 4;

/// From the pace of each episode so far: the 10th to the 90th percentile of what a turn of it took. Turns that are left are
/// those that were planned; an episode that ends before is done sooner.
fn forecast(read: &live::LiveRun) -> Option<Forecast> {
    let decided: usize = read.episodes.iter().map(|e| e.cells.len()).sum();
    if decided < ENOUGH_TURNS || read.episodes.iter().any(|e| e.phase == Phase::Unknown) {
        return None;
    }
    let remaining_turns: f64 = read
        .episodes
        .iter()
        .filter(|e| e.phase != Phase::Over)
        .map(|e| f64::from(e.turns) - e.cells.len() as f64)
        .sum();
    let at_once =
        read.episodes.iter().filter(|e| !matches!(e.phase, Phase::Over | Phase::Queued)).count().max(1);
    let per_turn = |measure: &dyn Fn(&live::LiveEpisode) -> Option<f64>| {
        let mut rates: Vec<f64> = read
            .episodes
            .iter()
            .filter(|e| !e.cells.is_empty())
            .filter_map(|e| Some(measure(e)? / e.cells.len() as f64))
            .collect();
        rates.sort_by(f64::total_cmp);
        spread(&rates)
    };
    let seconds = per_turn(&|e| Some(e.seconds))?;
    let scale = |(low, high): (f64, f64), factor: f64| (low * factor, high * factor);
    let total_tokens = |t: &model::Tokens| Some(t.input? as f64 + t.output? as f64);
    let at_end = |so_far: Option<f64>, rate: Option<(f64, f64)>| {
        let (so_far, (low, high)) = (so_far?, scale(rate?, remaining_turns));
        Some((so_far + low, so_far + high))
    };
    Some(Forecast {
        seconds_left: scale(seconds, remaining_turns / at_once as f64),
        cost_usd: at_end(read.spent.cost_usd, per_turn(&|e| e.spent.cost_usd)),
        tokens: at_end(total_tokens(&read.spent.tokens), per_turn(&|e| total_tokens(&e.spent.tokens))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_be_read_comes_after_all_others() {
        let others = [
            LiveState::Starting,
            LiveState::Running,
            LiveState::Paused,
            LiveState::Stopping,
            LiveState::Lost,
            LiveState::Stopped,
            LiveState::Budget,
            LiveState::Failed,
            LiveState::Finished,
        ];
        assert!(others.into_iter().all(|state| rank(state) < rank(LiveState::Unreadable)));
    }
}
