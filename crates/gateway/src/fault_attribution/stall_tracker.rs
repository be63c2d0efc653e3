//! Where the time of an attempt went: to its agent, or to an endpoint that it waited for.
//!
//! The time limit of an attempt holds in its container and knows nothing of the endpoint. So an attempt that the limit ended
//! need not have failed: its agent may have waited. The tracker collects the facts. The rules are in `table.rs`.
//!
//! Time counts as lost only while no other request of the attempt is being answered. The time before a request that was
//! answered in the end counts only up to its last fault.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::table::{Answers, EndedBy, LastRequest, LostTime};
use crate::record::WaitingRequest;
use crate::route::Route;
use crate::text::seconds;

/// The share of its limit that an attempt may lose: one part of this many. An agent that has not finished with nine tenths of
/// its time was slow.
const SHARE: u32 = 10;
/// Silence of an endpoint that is probed, where a tenth of the limit is longer.
const SILENCE: Duration = Duration::from_mins(1);
/// A last request may finish this much before its attempt. An agent that receives SIGTERM hangs up, and then has fifteen
/// seconds.
const LAG: Duration = Duration::from_secs(30);
/// Most unanswered requests that are remembered.
const MOST_UNANSWERED: usize = 64;
/// Shortest and longest time that a probe may take.
const PROBE_PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));

/// What faults of the endpoint took of an attempt.
#[derive(Debug, Default)]
pub(crate) struct StallTracker {
    /// Times in which a request waited because of faults: disjoint and in order.
    lost: Vec<(Instant, Instant)>,
    /// Times in which requests were answered: disjoint and in order.
    answered: Vec<(Instant, Instant)>,
    last_fault: Option<String>,
    /// Silent ends of requests that stayed unanswered without a fault: disjoint and in order.
    silent: Vec<(Instant, Instant)>,
    /// The last requests of the harness's API that stayed unanswered.
    unanswered: Vec<UnansweredRequest>,
    /// Requests that wait now.
    waiting: BTreeMap<u64, WaitingRequest>,
    closed: Option<Instant>,
    /// Whether the harness sent a request of its API.
    was_sent: bool,
    /// Whether the endpoint sent anything, an error included.
    was_heard: bool,
    /// Whether an answer was complete.
    has_answer: bool,
    /// The error that the last finished request was answered with.
    last_error: Option<RequestError>,
    /// The last request of an API that the harness is not said to speak, and what came of it.
    other_api: Option<String>,
}

/// An error in place of an answer.
#[derive(Debug)]
struct RequestError {
    /// When its request began.
    began: Instant,
    message: String,
}

/// What a finished request of the harness's API says of the endpoint.
#[derive(Debug)]
pub(crate) struct FinishedRequest {
    /// When it began.
    pub(crate) began: Instant,
    /// The endpoint sent something, an error included.
    pub(crate) was_heard: bool,
    /// Its answer is complete.
    pub(crate) is_complete: bool,
    /// The error that the agent received in place of an answer.
    pub(crate) error: Option<String>,
}

/// A request that stayed unanswered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnansweredRequest {
    pub(crate) route: Route,
    /// When the endpoint last sent something, or the first try was sent.
    pub(crate) silent_since: Instant,
    /// When the request was given up.
    pub(crate) given_up_at: Instant,
    /// The last sign of the endpoint, if that was a fault.
    pub(crate) fault: Option<String>,
    /// The endpoint broke the answer off.
    pub(crate) is_broken: bool,
}

/// The facts about the end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndFacts {
    pub(crate) ended_by: EndedBy,
    pub(crate) answers: Answers,
    pub(crate) lost: LostTime,
    pub(crate) last: LastRequest,
    /// The probe that would tell, where the endpoint was silent.
    pub(crate) probe: Option<PlannedProbe>,
    /// Why it is the endpoint's, if it is.
    pub(crate) reason: String,
    /// Whether a model was asked at all.
    pub(crate) was_asked: bool,
}

/// A probe that is not sent yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedProbe {
    pub(crate) route: Route,
    /// How long it may take.
    pub(crate) patience: Duration,
}

impl StallTracker {
    /// A request waited because of faults.
    pub(crate) fn add_lost(&mut self, begin: Instant, until: Instant, fault: Option<String>) {
        insert_span(&mut self.lost, begin, until);
        self.last_fault = fault.or(self.last_fault.take());
    }

