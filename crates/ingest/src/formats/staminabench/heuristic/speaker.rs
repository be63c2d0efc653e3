//! Who wrote an entry of a transcript.

use model::StepKind;

use crate::formats::staminabench::json_fields::normal;
use crate::readers::json::Node;

/// Who wrote an entry: a result of a tool is the tool's, whatever its role.
pub(super) fn step_kind(node: &Node) -> StepKind {
    let field =
        |name: &str| node.map().iter().find(|(k, v)| normal(k) == name && *v != Node::Null).map(|(_, v)| v);
    let parts = field("content").map(Node::list).unwrap_or_default();
    if parts.iter().any(|part| part.get("type").and_then(Node::text).is_some_and(|t| t == "tool_result")) {
        return StepKind::Tool;
    }
    kind(["kind", "role", "source", "type", "author"].into_iter().find_map(field).and_then(Node::word))
}

/// Who wrote it, by the word of the source. An agent's steps often have none.
fn kind(word: Option<&str>) -> StepKind {
    match word.map(str::to_lowercase).as_deref() {
        Some("system" | "developer") => StepKind::System,
        Some("user" | "human" | "environment" | "feedback") => StepKind::User,
        Some("tool" | "function" | "observation" | "tool_result" | "tool_output") => StepKind::Tool,
        _ => StepKind::Agent,
    }
}
