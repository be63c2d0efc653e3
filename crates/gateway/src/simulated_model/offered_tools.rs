//! The tools that a harness offers, and how the model calls them.
//!
//! Their schema decides, not their name. A tool with a required text parameter `command` (or `cmd`, `script`) runs commands. A tool
//! with a path and a content writes files. Names only decide between several candidates. Other required parameters are filled by
//! type.

use serde_json::{Map, Value, json};

/// The folder of the workspace inside a container.
const WORKSPACE: &str = "/workspace";

/// An offered tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Tool {
    name: String,
    description: String,
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// What the model can do with the offered tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfferedTools<'a> {
    shell: Option<(&'a Tool, &'a str)>,
    writer: Option<Writer<'a>>,
    finish: Option<&'a Tool>,
}

#[derive(Debug, Clone, Copy)]
struct Writer<'a> {
    tool: &'a Tool,
    path: &'a str,
    content: &'a str,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Tool {
    /// Parses a tool of any API. `None` for hosted tools, such as a search.
    pub(super) fn parse(tool: &Value) -> Option<Self> {
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or("function");
        let function = tool.get("function").unwrap_or(tool);
        let name = function.get("name")?.as_str()?.to_owned();
        let description = function.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let schema = function
            .get("parameters")
            .or_else(|| function.get("input_schema"))
            .or_else(|| function.get("inputSchema"));
        if schema.is_none() && kind.starts_with("bash_") {
            // A predefined tool of the messages API.
            let properties = Map::from_iter([("command".to_owned(), json!({ "type": "string" }))]);
            return Some(Self { name, description, properties, required: vec!["command".to_owned()] });
        }
        if !matches!(kind, "function" | "custom") || (kind == "custom" && schema.is_none()) {
            return None;
        }
        let object = |name: &str| schema.and_then(|schema| schema.get(name));
        let properties = object("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let required = object("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        Some(Self { name, description, properties, required })
    }

    fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// The first of these names that is a parameter for any text, or for a list of texts.
    fn text_parameter<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| {
            self.properties.get(*name).is_some_and(|schema| {
                schema.get("enum").is_none() && matches!(kind(schema), Some("string" | "array") | None)
            })
        })
    }

    /// A call with these arguments. Other required arguments are filled in.
    fn call(&self, values: &[(&str, Value)], about: &str) -> ToolCall {
        let mut arguments = Map::new();
        for (name, value) in values {
            arguments.insert((*name).to_owned(), value.clone());
        }
        for name in &self.required {
            if !arguments.contains_key(name) {
                let schema = self.properties.get(name).unwrap_or(&Value::Null);
                arguments.insert(name.clone(), fill_value(name, schema, about));
            }
        }
        ToolCall { name: self.name.clone(), arguments: Value::Object(arguments) }
    }
}

impl<'a> OfferedTools<'a> {
    /// Finds the useful tools.
    pub(super) fn find(tools: &'a [Tool]) -> Self {
        let shell = tools.iter().filter_map(|tool| Some((as_shell(tool)?, tool)));
        let writer = tools.iter().filter_map(|tool| Some((as_writer(tool)?, tool)));
        let finish = tools.iter().find(|tool| {
            matches!(
                tool.name.to_lowercase().as_str(),
                "finish" | "attempt_completion" | "task_complete" | "submit"
            )
        });
        Self {
            // The first one of the best rank.
            shell: shell.min_by_key(|((rank, _), _)| *rank).map(|((_, name), tool)| (tool, name)),
            writer: writer.min_by_key(|((rank, _), _)| *rank).map(|((_, writer), _)| writer),
            finish,
        }
    }

    /// Whether commands can be run.
    pub(super) fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    /// Whether neither commands nor files are possible.
    pub(super) fn is_empty(&self) -> bool {
        self.shell.is_none() && self.writer.is_none()
    }

    /// Runs a command.
    pub(super) fn run(&self, command: &str, about: &str) -> Option<ToolCall> {
        let (tool, name) = self.shell?;
        let is_list = tool.properties.get(name).and_then(kind) == Some("array");
        let command = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
        let mut values = vec![(name, command)];
        // Optional, and useful in transcripts.
        if let Some(name) = tool.text_parameter(&["description"]) {
            values.push((name, json!(about)));
        }
        Some(tool.call(&values, about))
    }

