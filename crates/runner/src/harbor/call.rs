//! The call of a harness in the container of a trial: the same call as in a container of its own ([`agent::call`]), with the
//! step's instruction as its request, and nothing else.

use std::sync::Arc;

use gateway::{AttemptKey, simulated_model};
use model::EndReason;
use sandbox::{OpenTask, SandboxError, TaskCommand};
use tokio::sync::OwnedSemaphorePermit;

use super::file::StepFile;
use super::in_container::{StepFailure, container_failure_reason, end_of_output, whole_seconds};
use super::step_result::{CallResult, StepResult};
use super::task::HeldSolution;
use super::trial::Trial;
use crate::agent::{self, AgentCall, AgentCallError, CallPlace, OwnedCall};
use crate::agent_end::fault_unless_passed;
use crate::attempt::{CallEnd, end_of_call, session_id};
use crate::attempt_cost::attempt_cost;
use crate::dropped_attempt::Unrecorded;
use crate::live::Phase;
use crate::record::{Exception, exception};
use crate::retry_attempt::cause_with_message;
use crate::run_context::Ending;
use crate::settings::{EndpointSettings, TaskSession};

/// Seconds in which a harness prints its version: some compile themselves at their first start.
const PROBE: u64 = 120;
/// The exit code of the script if the image has the loader of musl.
const MUSL: i64 = 87;

