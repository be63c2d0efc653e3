//! What a run makes of an endpoint that misbehaves, with harnesses in their containers: each of them has words and a number
//! of tries of its own, and all have to be judged alike.
//!
//! `STAMINA_HARNESSES` (names with commas) chooses; without it mini-swe-agent is tried. The first of them meets every fault (in
//! `npm test` the mock agent, which starts in no time), the others one of each kind, which mini-swe-agent and Qwen Code share among
//! them, or every one, too, where `STAMINA_EVERY_WAY` is set (`npm run harnesses -- --faults`, `npm run test:deep`).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::Route;
use gateway::simulated_model::{Ability, Feedback, SimulatedModel, Task};
use model::EndReason;
use runner::settings::EndpointSettings;
use runner::{Event, Finish, OnEvent};
use scenario::Seed;
use scenario::sample::{ProgrammaticSampler, Sampler as _};
use serde_json::{Value, json};

use crate::common;

/// The base seed of the scenario, which the model behind the endpoint has to know as well.
const SEED: u64 = 42;
/// How many of them are played at the same time: they mostly wait, but each has a container.
const AT_ONCE: usize = 6;

/// What the endpoint does with the requests of an agent. It answers the gateway's probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misbehavior {
    /// Breaks the connection after the first word.
    CutStream,
    /// Sends an error after the first word.
    ErrorEvent,
    /// Breaks about every third answer off in its middle: the 2nd, 5th, 9th, 12th, … A retried attempt of three requests does not
    /// meet it each time.
    EveryThird,
    /// 200 with a web page.
    WebPage,
    /// 200 with JSON that is cut.
    CutJson,
    /// 200 without a choice, an output or a content.
    Empty,
    /// Nothing at all.
    Silence,
    /// Nothing after the first word.
    Stall,
    /// Nothing after the first answer, which is complete.
    SilenceLater,
    /// Breaks the connection after the first word of each answer but the first, which is complete.
    CutLater,
    /// Sends an error after the first word of each answer but the first, which is complete.
    ErrorEventLater,
    /// 200 with a web page after the first answer, which is complete.
    WebPageLater,
    /// 400.
    BadRequest,
    /// 401.
    Unauthorized,
    /// 422.
    Unprocessable,
    /// 413.
    TooLarge,
    /// 413 after the first answer, which is complete.
    TooLargeLater,
}

use Misbehavior as M;

impl Misbehavior {
    /// Its row in what `npm run harnesses -- --faults` prints.
    const fn title(self) -> &'static str {
        match self {
            Self::CutStream => "every answer's stream is cut",
            Self::ErrorEvent => "an error event in every stream",
            Self::EveryThird => "every third answer breaks off",
            Self::WebPage => "200 with a web page",
            Self::CutJson => "200 with cut JSON",
            Self::Empty => "200 without a choice",
            Self::Silence => "silence, probes answered",
            Self::Stall => "a stall in every stream",
            Self::SilenceLater => "silence after one answer",
            Self::CutLater => "every stream is cut after one answer",
            Self::ErrorEventLater => "an error event in every stream after one answer",
            Self::WebPageLater => "200 with a web page after one answer",
            Self::BadRequest => "400 to every request",
            Self::Unauthorized => "401 to every request",
            Self::Unprocessable => "422 to every request",
            Self::TooLarge => "413 to every request",
            Self::TooLargeLater => "413 after one answer",
        }
    }

    /// Whether it stands for the faults of its kind: those that harnesses were seen to tell apart, each once. The two harnesses of
    /// `npm test` share them: what breaks a stream is met by the one that reads streams.
    fn is_sampled(self, agent: &str) -> bool {
        match self {
            Self::EveryThird | Self::WebPage | Self::BadRequest => agent != "qwen_code",
            Self::CutStream | Self::ErrorEvent | Self::Stall | Self::CutLater | Self::TooLargeLater => {
                agent != "mini_swe"
            }
            _ => false,
        }
    }

    /// Whether the first answer is complete, so that the agent acts.
    const fn begins_well(self) -> bool {
        matches!(
            self,
            Self::SilenceLater
                | Self::CutLater
                | Self::ErrorEventLater
                | Self::WebPageLater
                | Self::TooLargeLater
        )
    }

    /// Whether it lasts until the limit of the attempt strikes, which then has to be short.
    const fn is_silent(self) -> bool {
        matches!(self, Self::Silence | Self::Stall | Self::SilenceLater)
    }
}

