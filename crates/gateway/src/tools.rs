//! Tools that an endpoint runs itself: web search, other people's servers, code in its own boxes. An agent that has only the
//! gateway must not get to the internet by asking the model's endpoint to go there, and what such tools cost is in no count
//! of tokens. So they are taken out of a request, whoever put them in: a harness that offers them by itself goes on without.
//!
//! Which tools are the agent's own is listed, not which are the endpoint's: those come new with every model.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Fields beside `tools` by which endpoints are asked to look something up, or to use a server or box of theirs: of chat
/// completions (`web_search_options`), messages (`mcp_servers`, `container`), and of endpoints that speak either.
const FIELDS: [&str; 8] = [
    "web_search_options",
    "mcp_servers",
    "container",
    "plugins",
    "enable_search",
    "search_options",
    "search_parameters",
    "web_search",
];

/// Types of tools that the agent's side runs; those with a version are named by their beginning.
const OWN: [&str; 5] = ["function", "custom", "local_shell", "apply_patch", "tool_search"];
const OWN_VERSIONS: [&str; 5] = ["bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_"];

/// What is read of a tool.
#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    /// Of a `namespace`: those in it.
    #[serde(borrow)]
    tools: Option<Vec<Tool<'a>>>,
    /// Of a `shell`: whose it is.
    #[serde(borrow)]
    environment: Option<&'a RawValue>,
}

impl Tool<'_> {
    fn is_own(&self) -> bool {
        match self.kind.as_deref() {
            // Those of the messages API have a name and no type.
            None => self.name.is_some(),
            Some("namespace") => self.tools.iter().flatten().all(Self::is_own),
            Some("shell") => self.environment.is_none(),
            Some(kind) => OWN.contains(&kind) || OWN_VERSIONS.iter().any(|begin| kind.starts_with(begin)),
        }
    }
}

/// Whether a field of a request asks for what only the endpoint runs. Some endpoints do not care for capitals.
pub(crate) fn is_hosted(field: &str) -> bool {
    FIELDS.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// Whether a field has a list of tools.
pub(crate) fn is_list(field: &str) -> bool {
    field.eq_ignore_ascii_case("tools")
}

/// Whether a tool has a field that some endpoints would take for one of those that are looked at here.
fn is_disguised(raw: &RawValue) -> bool {
    let looked_at = ["type", "name", "tools", "environment"];
    let odd = |field: &String| looked_at.iter().any(|name| field != name && field.eq_ignore_ascii_case(name));
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get())
        .is_ok_and(|fields| fields.keys().any(odd))
}

/// The agent's own of a list of tools, byte for byte, without what the endpoint runs; `None` = all of them are its own.
pub(crate) fn own(list: &str) -> Option<String> {
    // What is no list is no business of ours: the endpoint refuses it.
    let tools: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    let is_own = |raw: &&&RawValue| {
        !is_disguised(raw) && serde_json::from_str::<Tool<'_>>(raw.get()).is_ok_and(|tool| tool.is_own())
    };
    let own: Vec<&str> = tools.iter().filter(|raw| is_own(raw)).map(|raw| raw.get()).collect();
    (own.len() < tools.len()).then(|| format!("[{}]", own.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_runs_stays_and_what_the_endpoint_runs_goes() {
        for (list, left) in [
            (r#"[{"type":"function", "name":"a"}]"#, None),
            (r#"[{"name":"Bash","input_schema":{}}, {"type":"bash_20250124","name":"bash"}]"#, None),
            (r#"[{"type":"custom","name":"apply_patch"},{"type":"local_shell"},{"type":"shell"}]"#, None),
            (r#"[{"type":"namespace","name":"n","tools":[{"type":"function","name":"a"}]}]"#, None),
            ("[]", None),
            ("7", None),
            (
                r#"[{"type":"function", "name":"a"},{"type":"web_search"}]"#,
                Some(r#"[{"type":"function", "name":"a"}]"#),
            ),
            (r#"[{"type":"web_search_20250305","name":"web_search"}]"#, Some("[]")),
            (
                r#"[{"type":"mcp","server_url":"https://example.org"},{"type":"code_interpreter"}]"#,
                Some("[]"),
            ),
            (r#"[{"type":"shell","environment":{"type":"container_auto"}}]"#, Some("[]")),
            (r#"[{"type":"namespace","tools":[{"type":"file_search"}]}]"#, Some("[]")),
            (
                r#"[{"Type":"web_search","name":"x"},{"type":"function","TYPE":"web_search","name":"x"}]"#,
                Some("[]"),
            ),
            (r#"[{"google_search":{}},{"type":["function"]},"web_search"]"#, Some("[]")),
        ] {
            assert_eq!(own(list).as_deref(), left, "{list}");
        }
        assert!(is_hosted("web_search_options") && is_hosted("MCP_Servers") && !is_hosted("messages"));
    }
}
