//! Attempts that are open, and what was seen of them.
//!
//! A [`Room`] is an open attempt; its address is `/a/<token>`. Requests on their way are [`Flight`]s.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::blame::Blame;
use crate::flight::{Flight, Guard};
use crate::ledger::{Books, Ledger};
use crate::log::Log;
use crate::oracle::Task;
use crate::request::Kind;
use crate::upstream::Backend;
use crate::waits::Waits;
use crate::{AttemptKey, Cut, Guess, Over, Record, Retry, Scope, Secret, Seen, Spent, Waiting};

/// Requests of one attempt that are with the endpoint at once; further ones wait.
const AT_ONCE: usize = 16;
/// Bytes of bodies of one attempt in memory at once, in KiB.
const BODIES_KIB: usize = 128 << 10;
/// How long a request waits for others that may spend what is left of a budget. An agent that reads its answer slowly is not to
/// hold up those of other episodes for ever.
const PATIENCE: Duration = Duration::from_mins(1);
/// Records of an attempt that are kept in memory.
const RECORDS: usize = 10_000;
/// Closed attempts that are still told from addresses that never were.
const REMEMBERED: usize = 4096;

/// Takes a lock; what a panicking holder left is whole, as every change here is.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all attempts share.
#[derive(Debug)]
pub(crate) struct House {
    pub(crate) backend: Backend,
    pub(crate) retry: Retry,
    pub(crate) blame: Blame,
    /// Whether tools pass that the endpoint runs itself.
    pub(crate) hosted_tools: bool,
    hidden: Vec<Secret>,
    /// Of the run: a gateway that takes another's place goes on with its accounts.
    pub(crate) books: Arc<Mutex<Books>>,
    /// A request has come to its end.
    pub(crate) landed: Arc<Notify>,
    /// `None` = not written, or no more.
    pub(crate) log: Mutex<Option<Log>>,
    rooms: Mutex<Rooms>,
}

#[derive(Debug, Default)]
struct Rooms {
    open: HashMap<String, Arc<Room>>,
    closed: HashSet<String>,
    order: VecDeque<String>,
}

/// What an address leads to.
pub(crate) enum Found {
    /// An open attempt.
    Open(Arc<Room>),
    /// One that has ended.
    Closed,
    /// Nothing.
    Nothing,
}

impl House {
    pub(crate) fn new(
        backend: Backend,
        retry: Retry,
        blame: Blame,
        hosted_tools: bool,
        hidden: Vec<Secret>,
        (books, landed): (Arc<Mutex<Books>>, Arc<Notify>),
        log: Option<Log>,
    ) -> Self {
        Self {
            backend,
            retry,
            blame,
            hosted_tools,
            hidden,
            books,
            landed,
            log: Mutex::new(log),
            rooms: Mutex::new(Rooms::default()),
        }
    }

    /// A text from outside, without the endpoint's key and what else is hidden.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.hidden.iter().fold(self.backend.scrub(text), |text, hidden| hidden.scrub(&text))
    }

    /// How long the endpoint may be silent. The scripted model is none: where it stalls it plays an agent that never comes
    /// to an end, and the attempt's own limit ends it.
    pub(crate) fn silence(&self) -> Duration {
        match self.backend {
            Backend::Http(_) => self.retry.silence,
            Backend::Oracle(_) => Duration::MAX,
        }
    }

    pub(crate) fn find(&self, token: &str) -> Found {
        let rooms = lock(&self.rooms);
        match rooms.open.get(token) {
            Some(room) => Found::Open(Arc::clone(room)),
            None if rooms.closed.contains(token) => Found::Closed,
            None => Found::Nothing,
        }
    }

    /// `left` = the time that the first budget of time leaves, and whose it is.
    pub(crate) fn open(
        &self,
        key: AttemptKey,
        task: Option<Task>,
        left: Option<(Duration, Scope)>,
    ) -> Arc<Room> {
        let now = Instant::now();
        let mut ledger = Ledger::default();
        ledger.open(now);
        let room = Arc::new(Room {
            token: random(),
            secret: random(),
            key,
            task,
            deadline: left.and_then(|(left, scope)| Some((now.checked_add(left)?, scope))),
            over: watch::Sender::new(None),
            closed: watch::Sender::new(false),
            waiting: watch::Sender::new(None),
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            bodies: Arc::new(Semaphore::new(BODIES_KIB)),
            notes: Mutex::new(Notes { ledger, ..Notes::default() }),
        });
        lock(&self.rooms).open.insert(room.token.clone(), Arc::clone(&room));
        room
    }

    /// Ends an attempt; once more does nothing.
    pub(crate) fn close(&self, room: &Room) {
        {
            let mut rooms = lock(&self.rooms);
            if rooms.open.remove(&room.token).is_some() {
                rooms.closed.insert(room.token.clone());
                rooms.order.push_back(room.token.clone());
                if rooms.order.len() > REMEMBERED
                    && let Some(oldest) = rooms.order.pop_front()
                {
                    rooms.closed.remove(&oldest);
                }
            }
        }
        let flights: Vec<Arc<Flight>> = {
            let mut notes = lock(&room.notes);
            if !notes.closed {
                notes.closed = true;
                notes.waits.close();
                notes.ledger.close(Instant::now());
            }
            notes.flights.values().cloned().collect()
        };
        room.closed.send_replace(true);
        for flight in flights {
            flight.settle(Some(Cut::Closed));
        }
    }

    /// Ends all attempts.
    pub(crate) fn close_all(&self) {
        let rooms: Vec<Arc<Room>> = lock(&self.rooms).open.values().cloned().collect();
        for room in rooms {
            self.close(&room);
        }
    }

    /// How many are open, and how many are remembered.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let rooms = lock(&self.rooms);
        assert_eq!(rooms.closed.len(), rooms.order.len());
        (rooms.open.len(), rooms.order.len())
    }
}

