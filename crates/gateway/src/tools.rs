//! Removes hosted tools from requests: tools that the endpoint runs, such as web search, remote servers, or code in containers of
//! its own. An agent without internet access must not reach it through the endpoint, and no count of tokens includes what such
//! tools cost. A harness that offers them continues without.
//!
//! The list names the tools that the agent runs. Hosted tools change with every model.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{Fields, may_be_read_as};

/// Fields beside `tools` that ask the endpoint to search, or to use a server or a container of its own: of chat completions
/// (`web_search_options`), of messages (`mcp_servers`, `container`), and of compatible endpoints.
const HOSTED_FIELDS: [&str; 8] = [
    "web_search_options",
    "mcp_servers",
    "container",
    "plugins",
    "enable_search",
    "search_options",
    "search_parameters",
    "web_search",
];

/// Types of tools that the agent runs. Versioned ones are listed by prefix.
const AGENT_TYPES: [&str; 5] = ["function", "custom", "local_shell", "apply_patch", "tool_search"];
const AGENT_PREFIXES: [&str; 5] = ["bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_"];

/// The fields of a tool that are read. Some endpoints ignore case, so a tool with such a field in another case, or twice, counts
/// as hosted.
const READ_FIELDS: [&str; 6] = ["type", "name", "tools", "environment", "function", "custom"];

/// A tool that the agent runs.
struct Tool<'a> {
    /// Its text in the request.
    raw: &'a str,
    kind: Option<String>,
    name: Option<String>,
    /// The tools of a `namespace`.
    tools: Vec<Tool<'a>>,
}

impl<'a> Tool<'a> {
    /// Parses a tool. `None` = the endpoint runs it. `nested` = it is in a namespace, which contains no further namespace.
    fn parse(raw: &'a RawValue, nested: bool) -> Option<Self> {
        let Fields(fields) = serde_json::from_str(raw.get()).ok()?;
        let mut read: [Option<&RawValue>; READ_FIELDS.len()] = [None; READ_FIELDS.len()];
        for (name, value) in fields {
            let Some(index) = READ_FIELDS.iter().position(|field| may_be_read_as(&name, field)) else {
                continue;
            };
            if name != READ_FIELDS[index] || read[index].replace(value).is_some() {
                return None;
            }
        }
        let [kind, name, inner, environment, function, custom] = read;
        let kind = text(kind).ok()?;
        // Chat completions have the name one level deeper.
        let name = text(name).ok()?.or_else(|| [function, custom].into_iter().flatten().find_map(name_in));
        let mut tools = Vec::new();
        let is_agents = match kind.as_deref() {
            // Tools of the messages API have a name and no type.
            None => name.is_some() && function.is_none() && custom.is_none(),
            Some("namespace") if !nested => {
                let inner: Vec<&RawValue> = match inner {
                    Some(inner) => serde_json::from_str(inner.get()).ok()?,
                    None => Vec::new(),
                };
                tools = inner.into_iter().map(|raw| Self::parse(raw, true)).collect::<Option<_>>()?;
                true
            }
            // The environment tells who runs a shell.
            Some("shell") => environment.is_none_or(|environment| environment.get() == "null"),
            Some(kind) => {
                AGENT_TYPES.contains(&kind) || AGENT_PREFIXES.iter().any(|begin| kind.starts_with(begin))
            }
        };
        is_agents.then_some(Self { raw: raw.get(), kind, name, tools })
    }

    fn matches(&self, named: &NamedTool) -> bool {
        let kind = named.kind.as_deref();
        let is_match = match named.name() {
            // The messages API uses the type `tool` for all.
            Some(name) => {
                self.name.as_deref() == Some(name)
                    && (kind == Some("tool") || self.kind.is_none() || kind == self.kind.as_deref())
            }
            None => kind == self.kind.as_deref(),
        };
        is_match || self.tools.iter().any(|tool| tool.matches(named))
    }
}

/// An optional text.
fn text(raw: Option<&RawValue>) -> serde_json::Result<Option<String>> {
    raw.map_or(Ok(None), |raw| serde_json::from_str(raw.get()))
}

fn name_in(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<InnerName>(raw.get()).ok()?.name
}

/// How a `tool_choice` names a tool, in all three APIs.
#[derive(Deserialize)]
struct NamedTool {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    function: Option<InnerName>,
    custom: Option<InnerName>,
}

#[derive(Deserialize)]
struct InnerName {
    name: Option<String>,
}

