//! Whether another attempt may begin: not while the run is paused, not after it has ended, and not once a budget is spent.

use gateway::{Scope, StopReason};

use crate::control::PAUSE_CHECK_INTERVAL;
use crate::live::Phase;
use crate::run_context::{Ending, RunContext};
use crate::status::Status;

/// Why no further attempt may begin.
pub(crate) enum CannotStart {
    /// The run ends.
    RunEnds,
    /// The episode's budget is spent.
    Budget(StopReason),
}

/// Waits while the run is paused. False if the run ends.
pub(crate) async fn wait_out_a_pause(context: &RunContext, status: &Status) -> bool {
    let mut paused = false;
    loop {
        if context.stop.is_cancelled() {
            return false;
        }
        let pause = context.control_requests.borrow().pause;
        if !pause {
            status.begin();
            return true;
        }
        if !paused {
            paused = true;
            status.stop_clocks();
            status.phase(Phase::Paused, "paused");
        }
        tokio::time::sleep(PAUSE_CHECK_INTERVAL).await;
    }
}

/// Checks the budgets of an episode and of its run; a spent one of the run ends it. Once only: a moment later another one may
/// be spent.
pub(crate) async fn check_budgets(
    context: &RunContext,
    status: &Status,
    episode: &str,
) -> Result<(), CannotStart> {
    match context.spent_budget_of_episode(status, episode).await {
        None => Ok(()),
        Some(stop_reason @ StopReason::Budget { scope: Scope::Run, .. }) => {
            context.end(Ending::Budget(stop_reason));
            Err(CannotStart::RunEnds)
        }
        Some(stop_reason) => Err(CannotStart::Budget(stop_reason)),
    }
}
