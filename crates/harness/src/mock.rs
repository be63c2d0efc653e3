//! The mock agent: a harness that every build of Stamina Lab has, for runs that test Stamina Lab and not an agent. It is a
//! short script in HOME, so it needs no image of its own and also runs without a container.

use model::EndReason;

use crate::call_end::{Signs, decide};
use crate::lines::{objects, text_at};
use crate::readers::chat;
use crate::record::Record;
use crate::shell::{Command, prompt_path};
use crate::{Api, Call, CommandEnd, Harness, HarnessError, Invocation, Outcome};

const SCRIPT: &str = include_str!("mock_agent.py");
const SCRIPT_FILE: &str = ".stamina/mock_agent.py";
const SESSION_FILE: &str = ".stamina/mock_session.json";

/// The mock agent.
#[derive(Debug)]
pub struct Mock;

impl Harness for Mock {
    fn name(&self) -> &'static str {
        "mock"
    }

    fn title(&self) -> &'static str {
        "mock agent"
    }

    fn image(&self) -> &'static str {
        "stamina/base:1"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn api(&self) -> Api {
        Api::ChatCompletions
    }

    fn probe(&self) -> Vec<String> {
        ["python3", "--version"].map(str::to_owned).into()
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError> {
        if call.endpoint.is_direct() {
            return Err(HarnessError::NoDirect { harness: self.title().to_owned() });
        }
        // -I: Python imports nothing from HOME or the workspace. -S: nothing that is installed beside it, which may take longer to
        // look for than all that it needs.
        Command::new(["python3", "-I", "-S"])
            .args([format!("{}/{SCRIPT_FILE}", call.home), prompt_path(call)])
            .args([
                format!("{}/{}", call.home, crate::session_file(call, SESSION_FILE)),
                call.workspace.to_owned(),
            ])
            .prompt_file(call)
            .file(SCRIPT_FILE, SCRIPT)
            .env("STAMINA_BASE_URL", &call.endpoint.base_url)
            .env("STAMINA_KEY", &call.endpoint.key)
            .env("STAMINA_MODEL", &call.endpoint.model)
            .done(self.title())
    }

    fn outcome(&self, call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
        let (mut record, mut signs) = (Record::default(), Signs::default());
        for line in objects(ended.stdout) {
            if text_at(&line, &["type"]) != Some("result") {
                chat::message(&mut record, &line);
                continue;
            }
            let message = text_at(&line, &["message"]).unwrap_or_default();
            match text_at(&line, &["status"]) {
                Some("done") => signs.finished = ended.exit.code == Some(0),
                Some("endpoint") => signs.failed(EndReason::Endpoint, message),
                Some("context") => signs.failed(EndReason::ContextOverflow, message),
                Some("tool_calls") => signs.failed(EndReason::ToolCallFormat, message),
                _ => signs.failed(EndReason::AgentError, message),
            }
        }
        let mut session = crate::next_session(call.session, None);
        crate::keep_session_file(&mut session, &crate::session_file(call, SESSION_FILE), SESSION_FILE);
        let usage = record.tokens();
        let (end, message) = decide(ended, &record, signs);
        Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd: None, end, message }
    }
}
