//! `stamina endpoints`, and what `stamina preflight` says of an endpoint, against stand-ins of llama.cpp's server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

/// Path and body to status and body.
type Answers = fn(&str, &str) -> (u16, String);

/// Answers each request on a port of its own, as long as the test runs. The address without a slash at its end.
fn stand_in(answers: Answers) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(connection) = connection else { continue };
            std::thread::spawn(move || answer(connection, answers));
        }
    });
    address
}

fn answer(connection: TcpStream, answers: Answers) {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if !reader.read_line(&mut header).is_ok_and(|bytes| bytes > 2) {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let (status, text) = answers(&path, &String::from_utf8_lossy(&body));
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
    let mut connection = reader.into_inner();
    // A client that has hung up needs no answer.
    drop(connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(text.as_bytes())));
}

/// llama.cpp without `--jinja`, with one slot of 8192 tokens.
fn llama_cpp(path: &str, body: &str) -> (u16, String) {
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "prompt_tokens_details": { "cached_tokens": 8 } });
    let completion = |content: &str| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "model": "small",
            "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
            "usage": usage,
        })
        .to_string()
    };
    match path {
        "/v1/models" => {
            let meta = json!({ "n_ctx_train": 32768 });
            let model =
                json!({ "id": "small\u{1b}[2J", "object": "model", "owned_by": "llamacpp", "meta": meta });
            (200, json!({ "object": "list", "data": [model] }).to_string())
        }
        "/props" => {
            (200, json!({ "default_generation_settings": { "n_ctx": 8192 }, "total_slots": 1 }).to_string())
        }
        "/v1/chat/completions" if body.contains("\"tools\"") => {
            let error = json!({ "code": 500, "message": "tools param requires --jinja flag", "type": "server_error" });
            (500, json!({ "error": error }).to_string())
        }
        "/v1/chat/completions" if body.contains("\"stream\":true") => {
            let delta = json!({ "choices": [{ "index": 0, "finish_reason": "stop", "delta": { "content": "yes" } }] });
            let last = json!({ "choices": [], "usage": usage });
            (200, format!("data: {delta}\n\ndata: {last}\n\ndata: [DONE]\n\n"))
        }
        "/v1/chat/completions" if body.contains("json_schema") => (200, completion("{\"answer\":\"yes\"}")),
        "/v1/chat/completions" => (200, completion("yes")),
        _ => {
            (404, r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#.to_owned())
        }
    }
}

fn stamina(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamina"))
        .current_dir(folder)
        .args(args)
        .args(["--db", "library.sqlite"])
        .env_remove("STAMINA_TEST_NO_KEY")
        .output()
        .expect("stamina runs")
}

fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[test]
fn endpoints_lists_what_the_named_addresses_offer() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = stand_in(llama_cpp);
    let output = stamina(folder.path(), &["endpoints", &url, "--json"]);
    assert!(output.status.success());
    let model = json!({ "id": "small[2J", "context": 8192, "model_context": 32768 });
    let listed = json!([{
        "base_url": url, "server": "llama_cpp", "title": "llama.cpp", "slots": 1, "problem": null, "models": [model],
    }]);
    assert_eq!(parsed(&output), listed);

    let output = stamina(folder.path(), &["endpoints", &url]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("llama.cpp") && text.contains("8192") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn an_address_without_models_is_exit_code_1_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = stand_in(|_, _| (200, "<html>not an endpoint</html>".to_owned()));
    let output = stamina(folder.path(), &["endpoints", &page, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let listed = parsed(&output);
    assert_eq!((&listed[0]["base_url"], &listed[0]["models"]), (&json!(page), &json!([])));
    assert!(listed[0]["problem"].as_str().is_some_and(|problem| problem.contains("a web page")), "{listed}");
    let output = stamina(folder.path(), &["endpoints", &page, "--key-env", "STAMINA_TEST_NO_KEY"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("STAMINA_TEST_NO_KEY"));
}

fn check<'a>(found: &'a Value, id: &str) -> Option<&'a Value> {
    found["checks"].as_array().expect("checks").iter().find(|check| check["id"] == id)
}

#[test]
fn preflight_says_what_the_endpoint_can_do_and_what_the_harness_lacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("endpoint.base_url={}", stand_in(llama_cpp));
    let values = ["agent=MINI_SWE", "output_dir=r", &url, "mini_swe.model_id=another", "batch_size=2"];
    let preflight = |more: &[&str]| {
        let args = [&["preflight", "--json"], more, &["--values"], &values].concat();
        parsed(&stamina(folder.path(), &args))
    };
    let found = preflight(&[]);
    let abilities = json!({
        "streams": true, "tools": false, "json_schema": true, "usage_in_stream": true, "cached": true, "context": 8192,
    });
    assert_eq!(found["endpoint"], abilities);
    let abilities_check = check(&found, "abilities").expect("the check");
    let sentence = abilities_check["sentence"].as_str().expect("a sentence");
    assert_eq!(abilities_check["state"], "warn");
    for words in
        ["mini-swe-agent", "requires --jinja", "Start llama-server with --jinja", "larger -c", "-np 2"]
    {
        assert!(sentence.contains(words), "{words}: {sentence}");
    }
    assert_eq!(
        abilities_check["fix"]["action"],
        json!({ "do": "set_number", "field": "context_window", "value": 8192.0 })
    );
    let model = check(&found, "model").expect("the check");
    assert!(
        model["sentence"]
            .as_str()
            .is_some_and(|sentence| sentence.contains("does not list the model another"))
    );

    // Another process asks nothing, and finds in the library what was found out.
    let kept = preflight(&["--no-call"]);
    assert_eq!(kept["endpoint"], abilities);
    let kept_check = check(&kept, "abilities").expect("the check");
    assert!(
        kept_check["sentence"]
            .as_str()
            .is_some_and(|sentence| sentence.contains("Start llama-server with --jinja"))
    );
    assert!(check(&kept, "model").is_none(), "the list of models is not kept");

    // All of it is asked again on request; the two exclude each other.
    assert_eq!(preflight(&["--ask-again"])["endpoint"], abilities);
    let arguments = ["preflight", "--no-call", "--ask-again", "--values", "agent=MOCK"];
    assert_eq!(stamina(folder.path(), &arguments).status.code(), Some(2));

    // A library that knows nothing of it.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let args = [&["preflight", "--json", "--no-call", "--values"], &values[..]].concat();
    let found = parsed(&stamina(elsewhere.path(), &args));
    let unknown = json!({
        "streams": null, "tools": null, "json_schema": null, "usage_in_stream": null, "cached": null, "context": null,
    });
    assert_eq!(found["endpoint"], unknown);
    assert!(check(&found, "abilities").is_none() && check(&found, "model").is_none());
}

