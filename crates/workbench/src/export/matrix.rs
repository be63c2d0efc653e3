//! Harness × model as a figure, and what others published laid over it.

use std::collections::{BTreeMap, BTreeSet};

use figures::{Margin, Matrix, MatrixCell, Published};
use model::counted;

use super::percent::percent;
use crate::Workbench;
use crate::api::{self, ApiError, Comparison, MatrixLine, Measure, Member, PublishedNumber};
use crate::compare::members;
use crate::episodes::run_record;
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

/// A published mean stamina, and what the runs allow beside which it would stand.
pub(super) struct PublishedBeside {
    /// The number.
    number: PublishedNumber,
    /// The most attempts per turn of each of the runs; `None` = unknown.
    attempt_limits: BTreeSet<Option<u32>>,
}

impl PublishedBeside {
    /// Whether it may stand there: it is over as many turns, and allows as many attempts per turn as every run beside it. More
    /// of either would look better for no other reason.
    fn is_alike(&self, tau: Option<u32>) -> bool {
        let limit = attempt_limit(&self.number);
        is_over(&self.number, tau)
            && limit.is_some()
            && self.attempt_limits.iter().all(|other| *other == limit)
    }
}

/// The most attempts per turn of a published number.
fn attempt_limit(number: &PublishedNumber) -> Option<u32> {
    number.retries.map(|retries| retries.saturating_add(1))
}

/// Those of a place that may stand there.
pub(super) fn published_alike(beside: &[PublishedBeside], tau: Option<u32>) -> Vec<Published> {
    beside.iter().filter(|beside| beside.is_alike(tau)).map(|beside| drawn(&beside.number)).collect()
}

fn drawn(number: &PublishedNumber) -> Published {
    Published { value: number.value, source: source(number) }
}

/// Where a number stands, under which budget, and whether it was read there.
pub(super) fn source(number: &PublishedNumber) -> String {
    let retries = number.retries.map_or_else(String::new, |r| format!(", R = {r}"));
    let over = |turns: u32| format!(", over {}", counted(turns.into(), "turn"));
    let turns = number.turns.map_or_else(String::new, over);
    let second = if number.second_hand { ", second-hand" } else { "" };
    format!("{}{turns}{retries}{second}", number.source)
}

/// Whether a published mean stamina may stand on an axis of mean staminas over τ turns: it is over as many. A mean over 100
/// turns beside means over 8 would look better for no other reason.
pub(super) fn is_over(number: &PublishedNumber, tau: Option<u32>) -> bool {
    number.metric == MEAN_TURNS && tau.is_some() && number.turns == tau
}

/// `1 published mean is` or `7 published means are`.
fn means_are(count: usize) -> String {
    if count == 1 { "1 published mean is".to_owned() } else { format!("{count} published means are") }
}

/// What is said under a figure of published numbers that it does not draw, because they are over other turns.
pub(super) fn not_drawn<'a>(
    numbers: impl IntoIterator<Item = &'a PublishedNumber>,
    tau: Option<u32>,
) -> Option<String> {
    let others: Vec<&PublishedNumber> =
        numbers.into_iter().filter(|n| n.metric == MEAN_TURNS && !is_over(n, tau)).collect();
    let turns: BTreeSet<u32> = others.iter().filter_map(|n| n.turns).collect();
    let span = match turns.iter().map(u32::to_string).collect::<Vec<_>>() {
        turns if turns.is_empty() => "over an unknown number of turns".to_owned(),
        turns if turns == ["1"] => "over 1 turn".to_owned(),
        turns => format!("over {} turns", turns.join(" or ")),
    };
    let shown = tau.map_or_else(|| "an unknown number of turns".to_owned(), |tau| tau.to_string());
    (!others.is_empty())
        .then(|| format!("{} {span} and not drawn beside means over {shown}", means_are(others.len())))
}

