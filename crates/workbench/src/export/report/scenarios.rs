//! Every scenario, episode by episode.

use figures::table::{Column, Table, known, maybe};

use crate::Workbench;
use crate::api::{ApiError, Comparison, GridSort, RunGridRequest};

/// One row an episode.
pub(super) fn table(workbench: &Workbench, data: &Comparison) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("scenario", "Scenario"),
        Column::text("run", "Run"),
        Column::integer("repeat", "Repeat"),
        Column::integer("planned_turns", "Planned turns"),
        Column::integer("stamina", "Stamina").unit("turns"),
        Column::flag("at_least", "At least"),
        Column::integer("failed_turn", "First not passed").missing("none"),
        Column::text("end_reason", "End"),
        Column::integer("passed_turns", "Turns passed"),
        Column::integer("after_retries", "After retries"),
        Column::integer("failed_turns", "Turns failed"),
        Column::number("score", "Score", 1),
    ];
    let mut table = Table::new("scenarios", "Episodes by scenario", columns);
    let mut rows = Vec::new();
    for (place, member) in data.members.iter().enumerate() {
        for run in &member.runs {
            let request = RunGridRequest { run: run.clone(), sort: GridSort::default(), offset: 0, limit: 0 };
            for row in workbench.run_grid(request)?.rows {
                let name = row.title.clone().unwrap_or_else(|| row.scenario.clone());
                rows.push((row.scenario.clone(), place, row.repeat, name, member.marked(), row));
            }
        }
    }
    rows.sort_by(|a, b| (&a.0, a.1, a.2, &a.5.episode).cmp(&(&b.0, b.1, b.2, &b.5.episode)));
    for (_, _, repeat, scenario, run, row) in rows {
        let count = |letters: &str| row.cells.chars().filter(|c| letters.contains(*c)).count() as u64;
        table.push(vec![
            known(scenario),
            known(run),
            known(repeat),
            maybe(row.planned_turns),
            known(row.stamina),
            known(row.censored),
            maybe(row.failed_turn),
            known(row.end_reason.label()),
            known(count("pr")),
            known(count("r")),
            known(count("fe")),
            maybe(row.score),
        ]);
    }
    table.notes.push(
        "Stamina is the number of turns passed before the first one not passed; where the episode was censored, it is at least that."
            .to_owned(),
    );
    Ok(table)
}
