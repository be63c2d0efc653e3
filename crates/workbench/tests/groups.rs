//! Runs made by hand: groups and what they pool, runs in two members, sums of which a part is unknown, and failing tests
//! with the turn in which they passed before.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod library;

use std::path::Path;

use library::{Library, members};
use model::Median;
use workbench::api::{
    Annotate, Comparability, CompareRequest, ComparedMember, Comparison, ExportFormat, ExportOf,
    ExportRequest, FailureCasesRequest, FailureGrouping, FailureOrigin, FailureScope, FailuresRequest,
    FigureOf, ListRuns, MatrixRequest, Measure, Member, Pairs, RetriesRequest, TableOf, TurnRef,
};

/// An attempt at a turn: the outcomes of its tests, and what is known of its use.
#[derive(Clone, Copy)]
struct Try {
    outcomes: &'static str,
    cost: Option<f64>,
    tokens: Option<u64>,
    calls: Option<u32>,
    steps: Option<u32>,
}

const PASSED: Try = Try { outcomes: "..", cost: Some(1.0), tokens: Some(10), calls: Some(2), steps: Some(3) };
const FAILED: Try = Try { outcomes: ".F", ..PASSED };

/// A run to be written: name, harness, model, hash of its pack, and for each scenario its turns with their attempts.
struct Given<'a> {
    name: &'a str,
    harness: &'a str,
    model: &'a str,
    pack: Option<&'a str>,
    attempt_limit: u32,
    scenarios: &'a [&'a [&'a [Try]]],
}

const fn given<'a>(
    name: &'a str,
    harness: &'a str,
    model: &'a str,
    scenarios: &'a [&'a [&'a [Try]]],
) -> Given<'a> {
    Given { name, harness, model, pack: None, attempt_limit: 3, scenarios }
}

fn write(folder: &Path, run: &Given<'_>) {
    let place = folder.join(run.name);
    for (number, turns) in run.scenarios.iter().enumerate() {
        let turns: Vec<String> = (1..)
            .zip(*turns)
            .map(|(turn, attempts)| {
                let attempts: Vec<String> =
                    (1..).zip(*attempts).map(|(number, attempt)| written(number, attempt)).collect();
                format!(
                    r#"{{"turn": {turn}, "tests": ["t::one", "t::two"], "attempts": [{}]}}"#,
                    attempts.join(", ")
                )
            })
            .collect();
        let text = format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "finished_at": "2026-06-01T10:00:00Z", "turns": [{}]}}"#,
            turns.join(", ")
        );
        let scenario = place.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).unwrap();
        std::fs::write(scenario.join("trajectory.json"), text).unwrap();
    }
    let pack = run.pack.map_or("null".to_owned(), |hash| format!("\"{hash}\""));
    let report = format!(
        r#"{{"schema_version": "stamina-lab/1", "agent": "x", "benchmark": "restful_server_gen_iterative", "num_tasks": {},
            "run": {{"harness": "{}", "model": "{}", "runner": "Stamina Lab", "attempt_limit": {}, "pack_sha256": {pack},
                    "started_at": "2026-06-01T0{}:00:00Z"}}}}"#,
        run.scenarios.len(),
        run.harness,
        run.model,
        run.attempt_limit,
        run.name.len()
    );
    std::fs::write(place.join("report.json"), report).unwrap();
}

fn written(number: u32, attempt: &Try) -> String {
    let verdict = if attempt.outcomes.contains('F') { "failed" } else { "passed" };
    let passed = attempt.outcomes.matches('.').count();
    let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let tokens = attempt.tokens.map(|n| format!(r#"{{"input": {n}, "output": {n}}}"#));
    format!(
        r#"{{"attempt": {number}, "verdict": "{verdict}", "passed": {passed}, "total": {}, "outcomes": "{}", "tokens": {},
            "cost_usd": {}, "tool_calls": {}, "model_requests": {}}}"#,
        attempt.outcomes.len(),
        attempt.outcomes,
        or_null(tokens),
        or_null(attempt.cost.map(|n| n.to_string())),
        or_null(attempt.calls.map(|n| n.to_string())),
        or_null(attempt.steps.map(|n| n.to_string())),
    )
}

fn library(runs: &[Given<'_>]) -> (tempfile::TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    for run in runs {
        write(&folder.path().join("lab"), run);
    }
    let library = Library::new(&[folder.path().join("lab")]);
    (folder, library)
}

