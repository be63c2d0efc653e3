//! Comparing runs: what the Compare page asks for and gets. Every number is defined in `docs/metrics.md`.

use model::PassRate;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use analysis::difference::Estimate;

use super::{Member, PublishedNumber, Stamina, SurvivalRow, TurnScores};

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

/// How a member is drawn on this page: color = model, dash = harness; when only one of them varies, it takes both. No two
/// of eight members share their marker, so that they are told apart without color, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SeriesStyle {
    /// 1 to 8: `--series-N`.
    pub color: u32,
    /// 1 to 8: dash pattern (solid, 6-2, 2-2, 6-2-2-2, 10-3, and three more).
    pub dash: u32,
    /// 1 to 8: marker (circle, square, triangle, diamond, cross, hollow circle, hollow square, asterisk): that of the dash,
    /// but where another member has it.
    pub marker: u32,
}

/// What stands for a member in a list that names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ComparedMember {
    /// What was asked for.
    pub member: Member,
    /// Stable text for links and scripts, see [`Member::text`].
    pub id: String,
    /// The shortest name that tells it from the other members.
    pub name: String,
    /// The same where there is little room for it: what differs, as charts have it.
    pub short_name: String,
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
    /// Whether a simulated model stood in for a real one in any of its runs.
    pub simulated: bool,
    /// `oracle` or `nop`, if it is one.
    pub baseline: Option<String>,
    /// How it is drawn.
    #[serde(rename = "swatch")]
    pub style: SeriesStyle,
    /// Scenarios that it played.
    pub scenarios: u32,
    /// Over the common τ.
    pub stamina: Stamina,
    /// Pass rate, where all its episodes play one turn; `None` = some play more.
    pub pass_rate: Option<PassRate>,
    /// The interval of the mean from a bootstrap that draws scenarios; `None` = no variation. Right also where a scenario
    /// was played several times.
    pub stamina_bootstrap: Option<(f64, f64)>,
    /// The same with every censored episode counted as failed at the turn after the last one passed.
    pub censored_failed: Stamina,
    /// The same without censored episodes (those that passed everything stay).
    pub censored_dropped: Stamina,
    /// Share of episodes censored before τ, other than those that passed everything, 0 to 1.
    pub early_censored: Option<f64>,
    /// Survival table to the common τ, and on to the last turn that anybody plans.
    pub survival: Vec<SurvivalRow>,
    /// The benchmark's own score, 0 to 100.
    pub score: Option<f64>,
    /// Whether the score is of turns that passed or not; else it is of tests.
    pub grades_turns: bool,
    /// Scores of turns that are graded by themselves; `None` = they do not apply.
    pub scores: Option<TurnScores>,
    /// Sums and rates.
    pub spent: Spent,
    /// Import warnings and other things that a reader must know, such as `25 of 26 tasks`.
    pub caveats: Vec<String>,
    /// What makes its numbers less sure than they look, a few words each, to stand beside them: `35 of 89 episodes`.
    pub doubts: Vec<String>,
    /// The place among them of the one that is about its cost: it stands only where costs are shown.
    #[serde(skip)]
    pub(crate) doubt_of_cost: Option<usize>,
}

impl ComparedMember {
    /// Its name as tables and texts have it: with the word that says so where it is simulated.
    pub fn marked(&self) -> String {
        marked(&self.name, self.simulated)
    }

    /// What it used, as the command line has it: a simulated model has no cost, whatever its source counts.
    pub fn used(&self) -> Spent {
        if !self.simulated {
            return self.spent;
        }
        Spent {
            cost_usd: None,
            cost_known: 0,
            cost_per_turn: None,
            cost_per_turn_known: KnownCounts::default(),
            cost_per_survived_turn: None,
            no_turn_survived: false,
            cost_per_episode: None,
            pareto: None,
            ..self.spent
        }
    }
}

/// A name with the word that says that a simulated model stood in for a real one.
pub(crate) fn marked(name: &str, simulated: bool) -> String {
    if simulated { format!("{name} (simulated)") } else { name.to_owned() }
}

/// What a rate is over: only turns where every attempt says the number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KnownCounts {
    /// Episodes with a turn that says it: the n of the rate.
    pub episodes: u32,
    /// Those turns.
    pub turns: u32,
}

