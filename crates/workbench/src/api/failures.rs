//! Failures by class: what the Failures page asks for and gets. Classes and rules are defined in `analysis::failures`
//! and in `docs/metrics.md`.

use model::{Median, RateInterval};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Member;

/// By what failed attempts are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureGrouping {
    /// By member of the request.
    #[default]
    Member,
    /// By harness.
    Harness,
    /// By turn.
    Turn,
    /// By number of the attempt.
    Attempt,
}

/// Which failed attempts count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureScope {
    /// Every failed attempt.
    #[default]
    Attempts,
    /// Final attempts of turns not passed.
    Turns,
    /// The attempt that ended each episode's stamina, where the policy takes that end for a failure.
    First,
}

/// Asks for failures by class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct FailuresRequest {
    /// Whose; empty = every real run of one benchmark.
    pub members: Vec<Member>,
    /// Key of that benchmark; `None` = the one with most runs. Members that are named have theirs.
    #[serde(default)]
    pub benchmark: Option<String>,
    /// Grouped by.
    #[serde(default)]
    pub group: FailureGrouping,
    /// Which attempts.
    #[serde(default)]
    pub scope: FailureScope,
}

/// Failures by class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Failures {
    /// The benchmark whose runs these are, where no member was named: key, name.
    pub benchmark: Option<(String, String)>,
    /// Every benchmark with runs: key, name, runs; empty where members were named.
    pub benchmarks: Vec<(String, String, u32)>,
    /// Whether all members play one turn: an episode is a trial of a task then.
    pub of_one_turn: bool,
    /// Settings that differ between the members so that they must not be compared, with their values.
    pub not_comparable: Vec<String>,
    /// Classes that occur, in the order of the taxonomy.
    pub classes: Vec<FailureClassInfo>,
    /// Failed attempts in scope.
    pub attempts: u32,
    /// Attempts in all, passed ones included, whatever the scope.
    pub all_attempts: u32,
    /// Episodes in which these were made.
    pub episodes: u32,
    /// Failing tests in scope that the source describes.
    pub tests: u32,
    /// Failing tests that the source counts and does not describe.
    pub not_described: u32,
    /// All in scope.
    pub total: FailureGroup,
    /// In order; of turns and numbers of attempts those with a failed attempt in scope.
    pub groups: Vec<FailureGroup>,
    /// How long it takes until what failed passes, whatever the scope.
    pub repair: Repair,
    /// The same of what began to fail in each group, in order: every member, and of the others each in which something
    /// began to.
    pub repairs: Vec<RepairGroup>,
    /// Failing tests by origin.
    pub origins: Vec<(FailureOrigin, u32)>,
    /// What a reader must know of the numbers, in sentences: logs that cannot be read, …
    pub cautions: Vec<String>,
    /// What others published about failures on these benchmarks, each sentence with its source.
    pub published: Vec<String>,
    /// Tests that flip most, at most 100.
    pub flips: Vec<FlippingTest>,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<FailureRule>,
}

/// A class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FailureClassInfo {
    /// Stable word: `guard_ignored`.
    pub class: String,
    /// In words.
    pub label: String,
    /// `code`, `harness` or `outside`; `unknown` for what no rule takes.
    pub side: String,
    /// When it applies.
    pub description: String,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FailureRule {
    /// Stable word.
    pub id: String,
    /// The class that it gives.
    pub class: String,
    /// In words.
    pub description: String,
}

