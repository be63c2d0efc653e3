//! One attempt, from the snapshot before it to its record.
//!
//! **What decides.** First the faults outside the agent. A call that the endpoint or the containers ended, or whose time they
//! took, has no record and is not tested: the attempt is retried from its snapshot. A call that a budget of the run cut off is
//! recorded as unfinished, with what it has spent, and not tested; a resume retries it. Then the tests: an attempt whose server
//! passes is passed, however the agent's call ended, but a container over its disk limit is not tested. If it does not pass, and
//! its harness ended by itself although its last request met a fault of the endpoint, it has no record either and is retried. Else
//! the reason is the first of: a budget of the attempt or the episode, the container's limits (time, disk, memory), what the
//! harness reports, the server, the tests.

mod attempt_record;

use std::sync::Arc;
use std::time::Instant;

use gateway::{AttemptKey, Scope, StopReason, simulated_model};
use model::EndReason;
use sandbox::{Owner, ServerContainer};
use tokio_util::sync::CancellationToken;
use validation::client::Verdicts;

use crate::agent::{self, AgentCall, AgentCallError, CallPlace, OwnedCall};
use crate::agent_end::{
    AgentEnd, agent_end, budget_spent, check_reached_gateway, excused, fault_unless_passed,
};
use crate::attempt_cost::{AttemptCost, attempt_cost};
use crate::blocking::blocking;
use crate::dropped_attempt::{Repeats, Unrecorded};
use crate::folders::Folders;
use crate::live::Phase;
use crate::prompt;
use crate::record::{AttemptRecord, EpisodeFolder, KeptCode};
use crate::run_context::{Ending, RunConnections, RunContext};
use crate::scenarios::TurnData;
use crate::server::{self, ServerOutcome};
use crate::state::{Label, SessionState};
use crate::status::Status;
use crate::{RunError, clock, kill_points};

/// An attempt to run.
pub(crate) struct Attempt<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) connections: &'a RunConnections,
    pub(crate) owner: &'a Owner,
    pub(crate) folders: &'a Folders,
    pub(crate) results: &'a EpisodeFolder,
    pub(crate) status: &'a Arc<Status>,
    pub(crate) data: &'a Arc<TurnData>,
    /// From 1.
    pub(crate) number: u32,
    pub(crate) known: &'a SessionState,
    pub(crate) task: Option<simulated_model::Task>,
    pub(crate) stop: &'a CancellationToken,
    /// How often it ran before and was dropped.
    pub(crate) repeats: Repeats,
}

/// An attempt that can be recorded.
pub(crate) struct FinishedAttempt {
    pub(crate) record: AttemptRecord,
    /// The state of the session once it is recorded.
    pub(crate) after: SessionState,
    /// A budget of the attempt or of the episode that is spent.
    pub(crate) spent_budget: Option<StopReason>,
    /// Time of everything but the agent, its server and the tests.
    pub(crate) own_seconds: f64,
}

/// An attempt without a record.
pub(crate) struct DroppedAttempt {
    pub(crate) fault: Unrecorded,
    /// The results of its agent, if the call finished: shown if the attempt is given up.
    pub(crate) untested: Option<Box<UntestedAttempt>>,
    /// Whether budgets allowed a retry when its end was judged, which decides; `None` = nothing was judged by that.
    pub(crate) has_budget: Option<bool>,
}

impl From<Unrecorded> for DroppedAttempt {
    fn from(fault: Unrecorded) -> Self {
        Self { fault, untested: None, has_budget: None }
    }
}

impl From<RunError> for DroppedAttempt {
    fn from(error: RunError) -> Self {
        Unrecorded::Files(error).into()
    }
}

/// The prompt of an attempt.
struct Prompt {
    text: String,
    /// Whether its session began anew in the middle of the episode.
    restarts: bool,
}

/// An attempt whose agent has finished, before its tests.
pub(crate) struct UntestedAttempt {
    started: Instant,
    started_at: String,
    called: AgentCall,
    prompt: Prompt,
    cost: AttemptCost,
    /// A budget of the attempt or the episode that ended it.
    spent_budget: Option<StopReason>,
    code: Option<KeptCode>,
}

/// The result of the server and its tests.
#[derive(Default)]
struct TestResult {
    verdicts: Option<Verdicts>,
    reason: Option<EndReason>,
    /// What was wrong with the server.
    server_problem: Option<String>,
    log: Option<Vec<u8>>,
    seconds: Option<f64>,
}

impl TestResult {
    /// Whether the server passed every test.
    fn has_passed(&self) -> bool {
        self.verdicts.as_ref().is_some_and(|verdicts| verdicts.total > 0 && verdicts.passed == verdicts.total)
    }
}