/// What a member used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Spent {
    /// Input tokens, cached ones included: the sum of what is known.
    pub input_tokens: Option<u64>,
    /// Episodes for which they are known at every turn; fewer than all means that the sum is partial.
    pub input_tokens_known: u32,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Episodes for which they are known at every turn.
    pub output_tokens_known: u32,
    /// US dollars; `None` = unknown for every episode.
    pub cost_usd: Option<f64>,
    /// Episodes for which the whole cost is known; fewer than all means that the sum is partial.
    pub cost_known: u32,
    /// Seconds of agent time.
    pub agent_seconds: Option<f64>,
    /// Episodes for which it is known at every turn.
    pub agent_seconds_known: u32,
    /// Turns with at least one attempt.
    pub turns_played: u32,
    /// How many of them came after an episode's first failure: in the costs, and in no stamina.
    pub turns_after_failure: u32,
    /// Steps of the agent (calls of its model) per turn played.
    pub steps_per_turn: Option<f64>,
    /// What that is over.
    pub steps_known: KnownCounts,
    /// Mean over episodes of the steps that the agent took before the first turn not passed.
    pub steps_survived: Option<f64>,
    /// Episodes that this is over: those of which all those steps are known.
    pub steps_survived_known: u32,
    /// Tool calls per turn played.
    pub tool_calls_per_turn: Option<f64>,
    /// What that is over.
    pub tool_calls_known: KnownCounts,
    /// Agent seconds per turn played.
    pub seconds_per_turn: Option<f64>,
    /// What that is over.
    pub seconds_known: KnownCounts,
    /// US dollars per turn played.
    pub cost_per_turn: Option<f64>,
    /// What that is over.
    pub cost_per_turn_known: KnownCounts,
    /// Tokens, input and output, per turn played.
    pub tokens_per_turn: Option<f64>,
    /// What that is over.
    pub tokens_known: KnownCounts,
    /// US dollars per turn survived: the cost of whole episodes, turns after the first failure included, / the sum of
    /// stamina; `None` = cost not known for every episode, or no turn survived.
    pub cost_per_survived_turn: Option<f64>,
    /// Whether that is because not a turn was survived: the cost is known, and bought none.
    pub no_turn_survived: bool,
    /// Mean US dollars per episode, where known for every one.
    pub cost_per_episode: Option<f64>,
    /// Whether it is on the Pareto front of mean stamina against cost per episode; `None` = its cost is unknown.
    pub pareto: Option<bool>,
}

