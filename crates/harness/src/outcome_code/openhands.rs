//! OpenHands CLI: chat completions, events on standard output between lines of text, and always the exit code 0.
//!
//! Tokens are only in the `base_state.json` of the conversation, cumulative over all its calls, one count for the agent and
//! one for the condenser. The memory of the session stores the sum of the last call, which is subtracted.
//!
//! When a session continues, it runs the call again during which it was killed, and puts the result after the new request.
//! [`unanswered_calls`] prevents that.

mod unanswered_calls;

use std::collections::BTreeMap;

use model::{EndReason, Tokens};
use serde::Deserialize;

use self::unanswered_calls::CONVERSATIONS;
pub(super) use self::unanswered_calls::answers;
use crate::call_end::{Signs, decide, fault};
use crate::readers::openhands::{dashed, read};
use crate::shell::is_uuid;
use crate::usage::Meter;
use crate::{Call, CommandEnd, Outcome};

/// Where no id was found.
pub(super) const NO_SESSION: &str =
    "no conversation in its output, nor just one in ~/.openhands/conversations";
/// Most bytes of `base_state.json`.
const CAP: u64 = 32 << 20;

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let read = read(ended.stdout);
    let mut signs = Signs::default();
    let before = call.session.and_then(|s| s.id.clone());
    // With an earlier session there is one in any case.
    let only = || {
        if call.earlier.is_none() { only_conversation(ended.home) } else { None }
    };
    let id = read.session.or(before).or_else(only);
    let state = id.as_deref().filter(|id| is_uuid(id)).and_then(|id| {
        let path = format!("{CONVERSATIONS}/{}/base_state.json", id.replace('-', ""));
        ended.home.read_json::<State>(&path, CAP).ok()
    });
    if let Some((code, detail)) = &read.error {
        let reason = match code.as_str() {
            "MaxIterationsReached" => EndReason::AgentError,
            _ => fault(None, &format!("{code}: {detail}")),
        };
        signs.failed(reason, &format!("{code}: {detail}"));
    }
    match state.as_ref().and_then(|s| s.execution_status.as_deref()) {
        Some("finished") if read.error.is_none() => signs.finished = true,
        Some("stuck") => signs.failed(EndReason::LoopDetected, "OpenHands found the agent stuck"),
        _ => {}
    }
    let mut session = crate::next_session(call.session, id);
    if signs.finished {
        unanswered_calls::forget(&mut session);
    } else {
        unanswered_calls::remember(&mut session, ended.home);
    }
    let mut meter = Meter::new(&mut session);
    let metrics = state.map(|s| s.stats.usage_to_metrics).unwrap_or_default();
    let total = metrics.values().map(Metrics::tokens).fold(Tokens::default(), Tokens::plus);
    let cost: f64 = metrics.values().filter_map(|m| m.accumulated_cost).filter(|c| c.is_finite()).sum();
    let usage = meter.tokens(total);
    let cost_usd = meter.cost(Some(cost).filter(|c| *c > 0.0));
    let (end, message) = decide(ended, &read.record, signs);
    Outcome { session: Some(session), steps: read.record.into_steps(), usage, cost_usd, end, message }
}

/// The conversation, if there is exactly one.
fn only_conversation(home: &files::Tree) -> Option<String> {
    let mut ids =
        home.list(CONVERSATIONS).into_iter().filter(files::Entry::is_folder).filter_map(|e| dashed(&e.name));
    let only = ids.next()?;
    ids.next().is_none().then_some(only)
}

#[derive(Debug, Deserialize)]
struct State {
    #[serde(default)]
    execution_status: Option<String>,
    #[serde(default)]
    stats: Stats,
}

#[derive(Debug, Default, Deserialize)]
struct Stats {
    #[serde(default)]
    usage_to_metrics: BTreeMap<String, Metrics>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    #[serde(default)]
    accumulated_cost: Option<f64>,
    #[serde(default)]
    accumulated_token_usage: Option<Usage>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Usage {
    #[serde(default, rename = "prompt_tokens")]
    prompt: Option<u64>,
    #[serde(default, rename = "cache_read_tokens")]
    cache_read: Option<u64>,
    #[serde(default, rename = "completion_tokens")]
    completion: Option<u64>,
}

impl Metrics {
    fn tokens(&self) -> Tokens {
        let usage = self.accumulated_token_usage.unwrap_or_default();
        Tokens { input: usage.prompt, cached: usage.cache_read, output: usage.completion }
    }
}
