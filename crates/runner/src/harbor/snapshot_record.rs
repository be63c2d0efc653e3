//! What a resume continues a trial from: the last snapshot of its container, with the state of the trial at that time.
//!
//! The record lies beside the trial's folders (`snapshot.json`). It is written before the trajectory names the attempt after
//! which a snapshot was made, and holds in either case: whichever attempt the trajectory names last, one of the two snapshots
//! belongs to it. A results folder may come from elsewhere, so the record names no image. The name follows from run, episode and
//! step, and the engine has to say that the image of this id was made for this file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{EndReason, Verdict};
use serde::{Deserialize, Serialize};

use super::after_attempt::is_tried_again;
use crate::disk::{self, Durability};
use crate::record::Trajectory;
use crate::state::SessionState;
use crate::{RunError, copy};

/// Why a trial without a record is retried from its first step.
const NONE_KEPT: &str = "no snapshot of its container was kept (harbor.snapshots=each_step keeps one before each step, and so does restore_before_try=true)";
/// The same where the record is of something else.
const OTHER: &str = "the snapshot that was kept does not belong to what is recorded of it";

/// A trial as it was when its container was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptTrial {
    /// The step before which it was kept, from 1.
    pub(super) step: u32,
    /// What the engine knows the snapshot by.
    pub(super) image_id: String,
    pub(super) known: SessionState,
    pub(super) was_played: bool,
    pub(super) was_verified: bool,
    pub(super) references_failed: BTreeMap<String, i64>,
}

/// The snapshot of the step that follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NextSnapshot {
    /// It holds once the trajectory names this attempt at the current step.
    pub(super) attempt: u32,
    #[serde(rename = "kept")]
    pub(super) kept_trial: KeptTrial,
}

/// `snapshot.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Of the step that is played.
    pub(super) current: KeptTrial,
    pub(super) next: Option<NextSnapshot>,
}

impl Record {
    /// The path of a trial's record, in its part of `.stamina/state`.
    pub(super) fn path(state: &Path) -> PathBuf {
        state.join("snapshot.json")
    }

    /// Reads the record; `None` if it cannot be read. Blocks.
    pub(super) fn read(path: &Path) -> Option<Self> {
        disk::read_json(path, disk::LARGEST_JSON)
            .inspect_err(|error| tracing::warn!("the snapshot of a trial is not used: {error}"))
            .ok()
            .flatten()
    }

    /// Replaces the record. Blocks.
    pub(super) fn write(&self, path: &Path) -> Result<(), RunError> {
        disk::write_json(path, self, Durability::Synced)
    }

    /// Removes the record: its snapshots belong to no trial from then on. Blocks.
    pub(super) fn remove(path: &Path) -> Result<(), RunError> {
        copy::remove(path).map_err(|error| disk::error_at(path, error))
    }

    /// The snapshot before a step.
    fn snapshot_before(&self, step: u32) -> Option<&KeptTrial> {
        let next = self.next.as_ref().map(|next| &next.kept_trial);
        [Some(&self.current), next].into_iter().flatten().find(|kept_trial| kept_trial.step == step)
    }
}

/// What the settings say of the steps of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// Steps.
    pub(super) turns: u32,
    /// Most attempts at a step.
    pub(super) attempts: u32,
    /// Whether the first step that does not pass ends the chain.
    pub(super) fail_stop: bool,
    /// Whether each step is played by itself.
    pub(super) plays_alone: bool,
    /// Whether a further attempt at a step continues with what the last one left, and not from the snapshot of the step.
    pub(super) continues: bool,
}

impl Rules {
    /// The attempt at a step that can begin in its snapshot, where `attempt` is the next one.
    const fn first_in_snapshot(self, attempt: u32) -> u32 {
        if self.continues { 1 } else { attempt }
    }
}

/// The progress of a trial, by its trajectory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The step of which an attempt was recorded last; 0 = of none.
    step: u32,
    /// Attempts at it that count.
    attempts: u32,
    /// Whether no attempt at it follows.
    is_decided: bool,
    has_passed: bool,
    /// Whether its last attempt has ended the chain.
    has_ended: bool,
}

