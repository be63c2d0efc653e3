//! The call of an agent: its command, its container, and its results.

pub(crate) mod harness_choice;
mod task;

use std::sync::Arc;
use std::time::Duration;

use gateway::{AttemptSummary, EndedBy, Scope, StopReason, WaitingRequest};
use harness::{Call, CommandEnd, Endpoint, Exit, Harness, HarnessError, Invocation, Outcome, Session};
use model::EndReason;
use sandbox::{AgentContainer, ContainerEnd, Limits, OpenTask, Owner, Volumes};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use self::task::variables as task_variables;
use crate::RunError;
use crate::blocking::blocking;
use crate::folders::{self, Folders};
use crate::run_context::{RunConnections, RunContext};
use crate::settings::{EndpointSettings, RunSettings};
use crate::spending::sum;
use crate::state::SessionState;
use crate::status::Status;

/// How long an agent may continue after the gateway has ended its attempt.
const GRACE: Duration = Duration::from_secs(10);
/// How often the spending of a running attempt is written down.
const SPENDING_INTERVAL: Duration = Duration::from_secs(2);

/// A call that owns its values, so that another thread can use it.
#[derive(Debug, Clone)]
pub(crate) struct OwnedCall {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
    pub(crate) prompt: String,
    pub(crate) session: Option<Session>,
    pub(crate) earlier: Option<Session>,
    pub(crate) session_id: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) seconds: u64,
    pub(crate) home: String,
    pub(crate) workspace: String,
}

impl OwnedCall {
    pub(crate) fn borrow(&self) -> Call<'_> {
        Call {
            turn: self.turn,
            attempt: self.attempt,
            prompt: &self.prompt,
            session: self.session.as_ref(),
            earlier: self.earlier.as_ref(),
            session_id: &self.session_id,
            endpoint: &self.endpoint,
            seconds: self.seconds,
            home: &self.home,
            workspace: &self.workspace,
        }
    }
}

/// A finished call of an agent.
pub(crate) struct AgentCall {
    pub(crate) end: ContainerEnd,
    pub(crate) outcome: Outcome,
    /// What the gateway recorded of it; `None` in direct mode.
    pub(crate) summary: Option<AttemptSummary>,
    /// The budget or the fault that ended it.
    pub(crate) stop_reason: Option<StopReason>,
    /// Why its end is attributed to the endpoint, although the gateway has not ended it. Where its harness may have finished, only
    /// if its tests do not pass.
    pub(crate) blamed: Option<gateway::EndpointFault>,
}

impl AgentCall {
    /// Whether the time limit ended it, or its harness did so just before, and there is no more precise reason: it may have
    /// finished without exiting, or have made calls that cannot be read.
    pub(crate) fn ran_out_of_time(&self) -> bool {
        let finer = [EndReason::ToolCallFormat, EndReason::NoChange, EndReason::GaveUp];
        match self.outcome.end {
            Some(EndReason::AgentTimeout) => true,
            Some(end) => self.end.exit.timed_out && !finer.contains(&end),
            None => false,
        }
    }

    /// What ended it, for fault attribution. `None` if the cause cannot be the endpoint: a budget of the episode or the run,
    /// the gateway itself, the container, or a command that could not be started.
    pub(crate) fn ended_by(&self) -> Option<EndedBy> {
        let exit = self.end.exit;
        match &self.stop_reason {
            Some(StopReason::Budget { .. }) if self.spent_its_time() => return Some(EndedBy::TimeLimit),
            Some(StopReason::Budget { scope: Scope::Attempt, .. }) => return Some(EndedBy::Agent),
            Some(StopReason::Budget { .. } | StopReason::Endpoint { .. }) => return None,
            // It does not end the attempt: the gateway judges the last request.
            Some(StopReason::ContextOverflow { .. }) | None => {}
        }
        if self.ran_out_of_time() {
            return Some(EndedBy::TimeLimit);
        }
        let is_lost = exit.code.is_none() && !exit.timed_out;
        match self.outcome.end {
            Some(EndReason::Endpoint) => Some(EndedBy::HarnessReport),
            Some(EndReason::Environment) => None,
            _ if is_lost || exit.stopped => None,
            _ if exit.disk_full || exit.out_of_memory => Some(EndedBy::Agent),
            // Without a changed file a success has one of these reasons.
            None | Some(EndReason::NoChange | EndReason::GaveUp) => Some(EndedBy::Finished),
            Some(_) => Some(EndedBy::HarnessExit),
        }
    }

