//! What makes a number less sure than it looks stands wherever the number stands, in the same words.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::app::TestHome;
use crate::folders;

/// Nine episodes of three turns, four of which the environment stopped in turn 2; two tasks have two episodes.
fn table() -> String {
    let mut rows =
        "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns\n".to_owned();
    let episodes = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("d", 1), ("e", 1), ("f", 1), ("g", 1)];
    for (index, (scenario, repeat)) in episodes.iter().enumerate() {
        for turn in 1..=3 {
            let stopped = index < 4 && turn == 2;
            let (passed, end) = match (stopped, index == 8 && turn == 3) {
                (true, _) => ("", "environment"),
                (false, true) => ("false", ""),
                (false, false) => ("true", ""),
            };
            writeln!(rows, "one,h,m,{scenario},{repeat},{turn},1,{passed},{end},3").expect("a row");
            if stopped {
                break;
            }
        }
    }
    rows
}

#[test]
fn a_number_that_is_less_sure_says_so_wherever_it_stands() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("attempts.csv");
    fs::write(&path, table()).expect("a table");
    home.ingest(&path);
    let runs = home.json(&["runs"]);
    let run = runs[0]["id"].as_str().expect("an id").to_owned();
    let doubts: Vec<&str> =
        runs[0]["doubts"].as_array().expect("doubts").iter().filter_map(|doubt| doubt.as_str()).collect();
    let stopped = "4 of 9 episodes stopped from outside before turn 3";
    let repeats = "several episodes of a scenario, interval by scenario";
    assert_eq!(doubts, [stopped, repeats]);

    let listed = home.text(&["runs"]);
    assert!(listed.contains("*  "), "the number has a star: {listed}");
    for arguments in [
        vec!["runs"],
        vec!["show", &run],
        vec!["survival", &run],
        vec!["compare", &run],
        vec!["compare", &run, "--json"],
        vec!["table", "library"],
        vec!["table", "runs", &run],
        vec!["table", "survival", &run],
        vec!["rpc", "get_run", &format!("{{\"run\": \"{run}\"}}")],
    ] {
        let printed = home.text(&arguments);
        assert!(printed.contains(stopped) && printed.contains(repeats), "{arguments:?}: {printed}");
    }
    for figure in ["survival", "bars"] {
        let out = home.path(&format!("{figure}.svg"));
        let out = out.to_str().expect("UTF-8");
        let caption = home.json(&["figure", figure, &run, "--out", out])["caption"].to_string();
        assert!(caption.contains(stopped) && caption.contains(repeats), "{figure}: {caption}");
    }
    // What has no such interval says nothing of it.
    let sums: [(&str, &[&str]); 2] = [("bars", &["--measure", "score"]), ("first-failures", &[])];
    for (figure, measure) in sums {
        let out = home.path(&format!("{figure}-of-sums.svg"));
        let mut arguments = vec!["figure", figure, &run, "--out", out.to_str().expect("UTF-8")];
        arguments.extend(measure);
        let caption = home.json(&arguments)["caption"].to_string();
        assert!(
            caption.contains(stopped) && !caption.contains("interval by scenario"),
            "{figure}: {caption}"
        );
    }
    // So do the cautions of a comparison, on its page, in a terminal and with its table.
    let compared = home.json(&["compare", &run]);
    let cautions =
        compared["cautions"].as_array().expect("cautions").iter().filter_map(|sentence| sentence.as_str());
    let [text, table] = [home.text(&["compare", &run]), home.text(&["table", "runs", &run])];
    assert!(cautions.clone().count() > 2, "{compared}");
    for caution in cautions {
        assert!(text.contains(caution) && table.contains(caution), "{caution}: {text}{table}");
    }
    let spent = home.text(&["table", "spent", &run]);
    assert!(spent.contains(stopped) && !spent.contains("interval by scenario"), "{spent}");
}

/// Tasks as EvoCode-Bench lays them out, of which two were run and one of these twice.
fn tasks(folder: &std::path::Path) {
    for task in ["a", "b", "c", "d"] {
        fs::create_dir_all(folder.join(task)).expect("a folder");
        fs::write(folder.join(task).join("task.toml"), "version = \"1.0\"\n").expect("a task");
    }
    for (task, trial) in [("a", "a__1"), ("a", "a__2"), ("b", "b__1")] {
        let trial_folder = folder.join(task).join("harbor_jobs/model-a/2026-01-01__10-00-00").join(trial);
        fs::create_dir_all(trial_folder.join("verifier")).expect("a folder");
        fs::write(trial_folder.join("verifier/reward.txt"), "1").expect("a reward");
        let config = json!({
            "task": { "path": format!("tasks/{task}") }, "trial_name": trial,
            "agent": { "name": "agent-a", "model_name": "vendor/model-a" },
        });
        fs::write(trial_folder.join("config.json"), config.to_string()).expect("a configuration");
        let result = json!({
            "id": format!("id-{trial}"), "task_name": task, "trial_name": trial, "config": config,
            "verifier_result": { "rewards": { "reward": 1.0 } },
            "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:10:00Z",
        });
        fs::write(trial_folder.join("result.json"), result.to_string()).expect("a result");
    }
}

