//! A call and its result, assembled from recorded outputs of the real programs.
#![allow(dead_code, unreachable_pub, reason = "shared by test files, none of which needs all of it")]
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::path::{Path, PathBuf};

use harness::{Call, CommandEnd, Endpoint, Exit, Harness, Outcome, Session};

pub const ID: &str = "0f0e0d0c-0b0a-4908-8706-050403020100";

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub fn endpoint() -> Endpoint {
    Endpoint {
        base_url: "http://172.20.0.1:41001/a/6f3c".into(),
        key: "sk-attempt-6f3c".into(),
        model: "mock-model".into(),
        context_window: 131_072,
    }
}

/// The result of a command, built piece by piece.
pub struct CommandResult {
    pub home: tempfile::TempDir,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit: Exit,
    pub requests: Option<u32>,
    pub changed: bool,
    pub session: Option<Session>,
    pub earlier: Option<Session>,
}

impl CommandResult {
    pub fn empty() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            exit: Exit { code: Some(0), ..Exit::default() },
            requests: Some(2),
            changed: true,
            session: None,
            earlier: None,
        }
    }

    /// The recorded output `case` in a folder.
    pub fn case(folder: &Path, case: &str) -> Self {
        let read = |kind| std::fs::read(folder.join(format!("{case}.{kind}"))).unwrap_or_default();
        Self { stdout: read("stdout"), stderr: read("stderr"), ..Self::empty() }
    }

    pub fn code(mut self, code: i64) -> Self {
        self.exit.code = Some(code);
        self
    }

    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn with_session(mut self, session: Option<Session>) -> Self {
        self.session = session;
        self
    }

    /// Makes it a restarted session, in a HOME with an earlier session.
    pub fn with_earlier(mut self, earlier: Option<Session>) -> Self {
        self.earlier = earlier;
        self
    }

    pub fn outcome(&self, harness: &dyn Harness) -> Outcome {
        let endpoint = endpoint();
        let call = Call {
            turn: 1,
            attempt: 1,
            prompt: "build it",
            session: self.session.as_ref(),
            earlier: self.earlier.as_ref(),
            session_id: ID,
            endpoint: &endpoint,
            seconds: 600,
            home: harness::HOME,
            workspace: harness::WORKSPACE,
        };
        let home = files::Tree::open(self.home.path()).unwrap();
        harness.outcome(
            &call,
            &CommandEnd {
                exit: self.exit,
                stdout: &self.stdout,
                stderr: &self.stderr,
                home: &home,
                model_requests: self.requests,
                changed: self.changed,
                worked: false,
            },
        )
    }
}
