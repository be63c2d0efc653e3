//! What the agent did in an attempt: its files as one transcript, without what stands in the one before.

use std::hash::{DefaultHasher, Hash, Hasher};

use ingest::view;
use model::{Artifact, ArtifactKind, Step, StepKind, Transcript, counted};

use crate::Workbench;
use crate::api::{ApiError, AttemptRef};
use crate::episode_details::{FoundEpisode, unreadable};

/// Most steps of an attempt with several files.
const MOST_STEPS: usize = 20_000;
/// Most memory that they take, in bytes.
const MOST_BYTES: usize = 64 << 20;

impl Workbench {
    /// What the agent did in an attempt. Where its transcript continues with that of the attempt before, as it does where an
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
        found: &FoundEpisode,
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
        found: &FoundEpisode,
        (turn, attempt): (u32, u32),
    ) -> Result<Option<Transcript>, ApiError> {
        self.transcript_in(found, &self.artifacts(found, Some(turn), Some(attempt))?)
    }

    /// Everything that the transcripts among some files hold; `None` = there is none.
    pub(crate) fn transcript_in(
        &self,
        found: &FoundEpisode,
        artifacts: &[Artifact],
    ) -> Result<Option<Transcript>, ApiError> {
        if artifacts.iter().all(|artifact| artifact.kind != ArtifactKind::Transcript) {
            return Ok(None);
        }
        let tree = self.tree_of(&found.run)?;
        let mut whole: Option<JoinedTranscript> = None;
        for artifact in artifacts.iter().filter(|a| a.kind == ArtifactKind::Transcript) {
            let read = || {
                view::transcript(&tree, &found.run.entry.format, artifact)
                    .map_err(|e| unreadable(&artifact.path, &e))
            };
            match &mut whole {
                None => whole = Some(JoinedTranscript::new(read()?)),
                Some(whole) => {
                    let entry = tree.entry(&artifact.path).filter(|_| artifact.pointer.is_none());
                    if whole.has_room(entry.map_or(0, |entry| entry.size)) {
                        whole.add(read()?, artifact);
                    } else {
                        whole.files_cut += 1;
                    }
                }
            }
        }
        Ok(whole.map(JoinedTranscript::finish))
    }
}

/// The files of an attempt as one transcript, in bounded memory. The first has the bounds of its format only; each further
/// one is read if there is room for it.
struct JoinedTranscript {
    transcript: Transcript,
    /// Bytes that its steps take.
    bytes: usize,
    most: (usize, usize),
    files_cut: u64,
}

impl JoinedTranscript {
    fn new(first: Transcript) -> Self {
        let bytes = first.steps.iter().map(bytes_of).sum();
        Self { transcript: first, bytes, most: (MOST_STEPS, MOST_BYTES), files_cut: 0 }
    }

    /// Whether a file of so many bytes is read.
    fn has_room(&self, bytes: u64) -> bool {
        let remaining = self.most.1.saturating_sub(self.bytes) as u64;
        self.transcript.steps.len() < self.most.0 && remaining > 0 && bytes <= remaining
    }

    /// Adds the steps of a further file, as far as there is room. From the first one that has none on all are left out.
    fn add(&mut self, part: Transcript, artifact: &Artifact) {
        let mut is_full = false;
        let heading = heading(&part, artifact);
        for step in std::iter::once(heading).chain(part.steps) {
            let bytes = bytes_of(&step);
            is_full |= self.transcript.steps.len() >= self.most.0 || self.bytes + bytes > self.most.1;
            if is_full {
                self.transcript.steps_cut += 1;
            } else {
                self.bytes += bytes;
                self.transcript.steps.push(step);
            }
        }
        self.transcript.steps_cut += part.steps_cut;
    }

    fn finish(mut self) -> Transcript {
        if self.files_cut > 0 {
            let files = counted(self.files_cut, "more file");
            self.transcript.steps.push(line(format!(
                "Not shown, because the transcript is too large: {files} of this attempt"
            )));
        }
        self.transcript
    }
}

/// About the memory that a step takes, in bytes.
fn bytes_of(step: &Step) -> usize {
    const ONE: usize = size_of::<Step>() + 64;
    const CALL: usize = size_of::<model::ToolCall>() + 64;
    let calls = step.tool_calls.iter().map(|call| {
        let result = call.result.as_ref().map_or(0, String::len);
        CALL + call.name.len() + call.summary.len() + call.arguments.len() + result
    });
    ONE + step.text.len() + step.reasoning.as_ref().map_or(0, String::len) + calls.sum::<usize>()
}

