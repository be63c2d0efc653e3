//! The scores of benchmarks, computed again from episodes, 0 to 100.
//!
//! Every score is a mean over *scenarios* (tasks). Repeats of a scenario are averaged within the scenario first, so that they
//! have no extra weight. A planned turn that was never reached counts 0 in all scores. Leaving it out would reward an early
//! stop, which inflates the multi-step mean of Harbor.
//!
//! Scores are computed from [`EpisodeParts`], sums that an importer or a store can keep per episode.

use std::collections::BTreeMap;

pub use model::TaskTotals;
use model::{Attempt, Episode, Verdict};
use serde::{Deserialize, Serialize};

/// The sums of one episode that scores need.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeParts {
    /// The scenario. Episodes of the same scenario are averaged.
    pub scenario: String,
    /// Turns that the scenario declares; `None` = the source does not record them.
    pub declared_turns: Option<u32>,
    /// The highest known turn number.
    pub seen_turns: u32,
    /// Turns whose final attempt passed, also those after the first failure.
    pub passed_turns: u32,
    /// Σ of the shares of tests passed ([`Attempt::share`]) over the turns whose final attempt has one.
    pub ratio_sum: f64,
    /// How many turns these are. Turns of which it is known that no test ran are included, with a share of 0.
    pub counted_turns: u32,
    /// Turns that passed and have no test counts, or 0 of 0.
    pub passed_without_counts: u32,
    /// Turns whose tests ran and failed, without counts. Their ratio is unknown.
    pub failed_without_counts: u32,
}

impl EpisodeParts {
    /// The sums of an episode.
    pub fn from_episode(episode: &Episode) -> Self {
        let mut parts = Self {
            scenario: episode.scenario.clone(),
            declared_turns: episode.planned_turns,
            seen_turns: episode.turns.last().map_or(0, |t| t.number),
            ..Self::default()
        };
        for last in episode.turns.iter().filter_map(|t| t.attempts.last()) {
            parts.add(last);
        }
        parts
    }

    /// Adds the final attempt of one turn.
    fn add(&mut self, last: &Attempt) {
        let passed = last.verdict == Verdict::Passed;
        self.passed_turns += u32::from(passed);
        match last.share() {
            Some(share) => {
                self.ratio_sum += share;
                self.counted_turns += 1;
                // A pass without a test. It is a pass, but of no test case.
                self.passed_without_counts += u32::from(passed && last.total == Some(0));
            }
            None if passed => self.passed_without_counts += 1,
            None if last.verdict == Verdict::Failed => self.failed_without_counts += 1,
            // An error or a running attempt has no passed tests.
            None => {}
        }
    }

    /// The turns in the denominator: the declared ones, else the highest recorded one.
    pub fn turns(&self) -> u32 {
        self.declared_turns.unwrap_or(0).max(self.seen_turns)
    }

    /// EvoCode's score of this episode, see [`dataset_score`]. `None` = there is no known turn.
    pub fn dataset_score(&self) -> Option<f64> {
        percentage(self.turns(), f64::from(self.passed_turns))
    }

    /// StaminaBench's score of this episode, see [`stamina_bench_score`]. `None` = no turn has a known ratio, or only turns that
    /// passed everything have one.
    pub fn stamina_bench_score(&self) -> Option<f64> {
        if only_passes_are_known(std::slice::from_ref(self)) {
            return None;
        }
        percentage(self.turns().saturating_sub(self.failed_without_counts), self.known_ratios())
    }

    fn known_ratios(&self) -> f64 {
        self.ratio_sum + f64::from(self.passed_without_counts)
    }
}

/// A score with its evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// 0 to 100; `None` = there is no data for it.
    pub percent: Option<f64>,
    /// Scenarios in the mean.
    pub scenarios: u32,
    /// Scenarios with an unknown number of declared turns. The highest recorded turn replaces it, so the score is an upper bound
    /// for them.
    pub undeclared: u32,
    /// Turns that are left out because their share of passed tests is unknown.
    pub unknown_turns: u32,
}

/// StaminaBench's score: passed tests / total tests of a turn's final attempt, mean over turns, then over scenarios
/// (README of StaminaBench, "Scoring").
///
/// Rules for the cases that this text leaves open:
///
/// - A turn whose final attempt has no verdict of tests counts 0.
/// - A planned turn that was never reached counts 0.
/// - A passed turn without counts counts 1.
/// - A failed turn without counts is left out and counted in [`Score::unknown_turns`].
/// - If turns are left out and all others passed everything, the score is unknown. It would be a mean over turns for which
///   it is trivially known.
pub fn stamina_bench_score(episodes: &[EpisodeParts]) -> Score {
    let tasks = by_scenario(episodes);
    if only_passes_are_known(episodes) {
        let left_out = episodes.iter().map(|e| e.failed_without_counts).sum();
        return score(&tasks, std::iter::empty(), left_out);
    }
    let means =
        tasks.values().filter_map(|task| {
            mean(task.episodes.iter().filter_map(|e| {
                percentage(task.turns.saturating_sub(e.failed_without_counts), e.known_ratios())
            }))
        });
    score(&tasks, means, episodes.iter().map(|e| e.failed_without_counts).sum())
}

