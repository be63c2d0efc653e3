//! The ends of the logs of failed attempts, for the rules that look at them.
//!
//! Logs stay in the source and were written by agents, their servers and harnesses: only files that an attempt names are
//! opened, through the source's [`Tree`], and of each only the end that rules look at is read.

use std::collections::HashMap;
use std::sync::Arc;

use analysis::failures::evidence::LogsWanted;
use analysis::failures::{Context, Suites};
use files::{ReadError, Tree};
use model::{Artifact, ArtifactKind, Attempt};

/// Most logs of a kind that are looked at, the last ones: an attempt may have any number of them.
const LOGS: usize = 3;
/// Most bytes that are unpacked to come to the end of a log in a zip.
const UNPACKED: u64 = 8 << 20;

/// What was read for an attempt.
#[derive(Debug, Default)]
pub(super) struct LogEnds {
    agent: Option<String>,
    server: Option<String>,
    /// Whether a log that rules would look at could not be read.
    pub(super) unread: bool,
}

impl LogEnds {
    /// Reads what the rules may look at; without a tree, the source cannot be read.
    pub(super) fn from_attempt(attempt: &Attempt, tree: Option<&Tree>) -> Self {
        let wanted = LogsWanted::from_attempt(attempt);
        let mut ends = Self::default();
        ends.agent = ends.read(attempt, ArtifactKind::AgentLog, wanted.agent, tree);
        ends.server = ends.read(attempt, ArtifactKind::ServerLog, wanted.server, tree);
        ends
    }

    fn read(
        &mut self,
        attempt: &Attempt,
        kind: ArtifactKind,
        wanted: usize,
        tree: Option<&Tree>,
    ) -> Option<String> {
        if wanted == 0 {
            return None;
        }
        let is_of_kind = |a: &&Artifact| a.kind == kind && a.pointer.is_none();
        let mut logs: Vec<&Artifact> = attempt.artifacts.iter().rev().filter(is_of_kind).take(LOGS).collect();
        logs.reverse();
        let mut text: Option<String> = None;
        for log in logs {
            match tree.ok_or(ReadError::Missing).and_then(|tree| end(tree, &log.path, wanted)) {
                Ok(bytes) => {
                    let text = text.get_or_insert_default();
                    text.push_str(&String::from_utf8_lossy(&bytes));
                    text.push('\n');
                }
                Err(_) => self.unread = true,
            }
        }
        text
    }

    /// As the rules take it, for tests of these suites.
    pub(super) fn context(&self, suites: Suites) -> Context<'_> {
        Context { suites, agent_log: self.agent.as_deref(), server_log: self.server.as_deref() }
    }
}

fn end(tree: &Tree, path: &str, wanted: usize) -> Result<Vec<u8>, ReadError> {
    let size = tree.entry(path).ok_or(ReadError::Missing)?.size;
    if tree.is_zip() && size > UNPACKED {
        return Err(ReadError::TooLarge { size, cap: UNPACKED });
    }
    let wanted = wanted as u64;
    Ok(tree.read_range(path, size.saturating_sub(wanted), wanted)?.0)
}

/// The opened trees of the sources that runs lie in; `None` = it cannot be opened.
pub(super) type Trees = HashMap<i64, Option<Arc<Tree>>>;
