//! `stamina runs`: the runs of the library.

use std::process::ExitCode;

use model::{PassRate, by_sentence, cost_in_words, dollars, runs_in_words};
use serde_json::Value;
use workbench::api::{ApiError, ListRuns, RunGrouping, RunRef, RunRow, RunSort};
use workbench::{Workbench, is_about_scores};

use crate::library_runs::all_runs;
use crate::numbers::{interval, number, percent, percent_interval, score_text, unknown};
use crate::print::{print, print_json};
use crate::{json, text_table};

/// `stamina runs`.
pub(crate) fn runs(
    workbench: &Workbench,
    text: String,
    sort: RunSort,
    ascending: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let request = ListRuns { text, sort, ascending, group: RunGrouping::None, ..ListRuns::default() };
    let rows = all_runs(workbench, &request)?;
    if !as_json {
        print(&runs_text(&rows));
    }
    let mut values = Vec::new();
    for row in &rows {
        let is_counted = row.unrecognised > 0;
        let note =
            if is_counted { workbench.unrecognized_note(&RunRef { run: row.id.clone() })? } else { None };
        if as_json {
            values.push(json::run(row, note.as_deref()));
        } else if let Some(note) = note {
            print(&format!("* {}: {note}\n", row.id));
        }
    }
    if as_json {
        print_json(&Value::Array(values));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs of one turn have a pass rate where others have mean stamina; if all have one, the columns are those of pass rates.
/// Runs without tests have neither.
fn runs_text(rows: &[RunRow]) -> String {
    let of_one_turn = rows.iter().filter(|row| row.pass_rate.is_some()).count();
    let of_unknown_turns = rows.iter().filter(|row| row.has_unknown_turns()).count();
    let all = of_one_turn > 0 && of_one_turn + of_unknown_turns == rows.len();
    let mut head = vec!["id", "model", "harness"];
    head.extend(if all {
        ["tasks", "trials", "passed", "failed", "not scored", "pass rate", "95 % CI"].as_slice()
    } else if of_one_turn > 0 {
        ["episodes", "stamina or pass rate", "95 % CI", "tau", "events/censored or trials"].as_slice()
    } else {
        ["episodes", "stamina", "95 % CI", "tau", "events/censored"].as_slice()
    });
    head.extend(["score", "cost"]);
    // The ids of runs contain the names of their sources. Where these are the same, only the labels differ.
    let has_labels = rows.iter().any(|row| row.source_label != row.source_name);
    if has_labels {
        head.insert(1, "source");
    }
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let s = &row.stamina;
            let mut line = vec![
                row.id.clone(),
                format!("{}{}", row.model.as_deref().unwrap_or("unknown"), marks(row)),
                row.harness.clone().unwrap_or_else(unknown),
            ];
            let ends = || format!("{}/{}", s.events, s.censored);
            line.extend(match &row.pass_rate {
                Some(rate) if all => vec![
                    rate.tasks.to_string(),
                    trials(row, rate),
                    rate.passed.to_string(),
                    failed(rate).to_string(),
                    rate.unscored.to_string(),
                    starred(row, percent(rate.value)),
                    percent_interval(rate.ci_low, rate.ci_high),
                ],
                Some(rate) => vec![
                    episodes(row),
                    starred(row, percent(rate.value)),
                    percent_interval(rate.ci_low, rate.ci_high),
                    "one turn".to_owned(),
                    trials_in_words(rate),
                ],
                None if all => {
                    // Nobody was at risk: no trial is scored.
                    let [none, trials] = ["0".to_owned(), row.episodes.to_string()];
                    vec![unknown(), none.clone(), none.clone(), none, trials, unknown(), "n/a".to_owned()]
                }
                None if !row.tested => {
                    let mut cells = vec![episodes(row), "no tests".to_owned()];
                    cells.resize(5, "n/a".to_owned());
                    cells
                }
                None => vec![
                    episodes(row),
                    starred(row, number(s.mean, 2)),
                    interval(s.ci_low, s.ci_high),
                    s.tau.map_or_else(unknown, |tau| tau.to_string()),
                    ends(),
                ],
            });
            line.push(starred_score(row));
            if has_labels {
                line.insert(1, row.source_label.clone());
            }
            line.push(cost_in_words(row.cost_usd, row.simulated, |cost| match row.cost_known {
                known if known < row.episodes => {
                    format!("≥ {} (known for {known} of {})", dollars(cost), row.episodes)
                }
                _ => dollars(cost),
            }));
            line
        })
        .collect();
    let texts = if has_labels { 4 } else { 3 };
    let right: Vec<bool> = (0..head.len()).map(|column| column >= texts).collect();
    text_table::table(&head, &right, &lines) + &unscored_text(rows) + &doubts_text(rows)
}

/// How trials that are not scored count in the score, which stands beside a pass rate over the others.
fn unscored_text(rows: &[RunRow]) -> String {
    RunRow::unscored_in_scores(rows).map_or_else(String::new, |sentence| format!("\n{sentence}\n"))
}

/// How many episodes were planned, if some are missing. Those that are withdrawn are not.
fn planned(row: &RunRow) -> Option<u32> {
    let planned = row.planned_episodes?.saturating_sub(row.withdrawn_episodes);
    Some(planned).filter(|planned| *planned > row.episodes)
}

/// The number of episodes, and how many were planned if that is more.
fn episodes(row: &RunRow) -> String {
    planned(row).map_or_else(|| row.episodes.to_string(), |planned| format!("{} of {planned}", row.episodes))
}

/// The number of scored trials of a run of one turn; if trials are missing, also how many there are of those that were planned.
fn trials(row: &RunRow, rate: &PassRate) -> String {
    let scored = rate.trials;
    planned(row).map_or_else(
        || scored.to_string(),
        |planned| format!("{scored} ({} of {planned} read)", row.episodes),
    )
}

/// Scored trials that did not pass.
fn failed(rate: &PassRate) -> u32 {
    rate.trials.saturating_sub(rate.passed)
}

/// What the trials of a run of one turn came to: those that passed are no censored episodes here.
fn trials_in_words(rate: &PassRate) -> String {
    let not_scored =
        if rate.unscored > 0 { format!(", {} not scored", rate.unscored) } else { String::new() };
    format!("{} passed, {} failed{not_scored}", rate.passed, failed(rate))
}

/// A star beside a number that is less sure than it looks; the lines below the table say why.
fn starred(row: &RunRow, number: String) -> String {
    if row.doubts.iter().all(|doubt| is_about_scores(doubt)) { number } else { format!("{number}*") }
}

/// The score of a run, with a star where a doubt is about scores.
fn starred_score(row: &RunRow) -> String {
    let score = score_text(row.score);
    if row.doubts.iter().any(|doubt| is_about_scores(doubt)) { format!("{score}*") } else { score }
}

/// Those lines, each once with the runs that it is of.
fn doubts_text(rows: &[RunRow]) -> String {
    let each = rows.iter().flat_map(|row| row.doubts.iter().map(|doubt| (doubt.as_str(), row.id.as_str())));
    let line = |(doubt, runs): (&str, Vec<&str>)| format!("* {}: {doubt}\n", runs_in_words(&runs));
    let lines: String = by_sentence(each).into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The marks after the name of a run that is simulated or withdrawn.
fn marks(row: &RunRow) -> &'static str {
    match (row.simulated, row.invalid.is_some()) {
        (false, false) => "",
        (true, false) => " (simulated)",
        (false, true) => " (withdrawn)",
        (true, true) => " (simulated, withdrawn)",
    }
}
