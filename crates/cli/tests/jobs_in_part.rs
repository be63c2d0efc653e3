//! Jobs of Harbor that are there in part, that were copied while they ran or into one folder, that lie in two sources, or that
//! have an agent with two settings: what was planned, what counts, and what is missing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::TestHome;

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
fn job(folder: &Path, id: &str, agents: &Value, attempts: u32, total: u32, planned: Option<&[Trial<'_>]>) {
    std::fs::create_dir_all(folder).expect("a folder");
    let config = json!({
        "job_name": "job", "n_attempts": attempts, "n_concurrent_trials": 2, "agents": agents,
        "datasets": [{ "path": "tasks" }],
    });
    write(&folder.join("config.json"), &config);
    let result = json!({
        "id": id, "started_at": "2026-01-01T10:00:00", "finished_at": null, "n_total_trials": total, "stats": {},
    });
    write(&folder.join("result.json"), &result);
    if let Some(planned) = planned {
        let trials: Vec<Value> = planned
            .iter()
            .map(|trial| {
                json!({ "task": { "path": format!("tasks/{}", trial.task), "source": "set-a" }, "agent": trial.agent() })
            })
            .collect();
        write(
            &folder.join("lock.json"),
            &json!({ "schema_version": 3, "harbor": { "version": "0.25.0" }, "trials": trials }),
        );
    }
}

fn agents(names: &[&str]) -> Value {
    names.iter().map(|name| Trial::new(name, "", 1).agent()).collect()
}

/// Tasks a, b and c, twice each.
fn agent_trials(agent: &str) -> Vec<Trial<'_>> {
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
        let job_folder = library.path("job-x");
        let (first, second) = (agent_trials("agent-a"), agent_trials("agent-b"));
        let all: Vec<Trial<'_>> = first.into_iter().chain(second).collect();
        job(&job_folder, "the-job", &agents(&["agent-a", "agent-b"]), 2, 12, has_lock.then_some(&all[..]));
        for trial in &all[..6] {
            trial.write(&job_folder, "the-job", 1.0, true);
        }
        library.ingest(&job_folder);
        let planned_runs = planned(&library);
        let [(run, planned, present, partial)] = &planned_runs[..] else {
            panic!("one run: {planned_runs:?}")
        };
        assert_eq!((planned, present, partial), (&json!(6), &json!(6), &Value::Null), "lock: {has_lock}");
        assert_eq!(missing(&library, run), (vec![], json!(0)), "lock: {has_lock}");
        assert!(!library.text(&["runs"]).contains("of 12"), "lock: {has_lock}");
    }
}

/// Older jobs have no lock: each agent plans the same trials, and those of the other one name the tasks.
#[test]
fn what_is_missing_of_an_agent_is_named_by_the_trials_of_the_other() {
    let library = TestHome::new();
    let job_folder = library.path("job-x");
    job(&job_folder, "the-job", &agents(&["agent-a", "agent-b"]), 2, 12, None);
    for trial in agent_trials("agent-a") {
        trial.write(&job_folder, "the-job", 1.0, true);
    }
    for (task, repeat) in [("a", 1), ("a", 2), ("b", 1)] {
        Trial::new("agent-b", task, repeat).write(&job_folder, "the-job", 1.0, true);
    }
    library.ingest(&job_folder);
    let planned_runs = planned(&library);
    let [(first, first_planned, ..), (second, second_planned, present, partial)] = &planned_runs[..] else {
        panic!("two runs: {planned_runs:?}")
    };
    assert_eq!((first_planned, second_planned, present), (&json!(6), &json!(6), &json!(3)));
    assert_eq!(partial, "3 of 6 trials");
    assert_eq!(missing(&library, first), (vec![], json!(0)));
    let named = ["b", "c", "c"].map(str::to_owned).to_vec();
    assert_eq!(missing(&library, second), (named, json!(0)));

    // Where no trial of a task was begun, nothing names it.
    for name in [Trial::new("agent-a", "c", 1).name(), Trial::new("agent-a", "c", 2).name()] {
        std::fs::remove_dir_all(job_folder.join(name)).expect("removed");
    }
    library.ingest(&job_folder);
    assert_eq!(missing(&library, first), (vec![], json!(2)));
    assert_eq!(missing(&library, second), (vec![], json!(3)));
}

