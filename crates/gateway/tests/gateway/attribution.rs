//! Attempts that end while their agent waits for the endpoint.

use std::time::Duration;

use futures_util::future::join_all;
use gateway::{Attempt, EndedBy, EndpointFault, FaultTreatment, Gateway, Termination};

use crate::endpoint::{Act, End, Endpoint, SILENCE, attempt, client, post, start_gateway};
use crate::passing::{CHAT, CHAT_EVENTS};

const PATH: &str = "/v1/chat/completions";
/// The limit of an attempt: a tenth of it is a hundredth of a second.
const LIMIT: Duration = Duration::from_millis(100);

/// Sends a request and hangs up after a while, as a container does whose time is spent.
async fn hang_up(attempt: &Attempt, body: &'static str, after: Duration) {
    let asking =
        client().post(format!("{}{PATH}", attempt.base_url(0))).bearer_auth(attempt.key()).body(body);
    let reading = async {
        match asking.send().await {
            Ok(answer) => drop(answer.bytes().await),
            Err(error) => panic!("{error}"),
        }
    };
    let _ = tokio::time::timeout(after, reading).await;
}

/// Sends a request and hangs up once a condition holds.
pub(crate) async fn hang_up_when(attempt: &Attempt, body: &'static str, condition: impl Future<Output = ()>) {
    tokio::select! {
        () = hang_up(attempt, body, Duration::from_mins(1)) => panic!("it was answered"),
        () = condition => {}
    }
}

/// Waits until the endpoint has received this many requests.
async fn wait_for_requests(endpoint: &Endpoint, requests: usize) {
    while endpoint.received().len() < requests {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Has a request of the run answered, so that an agent may have acted. It takes one act of the endpoint.
async fn answer_one(gateway: &Gateway) {
    let other = gateway.open(attempt(9), None);
    assert_eq!(post(&other, PATH, "{}").await.status(), 200);
    other.close();
}

pub(crate) fn treatment(fault: Option<EndpointFault>) -> Option<FaultTreatment> {
    fault.map(|fault| fault.treatment)
}

pub(crate) const UNANSWERED: Option<FaultTreatment> = Some(FaultTreatment::RunUnanswered { was_asked: true });
const ENDS: [EndedBy; 4] =
    [EndedBy::TimeLimit, EndedBy::HarnessReport, EndedBy::HarnessExit, EndedBy::Finished];

pub(crate) fn busy(seconds: &str) -> Act {
    Act::Answer { status: 429, headers: vec![("retry-after", seconds.to_owned())], body: "{}".into() }
}

#[tokio::test]
async fn waiting_for_a_rate_limit_is_attributed_to_the_endpoint() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), busy("60")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    answer_one(&gateway).await;
    let attempt = gateway.open(attempt(1), None);
    let mut waiting = attempt.waiting();
    hang_up_when(&attempt, "{}", async { waiting.changed().await.unwrap() }).await;
    let shown = *waiting.borrow_and_update();
    assert_eq!(
        shown,
        Some(gateway::WaitingRequest { status: 429, next_try: 2, most_tries: 3 }),
        "observers see it"
    );
    assert_eq!(attempt.close().stop_reason, None, "the request is still being retried");
    assert_eq!(*attempt.waiting().borrow(), None);
    // It is little of an hour, but it was the end.
    for limit in [LIMIT, Duration::from_hours(1)] {
        let fault = attempt.endpoint_fault(limit, EndedBy::TimeLimit).await.expect("it is the endpoint's");
        assert!(fault.reason.contains("429") && fault.treatment == FaultTreatment::Censored, "{fault:?}");
    }
    assert!(
        attempt.endpoint_fault(LIMIT, EndedBy::HarnessReport).await.is_some(),
        "also where its client gives up"
    );
    assert_eq!(endpoint.received().len(), 2, "no probe was needed");
}

