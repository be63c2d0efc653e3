//! A second verification of a step whose player has left processes (`harbor.background=check`).
//!
//! With Harbor such processes go on, and tasks may ask for a server that runs, so nothing ends them. One that waits for the verifier
//! can rewrite its verdict, though: whatever is in the container is within its reach. So the container is kept as it is before the
//! verifier, and the verifier runs again in a second container of these files, which such a process does not reach. That one
//! shares the network, where a server that still runs is found, and the list of processes. Where it does not confirm the verdict,
//! one is asked that shares less: both verifiers may want one port. A verdict that none confirms is replaced by the best of theirs.

use std::time::Duration;

use model::{EndReason, case_lines};
use sandbox::{Containers, SandboxError, Shares};

use super::file::StepFile;
use super::in_container::Broken;
use super::played::{Played, WithoutProcesses};
use super::player::Player;
use super::recorded::case_counts;
use super::reward;
use super::snapshot::ends_run;
use super::trial::{Trial, not_open};
use crate::live::Phase;
use crate::settings::TaskBackground;

/// How long processes that were just ended may take to be gone.
const SETTLED: Duration = Duration::from_millis(500);
/// The name of the file that no snapshot for a verification is kept by: it tells their names from those of a resume.
const NOT_KEPT: &str = "verified";