impl Library {
    fn compared(&self, members: Vec<Member>, pairs: Pairs) -> Comparison {
        let request = CompareRequest { members, pairs, ..CompareRequest::default() };
        self.workbench.compare_runs(request).unwrap()
    }

    fn tag(&self, tag: &str, runs: &[&str]) -> Member {
        let runs = runs.iter().map(|run| format!("lab.{run}")).collect();
        let annotate = Annotate { runs, add_tags: vec![tag.into()], remove_tags: vec![], note: None };
        self.workbench.annotate(annotate).unwrap();
        Member::Tag { tag: tag.into(), benchmark: String::new() }
    }
}

fn harness(name: &str) -> Member {
    Member::Harness { harness: name.into(), benchmark: String::new() }
}

fn mark(comparison: &Comparison, setting: &str) -> Option<Comparability> {
    comparison.differences.iter().find(|d| d.setting == setting).map(|d| d.comparability)
}

#[test]
fn a_cell_is_all_runs_of_a_harness_with_a_model() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a1", "a", "m", one),
        given("a2", "a", "m", one),
        given("a3", "a", "other", one),
        given("b1", "b", "m", one),
    ]);
    let cell =
        |harness: &str| Member::Cell { harness: harness.into(), model: "m".into(), benchmark: String::new() };
    let comparison = library.compared(vec![cell("a"), cell("b")], Pairs::All);
    let [a, b] = &comparison.members[..] else { panic!("two members") };
    assert_eq!((a.id.as_str(), b.id.as_str()), ("cell:a×m@staminabench", "cell:b×m@staminabench"));
    assert_eq!((a.name.as_str(), b.name.as_str()), ("a", "b"), "the model is the same");
    assert_eq!(a.runs, ["lab.a1", "lab.a2"]);
    assert_eq!((a.stamina.n, b.stamina.n, a.model.as_deref()), (2, 1, Some("m")));
    assert!(mark(&comparison, "Models").is_none() && mark(&comparison, "Harnesses").is_none());
    let nobody = CompareRequest { members: vec![cell("c")], ..CompareRequest::default() };
    assert_eq!(library.workbench.compare_runs(nobody).unwrap_err().code, "compare.no_runs");
}

#[test]
fn groups_of_other_models_are_not_comparable_and_of_other_shares_may_not_be() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a1", "a", "x", one),
        given("a2", "a", "y", one),
        given("b1", "b", "x", one),
        given("b2", "b", "z", one),
        given("c1", "c", "x", one),
        given("c2", "c", "y", one),
        given("c3", "c", "y", one),
        given("d1", "d", "x", one),
        given("d2", "d", "y", one),
    ]);
    let compared_pair = |a: &str, b: &str| library.compared(vec![harness(a), harness(b)], Pairs::All);
    let other = compared_pair("a", "b");
    assert_eq!(mark(&other, "Models"), Some(Comparability::NotComparable));
    let line = other.differences.iter().find(|d| d.setting == "Models").unwrap();
    assert_eq!(line.values[0].as_deref(), Some("x (1 run, 1 episode), y (1 run, 1 episode)"));
    assert_eq!(mark(&compared_pair("a", "c"), "Models"), Some(Comparability::CannotBeRuledOut));
    let same = compared_pair("a", "d");
    assert!(mark(&same, "Models").is_none() && same.equal.iter().any(|(line, _)| line == "Models"));
    // Who pools several limits is favored by none of them.
    let (_folder, library) = library_of_two_limits();
    let comparison = library.compared(vec![harness("a"), harness("b")], Pairs::All);
    let limits = comparison.differences.iter().find(|d| d.setting == "Attempt limit").unwrap();
    assert_eq!(limits.values, [Some("3, 9".to_owned()), Some("3".to_owned())]);
    assert!(!limits.note.contains("favor"), "{}", limits.note);
}

fn library_of_two_limits() -> (tempfile::TempDir, Library) {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let more = Given { attempt_limit: 9, ..given("a2", "a", "x", one) };
    library(&[given("a1", "a", "x", one), more, given("b1", "b", "x", one)])
}

#[test]
fn runs_of_one_model_each_are_what_is_compared() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[given("a1", "a", "x", one), given("a2", "a", "y", one)]);
    let runs = library.compared(members(&["lab.a1", "lab.a2"]), Pairs::All);
    assert!(mark(&runs, "Models").is_none());
}

