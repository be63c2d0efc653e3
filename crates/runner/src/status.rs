//! What an episode is doing, written for observers (`.stamina/episodes/scenario_N.json`), and what the agent of the running
//! attempt prints (`scenario_N.log` beside it).

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::lock;
use rustix::fs::OFlags;

use crate::clock::{self, Stopwatch};
use crate::disk::{self, Durability};
use crate::dropped_attempt::Repeats;
use crate::live::{AgentLog, EpisodeFile, LiveEpisode, Phase};
use crate::secrets::SecretFilter;

/// The least time between two signs of life that are written.
const WRITE_INTERVAL: Duration = Duration::from_secs(2);
/// Most characters of the text "now".
const LONGEST_NOW: usize = 120;
/// Most bytes of the log; then it begins anew.
const LARGEST_LOG: u64 = 4 << 20;

/// The status of one episode.
pub(crate) struct Status {
    path: PathBuf,
    /// Removes values from the agent's output.
    scrub: Arc<SecretFilter>,
    /// The wall time of the run.
    run_watch: Arc<Mutex<Stopwatch>>,
    inner: Mutex<Inner>,
}

struct Inner {
    file: EpisodeFile,
    written: Instant,
    /// The wall time of the episode.
    watch: Stopwatch,
    /// Whether it runs now, and is not paused.
    played: bool,
    /// Bytes in the log; `None` = it could not be written.
    logged: Option<u64>,
    /// The end of the output so far, in which a value to remove may have begun.
    held: Vec<u8>,
}

/// Whether two accounts differ in nothing but time.
pub(crate) fn is_same_but_for_time(a: &gateway::Spent, b: &gateway::Spent) -> bool {
    *a == gateway::Spent { seconds: a.seconds, ..*b }
}

/// Whether the log would be longer than it may be.
fn begins_anew(logged: u64, output: &[u8]) -> bool {
    logged + output.len() as u64 > LARGEST_LOG
}

/// The number of the last retry request that was fulfilled, as last written; 0 = none. Blocks.
pub(crate) fn fulfilled(path: &std::path::Path) -> u32 {
    EpisodeFile::read(path).ok().flatten().map_or(0, |file| file.retries)
}

impl Status {
    /// Continues what an earlier part wrote.
    pub(crate) fn open(
        path: PathBuf,
        name: &str,
        seconds: f64,
        scrub: Arc<SecretFilter>,
        run_watch: Arc<Mutex<Stopwatch>>,
    ) -> Self {
        let file = EpisodeFile::read(&path).ok().flatten();
        let mut file = file.unwrap_or_else(|| EpisodeFile {
            shown: LiveEpisode::queued(name),
            at: clock::now(),
            log: AgentLog::default(),
            retries: 0,
            repeats: Repeats::default(),
        });
        // Time before a kill counts too.
        let seconds = seconds.max(file.shown.seconds);
        file.shown.seconds = seconds;
        let inner = Inner {
            file,
            written: Instant::now(),
            watch: Stopwatch::from_seconds(seconds),
            played: false,
            logged: None,
            held: Vec::new(),
        };
        Self { path, scrub, run_watch, inner: Mutex::new(inner) }
    }

    /// Starts the clocks of the episode and the run.
    pub(crate) fn begin(&self) {
        let (mut inner, now) = (lock(&self.inner), Instant::now());
        if !std::mem::replace(&mut inner.played, true) {
            inner.watch.begin(now);
            lock(&self.run_watch).begin(now);
        }
    }

    /// Stops the clocks: the episode is paused or left.
    pub(crate) fn stop_clocks(&self) {
        let (mut inner, now) = (lock(&self.inner), Instant::now());
        if std::mem::replace(&mut inner.played, false) {
            inner.watch.stop(now);
            lock(&self.run_watch).stop(now);
        }
    }

    /// Stops the clocks and shows that the episode waits again: the run ends before it.
    pub(crate) fn leave(&self) {
        self.stop_clocks();
        self.set(|shown| {
            shown.phase = Phase::Queued;
            shown.now = None;
        });
    }

    /// Wall seconds in which the episode ran, without pauses.
    pub(crate) fn seconds(&self) -> f64 {
        lock(&self.inner).watch.seconds(Instant::now())
    }

    /// Changes the status and writes it.
    pub(crate) fn set(&self, change: impl FnOnce(&mut LiveEpisode)) {
        let mut inner = lock(&self.inner);
        change(&mut inner.file.shown);
        let now = clock::now();
        inner.file.shown.last_event_at = Some(now);
        self.write(&mut inner);
    }

