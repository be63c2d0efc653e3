//! Summaries: the figures of a run by which the library is sorted. The statistics come from `workbench`, because they
//! depend on the censoring policy; the sums over episodes are made here.

use model::{EndReason, Tokens};

use crate::{Result, RunId, SourceId, Store};

/// Statistics of a run under the current policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Restricted mean stamina; `None` without episodes.
    pub mean: Option<f64>,
    /// Lower end of its 95 % interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// The horizon in turns.
    pub tau: u32,
    /// Episodes.
    pub n: u32,
    /// Episodes that ended in an event.
    pub events: u32,
    /// Episodes that were censored.
    pub censored: u32,
    /// Median stamina; `None` = not reached.
    pub median: Option<u32>,
    /// The benchmark's own score, 0 to 100.
    pub score: Option<f64>,
    /// EvoCode's dataset score, 0 to 100.
    pub dataset_score: Option<f64>,
    /// EvoCode's case score, 0 to 100.
    pub case_score: Option<f64>,
    /// Episodes in which every turn passed.
    pub perfect: u32,
    /// What is missing, in words: `25 of 26 tasks`.
    pub partial: Option<String>,
}

/// Sums over the episodes of a run, whatever the policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Episodes read.
    pub episodes: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown for all.
    pub planned_turns: Option<(u32, u32)>,
    /// End reasons, most frequent first.
    pub end_reasons: Vec<(EndReason, u32)>,
    /// Tokens: the sum of what is known.
    pub tokens: Tokens,
    /// Cost in US dollars: the sum of what is known.
    pub cost_usd: Option<f64>,
    /// Episodes of which the cost is known.
    pub cost_known: u32,
}

/// A run whose summary is missing, or older than its episodes or the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleRun {
    /// The run.
    pub run: RunId,
    /// Its slug.
    pub slug: String,
    /// Its source.
    pub source: SourceId,
    /// Its state when the list was made, so that a summary made from older episodes stays stale.
    pub(crate) run_version: i64,
    /// The policy's state when the list was made.
    pub(crate) policy_version: i64,
}

impl Store {
    /// The runs of open sources whose summary must be made again, oldest write first.
    pub fn stale_runs(&self) -> Result<Vec<StaleRun>> {
        todo!()
    }

    /// Stores the summary of a run and makes its [`Totals`] again. If the run or the policy changed since
    /// [`Store::stale_runs`] named it, the run stays stale.
    pub fn put_summary(&self, of: &StaleRun, summary: &Summary) -> Result<()> {
        todo!()
    }
}