/// What is said under a figure of published numbers that do not stand beside runs, because these are over other turns or allow
/// another number of attempts. `alone`: numbers that would have a place of their own.
pub(super) fn left_out<'a>(
    beside: impl IntoIterator<Item = &'a PublishedBeside>,
    alone: &[&'a PublishedNumber],
    tau: Option<u32>,
) -> Vec<String> {
    // A number that would stand beside several runs is one.
    let mut numbers: Vec<&PublishedNumber> = alone.to_vec();
    let mut other_limits: Vec<&PublishedNumber> = Vec::new();
    let mut limits: BTreeSet<Option<u32>> = BTreeSet::new();
    for beside in beside {
        let number = &beside.number;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
        if is_over(number, tau) && !beside.is_alike(tau) {
            limits.extend(&beside.attempt_limits);
            if !other_limits.contains(&number) {
                other_limits.push(number);
            }
        }
    }
    let mut sentences: Vec<String> = not_drawn(numbers, tau).into_iter().collect();
    if !other_limits.is_empty() {
        let published_limits: BTreeSet<Option<u32>> = other_limits.iter().map(|n| attempt_limit(n)).collect();
        sentences.push(format!(
            "{} of {} and not drawn beside runs of {}",
            means_are(other_limits.len()),
            in_words(&published_limits),
            in_words(&limits)
        ));
    }
    sentences
}

/// The published numbers that a matrix has a place for: mean staminas of a harness.
pub(super) fn placed(data: &api::Matrix) -> Vec<&PublishedNumber> {
    data.published.iter().filter(|n| n.metric == MEAN_TURNS && n.harness.is_some()).collect()
}

/// No number is of what a figure shows.
const NONE_SHOWN: &str = "No published mean is of a harness and a model that are shown";

/// What is said under bars that were to have published numbers, and have none for another reason than turns or attempts.
pub(super) fn none_beside(data: &Comparison, measure: Measure) -> String {
    if measure != Measure::Stamina {
        return "Published numbers are of mean stamina and not drawn beside another measure".to_owned();
    }
    let numbers: Vec<PublishedNumber> =
        data.members.iter().flat_map(|member| published::numbers(&member.benchmark.0)).collect();
    none_published(&numbers).unwrap_or_else(|| NONE_SHOWN.to_owned())
}

/// What is said where what is published of a benchmark has no mean stamina, so that there is nothing to draw.
pub(super) fn none_published(numbers: &[PublishedNumber]) -> Option<String> {
    let has_means = numbers.iter().any(|number| number.metric == MEAN_TURNS);
    (!has_means).then(|| "Stamina Lab has no published mean stamina of this benchmark".to_owned())
}

/// What is said under a matrix of published numbers that it does not draw, or of why there are none.
pub(super) fn not_in_matrix(
    data: &api::Matrix,
    beside: &BTreeMap<(u32, u32), Vec<PublishedBeside>>,
) -> Vec<String> {
    if let Some(note) = none_published(&data.published) {
        return vec![note];
    }
    if data.of_one_turn {
        return not_drawn(&data.published, data.tau).into_iter().collect();
    }
    let placed = placed(data);
    if placed.is_empty() && beside.values().all(Vec::is_empty) {
        return vec![NONE_SHOWN.to_owned()];
    }
    left_out(beside.values().flatten(), &placed, data.tau)
}

/// `1 attempt per turn`, `3 or 10 attempts per turn`, `3 or an unknown number of attempts per turn`.
fn in_words(limits: &BTreeSet<Option<u32>>) -> String {
    let known = limits.iter().flatten().map(u32::to_string);
    let unknown = limits.contains(&None).then(|| "an unknown number of".to_owned());
    let numbers = known.chain(unknown).collect::<Vec<_>>().join(" or ");
    format!("{numbers} attempt{} per turn", if numbers == "1" { "" } else { "s" })
}

