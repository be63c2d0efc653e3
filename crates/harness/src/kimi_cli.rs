//! Kimi CLI (archived by its makers; 1.52.0 is a stub that does nothing and exits with 0): chat completions, bare chat
//! messages as JSON lines, a session id of the caller's choice that begins or continues a session.
//!
//! Errors are plain lines on standard output, wrapped at 80 columns. Tokens stand in the session's `wire.jsonl` only, which
//! grows from call to call; how far it was read is kept in the session's memory.

use model::{EndReason, Tokens};
use serde_json::Value;

use crate::ends::{Signs, TAIL, decide, fault};
use crate::lines::{Line, at, count_at, lines, text_at};
use crate::readers::chat;
use crate::record::Record;
use crate::shell::{Command, is_uuid, toml_text};
use crate::wire::Wire;
use crate::{Call, Ended, Harness, HarnessError, Invocation, Outcome};

const CONFIG: &str = ".stamina/kimi.toml";
const SESSIONS: &str = ".kimi/sessions";

/// Kimi CLI 1.51.0.
#[derive(Debug)]
pub struct KimiCli;

impl Harness for KimiCli {
    facts!("kimi_cli", "Kimi CLI", "kimi-cli", "1.51.0", ChatCompletions, ["kimi", "--version"]);

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError> {
        let endpoint = call.endpoint;
        let id =
            call.session.and_then(|s| s.id.as_deref()).filter(|id| is_uuid(id)).unwrap_or(call.session_id);
        let command = if endpoint.is_direct() {
            // Without a file it goes by variables: KIMI_BASE_URL and KIMI_API_KEY are forwarded, or set in the image.
            Command::new(["kimi"])
                .env("KIMI_MODEL_NAME", &endpoint.model)
                .env("KIMI_MODEL_MAX_CONTEXT_SIZE", endpoint.context_window.to_string())
                .env("KIMI_DISABLE_TELEMETRY", "1")
        } else {
            let config = format!(
                "default_model = \"bench\"\ntelemetry = false\n\n\
                 [models.bench]\nprovider = \"bench\"\nmodel = {}\nmax_context_size = {}\n\n\
                 [providers.bench]\ntype = \"openai_legacy\"\nbase_url = {}\napi_key = {}\n",
                toml_text(&endpoint.model),
                endpoint.context_window,
                toml_text(&endpoint.v1()),
                toml_text(&endpoint.key),
            );
            Command::new(["kimi", "--config-file"])
                .args([format!("{}/{CONFIG}", call.home)])
                .file(CONFIG, config)
        };
        command
            .args(["--print", "--output-format", "stream-json", "--input-format", "text", "-S", id])
            .prompt_on_stdin(call)
            .env("KIMI_CLI_NO_AUTO_UPDATE", "1")
            .done(self.title())
    }

    fn outcome(&self, call: &Call<'_>, ended: &Ended<'_>) -> Outcome {
        let (mut record, mut signs) = (Record::default(), Signs::default());
        // The success mark: the last line is an answer that calls nothing.
        let mut answered = false;
        for line in lines(ended.stdout) {
            answered = false;
            if let Line::Json(line) = line {
                answered = text_at(&line, &["role"]) == Some("assistant")
                    && line.get("tool_calls").and_then(Value::as_array).is_none_or(Vec::is_empty);
                chat::message(&mut record, &line);
            }
        }
        signs.finished = answered && ended.exit.code == Some(0);
        if !signs.finished {
            let said = unwrapped(ended.stdout);
            let said = said.trim();
            if said.starts_with("Interrupted by user") {
                signs.failed(EndReason::KilledItself, "the harness was ended by SIGINT while it worked");
            } else if !said.is_empty() {
                signs.failed(fault(None, said), said);
            }
        }
        let id = call.session.and_then(|s| s.id.clone()).unwrap_or_else(|| call.session_id.to_owned());
        let mut session = crate::next_session(call.session, Some(id.clone()));
        let mut usage = Tokens::default();
        if is_uuid(&id) {
            for folder in ended.home.list(SESSIONS).into_iter().filter(files::Entry::is_folder).take(20) {
                let path = format!("{SESSIONS}/{}/{id}/wire.jsonl", folder.name);
                Wire::of(&mut session, "wire", ended.home, &path).read(|line| {
                    let message = line.get("message").unwrap_or(&Value::Null);
                    usage = usage.plus(tokens(message));
                });
            }
        }
        let (end, message) = decide(ended, &record, signs);
        Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd: None, end, message }
    }
}

/// The plain lines at the end, assembled again: it wraps at 80 columns, in the middle of words and after blanks.
fn unwrapped(stdout: &[u8]) -> String {
    let tail = &stdout[stdout.len().saturating_sub(TAIL)..];
    let mut all = String::new();
    for line in lines(tail) {
        if let Line::Text(text) = line {
            let full = text.chars().count() >= 79;
            all.push_str(&text);
            if text.chars().count() == 79 || !full {
                all.push(' ');
            }
        }
    }
    all
}

/// Tokens of a `StatusUpdate`, also one of a sub-agent.
fn tokens(message: &Value) -> Tokens {
    match text_at(message, &["type"]) {
        Some("StatusUpdate") => at(message, &["payload", "token_usage"]).map(parts).unwrap_or_default(),
        Some("SubagentEvent") => match at(message, &["payload", "event"]) {
            Some(inner) if text_at(inner, &["type"]) == Some("StatusUpdate") => tokens(inner),
            _ => Tokens::default(),
        },
        _ => Tokens::default(),
    }
}

fn parts(usage: &Value) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let sum = ["input_other", "input_cache_read", "input_cache_creation"].iter().filter_map(|k| count(k));
    Tokens {
        input: count("input_other").map(|_| sum.fold(0, u64::saturating_add)),
        cached: count("input_cache_read"),
        output: count("output"),
    }
}
