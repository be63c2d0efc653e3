//! Work in the background: a thread each, with progress, an end, and a way to stop it.
//!
//! Jobs live as long as the process; the latest twenty that have ended are remembered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use model::{lock, log_line};

use crate::api::{AnswerCounts, ApiError, Generated, ImageOutcome, Job, JobKind, JobState, Validation};

/// Ended jobs that are remembered.
const REMEMBERED: usize = 20;

/// Code of the error with which work ends that was asked to stop.
pub(crate) const CANCELLED: &str = "pack.cancelled";
/// Lines that a job's log keeps.
const LINES: usize = 400;

/// What came of a job that ended well.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Of a validation.
    Validated(Validation),
    /// Of a generation.
    Generated(Generated),
    /// Of images; how each came out was told on the way.
    Images,
}

/// A job as its thread sees it.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    stop: Arc<AtomicBool>,
    shared: Arc<Mutex<Entry>>,
}

impl Handle {
    /// Notes how far it is.
    pub(crate) fn progress(&self, done: u32, total: u32) {
        lock(&self.shared).job.progress = (done, total);
    }

    /// Notes what became of the answers of a model so far.
    pub(crate) fn answers(&self, counts: AnswerCounts) {
        lock(&self.shared).job.answers = Some(counts);
    }

    /// Adds a line to its log. Control characters and line breaks are escaped.
    pub(crate) fn add_line(&self, line: &str) {
        let text = log_line(line, 1000);
        let mut entry = lock(&self.shared);
        if entry.job.log.len() >= LINES {
            entry.job.log.drain(..LINES / 4);
        }
        entry.job.log.push(text);
    }

    /// Notes how an image came out.
    pub(crate) fn image(&self, outcome: ImageOutcome) {
        lock(&self.shared).job.images.push(outcome);
    }

    /// The flag that asks it to stop.
    pub(crate) fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}

#[derive(Debug)]
struct Entry {
    job: Job,
    begun: Instant,
    stop: Arc<AtomicBool>,
}

impl Entry {
    fn snapshot(&self) -> Job {
        let mut job = self.job.clone();
        if job.state == JobState::Running {
            job.seconds = self.begun.elapsed().as_secs_f64();
            let (done, total) = job.progress;
            job.seconds_left =
                (done > 0 && total >= done).then(|| job.seconds / f64::from(done) * f64::from(total - done));
        }
        job
    }
}

/// The jobs of this process.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    last: AtomicU64,
    entries: Mutex<Vec<Arc<Mutex<Entry>>>>,
}

