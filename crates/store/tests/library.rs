//! The library as a whole: reading returns what was written, also after writing again, closing, purging and restoring.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;
use std::time::Duration;

use model::{
    Artifact, ArtifactKind, Attempt, Baseline, Benchmark, CensoringPolicy, EndReason, Ending, Episode,
    GraderPlace, Request, Run, Stamina, TestOutcome, TestResult, Tokens, Turn, Verdict, Warning,
};
use store::{
    GraderMention, GraderMentions, JOB_ID, MatchKind, PartRead, RunFilter, RunGrouping, RunSort, SourceId,
    StaleRun, Store, Summary, WarningFilter,
};

fn run(key: &str, model: &str) -> Run {
    let benchmark = Benchmark { key: "staminabench".into(), name: "StaminaBench".into() };
    Run { model: Some(model.into()), harness: Some("mini_swe".into()), ..Run::unknown(key, benchmark) }
}

fn attempt(number: u32, verdict: Verdict, passed: u32, total: u32) -> Attempt {
    let outcome = |n| if n < passed { TestOutcome::Passed } else { TestOutcome::Failed };
    let mut attempt = Attempt::new(number, verdict);
    attempt.passed = Some(passed);
    attempt.total = Some(total);
    attempt.tests =
        (0..total).map(|n| TestResult::new(format!("test_api.py::test_{n}"), outcome(n))).collect();
    for test in attempt.tests.iter_mut().filter(|test| test.is_failing()) {
        test.message = Some(format!("AssertionError: expected 201 for {}, got 404", test.id));
    }
    attempt
}

/// Passes `stamina` of `planned` turns, then fails one.
fn episode(scenario: &str, planned: u32, stamina: u32) -> Episode {
    let mut episode = Episode::new(scenario, scenario);
    episode.planned_turns = Some(planned);
    for number in 1..=planned.min(stamina + 1) {
        let mut turn = Turn::new(number);
        turn.request = Some(Request::Text(format!("Add endpoint number {number} to {scenario}.")));
        turn.attempts = if number <= stamina {
            vec![attempt(1, Verdict::Failed, 1, 4), attempt(2, Verdict::Passed, 4, 4)]
        } else {
            vec![attempt(1, Verdict::Failed, 3, 4)]
        };
        episode.turns.push(turn);
    }
    episode
}

fn put(
    store: &Store,
    source: SourceId,
    part: &str,
    stamp: u64,
    episodes: &[(&str, Episode)],
    warnings: &[Warning],
) {
    let episodes: Vec<(String, Episode)> =
        episodes.iter().map(|(run, e)| ((*run).to_owned(), e.clone())).collect();
    let part = PartRead { place: "", key: part, stamp, episodes: &episodes, warnings, files_read: 3 };
    store.put_part(source, &part).unwrap();
}

/// A source with one run `a` of two episodes and one run `b` of one.
fn library() -> (Store, SourceId) {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    store.put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen")]).unwrap();
    put(&store, source, "1", 1, &[("a", episode("shop", 5, 2)), ("b", episode("shop", 5, 0))], &[]);
    let warning = Warning::skipped("two/x.json", "json.truncated", "The file ends in the middle.");
    put(&store, source, "2", 2, &[("a", episode("library", 5, 5))], &[warning]);
    (store, source)
}

fn summarize(store: &Store, mean: impl Fn(&StaleRun) -> Option<f64>) {
    for stale in store.stale_runs().unwrap() {
        let summary = Summary {
            stamina: Stamina { mean: mean(&stale), tau: 5, ..Stamina::default() },
            score: Some(50.0),
            ..Summary::default()
        };
        store.put_summary(&stale, &summary).unwrap();
    }
}

fn slugs(store: &Store, filter: &RunFilter) -> Vec<String> {
    store.list_runs(filter).unwrap().rows.into_iter().map(|(_, row)| row.slug).collect()
}

#[test]
fn tags_of_the_source_are_added_once_and_can_be_removed() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    let mut run = run("a", "opus");
    let tags = || store.run("results.a").unwrap().unwrap().entry.tags;
    run.tags = vec!["paper".into(), " first ".into()];
    store.put_runs(source, "", "staminabench", &[run.clone()]).unwrap();
    assert_eq!(tags(), ["first", "paper"]);
    store.annotate(&["results.a".into()], &["mine".into()], &["paper".into()], None).unwrap();
    run.tags.push("later".into());
    let before = store.last_change().unwrap();
    store.put_runs(source, "", "staminabench", &[run.clone()]).unwrap();
    assert_eq!(tags(), ["first", "later", "mine"], "a removed tag stays removed");
    assert!(store.last_change().unwrap() > before);
}

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

    store.drop_parts(source, &[(String::new(), "2".to_owned())]).unwrap();
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
        store.drop_parts(source, &keep).unwrap();
        store.put_survey_warnings(source, warnings, 4).unwrap();
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
    assert!(store.attempt_totals(entry().id, &[]).unwrap().iter().map(|of| of.failed).sum::<u32>() > 0);
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

