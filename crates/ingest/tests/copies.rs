//! The same trial is read once, whatever its folder is called, and is known as the same in every source.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::import::import;
use model::Ending;
use store::{EpisodeEntry, RunFilter, RunId, SourceId, Store, WarningFilter};
use test_folders::copy;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn open(store: &Store, path: &Path) -> SourceId {
    let name = path.file_name().unwrap().to_string_lossy();
    let source = store.put_source(&path.to_string_lossy(), &name, false).unwrap();
    read(store, source, path);
    source
}

fn read(store: &Store, source: SourceId, path: &Path) {
    let stop = AtomicBool::new(false);
    import(&Tree::open(path).unwrap(), store, source, &|_, _| {}, &stop).unwrap();
}

fn runs(store: &Store) -> Vec<RunId> {
    let mut runs: Vec<RunId> =
        store.list_runs(&RunFilter::default()).unwrap().rows.into_iter().map(|(_, run)| run.id).collect();
    runs.sort_unstable();
    runs
}

fn duplicates(store: &Store, source: SourceId) -> Vec<String> {
    let page = store.warnings(source, &WarningFilter::default(), 0, 100).unwrap();
    page.warnings.into_iter().filter(|w| w.code == "part.duplicate").map(|w| w.path).collect()
}

fn keys(episodes: &[EpisodeEntry]) -> Vec<(&str, u32)> {
    episodes.iter().map(|e| (e.key.as_str(), e.repeat)).collect()
}

#[test]
fn a_copied_trial_counts_once_in_its_run() {
    let store = Store::in_memory().unwrap();
    let source = open(&store, &fixtures().join("world/same-trial/job-a"));
    let episodes = store.episodes(runs(&store)[0]).unwrap();
    assert_eq!(keys(&episodes), [("x__EEEEEE1", 1), ("y__EEEEEE2", 1)]);
    let policy = store.get_policy().unwrap();
    let events = episodes.iter().filter(|e| policy.ending(e.end_reason) == Ending::Event).count();
    assert_eq!(events, 1, "S(1) = 1 of 2");
    assert_eq!(duplicates(&store, source), ["y__EEEEEE2 copy"]);
    assert!(store.copies_among(&runs(&store)).unwrap().is_empty());
}

/// A program that writes results again may write their times in another zone.
#[test]
fn a_copy_with_times_of_another_zone_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job-a");
    copy(&fixtures().join("world/same-trial/job-a"), &job);
    let file = job.join("y__EEEEEE2 copy/result.json");
    let text = fs::read_to_string(&file).unwrap();
    let moved = text.replace("T10:00:00Z\"", "T12:00:00+02:00\"");
    assert_ne!(text, moved);
    fs::write(&file, moved).unwrap();
    let store = Store::in_memory().unwrap();
    let source = open(&store, &job);
    assert_eq!(duplicates(&store, source), ["y__EEEEEE2 copy"]);
}

/// A copy stands in when what it is a copy of goes.
#[test]
fn the_copy_counts_once_the_original_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job-a");
    copy(&fixtures().join("world/same-trial/job-a"), &job);
    let store = Store::in_memory().unwrap();
    let source = open(&store, &job);
    fs::remove_dir_all(job.join("y__EEEEEE2")).unwrap();
    read(&store, source, &job);
    assert_eq!(keys(&store.episodes(runs(&store)[0]).unwrap()), [("x__EEEEEE1", 1), ("y__EEEEEE2 copy", 1)]);
    assert!(duplicates(&store, source).is_empty());
}

/// In the layout of EvoCode-Bench a task's folder has its jobs: copied with them it is no further task.
#[test]
fn a_task_that_was_copied_with_its_jobs_counts_once() {
    const TASK: &str = "theme_t1_w1_notes_cli";
    let folder = tempfile::tempdir().unwrap();
    let harbor = fixtures().join("harbor");
    let task = folder.path().join(TASK);
    copy(&harbor.join("tasks").join(TASK), &task);
    let job = task.join("harbor_jobs/oracle/2026-11-21__07-30-38");
    let trial = format!("{TASK}__H5GwjG9");
    copy(&harbor.join("jobs/oracle-k2").join(&trial), &job.join(&trial));
    for file in ["config.json", "result.json", "lock.json"] {
        fs::copy(harbor.join("jobs/oracle-k2").join(file), job.join(file)).unwrap();
    }
    copy(&harbor.join("tasks/theme_v2_w1_notes_abort_no_reward"), &folder.path().join("theme_v2"));
    let copy_folder = folder.path().join(format!("{TASK} copy"));
    copy(&task, &copy_folder);

    let store = Store::in_memory().unwrap();
    let source = open(&store, folder.path());
    let [run] = runs(&store)[..] else { panic!("one run") };
    assert_eq!(store.episodes(run).unwrap().len(), 1);
    assert_eq!(duplicates(&store, source), [format!("{TASK} copy")]);
    let planned = || {
        let entry = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        let record = store.run(&entry.slug).unwrap().unwrap();
        let trials = record.run.reported.figures.iter().find(|(name, _)| name == "harbor.n_trials");
        (entry.planned_episodes, trials.map(|(_, trials)| *trials))
    };
    // Six by the lock, and one of the task that has no job.
    assert_eq!(planned(), (Some(7), Some(6.0)), "the copied job planned no further trials");
    read(&store, source, folder.path());
    assert_eq!(store.episodes(run).unwrap().len(), 1, "reading again changes nothing");
    assert_eq!(duplicates(&store, source), [format!("{TASK} copy")]);

    fs::remove_dir_all(&task).unwrap();
    read(&store, source, folder.path());
    assert_eq!(store.episodes(run).unwrap().len(), 1, "the copy stands in");
    assert_eq!(planned(), (Some(7), Some(6.0)), "and so does the copied job");
    assert!(duplicates(&store, source).is_empty());
}

