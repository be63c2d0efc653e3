//! The example of a harness file for a public program: pi 0.73.1, in `data/harnesses/examples/pi.toml`. The calls that it makes,
//! and how its recorded sessions are read. They were recorded with the commands, variables and files below, and a scripted
//! endpoint of chat completions.
#![allow(clippy::unwrap_used, reason = "a file that is not there is a failure")]

use std::path::Path;

use harness::{Call, Endpoint, Harness, Needs, Outcome, Session};
use model::{EndReason, Tokens};
use serde_json::{Value, json};

use crate::common::{CommandResult, ID, endpoint, fixtures};

const SESSION: &str = ".stamina/pi/session.json";

fn pi() -> harness::HarnessFile {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/harnesses/examples/pi.toml");
    harness::load(&file.canonicalize().unwrap()).unwrap()
}

fn call<'a>(endpoint: &'a Endpoint, session: Option<&'a Session>, earlier: Option<&'a Session>) -> Call<'a> {
    Call {
        turn: 1,
        attempt: 1,
        prompt: "--help\n\"so\" $(x) build it",
        session,
        earlier,
        session_id: ID,
        endpoint,
        seconds: 600,
        home: harness::HOME,
        workspace: harness::WORKSPACE,
    }
}

/// The command without the shell that opens the request.
fn command(invocation: &harness::Invocation) -> &[String] {
    assert_eq!(invocation.argv[0], "sh");
    assert_eq!(invocation.argv[4], "/agent/.stamina/prompt.md");
    &invocation.argv[5..]
}

fn file<'a>(invocation: &'a harness::Invocation, path: &str) -> Option<&'a str> {
    invocation.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
}

fn recorded(name: &str) -> String {
    std::fs::read_to_string(fixtures().join("pi").join(format!("{name}.jsonl"))).unwrap()
}

/// The outcome of a call that left this session.
fn outcome(session_file: &str, session: Option<Session>, code: i64) -> Outcome {
    CommandResult::empty().code(code).file(SESSION, session_file).with_session(session).outcome(&pi())
}

#[test]
fn the_calls_of_the_example_are_those_it_was_tried_with() {
    let pi = pi();
    assert_eq!((pi.name(), pi.version(), pi.image()), ("pi", "0.73.1", "example/pi:0.73.1"));
    assert_eq!(pi.needs(), Some(Needs { tools: true, streams: true, first_request_bytes: 5500 }));

    let endpoint = Endpoint { model: "org/team/m-7b:free".into(), ..endpoint() };
    let expected = [
        "pi",
        "--mode",
        "json",
        "--provider",
        "bench",
        "--model",
        "org/team/m-7b:free",
        "--session",
        "/agent/.stamina/pi/session.json",
    ];
    let first = pi.invocation(&call(&endpoint, None, None)).unwrap();
    assert_eq!(command(&first), expected);
    assert_eq!(file(&first, ".stamina/prompt.md"), Some("--help\n\"so\" $(x) build it"));
    let mut env: Vec<_> = first.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    env.sort_unstable();
    let key = ("STAMINA_KEY", "sk-attempt-6f3c");
    assert_eq!(env, [("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"), key]);
    let settings: Value = serde_json::from_str(file(&first, ".pi/agent/settings.json").unwrap()).unwrap();
    assert_eq!(settings, json!({"retry": {"enabled": false, "provider": {"maxRetries": 0}}}));
    let models: Value = serde_json::from_str(file(&first, ".pi/agent/models.json").unwrap()).unwrap();
    let expected_models = json!({"providers": {"bench": {
        "baseUrl": "http://172.20.0.1:41001/a/6f3c/v1",
        "api": "openai-completions",
        "apiKey": "STAMINA_KEY",
        "compat": {
            "supportsStore": false,
            "supportsDeveloperRole": false,
            "supportsReasoningEffort": false,
            "maxTokensField": "max_tokens",
        },
        "models": [{"id": "org/team/m-7b:free", "contextWindow": 131_072, "maxTokens": 32_000}],
    }}});
    assert_eq!(models, expected_models);
    assert!(!first.argv.iter().any(|part| part.contains("sk-attempt")), "a key is never an argument");

    // One command serves all calls, and a restarted session gets another file.
    let known = Session { calls: 1, ..Session::default() };
    let later = pi.invocation(&call(&endpoint, Some(&known), None)).unwrap();
    assert_eq!(command(&later), expected);
    let anew = pi.invocation(&call(&endpoint, None, Some(&known))).unwrap();
    assert_eq!(command(&anew)[8], format!("/agent/.stamina/pi/session-{ID}.json"));

    let direct = Endpoint { base_url: String::new(), key: String::new(), ..endpoint };
    let direct = pi.invocation(&call(&direct, None, None)).unwrap();
    let expected = [
        "pi",
        "--mode",
        "json",
        "--model",
        "org/team/m-7b:free",
        "--session",
        "/agent/.stamina/pi/session.json",
    ];
    assert_eq!(command(&direct), expected);
    assert!(file(&direct, ".pi/agent/models.json").is_none());
}

