//! What an attempt's time went to: its agent, or an endpoint that it waited for.
//!
//! An attempt has a limit of time, which holds inside its box and knows nothing of the endpoint. So an attempt that the
//! limit ended need not have failed: its agent may have waited. It is the endpoint's where
//!
//! - faults of the endpoint took a tenth of the time or more: tries that came to nothing, the waits behind them, answers
//!   that broke off. With nine tenths of what was promised an agent that had not finished was slow. Time in which another
//!   request of the attempt was being answered is not lost;
//! - or a request was still being tried again after a fault when the time was up, or was given up by its client;
//! - or a request was silent to the end, for a tenth of the time or a minute, and a small request *of ours* gets no
//!   answer, or a fault, either.
//!
//! So nobody is censored at will. A request that is kept open on purpose, or asks for a very long answer, is met by an
//! endpoint that answers us, at the end or when we have waited for it as long as we wait; what looks like a fault for the
//! owner of the key is none before a question of ours was refused, too; requests that go wrong beside others that are
//! answered excuse nothing; what an agent hangs up on while pieces of the answer still come is its own; and the time before
//! a request that was answered in the end counts only as far as a fault was in it.
//!
//! The same questions, but for the first, are asked where a harness says that its endpoint failed and nothing here has
//! ended the attempt: clients give up earlier than we do.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Route, Waiting};

/// The share of its limit that an attempt may lose without an excuse: one part of so many.
const SHARE: u32 = 10;
/// Silence of an endpoint that is looked into, where a tenth of the limit is longer.
const SILENT: Duration = Duration::from_mins(1);
/// The last request counts as the end of an attempt that was ended from outside if it ended as shortly before: an agent that
/// is told to end (SIGTERM) hangs up, and has fifteen seconds then.
const LAG: Duration = Duration::from_secs(30);
/// Most of the last requests that are remembered.
const MOST_UNANSWERED: usize = 64;
/// Bounds of how long our question may take.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));

/// What faults of the endpoint took of an attempt.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Times in which a request waited because of faults: apart from each other, in order.
    spans: Vec<(Instant, Instant)>,
    /// Times in which requests were answered: likewise.
    served: Vec<(Instant, Instant)>,
    /// The last fault.
    said: Option<String>,
    /// The last requests of the harness's own API that came to nothing.
    unanswered: Vec<Unanswered>,
    /// Requests that wait now.
    now: BTreeMap<u64, Waiting>,
    closed: Option<Instant>,
}

/// A request that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) route: Route,
    /// Since when nothing had come from the endpoint.
    pub(crate) silent_since: Instant,
    /// When it was given up.
    pub(crate) until: Instant,
    /// What the endpoint did last, if that was a fault.
    pub(crate) fault: Option<String>,
}

/// What is to be found out about an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Nothing: it is the endpoint's, and why.
    None(String),
    /// Whether the endpoint answers us on this API within this time, after so long a silence.
    Silent { route: Route, patience: Duration, silent: Duration },
}

impl Waits {
    /// A request waited because of faults until now.
    pub(crate) fn lost(&mut self, since: Instant, until: Instant, fault: Option<String>) {
        join(&mut self.spans, since, until);
        self.said = fault.or(self.said.take());
    }

    /// The endpoint answered a request from its last try until now.
    pub(crate) fn served(&mut self, since: Instant, until: Instant) {
        join(&mut self.served, since, until);
    }

    /// A request has ended without an answer.
    pub(crate) fn unanswered(&mut self, what: Unanswered) {
        let until = what.until;
        self.unanswered.retain(|other| other.until + LAG >= until);
        if self.unanswered.len() < MOST_UNANSWERED {
            self.unanswered.push(what);
        }
    }

    /// The attempt is over.
    pub(crate) fn close(&mut self) {
        self.closed.get_or_insert(Instant::now());
    }

    /// A request waits, or no more. What is to be shown: the one that was tried most often.
    pub(crate) fn show(&mut self, flight: u64, what: Option<Waiting>) -> Option<Waiting> {
        match what {
            Some(what) => self.now.insert(flight, what),
            None => self.now.remove(&flight),
        };
        self.now.values().max_by_key(|waiting| waiting.tries).copied()
    }

    /// What the end of an attempt with this limit is to be put down to; `None` = its agent.
    pub(crate) fn doubt(&self, limit: Duration, timed_out: bool) -> Option<Doubt> {
        let share = limit / SHARE;
        let lost = beside(&self.spans, &self.served);
        if timed_out && lost >= share && !lost.is_zero() {
            let said = self.said.as_deref().unwrap_or("it did not answer");
            let (lost, limit) = (crate::attempt::seconds(lost), crate::attempt::seconds(limit));
            return Some(Doubt::None(format!(
                "{lost} of {limit} went into waiting for it; the last: {said}"
            )));
        }
        let closed = self.closed.unwrap_or_else(Instant::now);
        let answered = self.served.last().map(|(_, until)| *until);
        let last = self
            .unanswered
            .iter()
            .filter(|one| !timed_out || closed.saturating_duration_since(one.until) <= LAG)
            // While it waited, another one was answered, or one after it.
            .filter(|one| answered.is_none_or(|answered| answered <= one.silent_since))
            .max_by_key(|one| (one.fault.is_some(), one.until - one.silent_since))?;
        if let Some(fault) = &last.fault {
            return Some(Doubt::None(format!("{fault}; no answer had come when the attempt ended")));
        }
        let silent = last.until.saturating_duration_since(last.silent_since);
        let patience = share.clamp(PATIENCE.0, PATIENCE.1);
        (silent >= share.min(SILENT)).then_some(Doubt::Silent { route: last.route, patience, silent })
    }
}