/// A scenario whose folder was copied is no further one, whatever the copy is called: the trajectory names it, and where it
/// does not the number in the folder's name does.
#[test]
fn a_copied_scenario_counts_once_in_its_run() {
    for (fixture, names) in [
        ("own", &["scenario_0 copy", "scenario_0 (1)", "scenario_9", "scenario-0"][..]),
        ("turns_from_zero", &["scenario_0 copy", "scenario_9"]),
        ("nested_folders", &["scenario-0 copy", "scenario_0"]),
    ] {
        for name in names {
            let folder = tempfile::tempdir().unwrap();
            let run = folder.path().join("run");
            copy(&fixtures().join("staminabench").join(fixture), &run);
            let first = if fixture == "nested_folders" { "scenario-0" } else { "scenario_0" };
            let read_as = || {
                let store = Store::in_memory().unwrap();
                let source = open(&store, &run);
                let [id] = runs(&store)[..] else { panic!("one run") };
                let episodes = store.episodes(id).unwrap();
                let shown: Vec<(String, Option<u32>)> =
                    episodes.into_iter().map(|e| (e.scenario, e.failed_turn)).collect();
                (shown, duplicates(&store, source))
            };
            let (plain, none) = read_as();
            assert!(none.is_empty(), "{fixture}");
            copy(&run.join(first), &run.join(name));
            let (with_copy, left_out) = read_as();
            assert_eq!((with_copy.len(), left_out.len()), (plain.len(), 1), "{fixture}, {name}");
            assert!([first, *name].contains(&left_out[0].as_str()), "{left_out:?}");
            if fixture != "nested_folders" {
                assert_eq!(with_copy, plain, "{fixture}, {name}");
                assert_eq!(left_out, [*name], "the original counts");
            }
        }
    }
}

/// The same of one that was copied while it was played, and of one in another source that has another name there.
#[test]
fn a_scenario_of_another_name_is_the_one_that_its_trajectory_names() {
    let folder = tempfile::tempdir().unwrap();
    let [run, other] = ["run", "other"].map(|name| folder.path().join(name));
    for place in [&run, &other] {
        copy(&fixtures().join("staminabench/own"), place);
        let report = place.join("report.json");
        let text = fs::read_to_string(&report).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["run"]["run_id"] = "9c2b1f4e-0000-4000-8000-6d1f6a0f2c11".into();
        fs::write(&report, json.to_string()).unwrap();
    }
    copy(&run.join("scenario_0"), &run.join("scenario_0 copy"));
    let trajectory = run.join("scenario_0 copy/trajectory.json");
    let text = fs::read_to_string(&trajectory).unwrap().replacen("\"Library\"", "\"Libr\"", 1);
    fs::write(&trajectory, text).unwrap();
    fs::rename(other.join("scenario_0"), other.join("scenario_8")).unwrap();

    let store = Store::in_memory().unwrap();
    let source = open(&store, &run);
    assert_eq!(duplicates(&store, source), ["scenario_0 copy"]);
    let first = runs(&store)[0];
    assert_eq!(keys(&store.episodes(first).unwrap()), [("scenario_0", 1), ("scenario_1", 1)]);
    open(&store, &other);
    let all = runs(&store);
    assert_eq!(all.len(), 2);
    let other_episodes = store.episodes(*all.iter().find(|run| **run != first).unwrap()).unwrap();
    let mut scenarios: Vec<&str> = other_episodes.iter().map(|e| e.scenario.as_str()).collect();
    scenarios.sort_unstable();
    assert_eq!(scenarios, ["scenario_0", "scenario_1"]);
    assert_eq!(store.copies_among(&all).unwrap().len(), 2);
}