/// Harbor writes the result after the verdict: a copy that was made between the two has the verdict, and no tokens and no cost.
#[test]
fn a_copy_with_a_verdict_and_no_result_does_not_stand_for_the_finished_trial() {
    for order in [["early", "late"], ["late", "early"]] {
        let library = TestHome::new();
        let [early, late] = ["early", "late"].map(|name| library.path(name).join("job-x"));
        for part_folder in [&early, &late] {
            job(part_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
        }
        for (number, trial) in agent_trials("agent-a").iter().enumerate() {
            trial.write(&late, "the-job", 1.0, true);
            if number < 3 {
                trial.write(&early, "the-job", 1.0, number < 2);
            }
        }
        for name in order {
            library.ingest(&library.path(name));
        }
        let compared = library.json(&["compare", "model:model-a"]);
        let member = &compared["runs"][0];
        assert_eq!(member["n"], 6, "{order:?}: {compared}");
        assert_eq!(member["spent"]["cost_usd"], 3.0, "{order:?}: {compared}");
        assert_eq!(member["spent"]["input_tokens"], 6000, "{order:?}: {compared}");
    }
}

/// Of a job that is in the library whole and in part, every trial counts in the whole one, whatever was opened first.
#[test]
fn the_trials_of_a_job_count_in_the_run_that_has_more_of_them() {
    for order in [["part", "whole"], ["whole", "part"]] {
        let library = TestHome::new();
        let [part, whole] = ["part", "whole"].map(|name| library.path(name).join("job-x"));
        for part_folder in [&part, &whole] {
            job(part_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
        }
        for (number, trial) in agent_trials("agent-a").iter().enumerate() {
            trial.write(&whole, "the-job", 1.0, true);
            if number < 3 {
                trial.write(&part, "the-job", 1.0, true);
            }
        }
        for name in order {
            library.ingest(&library.path(name));
        }
        let matrix = library.json(&["matrix"]);
        assert_eq!(matrix["cells"][0]["n"], 6, "{order:?}: {matrix}");
        assert_eq!(matrix["not_comparable"], json!([]), "{order:?}: {matrix}");
        assert!(!matrix["cells"][0]["doubts"].to_string().contains(" of 6 "), "{order:?}: {matrix}");
    }
}

/// A run without trials that count is no member of failures either.
#[test]
fn failures_leave_out_a_run_whose_trials_all_count_elsewhere() {
    let library = TestHome::new();
    for name in ["one", "two"] {
        let job_folder = library.path(name).join("job-x");
        job(&job_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
        for trial in agent_trials("agent-a") {
            trial.write(&job_folder, "the-job", 0.0, true);
        }
        library.ingest(&library.path(name));
    }
    let failures = library.json(&["failures"]);
    assert_eq!(failures["not_comparable"], json!([]), "{failures}");
    assert_eq!(failures["groups"].as_array().map(Vec::len), Some(1), "{failures}");
    assert!(failures["cautions"].to_string().contains("the same trials as in"), "{failures}");
    let figure = library.path("failures.svg");
    let drawn = library.json(&["figure", "failures", "--out", figure.to_str().expect("UTF-8")]);
    let caption = drawn["caption"].as_str().expect("a caption");
    // One member has episodes, and no other one is counted.
    let count = "n = 6 scored trials of 3 tasks, 0 passed, 6 failed";
    assert!(caption.contains(count) && caption.matches(" scored trials of").count() == 1, "{caption}");
}

/// A job whose folder was copied beside it in the folder that is opened.
#[test]
fn a_job_and_its_copy_in_one_source_are_one_run() {
    let library = TestHome::new();
    let folder = library.path("results");
    for name in ["job-x", "job-x copy"] {
        let job_folder = folder.join(name);
        job(&job_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
        for trial in agent_trials("agent-a") {
            trial.write(&job_folder, "the-job", 1.0, true);
        }
    }
    let read = |case: &str| {
        let ingested = library.ingest(&folder);
        let runs = library.run_ids();
        assert_eq!(runs.len(), 1, "{case}: {runs:?}");
        let warnings = ingested["sources"][0]["warnings"].as_array().expect("warnings").clone();
        let duplicates = warnings.into_iter().filter(|warning| warning["code"] == "part.duplicate").count();
        (runs[0].clone(), duplicates)
    };
    let (run, duplicates) = read("at first");
    assert!(duplicates == 1 && !run.contains("copy"), "{run}");
    assert_eq!(read("again"), (run, 1));
    // The copy stands in when the original goes.
    std::fs::remove_dir_all(folder.join("job-x")).expect("removed");
    let (run, duplicates) = read("the copy alone");
    assert_eq!((run.contains("copy"), duplicates), (true, 0), "{run}");
}

/// Half of a job in each of two sources: nothing of it is missing.
#[test]
fn a_job_in_two_sources_is_whole_where_its_runs_are_taken_together() {
    for has_lock in [true, false] {
        let library = TestHome::new();
        let [one, other] = ["one", "other"].map(|name| library.path(name).join("job-x"));
        let trials = agent_trials("agent-a");
        for part_folder in [&one, &other] {
            job(part_folder, "the-job", &agents(&["agent-a"]), 2, 6, has_lock.then_some(&trials[..]));
        }
        for (number, trial) in trials.iter().enumerate() {
            trial.write(if number % 2 == 0 { &one } else { &other }, "the-job", 1.0, true);
        }
        library.ingest(&library.path("one"));
        library.ingest(&library.path("other"));
        for run in library.run_ids() {
            assert_eq!(missing(&library, &run), (vec![], json!(0)), "lock: {has_lock}");
        }
        for answer in [library.json(&["matrix"]), library.json(&["compare", "model:model-a"])] {
            assert!(!answer.to_string().contains("3 of 6"), "lock: {has_lock}: {answer}");
        }
        assert_eq!(library.json(&["matrix"])["cells"][0]["n"], 6);

        // What is in neither of them is missing once.
        std::fs::remove_dir_all(one.join(trials[0].name())).expect("removed");
        library.ingest(&library.path("one"));
        let runs = planned(&library);
        for (run, ..) in &runs {
            // Where no lock names the trials, the other source does, in which each task has one.
            assert_eq!(missing(&library, run), (vec!["a".to_owned()], json!(0)), "{run}, lock: {has_lock}");
        }
        let doubts = &library.json(&["matrix"])["cells"][0]["doubts"];
        assert!(doubts.to_string().matches(" of 6 trials").count() == 1, "{doubts}");
        // It is missing of both runs together: the first alone has 2 of 6.
        let either_order = [(&runs[0].0, &runs[1].0), (&runs[1].0, &runs[0].0)]
            .map(|(a, b)| format!("5 of 6 trials of {a} and {b} (one job)"));
        assert!(either_order.iter().any(|doubt| doubts.to_string().contains(doubt)), "{doubts}");
        // A trial that lies in both is there once.
        trials[1].write(&one, "the-job", 1.0, true);
        library.ingest(&library.path("one"));
        let compared = library.json(&["compare", "model:model-a"]).to_string();
        assert!(compared.contains("5 of 6") && !compared.contains("6 of 6"), "{compared}");
    }
}

/// A trial that lies in two parts of a job and is withdrawn in one of them, or in both, is one withdrawn trial.
#[test]
fn a_withdrawn_trial_of_two_parts_of_a_job_is_one() {
    // By source: its trials, and whether the second trial is withdrawn there. Where it is in one source alone, all others of that
    // source are copies.
    for (early_name, other) in [
        (([0_usize, 1], true), ([1, 2], true)),
        (([0, 1], true), ([1, 2], false)),
        (([0, 1], false), ([1, 2], true)),
        (([0, 2], false), ([0, 1], true)),
    ] {
        let library = TestHome::new();
        let trials = agent_trials("agent-a");
        for (name, (numbers, is_withdrawn)) in [("one", early_name), ("other", other)] {
            let job_folder = library.path(name).join("job-x");
            job(&job_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
            for number in numbers {
                trials[number].write(&job_folder, "the-job", 1.0, true);
            }
            library.ingest(&library.path(name));
            if is_withdrawn {
                let runs = library.run_ids();
                let run = runs.iter().find(|run| run.starts_with(name)).expect("the run of the source");
                library.json(&["withdraw", run, "--trial", &trials[1].name(), "--reason", "network down"]);
            }
        }
        let case = format!("{early_name:?} {other:?}");
        let compared = library.json(&["compare", "model:model-a"]);
        assert_eq!(compared["runs"][0]["n"], 2, "{case}: {compared}");
        for answer in [compared, library.json(&["matrix"])] {
            let answer = answer.to_string();
            assert!(answer.contains("2 of 5 trials") && !answer.contains("2 of 4"), "{case}: {answer}");
            assert!(!answer.contains("2 of 6"), "{case}: {answer}");
            assert!(answer.contains("1 withdrawn trial left out"), "{case}: {answer}");
            assert!(!answer.contains("2 withdrawn"), "{case}: {answer}");
        }
        // A withdrawn trial is there, once: three of six are missing.
        for run in library.run_ids() {
            let (named, unnamed) = missing(&library, &run);
            assert_eq!(named.len() as u64 + unnamed.as_u64().expect("a number"), 3, "{case}: {named:?}");
        }
    }
}

/// One agent and model with two settings: its trials are one run, as in Harbor's own figures, and neither is the setting of the run.
#[test]
fn an_agent_with_two_settings_is_said_to_have_both() {
    let library = TestHome::new();
    let job_folder = library.path("job-x");
    let effort_trial =
        |effort, task, repeat| Trial { effort: Some(effort), ..Trial::new("agent-a", task, repeat) };
    let agents = json!([effort_trial("low", "", 1).agent(), effort_trial("high", "", 1).agent()]);
    job(&job_folder, "the-job", &agents, 2, 8, None);
    for effort in ["low", "high"] {
        for (task, repeat) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
            let reward = if effort == "low" { 0.0 } else { 1.0 };
            effort_trial(effort, task, repeat).write(&job_folder, "the-job", reward, true);
        }
    }
    let ingested = library.ingest(&job_folder);
    let warnings = ingested["sources"][0]["warnings"].as_array().expect("warnings");
    let found: Vec<&Value> = warnings.iter().filter(|w| w["code"] == "harbor.settings_differ").collect();
    let warning = found.iter().map(ToString::to_string).collect::<String>();
    assert!(found.len() == 1 && warning.contains("agent.kwargs.reasoning_effort"), "{warnings:?}");
    assert!(warning.contains("up to 8 values") && !warning.contains("all values"), "{warning}");
    let planned_runs = planned(&library);
    let [(run, planned, present, _)] = &planned_runs[..] else { panic!("one run: {planned_runs:?}") };
    assert_eq!((planned, present), (&json!(8), &json!(8)));

    let other = library.path("job-y");
    job(&other, "other-job", &json!([effort_trial("low", "", 1).agent()]), 2, 2, None);
    for repeat in [1, 2] {
        effort_trial("low", "a", repeat).write(&other, "other-job", 1.0, true);
    }
    library.ingest(&other);
    let ids = library.run_ids();
    let second = ids.iter().find(|id| *id != run).expect("the other run");
    let compared = library.json(&["compare", run, second]);
    let differences = compared["differences"].as_array().expect("differences");
    let effort = differences.iter().find(|d| d["setting"] == "Reasoning effort").expect("the setting");
    assert_eq!(effort["values"], json!(["high, low", "low"]), "{compared}");
}

/// A job that was resumed with a newer version of the agent.
#[test]
fn a_run_of_two_versions_of_its_agent_shows_both() {
    let library = TestHome::new();
    let job_folder = library.path("job-x");
    job(&job_folder, "the-job", &agents(&["agent-a"]), 1, 3, None);
    for (task, version) in [("a", "1.0"), ("b", "2.0"), ("c", "unknown")] {
        let result =
            Trial::new("agent-a", task, 1).write(&job_folder, "the-job", 1.0, true).join("result.json");
        let text =
            std::fs::read_to_string(&result).expect("the result").replace("\"1.0\"", &format!("{version:?}"));
        std::fs::write(result, text).expect("to write");
    }
    let ingested = library.ingest(&job_folder);
    assert_eq!(library.json(&["runs"])[0]["harness_version"], "1.0, 2.0");
    let warnings = ingested["sources"][0]["warnings"].as_array().expect("warnings");
    let found: Vec<&Value> = warnings.iter().filter(|w| w["code"] == "harbor.settings_differ").collect();
    assert!(found.len() == 1 && found[0].to_string().contains("the agent's version"), "{warnings:?}");
}

/// A job of which each task lies in another source: that no task is in both says nothing of the job.
#[test]
fn parts_of_a_job_are_no_different_scenarios_in_the_matrix() {
    let library = TestHome::new();
    let [one, other] = ["one", "other"].map(|name| library.path(name).join("job-x"));
    for part_folder in [&one, &other] {
        job(part_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
    }
    for trial in agent_trials("agent-a") {
        trial.write(if trial.task == "a" { &one } else { &other }, "the-job", 0.0, true);
    }
    library.ingest(&library.path("one"));
    library.ingest(&library.path("other"));
    let matrix = library.json(&["matrix"]);
    assert_eq!((&matrix["not_comparable"], &matrix["cells"][0]["n"]), (&json!([]), &json!(6)), "{matrix}");
    assert!(!matrix["cautions"].to_string().contains("not comparable"), "{matrix}");
    let failures = library.json(&["failures"]);
    assert_eq!(failures["not_comparable"], json!([]), "{failures}");

    // Neither source has a trial of each task; both together name what is missing.
    std::fs::remove_dir_all(other.join(Trial::new("agent-a", "b", 2).name())).expect("removed");
    library.ingest(&library.path("other"));
    for run in library.run_ids() {
        assert_eq!(missing(&library, &run), (vec!["b".to_owned()], json!(0)), "{run}");
    }
}

/// The score of a group is over the trials that count, as its pass rate is: of a trial in two sources one, of a withdrawn one none.
#[test]
fn the_score_of_a_group_is_over_the_trials_that_count() {
    let library = TestHome::new();
    let trials = agent_trials("agent-a");
    // Tasks a, b and c pass twice, once and never.
    let rewards = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    for (source, numbers) in [("p", 0..3), ("q", 2..6)] {
        let job_folder = library.path(source).join("job-x");
        job(&job_folder, "the-job", &agents(&["agent-a"]), 2, 6, None);
        for number in numbers {
            trials[number].write(&job_folder, "the-job", rewards[number], true);
        }
        library.ingest(&library.path(source));
    }
    let score_and_rate = || {
        let member = library.json(&["compare", "harness:agent-a"])["runs"][0].clone();
        (member["score"].as_f64().expect("a score"), member["pass_rate"]["value"].as_f64().expect("a rate"))
    };
    let is_near = |found: (f64, f64), right: (f64, f64)| {
        assert!((found.0 - right.0).abs() < 1e-9 && (found.1 - right.1).abs() < 1e-9, "{found:?} {right:?}");
    };
    // Both parts are one job: 100, 50 and 0 of its tasks, not the mean of 100 and 25.
    is_near(score_and_rate(), (50.0, 0.5));
    let planned_runs = planned(&library);
    let (p_run, shared_trial) = (planned_runs[0].0.as_str(), trials[2].name());
    library.text(&["withdraw", p_run, "--trial", &shared_trial, "--reason", "wrong image"]);
    // Of task b the trial that failed is left, also in q.
    is_near(score_and_rate(), (100.0 / 3.0, 2.0 / 5.0));
}
