//! What changed, numbered, so that a caller can wait for more.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::api;

/// How many changes are remembered. A request for older ones is answered as if everything had changed.
const REMEMBERED: usize = 512;

/// One change: sources whose state or runs changed, and the ids of runs that did.
#[derive(Debug, Clone, Default)]
struct Change {
    sources: BTreeSet<i64>,
    runs: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Log {
    last: u64,
    recent: VecDeque<Change>,
}

/// The log of changes of this process, fed by its own doing and by the store's change log.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    log: Mutex<Log>,
    grew: Condvar,
}

impl Changes {
    /// The number of the last change.
    pub(crate) fn last(&self) -> u64 {
        model::lock(&self.log).last
    }

    /// Adds a change and wakes who waits.
    pub(crate) fn add(&self, sources: impl IntoIterator<Item = i64>, runs: impl IntoIterator<Item = String>) {
        let mut log = model::lock(&self.log);
        log.last += 1;
        log.recent
            .push_back(Change { sources: sources.into_iter().collect(), runs: runs.into_iter().collect() });
        if log.recent.len() > REMEMBERED {
            log.recent.pop_front();
        }
        drop(log);
        self.grew.notify_all();
    }

    /// Waits until something changed after `since`, at most for `timeout`.
    // words: ok: as in the request.
    pub(crate) fn wait(&self, since: u64, timeout: Duration) -> api::Changes {
        let until = Instant::now() + timeout;
        let mut log = model::lock(&self.log);
        while log.last == since {
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                break;
            }
            log = self.grew.wait_timeout(log, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
        // Numbers that are greater than ours are from the lifetime of another process.
        let unseen = log.last.checked_sub(since).and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        let mut all = Change::default();
        for change in log.recent.iter().rev().take(unseen) {
            all.sources.extend(&change.sources);
            all.runs.extend(change.runs.iter().cloned());
        }
        api::Changes {
            change: log.last,
            everything: unseen > log.recent.len(),
            sources: all.sources.into_iter().collect(),
            runs: all.runs.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_the_change_that_was_missed() {
        let changes = Changes::default();
        changes.add([1], ["a".to_owned()]);
        changes.add([2], []);
        let missed = changes.wait(1, Duration::ZERO);
        assert_eq!((missed.change, missed.sources, missed.runs.len()), (2, vec![2], 0));
        assert!(changes.wait(2, Duration::ZERO).sources.is_empty());
    }

    #[test]
    fn who_missed_too_much_is_told_that_everything_may_have_changed() {
        let changes = Changes::default();
        for source in 0..=i64::try_from(REMEMBERED).expect("a small number") {
            changes.add([source], []);
        }
        assert!(changes.wait(0, Duration::ZERO).everything);
        assert!(!changes.wait(1, Duration::ZERO).everything);
        assert!(changes.wait(u64::MAX, Duration::ZERO).everything, "a number of another process");
    }

    #[test]
    fn a_waiter_is_woken() {
        let changes = std::sync::Arc::new(Changes::default());
        let waiting = std::sync::Arc::clone(&changes);
        let waiter = std::thread::spawn(move || waiting.wait(0, Duration::from_mins(1)));
        changes.add([7], []);
        assert_eq!(waiter.join().expect("waiter").sources, vec![7]);
    }
}
