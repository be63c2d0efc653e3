//! A model server that plays what a real one has sent (`tests/llama-cpp/README.md`).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::{Gateway, Settings};
use model::Tokens;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::endpoint::{Endpoint, start_gateway};
use crate::passing::tokens;

/// The longest wait between two pieces when they are played, in milliseconds.
const LONGEST_WAIT: u64 = 5;

/// An exchange as it was recorded.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) name: String,
    pub(crate) path: String,
    /// What was asked: JSON, or the text that was sent in its place.
    body: Value,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) end: End,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Piece {
    /// Milliseconds since the request was sent.
    pub(crate) ms: u64,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Whole,
    Agent,
    Server,
}

impl Exchange {
    pub(crate) fn raw(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    pub(crate) fn is_chunked(&self) -> bool {
        self.raw().split("\r\n\r\n").next().unwrap().contains("chunked")
    }

    /// The body of its answer, without the sizes of chunks.
    pub(crate) fn answer(&self) -> String {
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
    pub(crate) fn timings(&self) -> Option<Value> {
        self.parts().into_iter().find_map(|part| part.get("timings").cloned())
    }

    /// The tokens that the server says it has worked on.
    pub(crate) fn own_tokens(&self) -> Option<Tokens> {
        let timings = self.timings()?;
        let count = |name: &str| timings[name].as_u64().unwrap();
        let cached = count("cache_n");
        Some(tokens(cached + count("prompt_n"), cached, count("predicted_n")))
    }

    pub(crate) fn request_body(&self) -> String {
        self.body.to_string()
    }
}

/// All exchanges by name.
pub(crate) fn session() -> HashMap<String, Exchange> {
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
pub(crate) struct Times {
    pub(crate) received: Instant,
    pub(crate) content: Option<Instant>,
}

/// The recorded server. It plays one exchange after the other, the last one again and again, whatever is asked.
pub(crate) struct Server {
    pub(crate) base_url: String,
    pub(crate) times: Arc<Mutex<Vec<Times>>>,
    /// How many connections the client has closed.
    pub(crate) closed: watch::Receiver<usize>,
    /// How many pieces with content may go, where they are held back.
    pub(crate) release: watch::Sender<usize>,
    /// How many connections the client has opened.
    pub(crate) opened: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(exchanges: Vec<Exchange>) -> Self {
        Self::begin(exchanges, usize::MAX, false).await
    }

    /// Holds content back until [`Server::release`].
    pub(crate) async fn holding(exchange: Exchange) -> Self {
        Self::begin(vec![exchange], 0, false).await
    }

    /// Closes each connection after its first answer, without saying so before.
    pub(crate) async fn closing(exchanges: Vec<Exchange>) -> Self {
        Self::begin(exchanges, usize::MAX, true).await
    }

    async fn begin(exchanges: Vec<Exchange>, released: usize, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let plan = Arc::new(Mutex::new(VecDeque::from(exchanges)));
        let times: Arc<Mutex<Vec<Times>>> = Arc::default();
        let (closing, closed) = watch::channel(0);
        let (release, released) = watch::channel(released);
        let kept = Arc::clone(&times);
        let opened: Arc<AtomicUsize> = Arc::default();
        let connections = Arc::clone(&opened);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (plan, times, closing, released) =
                    (Arc::clone(&plan), Arc::clone(&kept), closing.clone(), released.clone());
                tokio::spawn(async move {
                    serve(stream, &plan, &times, released, closes).await;
                    closing.send_modify(|closed| *closed += 1);
                });
            }
        });
        Self { base_url, times, closed, release, opened }
    }

    /// As [`Endpoint::settings`].
    pub(crate) async fn settings(&self) -> Settings {
        let mut settings = Endpoint::start(Vec::new()).await.settings();
        if let gateway::Upstream::Http { base_url, .. } = &mut settings.upstream {
            base_url.clone_from(&self.base_url);
        }
        settings
    }

    pub(crate) async fn gateway(&self) -> Gateway {
        start_gateway(self.settings().await).await
    }

    pub(crate) fn request_count(&self) -> usize {
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
                .and_then(|length| length.trim().parse().ok())
                .unwrap_or(0);
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
    mut released: watch::Receiver<usize>,
    closes: bool,
) {
    // The client may have closed it by now.
    let _ = stream.set_nodelay(true);
    while read_request(&mut stream).await.is_some() {
        let exchange = {
            let mut plan = plan.lock().unwrap();
            let Some(next) = plan.front().cloned() else { return };
            if plan.len() > 1 {
                plan.pop_front();
            }
            next
        };
        let number = {
            let mut times = times.lock().unwrap();
            times.push(Times { received: Instant::now(), content: None });
            times.len() - 1
        };
        let (mut before, mut contents) = (0, 0);
        for piece in &exchange.pieces {
            // As it was recorded, only faster: each piece comes by itself.
            tokio::time::sleep(Duration::from_millis((piece.ms - before).min(LONGEST_WAIT))).await;
            before = piece.ms;
            if piece.text.contains("\"content\":\"") {
                // The test has ended.
                if released.wait_for(|released| *released > contents).await.is_err() {
                    return;
                }
                contents += 1;
                times.lock().unwrap()[number].content.get_or_insert_with(Instant::now);
            }
            // A client that hangs up is seen below.
            let _ = stream.write_all(piece.text.as_bytes()).await;
        }
        match exchange.end {
            End::Whole if closes || exchange.raw().contains("Connection: close") => return,
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
