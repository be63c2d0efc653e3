//! Damaged files, values that cannot be, and what is bounded.

use std::path::Path;

use files::Tree;
use ingest::format_trait::{Format, Report};
use ingest::formats::harbor::Harbor;
use model::{ArtifactKind, EndReason};
use proptest::prelude::*;
use test_folders::copy;

use crate::harbor::{V1, V2, edit, fixture, letters, read, small_job, write};

#[test]
fn damaged_files_are_reported_and_nothing_vanishes() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let text = std::fs::read_to_string(job.join(V1).join("result.json")).unwrap();
    write(&job.join(V1).join("result.json"), &text[..text.len() / 2]);
    write(&job.join(V2).join("result.json"), "[1, 2]");
    write(&job.join(V2).join("config.json"), "");
    write(&job.join("result.json"), "\u{0}\u{1}");
    std::fs::write(job.join("lock.json"), [0xff; 10]).unwrap();
    std::fs::create_dir(job.join("theme_x__never")).unwrap();
    std::fs::create_dir(job.join(".sources")).unwrap();
    let read = read(dir.path());
    assert_eq!(read.episodes_of("failures-k1/oracle").len(), 2);
    assert_eq!(letters(read.episode(V1)), "ppfp");
    // It has ended: what cannot be read is an error of the verifier, not a trial that is still running.
    assert_eq!(letters(read.episode(V2)), "ppen");
    assert_eq!(read.episode(V2).end(), (Some(3), EndReason::VerifierError));
    assert_eq!(read.episode(V2).turns[2].attempts[0].extra["verdict"], "unreadable");
    assert_eq!(read.run("failures-k1/oracle").runner, Some(("Harbor".to_owned(), None)));
    assert!(read.run("failures-k1/oracle").reported.figures.is_empty());
    let found_messages: Vec<(&str, &str)> =
        read.report.warnings.iter().map(|w| (w.path.rsplit('/').next().unwrap(), w.code.as_str())).collect();
    for want in [
        ("result.json", "json.truncated"),
        ("result.json", "json.wrong_type"),
        ("config.json", "file.empty"),
        ("theme_x__never", "harbor.not_a_trial"),
    ] {
        assert!(found_messages.contains(&want), "{want:?} in {found_messages:?}");
    }
    assert!(!found_messages.iter().any(|(path, _)| *path == ".sources"));
}

/// Such a trial is an event of the verifier. The turn at which it is read "not reached" where nothing else of it was left.
#[test]
fn a_turn_of_which_nothing_can_be_read_has_a_verdict_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let single = dir.path().join("single/job-a");
    copy(&fixture().join("../world/null-reward/job-a"), &single);
    let chain = small_job(&dir.path().join("chain"));
    for (trial, gone) in [
        (single.join("e__GGGGGG5"), ["verifier/reward.txt", "trial.log"].as_slice()),
        (chain.join(V1), ["steps/round-3", "steps/round-4", "trial.log"].as_slice()),
        (chain.join(V2), ["steps", "trial.log"].as_slice()),
    ] {
        let text = std::fs::read_to_string(trial.join("result.json")).unwrap();
        write(&trial.join("result.json"), &text[..text.len() / 2]);
        for path in gone.iter().map(|name| trial.join(name)) {
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            removed.unwrap();
        }
    }
    let read = read(dir.path());
    for (trial, turns, planned, turn) in
        [("e__GGGGGG5", "e", Some(1), 1), (V1, "ppen", Some(4), 3), (V2, "ennn", Some(4), 1)]
    {
        let episode = read.episode(trial);
        assert_eq!((letters(episode).as_str(), episode.planned_turns), (turns, planned), "{trial}");
        assert_eq!(episode.end(), (Some(turn), EndReason::VerifierError), "{trial}");
        let attempt = &episode.turn(turn).unwrap().attempts[0];
        assert_eq!(attempt.extra["verdict"], "unreadable", "{trial}");
        assert!(attempt.tokens.is_unknown() && attempt.cost_usd.is_none(), "{trial}: not 0");
    }
}