/// Adds a time to others, which are and stay apart from each other and in order.
fn join(spans: &mut Vec<(Instant, Instant)>, since: Instant, until: Instant) {
    let (mut since, mut until) = (since, until);
    spans.retain(|&(begin, end)| {
        let apart = end < since || begin > until;
        if !apart {
            (since, until) = (since.min(begin), until.max(end));
        }
        apart
    });
    let at = spans.partition_point(|&(begin, _)| begin < since);
    spans.insert(at, (since, until));
}

/// How long the first times are without the second; both apart from each other and in order.
fn beside(spans: &[(Instant, Instant)], without: &[(Instant, Instant)]) -> Duration {
    let both = |(since, until): (Instant, Instant)| -> Duration {
        without.iter().map(|(begin, end)| until.min(*end).saturating_duration_since(since.max(*begin))).sum()
    };
    spans.iter().map(|&(since, until)| (until - since).saturating_sub(both((since, until)))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(20);

    fn at(begin: Instant, seconds: u64) -> Instant {
        begin + Duration::from_secs(seconds)
    }

    fn closed(waits: &mut Waits, when: Instant) {
        waits.closed = Some(when);
    }

    #[test]
    fn times_that_were_lost_count_once() {
        let t = Instant::now();
        let mut waits = Waits::default();
        for (since, until) in [(0, 10), (5, 20), (30, 40), (18, 50), (60, 70)] {
            waits.lost(at(t, since), at(t, until), None);
        }
        assert_eq!(waits.spans, [(at(t, 0), at(t, 50)), (at(t, 60), at(t, 70))]);
    }

    #[test]
    fn a_tenth_of_the_time_is_the_endpoints() {
        let t = Instant::now();
        let mut waits = Waits::default();
        waits.lost(at(t, 0), at(t, 119), Some("429".to_owned()));
        closed(&mut waits, at(t, 1200));
        assert_eq!(waits.doubt(LIMIT, true), None, "it had the rest, and the request was answered");
        waits.lost(at(t, 300), at(t, 301), None);
        let Some(Doubt::None(why)) = waits.doubt(LIMIT, true) else { panic!("it is the endpoint's") };
        assert_eq!(why, "120 s of 1200 s went into waiting for it; the last: 429");
        assert_eq!(waits.doubt(LIMIT, false), None, "its harness had an answer in the end");
        assert_eq!(Waits::default().doubt(Duration::ZERO, true), None);
    }

    #[test]
    fn what_is_unanswered_at_the_end_is_looked_into() {
        let t = Instant::now();
        let mut waits = Waits::default();
        let silent = |since, until, fault: Option<&str>| Unanswered {
            route: Route::Messages,
            silent_since: at(t, since),
            until: at(t, until),
            fault: fault.map(str::to_owned),
        };
        closed(&mut waits, at(t, 1210));
        waits.unanswered(silent(1150, 1200, None));
        assert_eq!(waits.doubt(LIMIT, true), None, "a model may think for fifty seconds");
        waits.unanswered(silent(1140, 1200, None));
        let asked = Doubt::Silent {
            route: Route::Messages,
            patience: Duration::from_mins(1),
            silent: Duration::from_mins(1),
        };
        assert_eq!(waits.doubt(LIMIT, true), Some(asked));
        waits.unanswered(silent(1199, 1200, Some("503")));
        assert!(matches!(waits.doubt(LIMIT, true), Some(Doubt::None(why)) if why.starts_with("503")));
        let mut waits = Waits::default();
        closed(&mut waits, at(t, 1210));
        waits.unanswered(silent(100, 1100, Some("503")));
        assert_eq!(waits.doubt(LIMIT, true), None, "what it did in the last minutes was its own");
        assert!(waits.doubt(LIMIT, false).is_some(), "its harness gave up over it");
        waits.served(at(t, 1190), at(t, 1195));
        assert_eq!(waits.doubt(LIMIT, false), None, "a later request was answered");
    }

    #[test]
    fn requests_beside_others_that_are_answered_excuse_nothing() {
        let t = Instant::now();
        let one = |since, until, fault: Option<&str>| Unanswered {
            route: Route::Messages,
            silent_since: at(t, since),
            until: at(t, until),
            fault: fault.map(str::to_owned),
        };
        // In whichever order they were cut off.
        for turned in [false, true] {
            let mut waits = Waits::default();
            let mut cut = [one(1000, 1200, None), one(1190, 1200, Some("429"))];
            if turned {
                cut.reverse();
            }
            for one in cut {
                waits.unanswered(one);
            }
            closed(&mut waits, at(t, 1200));
            assert!(matches!(waits.doubt(LIMIT, true), Some(Doubt::None(_))));
            waits.served(at(t, 1180), at(t, 1199));
            assert_eq!(waits.doubt(LIMIT, true), None);
        }
        let mut waits = Waits::default();
        waits.served(at(t, 0), at(t, 100));
        waits.lost(at(t, 50), at(t, 250), Some("429".to_owned()));
        waits.served(at(t, 140), at(t, 200));
        closed(&mut waits, at(t, 1200));
        assert_eq!(waits.doubt(LIMIT, true), None, "90 s of 200 s are lost");
    }

    #[test]
    fn the_request_that_was_tried_most_often_is_shown() {
        let mut waits = Waits::default();
        let waiting = |tries| Waiting { status: 429, tries, of: 6 };
        assert_eq!(waits.show(1, Some(waiting(3))), Some(waiting(3)));
        assert_eq!(waits.show(2, Some(waiting(2))), Some(waiting(3)));
        assert_eq!(waits.show(1, None), Some(waiting(2)));
        assert_eq!(waits.show(2, None), None);
        assert_eq!(waits.show(2, None), None);
    }
}