/// 128 random bits in hex digits.
fn random() -> String {
    let mut bytes = [0_u8; 16];
    // It fails only where the operating system has no randomness, and then nothing secret can be done at all.
    getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
    bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}

/// An open attempt.
#[derive(Debug)]
pub(crate) struct Room {
    token: String,
    secret: String,
    pub(crate) key: AttemptKey,
    pub(crate) task: Option<Task>,
    /// When its first budget of time is spent, and which.
    deadline: Option<(Instant, Scope)>,
    over: watch::Sender<Option<Over>>,
    closed: watch::Sender<bool>,
    waiting: watch::Sender<Option<Waiting>>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) ledger: Ledger,
    records: Vec<Record>,
    /// What faults of the endpoint took.
    pub(crate) waits: Waits,
    /// The last answer of a model was that the context is too long.
    pub(crate) overflow: Option<String>,
    /// Answers in a row that the endpoint broke off.
    pub(crate) broken: u32,
    pub(crate) flights: HashMap<u64, Arc<Flight>>,
    next: u64,
    closed: bool,
}

impl Notes {
    /// Keeps a record, as long as there are not too many.
    pub(crate) fn keep(&mut self, record: Record) {
        if self.records.len() < RECORDS {
            self.records.push(record);
        }
    }
}

impl Room {
    /// Whether it is the key of this attempt.
    pub(crate) fn is_key(&self, given: &str) -> bool {
        given == self.secret
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // It fails only if the sender is gone, and it is a part of this room.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Says why no further request is answered; the first word counts.
    pub(crate) fn end(&self, over: Over) {
        self.over.send_if_modified(|held| {
            let first = held.is_none();
            if first {
                *held = Some(over);
            }
            first
        });
    }

    /// A request waits for the endpoint after a fault, or no more.
    pub(crate) fn waits_for(&self, flight: u64, what: Option<Waiting>) {
        // Told while it is held, so that what was true last is told last.
        let mut notes = lock(&self.notes);
        let shown = notes.waits.show(flight, what);
        self.waiting.send_if_modified(|held| {
            let changed = *held != shown;
            *held = shown;
            changed
        });
    }

    /// Why no further request is to be forwarded, by all that is known now.
    pub(crate) fn over_by_now(&self, house: &House) -> Option<Over> {
        if let Some(over) = self.over.borrow().clone() {
            return Some(over);
        }
        let late = self.deadline.filter(|(at, _)| *at <= Instant::now());
        let over = match late {
            Some((_, scope)) => out_of_time(scope),
            None => {
                let notes = lock(&self.notes);
                lock(&house.books).over(Some(&notes.ledger), &self.key.episode)?
            }
        };
        self.end(over);
        self.over.borrow().clone()
    }

    /// A request begins; `None` = the attempt is closed.
    pub(crate) fn begin(
        self: &Arc<Self>,
        house: &Arc<House>,
        kind: Kind,
        route: String,
        request_bytes: usize,
    ) -> Option<Guard> {
        let mut notes = lock(&self.notes);
        if notes.closed {
            return None;
        }
        let (room, house) = (Arc::clone(self), Arc::clone(house));
        let flight = Arc::new(Flight::new(notes.next, room, house, kind, route, request_bytes));
        notes.next += 1;
        notes.flights.insert(flight.id, Arc::clone(&flight));
        Some(Guard::new(flight))
    }

    /// Waits until what a request may come to is sure not to be spent by those that are on their way. Why it is not to be
    /// forwarded, where a budget is spent by then.
    pub(crate) async fn hold(&self, house: &House, flight: &Flight, most: Guess) -> Result<(), Over> {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut landed = std::pin::pin!(house.landed.notified());
            // Before it is looked: what lands in between is not to be missed.
            landed.as_mut().enable();
            if let Some(over) = self.over_by_now(house) {
                return Err(over);
            }
            if flight.hold(most, Instant::now() >= until) {
                return Ok(());
            }
            let _ = tokio::time::timeout_at(until, landed).await;
        }
    }