impl Attempt<'_> {
    /// Runs the attempt. Restores the live folders first, unless they are as they were before it.
    pub(crate) async fn play(&self) -> Result<FinishedAttempt, DroppedAttempt> {
        let started = Instant::now();
        let started_at = clock::now();
        self.status.phase(Phase::Preparing, "snapshot");
        // Before its folders change, and before the clock of its budget starts.
        let settings = &self.context.settings;
        self.connections
            .containers
            .ready(self.owner, settings.reach, &settings.extra)
            .await
            .map_err(Unrecorded::from)?;
        let label = Label { turn: self.data.turn, attempt: self.number };
        let folders = self.folders.clone();
        // A snapshot of this attempt exists if it ran before and was dropped: then it may have begun. If each attempt begins
        // from the same snapshot, that is the one of the attempt before.
        let restores = self.restores();
        blocking(move || match folders.label() {
            Some(existing) if existing == label => folders.restore(),
            Some(existing) if restores && existing.turn == label.turn => folders.restore_for(label),
            _ => folders.keep(label),
        })
        .await?;

        let (called, prompt) = self.agent().await?;
        // Before anything can fail: what was spent counts even if the attempt is dropped.
        let cost = attempt_cost(self.context, &self.owner.episode, &called);
        let has_budget = self.has_budget().await;
        let may_retry = self.repeats.are_left() && has_budget;
        let seconds = self.context.settings.limits.seconds;
        let call_end = end_of_call(self.context, self.known.worked, seconds, &called, may_retry);
        let mut untested =
            UntestedAttempt { started, started_at, called, prompt, cost, spent_budget: None, code: None };
        let (end, is_cut_off) = match call_end {
            Ok(CallEnd { spent_budget, agent_end, ended_by_run_budget }) => {
                untested.spent_budget = spent_budget;
                (agent_end, ended_by_run_budget)
            }
            Err(fault) => {
                let untested = Some(Box::new(untested));
                return Err(DroppedAttempt { fault, untested, has_budget: Some(has_budget) });
            }
        };
        untested.code = self.keep_code().await?;
        if is_cut_off {
            return Ok(self.record(untested, TestResult::default(), end, true).await?);
        }
        let disk_full = untested.called.end.exit.disk_full;
        let tested = if disk_full {
            let problem = "The workspace is larger than the container allows.".to_owned();
            TestResult { server_problem: Some(problem), ..TestResult::default() }
        } else {
            match (self.test().await, self.context.spent_budget()) {
                (Err(Unrecorded::Stopped), Some(over)) => {
                    return Ok(self
                        .record(untested, TestResult::default(), budget_spent(&over), true)
                        .await?);
                }
                (Ok(tested), _) => tested,
                (Err(fault), _) => {
                    let untested = Some(Box::new(untested));
                    return Err(DroppedAttempt { fault, untested, has_budget: None });
                }
            }
        };
        if disk_full {
            // The oversized workspace would end every later attempt, too.
            let folders = self.folders.clone();
            blocking(move || folders.restore()).await?;
        }
        if !tested.has_passed()
            && let Some((fault, has_budget)) = self.excuse_of_failure(&untested.called).await
        {
            let untested = Some(Box::new(untested));
            return Err(DroppedAttempt { fault, untested, has_budget: Some(has_budget) });
        }
        kill_points::point("tests ended");
        Ok(self.record(untested, tested, end, false).await?)
    }

    /// Whether budgets allow a retry.
    async fn has_budget(&self) -> bool {
        self.context.spent_budget_of_episode(self.status, &self.owner.episode).await.is_none()
    }

    /// The fault of the endpoint that excuses an attempt whose harness may have finished, and whose tests did not pass. One that an
    /// agent could cause at will excuses nothing where no retry is left. With it whether budgets allow a retry: time goes by, so
    /// that is asked once for both.
    async fn excuse_of_failure(&self, called: &AgentCall) -> Option<(Unrecorded, bool)> {
        let fault = fault_unless_passed(called)?;
        let has_budget = self.has_budget().await;
        excused(called, fault, self.repeats.are_left() && has_budget).map(|fault| (fault, has_budget))
    }

    /// Records an attempt that is given up, with what its agent left before something outside ended it.
    pub(crate) async fn record_given_up(
        &self,
        untested: UntestedAttempt,
        end: AgentEnd,
    ) -> Result<FinishedAttempt, RunError> {
        let code = self.keep_code().await?;
        let played =
            self.record(UntestedAttempt { code, ..untested }, TestResult::default(), end, true).await?;
        // The session of the agent is that of before the attempt, and no budget ended it.
        Ok(FinishedAttempt { after: self.known.clone(), spent_budget: None, ..played })
    }

    /// Whether it begins from the snapshot of the turn's first attempt.
    fn restores(&self) -> bool {
        self.context.settings.restore_before_try && self.number > 1
    }

    /// Calls the agent. Returns its prompt too.
    async fn agent(&self) -> Result<(AgentCall, Prompt), Unrecorded> {
        let Self { context, data, .. } = self;
        let is_open = context.settings.reach == sandbox::NetworkAccess::Open;
        let restores = self.restores();
        let feedback = self.known.feedback.as_deref().filter(|_| self.number > 1 && !restores);
        let known = if restores { &self.known.session_before } else { &self.known.session };
        let mut session = known.clone().filter(|session| context.harness.has_begun(session));
        // Without earlier turns, an attempt from the first snapshot continues no session.
        let is_first = restores && data.turn == 1;
        loop {
            // A session that begins anew in the middle has no context, so its prompt has the whole request.
            let restarts = session.is_none() && self.known.calls > 0 && !is_first;
            let begins = data.turn == 1 || restarts;
            let request = prompt::request(begins, &data.request, context.stacks, is_open);
            let prompt = match feedback {
                None => request,
                Some(feedback) if restarts => format!("{request}\n\n{feedback}"),
                Some(feedback) => feedback.to_owned(),
            };
            let attempt = self.connections.gateway.as_ref().map(|gateway| {
                let key =
                    AttemptKey { episode: self.owner.episode.clone(), turn: data.turn, attempt: self.number };
                gateway.open_for(key, self.task.clone(), context.time_left(self.status.seconds()))
            });
            let (home, workspace) = agent::places(context, &self.folders.live());
            let call = OwnedCall {
                turn: data.turn,
                attempt: self.number,
                prompt: prompt.clone(),
                session_id: session_id(&context.id, &self.owner.episode, session.is_none(), self.known.calls),
                earlier: restarts.then(|| known.clone().unwrap_or_default()),
                session: session.clone(),
                endpoint: agent::endpoint(context, attempt.as_ref()),
                seconds: context.settings.limits.seconds,
                home,
                workspace,
            };
            self.status.phase(Phase::Agent, "the agent works");
            let (connections, owner, known) = (self.connections, self.owner, self.known);
            let called = agent::call(
                context,
                CallPlace::Own(connections),
                owner,
                self.folders,
                call,
                attempt,
                known,
                self.stop,
                self.status,
            );
            match called.await {
                Ok(called) => return Ok((called, Prompt { text: prompt, restarts })),
                Err(AgentCallError::Stopped) => return Err(Unrecorded::Stopped),
                Err(AgentCallError::Containers(_)) if self.stop.is_cancelled() => {
                    return Err(Unrecorded::Stopped);
                }
                Err(AgentCallError::Containers(error)) => return Err(error.into()),
                Err(AgentCallError::Files(error)) => return Err(error.into()),
                // The session does not exist, so a new one begins.
                Err(AgentCallError::Refused(harness::HarnessError::NoSession { .. }))
                    if session.is_some() =>
                {
                    session = None;
                }
                Err(AgentCallError::Refused(error)) => return Err(Unrecorded::Refused(error.to_string())),
            }
        }
    }

    async fn keep_code(&self) -> Result<Option<KeptCode>, RunError> {
        let (results, workspace) = (self.results.clone(), self.folders.live().workspace);
        let (turn, attempt, keep) = (self.data.turn, self.number, self.context.settings.keep_snapshots);
        blocking(move || results.code(turn, attempt, &workspace, keep)).await
    }

    /// Starts the server in a copy of the workspace and runs the suite against it.
    async fn test(&self) -> Result<TestResult, Unrecorded> {
        let start = self.folders.live().workspace.join("run.sh");
        let has_start_script = std::fs::symlink_metadata(&start).is_ok_and(|meta| !meta.is_dir());
        if !has_start_script {
            return Ok(TestResult {
                verdicts: None,
                reason: Some(EndReason::BuildFailed),
                server_problem: Some("There is no file `run.sh` in the project's top folder.".to_owned()),
                log: None,
                seconds: None,
            });
        }
        self.status.phase(Phase::Testing, "its server starts");
        let folders = self.folders.clone();
        let volumes = blocking(move || folders.serve()).await?;
        let server = ServerContainer {
            owner: self.owner.clone(),
            image: self.context.image.clone(),
            volumes,
            limits: sandbox::Limits {
                seconds: (server::READY + server::SUITE).as_secs() + 60,
                ..self.context.settings.limits
            },
        };
        let status = self.status.clone();
        let on_ready = move || status.phase(Phase::Testing, "the tests run");
        let served =
            server::test(&self.connections.containers, &server, self.data.suite.clone(), self.stop, on_ready)
                .await?;
        let folders = self.folders.clone();
        blocking(move || folders.served()).await?;
        let log = Some(served.end.log);
        let seconds = Some(served.seconds);
        let no_server = |problem: String, log| TestResult {
            verdicts: None,
            reason: Some(EndReason::ServerFailed),
            server_problem: Some(problem),
            log,
            seconds,
        };
        match served.outcome {
            ServerOutcome::Stopped => Err(Unrecorded::Stopped),
            ServerOutcome::Exited => {
                let exit = served.end.exited.unwrap_or_default();
                let end = match exit.code {
                    _ if exit.out_of_memory => " because it used more memory than it may".to_owned(),
                    Some(code) => format!(" with code {code}"),
                    None => String::new(),
                };
                Ok(no_server(format!("`run.sh` ended{end} before anything listened on `$PORT`."), log))
            }
            ServerOutcome::NeverListened => {
                let seconds = server::READY.as_secs();
                Ok(no_server(format!("Nothing listened on `$PORT` within {seconds} seconds."), log))
            }
            ServerOutcome::Tested(verdicts) => {
                let reason = if verdicts.passed == verdicts.total && verdicts.total > 0 {
                    None
                } else if server::out_of_time(&verdicts) {
                    Some(EndReason::VerifierTimeout)
                } else if server::nothing_answered(&verdicts) {
                    Some(EndReason::ServerFailed)
                } else {
                    Some(EndReason::TestsFailed)
                };
                Ok(TestResult { verdicts: Some(verdicts), reason, server_problem: None, log, seconds })
            }
        }
    }
}

