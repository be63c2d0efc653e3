//! What a run is doing now, read from its folder: `.stamina/run.json`, `.stamina/episodes/*.json`, `.stamina/events.jsonl`.
//!
//! Works the same for a run of this process, of another, and for one that was killed.

mod logs;
mod problems;
mod stuck;

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use self::logs::{faults, requests, tail, usual_gap};
use self::problems::Problems;
use self::stuck::{eta, stuck};
use crate::control::ControlRequest;
use crate::dropped_attempt::Repeats;
use crate::state::{MOST_TURNS, RunFile, RunPaths, is_left};
use crate::{Event, RunError, clock, disk};

/// A run as its folder describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveRun {
    /// Id: 8 hex digits.
    pub id: String,
    /// Harness (lower-case word).
    pub agent: String,
    /// Model.
    pub model: Option<String>,
    /// Whether the simulated model answers.
    pub simulated: bool,
    /// Whether it is a smoke test of its harness.
    #[serde(rename = "shakedown")]
    pub is_smoke_test: bool,
    /// Whether a process runs it.
    pub state: RunState,
    /// When it first began, RFC 3339.
    pub started_at: String,
    /// Wall seconds in which it ran, all parts.
    pub seconds: f64,
    /// Most turns of an episode.
    pub turns: u32,
    /// Most attempts a turn.
    pub attempt_limit: u32,
    /// Whether an attempt in flight cannot be retried: of tasks whose containers are not kept before each step.
    #[serde(default)]
    pub lacks_snapshots: bool,
    /// Spent so far.
    pub spent: gateway::Spent,
    /// Budgets.
    pub budgets: gateway::Budgets,
    /// What its model costs; `None` = unknown.
    pub price: Option<gateway::Price>,
    /// In order of their numbers, queued ones too.
    pub episodes: Vec<LiveEpisode>,
    /// Seconds between events: the median over the run, for the stuck detector. `None` = too few.
    pub usual_gap: Option<f64>,
    /// Faults of the endpoint in the last ten minutes, by status (0 = no answer).
    pub faults: Vec<(u16, u32)>,
    /// Attempts that the endpoint cost, in all parts of the run; `None` = unknown.
    pub endpoint: Option<crate::EndpointAttempts>,
    /// How fast the endpoint is, by the requests at the end of the log.
    #[serde(default)]
    pub tokens_per_second: gateway::TokensPerSecond,
    /// What of its folder could not be read, a sentence each. What it says is missing in all of the above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Whether a run is in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    /// A process runs it.
    Running,
    /// A process runs it and begins no new attempts.
    Paused,
    /// It was asked to stop and has not stopped yet.
    Stopping,
    /// It has ended.
    Ended {
        /// How.
        finish: crate::Finish,
    },
    /// Its process was killed: resume it.
    Lost,
}

/// An episode as its folder describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveEpisode {
    /// `scenario_3`.
    pub name: String,
    /// What it is about.
    pub title: Option<String>,
    /// What it is doing.
    pub phase: Phase,
    /// Turns planned.
    #[serde(default)]
    pub turns: u32,
    /// The current or the last turn; 0 = not begun.
    pub turn: u32,
    /// The current or the last attempt.
    pub attempt: u32,
    /// States of the turns that were decided, in order.
    pub cells: Vec<model::TurnState>,
    /// Why it ended.
    pub end_reason: Option<model::EndReason>,
    /// Wall seconds in which it ran.
    pub seconds: f64,
    /// Spent so far.
    pub spent: gateway::Spent,
    /// Last sign of life (event, model request, output of the agent), RFC 3339.
    pub last_event_at: Option<String>,
    /// What it was, in a few words.
    pub now: Option<String>,
    /// Seconds left at the pace so far; `None` = unknown.
    pub eta_seconds: Option<f64>,
    /// Set if it may be stuck: one sentence why.
    pub stuck: Option<String>,
}

/// What an episode is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "LivePhase")]
pub enum Phase {
    /// Waits for its turn among `batch_size`.
    #[default]
    Queued,
    /// Snapshots, containers.
    Preparing,
    /// The agent works.
    Agent,
    /// A request waits for its next try, or the episode waits until the endpoint answers again.
    Waiting,
    /// Its server starts, the suite runs.
    Testing,
    /// Paused between attempts.
    Paused,
    /// Over.
    Over,
    /// Its record cannot be read, or is missing in a run that is over.
    Unknown,
}

