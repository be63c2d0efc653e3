//! Runs of one turn: their tasks, pass@k and pass^k.

use figures::table::{Column, Table, Value, known, maybe};
use model::counted;

use super::{pass_rate, pass_rate_columns};
use crate::Workbench;
use crate::api::{ApiError, KnownMean, TaskCell, TaskColumn, TaskGrid, TaskMode, TasksRequest};

/// Agent time, tokens and cost, each a mean and over how many it is.
fn mean_columns(unit: &str) -> Vec<Column> {
    let columns_of = |name: &str, heading: &str, decimals| {
        let known = format!("{heading} known for").to_lowercase();
        let known = known[..1].to_uppercase() + &known[1..];
        [
            Column::number(name, &format!("{heading} per {unit}"), decimals),
            Column::integer(&format!("{name}_known"), &known).for_machines(),
        ]
    };
    let [seconds, seconds_known] = columns_of("seconds", "Time", 0);
    let [tokens, tokens_known] = columns_of("tokens", "Tokens", 0);
    let [cost, cost_known] = columns_of("cost_usd", "Cost", 3);
    vec![seconds.unit("s"), seconds_known, tokens, tokens_known, cost.unit("US$"), cost_known]
}

fn means(values: [KnownMean; 3]) -> Vec<Option<Value>> {
    values.into_iter().flat_map(|mean| [maybe(mean.mean), known(mean.known)]).collect()
}

/// What must be known of means over fewer than all.
fn partial(rows: impl Iterator<Item = [KnownMean; 3]>, noun: &str) -> Option<String> {
    let is_partial = rows.flatten().any(|mean| mean.known > 0 && mean.known < mean.total);
    is_partial
        .then(|| format!("Some means are over fewer {noun} than there are: those where they are known."))
}

/// `Tasks`, or `Rounds` where rounds were played by themselves.
const fn heading(grid: &TaskGrid) -> &'static str {
    if grid.of_rounds { "Rounds" } else { "Tasks" }
}

/// Which of the tasks are listed.
fn title(grid: &TaskGrid, mode: TaskMode) -> String {
    let condition = match mode {
        TaskMode::All => "",
        TaskMode::OnlyOne => " that only one run solves",
        TaskMode::Different => " that one run solves and another does not",
        TaskMode::Nobody => " that no run solves",
    };
    format!("{}{condition}", heading(grid))
}

fn cell_means(cell: &TaskCell) -> [KnownMean; 3] {
    [cell.seconds, cell.tokens, cell.cost_usd]
}

fn column_means(column: &TaskColumn) -> [KnownMean; 3] {
    [column.seconds, column.tokens, column.cost_usd]
}

/// One row for each task and run.
pub(super) fn tasks(workbench: &Workbench, request: &TasksRequest) -> Result<Table, ApiError> {
    let grid = workbench.list_tasks(request.clone())?;
    let mut columns = vec![
        Column::text("task", "Task"),
        Column::text("title", "Title").missing("none").for_machines(),
        Column::text("run", "Run"),
        Column::integer("trials", "Scored trials"),
        Column::integer("passed", "Passed"),
        Column::integer("unscored", "Not scored"),
        Column::flag("only", "Only this run solves it"),
    ];
    columns.extend(mean_columns("trial"));
    columns.extend([
        Column::text("run_id", "Id of the run").for_machines(),
        Column::text("episode", "Trial").for_machines(),
    ]);
    let mut table = Table::new("tasks", &title(&grid, request.mode), columns);
    for row in &grid.rows {
        for ((place, column), cell) in (0_u32..).zip(&grid.columns).zip(&row.cells) {
            let Some(cell) = cell else { continue };
            let mut cells = vec![
                known(row.task.as_str()),
                maybe(row.title.as_deref()),
                known(column.marked()),
                known(cell.trials),
                known(cell.passed),
                known(cell.unscored),
                known(row.only == Some(place)),
            ];
            cells.extend(means(cell_means(cell)));
            cells.extend([known(cell.run.as_str()), known(cell.episode.as_str())]);
            table.push(cells);
        }
    }
    table
        .notes
        .extend(partial(grid.rows.iter().flat_map(|r| r.cells.iter().flatten()).map(cell_means), "trials"));
    let noun = grid.noun();
    table.notes.extend(words(&request.text, noun));
    table.notes.push(format!("Runs that did not play a {noun} have no row. Time is that of the agent; means are over all trials of the {noun}, scored or not."));
    Ok(table)
}

fn words(text: &str, noun: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| format!("Only {noun}s with the words \"{text}\"."))
}

/// `2 of 3`; trials that are not scored behind it. `taskCellText` of the page has the same words.
fn in_words(cell: &TaskCell) -> String {
    match (cell.trials, cell.passed, cell.unscored) {
        (0, _, _) => "not scored".to_owned(),
        (1, 1, 0) => "passed".to_owned(),
        (1, _, 0) => "failed".to_owned(),
        (trials, passed, 0) => format!("{passed} of {trials}"),
        (trials, passed, unscored) => format!("{passed} of {trials}, {unscored} not scored"),
    }
}

