//! The example of `docs/harnesses.md`: loaded, and run with a program like the described one.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use harness::{Api, Call, CommandEnd, Exit, Harness, Outcome, Session};
use model::{EndReason, Tokens};

use crate::common::{ID, endpoint};

const DOCS: &str = include_str!("../../../docs/harnesses.md");

/// An agent like that of the example: it copies its input and prints its actions. Its counts are cumulative.
const AGENT: &str = r#"#!/bin/sh
[ "$1" = run ] && [ "$2" = --config ] && [ "$4" = --prompt-file ] || exit 9
n=1; [ "$6" = --session ] && { [ "$7" = s-1 ] || exit 8; n=2; }
cp "$3" "$HOME/config-$n"; cp "$5" "$HOME/prompt-$n"
[ "$MY_AGENT_KEY" = sk-attempt-6f3c ] || exit 7
echo "my agent 1.4.0"
echo '{"event": "begin", "session": {"id": "s-1"}}'
echo '{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "function": {"name": "shell", "arguments": "{\"command\": \"ls\"}"}}]}'
echo '{"role": "tool", "tool_call_id": "c1", "content": "server.py"}'
if [ -f "$HOME/fail" ]; then
  echo '{"event": "end", "ok": false, "error": {"text": "I am out of ideas", "http_status": null}}'
  exit 1
fi
echo "{\"totals\": {\"prompt_tokens\": $((n * 100)), \"cached_tokens\": $((n * 10)), \"completion_tokens\": $((n * 7))}}"
echo '{"event": "end", "ok": true}'
"#;

struct Stage(tempfile::TempDir);

impl Stage {
    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn play(&self, harness: &dyn Harness, prompt: &str, session: Option<&Session>) -> Outcome {
        let endpoint = endpoint();
        let (home, workspace) = (self.path("home"), self.path("workspace"));
        let call = Call {
            turn: 1,
            attempt: 1,
            prompt,
            session,
            earlier: None,
            session_id: ID,
            endpoint: &endpoint,
            seconds: 600,
            home: &home,
            workspace: &workspace,
        };
        let invocation = harness.invocation(&call).unwrap();
        for file in &invocation.files {
            let path = self.0.path().join("home").join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        let out = Command::new(self.0.path().join("bin").join(&invocation.argv[0]))
            .args(&invocation.argv[1..])
            .envs(invocation.env)
            .env("HOME", &home)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let tree = files::Tree::open(self.0.path().join("home").as_path()).unwrap();
        harness.outcome(
            &call,
            &CommandEnd {
                exit: Exit { code: out.status.code().map(i64::from), ..Exit::default() },
                stdout: &out.stdout,
                stderr: &out.stderr,
                home: &tree,
                model_requests: Some(1),
                changed: true,
                worked: false,
            },
        )
    }
}

#[test]
fn the_example_is_a_harness() {
    let text = DOCS.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let stage = Stage(tempfile::tempdir().unwrap());
    for name in ["home", "workspace", "bin"] {
        std::fs::create_dir(stage.0.path().join(name)).unwrap();
    }
    let file = stage.0.path().join("my_agent.toml");
    std::fs::write(&file, text).unwrap();
    let agent = stage.0.path().join("bin/my-agent");
    std::fs::write(&agent, AGENT).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();

    let harness = harness::load(&file).unwrap();
    assert_eq!((harness.name(), harness.title(), harness.version()), ("my_agent", "My agent", "1.4.0"));
    assert_eq!((harness.image(), harness.api()), ("example/my-agent:1.4.0", Api::ChatCompletions));
    assert_eq!(harness.probe(), ["my-agent", "--version"]);
    assert_eq!(harness.apis(), [Api::ChatCompletions]);
    let others = stage.0.path().join("others.toml");
    std::fs::write(
        &others,
        text.replace("other_apis = []", "other_apis = [\"messages\", \"chat_completions\"]"),
    )
    .unwrap();
    assert_eq!(harness::load(&others).unwrap().apis(), [Api::ChatCompletions, Api::Messages]);

    let prompt = "--make it\n'so' $(now)";
    let first = stage.play(&harness, prompt, None);
    assert_eq!((first.end, &first.message), (None, &None));
    let tokens = |n: u64| Tokens { input: Some(n * 100), cached: Some(n * 10), output: Some(n * 7) };
    assert_eq!(first.usage, tokens(1));
    assert_eq!(first.steps.len(), 1);
    assert_eq!(first.steps[0].tool_calls[0].result.as_deref(), Some("server.py"));
    let session = first.session.unwrap();
    assert_eq!((session.id.as_deref(), session.calls), (Some("s-1"), 1));

    let second = stage.play(&harness, "more", Some(&session));
    assert_eq!((second.end, second.usage), (None, tokens(1)));
    let read = |name: &str| std::fs::read_to_string(stage.0.path().join("home").join(name)).unwrap();
    assert_eq!((read("prompt-1"), read("prompt-2")), (prompt.to_owned(), "more".to_owned()));
    let config: serde_json::Value = serde_json::from_str(&read("config-2")).unwrap();
    assert_eq!(config["endpoint"], "http://172.20.0.1:41001/a/6f3c/v1");
    assert_eq!((&config["model"], &config["context"]), (&"mock-model".into(), &131_072.into()));

    std::fs::write(stage.0.path().join("home/fail"), "").unwrap();
    let third = stage.play(&harness, "more", second.session.as_ref());
    assert_eq!((third.end, third.message.as_deref()), (Some(EndReason::GaveUp), Some("I am out of ideas")));
    // What this call does not report is unknown.
    assert_eq!(third.usage, Tokens::default());
}
