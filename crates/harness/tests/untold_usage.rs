//! Calls whose answers told no usage: what they took is unknown, not 0.
#![allow(clippy::unwrap_used, reason = "a recording that cannot be read is a failure")]

use model::{EndReason, Tokens};
use serde_json::{Number, Value};

use crate::common::{CommandResult, fixtures};

/// Sets every number in a usage to 0.
fn clear(value: &mut Value, is_usage: bool) {
    match value {
        Value::Number(number) if is_usage => *number = Number::from(0_u64),
        Value::Array(all) => all.iter_mut().for_each(|value| clear(value, is_usage)),
        Value::Object(all) => {
            for (key, value) in all {
                clear(value, is_usage || key == "tokens" || key.to_lowercase().contains("usage"));
            }
        }
        _ => {}
    }
}

/// The recorded first call of a harness, as it is with an endpoint that tells no usage.
fn without_usage(name: &str) -> CommandResult {
    let recorded = CommandResult::case(&fixtures().join(name), "turn1");
    let text = String::from_utf8(recorded.stdout.clone()).unwrap();
    let lines = text.lines().map(|line| {
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { return format!("{line}\n") };
        clear(&mut value, false);
        // As for a model whose price Claude Code knows.
        format!("{value}\n").replace("\"costBasis\":\"unknown\"", "\"costBasis\":\"list\"")
    });
    CommandResult { stdout: lines.collect::<String>().into_bytes(), ..recorded }
}

#[test]
fn counts_of_answers_that_told_no_usage_are_unknown() {
    for name in ["claude_code", "codex", "opencode", "qwen_code"] {
        let outcome = without_usage(name).outcome(harness::find(name).unwrap());
        assert_eq!(outcome.end, None, "{name}: {:?}", outcome.message);
        assert!(!outcome.steps.is_empty(), "{name}: the model answered");
        assert!(outcome.steps.iter().all(|step| step.tokens.is_none()), "{name}: {:?}", outcome.steps);
        assert_eq!((outcome.usage, outcome.cost_usd), (Tokens::default(), None), "{name}");
    }
}

/// Codex counts over the whole thread: where the answers of a call tell nothing, its total stands still.
#[test]
fn a_total_that_stands_still_while_the_model_answers_is_unknown() {
    let codex = harness::find("codex").unwrap();
    let recorded = || CommandResult::case(&fixtures().join("codex"), "turn1");
    let first = recorded().outcome(codex);
    assert!(first.usage.input.is_some_and(|n| n > 0), "{:?}", first.usage);
    let again = recorded().with_session(first.session).outcome(codex);
    assert_eq!((again.end, again.usage), (None, Tokens::default()));
}

const HEAD: &str = r#"
name = "own"
version = "1"
image = "example/own:1"
api = "chat_completions"
probe = ["own", "--version"]
[commands]
first = ["own", "{prompt_file}", "{session}"]
[session]
from = "caller"
[success]
last_line = { ok = true }
[usage]
input = "usage.input"
cached = "usage.cached"
output = "usage.output"
cost_usd = "usage.cost"
"#;
const TRANSCRIPT: &str = "[transcript]\nreader = \"openai-messages-jsonl\"\n";
const ANSWER: &str = r#"{"role":"assistant","content":"I work."}"#;
const ZEROS: &str = r#"{"usage":{"input":0,"cached":0,"output":0,"cost":0}}"#;

/// A harness from a file with more keys of `[usage]` and further tables.
fn load_harness(rest: &str) -> harness::HarnessFile {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("own.toml");
    std::fs::write(&file, format!("{HEAD}{rest}")).unwrap();
    harness::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

fn printed(lines: &[&str]) -> CommandResult {
    CommandResult { stdout: lines.join("\n").into_bytes(), ..CommandResult::empty() }
}

/// Each way in which a file of the user's says where the counts are.
#[test]
fn zeros_of_a_harness_from_a_file_are_unknown_where_its_model_answered() {
    let done = r#"{"ok":true}"#;
    for counts in ["request", "call", "session"] {
        for transcript in ["", TRANSCRIPT] {
            let harness = load_harness(&format!("counts = \"{counts}\"\n{transcript}"));
            let outcome = printed(&[ANSWER, ZEROS, done]).outcome(&harness);
            assert_eq!(outcome.end, None, "{:?}", outcome.message);
            let reported = (outcome.usage, outcome.cost_usd);
            assert_eq!(reported, (Tokens::default(), None), "{counts} {transcript}");
            let failed = printed(&[ANSWER, ZEROS]).code(1).outcome(&harness);
            assert_eq!((failed.end, failed.usage), (Some(EndReason::AgentError), Tokens::default()));
        }
    }
    let filed = load_harness(&format!("counts = \"call\"\nfile = \"usage.json\"\n{TRANSCRIPT}"));
    let outcome = printed(&[ANSWER, done]).file("usage.json", ZEROS).outcome(&filed);
    assert_eq!((outcome.end, outcome.usage, outcome.cost_usd), (None, Tokens::default(), None));
}

/// The count of a session stands still over a call whose answers told nothing.
#[test]
fn a_session_of_a_harness_from_a_file_whose_counts_stand_still_took_an_unknown_number() {
    let harness = load_harness(&format!("counts = \"session\"\n{TRANSCRIPT}"));
    let total = r#"{"ok":true,"usage":{"input":70,"cached":20,"output":5,"cost":0.25}}"#;
    let first = printed(&[ANSWER, total]).outcome(&harness);
    let tokens = Tokens { input: Some(70), cached: Some(20), output: Some(5) };
    assert_eq!((first.end, first.usage, first.cost_usd), (None, tokens, Some(0.25)));
    let second = printed(&[ANSWER, total]).with_session(first.session).outcome(&harness);
    assert_eq!((second.end, second.usage, second.cost_usd), (None, Tokens::default(), None));
}

#[test]
fn what_a_harness_from_a_file_counts_stays_known() {
    let harness = load_harness(&format!("counts = \"request\"\n{TRANSCRIPT}"));
    // Nobody answered, so nothing was taken.
    let refused = printed(&[ZEROS]).code(1).outcome(&harness);
    assert_eq!(refused.usage, Tokens { input: Some(0), cached: Some(0), output: Some(0) });
    // One of two answers told nothing; a model without a price costs an unknown sum.
    let answer_with_usage = r#"{"ok":true,"usage":{"input":9,"cached":0,"output":2,"cost":0}}"#;
    let outcome = printed(&[ANSWER, ZEROS, answer_with_usage]).outcome(&harness);
    let tokens = Tokens { input: Some(9), cached: Some(0), output: Some(2) };
    assert_eq!((outcome.end, outcome.usage, outcome.cost_usd), (None, tokens, None));
}
