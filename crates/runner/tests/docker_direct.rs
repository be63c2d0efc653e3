//! Direct mode in containers: keys are handed on to an agent that finds its model by itself, and nobody but its own output says what it
//! has used.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use model::{Attempt, EndReason};
use runner::Finish;

use crate::common;

/// What the user of this machine has in the environment. Values that have to stay out of files, and one that does not.
const SECRET: [(&str, &str); 4] = [
    ("AWS_ACCESS_KEY_ID", "AKIAZ7TESTTESTTEST42"),
    ("AWS_SECRET_ACCESS_KEY", "wJalr/XUtnFEMI+K7MDENG/bPxRfiCYtestKEY01"),
    ("AWS_SESSION_TOKEN", "FwoGZXIvYXdzEXAMPLE//////////wEaDtest=="),
    ("OWN_MODEL_KEY", "own-0123456789-\"quoted\"-key"),
];
const REGION: (&str, &str) = ("AWS_REGION", "eu-central-1");
/// What is not named is not handed on.
const UNNAMED_SECRET: (&str, &str) = ("OTHER_MODEL_KEY", "other-0123456789-key");

/// An agent that shows what it was given wherever an agent can write, and what it has used as its lines of messages say. Words
/// alone in braces would be placeholders.
const AGENT: &str = r#"
import json, os, signal, sys, time
def say(**line):
    print(json.dumps(line), flush=True)
names = "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION OWN_MODEL_KEY OTHER_MODEL_KEY".split()
values = [name + " " + str(len(os.environ.get(name, ""))) + " " + os.environ.get(name, "")[:3] for name in names]
value = os.environ["OWN_MODEL_KEY"]
call = dict(id="c1", type="function", function=dict(name="write", arguments=json.dumps(dict(path="notes.txt", text=value))))
say(role="assistant", content="I have " + "; ".join(values), tool_calls=[call],
    usage=dict(prompt_tokens=1000, completion_tokens=20, prompt_tokens_details=dict(cached_tokens=400)))
for name in ("notes.txt", "run.sh"):
    with open("/workspace/" + name, "w") as file:
        file.write("echo \"$0\"; cat notes.txt; exit 3\n" if name == "run.sh" else value + os.environ["AWS_SECRET_ACCESS_KEY"])
with open(os.path.join(os.environ["HOME"], "session.json"), "w") as file:
    json.dump(dict(os.environ), file)
say(role="tool", tool_call_id="c1", content="wrote " + value)
print("keys: " + repr([os.environ.get(name) for name in names]), file=sys.stderr, flush=True)
"#;
/// How it ends by itself, and how it does not: in the middle of a line, with no regard for signals.
const ENDS: &str = r#"
say(role="assistant", content="Done with " + value, usage=dict(prompt_tokens=2000, completion_tokens=30))
say(type="result", status="done")
"#;
const HANGS: &str = r#"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write(json.dumps(dict(role="assistant", content="not yet " + value))[:-9])
sys.stdout.flush()
with open("/workspace/hangs", "w") as file:
    file.write("it has said all that it says\n")
time.sleep(3600)
"#;

fn harness_file(room: &Path, name: &str, script: &str) -> PathBuf {
    let description = format!(
        r#"
name = "own_agent"
title = "Own agent"
version = "1"
image = "stamina/base:1"
api = "chat_completions"
probe = ["python3", "--version"]

[commands]
first = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}"]
later = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}"]

[[files]]
path = "own/agent.py"
text = {}

[session]
from = "none"

[transcript]
reader = "openai-messages-jsonl"

[success]
exit_code = 0
last_line = {{ type = "result", status = "done" }}
"#,
        serde_json::Value::from(script)
    );
    let path = room.join(format!("{name}.toml"));
    std::fs::write(&path, description).unwrap();
    path
}

