//! A second verification of a step whose player has left processes (`harbor.background=check`).
//!
//! With Harbor such processes continue, and one could rewrite the verdict. So the verifier runs again in a second container with
//! the same files. The first such container shares network and process list, because the verifier may need a running server.
//! It comes first, because what a verifier asks of a server may change what the server answers. If it disagrees and does not
//! pass, a second one shares less: both verifiers may want one port. A verdict that none confirms is replaced by the best of
//! theirs.
//!
//! Where none can be carried out, that counts against the player only if the player caused it: a container of the task in which
//! nobody has worked can be started twice. Else the verdict stays as it is, and is marked.

use std::time::Duration;

use model::{EndReason, case_lines};
use sandbox::{Containers, SandboxError, Shares};

use super::background_processes::false_unless_gone;
use super::file::StepFile;
use super::in_container::{StepFailure, container_failure_reason};
use super::player::Player;
use super::reward;
use super::snapshot::ends_run;
use super::step_record::case_counts;
use super::step_result::{StepResult, WithoutProcesses};
use super::trial::{Trial, not_open_error};
use crate::live::Phase;
use crate::settings::TaskBackground;

/// How long processes that were just ended may take to be gone.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// The name of the file that no snapshot for a verification is kept by: it tells their names from those of a resume.
const NOT_KEPT: &str = "verified";