#[test]
fn what_has_runs_in_common_is_not_tested() {
    let turns: [&[&[Try]]; 3] = [&[&[PASSED], &[FAILED]], &[&[FAILED]], &[&[PASSED], &[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a", "h", "x", &turns),
        given("bb", "h", "y", &turns[..2]),
        given("ccc", "h", "z", &turns[1..]),
    ]);
    let tag = library.tag("both", &["a", "bb"]);
    let [run, third] = ["lab.a", "lab.ccc"].map(|run| Member::Run { run: run.into() });
    let comparison = library.compared(vec![tag, run, third], Pairs::All);
    let is_expected = |c: &&String| {
        c.contains("1 run, or trials of it, is in both: nothing is tested between these two, nor over all")
    };
    assert_eq!(comparison.cautions.iter().filter(is_expected).count(), 1, "{:?}", comparison.cautions);
    assert!(!comparison.cautions.iter().any(|c| c.contains("opened twice")), "{:?}", comparison.cautions);
    let [shared, apart, others] = &comparison.pairs[..] else { panic!("three pairs") };
    assert_eq!((shared.in_both, apart.in_both, others.in_both), (1, 0, 0));
    assert!(shared.logrank.is_none() && shared.p_holm.is_none() && shared.logrank_permutation.is_none());
    assert!(shared.difference.is_none() && shared.ratio.is_none() && shared.paired.is_none());
    assert!(shared.difference_bootstrap.is_none() && shared.logrank_stratified.is_none());
    assert!(comparison.overall.is_none() && comparison.overall_stratified.is_none());
    // Holm counts the two pairs that are tested.
    let (p, q) = (apart.logrank.unwrap().p, others.logrank.unwrap().p);
    assert!((apart.p_holm.unwrap().min(others.p_holm.unwrap()) - (2.0 * p.min(q)).min(1.0)).abs() < 1e-12);
    assert!(apart.paired.is_some() && apart.difference.is_some());
}

/// A run and a group that has it play the same scenarios; that nothing is paired has another reason.
#[test]
fn what_has_runs_in_common_is_not_said_to_share_no_scenario() {
    let turns: [&[&[Try]]; 2] = [&[&[PASSED], &[FAILED]], &[&[FAILED]]];
    let (_folder, library) = library(&[given("a", "h", "x", &turns), given("bb", "h", "y", &turns)]);
    let tag = library.tag("both", &["a", "bb"]);
    let run = Member::Run { run: "lab.a".into() };
    let compared = CompareRequest { members: vec![run, tag], ..CompareRequest::default() };
    let paired = library.workbench.table(&TableOf::Paired { of: compared.clone(), other: None }).unwrap();
    assert!(paired.rows.is_empty());
    let notes = paired.notes.join(" ");
    assert!(notes.contains("have runs, or trials of them, in common: nothing is paired."), "{notes}");
    assert!(!notes.contains("no scenario"), "{notes}");
    let pairs = library.workbench.table(&TableOf::Pairs { of: compared.clone() }).unwrap();
    let shared = pairs.columns.iter().position(|column| column.name == "shared_scenarios").unwrap();
    assert_eq!((&pairs.rows[0][shared], pairs.columns[shared].missing.as_ref()), (&None, "n/a"));
    let figure = FigureOf::Paired { of: compared, other: 1 };
    let figure = ExportOf::Figure { figure, preset: "icml".into(), height_pt: None, grey: false };
    let refused = library
        .workbench
        .export(ExportRequest { of: figure, format: ExportFormat::Svg, to: None })
        .unwrap_err();
    assert!(refused.message.contains("in common: nothing is paired"), "{}", refused.message);
}

#[test]
fn why_nothing_is_tested_over_all_is_said_truly() {
    let turns: [&[&[Try]]; 2] = [&[&[PASSED], &[FAILED]], &[&[FAILED]]];
    let alive: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[PASSED], &[PASSED]]];
    let (_folder, library) = library(&[
        given("a", "h", "x", &turns),
        given("bb", "h", "y", &turns),
        given("ccc", "h", "z", &turns[..1]),
        given("dddd", "h", "u", alive),
        given("eeeee", "h", "v", alive),
    ]);
    // The two that overlap are not the reference: no pair of the table is of them.
    let tag = library.tag("both", &["a", "bb"]);
    let [first, third] = ["lab.ccc", "lab.a"].map(|run| Member::Run { run: run.into() });
    let group_request = CompareRequest { members: vec![first, third, tag], ..CompareRequest::default() };
    let comparison = library.workbench.compare_runs(group_request.clone()).unwrap();
    assert!(comparison.pairs.iter().all(|pair| pair.in_both == 0));
    assert_eq!(comparison.overlaps, [(1, 2, 1)]);
    let why = comparison.no_overall.unwrap();
    assert!(why.contains("runs in common") && why.contains("1 run, or trials of it, is in both"), "{why}");
    let pairs = library.workbench.table(&TableOf::Pairs { of: group_request.clone() }).unwrap();
    assert!(
        pairs.notes.iter().any(|note| note.contains("runs in both: 1; nothing is tested")),
        "{:?}",
        pairs.notes
    );
    let to = tempfile::tempdir().unwrap();
    let path = to.path().join("report.md");
    let report = ExportOf::Report { of: group_request, preset: "icml".into() };
    let to = Some(path.to_string_lossy().into_owned());
    library.workbench.export(ExportRequest { of: report, format: ExportFormat::Md, to }).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("There is no log-rank test over all runs: members have runs in common"), "{text}");
    assert!(!text.contains("nobody failed"));

    let comparison = library.compared(members(&["lab.dddd", "lab.eeeee"]), Pairs::Reference);
    assert_eq!(comparison.no_overall.as_deref(), Some("no episode failed"));
    let comparison = library.compared(members(&["lab.a", "lab.bb"]), Pairs::Reference);
    assert_eq!((comparison.overall.is_some(), comparison.no_overall), (true, None));
    let comparison = library.compared(members(&["lab.a", "lab.ccc"]), Pairs::Reference);
    assert_eq!(
        comparison.no_overall_stratified.as_deref(),
        Some("only one scenario was played by all members")
    );
}

