//! Wishes that come at awkward moments, and runs that can not begin; without boxes.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::EndReason;
use runner::control::{self, Wish};
use runner::live::{self, Phase};
use runner::{Event, Finish, OnEvent};

/// The mock agent with the scripted model, one episode of one turn.
fn settings(folder: &Path, more: &[&str]) -> runner::settings::RunSettings {
    let mut list = vec![format!("output_dir={}", folder.display())];
    let always = [
        "agent=MOCK",
        "use_docker=false",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=1",
    ];
    list.extend(always.iter().chain(more).map(|&value| value.to_owned()));
    runner::settings::resolve(&[], &list).unwrap()
}

fn keep() -> (OnEvent, Arc<Mutex<Vec<Event>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let to = kept.clone();
    (Arc::new(move |event: &Event| to.lock().unwrap().push(event.clone())), kept)
}

fn again(number: u32) -> Wish {
    Wish { retry: [("scenario_0".to_owned(), number)].into(), ..Wish::default() }
}

/// Waits until the episode is in a phase; false where that does not come.
async fn reaches(folder: &Path, phase: Phase) -> bool {
    for _ in 0..600 {
        let now = live::read(folder).ok().and_then(|run| run.episodes.first().map(|episode| episode.phase));
        if now == Some(phase) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_is_to_be_played_again_waits_for_the_end_of_a_pause() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("paused");
    // Its model never answers.
    let settings = settings(&folder, &["oracle.mischief.stall=1"]);
    let playing = tokio::spawn(runner::run(settings, Arc::new(|_| {})));
    assert!(reaches(&folder, Phase::Agent).await, "the agent is called");
    control::write(&folder, &Wish { pause: true, ..again(1) }).unwrap();
    assert!(reaches(&folder, Phase::Paused).await, "no attempt begins while the run is paused");
    control::write(&folder, &again(1)).unwrap();
    assert!(reaches(&folder, Phase::Agent).await, "it is played again after the pause");
    control::write(&folder, &Wish { stop: true, ..again(1) }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
}

/// The last moment of an episode is one in which a person may wish that it is played again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_comes_while_an_episode_ends_is_fulfilled() {
    let room = tempfile::tempdir().unwrap();
    // Long enough for the wish to be seen, or not at all.
    for wait in [Duration::from_millis(1500), Duration::ZERO] {
        let folder = room.path().join(format!("wished-{}", wait.as_millis()));
        let settings = settings(&folder, &["limits.episode.tokens=1"]);
        let ends = Arc::new(Mutex::new(Vec::new()));
        let (counted, at) = (ends.clone(), folder.clone());
        let on_event: OnEvent = Arc::new(move |event| {
            if let Event::Episode { end_reason, .. } = event {
                let mut ends = counted.lock().unwrap();
                ends.push(*end_reason);
                if ends.len() == 1 {
                    control::write(&at, &again(1)).unwrap();
                    std::thread::sleep(wait);
                }
            }
        });
        runner::run(settings, on_event).await.unwrap();
        // It ended, was played again once, and ended again.
        assert_eq!(*ends.lock().unwrap(), [EndReason::Budget; 2], "after {wait:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_can_not_begin_says_that_it_is_over() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("blocked");
    // Nothing can be written where a folder lies.
    std::fs::create_dir_all(folder.join(".stamina/gateway.jsonl")).unwrap();
    let (on_event, events) = keep();
    let error = runner::run(settings(&folder, &[]), on_event).await.unwrap_err();
    assert!(error.to_string().contains("gateway.jsonl"), "{error}");
    let events = events.lock().unwrap();
    let Some(Event::Finished { how: Finish::Failed { message }, .. }) = events.last() else {
        panic!("{:?}", events.last());
    };
    assert!(message.contains("gateway.jsonl"), "{message}");
}
