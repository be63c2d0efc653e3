//! Runs that are played.

use model::{EndReason, Tokens, TurnState};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use ts_rs::TS;

pub use gateway::{Speed as TokenSpeed, TokensPerSecond as LiveSpeed};
pub use runner::live::Phase as LivePhase;

use super::FormSettings;

/// Begins a run in the background of this process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct StartRun {
    /// Of the run.
    pub settings: FormSettings,
    /// Plays 1 episode × 3 turns with the simulated model in a temporary folder instead, to see whether the harness works here.
    #[serde(rename = "shakedown")]
    pub is_smoke_test: bool,
}

/// Names a run by its results folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct RunFolder {
    /// Absolute path.
    pub folder: String,
}

/// A run that was begun or is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StartedRun {
    /// Results folder, absolute.
    pub folder: String,
}

/// Continues a run that was stopped or killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResumeRun {
    /// Results folder.
    pub folder: String,
    /// `key=value`s that raise budgets and limits.
    pub changes: Vec<String>,
    /// Given where the run was not begun here, by a person who has seen what it would do.
    #[serde(default)]
    pub trust: Option<TrustRun>,
}

/// That a person has seen what a run of somebody else would do, and what of it is kept. What is not kept is of this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct TrustRun {
    /// [`RunTrust::digest`] of what was seen.
    pub digest: String,
    /// The folder's endpoint is asked.
    pub keep_endpoint: bool,
    /// The key that the folder names is sent to the endpoint; in direct mode, the credentials are handed over.
    pub keep_key: bool,
    /// Agents get the variables of this machine's environment that the folder names.
    pub keep_variables: bool,
}

/// Whether a run was begun by this library on this machine, and what a resume of it would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunTrust {
    /// Begun here; else it is a stranger's.
    pub trusted: bool,
    /// What [`TrustRun::digest`] repeats: 64 hexadecimal digits over all that decides.
    pub digest: String,
    /// How the model is reached: `gateway`, `direct`, `simulated`.
    pub mode: String,
    /// Address of the endpoint.
    pub endpoint: Option<String>,
    /// Which key is sent there, by its name.
    pub key: Option<String>,
    /// The model that the endpoint is asked for; `None` = none is named.
    pub model: Option<String>,
    /// What it may spend at most, in words.
    pub budget: String,
    /// The harness.
    pub harness: String,
    /// The file that describes it, if it is not a built-in one.
    pub harness_file: Option<String>,
    /// Image of its containers; `None` = without containers.
    pub image: Option<String>,
    /// Folders of this machine that containers get.
    pub binds: Vec<String>,
    /// Further arguments of the container engine.
    pub arguments: String,
    /// Variables of this machine's environment that containers get, by name.
    pub variables: Vec<String>,
    /// Variables that containers get with values of the folder, `NAME=value`.
    pub variables_set: Vec<String>,
    /// What containers reach: `gateway`, `open`.
    pub network: String,
    /// Whether processes run on this machine without a container.
    pub host_processes: bool,
    /// What each container and each attempt may use at most, in words.
    pub limits: String,
    /// The pack or the tasks that it plays, in words; `None` = generated.
    pub scenarios: Option<String>,
    /// How much it plays, in words.
    pub plays: String,
    /// Where it plays tasks of Harbor: their images, each with the tasks that have it.
    pub task_images: Vec<TaskImages>,
    /// Images that are not listed, because they are too many.
    pub task_images_more: u32,
    /// Why the tasks cannot be looked at; `None` = they are listed, or it plays none.
    pub tasks_unreadable: Option<String>,
    /// Folders in which it would write.
    pub writes: Vec<String>,
    /// The endpoint with which a run was last begun here; it replaces the folder's.
    pub here: Option<LocalEndpoint>,
    /// All of it in words, line by line: what every host shows.
    pub rows: Vec<TrustRow>,
}

/// A line of what a resume of a stranger's run would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustRow {
    /// What it is about.
    pub name: String,
    /// What the folder says.
    pub value: String,
    /// What happens instead, where it is not kept; `None` = there is no choice.
    pub instead: Option<String>,
    /// The choice that keeps it.
    pub keep: Option<TrustChoice>,
}

