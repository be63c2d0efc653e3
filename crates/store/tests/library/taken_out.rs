//! Runs and episodes that are withdrawn, and sources that are closed.

use std::time::Duration;

use model::EndReason;
use store::RunFilter;

use crate::{episode, library, put, run, summarize};

#[test]
fn a_withdrawn_run_is_counted_nowhere_and_stays_withdrawn() {
    let (store, source) = library();
    let counted = || store.end_reason_counts().unwrap().iter().map(|(_, episodes)| episodes).sum::<u32>();
    let all = counted();
    let entry = || store.run("results.a").unwrap().unwrap().entry;
    store.withdraw(&["results.a".into(), "nobody".into()], Some("wrong image")).unwrap();
    assert_eq!(counted(), all - entry().totals.episodes);
    let valid = RunFilter { valid_only: true, ..RunFilter::default() };
    assert!(store.list_runs(&valid).unwrap().rows.iter().all(|(_, run)| run.slug != "results.a"));
    store.remove_source(source).unwrap();
    store.restore_source(source).unwrap();
    assert_eq!(entry().invalid.as_deref(), Some("wrong image"));
    store.withdraw(&["results.a".into()], None).unwrap();
    assert_eq!((entry().invalid, counted()), (None, all));
}

#[test]
fn a_withdrawn_episode_is_in_no_sum_and_keeps_its_mark_when_it_is_read_again() {
    let (store, source) = library();
    let entry = || store.run("results.a").unwrap().unwrap().entry;
    let counted = || store.end_reason_counts().unwrap().iter().map(|(_, episodes)| episodes).sum::<u32>();
    let (all, before) = (counted(), entry());
    summarize(&store, |_| Some(1.0));
    store.withdraw_episodes("results.a", &["shop".into()], Some("network down")).unwrap();
    store.withdraw_episodes("nobody", &["shop".into()], Some("network down")).unwrap();
    let marked = || -> Vec<(String, Option<String>)> {
        let episodes = store.all_episodes(entry().id).unwrap();
        episodes.into_iter().map(|episode| (episode.slug, episode.invalid)).collect()
    };
    let expected = [("library".to_owned(), None), ("shop".to_owned(), Some("network down".to_owned()))];
    let holds = || {
        assert_eq!(marked(), expected);
        assert_eq!((entry().totals.episodes, entry().withdrawn_episodes, counted()), (1, 1, all - 1));
        assert_eq!(entry().totals.end_reasons, [(EndReason::PassedAll, 1)]);
        let counting: Vec<_> = store.episodes(entry().id).unwrap().into_iter().map(|e| e.slug).collect();
        assert_eq!(counting, ["library"]);
        assert_eq!(store.episode_turns(entry().id).unwrap().len(), 1);
        assert_eq!(store.stale_runs().unwrap().iter().filter(|run| run.slug == "results.a").count(), 1);
    };
    holds();
    assert!(
        store.attempt_totals(entry().id, &[]).unwrap().iter().map(|totals| totals.failed).sum::<u32>() > 0
    );
    // Another reading of the same trial, a copy of the run, and closing do not change the mark.
    put(&store, source, "1", 3, &[("a", episode("shop", 5, 1)), ("b", episode("shop", 5, 0))], &[]);
    holds();
    store.remove_source(source).unwrap();
    store.restore_source(source).unwrap();
    holds();
    put(&store, source, "1", 4, &[("a", episode("shop", 5, 2)), ("b", episode("shop", 5, 0))], &[]);
    store.withdraw_episodes("results.a", &["shop".into()], None).unwrap();
    assert_eq!((entry().totals, counted()), (before.totals, all));
    assert_eq!(entry().withdrawn_episodes, 0);
}

#[test]
fn closing_can_be_reverted_also_after_purging() {
    let (store, source) = library();
    store.annotate(&["results.a".into()], &["good".into()], &[], None).unwrap();
    store.remove_source(source).unwrap();
    assert!(store.sources().unwrap().is_empty() && store.run("results.a").unwrap().is_none());
    assert_eq!(store.list_runs(&RunFilter::default()).unwrap().total, 0);
    assert_eq!(store.recent().unwrap()[0].path, "/data/results");
    assert_eq!(store.search("shop", 0).unwrap().hits, []);
    assert!(store.stale_runs().unwrap().is_empty() && store.end_reason_counts().unwrap().is_empty());

    store.restore_source(source).unwrap();
    assert_eq!(store.run("results.a").unwrap().unwrap().entry.totals.episodes, 2);
    assert!(store.recent().unwrap().is_empty());

    store.remove_source(source).unwrap();
    assert_eq!(store.purge_removed(Duration::from_hours(1)).unwrap(), 0);
    assert_eq!(store.purge_removed(Duration::ZERO).unwrap(), 1);
    assert_eq!(store.recent().unwrap().len(), 1);
    assert!(store.part_stamps(source).unwrap().is_empty());
    assert_eq!(store.put_source("/data/results", "results", false).unwrap(), source);
    store.put_runs(source, "", "staminabench", &[run("a", "opus")]).unwrap();
    assert_eq!(store.run("results.a").unwrap().unwrap().entry.tags, ["good"]);
    assert!(matches!(store.remove_source(77), Err(store::StoreError::NoSource(77))));
}
