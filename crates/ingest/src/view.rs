//! What is only looked at: pieces of logs, transcripts, snapshots of code and what changed between two of them.
//!
//! Nothing of this is kept. Everything is capped, because an agent may have left gigabytes, and every text that comes
//! out is valid Unicode without control characters that could move a cursor or turn the reading order around.

mod code;
mod text;

pub use code::{
    CodeFile, Comparison, FileChange, FileStatus, Snapshot, SnapshotFile, compare, file_pair, snapshot,
};
pub use text::{DEFAULT_LIMIT, MAX_LIMIT, TextPage, escape, text_page};

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Artifact, Transcript};

use crate::tree::{ReadError, Tree};

/// Reads the steps that a transcript artifact holds, by the format (its id) that found it.
pub fn transcript(tree: &Tree, format: &str, artifact: &Artifact) -> Result<Transcript, ReadError> {
    let Some(format) = crate::formats::all().iter().find(|known| known.id() == format) else {
        return Err(ReadError::Malformed {
            code: "format.unknown",
            what: format!("This version does not know the format “{format}”"),
        });
    };
    catch_unwind(AssertUnwindSafe(|| format.transcript(tree, artifact))).unwrap_or_else(|_| {
        Err(ReadError::Malformed {
            code: "reader.failed",
            what: format!(
                "Stamina Lab's own reader for “{}” failed, which is a fault in Stamina Lab",
                format.name()
            ),
        })
    })
}
