//! `stamina matrix`.

use std::process::ExitCode;

use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{
    ApiError, HarnessSpread, Matrix, MatrixCell, MatrixLine, MatrixRequest, Member, Retries, RetriesRequest,
    RetryPoint, RetrySeries,
};

use super::compare::horizon;
use super::turn_scores::{ScoredLine, scores_text};
use crate::library_runs::find_run;
use crate::numbers::{
    benchmarks, estimate, interval, mean_stamina, notes, number, percent, percent_interval, unknown,
};
use crate::print::{print, print_json};
use crate::{json, text_table};

/// More models have rows, where harnesses are fewer: a line with a column for each is wider than a terminal.
const MOST_IN_COLUMNS: usize = 6;

/// `stamina matrix`. Its request names runs as a user does.
pub(crate) fn matrix(
    workbench: &Workbench,
    request: MatrixRequest,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let find = |runs: &[String]| -> Result<Vec<String>, ApiError> {
        runs.iter().map(|run| find_run(workbench, run).map(|row| row.id)).collect()
    };
    let (runs, without) = (find(&request.runs)?, find(&request.without)?);
    let matrix = workbench.get_matrix(MatrixRequest { runs, without, ..request })?;
    let retries = match retries_of(&matrix) {
        request if request.members.is_empty() => None,
        request => Some(workbench.get_retries(request)?),
    };
    if as_json {
        let mut value = matrix_json(&matrix);
        value["retries"] = retries.as_ref().map_or(Value::Null, retries_json);
        print_json(&value);
    } else {
        print(&matrix_text(&matrix));
        print(&cell_scores_text(&matrix));
        print(&retries.as_ref().map_or_else(String::new, retries_text));
    }
    Ok(ExitCode::SUCCESS)
}

/// The request for a series per cell of the matrix, over the runs of the cell.
fn retries_of(matrix: &Matrix) -> RetriesRequest {
    let name = |lines: &[MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|line| line.name.clone()).unwrap_or_default()
    };
    let cells = || matrix.cells.iter().flatten();
    let member = |cell: &MatrixCell| match cell.runs.as_slice() {
        [run] => Member::Run { run: run.clone() },
        _ => Member::Cell {
            harness: name(&matrix.harnesses, cell.harness),
            model: name(&matrix.models, cell.model),
            benchmark: matrix.benchmark.0.clone(),
        },
    };
    RetriesRequest {
        members: cells().map(member).collect(),
        only: cells().flat_map(|cell| cell.runs.iter().cloned()).collect(),
    }
}

fn retries_json(retries: &Retries) -> Value {
    let point = |point: &RetryPoint| {
        json!({
            "retries": point.retries,
            "n": point.stamina.n,
            "events": point.stamina.events,
            "censored": point.stamina.censored,
            "mean_stamina": mean_stamina(&point.stamina),
        })
    };
    let series = |series: &RetrySeries| {
        json!({
            "id": series.id,
            "name": series.name,
            "simulated": series.simulated,
            "attempt_limit": series.attempt_limit,
            "points": series.points.iter().map(point).collect::<Vec<_>>(),
            "gain": estimate(series.gain),
        })
    };
    json!({
        "tau": retries.tau,
        "series": retries.series.iter().map(series).collect::<Vec<_>>(),
        "not_comparable": retries.not_comparable,
        "published": retries.published,
        "cautions": retries.cautions,
    })
}

/// Mean stamina by retry budget, if any member allows a retry; else empty.
fn retries_text(retries: &Retries) -> String {
    let Some(most) = retries.series.iter().map(|series| series.points.len()).max().filter(|most| *most > 1)
    else {
        return String::new();
    };
    let mut head = vec!["retry budget".to_owned()];
    head.extend((0..most).map(|r| format!("R = {r}")));
    head.push("gain".to_owned());
    let rows: Vec<Vec<String>> = retries
        .series
        .iter()
        .map(|series| {
            let mut row = vec![series.marked()];
            row.extend((0..most).map(|r| {
                series.points.get(r).map_or_else(|| "not allowed".to_owned(), |p| number(p.stamina.mean, 2))
            }));
            row.push(series.gain.map_or_else(
                || "not defined".to_owned(),
                |gain| format!("{:.2} ({})", gain.value, interval(gain.ci_low, gain.ci_high)),
            ));
            row
        })
        .collect();
    let mut right = vec![true; head.len()];
    right[0] = false;
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut text = format!(
        "\nMean stamina if no turn had been allowed more than R retries, τ = {}\n",
        horizon(retries.tau)
    );
    text.push_str(&text_table::table(&head, &right, &rows));
    for difference in &retries.not_comparable {
        text.push_str(&format!("not comparable: {difference}\n"));
    }
    notes(&mut text, &retries.cautions);
    text
}

