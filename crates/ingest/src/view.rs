//! What is only shown: pieces of logs, transcripts, snapshots of code and what changed between two of them.
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

use crate::format_trait::{MOST_PLANNED, PlannedScenario};
use crate::readers::atif;
use crate::readers::json::Node;

use model::{Artifact, Transcript};

use files::{ReadError, Tree};

/// Largest JSON file in which a text is looked up.
const JSON_BYTES: u64 = 256 << 20;

/// The text that a JSON pointer (RFC 6901) names in a file: a string, or a message in parts. What is longer than
/// [`crate::readers::json::TEXT_CAP`] is cut, and says so.
pub fn text_at(tree: &Tree, path: &str, pointer: &str) -> Result<String, ReadError> {
    let root: Node = tree.read_json(path, JSON_BYTES)?;
    let mut node = &root;
    for key in pointer.split('/').skip(1) {
        let key = key.replace("~1", "/").replace("~0", "~");
        node = match node {
            Node::List(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            map => map.get(&key),
        }
        .ok_or(ReadError::Missing)?;
    }
    let (text, cut) = atif::content(node);
    let text = escape(&text);
    Ok(if cut == 0 { text } else { format!("{text}\n… {cut} more bytes are not shown") })
}

/// How often each scenario was to be played in a run, by the format (its id) that found it at a place; `None` = nothing names
/// them, or there are more than anybody plays.
pub fn planned(tree: &Tree, format: &str, folder: &str, run: &str) -> Option<Vec<PlannedScenario>> {
    let format = crate::formats::all().iter().find(|known| known.id() == format)?;
    let planned = catch_unwind(AssertUnwindSafe(|| format.planned(tree, folder, run))).ok().flatten()?;
    // Each is a line of a list.
    let all: u64 = planned.iter().map(|planned| u64::from(planned.episodes)).sum();
    (all <= MOST_PLANNED).then_some(planned)
}

/// Reads the steps that a transcript artifact holds, by the format (its id) that found it.
pub fn transcript(tree: &Tree, format: &str, artifact: &Artifact) -> Result<Transcript, ReadError> {
    let Some(format) = crate::formats::all().iter().find(|known| known.id() == format) else {
        return Err(ReadError::Malformed {
            code: "format.unknown",
            message: format!("This version does not know the format “{format}”"),
        });
    };
    catch_unwind(AssertUnwindSafe(|| format.transcript(tree, artifact))).unwrap_or_else(|_| {
        Err(ReadError::Malformed {
            code: "reader.failed",
            message: format!(
                "Stamina Lab's own reader for “{}” failed, which is a fault in Stamina Lab",
                format.name()
            ),
        })
    })
}
