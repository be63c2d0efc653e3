//! After an outage of the endpoint: no episode begins until it answers again.
//!
//! **Why.** An outage that is longer than the retries of an attempt ends its episode (`endpoint`, censored). The next episodes
//! would begin in the same outage and end the same way, one after the other.
//!
//! **The rule.** After an episode was given up because of the endpoint, the next one sends a probe, as preflight does: a small
//! request, at once and then with growing waits. The first answer lets all episodes begin. Without an answer in half an hour
//! the run ends as failed; its other episodes are unchanged, and a resume continues them. In direct mode no probe is possible:
//! there the run ends after [`MOST_CONSECUTIVE`] consecutive episodes that ended so.

pub(crate) mod outage_state;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::blocking::blocking;
use crate::connections;
use crate::control::PAUSE_CHECK_INTERVAL;
use crate::live::Phase;
use crate::run_context::{Ending, RunContext};
use crate::status::Status;

/// Most consecutive episodes that the endpoint may end in direct mode.
const MOST_CONSECUTIVE: u32 = 2;
/// Most characters of an answer that are shown.
const SHOWN_CHARACTERS: usize = 160;

/// The waits between two probes, and in all.
#[derive(Debug, Clone, Copy)]
struct WaitTimes {
    first: Duration,
    longest: Duration,
    whole: Duration,
}

const WAITS: WaitTimes = WaitTimes {
    first: Duration::from_secs(15),
    longest: Duration::from_mins(2),
    whole: Duration::from_mins(30),
};

/// Waits until an episode may begin. False if the run ends before.
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
        // A paused run sends no probes.
        while control_requests.borrow().pause {
            tokio::time::sleep(PAUSE_CHECK_INTERVAL).await;
        }
        gateway::check_endpoint(upstream, route, model).await.map(drop).map_err(|error| error.message)
    };
    let show = |reason: &str, wait: Duration| {
        let reason = model::one_line(&context.scrub.text(reason), SHOWN_CHARACTERS);
        let text = format!("waits for the endpoint, which is asked again in {} s: {reason}", wait.as_secs());
        status.phase(Phase::Waiting, &text);
    };
    match ask_until_answered(WAITS, ask, show).await {
        Ok(()) => {
            context.outage.given_up.store(0, Ordering::Relaxed);
            true
        }
        Err(reason) => {
            let minutes = WAITS.whole.as_secs() / 60;
            context.end(Ending::Broken(format!(
                "the endpoint did not answer for {minutes} minutes after it had ended an episode, so no other was begun: {}",
                context.scrub.text(&reason)
            )));
            false
        }
    }
}

/// Whether an episode may begin in direct mode, where no probe is possible.
fn may_begin_unasked(context: &RunContext) -> bool {
    let given_up = context.outage.given_up.load(Ordering::Relaxed);
    if given_up < MOST_CONSECUTIVE {
        return true;
    }
    context.end(Ending::Broken(format!(
        "the endpoint has ended {given_up} episodes in a row, so no other was begun"
    )));
    false
}

/// Asks until there is an answer. The error is that of the last probe.
async fn ask_until_answered<Answer: Future<Output = Result<(), String>>>(
    waits: WaitTimes,
    mut ask: impl FnMut() -> Answer,
    mut show: impl FnMut(&str, Duration),
) -> Result<(), String> {
    let (mut wait, mut waited) = (waits.first, Duration::ZERO);
    loop {
        let Err(reason) = ask().await else { return Ok(()) };
        if waited >= waits.whole {
            return Err(reason);
        }
        show(&reason, wait);
        tokio::time::sleep(wait).await;
        waited += wait;
        wait = (wait * 2).min(waits.longest);
    }
}

#[cfg(test)]
mod tests {
    use model::EndReason;

    use super::outage_state::Outage;
    use super::*;
    use crate::settings::EndpointSettings;

    const QUICK: WaitTimes = WaitTimes {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(4),
        whole: Duration::from_millis(15),
    };

    #[tokio::test]
    async fn probes_have_growing_waits_until_an_answer() {
        let (mut probes, mut shown) = (0, Vec::new());
        let ask = || {
            probes += 1;
            std::future::ready(if probes < 5 { Err(format!("no {probes}")) } else { Ok(()) })
        };
        let show = |reason: &str, wait: Duration| shown.push((reason.to_owned(), wait.as_millis()));
        assert_eq!(ask_until_answered(QUICK, ask, show).await, Ok(()));
        assert_eq!(shown.iter().map(|(_, wait)| *wait).collect::<Vec<_>>(), [1, 2, 4, 4]);
        assert_eq!(shown[3].0, "no 4");
    }

    #[tokio::test]
    async fn probes_end_after_the_longest_wait() {
        let mut probes = 0;
        let ask = || {
            probes += 1;
            std::future::ready(Err(format!("no {probes}")))
        };
        // 1 + 2 + 4 + 4 + 4 ms.
        assert_eq!(ask_until_answered(QUICK, ask, |_, _| ()).await, Err("no 6".to_owned()));
    }

    #[test]
    fn behind_a_gateway_only_a_probe_ends_an_outage() {
        use EndReason as R;
        let given_up = |reasons: &[EndReason], endpoint: &EndpointSettings| {
            let outage = Outage::default();
            for reason in reasons {
                outage.count_episode_end(*reason, endpoint);
            }
            outage.given_up.into_inner()
        };
        let ends = [R::TestsFailed, R::Endpoint, R::TestsFailed];
        assert_eq!(given_up(&ends[..1], &EndpointSettings::Oracle), 0);
        assert_eq!(given_up(&ends, &EndpointSettings::Oracle), 1);
        assert_eq!(given_up(&ends, &EndpointSettings::Direct), 0);
        assert_eq!(given_up(&[R::Endpoint; 2], &EndpointSettings::Direct), MOST_CONSECUTIVE);
    }
}
