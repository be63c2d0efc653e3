//! The library: its runs as rows, filters and groups, and one run as a whole.

use model::{Baseline, Benchmark, EndReason, Ending, Extra, PassRate, RoundScores, Tokens, WarningCounts};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use model::Stamina;
pub use store::{Facets, RunFilter as ListRuns, RunGrouping, RunSort, SharedEpisodes as RunCopies};

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunPage {
    /// In group order, then sorted.
    pub rows: Vec<RunRow>,
    /// Every group that matches, in order; rows name theirs by index.
    pub groups: Vec<RunGroup>,
    /// How many runs match.
    pub total: u32,
    /// What the filters could be set to: (value, label, runs).
    pub facets: Facets,
}

/// A group of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunGroup {
    /// What they share.
    pub title: String,
    /// Runs in it.
    pub runs: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Least and greatest τ of its runs.
    pub tau: Option<(u32, u32)>,
    /// The whiskers' scale runs from 0 to this many turns; less than one where all are small.
    pub scale: f64,
    /// Where its runs have several τ: the end of the scale of mean stamina as a share of τ, above 0 to 1.
    pub share_scale: Option<f64>,
    /// Of harness, turns, score, tokens, cost and date those that are known of at least one of its runs.
    pub known: Vec<RunSort>,
}

/// How many episodes ended for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EndCount {
    /// The reason.
    pub reason: EndReason,
    /// How the policy counts it.
    pub ending: Ending,
    /// Episodes.
    pub count: u32,
}

/// One row of the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunRow {
    /// Stable; used in links and on the command line.
    pub id: String,
    /// Number of its source.
    pub source: i64,
    /// Name of its source.
    pub source_name: String,
    /// The name, with the part of the path that differs before it where several sources have the name.
    pub source_label: String,
    /// Format of its source: `harbor`, `evocode`, `staminabench`.
    pub format: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// Whether the benchmark has tests; without, the run has no stamina, and `list_sessions` has what there is.
    pub tested: bool,
    /// Index of its group on this page.
    pub group: u32,
    /// The harness.
    pub harness: Option<String>,
    /// Its version.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation, with its version.
    pub runner: Option<(String, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a simulated model stood in for a real one.
    pub simulated: bool,
    /// Episodes read.
    pub episodes: u32,
    /// Episodes planned.
    pub planned_episodes: Option<u32>,
    /// Episodes that were at risk in turn 1; the others were stopped from outside before and say nothing of stamina. `None` =
    /// unknown, as where the benchmark has no tests.
    pub scored_episodes: Option<u32>,
    /// Fewest and most planned turns; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Most attempts a turn may take.
    pub attempt_limit: Option<u32>,
    /// Restricted mean stamina.
    pub stamina: Stamina,
    /// Pass rate of a run of one turn, of which mean stamina says no more; `None` = it has more turns.
    pub pass_rate: Option<PassRate>,
    /// MT@k, SR, Gap and Comp of EvoCode-Bench's paper, or why they are refused; `None` = they do not apply.
    pub rounds: Option<RoundScores>,
    /// The benchmark's own score, recomputed, 0 to 100.
    pub score: Option<f64>,
    /// EvoCode's dataset score, 0 to 100.
    pub dataset_score: Option<f64>,
    /// EvoCode's case score, 0 to 100.
    pub case_score: Option<f64>,
    /// Tasks with an episode that passed every turn; `None` = unknown, nobody was at risk.
    pub perfect: Option<u32>,
    /// Figures that the source reports about itself.
    pub reported: Vec<(String, f64)>,
    /// End reasons, most frequent first; none where the benchmark has no tests, so that no end is judged.
    pub end_reasons: Vec<EndCount>,
    /// Episodes that count as ended by the agent only because the cause of an exception is not recognized.
    pub unrecognised: u32,
    /// Tokens; unknown parts are `None`.
    pub tokens: Tokens,
    /// Episodes for which input and output tokens are known; fewer than `episodes` means that the sums are partial.
    pub tokens_known: u32,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Episodes for which cost is known; fewer than `episodes` means that the sum is partial.
    pub cost_known: u32,
    /// Start.
    pub started_at: Option<String>,
    /// Entries of the import report that concern this run.
    pub warnings: u32,
    /// The same by severity.
    pub severities: WarningCounts,
    /// What is missing, in words: `25 of 26 tasks`.
    pub partial: Option<String>,
    /// What makes its mean stamina or pass rate less sure than it looks, in a few words each, `partial` among it.
    pub doubts: Vec<String>,
    /// Tags of the user.
    pub tags: Vec<String>,
    /// Note of the user.
    pub note: String,
    /// Why a user has withdrawn it; `None` = it counts. A withdrawn run is left out wherever runs are taken together.
    pub invalid: Option<String>,
    /// Episodes that a user has withdrawn: its numbers and its `episodes` do not include them.
    pub withdrawn_episodes: u32,
}

