//! A small request of the gateway's own, to find out whether the endpoint answers it.
//!
//! It carries the key and the model of the run and nothing of the agent's. It costs something, so it is recorded
//! ([`Record::probe`]) and counted with the run and the episode, but not with the attempt.

use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::Instant;

use super::error_codes::is_owner_error;
use super::table::ProbeAnswer;
use crate::clock;
use crate::cost::RequestCost;
use crate::record::{AttemptKey, Record};
use crate::recorder::Recorder;
use crate::route::Route;
use crate::small_request;
use crate::text::one_line;
use crate::upstream::Endpoint;
use crate::usage::{Meter, Tally};

/// A probe in flight. It is recorded when it is dropped, also when nobody waits for its answer.
pub(super) struct Probe<'a> {
    recorder: &'a Recorder,
    endpoint: &'a Endpoint,
    route: Route,
    model: &'a str,
    record: Record,
    tally: Tally,
    started: Instant,
    /// By the clock of the machine.
    working_since: f64,
    most_tokens: u32,
}

impl<'a> Probe<'a> {
    pub(super) fn new(
        recorder: &'a Recorder,
        key: &AttemptKey,
        endpoint: &'a Endpoint,
        route: Route,
    ) -> Self {
        // Harnesses of a run without a model ask for this one.
        let model = endpoint.model.as_deref().unwrap_or("default");
        let record = Record {
            key: key.clone(),
            at: clock::now(),
            route: format!("POST {}", route.path()),
            model: Some(one_line(model)),
            probe: true,
            ..Record::default()
        };
        let working_since = recorder.work_begins(None, &record.key.episode);
        Self {
            recorder,
            endpoint,
            route,
            model,
            record,
            tally: Tally::default(),
            started: Instant::now(),
            working_since,
            most_tokens: 0,
        }
    }

    /// Asks for an answer of at most `most_tokens`, and waits for it at most `patience`.
    pub(super) async fn send(mut self, most_tokens: u32, patience: Duration) -> ProbeAnswer {
        self.most_tokens = most_tokens;
        let sending = small_request::send(self.endpoint, self.route, self.model, most_tokens);
        let Ok(Ok((status, body))) = tokio::time::timeout(patience, sending).await else {
            return ProbeAnswer::Failed;
        };
        self.record.status = status.as_u16();
        if status.is_success() {
            let mut meter = Meter::new(Some(self.route), false);
            meter.push(body.as_bytes(), None);
            meter.end();
            self.tally = meter.tally();
            let is_error = meter.error().is_some() && !self.tally.is_complete();
            if is_error || meter.flaw().is_some() {
                return ProbeAnswer::Failed;
            }
        }
        classify(status, &body)
    }
}

fn classify(status: StatusCode, body: &str) -> ProbeAnswer {
    match status.as_u16() {
        _ if is_owner_error(status, body) => ProbeAnswer::Refused,
        408 | 409 | 425 | 429 | 500.. => ProbeAnswer::Failed,
        _ => ProbeAnswer::Answered,
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        let answered = (200..300).contains(&self.record.status);
        // Without an answer it is unknown whether the endpoint accepted it.
        let accepted = answered || self.record.status == 0;
        let tokens = u64::from(self.most_tokens);
        let episode = &self.record.key.episode;
        let machine_seconds = self.recorder.work_ends(None, episode, self.working_since);
        let cost = RequestCost {
            answered,
            accepted,
            tally: self.tally,
            machine_seconds,
            ..RequestCost::estimated(tokens, tokens)
        };
        self.record.seconds = self.started.elapsed().as_secs_f64();
        self.recorder.request_finished(None, None, &cost, self.record.clone());
    }
}
