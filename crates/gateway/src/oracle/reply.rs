//! What the model says to a request, before it is put into the shape of an API.

use model::Tokens;
use serde_json::Value;

use super::conversation::Conversation;
use super::tools::Use;

/// Bytes of English and code that make a token, roughly. Tokens of the scripted model are simulated: they are counted
/// from bytes by this rule, so that the same run has the same tokens.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    /// The response's own part of ids: letters and digits, another one for every request.
    pub id: String,
    /// What it says; may be empty beside a call.
    pub text: String,
    /// What it calls.
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
    /// A call that can be understood.
    pub(super) fn new(id: String, uses: Use) -> Self {
        Self { id, name: uses.name, arguments: uses.arguments.to_string() }
    }

    /// The arguments as a value; as a text if they are malformed.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::String(self.arguments.clone()))
    }
}

impl Reply {
    /// Tokens of the request and of this answer. An earlier part of the conversation counts as cached.
    pub(super) fn tokens(&self, asked: &Conversation) -> Tokens {
        let call = self.call.as_ref().map_or(0, |call| call.name.len() + call.arguments.len());
        let tokens = |bytes: u64| bytes.div_ceil(BYTES_PER_TOKEN).max(1);
        Tokens {
            input: Some(tokens(asked.bytes)),
            cached: Some(asked.bytes_before / BYTES_PER_TOKEN),
            output: Some(tokens((self.text.len() + call) as u64)),
        }
    }
}

/// A text in pieces of about this many bytes, as a model sends it.
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
