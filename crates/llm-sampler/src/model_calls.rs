//! Requests to a model over the network: time limits, waiting, retries, and when to give up.
//!
//! Several threads call the [`Sampler`](scenario::sample::Sampler), one per scenario. Calls run on a small runtime of their
//! own, at most [`Limits::at_once`] at a time. The caller waits on a channel and not on the runtime, so that it may be a
//! thread of another runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use scenario::sample::SampleError;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::UnusableModel;
use crate::model::{Failure, Model, Question};

/// Limits of requests to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time limit of one call.
    pub call: Duration,
    /// Calls for one answer, if the endpoint is busy or cannot be reached. After time-outs: two.
    pub tries: u32,
    /// The wait after the first failed call. It doubles after each further one.
    pub back_off: Duration,
    /// The longest wait. If the endpoint asks for more, the sampler gives up.
    pub longest_wait: Duration,
    /// Most bytes of an answer.
    pub answer: usize,
    /// Most calls at a time.
    pub at_once: usize,
    /// After so many missing answers in a row, the sampler gives up. One missing answer is replaced, but a silent endpoint is
    /// an error.
    pub missing_in_a_row: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: Duration::from_mins(2),
            tries: 6,
            back_off: Duration::from_secs(1),
            longest_wait: Duration::from_secs(90),
            answer: 64 * 1024,
            at_once: 4,
            missing_in_a_row: 6,
        }
    }
}

/// The outcome of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer of the model.
    Text(String),
    /// There is no readable answer, with the reason.
    Missing(String),
}

/// How often a waiting thread checks whether the answer is still wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// A runtime that is dropped without waiting for calls in flight, so that its owner may be dropped in any thread.
pub(crate) struct Background(Option<Runtime>);