    /// Writes a file of the workspace.
    pub(super) fn write(&self, file: &str, content: &str, about: &str) -> Option<ToolCall> {
        let Writer { tool, path, content: name } = self.writer?;
        let description = |schema: Option<&Value>| {
            let text = schema.and_then(|schema| schema.get("description")).and_then(Value::as_str);
            text.unwrap_or_default().to_lowercase()
        };
        let (path_text, tool_text) =
            (description(tool.properties.get(path)), tool.description.to_lowercase());
        let mentions =
            |word: &str| path_text.contains(word) || (path_text.is_empty() && tool_text.contains(word));
        let absolute = mentions("absolute") && !mentions("relative to the work");
        let target = if absolute { format!("{WORKSPACE}/{file}") } else { file.to_owned() };
        let mut values = vec![(path, json!(target)), (name, json!(content))];
        let creates = |schema: &Value| {
            schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.contains(&json!("create")))
        };
        if tool.properties.get("command").is_some_and(creates) {
            values.push(("command", json!("create")));
        }
        Some(tool.call(&values, about))
    }

    /// Ends the turn, where that takes a tool.
    pub(super) fn finish(&self, text: &str) -> Option<ToolCall> {
        let tool = self.finish?;
        let values: Vec<(&str, Value)> = tool
            .text_parameter(&["message", "result", "summary", "answer"])
            .map(|name| (name, json!(text)))
            .into_iter()
            .collect();
        Some(tool.call(&values, text))
    }
}

/// Whether a tool runs commands: its rank (less is better), and the parameter.
fn as_shell(tool: &Tool) -> Option<(usize, &'static str)> {
    let name = tool.text_parameter(&["command", "cmd", "script", "commands"])?;
    if !tool.requires(name) || tool.text_parameter(&["prompt"]).is_some() {
        return None;
    }
    let (called, about) = (tool.name.to_lowercase(), tool.description.to_lowercase());
    let known = ["bash", "shell", "terminal", "exec"];
    if known.iter().any(|word| called.contains(word)) {
        return Some((0, name));
    }
    let phrases = ["shell", "bash", "terminal", "command line", "run a command", "execute a command"];
    (called.contains("command") || called.contains("run") || phrases.iter().any(|word| about.contains(word)))
        .then_some((1, name))
}

/// Whether a tool writes whole files.
fn as_writer(tool: &Tool) -> Option<(usize, Writer<'_>)> {
    let path = tool.text_parameter(&[
        "path",
        "file_path",
        "filePath",
        "filename",
        "file_name",
        "target_file",
        "file",
    ])?;
    let names = ["content", "contents", "file_text", "fileText", "text", "new_content", "code", "data"];
    let content = tool.text_parameter(&names)?;
    if !tool.requires(path) || tool.text_parameter(&["old_string", "oldString", "url"]).is_some() {
        return None;
    }
    let editor = tool.properties.get("command").is_some_and(|schema| schema.get("enum").is_some());
    if !editor && !tool.requires(content) {
        return None;
    }
    let called = tool.name.to_lowercase();
    let rank = if editor {
        2
    } else {
        usize::from(!["write", "create", "save"].iter().any(|word| called.contains(word)))
    };
    Some((rank, Writer { tool, path, content }))
}

/// The type of a schema: the first one that is not null.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => ["anyOf", "oneOf"]
            .iter()
            .filter_map(|name| schema.get(*name)?.as_array())
            .flatten()
            .filter_map(kind)
            .find(|kind| *kind != "null"),
    }
}

/// A value that fits a schema, for a parameter of this name. `about` is used for texts.
pub(super) fn fill_value(name: &str, schema: &Value, about: &str) -> Value {
    if let Some(value) =
        schema.get("const").or_else(|| schema.get("default").filter(|value| !value.is_null()))
    {
        return value.clone();
    }
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        // The lowest of risks and efforts.
        let least =
            all.iter().find(|value| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("low")));
        return least.or_else(|| all.first()).cloned().unwrap_or(Value::Null);
    }
    let lower = name.to_lowercase();
    match kind(schema) {
        Some("boolean") => json!(false),
        Some("integer" | "number") => {
            let least = schema.get("minimum").and_then(Value::as_i64);
            let timeout = if lower.ends_with("ms") { 60_000 } else { 60 };
            json!(if lower.contains("time") { timeout.max(least.unwrap_or(0)) } else { least.unwrap_or(1) })
        }
        Some("array") => json!([]),
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let filled = required.filter_map(Value::as_str).map(|name| {
                let schema = properties.and_then(|all| all.get(name)).unwrap_or(&Value::Null);
                (name.to_owned(), fill_value(name, schema, about))
            });
            Value::Object(filled.collect())
        }
        Some("null") => Value::Null,
        _ if ["dir", "cwd", "folder", "root", "path"].iter().any(|word| lower.contains(word)) => {
            json!(WORKSPACE)
        }
        _ => json!(about),
    }
}