impl Trial<'_> {
    /// Calls the harness.
    pub(super) async fn harness(
        &mut self,
        step: &StepFile,
        played: &mut StepResult,
    ) -> Result<(), StepFailure> {
        self.status.phase(Phase::Agent, "the agent works");
        let instruction = self.task.instruction(self.tree(), step);
        let instruction = instruction
            .map_err(|message| StepFailure::Ended(EndReason::Environment, "TaskFiles", message))?;
        // Held until the call is over, as the solution is.
        let (simulated, _held) = self.simulated(step).await?;
        let allowed = self.context.settings.limits.seconds;
        let seconds = step.agent_seconds.map_or(allowed, whole_seconds);
        self.known.spent = self.context.spent_of(&self.status, &self.owner.episode).await;
        let is_first = !self.was_played;
        self.was_played = true;
        let (called, prompt, restarts) =
            self.called(step, &instruction, simulated, seconds, is_first).await?;
        // Before anything can go wrong: what was spent counts in any case.
        let cost = attempt_cost(self.context, &self.owner.episode, &called);
        played.agent_seconds = Some(called.end.seconds);
        let may_retry = self.has_room_for_repeat().await;
        played.has_room_for_repeat = Some(may_retry);
        let call_end = end_of_call(self.context, self.known.worked, seconds, &called, may_retry);
        let fault = fault_unless_passed(&called).cloned();
        let exit = called.end.exit;
        let harness_end = called.outcome.end;
        // It may come from a record of somebody else.
        self.known.calls = self.known.calls.saturating_add(1);
        self.known.worked |= harness_end != Some(EndReason::Environment);
        if let Some(session) = called.outcome.session.clone()
            && session.id.as_ref().is_none_or(|id| self.context.scrub.text(id) == *id)
        {
            self.known.session = Some(session);
        }
        played.call = Some(CallResult {
            cost,
            steps: called.outcome.steps,
            usage: called.outcome.usage,
            model_requests: called
                .summary
                .as_ref()
                .map(|recorded| u32::try_from(recorded.spent.requests).unwrap_or(u32::MAX)),
            prompt,
            restarts,
            end: None,
            spent_budget: None,
            fault_unless_passed: fault,
        });
        played.agent = called.end;
        let is_unanswered = matches!(call_end, Err(Unrecorded::Unanswered { .. }));
        if exit.disk_full && !is_unanswered {
            let message = "the disk limit of the container ended it".to_owned();
            return Err(StepFailure::Ended(EndReason::AgentError, "DiskLimit", message));
        }
        if exit.code.is_none() && !exit.timed_out && !exit.stopped {
            let message = "the container of the task ended while the agent worked in it".to_owned();
            return Err(StepFailure::Ended(EndReason::KilledItself, "ContainerLost", message));
        }
        let CallEnd { spent_budget, agent_end, .. } =
            call_end.map_err(|fault| self.fault(fault, is_first))?;
        if let (Some(reason), Some(Exception { kind, message })) = (agent_end.reason, &agent_end.exception) {
            played.raise(reason, kind, message);
        }
        if let Some(call) = &mut played.call {
            (call.end, call.spent_budget) = (agent_end.reason, spent_budget);
        }
        Ok(())
    }

    /// The call, its prompt, and whether its session began anew in the middle of the trial.
    async fn called(
        &mut self,
        step: &StepFile,
        instruction: &str,
        simulated: Option<simulated_model::Task>,
        seconds: u64,
        is_first: bool,
    ) -> Result<(AgentCall, String, bool), StepFailure> {
        let connections = self.context.connections().await;
        let begins_anew = self.begins_anew();
        // One that its first call never began is not continued: nobody was told what it is about.
        let may_continue =
            |session: &harness::Session| !begins_anew && self.context.harness.has_begun(session);
        let mut session = self.known.session.clone().filter(may_continue);
        loop {
            let restarts = !begins_anew && session.is_none() && self.known.calls > 0;
            let prompt = self.prompt(instruction, session.is_none());
            let key =
                AttemptKey { episode: self.owner.episode.clone(), turn: self.number, attempt: self.attempt };
            let attempt = connections.gateway.as_ref().map(|gateway| {
                gateway.open_for(key, simulated.clone(), self.context.time_left(self.status.seconds()))
            });
            let call = OwnedCall {
                turn: self.number,
                attempt: self.attempt,
                prompt: prompt.clone(),
                session_id: session_id(
                    &self.context.id,
                    &self.owner.episode,
                    session.is_none(),
                    self.known.calls,
                ),
                earlier: self.earlier_session(session.is_none()),
                session: session.clone(),
                endpoint: agent::endpoint(self.context, attempt.as_ref()),
                seconds,
                home: harness::HOME.to_owned(),
                workspace: self.workdir.clone(),
            };
            let call_place =
                CallPlace::Task { container: self.container()?, user: step.agent_user.as_deref() };
            let called = agent::call(
                self.context,
                call_place,
                &self.owner,
                &self.folders,
                call,
                attempt,
                &self.known,
                &self.stop,
                &self.status,
            );
            match called.await {
                Ok(called) => return Ok((called, prompt, restarts)),
                Err(AgentCallError::Refused(harness::HarnessError::NoSession { .. }))
                    if session.is_some() =>
                {
                    session = None;
                }
                Err(AgentCallError::Containers(error)) => {
                    if is_first {
                        // One that could not be started has not worked.
                        self.was_played = !self.container()?.is_running().await?;
                    }
                    return Err(error.into());
                }
                Err(AgentCallError::Stopped) => return Err(self.fault(Unrecorded::Stopped, is_first)),
                Err(AgentCallError::Refused(error)) => {
                    return Err(self.fault(Unrecorded::Refused(error.to_string()), is_first));
                }
                Err(AgentCallError::Files(error)) => {
                    return Err(self.fault(Unrecorded::Files(error), is_first));
                }
            }
        }
    }

    /// What the session before left, where a call begins one in a HOME in which others lie.
    fn earlier_session(&self, begins: bool) -> Option<harness::Session> {
        (begins && self.known.calls > 0).then(|| self.known.session.clone().unwrap_or_default())
    }

    /// Whether this call begins a new session because the settings have one for each step. Further attempts at a step continue
    /// the first one's, unless each begins from the same snapshot.
    fn begins_anew(&self) -> bool {
        let settings = &self.context.settings;
        let is_fresh = settings.tasks.as_ref().is_some_and(|tasks| tasks.session == TaskSession::Fresh);
        is_fresh && (self.attempt == 1 || settings.restore_before_try)
    }

    /// How a step ends whose agent something outside ended. The container has changed: what the endpoint ended is retried where the
    /// container can be made what it was before ([`super::endpoint_retries`]), and the trial ends otherwise.
    fn fault(&self, fault: Unrecorded, is_first: bool) -> StepFailure {
        match fault {
            Unrecorded::Endpoint(cause) => StepFailure::Ended(EndReason::Endpoint, "EndpointError", cause),
            Unrecorded::Unanswered { cause, message, is_unasked } => {
                let message = cause_with_message(cause, message, self.context.harness.title());
                if is_unasked {
                    // Its harness ended before it asked a model, and nobody has worked in this container.
                    return StepFailure::Ended(EndReason::Environment, "HarnessError", message);
                }
                StepFailure::Ended(EndReason::Endpoint, "EndpointError", message)
            }
            Unrecorded::Containers { cause, is_gone } => {
                StepFailure::Engine(SandboxError::Engine { doing: "call the agent", reason: cause, is_gone })
            }
            // A program that has started before was made unusable by its agent.
            Unrecorded::Refused(cause) => StepFailure::Ended(
                container_failure_reason(!is_first, EndReason::AgentError),
                "HarnessError",
                cause,
            ),
            // Nothing is recorded of it: the run has ended.
            Unrecorded::Stopped => {
                StepFailure::Ended(EndReason::Cancelled, "Stopped", "the run was stopped".to_owned())
            }
            Unrecorded::Files(error) => {
                self.context.end(Ending::Broken(error.to_string()));
                StepFailure::Ended(EndReason::Environment, "EnvironmentError", error.to_string())
            }
        }
    }

    /// The task of the simulated model; `None` for a real one.
    async fn simulated(
        &self,
        step: &StepFile,
    ) -> Result<(Option<simulated_model::Task>, Option<OwnedSemaphorePermit>), StepFailure> {
        if self.context.settings.endpoint != EndpointSettings::Oracle {
            return Ok((None, None));
        }
        let task_failure = |message: String| StepFailure::Ended(EndReason::Environment, "TaskFiles", message);
        let (solution, held) = match self.task.solution(self.tree(), step) {
            None => (None, None),
            Some(folder) => {
                let HeldSolution { files, held } = self.tasks.solution(folder).await.map_err(task_failure)?;
                let env = self.variables(&self.file.solution_env)?;
                let solution = simulated_model::Solution { files, env, workdir: self.workdir.clone() };
                (Some(Arc::new(solution)), Some(held))
            }
        };
        let task = simulated_model::Task {
            scenario: self.planned.scenario,
            turn: self.number,
            attempt: self.attempt,
            turns: Arc::default(),
            attempts_before: Vec::new(),
            feedback: simulated_model::Feedback::None,
            solution,
        };
        Ok((Some(task), held))
    }

    /// Checks that the harness starts in the container of its task. Returns why it does not.
    pub(super) async fn starts(
        &self,
        container: &OpenTask,
        image: &str,
    ) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        let title = self.context.harness.title();
        let none = |message: &str| Some((EndReason::Environment, exception("HarnessNotStarted", message)));
        let user = self.file.steps.first().and_then(|step| step.agent_user.clone());
        let probe = TaskCommand {
            argv: self.context.harness.probe(),
            env: agent::task_variables(container).into(),
            user,
            folder: Some("/".to_owned()),
            seconds: PROBE,
            ..TaskCommand::default()
        };
        let end = container.run(&probe, &self.stop).await?;
        if end.exit.code == Some(0) || end.exit.stopped {
            return Ok(None);
        }
        let output = if end.stderr.is_empty() { &end.stdout } else { &end.stderr };
        let message =
            format!("{title} does not start in the image of the task ({image}): {}", end_of_output(output));
        // An image that stands on glibc may have the loader of musl as well: it says something only where nothing starts.
        let musl = TaskCommand {
            script: format!("for f in /lib/ld-musl-*; do [ ! -e \"$f\" ] || exit {MUSL}; done"),
            seconds: PROBE,
            ..TaskCommand::default()
        };
        let has_musl = container.run(&musl, &self.stop).await?.exit.code == Some(MUSL);
        Ok(none(&if has_musl {
            format!("{message}. The image has musl, and {title} needs glibc")
        } else {
            message
        }))
    }
}
