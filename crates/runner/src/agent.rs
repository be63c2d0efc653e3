//! The call of an agent: its command, its container, what it left.

mod task;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use gateway::{AttemptSummary, EndedBy, Scope, StopReason, Waiting};
use harness::{Call, Custom, Ended, Endpoint, Exit, Harness, HarnessError, Invocation, Outcome, Session};
use model::EndReason;
use sandbox::{AgentContainer, ContainerEnd, Limits, OpenTask, Owner, Volumes};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use self::task::variables as task_variables;
use crate::RunError;
use crate::bill::plus;
use crate::folders::{self, Folders};
use crate::run_context::{RunConnections, RunContext};
use crate::settings::{EndpointSettings, RunSettings};
use crate::state::SessionState;
use crate::status::Status;

/// What an agent may still do when no request of it is answered any more.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How often it is written down what an attempt has spent so far.
const TELL: Duration = Duration::from_secs(2);

/// A harness, ours or somebody's own.
#[derive(Clone)]
pub(crate) enum Agent {
    BuiltIn(&'static dyn Harness),
    Own(Arc<Custom>),
}

impl Agent {
    /// The text of the file that describes it; `None` for one that comes with the program.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Own(harness) => Some(harness.text()),
        }
    }
}

impl Deref for Agent {
    type Target = dyn Harness;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(harness) => *harness,
            Self::Own(harness) => &**harness,
        }
    }
}

/// A call, with all that it needs in its own hands.
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

/// What a call came to.
pub(crate) struct AgentCall {
    pub(crate) end: ContainerEnd,
    pub(crate) outcome: Outcome,
    /// `None` in direct mode.
    pub(crate) seen: Option<AttemptSummary>,
    /// A budget, or the endpoint, that ended it.
    pub(crate) over: Option<StopReason>,
    /// Why its end is attributed to the endpoint, although the gateway has not ended it.
    pub(crate) blamed: Option<gateway::EndpointFault>,
}

impl AgentCall {
    /// Whether the limit of time ended it, or its harness did so just before, and it tells nothing finer: it may have finished
    /// and only not exited, or have lost itself in calls that cannot be read.
    pub(crate) fn ran_out_of_time(&self) -> bool {
        let finer = [EndReason::ToolCallFormat, EndReason::NoChange, EndReason::GaveUp];
        match self.outcome.end {
            Some(EndReason::AgentTimeout) => true,
            Some(end) => self.end.exit.timed_out && !finer.contains(&end),
            None => false,
        }
    }

    /// What ended it, for the attribution of its end. `None`: a cause that says nothing of the endpoint in any case: a budget of
    /// the episode or the run, the gateway itself, the container, or a command that could not be started.
    pub(crate) fn ended_by(&self) -> Option<EndedBy> {
        let exit = self.end.exit;
        match &self.over {
            Some(StopReason::Budget { .. }) if self.spent_its_time() => return Some(EndedBy::TimeLimit),
            Some(StopReason::Budget { scope: Scope::Attempt, .. }) => return Some(EndedBy::Agent),
            Some(StopReason::Budget { .. } | StopReason::Endpoint { .. }) => return None,
            // It ends nothing by itself: what came of the last request is for the gateway to say.
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
            None => Some(EndedBy::Agent),
            Some(_) => Some(EndedBy::HarnessExit),
        }
    }

