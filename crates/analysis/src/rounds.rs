//! Scores of EvoCode-Bench's paper, 0 to 100: MT@k, SR, Gap and Comp.
//!
//! A *round* is a turn. There are two designs, and the design decides which scores are defined:
//!
//! - **Independent attempts**: each of k attempts at a task starts from its first round ([`mt_at_k`]).
//! - **Round by round**: a round has up to k attempts, all from the same snapshot, and the next round starts from the result
//!   of the first success ([`mt_round_by_round`]). These are not independent attempts at the task, so the formula of the first
//!   design does not apply.
//!
//! For SR, each round starts from the reference solutions of the rounds before it. Gap is SR − MT@4.

/// Rewards of the attempts at one task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskRewards {
    /// Rounds that the task declares.
    pub rounds: u32,
    /// Attempts in the order of their start, each with its rewards by round (without a threshold). `None` = the round was not
    /// reached or has no reward.
    pub attempts: Vec<Vec<Option<f64>>>,
}

/// The attempts at each round of one task, in order, each with whether it passed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskTries {
    /// Rounds that the task declares.
    pub rounds: u32,
    /// The started rounds. Attempts that something outside ended do not count.
    pub tries: Vec<Vec<bool>>,
    /// Whether something outside ended it, or it is still running. Further attempts might have passed.
    pub is_cut_off: bool,
}

impl TaskTries {
    /// Rounds that passed before the first one that did not, each within its first k attempts.
    pub fn cleared(&self, k: usize) -> usize {
        let is_cleared = |tries: &&Vec<bool>| tries.iter().take(k).any(|passed| *passed);
        self.tries.iter().take_while(is_cleared).count().min(self.rounds as usize)
    }

    /// Whether [`TaskTries::cleared`] is final, even if the task was cut off: all rounds passed, or the first one that did not
    /// had its k attempts, or a later round was started.
    pub fn is_decided(&self, k: usize) -> bool {
        let cleared = self.cleared(k);
        let is_over = |tries: &Vec<bool>| tries.len() >= k || cleared + 1 < self.tries.len();
        !self.is_cut_off || cleared >= self.rounds as usize || self.tries.get(cleared).is_some_and(is_over)
    }
}

/// MT@k over independent attempts: `100/|T| · Σ_t (1/N_t) Σ_i max_{a ≤ k} r[t,a,i]`, the first k attempts of each task.
///
/// Formula of EvoCode-Bench's `compute_metrics.py` (legacy), which uses all attempts; here `k` selects them. Rewards are not
/// changed. A round that was not reached counts 0, and so does a task without attempts. A task with fewer than k attempts
/// gives all of them. `None` = there is no task, no round, or k is 0.
pub fn mt_at_k(tasks: &[TaskRewards], k: usize) -> Option<f64> {
    if k == 0 {
        return None;
    }
    mean_over_tasks(tasks, |task| {
        let first = task.attempts.get(..k.min(task.attempts.len())).unwrap_or_default();
        rounds(task).map(|round| best(first.iter().map(|attempt| reward(attempt, round)))).sum()
    })
}

/// MT@k round by round: the share of rounds that passed before the first one that did not, each within its first k attempts.
///
/// `None` = there is no task, no round, or k is 0, or a task was cut off before its k attempts decided it.
pub fn mt_round_by_round(tasks: &[TaskTries], k: usize) -> Option<f64> {
    if k == 0 || !tasks.iter().all(|task| task.is_decided(k)) {
        return None;
    }
    mean(tasks.iter().map(|task| (task.rounds > 0).then(|| share(task.cleared(k) as f64, task.rounds))))
}

/// Comp of one task round by round: 100 if some trial passed every round within the `allowed` attempts, else 0. `None` = a
/// trial was cut off that might have passed.
pub fn comp_round_by_round(trials: &[TaskTries], allowed: usize) -> Option<f64> {
    let is_done = |trial: &TaskTries| trial.rounds > 0 && trial.cleared(allowed) >= trial.rounds as usize;
    if trials.iter().any(is_done) {
        return Some(100.0);
    }
    trials.iter().all(|trial| trial.is_decided(allowed)).then_some(0.0)
}

/// SR: the share of passed rounds that start from reference solutions, as a mean within a task, then over tasks.
///
/// `passes` has one entry per declared round of a task. `None` = there is no task with a round.
pub fn sr(passes: &[Vec<bool>]) -> Option<f64> {
    mean(passes.iter().map(|task| {
        let passed = task.iter().filter(|passed| **passed).count();
        (!task.is_empty()).then(|| 100.0 * passed as f64 / task.len() as f64)
    }))
}

/// Gap: SR − MT@4, in points. It may be negative.
pub fn gap(sr: Option<f64>, mt_at_4: Option<f64>) -> Option<f64> {
    Some(sr? - mt_at_4?)
}