/// Failed attempts that share a member, harness, turn or attempt number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FailureGroup {
    /// For `list_failure_cases`; `""` = all.
    pub key: String,
    /// In words.
    pub label: String,
    /// Whether attempts of runs in which a simulated model stood in for a real one are among them.
    pub simulated: bool,
    /// Attempts that the scope is about: all that were made; final ones of turns; final ones of turns at risk (with no failed
    /// turn before, and not ended from outside).
    pub attempts_in_scope: u32,
    /// Failed attempts.
    pub attempts: u32,
    /// Their share among those, with its 95 % interval as that of a share is made: value, low, high; `None` = there are none, for
    /// low and high: those are of one scenario.
    pub rate: Option<(f64, Option<f64>, Option<f64>)>,
    /// How the interval of the rate is made: clustered by scenario where several attempts made are of one. `None` = it has none.
    pub rate_interval: Option<RateInterval>,
    /// How the intervals of its shares are made: clustered by scenario where several failed attempts are of one. `None` = there
    /// are no intervals: nothing failed, or several attempts of a single scenario did.
    pub interval: Option<RateInterval>,
    /// One a class that occurs in it, in the order of `classes`.
    pub shares: Vec<FailureShare>,
}

impl FailureGroup {
    /// Its words as tables and texts have them.
    pub fn marked(&self) -> String {
        super::comparisons::marked(&self.label, self.simulated)
    }
}

/// What began to fail in a group, and how long it took until it passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RepairGroup {
    /// As of the [`FailureGroup`], where there is one.
    pub key: String,
    /// In words.
    pub label: String,
    /// Whether attempts of runs in which a simulated model stood in for a real one are among them.
    pub simulated: bool,
    /// Of what began to fail in it.
    pub repair: Repair,
}

impl RepairGroup {
    /// Its words as tables and texts have them.
    pub fn marked(&self) -> String {
        super::comparisons::marked(&self.label, self.simulated)
    }
}

/// How often a class occurs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FailureShare {
    /// The class.
    pub class: String,
    /// Failed attempts whose primary class it is.
    pub attempts: u32,
    /// Their share among the failed attempts of the group, 0 to 1.
    pub share: f64,
    /// Lower end of its 95 % interval; `None` as of [`FailureGroup::interval`].
    pub ci_low: Option<f64>,
    /// Its upper end.
    pub ci_high: Option<f64>,
    /// Failing tests of this class in the group, whatever the attempt's primary class.
    pub tests: u32,
}

/// Where a failing test comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureOrigin {
    /// No earlier outcome of it is known in this episode, and every earlier test is.
    New,
    /// Passed in an earlier turn or attempt, and not since.
    #[serde(alias = "regression")]
    Regressed,
    /// Failed when its outcome was known last.
    StillFailing,
    /// Earlier turns do not describe their tests.
    Unknown,
}

/// How a failing test stood before, over the turns and attempts of its episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TestHistory {
    /// How it stood.
    pub history: FailureOrigin,
    /// The last turn before in which it is known to have passed.
    pub passed_in_turn: Option<u32>,
    /// Of one that is still failing: the turn in which it began to.
    pub since_turn: Option<u32>,
}

/// How long it takes until what failed passes: of turns, and of stretches in which a test failed. They stand where they
/// began: in that turn, at that attempt. They are over every attempt, whatever the scope: the narrower ones have only
/// attempts that nothing came after, and none of them could be repaired.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Repair {
    /// Turns whose first attempt failed.
    pub failed_first: u32,
    /// Of them: tried again.
    pub tried_again: u32,
    /// Of them: passed at a later attempt of the same turn.
    pub repaired: u32,
    /// Median number of further attempts until the turn passed (Kaplan–Meier, turns never repaired are censored); `null` =
    /// unknown, no turn failed or none was tried again.
    pub median_attempts: Median,
    /// Turns that passed at attempt 2, 3, …
    pub at_attempt: Vec<(u32, u32)>,
    /// Stretches in which a test failed: from the first failure to the pass after it, or to where it is seen last.
    pub stretches: u32,
    /// Those of them of which nobody knows how they ended: their source describes failing tests only, their numbers are given anew
    /// in each turn and theirs was not tried again, or tests ran once.
    pub stretches_unknown: u32,
    /// Of the others: those that ended with a pass; `None` = there are no others.
    pub stretches_repaired: Option<u32>,
    /// Those that ended with a pass in the turn in which they began; `None` as above.
    pub repaired_in_same_turn: Option<u32>,
    /// Median turns from the first failure to the pass, 0 = in the same turn, over these others (Kaplan–Meier, those never
    /// repaired are censored); `null` = unknown, no stretch was followed.
    pub median_turns: Median,
}

