//! Whose fault an error is.
//!
//! An attempt that the endpoint ends is *censored*: it does not count against the agent. So an agent that is about to fail
//! must not be able to bring that about. It writes its requests itself: it can ask for another model or another API, send a
//! query or a header that no endpoint takes, and have its own words repeated in the error. So
//!
//! - only the APIs that the harness speaks count ([`crate::Settings::routes`]);
//! - an error that looks like one for the owner of the key (401, 402, 403, 404, …) is believed only when a small request *of
//!   ours*, with the run's key and model and nothing of the agent's, is refused in such a way, too.
//!
//! - an error in the middle of an answer is the agent's own where its code says that the request was no good
//!   ([`is_the_agents`]), and a connection that broke after the agent had not read for a while was not broken by the endpoint.
//!
//! Faults that pass (429, 5xx, no answer) are retried and count as the endpoint's, whatever was asked: which request they
//! answer can not be told apart from the load that they speak of, and a small request that gets through says nothing of
//! a long one.
//!
//! Our requests cost something, so each is recorded ([`crate::Record::probe`]) and counted with the run and the episode,
//! but not with the attempt: it is not the agent's.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use model::Tokens;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::attempt::{House, lock, seconds};
use crate::flight::Flight;
use crate::ledger::{Entry, cost};
use crate::preflight::{self, LEAST};
use crate::request::Kind;
use crate::upstream::{Backend, Endpoint};
use crate::usage::{Meter, Tally, short};
use crate::waits::Doubt;
use crate::{AttemptKey, Guess, Record, Route, clock};

/// An endpoint that has just answered is believed to do so for as long, until a request is refused a second time.
const BELIEVED: Duration = Duration::from_mins(1);
/// How long our request may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Some endpoints want the longest answer to be paid for beforehand (402): one of usual length is asked for.
const USUAL: u32 = 8192;

/// Finds out whose an error is.
#[derive(Debug)]
pub(crate) struct Blame {
    routes: Vec<Route>,
    /// When it last answered us.
    answered: Arc<Mutex<Option<Instant>>>,
}

/// Whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blamed {
    /// We are refused as well.
    Endpoint,
    /// We get an answer.
    Agent,
    /// The endpoint has another trouble just now.
    Unclear,
}

impl Blame {
    /// `routes` are what the harness speaks.
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        Self { routes, answered: Arc::default() }
    }

    /// Whether a fault of such a request says something of the endpoint.
    pub(crate) fn concerns(&self, kind: Kind) -> bool {
        kind.route().is_some_and(|route| self.routes.is_empty() || self.routes.contains(&route))
    }

    /// Asks the endpoint ourselves. An answer that it gave us lately is good enough, or one after `since`, where the
    /// request was refused then and is again: a key may have run out since the answer.
    pub(crate) async fn find(
        &self,
        house: &House,
        flight: &Flight,
        status: u16,
        since: Option<Instant>,
    ) -> Blamed {
        let (Backend::Http(endpoint), Some(route)) = (&house.backend, flight.kind.route()) else {
            return Blamed::Agent;
        };
        let mut answered = self.answered.lock().await;
        let believed = |at: Instant| since.map_or_else(|| at.elapsed() < BELIEVED, |since| at >= since);
        if answered.is_some_and(believed) {
            return Blamed::Agent;
        }
        let most = if status == 402 { USUAL } else { LEAST };
        let mut asking = Asking::new(house, &flight.room.key, endpoint, route);
        let blamed = asking.ask(endpoint, route, most, PATIENCE).await;
        drop(asking);
        *answered = (blamed == Blamed::Agent).then(Instant::now);
        blamed
    }

    /// Why the endpoint is to blame for the end of an attempt, if it is. The scripted model never is: it is no endpoint.
    pub(crate) async fn judge(&self, house: &House, key: &AttemptKey, doubt: Doubt) -> Option<String> {
        let Backend::Http(endpoint) = &house.backend else { return None };
        let (route, patience, silent) = match doubt {
            Doubt::None(why) => return Some(why),
            Doubt::Silent { route, patience, silent } => (route, patience, silent),
        };
        // Attempts end at the same time where an endpoint falls silent, so nobody waits for another's question.
        let blamed = Asking::new(house, key, endpoint, route).ask(endpoint, route, LEAST, patience).await;
        if blamed == Blamed::Agent {
            *self.answered.lock().await = Some(Instant::now());
            return None;
        }
        let silent = seconds(silent);
        Some(format!(
            "nothing had come for {silent} when the attempt ended, and a question of ours was not answered either"
        ))
    }
}