/// `.stamina/episodes/scenario_N.json`: what an episode is doing, as the runner last wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodeFile {
    #[serde(flatten)]
    pub(crate) shown: LiveEpisode,
    /// When it was written; a running episode has run on.
    pub(crate) at: String,
    /// What `scenario_N.log` beside it holds.
    #[serde(default)]
    pub(crate) log: AgentLog,
    /// The number of the last retry request that was fulfilled.
    #[serde(default)]
    pub(crate) retries: u32,
    /// How often its attempt was retried because of something outside the agent.
    #[serde(default)]
    pub(crate) repeats: Repeats,
}

/// Most characters of a text that an episode's file holds.
const LONGEST_TEXT: usize = 500;

impl EpisodeFile {
    /// Reads a file; `None` if it is not there. Somebody else may have written it, so what is kept of it is bounded.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, RunError> {
        let Some(mut file) = disk::read_json::<Self>(path, disk::LARGEST_STATUS)? else { return Ok(None) };
        let shown = &mut file.shown;
        for text in [&mut shown.title, &mut shown.last_event_at, &mut shown.now, &mut shown.stuck]
            .into_iter()
            .flatten()
        {
            *text = text.chars().take(LONGEST_TEXT).collect();
        }
        shown.cells.truncate(MOST_TURNS as usize);
        shown.cells.shrink_to_fit();
        Ok(Some(file))
    }
}

/// What the log of an agent's output contains. It begins anew with every attempt, retried ones included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLog {
    /// How often it began; 0 = never.
    pub number: u32,
    /// Turn of the attempt.
    pub turn: u32,
    /// The attempt.
    pub attempt: u32,
}

/// What the log of an episode's agent holds now.
pub fn agent_log(folder: &Path, episode: &str) -> AgentLog {
    let episode = episode.to_owned();
    let read = disk::read_within_limit(folder, move |folder| {
        EpisodeFile::read(&RunPaths::new(folder).episode_file(&episode))
    });
    read.flatten().ok().flatten().map_or_else(AgentLog::default, |file| file.log)
}

