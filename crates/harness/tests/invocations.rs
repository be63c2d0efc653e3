//! The invocation of each harness, received by a program that replaces it: the request arrives unchanged, and no secret is an
//! argument.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::{Call, Endpoint, Harness, HarnessError, Invocation, Session};

use crate::common::{ID, endpoint};

/// Replaces all programs, and stores its arguments, variables and standard input.
const FAKE: &str = "#!/bin/sh\nmkdir -p \"$HOME/seen\"\nprintf '%s\\0' \"$0\" \"$@\" > \"$HOME/seen/argv\"\n\
                    env -0 > \"$HOME/seen/env\"\ncat > \"$HOME/seen/stdin\"\n";

struct Stage {
    folder: tempfile::TempDir,
}

struct Received {
    argv: Vec<String>,
    env: Vec<String>,
    stdin: String,
    home: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "workspace", "bin"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        for program in ["mini", "openhands", "opencode", "qwen", "kimi", "vibe", "claude", "codex", "python3"]
        {
            let path = folder.path().join("bin").join(program);
            std::fs::write(&path, FAKE).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    fn invocation(
        &self,
        harness: &dyn Harness,
        prompt: &str,
        session: Option<&Session>,
        endpoint: &Endpoint,
    ) -> Result<Invocation, HarnessError> {
        let path = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        harness.invocation(&Call {
            turn: 1,
            attempt: 1,
            prompt,
            session,
            earlier: None,
            session_id: ID,
            endpoint,
            seconds: 600,
            home: &path("home"),
            workspace: &path("workspace"),
        })
    }

    fn run(&self, invocation: &Invocation) -> Received {
        let home = self.folder.path().join("home");
        for file in &invocation.files {
            let path = home.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        let status = Command::new(resolve(&invocation.argv[0], &self.folder.path().join("bin")))
            .args(&invocation.argv[1..])
            .env_clear()
            .envs(invocation.env.iter().map(|(name, value)| (name, value)))
            .env("HOME", &home)
            .env("PATH", path)
            .current_dir(self.folder.path().join("workspace"))
            .stdin(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let read =
            |name: &str| String::from_utf8(std::fs::read(home.join("seen").join(name)).unwrap()).unwrap();
        let list = |name: &str| {
            let text = read(name);
            text.strip_suffix('\0').unwrap_or(&text).split('\0').map(str::to_owned).collect()
        };
        Received { argv: list("argv"), env: list("env"), stdin: read("stdin"), home }
    }
}

fn resolve(program: &str, bin: &Path) -> PathBuf {
    let fake = bin.join(program);
    if fake.exists() { fake } else { program.into() }
}

impl Received {
    /// The request, from an argument, a file or standard input.
    fn prompt(&self) -> String {
        let after = |flag: &str| self.argv.iter().skip_while(|a| *a != flag).nth(1).cloned();
        let file = after("-f")
            .or_else(|| after("--prompt-file"))
            .or_else(|| self.env.iter().find_map(|v| v.strip_prefix("STAMINA_PROMPT=").map(str::to_owned)))
            .or_else(|| self.argv.iter().find(|a| a.ends_with("/.stamina/prompt.md")).cloned());
        if let Some(file) = file {
            return std::fs::read_to_string(file).unwrap();
        }
        self.argv
            .iter()
            .find_map(|a| a.strip_prefix("--prompt=").map(str::to_owned))
            .unwrap_or_else(|| self.stdin.clone())
    }
}

fn prompts() -> Vec<String> {
    [
        "-starts like an option",
        "--help",
        "",
        "'; touch evil; '",
        "\"$(touch evil)\" `touch evil` ${HOME} $HOME %s %n \\n \\",
        "two\nlines\r\n\ttab\u{1b}[31m é \u{202e}",
        "@file !bang #hash ~ * ? [a] {b} && || ; | > evil",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("long {}", "x".repeat(100 * 1024))])
    .collect()
}

fn later_session(harness: &dyn Harness) -> Session {
    let id = if harness.name() == "opencode" { "ses_e0302d922ffeTIPyTr0w9hsrPC" } else { ID };
    Session { id: Some(id.into()), calls: 1, ..Session::default() }
}

#[test]
fn requests_arrive_unchanged() {
    let stage = Stage::new();
    for harness in harness::all() {
        let session = later_session(*harness);
        for prompt in prompts() {
            for session in [None, Some(&session)] {
                let received = stage.run(&stage.invocation(*harness, &prompt, session, &endpoint()).unwrap());
                assert_eq!(received.prompt(), prompt, "{}", harness.name());
                let left: Vec<_> =
                    std::fs::read_dir(stage.folder.path().join("workspace")).unwrap().collect();
                assert!(left.is_empty(), "{} with {prompt}: {left:?}", harness.name());
            }
        }
    }
}

#[test]
fn secrets_are_not_arguments() {
    let stage = Stage::new();
    let endpoint = endpoint();
    for harness in harness::all() {
        let invocation = stage.invocation(*harness, "x", None, &endpoint).unwrap();
        assert!(
            invocation.argv.iter().all(|a| !a.contains(&endpoint.key)),
            "{}: {:?}",
            harness.name(),
            invocation.argv
        );
        let holds = |text: &str, wanted: &str| text.contains(wanted);
        for setting in [&endpoint.key, &endpoint.base_url, &endpoint.model] {
            let passed = invocation.env.iter().any(|(_, value)| holds(value, setting))
                || invocation.files.iter().any(|file| holds(&file.text, setting))
                || invocation.argv.iter().any(|a| holds(a, setting));
            assert!(passed, "{} does not get {setting}", harness.name());
        }
        let received = stage.run(&invocation);
        assert!(
            received.home.join(".stamina").is_dir() || harness.name() == "kimi_code",
            "{}",
            harness.name()
        );
    }
}

#[test]
fn later_calls_name_the_continued_session() {
    let stage = Stage::new();
    for harness in harness::all() {
        let session = later_session(*harness);
        let id = session.id.clone().unwrap();
        let first = stage.invocation(*harness, "x", None, &endpoint()).unwrap();
        let second = stage.invocation(*harness, "x", Some(&session), &endpoint()).unwrap();
        match harness.name() {
            // Their sessions are files in HOME.
            // Stamina Lab chooses the session of Kimi CLI from the start.
            "mock" | "kimi_cli" => assert_eq!(first, second),
            // Its session is the trajectory in HOME, which a call without a session does not read.
            "mini_swe" => {
                assert_eq!(first.argv, second.argv);
                let names_it = |invocation: &Invocation| {
                    invocation.env.iter().any(|(key, _)| key == "STAMINA_TRAJECTORY")
                };
                assert!(!names_it(&first) && names_it(&second));
            }
            name => {
                assert!(second.argv.contains(&id), "{name}: {:?}", second.argv);
                let chosen = matches!(name, "qwen_code" | "claude_code");
                assert_eq!(first.argv.contains(&id), chosen, "{name}");
                assert_ne!(first.argv, second.argv, "{name}");
            }
        }
    }
}

#[test]
fn an_id_from_a_container_is_never_an_option() {
    let stage = Stage::new();
    for harness in harness::all() {
        for evil in ["--dangerous", "-x", "a b", "../../etc", "a;b", "", "é", &"a".repeat(300)] {
            let session = Session { id: Some(evil.to_owned()), calls: 1, ..Session::default() };
            match stage.invocation(*harness, "x", Some(&session), &endpoint()) {
                Ok(invocation) => {
                    assert!(
                        !invocation.argv.iter().any(|a| a == evil),
                        "{}: {:?}",
                        harness.name(),
                        invocation.argv
                    );
                }
                Err(error) => assert!(matches!(error, HarnessError::NoSession { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn names_of_models_are_data() {
    let stage = Stage::new();
    let endpoint = Endpoint { model: "org/model\"\n[x]\ny = 1 $(touch evil) {env:KEY}".into(), ..endpoint() };
    for harness in harness::all() {
        let invocation = stage.invocation(*harness, "x", None, &endpoint).unwrap();
        for file in &invocation.files {
            if file.path.ends_with(".toml") {
                let read: toml::Table = toml::from_str(&file.text).unwrap();
                let models = [&["models", "bench", "model"][..], &["model"][..]].into_iter();
                let found = models.filter_map(|keys| {
                    keys.iter().try_fold(&toml::Value::Table(read.clone()), |v, k| v.get(k)).cloned()
                });
                let listed = read.get("models").and_then(|m| m.get(0)).and_then(|m| m.get("name")).cloned();
                let found: Vec<_> = found.chain(listed).collect();
                assert!(found.iter().any(|m| m.as_str() == Some(&endpoint.model)), "{}", harness.name());
            }
            if file.path.ends_with("opencode.json") {
                let read: serde_json::Value = serde_json::from_str(&file.text).unwrap();
                assert!(read["provider"]["bench"]["models"].get(&endpoint.model).is_some());
            }
        }
        stage.run(&invocation);
        assert!(std::fs::read_dir(stage.folder.path().join("workspace")).unwrap().next().is_none());
    }
}

#[test]
fn a_request_that_is_too_long_is_an_error() {
    let stage = Stage::new();
    let long = "x".repeat(200 * 1024);
    for harness in harness::all() {
        match (harness.name(), stage.invocation(*harness, &long, None, &endpoint())) {
            ("kimi_code", Err(HarnessError::PromptTooLong { bytes, .. })) => assert!(bytes > 200 * 1024),
            ("kimi_code", other) => panic!("{other:?}"),
            (_, made) => assert_eq!(stage.run(&made.unwrap()).prompt(), long),
        }
    }
}

#[test]
fn direct_mode_names_no_endpoint() {
    let stage = Stage::new();
    let direct = Endpoint {
        base_url: String::new(),
        key: String::new(),
        model: "bedrock/m".into(),
        context_window: 1000,
    };
    for harness in harness::all() {
        match stage.invocation(*harness, "x", None, &direct) {
            Ok(invocation) => {
                let variables = [
                    "OPENAI_BASE_URL",
                    "OPENAI_API_KEY",
                    "LLM_BASE_URL",
                    "LLM_API_KEY",
                    "ANTHROPIC_BASE_URL",
                    "ANTHROPIC_AUTH_TOKEN",
                    "BENCH_API_KEY",
                ];
                assert!(
                    invocation.env.iter().all(|(name, _)| !variables.contains(&name.as_str())),
                    "{}",
                    harness.name()
                );
                let passed = invocation
                    .argv
                    .iter()
                    .chain(invocation.env.iter().map(|(_, v)| v))
                    .chain(invocation.files.iter().map(|f| &f.text));
                let passed: Vec<&String> = passed.collect();
                assert!(passed.iter().any(|text| text.contains("bedrock/m")), "{}", harness.name());
                // No provider in a written file either.
                let named = ["provider]", "providers", "base_url", "api_key", "\"bench\""];
                let has = |text: &&&String| named.iter().any(|word| text.contains(word));
                assert_eq!(passed.iter().find(has), None, "{}", harness.name());
            }
            // The mock agent has no endpoint of its own.
            Err(error) => {
                assert!(matches!(error, HarnessError::NoDirect { .. }), "{error}");
                assert_eq!(harness.name(), "mock", "the README's agents have a direct mode");
            }
        }
    }
}

#[test]
fn names_are_found_in_any_case_and_an_unknown_name_lists_the_known_ones() {
    assert_eq!(harness::find(" MINI_SWE ").unwrap().name(), "mini_swe");
    let error = harness::find("aider\u{1b}").err().unwrap().to_string();
    assert_eq!(
        error,
        "no harness is called aider\\u{1b}; there are mini_swe, openhands, opencode, qwen_code, kimi_cli, kimi_code, vibe, \
         claude_code, codex, mock"
    );
    for harness in harness::all() {
        assert!(harness.image().ends_with(&format!(":{}", harness.version())), "{}", harness.name());
        assert!(!harness.probe().is_empty() && !harness.title().is_empty());
    }
}
