//! An engine of its own is killed.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use crate::docker_killed::{Ends, TURNS, TestHome, assert_same, ended, inputs};

/// An engine of its own needs this image.
const IMAGE: &str = "stamina/base:1";

/// A container engine of its own, which can be killed without harm to others.
struct Engine {
    folder: tempfile::TempDir,
    daemon: Child,
}

impl Engine {
    fn new() -> Self {
        // The path of a socket is short.
        let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        let daemon = Self::start(folder.path());
        Self { folder, daemon }
    }

    fn host(&self) -> String {
        format!("unix://{}", self.folder.path().join("socket").display())
    }

    /// It gives up by itself where its own parts take long to start, as they do on a busy machine.
    fn start(folder: &Path) -> Child {
        let begun = (0..3).find_map(|_| Self::try_start(folder));
        begun.unwrap_or_else(|| panic!("{}", std::fs::read_to_string(folder.join("log")).unwrap_or_default()))
    }

    /// Nothing where it gave up.
    fn try_start(folder: &Path) -> Option<Child> {
        let path_text = |name: &str| folder.join(name).display().to_string();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let host = format!("unix://{}", path_text("socket"));
        let mut daemon = Command::new("dockerd")
            .args(["--host", &host, "--data-root", &path_text("data"), "--exec-root", &path_text("exec")])
            // The rules of the firewall are those of the engine that others use.
            .args(["--pidfile", &path_text("pid"), "--iptables=false"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_mins(5);
        loop {
            let answers = Command::new("docker").args(["--host", &host, "version"]).output().unwrap();
            if answers.status.success() {
                return Some(daemon);
            }
            if daemon.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(Instant::now() < deadline, "the engine answers nothing");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Gives it an image of the engine that the other tests use.
    fn take(&self, image: &str) {
        let mut save = Command::new("docker").args(["save", image]).stdout(Stdio::piped()).spawn().unwrap();
        let load = Command::new("docker")
            .args(["--host", &self.host(), "load", "--quiet"])
            .stdin(save.stdout.take().unwrap())
            .output()
            .unwrap();
        assert!(save.wait().unwrap().success() && load.status.success(), "{image} cannot be taken over");
    }

    /// As a machine that loses its engine.
    fn kill(&mut self) {
        self.daemon.kill().unwrap();
        self.daemon.wait().unwrap();
    }

    /// And gets it back.
    fn start_again(&mut self) {
        // Killed while it writes down a volume, an engine leaves an empty record and does not start with it. That is its own
        // fault and not what is tested here; without options a volume has no record.
        for volume in
            std::fs::read_dir(self.folder.path().join("data/volumes")).into_iter().flatten().flatten()
        {
            let record = volume.path().join("opts.json");
            if std::fs::metadata(&record).is_ok_and(|record| record.len() == 0) {
                std::fs::remove_file(&record).unwrap();
            }
        }
        self.daemon = Self::start(self.folder.path());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It ends its containers and its part that runs them, in order.
        let pid = self.daemon.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.daemon.wait();
        // What runs a container may outlive an engine that was killed, with all files that it was given open.
        let folder = self.folder.path().display().to_string();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_string_lossy().into_owned();
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            if command.contains("containerd-shim") && command.contains(&format!("{folder}/")) {
                let _ = Command::new("kill").args(["-KILL", &pid]).status();
            }
        }
        // It mounts its folder on itself.
        let _ = Command::new("umount").arg(self.folder.path().join("data")).output();
    }
}

/// An engine that can be killed and has the image, where one can be started.
fn mortal() -> Option<Engine> {
    let found = Command::new("dockerd").arg("--version").output();
    if !found.is_ok_and(|found| found.status.success()) || !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI has an engine that can be started anew");
        println!("left out: only root can start an engine of its own");
        return None;
    }
    let engine = Engine::new();
    engine.take(IMAGE);
    Some(engine)
}

/// Both with one engine and one undisturbed run: an engine, with its image, takes as long as either of them.
#[test]
#[ignore = "needs a container engine"]
fn an_engine_that_is_killed_costs_the_attempt_nothing() {
    let Some(mut engine) = mortal() else { return };
    let home = TestHome::new();
    let (expected, took) = home.calm(&SLOW);
    println!("an undisturbed run takes {took:.1?}");
    is_waited_for_and_the_attempt_is_retried(&mut engine, &home, &expected);
    takes_its_server_from_under_a_suite(&mut engine, &home, &expected);
}

/// Servers that take their time, so that the engine is back before a suite is over, and takes the server with it.
const SLOW: [&str; 1] = ["limits.cpus=0.3"];

/// Killed at the start of a turn, and in the next one once its agent has asked its model.
fn is_waited_for_and_the_attempt_is_retried(
    engine: &mut Engine,
    home: &TestHome,
    expected: &BTreeMap<String, String>,
) {
    let folder = home.path("engine-0001");
    let mut run = home.run(&folder);
    run.args(SLOW).env("DOCKER_HOST", engine.host()).stdout(Stdio::piped());
    let mut run = Ends(run.spawn().unwrap());
    let mut kills = 0;
    let output = run.0.stdout.take().unwrap();
    for line in BufReader::new(output).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["event"] == "turn" {
            let deadline = Instant::now() + Duration::from_mins(4);
            while kills > 0 && inputs(&folder, event["turn"].as_u64().unwrap()).is_empty() {
                assert!(run.0.try_wait().unwrap().is_none(), "it ended before its model was asked");
                assert!(Instant::now() < deadline, "its model is not asked");
                std::thread::sleep(Duration::from_millis(5));
            }
            engine.kill();
            engine.start_again();
            kills += 1;
        }
    }
    assert_eq!(run.0.wait().unwrap().code(), Some(0));
    assert_eq!(kills, TURNS);
    assert_same(&folder, expected);
}

/// Stops a process where it stands, until [`go_on`]. False where it has ended before that.
fn hold(run: &Child) -> bool {
    let pid = Pid::from_child(run);
    kill_process(pid, Signal::STOP).unwrap();
    // How it ended stays for whoever waits for that.
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), options).unwrap().is_some_and(|status| status.stopped())
}

