//! Harness × model: which part of the stamina is the harness's, and which the model's.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bootstrap::{Bootstrapped, Resampling, bootstrap_ratio};
use crate::clusters::{InScenario, observations};
use crate::difference::common_tau;
use crate::survival::{MAX_TURNS, Observation, restricted_mean, summarise_over};

/// A run that goes into the matrix.
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Runs that are pooled here.
    pub runs: u32,
    /// Episodes.
    pub n: u32,
    /// Mean stamina over τ; `None` = nobody was at risk.
    pub mean: Option<f64>,
    /// Lower end of its 95 % interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// The horizon, the same for all cells.
    pub tau: u32,
    /// Episodes that ended in an event.
    pub events: u32,
    /// Episodes that were censored.
    pub censored: u32,
}

/// A row or column as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// The harness or model.
    pub name: String,
    /// Unweighted mean of the means of its cells: a cell of many episodes weighs no more. `None` = no cell has one.
    pub mean: Option<f64>,
    /// Cells with a mean.
    pub present: u32,
    /// Cells without. Margins with different cells missing are not comparable.
    pub missing: u32,
    /// Its best and worst cell; `None` with fewer than two means.
    pub extremes: Option<Extremes>,
}

/// The best and the worst cell of a row or column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// The model (of a harness) or harness (of a model) with the highest mean; the first by name of several.
    pub best: String,
    /// The one with the lowest.
    pub worst: String,
    /// Best ÷ worst, by cluster bootstrap of these two cells; `None` = the worst is 0, the ratio is not defined.
    pub ratio: Option<Bootstrapped>,
}

/// Harness × model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The horizon of all cells: the greatest to which every cell's curve is known.
    pub tau: u32,
    /// Rows, by name: each harness with its margin over models and its best and worst model.
    pub harnesses: Vec<Margin>,
    /// Columns, by name: each model with its margin over harnesses and its best and worst harness.
    pub models: Vec<Margin>,
    /// `cells[harness][model]`; `None` = no run.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// Makes the matrix. Runs of the same harness and model are pooled: their episodes together are the cell's.
///
/// τ is common to all cells. A cell in which nobody was ever at risk has no mean and does not lower it. Best and worst
/// are picked after looking, so their ratio is larger than that of two cells named beforehand would be on average; its
/// interval does not know of the picking.
pub fn matrix(runs: &[MatrixRun<'_>], how: Resampling) -> Matrix {
    matrix_over(runs, None, how)
}

/// [`matrix`] over a shorter horizon than the data allows; a longer one is not taken.
pub fn matrix_over(runs: &[MatrixRun<'_>], tau: Option<u32>, how: Resampling) -> Matrix {
    let mut pooled: BTreeMap<(&str, &str), Pool> = BTreeMap::new();
    for run in runs {
        let pool = pooled.entry((run.harness, run.model)).or_default();
        pool.runs += 1;
        pool.planned = pool.planned.max(run.planned);
        pool.episodes.extend_from_slice(run.episodes);
    }
    for pool in pooled.values_mut() {
        pool.observations = observations(&pool.episodes);
    }
    let curves: Vec<(&[Observation], Option<u32>)> = pooled
        .values()
        .filter(|p| p.observations.iter().any(|o| o.last_at_risk() > 0))
        .map(|p| (p.observations.as_slice(), p.planned))
        .collect();
    let tau = common_tau(&curves).min(tau.unwrap_or(MAX_TURNS));
    let rows: BTreeSet<&str> = pooled.keys().map(|k| k.0).collect();
    let columns: BTreeSet<&str> = pooled.keys().map(|k| k.1).collect();
    let mut harnesses = Vec::new();
    let mut cells = Vec::new();
    for harness in &rows {
        let line: Vec<(&str, Option<&Pool>)> =
            columns.iter().map(|model| (*model, pooled.get(&(*harness, *model)))).collect();
        harnesses.push(margin(harness, &line, tau, how));
        cells.push(line.iter().map(|(_, pool)| pool.map(|p| p.cell(tau))).collect());
    }
    let mut models = Vec::new();
    for model in &columns {
        let line: Vec<(&str, Option<&Pool>)> =
            rows.iter().map(|harness| (*harness, pooled.get(&(*harness, *model)))).collect();
        models.push(margin(model, &line, tau, how));
    }
    Matrix { tau, harnesses, models, cells }
}

#[derive(Default)]
struct Pool {
    runs: u32,
    planned: Option<u32>,
    episodes: Vec<InScenario>,
    observations: Vec<Observation>,
}

impl Pool {
    fn cell(&self, tau: u32) -> Cell {
        let summary = summarise_over(&self.observations, tau);
        Cell {
            runs: self.runs,
            n: summary.n,
            mean: summary.restricted_mean.mean,
            ci_low: summary.restricted_mean.ci_low,
            ci_high: summary.restricted_mean.ci_high,
            tau,
            events: summary.events,
            censored: summary.censored,
        }
    }
}

fn margin(name: &str, line: &[(&str, Option<&Pool>)], tau: u32, how: Resampling) -> Margin {
    let means: Vec<(&str, &Pool, f64)> = line
        .iter()
        .filter_map(|(name, pool)| {
            let pool = (*pool)?;
            Some((*name, pool, restricted_mean(&pool.observations, tau).mean?))
        })
        .collect();
    let present = means.len() as u32;
    let sum: f64 = means.iter().map(|m| m.2).sum();
    // The first of equals in both cases.
    let best = means.iter().reduce(|best, m| if m.2 > best.2 { m } else { best });
    let worst = means.iter().reduce(|worst, m| if m.2 < worst.2 { m } else { worst });
    let extremes = match (best, worst) {
        (Some(best), Some(worst)) if present > 1 => Some(Extremes {
            best: best.0.to_owned(),
            worst: worst.0.to_owned(),
            ratio: bootstrap_ratio(&best.1.episodes, &worst.1.episodes, tau, how),
        }),
        _ => None,
    };
    Margin {
        name: name.to_owned(),
        mean: (present > 0).then(|| sum / f64::from(present)),
        present,
        missing: line.len() as u32 - present,
        extremes,
    }
}
