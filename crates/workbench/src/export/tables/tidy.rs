//! Every attempt, one a row: the tidy table that `stamina ingest` reads.

use std::collections::{BTreeSet, HashMap};

use figures::table::{Column, Table, Value, known, maybe};
use ingest::formats::table::columns::{COLUMNS, Field, Kind};
use ingest::formats::table::{FORKED, PLANNED_TASKS, RESTORE_BEFORE_TRY};
use model::{Attempt, Counting, EndReason, Episode, Run, TaskTotals, Tokens, Turn, Verdict};
use store::RunRecord;

use crate::Workbench;
use crate::api::{ApiError, Member};
use crate::compare::sets::ScenarioSets;
use crate::compare::{doubts, members};
use crate::episodes::grades_turns;

/// Most attempts of one table: each takes about 2 KB of memory.
const ATTEMPTS_CAP: u64 = 500_000;

fn column(definition: &ingest::formats::table::columns::Column) -> Column {
    let mut heading = definition.name.replace('_', " ");
    heading[..1].make_ascii_uppercase();
    let column = match definition.kind {
        Kind::Ordinal | Kind::Count | Kind::Tokens => Column::integer(definition.name, &heading),
        Kind::Amount | Kind::Number => Column::number(definition.name, &heading, 2),
        Kind::Flag => Column::flag(definition.name, &heading),
        Kind::Text | Kind::EndReason | Kind::Verdict | Kind::Time => Column::text(definition.name, &heading),
    };
    let shown = definition.required
        || matches!(
            definition.field,
            Field::TestsPassed | Field::TestsTotal | Field::EndReason | Field::CostUsd
        );
    if shown { column } else { column.for_machines() }
}

/// The columns of the export, by their place.
fn fields() -> impl Iterator<Item = &'static ingest::formats::table::columns::Column> {
    COLUMNS.iter().filter(|column| column.exported)
}

/// The cells of a row by field.
#[derive(Clone)]
struct Cells(Vec<Option<Value>>);

impl Cells {
    fn new() -> Self {
        Self(vec![None; COLUMNS.len()])
    }

    fn set(&mut self, field: Field, value: Option<Value>) {
        self.0[field as usize] = value;
    }

    fn row(&self) -> Vec<Option<Value>> {
        fields().map(|column| self.0[column.field as usize].clone()).collect()
    }

    /// What is the same in every row of a run.
    fn from_run(record: &RunRecord, set: Option<u32>) -> Self {
        let (mut cells, entry) = (Self::new(), &record.entry);
        let run: &Run = &record.run;
        let text = |text: Option<&str>| maybe(text);
        cells.set(Field::Run, known(entry.slug.as_str()));
        cells.set(Field::Harness, text(run.harness.as_deref()));
        cells.set(Field::Model, text(run.model.as_deref()));
        cells.set(Field::Benchmark, known(run.benchmark.key.as_str()));
        cells.set(Field::BenchmarkName, known(run.benchmark.name.as_str()));
        cells.set(Field::ScenarioSet, maybe(set.map(|set| set.to_string())));
        cells.set(Field::Scoring, known(if grades_turns(record) { "turns" } else { "tests" }));
        cells.set(Field::Provider, text(run.provider.as_deref()));
        cells.set(Field::HarnessVersion, text(run.harness_version.as_deref()));
        cells.set(Field::Runner, text(run.runner.as_ref().map(|(name, _)| name.as_str())));
        let version = run.runner.as_ref().and_then(|(_, version)| version.as_deref());
        cells.set(Field::RunnerVersion, text(version));
        cells.set(Field::Simulated, known(run.simulated));
        cells.set(Field::PlannedEpisodes, maybe(run.planned_episodes));
        cells.set(Field::AttemptLimit, maybe(run.attempt_limit));
        let restores = run.settings.get(RESTORE_BEFORE_TRY).and_then(serde_json::Value::as_bool);
        cells.set(Field::RestoreBeforeTry, maybe(restores));
        let tasks = run.extra.get(PLANNED_TASKS).and_then(serde_json::Value::as_u64);
        cells.set(Field::PlannedTasks, maybe(tasks));
        cells.set(Field::RunStartedAt, text(run.started_at.as_deref()));
        cells.set(Field::RunFinishedAt, text(run.finished_at.as_deref()));
        cells.set(Field::Invalid, text(entry.invalid.as_deref()));
        cells
    }

