//! Trials of tasks that are killed in the middle of their chains, again and again, end as trials that were left in peace: nothing
//! that is recorded of them is lost or played a second time.
//!
//! This program is two: the test, and with [`PLAYS`] the process that plays a run and kills itself at a named point of the code
//! (`src/kill_points.rs`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use model::{EndReason, Episode, Verdict};
use serde_json::Value;

use crate::common::{episodes, keep};
use crate::kept::KeptIfFailed;
use crate::tasks_of_harbor::{REWARD, settings, task};

/// The variable that names the folder in which the process plays a run.
const PLAYS: &str = "STAMINA_TEST_PLAYS";

/// A test, by whose name the process starts, with the settings of its run.
struct Kind {
    name: &'static str,
    settings: &'static [&'static str],
    /// Attempts at the first step of the second task.
    attempts: usize,
}

/// Attempts begin from snapshots.
const TRIES: Kind = Kind {
    name: "docker_harbor_kills::trials_that_are_killed_in_the_middle_of_their_chains_end_as_undisturbed_ones",
    settings: &["agent=ORACLE", "batch_size=1", "attempt_limit=2", "restore_before_try=true"],
    attempts: 2,
};
/// Snapshots are for a resume only.
const PLAIN: Kind = Kind {
    name: "docker_harbor_kills::plain_chains_that_keep_snapshots_for_a_resume_end_as_undisturbed_ones",
    settings: &["agent=ORACLE", "batch_size=1", "harbor.snapshots=each_step"],
    attempts: 1,
};

/// Stands for the number of attempts at the first step of the second task.
const OF_LAST_ATTEMPT: &str = "LAST";

/// Where the process kills itself, one start after the other: the point, and what a resume finds.
const KILLS: [(&str, &str); 15] = [
    ("container about to be kept:1", "nothing of the first task"),
    ("container kept:1", "a snapshot that no record names"),
    ("snapshot recorded:1", "the snapshot before the first step"),
    ("container restored:1", "the same, in the middle of a resume"),
    ("container kept:1", "the first step is played, and the snapshot after it has no record"),
    ("snapshot recorded:2", "that has one, and the trajectory does not name the attempt"),
    ("step about to be recorded:1", "the same"),
    ("step recorded:1", "the first step"),
    ("step recorded:1", "the second step"),
    ("trial about to end:1", "all steps, without an end"),
    ("trial ended:1", "an end, with snapshots"),
    ("snapshots about to go:1", "the same, in the middle of a resume"),
    ("record of snapshots gone:1", "snapshots without a record"),
    ("step recorded:LAST", "the attempt of the second task that ends its chain"),
    ("record of snapshots gone:1", "its end"),
];

/// Two tasks: the step `n` of the first passes where the ones before were played once each. The first step of the second one stays
/// below its `min_reward`, which ends the trial.
fn tasks(folder: &Path) {
    let judge = |number: usize| {
        let before = "x".repeat(number);
        format!("[ \"$(tr -d '\\n' < /app/played)\" = {before} ] && echo 1 {REWARD} || echo 0 {REWARD}")
    };
    let judges: Vec<String> = (1..=3).map(judge).collect();
    let steps: Vec<(&str, &str)> =
        judges.iter().map(|judge| ("echo x >> /app/played", judge.as_str())).collect();
    task(folder, "a_chain", "", &steps);
    let toml = "[[steps]]\nname = \"s0\"\nmin_reward = 1.0\n[[steps]]\nname = \"s1\"\n";
    let (fails, passes) = (format!("echo 0 {REWARD}"), format!("echo 1 {REWARD}"));
    task(folder, "b_below", toml, &[("true", &fails), ("true", &passes)]);
}

/// Begins the run, or continues it; exits with its code.
fn play(room: &Path, kind: &Kind) -> ! {
    // One worker: the trials begin in the order of their tasks, and the points are passed in the same order each time.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let folder = room.join("run");
    let code = runtime.block_on(async {
        let (on_event, _) = keep();
        let finish = if folder.join(".stamina/run.json").exists() {
            let known = runner::origin::identity(&folder).unwrap();
            runner::resume(folder, Vec::new(), known, on_event).await
        } else {
            runner::run(settings(&folder, &room.join("tasks"), kind.settings), on_event).await
        };
        finish.unwrap().code()
    });
    std::process::exit(i32::from(code));
}

