//! Which trials belong together: jobs, lone trials, the layout of EvoCode-Bench, and names of folders.

use std::path::{Path, PathBuf};

use files::Tree;
use test_folders::copy;

use crate::harbor::{Read, V1, V2, V5, fixture, letters, read, write};
use crate::hostile_kit::{ZipEntry, files_of, zip};

#[test]
fn trials_without_a_job_are_read_as_one() {
    let dir = tempfile::tempdir().unwrap();
    for trial in [V1, V5] {
        copy(&fixture().join("jobs/failures-k1").join(trial), &dir.path().join("trials").join(trial));
    }
    let read = read(dir.path());
    assert_eq!(read.runs.len(), 1);
    assert_eq!((read.runs[0].key.as_str(), read.runs[0].planned_episodes), ("trials/oracle", None));
    assert_eq!(read.episodes_of("trials/oracle").len(), 2);
    assert_eq!(read.codes(), ["harbor.no_job_files"]);
}

#[test]
fn the_layout_of_evocode_bench_gives_one_run_per_model() {
    let dir = tempfile::tempdir().unwrap();
    let tasks =
        ["theme_t1_w1_notes_cli", "theme_v2_w1_notes_abort_no_reward", "theme_v6_w1_notes_env_broken"];
    for task in tasks {
        copy(&fixture().join("tasks").join(task), &dir.path().join(task));
    }
    let place = |job_name: &str, trial: &str, task: &str, bucket: &str| {
        let job = dir.path().join(task).join("harbor_jobs").join(bucket).join("2026-11-21__07-30-38");
        copy(&fixture().join("jobs").join(job_name).join(trial), &job.join(trial));
        for file in ["config.json", "result.json", "lock.json"] {
            std::fs::copy(fixture().join("jobs").join(job_name).join(file), job.join(file)).unwrap();
        }
    };
    place("failures-k1", V2, tasks[1], "oracle");
    place("oracle-k2", "theme_t1_w1_notes_cli__H5GwjG9", tasks[0], "oracle");
    place("terminus2-mock-priced", "theme_t1_w1_notes_cli__xVc8kuG", tasks[0], "gpt-4o-mini");
    let all = read(dir.path());
    let mut keys: Vec<&str> = all.runs.iter().map(|r| r.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["gpt-4o-mini/terminus-2", "oracle/oracle"]);
    let turns: Vec<String> = all.episodes_of("oracle/oracle").iter().map(|e| letters(e)).collect();
    assert_eq!(turns, ["pppp", "ppen"]);
    // A task that was never run counts as 0, as in the published scores.
    let totals = &all.run("gpt-4o-mini/terminus-2").reported.totals_only;
    let zero: Vec<(&str, Option<u32>, Option<f64>)> =
        totals.iter().map(|t| (t.scenario.as_str(), t.turns, t.passed_turns)).collect();
    assert_eq!(zero, [(tasks[1], Some(4), Some(0.0)), (tasks[2], Some(4), Some(0.0))]);
    assert!(all.codes().contains(&"harbor.task_not_run"));
    assert_eq!(all.parts.len(), 2);

    // Nor was it run where a job is there that began no trial.
    let job = dir.path().join(tasks[2]).join("harbor_jobs/gpt-4o-mini/2026-11-22__07-30-38");
    std::fs::create_dir_all(&job).unwrap();
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(fixture().join("jobs/terminus2-mock-priced").join(file), job.join(file)).unwrap();
    }
    let run = read(dir.path()).run("gpt-4o-mini/terminus-2").clone();
    let zero: Vec<&str> = run.reported.totals_only.iter().map(|t| t.scenario.as_str()).collect();
    assert_eq!(zero, [tasks[1], tasks[2]]);
    std::fs::remove_dir_all(&job).unwrap();

    // One task's folder alone.
    let single = read(&dir.path().join(tasks[0]));
    assert_eq!(single.runs.len(), 2);
    assert!(single.episodes.iter().all(|(_, e)| letters(e) == "pppp" && e.planned_turns == Some(4)));
}

