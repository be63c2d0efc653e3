//! After an outage of the endpoint: no episode begins until it answers again.
//!
//! **Why.** An outage that outlasts the repeats of an attempt ends its episode (`endpoint`, censored). The next one in the queue
//! would begin into the same outage and end the same way, and so would all that are left, one after the other.
//!
//! **The rule.** Once an episode was given up because of the endpoint, whoever is to begin next asks the endpoint, as preflight
//! does: with one request that costs next to nothing, at once and then with growing waits. The first answer lets all of them
//! begin. Where none comes in half an hour of waits the run ends as failed; what is left of it is untouched, and a resume plays
//! it. In direct mode nobody here can ask: there the run ends once [`IN_A_ROW`] episodes ended so with no other end in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use model::EndReason;

use crate::agent::blocking;
use crate::live::Phase;
use crate::run_context::{Ending, RunContext};
use crate::settings::EndpointSettings;
use crate::status::Status;
use crate::{connections, record};

/// Episodes in a row that an endpoint may end which nobody can ask.
const IN_A_ROW: u32 = 2;
/// How often a pause is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Longest of what is shown of an answer.
const SHOWN: usize = 160;

/// How long it is waited between two questions, and in all.
#[derive(Debug, Clone, Copy)]
struct Waits {
    first: Duration,
    longest: Duration,
    whole: Duration,
}

const WAITS: Waits =
    Waits { first: Duration::from_secs(15), longest: Duration::from_mins(2), whole: Duration::from_mins(30) };

/// Whether the endpoint has failed and has not answered since.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// Episodes that were given up since its last answer.
    given_up: AtomicU32,
    /// Held by whoever asks: one is enough.
    asking: tokio::sync::Mutex<()>,
}

impl Outage {
    /// An episode is over.
    pub(crate) fn ended(&self, reason: EndReason, endpoint: &EndpointSettings) {
        if reason == EndReason::Endpoint {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        } else if *endpoint == EndpointSettings::Direct {
            // Its agent was answered to its end. Behind a gateway only the endpoint itself says so: this one may have had its
            // last answer before the outage.
            self.given_up.store(0, Ordering::Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) == 0
    }
}

/// Waits until an episode may begin. False where the run ends before.
pub(crate) async fn wait_for_endpoint(context: &RunContext, status: &Arc<Status>) -> bool {
    if context.outage.is_over() {
        return true;
    }
    tokio::select! {
        answers = answers(context, status) => answers,
        () = context.stop.cancelled() => false,
    }
}

async fn answers(context: &RunContext, status: &Arc<Status>) -> bool {
    status.phase(Phase::Waiting, "waits until the endpoint answers again");
    let _one = context.outage.asking.lock().await;
    if context.outage.is_over() {
        return true;
    }
    let settings = context.settings.clone();
    let upstream = match blocking(move || connections::upstream(&settings)).await {
        Ok(Some(upstream)) => upstream,
        Ok(None) => return may_begin_unasked(context),
        Err(error) => {
            context.end(Ending::Broken(error.to_string()));
            return false;
        }
    };
    let route =
        context.harness.apis().first().copied().map_or(gateway::Route::ChatCompletions, connections::route);
    let model = context.settings.model.as_deref().unwrap_or("default");
    let (upstream, control_requests) = (&upstream, &context.control_requests);
    let ask = || async move {
        // Nothing is asked in a pause.
        while control_requests.borrow().pause {
            tokio::time::sleep(LOOK).await;
        }
        gateway::preflight(upstream, route, model).await.map(drop).map_err(|error| error.message)
    };
    let say = |why: &str, wait: Duration| {
        let why = record::one_line(&context.scrub.text(why), SHOWN);
        let text = format!("waits for the endpoint, which is asked again in {} s: {why}", wait.as_secs());
        status.phase(Phase::Waiting, &text);
    };
    match until_answered(WAITS, ask, say).await {
        Ok(()) => {
            context.outage.given_up.store(0, Ordering::Relaxed);
            true
        }
        Err(why) => {
            let minutes = WAITS.whole.as_secs() / 60;
            context.end(Ending::Broken(format!(
                "the endpoint did not answer for {minutes} minutes after it had ended an episode, so no other was begun: {}",
                context.scrub.text(&why)
            )));
            false
        }
    }
}

/// Whether an episode may begin where nobody can ask the endpoint.
fn may_begin_unasked(context: &RunContext) -> bool {
    let given_up = context.outage.given_up.load(Ordering::Relaxed);
    if given_up < IN_A_ROW {
        return true;
    }
    context.end(Ending::Broken(format!(
        "the endpoint has ended {given_up} episodes in a row, so no other was begun"
    )));
    false
}

/// Asks until there is an answer; an error is the last one that there was no answer with.
async fn until_answered<Answer: Future<Output = Result<(), String>>>(
    waits: Waits,
    mut ask: impl FnMut() -> Answer,
    mut say: impl FnMut(&str, Duration),
) -> Result<(), String> {
    let (mut wait, mut waited) = (waits.first, Duration::ZERO);
    loop {
        let Err(why) = ask().await else { return Ok(()) };
        if waited >= waits.whole {
            return Err(why);
        }
        say(&why, wait);
        tokio::time::sleep(wait).await;
        waited += wait;
        wait = (wait * 2).min(waits.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Waits = Waits {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(4),
        whole: Duration::from_millis(15),
    };

    #[tokio::test]
    async fn it_is_asked_with_growing_waits_until_it_answers() {
        let (mut asked, mut told) = (0, Vec::new());
        let ask = || {
            asked += 1;
            std::future::ready(if asked < 5 { Err(format!("no {asked}")) } else { Ok(()) })
        };
        let say = |why: &str, wait: Duration| told.push((why.to_owned(), wait.as_millis()));
        assert_eq!(until_answered(QUICK, ask, say).await, Ok(()));
        assert_eq!(told.iter().map(|(_, wait)| *wait).collect::<Vec<_>>(), [1, 2, 4, 4]);
        assert_eq!(told[3].0, "no 4");
    }

    #[tokio::test]
    async fn it_is_not_asked_for_ever() {
        let mut asked = 0;
        let ask = || {
            asked += 1;
            std::future::ready(Err(format!("no {asked}")))
        };
        // 1 + 2 + 4 + 4 + 4 ms.
        assert_eq!(until_answered(QUICK, ask, |_, _| ()).await, Err("no 6".to_owned()));
    }

    #[test]
    fn behind_a_gateway_only_the_endpoint_says_that_it_answers() {
        use EndReason as R;
        let of = |reasons: &[EndReason], endpoint: &EndpointSettings| {
            let outage = Outage::default();
            for reason in reasons {
                outage.ended(*reason, endpoint);
            }
            outage.given_up.into_inner()
        };
        let ends = [R::TestsFailed, R::Endpoint, R::TestsFailed];
        assert_eq!(of(&ends[..1], &EndpointSettings::Oracle), 0);
        assert_eq!(of(&ends, &EndpointSettings::Oracle), 1);
        assert_eq!(of(&ends, &EndpointSettings::Direct), 0);
        assert_eq!(of(&[R::Endpoint; 2], &EndpointSettings::Direct), IN_A_ROW);
    }
}
