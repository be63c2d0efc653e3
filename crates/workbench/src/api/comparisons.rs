//! Comparing runs: what the Compare and Matrix pages ask for and get. Every number is defined in `docs/metrics.md`.

use model::TurnState;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Stamina, SurvivalRow};

// ---------------------------------------------------------------------------------------------- members

/// What is compared: one run, or several pooled. A pooled member never mixes benchmarks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Member {
    /// One run.
    Run {
        /// Id of the run.
        run: String,
    },
    /// All runs of a harness.
    Harness {
        /// Its name; `""` = unknown.
        harness: String,
        /// Key of the benchmark.
        benchmark: String,
    },
    /// All runs of a model.
    Model {
        /// Its name; `""` = unknown.
        model: String,
        /// Key of the benchmark.
        benchmark: String,
    },
    /// All runs with a tag.
    Tag {
        /// The tag.
        tag: String,
        /// Key of the benchmark.
        benchmark: String,
    },
}

/// Which pairs of members are tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Every other member against the reference.
    #[default]
    Reference,
    /// Every two members.
    All,
}

/// Asks for a comparison of 1 to 8 members (13 and more are drawn, too; tests are made for any number).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct CompareRequest {
    /// In the order of the chips.
    pub members: Vec<Member>,
    /// Index of the member that others are compared with.
    #[serde(default)]
    pub reference: u32,
    /// Horizon in turns; `None` = the furthest turn to which every curve is known.
    #[serde(default)]
    pub tau: Option<u32>,
    /// Which pairs are tested; Holm's correction is over these.
    #[serde(default)]
    pub pairs: Pairs,
}

/// How a member is drawn on this page: colour = model, dash and marker = harness; when only one of them varies, it takes
/// both channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Swatch {
    /// 1 to 8: `--series-N`.
    pub colour: u32,
    /// 1 to 8: dash pattern and marker (solid and circle, 6-2 and square, 2-2 and triangle, 6-2-2-2 and diamond, 10-3 and
    /// cross, and three more).
    pub dash: u32,
}

/// What stands for a member in a list that names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ComparedMember {
    /// What was asked for.
    pub member: Member,
    /// Stable text for links and scripts: the id of the run, or `harness:opencode`.
    pub id: String,
    /// The shortest name that tells it from the other members.
    pub name: String,
    /// Model and harness in full.
    pub full_name: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// The harness; `None` = unknown or several.
    pub harness: Option<String>,
    /// The model; `None` = unknown or several.
    pub model: Option<String>,
    /// Key and name of the benchmark.
    pub benchmark: (String, String),
    /// Whether a scripted model stood in for a real one in any of its runs.
    pub simulated: bool,
    /// `oracle` or `nop`, if it is one.
    pub baseline: Option<String>,
    /// How it is drawn.
    pub swatch: Swatch,
    /// Scenarios that it played.
    pub scenarios: u32,
    /// Over the common τ.
    pub stamina: Stamina,
    /// The interval of the mean from a bootstrap that draws scenarios; `None` = no variation. Right also where a scenario
    /// was played several times.
    pub stamina_bootstrap: Option<(f64, f64)>,
    /// The same with every censored episode counted as failed at the turn after the last one passed.
    pub censored_failed: Stamina,
    /// The same without censored episodes (those that passed everything stay).
    pub censored_dropped: Stamina,
    /// Share of episodes censored before τ, other than those that passed everything, 0 to 1.
    pub early_censored: f64,
    /// Survival table to the common τ, and on to the last turn that anybody plans.
    pub survival: Vec<SurvivalRow>,
    /// The benchmark's own score, 0 to 100.
    pub score: Option<f64>,
    /// Sums and rates.
    pub spent: Spent,
    /// Import warnings and other things that a reader must know, such as `25 of 26 tasks`.
    pub caveats: Vec<String>,
}

impl ComparedMember {
    /// Its name as tables and texts have it: with the word that says so where it is simulated.
    pub fn marked(&self) -> String {
        marked(&self.name, self.simulated)
    }
}

/// A name with the word that says that a scripted model stood in for a real one.
pub(super) fn marked(name: &str, simulated: bool) -> String {
    if simulated { format!("{name} (simulated)") } else { name.to_owned() }
}