impl Spent {
    /// What stands in place of the cost per survived turn, where there is none. Of runs of one turn a turn is a trial.
    pub const fn instead_of_cost_per_survived_turn(&self, is_single_turn: bool) -> &'static str {
        match (self.no_turn_survived, is_single_turn) {
            (true, true) => "no trial passed",
            (true, false) => "no turn survived",
            (false, _) => "unknown",
        }
    }
}

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Comparison {
    /// In the order asked for.
    pub members: Vec<ComparedMember>,
    /// Index of the reference.
    pub reference: u32,
    /// Whether all members play one turn: then they have pass rates, and stamina says no more.
    pub of_one_turn: bool,
    /// Horizon in turns; `None` = nobody was at risk.
    pub tau: Option<u32>,
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
    /// Members that have runs in common: indices of both, how many runs. Nothing is tested between these.
    pub overlaps: Vec<(u32, u32, u32)>,
    /// Log-rank over all members; `None` = for the reason below.
    pub overall: Option<ChiSquare>,
    /// Whether that is clustered by scenario, because some member has several episodes of one.
    pub overall_clustered: bool,
    /// Why there is none, in words without a full stop.
    pub no_overall: Option<String>,
    /// The same, stratified by scenario; `None` = for the reason below.
    pub overall_stratified: Option<ChiSquare>,
    /// Why there is none.
    pub no_overall_stratified: Option<String>,
    /// What a reader must know of the numbers on this page, in sentences: much early censoring, few episodes, …
    pub cautions: Vec<String>,
    /// What others published about the benchmarks of the members, each sentence with its source.
    pub published_benchmark: Vec<String>,
    /// The same about what runs on them cost.
    pub published_cost: Vec<String>,
    /// Published scores of turns of the same tasks, never mixed with those of the members.
    pub published_scores: Vec<PublishedNumber>,
    /// `default` or `custom`.
    pub policy: String,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Comparison {
    /// How many scenarios all members share, where that is true by their names: a trial that two members have is of one scenario,
    /// whatever their sources call it. `None` = members have trials in common, and no name.
    #[must_use]
    pub fn known_shared_scenarios(&self) -> Option<u32> {
        Some(self.shared_scenarios).filter(|shared| *shared > 0 || self.overlaps.is_empty())
    }

    /// Before what an episode is censored early: `turn 9`. Where nobody was at risk there is no such turn.
    #[must_use]
    pub fn early_limit(&self) -> String {
        self.tau.map_or_else(|| "they were at risk".to_owned(), |tau| format!("turn {tau}"))
    }

    /// The pairs over which Holm corrects: `3 pairs`. `None` where none is tested.
    pub fn holm_pairs(&self) -> Option<String> {
        match self.pairs.iter().filter(|pair| pair.p_holm.is_some()).count() {
            0 => None,
            1 => Some("1 pair".to_owned()),
            n => Some(format!("{n} pairs")),
        }
    }
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
    /// In words: `longer time favors DeepSeek-V4-Pro`.
    pub note: String,
}

impl SettingDifference {
    /// Its mark as tables show it. Where no two known values differ, the setting may still be the same for all.
    #[must_use]
    pub fn mark(&self) -> &'static str {
        let mut known = self.values.iter().flatten();
        let first = known.next();
        match self.comparability {
            Comparability::NotComparable => "not comparable",
            Comparability::CannotBeRuledOut if known.all(|value| Some(value) == first) => {
                "may differ (unknown)"
            }
            Comparability::CannotBeRuledOut => "effect unknown",
            Comparability::NoEffect => "no effect",
        }
    }
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

impl ComparedPair {
    /// Why nothing is paired between two members of these names.
    pub(crate) fn not_paired(&self, a: &str, b: &str, is_single_turn: bool) -> String {
        if self.in_both > 0 {
            format!("{a} and {b} have runs, or trials of them, in common: nothing is paired.")
        } else if is_single_turn {
            format!("{a} and {b} share no task of which both have a scored trial.")
        } else {
            format!("{a} and {b} share no scenario in which both were at risk.")
        }
    }
}

/// Two members, tested against each other. Differences are `a − b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ComparedPair {
    /// Index of a member.
    pub a: u32,
    /// Index of the other; with [`Pairs::Reference`] this is the reference.
    pub b: u32,
    /// Runs that are in both members. If there are any, the two are not independent, and nothing is tested.
    pub in_both: u32,
    /// Whether a member has several episodes of a scenario: then the log-rank test and intervals and p of difference and
    /// ratio are clustered by scenario.
    pub clustered: bool,
    /// Log-rank test; `None` = not defined (nobody failed, or a member is empty).
    pub logrank: Option<ChiSquare>,
    /// Its p, corrected by Holm over all pairs of this comparison.
    pub p_holm: Option<f64>,
    /// The log-rank test by permutation, for pairs of together at most 40 episodes, no two of a member of one scenario;
    /// `None` = others, or not defined.
    pub logrank_permutation: Option<PermutationTest>,
    /// Log-rank stratified by scenario, on shared scenarios.
    pub logrank_stratified: Option<ChiSquare>,
    /// Difference of mean stamina, unpaired, Greenwood; by a jackknife over scenarios where `clustered`.
    pub difference: Option<Estimate>,
    /// The interval of that difference from a bootstrap that resamples scenarios.
    pub difference_bootstrap: Option<(f64, f64)>,
    /// Difference of pass rates (shares), unpaired, by Newcombe, where both play one turn.
    pub pass_rate_difference: Option<Estimate>,
    /// Ratio of mean staminas a / b, by a jackknife over scenarios where `clustered`; `None` = b is 0.
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
    /// Mean of the differences a − b, in turns, adjusted for censoring ([`PairedScenarioRow::adjusted`]).
    pub mean: f64,
    /// Mean of the observed differences, in turns. It is another where episodes were censored before τ.
    pub observed_mean: f64,
    /// Lower end of the paired t interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Of the paired t test.
    pub p: Option<f64>,
    /// Of the sign-flip permutation test.
    pub p_sign_flip: Option<f64>,
    /// Scenarios in which a lasted longer, both the same, b longer, as observed.
    pub wins: (u32, u32, u32),
    /// Scenarios in which a lower bound leaves open which of them it is.
    pub undecided: u32,
    /// Scenario by scenario, largest difference first.
    pub scenarios: Vec<PairedScenarioRow>,
}

impl PairedComparison {
    /// What the mean of the observed differences is, where it is another one: `the mean of the observed differences is −2.04`. Those
    /// of pass rates are in percentage points.
    pub fn observed_in_words(&self, is_rate: bool) -> Option<String> {
        let shown = |mean: f64| {
            let text = if is_rate { format!("{:+.1} pp", 100.0 * mean) } else { format!("{mean:+.2}") };
            text.replace('-', "−")
        };
        let observed = shown(self.observed_mean);
        (observed != shown(self.mean)).then(|| format!("the mean of the observed differences is {observed}"))
    }
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
    /// The difference a − b as it enters mean, interval and tests: of pseudo-observations where an episode of either was
    /// censored before τ, else of what was observed.
    pub adjusted: f64,
}
