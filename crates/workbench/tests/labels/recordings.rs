//! Recorded ends of the nine harnesses, with the class that a person gives each.
//!
//! They are classified twice: as a run of Stamina Lab ends, where the harness's own files and the exit are known, and as the
//! results of another runner tell it, which keep the output and not why the harness stopped.

use std::collections::BTreeMap;

use analysis::failures::{Context, FailureClass as C, classify_attempt};
use harness::{Call, CommandEnd, Endpoint, Exit, Outcome};
use model::{Attempt, EndReason, Verdict};
use serde::Deserialize;

use super::{Confusion, read};
use crate::library::repository;

#[derive(Deserialize)]
struct Labels {
    recordings: Vec<Recording>,
}

/// A recorded end, and what it is.
#[derive(Deserialize)]
pub(super) struct Recording {
    harness: String,
    name: String,
    code: i64,
    #[serde(default)]
    timed_out: bool,
    #[serde(default = "yes")]
    changed: bool,
    /// Files that the harness left, by their path in HOME: the name of the recording.
    #[serde(default)]
    home: BTreeMap<String, String>,
    class: String,
}

const fn yes() -> bool {
    true
}

pub(super) fn labels() -> Vec<Recording> {
    read::<Labels>("recordings.json").recordings
}

impl Recording {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        let folder = repository().join("crates/harness/tests/fixtures").join(&self.harness);
        std::fs::read(folder.join(name)).ok()
    }

    fn output(&self) -> [Vec<u8>; 2] {
        let output = ["stdout", "stderr"].map(|kind| self.file(&format!("{}.{kind}", self.name)));
        assert!(output.iter().any(Option::is_some), "{} {}", self.harness, self.name);
        output.map(Option::unwrap_or_default)
    }

    fn outcome(&self) -> Outcome {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, name) in &self.home {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, self.file(name).expect("a recording")).expect("written");
        }
        let endpoint = Endpoint {
            base_url: "http://172.20.0.1:41001/a/6f3c".into(),
            key: "sk-attempt-6f3c".into(),
            model: "mock-model".into(),
            context_window: 131_072,
        };
        let call = Call {
            turn: 1,
            attempt: 1,
            prompt: "build it",
            session: None,
            earlier: None,
            session_id: "0f0e0d0c-0b0a-4908-8706-050403020100",
            endpoint: &endpoint,
            seconds: 600,
            home: harness::HOME,
            workspace: harness::WORKSPACE,
        };
        let home = files::Tree::open(folder.path()).expect("a folder");
        let [stdout, stderr] = self.output();
        let exit = Exit { code: Some(self.code), timed_out: self.timed_out, ..Exit::default() };
        let ended = CommandEnd {
            exit,
            stdout: &stdout,
            stderr: &stderr,
            home: &home,
            model_requests: None,
            changed: self.changed,
            worked: false,
        };
        harness::find(&self.harness).expect("a harness").outcome(&call, &ended)
    }

    /// The class of an attempt that ended so.
    fn class(&self, reason: Option<EndReason>, message: Option<String>) -> C {
        // An agent that ends without an error is tested.
        let verdict = if reason == Some(EndReason::TestsFailed) { Verdict::Failed } else { Verdict::Error };
        let mut attempt = Attempt::new(1, verdict);
        attempt.end_reason = reason;
        attempt.exception = message.map(|message| ("HarnessError".to_owned(), message));
        let [stdout, stderr] = self.output();
        let log = format!("{}\n{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let context = Context { agent_log: Some(&log), ..Context::default() };
        classify_attempt(&attempt, &context).map_or(C::Other, |classified| classified.primary)
    }
}

/// Adds the recorded ends as ends of runs of Stamina Lab.
pub(super) fn add_ends(table: &mut Confusion) {
    for recording in labels() {
        let outcome = recording.outcome();
        let reason = outcome.end.unwrap_or(EndReason::TestsFailed);
        let class = recording.class(Some(reason), outcome.message);
        if class.as_str() != recording.class {
            eprintln!(
                "{}, not {}: {} {}",
                recording.class,
                class.as_str(),
                recording.harness,
                recording.name
            );
        }
        table.add(class.as_str(), &recording.class);
    }
}

/// The recorded ends as another runner tells them: an error where the exit code is one, else tests that failed, and the
/// output of the harness. A time limit of the runner is its own to tell.
pub(super) fn from_output_alone() -> Confusion {
    let mut table = Confusion::default();
    for recording in labels().iter().filter(|recording| !recording.timed_out) {
        let reason = if recording.code == 0 { EndReason::TestsFailed } else { EndReason::AgentError };
        let message =
            (recording.code != 0).then(|| format!("Command failed (exit {}): agent", recording.code));
        table.add(recording.class(Some(reason), message).as_str(), &recording.class);
    }
    table
}