/// Plays one attempt of an agent in direct mode.
async fn played(room: &Path, name: &str, ends: &str, limit: &str) -> (PathBuf, Attempt) {
    let folder = room.join(name);
    let harness = format!("harness_file={}", harness_file(room, name, &format!("{AGENT}{ends}")).display());
    let more = [
        "use_docker=true",
        "agent=CUSTOM",
        "endpoint.mode=direct",
        "docker.env_vars=OWN_MODEL_KEY",
        "restful_server_gen_iterative.attempt_limit=1",
        "limits.cpus=1",
        limit,
        &harness,
    ];
    let settings = common::settings(&folder, &more);
    assert_eq!(runner::run(settings, Arc::new(|_| {})).await.unwrap(), Finish::Finished);
    let episode = common::episodes(&folder).into_iter().next().unwrap();
    (folder, episode.turns[0].attempts[0].clone())
}

/// The same for one that is cut off by the time that it may spend. A busy machine needs more of it: where its agent has not come
/// to where it hangs, there is nothing to look at yet, and it is given more.
async fn play_cut_off(room: &Path) -> (PathBuf, Attempt) {
    for minutes in [0.2, 0.8, 4.0] {
        let name = format!("cut-{minutes}");
        let (folder, attempt) =
            played(room, &name, HANGS, &format!("limits.attempt.minutes={minutes}")).await;
        if folder.join("scenario_0/agent_code/turn_1_attempt_1/hangs").exists() {
            return (folder, attempt);
        }
    }
    panic!("its agent does not come to where it hangs");
}

/// All files below a folder.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(open_folder) = open.pop() {
        for entry in std::fs::read_dir(&open_folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files
}

/// A program's environment can only be set before it begins: this is played by a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "played by the test below"]
async fn with_keys_in_the_environment() {
    if std::env::var_os("OWN_MODEL_KEY").is_none() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let ((folder, ended), (cut_folder, cut)) = tokio::join!(
        played(room.path(), "ended", ENDS, "limits.attempt_minutes=10"),
        play_cut_off(room.path())
    );

    // Its own output says what it has used: all of its requests, or those up to its end.
    assert_eq!(ended.end_reason, Some(EndReason::ServerFailed), "its agent has done its work");
    let tokens = |attempt: &Attempt| (attempt.tokens.input, attempt.tokens.cached, attempt.tokens.output);
    assert_eq!(tokens(&ended), (Some(3000), Some(400), Some(50)));
    assert_eq!(cut.end_reason, Some(EndReason::AttemptBudget));
    assert_eq!(tokens(&cut), (Some(1000), Some(400), Some(20)));
    assert_eq!((ended.tool_calls, cut.tool_calls), (Some(1), Some(1)));

    for folder in [folder, cut_folder] {
        let transcript = folder.join("scenario_0/transcripts/turn_1_attempt_1.json");
        let transcript = std::fs::read_to_string(transcript).unwrap();
        for (name, value) in SECRET.into_iter().chain([REGION]) {
            let shown = format!("{name} {} {}", value.len(), &value[..3]);
            assert!(transcript.contains(&shown), "{shown} was handed on: {transcript}");
        }
        assert!(transcript.contains(&format!("{} 0 ", UNNAMED_SECRET.0)), "{transcript}");
        let mut hidden = 0;
        for path in files_in(&folder) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            hidden += usize::from(text.contains("[secret]"));
            for (name, value) in SECRET {
                let quoted = serde_json::Value::from(value).to_string();
                for word in [value, quoted.trim_matches('"'), &value[4..]] {
                    assert!(!text.contains(word), "{name} stands in {}", path.display());
                }
            }
        }
        assert!(hidden >= 3, "the transcript, the log and the code would have had it: {hidden}");
    }
}

#[test]
#[ignore = "needs a container engine"]
fn keys_are_handed_on_and_stand_in_no_file() {
    let chain = runner::AWS_CHAIN.into_iter().chain(["AWS_DEFAULT_REGION"]);
    let mut child = Command::new(std::env::current_exe().unwrap());
    chain.for_each(|name| {
        child.env_remove(name);
    });
    let child = child
        .args(["--exact", "docker_direct::with_keys_in_the_environment", "--ignored", "--nocapture"])
        .envs(SECRET.into_iter().chain([REGION, UNNAMED_SECRET]))
        .output()
        .unwrap();
    let output =
        String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}
