//! Runs whose tasks take one turn: pass rate, pass@k and pass^k, and which tasks only one of several runs solves.
//!
//! A trial is *scored* if it was at risk at turn 1: it passed, or it failed by an event. A trial that was censored before it
//! passed is not scored, because its result is unknown. It enters no share, but is counted. The pass rate thus is S(1), the
//! mean stamina over τ = 1, with an interval for a proportion.

use std::collections::BTreeMap;

use model::{PassRate, RateInterval};
use serde::{Deserialize, Serialize};

use crate::Z_95;
use crate::clusters::InScenario;
use crate::proportion::{wilson, wilson_from_share};
use crate::survival::Observation;
use crate::tail_probabilities::student_975;

/// The greatest k of pass@k and pass^k.
pub const MAX_K: u32 = 100;

/// Counts of the trials of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTrials {
    /// Scored trials: n.
    pub trials: u32,
    /// Scored trials that passed: c.
    pub passed: u32,
    /// Trials that are not scored.
    pub unscored: u32,
}

impl TaskTrials {
    /// Counts one trial.
    pub fn add(&mut self, observation: Observation) {
        if observation.last_at_risk() == 0 {
            self.unscored += 1;
        } else {
            self.trials += 1;
            self.passed += u32::from(observation.turns > 0);
        }
    }

    /// Share of its scored trials that passed; `None` = none is scored.
    pub fn share(self) -> Option<f64> {
        (self.trials > 0).then(|| f64::from(self.passed) / f64::from(self.trials))
    }
}

/// The trials by task and part. A whole task has one part.
fn by_part(episodes: &[InScenario]) -> BTreeMap<&str, BTreeMap<Option<&str>, TaskTrials>> {
    let mut tasks: BTreeMap<&str, BTreeMap<Option<&str>, TaskTrials>> = BTreeMap::new();
    for episode in episodes {
        let parts = tasks.entry(&episode.scenario).or_default();
        parts.entry(episode.part.as_deref()).or_default().add(episode.observation);
    }
    tasks
}

/// The scored parts of a task.
type Parts = Vec<TaskTrials>;

/// All trials of these parts or tasks.
fn whole(parts: &[TaskTrials]) -> TaskTrials {
    parts.iter().fold(TaskTrials::default(), |sum, part| TaskTrials {
        trials: sum.trials.saturating_add(part.trials),
        passed: sum.passed.saturating_add(part.passed),
        unscored: sum.unscored.saturating_add(part.unscored),
    })
}

/// Pass rate, pass@k and pass^k of episodes with one turn.
///
/// The rate is over trials with equal weights. Its interval is Wilson's if every task has one scored trial, and clustered by
/// task otherwise ([`clustered`]). pass@k and pass^k are means over parts, computed from trials of the same part of a task.
pub fn pass_rate(episodes: &[InScenario]) -> PassRate {
    let by_part = by_part(episodes);
    let unscored = by_part
        .values()
        .flat_map(BTreeMap::values)
        .fold(0, |sum: u32, part| sum.saturating_add(part.unscored));
    let task_parts: Vec<Parts> = by_part
        .values()
        .map(|parts| parts.values().copied().filter(|part| part.trials > 0).collect::<Parts>())
        .filter(|parts| !parts.is_empty())
        .collect();
    let scored: Vec<TaskTrials> = task_parts.iter().map(|parts| whole(parts)).collect();
    let trials = scored.iter().map(|task| task.trials).sum();
    let passed = scored.iter().map(|task| task.passed).sum();
    let count = scored.len() as u32;
    let interval = interval(&scored);
    let ks = 1..=task_parts.iter().flatten().map(|part| part.trials).min().unwrap_or(0).min(MAX_K);
    PassRate {
        value: (trials > 0).then(|| f64::from(passed) / f64::from(trials)),
        ci_low: interval.map(|((low, _), _)| low),
        ci_high: interval.map(|((_, high), _)| high),
        interval: interval.map(|(_, kind)| kind),
        tasks: count,
        trials,
        passed,
        unscored,
        pass_at_k: ks.clone().map(|k| mean(&task_parts, |part| pass_at(*part, k))).collect(),
        pass_hat_k: ks.clone().map(|k| mean(&task_parts, |part| pass_hat(*part, k))).collect(),
        pass_at_k_ci: ks.clone().map(|k| interval_of_k(&task_parts, k, pass_at)).collect(),
        pass_hat_k_ci: ks.map(|k| interval_of_k(&task_parts, k, pass_hat)).collect(),
    }
}

