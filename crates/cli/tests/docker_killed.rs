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

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use kept::KeptIfFailed;
use results::normalized;
use serde_json::Value;

#[path = "../../runner/tests/kept/mod.rs"]
mod kept;
#[path = "../../runner/tests/results/mod.rs"]
mod results;

const TURNS: u32 = 2;
/// An engine of its own needs this image.
const IMAGE: &str = "stamina/base:1";

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
        let made = home.command(&["generate", "--out", &out]).args(values).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
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
    let until = Instant::now() + within;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// A task of two steps. A second pass over the first one in the same container would not pass, and the second one takes some
/// seconds.
fn task_of_two_steps(folder: &Path) {
    let put = |path: &str, text: &str| {
        let path = folder.join("chain").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("task.toml", "[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n");
    put("environment/Dockerfile", "FROM debian:trixie-slim\nWORKDIR /app\n");
    let first = "r=1; [ -e /app/first ] && r=0; touch /app/first; echo $r > /logs/verifier/reward.txt";
    let second = "r=0; [ -e /app/first ] && r=1; echo $r > /logs/verifier/reward.txt";
    for (step, solve, test) in [("s0", "true", first), ("s1", "sleep 5", second)] {
        put(&format!("steps/{step}/instruction.md"), "# Do it\n");
        put(&format!("steps/{step}/solution/solve.sh"), &format!("#!/bin/bash\n{solve}\n"));
        put(&format!("steps/{step}/tests/test.sh"), &format!("#!/bin/bash\n{test}\n"));
    }
}

#[test]
#[ignore = "needs a container engine"]
fn a_trial_that_is_killed_in_the_middle_of_its_chain_is_played_by_a_resume() {
    let home = TestHome::new();
    let tasks = home.path("tasks");
    task_of_two_steps(&tasks);
    // With snapshots of its container and without.
    for (name, more) in [("chain", "attempt_limit=1"), ("tries", "harbor.protocol=mt_at_k")] {
        let folder = home.path(name);
        let path = folder.display().to_string();
        let mut run = home.command(&["run", "--json", "--values", "benchmark=HARBOR", "agent=ORACLE", more]);
        run.arg(format!("output_dir={path}")).arg(format!("tasks={}", tasks.display()));
        let mut child = Ends(run.stdout(Stdio::null()).spawn().unwrap());
        // Its second step has begun, and takes its time.
        let is_in_second = || {
            let events = std::fs::read_to_string(folder.join(".stamina/events.jsonl")).unwrap_or_default();
            events
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .any(|event| event["event"] == "turn" && event["turn"] == 2)
        };
        while !is_in_second() {
            assert_eq!(
                ended(&mut child.0, Duration::from_millis(20)),
                None,
                "it ends before its second step"
            );
        }
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let resumed = home.command(&["resume", "--json", &path]).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
        let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
        let trajectory: Value = serde_json::from_str(&text).unwrap();
        let turns = trajectory["turns"].as_array().unwrap();
        let passed = turns.iter().all(|turn| turn["attempts"][0]["verdict"] == "passed");
        assert!(turns.len() == 2 && passed && trajectory["end_reason"] == "passed_all", "{trajectory:#}");
        // With a snapshot it continues in the second step, without one it says that it began anew.
        let (from, is_marked) = if name == "tries" { ("snapshot", true) } else { ("first_step", false) };
        let resume = &trajectory["resumes"][0];
        assert_eq!(resume["from"], from, "{trajectory:#}");
        assert_eq!(resume["why"], "killed", "{trajectory:#}");
        assert_eq!(turns[1]["attempts"][0]["resumed"] == true, is_marked, "{trajectory:#}");
        let first = turns[0]["attempts"][0]["started_at"].as_str().unwrap();
        assert_eq!(first < resume["at"].as_str().unwrap(), is_marked, "{trajectory:#}");
    }
}

#[test]
#[ignore = "needs a container engine"]
fn a_command_line_that_is_killed_in_the_middle_of_containers_is_resumed() {
    let home = TestHome::new();
    let (expected, took) = home.calm(&[]);
    let folder = home.path("killed-0001");
    let path = folder.display().to_string();
    let mut command = home.run(&folder);
    // Events decide when each kill comes, a bit later each time, so that the number of kills does not depend on the machine.
    let events =
        || std::fs::read_to_string(folder.join(".stamina/events.jsonl")).unwrap_or_default().lines().count();
    let (mut kills, mut starts) = (0_u32, 0_usize);
    loop {
        starts += 1;
        assert!(starts < 40, "it does not end");
        let enough = events() + 1 + (starts * 37) % 3;
        let mut child = Ends(command.stdout(Stdio::null()).spawn().unwrap());
        let until = Instant::now() + took * 20;
        let status = loop {
            let status = ended(&mut child.0, Duration::from_millis(20));
            if status.is_some() || kills < 4 && events() >= enough || Instant::now() > until {
                break status.or_else(|| ended(&mut child.0, took.mul_f64((starts % 5) as f64 / 20.0)));
            }
        };
        let Some(status) = status else {
            drop(child);
            kills += 1;
            // Before the run has begun there is nothing to continue with.
            let begun = folder.join(".stamina/run.json").exists();
            command = if begun { home.command(&["resume", "--json", &path]) } else { home.run(&folder) };
            continue;
        };
        assert_eq!(status.code(), Some(0));
        break;
    }
    println!("{kills} kills, an undisturbed run takes {took:.1?}");
    assert!(kills >= 2);
    assert_same(&folder, &expected);
}

#[test]
#[ignore = "needs a container engine"]
fn what_a_killed_run_left_is_gone_when_the_app_has_started() {
    let home = TestHome::new();
    let folder = home.path("left-0001");
    let mut run =
        Ends(home.run(&folder).arg("oracle.mischief.stall=1").stdout(Stdio::null()).spawn().unwrap());
    let state = folder.join(".stamina/run.json");
    let left = |id: &str| {
        let label = format!("label=org.stamina-lab.run={id}");
        let lists = [&["ps", "-aq"][..], &["network", "ls", "-q"], &["volume", "ls", "-q"]];
        lists.map(|list| {
            let found = Command::new("docker").args(list).args(["--filter", &label]).output().unwrap();
            String::from_utf8_lossy(&found.stdout).lines().count()
        })
    };
    let soon = |what: &dyn Fn() -> bool| {
        let until = Instant::now() + Duration::from_mins(4);
        while !what() {
            assert!(Instant::now() < until, "it does not come about");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let id = || {
        let run: Value = serde_json::from_slice(&std::fs::read(&state).ok()?).ok()?;
        Some(run["id"].as_str()?.to_owned())
    };
    // A relay alone has no volumes: an agent's container has.
    soon(&|| id().is_some_and(|id| left(&id).iter().all(|count| *count > 0)));
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    let id = id().unwrap();
    let found = left(&id);
    assert!(found.iter().all(|count| *count > 0), "containers, networks and volumes: {found:?}");

    std::fs::create_dir_all(home.path("ui")).unwrap();
    std::fs::write(home.path("ui/index.html"), "<!doctype html>").unwrap();
    let ui = home.path("ui").display().to_string();
    let _app = Ends(home.command(&["serve", "--json", "--ui", &ui]).stdout(Stdio::null()).spawn().unwrap());
    soon(&|| left(&id) == [0, 0, 0]);
    assert!(folder.join("report.json").exists(), "results are not touched");
}

/// Requests of a turn, in the order in which they ended: what each put into the model.
fn inputs(folder: &Path, turn: u64) -> Vec<u64> {
    let log = std::fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap_or_default();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["turn"] == turn).filter_map(|line| line["tokens"]["input"].as_u64()).collect()
}

/// A real agent keeps its session in files of its own. Killed in the middle of the second turn, it continues it: what it asks
/// next begins with all of the first turn.
#[test]
#[ignore = "needs a container engine"]
fn a_real_harness_that_is_killed_within_a_turn_continues_its_session() {
    let home = TestHome::new();
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe,qwen_code".to_owned());
    // The mock agent has tests of its own.
    for agent in chosen.split(',').filter(|name| *name != "mock") {
        let folder = home.path(agent);
        let path = folder.display().to_string();
        let mut command =
            home.command(&["run", "--json", "--values", "endpoint.mode=oracle", "limits.cpus=1"]);
        command
            .arg(format!("agent={}", agent.to_uppercase()))
            .arg(format!("output_dir={path}"))
            .arg(format!("scenarios_dir={}", home.pack.display()));
        let mut run = Ends(command.stdout(Stdio::null()).spawn().unwrap());
        let until = Instant::now() + Duration::from_mins(4);
        while inputs(&folder, 2).is_empty() {
            assert!(run.0.try_wait().unwrap().is_none(), "{agent}: it ended before its second turn");
            assert!(Instant::now() < until, "{agent}: it does not come to its second turn");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(run);
        let (first, before) = (inputs(&folder, 1), inputs(&folder, 2).len());
        let resumed = home.command(&["resume", "--json", &path]).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{agent}: {}", String::from_utf8_lossy(&resumed.stderr));
        let after = inputs(&folder, 2).split_off(before);
        println!("{agent}: {first:?}, killed after {before} requests of turn 2, then {after:?}");
        let most = first.iter().max().unwrap();
        assert!(after.first().is_some_and(|input| input > most), "{agent}: {first:?}, then {after:?}");
        let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
        let trajectory: Value = serde_json::from_str(&text).unwrap();
        let attempts: Vec<&Value> = trajectory["turns"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|turn| turn["attempts"].as_array().unwrap())
            .collect();
        assert_eq!(attempts.len(), TURNS as usize, "{agent}: {attempts:?}");
        for attempt in attempts {
            assert_eq!(attempt["verdict"], "passed", "{agent}: {attempt}");
            assert!(attempt["session_restarted"].is_null(), "{agent}: {attempt}");
        }
    }
}

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
        let at = |name: &str| folder.join(name).display().to_string();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let host = format!("unix://{}", at("socket"));
        let mut daemon = Command::new("dockerd")
            .args(["--host", &host, "--data-root", &at("data"), "--exec-root", &at("exec")])
            // The rules of the firewall are those of the engine that others use.
            .args(["--pidfile", &at("pid"), "--iptables=false"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_mins(5);
        loop {
            let answers = Command::new("docker").args(["--host", &host, "version"]).output().unwrap();
            if answers.status.success() {
                return Some(daemon);
            }
            if daemon.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(Instant::now() < until, "the engine answers nothing");
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

#[test]
#[ignore = "needs a container engine"]
fn an_engine_that_is_killed_is_waited_for_and_the_attempt_is_retried() {
    let Some(mut engine) = mortal() else { return };
    let home = TestHome::new();
    let (expected, _) = home.calm(&[]);
    let folder = home.path("engine-0001");
    let mut run = home.run(&folder);
    run.env("DOCKER_HOST", engine.host()).stdout(Stdio::piped());
    let mut run = Ends(run.spawn().unwrap());
    let mut kills = 0;
    let output = run.0.stdout.take().unwrap();
    for line in BufReader::new(output).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        // At the start of a turn, and in the next one once its agent has asked its model.
        if event["event"] == "turn" {
            let until = Instant::now() + Duration::from_mins(4);
            while kills > 0 && inputs(&folder, event["turn"].as_u64().unwrap()).is_empty() {
                assert!(run.0.try_wait().unwrap().is_none(), "it ended before its model was asked");
                assert!(Instant::now() < until, "its model is not asked");
                std::thread::sleep(Duration::from_millis(5));
            }
            engine.kill();
            engine.start_again();
            kills += 1;
        }
    }
    assert_eq!(run.0.wait().unwrap().code(), Some(0));
    assert_eq!(kills, TURNS);
    assert_same(&folder, &expected);
}

/// What a suite says of a server that its engine took away is nothing that the agent has done.
#[test]
#[ignore = "needs a container engine"]
fn an_engine_that_is_killed_under_a_suite_costs_the_attempt_nothing() {
    let Some(mut engine) = mortal() else { return };
    let home = TestHome::new();
    // Servers that take their time, so that the engine is back before the suite is over, and takes the server with it.
    let slow = ["limits.cpus=0.3"];
    let (expected, took) = home.calm(&slow);
    // At which words of the test phase it is killed, once each.
    let mut when = ["its server starts", "the tests run"].iter().peekable();
    // A busy machine may come to it late so often that no suite is left: then there is another run.
    for number in 2.. {
        assert!(number < 7, "in five runs the engine was not killed in time");
        let folder = home.path(&format!("engine-{number:04}"));
        let mut run = home.run(&folder);
        run.args(slow).env("DOCKER_HOST", engine.host()).stdout(Stdio::null());
        let mut run = Ends(run.spawn().unwrap());
        let shown = folder.join(".stamina/episodes/scenario_0.json");
        // In which attempt that was.
        let mut killed = Vec::new();
        let now = || serde_json::from_slice::<Value>(&std::fs::read(&shown).ok()?).ok();
        let until = Instant::now() + Duration::from_mins(10);
        let status = loop {
            if let Some(status) = ended(&mut run.0, Duration::from_millis(5)) {
                break status;
            }
            assert!(Instant::now() < until, "it does not end");
            let Some(seen) = now() else { continue };
            if let Some(word) = when.peek().filter(|word| seen["now"] == ***word) {
                assert_eq!(seen["phase"], "testing", "{seen}");
                engine.kill();
                // A busy machine may have come to it late. Then it was killed in the middle of something else, which does no harm,
                // and the next suite is tried. Where the run has noticed it by now, it waits for the engine.
                let after = now().unwrap_or_else(|| seen.clone());
                let is_same = ["turn", "attempt"].iter().all(|number| after[number] == seen[number]);
                if is_same && (after["now"] == **word || after["phase"] == "waiting") {
                    when.next();
                    killed.push((seen["turn"].as_u64().unwrap(), seen["attempt"].as_u64().unwrap()));
                }
                engine.start_again();
            }
        };
        println!("killed in {killed:?}, an undisturbed run takes {took:.1?}");
        assert_eq!(status.code(), Some(0));
        assert_same(&folder, &expected);
        is_asked_again(&folder, &killed);
        if when.peek().is_none() {
            break;
        }
    }
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
        let asked = lines.filter(|line| {
            line["turn"] == *turn && line["attempt"] == *attempt && line["tokens"]["input"].is_u64()
        });
        assert!(asked.count() as u64 > played["model_requests"].as_u64().unwrap(), "{killed:?}: {played}");
    }
}