/// The first trial for which it was known decided: in a job that has both, a chain was planned as one turn.
#[test]
fn an_unreadable_trial_is_of_one_step_where_all_others_are() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    write(&job.join("config.json"), r#"{"job_name": "job", "agents": [{"name": "a"}]}"#);
    let put_trial = |task: &str, result: &str| {
        let config = format!(
            r#"{{"trial_name": "{task}__1", "task": {{"path": "/x/{task}"}}, "agent": {{"name": "a"}}}}"#
        );
        write(&job.join(format!("{task}__1/config.json")), &config);
        write(&job.join(format!("{task}__1/result.json")), result);
    };
    put_trial("a", r#"{"verifier_result": {"rewards": {"reward": 1.0}}, "note": NaN}"#);
    put_trial("b", r#"{"task_name": "b", "verif"#);
    let stamp_and_turns = || {
        let tree = Tree::open(dir.path()).unwrap();
        let survey = Harbor.survey(&tree, "job", &mut Report::default());
        let part = survey.parts.iter().find(|part| part.key == "b").unwrap();
        let tree = tree.fork();
        let readings = Harbor.read(&tree, "job", part, &mut Report::default());
        // What is wrong with another trial is reported with that one.
        assert!(tree.warnings().is_empty(), "{:?}", tree.warnings());
        assert_eq!(readings[0].episode.end().1, EndReason::VerifierError);
        (part.stamp, readings[0].episode.planned_turns)
    };
    let (alone, turns_alone) = stamp_and_turns();
    put_trial("c", r#"{"step_results": [{"step_name": "one"}, {"step_name": "two"}]}"#);
    let (beside_a_chain, turns_in_chain) = stamp_and_turns();
    assert_eq!((turns_alone, turns_in_chain), (Some(1), None));
    assert_ne!(alone, beside_a_chain, "what a part was read by has changed");
}

#[test]
fn values_that_cannot_be_are_unknown_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = small_job(dir.path()).join(V1).join("result.json");
    let mut result: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let steps = &mut result["step_results"];
    steps[0]["agent_execution"]["finished_at"] = "2020-01-01T00:00:00Z".into();
    steps[1]["agent_execution"]["started_at"] = "2026-02-30T00:00:00Z".into();
    steps[2]["verifier"]["finished_at"] = "2026-11-21T07:40:00".into();
    steps[3]["agent_result"] = serde_json::json!({"n_input_tokens": "12", "n_output_tokens": 3, "n_cache_tokens": -1, "cost_usd": -0.5});
    result["finished_at"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&path, result.to_string()).unwrap();
    let read = read(dir.path());
    let episode = read.episode(V1);
    let attempts: Vec<_> = episode.turns.iter().map(|t| &t.attempts[0]).collect();
    let seconds: Vec<[bool; 2]> = attempts
        .iter()
        .map(|a| [a.timing.agent_seconds.is_some(), a.timing.test_seconds.is_some()])
        .collect();
    assert_eq!(seconds, [[false, true], [false, true], [true, false], [true, true]]);
    let (tokens, cost) = (attempts[3].tokens, attempts[3].cost_usd);
    assert_eq!((tokens.input, tokens.cached, tokens.output, cost), (None, None, Some(3), None));
    assert_eq!(letters(episode), "ppfp");
    let found_messages: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "value.not_usable")
        .map(|w| w.message.as_str())
        .collect();
    assert_eq!(found_messages.len(), 5, "four steps and the trial: {found_messages:?}");
    for part in [
        "agent_execution.started_at \"2026-02-30",
        "n_input_tokens \"12\"",
        "n_cache_tokens -1",
        "cost_usd -0.5",
    ] {
        assert!(found_messages.iter().any(|message| message.contains(part)), "{part}: {found_messages:?}");
    }
}

#[test]
fn wrong_types_in_a_result_cost_only_themselves() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let path = dir.path().join("jobs/failures-k1").join(V1).join("result.json");
    edit(&path, "\"started_at\": \"2026-11-21T07:30:38.546352Z\"", "\"started_at\": 3");
    edit(&path, "\"cost_usd\": null", "\"cost_usd\": {\"a\": \"b\"}, \"new_field\": 7");
    edit(&path, "\"agent_info\": {", "\"surprise\": [1], \"agent_info\": {");
    let read = read(dir.path());
    let episode = read.episode(V1);
    assert_eq!(letters(episode), "ppfp");
    assert_eq!(episode.timing.started_at, None);
    assert_eq!(episode.turns[0].attempts[0].cost_usd, None);
    assert_eq!(episode.turns[0].attempts[0].extra["new_field"], 7);
    assert_eq!(episode.extra["surprise"][0], 1);
}

#[derive(Debug, Clone)]
enum Damage {
    Truncate(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Replace(Vec<u8>),
    Remove,
    Insert(prop::sample::Index, String),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Truncate),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(i, b)| Damage::Flip(i, b)),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(Damage::Replace),
        Just(Damage::Remove),
        (any::<prop::sample::Index>(), "[\\[\\]{}\":,0-9 a-z\\n]{1,8}")
            .prop_map(|(i, t)| Damage::Insert(i, t)),
    ]
}