/// The 95 % interval of the share of passed trials over tasks with scored trials, and how it is made: Wilson's if every task
/// has one trial, and clustered by task otherwise. `None` = there is no trial, or one task has several and no other has any.
///
/// Any share over units that depend on each other within tasks has it: those that are in the share are the passed ones.
pub fn interval(tasks: &[TaskTrials]) -> Option<((f64, f64), RateInterval)> {
    let all = whole(tasks);
    if all.trials as usize > tasks.len() {
        return clustered(tasks).map(|ends| (ends, RateInterval::Clustered));
    }
    wilson(all.passed, all.trials).map(|p| ((p.ci_low, p.ci_high), RateInterval::Wilson))
}

fn mean(tasks: &[Parts], value: impl Fn(&TaskTrials) -> f64) -> f64 {
    let parts = tasks.iter().map(Vec::len).sum::<usize>();
    tasks.iter().flatten().map(value).sum::<f64>() / parts as f64
}

/// The probability that at least one of `k` of the n trials of a task passes: 1 − C(n − c, k) / C(n, k), the unbiased
/// estimator of Chen et al. 2021 (arXiv:2107.03374, eq. 1). `k` ≤ n.
pub fn pass_at(task: TaskTrials, k: u32) -> f64 {
    1.0 - probability_all(task.trials.saturating_sub(task.passed), task.trials, k)
}

/// The probability that all `k` of the n trials of a task pass: C(c, k) / C(n, k), the unbiased estimator of Yao et
/// al. 2024 (τ-bench, arXiv:2406.12045). `k` ≤ n.
pub fn pass_hat(task: TaskTrials, k: u32) -> f64 {
    probability_all(task.passed, task.trials, k)
}

/// C(c, k) / C(n, k): the probability that all of k out of n are among certain c of them, as a product that does not
/// overflow.
fn probability_all(c: u32, n: u32, k: u32) -> f64 {
    if k > c {
        return 0.0;
    }
    (0..k).map(|i| f64::from(c - i) / f64::from(n - i)).product()
}

/// The 95 % interval of a pass rate over tasks with several trials; `None` with one task, because the variation between tasks
/// is then unknown.
///
/// Trials of one task depend on each other, so n of them carry less information than n trials of n tasks. The tasks tell how
/// much less: the
/// variance of the rate as a ratio Σ c / Σ n of sums over J tasks is V = J/(J − 1) · Σ (cⱼ − p nⱼ)² / n² (Cochran 1977,
/// *Sampling techniques*, §6.3; the cluster-robust variance of a mean, as Miller 2024, arXiv:2411.00640, uses it for
/// evaluations), and p (1 − p) / V trials of different tasks would be as precise. The interval is Wilson's over that number,
/// times (1.96 / t)² with Student's t of J − 1 degrees of freedom, and never over more than the actual trials (Korn
/// and Graubard 1998, *Survey Methodology* 24:193; Franco et al. 2019, J. Surv. Stat. Methodol. 7:334). If all trials
/// passed, or none, their dependence is unknown, and each task counts as one trial.
fn clustered(tasks: &[TaskTrials]) -> Option<(f64, f64)> {
    let count = u32::try_from(tasks.len()).ok().filter(|count| *count > 1)?;
    let n: f64 = tasks.iter().map(|task| f64::from(task.trials)).sum();
    let passed: f64 = tasks.iter().map(|task| f64::from(task.passed)).sum();
    let (share, j) = (passed / n, f64::from(count));
    let effective = if passed <= 0.0 || passed >= n {
        j
    } else {
        let squares: f64 =
            tasks.iter().map(|task| (f64::from(task.passed) - share * f64::from(task.trials)).powi(2)).sum();
        let variance = j / (j - 1.0) * squares / (n * n);
        effective_trials(share, variance, count)?.min(n)
    };
    let interval = wilson_from_share(share, effective);
    Some((interval.ci_low, interval.ci_high))
}

