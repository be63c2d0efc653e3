//! The runs of the library, as its page lists them.

use figures::table::{Column, Table, known, maybe};
use model::counted;

use super::{for_machines_if, pass_rate, pass_rate_columns, push_of, stamina, stamina_columns};
use crate::Workbench;
use crate::api::{ApiError, ListRuns, RunRow};
use crate::compare::doubts::cost_in_part;
use crate::episodes::episode_noun;

/// Rows that are read at once.
const PAGE: u32 = 500;

/// Every run that the filters leave, in their order, whatever the request says of pages.
pub(super) fn table(workbench: &Workbench, request: &ListRuns) -> Result<Table, ApiError> {
    let runs = all(workbench, request)?;
    let one_turn_runs = runs.iter().filter(|run| run.pass_rate.is_some()).count();
    let unknown_runs = runs.iter().filter(|run| run.has_unknown_turns()).count();
    let unscored = RunRow::unscored_in_scores(&runs);
    let all_of_one_turn = one_turn_runs > 0 && one_turn_runs + unknown_runs == runs.len();
    // Without tests no end is judged.
    let none_ended = if runs.iter().all(|run| run.tested) { "none ended" } else { "n/a" };
    let mut columns = vec![
        Column::text("run_id", "Run"),
        Column::text("source", "Source").for_machines(),
        Column::text("benchmark", "Benchmark"),
        Column::text("harness", "Harness"),
        Column::text("harness_version", "Version of the harness").for_machines(),
        Column::text("model", "Model"),
        Column::text("provider", "Provider").for_machines(),
        Column::text("baseline", "Baseline").missing("no").for_machines(),
        Column::flag("simulated", "Simulated"),
        Column::integer("episodes", "Episodes"),
        Column::integer("planned_episodes", "Planned episodes").for_machines(),
        Column::integer("least_planned_turns", "Least planned turns").for_machines(),
        Column::integer("planned_turns", "Planned turns"),
        Column::integer("attempt_limit", "Attempts per turn").for_machines(),
    ];
    columns.extend(for_machines_if(all_of_one_turn, stamina_columns()));
    let rates = pass_rate_columns().into_iter().map(|column| column.missing("n/a")).collect();
    columns.extend(for_machines_if(one_turn_runs == 0, rates));
    columns.extend([
        Column::score("score", "Score"),
        Column::score("dataset_score", "Dataset score").for_machines(),
        Column::score("case_score", "Case score").for_machines(),
        Column::integer("perfect", "Perfect tasks").for_machines(),
        Column::number("mt_at_1", "MT@1", 1).for_machines(),
        Column::integer("most_k", "Most k of MT@k").for_machines(),
        Column::number("mt_at_most_k", "MT@k of the most k", 1).for_machines(),
        Column::number("comp", "Comp", 1).for_machines(),
        Column::text("end_reasons", "How episodes ended").missing(none_ended),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::integer("tokens_known", "Episodes with known tokens").for_machines(),
        Column::number("prompt_tokens_per_second", "Prompt, median", 1).unit("tokens/s").for_machines(),
        Column::number("prompt_tokens_per_second_p10", "Prompt, p10", 1).unit("tokens/s").for_machines(),
        Column::number("answer_tokens_per_second", "Answer, median", 1).unit("tokens/s").for_machines(),
        Column::number("answer_tokens_per_second_p10", "Answer, p10", 1).unit("tokens/s").for_machines(),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::integer("cost_known", "Episodes with a known cost").for_machines(),
        Column::text("started_at", "Started").for_machines(),
        Column::integer("warnings", "Import warnings").for_machines(),
        Column::text("partial", "What is missing").missing("nothing").for_machines(),
        Column::text("doubts", "Less sure than it looks").missing("nothing").for_machines(),
        Column::text("tags", "Tags").missing("none").for_machines(),
        Column::text("note", "Note").missing("none").for_machines(),
        Column::text("invalid", "Withdrawn").missing("no").for_machines(),
        Column::integer("withdrawn_episodes", "Withdrawn episodes").for_machines(),
    ]);
    let mut table = Table::new("library", "Runs of the library", columns);
    table.notes.extend(runs.iter().filter_map(marks));
    for run in runs {
        let ends: Vec<String> =
            run.end_reasons.iter().map(|end| format!("{} {}", end.count, end.reason.label())).collect();
        let mut row = vec![
            known(run.id.as_str()),
            known(run.source_label.as_str()),
            known(run.benchmark.name.as_str()),
            maybe(run.harness.as_deref()),
            maybe(run.harness_version.as_deref()),
            maybe(run.model.as_deref()),
            maybe(run.provider.as_deref()),
            maybe(run.baseline.map(model::Baseline::as_str)),
            known(run.simulated),
            known(run.episodes),
            maybe(run.planned_episodes),
            maybe(run.planned_turns.map(|(least, _)| least)),
            maybe(run.planned_turns.map(|(_, greatest)| greatest)),
            maybe(run.attempt_limit),
        ];
        // Without tests nothing failed and nothing was censored: none of it is known, τ neither.
        row.extend(if run.tested { stamina(&run.stamina) } else { vec![None; stamina_columns().len()] });
        row.extend(pass_rate(run.pass_rate.as_ref()));
        let mt_at_k = run.rounds.as_ref().map_or(&[][..], |rounds| &rounds.mt_at_k);
        row.extend([
            maybe(run.score),
            maybe(run.dataset_score),
            maybe(run.case_score),
            maybe(run.perfect),
            maybe(mt_at_k.first().copied()),
            maybe(Some(mt_at_k.len() as u64).filter(|greatest| *greatest > 0)),
            maybe(mt_at_k.last().copied()),
            maybe(run.rounds.as_ref().and_then(|rounds| rounds.comp)),
            maybe(Some(ends.join(", ")).filter(|ends| !ends.is_empty())),
            maybe(run.tokens.input),
            maybe(run.tokens.output),
            known(run.tokens_known),
            maybe(run.tokens_per_second("prompt", "median")),
            maybe(run.tokens_per_second("prompt", "p10")),
            maybe(run.tokens_per_second("answer", "median")),
            maybe(run.tokens_per_second("answer", "p10")),
            maybe(run.cost_usd),
            known(run.cost_known),
            maybe(run.started_at.as_deref()),
            known(run.warnings),
            maybe(run.partial.as_deref()),
            maybe(Some(run.doubts.join("; ")).filter(|doubts| !doubts.is_empty())),
            maybe(Some(run.tags.join(", ")).filter(|tags| !tags.is_empty())),
            maybe(Some(run.note.as_str()).filter(|note| !note.is_empty())),
            maybe(run.invalid.as_deref()),
            known(run.withdrawn_episodes),
        ]);
        push_of(&mut table, &run.stamina, row);
        if run.cost_known < run.episodes {
            table.mark_at_least("cost_usd");
        }
        if run.tokens_known < run.episodes {
            table.mark_at_least("input_tokens");
            table.mark_at_least("output_tokens");
        }
    }
    table.notes.extend(unscored.map(str::to_owned));
    if one_turn_runs > 0 {
        table.notes.push("Runs of one turn have a pass rate over their scored trials.".to_owned());
    }
    if all_of_one_turn {
        return Ok(table);
    }
    if one_turn_runs > 0 {
        table.notes.push("Of runs of one turn, trials that passed are among the censored.".to_owned());
    }
    table.notes.push(
        "Mean stamina of each run is over its own τ: means of runs with another τ are not the same thing."
            .to_owned(),
    );
    Ok(table)
}

