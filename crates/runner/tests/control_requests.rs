//! Wishes that come at awkward moments, and runs that cannot begin; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::{EndReason, Verdict};
use runner::control::{self, ControlRequest};
use runner::live::{self, Phase};
use runner::settings::EndpointSettings;
use runner::{Event, Finish, OnEvent};

use crate::common::{self, keep, settings};

fn retry_request(number: u32) -> ControlRequest {
    ControlRequest { retry: [("scenario_0".to_owned(), number)].into(), ..ControlRequest::default() }
}

/// Waits until the episode is in a phase; false where that does not come.
async fn reaches(folder: &Path, phase: Phase) -> bool {
    let deadline = Instant::now() + Duration::from_mins(2);
    while Instant::now() < deadline {
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
    while !std::fs::read_to_string(folder.join(".stamina/gateway.jsonl"))
        .is_ok_and(|log| log.contains("begun"))
    {
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    control::write(&folder, &ControlRequest { pause: true, ..retry_request(1) }).unwrap();
    assert!(reaches(&folder, Phase::Paused).await, "no attempt begins while the run is paused");
    control::write(&folder, &retry_request(1)).unwrap();
    assert!(reaches(&folder, Phase::Agent).await, "it is retried after the pause");
    let spent = live::read(&folder).unwrap().episodes[0].spent;
    assert!(spent.unmetered >= 1, "what was dropped has been paid for: {spent:?}");
    control::write(&folder, &ControlRequest { stop: true, ..retry_request(1) }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_of_a_pause_does_not_end_the_attempt_that_begins_after_it() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("wished");
    // Many attempts, so that the pause is seen before one of them begins.
    let often = ["oracle.mischief.give_up=1", "restful_server_gen_iterative.attempt_limit=50"];
    let run_folder = folder.clone();
    let (requested, paused) = (Mutex::new(false), Arc::new(Mutex::new(false)));
    let is_paused = paused.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if !matches!(event, Event::Attempt { .. }) || *is_paused.lock().unwrap() {
            return;
        }
        let mut requested = requested.lock().unwrap();
        if !*requested {
            control::write(&run_folder, &ControlRequest { pause: true, ..ControlRequest::default() })
                .unwrap();
            *requested = true;
        }
        std::thread::sleep(Duration::from_millis(100));
    });
    let playing = tokio::spawn(runner::run(settings(&folder, &often), on_event));
    assert!(reaches(&folder, Phase::Paused).await);
    *paused.lock().unwrap() = true;
    control::write(&folder, &retry_request(1)).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Finished);
    let calls = episode_status(&folder, "scenario_0").unwrap()["log"]["number"].clone();
    assert_eq!(calls, 50, "each attempt calls its agent once");
}

/// An endpoint that answers one request, so that its agent may have acted, and then refuses everything: an attempt ends at once,
/// and the next one waits.
fn refuses() -> String {
    refuses_and_counts().0
}

