//! `stamina rerun-list`: the trials to run again and how their runners are told, and sources of one name.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::TestHome;
use crate::folders::{copy, fixtures};

fn library_of(sources: &[&Path]) -> TestHome {
    let library = TestHome::new();
    for source in sources {
        library.ingest(source);
    }
    library
}

/// Task, whether the trial is there, why.
fn trials(list: &Value) -> Vec<(String, bool, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let trials = list["trials"].as_array().expect("trials");
    trials.iter().map(|t| (text(&t["task"]), t["trial"].is_string(), text(&t["why"]))).collect()
}

#[test]
fn a_harbor_job_gives_censored_unreadable_and_missing_trials() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("failures-k1");
    copy(&fixtures().join("harbor/jobs/failures-k1"), &job);
    // One that was planned is not there any more.
    let removed = fs::read_dir(&job)
        .expect("the job")
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("theme_v1_"))
        .expect("the trial");
    fs::remove_dir_all(removed.path()).expect("removed");
    let library = library_of(&[&job]);
    let run = library.run_ids().remove(0);
    let list = library.json(&["rerun-list", &run]);
    let v = |name: &str| name.to_owned();
    assert_eq!(
        trials(&list),
        [
            (v("theme_v1_w1_notes_regression"), false, v("missing")),
            (v("theme_v2_w1_notes_abort_no_reward"), true, v("unreadable")),
            (v("theme_v6_w1_notes_env_broken"), true, v("censored")),
        ]
    );
    assert_eq!((&list["runner"], &list["unnamed"]), (&json!("harbor run"), &json!(0)));
    let command = &list["commands"][0];
    assert_eq!(
        command["flags"],
        "--path tasks --include-task-name theme_v1_w1_notes_regression --include-task-name \
         theme_v2_w1_notes_abort_no_reward --include-task-name theme_v6_w1_notes_env_broken --n-attempts 1"
    );
    let yaml = command["yaml"].as_str().expect("YAML");
    assert!(
        yaml.starts_with("n_attempts: 1\ndatasets:\n- path: \"tasks\"\n  task_names:\n  - \"theme_v1_w1"),
        "{yaml}"
    );
    let only = |flag: &str| trials(&library.json(&["rerun-list", &run, flag])).len();
    assert_eq!((only("--censored"), only("--unreadable"), only("--missing")), (1, 1, 1));
    let text = library.text(&["rerun-list", &run, "--censored"]);
    assert!(
        text.starts_with(&format!("{run}: 1 trial to run again")) && text.contains("censored, environment"),
        "{text}"
    );
    assert!(text.contains("flags of `harbor run`:\n--path tasks --include-task-name theme_v6_w1"), "{text}");

    // Without the lock nothing names what is missing.
    fs::remove_file(job.join("lock.json")).expect("removed");
    let ingested = library.ingest(&job);
    let warnings = ingested["sources"][0]["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().all(|w| w["code"] != "file.missing"), "{warnings:?}");
    let list = library.json(&["rerun-list", &run, "--missing"]);
    assert_eq!((trials(&list).len(), &list["unnamed"]), (0, &json!(1)));
    assert!(library.text(&["rerun-list", &run]).contains("1 trial more planned and not there"));
}

/// A job that was copied while it ran, and the job when it was done: nobody needs to run again what has ended since.
#[test]
fn a_trial_that_ended_after_its_copy_was_made_is_not_run_again() {
    let whole = fixtures().join("harbor/jobs/failures-k1");
    let folder = tempfile::tempdir().expect("a folder");
    let copied = folder.path().join("copied-early");
    copy(&whole, &copied);
    let trial = copied.join("theme_v1_w1_notes_regression__FbTCbSY");
    fs::remove_file(trial.join("result.json")).expect("removed");
    fs::remove_dir_all(trial.join("steps")).expect("removed");
    let library = library_of(&[&copied]);
    let run = library.run_ids().remove(0);
    let list = || trials(&library.json(&["rerun-list", &run]));
    let censored = ("theme_v1_w1_notes_regression".to_owned(), true, "censored".to_owned());
    let alone = list();
    assert!(alone.contains(&censored), "{alone:?}");
    library.ingest(&whole);
    let rest: Vec<_> = alone.iter().filter(|listed| **listed != censored).cloned().collect();
    assert_eq!(list(), rest);
    assert_eq!(rest.len(), 2);
    // A run that is withdrawn says nothing of it.
    let other = library.run_ids().into_iter().find(|id| *id != run).expect("the whole job");
    library.json(&["withdraw", &other, "--reason", "wrong image"]);
    assert_eq!(list(), alone);
}

