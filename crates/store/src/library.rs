//! The library: runs of all open sources, filtered, sorted, grouped and paged in SQL.

use crate::{Result, RunEntry, SourceId, Store};

/// Columns by which runs are sorted. Unknown values come last in either direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunOrder {
    /// Mean stamina.
    #[default]
    Stamina,
    /// Model name.
    Model,
    /// Harness name.
    Harness,
    /// Benchmark name.
    Benchmark,
    /// Source name.
    Source,
    /// Number of episodes.
    Episodes,
    /// Most planned turns.
    Turns,
    /// Score.
    Score,
    /// Input plus output tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Start.
    Date,
}

/// By what runs are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By benchmark.
    #[default]
    Benchmark,
    /// By harness.
    Harness,
    /// By model.
    Model,
    /// By source.
    Source,
    /// One group.
    None,
}

/// Which runs, in which order. Empty lists do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Words that all occur (whatever their case) in model, harness, benchmark, source, tags or note.
    pub text: String,
    /// Only these sources.
    pub sources: Vec<SourceId>,
    /// Only these benchmarks (keys).
    pub benchmarks: Vec<String>,
    /// Only these harnesses (`""` = unknown).
    pub harnesses: Vec<String>,
    /// Only these models (`""` = unknown).
    pub models: Vec<String>,
    /// Only runs with all of these tags.
    pub tags: Vec<String>,
    /// Leaves out baselines and simulated runs.
    pub real_only: bool,
    /// Only runs with import warnings.
    pub with_warnings: bool,
    /// At least so many episodes.
    pub min_episodes: Option<u32>,
    /// The column.
    pub order: RunOrder,
    /// From low to high.
    pub ascending: bool,
    /// By what to group.
    pub group: GroupBy,
    /// First row to give.
    pub offset: u32,
    /// Most rows to give; 0 = all.
    pub limit: u32,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunList {
    /// In group order, then sorted; each with the index of its group.
    pub rows: Vec<(u32, RunEntry)>,
    /// Every group that matches, by title, unknown last.
    pub groups: Vec<GroupEntry>,
    /// How many runs match.
    pub total: u32,
    /// What the filters could be set to.
    pub facets: Facets,
}

/// A group of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupEntry {
    /// What they share; `None` = unknown, or not grouped.
    pub title: Option<String>,
    /// Runs in it.
    pub runs: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Least and greatest τ of its runs.
    pub tau: Option<(u32, u32)>,
}

/// A value to filter by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// The value; `""` = unknown.
    pub value: String,
    /// What a person reads; empty = unknown.
    pub label: String,
    /// Runs that the other filters leave.
    pub runs: u32,
}

/// What the filters could be set to, most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// Benchmarks.
    pub benchmarks: Vec<Facet>,
    /// Harnesses.
    pub harnesses: Vec<Facet>,
    /// Models.
    pub models: Vec<Facet>,
}

/// The library, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibraryCounts {
    /// Runs in open sources.
    pub runs: u32,
    /// Import warnings of open sources.
    pub warnings: u64,
    /// Runs with at least one warning.
    pub runs_with_warnings: u32,
    /// Runs that are neither baseline nor simulated.
    pub real_runs: u32,
    /// Tags in use and how many runs of open sources carry them, by name.
    pub tags: Vec<(String, u32)>,
}

impl Store {
    /// The runs of all open sources that match, sorted, grouped, paged.
    pub fn list_runs(&self, filter: &RunFilter) -> Result<RunList> {
        todo!()
    }

    /// The library, counted.
    pub fn library_counts(&self) -> Result<LibraryCounts> {
        todo!()
    }
}
