//! Harness × model and the retry budget: what the Matrix page asks for and gets. Defined in `docs/metrics.md`, "Matrix".

use model::PassRate;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::comparisons::marked;
use super::{Estimate, Member, SeriesStyle, Stamina, TurnScores};

/// Asks for the harness × model matrix of a benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct MatrixRequest {
    /// Key of the benchmark; `None` = the one with most runs.
    #[serde(default)]
    pub benchmark: Option<String>,
    /// Only these runs; empty = all of the benchmark.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Not these runs, such as one that was aborted and would hold τ down for all.
    #[serde(default)]
    pub without: Vec<String>,
    /// Baselines and simulated runs, too.
    #[serde(default)]
    pub with_baselines: bool,
    /// Horizon in turns; `None` = the furthest turn to which every cell is known.
    #[serde(default)]
    pub tau: Option<u32>,
}

/// Harness × model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Matrix {
    /// The benchmark: key, name.
    pub benchmark: (String, String),
    /// Every benchmark with runs: key, name, runs.
    pub benchmarks: Vec<(String, String, u32)>,
    /// Ids of runs that were named and are of other benchmarks.
    pub left_out: Vec<String>,
    /// Whether all its runs play one turn: then cells have pass rates, and mean stamina says no more.
    pub of_one_turn: bool,
    /// Horizon in turns, the same for every cell; `None` = nobody was at risk.
    pub tau: Option<u32>,
    /// The cells that hold τ down; `None` = no others would have a greater one, or τ was asked for.
    pub shortest: Option<ShortestCells>,
    /// Rows.
    pub harnesses: Vec<MatrixLine>,
    /// Columns.
    pub models: Vec<MatrixLine>,
    /// Every cell, row by row; `None` = no run.
    pub cells: Vec<Option<MatrixCell>>,
    /// For each model: best and worst harness, and their ratio; `None` = fewer than two harnesses.
    pub spread: Vec<Option<HarnessSpread>>,
    /// Settings that differ between its runs, marked as on the Compare page.
    pub not_comparable: Vec<String>,
    /// Published numbers for the same benchmark, never mixed with the cells.
    pub published: Vec<PublishedNumber>,
    /// What a reader must know, in sentences.
    pub cautions: Vec<String>,
    /// `default` or `custom`.
    pub policy: String,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Matrix {
    /// Whether a harness is the best or the worst of a model because its number is: not where all have the same.
    pub fn has_picked(&self) -> bool {
        self.spread.iter().flatten().any(|spread| spread.best != spread.worst)
    }
}

/// What holds the τ of a matrix down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ShortestCells {
    /// All runs of the cells that are known to the fewest turns, by their ids.
    pub runs: Vec<String>,
    /// The τ that it would be without these.
    pub otherwise: u32,
    /// How many other cells there are.
    pub others: u32,
    /// The last turn to which one of them is known; at least `otherwise`.
    pub furthest: u32,
}

/// A row or column of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct MatrixLine {
    /// Name; `None` = unknown.
    pub name: Option<String>,
    /// Unweighted mean of its cells; `None` = it has none.
    pub mean: Option<f64>,
    /// Cells in that mean.
    pub cells: u32,
    /// Cells that are missing.
    pub missing: u32,
}

/// A cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct MatrixCell {
    /// Row.
    pub harness: u32,
    /// Column.
    pub model: u32,
    /// Over the common τ.
    pub stamina: Stamina,
    /// Pass rate, where all its runs play one turn.
    pub pass_rate: Option<PassRate>,
    /// Scores of turns that are graded by themselves, the means over its runs; `None` = they do not apply.
    pub scores: Option<TurnScores>,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Whether any of them is simulated.
    pub simulated: bool,
    /// Share of its episodes that were stopped from outside before τ, 0 to 1.
    pub early_censored: Option<f64>,
    /// What makes its number less sure than it looks, a few words each: `35 of 89 episodes`.
    pub doubts: Vec<String>,
    /// What makes its scores of turns less sure than they look.
    pub score_doubts: Vec<String>,
    /// Settings that differ among its own runs so that these are not comparable, and are pooled all the same.
    pub mixed: Vec<String>,
}

/// Best and worst harness of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct HarnessSpread {
    /// Row of the best.
    pub best: u32,
    /// Row of the worst.
    pub worst: u32,
    /// Mean stamina of the best / of the worst; `None` = the worst is 0.
    pub ratio: Option<Estimate>,
}

/// A number that somebody published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PublishedNumber {
    /// Key of the benchmark.
    pub benchmark: String,
    /// The model, as published.
    pub model: String,
    /// The harness, as published; `None` = not said.
    pub harness: Option<String>,
    /// Retries (R) allowed; `None` = not said.
    pub retries: Option<u32>,
    /// What it is: `mean_turns_passed`, `dataset_score`.
    pub metric: String,
    /// Of a mean stamina: the turns that it is over. `None` = not said, or no mean stamina.
    pub turns: Option<u32>,
    /// The value.
    pub value: f64,
    /// Where it stands, for a person.
    pub source: String,
    /// Whether the source is not the authors' own text.
    pub second_hand: bool,
}

/// Asks for stamina as a function of the retry budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct RetriesRequest {
    /// The members.
    pub members: Vec<Member>,
    /// Of groups only these runs (their ids), also baselines and simulated ones; empty = all that such a group has.
    #[serde(default)]
    pub only: Vec<String>,
}

/// Stamina as a function of the retry budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Retries {
    /// Horizon in turns; `None` = nobody was at risk.
    pub tau: Option<u32>,
    /// One a member.
    pub series: Vec<RetrySeries>,
    /// Settings that differ between the members so that they must not be compared, with their values.
    pub not_comparable: Vec<String>,
    /// What such a truncation can and cannot say, in sentences.
    pub cautions: Vec<String>,
    /// Published numbers with a stated R.
    pub published: Vec<PublishedNumber>,
}

/// One member under every budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RetrySeries {
    /// Stable text of the member, as in a comparison.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether a simulated model stood in for a real one in any of its runs.
    pub simulated: bool,
    /// How it is drawn.
    #[serde(rename = "swatch")]
    pub style: SeriesStyle,
    /// Most attempts a turn could take; `None` = not stated (then the most that were made).
    pub attempt_limit: Option<u32>,
    /// For R = 0, 1, … limit − 1.
    pub points: Vec<RetryPoint>,
    /// Mean stamina with the most retries / with none; `None` = one attempt only, or no turn passed without feedback.
    pub gain: Option<Estimate>,
}

impl RetrySeries {
    /// Its name as tables and texts have it.
    pub fn marked(&self) -> String {
        marked(&self.name, self.simulated)
    }
}

/// Mean stamina under one budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RetryPoint {
    /// Retries allowed after the first attempt.
    pub retries: u32,
    /// Mean stamina as if no turn had been allowed more.
    pub stamina: Stamina,
}
