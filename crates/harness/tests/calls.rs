//! Everything that the runner asks of each of the nine agents, for many kinds of calls, as a text in `tests/calls`: facts,
//! commands, variables, files in HOME, sessions, and the outcome of each recorded output. The texts do not depend on whether
//! a harness is described by a file or by code, so they show that a change of the description changes nothing.
//!
//! On a difference, the new text is in `calls` in the temporary folder of cargo (`target/tmp`). Variables are sorted, and
//! files that are JSON are compared as values.
#![allow(clippy::unwrap_used, reason = "a text that is not there is a failure")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use harness::{Call, Endpoint, Harness, Invocation, Session};
use serde_json::Value;

use crate::common::{CommandResult, ID, endpoint, fixtures};

const NEW_ID: &str = "9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d";

/// A call, and what is special about it.
struct Case {
    title: &'static str,
    turn: u32,
    attempt: u32,
    prompt: String,
    session: Option<Session>,
    earlier: Option<Session>,
    endpoint: Endpoint,
    seconds: u64,
    home: &'static str,
    workspace: &'static str,
}

fn session(id: Option<&str>, memory: &[(&str, &str)]) -> Session {
    let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Session { id: id.map(str::to_owned), calls: 1, memory: memory.iter().map(pair).collect() }
}

fn direct() -> Endpoint {
    Endpoint { base_url: String::new(), key: String::new(), model: "bedrock/m".into(), context_window: 1000 }
}

fn ordinary_case(title: &'static str) -> Case {
    Case {
        title,
        turn: 1,
        attempt: 1,
        prompt: "build it".into(),
        session: None,
        earlier: None,
        endpoint: endpoint(),
        seconds: 600,
        home: harness::HOME,
        workspace: harness::WORKSPACE,
    }
}

/// A later call with this session.
fn later_case(title: &'static str, session: Session) -> Case {
    Case { turn: 2, session: Some(session), ..ordinary_case(title) }
}

fn with_model(title: &'static str, model: &str, context_window: u64) -> Case {
    Case { endpoint: Endpoint { model: model.into(), context_window, ..endpoint() }, ..ordinary_case(title) }
}

fn cases() -> Vec<Case> {
    let uuid = || session(Some(ID), &[]);
    let nameless = || session(None, &[]);
    let evil = "org/a model \"x\"\n[y] = '1' $(touch evil) {env:KEY} {key} \\ \u{1}\u{7f} é";
    vec![
        ordinary_case("first call"),
        Case { turn: 13, attempt: 3, ..later_case("later call", session(Some(ID), &[("messages", "4")])) },
        later_case("later call, session of OpenCode", session(Some("ses_e0302d922ffeTIPyTr0w9hsrPC"), &[])),
        later_case("later call, session of Kimi Code", session(Some(&format!("session_{ID}")), &[])),
        later_case("later call, the session has no id", nameless()),
        later_case("later call, an id that looks like an option", session(Some("--yolo"), &[])),
        later_case("later call, an id with a path", session(Some("../../etc"), &[])),
        later_case("later call, an id that is too long", session(Some(&"a".repeat(201)), &[])),
        later_case("later call, no id and an earlier session", session(None, &[("ambiguous", "1")])),
        later_case("later call, an id and an earlier session", session(Some(ID), &[("ambiguous", "1")])),
        later_case(
            "later call, a trajectory of its own",
            session(Some(ID), &[("trajectory", ".stamina/mini/trajectory-9a8b.json")]),
        ),
        later_case(
            "later call, a trajectory elsewhere",
            session(Some(ID), &[("trajectory", "../../etc/passwd.json")]),
        ),
        Case { earlier: Some(uuid()), turn: 7, ..ordinary_case("restarted session") },
        Case { earlier: Some(nameless()), ..ordinary_case("restarted session, the earlier one has no id") },
        Case { endpoint: direct(), ..ordinary_case("direct, first call") },
        Case { endpoint: direct(), ..later_case("direct, later call", uuid()) },
        Case { endpoint: direct(), ..later_case("direct, later call, the session has no id", nameless()) },
        Case { endpoint: direct(), earlier: Some(uuid()), ..ordinary_case("direct, restarted session") },
        Case {
            endpoint: Endpoint { model: evil.into(), ..direct() },
            ..ordinary_case("direct, a model with a hostile name")
        },
        with_model("a model with a slash", "org/team/model-7b:free", 200_000),
        with_model("a model with a hostile name", evil, 131_072),
        with_model("a model with a long name", &"m".repeat(400), 4_000_000),
        with_model("a context of 3 tokens", "m", 3),
        with_model("a context of 0 tokens", "m", 0),
        with_model("a context of 127,999 tokens", "m", 127_999),
        Case {
            endpoint: Endpoint {
                base_url: "http://[::1]:1/\"a'{model}".into(),
                key: "k\"\\{home}".into(),
                ..endpoint()
            },
            ..ordinary_case("an address and a key with quotes")
        },
        Case { seconds: 5, ..ordinary_case("a limit of 5 seconds") },
        Case { seconds: 11, ..ordinary_case("a limit of 11 seconds") },
        Case { seconds: 86_400, ..ordinary_case("a limit of a day") },
        Case { prompt: String::new(), ..ordinary_case("an empty request") },
        Case {
            prompt: "--help\n'; \"$(x)\" {model} {session}\r\n\u{1b}[31m é".into(),
            ..ordinary_case("a hostile request")
        },
        Case { prompt: "x".repeat(131_071), ..ordinary_case("a request of the longest argument") },
        Case {
            prompt: "x".repeat(131_062),
            ..later_case("a request of just under the longest argument", uuid())
        },
        Case { prompt: "x".repeat(300_000), ..later_case("a long request", uuid()) },
        Case {
            home: "/home/a user/.x",
            workspace: "/srv/a \"b\"/{key}",
            ..ordinary_case("folders of the host, without a container")
        },
    ]
}