/// A test that goes back and forth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FlippingTest {
    /// Id of the run.
    pub run: String,
    /// Whether a simulated model stood in for a real one in it.
    pub simulated: bool,
    /// Id of the episode.
    pub episode: String,
    /// The scenario.
    pub scenario: String,
    /// Repeat of the scenario in this run: the number that the source gives, else from 1.
    pub repeat: u32,
    /// Id of the test.
    pub test: String,
    /// How often its outcome changed.
    pub flips: u32,
    /// Turn and attempt at which it changed last.
    pub last: (u32, u32),
    /// For each turn its outcome at the end of the turn: `p`, `f`, `.` = the turn says nothing of it.
    pub outcomes: String,
    /// The turns within which its outcome changed, from one attempt to another.
    pub changed_within: Vec<u32>,
}

/// Asks for the cases behind a share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct FailureCasesRequest {
    /// As in the request for failures.
    pub failures: FailuresRequest,
    /// Key of the group; `""` = all.
    #[serde(default)]
    pub group: String,
    /// Only this class.
    #[serde(default)]
    pub class: Option<String>,
    /// The class is that of failing tests: attempts with a failing test of it, whatever their own class. Without it the
    /// attempts whose own class it is.
    #[serde(default)]
    pub by_tests: bool,
    /// Only attempts with a failing test of this origin.
    #[serde(default)]
    pub origin: Option<FailureOrigin>,
    /// Only those of this episode (its id).
    #[serde(default)]
    pub episode: Option<String>,
    /// Only those of this turn.
    #[serde(default)]
    pub turn: Option<u32>,
    /// Most failing tests that are named of each; 0 = 8.
    #[serde(default)]
    pub most_tests: u32,
    /// First row to give.
    #[serde(default)]
    pub offset: u32,
    /// Most rows to give; 0 = 200.
    #[serde(default)]
    pub limit: u32,
}

/// A failing test of an attempt, and how it stood before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StandingTest {
    /// Its id.
    pub test: String,
    /// Its class.
    pub class: String,
    /// How it stood before.
    #[serde(flatten)]
    pub stood: TestHistory,
}

/// Failed attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FailureCasePage {
    /// The asked rows, by member, scenario, turn and attempt.
    pub rows: Vec<FailureCase>,
    /// How many there are.
    pub total: u32,
    /// Whether all members play one turn.
    pub of_one_turn: bool,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FailureCase {
    /// Id of the run.
    pub run: String,
    /// Its name as the page says it.
    pub name: String,
    /// Whether a simulated model stood in for a real one in it.
    pub simulated: bool,
    /// Id of the episode.
    pub episode: String,
    /// The scenario.
    pub scenario: String,
    /// Its title; `None` = the source names none.
    pub title: Option<String>,
    /// Repeat of the scenario in this run: the number that the source gives, else from 1.
    pub repeat: u32,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// Primary class.
    pub class: String,
    /// The rule that gave it and its sentence, `id: sentence`; or why there is none.
    pub rule: Option<String>,
    /// Failing tests by class, most first.
    pub tests: Vec<(String, u32)>,
    /// Failing tests that the source counts and does not describe.
    pub not_described: u32,
    /// Failing tests by origin: new, regressed, still failing, unknown.
    pub origins: (u32, u32, u32, u32),
    /// Failing tests, regressed ones first, then new ones, as many as were asked for.
    pub failing: Vec<StandingTest>,
    /// The test that the primary class rests on.
    pub test: Option<String>,
    /// The turn in which that test last passed, if it regressed.
    pub passed_in_turn: Option<u32>,
    /// The beginning of what that test, or the exception, said.
    pub message: Option<String>,
    /// Tests passed and run.
    pub passed: Option<u32>,
    /// Tests run.
    pub total: Option<u32>,
}