#[test]
fn summaries_are_stale_when_episodes_or_the_policy_changed() {
    let (store, source) = library();
    assert_eq!(store.stale_runs().unwrap().len(), 2);
    summarize(&store, |_| Some(3.5));
    assert!(store.stale_runs().unwrap().is_empty());
    assert_eq!(store.run("results.a").unwrap().unwrap().entry.summary.unwrap().stamina.mean, Some(3.5));

    store.put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen")]).unwrap();
    assert!(store.stale_runs().unwrap().is_empty(), "nothing changed");
    put(&store, source, "2", 3, &[("a", episode("library", 5, 1))], &[]);
    let stale = store.stale_runs().unwrap();
    assert_eq!(stale.iter().map(|s| s.slug.as_str()).collect::<Vec<_>>(), ["results.a"]);

    // A summary of the episodes before the next write does not hide that write.
    put(&store, source, "2", 4, &[("a", episode("library", 5, 2))], &[]);
    store.put_summary(&stale[0], &Summary::default()).unwrap();
    assert_eq!(store.stale_runs().unwrap().len(), 1);

    summarize(&store, |_| None);
    let mut policy = CensoringPolicy::default();
    policy.overrides.insert(EndReason::TestsFailed, Ending::Censored);
    store.set_policy(&policy).unwrap();
    assert_eq!(store.stale_runs().unwrap().len(), 2);
}

#[test]
fn stamina_of_runs_of_other_lengths_is_not_sorted_together() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/many", "many", false).unwrap();
    let runs: Vec<Run> = ["long", "longer", "short", "unknown"].iter().map(|key| run(key, "glm")).collect();
    store.put_runs(source, "", "staminabench", &runs).unwrap();
    let episodes: Vec<(&str, Episode)> = vec![
        ("long", episode("shop", 20, 2)),
        ("longer", episode("shop", 20, 2)),
        ("short", episode("shop", 5, 2)),
    ];
    put(&store, source, "p", 1, &episodes, &[]);
    // 5 of 5 turns are neither more nor less than 4 or 8 of 20.
    summarize(&store, |stale| match stale.slug.as_str() {
        "many.long" => Some(4.0),
        "many.longer" => Some(8.0),
        "many.short" => Some(5.0),
        _ => None,
    });
    for group in [RunGrouping::Benchmark, RunGrouping::None] {
        let filter = RunFilter { group, ..RunFilter::default() };
        assert_eq!(slugs(&store, &filter), ["many.longer", "many.long", "many.short", "many.unknown"]);
        let ascending = RunFilter { ascending: true, ..filter };
        assert_eq!(slugs(&store, &ascending), ["many.long", "many.longer", "many.short", "many.unknown"]);
    }
}

