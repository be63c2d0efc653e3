//! Attempts at a turn that begin from the same snapshot (`restore_before_try`), of scenarios. The mock agent plays without
//! containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use runner::Finish;

use crate::common::{episodes, keep, settings};
use crate::kept::KeptIfFailed;

/// What the agent was asked first in an attempt.
fn first_prompt(folder: &Path, turn: u32, attempt: u32) -> String {
    let path = folder.join(format!("scenario_0/transcripts/turn_{turn}_attempt_{attempt}.json"));
    let transcript: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    transcript["steps"][0]["text"].as_str().unwrap().to_owned()
}

/// Plays three turns of which most first attempts have defects. Gives attempts by turn.
async fn played(folder: &Path, restores: bool) -> Vec<u32> {
    let restore = format!("restore_before_try={restores}");
    let more = [
        "restful_server_gen_iterative.n_turns=3",
        "restful_server_gen_iterative.enable_feedback=false",
        "restful_server_gen_iterative.attempt_limit=4",
        "oracle.defect_rate=0.8",
        "oracle.carries_over=false",
        restore.as_str(),
    ];
    let (on_event, _) = keep();
    let finish = runner::run(settings(folder, &more), on_event).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    let episode = episodes(folder).remove(0);
    for attempt in episode.turns.iter().flat_map(|turn| &turn.attempts) {
        assert!(!attempt.extra.contains_key("session_restarted"), "{attempt:?}");
    }
    episode.turns.iter().map(|turn| turn.attempts.len() as u32).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_attempt_from_the_same_snapshot_is_asked_what_the_first_one_was() {
    let room = KeptIfFailed::new();
    for restores in [true, false] {
        let folder = room.path().join(restores.to_string());
        let attempts = played(&folder, restores).await;
        assert!(attempts.iter().any(|count| *count > 1), "some first attempt has a defect: {attempts:?}");
        for (turn, count) in (1..).zip(attempts) {
            for attempt in 2..=count {
                let (first, further) = (first_prompt(&folder, turn, 1), first_prompt(&folder, turn, attempt));
                assert_eq!(first == further, restores, "turn {turn}, attempt {attempt}: {further}");
            }
        }
    }
}