#[test]
fn runs_on_other_packs_share_no_scenario() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let hashes = ["a".repeat(64), "b".repeat(64)];
    let with = |name: &'static str, model: &'static str, pack| Given {
        pack: Some(pack),
        ..given(name, "h", model, one)
    };
    let (_folder, library) = library(&[
        with("a", "x", hashes[0].as_str()),
        with("bb", "y", hashes[1].as_str()),
        with("ccc", "z", hashes[0].as_str()),
    ]);
    let comparison = library.compared(members(&["lab.a", "lab.bb", "lab.ccc"]), Pairs::Reference);
    assert_eq!(mark(&comparison, "Pack of scenarios"), Some(Comparability::NotComparable));
    assert_eq!(comparison.shared_scenarios, 0);
    let paired: Vec<bool> = comparison.pairs.iter().map(|pair| pair.paired.is_some()).collect();
    assert_eq!(paired, [false, true], "scenario_0 of another pack is another scenario");
}

const UNKNOWN: Try = Try { cost: None, tokens: None, calls: None, steps: None, ..PASSED };

fn spent(turns: &[&[&[Try]]]) -> (ComparedMember, String) {
    let (_folder, library) = library(&[given("a", "h", "x", turns)]);
    let cases_request = CompareRequest { members: members(&["lab.a"]), ..CompareRequest::default() };
    let comparison = library.workbench.compare_runs(cases_request.clone()).unwrap();
    let figure = FigureOf::Bars { of: cases_request, measure: Measure::Steps, published: false };
    let caption = figures::caption(&library.workbench.print_spec(&figure, "icml", None, false).unwrap());
    (comparison.members.into_iter().next().unwrap(), caption)
}

#[test]
fn a_cost_of_which_a_part_is_unknown_is_unknown() {
    let idle = Try { cost: None, tokens: Some(0), calls: Some(0), steps: Some(0), ..FAILED };
    // Of the first scenario an attempt does not say what it cost; one of the second asked no model.
    let (member, _) = spent(&[&[&[FAILED, UNKNOWN], &[PASSED], &[FAILED]], &[&[idle, PASSED], &[FAILED]]]);
    let spent = &member.spent;
    assert_eq!((spent.cost_usd, spent.cost_known), (Some(2.0), 1));
    assert_eq!((spent.cost_per_episode, spent.cost_per_survived_turn), (None, None));
    assert!(!spent.no_turn_survived);
    // Turns 2 and 3 of the first, 1 and 2 of the second: 1 + 1 + (0 + 1) + 1 dollars.
    assert_eq!((spent.cost_per_turn, spent.cost_per_turn_known.turns), (Some(1.0), 4));
    let (member, _) = spent_of_all_known();
    assert_eq!((member.spent.cost_usd, member.spent.cost_per_survived_turn), (Some(2.0), Some(2.0)));
}

fn spent_of_all_known() -> (ComparedMember, String) {
    spent(&[&[&[PASSED], &[FAILED]]])
}

