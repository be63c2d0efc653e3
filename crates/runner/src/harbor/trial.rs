//! A trial: one task that is played in one container.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use files::Tree;
use sandbox::{OpenTask, Owner, SandboxError, TaskContainer};
use tokio_util::sync::CancellationToken;

use super::file::TaskFile;
use super::player::Player;
use super::retry_origin::RetryOrigin;
use super::task::{Task, Tasks};
use crate::dropped_attempt::Repeats;
use crate::folders::Folders;
use crate::record::{EpisodeFolder, Trajectory};
use crate::run_context::RunContext;
use crate::state::{PlannedEpisode, SessionState};
use crate::status::Status;

/// A trial that is played.
pub(super) struct Trial<'a> {
    pub(super) context: &'a RunContext,
    pub(super) planned: &'a PlannedEpisode,
    pub(super) tasks: Arc<Tasks>,
    pub(super) task: &'a Task,
    pub(super) file: &'a TaskFile,
    /// `None` = a harness plays.
    pub(super) player: Option<Player>,
    pub(super) owner: Owner,
    pub(super) results: EpisodeFolder,
    pub(super) trajectory: Trajectory,
    pub(super) folders: Folders,
    pub(super) status: Arc<Status>,
    pub(super) container: Option<OpenTask>,
    /// What its container is opened from.
    pub(super) container_settings: Option<TaskContainer>,
    /// The step that is played, from 1.
    pub(super) number: u32,
    /// The attempt at it, from 1.
    pub(super) attempt: u32,
    /// Attempts so far, this one included, for the names of their logs.
    pub(super) calls: u32,
    /// What is known of the harness's session.
    pub(super) known: SessionState,
    /// The feedback for the next attempt at the step, if the protocol has it.
    pub(super) feedback: Option<String>,
    /// Where commands run.
    pub(super) workdir: String,
    /// Whether a player has worked in the container: what goes wrong in it from then on may be its doing.
    pub(super) was_played: bool,
    /// The processes of the container before a player worked in it; `None` = not asked yet.
    pub(super) own_processes: Option<BTreeSet<String>>,
    /// Reference solutions that were executed for a later step and did not exit with 0, by step, with their codes.
    pub(super) references_failed: BTreeMap<String, i64>,
    /// Whether a verifier has run in the container.
    pub(super) was_verified: bool,
    /// Whether the container is what the snapshot of the step keeps: nothing was executed in it since.
    pub(super) is_as_kept: bool,
    /// Whether the next attempt begins in a container that a resume opened from a snapshot, or a retry where attempts do not begin
    /// from snapshots otherwise.
    pub(super) is_resumed: bool,
    /// How often the attempt that is played was retried because the endpoint had ended it.
    pub(super) repeats: Repeats,
    /// Whether this program retries the attempt: it was played in the container before.
    pub(super) is_retry: bool,
    /// What a retry of that attempt begins from; `None` = its container cannot be made again.
    pub(super) retry_origin: Option<RetryOrigin>,
    /// Ends the attempt in flight: with the run, or because a control request asks for a retry.
    pub(super) stop: CancellationToken,
}

/// That the container of a trial is asked for before it is opened.
pub(super) fn not_open_error() -> SandboxError {
    SandboxError::Engine {
        doing: "work in the container of a task",
        reason: "it is not open".to_owned(),
        is_gone: false,
    }
}

impl Trial<'_> {
    pub(super) fn tree(&self) -> &Tree {
        &self.tasks.tree
    }

    pub(super) fn container(&self) -> Result<&OpenTask, SandboxError> {
        self.container.as_ref().ok_or_else(not_open_error)
    }
}
