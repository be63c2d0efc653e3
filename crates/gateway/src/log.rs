//! The log of requests, `gateway.jsonl`.
//!
//! A request appends up to three kinds of lines: one when it begins, so that a request interrupted by a kill is known; one for
//! each failed try, so that retries are visible before the request finishes; and its record when it finishes.
//!
//! A separate thread writes, so that nothing that serves an agent waits for a disk. Lines are written whole and unbuffered: a
//! kill loses at most one line.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use files::confined_path;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::error::GatewayError;
use crate::record::{AttemptKey, Guess, Record, Spent};
use crate::request::RequestKind;
use crate::speed::Speeds;

/// Lines that may wait for the disk.
const QUEUE: usize = 4096;

/// Most bytes of invalid lines in a log. A kill leaves a part of one line.
const MOST_BROKEN: u64 = 64 << 20;
/// Most bytes of a log, and of one of its lines, that are read. The gateway writes lines of a few hundred bytes.
const LARGEST_LOG: u64 = 4 << 30;
const LONGEST_LINE: u64 = 1 << 20;
/// Most unfinished requests and most episodes of a log.
const MOST_KEPT: usize = 100_000;
/// Longest name of an episode and longest time, in bytes.
const LONGEST_WORD: usize = 100;

/// An open log. Dropping it waits until everything is written.
#[derive(Debug)]
pub(crate) struct RequestLog {
    lines: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
}

impl RequestLog {
    /// Opens a file for appending. It is created if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, GatewayError> {
        let failed = |error: std::io::Error| GatewayError::Settings {
            setting: format!("the gateway's log {}", path.display()),
            reason: error.to_string(),
        };
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let mut file = confined_path::open_file(path, flags).map_err(failed)?;
        // A kill may have left a part of a line, which must not absorb the next one.
        if file.seek(SeekFrom::End(0)).map_err(failed)? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).map_err(failed)?;
            file.read_exact(&mut last).map_err(failed)?;
            if last != *b"\n" {
                file.write_all(b"\n").map_err(failed)?;
            }
        }
        let (lines, waiting) = sync_channel::<Vec<u8>>(QUEUE);
        let shown = path.display().to_string();
        let writer = std::thread::Builder::new()
            .name("gateway log".to_owned())
            .spawn(move || {
                for line in waiting {
                    if let Err(error) = file.write_all(&line) {
                        tracing::warn!(%error, path = shown, "cannot write the record of a request");
                    }
                }
            })
            .map_err(failed)?;
        Ok(Self { lines: Some(lines), writer: Some(writer) })
    }

    /// Appends a line: a [`Record`], [`RequestStart`] or [`RequestFault`]. Where the disk is so slow that thousands of lines
    /// wait, the line is dropped with a warning.
    pub(crate) fn append(&self, entry: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(entry) else { return };
        line.push(b'\n');
        if let Some(Err(TrySendError::Full(_))) = self.lines.as_ref().map(|lines| lines.try_send(line)) {
            tracing::warn!("the log of the gateway is too slow for its requests; a record is lost");
        }
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum LogLine {
    /// A request has finished.
    Finished(Box<Record>),
    /// A try of a request has failed.
    Faulted(RequestFault),
    /// A request is about to be sent.
    Begun(RequestStart),
}

/// A request that is about to be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestStart {
    /// As [`Record::number`].
    #[serde(rename = "begun")]
    pub number: u64,
    /// The attempt that sends it.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// As [`Record::at`].
    pub at: String,
    /// What budgets count if it never finishes.
    #[serde(default)]
    pub guess: Guess,
}

/// A try of a request that failed at the endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestFault {
    /// As in [`Record::faults`].
    pub fault: u16,
    /// The attempt that sent it.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// When, RFC 3339.
    pub at: String,
    /// As [`Record::number`].
    pub number: u64,
}

/// What a log states as spent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogTotals {
    /// By the whole run.
    pub run: Spent,
    /// By each episode.
    pub episodes: BTreeMap<String, Spent>,
    /// A request of an agent to a model was answered completely.
    pub is_answered: bool,
    /// How fast the endpoint read and wrote.
    pub speeds: Speeds,
}