    /// The endpoint answered a request, from its last try until now.
    pub(crate) fn add_answered(&mut self, begin: Instant, until: Instant) {
        insert_span(&mut self.answered, begin, until);
    }

    /// A request of the harness's API has finished.
    pub(crate) fn add_finished(&mut self, finished: FinishedRequest) {
        self.was_sent = true;
        self.was_heard |= finished.was_heard;
        self.has_answer |= finished.is_complete;
        let FinishedRequest { began, is_complete, error, .. } = finished;
        if is_complete || error.is_some() {
            self.last_error = error.map(|message| RequestError { began, message });
        }
    }

    /// A request of an API that the harness is not said to speak has finished, possibly with an error.
    pub(crate) fn add_other_api(&mut self, route: Route, is_complete: bool, error: Option<String>) {
        self.has_answer |= is_complete;
        let error = error.map(|error| format!(" ({error})")).unwrap_or_default();
        self.other_api = Some(format!("{}{error}", route.path()));
    }

    /// A request ended without an answer.
    pub(crate) fn add_unanswered(&mut self, request: UnansweredRequest) {
        let given_up_at = request.given_up_at;
        if request.fault.is_none() {
            insert_span(&mut self.silent, request.silent_since, given_up_at);
        }
        self.unanswered.retain(|other| other.given_up_at + LAG >= given_up_at);
        if self.unanswered.len() < MOST_UNANSWERED {
            self.unanswered.push(request);
        }
    }

    /// The attempt ends now.
    pub(crate) fn close(&mut self) {
        self.closed.get_or_insert(Instant::now());
    }

    /// A request starts or stops waiting. Returns what to show: the request with the most tries.
    pub(crate) fn set_waiting(
        &mut self,
        request: u64,
        waiting: Option<WaitingRequest>,
    ) -> Option<WaitingRequest> {
        match waiting {
            Some(waiting) => self.waiting.insert(request, waiting),
            None => self.waiting.remove(&request),
        };
        self.waiting.values().max_by_key(|waiting| waiting.next_try).copied()
    }

    /// The facts about the end of an attempt with this time limit. `is_run_answered`: an answer of the run was complete.
    pub(crate) fn end_facts(&self, limit: Duration, ended_by: EndedBy, is_run_answered: bool) -> EndFacts {
        let share = limit / SHARE;
        let lost = total_outside(&self.lost, &self.answered);
        let last = self.last_unanswered(ended_by);
        let mut facts = EndFacts {
            ended_by,
            answers: match (self.has_answer, is_run_answered) {
                (true, _) => Answers::Some,
                (false, true) => Answers::NoneInAttempt,
                (false, false) => Answers::NoneInRun,
            },
            lost: if lost >= share && !lost.is_zero() { LostTime::TenthOrMore } else { LostTime::Less },
            last: LastRequest::Answered,
            probe: None,
            reason: "no request of the attempt was answered completely".to_owned(),
            was_asked: self.was_sent || self.other_api.is_some(),
        };
        if let Some(last) = last {
            let silence = self.silence();
            facts.last = match &last.fault {
                Some(_) if last.is_broken => LastRequest::Broken,
                Some(_) => LastRequest::Faulted,
                None if silence < share.min(SILENCE) => LastRequest::BrieflySilent,
                None if !self.was_heard => LastRequest::SilentThroughout,
                None if silence > limit / 2 => LastRequest::SilentForMost,
                None => LastRequest::Silent,
            };
            let patience = share.clamp(PROBE_PATIENCE.0, PROBE_PATIENCE.1);
            facts.probe = Some(PlannedProbe { route: last.route, patience });
            facts.reason = match &last.fault {
                Some(fault) => format!("{fault}; no answer had come when the attempt ended"),
                None => format!("the endpoint had sent nothing for {} in all by the end", seconds(silence)),
            };
        } else if let Some(error) = &self.last_error {
            facts.last = LastRequest::Refused;
            facts.reason = format!("its last request was answered with an error: {}", error.message);
        } else if !self.was_sent {
            facts.last = LastRequest::NotSent;
            facts.reason = match &self.other_api {
                None => "it sent no request to a model".to_owned(),
                Some(other_api) => {
                    format!(
                        "it sent no request in an API that its harness is said to speak, but to {other_api}"
                    )
                }
            };
        }
        if facts.lost == LostTime::TenthOrMore && ended_by == EndedBy::TimeLimit {
            let fault = self.last_fault.as_deref().unwrap_or("it did not answer");
            let (lost, limit) = (seconds(lost), seconds(limit));
            facts.reason =
                format!("{lost} of {limit} were spent waiting for the endpoint; its last fault: {fault}");
        }
        facts
    }