    fn seen(&self, house: &House) -> Seen {
        let notes = lock(&self.notes);
        let books = lock(&house.books);
        let over = self.over.borrow().clone();
        Seen {
            records: notes.records.clone(),
            spent: notes.ledger.spent(Instant::now(), books.price()),
            over: over.or_else(|| notes.overflow.clone().map(|message| Over::ContextOverflow { message })),
        }
    }
}

/// An open attempt. Dropping it closes it.
#[derive(Debug)]
pub struct Attempt {
    room: Arc<Room>,
    house: Arc<House>,
    bases: Vec<String>,
}

impl Attempt {
    pub(crate) fn new(house: Arc<House>, room: Arc<Room>, addresses: &[std::net::SocketAddr]) -> Self {
        let bases = addresses.iter().map(|address| format!("http://{address}/a/{}", room.token)).collect();
        Self { room, house, bases }
    }

    /// Base URL for the agent, for the address with this index (the last one if there are fewer); without a slash at the
    /// end and without `/v1`.
    pub fn base_url(&self, address: usize) -> String {
        self.bases.get(address).or(self.bases.last()).cloned().unwrap_or_default()
    }

    /// Its path on every address: `/a/<token>`, for boxes that reach the gateway by a name of their own.
    pub fn path(&self) -> String {
        format!("/a/{}", self.room.token)
    }

    /// What the agent uses as its key.
    pub fn key(&self) -> &str {
        &self.room.secret
    }

    /// What was seen so far. Requests on their way are not in it.
    pub fn seen(&self) -> Seen {
        self.room.seen(&self.house)
    }

    /// What was spent so far; cheaper than [`Attempt::seen`].
    pub fn spent(&self) -> Spent {
        let notes = lock(&self.room.notes);
        notes.ledger.spent(Instant::now(), lock(&self.house.books).price())
    }

    /// Why it is over by now, if it is; [`Attempt::over`] without the wait.
    pub fn over_now(&self) -> Option<Over> {
        self.room.over_by_now(&self.house)
    }

    /// Waits until the attempt is over for a reason of the gateway's: a budget, or the endpoint. A budget of time is over
    /// when its time has come, the others when a request finds nothing left, so that the agent can still use the answer that
    /// it got last.
    pub async fn over(&self) -> Over {
        let mut over = self.room.over.subscribe();
        let late = async {
            match self.room.deadline {
                Some((at, scope)) => {
                    tokio::time::sleep_until(at).await;
                    self.room.end(out_of_time(scope));
                }
                None => std::future::pending().await,
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            Ok(over) = over.wait_for(Option::is_some) => {
                if let Some(over) = over.clone() {
                    return over;
                }
            }
            () = late => {}
        }
        std::future::pending().await
    }

    /// Whether a request waits for the endpoint after a fault, and how it goes on.
    pub fn waiting(&self) -> watch::Receiver<Option<Waiting>> {
        self.room.waiting.subscribe()
    }

    /// Ends it: later requests get 410, those on their way are cut off and counted.
    pub fn close(&self) -> Seen {
        self.house.close(&self.room);
        self.room.seen(&self.house)
    }

    /// Why the endpoint, and not the agent, is to blame for the end of a closed attempt that had `limit`, where it is: see
    /// `waits.rs`. `timed_out` = the limit ended it; else its harness says that the endpoint failed. May ask the endpoint.
    pub async fn blame(&self, limit: Duration, timed_out: bool) -> Option<String> {
        let doubt = lock(&self.room.notes).waits.doubt(limit, timed_out)?;
        self.house.blame.judge(&self.house, &self.room.key, doubt).await
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.house.close(&self.room);
    }
}

/// A budget of time is spent.
fn out_of_time(scope: Scope) -> Over {
    Over::Budget { scope, of: "seconds".to_owned() }
}

/// Takes as much of the attempt's memory as a body of `bytes` needs.
pub(crate) async fn room_for(room: &Room, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let kib = u32::try_from(bytes.div_ceil(1024).clamp(1, BODIES_KIB)).ok()?;
    Arc::clone(&room.bodies).acquire_many_owned(kib).await.ok()
}

/// How long a silence may last, for messages.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64().ceil())
}

#[cfg(test)]
mod tests;