/// What a member used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Spent {
    /// Input tokens, cached ones included.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// US dollars; `None` = unknown for every episode.
    pub cost_usd: Option<f64>,
    /// Episodes for which the cost is known; fewer than all means that the sum is partial.
    pub cost_known: u32,
    /// Seconds of agent time.
    pub agent_seconds: Option<f64>,
    /// Turns with at least one attempt.
    pub turns_played: u32,
    /// How many of them came after an episode's first failure: in the costs, and in no stamina.
    pub turns_after_failure: u32,
    /// Tool calls per turn played.
    pub steps_per_turn: Option<f64>,
    /// Agent seconds per turn played.
    pub seconds_per_turn: Option<f64>,
    /// US dollars per turn played.
    pub cost_per_turn: Option<f64>,
    /// Tokens, input and output, per turn played.
    pub tokens_per_turn: Option<f64>,
    /// US dollars per turn survived: the cost of whole episodes, turns after the first failure included, / the sum of
    /// stamina; `None` = cost not known for every episode, or no turn survived.
    pub cost_per_survived_turn: Option<f64>,
    /// Mean US dollars per episode, where known for every one.
    pub cost_per_episode: Option<f64>,
    /// Whether it is on the Pareto front of mean stamina against cost per episode; `None` = its cost is unknown.
    pub pareto: Option<bool>,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Comparison {
    /// In the order asked for.
    pub members: Vec<ComparedMember>,
    /// Index of the reference.
    pub reference: u32,
    /// Horizon in turns.
    pub tau: u32,
    /// Last turn of the axis: the most that any member plans or has seen.
    pub turns: u32,
    /// Scenarios that every member played.
    pub shared_scenarios: u32,
    /// What differs, first of all.
    pub differences: Vec<SettingDifference>,
    /// What is the same: setting and value.
    pub equal: Vec<(String, String)>,
    /// The strongest of the marks in `differences`.
    pub comparability: Comparability,
    /// Tests between two members.
    pub pairs: Vec<ComparedPair>,
    /// Log-rank over all members; `None` = not defined.
    pub overall: Option<ChiSquare>,
    /// The same, stratified by scenario; `None` = not defined, or too few shared scenarios.
    pub overall_stratified: Option<ChiSquare>,
    /// What a reader must know of the numbers on this page, in sentences: much early censoring, few episodes, …
    pub cautions: Vec<String>,
    /// `default` or `custom`.
    pub policy: String,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Whether a difference of settings leaves runs comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Comparability {
    /// The setting has no effect on stamina.
    NoEffect,
    /// A value is unknown, or the effect of the setting is.
    CannotBeRuledOut,
    /// Numbers of these members must not be compared.
    NotComparable,
}

/// A setting that is not the same for all members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SettingDifference {
    /// In words: `Agent timeout per turn`.
    pub setting: String,
    /// The source's own name, where it is one.
    pub key: Option<String>,
    /// One a member; `None` = unknown. Several values of a pooled member are joined with `, `.
    pub values: Vec<Option<String>>,
    /// Which members have another value than the reference (the reference itself: than most others).
    pub odd: Vec<bool>,
    /// What it means.
    pub comparability: Comparability,
    /// In words: `longer time favours DeepSeek-V4-Pro`.
    pub note: String,
}

/// A χ² statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct ChiSquare {
    /// The statistic.
    pub chi2: f64,
    /// Degrees of freedom.
    pub df: u32,
    /// Probability of at least so large a value if all survive alike.
    pub p: f64,
}

/// A p-value from rearranging what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct PermutationTest {
    /// Share of arrangements at least as extreme as the observed one.
    pub p: f64,
    /// Arrangements that were looked at.
    pub arrangements: u32,
    /// Whether those are all that there are; else they were drawn.
    pub exact: bool,
}

/// An estimate with its 95 % interval and p-value. No interval and no p where there is no variation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Two-sided.
    pub p: Option<f64>,
}

/// Two members, tested against each other. Differences are `a − b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ComparedPair {
    /// Index of a member.
    pub a: u32,
    /// Index of the other; with [`Pairs::Reference`] this is the reference.
    pub b: u32,
    /// Log-rank test; `None` = not defined (nobody failed, or a member is empty).
    pub logrank: Option<ChiSquare>,
    /// Its p, corrected by Holm over all pairs of this comparison.
    pub p_holm: Option<f64>,
    /// The log-rank test by permutation, for pairs of together at most 40 episodes; `None` = more, or not defined.
    pub logrank_permutation: Option<PermutationTest>,
    /// Log-rank stratified by scenario, on shared scenarios.
    pub logrank_stratified: Option<ChiSquare>,
    /// Difference of mean stamina, unpaired, Greenwood.
    pub difference: Option<Estimate>,
    /// The interval of that difference from a bootstrap that resamples scenarios.
    pub difference_bootstrap: Option<(f64, f64)>,
    /// Ratio of mean staminas a / b; `None` = b is 0.
    pub ratio: Option<Estimate>,
    /// On shared scenarios; `None` = there are none.
    pub paired: Option<PairedComparison>,
}

