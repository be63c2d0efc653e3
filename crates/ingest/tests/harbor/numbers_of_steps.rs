//! How many steps a trial has, where its task or its results do not say so.

use model::EndReason;
use test_folders::copy;

use crate::harbor::{Read, V1, V2, V5, V6, V7, edit, fixture, letters, read, small_job, write};

#[test]
fn the_number_of_steps_is_shown_as_far_as_it_is_known_without_the_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("failures-k1");
    copy(&fixture().join("jobs/failures-k1"), &job);
    // The log of a trial says `Starting step 3/4`.
    let with_log = read(&job);
    let episode = with_log.episode(V2);
    assert_eq!((episode.planned_turns, letters(episode).as_str()), (Some(4), "ppe"));
    assert_eq!(episode.extra.get("declared_steps").and_then(|v| v.as_str()), Some("4, by trial.log"));
    // Nothing was started of this one, so nothing is known of its steps but that there is one.
    let broken = with_log.episode(V6);
    assert_eq!((broken.planned_turns, broken.end()), (None, (Some(1), EndReason::Environment)));
    assert_eq!(broken.extra["declared_steps"], "unknown, at least 1");
    let unknown = |read: &Read| -> Vec<String> {
        let warnings = read.report.warnings.iter().filter(|w| w.code == "harbor.declared_steps_unknown");
        warnings.map(|w| w.path.clone()).collect()
    };
    assert_eq!(unknown(&with_log), [V6]);

    for trial in [V1, V2, V5, V7] {
        std::fs::remove_file(job.join(trial).join("trial.log")).unwrap();
    }
    let untasked = read(&job);
    // The last step passed, so it was the last one.
    assert_eq!(untasked.episode(V1).planned_turns, Some(4));
    assert_eq!(untasked.episode(V1).extra["declared_steps"], "4, by a trial that ran to its end");
    assert_eq!(untasked.episode(V2).planned_turns, Some(3));
    assert_eq!(untasked.episode(V2).extra["declared_steps"], "unknown, at least 3");
    assert_eq!(untasked.episode(V5).extra["declared_steps"], "unknown, at least 2");
    assert_eq!(unknown(&untasked), [V2, V5, V6, V7]);
    // Without the tests themselves, other output of the task shows that they print CASE lines.
    assert_eq!(letters(untasked.episode("theme_v4_w1_notes_build_failure__etfLpGN")), "pepp");
}

/// `min_reward` may name another reward than the one that decides whether a step passed.
#[test]
fn a_trial_that_another_reward_stopped_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let trial = dir.path().join("job").join(V5);
    copy(&fixture().join("jobs/failures-k1").join(V5), &trial);
    edit(&trial.join("result.json"), "\"reward\": 0.0", "\"reward\": 1.0, \"style\": 0.5");
    let with_log = read(dir.path());
    let episode = with_log.episode(V5);
    assert_eq!((episode.planned_turns, letters(episode).as_str()), (Some(4), "pp"));
    assert_eq!(episode.end(), (Some(3), EndReason::NoVerdict));
    // Nothing says that there were no further steps.
    std::fs::remove_file(trial.join("trial.log")).unwrap();
    assert_eq!(read(dir.path()).episode(V5).extra["declared_steps"], "unknown, at least 2");
}

#[test]
fn a_trial_that_never_began_has_the_steps_of_its_tasks_other_trials() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("failures-k1");
    copy(&fixture().join("jobs/failures-k1").join(V6), &job.join(V6));
    let other = job.join("theme_v6_w1_notes_env_broken__Another");
    copy(&job.join(V6), &other);
    let result = other.join("result.json");
    let mut other_result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    let config = std::fs::read_to_string(other.join("config.json")).unwrap();
    write(&other.join("config.json"), &config.replace(V6, "theme_v6_w1_notes_env_broken__Another"));
    other_result["id"] = "of another trial".into();
    other_result["exception_info"] = serde_json::Value::Null;
    other_result["verifier_result"] = serde_json::json!({"rewards": {"reward": 1.0}});
    std::fs::write(&result, other_result.to_string()).unwrap();
    let planned = |read: &Read| read.episode(V6).planned_turns;
    let single = read(dir.path());
    assert_eq!(planned(&single), Some(1));
    assert!(!single.codes().contains(&"harbor.declared_steps_unknown"));
    write(&other.join("trial.log"), "Starting step 1/4: round-1\n");
    assert_eq!(planned(&read(dir.path())), Some(4));
}

#[test]
fn without_result_and_log_the_folders_bound_the_number_of_steps() {
    let dir = tempfile::tempdir().unwrap();
    let trial = dir.path().join("failures-k1").join(V2);
    copy(&fixture().join("jobs/failures-k1").join(V2), &trial);
    for file in ["result.json", "trial.log"] {
        std::fs::remove_file(trial.join(file)).unwrap();
    }
    let bound = |read: &Read| {
        let warning =
            read.report.warnings.iter().find(|w| w.code == "harbor.declared_steps_unknown").unwrap();
        warning.message.split("at least ").nth(1).unwrap().split('.').next().unwrap().to_owned()
    };
    let killed = read(dir.path());
    let episode = killed.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("ppc", Some(3)));
    assert_eq!((bound(&killed).as_str(), episode.end()), ("3", (Some(3), EndReason::Unfinished)));
    // A step in flight still has its files in the trial's own folder; it counts too.
    write(&trial.join("steps/round-3/verifier/reward.txt"), "1");
    write(&trial.join("agent/oracle.txt"), "working");
    let running = read(dir.path());
    let episode = running.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("pppc", Some(4)));
    assert_eq!(
        (bound(&running).as_str(), &episode.extra["declared_steps"]),
        ("4", &"unknown, at least 4".into())
    );
}

#[test]
fn a_task_that_was_changed_since_does_not_change_what_ran() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let toml = dir.path().join("tasks/theme_v2_w1_notes_abort_no_reward/task.toml");
    edit(&toml, "[[steps]]\nname = \"round-4\"", "");
    let read = read(dir.path());
    assert_eq!(read.episode(V2).planned_turns, Some(4));
    assert!(read.codes().contains(&"harbor.steps_differ"));
}

/// The task was changed while its job ran: each trial has as many steps as it was run with.
#[test]
fn trials_of_one_task_may_have_other_numbers_of_steps() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("oracle-k2");
    copy(&fixture().join("jobs/oracle-k2"), &job);
    let (short, whole) = ("theme_t1_w1_notes_cli__H5GwjG9", "theme_t1_w1_notes_cli__Pc56hoy");
    let result = job.join(short).join("result.json");
    let mut json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    json["step_results"].as_array_mut().unwrap().pop();
    std::fs::write(&result, json.to_string()).unwrap();
    std::fs::remove_dir_all(job.join(short).join("steps/round-4")).unwrap();
    edit(&job.join(short).join("trial.log"), "/4: ", "/3: ");
    let as_they_ran = |read: &Read| {
        for (trial, steps) in [(short, 3), (whole, 4)] {
            let episode = read.episode(trial);
            assert_eq!(episode.planned_turns, Some(steps), "{trial}");
            assert_eq!(episode.end(), (None, EndReason::PassedAll), "{trial}");
            assert_eq!(letters(episode).len(), steps as usize, "{trial}");
        }
    };
    as_they_ran(&read(&job));
    // Without a log: all its steps passed, so it had no more.
    std::fs::remove_file(job.join(short).join("trial.log")).unwrap();
    as_they_ran(&read(&job));
}
