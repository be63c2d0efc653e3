//! What a run makes of an endpoint that misbehaves, with real harnesses in their containers: each of them has words and a number
//! of tries of its own, and all have to be judged alike.
//!
//! `STAMINA_HARNESSES` (names with commas) chooses; without it mini-swe-agent is tried. `npm run harnesses -- --faults` tries all.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::EndReason;
use runner::settings::EndpointSettings;
use runner::{Event, Finish, OnEvent};

mod common;

/// What the endpoint does with every request of an agent. It answers the gateway's probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misbehavior {
    /// Breaks the connection after the first word.
    CutStream,
    /// Sends an error after the first word.
    ErrorEvent,
    /// 200 with a web page.
    WebPage,
    /// 200 with JSON that is cut.
    CutJson,
    /// 200 without a choice, an output or a content.
    Empty,
    /// Nothing at all.
    Silence,
    /// 400.
    BadRequest,
    /// 413.
    TooLarge,
}

use Misbehavior::{BadRequest, CutJson, CutStream, Empty, ErrorEvent, Silence, TooLarge, WebPage};

/// How the attempt is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    /// It is attributed to the endpoint and retried.
    Endpoint,
    /// It is recorded.
    Recorded(Option<EndReason>),
    /// The run ended without either.
    Neither,
}

/// The table of the faults, and how each attempt has to be judged, whatever the harness.
const TABLE: [(Misbehavior, Judged); 8] = [
    (CutStream, Judged::Endpoint),
    (ErrorEvent, Judged::Endpoint),
    (WebPage, Judged::Endpoint),
    (CutJson, Judged::Endpoint),
    (Empty, Judged::Endpoint),
    (Silence, Judged::Endpoint),
    (BadRequest, Judged::Endpoint),
    // After an answer of the run it is the agent's (`docker_ends.rs`); before one it says nothing of an agent.
    (TooLarge, Judged::Endpoint),
];

/// The first word of a streamed answer, and an error after it.
fn events(request: &str) -> (&'static str, &'static str) {
    let line = request.lines().next().unwrap_or_default();
    if line.contains("/messages") {
        (
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"I\"}}\n\n",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"gone\"}}\n\n",
        )
    } else if line.contains("/responses") {
        (
            "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,\"usage\":null}}\n\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"i\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"in_progress\",\"content\":[]}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":2,\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"I\"}\n\n",
            "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":3,\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"gone\"},\"usage\":null}}\n\n",
        )
    } else {
        (
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I\"},\"finish_reason\":null}]}\n\n",
            "data: {\"error\":{\"message\":\"gone\",\"code\":502}}\n\n",
        )
    }
}

/// Answers a probe of the gateway, in the API that it asks in.
fn probe_answer(request: &str) -> &'static str {
    let line = request.lines().next().unwrap_or_default();
    if line.contains("/messages") {
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}"#
    } else if line.contains("/responses") {
        r#"{"id":"r","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":1}}"#
    } else {
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#
    }
}

fn answer(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// An endpoint that misbehaves, and whether an agent has asked it anything.
fn endpoint(what: Misbehavior) -> (String, Arc<AtomicBool>) {
    const JSON: &str = "application/json";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let was_asked = Arc::new(AtomicBool::new(false));
    let asked = was_asked.clone();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = common::read(&mut stream) else { continue };
            if request.contains("answer with the word yes") {
                let _ = answer(&mut stream, "200 OK", JSON, probe_answer(&request));
                continue;
            }
            asked.store(true, Ordering::SeqCst);
            let (word, error) = events(&request);
            // A length that is not reached: the client sees a broken connection.
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
            let _ = match what {
                CutStream => write!(stream, "{head}Content-Length: 100000\r\n\r\n{word}"),
                ErrorEvent => write!(stream, "{head}Connection: close\r\n\r\n{word}{error}"),
                WebPage => answer(&mut stream, "200 OK", "text/html", "<html><body>Sign in</body></html>"),
                CutJson => answer(&mut stream, "200 OK", JSON, "{\"id\":\"c\",\"choices\":[{\"mess"),
                Empty => answer(&mut stream, "200 OK", JSON, r#"{"id":"c","choices":[]}"#),
                BadRequest => answer(
                    &mut stream,
                    "400 Bad Request",
                    JSON,
                    r#"{"error":{"message":"unknown field `tools`"}}"#,
                ),
                TooLarge => {
                    answer(&mut stream, "413 Payload Too Large", JSON, r#"{"error":{"message":"too large"}}"#)
                }
                Silence => {
                    held.push(stream);
                    continue;
                }
            };
        }
    });
    (format!("http://{address}"), was_asked)
}