impl RunRow {
    /// Whether its number of turns is unknown, because no episode was at risk: it follows the runs beside it.
    pub const fn has_unknown_turns(&self) -> bool {
        self.tested
            && self.pass_rate.is_none()
            && matches!(self.scored_episodes, None | Some(0))
            && self.planned_turns.is_none()
    }

    /// How trials of these runs that are not scored count in the score, which stands beside a pass rate over the others;
    /// `None` = no run has both. What has a dataset score is scored by turns that passed or not, else by tests.
    pub fn unscored_in_scores(runs: &[Self]) -> Option<&'static str> {
        let has_both =
            |run: &&Self| run.score.is_some() && run.pass_rate.as_ref().is_some_and(|rate| rate.unscored > 0);
        let (by_turn, by_test): (Vec<&Self>, Vec<&Self>) =
            runs.iter().filter(has_both).partition(|run| run.dataset_score.is_some());
        match (by_turn.is_empty(), by_test.is_empty()) {
            (true, true) => None,
            (false, true) => Some(
                "Trials that are not scored are not in the pass rate, and count as not passed in the score.",
            ),
            (true, false) => Some(
                "Trials that are not scored are not in the pass rate, and count in the score with the tests that they passed.",
            ),
            (false, false) => Some(
                "Trials that are not scored are not in the pass rate. In the score they count as not passed, or with the tests that they passed where it is of tests.",
            ),
        }
    }

    /// How fast the endpoint of a run of one's own was, in tokens a second: `part` is `prompt` or `answer`, `statistic`
    /// is `median` or `p10`. `None` = unknown (`docs/metrics.md`, "Runs of one's own").
    pub fn tokens_per_second(&self, part: &str, statistic: &str) -> Option<f64> {
        let name = format!("stamina_lab.tokens_per_second.{part}.{statistic}");
        self.reported.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Scores of turns that are graded by themselves, of a run or the means over several (`docs/metrics.md`, "Scores").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnScores {
    /// Runs that these are of.
    pub runs: u32,
    /// EvoCode's dataset score, 0 to 100.
    pub dataset_score: Option<f64>,
    /// EvoCode's case score, 0 to 100.
    pub case_score: Option<f64>,
    /// Perfect tasks.
    pub perfect: Option<f64>,
    /// MT@k, SR, Gap and Comp of EvoCode-Bench's paper.
    pub rounds: RoundScores,
}

/// Names a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunRef {
    /// Id of the run.
    pub run: String,
}

/// A run with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunDetail {
    /// What the library shows of it.
    pub row: RunRow,
    /// The path of its source.
    pub source_path: String,
    /// Why each of the censored is censored, and each event an event.
    pub policy: String,
    /// Settings in the source's own names.
    #[ts(type = "Record<string, unknown>")]
    pub settings: Extra,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
    /// Episodes that the source counts but does not describe: name, planned turns, passed turns.
    pub totals_only: Vec<(String, Option<u32>, Option<f64>)>,
    /// Statements about the run that a reader must know, such as that declared steps are unknown.
    pub caveats: Vec<String>,
    /// Runs that have trials of this one: where runs are taken together, each trial counts once.
    pub copies: Vec<RunCopies>,
}

/// Withdraws runs, or episodes of one, or takes that back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WithdrawRuns {
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Ids of episodes of the only run that is named: these are withdrawn, and the run is not; empty = the runs themselves.
    #[serde(default)]
    pub episodes: Vec<String>,
    /// Why they are invalid; `None` = they count again.
    pub reason: Option<String>,
}

/// Sets tags and note of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AnnotateRuns {
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to take away.
    pub remove_tags: Vec<String>,
    /// The note; `None` = leave as it is.
    pub note: Option<String>,
}