/// What stands above the steps of a further file of an attempt: whose they are, or where they lie.
fn heading(part: &Transcript, artifact: &Artifact) -> Step {
    line(match &part.agent {
        Some(agent) => format!("Sub-agent {agent}"),
        None => format!("File {}", files::file_name(&artifact.path)),
    })
}

/// A line of Stamina Lab among the steps.
fn line(text: String) -> Step {
    Step { text, ..Step::new(StepKind::System) }
}

/// The places of the steps of the attempt before among those of an attempt, if all of them stand there in their order and
/// more besides.
pub(crate) fn places_of<T>(
    steps: &[T],
    earlier: &[T],
    is_same: impl Fn(&T, &T) -> bool,
) -> Option<Vec<usize>> {
    if earlier.is_empty() || steps.len() <= earlier.len() {
        return None;
    }
    let mut own = steps.iter().enumerate();
    earlier.iter().map(|before| own.find(|(_, step)| is_same(step, before)).map(|(place, _)| place)).collect()
}

/// Takes the steps of the attempt before out, if all of them stand here in their order and more besides.
fn leave_out(steps: &mut Vec<Step>, earlier: &[Step], (turn, attempt): (u32, u32)) {
    let Some(places) = places_of(steps, earlier, is_same) else { return };
    let first = places[0];
    let mut place = 0;
    steps.retain(|_| {
        let is_earlier = places.binary_search(&place).is_ok();
        place += 1;
        !is_earlier
    });
    let count = counted(places.len() as u64, "step");
    // That attempt may itself continue with one before it.
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

/// A number that is the same for steps that are one: what is kept of the steps of an attempt before.
pub(crate) fn print_of(step: &Step) -> u64 {
    let mut hasher = DefaultHasher::new();
    (step.kind as u8, &step.text, &step.reasoning, step.tool_calls.len()).hash(&mut hasher);
    for call in &step.tool_calls {
        (&call.name, &call.arguments).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn the_files_of_an_attempt_are_bounded_together() {
        let file = Artifact::new(ArtifactKind::Transcript, "agent/trajectory-2.json");
        let transcript_with = |words: &[&str]| Transcript { steps: steps_of(words), ..Transcript::default() };
        let mut whole = JoinedTranscript::new(transcript_with(&["a", "b"]));
        let half = whole.bytes / 2;
        // Room for five steps, one of them the heading of the second file.
        whole.most = (5, 100 * half);
        assert!(whole.has_room(98 * half as u64) && !whole.has_room(98 * half as u64 + 1));
        whole.add(transcript_with(&["c", "d", "e", "f"]), &file);
        assert!(!whole.has_room(0));
        whole.files_cut += 3;
        let whole = whole.finish();
        let last = "Not shown, because the transcript is too large: 3 more files of this attempt";
        assert_eq!(texts(&whole.steps), ["a", "b", "File trajectory-2.json", "c", "d", last]);
        assert_eq!(whole.steps_cut, 2);
        // The same of memory.
        let mut whole = JoinedTranscript::new(transcript_with(&["a"]));
        whole.most = (100, 10_000);
        whole.add(transcript_with(&["c", &"x".repeat(10_000), "y"]), &file);
        assert_eq!(whole.finish().steps_cut, 2);
    }

    #[test]
    fn the_print_of_a_step_is_the_same_for_steps_that_are_one() {
        let steps = steps_of(&["a", "b", "a", ""]);
        for (a, b) in steps.iter().flat_map(|a| steps.iter().map(move |b| (a, b))) {
            assert_eq!(print_of(a) == print_of(b), is_same(a, b));
        }
        let user = Step { kind: StepKind::User, ..steps[0].clone() };
        assert_ne!(print_of(&user), print_of(&steps[0]));
    }

    fn steps_of(words: &[&str]) -> Vec<Step> {
        words.iter().map(|word| Step { kind: StepKind::Agent, ..line((*word).to_owned()) }).collect()
    }

    fn texts(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.text.as_str()).collect()
    }

    #[test]
    fn only_a_session_that_goes_on_leaves_earlier_steps_out() {
        let without_earlier = |steps: &[&str], earlier: &[&str], before| {
            let mut steps = steps_of(steps);
            leave_out(&mut steps, &steps_of(earlier), before);
            steps
        };
        let continued = without_earlier(&["a", "b", "c"], &["a", "b"], (1, 1));
        assert_eq!(texts(&continued), ["Earlier in this session, not shown: 2 steps of turn 1", "c"]);
        // A line of the new part may stand before what is repeated, and between.
        let mixed = without_earlier(&["new", "a", "x", "b"], &["a", "b"], (2, 3));
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
            assert_eq!(texts(&without_earlier(steps, earlier, (1, 1))), steps, "{earlier:?}");
        }
    }
}