    fn tokens(&mut self, tokens: Tokens, fields: [Field; 3]) {
        for (field, count) in fields.into_iter().zip([tokens.input, tokens.cached, tokens.output]) {
            self.set(field, maybe(count));
        }
    }

    fn episode(&mut self, episode: &Episode) {
        use Field::{EpisodeTokensCached, EpisodeTokensIn, EpisodeTokensOut};
        self.set(Field::Scenario, known(episode.scenario.as_str()));
        self.set(Field::PlannedTurns, maybe(episode.planned_turns));
        self.set(Field::EpisodeEnd, maybe(episode.end_reason.map(EndReason::as_str)));
        self.set(Field::AttemptsLeft, known(episode.attempts_left));
        self.set(Field::Unrecognized, known(episode.unrecognised));
        let is_forked = episode.key.contains(FORKED);
        self.set(Field::FromAnother, maybe(is_forked.then_some(true)));
        self.set(Field::EpisodeId, maybe(episode.identity.as_deref()));
        self.set(Field::EpisodeInvalid, maybe(episode.invalid.as_deref()));
        self.set(Field::ScenarioTitle, maybe(episode.title.as_deref()));
        let tokens = episode.tokens.unwrap_or_default();
        self.tokens(tokens, [EpisodeTokensIn, EpisodeTokensCached, EpisodeTokensOut]);
        self.set(Field::EpisodeCostUsd, maybe(episode.cost_usd));
        self.set(Field::EpisodeAgentSeconds, maybe(episode.timing.agent_seconds));
        self.set(Field::EpisodeTestSeconds, maybe(episode.timing.test_seconds));
        self.set(Field::EpisodeStartedAt, maybe(episode.timing.started_at.as_deref()));
        self.set(Field::EpisodeFinishedAt, maybe(episode.timing.finished_at.as_deref()));
    }

    fn counted_task(&mut self, task: &TaskTotals) {
        self.set(Field::CountedTask, known(task.scenario.as_str()));
        self.set(Field::CountedTurns, maybe(task.turns));
        self.set(Field::CountedPassed, maybe(task.passed_turns));
        self.set(Field::CountedCases, maybe(task.case_ratio));
    }

    fn turn(&mut self, turn: &Turn) {
        self.set(Field::Turn, known(turn.number));
        self.set(Field::Title, maybe(turn.title.as_deref()));
    }

    fn attempt(&mut self, attempt: &Attempt) {
        use Field::{TokensCached, TokensIn, TokensOut};
        let passed = match attempt.verdict {
            Verdict::Passed => Some(true),
            Verdict::Failed | Verdict::Error => Some(false),
            Verdict::Unfinished | Verdict::NotTested => None,
        };
        self.set(Field::Attempt, known(attempt.number));
        self.set(Field::Passed, maybe(passed));
        self.set(Field::TestsPassed, maybe(attempt.passed));
        self.set(Field::TestsTotal, maybe(attempt.total));
        self.set(Field::TestsFailed, maybe(failed_tests(attempt)));
        self.set(Field::EndReason, maybe(attempt.end_reason.map(EndReason::as_str)));
        self.set(Field::Verdict, known(attempt.verdict.as_str()));
        let counting = Some(attempt.counting).filter(|counting| *counting != Counting::Share);
        self.set(Field::Counting, maybe(counting.map(Counting::as_str)));
        self.set(Field::Reward, maybe(attempt.reward));
        self.tokens(attempt.tokens, [TokensIn, TokensCached, TokensOut]);
        self.set(Field::CostUsd, maybe(attempt.cost_usd));
        self.set(Field::ToolCalls, maybe(attempt.tool_calls));
        self.set(Field::Steps, maybe(attempt.steps));
        self.set(Field::AgentSeconds, maybe(attempt.timing.agent_seconds));
        self.set(Field::TestSeconds, maybe(attempt.timing.test_seconds));
        self.set(Field::StartedAt, maybe(attempt.timing.started_at.as_deref()));
        self.set(Field::FinishedAt, maybe(attempt.timing.finished_at.as_deref()));
        let exception = attempt.exception.as_ref();
        self.set(Field::ExceptionType, maybe(exception.map(|(kind, _)| kind.as_str())));
        self.set(Field::Exception, maybe(exception.map(|(_, message)| message.as_str())));
    }
}

