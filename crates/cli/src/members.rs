//! Finds the members of comparisons that a command line names.

use workbench::Workbench;
use workbench::api::{ApiError, CompareRequest, ListRuns, Member, Pairs, RunGrouping};

use crate::library_runs::find_run;

/// Finds a run by its id (or a part of it), or a group: `harness:opencode`, `model:glm-5@staminabench`, `tag:final`,
/// `cell:opencode×glm-5`.
pub(crate) fn find_member(workbench: &Workbench, wanted: &str) -> Result<Member, ApiError> {
    let group = ["harness", "model", "cell", "tag"].into_iter().find_map(|grouping| {
        let name = wanted.strip_prefix(grouping)?.strip_prefix(':')?;
        Some((grouping, name))
    });
    let Some((grouping, name)) = group else {
        return Ok(Member::Run { run: find_run(workbench, wanted)?.id });
    };
    // Names may contain an `@`: what follows the last one is a benchmark only if it is the key of one.
    let facets =
        workbench.list_runs(ListRuns { limit: 1, group: RunGrouping::None, ..ListRuns::default() })?.facets;
    let (name, benchmark) = match name.rsplit_once('@') {
        Some((name, key)) if facets.benchmarks.iter().any(|(benchmark, _, _)| benchmark == key) => {
            (name.to_owned(), key.to_owned())
        }
        _ => (name.to_owned(), String::new()),
    };
    Ok(match grouping {
        "harness" => Member::Harness { harness: name, benchmark },
        "model" => Member::Model { model: name, benchmark },
        "cell" => {
            let (harness, model) = Member::names_of_cell(&name).ok_or_else(|| {
                ApiError::new("compare.no_cell", format!("\"{wanted}\" names no harness and model"))
                    .hint("Write cell:HARNESS×MODEL; `stamina matrix` shows both")
            })?;
            Member::Cell { harness, model, benchmark }
        }
        _ => Member::Tag { tag: name, benchmark },
    })
}

/// Finds the named members, in their order.
pub(crate) fn find_members(workbench: &Workbench, names: &[String]) -> Result<Vec<Member>, ApiError> {
    names.iter().map(|name| find_member(workbench, name)).collect()
}

/// The request for a comparison of members. The reference is the first of them if none is named, as in the app.
pub(crate) fn request(
    workbench: &Workbench,
    names: &[String],
    reference: Option<&str>,
    pairs: Pairs,
    tau: Option<u32>,
) -> Result<CompareRequest, ApiError> {
    let mut members = find_members(workbench, names)?;
    let place = match reference {
        None => 0,
        Some(reference) => {
            let reference = find_member(workbench, reference)?;
            members.iter().position(|member| *member == reference).unwrap_or_else(|| {
                members.insert(0, reference);
                0
            })
        }
    };
    Ok(CompareRequest { members, reference: place as u32, tau, pairs })
}
