//! A scripted endpoint on a real socket, and what the tests ask it for.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use futures_util::stream;
use gateway::{Attempt, AttemptKey, Budgets, Gateway, Price, Retry, Secret, Settings, Spent, Upstream};

/// The real key: it must be found nowhere but in the headers that the endpoint gets.
pub(crate) const REAL_KEY: &str = "sk-real-7f3a-not-for-agents";

/// The longest silence of a gateway whose endpoint falls silent. The test waits as long, and answers must arrive within it, also
/// on a busy machine.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);

/// What the endpoint does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Answers.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: Bytes },
    /// Sends pieces, `gap` apart.
    Pieces { kind: &'static str, pieces: Vec<Bytes>, gap: Duration, end: End },
    /// Never answers.
    Silence,
}

/// How pieces end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As they should.
    Whole,
    /// The connection breaks.
    Broken,
    /// Nothing more comes.
    Silent,
}

impl Act {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: Bytes::from(body.to_owned()),
        }
    }
    pub(crate) fn events(text: &str) -> Self {
        Self::pieces(text, 1, End::Whole)
    }
    /// A stream in as many pieces as there are events, or cut into pieces of `size` bytes.
    pub(crate) fn pieces(text: &str, size: usize, end: End) -> Self {
        let pieces = if size <= 1 {
            text.split_inclusive("\n\n").map(|piece| Bytes::from(piece.to_owned())).collect()
        } else {
            text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect()
        };
        Self::Pieces { kind: "text/event-stream; charset=utf-8", pieces, gap: Duration::ZERO, end }
    }
    /// Whether nothing more comes at some point.
    pub(crate) fn falls_silent(&self) -> bool {
        matches!(self, Self::Silence | Self::Pieces { end: End::Silent, .. })
    }
}

/// A request as the endpoint got it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Default)]
struct Script {
    acts: VecDeque<Act>,
    received: Vec<ReceivedRequest>,
    /// Pieces taken from the script, to see back-pressure.
    sent: usize,
}

/// The endpoint.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

impl Endpoint {
    /// Does one act after the other; the last one again and again.
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let script = Arc::new(Mutex::new(Script { acts: acts.into(), ..Script::default() }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::clone(&script);
        let router = Router::new().fallback(move |request: Request| answer(Arc::clone(&shared), request));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, script }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.script.lock().unwrap().received.clone()
    }

    pub(crate) fn sent(&self) -> usize {
        self.script.lock().unwrap().sent
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Settings of a gateway for this endpoint, with short waits. Its longest silence exceeds any answer on a busy machine. Tests
    /// of a silent endpoint set [`SILENCE`].
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            upstream: Upstream::Http {
                base_url: self.base_url(),
                key: Some(Secret::new(REAL_KEY.to_owned())),
                model: None,
            },
            routes: Vec::new(),
            hosted_tools: false,
            is_run_answered: false,
            price: Some(Price {
                input: 1.0,
                cached: Some(0.1),
                cache_write: Some(1.25),
                output: 2.0,
                per_hour: None,
            }),
            budgets: Budgets::default(),
            retry: Retry {
                tries: 3,
                first_wait: Duration::from_millis(2),
                longest_wait: Duration::from_millis(8),
                silence: Duration::from_mins(1),
                reads: Duration::from_mins(1),
            },
            spent: Spent::default(),
            episodes: std::collections::BTreeMap::new(),
            hidden: Vec::new(),
            log: None,
        }
    }
}

async fn answer(script: Arc<Mutex<Script>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    // A client may hang up while it sends. That is no request and takes no act of the script.
    let Ok(body) = to_bytes(body, usize::MAX).await else { return Response::new(Body::empty()) };
    let act = {
        let mut script = script.lock().unwrap();
        script.received.push(ReceivedRequest { target: parts.uri.to_string(), headers: parts.headers, body });
        if script.acts.len() > 1 { script.acts.pop_front() } else { script.acts.front().cloned() }
    };
    match act.expect("the script has an act") {
        Act::Answer { status, headers, body } => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        }
        Act::Pieces { kind, pieces, gap, end } => {
            let state = (script, VecDeque::from(pieces));
            let body = stream::unfold(state, move |(script, mut pieces)| async move {
                if !gap.is_zero() {
                    tokio::time::sleep(gap).await;
                }
                let piece = match (pieces.pop_front(), end) {
                    (Some(piece), _) => Ok(piece),
                    (None, End::Whole) => return None,
                    (None, End::Broken) => Err(std::io::Error::other("broken")),
                    (None, End::Silent) => std::future::pending().await,
                };
                script.lock().unwrap().sent += 1;
                // Hyper puts what is ready at once into one write, and an error in it swallows the rest.
                tokio::task::yield_now().await;
                Some((piece, (script, pieces)))
            });
            Response::builder().header("content-type", kind).body(Body::from_stream(body)).unwrap()
        }
        Act::Silence => std::future::pending().await,
    }
}

/// A gateway on a free port of the loopback address.
pub(crate) async fn start_gateway(settings: Settings) -> Gateway {
    Gateway::start(&["127.0.0.1:0".parse().unwrap()], settings).await.expect("the gateway starts")
}

/// The key of an attempt of `scenario_1`.
pub(crate) fn attempt(turn: u32) -> AttemptKey {
    AttemptKey { episode: "scenario_1".to_owned(), turn, attempt: 1 }
}

/// The client of an agent. One for all tests, because it reads the certificates of the machine. It keeps no connection, because
/// each test has a runtime of its own.
pub(crate) fn client() -> &'static reqwest::Client {
    static CLIENT: std::sync::LazyLock<reqwest::Client> = std::sync::LazyLock::new(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap()
    });
    &CLIENT
}

/// Posts as an agent does.
pub(crate) async fn post(attempt: &Attempt, path: &str, body: impl Into<reqwest::Body>) -> reqwest::Response {
    client()
        .post(format!("{}{path}", attempt.base_url(0)))
        .bearer_auth(attempt.key())
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .expect("the gateway answers")
}