/// A question of ours on its way. It is recorded when it is dropped, so also when nobody waits for its answer any more.
struct Asking<'a> {
    house: &'a House,
    record: Record,
    tally: Tally,
    since: Instant,
    guess: u64,
    model: &'a str,
}

impl<'a> Asking<'a> {
    fn new(house: &'a House, key: &AttemptKey, endpoint: &'a Endpoint, route: Route) -> Self {
        // Without a model of its own a run has harnesses ask for this one.
        let model = endpoint.model.as_deref().unwrap_or("default");
        let record = Record {
            key: key.clone(),
            at: clock::now(),
            route: format!("POST {}", route.path()),
            model: Some(short(model)),
            tokens: Tokens::default(),
            cost_usd: None,
            seconds: 0.0,
            status: 0,
            retries: 0,
            faults: Vec::new(),
            cut: None,
            unmetered: false,
            probe: true,
            number: 0,
            guess: Guess::default(),
        };
        Self { house, record, tally: Tally::default(), since: Instant::now(), guess: 0, model }
    }

    async fn ask(&mut self, endpoint: &Endpoint, route: Route, most: u32, patience: Duration) -> Blamed {
        self.guess = u64::from(most);
        let asked = tokio::time::timeout(patience, preflight::ask(endpoint, route, self.model, most)).await;
        let Ok(Ok((status, text))) = asked else { return Blamed::Unclear };
        self.record.status = status.as_u16();
        if status.is_success() {
            let mut meter = Meter::new(Some(route), false);
            meter.push(text.as_bytes(), None);
            meter.end();
            self.tally = meter.tally();
            if meter.error().is_some() && !self.tally.is_whole() {
                return Blamed::Unclear;
            }
        }
        match status.as_u16() {
            _ if is_owners(status, &text) => Blamed::Endpoint,
            408 | 409 | 425 | 429 | 500.. => Blamed::Unclear,
            _ => Blamed::Agent,
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let answered = (200..300).contains(&self.record.status);
        // Without an answer it is not known whether it was taken.
        let taken = answered || self.record.status == 0;
        let mut books = lock(&self.house.books);
        let entry = Entry {
            answered,
            taken,
            tally: self.tally,
            cost_usd: cost(books.price(), &self.tally).filter(|_| taken),
            guess: Tokens { input: Some(self.guess), cached: None, output: Some(self.guess) },
        };
        books.add_aside(&self.record.key.episode, &entry);
        self.record.guess = entry.guessed(books.price());
        drop(books);
        self.record.tokens = self.tally.tokens;
        self.record.cost_usd = entry.cost_usd;
        self.record.seconds = self.since.elapsed().as_secs_f64();
        self.record.unmetered = taken && !self.tally.is_whole();
        if let Some(log) = lock(&self.house.log).as_ref() {
            log.append(&self.record);
        }
    }
}

/// Whether an error looks like one for the owner of the key or of the settings: by its status, or by the code that it
/// carries. Its words decide nothing, but for one that comes without a code of its own.
pub(crate) fn is_owners(status: StatusCode, text: &str) -> bool {
    const QUOTA: [&str; 4] =
        ["insufficient_quota", "billing_hard_limit_reached", "billing_error", "exceeded_current_quota_error"];
    const SETTINGS: [&str; 8] = [
        "model_not_found",
        "model_not_exist",
        "invalid_model",
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "account_deactivated",
        "insufficient_balance",
    ];
    let body: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(&body);
    let named = |codes: &[&str]| {
        ["code", "type"].iter().any(|field| {
            let code = error.get(field).and_then(Value::as_str).unwrap_or_default();
            codes.iter().any(|known| known.eq_ignore_ascii_case(code))
        })
    };
    match status.as_u16() {
        300..400 | 401 | 402 | 403 | 404 | 405 | 407 | 410 | 501 => true,
        429 => named(&QUOTA),
        400 => {
            // Anthropic has no code for it.
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            named(&QUOTA) || named(&SETTINGS) || message.starts_with("Your credit balance is too low")
        }
        _ => false,
    }
}

/// Whether an error that comes within an answer says that the request was no good. By its code alone, as above.
pub(crate) fn is_the_agents(error: &Value) -> bool {
    const REQUEST: [&str; 8] = [
        "invalid_request_error",
        "invalid_request",
        "invalid_prompt",
        "bad_request",
        "bad_request_error",
        "content_filter",
        "content_policy_violation",
        "unprocessable_entity",
    ];
    ["code", "type"].iter().any(|field| match error.get(field) {
        Some(Value::Number(number)) => matches!(number.as_u64(), Some(400 | 413 | 415 | 422)),
        Some(Value::String(code)) => {
            REQUEST.iter().any(|known| known.eq_ignore_ascii_case(code))
                || matches!(code.as_str(), "400" | "413" | "415" | "422")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> StatusCode {
        StatusCode::from_u16(status).unwrap()
    }

    #[test]
    fn an_error_is_known_by_its_code_and_not_by_its_words() {
        for (code, text) in [
            (401, "anything"),
            (404, ""),
            (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
            (400, r#"{"error":{"message":"The model does not exist","code":"model_not_found"}}"#),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to"}}"#,
            ),
        ] {
            assert!(is_owners(status(code), text), "{code} {text}");
        }
        for (code, text) in [
            (429, r#"{"error":{"message":"insufficient_quota","code":"rate_limit_exceeded"}}"#),
            (400, r#"{"error":{"message":"tool `model_not_found` is not known","code":null}}"#),
            (
                400,
                r#"{"error":{"message":"bad value: {\"code\":\"invalid_api_key\"}","code":"invalid_value"}}"#,
            ),
            (400, r#"{"error":{"message":"messages[3]: `Your credit balance is too low`"}}"#),
            (400, "model_not_found"),
            (422, r#"{"code":"model_not_found"}"#),
            (500, r#"{"code":"model_not_found"}"#),
        ] {
            assert!(!is_owners(status(code), text), "{code} {text}");
        }
    }

    #[test]
    fn an_error_within_an_answer_is_the_agents_if_its_code_says_so() {
        let own = |text: &str| is_the_agents(&serde_json::from_str(text).unwrap());
        for text in [
            r#"{"code":"invalid_prompt","message":"no"}"#,
            r#"{"type":"invalid_request_error","message":"no"}"#,
            r#"{"code":400,"message":"no"}"#,
            r#"{"code":"content_filter"}"#,
        ] {
            assert!(own(text), "{text}");
        }
        for text in [
            r#"{"code":"server_error","message":"invalid_prompt"}"#,
            r#"{"type":"overloaded_error"}"#,
            r#"{"code":429}"#,
            r#"{"code":502}"#,
            r#"{"code":"invalid_api_key"}"#,
            r#""invalid_prompt""#,
            "null",
        ] {
            assert!(!own(text), "{text}");
        }
    }

    #[test]
    fn only_the_harnesss_own_api_counts() {
        let blame = Blame::new(vec![Route::Messages]);
        assert!(blame.concerns(Kind::Model(Route::Messages)));
        for kind in
            [Kind::Model(Route::ChatCompletions), Kind::Model(Route::Responses), Kind::Paid, Kind::Free]
        {
            assert!(!blame.concerns(kind));
        }
        assert!(Blame::new(Vec::new()).concerns(Kind::Model(Route::Responses)));
        let both = Blame::new(vec![Route::Messages, Route::Responses]);
        assert!(both.concerns(Kind::Model(Route::Messages)) && both.concerns(Kind::Model(Route::Responses)));
        assert!(!both.concerns(Kind::Model(Route::ChatCompletions)));
    }
}
