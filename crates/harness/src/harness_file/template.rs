//! Placeholders: `{model}` in commands, variables and files of a harness file.
//!
//! A placeholder is a word of lower-case letters and `_` in braces, so JSON, shell and TOML pass through unchanged.

use serde::Deserialize;

use crate::Call;
use crate::shell::{prompt_path, toml_text};

/// All placeholders.
pub(super) const NAMES: [&str; 17] = [
    "prompt",
    "prompt_file",
    "session",
    "session_file",
    "model",
    "model_name",
    "base_url",
    "key",
    "turn",
    "attempt",
    "home",
    "workspace",
    "seconds",
    "own_limit",
    "context_window",
    "max_output_tokens",
    "calls",
];
/// How many seconds before the wall limit a program with a limit of its own ends.
const SECONDS_AHEAD: u64 = 10;
/// Most tokens of one answer. Many endpoints refuse requests for more.
const MAX_OUTPUT: u64 = 32_000;

/// How a value is put into a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quote {
    /// Unchanged.
    #[default]
    None,
    /// Escaped for the inside of a JSON string.
    Json,
    /// Escaped for the inside of a basic TOML string.
    Toml,
}

/// The pieces of a text: each text before a placeholder with the name of the placeholder, and the rest.
pub(super) fn pieces(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut found, mut begin, mut position) = (Vec::new(), 0, 0);
    while let Some(open) = text[position..].find('{').map(|n| position + n) {
        position = open + 1;
        let Some(close) = text[position..].find('}').map(|n| position + n) else { break };
        let name = &text[position..close];
        if !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            found.push((&text[begin..open], name));
            (begin, position) = (close + 1, close + 1);
        }
    }
    (found, &text[begin..])
}

/// The names of the placeholders in a text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).0.into_iter().map(|(_, name)| name)
}

/// The values of the placeholders in a call.
pub(super) struct PlaceholderValues<'a> {
    call: &'a Call<'a>,
    /// The id of the session.
    session: &'a str,
    /// The file of the session, below HOME.
    session_file: String,
    /// The name of the model for the program.
    model_name: String,
}

impl<'a> PlaceholderValues<'a> {
    /// The values for a call with this session, its file, and the name of the model for the program, which has `{model}`.
    pub(super) fn new(
        call: &'a Call<'a>,
        session: Option<&'a str>,
        session_file: Option<String>,
        model_name: Option<&str>,
    ) -> Self {
        let model = &call.endpoint.model;
        let model_name = model_name.map_or_else(|| model.clone(), |name| name.replace("{model}", model));
        let session_file = session_file.unwrap_or_default();
        Self { call, session: session.unwrap_or_default(), session_file, model_name }
    }

    fn value(&self, name: &str) -> Option<String> {
        let call = self.call;
        Some(match name {
            "prompt" => call.prompt.to_owned(),
            "prompt_file" => prompt_path(call),
            "session" => self.session.to_owned(),
            "session_file" => self.session_file.clone(),
            "model" => call.endpoint.model.clone(),
            "model_name" => self.model_name.clone(),
            "base_url" => call.endpoint.base_url.clone(),
            "key" => call.endpoint.key.clone(),
            "turn" => call.turn.to_string(),
            "attempt" => call.attempt.to_string(),
            "home" => call.home.to_owned(),
            "workspace" => call.workspace.to_owned(),
            "seconds" => call.seconds.to_string(),
            "own_limit" => call.seconds.saturating_sub(SECONDS_AHEAD).max(1).to_string(),
            "context_window" => call.endpoint.context_window.to_string(),
            "max_output_tokens" => (call.endpoint.context_window / 4).clamp(1, MAX_OUTPUT).to_string(),
            "calls" => call.session.map_or(0, |s| s.calls).to_string(),
            _ => return None,
        })
    }

    /// A text with its placeholders filled.
    pub(super) fn filled(&self, text: &str) -> String {
        self.quoted(text, Quote::None)
    }

    /// The same, with each value escaped for its file.
    pub(super) fn quoted(&self, text: &str, quote: Quote) -> String {
        let (pieces, rest) = pieces(text);
        let mut out = String::with_capacity(text.len());
        for (before, name) in pieces {
            out.push_str(before);
            let value = self.value(name).unwrap_or_else(|| format!("{{{name}}}"));
            match quote {
                Quote::None => out.push_str(&value),
                Quote::Json => out.push_str(without_quotes(&serde_json::Value::String(value).to_string())),
                Quote::Toml => out.push_str(without_quotes(&toml_text(&value))),
            }
        }
        out.push_str(rest);
        out
    }
}

/// A text without its quotation marks.
fn without_quotes(quoted: &str) -> &str {
    quoted.get(1..quoted.len() - 1).unwrap_or_default()
}