/// A choice of [`TrustRun`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TrustChoice {
    /// [`TrustRun::keep_endpoint`].
    Endpoint,
    /// [`TrustRun::keep_key`].
    Key,
    /// [`TrustRun::keep_variables`].
    Variables,
}

impl TrustChoice {
    /// The word of the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The image of some tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TaskImages {
    /// The tasks that have it, by name.
    pub tasks: Vec<String>,
    /// The image that they name; `None` = it is built, with the network of the container engine.
    pub image: Option<String>,
    /// Images that its recipe begins with or copies from.
    #[serde(rename = "from")]
    pub base_images: Vec<String>,
    /// What its recipe executes or fetches, each cut to one line.
    pub executes: Vec<String>,
    /// Further images and commands of the recipe that are not listed.
    pub more: u32,
}

/// An endpoint of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LocalEndpoint {
    /// Address.
    pub base_url: String,
    /// Its key, by name.
    pub key: Option<String>,
}

/// The runs that Stamina Lab plays or played, the latest first: those of this process, those begun by the command line
/// in opened sources, those that can be resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LiveRuns {
    /// Running, paused and lost ones first.
    pub runs: Vec<LiveRunRow>,
    /// How many of them are being played.
    pub live: u32,
}

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LiveRunRow {
    /// Results folder.
    pub folder: String,
    /// Its name: the last part of the folder.
    pub name: String,
    /// Id of the run in the library, once it is read.
    pub run: Option<String>,
    /// Harness.
    pub agent: String,
    /// Model.
    pub model: Option<String>,
    /// Whether the simulated model stands in.
    pub simulated: bool,
    /// How often an attempt was dropped because of the endpoint and retried; `None` = unknown, an older version began the run.
    pub endpoint_retried: Option<u32>,
    /// Attempts that were given up because of the endpoint; `None` = unknown.
    pub endpoint_lost: Option<u32>,
    /// Whether it is a smoke test.
    #[serde(rename = "shakedown")]
    pub is_smoke_test: bool,
    /// What the smoke test came to; `None` = it is none, or not over.
    pub verdict: Option<SmokeTestVerdict>,
    /// How it is doing.
    pub state: LiveState,
    /// Why it failed, if it did: one line.
    pub message: Option<String>,
    /// RFC 3339.
    pub started_at: String,
    /// Wall seconds in which it ran.
    pub seconds: f64,
    /// Episodes that are over, and planned.
    pub episodes: (u32, u32),
    /// Turns that are decided, and planned.
    pub turns: (u32, u32),
    /// Planned episodes whose records cannot be read: whether they are over, and their turns, are unknown and counted nowhere.
    #[serde(default)]
    pub unread: u32,
    /// What of its records cannot be read, a sentence each.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Tokens so far.
    pub tokens: Tokens,
    /// Cost so far; `None` = unknown.
    pub cost_usd: Option<f64>,
    /// Last sign of life, RFC 3339.
    pub last_event_at: Option<String>,
}

/// Whether a harness works here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SmokeTestVerdict {
    /// Whether all turns passed.
    pub works: bool,
    /// Turns that passed.
    pub passed: u32,
    /// Turns that there were.
    pub turns: u32,
    /// The turn that did not pass; `None` = all did, or none was tried.
    pub turn: Option<u32>,
    /// Why it did not.
    pub reason: Option<EndReason>,
    /// What is said of that: one line.
    pub message: Option<String>,
}

/// Whether a run is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LiveState {
    /// Begun a moment ago: nothing is in its folder yet.
    Starting,
    /// By a living process.
    Running,
    /// By a living process, which begins no new attempts.
    Paused,
    /// Told to stop and not there yet.
    Stopping,
    /// All episodes are over.
    Finished,
    /// Somebody stopped it; it can be resumed.
    Stopped,
    /// A budget is spent; it can be resumed with a larger one.
    Budget,
    /// Something outside the agents is broken; it can be resumed.
    Failed,
    /// Its process is gone without a word; it can be resumed.
    Lost,
    /// Its record cannot be read: all of it is unknown but its folder.
    Unreadable,
}

