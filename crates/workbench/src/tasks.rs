//! Runs of one turn, task by task: who solves what, and what it took.

use std::collections::BTreeMap;

use analysis::pass_rate::{TaskTrials, only_solver, pass_rate};
use analysis::survival::Observation;
use model::CensoringPolicy;
use store::{EpisodeEntry, EpisodeTurns};

use crate::Workbench;
use crate::api::{
    ApiError, KnownMean, TaskCell, TaskColumn, TaskCounts, TaskGrid, TaskMode, TaskRow, TasksRequest,
};
use crate::compare::members::{self, Pool, PooledRun, Scenario};

/// What a trial came to and took.
struct Trial {
    run: String,
    episode: String,
    scored: TaskTrials,
    seconds: Option<f64>,
    tokens: Option<f64>,
    cost_usd: Option<f64>,
}

impl Trial {
    fn new(run: &str, episode: &EpisodeEntry, play: &EpisodeTurns, policy: &CensoringPolicy) -> Self {
        let mut scored = TaskTrials::default();
        scored.add(Observation::from_reason(episode.stamina, episode.end_reason, policy));
        let known = |measured: store::KnownSum| {
            (measured.turns > 0 && measured.sum.is_finite()).then_some(measured.sum)
        };
        Self {
            run: run.to_owned(),
            episode: episode.slug.clone(),
            scored,
            seconds: known(play.used.seconds),
            tokens: known(play.used.tokens),
            cost_usd: episode.cost_usd.filter(|cost| cost.is_finite()),
        }
    }
}

fn cell(trials: &[Trial]) -> Option<TaskCell> {
    let sum = trials.iter().fold(TaskTrials::default(), |sum, trial| TaskTrials {
        trials: sum.trials + trial.scored.trials,
        passed: sum.passed + trial.scored.passed,
        unscored: sum.unscored + trial.scored.unscored,
    });
    let shown = trials.iter().find(|trial| trial.scored.passed == 0).or(trials.first())?;
    Some(TaskCell {
        run: shown.run.clone(),
        episode: shown.episode.clone(),
        trials: sum.trials,
        passed: sum.passed,
        unscored: sum.unscored,
        seconds: KnownMean::from_values(trials.iter().map(|trial| trial.seconds)),
        tokens: KnownMean::from_values(trials.iter().map(|trial| trial.tokens)),
        cost_usd: KnownMean::from_values(trials.iter().map(|trial| trial.cost_usd)),
    })
}

/// The trials of a member, by task.
fn trials<'a>(
    pool: &'a Pool,
    plays: &[Vec<EpisodeTurns>],
    policy: &CensoringPolicy,
) -> BTreeMap<Scenario<'a>, Vec<Trial>> {
    let mut tasks: BTreeMap<Scenario<'a>, Vec<Trial>> = BTreeMap::new();
    for (run, plays) in pool.runs.iter().zip(plays) {
        for (episode, play) in run.episodes.iter().zip(plays) {
            let trial = Trial::new(&run.record.entry.slug, episode, play, policy);
            tasks.entry(run.scenario(episode)).or_default().push(trial);
        }
    }
    tasks
}

fn is_of_rounds(run: &PooledRun) -> bool {
    run.record.entry.benchmark.plays_steps_alone()
}

fn solved(cell: &TaskCell) -> bool {
    cell.passed > 0
}

impl TaskRow {
    fn is_of(&self, mode: TaskMode) -> bool {
        let cells = || self.cells.iter().flatten();
        match mode {
            TaskMode::All => true,
            TaskMode::OnlyOne => self.only.is_some(),
            TaskMode::Different => {
                cells().any(solved) && cells().any(|cell| cell.trials > 0 && !solved(cell))
            }
            TaskMode::Nobody => cells().any(|cell| cell.trials > 0) && !cells().any(solved),
        }
    }
}

