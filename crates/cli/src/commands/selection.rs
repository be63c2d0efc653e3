//! Which runs an export shows: runs, groups, and how they are compared.

use clap::Args;
use workbench::Workbench;
use workbench::api::{ApiError, CompareRequest, FailuresRequest, MatrixRequest, Pairs};

use crate::args::{FailuresBy, FailuresScope};
use crate::library_runs::find_run;
use crate::members::{self, find_members};

/// Which runs are compared, and how.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// The run that others are compared with; the first by default
    #[arg(long, value_name = "RUN")]
    pub(crate) reference: Option<String>,
    /// Horizon of mean stamina in turns; by default as far as every curve is known
    #[arg(long, value_name = "TURNS")]
    pub(crate) tau: Option<u32>,
    /// Benchmark of a matrix, or of failures of which no run is named; by default the one with most runs
    #[arg(long, value_name = "KEY")]
    pub(crate) benchmark: Option<String>,
    /// Not this run in a matrix, such as an aborted one that holds τ down for all; repeatable
    #[arg(long, value_name = "RUN", conflicts_with = "runs")]
    pub(crate) without: Vec<String>,
    /// Include baselines and runs of a simulated model in a matrix
    #[arg(long)]
    pub(crate) with_baselines: bool,
    /// How failures are grouped
    #[arg(long, value_enum, default_value_t = FailuresBy::Run)]
    pub(crate) by: FailuresBy,
    /// Which failed attempts count: all, the final ones of turns not passed, or those that ended stamina
    #[arg(long, value_enum, default_value_t = FailuresScope::First)]
    pub(crate) scope: FailuresScope,
}

/// The request for a comparison of runs, with their reference and τ.
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
    members::request(workbench, runs, reference, Pairs::Reference, tau)
}

/// The member that is compared with the reference: the named one, or the only other one.
pub(super) fn other(
    workbench: &Workbench,
    request: &CompareRequest,
    named: Option<&str>,
) -> Result<u32, ApiError> {
    let Some(named) = named else {
        return match request.members.len() {
            2 => Ok(1 - request.reference),
            n => Err(ApiError::new(
                "export.paired",
                format!("A paired figure is of two runs, and there are {n}"),
            )
            .hint("Say with --other which one is compared with the reference")),
        };
    };
    let member = members::find_member(workbench, named)?;
    let place =
        request.members.iter().position(|m| *m == member).filter(|index| *index as u32 != request.reference);
    place.map(|place| place as u32).ok_or_else(|| {
        ApiError::new(
            "export.paired",
            format!("\"{named}\" is not one of the runs that are compared with the reference"),
        )
        .hint("Name it among the runs, too, and another one as the reference")
    })
}

/// The request for failures of these runs.
pub(super) fn failures(
    workbench: &Workbench,
    runs: &[String],
    selection: &SelectionArgs,
) -> Result<FailuresRequest, ApiError> {
    Ok(FailuresRequest {
        members: find_members(workbench, runs)?,
        group: selection.by.into(),
        scope: selection.scope.into(),
        benchmark: selection.benchmark.clone(),
    })
}

/// The request for a matrix of these runs or groups.
pub(super) fn matrix(
    workbench: &Workbench,
    runs: &[String],
    selection: &SelectionArgs,
) -> Result<MatrixRequest, ApiError> {
    let runs = workbench.runs_of(&find_members(workbench, runs)?)?;
    let without = selection.without.iter().map(|run| find_run(workbench, run).map(|row| row.id));
    Ok(MatrixRequest {
        benchmark: selection.benchmark.clone(),
        runs,
        without: without.collect::<Result<_, _>>()?,
        with_baselines: selection.with_baselines,
        tau: selection.tau,
    })
}