#[test]
fn a_rate_is_over_the_turns_that_say_the_number() {
    let (member, caption) = spent(&[&[&[PASSED], &[UNKNOWN], &[FAILED]], &[&[UNKNOWN], &[UNKNOWN]]]);
    let spent = &member.spent;
    assert_eq!((spent.turns_played, spent.steps_known.turns, spent.steps_known.episodes), (5, 2, 1));
    assert_eq!((spent.steps_per_turn, spent.tokens_per_turn), (Some(3.0), Some(20.0)));
    assert!(
        caption.contains("for 2 of 5 turns"),
        "the caption counts the turns that say it, as the table does: {caption}"
    );
}

#[test]
fn where_no_turn_was_survived_money_bought_none() {
    let (member, _) = spent(&[&[&[FAILED]]]);
    assert!(member.spent.no_turn_survived && member.spent.cost_per_survived_turn.is_none());
    let (member, _) = spent(&[&[&[Try { cost: None, ..FAILED }]]]);
    assert!(!member.spent.no_turn_survived, "what it cost is unknown");
}

const SECOND: Try = FAILED;
const FIRST: Try = Try { outcomes: "F.", ..PASSED };

#[test]
fn failing_tests_say_where_they_passed_before() {
    // t::two fails at turn 1 and passes at once; at turn 3 it fails again, and at turn 4, where t::one does, too.
    let both = Try { outcomes: "FF", ..PASSED };
    let turns: &[&[&[Try]]] = &[&[&[SECOND, PASSED], &[PASSED], &[SECOND], &[both]]];
    let (_folder, library) = library(&[given("a", "h", "x", turns)]);
    let origins_request = FailuresRequest { members: members(&["lab.a"]), ..FailuresRequest::default() };
    let cases = |request: FailureCasesRequest| library.workbench.list_failure_cases(request).unwrap();
    let page = cases(FailureCasesRequest { of: origins_request.clone(), ..FailureCasesRequest::default() });
    let standing: Vec<Vec<_>> = page
        .rows
        .iter()
        .map(|row| {
            let shown_test = |t: &workbench::api::StandingTest| {
                (t.test.clone(), t.stood.history, t.stood.passed_in_turn, t.stood.since_turn)
            };
            row.failing.iter().map(shown_test).collect()
        })
        .collect();
    let [one, two] = ["t::one", "t::two"].map(str::to_owned);
    assert_eq!(standing[0], [(two.clone(), FailureOrigin::New, None, None)]);
    assert_eq!(standing[1], [(two.clone(), FailureOrigin::Regressed, Some(2), None)]);
    assert_eq!(
        standing[2],
        [
            (one, FailureOrigin::Regressed, Some(3), None),
            (two, FailureOrigin::StillFailing, Some(2), Some(3))
        ]
    );
    let at = FailureCasesRequest {
        of: origins_request,
        turn: Some(4),
        most_tests: 1,
        ..FailureCasesRequest::default()
    };
    let episode = page.rows[0].episode.clone();
    let page = cases(FailureCasesRequest { episode: Some(episode), ..at.clone() });
    assert_eq!((page.total, page.rows[0].turn, page.rows[0].failing.len()), (1, 4, 1));
    assert_eq!(cases(FailureCasesRequest { episode: Some("other".into()), ..at }).total, 0);
}

