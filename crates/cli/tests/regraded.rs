//! Trials of Harbor that were graded again (`harbor job regrade`): each is one trial with several verdicts, of which the last counts
//! unless a user chooses another one.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::TestHome;
use crate::folders;

/// A job of two trials, whose names end with those of the job. `original` names the job whose trials it grades again.
struct Job<'a> {
    name: &'a str,
    original: Option<&'a str>,
    /// The reward of both; `None` = the verifier came to none.
    reward: Option<f64>,
    /// The hour in which it was graded.
    hour: u32,
}

const PLAYED: Job<'static> = Job { name: "played", original: None, reward: Some(0.0), hour: 10 };
const REGRADED: Job<'static> =
    Job { name: "regraded", original: Some("played"), reward: Some(1.0), hour: 11 };

impl Job<'_> {
    fn write(&self, folder: &Path) {
        self.write_tasks(folder, &["a", "b"]);
    }

    /// The same as one job of each task, as the jobs of EvoCode-Bench lie.
    fn write_by_task(&self, set: &Path) {
        for task in ["a", "b"] {
            self.write_tasks(&set.join(task).join("harbor_jobs/model-a"), &[task]);
        }
    }

    fn write_tasks(&self, source_folder: &Path, tasks: &[&str]) {
        let source_folder = source_folder.join(self.name);
        let agent = json!({ "name": "agent-a", "model_name": "vendor/model-a" });
        let mut locked = Vec::new();
        for task in tasks {
            let name = format!("{task}__{}", self.name);
            let source = self.original.map(|original| {
                json!({ "action": "regrade", "type": "local", "trial_id": format!("{original}-{task}"), "path": "/gone" })
            });
            let config = json!({
                "task": { "path": format!("tasks/{task}"), "source": "set-a" }, "trial_name": name, "job_id": self.name,
                "agent": agent, "source_trial": source,
            });
            locked.push(json!({ "task": config["task"], "agent": agent, "source_trial": source }));
            let time = |minute: u32| format!("2026-01-01T{}:{minute:02}:00.000001Z", self.hour);
            let rewards = self.reward.map(|reward| json!({ "rewards": { "reward": reward } }));
            let result = json!({
                "id": format!("{}-{task}", self.name), "task_name": task, "trial_name": name, "source": "set-a",
                "config": config, "agent_info": { "name": "agent-a", "version": "1.0" }, "verifier_result": rewards,
                "agent_result": { "n_input_tokens": 100, "n_output_tokens": 10, "cost_usd": 0.5 },
                "started_at": time(0), "finished_at": time(9), "verifier": { "started_at": time(1), "finished_at": time(2) },
            });
            write(&source_folder.join(&name).join("config.json"), &config);
            write(&source_folder.join(&name).join("result.json"), &result);
        }
        write(
            &source_folder.join("config.json"),
            &json!({ "job_name": self.name, "agents": [agent], "datasets": [{ "path": "tasks" }] }),
        );
        let id = format!("{} of {tasks:?}", self.name);
        write(&source_folder.join("result.json"), &json!({ "id": id, "n_total_trials": tasks.len() }));
        write(
            &source_folder.join("lock.json"),
            &json!({ "harbor": { "version": "0.26.0" }, "trials": locked }),
        );
    }
}

fn write(file: &Path, value: &Value) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("to make it");
    std::fs::write(file, value.to_string()).expect("to write");
}

