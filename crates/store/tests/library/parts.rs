//! Parts of sources: what is read is what was written, also when it is read again.

use std::collections::{BTreeSet, HashSet};

use model::{Artifact, ArtifactKind, EndReason, Episode, GraderPlace, Tokens, Turn, Verdict, Warning};
use store::{GraderMention, GraderMentions, OmittedCounts, RunFilter, RunSort, WarningFilter};

use crate::{attempt, episode, library, put, run};

#[test]
fn an_episode_is_read_for_the_grid_and_as_it_was_written() {
    let (store, source) = library();
    let record = store.run("results.a").unwrap().unwrap();
    assert_eq!(record.run, run("a", "opus"));
    assert_eq!(record.source_path, "/data/results");
    assert_eq!(record.entry.totals.episodes, 2);
    assert_eq!(record.entry.totals.planned_turns, Some((5, 5)));
    assert_eq!(record.entry.totals.end_reasons, [(EndReason::PassedAll, 1), (EndReason::TestsFailed, 1)]);
    assert_eq!(record.entry.warnings, 1);

    let episodes = store.episodes(record.entry.id).unwrap();
    assert_eq!(episodes.iter().map(|e| e.slug.as_str()).collect::<Vec<_>>(), ["library", "shop"]);
    let shop = &episodes[1];
    assert_eq!(shop.cells, "rrfnn");
    assert_eq!(shop.failing, [None, None, Some(1), None, None]);
    assert_eq!((shop.stamina, shop.failed_turn, shop.end_reason), (2, Some(3), EndReason::TestsFailed));
    assert_eq!((shop.passed_turns, shop.ratio_turns, shop.reached_turns, shop.attempts), (2, 3, 3, 5));
    assert!((shop.ratio_sum - 2.75).abs() < 1e-12);

    let detail = store.episode(record.entry.id, "shop").unwrap().unwrap();
    assert_eq!(detail.turns.len(), 3);
    assert_eq!(
        (detail.turns[2].passed, detail.turns[2].total, detail.turns[2].attempts),
        (Some(3), Some(4), 1)
    );
    let turn = store.turn(shop.id, 3).unwrap().unwrap();
    assert_eq!(turn, episode("shop", 5, 2).turns[2]);
    assert_eq!(store.turn(shop.id, 4).unwrap(), None);
    assert_eq!(store.whole_episode(shop.id).unwrap().unwrap(), episode("shop", 5, 2));

    let counts = store.source_counts(source).unwrap();
    assert_eq!((counts.runs, counts.episodes, counts.turns, counts.not_reached), (2, 3, 9, 6));
    assert_eq!((counts.attempts, counts.files_read, counts.warnings), (16, 6, 1));
}

#[test]
fn attempts_that_name_places_of_a_verifier_are_counted_apart_from_unknown_ones() {
    let (store, source) = library();
    let mut shop = episode("shop", 5, 2);
    // Turn 1 has two attempts: one names nothing, and one is unknown.
    shop.turns[0].attempts[0].grader_places = Some([].into());
    let places: BTreeSet<_> = [GraderPlace::RewardFile, GraderPlace::Tests].into();
    shop.turns[2].attempts[0].grader_places = Some(places.clone());
    put(&store, source, "1", 5, &[("a", shop.clone())], &[]);
    let run = store.run("results.a").unwrap().unwrap().entry.id;
    let first = GraderMention { episode: "shop".to_owned(), turn: 3, attempt: 1, places };
    let all = GraderMentions { attempts: 15, known: 2, naming: 1, first: vec![first] };
    assert_eq!(store.grader_mentions(run, 5).unwrap(), all);
    assert_eq!(store.grader_mentions(run, 0).unwrap(), GraderMentions { first: Vec::new(), ..all });
    let id = store.episodes(run).unwrap().iter().find(|entry| entry.slug == "shop").unwrap().id;
    assert_eq!(store.whole_episode(id).unwrap().unwrap().turns, shop.turns);
}

#[test]
fn a_part_that_is_read_again_replaces_only_its_own_episodes() {
    let (store, source) = library();
    let slug_of = |name: &str| {
        let run = store.run("results.a").unwrap().unwrap().entry.id;
        store
            .episodes(run)
            .unwrap()
            .into_iter()
            .find(|e| e.scenario == name)
            .map(|e| (e.id, e.slug, e.stamina))
    };
    let before = slug_of("shop").unwrap();
    put(&store, source, "1", 9, &[("a", episode("shop", 5, 4)), ("a", episode("bank", 5, 1))], &[]);
    let after = slug_of("shop").unwrap();
    assert_eq!((after.0, &after.1, after.2), (before.0, &before.1, 4));
    assert!(slug_of("bank").is_some() && slug_of("library").is_some());
    let b = store.run("results.b").unwrap().unwrap();
    assert_eq!(b.entry.totals.episodes, 0, "its only episode is deleted, and the run stays");

    let stamps = store.part_stamps(source).unwrap();
    assert_eq!(stamps[&(String::new(), "1".to_owned())], 9);

    store.drop_parts(source, &[(String::new(), "2".to_owned())], &HashSet::new()).unwrap();
    assert!(slug_of("shop").is_none() && slug_of("library").is_some());
    assert_eq!(store.part_stamps(source).unwrap().len(), 1);
    assert_eq!(store.run("results.a").unwrap().unwrap().entry.totals.episodes, 1);
    store.drop_places(source, &[]).unwrap();
    assert_eq!(store.library_counts().unwrap().runs, 0);
}

