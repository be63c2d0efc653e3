//! Counts of a transcript that cannot be, as both readers of Harbor's jobs take them: they are unknown, and nothing else of the
//! trial is.

use serde_json::{Value, json};

use crate::harbor_differential::{compare, theirs};

#[test]
fn another_reader_says_the_same_of_counts_of_calls_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("odd");
    let trial = root.join("job/task__AAAAAA1");
    std::fs::create_dir_all(trial.join("agent")).expect("a folder");
    let write =
        |path: &str, text: String| std::fs::write(root.join("job").join(path), text).expect("to write");
    let agent = json!({ "name": "codex", "model_name": "vendor/model-a" });
    let config = json!({
        "task": { "path": "tasks/task" }, "trial_name": "task__AAAAAA1", "job_id": "j", "agent": agent,
    });
    let result = json!({
        "id": "t", "task_name": "task", "trial_name": "task__AAAAAA1", "config": config,
        "agent_info": { "name": "codex", "version": "1" }, "started_at": "2026-01-01T10:00:00Z",
        "finished_at": "2026-01-01T10:10:00Z", "verifier_result": { "rewards": { "reward": 1 } },
    });
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
    write("config.json", json!({ "job_name": "job", "agents": [agent] }).to_string());
    write("result.json", json!({ "id": "j", "n_total_trials": 1 }).to_string());
    write("task__AAAAAA1/config.json", config.to_string());
    write("task__AAAAAA1/result.json", result.to_string());
    write(
        "task__AAAAAA1/agent/trajectory.json",
        json!({ "schema_version": "ATIF-v1.7", "steps": steps }).to_string(),
    );
    let theirs = theirs(&root, false);
    assert_eq!(theirs["odd"]["job/task 1/turn 1/steps"], odd.len() + 3);
    compare(&theirs, &[root], folder.path(), |_| true, &[]);
}
