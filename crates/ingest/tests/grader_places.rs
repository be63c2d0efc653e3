//! Which places of its task's verifier the tool calls of an attempt name, by its transcript.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::Path;

use files::Tree;
use ingest::format_trait::{Format, Report};
use ingest::formats::harbor::Harbor;
use ingest::formats::staminabench::StaminaBench;
use model::GraderPlace::{self, RewardFile, Tests, VerifierLogs};
use serde_json::{Value, json};
use test_folders::copy;

/// What each attempt of the first episode names, and the codes of the warnings.
fn places(format: &impl Format, path: &Path) -> (Vec<Option<Vec<GraderPlace>>>, Vec<String>) {
    let tree = Tree::open(path).unwrap();
    let mut report = Report::default();
    let survey = format.survey(&tree, "", &mut report);
    let readings: Vec<_> =
        survey.parts.iter().flat_map(|part| format.read(&tree, "", part, &mut report)).collect();
    let turns = &readings[0].episode.turns;
    let attempts = turns.iter().flat_map(|turn| &turn.attempts);
    let named =
        attempts.map(|attempt| attempt.grader_places.as_ref().map(|places| places.iter().copied().collect()));
    (named.collect(), report.warnings.into_iter().map(|warning| warning.code).collect())
}

#[test]
fn a_real_job_names_nothing_until_a_call_does() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs");
    let folder = tempfile::tempdir().unwrap();
    copy(&fixture.join("terminus2-mock-priced"), folder.path());
    let (as_it_is, _) = places(&Harbor, folder.path());
    assert!(as_it_is.len() > 1 && as_it_is.iter().all(|named| *named == Some(Vec::new())), "{as_it_is:?}");

    let path = folder.path().join("theme_t1_w1_notes_cli__xVc8kuG/steps/round-2/agent/trajectory.json");
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let steps = document["steps"].as_array_mut().unwrap();
    let calls = steps.iter_mut().find_map(|step| step.get_mut("tool_calls")).unwrap();
    calls[0]["arguments"]["keystrokes"] = "echo 1 > /logs/verifier/reward.txt\n".into();
    fs::write(&path, document.to_string()).unwrap();
    let (named, _) = places(&Harbor, folder.path());
    assert_eq!(named[1], Some(vec![VerifierLogs, RewardFile]));
    assert!(
        named.iter().enumerate().all(|(index, named)| index == 1 || *named == Some(Vec::new())),
        "{named:?}"
    );

    fs::write(&path, "{").unwrap();
    assert_eq!(places(&Harbor, folder.path()).0[1], None, "nothing tells");
    // The reference solution has no transcript.
    assert!(places(&Harbor, &fixture.join("oracle-k2")).0.iter().all(Option::is_none));
}

/// A run of one's own at a task of two steps, with its transcripts.
fn own_run(task: bool, transcripts: [Option<&str>; 2]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("scenario_0");
    fs::create_dir_all(scenario.join("transcripts")).unwrap();
    let turns: Vec<Value> = transcripts
        .iter()
        .zip(1..)
        .map(|(transcript, turn)| {
            let name = format!("transcripts/turn_{turn}_attempt_1.json");
            if let Some(transcript) = transcript {
                fs::write(scenario.join(&name), transcript).unwrap();
            }
            json!({ "turn": turn, "tests": [], "attempts": [
                { "attempt": 1, "verdict": "passed", "success": true, "reward": 1.0, "files": { "transcript": name } }
            ] })
        })
        .collect();
    let mut trajectory = json!({
        "schema_version": "stamina-lab/1", "scenario": "scenario_0", "planned_turns": 2, "attempt_limit": 1,
        "turns": turns, "finished_at": "2026-11-01T00:00:00Z", "end_reason": "passed_all",
    });
    if task {
        trajectory["task"] = "parser".into();
    }
    // The version stands first.
    let text = trajectory.to_string();
    let text = text.replacen(r#""schema_version":"stamina-lab/1","#, "", 1).replacen(
        '{',
        r#"{"schema_version":"stamina-lab/1","#,
        1,
    );
    fs::write(scenario.join("trajectory.json"), text).unwrap();
    folder
}

fn transcript(commands: &[&str]) -> String {
    let prompt_step = json!({ "kind": "user", "text": "The tests lie in /tests." });
    let calls = commands.iter().map(|command| {
        json!({ "kind": "agent", "text": "", "tool_calls": [
            { "name": "bash", "arguments": { "command": command }, "result": "/logs/verifier" }
        ] })
    });
    let steps: Vec<Value> = std::iter::once(prompt_step).chain(calls).collect();
    json!({ "schema_version": "stamina-lab/1", "steps": steps }).to_string()
}

#[test]
fn a_task_of_ones_own_says_it_by_its_transcripts() {
    let first = transcript(&["ls", "cat /tests/test.sh"]);
    let goes_on = transcript(&["ls", "cat /tests/test.sh", "touch /logs/verifier/reward.json"]);
    let folder = own_run(true, [Some(&first), Some(&goes_on)]);
    let (named, codes) = places(&StaminaBench, folder.path());
    // The second transcript repeats the session of the first.
    assert_eq!(named, [Some(vec![Tests]), Some(vec![VerifierLogs, RewardFile])]);
    assert!(codes.is_empty(), "{codes:?}");

    let folder = own_run(true, [Some(&transcript(&["make"])), None]);
    assert_eq!(places(&StaminaBench, folder.path()).0, [Some(Vec::new()), None]);

    let folder = own_run(true, [Some("{\"steps\": 7}"), Some(&first)]);
    let (named, codes) = places(&StaminaBench, folder.path());
    assert_eq!(named, [None, Some(vec![Tests])]);
    assert_eq!(codes.len(), 1, "what cannot be read is said: {codes:?}");

    // In a scenario of StaminaBench nothing of a verifier lies there.
    let folder = own_run(false, [Some(&first), Some(&goes_on)]);
    assert_eq!(places(&StaminaBench, folder.path()).0, [None, None]);
}
