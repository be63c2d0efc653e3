//! The body of an answer, streamed to the agent.
//!
//! The connection of the agent pulls it: the next piece is read from the endpoint only after the agent accepted the last one.
//! So a slow agent slows the endpoint down, and nothing accumulates here. Endpoints close connections on which nobody reads.
//! A connection that breaks after the agent has stopped reading is therefore attributed to the agent.

use std::io;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use crate::fault_attribution::table::{Reader, connection_breaker};
use crate::in_flight::RequestGuard;
use crate::record::Termination;
use crate::text::seconds;
use crate::upstream::Source;
use crate::usage::{Meter, UNFINISHED_STREAM};

/// An answer that is being streamed.
struct AnswerStream {
    /// What was read before the head was sent.
    first: Option<Bytes>,
    source: Option<Source>,
    guard: RequestGuard,
    silence: Duration,
    /// The agent did not ask for the usage.
    hides_usage: bool,
    /// When the agent received the last piece.
    delivered: Instant,
    reader: Reader,
}

/// Passes an answer on. `first` is metered already; what comes from `source` is not.
pub(crate) fn body(
    first: Bytes,
    source: Source,
    guard: RequestGuard,
    silence: Duration,
    hides_usage: bool,
) -> Body {
    let answer = AnswerStream {
        first: Some(first),
        source: Some(source),
        guard,
        silence,
        hides_usage,
        delivered: Instant::now(),
        reader: Reader::Reading,
    };
    Body::from_stream(stream::unfold(answer, |mut answer| async move {
        if answer.delivered.elapsed() > answer.guard.request.gateway.retry.reads {
            answer.reader = Reader::Stalled;
        }
        let piece = answer.next().await?;
        answer.delivered = Instant::now();
        Some((piece, answer))
    }))
}

impl AnswerStream {
    /// The next piece for the agent. `None` at the end. An error breaks the connection of the agent.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            return Some(Ok(first));
        }
        loop {
            let source = self.source.as_mut()?;
            let attempt = std::sync::Arc::clone(&self.guard.request.attempt);
            let read = tokio::select! {
                biased;
                () = attempt.closed() => {
                    return Some(self.interrupt(Termination::Closed, "the attempt has ended".to_owned()));
                }
                read = tokio::time::timeout(self.silence, source.next()) => read,
            };
            let broken = match read {
                Ok(Ok(Some(bytes))) => {
                    let bytes = self.meter(bytes);
                    if bytes.is_empty() {
                        continue;
                    }
                    return Some(Ok(bytes));
                }
                Ok(Ok(None)) => return self.end(),
                Ok(Err(reason)) => reason,
                Err(_) => format!("the endpoint sent nothing for {}", seconds(self.silence)),
            };
            return Some(self.interrupt(connection_breaker(self.reader), broken));
        }
    }

    fn meter(&mut self, bytes: Bytes) -> Bytes {
        let mut progress = self.guard.request.progress();
        progress.touch();
        let Some(meter) = progress.meter.as_mut() else { return bytes };
        let visible = if self.hides_usage {
            let mut visible = Vec::with_capacity(bytes.len());
            meter.push(&bytes, Some(&mut visible));
            Bytes::from(visible)
        } else {
            meter.push(&bytes, None);
            bytes
        };
        if meter.is_past_its_beginning() && progress.first_content.is_none() {
            progress.first_content = Some(progress.last_sign);
        }
        visible
    }

    fn end(&mut self) -> Option<io::Result<Bytes>> {
        self.source = None;
        let (rest, breaks_off) = {
            let mut progress = self.guard.request.progress();
            let rest = progress.meter.as_mut().map(Meter::end).unwrap_or_default();
            let breaks_off = progress.meter.as_ref().is_some_and(Meter::breaks_off);
            (if self.hides_usage { rest } else { Vec::new() }, breaks_off)
        };
        if breaks_off {
            // The agent must see that something is missing, too.
            return Some(self.interrupt(connection_breaker(self.reader), UNFINISHED_STREAM.to_owned()));
        }
        self.guard.request.finish(None);
        (!rest.is_empty()).then(|| Ok(Bytes::from(rest)))
    }

    fn interrupt(&mut self, termination: Termination, reason: String) -> io::Result<Bytes> {
        self.source = None;
        self.guard.request.finish(Some(termination));
        Err(io::Error::other(reason))
    }
}
