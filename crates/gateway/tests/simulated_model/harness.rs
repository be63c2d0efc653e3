//! A harness that exists in the test only: it holds a conversation in the shape of an API, runs the commands that the
//! model asks for in a folder of its own, and tells what came of them. It begins with a request that a real harness sent.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gateway::simulated_model::{SOLUTION_FOLDER, SimulatedModel, Task};
use gateway::{Answer, Route};
use serde_json::{Value, json};

use super::api::{self, ParsedAnswer};

/// A harness with its conversation and its workspace.
pub(crate) struct Harness {
    pub(crate) route: Route,
    pub(crate) body: Value,
    pub(crate) workspace: tempfile::TempDir,
    /// Commands and writes so far.
    pub(crate) done: Vec<String>,
    /// Tells calls by ids of its own.
    pub(crate) renames: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// With a plain answer.
    Text(String),
    /// With a tool that ends turns, or the command that does.
    Handed,
}

impl Harness {
    /// With the first request of a real one.
    pub(crate) fn recorded(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests").join(format!("{name}.json"));
        let recorded: Value =
            serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("a recorded request");
        let route = Route::from_path(recorded["path"].as_str().expect("a path")).expect("a route");
        Self::new(route, recorded["body"].clone())
    }

    pub(crate) fn new(route: Route, body: Value) -> Self {
        let workspace = tempfile::tempdir().expect("a folder");
        Self { route, body, workspace, done: Vec::new(), renames: false }
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace.path().join(name)).ok()
    }

    pub(crate) fn ask(&self, model: &SimulatedModel, task: &Task) -> Answer {
        model.answer(self.route, &self.body, task)
    }

    /// Plays a turn to its end.
    pub(crate) fn play(&mut self, model: &SimulatedModel, task: &Task) -> End {
        for _ in 0..20 {
            let parsed = api::read(self.route, &self.body, &self.ask(model, task));
            let Some((id, tool, arguments)) = parsed.calls.first().cloned() else {
                self.hear(&parsed);
                return End::Text(parsed.text);
            };
            assert_eq!(parsed.calls.len(), 1);
            let arguments: Value = serde_json::from_str(&arguments).expect("arguments are JSON");
            let schema = self.schema(&tool);
            check(&tool, &schema, &arguments);
            self.hear(&parsed);
            let output = self.perform(&tool, &arguments);
            self.tell(&id, output.as_deref().unwrap_or(""));
            if output.is_none() {
                return End::Handed;
            }
        }
        panic!("the model never finishes: {:?}", self.done);
    }

    /// The schema of a tool.
    fn schema(&self, name: &str) -> Value {
        let tools = self.body["tools"].as_array().expect("tools");
        tools
            .iter()
            .map(|tool| tool.get("function").unwrap_or(tool))
            .find(|tool| tool["name"] == json!(name))
            .map_or_else(
                || panic!("{name} is offered"),
                |tool| {
                    tool.get("parameters").or_else(|| tool.get("input_schema")).cloned().unwrap_or_default()
                },
            )
    }

    /// Does what a call asks for; nothing for the end of the turn.
    fn perform(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let workspace = self.workspace.path().to_string_lossy();
        let local = |text: &str| {
            text.replace("/workspace", &workspace)
                .replace(SOLUTION_FOLDER, &format!("{workspace}{SOLUTION_FOLDER}"))
        };
        let given = |names: &[&str]| names.iter().find_map(|name| arguments.get(*name));
        if tool == "finish" {
            return None;
        }
        if let Some(path) = given(&["path", "file_path"]).and_then(Value::as_str) {
            let content = given(&["content", "file_text"]).and_then(Value::as_str).expect("a content");
            let path = self.workspace.path().join(PathBuf::from(local(path)));
            std::fs::write(&path, content).expect("it can be written");
            self.done.push(format!("write {}", path.display()));
            return Some("written".to_owned());
        }
        let command = given(&["command", "cmd", "script"]).expect("a command");
        let argv: Vec<String> = match command {
            Value::String(command) => ["bash", "-c", command].map(str::to_owned).to_vec(),
            Value::Array(words) => {
                words.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
            }
            other => panic!("a command: {other}"),
        };
        let line = argv.last().cloned().unwrap_or_default();
        assert!(line.len() < 120_000, "it fits into one argument: {}", line.len());
        assert!(line.lines().all(|line| line.len() < 1000), "no line is too long for a terminal");
        assert!(!line.contains("kill"), "not on this machine");
        self.done.push(line.clone());
        if line.contains("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT") {
            assert_eq!(line, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT");
            return None;
        }
        let output = Command::new(&argv[0])
            .args(argv[1..].iter().map(|word| local(word)))
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{line}: {output:?}");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
        Some(String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn items(&mut self) -> &mut Vec<Value> {
        let name = if self.route == Route::Responses { "input" } else { "messages" };
        self.body[name].as_array_mut().expect("a conversation")
    }

    /// Takes an answer of the model into the conversation.
    pub(crate) fn hear(&mut self, parsed: &ParsedAnswer) {
        let renames = self.renames;
        let call = parsed.calls.first().map(|(id, tool, arguments)| {
            (if renames { rename(id) } else { id.clone() }, tool.clone(), arguments.clone())
        });
        let text = parsed.text.clone();
        match (self.route, call) {
            (Route::ChatCompletions, None) => {
                self.items().push(json!({ "role": "assistant", "content": text }));
            }
            (Route::ChatCompletions, Some((id, name, arguments))) => {
                let call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
                self.items().push(json!({ "role": "assistant", "content": text, "tool_calls": [call] }));
            }
            (Route::Responses, call) => {
                if !text.is_empty() {
                    let part = json!({ "type": "output_text", "text": text });
                    self.items().push(json!({ "type": "message", "role": "assistant", "content": [part] }));
                }
                if let Some((id, name, arguments)) = call {
                    self.items().push(
                        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
                    );
                }
            }
            (Route::Messages, call) => {
                let mut content = vec![json!({ "type": "text", "text": text })];
                if let Some((id, name, arguments)) = call {
                    let input: Value = serde_json::from_str(&arguments).unwrap_or(json!({}));
                    content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
                }
                self.items().push(json!({ "role": "assistant", "content": content }));
            }
        }
    }

    /// Tells the model what came of a call.
    pub(crate) fn tell(&mut self, id: &str, output: &str) {
        let id = if self.renames { rename(id) } else { id.to_owned() };
        let item = match self.route {
            Route::ChatCompletions => json!({ "role": "tool", "tool_call_id": id, "content": output }),
            Route::Responses => json!({ "type": "function_call_output", "call_id": id, "output": output }),
            Route::Messages => {
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": output });
                json!({ "role": "user", "content": [result] })
            }
        };
        self.items().push(item);
    }

    /// The next request of the runner, and what a harness adds to it.
    pub(crate) fn request(&mut self, text: &str) {
        for text in [text, "<system-reminder>\nBe quick.\n</system-reminder>"] {
            let item = match self.route {
                Route::Responses => {
                    let part = json!({ "type": "input_text", "text": text });
                    json!({ "type": "message", "role": "user", "content": [part] })
                }
                _ => json!({ "role": "user", "content": text }),
            };
            self.items().push(item);
        }
    }
}

fn rename(id: &str) -> String {
    format!("own{}", id.bytes().map(u64::from).sum::<u64>())
}

/// Holds arguments against the schema of the tool: everything required, nothing unknown, types and enums.
fn check(tool: &str, schema: &Value, arguments: &Value) {
    let given = arguments.as_object().expect("arguments are an object");
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(given.contains_key(name.as_str().expect("a name")), "{tool} wants {name}: {arguments}");
    }
    for (name, value) in given {
        let schema = schema["properties"].get(name).unwrap_or_else(|| panic!("{tool} has no {name}"));
        let kinds = match &schema["type"] {
            Value::String(kind) => vec![kind.as_str()],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let kind = match value {
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Null => "null",
            Value::Number(_) => "number",
        };
        let fits =
            kinds.is_empty() || kinds.contains(&kind) || (kind == "number" && kinds.contains(&"integer"));
        assert!(fits, "{tool}: {name} is {kinds:?}: {arguments}");
        if let Some(all) = schema["enum"].as_array() {
            assert!(all.contains(value), "{tool}: {name} is one of {all:?}: {arguments}");
        }
    }
}
