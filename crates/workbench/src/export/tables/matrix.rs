//! Harness × model, published numbers, and the retry budget.

use figures::table::{Column, Table, known, maybe};

use super::scores::{self, score_columns, score_values};
use super::{
    cautions_without_published, first_turns, for_machines_if, parts, pass_rate, pass_rate_columns, push_of,
    stamina, stamina_columns,
};
use crate::api::{Estimate, Matrix, MatrixCell, MatrixLine, Retries, RetryPoint};

/// Harness × model: its cells row by row, then the means of its lines.
pub(super) fn cells(data: &Matrix) -> Table {
    let mut columns = vec![Column::text("harness", "Harness"), Column::text("model", "Model")];
    let one_turn = data.of_one_turn;
    let rates = pass_rate_columns().into_iter().map(|column| column.missing("n/a")).collect();
    columns.extend(for_machines_if(one_turn, stamina_columns()));
    columns.extend(for_machines_if(!one_turn, rates));
    columns.push(Column::integer("runs", "Runs").missing("n/a"));
    columns.push(Column::flag("simulated", "Simulated").missing("n/a"));
    columns.push(Column::integer("mean_of", "Mean of cells").missing("n/a"));
    columns.push(Column::text("doubts", "Less sure than it looks").missing("nothing").for_machines());
    // Scores of turns have no room on a page; there they stand in a table of their own.
    let turn_scores = || data.cells.iter().flatten().filter_map(|cell| cell.scores.as_ref());
    let most_tries = turn_scores().map(|scores| scores.rounds.mt_at_k.len()).max();
    if let Some(most_tries) = most_tries {
        columns.extend(for_machines_if(true, score_columns(most_tries)));
    }
    let measure_name = if one_turn { "Pass rate" } else { "Mean stamina" };
    let mut table =
        Table::new("matrix", &format!("{measure_name} by harness and model, {}", data.benchmark.1), columns);
    for (h, harness) in data.harnesses.iter().enumerate() {
        for (m, model) in data.models.iter().enumerate() {
            let mut row = vec![known(name(harness)), known(name(model))];
            if let Some(Some(cell)) = data.cells.get(h * data.models.len() + m) {
                row.extend(stamina(&cell.stamina));
                row.extend(pass_rate(cell.pass_rate.as_ref()));
                row.extend([known(cell.runs.len() as u64), known(cell.simulated)]);
                row.push(None);
                row.push(maybe(Some(cell.doubts.join("; ")).filter(|doubts| !doubts.is_empty())));
                if let Some(most_tries) = most_tries {
                    row.extend(score_values(cell.scores.as_ref(), most_tries));
                }
                push_of(&mut table, &cell.stamina, row);
            } else {
                table.push_absent(row, "no run");
            }
        }
    }
    let simulated =
        |is_of: &dyn Fn(&MatrixCell) -> bool| data.cells.iter().flatten().any(|c| is_of(c) && c.simulated);
    for (h, line) in (0..).zip(&data.harnesses) {
        let simulated = simulated(&|cell| cell.harness == h);
        margin(&mut table, data, [name(line), "mean over models".to_owned()], line, simulated);
    }
    for (m, line) in (0..).zip(&data.models) {
        let simulated = simulated(&|cell| cell.model == m);
        margin(&mut table, data, ["mean over harnesses".to_owned(), name(line)], line, simulated);
    }
    table.notes.push(if one_turn {
        "Pass rates over scored trials. Means over models and harnesses are unweighted, over the cells that have a run.".to_owned()
    } else {
        "Mean stamina over the first τ turns. Means over models and harnesses are unweighted, over the cells that have a run.".to_owned()
    });
    for (model, spread) in data.models.iter().zip(&data.spread) {
        let Some(spread) = spread else { continue };
        let part_of = |row: u32| data.harnesses.get(row as usize).map_or_else(unknown, name);
        let (best, worst) = (part_of(spread.best), part_of(spread.worst));
        table.notes.push(match spread.ratio {
            _ if spread.best == spread.worst => {
                let comparative = if one_turn { "passes more" } else { "lasts longer" };
                format!("{}: no harness {comparative} than another.", name(model))
            }
            Some(ratio) => {
                let (model, value, ci) = (name(model), ratio.value, interval(ratio));
                let times = if one_turn { "passes" } else { "lasts" };
                let degree = if one_turn { "times as often as" } else { "times as long as" };
                format!("{model}: {best} {times} {value:.2} {degree} {worst}{ci}.")
            }
            None if one_turn => format!(
                "{}: {best} passes most, and {worst} fails every trial, so their ratio is not defined.",
                name(model)
            ),
            None => format!(
                "{}: {best} lasts longest, and {worst} fails every episode at turn 1, so their ratio is not defined.",
                name(model)
            ),
        });
    }
    table.notes.extend(
        data.not_comparable.iter().map(|difference| format!("Runs here are not comparable. {difference}.")),
    );
    table.notes.extend(cautions_without_published(&data.cautions));
    table
}