#[test]
fn reading_an_unchanged_source_again_changes_nothing() {
    let (store, source) = library();
    let look = |warnings: &[Warning]| {
        assert_eq!(store.put_source("/data/results", "results", false).unwrap(), source);
        store.set_source_format(source, "StaminaBench output").unwrap();
        store.drop_places(source, &[String::new()]).unwrap();
        store.put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen")]).unwrap();
        let keep: Vec<_> = store.part_stamps(source).unwrap().into_keys().collect();
        store.drop_parts(source, &keep, &HashSet::new()).unwrap();
        store.put_survey(source, warnings, &OmittedCounts::default(), 4).unwrap();
        store.set_source_read(source, None).unwrap();
        store.last_change().unwrap()
    };
    let warning = Warning::skipped("link", "link.left_out", "x".repeat(store::limits::MESSAGE_BYTES * 2));
    let first = look(std::slice::from_ref(&warning));
    assert_eq!(look(std::slice::from_ref(&warning)), first);
    assert!(look(&[]) > first);
    store.set_source_read(source, Some("The disk is gone.")).unwrap();
    assert_eq!(store.source(source).unwrap().unwrap().message.as_deref(), Some("The disk is gone."));
    assert_eq!(store.changes_since(first).unwrap().sources, [source]);
}

#[test]
fn an_episode_of_an_unknown_run_is_reported_and_its_part_is_read_again() {
    let (store, source) = library();
    put(&store, source, "3", 3, &[("nobody", episode("x", 1, 1)), ("a", episode("y", 1, 1))], &[]);
    assert!(!store.part_stamps(source).unwrap().contains_key(&(String::new(), "3".to_owned())));
    let filter = WarningFilter { code: Some("episode.run_unknown".into()), ..WarningFilter::default() };
    let page = store.warnings(source, &filter, 0, 10).unwrap();
    assert!(page.matching == 1 && page.warnings[0].message.contains("nobody"));
    assert_eq!(store.run("results.a").unwrap().unwrap().entry.totals.episodes, 3);
}

#[test]
fn a_run_that_returns_has_its_parts_read_again_and_keeps_its_name() {
    let (store, source) = library();
    store.annotate(&["results.a".into()], &["good".into()], &[], Some("look here")).unwrap();
    store.put_runs(source, "", "staminabench", &[run("b", "qwen")]).unwrap();
    assert!(store.run("results.a").unwrap().is_none());
    assert!(store.part_stamps(source).unwrap().is_empty());
    store.put_runs(source, "", "staminabench", &[run("b", "qwen"), run("a", "opus")]).unwrap();
    let back = store.run("results.a").unwrap().unwrap().entry;
    assert_eq!((back.tags, back.note.as_str()), (vec!["good".to_owned()], "look here"));
}

#[test]
fn equal_names_in_one_run_get_different_slugs() {
    let (store, source) = library();
    let named = |key: &str, repeat| Episode { key: key.into(), repeat, ..episode("Shop!", 5, 1) };
    put(&store, source, "4", 4, &[("b", named("k1", 1)), ("b", named("k2", 2)), ("b", named("k3", 1))], &[]);
    let b = store.run("results.b").unwrap().unwrap().entry.id;
    let slugs: Vec<String> = store.episodes(b).unwrap().into_iter().map(|e| e.slug).collect();
    assert_eq!(slugs, ["shop", "shop-2", "shop-3", "shop-r2"]);

    let other = store.put_source("/elsewhere/results", "results", false).unwrap();
    store.put_runs(other, "", "staminabench", &[run("a", "opus")]).unwrap();
    assert_eq!(store.run("results.a-2").unwrap().unwrap().source_path, "/elsewhere/results");

    put(
        &store,
        source,
        "5",
        5,
        &[("a", named("same", 1)), ("a", episode("z", 3, 1)), ("a", named("same", 3))],
        &[],
    );
    let filter = WarningFilter { code: Some("episode.duplicate".into()), ..WarningFilter::default() };
    assert_eq!(store.warnings(source, &filter, 0, 10).unwrap().matching, 1);
}

#[test]
fn hostile_numbers_and_texts_are_stored() {
    let (store, source) = library();
    let mut wild = Episode::new("wild", "…");
    wild.planned_turns = Some(u32::MAX);
    wild.tokens = Some(Tokens { input: Some(u64::MAX), cached: None, output: Some(u64::MAX) });
    wild.cost_usd = Some(f64::INFINITY);
    let mut turn = Turn::new(u32::MAX);
    turn.attempts = vec![attempt(1, Verdict::Passed, 9, 2), attempt(1, Verdict::Failed, 0, 0)];
    turn.attempts[0].tests[0].message = Some("x".repeat(1_000_000));
    turn.attempts[0].reward = Some(f64::NAN);
    wild.turns = vec![Turn::new(0), turn];
    wild.artifacts = vec![Artifact::new(ArtifactKind::Log, "a/b")];
    let repeated = Episode { key: "again".into(), ..wild.clone() };
    put(&store, source, "w", 1, &[("b", wild), ("b", repeated)], &[]);

    let run = store.run("results.b").unwrap().unwrap().entry;
    assert_eq!(run.totals.tokens.input, Some(i64::MAX as u64));
    let list = store.list_runs(&RunFilter { sort: RunSort::Tokens, ..RunFilter::default() }).unwrap();
    assert_eq!(list.rows.len(), 2);
    let wild = store.episodes(run.id).unwrap().into_iter().find(|e| e.key == "wild").unwrap();
    assert_eq!((wild.cells.len(), wild.known_turns), (store::limits::GRID_TURNS as usize, u32::MAX));
    let turn = store.turn(wild.id, u32::MAX).unwrap().unwrap();
    assert!(turn.attempts[0].tests[0].message.as_ref().unwrap().len() <= store::limits::MESSAGE_BYTES);
    assert!(store.source_counts(source).unwrap().not_reached > u64::from(u32::MAX));
    while store.index_text(10).unwrap() {}
}
