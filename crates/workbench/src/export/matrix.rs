//! Harness × model as a figure, and what others published laid over it.

use figures::{Margin, Matrix, MatrixCell, Published};

use crate::Workbench;
use crate::api::{self, ApiError, MatrixLine, Member, PublishedNumber};
use crate::compare::members;
use crate::published;

impl Workbench {
    /// The runs of members, each once: a matrix is asked for by runs.
    pub fn runs_of(&self, members: &[Member]) -> Result<Vec<String>, ApiError> {
        let mut runs: Vec<String> = Vec::new();
        for pool in members::resolve(&self.store, members)? {
            for run in pool.runs {
                let run = run.record.entry.slug;
                if !runs.contains(&run) {
                    runs.push(run);
                }
            }
        }
        Ok(runs)
    }
}

/// The metric of published numbers that mean stamina is compared with.
pub(super) const MEAN_TURNS: &str = "mean_turns_passed";

/// The mean staminas that were published for a harness and a model.
pub(super) fn published_of(
    numbers: &[PublishedNumber],
    harness: Option<&str>,
    model: Option<&str>,
) -> Vec<Published> {
    numbers
        .iter()
        .filter(|n| n.metric == MEAN_TURNS && published::is_of(n, harness, model))
        .map(|n| Published { value: n.value, source: source(n) })
        .collect()
}

/// Where a number stands, under which budget, and whether it was read there.
pub(super) fn source(number: &PublishedNumber) -> String {
    let retries = number.retries.map_or_else(String::new, |r| format!(", R = {r}"));
    let turns = number.turns.map_or_else(String::new, |turns| format!(", over {turns} turns"));
    let second = if number.second_hand { ", second-hand" } else { "" };
    format!("{}{turns}{retries}{second}", number.source)
}

/// Whether a published mean stamina may stand on an axis of mean staminas over τ turns: it is over as many. A mean over 100
/// turns beside means over 8 would look better for no other reason.
pub(super) fn is_over(number: &PublishedNumber, tau: u32) -> bool {
    number.metric == MEAN_TURNS && number.turns == Some(tau)
}

/// What is said under a figure of published numbers that it does not draw.
pub(super) fn not_drawn(numbers: &[PublishedNumber], tau: u32) -> Option<String> {
    let others = || numbers.iter().filter(|n| n.metric == MEAN_TURNS && !is_over(n, tau));
    let count = others().count();
    let turns: std::collections::BTreeSet<u32> = others().filter_map(|n| n.turns).collect();
    let over = match turns.iter().map(u32::to_string).collect::<Vec<_>>() {
        turns if turns.is_empty() => "over an unknown number of turns".to_owned(),
        turns => format!("over {} turns", turns.join(" or ")),
    };
    let means =
        if count == 1 { "1 published mean is".to_owned() } else { format!("{count} published means are") };
    (count > 0).then(|| format!("{means} {over} and not drawn on an axis of {tau}"))
}

/// The matrix of the page. With published numbers it also has the cells, rows and columns that only those have: they say
/// "no run" beside the number, and count in no mean.
pub(super) fn figure(data: &api::Matrix, with_published: bool) -> Matrix {
    let name = |line: &MatrixLine| line.name.clone().unwrap_or_else(|| "unknown".to_owned());
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let shown = |mean: Option<f64>| if data.of_one_turn { percent(mean) } else { mean };
    let margin = |line: &MatrixLine| Margin { mean: shown(line.mean), cells: line.cells };
    let mut rows: Vec<String> = data.harnesses.iter().map(name).collect();
    let mut columns: Vec<String> = data.models.iter().map(name).collect();
    let mut row_means: Vec<Margin> = data.harnesses.iter().map(margin).collect();
    let mut column_means: Vec<Margin> = data.models.iter().map(margin).collect();
    // Who stands in a line: a run's name, or a published one; an unknown name is nobody's.
    let named = |lines: &[MatrixLine]| lines.iter().map(|l| l.name.clone()).collect::<Vec<_>>();
    let (mut harnesses, mut models) = (named(&data.harnesses), named(&data.models));
    let numbers: Vec<&PublishedNumber> = data
        .published
        .iter()
        .filter(|n| with_published && n.metric == MEAN_TURNS && n.harness.is_some())
        .collect();
    for number in &numbers {
        let harness = number.harness.clone();
        if !harnesses.iter().any(|h| published::is_of(number, h.as_deref(), Some(&number.model))) {
            rows.extend(harness.clone());
            row_means.push(Margin::default());
            harnesses.push(harness.clone());
        }
        if !models.iter().any(|m| published::is_of(number, harness.as_deref(), m.as_deref())) {
            columns.push(number.model.clone());
            column_means.push(Margin::default());
            models.push(Some(number.model.clone()));
        }
    }
    let mut cells = Vec::new();
    for (row, harness) in (0_u32..).zip(&harnesses) {
        for (column, model) in (0_u32..).zip(&models) {
            let played = data.cells.iter().flatten().find(|c| (c.harness, c.model) == (row, column));
            let published = if with_published {
                published_of(&data.published, harness.as_deref(), model.as_deref())
            } else {
                Vec::new()
            };
            if played.is_none() && published.is_empty() {
                continue;
            }
            let stamina = played.map(|cell| &cell.stamina);
            let rate = played.and_then(|cell| cell.pass_rate.as_ref()).filter(|_| data.of_one_turn);
            let (mean, ci_low, ci_high, n) = match (rate, stamina) {
                (Some(rate), _) => {
                    (percent(rate.value), percent(rate.ci_low), percent(rate.ci_high), rate.trials)
                }
                (None, Some(s)) => (s.mean, s.ci_low, s.ci_high, s.n),
                (None, None) => (None, None, None, 0),
            };
            cells.push(MatrixCell {
                row,
                column,
                mean,
                ci_low,
                ci_high,
                n,
                simulated: played.is_some_and(|cell| cell.simulated),
                doubtful: played.is_some_and(|cell| !cell.doubts.is_empty()),
                published,
            });
        }
    }
    Matrix {
        rows_name: "Harness".to_owned(),
        columns_name: "Model".to_owned(),
        rows,
        columns,
        cells,
        row_means,
        column_means,
        measure: if data.of_one_turn { "Pass rate (%)" } else { "Mean stamina (turns)" }.to_owned(),
        tau: Some(data.tau).filter(|tau| *tau > 0 && !data.of_one_turn),
    }
}