impl Workbench {
    /// Those of these published numbers that are mean staminas of a harness and a model, beside these runs of both.
    pub(super) fn published_beside(
        &self,
        numbers: &[PublishedNumber],
        (harness, model): (Option<&str>, Option<&str>),
        runs: &[String],
    ) -> Result<Vec<PublishedBeside>, ApiError> {
        let is_of_both = |n: &&PublishedNumber| n.metric == MEAN_TURNS && published::is_of(n, harness, model);
        let own: Vec<&PublishedNumber> = numbers.iter().filter(is_of_both).collect();
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let limits = runs.iter().map(|run| Ok(run_record(&self.store, run)?.entry.attempt_limit));
        let attempt_limits = limits.collect::<Result<BTreeSet<_>, ApiError>>()?;
        let beside = |number: &PublishedNumber| PublishedBeside {
            number: number.clone(),
            attempt_limits: attempt_limits.clone(),
        };
        Ok(own.into_iter().map(beside).collect())
    }

    /// The published numbers of a matrix that have a cell with runs, by row and column.
    pub(super) fn beside_cells(
        &self,
        data: &api::Matrix,
    ) -> Result<BTreeMap<(u32, u32), Vec<PublishedBeside>>, ApiError> {
        fn name(lines: &[MatrixLine], index: u32) -> Option<&str> {
            lines.get(index as usize).and_then(|line| line.name.as_deref())
        }
        let mut beside = BTreeMap::new();
        for cell in data.cells.iter().flatten() {
            let pair = (name(&data.harnesses, cell.harness), name(&data.models, cell.model));
            beside.insert(
                (cell.harness, cell.model),
                self.published_beside(&data.published, pair, &cell.runs)?,
            );
        }
        Ok(beside)
    }
}

