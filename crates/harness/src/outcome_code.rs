//! The outcomes that a harness file cannot describe: programs whose session, usage or end only code can read. A harness file
//! names one with `outcome`. `docs/harnesses.md` says for each what the keys of the format cannot say.

mod claude_code;
mod codex;
mod kimi_cli;
mod kimi_code;
mod mini_swe;
mod opencode;
mod openhands;
mod qwen_code;
mod vibe;

use model::StepKind;
use serde::Deserialize;

use crate::usage::known_usage;
use crate::{Call, CommandEnd, HomeFile, Outcome, Session};

/// A program with code for its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Program {
    ClaudeCode,
    Codex,
    KimiCli,
    KimiCode,
    MiniSwe,
    Opencode,
    Openhands,
    QwenCode,
    Vibe,
}

impl Program {
    /// The outcome of a call.
    pub(crate) fn outcome(self, call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
        let mut outcome = self.outcome_with_reported_counts(call, ended);
        let is_answered = outcome.end.is_none() || outcome.steps.iter().any(|s| s.kind == StepKind::Agent);
        (outcome.usage, outcome.cost_usd) = known_usage((outcome.usage, outcome.cost_usd), is_answered);
        outcome
    }

    /// The outcome with the counts that the program wrote.
    fn outcome_with_reported_counts(self, call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
        match self {
            Self::ClaudeCode => claude_code::outcome(call, ended),
            Self::Codex => codex::outcome(call, ended),
            Self::KimiCli => kimi_cli::outcome(call, ended),
            Self::KimiCode => kimi_code::outcome(call, ended),
            Self::MiniSwe => mini_swe::outcome(call, ended),
            Self::Opencode => opencode::outcome(call, ended),
            Self::Openhands => openhands::outcome(call, ended),
            Self::QwenCode => qwen_code::outcome(call, ended),
            Self::Vibe => vibe::outcome(call, ended),
        }
    }

    /// The files of a session to write into HOME before its next call.
    pub(crate) fn files_before(self, session: &Session) -> Vec<HomeFile> {
        match self {
            Self::Openhands => openhands::answers(session),
            _ => Vec::new(),
        }
    }

    /// The file of its session, below HOME, where its outcome is read from that file.
    pub(crate) const fn session_file(self) -> Option<&'static str> {
        match self {
            Self::MiniSwe => Some(mini_swe::TRAJECTORY),
            _ => None,
        }
    }

    /// Whether the id of its session is always the one that the caller chose.
    pub(crate) const fn has_chosen_id(self) -> bool {
        matches!(self, Self::KimiCli)
    }

    /// Why a call left no session to continue: where its id was searched.
    pub(crate) fn no_session(self) -> &'static str {
        match self {
            Self::Codex => codex::NO_SESSION,
            Self::KimiCode => kimi_code::NO_SESSION,
            Self::Opencode => opencode::NO_SESSION,
            Self::Openhands => openhands::NO_SESSION,
            Self::Vibe => vibe::NO_SESSION,
            // Stamina Lab chooses their ids and files.
            Self::ClaudeCode | Self::KimiCli | Self::MiniSwe | Self::QwenCode => {
                "no id of a session in its output"
            }
        }
    }
}