/// The paired comparison of two members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PairedComparison {
    /// Shared scenarios.
    pub n: u32,
    /// Its horizon in turns: that of the comparison, or less where the shared scenarios do not say so much.
    pub tau: u32,
    /// Mean of the differences a − b, in turns.
    pub mean: f64,
    /// Lower end of the paired t interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Of the paired t test.
    pub p: Option<f64>,
    /// Of the sign-flip permutation test.
    pub p_sign_flip: Option<f64>,
    /// Scenarios in which a lasted longer, both the same, b longer.
    pub wins: (u32, u32, u32),
    /// Scenario by scenario, largest difference first.
    pub scenarios: Vec<PairedScenarioRow>,
}

/// One shared scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PairedScenarioRow {
    /// The scenario.
    pub scenario: String,
    /// Mean of min(stamina, τ) of a, as observed: with early censoring a lower bound.
    pub a: f64,
    /// Of b.
    pub b: f64,
    /// Whether a was censored before τ (`≥`).
    pub a_at_least: bool,
    /// Whether b was.
    pub b_at_least: bool,
}

// ---------------------------------------------------------------------------------------------- disagreement

/// Which turns are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementMode {
    /// Every turn that any member reached.
    All,
    /// Turns that one passes and another fails, by its tests or by an end without a verdict that counts as a failure.
    #[default]
    Different,
    /// Turns that some member fails.
    Failures,
    /// Turns that ended without a verdict for some member.
    Errors,
}

/// How they are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementSort {
    /// Turns that the reference fails and others pass, then by spread.
    #[default]
    ReferenceFails,
    /// Largest difference in the share of passed tests first.
    Spread,
    /// By scenario and turn.
    Scenario,
}

/// Asks where members disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DisagreementRequest {
    /// The members, in the order of the columns.
    pub members: Vec<Member>,
    /// Index of the reference.
    pub reference: u32,
    /// Which turns.
    pub mode: DisagreementMode,
    /// In which order.
    pub sort: DisagreementSort,
    /// Only scenarios whose name has these words.
    #[serde(default)]
    pub text: String,
    /// First row to give.
    pub offset: u32,
    /// Most rows to give; 0 = 200.
    pub limit: u32,
}

/// Turns on which members disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DisagreementPage {
    /// The asked rows.
    pub rows: Vec<DisagreementRow>,
    /// Rows in this mode.
    pub total: u32,
    /// Rows in each mode: all, different, failures, errors.
    pub counts: (u32, u32, u32, u32),
}

/// One turn of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DisagreementRow {
    /// The scenario.
    pub scenario: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// From 1.
    pub turn: u32,
    /// One a member; `None` = it did not play the scenario.
    pub cells: Vec<Option<DisagreementCell>>,
    /// Difference between the highest and the lowest share of passed tests, 0 to 1; `None` = not counted for two members.
    pub spread: Option<f64>,
}

/// What one member did there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DisagreementCell {
    /// Id of the run.
    pub run: String,
    /// Id of the episode: the only one, or of several the one that did worst.
    pub episode: String,
    /// State of the turn in that episode.
    pub state: TurnState,
    /// Tests passed at its final attempt.
    pub passed: Option<u32>,
    /// Tests run at its final attempt.
    pub total: Option<u32>,
    /// Whether an earlier turn of this episode was already failed (then this turn does not count for stamina).
    pub after_failure: bool,
    /// How many episodes of this member played the scenario, and how many of them passed this turn.
    pub episodes: (u32, u32),
}

// ---------------------------------------------------------------------------------------------- matrix

/// Asks for the harness × model matrix of a benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct MatrixRequest {
    /// Key of the benchmark; `None` = the one with most runs.
    #[serde(default)]
    pub benchmark: Option<String>,
    /// Only these runs; empty = all of the benchmark.
    #[serde(default)]
    pub runs: Vec<String>,
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
    /// Horizon in turns, the same for every cell.
    pub tau: u32,
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
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Whether any of them is simulated.
    pub simulated: bool,
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
    /// The value.
    pub value: f64,
    /// Where it stands, for a person.
    pub source: String,
    /// Whether the source is not the authors' own text.
    pub second_hand: bool,
}

// ---------------------------------------------------------------------------------------------- retries

/// Asks for stamina as a function of the retry budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct RetriesRequest {
    /// The members.
    pub members: Vec<Member>,
}

/// Stamina as a function of the retry budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Retries {
    /// Horizon in turns.
    pub tau: u32,
    /// One a member.
    pub series: Vec<RetrySeries>,
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
    /// Whether a scripted model stood in for a real one in any of its runs.
    pub simulated: bool,
    /// How it is drawn.
    pub swatch: Swatch,
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
