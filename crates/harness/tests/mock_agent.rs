//! The mock agent against a scripted endpoint.
#![allow(clippy::unwrap_used, reason = "an endpoint that does not answer is a failure")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use harness::{Call, CommandEnd, Endpoint, Exit, Outcome, Session};
use model::{EndReason as R, Tokens};
use serde_json::{Value, json};

use crate::common::ID;

/// A scripted endpoint.
struct Server {
    address: SocketAddr,
    answers: usize,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<(String, Value)>>,
}

/// Answers one request after the other with these.
fn endpoint(answers: Vec<(u16, String)>) -> (String, Server) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let (count, is_ended) = (answers.len(), Arc::clone(&ended));
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for (status, body) in answers {
            let Some((mut stream, request)) = next_request(&listener, &is_ended) else { break };
            requests.push(request);
            let head =
                format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // The client may have disconnected.
            let _ = stream.write_all((head + &body).as_bytes());
        }
        requests
    });
    (format!("http://{address}/a/1"), Server { address, answers: count, ended, thread })
}

impl Server {
    /// The requests, after the last one: one request for each answer, with the key and the right path.
    fn requests(self) -> Vec<Value> {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread if it still waits. It may have ended.
        let _ = TcpStream::connect(self.address);
        let requests = self.thread.join().unwrap();
        assert_eq!(requests.len(), self.answers, "{requests:?}");
        for (head, _) in &requests {
            assert!(head.starts_with("POST /a/1/v1/chat/completions "), "{head}");
            assert!(head.contains("Authorization: Bearer sk-1"), "{head}");
        }
        requests.into_iter().map(|(_, body)| body).collect()
    }
}

/// The next complete request; `None` after the end. A connection without a request does not count.
fn next_request(listener: &TcpListener, ended: &AtomicBool) -> Option<(TcpStream, (String, Value))> {
    loop {
        let accepted = listener.accept();
        if ended.load(Ordering::SeqCst) {
            return None;
        }
        if let Ok((mut stream, _)) = accepted
            && let Some(request) = read_request(&mut stream)
        {
            return Some((stream, request));
        }
    }
}

/// Head and body of a request, if the client sends it completely.
fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut request = Vec::new();
    let mut piece = vec![0; 65536];
    loop {
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&piece[..read]);
        let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&request[..end]).into_owned();
        let body = &request[end + 4..];
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
        if body.len() >= length.parse().ok()? {
            let body = serde_json::from_slice(body).ok()?;
            return Some((head, body));
        }
    }
}

