//! Addresses, keys, and the end of attempts and gateways.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use gateway::{Attempt, Gateway, Record, Spent, Termination, Upstream};
use serde_json::Value;

use crate::endpoint::{Act, End, Endpoint, REAL_KEY, attempt, client, post, start_gateway};
use crate::kept::KeptIfFailed;
use crate::passing::{CHAT, CHAT_EVENTS};

const PATH: &str = "/v1/chat/completions";
/// Keeps a test from hanging.
const PATIENCE: Duration = Duration::from_mins(1);

async fn status(url: String, key: &str) -> u16 {
    client().post(url).bearer_auth(key).body("{}").send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn an_address_and_a_key_are_worthless_outside_their_attempt() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = Gateway::start(
        &["127.0.0.1:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap()],
        endpoint.settings(),
    )
    .await
    .unwrap();
    assert_eq!(gateway.addresses().len(), 2);
    let (first, second) = (gateway.open(attempt(1), None), gateway.open(attempt(2), None));
    let url = |attempt: &Attempt, address: usize| format!("{}{PATH}", attempt.base_url(address));
    assert_ne!(first.base_url(0), first.base_url(1));
    assert!(first.base_url(1).ends_with(&first.path()));
    for address in [0, 1] {
        assert_eq!(status(url(&first, address), first.key()).await, 200);
    }
    assert_eq!(status(url(&first, 0), second.key()).await, 401);
    assert_eq!(status(url(&first, 0), "").await, 401);
    let anywhere = format!("http://{}", gateway.addresses()[0]);
    assert_eq!(status(format!("{anywhere}/a/0000{PATH}"), first.key()).await, 404);
    assert_eq!(status(format!("{anywhere}{PATH}"), first.key()).await, 404);

    let (closed_url, key) = (url(&first, 0), first.key().to_owned());
    assert_eq!(first.close().spent.requests, 2);
    assert_eq!(status(closed_url, &key).await, 410);
    let (closed_url, key) = (url(&second, 0), second.key().to_owned());
    drop(second);
    assert_eq!(status(closed_url, &key).await, 410);
    assert_eq!(endpoint.received().len(), 2);
}

#[tokio::test]
async fn closing_interrupts_requests_in_flight_and_counts_them() {
    let pieces = vec![CHAT_EVENTS.split_inclusive("\n\n").next().unwrap().to_owned().into()];
    let act = Act::Pieces { kind: "text/event-stream", pieces, gap: Duration::ZERO, end: End::Silent };
    let endpoint = Endpoint::start(vec![act, Act::Silence]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut streaming = post(&attempt, PATH, r#"{"stream":true}"#).await;
    streaming.chunk().await.unwrap();
    let url = format!("{}{PATH}", attempt.base_url(0));
    let key = attempt.key().to_owned();
    let waiting = tokio::spawn(async move { status(url, &key).await });
    while endpoint.received().len() < 2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let summary = attempt.close();
    assert_eq!(waiting.await.unwrap(), 410);
    assert!(streaming.chunk().await.is_err(), "the stream does not look as if it had finish");
    let mut ends: Vec<_> = summary.records.iter().map(|record| (record.status, record.termination)).collect();
    ends.sort_unstable_by_key(|(status, _)| *status);
    assert_eq!(ends, [(200, Some(Termination::Closed)), (410, Some(Termination::Closed))]);
    assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.spent.cost_usd), (1, 2, None));
}

#[tokio::test]
async fn a_dropped_gateway_stops() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let open = gateway.open(attempt(1), None);
    let url = format!("{}{PATH}", open.base_url(0));
    drop(gateway);
    let patience = tokio::time::timeout(PATIENCE, async {
        while client().post(&url).bearer_auth(open.key()).send().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(patience.await.is_ok(), "its port is closed");
    assert_eq!(open.close().spent.requests, 0);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    // Announced and never sent: it is refused at once.
    let url = format!("{}{PATH}", attempt.base_url(0));
    let request =
        client().post(url).bearer_auth(attempt.key()).header("content-length", (65_u64 << 20).to_string());
    let body = reqwest::Body::from(vec![b' '; 65 << 20]);
    match request.body(body).send().await {
        Ok(answer) => assert_eq!(answer.status(), 413),
        // The gateway hung up while the client was still sending.
        Err(error) => assert!(error.is_request() || error.is_body(), "{error:?}"),
    }
    assert_eq!(endpoint.received().len(), 0);
    assert_eq!(post(&attempt, PATH, format!("{{{}}}", " ".repeat(3 << 20))).await.status(), 200);
}

/// A client that is still sending receives the refusal, not a broken connection, which it would retry.
#[tokio::test]
async fn refusals_reach_clients_that_are_still_sending() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    settings.budgets.attempt.tokens = Some(0);
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    let base = attempt.base_url(0);
    for (url, key, expected) in [
        (format!("{base}{PATH}"), attempt.key(), 403),
        (format!("{base}{PATH}"), "wrong", 401),
        (format!("{base}/v1/files"), attempt.key(), 404),
        (format!("http://{}/a/0{PATH}", gateway.addresses()[0]), "any", 404),
    ] {
        let answer = client().post(&url).bearer_auth(key).body(vec![b' '; 8 << 20]).send().await;
        assert_eq!(answer.expect("an answer").status(), expected, "{url}");
    }
    assert_eq!(endpoint.received().len(), 0);
}

/// The key is in no answer, record, log, debug text or error, whatever the endpoint repeats.
#[tokio::test]
// docs/security.md: Agents
async fn the_key_appears_nowhere() {
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let echo =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {REAL_KEY}","code":"{REAL_KEY}"}}}}"#);
    let events = format!("data: {{\"error\":{{\"message\":\"bad key {REAL_KEY}\"}}}}\n\n");
    let mut shown = String::new();
    for act in [
        Act::json(401, &echo),
        Act::json(400, &echo),
        Act::json(500, &echo),
        Act::events(&events),
        Act::json(200, CHAT),
    ] {
        let endpoint = Endpoint::start(vec![act]).await;
        let mut settings = endpoint.settings();
        settings.log = Some(log.clone());
        shown.push_str(&format!("{settings:?}"));
        let upstream = settings.upstream.clone();
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let answer = post(&attempt, PATH, r#"{"model":"m"}"#).await;
        shown.push_str(&format!("{answer:?}"));
        shown.push_str(&answer.text().await.unwrap());
        shown.push_str(&format!("{attempt:?}{gateway:?}{:?}", attempt.summary()));
        shown.push_str(&format!(
            "{:?}",
            gateway::check_endpoint(&upstream, gateway::Route::ChatCompletions, "m").await
        ));
        drop(attempt);
        assert!(
            endpoint
                .received()
                .iter()
                .all(|request| request.headers["authorization"] == format!("Bearer {REAL_KEY}"))
        );
    }
    // In the middle of a valid answer.
    let broken =
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}}}}]}}\n\n{events}");
    let endpoint = Endpoint::start(vec![Act::events(&broken); 9]).await;
    let mut settings = endpoint.settings();
    settings.retry.tries = 1;
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    post(&attempt, PATH, r#"{"model":"m","stream":true}"#).await.text().await.unwrap();
    let summary = format!("{:?}", attempt.summary());
    assert!(summary.contains("bad key …"), "{summary}");
    shown.push_str(&summary);
    for base_url in ["ftp://x", "http://a:b@c", "::"] {
        let endpoint = Endpoint::start(vec![Act::Silence]).await;
        let mut settings = endpoint.settings();
        if let Upstream::Http { base_url: upstream_url, .. } = &mut settings.upstream {
            *upstream_url = base_url.to_owned();
        }
        let error = Gateway::start(&[], settings).await.unwrap_err();
        shown.push_str(&format!("{error:?}{error}"));
    }
    shown.push_str(&std::fs::read_to_string(&log).unwrap());
    assert!(!shown.contains(REAL_KEY), "{shown}");
    assert!(shown.contains("scenario_1") && shown.contains("Incorrect API key provided: …"));
}

