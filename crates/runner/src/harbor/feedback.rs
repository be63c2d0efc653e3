//! What an agent learns between attempts at a step, where the protocol has it (`harbor.protocol=ours`): that the step does not
//! pass yet, and the end of what its verifier printed. Nothing else of the verifier is told.

use model::EndReason;

use super::step::Played;
use super::trial::Trial;
use crate::prompt;
use crate::settings::TaskSettings;

/// Most bytes of an output that are told.
const TOLD: usize = 16 << 10;

impl Trial<'_> {
    /// What is told of the output of a verifier. `None` = nothing is told here, or no verifier ran.
    pub(super) fn told(&self, played: &Played) -> Option<String> {
        let gives_feedback = self.context.settings.tasks.as_ref().is_some_and(TaskSettings::gives_feedback);
        let output = played.tests.as_deref().filter(|_| gives_feedback)?;
        // A little more: a letter may begin before it.
        let from = output.len().saturating_sub(TOLD + 4);
        let text = String::from_utf8_lossy(output.get(from..).unwrap_or_default()).into_owned();
        let from = text.ceil_char_boundary(text.len().saturating_sub(TOLD));
        Some(self.context.scrub.text(text.get(from..).unwrap_or_default()))
    }

    /// Keeps what the next attempt at the step is told.
    pub(super) fn keep_feedback(&mut self, reason: EndReason, told: Option<&str>) {
        let gives_feedback = self.context.settings.tasks.as_ref().is_some_and(TaskSettings::gives_feedback);
        self.feedback = gives_feedback.then(|| prompt::task_feedback(reason, told));
    }

    /// What a harness is asked: the instruction of the step, and from the second attempt on the feedback. A session that begins
    /// anew knows nothing, so it is told both.
    pub(super) fn prompt(&self, instruction: &str, begins: bool) -> String {
        match self.feedback.as_deref().filter(|_| self.attempt > 1) {
            None => instruction.to_owned(),
            Some(feedback) if begins => format!("{}\n\n{feedback}", instruction.trim_end()),
            Some(feedback) => feedback.to_owned(),
        }
    }
}
