//! Commands about runs of the library: their list, and the survival table, episodes and copies of one.

use std::process::ExitCode;

use model::{PassRate, by_sentence, cost_in_words, counted, dollars, runs_in_words};
use serde_json::Value;
use workbench::Workbench;
use workbench::api::{
    ApiError, EpisodeRef, GridRow, GridSort, ListRuns, RerunRequest, RunGridRequest, RunGrouping, RunRef,
    RunRow, RunSort,
};

use crate::args::Sort;
use crate::numbers::{interval, number, percent, percent_interval, score_text, unknown};
use crate::print::{print, print_json};
use crate::{json, text_table};

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

/// `stamina runs`.
pub(crate) fn runs(
    workbench: &Workbench,
    text: String,
    sort: Sort,
    ascending: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let sort = match sort {
        Sort::Stamina => RunSort::Stamina,
        Sort::Model => RunSort::Model,
        Sort::Harness => RunSort::Harness,
        Sort::Benchmark => RunSort::Benchmark,
        Sort::Source => RunSort::Source,
        Sort::Episodes => RunSort::Episodes,
        Sort::Turns => RunSort::Turns,
        Sort::Score => RunSort::Score,
        Sort::Tokens => RunSort::Tokens,
        Sort::Cost => RunSort::Cost,
        Sort::Date => RunSort::Date,
    };
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
    let of_unknown_turns = rows.iter().filter(|row| row.is_of_unknown_turns()).count();
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
                    s.tau.to_string(),
                    ends(),
                ],
            });
            line.push(score_text(row.score));
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
    text_table::table(&head, &right, &lines) + &doubts_text(rows)
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
    if row.doubts.is_empty() { number } else { format!("{number}*") }
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

/// Prints why the numbers of a run need care: it is simulated or withdrawn, or they are less sure than they look.
fn print_marks(row: &RunRow) {
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

/// `stamina rerun-list`.
pub(crate) fn rerun_list(
    workbench: &Workbench,
    request: &RerunRequest,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let run = find_run(workbench, &request.run)?.id;
    let list = workbench.list_reruns(RerunRequest { run, ..request.clone() })?;
    if as_json {
        print_json(&json::reruns(&list));
    } else {
        print(&list.text);
    }
    Ok(ExitCode::SUCCESS)
}

/// `stamina survival`.
pub(crate) fn survival(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let row = find_run(workbench, run)?;
    let rows = workbench.run_survival(RunRef { run: row.id.clone() })?.rows;
    if as_json {
        print_json(&Value::Array(rows.iter().map(json::survival).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    print_marks(&row);
    let band = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| format!("{v:.3}"));
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            vec![
                r.turn.to_string(),
                r.at_risk.to_string(),
                r.events.to_string(),
                r.censored.to_string(),
                number(r.survival, 3),
                band(r.ci_low),
                band(r.ci_high),
            ]
        })
        .collect();
    print(&text_table::table(
        &["turn", "at risk", "events", "censored", "survival", "ci low", "ci high"],
        &[true; 7],
        &lines,
    ));
    if row.stamina.clustered {
        print("\nScenarios repeat: the interval is by scenario.\n");
    }
    Ok(ExitCode::SUCCESS)
}

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
        for note in notes.into_iter().flatten() {
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

/// `stamina copies`.
pub(crate) fn copies(
    workbench: &Workbench,
    run: &str,
    count_here: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let run = RunRef { run: find_run(workbench, run)?.id };
    let detail = if count_here { workbench.prefer_run(run)? } else { workbench.get_run(run)? };
    if as_json {
        print_json(&json::copies(&detail));
        return Ok(ExitCode::SUCCESS);
    }
    if detail.copies.is_empty() {
        print(&format!("No other run has trials of {}.\n", detail.row.id));
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = detail
        .copies
        .iter()
        .map(|copies| {
            let here = copies.episodes - copies.counted_there.min(copies.episodes);
            let counted = match (here, copies.counted_there) {
                (_, 0) => detail.row.id.clone(),
                (0, _) => copies.run.clone(),
                (here, there) => format!("{} ({here}), {} ({there})", detail.row.id, copies.run),
            };
            vec![copies.run.clone(), copies.source.clone(), copies.episodes.to_string(), counted]
        })
        .collect();
    print(&text_table::table(
        &["run", "source", "trials in both", "counted in"],
        &[false, false, true, false],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}
