//! Why an attempt has no record, and how often it is retried then.

use serde::{Deserialize, Serialize};

use crate::RunError;

/// How often an attempt is retried because of something outside the agent, before it is given up.
pub(crate) const REPEATS: u32 = 3;

/// How often the attempt that an episode plays was retried because of something outside the agent. It stands in the status of the
/// episode, so a kill does not lose it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Repeats {
    turn: u32,
    attempt: u32,
    /// All of them.
    pub(crate) count: u32,
    /// Those until the attempt was given up the last time. A resume retries it as often again.
    given_up_after: u32,
}

impl Repeats {
    /// Those of an attempt: none yet, unless these are its own.
    pub(crate) fn for_attempt(self, turn: u32, attempt: u32) -> Self {
        if (self.turn, self.attempt) == (turn, attempt) {
            self
        } else {
            Self { turn, attempt, ..Self::default() }
        }
    }

    /// How many there were since the attempt began, or since a resume continued it after it had been given up.
    pub(crate) fn recent_count(self) -> u32 {
        self.count.saturating_sub(self.given_up_after)
    }

    /// Whether one more is allowed.
    pub(crate) fn are_left(self) -> bool {
        self.recent_count() < REPEATS
    }

    /// Counts one more.
    pub(crate) fn add(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// The attempt is given up.
    pub(crate) fn give_up(&mut self) {
        self.given_up_after = self.count;
    }
}

/// Why an attempt has no record.
#[derive(Debug)]
pub(crate) enum Unrecorded {
    /// The run stops, or a control request asks for a retry.
    Stopped,
    /// The endpoint caused the end.
    Endpoint(String),
    /// No request of the run was ever answered completely, so nothing is known of its agent.
    Unanswered {
        /// The result of its last request, in one line.
        cause: String,
        /// The last message of its harness.
        message: Option<String>,
        /// It sent no request to a model, so its harness may be what is broken.
        is_unasked: bool,
    },
    /// The containers failed.
    Containers {
        /// One line.
        cause: String,
        /// Whether the engine does not answer, so that waiting may help.
        is_gone: bool,
    },
    /// Its harness cannot be called with this request. A retry would fail too.
    Refused(String),
    /// Files of the run or the machine's disk: the run ends.
    Files(RunError),
}

impl From<RunError> for Unrecorded {
    fn from(error: RunError) -> Self {
        Self::Files(error)
    }
}

impl From<sandbox::SandboxError> for Unrecorded {
    fn from(error: sandbox::SandboxError) -> Self {
        use sandbox::SandboxError as E;
        if matches!(error, E::NoImage { .. } | E::NoRoom { .. }) {
            // Without an image, or without room on the disk, the next episodes would fail too. So the run ends here, and none
            // of them is censored.
            return Self::Files(error.into());
        }
        let is_gone = matches!(error, E::NoEngine { .. } | E::Engine { is_gone: true, .. });
        Self::Containers { cause: error.to_string(), is_gone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_retried_three_times_and_as_often_again_after_it_was_given_up() {
        let mut repeats = Repeats::default().for_attempt(2, 1);
        for count in 0..REPEATS {
            assert!(repeats.are_left(), "{count}");
            repeats.add();
        }
        assert!(!repeats.are_left() && repeats.count == REPEATS);
        assert_eq!(repeats.for_attempt(2, 1), repeats);
        assert_eq!(repeats.for_attempt(2, 2).count, 0, "of another attempt");
        assert!(repeats.for_attempt(3, 1).are_left(), "of another turn");
        repeats.give_up();
        assert!(repeats.are_left());
        repeats.add();
        assert_eq!((repeats.count, repeats.recent_count()), (REPEATS + 1, 1), "the record says all of them");
    }

    #[test]
    fn a_full_disk_ends_the_run_and_censors_no_episode() {
        use sandbox::SandboxError as E;
        let (path, reason) = ("/w".to_owned(), "make room and resume".to_owned());
        let full = Unrecorded::from(E::NoRoom { path: path.clone(), reason });
        let Unrecorded::Files(error) = full else { panic!("{full:?}") };
        assert_eq!(error.to_string(), "/w: make room and resume");
        // Other errors of one container may not occur with the next.
        let odd = Unrecorded::from(E::Files { path, reason: "cannot be started".to_owned() });
        let Unrecorded::Containers { cause, is_gone: false } = odd else { panic!("{odd:?}") };
        assert_eq!(cause, "/w: cannot be started");
        let engine_gone = E::Engine { doing: "start a container", reason: "gone".to_owned(), is_gone: true };
        assert!(matches!(Unrecorded::from(engine_gone), Unrecorded::Containers { is_gone: true, .. }));
    }
}