impl Trial<'_> {
    fn checks_processes(&self) -> bool {
        let background = self.context.settings.tasks.as_ref().map(|tasks| tasks.background);
        background == Some(TaskBackground::Check) && !matches!(self.player, Some(Player::Nop))
    }

    /// Remembers what runs in the container before a player works in it.
    pub(super) async fn know_processes(&mut self) -> Result<(), Broken> {
        if self.checks_processes() && self.own_processes.is_none() {
            self.own_processes = Some(self.container()?.processes().await?.unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps the container as it is before the verifier, if its player has left processes. The name of the image.
    pub(super) async fn keep_where_processes_run(&self) -> Result<Option<String>, Broken> {
        if !self.checks_processes() || !self.was_played || self.stop.is_cancelled() {
            return Ok(None);
        }
        if !self.has_left_processes().await? {
            return Ok(None);
        }
        self.status.phase(Phase::Testing, "its container is kept: processes of the agent still run");
        let image =
            sandbox::snapshot_name(&self.owner, &self.record_path().with_file_name(NOT_KEPT), self.number);
        self.container()?.snapshot(&image).await?;
        Ok(Some(image))
    }

    async fn has_left_processes(&self) -> Result<bool, SandboxError> {
        if !self.others_run().await? {
            return Ok(false);
        }
        tokio::time::sleep(SETTLED).await;
        self.others_run().await
    }

    /// Whether processes run that were not there before a player worked. Where the engine cannot tell, they may.
    async fn others_run(&self) -> Result<bool, SandboxError> {
        let running = self.container()?.processes().await?;
        let own = self.own_processes.as_ref();
        Ok(running.is_none_or(|running| own.is_none_or(|own| !running.is_subset(own))))
    }

    /// Has the verifier run again where no process of the player can write its verdict. That verdict counts.
    pub(super) async fn confirm(
        &mut self,
        step: &StepFile,
        played: &mut Played,
        image: &str,
    ) -> Result<(), Broken> {
        if played.rewards.is_none() || self.stop.is_cancelled() {
            return Ok(());
        }
        self.status.phase(Phase::Testing, "the verifier runs again, out of reach of processes of the agent");
        let mut found: Option<Played> = None;
        let is_root = self.container()?.is_root(step.verifier_user.as_deref());
        let shared = [Shares::NetworkAndProcesses, Shares::Network, Shares::Nothing];
        for shares in shared.into_iter().skip(usize::from(!is_root)) {
            let second = Box::pin(self.verified_beside(step, image, shares)).await?;
            if self.stop.is_cancelled() {
                return Ok(());
            }
            if is_same(played, &second) {
                played.without_processes = Some(WithoutProcesses::Same);
                return Ok(());
            }
            if found.as_ref().is_none_or(|found| rank(&second) > rank(found)) {
                found = Some(second);
            }
        }
        if let Some(second) = found {
            played.replace_verdict(second);
        }
        Ok(())
    }

    /// What the verifier comes to in a second container. What goes wrong in it is part of that; errors are those that end a run.
    async fn verified_beside(
        &mut self,
        step: &StepFile,
        image: &str,
        shares: Shares,
    ) -> Result<Played, Broken> {
        let what = self.what.clone().ok_or_else(not_open)?;
        let container = self.container.take().ok_or_else(not_open)?;
        let mut second = Played::default();
        let verified = match container.beside(&what, image, shares).await {
            Ok(beside) => {
                self.container = Some(beside);
                let verified = self.verify_once_ready(step, &mut second).await;
                let closed = match self.container.take() {
                    Some(beside) => beside.close().await,
                    None => Ok(()),
                };
                verified.and(closed.map_err(Broken::Engine))
            }
            Err(error) => Err(Broken::Engine(error)),
        };
        self.container = Some(container);
        match verified {
            Ok(()) => {}
            Err(Broken::Engine(error)) if ends_run(&error) => return Err(error.into()),
            Err(Broken::Engine(error)) => {
                second.raise(EndReason::AgentError, "ContainerError", &error.to_string());
            }
            Err(Broken::Ended(reason, kind, message)) => second.raise(reason, kind, &message),
        }
        Ok(second)
    }

    /// Runs the verifier once what the image starts is ready.
    async fn verify_once_ready(&mut self, step: &StepFile, second: &mut Played) -> Result<(), Broken> {
        let file = self.file;
        if let Some(health) = &file.health {
            self.healthy(health, None).await?;
        }
        self.verify(step, second).await
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

impl Played {
    /// Takes the verdict of a second verification, and remembers the rewards of the first.
    fn replace_verdict(&mut self, second: Self) {
        let with_processes = self.rewards.take().unwrap_or_default();
        (self.rewards, self.tests, self.test_seconds) = (second.rewards, second.tests, second.test_seconds);
        let of_verifier = files::join(reward::KEPT_IN, "");
        self.left.retain(|file| !file.path.starts_with(&of_verifier));
        self.left.extend(second.left);
        let known = self.left_out.clone();
        self.left_out.extend(second.left_out.into_iter().filter(|path| !known.contains(path)));
        if let Some(raised) = second.raised {
            self.raised.get_or_insert(raised);
        }
        self.without_processes = Some(WithoutProcesses::Other(with_processes));
    }
}

/// Whether two verifications of a step came to the same: rewards and counts of cases.
fn is_same(first: &Played, second: &Played) -> bool {
    let counts = |played: &Played| {
        let output = played.tests.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        case_counts(&case_lines::parse(&output))
    };
    first.rewards == second.rewards && counts(first) == counts(second)
}

/// Which of two verifications is taken where none confirms the first: processes of the player have written neither.
fn rank(played: &Played) -> (bool, bool, Option<f64>) {
    let rewards = played.rewards.as_ref();
    (rewards.is_some(), rewards.is_some_and(reward::is_pass), rewards.and_then(reward::decisive))
}

#[cfg(test)]
mod tests {
    use sandbox::FileLeft;

    use super::*;

    fn played(reward: Option<f64>, output: &str) -> Played {
        let left = ["artifacts/log", "verifier/reward.txt"];
        let file = |path: &str| FileLeft { path: path.to_owned(), content: output.as_bytes().to_vec() };
        Played {
            rewards: reward.map(|reward| reward::Rewards::from([("reward".to_owned(), reward)])),
            tests: Some(output.as_bytes().to_vec()),
            left: left.map(file).to_vec(),
            ..Played::default()
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

    #[test]
    fn of_two_verifications_the_one_with_a_verdict_and_then_the_better_is_taken() {
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
        let left: Vec<(&str, &[u8])> =
            first.left.iter().map(|file| (file.path.as_str(), file.content.as_slice())).collect();
        assert!(left.contains(&("verifier/reward.txt", b"honest")), "{left:?}");
        assert!(!left.contains(&("verifier/reward.txt", b"rewritten")), "{left:?}");
        assert!(left.contains(&("artifacts/log", b"rewritten")), "what the player left stays: {left:?}");
        let Some(WithoutProcesses::Other(with)) = first.without_processes else { panic!("it was replaced") };
        assert_eq!(reward::decisive(&with), Some(1.0));
        // Without a verdict there is none, whatever the first said.
        let mut none = played(Some(1.0), "");
        let mut second = played(None, "");
        second.raise(EndReason::VerifierError, "RewardFileNotFoundError", "none");
        none.replace_verdict(second);
        assert_eq!(none.rewards, None);
        assert_eq!(none.raised.map(|(reason, _)| reason), Some(EndReason::VerifierError));
    }
}