/// How the attempt is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    /// It is attributed to the endpoint and retried.
    Endpoint,
    /// It is recorded with this reason; with none it passed.
    Recorded(Option<EndReason>),
    /// The run ended without either.
    Neither,
    /// The run ended as finished, though no answer of it was complete.
    Finished,
    /// The harness asked nothing before its limit struck, so nothing is known.
    Unasked,
}

impl Judged {
    /// As reasons are written in files.
    fn word(self) -> String {
        match self {
            Self::Endpoint => "endpoint".to_owned(),
            Self::Recorded(None) => "passed".to_owned(),
            Self::Recorded(Some(reason)) => {
                serde_json::to_value(reason).unwrap().as_str().unwrap_or_default().to_owned()
            }
            Self::Neither => "not recorded".to_owned(),
            Self::Finished => "run finished".to_owned(),
            Self::Unasked => "nothing was asked".to_owned(),
        }
    }
}

/// The table of the faults, and how each attempt has to be judged, whatever the harness.
const TABLE: [(Misbehavior, Judged); 17] = [
    (M::CutStream, Judged::Endpoint),
    (M::ErrorEvent, Judged::Endpoint),
    (M::EveryThird, Judged::Recorded(None)),
    (M::WebPage, Judged::Endpoint),
    (M::CutJson, Judged::Endpoint),
    (M::Empty, Judged::Endpoint),
    (M::Silence, Judged::Endpoint),
    (M::Stall, Judged::Endpoint),
    (M::SilenceLater, Judged::Endpoint),
    (M::CutLater, Judged::Endpoint),
    (M::ErrorEventLater, Judged::Endpoint),
    (M::WebPageLater, Judged::Endpoint),
    (M::BadRequest, Judged::Endpoint),
    (M::Unauthorized, Judged::Endpoint),
    (M::Unprocessable, Judged::Endpoint),
    // Before an answer of the run it says nothing of an agent.
    (M::TooLarge, Judged::Endpoint),
    (M::TooLargeLater, Judged::Recorded(Some(EndReason::ContextOverflow))),
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

/// The path of a request, without its query.
fn path(request: &str) -> &str {
    request.split(' ').nth(1).and_then(|path| path.split('?').next()).unwrap_or_default()
}

/// The model behind the endpoint, which writes the server of turn 1.
struct ModelBehind {
    model: SimulatedModel,
    task: Task,
}

impl ModelBehind {
    fn new() -> Self {
        let first = ProgrammaticSampler.first_schema(Seed { base: SEED, scenario: 0 }).unwrap().value;
        let task = Task {
            scenario: 0,
            turn: 1,
            attempt: 1,
            turns: Arc::new(vec![(Arc::new(first), Vec::new())]),
            attempts_before: Vec::new(),
            feedback: Feedback::default(),
            solution: None,
        };
        Self { model: SimulatedModel::new(Ability::default()), task }
    }

    /// Sends its answer to a request, or the first half of it.
    fn answer(&self, stream: &mut TcpStream, request: &str, is_cut: bool) -> std::io::Result<()> {
        let body =
            request.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok());
        let Some((route, body)) = Route::from_path(path(request)).zip(body) else {
            return answer(stream, "404 Not Found", JSON, r#"{"error":{"message":"no such path"}}"#);
        };
        let model_answer = self.model.answer(route, &body, &self.task);
        let bytes = model_answer.chunks.concat();
        write!(
            stream,
            "HTTP/1.1 {} .\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            model_answer.status,
            model_answer.content_type,
            bytes.len()
        )?;
        stream.write_all(&bytes[..if is_cut { bytes.len() / 2 } else { bytes.len() }])
    }
}

const JSON: &str = "application/json";

/// An endpoint that misbehaves, and when it first did to an agent.
struct Endpoint {
    address: String,
    misbehaved: Arc<Mutex<Option<Instant>>>,
}

impl Endpoint {
    fn new(misbehavior: Misbehavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let misbehaved = Arc::new(Mutex::new(None));
        let first = misbehaved.clone();
        std::thread::spawn(move || {
            let behind = ModelBehind::new();
            // Connections on which nothing more is said stay open.
            let mut held = Vec::new();
            let mut requests = 0_u32;
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let Some(request) = common::read_as_sent(&mut stream) else { continue };
                let lower = request.to_ascii_lowercase();
                if lower.contains("answer with the word yes") {
                    let _ = answer(&mut stream, "200 OK", JSON, probe_answer(&lower));
                    continue;
                }
                let is_of_the_model = Route::from_path(path(&request)).is_some();
                requests += u32::from(is_of_the_model);
                let is_well = match misbehavior {
                    M::EveryThird => !is_of_the_model || !matches!(requests % 7, 2 | 5),
                    _ => misbehavior.begins_well() && (!is_of_the_model || requests == 1),
                };
                if is_well {
                    let _ = behind.answer(&mut stream, &request, false);
                    continue;
                }
                first.lock().unwrap().get_or_insert_with(Instant::now);
                if misbehavior == M::EveryThird {
                    let _ = behind.answer(&mut stream, &request, true);
                } else if misbehave(misbehavior, &mut stream, &lower).is_ok() && misbehavior.is_silent() {
                    held.push(stream);
                }
            }
        });
        Self { address, misbehaved }
    }
}

