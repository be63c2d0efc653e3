//! Whose failure it is that a budget ends, and what is continued after it; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Mutex;

use model::{CensoringPolicy, EndReason, Ending};
use runner::{Event, Finish, live};

use crate::common::{episodes, keep, settings};

/// Attempts that were told, and why the episode ended.
fn attempts_and_end(events: &Mutex<Vec<Event>>) -> (usize, Option<EndReason>) {
    let events = events.lock().unwrap();
    let attempts = events.iter().filter(|event| matches!(event, Event::Attempt { .. })).count();
    let end = events.iter().find_map(|event| match event {
        Event::Episode { end_reason, .. } => Some(*end_reason),
        _ => None,
    });
    (attempts, end)
}

async fn resumed(folder: &Path, change: &[&str]) -> (usize, Option<EndReason>) {
    let (on_event, events) = keep();
    let change = change.iter().map(|&pair| pair.to_owned()).collect();
    assert_eq!(
        runner::resume(folder.to_owned(), change, runner::origin::identity(folder).unwrap(), on_event)
            .await
            .unwrap(),
        Finish::Finished
    );
    attempts_and_end(&events)
}

/// What is kept to continue with.
fn state_files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join(".stamina/state/scenario_0")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The episode as the importer reads it.
fn imported(folder: &Path) -> model::Episode {
    episodes(folder).into_iter().next().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_uses_up_what_its_attempts_may_spend_has_failed() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("spent");
    let (on_event, events) = keep();
    let settings =
        settings(&folder, &["limits.attempt.tokens=1", "restful_server_gen_iterative.attempt_limit=2"]);
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    assert_eq!(attempts_and_end(&events), (2, Some(EndReason::AttemptBudget)));
    // As survival counts it.
    let (turn, reason) = imported(&folder).end();
    assert_eq!((turn, reason), (Some(1), EndReason::AttemptBudget));
    assert_eq!(CensoringPolicy::default().ending(reason), Ending::Event);
    // It is a result: nobody offers to play it on, so nothing is kept for that.
    assert!(!live::is_resumable(reason));
    assert_eq!(state_files(&folder), ["journal.json"]);
    // As where the process was killed before all of it was gone.
    std::fs::create_dir_all(folder.join(".stamina/state/scenario_0/live/workspace/deep")).unwrap();
    assert_eq!(resumed(&folder, &["limits.attempt.tokens=1000000"]).await, (0, None));
    assert_eq!(state_files(&folder), ["journal.json"]);
    assert_eq!(imported(&folder).end(), (turn, reason));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_episode_whose_budget_is_raised_plays_its_cut_off_attempt_again() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("raised");
    let (on_event, events) = keep();
    // Its only attempt is cut off: without taking that back there would be nothing to play on with.
    let settings =
        settings(&folder, &["limits.episode.tokens=1", "restful_server_gen_iterative.attempt_limit=1"]);
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    assert_eq!(attempts_and_end(&events), (1, Some(EndReason::Budget)));
    assert!(live::is_resumable(EndReason::Budget));
    let cut_off = imported(&folder);
    assert_eq!(CensoringPolicy::default().ending(cut_off.end().1), Ending::Censored);

    assert_eq!(state_files(&folder), ["before", "journal.json", "live"], "what it would be continued with");

    // Where it is spent still, it ends again at once, and nothing that was measured is lost.
    assert_eq!(resumed(&folder, &[]).await, (0, Some(EndReason::Budget)));
    assert_eq!(imported(&folder).turns, cut_off.turns);

    let (attempts, end) = resumed(&folder, &["limits.episode.tokens=100000000"]).await;
    assert_eq!(attempts, 1);
    assert!(end.is_some_and(|end| end != EndReason::Budget), "{end:?}");
    let attempts = &imported(&folder).turns[0].attempts;
    assert_eq!(attempts.len(), 1, "it counts once: {attempts:?}");
    assert_eq!(state_files(&folder), ["journal.json"]);
}
