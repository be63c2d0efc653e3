//! Answers in the format of Anthropic's messages.

use bytes::Bytes;
use model::Tokens;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::reply::{Call, Reply, in_pieces};
use crate::route::Answer;

/// The answer in the format of this API.
pub(super) fn answer(reply: &Reply, conversation: &Conversation) -> Answer {
    let tokens = reply.tokens(conversation);
    let mut content = Vec::new();
    if !reply.text.is_empty() || reply.call.is_none() {
        content.push(json!({ "type": "text", "text": reply.text }));
    }
    content.extend(reply.call.as_ref().map(|call| tool_use(call, &call.value())));
    let body = |content: Value, reason: Value, output: u64| {
        json!({
            "id": format!("msg_{}", reply.id),
            "type": "message",
            "role": "assistant",
            "model": conversation.model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": null,
            "usage": usage(tokens, output),
        })
    };
    let reason = if reply.call.is_some() { "tool_use" } else { "end_turn" };
    let output = tokens.output.unwrap_or(0);
    if !conversation.stream {
        return Answer::json(200, &body(json!(content), json!(reason), output), tokens);
    }

    let mut chunks = Vec::new();
    let mut send = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        chunks.push(Bytes::from(format!("event: {name}\ndata: {data}\n\n")));
    };
    send("message_start", json!({ "message": body(json!([]), Value::Null, 1) }));
    let mut index = 0;
    if !reply.text.is_empty() || reply.call.is_none() {
        let start = json!({ "type": "text", "text": "" });
        send("content_block_start", json!({ "index": index, "content_block": start }));
        for piece in in_pieces(&reply.text, 40) {
            let delta = json!({ "type": "text_delta", "text": piece });
            send("content_block_delta", json!({ "index": index, "delta": delta }));
        }
        send("content_block_stop", json!({ "index": index }));
        index += 1;
    }
    if let Some(call) = &reply.call {
        send("content_block_start", json!({ "index": index, "content_block": tool_use(call, &json!({})) }));
        for piece in in_pieces(&call.arguments, 4096) {
            let delta = json!({ "type": "input_json_delta", "partial_json": piece });
            send("content_block_delta", json!({ "index": index, "delta": delta }));
        }
        send("content_block_stop", json!({ "index": index }));
    }
    let end = json!({ "stop_reason": reason, "stop_sequence": null });
    send("message_delta", json!({ "delta": end, "usage": { "output_tokens": output } }));
    send("message_stop", json!({}));
    Answer::events(chunks, tokens)
}

/// The error of an endpoint when the context is too long for its model.
pub(super) fn overflow(tokens: u64) -> Value {
    json!({
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": format!("prompt is too long: {tokens} tokens > {} maximum", tokens.saturating_sub(1)),
        },
    })
}

fn tool_use(call: &Call, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": input })
}

/// This API reports cached tokens beside the input.
fn usage(tokens: Tokens, output: u64) -> Value {
    let (input, cached) = (tokens.input.unwrap_or(0), tokens.cached.unwrap_or(0));
    json!({
        "input_tokens": input.saturating_sub(cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
    })
}
