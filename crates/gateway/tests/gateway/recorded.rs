//! The gateway before a real model server, whose bytes were recorded (`tests/llama-cpp/README.md`).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::{
    AttemptSummary, Gateway, ModelList, Record, ServerKind, Settings, Speeds, StopReason, Termination,
};
use model::Tokens;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::endpoint::{Endpoint, attempt, client, post, start_gateway};
use crate::passing::tokens;

const CHAT: &str = "/v1/chat/completions";

/// An exchange as it was recorded.
#[derive(Debug, Clone, Deserialize)]
struct Exchange {
    name: String,
    path: String,
    /// What was asked: JSON, or the text that was sent in its place.
    body: Value,
    pieces: Vec<Piece>,
    end: End,
}

#[derive(Debug, Clone, Deserialize)]
struct Piece {
    /// Milliseconds since the request was sent.
    ms: u64,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Whole,
    Agent,
    Server,
}

impl Exchange {
    fn raw(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    fn is_chunked(&self) -> bool {
        self.raw().split("\r\n\r\n").next().unwrap().contains("chunked")
    }

    /// The body of its answer, without the sizes of chunks.
    fn answer(&self) -> String {
        let raw = self.raw();
        let (_, mut rest) = raw.split_once("\r\n\r\n").unwrap();
        if !self.is_chunked() {
            return rest.to_owned();
        }
        let mut body = String::new();
        while let Some((size, chunk)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            if size == 0 {
                break;
            }
            body.push_str(&chunk[..size]);
            rest = &chunk[size + 2..];
        }
        body
    }

    /// The JSON of its events, or of its plain answer.
    fn parts(&self) -> Vec<Value> {
        let answer = self.answer();
        if !self.is_chunked() {
            return vec![serde_json::from_str(&answer).unwrap()];
        }
        answer
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// What the server itself measured of the request, where it tells.
    fn timings(&self) -> Option<Value> {
        self.parts().into_iter().find_map(|part| part.get("timings").cloned())
    }

    /// The tokens that the server says it has worked on.
    fn own_tokens(&self) -> Option<Tokens> {
        let timings = self.timings()?;
        let count = |name: &str| timings[name].as_u64().unwrap();
        let cached = count("cache_n");
        Some(tokens(cached + count("prompt_n"), cached, count("predicted_n")))
    }

    fn asked(&self) -> String {
        self.body.to_string()
    }
}

/// All exchanges by name.
fn session() -> HashMap<String, Exchange> {
    include_str!("../llama-cpp/session.jsonl")
        .lines()
        .map(|line| {
            let exchange: Exchange = serde_json::from_str(line).unwrap();
            (exchange.name.clone(), exchange)
        })
        .collect()
}

/// When the request came and when the answer's first content left.
#[derive(Debug, Clone, Copy)]
struct Times {
    asked: Instant,
    content: Option<Instant>,
}

/// The recorded server. It plays one exchange after the other, the last one again and again, whatever is asked.
struct Server {
    base_url: String,
    times: Arc<Mutex<Vec<Times>>>,
    /// How many connections the client has closed.
    closed: watch::Receiver<usize>,
    /// Lets pieces with content go, where they are held back.
    release: watch::Sender<bool>,
}

impl Server {
    async fn start(exchanges: Vec<Exchange>) -> Self {
        Self::begin(exchanges, true).await
    }

    /// Holds content back until [`Server::release`].
    async fn holding(exchange: Exchange) -> Self {
        Self::begin(vec![exchange], false).await
    }

    async fn begin(exchanges: Vec<Exchange>, released: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let plan = Arc::new(Mutex::new(VecDeque::from(exchanges)));
        let times: Arc<Mutex<Vec<Times>>> = Arc::default();
        let (closing, closed) = watch::channel(0);
        let (release, released) = watch::channel(released);
        let kept = Arc::clone(&times);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (plan, times, closing, released) =
                    (Arc::clone(&plan), Arc::clone(&kept), closing.clone(), released.clone());
                tokio::spawn(async move {
                    serve(stream, &plan, &times, released).await;
                    closing.send_modify(|closed| *closed += 1);
                });
            }
        });
        Self { base_url, times, closed, release }
    }

    /// As [`Endpoint::settings`].
    async fn settings(&self) -> Settings {
        let mut settings = Endpoint::start(Vec::new()).await.settings();
        if let gateway::Upstream::Http { base_url, .. } = &mut settings.upstream {
            base_url.clone_from(&self.base_url);
        }
        settings
    }

    async fn gateway(&self) -> Gateway {
        start_gateway(self.settings().await).await
    }

    fn asked(&self) -> usize {
        self.times.lock().unwrap().len()
    }
}

