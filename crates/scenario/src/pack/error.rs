//! What can go wrong with a pack.

use std::path::PathBuf;

use files::ReadError;

use super::layout::{EARLIER_VERSIONS, PACK_VERSION};
use crate::config::ConfigError;
use crate::sample::SampleError;

/// Why a pack cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The settings are out of their ranges.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something is where the pack should go.
    #[error("{reason}")]
    Occupied {
        /// Where.
        path: PathBuf,
        /// What is there.
        reason: String,
    },
    /// The system does not let it be written.
    #[error("It cannot be written: {error}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The sampler gave up.
    #[error("Scenario {scenario}: {error}")]
    Sample {
        /// From 0.
        scenario: u32,
        /// Why.
        error: SampleError,
    },
    /// A change of the sampler does not lead where the sampler says, or the schema it made cannot be written down: a
    /// fault of the sampler.
    #[error("Scenario {scenario}, turn {turn}: {problem}")]
    Faulty {
        /// From 0.
        scenario: u32,
        /// From 1.
        turn: u32,
        /// What is wrong.
        problem: String,
    },
    /// It was asked to stop.
    #[error("It was stopped before its end")]
    Cancelled,
    /// Neither the folder or zip nor the only folder in it has a manifest of a pack.
    #[error("It is no scenario pack: {0}")]
    NotAPack(String),
    /// A pack of another format.
    #[error("It is a pack of the format {0}; this program reads {earlier} and {PACK_VERSION}", earlier = EARLIER_VERSIONS.join(", "))]
    Version(String),
    /// No such scenario or turn.
    #[error("{0}")]
    NoSuch(String),
    /// A file of the pack that is missing or damaged.
    #[error("{path}: {error}")]
    Read {
        /// Relative to the folder or zip.
        path: String,
        /// Why.
        error: ReadError,
    },
    /// A file of the pack that says something impossible.
    #[error("{path}: {problem}")]
    Content {
        /// Relative to the folder or zip.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

/// A place where a pack is not what its manifest says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    /// `scenario_3, turn 7`, or a path.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl PackError {
    /// Stable word for the edge.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Occupied { .. } => "pack.occupied",
            Self::Write { .. } => "pack.write",
            Self::Sample { .. } => "pack.sampler",
            Self::Faulty { .. } => "pack.faulty",
            Self::Cancelled => "pack.cancelled",
            Self::NotAPack(_) => "pack.none",
            Self::Version(_) => "pack.version",
            Self::NoSuch(_) => "pack.no_such",
            Self::Read { .. } => "pack.unreadable",
            Self::Content { .. } => "pack.content",
        }
    }

    /// What is damaged or missing, where it is a file of the pack; otherwise the error itself.
    pub fn damage(self) -> Result<Mismatch, Self> {
        match self {
            Self::Read { path, error } => Ok(Mismatch { at: path, what: error.to_string() }),
            Self::Content { path, problem } => Ok(Mismatch { at: path, what: problem }),
            other => Err(other),
        }
    }

    /// Where it is, for those that lie at a path of the system.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::Occupied { path, .. } | Self::Write { path, .. } => Some(path),
            _ => None,
        }
    }
}