#[tokio::test]
async fn the_log_has_a_line_for_each_request_and_survives_a_partial_one() {
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    std::fs::write(&log, "{\"torn").unwrap();
    for _ in 0..2 {
        let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
        let mut settings = endpoint.settings();
        settings.log = Some(log.clone());
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(7), None);
        for _ in 0..3 {
            post(&attempt, PATH, r#"{"model":"m","messages":[{"content":"private"}]}"#).await;
        }
        drop(attempt);
        drop(gateway);
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let (begun, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains("\"begun\""));
    assert_eq!((begun.len(), lines.len(), lines[0]), (6, 7, "{\"torn"));
    for line in &lines[1..] {
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!((record.key.turn, record.model.as_deref(), record.status), (7, Some("m"), 200));
        let fields: Value = serde_json::from_str(line).unwrap();
        assert_eq!(fields["episode"], "scenario_1");
    }
    assert!(!text.contains("private"));
}

#[tokio::test]
async fn spending_can_be_computed_from_the_log() {
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    assert_eq!(gateway::read_totals(&log).unwrap(), gateway::LogTotals::default());
    let refused = Act::json(400, "{}");
    let silent = Act::json(200, r#"{"choices":[{"message":{"content":"no usage"}}]}"#);
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), refused, Act::json(200, CHAT), silent]).await;
    let mut settings = endpoint.settings();
    settings.log = Some(log.clone());
    let gateway = start_gateway(settings).await;
    let first = gateway.open(attempt(1), None);
    let second =
        gateway.open(gateway::AttemptKey { episode: "scenario_7".to_owned(), turn: 1, attempt: 1 }, None);
    post(&first, PATH, "{}").await;
    post(&first, PATH, "{}").await;
    post(&second, PATH, "{}").await;
    post(&second, PATH, "{}").await;
    // Nobody closes them, as when the program is killed.
    let spent = |episode: &str| Spent { seconds: 0.0, ..gateway.episode_spent(episode) };
    let (first_spent, other, all) =
        (spent("scenario_1"), spent("scenario_7"), Spent { seconds: 0.0, ..gateway.spent() });
    assert_eq!(
        (first_spent.requests, first_spent.cost_usd.is_some(), other.unmetered, all.cost_usd),
        (1, true, 1, None)
    );
    drop((first, second));
    drop(gateway);
    let counted = gateway::read_totals(&log).unwrap();
    assert_eq!(counted.run, all);
    assert_eq!(counted.episodes["scenario_1"], first_spent);
    assert_eq!(counted.episodes["scenario_7"], other);
    assert!(
        other.guess.tokens > 0,
        "what budgets count for an answer without usage is not forgotten: {other:?}"
    );
}

