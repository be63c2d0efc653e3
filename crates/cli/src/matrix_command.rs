//! `stamina matrix`.

use std::process::ExitCode;

use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{ApiError, Matrix, MatrixRequest};

use crate::commands::{find_run, print, print_json};
use crate::numbers::{estimate, interval, mean_stamina, notes, number, unknown};
use crate::table;

/// `stamina matrix`.
pub(crate) fn matrix(
    workbench: &Workbench,
    runs: &[String],
    benchmark: Option<String>,
    with_baselines: bool,
    tau: Option<u32>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let runs =
        runs.iter().map(|run| find_run(workbench, run).map(|row| row.id)).collect::<Result<Vec<_>, _>>()?;
    let matrix = workbench.get_matrix(MatrixRequest { benchmark, runs, with_baselines, tau })?;
    if as_json {
        print_json(&matrix_json(&matrix));
    } else {
        print(&matrix_text(&matrix));
    }
    Ok(ExitCode::SUCCESS)
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
                "median": cell.stamina.median,
                "runs": cell.runs,
                "simulated": cell.simulated,
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
            Some(json!({
                "model": model(column),
                "best": harness(spread.best as usize),
                "worst": harness(spread.worst as usize),
                "ratio": estimate(spread.ratio),
            }))
        })
        .collect();
    json!({
        "benchmark": { "key": matrix.benchmark.0, "name": matrix.benchmark.1 },
        "tau": matrix.tau,
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

fn matrix_text(matrix: &Matrix) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(unknown);
    let mut text = format!("{}: mean stamina, τ = {} turns\n", matrix.benchmark.1, matrix.tau);
    let models: Vec<String> = matrix.models.iter().map(|line| name(&line.name)).collect();
    let mut head = vec!["harness"];
    head.extend(models.iter().map(String::as_str));
    head.push("mean over models");
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (line, cells) in matrix.harnesses.iter().zip(matrix.cells.chunks(models.len().max(1))) {
        let mut row = vec![name(&line.name)];
        row.extend(cells.iter().map(|cell| {
            cell.as_ref().map_or_else(
                || "no run".to_owned(),
                |cell| {
                    let stamina = &cell.stamina;
                    format!(
                        "{} ({}, n = {}{})",
                        number(stamina.mean, 2),
                        interval(stamina.ci_low, stamina.ci_high),
                        stamina.n,
                        if cell.simulated { ", simulated" } else { "" }
                    )
                },
            )
        }));
        row.push(format!("{} ({} of {})", number(line.mean, 2), line.cells, line.cells + line.missing));
        rows.push(row);
    }
    let mut last = vec!["mean over harnesses".to_owned()];
    last.extend(
        matrix.models.iter().map(|line| {
            format!("{} ({} of {})", number(line.mean, 2), line.cells, line.cells + line.missing)
        }),
    );
    last.push(String::new());
    rows.push(last);
    let mut right = vec![true; head.len()];
    right[0] = false;
    text.push_str(&table::table(&head, &right, &rows));
    for (model, spread) in models.iter().zip(&matrix.spread) {
        let Some(spread) = spread else { continue };
        let line =
            |row: u32| matrix.harnesses.get(row as usize).map_or_else(unknown, |line| name(&line.name));
        let ratio = spread.ratio.map_or_else(
            || "not defined, the worst is 0".to_owned(),
            |ratio| format!("{:.2} ({})", ratio.value, interval(ratio.ci_low, ratio.ci_high)),
        );
        text.push_str(&format!(
            "{model}: best {}, worst {}, ratio {ratio}\n",
            line(spread.best),
            line(spread.worst)
        ));
    }
    for difference in &matrix.not_comparable {
        text.push_str(&format!("not comparable: {difference}\n"));
    }
    notes(&mut text, &matrix.cautions);
    text
}