/// What is missing of the only run of a library, and what is counted of it.
fn coverage(home: &TestHome) -> Value {
    let run = &home.json(&["runs"])[0];
    let names = ["partial", "doubts", "coverage", "score", "dataset_score", "perfect", "stamina"];
    names.map(|name| run[name].clone()).to_vec().into()
}

#[test]
fn repeats_of_a_task_are_no_tasks_there_and_back() {
    let home = TestHome::new();
    let folder = home.path("set-a");
    tasks(&folder);
    home.ingest(&folder);
    let (before, run) = (coverage(&home), home.run_ids().remove(0));
    assert_eq!((&before[0], &before[2]["present"]), (&json!("2 of 4 tasks"), &json!(3)), "{before}");
    assert_eq!(before[4], 50.0, "{before}");
    for arguments in [["show", &run], ["compare", &run]] {
        assert!(home.text(&arguments).contains("2 of 4 tasks"), "{arguments:?}");
    }
    let table = home.path("attempts.csv");
    home.text(&["table", "tidy", &run, "--out", table.to_str().expect("UTF-8")]);
    let other = TestHome::new();
    other.ingest(&table);
    assert_eq!(coverage(&other), before);
}

/// Of a table without `planned_turns` only a comparison said that the score may be too high, and of a job of Harbor whose steps
/// are not known only its import report.
#[test]
fn a_score_over_an_unknown_number_of_turns_is_in_doubt_wherever_it_stands() {
    let home = TestHome::new();
    let path = home.path("attempts.csv");
    let header = "run,harness,model,scenario,turn,attempt,passed\n";
    let rows = "a,h,m,s,1,1,1\na,h,m,s,2,1,1\na,h,m,s,3,1,0\nb,h,m,s,1,1,1\nb,h,m,s,2,1,0\n";
    fs::write(&path, format!("{header}{rows}")).expect("a table");
    home.ingest(&path);
    let table_runs = home.run_ids();
    assert_eq!(table_runs.len(), 2);

    let job = home.path("failures-k1");
    test_folders::copy(&folders::fixtures().join("harbor/jobs/failures-k1"), &job);
    for trial in fs::read_dir(&job).expect("a job").flatten().filter(|trial| trial.path().is_dir()) {
        fs::remove_file(trial.path().join("trial.log")).expect("the log of a trial");
    }
    home.ingest(&job);
    let job_run = home.run_ids().into_iter().find(|run| !table_runs.contains(run)).expect("a run");

    let doubt = "the most turns seen stand in for it, so the score may be too high";
    for run in table_runs.iter().chain([&job_run]) {
        for arguments in [
            vec!["runs"],
            vec!["show", run],
            vec!["compare", run],
            vec!["table", "library"],
            vec!["table", "runs", run],
            vec!["table", "scores", run],
            vec!["rpc", "get_run", &json!({ "run": run }).to_string()],
        ] {
            let printed = home.text(&arguments);
            assert!(printed.contains(doubt), "{arguments:?}: {printed}");
        }
        let caption = |figure: &[&str]| {
            let out = home.path(&format!("{run}-{}.svg", figure[0]));
            let ends = [run.as_str(), "--out", out.to_str().expect("UTF-8")];
            home.json(&[&["figure"][..], figure, &ends].concat())["caption"].to_string()
        };
        assert!(caption(&["bars", "--measure", "score"]).contains(doubt), "{run}");
        // What shows no score says nothing of it.
        assert!(!caption(&["survival"]).contains(doubt), "{run}");
    }
    let rows = home.json(&["runs"]);
    let doubts = |run: &str| {
        let mut rows = rows.as_array().expect("runs").iter();
        rows.find(|row| row["id"] == run).expect("the run")["doubts"].clone()
    };
    let unknown = "the declared number of turns is unknown for";
    let table_doubt = format!("{unknown} 1 of 1 episode (give the column planned_turns), and {doubt}");
    assert_eq!(doubts(&table_runs[1]), json!([table_doubt]), "it says what to do");
    let job_doubts = doubts(&job_run).to_string();
    assert!(job_doubts.contains("(open the folder of the task together with the job), and"), "{job_doubts}");
}
