//! Runs a suite against a server: over HTTP, or directly against a [`World`].
//!
//! Both ways execute a case with the same [`execution`]: it returns one request after another, takes the responses, and
//! compares them with the expectations of the case. A hostile server may send anything, or nothing, so [`http`] bounds
//! responses first.

mod assertions;
mod captures;
mod execution;
mod http;
mod message;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use scenario::reference::{Request, World};
use scenario::suite::{Case, Suite};

use self::execution::{Answer, Body, Builders, Execution};
use self::http::NoResponse;

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CaseResult {
    /// [`Case::id`].
    pub id: String,
    /// Passed or not.
    pub status: CaseStatus,
    /// For a failed case: the step, the expectation, and the response; bounded in length, control characters escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl CaseResult {
    fn new(case: &Case, outcome: Result<(), (CaseStatus, String)>) -> Self {
        let (status, message) = match outcome {
            Ok(()) => (CaseStatus::Passed, None),
            Err((status, message)) => (status, Some(message)),
        };
        Self { id: case.id.clone(), status, message }
    }
}

/// Verdict of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// All steps passed.
    Passed,
    /// A step failed.
    Failed,
    /// The server did not respond (refused, closed, timed out, no HTTP).
    Error,
}

/// Options of a suite over HTTP.
#[derive(Debug, Clone)]
pub struct Options {
    /// Longest wait for a response (default 10 s).
    pub request_timeout: Duration,
    /// Largest response in bytes (default 4 MiB).
    pub body_limit: usize,
    /// After this number of cases in a row without a response, the rest gets the status error without requests (default 20).
    pub give_up_after: usize,
    /// Longest time for the whole suite. The cases after it get the status error (default: no limit).
    pub total: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(10),
            body_limit: 4 * 1024 * 1024,
            give_up_after: 20,
            total: None,
        }
    }
}

/// All verdicts of a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Verdicts {
    /// Cases that passed.
    pub passed: usize,
    /// All cases that were run.
    pub total: usize,
    /// One per case, in the order of the suite.
    pub cases: Vec<CaseResult>,
    /// How long the run took.
    pub seconds: f64,
}

impl Verdicts {
    fn new(cases: Vec<CaseResult>, started: Instant) -> Self {
        let passed = cases.iter().filter(|case| case.status == CaseStatus::Passed).count();
        Self { passed, total: cases.len(), cases, seconds: started.elapsed().as_secs_f64() }
    }

    /// The cases that did not pass.
    pub fn not_passed(&self) -> impl Iterator<Item = &CaseResult> {
        self.cases.iter().filter(|case| case.status != CaseStatus::Passed)
    }
}

/// Runs a suite against a server in this process. It is the fastest way, which validation uses. `on_case` may end the run.
pub fn run_in_process(
    world: &mut World,
    suite: &Suite,
    on_case: &mut dyn FnMut(&Case, &CaseResult) -> ControlFlow<()>,
) {
    let builders = Builders::new(suite);
    let reset = reset_request(suite);
    let mut execution = Execution::new(&builders);
    for case in &suite.cases {
        let outcome = case_in_process(world, &reset, &mut execution, case);
        let result = CaseResult::new(case, outcome.map_err(|message| (CaseStatus::Failed, message)));
        if on_case(case, &result).is_break() {
            return;
        }
    }
}

fn case_in_process<'a>(
    world: &mut World,
    reset: &Request,
    execution: &mut Execution<'a>,
    case: &'a Case,
) -> Result<(), String> {
    execution::after_reset(reset, answer_of(world, reset))?;
    execution.begin(case);
    while let Some(request) = execution.next()? {
        let answer = answer_of(world, request);
        execution.take(answer)?;
    }
    Ok(())
}

fn answer_of(world: &mut World, request: &Request) -> Answer {
    let response = world.handle(request);
    Answer { status: response.status, body: response.body.map_or(Body::Empty, Body::Json) }
}

/// All verdicts of a server in this process.
pub fn verdicts_in_process(world: &mut World, suite: &Suite) -> Verdicts {
    let started = Instant::now();
    let mut cases = Vec::with_capacity(suite.cases.len());
    run_in_process(world, suite, &mut |_, result| {
        cases.push(result.clone());
        ControlFlow::Continue(())
    });
    Verdicts::new(cases, started)
}

