//! Jobs of Harbor that are there in part, that were copied while they ran or into one folder, that lie in two sources, or that
//! have an agent with two settings: what was planned, what counts, and what is missing.

mod app;

use std::path::{Path, PathBuf};

use app::TestHome;
use serde_json::{Value, json};

/// A trial of a job: the agent, the task, the repeat and the setting of the agent.
struct Trial<'a> {
    agent: &'a str,
    task: &'a str,
    repeat: u32,
    effort: Option<&'a str>,
}

impl<'a> Trial<'a> {
    const fn new(agent: &'a str, task: &'a str, repeat: u32) -> Self {
        Self { agent, task, repeat, effort: None }
    }

    fn name(&self) -> String {
        format!("{}__{}{}{}", self.task, self.agent, self.effort.unwrap_or_default(), self.repeat)
    }

    fn agent(&self) -> Value {
        let kwargs = self.effort.map_or(json!({}), |effort| json!({ "reasoning_effort": effort }));
        json!({ "name": self.agent, "model_name": "vendor/model-a", "kwargs": kwargs })
    }

    /// Writes its folder into a job. `reward` is what the verifier leaves, `has_result` whether the trial has ended after it.
    fn write(&self, job: &Path, job_id: &str, reward: f64, has_result: bool) -> PathBuf {
        let folder = job.join(self.name());
        std::fs::create_dir_all(folder.join("verifier")).expect("a folder");
        let config = json!({
            "task": { "path": format!("tasks/{}", self.task), "source": "set-a" }, "trial_name": self.name(),
            "job_id": job_id, "agent": self.agent(),
        });
        write(&folder.join("config.json"), &config);
        std::fs::write(folder.join("verifier/reward.txt"), reward.to_string()).expect("to write");
        if has_result {
            let result = json!({
                "id": format!("id-{}", self.name()), "task_name": self.task, "trial_name": self.name(), "source": "set-a",
                "config": config,
                "agent_info": {
                    "name": self.agent, "version": "1.0", "model_info": { "name": "model-a", "provider": "vendor" },
                },
                "agent_result": {
                    "n_input_tokens": 1000, "n_cache_tokens": 0, "n_output_tokens": 100, "cost_usd": 0.5,
                },
                "verifier_result": { "rewards": { "reward": reward } },
                "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:10:00Z",
                "agent_execution": { "started_at": "2026-01-01T10:02:00Z", "finished_at": "2026-01-01T10:08:00Z" },
                "verifier": { "started_at": "2026-01-01T10:08:00Z", "finished_at": "2026-01-01T10:09:00Z" },
            });
            write(&folder.join("result.json"), &result);
        }
        folder
    }
}

fn write(file: &Path, value: &Value) {
    std::fs::write(file, value.to_string()).expect("to write");
}

/// Writes the job's own files. `planned` are the trials of its lock, if it has one.
fn job(at: &Path, id: &str, agents: &Value, attempts: u32, total: u32, planned: Option<&[Trial<'_>]>) {
    std::fs::create_dir_all(at).expect("a folder");
    let config = json!({
        "job_name": "job", "n_attempts": attempts, "n_concurrent_trials": 2, "agents": agents,
        "datasets": [{ "path": "tasks" }],
    });
    write(&at.join("config.json"), &config);
    let result = json!({
        "id": id, "started_at": "2026-01-01T10:00:00", "finished_at": null, "n_total_trials": total, "stats": {},
    });
    write(&at.join("result.json"), &result);
    if let Some(planned) = planned {
        let trials: Vec<Value> = planned
            .iter()
            .map(|trial| {
                json!({ "task": { "path": format!("tasks/{}", trial.task), "source": "set-a" }, "agent": trial.agent() })
            })
            .collect();
        write(
            &at.join("lock.json"),
            &json!({ "schema_version": 3, "harbor": { "version": "0.25.0" }, "trials": trials }),
        );
    }
}

fn agents(names: &[&str]) -> Value {
    names.iter().map(|name| Trial::new(name, "", 1).agent()).collect()
}

/// Tasks a, b and c, twice each.
fn of_agent(agent: &str) -> Vec<Trial<'_>> {
    ["a", "b", "c"]
        .into_iter()
        .flat_map(|task| [1, 2].map(|repeat| Trial::new(agent, task, repeat)))
        .collect()
}