/// Reads one request. `None` = the client has closed the connection.
async fn read_request(stream: &mut TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(());
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    plan: &Mutex<VecDeque<Exchange>>,
    times: &Mutex<Vec<Times>>,
    mut released: watch::Receiver<bool>,
) {
    stream.set_nodelay(true).unwrap();
    while read_request(&mut stream).await.is_some() {
        let exchange = {
            let mut plan = plan.lock().unwrap();
            let next = plan.front().cloned().expect("an exchange");
            if plan.len() > 1 {
                plan.pop_front();
            }
            next
        };
        let number = {
            let mut times = times.lock().unwrap();
            times.push(Times { asked: Instant::now(), content: None });
            times.len() - 1
        };
        for piece in &exchange.pieces {
            if piece.text.contains("\"content\":\"") && times.lock().unwrap()[number].content.is_none() {
                released.wait_for(|released| *released).await.unwrap();
                times.lock().unwrap()[number].content = Some(Instant::now());
            }
            // A client that hangs up is seen below.
            let _ = stream.write_all(piece.text.as_bytes()).await;
            tokio::task::yield_now().await;
        }
        match exchange.end {
            End::Whole if exchange.raw().contains("Connection: close") => return,
            End::Whole => {}
            // Nothing more comes until the client goes.
            End::Agent => {
                let _ = read_request(&mut stream).await;
                return;
            }
            End::Server => return,
        }
    }
}

