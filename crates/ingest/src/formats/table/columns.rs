//! The columns of a tidy table, declared once: the reader, the export and the table in `docs/formats.md` are of this list.

use strum::IntoStaticStr;

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A whole number from 1.
    Ordinal,
    /// A whole number from 0.
    Count,
    /// A count of tokens.
    Tokens,
    /// A number from 0: dollars, seconds.
    Amount,
    /// Any number.
    Number,
    /// Yes or no.
    Flag,
    /// One of [`model::EndReason`].
    EndReason,
    /// One of [`model::Verdict`].
    Verdict,
    /// A date and time.
    Time,
}

impl Kind {
    /// As `docs/formats.md` says it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Ordinal => "integer from 1",
            Self::Count => "integer from 0",
            Self::Tokens => "tokens",
            Self::Amount => "number from 0",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::EndReason => "end reason",
            Self::Verdict => "verdict",
            Self::Time => "time",
        }
    }
}

/// What a column is about: it says the same in every row of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RowSubject {
    /// The run.
    Run,
    /// The episode: a scenario that a run plays once.
    Episode,
    /// The turn.
    Turn,
    /// The attempt.
    Attempt,
    /// A task that the source only counts, in a row of its own without a scenario.
    Task,
}

impl RowSubject {
    /// As `docs/formats.md` says it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Which.
    pub field: Field,
    /// Its name.
    pub name: &'static str,
    /// Other names that are taken for it where the table has no column of its own name.
    pub also: &'static [&'static str],
    /// What a cell holds.
    pub kind: Kind,
    /// What it is about.
    pub subject: RowSubject,
    /// Whether a table without it is none.
    pub required: bool,
    /// Whether the export has it. What it has not stays in the source: texts and files.
    pub exported: bool,
    /// What it says.
    pub meaning: &'static str,
    /// What an empty cell, or no column, means.
    pub default: &'static str,
}

macro_rules! columns {
    ($($field:ident $name:literal [$($also:literal),*] $kind:ident $subject:ident $required:literal $exported:literal $meaning:literal $default:literal;)+) => {
        /// A column of the tidy table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the list says what each is")]
        pub enum Field { $($field,)+ }

        /// Every column, in the order of the export; [`Field`] as a number is its place here.
        pub const COLUMNS: &[Column] = &[$(Column {
            field: Field::$field,
            name: $name,
            also: &[$($also),*],
            kind: Kind::$kind,
            subject: RowSubject::$subject,
            required: $required,
            exported: $exported,
            meaning: $meaning,
            default: $default,
        },)+];
    };
}

