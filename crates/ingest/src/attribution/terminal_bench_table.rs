//! What a trial's `failure_mode` says of an end, as a table. Read off Terminal-Bench 0.2.18.
//!
//! Tests run after whatever became of the agent, so `is_resolved` may stand beside any of them. What the word does not decide is
//! the agent's, marked as not recognized.

use model::EndReason;

use super::decision::Decision;

/// What the record of a trial shows besides the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The agent began, or left something.
    Begun,
    /// Nothing shows that the container ever stood: `tb` itself failed.
    NeverBegun,
}

/// Why a trial was not resolved, and whether its cause is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) reason: EndReason,
    pub(crate) recognized: bool,
}

/// The words of the table, but for those that say nothing of a cause.
const WORDS: [&str; 9] = [
    "agent_timeout",
    "context_length_exceeded",
    "output_length_exceeded",
    "fatal_llm_parse_error",
    "agent_installation_failed",
    "test_timeout",
    "parse_error",
    "unknown_agent_error",
    "unknown",
];

/// What a policy calls the row of a word: `tb unknown_agent_error, begun`. `None` = the word says nothing of a cause.
pub(crate) fn row(word: Option<&str>, stage: Stage) -> Option<String> {
    let word = word.filter(|word| !matches!(*word, "unset" | "none"))?;
    let word = if WORDS.contains(&word) { word } else { "any other" };
    Some(format!("tb {word}, {}", stage.as_str()))
}

/// Every row of the table.
pub(crate) fn decisions() -> Vec<Decision> {
    let rows = WORDS.into_iter().chain(["any other"]).flat_map(|word| {
        [Stage::Begun, Stage::NeverBegun].map(|stage| {
            let Cause { reason, recognized } = cause(Some(word), false, stage);
            let rule = if recognized { "" } else { ", cause not recognized" };
            Decision {
                row: format!("tb {word}, {}", stage.as_str()),
                exceptions: format!("failure mode {word} of tb"),
                stage: stage.as_str(),
                rule: format!("{}{rule}", reason.label()),
            }
        })
    });
    rows.collect()
}

impl Stage {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::NeverBegun => "never begun",
        }
    }
}

/// The cause of a trial that is not resolved. `judged` says whether the tests gave a verdict.
pub(crate) fn cause(word: Option<&str>, judged: bool, stage: Stage) -> Cause {
    let recognized = |reason| Cause { reason, recognized: true };
    let unclear = Cause { reason: EndReason::AgentError, recognized: false };
    match word {
        None | Some("unset" | "none") if judged => recognized(EndReason::TestsFailed),
        None | Some("unset" | "none") => recognized(EndReason::NoVerdict),
        Some("agent_timeout") => recognized(EndReason::AgentTimeout),
        Some("context_length_exceeded") => recognized(EndReason::ContextOverflow),
        Some("output_length_exceeded") => recognized(EndReason::AgentError),
        Some("fatal_llm_parse_error") => recognized(EndReason::ToolCallFormat),
        Some("agent_installation_failed") => recognized(EndReason::Environment),
        Some("test_timeout") => recognized(EndReason::VerifierTimeout),
        Some("parse_error") => recognized(EndReason::VerifierError),
        Some("unknown_agent_error") if stage == Stage::NeverBegun => recognized(EndReason::Environment),
        _ => unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_documented_one() {
        let doc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let doc = std::fs::read_to_string(doc).unwrap();
        let (_, doc) = doc.split_once("\n## Terminal-Bench run (tb)\n").unwrap();
        let (doc, _) = doc.split_once("\n## ").unwrap();
        let mut rows = 0;
        for row in doc.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            for word in cells[1].split(", ").map(|word| word.trim_matches('`')) {
                for (cell, judged, stage) in
                    [(2, true, Stage::Begun), (3, false, Stage::Begun), (4, false, Stage::NeverBegun)]
                {
                    let cause = cause(Some(word), judged, stage);
                    let label =
                        if cause.recognized { cause.reason.label() } else { "agent error, not recognized" };
                    assert_eq!(label, cells[cell], "{word}, {judged}, {stage:?}");
                }
                rows += 1;
            }
        }
        assert_eq!(rows, 11);
    }
}
