//! Lists of runs, their tags and summaries, and the search for texts.

use model::{
    Attempt, Baseline, Benchmark, CensoringPolicy, EndReason, Ending, Episode, Request, Run, Stamina,
    TestOutcome, TestResult, Turn, Verdict,
};
use store::{JOB_ID, MatchKind, MatchRank, RunFilter, RunGrouping, RunSort, Store, Summary};

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

/// A mean of 5 over 9 turns stood behind one of 8 over 15, of which it is more, where all plan 15.
#[test]
fn stamina_over_other_turns_is_sorted_by_its_share_of_them() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/many", "many", false).unwrap();
    let keys = ["less", "more", "shorter", "unknown"];
    let runs: Vec<Run> = keys.iter().map(|key| run(key, "glm")).collect();
    store.put_runs(source, "", "staminabench", &runs).unwrap();
    let episodes: Vec<(&str, Episode)> =
        keys.iter().map(|key| (*key, episode(&format!("shop {key}"), 15, 2))).collect();
    put(&store, source, "p", 1, &episodes, &[]);
    for stale in store.stale_runs().unwrap() {
        let (mean, tau) = match stale.slug.as_str() {
            "many.less" => (Some(4.0), Some(15)),
            "many.more" => (Some(8.0), Some(15)),
            "many.shorter" => (Some(5.0), Some(9)),
            _ => (None, None),
        };
        let stamina = Stamina { mean, tau, ..Stamina::default() };
        store.put_summary(&stale, &Summary { stamina, ..Summary::default() }).unwrap();
    }
    for group in [RunGrouping::Benchmark, RunGrouping::None] {
        let filter = RunFilter { group, ..RunFilter::default() };
        assert_eq!(slugs(&store, &filter), ["many.shorter", "many.more", "many.less", "many.unknown"]);
        let ascending = RunFilter { ascending: true, ..filter.clone() };
        assert_eq!(slugs(&store, &ascending), ["many.less", "many.more", "many.shorter", "many.unknown"]);
        // Another order is one of all runs.
        let by_turns = RunFilter { sort: RunSort::Episodes, ..filter };
        assert_eq!(slugs(&store, &by_turns), ["many.less", "many.more", "many.shorter", "many.unknown"]);
    }
}

/// Turns out of 12 and turns out of 100 have no common scale.
#[test]
fn the_greatest_stamina_of_a_group_is_given_for_every_number_of_turns() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/many", "many", false).unwrap();
    let runs: Vec<Run> = ["a", "b", "c", "d"].iter().map(|key| run(key, "glm")).collect();
    store.put_runs(source, "", "staminabench", &runs).unwrap();
    let episodes = ["a", "b", "c", "d"].map(|key| (key, episode("shop", 5, 2)));
    put(&store, source, "p", 1, &episodes, &[]);
    for stale in store.stale_runs().unwrap() {
        let (mean, ci_high, tau) = match stale.slug.as_str() {
            "many.a" => (Some(7.0), Some(9.5), Some(12)),
            "many.b" => (Some(8.0), None, Some(12)),
            "many.c" => (Some(40.0), Some(52.0), Some(100)),
            _ => (None, None, None),
        };
        let stamina = Stamina { mean, ci_high, tau, ..Stamina::default() };
        store.put_summary(&stale, &Summary { stamina, ..Summary::default() }).unwrap();
    }
    let groups = store.list_runs(&RunFilter::default()).unwrap().groups;
    assert_eq!((groups.len(), groups[0].tau), (1, Some((12, 100))));
    assert_eq!(groups[0].most_stamina, [(12, 9.5), (100, 52.0)]);
}

/// The τ of a run without tests is not that of its group, and its stamina stretched the scale of the others.
#[test]
fn a_run_without_tests_has_no_greatest_stamina() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/many", "many", false).unwrap();
    let mut untested = run("a", "glm");
    untested.benchmark.key = model::LOCOBENCH_AGENT.to_owned();
    store.put_runs(source, "", "locobench", &[untested, run("b", "glm")]).unwrap();
    let episodes = ["a", "b"].map(|key| (key, episode("shop", 5, 2)));
    put(&store, source, "p", 1, &episodes, &[]);
    for stale in store.stale_runs().unwrap() {
        let tau = if stale.slug == "many.a" { 40 } else { 5 };
        let stamina = Stamina { mean: Some(2.0), tau: Some(tau), ..Stamina::default() };
        store.put_summary(&stale, &Summary { stamina, ..Summary::default() }).unwrap();
    }
    let filter = RunFilter { group: RunGrouping::None, ..RunFilter::default() };
    let groups = store.list_runs(&filter).unwrap().groups;
    assert_eq!((groups.len(), groups[0].tau), (1, Some((5, 5))));
    assert_eq!(groups[0].most_stamina, [(5, 2.0)]);
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

/// A turn with a request and a failed attempt; of each failing test its id, what it checks, and what came out.
fn failed_turn(number: u32, request: &str, tests: &[(&str, &str, &str)]) -> Turn {
    let mut attempt = Attempt::new(1, Verdict::Failed);
    let failing = |(id, intent, actual): &(&str, &str, &str)| TestResult {
        intent: Some((*intent).to_owned()),
        expected: Some("exit 2".to_owned()),
        actual: Some((*actual).to_owned()),
        // The source says what came out twice.
        message: Some((*actual).to_owned()),
        ..TestResult::new(*id, TestOutcome::Failed)
    };
    attempt.tests = tests.iter().map(failing).collect();
    Turn { attempts: vec![attempt], request: Some(Request::Text(request.to_owned())), ..Turn::new(number) }
}

