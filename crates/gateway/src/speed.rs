//! How fast an endpoint reads prompts and writes answers, from the records of requests.
//!
//! An answer that was streamed to its end tells the two apart: until its first content the endpoint reads (and may let the
//! request wait), from then on it writes. Of a plain answer only an endpoint that times itself tells it (llama.cpp).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::record::{Record, StreamTimes};

/// Fewest tokens that an endpoint had to read. Of fewer, most of the time is no reading.
const LEAST_PROMPT: u64 = 256;
/// Fewest tokens of an answer.
const LEAST_ANSWER: u64 = 16;
/// Shortest time that is measured, in seconds. A stream that comes in less was held back by something between, and sent at once.
const LEAST_SECONDS: f64 = 0.05;
/// Most requests whose speed is kept.
const MOST_KEPT: usize = 1_000_000;

/// Speeds of the requests of a run, in tokens a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Speeds {
    prompt: Vec<f64>,
    answer: Vec<f64>,
}

/// A speed over several requests, in tokens a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[ts(rename = "TokenSpeed")]
pub struct Speed {
    /// Half of the requests were slower.
    pub median: f64,
    /// A tenth of the requests was slower.
    pub p10: f64,
}

/// How fast an endpoint is, in tokens a second (`docs/metrics.md`, "Runs of one's own").
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(rename = "LiveSpeed")]
pub struct TokensPerSecond {
    /// It reads prompts; `None` = unknown.
    // Cached tokens are left out.
    pub prompt: Option<Speed>,
    /// It writes answers; `None` = unknown.
    pub answer: Option<Speed>,
}

impl Speeds {
    /// Adds a request. One that tells nothing of a speed adds nothing.
    pub fn add(&mut self, record: &Record) {
        if record.probe || record.termination.is_some() || record.reports_error {
            return;
        }
        let Some(times) = record.stream else { return };
        keep(&mut self.prompt, prompt_speed(record, times));
        keep(&mut self.answer, answer_speed(record, times));
    }

    /// Median and 10th percentile.
    pub fn tokens_per_second(&self) -> TokensPerSecond {
        TokensPerSecond { prompt: speed_summary(&self.prompt), answer: speed_summary(&self.answer) }
    }
}

fn keep(speeds: &mut Vec<f64>, speed: Option<f64>) {
    if speeds.len() < MOST_KEPT {
        speeds.extend(speed);
    }
}

/// Unknown where the cached part is not told: it costs no time.
fn prompt_speed(record: &Record, times: StreamTimes) -> Option<f64> {
    let read = record.tokens.input?.checked_sub(record.tokens.cached?)?;
    speed(read, LEAST_PROMPT, times.first_seconds)
}

fn answer_speed(record: &Record, times: StreamTimes) -> Option<f64> {
    speed(record.tokens.output?, LEAST_ANSWER, times.rest_seconds)
}

fn speed(tokens: u64, least: u64, seconds: f64) -> Option<f64> {
    let is_measured = tokens >= least && seconds.is_finite() && seconds >= LEAST_SECONDS;
    is_measured.then(|| tokens as f64 / seconds)
}

fn speed_summary(speeds: &[f64]) -> Option<Speed> {
    let mut sorted = speeds.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Speed { median: quantile(&sorted, 0.5)?, p10: quantile(&sorted, 0.1)? })
}

/// The quantile of sorted numbers, between its two neighbors in proportion (type 7 of Hyndman and Fan, 1996).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)? as f64);
    let (lower, upper) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(lower + (upper - lower) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{AttemptKey, Guess, Termination};
    use model::Tokens;

    fn record(input: u64, cached: Option<u64>, output: u64, first: f64, rest: f64) -> Record {
        Record {
            key: AttemptKey { episode: "scenario_1".to_owned(), turn: 1, attempt: 1 },
            at: "2026-11-27T08:00:00Z".to_owned(),
            route: "POST /v1/chat/completions".to_owned(),
            model: None,
            tokens: Tokens { input: Some(input), cached, output: Some(output) },
            cost_usd: None,
            seconds: 99.0,
            status: 200,
            retries: 2,
            faults: vec![429, 0],
            termination: None,
            reports_error: false,
            stream: Some(StreamTimes { first_seconds: first, rest_seconds: rest }),
            unmetered: false,
            probe: false,
            number: 1,
            guess: Guess::default(),
        }
    }

    fn speeds(records: &[Record]) -> Speeds {
        let mut speeds = Speeds::default();
        for record in records {
            speeds.add(record);
        }
        speeds
    }

    #[test]
    fn a_prompt_is_read_until_the_first_content_and_an_answer_is_written_after_it() {
        // As llama.cpp with SmolLM2 on one core: 150 tokens a second are read, 90 are written.
        let speed = speeds(&[record(3100, Some(100), 180, 20.0, 2.0)]).tokens_per_second();
        assert_eq!(speed.prompt, Some(Speed { median: 150.0, p10: 150.0 }));
        assert_eq!(speed.answer, Some(Speed { median: 90.0, p10: 90.0 }));
        // Eleven requests: the median is the sixth, the tenth percentile the second.
        let many: Vec<Record> = (1..=11).map(|n| record(1000, Some(0), 100, 10.0, f64::from(n))).collect();
        let answer = speeds(&many).tokens_per_second().answer.unwrap();
        assert_eq!((answer.median, answer.p10), (100.0 / 6.0, 10.0));
        let two = speeds(&[record(1000, Some(0), 100, 1.0, 1.0), record(1000, Some(0), 200, 1.0, 1.0)]);
        assert_eq!(two.tokens_per_second().answer, Some(Speed { median: 150.0, p10: 110.0 }));
    }

    #[test]
    fn what_tells_no_speed_is_left_out_and_nothing_is_unknown() {
        let complete = record(1000, Some(0), 100, 1.0, 1.0);
        for odd in [
            Record { probe: true, ..complete.clone() },
            Record { termination: Some(Termination::Agent), ..complete.clone() },
            Record { reports_error: true, ..complete.clone() },
            Record { stream: None, ..complete.clone() },
            Record { tokens: Tokens::default(), ..complete.clone() },
            // Sent at once, of a few tokens, and times that no clock gives.
            record(1000, Some(0), 100, 0.01, 0.01),
            record(255, Some(0), 15, 1.0, 1.0),
            record(1000, Some(900), 0, 1.0, 1.0),
            record(1000, Some(2000), 0, 1.0, 1.0),
            record(1000, Some(0), 100, f64::NAN, f64::INFINITY),
            record(1000, Some(0), 100, -1.0, 0.0),
        ] {
            assert_eq!(speeds(std::slice::from_ref(&odd)), Speeds::default(), "{odd:?}");
        }
        // How much of the prompt was cached is not told.
        let untold = speeds(&[record(1000, None, 100, 1.0, 1.0)]).tokens_per_second();
        assert_eq!((untold.prompt, untold.answer.is_some()), (None, true));
        assert_eq!(Speeds::default().tokens_per_second(), TokensPerSecond { prompt: None, answer: None });
    }
}
