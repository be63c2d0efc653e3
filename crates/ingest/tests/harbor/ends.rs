//! How steps and trials end: builds that fail, and what is killed, canceled or interrupted.

use model::{Counting, EndReason, Verdict};
use test_folders::copy;

use crate::harbor::{Read, V1, V2, V5, edit, fixture, letters, read, small_job, write};

#[test]
fn a_step_without_a_case_summary_is_shown_and_counts_as_nothing() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V1);
    let output = trial.join("steps/round-2/verifier/test-stdout.txt");
    let whole = std::fs::read_to_string(&output).unwrap();
    std::fs::write(&output, whole.split("CASE_SUMMARY").next().unwrap()).unwrap();
    let read = read(dir.path());
    let attempt = &read.episode(V1).turns[1].attempts[0];
    assert_eq!((attempt.passed, attempt.total, attempt.verdict), (Some(7), Some(7), Verdict::Passed));
    assert_eq!((attempt.counting, attempt.share()), (Counting::Zero, Some(0.0)));
    assert_eq!(read.episode(V1).turns[0].attempts[0].share(), Some(1.0));
    assert!(read.codes().contains(&"cases.no_summary"));
}

#[test]
fn whether_a_build_failed_is_decided_by_the_whole_job() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture().join("jobs/nop-k1"), &dir.path().join("nop-k1"));
    // Nothing in this job, opened alone, says that its tests print CASE lines, so nothing says that a build failed.
    let single = read(dir.path());
    let nop_episodes = single.episodes_of("nop-k1/nop");
    assert_eq!(nop_episodes.iter().map(|e| letters(e)).collect::<Vec<_>>(), ["ffff", "fff"]);
    assert!(nop_episodes.iter().all(|e| e.end() == (Some(1), EndReason::TestsFailed)));
    let shares = |read: &Read| -> Vec<Option<f64>> {
        read.episodes_of("nop-k1/nop").iter().flat_map(|e| &e.turns).map(|t| t.attempts[0].share()).collect()
    };
    assert_eq!(shares(&single), [None; 7]);

    // A trial of another task says it, and every part of the job is to be read anew.
    copy(&fixture().join("jobs/failures-k1").join(V5), &dir.path().join("nop-k1").join(V5));
    let combined = read(dir.path());
    let nop_episodes = combined.episodes_of("nop-k1/nop");
    let end_reasons: Vec<_> = nop_episodes.iter().map(|e| (letters(e), e.end().1)).collect();
    assert_eq!(
        end_reasons,
        [("eeee".to_owned(), EndReason::BuildFailed), ("eee".to_owned(), EndReason::BuildFailed)]
    );
    assert_eq!(shares(&combined), [Some(0.0); 7]);
    for (_, part) in &single.parts {
        let current = &combined.parts.iter().find(|(_, p)| p.key == part.key).unwrap().1;
        assert_ne!(current.stamp, part.stamp, "{}", part.key);
    }
}

#[test]
fn a_killed_trial_shows_its_finished_steps() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V1);
    std::fs::remove_file(trial.join("result.json")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-4")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3/verifier")).unwrap();
    write(
        &trial.join("trial.log"),
        "Starting step 1/4: round-1\nStarting step 2/4: round-2\nStarting step 3/4: round-3\n",
    );
    let killed = read(dir.path());
    let episode = killed.episode(V1);
    assert_eq!(letters(episode), "ppcn");
    assert_eq!(episode.end(), (Some(3), EndReason::Unfinished));
    assert_eq!(episode.planned_turns, Some(4));
    assert_eq!(episode.turns[1].attempts[0].total, Some(7));
    assert!(killed.codes().contains(&"harbor.trial_unfinished"));

    // The same without the log: what lies in the trial's own folder is of the step in flight.
    std::fs::remove_file(trial.join("trial.log")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3")).unwrap();
    write(&trial.join("agent/oracle.txt"), "working");
    let killed = read(dir.path());
    let episode = killed.episode(V1);
    assert_eq!(letters(episode), "ppcn");
    let logs: Vec<&str> = episode.turns[2].attempts[0].artifacts.iter().map(|a| a.path.as_str()).collect();
    assert_eq!(logs, [format!("jobs/failures-k1/{V1}/agent/oracle.txt")]);

    // And without anything of the task: passing all that is known is not passing everything.
    let single = tempfile::tempdir().unwrap();
    std::fs::remove_dir_all(trial.join("agent")).unwrap();
    copy(&trial, &single.path().join(V1));
    let killed = read(single.path());
    let episode = killed.episode(V1);
    assert_eq!((letters(episode).as_str(), episode.end()), ("pp", (Some(3), EndReason::Unfinished)));
}

#[test]
fn a_cancelled_trial_is_stopped_from_outside() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let path = job.join(V2).join("result.json");
    edit(&path, "RewardFileNotFoundError", "CancelledError");
    edit(
        &job.join("result.json"),
        "\"finished_at\": \"2026-11-21T07:33:12.007169\"",
        "\"finished_at\": null",
    );
    edit(
        &job.join("result.json"),
        "\"updated_at\": \"2026-11-21T07:33:12.007169\"",
        "\"updated_at\": \"2026-11-21T06:33:12Z\"",
    );
    let read = read(dir.path());
    let episode = read.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.end()), ("ppcn", (Some(3), EndReason::Cancelled)));
    assert_eq!(read.run("failures-k1/oracle").finished_at, None);
    assert!(read.codes().contains(&"harbor.job_unfinished"));
}

/// As Harbor writes it on Ctrl-C: the exception is the trial's, the step in flight has neither grade nor exception.
#[test]
fn an_interrupted_step_takes_the_exception_of_its_trial() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V2);
    let path = trial.join("result.json");
    let mut result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let step = &mut result["step_results"][2];
    let mut exception = step["exception_info"].take();
    exception["exception_type"] = "CancelledError".into();
    step["verifier"] = serde_json::Value::Null;
    result["exception_info"] = exception;
    std::fs::write(&path, result.to_string()).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3")).unwrap();
    write(&trial.join("agent/oracle.txt"), "at work");
    let read = read(dir.path());
    let episode = read.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.end()), ("ppcn", (Some(3), EndReason::Cancelled)));
    let attempt = &episode.turns[2].attempts[0];
    assert_eq!(attempt.exception.as_ref().unwrap().0, "CancelledError");
    assert!(attempt.artifacts.iter().any(|a| a.path.ends_with(&format!("{V2}/agent/oracle.txt"))));
    assert_eq!(episode.exception.as_ref().unwrap().0, "CancelledError");
    assert!(episode.turns[0].attempts[0].exception.is_none());
}
