//! Whose numbers an export has: runs, groups, and how they are compared.

use clap::{Args, ValueEnum};
use workbench::Workbench;
use workbench::api::{
    ApiError, CompareRequest, FailureGrouping, FailureScope, FailuresRequest, MatrixRequest,
};

use crate::args::FailuresScope;
use crate::members::{self, find_members};

/// What `--by` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupWord {
    Run,
    Harness,
    Turn,
    Attempt,
}

/// Whose numbers, and how they are compared.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The run that others are compared with; the first by default
    #[arg(long, value_name = "RUN")]
    pub(crate) reference: Option<String>,
    /// Horizon of mean stamina in turns; by default as far as every curve is known
    #[arg(long, value_name = "TURNS")]
    pub(crate) tau: Option<u32>,
    /// Benchmark of a matrix; by default the one with most runs
    #[arg(long, value_name = "KEY")]
    pub(crate) benchmark: Option<String>,
    /// How failures are grouped
    #[arg(long, value_enum, default_value_t = GroupWord::Run)]
    pub(crate) by: GroupWord,
    /// Which failed attempts count: all, the final ones of turns not passed, or those that ended stamina
    #[arg(long, value_enum, default_value_t = FailuresScope::Attempts)]
    pub(crate) scope: FailuresScope,
}

/// The request that runs, reference and τ make.
pub(super) fn compared(
    workbench: &Workbench,
    runs: &[String],
    reference: Option<&str>,
    tau: Option<u32>,
) -> Result<CompareRequest, ApiError> {
    if runs.is_empty() {
        return Err(ApiError::new("export.no_runs", "There is no run to make this of")
            .hint("Name runs by their ids; `stamina runs` lists them"));
    }
    members::request(workbench, runs, reference, tau)
}

/// The failures that runs and options ask for.
pub(super) fn failures(
    workbench: &Workbench,
    runs: &[String],
    whose: &Whose,
) -> Result<FailuresRequest, ApiError> {
    Ok(FailuresRequest {
        members: find_members(workbench, runs)?,
        group: match whose.by {
            GroupWord::Run => FailureGrouping::Member,
            GroupWord::Harness => FailureGrouping::Harness,
            GroupWord::Turn => FailureGrouping::Turn,
            GroupWord::Attempt => FailureGrouping::Attempt,
        },
        scope: match whose.scope {
            FailuresScope::Attempts => FailureScope::Attempts,
            FailuresScope::Turns => FailureScope::Turns,
            FailuresScope::First => FailureScope::First,
        },
        benchmark: None,
    })
}

/// The matrix that runs (or groups of them) and options ask for.
pub(super) fn matrix(
    workbench: &Workbench,
    runs: &[String],
    whose: &Whose,
) -> Result<MatrixRequest, ApiError> {
    let runs = workbench.runs_of(&find_members(workbench, runs)?)?;
    Ok(MatrixRequest { benchmark: whose.benchmark.clone(), runs, tau: whose.tau, ..MatrixRequest::default() })
}