/// Where a resume continues a trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Continuation {
    /// In a container from this snapshot, with this attempt at its step. A number beyond the last attempt leaves its verdict; what is
    /// recorded of this attempt and of later ones does not count ([`retry_from`]).
    Snapshot(Box<KeptTrial>, u32),
    /// Nowhere: its chain had ended, and only its end is not recorded.
    ChainEnded,
    /// From its first step, and why.
    FirstStep(&'static str),
}

/// Removes the record of an attempt that something outside ended, unless the chain continued after it. It is retried.
pub(super) fn take_back(trajectory: &mut Trajectory, record: Option<&Record>) {
    let Some(turn) = trajectory.current.as_mut() else { return };
    let (step, attempts) = (turn.turn, turn.attempts.len() as u32);
    let is_from_outside = turn.attempts.last().is_some_and(|last| {
        last.verdict != Verdict::Passed && !is_tried_again(last.end_reason.unwrap_or(EndReason::TestsFailed))
    });
    if is_from_outside && !went_on(record, step, attempts) {
        turn.attempts.pop();
    }
}

/// Removes the record of an attempt at a step and of those after it: a resume retries them.
pub(super) fn retry_from(trajectory: &mut Trajectory, step: u32, attempt: u32) {
    let turn = trajectory.current.as_mut().filter(|turn| turn.turn == step);
    if let Some(turn) = turn {
        turn.attempts.truncate(attempt.saturating_sub(1) as usize);
    }
}

/// Whether the chain continued after an attempt: a snapshot was made after it for the step that follows, or a resume has
/// continued from that snapshot, whose record names the step that follows.
fn went_on(record: Option<&Record>, step: u32, attempts: u32) -> bool {
    record.is_some_and(|Record { current, next }| {
        let is_kept_after_it = next.as_ref().is_some_and(|next| next.attempt == attempts);
        current.step > step || current.step == step && is_kept_after_it
    })
}

/// How far a trial has come.
pub(super) fn progress(trajectory: &Trajectory, record: Option<&Record>, rules: Rules) -> Progress {
    let Some(turn) = trajectory.current.as_ref() else { return Progress::default() };
    let attempts = turn.attempts.len() as u32;
    let has_passed = turn.attempts.last().is_some_and(|last| last.verdict == Verdict::Passed);
    let has_ended = turn.attempts.last().is_some_and(|last| last.ends_chain);
    let is_decided =
        attempts > 0 && (has_passed || attempts >= rules.attempts || went_on(record, turn.turn, attempts));
    Progress { step: turn.turn, attempts, is_decided, has_passed, has_ended }
}