#[test]
fn runs_are_filtered_sorted_grouped_and_paged() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/many", "many", false).unwrap();
    let runs: Vec<Run> = (0..6_u32)
        .map(|n| {
            let mut run = run(&format!("r{n}"), ["Opus", "qwen", "Opus"][n as usize % 3]);
            run.harness = (n != 1).then(|| format!("h{}", n % 2));
            run.baseline = (n == 5).then_some(Baseline::Oracle);
            run.simulated = n == 4;
            if n >= 3 {
                run.benchmark = Benchmark { key: "evocode-bench".into(), name: "EvoCode-Bench".into() };
            }
            run
        })
        .collect();
    store.put_runs(source, "", "staminabench", &runs).unwrap();
    let episodes: Vec<(&str, Episode)> =
        vec![("r0", episode("shop", 5, 2)), ("r2", episode("shop", 5, 2)), ("r3", episode("shop", 9, 2))];
    put(&store, source, "p", 1, &episodes, &[]);
    summarize(&store, |stale| match stale.slug.as_str() {
        "many.r0" => Some(2.0),
        "many.r2" => Some(7.0),
        "many.r3" => Some(1.0),
        _ => None,
    });

    let list = store.list_runs(&RunFilter::default()).unwrap();
    assert_eq!(list.total, 6);
    let titles: Vec<_> = list.groups.iter().map(|g| (g.title.as_deref(), g.runs, g.planned_turns)).collect();
    assert_eq!(titles, [(Some("EvoCode-Bench"), 3, Some((9, 9))), (Some("StaminaBench"), 3, Some((5, 5)))]);
    let order: Vec<_> = list.rows.iter().map(|(group, row)| (*group, row.key.as_str())).collect();
    assert_eq!(order, [(0, "r3"), (0, "r4"), (0, "r5"), (1, "r2"), (1, "r0"), (1, "r1")], "unknown last");

    // What is unknown of every run of a group is not known of the group; a simulated run has no cost, and that is known.
    assert_eq!(list.groups[0].known, [RunSort::Harness, RunSort::Turns, RunSort::Score, RunSort::Cost]);
    assert_eq!(list.groups[1].known, [RunSort::Harness, RunSort::Turns, RunSort::Score]);

    let flat = RunFilter { group: RunGrouping::None, ascending: true, ..RunFilter::default() };
    // Means over different horizons are not compared. One list sorts stamina within each benchmark, unknown last.
    let slugs_in_one_list = ["many.r3", "many.r4", "many.r5", "many.r0", "many.r2", "many.r1"];
    assert_eq!(slugs(&store, &flat), slugs_in_one_list);
    let page = RunFilter { offset: 1, limit: 2, ..flat.clone() };
    assert_eq!(slugs(&store, &page), slugs_in_one_list[1..3]);
    assert_eq!(store.list_runs(&page).unwrap().total, 6);

    for sort in [
        RunSort::Model,
        RunSort::Harness,
        RunSort::Benchmark,
        RunSort::Source,
        RunSort::Episodes,
        RunSort::Turns,
        RunSort::Score,
        RunSort::Tokens,
        RunSort::Cost,
        RunSort::Date,
    ] {
        for group in [
            RunGrouping::Benchmark,
            RunGrouping::Harness,
            RunGrouping::Model,
            RunGrouping::Source,
            RunGrouping::None,
        ] {
            let filter = RunFilter { sort, group, ..RunFilter::default() };
            let list = store.list_runs(&filter).unwrap();
            assert_eq!(list.rows.len(), 6);
            assert_eq!(list.groups.iter().map(|g| g.runs).sum::<u32>(), 6);
            assert!(list.rows.is_sorted_by_key(|(group, _)| *group));
        }
    }
    let by_model =
        RunFilter { group: RunGrouping::None, sort: RunSort::Model, ascending: true, ..RunFilter::default() };
    assert_eq!(slugs(&store, &by_model)[4..], ["many.r1", "many.r4"], "in any case");

    store.annotate(&["many.r1".into()], &["Worth a look".into()], &[], Some("Ärger")).unwrap();
    let only = |filter: RunFilter| slugs(&store, &RunFilter { group: RunGrouping::None, ..filter });
    let text = |text: &str| only(RunFilter { text: text.into(), ..RunFilter::default() });
    assert_eq!(text("QWEN evocode"), ["many.r4"]);
    assert_eq!(text("worth ärger"), ["many.r1"]);
    assert_eq!(text("many.R4"), ["many.r4"], "by its id, as a link or the command line names it");
    assert_eq!(text("100% _"), [""; 0]);
    assert_eq!(only(RunFilter { real_only: true, ..RunFilter::default() }).len(), 4);
    assert_eq!(only(RunFilter { harnesses: vec![String::new()], ..RunFilter::default() }), ["many.r1"]);
    assert_eq!(only(RunFilter { tags: vec!["Worth a look".into()], ..RunFilter::default() }), ["many.r1"]);
    assert_eq!(only(RunFilter { min_episodes: Some(1), ..RunFilter::default() }).len(), 3);
    assert_eq!(only(RunFilter { sources: vec![source + 1], ..RunFilter::default() }).len(), 0);
    assert_eq!(only(RunFilter { with_warnings: true, ..RunFilter::default() }).len(), 0);

    // A facet counts the runs that match the other filters, so that its own values stay available.
    let filter = RunFilter { models: vec!["qwen".into()], real_only: true, ..RunFilter::default() };
    let facets = store.list_runs(&filter).unwrap().facets;
    let models: Vec<_> = facets.models.iter().map(|f| (f.0.as_str(), f.2)).collect();
    assert_eq!(models, [("Opus", 3), ("qwen", 1)]);
    assert_eq!((facets.harnesses[0].0.as_str(), facets.harnesses.len()), ("", 1));
    // Cells and tags are counted over all matching runs, not only over the page.
    let page = RunFilter { limit: 1, offset: 3, ..RunFilter::default() };
    let facets = store.list_runs(&page).unwrap().facets;
    let cells: Vec<_> = facets.cells.iter().map(|(h, m, n)| (h.as_str(), m.as_str(), *n)).collect();
    assert_eq!(cells, [("h0", "Opus", 2), ("h1", "Opus", 2), ("", "qwen", 1), ("h0", "qwen", 1)]);
    assert_eq!(facets.tags, [("Worth a look".to_owned(), 1)]);
    let other = RunFilter { benchmarks: vec!["evocode-bench".into()], ..RunFilter::default() };
    assert_eq!(store.list_runs(&other).unwrap().facets.tags, []);

    let counts = store.library_counts().unwrap();
    assert_eq!((counts.runs, counts.real_runs, counts.runs_with_warnings), (6, 4, 0));
    assert_eq!(counts.tags, [("Worth a look".to_owned(), 1)]);
    store
        .annotate(&["many.r1".into(), "none.such".into()], &[" ".into()], &["Worth a look".into()], Some(""))
        .unwrap();
    assert_eq!(store.library_counts().unwrap().tags, []);
}