/// Lets a process go on that was stopped.
fn go_on(run: &Child) {
    kill_process(Pid::from_child(run), Signal::CONT).unwrap();
}

/// What a suite says of a server that its engine took away is nothing that the agent has done.
fn takes_its_server_from_under_a_suite(
    engine: &mut Engine,
    home: &TestHome,
    expected: &BTreeMap<String, String>,
) {
    // At which words of the test phase it is killed, once each.
    let mut awaited_words = ["its server starts", "the tests run"].into_iter().peekable();
    let folder = home.path("engine-0002");
    let mut run = home.run(&folder);
    run.args(SLOW).env("DOCKER_HOST", engine.host()).stdout(Stdio::null());
    let mut run = Ends(run.spawn().unwrap());
    let shown = folder.join(".stamina/episodes/scenario_0.json");
    // In which attempt that was.
    let mut killed = Vec::new();
    let now = || serde_json::from_slice::<Value>(&std::fs::read(&shown).ok()?).ok();
    let deadline = Instant::now() + Duration::from_mins(10);
    let status = loop {
        if let Some(status) = ended(&mut run.0, Duration::from_millis(5)) {
            break status;
        }
        assert!(Instant::now() < deadline, "it does not end");
        let Some(word) = awaited_words.peek().copied() else { continue };
        let is_awaited = |live_state: &Value| live_state["now"] == word;
        if !now().as_ref().is_some_and(is_awaited) {
            continue;
        }
        // The run stands still in what it shows until its engine is gone, however long that takes on a busy machine. It goes on
        // before the engine is back.
        let live_state = if hold(&run.0) { now().filter(is_awaited) } else { None };
        if let Some(live_state) = &live_state {
            assert_eq!(live_state["phase"], "testing", "{live_state}");
            engine.kill();
            awaited_words.next();
            killed.push((live_state["turn"].as_u64().unwrap(), live_state["attempt"].as_u64().unwrap()));
        }
        go_on(&run.0);
        if live_state.is_some() {
            engine.start_again();
        }
    };
    println!("killed in {killed:?}");
    assert_eq!(status.code(), Some(0));
    assert_eq!(awaited_words.next(), None, "the run never showed it: killed in {killed:?}");
    assert_same(&folder, expected);
    is_asked_again(&folder, &killed);
}

/// Attempts under whose suites the engine was killed were dropped and retried: the model was asked again for what it had
/// answered.
fn is_asked_again(folder: &Path, killed: &[(u64, u64)]) {
    let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
    let trajectory: Value = serde_json::from_str(&text).unwrap();
    let log = std::fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap();
    for (turn, attempt) in killed {
        let played = &trajectory["turns"][*turn as usize - 1]["attempts"][*attempt as usize - 1];
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let requests = lines.filter(|line| {
            line["turn"] == *turn && line["attempt"] == *attempt && line["tokens"]["input"].is_u64()
        });
        assert!(requests.count() as u64 > played["model_requests"].as_u64().unwrap(), "{killed:?}: {played}");
    }
}