/// How many trials of different tasks give a share the precision that `count` tasks with this variance give: p (1 − p)
/// / V · (1.96 / t)². Without variation between tasks it is infinite, and the number of trials decides. `None` = there is one
/// task.
fn effective_trials(share: f64, variance: f64, count: u32) -> Option<f64> {
    Some(share * (1.0 - share) / variance * (Z_95 / student_975(count.checked_sub(1)?)?).powi(2))
}

/// The 95 % interval of a mean over tasks of pass@k or pass^k (`of`); `None` with one task.
///
/// The estimators of J tasks are J independent numbers xⱼ, so the variance of their mean is V = Σ (xⱼ − x̄)² / (J (J − 1)),
/// for any k. If tasks have parts, an estimator is of a part, and the variance of the mean over R parts is that of a ratio,
/// as in [`clustered`]: V = J/(J − 1) · Σⱼ (Σᵢ (xⱼᵢ − x̄))² / R²; with one part each, both are equal. The interval is
/// computed as for a pass rate, over no more trials than there are disjoint groups of k trials, Σ ⌊n / k⌋. For k = 1 and equal
/// numbers of trials it is the interval of the pass rate. If every task has one trial, it is Wilson's over the tasks.
fn interval_of_k(tasks: &[Parts], k: u32, estimate: fn(TaskTrials, u32) -> f64) -> Option<(f64, f64)> {
    let count = u32::try_from(tasks.len()).ok().filter(|count| *count > 1)?;
    let (share, j) = (mean(tasks, |part| estimate(*part, k)), f64::from(count));
    let groups: f64 = tasks.iter().flatten().map(|part| f64::from(part.trials / k)).sum();
    let has_one_trial = |parts: &Parts| whole(parts).trials == 1;
    let effective = if tasks.iter().all(has_one_trial) || share <= 0.0 || share >= 1.0 {
        j
    } else {
        let square = |parts: &Parts| parts.iter().map(|part| estimate(*part, k) - share).sum::<f64>().powi(2);
        let squares: f64 = tasks.iter().map(square).sum();
        let parts = tasks.iter().map(Vec::len).sum::<usize>() as f64;
        effective_trials(share, j / (j - 1.0) * squares / (parts * parts), count)?.min(groups)
    };
    let interval = wilson_from_share(share, effective);
    Some((interval.ci_low, interval.ci_high))
}

/// The difference a − b of two pass rates with its 95 % interval: Newcombe's hybrid of the two intervals (1998, Stat. Med.
/// 17:873, method 10), which holds for clustered intervals, too (Zou and Donner 2008, Stat. Med. 27:1693). It assumes
/// independent rates. `None` = one of the rates is unknown. It has no interval if one of theirs is not defined.
pub fn difference(a: &PassRate, b: &PassRate) -> Option<(f64, Option<(f64, f64)>)> {
    let (p, q) = (a.value?, b.value?);
    let ends = a.ci_low.zip(a.ci_high).zip(b.ci_low.zip(b.ci_high));
    let interval = ends.map(|((low_a, high_a), (low_b, high_b))| {
        ((p - q) - (p - low_a).hypot(high_b - q), (p - q) + (high_a - p).hypot(q - low_b))
    });
    Some((p - q, interval))
}

/// The index of the only run that solves a task: one of its trials passed, and every other run has scored trials and no pass.
/// `None` = no run, several, or a run without scored trials might solve it.
pub fn only_solver(trials_by_run: &[TaskTrials]) -> Option<usize> {
    let mut solvers =
        trials_by_run.iter().enumerate().filter(|(_, task)| task.passed > 0).map(|(place, _)| place);
    let only = solvers.next()?;
    let sure = trials_by_run.len() > 1 && trials_by_run.iter().all(|task| task.trials > 0);
    (sure && solvers.next().is_none()).then_some(only)
}
