//! Finds the runs of the library that a command line names.

use workbench::Workbench;
use workbench::api::{ApiError, ListRuns, RunRef, RunRow};

/// All runs that a request lists, page after page.
pub(crate) fn all_runs(workbench: &Workbench, request: &ListRuns) -> Result<Vec<RunRow>, ApiError> {
    let mut rows = Vec::new();
    loop {
        let page =
            workbench.list_runs(ListRuns { offset: rows.len() as u32, limit: 500, ..request.clone() })?;
        let done = page.rows.is_empty();
        rows.extend(page.rows);
        if done || rows.len() >= page.total as usize {
            return Ok(rows);
        }
    }
}

/// Finds a run by its id, by a unique prefix or part of it, or by its whole name in its source.
pub(crate) fn find_run(workbench: &Workbench, name: &str) -> Result<RunRow, ApiError> {
    let mut rows = all_runs(workbench, &ListRuns::default())?;
    if let Some(exact) = rows.iter().position(|row| row.id == name) {
        return Ok(rows.swap_remove(exact));
    }
    rows.retain(|row| row.id.contains(name));
    if let Some(prefix) = rows.iter().position(|row| row.id.starts_with(name))
        && rows.iter().filter(|row| row.id.starts_with(name)).count() == 1
    {
        return Ok(rows.swap_remove(prefix));
    }
    match rows.len() {
        1 => Ok(rows.swap_remove(0)),
        0 => find_run_of_name(workbench, name),
        _ => Err(ambiguous(name, &rows.into_iter().map(|row| row.id).collect::<Vec<_>>())),
    }
}

/// Finds a run by its name in its source. Its id may be shorter.
fn find_run_of_name(workbench: &Workbench, name: &str) -> Result<RunRow, ApiError> {
    let ids = workbench.runs_of_name(name)?;
    match ids.as_slice() {
        [] => Err(ApiError::new("run.not_found", format!("There is no run \"{name}\" in the library"))
            .hint("`stamina runs` lists the runs with their ids")),
        [id] => Ok(workbench.get_run(RunRef { run: id.clone() })?.row),
        _ => Err(ambiguous(name, &ids)),
    }
}

/// The error where several runs could be meant.
fn ambiguous(name: &str, ids: &[String]) -> ApiError {
    let first: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
    ApiError::new("run.ambiguous", format!("\"{name}\" names {} runs", ids.len()))
        .hint(format!("Name one of: {}", first.join(", ")))
}