/// Starts the process that plays; the code with which it ended. `None` = it was killed.
fn start(room: &Path, kind: &Kind, kill_at: Option<&str>) -> Option<i32> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([kind.name, "--exact", "--ignored", "--nocapture"]).env(PLAYS, room);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(point) = kill_at {
        command.env("STAMINA_KILL_AT", point);
    }
    command.status().unwrap().code()
}

/// What is recorded of a trial: its trajectory, and its attempts by step.
fn recorded(folder: &Path, scenario: u32) -> Option<(Value, Vec<usize>)> {
    let text = fs::read(folder.join(format!("scenario_{scenario}/trajectory.json"))).ok()?;
    let trajectory: Value = serde_json::from_slice(&text).expect("a trajectory is whole at any time");
    let turns = trajectory["turns"].as_array().unwrap().iter();
    let attempts = turns.map(|turn| turn["attempts"].as_array().unwrap().len()).collect();
    Some((trajectory, attempts))
}

/// That nothing which was recorded is lost, and that no trial was begun anew.
fn keeps_what_is_recorded(folder: &Path, before: &mut [Vec<usize>; 2], stage: &str) {
    for (scenario, before) in (0..).zip(before) {
        let Some((trajectory, attempts)) = recorded(folder, scenario) else {
            assert!(before.is_empty(), "scenario_{scenario} {stage}: its trajectory is gone");
            continue;
        };
        let is_kept = before
            .iter()
            .enumerate()
            .all(|(index, earlier_attempts)| attempts.get(index).is_some_and(|has| has >= earlier_attempts));
        assert!(is_kept, "scenario_{scenario} {stage}: {before:?} became {attempts:?}");
        for resume in trajectory["resumes"].as_array().into_iter().flatten() {
            assert_eq!(resume["from"], "snapshot", "scenario_{scenario} {stage}: {trajectory}");
        }
        *before = attempts;
    }
}

fn verdicts(episode: &Episode) -> Vec<Vec<Verdict>> {
    let turn_verdicts = |turn: &model::Turn| -> Vec<Verdict> {
        turn.attempts.iter().map(|attempt| attempt.verdict).collect()
    };
    episode.turns.iter().map(turn_verdicts).collect()
}

#[test]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
fn trials_that_are_killed_in_the_middle_of_their_chains_end_as_undisturbed_ones() {
    ends_as_undisturbed(&TRIES);
}

#[test]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
fn plain_chains_that_keep_snapshots_for_a_resume_end_as_undisturbed_ones() {
    ends_as_undisturbed(&PLAIN);
}

fn ends_as_undisturbed(kind: &Kind) {
    if let Some(room) = std::env::var_os(PLAYS) {
        play(Path::new(&room), kind);
    }
    let kept = KeptIfFailed::new();
    let (room, folder) = (kept.path(), kept.path().join("run"));
    tasks(&room.join("tasks"));
    let mut before = [Vec::new(), Vec::new()];
    for (number, (point, left)) in KILLS.into_iter().enumerate() {
        let stage = format!("after kill {}, at {point} ({left})", number + 1);
        let point = point.replace(OF_LAST_ATTEMPT, &kind.attempts.to_string());
        assert_eq!(
            start(room, kind, Some(&point)),
            None,
            "it ended {stage}; a release build has no such points"
        );
        keeps_what_is_recorded(&folder, &mut before, &stage);
    }
    let all = [vec![1, 1, 1], vec![kind.attempts]];
    assert_eq!(before, all);
    assert_eq!(start(room, kind, None), Some(0));
    keeps_what_is_recorded(&folder, &mut before, "at the end");
    assert_eq!(before, all, "nothing is played after an end");

    let found = episodes(&folder);
    assert_eq!(verdicts(&found[0]), vec![vec![Verdict::Passed]; 3], "{:?}", found[0]);
    assert_eq!(found[0].end().1, EndReason::PassedAll);
    assert_eq!(verdicts(&found[1]), [vec![Verdict::Failed; kind.attempts]], "{:?}", found[1]);
    assert_eq!(found[1].end().1, EndReason::TestsFailed);
    for scenario in 0..2 {
        let record = folder.join(format!(".stamina/state/scenario_{scenario}/snapshot.json"));
        assert!(!record.exists(), "a trial that is over keeps no snapshot");
    }
    let id = runner::live::read(&folder).unwrap().id;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let left = runtime.block_on(async {
        let engine = sandbox::Engine::connect().await.unwrap();
        engine.leftovers().await.unwrap().into_iter().filter(|left| left.run == id).collect::<Vec<_>>()
    });
    assert_eq!(left, [], "nothing of the run is left in the engine");
}
