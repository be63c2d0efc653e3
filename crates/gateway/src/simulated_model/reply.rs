//! The answer of the model, before it is formatted for an API.

use model::Tokens;
use serde_json::Value;

use super::conversation::Conversation;
use super::offered_tools::ToolCall;

/// Bytes of English and code per token, roughly. Tokens of the simulated model are computed from bytes, so that the same run has
/// the same tokens.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    /// The unique part of ids: letters and digits.
    pub id: String,
    /// Text. May be empty beside a call.
    pub text: String,
    /// The tool call.
    pub call: Option<Call>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// Without a prefix.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON as text, unless it is malformed on purpose.
    pub arguments: String,
}

impl Call {
    /// A well-formed call.
    pub(super) fn new(id: String, call: ToolCall) -> Self {
        Self { id, name: call.name, arguments: call.arguments.to_string() }
    }

    /// The arguments as a value, or as text if they are malformed.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::String(self.arguments.clone()))
    }
}

impl Reply {
    /// Tokens of the request and of this answer. The earlier part of the conversation counts as cached.
    pub(super) fn tokens(&self, conversation: &Conversation) -> Tokens {
        let call = self.call.as_ref().map_or(0, |call| call.name.len() + call.arguments.len());
        let tokens = |bytes: u64| bytes.div_ceil(BYTES_PER_TOKEN).max(1);
        Tokens {
            input: Some(tokens(conversation.bytes)),
            cached: Some(conversation.bytes_before / BYTES_PER_TOKEN),
            output: Some(tokens((self.text.len() + call) as u64)),
        }
    }
}

/// A text in pieces of about `size` bytes, as a model streams it.
pub(super) fn in_pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = size.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}
