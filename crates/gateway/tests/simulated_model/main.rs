//! The simulated model against conversations of real harnesses: the commands that it asks for are run, and the server
//! that results is the expected one.

mod api;
mod harness;

use std::sync::Arc;

use gateway::simulated_model::{Ability, FaultInjection, Feedback, SimulatedModel, Solution, Stack, Task};
use gateway::{Answer, Route};
use harness::{End, Harness};
use scenario::Seed;
use scenario::change::{Change, apply, next_turn};
use scenario::ir::Schema;
use scenario::sample::{ProgrammaticSampler, Sampler as _};
use serde_json::{Value, json};

const HARNESSES: [&str; 9] = [
    "claude-code",
    "codex",
    "kimi-cli",
    "kimi-code",
    "mini-swe-agent",
    "mistral-vibe",
    "opencode",
    "openhands",
    "qwen-code",
];

/// The first turns of a scenario.
fn turns(count: u32) -> Arc<Vec<(Arc<Schema>, Vec<Change>)>> {
    let seed = Seed { base: 3, scenario: 0 };
    let mut turns =
        vec![(Arc::new(ProgrammaticSampler.first_schema(seed).expect("a schema").value), Vec::new())];
    while turns.len() < count as usize {
        let before = Arc::clone(&turns[turns.len() - 1].0);
        let changes = ProgrammaticSampler.next_turn(seed, &before, 3).expect("changes").value.changes;
        let mut schema = next_turn(&before);
        for change in &changes {
            schema = apply(&schema, change).expect("it fits");
        }
        turns.push((Arc::new(schema), changes));
    }
    Arc::new(turns)
}

fn task(turns: &Arc<Vec<(Arc<Schema>, Vec<Change>)>>, turn: u32, attempt: u32) -> Task {
    Task {
        scenario: 0,
        turn,
        attempt,
        turns: Arc::clone(turns),
        attempts_before: Vec::new(),
        feedback: Feedback::default(),
        solution: None,
    }
}

fn flask(task: &Task) -> String {
    scenario::code::flask(&task.turns[task.turn as usize - 1].0)
}

/// A harness with one tool and nothing else.
fn with_tool(route: Route, tool: &Value) -> Harness {
    let body = match route {
        Route::Responses => json!({ "model": "m", "input": [], "tools": [tool] }),
        _ => json!({ "model": "m", "messages": [], "tools": [tool] }),
    };
    let mut harness = Harness::new(route, body);
    harness.request("Make a server.");
    harness
}

fn tool(name: &str, properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "function", "function": { "name": name, "parameters": {
        "type": "object", "properties": properties, "required": required,
    } } })
}

#[test]
fn every_harness_gets_the_server_of_each_turn_through_its_own_tools() {
    let turns = turns(3);
    let model = SimulatedModel::new(Ability::default());
    for name in HARNESSES {
        // As it streams or not by itself, over several turns; and the other way, once.
        let mut harness = Harness::recorded(name);
        for (turn, attempt) in [(1, 1), (2, 1), (2, 2), (3, 1)] {
            if turn > 1 {
                harness.request("It does not work yet, and something else is wanted.");
            }
            gets_it(name, &mut harness, &model, &task(&turns, turn, attempt));
            std::fs::remove_file(harness.workspace.path().join("server.py")).expect("it was there");
        }
        let mut other = Harness::recorded(name);
        let streams = other.body["stream"] == json!(true);
        other.body["stream"] = json!(!streams);
        other.body["stream_options"] = json!({ "include_usage": !streams });
        gets_it(name, &mut other, &model, &task(&turns, 1, 1));
        // Two steps a turn, and a third where a command ends it.
        let steps = if name == "mini-swe-agent" { 3 } else { 2 };
        assert_eq!((harness.done.len(), other.done.len()), (4 * steps, steps), "{name}: {:?}", harness.done);
    }
}

