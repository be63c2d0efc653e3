//! What the agent did in an attempt: its files as one transcript, without what stands in the one before.

use ingest::view;
use model::{Artifact, ArtifactKind, Step, StepKind, Transcript, counted};

use crate::Workbench;
use crate::api::{ApiError, AttemptRef};
use crate::inspect::{Found, unreadable};

impl Workbench {
    /// What the agent did in an attempt. Where its transcript goes on with that of the attempt before, as it does where an
    /// agent's session is resumed, the steps of that one are left out and a line stands for them.
    pub fn get_transcript(&self, request: AttemptRef) -> Result<Transcript, ApiError> {
        let found = self.find(&request.run, &request.episode)?;
        let mut transcript =
            self.transcript_of(&found, (request.turn, request.attempt))?.ok_or_else(|| {
                ApiError::new("transcript.not_found", "This source keeps no transcript of this attempt")
            })?;
        // What cannot be read of the attempt before hides nothing of this one.
        if let Some(before) = self.attempt_before(&found, (request.turn, request.attempt))?
            && let Ok(Some(earlier)) = self.transcript_of(&found, before)
        {
            leave_out(&mut transcript.steps, &earlier.steps, before);
        }
        for (step, index) in transcript.steps.iter_mut().zip(1..) {
            step.index = index;
        }
        Ok(transcript)
    }

    /// Turn and number of the attempt before.
    fn attempt_before(
        &self,
        found: &Found,
        (turn, attempt): (u32, u32),
    ) -> Result<Option<(u32, u32)>, ApiError> {
        if attempt > 1 {
            return Ok(Some((turn, attempt - 1)));
        }
        let Some(number) = turn.checked_sub(1).filter(|turn| *turn > 0) else { return Ok(None) };
        let last = self.turn_of(found, number)?.and_then(|turn| turn.attempts.last().map(|last| last.number));
        Ok(last.map(|attempt| (number, attempt)))
    }

    /// Everything that the files of an attempt hold; `None` = it has none.
    fn transcript_of(
        &self,
        found: &Found,
        (turn, attempt): (u32, u32),
    ) -> Result<Option<Transcript>, ApiError> {
        self.transcript_in(found, &self.artifacts(found, Some(turn), Some(attempt))?)
    }

    /// Everything that the transcripts among some files hold; `None` = there is none.
    pub(crate) fn transcript_in(
        &self,
        found: &Found,
        artifacts: &[Artifact],
    ) -> Result<Option<Transcript>, ApiError> {
        if artifacts.iter().all(|artifact| artifact.kind != ArtifactKind::Transcript) {
            return Ok(None);
        }
        let tree = self.tree_of(&found.run)?;
        let mut whole: Option<Transcript> = None;
        for artifact in artifacts.iter().filter(|a| a.kind == ArtifactKind::Transcript) {
            let part = view::transcript(&tree, &found.run.entry.format, artifact)
                .map_err(|e| unreadable(&artifact.path, &e))?;
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => {
                    whole.steps.push(heading(&part, artifact));
                    whole.steps.extend(part.steps);
                    whole.steps_cut += part.steps_cut;
                }
            }
        }
        Ok(whole)
    }
}

/// What stands above the steps of a further file of an attempt: whose they are, or where they lie.
fn heading(part: &Transcript, artifact: &Artifact) -> Step {
    line(match &part.agent {
        Some(agent) => format!("Sub-agent {agent}"),
        None => format!("File {}", files::file_name(&artifact.path)),
    })
}

/// A line of our own among the steps.
fn line(text: String) -> Step {
    Step { text, ..Step::new(StepKind::System) }
}

/// Takes the steps of the attempt before out, if all of them stand here in their order and more besides.
pub(crate) fn leave_out(steps: &mut Vec<Step>, earlier: &[Step], (turn, attempt): (u32, u32)) {
    if earlier.is_empty() || steps.len() <= earlier.len() {
        return;
    }
    let mut own = steps.iter().enumerate();
    let places: Option<Vec<usize>> = (earlier.iter())
        .map(|before| own.find(|(_, step)| is_same(step, before)).map(|(place, _)| place))
        .collect();
    let Some(places) = places else { return };
    let first = places[0];
    let mut place = 0;
    steps.retain(|_| {
        let is_earlier = places.binary_search(&place).is_ok();
        place += 1;
        !is_earlier
    });
    let count = counted(places.len() as u64, "step");
    // That attempt may itself go on with one before it.
    let place = match (turn, attempt) {
        (1, 1) => "turn 1".to_owned(),
        (turn, 1) => format!("turn {turn} or before"),
        (turn, attempt) => format!("turn {turn}, attempt {attempt}, or before"),
    };
    steps.insert(first, line(format!("Earlier in this session, not shown: {count} of {place}")));
}

/// Whether two steps are one. A result may come later, and counts may be of the whole session.
fn is_same(a: &Step, b: &Step) -> bool {
    a.kind == b.kind
        && a.text == b.text
        && a.reasoning == b.reasoning
        && a.tool_calls.len() == b.tool_calls.len()
        && a.tool_calls
            .iter()
            .zip(&b.tool_calls)
            .all(|(a, b)| (&a.name, &a.arguments) == (&b.name, &b.arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> Vec<Step> {
        words.iter().map(|word| Step { kind: StepKind::Agent, ..line((*word).to_owned()) }).collect()
    }

    fn texts(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.text.as_str()).collect()
    }

    #[test]
    fn only_a_session_that_goes_on_leaves_earlier_steps_out() {
        let left = |steps: &[&str], earlier: &[&str], before| {
            let mut steps = said(steps);
            leave_out(&mut steps, &said(earlier), before);
            steps
        };
        let goes_on = left(&["a", "b", "c"], &["a", "b"], (1, 1));
        assert_eq!(texts(&goes_on), ["Earlier in this session, not shown: 2 steps of turn 1", "c"]);
        // A line of the new part may stand before what is repeated, and between.
        let mixed = left(&["new", "a", "x", "b"], &["a", "b"], (2, 3));
        assert_eq!(
            texts(&mixed),
            ["new", "Earlier in this session, not shown: 2 steps of turn 2, attempt 3, or before", "x"]
        );
        for (steps, earlier) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "c"], &["a", "b"]),
            (&["b", "a", "c"], &["a", "b"]),
            (&["a"], &[]),
        ] {
            assert_eq!(texts(&left(steps, earlier, (1, 1))), steps, "{earlier:?}");
        }
    }
}
