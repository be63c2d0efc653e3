//! Values of a job that cannot be, as both readers of Harbor's jobs take them: they are unknown, and nothing else of the trial is.

use std::path::Path;

use serde_json::{Value, json};

use crate::harbor_differential::{compare, facts_by_other_reader};

/// Writes a trial of one step of a job, with these values in its result.
fn trial(job: &Path, task: &str, changed: &[(&str, Value)], steps: &[Value]) {
    let name = format!("{task}__AAAAAA1");
    let agent = json!({ "name": "codex", "model_name": "vendor/model-a" });
    let config = json!({
        "task": { "path": format!("tasks/{task}") }, "trial_name": name, "job_id": "j", "agent": agent,
    });
    let mut result = json!({
        "id": task, "task_name": task, "trial_name": name, "config": config,
        "agent_info": { "name": "codex", "version": "1" }, "started_at": "2026-01-01T10:00:00Z",
        "finished_at": "2026-01-01T10:10:00Z", "verifier_result": { "rewards": { "reward": 1 } },
    });
    for (key, value) in changed {
        result[*key] = value.clone();
    }
    std::fs::create_dir_all(job.join(&name).join("agent")).expect("a folder");
    let write =
        |path: &str, value: &Value| std::fs::write(job.join(path), value.to_string()).expect("to write");
    write("config.json", &json!({ "job_name": "job", "agents": [agent] }));
    write(&format!("{name}/config.json"), &config);
    write(&format!("{name}/result.json"), &result);
    let trajectory = json!({ "schema_version": "ATIF-v1.7", "steps": steps });
    write(&format!("{name}/agent/trajectory.json"), &trajectory);
}

#[test]
fn another_reader_says_the_same_of_counts_of_calls_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("odd");
    // What a tool gave is no step, and what says something is one, where the count is none.
    let given = json!({ "results": [{ "content": "ok" }] });
    let entry = |calls: &Value| json!({ "source": "agent", "message": "Done.", "llm_call_count": calls });
    let tool = |calls: &Value| {
        json!({
            "source": "agent", "message": "", "observation": given, "llm_call_count": calls,
            "metrics": { "completion_tokens": "7" },
        })
    };
    let odd = [json!("0"), json!("2"), json!(-1), json!(0.5), json!(false), json!([1]), json!({ "n": 1 })];
    let mut steps: Vec<Value> = odd.iter().flat_map(|calls| [entry(calls), tool(calls)]).collect();
    steps.extend([
        entry(&json!(0)),
        entry(&json!(1)),
        entry(&json!(null)),
        tool(&json!(null)),
        tool(&json!(2.0)),
    ]);
    trial(&root.join("job"), "task", &[], &steps);
    let expected = facts_by_other_reader(&root, false);
    assert_eq!(expected["odd"]["job/task 1/turn 1/steps"], odd.len() + 3);
    compare(&expected, &[root], folder.path(), |_| true, &[]);
}

/// Entries of the agent that only hold what tools gave, whichever way they are written, and one of a source that nobody knows.
#[test]
fn another_reader_says_the_same_of_results_that_are_listed_as_entries() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("listed");
    let part = |text: &str| json!({ "type": "text", "text": text });
    let entry = |message: Value, contents: &[Value]| {
        let results: Vec<Value> = contents.iter().map(|content| json!({ "content": content })).collect();
        json!({ "source": "agent", "message": message, "observation": { "results": results } })
    };
    let call = json!({
        "source": "agent", "message": "I look.",
        "tool_calls": [{ "tool_call_id": "a", "function_name": "f", "arguments": {} }],
    });
    let (first_output, two) = (json!("out1"), json!("out2"));
    let mut blank = entry(json!("out1"), std::slice::from_ref(&first_output));
    blank["reasoning_content"] = json!(" ");
    let steps = [
        call.clone(),
        entry(json!([part("out1")]), std::slice::from_ref(&first_output)),
        call.clone(),
        entry(json!("out1\nout2"), &[first_output.clone(), two.clone()]),
        call,
        entry(json!([part("")]), &[json!([part("out1")])]),
        blank,
        entry(json!([part("out1"), part("I see.")]), &[first_output, two]),
        json!({ "source": "critic", "message": "No." }),
        json!({ "source": "agent", "message": "Done." }),
    ];
    trial(&root.join("job"), "task", &[], &steps);
    let expected = facts_by_other_reader(&root, false);
    assert_eq!(expected["listed"]["job/task 1/turn 1/steps"], 5, "three calls, what it sees, and its answer");
    compare(&expected, &[root], folder.path(), |_| true, &[]);
}

/// Values of another type than Harbor writes there.
#[test]
fn another_reader_says_the_same_of_a_trial_that_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("damaged");
    let job = root.join("job");
    let entries = [json!({ "source": "agent", "message": "Done." })];
    for (task, key, value) in [
        ("exception", "exception_info", json!("it broke")),
        ("started", "started_at", json!(1)),
        ("id", "id", json!({ "a": 1 })),
        ("rewards", "verifier_result", json!({ "rewards": 2 })),
        ("verifier", "verifier", json!("x")),
        ("usage", "agent_result", json!([1])),
    ] {
        trial(&job, task, &[(key, value)], &entries);
    }
    trial(&job, "entry", &[], &[json!("x")]);
    trial(&job, "calls", &[], &[json!({ "source": "agent", "message": "Done.", "tool_calls": 0.5 })]);
    let expected = facts_by_other_reader(&root, false);
    assert_eq!(expected["damaged"]["job/n"], 8);
    assert_eq!(expected["damaged"]["job/entry 1/turn 1/steps"], Value::Null);
    compare(&expected, &[root], folder.path(), |_| true, &[]);
}
