//! Which groups are compared and tested, and what is said where they are not.

use workbench::api::{
    Comparability, CompareRequest, Comparison, ExportFormat, ExportRequest, ExportSubject, FigureSubject,
    MatrixRequest, Measure, Member, Pairs, TableSubject,
};

use crate::groups::{FAILED, Given, PASSED, Try, given, library, write};
use crate::library::{self, Library, members};

fn harness(name: &str) -> Member {
    Member::Harness { harness: name.into(), benchmark: String::new() }
}

fn mark(comparison: &Comparison, setting: &str) -> Option<Comparability> {
    comparison.differences.iter().find(|d| d.setting == setting).map(|d| d.comparability)
}

#[test]
fn a_cell_is_all_runs_of_a_harness_with_a_model() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a1", "a", "m", tries),
        given("a2", "a", "m", tries),
        given("a3", "a", "other", tries),
        given("b1", "b", "m", tries),
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
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a1", "a", "x", tries),
        given("a2", "a", "y", tries),
        given("b1", "b", "x", tries),
        given("b2", "b", "z", tries),
        given("c1", "c", "x", tries),
        given("c2", "c", "y", tries),
        given("c3", "c", "y", tries),
        given("d1", "d", "x", tries),
        given("d2", "d", "y", tries),
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
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let more_attempts = Given { attempt_limit: 9, ..given("a2", "a", "x", tries) };
    library(&[given("a1", "a", "x", tries), more_attempts, given("b1", "b", "x", tries)])
}

#[test]
fn runs_of_one_model_each_are_what_is_compared() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[given("a1", "a", "x", tries), given("a2", "a", "y", tries)]);
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
    let paired =
        library.workbench.table(&TableSubject::Paired { request: compared.clone(), other: None }).unwrap();
    assert!(paired.rows.is_empty());
    let notes = paired.notes.join(" ");
    assert!(notes.contains("have runs, or trials of them, in common: nothing is paired."), "{notes}");
    assert!(!notes.contains("no scenario"), "{notes}");
    let pairs = library.workbench.table(&TableSubject::Pairs { request: compared.clone() }).unwrap();
    let shared = pairs.columns.iter().position(|column| column.name == "shared_scenarios").unwrap();
    assert_eq!((&pairs.rows[0][shared], pairs.columns[shared].missing.as_ref()), (&None, "n/a"));
    let figure = FigureSubject::Paired { request: compared, other: 1 };
    let figure = ExportSubject::Figure { figure, preset: "icml".into(), height_pt: None, grey: false };
    let refused = library
        .workbench
        .export(ExportRequest { subject: figure, format: ExportFormat::Svg, path: None })
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
    let reason = comparison.no_overall.unwrap();
    assert!(
        reason.contains("runs in common") && reason.contains("1 run, or trials of it, is in both"),
        "{reason}"
    );
    let pairs = library.workbench.table(&TableSubject::Pairs { request: group_request.clone() }).unwrap();
    let caution =
        comparison.cautions.iter().find(|caution| caution.contains("is in both: nothing is tested"));
    assert!(pairs.notes.contains(caution.unwrap()), "{:?}", pairs.notes);
    let report_path = tempfile::tempdir().unwrap();
    let path = report_path.path().join("report.md");
    let report = ExportSubject::Report { request: group_request, preset: "icml".into() };
    let report_path = Some(path.to_string_lossy().into_owned());
    library
        .workbench
        .export(ExportRequest { subject: report, format: ExportFormat::Md, path: report_path })
        .unwrap();
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
fn where_all_failed_at_once_nothing_else_is_said_to_keep_them_from_a_test() {
    let lost: &[&[&[Try]]] = &[&[&[FAILED]], &[&[FAILED]]];
    let later: &[&[&[Try]]] = &[&[&[FAILED]], &[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[
        given("a", "h", "x", lost),
        given("bb", "h", "y", lost),
        given("ccc", "h", "z", lost),
        given("dddd", "h", "x", later),
        given("eeeee", "h", "y", later),
    ]);
    let at_once = Some("all episodes that were still alive failed at the same turn");
    let reasons = |selection: Vec<Member>| {
        let comparison = library.compared(selection, Pairs::Reference);
        (comparison.no_overall, comparison.no_overall_stratified)
    };
    let (plain, stratified) = reasons(members(&["lab.a", "lab.bb", "lab.ccc"]));
    assert_eq!((plain.as_deref(), stratified.as_deref()), (at_once, at_once));
    // A member with repeats: the number of scenarios is not the reason.
    let repeats = library.tag("both", &["a", "bb"]);
    let (plain, _) = reasons(vec![repeats, Member::Run { run: "lab.ccc".into() }]);
    assert_eq!(plain.as_deref(), at_once);
    let (plain, stratified) = reasons(members(&["lab.dddd", "lab.eeeee"]));
    assert_eq!(plain, None, "one of each was still alive");
    assert_eq!(
        stratified.as_deref(),
        Some("in each scenario, all episodes that were still alive failed at the same turn")
    );
}

#[test]
fn runs_on_other_packs_share_no_scenario() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let hashes = ["a".repeat(64), "b".repeat(64)];
    let given_on_pack = |name: &'static str, model: &'static str, pack| Given {
        pack: Some(pack),
        ..given(name, "h", model, tries)
    };
    let (_folder, library) = library(&[
        given_on_pack("a", "x", hashes[0].as_str()),
        given_on_pack("bb", "y", hashes[1].as_str()),
        given_on_pack("ccc", "z", hashes[0].as_str()),
    ]);
    let comparison = library.compared(members(&["lab.a", "lab.bb", "lab.ccc"]), Pairs::Reference);
    assert_eq!(mark(&comparison, "Pack of scenarios"), Some(Comparability::NotComparable));
    assert_eq!(comparison.shared_scenarios, 0);
    let paired: Vec<bool> = comparison.pairs.iter().map(|pair| pair.paired.is_some()).collect();
    assert_eq!(paired, [false, true], "scenario_0 of another pack is another scenario");
}

#[test]
fn named_runs_of_another_benchmark_are_not_dropped_silently() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) = library(&[given("a", "h", "x", tries), given("bb", "h", "y", tries)]);
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
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let folder = tempfile::tempdir().unwrap();
    for (name, model, stops) in [("a", "x", true), ("bb", "y", false)] {
        write(&folder.path().join("lab"), &given(name, "h", model, tries));
        let config = folder.path().join("lab").join(name).join("config.yaml");
        std::fs::write(config, format!("fail_stop: {stops}\n")).unwrap();
    }
    let library = Library::new(&[folder.path().join("lab")]);
    let comparison = library.compared(members(&["lab.a", "lab.bb"]), Pairs::All);
    assert_eq!(mark(&comparison, "Stop after a failed turn"), Some(Comparability::NoEffect), "on stamina");
    let counts_after = |c: &&String| c.contains("Score, tokens, cost and time count the turns after it");
    assert_eq!(comparison.cautions.iter().filter(counts_after).count(), 1, "{:?}", comparison.cautions);
    let compare_request =
        CompareRequest { members: members(&["lab.a", "lab.bb"]), ..CompareRequest::default() };
    let caption = |measure| {
        let figure = FigureSubject::Bars { request: compare_request.clone(), measure, published: false };
        figures::caption(&library.workbench.print_spec(&figure, "icml", None, false).unwrap())
    };
    assert!(caption(Measure::Score).contains("not on equal terms"), "{}", caption(Measure::Score));
    assert!(!caption(Measure::Stamina).contains("not on equal terms"));
}