#[test]
fn repair_counts_one_population_in_every_group() {
    // Turn 1: two stretches that end in the same turn. Turn 2: one that ends at turn 3. Turn 4: one that never ends.
    let turns: &[&[&[Try]]] = &[&[&[FIRST, SECOND, PASSED], &[SECOND], &[PASSED], &[FIRST]]];
    let (_folder, library) = library(&[given("a", "h", "x", turns), given("bb", "h", "y", &[&[&[PASSED]]])]);
    let failures_request =
        FailuresRequest { members: members(&["lab.a", "lab.bb"]), ..FailuresRequest::default() };
    let failures = library.workbench.get_failures(failures_request.clone()).unwrap();
    let repair = &failures.repair;
    assert_eq!(
        (repair.stretches, repair.stretches_repaired, repair.repaired_in_same_turn),
        (4, Some(3), Some(2))
    );
    assert_eq!(repair.median_turns.time(), Some(0), "half of all four ended in their turn");
    assert_eq!((repair.failed_first, repair.tried_again, repair.repaired), (3, 1, 1));
    assert_eq!(failures.repairs[0].repair, *repair);
    assert_eq!((failures.repairs[1].repair.stretches, failures.groups[1].attempts), (0, 0));

    let by_turn = FailuresRequest { group: FailureGrouping::Turn, ..failures_request.clone() };
    let by_turn = library.workbench.get_failures(by_turn).unwrap();
    let counts: Vec<_> = by_turn.groups.iter().map(|g| (g.key.as_str(), g.made, g.attempts)).collect();
    // Two runs reached turn 1, in four attempts.
    assert_eq!(counts, [("1", 4, 2), ("2", 1, 1), ("4", 1, 1)]);
    assert!((by_turn.groups[0].rate.unwrap().0 - 0.5).abs() < 1e-12);
    let began = |failures: &workbench::api::Failures| {
        let repair_of = |g: &workbench::api::RepairGroup| {
            (g.key.clone(), g.repair.stretches, g.repair.median_turns.time())
        };
        failures.repairs.iter().map(repair_of).collect::<Vec<_>>()
    };
    let in_turns = [("1".to_owned(), 2, Some(0)), ("2".to_owned(), 1, Some(1)), ("4".to_owned(), 1, None)];
    assert_eq!(began(&by_turn), in_turns);

    let scoped = |scope| {
        library.workbench.get_failures(FailuresRequest { scope, ..failures_request.clone() }).unwrap()
    };
    let turns = scoped(FailureScope::Turns);
    assert_eq!((turns.attempts, turns.total.made), (2, 5));
    let first = scoped(FailureScope::First);
    assert_eq!((first.attempts, first.total.made, first.all_attempts), (1, 3, 7), "turns 1 and 2, and 1");
    // What a retry repaired is no final attempt of a turn not passed: a narrower scope says nothing of it.
    assert_eq!((&turns.repair, &first.repair), (repair, repair));
    // Nor is a group left out because nothing in scope failed in it: turns 1 and 4 have no first failure.
    let of_first = FailuresRequest {
        group: FailureGrouping::Turn,
        scope: FailureScope::First,
        ..failures_request.clone()
    };
    let of_first = library.workbench.get_failures(of_first).unwrap();
    assert_eq!(of_first.groups.iter().map(|g| g.key.as_str()).collect::<Vec<_>>(), ["2"]);
    assert_eq!(began(&of_first), in_turns);
    let turn_request =
        FailuresRequest { group: FailureGrouping::Turn, scope: FailureScope::First, ..failures_request };
    let times = library.workbench.table(&TableOf::RepairTimes { of: turn_request }).unwrap();
    assert_eq!(times.rows.len(), 4, "three turns, and all");
}

/// Nothing was tried again, and the test that fails still fails a turn later.
#[test]
fn a_median_that_is_not_reached_stands_beside_one_that_is_unknown() {
    let (_folder, library) = library(&[given("a", "h", "x", &[&[&[FAILED], &[FAILED]]])]);
    let request = FailuresRequest::default();
    let repair = library.workbench.get_failures(request.clone()).unwrap().repair;
    assert_eq!((repair.median_attempts, repair.median_turns), (Median::Unknown, Median::NotReached));
    let shown = library.workbench.table(&TableOf::RepairTimes { of: request }).unwrap().to_markdown();
    assert!(shown.contains("| 2 | 0 | 0 | n/a | unknown | 1 | 0 | 0 | 0 | not reached |"), "{shown}");
}

#[test]
fn failures_are_those_of_one_benchmark_and_say_what_is_not_comparable() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) =
        library(&[given("a", "h", "x", one), Given { attempt_limit: 9, ..given("bb", "h", "y", one) }]);
    library.workbench.ingest(&library::repository().join("tests/fixtures/harbor/jobs"), &|_, _| {}).unwrap();
    let failures = library.workbench.get_failures(FailuresRequest::default()).unwrap();
    assert_eq!(failures.benchmark.as_ref().unwrap().0, "staminabench");
    assert!(failures.benchmarks.len() > 1 && failures.episodes == 2);
    assert_eq!(failures.not_comparable, ["Attempt limit: 3 (1 member), 9 (1 member)"]);
    let other = FailuresRequest { benchmark: Some("harbor:tasks".into()), ..FailuresRequest::default() };
    assert_eq!(library.workbench.get_failures(other).unwrap().benchmark.unwrap().0, "harbor:tasks");
    let none = FailuresRequest { benchmark: Some("no".into()), ..FailuresRequest::default() };
    assert_eq!(library.workbench.get_failures(none).unwrap_err().code, "failures.no_runs");

    let retries = RetriesRequest { members: members(&["lab.a", "lab.bb"]), ..RetriesRequest::default() };
    let retries = library.workbench.get_retries(retries).unwrap();
    assert_eq!(retries.not_comparable, ["Attempt limit: 3 (1 member), 9 (1 member)"]);
}