/// Task × run.
pub(super) fn grid(workbench: &Workbench, request: &TasksRequest) -> Result<Table, ApiError> {
    let grid = workbench.list_tasks(request.clone())?;
    let mut columns = vec![Column::text("task", "Task")];
    columns.extend((1..).zip(&grid.columns).map(|(place, column): (u32, &TaskColumn)| {
        Column::text(&format!("run_{place}"), &column.marked()).missing("not played")
    }));
    columns.push(Column::text("only", "Only").missing("nobody or several"));
    let mut table = Table::new("task-grid", &title(&grid, request.mode), columns);
    for row in &grid.rows {
        let mut cells = vec![known(row.title.as_deref().unwrap_or(&row.task))];
        cells.extend(row.cells.iter().map(|cell| maybe(cell.as_ref().map(in_words))));
        let only = row.only.and_then(|place| grid.columns.get(place as usize));
        cells.push(maybe(only.map(TaskColumn::marked)));
        table.push(cells);
    }
    table.notes.push(counts(&grid));
    let noun = grid.noun();
    table.notes.extend(words(&request.text, noun));
    table.notes.push(format!("A run solves a {noun} if one of its trials passed. It alone does if trials of every other run are scored and none passed."));
    Ok(table)
}

/// How many tasks there are, and who alone solves how many.
pub(in crate::export) fn counts(grid: &TaskGrid) -> String {
    let counts = grid.counts;
    let mut text = format!(
        "{}: {} solved by no run",
        counted(counts.all.into(), grid.noun()),
        count_with_verb(counts.nobody)
    );
    if grid.columns.len() > 1 {
        text.push_str(&format!(", {} by one alone", count_with_verb(counts.only_one)));
        let alone: Vec<String> = grid
            .columns
            .iter()
            .filter(|column| column.only > 0)
            .map(|column| format!("{} {}", column.only, column.marked()))
            .collect();
        if !alone.is_empty() {
            text.push_str(&format!(" ({})", alone.join(", ")));
        }
    }
    text.push('.');
    text
}

fn count_with_verb(count: u32) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

/// One row a run: what it solves, and what a task takes.
pub(super) fn per_task(workbench: &Workbench, request: &TasksRequest) -> Result<Table, ApiError> {
    let grid =
        workbench.list_tasks(TasksRequest { mode: TaskMode::All, text: String::new(), ..request.clone() })?;
    let mut columns = vec![Column::text("run", "Run")];
    columns.extend(pass_rate_columns());
    columns.push(Column::integer("solved", &format!("{} solved", heading(&grid))));
    columns.push(Column::integer("only", "Only it solves"));
    columns.extend(mean_columns(grid.noun()));
    let (noun, heads) = (grid.noun(), heading(&grid));
    let mut table = Table::new("per-task", &format!("Pass rates, and what a {noun} takes"), columns);
    for column in &grid.columns {
        let mut cells = vec![known(column.marked())];
        cells.extend(pass_rate(Some(&column.pass_rate)));
        cells.extend([known(column.solved), known(column.only)]);
        cells.extend(means(column_means(column)));
        table.push(cells);
    }
    table.notes.extend(partial(grid.columns.iter().map(column_means), &heads.to_lowercase()));
    let task_means = grid.rows.iter().flat_map(|row| row.cells.iter().flatten()).map(cell_means);
    table.notes.extend(partial(task_means, &format!("trials of a {noun}")));
    table.notes.push(format!(
        "Time (of the agent), tokens (input and output) and cost are means over {noun}s of the means over their trials."
    ));
    Ok(table)
}

/// pass@k and pass^k, one row for each run and k.
pub(super) fn pass_at_k(workbench: &Workbench, request: &TasksRequest) -> Result<Table, ApiError> {
    let grid = workbench.list_tasks(request.clone())?;
    let [at_low, at_high] = Column::interval("pass_at_k_", 3);
    let [hat_low, hat_high] = Column::interval("pass_hat_k_", 3);
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("k", "k"),
        Column::share("pass_at_k", "pass@k"),
        at_low,
        at_high,
        Column::share("pass_hat_k", "pass^k"),
        hat_low,
        hat_high,
    ];
    let mut table = Table::new("pass-at-k", "pass@k and pass^k", columns);
    for column in &grid.columns {
        let rate = &column.pass_rate;
        let at_k = rate.pass_at_k.iter().zip(&rate.pass_at_k_ci);
        let hat_k = rate.pass_hat_k.iter().zip(&rate.pass_hat_k_ci);
        for (k, ((at, at_ends), (hat, hat_ends))) in (1_u32..).zip(at_k.zip(hat_k)) {
            let mut row = vec![known(column.marked()), known(k)];
            for (value, ends) in [(at, at_ends), (hat, hat_ends)] {
                row.extend([known(*value), maybe(ends.map(|e| e.0)), maybe(ends.map(|e| e.1))]);
            }
            table.push(row);
        }
    }
    table.notes.push("Of k trials of a task, pass@k is the probability that at least one passes, pass^k that all do. Both are unbiased estimators and means over tasks, up to the fewest scored trials of a task. Their 95 % intervals are by tasks.".to_owned());
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_rounds_is_one_of_rounds() {
        assert_eq!(words(" a b ", "round").as_deref(), Some("Only rounds with the words \"a b\"."));
        assert_eq!(words(" ", "round"), None);
    }

    /// The page has the same words (`taskCellText`).
    #[test]
    fn a_cell_names_the_trials_that_are_not_scored() {
        let words = |trials: u32, passed: u32, unscored: u32| {
            in_words(&TaskCell {
                run: String::new(),
                episode: String::new(),
                trials,
                passed,
                unscored,
                seconds: KnownMean::default(),
                tokens: KnownMean::default(),
                cost_usd: KnownMean::default(),
            })
        };
        assert_eq!([words(0, 0, 1), words(1, 1, 0), words(1, 0, 0)], ["not scored", "passed", "failed"]);
        assert_eq!(
            [words(3, 0, 0), words(3, 2, 0), words(3, 3, 1)],
            ["0 of 3", "2 of 3", "3 of 3, 1 not scored"]
        );
        assert_eq!([words(1, 1, 2), words(1, 0, 1)], ["1 of 1, 2 not scored", "0 of 1, 1 not scored"]);
    }
}