/// Runs a suite against a server at a base URL (`http://127.0.0.1:8000`), one case after another over one kept-alive
/// connection, which is opened again when the server closes it. `on_case` may end the run. The calling thread waits for every
/// response.
///
/// Errors: the URL is not `http://host:port`.
pub fn run_http(
    base: &str,
    suite: &Suite,
    options: &Options,
    on_case: &mut dyn FnMut(&Case, &CaseResult) -> ControlFlow<()>,
) -> Result<(), UrlError> {
    // A time beyond the range of the clock is no limit.
    let until = options.total.and_then(|total| Instant::now().checked_add(total));
    let mut connection = http::Connection::new(base, options.request_timeout, until, options.body_limit)?;
    let builders = Builders::new(suite);
    let reset = reset_request(suite);
    let mut execution = Execution::new(&builders);
    let mut unanswered = 0;
    for case in &suite.cases {
        let outcome = if until.is_some_and(|until| Instant::now() >= until) {
            Err((CaseStatus::Error, out_of_time("Not asked", options)))
        } else if unanswered >= options.give_up_after.max(1) {
            let cases = model::counted(unanswered as u64, "case");
            let verb = if unanswered == 1 { "was" } else { "were" };
            let message = format!("Not asked: {cases} before {verb} not answered");
            Err((CaseStatus::Error, message))
        } else {
            case_over_http(&mut connection, &reset, &mut execution, case).map_err(|trouble| match trouble {
                CaseFailure::Failed(message) => (CaseStatus::Failed, message),
                CaseFailure::Unanswered(message) => (CaseStatus::Error, message),
                CaseFailure::OutOfTime => (CaseStatus::Error, out_of_time("Not finished", options)),
            })
        };
        let result = CaseResult::new(case, outcome);
        unanswered = if result.status == CaseStatus::Error { unanswered + 1 } else { 0 };
        if on_case(case, &result).is_break() {
            break;
        }
    }
    Ok(())
}

fn out_of_time(label: &str, options: &Options) -> String {
    let seconds = options.total.unwrap_or_default().as_secs_f64();
    format!("{label}: the time for the whole suite, {seconds} s, is over")
}

/// Why a case over HTTP does not pass.
enum CaseFailure {
    Failed(String),
    Unanswered(String),
    OutOfTime,
}

fn case_over_http<'a>(
    connection: &mut http::Connection,
    reset: &Request,
    execution: &mut Execution<'a>,
    case: &'a Case,
) -> Result<(), CaseFailure> {
    let unanswered = |cause: NoResponse, request: &Request, step: Option<usize>| match cause {
        NoResponse::OutOfTime => CaseFailure::OutOfTime,
        NoResponse::Because(reason) => {
            CaseFailure::Unanswered(message::no_answer_message(request, step, &reason))
        }
    };
    let answer = connection.send(reset).map_err(|cause| unanswered(cause, reset, None))?;
    execution::after_reset(reset, answer).map_err(CaseFailure::Failed)?;
    execution.begin(case);
    let mut step = 0;
    while let Some(request) = execution.next().map_err(CaseFailure::Failed)? {
        step += 1;
        let answer = connection.send(request).map_err(|cause| unanswered(cause, request, Some(step)))?;
        execution.take(answer).map_err(CaseFailure::Failed)?;
    }
    Ok(())
}

/// All verdicts of a server at a base URL.
pub fn verdicts(base: &str, suite: &Suite, options: &Options) -> Result<Verdicts, UrlError> {
    let started = Instant::now();
    let mut cases = Vec::with_capacity(suite.cases.len());
    run_http(base, suite, options, &mut |_, result| {
        cases.push(result.clone());
        ControlFlow::Continue(())
    })?;
    Ok(Verdicts::new(cases, started))
}

fn reset_request(suite: &Suite) -> Request {
    Request { method: suite.reset.method, path: suite.reset.path.clone(), query: Vec::new(), body: None }
}

/// An invalid address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} is not an address of the form http://host:port")]
pub struct UrlError {
    /// The given address.
    pub url: String,
}

#[cfg(test)]
mod tests;