#[test]
fn as_many_episodes_are_planned_in_the_layout_of_evocode_bench_as_the_tasks_to_run_again_name() {
    let dir = tempfile::tempdir().unwrap();
    let tasks =
        ["theme_t1_w1_notes_cli", "theme_v2_w1_notes_abort_no_reward", "theme_v6_w1_notes_env_broken"];
    for task in tasks {
        copy(&fixture().join("tasks").join(task), &dir.path().join(task));
    }
    let (original, trial) = (fixture().join("jobs/oracle-k2"), "theme_t1_w1_notes_cli__H5GwjG9");
    let job = dir.path().join(tasks[0]).join("harbor_jobs/oracle/2026-11-21__07-30-38");
    copy(&original.join(trial), &job.join(trial));
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(original.join(file), job.join(file)).unwrap();
    }
    let tree = Tree::open(dir.path()).unwrap();
    let planned = ingest::view::planned(&tree, "harbor", "", "oracle/oracle").unwrap();
    let names: Vec<&str> = planned.iter().map(|planned| planned.scenario.as_str()).collect();
    assert!(names.contains(&tasks[1]) && names.contains(&tasks[2]), "neither was run: {names:?}");
    let all: u32 = planned.iter().map(|planned| planned.episodes).sum();
    assert_eq!(read(dir.path()).run("oracle/oracle").planned_episodes, Some(all));
}

