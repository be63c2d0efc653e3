//! `stamina search`: finds places in requests, failing tests, transcripts and logs.

use std::process::ExitCode;

use model::counted;
use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{ApiError, TextHit};

use crate::print::{note, print, print_json};
use crate::text_table;

/// `stamina search`.
pub(crate) fn search(
    workbench: &Workbench,
    words: &str,
    limit: u32,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let found = workbench.search_everything(words, limit)?;
    if !found.complete {
        note(
            "Some transcripts and logs are not searched: their source is missing, another process is reading them, or the library cannot be written.",
        );
    }
    if found.in_part > 0 {
        let episodes = counted(u64::from(found.in_part), "episode");
        note(&format!("Only a part of the texts of {episodes} is searched, because there are too many."));
    }
    if found.has_more {
        note(&format!("There may be more places than these {}; --limit N gives more.", found.hits.len()));
    }
    if as_json {
        print_json(&Value::Array(found.hits.iter().map(hit).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    if found.hits.is_empty() {
        print("Nothing found.\n");
        return Ok(ExitCode::SUCCESS);
    }
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    let lines: Vec<Vec<String>> = found
        .hits
        .iter()
        .map(|hit| {
            vec![
                hit.run.clone(),
                hit.scenario.clone(),
                number(hit.turn),
                number(hit.attempt),
                hit.place.clone(),
                hit.snippet.clone(),
            ]
        })
        .collect();
    let head = ["run", "scenario", "turn", "attempt", "where", "text"];
    print(&text_table::table(&head, &[false, false, true, true, false, false], &lines));
    Ok(ExitCode::SUCCESS)
}

/// A place as JSON; what it does not have is `null`.
fn hit(hit: &TextHit) -> Value {
    json!({
        "run": hit.run,
        "scenario": hit.scenario,
        "episode": hit.episode,
        "turn": hit.turn,
        "attempt": hit.attempt,
        "where": hit.place,
        "snippet": hit.snippet,
        "kind": hit.kind,
        "test": hit.test,
        "step": hit.step,
        "log": hit.log,
        "line": hit.line,
        "simulated": hit.simulated,
    })
}
