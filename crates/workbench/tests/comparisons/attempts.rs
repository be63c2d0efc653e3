//! What is counted from turns and attempts: disagreements, the matrix, retries, failures and repairs.

use workbench::api::{
    DisagreementMode, FailureCasesRequest, FailureGrouping, FailureOrigin, FailureScope, FailuresRequest,
    MatrixRequest, Member, RetriesRequest,
};

use crate::comparisons::{NOP, ORACLE, near};
use crate::library::{Library, members};

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
    let without_verdict = ("task_two".to_owned(), 1);
    assert_eq!(different(), [by_tests.clone(), without_verdict]);
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
    assert_eq!((retries.tau, series.attempt_limit), (Some(4), Some(3)));
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
            failures: request.clone(),
            class: Some(share.class.clone()),
            ..FailureCasesRequest::default()
        });
        assert_eq!((page.total, page.rows.len() as u32), (share.attempts, share.attempts));
        // A share of tests leads to the attempts that have them, whatever their own class is.
        let page = cases(FailureCasesRequest {
            failures: request.clone(),
            class: Some(share.class.clone()),
            by_tests: true,
            ..FailureCasesRequest::default()
        });
        let tests_of_class = |case: &workbench::api::FailureCase| -> u32 {
            case.tests.iter().filter(|(class, _)| *class == share.class).map(|(_, n)| n).sum()
        };
        assert_eq!(page.rows.iter().map(tests_of_class).sum::<u32>(), share.tests, "{}", share.class);
        assert!(page.rows.iter().all(|case| tests_of_class(case) > 0));
    }
    let all = cases(FailureCasesRequest { failures: request.clone(), ..FailureCasesRequest::default() });
    assert_eq!((all.rows[0].turn, all.rows[0].passed, all.rows[0].total), (3, Some(2), Some(10)));
    let page = cases(FailureCasesRequest {
        failures: request.clone(),
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
        cases(FailureCasesRequest { failures: by_turn, group: "2".into(), ..FailureCasesRequest::default() });
    assert!(page.total == 4 && page.rows.iter().all(|row| row.turn == 2));
    let wrong = FailureCasesRequest {
        failures: request,
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