#[test]
fn a_run_of_tb_and_one_of_staminabench_are_told_in_their_own_words() {
    let library = library_of(&[&fixtures().join("terminal_bench/run-a")]);
    let list = library.json(&["rerun-list", &library.run_ids()[0], "--censored", "--missing"]);
    assert_eq!(list["runner"], "tb run");
    let flags: Vec<&str> = list["commands"]
        .as_array()
        .expect("commands")
        .iter()
        .map(|c| c["flags"].as_str().expect("flags"))
        .collect();
    // Both trials of task-c are censored, and both of task-e are missing.
    assert_eq!(flags, ["--dataset 'set-a==0.1.1' --task-id task-c --task-id task-e --n-attempts 2"]);
    assert_eq!(trials(&list).len(), 4);

    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("own");
    copy(&fixtures().join("staminabench/own"), &run);
    let config = fs::read_to_string(run.join("config.yaml")).expect("the configuration");
    assert!(config.contains("n_scenarios:"), "{config}");
    let library = library_of(&[&run]);
    let list = library.json(&["rerun-list", &library.run_ids()[0]]);
    assert_eq!(list["runner"], "stamina run");
    for command in list["commands"].as_array().expect("commands") {
        let flags = command["flags"].as_str().expect("flags");
        assert!(flags.starts_with("--values restful_server_gen_iterative.execute_episodes="), "{flags}");
    }
}

/// Folders of scenarios that are called otherwise, or counted from 1, are there all the same.
#[test]
fn scenarios_of_others_are_missing_only_where_they_are() {
    let given = fixtures().join("staminabench/nested_folders");
    assert!(given.join("scenario-1").is_dir());
    let folder = tempfile::tempdir().expect("a folder");
    let [from_one, one_only] = ["from-one", "one-only"].map(|name| folder.path().join(name));
    for run in [&from_one, &one_only] {
        copy(&given, run);
    }
    for (name, target) in [("scenario-1", "scenario-2"), ("scenario-0", "scenario-1")] {
        fs::rename(from_one.join(name), from_one.join(target)).expect("renamed");
    }
    fs::remove_dir_all(one_only.join("scenario-1")).expect("removed");
    let missing = |run: &Path| {
        let library = library_of(&[run]);
        let list = library.json(&["rerun-list", &library.run_ids()[0], "--missing"]);
        let commands = list["commands"].as_array().expect("commands").iter();
        let flags: Vec<Value> = commands.map(|command| command["flags"].clone()).collect();
        (trials(&list), flags)
    };
    assert_eq!(missing(&given), (vec![], vec![]));
    assert_eq!(missing(&from_one), (vec![], vec![]));
    // Of three that count from 1 the second is missing, which the setting calls 1.
    fs::rename(from_one.join("scenario-2"), from_one.join("scenario-3")).expect("renamed");
    let config = fs::read_to_string(from_one.join("config.yaml")).expect("the configuration");
    let more = config.replace("n_scenarios: 2", "n_scenarios: 3");
    assert_ne!(more, config);
    fs::write(from_one.join("config.yaml"), more).expect("a file");
    let (trials_from_one, flags) = missing(&from_one);
    assert_eq!(trials_from_one, [("scenario_2".to_owned(), false, "missing".to_owned())]);
    assert_eq!(flags, ["--values restful_server_gen_iterative.execute_episodes=1"]);
    let (trials, flags) = missing(&one_only);
    assert_eq!(trials, [("scenario_1".to_owned(), false, "missing".to_owned())]);
    assert_eq!(flags, ["--values restful_server_gen_iterative.execute_episodes=1"]);
}

/// The index of a published site names the tasks that have no file.
#[test]
fn a_task_that_only_the_index_names_is_named() {
    let library = library_of(&[&fixtures().join("evocode")]);
    for run in library.run_ids() {
        let list = library.json(&["rerun-list", &run, "--missing"]);
        assert_eq!(trials(&list), [("task_three".to_owned(), false, "missing".to_owned())], "{run}");
        assert_eq!(list["unnamed"], 0, "{run}");
    }
}

#[test]
fn sources_of_one_name_show_the_part_of_the_path_that_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs: Vec<PathBuf> =
        ["one", "two"].iter().map(|name| folder.path().join(name).join("input")).collect();
    for input in &inputs {
        copy(&fixtures().join("terminal_bench/run-a"), input);
    }
    let library = library_of(&[&inputs[0], &inputs[1], &fixtures().join("evocode")]);
    let mut labels: Vec<String> = (library.json(&["sources"]).as_array().expect("sources").iter())
        .map(|source| source["label"].as_str().expect("a label").to_owned())
        .collect();
    labels.sort();
    assert_eq!(labels, ["evocode", "one/input", "two/input"]);
    let runs = library.json(&["runs", "--text", "agent-a"]);
    for run in runs.as_array().expect("runs") {
        assert_eq!(run["source"], "input");
        assert!(run["source_label"].as_str().expect("a label").ends_with("/input"), "{run}");
    }
    let text = library.text(&["runs"]);
    assert!(text.contains("source") && text.contains("one/input") && text.contains("two/input"), "{text}");
    assert!(library.text(&["import-report", "two/input"]).contains("two/input"));
}