fn matrix_json(matrix: &Matrix) -> Value {
    let harness = |row: usize| matrix.harnesses.get(row).and_then(|line| line.name.clone());
    let model = |column: usize| matrix.models.get(column).and_then(|line| line.name.clone());
    let columns = matrix.models.len().max(1);
    let mut cells = Vec::new();
    let mut missing = Vec::new();
    for (place, cell) in matrix.cells.iter().enumerate() {
        let (row, column) = (place / columns, place % columns);
        match cell {
            None => missing.push(json!({ "harness": harness(row), "model": model(column) })),
            Some(cell) => cells.push(json!({
                "harness": harness(row),
                "model": model(column),
                "n": cell.stamina.n,
                "events": cell.stamina.events,
                "censored": cell.stamina.censored,
                "mean_stamina": mean_stamina(&cell.stamina),
                "pass_rate": json::pass_rate(cell.pass_rate.as_ref()),
                "scores": json::turn_scores(cell.scores.as_ref()),
                "median": cell.stamina.median.time(),
                "median_reached": cell.stamina.median.is_reached(),
                "runs": cell.runs,
                "simulated": cell.simulated,
                "early_censored": cell.early_censored,
                "doubts": cell.doubts,
                "score_doubts": cell.score_doubts,
                "mixed": cell.mixed,
            })),
        }
    }
    let spread: Vec<Value> = matrix
        .spread
        .iter()
        .enumerate()
        .filter_map(|(column, spread)| {
            let spread = spread.as_ref()?;
            // Where all have one mean none is best.
            let differ = spread.best != spread.worst;
            Some(json!({
                "model": model(column),
                "best": differ.then(|| harness(spread.best as usize)),
                "worst": differ.then(|| harness(spread.worst as usize)),
                "ratio": if differ { estimate(spread.ratio) } else { Value::Null },
            }))
        })
        .collect();
    json!({
        "benchmark": { "key": matrix.benchmark.0, "name": matrix.benchmark.1 },
        "benchmarks": benchmarks(&matrix.benchmarks),
        "left_out": matrix.left_out,
        "of_one_turn": matrix.of_one_turn,
        "tau": matrix.tau,
        "shortest": matrix.shortest,
        "harnesses": matrix.harnesses,
        "models": matrix.models,
        "cells": cells,
        "missing": missing,
        "spread": spread,
        "not_comparable": matrix.not_comparable,
        "published": matrix.published,
        "cautions": matrix.cautions,
        "policy": matrix.policy,
        "seed": matrix.seed,
    })
}

/// The line of best and worst harness of a model. Where all have one mean none is best.
fn spread_text(model: &str, spread: &HarnessSpread, name: impl Fn(u32) -> String) -> String {
    if spread.best == spread.worst {
        return format!("{model}: all harnesses equal\n");
    }
    let ratio = spread.ratio.map_or_else(
        || "not defined, the worst is 0".to_owned(),
        |ratio| format!("{:.2} ({})", ratio.value, interval(ratio.ci_low, ratio.ci_high)),
    );
    format!("{model}: best {}, worst {}, ratio {ratio}\n", name(spread.best), name(spread.worst))
}

/// The table of a matrix, with its head as the first row, turned around.
fn with_models_in_rows(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let columns = rows.first().map_or(0, Vec::len);
    let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let mut turned: Vec<Vec<String>> =
        (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).collect()).collect();
    if let Some(corner) = turned.first_mut().and_then(|head| head.first_mut()) {
        "model".clone_into(corner);
    }
    turned
}