/// How the call of an agent ended.
pub(crate) struct CallEnd {
    /// The budget of the attempt or the episode that is spent.
    pub(crate) spent_budget: Option<StopReason>,
    pub(crate) agent_end: AgentEnd,
    /// Whether a budget of the run ended it.
    pub(crate) ended_by_run_budget: bool,
}

/// How the call of an agent ended. `worked`: an earlier call of the episode has worked. `seconds`: the time limit of the call.
/// `may_retry` as in [`agent_end`].
pub(crate) fn end_of_call(
    context: &RunContext,
    worked: bool,
    seconds: u64,
    called: &AgentCall,
    may_retry: bool,
) -> Result<CallEnd, Unrecorded> {
    let spent_budget = budget(context, called)?;
    match context.spent_budget() {
        Some(run_budget) => {
            Ok(CallEnd { spent_budget, agent_end: budget_spent(&run_budget), ended_by_run_budget: true })
        }
        None => {
            // Otherwise a relay has proven the connection to the gateway.
            if context.settings.reach == sandbox::NetworkAccess::Open && !worked {
                check_reached_gateway(called)?;
            }
            let agent_end = agent_end(called, spent_budget.as_ref(), seconds, may_retry)?;
            Ok(CallEnd { spent_budget, agent_end, ended_by_run_budget: false })
        }
    }
}

