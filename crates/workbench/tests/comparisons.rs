//! Comparisons through the workbench, on real results and on small ones that can be counted by hand.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod library;

use std::fmt::Write as _;
use std::path::PathBuf;

use workbench::api::{
    Annotate, Comparability, CompareRequest, Comparison, DisagreementMode, DisagreementPage,
    DisagreementRequest, DisagreementSort, FailureCasesRequest, FailureGrouping, FailureOrigin, FailureScope,
    FailuresRequest, MatrixRequest, Member, Pairs, RetriesRequest,
};

use library::{Library, members};

impl Library {
    fn disagreements(&self, members: Vec<Member>, mode: DisagreementMode) -> DisagreementPage {
        let request = DisagreementRequest {
            members,
            reference: 0,
            mode,
            sort: DisagreementSort::Scenario,
            text: String::new(),
            offset: 0,
            limit: 0,
        };
        self.workbench.list_disagreements(request).expect("disagreements")
    }

    fn compare(&self, runs: &[&str], pairs: Pairs) -> Comparison {
        let request = CompareRequest { members: members(runs), pairs, ..CompareRequest::default() };
        self.workbench.compare_runs(request).expect("a comparison")
    }
}

fn near(a: Option<f64>, b: f64) {
    assert!(a.is_some_and(|a| (a - b).abs() < 1e-9), "{a:?} is not {b}");
}

const ORACLE: &str = "jobs.oracle-k2-oracle";
const NOP: &str = "jobs.nop-k1-nop";

#[test]
fn two_small_runs_can_be_compared_by_hand() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let comparison = library.compare(&[ORACLE, NOP], Pairs::All);
    // Oracle: 4, 4, 3, 3 censored, two failed at turn 3. S = 1, 1, 4/6, 4/6. Nop: two failed at turn 1.
    assert_eq!((comparison.tau, comparison.turns, comparison.shared_scenarios), (4, 4, 2));
    let [oracle, nop] = &comparison.members[..] else { panic!("two members") };
    near(oracle.stamina.mean, 1.0 + 1.0 + 4.0 / 6.0 + 4.0 / 6.0);
    near(nop.stamina.mean, 0.0);
    assert_eq!((oracle.stamina.n, oracle.stamina.events, oracle.stamina.censored), (6, 2, 4));
    assert_eq!((oracle.name.as_str(), nop.name.as_str()), ("oracle", "nop"));
    assert_eq!((oracle.scenarios, nop.scenarios), (3, 2));
    assert_eq!(oracle.survival.iter().map(|row| row.at_risk).collect::<Vec<_>>(), [6, 6, 6, 2]);
    // Nothing was stopped from outside, so all readings are one.
    near(oracle.early_censored, 0.0);
    assert_eq!(oracle.censored_failed, oracle.stamina);

    let [pair] = &comparison.pairs[..] else { panic!("one pair") };
    let difference = pair.difference.unwrap();
    near(Some(difference.value), 10.0 / 3.0);
    // The agent ORACLE runs each of its three scenarios twice. Without each of them the difference is 3, 3 and 4: the
    // jackknife's standard error is √(2/3 · 6/9), Student's quantile that of 2 degrees of freedom.
    assert!(pair.clustered && comparison.overall_clustered);
    near(difference.ci_low, 10.0 / 3.0 - 4.302_652_729_911_275 * 2.0 / 3.0);
    assert_eq!(difference.ci_high, Some(4.0), "clipped to τ");
    assert!(pair.ratio.is_none(), "a ratio to 0 is not defined");
    // Turn 1: 2 of 8 fail, both of nop, expected 0.5 of them. Scores: an episode of ORACLE −1/16, one of nop −9/16; of
    // the scenarios −11/16, −11/16 (both with one of nop) and −2/16.
    let logrank = pair.logrank.unwrap();
    near(Some(logrank.chi2), 1.5 * 1.5 / ((2.0 * 121.0 + 4.0) / 256.0));
    assert_eq!((logrank.df, pair.p_holm), (1, Some(logrank.p)));
    let paired = pair.paired.as_ref().unwrap();
    near(Some(paired.mean), 4.0);
    assert_eq!((paired.n, paired.wins, paired.ci_low, paired.p), (2, (2, 0, 0), None, None));

    let marks: Vec<(&str, Comparability)> =
        comparison.differences.iter().map(|d| (d.setting.as_str(), d.comparability)).collect();
    assert_eq!(marks[0], ("Scenarios", Comparability::NotComparable));
    assert_eq!(comparison.comparability, Comparability::NotComparable);
    assert!(marks.contains(&("datasets.0.task_names", Comparability::NoEffect)));
    assert!(comparison.equal.iter().any(|(s, v)| s == "Benchmark" && v == "Harbor, tasks"));
    assert!(comparison.cautions.iter().any(|c| c.contains("fewer than 10 episodes")));
}