fn matrix_text(matrix: &Matrix) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(unknown);
    let one = matrix.of_one_turn;
    let mut text = if one {
        format!("{}: pass rate\n", matrix.benchmark.1)
    } else {
        format!("{}: mean stamina, τ = {}\n", matrix.benchmark.1, horizon(matrix.tau))
    };
    let mean = |mean: Option<f64>| if one { percent(mean) } else { number(mean, 2) };
    let models: Vec<String> = matrix.models.iter().map(|line| name(&line.name)).collect();
    let mut head = vec!["harness".to_owned()];
    head.extend(models.iter().cloned());
    head.push("mean over models".to_owned());
    let mut rows: Vec<Vec<String>> = vec![head];
    for (line, cells) in matrix.harnesses.iter().zip(matrix.cells.chunks(models.len().max(1))) {
        let mut row = vec![name(&line.name)];
        row.extend(cells.iter().map(|cell| {
            cell.as_ref().map_or_else(
                || "no run".to_owned(),
                |cell| {
                    let stamina = &cell.stamina;
                    let simulated = if cell.simulated { ", simulated" } else { "" };
                    let (ends, n) = match &cell.pass_rate {
                        Some(rate) if one => (percent_interval(rate.ci_low, rate.ci_high), rate.trials),
                        _ => (interval(stamina.ci_low, stamina.ci_high), stamina.n),
                    };
                    let star = if cell.doubts.is_empty() { "" } else { "*" };
                    format!("{}{star} ({ends}, n = {n}{simulated})", mean(stamina.mean))
                },
            )
        }));
        row.push(format!("{} ({} of {})", mean(line.mean), line.cells, line.cells + line.missing));
        rows.push(row);
    }
    let mut last = vec!["mean over harnesses".to_owned()];
    last.extend(
        matrix
            .models
            .iter()
            .map(|line| format!("{} ({} of {})", mean(line.mean), line.cells, line.cells + line.missing)),
    );
    last.push(String::new());
    rows.push(last);
    if models.len() > MOST_IN_COLUMNS.max(matrix.harnesses.len()) {
        rows = with_models_in_rows(&rows);
    }
    let head: Vec<&str> = rows[0].iter().map(String::as_str).collect();
    let mut right = vec![true; head.len()];
    right[0] = false;
    text.push_str(&text_table::table(&head, &right, &rows[1..]));
    for (model, spread) in models.iter().zip(&matrix.spread) {
        let Some(spread) = spread else { continue };
        let line =
            |row: u32| matrix.harnesses.get(row as usize).map_or_else(unknown, |line| name(&line.name));
        text.push_str(&spread_text(model, spread, line));
    }
    for difference in &matrix.not_comparable {
        text.push_str(&format!("not comparable: {difference}\n"));
    }
    notes(&mut text, &matrix.cautions);
    text
}

/// Scores of turns that are graded by themselves, of each cell.
fn cell_scores_text(matrix: &Matrix) -> String {
    let name = |lines: &[MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|line| line.name.clone()).unwrap_or_else(unknown)
    };
    let cells = matrix.cells.iter().flatten();
    let lines: Vec<ScoredLine<'_>> = cells
        .map(|cell| ScoredLine {
            names: vec![name(&matrix.harnesses, cell.harness), name(&matrix.models, cell.model)],
            scores: cell.scores.as_ref(),
            is_doubtful: !cell.score_doubts.is_empty(),
        })
        .collect();
    let has_published = matrix.published.iter().any(|number| number.metric == "mt4");
    scores_text(&["harness", "model"], &lines, has_published)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "best codex, worst codex" stood under a model whose harnesses had one mean.
    #[test]
    fn equal_harnesses_are_neither_best_nor_worst() {
        let line = |best, worst| {
            let spread = HarnessSpread { best, worst, ratio: None };
            spread_text("glm-5", &spread, |row| ["codex", "opencode"][row as usize].to_owned())
        };
        assert_eq!(line(0, 0), "glm-5: all harnesses equal\n");
        assert_eq!(line(1, 0), "glm-5: best opencode, worst codex, ratio not defined, the worst is 0\n");
    }

    /// The lines of 13 models of EvoCode-Bench were 370 characters wide.
    #[test]
    fn a_table_with_models_in_rows_has_a_line_for_each() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["harness", "a", "b", "mean over models"]),
            row(["x", "1.00", "2.00", "1.50 (2 of 2)"]),
            row(["mean over harnesses", "1.00", "2.00", ""]),
        ];
        let turned = with_models_in_rows(&rows);
        assert_eq!(turned[0], ["model", "x", "mean over harnesses"]);
        assert_eq!(turned[1], ["a", "1.00", "1.00"]);
        assert_eq!(turned[3], ["mean over models", "1.50 (2 of 2)", ""]);
        assert_eq!(turned.len(), 4);
        assert!(with_models_in_rows(&[]).is_empty());
    }
}
