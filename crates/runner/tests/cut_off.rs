//! What is left of an attempt that was ended in the middle: its transcript and what it has used until then; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{EndReason, Verdict};
use runner::Finish;
use runner::settings::EndpointSettings;

use crate::common;

/// How a run and its attempt ended.
type CutOff = (Finish, Verdict, Option<EndReason>);

/// The same by a limit of minutes. A busy machine needs more of them until the first answer has come and the next request is out:
/// where it was too late for that, there is nothing to look at yet, and it is given more.
async fn cut_off_after_minutes(limit: &str) -> CutOff {
    for minutes in [0.08, 0.4, 2.0, 10.0] {
        if let Some(cut) = cut_off_by(&format!("{limit}={minutes}")).await {
            return cut;
        }
    }
    panic!("{limit}: its agent asks its model no second time");
}

/// Plays one attempt whose model answers once, until a limit ends it: how the run and the attempt ended. What it has done until
/// then is there in all of them. Nothing where a limit of time ended it before its model was asked once more.
async fn cut_off_by(limit: &str) -> Option<CutOff> {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let mut settings = common::settings(&folder, &["restful_server_gen_iterative.attempt_limit=1", limit]);
    let (base_url, silent) = common::falls_silent();
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    settings.price = Some(gateway::Price { input: 1000.0, output: 10_000.0, ..gateway::Price::default() });
    let finish = common::run_without_waits(settings, Arc::new(|_| {})).await;
    // A stall that takes most of the limit is retried. Each time the model has to be asked once more.
    let plays = runner::live::read(&folder).unwrap().endpoint.unwrap().retried + 1;
    if limit.contains("minutes") && silent.load(Ordering::Relaxed) < plays {
        return None;
    }

    let episode = common::episodes(&folder).into_iter().next().unwrap();
    let attempt = &episode.turns[0].attempts[0];
    assert_eq!((attempt.tokens.input, attempt.tokens.output), (Some(1200), Some(30)), "{limit}");
    assert_eq!(attempt.tool_calls, Some(1), "{limit}");
    let text = std::fs::read_to_string(folder.join("scenario_0/transcripts/turn_1_attempt_1.json")).unwrap();
    let transcript: serde_json::Value = serde_json::from_str(&text).unwrap();
    let steps = transcript["steps"].as_array().unwrap();
    let kinds: Vec<&str> = steps.iter().map(|step| step["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "agent"], "{limit}: {text}");
    assert_eq!(steps[1]["text"], "I begin.", "{limit}");
    let call = &steps[1]["tool_calls"][0];
    assert_eq!((&call["name"], &call["arguments"]["path"]), (&"write_file".into(), &"notes.txt".into()));
    assert_eq!(call["result"], "wrote 5 characters to notes.txt", "{limit}");
    let log = std::fs::read_to_string(folder.join("scenario_0/agent_logs/step_1.txt")).unwrap();
    assert!(log.contains("I begin."), "{limit}: {log}");
    Some((finish, attempt.verdict, attempt.end_reason))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_an_attempt_did_before_it_was_ended_is_kept() {
    let (wall, attempt, episode, run, tokens, money) = tokio::join!(
        cut_off_after_minutes("limits.attempt_minutes"),
        cut_off_after_minutes("limits.attempt.minutes"),
        cut_off_after_minutes("limits.episode.minutes"),
        cut_off_after_minutes("limits.run.minutes"),
        cut_off_by("limits.run.tokens=1000"),
        cut_off_by("limits.episode.usd=0.5"),
    );
    let (ended, failed) = (Finish::Finished, Verdict::Error);
    assert_eq!(wall, (ended.clone(), failed, Some(EndReason::AgentTimeout)));
    assert_eq!(attempt, (ended.clone(), failed, Some(EndReason::AttemptBudget)));
    assert_eq!(episode, (ended.clone(), failed, Some(EndReason::Budget)));
    assert_eq!(run, (Finish::Budget, Verdict::Unfinished, Some(EndReason::Budget)));
    assert_eq!(tokens, Some((Finish::Budget, Verdict::Unfinished, Some(EndReason::Budget))));
    assert_eq!(money, Some((ended, failed, Some(EndReason::Budget))));
}
