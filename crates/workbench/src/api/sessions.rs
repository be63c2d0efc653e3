//! Sessions of a benchmark without tests (LoCoBench-Agent): their figures, and means over scenarios.

use model::SessionFigures;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::PublishedNumber;

/// Asks for sessions of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionsRequest {
    /// Id of the run.
    pub run: String,
    /// First session to give.
    #[serde(default)]
    pub offset: u32,
    /// Most sessions to give; 0 = all.
    #[serde(default)]
    pub limit: u32,
}

impl SessionsRequest {
    /// All sessions of a run.
    pub fn all(run: impl Into<String>) -> Self {
        Self { run: run.into(), ..Self::default() }
    }
}

/// Sessions of a run, and what all of them come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Sessions {
    /// Id of the run.
    pub run: String,
    /// Names of the nine metrics, in the order in which each list of figures has them.
    pub metrics: Vec<String>,
    /// Those that were asked for, by scenario, then in the order of the source.
    pub sessions: Vec<SessionRow>,
    /// Figures that are marked in some session that counts, in how many of these, and in how many they could be compared.
    pub differs: Vec<(String, u32, u32)>,
    /// Over all scenarios.
    pub all: SessionGroup,
    /// By task category.
    pub categories: Vec<SessionGroup>,
    /// By difficulty.
    pub difficulties: Vec<SessionGroup>,
    /// By programming language.
    pub languages: Vec<SessionGroup>,
    /// What a session that does nothing scores: comprehension, efficiency.
    pub nothing: (f64, f64),
    /// The same in a sentence.
    pub nothing_says: String,
    /// Share of sessions that still run after each step, from step 0: a length, and no success.
    pub running: Vec<RunningSessions>,
    /// What others published: comprehension and efficiency of models.
    pub published: Vec<PublishedNumber>,
    /// Statements that a reader must know.
    pub cautions: Vec<String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionRow {
    /// Slug of its episode.
    pub episode: String,
    /// Its scenario.
    pub scenario: String,
    /// Repeat of the scenario in the run, from 1.
    pub repeat: u32,
    /// Whether it counts in means: of a scenario that was played more than once the one that ended last does.
    pub counts: bool,
    /// Why a user withdrew it; it counts in no mean.
    pub invalid: Option<String>,
    /// Whether nothing ever happened in it; `None` = not recorded.
    pub never_started: Option<bool>,
    /// Its figures.
    pub figures: SessionFigures,
    /// Comprehension, efficiency and overall, computed here by the program's rules.
    pub compat: Option<(f64, f64, f64)>,
    /// Figures of which the imported value is another than the one computed here, or than the imported nine make (by over 1e-9).
    pub differs: Vec<String>,
}

/// Means over the scenarios of a group; each counts once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionGroup {
    /// What they share; `all`, or `unknown`.
    pub key: String,
    /// Scenarios.
    pub scenarios: u32,
    /// Sessions, also those that do not count.
    pub sessions: u32,
    /// Sessions, of those that count, in which nothing ever happened.
    pub never_started: u32,
    /// Turns of the sessions that count, as the program counts them, where it says them.
    pub turns: u32,
    /// The turns of those of them whose conversation is recorded, and how many of these got an answer of the model.
    pub answered: (u32, u32),
    /// Sessions that count of which an imported value is another than the one computed here.
    pub differ: u32,
    /// Sessions that count in which that could be told: those of which an imported value is known and the same is computed here,
    /// and those that are marked without it.
    pub differ_of: u32,
    /// Means of what the program computed: the nine, `comprehension`, `efficiency`, `overall`, `balance`.
    pub imported: Vec<SessionMean>,
    /// Means of the same computed here.
    pub compat: Vec<SessionMean>,
    /// Means of `tool_success`, `distinct_functions`, `files_written`, `read_before_write`.
    pub corrected: Vec<SessionMean>,
}

/// A mean over scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionMean {
    /// Of what.
    pub name: String,
    /// The mean; `None` = known for no scenario.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval over scenarios; `None` = fewer than two, or no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Scenarios for which it is known.
    pub n: u32,
}

/// How many sessions still run after a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RunningSessions {
    /// Steps (turns of the program: calls of the model with their tool calls).
    pub step: u32,
    /// Share that still runs, by Kaplan and Meier. A session that a limit of time or of turns or the endpoint ended is censored, as
    /// is one whose end is unknown.
    pub share: f64,
    /// Sessions that are known to run until then.
    pub at_risk: u32,
}