columns! {
    Run "run" [] Text Run true true "Name of the run: rows with one name are one run, in every file of the folder" "the row is left out";
    Harness "harness" ["agent", "scaffold"] Text Run true true "Agent harness" "unknown";
    Model "model" [] Text Run true true "Model" "unknown";
    Scenario "scenario" ["task", "task_id"] Text Episode true true "Scenario: the same name in two runs is the same scenario" "the run has no episode here";
    Turn "turn" [] Ordinal Turn true true "Turn" "the episode has no turn";
    Attempt "attempt" [] Ordinal Attempt true true "Attempt at the turn" "the turn was not reached";
    Passed "passed" [] Flag Attempt true true "Whether the attempt passed" "no verdict: unfinished, or by end_reason; what is no verdict: verifier_error";
    TestsPassed "tests_passed" [] Count Attempt false true "Tests passed" "unknown";
    TestsTotal "tests_total" [] Count Attempt false true "Tests run" "unknown";
    TestsFailed "tests_failed" [] Count Attempt false true "Tests failed, where it is another number than tests_total less tests_passed: some neither passed nor failed" "tests_total less tests_passed";
    EndReason "end_reason" [] EndReason Attempt false true "Why the attempt ended" "tests_failed where it did not pass";
    Verdict "verdict" [] Verdict Attempt false true "passed, failed, error (no test verdict), unfinished (stopped from outside)" "by passed";
    Counting "counting" [] Text Attempt false true "How tests_passed of tests_total enters scores: share, zero (as 0), outside (not at all)" "share";
    Reward "reward" [] Number Attempt false true "Grade of the attempt" "unknown";
    TokensIn "tokens_in" ["input_tokens", "prompt_tokens"] Tokens Attempt false true "Prompt tokens, cached ones included" "unknown";
    TokensCached "tokens_cached" ["cached_tokens"] Tokens Attempt false true "Prompt tokens that came from a cache" "unknown";
    TokensOut "tokens_out" ["output_tokens", "completion_tokens"] Tokens Attempt false true "Completion tokens" "unknown";
    CostUsd "cost_usd" ["cost"] Amount Attempt false true "US dollars" "unknown";
    ToolCalls "tool_calls" [] Count Attempt false true "Tool calls of the agent" "unknown";
    Steps "steps" [] Count Attempt false true "Calls of its model" "unknown";
    AgentSeconds "agent_seconds" ["seconds"] Amount Attempt false true "Seconds in which the agent worked" "unknown";
    TestSeconds "test_seconds" [] Amount Attempt false true "Seconds in which the tests ran" "unknown";
    StartedAt "started_at" [] Time Attempt false true "When the attempt began" "unknown";
    FinishedAt "finished_at" [] Time Attempt false true "When it ended" "unknown";
    ExceptionType "exception_type" [] Text Attempt false true "Type of an exception that the runner recorded" "none";
    Exception "exception" ["error"] Text Attempt false true "Its message" "none";
    Log "log" [] Text Attempt false false "A log: path of a file, from the folder of the table" "none";
    Title "turn_title" [] Text Turn false true "Short name of the turn" "none";
    Request "request" [] Text Turn false false "What was asked: a text, or the path of a file from the folder of the table" "unknown";
    Repeat "repeat" [] Count Episode false true "Repeat of the scenario in the run" "1";
    PlannedTurns "planned_turns" [] Count Episode false true "Turns that the scenario has" "unknown: an episode whose last turn passed has passed all";
    EpisodeEnd "episode_end_reason" [] EndReason Episode false true "Why the episode ended, if not by its turns" "by its turns";
    AttemptsLeft "attempts_left" [] Flag Episode false true "Whether the last turn had attempts left when the episode ended" "no";
    Unrecognized "unrecognised" [] Flag Episode false true "Whether the end is the agent's only because its cause is not recognized" "no";
    FromAnother "began_from_another" [] Flag Episode false true "Whether the episode began from what another one of its scenario had left: then MT@k is refused" "no";
    EpisodeId "episode_id" [] Text Episode false true "What copies of an episode have in common, wherever they lie: each counts once. Only as Stamina Lab writes it (`id-`, `by-`, `of-` or `re-` and 16 hexadecimal digits): others number their episodes, in every table from 1" "by its contents, if they are measured closely";
    EpisodeInvalid "episode_invalid" [] Text Episode false true "Why the episode was withdrawn" "it was not";
    ScenarioTitle "scenario_title" [] Text Episode false true "A nicer name of the scenario" "none";
    EpisodeTokensIn "episode_tokens_in" [] Tokens Episode false true "Prompt tokens of the whole episode, where attempts do not say them" "the sum over attempts";
    EpisodeTokensCached "episode_tokens_cached" [] Tokens Episode false true "The same, cached" "the sum over attempts";
    EpisodeTokensOut "episode_tokens_out" [] Tokens Episode false true "The same, completion" "the sum over attempts";
    EpisodeCostUsd "episode_cost_usd" [] Amount Episode false true "US dollars of the whole episode" "the sum over attempts";
    EpisodeAgentSeconds "episode_agent_seconds" [] Amount Episode false true "Seconds of the agent in the whole episode" "the sum over attempts";
    EpisodeTestSeconds "episode_test_seconds" [] Amount Episode false true "Seconds of the tests in the whole episode" "unknown";
    EpisodeStartedAt "episode_started_at" [] Time Episode false true "When the episode began" "unknown";
    EpisodeFinishedAt "episode_finished_at" [] Time Episode false true "When it ended" "unknown";
    Benchmark "benchmark" [] Text Run false true "Key of the benchmark: runs of one are compared. Gap is of a run of `harbor-sr:X` beside one of `harbor:X`, of the same harness and model. Scenarios of the first are `TASK/STEP`, with one turn each. Those of the second are the tasks, with `restore_before_try` and an `attempt_limit` of at least 4" "table";
    BenchmarkName "benchmark_name" [] Text Run false true "Its name" "the key; Tidy table without one";
    ScenarioSet "scenario_set" [] Text Run false true "Runs of one benchmark with different words here share no scenario" "one set";
    Scoring "scoring" [] Text Run false true "Whether a turn scores as a whole (turns) or by its share of tests passed (tests)" "tests; turns in a table without counts of tests";
    Provider "provider" [] Text Run false true "Provider of the model" "unknown";
    HarnessVersion "harness_version" [] Text Run false true "Version of the harness" "unknown";
    Runner "runner" [] Text Run false true "Program that ran the evaluation" "unknown";
    RunnerVersion "runner_version" [] Text Run false true "Its version" "unknown";
    Simulated "simulated" [] Flag Run false true "Whether a simulated model stood in for a real one" "no";
    PlannedEpisodes "planned_episodes" [] Count Run false true "Episodes that were planned" "unknown";
    AttemptLimit "attempt_limit" [] Ordinal Run false true "Most attempts that a turn may take" "unknown";
    RestoreBeforeTry "restore_before_try" [] Flag Run false true "Whether every attempt at a turn began from one snapshot: then MT@k is round by round" "no";
    PlannedTasks "planned_tasks" [] Count Run false true "Tasks that were planned: where each of their turns is an episode (`harbor-sr:…`), and in EvoCode-Bench's published results" "those that are there";
    RunStartedAt "run_started_at" [] Time Run false true "When the run began" "the start of its first episode";
    RunFinishedAt "run_finished_at" [] Time Run false true "When it ended" "unknown";
    Invalid "invalid" [] Text Run false true "Why the run was withdrawn" "it was not";
    CountedTask "counted_task" [] Text Task false true "Task that the source of the run counts and does not describe: it is in scores and no episode. Its row has no scenario" "the row is of no such task";
    CountedTurns "counted_turns" [] Count Task false true "Turns that this task has" "unknown; it counts as 0";
    CountedPassed "counted_turns_passed" [] Amount Task false true "How many of them passed" "unknown; it counts as 0";
    CountedCases "counted_case_share" [] Amount Task false true "Its share of test cases passed, 0 to 1" "it is in no case score";
}