/// Adds up the records of a log, also those of attempts that were dropped or killed before they were recorded.
///
/// A request that began and never finished was interrupted by a kill. The endpoint may have accepted it, so it counts as
/// unmetered. Seconds are left out: they belong to attempts, not to requests. A log that does not exist is empty. Invalid
/// lines are skipped; a file with more than [`MOST_BROKEN`] bytes of them is an error. Blocks.
pub fn read_totals(path: &Path) -> std::io::Result<LogTotals> {
    let file = match confined_path::open_file(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(LogTotals::default()),
        Err(error) => return Err(error),
    };
    let mut totals = LogTotals::default();
    let mut unfinished: HashMap<(AttemptKey, String, u64), Guess> = HashMap::new();
    let mut reader = BufReader::new(file.take(LARGEST_LOG));
    let mut line = Vec::new();
    let mut broken = 0_u64;
    loop {
        line.clear();
        // A longer line is read in pieces, none of which is a record.
        if (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        match serde_json::from_slice::<LogLine>(&line) {
            Ok(LogLine::Finished(record)) if has_short_names(&record.key, &record.at) => {
                totals.change(&record.key.episode, |spent| add(spent, &record));
                totals.is_answered |= is_answer(&record);
                totals.speeds.add(&record);
                unfinished.remove(&(record.key, record.at, record.number));
            }
            Ok(LogLine::Begun(begun)) if has_short_names(&begun.key, &begun.at) => {
                unfinished.insert((begun.key, begun.at, begun.number), begun.guess);
            }
            // The record repeats it.
            Ok(LogLine::Faulted(_)) => {}
            Ok(_) | Err(_) => {
                broken += line.len() as u64;
                if broken > MOST_BROKEN {
                    return Err(not_a_log("tens of millions of its bytes are not records"));
                }
            }
        }
        if unfinished.len() > MOST_KEPT || totals.episodes.len() > MOST_KEPT {
            return Err(not_a_log("it names more episodes, or more unfinished requests, than any run has"));
        }
    }
    for ((key, ..), guess) in unfinished {
        totals.change(&key.episode, |spent| {
            spent.cost_usd = None;
            spent.unmetered += 1;
            spent.guess = spent.guess.plus(guess);
        });
    }
    Ok(totals)
}

/// Whether names are as short as those that the gateway writes.
fn has_short_names(key: &AttemptKey, time: &str) -> bool {
    key.episode.len() <= LONGEST_WORD && time.len() <= LONGEST_WORD
}

fn not_a_log(reason: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("it is not a log of requests: {reason}"))
}

impl LogTotals {
    /// Changes the totals of the run and of an episode.
    fn change(&mut self, episode: &str, change: impl Fn(&mut Spent)) {
        change(&mut self.run);
        if !self.episodes.contains_key(episode) {
            self.episodes.insert(episode.to_owned(), Spent::default());
        }
        if let Some(spent) = self.episodes.get_mut(episode) {
            change(spent);
        }
    }
}

/// What a recorded request was about.
fn kind(record: &Record) -> Option<RequestKind> {
    let (method, path) = record.route.split_once(' ')?;
    RequestKind::from_parts(&axum::http::Method::from_bytes(method.as_bytes()).ok()?, path)
}

/// Whether a model answered a request of an agent completely, in whatever API.
pub(crate) fn is_answer(record: &Record) -> bool {
    let is_whole = (200..300).contains(&record.status) && record.termination.is_none();
    let is_complete = is_whole && !record.reports_error;
    is_complete && !record.probe && matches!(kind(record), Some(RequestKind::Model(_)))
}

fn add(spent: &mut Spent, record: &Record) {
    let answered = (200..300).contains(&record.status) && kind(record).is_some_and(RequestKind::is_paid);
    // By the hour of a machine a request that failed has a cost as well.
    if !answered && !record.unmetered && record.cost_usd.is_none() {
        return;
    }
    // A sum is unknown once one of its parts is. Before the first part it is zero.
    let known_sum = spent.cost_usd.or((spent.requests == 0 && spent.unmetered == 0).then_some(0.0));
    spent.cost_usd = known_sum.zip(record.cost_usd).map(|(sum, cost)| sum + cost);
    spent.known_usd += record.cost_usd.unwrap_or(0.0);
    spent.requests = spent.requests.saturating_add(u64::from(answered));
    spent.unmetered = spent.unmetered.saturating_add(u64::from(record.unmetered));
    spent.guess = spent.guess.plus(record.guess);
    spent.tokens = spent.tokens.plus(record.tokens);
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            // It fails only if the writer panicked, which is reported where it happens.
            let _ = writer.join();
        }
    }
}
