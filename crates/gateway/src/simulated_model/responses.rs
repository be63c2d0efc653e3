//! Answers in the format of `OpenAI`'s responses.

use bytes::Bytes;
use model::Tokens;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::reply::{Call, Reply, in_pieces};
use crate::route::Answer;

/// The answer in the format of this API.
pub(super) fn answer(reply: &Reply, conversation: &Conversation) -> Answer {
    let tokens = reply.tokens(conversation);
    if !conversation.stream {
        return Answer::json(200, &response(reply, conversation, "completed", Some(tokens)), tokens);
    }
    let mut events = Events::default();
    events
        .send("response.created", json!({ "response": response(reply, conversation, "in_progress", None) }));
    events.send(
        "response.in_progress",
        json!({ "response": response(reply, conversation, "in_progress", None) }),
    );
    let mut index = 0;
    if has_message(reply) {
        message_events(reply, index, &mut events);
        index += 1;
    }
    if let Some(call) = &reply.call {
        call_events(call, index, &mut events);
    }
    events.send(
        "response.completed",
        json!({ "response": response(reply, conversation, "completed", Some(tokens)) }),
    );
    Answer::events(events.sent, tokens)
}

/// The error of an endpoint when the context is too long for its model.
pub(super) fn overflow() -> Value {
    json!({ "error": {
        "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "type": "invalid_request_error",
        "param": "input",
        "code": "context_length_exceeded",
    } })
}

/// The events so far, each with its name and number.
#[derive(Default)]
struct Events {
    sent: Vec<Bytes>,
}

impl Events {
    fn send(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.sent.len());
        self.sent.push(Bytes::from(format!("event: {name}\ndata: {data}\n\n")));
    }
}

fn message_events(reply: &Reply, index: usize, events: &mut Events) {
    let item = format!("msg_{}", reply.id);
    let content_event = |more: Value| {
        let mut data = json!({ "item_id": item, "output_index": index, "content_index": 0 });
        if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
            data.extend(more);
        }
        data
    };
    let started =
        json!({ "id": item, "type": "message", "status": "in_progress", "role": "assistant", "content": [] });
    events.send("response.output_item.added", json!({ "output_index": index, "item": started }));
    events.send("response.content_part.added", content_event(json!({ "part": part("") })));
    for piece in in_pieces(&reply.text, 40) {
        events.send("response.output_text.delta", content_event(json!({ "delta": piece, "logprobs": [] })));
    }
    events.send("response.output_text.done", content_event(json!({ "text": reply.text, "logprobs": [] })));
    events.send("response.content_part.done", content_event(json!({ "part": part(&reply.text) })));
    events.send("response.output_item.done", json!({ "output_index": index, "item": message(reply) }));
}

fn call_events(call: &Call, index: usize, events: &mut Events) {
    let item = format!("fc_{}", call.id);
    events.send(
        "response.output_item.added",
        json!({ "output_index": index, "item": function_call(call, "in_progress", "") }),
    );
    for piece in in_pieces(&call.arguments, 4096) {
        events.send(
            "response.function_call_arguments.delta",
            json!({ "item_id": item, "output_index": index, "delta": piece }),
        );
    }
    events.send(
        "response.function_call_arguments.done",
        json!({ "item_id": item, "output_index": index, "name": call.name, "arguments": call.arguments }),
    );
    events.send(
        "response.output_item.done",
        json!({ "output_index": index, "item": function_call(call, "completed", &call.arguments) }),
    );
}

/// The response at its start (without tokens) or at its end.
fn response(reply: &Reply, conversation: &Conversation, status: &str, tokens: Option<Tokens>) -> Value {
    let mut output = Vec::new();
    if tokens.is_some() {
        if has_message(reply) {
            output.push(message(reply));
        }
        output.extend(reply.call.as_ref().map(|call| function_call(call, "completed", &call.arguments)));
    }
    json!({
        "id": format!("resp_{}", reply.id),
        "object": "response",
        "created_at": super::CREATED,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": conversation.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "store": false,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": tokens.map(usage),
    })
}

/// Whether the answer has a message: it has text, or no call.
fn has_message(reply: &Reply) -> bool {
    !reply.text.is_empty() || reply.call.is_none()
}

fn message(reply: &Reply) -> Value {
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part(&reply.text)],
    })
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn function_call(call: &Call, status: &str, arguments: &str) -> Value {
    json!({
        "id": format!("fc_{}", call.id),
        "type": "function_call",
        "status": status,
        "call_id": format!("call_{}", call.id),
        "name": call.name,
        "arguments": arguments,
    })
}

fn usage(tokens: Tokens) -> Value {
    let (input, output) = (tokens.input.unwrap_or(0), tokens.output.unwrap_or(0));
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": tokens.cached.unwrap_or(0) },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    })
}
