//! Trials whose attempts the endpoint ends: each retry begins in a container that is what it was before, as often as attempts at
//! scenarios are retried.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gateway::Route;
use gateway::simulated_model::{Ability, Feedback, SimulatedModel, Solution, Task};
use model::EndReason;
use runner::Finish;

use crate::common::{self, episodes, keep};
use crate::tasks_of_harbor::{HARNESS, REWARD, settings, task};

/// An endpoint that refuses what an agent asks until it works, and executes this solution of a step from then on; a probe of the
/// gateway is answered.
fn works_later(is_working: Arc<AtomicBool>, solve: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let files = vec![("solve.sh".to_owned(), format!("#!/bin/bash\n{solve}\n").into_bytes())];
    let solution = Solution { files, env: Vec::new(), workdir: "/app".to_owned() };
    let task = Task {
        scenario: 0,
        turn: 1,
        attempt: 1,
        turns: Arc::default(),
        attempts_before: Vec::new(),
        feedback: Feedback::None,
        solution: Some(Arc::new(solution)),
    };
    std::thread::spawn(move || {
        let model = SimulatedModel::new(Ability::default());
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = common::read_as_sent(&mut stream) else { continue };
            let path = request.split(' ').nth(1).and_then(|path| path.split('?').next()).unwrap_or_default();
            let body = request.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
            let is_probe = request.to_ascii_lowercase().contains("answer with the word yes");
            let is_refused = !is_probe && !is_working.load(Ordering::Relaxed);
            let (status, kind, bytes) = match Route::from_path(path).zip(body) {
                Some((route, body)) if !is_refused => {
                    let body: serde_json::Value = body;
                    let answer = model.answer(route, &body, &task);
                    (format!("{} .", answer.status), answer.content_type.to_owned(), answer.chunks.concat())
                }
                _ => {
                    let body = br#"{"error":{"message":"not now"}}"#.to_vec();
                    ("400 Bad Request".to_owned(), "application/json".to_owned(), body)
                }
            };
            let length = bytes.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes));
        }
    });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_attempt_that_the_endpoint_ends_is_retried_from_its_snapshot_or_in_a_new_container() {
    for (more, is_resumed) in
        [("restore_before_try=true", None), ("harbor.snapshots=each_step", None), ("batch_size=1", None)]
    {
        is_retried_once(more, is_resumed).await;
    }
}

/// Plays a task with one more setting whose endpoint refuses the first try; its attempt says whether it began as after a resume.
async fn is_retried_once(more: &str, is_resumed: Option<bool>) {
    let room = tempfile::tempdir().unwrap();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join("run"));
    let solve = "echo x >> /app/played";
    task(
        &tasks,
        "later",
        "",
        &[(solve, &format!("[ $(wc -l < /app/played) = 1 ] && echo 1 {REWARD} || echo 0 {REWARD}"))],
    );
    // A second execution would fail in the same container.
    let workdir = tasks.join("later/steps/s0/workdir");
    fs::create_dir_all(&workdir).unwrap();
    fs::write(workdir.join("setup.sh"), "mkdir /app/made\n").unwrap();
    let is_working = Arc::new(AtomicBool::new(false));
    let mut settings = settings(&folder, &tasks, &[&HARNESS[..], &[more]].concat());
    let base_url = works_later(is_working.clone(), solve);
    settings.endpoint =
        runner::settings::EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let counts = |folder: &Path| runner::live::read(folder).ok().and_then(|run| run.endpoint);
    let run_folder = folder.clone();
    let mending = tokio::spawn(async move {
        while counts(&run_folder).is_none_or(|counts| counts.retried == 0) {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        is_working.store(true, Ordering::Relaxed);
    });
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    mending.await.unwrap();
    let episode = episodes(&folder).remove(0);
    assert_eq!((episode.stamina(), episode.turns[0].attempts.len()), (1, 1), "{more}: {episode:?}");
    let extra = &episode.turns[0].attempts[0].extra;
    assert_eq!(extra["repeats"], 1, "{more}: {episode:?}");
    assert_eq!(extra.get("resumed").and_then(serde_json::Value::as_bool), is_resumed, "{more}");
    assert_eq!(counts(&folder), Some(runner::EndpointAttempts { retried: 1, lost: 0 }), "{more}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_trial_that_the_endpoint_ends_each_time_is_counted_as_lost_to_it() {
    let room = tempfile::tempdir().unwrap();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join("run"));
    task(&tasks, "refused", "", &[("true", &format!("echo 1 {REWARD}"))]);
    let mut settings = settings(&folder, &tasks, &HARNESS);
    let base_url = common::refuses("400 Bad Request", r#"{"error":{"message":"unknown field"}}"#);
    settings.endpoint =
        runner::settings::EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let (on_event, _) = keep();
    let finish = runner::run(settings, on_event).await.unwrap();
    assert!(matches!(finish, Finish::Failed { .. }), "{finish:?}");
    assert_eq!(episodes(&folder)[0].end_reason, Some(EndReason::Endpoint));
    let counts = runner::live::read(&folder).unwrap().endpoint;
    assert_eq!(counts, Some(runner::EndpointAttempts { retried: 3, lost: 1 }));
}