/// Comp: the share of tasks with an attempt that has a reward of at least 1 in the last round, for any earlier rewards.
pub fn comp(tasks: &[TaskRewards]) -> Option<f64> {
    mean(tasks.iter().map(|task| {
        let last = task.rounds.checked_sub(1)? as usize;
        let done = task.attempts.iter().any(|attempt| reward(attempt, last) >= 1.0);
        Some(if done { 100.0 } else { 0.0 })
    }))
}

fn rounds(task: &TaskRewards) -> std::ops::Range<usize> {
    0..task.rounds as usize
}

/// The floor is 0, as in the code of the formula.
fn reward(attempt: &[Option<f64>], round: usize) -> f64 {
    attempt.get(round).copied().flatten().filter(|reward| reward.is_finite()).unwrap_or(0.0).max(0.0)
}

fn best(rewards: impl Iterator<Item = f64>) -> f64 {
    rewards.fold(0.0, f64::max)
}

fn share(sum: f64, rounds: u32) -> f64 {
    100.0 * sum / f64::from(rounds)
}

fn mean_over_tasks(tasks: &[TaskRewards], sum: impl Fn(&TaskRewards) -> f64) -> Option<f64> {
    mean(tasks.iter().map(|task| (task.rounds > 0).then(|| share(sum(task), task.rounds))))
}