#[tokio::test]
async fn a_silent_endpoint_is_probed() {
    let answer = Act::json(200, CHAT);
    for (acts, blamed) in [
        (vec![answer.clone(), Act::Silence, answer.clone()], false),
        (vec![answer, Act::Silence, busy("1")], true),
    ] {
        let endpoint = Endpoint::start(acts).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
        let begun = std::time::Instant::now();
        let mut silent = Duration::ZERO;
        hang_up_when(&attempt, "{}", async {
            wait_for_requests(&endpoint, 2).await;
            let begin = std::time::Instant::now();
            // Connecting counts as silence, too, and takes its time on a busy machine.
            tokio::time::sleep((LIMIT * 5).max(begun.elapsed())).await;
            silent = begin.elapsed();
        })
        .await;
        attempt.close();
        // The silence of the endpoint is longer than a tenth of it, and shorter than half.
        let limit = silent * 10;
        let fault = attempt.endpoint_fault(limit, EndedBy::TimeLimit).await;
        assert_eq!(fault.is_some(), blamed, "{fault:?}");
        assert_eq!(endpoint.received().len(), 3, "the agent's requests and the probe");
        for ended_by in [EndedBy::HarnessExit, EndedBy::Finished] {
            let can_cause = blamed.then_some(FaultTreatment::RetriedThenAgent);
            assert_eq!(treatment(attempt.endpoint_fault(limit, ended_by).await), can_cause, "{ended_by:?}");
        }
        assert_eq!(endpoint.received().len(), 5, "whoever ended it, the endpoint is probed");
        assert_eq!(
            attempt.endpoint_fault(Duration::from_hours(1), EndedBy::TimeLimit).await,
            None,
            "so short a silence says nothing"
        );
    }
}

#[tokio::test]
async fn an_answered_request_is_no_excuse() {
    let endpoint = Endpoint::start(vec![busy("0"), Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), EndedBy::TimeLimit).await, None);
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), EndedBy::HarnessReport).await, None);
}

#[tokio::test]
async fn a_last_answer_that_breaks_off_is_attributed_to_the_endpoint() {
    let Act::Pieces { kind, mut pieces, .. } = Act::pieces(CHAT_EVENTS, 1, End::Broken) else {
        unreachable!()
    };
    pieces.truncate(2);
    let act = Act::Pieces { kind, pieces, gap: Duration::from_millis(20), end: End::Broken };
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), act]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    answer_one(&gateway).await;
    let attempt = gateway.open(attempt(1), None);
    let _ = post(&attempt, PATH, "{}").await.text().await;
    assert_eq!(attempt.close().stop_reason, None, "one broken answer ends nothing");
    // A harness that does not retry reports that its endpoint failed.
    assert!(attempt.endpoint_fault(Duration::from_hours(1), EndedBy::HarnessReport).await.is_some_and(
        |fault| fault.reason.contains("broke off") && fault.treatment == FaultTreatment::Censored
    ));
}

#[tokio::test]
async fn hanging_up_on_an_answer_is_no_excuse() {
    let Act::Pieces { kind, pieces, end, .. } = Act::pieces(CHAT_EVENTS, 40, End::Silent) else {
        unreachable!()
    };
    let gap = Duration::from_millis(20);
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), Act::Pieces { kind, pieces, gap, end }]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    answer_one(&gateway).await;
    let attempt = gateway.open(attempt(1), None);
    hang_up_when(&attempt, r#"{"stream":true}"#, async {
        // The answer has started.
        while endpoint.sent() < 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_mins(5), EndedBy::TimeLimit).await, None);
    assert_eq!(endpoint.received().len(), 2);
}