/// A table of tasks by members, and its columns.
fn grid(
    pools: &[Pool],
    plays: &[Vec<Vec<EpisodeTurns>>],
    policy: &CensoringPolicy,
) -> (Vec<TaskColumn>, Vec<TaskRow>) {
    let by_member: Vec<_> =
        pools.iter().zip(plays).map(|(pool, plays)| trials(pool, plays, policy)).collect();
    let mut named: BTreeMap<Scenario<'_>, (String, Option<String>)> = BTreeMap::new();
    for pool in pools {
        for run in &pool.runs {
            for episode in &run.episodes {
                named
                    .entry(run.scenario(episode))
                    .or_insert_with(|| (episode.scenario.clone(), episode.title.clone()));
            }
        }
    }
    let rows: Vec<TaskRow> = named
        .into_iter()
        .map(|(key, (task, title))| {
            let cells: Vec<Option<TaskCell>> =
                by_member.iter().map(|tasks| tasks.get(&key).and_then(|trials| cell(trials))).collect();
            let counted: Vec<TaskTrials> = cells
                .iter()
                .map(|cell| {
                    cell.as_ref().map_or_else(TaskTrials::default, |cell| TaskTrials {
                        trials: cell.trials,
                        passed: cell.passed,
                        unscored: cell.unscored,
                    })
                })
                .collect();
            TaskRow { task, title, only: only_solver(&counted).map(|place| place as u32), cells }
        })
        .collect();
    let columns = pools
        .iter()
        .enumerate()
        .map(|(place, pool)| {
            let cells = || rows.iter().filter_map(|row| row.cells[place].as_ref());
            TaskColumn {
                id: pool.id.clone(),
                name: pool.name.clone(),
                short_name: pool.short_name.clone(),
                simulated: pool.simulated(),
                style: pool.style,
                pass_rate: pass_rate(&pool.in_scenarios(policy)),
                solved: cells().filter(|cell| solved(cell)).count() as u32,
                only: rows.iter().filter(|row| row.only == Some(place as u32)).count() as u32,
                seconds: KnownMean::from_values(cells().map(|cell| cell.seconds.mean)),
                tokens: KnownMean::from_values(cells().map(|cell| cell.tokens.mean)),
                cost_usd: KnownMean::from_values(cells().map(|cell| cell.cost_usd.mean)),
            }
        })
        .collect();
    (columns, rows)
}

impl Workbench {
    /// The tasks of runs of one turn, and what each member did with them.
    pub fn list_tasks(&self, request: TasksRequest) -> Result<TaskGrid, ApiError> {
        if request.members.is_empty() {
            return Err(ApiError::new("tasks.nothing", "There are no runs of which to list tasks")
                .hint("Name one run or more, or a group of runs"));
        }
        let policy = self.store.get_policy()?;
        let pools = members::resolve_only(&self.store, &request.members, &request.only)?;
        let more_turns = |pool: &&Pool| !pool.is_single_turn() && !pool.has_unknown_turns();
        if let Some(pool) = pools.iter().find(more_turns) {
            return Err(ApiError::new(
                "tasks.more_turns",
                format!("\"{}\" plays more than one turn", pool.name),
            )
            .hint("Runs of more turns are listed episode by episode, and turn by turn"));
        }
        let plays = pools
            .iter()
            .map(|pool| pool.runs.iter().map(|run| run.episode_turns(&self.store)).collect())
            .collect::<Result<Vec<Vec<Vec<EpisodeTurns>>>, _>>()?;
        let (columns, mut rows) = grid(&pools, &plays, &policy);
        let count = |mode| rows.iter().filter(|row| row.is_of(mode)).count() as u32;
        let counts = TaskCounts {
            all: count(TaskMode::All),
            only_one: count(TaskMode::OnlyOne),
            different: count(TaskMode::Different),
            nobody: count(TaskMode::Nobody),
        };
        let words: Vec<String> = request.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        rows.retain(|row| {
            let name = format!("{}\n{}", row.task, row.title.as_deref().unwrap_or_default()).to_lowercase();
            row.is_of(request.mode) && words.iter().all(|word| name.contains(word))
        });
        let has_rounds = pools.iter().flat_map(|pool| &pool.runs).any(is_of_rounds);
        Ok(TaskGrid { columns, rows, counts, of_rounds: has_rounds })
    }
}
