//! Parts of a step of a trajectory: the text of a message or a result, and its counts of tokens.

use model::Tokens;
use serde_json::Value;

use super::super::json::{Node, TEXT_CAP, cut};
use super::super::value;

/// What a step's `metrics` count, and what in them cannot be.
pub(super) fn tokens(metrics: &Node) -> (Tokens, Vec<(&'static str, Value)>) {
    let mut odd = Vec::new();
    let mut count = |key| {
        let stated = metrics.get(key)?;
        let taken = value::tokens(stated);
        if taken.is_none() {
            odd.push((key, stated.to_value()));
        }
        taken
    };
    let tokens = Tokens {
        input: count("prompt_tokens"),
        cached: count("cached_tokens"),
        output: count("completion_tokens"),
    };
    if let Some(cost) = metrics.get("cost_usd").filter(|cost| value::dollars(cost).is_none()) {
        odd.push(("cost_usd", cost.to_value()));
    }
    (tokens, odd)
}

/// The text of a result of a tool and how many bytes of it were cut.
pub(super) fn result_text(result: &Node) -> (String, u64) {
    let (mut text, cut) = result.get("content").map(content).unwrap_or_default();
    for agent in result.get("subagent_trajectory_ref").map_or(&[][..], Node::list) {
        let name =
            ["trajectory_path", "trajectory_id", "session_id"].iter().find_map(|k| agent.get(k)?.word());
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[sub-agent: {}]", name.unwrap_or("unnamed")));
    }
    (text, cut)
}

/// The text of a message and how many bytes of it were cut.
pub fn content(node: &Node) -> (String, u64) {
    match node {
        Node::Text(text, cut) => (text.clone(), *cut),
        Node::List(parts) => {
            let mut all = Vec::new();
            let mut lost = 0;
            for part in parts {
                let (text, cut) = part_text(part);
                lost += cut;
                all.push(text);
            }
            let joined = all.join("\n");
            let (kept, more) = cut(&joined, TEXT_CAP);
            (kept.to_owned(), lost + more)
        }
        Node::Null => (String::new(), 0),
        other => (other.to_value().to_string(), 0),
    }
}

/// The text of a part of a message and how many bytes of it were cut.
pub(super) fn part_text(part: &Node) -> (String, u64) {
    match part.get("text").unwrap_or(part) {
        Node::Text(text, cut) => (text.clone(), *cut),
        _ => (placeholder(part), 0),
    }
}

/// What stands for an image or a sound: its type, and where it lies or how large it is.
fn placeholder(part: &Node) -> String {
    let kind = part.get("type").and_then(Node::word).unwrap_or("part");
    let source = part.get("source");
    let mut facts: Vec<String> = Vec::new();
    let find = |key| source.and_then(|s| s.get(key)).or_else(|| part.get(key));
    if let Some(media) = find("media_type").and_then(Node::word) {
        facts.push(media.to_owned());
    }
    if let Some(Node::Text(path, lost)) = find("path").or_else(|| find("data")).or_else(|| find("url")) {
        let bytes = path.len() as u64 + lost;
        if path.starts_with("data:") || find("path").is_none() && bytes > 200 {
            // Base64 has four letters for three bytes.
            facts.push(format!("{} KB", (bytes * 3 / 4).div_ceil(1024)));
        } else {
            facts.push(path.clone());
        }
    }
    if let Some(seconds) = find("duration_sec").and_then(Node::number) {
        facts.push(format!("{seconds} s"));
    }
    if facts.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", facts.join(", ")) }
}
