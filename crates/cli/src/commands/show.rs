//! `stamina show`: a run with its episodes, or with its trials where each has one turn.

use std::process::ExitCode;

use model::{PassRate, counted};
use serde_json::Value;
use workbench::Workbench;
use workbench::api::{ApiError, EpisodeRef, GridRow, GridSort, RunGridRequest, RunRef, RunRow};

use crate::library_runs::find_run;
use crate::numbers::{percent, percent_interval};
use crate::print::{print, print_json};
use crate::{json, text_table};

/// `stamina show`.
pub(crate) fn show(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let run = find_run(workbench, run)?;
    let grid = workbench.run_grid(RunGridRequest {
        run: run.id.clone(),
        sort: GridSort::default(),
        offset: 0,
        limit: 0,
    })?;
    if !as_json {
        print_marks(&run);
        let of_run = RunRef { run: run.id.clone() };
        let notes = [
            workbench.unrecognized_note(&of_run)?,
            workbench.network_note(&of_run)?,
            workbench.grader_note(&of_run)?,
            workbench.processes_note(&of_run)?,
        ];
        let attempt_notes = workbench.attempt_notes(&of_run)?;
        for note in notes.into_iter().flatten().chain(attempt_notes) {
            print(&format!("{note}\n\n"));
        }
        if let Some(rate) = &run.pass_rate {
            print(&pass_rate_text(rate, &grid.rows));
            return Ok(ExitCode::SUCCESS);
        }
        let lines: Vec<Vec<String>> = grid
            .rows
            .iter()
            .map(|e| {
                vec![
                    e.episode.clone(),
                    format!("{}{}", if e.censored { "≥ " } else { "" }, e.stamina),
                    e.failed_turn.map_or_else(String::new, |t| t.to_string()),
                    end(e),
                    e.cells.clone(),
                ]
            })
            .collect();
        print(&text_table::table(
            &[
                "episode",
                "stamina",
                "first not passed",
                "end",
                "turns (p passed, r after retries, f failed, e error, n not reached, c censored)",
            ],
            &[false, true, true, false, false],
            &lines,
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let note = workbench.unrecognized_note(&RunRef { run: run.id.clone() })?;
    let mut value = json::run(&run, note.as_deref());
    let mut episodes = Vec::new();
    for row in &grid.rows {
        let episode =
            workbench.whole_episode(&EpisodeRef { run: run.id.clone(), episode: row.episode.clone() })?;
        episodes.push(json::episode(row, &episode));
    }
    value["episodes"] = Value::Array(episodes);
    print_json(&value);
    Ok(ExitCode::SUCCESS)
}

/// Prints why the numbers of a run need care: it is simulated or withdrawn, or they are less sure than they look.
pub(super) fn print_marks(row: &RunRow) {
    let mut lines = String::new();
    if row.simulated {
        lines.push_str(&format!("{}: simulated, no real model answered\n", row.id));
    }
    for doubt in &row.doubts {
        lines.push_str(&format!("{}: {doubt}\n", row.id));
    }
    if !lines.is_empty() {
        lines.push('\n');
        print(&lines);
    }
}

/// Why an episode ended, or why it does not count.
fn end(row: &GridRow) -> String {
    let cause = if row.unrecognised { ", cause not recognized" } else { "" };
    row.invalid
        .as_ref()
        .map_or_else(|| format!("{}{cause}", row.end_reason.label()), |reason| format!("withdrawn: {reason}"))
}

/// The text about a run of one turn: its pass rate, pass@k and pass^k, and its trials.
fn pass_rate_text(rate: &PassRate, trials: &[GridRow]) -> String {
    let mut text = format!(
        "Pass rate {}: {} of {} passed, {}",
        rate.in_words(),
        rate.passed,
        counted(rate.trials.into(), "scored trial"),
        counted(rate.tasks.into(), "task"),
    );
    if let Some(interval) = rate.interval {
        text.push_str(&format!("; interval {}", interval.in_words()));
    }
    if rate.unscored > 0 {
        text.push_str(&format!("; {} not scored", counted(rate.unscored.into(), "trial")));
    }
    text.push_str(".\n\n");
    if rate.repeats() {
        let at_k = rate.pass_at_k.iter().zip(&rate.pass_at_k_ci);
        let hat_k = rate.pass_hat_k.iter().zip(&rate.pass_hat_k_ci);
        let ends = |ends: &Option<(f64, f64)>| percent_interval(ends.map(|e| e.0), ends.map(|e| e.1));
        let lines: Vec<Vec<String>> = (1_u32..)
            .zip(at_k.zip(hat_k))
            .map(|(k, ((at, at_ends), (hat, hat_ends)))| {
                vec![k.to_string(), percent(Some(*at)), ends(at_ends), percent(Some(*hat)), ends(hat_ends)]
            })
            .collect();
        text.push_str(&text_table::table(
            &["k", "pass@k", "95 % CI", "pass^k", "95 % CI"],
            &[true; 5],
            &lines,
        ));
        text.push('\n');
    }
    let lines: Vec<Vec<String>> = trials
        .iter()
        .map(|trial| {
            vec![
                trial.episode.clone(),
                trial.title.as_ref().unwrap_or(&trial.scenario).clone(),
                trial.repeat.to_string(),
                trial.outcome().to_owned(),
                end(trial),
            ]
        })
        .collect();
    text.push_str(&text_table::table(
        &["trial", "task", "repeat", "outcome", "end"],
        &[false, false, true, false, false],
        &lines,
    ));
    text
}
