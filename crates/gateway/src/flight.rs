//! One request on its way.
//!
//! A flight is settled exactly once, by whoever ends it: the end of the answer, the agent that hangs up (its [`Guard`] is
//! dropped), or the close of the attempt. So nothing is missing from what an attempt gives, and nothing is counted twice.
//!
//! Locks are taken in the order flight, room, books.

use std::sync::{Arc, Mutex, MutexGuard};

use model::Tokens;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::attempt::{House, Notes, Room, lock};
use crate::ledger::{Entry, cost};
use crate::log::{Begun, Faulted};
use crate::request::Kind;
use crate::usage::{Meter, Tally};
use crate::waits::Unanswered;
use crate::{AttemptKey, Cut, Guess, Over, Record, Waiting, clock};

/// A request on its way.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) id: u64,
    pub(crate) room: Arc<Room>,
    pub(crate) house: Arc<House>,
    pub(crate) kind: Kind,
    route: String,
    at: String,
    started: Instant,
    request_bytes: u64,
    progress: Mutex<Progress>,
}

/// Tokens of an answer that are held where the request does not say how long it may get, and at most where it does.
const USUAL_ANSWER: u64 = 4096;
const LONGEST_ANSWER: u64 = 65_536;

/// What is said of an answer that ends too early.
const BROKEN: &str = "the connection broke off";

/// How far a request has come.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) model: Option<String>,
    /// What the agent gets; 0 = not known yet.
    pub(crate) status: u16,
    pub(crate) faults: Vec<u16>,
    pub(crate) tries: u32,
    /// A try is with the endpoint, or was answered.
    pub(crate) taken: bool,
    pub(crate) meter: Option<Meter>,
    /// What the scripted model says that it counts.
    pub(crate) told: Option<Tokens>,
    /// The endpoint said that the context is too long.
    pub(crate) overflow: Option<String>,
    /// When the try under way began.
    asked: Instant,
    /// When the endpoint was last heard: the begin of the try, or a piece of its answer.
    heard: Instant,
    /// Since when what the agent waits for is lost to faults of the endpoint; nothing once it was answered.
    lost_since: Option<Instant>,
    /// Its last fault, as long as no answer has come after it.
    fault: Option<String>,
    /// What is held for it in the accounts.
    held: Option<Guess>,
    settled: bool,
}

impl Progress {
    fn new(now: Instant) -> Self {
        Self {
            model: None,
            status: 0,
            faults: Vec::new(),
            tries: 0,
            taken: false,
            meter: None,
            told: None,
            overflow: None,
            asked: now,
            heard: now,
            lost_since: None,
            fault: None,
            held: None,
            settled: false,
        }
    }

    /// The endpoint is asked, for the first time or once more.
    pub(crate) fn ask(&mut self, tries: u32) {
        let now = Instant::now();
        (self.asked, self.heard) = (now, now);
        self.tries = tries;
        self.taken = true;
        self.meter = None;
    }

    /// Something came from the endpoint.
    pub(crate) fn hear(&mut self) {
        self.heard = Instant::now();
    }
}

