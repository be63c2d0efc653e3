//! Contradictions, damaged files and values that cannot be.

use model::{EndReason, Turn, TurnState, Verdict};

use crate::staminabench::{check_play, copy, edit, fixture, play, read, written};

#[test]
fn a_contradiction_is_reported_and_the_log_wins() {
    // Our own schema claims a pass that the log does not have.
    let folder = copy("own");
    edit(&folder.path().join("scenario_1/test_results/turn_3_attempt_1.txt"), |_| {
        std::fs::read_to_string(fixture("own/scenario_0/test_results/turn_3_attempt_2.txt")).unwrap()
    });
    let read_back = read(folder.path());
    let warning = read_back.warning("verdict.contradiction");
    assert_eq!(warning.path, "scenario_1/test_results/turn_3_attempt_1.txt");
    assert!(warning.message.contains("4 of 5") && warning.message.contains("5 of 5"), "{}", warning.message);
    let attempt = &read_back.episodes[1].turns[2].attempts[0];
    assert_eq!(
        (attempt.verdict, attempt.passed, attempt.end_reason),
        (Verdict::Failed, Some(4), Some(EndReason::TestsFailed))
    );
    assert_eq!(attempt.tests.iter().filter(|t| t.is_failing()).count(), 1);
    assert_eq!(read_back.episodes[1].stamina(), 2);

    // A foreign trajectory that calls a pass a failure.
    let folder = copy("turns_from_zero");
    edit(&folder.path().join("scenario_1/trajectory.json"), |t| {
        t.replacen("\"num_passed\": 4,", "\"num_passed\": 1,", 1)
    });
    let read_back = read(folder.path());
    assert_eq!(read_back.codes().iter().filter(|c| **c == "verdict.contradiction").count(), 1);
    check_play(&read_back.episodes, "with a wrong number");
}

#[test]
fn a_damaged_trajectory_gives_what_came_before_the_damage() {
    for shape in ["own", "turns_from_zero"] {
        let folder = copy(shape);
        let path = folder.path().join("scenario_0/trajectory.json");
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in [0, 1, whole.len() / 4, whole.len() / 2, whole.len() - 3] {
            std::fs::write(&path, &whole[..whole.floor_char_boundary(cut)]).unwrap();
            let read = read(folder.path());
            // The test logs are all there, so all of the play still is.
            check_play(&read.episodes, &format!("{shape} cut at {cut}"));
            let code = if cut == 0 { "file.empty" } else { "json.truncated" };
            assert_eq!(read.warning(code).path, "scenario_0/trajectory.json", "{shape} cut at {cut}");
        }
        // Without the logs, the turns before the break.
        std::fs::remove_dir_all(folder.path().join("scenario_0/test_results")).unwrap();
        let position = whole.find(if shape == "own" { "\"turn\": 4" } else { "\"turn_idx\": 3" }).unwrap();
        std::fs::write(&path, &whole[..position]).unwrap();
        let read = read(folder.path());
        assert_eq!(play(&read.episodes[0])[1].len(), 2, "{shape}");
        assert_eq!(read.episodes[0].stamina(), 2, "{shape}");
    }
}

