//! The data of a figure as a table: every number of the figure, and no others.

use analysis::survival::SurvivalPoint;

use super::{Column, Table, Value, known, maybe};
use crate::spec::{
    Bars, Differences, FailureShares, Figure, Matrix, PairedScenarios, Pareto, Plane, Published,
    PublishedPoint, Retries, RunData, SeriesData, SeriesLabel,
};

/// The data of a figure.
pub fn data_table(figure: &Figure) -> Table {
    match figure {
        Figure::Survival(data) => survival("survival", "Survival by turn", &[run_series(data)]),
        Figure::FirstFailures(data) => first_failures(&[run_series(data)]),
        Figure::SurvivalComparison(data) => survival(
            "survival",
            "Survival by turn",
            &data.series.iter().map(labeled_series).collect::<Vec<_>>(),
        ),
        Figure::FirstFailuresComparison(data) => {
            first_failures(&data.series.iter().map(labeled_series).collect::<Vec<_>>())
        }
        Figure::Differences(data) => differences(data),
        Figure::Paired(data) => paired(data),
        Figure::Bars(data) => bars(data),
        Figure::Pareto(data) => pareto(data),
        Figure::Plane(data) => plane(data),
        Figure::Matrix(data) => matrix(data),
        Figure::Retries(data) => retries(data),
        Figure::FailureShares(data) => failure_shares(data),
        Figure::Table(table) => table.clone(),
    }
}

type Series<'a> = (&'a str, bool, &'a [SurvivalPoint]);

fn run_series(data: &RunData) -> Series<'_> {
    (&data.name, false, &data.points)
}

fn labeled_series(series: &SeriesData) -> Series<'_> {
    (&series.label.name, series.label.simulated, &series.points)
}

fn run_columns() -> Vec<Column> {
    vec![Column::text("run", "Run"), Column::flag("simulated", "Simulated")]
}

fn run(label: &SeriesLabel) -> [Option<Value>; 2] {
    [known(label.name.as_str()), known(label.simulated)]
}

fn columns_with(mut first: Vec<Column>, more: impl IntoIterator<Item = Column>) -> Vec<Column> {
    first.extend(more);
    first
}

