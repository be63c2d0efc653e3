//! What tests that play whole runs have in common.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ingest::format::Format as _;
use model::Episode;
use runner::settings::RunSettings;
use runner::{Event, OnEvent};

/// The mock agent with the scripted model, without boxes, one episode of one turn; of a key that comes twice the last one
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
    let to = kept.clone();
    (Arc::new(move |event: &Event| to.lock().unwrap().push(event.clone())), kept)
}

/// The episodes as the importer reads them, without a warning.
pub(crate) fn episodes(folder: &Path) -> Vec<Episode> {
    let tree = files::Tree::open(folder).unwrap();
    let mut report = ingest::format::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        episodes.extend(format.read(&tree, "", part, &mut report).into_iter().map(|read| read.episode));
    }
    assert_eq!(report.warnings, []);
    episodes
}

/// Reads a request to the end of its body; nothing where whoever sent it has left, which is no failure of a stand-in.
pub(crate) fn read(stream: &mut TcpStream) -> Option<String> {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            return Some(text);
        }
    }
}

/// An endpoint that answers once, with a call, and is silent to the next request of an agent for good; what else comes, such as
/// a question of the gateway's own, is answered. With it whether there was one that it is silent to.
pub(crate) fn falls_silent() -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let is_silent = Arc::new(AtomicBool::new(false));
    let tell = is_silent.clone();
    std::thread::spawn(move || {
        let (mut answered, mut held) = (0, None);
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = read(&mut stream) else { continue };
            // An agent brings its tools along.
            if answered > 0 && held.is_none() && request.contains("write_file") {
                held = Some(stream);
                tell.store(true, Ordering::Relaxed);
                continue;
            }
            answered += 1;
            let arguments = r#"{"path": "notes.txt", "content": "begun"}"#;
            let body = serde_json::json!({
                "id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
                    "role": "assistant", "content": "I begin.",
                    "tool_calls": [{ "id": "c1", "type": "function", "function": {
                        "name": "write_file", "arguments": arguments } }],
                } }],
                "usage": { "prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230 },
            })
            .to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
    });
    (format!("http://{address}"), is_silent)
}