#[test]
fn each_call_is_what_is_new_in_the_session() {
    let whole = recorded("two_calls");
    let before: String = whole.split_inclusive('\n').take(7).collect();
    let first = outcome(&before, None, 0);
    assert_eq!((first.end, &first.message), (None, &None));
    // Two answers, by the log of the endpoint: 100 + 200 tokens in, 40 of each cached, 7 each out.
    assert_eq!(first.usage, Tokens { input: Some(300), cached: Some(80), output: Some(14) });
    assert_eq!(first.steps.len(), 2);
    let tool = &first.steps[0].tool_calls[0];
    assert_eq!((first.steps[0].text.as_str(), tool.name.as_str()), ("I write.", "bash"));
    assert_eq!((tool.result.as_deref(), tool.is_error), (Some("hello\n"), Some(false)));
    assert_eq!(first.steps[1].text, "Done.");

    let second = outcome(&whole, first.session, 0);
    assert_eq!((second.end, &second.message), (None, &None));
    assert_eq!(second.usage, Tokens { input: Some(700), cached: Some(80), output: Some(14) });
    assert_eq!(second.steps[0].tool_calls[0].result.as_deref(), Some("hello\nhello\n"));
    assert_eq!(second.session.unwrap().calls, 2);
}

#[test]
fn exit_code_0_is_no_success() {
    let end = |name: &str, code: i64| {
        let outcome = outcome(&recorded(name), None, code);
        (outcome.end, outcome.message)
    };
    let message = |text: &str| Some(text.to_owned());
    assert_eq!(end("refused", 0), (Some(EndReason::Endpoint), message("401 Incorrect API key")));
    assert_eq!(end("fault", 0), (Some(EndReason::Endpoint), message("500 internal error")));
    let too_long =
        "400 This model's maximum context length is 4096 tokens. However, you requested 9000 tokens";
    assert_eq!(end("too_long", 0), (Some(EndReason::ContextOverflow), message(too_long)));
    // An answer that was cut at its longest.
    assert_eq!(end("cut_answer", 0).0, Some(EndReason::AgentError));
    // It was ended while it sent the same call again and again, whose arguments break off.
    assert_eq!(end("bad_arguments", 143).0, Some(EndReason::ToolCallFormat));
    // Killed while its tool ran: the call before had ended well.
    let killed: String = recorded("two_calls").split_inclusive('\n').take(9).collect();
    let before = outcome(&recorded("two_calls").split_inclusive('\n').take(7).collect::<String>(), None, 0);
    assert_eq!(outcome(&killed, before.session, 137).end, Some(EndReason::KilledItself));
}

/// Its output repeats the answer with every word, and its last line holds all messages: of a long call only a part is kept.
#[test]
fn the_end_is_read_from_the_session_and_not_from_the_output() {
    let stdout = std::fs::read(fixtures().join("pi/refused.stdout")).unwrap();
    let whole: String = recorded("two_calls").split_inclusive('\n').take(7).collect();
    let left = CommandResult { stdout: stdout.clone(), ..CommandResult::empty() }.file(SESSION, &whole);
    assert_eq!(left.outcome(&pi()).end, None);
    let left = CommandResult { stdout, ..CommandResult::empty() }.file(SESSION, recorded("refused"));
    assert_eq!(left.outcome(&pi()).end, Some(EndReason::Endpoint));
}
