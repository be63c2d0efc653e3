//! Jobs of one turn through the program: a pass rate with its interval, pass@k and pass^k, as counted by hand.

mod app;

use std::fs;
use std::path::Path;

use app::{Room, text};
use serde_json::{Value, json};

/// What a trial came to.
#[derive(Clone, Copy)]
enum Came {
    Passed,
    Failed,
    /// The endpoint refused: nothing says what the agent would have done.
    Stopped,
}
use Came::{Failed, Passed, Stopped};

/// Writes a Harbor job of one-step trials: each task with what its trials came to.
fn write_job(at: &Path, model: &str, tasks: &[(&str, &[Came])]) {
    fs::create_dir_all(at).expect("a folder");
    let write = |path: std::path::PathBuf, value: &Value| {
        fs::write(path, serde_json::to_vec_pretty(value).expect("JSON")).expect("a file");
    };
    let trials: usize = tasks.iter().map(|(_, trials)| trials.len()).sum();
    let agent = json!({ "name": "agent-a", "model_name": format!("vendor/{model}"), "kwargs": {} });
    write(
        at.join("config.json"),
        &json!({ "job_name": "job", "agents": [agent], "datasets": [{ "path": "tasks" }] }),
    );
    write(
        at.join("result.json"),
        &json!({ "id": format!("job-{model}"), "started_at": "2026-01-01T10:00:00", "finished_at": "2026-01-01T11:00:00",
          "n_total_trials": trials, "stats": { "n_trials": trials, "n_errors": 0, "evals": {} } }),
    );
    for (task, came) in tasks {
        for (repeat, came) in came.iter().enumerate() {
            let name = format!("{task}__{model}{repeat}");
            let folder = at.join(&name);
            fs::create_dir_all(folder.join("verifier")).expect("a folder");
            let config = json!({ "task": { "path": format!("tasks/{task}"), "source": "set-a" }, "trial_name": name,
              "agent": agent, "environment": { "type": "docker" }, "verifier": { "disable": false } });
            write(folder.join("config.json"), &config);
            let phase = |from: &str, to: &str| json!({ "started_at": format!("2026-01-01T10:{from}Z"), "finished_at": format!("2026-01-01T10:{to}Z") });
            let mut result = json!({
                "id": format!("id-{name}"), "task_name": task, "trial_name": name, "source": "set-a", "config": config,
                "agent_info": { "name": "agent-a", "version": "1.0", "model_info": { "name": model, "provider": "vendor" } },
                "agent_result": { "n_input_tokens": 1000 * (repeat + 1), "n_cache_tokens": 0, "n_output_tokens": 100, "cost_usd": 0.25 },
                "verifier_result": null, "exception_info": null,
                "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:10:00Z",
                "environment_setup": phase("00:00", "01:00"), "agent_setup": phase("01:00", "02:00"),
                "agent_execution": phase("02:00", "03:30"), "verifier": phase("08:00", "09:00"),
            });
            match came {
                Passed => result["verifier_result"] = json!({ "rewards": { "reward": 1.0 } }),
                Failed => result["verifier_result"] = json!({ "rewards": { "reward": 0.0 } }),
                Stopped => {
                    result["exception_info"] = json!({ "exception_type": "APIConnectionError",
                      "exception_message": "Connection error.", "exception_traceback": "openai.APIConnectionError: Connection error.",
                      "occurred_at": "2026-01-01T10:03:00Z" });
                    result["verifier"] = Value::Null;
                }
            }
            write(folder.join("result.json"), &result);
        }
    }
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_job_of_one_turn_has_a_pass_rate() {
    let room = Room::new();
    let tasks: &[(&str, &[Came])] = &[
        ("a", &[Passed, Passed, Failed]),
        ("b", &[Failed, Failed, Failed, Stopped]),
        ("c", &[Passed, Passed, Passed]),
    ];
    write_job(&room.path("job"), "model-a", tasks);
    room.json(&["ingest", room.path("job").to_str().expect("UTF-8")]);
    let run = &room.json(&["runs"])[0];
    let rate = &run["pass_rate"];
    near(&rate["value"], 5.0 / 9.0);
    // Of statsmodels, as in crates/analysis/tests/golden/make_pass_rate.py.
    near(&rate["ci_low"], CI.0);
    near(&rate["ci_high"], CI.1);
    assert_eq!(
        [&rate["tasks"], &rate["trials"], &rate["passed"], &rate["unscored"], &rate["interval"]],
        [&json!(3), &json!(9), &json!(5), &json!(1), &json!("clustered")]
    );
    // Every choice of k of three trials, by hand.
    for (k, at, hat) in
        [("1", 5.0 / 9.0, 5.0 / 9.0), ("2", 2.0 / 3.0, 4.0 / 9.0), ("3", 2.0 / 3.0, 1.0 / 3.0)]
    {
        near(&run["pass_at_k"][k], at);
        near(&run["pass_hat_k"][k], hat);
    }
    assert_eq!(run["pass_at_k"].as_object().expect("an object").len(), 3);
    // The same number, as mean stamina over one turn.
    near(&run["stamina"]["mean"], 5.0 / 9.0);
    assert_eq!(run["stamina"]["tau"], 1);

    let listed = text(&room.stamina(&["runs"]).stdout);
    assert!(listed.contains("pass rate") && listed.contains("55.6 %") && !listed.contains("tau"), "{listed}");
    let shown = text(&room.stamina(&["show", run["id"].as_str().expect("an id")]).stdout);
    assert!(shown.starts_with("Pass rate 55.6 % (95 % CI "), "{shown}");
    assert!(shown.contains("clustered by task; 1 trial not scored.") && shown.contains("pass^k"), "{shown}");
    assert!(!shown.contains("stamina"), "{shown}");
}

/// The interval of 5 of 9 over tasks with 2, 0 and 3 of 3.
const CI: (f64, f64) = (0.042_435_498_575_863_595, 0.972_419_946_516_126);

#[test]
fn a_run_of_more_turns_has_no_pass_rate() {
    let room = Room::new();
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs");
    for job in ["failures-k1", "oracle-k2", "nop-k1"] {
        room.json(&["ingest", jobs.join(job).to_str().expect("UTF-8")]);
    }
    let runs = room.json(&["runs"]);
    let runs = runs.as_array().expect("runs");
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert!(
            run["pass_rate"].is_null() && run["pass_at_k"].is_null() && run["pass_hat_k"].is_null(),
            "{run}"
        );
    }
}
