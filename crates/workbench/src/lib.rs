//! What a user can do, once: open, list, show, search.
//!
//! [`Workbench`] holds the library (the store), the opened sources and what is known of their state. Its methods are
//! the commands; [`with_commands!`] is the one list of them, from which [`dispatch`] and the TypeScript types are
//! made. The methods block (they read SQLite and files); [`dispatch`] runs them off the async threads.

// Commands take their request whole, so that all have one form.
#![allow(clippy::needless_pass_by_value)]

pub mod api;
mod attempt_remarks;
mod benchmarks;
mod cache;
mod caveats;
mod censoring_policy;
mod changes;
mod command_list;
mod compare;
mod diagram;
mod episode_details;
mod episodes;
mod export;
mod failures;
mod follow;
mod grader;
mod importers;
mod jobs;
mod library;
mod matrix;
mod named_attempts;
mod opened_sources;
mod packs;
mod processes_left;
mod published;
mod reruns;
mod rounds;
pub mod runs;
pub mod sample;
pub mod sampler;
mod scenarios;
mod sessions;
mod source_labels;
mod sources;
mod stamina_for_hosts;
mod summary;
mod tables;
mod tasks;
mod texts;
mod transcripts;
mod undeclared_turns;
mod unrecognized_ends;
mod views;
mod withdrawn;

use std::path::PathBuf;
use std::sync::Arc;

use api::ApiError;
pub use export::{Reexport, ReportFolder, SpecFile, Watch};
pub use failures::{histories, stretch_ends, turn_repairs};
/// p values in words, as figures, reports and tables have them.
pub use figures::{p_number, p_value};
pub use importers::NOT_MINE;
pub use opened_sources::app_is_running;
pub use sources::{CopiedRun, IngestSummary};
use store::Store;
pub use tables::parse_map;
pub use undeclared_turns::is_about_scores;

/// How a [`Workbench`] is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The library's database; `None` is the app's own, in the user's data folder.
    pub db: Option<PathBuf>,
    /// Whether this process stays: sources are read again at the start, watched, and changes of other processes are
    /// noticed.
    pub live: bool,
    /// Whether this is the desktop app, to which `stamina open` hands over.
    pub app: bool,
    /// The sample that the first screen offers, and that a new library of the desktop app begins with.
    pub sample: Option<PathBuf>,
}

impl Options {
    /// The file of the library.
    fn library_file(&self) -> Result<PathBuf, ApiError> {
        match &self.db {
            Some(db) => Ok(db.clone()),
            None => dirs::data_dir().map(|data| data.join("stamina-lab").join("library.sqlite")).ok_or_else(
                || {
                    ApiError::new("app.no_data_folder", "The user's data folder is unknown")
                        .hint("Name a file with --db")
                },
            ),
        }
    }
}

/// The library with its opened sources.
#[derive(Debug)]
pub struct Workbench {
    store: Arc<Store>,
    changes: changes::Changes,
    opened_sources: opened_sources::OpenedSources,
    jobs: jobs::Jobs,
    samplings: sampler::Samplings,
    runs: runs::Runs,
    cache: cache::AnswerCache,
    texts: texts::Texts,
    sample: Option<PathBuf>,
}

macro_rules! declare {
    ($($doc:literal $name:ident($request:ident) -> $response:ident;)+) => {
        /// Every command: its name and what it does.
        pub const COMMANDS: &[(&str, &str)] = &[$((stringify!($name), $doc)),+];

        /// Calls a command by name. Blocks.
        pub fn call(
            workbench: &Arc<Workbench>,
            name: &str,
            request: serde_json::Value,
        ) -> Result<serde_json::Value, ApiError> {
            match name {
                $(stringify!($name) => {
                    let request = parse::<api::$request>(name, request)?;
                    let response: response::$response = workbench.$name(request)?;
                    serde_json::to_value(response).map_err(|e| ApiError::new("response.malformed", e.to_string()))
                })+
                _ => Err(ApiError::new("command.unknown", format!("There is no command \"{name}\""))),
            }
        }
    };
}

/// The responses by name: those of the edge, and the types of `model` that cross it as they are.
mod response {
    pub(crate) use crate::api::*;
    pub(crate) use model::Transcript;
}

with_commands!(declare);

/// Calls a command by name from async code.
pub async fn dispatch(
    workbench: &Arc<Workbench>,
    name: &str,
    request: serde_json::Value,
) -> Result<serde_json::Value, ApiError> {
    let (workbench, name) = (Arc::clone(workbench), name.to_owned());
    tokio::task::spawn_blocking(move || call(&workbench, &name, request))
        .await
        .unwrap_or_else(|e| Err(ApiError::new("command.panicked", format!("The command failed inside: {e}"))))
}

fn parse<T: serde::de::DeserializeOwned>(name: &str, request: serde_json::Value) -> Result<T, ApiError> {
    serde_json::from_value(request).map_err(|e| {
        ApiError::new("request.malformed", format!("The request of \"{name}\" is not as it must be: {e}"))
    })
}