#[test]
fn one_trial_of_two_is_spoken_of_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| write(&dir.path().join("job").join(name), text);
    file("config.json", r#"{"job_name": "job", "agents": [{"name": "h", "model_name": "m"}]}"#);
    file("result.json", r#"{"id": "x", "n_total_trials": 2}"#);
    file("a__1234567/config.json", r#"{"task": {"path": "/x/a"}, "trial_name": "a__1234567"}"#);
    let read = read(dir.path());
    let missing =
        read.report.warnings.iter().find(|warning| warning.code == "harbor.trials_missing").unwrap();
    assert!(missing.message.starts_with("The job planned 2 trials and has 1 trial folder."), "{missing:?}");
}

/// A job without a lock, of which the only trial is of task `a`.
#[test]
fn tasks_that_a_configuration_names_are_planned_where_no_trial_of_them_was_begun() {
    let by_name = r#""datasets": [{"path": "tasks", "task_names": ["a", "b"]}], "tasks": [{"path": "/x/c"}]"#;
    let table = [
        (by_name, 3, Some(vec![("a", 1), ("b", 1), ("c", 1)])),
        // More were planned than are named.
        (by_name, 4, None),
        (r#""datasets": [{"path": "tasks", "task_names": ["a", "b*"]}]"#, 2, None),
        (
            r#""n_attempts": 2, "datasets": [{"name": "set", "task_names": ["org/a", "b"]}]"#,
            4,
            Some(vec![("a", 2), ("b", 2)]),
        ),
        (r#""datasets": [{"path": "tasks"}]"#, 1, Some(vec![("a", 1)])),
    ];
    for (named, all, want) in table {
        let dir = tempfile::tempdir().unwrap();
        let agent = r#"{"name": "h", "model_name": "m"}"#;
        let file = |name: &str, text: &str| write(&dir.path().join("job").join(name), text);
        file("config.json", &format!(r#"{{"job_name": "job", "agents": [{agent}], {named}}}"#));
        file("result.json", &format!(r#"{{"id": "x", "n_total_trials": {all}}}"#));
        let trial = r#"{"task": {"path": "/x/a"}, "trial_name": "a__1234567", "agent": AGENT}"#;
        file("a__1234567/config.json", &trial.replace("AGENT", agent));
        let tree = Tree::open(dir.path()).unwrap();
        let planned = ingest::view::planned(&tree, "harbor", "job", "job/h/m");
        let planned = planned.as_ref().map(|planned| {
            planned.iter().map(|cell| (cell.scenario.as_str(), cell.episodes)).collect::<Vec<_>>()
        });
        assert_eq!(planned, want, "{named}, {all}");
    }
}

#[test]
fn a_single_trial_can_be_opened_alone() {
    let read = read(&fixture().join("jobs/failures-k1").join(V5));
    assert_eq!(read.runs.len(), 1);
    assert_eq!(read.runs[0].harness.as_deref(), Some("oracle"));
    let episode = read.episode(V5);
    assert_eq!(episode.key, V5);
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("pf", Some(4)));
}

#[test]
fn only_the_part_that_changed_has_another_stamp() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let original = read(dir.path()).parts;
    assert_eq!(original, read(dir.path()).parts);
    let reward = dir.path().join("jobs/failures-k1").join(V1).join("steps/round-3/verifier/reward.txt");
    write(&reward, "1.0\n");
    write(&dir.path().join("tasks/theme_t2_w2_ledger_report/task.toml"), "[[steps]]\nname = \"round-1\"\n");
    let after_change = read(dir.path()).parts;
    let mut changed: Vec<(&str, &str)> = original
        .iter()
        .zip(&after_change)
        .filter(|(a, b)| a.1.stamp != b.1.stamp)
        .map(|(a, _)| (a.0.as_str(), a.1.key.as_str()))
        .collect();
    changed.sort_unstable();
    let t2 = "theme_t2_w2_ledger_report";
    assert_eq!(
        changed,
        [
            ("jobs/failures-k1", "theme_v1_w1_notes_regression"),
            ("jobs/interrupted", t2),
            ("jobs/nop-k1", t2),
            ("jobs/oracle-k2", t2)
        ]
    );
}

#[test]
fn names_of_folders_say_nothing_of_which_trials_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let (job, renamed) = (dir.path().join("as-it-was"), dir.path().join("renamed"));
    // Without the tasks: each trial shows the others' number of steps.
    copy(&fixture().join("jobs/oracle-k2"), &job.join("job"));
    copy(&fixture().join("jobs/oracle-k2"), &renamed.join("job"));
    let mut trials: Vec<PathBuf> = std::fs::read_dir(renamed.join("job"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    trials.sort();
    // Each alone, two tasks under one stem, and one that looks as if it were of another task.
    let names = ["first", "2", "same__a", "same__b", "theme_t1_w1_notes_cli__x", "theme_t1_w1_notes_cli__y"];
    for (trial, name) in trials.iter().zip(names) {
        std::fs::rename(trial, renamed.join("job").join(name)).unwrap();
    }
    // Only the log of one repeat says how many steps there were.
    for log in [job.join("job/theme_t1_w1_notes_cli__H5GwjG9"), renamed.join("job/first")] {
        std::fs::remove_file(log.join("trial.log")).unwrap();
    }
    let episodes_in = |path: &Path| -> Vec<(String, u32, Option<u32>, String)> {
        let read = read(path);
        let mut episodes_in: Vec<_> = read
            .episodes
            .iter()
            .map(|(_, e)| (e.scenario.clone(), e.repeat, e.planned_turns, letters(e)))
            .collect();
        episodes_in.sort();
        episodes_in
    };
    let (before, after_change) = (episodes_in(&job), episodes_in(&renamed));
    assert_eq!(before.len(), 6);
    assert_eq!(after_change, before);
}

#[test]
fn tasks_of_one_name_from_two_data_sets_are_two_scenarios() {
    let dir = tempfile::tempdir().unwrap();
    let trial = |folder: &str, source: &str| {
        let path = dir.path().join("job").join(folder);
        let task = format!(r#""task": {{"path": "tasks/hello"{source}}}"#);
        write(
            &path.join("config.json"),
            &format!(r#"{{"trial_name": "{folder}", {task}, "agent": {{"name": "a"}}}}"#),
        );
        write(
            &path.join("result.json"),
            &format!(
                r#"{{"task_name": "hello", "trial_name": "{folder}", "started_at": "2026-01-01T10:00:00Z",
                     "config": {{{task}}}, "verifier_result": {{"rewards": {{"reward": 1.0}}}}}}"#
            ),
        );
    };
    trial("hello__1", r#", "source": "one""#);
    trial("hello__2", r#", "source": "two""#);
    trial("hello__3", r#", "source": "one""#);
    let episodes_in = |read: &Read| -> Vec<(String, u32)> {
        let mut episodes_in: Vec<_> =
            read.episodes.iter().map(|(_, e)| (e.scenario.clone(), e.repeat)).collect();
        episodes_in.sort();
        episodes_in
    };
    let wanted = |list: &[(&str, u32)]| -> Vec<(String, u32)> {
        list.iter().map(|(scenario, repeat)| ((*scenario).to_owned(), *repeat)).collect()
    };
    let read_once = read(dir.path());
    assert_eq!(episodes_in(&read_once), wanted(&[("one/hello", 1), ("one/hello", 2), ("two/hello", 1)]));
    assert_eq!(read_once.parts.len(), 1);

    // From one data set, or where one does not say it, there is nothing to distinguish.
    trial("hello__2", "");
    assert_eq!(episodes_in(&read(dir.path())), wanted(&[("hello", 1), ("hello", 2), ("hello", 3)]));
}

#[test]
fn tasks_in_folders_of_one_name_are_distinguished_by_their_results() {
    let dir = tempfile::tempdir().unwrap();
    let trial = |folder: &str, path: &str, name: Option<&str>| {
        let trial_folder = dir.path().join("job").join(folder);
        let config = format!(
            r#"{{"trial_name": "{folder}", "task": {{"path": "{path}"}}, "agent": {{"name": "a"}}}}"#
        );
        write(&trial_folder.join("config.json"), &config);
        if let Some(name) = name {
            write(
                &trial_folder.join("result.json"),
                &format!(
                    r#"{{"task_name": "{name}", "trial_name": "{folder}", "started_at": "2026-01-01T10:00:00Z",
                         "verifier_result": {{"rewards": {{"reward": 1.0}}}}}}"#
                ),
            );
        }
    };
    trial("v1__1", "a/v1", Some("org/a"));
    trial("v1__2", "b/v1", Some("org/b"));
    // Still running: the task at its path has a name.
    trial("v1__3", "b/v1", None);
    let read = read(dir.path());
    let mut scenarios: Vec<_> = read.episodes.iter().map(|(_, e)| (e.scenario.as_str(), e.repeat)).collect();
    scenarios.sort_unstable();
    assert_eq!(scenarios, [("org/a", 1), ("org/b", 1), ("org/b", 2)]);
}

#[test]
fn a_copied_folder_is_no_trial_that_was_planned() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    write(&job.join("config.json"), r#"{"job_name": "job", "agents": [{"name": "a"}]}"#);
    write(&job.join("result.json"), r#"{"n_total_trials": 2, "finished_at": "2026-01-01T11:00:00Z"}"#);
    for folder in ["t__1", "t__1 copy"] {
        write(
            &job.join(folder).join("config.json"),
            r#"{"trial_name": "t__1", "task": {"path": "t"}, "agent": {"name": "a"}}"#,
        );
        write(
            &job.join(folder).join("result.json"),
            r#"{"id": "1", "task_name": "t", "trial_name": "t__1", "started_at": "2026-01-01T10:00:00Z",
                "verifier_result": {"rewards": {"reward": 1.0}}}"#,
        );
    }
    let read = read(dir.path());
    assert_eq!(read.episodes.len(), 1);
    let codes = read.codes();
    assert!(codes.contains(&"harbor.trials_missing") && codes.contains(&"part.duplicate"), "{codes:?}");
}

/// Zips a folder under a name, each file below `folder` in it.
fn zipped(source: &Path, name: &str, folder: &str) -> PathBuf {
    let files = files_of(source).into_iter();
    let entries: Vec<ZipEntry> =
        files.map(|(path, bytes)| ZipEntry::stored(format!("{folder}{path}"), bytes)).collect();
    let path = source.parent().unwrap().join(name);
    std::fs::write(&path, zip(&entries)).unwrap();
    path
}

/// The keys of the runs, each with that of its benchmark, and of the episodes.
fn names(read: &Read) -> [Vec<(&str, &str)>; 2] {
    let mut runs: Vec<_> = read.runs.iter().map(|r| (r.key.as_str(), r.benchmark.key.as_str())).collect();
    let mut episodes: Vec<_> = read.episodes.iter().map(|(run, e)| (run.as_str(), e.key.as_str())).collect();
    runs.sort_unstable();
    episodes.sort_unstable();
    [runs, episodes]
}

/// They were two benchmarks, `evo` and `evo.zip`, and two runs where somebody had renamed the folder of a job.
#[test]
fn a_folder_and_its_zips_have_one_benchmark_and_the_same_runs() {
    let dir = tempfile::tempdir().unwrap();
    let evo = dir.path().join("evo");
    for task in ["t1", "t2"] {
        let job = evo.join(task).join("harbor_jobs/m/2026-01-01__10-00-00");
        write(&job.join("config.json"), r#"{"job_name": "j", "agents": [{"name": "a", "model_name": "m"}]}"#);
        let trial = job.join(format!("{task}__1"));
        let config = format!(
            r#"{{"trial_name": "{task}__1", "task": {{"path": "/x/{task}"}}, "agent": {{"name": "a", "model_name": "m"}}}}"#
        );
        write(&trial.join("config.json"), &config);
        write(&trial.join("result.json"), r#"{"verifier_result": {"rewards": {"reward": 1.0}}}"#);
    }
    let renamed = dir.path().join("renamed");
    copy(&fixture().join("jobs/oracle-k2"), &renamed);
    let job_folder = dir.path().join(V5);
    copy(&fixture().join("jobs/failures-k1").join(V5), &job_folder);
    for (folder, name, run, benchmark) in [
        (evo, "evo".to_owned(), "m/a".to_owned(), "harbor:evo"),
        (renamed, "renamed".to_owned(), "oracle-k2/oracle".to_owned(), "harbor:tasks"),
        (job_folder, V5.to_owned(), format!("{V5}/oracle"), "harbor:tasks"),
    ] {
        let folder_library = read(&folder);
        assert_eq!(names(&folder_library)[0], [(run.as_str(), benchmark)]);
        for (zip_name, inner) in
            [(format!("{name}.zip"), String::new()), (format!("{name}.ZIP"), format!("{name}/"))]
        {
            let zip_library = read(&zipped(&folder, &zip_name, &inner));
            assert_eq!(names(&zip_library), names(&folder_library), "{zip_name} with {inner:?}");
        }
    }
}

/// A run whose trials do not name their data set was of another benchmark than the others of its job.
#[test]
fn the_runs_of_a_job_are_of_one_benchmark() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    write(&job.join("config.json"), r#"{"job_name": "job", "agents": [{"name": "a"}, {"name": "b"}]}"#);
    for (agent, source) in [("a", r#", "source": "set-a""#), ("b", "")] {
        let config = format!(
            r#"{{"trial_name": "t__{agent}", "task": {{"path": "tasks/t"{source}}}, "agent": {{"name": "{agent}"}}}}"#
        );
        write(&job.join(format!("t__{agent}/config.json")), &config);
        let result = r#"{"verifier_result": {"rewards": {"reward": 1.0}}}"#;
        write(&job.join(format!("t__{agent}/result.json")), result);
    }
    let read = read(dir.path());
    assert_eq!(names(&read)[0], [("job/a", "harbor:set-a"), ("job/b", "harbor:set-a")]);
}