/// Sends one request of an agent; what it got, and what was counted.
async fn once(exchange: &Exchange, body: String) -> (u16, Option<String>, AttemptSummary) {
    let server = Server::start(vec![exchange.clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, &exchange.path, body).await;
    let status = answer.status().as_u16();
    let text = answer.text().await.ok();
    assert_eq!(server.asked(), 1, "{}: one request", exchange.name);
    (status, text, attempt.close())
}

#[tokio::test]
async fn whole_answers_pass_byte_for_byte_and_are_counted_as_the_server_counts_them() {
    let session = session();
    for name in [
        "plain",
        "stream_with_usage",
        "tool_not_called",
        "json_schema",
        "json_schema_stream",
        "probabilities_stream",
        "responses_stream",
        "messages_stream",
        "kept_alive_first",
        "kept_alive_second",
        "filled_while_writing",
        "slow_first_token",
        "slot_taken",
        "slot_waited_for",
    ] {
        let exchange = &session[name];
        let (status, text, summary) = once(exchange, exchange.asked()).await;
        assert_eq!((status, text), (200, Some(exchange.answer())), "{name}");
        // The server tells no timings of messages.
        let own = exchange.own_tokens().unwrap_or(tokens(34, 33, 12));
        assert_eq!(summary.spent.tokens, own, "{name}");
        assert_eq!((summary.spent.requests, summary.spent.unmetered), (1, 0), "{name}");
        let record = &summary.records[0];
        assert_eq!((record.retries, record.termination, record.reports_error), (0, None, false), "{name}");
        // Of a plain answer the server tells how long it took.
        let of_server = exchange.timings().filter(|_| !exchange.is_chunked());
        assert!(record.stream.is_some() && of_server.is_some() != exchange.is_chunked(), "{name}");
        if let (Some(of_server), Some(times)) = (of_server, record.stream) {
            let ms = [times.first_seconds * 1000.0, times.rest_seconds * 1000.0];
            for (ms, name) in ms.into_iter().zip(["prompt_ms", "predicted_ms"]) {
                assert!((ms - of_server[name].as_f64().unwrap()).abs() < 1e-6, "{name}: {ms}");
            }
        }
        assert_eq!(summary.stop_reason, None, "{name}");
    }
}

#[tokio::test]
async fn usage_that_was_not_asked_for_is_counted_and_kept_back() {
    let exchange = &session()["stream_with_usage"];
    let (_, text, summary) = once(exchange, r#"{"stream":true,"messages":[]}"#.to_owned()).await;
    let events = exchange.answer();
    let without: String =
        events.split_inclusive("\n\n").filter(|event| !event.contains("\"usage\":{")).collect();
    assert!(without.len() < events.len() && without.ends_with("data: [DONE]\n\n"));
    assert_eq!(text, Some(without));
    assert_eq!(summary.spent.tokens, exchange.own_tokens().unwrap());
}

#[tokio::test]
async fn a_stream_without_usage_is_whole_and_its_tokens_are_unknown() {
    let exchange = &session()["stream_without_usage"];
    let (status, text, summary) = once(exchange, exchange.asked()).await;
    assert_eq!((status, text), (200, Some(exchange.answer())));
    assert!(summary.spent.tokens.is_unknown() && summary.spent.cost_usd.is_none());
    assert_eq!(
        (summary.spent.requests, summary.spent.unmetered, summary.records[0].termination),
        (1, 1, None)
    );
}

#[tokio::test]
async fn a_context_that_is_exceeded_is_the_agents_and_is_not_tried_again() {
    for name in ["overflow", "overflow_stream"] {
        let exchange = &session()[name];
        let (status, text, summary) = once(exchange, exchange.asked()).await;
        assert_eq!((status, text), (400, Some(exchange.answer())), "{name}");
        let reason = summary.stop_reason;
        assert!(
            matches!(&reason, Some(StopReason::ContextOverflow { message }) if message.contains("1024 tokens")),
            "{reason:?}"
        );
        assert_eq!((summary.records[0].retries, summary.spent.unmetered), (0, 0), "{name}");
    }
    let exchange = &session()["no_messages"];
    let (status, _, summary) = once(exchange, exchange.asked()).await;
    assert_eq!((status, summary.stop_reason), (400, None), "another error of a request ends nothing");
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for() {
    let session = session();
    let loading = session["loading"].clone();
    let server = Server::start(vec![loading.clone(), loading, session["plain"].clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, CHAT, session["plain"].asked()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), session["plain"].answer());
    let summary = attempt.close();
    assert_eq!(summary.records[0].faults, [503, 503]);
    assert_eq!((summary.spent.requests, summary.stop_reason), (1, None));
}

#[tokio::test]
async fn signs_of_life_are_no_content() {
    let exchange = session()["slow_first_token"].clone();
    let server = Server::holding(exchange.clone()).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    // The gateway may keep the head of an answer back until there is content, so nobody waits for the signs of life.
    let answered = tokio::spawn({
        let (url, key, asked) =
            (format!("{}{CHAT}", attempt.base_url(0)), attempt.key().to_owned(), exchange.asked());
        async move { client().post(url).bearer_auth(key).body(asked).send().await.unwrap().text().await.unwrap() }
    });
    while server.asked() == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.release.send(true).unwrap();
    assert_eq!(answered.await.unwrap(), exchange.answer());
    let times = server.times.lock().unwrap()[0];
    let held = times.content.unwrap() - times.asked;
    let record = attempt.summary().records[0].clone();
    let first = record.stream.unwrap().first_seconds;
    assert!(first >= held.as_secs_f64(), "{first} s, and content was held back for {held:?}");
    assert_eq!(record.faults, Vec::<u16>::new());
}

#[tokio::test]
async fn a_client_that_goes_in_the_middle_closes_the_connection_to_the_server() {
    let exchange = session()["stopped_in_the_middle"].clone();
    assert_eq!(exchange.end, End::Agent);
    let mut server = Server::start(vec![exchange.clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let mut answer = post(&attempt, CHAT, exchange.asked()).await;
    let mut got = String::new();
    while got.matches("\"content\":\"").count() < 6 {
        got.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
    }
    drop(answer);
    server.closed.wait_for(|closed| *closed == 1).await.unwrap();
    let summary = attempt.close();
    let record = &summary.records[0];
    assert_eq!((record.status, record.termination), (200, Some(Termination::Agent)));
    assert_eq!((record.tokens.output, summary.spent.unmetered, summary.spent.cost_usd), (None, 1, None));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_is_the_endpoints_fault() {
    let exchange = session()["killed_in_the_middle"].clone();
    assert_eq!(exchange.end, End::Server);
    let (status, text, summary) = once(&exchange, exchange.asked()).await;
    assert_eq!((status, text), (200, None), "the agent sees that the answer breaks off");
    let record = &summary.records[0];
    assert_eq!(record.termination, Some(Termination::Endpoint));
    assert_eq!((record.faults.as_slice(), summary.spent.unmetered), ([0].as_slice(), 1));
}

#[tokio::test]
async fn the_list_tells_the_context_of_a_slot_and_what_the_model_was_made_for() {
    let session = session();
    let server = Server::start(vec![session["models"].clone(), session["props"].clone()]).await;
    let list: ModelList =
        gateway::list_models(&server.base_url, None, Duration::from_secs(30)).await.unwrap();
    assert_eq!((list.server, list.slots), (Some(ServerKind::LlamaCpp), Some(1)));
    let model = &list.models[0];
    assert!(model.aliases.is_empty(), "its only other name is its name");
    assert_eq!(
        (model.id.as_str(), model.context, model.model_context),
        ("smollm2-135m", Some(1024), Some(8192))
    );
}

/// The gateway sees the stream from outside; the server times its own work. Both call the same number speed.
#[test]
fn the_speed_of_an_answer_is_the_one_that_the_server_measures() {
    let exchange = &session()["slot_taken"];
    let events: Vec<&Piece> =
        exchange.pieces.iter().filter(|piece| piece.text.contains("\"content\":\"")).collect();
    let (first, last) = (events[0].ms, exchange.pieces[exchange.pieces.len() - 1].ms);
    let own = exchange.own_tokens().unwrap();
    let record: Record = serde_json::from_value(serde_json::json!({
        "episode": "scenario_1", "turn": 1, "attempt": 1, "at": "2026-11-27T10:00:00Z", "route": format!("POST {CHAT}"),
        "model": null, "tokens": own, "cost_usd": null, "seconds": 9.0, "status": 200, "retries": 0,
        "stream": { "first": first as f64 / 1000.0, "rest": (last - first) as f64 / 1000.0 },
    }))
    .unwrap();
    let mut speeds = Speeds::default();
    speeds.add(&record);
    let outside = speeds.tokens_per_second().answer.unwrap().median;
    let inside = exchange.timings().unwrap()["predicted_per_second"].as_f64().unwrap();
    assert!((outside / inside - 1.0).abs() < 0.1, "{outside} tokens/s from outside, {inside} inside");
}
