//! Tools that an endpoint runs itself: web search, other people's servers, code in its own boxes. An agent that has only the
//! gateway must not get to the internet by asking the model's endpoint to go there, and what such tools cost is in no count
//! of tokens. So they are taken out of a request, whoever put them in: a harness that offers them by itself goes on without.
//!
//! Which tools are the agent's own is listed, not which are the endpoint's: those come new with every model.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{Fields, may_be_read_as};

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

/// What is read of a tool. Some endpoints do not care for capitals: one that has such a field in other letters, or has one
/// twice, is not read.
const READ: [&str; 6] = ["type", "name", "tools", "environment", "function", "custom"];

/// A tool of the agent's own.
struct Tool<'a> {
    /// As it stands in the request.
    raw: &'a str,
    kind: Option<String>,
    name: Option<String>,
    /// Of a `namespace`: those in it.
    tools: Vec<Tool<'a>>,
}

impl<'a> Tool<'a> {
    /// A tool, if the agent's side runs it. `nested` = it lies in a namespace; no namespace does.
    fn own(raw: &'a RawValue, nested: bool) -> Option<Self> {
        let Fields(fields) = serde_json::from_str(raw.get()).ok()?;
        let mut read: [Option<&RawValue>; READ.len()] = [None; READ.len()];
        for (name, value) in fields {
            let Some(at) = READ.iter().position(|field| may_be_read_as(&name, field)) else { continue };
            if name != READ[at] || read[at].replace(value).is_some() {
                return None;
            }
        }
        let [kind, name, inner, environment, function, custom] = read;
        let kind = text(kind).ok()?;
        // Those of chat completions have their name one level further down.
        let name = text(name).ok()?.or_else(|| [function, custom].into_iter().flatten().find_map(name_in));
        let mut tools = Vec::new();
        let is_own = match kind.as_deref() {
            // Those of the messages API have a name and no type.
            None => name.is_some() && function.is_none() && custom.is_none(),
            Some("namespace") if !nested => {
                let inner: Vec<&RawValue> = match inner {
                    Some(inner) => serde_json::from_str(inner.get()).ok()?,
                    None => Vec::new(),
                };
                tools = inner.into_iter().map(|raw| Self::own(raw, true)).collect::<Option<_>>()?;
                true
            }
            // Whose it is.
            Some("shell") => environment.is_none_or(|environment| environment.get() == "null"),
            Some(kind) => OWN.contains(&kind) || OWN_VERSIONS.iter().any(|begin| kind.starts_with(begin)),
        };
        is_own.then_some(Self { raw: raw.get(), kind, name, tools })
    }

    fn is(&self, named: &Named) -> bool {
        let kind = named.kind.as_deref();
        let is_it = match named.name() {
            // The messages API says `tool` of each.
            Some(name) => {
                self.name.as_deref() == Some(name)
                    && (kind == Some("tool") || self.kind.is_none() || kind == self.kind.as_deref())
            }
            None => kind == self.kind.as_deref(),
        };
        is_it || self.tools.iter().any(|tool| tool.is(named))
    }
}

/// A text that may be missing.
fn text(raw: Option<&RawValue>) -> serde_json::Result<Option<String>> {
    raw.map_or(Ok(None), |raw| serde_json::from_str(raw.get()))
}

fn name_in(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Inner>(raw.get()).ok()?.name
}

/// How a `tool_choice` names a tool: each API has a way of its own.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    function: Option<Inner>,
    custom: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    name: Option<String>,
}

impl Named {
    fn name(&self) -> Option<&str> {
        let inner =
            [&self.function, &self.custom].into_iter().flatten().find_map(|inner| inner.name.as_deref());
        self.name.as_deref().or(inner)
    }
}

/// Whether a field of a request asks for what only the endpoint runs.
fn is_hosted(field: &str) -> bool {
    FIELDS.iter().any(|name| may_be_read_as(field, name))
}

/// What has to change in the fields of a request so that its endpoint runs no tools: by their places what stands there
/// instead, or nothing where a field goes as a whole. With the tools goes what is only right beside them, because an endpoint
/// refuses a choice of a tool that is not there. What is the agent's own stays byte for byte.
pub(crate) fn without_hosted(fields: &[(String, &RawValue)]) -> BTreeMap<usize, Option<String>> {
    let mut changed = BTreeMap::new();
    let mut left = Vec::new();
    for (at, (name, raw)) in fields.iter().enumerate() {
        if is_hosted(name) {
            changed.insert(at, None);
        } else if may_be_read_as(name, "tools") {
            // What is no list is no business of ours: the endpoint refuses it.
            let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { continue };
            let own: Vec<Tool<'_>> = list.iter().filter_map(|raw| Tool::own(raw, false)).collect();
            if own.len() < list.len() {
                let texts: Vec<&str> = own.iter().map(|tool| tool.raw).collect();
                // Of an empty list some endpoints say that it is too short.
                changed.insert(at, (!texts.is_empty()).then(|| format!("[{}]", texts.join(","))));
            }
            left.extend(own);
        }
    }
    if changed.is_empty() {
        return changed;
    }
    for (at, (name, raw)) in fields.iter().enumerate() {
        if may_be_read_as(name, "tool_choice") {
            match choice(raw.get(), &left) {
                Choice::Stays => {}
                Choice::Less(text) => drop(changed.insert(at, Some(text))),
                Choice::Goes => drop(changed.insert(at, None)),
            }
        } else if left.is_empty() && may_be_read_as(name, "parallel_tool_calls") {
            changed.insert(at, None);
        }
    }
    changed
}