/// What a reader must know of a row: it is withdrawn, a part of it is missing, its cost is known in part.
fn marks(run: &RunRow) -> Option<String> {
    let mut marks = Vec::new();
    marks.extend(run.doubts.iter().cloned());
    let episodes = counted(run.episodes.into(), episode_noun(run.pass_rate.is_some()));
    if (run.tokens.input.is_some() || run.tokens.output.is_some()) && run.tokens_known < run.episodes {
        marks.push(format!("tokens known for {} of {episodes}", run.tokens_known));
    }
    if let Some(cost) = run.cost_usd.filter(|_| run.cost_known < run.episodes) {
        marks.push(cost_in_part(cost, run.cost_known, &episodes));
    }
    (!marks.is_empty()).then(|| format!("{}: {}.", run.id, marks.join("; ")))
}

/// Every run that the filters leave, in their order.
pub(in crate::export) fn all(workbench: &Workbench, request: &ListRuns) -> Result<Vec<RunRow>, ApiError> {
    let mut runs: Vec<RunRow> = Vec::new();
    loop {
        let page =
            workbench.list_runs(ListRuns { offset: runs.len() as u32, limit: PAGE, ..request.clone() })?;
        let done = page.rows.is_empty();
        runs.extend(page.rows);
        if done || runs.len() >= page.total as usize {
            return Ok(runs);
        }
    }
}
