//! The same results as in Harbor's own jobs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ingest::format_trait::{Format, Report};
use model::{EndReason, Episode, Turn};
use runner::{Event, Finish};

use crate::common::{episodes, keep};
use crate::tasks_of_harbor::{HARNESS, is_every_way, settings};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor")
}

/// A copy of the ten tasks, whose images need no network.
fn tasks(room: &Path) -> PathBuf {
    fn copy(source: &Path, target_folder: &Path) {
        fs::create_dir_all(target_folder).unwrap();
        for entry in fs::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            let target = target_folder.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &target);
            } else if entry.file_name() == "Dockerfile" {
                let text = fs::read_to_string(entry.path()).unwrap();
                let kept: Vec<&str> = text.lines().filter(|line| !line.contains("apt-get")).collect();
                fs::write(target, kept.join("\n")).unwrap();
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let tasks_folder = room.join("tasks");
    copy(&fixtures().join("tasks"), &tasks_folder);
    tasks_folder
}

/// What an importer makes of a job of Harbor's.
fn job(name: &str) -> Vec<Episode> {
    let tree = files::Tree::open(&fixtures()).unwrap();
    let mut report = Report::default();
    let format = ingest::formats::harbor::Harbor;
    let place = format!("jobs/{name}");
    let survey = format.survey(&tree, &place, &mut report);
    let reader = format.reader(&tree, &place);
    survey
        .parts
        .iter()
        .flat_map(|part| reader.read(&tree, part, &mut report))
        .map(|read| read.episode)
        .collect()
}

/// What is compared of a step: name, verdict, reason, reward, all rewards, cases passed and in all, and how each case went.
fn facts(turn: &Turn) -> String {
    let attempt = turn.attempts.last().unwrap();
    // In the order of their names, however they were written.
    let rewards = attempt.extra.get("rewards").and_then(serde_json::Value::as_object);
    let rewards: Option<BTreeMap<_, _>> = rewards.map(|rewards| rewards.iter().collect());
    let tests: Vec<String> =
        attempt.tests.iter().map(|test| format!("{} {:?}", test.id, test.outcome)).collect();
    format!(
        "{} {:?} {:?} reward {:?} {:?} cases {:?}/{:?} {:?} {tests:?}",
        turn.extra["step"],
        attempt.verdict,
        attempt.end_reason,
        attempt.reward,
        rewards,
        attempt.passed,
        attempt.total,
        attempt.counting,
    )
}