/// The mean of a line: it has a mean over so many cells, and no interval and no n.
fn margin(table: &mut Table, data: &Matrix, names: [String; 2], line: &MatrixLine, simulated: bool) {
    let (tau, one_turn) = (data.tau, data.of_one_turn);
    let [harness, model] = names.map(known);
    let value = |column: &Column| match column.name.as_str() {
        "harness" => harness.clone(),
        "model" => model.clone(),
        "mean_stamina" => maybe(line.mean),
        "pass_rate" => maybe(line.mean.filter(|_| one_turn)),
        "tau" => maybe(tau),
        "simulated" => known(simulated),
        "mean_of" => known(line.cells),
        _ => None,
    };
    let row = table.columns.iter().map(value).collect();
    table.push_absent(row, "n/a");
}

/// What others published for the same benchmark.
pub(super) fn published(data: &Matrix) -> Table {
    scores::published(&format!("Published numbers, {}", data.benchmark.1), &data.published)
}

/// Mean stamina by retry budget.
pub(super) fn retries(data: &Retries) -> Table {
    let mut columns = vec![Column::text("run", "Run"), Column::integer("retries", "Retries (R)")];
    columns.extend(stamina_columns());
    let mut table = Table::new("retries", "Mean stamina by retry budget", columns);
    for series in &data.series {
        for point in &series.points {
            let mut row = vec![known(series.marked()), known(point.retries)];
            row.extend(stamina(&point.stamina));
            push_of(&mut table, &point.stamina, row);
        }
        if let Some(gain) = series.gain {
            let (name, value, ci) = (series.marked(), gain.value, interval(gain));
            table.notes.push(format!("{name}: feedback gain {value:.2}{ci}."));
        }
    }
    table.notes.extend(data.cautions.iter().cloned());
    table
}

/// Best and worst harness of each model.
pub(super) fn spread(data: &Matrix) -> Table {
    let [low, high] = Column::interval("", 2);
    let columns = vec![
        Column::text("model", "Model"),
        Column::text("best", "Best"),
        Column::text("worst", "Worst"),
        Column::number("ratio", "Ratio", 2).missing("not defined"),
        low,
        high,
        Column::flag("simulated", "Simulated"),
    ];
    let mut table = Table::new("spread", "Best and worst harness of each model", columns);
    for ((m, model), spread) in (0..).zip(&data.models).zip(&data.spread) {
        let Some(spread) = spread else {
            table.push_absent(vec![known(name(model))], "one harness only");
            continue;
        };
        let simulated = data.cells.iter().flatten().any(|cell| cell.model == m && cell.simulated);
        // Where all have one mean none is best. The ratio is then that of a cell to itself.
        if spread.best == spread.worst {
            let row = vec![known(name(model)), None, None, None, None, None, known(simulated)];
            table.push_absent(row, "all equal");
            continue;
        }
        let value_of = |row: u32| data.harnesses.get(row as usize).map(name);
        let [ratio, low, high, _] = parts(spread.ratio);
        let row = [
            maybe(value_of(spread.best)),
            maybe(value_of(spread.worst)),
            maybe(ratio),
            maybe(low),
            maybe(high),
            known(simulated),
        ];
        table.push(std::iter::once(known(name(model))).chain(row).collect());
    }
    let ratio_text = if data.of_one_turn {
        "Pass rate of the best over that of the worst".to_owned()
    } else {
        format!("Mean stamina of the best over that of the worst, over {}", first_turns(data.tau))
    };
    let mut note = format!("{ratio_text}; interval by bootstrap (seed {}).", data.seed);
    if data.has_picked() {
        note = format!("{note} {PICKED}");
    }
    table.notes.push(note);
    table
}

const PICKED: &str = "Best and worst are picked after looking: the ratio of the two is larger than that of two named beforehand.";