#[test]
fn every_harness_solves_a_step_of_a_task_through_its_own_tools() {
    let script =
        "#!/bin/sh\nset -e\n. \"$(dirname \"$0\")/a b/words.sh\"\necho \"$WORD $GREETING\" >> done\n";
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    let solution = Arc::new(Solution {
        files: vec![file("a b/words.sh", "WORD=two\n"), file("solve.sh", script)],
        env: vec![("GREETING".to_owned(), "it's".to_owned())],
        workdir: "/workspace".to_owned(),
    });
    let step =
        |turn, attempt| Task { solution: Some(solution.clone()), ..task(&Arc::default(), turn, attempt) };
    let able = SimulatedModel::new(Ability::default());
    let defective = SimulatedModel::new(Ability { defect_rate: 1.0, ..Ability::default() });
    for name in HARNESSES {
        let mut harness = Harness::recorded(name);
        for (turn, attempt) in [(1, 1), (2, 1), (2, 2)] {
            if turn > 1 {
                harness.request("The next step.");
            }
            let end = harness.play(&able, &step(turn, attempt));
            assert!(!matches!(end, End::Text(text) if !text.starts_with("Done")), "{name}");
        }
        assert_eq!(harness.file("done").as_deref(), Some("two it's\n".repeat(3).as_str()), "{name}");
        // One that is cut after its first half does nothing here, and neither does one that is skipped.
        let mut other = Harness::recorded(name);
        other.play(&defective, &step(1, 1));
        assert_eq!(other.file("done"), None, "{name}");
    }
}

fn gets_it(name: &str, harness: &mut Harness, model: &SimulatedModel, task: &Task) {
    let end = harness.play(model, task);
    match name {
        "mini-swe-agent" | "openhands" => assert_eq!(end, End::Handed, "{name}"),
        _ => assert!(matches!(end, End::Text(text) if text.starts_with("Done")), "{name}"),
    }
    assert!(harness.file("server.py") == Some(flask(task)), "{name}, turn {}", task.turn);
    assert_eq!(
        harness.file("run.sh").as_deref(),
        Some("#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 1\nexec python3 server.py\n")
    );
}

#[test]
fn a_tool_is_recognized_by_its_schema() {
    let turns = turns(1);
    let task = task(&turns, 1, 1);
    let model = SimulatedModel::new(Ability::default());
    let text = json!({ "type": "string" });
    let path = |about: &str| json!({ "type": "string", "description": about });
    let list = json!({ "type": "array", "items": { "type": "string" } });
    for (tool, writes) in [
        (
            tool(
                "shell",
                &json!({ "command": list, "timeout_ms": { "type": "integer" } }),
                &["command", "timeout_ms"],
            ),
            false,
        ),
        (
            tool(
                "run",
                &json!({ "script": text, "why": text, "sure": { "type": "boolean" } }),
                &["script", "why", "sure"],
            ),
            false,
        ),
        (
            tool("Terminal", &json!({ "cmd": text, "risk": { "enum": ["HIGH", "LOW"] } }), &["cmd", "risk"]),
            false,
        ),
        (
            tool(
                "write_file",
                &json!({ "path": path("Relative to the workspace"), "content": text }),
                &["path", "content"],
            ),
            true,
        ),
        (
            tool(
                "Write",
                &json!({ "file_path": path("The absolute path"), "content": text }),
                &["file_path", "content"],
            ),
            true,
        ),
        (
            tool(
                "editor",
                &json!({ "command": { "type": "string", "enum": ["view", "create"] }, "path": text, "file_text": text }),
                &["command", "path"],
            ),
            true,
        ),
    ] {
        let mut harness = with_tool(Route::ChatCompletions, &tool);
        harness.play(&model, &task);
        assert!(harness.file("server.py") == Some(flask(&task)), "{tool}");
        assert!(
            harness.file("run.sh").is_some_and(|text| text.ends_with("exec python3 server.py\n")),
            "{tool}"
        );
        assert_eq!(harness.done.iter().all(|done| done.starts_with("write ")), writes, "{tool}");
    }
    let mut claude = with_tool(Route::Messages, &json!({ "type": "bash_20250124", "name": "bash" }));
    claude.body["tools"][0]["input_schema"] = Value::Null;
    claude.body["tools"][0].as_object_mut().expect("a tool").remove("input_schema");
    let answer = claude.ask(&model, &task);
    assert_eq!(api::read(Route::Messages, &claude.body, &answer).calls[0].1, "bash");
}

