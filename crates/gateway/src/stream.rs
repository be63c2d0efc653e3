//! The body of an answer on its way to the agent.
//!
//! It is pulled by the agent's connection: the next piece is asked of the endpoint only when the last one was taken, so a
//! slow agent slows the endpoint down and nothing piles up here. Endpoints close connections on which nobody reads, so one
//! that breaks after the agent has not read for a while was broken by the agent: it must not be able to have its attempt
//! censored by that.

use std::io;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use crate::Cut;
use crate::attempt::seconds;
use crate::flight::Guard;
use crate::upstream::Source;

/// What is said of a stream that ends before its last event.
pub(crate) const BREAKS_OFF: &str = "the stream ended before its last event";

/// An answer under way.
struct Flow {
    /// The piece that was read before the head was sent, ready for the agent.
    first: Option<Bytes>,
    source: Option<Source>,
    guard: Guard,
    silence: Duration,
    /// The usage is not for the agent.
    hides_usage: bool,
    /// When the agent got the last piece.
    given: Instant,
    /// It has kept the endpoint waiting.
    slow: bool,
}

/// Passes an answer on. `first` was metered already, what comes from `source` was not.
pub(crate) fn body(first: Bytes, source: Source, guard: Guard, silence: Duration, hides_usage: bool) -> Body {
    let flow = Flow {
        first: Some(first),
        source: Some(source),
        guard,
        silence,
        hides_usage,
        given: Instant::now(),
        slow: false,
    };
    Body::from_stream(stream::unfold(flow, |mut flow| async move {
        flow.slow |= flow.given.elapsed() > flow.guard.flight.house.retry.reads;
        let piece = flow.next().await?;
        flow.given = Instant::now();
        Some((piece, flow))
    }))
}

impl Flow {
    /// The next piece for the agent; `None` at the end. An error breaks the agent's connection.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            return Some(Ok(first));
        }
        loop {
            let source = self.source.as_mut()?;
            let room = std::sync::Arc::clone(&self.guard.flight.room);
            let read = tokio::select! {
                biased;
                () = room.closed() => return Some(self.broken(Cut::Closed, "the attempt has ended".to_owned())),
                read = tokio::time::timeout(self.silence, source.next()) => read,
            };
            match read {
                Ok(Ok(Some(bytes))) => {
                    let bytes = self.metered(bytes);
                    if !bytes.is_empty() {
                        return Some(Ok(bytes));
                    }
                }
                Ok(Ok(None)) => return self.ended(),
                Ok(Err(why)) => return Some(self.broken(Cut::Endpoint, why)),
                Err(_) => {
                    let why = format!("nothing came for {}", seconds(self.silence));
                    return Some(self.broken(Cut::Endpoint, why));
                }
            }
        }
    }

    fn metered(&mut self, bytes: Bytes) -> Bytes {
        let mut progress = self.guard.flight.progress();
        progress.hear();
        let Some(meter) = progress.meter.as_mut() else { return bytes };
        if self.hides_usage {
            let mut kept = Vec::with_capacity(bytes.len());
            meter.push(&bytes, Some(&mut kept));
            Bytes::from(kept)
        } else {
            meter.push(&bytes, None);
            bytes
        }
    }

    fn ended(&mut self) -> Option<io::Result<Bytes>> {
        self.source = None;
        let (rest, breaks_off) = {
            let mut progress = self.guard.flight.progress();
            let rest = progress.meter.as_mut().map(crate::usage::Meter::end).unwrap_or_default();
            let breaks_off = progress.meter.as_ref().is_some_and(crate::usage::Meter::breaks_off);
            (if self.hides_usage { rest } else { Vec::new() }, breaks_off)
        };
        if breaks_off {
            // The agent is to see that something is missing, as well.
            return Some(self.broken(Cut::Endpoint, BREAKS_OFF.to_owned()));
        }
        self.guard.flight.settle(None);
        (!rest.is_empty()).then(|| Ok(Bytes::from(rest)))
    }

    fn broken(&mut self, cut: Cut, why: String) -> io::Result<Bytes> {
        self.source = None;
        let cut = if self.slow && cut == Cut::Endpoint { Cut::Agent } else { cut };
        self.guard.flight.settle(Some(cut));
        Err(io::Error::other(why))
    }
}
