//! Output of LoCoBench-Agent as the program wrote it (`tests/fixtures/locobench/recorded`, see its README): every kind of end,
//! cut-off lines, a scenario twice, three layouts of messages.

#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Report, Sniff};
use ingest::formats::locobench::LocoBench;
use model::{
    ArtifactKind, EndReason, Episode, LOCOBENCH_METRICS, LcbaPair, Run, SessionFigures, StepKind, TurnState,
    Verdict,
};

struct Read {
    tree: Tree,
    runs: Vec<Run>,
    episodes: BTreeMap<String, Vec<Episode>>,
    report: Report,
}

fn read(path: &Path) -> Read {
    let tree = Tree::open(path).unwrap();
    assert_eq!(LocoBench.sniff(&tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = LocoBench.survey(&tree, "", &mut report);
    let mut episodes: BTreeMap<String, Vec<Episode>> = BTreeMap::new();
    for part in &survey.parts {
        for reading in LocoBench.read(&tree, "", part, &mut report) {
            episodes.entry(reading.run).or_default().push(reading.episode);
        }
    }
    Read { tree, runs: survey.runs, episodes, report }
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/locobench/recorded")
}

fn play(episode: &Episode) -> &str {
    episode.scenario.split("_web_").nth(1).unwrap().split("_easy_").next().unwrap()
}

fn figures(episode: &Episode) -> &SessionFigures {
    episode.session.as_ref().unwrap()
}

impl Read {
    fn episode_of(&self, run: &str, name: &str, repeat: u32) -> &Episode {
        self.episodes[run].iter().find(|e| play(e) == name && e.repeat == repeat).unwrap()
    }
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn steps(&self, episode: &Episode, turn: usize) -> Vec<model::Step> {
        let artifact = &episode.turns[turn].attempts[0].artifacts[0];
        assert_eq!(artifact.kind, ArtifactKind::Transcript);
        LocoBench.transcript(&self.tree, artifact).unwrap().steps
    }
}

const OPENAI: &str = "openai-gpt-4o";

#[test]
fn an_agent_is_a_run_with_its_kind_and_model() {
    let read = read(&recorded());
    let runs: Vec<(&str, Option<&str>, Option<&str>, Option<u32>)> = read
        .runs
        .iter()
        .map(|run| (run.key.as_str(), run.harness.as_deref(), run.model.as_deref(), run.planned_episodes))
        .collect();
    assert_eq!(
        runs,
        [
            (
                "anthropic-claude-3-5-sonnet-20241022",
                Some("anthropic"),
                Some("claude-3-5-sonnet-20241022"),
                None
            ),
            ("google-gemini-2.0-flash-exp", Some("google"), Some("gemini-2.0-flash-exp"), None),
            ("openai-gpt-4.1", Some("openai"), Some("gpt-4.1"), Some(2)),
            (OPENAI, Some("openai"), Some("gpt-4o"), Some(9)),
        ]
    );
    assert!(read.runs.iter().all(|run| !run.benchmark.has_verdicts()));
    let planned = LocoBench.planned(&read.tree, "", OPENAI).unwrap();
    assert!(planned.len() == 9 && planned.iter().all(|planned| planned.episodes == 1));
}

#[test]
fn every_session_is_read_as_far_as_it_goes() {
    let read = read(&recorded());
    let found: Vec<(&str, u32, Option<&str>, Option<u32>, Option<u32>)> = read.episodes[OPENAI]
        .iter()
        .map(|e| (play(e), e.repeat, figures(e).status.as_deref(), figures(e).turns, figures(e).answered))
        .collect();
    assert_eq!(
        found,
        [
            ("completed", 1, Some("completed"), Some(3), Some(3)),
            ("surrogate", 1, Some("completed"), Some(5), Some(1)),
            ("slow", 1, Some("timeout"), Some(2), Some(2)),
            ("stuck", 1, Some("completed"), Some(14), Some(14)),
            ("completed", 2, Some("completed"), Some(3), Some(3)),
            ("refused", 1, None, None, None),
            ("unlimited", 1, Some("completed"), Some(6), Some(0)),
            ("idle", 1, None, Some(14), None),
        ]
    );
    // Whatever the difficulty in the name of the scenario; two records are cut off before it.
    let limits: Vec<Option<u32>> = read.episodes[OPENAI].iter().map(|e| figures(e).max_turns).collect();
    assert_eq!((limits[..5].to_vec(), limits[5..].to_vec()), (vec![Some(20); 5], vec![None, Some(20), None]));
    // A session that never started is scored by the program, and marked here.
    let no_verdicts: Vec<Option<bool>> =
        read.episodes["openai-gpt-4.1"].iter().map(|e| figures(e).never_started()).collect();
    assert_eq!(no_verdicts, [Some(true), Some(true)]);
    assert_eq!(figures(read.episode_of(OPENAI, "unlimited", 1)).never_started(), Some(false));
    assert_eq!(figures(read.episode_of(OPENAI, "unlimited", 1)).errors, Some(3));
    let end_reason = |run: &str, name| read.episode_of(run, name, 1).end().1;
    assert_eq!(end_reason("openai-gpt-4.1", "failing"), EndReason::AgentError);
    assert_eq!(end_reason(OPENAI, "slow"), EndReason::AgentTimeout);
    assert_eq!(end_reason(OPENAI, "completed"), EndReason::NoVerdict);
    assert_eq!(end_reason(OPENAI, "idle"), EndReason::Unfinished);
}

#[test]
fn a_session_that_the_endpoint_limited_is_not_ended_by_its_agent() {
    let read = read(&recorded().with_file_name("throttled"));
    let episode = read.episode_of(OPENAI, "throttled", 1);
    let figures = figures(episode);
    assert_eq!(figures.status.as_deref(), Some("completed_with_throttling"));
    assert_eq!((figures.turns, figures.answered, figures.errors), (Some(4), Some(0), Some(3)));
    assert_eq!((figures.completed_phases, figures.planned_phases), (Some(2), Some(3)));
    assert_eq!(figures.never_started(), Some(false));
    assert_eq!(episode.end().1, EndReason::Endpoint);
    assert_eq!(model::CensoringPolicy::default().ending(EndReason::Endpoint), model::Ending::Censored);
    // It has the scores of a session in which nothing was answered all the same.
    let pair = LcbaPair::from_metrics(&figures.compat.unwrap());
    let imported = (figures.imported.comprehension.unwrap(), figures.imported.efficiency.unwrap());
    assert!((pair.comprehension - imported.0).abs() < 1e-9 && (pair.efficiency - imported.1).abs() < 1e-9);
    let limited = |turn: usize| episode.turns[turn].attempts[0].extra.get("throttling_affected").cloned();
    assert_eq!([limited(0), limited(1)], [Some(true.into()), Some(true.into())]);
    assert!(read.codes().is_empty(), "{:?}", read.report.warnings);
}

#[test]
fn what_is_wrong_with_a_line_is_reported_with_its_number() {
    let read = read(&recorded());
    let count = |code: &str| read.codes().iter().filter(|found| **found == code).count();
    assert_eq!(count("locobench.line_cut"), 2);
    assert_eq!(count("locobench.duplicate"), 1);
    assert_eq!(count("json.not_strict"), 2, "NaN, and half of a character: {:?}", read.codes());
    // The program cannot write half of a character into a transcript, which breaks off there.
    assert_eq!(count("json.truncated"), 1);
    assert_eq!(read.codes().len(), 6, "{:?}", read.report.warnings);
    let cut: Vec<&str> = (read.report.warnings.iter())
        .filter(|w| w.code == "locobench.line_cut")
        .map(|w| w.message.as_str())
        .collect();
    assert!(
        cut[0].starts_with("The record on line 6 ") && cut[0].contains("another record begins"),
        "{cut:?}"
    );
    assert!(cut[1].starts_with("The record on line 7 "), "{cut:?}");
    // Before the place where the line breaks off stand figures of the program; nothing can be computed.
    let cut = figures(read.episode_of(OPENAI, "refused", 1));
    assert!(cut.imported.comprehension.is_some() && cut.compat.is_none() && cut.tool_calls.is_none());
}

#[test]
fn the_figures_computed_here_are_those_of_the_program() {
    let read = read(&recorded());
    let mut compared = 0;
    for episode in read.episodes.values().flatten() {
        let figures = figures(episode);
        let Some(compat) = figures.compat else { continue };
        for (index, name) in LOCOBENCH_METRICS.iter().enumerate() {
            let Some(imported) = figures.imported.metrics[index] else { continue };
            // One figure of the second session was changed by hand.
            if (play(episode), episode.repeat, *name) == ("completed", 2, "execution_success_rate") {
                assert!((imported - compat[index]).abs() > 1e-3);
                continue;
            }
            assert!(
                (imported - compat[index]).abs() < 1e-9,
                "{} {name}: {imported}, {}",
                episode.key,
                compat[index]
            );
            compared += 1;
        }
        if let (Some(comprehension), Some(efficiency)) =
            (figures.imported.comprehension, figures.imported.efficiency)
        {
            let pair = LcbaPair::from_metrics(&compat);
            assert!(
                (pair.comprehension - comprehension).abs() < 1e-9
                    && (pair.efficiency - efficiency).abs() < 1e-9
            );
        }
    }
    assert_eq!(compared, 9 * 10 - 2, "ten sessions; one figure is NaN, one changed");
    assert_eq!(figures(read.episode_of(OPENAI, "slow", 1)).imported.metrics[0], None, "NaN is unknown");
    // Without a record the program's figures are unknown; they are computed from the transcript.
    let transcript = &read.episodes["anthropic-claude-3-5-sonnet-20241022"][0];
    assert_eq!(figures(transcript).imported.comprehension, None);
    let pair = LcbaPair::from_metrics(&figures(transcript).compat.unwrap());
    let openai = figures(read.episode_of(OPENAI, "completed", 1)).imported;
    assert!((pair.comprehension - openai.comprehension.unwrap()).abs() < 1e-9, "the same play");
}

#[test]
fn what_calls_show_is_read_from_their_responses() {
    let read = read(&recorded());
    let completed = &figures(read.episode_of(OPENAI, "completed", 1)).corrected;
    assert_eq!((completed.tool_success, completed.distinct_functions), (Some((4, 4)), Some(3)));
    assert_eq!(completed.files_written, Some(vec!["src/main.py".to_owned(), "src/report.py".to_owned()]));
    assert_eq!(completed.read_before_write, Some((1, 2)));
    // In this revision every call of Google's agents fails, and the files that it names count as modified for the program.
    let google = &figures(read.episode_of("google-gemini-2.0-flash-exp", "completed", 1)).corrected;
    assert_eq!((google.tool_success, google.distinct_functions), (Some((0, 4)), Some(3)));
    assert_eq!((google.files_written.as_deref(), google.read_before_write), (Some(&[][..]), None));
    let scenario = figures(read.episode_of(OPENAI, "stuck", 1));
    assert_eq!(
        (scenario.language.as_deref(), scenario.category.as_deref(), scenario.difficulty.as_deref()),
        (Some("rust"), Some("feature_implementation"), Some("medium"))
    );
}

#[test]
fn a_phase_is_a_turn_without_a_verdict_and_has_its_transcript() {
    let read = read(&recorded());
    let stuck = read.episode_of(OPENAI, "stuck", 1);
    let phases: Vec<(Option<&str>, Option<u32>, Option<u32>)> = (stuck.turns.iter())
        .map(|t| (t.title.as_deref(), t.attempts[0].steps, t.attempts[0].tool_calls))
        .collect();
    assert_eq!(
        phases,
        [
            (Some("Exploration"), Some(2), Some(2)),
            (Some("Feature Implementation"), Some(10), Some(10)),
            (Some("Summary"), Some(2), Some(2)),
        ]
    );
    assert!(stuck.turns.iter().all(|turn| turn.attempts[0].verdict == Verdict::NotTested));
    assert!(stuck.turns.iter().all(|turn| turn.state() == TurnState::NotTested));
    assert_eq!((stuck.stamina(), figures(stuck).interventions), (0, Some(6)));
    assert!(stuck.extra["interventions"].to_string().contains("terminated_no_code_progress"));
    // A phase that was never asked for was not reached.
    let slow = read.episode_of(OPENAI, "slow", 1);
    assert_eq!(slow.turns.iter().map(|turn| turn.attempts.len()).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!((slow.turns[0].state(), slow.turns[2].state()), (TurnState::NotTested, TurnState::NotReached));

    // From the transcript, from a line of records (the transcript is cut off), from final results.
    let first = read.steps(read.episode_of(OPENAI, "completed", 1), 0);
    let kinds: Vec<StepKind> = first.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::System, StepKind::User, StepKind::Agent], "results stand with their calls");
    let calls: Vec<(&str, &str, Option<bool>)> = (first[2].tool_calls.iter())
        .map(|call| (call.name.as_str(), call.summary.as_str(), call.is_error))
        .collect();
    assert_eq!(
        calls,
        [
            ("file_system.read_file", "src//main.py", Some(false)),
            ("file_system.list_directory", ".", Some(false))
        ]
    );
    assert!(first[2].tool_calls[0].result.as_ref().unwrap().contains("def total"));
    assert!(first[2].tool_calls[0].seconds.is_some());
    let half = read.steps(read.episode_of(OPENAI, "surrogate", 1), 0);
    assert!(half.iter().any(|step| step.text.contains("half of a character \u{fffd} stays")));
    let google = read.steps(read.episode_of("google-gemini-2.0-flash-exp", "completed", 1), 0);
    let call = &google.iter().find(|step| !step.tool_calls.is_empty()).unwrap().tool_calls[0];
    assert_eq!((call.name.as_str(), call.is_error), ("file_system.read_file", Some(true)));
    assert!(call.result.as_ref().unwrap().contains("not found"));
    let anthropic = read.steps(&read.episodes["anthropic-claude-3-5-sonnet-20241022"][0], 1);
    assert!(anthropic.iter().any(|step| step.text.contains("As mentioned")));
}

#[test]
fn either_folder_alone_and_a_zip_are_read_alike() {
    let whole = read(&recorded());
    let inner = read(&recorded().join("intermediate_agent_results"));
    assert_eq!(inner.episodes[OPENAI].len(), 8);
    assert_eq!(inner.episodes["openai-gpt-4.1"].len(), 2);
    let finals = read(&recorded().join("evaluation_agent_results"));
    assert_eq!(finals.episodes.keys().collect::<Vec<_>>(), ["google-gemini-2.0-flash-exp", "openai-gpt-4.1"]);
    assert_eq!(finals.episodes["openai-gpt-4.1"].len(), 2);
    for (name, episodes) in &finals.episodes {
        let scenarios =
            |episodes: &[Episode]| -> Vec<String> { episodes.iter().map(|e| e.scenario.clone()).collect() };
        assert_eq!(scenarios(episodes), scenarios(&whole.episodes[name]));
        let all = |episodes: &[Episode]| -> Vec<_> { episodes.iter().map(|e| figures(e).clone()).collect() };
        assert_eq!(all(episodes), all(&whole.episodes[name]));
    }
    let transcripts = read(&recorded().join("intermediate_agent_results/conversations_openai-gpt-4o"));
    assert_eq!(transcripts.episodes[OPENAI].len(), 3, "also the one that breaks off");
}

#[test]
fn a_line_that_stands_twice_is_two_sessions_and_a_record_in_two_files_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded().join("intermediate_agent_results/agent_incremental_results_openai_gpt_4_1.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let first = text.lines().next().unwrap();
    fs::write(
        folder.path().join("agent_incremental_results_openai_gpt_4_1.jsonl"),
        format!("{first}\n\n{first}\n"),
    )
    .unwrap();
    let finals = recorded().join("evaluation_agent_results");
    for entry in fs::read_dir(finals).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with("gpt-4.1") {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    let read = read(folder.path());
    let sessions: Vec<(&str, u32)> =
        read.episodes["openai-gpt-4.1"].iter().map(|e| (play(e), e.repeat)).collect();
    assert_eq!(sessions, [("failing", 1), ("failing", 2), ("completed", 1)]);
    let keys: std::collections::HashSet<&str> =
        read.episodes["openai-gpt-4.1"].iter().map(|e| e.key.as_str()).collect();
    assert_eq!(keys.len(), 3);
    assert_eq!(read.codes(), ["locobench.duplicate"]);
}

/// The program takes `content or contents or ''`, so that a null is a text without a letter, and no missing text.
#[test]
fn the_files_of_a_transcript_have_the_text_that_the_program_takes() {
    let folder = tempfile::tempdir().unwrap();
    let conversations = folder.path().join("conversations_a-b");
    fs::create_dir(&conversations).unwrap();
    let compat_of = |parameters: &str| {
        let info = r#"{"agent_name": "a-b", "scenario_id": "s", "session_id": "i", "total_turns": 1}"#;
        let log = format!(
            r#"[{{"turn": 1, "tool_call": {{"tool_name": "t", "function_name": "write_file", "parameters": {{"path": "a.py", {parameters}}}}}}}]"#
        );
        let text = format!(
            r#"{{"evaluation_info": {info}, "scenario_context": {{}}, "conversation_history": [], "session_data": {{"tool_usage_log": {log}}}}}"#
        );
        fs::write(conversations.join("a-b_s_20260101_000000.json"), text).unwrap();
        figures(&read(folder.path()).episodes["a-b"][0]).compat
    };
    let text = "def f():\\n    for x in y: print(x)\\n";
    let written = compat_of(&format!(r#""content": "{text}""#));
    for parameters in [
        format!(r#""content": null, "contents": "{text}""#),
        format!(r#""content": 0, "contents": "{text}""#),
        format!(r#""contents": "{text}""#),
    ] {
        assert_eq!(compat_of(&parameters), written, "{parameters}");
    }
    let empty = compat_of(r#""content": """#);
    assert!(empty.is_some() && written.is_some() && empty != written);
    for parameters in [r#""content": null"#, r#""content": false, "contents": []"#, r#""x": 1"#] {
        assert_eq!(compat_of(parameters), empty, "{parameters}");
    }
    assert_ne!(compat_of(r#""content": ["x"]"#), empty, "a list is no text");
}

/// The program puts the paths of reads into a set, which a list cannot be put into: its fixed value of M8 stands then. Whatever
/// stands for a path has a place in the list of reads that M9 looks into.
#[test]
fn a_read_of_a_list_of_paths_has_the_fixed_coverage_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let conversations = folder.path().join("conversations_a-b");
    fs::create_dir(&conversations).unwrap();
    let both_of = |read_parameters: &str| {
        let info = r#"{"agent_name": "a-b", "scenario_id": "s", "session_id": "i", "total_turns": 1}"#;
        let call = |function: &str, parameters: &str| {
            format!(
                r#"{{"turn": 1, "tool_call": {{"tool_name": "t", "function_name": "{function}", "parameters": {parameters}}}}}"#
            )
        };
        let log = [
            call("read_file", read_parameters),
            call("read_file", r#"{"path": "a.py"}"#),
            call("edit_file", r#"{"path": "c.py"}"#),
            call("write_file", r#"{"path": "a.py", "content": "x = 1"}"#),
        ];
        let text = format!(
            r#"{{"evaluation_info": {info}, "scenario_context": {{}}, "conversation_history": [], "session_data": {{"tool_usage_log": [{}]}}}}"#,
            log.join(", ")
        );
        fs::write(conversations.join("a-b_s_20260101_000000.json"), text).unwrap();
        let compat = figures(&read(folder.path()).episodes["a-b"][0]).compat.unwrap();
        ["information_coverage", "long_range_dependency_resolution"]
            .map(|name| compat[LOCOBENCH_METRICS.iter().position(|metric| *metric == name).unwrap()])
    };
    for (parameters, expected) in [
        (r#"{"path": "b.py"}"#, [0.9, 0.4]),
        (r#"{"path": ["a.py", "b.py"]}"#, [0.65, 0.4]),
        (r#"{"path": "", "file_path": {"name": "b.py"}}"#, [0.65, 0.4]),
        // An empty list says nothing, and a number can be put into a set.
        (r#"{"path": [], "file_path": "b.py"}"#, [0.9, 0.4]),
        (r#"{"path": []}"#, [0.9, 0.9]),
        (r#"{"path": 7}"#, [0.9, 0.4]),
        (r#"{"path": 0}"#, [0.9, 0.9]),
    ] {
        let found = both_of(parameters);
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
        assert!(is_near, "{parameters}: {found:?}");
    }
}

#[test]
fn what_is_no_record_is_left_out_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let record = r#"{"agent_name": "a-b", "scenario_id": "s", "session_id": "i", "metric_results": [], "lcba_efficiency": 0.5}"#;
    let lines = format!("{record}\n[1, 2]\n{{\"agent_name\": \"a-b\", \"x\": \n\u{feff}null\n");
    fs::write(folder.path().join("agent_incremental_results_a_b.jsonl"), lines).unwrap();
    let read = read(folder.path());
    assert_eq!(read.episodes["a-b"].len(), 1);
    assert_eq!(read.codes(), ["locobench.line_unreadable"; 3]);
    let figures = figures(&read.episodes["a-b"][0]);
    assert_eq!((figures.compat, figures.answered, figures.tool_calls), (None, None, None));
    assert_eq!((figures.imported.efficiency, figures.category.as_deref()), (Some(0.5), None));
    assert!(read.episodes["a-b"][0].turns.is_empty());
}

#[test]
fn the_session_that_ended_last_has_the_highest_number() {
    let folder = tempfile::tempdir().unwrap();
    let record = |id: &str, ended: &str| {
        format!(
            r#"{{"agent_name": "a-b", "scenario_id": "s", "session_id": "{id}", "metric_results": [], "evaluation_timestamp": {ended}, "lcba_efficiency": 0.5}}"#
        )
    };
    // The file of records was begun anew, and of the first session a transcript is left. Times have a zone or none.
    let lines = [
        record("third", r#""2026-03-01T10:00:00""#),
        record("second", r#""2026-02-01T12:00:00+02:00""#),
        record("unknown", "null"),
    ];
    fs::write(folder.path().join("agent_incremental_results_a_b.jsonl"), lines.join("\n")).unwrap();
    let conversations = folder.path().join("conversations_a-b");
    fs::create_dir(&conversations).unwrap();
    let transcript = |id: &str, ended: &str| {
        let info = format!(
            r#"{{"agent_name": "a-b", "scenario_id": "s", "session_id": "{id}", "evaluation_timestamp": {ended}, "total_turns": 1}}"#
        );
        let text = format!(
            r#"{{"evaluation_info": {info}, "scenario_context": {{}}, "conversation_history": [], "session_data": {{}}}}"#
        );
        fs::write(conversations.join(format!("a-b_s_{id}.json")), text).unwrap();
    };
    transcript("first", r#""2026-01-01T10:00:00""#);
    transcript("without", "null");
    let read = read(folder.path());
    let mut found: Vec<(u32, &str)> =
        read.episodes["a-b"].iter().map(|e| (e.repeat, e.key.as_str())).collect();
    found.sort_unstable();
    assert_eq!(found, [(1, "without"), (2, "unknown"), (3, "first"), (4, "second"), (5, "third")]);
}

#[test]
fn values_that_cannot_be_are_unknown_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let conversations = folder.path().join("conversations_a-b");
    fs::create_dir(&conversations).unwrap();
    let transcript = |id: &str, times: &str| {
        let info = format!(
            r#"{{"agent_name": "a-b", "scenario_id": "s{id}", "session_id": "{id}", "total_turns": 1}}"#
        );
        let text = format!(
            r#"{{"evaluation_info": {info}, "scenario_context": {{}}, "conversation_history": [], "session_data": {{"session_metadata": {times}}}}}"#
        );
        fs::write(conversations.join(format!("a-b_s_{id}.json")), text).unwrap();
    };
    transcript("odd", r#"{"start_time": "2026-02-30T10:00:00", "end_time": "2026-03-01T10:00:00"}"#);
    transcript("back", r#"{"start_time": "2026-03-01T10:00:00", "end_time": "2026-03-01T09:00:00"}"#);
    let read = read(folder.path());
    let seconds: Vec<_> = read.episodes["a-b"].iter().map(|e| e.timing.agent_seconds).collect();
    assert_eq!(seconds, [None, None]);
    let mut found_codes: Vec<&str> = (read.report.warnings.iter())
        .filter(|warning| warning.code == "value.not_usable")
        .map(|warning| warning.message.split(", which").next().unwrap_or_default())
        .collect();
    found_codes.sort_unstable();
    assert_eq!(
        found_codes,
        [
            "Session back: It has started_at to finished_at \"2026-03-01T10:00:00 to 2026-03-01T09:00:00\"",
            "Session odd: It has start_time \"2026-02-30T10:00:00\"",
        ]
    );
}
