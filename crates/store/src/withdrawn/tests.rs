use std::collections::BTreeMap;
use std::time::Duration;

use model::{Benchmark, Episode, Run};

use crate::{ParsedPart, RunFilter, SourceId, Store};

/// Writes the only trial of a run, under this name and with this identity.
fn put(store: &Store, source: SourceId, key: &str, identity: Option<&str>) {
    let mut episode = Episode::new(key, "task");
    episode.identity = identity.map(str::to_owned);
    let episodes = [("r".to_owned(), episode)];
    let part =
        ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
    store.put_part(source, &part).unwrap();
}

/// Reads a source anew: only this folder is there, and has a run with these trials.
fn read(store: &Store, source: SourceId, folder: &str, trials: &[&str]) {
    store.drop_places(source, &[folder.to_owned()]).unwrap();
    put_job(store, source, folder, trials);
    store.settle_withdrawn(source).unwrap();
}

/// Writes a folder with a run with these trials.
fn put_job(store: &Store, source: SourceId, folder: &str, trials: &[&str]) {
    let benchmark = Benchmark { key: "b".into(), name: "B".into() };
    store.put_runs(source, folder, "harbor", &[Run::unknown("r", benchmark)]).unwrap();
    let episodes: Vec<(String, Episode)> = trials
        .iter()
        .map(|trial| {
            let mut episode = Episode::new(*trial, *trial);
            episode.identity = Some(format!("id-of-{trial}"));
            ("r".to_owned(), episode)
        })
        .collect();
    let part =
        ParsedPart { place: folder, key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
    store.put_part(source, &part).unwrap();
}

#[test]
fn marks_follow_a_run_and_its_trials_into_a_renamed_folder() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    let run = || store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    // Its mark, and how many trials are withdrawn.
    let marks = || (run().invalid, run().withdrawn_episodes);
    let wrong = Some("wrong image".to_owned());
    read(&store, source, "job", &["x", "y"]);
    store.withdraw(&[run().slug], Some("wrong image")).unwrap();
    read(&store, source, "renamed", &["x", "y"]);
    assert_eq!(marks(), (wrong.clone(), 0));
    // Another run has another mark, or none.
    read(&store, source, "job", &["y", "z"]);
    assert_eq!(marks(), (None, 0));
    read(&store, source, "again", &["x"]);
    assert_eq!(marks(), (wrong, 0));
    // What counts again stays so.
    store.withdraw(&[run().slug], None).unwrap();
    read(&store, source, "renamed", &["x", "y"]);
    assert_eq!(marks(), (None, 0));
    let trial = store.all_episodes(run().id).unwrap().remove(1);
    store.withdraw_episodes(&run().slug, &[trial.slug], Some("wrong container")).unwrap();
    read(&store, source, "job", &["x", "y"]);
    assert_eq!(marks(), (None, 1));
    let remaining: Vec<String> =
        store.episodes(run().id).unwrap().into_iter().map(|episode| episode.key).collect();
    assert_eq!(remaining.len(), 1);
    assert_ne!(remaining[0], trial.key);
    let marked = store.all_episodes(run().id).unwrap().into_iter().find(|e| e.invalid.is_some()).unwrap();
    store.withdraw_episodes(&run().slug, &[marked.slug], None).unwrap();
    read(&store, source, "renamed", &["x", "y"]);
    assert_eq!(marks(), (None, 0));
}

#[test]
fn a_run_that_took_the_name_of_a_withdrawn_one_counts() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    // By the first trial of a run: why it is withdrawn.
    let marks = || -> BTreeMap<String, Option<String>> {
        let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
        runs.into_iter()
            .map(|(_, run)| (store.episodes(run.id).unwrap().remove(0).key, run.invalid))
            .collect()
    };
    let expected_marks = |pairs: &[(&str, Option<&str>)]| -> BTreeMap<String, Option<String>> {
        pairs.iter().map(|(key, reason)| ((*key).to_owned(), reason.map(str::to_owned))).collect()
    };
    read(&store, source, "job", &["x", "y"]);
    let withdrawn = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1.slug;
    store.withdraw(&[withdrawn], Some("wrong image")).unwrap();
    // `mv job job-old`, and the job is run again.
    put_job(&store, source, "job", &["z", "zz"]);
    assert_eq!(marks(), expected_marks(&[("z", None)]), "no trial of it was withdrawn");
    put_job(&store, source, "job-old", &["x", "y"]);
    store.settle_withdrawn(source).unwrap();
    assert_eq!(marks(), expected_marks(&[("x", Some("wrong image")), ("z", None)]));
    // The same trials under each other's names.
    let slug_of = |trial: &str| {
        let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
        let run = runs.into_iter().find(|(_, run)| store.episodes(run.id).unwrap()[0].key == trial);
        run.unwrap().1.slug
    };
    store.withdraw(&[slug_of("z")], Some("wrong model")).unwrap();
    store.drop_places(source, &[]).unwrap();
    put_job(&store, source, "job", &["x", "y"]);
    put_job(&store, source, "job-old", &["z", "zz"]);
    store.settle_withdrawn(source).unwrap();
    assert_eq!(marks(), expected_marks(&[("x", Some("wrong image")), ("z", Some("wrong model"))]));
}