#[test]
fn the_native_stack_is_a_schema_that_can_be_served() {
    let turns = turns(2);
    let task = task(&turns, 2, 1);
    let model = SimulatedModel::new(Ability { stack: Stack::Native, ..Ability::default() });
    let results = [
        tool("bash", &json!({ "command": { "type": "string" } }), &["command"]),
        tool(
            "write_file",
            &json!({ "path": { "type": "string" }, "content": { "type": "string" } }),
            &["path", "content"],
        ),
    ];
    for tool in results {
        let mut harness = with_tool(Route::ChatCompletions, &tool);
        harness.play(&model, &task);
        let written = harness.file("schema.yaml").expect("it is written");
        assert_eq!(Schema::from_yaml(&written).expect("a schema"), *turns[1].0);
        let run = harness.file("run.sh").expect("it is written");
        assert!(run.ends_with("exec \"$STAMINA\" serve-reference --schema schema.yaml --port \"$PORT\"\n"));
    }
}

#[test]
fn the_same_request_has_the_same_answer() {
    let turns = turns(6);
    let ability = Ability { seed: 5, defect_rate: 0.7, repair: 0.4, ..Ability::default() };
    let busy = SimulatedModel::new(ability.clone());
    let harness = Harness::recorded("codex");
    let mut answers = Vec::new();
    for turn in 1..=6 {
        for attempt in 1..=3 {
            let task = Task { attempts_before: vec![2; 5], ..task(&turns, turn, attempt) };
            answers.push((task.clone(), harness.ask(&busy, &task)));
        }
    }
    for (task, answer) in answers.iter().rev() {
        assert!(harness.ask(&busy, task) == *answer);
        assert!(harness.ask(&SimulatedModel::new(ability.clone()), task) == *answer);
    }
}

/// A harness may lose or repeat any part. Only answered calls count.
#[test]
fn an_interrupted_step_is_repeated() {
    let turns = turns(1);
    let task = task(&turns, 1, 1);
    let model = SimulatedModel::new(Ability::default());
    let mut harness = Harness::recorded("qwen-code");
    let first = api::read(harness.route, &harness.body, &harness.ask(&model, &task));
    harness.hear(&first);
    harness.request("Go on.");
    let again = api::read(harness.route, &harness.body, &harness.ask(&model, &task));
    assert_eq!(first.calls[0].2, again.calls[0].2);
    assert_ne!(first.calls[0].0, again.calls[0].0, "ids are used once");
    assert_ne!(first.id, again.id);
    harness.play(&model, &task);
    assert!(harness.file("server.py") == Some(flask(&task)));
    // Asked once more when all is done, it ends the turn once more.
    let done = harness.done.len();
    harness.request("Are you sure?");
    assert!(matches!(harness.play(&model, &task), End::Text(_)));
    assert_eq!(harness.done.len(), done);
}

#[test]
fn a_harness_may_replace_the_ids_of_calls() {
    let turns = turns(2);
    let model = SimulatedModel::new(Ability::default());
    for name in ["kimi-code", "codex", "claude-code"] {
        let mut harness = Harness::recorded(name);
        harness.renames = true;
        for turn in 1..=2 {
            let task = task(&turns, turn, 1);
            harness.play(&model, &task);
            assert!(harness.file("server.py") == Some(flask(&task)), "{name}");
            harness.request("And now?");
        }
    }
}

