//! What tests that play whole runs have in common.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ingest::format_trait::Format as _;
use model::Episode;
use runner::settings::RunSettings;
use runner::{Event, OnEvent};

/// The mock agent with the simulated model, without containers, one episode of one turn; of a key that comes twice the last one
/// counts.
pub(crate) fn settings(folder: &Path, more: &[&str]) -> RunSettings {
    let mut list = vec![format!("output_dir={}", folder.display())];
    let always = [
        "agent=MOCK",
        "use_docker=false",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=1",
    ];
    list.extend(always.iter().chain(more).map(|&value| value.to_owned()));
    runner::settings::resolve(&[], &list).unwrap()
}

/// Keeps what a run tells.
pub(crate) fn keep() -> (OnEvent, Arc<Mutex<Vec<Event>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let kept_events = kept.clone();
    (Arc::new(move |event: &Event| kept_events.lock().unwrap().push(event.clone())), kept)
}

/// The episodes as the importer reads them, without a warning.
pub(crate) fn episodes(folder: &Path) -> Vec<Episode> {
    let tree = files::Tree::open(folder).unwrap();
    let mut report = ingest::format_trait::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        episodes.extend(format.read(&tree, "", part, &mut report).into_iter().map(|read| read.episode));
    }
    // That a trial was resumed is what some of them are about.
    report.warnings.retain(|warning| warning.code != "episode.resumed");
    assert_eq!(report.warnings, []);
    episodes
}

/// Plays a run. An attempt of its first episode that waits for its retry is retried at once: a person wishes it.
pub(crate) async fn run_without_waits(settings: RunSettings, on_event: OnEvent) -> runner::Finish {
    Box::pin(run_without_waits_of(&["scenario_0"], settings, on_event)).await
}

/// The same with the attempts of these episodes.
pub(crate) async fn run_without_waits_of(
    episodes: &'static [&'static str],
    settings: RunSettings,
    on_event: OnEvent,
) -> runner::Finish {
    let folder = settings.output_dir.clone();
    let hurrying = tokio::spawn(async move {
        let mut requested = vec![0_u32; episodes.len()];
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            for (episode, requested) in episodes.iter().zip(&mut requested) {
                let text = std::fs::read(folder.join(format!(".stamina/episodes/{episode}.json")));
                let shown =
                    text.ok().and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
                let Some(shown) = shown else { continue };
                // The last wish was fulfilled, and it waits again.
                if shown["phase"] == "waiting"
                    && shown["retries"].as_u64().unwrap_or(0) >= u64::from(*requested)
                {
                    *requested += 1;
                    let retry = |control_request: &mut runner::control::ControlRequest| {
                        control_request.retry.insert((*episode).to_owned(), *requested);
                    };
                    runner::control::change(&folder, retry).unwrap();
                }
            }
        }
    });
    let finish = runner::run(settings, on_event).await.unwrap();
    hurrying.abort();
    finish
}

/// An endpoint that answers a probe of the gateway, and every other request with this status and body.
pub(crate) fn refuses(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = read(&mut stream) else { continue };
            let answer =
                r#"{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}"#;
            let is_probe = request.contains("answer with the word yes");
            let (status, body) = if is_probe { ("200 OK", answer) } else { (status, body) };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}")
}

/// Reads a request to the end of its body, in small letters; nothing where whoever sent it has left, which is no failure of a
/// stand-in.
pub(crate) fn read(stream: &mut TcpStream) -> Option<String> {
    read_as_sent(stream).map(|text| text.to_ascii_lowercase())
}

/// The same with its letters as they were sent.
pub(crate) fn read_as_sent(stream: &mut TcpStream) -> Option<String> {
    let (mut request, mut piece) = (Vec::new(), [0; 1 << 13]);
    loop {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&piece[..count]);
        let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if request.len() >= end + 4 + length.unwrap_or(0_usize) {
            return Some(String::from_utf8_lossy(&request).into_owned());
        }
    }
}

/// The answer of a model that begins with a call of a tool.
pub(crate) fn first_call() -> String {
    let arguments = r#"{"path": "notes.txt", "content": "begun"}"#;
    serde_json::json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "I begin.",
            "tool_calls": [{ "id": "c1", "type": "function", "function": {
                "name": "write_file", "arguments": arguments } }],
        } }],
        "usage": { "prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230 },
    })
    .to_string()
}

/// An endpoint that answers an agent's first request, with a call, and is silent to the one with the call's result for good; a
/// probe of the gateway is answered. With it how many requests it is silent to.
pub(crate) fn falls_silent() -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let silent = Arc::new(AtomicU32::new(0));
    let tell = silent.clone();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = read(&mut stream) else { continue };
            if request.contains("characters to notes.txt") {
                held.push(stream);
                tell.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let body = first_call();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
    });
    (format!("http://{address}"), silent)
}