/// What retries are worth to each member.
pub(super) fn gains(data: &Retries) -> Table {
    let [low, high] = Column::interval("", 2);
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("attempt_limit", "Attempts per turn"),
        Column::number("mean_without", "Mean stamina, R = 0", 2).unit("turns"),
        Column::number("mean_most", "Mean stamina, most R", 2).unit("turns"),
        Column::number("gain", "Gain", 2).missing("not defined"),
        low,
        high,
    ];
    let mut table = Table::new("gains", "Gain by feedback and retries", columns);
    for series in &data.series {
        let mean = |point: Option<&RetryPoint>| point.and_then(|point| point.stamina.mean);
        let [gain, low, high, _] = parts(series.gain);
        table.push(vec![
            known(series.marked()),
            maybe(series.attempt_limit),
            maybe(mean(series.points.first())),
            maybe(mean(series.points.last())),
            maybe(gain),
            maybe(low),
            maybe(high),
        ]);
    }
    table.notes.extend(data.cautions.iter().cloned());
    table
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn name(line: &MatrixLine) -> String {
    line.name.clone().unwrap_or_else(unknown)
}

/// ` (95 % CI 1.20 to 3.40)`, or that there is none. A ratio of which many resamples have the denominator 0 has no upper end.
fn interval(estimate: Estimate) -> String {
    match (estimate.ci_low, estimate.ci_high) {
        (Some(low), Some(high)) => format!(" (95 % CI {low:.2} to {high:.2})"),
        (Some(low), None) => format!(" (95 % CI {low:.2} to n/a: it is unbounded)"),
        _ => " (no interval: one scenario, or all alike)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::HarnessSpread;

    fn line(name: &str) -> MatrixLine {
        MatrixLine { name: Some(name.to_owned()), mean: Some(4.0), cells: 2, missing: 0 }
    }

    #[test]
    fn a_ratio_without_an_upper_end_has_its_lower_one() {
        let shown = |ci_low, ci_high| interval(Estimate { value: 9.0, ci_low, ci_high, p: None });
        assert_eq!(shown(Some(2.333), None), " (95 % CI 2.33 to n/a: it is unbounded)");
        assert_eq!(shown(None, None), " (no interval: one scenario, or all alike)");
    }

    /// Two harnesses and two models.
    fn two_by_two(spread: Vec<Option<HarnessSpread>>) -> Matrix {
        Matrix {
            benchmark: ("b".into(), "B".into()),
            benchmarks: Vec::new(),
            of_one_turn: false,
            left_out: Vec::new(),
            tau: Some(10),
            shortest: None,
            harnesses: vec![line("opencode"), line("codex")],
            models: vec![line("m"), line("n")],
            cells: vec![None; 4],
            spread,
            not_comparable: Vec::new(),
            published: Vec::new(),
            cautions: Vec::new(),
            policy: "default".into(),
            seed: 0,
        }
    }

    /// One harness stood as the best and as the worst.
    #[test]
    fn none_is_best_where_all_are_equal() {
        let estimate = Estimate { value: 1.0, ci_low: Some(1.0), ci_high: Some(1.0), p: None };
        let tied = HarnessSpread { best: 0, worst: 0, ratio: Some(estimate) };
        let printed = super::spread(&two_by_two(vec![Some(tied.clone()), None])).to_markdown();
        let row = "| m | all equal | all equal | all equal | all equal | no |";
        assert!(printed.contains(row), "{printed}");
        assert!(!printed.contains("opencode"), "{printed}");
        // "Best and worst are picked after looking" stood under a table in which none is.
        assert!(!printed.contains(PICKED), "{printed}");
        let apart = HarnessSpread { best: 0, worst: 1, ratio: Some(estimate) };
        let printed = super::spread(&two_by_two(vec![Some(tied), Some(apart)])).to_markdown();
        assert!(printed.contains(PICKED), "{printed}");
    }

    #[test]
    fn a_ratio_has_its_interval() {
        let estimate = Estimate { value: 6.0, ci_low: Some(2.5), ci_high: Some(9.0), p: None };
        let spread = |ratio| Some(HarnessSpread { best: 0, worst: 1, ratio });
        let data = two_by_two(vec![spread(Some(estimate)), spread(None)]);
        let notes = cells(&data).notes;
        let wanted = "m: opencode lasts 6.00 times as long as codex (95 % CI 2.50 to 9.00).".to_owned();
        assert!(notes.contains(&wanted), "{notes:?}");
        assert!(notes.iter().any(|n| n.starts_with("n: opencode lasts longest")), "{notes:?}");
    }
}