impl LiveEpisode {
    pub(crate) fn queued(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Whether an episode that is over can be continued: something other than its agent or the budget of an attempt ended it. A
/// resume continues it.
pub fn is_resumable(reason: model::EndReason) -> bool {
    use model::EndReason;
    matches!(
        reason,
        EndReason::Endpoint
            | EndReason::Environment
            | EndReason::Cancelled
            | EndReason::Budget
            | EndReason::Unfinished
    )
}

/// Reads a run's folder. Blocks; an error where its file system does not answer within [`files::deadline::LIMIT`].
pub fn read(folder: &Path) -> Result<LiveRun, RunError> {
    let (paths, run) = disk::read_within_limit(folder, |folder| {
        let paths = RunPaths::new(folder);
        let run = RunFile::read(&paths)?;
        Ok::<_, RunError>((paths, run))
    })??;
    // The file system answers; the records of thousands of episodes may take longer.
    let living = run.finish.is_none() && !is_left(&paths, &run);
    Ok(live_run(&paths, run, living))
}

/// The state of a run, whether a process runs it or not.
pub(crate) fn live_run(paths: &RunPaths, run: RunFile, living: bool) -> LiveRun {
    let mut problems = Problems::default();
    let control_request = crate::control::read_valid(&paths.results).unwrap_or_else(|error| {
        problems.add("control.json", &error);
        ControlRequest::default()
    });
    let state = match &run.finish {
        Some(finish) => RunState::Ended { finish: finish.clone() },
        None if !living => RunState::Lost,
        None if control_request.stop => RunState::Stopping,
        None if control_request.pause => RunState::Paused,
        None => RunState::Running,
    };
    let (requests, open, faulted) = requests(paths, &run.part_started_at, &mut problems);
    let usual_gap = usual_gap(&tail::<Event>(&paths.events(), &mut problems), &requests);
    let mut last_request: HashMap<&str, &str> = HashMap::new();
    let mut speeds = gateway::Speeds::default();
    for request in &requests {
        speeds.add(request);
        last_request.insert(&request.key.episode, &request.at);
    }
    let mut episodes = Vec::with_capacity(run.episodes.len());
    let mut last_sign: Option<String> = None;
    for planned in &run.episodes {
        let waiting = || LiveEpisode { turns: planned.turns, ..LiveEpisode::queued(&planned.name) };
        let file = match EpisodeFile::read(&paths.episode_file(&planned.name)) {
            Ok(file) => file,
            Err(error) => {
                problems.add(&format!("episodes/{}.json", planned.name), &error);
                episodes.push(LiveEpisode { phase: Phase::Unknown, ..waiting() });
                continue;
            }
        };
        let Some(EpisodeFile { mut shown, at: time, .. }) = file else {
            // Each episode of a run that is over has had a file.
            let phase = if run.finish == Some(crate::Finish::Finished) {
                problems.add_missing(&format!("episodes/{}.json", planned.name));
                Phase::Unknown
            } else {
                Phase::Queued
            };
            episodes.push(LiveEpisode { phase, ..waiting() });
            continue;
        };
        shown.turns = planned.turns;
        // The runner's times compare as texts.
        let request = last_request.get(planned.name.as_str()).map(|time| (*time).to_owned());
        shown.last_event_at = shown.last_event_at.max(request);
        last_sign = last_sign.max(shown.last_event_at.clone());
        // An episode may wait for the endpoint before it begins.
        let played = shown.turn > 0 && !matches!(shown.phase, Phase::Queued | Phase::Over | Phase::Paused);
        if living && played {
            shown.seconds += clock::seconds_since(&time).unwrap_or(0.0);
        }
        if !living && shown.phase != Phase::Over {
            shown.phase = Phase::Queued;
            shown.now = None;
        }
        shown.eta_seconds = eta(&shown);
        let open_since = open.get(planned.name.as_str()).map(String::as_str);
        shown.stuck = if living { stuck(&shown, usual_gap, open_since) } else { None };
        episodes.push(shown);
    }
    let seconds = if living || run.finish.is_some() {
        run.seconds_now()
    } else {
        // It ran until its last sign of life.
        let begin = clock::seconds(&run.part_started_at);
        let end = last_sign.as_deref().and_then(clock::seconds);
        run.seconds + end.zip(begin).map_or(0.0, |(end, begin)| (end - begin).max(0.0))
    };
    LiveRun {
        turns: run.turns(),
        id: run.id,
        agent: run.harness.name,
        model: run.settings.model.clone(),
        simulated: run.settings.has_simulated_model(),
        is_smoke_test: run.settings.is_smoke_test,
        state,
        started_at: run.started_at,
        seconds,
        attempt_limit: run.settings.attempt_limit,
        lacks_snapshots: run.settings.tasks.is_some() && !run.settings.restore_before_try,
        spent: run.spent,
        budgets: run.settings.budgets,
        price: run.settings.price,
        episodes,
        usual_gap,
        faults: faults(&requests, &faulted),
        endpoint: run.endpoint,
        tokens_per_second: speeds.tokens_per_second(),
        problems: problems.into_sentences(),
    }
}

/// A recorded attempt that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpassedAttempt {
    /// Its turn.
    pub turn: u32,
    /// Why it ended.
    pub reason: Option<model::EndReason>,
    /// One line about that.
    pub message: Option<String>,
}

/// The last attempt of the first episode whose current turn is not passed.
pub fn first_not_passed(folder: &Path) -> Option<UnpassedAttempt> {
    disk::read_within_limit(folder, |folder| find_not_passed(&RunPaths::new(folder))).ok()?
}

fn find_not_passed(paths: &RunPaths) -> Option<UnpassedAttempt> {
    let episodes = RunFile::read(paths).ok()?.episodes;
    episodes.iter().find_map(|planned| {
        let trajectory = crate::record::Trajectory::read(&paths.episode(&planned.name)).ok()??;
        let current = trajectory.current?;
        let last = current.attempts.last().filter(|last| last.verdict != model::Verdict::Passed)?;
        let tests = || Some(tests_passed(last.passed?, last.total?));
        let reported = last.exception.as_ref().map(|exception| exception.message.clone());
        Some(UnpassedAttempt {
            turn: current.turn,
            reason: last.end_reason,
            message: reported.or_else(tests),
        })
    })
}

/// `3 of 4 tests passed`.
fn tests_passed(passed: u32, total: u32) -> String {
    format!("{passed} of {} passed", model::counted(total.into(), "test"))
}

#[cfg(test)]
mod tests;