impl Damage {
    fn apply(&self, path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        match self {
            Self::Truncate(index) => bytes.truncate(index.index(bytes.len().max(1))),
            Self::Flip(position, mask) if !bytes.is_empty() => {
                let position = position.index(bytes.len());
                bytes[position] ^= mask;
            }
            Self::Flip(..) => {}
            Self::Replace(content) => bytes.clone_from(content),
            Self::Remove => {
                std::fs::remove_file(path).unwrap();
                return;
            }
            Self::Insert(position, text) => {
                let position = position.index(bytes.len() + 1);
                bytes.splice(position..position, text.bytes());
            }
        }
        std::fs::write(path, bytes).unwrap();
    }
}

const PARSED: [&str; 12] = [
    "config.json",
    "result.json",
    "lock.json",
    "{V2}/config.json",
    "{V2}/result.json",
    "{V2}/lock.json",
    "{V2}/trial.log",
    "{V2}/steps/round-1/verifier/reward.txt",
    "{V2}/steps/round-2/verifier/test-stdout.txt",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/task.toml",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/steps/round-1/instruction.md",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/steps/round-1/tests/test.sh",
];

/// Whatever one file of one trial becomes, the other trial is read as it was.
#[test]
fn damage_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let single_damage = || (0..PARSED.len(), damage());
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 8), |(first in single_damage(), second in prop::option::of(single_damage()))| {
        let mut originals = Vec::new();
        for (file, damage) in [Some(&first), second.as_ref()].into_iter().flatten() {
            let path = job.join(PARSED[*file].replace("{V2}", V2));
            if let Ok(bytes) = std::fs::read(&path) {
                originals.push((path.clone(), bytes));
                damage.apply(&path);
            }
        }
        let read = read(dir.path());
        let both_gone = ["config.json", "result.json"].iter().all(|f| !job.join(V2).join(f).exists());
        for (path, bytes) in originals.iter().rev() {
            std::fs::write(path, bytes).unwrap();
        }
        prop_assert_eq!(letters(read.episode(V1)), "ppfp");
        prop_assert_eq!(read.episodes.len(), if both_gone { 1 } else { 2 });
        prop_assert!(!both_gone || read.codes().contains(&"harbor.not_a_trial"));
        for (_, episode) in &read.episodes {
            prop_assert!(episode.stamina() <= episode.known_turns());
        }
    });
}

#[test]
fn trajectories_that_continue_in_a_circle_are_read_once() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture().join("jobs/terminus2-mock-priced"), dir.path());
    let agent = dir.path().join("theme_t1_w1_notes_cli__xVc8kuG/steps/round-1/agent");
    let text = std::fs::read_to_string(agent.join("trajectory.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (name, next) in
        [("trajectory.json", "trajectory.cont-1.json"), ("trajectory.cont-1.json", "trajectory.json")]
    {
        document["continued_trajectory_ref"] = next.into();
        write(&agent.join(name), &document.to_string());
    }
    let read = read(dir.path());
    let attempt = &read.episodes[0].1.turns[0].attempts[0];
    assert_eq!(attempt.tool_calls, Some(10), "five of each file");
    assert!(read.report.warnings.iter().any(|warning| warning.code == "trajectory.circle"));
    let tree = Tree::open(dir.path()).unwrap();
    let transcript = attempt.artifacts.iter().find(|a| a.kind == ArtifactKind::Transcript).unwrap();
    let steps = Harbor.transcript(&tree, transcript).unwrap().steps;
    assert_eq!(steps.iter().map(|step| step.tool_calls.len()).sum::<usize>(), 10);
}

#[test]
// docs/security.md: An opened folder or zip
fn results_of_the_trials_of_a_task_are_bounded_together() {
    let room = tempfile::tempdir().unwrap();
    let (original, job) = (fixture().join("jobs/failures-k1"), room.path().join("job"));
    let values = vec!["0"; 400_000].join(",");
    for number in 0..3 {
        let trial = job.join(format!("theme_v5_w1_notes_min_reward__copy{number}"));
        copy(&original.join("theme_v5_w1_notes_min_reward__PAxApKs"), &trial);
        let text = std::fs::read_to_string(trial.join("result.json")).unwrap();
        let (whole, _) = text.rsplit_once('}').unwrap();
        write(&trial.join("result.json"), &format!("{whole},\"more\":[{values}]}}"));
    }
    for name in ["config.json", "result.json"] {
        std::fs::copy(original.join(name), job.join(name)).unwrap();
    }
    let read = read(room.path());
    let skipped_trials: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|warning| warning.code == "file.too_large")
        .map(|warning| warning.path.rsplit('/').nth(1).unwrap())
        .collect();
    assert_eq!(skipped_trials, ["theme_v5_w1_notes_min_reward__copy2"], "of three the last one");
}