impl Trial<'_> {
    fn checks_processes(&self) -> bool {
        let background = self.context.settings.tasks.as_ref().map(|tasks| tasks.background);
        background == Some(TaskBackground::Check) && !matches!(self.player, Some(Player::Nop))
    }

    /// Remembers what runs in the container before a player works in it.
    pub(super) async fn know_processes(&mut self) -> Result<(), StepFailure> {
        if self.checks_processes() && self.own_processes.is_none() {
            self.own_processes = Some(self.container()?.processes().await?.unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps the container as it is before the verifier, if its player has left processes. The name of the image, or why the
    /// engine does not keep it.
    pub(super) async fn keep_where_processes_run(
        &self,
    ) -> Result<Option<Result<String, String>>, StepFailure> {
        if !self.checks_processes() || !self.was_played || self.stop.is_cancelled() {
            return Ok(None);
        }
        if !self.has_left_processes().await? {
            return Ok(None);
        }
        self.status.phase(Phase::Testing, "its container is kept: processes of the agent still run");
        let image =
            sandbox::snapshot_name(&self.owner, &self.record_path().with_file_name(NOT_KEPT), self.number);
        let kept = self.container()?.snapshot(&image).await;
        Ok(Some(match kept {
            Ok(_) => Ok(image),
            Err(error) if ends_run(&error) => return Err(error.into()),
            Err(error) => {
                self.drop_kept(&image).await;
                Err(error.to_string())
            }
        }))
    }

    async fn has_left_processes(&self) -> Result<bool, SandboxError> {
        if !self.has_new_processes().await? {
            return Ok(false);
        }
        tokio::time::sleep(SETTLE_TIME).await;
        self.has_new_processes().await
    }

    /// Whether processes run that were not there before a player worked. Where the engine cannot tell, they may.
    async fn has_new_processes(&self) -> Result<bool, SandboxError> {
        let running = self.container()?.processes().await?;
        let own = self.own_processes.as_ref();
        Ok(running.is_none_or(|running| own.is_none_or(|own| !running.is_subset(own))))
    }

    /// Runs the verifier in the container, and where no process of the player can write its verdict. That verdict counts.
    pub(super) async fn verify_twice(
        &mut self,
        step: &StepFile,
        played: &mut StepResult,
        kept_image: Result<String, String>,
    ) -> Result<(), StepFailure> {
        match kept_image {
            Ok(image) => {
                let verified = Box::pin(self.verify_and_confirm(step, played, &image)).await;
                self.drop_kept(&image).await;
                verified
            }
            Err(reason) => {
                self.verify(step, played).await?;
                played.leave_unconfirmed(&reason);
                Ok(())
            }
        }
    }

    async fn verify_and_confirm(
        &mut self,
        step: &StepFile,
        played: &mut StepResult,
        image: &str,
    ) -> Result<(), StepFailure> {
        let raised = played.raised.clone();
        let is_root = self.container()?.is_root(step.verifier_user.as_deref());
        let first = if is_root { Shares::NetworkAndProcesses } else { Shares::Network };
        let mut seconds = Rechecks::default();
        let early = Box::pin(self.verify_in_second(step, image, first)).await?;
        self.verify(step, played).await?;
        let mut decides = seconds.add(first, early, played);
        // Without a verdict there is none to confirm. One out of reach counts: processes may make the first unreadable.
        let has_verdict = |played: &StepResult| played.rewards.is_some();
        if !has_verdict(played) && decides.is_none() && !seconds.best.as_ref().is_some_and(has_verdict) {
            return Ok(());
        }
        for shares in [Shares::Network, Shares::Nothing].into_iter().filter(|shares| *shares != first) {
            if self.stop.is_cancelled() || decides.is_some() {
                break;
            }
            let second = Box::pin(self.verify_in_second(step, image, shares)).await?;
            decides = seconds.add(shares, second, played);
        }
        if self.stop.is_cancelled() {
            return Ok(());
        }
        if decides == Some(VerificationDecision::Confirmed) {
            played.without_processes = Some(WithoutProcesses::Same);
            return Ok(());
        }
        let lost = seconds.lost.filter(|_| decides.is_none() && !seconds.is_sound);
        if let Some(lost) = &lost
            && (lost.is_ours || !Box::pin(self.can_start_twice()).await?)
        {
            played.leave_unconfirmed(&lost.reason);
            return Ok(());
        }
        let second = seconds.best.or_else(|| lost.map(|lost| self.result_lost_to_player(&lost)));
        if let Some(second) = second.filter(|_| !self.stop.is_cancelled()) {
            played.raised = raised;
            played.replace_verdict(second);
        }
        Ok(())
    }

    /// What an attempt comes to whose player has brought about that no second container of its files works.
    fn result_lost_to_player(&self, lost: &FailedVerification) -> StepResult {
        let message = format!(
            "processes were left, and a second container of the same files does not work, which one of the task does: {}",
            lost.reason
        );
        let mut second = StepResult::default();
        second.raise(
            container_failure_reason(self.was_played, EndReason::KilledItself),
            "ContainerLost",
            &message,
        );
        second
    }

    /// What the verifier comes to in a second container. Errors are those that end a run.
    async fn verify_in_second(
        &mut self,
        step: &StepFile,
        image: &str,
        shares: Shares,
    ) -> Result<Recheck, StepFailure> {
        self.status.phase(Phase::Testing, "the verifier runs out of reach of processes of the agent");
        let container_settings = self.container_settings.clone().ok_or_else(not_open_error)?;
        let container = self.container.take().ok_or_else(not_open_error)?;
        let mut second = Recheck::default();
        let verified = match container.open_second(&container_settings, image, shares).await {
            Ok(second_container) => {
                self.container = Some(second_container);
                let verified = self.verify_once_ready(step, &mut second).await;
                self.close_second().await;
                verified
            }
            Err(error) => Err(StepFailure::Engine(error)),
        };
        self.container = Some(container);
        match verified {
            Ok(()) => {}
            Err(StepFailure::Engine(error)) if ends_run(&error) => return Err(error.into()),
            Err(StepFailure::Engine(error)) => {
                // The files of a container can keep it from starting, or its commands from running. They do nothing else to an engine.
                let is_ours = !matches!(error, SandboxError::Engine { .. } | SandboxError::Image { .. });
                second.lose(error.to_string(), is_ours);
            }
            Err(StepFailure::Ended(reason, _, message)) => {
                second.lose(message, reason == EndReason::Environment);
            }
        }
        if let Some(FailedVerification { reason, .. }) = &second.lost {
            let episode = &self.planned.name;
            tracing::warn!(
                why = reason,
                ?shares,
                episode,
                step = self.number,
                "a second verification is not sound"
            );
        }
        Ok(second)
    }

    /// Runs the verifier once what the image starts is ready, or is not by the rules of its health check: a player may have had to
    /// change what that asks for.
    async fn verify_once_ready(&mut self, step: &StepFile, second: &mut Recheck) -> Result<(), StepFailure> {
        let file = self.file;
        if let Some(health) = &file.health {
            match self.healthy(health, None).await {
                Err(StepFailure::Ended(_, "HealthcheckError", message)) => second.lose(message, false),
                ready => ready?,
            }
        }
        let mut played = StepResult::default();
        self.verify(step, &mut played).await?;
        second.played = Some(played);
        Ok(())
    }

    /// Whether a second container that does not work is the player's doing: the way to the gateway is there, and a container of the
    /// task in which nobody has worked can be started twice. It shares nothing with that of the trial, whose processes do not reach it.
    async fn can_start_twice(&mut self) -> Result<bool, SandboxError> {
        let has_running_relay = match self.container()?.has_running_relay().await {
            Ok(has_running_relay) => has_running_relay,
            Err(error) => false_unless_gone(error)?,
        };
        if !has_running_relay {
            return Ok(false);
        }
        let container_settings = self.container_settings.clone().ok_or_else(not_open_error)?;
        let container = self.container.take().ok_or_else(not_open_error)?;
        let restarts = match container
            .open_second(&container_settings, &container_settings.image, Shares::Nothing)
            .await
        {
            Ok(untouched) => {
                self.container = Some(untouched);
                let restarts = self.restarts().await;
                self.close_second().await;
                restarts
            }
            Err(error) => false_unless_gone(error),
        };
        self.container = Some(container);
        restarts
    }

    /// Closes a second container, which stands in the place of the trial's. One that stays goes with the run.
    async fn close_second(&mut self) {
        if let Some(second_container) = self.container.take()
            && let Err(error) = second_container.close().await
        {
            tracing::warn!(%error, "the container of a second verification could not be removed");
        }
    }

    /// Removes what was kept for a second verification.
    pub(super) async fn drop_kept(&self, image: &str) {
        let connections = self.context.connections().await;
        if let Containers::Engine(engine) = &connections.containers
            && let Err(error) = engine.remove_snapshot(image).await
        {
            tracing::warn!(%error, image, "what was kept for a second verification could not be removed");
        }
    }
}

/// What came of the verifier in a second container.
#[derive(Default)]
struct Recheck {
    /// What it came to, if it ran to its end.
    played: Option<StepResult>,
    /// Why that says nothing of the work of a player.
    lost: Option<FailedVerification>,
}

impl Recheck {
    fn lose(&mut self, reason: String, is_ours: bool) {
        self.lost.get_or_insert(FailedVerification { reason, is_ours });
    }
}

/// Why a second verification could not be carried out.
struct FailedVerification {
    reason: String,
    /// Whatever a player leaves, it does not bring that about.
    is_ours: bool,
}

/// How one second verification decides, without a further one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerificationDecision {
    /// It came to the same.
    Confirmed,
    /// It is a pass, which no process of the player could write.
    Passed,
}

/// What all second verifications came to.
#[derive(Default)]
struct Rechecks {
    best: Option<StepResult>,
    /// Whether one of them was carried out where servers that run are found.
    is_sound: bool,
    /// The first failure.
    lost: Option<FailedVerification>,
}

impl Rechecks {
    /// Adds one. `first` is what the verifier came to in the container of the trial.
    fn add(&mut self, shares: Shares, second: Recheck, first: &StepResult) -> Option<VerificationDecision> {
        self.is_sound |= shares != Shares::Nothing && second.lost.is_none();
        if let Some(lost) = second.lost {
            self.lost.get_or_insert(lost);
        }
        let played = second.played?;
        if first.rewards.is_some() && is_same(first, &played) {
            return Some(VerificationDecision::Confirmed);
        }
        let has_passed = played.rewards.as_ref().and_then(reward::passed) == Some(true);
        if self.best.as_ref().is_none_or(|best| rank(&played) > rank(best)) {
            self.best = Some(played);
        }
        has_passed.then_some(VerificationDecision::Passed)
    }
}

impl StepResult {
    /// Marks a verdict that no second verification could confirm, which is nobody's doing.
    fn leave_unconfirmed(&mut self, reason: &str) {
        if self.rewards.is_some() {
            self.without_processes = Some(WithoutProcesses::Unconfirmed(reason.to_owned()));
        }
    }

    /// Takes the verdict of a second verification, and remembers the rewards of the first.
    fn replace_verdict(&mut self, second: Self) {
        let with_processes = self.rewards.take().unwrap_or_default();
        (self.rewards, self.tests, self.test_seconds) = (second.rewards, second.tests, second.test_seconds);
        let verifier_folder = files::join(reward::KEPT_IN, "");
        self.kept_files.retain(|file| !file.path.starts_with(&verifier_folder));
        self.kept_files.extend(second.kept_files);
        let known = self.left_out.clone();
        self.left_out.extend(second.left_out.into_iter().filter(|path| !known.contains(path)));
        if let Some(raised) = second.raised {
            self.raised.get_or_insert(raised);
        }
        self.without_processes = Some(WithoutProcesses::Other(with_processes));
    }
}

/// Whether two verifications of a step came to the same: rewards and counts of cases.
fn is_same(first: &StepResult, second: &StepResult) -> bool {
    let counts = |played: &StepResult| {
        let output = played.tests.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        case_counts(&case_lines::parse(&output))
    };
    first.rewards == second.rewards && counts(first) == counts(second)
}

/// Which of two verifications is taken where none confirms the first: processes of the player have written neither.
fn rank(played: &StepResult) -> (bool, bool, Option<f64>) {
    let rewards = played.rewards.as_ref();
    let has_passed = rewards.and_then(reward::passed) == Some(true);
    (rewards.is_some(), has_passed, rewards.and_then(reward::decisive))
}

#[cfg(test)]
mod tests {
    use sandbox::ContainerFile;

    use super::*;

    fn played(reward: Option<f64>, output: &str) -> StepResult {
        let kept = ["artifacts/log", "verifier/reward.txt"];
        let file = |path: &str| ContainerFile { path: path.to_owned(), content: output.as_bytes().to_vec() };
        StepResult {
            rewards: reward.map(|reward| reward::Rewards::from([("reward".to_owned(), reward)])),
            tests: Some(output.as_bytes().to_vec()),
            kept_files: kept.map(file).to_vec(),
            ..StepResult::default()
        }
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_verdict_is_confirmed_by_the_same_rewards_and_cases() {
        let summary = |passed: u32| {
            let failed = 3 - passed;
            format!("CASE_SUMMARY total_cases=3 success_count={passed} fail_count={failed}\n")
        };
        assert!(is_same(&played(Some(1.0), "took 0.2 s"), &played(Some(1.0), "took 0.3 s")));
        assert!(!is_same(&played(Some(1.0), ""), &played(Some(0.0), "")));
        assert!(!is_same(&played(Some(1.0), ""), &played(None, "")));
        assert!(is_same(&played(Some(0.0), &summary(2)), &played(Some(0.0), &summary(2))));
        assert!(!is_same(&played(Some(0.0), &summary(2)), &played(Some(0.0), &summary(1))), "forged cases");
    }

    fn second(reward: Option<f64>) -> Recheck {
        Recheck { played: Some(played(reward, "")), lost: None }
    }

    fn lost_second(played: Option<StepResult>) -> Recheck {
        let mut second = Recheck { played, lost: None };
        second.lose("it does not start".to_owned(), false);
        second
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn what_cannot_be_verified_again_is_told_from_what_fails_there() {
        let first = played(Some(1.0), "");
        // One that ran where servers are found is believed, whatever became of the others.
        let mut seconds = Rechecks::default();
        assert_eq!(seconds.add(Shares::NetworkAndProcesses, second(Some(0.0)), &first), None);
        assert_eq!(seconds.add(Shares::Network, lost_second(None), &first), None);
        assert!(seconds.is_sound && seconds.best.is_some());
        // Where only one without a network ran, a server may be what it misses.
        let mut seconds = Rechecks::default();
        assert_eq!(seconds.add(Shares::Network, lost_second(None), &first), None);
        assert_eq!(seconds.add(Shares::Nothing, second(Some(0.0)), &first), None);
        assert!(!seconds.is_sound && seconds.lost.is_some());
        // What ran although its image was not ready fails for nothing, and passes for good.
        let mut seconds = Rechecks::default();
        assert_eq!(seconds.add(Shares::Network, lost_second(Some(played(Some(0.0), ""))), &first), None);
        assert!(!seconds.is_sound);
        let confirms = lost_second(Some(played(Some(1.0), "")));
        assert_eq!(seconds.add(Shares::Nothing, confirms, &first), Some(VerificationDecision::Confirmed));
    }

    #[test]
    fn a_pass_out_of_reach_of_processes_counts_where_the_verifier_fails_after_it() {
        for first in [played(Some(0.0), ""), played(None, "")] {
            let mut seconds = Rechecks::default();
            assert_eq!(
                seconds.add(Shares::Network, second(Some(1.0)), &first),
                Some(VerificationDecision::Passed)
            );
        }
        let mut seconds = Rechecks::default();
        assert_eq!(seconds.add(Shares::Network, second(None), &played(None, "")), None);
    }

    #[test]
    fn a_verdict_that_cannot_be_confirmed_stands_and_says_so() {
        let mut first = played(Some(1.0), "");
        first.leave_unconfirmed("the engine keeps no image");
        assert_eq!(first.rewards.as_ref().and_then(reward::decisive), Some(1.0));
        assert!(first.raised.is_none());
        let Some(WithoutProcesses::Unconfirmed(reason)) = first.without_processes else { panic!("no mark") };
        assert_eq!(reason, "the engine keeps no image");
        let mut none = played(None, "");
        none.leave_unconfirmed("why");
        assert!(none.without_processes.is_none(), "there is nothing to confirm");
    }

    #[test]
    fn the_verification_with_a_verdict_and_then_the_better_one_is_taken() {
        let (none, bad, part, good) =
            (played(None, ""), played(Some(0.0), ""), played(Some(0.5), ""), played(Some(1.0), ""));
        assert!(rank(&bad) > rank(&none) && rank(&part) > rank(&bad) && rank(&good) > rank(&part));
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn the_verdict_that_counts_is_the_one_that_no_process_could_write() {
        let mut first = played(Some(1.0), "rewritten");
        first.replace_verdict(played(Some(0.0), "honest"));
        assert_eq!(first.rewards.as_ref().and_then(reward::decisive), Some(0.0));
        assert_eq!(first.tests.as_deref(), Some(&b"honest"[..]));
        let kept: Vec<(&str, &[u8])> =
            first.kept_files.iter().map(|file| (file.path.as_str(), file.content.as_slice())).collect();
        assert!(kept.contains(&("verifier/reward.txt", b"honest")), "{kept:?}");
        assert!(!kept.contains(&("verifier/reward.txt", b"rewritten")), "{kept:?}");
        assert!(kept.contains(&("artifacts/log", b"rewritten")), "what the player left stays: {kept:?}");
        let Some(WithoutProcesses::Other(found)) = first.without_processes else { panic!("it was replaced") };
        assert_eq!(reward::decisive(&found), Some(1.0));
        // Without a verdict there is none, whatever the first said.
        let mut none = played(Some(1.0), "");
        let mut second = played(None, "");
        second.raise(EndReason::VerifierError, "RewardFileNotFoundError", "none");
        none.replace_verdict(second);
        assert_eq!(none.rewards, None);
        assert_eq!(none.raised.map(|(reason, _)| reason), Some(EndReason::VerifierError));
    }
}