#[test]
fn a_tau_beyond_the_data_is_refused_and_a_shorter_one_taken() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let ask = |tau| {
        library.workbench.compare_runs(CompareRequest {
            members: members(&[ORACLE, NOP]),
            tau: Some(tau),
            ..CompareRequest::default()
        })
    };
    near(ask(2).unwrap().members[0].stamina.mean, 2.0);
    for tau in [0, 5] {
        let error = ask(tau).unwrap_err();
        assert!(error.code == "compare.tau" && error.hint.unwrap().contains("from 1 to 4"));
    }
    let none = library.workbench.compare_runs(CompareRequest::default()).unwrap_err();
    assert_eq!(none.code, "compare.nothing");
    let twice = CompareRequest { members: members(&[NOP, NOP]), ..CompareRequest::default() };
    assert_eq!(library.workbench.compare_runs(twice).unwrap_err().code, "compare.twice");
    let far = CompareRequest { members: members(&[NOP]), reference: 3, ..CompareRequest::default() };
    assert_eq!(library.workbench.compare_runs(far).unwrap_err().code, "compare.no_reference");
}

#[test]
fn groups_are_pooled_within_one_benchmark_only() {
    let library = Library::fixtures(&["harbor/jobs", "staminabench"]);
    let runs = [ORACLE, "staminabench.own"].map(str::to_owned).to_vec();
    library
        .workbench
        .annotate(Annotate { runs, add_tags: vec!["both".into()], remove_tags: vec![], note: None })
        .unwrap();
    let compared_with = |member| {
        library.workbench.compare_runs(CompareRequest { members: vec![member], ..CompareRequest::default() })
    };
    let tag = |benchmark: &str| Member::Tag { tag: "both".into(), benchmark: benchmark.into() };
    let mixed = compared_with(tag("")).unwrap_err();
    assert_eq!(mixed.code, "compare.mixed_benchmarks");
    assert!(mixed.hint.unwrap().contains("staminabench"));
    let one = compared_with(tag("staminabench")).unwrap();
    assert_eq!((one.members[0].id.as_str(), one.members[0].runs.len()), ("tag:both@staminabench", 1));
    let nobody = compared_with(Member::Harness { harness: "nobody".into(), benchmark: String::new() });
    assert_eq!(nobody.unwrap_err().code, "compare.no_runs");

    // Three folders of the same two scenarios, played by one model with three harnesses.
    let model = compared_with(Member::Model { model: "zai.glm-5".into(), benchmark: String::new() }).unwrap();
    let model = &model.members[0];
    assert_eq!((model.id.as_str(), model.name.as_str()), ("model:zai.glm-5@staminabench", "zai.glm-5"));
    assert_eq!((model.runs.len(), model.stamina.n, model.scenarios), (3, 6, 2));
    assert!(model.harness.is_none() && model.model.is_some());
    near(model.stamina.mean, 3.0);
    // A harness of baselines only is what was asked for.
    let oracle =
        compared_with(Member::Harness { harness: "oracle".into(), benchmark: "harbor:tasks".into() })
            .unwrap();
    assert_eq!(oracle.members[0].runs.len(), 3);
}

