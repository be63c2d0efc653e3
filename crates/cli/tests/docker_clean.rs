//! `stamina clean` shows what a killed run left in the engine and removes it on request. What a running run uses stays.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::app::{TestHome, text};

/// A run that waits for a model that never answers. The test ends it.
struct Waiting {
    process: Child,
    /// As in the labels of its containers.
    id: String,
}

impl Waiting {
    /// Starts the run, and waits until its agent is in a container.
    fn begin(home: &TestHome, folder: &str) -> Self {
        let output = format!("output_dir={folder}");
        let args = ["run", "--json", "--values", "agent=MOCK", "use_docker=true", &output];
        let more = ["oracle.mischief.stall=1", "limits.cpus=1"];
        let tasks = ["restful_server_gen_iterative.n_scenarios=1", "restful_server_gen_iterative.n_turns=1"];
        let mut command = home.command(&[&args[..], &more, &tasks].concat());
        let process = command.stdout(Stdio::null()).spawn().unwrap();
        let mut run = Self { process, id: String::new() };
        let state = home.path(folder).join(".stamina/run.json");
        let deadline = Instant::now() + Duration::from_mins(2);
        // Its container comes last.
        while !run.names_of_kind("container").iter().any(|name| name.contains("-agent-")) {
            assert!(run.process.try_wait().unwrap().is_none(), "it ended");
            assert!(Instant::now() < deadline, "it has no container");
            std::thread::sleep(Duration::from_millis(100));
            run.id = id(&state).unwrap_or_default();
        }
        run
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Names of what it has in the engine.
    fn names_of_kind(&self, kind: &str) -> Vec<String> {
        // A filter by an empty value takes every run.
        if self.id.is_empty() {
            return Vec::new();
        }
        let label = format!("label=org.stamina-lab.run={}", self.id);
        let list = match kind {
            "container" => ["ps", "-a", "--format", "{{.Names}}"],
            "network" => ["network", "ls", "--format", "{{.Name}}"],
            _ => ["volume", "ls", "--format", "{{.Name}}"],
        };
        let found = Command::new("docker").args(list).args(["--filter", &label]).output().unwrap();
        assert!(found.status.success(), "{}", text(&found.stderr));
        text(&found.stdout).lines().map(ToOwned::to_owned).collect()
    }

    /// All that it has, as `kind name`, sorted.
    fn has(&self) -> Vec<String> {
        let mut all: Vec<String> = ["container", "network", "volume"]
            .into_iter()
            .flat_map(|kind| self.names_of_kind(kind).into_iter().map(move |name| format!("{kind} {name}")))
            .collect();
        all.sort_unstable();
        all
    }

    /// What of a list of leftovers is of this run, in the same form.
    fn listed(&self, leftovers: &Value) -> Vec<String> {
        let run_leftovers = leftovers.as_array().unwrap().iter().filter(|left| left["run"] == *self.id);
        let mut all: Vec<String> = run_leftovers
            .map(|l| format!("{} {}", l["kind"].as_str().unwrap(), l["name"].as_str().unwrap()))
            .collect();
        all.sort_unstable();
        all
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn id(state: &Path) -> Option<String> {
    let run: Value = serde_json::from_slice(&std::fs::read(state).ok()?).ok()?;
    Some(run["id"].as_str()?.to_owned())
}

fn good(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
#[ignore = "needs a container engine"]
// docs/security.md: A resume
fn clean_removes_what_killed_runs_left_and_keeps_what_running_runs_use() {
    let home = TestHome::new();
    let mut dead = Waiting::begin(&home, "dead");
    let mut living = Waiting::begin(&home, "living");
    let (dead_names, living_names) = (dead.has(), living.has());

    for kind in ["container", "network", "volume"] {
        assert!(!dead.names_of_kind(kind).is_empty(), "no {kind}");
    }

    // Both live: neither is left behind.
    let found = home.json(&["clean"]);
    assert_eq!(dead.listed(&found["found"]), [""; 0], "{found}");
    assert_eq!(dead.listed(&found["kept"]), dead_names, "{found}");

    dead.kill();
    let found = home.json(&["clean"]);
    assert_eq!(dead.listed(&found["found"]), dead_names, "{found}");
    assert_eq!(living.listed(&found["found"]), [""; 0], "{found}");
    assert_eq!(living.listed(&found["kept"]), living_names, "{found}");
    assert_eq!(found["removed"], false, "without a word nothing is removed");
    let all = home.json(&["clean", "--all"]);
    assert_eq!((living.listed(&all["found"]), &all["removed"]), (living_names.clone(), &Value::from(false)));
    assert_eq!(all["kept"].as_array().map(Vec::len), Some(0), "{all}");

    // The same for a person who cannot be asked.
    let shown = home.stamina(&["clean"]);
    let table = good(&shown);
    for line in &dead_names {
        let (kind, name) = line.split_once(' ').unwrap();
        let row = table.lines().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        assert!(row.starts_with(kind) && row.contains(&dead.id) && row.contains("left behind"), "{row}");
    }
    assert!(!table.contains(&living.id), "{table}");
    let message = text(&shown.stderr);
    assert!(message.contains("stay; --all removes them, too"), "{message}");
    assert!(message.contains("nothing was removed; --yes removes it"), "{message}");
    assert_eq!(dead.has(), dead_names);

    let done = home.stamina(&["clean", "--yes"]);
    assert!(good(&done).contains("left behind") && text(&done.stderr).contains("removed "), "{done:?}");
    assert_eq!(dead.has(), [""; 0]);
    assert_eq!(living.has(), living_names);
    assert!(living.process.try_wait().unwrap().is_none(), "it still waits");
    assert!(home.path("dead/.stamina/run.json").exists(), "results are never touched");

    // For scripts in one go.
    living.kill();
    let done = home.json(&["clean", "--yes"]);
    assert_eq!((living.listed(&done["found"]), &done["removed"]), (living_names, &Value::from(true)));
    assert_eq!(living.has(), [""; 0]);
    let again = home.json(&["clean", "--yes"]);
    assert_eq!(living.listed(&again["found"]), [""; 0], "{again}");
}

#[test]
fn without_an_engine_it_says_where_it_looked() {
    let home = TestHome::new();
    let socket = format!("unix://{}", home.path("no-engine.sock").display());
    for args in [&["clean"][..], &["clean", "--yes"], &["clean", "--yes", "--json"]] {
        let failed = home.command(args).env("DOCKER_HOST", &socket).output().unwrap();
        assert_eq!(failed.status.code(), Some(1), "{args:?}");
        let message = text(&failed.stderr);
        assert!(message.contains("no-engine.sock"), "{args:?}: {message}");
    }
}
