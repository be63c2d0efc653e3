//! Questions to a file system that may never answer.
//!
//! A network file system whose server is gone blocks every system call on it inside the kernel, for as long as the server
//! stays away, and a thread that is blocked there cannot be ended. So where a folder is looked at that nobody asked for at
//! this moment (the list of runs, the state of sources), or that somebody else may have prepared, a worker thread asks, and
//! the caller waits for at most [`LIMIT`]. While a place is overdue, further questions about it and about what lies below it
//! fail at once: it costs the threads that asked before it was, and no more, however often it is asked about.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TryRecvError};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use model::lock;

/// The longest that an answer is waited for. A disk that spins up, or a busy server, answers within it.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Most worker threads that wait for their next question.
const MOST_IDLE: usize = 4;
/// Most questions without an answer at a time, over all places; beyond them nothing more is asked until one is answered. A
/// place costs a few: only those that were asked before the first of them was overdue.
const MOST_OPEN: usize = 256;

type Question = Box<dyn FnOnce() + Send>;

/// Workers without a question.
static IDLE_WORKERS: Mutex<Vec<SyncSender<Question>>> = Mutex::new(Vec::new());
/// Questions without an answer yet, whether they are overdue or not: so many threads at most.
static OPEN_QUESTIONS: AtomicUsize = AtomicUsize::new(0);
/// Places that did not answer in time, with the number of their questions that are still open.
static OVERDUE_PLACES: LazyLock<Mutex<HashMap<PathBuf, usize>>> = LazyLock::new(Mutex::default);

/// Asks a file system about a place, and waits for the answer for at most [`LIMIT`].
///
/// Errors: [`io::ErrorKind::TimedOut`] where there is no answer in time, where an earlier question about the place or one above
/// it has none yet, or where too many questions are open; any other kind where no thread can be started, or the question panics.
pub fn within_limit<T: Send + 'static>(
    place: &Path,
    question: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    ask_within(LIMIT, place, question)
}

fn ask_within<T: Send + 'static>(
    limit: Duration,
    place: &Path,
    question: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    {
        // What lies below a place that does not answer does not answer either.
        let overdue = lock(&OVERDUE_PLACES);
        if place.ancestors().any(|above| overdue.contains_key(above)) {
            return Err(no_answer_error(limit));
        }
    }
    if OPEN_QUESTIONS.fetch_add(1, Ordering::Relaxed) >= MOST_OPEN {
        OPEN_QUESTIONS.fetch_sub(1, Ordering::Relaxed);
        return Err(no_answer_error(limit));
    }
    let (answer, answered) = mpsc::sync_channel(1);
    let open = OpenQuestion { place: place.to_owned(), is_overdue: Arc::default() };
    let is_overdue = Arc::clone(&open.is_overdue);
    hand_over(Box::new(move || {
        // The answer comes first, then the place is free again; also where the question panics.
        let value = std::panic::catch_unwind(std::panic::AssertUnwindSafe(question));
        if let Ok(value) = value {
            let _ = answer.send(value);
        }
        drop(answer);
        drop(open);
    }))?;
    match answered.recv_timeout(limit) {
        Ok(value) => Ok(value),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the question ended without an answer")),
        Err(RecvTimeoutError::Timeout) => {
            let mut overdue = lock(&OVERDUE_PLACES);
            // It may have been answered in this very moment; from here on the worker waits for the lock.
            match answered.try_recv() {
                Ok(value) => return Ok(value),
                Err(TryRecvError::Disconnected) => {
                    return Err(io::Error::other("the question ended without an answer"));
                }
                Err(TryRecvError::Empty) => {}
            }
            is_overdue.store(true, Ordering::Relaxed);
            *overdue.entry(place.to_owned()).or_default() += 1;
            Err(no_answer_error(limit))
        }
    }
}

/// A question without an answer yet. When it is dropped, its place is no longer overdue.
struct OpenQuestion {
    place: PathBuf,
    is_overdue: Arc<AtomicBool>,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        OPEN_QUESTIONS.fetch_sub(1, Ordering::Relaxed);
        let mut overdue = lock(&OVERDUE_PLACES);
        if self.is_overdue.load(Ordering::Relaxed)
            && let Some(open) = overdue.get_mut(&self.place)
        {
            *open -= 1;
            if *open == 0 {
                overdue.remove(&self.place);
            }
        }
    }
}

fn no_answer_error(limit: Duration) -> io::Error {
    let seconds = limit.as_secs_f64();
    io::Error::new(
        io::ErrorKind::TimedOut,
        format!("the file system does not answer within {seconds} s; is its server or disk reachable?"),
    )
}

/// Gives a question to an idle worker, or to a new one.
fn hand_over(mut question: Question) -> io::Result<()> {
    loop {
        let Some(worker) = lock(&IDLE_WORKERS).pop() else { break };
        match worker.send(question) {
            Ok(()) => return Ok(()),
            // It ended.
            Err(mpsc::SendError(back)) => question = back,
        }
    }
    std::thread::Builder::new().name("asks a folder".to_owned()).spawn(move || work(question)).map(drop)
}

fn work(first: Question) {
    let mut question = first;
    loop {
        question();
        let (worker, questions) = mpsc::sync_channel(1);
        {
            let mut idle = lock(&IDLE_WORKERS);
            if idle.len() >= MOST_IDLE {
                return;
            }
            idle.push(worker);
        }
        match questions.recv() {
            Ok(next) => question = next,
            Err(mpsc::RecvError) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_place_that_does_not_answer_is_asked_once() {
        let place = Path::new("/a place without an answer");
        let (release, blocked) = channel::<()>();
        let refused =
            ask_within(Duration::from_millis(20), place, move || blocked.recv().is_ok()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        // Nobody asks again: the question would be answered at once.
        let again = ask_within(LIMIT, place, || true).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::TimedOut);
        // Nor about what lies below it.
        assert!(ask_within(LIMIT, &place.join("below/it"), || true).is_err());
        // Another place is asked.
        assert!(ask_within(LIMIT, Path::new("/another place"), || true).unwrap());
        release.send(()).unwrap();
        while lock(&OVERDUE_PLACES).contains_key(place) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(ask_within(LIMIT, place, || true).unwrap());
    }

    #[test]
    fn a_question_that_panics_is_an_error_and_holds_nothing_up() {
        let place = Path::new("/a place that panics");
        let ended = ask_within(LIMIT, place, || -> u8 { std::panic::resume_unwind(Box::new(())) });
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(ask_within(LIMIT, place, || 1).unwrap(), 1);
    }
}