#[test]
fn names_and_swatches_tell_members_apart() {
    let library = Library::fixtures(&["harbor/jobs", "staminabench"]);
    let labels_of = |runs: &[&str]| {
        let comparison = library.compare(runs, Pairs::Reference);
        let names: Vec<String> = comparison.members.iter().map(|m| m.name.clone()).collect();
        let swatches: Vec<(u32, u32)> =
            comparison.members.iter().map(|m| (m.swatch.color, m.swatch.dash)).collect();
        (names, swatches)
    };
    let harnesses = ["staminabench.own", "staminabench.nested_folders", "staminabench.turns_from_zero"];
    let (names, swatches) = labels_of(&harnesses);
    assert_eq!(names, ["mini_swe", "openhands", "opencode"]);
    assert_eq!(swatches, [(1, 1), (2, 2), (3, 3)]);
    let (names, swatches) = labels_of(&["staminabench.own", ORACLE]);
    assert_eq!(names, ["zai.glm-5 · mini_swe", "oracle"]);
    assert_eq!(swatches, [(1, 1), (2, 2)]);
    // The same model and harness: told apart by id, each with its own swatch.
    let (names, swatches) = labels_of(&[ORACLE, "jobs.interrupted-oracle"]);
    assert_eq!(names, ["oracle (oracle-k2)", "oracle (interrupted)"]);
    assert_eq!(swatches, [(1, 1), (2, 2)]);
}

#[test]
fn turns_are_set_side_by_side() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let all = library.disagreements(members(&[ORACLE, NOP]), DisagreementMode::All);
    // t1 and v1 have 4 turns and t2 has 3. Nop failed all of t1 and t2, which oracle passed; oracle failed one of v1.
    assert_eq!(all.counts, (11, 7, 8, 0));
    let row = all.rows.iter().find(|r| r.scenario.contains("v1") && r.turn == 3).unwrap();
    let cell = row.cells[0].as_ref().unwrap();
    assert_eq!((cell.passed, cell.total, cell.episodes), (Some(2), Some(10), (2, 0)));
    assert!(row.cells[1].is_none() && row.spread.is_none(), "nop did not play it");
    let after = all.rows.iter().find(|r| r.scenario.contains("v1") && r.turn == 4).unwrap();
    assert!(after.cells[0].as_ref().unwrap().after_failure && !cell.after_failure);
    let failures = library.disagreements(members(&[ORACLE, NOP]), DisagreementMode::Failures);
    assert_eq!((failures.total, failures.rows.len()), (8, 8));
    let different = library.disagreements(members(&[ORACLE, NOP]), DisagreementMode::Different);
    assert!(different.rows.iter().all(|row| !row.scenario.contains("v1")) && different.total == 7);
}

#[test]
fn a_turn_without_a_verdict_differs_where_it_counts_as_a_failure() {
    let library = Library::fixtures(&["evocode"]);
    let pair = || members(&["evocode.big-2-high", "evocode.tiny-1"]);
    let different = || -> Vec<(String, u32)> {
        let page = library.disagreements(pair(), DisagreementMode::Different);
        page.rows.into_iter().map(|row| (row.scenario, row.turn)).collect()
    };
    let by_tests = ("task_one".to_owned(), 2);
    // The second has no verdict on the first turn of this task, which the first passed; at turn 3 neither has one.
    let without = ("task_two".to_owned(), 1);
    assert_eq!(different(), [by_tests.clone(), without]);
    let mut policy = model::CensoringPolicy::default();
    for reason in model::EndReason::ALL.iter().copied().filter(|r| *r != model::EndReason::TestsFailed) {
        policy.overrides.insert(reason, model::Ending::Censored);
    }
    library.workbench.set_policy(workbench::api::SetPolicy { policy }).unwrap();
    assert_eq!(different(), [by_tests], "what the policy takes for a fault from outside is no disagreement");
}

