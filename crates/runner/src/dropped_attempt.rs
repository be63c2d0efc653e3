//! Why an attempt has no record, and how often it is retried then.

use crate::RunError;

/// How often an attempt is retried because of something outside the agent, before it is given up.
pub(crate) const REPEATS: u32 = 3;
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