    /// Whether the attempt has used its time budget.
    fn spent_its_time(&self) -> bool {
        matches!(&self.stop_reason, Some(StopReason::Budget { scope: Scope::Attempt, limit }) if limit == "seconds")
    }
}

/// Where an agent is called.
#[derive(Clone, Copy)]
pub(crate) enum CallPlace<'a> {
    /// In a container of its own on the folders of its episode, or without one.
    Own(&'a RunConnections),
    /// In the container of a task, which stays.
    Task {
        /// Which.
        container: &'a OpenTask,
        /// As whom; `None` = as the image says.
        user: Option<&'a str>,
    },
}

/// Why a call did not finish.
pub(crate) enum AgentCallError {
    /// It was stopped.
    Stopped,
    /// The harness cannot be called like this.
    Refused(HarnessError),
    /// The containers failed.
    Containers(sandbox::SandboxError),
    /// Files of the run cannot be read or written.
    Files(RunError),
}

/// The endpoint of the model; its address and key are empty in direct mode.
fn endpoint_at(settings: &RunSettings, base_url: String, key: String) -> Endpoint {
    let default_model = if settings.is_simulated() { "oracle" } else { "default" };
    let model = settings.model.clone().unwrap_or_else(|| default_model.to_owned());
    Endpoint { base_url, key, model, context_window: settings.context_window }
}

/// The endpoint of the model for an attempt.
pub(crate) fn endpoint(context: &RunContext, attempt: Option<&gateway::Attempt>) -> Endpoint {
    let base_url = attempt.map(|attempt| attempt.base_url(0)).unwrap_or_default();
    let key = attempt.map(|attempt| attempt.key().to_owned()).unwrap_or_default();
    endpoint_at(&context.settings, base_url, key)
}

/// Checks that a harness can be called with these settings, by building a call that is never made: some have no direct mode.
/// Errors that depend on the request (one that is too long) show only in its attempt.
pub(crate) fn trial(harness: &dyn Harness, settings: &RunSettings) -> Result<(), HarnessError> {
    let (base_url, key) = match settings.endpoint {
        EndpointSettings::Direct => (String::new(), String::new()),
        _ => ("http://127.0.0.1:1/a/0".to_owned(), "0".to_owned()),
    };
    let call = Call {
        turn: 1,
        attempt: 1,
        prompt: "A trial.",
        session: None,
        earlier: None,
        session_id: "00000000-0000-4000-8000-000000000000",
        endpoint: &endpoint_at(settings, base_url, key),
        seconds: settings.limits.seconds,
        home: harness::HOME,
        workspace: harness::WORKSPACE,
    };
    harness.invocation(&call).map(|_| ())
}

/// HOME and workspace as the agent sees them.
pub(crate) fn places(context: &RunContext, live: &Volumes) -> (String, String) {
    if context.settings.use_docker {
        return (harness::HOME.to_owned(), harness::WORKSPACE.to_owned());
    }
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    (text(&live.home), text(&live.workspace))
}