#[test]
fn the_matrix_has_a_cell_for_each_pair_and_says_what_is_missing() {
    let library = Library::fixtures(&["harbor/jobs", "staminabench"]);
    let get = |request| library.workbench.get_matrix(request);
    let matrix = get(MatrixRequest::default()).unwrap();
    assert_eq!(matrix.benchmark.0, "staminabench", "the one with most real runs");
    let harnesses: Vec<Option<&str>> = matrix.harnesses.iter().map(|line| line.name.as_deref()).collect();
    assert_eq!(harnesses, [Some("mini_swe"), Some("opencode"), Some("openhands"), None]);
    let models: Vec<Option<&str>> = matrix.models.iter().map(|line| line.name.as_deref()).collect();
    assert_eq!(models, [Some("zai.glm-5"), None]);
    assert_eq!(matrix.cells.iter().filter(|cell| cell.is_some()).count(), 4);
    near(matrix.models[0].mean, 3.0);
    assert_eq!((matrix.models[0].cells, matrix.models[0].missing), (3, 1));
    near(matrix.spread[0].as_ref().unwrap().ratio.map(|ratio| ratio.value), 1.0);
    assert!(matrix.spread[1].is_none(), "one harness alone is neither best nor worst");
    assert!(matrix.cautions.iter().any(|c| c.contains("4 of 8 cells have no run")));
    assert!(matrix.published.iter().any(|n| n.model == "GLM-5" && n.second_hand));

    // Of Harbor there are baselines but for one run with a scripted endpoint that Harbor takes for a model.
    let harbor = |with_baselines| MatrixRequest {
        benchmark: Some("harbor:tasks".into()),
        with_baselines,
        ..MatrixRequest::default()
    };
    assert_eq!(get(harbor(false)).unwrap().harnesses.len(), 1);
    assert_eq!(get(harbor(true)).unwrap().harnesses.len(), 3);
    let unknown = MatrixRequest { benchmark: Some("none".into()), ..MatrixRequest::default() };
    assert_eq!(get(unknown).unwrap_err().code, "matrix.no_runs");
    let far = MatrixRequest { tau: Some(99), ..MatrixRequest::default() };
    assert_eq!(get(far).unwrap_err().code, "matrix.tau");
}

#[test]
fn retries_are_read_from_the_attempts() {
    let library = Library::fixtures(&["staminabench"]);
    let retries = library
        .workbench
        .get_retries(RetriesRequest { members: members(&["staminabench.own"]), ..RetriesRequest::default() })
        .unwrap();
    // scenario_1 needed a second attempt at turn 1, scenario_0 one at turn 2; at turn 3 three did not help.
    let [series] = &retries.series[..] else { panic!("one series") };
    assert_eq!((retries.tau, series.attempt_limit), (4, Some(3)));
    let means: Vec<Option<f64>> = series.points.iter().map(|point| point.stamina.mean).collect();
    assert_eq!(means, [Some(0.5), Some(3.0), Some(3.0)]);
    near(series.gain.map(|gain| gain.value), 6.0);
    assert!(retries.published.iter().all(|n| n.retries.is_some()));
    assert!(retries.cautions.iter().any(|c| c.contains("12×")));
}