    /// How long requests were silent since the last answer. A client that asks again after a silence has waited all the time.
    fn silence(&self) -> Duration {
        let first = self.silent.first();
        let before = first.zip(self.answered.last()).map(|((begin, _), (_, answered))| (*begin, *answered));
        total_outside(&self.silent, before.as_slice())
    }

    /// The unanswered request that says most about the end of the attempt.
    fn last_unanswered(&self, ended_by: EndedBy) -> Option<&UnansweredRequest> {
        let closed = self.closed.unwrap_or_else(Instant::now);
        let answered = self.answered.last().map(|(_, until)| *until);
        self.unanswered
            .iter()
            .filter(|request| {
                ended_by != EndedBy::TimeLimit || closed.saturating_duration_since(request.given_up_at) <= LAG
            })
            // Another request was answered while it waited, or after it.
            .filter(|request| answered.is_none_or(|answered| answered <= request.silent_since))
            // A request that began after it was answered, with an error.
            .filter(|request| self.last_error.as_ref().is_none_or(|error| error.began < request.given_up_at))
            .max_by_key(|last| (last.is_broken, last.fault.is_some(), last.given_up_at - last.silent_since))
    }
}

/// Adds a span to disjoint spans in order, merging those that touch.
fn insert_span(spans: &mut Vec<(Instant, Instant)>, begin: Instant, until: Instant) {
    let (mut begin, mut until) = (begin, until);
    spans.retain(|&(start, end)| {
        let apart = end < begin || start > until;
        if !apart {
            (begin, until) = (begin.min(start), until.max(end));
        }
        apart
    });
    let index = spans.partition_point(|&(start, _)| start < begin);
    spans.insert(index, (begin, until));
}

