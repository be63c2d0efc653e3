//! Calls whose answers told no usage: what they took is unknown, not 0.
#![allow(clippy::unwrap_used, reason = "a recording that cannot be read is a failure")]

use model::Tokens;
use serde_json::{Number, Value};

use crate::common::{Left, fixtures};

/// Sets every number in a usage to 0.
fn clear(value: &mut Value, is_usage: bool) {
    match value {
        Value::Number(number) if is_usage => *number = Number::from(0_u64),
        Value::Array(all) => all.iter_mut().for_each(|one| clear(one, is_usage)),
        Value::Object(all) => {
            for (key, one) in all {
                clear(one, is_usage || key.to_lowercase().contains("usage"));
            }
        }
        _ => {}
    }
}

/// The recorded first call of a harness, as it is with an endpoint that tells no usage.
fn without_usage(name: &str) -> Left {
    let recorded = Left::case(&fixtures().join(name), "turn1");
    let text = String::from_utf8(recorded.stdout.clone()).unwrap();
    let lines = text.lines().map(|line| {
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { return format!("{line}\n") };
        clear(&mut value, false);
        // As for a model whose price Claude Code knows.
        format!("{value}\n").replace("\"costBasis\":\"unknown\"", "\"costBasis\":\"list\"")
    });
    Left { stdout: lines.collect::<String>().into_bytes(), ..recorded }
}

#[test]
fn counts_of_answers_that_told_no_usage_are_unknown() {
    for name in ["claude_code", "codex"] {
        let outcome = without_usage(name).outcome(harness::find(name).unwrap());
        assert_eq!(outcome.end, None, "{name}: {:?}", outcome.message);
        assert!(!outcome.steps.is_empty(), "{name}: the model answered");
        assert_eq!((outcome.usage, outcome.cost_usd), (Tokens::default(), None), "{name}");
    }
}

/// Codex counts over the whole thread: where the answers of a call tell nothing, its total stands still.
#[test]
fn a_total_that_stands_still_while_the_model_answers_is_unknown() {
    let codex = harness::find("codex").unwrap();
    let recorded = || Left::case(&fixtures().join("codex"), "turn1");
    let first = recorded().outcome(codex);
    assert!(first.usage.input.is_some_and(|n| n > 0), "{:?}", first.usage);
    let again = recorded().after(first.session).outcome(codex);
    assert_eq!((again.end, again.usage), (None, Tokens::default()));
}