#[test]
fn a_run_that_was_broken_off_is_named_as_what_holds_the_horizon_down_and_can_be_left_out() {
    let whole: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[PASSED], &[PASSED]], &[&[PASSED], &[FAILED]]];
    let broken_off: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED]], &[&[FAILED]]];
    let (_folder, library) = library(&[
        given("whole", "h", "x", whole),
        given("another", "h", "y", whole),
        given("short", "h", "z", broken_off),
    ]);
    let all = library.compared(members(&["lab.whole", "lab.another", "lab.short"]), Pairs::Reference);
    assert_eq!(all.tau, 2);
    let names_turns = |c: &&String| {
        c.starts_with("Compared over 2 turns: ")
            && c.ends_with(" has no data beyond turn 2; the others have data to turn 4.")
    };
    assert_eq!(all.cautions.iter().filter(names_turns).count(), 1, "{:?}", all.cautions);
    let two = library.compared(members(&["lab.whole", "lab.another"]), Pairs::Reference);
    assert!(two.tau == 4 && two.cautions.iter().all(|c| !c.contains("no data beyond")));

    let matrix = |request: MatrixRequest| library.workbench.get_matrix(request).unwrap();
    let held = matrix(MatrixRequest::default());
    let shortest = held.shortest.clone().unwrap();
    assert_eq!(
        (held.tau, shortest.runs.as_slice(), shortest.otherwise),
        (2, &["lab.short".to_owned()][..], 4)
    );
    assert!(
        held.cautions
            .iter()
            .any(|c| c.starts_with("Compared over 2 turns: lab.short has no data beyond turn 2"))
    );
    let without = matrix(MatrixRequest { without: shortest.runs, ..MatrixRequest::default() });
    assert_eq!((without.tau, without.shortest, without.models.len()), (4, None, 2));
    let asked = matrix(MatrixRequest { tau: Some(1), ..MatrixRequest::default() });
    assert_eq!((asked.tau, asked.shortest), (1, None), "who asks for a τ knows it");
}

#[test]
fn steps_survived_are_those_of_the_turns_that_count_for_stamina() {
    // Two steps an attempt: turn 1 in two attempts, turn 2 in one; what came at turn 3 and later buys no stamina.
    let counted: &[&[&[Try]]] = &[&[&[FAILED, PASSED], &[PASSED], &[FAILED], &[PASSED]]];
    let (member, _) = spent(counted);
    let used = &member.spent;
    assert_eq!((used.steps_survived, used.steps_survived_known), (Some(9.0), 1));
    assert_eq!((used.steps_per_turn, used.tool_calls_per_turn), (Some(15.0 / 4.0), Some(2.5)));
    let unknown: &[&[&[Try]]] = &[&[&[UNKNOWN], &[FAILED]]];
    let (member, _) = spent(unknown);
    assert_eq!((member.spent.steps_survived, member.spent.steps_survived_known), (None, 0));
}

#[test]
fn named_runs_of_another_benchmark_are_not_dropped_silently() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[given("a", "h", "x", one), given("bb", "h", "y", one)]);
    library.workbench.ingest(&library::repository().join("tests/fixtures/harbor/jobs"), &|_, _| {}).unwrap();
    let runs = ["lab.a", "lab.bb", "jobs.nop-k1-nop"].map(str::to_owned).to_vec();
    let matrix = library.workbench.get_matrix(MatrixRequest { runs, ..MatrixRequest::default() }).unwrap();
    assert_eq!(
        (matrix.benchmark.0.as_str(), matrix.left_out.as_slice()),
        ("staminabench", &["jobs.nop-k1-nop".to_owned()][..])
    );
    assert!(matrix.cautions.iter().any(|c| c.contains("jobs.nop-k1-nop is of another benchmark")));
    let zero = MatrixRequest { tau: Some(0), ..MatrixRequest::default() };
    let error = library.workbench.get_matrix(zero).unwrap_err();
    assert!(!error.message.contains("to turn 0") && error.hint.unwrap().contains("from 1 to"));
}