    /// Whether the time that one attempt may take is spent.
    fn spent_its_time(&self) -> bool {
        matches!(&self.over, Some(StopReason::Budget { scope: Scope::Attempt, limit }) if limit == "seconds")
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

/// Why there is nothing that a call came to.
pub(crate) enum AgentCallError {
    /// It was stopped.
    Stopped,
    /// The harness cannot be called like this: the agent's side.
    Refused(HarnessError),
    /// The containers.
    Containers(sandbox::SandboxError),
    /// Files of ours.
    Files(RunError),
}

/// Where the model is; an empty address and key in direct mode.
fn at(settings: &RunSettings, base_url: String, key: String) -> Endpoint {
    let standing_in = if settings.is_simulated() { "oracle" } else { "default" };
    let model = settings.model.clone().unwrap_or_else(|| standing_in.to_owned());
    Endpoint { base_url, key, model, context_window: settings.context_window }
}

/// Where the model is for an attempt.
pub(crate) fn endpoint(context: &RunContext, attempt: Option<&gateway::Attempt>) -> Endpoint {
    let base_url = attempt.map(|attempt| attempt.base_url(0)).unwrap_or_default();
    let key = attempt.map(|attempt| attempt.key().to_owned()).unwrap_or_default();
    at(&context.settings, base_url, key)
}

/// Whether a harness can be called at all with these settings, by a call that nobody makes: some have no direct mode. What
/// depends on the request (one that is too long) is seen when it is played.
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
        endpoint: &at(settings, base_url, key),
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
            task::lay(container, &files).await.map_err(AgentCallError::Containers)?
        }
    }
    crate::kill_points::point("agent about to start");
    if stop.is_cancelled() {
        // No container is made that would only be stopped again, and nothing can have been spent.
        return Err(AgentCallError::Stopped);
    }

    let what = AgentContainer {
        owner: owner.clone(),
        image: context.image.clone(),
        argv,
        // What comes later counts: a variable that is handed on does not take the place of the attempt's own key.
        env: handed_on(call_place, context).iter().cloned().chain(env).collect(),
        volumes: live.clone(),
        limits: Limits { seconds: call.seconds, ..context.settings.limits },
        reach: context.settings.reach,
        extra: context.settings.extra.clone(),
    };
    // A gateway was told when it was opened.
    let time = if attempt.is_none() { context.time_left(status.seconds()) } else { None };
    let (end, late) = {
        let spending = spending(attempt.as_ref(), known.spent, status);
        tokio::select! {
            ended = run(call_place, &what, &call.workspace, attempt.as_ref(), time, stop, status) => ended,
            never = spending => match never {},
        }
    };
    let seen = attempt.as_ref().map(gateway::Attempt::close);
    if let Some(seen) = &seen {
        // The last answers, while its tests run.
        tell(status, plus(known.spent, seen.spent)).await;
    }
    let over = seen.as_ref().map_or(late, |seen| seen.stop_reason.clone());
    // What a budget of the run cuts off is recorded.
    let is_dropped = || stop.is_cancelled() && context.spent_budget().is_none();
    if seen.is_none() && (end.is_err() || is_dropped()) {
        // It is dropped, and nobody but its harness knows what it has spent.
        crate::bill::unknown(context, &owner.episode, end.as_ref().map_or(0.0, |end| end.seconds));
    }
    let end = end.map_err(AgentCallError::Containers)?;
    crate::kill_points::point("agent ended");
    if is_dropped() {
        return Err(AgentCallError::Stopped);
    }
    if let CallPlace::Task { container, .. } = call_place {
        task::take_home(container, live.home).await.map_err(AgentCallError::Files)?;
    }
    // Nobody compares the files of a task's container.
    let is_of_task = matches!(call_place, CallPlace::Task { .. });
    let seconds = call.seconds;
    let requests = seen.as_ref().map(|seen| seen.records.len() as u32);
    let worked = known.worked;
    let (harness, folders, scrub) = (context.harness.clone(), folders.clone(), context.scrub.clone());
    let read = blocking(move || {
        let home = folders.home()?;
        let mut outcome = harness.outcome(
            &call.borrow(),
            &Ended {
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
    let mut called = AgentCall { end, outcome, seen, over, blamed: None };
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

/// The variables of this machine that an agent gets. A task names by itself what its container gets of them.
fn handed_on<'a>(call_place: CallPlace<'_>, context: &'a RunContext) -> &'a [(String, String)] {
    match call_place {
        CallPlace::Own(_) => &context.forwarded,
        CallPlace::Task { .. } => &[],
    }
}

/// Writes down what an episode has spent while an attempt of it is running; never ends.
async fn spending(
    attempt: Option<&gateway::Attempt>,
    before: gateway::Spent,
    status: &Arc<Status>,
) -> std::convert::Infallible {
    let Some(attempt) = attempt else { return std::future::pending().await };
    loop {
        tokio::time::sleep(TELL).await;
        tell(status, plus(before, attempt.spent())).await;
    }
}

async fn tell(status: &Arc<Status>, spent: gateway::Spent) {
    let status = status.clone();
    let _ = tokio::task::spawn_blocking(move || status.spends(spent)).await;
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

/// Runs the container, watching the agent's output and whatever ends an attempt early: the gateway, or where there is none the
/// time that is left. With it what did.
async fn run(
    call_place: CallPlace<'_>,
    what: &AgentContainer,
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
            // It writes a small file every few seconds.
            let _ = tokio::task::spawn_blocking(move || shown.sign(&piece)).await;
        }
        let _ = tokio::task::spawn_blocking(move || shown.signed()).await;
    });
    let mut running = std::pin::pin!(async {
        match call_place {
            CallPlace::Own(connections) => {
                connections.containers.agent(what, container_stop.clone(), Some(send)).await
            }
            CallPlace::Task { container, user } => {
                task::run(container, user, workspace, what, &container_stop, send).await
            }
        }
    });
    let mut over = std::pin::pin!(async {
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
    let mut last_words = std::pin::pin!(tokio::time::sleep(Duration::MAX));
    let end = loop {
        tokio::select! {
            end = &mut running => break end,
            why = &mut over, if cut_off.is_none() => {
                cut_off = Some(why);
                last_words.as_mut().reset(tokio::time::Instant::now() + LAST_WORDS);
            }
            Some(what) = changed(&mut waiting) => status.waits(what.map(waits)),
            () = &mut last_words, if cut_off.is_some() && !container_stop.is_cancelled() => container_stop.cancel(),
        }
    };
    let _ = watching.await;
    (end, cut_off)
}

/// Waits until a request begins to wait for the endpoint, is tried once more, or waits no longer; for ever where there is no
/// gateway.
async fn changed(waiting: &mut Option<watch::Receiver<Option<Waiting>>>) -> Option<Option<Waiting>> {
    match waiting {
        Some(watched) => {
            watched.changed().await.ok()?;
            Some(*watched.borrow_and_update())
        }
        None => std::future::pending().await,
    }
}

/// What is shown of it.
fn waits(Waiting { status, next_try, most_tries }: Waiting) -> String {
    let what = if status == 0 { "no answer".to_owned() } else { status.to_string() };
    format!("{what} from the endpoint, try {next_try} of {most_tries}")
}

/// Runs something that blocks on a thread for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunError> + Send + 'static,
) -> Result<T, RunError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => Err(RunError::Files { path: std::path::PathBuf::new(), why: panicked.to_string() }),
    }
}
