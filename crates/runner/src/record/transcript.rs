//! Transcripts: `transcripts/turn_T_attempt_A.json`.

use model::{Step, StepKind};
use serde_json::{Map, Value, json};

use super::SCHEMA;

/// Most bytes of one text.
const TEXT: usize = 256 << 10;
/// Most bytes of all.
const ALL: usize = 16 << 20;

/// The steps of an attempt; what the agent was told stands at the begin, whatever the harness shows of it.
pub(super) fn encode(prompt: &str, steps: &[Step]) -> Vec<u8> {
    let mut out = format!("{{\"schema_version\":\"{SCHEMA}\",\"steps\":[\n").into_bytes();
    let has_prompt =
        steps.iter().take_while(|step| step.kind != StepKind::Agent).any(|s| s.kind == StepKind::User);
    let mut first = true;
    let mut put = |value: &Value, out: &mut Vec<u8>| {
        if !first {
            out.extend_from_slice(b",\n");
        }
        first = false;
        // A `Value` always can be written.
        let _ = serde_json::to_writer(&mut *out, value);
    };
    if !has_prompt {
        put(&json!({"kind": "user", "text": cut(prompt)}), &mut out);
    }
    for step in steps {
        if out.len() > ALL {
            put(
                &json!({"kind": "system", "text": "The rest of the transcript is left out: it is too long."}),
                &mut out,
            );
            break;
        }
        put(&encode_step(step), &mut out);
    }
    out.extend_from_slice(b"\n]}\n");
    out
}

fn encode_step(step: &Step) -> Value {
    let mut map = Map::new();
    map.insert("kind".to_owned(), json!(step.kind));
    map.insert("text".to_owned(), json!(cut(&step.text)));
    if let Some(reasoning) = &step.reasoning {
        map.insert("reasoning".to_owned(), json!(cut(reasoning)));
    }
    if !step.tool_calls.is_empty() {
        let calls = step.tool_calls.iter().map(|call| {
            let arguments = match serde_json::from_str::<Value>(&call.arguments) {
                Ok(object @ Value::Object(_)) if call.arguments.len() <= TEXT => object,
                _ => json!(cut(&call.arguments)),
            };
            json!({
                "name": call.name,
                "arguments": arguments,
                "result": call.result.as_deref().map(cut),
                "is_error": call.is_error,
                "seconds": call.seconds,
            })
        });
        map.insert("tool_calls".to_owned(), calls.collect());
    }
    if let Some(tokens) = &step.tokens {
        map.insert("tokens".to_owned(), json!(tokens));
    }
    if let Some(cost) = step.cost_usd {
        map.insert("cost_usd".to_owned(), json!(cost));
    }
    if let Some(time) = &step.at {
        map.insert("at".to_owned(), json!(time));
    }
    Value::Object(map)
}

fn cut(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT);
    format!("{}… ({} bytes are left out)", &text[..end], text.len() - end)
}