/// By run: id, coverage (planned, present), what is missing of it.
fn planned(library: &TestHome) -> Vec<(String, Value, Value, Value)> {
    let runs = library.json(&["runs"]);
    let mut planned: Vec<_> = (runs.as_array().expect("runs").iter())
        .map(|run| {
            let id = run["id"].as_str().expect("an id").to_owned();
            let coverage = &run["coverage"];
            (id, coverage["planned"].clone(), coverage["present"].clone(), run["partial"].clone())
        })
        .collect();
    planned.sort_by(|a, b| a.0.cmp(&b.0));
    planned
}

/// The tasks of missing trials, and how many more are missing that nothing names.
fn missing(library: &TestHome, run: &str) -> (Vec<String>, Value) {
    let list = library.json(&["rerun-list", run, "--missing"]);
    let trials = list["trials"].as_array().expect("trials").iter();
    (
        trials.map(|trial| trial["task"].as_str().expect("a task").to_owned()).collect(),
        list["unnamed"].clone(),
    )
}

/// A job that was interrupted before its second agent began.
#[test]
fn an_agent_plans_its_own_trials_and_not_those_of_the_whole_job() {
    for has_lock in [true, false] {
        let library = TestHome::new();
        let at = library.path("job-x");
        let (first, second) = (of_agent("agent-a"), of_agent("agent-b"));
        let all: Vec<Trial<'_>> = first.into_iter().chain(second).collect();
        job(&at, "the-job", &agents(&["agent-a", "agent-b"]), 2, 12, has_lock.then_some(&all[..]));
        for trial in &all[..6] {
            trial.write(&at, "the-job", 1.0, true);
        }
        library.ingest(&at);
        let of_runs = planned(&library);
        let [(run, planned, present, partial)] = &of_runs[..] else { panic!("one run: {of_runs:?}") };
        assert_eq!((planned, present, partial), (&json!(6), &json!(6), &Value::Null), "lock: {has_lock}");
        assert_eq!(missing(&library, run), (vec![], json!(0)), "lock: {has_lock}");
        assert!(!library.text(&["runs"]).contains("of 12"), "lock: {has_lock}");
    }
}

/// Older jobs have no lock: each agent plans the same trials, and those of the other one name the tasks.
#[test]
fn what_is_missing_of_an_agent_is_named_by_the_trials_of_the_other() {
    let library = TestHome::new();
    let at = library.path("job-x");
    job(&at, "the-job", &agents(&["agent-a", "agent-b"]), 2, 12, None);
    for trial in of_agent("agent-a") {
        trial.write(&at, "the-job", 1.0, true);
    }
    for (task, repeat) in [("a", 1), ("a", 2), ("b", 1)] {
        Trial::new("agent-b", task, repeat).write(&at, "the-job", 1.0, true);
    }
    library.ingest(&at);
    let of_runs = planned(&library);
    let [(first, first_planned, ..), (second, second_planned, present, partial)] = &of_runs[..] else {
        panic!("two runs: {of_runs:?}")
    };
    assert_eq!((first_planned, second_planned, present), (&json!(6), &json!(6), &json!(3)));
    assert_eq!(partial, "3 of 6 episodes");
    assert_eq!(missing(&library, first), (vec![], json!(0)));
    let named = ["b", "c", "c"].map(str::to_owned).to_vec();
    assert_eq!(missing(&library, second), (named, json!(0)));

    // Where no trial of a task was begun, nothing names it.
    for name in [Trial::new("agent-a", "c", 1).name(), Trial::new("agent-a", "c", 2).name()] {
        std::fs::remove_dir_all(at.join(name)).expect("removed");
    }
    library.ingest(&at);
    assert_eq!(missing(&library, first), (vec![], json!(2)));
    assert_eq!(missing(&library, second), (vec![], json!(3)));
}
