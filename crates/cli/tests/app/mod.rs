//! The real program with a HOME of its own, and `stamina serve`, which is to a page what the desktop app is to its window.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

use serde_json::{Value, json};

use crate::kept::KeptIfFailed;

/// The header that lets a page in.
const TOKEN: &str = "x-stamina-token";

/// A folder with a library, HOME and temporary folder for one test.
pub(crate) struct TestHome {
    temp: KeptIfFailed,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let home = Self { temp: KeptIfFailed::new() };
        std::fs::create_dir(home.path("tmp")).expect("a folder");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The program, with a library and a home of its own.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamina"));
        command
            .args(args)
            .env("STAMINA_DB", self.path("library.sqlite"))
            .env("HOME", self.temp.path())
            .env("TMPDIR", self.path("tmp"))
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(self.temp.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn stamina(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("stamina runs")
    }

    /// Plays a run of one scenario with the mock agent into `results`, until a budget of tokens ends it (exit code 3).
    pub(crate) fn run_until_budget(&self, turns: u32, tokens: u32) {
        let (turns, tokens) =
            (format!("restful_server_gen_iterative.n_turns={turns}"), format!("limits.run.tokens={tokens}"));
        let output = self.stamina(&[
            "run",
            "--json",
            "--values",
            "agent=MOCK",
            "output_dir=results",
            "restful_server_gen_iterative.n_scenarios=1",
            "restful_server_gen_iterative.num_changes_per_turn=1",
            &turns,
            &tokens,
        ]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    }

    /// What a command that succeeds prints.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let output = self.stamina(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8 on standard output")
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--json"]].concat())).expect("JSON on standard output")
    }

    /// Reads a folder or zip into the library; gives what that printed.
    pub(crate) fn ingest(&self, source: &Path) -> Value {
        self.json(&["ingest", source.to_str().expect("UTF-8")])
    }

    /// The ids of the runs in the library.
    pub(crate) fn run_ids(&self) -> Vec<String> {
        let runs = self.json(&["runs"]);
        let runs = runs.as_array().expect("runs");
        runs.iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect()
    }
}

/// Delays a run: with its folder first in the PATH, each call of the mock agent waits until the gate lets it pass. So a run
/// still runs when another process has started, however long that took, and a kill always comes in its middle.
pub(crate) struct Gate {
    folder: PathBuf,
}

/// Replaces Python. Each call takes a number. A call whose run was killed exits and never passes.
const WAITS: &str = r#"#!/bin/sh
here=${0%/*}
# Whatever looks for Python now does not come here again.
PATH=${PATH#*:}
is_played() { [ "$(cat "/proc/$PPID/comm" 2>/dev/null)" = stamina ] || exit 1; }
n=1
until [ -e "$here/open" ] || mkdir "$here/calls/$n" 2>/dev/null; do
  [ -d "$here/calls" ] || exit 1
  n=$((n + 1))
done
until [ -e "$here/open" ] || [ "$n" -le "$(cat "$here/allowed")" ]; do
  is_played
  sleep 0.05
done
is_played
exec 'PYTHON' "$@"
"#;

/// Writes a script in the place of Python into a folder, in which `PYTHON` is the real one.
pub(crate) fn replace_python(folder: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::var_os("PATH").expect("a PATH");
    let python = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|file| file.exists());
    let script = script.replace("PYTHON", python.expect("Python").to_str().expect("UTF-8"));
    let file = folder.join("python3");
    std::fs::write(&file, script).expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
}

/// The PATH with a folder first.
pub(crate) fn path_with(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").expect("a PATH");
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("a PATH")
}

impl Gate {
    /// Lets this number of calls pass.
    pub(crate) fn new(home: &TestHome, calls: usize) -> Self {
        let gate = Self { folder: home.path("gate") };
        std::fs::create_dir_all(gate.folder.join("calls")).expect("a folder");
        gate.allow(calls);
        replace_python(&gate.folder, WAITS);
        gate
    }

    /// The PATH of a run that waits at this gate.
    pub(crate) fn path(&self) -> OsString {
        path_with(&self.folder)
    }

    /// Lets calls pass up to this number, counted from the first of all.
    pub(crate) fn allow(&self, calls: usize) {
        // Calls read the file at any time, so it is replaced as a whole.
        let new = self.folder.join("allowed.new");
        std::fs::write(&new, calls.to_string()).expect("a number");
        std::fs::rename(new, self.folder.join("allowed")).expect("a number");
    }

    /// Lets the waiting calls pass, and this number more.
    pub(crate) fn allow_more(&self, calls: usize) {
        let so_far = std::fs::read_dir(self.folder.join("calls")).expect("a folder").count();
        self.allow(so_far + calls);
    }

    /// Lets every call pass from now on.
    pub(crate) fn open(&self) {
        std::fs::write(self.folder.join("open"), "").expect("a file");
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `stamina serve`: what the app is to its window.
pub(crate) struct Served {
    child: Child,
    port: u64,
    token: String,
}

impl Served {
    pub(crate) fn new(home: &TestHome) -> Self {
        Self::with_command(home, |_| ())
    }

    /// With changes to its command, for example to its environment.
    pub(crate) fn with_command(home: &TestHome, change: impl FnOnce(&mut Command)) -> Self {
        std::fs::create_dir_all(home.path("ui")).expect("a folder");
        std::fs::write(home.path("ui/index.html"), "<!doctype html>").expect("a page");
        let mut command = home.command(&["serve", "--json", "--ui", "ui"]);
        change(&mut command);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("stamina serves");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let link: Value = serde_json::from_str(&line).expect("JSON");
        let token = link["token"].as_str().expect("a token").to_owned();
        Self { child, port: link["port"].as_u64().expect("a port"), token }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// Its standard error, if that is piped.
    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().expect("its standard error")
    }

    pub(crate) fn connect(&self) -> std::net::TcpStream {
        std::net::TcpStream::connect(("127.0.0.1", self.port as u16)).expect("it listens")
    }

    /// Sends a command; its answer is still to be read.
    pub(crate) fn begin(&self, name: &str, request: &Value) -> std::net::TcpStream {
        use std::io::Write as _;
        let mut stream = self.connect();
        let body = request.to_string();
        let head = format!(
            "POST /rpc/{name} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{TOKEN}: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("sent");
        stream
    }

    pub(crate) fn ask(&self, name: &str, request: &Value) -> Result<Value, Value> {
        use std::io::Read as _;
        let mut stream = self.begin(name, request);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
        let value = serde_json::from_str(body).expect("JSON");
        if head.starts_with("HTTP/1.1 200") { Ok(value) } else { Err(value) }
    }

    pub(crate) fn get(&self, name: &str, request: &Value) -> Value {
        self.ask(name, request).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Asks again after every change until the answer is the wanted one.
    pub(crate) fn until(&self, name: &str, request: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last_change = self.get("app_state", &json!({}))["change"].clone();
        let begun = std::time::Instant::now();
        loop {
            let answer = self.get(name, request);
            if wanted(&answer) {
                return answer;
            }
            assert!(begun.elapsed().as_secs() < 120, "{name} never was as wanted: {answer}");
            last_change = self.get("wait_for_changes", &json!({ "since": last_change, "timeout_ms": 5000 }))
                ["change"]
                .clone();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
