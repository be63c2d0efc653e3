//! Which of a harness's tools does the work, and how it is called.
//!
//! Tools are known by their schema, not by their name: a tool with a required parameter `command` (or `cmd`, `script`)
//! that takes any text runs commands; one with a path and a content writes files. Names only decide between several.
//! Other required parameters are filled by their type.

use serde_json::{Map, Value, json};

/// The folder that the work is done in, inside a box.
const WORKSPACE: &str = "/workspace";

/// A tool as it is offered.
#[derive(Debug, Clone, Default)]
pub(super) struct Tool {
    name: String,
    about: String,
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// What the model can do with the tools it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hands<'a> {
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
pub(super) struct Use {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Tool {
    /// From a list of tools of any API. Nothing for what is no function, such as a search that the endpoint does itself.
    pub(super) fn read(tool: &Value) -> Option<Self> {
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or("function");
        let of = tool.get("function").unwrap_or(tool);
        let name = of.get("name")?.as_str()?.to_owned();
        let about = of.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let schema =
            of.get("parameters").or_else(|| of.get("input_schema")).or_else(|| of.get("inputSchema"));
        if schema.is_none() && kind.starts_with("bash_") {
            // A tool of the messages API that every model knows.
            let properties = Map::from_iter([("command".to_owned(), json!({ "type": "string" }))]);
            return Some(Self { name, about, properties, required: vec!["command".to_owned()] });
        }
        if !matches!(kind, "function" | "custom") || (kind == "custom" && schema.is_none()) {
            return None;
        }
        let object = |name: &str| schema.and_then(|schema| schema.get(name));
        let properties = object("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let required = object("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        Some(Self { name, about, properties, required })
    }

    fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// The first of these that is a parameter which takes any text, or a list of texts.
    fn free<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| {
            self.properties.get(*name).is_some_and(|schema| {
                schema.get("enum").is_none() && matches!(kind(schema), Some("string" | "array") | None)
            })
        })
    }

    /// Arguments with these values, everything else that is required filled in.
    fn call(&self, given: &[(&str, Value)], about: &str) -> Use {
        let mut arguments = Map::new();
        for (name, value) in given {
            arguments.insert((*name).to_owned(), value.clone());
        }
        for name in &self.required {
            if !arguments.contains_key(name) {
                let schema = self.properties.get(name).unwrap_or(&Value::Null);
                arguments.insert(name.clone(), filled(name, schema, about));
            }
        }
        Use { name: self.name.clone(), arguments: Value::Object(arguments) }
    }
}

impl<'a> Hands<'a> {
    /// Looks through the tools.
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
            // The first of the best.
            shell: shell.min_by_key(|((rank, _), _)| *rank).map(|((_, name), tool)| (tool, name)),
            writer: writer.min_by_key(|((rank, _), _)| *rank).map(|((_, writer), _)| writer),
            finish,
        }
    }

    /// Whether commands can be run.
    pub(super) fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    /// Whether anything can be done at all.
    pub(super) fn are_tied(&self) -> bool {
        self.shell.is_none() && self.writer.is_none()
    }

    /// Runs a command.
    pub(super) fn run(&self, command: &str, about: &str) -> Option<Use> {
        let (tool, name) = self.shell?;
        let is_list = tool.properties.get(name).and_then(kind) == Some("array");
        let command = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
        let mut given = vec![(name, command)];
        // Not required, and useful to whoever reads along.
        if let Some(name) = tool.free(&["description"]) {
            given.push((name, json!(about)));
        }
        Some(tool.call(&given, about))
    }

    /// Writes a file of the workspace.
    pub(super) fn write(&self, file: &str, content: &str, about: &str) -> Option<Use> {
        let Writer { tool, path, content: name } = self.writer?;
        let said = |schema: Option<&Value>| {
            let text = schema.and_then(|schema| schema.get("description")).and_then(Value::as_str);
            text.unwrap_or_default().to_lowercase()
        };
        let (here, there) = (said(tool.properties.get(path)), tool.about.to_lowercase());
        let told = |word: &str| here.contains(word) || (here.is_empty() && there.contains(word));
        let absolute = told("absolute") && !told("relative to the work");
        let at = if absolute { format!("{WORKSPACE}/{file}") } else { file.to_owned() };
        let mut given = vec![(path, json!(at)), (name, json!(content))];
        let creates = |schema: &Value| {
            schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.contains(&json!("create")))
        };
        if tool.properties.get("command").is_some_and(creates) {
            given.push(("command", json!("create")));
        }
        Some(tool.call(&given, about))
    }

    /// Ends the turn, where that takes a tool.
    pub(super) fn finish(&self, text: &str) -> Option<Use> {
        let tool = self.finish?;
        let given: Vec<(&str, Value)> = tool
            .free(&["message", "result", "summary", "answer"])
            .map(|name| (name, json!(text)))
            .into_iter()
            .collect();
        Some(tool.call(&given, text))
    }
}

/// Whether a tool runs commands: how good a choice it is (less is better), and the parameter.
fn as_shell(tool: &Tool) -> Option<(usize, &'static str)> {
    let name = tool.free(&["command", "cmd", "script", "commands"])?;
    if !tool.requires(name) || tool.free(&["prompt"]).is_some() {
        return None;
    }
    let (called, about) = (tool.name.to_lowercase(), tool.about.to_lowercase());
    let known = ["bash", "shell", "terminal", "exec"];
    if known.iter().any(|word| called.contains(word)) {
        return Some((0, name));
    }
    let told = ["shell", "bash", "terminal", "command line", "run a command", "execute a command"];
    (called.contains("command") || called.contains("run") || told.iter().any(|word| about.contains(word)))
        .then_some((1, name))
}

/// Whether a tool writes whole files.
fn as_writer(tool: &Tool) -> Option<(usize, Writer<'_>)> {
    let path =
        tool.free(&["path", "file_path", "filePath", "filename", "file_name", "target_file", "file"])?;
    let names = ["content", "contents", "file_text", "fileText", "text", "new_content", "code", "data"];
    let content = tool.free(&names)?;
    if !tool.requires(path) || tool.free(&["old_string", "oldString", "url"]).is_some() {
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

/// The type that a schema asks for; the first that is not null.
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

/// A value that a schema takes, for a parameter of this name. `about` stands where a text is wanted.
pub(super) fn filled(name: &str, schema: &Value, about: &str) -> Value {
    if let Some(value) =
        schema.get("const").or_else(|| schema.get("default").filter(|value| !value.is_null()))
    {
        return value.clone();
    }
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        // Of risks and efforts the least.
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
                (name.to_owned(), filled(name, schema, about))
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