#[test]
fn failures_are_counted_by_class_and_lead_to_their_cases() {
    let library = Library::fixtures(&["harbor/jobs/failures-k1"]);
    let run = Member::Run { run: "failures-k1-oracle".into() };
    let request = FailuresRequest { members: vec![run], ..FailuresRequest::default() };
    let failures = library.workbench.get_failures(request.clone()).unwrap();
    // Seven of 23 attempts; four of them with 8, 8, 4 and 4 failing tests.
    assert_eq!((failures.attempts, failures.all_attempts), (7, 23));
    assert_eq!((failures.tests, failures.not_described), (24, 0));
    assert_eq!(failures.groups.len(), 1);
    assert_eq!(failures.total.shares.iter().map(|share| share.attempts).sum::<u32>(), 7);
    assert_eq!(failures.total.shares.iter().map(|share| share.tests).sum::<u32>(), 24);
    assert_eq!(failures.origins.iter().map(|(_, n)| n).sum::<u32>(), 24);
    let words: Vec<&str> = failures.classes.iter().map(|class| class.class.as_str()).collect();
    assert!(words.contains(&"agent_timeout") && words.contains(&"did_not_start"), "{words:?}");
    // The most frequent first, those of one side together, and last those that are no attempt's own.
    let attempts =
        |word: &str| failures.total.shares.iter().find(|s| s.class == word).map_or(0, |s| s.attempts);
    for pair in failures.classes.windows(2) {
        let (before, after) = (attempts(&pair[0].class), attempts(&pair[1].class));
        assert!(before > 0 || after == 0, "{words:?}");
        assert!(pair[0].side != pair[1].side || before >= after || before == 0, "{words:?}");
    }
    assert!(!failures.rules.is_empty());

    let cases = |request| library.workbench.list_failure_cases(request).unwrap();
    for share in &failures.total.shares {
        let page = cases(FailureCasesRequest {
            of: request.clone(),
            class: Some(share.class.clone()),
            ..FailureCasesRequest::default()
        });
        assert_eq!((page.total, page.rows.len() as u32), (share.attempts, share.attempts));
        // A share of tests leads to the attempts that have them, whatever their own class is.
        let page = cases(FailureCasesRequest {
            of: request.clone(),
            class: Some(share.class.clone()),
            by_tests: true,
            ..FailureCasesRequest::default()
        });
        let of_class = |case: &workbench::api::FailureCase| -> u32 {
            case.tests.iter().filter(|(class, _)| *class == share.class).map(|(_, n)| n).sum()
        };
        assert_eq!(page.rows.iter().map(of_class).sum::<u32>(), share.tests, "{}", share.class);
        assert!(page.rows.iter().all(|case| of_class(case) > 0));
    }
    let all = cases(FailureCasesRequest { of: request.clone(), ..FailureCasesRequest::default() });
    assert_eq!((all.rows[0].turn, all.rows[0].passed, all.rows[0].total), (3, Some(2), Some(10)));
    let page = cases(FailureCasesRequest {
        of: request.clone(),
        offset: 5,
        limit: 10,
        ..FailureCasesRequest::default()
    });
    assert_eq!((page.total, page.rows.len()), (7, 2));

    // Every failed attempt here is the last of its turn and ended its episode's stamina; they failed at turns 2 and 3.
    for scope in [FailureScope::Turns, FailureScope::First] {
        let request = FailuresRequest { scope, ..request.clone() };
        assert_eq!(library.workbench.get_failures(request).unwrap().attempts, 7);
    }
    let by_turn = FailuresRequest { group: FailureGrouping::Turn, ..request.clone() };
    let groups = library.workbench.get_failures(by_turn.clone()).unwrap().groups;
    let counts: Vec<(&str, u32)> = groups.iter().map(|g| (g.key.as_str(), g.attempts)).collect();
    assert_eq!(counts, [("2", 4), ("3", 3)]);
    let page =
        cases(FailureCasesRequest { of: by_turn, group: "2".into(), ..FailureCasesRequest::default() });
    assert!(page.total == 4 && page.rows.iter().all(|row| row.turn == 2));
    let wrong = FailureCasesRequest {
        of: request,
        class: Some("bad luck".into()),
        origin: Some(FailureOrigin::New),
        ..FailureCasesRequest::default()
    };
    assert_eq!(library.workbench.list_failure_cases(wrong).unwrap_err().code, "failures.no_class");
}

