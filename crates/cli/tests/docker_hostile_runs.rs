//! Whole runs of hostile agents: each ends with its own reason, leaves nothing in the engine, and does not harm this
//! machine. The agent is a script, described by a TOML file; the model is the simulated one.
//!
//! What a single container withstands is in `crates/sandbox/tests/docker_hostile.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// What every script begins with: a request to its model, without which nothing counts as done.
const ASKS: &str = r#"
import json, os, sys, time, urllib.request
def ask():
    body = json.dumps(dict(model=os.environ["AGENT_MODEL"], messages=[dict(role="user", content="hello")])).encode()
    head = dict([("content-type", "application/json"), ("authorization", "Bearer " + os.environ["AGENT_KEY"])])
    urllib.request.urlopen(urllib.request.Request(os.environ["AGENT_URL"] + "/v1/chat/completions", body, head)).read()
def done():
    print(json.dumps(dict(type="result", status="done")), flush=True)
"#;

struct TestHome {
    temp: tempfile::TempDir,
}

/// A run that has ended.
struct Ran {
    output: Output,
    folder: PathBuf,
    events: Vec<Value>,
}

impl TestHome {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The description of an agent that does this.
    fn harness(&self, script: &str) -> PathBuf {
        let text = Value::from(format!("{ASKS}\n{script}"));
        let description = format!(
            r#"
name = "hostile"
title = "Hostile"
version = "1"
image = "stamina/base:1"
api = "chat_completions"
probe = ["python3", "--version"]

[commands]
first = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}"]
later = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}"]

[env]
AGENT_URL = "{{base_url}}"
AGENT_KEY = "{{key}}"
AGENT_MODEL = "{{model}}"

[[files]]
path = "own/agent.py"
text = {text}

[session]
from = "none"

[transcript]
reader = "none"

[success]
exit_code = 0
last_line = {{ type = "result", status = "done" }}
"#
        );
        let path = self.path("hostile.toml");
        std::fs::write(&path, description).unwrap();
        path
    }

    /// Plays one turn with one attempt.
    fn play(&self, script: &str, more: &[&str], env: &[(&str, &str)]) -> Ran {
        let folder = self.path("results");
        let output = Command::new(env!("CARGO_BIN_EXE_stamina"))
            .args(["run", "--json", "--values", "agent=CUSTOM"])
            .arg(format!("harness_file={}", self.harness(script).display()))
            .arg(format!("output_dir={}", folder.display()))
            .args(["restful_server_gen_iterative.n_scenarios=1", "restful_server_gen_iterative.n_turns=1"])
            .args(["restful_server_gen_iterative.attempt_limit=1", "limits.cpus=1", "limits.memory_gib=0.25"])
            .args(more)
            .envs(env.iter().copied())
            .env("STAMINA_DB", self.path("library.sqlite"))
            .env("HOME", self.temp.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let events = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        Ran { output, folder, events }
    }
}

impl Ran {
    fn errors(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn event(&self, name: &str) -> &Value {
        let found = self.events.iter().rev().find(|event| event["event"] == name);
        found.unwrap_or_else(|| panic!("no event {name}: {}", self.errors()))
    }

    /// How its only attempt ended.
    fn reason(&self) -> String {
        self.event("attempt")["end_reason"].as_str().unwrap_or("none").to_owned()
    }

    /// Nothing of the run is left in the engine.
    fn assert_clean(&self) {
        let text = std::fs::read_to_string(self.folder.join(".stamina/run.json")).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        let label = format!("label=org.stamina-lab.run={}", run["id"].as_str().unwrap());
        for list in [&["ps", "-aq"][..], &["network", "ls", "-q"], &["volume", "ls", "-q"]] {
            let left = Command::new("docker").args(list).args(["--filter", &label]).output().unwrap();
            assert!(left.status.success());
            assert_eq!(String::from_utf8_lossy(&left.stdout), "", "{list:?}");
        }
    }

    /// All bytes of files beneath the results, and whether one has this text. Links are not followed.
    fn look(&self, word: &str) -> (u64, Vec<PathBuf>) {
        let (mut bytes, mut found, mut folders) = (0, Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    folders.push(entry.path());
                } else if meta.is_file() {
                    bytes += meta.len();
                    let content = std::fs::read(entry.path()).unwrap();
                    if !word.is_empty() && content.windows(word.len()).any(|part| part == word.as_bytes()) {
                        found.push(entry.path());
                    }
                }
            }
        }
        (bytes, found)
    }
}

