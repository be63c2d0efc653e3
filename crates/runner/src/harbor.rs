//! Tasks of Harbor, several steps each, played in the order in which Harbor plays them.
//!
//! [`file`](mod@file) reads a `task.toml`, [`task`] what lies around it, [`reward`] what a verifier left. A [`trial`] is a task
//! in one container, which [`play`](mod@play) plays from its first step to its last: [`open_container`] opens that container,
//! [`resume_trial`] continues a trial that was cut off, [`attempts`] plays the attempts at a step, [`step`] one of them with the
//! means of [`in_container`] ([`step_result`] is what comes of it), and [`end`] ends the trial. [`after_attempt`] decides what
//! follows an attempt. [`player`] names who plays without a harness: the reference solution, or nobody; [`call`] calls a harness,
//! [`feedback`] is the feedback between attempts. [`background_processes`] ends what an agent has left running,
//! [`second_verification`] verifies a second time without it, [`independent_steps`] goes from a step that was played by itself to
//! the next, [`snapshot`] is what independent attempts begin from, [`snapshot_record`] what a resume continues from;
//! [`endpoint_retries`] retries what the endpoint has ended. What is recorded ([`step_record`]) has the layout of every other run
//! (`docs/formats.md`), so that live view, importer and report are the same.
//!
//! A task is somebody else's program. Its files are read through a [`files::Tree`], and everything that it executes runs in
//! its own container.

mod after_attempt;
mod archives;
mod attempts;
mod background_processes;
mod call;
mod end;
mod endpoint_retries;
mod feedback;
mod file;
mod in_container;
mod independent_steps;
mod open_container;
mod play;
pub(crate) mod player;
mod recipe;
mod resume_trial;
mod retry_origin;
mod reward;
mod second_verification;
mod snapshot;
mod snapshot_record;
mod step;
mod step_record;
mod step_result;
mod task;
mod trial;

use std::path::Path;

pub(crate) use self::play::play;
pub use self::recipe::Recipe;
pub(crate) use self::task::Tasks;
use crate::RunError;
use crate::settings::RunSettings;

/// A task as preflight shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPreview {
    /// The name of its folder.
    pub name: String,
    /// Steps that are played.
    pub steps: u32,
    /// The image that it names; `None` = it is built from a recipe.
    pub image: Option<String>,
    /// Why it cannot be played; empty = it can.
    pub refused: Vec<String>,
    /// What of it is not obeyed, or is different here.
    pub notes: Vec<String>,
}

/// The image of a task, as a person is shown it who has to decide whether the task may be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskImage {
    /// The name of the task's folder.
    pub task: String,
    /// The image that it names; `None` = it is built from the recipe.
    pub image: Option<String>,
    /// What its recipe does; of an image that is named nothing is built.
    pub recipe: Recipe,
    /// SHA-256 of the whole text of its recipe, which may be longer than what is shown of it; of no text, where nothing is built.
    pub recipe_sha256: [u8; 32],
}

/// The tasks of a folder or zip with what is known of each before anything is played. Blocks.
///
/// Errors: the folder or zip cannot be opened, or holds no task.
pub fn tasks(path: &Path, settings: &RunSettings) -> Result<Vec<TaskPreview>, RunError> {
    Ok(Tasks::open(path)?.previews(settings))
}

/// The images of some tasks of a folder or zip. Tasks count from 0. Blocks.
///
/// Errors: the folder or zip cannot be opened or holds no task; a recipe cannot be read.
pub fn task_images(path: &Path, numbers: &[u32]) -> Result<Vec<TaskImage>, RunError> {
    Tasks::open(path)?.images(numbers)
}