#[test]
fn repairs_are_counted_from_attempts() {
    let library = Library::fixtures(&["staminabench/own"]);
    let failures = library.workbench.get_failures(FailuresRequest::default()).unwrap();
    // Turns whose first attempt failed: scenario_1 turn 1 (passed at attempt 2), scenario_0 turns 2 (at 2), 3 and 4 (not).
    let repair = &failures.repair;
    assert_eq!((repair.failed_first, repair.repaired), (4, 2));
    assert_eq!(repair.at_attempt, [(2, 2)]);
    assert_eq!(repair.median_attempts.time(), Some(1));
    // Six failed attempts of 12: 1 and 1 and 3 and 1.
    assert_eq!((failures.attempts, failures.all_attempts), (6, 12));
    let by_attempt = FailuresRequest { group: FailureGrouping::Attempt, ..FailuresRequest::default() };
    let groups = library.workbench.get_failures(by_attempt).unwrap().groups;
    let counts: Vec<(&str, u32)> = groups.iter().map(|g| (g.key.as_str(), g.attempts)).collect();
    assert_eq!(counts, [("1", 4), ("2", 1), ("3", 1)]);
}

#[test]
fn what_is_remembered_is_forgotten_when_something_changes() {
    let library = Library::fixtures(&["staminabench/own"]);
    let request = CompareRequest { members: members(&["own.run"]), ..CompareRequest::default() };
    let before = library.workbench.compare_runs(request.clone()).unwrap();
    assert_eq!(library.workbench.compare_runs(request.clone()).unwrap(), before);
    assert_eq!((before.members[0].stamina.events, before.policy.as_str()), (1, "default"));
    let mut policy = model::CensoringPolicy::default();
    policy.overrides.insert(model::EndReason::TestsFailed, model::Ending::Censored);
    library.workbench.set_policy(workbench::api::SetPolicy { policy }).unwrap();
    let after = library.workbench.compare_runs(request).unwrap();
    assert_eq!((after.members[0].stamina.events, after.policy.as_str()), (0, "custom"));
    // One of two episodes was stopped before turn 4: more than a tenth, and the page says so.
    near(after.members[0].early_censored, 0.5);
    assert!(after.cautions.iter().any(|c| c.contains("stopped from outside")));
}

#[test]
fn published_runs_compare_as_the_design_shows() {
    let Some(folder) = test_folders::data_beside_the_repository("data/evocode-published") else { return };
    let library = Library::new(&[folder]);
    let runs = [
        "evocode-published.claude-opus-4.8",
        "evocode-published.gpt-5.5",
        "evocode-published.glm-5.2",
        "evocode-published.deepseek-v4-pro",
    ];
    let comparison = library.compare(&runs, Pairs::Reference);
    assert_eq!(comparison.tau, 9);
    let names: Vec<&str> = comparison.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["Claude-Opus-4.8", "GPT-5.5", "GLM-5.2", "DeepSeek-V4-Pro"]);
    let means: Vec<String> =
        comparison.members.iter().map(|m| format!("{:.2}", m.stamina.mean.unwrap())).collect();
    assert_eq!(means, ["4.32", "1.80", "1.04", "0.76"]);
    assert_eq!(comparison.shared_scenarios, 25);
    let page = library
        .workbench
        .list_disagreements(DisagreementRequest {
            members: members(&runs),
            reference: 0,
            mode: DisagreementMode::Different,
            sort: DisagreementSort::ReferenceFails,
            text: String::new(),
            offset: 0,
            limit: 3,
        })
        .unwrap();
    // Counted from the cells of the four grids by another program.
    assert_eq!(page.counts, (216, 151, 209, 21));
    let top: Vec<(&str, u32)> =
        page.rows.iter().map(|row| (row.title.as_deref().unwrap_or_default(), row.turn)).collect();
    let expected = [
        ("ml-checkpoint-reproducibility-engine", 2),
        ("secaudit-log-sentinel", 1),
        ("flowctl-pipeline-wiring", 5),
    ];
    assert_eq!(top, expected);
    let cell = page.rows[0].cells[0].as_ref().unwrap();
    assert_eq!((cell.passed, cell.total, cell.episodes), (Some(145), Some(151), (1, 0)));
}

