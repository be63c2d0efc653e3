//! Asking a model over the network: time limits, waiting, trying again, and when to give up.
//!
//! The [`Sampler`](scenario::sample::Sampler) is called from several plain threads, one per scenario; calls run on a
//! small runtime of their own, at most [`Limits::at_once`] at a time. The caller waits on a channel and never blocks on
//! the runtime itself, so that it may be one of another runtime's threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use scenario::sample::SampleError;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::Unready;
use crate::model::{Failure, Model, Question};

/// Bounds of what a model may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one call.
    pub call: Duration,
    /// Calls for one answer, if the endpoint is busy or cannot be reached. Of calls that time out: two.
    pub tries: u32,
    /// The wait after the first failed call; doubled after each further one.
    pub back_off: Duration,
    /// The longest wait, also if the endpoint asks for more: then we give up.
    pub longest_wait: Duration,
    /// Bytes of an answer.
    pub answer: usize,
    /// Calls at a time.
    pub at_once: usize,
    /// Answers in a row that did not come before we give up: one that is missing is replaced, an endpoint that is silent
    /// is not.
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

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// What the model said.
    Text(String),
    /// No answer, or none that can be read, and why.
    Nothing(String),
}

/// How often a thread that waits for an answer looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(30);

/// A runtime that is given back without waiting for what is under way: its holder may be dropped anywhere.
pub(crate) struct Background(Option<Runtime>);