#[test]
fn side_requests_get_a_plain_answer() {
    let turns = turns(1);
    let task = task(&turns, 1, 1);
    let model = SimulatedModel::new(Ability::default());
    let answer_text = |route: Route, body: Value| {
        let parsed = api::read(route, &body, &model.answer(route, &body, &task));
        assert_eq!(parsed.calls, [], "{body}");
        parsed.text
    };
    let title = json!({ "model": "m", "stream": true, "messages": [
        { "role": "system", "content": "You are a title generator." }, { "role": "user", "content": "Make a server" },
    ] });
    assert_eq!(answer_text(Route::ChatCompletions, title), "REST server");
    let quota =
        json!({ "model": "m", "max_tokens": 1, "messages": [{ "role": "user", "content": "quota" }] });
    assert_eq!(answer_text(Route::Messages, quota), "ok");
    let named =
        json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    let form = json!({ "model": "m", "input": "A title?", "text": { "format": { "type": "json_schema", "schema": named } } });
    assert_eq!(answer_text(Route::Responses, form), "{\"title\":\"REST server\"}");
    for name in HARNESSES {
        let mut harness = Harness::recorded(name);
        harness.request("It.");
        let words =
            "You are about to run out of context. Create a handoff summary for the model that goes on.";
        let item = match harness.route {
            Route::Responses => {
                json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": words }] })
            }
            _ => json!({ "role": "user", "content": words }),
        };
        let list = if harness.route == Route::Responses { "input" } else { "messages" };
        harness.body[list].as_array_mut().expect("a list").push(item);
        assert!(answer_text(harness.route, harness.body).contains("server.py"), "{name}");
    }
    // Whatever else is sent gets some answer.
    for body in
        [json!({}), json!([]), json!({ "messages": "x", "tools": [1, {}, { "name": 2 }], "input": [3, {}] })]
    {
        for route in [Route::ChatCompletions, Route::Responses, Route::Messages] {
            assert_eq!(model.answer(route, &body, &task).status, 200);
        }
    }
}

/// The calls are missing then, and finished steps must not be repeated.
#[test]
fn a_summary_names_the_finished_steps() {
    let turns = turns(2);
    let task = task(&turns, 2, 1);
    let model = SimulatedModel::new(Ability::default());
    for name in HARNESSES {
        let mut harness = Harness::recorded(name);
        let list = if harness.route == Route::Responses { "input" } else { "messages" };
        let begin = harness.body[list].clone();
        let mut counted = 0;
        for step in 1..=2 {
            let parsed = api::read(harness.route, &harness.body, &harness.ask(&model, &task));
            assert!(parsed.text.ends_with(&format!("(turn 2, attempt 1, step {step})")), "{}", parsed.text);
            harness.hear(&parsed);
            harness.tell(&parsed.calls[0].0, "");
            // With all of the conversation, or with a text of it and no tools.
            let mut with_tools = harness.body.clone();
            let words = "Create a detailed summary of the conversation.";
            with_tools[list]
                .as_array_mut()
                .expect("a list")
                .push(json!({ "role": "user", "content": words }));
            let text = format!("<conversation>[Assistant]: {}</conversation> Sum it up.", parsed.text);
            let alone = json!({ "model": "m", list: [{ "role": "user", "content": text }] });
            for body in [with_tools, alone] {
                let summary = api::read(harness.route, &body, &model.answer(harness.route, &body, &task));
                assert_eq!(summary.calls, []);
                assert!(summary.text.ends_with(&format!("Done so far: turn 2, attempt 1, step {step}.")));
                harness.body[list] = begin.clone();
                harness.request(&format!("What was before: {}", summary.text));
                counted += 1;
            }
        }
        assert_eq!(counted, 4);
        let last = api::read(harness.route, &harness.body, &harness.ask(&model, &task));
        assert!(last.text.starts_with("Done") || name == "mini-swe-agent", "{name}: {}", last.text);
        // Of another attempt it says nothing.
        let next = Task { attempt: 2, ..task.clone() };
        let first = api::read(harness.route, &harness.body, &harness.ask(&model, &next));
        assert!(first.text.ends_with("step 1)"), "{name}");
    }
}

