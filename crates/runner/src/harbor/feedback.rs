//! What an agent learns between attempts at a step, where the protocol has it (`harbor.protocol=ours`): that the step does not
//! pass yet, and the end of what its verifier printed, but nothing else of the verifier.

use model::EndReason;

use super::step_result::StepResult;
use super::trial::Trial;
use crate::prompt;
use crate::settings::TaskSettings;

/// Most bytes of an output in feedback.
const LONGEST_OUTPUT: usize = 16 << 10;

impl Trial<'_> {
    /// The end of the output of a verifier, for feedback. `None` = the protocol has no feedback, or no verifier ran.
    pub(super) fn verifier_output(&self, played: &StepResult) -> Option<String> {
        let gives_feedback = self.context.settings.tasks.as_ref().is_some_and(TaskSettings::gives_feedback);
        let output = played.tests.as_deref().filter(|_| gives_feedback)?;
        // A little more: a letter may begin before it.
        let start = output.len().saturating_sub(LONGEST_OUTPUT + 4);
        let text = String::from_utf8_lossy(output.get(start..).unwrap_or_default()).into_owned();
        let start = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_OUTPUT));
        Some(self.context.scrub.text(text.get(start..).unwrap_or_default()))
    }

    /// Keeps the feedback for the next attempt at the step.
    pub(super) fn keep_feedback(&mut self, reason: EndReason, verifier_output: Option<&str>) {
        let gives_feedback = self.context.settings.tasks.as_ref().is_some_and(TaskSettings::gives_feedback);
        self.feedback = gives_feedback.then(|| prompt::task_feedback(reason, verifier_output));
    }

    /// The prompt of a harness: the instruction of the step or, from the second attempt on, the feedback. A session that begins
    /// anew has no context, so it gets both.
    pub(super) fn prompt(&self, instruction: &str, begins: bool) -> String {
        match self.feedback.as_deref().filter(|_| self.attempt > 1) {
            None => instruction.to_owned(),
            Some(feedback) if begins => format!("{}\n\n{feedback}", instruction.trim_end()),
            Some(feedback) => feedback.to_owned(),
        }
    }
}