/// The mean of the known values.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(found: Option<f64>, wanted: f64) {
        let found = found.unwrap();
        assert!((found - wanted).abs() < 5e-4, "{found}, and not {wanted}");
    }

    /// `-` = not reached, `5` = half a reward.
    fn task(rounds: u32, attempts: &[&str]) -> TaskRewards {
        let reward = |letter: char| match letter {
            '-' => None,
            '5' => Some(0.5),
            digit => digit.to_digit(10).map(f64::from),
        };
        TaskRewards {
            rounds,
            attempts: attempts.iter().map(|text| text.chars().map(reward).collect()).collect(),
        }
    }

    fn tries(rounds: u32, list: &[&str]) -> TaskTries {
        let passes = |text: &&str| text.chars().map(|letter| letter == '1').collect();
        TaskTries { rounds, tries: list.iter().map(passes).collect(), is_cut_off: false }
    }

    /// MT@k over independent attempts as the mean over all subsets of k attempts, which does not depend on their order.
    ///
    /// For each round, with the n rewards sorted, the expected maximum of k of them is `Σ_j r_(j) · C(j−1, k−1) / C(n, k)`.
    /// No page shows it: the worked example of the benchmark has it beside [`mt_at_k`].
    fn mt_over_subsets(tasks: &[TaskRewards], k: usize) -> Option<f64> {
        if k == 0 {
            return None;
        }
        mean_over_tasks(tasks, |task| {
            rounds(task)
                .map(|round| {
                    let rewards = task.attempts.iter().map(|attempt| reward(attempt, round)).collect();
                    expected_maximum(rewards, k)
                })
                .sum()
        })
    }

    fn expected_maximum(mut rewards: Vec<f64>, k: usize) -> f64 {
        let n = rewards.len();
        let k = k.min(n);
        if k == 0 {
            return 0.0;
        }
        rewards.sort_by(f64::total_cmp);
        // The share of subsets whose largest element is the j-th, from the largest down. Each is a multiple of the one before.
        let mut share = k as f64 / n as f64;
        let mut sum = 0.0;
        for (below, reward) in rewards.iter().enumerate().rev() {
            sum += share * reward;
            if below < k {
                break;
            }
            // C(below − 1, k − 1) / C(below, k − 1)
            share *= (below - k + 1) as f64 / below as f64;
        }
        sum
    }

    /// Computed by hand, and by the script of EvoCode-Bench if it has the number (MT@4 and Comp).
    #[test]
    fn independent_attempts_give_the_worked_example() {
        let tasks = [
            task(4, &["110-", "10--", "1110", "0---"]),
            task(3, &["111", "0--", "10-", "110"]),
            task(5, &["0", "5", "0"]),
        ];
        for (k, first, subsets) in
            [(1, 50.0, 30.278), (2, 53.333, 47.593), (3, 61.667, 56.806), (4, 61.667, 61.667)]
        {
            near(mt_at_k(&tasks, k), first);
            near(mt_over_subsets(&tasks, k), subsets);
        }
        near(comp(&tasks), 33.333);
        near(mt_at_k(&tasks[..1], 4), 75.0);
        near(mt_at_k(&tasks[2..], 4), 10.0);
        assert_eq!(mt_at_k(&tasks, 0), None);
        assert_eq!(mt_at_k(&[], 4), None);
        // A task without attempts counts.
        near(mt_at_k(&[task(2, &["11"]), task(2, &[])], 4), 50.0);
    }

    #[test]
    fn round_by_round_gives_the_worked_example() {
        let tasks =
            [tries(4, &["1000", "0011", "0000"]), tries(3, &["0100", "1111", "0001"]), tries(5, &["0000"])];
        near(mt_round_by_round(&tasks, 4), 50.0);
        // With attempts until the first success, the score is the same for fewer calls.
        let sequential =
            [tries(4, &["1", "001", "0000"]), tries(3, &["01", "1", "0001"]), tries(5, &["0000"])];
        assert_eq!(mt_round_by_round(&sequential, 4), mt_round_by_round(&tasks, 4));
        let calls =
            |tasks: &[TaskTries]| tasks.iter().flat_map(|task| &task.tries).map(Vec::len).sum::<usize>();
        assert_eq!((calls(&tasks), calls(&sequential)), (28, 19));
    }

    #[test]
    fn only_the_actual_attempts_decide_a_trial_that_was_cut_off() {
        let cut_off = |rounds, list: &[&str]| TaskTries { is_cut_off: true, ..tries(rounds, list) };
        let known = |trial: &TaskTries| -> Vec<Option<f64>> {
            (1..=3).map(|k| mt_round_by_round(std::slice::from_ref(trial), k)).collect()
        };
        // The second round had one of its attempts.
        let single = cut_off(4, &["1", "0"]);
        assert_eq!(known(&single), [Some(25.0), None, None]);
        assert_eq!(comp_round_by_round(std::slice::from_ref(&single), 3), None);
        // The next round was not started. With one attempt, the second round decides.
        assert_eq!(known(&cut_off(4, &["1", "01"])), [Some(25.0), None, None]);
        assert_eq!(known(&cut_off(4, &[])), [None, None, None]);
        // All attempts were made, all rounds passed, or a later round was started, so the result is final.
        assert_eq!(known(&cut_off(4, &["1", "000"])), [Some(25.0); 3]);
        assert_eq!(known(&cut_off(2, &["1", "1"])), [Some(100.0); 3]);
        assert_eq!(known(&cut_off(4, &["1", "0", "1"])), [Some(25.0); 3]);
        // Nothing outside ended it.
        assert_eq!(known(&tries(4, &["1", "0"])), [Some(25.0); 3]);
        let done = cut_off(1, &["1"]);
        assert_eq!(comp_round_by_round(&[single, done], 3), Some(100.0));
    }

    #[test]
    fn a_task_with_a_failed_round_is_not_complete() {
        // The chain continued after a failed round, and passed the last one.
        let chain = tries(4, &["1", "0", "1", "1"]);
        assert_eq!(comp_round_by_round(std::slice::from_ref(&chain), 1), Some(0.0));
        assert_eq!(mt_round_by_round(&[chain], 1), Some(25.0));
        assert_eq!(comp_round_by_round(&[tries(2, &["01", "1"])], 4), Some(100.0));
    }

    #[test]
    fn sr_and_gap_give_the_worked_example() {
        let single = sr(&[vec![true, false, true]]);
        near(single, 66.667);
        let chain = mt_round_by_round(&[tries(3, &["1", "0000"])], 4);
        near(gap(single, chain), 33.333);
        assert_eq!(gap(None, chain), None);
        assert_eq!(sr(&[]), None);
    }

    fn some_tasks() -> impl Strategy<Value = Vec<TaskRewards>> {
        let reward = prop::option::of(0.0..=1.0f64);
        let attempts = prop::collection::vec(prop::collection::vec(reward, 0..5), 0..6);
        let task = (1u32..5, attempts).prop_map(|(rounds, attempts)| TaskRewards { rounds, attempts });
        prop::collection::vec(task, 1..5)
    }

    proptest! {
        #[test]
        fn more_attempts_never_lower_a_score(tasks in some_tasks()) {
            for k in 1..6 {
                prop_assert!(mt_at_k(&tasks, k) <= mt_at_k(&tasks, k + 1));
                let (less, more) = (mt_over_subsets(&tasks, k).unwrap(), mt_over_subsets(&tasks, k + 1).unwrap());
                prop_assert!(less <= more + 1e-9);
            }
            let (all, subsets) = (mt_at_k(&tasks, 9).unwrap(), mt_over_subsets(&tasks, 9).unwrap());
            prop_assert!((all - subsets).abs() < 1e-9);
            prop_assert!((0.0..=100.0).contains(&all));
        }

        #[test]
        fn the_mean_over_subsets_is_that_of_all_subsets(rewards in prop::collection::vec(0.0..=1.0f64, 1..7), k in 1usize..7) {
            let n = rewards.len();
            let size = k.min(n);
            let subsets: Vec<u32> = (0..1u32 << n).filter(|set| set.count_ones() as usize == size).collect();
            let best = |set: &u32| {
                rewards.iter().enumerate().filter(|(i, _)| set & 1 << i != 0).map(|(_, r)| *r).fold(0.0, f64::max)
            };
            let wanted = subsets.iter().map(best).sum::<f64>() / subsets.len() as f64;
            prop_assert!((expected_maximum(rewards.clone(), k) - wanted).abs() < 1e-9);
        }
    }
}