/// An agent can cause a refusal. Hanging up before the probe is answered excuses nothing.
#[tokio::test]
async fn hanging_up_on_a_refusal_is_no_excuse() {
    let hour = Duration::from_hours(1);
    for (last_act, limits) in [(Act::json(200, CHAT), vec![LIMIT, hour]), (Act::Silence, vec![hour])] {
        let acts = vec![Act::json(200, CHAT), Act::json(404, "{}"), last_act];
        let endpoint = Endpoint::start(acts).await;
        let mut settings = endpoint.settings();
        // It hangs up before the next try.
        settings.retry.first_wait = Duration::from_mins(1);
        settings.retry.longest_wait = Duration::from_mins(1);
        let gateway = start_gateway(settings).await;
        answer_one(&gateway).await;
        let attempt = gateway.open(attempt(1), None);
        hang_up_when(&attempt, "{}", wait_for_requests(&endpoint, 3)).await;
        assert_eq!(attempt.close().stop_reason, None);
        for limit in limits {
            let fault = attempt.endpoint_fault(limit, EndedBy::TimeLimit).await;
            // On a slow machine the pause after the refusal is most of the short limit.
            let may_be =
                |fault: EndpointFault| fault.treatment == FaultTreatment::RetriedThenAgent && limit == LIMIT;
            assert!(fault.is_none_or(may_be), "{limit:?}");
        }
    }
}

/// Neither does a request beside others that are answered.
#[tokio::test]
async fn a_waiting_request_beside_answered_ones_is_no_excuse() {
    let endpoint = Endpoint::start(vec![busy("60"), Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    hang_up_when(&attempt, "{}", async {
        wait_for_requests(&endpoint, 1).await;
        assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    })
    .await;
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), EndedBy::TimeLimit).await, None);
}

/// A longer silence than the gateway waits ends the attempt at once only if the probe fails, too.
#[tokio::test]
async fn a_long_silence_is_probed() {
    let silence = Act::Silence;
    // An answered probe counts for a minute, so it is sent once; a failed one is sent again after each try.
    let answered = vec![silence.clone(), Act::json(200, CHAT), silence.clone(), silence.clone()];
    let failed: Vec<Act> = [silence, busy("0")].into_iter().cycle().take(6).collect();
    // In parallel, because both wait.
    let looked_into = [(answered, 504, false), (failed, 403, true)].map(|(acts, status, over)| async move {
        let requests = acts.len();
        let endpoint = Endpoint::start(acts).await;
        let mut settings = endpoint.settings();
        settings.retry.silence = SILENCE;
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        assert_eq!(post(&attempt, PATH, "{}").await.status().as_u16(), status);
        let summary = attempt.close();
        assert_eq!(summary.stop_reason.is_some(), over, "{:?}", summary.stop_reason);
        assert_eq!(endpoint.received().len(), requests, "three tries, and the probes");
        // No model of the run has said a word, so no agent has acted.
        assert_eq!(treatment(attempt.endpoint_fault(LIMIT, EndedBy::TimeLimit).await), UNANSWERED);
        assert_eq!(endpoint.received().len(), requests, "which needs no probe");
    });
    join_all(looked_into).await;
}

/// A prompt that the endpoint refuses within a stream is attributed to the agent, however often it sends it.
#[tokio::test]
async fn a_request_error_within_an_answer_ends_nothing() {
    let event = "data: {\"error\":{\"message\":\"no\",\"code\":\"invalid_prompt\"}}\n\n";
    let late = format!("{}{event}", CHAT_EVENTS.split_inclusive("\n\n").next().unwrap());
    for text in [event.to_owned(), late] {
        let endpoint = Endpoint::start(vec![Act::events(&text)]).await;
        let mut settings = endpoint.settings();
        settings.is_run_answered = true;
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        for _ in 0..4 {
            let answer =
                post(&attempt, PATH, r#"{"stream":true,"stream_options":{"include_usage":true}}"#).await;
            assert_eq!(answer.text().await.unwrap(), text);
        }
        let summary = attempt.close();
        assert_eq!((endpoint.received().len(), &summary.stop_reason), (4, &None), "{text}");
        assert!(
            summary.records.iter().all(|record| record.faults.is_empty() && record.termination.is_none())
        );
        assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), EndedBy::HarnessReport).await, None);
    }
}

