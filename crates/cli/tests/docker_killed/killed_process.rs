//! The command line is killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::docker_killed::{Ends, TURNS, TestHome, assert_same, ended, inputs};

/// The change of a resume that the task of two steps sees.
const RESUMED: &str = "docker.env_vars=RESUMED=yes";

/// A task of two steps. A second pass over the first one in the same container would not pass, and the second one waits until its
/// run is killed, or goes on at once after a resume with [`RESUMED`].
fn task_of_two_steps(folder: &Path) {
    let put = |path: &str, text: &str| {
        let path = folder.join("chain").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "task.toml",
        "[environment.env]\nRESUMED = \"${RESUMED:-}\"\n[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n",
    );
    put("environment/Dockerfile", "FROM debian:trixie-slim\nWORKDIR /app\n");
    let first = "r=1; [ -e /app/first ] && r=0; touch /app/first; echo $r > /logs/verifier/reward.txt";
    let second = "r=0; [ -e /app/first ] && r=1; echo $r > /logs/verifier/reward.txt";
    let waiting_solution = "[ -n \"$RESUMED\" ] || { sleep 600; rm -rf /app/*; }";
    for (step, solve, test) in [("s0", "true", first), ("s1", waiting_solution, second)] {
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
        // Its second step has begun, and does not end.
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
        let resumed = home.command(&["resume", "--json", &path, "--values", RESUMED]).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
        let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
        let trajectory: Value = serde_json::from_str(&text).unwrap();
        let turns = trajectory["turns"].as_array().unwrap();
        let passed = turns.iter().all(|turn| turn["attempts"][0]["verdict"] == "passed");
        assert!(turns.len() == 2 && passed && trajectory["end_reason"] == "passed_all", "{trajectory:#}");
        // With a snapshot it continues in the second step, without one it says that it began anew.
        let (kill_point, is_marked) =
            if name == "tries" { ("snapshot", true) } else { ("first_step", false) };
        let resume = &trajectory["resumes"][0];
        assert_eq!(resume["from"], kill_point, "{trajectory:#}");
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
        let deadline = Instant::now() + took * 20;
        let status = loop {
            let status = ended(&mut child.0, Duration::from_millis(20));
            if status.is_some() || kills < 4 && events() >= enough || Instant::now() > deadline {
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
    let wait_until = |condition: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_mins(4);
        while !condition() {
            assert!(Instant::now() < deadline, "it does not come about");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let id = || {
        let run: Value = serde_json::from_slice(&std::fs::read(&state).ok()?).ok()?;
        Some(run["id"].as_str()?.to_owned())
    };
    // A relay alone has no volumes: an agent's container has.
    wait_until(&|| id().is_some_and(|id| left(&id).iter().all(|count| *count > 0)));
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    let id = id().unwrap();
    let found = left(&id);
    assert!(found.iter().all(|count| *count > 0), "containers, networks and volumes: {found:?}");

    std::fs::create_dir_all(home.path("ui")).unwrap();
    std::fs::write(home.path("ui/index.html"), "<!doctype html>").unwrap();
    let ui = home.path("ui").display().to_string();
    let _app = Ends(home.command(&["serve", "--json", "--ui", &ui]).stdout(Stdio::null()).spawn().unwrap());
    wait_until(&|| left(&id) == [0, 0, 0]);
    assert!(folder.join("report.json").exists(), "results are not touched");
}

/// A real agent keeps its session in files of its own. Killed in the middle of the second turn, it continues it: what it asks
/// next begins with all of the first turn.
#[test]
#[ignore = "needs a container engine"]
fn a_real_harness_that_is_killed_within_a_turn_continues_its_session() {
    let home = TestHome::new();
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe,qwen_code".to_owned());
    // A run of each takes three starts of it: in the deep test all that are chosen, else the first.
    let most = if std::env::var_os("STAMINA_EVERY_WAY").is_some() { usize::MAX } else { 1 };
    // The mock agent has tests of its own.
    for agent in chosen.split(',').filter(|name| *name != "mock").take(most) {
        let folder = home.path(agent);
        let path = folder.display().to_string();
        let mut command =
            home.command(&["run", "--json", "--values", "endpoint.mode=oracle", "limits.cpus=1"]);
        command
            .arg(format!("agent={}", agent.to_uppercase()))
            .arg(format!("output_dir={path}"))
            .arg(format!("scenarios_dir={}", home.pack.display()));
        let mut run = Ends(command.stdout(Stdio::null()).spawn().unwrap());
        let deadline = Instant::now() + Duration::from_mins(4);
        while inputs(&folder, 2).is_empty() {
            assert!(run.0.try_wait().unwrap().is_none(), "{agent}: it ended before its second turn");
            assert!(Instant::now() < deadline, "{agent}: it does not come to its second turn");
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
