//! Trials of tasks in real containers: what a further attempt finds, what a stop, a budget and a resume leave of a trial, and whose
//! doing it is that a container cannot be started anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Attempt, EndReason, Episode, Verdict};
use runner::{Event, Finish, OnEvent};

use crate::common::{episodes, keep};
use crate::kept::KeptIfFailed;
use crate::tasks_of_harbor::{
    HARNESS, KNOWS_RESUME, RESUMED, REWARD, UNTIL_STOPPED, is_every_way, settings, task,
};

/// Waits in a container until the test lets it go on: [`release`].
const UNTIL_RELEASED: &str = "until [ -e /released ]; do sleep 0.1; done";

/// Writes a file of a task.
fn put(tasks: &Path, path: &str, text: &str) {
    let path = tasks.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

async fn played(folder: &Path, tasks: &Path, more: &[&str]) -> Finish {
    let (on_event, _) = keep();
    runner::run(settings(folder, tasks, more), on_event).await.unwrap()
}

async fn resumed(folder: &Path, change: &[&str]) -> Finish {
    let (on_event, _) = keep();
    let looked_at = runner::origin::identity(folder).unwrap();
    let change = change.iter().map(|&pair| pair.to_owned()).collect();
    runner::resume(folder.to_owned(), change, looked_at, on_event).await.unwrap()
}

fn last_attempt(episode: &Episode) -> &Attempt {
    episode.turns.last().unwrap().attempts.last().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn what_a_step_brings_is_laid_once_where_a_further_attempt_continues() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    // It passes where both attempts have written to the file that the step brings.
    let judge = format!(
        "cat /app/tries; [ \"$(tr '\\n' ' ' < /app/tries)\" = 'start x x ' ] && echo 1 {REWARD} || echo 0 {REWARD}"
    );
    task(&tasks, "laid", "", &[("echo x >> /app/tries", &judge)]);
    put(&tasks, "laid/steps/s0/workdir/tries", "start\n");
    // A second execution would fail.
    put(&tasks, "laid/steps/s0/workdir/setup.sh", "mkdir /app/made\n");
    let folder = room.path().join("run");
    let more = ["agent=ORACLE", "harbor.protocol=ours", "attempt_limit=3"];
    assert_eq!(played(&folder, &tasks, &more).await, Finish::Finished);
    let episode = episodes(&folder).remove(0);
    let verdicts: Vec<Verdict> = episode.turns[0].attempts.iter().map(|attempt| attempt.verdict).collect();
    assert_eq!(verdicts, [Verdict::Failed, Verdict::Passed], "{episode:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_resume_keeps_the_steps_of_a_trial_whose_budget_is_still_spent() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    task(&tasks, "budget", "", &[("echo one", &passes), ("echo two", &passes)]);
    // What the first step takes, which is all of another task of the same name.
    let (short, folder) = (room.path().join("short"), room.path().join("first"));
    task(&short, "budget", "", &[("echo one", &passes)]);
    assert_eq!(played(&folder, &short, &HARNESS).await, Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!(episode.stamina(), 1);
    let first = episode.turns[0].attempts[0].tokens;
    let tokens = first.input.unwrap() + first.output.unwrap() - 10;
    for (scope, finish) in [("episode", Finish::Finished), ("run", Finish::Budget)] {
        let folder = room.path().join(scope);
        let budget = format!("limits.{scope}.tokens={tokens}");
        let more = [&HARNESS[..], &[budget.as_str()]].concat();
        assert_eq!(played(&folder, &tasks, &more).await, finish, "{scope}");
        let recorded = || fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
        let before = recorded();
        assert_eq!(episodes(&folder)[0].stamina(), 1, "{scope}: {before}");
        // There is no room for a step of it, so nothing of it is played, and nothing is taken away.
        assert_eq!(resumed(&folder, &[]).await, finish, "{scope}");
        assert_eq!(recorded(), before, "{scope}");
        // Where there is room it is played as a whole. The budget of an episode is raised in the deep test only.
        if scope == "episode" && !is_every_way() {
            continue;
        }
        let raised = format!("limits.{scope}.tokens=1000000000");
        assert_eq!(resumed(&folder, &[&raised]).await, Finish::Finished, "{scope}");
        assert_eq!(episodes(&folder)[0].stamina(), 2, "{scope}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_stop_between_steps_by_themselves_ends_no_trial() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    // The container that is restored after the first step is waited for until the stop: what its check has left is in it.
    let toml = "[environment.healthcheck]\ncommand = \"[ ! -e /app/opened ] || { sleep 500; exit 1; }; touch /app/opened\"\ntimeout_sec = 600\n";
    task(&tasks, "stopped", toml, &[("true", &passes), ("true", &passes)]);
    let folder = room.path().join("run");
    let run_folder = folder.clone();
    let stop_at_first: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Attempt { .. }) {
            let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
            runner::control::write(&run_folder, &control_request).unwrap();
        }
    });
    let settings = settings(&folder, &tasks, &["harbor.protocol=sr", "attempt_limit=2", "agent=NOP"]);
    assert_eq!(runner::run(settings, stop_at_first).await.unwrap(), Finish::Stopped);
    let text = fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
    let trajectory: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(trajectory["end_reason"], "cancelled", "{text}");
    assert!(trajectory["finished_at"].is_null() && trajectory["exception"].is_null(), "{text}");
}

/// Stops the run at the end of an attempt at a step.
fn stop_after(folder: &Path, turn: u32) -> OnEvent {
    let run_folder = folder.to_owned();
    Arc::new(move |event| {
        if matches!(event, Event::Attempt { turn: played, .. } if *played == turn) {
            let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
            runner::control::write(&run_folder, &control_request).unwrap();
        }
    })
}

/// What a run has in the engine.
async fn leftovers(folder: &Path) -> Vec<sandbox::Leftover> {
    let engine = sandbox::Engine::connect().await.unwrap();
    let id = runner::live::read(folder).unwrap().id;
    engine.leftovers().await.unwrap().into_iter().filter(|left| left.run == id).collect()
}

/// What the engine knows the containers of a run by.
async fn containers_of(folder: &Path) -> Vec<String> {
    let is_container = |left: &sandbox::Leftover| left.kind == "container";
    leftovers(folder).await.into_iter().filter(is_container).map(|left| left.id).collect()
}

/// Lets what waits in a container go on, once: the runner pauses it afterwards, and the engine never ends a call that begins at that
/// moment.
fn release(container: &str) {
    Command::new("docker").args(["exec", container, "touch", "/released"]).output().expect("docker");
}

fn resumes(episode: &Episode) -> Vec<(String, String, u64, u64)> {
    let list = episode.extra.get("resumes").and_then(|list| list.as_array()).cloned().unwrap_or_default();
    let word = |resume: &serde_json::Value, key: &str| resume[key].as_str().unwrap_or_default().to_owned();
    let fields = |resume: &serde_json::Value| {
        let after = resume["after_turn"].as_u64().unwrap_or_default();
        (word(resume, "from"), word(resume, "why"), after, resume["turn"].as_u64().unwrap_or_default())
    };
    list.iter().map(fields).collect()
}

/// A task of three steps: the step `n` passes where the ones before were played once each. The last one begins with a command.
fn chain(tasks: &Path, toml: &str, begins_with: &str) {
    let step = |number: u32| {
        let pause = if number == 3 { format!("{begins_with}; ") } else { String::new() };
        let before = "x".repeat(number as usize);
        let judge =
            format!("[ \"$(tr -d '\\n' < /app/played)\" = {before} ] && echo 1 {REWARD} || echo 0 {REWARD}");
        (format!("{pause}echo x >> /app/played"), judge)
    };
    let steps: Vec<(String, String)> = (1..=3).map(step).collect();
    let steps: Vec<(&str, &str)> =
        steps.iter().map(|(solve, test)| (solve.as_str(), test.as_str())).collect();
    task(tasks, "chain", toml, &steps);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_resume_continues_a_trial_from_its_last_snapshot() {
    const TRIES: &str = "harbor.protocol=mt_at_k";
    const PLAIN: &str = "harbor.snapshots=each_step";
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    chain(&tasks, KNOWS_RESUME, UNTIL_STOPPED);
    let begun = |episode: &Episode| -> Vec<Option<String>> {
        episode.turns.iter().map(|turn| turn.attempts[0].timing.started_at.clone()).collect()
    };
    // Without snapshots a plain chain begins anew as the other one does: it is left to the deep test.
    let ways = [
        ("kept", TRIES, false),
        ("removed", TRIES, true),
        ("plain", PLAIN, false),
        ("plain_removed", PLAIN, true),
    ];
    for (name, more, is_removed) in ways.into_iter().take(if is_every_way() { 4 } else { 3 }) {
        let folder = room.path().join(name);
        let settings = settings(&folder, &tasks, &["agent=ORACLE", more]);
        let first_part = runner::run(settings, stop_after(&folder, 2)).await;
        assert_eq!(first_part.unwrap(), Finish::Stopped);
        let before = begun(&episodes(&folder)[0]);
        assert_eq!(before.len(), 2, "stopped in its third step");
        // The end of the run has removed everything but what a resume continues from.
        let kept = leftovers(&folder).await;
        assert!(!kept.is_empty() && kept.iter().all(|left| left.kind == "image" && left.is_kept), "{kept:?}");
        assert!(more == TRIES || kept.len() == 1, "a plain chain has its last one only: {kept:?}");
        let engine = sandbox::Engine::connect().await.unwrap();
        engine.sweep().await.unwrap();
        assert_eq!(leftovers(&folder).await.len(), kept.len(), "a sweep leaves it");
        if is_removed {
            engine.remove(&kept).await.unwrap();
        }
        assert_eq!(resumed(&folder, &[RESUMED]).await, Finish::Finished);
        let episode = episodes(&folder).remove(0);
        assert_eq!((episode.stamina(), episode.turns.len()), (3, 3), "{episode:?}");
        let marks: Vec<bool> =
            episode.turns.iter().map(|turn| turn.attempts[0].extra.contains_key("resumed")).collect();
        let after = begun(&episode);
        if is_removed {
            assert_eq!(resumes(&episode), [("first_step".to_owned(), "cancelled".to_owned(), 2, 1)]);
            assert!(after[..2] != before[..] && marks == [false; 3], "all of it is retried: {after:?}");
        } else {
            assert_eq!(resumes(&episode), [("snapshot".to_owned(), "cancelled".to_owned(), 2, 3)]);
            assert_eq!((&after[..2], &marks[..]), (&before[..], &[false, false, true][..]));
        }
        assert_eq!(leftovers(&folder).await, [], "a trial that is over keeps none");
        assert!(!folder.join(".stamina/state/scenario_0/snapshot.json").exists());
    }
}

/// Copies the files of a folder as they are just now.
fn copy_folder(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap().map(Result::unwrap) {
        let (kind, target) = (entry.file_type().unwrap(), target.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target);
        } else if kind.is_file() {
            // One that was replaced meanwhile is there again in a moment, and not needed here.
            let _ = fs::copy(entry.path(), target);
        }
    }
}

/// The copy has the run and the episodes of the original. What it finds of them in the engine is not its own to remove.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: The records of a run (`.stamina/`)
async fn a_copy_of_a_folder_that_is_resumed_beside_the_original_ends_none_of_its_containers() {
    let room = KeptIfFailed::new();
    let (tasks, folder, copy) =
        (room.path().join("tasks"), room.path().join("run"), room.path().join("copy"));
    let judge = format!("[ $(wc -l < /app/played) = 1 ] && echo 1 {REWARD} || echo 0 {REWARD}");
    task(&tasks, "long", "", &[(&format!("echo x >> /app/played; {UNTIL_RELEASED}"), &judge)]);
    let (on_event, _) = keep();
    let original = tokio::spawn(runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event));
    let containers = async |count: usize| {
        while !original.is_finished() {
            if folder.join(".stamina/run.json").exists() && containers_of(&folder).await.len() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the original ended before there were {count} containers");
    };
    containers(1).await;
    copy_folder(&folder, &copy);
    let (on_event, _) = keep();
    let looked_at = runner::origin::identity(&copy).unwrap();
    let resuming = tokio::spawn(runner::resume(copy.clone(), Vec::new(), looked_at, on_event));
    while containers_of(&folder).await.len() < 2 {
        assert!(
            !original.is_finished() && !resuming.is_finished(),
            "the copy has no container beside that of the original"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
    runner::control::write(&copy, &control_request).unwrap();
    assert_eq!(resuming.await.unwrap().unwrap(), Finish::Stopped);
    // The original has been at work in its container all the time.
    containers_of(&folder).await.iter().for_each(|container| release(container));
    assert_eq!(original.await.unwrap().unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!((last_attempt(&episode).verdict, resumes(&episode)), (Verdict::Passed, vec![]), "{episode:?}");
    assert_eq!(leftovers(&folder).await, [], "and both have removed their own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_resume_of_attempts_that_build_on_each_other_begins_their_step_again() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    let judge =
        |lines: u32| format!("[ $(wc -l < /app/played) = {lines} ] && echo 1 {REWARD} || echo 0 {REWARD}");
    // The second step needs two attempts, and in its second one the run is stopped.
    let slow = format!("echo x >> /app/played; [ $(wc -l < /app/played) -lt 3 ] || {UNTIL_STOPPED}");
    task(&tasks, "built", KNOWS_RESUME, &[("echo x >> /app/played", &judge(1)), (&slow, &judge(3))]);
    let folder = room.path().join("run");
    let more = ["agent=ORACLE", "harbor.protocol=ours", "attempt_limit=3", "harbor.snapshots=each_step"];
    let first_part = runner::run(settings(&folder, &tasks, &more), stop_after(&folder, 2)).await;
    assert_eq!(first_part.unwrap(), Finish::Stopped);
    assert_eq!(resumed(&folder, &[RESUMED]).await, Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!(resumes(&episode), [("snapshot".to_owned(), "cancelled".to_owned(), 2, 2)]);
    let verdicts: Vec<Vec<Verdict>> = episode
        .turns
        .iter()
        .map(|turn| turn.attempts.iter().map(|attempt| attempt.verdict).collect())
        .collect();
    assert_eq!(verdicts, [vec![Verdict::Passed], vec![Verdict::Failed, Verdict::Passed]], "{episode:?}");
    assert_eq!(leftovers(&folder).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_resume_of_steps_by_themselves_executes_the_reference_solution_that_is_missing() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    // The container that is restored after the first step is waited for until the stop, so that its solution is not executed in it.
    let health = "[environment.healthcheck]\ncommand = '[ ! -e /app/opened ] || [ -n \"$RESUMED\" ] || { sleep 500; exit 1; }; touch /app/opened'\n\
                  timeout_sec = 600\n";
    chain(&tasks, &format!("{KNOWS_RESUME}{health}"), "true");
    let folder = room.path().join("run");
    let settings = settings(&folder, &tasks, &["agent=ORACLE", "harbor.protocol=sr"]);
    assert_eq!(runner::run(settings, stop_after(&folder, 1)).await.unwrap(), Finish::Stopped);
    assert_eq!(resumed(&folder, &[RESUMED]).await, Finish::Finished);
    let steps = episodes(&folder);
    let verdicts: Vec<Verdict> = steps.iter().map(|step| last_attempt(step).verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed; 3], "{steps:?}");
    let text = fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
    let trajectory: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(trajectory["resumes"][0]["from"], "snapshot", "{text}");
    assert_eq!(trajectory["resumes"][0]["after_turn"], 1, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_attempt_at_a_step_is_retried_from_its_snapshot_on_request() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    // It passes where it was played to its end, and finds nothing of the attempt before.
    let judge =
        format!("[ -e /app/ended ] && [ $(wc -l < /app/played) = 1 ] && echo 1 {REWARD} || echo 0 {REWARD}");
    let solve = format!("echo x >> /app/played; {UNTIL_RELEASED}; touch /app/ended");
    task(&tasks, "retried", "", &[(&solve, &judge), ("true", &judge)]);
    let folder = room.path().join("run");
    let (on_event, events) = keep();
    let settings = settings(&folder, &tasks, &["agent=ORACLE", "attempt_limit=2", "restore_before_try=true"]);
    let playing = tokio::spawn(runner::run(settings, on_event));
    let shown = || {
        let text = fs::read(folder.join(".stamina/episodes/scenario_0.json")).ok()?;
        serde_json::from_slice::<serde_json::Value>(&text).ok()
    };
    let deadline = Instant::now() + Duration::from_mins(4);
    let wait_for = async |key: &str, value: serde_json::Value| {
        while shown().is_none_or(|shown| shown[key] != value) {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(!playing.is_finished(), "it ended before {key} was {value}");
            assert!(Instant::now() < deadline, "{key} does not become {value}");
        }
    };
    wait_for("phase", "agent".into()).await;
    let first_containers = containers_of(&folder).await;
    runner::control::change(&folder, |control_request| {
        *control_request.retry.entry("scenario_0".to_owned()).or_default() += 1;
    })
    .unwrap();
    wait_for("retries", 1.into()).await;
    // The container that was restored for it: the attempt before never goes on.
    let restored = loop {
        let others = containers_of(&folder)
            .await
            .into_iter()
            .find(|container_name| !first_containers.contains(container_name));
        let is_at_work = shown().is_some_and(|shown| shown["phase"] == "agent");
        if let Some(container) = others.filter(|_| is_at_work) {
            break container;
        }
        assert!(!playing.is_finished() && Instant::now() < deadline, "its retry does not begin");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    release(&restored);
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!((episode.stamina(), episode.turns[0].attempts.len()), (2, 1), "{episode:?}");
    let begun = events.lock().unwrap().iter().find_map(|event| match event {
        Event::Turn { at, turn: 1, .. } => Some(at.clone()),
        _ => None,
    });
    assert!(episode.turns[0].attempts[0].timing.started_at > begun, "it began a second time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_reference_solution_leaves_no_logs_for_the_agent_and_its_failure_is_recorded() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    let solve = "echo left > /logs/artifacts/of_reference; echo left > /logs/agent/log; exit 3";
    let judge = format!("[ -e /logs/agent/log ] && echo 0 {REWARD} || echo 1 {REWARD}");
    task(&tasks, "parser", "", &[(solve, &format!("echo 1 {REWARD}")), ("true", &judge)]);
    let folder = room.path().join("run");
    let more = ["harbor.protocol=sr", "attempt_limit=2", "agent=NOP"];
    assert_eq!(played(&folder, &tasks, &more).await, Finish::Finished);
    let played = episodes(&folder);
    let [first, second] = &played[..] else { panic!("{played:?}") };
    assert_eq!([first, second].map(|step| last_attempt(step).verdict), [Verdict::Passed; 2]);
    assert!(!last_attempt(first).extra.contains_key("references_failed"));
    assert_eq!(last_attempt(second).extra["references_failed"], serde_json::json!({ "s0": 3 }));
    assert!(!folder.join("scenario_0/artifacts/turn_2/artifacts/of_reference").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_container_that_cannot_be_started_anew_is_the_agents_doing_only_where_another_one_can() {
    let room = KeptIfFailed::new();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    // What its image starts cannot begin twice in the same files.
    task(&tasks, "a_image", "", &[("true", &passes), ("true", &passes)]);
    let recipe = "FROM debian:trixie-slim\nRUN printf '#!/bin/sh\\nmkdir /once || exit 1\\nexec \"$@\"\\n' > /start && chmod +x /start\n\
                  ENTRYPOINT [\"/start\"]\nWORKDIR /app\n";
    fs::write(tasks.join("a_image/environment/Dockerfile"), recipe).unwrap();
    // Its agent takes away what keeps the container alive.
    task(&tasks, "b_agent", "", &[("rm -f /usr/bin/sh", &passes), ("true", &passes)]);
    // A service of its image does not begin twice in the same files. Of what it says only memory is new after a restart.
    let toml =
        "[environment.healthcheck]\ncommand = \"[ -e /dev/shm/up ]\"\ninterval_sec = 0.2\nretries = 2\n";
    task(&tasks, "c_service", toml, &[("true", &passes), ("true", &passes)]);
    let recipe = "FROM debian:trixie-slim\nRUN printf '#!/bin/sh\\n[ -e /pid ] || touch /dev/shm/up\\ntouch /pid\\nexec \"$@\"\\n' > /start && \
                  chmod +x /start\nENTRYPOINT [\"/start\"]\nWORKDIR /app\n";
    fs::write(tasks.join("c_service/environment/Dockerfile"), recipe).unwrap();
    let folder = room.path().join("run");
    let more = ["agent=ORACLE", "harbor.background=end"];
    assert_eq!(played(&folder, &tasks, &more).await, Finish::Finished);
    let episodes = episodes(&folder);
    let reasons = [
        ("a_image", EndReason::Environment),
        ("b_agent", EndReason::KilledItself),
        ("c_service", EndReason::Environment),
    ];
    for (name, reason) in reasons {
        let episode = episodes.iter().find(|episode| episode.scenario == name).unwrap();
        assert_eq!(episode.turns.len(), 1, "{name}: nothing follows");
        let attempt = last_attempt(episode);
        assert_eq!(attempt.end_reason, Some(reason), "{name}: {attempt:?}");
        let message = &attempt.exception.as_ref().unwrap().1;
        assert!(message.contains("started anew"), "{name}: {message}");
    }
}