impl Background {
    pub(crate) fn new() -> Result<Self, UnusableModel> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("model")
            .enable_all()
            .build()
            .map(|runtime| Self(Some(runtime)))
            .map_err(|e| UnusableModel(format!("The machine gives no more threads: {e}")))
    }

    /// Runs a future. `None` if the runtime ended first, or if `ended` returns true: the future is then dropped, with a call in
    /// flight.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        ended: &dyn Fn() -> bool,
    ) -> Option<T> {
        let (done, wait) = std::sync::mpsc::sync_channel(1);
        let task = self.0.as_ref()?.spawn(async move { done.send(work.await) });
        loop {
            match wait.recv_timeout(POLL_INTERVAL) {
                Ok(output) => return Some(output),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if ended() => {
                    task.abort();
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A model with everything that calls need.
pub(crate) struct LiveModel {
    background: Background,
    caller: Arc<Caller>,
    /// Questions in a row without an answer.
    missing: AtomicU32,
    /// Whether a thread has given up. The other threads then stop as well.
    given_up: AtomicBool,
    /// A flag that stops all requests.
    stop: Arc<AtomicBool>,
}

impl LiveModel {
    pub(crate) fn new(model: Box<dyn Model>, limits: Limits, background: Background) -> Self {
        let slots = Semaphore::new(limits.at_once.max(1));
        let caller = Arc::new(Caller { model, limits, slots });
        let (given_up, stop) = (AtomicBool::new(false), Arc::default());
        Self { background, caller, missing: AtomicU32::new(0), given_up, stop }
    }

    /// Stops calls in flight once the flag is set.
    pub(crate) fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    fn is_ended(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.given_up.load(Ordering::Relaxed)
    }

    /// Sends requests until there is an answer, or until it is clear that none will come. After that, it sends no more.
    pub(crate) fn ask(&self, question: Question) -> Result<Outcome, SampleError> {
        if self.is_ended() {
            return Err(SampleError::Stopped);
        }
        let outcome = self.ask_on_runtime(question);
        if matches!(outcome, Err(SampleError::Endpoint(_))) {
            self.given_up.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn ask_on_runtime(&self, question: Question) -> Result<Outcome, SampleError> {
        let caller = Arc::clone(&self.caller);
        let work = async move { caller.ask(&question).await };
        let outcome = match self.background.run(work, &|| self.is_ended()) {
            Some(outcome) => outcome?,
            None if self.is_ended() => return Err(SampleError::Stopped),
            None => return Err(self.caller.endpoint_error("the call was aborted", 0)),
        };
        match &outcome {
            Outcome::Text(_) => self.missing.store(0, Ordering::Relaxed),
            Outcome::Missing(reason) => {
                let missing = self.missing.fetch_add(1, Ordering::Relaxed) + 1;
                if missing >= self.caller.limits.missing_in_a_row {
                    let message =
                        format!("{missing} answers in a row did not come, the last because: {reason}");
                    return Err(self.caller.endpoint_error(&message, 0));
                }
            }
        }
        Ok(outcome)
    }
}

struct Caller {
    model: Box<dyn Model>,
    limits: Limits,
    slots: Semaphore,
}

impl Caller {
    async fn ask(&self, question: &Question) -> Result<Outcome, SampleError> {
        // The permit is kept during the wait: an endpoint that asks for fewer calls gets fewer.
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(self.endpoint_error("it is being shut down", 0));
        };
        let mut timed_out = 0;
        for tried in 1.. {
            let call = tokio::time::timeout(self.limits.call, self.model.ask(question));
            let failure = match call.await {
                Ok(Ok(text)) if text.len() > self.limits.answer => {
                    return Ok(Outcome::Missing(format!(
                        "the answer is longer than {} bytes",
                        self.limits.answer
                    )));
                }
                Ok(Ok(text)) => return Ok(Outcome::Text(text)),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::TimedOut,
            };
            tracing::warn!(model = self.model.description(), tried, "A call to the model failed: {failure}");
            let mut wait =
                self.limits.back_off.saturating_mul(1 << (tried - 1).min(16)).min(self.limits.longest_wait);
            let message = match failure {
                Failure::Final(message) => return Err(self.endpoint_error(&message, tried)),
                Failure::Garbled(message) => return Ok(Outcome::Missing(message)),
                Failure::TimedOut => {
                    timed_out += 1;
                    let seconds = self.limits.call.as_secs_f32();
                    let message =
                        format!("no answer within {seconds} s (`llm_sampler.timeout_seconds` allows more)");
                    if timed_out == 2 {
                        return Ok(Outcome::Missing(message));
                    }
                    message
                }
                Failure::Busy { message, after } => {
                    if let Some(after) = after {
                        if after > self.limits.longest_wait {
                            let message = format!("{message}; it asks to wait {} s", after.as_secs());
                            return Err(self.endpoint_error(&message, tried));
                        }
                        wait = wait.max(after);
                    }
                    message
                }
                Failure::Unreachable(message) => message,
            };
            if tried >= self.limits.tries {
                return Err(self.endpoint_error(&message, tried));
            }
            tokio::time::sleep(wait).await;
        }
        Err(self.endpoint_error("no call was made", 0))
    }

    fn endpoint_error(&self, message: &str, tried: u32) -> SampleError {
        let times = match tried {
            0 => String::new(),
            1 => " (1 call)".to_owned(),
            n => format!(" ({n} calls)"),
        };
        SampleError::Endpoint(format!(
            "The model does not answer: {}{times}: {}. {} Without \
             `use_llm_sampler` no model is needed.",
            self.model.description(),
            message.trim_end_matches('.'),
            self.model.advice()
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Instant;

    use super::*;
    use crate::model::Call;

    type Reply = Result<String, Failure>;

    /// Returns one reply after the other, `None` = never. The last one repeats.
    struct Scripted(Mutex<Vec<Option<Reply>>>, AtomicU32);

    impl Model for Scripted {
        fn description(&self) -> String {
            "a simulated model".to_owned()
        }
        fn advice(&self) -> String {
            "Look at the script.".to_owned()
        }
        fn ask<'a>(&'a self, _: &'a Question) -> Call<'a> {
            self.1.fetch_add(1, Ordering::SeqCst);
            let mut replies = self.0.lock().expect("no panic elsewhere");
            let reply = if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() };
            Box::pin(async move {
                match reply {
                    Some(reply) => reply,
                    None => std::future::pending().await,
                }
            })
        }
    }

    fn limits() -> Limits {
        Limits {
            call: Duration::from_millis(40),
            tries: 3,
            back_off: Duration::from_millis(1),
            longest_wait: Duration::from_millis(200),
            answer: 100,
            at_once: 2,
            missing_in_a_row: 2,
        }
    }

    fn live(replies: Vec<Option<Reply>>) -> LiveModel {
        let model = Scripted(Mutex::new(replies), AtomicU32::new(0));
        LiveModel::new(Box::new(model), limits(), Background::new().expect("a thread"))
    }

    fn question() -> Question {
        let nothing = crate::model::Conversation::default();
        Question {
            prose: nothing.clone(),
            shaped: nothing,
            schema: serde_json::Value::Null,
            most_tokens: 1,
            temperature: 0.0,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as in a script")]
    fn busy(after: Option<u64>) -> Option<Reply> {
        Some(Err(Failure::Busy {
            message: "429 slow down".to_owned(),
            after: after.map(Duration::from_millis),
        }))
    }

    #[expect(clippy::unnecessary_wraps, reason = "as in a script")]
    fn text_reply(text: &str) -> Option<Reply> {
        Some(Ok(text.to_owned()))
    }

    #[test]
    fn a_busy_endpoint_gets_a_retry_after_the_requested_wait() {
        let begun = Instant::now();
        let live = live(vec![busy(Some(60)), busy(None), text_reply("yes")]);
        assert_eq!(live.ask(question()), Ok(Outcome::Text("yes".to_owned())));
        assert!(begun.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn the_sampler_gives_up_at_a_busy_endpoint_or_a_long_requested_wait() {
        for (replies, expected) in [
            (vec![busy(None)], "(3 calls): 429 slow down"),
            (vec![busy(Some(5000))], "asks to wait 5 s"),
            (vec![Some(Err(Failure::Unreachable("connection refused".to_owned())))], "connection refused"),
            (vec![Some(Err(Failure::Final("401: no key".to_owned())))], "(1 call): 401: no key"),
        ] {
            let Err(SampleError::Endpoint(text)) = live(replies).ask(question()) else {
                panic!("no answer can come");
            };
            assert!(text.contains(expected) && text.contains("Look at the script."), "{text}");
        }
    }

    #[test]
    fn silence_and_unreadable_answers_are_missing_answers_up_to_a_limit() {
        let live = live(vec![
            None,
            None,
            text_reply("after"),
            text_reply(&"x".repeat(101)),
            text_reply("between"),
            Some(Err(Failure::Garbled("no completion".to_owned()))),
        ]);
        let nothing = |outcome| matches!(outcome, Ok(Outcome::Missing(_)));
        assert!(nothing(live.ask(question())), "two calls that time out");
        assert_eq!(live.ask(question()), Ok(Outcome::Text("after".to_owned())));
        assert!(nothing(live.ask(question())), "too long");
        assert_eq!(live.ask(question()), Ok(Outcome::Text("between".to_owned())));
        assert!(nothing(live.ask(question())));
        assert!(matches!(live.ask(question()), Err(SampleError::Endpoint(_))), "a second in a row");
    }

    #[test]
    fn a_call_in_flight_ends_at_once_when_it_is_stopped() {
        let limits = Limits { call: Duration::from_hours(1), ..limits() };
        let model = Scripted(Mutex::new(vec![None]), AtomicU32::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let live = LiveModel::new(Box::new(model), limits, Background::new().expect("a thread"))
            .stopped_by(Arc::clone(&stop));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| live.ask(question()));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().expect("no panic"), Err(SampleError::Stopped));
        });
    }

    #[test]
    fn waiting_threads_stop_when_another_one_gives_up() {
        let limits = Limits { call: Duration::from_mins(1), ..limits() };
        let refuses = Some(Err(Failure::Final("401: no key".to_owned())));
        let model = Scripted(Mutex::new(vec![None, refuses]), AtomicU32::new(0));
        let live = LiveModel::new(Box::new(model), limits, Background::new().expect("a thread"));
        std::thread::scope(|scope| {
            let threads = [scope.spawn(|| live.ask(question())), scope.spawn(|| live.ask(question()))];
            let mut outcome = threads.map(|thread| thread.join().expect("no panic").expect_err("no answer"));
            outcome.sort_by_key(|error| matches!(error, SampleError::Stopped));
            assert!(matches!(outcome, [SampleError::Endpoint(_), SampleError::Stopped]), "{outcome:?}");
        });
        assert_eq!(live.ask(question()), Err(SampleError::Stopped));
    }

    #[test]
    fn a_thread_of_another_runtime_can_call_it() {
        let other = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let outcome = other.block_on(async {
            let live = live(vec![text_reply("yes")]);
            live.ask(question())
        });
        assert_eq!(outcome, Ok(Outcome::Text("yes".to_owned())));
    }
}