/// EvoCode's *dataset score*: `100/|T| · Σ_t (Σ_i p[t,i])/N_t` (EvoCode-Bench's `leaderboard.py`).
///
/// `p` is 1 for a passed turn, also after an earlier failure (not fail-stop), and 0 for a failed, errored or unreached
/// one. `N_t` is the declared number of turns, or the most turns seen in any episode of the task. Repeats are averaged
/// within the task (as `compute_metrics.py` does). Tasks with only totals count like any other. A task
/// without any run counts 0.
pub fn dataset_score(episodes: &[EpisodeParts], totals_only: &[TaskTotals]) -> Score {
    let tasks = by_scenario(episodes);
    let described = tasks.values().map(|task| {
        let passed = mean(task.episodes.iter().map(|e| f64::from(e.passed_turns))).unwrap_or(0.0);
        percentage(task.turns, passed).unwrap_or(0.0)
    });
    let totals = undescribed(&tasks, totals_only).map(|t| {
        let turns = f64::from(t.turns.unwrap_or(0));
        if turns > 0.0 { 100.0 * (t.passed_turns.unwrap_or(0.0) / turns).clamp(0.0, 1.0) } else { 0.0 }
    });
    let mut result = score(&tasks, described.chain(totals), 0);
    result.undeclared += undescribed(&tasks, totals_only).filter(|t| t.turns.is_none()).count() as u32;
    result
}

/// EvoCode's *case score*: `100/|T| · Σ_t (1/N_t) Σ_i s[t,i]/c[t,i]`, the share of test cases passed in each turn.
///
/// A turn without counts, with c = 0 or not reached counts 0, passed or not. The ratio is of the total of that run, as in
/// `leaderboard.py`. A task with only totals counts only if the source gives its case ratio. `None` if no turn of any episode
/// has test counts, because the source then does not count cases. Counts of 0 of 0 are counts: a run in which no case ever ran
/// has the score 0.
pub fn case_score(episodes: &[EpisodeParts], totals_only: &[TaskTotals]) -> Score {
    let tasks = by_scenario(episodes);
    if episodes.iter().all(|e| e.counted_turns == 0) {
        return Score { undeclared: undeclared(&tasks), ..Score::default() };
    }
    let described = tasks.values().map(|task| {
        let sum = mean(task.episodes.iter().map(|e| e.ratio_sum)).unwrap_or(0.0);
        percentage(task.turns, sum).unwrap_or(0.0)
    });
    let totals = undescribed(&tasks, totals_only).filter_map(|t| Some(100.0 * t.case_ratio?.clamp(0.0, 1.0)));
    score(&tasks, described.chain(totals), 0)
}

/// EvoCode's *perfect tasks*: tasks with an episode that passed every turn, and has at least one turn.
///
/// With repeats, passed turns of different episodes do not make a perfect task (`compute_metrics.py`,
/// `perfect_task_rate`).
pub fn perfect_tasks(episodes: &[EpisodeParts], totals_only: &[TaskTotals]) -> u32 {
    let tasks = by_scenario(episodes);
    let described = tasks
        .values()
        .filter(|t| t.turns > 0 && t.episodes.iter().any(|e| e.passed_turns >= t.turns))
        .count();
    let totals = undescribed(&tasks, totals_only)
        .filter(|t| t.turns.is_some_and(|n| n > 0 && t.passed_turns.is_some_and(|p| p >= f64::from(n))))
        .count();
    (described + totals) as u32
}

struct Task<'a> {
    /// The most turns that any episode of the task declares or has reached.
    turns: u32,
    declared: bool,
    episodes: Vec<&'a EpisodeParts>,
}

fn by_scenario(episodes: &[EpisodeParts]) -> BTreeMap<&str, Task<'_>> {
    let mut tasks: BTreeMap<&str, Task<'_>> = BTreeMap::new();
    for episode in episodes {
        let task = tasks.entry(&episode.scenario).or_insert(Task {
            turns: 0,
            declared: false,
            episodes: Vec::new(),
        });
        task.turns = task.turns.max(episode.turns());
        task.declared |= episode.declared_turns.is_some();
        task.episodes.push(episode);
    }
    tasks
}

/// A task with an episode is never counted a second time from its totals.
fn undescribed<'a>(
    tasks: &'a BTreeMap<&str, Task<'_>>,
    totals_only: &'a [TaskTotals],
) -> impl Iterator<Item = &'a TaskTotals> {
    totals_only.iter().filter(|t| !tasks.contains_key(t.scenario.as_str()))
}

fn undeclared(tasks: &BTreeMap<&str, Task<'_>>) -> u32 {
    tasks.values().filter(|t| !t.declared).count() as u32
}

/// Whether the share of passed tests is unknown for some failed turn, and every known share is 1.
fn only_passes_are_known(episodes: &[EpisodeParts]) -> bool {
    let missed: f64 = episodes.iter().map(|e| f64::from(e.counted_turns) - e.ratio_sum).sum();
    episodes.iter().any(|e| e.failed_without_counts > 0) && missed <= 1e-9
}

fn score(tasks: &BTreeMap<&str, Task<'_>>, values: impl Iterator<Item = f64>, unknown_turns: u32) -> Score {
    let values: Vec<f64> = values.collect();
    Score {
        percent: mean(values.iter().copied()),
        scenarios: values.len() as u32,
        undeclared: undeclared(tasks),
        unknown_turns,
    }
}

fn percentage(turns: u32, sum: f64) -> Option<f64> {
    (turns > 0).then(|| 100.0 * sum / f64::from(turns))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), v| (sum + v, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
