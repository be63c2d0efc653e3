//! The results of a step that was played.

use gateway::{EndpointFault, StopReason};
use model::{EndReason, Step, Tokens};
use sandbox::{ContainerEnd, ContainerFile};

use super::reward::{self, Rewards};
use crate::attempt_cost::AttemptCost;
use crate::record::{Exception, exception};

/// The results of a step.
#[derive(Default)]
pub(super) struct StepResult {
    /// What the player printed.
    pub(super) agent: ContainerEnd,
    pub(super) agent_seconds: Option<f64>,
    /// What the verifier printed, both streams in one; `None` = there was none.
    pub(super) tests: Option<Vec<u8>>,
    pub(super) test_seconds: Option<f64>,
    pub(super) rewards: Option<Rewards>,
    /// The first failure, and its end reason.
    pub(super) raised: Option<(EndReason, Exception)>,
    /// Files that are kept of the step, as paths below its folder.
    pub(super) kept_files: Vec<ContainerFile>,
    /// Paths of the container that were not copied completely.
    pub(super) left_out: Vec<String>,
    /// What came of the second verification, where the player had left processes.
    pub(super) without_processes: Option<WithoutProcesses>,
    /// Whether no step can follow, whatever the rewards are.
    pub(super) is_over: bool,
    /// Whether it could be retried when its end was judged by that, which decides; `None` = it was not judged.
    pub(super) has_room_for_repeat: Option<bool>,
    /// The call of a harness; `None` = none was called.
    pub(super) call: Option<CallResult>,
}

impl StepResult {
    pub(super) fn raise(&mut self, reason: EndReason, kind: &str, message: &str) {
        self.raised.get_or_insert_with(|| (reason, exception(kind, message)));
    }

    /// Whether the verifier passed it.
    pub(super) fn has_passed(&self) -> bool {
        self.rewards.as_ref().and_then(reward::passed) == Some(true)
    }

    /// Makes it an attempt that the endpoint has ended: as if it had not been verified.
    pub(super) fn attribute_to_endpoint(&mut self, cause: &str) {
        self.raised = Some((EndReason::Endpoint, exception("EndpointError", cause)));
        (self.rewards, self.tests, self.without_processes) = (None, None, None);
        self.kept_files.retain(|file| file.path.split('/').next() != Some(reward::KEPT_IN));
        self.is_over = true;
    }

    /// Records a failure after which no step can follow.
    pub(super) fn end(mut self, reason: EndReason, kind: &str, message: &str) -> Self {
        self.raise(reason, kind, message);
        self.is_over = true;
        self
    }
}

/// What came of a step where processes that its player had left could not write.
pub(super) enum WithoutProcesses {
    /// The second verification confirmed the verdict.
    Same,
    /// Something else, which counts. With the processes the rewards were these.
    Other(Rewards),
    /// No second verification could be carried out, which is not the player's doing, and why. The verdict stands.
    Unconfirmed(String),
}

/// The results of a call, beside what every player leaves.
pub(super) struct CallResult {
    pub(super) cost: AttemptCost,
    pub(super) steps: Vec<Step>,
    /// By the harness's own count.
    pub(super) usage: Tokens,
    pub(super) model_requests: Option<u32>,
    /// Its prompt.
    pub(super) prompt: String,
    /// Whether its session began anew in the middle of the trial.
    pub(super) restarts: bool,
    /// Why the agent's call did not end well; empty if it did.
    pub(super) end: Option<EndReason>,
    /// A budget of the attempt or the episode that is spent.
    pub(super) spent_budget: Option<StopReason>,
    /// The fault of the endpoint on which a harness ended that may have finished. It counts where the verifier does not pass the
    /// step.
    pub(super) fault_unless_passed: Option<EndpointFault>,
}
