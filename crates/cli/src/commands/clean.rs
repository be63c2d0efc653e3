//! `stamina clean`: what runs left behind in the engine.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use serde_json::json;
use workbench::api::ApiError;
use workbench::runs;

use crate::print::{confirmed, note, print, print_json};
use crate::text_table;

/// `stamina clean`.
pub(crate) fn clean(yes: bool, all: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let list = runs::leftovers()?;
    if list.engine.is_none() {
        return Err(ApiError::new("engine.none", list.problem.unwrap_or_default()));
    }
    let (found, kept): (Vec<_>, Vec<_>) = list.leftovers.into_iter().partition(|l| all || !l.in_use);
    if !as_json {
        let rows: Vec<Vec<String>> = found
            .iter()
            .map(|l| {
                let state = if l.in_use { "needed" } else { "left behind" };
                vec![l.kind.clone(), l.name.clone(), l.run.clone(), state.to_owned()]
            })
            .collect();
        if found.is_empty() {
            note("nothing was left behind");
        } else {
            print(&text_table::table(&["kind", "name", "run", "state"], &[false; 4], &rows));
        }
        if !kept.is_empty() {
            note(&format!(
                "{} of running runs, or of runs that a resume continues, stay; --all removes them, too",
                kept.len()
            ));
        }
    }
    let is_confirmed =
        yes || (!as_json && std::io::stdin().is_terminal() && !found.is_empty() && confirmed("Remove them?"));
    let removed = is_confirmed && !found.is_empty();
    if removed {
        runs::clean(all)?;
    }
    if as_json {
        print_json(&json!({ "found": found, "kept": kept, "removed": removed }));
    } else if removed {
        note(&format!("removed {}", found.len()));
    } else if !found.is_empty() {
        note("nothing was removed; --yes removes it");
    }
    Ok(ExitCode::SUCCESS)
}