/// How many columns there are.
pub(super) const COUNT: usize = COLUMNS.len();

impl Field {
    /// The column.
    pub fn column(self) -> &'static Column {
        &COLUMNS[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.column().name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_column_has_its_place_and_its_names_alone() {
        let mut names = BTreeSet::new();
        for (index, column) in COLUMNS.iter().enumerate() {
            assert_eq!(column.field as usize, index);
            for name in column.also.iter().chain([&column.name]) {
                assert!(names.insert(*name), "{name}");
            }
        }
        let required: Vec<&str> = COLUMNS.iter().filter(|c| c.required).map(|c| c.name).collect();
        assert_eq!(required.join(", "), "run, harness, model, scenario, turn, attempt, passed");
    }

    #[test]
    fn the_columns_are_the_documented_ones() {
        let doc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let doc = std::fs::read_to_string(doc).unwrap();
        let (_, doc) = doc.split_once("\n## Tidy table\n").unwrap();
        let (doc, _) = doc.split_once("\n## ").unwrap();
        let documented: Vec<&str> = doc.lines().filter(|line| line.starts_with("| `")).collect();
        let declared: Vec<String> = COLUMNS
            .iter()
            .map(|column| {
                let other_names: Vec<String> =
                    column.also.iter().map(|name| format!(" (`{name}`)")).collect();
                let other_names = other_names.concat();
                let required = if column.required { ", required" } else { "" };
                format!(
                    "| `{}`{other_names} | {} | {}{required} | {} | {} |",
                    column.name,
                    column.kind.words(),
                    column.subject.word(),
                    column.meaning,
                    column.default
                )
            })
            .collect();
        assert_eq!(documented, declared, "the table should be:\n{}", declared.join("\n"));
    }
}
