//! OpenCode: chat completions, JSON lines, and a session id that it chooses and prints in every line.
//!
//! Sessions are in an SQLite file below `~/.local/share/opencode`. If a first call ends before it prints anything, the id of
//! its session is in the log, else `--continue` resumes the last session of the folder. With an earlier session in HOME,
//! neither identifies the session of the call.

use model::EndReason;
use serde_json::json;

use crate::call_end::{Signs, decide, fault};
use crate::readers::opencode::read;
use crate::shell::{Command, is_id};
use crate::{Call, Ended, Harness, HarnessError, Invocation, Outcome};

const CONFIG: &str = ".stamina/opencode.json";
const LOGS: &str = ".local/share/opencode/log";
/// Key in the memory of a session: the last session of the folder may be an earlier one.
const AMBIGUOUS: &str = "ambiguous";

/// OpenCode 1.18.33.
#[derive(Debug)]
pub struct OpenCode;

impl Harness for OpenCode {
    facts!("opencode", "OpenCode", "opencode", "1.18.33", ChatCompletions, ["opencode", "--version"]);

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError> {
        let endpoint = call.endpoint;
        let direct = endpoint.is_direct();
        let model = if direct { endpoint.model.clone() } else { format!("bench/{}", endpoint.model) };
        let mut config = json!({
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": false,
            "share": "disabled",
            "model": model,
            "small_model": model,
            "permission": { "*": "allow" },
        });
        if !direct {
            // No prices, so that it does not compute an unknown cost. Its own limit on an answer is 32,000 as well.
            let limit = json!({
                "context": endpoint.context_window,
                "output": (endpoint.context_window / 4).clamp(1, 32_000),
            });
            config["provider"] = json!({ "bench": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "bench",
                "options": { "baseURL": "{env:BENCH_BASE_URL}", "apiKey": "{env:BENCH_API_KEY}" },
                "models": { (endpoint.model.as_str()): { "name": endpoint.model, "limit": limit } },
            }});
        }
        let command = Command::new(["opencode", "run", "--format", "json", "--auto", "-m"]).args([model]);
        let command = match call.session {
            Some(session) => match session.id.as_deref().filter(|id| is_id(id)) {
                Some(id) => command.args(["--session", id]),
                None if session.memory.contains_key(AMBIGUOUS) => {
                    return Err(HarnessError::NoSession {
                        harness: self.title().to_owned(),
                        why: "no session in its output, and an earlier one lies in HOME".to_owned(),
                    });
                }
                None => command.args(["--continue"]),
            },
            // With a title, OpenCode does not request one from the model.
            None => command.args(["--title", "stamina"]),
        };
        let command = command
            .prompt_on_stdin(call)
            .file(CONFIG, config.to_string())
            .env("OPENCODE_CONFIG", format!("{}/{CONFIG}", call.home))
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
            .env("OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS", "300000");
        let command = if direct {
            command
        } else {
            command.env("BENCH_BASE_URL", endpoint.v1()).env("BENCH_API_KEY", &endpoint.key)
        };
        command.done(self.title())
    }

    fn outcome(&self, call: &Call<'_>, ended: &Ended<'_>) -> Outcome {
        let read = read(ended.stdout);
        let mut signs = Signs::default();
        match (&read.error, read.finish.as_deref()) {
            (Some((name, message, status)), _) => {
                let reason = match name.as_str() {
                    "ContextOverflowError" => EndReason::ContextOverflow,
                    "ProviderAuthError" => EndReason::Endpoint,
                    _ => fault(*status, message),
                };
                signs.failed(reason, &format!("{name}: {message}"));
            }
            (None, Some("stop")) => signs.finished = ended.exit.code == Some(0),
            (None, Some("length")) => {
                signs.failed(EndReason::AgentError, "the model's answer was longer than an answer may be");
            }
            _ => {}
        }
        let is_known = call.session.is_some_and(|s| s.id.is_some());
        let looks = !is_known && call.earlier.is_none();
        let id =
            read.session.filter(|id| is_id(id)).or_else(|| if looks { from_log(ended.home) } else { None });
        let mut session = crate::next_session(call.session, id);
        if call.earlier.is_some() && session.id.is_none() {
            session.memory.insert(AMBIGUOUS.to_owned(), "1".to_owned());
        }
        let usage = read.record.tokens();
        let (end, message) = decide(ended, &read.record, signs);
        Outcome {
            session: Some(session),
            steps: read.record.into_steps(),
            usage,
            cost_usd: read.cost_usd,
            end,
            message,
        }
    }
}

/// The id of the session in the log, if there is exactly one.
fn from_log(home: &files::Tree) -> Option<String> {
    let mut found = None::<String>;
    for entry in home.list(LOGS).iter().filter(|e| !e.is_folder()).take(20) {
        let (bytes, _) = home.read_range(&files::join(LOGS, &entry.name), 0, 1 << 20).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|line| line.contains(" message=created ")) {
            let id = line.split(" id=").nth(1)?.split_whitespace().next().filter(|id| is_id(id))?;
            if id.starts_with("ses_") && found.replace(id.to_owned()).is_some_and(|other| other != id) {
                return None;
            }
        }
    }
    found
}
