//! `stamina search`: finds places in requests, failing tests, transcripts and logs.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Instant;

use model::counted;
use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{ApiError, TextHit};

use super::ingest::PROGRESS_INTERVAL;
use crate::print::{note, print, print_json};
use crate::text_table;

/// `stamina search`.
pub(crate) fn search(
    workbench: &Workbench,
    words: &str,
    limit: u32,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let last: Cell<Option<Instant>> = Cell::new(None);
    let progress = |episodes_read: u32, all_episodes: u32| {
        if !as_json && last.get().is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL) {
            last.set(Some(Instant::now()));
            note(&progress_line(episodes_read, all_episodes));
        }
    };
    let found = workbench.search_everything(words, limit, &progress)?;
    if !found.complete {
        note(
            "Some transcripts and logs are not searched: their source is missing, another process is reading them, or the library cannot be written.",
        );
    }
    if found.in_part > 0 {
        let episodes = counted(u64::from(found.in_part), "episode");
        note(&format!("Only a part of the texts of {episodes} is searched, because there are too many."));
    }
    if found.has_more && !found.hits.is_empty() {
        note(&format!("There may be more places than these {}; --limit N gives more.", found.hits.len()));
    }
    if as_json {
        print_json(&Value::Array(found.hits.iter().map(hit).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    if found.hits.is_empty() {
        let is_whole = found.complete && found.in_part == 0 && !found.has_more;
        print(if is_whole { "Nothing found.\n" } else { "Nothing found in what was searched.\n" });
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

/// How much is made searchable before the search, and how far that is. Episodes may be added meanwhile.
fn progress_line(episodes_read: u32, all_episodes: u32) -> String {
    let episodes = counted(all_episodes.max(episodes_read).into(), "episode");
    let so_far = if episodes_read == 0 { String::new() } else { format!(" {episodes_read} read") };
    format!("Reading transcripts and logs of {episodes}…{so_far}")
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

#[cfg(test)]
mod tests {
    use super::progress_line;

    #[test]
    fn the_progress_says_how_many_episodes_are_read() {
        assert_eq!(progress_line(0, 40), "Reading transcripts and logs of 40 episodes…");
        assert_eq!(progress_line(12, 40), "Reading transcripts and logs of 40 episodes… 12 read");
        assert_eq!(progress_line(0, 1), "Reading transcripts and logs of 1 episode…");
    }
}