/// The same, and how often it was asked.
fn refuses_and_counts() -> (String, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::Write as _;
        let mut first = Some(common::first_call());
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            // To its end: what is not read when it is closed takes the answer with it.
            if common::read(&mut stream).is_none() {
                continue;
            }
            count.fetch_add(1, Ordering::SeqCst);
            let (status, body) = match first.take() {
                Some(call) => ("200 OK", call),
                None => ("401 Unauthorized", "{}".to_owned()),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (format!("http://{address}"), requests)
}

/// Waits until the agent was called so often, and the episode is in a phase.
async fn calls(folder: &Path, number: u32, phase: &str) {
    let deadline = Instant::now() + Duration::from_mins(4);
    let so_far = || episode_status(folder, "scenario_0").filter(|now| now["log"]["number"] == number);
    while so_far().is_none_or(|now| now["phase"] != phase) {
        assert!(Instant::now() < deadline, "call {number} does not come: {:?}", so_far());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Plays an episode whose endpoint refuses everything until its first attempt is given up. It is played four times; the waits in
/// between are ended by wishes.
async fn play_until_given_up(folder: &Path) {
    let mut settings = settings(folder, &[]);
    settings.endpoint =
        EndpointSettings::Gateway { base_url: refuses(), key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let playing = tokio::spawn(runner::run(settings, Arc::new(|_| {})));
    let mut is_ended_by_wish = false;
    // Waited out they are so many seconds.
    for (number, whole) in [(1, 5), (2, 10), (3, 20)] {
        calls(folder, number, "waiting").await;
        control::write(folder, &retry_request(number)).unwrap();
        let requested = Instant::now();
        let still_waits =
            |now: serde_json::Value| now["phase"] == "waiting" && now["log"]["number"] == number;
        while episode_status(folder, "scenario_0").is_some_and(still_waits) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        is_ended_by_wish |= requested.elapsed() < Duration::from_secs(whole) / 2;
    }
    // A wish is looked for twice a second, and on a machine so busy that one of them comes late the next one waits longer.
    assert!(is_ended_by_wish, "the waits were waited out");
    let finish = playing.await.unwrap().unwrap();
    assert!(matches!(finish, Finish::Failed { .. }), "{finish:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_was_given_up_before_there_was_a_snapshot_of_it_is_played_by_a_resume() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("unbegun");
    play_until_given_up(&folder).await;
    // As where its containers were never ready.
    std::fs::remove_dir_all(folder.join(".stamina/state/scenario_0/before")).unwrap();
    let trajectory_path = folder.join("scenario_0/trajectory.json");
    // It is read by its lines, which stay as they are.
    let text = std::fs::read_to_string(&trajectory_path).unwrap();
    let (before, after) = text.split_once("\"agent_seconds\":").unwrap();
    let after = after.find([',', '}']).map(|end| &after[end..]).unwrap();
    std::fs::write(&trajectory_path, format!("{before}\"agent_seconds\":null{after}")).unwrap();
    // Without containers nothing is resumed that asks a real endpoint: the simulated model takes over.
    let record = folder.join(".stamina/run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    run["settings"]["endpoint"] = serde_json::json!({ "mode": "oracle" });
    std::fs::write(&record, run.to_string()).unwrap();
    let looked_at = runner::origin::identity(&folder).unwrap();
    let finish = runner::resume(folder.clone(), Vec::new(), looked_at, Arc::new(|_| {})).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    let calls = episode_status(&folder, "scenario_0").unwrap()["log"]["number"].as_u64();
    assert!(calls > Some(4), "the attempt is played: {calls:?}");
    let episode = common::episodes(&folder).into_iter().next().unwrap();
    assert_ne!(episode.turns[0].attempts[0].end_reason, Some(EndReason::Endpoint));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_waits_to_be_played_again_is_played_at_once_where_that_is_wished() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("waiting");
    play_until_given_up(&folder).await;
    // What its agent left the last time is shown.
    let episode = common::episodes(&folder).into_iter().next().unwrap();
    let given_up = &episode.turns[0].attempts[0];
    assert_eq!((given_up.verdict, given_up.end_reason), (Verdict::Unfinished, Some(EndReason::Endpoint)));
    let transcript = folder.join("scenario_0/transcripts/turn_1_attempt_1.json");
    assert!(std::fs::read_to_string(transcript).unwrap().contains("\"user\""));
    assert!(folder.join("scenario_0/agent_logs/step_1.txt").exists());
}

/// What an episode of a run shows.
fn episode_status(folder: &Path, episode: &str) -> Option<serde_json::Value> {
    let text = std::fs::read(folder.join(format!(".stamina/episodes/{episode}.json"))).ok()?;
    serde_json::from_slice(&text).ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_episode_begins_while_the_endpoint_that_ended_another_fails() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("outage");
    let mut settings = settings(&folder, &["restful_server_gen_iterative.n_scenarios=3", "batch_size=1"]);
    let (base_url, requests) = refuses_and_counts();
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let (on_event, events) = keep();
    let playing = tokio::spawn(runner::run(settings, on_event));
    let begun = Instant::now();
    // The waits before the first one is given up are not waited out; which one is first is left open.
    let mut control_requests = 0;
    let waiting = loop {
        assert!(begun.elapsed() < Duration::from_mins(4), "the next episode waits");
        let all: Vec<serde_json::Value> =
            (0..3).filter_map(|n| episode_status(&folder, &format!("scenario_{n}"))).collect();
        let has_text =
            |file: &serde_json::Value, text: &str| file["now"].as_str().is_some_and(|now| now.contains(text));
        if let Some(next) = all.iter().find(|file| has_text(file, "waits for the endpoint, which is asked")) {
            break next.clone();
        }
        if let Some(first) = all.iter().find(|file| {
            file["phase"] == "waiting" && file["turn"] == 1 && file["log"]["number"] == control_requests + 1
        }) {
            control_requests += 1;
            let name = first["name"].as_str().unwrap().to_owned();
            control::write(
                &folder,
                &ControlRequest { retry: [(name, control_requests)].into(), ..ControlRequest::default() },
            )
            .unwrap();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    };
    assert_eq!((&waiting["phase"], &waiting["turn"]), (&"waiting".into(), &0.into()), "{waiting}");
    assert_eq!(waiting["seconds"], 0.0, "it has not begun");
    let (requests_before, stopping) = (requests.load(Ordering::SeqCst), Instant::now());
    control::write(&folder, &ControlRequest { stop: true, ..ControlRequest::default() }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
    // And not when the endpoint is asked again, after fifteen seconds. It may be asked where that was due by then.
    let is_heard =
        requests.load(Ordering::SeqCst) == requests_before || stopping.elapsed() < Duration::from_secs(12);
    assert!(is_heard, "a stop is heard: {:?}", stopping.elapsed());
    let ends = events.lock().unwrap();
    let ends: Vec<_> = ends.iter().filter(|event| matches!(event, Event::Episode { .. })).collect();
    assert_eq!(ends.len(), 1, "one was given up, and no other burnt: {ends:?}");
}

/// The last moment of an episode is one in which a person may wish that it is retried.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_comes_while_an_episode_ends_is_fulfilled() {
    let room = tempfile::tempdir().unwrap();
    // Long enough for the wish to be seen, or not at all.
    for wait in [Duration::from_millis(1500), Duration::ZERO] {
        let folder = room.path().join(format!("wished-{}", wait.as_millis()));
        let settings = settings(&folder, &["limits.episode.tokens=1"]);
        let ends = Arc::new(Mutex::new(Vec::new()));
        let (counted, run_folder) = (ends.clone(), folder.clone());
        let on_event: OnEvent = Arc::new(move |event| {
            if let Event::Episode { end_reason, .. } = event {
                let mut ends = counted.lock().unwrap();
                ends.push(*end_reason);
                if ends.len() == 1 {
                    control::write(&run_folder, &retry_request(1)).unwrap();
                    std::thread::sleep(wait);
                }
            }
        });
        runner::run(settings, on_event).await.unwrap();
        // It ended, was retried once, and ended again.
        assert_eq!(*ends.lock().unwrap(), [EndReason::Budget; 2], "after {wait:?}");
    }
}

/// Its record says so, and its events tell it, a moment before whoever played it lets go of its lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_can_be_resumed_as_soon_as_it_is_told_to_have_ended() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("resumed");
    let settings = settings(&folder, &["limits.run.tokens=1", "restful_server_gen_iterative.n_turns=3"]);
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let on_event: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Finished { .. }) {
            sender.send(()).unwrap();
            // The moment is a long one.
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let playing = tokio::spawn(runner::run(settings, on_event));
    receiver.recv().await.unwrap();
    let known = runner::origin::identity(&folder).unwrap();
    let resumed = runner::resume(folder.clone(), Vec::new(), known, Arc::new(|_| {})).await;
    assert_eq!(resumed.unwrap(), Finish::Budget);
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Budget);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_cannot_begin_says_that_it_is_over() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("blocked");
    let (keep, events) = keep();
    let log = folder.join(".stamina/gateway.jsonl");
    let on_event: OnEvent = Arc::new(move |event| {
        if let Event::Started { .. } = event {
            // Nothing can be written where a folder lies.
            drop(std::fs::create_dir(&log));
        }
        keep(event);
    });
    let error = runner::run(settings(&folder, &[]), on_event).await.unwrap_err();
    assert!(error.to_string().contains("gateway.jsonl"), "{error}");
    let events = events.lock().unwrap();
    let Some(Event::Finished { how: Finish::Failed { message }, .. }) = events.last() else {
        panic!("{:?}", events.last());
    };
    assert!(message.contains("gateway.jsonl"), "{message}");
}

/// A clock on the wall: what is done between the calls of an agent counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_of_time_is_wall_time() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("timed");
    let settings = settings(&folder, &["oracle.mischief.give_up=1", "limits.episode.minutes=0.1"]);
    let (keep, events) = keep();
    let waits = std::sync::Once::new();
    let on_event: OnEvent = Arc::new(move |event| {
        keep(event);
        if let Event::Attempt { .. } = event {
            // Its agent has ended; the episode goes on, and its budget passes meanwhile.
            waits.call_once(|| std::thread::sleep(Duration::from_secs(7)));
        }
    });
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let events = events.lock().unwrap();
    let attempts = events.iter().filter(|event| matches!(event, Event::Attempt { .. })).count();
    // Of ten, had only its agent's time counted. A busy machine may need all of it for the first.
    assert!(attempts <= 2, "{attempts} in six seconds");
    assert!(events.iter().any(|e| matches!(e, Event::Episode { end_reason: EndReason::Budget, .. })));
    let over = events.iter().find_map(|event| match event {
        Event::Budget { over, .. } => over.clone(),
        _ => None,
    });
    let spent = gateway::StopReason::Budget { scope: gateway::Scope::Episode, limit: "seconds".to_owned() };
    assert_eq!(over, Some(spent), "a spent budget is reported, whatever it limits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_takes_no_time_of_a_budget() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("paused");
    // More attempts than it can take until the pause is seen before one of them begins.
    let often = ["oracle.mischief.give_up=1", "restful_server_gen_iterative.attempt_limit=1000"];
    let settings = settings(&folder, &often);
    let run_folder = folder.clone();
    let (requested, paused) = (Mutex::new(false), Arc::new(Mutex::new(false)));
    let is_paused = paused.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if !matches!(event, Event::Attempt { .. }) || *is_paused.lock().unwrap() {
            return;
        }
        if !std::mem::replace(&mut *requested.lock().unwrap(), true) {
            control::write(&run_folder, &ControlRequest { pause: true, ..ControlRequest::default() })
                .unwrap();
        }
        // Long enough for the wish to be seen before the next attempt, as a rule.
        std::thread::sleep(Duration::from_millis(900));
    });
    let begun = Instant::now();
    let playing = tokio::spawn(runner::run(settings, on_event));
    assert!(reaches(&folder, Phase::Paused).await);
    *paused.lock().unwrap() = true;
    tokio::time::sleep(Duration::from_secs(3)).await;
    control::write(&folder, &ControlRequest::default()).unwrap();
    assert!(reaches(&folder, Phase::Agent).await, "it goes on");
    control::write(&folder, &ControlRequest { stop: true, ..ControlRequest::default() }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
    let (all, run) = (begun.elapsed().as_secs_f64(), live::read(&folder).unwrap());
    let (run_seconds, episode_seconds) = (run.spent.seconds, run.episodes[0].seconds);
    assert!(run_seconds > 0.9 && episode_seconds > 0.9, "{run_seconds} {episode_seconds}");
    assert!(
        run_seconds < all - 2.5 && episode_seconds < all - 2.5,
        "{run_seconds} {episode_seconds} of {all}"
    );
}