#[expect(clippy::too_many_arguments, reason = "what an attempt has, without the attempt")]
/// Calls the agent. The attempt at the gateway is closed at the end.
pub(crate) async fn call(
    context: &RunContext,
    call_place: CallPlace<'_>,
    owner: &Owner,
    folders: &Folders,
    call: OwnedCall,
    attempt: Option<gateway::Attempt>,
    known: &SessionState,
    stop: &CancellationToken,
    status: &Arc<Status>,
) -> Result<AgentCall, AgentCallError> {
    let invocation = context.harness.invocation(&call.borrow()).map_err(AgentCallError::Refused)?;
    let live = folders.live();
    let Invocation { argv, env, files } = invocation;
    match call_place {
        CallPlace::Own(_) => {
            let home = live.home.clone();
            let laid = blocking(move || {
                files.iter().try_for_each(|file| folders::write_beneath(&home, &file.path, &file.text))
            });
            laid.await.map_err(AgentCallError::Files)?;
        }
        CallPlace::Task { container, .. } => {
            task::lay(container, &files).await.map_err(AgentCallError::Containers)?;
        }
    }
    crate::kill_points::point("agent about to start");
    if stop.is_cancelled() {
        // Nothing has been spent, so no container is started only to be stopped.
        return Err(AgentCallError::Stopped);
    }

    let agent_container = AgentContainer {
        owner: owner.clone(),
        image: context.image.clone(),
        argv,
        // Later variables win: a forwarded one cannot replace the attempt's own key.
        env: forwarded_variables(call_place, context).iter().cloned().chain(env).collect(),
        volumes: live.clone(),
        limits: Limits { seconds: call.seconds, ..context.settings.limits },
        reach: context.settings.reach,
        extra: context.settings.extra.clone(),
    };
    // A gateway knows the time limit since it was opened.
    let time = if attempt.is_none() { context.time_left(status.seconds()) } else { None };
    let (end, late) = {
        let spending = spending(attempt.as_ref(), known.spent, status);
        tokio::select! {
            ended = run(call_place, &agent_container, &call.workspace, attempt.as_ref(), time, stop, status) => ended,
            never = spending => match never {},
        }
    };
    let recorded = attempt.as_ref().map(gateway::Attempt::close);
    if let Some(recorded) = &recorded {
        // Includes the last answers. Shown while the tests run.
        write_spending(status, sum(known.spent, recorded.spent)).await;
    }
    let stop_reason = recorded.as_ref().map_or(late, |recorded| recorded.stop_reason.clone());
    // An attempt that a budget of the run cuts off is recorded, not dropped.
    let is_dropped = || stop.is_cancelled() && context.spent_budget().is_none();
    if recorded.is_none() && (end.is_err() || is_dropped()) {
        // It is dropped, and only its harness knows what it spent.
        context.add_unknown(&owner.episode, end.as_ref().map_or(0.0, |end| end.seconds));
    }
    let end = end.map_err(AgentCallError::Containers)?;
    crate::kill_points::point("agent ended");
    if is_dropped() {
        return Err(AgentCallError::Stopped);
    }
    if let CallPlace::Task { container, .. } = call_place {
        task::take_home(container, live.home).await.map_err(AgentCallError::Files)?;
    }
    // The files of a task's container are not compared.
    let is_of_task = matches!(call_place, CallPlace::Task { .. });
    let seconds = call.seconds;
    let requests = recorded.as_ref().map(|recorded| recorded.records.len() as u32);
    let worked = known.worked;
    let (harness, folders, scrub) = (context.harness.clone(), folders.clone(), context.scrub.clone());
    let read = blocking(move || {
        let home = folders.home()?;
        let mut outcome = harness.outcome(
            &call.borrow(),
            &CommandEnd {
                exit: exit_of(&end),
                stdout: &end.stdout,
                stderr: &end.stderr,
                home: &home,
                model_requests: requests,
                changed: is_of_task || folders.changed(),
                worked,
            },
        );
        outcome.usage = outcome.usage.with_cached_included();
        outcome.message = outcome.message.map(|message| scrub.text(&message));
        Ok((end, outcome))
    });
    let (end, outcome) = read.await.map_err(AgentCallError::Files)?;
    let mut called = AgentCall { end, outcome, summary: recorded, stop_reason, blamed: None };
    let budget = context.settings.budgets.attempt.seconds.filter(|_| called.spent_its_time());
    let limit = Duration::from_secs(budget.unwrap_or(seconds));
    if let (Some(attempt), Some(ended_by)) = (&attempt, called.ended_by()) {
        called.blamed = tokio::select! {
            blamed = attempt.endpoint_fault(limit, ended_by) => blamed,
            () = stop.cancelled() => {
                if is_dropped() {
                    return Err(AgentCallError::Stopped);
                }
                None
            }
        };
    }
    Ok(called)
}

/// The variables of this machine that an agent gets. A task names those of its container itself.
fn forwarded_variables<'a>(call_place: CallPlace<'_>, context: &'a RunContext) -> &'a [(String, String)] {
    match call_place {
        CallPlace::Own(_) => &context.forwarded,
        CallPlace::Task { .. } => &[],
    }
}