/// `search unknown subcommand` gave twenty requests that add a new subcommand before the tests of that name, one for each turn and
/// run of one failing test, and each with its message twice.
#[test]
fn phrases_come_first_and_a_failing_test_of_many_turns_and_runs_is_one_hit() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    store.put_runs(source, "", "staminabench", &[run("a", "opus"), run("b", "qwen")]).unwrap();
    let rejected = "unknown subcommand is rejected";
    let notes = Episode {
        turns: vec![
            failed_turn(1, "Add a subcommand. What is unknown fails.", &[("c001", rejected, "status 127")]),
            failed_turn(2, "Keep unknown subcommands apart.", &[("c007", rejected, "status 127")]),
            failed_turn(3, "No note is such that it is noted.", &[("c002", "missing", "no such note: 7")]),
        ],
        ..Episode::new("notes", "notes")
    };
    put(&store, source, "1", 1, &[("a", notes.clone()), ("b", notes)], &[]);
    while store.index_text(10).unwrap() {}
    let hits = |text: &str| store.search(text, 50).unwrap().hits;
    let found = |text: &str| -> Vec<(MatchKind, Option<u32>, MatchRank, u32)> {
        hits(text).into_iter().map(|hit| (hit.kind, hit.turn, hit.rank, hit.also)).collect()
    };
    let request = |turn: u32, rank: MatchRank| (MatchKind::Request, Some(turn), rank, 1);
    let phrases = [request(2, MatchRank::Phrase), (MatchKind::Failure, Some(2), MatchRank::Phrase, 3)];
    let both = [phrases[0], phrases[1], request(1, MatchRank::Words)];
    assert_eq!(found("unknown subcommand"), both);
    assert_eq!(found("UNKNOWN, \"subcommand"), both, "a lone mark and punctuation");
    assert_eq!(found("\"\" unknown subcommand \"…\""), both, "empty phrases");
    assert_eq!(found("\"unknown subcommand\""), [phrases[1]], "whole words in this order");
    assert!(found("\"\"").is_empty());
    let test = hits("\"unknown subcommand\"").remove(0);
    assert_eq!(test.detail, "c007 unknown subcommand is rejected exit 2 status 127");
    assert!(!test.also_is_least, "every attempt was read");
    // With a small limit, too.
    let first = store.search("unknown subcommand", 1).unwrap().hits;
    assert_eq!((first.len(), first[0].rank), (1, MatchRank::Phrase));

    let noted = hits("no such note");
    let kinds: Vec<MatchKind> = noted.iter().map(|hit| hit.kind).collect();
    assert_eq!(kinds, [MatchKind::Failure, MatchKind::Request]);
    assert!(noted[0].detail.contains("no such note: 7"), "{noted:?}");
    assert_eq!(hits("\"such note\" missing").len(), 1);
    assert_eq!(hits("\"note such\" missing"), []);
}

/// A small limit reads few attempts, so the places of a test are at least so many. Digits in the name of a file that are not the
/// turn's made one test several.
#[test]
fn a_failing_test_of_more_attempts_than_are_read_is_one_hit_with_at_least_so_many_places() {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    store.put_runs(source, "", "staminabench", &[run("a", "opus")]).unwrap();
    let turn_texts = |number: u32| {
        let id = if number == 1 { "tests/test_9.py::get" } else { "tests/test_99.py::get" };
        failed_turn(number, "Go on.", &[(id, "an answer", "boom at once")])
    };
    let long = Episode { turns: (1..=101).map(turn_texts).collect(), ..Episode::new("long", "long") };
    put(&store, source, "1", 1, &[("a", long)], &[]);
    while store.index_text(10).unwrap() {}
    let found = |text: &str, limit: u32| -> Vec<(Option<u32>, u32, bool)> {
        let hits = store.search(text, limit).unwrap().hits.into_iter();
        hits.map(|hit| (hit.turn, hit.also, hit.also_is_least)).collect()
    };
    for text in ["boom", "boom at"] {
        assert_eq!(found(text, 1), [(Some(101), 3, true)], "{text}");
        let two_places = found(text, 2);
        assert!(matches!(two_places[..], [(Some(101), 7.., true)]), "{text}: {two_places:?}");
        assert_eq!(found(text, 50), [(Some(101), 99, false), (Some(1), 0, false)], "{text}");
    }
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
    let job_episodes = |job: &str| -> Vec<String> {
        store.runs_of_job(job).unwrap().into_iter().map(|run| run.source_name).collect()
    };
    assert_eq!(job_episodes("j"), ["one", "two"]);
    assert_eq!(
        (job_episodes("s"), job_episodes("t")),
        (vec!["played here".to_owned()], vec!["of tb".to_owned()])
    );
    assert!(job_episodes("").is_empty());
    store.remove_source(two).unwrap();
    assert_eq!(job_episodes("j"), ["one"]);
}
