//! Whether the agents of a run of tasks left processes that could write a verdict: doubts about its numbers, and a note on the run.

use model::counted;
use store::{ProcessesLeft, RunRecord, Store};

use crate::Workbench;
use crate::api::{ApiError, RunRef};
use crate::episodes::run_record;
use crate::named_attempts::{NAMED, first_named, named_attempt};

impl Workbench {
    /// In which attempts of a run no second verification confirmed a verdict that processes of the agent could write
    /// (`docs/metrics.md`, "Processes that an agent left"); `None` = in none that is known.
    pub fn processes_note(&self, request: &RunRef) -> Result<Option<String>, ApiError> {
        self.processes_note_of(&run_record(&self.store, &request.run)?)
    }

    /// The same of a run that was looked up.
    pub(crate) fn processes_note_of(&self, record: &RunRecord) -> Result<Option<String>, ApiError> {
        Ok(note(&processes_left(&self.store, record)?))
    }
}

/// What second verifications of a run came to; nothing where its benchmark has no tasks.
fn processes_left(store: &Store, record: &RunRecord) -> Result<ProcessesLeft, ApiError> {
    if !record.entry.benchmark.is_of_tasks() {
        return Ok(ProcessesLeft::default());
    }
    Ok(store.processes_left(record.entry.id, NAMED)?)
}

/// What of that makes the numbers of a run less sure than they look, in a few words each.
pub(crate) fn doubts_about_processes(store: &Store, record: &RunRecord) -> Result<Vec<String>, ApiError> {
    Ok(doubts(&processes_left(store, record)?))
}

fn doubts(left: &ProcessesLeft) -> Vec<String> {
    let doubt = |number: u32, finding: &str| {
        (number > 0).then(|| format!("{} {finding}", counted(number.into(), "attempt")))
    };
    let other = doubt(left.other, "came to other results without processes that the agent left");
    let unconfirmed = doubt(left.unconfirmed, "may have the verdict of processes that the agent left");
    other.into_iter().chain(unconfirmed).collect()
}

/// The note; `None` = each verdict is confirmed.
fn note(left: &ProcessesLeft) -> Option<String> {
    let all = left.other + left.unconfirmed;
    if all == 0 {
        return None;
    }
    let first = left.first.iter().map(|process| {
        let result = if process.has_other_results {
            "it came to other results, which count"
        } else {
            "none could be carried out, and the verdict may be theirs"
        };
        named_attempt(&process.episode, process.turn, process.attempt, result)
    });
    let mut text = format!(
        "In {} the agent left processes that could write the verdict, and no second verification without them confirmed it: {}.",
        counted(all.into(), "attempt"),
        first_named(first, all),
    );
    if left.same > 0 {
        text.push_str(&format!(" In {} one did.", counted(left.same.into(), "other attempt")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use store::UnconfirmedAttempt;

    use super::*;

    #[test]
    fn verdicts_that_nothing_confirms_are_counted_and_the_first_are_named() {
        let confirmed = ProcessesLeft { same: 2, ..ProcessesLeft::default() };
        assert_eq!((note(&confirmed), doubts(&confirmed)), (None, Vec::new()));
        let attempt = |turn, attempt, has_other_results| UnconfirmedAttempt {
            episode: "parser".to_owned(),
            turn,
            attempt,
            has_other_results,
        };
        let first = vec![attempt(2, 1, true), attempt(3, 2, false)];
        let left = ProcessesLeft { same: 1, other: 1, unconfirmed: 2, first };
        assert_eq!(
            note(&left).unwrap(),
            "In 3 attempts the agent left processes that could write the verdict, and no second verification without them confirmed \
             it: parser, turn 2 (it came to other results, which count); parser, turn 3, attempt 2 (none could be carried out, and the \
             verdict may be theirs); and 1 more. In 1 other attempt one did."
        );
        assert_eq!(
            doubts(&left),
            [
                "1 attempt came to other results without processes that the agent left",
                "2 attempts may have the verdict of processes that the agent left"
            ]
        );
        let single =
            ProcessesLeft { unconfirmed: 1, first: vec![attempt(1, 1, false)], ..ProcessesLeft::default() };
        assert!(note(&single).unwrap().starts_with("In 1 attempt the agent") && doubts(&single).len() == 1);
    }
}
