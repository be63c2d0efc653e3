//! Whether the agents of a run of tasks name places of the verifier: a note on the run. It accuses nobody; what came of a
//! verdict it does not know.

use model::{GraderPlace, counted};
use store::{GraderMentions, RunRecord};

use crate::Workbench;
use crate::api::{ApiError, RunRef};
use crate::episodes::run_record;
use crate::named_attempts::{NAMED, first_named, named_attempt};

impl Workbench {
    /// In which attempts of a run the agent's tool calls name places of the verifier (`docs/metrics.md`, "Places of the
    /// verifier"); `None` = in none that is known.
    pub fn grader_note(&self, request: &RunRef) -> Result<Option<String>, ApiError> {
        self.grader_note_of(&run_record(&self.store, &request.run)?)
    }

    /// The same of a run that was looked up.
    pub(crate) fn grader_note_of(&self, record: &RunRecord) -> Result<Option<String>, ApiError> {
        if !record.entry.benchmark.is_of_tasks() {
            return Ok(None);
        }
        Ok(note(&self.store.grader_mentions(record.entry.id, NAMED)?))
    }
}

/// The note; `None` = nothing is named.
fn note(mentions: &GraderMentions) -> Option<String> {
    if mentions.naming == 0 {
        return None;
    }
    let first = mentions.first.iter().map(|mention| {
        let places: Vec<&str> = mention.places.iter().map(|place| place.label()).collect();
        named_attempt(&mention.episode, mention.turn, mention.attempt, &places.join(", "))
    });
    let all: Vec<&str> = GraderPlace::ALL.iter().copied().map(GraderPlace::label).collect();
    let mut text = format!(
        "In {} of {} the agent's tool calls name a place of the verifier ({}): {}. That says what was named, and not what became of a verdict.",
        mentions.naming,
        counted(mentions.known.into(), "attempt"),
        all.join(", "),
        first_named(first, mentions.naming),
    );
    let unknown = mentions.attempts.saturating_sub(mentions.known);
    if unknown > 0 {
        text.push_str(&format!(
            " It is unknown for {}, of which no transcript is read.",
            counted(unknown.into(), "attempt")
        ));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use store::GraderMention;

    use super::*;

    #[test]
    fn a_note_says_what_was_named_where_and_of_how_many_nothing_is_known() {
        assert_eq!(note(&GraderMentions { attempts: 4, known: 3, ..GraderMentions::default() }), None);
        let mention = |turn, attempt, places: &[GraderPlace]| GraderMention {
            episode: "parser".to_owned(),
            turn,
            attempt,
            places: places.iter().copied().collect(),
        };
        let first = vec![
            mention(2, 1, &[GraderPlace::Tests]),
            mention(3, 2, &[GraderPlace::RewardFile, GraderPlace::VerifierLogs]),
        ];
        let mentions = GraderMentions { attempts: 9, known: 8, naming: 3, first };
        let places = "/tests, /logs/verifier, a reward file";
        assert_eq!(
            note(&mentions).unwrap(),
            format!(
                "In 3 of 8 attempts the agent's tool calls name a place of the verifier ({places}): parser, turn 2 (/tests); \
                 parser, turn 3, attempt 2 (/logs/verifier, a reward file); and 1 more. That says what was named, and not what \
                 became of a verdict. It is unknown for 1 attempt, of which no transcript is read."
            )
        );
        let all = GraderMentions { attempts: 8, first: Vec::new(), ..mentions };
        assert!(note(&all).unwrap().ends_with("became of a verdict."));
    }
}
