//! `stamina sources` and `stamina close`: the sources of the library.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use workbench::Workbench;
use workbench::api::{ApiError, Nothing, SourceInfo, SourceRef};

use crate::print::{note, print, print_json};
use crate::text_table;

/// `stamina sources`.
pub(crate) fn sources(workbench: &Workbench, as_json: bool) -> Result<ExitCode, ApiError> {
    let state = workbench.app_state(Nothing {})?;
    if as_json {
        print_json(&json!(state.sources));
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = state
        .sources
        .iter()
        .map(|s| {
            vec![
                s.id.to_string(),
                s.label.clone(),
                s.format.clone(),
                s.runs.to_string(),
                s.warnings.to_string(),
                s.path.clone(),
            ]
        })
        .collect();
    print(&text_table::table(
        &["number", "name", "format", "runs", "warnings", "path"],
        &[true, false, false, true, true, false],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn find_source(workbench: &Workbench, wanted: &str) -> Result<SourceInfo, ApiError> {
    let absolute = Path::new(wanted).canonicalize().ok();
    let sources = workbench.app_state(Nothing {})?.sources;
    let mut found = sources.into_iter().filter(|s| {
        s.name == wanted
            || s.label == wanted
            || s.id.to_string() == wanted
            || absolute.as_deref().is_some_and(|p| Path::new(&s.path) == p)
    });
    match (found.next(), found.next()) {
        (Some(source), None) => Ok(source),
        (Some(_), Some(_)) => {
            Err(ApiError::new("source.ambiguous", format!("\"{wanted}\" names more than one source"))
                .hint("Name it by its number; `stamina sources` lists them"))
        }
        _ => {
            Err(ApiError::new("source.not_found", format!("There is no source \"{wanted}\" in the library"))
                .hint("`stamina sources` lists them"))
        }
    }
}

/// `stamina close`.
pub(crate) fn close(workbench: &Workbench, source: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let source = find_source(workbench, source)?;
    workbench.close_for_good(SourceRef { source: source.id })?;
    if as_json {
        print_json(&json!({ "closed": source.path }));
    } else {
        note(&format!("{} is not in the library any more; the files are untouched", source.path));
    }
    Ok(ExitCode::SUCCESS)
}