fn by_task(episodes: &[Episode]) -> BTreeMap<String, Vec<String>> {
    // A job's reader tells the requests of steps that were not reached, too.
    let reached = |episode: &Episode| -> Vec<String> {
        episode.turns.iter().filter(|turn| !turn.attempts.is_empty()).map(facts).collect()
    };
    let episode_of = |episode: &Episode| (episode.scenario.clone(), reached(episode));
    // Of several trials of a task the last stands for all: they are equal.
    episodes.iter().map(episode_of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn the_reference_solution_comes_to_what_harbors_own_jobs_came_to() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("oracle");
    let settings = settings(&folder, &tasks(room.path()), &["agent=ORACLE"]);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let played = episodes(&folder);
    let mut expected = by_task(&job("oracle-k2"));
    expected.extend(by_task(&job("failures-k1")));
    let found = by_task(&played);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(found.len(), 10);
    for (task, steps) in &expected {
        assert_eq!(&found[task], steps, "{task}");
    }
    // If the image cannot be built there is no step, and the exception says why.
    let broken = played.iter().find(|episode| episode.scenario.contains("_v6_")).unwrap();
    assert_eq!((broken.turns.len(), broken.end_reason), (0, Some(EndReason::Environment)));
    assert!(broken.exception.as_ref().unwrap().1.contains("stamina-task:"), "{:?}", broken.exception);
    let events = events.lock().unwrap();
    let own_seconds_of_attempts: Vec<f64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Attempt { own_seconds, .. } => Some(*own_seconds),
            _ => None,
        })
        .collect();
    assert_eq!(own_seconds_of_attempts.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn nobody_fails_every_step_of_the_ten_tasks_as_in_harbors_own_jobs() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("nop");
    // In `npm test` those of Harbor's own job, and those with an end of their own: steps of the others are judged as those of the
    // first one.
    let (chosen, count) = if is_every_way() {
        ("harbor.execute_episodes=0,1,2,3,4,5,6,7,8,9", 10)
    } else {
        ("harbor.execute_episodes=0,1,3,6,7,8", 6)
    };
    let settings = settings(&folder, &tasks(room.path()), &["agent=NOP", chosen]);
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let found = by_task(&episodes(&folder));
    let mut expected = by_task(&job("nop-k1"));
    assert_eq!(expected.len(), 2);
    let (_, notes) = expected.iter().find(|(task, _)| task.contains("_t1_")).unwrap();
    let notes = notes.clone();
    assert!(notes.iter().all(|step| step.contains("reward Some(0.0) None")), "every step fails: {notes:?}");
    // Harbor's own job has two of the tasks. The other eight have the suites of the first one, but for what ends a chain: that is
    // the same whoever plays, and their job with the reference solution has it.
    for (task, solved) in by_task(&job("failures-k1")) {
        let is_named = |name: &str| task.contains(name);
        let steps = if is_named("_v2_") {
            // The verifier of its third step leaves no reward.
            [&notes[..2], &solved[2..]].concat()
        } else if is_named("_v5_") {
            // Its first step has to be passed.
            notes[..1].to_vec()
        } else if is_named("_v6_") {
            // Its image cannot be built.
            solved
        } else if is_named("_v7_") {
            // The verifier of its second step is out of time.
            [&notes[..1], &solved[1..]].concat()
        } else {
            notes.clone()
        };
        expected.insert(task, steps);
    }
    assert_eq!(expected.len(), 10);
    let counts: Vec<usize> = expected.values().map(Vec::len).collect();
    assert_eq!(counts, [4, 3, 4, 3, 4, 4, 1, 0, 2, 4]);
    assert_eq!(found.len(), count, "{:?}", found.keys());
    for (task, steps) in &found {
        assert_eq!(steps, &expected[task], "{task}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_with_the_simulated_model_comes_to_what_the_reference_solution_comes_to() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("harness");
    // The last of the fixtures: some of its steps pass, and some fail. In the deep test also one that passes, and the first with
    // failing steps. No time limit is reached in them.
    let (chosen, count) =
        if is_every_way() { ("harbor.execute_episodes=0,2,9", 3) } else { ("harbor.execute_episodes=9", 1) };
    let more = [&HARNESS[..], &[chosen]].concat();
    let settings = settings(&folder, &tasks(room.path()), &more);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let played = episodes(&folder);
    let mut expected = by_task(&job("oracle-k2"));
    expected.extend(by_task(&job("failures-k1")));
    let found = by_task(&played);
    assert_eq!(found.len(), count);
    for (task, steps) in &found {
        assert_eq!(steps, &expected[task], "{task}");
    }
    for turn in played.iter().flat_map(|episode| &episode.turns) {
        let attempt = &turn.attempts[0];
        assert!(attempt.tokens.input.is_some_and(|tokens| tokens > 0), "the gateway counted: {attempt:?}");
        assert!(attempt.tool_calls.is_some_and(|calls| calls > 1), "{attempt:?}");
        assert!(!attempt.extra.contains_key("session_restarted"), "{attempt:?}");
    }
    // The request is the instruction and nothing else.
    let transcript = fs::read_to_string(folder.join("scenario_9/transcripts/turn_2_attempt_1.json")).unwrap();
    assert!(!transcript.contains("## Your environment"), "{transcript}");
    let events = events.lock().unwrap();
    let simulated = events.iter().any(|event| matches!(event, Event::Started { simulated: true, .. }));
    assert!(simulated, "the run is shown as simulated");
}
