//! Harness × model: the effect of the harness and of the model on stamina.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ROUNDING;
use crate::bootstrap::{BootstrapEstimate, Resampling, bootstrap_ratio};
use crate::clusters::{InScenario, observations};
use crate::difference::{ShortestRuns, common_tau, shortest};
use crate::survival::{MAX_TURNS, Observation, StaminaSummary, anyone_at_risk, summarize_over};

/// A run of the matrix.
#[derive(Debug, Clone, Copy)]
pub struct MatrixRun<'a> {
    /// Its harness.
    pub harness: &'a str,
    /// Its model.
    pub model: &'a str,
    /// Its episodes.
    pub episodes: &'a [InScenario],
    /// The most turns planned in any episode; `None` = unknown.
    pub planned: Option<u32>,
}

/// One harness with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Indexes of the pooled runs.
    pub runs: Vec<usize>,
    /// Mean stamina of all their episodes over the τ of the matrix, n, events, censored.
    pub summary: StaminaSummary,
}

/// The margin of a row or column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// The harness or model.
    pub name: String,
    /// Unweighted mean of the means of its cells, for any number of episodes in a cell. `None` = no cell has a mean.
    pub mean: Option<f64>,
    /// Cells with a mean.
    pub present: u32,
    /// Cells without a mean. Margins with different missing cells are not comparable.
    pub missing: u32,
}

/// The best and the worst harness of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// Row of the harness with the highest mean (the first of several). Means that differ by their rounding are equal.
    pub best: usize,
    /// Row of the harness with the lowest mean, in the same way: where all are equal it is the best, too.
    pub worst: usize,
    /// Best ÷ worst, by cluster bootstrap of these two cells; `None` = the worst is 0, the ratio is not defined.
    pub ratio: Option<BootstrapEstimate>,
}

/// Harness × model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The horizon of all cells: the greatest one to which the curve of every cell is known.
    pub tau: u32,
    /// The cells that limit τ, with all their runs; `None` = τ of the other cells is not greater.
    pub shortest: Option<ShortestRuns>,
    /// Rows, by name: each harness with its margin over models.
    pub harnesses: Vec<Margin>,
    /// Columns, by name: each model with its margin over harnesses.
    pub models: Vec<Margin>,
    /// `cells[harness][model]`; `None` = no run.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// The best and worst harness of each model; `None` with fewer than two means.
    pub extremes: Vec<Option<Extremes>>,
}

/// Computes the matrix. Runs of the same harness and model are pooled in one cell.
///
/// τ is common to all cells, and `tau` may shorten it. A cell without an episode at risk has no mean and does not lower τ.
/// The best and the worst cell are selected from the data, so their ratio is larger on average than that of two cells selected
/// beforehand. The interval does not include this selection.
pub fn matrix(runs: &[MatrixRun<'_>], tau: Option<u32>, resampling: Resampling) -> Matrix {
    let mut pooled: BTreeMap<(&str, &str), Pool> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        let pool = pooled.entry((run.harness, run.model)).or_default();
        pool.runs.push(place);
        // If one run does not record its planned turns, they are unknown for the cell, as one episode makes them for a run.
        pool.planned = match pool.episodes.is_empty() {
            true => run.planned,
            false if run.episodes.is_empty() => pool.planned,
            false => pool.planned.zip(run.planned).map(|(a, b)| a.max(b)),
        };
        pool.episodes.extend_from_slice(run.episodes);
    }
    for pool in pooled.values_mut() {
        pool.observations = observations(&pool.episodes);
    }
    let known: Vec<&Pool> = pooled.values().filter(|p| anyone_at_risk(&p.observations)).collect();
    let curves: Vec<(&[Observation], Option<u32>)> =
        known.iter().map(|p| (p.observations.as_slice(), p.planned)).collect();
    let shortest = shortest(&curves).map(|cells| ShortestRuns {
        runs: cells.runs.iter().flat_map(|cell| known[*cell].runs.iter().copied()).collect(),
        ..cells
    });
    let tau = common_tau(&curves).min(tau.unwrap_or(MAX_TURNS));
    let rows: BTreeSet<&str> = pooled.keys().map(|k| k.0).collect();
    let columns: BTreeSet<&str> = pooled.keys().map(|k| k.1).collect();
    let grid: Vec<Vec<Option<CellEpisodes<'_>>>> = rows
        .iter()
        .map(|harness| {
            columns
                .iter()
                .map(|model| pooled.get(&(*harness, *model)).map(|pool| CellEpisodes::from_pool(pool, tau)))
                .collect()
        })
        .collect();
    let row = |r: usize| grid[r].iter().map(Option::as_ref).collect::<Vec<_>>();
    let column = |c: usize| grid.iter().map(|row| row[c].as_ref()).collect::<Vec<_>>();
    Matrix {
        tau,
        shortest,
        harnesses: rows.iter().enumerate().map(|(r, name)| margin(name, &row(r))).collect(),
        models: columns.iter().enumerate().map(|(c, name)| margin(name, &column(c))).collect(),
        extremes: (0..columns.len()).map(|c| extremes(&column(c), tau, resampling)).collect(),
        cells: grid
            .iter()
            .map(|row| row.iter().map(|placed| placed.as_ref().map(|p| p.cell.clone())).collect())
            .collect(),
    }
}

#[derive(Default)]
struct Pool {
    runs: Vec<usize>,
    planned: Option<u32>,
    episodes: Vec<InScenario>,
    observations: Vec<Observation>,
}

/// A cell with its episodes.
struct CellEpisodes<'a> {
    cell: Cell,
    episodes: &'a [InScenario],
}

impl<'a> CellEpisodes<'a> {
    fn from_pool(pool: &'a Pool, tau: u32) -> Self {
        let cell = Cell { runs: pool.runs.clone(), summary: summarize_over(&pool.observations, tau) };
        Self { cell, episodes: &pool.episodes }
    }

    const fn mean(&self) -> Option<f64> {
        self.cell.summary.restricted_mean.mean
    }
}

fn margin(name: &str, line: &[Option<&CellEpisodes<'_>>]) -> Margin {
    let means: Vec<f64> = line.iter().flatten().filter_map(|placed| placed.mean()).collect();
    Margin {
        name: name.to_owned(),
        mean: (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64),
        present: means.len() as u32,
        missing: (line.len() - means.len()) as u32,
    }
}

fn extremes(line: &[Option<&CellEpisodes<'_>>], tau: u32, resampling: Resampling) -> Option<Extremes> {
    let means: Vec<(usize, &CellEpisodes<'_>, f64)> = line
        .iter()
        .enumerate()
        .filter_map(|(row, placed)| placed.and_then(|p| Some((row, p, p.mean()?))))
        .collect();
    if means.len() < 2 {
        return None;
    }
    let highest = means.iter().map(|m| m.2).fold(f64::NEG_INFINITY, f64::max);
    let lowest = means.iter().map(|m| m.2).fold(f64::INFINITY, f64::min);
    let rounding = ROUNDING * highest.max(1.0);
    // The first of equals in both cases.
    let best = means.iter().find(|m| highest - m.2 <= rounding)?;
    let worst = means.iter().find(|m| m.2 - lowest <= rounding)?;
    let ratio = bootstrap_ratio(best.1.episodes, worst.1.episodes, tau, resampling);
    Some(Extremes { best: best.0, worst: worst.0, ratio })
}