/// How many tests failed, where the source states another number than those that did not pass.
fn failed_tests(attempt: &Attempt) -> Option<u32> {
    attempt.stated_failing()?;
    let not_passed = attempt.total?.saturating_sub(attempt.passed?);
    attempt.counted_failing().filter(|failed| *failed != not_passed)
}

/// The repeat of an episode, or another number where an episode of its scenario has it already: a table may tell them apart by
/// words, and reading it back needs numbers that do.
fn own_repeat(taken: &mut HashMap<String, BTreeSet<u32>>, episode: &Episode) -> u32 {
    let taken = taken.entry(episode.scenario.clone()).or_default();
    let next = taken.last().map_or(0, |last| last.saturating_add(1));
    let repeat = if taken.contains(&episode.repeat) { next } else { episode.repeat };
    taken.insert(repeat);
    repeat
}

/// Every attempt of the members, each run once.
pub(super) fn table(workbench: &Workbench, shown: &[Member]) -> Result<Table, ApiError> {
    let mut table = Table::new("tidy-attempts", "Every attempt", fields().map(column).collect());
    // Each by itself: withdrawn runs go out as well, with their mark, and copies of trials say whose they are.
    let mut pools = Vec::new();
    for member in shown {
        pools.extend(members::resolve(&workbench.store, std::slice::from_ref(member))?);
    }
    let runs = || pools.iter().flat_map(|pool| &pool.runs);
    let attempts: u64 = runs().flat_map(|run| &run.episodes).map(|episode| u64::from(episode.attempts)).sum();
    if attempts > ATTEMPTS_CAP {
        return Err(ApiError::new("export.too_many", format!("The runs have {attempts} attempts"))
            .hint(format!("One table takes {ATTEMPTS_CAP}: export fewer runs at once")));
    }
    let sets = ScenarioSets::from_runs(runs().map(|run| &run.record));
    let several = runs().map(|run| sets.set(&run.record)).collect::<BTreeSet<u32>>().len() > 1;
    let mut slugs = BTreeSet::new();
    let mut with_counted = Vec::new();
    for run in runs().filter(|run| slugs.insert(run.record.entry.slug.as_str())) {
        let run_cells = Cells::from_run(&run.record, several.then(|| sets.set(&run.record)));
        // Those that are withdrawn go out with their mark, too.
        let mut withdrawn = workbench.store.all_episodes(run.record.entry.id)?;
        withdrawn.retain(|episode| episode.invalid.is_some());
        let counted = &run.record.run.reported.totals_only;
        if run.episodes.is_empty() && withdrawn.is_empty() && counted.is_empty() {
            table.push(run_cells.row());
        }
        let mut repeats = HashMap::new();
        for entry in run.episodes.iter().chain(&withdrawn) {
            let Some(episode) = workbench.store.whole_episode(entry.id)? else { continue };
            let mut episode_cells = run_cells.clone();
            episode_cells.episode(&episode);
            episode_cells.set(Field::Repeat, known(own_repeat(&mut repeats, &episode)));
            if episode.turns.is_empty() {
                table.push(episode_cells.row());
            }
            for turn in &episode.turns {
                let mut turn_cells = episode_cells.clone();
                turn_cells.turn(turn);
                if turn.attempts.is_empty() {
                    table.push(turn_cells.row());
                }
                for attempt in &turn.attempts {
                    let mut cells = turn_cells.clone();
                    cells.attempt(attempt);
                    table.push(cells.row());
                }
            }
        }
        // A reader that does not know these columns sees rows of a run without an episode.
        for task in counted {
            let mut task_cells = run_cells.clone();
            task_cells.counted_task(task);
            table.push(task_cells.row());
        }
        if !counted.is_empty() {
            with_counted.push(run.record.entry.slug.as_str());
        }
    }
    table.notes.push(
        "A row is an attempt. Stamina Lab reads the table as it stands, with the same numbers. Individual tests, requests, settings and figures that sources report of themselves are not in it."
            .to_owned(),
    );
    if !with_counted.is_empty() {
        table.notes.push(doubts::sentence_about(
            &with_counted,
            slugs.len(),
            "a row with a counted task, and without a scenario, is a task that its source counts and does not describe. It is in scores and no episode.",
        ));
    }
    Ok(table)
}
