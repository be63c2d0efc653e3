//! Answers in the format of `OpenAI`'s chat completions.

use bytes::Bytes;
use model::Tokens;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::reply::{Reply, in_pieces};
use crate::route::Answer;

/// The answer in the format of this API.
pub(super) fn answer(reply: &Reply, conversation: &Conversation) -> Answer {
    let tokens = reply.tokens(conversation);
    if conversation.stream {
        stream(reply, conversation, tokens)
    } else {
        complete_answer(reply, conversation, tokens)
    }
}

/// The error of an endpoint when the context is too long for its model.
pub(super) fn overflow(tokens: u64) -> Value {
    json!({ "error": {
        "message": format!(
            "This model's maximum context length is exceeded. Your messages resulted in {tokens} tokens. Please reduce the \
             length of the messages."
        ),
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    } })
}

fn complete_answer(reply: &Reply, conversation: &Conversation, tokens: Tokens) -> Answer {
    let mut message = json!({ "role": "assistant", "content": reply.text });
    if let Some(call) = &reply.call {
        message["tool_calls"] = json!([{
            "id": format!("call_{}", call.id),
            "type": "function",
            "function": { "name": call.name, "arguments": call.arguments },
        }]);
    }
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": reason(reply) });
    let body = json!({
        "id": format!("chatcmpl-{}", reply.id),
        "object": "chat.completion",
        "created": super::CREATED,
        "model": conversation.model,
        "choices": [choice],
        "usage": usage(tokens),
    });
    Answer::json(200, &body, tokens)
}

fn stream(reply: &Reply, conversation: &Conversation, tokens: Tokens) -> Answer {
    let event = |choices: Value, usage: Value| {
        let mut body = json!({
            "id": format!("chatcmpl-{}", reply.id),
            "object": "chat.completion.chunk",
            "created": super::CREATED,
            "model": conversation.model,
            "choices": choices,
        });
        if conversation.wants_usage {
            body["usage"] = usage;
        }
        Bytes::from(format!("data: {body}\n\n"))
    };
    let delta = |delta: Value, reason: Value| {
        event(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]), Value::Null)
    };
    let mut chunks = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    for piece in in_pieces(&reply.text, 40) {
        chunks.push(delta(json!({ "content": piece }), Value::Null));
    }
    if let Some(call) = &reply.call {
        let start = json!([{
            "index": 0,
            "id": format!("call_{}", call.id),
            "type": "function",
            "function": { "name": call.name, "arguments": "" },
        }]);
        chunks.push(delta(json!({ "tool_calls": start }), Value::Null));
        for piece in in_pieces(&call.arguments, 4096) {
            let more = json!([{ "index": 0, "function": { "arguments": piece } }]);
            chunks.push(delta(json!({ "tool_calls": more }), Value::Null));
        }
    }
    chunks.push(delta(json!({}), json!(reason(reply))));
    if conversation.wants_usage {
        chunks.push(event(json!([]), usage(tokens)));
    }
    chunks.push(Bytes::from_static(b"data: [DONE]\n\n"));
    Answer::events(chunks, tokens)
}

fn reason(reply: &Reply) -> &'static str {
    if reply.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage(tokens: Tokens) -> Value {
    let (input, output) = (tokens.input.unwrap_or(0), tokens.output.unwrap_or(0));
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": tokens.cached.unwrap_or(0) },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    })
}