impl NamedTool {
    fn name(&self) -> Option<&str> {
        let inner =
            [&self.function, &self.custom].into_iter().flatten().find_map(|inner| inner.name.as_deref());
        self.name.as_deref().or(inner)
    }
}

/// Whether a field of a request asks for something that the endpoint runs.
fn is_hosted(field: &str) -> bool {
    HOSTED_FIELDS.iter().any(|name| may_be_read_as(field, name))
}

/// The changes to the fields of a request so that the endpoint runs no tools: by position, the new text, or `None` to remove the
/// field. Fields that depend on removed tools change, too, because an endpoint refuses a choice of a missing tool. The tools of
/// the agent stay byte for byte.
pub(crate) fn without_hosted(fields: &[(String, &RawValue)]) -> BTreeMap<usize, Option<String>> {
    let mut changed = BTreeMap::new();
    let mut left = Vec::new();
    for (index, (name, raw)) in fields.iter().enumerate() {
        if is_hosted(name) {
            changed.insert(index, None);
        } else if may_be_read_as(name, "tools") {
            // The endpoint refuses anything but a list.
            let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { continue };
            let kept: Vec<Tool<'_>> = list.iter().filter_map(|raw| Tool::parse(raw, false)).collect();
            if kept.len() < list.len() {
                let texts: Vec<&str> = kept.iter().map(|tool| tool.raw).collect();
                // Some endpoints refuse an empty list.
                changed.insert(index, (!texts.is_empty()).then(|| format!("[{}]", texts.join(","))));
            }
            left.extend(kept);
        }
    }
    if changed.is_empty() {
        return changed;
    }
    for (index, (name, raw)) in fields.iter().enumerate() {
        if may_be_read_as(name, "tool_choice") {
            match change_choice(raw.get(), &left) {
                Choice::Unchanged => {}
                Choice::Reduced(text) => drop(changed.insert(index, Some(text))),
                Choice::Removed => drop(changed.insert(index, None)),
            }
        } else if left.is_empty() && may_be_read_as(name, "parallel_tool_calls") {
            changed.insert(index, None);
        }
    }
    changed
}

/// How a `tool_choice` changes.
enum Choice {
    Unchanged,
    /// Some of the allowed tools are removed.
    Reduced(String),
    Removed,
}