/// Sums of a part of the episodes say of how many, each for itself.
#[test]
fn sums_of_tokens_and_time_say_for_how_many_episodes_they_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out\n\
         one,h,m,a,1,1,true,100,10\none,h,m,b,1,1,true,,20\none,h,m,c,1,1,false,300,\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows[0].id.clone();
    let comparison = library.compare(&[&run], Pairs::All);
    let spent = &comparison.members[0].spent;
    assert_eq!((spent.input_tokens, spent.input_tokens_known), (Some(400), 2));
    assert_eq!((spent.output_tokens, spent.output_tokens_known), (Some(30), 2));
    assert_eq!((spent.agent_seconds, spent.agent_seconds_known), (None, 0));
}

/// An episode that says a number for a part of its turns is in the sum, and none of those of which it is known.
#[test]
fn an_episode_that_says_a_number_for_some_turns_is_none_of_which_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out,agent_seconds\n\
         one,h,m,a,1,1,true,100,10,5\none,h,m,a,2,1,true,,20,\none,h,m,b,1,1,false,300,30,7\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows[0].id.clone();
    let comparison = library.compare(&[&run], Pairs::All);
    let spent = &comparison.members[0].spent;
    assert_eq!((spent.input_tokens, spent.input_tokens_known), (Some(400), 1));
    assert_eq!((spent.output_tokens, spent.output_tokens_known), (Some(60), 2), "known at both turns of a");
    near(spent.agent_seconds, 12.0);
    assert_eq!(spent.agent_seconds_known, 1);
}

/// Rows of a tidy table: two trials of each task, of which those of `b` end by a cause that is not recognized.
fn trials(run: &str, tasks: &[&str]) -> String {
    let mut rows =
        // words: ok (`unrecognised` is the name of a column)
        "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,unrecognised,planned_turns\n"
            .to_owned();
    for task in tasks {
        for repeat in 1..=2 {
            for turn in 1..=3 {
                let (passed, end) = match *task {
                    "b" if turn == 2 => ("", "agent_error,true"),
                    "c" if turn == 3 => ("false", ","),
                    _ => ("true", ","),
                };
                writeln!(rows, "{run},h,m,{task},{repeat},{turn},1,{passed},{end},3").unwrap();
                if *task == "b" && turn == 2 {
                    break;
                }
            }
        }
    }
    rows
}

/// A member of two runs has one line about ends that are not recognized, over both, and its interval is by scenario.
#[test]
fn what_rests_on_ends_that_are_not_recognized_is_said_of_the_member() {
    let line = |sources: &[(&str, &[&str])]| {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = sources
            .iter()
            .map(|(name, tasks)| {
                let path = folder.path().join(format!("{name}.csv"));
                std::fs::write(&path, trials(name, tasks)).unwrap();
                path
            })
            .collect();
        let library = Library::new(&paths);
        let runs = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows;
        let model_members =
            vec![Member::Model { model: "m".to_owned(), benchmark: runs[0].benchmark.key.clone() }];
        let request = CompareRequest { members: model_members, ..CompareRequest::default() };
        let comparison = library.workbench.compare_runs(request).unwrap();
        let lines: Vec<String> =
            comparison.members[0].caveats.iter().filter(|c| c.contains("not recognized")).cloned().collect();
        let [one] = &lines[..] else { panic!("one line: {lines:?}") };
        one.clone()
    };
    let whole = line(&[("one", &["a", "b", "c"])]);
    assert!(whole.starts_with("The cause of 2 of 6 ends"), "{whole}");
    assert!(whole.contains("95 % CI by scenario"), "{whole}");
    assert_eq!(line(&[("one", &["a", "b"]), ("two", &["c"])]), whole);
}

/// Where trials of a task repeat, the curve of retry budgets has the interval that the mean beside it has.
#[test]
fn retry_budgets_have_the_interval_of_repeats() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let request = RetriesRequest { members: members(&[ORACLE]), ..RetriesRequest::default() };
    let retries = library.workbench.get_retries(request).unwrap();
    let point = &retries.series[0].points[0].stamina;
    let whole = &library.compare(&[ORACLE], Pairs::All).members[0].stamina;
    assert_eq!(retries.tau, whole.tau);
    assert!(point.clustered && whole.clustered);
    assert_eq!((point.mean, point.ci_low, point.ci_high), (whole.mean, whole.ci_low, whole.ci_high));
}