    /// Sets the phase, and what the episode does now.
    pub(crate) fn phase(&self, phase: Phase, now: &str) {
        if phase == Phase::Agent {
            let fresh = disk::block_briefly(|| {
                files::confined_path::open_file(&self.log(), OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)
            });
            let mut inner = lock(&self.inner);
            inner.logged = fresh.is_ok().then_some(0);
            let EpisodeFile { shown, log, .. } = &mut inner.file;
            *log = AgentLog { number: log.number.wrapping_add(1), turn: shown.turn, attempt: shown.attempt };
            inner.held.clear();
            drop(inner);
        }
        self.set(|shown| {
            shown.phase = phase;
            shown.now = Some(now.to_owned());
        });
    }

    /// The agent waits for the endpoint after a fault, or works again.
    pub(crate) fn set_waiting(&self, text: Option<String>) {
        self.set(|shown| {
            shown.phase = if text.is_some() { Phase::Waiting } else { Phase::Agent };
            shown.now = Some(text.unwrap_or_else(|| "the agent works".to_owned()));
        });
    }

    /// What the episode has spent so far. Written only when it has changed, and no sign of life.
    pub(crate) fn set_spent(&self, spent: gateway::Spent) {
        let mut inner = lock(&self.inner);
        if !is_same_but_for_time(&inner.file.shown.spent, &spent) {
            inner.file.shown.spent = spent;
            self.write(&mut inner);
        }
    }

    /// Appends output of the agent to its log, and shows the last line that is not empty.
    pub(crate) fn on_output(&self, output: &[u8]) {
        let mut inner = lock(&self.inner);
        let complete = self.ready(&mut inner, output);
        let output = complete.as_slice();
        let full = inner.logged.is_some_and(|logged| begins_anew(logged, output));
        inner.logged = inner.logged.and_then(|logged| self.append(output, logged));
        if full {
            inner.file.log.number = inner.file.log.number.wrapping_add(1);
        } else if inner.written.elapsed() < WRITE_INTERVAL {
            return;
        }
        let text = String::from_utf8_lossy(&output[output.len().saturating_sub(4096)..]);
        // What it waits for matters more than what it printed before.
        let waits = inner.file.shown.phase == Phase::Waiting;
        if let Some(line) = text.lines().rev().find(|line| !waits && !line.trim().is_empty()) {
            inner.file.shown.now = Some(model::one_line(line, LONGEST_NOW));
        }
        inner.file.shown.last_event_at = Some(clock::now());
        self.write(&mut inner);
    }

    /// The output without secret values, also where one comes in two pieces.
    fn ready(&self, inner: &mut Inner, output: &[u8]) -> Vec<u8> {
        if self.scrub.is_idle() {
            return output.to_vec();
        }
        inner.held.extend_from_slice(output);
        let mut clean = self.scrub.bytes(&inner.held).into_owned();
        let shown = clean.len().saturating_sub(self.scrub.overlap());
        inner.held = clean.split_off(shown);
        clean
    }

    /// The agent's output has ended.
    pub(crate) fn on_output_end(&self) {
        let mut inner = lock(&self.inner);
        let held = std::mem::take(&mut inner.held);
        if !held.is_empty() {
            inner.logged = inner.logged.and_then(|logged| self.append(&held, logged));
        }
    }

    fn log(&self) -> PathBuf {
        self.path.with_extension("log")
    }

    /// Appends output to the log. Returns its size; `None` = it cannot be written, which does not end the run.
    fn append(&self, output: &[u8], logged: u64) -> Option<u64> {
        let fresh = begins_anew(logged, output);
        let mode = if fresh { OFlags::TRUNC } else { OFlags::APPEND };
        let mut file = files::confined_path::open_file(&self.log(), OFlags::WRONLY | mode).ok()?;
        file.write_all(output).ok()?;
        Some(if fresh { output.len() as u64 } else { logged + output.len() as u64 })
    }

    /// The number of the last retry request that was fulfilled.
    pub(crate) fn retries(&self) -> u32 {
        lock(&self.inner).file.retries
    }

    pub(crate) fn set_retries(&self, retries: u32) {
        let mut inner = lock(&self.inner);
        if inner.file.retries != retries {
            inner.file.retries = retries;
            self.write(&mut inner);
        }
    }

    /// How often an attempt was retried because of something outside the agent, in all parts of the run.
    pub(crate) fn repeats(&self, turn: u32, attempt: u32) -> Repeats {
        lock(&self.inner).file.repeats.for_attempt(turn, attempt)
    }

    pub(crate) fn set_repeats(&self, repeats: Repeats) {
        let mut inner = lock(&self.inner);
        if inner.file.repeats != repeats {
            inner.file.repeats = repeats;
            self.write(&mut inner);
        }
    }

    fn write(&self, inner: &mut Inner) {
        inner.written = Instant::now();
        inner.file.at = clock::now();
        inner.file.shown.seconds = inner.watch.seconds(Instant::now());
        // Only a view of the results, so an error does not end the run.
        if let Err(error) =
            disk::block_briefly(|| disk::write_json(&self.path, &inner.file, Durability::Buffered))
        {
            tracing::warn!("{error}");
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.stop_clocks();
    }
}