fn model_with(fault_injection: FaultInjection) -> SimulatedModel {
    SimulatedModel::new(Ability { fault_injection, ..Ability::default() })
}

#[test]
fn it_injects_faults() {
    let turns = turns(1);
    let task = task(&turns, 1, 1);
    let stall = model_with(FaultInjection { stall: 1.0, ..FaultInjection::default() });
    let overflow = model_with(FaultInjection { overflow: 1.0, ..FaultInjection::default() });
    let malformed = model_with(FaultInjection { malformed: 1.0, ..FaultInjection::default() });
    let kill = model_with(FaultInjection { kill: 1.0, ..FaultInjection::default() });
    let give_up = model_with(FaultInjection { give_up: 1.0, ..FaultInjection::default() });
    for name in HARNESSES {
        let mut harness = Harness::recorded(name);
        assert_eq!(harness.ask(&stall, &task), Answer::silence());

        let answer = harness.ask(&overflow, &task);
        let body: Value = serde_json::from_slice(&answer.chunks[0]).expect("JSON");
        assert_eq!((answer.status, answer.tokens.is_unknown()), (400, true));
        match harness.route {
            Route::Messages => {
                assert_eq!(
                    (&body["type"], &body["error"]["type"]),
                    (&json!("error"), &json!("invalid_request_error"))
                );
                assert!(
                    body["error"]["message"]
                        .as_str()
                        .is_some_and(|text| text.starts_with("prompt is too long"))
                );
            }
            _ => assert_eq!(body["error"]["code"], "context_length_exceeded"),
        }

        // If the harness lives on, its shell's parent is next, and that was all.
        for part in ["pkill -9 -f", "kill -9 $PPID"] {
            let parsed = api::read(harness.route, &harness.body, &harness.ask(&kill, &task));
            assert!(parsed.calls[0].2.contains(part), "{name}");
            harness.hear(&parsed);
            harness.tell(&parsed.calls[0].0, "");
        }
        let ended = harness.play(&kill, &task);
        assert!(matches!(ended, End::Handed) || ended == End::Text("This is done.".to_owned()), "{name}");

        let mut harness = Harness::recorded(name);
        harness.play(&give_up, &task);
        assert_eq!(harness.file("server.py"), None);

        let mut harness = Harness::recorded(name);
        let mut broken = 0;
        for _ in 0..30 {
            let parsed = api::read(harness.route, &harness.body, &harness.ask(&malformed, &task));
            harness.hear(&parsed);
            let Some((id, _, arguments)) = parsed.calls.first() else { break };
            if serde_json::from_str::<Value>(arguments).is_ok() {
                break;
            }
            broken += 1;
            harness.tell(id, "The arguments are no JSON.");
        }
        assert_eq!(broken, 12, "{name}");
    }
}

#[test]
fn injected_faults_follow_their_shares() {
    let turns = turns(1);
    let faults = FaultInjection { stall: 0.2, overflow: 0.1, malformed: 0.0, kill: 0.0, give_up: 0.3 };
    let model = model_with(faults);
    let harness = Harness::recorded("mini-swe-agent");
    let mut summary = [0; 4];
    let many = 2000;
    for scenario in 0..many {
        let task = Task { scenario, ..task(&turns, 1, 1) };
        let answer = harness.ask(&model, &task);
        let kind = match answer.status {
            _ if answer.stalls => 0,
            400 => 1,
            _ if api::read(harness.route, &harness.body, &answer).text == "This is done." => 2,
            _ => 3,
        };
        summary[kind] += 1;
    }
    for (summary, share) in summary.iter().zip([0.2, 0.1, 0.3, 0.4]) {
        let expected = f64::from(many) * share;
        // Five standard deviations.
        let far = 5.0 * (expected * (1.0 - share)).sqrt();
        assert!((f64::from(*summary) - expected).abs() < far, "{summary} of {expected}");
    }
}