/// What becomes of a `tool_choice`.
enum Choice {
    Stays,
    /// Of several tools that may be called some are gone.
    Less(String),
    Goes,
}

fn choice(raw: &str, left: &[Tool<'_>]) -> Choice {
    if left.is_empty() {
        return Choice::Goes;
    }
    let Ok(Value::Object(mut chosen)) = serde_json::from_str::<Value>(raw) else { return Choice::Stays };
    let names_one_left = |value: &Value| {
        // What can not be read is left to the endpoint.
        Named::deserialize(value).map_or(true, |named| left.iter().any(|tool| tool.is(&named)))
    };
    match chosen.get("type").and_then(Value::as_str) {
        Some("auto" | "any" | "none" | "required") => return Choice::Stays,
        Some("allowed_tools") => {}
        _ if names_one_left(&Value::Object(chosen.clone())) => return Choice::Stays,
        _ => return Choice::Goes,
    }
    // Chat completions have the list one level further down.
    let place = match chosen.get_mut("allowed_tools") {
        Some(inner) => inner.get_mut("tools"),
        None => chosen.get_mut("tools"),
    };
    let Some(Value::Array(tools)) = place else { return Choice::Stays };
    let before = tools.len();
    tools.retain(names_one_left);
    match tools.len() {
        now if now == before => Choice::Stays,
        0 => Choice::Goes,
        _ => Choice::Less(Value::Object(chosen).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a list of tools; nothing where all of it is.
    fn own(list: &str) -> Option<String> {
        let body = format!(r#"{{"tools":{list}}}"#);
        let Fields(fields) = serde_json::from_str(&body).unwrap();
        Some(without_hosted(&fields).remove(&0)?.unwrap_or_else(|| "[]".to_owned()))
    }

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
            (r#"[{"type":"namespace","tools":[{"Type":"web_search","name":"x"}]}]"#, Some("[]")),
            (r#"[{"google_search":{}},{"type":["function"]},"web_search"]"#, Some("[]")),
        ] {
            assert_eq!(own(list).as_deref(), left, "{list}");
        }
        assert!(is_hosted("web_search_options") && is_hosted("MCP_Servers") && !is_hosted("messages"));
    }

    #[test]
    fn depth_is_no_way_out() {
        let deep = 200_000;
        let list = format!("[{}{}]", r#"{"type":"namespace","tools":["#.repeat(deep), "]}".repeat(deep));
        assert_eq!(own(&list).as_deref(), Some("[]"));
    }

    /// What is sent of a request with these fields, as far as it can be read.
    fn sent(body: &str) -> Value {
        let Fields(fields) = serde_json::from_str(body).unwrap();
        let changed = without_hosted(&fields);
        let kept = fields.iter().enumerate().filter_map(|(at, (name, raw))| {
            let text = changed.get(&at).map_or_else(|| Some(raw.get().to_owned()), Clone::clone)?;
            Some((name.clone(), serde_json::from_str(&text).unwrap()))
        });
        Value::Object(kept.collect())
    }

    #[test]
    fn a_choice_of_a_tool_that_is_gone_goes_too() {
        use serde_json::json;
        let chat = |name: &str| json!({"type": "function", "function": {"name": name}});
        let response = |name: &str| json!({"type": "function", "name": name});
        // The three APIs: tools, the choice, and what is left of it.
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
            let found = sent(&body.to_string());
            assert_eq!(found.get("tool_choice"), left.as_ref(), "{body}");
            assert_eq!(found["parallel_tool_calls"], json!(false));
            // Where no tool is left, nothing may be said of tools.
            body["tools"].as_array_mut().unwrap().retain(|tool| {
                ["web_", "mcp", "file_"]
                    .iter()
                    .any(|begin| tool["type"].as_str().is_some_and(|kind| kind.starts_with(begin)))
            });
            assert_eq!(sent(&body.to_string()), json!({}), "{body}");
        }
        let none_gone = json!({"tools": [chat("a")], "tool_choice": chat("b"), "parallel_tool_calls": true});
        assert_eq!(sent(&none_gone.to_string()), none_gone, "what is odd of itself stays as it is");
        let servers = json!({"mcp_servers": [], "tool_choice": {"type": "auto"}});
        assert_eq!(sent(&servers.to_string()), json!({}));
    }
}