/// What it does with one request.
fn misbehave(misbehavior: Misbehavior, stream: &mut TcpStream, request: &str) -> std::io::Result<()> {
    let (word, error) = events(request);
    // A length that is not reached: the client sees a broken connection.
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    match misbehavior {
        M::CutStream | M::CutLater | M::Stall | M::EveryThird => {
            write!(stream, "{head}Content-Length: 100000\r\n\r\n{word}")
        }
        M::ErrorEvent | M::ErrorEventLater => write!(stream, "{head}Connection: close\r\n\r\n{word}{error}"),
        M::WebPage | M::WebPageLater => {
            answer(stream, "200 OK", "text/html", "<html><body>Sign in</body></html>")
        }
        M::CutJson => answer(stream, "200 OK", JSON, "{\"id\":\"c\",\"choices\":[{\"mess"),
        M::Empty => answer(stream, "200 OK", JSON, r#"{"id":"c","choices":[]}"#),
        M::Silence | M::SilenceLater => Ok(()),
        M::BadRequest => {
            answer(stream, "400 Bad Request", JSON, r#"{"error":{"message":"unknown field `tools`"}}"#)
        }
        M::Unauthorized => {
            answer(stream, "401 Unauthorized", JSON, r#"{"error":{"message":"the key may not do this"}}"#)
        }
        M::Unprocessable => answer(
            stream,
            "422 Unprocessable Entity",
            JSON,
            r#"{"error":{"message":"unknown field `tools`"}}"#,
        ),
        M::TooLarge | M::TooLargeLater => {
            answer(stream, "413 Payload Too Large", JSON, r#"{"error":{"message":"too large"}}"#)
        }
    }
}

/// Plays one turn until its attempt is judged. Silence lasts as long as the attempt may: on a busy machine that can be over
/// before the harness has asked anything, or the silence is the smaller part of it. That says nothing of the endpoint, so the
/// turn is repeated with more time.
async fn judged(agent: &str, folder: &Path, misbehavior: Misbehavior, must: Judged) -> Judged {
    if !misbehavior.is_silent() {
        return judged_within(agent, folder, misbehavior, must, 30).await.0;
    }
    for minutes in [1, 2, 4, 8] {
        let folder = folder.join(minutes.to_string());
        let (found, before) = judged_within(agent, &folder, misbehavior, must, minutes).await;
        // From the start of the run, including the time of the containers: more than the agent had.
        let is_early = before.is_some_and(|before| before.as_secs() < u64::from(minutes) * 25);
        if found == must || is_early || (minutes == 8 && before.is_some()) {
            return found;
        }
    }
    Judged::Unasked
}

/// The same within a limit, and how long after its begin the endpoint first misbehaved.
async fn judged_within(
    agent: &str,
    folder: &Path,
    misbehavior: Misbehavior,
    must: Judged,
    minutes: u32,
) -> (Judged, Option<Duration>) {
    let values = [
        format!("output_dir={}", folder.display()),
        format!("agent={}", agent.to_uppercase()),
        "use_docker=true".to_owned(),
        "endpoint.mode=oracle".to_owned(),
        "restful_server_gen_iterative.n_scenarios=1".to_owned(),
        "restful_server_gen_iterative.n_turns=1".to_owned(),
        format!("restful_server_gen_iterative.base_seed={SEED}"),
        "restful_server_gen_iterative.attempt_limit=1".to_owned(),
        format!("limits.attempt_minutes={minutes}"),
    ];
    let mut settings = runner::settings::resolve(&[], &values).unwrap();
    let Endpoint { address: base_url, misbehaved } = Endpoint::new(misbehavior);
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let kept = Arc::new(Mutex::new(None));
    let kept_events = kept.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if let Event::Attempt { end_reason, .. } = event {
            *kept_events.lock().unwrap() = Some(*end_reason);
        }
    });
    let begun = Instant::now();
    let before = || (*misbehaved.lock().unwrap()).map(|instant: Instant| instant.duration_since(begun));
    let mut playing = tokio::spawn(runner::run(settings, on_event));
    loop {
        tokio::select! {
            finish = &mut playing => {
                let finish = finish.unwrap().unwrap();
                let recorded = kept.lock().unwrap().take();
                let is_answered = misbehavior == M::EveryThird || misbehavior.begins_well();
                let found = match (finish, recorded) {
                    (Finish::Finished, _) if !is_answered => Judged::Finished,
                    (_, Some(reason)) => Judged::Recorded(reason),
                    (_, None) => Judged::Neither,
                };
                return (found, before());
            }
            // Looking takes its own part of the machine, and others of them play beside it.
            () = tokio::time::sleep(Duration::from_millis(600)) => {}
        }
        let retried =
            runner::live::read(folder).map_or(0, |run| run.endpoint.map_or(0, |counts| counts.retried));
        if retried > 0 && must == Judged::Endpoint {
            // The other retries would be no different.
            runner::control::change(folder, |control_request| control_request.stop = true).unwrap();
            assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped, "{agent} {misbehavior:?}");
            return (Judged::Endpoint, before());
        }
    }
}

/// A test for each harness, since they share nothing and each takes minutes; and the names of all of them.
macro_rules! harness_tests {
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

harness_tests! {
    each_fault_of_an_endpoint_is_judged_alike_mini_swe: "mini_swe",
    each_fault_of_an_endpoint_is_judged_alike_openhands: "openhands",
    each_fault_of_an_endpoint_is_judged_alike_opencode: "opencode",
    each_fault_of_an_endpoint_is_judged_alike_qwen_code: "qwen_code",
    each_fault_of_an_endpoint_is_judged_alike_kimi_cli: "kimi_cli",
    each_fault_of_an_endpoint_is_judged_alike_kimi_code: "kimi_code",
    each_fault_of_an_endpoint_is_judged_alike_vibe: "vibe",
    each_fault_of_an_endpoint_is_judged_alike_claude_code: "claude_code",
    each_fault_of_an_endpoint_is_judged_alike_codex: "codex",
    each_fault_of_an_endpoint_is_judged_alike_mock: "mock",
}

/// Tries a harness, where it is chosen.
async fn each_fault_is_judged(agent: &'static str) {
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe".to_owned());
    let has_a_test = |name: &str| TRIED.contains(&name);
    assert!(harness::all().iter().all(|known| has_a_test(known.name())), "a harness is not tried here");
    assert!(chosen.split(',').all(has_a_test), "there is no such harness: {chosen}");
    if !chosen.split(',').any(|name| name == agent) {
        println!("left out: {agent} is not chosen");
        return;
    }
    let first = chosen.split(',').find(|name| TRIED.contains(name));
    let is_every = first == Some(agent) || std::env::var_os("STAMINA_EVERY_WAY").is_some();
    let table: Vec<_> =
        TABLE.into_iter().filter(|(misbehavior, _)| is_every || misbehavior.is_sampled(agent)).collect();
    let room = tempfile::tempdir().unwrap();
    let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    // All begin before the first is waited for.
    let playing: Vec<_> = table
        .iter()
        .map(|&(misbehavior, must)| {
            let folder = room.path().join(format!("{agent}-{misbehavior:?}"));
            let places = places.clone();
            tokio::spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                judged(agent, &folder, misbehavior, must).await
            })
        })
        .collect();
    let mut wrong = Vec::new();
    for ((misbehavior, must), played) in table.into_iter().zip(playing) {
        let found = played.await.map_or_else(|error| error.to_string(), Judged::word);
        // `npm run harnesses -- --faults` makes its table of these lines.
        println!(
            "{}",
            json!({ "fault": misbehavior.title(), "harness": agent, "must": must.word(), "found": found })
        );
        if found != must.word() {
            wrong.push(format!("{}: {found}, must be {}", misbehavior.title(), must.word()));
        }
    }
    assert!(wrong.is_empty(), "{agent}: {wrong:?}");
}