#[test]
fn the_mark_of_a_trial_does_not_go_to_a_copy_in_a_source_that_stood_beside_it() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    read(&store, source, "job", &["x", "y"]);
    let withdrawn = || {
        let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
        runs.into_iter().map(|(_, run)| (run.source, run.withdrawn_episodes)).collect::<BTreeMap<_, _>>()
    };
    let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    let trial = store.all_episodes(run.id).unwrap().remove(0);
    store.withdraw_episodes(&run.slug, &[trial.slug], Some("wrong container")).unwrap();
    let beside = store.put_source("/data/beside", "beside", false).unwrap();
    read(&store, beside, "job", &["x"]);
    store.remove_source(source).unwrap();
    let times = [
        "UPDATE source SET opened_at = '2026-01-01' WHERE path = '/data/beside'",
        "UPDATE source SET closed_at = '2026-01-02' WHERE path = '/data/a'",
    ];
    store.write(|write| Ok(write.tx.execute_batch(&times.join(";"))?)).unwrap();
    read(&store, beside, "job", &["x"]);
    store.restore_source(source).unwrap();
    assert_eq!(withdrawn(), BTreeMap::from([(source, 1), (beside, 0)]));
}

#[test]
fn a_mark_finds_its_run_in_another_folder_after_twenty_others_were_closed() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    read(&store, source, "job", &["x", "y"]);
    let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    store.withdraw(&[run.slug], Some("wrong image")).unwrap();
    store.remove_source(source).unwrap();
    for i in 0..30 {
        let other = store.put_source(&format!("/data/other{i}"), "other", false).unwrap();
        store.remove_source(other).unwrap();
    }
    let times = "UPDATE source SET closed_at = iif(path = '/data/a', '2026-01-01', '2026-01-02')";
    store.write(|write| Ok(write.tx.execute_batch(times)?)).unwrap();
    store.purge_removed(Duration::ZERO).unwrap();
    assert_eq!(store.recent().unwrap().len(), 20);
    let moved = store.put_source("/data/moved", "moved", false).unwrap();
    read(&store, moved, "job", &["x", "y"]);
    let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
    assert_eq!(runs[0].1.invalid.as_deref(), Some("wrong image"));
}

#[test]
fn the_mark_of_a_run_goes_to_another_source_only_if_that_was_opened_in_its_place() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    read(&store, source, "job", &["x", "y"]);
    let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    store.withdraw(&[run.slug], Some("wrong image")).unwrap();
    let beside = store.put_source("/data/beside", "beside", false).unwrap();
    read(&store, beside, "job", &["x", "y"]);
    store.remove_source(source).unwrap();
    let later = store.put_source("/data/later", "later", false).unwrap();
    let times = [
        "UPDATE source SET opened_at = '2026-01-01' WHERE path = '/data/beside'",
        "UPDATE source SET closed_at = '2026-01-02' WHERE path = '/data/a'",
        "UPDATE source SET opened_at = '2026-01-03' WHERE path = '/data/later'",
    ];
    store.write(|write| Ok(write.tx.execute_batch(&times.join(";"))?)).unwrap();
    for copy in [beside, later] {
        read(&store, copy, "job", &["x", "y"]);
    }
    let marks: Vec<(SourceId, Option<String>)> = store
        .list_runs(&RunFilter::default())
        .unwrap()
        .rows
        .into_iter()
        .map(|(_, run)| (run.source, run.invalid))
        .collect();
    assert!(marks.contains(&(beside, None)), "a copy that stood beside it counts: {marks:?}");
    assert!(marks.contains(&(later, Some("wrong image".to_owned()))), "{marks:?}");
}

#[test]
fn a_reason_of_several_lines_is_one_line() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    put_job(&store, source, "job", &["x"]);
    let run = || store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    let slug = store.all_episodes(run().id).unwrap().remove(0).slug;
    let reason = Some("wrong image:\n* another line\u{1b}[2J");
    store.withdraw_episodes(&run().slug, &[slug], reason).unwrap();
    store.withdraw(&[run().slug], reason).unwrap();
    let line = Some("wrong image: * another line\\u{1b}[2J".to_owned());
    assert_eq!(run().invalid, line);
    assert_eq!(store.all_episodes(run().id).unwrap()[0].invalid, line);
}

#[test]
fn a_trial_that_was_run_again_in_the_place_of_a_withdrawn_one_counts() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    let benchmark = Benchmark { key: "b".into(), name: "B".into() };
    store.put_runs(source, "", "harbor", &[Run::unknown("r", benchmark)]).unwrap();
    put(&store, source, "task__1", Some("one"));
    let run = || store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    let slug = store.all_episodes(run().id).unwrap().remove(0).slug;
    store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), Some("wrong image")).unwrap();
    // By slug of the trial: whether it counts, with what the run says of it.
    let counts = || {
        let all = store.all_episodes(run().id).unwrap();
        assert_eq!((all.len(), all[0].slug.as_str()), (1, slug.as_str()));
        let withdrawn = store.withdrawn_trials(run().id).unwrap().len() as u32;
        assert_eq!((run().withdrawn_episodes, all[0].invalid.is_some()), (withdrawn, withdrawn > 0));
        assert_eq!(store.episodes(run().id).unwrap().len() as u32, 1 - withdrawn);
        withdrawn == 0
    };
    assert!(!counts());
    put(&store, source, "renamed", Some("one"));
    assert!(!counts(), "its folder was renamed");
    put(&store, source, "task__1", Some("another way to tell it"));
    assert!(!counts(), "it is described in another way");
    put(&store, source, "task__2", None);
    assert!(!counts(), "nothing tells that it is another one");
    put(&store, source, "task__2", Some("two"));
    assert!(counts());
    // The mark of the new one replaces that of the old one.
    store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), Some("again")).unwrap();
    assert!(!counts());
    store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), None).unwrap();
    assert!(counts());
}