#[tokio::test]
async fn the_log_tells_how_long_a_stream_took_to_begin_and_to_end() {
    const GAP: Duration = Duration::from_millis(50);
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let chunk = |delta: &str, end: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{end}}}]}}\n\n")
    };
    let usage =
        r#"{"prompt_tokens":900,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":100}}"#;
    let [role, first, last, end] = [
        chunk(r#"{"role":"assistant","content":null}"#, "null"),
        chunk(r#"{"reasoning_content":"Hm"}"#, "null"),
        chunk(r#"{"content":"Yes"}"#, r#""stop""#),
        format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"),
    ];
    let stream = |pieces: &[&String], end: End| Act::Pieces {
        kind: "text/event-stream",
        pieces: pieces.iter().map(|piece| (*piece).clone().into()).collect(),
        gap: GAP,
        end,
    };
    let complete = stream(&[&role, &first, &last, &end], End::Whole);
    let endpoint =
        Endpoint::start(vec![complete, Act::json(200, CHAT), stream(&[&role, &first], End::Broken)]).await;
    let mut settings = endpoint.settings();
    settings.log = Some(log.clone());
    let gateway = start_gateway(settings).await;
    let opened = gateway.open(attempt(1), None);
    let body = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#;
    for _ in 0..3 {
        // The last one breaks off.
        let _ = post(&opened, PATH, body).await.text().await;
    }
    let records = opened.summary().records;
    let times = records[0].stream.expect("a whole stream");
    // Two pieces until there is content, and two after it.
    assert!(times.first_seconds >= 2.0 * GAP.as_secs_f64(), "{times:?}");
    assert!(times.first_seconds + times.rest_seconds >= 4.0 * GAP.as_secs_f64(), "{times:?}");
    assert!(times.rest_seconds > 0.0 && times.first_seconds + times.rest_seconds <= records[0].seconds);
    assert!(records[1..].iter().all(|record| record.stream.is_none()), "{records:?}");
    drop(opened);
    drop(gateway);
    let speed = gateway::read_totals(&log).unwrap().speeds.tokens_per_second().prompt.unwrap();
    assert!(
        (speed.median * times.first_seconds - 800.0).abs() < 1e-6 && (speed.p10 - speed.median).abs() < 1e-6,
        "{speed:?}"
    );
}

/// Secrets of containers can appear in requests of an agent and in answers of an endpoint.
#[tokio::test]
async fn hidden_values_are_in_no_record() {
    const HIDDEN: &str = "hf_9d1c7e5a-of-the-owner";
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let echoed = |status, code: &str| {
        Act::json(status, &format!(r#"{{"error":{{"message":"no {HIDDEN}","code":"{code}"}}}}"#))
    };
    let acts = vec![
        Act::json(200, CHAT),
        Act::json(200, CHAT),
        echoed(400, "context_length_exceeded"),
        echoed(429, "rate_limit"),
    ];
    let endpoint = Endpoint::start(acts).await;
    let mut settings = endpoint.settings();
    settings.log = Some(log.clone());
    settings.hidden = vec![gateway::Secret::new(HIDDEN.to_owned())];
    let gateway = start_gateway(settings).await;
    let open = gateway.open(attempt(1), None);
    post(&open, PATH, format!(r#"{{"model":"{HIDDEN}"}}"#)).await;
    let models = format!("{}/v1/models/{HIDDEN}", open.base_url(0));
    client().get(models).bearer_auth(open.key()).send().await.unwrap();
    post(&open, PATH, "{}").await;
    let overflow = format!("{:?}", open.summary());
    post(&open, PATH, "{}").await;
    let summary = format!("{:?}", open.close());
    drop(gateway);
    let log = std::fs::read_to_string(log).unwrap();
    // Four requests begin and finish, and three tries of one fail. Lists of models have no begin line.
    assert_eq!(log.lines().count(), 10, "{log}");
    for text in [log, overflow, summary] {
        assert!(text.contains("no …") || text.contains("models/…"), "{text}");
        assert!(!text.contains(HIDDEN), "{text}");
    }
}

/// A kill during an answer: the request may cost something, and budgets count it.
#[tokio::test]
async fn a_request_that_a_kill_interrupts_is_counted() {
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), Act::Silence]).await;
    let mut settings = endpoint.settings();
    settings.log = Some(log.clone());
    let gateway = start_gateway(settings.clone()).await;
    let open = gateway.open(attempt(1), None);
    assert_eq!(post(&open, PATH, "{}").await.status(), 200);
    let body = format!("{{\"x\":\"{}\"}}", "y".repeat(4000));
    let (url, key) = (format!("{}{PATH}", open.base_url(0)), open.key().to_owned());
    let asking = tokio::spawn(async move { client().post(url).bearer_auth(key).body(body).send().await });
    // The log at the moment in which the endpoint has the request.
    let killed = folder.path().join("killed.jsonl");
    loop {
        let text = std::fs::read_to_string(&log).unwrap();
        if endpoint.received().len() == 2 && text.lines().count() == 3 {
            std::fs::write(&killed, text).unwrap();
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let counted = gateway::read_totals(&killed).unwrap();
    assert_eq!((counted.run.requests, counted.run.unmetered, counted.run.cost_usd), (1, 1, None));
    assert!(counted.run.guess.tokens >= 1000 && counted.run.guess.usd > 0.0, "{counted:?}");
    assert_eq!(counted.episodes["scenario_1"], counted.run);
    // The run continues with it: 1,050 reported tokens, and 1,000 that the endpoint may have accepted.
    settings.log = None;
    settings.spent = counted.run;
    settings.budgets.run.tokens = Some(2000);
    let again = start_gateway(settings).await;
    assert!(again.spent_budget("scenario_1").is_some());
    drop(open);
    assert!(asking.await.unwrap().is_ok_and(|answer| answer.status() == 410));
    drop(gateway);
    assert_eq!(
        gateway::read_totals(&log).unwrap().run.unmetered,
        1,
        "its end is written down as well, and it counts once"
    );
}

/// Connections of a container are bounded, and one container does not block another.
#[tokio::test]
async fn connections_of_a_container_are_bounded() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let address = gateway.addresses()[0];
    let mut held = Vec::new();
    for _ in 0..300 {
        held.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    // Rejected connections are closed. Nothing arrives on the others.
    let mut ends: FuturesUnordered<_> =
        held.iter().map(|stream| async move { stream.peek(&mut [0]).await }).collect();
    let (mut open, most) = (held.len(), 128);
    let closed = tokio::time::timeout(PATIENCE, async {
        while open > most {
            let read = ends.next().await.expect("one for each connection");
            assert!(matches!(read, Ok(0) | Err(_)));
            open -= 1;
        }
    })
    .await;
    assert!(closed.is_ok(), "{open} are open");
    drop(ends);
    drop(held);
    let attempt = gateway.open(attempt(1), None);
    let patience = tokio::time::timeout(PATIENCE, async {
        loop {
            let url = format!("{}{PATH}", attempt.base_url(0));
            match client().post(url).bearer_auth(attempt.key()).body("{}").send().await {
                Ok(answer) => break answer.status(),
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    });
    assert_eq!(patience.await.unwrap(), 200);
}

/// Through a socket in the file system, whose path is longer than an address may be, and which replaces one that a killed gateway
/// has left.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_gateway_also_listens_on_a_socket_in_the_file_system() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    std::fs::write(deep.join("gateway.sock"), "").unwrap();
    let mut gateway = Gateway::start(&[], endpoint.settings()).await.unwrap();
    gateway.listen_at(&deep.join("gateway.sock"), "127.0.0.1:47110".parse().unwrap()).unwrap();
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(attempt.base_url(0), format!("http://127.0.0.1:47110{}", attempt.path()));
    // The short path, as the process of this test sees it.
    std::os::unix::fs::symlink(&deep, folder.path().join("short")).unwrap();
    let mut socket = tokio::net::UnixStream::connect(folder.path().join("short/gateway.sock")).await.unwrap();
    let (path, key) = (attempt.path(), attempt.key());
    let request = format!(
        "POST {path}{PATH} HTTP/1.1\r\nhost: box\r\nauthorization: Bearer {key}\r\ncontent-length: 2\r\n\
         connection: close\r\n\r\n{{}}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(attempt.close().spent.requests, 1);
    let nowhere = gateway.listen_at(&folder.path().join("none/gateway.sock"), "127.0.0.1:1".parse().unwrap());
    assert!(nowhere.unwrap_err().to_string().contains("none/gateway.sock"));
}