/// The least time: for those that the limit is to end. All others have more than any machine takes, since it is not what they
/// are about, and may begin before their container runs.
const LITTLE_TIME: &str = "limits.attempt_minutes=0.1";

/// Plays a script; the run finishes, the attempt ends for this reason, nothing is left.
fn ends(script: &str, more: &[&str], reason: &str) -> (TestHome, Ran) {
    let test_home = TestHome::new();
    let all = [&["endpoint.mode=oracle", "limits.attempt_minutes=10"], more].concat();
    let ran = test_home.play(script, &all, &[]);
    assert_eq!(ran.output.status.code(), Some(0), "{}", ran.errors());
    assert_eq!(ran.event("finished")["how"]["how"], "finished");
    assert_eq!(ran.reason(), reason, "{:?}", ran.event("attempt"));
    ran.assert_clean();
    (test_home, ran)
}

#[test]
#[ignore = "needs a container engine"]
fn a_fork_bomb_runs_into_the_limits_of_its_container() {
    let before = std::fs::read_dir("/proc").unwrap().count();
    ends(
        "ask()\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
        &["limits.pids=64", LITTLE_TIME],
        "agent_timeout",
    );
    // As far as a machine on which other tests run can tell.
    assert!(std::fs::read_dir("/proc").unwrap().count() < before + 500);
}

#[test]
#[ignore = "needs a container engine"]
fn a_full_disk_is_the_agents() {
    let (_test_home, ran) = ends(
        "ask()\nn = 0\nwhile True:\n    open('/workspace/' + str(n), 'wb').write(bytes(1 << 20)); n += 1; time.sleep(0.002)\n",
        &["limits.disk_gib=0.0625"],
        "agent_error",
    );
    let (bytes, _) = ran.look("");
    assert!(bytes < 200 << 20, "{bytes} bytes are left");
}

#[test]
#[ignore = "needs a container engine"]
fn links_to_the_root_lead_nowhere() {
    let (_test_home, ran) = ends(
        "ask()\nfor n in range(50):\n    os.symlink('/', '/workspace/root' + str(n))\n\
         os.symlink('/etc/passwd', '/workspace/run.sh')\nos.symlink('/proc/self/environ', '/workspace/notes.md')\n\
         os.symlink('../../../../../../etc', '/agent/etc')\ndone()\n",
        &[],
        "server_failed",
    );
    let code = ran.folder.join("scenario_0/agent_code/turn_1_attempt_1");
    assert_eq!(std::fs::read_dir(code).unwrap().count(), 0, "no link is kept, and none is followed");
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let (bytes, found) = ran.look(passwd.trim());
    assert!(found.is_empty() && bytes < 20 << 20, "{bytes} {found:?}");
}

#[test]
#[ignore = "needs a container engine"]
fn an_agent_that_kills_all_processes_kills_only_itself() {
    ends(
        "ask()\nimport signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)\n",
        &[],
        "killed_itself",
    );
}

#[test]
#[ignore = "needs a container engine"]
fn ten_thousand_open_files_are_not_to_be_had() {
    let (_test_home, ran) = ends(
        "ask()\nheld = []\nfor n in range(10000):\n    held.append(open('/tmp/' + str(n), 'w'))\ndone()\n",
        &[],
        "agent_error",
    );
    let log = std::fs::read_to_string(ran.folder.join("scenario_0/agent_logs/step_1.txt")).unwrap();
    assert!(log.contains("Too many open files"), "{log}");
}