/// Endpoints close connections on which nobody reads.
#[tokio::test]
async fn a_connection_that_breaks_on_a_stalled_reader_is_the_agents() {
    let reads = Duration::from_millis(200);
    for (pauses, cut) in [(true, Termination::Agent), (false, Termination::Endpoint)] {
        // More than the buffers of two connections hold.
        let piece = format!("data: {}\n\n", "x".repeat(256 << 10));
        let pieces = vec![piece.into(); 128];
        let act = Act::Pieces { kind: "text/event-stream", pieces, gap: Duration::ZERO, end: End::Broken };
        let endpoint = Endpoint::start(vec![act]).await;
        let mut settings = endpoint.settings();
        settings.retry.reads = if pauses { reads } else { Duration::from_hours(1) };
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let mut answer = post(&attempt, PATH, r#"{"stream":true}"#).await;
        assert!(answer.chunk().await.unwrap().is_some());
        if pauses {
            // Until nothing moves: on a busy machine that is not so after one pause.
            let (mut sent, mut looks) = (0, 0);
            while looks < 5 {
                looks = if endpoint.sent() == sent { looks + 1 } else { 0 };
                sent = endpoint.sent();
                tokio::time::sleep(reads).await;
            }
        }
        while let Ok(Some(_)) = answer.chunk().await {}
        assert_eq!(attempt.close().records[0].termination, Some(cut), "with a pause: {pauses}");
    }
}

/// A harness has words of its own for what the gateway saw.
#[tokio::test]
async fn whatever_a_harness_calls_it_a_last_answer_that_broke_is_the_endpoints() {
    let hour = Duration::from_hours(1);
    let begin: String = CHAT_EVENTS.split_inclusive("\n\n").take(2).collect();
    let error = "data: {\"error\":{\"message\":\"gone\",\"code\":502}}\n\n";
    let gap = Duration::from_millis(20);
    let in_pieces = |text: &str, end| {
        let Act::Pieces { kind, pieces, .. } = Act::pieces(text, 1, end) else { unreachable!() };
        Act::Pieces { kind, pieces, gap, end }
    };
    for broken in [in_pieces(&begin, End::Broken), in_pieces(&format!("{begin}{error}"), End::Whole)] {
        let shown = format!("{broken:?}");
        let endpoint = Endpoint::start(vec![Act::json(200, CHAT), broken, Act::json(200, CHAT)]).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
        let _ = post(&attempt, PATH, r#"{"stream":true}"#).await.text().await;
        for ended_by in ENDS {
            let fault = attempt.endpoint_fault(hour, ended_by).await;
            // It may be a request beside work that is finished.
            let is_finished = ended_by == EndedBy::Finished;
            let expected =
                if is_finished { FaultTreatment::RetriedThenAgent } else { FaultTreatment::Censored };
            assert_eq!(treatment(fault), Some(expected), "{ended_by:?}: {shown}");
        }
        // Something complete came after it: what ended the harness was another thing.
        assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
        attempt.close();
        for ended_by in [EndedBy::HarnessExit, EndedBy::Finished] {
            assert_eq!(attempt.endpoint_fault(hour, ended_by).await, None, "{ended_by:?}: {shown}");
        }
    }
}

/// An agent can end its harness while that waits for the endpoint, so it is excused by that a few times only.
#[tokio::test]
async fn a_harness_that_gives_up_a_request_in_retry_is_retried_only_where_its_agent_has_acted() {
    for has_acted in [false, true] {
        let acts = if has_acted { vec![Act::json(200, CHAT), busy("60")] } else { vec![busy("60")] };
        let before = acts.len();
        let endpoint = Endpoint::start(acts).await;
        let mut settings = endpoint.settings();
        settings.is_run_answered = true;
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        if has_acted {
            assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
        }
        let mut waiting = attempt.waiting();
        hang_up_when(&attempt, "{}", async { waiting.changed().await.unwrap() }).await;
        attempt.close();
        let fault = attempt.endpoint_fault(Duration::from_hours(1), EndedBy::HarnessExit).await;
        let expected = if has_acted { FaultTreatment::RetriedThenAgent } else { FaultTreatment::Censored };
        assert_eq!(treatment(fault), Some(expected));
        assert_eq!(endpoint.received().len(), before, "no probe was needed");
    }
}

/// A small probe may be answered where no real request is. But what an agent left in its workspace can make the first request of
/// its next turn ask for a very long answer, so that excuses a few times only.
#[tokio::test]
async fn silence_to_every_request_of_an_attempt_is_probed_once_the_run_was_answered() {
    let answer = || Act::json(200, CHAT);
    for (is_answered, act, expected, requests) in [
        (false, answer(), UNANSWERED, 1),
        (true, answer(), Some(FaultTreatment::RetriedThenAgent), 2),
        (true, busy("0"), Some(FaultTreatment::Censored), 2),
    ] {
        for ended_by in ENDS {
            let endpoint = Endpoint::start(vec![Act::Silence, act.clone()]).await;
            let mut settings = endpoint.settings();
            settings.is_run_answered = is_answered;
            let gateway = start_gateway(settings).await;
            let attempt = gateway.open(attempt(1), None);
            hang_up_when(&attempt, "{}", async {
                wait_for_requests(&endpoint, 1).await;
                tokio::time::sleep(LIMIT / 2).await;
            })
            .await;
            attempt.close();
            let fault = attempt.endpoint_fault(LIMIT, ended_by).await;
            assert_eq!(treatment(fault), expected, "{is_answered} {ended_by:?}");
            assert_eq!(endpoint.received().len(), requests, "{is_answered} {ended_by:?}");
        }
    }
}

/// A stall that took most of the limit is excused a few times, because an agent can ask for a very long answer.
#[tokio::test]
async fn a_stall_that_took_most_of_the_limit_is_retried() {
    let begin: String = CHAT_EVENTS.split_inclusive("\n\n").take(1).collect();
    let endpoint = Endpoint::start(vec![
        Act::json(200, CHAT),
        Act::pieces(&begin, 1, End::Silent),
        Act::json(200, CHAT),
    ])
    .await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    hang_up_when(&attempt, r#"{"stream":true}"#, async {
        wait_for_requests(&endpoint, 2).await;
        tokio::time::sleep(LIMIT * 2).await;
    })
    .await;
    attempt.close();
    // Some harnesses give up before the limit strikes.
    for (probes, ended_by) in (1..).zip(ENDS) {
        let fault = attempt.endpoint_fault(LIMIT, ended_by).await;
        assert_eq!(treatment(fault), Some(FaultTreatment::RetriedThenAgent), "{ended_by:?}");
        assert_eq!(endpoint.received().len(), 2 + probes, "the probe was answered");
    }
}

/// The key, the model or the API may be wrong for real requests only.
#[tokio::test]
async fn an_error_to_every_real_request_of_a_run_is_the_endpoints() {
    let hour = Duration::from_hours(1);
    for status in [400, 401, 422] {
        let refused = Act::json(status, r#"{"error":{"message":"unknown field"}}"#);
        // After a 401 a probe is sent, which is answered; then the request is sent once more. Of the last request a second refusal
        // needs a probe that is newer than the first one.
        let acts = if status == 401 {
            let [first, again, answer] = [refused.clone(), refused.clone(), Act::json(200, CHAT)];
            vec![first, answer.clone(), again, answer.clone(), refused.clone(), refused.clone(), answer]
        } else {
            vec![refused.clone(), Act::json(200, CHAT), refused]
        };
        let endpoint = Endpoint::start(acts).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let first = gateway.open(attempt(1), None);
        assert_eq!(post(&first, PATH, "{}").await.status().as_u16(), status);
        first.close();
        assert_eq!(gateway.is_run_answered(), Some(false));
        for ended_by in ENDS {
            let fault = first.endpoint_fault(hour, ended_by).await.expect("no model has said a word");
            assert!(fault.reason.contains("unknown field"), "{fault:?}");
            assert_eq!(treatment(Some(fault)), UNANSWERED);
        }
        // One answer, and such an error is the agent's again.
        let second = gateway.open(attempt(2), None);
        assert_eq!(post(&second, PATH, "{}").await.status(), 200);
        assert_eq!(gateway.is_run_answered(), Some(true));
        assert_eq!(post(&second, PATH, "{}").await.status().as_u16(), status);
        second.close();
        assert_eq!(second.endpoint_fault(hour, EndedBy::HarnessExit).await, None);
    }
}