#[test]
fn who_stops_at_a_failure_and_who_goes_on_differ_in_more_than_stamina() {
    let one: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let folder = tempfile::tempdir().unwrap();
    for (name, model, stops) in [("a", "x", true), ("bb", "y", false)] {
        write(&folder.path().join("lab"), &given(name, "h", model, one));
        let config = folder.path().join("lab").join(name).join("config.yaml");
        std::fs::write(config, format!("fail_stop: {stops}\n")).unwrap();
    }
    let library = Library::new(&[folder.path().join("lab")]);
    let comparison = library.compared(members(&["lab.a", "lab.bb"]), Pairs::All);
    assert_eq!(mark(&comparison, "After a failed turn"), Some(Comparability::NoEffect), "on stamina");
    let counts_after = |c: &&String| c.contains("score, tokens, cost and time count the turns after it");
    assert_eq!(comparison.cautions.iter().filter(counts_after).count(), 1, "{:?}", comparison.cautions);
    let compare_request =
        CompareRequest { members: members(&["lab.a", "lab.bb"]), ..CompareRequest::default() };
    let caption = |measure| {
        let figure = FigureOf::Bars { of: compare_request.clone(), measure, published: false };
        figures::caption(&library.workbench.print_spec(&figure, "icml", None, false).unwrap())
    };
    assert!(caption(Measure::Score).contains("not on equal terms"), "{}", caption(Measure::Score));
    assert!(!caption(Measure::Stamina).contains("not on equal terms"));
}

#[test]
fn a_series_of_retries_is_of_the_runs_that_its_cell_has() {
    let long: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[FAILED, PASSED]]];
    let short: &[&[&[Try]]] = &[&[&[FAILED, FAILED]]];
    let (_folder, library) =
        library(&[given("a1", "a", "m", long), given("a2", "a", "m", long), given("a3", "a", "m", short)]);
    let cell = Member::Cell { harness: "a".into(), model: "m".into(), benchmark: String::new() };
    let pooled = |only: &[&str]| {
        let only = only.iter().map(|run| format!("lab.{run}")).collect();
        let request = RetriesRequest { members: vec![cell.clone()], only };
        library.workbench.get_retries(request).unwrap().series.remove(0).points[0].stamina.n
    };
    assert_eq!((pooled(&[]), pooled(&["a1", "a2"])), (3, 2));
}

/// Every failed attempt of real jobs and of the sample, as the Turn page and the Failures page tell it: the same words and
/// numbers for the same test. In the sample the suite is a new file every turn (`turn_15.py`).
#[test]
fn the_turn_page_and_the_failures_page_count_failing_tests_alike() {
    let sample = library::repository().join("data/sample-simulated.zip");
    let mut regressed = 0;
    for path in [sample, library::repository().join("tests/fixtures/harbor")] {
        let library = Library::new(&[path]);
        for run in library.workbench.list_runs(ListRuns::default()).unwrap().rows {
            let group = FailuresRequest { members: members(&[&run.id]), ..FailuresRequest::default() };
            let asked =
                FailureCasesRequest { of: group, most_tests: 100_000, limit: 10_000, ..Default::default() };
            let page = library.workbench.list_failure_cases(asked).unwrap();
            // Every seventh is enough of the sample's many.
            let cases = page.rows.iter().filter(|case| !case.failing.is_empty());
            for case in cases.step_by(if page.rows.len() > 50 { 7 } else { 1 }) {
                let at = TurnRef { run: run.id.clone(), episode: case.episode.clone(), turn: case.turn };
                let turn = library.workbench.get_turn(at).unwrap();
                let attempt = turn.attempts.iter().find(|attempt| attempt.number == case.attempt).unwrap();
                let mut of_turn: Vec<_> = attempt
                    .failing
                    .iter()
                    .map(|test| test.id.clone())
                    .zip(attempt.histories.clone())
                    .collect();
                let mut of_case: Vec<_> =
                    case.failing.iter().map(|test| (test.test.clone(), test.stood)).collect();
                of_turn.sort_by(|a, b| a.0.cmp(&b.0));
                of_case.sort_by(|a, b| a.0.cmp(&b.0));
                assert_eq!(of_turn, of_case, "{} {} turn {}", run.id, case.episode, case.turn);
                let counted =
                    |history| attempt.histories.iter().filter(|of| of.history == history).count() as u32;
                regressed += counted(FailureOrigin::Regressed);
                let (new, was, still, unknown) = case.origins;
                let all = [
                    (FailureOrigin::New, new),
                    (FailureOrigin::Regressed, was),
                    (FailureOrigin::StillFailing, still),
                    (FailureOrigin::Unknown, unknown),
                ];
                assert_eq!(all.map(|(history, _)| counted(history)), all.map(|(_, n)| n));
            }
        }
    }
    assert!(regressed > 10, "the sample has tests that passed in an earlier turn: {regressed}");
}