impl Background {
    pub(crate) fn new() -> Result<Self, Unready> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("model")
            .enable_all()
            .build()
            .map(|runtime| Self(Some(runtime)))
            .map_err(|e| Unready(format!("The machine gives no more threads: {e}")))
    }

    /// Runs to the end; nothing if the runtime ended first, or `ended` says that it is not wanted any more: then it is
    /// dropped where it is, and a call under way with it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        ended: &dyn Fn() -> bool,
    ) -> Option<T> {
        let (done, wait) = std::sync::mpsc::sync_channel(1);
        let task = self.0.as_ref()?.spawn(async move { done.send(work.await) });
        loop {
            match wait.recv_timeout(LOOK) {
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

/// A model with all that is needed to call it.
pub(crate) struct Live {
    background: Background,
    caller: Arc<Caller>,
    /// Questions in a row without an answer.
    missing: AtomicU32,
    /// It was found out that there is nobody: those who wait need not find out themselves.
    given_up: AtomicBool,
    /// Set by whoever wants no more answers.
    stop: Arc<AtomicBool>,
}

impl Live {
    pub(crate) fn new(model: Box<dyn Model>, limits: Limits, background: Background) -> Self {
        let slots = Semaphore::new(limits.at_once.max(1));
        let caller = Arc::new(Caller { model, limits, slots });
        let (given_up, stop) = (AtomicBool::new(false), Arc::default());
        Self { background, caller, missing: AtomicU32::new(0), given_up, stop }
    }

    /// Ends what is under way once the flag is set.
    pub(crate) fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    fn is_ended(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.given_up.load(Ordering::Relaxed)
    }

    /// Asks until there is an answer, or it is clear that there will be none: after that nothing is asked any more.
    pub(crate) fn ask(&self, question: Question) -> Result<Heard, SampleError> {
        if self.is_ended() {
            return Err(SampleError::Stopped);
        }
        let heard = self.heard(question);
        if matches!(heard, Err(SampleError::Endpoint(_))) {
            self.given_up.store(true, Ordering::Relaxed);
        }
        heard
    }

    fn heard(&self, question: Question) -> Result<Heard, SampleError> {
        let caller = Arc::clone(&self.caller);
        let work = async move { caller.ask(&question).await };
        let heard = match self.background.run(work, &|| self.is_ended()) {
            Some(heard) => heard?,
            None if self.is_ended() => return Err(SampleError::Stopped),
            None => return Err(self.caller.gone("the call was broken off", 0)),
        };
        match &heard {
            Heard::Text(_) => self.missing.store(0, Ordering::Relaxed),
            Heard::Nothing(why) => {
                let missing = self.missing.fetch_add(1, Ordering::Relaxed) + 1;
                if missing >= self.caller.limits.missing_in_a_row {
                    let what = format!("{missing} answers in a row did not come, the last because: {why}");
                    return Err(self.caller.gone(&what, 0));
                }
            }
        }
        Ok(heard)
    }
}

struct Caller {
    model: Box<dyn Model>,
    limits: Limits,
    slots: Semaphore,
}

impl Caller {
    async fn ask(&self, question: &Question) -> Result<Heard, SampleError> {
        // The place is kept while waiting: an endpoint that asks for fewer calls gets fewer.
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(self.gone("it is being shut down", 0));
        };
        let mut timed_out = 0;
        for tried in 1.. {
            let call = tokio::time::timeout(self.limits.call, self.model.ask(question));
            let failure = match call.await {
                Ok(Ok(text)) if text.len() > self.limits.answer => {
                    return Ok(Heard::Nothing(format!(
                        "the answer is longer than {} bytes",
                        self.limits.answer
                    )));
                }
                Ok(Ok(text)) => return Ok(Heard::Text(text)),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::TimedOut,
            };
            tracing::warn!(model = self.model.described(), tried, "A call to the model failed: {failure}");
            let mut wait =
                self.limits.back_off.saturating_mul(1 << (tried - 1).min(16)).min(self.limits.longest_wait);
            let what = match failure {
                Failure::Final(what) => return Err(self.gone(&what, tried)),
                Failure::Garbled(what) => return Ok(Heard::Nothing(what)),
                Failure::TimedOut => {
                    timed_out += 1;
                    let seconds = self.limits.call.as_secs_f32();
                    let what =
                        format!("no answer within {seconds} s (`llm_sampler.timeout_seconds` allows more)");
                    if timed_out == 2 {
                        return Ok(Heard::Nothing(what));
                    }
                    what
                }
                Failure::Busy { what, after } => {
                    if let Some(after) = after {
                        if after > self.limits.longest_wait {
                            let what = format!("{what}; it asks to wait {} s", after.as_secs());
                            return Err(self.gone(&what, tried));
                        }
                        wait = wait.max(after);
                    }
                    what
                }
                Failure::Unreachable(what) => what,
            };
            if tried >= self.limits.tries {
                return Err(self.gone(&what, tried));
            }
            tokio::time::sleep(wait).await;
        }
        Err(self.gone("no call was made", 0))
    }

    fn gone(&self, what: &str, tried: u32) -> SampleError {
        let times = match tried {
            0 => String::new(),
            1 => " (1 call)".to_owned(),
            n => format!(" ({n} calls)"),
        };
        SampleError::Endpoint(format!(
            "The model does not answer: {}{times}: {}. {} Without \
             `use_llm_sampler` no model is needed.",
            self.model.described(),
            what.trim_end_matches('.'),
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

    /// Gives one reply after the other, `None` = never; the last for ever.
    struct Scripted(Mutex<Vec<Option<Reply>>>, AtomicU32);

    impl Model for Scripted {
        fn described(&self) -> String {
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

    fn live(replies: Vec<Option<Reply>>) -> Live {
        let model = Scripted(Mutex::new(replies), AtomicU32::new(0));
        Live::new(Box::new(model), limits(), Background::new().expect("a thread"))
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
        Some(Err(Failure::Busy { what: "429 slow down".to_owned(), after: after.map(Duration::from_millis) }))
    }

    #[expect(clippy::unnecessary_wraps, reason = "as in a script")]
    fn says(text: &str) -> Option<Reply> {
        Some(Ok(text.to_owned()))
    }

    #[test]
    fn a_busy_endpoint_is_asked_again_after_the_wait_that_it_asks_for() {
        let begun = Instant::now();
        let live = live(vec![busy(Some(60)), busy(None), says("yes")]);
        assert_eq!(live.ask(question()), Ok(Heard::Text("yes".to_owned())));
        assert!(begun.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn one_that_stays_busy_or_asks_for_too_long_a_wait_is_given_up() {
        for (replies, said) in [
            (vec![busy(None)], "(3 calls): 429 slow down"),
            (vec![busy(Some(5000))], "asks to wait 5 s"),
            (vec![Some(Err(Failure::Unreachable("connection refused".to_owned())))], "connection refused"),
            (vec![Some(Err(Failure::Final("401: no key".to_owned())))], "(1 call): 401: no key"),
        ] {
            let Err(SampleError::Endpoint(text)) = live(replies).ask(question()) else {
                panic!("no answer can come");
            };
            assert!(text.contains(said) && text.contains("Look at the script."), "{text}");
        }
    }

    #[test]
    fn silence_and_noise_are_no_answer_until_there_is_too_much_of_it() {
        let live = live(vec![
            None,
            None,
            says("after"),
            says(&"x".repeat(101)),
            says("between"),
            Some(Err(Failure::Garbled("no completion".to_owned()))),
        ]);
        let nothing = |heard| matches!(heard, Ok(Heard::Nothing(_)));
        assert!(nothing(live.ask(question())), "two calls that time out");
        assert_eq!(live.ask(question()), Ok(Heard::Text("after".to_owned())));
        assert!(nothing(live.ask(question())), "too long");
        assert_eq!(live.ask(question()), Ok(Heard::Text("between".to_owned())));
        assert!(nothing(live.ask(question())));
        assert!(matches!(live.ask(question()), Err(SampleError::Endpoint(_))), "a second in a row");
    }

    #[test]
    fn a_call_under_way_ends_at_once_when_it_is_not_wanted_any_more() {
        let limits = Limits { call: Duration::from_hours(1), ..limits() };
        let model = Scripted(Mutex::new(vec![None]), AtomicU32::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let live = Live::new(Box::new(model), limits, Background::new().expect("a thread"))
            .stopped_by(Arc::clone(&stop));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| live.ask(question()));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().expect("no panic"), Err(SampleError::Stopped));
        });
    }

    #[test]
    fn who_waits_is_told_when_another_has_found_out_that_there_is_nobody() {
        let limits = Limits { call: Duration::from_mins(1), ..limits() };
        let refuses = Some(Err(Failure::Final("401: no key".to_owned())));
        let model = Scripted(Mutex::new(vec![None, refuses]), AtomicU32::new(0));
        let live = Live::new(Box::new(model), limits, Background::new().expect("a thread"));
        std::thread::scope(|scope| {
            let both = [scope.spawn(|| live.ask(question())), scope.spawn(|| live.ask(question()))];
            let mut heard = both.map(|one| one.join().expect("no panic").expect_err("no answer"));
            heard.sort_by_key(|error| matches!(error, SampleError::Stopped));
            assert!(matches!(heard, [SampleError::Endpoint(_), SampleError::Stopped]), "{heard:?}");
        });
        assert_eq!(live.ask(question()), Err(SampleError::Stopped));
    }

    #[test]
    fn it_can_be_asked_from_a_thread_of_another_runtime() {
        let other = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let heard = other.block_on(async {
            let live = live(vec![says("yes")]);
            live.ask(question())
        });
        assert_eq!(heard, Ok(Heard::Text("yes".to_owned())));
    }
}