/// 1 of 1,000 tokens, and 1 of 12.5 seconds, were numbers of an attempt at which the trajectory broke off.
#[test]
fn a_number_with_which_a_trajectory_breaks_off_is_unknown() {
    let folder = copy("turns_from_zero");
    let path = folder.path().join("scenario_0/trajectory.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(folder.path().join("scenario_0/test_results")).unwrap();
    // The file up to so many bytes of the number of a key.
    let cut_in = |key: &str, digits: usize| {
        let position = whole.find(&format!("\"{key}\": ")).unwrap() + key.len() + "\"\": ".len();
        std::fs::write(&path, &whole[..position + digits]).unwrap();
        let read = read(folder.path());
        assert_eq!(read.warning("json.truncated").path, "scenario_0/trajectory.json");
        read.episodes[0].turns[0].attempts[0].clone()
    };
    for digits in 0..="1000".len() {
        assert_eq!(cut_in("prompt_tokens", digits).tokens.input, None, "{digits}");
    }
    for digits in 0..="0.01".len() {
        let attempt = cut_in("cost", digits);
        assert_eq!((attempt.tokens.input, attempt.cost_usd), (Some(1000), None), "{digits}");
    }
    for digits in 0..="12.5".len() {
        let attempt = cut_in("duration_s", digits);
        assert_eq!((attempt.cost_usd, attempt.timing.agent_seconds), (Some(0.01), None), "{digits}");
    }
}

#[test]
fn odd_files_are_warned_of_and_the_rest_is_read() {
    use Verdict::{Failed, Passed};

    let folder = copy("own");
    let file_path = |path: &str| folder.path().join(path);
    std::fs::write(file_path("config.yaml"), "a: [1, 2\nb").unwrap();
    std::fs::write(file_path("report.json"), "{\"agent\": ").unwrap();
    std::fs::write(file_path("scenario_0/test_results/turn_1_attempt_1.txt"), "").unwrap();
    std::fs::write(file_path("scenario_0/test_results/turn_2_attempt_1.txt"), "Segmentation fault\n")
        .unwrap();
    edit(&file_path("scenario_0/test_results/turn_2_attempt_2.txt"), |t| {
        t[..t.find("[ 50%]").unwrap()].to_owned()
    });
    let mut bytes = std::fs::read(file_path("scenario_0/test_results/turn_3_attempt_1.txt")).unwrap();
    bytes[200] = 0xff;
    std::fs::write(file_path("scenario_0/test_results/turn_3_attempt_1.txt"), bytes).unwrap();
    std::fs::remove_file(file_path("scenario_0/test_results/turn_3_attempt_2.txt")).unwrap();
    edit(&file_path("scenario_1/trajectory.json"), |t| {
        t.replacen("\"passed\": 3", "\"passed\": \"three\"", 1)
    });
    edit(&file_path("scenario_0/trajectory.json"), |t| {
        t.replacen("\"server_logs/turn_1_attempt_1.txt\"", "\"../../../etc/passwd\"", 1).replacen(
            "\"end_reason\": \"tests_failed\"",
            "\"end_reason\": \"moonlight\"",
            1,
        )
    });
    let read = read(folder.path());
    for (code, path) in [
        ("yaml.malformed", "config.yaml"),
        ("json.truncated", "report.json"),
        ("file.empty", "scenario_0/test_results/turn_1_attempt_1.txt"),
        ("pytest.not_recognised", "scenario_0/test_results/turn_2_attempt_1.txt"),
        ("pytest.truncated", "scenario_0/test_results/turn_2_attempt_2.txt"),
        ("file.not_utf8", "scenario_0/test_results/turn_3_attempt_1.txt"),
        ("file.missing", "scenario_0/test_results/turn_3_attempt_2.txt"),
        ("path.outside", "scenario_0/trajectory.json"),
        ("end_reason.unknown", "scenario_0/trajectory.json"),
        ("schema.mismatch", "scenario_1/trajectory.json"),
    ] {
        assert_eq!(read.warning(code).path, path);
    }
    let verdicts: Vec<Verdict> = play(&read.episodes[0]).into_iter().flatten().map(|a| a.0).collect();
    assert_eq!(
        verdicts,
        [Passed, Failed, Passed, Failed, Failed, Failed, Failed],
        "the trajectory says it, the logs are gone"
    );
    assert_eq!(read.episodes[1].stamina(), 4, "read for what it plainly says, and from its logs");
    assert!(!format!("{:?}", read.episodes).contains("etc/passwd"));
}

#[test]
fn logs_that_break_off_do_not_pass() {
    use EndReason::{NoVerdict, VerifierError, VerifierTimeout};

    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("scenario_0/test_results");
    std::fs::create_dir_all(&results).unwrap();
    let real = |name: &str| std::fs::read_to_string(fixture("../pytest/logs").join(name)).unwrap();
    std::fs::write(results.join("turn_1_attempt_1.txt"), real("timeout_thread.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_2.txt"), real("internal_error.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_3.txt"), real("collection_error.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_4.txt"), real("no_tests.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_5.txt"), real("crash.txt")).unwrap();
    let read = read(folder.path());
    let end_reasons: Vec<(Verdict, Option<EndReason>)> =
        play(&read.episodes[0])[0].iter().map(|a| (a.0, a.3)).collect();
    assert_eq!(
        end_reasons,
        [
            (Verdict::Error, Some(VerifierTimeout)),
            (Verdict::Error, Some(VerifierError)),
            (Verdict::Error, Some(VerifierError)),
            (Verdict::Error, Some(NoVerdict)),
            // The last log of an episode that nothing says has ended: it may still be written.
            (Verdict::Unfinished, None),
        ]
    );
}

#[test]
fn what_a_trajectory_may_hold_is_bounded() {
    // Lists and texts far beyond what a scenario has, where the schema knows them and where it does not.
    let folder = copy("own");
    let many_values = "\"x\",".repeat(50_000);
    let long = "y".repeat(100_000);
    edit(&folder.path().join("scenario_0/trajectory.json"), |t| {
        t.replacen("\"agent_logs\": [", &format!("\"agent_logs\": [{many_values}"), 1)
            .replacen("\"tests\": [", &format!("\"tests\": [{many_values}"), 1)
            .replacen("\"title\": \"Build", &format!("\"title\": \"{long}"), 1)
            .replacen("\"turn\": 2", &format!("\"weird\": [{}1], \"turn\": 2", "[1],".repeat(200_000)), 1)
            .replacen("\"exception\": null", &format!("\"exception\": {{\"message\": \"{long}\"}}"), 1)
    });
    let read = read(folder.path());
    let episode = &read.episodes[0];
    assert_eq!(episode.stamina(), 2);
    assert!(read.codes().contains(&"tests.mismatch"), "{:?}", read.codes());
    let attempt = &episode.turns[0].attempts[0];
    assert!(attempt.artifacts.len() < 300, "{}", attempt.artifacts.len());
    assert_eq!(episode.turns[0].title.as_ref().map(String::len), Some(1024));
    assert_eq!(episode.turns[1].extra["weird"], "(a list of 200001, not kept)");
    assert!(format!("{episode:?}").len() < 200_000);
}

#[test]
fn input_that_may_or_may_not_include_the_cached_tokens_is_reported() {
    let codes = |usage: &[&str]| {
        let turns: Vec<String> = (1..)
            .zip(usage)
            .map(|(turn, usage)| {
                format!(r#"{{"turn": {turn}, "attempts": [{{"attempt": 1, "success": true, "usage": {{{usage}}}}}]}}"#)
            })
            .collect();
        let trajectory = format!(r#"{{"n_turns": 9, "turns": [{}]}}"#, turns.join(","));
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        read.codes()
            .iter()
            .filter(|code| code.starts_with("tokens."))
            .map(|code| (*code).to_owned())
            .collect::<Vec<_>>()
    };
    let unclear = r#""input_tokens": 100, "cached_tokens": 90, "output_tokens": 5"#;
    assert_eq!(codes(&[unclear, unclear]), ["tokens.cache_unclear"], "once for a scenario");
    let proof = r#""input_tokens": 5, "cached_tokens": 90, "output_tokens": 5"#;
    assert!(!codes(&[unclear, proof]).contains(&"tokens.cache_unclear".to_owned()));
    for known in [
        r#""input_tokens": 100, "output_tokens": 5"#,
        r#""input_tokens": 100, "cached_tokens": 0, "output_tokens": 5"#,
        r#""input_tokens": 100, "cache_read_input_tokens": 90, "output_tokens": 5"#,
        r#""prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90}, "completion_tokens": 5"#,
    ] {
        assert_eq!(codes(&[known]), [""; 0], "{known}");
    }
}

#[test]
fn a_turn_without_a_verdict_and_values_that_cannot_be_are_reported() {
    use TurnState::{Censored, Error, NotReached};

    let json = r#"{"turns": [{"turn": 1, "passed": "-3", "total": 1e30, "success": "perhaps"}, {"turn": 2, "passed": 7, "total": 5},
        {"turn": 3, "passed": null, "total": 0, "cost": -5, "usage": {"prompt_tokens": -4, "completion_tokens": 1e19}},
        {"turn": 4, "tokens": {"input": 7}, "duration": -4, "started_at": "2026-02-30T10:00:00Z"}, {"turn": 5, "description": "not played"}]}"#;
    let read = written(&[("scenario_0/trajectory.json", json)]);
    let episode = &read.episodes[0];
    let states: Vec<TurnState> = episode.turns.iter().map(Turn::state).collect();
    // The last one may still be running: nothing says that the episode has ended.
    assert_eq!(states, [Error, Error, Error, Censored, NotReached]);
    assert_eq!(read.codes().iter().filter(|c| **c == "verdict.missing").count(), 4);
    let odd: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "value.not_usable")
        .map(|w| w.message.as_str())
        .collect();
    for part in [
        "passed: \"-3\"",
        "success: \"perhaps\"",
        "7 tests passed of 5",
        "cost: -5",
        "usage.prompt_tokens: -4",
        "usage.completion_tokens: 1e+19",
        "duration: -4",
        "started_at: \"2026-02-30",
    ] {
        assert!(odd.iter().any(|m| m.contains(part)), "{part}: {odd:#?}");
    }
    // Of any name: beyond 64 bits.
    assert!(read.warning("json.not_strict").message.contains("1 number is beyond 64 bits"));
    let attempt = |turn: usize| &episode.turns[turn].attempts[0];
    assert_eq!(attempt(0).extra["passed"], "-3");
    assert_eq!((attempt(1).passed, attempt(1).total), (None, None));
    assert_eq!((&attempt(1).extra["passed"], &attempt(1).extra["total"]), (&7.into(), &5.into()));
    assert_eq!((attempt(2).cost_usd, attempt(2).tokens.is_unknown()), (None, true));
    assert_eq!(attempt(3).tokens.input, Some(7));
}

