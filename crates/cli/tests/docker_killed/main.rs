//! Runs in containers whose command line or engine is killed have the same results as an undisturbed run.
//!
//! Kills at a hundred named points and times are in `crates/runner/tests/kill_resume.rs`, without containers. The few here
//! test containers, volumes and networks: those of a killed process are found, those of a killed engine are made anew.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed"
)]

mod killed_engine;
mod killed_process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kept::KeptIfFailed;
use crate::results::normalized;

const TURNS: u32 = 2;

struct TestHome {
    temp: KeptIfFailed,
    pack: PathBuf,
}

impl TestHome {
    fn new() -> Self {
        let temp = KeptIfFailed::new();
        let pack = temp.path().join("pack");
        let home = Self { temp, pack };
        let turns = format!("restful_server_gen_iterative.n_turns={TURNS}");
        let values = ["--values", "restful_server_gen_iterative.n_scenarios=1", &turns];
        let out = home.pack.display().to_string();
        let output = home.command(&["generate", "--out", &out]).args(values).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamina"));
        command.args(args).env("STAMINA_DB", self.path("library.sqlite")).stdin(Stdio::null());
        command
    }

    /// Begins a run into a folder. Folders have names of one length: what the model counts must not depend on them.
    fn run(&self, folder: &Path) -> Command {
        let mut command = self.command(&["run", "--json", "--values", "agent=MOCK", "use_docker=true"]);
        command
            .arg(format!("output_dir={}", folder.display()))
            .arg(format!("scenarios_dir={}", self.pack.display()))
            .args(["restful_server_gen_iterative.attempt_limit=2", "limits.cpus=1"])
            .args(["oracle.seed=5", "oracle.defect_rate=0.7", "oracle.repair=0.6"]);
        command
    }

    /// The results of a run that nothing disturbs, and how long it took.
    fn calm(&self, more: &[&str]) -> (BTreeMap<String, String>, Duration) {
        let folder = self.path("calm-run-00");
        let started = Instant::now();
        let run = self.run(&folder).args(more).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        (normalized(&folder), started.elapsed())
    }
}

/// A process that does not outlive the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn assert_same(folder: &Path, expected: &BTreeMap<String, String>) {
    let found = normalized(folder);
    let paths = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&found), paths(expected));
    for (path, text) in expected {
        assert_eq!(&found[path], text, "{path}");
    }
}

/// How a process ended, if it did so within a time.
fn ended(child: &mut Child, within: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Requests of a turn, in the order in which they ended: what each put into the model.
fn inputs(folder: &Path, turn: u64) -> Vec<u64> {
    let log = std::fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap_or_default();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["turn"] == turn).filter_map(|line| line["tokens"]["input"].as_u64()).collect()
}
