//! Attempts that end while their agent waits for the endpoint.

use std::time::Duration;

use futures_util::future::join_all;
use gateway::{Attempt, Termination};

use crate::endpoint::{Act, End, Endpoint, SILENCE, attempt, client, post, start_gateway};
use crate::passing::{CHAT, CHAT_EVENTS};

const PATH: &str = "/v1/chat/completions";
/// What an attempt had: a tenth of it is a hundredth of a second.
const LIMIT: Duration = Duration::from_millis(100);

/// Asks and hangs up after a while, as a box does whose time has run out.
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

/// Asks and hangs up once it is so.
async fn hang_up_when(attempt: &Attempt, body: &'static str, so: impl Future<Output = ()>) {
    tokio::select! {
        () = hang_up(attempt, body, Duration::from_mins(1)) => panic!("it was answered"),
        () = so => {}
    }
}

/// Waits until the endpoint has got so many requests.
async fn got(endpoint: &Endpoint, requests: usize) {
    while endpoint.got().len() < requests {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn busy(seconds: &str) -> Act {
    Act::Answer { status: 429, headers: vec![("retry-after", seconds.to_owned())], body: "{}".into() }
}

#[tokio::test]
async fn an_attempt_that_waits_out_a_limit_of_the_endpoint_is_not_the_agents() {
    let endpoint = Endpoint::start(vec![busy("60")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut waiting = attempt.waiting();
    hang_up_when(&attempt, "{}", async { waiting.changed().await.unwrap() }).await;
    let seen = *waiting.borrow_and_update();
    assert_eq!(
        seen,
        Some(gateway::Waiting { status: 429, next_try: 2, most_tries: 3 }),
        "whoever watches is told"
    );
    assert_eq!(attempt.close().stop_reason, None, "it is not given up yet");
    assert_eq!(*attempt.waiting().borrow(), None);
    // Of an hour it would have been little, but it was the end.
    for limit in [LIMIT, Duration::from_hours(1)] {
        let why = attempt.endpoint_fault(limit, true).await.expect("it is the endpoint's");
        assert!(why.contains("429"), "{why}");
    }
    assert!(attempt.endpoint_fault(LIMIT, false).await.is_some(), "nor where its client gives up");
    assert_eq!(endpoint.got().len(), 1, "nobody had to be asked");
}

#[tokio::test]
async fn an_endpoint_that_is_silent_to_the_end_is_asked() {
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
        assert_eq!(endpoint.got().len(), 2, "the agent's request, and ours");
        assert_eq!(
            attempt.endpoint_fault(Duration::from_hours(1), true).await,
            None,
            "so short a silence says nothing"
        );
    }
}

#[tokio::test]
async fn what_was_answered_is_no_excuse() {
    let endpoint = Endpoint::start(vec![busy("0"), Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), true).await, None);
    assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), false).await, None);
}

#[tokio::test]
async fn an_answer_that_breaks_off_at_the_end_is_not_the_agents() {
    let Act::Pieces { kind, mut pieces, .. } = Act::pieces(CHAT_EVENTS, 1, End::Broken) else {
        unreachable!()
    };
    pieces.truncate(2);
    let act = Act::Pieces { kind, pieces, gap: Duration::from_millis(20), end: End::Broken };
    let endpoint = Endpoint::start(vec![act]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let _ = post(&attempt, PATH, "{}").await.text().await;
    assert_eq!(attempt.close().stop_reason, None, "one is no end");
    // A harness that does not try again says that its endpoint failed.
    assert!(
        attempt
            .endpoint_fault(Duration::from_hours(1), false)
            .await
            .is_some_and(|why| why.contains("broke off"))
    );
}

#[tokio::test]
async fn an_agent_that_hangs_up_on_an_answer_that_comes_is_not_excused() {
    let Act::Pieces { kind, pieces, end, .. } = Act::pieces(CHAT_EVENTS, 40, End::Silent) else {
        unreachable!()
    };
    let gap = Duration::from_millis(20);
    let endpoint = Endpoint::start(vec![Act::Pieces { kind, pieces, gap, end }]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    hang_up_when(&attempt, r#"{"stream":true}"#, async {
        // It has begun to come.
        while endpoint.sent() < 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    attempt.close();
    assert_eq!(attempt.endpoint_fault(Duration::from_mins(5), true).await, None);
    assert_eq!(endpoint.got().len(), 1);
}

/// An agent can ask for what the endpoint refuses; that it hangs up before that is looked into excuses nothing.
#[tokio::test]
async fn hanging_up_on_a_refusal_of_the_agents_own_making_is_no_excuse() {
    let hour = Duration::from_hours(1);
    for (ours, limits) in [(Act::json(200, CHAT), vec![LIMIT, hour]), (Act::Silence, vec![hour])] {
        let endpoint = Endpoint::start(vec![Act::json(404, "{}"), ours]).await;
        let mut settings = endpoint.settings();
        // It hangs up before it is tried once more.
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

/// Nor does a request beside others that are answered.
#[tokio::test]
async fn a_limit_that_holds_up_one_request_beside_others_is_no_excuse() {
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

/// What takes longer than we wait is the endpoint's only if it does not answer us, either.
#[tokio::test]
async fn an_answer_that_takes_too_long_is_looked_into() {
    // Side by side, because both wait.
    let looked_into = [(Act::json(200, CHAT), false), (busy("0"), true)].map(|(ours, over)| async move {
        // The agent's request, ours, and so on.
        let acts = [Act::Silence, ours].into_iter().cycle().take(6).collect();
        let endpoint = Endpoint::start(acts).await;
        let mut settings = endpoint.settings();
        settings.retry.silence = SILENCE;
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let status = post(&attempt, PATH, "{}").await.status();
        let seen = attempt.close();
        assert_eq!(seen.stop_reason.is_some(), over, "{status}: {:?}", seen.stop_reason);
        assert_eq!(attempt.endpoint_fault(LIMIT, true).await.is_some(), over);
    });
    join_all(looked_into).await;
}

/// A prompt that the endpoint refuses within a stream is the agent's own, as often as it sends it.
#[tokio::test]
async fn an_error_of_the_agents_own_making_within_an_answer_ends_nothing() {
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
        let seen = attempt.close();
        assert_eq!((endpoint.got().len(), &seen.stop_reason), (4, &None), "{text}");
        assert!(seen.records.iter().all(|record| record.faults.is_empty() && record.termination.is_none()));
        assert_eq!(attempt.endpoint_fault(Duration::from_hours(1), false).await, None);
    }
}

/// Endpoints close connections on which nobody reads.
#[tokio::test]
async fn an_agent_that_does_not_read_is_not_excused_by_what_breaks_then() {
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
            // Until nothing moves any more.
            let mut sent = 0;
            while endpoint.sent() != sent {
                sent = endpoint.sent();
                tokio::time::sleep(reads).await;
            }
            tokio::time::sleep(2 * reads).await;
        }
        while let Ok(Some(_)) = answer.chunk().await {}
        assert_eq!(attempt.close().records[0].termination, Some(cut), "with a pause: {pauses}");
    }
}
