//! What an attempt spends is shown while it is in play; without boxes.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use runner::Finish;
use runner::control::{self, Wish};
use runner::live::{self, Phase};
use runner::settings::EndpointSettings;

/// Reads a request to the end of its body.
fn read(stream: &mut TcpStream) {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if count == 0 || request.len() >= head.len() + 4 + length.unwrap_or(0_usize) {
            return;
        }
    }
}

/// An endpoint that answers once, with a call, and never again.
fn answers_once() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            if number == 0 {
                read(&mut stream);
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
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
            } else {
                open.push(stream);
            }
        }
    });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_cost_of_an_attempt_are_shown_before_it_ends() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let values = [
        "agent=MOCK".to_owned(),
        format!("output_dir={}", folder.display()),
        "restful_server_gen_iterative.n_scenarios=1".to_owned(),
        "restful_server_gen_iterative.n_turns=1".to_owned(),
    ];
    let mut settings = runner::settings::resolve(&[], &values).unwrap();
    // An agent without a box may ask only the scripted model; this one does nothing but what this test answers.
    settings.endpoint =
        EndpointSettings::Gateway { base_url: answers_once(), key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    settings.price =
        Some(gateway::Price { input: 1000.0, cached: None, cache_write: None, output: 10_000.0 });
    let playing = tokio::spawn(runner::run(settings, Arc::new(|_| {})));
    let mut seen = None;
    for _ in 0..400 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let Ok(run) = live::read(&folder) else { continue };
        if run.spent.requests > 0 && run.episodes[0].spent.requests > 0 {
            seen = Some(run);
            break;
        }
    }
    let run = seen.expect("what was spent is shown while the attempt is in play");
    let episode = &run.episodes[0];
    assert_eq!((episode.phase, episode.turn, episode.attempt), (Phase::Agent, 1, 1));
    for spent in [run.spent, episode.spent] {
        assert_eq!((spent.tokens.input, spent.tokens.output), (Some(1200), Some(30)));
        assert!((spent.cost_usd.unwrap() - 1.5).abs() < 1e-9, "{spent:?}");
    }
    control::write(&folder, &Wish { stop: true, ..Wish::default() }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
}
