//! The log of requests: one record a line, appended as it ends; before it a short line when it begins, by which a request
//! that a kill has cut off is known, and one for each try that came to nothing, so that a request which is being tried again
//! is seen before its end.
//!
//! A thread of its own writes, so that nothing that serves an agent waits for a disk. Lines are written whole and without a
//! buffer in between: what is killed loses at most the line in flight.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use files::beneath;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::request::Kind;
use crate::{AttemptKey, GatewayError, Guess, Record, Spent};

/// Lines that may wait for the disk.
const WAITING: usize = 4096;

/// Most bytes of lines that are no records: a kill leaves a part of one.
const MOST_BROKEN: u64 = 64 << 20;
/// Most bytes of a log that are added up, and of one of its lines: those that we write have a few hundred.
const LARGEST: u64 = 4 << 30;
const LONGEST_LINE: u64 = 1 << 20;
/// Most requests without an end, and most episodes, of a log that is added up; and most bytes of an episode's name and of a time.
const MOST_KEPT: usize = 100_000;
const LONGEST_WORD: usize = 100;

/// An open log. Dropping it waits until everything is written.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    /// Appends to a file, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, GatewayError> {
        let wrong = |error: std::io::Error| GatewayError::Settings {
            what: format!("the gateway's log {}", path.display()),
            why: error.to_string(),
        };
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let mut file = beneath::open_file(path, flags).map_err(wrong)?;
        // A line that was cut off by a kill is not to swallow the next one.
        if file.seek(SeekFrom::End(0)).map_err(wrong)? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).map_err(wrong)?;
            file.read_exact(&mut last).map_err(wrong)?;
            if last != *b"\n" {
                file.write_all(b"\n").map_err(wrong)?;
            }
        }
        let (lines, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let shown = path.display().to_string();
        let writer = std::thread::Builder::new()
            .name("gateway log".to_owned())
            .spawn(move || {
                for line in waiting {
                    if let Err(error) = file.write_all(&line) {
                        tracing::warn!(%error, path = shown, "a record of a request could not be written");
                    }
                }
            })
            .map_err(wrong)?;
        Ok(Self { lines: Some(lines), writer: Some(writer) })
    }

    /// Appends a record. Where the disk is so slow that thousands wait, it is dropped, and that is said.
    pub(crate) fn append(&self, record: &Record) {
        self.line(record);
    }

    /// Appends that a request begins; dropped in the same case.
    pub(crate) fn begin(&self, begun: &Begun) {
        self.line(begun);
    }

    /// Appends that a try came to nothing; dropped in the same case.
    pub(crate) fn fault(&self, faulted: &Faulted) {
        self.line(faulted);
    }

    fn line(&self, what: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(what) else { return };
        line.push(b'\n');
        if let Some(Err(TrySendError::Full(_))) = self.lines.as_ref().map(|lines| lines.try_send(line)) {
            tracing::warn!("the gateway's log can not keep up with the requests; a record is lost");
        }
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// A request has ended.
    Ended(Box<Record>),
    /// A try of one came to nothing.
    Faulted(Faulted),
    /// One was about to be sent.
    Begun(Begun),
}

/// A request that was about to be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// As [`Record::number`].
    #[serde(rename = "begun")]
    pub number: u64,
    /// Whose.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// As [`Record::at`].
    pub at: String,
    /// What budgets count for it if it never ends.
    #[serde(default)]
    pub guess: Guess,
}

/// A try of a request that came to nothing at the endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Faulted {
    /// As in [`Record::faults`].
    pub fault: u16,
    /// Whose.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// When, RFC 3339.
    pub at: String,
    /// As [`Record::number`].
    pub number: u64,
}

/// What a log says was spent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// By all.
    pub all: Spent,
    /// By each episode.
    pub episodes: BTreeMap<String, Spent>,
}

/// Adds up the records of a log, also those of attempts that were dropped or killed before they were recorded. A request that
/// began and has no end was cut off by a kill: the endpoint may have taken it, so it counts as unmetered. Seconds are
/// not in it: they are of attempts, not of requests. A log that is not there is empty; lines that are broken are left out, and
/// a file with more than [`MOST_BROKEN`] bytes of them is an error. Blocks.
pub fn count(path: &Path) -> std::io::Result<Counted> {
    let file = match beneath::open_file(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Counted::default()),
        Err(error) => return Err(error),
    };
    let mut counted = Counted::default();
    let mut begun: HashMap<(AttemptKey, String, u64), Guess> = HashMap::new();
    let mut reader = BufReader::new(file.take(LARGEST));
    let mut line = Vec::new();
    let mut broken = 0_u64;
    loop {
        line.clear();
        // A longer line comes in pieces, none of which is a record.
        if (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        match serde_json::from_slice::<Line>(&line) {
            Ok(Line::Ended(record)) if is_ours(&record.key, &record.at) => {
                counted.each(&record.key.episode, |spent| add(spent, &record));
                begun.remove(&(record.key, record.at, record.number));
            }
            Ok(Line::Begun(one)) if is_ours(&one.key, &one.at) => {
                begun.insert((one.key, one.at, one.number), one.guess);
            }
            // What it says stands in the record as well.
            Ok(Line::Faulted(_)) => {}
            Ok(_) | Err(_) => {
                broken += line.len() as u64;
                if broken > MOST_BROKEN {
                    return Err(no_log("tens of millions of bytes in it are no records"));
                }
            }
        }
        if begun.len() > MOST_KEPT || counted.episodes.len() > MOST_KEPT {
            return Err(no_log("it names more episodes, or requests without an end, than any run has"));
        }
    }
    for ((key, ..), guess) in begun {
        counted.each(&key.episode, |spent| {
            spent.cost_usd = None;
            spent.unmetered += 1;
            spent.guess = spent.guess.plus(guess);
        });
    }
    Ok(counted)
}

/// Whether names are as short as those that we write.
fn is_ours(key: &AttemptKey, at: &str) -> bool {
    key.episode.len() <= LONGEST_WORD && at.len() <= LONGEST_WORD
}

fn no_log(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("it is no log of requests: {why}"))
}

impl Counted {
    /// Does something with both accounts that an episode's request belongs to.
    fn each(&mut self, episode: &str, change: impl Fn(&mut Spent)) {
        change(&mut self.all);
        if !self.episodes.contains_key(episode) {
            self.episodes.insert(episode.to_owned(), Spent::default());
        }
        if let Some(of_episode) = self.episodes.get_mut(episode) {
            change(of_episode);
        }
    }
}

fn add(spent: &mut Spent, record: &Record) {
    let route = record.route.split_once(' ').and_then(|(method, path)| {
        let method = axum::http::Method::from_bytes(method.as_bytes()).ok()?;
        Kind::of(&method, path)
    });
    let answered = (200..300).contains(&record.status) && route.is_some_and(Kind::is_paid);
    if !answered && !record.unmetered {
        return;
    }
    // The sum so far is unknown once one of its parts was; before the first it is nothing.
    let known = spent.cost_usd.or((spent.requests == 0 && spent.unmetered == 0).then_some(0.0));
    spent.cost_usd = known.zip(record.cost_usd).map(|(sum, cost)| sum + cost);
    spent.known_usd += record.cost_usd.unwrap_or(0.0);
    spent.requests += u64::from(answered);
    spent.unmetered += u64::from(record.unmetered);
    spent.guess = spent.guess.plus(record.guess);
    spent.tokens = spent.tokens.plus(record.tokens);
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            // It only fails if the writer panicked, which is reported where it happens.
            let _ = writer.join();
        }
    }
}