fn answer(message: &Value) -> (u16, String) {
    let usage = json!({ "prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 20 } });
    (200, json!({ "choices": [{ "message": message }], "usage": usage }).to_string())
}

fn writes(id: &str, arguments: &str) -> Value {
    let call =
        json!({ "id": id, "type": "function", "function": { "name": "write_file", "arguments": arguments } });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

fn text_message(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "workspace"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    fn play(&self, base_url: &str, prompt: &str, session: Option<&Session>) -> (Option<i32>, Outcome) {
        let mock = harness::find("mock").unwrap();
        let path = |name: &str| self.0.path().join(name).to_str().unwrap().to_owned();
        let endpoint = Endpoint {
            base_url: base_url.into(),
            key: "sk-1".into(),
            model: "m".into(),
            context_window: 1000,
        };
        let (home, workspace) = (path("home"), path("workspace"));
        let call = Call {
            turn: 1,
            attempt: 1,
            prompt,
            session,
            earlier: None,
            session_id: ID,
            endpoint: &endpoint,
            seconds: 60,
            home: &home,
            workspace: &workspace,
        };
        let invocation = mock.invocation(&call).unwrap();
        for file in &invocation.files {
            let path = self.0.path().join("home").join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        let out = Command::new(&invocation.argv[0])
            .args(&invocation.argv[1..])
            .envs(invocation.env)
            .env("HOME", &home)
            .current_dir(&workspace)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
        let tree = files::Tree::open(self.0.path().join("home").as_path()).unwrap();
        let outcome = mock.outcome(
            &call,
            &CommandEnd {
                exit: Exit { code: out.status.code().map(i64::from), ..Exit::default() },
                stdout: &out.stdout,
                stderr: &out.stderr,
                home: &tree,
                model_requests: Some(1),
                changed: true,
                worked: false,
            },
        );
        (out.status.code(), outcome)
    }
}

#[test]
fn it_writes_requested_files_and_continues_its_session() {
    let stage = Stage::new();
    let (url, server) = endpoint(vec![
        answer(&writes("c1", r#"{"path":"app/server.py","content":"print('é')\n"}"#)),
        answer(&text_message("Done.")),
    ]);
    let (code, first) = stage.play(&url, "Build \"it\"\r\n$(now)", None);
    assert_eq!((code, first.end, first.message), (Some(0), None, None));
    assert_eq!(first.usage, Tokens { input: Some(100), cached: Some(40), output: Some(10) });
    assert_eq!(first.steps.len(), 2);
    assert_eq!(first.steps[0].tool_calls[0].summary, "app/server.py");
    assert!(first.steps[0].tool_calls[0].result.as_deref().unwrap().starts_with("wrote 11 characters"));
    let written = std::fs::read_to_string(stage.0.path().join("workspace/app/server.py")).unwrap();
    assert_eq!(written, "print('é')\n");
    let requests = server.requests();
    assert_eq!(requests[0]["messages"], json!([{ "role": "user", "content": "Build \"it\"\r\n$(now)" }]));
    assert_eq!(
        (&requests[0]["model"], &requests[0]["tools"][0]["function"]["name"]),
        (&json!("m"), &json!("write_file"))
    );

    let (url, server) = endpoint(vec![answer(&text_message("Nothing to do."))]);
    let (_, second) = stage.play(&url, "More", first.session.as_ref());
    assert_eq!((second.end, second.session.unwrap().calls), (None, 2));
    let roles: Vec<_> =
        server.requests()[0]["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}

#[test]
fn it_stays_in_the_workspace() {
    let stage = Stage::new();
    std::os::unix::fs::symlink(stage.0.path(), stage.0.path().join("workspace/out")).unwrap();
    let evil = format!("{}/evil", stage.0.path().display());
    let path = |path: &str| json!({ "path": path, "content": "x" }).to_string();
    let (url, server) = endpoint(vec![
        answer(&writes("c1", &path("../evil"))),
        answer(&writes("c2", &path(&evil))),
        answer(&writes("c3", &path("out/evil"))),
        answer(&writes("c4", &path("inside"))),
        answer(&text_message("Done.")),
    ]);
    let (_, outcome) = stage.play(&url, "x", None);
    server.requests();
    assert_eq!(outcome.end, None);
    let errors: Vec<_> = outcome.steps.iter().flat_map(|s| &s.tool_calls).map(|c| c.is_error).collect();
    assert_eq!(errors, [Some(true), Some(true), Some(true), Some(false)]);
    assert!(!stage.0.path().join("evil").exists());
    assert!(stage.0.path().join("workspace/inside").exists());
}

#[test]
fn it_reports_each_failure_with_its_reason() {
    let context = "This model's maximum context length is 1000 tokens";
    for (answers, code, end, expected) in [
        (vec![(500, "oops".into())], 2, R::Endpoint, "HTTP 500: oops"),
        (vec![(429, "slow down".into())], 2, R::Endpoint, "HTTP 429"),
        (vec![(400, context.into())], 3, R::ContextOverflow, "maximum context length"),
        (vec![(200, "{}".into())], 2, R::Endpoint, "cannot be read"),
        (vec![answer(&writes("c", "{oops")); 3], 4, R::ToolCallFormat, "cannot be read"),
        (vec![answer(&writes("c", "{}")); 3], 4, R::ToolCallFormat, "cannot be read"),
    ] {
        let stage = Stage::new();
        let (url, server) = endpoint(answers);
        let (exit, outcome) = stage.play(&url, "x", None);
        server.requests();
        let message = outcome.message.unwrap();
        assert_eq!((exit, outcome.end), (Some(code), Some(end)), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    // Nobody listens: the system gives this port to nobody.
    let (exit, outcome) = Stage::new().play("http://127.0.0.1:9/a/1", "x", None);
    assert_eq!((exit, outcome.end), (Some(2), Some(R::Endpoint)));
    assert!(outcome.message.unwrap().contains("ConnectionRefusedError"));
}

#[test]
fn a_broken_session_is_an_error_of_its_own() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.0.path().join("home/.stamina")).unwrap();
    std::fs::write(stage.0.path().join("home/.stamina/mock_session.json"), "[{").unwrap();
    let (exit, outcome) = stage.play("http://127.0.0.1:1/a/1", "x", None);
    assert_eq!((exit, outcome.end), (Some(1), Some(R::AgentError)));
}