/// A text, shortened in its middle.
fn shortened(text: &str) -> String {
    if text.len() <= 8000 {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(20)];
    format!("{head}… ({} bytes, hash {:016x})", text.len(), hash(text.as_bytes()))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn quoted(text: &str) -> String {
    Value::String(shortened(text)).to_string()
}

/// A value with the keys of its objects in order.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<String, Value> =
                map.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            Value::Object(map.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sort_keys).collect()),
        other => other,
    }
}

/// The text of a file: JSON as a value, everything else as it is.
fn comparable(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => serde_json::to_string_pretty(&sort_keys(value)).unwrap(),
        Err(_) => text.to_owned(),
    }
}

/// Writes calls. A part that is the same as in an earlier call is written once.
#[derive(Default)]
struct Page {
    text: String,
    known: BTreeMap<String, String>,
}

impl Page {
    fn part(&mut self, title: &str, case: &str, content: &str) {
        let key = format!("{title}\n{content}");
        if let Some(first) = self.known.get(&key) {
            writeln!(self.text, "{title}: as in \"{first}\"").unwrap();
            return;
        }
        self.known.insert(key, case.to_owned());
        writeln!(self.text, "{title}:").unwrap();
        for line in content.split('\n') {
            writeln!(
                self.text,
                "    {}",
                line.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
            )
            .unwrap();
        }
    }

    fn invocation(&mut self, case: &str, planned: &Invocation) {
        let argv: Vec<_> = planned.argv.iter().map(|part| quoted(part)).collect();
        self.part("command", case, &argv.join("\n"));
        let mut env: Vec<_> =
            planned.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        env.sort();
        self.part("variables", case, &env.join("\n"));
        let mut files: Vec<_> = planned.files.iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for file in files {
            self.part(&format!("file {}", file.path), case, &shortened(&comparable(&file.text)));
        }
    }
}

fn facts(page: &mut Page, harness: &dyn Harness) {
    let text = &mut page.text;
    writeln!(text, "{} ({}), version {}", harness.name(), harness.title(), harness.version()).unwrap();
    writeln!(text, "image {}", harness.image()).unwrap();
    writeln!(text, "API {:?}, all {:?}", harness.api(), harness.apis()).unwrap();
    writeln!(text, "probe {:?}", harness.probe()).unwrap();
    writeln!(text, "needs {:?}", harness.needs()).unwrap();
}