fn survival(name: &str, title: &str, series: &[Series<'_>]) -> Table {
    let [low, high] = Column::interval("", 3);
    let columns = columns_with(
        run_columns(),
        [
            Column::integer("turn", "Turn"),
            Column::integer("at_risk", "At risk"),
            Column::integer("events", "Failed"),
            Column::integer("censored", "Censored"),
            Column::number("survival", "S(t)", 3),
            low,
            high,
        ],
    );
    let mut table = Table::new(name, title, columns);
    for (name, simulated, points) in series {
        for p in *points {
            table.push(vec![
                known(*name),
                known(*simulated),
                known(p.turn),
                known(p.at_risk),
                known(p.events),
                known(p.censored),
                maybe(p.known()),
                maybe(p.ci_low),
                maybe(p.ci_high),
            ]);
        }
    }
    table
}

fn first_failures(series: &[Series<'_>]) -> Table {
    let columns = columns_with(
        run_columns(),
        [
            Column::integer("turn", "Turn"),
            Column::integer("at_risk", "At risk"),
            Column::integer("events", "Failed first"),
            Column::integer("censored", "Censored"),
        ],
    );
    let mut table = Table::new("first-failures", "First failures by turn", columns);
    for (name, simulated, points) in series {
        for p in *points {
            table.push(vec![
                known(*name),
                known(*simulated),
                known(p.turn),
                known(p.at_risk),
                known(p.events),
                known(p.censored),
            ]);
        }
    }
    table
}

fn differences(data: &Differences) -> Table {
    let [low, high] = Column::interval("", 2);
    let mut columns = columns_with(
        run_columns(),
        [Column::text("reference", "Reference"), Column::number("value", &data.axis, 2), low, high],
    );
    columns.push(Column::p("p", data.p_name.as_deref().unwrap_or("p")));
    let mut table = Table::new("differences", &data.axis, columns);
    for row in &data.rows {
        let [name, simulated] = run(&row.label);
        table.push(vec![
            name,
            simulated,
            known(data.reference.name.as_str()),
            maybe(row.value),
            maybe(row.ci_low),
            maybe(row.ci_high),
            maybe(row.p),
        ]);
    }
    table
}

/// A name in a head, marked as simulated, because no other column does it.
fn marked(label: &SeriesLabel) -> String {
    if label.simulated { format!("{} (simulated)", label.name) } else { label.name.clone() }
}

fn paired(data: &PairedScenarios) -> Table {
    let unit = if data.of_rates { "%" } else { data.unit() };
    let columns = vec![
        Column::text("scenario", data.names_head()),
        Column::number("a", &marked(&data.a), 1).unit(unit),
        Column::flag("a_at_least", "Lower bound"),
        Column::number("b", &marked(&data.b), 1).unit(unit),
        Column::flag("b_at_least", "Lower bound"),
        Column::number("difference", "Difference", 1).unit(data.unit()),
        Column::flag("simulated", "Simulated"),
    ];
    let mut table = Table::new(
        "paired",
        &format!("{} by shared {}", data.measure_with_turns(), data.nouns()[0]),
        columns,
    );
    for pair in &data.pairs {
        table.push(vec![
            known(pair.scenario.as_str()),
            known(pair.a),
            known(pair.a_censored),
            known(pair.b),
            known(pair.b_censored),
            known(pair.b - pair.a),
            known(data.a.simulated || data.b.simulated),
        ]);
    }
    if let Some(mean) = data.mean {
        let number = |n: Option<f64>| n.map_or("n/a".to_owned(), |n| format!("{n:.2}"));
        table.notes.push(format!(
            "Differences are {} − {}. Mean {:.2} {}, 95 % CI {} to {}, {}.",
            marked(&data.b),
            marked(&data.a),
            mean.value,
            data.unit(),
            number(mean.ci_low),
            number(mean.ci_high),
            crate::number::p_value(mean.p)
        ));
    }
    table
}

fn published_columns() -> [Column; 2] {
    [Column::number("published", "Published", 2), Column::text("published_source", "Source")]
}

/// The published numbers of a row: the first one, with all sources.
fn published(numbers: &[Published]) -> [Option<Value>; 2] {
    let sources: Vec<String> = numbers
        .iter()
        .enumerate()
        .map(|(i, p)| if i == 0 { p.source.clone() } else { format!("{} ({})", p.source, p.value) })
        .collect();
    [maybe(numbers.first().map(|p| p.value)), maybe((!sources.is_empty()).then(|| sources.join("; ")))]
}

fn bars(data: &Bars) -> Table {
    let [low, high] = Column::interval("", 2);
    let mut value = Column::number("value", &data.measure, 2);
    value.unit.clone_from(&data.unit);
    let mut columns =
        columns_with(run_columns(), [value, low, high, Column::text("note", "Note").missing("")]);
    let laid_over = data.rows.iter().any(|r| !r.published.is_empty());
    if laid_over {
        columns.extend(published_columns());
    }
    let mut table = Table::new("bars", &data.measure, columns);
    for row in &data.rows {
        let [name, simulated] = run(&row.label);
        let mut values = vec![
            name,
            simulated,
            maybe(row.value),
            maybe(row.ci_low),
            maybe(row.ci_high),
            maybe(row.note.as_deref()),
        ];
        if laid_over {
            values.extend(published(&row.published));
        }
        table.push(values);
    }
    table
}

fn pareto(data: &Pareto) -> Table {
    let [low, high] = Column::interval("", 2);
    let mut cost = Column::number("cost", &data.cost, 2);
    cost.unit.clone_from(&data.unit);
    let mut measured = if data.measure.is_none() {
        Column::number("mean_stamina", "Mean stamina", 2).unit("turns")
    } else {
        Column::number("measure", &data.measure(), 2)
    };
    if data.measure.is_some() {
        measured.unit.clone_from(&data.measure_unit);
    }
    let columns = columns_with(run_columns(), [cost, measured, low, high, Column::integer("n", "n")]);
    let mut table = Table::new("pareto", &format!("{} against cost", data.measure()), columns);
    for point in &data.points {
        let [name, simulated] = run(&point.label);
        table.push(vec![
            name,
            simulated,
            maybe(point.cost),
            maybe(point.mean),
            maybe(point.ci_low),
            maybe(point.ci_high),
            maybe(point.n),
        ]);
    }
    table
}

fn plane(data: &Plane) -> Table {
    let decimals = crate::plane::DECIMALS as u8;
    let [x_low, x_high] = Column::interval_by("x_", &data.x, decimals);
    let [y_low, y_high] = Column::interval_by("y_", &data.y, decimals);
    let columns = columns_with(
        run_columns(),
        [
            Column::number("x", &data.x, decimals),
            x_low,
            x_high,
            Column::integer("x_n", &format!("n of {}", data.x)),
            Column::number("y", &data.y, decimals),
            y_low,
            y_high,
            Column::integer("n", "n"),
            Column::text("source", "Published").missing("n/a"),
        ],
    );
    let mut table = Table::new("plane", &format!("{} against {}", data.y, data.x), columns);
    for point in &data.points {
        let [name, simulated] = run(&point.label);
        table.push(vec![
            name,
            simulated,
            maybe(point.x),
            maybe(point.x_ends.map(|ends| ends.0)),
            maybe(point.x_ends.map(|ends| ends.1)),
            maybe(point.x_n.or(point.n)),
            maybe(point.y),
            maybe(point.y_ends.map(|ends| ends.0)),
            maybe(point.y_ends.map(|ends| ends.1)),
            maybe(point.n),
            maybe(point.source.as_deref()),
        ]);
    }
    table
}

fn matrix(data: &Matrix) -> Table {
    let [low, high] = Column::interval("", 2);
    let mut columns = vec![
        Column::text("row", &data.rows_name),
        Column::text("column", &data.columns_name),
        Column::number("mean", &data.measure, 2),
        low,
        high,
        Column::integer("n", "n").missing("no run"),
        Column::flag("simulated", "Simulated").missing("n/a"),
    ];
    let laid_over = data.cells.iter().any(|c| !c.published.is_empty());
    if laid_over {
        columns.extend(published_columns());
    }
    let mut table = Table::new("matrix", &data.measure, columns);
    for (r, row) in (0_u32..).zip(&data.rows) {
        for (c, column) in (0_u32..).zip(&data.columns) {
            let mut values = vec![known(row.as_str()), known(column.as_str())];
            if let Some(cell) = data.cells.iter().find(|cell| (cell.row, cell.column) == (r, c)) {
                let only = cell.is_published_only();
                values.extend([
                    maybe(cell.mean),
                    maybe(cell.ci_low),
                    maybe(cell.ci_high),
                    if only { None } else { known(cell.n) },
                    if only { None } else { known(cell.simulated) },
                ]);
                if laid_over {
                    values.extend(published(&cell.published));
                }
            }
            table.push(values);
        }
    }
    table
}

fn retries(data: &Retries) -> Table {
    let [low, high] = Column::interval("", 2);
    let mut columns = columns_with(
        run_columns(),
        [
            Column::integer("retries", "Retries (R)"),
            Column::number("mean_stamina", "Mean stamina", 2).unit("turns"),
            low,
            high,
        ],
    );
    if !data.published.is_empty() {
        columns.push(Column::text("published_source", "Published in").missing(""));
    }
    let mut table = Table::new("retries", "Mean stamina by retry budget", columns);
    for series in &data.series {
        for point in &series.points {
            let [name, simulated] = run(&series.label);
            table.push(vec![
                name,
                simulated,
                known(point.retries),
                maybe(point.mean),
                maybe(point.ci_low),
                maybe(point.ci_high),
            ]);
        }
    }
    for PublishedPoint { label, retries, mean, source } in &data.published {
        let [name, simulated] = run(label);
        table.push(vec![name, simulated, known(*retries), known(*mean), None, None, known(source.as_str())]);
    }
    table
}

fn failure_shares(data: &FailureShares) -> Table {
    let columns = vec![
        Column::text("group", "Group"),
        Column::flag("simulated", "Simulated"),
        Column::text("class", "Class"),
        Column::flag("harness", "Of the harness"),
        Column::integer("count", &data.unit),
        Column::integer("total", "Of"),
        Column::share("share", "Share").missing("n/a"),
    ];
    let mut table = Table::new("failures", &format!("Classes of {}", data.unit), columns);
    for group in &data.groups {
        let total = group.total.unwrap_or_else(|| group.counts.iter().sum());
        for (class, count) in data.classes.iter().zip(&group.counts) {
            let [name, simulated] = run(&group.label);
            table.push(vec![
                name,
                simulated,
                known(class.name.as_str()),
                known(class.harness),
                known(*count),
                known(total),
                maybe((total > 0).then(|| f64::from(*count) / f64::from(total))),
            ]);
        }
    }
    table
}