/// The budget of the attempt or the episode that ended it. A budget of the run ends the run; a fault is attributed to the
/// endpoint.
fn budget(context: &RunContext, called: &AgentCall) -> Result<Option<StopReason>, Unrecorded> {
    match called.stop_reason.clone() {
        Some(over @ StopReason::Budget { scope: Scope::Run, .. }) => {
            context.end(Ending::Budget(over));
            // If something else has ended the run before, that reason counts.
            context.spent_budget().map(|_| None).ok_or(Unrecorded::Stopped)
        }
        Some(StopReason::Endpoint { message }) => Err(Unrecorded::Endpoint(message)),
        over @ Some(StopReason::Budget { .. }) => Ok(over),
        Some(StopReason::ContextOverflow { .. }) | None => Ok(None),
    }
}

/// A UUID (v4 form) that is the same for the same episode of the same run. A session that begins anew has another one.
pub(crate) fn session_id(run: &str, episode: &str, begins: bool, calls: u32) -> String {
    use sha2::Digest as _;
    let begun_at = if begins { calls } else { 0 };
    let hash = sha2::Sha256::digest(format!("session {run} {episode} {begun_at}").as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_stable_uuids() {
        let id = session_id("0a1b2c3d", "scenario_1", true, 0);
        assert_eq!(id, session_id("0a1b2c3d", "scenario_1", true, 0));
        assert_ne!(id, session_id("0a1b2c3d", "scenario_2", true, 0));
        assert_ne!(id, session_id("0a1b2c3d", "scenario_1", true, 4));
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'));
    }
}