/// An episode: its scenario, its repeat, how many turns passed, and how the next one ended.
type PlayedEpisode<'a> = (&'a str, u32, u32, &'a str);

/// Rows of a tidy table of one run with 9 planned turns.
fn played(run: &str, episodes: &[PlayedEpisode<'_>]) -> String {
    let mut rows =
        "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns\n".to_owned();
    for (scenario, repeat, passed, end) in episodes {
        for turn in 1..=*passed {
            writeln!(rows, "{run},h,{run},{scenario},{repeat},{turn},1,true,,9").unwrap();
        }
        let verdict = if *end == "tests_failed" { "false" } else { "" };
        writeln!(rows, "{run},h,{run},{scenario},{repeat},{},1,{verdict},{end},9", passed + 1).unwrap();
    }
    rows
}

/// A library of such runs, and their ids in the order of their names.
fn library_of(runs: &[(&str, &[PlayedEpisode<'_>])]) -> (tempfile::TempDir, Library, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = runs
        .iter()
        .map(|(name, episodes)| {
            let path = folder.path().join(format!("{name}.csv"));
            std::fs::write(&path, played(name, episodes)).unwrap();
            path
        })
        .collect();
    let library = Library::new(&paths);
    let listed = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows;
    let mut ids: Vec<String> = listed.into_iter().map(|row| row.id).collect();
    ids.sort();
    (folder, library, ids)
}

/// A member that holds τ down changes the means of the others, and not what half of their episodes pass.
#[test]
fn a_median_is_the_same_in_a_comparison_and_alone() {
    let long = [("a", 1, 4, "tests_failed"), ("b", 1, 4, "tests_failed"), ("c", 1, 6, "tests_failed")];
    let short = [("a", 1, 2, "endpoint"), ("b", 1, 1, "tests_failed"), ("c", 1, 2, "endpoint")];
    let (_folder, library, ids) = library_of(&[("long", &long), ("short", &short)]);
    let (long, short) = (ids[0].as_str(), ids[1].as_str());
    let alone = library.compare(&[long], Pairs::Reference);
    assert_eq!((alone.tau, alone.members[0].stamina.median.time()), (9, Some(4)));
    let both = library.compare(&[long, short], Pairs::Reference);
    assert_eq!((both.tau, both.members[0].stamina.mean), (2, Some(2.0)));
    assert_eq!(both.members[0].stamina.median.time(), Some(4), "half fail at turn 5, as in the library");
    let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
    let medians: Vec<Option<u32>> =
        matrix.cells.iter().flatten().map(|cell| cell.stamina.median.time()).collect();
    assert_eq!((matrix.tau, medians), (2, vec![Some(4), None]));
}

/// A repeat that was never at risk says nothing, so that intervals stay as they are and nobody says they are clustered.
#[test]
fn repeats_that_were_never_at_risk_are_not_said_to_cluster_intervals() {
    let begun = [("a", 1, 4, "tests_failed"), ("b", 1, 3, "tests_failed"), ("b", 2, 0, "environment")];
    let repeated = [("a", 1, 4, "tests_failed"), ("b", 1, 3, "tests_failed"), ("b", 2, 1, "tests_failed")];
    let (_folder, library, ids) = library_of(&[("begun", &begun), ("repeated", &repeated)]);
    let clustering = |run: &str| {
        let comparison = library.compare(&[run], Pairs::Reference);
        let says =
            comparison.cautions.iter().any(|caution| caution.contains("several episodes of a scenario"));
        (comparison.members[0].stamina.clustered, says)
    };
    assert_eq!((clustering(&ids[0]), clustering(&ids[1])), ((false, false), (true, true)));
}