#[test]
fn text_is_found_after_indexing_and_not_after_its_deletion() {
    let (store, source) = library();
    let before = store.search("endpoint", 0).unwrap();
    assert!(!before.complete && before.hits.is_empty());
    while store.index_text(1).unwrap() {}
    assert!(!store.index_text(1).unwrap());

    let hits = |text: &str| store.search(text, 50).unwrap().hits;
    let requests = hits("endpoint number 2");
    assert_eq!(requests.len(), 2, "one hit per scenario, also for several runs");
    assert!(requests.iter().all(|hit| hit.kind == MatchKind::Request && hit.turn == Some(2)));
    assert_eq!(hits("endpoint number 1 shop")[0].also, 1);
    assert!(requests[0].detail.contains("endpoint number 2"));

    let failures = hits("assertionerr test_3");
    assert!(failures.iter().all(|hit| hit.kind == MatchKind::Failure));
    assert_eq!(failures[0].test.as_deref(), Some("test_api.py::test_3"));
    assert!(failures[0].detail.contains("expected 201"));
    assert_eq!(hits("libr").iter().find(|hit| hit.kind == MatchKind::Episode).unwrap().title, "library");
    assert_eq!(hits("opus")[0].run, "results.a");
    assert_eq!(hits("\"'; DROP TABLE run --"), []);
    assert_eq!(hits("endpoint OR NEAR("), []);
    assert_eq!(hits("  "), []);
    assert_eq!(store.search("shop", 3).unwrap().hits.len(), 3);

    put(&store, source, "1", 7, &[("a", episode("shop", 5, 5))], &[]);
    put(&store, source, "2", 8, &[], &[]);
    while store.index_text(10).unwrap() {}
    assert_eq!(hits("endpoint library"), []);
    assert_eq!(hits("test_1 assertion").len(), 5, "the first attempts of five turns");
}

#[test]
fn the_runs_of_a_job_are_those_of_open_sources_with_its_id() {
    let store = Store::in_memory().unwrap();
    let put = |name: &str, format: &str, job: Option<&str>| {
        let source = store.put_source(&format!("/data/{name}"), name, false).unwrap();
        let mut run = run("a", "opus");
        run.extra.extend(job.map(|job| (JOB_ID.to_owned(), job.into())));
        store.put_runs(source, "", format, &[run]).unwrap();
        source
    };
    put("one", "harbor", Some("j"));
    put("other", "harbor", Some("k"));
    put("none", "harbor", None);
    // A field of this name means something else elsewhere.
    put("foreign", "staminabench", Some("j"));
    let two = put("two", "harbor", Some("j"));
    let of_job = |job: &str| -> Vec<String> {
        store.runs_of_job(job).unwrap().into_iter().map(|run| run.source_name).collect()
    };
    assert_eq!(of_job("j"), ["one", "two"]);
    assert!(of_job("").is_empty());
    store.remove_source(two).unwrap();
    assert_eq!(of_job("j"), ["one"]);
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
    let again = Episode { key: "again".into(), ..wild.clone() };
    put(&store, source, "w", 1, &[("b", wild), ("b", again)], &[]);

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
