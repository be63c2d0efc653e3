//! Runs: what is known of them before any episode is read.

use model::{Baseline, Benchmark, Run, Tokens};

use crate::{Result, RunId, SourceId, Store, Summary, Totals};

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    /// Number in the store.
    pub id: RunId,
    /// Stable name in links and on the command line.
    pub slug: String,
    /// Its source.
    pub source: SourceId,
    /// Name of its source.
    pub source_name: String,
    /// Where in the source its format begins.
    pub place: String,
    /// The format it was read by: `harbor`, `evocode`, `staminabench`.
    pub format: String,
    /// Identity inside its place.
    pub key: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The harness.
    pub harness: Option<String>,
    /// Its version.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation, with its version.
    pub runner: Option<(String, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a scripted model stood in for a real one.
    pub simulated: bool,
    /// Episodes planned.
    pub planned_episodes: Option<u32>,
    /// Most attempts a turn may take.
    pub attempt_limit: Option<u32>,
    /// Start, as the source writes it.
    pub started_at: Option<String>,
    /// End, as the source writes it.
    pub finished_at: Option<String>,
    /// Figures that the source reports about itself.
    pub reported: Vec<(String, f64)>,
    /// Import warnings that concern it.
    pub warnings: u32,
    /// Tags of the user, by name.
    pub tags: Vec<String>,
    /// Note of the user.
    pub note: String,
    /// Sums over its episodes, as of the last summary.
    pub totals: Totals,
    /// Statistics; `None` until [`Store::put_summary`] was called for it. May be older than the last write.
    pub summary: Option<Summary>,
}

/// A run with everything that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// What lists show.
    pub entry: RunEntry,
    /// Path of its source.
    pub source_path: String,
    /// Whether its source is a zip.
    pub source_zip: bool,
    /// The run as it was put: settings, reported figures, unknown fields.
    pub run: Run,
}

impl Store {
    /// Sets the runs of a place: new ones are added, known ones (by key) are replaced and keep their episodes, and
    /// those that are gone are deleted with their episodes.
    pub fn put_runs(&self, source: SourceId, place: &str, format: &str, runs: &[Run]) -> Result<()> {
        todo!()
    }

    /// The run of this slug, in an open source.
    pub fn run(&self, slug: &str) -> Result<Option<RunRecord>> {
        todo!()
    }
}