fn change_choice(raw: &str, left: &[Tool<'_>]) -> Choice {
    if left.is_empty() {
        return Choice::Removed;
    }
    let Ok(Value::Object(mut chosen)) = serde_json::from_str::<Value>(raw) else { return Choice::Unchanged };
    let names_one_left = |value: &Value| {
        // The endpoint judges what is unreadable here.
        NamedTool::deserialize(value).map_or(true, |named| left.iter().any(|tool| tool.matches(&named)))
    };
    match chosen.get("type").and_then(Value::as_str) {
        Some("auto" | "any" | "none" | "required") => return Choice::Unchanged,
        Some("allowed_tools") => {}
        _ if names_one_left(&Value::Object(chosen.clone())) => return Choice::Unchanged,
        _ => return Choice::Removed,
    }
    // Chat completions have the list one level deeper.
    let place = match chosen.get_mut("allowed_tools") {
        Some(inner) => inner.get_mut("tools"),
        None => chosen.get_mut("tools"),
    };
    let Some(Value::Array(tools)) = place else { return Choice::Unchanged };
    let before = tools.len();
    tools.retain(names_one_left);
    match tools.len() {
        now if now == before => Choice::Unchanged,
        0 => Choice::Removed,
        _ => Choice::Reduced(Value::Object(chosen).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a list of tools. `None` where nothing is removed.
    fn remaining(list: &str) -> Option<String> {
        let body = format!(r#"{{"tools":{list}}}"#);
        let Fields(fields) = serde_json::from_str(&body).unwrap();
        Some(without_hosted(&fields).remove(&0)?.unwrap_or_else(|| "[]".to_owned()))
    }

    #[test]
    fn tools_of_the_agent_stay_and_hosted_tools_are_removed() {
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
            (r#"[{"type":"namespace","tools":[{"Type":"web_search","name":"x"}]}]"#, Some("[]")),
            (r#"[{"google_search":{}},{"type":["function"]},"web_search"]"#, Some("[]")),
        ] {
            assert_eq!(remaining(list).as_deref(), left, "{list}");
        }
        assert!(is_hosted("web_search_options") && is_hosted("MCP_Servers") && !is_hosted("messages"));
    }

    #[test]
    fn nesting_hides_no_tool() {
        let deep = 200_000;
        let list = format!("[{}{}]", r#"{"type":"namespace","tools":["#.repeat(deep), "]}".repeat(deep));
        assert_eq!(remaining(&list).as_deref(), Some("[]"));
    }

    /// The request that is sent for a body with these fields.
    fn sent_request(body: &str) -> Value {
        let Fields(fields) = serde_json::from_str(body).unwrap();
        let changed = without_hosted(&fields);
        let kept = fields.iter().enumerate().filter_map(|(index, (name, raw))| {
            let text = changed.get(&index).map_or_else(|| Some(raw.get().to_owned()), Clone::clone)?;
            Some((name.clone(), serde_json::from_str(&text).unwrap()))
        });
        Value::Object(kept.collect())
    }

    #[test]
    fn a_choice_of_a_removed_tool_is_removed() {
        use serde_json::json;
        let chat = |name: &str| json!({"type": "function", "function": {"name": name}});
        let response = |name: &str| json!({"type": "function", "name": name});
        // For the three APIs: tools, the choice, and what is left of it.
        for (tools, choice, left) in [
            (json!([chat("a"), {"type": "web_search"}]), json!("required"), Some(json!("required"))),
            (json!([chat("a"), {"type": "web_search"}]), chat("a"), Some(chat("a"))),
            (
                json!([chat("a"), {"type": "web_search"}]),
                json!({"type": "allowed_tools", "allowed_tools": {
                    "mode": "auto", "tools": [chat("a"), {"type": "web_search"}] }}),
                Some(
                    json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [chat("a")]}}),
                ),
            ),
            (
                json!([{"type": "custom", "custom": {"name": "c"}}, {"type": "web_search"}]),
                json!({"type": "custom", "custom": {"name": "c"}}),
                Some(json!({"type": "custom", "custom": {"name": "c"}})),
            ),
            (json!([response("a"), {"type": "web_search"}]), json!({"type": "web_search"}), None),
            (
                json!([response("a"), {"type": "mcp", "server_label": "s"}]),
                response("a"),
                Some(response("a")),
            ),
            (
                json!([response("a"), {"type": "mcp", "server_label": "s"}]),
                json!({"type": "mcp", "server_label": "s", "name": "a"}),
                None,
            ),
            (
                json!([{"type": "shell"}, {"type": "web_search"}]),
                json!({"type": "shell"}),
                Some(json!({"type": "shell"})),
            ),
            (
                json!([{"type": "namespace", "name": "n", "tools": [response("a")]}, {"type": "web_search"}]),
                response("a"),
                Some(response("a")),
            ),
            (
                json!([response("a"), {"type": "file_search"}]),
                json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "file_search"}]}),
                None,
            ),
            (
                json!([{"name": "Bash"}, {"type": "web_search_20250305", "name": "web_search"}]),
                json!({"type": "tool", "name": "web_search"}),
                None,
            ),
            (
                json!([{"name": "Bash"}, {"type": "web_search_20250305", "name": "web_search"}]),
                json!({"type": "tool", "name": "Bash", "disable_parallel_tool_use": true}),
                Some(json!({"type": "tool", "name": "Bash", "disable_parallel_tool_use": true})),
            ),
            (
                json!([{"name": "Bash"}, {"type": "web_fetch_20250910", "name": "web_fetch"}]),
                json!({"type": "any"}),
                Some(json!({"type": "any"})),
            ),
        ] {
            let mut body = json!({ "tools": tools, "tool_choice": choice, "parallel_tool_calls": false });
            let found = sent_request(&body.to_string());
            assert_eq!(found.get("tool_choice"), left.as_ref(), "{body}");
            assert_eq!(found["parallel_tool_calls"], json!(false));
            // Without tools, no field may mention tools.
            body["tools"].as_array_mut().unwrap().retain(|tool| {
                ["web_", "mcp", "file_"]
                    .iter()
                    .any(|begin| tool["type"].as_str().is_some_and(|kind| kind.starts_with(begin)))
            });
            assert_eq!(sent_request(&body.to_string()), json!({}), "{body}");
        }
        let none_gone = json!({"tools": [chat("a")], "tool_choice": chat("b"), "parallel_tool_calls": true});
        assert_eq!(
            sent_request(&none_gone.to_string()),
            none_gone,
            "a request that is odd by itself stays unchanged"
        );
        let servers = json!({"mcp_servers": [], "tool_choice": {"type": "auto"}});
        assert_eq!(sent_request(&servers.to_string()), json!({}));
    }
}