/// Trials without an id are recognized by their name in their job, and by their contents.
#[test]
fn a_copied_trial_without_an_id_counts_once_in_its_run() {
    let whole = |text: String| text.replace("\"id\": \"id-y\",", "");
    let cut = |text: String| text[..300].to_owned();
    for has_id_of_job in [true, false] {
        for change in [Some(&whole as &dyn Fn(String) -> String), Some(&cut), None] {
            let folder = tempfile::tempdir().unwrap();
            let job = folder.path().join("job-a");
            copy(&fixtures().join("world/same-trial/job-a"), &job);
            if !has_id_of_job {
                fs::remove_file(job.join("result.json")).unwrap();
            }
            for trial in ["y__EEEEEE2", "y__EEEEEE2 copy"] {
                let file = job.join(trial).join("result.json");
                let Some(change) = change else {
                    fs::remove_file(file).unwrap();
                    continue;
                };
                fs::write(&file, change(fs::read_to_string(&file).unwrap())).unwrap();
            }
            let store = Store::in_memory().unwrap();
            let source = open(&store, &job);
            let episodes = store.episodes(runs(&store)[0]).unwrap();
            assert_eq!(keys(&episodes), [("x__EEEEEE1", 1), ("y__EEEEEE2", 1)]);
            assert_eq!(duplicates(&store, source), ["y__EEEEEE2 copy"]);
        }
    }
}

/// Where even their names differ, what was measured closely identifies them.
#[test]
fn trials_without_ids_and_of_other_names_are_recognized_by_their_contents() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job-a");
    copy(&fixtures().join("world/same-trial/job-a"), &job);
    let change = |trial: &str, name: &str, start: &str| {
        for file in ["result.json", "config.json"] {
            let path = job.join(trial).join(file);
            let text = fs::read_to_string(&path).unwrap().replace("\"id\": \"id-y\",", "");
            let text = text.replace("\"y__EEEEEE2 copy\"", "\"y__EEEEEE2\"");
            let text = text.replace("\"y__EEEEEE2\"", &format!("\"{name}\""));
            fs::write(&path, text.replacen("\"2026-01-01T10:00:00Z\"", &format!("\"{start}\""), 1)).unwrap();
        }
    };
    let read_as = || {
        let store = Store::in_memory().unwrap();
        let source = open(&store, &job);
        (store.episodes(runs(&store)[0]).unwrap().len(), duplicates(&store, source))
    };
    change("y__EEEEEE2", "y__EEEEEE2", "2026-01-01T10:00:00.123456Z");
    change("y__EEEEEE2 copy", "y__FFFFFF3", "2026-01-01T10:00:00.123456Z");
    assert_eq!(read_as(), (2, vec!["y__EEEEEE2 copy".to_owned()]));
    let path = job.join("y__EEEEEE2 copy/result.json");
    let text = fs::read_to_string(&path).unwrap().replace(".123456Z", ".123457Z");
    fs::write(&path, text).unwrap();
    assert_eq!(read_as(), (3, Vec::new()), "another trial of the task");
}

/// Repeats of a task are no copies of each other.
#[test]
fn trials_of_one_task_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job-a");
    copy(&fixtures().join("world/same-trial/job-a"), &job);
    let result = job.join("y__EEEEEE2 copy/result.json");
    let text = fs::read_to_string(&result).unwrap().replace("\"id-y\"", "\"id-z\"");
    fs::write(&result, text).unwrap();
    let store = Store::in_memory().unwrap();
    let source = open(&store, &job);
    let all = store.episodes(runs(&store)[0]).unwrap();
    assert_eq!(keys(&all), [("x__EEEEEE1", 1), ("y__EEEEEE2", 1), ("y__EEEEEE2 copy", 2)]);
    assert!(duplicates(&store, source).is_empty());
}

/// Whatever the format: a folder that is opened a second time under another name has the same episodes.
#[test]
fn copies_in_another_source_are_known() {
    for fixture in ["world/same-trial/job-a", "harbor/jobs/failures-k1", "staminabench/own", "evocode"] {
        let folder = tempfile::tempdir().unwrap();
        let original = fixtures().join(fixture);
        assert!(original.is_dir(), "{fixture}");
        let copied = folder.path().join("under-another-name");
        copy(&original, &copied);
        let store = Store::in_memory().unwrap();
        open(&store, &original);
        let first = runs(&store);
        open(&store, &copied);
        let all = runs(&store);
        assert_eq!(all.len(), 2 * first.len(), "{fixture}");
        let episodes: usize = first.iter().map(|run| store.episodes(*run).unwrap().len()).sum();
        let copies = store.copies_among(&all).unwrap();
        assert_eq!(copies.len(), episodes, "{fixture}");
        assert!(
            copies.iter().all(|c| first.contains(&c.counted_run) && !first.contains(&c.run)),
            "{fixture}"
        );
        assert!(store.copies_among(&first).unwrap().is_empty(), "{fixture}");
    }
}