/// Plays one turn until its attempt is judged. Silence lasts as long as the attempt may: on a busy machine that can be over
/// before the harness has asked anything, which says nothing of the endpoint, so the turn is played again.
async fn judged(agent: &str, folder: &Path, what: Misbehavior) -> Judged {
    for minutes in [1, 2, 4, 8] {
        let (found, was_asked) = judged_within(agent, &folder.join(minutes.to_string()), what, minutes).await;
        if was_asked || what != Silence {
            return found;
        }
    }
    panic!("{agent}: it asked nothing in eight minutes");
}

/// The same with a limit of so many minutes for silence, and whether the endpoint was asked.
async fn judged_within(agent: &str, folder: &Path, what: Misbehavior, minutes: u32) -> (Judged, bool) {
    let values = [
        format!("output_dir={}", folder.display()),
        format!("agent={}", agent.to_uppercase()),
        "use_docker=true".to_owned(),
        "endpoint.mode=oracle".to_owned(),
        "restful_server_gen_iterative.n_scenarios=1".to_owned(),
        "restful_server_gen_iterative.n_turns=1".to_owned(),
        "restful_server_gen_iterative.attempt_limit=1".to_owned(),
        format!("limits.attempt_minutes={}", if what == Silence { minutes } else { 30 }),
    ];
    let mut settings = runner::settings::resolve(&[], &values).unwrap();
    let (base_url, was_asked) = endpoint(what);
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let kept = Arc::new(Mutex::new(None));
    let to = kept.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if let Event::Attempt { end_reason, .. } = event {
            *to.lock().unwrap() = Some(*end_reason);
        }
    });
    let mut playing = tokio::spawn(runner::run(settings, on_event));
    loop {
        tokio::select! {
            finish = &mut playing => {
                let finish = finish.unwrap().unwrap();
                assert_ne!(finish, Finish::Finished, "{agent} {what:?}: no answer of the run was complete");
                let found = kept.lock().unwrap().take().map_or(Judged::Neither, Judged::Recorded);
                return (found, was_asked.load(Ordering::SeqCst));
            }
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
        let retried =
            runner::live::read(folder).map_or(0, |run| run.endpoint.map_or(0, |counts| counts.retried));
        if retried > 0 {
            // The other retries would be no different.
            runner::control::change(folder, |wish| wish.stop = true).unwrap();
            assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped, "{agent} {what:?}");
            return (Judged::Endpoint, was_asked.load(Ordering::SeqCst));
        }
    }
}

/// A test for each harness, since they share nothing and each takes minutes; and the names of all of them.
macro_rules! of_each {
    ($($test:ident: $agent:literal,)*) => {
        /// Those that are tried here.
        const TRIED: &[&str] = &[$($agent),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs a container engine"]
            async fn $test() {
                each_fault_is_judged($agent).await;
            }
        )*
    };
}

of_each! {
    each_fault_of_an_endpoint_is_judged_alike_mini_swe: "mini_swe",
    each_fault_of_an_endpoint_is_judged_alike_openhands: "openhands",
    each_fault_of_an_endpoint_is_judged_alike_opencode: "opencode",
    each_fault_of_an_endpoint_is_judged_alike_qwen_code: "qwen_code",
    each_fault_of_an_endpoint_is_judged_alike_kimi_cli: "kimi_cli",
    each_fault_of_an_endpoint_is_judged_alike_kimi_code: "kimi_code",
    each_fault_of_an_endpoint_is_judged_alike_vibe: "vibe",
    each_fault_of_an_endpoint_is_judged_alike_claude_code: "claude_code",
    each_fault_of_an_endpoint_is_judged_alike_codex: "codex",
}

/// Tries a harness, where it is chosen.
async fn each_fault_is_judged(agent: &'static str) {
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe".to_owned());
    let has_a_test = |name: &str| name == "mock" || TRIED.contains(&name);
    assert!(harness::all().iter().all(|known| has_a_test(known.name())), "a harness is not tried here");
    assert!(chosen.split(',').all(has_a_test), "there is no such harness: {chosen}");
    if !chosen.split(',').any(|name| name == agent) {
        println!("left out: {agent} is not chosen");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    // They mostly wait for the next try, so they run beside each other.
    let playing = TABLE.map(|(what, expected)| {
        let folder = room.path().join(format!("{agent}-{what:?}"));
        tokio::spawn(async move { (what, expected, judged(agent, &folder, what).await) })
    });
    let mut all = Vec::new();
    for played in playing {
        all.push(played.await.unwrap());
    }
    for (what, _, found) in &all {
        println!("{agent} {what:?}: {found:?}");
    }
    let wrong: Vec<_> = all.iter().filter(|(_, expected, found)| expected != found).collect();
    assert!(wrong.is_empty(), "{agent}: {wrong:?}");
}