fn calls(page: &mut Page, harness: &dyn Harness) {
    for case in cases() {
        let call = Call {
            turn: case.turn,
            attempt: case.attempt,
            prompt: &case.prompt,
            session: case.session.as_ref(),
            earlier: case.earlier.as_ref(),
            session_id: NEW_ID,
            endpoint: &case.endpoint,
            seconds: case.seconds,
            home: case.home,
            workspace: case.workspace,
        };
        writeln!(page.text, "\n## {}", case.title).unwrap();
        if let Some(session) = &case.session {
            writeln!(page.text, "can be continued: {}", harness.has_begun(session)).unwrap();
        }
        match harness.invocation(&call) {
            Ok(invocation) => page.invocation(case.title, &invocation),
            Err(error) => writeln!(page.text, "refused: {error}").unwrap(),
        }
    }
}

/// The names of the recorded outputs of a harness.
fn recordings(folder: &Path) -> BTreeSet<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let stem = |name: String| {
        Some(name.strip_suffix(".stdout").or_else(|| name.strip_suffix(".stderr"))?.to_owned())
    };
    names.filter_map(stem).collect()
}

fn outcomes(page: &mut Page, harness: &dyn Harness) {
    let folder = fixtures().join(harness.name());
    for name in recordings(&folder) {
        writeln!(page.text, "\n## output {name}").unwrap();
        for (code, changed) in [(0, true), (1, true), (53, false), (143, true)] {
            let first = CommandResult { changed, ..CommandResult::case(&folder, &name).code(code) };
            let later = CommandResult { changed, ..CommandResult::case(&folder, &name).code(code) };
            let anew = CommandResult { changed, ..CommandResult::case(&folder, &name).code(code) };
            let known = session(Some(ID), &[("input", "100"), ("output", "7"), ("messages", "2")]);
            let turns = [
                ("first", first),
                ("later", later.with_session(Some(known.clone()))),
                ("restarted", anew.with_earlier(Some(known))),
            ];
            for (label, left) in turns {
                let outcome = left.outcome(harness);
                let steps: Vec<_> = outcome
                    .steps
                    .iter()
                    .map(|step| format!("{:?}/{}/{}", step.kind, step.text.len(), step.tool_calls.len()))
                    .collect();
                let content = format!(
                    "end {:?}: {:?}\nsession {:?}\nusage {:?}, cost {:?}\nsteps {}",
                    outcome.end,
                    outcome.message,
                    outcome.session,
                    outcome.usage,
                    outcome.cost_usd,
                    steps.join(" ")
                );
                page.part(&format!("exit code {code}, {label}"), &name, &content);
            }
        }
    }
}

#[test]
fn what_the_runner_asks_of_each_agent_is_what_is_written_down() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calls");
    std::fs::create_dir_all(&fresh).unwrap();
    let mut different = Vec::new();
    for harness in harness::all().iter().filter(|harness| harness.name() != "mock") {
        let mut page = Page::default();
        facts(&mut page, *harness);
        calls(&mut page, *harness);
        outcomes(&mut page, *harness);
        let name = format!("{}.txt", harness.name());
        std::fs::write(fresh.join(&name), &page.text).unwrap();
        let before = std::fs::read_to_string(kept.join(&name)).unwrap_or_default();
        if before == page.text {
            continue;
        }
        let shared_lines = before.lines().zip(page.text.lines()).take_while(|(a, b)| a == b).count();
        let line = |text: &str| shortened(text.lines().nth(shared_lines).unwrap_or("(the end)"));
        let pair = [line(&before), line(&page.text)];
        different.push(format!("{name}, line {}:\n  was {}\n  is  {}", shared_lines + 1, pair[0], pair[1]));
    }
    assert!(different.is_empty(), "the new texts are in {}\n{}", fresh.display(), different.join("\n"));
}