/// Writes down what an episode has spent while one of its attempts runs; never returns.
async fn spending(
    attempt: Option<&gateway::Attempt>,
    before: gateway::Spent,
    status: &Arc<Status>,
) -> std::convert::Infallible {
    let Some(attempt) = attempt else { return std::future::pending().await };
    loop {
        tokio::time::sleep(SPENDING_INTERVAL).await;
        write_spending(status, sum(before, attempt.spent())).await;
    }
}

async fn write_spending(status: &Arc<Status>, spent: gateway::Spent) {
    let status = status.clone();
    let _ = tokio::task::spawn_blocking(move || status.set_spent(spent)).await;
}

fn exit_of(end: &ContainerEnd) -> Exit {
    let exit = end.exit;
    Exit {
        code: exit.code,
        timed_out: exit.timed_out,
        out_of_memory: exit.out_of_memory,
        disk_full: exit.disk_full,
    }
}

/// Runs the container and watches the agent's output, and what may end an attempt early: the gateway or, without one, the
/// remaining time. Also returns what ended it early.
async fn run(
    call_place: CallPlace<'_>,
    agent_container: &AgentContainer,
    workspace: &str,
    attempt: Option<&gateway::Attempt>,
    time: Option<(Duration, Scope)>,
    stop: &CancellationToken,
    status: &Arc<Status>,
) -> (Result<ContainerEnd, sandbox::SandboxError>, Option<StopReason>) {
    let container_stop = stop.child_token();
    let (send, mut output) = tokio::sync::mpsc::channel::<bytes::Bytes>(64);
    let shown = status.clone();
    let watching = tokio::spawn(async move {
        while let Some(piece) = output.recv().await {
            let shown = shown.clone();
            // Blocks: it writes a small file every few seconds.
            let _ = tokio::task::spawn_blocking(move || shown.on_output(&piece)).await;
        }
        let _ = tokio::task::spawn_blocking(move || shown.on_output_end()).await;
    });
    let mut running = std::pin::pin!(async {
        match call_place {
            CallPlace::Own(connections) => {
                connections.containers.agent(agent_container, container_stop.clone(), Some(send)).await
            }
            CallPlace::Task { container, user } => {
                task::run(container, user, workspace, agent_container, &container_stop, send).await
            }
        }
    });
    let mut stop_reason = std::pin::pin!(async {
        match (attempt, time) {
            (Some(attempt), _) => attempt.stopped().await,
            (None, Some((left, scope))) => {
                tokio::time::sleep(left).await;
                StopReason::Budget { scope, limit: "seconds".to_owned() }
            }
            (None, None) => std::future::pending::<StopReason>().await,
        }
    });
    let mut waiting = attempt.map(gateway::Attempt::waiting);
    let mut cut_off = None;
    let mut grace = std::pin::pin!(tokio::time::sleep(Duration::MAX));
    let end = loop {
        tokio::select! {
            end = &mut running => break end,
            reason = &mut stop_reason, if cut_off.is_none() => {
                cut_off = Some(reason);
                grace.as_mut().reset(tokio::time::Instant::now() + GRACE);
            }
            Some(request) = changed(&mut waiting) => status.set_waiting(request.map(waiting_text)),
            () = &mut grace, if cut_off.is_some() && !container_stop.is_cancelled() => container_stop.cancel(),
        }
    };
    let _ = watching.await;
    (end, cut_off)
}

/// Waits until a request begins or stops to wait for the endpoint, or has another try; forever without a gateway.
async fn changed(
    waiting: &mut Option<watch::Receiver<Option<WaitingRequest>>>,
) -> Option<Option<WaitingRequest>> {
    match waiting {
        Some(watched) => {
            watched.changed().await.ok()?;
            Some(*watched.borrow_and_update())
        }
        None => std::future::pending().await,
    }
}

/// What the status shows of a waiting request.
fn waiting_text(WaitingRequest { status, next_try, most_tries }: WaitingRequest) -> String {
    let answer = if status == 0 { "no answer".to_owned() } else { status.to_string() };
    format!("{answer} from the endpoint, try {next_try} of {most_tries}")
}