/// How long the first spans are outside the second. Both are disjoint and in order.
fn total_outside(spans: &[(Instant, Instant)], excluded: &[(Instant, Instant)]) -> Duration {
    let overlap = |(begin, until): (Instant, Instant)| -> Duration {
        let overlaps =
            |(start, end): &(Instant, Instant)| until.min(*end).saturating_duration_since(begin.max(*start));
        excluded.iter().map(overlaps).sum()
    };
    spans.iter().map(|&(begin, until)| (until - begin).saturating_sub(overlap((begin, until)))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_attribution::table::{Decision, ProbeAnswer, after_end};

    const LIMIT: Duration = Duration::from_mins(20);

    fn moment(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn unanswered_request(start: Instant, begin: u64, end: u64, fault: Option<&str>) -> UnansweredRequest {
        UnansweredRequest {
            route: Route::Messages,
            silent_since: moment(start, begin),
            given_up_at: moment(start, end),
            fault: fault.map(str::to_owned),
            is_broken: false,
        }
    }

    /// The decision before any probe, and the reason.
    fn decided(tracker: &StallTracker, ended_by: EndedBy) -> (Decision, String) {
        let facts = tracker.end_facts(LIMIT, ended_by, true);
        (after_end(facts.ended_by, facts.answers, facts.lost, facts.last, ProbeAnswer::NotSent), facts.reason)
    }

    fn decision(tracker: &StallTracker, ended_by: EndedBy) -> Decision {
        decided(tracker, ended_by).0
    }

    #[test]
    fn overlapping_times_count_once() {
        let t = Instant::now();
        let mut tracker = StallTracker::default();
        for (begin, end) in [(0, 10), (5, 20), (30, 40), (18, 50), (60, 70)] {
            tracker.add_lost(moment(t, begin), moment(t, end), None);
        }
        assert_eq!(tracker.lost, [(moment(t, 0), moment(t, 50)), (moment(t, 60), moment(t, 70))]);
    }

    #[test]
    fn a_tenth_of_the_time_is_attributed_to_the_endpoint() {
        let t = Instant::now();
        let mut tracker = StallTracker::default();
        tracker.add_lost(moment(t, 0), moment(t, 119), Some("429".to_owned()));
        tracker.closed = Some(moment(t, 1200));
        let rest = "the agent had the rest, and the request was answered";
        assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsAgent, "{rest}");
        tracker.add_lost(moment(t, 300), moment(t, 301), None);
        let (decision, reason) = decided(&tracker, EndedBy::TimeLimit);
        assert_eq!(decision, Decision::EndAsEndpoint);
        assert_eq!(reason, "120 s of 1200 s were spent waiting for the endpoint; its last fault: 429");
        let answered = "the harness had an answer in the end";
        assert_eq!(decided(&tracker, EndedBy::HarnessReport).0, Decision::EndAsAgent, "{answered}");
        let empty = StallTracker::default().end_facts(Duration::ZERO, EndedBy::TimeLimit, true);
        assert_eq!((empty.lost, empty.last), (LostTime::Less, LastRequest::NotSent));
    }

    #[test]
    fn an_unanswered_last_request_is_probed() {
        let t = Instant::now();
        let mut tracker = StallTracker {
            closed: Some(moment(t, 1210)),
            was_sent: true,
            was_heard: true,
            ..StallTracker::default()
        };
        tracker.add_unanswered(unanswered_request(t, 1150, 1200, None));
        let thinking = "a model may think for fifty seconds";
        assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsAgent, "{thinking}");
        tracker.add_unanswered(unanswered_request(t, 1140, 1200, None));
        assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::Probe);
        let planned = PlannedProbe { route: Route::Messages, patience: Duration::from_mins(1) };
        assert_eq!(tracker.end_facts(LIMIT, EndedBy::TimeLimit, true).probe, Some(planned));
        tracker.add_unanswered(unanswered_request(t, 1199, 1200, Some("503")));
        let (decision_after_fault, reason) = decided(&tracker, EndedBy::TimeLimit);
        assert_eq!(decision_after_fault, Decision::EndAsEndpoint);
        assert!(reason.starts_with("503"), "{reason}");

        let mut tracker = StallTracker {
            closed: Some(moment(t, 1210)),
            was_sent: true,
            was_heard: true,
            ..StallTracker::default()
        };
        tracker.add_unanswered(unanswered_request(t, 100, 1100, Some("503")));
        let expected = "the agent used the last minutes itself";
        assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsAgent, "{expected}");
        let gave_up = "the harness gave up because of it";
        assert_eq!(decision(&tracker, EndedBy::HarnessReport), Decision::EndAsEndpoint, "{gave_up}");
        tracker.add_answered(moment(t, 1190), moment(t, 1195));
        let later = "a later request was answered";
        assert_eq!(decision(&tracker, EndedBy::HarnessReport), Decision::EndAsAgent, "{later}");
    }

    #[test]
    fn silence_is_the_endpoints_where_nothing_ever_came_or_it_took_most_of_the_time() {
        let t = Instant::now();
        let facts = |was_heard, source| {
            let mut tracker = StallTracker {
                closed: Some(moment(t, 1200)),
                was_sent: true,
                was_heard,
                ..StallTracker::default()
            };
            tracker.add_unanswered(unanswered_request(t, source, 1200, None));
            tracker.end_facts(LIMIT, EndedBy::TimeLimit, true).last
        };
        assert_eq!(facts(false, 0), LastRequest::SilentThroughout);
        assert_eq!(facts(true, 0), LastRequest::SilentForMost);
        assert_eq!(facts(true, 599), LastRequest::SilentForMost);
        assert_eq!(facts(true, 600), LastRequest::Silent);
        assert_eq!(facts(false, 1150), LastRequest::BrieflySilent);

        // A client that asks again after a silence waits no less than one that keeps its request open.
        let mut tracker = StallTracker { was_sent: true, was_heard: true, ..StallTracker::default() };
        for begin in (500..1200).step_by(100) {
            tracker.add_unanswered(unanswered_request(t, begin, begin + 99, None));
        }
        let last = |tracker: &StallTracker| tracker.end_facts(LIMIT, EndedBy::HarnessExit, true).last;
        assert_eq!(last(&tracker), LastRequest::SilentForMost, "seven times 99 s");
        tracker.add_answered(moment(t, 600), moment(t, 700));
        assert_eq!(last(&tracker), LastRequest::Silent, "five times since the answer");
    }

    fn finished(began: Instant, is_complete: bool, error: Option<&str>) -> FinishedRequest {
        FinishedRequest { began, was_heard: true, is_complete, error: error.map(str::to_owned) }
    }

    #[test]
    fn the_last_error_counts_until_an_answer_follows() {
        let t = Instant::now();
        let mut tracker = StallTracker::default();
        let last = |tracker: &StallTracker| tracker.end_facts(LIMIT, EndedBy::HarnessExit, false);
        let facts = last(&tracker);
        assert_eq!((facts.last, facts.was_asked), (LastRequest::NotSent, false));
        tracker.add_finished(finished(t, false, Some("400: no")));
        // A request that is hung up on is no answer.
        tracker.add_finished(finished(t, false, None));
        let facts = last(&tracker);
        assert_eq!((facts.last, facts.answers), (LastRequest::Refused, Answers::NoneInRun));
        assert!(facts.was_asked && facts.reason.ends_with("an error: 400: no"), "{}", facts.reason);
        tracker.add_finished(finished(t, true, None));
        let facts = last(&tracker);
        assert_eq!((facts.last, facts.answers), (LastRequest::Answered, Answers::Some));
    }

    /// A harness that asks again after a broken answer, and then with a malformed request, ends on its own mistake.
    #[test]
    fn the_later_one_of_a_broken_answer_and_an_error_decides() {
        let t = Instant::now();
        let broken =
            || UnansweredRequest { is_broken: true, ..unanswered_request(t, 10, 20, Some("broke off")) };
        for (began, last) in [(15, LastRequest::Broken), (21, LastRequest::Refused)] {
            let mut tracker = StallTracker { was_sent: true, was_heard: true, ..StallTracker::default() };
            tracker.add_unanswered(broken());
            // One that began before it is a request beside it.
            tracker.add_finished(finished(moment(t, began), false, Some("400: bad request")));
            tracker.closed = Some(moment(t, 25));
            let facts = tracker.end_facts(LIMIT, EndedBy::HarnessExit, true);
            assert_eq!(facts.last, last, "the erroneous request began after {began} s");
        }
        let mut tracker = StallTracker { was_sent: true, was_heard: true, ..StallTracker::default() };
        tracker.add_finished(finished(t, false, Some("400: bad request")));
        tracker.add_unanswered(broken());
        assert_eq!(tracker.end_facts(LIMIT, EndedBy::HarnessExit, true).last, LastRequest::Broken);
        // A request beside it that waits longer after another fault does not hide it.
        tracker.add_unanswered(unanswered_request(t, 12, 24, Some("429")));
        assert_eq!(tracker.end_facts(LIMIT, EndedBy::HarnessExit, true).last, LastRequest::Broken);
    }

    #[test]
    fn a_request_in_another_api_is_named() {
        let mut tracker = StallTracker::default();
        tracker.add_other_api(Route::Responses, false, Some("404 Not Found".to_owned()));
        let facts = tracker.end_facts(LIMIT, EndedBy::HarnessExit, false);
        assert_eq!((facts.last, facts.was_asked), (LastRequest::NotSent, true));
        assert!(facts.reason.ends_with("but to /v1/responses (404 Not Found)"), "{}", facts.reason);
    }

    #[test]
    fn requests_beside_answered_ones_do_not_count() {
        let t = Instant::now();
        // In whichever order they were interrupted.
        for reversed in [false, true] {
            let mut tracker = StallTracker::default();
            let mut interrupted =
                [unanswered_request(t, 1000, 1200, None), unanswered_request(t, 1190, 1200, Some("429"))];
            if reversed {
                interrupted.reverse();
            }
            for request in interrupted {
                tracker.add_unanswered(request);
            }
            tracker.closed = Some(moment(t, 1200));
            assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsEndpoint);
            tracker.add_answered(moment(t, 1180), moment(t, 1199));
            assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsAgent);
        }
        let mut tracker = StallTracker::default();
        tracker.add_answered(moment(t, 0), moment(t, 100));
        tracker.add_lost(moment(t, 50), moment(t, 250), Some("429".to_owned()));
        tracker.add_answered(moment(t, 140), moment(t, 200));
        tracker.closed = Some(moment(t, 1200));
        assert_eq!(decision(&tracker, EndedBy::TimeLimit), Decision::EndAsAgent, "90 s of 200 s are lost");
    }

    #[test]
    fn the_request_with_the_most_tries_is_shown() {
        let mut tracker = StallTracker::default();
        let waiting = |next_try| WaitingRequest { status: 429, next_try, most_tries: 6 };
        assert_eq!(tracker.set_waiting(1, Some(waiting(3))), Some(waiting(3)));
        assert_eq!(tracker.set_waiting(2, Some(waiting(2))), Some(waiting(3)));
        assert_eq!(tracker.set_waiting(1, None), Some(waiting(2)));
        assert_eq!(tracker.set_waiting(2, None), None);
        assert_eq!(tracker.set_waiting(2, None), None);
    }
}
