//! Which attempts of a run something outside the agent ended, and of which attempts not everything is kept: notes on the run.

use model::counted;
use store::{AttemptRemarks, IncompleteAttempt};

use crate::Workbench;
use crate::api::{ApiError, RunRef};
use crate::episodes::run_record;
use crate::named_attempts::{NAMED, first_named, named_attempt};

/// Files and folders that a note names for each attempt.
const MOST_NAMES: usize = 3;

impl Workbench {
    /// In which attempts of a run the runner retried the agent because of something outside it, and of which it could not keep
    /// all of the workspace or container (`repeats` and `left_out` in `docs/formats.md`). Empty where no source states either.
    pub fn attempt_notes(&self, request: &RunRef) -> Result<Vec<String>, ApiError> {
        let record = run_record(&self.store, &request.run)?;
        let remarks = self.store.attempt_remarks(record.entry.id, NAMED)?;
        Ok([retried_note(&remarks), incomplete_note(&remarks)].into_iter().flatten().collect())
    }
}

/// The note on attempts that were retried; `None` = none is known.
fn retried_note(remarks: &AttemptRemarks) -> Option<String> {
    let (attempts, verb) = subject(remarks.retried_count)?;
    let first = remarks.first_retried.iter().map(|retried| {
        named_attempt(&retried.episode, retried.turn, retried.attempt, &counted(retried.repeats, "time"))
    });
    Some(format!(
        "{attempts} {verb} retried because of something outside the agent, such as the endpoint: {}.",
        first_named(first, remarks.retried_count)
    ))
}

/// The note on attempts of which not everything is kept; `None` = none is known.
fn incomplete_note(remarks: &AttemptRemarks) -> Option<String> {
    let (attempts, verb) = subject(remarks.incomplete_count)?;
    let first = remarks.first_incomplete.iter().map(|incomplete| {
        named_attempt(
            &incomplete.episode,
            incomplete.turn,
            incomplete.attempt,
            &format!("without {}", missing_names(incomplete)),
        )
    });
    Some(format!(
        "{attempts} {verb} not kept whole, and files of the workspace or container are missing in the results: {}.",
        first_named(first, remarks.incomplete_count)
    ))
}

/// `2 attempts` and `were`; `None` = there is none.
fn subject(attempts: u32) -> Option<(String, &'static str)> {
    let verb = if attempts == 1 { "was" } else { "were" };
    (attempts > 0).then(|| (counted(attempts.into(), "attempt"), verb))
}

/// `link, big/ and 3 more`.
fn missing_names(attempt: &IncompleteAttempt) -> String {
    let named = attempt.names.len().min(MOST_NAMES);
    let more = attempt.more.saturating_add((attempt.names.len() - named) as u64);
    let names = attempt.names[..named].join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

#[cfg(test)]
mod tests {
    use store::RetriedAttempt;

    use super::*;

    #[test]
    fn retried_and_incomplete_attempts_are_counted_and_the_first_are_named() {
        let none = AttemptRemarks::default();
        assert_eq!((retried_note(&none), incomplete_note(&none)), (None, None));
        let retried =
            |turn, attempt, repeats| RetriedAttempt { episode: "parser".to_owned(), turn, attempt, repeats };
        let incomplete = |names: &[&str], more| IncompleteAttempt {
            episode: "parser".to_owned(),
            turn: 1,
            attempt: 1,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            more,
        };
        let remarks = AttemptRemarks {
            retried_count: 3,
            first_retried: vec![retried(1, 1, 1), retried(2, 2, 3)],
            incomplete_count: 1,
            first_incomplete: vec![incomplete(&["link", "a", "b", "c"], 7)],
        };
        assert_eq!(
            retried_note(&remarks).unwrap(),
            "3 attempts were retried because of something outside the agent, such as the endpoint: parser, turn 1 (1 time); parser, \
             turn 2, attempt 2 (3 times); and 1 more."
        );
        assert_eq!(
            incomplete_note(&remarks).unwrap(),
            "1 attempt was not kept whole, and files of the workspace or container are missing in the results: parser, turn 1 \
             (without link, a, b and 8 more)."
        );
        assert_eq!(missing_names(&incomplete(&["link"], 0)), "link");
    }
}