/// The matrix of the page. With published numbers (`beside`: those of cells that have runs) it also has the cells, rows and
/// columns that only those have: they say "no run" beside the number, and count in no mean. Every number is over as many turns
/// as the means of the matrix, and in a cell with runs of as many attempts.
pub(super) fn figure(
    data: &api::Matrix,
    beside: Option<&BTreeMap<(u32, u32), Vec<PublishedBeside>>>,
) -> Matrix {
    // A mean number of turns is no pass rate.
    let beside = beside.filter(|_| !data.of_one_turn);
    let name = |line: &MatrixLine| line.name.clone().unwrap_or_else(|| "unknown".to_owned());
    let shown = |mean: Option<f64>| if data.of_one_turn { mean.map(percent) } else { mean };
    let margin = |line: &MatrixLine| Margin { mean: shown(line.mean), cells: line.cells };
    let mut rows: Vec<String> = data.harnesses.iter().map(name).collect();
    let mut columns: Vec<String> = data.models.iter().map(name).collect();
    let mut row_means: Vec<Margin> = data.harnesses.iter().map(margin).collect();
    let mut column_means: Vec<Margin> = data.models.iter().map(margin).collect();
    // Who stands in a line: a run's name, or a published one; an unknown name is nobody's.
    let named = |lines: &[MatrixLine]| lines.iter().map(|l| l.name.clone()).collect::<Vec<_>>();
    let (mut harnesses, mut models) = (named(&data.harnesses), named(&data.models));
    let numbers: Vec<&PublishedNumber> = if beside.is_some() {
        placed(data).into_iter().filter(|n| is_over(n, data.tau)).collect()
    } else {
        Vec::new()
    };
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
            let published: Vec<Published> = match (beside, played) {
                (None, _) => Vec::new(),
                (Some(beside), Some(_)) => beside
                    .get(&(row, column))
                    .map_or_else(Vec::new, |cell_numbers| published_alike(cell_numbers, data.tau)),
                (Some(_), None) => numbers
                    .iter()
                    .filter(|n| published::is_of(n, harness.as_deref(), model.as_deref()))
                    .map(|n| drawn(n))
                    .collect(),
            };
            if played.is_none() && published.is_empty() {
                continue;
            }
            let stamina = played.map(|cell| &cell.stamina);
            let rate = played.and_then(|cell| cell.pass_rate.as_ref()).filter(|_| data.of_one_turn);
            let (mean, ci_low, ci_high, n) = match (rate, stamina) {
                (Some(rate), _) => (
                    rate.value.map(percent),
                    rate.ci_low.map(percent),
                    rate.ci_high.map(percent),
                    rate.trials,
                ),
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
        tau: data.tau.filter(|_| !data.of_one_turn),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published_beside(turns: Option<u32>, retries: Option<u32>, limits: &[Option<u32>]) -> PublishedBeside {
        let number = PublishedNumber {
            benchmark: "b".to_owned(),
            model: "m".to_owned(),
            harness: Some("h".to_owned()),
            retries,
            metric: MEAN_TURNS.to_owned(),
            turns,
            value: 57.0,
            source: "paper".to_owned(),
            second_hand: false,
        };
        PublishedBeside { number, attempt_limits: limits.iter().copied().collect() }
    }

    #[test]
    fn one_turn_has_no_plural() {
        let published = |turns| published_beside(Some(turns), None, &[]).number;
        let sources = [1, 8].map(|turns| source(&published(turns)));
        assert_eq!(sources, ["paper, over 1 turn", "paper, over 8 turns"]);
        let note = |turns: u32| not_drawn(&[published(turns)], Some(100));
        assert!(note(1).is_some_and(|text| text.starts_with("1 published mean is over 1 turn and")));
        assert!(note(8).is_some_and(|text| text.starts_with("1 published mean is over 8 turns and")));
    }

    #[test]
    fn a_published_mean_stands_beside_runs_of_as_many_turns_and_attempts_only() {
        let ten = Some(10);
        let is_alike = |beside: PublishedBeside| beside.is_alike(Some(100));
        assert!(is_alike(published_beside(Some(100), Some(2), &[Some(3)])));
        assert!(!is_alike(published_beside(Some(100), Some(2), &[ten])), "more attempts");
        assert!(!is_alike(published_beside(Some(100), Some(2), &[Some(3), ten])), "one of the runs has more");
        assert!(!is_alike(published_beside(Some(100), Some(2), &[None])), "nobody knows how many");
        assert!(!is_alike(published_beside(Some(100), None, &[Some(3)])), "it does not say how many");
        assert!(!is_alike(published_beside(Some(100), None, &[None])), "two unknowns are not alike");
        assert!(!is_alike(published_beside(Some(50), Some(2), &[Some(3)])), "other turns");
        assert!(!is_alike(published_beside(None, Some(2), &[Some(3)])), "it does not say over how many");
    }

    #[test]
    fn what_is_left_out_is_said_once_with_both_numbers() {
        let same_attempts = published_beside(Some(100), Some(2), &[Some(3)]);
        assert!(left_out([&same_attempts], &[], Some(100)).is_empty());
        let more_attempts = published_beside(Some(100), Some(2), &[Some(10)]);
        let words =
            "1 published mean is of 3 attempts per turn and not drawn beside runs of 10 attempts per turn";
        assert_eq!(left_out([&same_attempts, &more_attempts, &more_attempts], &[], Some(100)), [words]);
        let none = published_beside(Some(100), Some(0), &[None, Some(10)]);
        assert_eq!(
            left_out([&more_attempts, &none], &[], Some(100)),
            [
                "2 published means are of 1 or 3 attempts per turn and not drawn beside runs of 10 or an unknown number of attempts per turn"
            ]
        );
        assert_eq!(
            left_out([&more_attempts], &[], Some(8)),
            ["1 published mean is over 100 turns and not drawn beside means over 8"]
        );
        // Those without runs beside them count, each once.
        let other = PublishedNumber { model: "o".to_owned(), ..more_attempts.number.clone() };
        assert_eq!(
            left_out([&more_attempts], &[&other, &more_attempts.number], Some(8)),
            ["2 published means are over 100 turns and not drawn beside means over 8"]
        );
        assert!(left_out([], &[&other], Some(100)).is_empty());
    }

    /// "not drawn beside means over 0" stood there.
    #[test]
    fn where_nobody_was_at_risk_no_published_mean_is_over_as_many_turns() {
        let unknown_turns = published_beside(None, Some(2), &[Some(3)]);
        assert!(!unknown_turns.is_alike(None));
        let other = published_beside(Some(100), Some(2), &[Some(3)]);
        assert_eq!(
            left_out([&other], &[], None),
            ["1 published mean is over 100 turns and not drawn beside means over an unknown number of turns"]
        );
    }
}