/// Where a resume continues a trial, by the record of its snapshots and by how far it has come.
pub(super) fn continuation(record: Option<Record>, progress: Progress, rules: Rules) -> Continuation {
    let Progress { step, attempts, is_decided, has_passed, has_ended } = progress;
    let ends = step >= rules.turns || rules.fail_stop && !has_passed && !rules.plays_alone;
    if has_ended || is_decided && ends {
        return Continuation::ChainEnded;
    }
    let Some(record) = record else { return Continuation::FirstStep(NONE_KEPT) };
    // A folder of somebody else may name any number.
    let following = (step.saturating_add(1), 1);
    let places = match (is_decided, rules.plays_alone) {
        (false, _) => [Some((step.max(1), rules.first_in_snapshot(attempts.saturating_add(1)))), None],
        // Where the engine could not keep the container after the attempt that decided the step, only that attempt is retried: the
        // steps before it are paid for.
        (true, false) => [Some(following), Some((step, rules.first_in_snapshot(attempts)))],
        // Its reference solution was executed, or is to be.
        (true, true) => [Some(following), Some((step, rules.attempts.saturating_add(1)))],
    };
    places
        .into_iter()
        .flatten()
        .find_map(|(step, attempt)| Some((record.snapshot_before(step)?.clone(), attempt)))
        .map_or(Continuation::FirstStep(OTHER), |(kept_trial, attempt)| {
            Continuation::Snapshot(Box::new(kept_trial), attempt)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules =
        Rules { turns: 3, attempts: 2, fail_stop: true, plays_alone: false, continues: false };

    fn kept_trial(step: u32) -> KeptTrial {
        KeptTrial {
            step,
            image_id: format!("sha256:{step}"),
            known: SessionState::default(),
            was_played: step > 1,
            was_verified: step > 1,
            references_failed: BTreeMap::new(),
        }
    }

    fn record(step: u32, next: Option<u32>) -> Record {
        let next = next.map(|attempt| NextSnapshot { attempt, kept_trial: kept_trial(step + 1) });
        Record { current: kept_trial(step), next }
    }

    /// A trajectory whose last step has attempts that ended so; `None` = passed.
    fn trajectory(step: u32, ends: &[Option<EndReason>]) -> Trajectory {
        let mut trajectory = Trajectory::new(Path::new("/nowhere"), "scenario_0", 3, 2);
        let attempts: Vec<serde_json::Value> = ends
            .iter()
            .zip(1_u32..)
            .map(|(end, attempt)| {
                let verdict = if end.is_some() { "failed" } else { "passed" };
                serde_json::json!({
                    "attempt": attempt, "verdict": verdict, "success": end.is_none(), "end_reason": end, "tokens": {},
                    "files": { "agent_logs": [] },
                    "started_at": "2026-06-01T10:00:00.000Z", "finished_at": "2026-06-01T10:00:01.000Z",
                })
            })
            .collect();
        let turn = serde_json::json!({ "turn": step, "tests": [], "files": { "request": "" }, "attempts": attempts });
        trajectory.begin(serde_json::from_value(turn).unwrap());
        trajectory
    }

    /// Where a trial continues: step and attempt; `None` = it is over.
    fn resume_place(
        rules: Rules,
        record: Option<Record>,
        trajectory: &mut Trajectory,
    ) -> Result<Option<(u32, u32)>, &'static str> {
        take_back(trajectory, record.as_ref());
        let progress = progress(trajectory, record.as_ref(), rules);
        match continuation(record, progress, rules) {
            Continuation::Snapshot(kept_trial, attempt) => {
                retry_from(trajectory, kept_trial.step, attempt);
                Ok(Some((kept_trial.step, attempt)))
            }
            Continuation::ChainEnded => Ok(None),
            Continuation::FirstStep(reason) => Err(reason),
        }
    }

    #[test]
    fn a_trial_continues_where_its_trajectory_and_its_snapshot_agree() {
        const FAILED: Option<EndReason> = Some(EndReason::TestsFailed);
        let place_of = |record, step, ends: &[Option<EndReason>]| {
            resume_place(RULES, Some(record), &mut trajectory(step, ends))
        };
        let mut nothing = Trajectory::new(Path::new("/nowhere"), "scenario_0", 3, 2);
        assert_eq!(
            resume_place(RULES, Some(record(1, None)), &mut nothing),
            Ok(Some((1, 1))),
            "in its first attempt"
        );
        assert_eq!(place_of(record(1, None), 1, &[FAILED]), Ok(Some((1, 2))), "between tries");
        // Killed before the trajectory named the attempt after which the next snapshot was made, and after it.
        assert_eq!(place_of(record(1, Some(2)), 1, &[FAILED]), Ok(Some((1, 2))));
        assert_eq!(place_of(record(1, Some(2)), 1, &[FAILED, None]), Ok(Some((2, 1))));
        assert_eq!(place_of(record(1, Some(1)), 2, &[FAILED]), Ok(Some((2, 2))), "in the step that follows");
        // Its chain had ended.
        assert_eq!(place_of(record(1, Some(1)), 2, &[FAILED, FAILED]), Ok(None));
        assert_eq!(place_of(record(2, Some(1)), 3, &[None]), Ok(None));
        // Nothing was kept of this step.
        assert_eq!(place_of(record(1, None), 3, &[FAILED]), Err(OTHER));
        assert_eq!(place_of(record(1, None), 3, &[None]), Ok(None), "the last one passed");
        assert_eq!(resume_place(RULES, None, &mut trajectory(2, &[FAILED])), Err(NONE_KEPT));
        assert_eq!(
            resume_place(RULES, None, &mut trajectory(2, &[FAILED, FAILED])),
            Ok(None),
            "over all the same"
        );
    }

    #[test]
    fn an_attempt_after_which_nothing_was_kept_is_retried_and_those_before_it_stay() {
        const FAILED: Option<EndReason> = Some(EndReason::TestsFailed);
        let chain = Rules { fail_stop: false, ..RULES };
        let mut passed = trajectory(2, &[FAILED, None]);
        assert_eq!(resume_place(chain, Some(record(2, None)), &mut passed), Ok(Some((2, 2))));
        assert_eq!(passed.last(), Some((2, 1)), "only the attempt that decided the step is retried");
        let mut failed = trajectory(2, &[FAILED, FAILED]);
        assert_eq!(resume_place(chain, Some(record(2, None)), &mut failed), Ok(Some((2, 2))));
        assert_eq!(failed.last(), Some((2, 1)));
        let mut first = trajectory(2, &[None]);
        assert_eq!(resume_place(RULES, Some(record(2, None)), &mut first), Ok(Some((2, 1))));
        assert_eq!((first.last(), first.current.unwrap().turn), (None, 2));
        // Where the next step was kept all attempts count, and so they do where only a solution is to be executed.
        let mut kept = trajectory(2, &[FAILED, None]);
        assert_eq!(resume_place(chain, Some(record(2, Some(2))), &mut kept), Ok(Some((3, 1))));
        assert_eq!(kept.last(), Some((2, 2)));
        let alone = Rules { plays_alone: true, ..chain };
        let mut by_itself = trajectory(2, &[None]);
        assert_eq!(resume_place(alone, Some(record(2, None)), &mut by_itself), Ok(Some((2, 3))));
        assert_eq!(by_itself.last(), Some((2, 1)));
    }

    #[test]
    fn attempts_that_build_on_each_other_begin_again_with_the_first_one_of_their_step() {
        const FAILED: Option<EndReason> = Some(EndReason::TestsFailed);
        let rules = Rules { fail_stop: false, continues: true, attempts: 3, ..RULES };
        let mut between = trajectory(2, &[FAILED, FAILED]);
        assert_eq!(resume_place(rules, Some(record(2, None)), &mut between), Ok(Some((2, 1))));
        assert_eq!((between.last(), between.current.unwrap().turn), (None, 2), "none of them counts");
        // One that the endpoint has ended is taken back, and with it those that it built on.
        let mut outside = trajectory(2, &[FAILED, Some(EndReason::Endpoint)]);
        assert_eq!(resume_place(rules, Some(record(2, None)), &mut outside), Ok(Some((2, 1))));
        assert_eq!(outside.last(), None);
        // A step that is decided stays: its container was kept after it.
        let mut decided = trajectory(2, &[FAILED, None]);
        assert_eq!(resume_place(rules, Some(record(2, Some(2))), &mut decided), Ok(Some((3, 1))));
        assert_eq!(decided.last(), Some((2, 2)));
        // Where it could not be kept, the whole step is retried.
        let mut unkept = trajectory(2, &[FAILED, None]);
        assert_eq!(resume_place(rules, Some(record(2, None)), &mut unkept), Ok(Some((2, 1))));
        assert_eq!(unkept.last(), None);
        assert_eq!(resume_place(rules, Some(record(2, Some(1))), &mut trajectory(3, &[None])), Ok(None));
    }

    #[test]
    fn a_chain_that_its_last_attempt_has_ended_is_over_whatever_was_kept() {
        let chain = Rules { fail_stop: false, attempts: 3, ..RULES };
        let ended = |end: Option<EndReason>| {
            let mut ended = trajectory(1, &[end]);
            ended.current.as_mut().unwrap().attempts[0].ends_chain = true;
            ended
        };
        // A reward under `min_reward`, also of another key than the one that passes, or none at all.
        for end in [Some(EndReason::TestsFailed), Some(EndReason::NoVerdict), None] {
            for kept in [Some(record(1, None)), Some(record(1, Some(1))), None] {
                assert_eq!(resume_place(chain, kept, &mut ended(end)), Ok(None), "{end:?}");
            }
        }
        // What something outside ended is retried all the same.
        let mut outside = ended(Some(EndReason::Environment));
        assert_eq!(resume_place(chain, Some(record(1, None)), &mut outside), Ok(Some((1, 1))));
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn no_number_of_a_record_or_a_trajectory_is_too_large() {
        let far = || Some(Record { current: kept_trial(u32::MAX), next: None });
        let snapshot_of = |attempt| Continuation::Snapshot(Box::new(kept_trial(u32::MAX)), attempt);
        for plays_alone in [false, true] {
            let rules = Rules {
                turns: u32::MAX,
                attempts: u32::MAX,
                fail_stop: false,
                plays_alone,
                continues: false,
            };
            let last = Progress { step: u32::MAX, attempts: u32::MAX, ..Progress::default() };
            assert_eq!(continuation(far(), last, rules), snapshot_of(u32::MAX));
            let before = Progress { step: u32::MAX - 1, is_decided: true, ..last };
            assert_eq!(continuation(far(), before, rules), snapshot_of(1));
            assert_eq!(
                continuation(far(), Progress { is_decided: true, ..last }, rules),
                Continuation::ChainEnded
            );
        }
    }

    #[test]
    fn what_something_outside_ended_is_taken_back() {
        for reason in [EndReason::Endpoint, EndReason::Environment, EndReason::Budget] {
            let mut cut_off = trajectory(2, &[Some(EndReason::TestsFailed), Some(reason)]);
            assert_eq!(
                resume_place(RULES, Some(record(1, Some(1))), &mut cut_off),
                Ok(Some((2, 2))),
                "{reason:?}"
            );
            let mut only = trajectory(1, &[Some(reason)]);
            assert_eq!(resume_place(RULES, Some(record(1, None)), &mut only), Ok(Some((1, 1))), "{reason:?}");
        }
        // The chain went on after it: a step without a solution, for one.
        let chain = Rules { fail_stop: false, ..RULES };
        let mut went_on = trajectory(1, &[Some(EndReason::Environment)]);
        assert_eq!(resume_place(chain, Some(record(1, Some(1))), &mut went_on), Ok(Some((2, 1))));
    }

    #[test]
    fn a_step_that_a_resume_went_on_from_stays_if_the_next_one_is_cut_off_again() {
        // A resume continued with the step that follows and was cut off before its first attempt was recorded.
        let chain = Rules { turns: 5, fail_stop: false, ..RULES };
        let alone = Rules { plays_alone: true, ..chain };
        let ends =
            [None, Some(EndReason::TestsFailed), Some(EndReason::Budget), Some(EndReason::Environment)];
        for (rules, end) in [chain, alone].into_iter().flat_map(|rules| ends.map(|end| (rules, end))) {
            let mut recorded = trajectory(3, &[end]);
            assert_eq!(
                resume_place(rules, Some(record(4, None)), &mut recorded),
                Ok(Some((4, 1))),
                "{end:?}"
            );
            assert_eq!(recorded.last(), Some((3, 1)), "its attempt counts: {end:?}");
        }
    }

    #[test]
    fn a_step_by_itself_is_followed_by_its_reference_solution() {
        let alone = Rules { fail_stop: false, plays_alone: true, ..RULES };
        let place_alone = |step, ends: &[Option<EndReason>]| {
            resume_place(alone, Some(record(step, None)), &mut trajectory(1, ends))
        };
        assert_eq!(place_alone(1, &[None]), Ok(Some((1, 3))), "no attempt is left, the solution is executed");
        assert_eq!(place_alone(2, &[None]), Ok(Some((2, 1))), "it was executed");
        assert_eq!(place_alone(1, &[Some(EndReason::TestsFailed)]), Ok(Some((1, 2))));
        assert_eq!(resume_place(alone, Some(record(3, None)), &mut trajectory(3, &[None])), Ok(None));
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_broken_one_is_none() {
        let room = tempfile::tempdir().unwrap();
        let path = Record::path(room.path());
        assert_eq!(Record::read(&path), None);
        let record = record(2, Some(1));
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path), Some(record));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Record::read(&path), None);
        Record::remove(&path).unwrap();
        Record::remove(&path).unwrap();
        assert!(!path.exists());
    }
}
