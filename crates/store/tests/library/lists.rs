//! Lists of runs, their tags and summaries, and the search for texts.

use model::{Baseline, Benchmark, CensoringPolicy, EndReason, Ending, Episode, Run};
use store::{JOB_ID, MatchKind, RunFilter, RunGrouping, RunSort, Store, Summary};

use crate::{episode, library, put, run, summarize};

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
    let filtered = |filter: RunFilter| slugs(&store, &RunFilter { group: RunGrouping::None, ..filter });
    let text = |text: &str| filtered(RunFilter { text: text.into(), ..RunFilter::default() });
    assert_eq!(text("QWEN evocode"), ["many.r4"]);
    assert_eq!(text("worth ärger"), ["many.r1"]);
    assert_eq!(text("many.R4"), ["many.r4"], "by its id, as a link or the command line names it");
    assert_eq!(text("100% _"), [""; 0]);
    assert_eq!(filtered(RunFilter { real_only: true, ..RunFilter::default() }).len(), 4);
    assert_eq!(filtered(RunFilter { harnesses: vec![String::new()], ..RunFilter::default() }), ["many.r1"]);
    assert_eq!(
        filtered(RunFilter { tags: vec!["Worth a look".into()], ..RunFilter::default() }),
        ["many.r1"]
    );
    assert_eq!(filtered(RunFilter { min_episodes: Some(1), ..RunFilter::default() }).len(), 3);
    assert_eq!(filtered(RunFilter { sources: vec![source + 1], ..RunFilter::default() }).len(), 0);
    assert_eq!(filtered(RunFilter { with_warnings: true, ..RunFilter::default() }).len(), 0);

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

/// The count and the filter left out runs that the list marked because a number is less sure than it looks.
#[test]
fn runs_that_are_shown_with_a_warning_are_counted_and_found() {
    let (store, source) = library();
    store
        .put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen"), run("c", "opus")])
        .unwrap();
    let marked = || {
        let filter = RunFilter { with_warnings: true, ..RunFilter::default() };
        let rows = store.list_runs(&filter).unwrap().rows;
        let found: Vec<String> = rows.into_iter().map(|(_, row)| row.key).collect();
        assert_eq!(store.library_counts().unwrap().runs_with_warnings as usize, found.len());
        found
    };
    let before = marked();
    assert!(!before.contains(&"b".to_owned()), "{before:?}");

    for stale in store.stale_runs().unwrap() {
        let doubts = if stale.slug == "results.b" { vec!["2 of 9 episodes".to_owned()] } else { Vec::new() };
        store.put_summary(&stale, &Summary { doubts, ..Summary::default() }).unwrap();
    }
    assert!(marked().contains(&"b".to_owned()));
    assert_eq!(marked().len(), before.len() + 1);
    store.withdraw(&["results.c".to_owned()], Some("wrong key")).unwrap();
    assert!(marked().contains(&"c".to_owned()));

    // A trial that another run has as well.
    let counted = marked().len();
    let shared = |key: &str| {
        let mut shared = episode("both", 5, 1);
        shared.identity = Some("one trial".to_owned());
        let other = store.put_source(&format!("/data/{key}"), key, false).unwrap();
        store.put_runs(other, "", "staminabench", &[run(key, "qwen")]).unwrap();
        put(&store, other, "1", 1, &[(key, shared)], &[]);
        store.settle_identities().unwrap();
    };
    shared("d");
    assert_eq!(marked().len(), counted);
    shared("e");
    let now = marked();
    assert!(["d", "e"].iter().all(|key| now.contains(&(*key).to_owned())), "{now:?}");
}

/// Scenarios of one name have several titles where benchmarks name theirs alike. All were called as the run with the least id
/// calls its own.
#[test]
fn each_scenario_that_matches_has_its_own_title() {
    let (store, source) = library();
    let titled = |title: &str| Episode { title: Some(title.to_owned()), ..episode("one", 5, 1) };
    put(&store, source, "3", 9, &[("a", titled("A shop")), ("b", titled("A library"))], &[]);
    let found = |text: &str| {
        let hits = store.search(text, 50).unwrap().hits.into_iter();
        let scenarios = hits.filter(|hit| hit.kind == MatchKind::Episode);
        scenarios.map(|hit| (hit.title, hit.run, hit.also)).collect::<Vec<_>>()
    };
    let hit = |title: &str, run: &str| (format!("one · {title}"), format!("results.{run}"), 0);
    assert_eq!(found("one"), [hit("A library", "b"), hit("A shop", "a")]);
    assert_eq!(found("one shop"), [hit("A shop", "a")]);
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
    let shop = hits("endpoint number 1 shop").remove(0);
    assert!(shop.also == 1 && shop.also_in_runs, "{shop:?}");
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
    put("foreign", "table", Some("j"));
    put("played here", "staminabench", Some("s"));
    put("of tb", "terminal-bench", Some("t"));
    let two = put("two", "harbor", Some("j"));
    let of_job = |job: &str| -> Vec<String> {
        store.runs_of_job(job).unwrap().into_iter().map(|run| run.source_name).collect()
    };
    assert_eq!(of_job("j"), ["one", "two"]);
    assert_eq!((of_job("s"), of_job("t")), (vec!["played here".to_owned()], vec!["of tb".to_owned()]));
    assert!(of_job("").is_empty());
    store.remove_source(two).unwrap();
    assert_eq!(of_job("j"), ["one"]);
}