/// A harness of the user's is compared with the endpoint by what its file says that it needs, as the built-in ones are.
#[test]
fn preflight_says_what_a_harness_file_lacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("endpoint.base_url={}", stand_in(llama_cpp));
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/harnesses/examples/pi.toml");
    let text = std::fs::read_to_string(example).expect("the example");
    let sentence_of = |text: &str| {
        std::fs::write(folder.path().join("own.toml"), text).expect("a file");
        let args = [
            "preflight",
            "--json",
            "--values",
            "agent=CUSTOM",
            "harness_file=own.toml",
            "output_dir=r",
            &url,
            "custom.model_id=small",
        ];
        let found = parsed(&stamina(folder.path(), &args));
        let abilities = check(&found, "abilities").expect("the check");
        (abilities["state"].clone(), abilities["sentence"].as_str().unwrap_or_default().to_owned())
    };
    let (state, sentence) = sentence_of(&text);
    assert_eq!(state, "warn");
    // 5,500 bytes are 1,375 tokens.
    for words in ["pi works by tool calls", "requires --jinja", "pi needs about 1375 for its first request"] {
        assert!(sentence.contains(words), "{words}: {sentence}");
    }
    // A file that says nothing of it is compared with nothing.
    let needs = "[needs]\ntools = true\nstreams = true\nfirst_request_bytes = 5500\n";
    assert!(text.contains(needs), "{text}");
    let (_, sentence) = sentence_of(&text.replace(needs, ""));
    assert!(!sentence.contains("tool calls") && !sentence.contains("first request"), "{sentence}");
}

/// Whether the server of [`restarted`] was started anew without its tools, and with another model.
static WITHOUT_TOOLS: AtomicBool = AtomicBool::new(false);
static OTHER_MODEL: AtomicBool = AtomicBool::new(false);

/// llama.cpp with `--jinja`, until it is started anew.
fn restarted(path: &str, body: &str) -> (u16, String) {
    let calls =
        json!([{ "id": "c1", "type": "function", "function": { "name": "report", "arguments": "{}" } }]);
    match path {
        "/v1/chat/completions" if body.contains("\"tools\"") && !WITHOUT_TOOLS.load(Ordering::Relaxed) => {
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            let choices = json!([{ "index": 0, "finish_reason": "tool_calls", "message": message }]);
            (200, json!({ "id": "1", "object": "chat.completion", "choices": choices }).to_string())
        }
        "/v1/models" if OTHER_MODEL.load(Ordering::Relaxed) => {
            let model = json!({ "id": "other.gguf", "object": "model", "owned_by": "llamacpp" });
            (200, json!({ "object": "list", "data": [model] }).to_string())
        }
        _ => llama_cpp(path, body),
    }
}

#[test]
fn what_a_server_that_was_started_anew_can_do_is_asked_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("endpoint.base_url={}", stand_in(restarted));
    let values = ["agent=MINI_SWE", "output_dir=r", &url, "mini_swe.model_id=typed"];
    let tools = |more: &[&str]| {
        let args = [&["preflight", "--json"], more, &["--values"], &values].concat();
        parsed(&stamina(folder.path(), &args))["endpoint"]["tools"].clone()
    };
    assert_eq!(tools(&[]), true);
    // Nothing that it tells of itself shows the difference.
    WITHOUT_TOOLS.store(true, Ordering::Relaxed);
    assert_eq!(tools(&[]), true, "it is known for a day");
    assert_eq!(tools(&["--ask-again"]), false);
    WITHOUT_TOOLS.store(false, Ordering::Relaxed);
    assert_eq!(tools(&[]), true, "what it could not do is asked again in any case");
    // Another model under the name that was typed.
    WITHOUT_TOOLS.store(true, Ordering::Relaxed);
    OTHER_MODEL.store(true, Ordering::Relaxed);
    assert_eq!(tools(&[]), false);
}