#[test]
fn a_score_that_is_no_number_is_no_verdict_and_no_running_attempt() {
    let read_score = |field: &str| {
        let json = format!(r#"{{"turns": [{{"turn": 1, "attempts": [{{{field}}}]}}]}}"#);
        let read = written(&[("scenario_0/trajectory.json", &json)]);
        let attempt = &read.episodes[0].turns[0].attempts[0];
        let codes = read.codes().iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
        (attempt.verdict, attempt.end_reason, codes)
    };
    let unreadable = (Verdict::Error, Some(EndReason::VerifierError));
    for field in [
        r#""score": "1.0""#,
        r#""reward": "1.0""#,
        r#""pass_rate": "100%""#,
        r#""reward": "n/a""#,
        r#""score": [1.0]"#,
        r#""score": {"value": 1.0}"#,
        r#""success": "perhaps""#,
    ] {
        let (verdict, reason, codes) = read_score(field);
        assert_eq!((verdict, reason), unreadable, "{field}");
        assert_eq!(codes, ["value.not_usable", "verdict.missing"], "{field}");
    }
    assert_eq!(
        read_score(r#""score": null"#),
        (unreadable.0, unreadable.1, vec!["verdict.missing".to_owned()])
    );
    let (verdict, reason, codes) = read_score(r#""score": NaN"#);
    assert_eq!((verdict, reason), unreadable);
    assert!(codes.contains(&"verdict.missing".to_owned()), "{codes:?}");
    // Something else decides it.
    assert_eq!(read_score(r#""score": true"#), (Verdict::Passed, None, Vec::new()));
    assert_eq!(read_score(r#""score": null, "passed": 3, "total": 3"#), (Verdict::Passed, None, Vec::new()));
    let by_tests = read_score(r#""score": "75%", "passed": 3, "total": 4"#);
    assert_eq!(
        by_tests,
        (Verdict::Failed, Some(EndReason::TestsFailed), vec!["value.not_usable".to_owned()])
    );
    let raised =
        read_score(r#""score": null, "exception": {"type": "AgentTimeoutError", "message": "late"}"#);
    assert_eq!(raised.1, Some(EndReason::AgentTimeout));
    // A turn with no score was not played; a text of the whole episode is reported and not used.
    let json = r#"{"final_score": "0.5", "turns": [{"turn": 1, "score": 1}, {"turn": 2, "score": null}]}"#;
    let read = written(&[("scenario_0/trajectory.json", json)]);
    let states: Vec<TurnState> = read.episodes[0].turns.iter().map(Turn::state).collect();
    assert_eq!(states, [TurnState::Passed, TurnState::NotReached]);
    assert!(read.episodes[0].reported.is_empty());
    assert!(read.warning("value.not_usable").message.starts_with("The episode has “final_score"));
}

#[test]
fn a_score_that_decides_and_is_not_in_0_to_1_is_reported() {
    let json = r#"{"turns": [{"turn": 1, "score": 62.5}, {"turn": 2, "score": 1}, {"turn": 3, "score": -1},
        {"turn": 4, "score": 62.5, "success": false}]}"#;
    let read = written(&[("scenario_0/trajectory.json", json)]);
    let states: Vec<TurnState> = read.episodes[0].turns.iter().map(Turn::state).collect();
    assert_eq!(states, [TurnState::Passed, TurnState::Passed, TurnState::Failed, TurnState::Failed]);
    let messages: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "reward.range")
        .map(|w| w.message.split_inclusive(',').next().unwrap_or_default())
        .collect();
    assert_eq!(messages, ["Turn 1 attempt 1: The reward is 62.5,", "Turn 3 attempt 1: The reward is -1,"]);
}

#[test]
fn folders_in_the_place_of_files_and_logs_cut_among_the_failures_are_reported() {
    let real = std::fs::read_to_string(fixture("../pytest/logs/plain.txt")).unwrap();
    let cut = &real[..real.find("= FAILURES").unwrap() + 400];
    let read = written(&[
        ("scenario_0/trajectory.json/", ""),
        ("scenario_0/test_results/turn_1_attempt_1.txt/", ""),
        ("scenario_0/test_results/turn_2_attempt_1.txt", cut),
    ]);
    let special: Vec<&str> =
        read.report.warnings.iter().filter(|w| w.code == "file.special").map(|w| w.path.as_str()).collect();
    assert_eq!(special, ["scenario_0/test_results/turn_1_attempt_1.txt", "scenario_0/trajectory.json"]);
    assert_eq!(read.warning("pytest.truncated").path, "scenario_0/test_results/turn_2_attempt_1.txt");
    assert_eq!(
        play(&read.episodes[0])[0],
        [(Verdict::Failed, Some(14), Some(25), Some(EndReason::TestsFailed))]
    );
}
