//! What the agent did, step by step, in one form for every harness.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Tokens;

/// Who is the author of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Instructions of the harness.
    System,
    /// The request, or feedback on it.
    User,
    /// The agent: text, reasoning, tool calls.
    Agent,
    /// Output of a tool that no call of the same step claims.
    Tool,
}

/// One call of a tool with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCall {
    /// The name of the tool, such as `bash`.
    pub name: String,
    /// One line about what the call does: the command, the file.
    pub summary: String,
    /// The arguments, pretty JSON or plain text.
    pub arguments: String,
    /// The result; `None` = not recorded.
    pub result: Option<String>,
    /// Bytes cut from the end of `result` (0 = complete).
    pub result_cut: u64,
    /// Whether the source marks the call as failed; `None` = not recorded.
    pub is_error: Option<bool>,
    /// Seconds that the call took.
    pub seconds: Option<f64>,
}

/// One action of the agent, or one message to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Step {
    /// Position in the transcript, from 1.
    pub index: u32,
    /// Who is the author.
    pub kind: StepKind,
    /// Plain text of the message.
    pub text: String,
    /// Bytes cut from the end of `text` (0 = complete).
    pub text_cut: u64,
    /// The reasoning of the model, if recorded.
    pub reasoning: Option<String>,
    /// The tool calls of this step.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens of the model call.
    pub tokens: Option<Tokens>,
    /// Cost of the model call in US dollars.
    pub cost_usd: Option<f64>,
    /// The time, RFC 3339.
    pub at: Option<String>,
}

impl Step {
    /// A step with only an author.
    pub const fn new(kind: StepKind) -> Self {
        Self {
            index: 0,
            kind,
            text: String::new(),
            text_cut: 0,
            reasoning: None,
            tool_calls: Vec::new(),
            tokens: None,
            cost_usd: None,
            at: None,
        }
    }
}

/// The steps of one attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Transcript {
    /// In order.
    pub steps: Vec<Step>,
    /// The format of the source, such as `ATIF-v1.8`.
    pub format: Option<String>,
    /// The agent, if the source names it.
    #[serde(default)]
    pub agent: Option<String>,
    /// Steps after the last shown one that are omitted because the file is too large.
    pub steps_cut: u64,
}
