//! Transcripts, read out of a trajectory when one is shown.
//!
//! The file streams by; only the list that the JSON pointer names is taken, step by step, up to a bound. Own steps are
//! read by the schema, others by the field names that chat logs have.

use std::fmt;

use model::{Step, StepKind, ToolCall, Transcript};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::speaker::step_kind;
use super::usage;
use crate::formats::staminabench::bounded_json::{BoundedDocument, KeepAll, Value, short};
use crate::formats::staminabench::json_fields::normal;
use crate::readers::json::{Node, cut};
use files::{JsonSink, ReadError, Tree};

/// Largest file that is looked through, in bytes.
const CAP: u64 = 4 << 30;
/// Most steps that are shown.
const STEPS: usize = 5_000;
/// Bytes that are kept of one text.
const TEXT: usize = 64 << 10;

/// Reads the steps at a pointer (`/turns/2/attempts/0/steps`; a range of a list as `/steps/3..7`).
pub(super) fn read(tree: &Tree, path: &str, pointer: &str) -> Result<Transcript, ReadError> {
    let mut way: Vec<String> =
        pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let range = way.last().and_then(|last| {
        let (first, end) = last.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    if range.is_some() {
        way.pop();
    }
    let mut sink = TranscriptSink {
        way,
        range,
        transcript: Transcript::default(),
        document: BoundedDocument::default(),
        found: false,
    };
    let done = tree.read_json_into(path, CAP, &mut sink);
    // A file that breaks off after the steps is as good as a whole one.
    match done {
        Err(error) if !sink.found => return Err(error),
        _ => {}
    }
    if !sink.found {
        return Err(ReadError::Malformed {
            code: "transcript.missing",
            message: format!("There are no steps at {pointer}: the file has changed since it was read"),
        });
    }
    Ok(sink.transcript)
}

struct TranscriptSink {
    way: Vec<String>,
    range: Option<std::ops::Range<usize>>,
    transcript: Transcript,
    document: BoundedDocument<KeepAll>,
    found: bool,
}

impl JsonSink for TranscriptSink {
    fn restart(&mut self) {
        (self.transcript, self.document, self.found) =
            (Transcript::default(), BoundedDocument::default(), false);
    }
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        PointerSeed { sink: self, depth: 0 }.deserialize(json)
    }
}

/// Goes down the way; at its end takes the steps.
struct PointerSeed<'a> {
    sink: &'a mut TranscriptSink,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for PointerSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PointerSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.depth == self.sink.way.len() {
            // A transcript that is one text.
            self.sink.found = true;
            let node = Node::Map(vec![("content".to_owned(), Node::Text(text.to_owned(), 0))]);
            self.sink.push(&node);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.depth == self.sink.way.len() {
            self.sink.found = true;
            let mut index = 0;
            loop {
                let wanted = self.sink.range.as_ref().is_none_or(|r| r.contains(&index));
                if !wanted {
                    if seq.next_element::<IgnoredAny>()?.is_none() {
                        return Ok(());
                    }
                } else if self.sink.transcript.steps.len() >= STEPS || self.sink.document.is_used_up() {
                    if seq.next_element::<IgnoredAny>()?.is_none() {
                        return Ok(());
                    }
                    self.sink.transcript.steps_cut += 1;
                } else {
                    let mut node = Node::Null;
                    let has_more =
                        seq.next_element_seed(Value { node: &mut node, document: &mut self.sink.document })?;
                    if has_more.is_none() {
                        return Ok(());
                    }
                    self.sink.push(&node);
                }
                index += 1;
            }
        }
        let wanted = self.sink.way[self.depth].parse::<usize>().ok();
        let mut index = 0;
        loop {
            let has_more = if Some(index) == wanted {
                seq.next_element_seed(PointerSeed { sink: &mut *self.sink, depth: self.depth + 1 })?.is_some()
            } else {
                seq.next_element::<IgnoredAny>()?.is_some()
            };
            if !has_more {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.depth == self.sink.way.len() {
            // One step that stands alone.
            self.sink.found = true;
            let mut fields = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                let mut node = Node::Null;
                map.next_value_seed(Value { node: &mut node, document: &mut self.sink.document })?;
                fields.push((key, node));
            }
            self.sink.push(&Node::Map(fields));
            return Ok(());
        }
        while let Some(key) = map.next_key::<String>()? {
            if short(&key) == self.sink.way[self.depth] {
                map.next_value_seed(PointerSeed { sink: &mut *self.sink, depth: self.depth + 1 })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl TranscriptSink {
    fn push(&mut self, node: &Node) {
        let index = u32::try_from(self.transcript.steps.len()).unwrap_or(u32::MAX - 1) + 1;
        let step = step(index, node);
        // The answer to a call stands in a message of its own: it is given to the call.
        if step.kind == StepKind::Tool
            && let Some(open) = self
                .transcript
                .steps
                .last_mut()
                .filter(|s| s.kind == StepKind::Agent)
                .and_then(|s| s.tool_calls.iter_mut().find(|c| c.result.is_none()))
        {
            open.result = Some(step.text);
            open.result_cut = step.text_cut;
            return;
        }
        self.transcript.steps.push(step);
    }
}

fn step(index: u32, node: &Node) -> Step {
    let first_field = |names: &[&str]| {
        names.iter().find_map(|n| {
            node.map().iter().find(|(k, v)| normal(k) == *n && *v != Node::Null).map(|(_, v)| v)
        })
    };
    // Calls and their results may also stand among the parts of the content.
    let parts = first_field(&["content"]).map(Node::list).unwrap_or_default();
    let blocks_of_type = |kind: &'static str| {
        parts.iter().filter(move |p| p.get("type").and_then(Node::text).is_some_and(|t| t == kind))
    };
    let listed = first_field(&["tool_calls", "calls"]).map(Node::list).unwrap_or_default();
    let mut calls: Vec<ToolCall> =
        listed.iter().chain(blocks_of_type("tool_use")).take(200).map(call).collect();
    let body = first_field(&["text", "content", "message", "response", "thought", "output"]);
    let (text, text_cut) = match (body, node) {
        (Some(body), _) => content(body),
        (None, Node::Text(text, over)) => cut_step_text(text, *over),
        // Nothing of it is known: it is shown as it stands.
        (None, node) if calls.is_empty() => {
            let text = serde_json::to_string_pretty(&node.to_value()).unwrap_or_default();
            cut_step_text(&text, 0)
        }
        _ => (String::new(), 0),
    };
    // A command line and what came of it, side by side.
    if calls.is_empty()
        && let Some(action) = first_field(&["action", "command", "tool_input"]).and_then(Node::word)
    {
        let (arguments, _) = cut_step_text(action, 0);
        let result = first_field(&["observation", "tool_output", "result"]).map(content);
        let (result, result_cut) = result.map_or((None, 0), |(r, c)| (Some(r), c));
        let summary = crate::readers::text::first_line(action, 160).unwrap_or_default();
        calls.push(ToolCall {
            name: first_field(&["tool", "tool_name"]).and_then(Node::word).unwrap_or("command").to_owned(),
            summary,
            arguments,
            result,
            result_cut,
            is_error: None,
            seconds: None,
        });
    }
    let usage = usage::usage_near(node);
    let (tokens, _) = usage.tokens();
    Step {
        index,
        kind: step_kind(node),
        text,
        text_cut,
        reasoning: first_field(&["reasoning", "reasoning_content", "thinking"])
            .and_then(Node::word)
            .map(|t| cut_step_text(t, 0).0),
        tool_calls: calls,
        tokens: (!tokens.is_unknown()).then_some(tokens),
        cost_usd: usage.cost_usd,
        at: first_field(&["at", "timestamp", "time", "created_at"]).and_then(usage::time),
    }
}

/// Plain text of a message: a text, parts with texts, or anything as JSON.
fn content(node: &Node) -> (String, u64) {
    match node {
        Node::Text(text, over) => cut_step_text(text, *over),
        Node::List(parts) => {
            let mut all = String::new();
            for part in parts {
                let piece = part
                    .word()
                    .or_else(|| part.get("text").and_then(Node::word))
                    .or_else(|| part.get("content").and_then(Node::word));
                if let Some(piece) = piece {
                    if !all.is_empty() {
                        all.push('\n');
                    }
                    all.push_str(piece);
                }
            }
            cut_step_text(&all, 0)
        }
        Node::Map(_) if node.get("content").is_some() => {
            let inner = node.get("content").cloned().unwrap_or(Node::Null);
            content(&inner)
        }
        Node::Null => (String::new(), 0),
        other => {
            let text = serde_json::to_string_pretty(&other.to_value()).unwrap_or_default();
            cut_step_text(&text, 0)
        }
    }
}

fn call(node: &Node) -> ToolCall {
    let function = node.get("function").filter(|f| !f.map().is_empty()).unwrap_or(node);
    let name = ["name", "function_name", "tool", "tool_name"]
        .iter()
        .find_map(|k| function.get(k))
        .and_then(Node::word)
        .unwrap_or("tool");
    let arguments = ["arguments", "input", "args", "parameters"].iter().find_map(|k| function.get(k));
    let parsed: Option<Node> = arguments.and_then(Node::text).and_then(|t| serde_json::from_str(t).ok());
    let named = parsed.as_ref().filter(|n| !n.map().is_empty()).or(arguments);
    let summary = named
        .and_then(|a| {
            ["command", "cmd", "path", "file_path", "file", "query", "url", "pattern"]
                .iter()
                .find_map(|k| a.get(k))
                .and_then(Node::word)
                .or(a.word())
        })
        .and_then(|text| crate::readers::text::first_line(text, 160))
        .unwrap_or_default();
    let shown = match named {
        Some(Node::Text(text, _)) => text.clone(),
        Some(other) => serde_json::to_string_pretty(&other.to_value()).unwrap_or_default(),
        None => String::new(),
    };
    let (arguments, _) = cut_step_text(&shown, 0);
    let result = ["result", "output", "observation"].iter().find_map(|k| node.get(k)).map(content);
    let (result, result_cut) = result.map_or((None, 0), |(r, c)| (Some(r), c));
    ToolCall {
        name: name.to_owned(),
        summary,
        arguments,
        result,
        result_cut,
        is_error: node.get("is_error").and_then(Node::truth),
        seconds: node.get("seconds").and_then(Node::number),
    }
}

/// A text, and how much of it was cut.
fn cut_step_text(text: &str, cut_before: u64) -> (String, u64) {
    let (kept, over) = cut(text, TEXT);
    (kept.to_owned(), cut_before + over)
}

#[cfg(test)]
mod tests {
    use super::super::step_sums::SummaryDocument;
    use super::*;

    fn transcript_steps(steps: &str) -> Vec<Step> {
        let list: Vec<Node> = serde_json::from_str(steps).unwrap();
        let mut sink = TranscriptSink {
            way: Vec::new(),
            range: None,
            transcript: Transcript::default(),
            document: BoundedDocument::default(),
            found: true,
        };
        for node in &list {
            sink.push(node);
        }
        sink.transcript.steps
    }

    #[test]
    fn a_transcript_below_a_long_name_is_found_by_its_pointer() {
        let folder = tempfile::tempdir().unwrap();
        let (long, other) = ("k".repeat(5_000), "j".repeat(300));
        let messages = r#"{"messages": [{"role": "assistant", "content": "I look."}]}"#;
        let text = format!(r#"{{"{other}": 1, "{long}": {messages}, "a/b~c": {messages}}}"#);
        std::fs::write(folder.path().join("trajectory.json"), &text).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let mut document = SummaryDocument::default();
        document.take(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        assert_eq!(document.steps.len(), 2);
        for pointer in document.steps.keys() {
            let steps = read(&tree, "trajectory.json", pointer).unwrap().steps;
            assert_eq!(steps.len(), 1, "{pointer}");
        }
    }

    #[test]
    fn calls_among_the_parts_of_the_content() {
        let steps = transcript_steps(
            r#"[{"role": "system", "content": "Be brief."},
                {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "server.py"}]}]"#,
        );
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].kind, steps[1].kind), (StepKind::System, StepKind::Agent));
        let call = &steps[1].tool_calls[0];
        assert_eq!(
            (steps[1].text.as_str(), call.summary.as_str(), call.result.as_deref()),
            ("I look.", "ls", Some("server.py"))
        );
    }

    #[test]
    fn commands_with_what_came_of_them_and_steps_of_no_known_form() {
        let steps = transcript_steps(
            r#"[{"thought": "Look.", "action": "ls -la\nwc -l x", "observation": "server.py"}, "just a text", {"weather": {"sky": "grey"}}, 7]"#,
        );
        assert_eq!(steps[0].text, "Look.");
        assert_eq!(steps[0].tool_calls[0].result.as_deref(), Some("server.py"));
        assert_eq!(steps[1].text, "just a text");
        // words: ok: a text of the fixture.
        assert!(steps[2].text.contains("grey"));
        assert_eq!(steps[3].text, "7");
    }
}