impl Flight {
    /// A request that has just come.
    pub(crate) fn new(
        id: u64,
        room: Arc<Room>,
        house: Arc<House>,
        kind: Kind,
        route: String,
        request_bytes: usize,
    ) -> Self {
        let now = Instant::now();
        Self {
            id,
            room,
            house,
            kind,
            route,
            at: clock::now(),
            started: now,
            request_bytes: request_bytes as u64,
            progress: Mutex::new(Progress::new(now)),
        }
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// Where its waits derive from.
    pub(crate) fn seed(&self) -> u64 {
        let AttemptKey { episode, turn, attempt } = &self.room.key;
        crate::retry::seed(&format!("{episode}/{turn}/{attempt}/{}", self.id))
    }

    /// Which request of the attempt, from 1.
    fn number(&self) -> u64 {
        self.id + 1
    }

    /// Holds what it may come to; false where it has to wait for others, unless it is held `anyway`. Its end gives it back.
    pub(crate) fn hold(&self, most: Guess, anyway: bool) -> bool {
        let mut progress = self.progress();
        if progress.settled {
            return true;
        }
        let mut notes = lock(&self.room.notes);
        let held = lock(&self.house.books).hold(&mut notes.ledger, &self.room.key.episode, most, anyway);
        progress.held = held.then_some(most);
        held
    }

    /// What budgets hold for it while it is on its way, when it has asked for an answer of at most so many tokens.
    pub(crate) fn most(&self, asked: Option<u64>) -> Guess {
        let output = asked.map_or(USUAL_ANSWER, |asked| asked.min(LONGEST_ANSWER));
        let guess = Tokens { input: Some(self.request_bytes / 4), cached: None, output: Some(output) };
        Entry { taken: true, guess, ..Entry::default() }.guessed(lock(&self.house.books).price())
    }

    /// It is about to be sent. Written down, so that it counts as spent where this program is killed before its end.
    pub(crate) fn announce(&self) {
        if !self.kind.is_paid() {
            return;
        }
        let log = lock(&self.house.log);
        let Some(log) = log.as_ref() else { return };
        let guess = Tokens { input: Some(self.request_bytes / 4), cached: None, output: Some(0) };
        let entry = Entry { taken: true, guess, ..Entry::default() };
        log.begin(&Begun {
            number: self.number(),
            key: self.room.key.clone(),
            at: self.at.clone(),
            guess: entry.guessed(lock(&self.house.books).price()),
        });
    }

    /// A try came to nothing; whose fault that is may still have to be found out.
    pub(crate) fn failed(&self, status: u16) {
        let mut progress = self.progress();
        progress.faults.push(status);
        progress.taken = false;
        progress.meter = None;
    }

    /// The try that came to nothing did so by a fault of the endpoint's.
    pub(crate) fn fault(&self, status: u16, message: &str) {
        {
            let mut progress = self.progress();
            progress.fault = Some(message.to_owned());
            if progress.lost_since.is_none() {
                progress.lost_since = Some(progress.asked);
            }
        }
        self.write_fault(status);
    }

    /// It is tried again after a wait: whoever watches the attempt is told.
    pub(crate) fn waits(&self, status: u16, tries: u32) {
        if self.house.blame.concerns(self.kind) {
            self.room.waits_for(self.id, Some(Waiting { status, tries, of: self.house.retry.tries }));
        }
    }

    /// The endpoint has answered, after faults or without: what is waited for from now on is the answer.
    pub(crate) fn answered(&self) {
        let (lost, fault) = {
            let mut progress = self.progress();
            progress.hear();
            // The waiting for this answer is not lost any more.
            (progress.lost_since.take().map(|since| (since, progress.asked)), progress.fault.take())
        };
        if let Some((since, until)) = lost
            && self.house.blame.concerns(self.kind)
        {
            lock(&self.room.notes).waits.lost(since, until, fault);
            self.room.waits_for(self.id, None);
        }
    }

    /// What looked like a fault of the endpoint is the agent's own, or may be: until it is found out, nothing is lost to it.
    pub(crate) fn absolve(&self) {
        {
            let mut progress = self.progress();
            progress.fault = None;
            progress.lost_since = None;
        }
        if self.house.blame.concerns(self.kind) {
            self.room.waits_for(self.id, None);
        }
    }

    /// A fault is written down when it happens, and not only with the request at its end: whoever watches sees it.
    fn write_fault(&self, status: u16) {
        if let Some(log) = lock(&self.house.log).as_ref().filter(|_| self.kind.is_paid()) {
            log.fault(&Faulted {
                fault: status,
                key: self.room.key.clone(),
                at: clock::now(),
                number: self.number(),
            });
        }
    }

    /// It has come to an end; the first call counts.
    pub(crate) fn settle(&self, cut: Option<Cut>) {
        let mut progress = self.progress();
        if std::mem::replace(&mut progress.settled, true) {
            return;
        }
        let paid = self.kind.is_paid();
        let good = (200..300).contains(&progress.status);
        let whole = progress.meter.as_ref().is_some_and(Meter::is_whole);
        let error =
            progress.meter.as_ref().and_then(|meter| meter.error().map(|error| self.house.scrub(error)));
        // One of the agent's own making is an answer like any other.
        let faulty = good
            && error.is_some()
            && progress.overflow.is_none()
            && !progress.meter.as_ref().is_some_and(Meter::is_own_error);
        let cut = match cut {
            Some(Cut::Agent | Cut::Closed) | None if faulty => Some(Cut::Endpoint),
            // It has what it came for; many clients hang up without reading the last bytes.
            Some(Cut::Agent | Cut::Closed) if whole => None,
            cut => cut,
        };
        let status = match (progress.status, cut) {
            (0, Some(Cut::Closed)) => 410,
            (0, _) => 499,
            (status, _) => status,
        };
        let mut tally = progress.meter.as_ref().map(Meter::tally).unwrap_or_default();
        if let Some(tokens) = progress.told {
            tally = Tally { tokens, written: None };
        }
        let taken = paid && progress.taken && (good || progress.status == 0);
        if !taken {
            tally = Tally::default();
        }
        if cut == Some(Cut::Endpoint) {
            progress.faults.push(0);
            progress.lost_since.get_or_insert(self.started);
            progress.fault = Some(error.clone().unwrap_or_else(|| BROKEN.to_owned()));
            self.write_fault(0);
        }

        let mut notes = lock(&self.room.notes);
        let mut books = lock(&self.house.books);
        let entry = Entry {
            answered: paid && good,
            taken,
            tally,
            cost_usd: cost(books.price(), &tally).filter(|_| taken),
            guess: Tokens {
                input: Some(self.request_bytes / 4),
                cached: None,
                output: progress.meter.as_ref().map(Meter::guess),
            },
        };
        if let Some(held) = progress.held.take() {
            books.release(&mut notes.ledger, &self.room.key.episode, held);
        }
        books.add(&mut notes.ledger, &self.room.key.episode, &entry);
        let guess = entry.guessed(books.price());
        drop(books);

        let record = Record {
            key: self.room.key.clone(),
            at: self.at.clone(),
            route: self.route.clone(),
            model: progress.model.take(),
            tokens: tally.tokens,
            cost_usd: entry.cost_usd,
            seconds: self.started.elapsed().as_secs_f64(),
            status,
            retries: progress.tries.saturating_sub(1),
            faults: std::mem::take(&mut progress.faults),
            cut,
            unmetered: taken && !tally.is_whole(),
            probe: false,
            number: self.number(),
            guess,
        };
        if let Some(log) = lock(&self.house.log).as_ref() {
            log.append(&record);
        }
        notes.keep(record);
        notes.flights.remove(&self.id);
        if self.house.blame.concerns(self.kind) {
            self.conclude(&mut notes, &mut progress, cut, good);
        }
        drop(notes);
        self.house.landed.notify_waiters();
        self.room.waits_for(self.id, None);
    }

    /// What its end says of the endpoint and of the context.
    fn conclude(&self, notes: &mut Notes, progress: &mut Progress, cut: Option<Cut>, good: bool) {
        let now = Instant::now();
        let fault = progress.fault.take();
        if let Some(since) = progress.lost_since.take() {
            notes.waits.lost(since, now, fault.clone());
        }
        if good && cut != Some(Cut::Endpoint) {
            notes.waits.served(progress.asked, progress.heard);
        }
        if let (Some(route), Some(_)) = (self.kind.route(), cut) {
            notes.waits.unanswered(Unanswered {
                route,
                silent_since: progress.heard,
                until: now,
                fault: fault.clone(),
            });
        }
        match progress.overflow.take() {
            Some(message) => notes.overflow = Some(message),
            None if good && cut.is_none() => notes.overflow = None,
            None => {}
        }
        if cut == Some(Cut::Endpoint) {
            notes.broken += 1;
            if notes.broken >= self.house.retry.tries.max(1) {
                let broken = notes.broken;
                let message = fault.unwrap_or_else(|| BROKEN.to_owned());
                self.room.end(Over::Endpoint {
                    message: format!(
                        "{broken} answers in a row broke off in the middle; the last: {message}"
                    ),
                });
            }
        } else if good && cut.is_none() {
            notes.broken = 0;
        }
    }
}

/// Settles a request as cut off by the agent, if nobody has settled it before, when it is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) flight: Arc<Flight>,
    /// Given back when the request has ended.
    held: Vec<OwnedSemaphorePermit>,
}

impl Guard {
    pub(crate) fn new(flight: Arc<Flight>) -> Self {
        Self { flight, held: Vec::new() }
    }

    /// Keeps a permit as long as the request is on its way.
    pub(crate) fn hold(&mut self, permit: OwnedSemaphorePermit) {
        self.held.push(permit);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.flight.settle(Some(Cut::Agent));
    }
}