#[test]
#[ignore = "needs a container engine"]
fn a_gigabyte_of_output_is_not_kept() {
    // It does nothing else wrong: it is done, and has made no server.
    let (_test_home, ran) = ends(
        "ask()\npiece = b'x' * 1023 + b'\\n'\nfor n in range(1 << 20):\n    sys.stdout.buffer.write(piece)\nsys.stdout.flush()\n\
         open('/workspace/notes.txt', 'w').write('printed')\ndone()\n",
        &[],
        "build_failed",
    );
    assert_eq!(ran.event("attempt")["verdict"], "error");
    let log = std::fs::read_to_string(ran.folder.join("scenario_0/agent_logs/step_1.txt")).unwrap();
    assert!(
        log.contains("bytes are left out here") && log.contains(r#""status": "done""#),
        "its end is kept"
    );
    let (bytes, _) = ran.look("");
    assert!(bytes < 30 << 20, "{bytes} bytes are left");
}

#[test]
#[ignore = "needs a container engine"]
fn an_agent_that_never_returns_is_ended() {
    ends(
        "import signal\nask()\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n    time.sleep(1)\n",
        &[LITTLE_TIME],
        "agent_timeout",
    );
}

/// A budget of time is another thing than the limit of a container, and holds without a gateway, too.
#[test]
#[ignore = "needs a container engine"]
fn a_budget_of_minutes_holds_in_direct_mode() {
    let test_home = TestHome::new();
    let script = "for n in range(6000):\n    time.sleep(0.1)\n";
    // In direct mode a harness finds its model by itself.
    let file = test_home.harness(script);
    let description = std::fs::read_to_string(&file).unwrap();
    let kept_lines: String = description
        .lines()
        .filter(|line| !line.starts_with("AGENT_"))
        .fold(String::new(), |all, l| all + l + "\n");
    std::fs::write(&file, kept_lines).unwrap();
    let folder = test_home.path("results");
    let run = Command::new(env!("CARGO_BIN_EXE_stamina"))
        .args([
            "run",
            "--json",
            "--values",
            "agent=CUSTOM",
            "endpoint.mode=direct",
            "limits.attempt.minutes=0.05",
        ])
        .arg(format!("harness_file={}", file.display()))
        .arg(format!("output_dir={}", folder.display()))
        .args(["restful_server_gen_iterative.n_scenarios=1", "restful_server_gen_iterative.n_turns=1"])
        .args(["restful_server_gen_iterative.attempt_limit=1", "limits.attempt_minutes=10"])
        .env("STAMINA_DB", test_home.path("library.sqlite"))
        .env("HOME", test_home.temp.path())
        .output()
        .unwrap();
    let events: Vec<Value> = String::from_utf8_lossy(&run.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ran = Ran { output: run, folder, events };
    assert_eq!(ran.reason(), "attempt_budget", "{}", ran.errors());
    let seconds = ran.event("attempt")["agent_seconds"].as_f64().unwrap();
    // Neither its own end nor the limit of its container was waited for, which come after ten minutes.
    assert!(seconds < 120.0, "{seconds} s of 3 s, and its last words");
    ran.assert_clean();
}

/// Values that are handed on stand in no file, whatever the agent does with them; its key and its HOME stay ours.
#[test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
fn what_is_handed_on_is_written_nowhere() {
    const VALUE: &str = "s3cret/val+ue\"of-the-test";
    let script = r#"
ask()
value = os.environ["SERVICE_TOKEN"]
print("printed", value, "as", json.dumps(value), flush=True)
print("told", value, file=sys.stderr, flush=True)
for n in range(40):
    sys.stdout.write(value[:7]); sys.stdout.flush(); time.sleep(0.02)
    sys.stdout.write(value[7:] + "\n"); sys.stdout.flush()
open("/workspace/notes.txt", "w").write("kept " + value)
open("/workspace/run.sh", "w").write("echo served '" + value + "'; exit 3\n")
print("uid", os.getuid(), "home", os.environ["HOME"], "key", os.environ["AGENT_KEY"][:3], flush=True)
done()
"#;
    let test_home = TestHome::new();
    let ran = test_home.play(
        script,
        &[
            "endpoint.mode=oracle",
            "docker.env_vars=SERVICE_TOKEN,AGENT_KEY",
            "docker.extra_docker_args=-u 0:0 -e HOME=/tmp -e AGENT_URL=http://192.0.2.1",
        ],
        &[("SERVICE_TOKEN", VALUE), ("AGENT_KEY", "the-real-key-of-somebody-1")],
    );
    assert_eq!(ran.reason(), "server_failed", "{}", ran.errors());
    let log = std::fs::read_to_string(ran.folder.join("scenario_0/agent_logs/step_1.txt")).unwrap();
    let (uid, home) = if rustix::process::geteuid().is_root() {
        ("1000".to_owned(), "/agent")
    } else {
        (rustix::process::getuid().as_raw().to_string(), "/agent")
    };
    assert!(log.contains(&format!("uid {uid} home {home}")), "{log}");
    assert!(log.contains("printed [secret]") && log.contains("told [secret]"), "{log}");
    assert!(!log.contains("key the"), "the attempt's own key counts: {log}");
    let errors = ran.errors();
    assert!(errors.contains("-u 0:0 -e HOME=/tmp") && errors.contains("not obeyed"), "{errors}");
    for word in [VALUE, "s3cret/val+ue\\\"of", "the-real-key-of-somebody-1"] {
        let (_, found) = ran.look(word);
        // The folders of the agent stay as it left them: it continues them.
        let state = ran.folder.join(".stamina/state");
        let found: Vec<&Path> =
            found.iter().map(PathBuf::as_path).filter(|path| !path.starts_with(&state)).collect();
        assert!(found.is_empty(), "{word}: {found:?}");
    }
    ran.assert_clean();
}

/// Reads a request, and says whether it came to the end of its body: what is not read when it is closed takes the answer with it.
fn read_request(stream: &mut TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let (mut request, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            return true;
        }
    }
    false
}

/// An endpoint that answers once, so that a run begins, and refuses the key from then on.
fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut answered = false;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            // Whoever connects and asks nothing is no request.
            if !read_request(&mut stream) {
                continue;
            }
            let (status, body) = if std::mem::replace(&mut answered, true) {
                ("401 Unauthorized", r#"{"error":{"message":"revoked","code":"invalid_api_key"}}"#)
            } else {
                (
                    "200 OK",
                    r#"{"choices":[{"message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
                )
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

/// A run in which the endpoint ended every episode has not finished well, whatever its episodes are.
#[test]
#[ignore = "needs a container engine"]
fn a_run_without_an_endpoint_fails_and_can_be_resumed() {
    let test_home = TestHome::new();
    let url = format!("endpoint.base_url={}", refusing());
    let ran = test_home.play("ask()\ndone()\n", &["endpoint.mode=gateway", &url, "custom.model_id=m"], &[]);
    assert_eq!(ran.output.status.code(), Some(1), "{}", ran.errors());
    // What no model answered is no attempt of its agent.
    assert!(!ran.events.iter().any(|event| event["event"] == "attempt"), "{:?}", ran.events);
    let finished = ran.event("finished");
    assert_eq!(finished["how"]["how"], "failed");
    let message = finished["how"]["message"].as_str().unwrap();
    assert!(message.contains("no request of the run was ever answered"), "{finished}");
    assert!(message.contains("401 Unauthorized: revoked"), "{finished}");
    assert!(ran.errors().contains("stamina resume"), "{}", ran.errors());
    ran.assert_clean();
}
