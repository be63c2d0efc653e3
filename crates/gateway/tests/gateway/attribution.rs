//! Attempts that end while their agent waits for the endpoint.

use std::time::Duration;

use futures_util::future::join_all;
use gateway::{Attempt, Termination};

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
async fn hang_up_when(attempt: &Attempt, body: &'static str, so: impl Future<Output = ()>) {
    tokio::select! {
        () = hang_up(attempt, body, Duration::from_mins(1)) => panic!("it was answered"),
        () = so => {}
    }
}

/// Waits until the endpoint has received this many requests.
async fn got(endpoint: &Endpoint, requests: usize) {
    while endpoint.got().len() < requests {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn busy(seconds: &str) -> Act {
    Act::Answer { status: 429, headers: vec![("retry-after", seconds.to_owned())], body: "{}".into() }
}

#[tokio::test]
async fn waiting_for_a_rate_limit_is_attributed_to_the_endpoint() {
    let endpoint = Endpoint::start(vec![busy("60")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut waiting = attempt.waiting();
    hang_up_when(&attempt, "{}", async { waiting.changed().await.unwrap() }).await;
    let shown = *waiting.borrow_and_update();
    assert_eq!(shown, Some(gateway::Waiting { status: 429, next_try: 2, most_tries: 3 }), "observers see it");
    assert_eq!(attempt.close().stop_reason, None, "the request is still being retried");
    assert_eq!(*attempt.waiting().borrow(), None);
    // It is little of an hour, but it was the end.
    for limit in [LIMIT, Duration::from_hours(1)] {
        let why = attempt.endpoint_fault(limit, true).await.expect("it is the endpoint's");
        assert!(why.contains("429"), "{why}");
    }
    assert!(attempt.endpoint_fault(LIMIT, false).await.is_some(), "also where its client gives up");
    assert_eq!(endpoint.got().len(), 1, "no probe was needed");
}

#[tokio::test]
async fn a_silent_endpoint_is_probed() {
    for (acts, blamed) in
        [(vec![Act::Silence, Act::json(200, CHAT)], false), (vec![Act::Silence, busy("1")], true)]
    {
        let endpoint = Endpoint::start(acts).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        hang_up_when(&attempt, "{}", async {
            got(&endpoint, 1).await;
            tokio::time::sleep(LIMIT / 2).await;
        })
        .await;
        attempt.close();
        let why = attempt.endpoint_fault(LIMIT, true).await;
        assert_eq!(why.is_some(), blamed, "{why:?}");
        assert_eq!(endpoint.got().len(), 2, "the agent's request and the probe");
        assert_eq!(
            attempt.endpoint_fault(Duration::from_hours(1), true).await,
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
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), true).await, None);
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), false).await, None);
}

#[tokio::test]
async fn a_last_answer_that_breaks_off_is_attributed_to_the_endpoint() {
    let Act::Pieces { kind, mut pieces, .. } = Act::pieces(CHAT_EVENTS, 1, End::Broken) else {
        unreachable!()
    };
    pieces.truncate(2);
    let act = Act::Pieces { kind, pieces, gap: Duration::from_millis(20), end: End::Broken };
    let endpoint = Endpoint::start(vec![act]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let _ = post(&attempt, PATH, "{}").await.text().await;
    assert_eq!(attempt.close().stop_reason, None, "one broken answer ends nothing");
    // A harness that does not retry reports that its endpoint failed.
    assert!(
        attempt
            .endpoint_fault(Duration::from_hours(1), false)
            .await
            .is_some_and(|why| why.contains("broke off"))
    );
}

#[tokio::test]
async fn hanging_up_on_an_answer_is_no_excuse() {
    let Act::Pieces { kind, pieces, end, .. } = Act::pieces(CHAT_EVENTS, 40, End::Silent) else {
        unreachable!()
    };
    let gap = Duration::from_millis(20);
    let endpoint = Endpoint::start(vec![Act::Pieces { kind, pieces, gap, end }]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    hang_up_when(&attempt, r#"{"stream":true}"#, async {
        // The answer has started.
        while endpoint.sent() < 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_mins(5), true).await, None);
    assert_eq!(endpoint.got().len(), 1);
}

/// An agent can cause a refusal. Hanging up before the probe is answered excuses nothing.
#[tokio::test]
async fn hanging_up_on_a_refusal_is_no_excuse() {
    let hour = Duration::from_hours(1);
    for (ours, limits) in [(Act::json(200, CHAT), vec![LIMIT, hour]), (Act::Silence, vec![hour])] {
        let endpoint = Endpoint::start(vec![Act::json(404, "{}"), ours]).await;
        let mut settings = endpoint.settings();
        // It hangs up before the next try.
        settings.retry.first_wait = Duration::from_mins(1);
        settings.retry.longest_wait = Duration::from_mins(1);
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        hang_up_when(&attempt, "{}", got(&endpoint, 2)).await;
        assert_eq!(attempt.close().stop_reason, None);
        for limit in limits {
            assert_eq!(attempt.endpoint_fault(limit, true).await, None, "{limit:?}");
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
        got(&endpoint, 1).await;
        assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    })
    .await;
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), true).await, None);
}

/// A longer silence than the gateway waits is attributed to the endpoint only if the probe fails, too.
#[tokio::test]
async fn a_long_silence_is_probed() {
    // In parallel, because both wait.
    let looked_into = [(Act::json(200, CHAT), false), (busy("0"), true)].map(|(ours, over)| async move {
        // The agent's request, the probe, and so on.
        let acts = [Act::Silence, ours].into_iter().cycle().take(6).collect();
        let endpoint = Endpoint::start(acts).await;
        let mut settings = endpoint.settings();
        settings.retry.silence = SILENCE;
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let status = post(&attempt, PATH, "{}").await.status();
        let summary = attempt.close();
        assert_eq!(summary.stop_reason.is_some(), over, "{status}: {:?}", summary.stop_reason);
        assert_eq!(attempt.endpoint_fault(LIMIT, true).await.is_some(), over);
    });
    join_all(looked_into).await;
}

/// A prompt that the endpoint refuses within a stream is attributed to the agent, however often it sends it.
#[tokio::test]
async fn a_request_error_within_an_answer_ends_nothing() {
    let own = "data: {\"error\":{\"message\":\"no\",\"code\":\"invalid_prompt\"}}\n\n";
    let late = format!("{}{own}", CHAT_EVENTS.split_inclusive("\n\n").next().unwrap());
    for text in [own.to_owned(), late] {
        let endpoint = Endpoint::start(vec![Act::events(&text)]).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        for _ in 0..4 {
            let answer =
                post(&attempt, PATH, r#"{"stream":true,"stream_options":{"include_usage":true}}"#).await;
            assert_eq!(answer.text().await.unwrap(), text);
        }
        let summary = attempt.close();
        assert_eq!((endpoint.got().len(), &summary.stop_reason), (4, &None), "{text}");
        assert!(
            summary.records.iter().all(|record| record.faults.is_empty() && record.termination.is_none())
        );
        assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), false).await, None);
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
