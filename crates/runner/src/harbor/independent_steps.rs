//! Steps that are played by themselves, as SR of the EvoCode paper has them: before a step the reference solutions of the
//! earlier ones are executed in the container, by nobody who is scored, and its agent begins a new session.
//!
//! A trial goes through its steps once. Each is kept as a snapshot before its attempts; after them the container is opened from
//! it again and its solution executed, from which the next step begins. So nothing that an agent has left is in a later step, and the
//! solutions are executed once each.

use model::EndReason;
use sandbox::SandboxError;

use super::file::StepFile;
use super::in_container::{PREPARE_SECONDS, StepFailure, whole_seconds};
use super::snapshot::StateBeforeStep;
use super::trial::Trial;
use crate::live::Phase;
use crate::record::{Exception, exception};

/// What a solution was executed from is not seen by the next agent, and what it kept is not kept as the agent's.
const SOLUTION_REMOVED: &str = "rm -rf /solution /logs/artifacts /logs/agent && mkdir -p /logs/artifacts /logs/agent && \
     chmod 777 /logs/artifacts /logs/agent";

impl Trial<'_> {
    /// Whether each step is played by itself.
    pub(super) fn plays_alone(&self) -> bool {
        self.context.settings.tasks.as_ref().is_some_and(crate::settings::TaskSettings::plays_alone)
    }

    /// Goes from a step that was played to the next: the container is again what it was before it, and the reference solution is
    /// executed. Why that cannot be; it is nobody's failure.
    pub(super) async fn advance(
        &mut self,
        before: &StateBeforeStep,
        step: &StepFile,
    ) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        if let Some(ended) = self.restore(before).await? {
            return Ok(Some(ended));
        }
        self.status.phase(Phase::Preparing, "the reference solution of the step is executed");
        match self.reference(step).await {
            Ok(()) => Ok(None),
            Err(StepFailure::Engine(error)) => Err(error),
            Err(StepFailure::Ended(_, kind, message)) => {
                let message = format!("the reference solution of the step {}: {message}", step.name);
                Ok(Some((EndReason::Environment, exception(kind, &message))))
            }
        }
    }

    async fn reference(&mut self, step: &StepFile) -> Result<(), StepFailure> {
        self.is_as_kept = false;
        self.empty().await?;
        self.set_up(step).await?;
        let Some(folder) = self.task.solution(self.tree(), step) else {
            let message = "there is no solution/solve.sh".to_owned();
            return Err(StepFailure::Ended(EndReason::Environment, "FileNotFoundError", message));
        };
        self.lay(&folder, "solution", "/").await?;
        self.command("chmod +x /solution/solve.sh".to_owned(), Some("root"), &[], PREPARE_SECONDS).await?;
        let mut env = vec![("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())];
        env.extend(self.variables(&self.file.solution_env)?);
        let seconds = step.agent_seconds.unwrap_or(self.context.settings.limits.seconds as f64);
        let script = "exec 2>&1; /solution/solve.sh".to_owned();
        let end = self.command(script, step.agent_user.as_deref(), &env, whole_seconds(seconds)).await?;
        if end.exit.timed_out {
            let message = format!("it took longer than {seconds} seconds");
            return Err(StepFailure::Ended(EndReason::Environment, "AgentTimeoutError", message));
        }
        // Harbor asks the verifier alone, so the step counts as done all the same. The attempts that build on it say so.
        if let Some(code) = end.exit.code.filter(|code| *code != 0) {
            tracing::warn!(step = step.name, code, "the reference solution of a step did not exit with 0");
            self.references_failed.insert(step.name.clone(), code);
        }
        self.command_in(Some("/"), SOLUTION_REMOVED.to_owned(), Some("root"), &[], PREPARE_SECONDS)
            .await
            .map(drop)
    }
}