impl Jobs {
    /// Starts a job.
    pub(crate) fn start(
        &self,
        kind: JobKind,
        title: String,
        source: Option<i64>,
        place: Option<String>,
        work: impl FnOnce(&Handle) -> Result<Outcome, ApiError> + Send + 'static,
    ) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let stop = Arc::new(AtomicBool::new(false));
        let job = Job {
            job: number,
            kind,
            title,
            source,
            place,
            state: JobState::Running,
            progress: (0, 0),
            seconds: 0.0,
            seconds_left: None,
            error: None,
            validation: None,
            generated: None,
            answers: None,
            images: Vec::new(),
            log: Vec::new(),
        };
        let shared = Arc::new(Mutex::new(Entry { job, begun: Instant::now(), stop: Arc::clone(&stop) }));
        {
            let mut entries = lock(&self.entries);
            entries.push(Arc::clone(&shared));
            let ended = entries.iter().filter(|entry| lock(entry).job.state != JobState::Running).count();
            let mut surplus = ended.saturating_sub(REMEMBERED);
            entries.retain(|entry| {
                let is_dropped = surplus > 0 && lock(entry).job.state != JobState::Running;
                surplus -= usize::from(is_dropped);
                !is_dropped
            });
        }
        let handle = Handle { stop, shared: Arc::clone(&shared) };
        let spawned = std::thread::Builder::new().name(format!("job {number}")).spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&handle)));
            let mut entry = lock(&handle.shared);
            entry.job = entry.snapshot();
            entry.job.seconds_left = None;
            entry.job.state = JobState::Done;
            match result {
                Ok(Ok(Outcome::Validated(validation))) => entry.job.validation = Some(validation),
                Ok(Ok(Outcome::Generated(generated))) => entry.job.generated = Some(generated),
                Ok(Ok(Outcome::Images)) => {}
                // Who stops a job too late gets its result; an error is one even after that.
                Ok(Err(error)) if error.code == CANCELLED => entry.job.state = JobState::Stopped,
                Ok(Err(error)) => {
                    entry.job.state = JobState::Failed;
                    entry.job.error =
                        Some(error.hint.map_or_else(
                            || error.message.clone(),
                            |hint| format!("{}. {hint}", error.message),
                        ));
                }
                Err(_) => {
                    entry.job.state = JobState::Failed;
                    entry.job.error = Some("It failed inside; the log says where".to_owned());
                }
            }
        });
        if let Err(error) = spawned {
            let mut entry = lock(&shared);
            entry.job.state = JobState::Failed;
            entry.job.error = Some(format!("No thread could be started: {error}"));
        }
        number
    }

    /// All of them, latest first.
    pub(crate) fn list(&self) -> Vec<Job> {
        lock(&self.entries).iter().rev().map(|entry| lock(entry).snapshot()).collect()
    }

    /// One of them.
    pub(crate) fn get(&self, number: u64) -> Result<Job, ApiError> {
        self.list().into_iter().find(|job| job.job == number).ok_or_else(|| {
            ApiError::new("job.not_found", format!("There is no job {number}"))
                .hint("It may have ended long ago")
        })
    }

    /// Whether one is at work.
    pub(crate) fn is_running(&self, number: u64) -> bool {
        self.get(number).is_ok_and(|job| job.state == JobState::Running)
    }

    /// Asks one to stop.
    pub(crate) fn stop(&self, number: u64) -> Result<Job, ApiError> {
        for entry in lock(&self.entries).iter() {
            let entry = lock(entry);
            if entry.job.job == number {
                entry.stop.store(true, Ordering::Relaxed);
            }
        }
        self.get(number)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn generated() -> Outcome {
        Outcome::Generated(Generated {
            path: "p".into(),
            scenarios: 1,
            turns: 1,
            bytes: 1,
            seconds: 0.0,
            sha256: String::new(),
        })
    }

    /// The job once it has ended.
    fn ended(jobs: &Jobs, number: u64) -> Job {
        loop {
            let job = jobs.get(number).expect("it is there");
            if job.state != JobState::Running {
                return job;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_tells_how_far_it_is_and_how_it_ended() {
        let jobs = Jobs::default();
        let (go, wait) = mpsc::sync_channel::<()>(1);
        let (half, at_half) = mpsc::sync_channel::<()>(1);
        let work = move |job: &Handle| {
            job.progress(1, 2);
            half.send(()).ok();
            wait.recv().ok();
            Ok(generated())
        };
        let number = jobs.start(JobKind::Generation, "Half".into(), Some(7), None, work);
        at_half.recv().expect("half");
        let job = jobs.get(number).expect("it is there");
        assert_eq!((job.state, job.progress, job.source), (JobState::Running, (1, 2), Some(7)));
        assert!(job.seconds_left.is_some());
        go.send(()).expect("it waits");
        let job = ended(&jobs, number);
        assert_eq!(job.state, JobState::Done);
        assert!(job.generated.is_some() && job.seconds_left.is_none());
    }

    #[test]
    fn a_line_of_a_job_is_one_line() {
        let jobs = Jobs::default();
        let work = |job: &Handle| {
            job.add_line("built\n\u{1b}[2Jtwo\n");
            Ok(generated())
        };
        let number = jobs.start(JobKind::Generation, "Lines".into(), None, None, work);
        assert_eq!(ended(&jobs, number).log, ["built\\u{a}\\u{1b}[2Jtwo"]);
    }

    #[test]
    fn a_job_that_is_stopped_or_fails_says_so() {
        let jobs = Jobs::default();
        let endless = |job: &Handle| {
            while !job.stop_flag().load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Err(ApiError::new(CANCELLED, "It was stopped"))
        };
        let stopped = jobs.start(JobKind::Validation, "Stopped".into(), None, None, endless);
        jobs.stop(stopped).expect("it is there");
        let work = |_: &Handle| Err(ApiError::new("x", "No space").hint("Make some"));
        let failed = jobs.start(JobKind::Generation, "Failed".into(), None, None, work);
        assert_eq!(ended(&jobs, stopped).state, JobState::Stopped);
        let failed = ended(&jobs, failed);
        assert_eq!((failed.state, failed.error.as_deref()), (JobState::Failed, Some("No space. Make some")));
        assert_eq!(jobs.get(99).expect_err("no such job").code, "job.not_found");
    }

    #[test]
    fn only_the_latest_ended_jobs_are_remembered() {
        let jobs = Jobs::default();
        for _ in 0..30 {
            let number = jobs.start(JobKind::Generation, "x".into(), None, None, |_| Ok(generated()));
            ended(&jobs, number);
        }
        let all = jobs.list();
        assert_eq!(all.len(), REMEMBERED + 1);
        assert_eq!(all[0].job, 30);
    }
}
