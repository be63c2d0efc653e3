//! Pairs of runs and of groups, with τ, names and colors.

use workbench::api::{
    AnnotateRuns, Comparability, CompareRequest, DisagreementMode, DisagreementRequest, DisagreementSort,
    Member, Pairs,
};

use crate::comparisons::{NOP, ORACLE, near};
use crate::library::{Library, members};

#[test]
fn two_small_runs_can_be_compared_by_hand() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let comparison = library.compare(&[ORACLE, NOP], Pairs::All);
    // Oracle: 4, 4, 3, 3 censored, two failed at turn 3. S = 1, 1, 4/6, 4/6. Nop: two failed at turn 1.
    assert_eq!((comparison.tau, comparison.turns, comparison.shared_scenarios), (Some(4), 4, 2));
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
    let compare_at = |tau| {
        library.workbench.compare_runs(CompareRequest {
            members: members(&[ORACLE, NOP]),
            tau: Some(tau),
            ..CompareRequest::default()
        })
    };
    near(compare_at(2).unwrap().members[0].stamina.mean, 2.0);
    for tau in [0, 5] {
        let error = compare_at(tau).unwrap_err();
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
        .annotate(AnnotateRuns { runs, add_tags: vec!["both".into()], remove_tags: vec![], note: None })
        .unwrap();
    let compared_with = |member| {
        library.workbench.compare_runs(CompareRequest { members: vec![member], ..CompareRequest::default() })
    };
    let tag = |benchmark: &str| Member::Tag { tag: "both".into(), benchmark: benchmark.into() };
    let mixed = compared_with(tag("")).unwrap_err();
    assert_eq!(mixed.code, "compare.mixed_benchmarks");
    assert!(mixed.hint.unwrap().contains("staminabench"));
    let single = compared_with(tag("staminabench")).unwrap();
    assert_eq!((single.members[0].id.as_str(), single.members[0].runs.len()), ("tag:both@staminabench", 1));
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
fn names_and_styles_tell_members_apart() {
    let library = Library::fixtures(&["harbor/jobs", "staminabench"]);
    let labels_of = |runs: &[&str]| {
        let comparison = library.compare(runs, Pairs::Reference);
        let names: Vec<String> = comparison.members.iter().map(|m| m.name.clone()).collect();
        let styles: Vec<(u32, u32)> =
            comparison.members.iter().map(|m| (m.style.color, m.style.dash)).collect();
        (names, styles)
    };
    let harnesses = ["staminabench.own", "staminabench.nested_folders", "staminabench.turns_from_zero"];
    let (names, styles) = labels_of(&harnesses);
    assert_eq!(names, ["mini_swe", "openhands", "opencode"]);
    assert_eq!(styles, [(1, 1), (2, 2), (3, 3)]);
    let (names, styles) = labels_of(&["staminabench.own", ORACLE]);
    assert_eq!(names, ["zai.glm-5 · mini_swe", "oracle"]);
    assert_eq!(styles, [(1, 1), (2, 2)]);
    // The same model and harness: told apart by id, each with its own style.
    let (names, styles) = labels_of(&[ORACLE, "jobs.interrupted-oracle"]);
    assert_eq!(names, ["oracle (oracle-k2)", "oracle (interrupted)"]);
    assert_eq!(styles, [(1, 1), (2, 2)]);
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
    assert_eq!(comparison.tau, Some(9));
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