/// A library with these jobs, each in a source of its own.
fn library(jobs: &[&Job<'_>]) -> TestHome {
    let library = TestHome::new();
    for job in jobs {
        job.write(&library.path("jobs"));
        library.ingest(&library.path("jobs").join(job.name));
    }
    library
}

fn run_of(library: &TestHome, job: &str) -> String {
    library.run_ids().into_iter().find(|run| run.starts_with(job)).expect("its run")
}

/// The number of episodes of the one cell of the matrix, and their mean stamina.
fn pooled(library: &TestHome) -> (Value, Value) {
    let matrix = library.json(&["matrix"]);
    assert_eq!(matrix["cells"].as_array().map(Vec::len), Some(1), "{matrix}");
    (matrix["cells"][0]["n"].clone(), matrix["cells"][0]["mean_stamina"]["value"].clone())
}

#[test]
fn a_trial_that_was_graded_again_counts_once_with_its_last_verdict() {
    for jobs in [[&PLAYED, &REGRADED], [&REGRADED, &PLAYED]] {
        let library = library(&jobs);
        assert_eq!(pooled(&library), (json!(2), json!(1.0)));
        assert_eq!(library.json(&["failures"])["attempts"], 0, "of the last verdicts none is a failure");
        let [played, regraded] = ["played", "regraded"].map(|job| run_of(&library, job));
        let compared = library.json(&["compare", &played, &regraded]);
        assert_eq!(compared["pairs"][0]["in_both"], 1, "one run of each is in both: {compared}");
        assert!(compared["pairs"][0]["logrank"].is_null(), "{compared}");
        let copies = library.json(&["copies", &played]);
        assert_eq!(copies["copies"][0]["counted_in"], json!(regraded), "{copies}");
        // Each is whole by itself, and the other one can be chosen.
        for run in library.json(&["runs"]).as_array().expect("runs") {
            assert_eq!(run["stamina"]["n"], 2, "{run}");
        }
        library.json(&["copies", &played, "--count-here"]);
        assert_eq!(pooled(&library), (json!(2), json!(0.0)));
    }
}

#[test]
fn gradings_in_one_source_stay_and_copies_of_one_do_not() {
    let library = TestHome::new();
    let jobs = library.path("jobs");
    PLAYED.write(&jobs);
    REGRADED.write(&jobs);
    folders::copy(&jobs.join("regraded"), &jobs.join("regraded copy"));
    let ingested = library.ingest(&jobs);
    assert_eq!(library.run_ids().len(), 2, "{ingested}");
    assert_eq!(pooled(&library), (json!(2), json!(1.0)));
}

#[test]
fn a_grading_of_a_grading_is_of_the_trial_that_was_played() {
    let again = Job { name: "again", original: Some("regraded"), reward: Some(0.0), hour: 12 };
    assert_eq!(pooled(&library(&[&again, &PLAYED, &REGRADED])), (json!(2), json!(0.0)));
    let second = Job { original: Some("played"), ..again };
    assert_eq!(
        pooled(&library(&[&second, &REGRADED])),
        (json!(2), json!(0.0)),
        "the trial itself is not there"
    );
    // What came to no verdict is no later grading.
    let failed = Job { reward: None, ..second };
    assert_eq!(pooled(&library(&[&failed, &PLAYED, &REGRADED])), (json!(2), json!(1.0)));
}

/// The one run of jobs that lie beside each other, each task with its own, and its number of episodes and mean stamina.
fn run_from_jobs(jobs: &[&Job<'_>]) -> (TestHome, Value) {
    let library = TestHome::new();
    for job in jobs {
        job.write_by_task(&library.path("set"));
    }
    library.ingest(&library.path("set"));
    let runs = library.json(&["runs"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    (library, runs[0].clone())
}

#[test]
fn gradings_in_one_run_count_once_with_the_last_verdict() {
    let again = Job { name: "again", original: Some("regraded"), reward: Some(0.0), hour: 12 };
    let failed = Job { name: "again", original: Some("played"), reward: None, hour: 12 };
    for (jobs, mean) in [
        (vec![&PLAYED, &REGRADED], 1.0),
        (vec![&PLAYED, &REGRADED, &again], 0.0),
        (vec![&PLAYED, &REGRADED, &failed], 1.0),
        (vec![&PLAYED, &failed], 0.0),
    ] {
        let (library, run) = run_from_jobs(&jobs);
        assert_eq!((&run["stamina"]["n"], &run["stamina"]["mean"]), (&json!(2), &json!(mean)), "{run}");
        assert_eq!(run["coverage"], json!({ "planned": 2, "present": 2, "scored": 2 }), "{run}");
        let missing = library.json(&["rerun-list", run["id"].as_str().expect("its id"), "--missing"]);
        assert_eq!(missing["trials"], json!([]), "{missing}");
    }
    // Where the trial that was played is not there, its gradings are the ones that were planned.
    let second = Job { original: Some("played"), ..again };
    let (_, run) = run_from_jobs(&[&REGRADED, &second]);
    assert_eq!((&run["stamina"]["n"], &run["stamina"]["mean"]), (&json!(2), &json!(0.0)), "{run}");
    assert_eq!(run["coverage"]["planned"], 2, "{run}");
}

#[test]
fn a_grading_that_counts_in_its_run_is_a_copy_of_the_trial_in_another_source() {
    let again = Job { name: "again", original: Some("regraded"), reward: Some(0.0), hour: 12 };
    let (library, _) = run_from_jobs(&[&PLAYED, &REGRADED, &again]);
    // The jobs of both tasks have one name here and one result each there: the trial is known by its id.
    let other = library.path("other");
    PLAYED.write_by_task(&other);
    library.ingest(&other);
    assert_eq!(pooled(&library), (json!(2), json!(0.0)));
}
