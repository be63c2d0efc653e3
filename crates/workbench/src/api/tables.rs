//! Tables that are exported, by what they are about.

use model::Treatment;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    CompareRequest, DisagreementRequest, FailureCasesRequest, FailuresRequest, GridSort, JobRef, ListRuns,
    MatrixRequest, Member, RetriesRequest, RunFolder, ScenarioSuiteRequest, TasksRequest, TurnRef,
};

/// A table by what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TableSubject {
    /// Members with n, events, censored, mean stamina, intervals, median, score, tokens, cost.
    Runs {
        /// Whose.
        request: CompareRequest,
    },
    /// Scores of turns of members: dataset, case, perfect, MT@k, SR, Gap, Comp.
    Scores {
        /// Whose.
        request: CompareRequest,
    },
    /// Tokens, cost, time and tool calls of members.
    Spent {
        /// Whose.
        request: CompareRequest,
    },
    /// Pairs with difference, ratio, log-rank, paired test.
    Pairs {
        /// Whose.
        request: CompareRequest,
    },
    /// Mean stamina under other ways to count censored episodes.
    Sensitivity {
        /// Whose.
        request: CompareRequest,
    },
    /// Settings that differ.
    Settings {
        /// Whose.
        request: CompareRequest,
    },
    /// Kaplan–Meier table, turn by turn.
    Survival {
        /// Whose.
        request: CompareRequest,
    },
    /// Turns on which members disagree: every row of the mode, whatever the request says of pages.
    Disagreements {
        /// Which.
        request: DisagreementRequest,
    },
    /// Harness × model, with the means of its lines.
    Matrix {
        /// Which.
        request: MatrixRequest,
    },
    /// Best and worst harness of each model, with their ratio.
    Spread {
        /// Which.
        request: MatrixRequest,
    },
    /// Published numbers of the same benchmark.
    Published {
        /// Which.
        request: MatrixRequest,
    },
    /// Retry budget.
    Retries {
        /// Whose.
        request: RetriesRequest,
    },
    /// Gain by retries.
    Gains {
        /// Whose.
        request: RetriesRequest,
    },
    /// Failure classes.
    Failures {
        /// Whose.
        request: FailuresRequest,
    },
    /// Failed attempts, one a row: all of them, whatever the request says of pages.
    Cases {
        /// Which.
        request: FailureCasesRequest,
    },
    /// Failing tests by origin.
    Origins {
        /// Whose.
        request: FailuresRequest,
    },
    /// How many turns that failed at first passed at which attempt.
    Repairs {
        /// Whose.
        request: FailuresRequest,
    },
    /// How long it takes until what failed passes, by group.
    RepairTimes {
        /// Whose.
        request: FailuresRequest,
    },
    /// Tests that flip most.
    Flips {
        /// Whose.
        request: FailuresRequest,
    },
    /// The rules that classify.
    Rules {
        /// Whose.
        request: FailuresRequest,
    },
    /// The reference and another member, or every other, on the scenarios that both played.
    Paired {
        /// Whose.
        request: CompareRequest,
        /// Index of the other member; `None` = every other.
        other: Option<u32>,
    },
    /// Episodes, one a row.
    Episodes {
        /// Whose.
        members: Vec<Member>,
        /// Order.
        #[serde(default)]
        sort: GridSort,
    },
    /// Turns of episodes, one a row: the grid.
    Turns {
        /// Whose.
        members: Vec<Member>,
        /// Order of the episodes.
        #[serde(default)]
        sort: GridSort,
    },
    /// Turns over all episodes: how many reached and passed them, with which score, in how many attempts.
    ByTurn {
        /// Whose.
        members: Vec<Member>,
    },
    /// Every attempt, one a row: the tidy table that Stamina Lab reads.
    Tidy {
        /// Whose.
        members: Vec<Member>,
    },
    /// Tasks of runs of one turn, one row for each task and member: what it came to, and what it took.
    Tasks {
        /// Which.
        request: TasksRequest,
    },
    /// The same with the members as columns, and who alone solves a task.
    TaskGrid {
        /// Which.
        request: TasksRequest,
    },
    /// Members that play one turn: pass rate, tasks solved, and what a task takes.
    PerTask {
        /// Whose.
        request: TasksRequest,
    },
    /// pass@k and pass^k of members that play one turn.
    PassAtK {
        /// Whose.
        request: TasksRequest,
    },
    /// Runs of the library: every one that the filters leave, whatever the request says of pages.
    Library {
        /// Which.
        request: ListRuns,
    },
    /// Runs that are or were played here.
    Played {
        /// Only those that nobody plays.
        #[serde(default)]
        only_ended: bool,
    },
    /// Episodes of a run that is or was played here.
    Progress {
        /// Which.
        run: RunFolder,
    },
    /// Cases of a turn's suite: every one that the filters leave, whatever the request says of pages.
    Suite {
        /// Which.
        request: ScenarioSuiteRequest,
    },
    /// Attempts at a turn, one a row.
    Attempts {
        /// The turn.
        turn: TurnRef,
    },
    /// Tests of an attempt, one a row.
    Tests {
        /// The attempt.
        attempt: AttemptChoice,
    },
    /// Tests of one turn in two runs, joined by their ids.
    Joined {
        /// The one.
        left: AttemptChoice,
        /// The other.
        right: AttemptChoice,
    },
    /// Import warnings of a source.
    Warnings {
        /// Which.
        selection: WarningSelection,
    },
    /// What a validation of this process found to be wrong.
    Findings {
        /// The validation.
        job: JobRef,
    },
    /// Mutants of a validation of this process, by operator.
    Mutants {
        /// The validation.
        job: JobRef,
    },
}

/// An attempt at a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct AttemptChoice {
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// The turn.
    pub turn: u32,
    /// Number of the attempt; `None` = the last.
    pub attempt: Option<u32>,
}

/// Which warnings of a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct WarningSelection {
    /// The source.
    pub source: i64,
    /// Only those treated so.
    pub treatment: Option<Treatment>,
    /// Only those that concern this run (its id).
    pub run: Option<String>,
}