/// A run as the live page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LiveRunDetail {
    /// As in the list.
    pub row: LiveRunRow,
    /// Most turns of an episode.
    pub turns: u32,
    /// Most attempts a turn.
    pub attempt_limit: u32,
    /// Model requests answered.
    pub requests: u64,
    /// Answers that told no usage: tokens and cost are too low.
    pub unmetered: u64,
    /// Budgets of the run.
    pub budget: RunBudget,
    /// Budgets of each episode.
    pub episode_budget: RunBudget,
    /// Budgets of each attempt.
    pub attempt_budget: RunBudget,
    /// At the pace so far; `None` = too early to say.
    pub forecast: Option<Forecast>,
    /// In order of their numbers, queued ones too.
    pub episodes: Vec<LiveEpisode>,
    /// Seconds between events: the median over the run.
    pub usual_gap: Option<f64>,
    /// Faults of the endpoint in the last ten minutes: status (0 = no answer), how many.
    pub faults: Vec<(u32, u32)>,
    /// How fast the endpoint is, by the requests at the end of the gateway's log.
    #[serde(default)]
    pub tokens_per_second: LiveSpeed,
}

/// Budgets of a run, of each episode or of each attempt; `None` = no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RunBudget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
    /// Wall seconds.
    pub seconds: Option<f64>,
}

/// Where a run will end at the pace so far: least and most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Forecast {
    /// Seconds that are left.
    pub seconds_left: (f64, f64),
    /// US dollars at the end; `None` = unknown.
    pub cost_usd: Option<(f64, f64)>,
    /// Tokens (in and out) at the end; `None` = unknown.
    pub tokens: Option<(f64, f64)>,
}

/// An episode of a live run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LiveEpisode {
    /// `scenario_3`.
    pub name: String,
    /// What it is about.
    pub title: Option<String>,
    /// What it is doing.
    pub phase: LivePhase,
    /// Turns planned.
    pub turns: u32,
    /// The current or the last turn; 0 = not begun.
    pub turn: u32,
    /// The current or the last attempt.
    pub attempt: u32,
    /// States of the turns that were decided, in order.
    pub cells: Vec<TurnState>,
    /// Consecutive turns passed from the first on.
    pub stamina: u32,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// Whether it is over and can be continued, because what ended it was not its agent.
    pub is_resumable: bool,
    /// Wall seconds in which it was played.
    pub seconds: f64,
    /// So far.
    pub tokens: Tokens,
    /// So far; `None` = unknown.
    pub cost_usd: Option<f64>,
    /// Last sign of life, RFC 3339.
    pub last_event_at: Option<String>,
    /// What it is doing, in a few words.
    pub now: Option<String>,
    /// Seconds left at the pace so far; `None` = unknown.
    pub eta_seconds: Option<f64>,
    /// Set if it may be stuck: a sentence why.
    pub stuck: Option<String>,
}

/// What is wanted of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum RunAction {
    /// Begins no new attempts.
    Pause,
    /// Takes back `pause`.
    Continue,
    /// Ends it; attempts in flight are retried after a resume.
    Stop,
    /// Ends the attempt of an episode and retries it from its snapshot.
    Retry {
        /// Which.
        episode: String,
    },
}

/// Tells a run what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ControlRun {
    /// Results folder.
    pub folder: String,
    /// What.
    pub action: RunAction,
}

/// Which log of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LiveLogKind {
    /// What the agent's program prints.
    Agent,
    /// What its server prints.
    Server,
    /// Its model requests, as the gateway metered them.
    Gateway,
}

/// Asks for what came since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LiveLogRequest {
    /// Results folder.
    pub folder: String,
    /// `scenario_3`.
    pub episode: String,
    /// Which.
    pub which: LiveLogKind,
    /// [`LiveLog::next`] of the last answer; `None` = the tail.
    pub position: Option<String>,
}

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LiveLog {
    /// Lines, oldest first; control characters are escaped.
    pub lines: Vec<LogLine>,
    /// Where to go on.
    pub next: String,
    /// Whether these are the first lines of a new log (the next attempt began), so that older ones go.
    pub fresh: bool,
    /// Turn and attempt that it is of, if known.
    pub attempt: Option<(u32, u32)>,
    /// Whether something before the first line is left out.
    pub cut: bool,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LogLine {
    /// RFC 3339, if known.
    pub time: Option<String>,
    /// `agent`, `server`, `model`.
    pub kind: String,
    /// What it says.
    pub text: String,
    /// Numbers that go with it: seconds, cost.
    pub facts: Vec<String>,
}
