//! `stamina locobench`.

use std::process::ExitCode;

use model::{SessionFigures, counted};
use serde_json::{Map, Value, json};
use workbench::Workbench;
use workbench::api::{ApiError, SessionGroup, SessionMean, SessionRow, Sessions, SessionsRequest};

use crate::library_runs::find_run;
use crate::numbers::{notes, number, unknown};
use crate::print::{print, print_json};
use crate::text_table;

/// `stamina locobench`.
pub(crate) fn locobench(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let sessions = workbench.list_sessions(SessionsRequest::all(find_run(workbench, run)?.id))?;
    if as_json {
        print_json(&to_json(&sessions));
    } else {
        print(&to_text(&sessions));
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(all: &Sessions) -> Value {
    let groups = |groups: &[SessionGroup]| -> Value {
        groups.iter().map(|group| (group.key.clone(), group_json(group))).collect::<Map<_, _>>().into()
    };
    json!({
        "run": all.run,
        "nothing": { "comprehension": all.nothing.0, "efficiency": all.nothing.1, "says": all.nothing_says },
        "sessions": all.sessions.iter().map(|row| session_json(row, &all.metrics)).collect::<Vec<_>>(),
        "means": {
            "all": group_json(&all.all),
            "category": groups(&all.categories),
            "difficulty": groups(&all.difficulties),
            "language": groups(&all.languages),
        },
        "running": all.running,
        "published": all.published,
        "cautions": all.cautions,
    })
}

fn nine(metrics: &[String], values: &[Option<f64>; 9]) -> Map<String, Value> {
    metrics.iter().zip(values).map(|(name, value)| (name.clone(), json!(value))).collect()
}

fn session_json(row: &SessionRow, metrics: &[String]) -> Value {
    let SessionFigures { imported, corrected, .. } = &row.figures;
    let mut own = nine(metrics, &imported.metrics);
    own.insert("comprehension".to_owned(), json!(imported.comprehension));
    own.insert("efficiency".to_owned(), json!(imported.efficiency));
    own.insert("overall".to_owned(), json!(imported.overall));
    let compat = row.figures.compat.map(|values| {
        let mut computed = nine(metrics, &values.map(Some));
        for (name, value) in ["comprehension", "efficiency", "overall"]
            .iter()
            .zip(row.compat.map_or([None; 3], |(a, b, c)| [Some(a), Some(b), Some(c)]))
        {
            computed.insert((*name).to_owned(), json!(value));
        }
        computed
    });
    let share = |pair: Option<(u32, u32)>| pair.map(|(part, all)| f64::from(part) / f64::from(all));
    json!({
        "scenario": row.scenario,
        "episode": row.episode,
        "repeat": row.repeat,
        "counts": row.counts,
        "invalid": row.invalid,
        "status": row.figures.status,
        "never_started": row.never_started,
        "category": row.figures.category,
        "difficulty": row.figures.difficulty,
        "language": row.figures.language,
        "phases": row.figures.completed_phases,
        "planned_phases": row.figures.planned_phases,
        "turns": row.figures.turns,
        "max_turns": row.figures.max_turns,
        "answered": row.figures.answered,
        "tool_calls": row.figures.tool_calls,
        "interventions": row.figures.interventions,
        "errors": row.figures.errors,
        "imported": own,
        "compat": compat,
        "differs": row.differs,
        "corrected": {
            "tool_success": share(corrected.tool_success),
            "distinct_functions": corrected.distinct_functions,
            "files_written": corrected.files_written.as_ref().map(Vec::len),
            "read_before_write": share(corrected.read_before_write),
        },
        "corrected_of": {
            "tool_success": corrected.tool_success,
            "files_written": corrected.files_written,
            "read_before_write": corrected.read_before_write,
        },
    })
}

fn group_json(group: &SessionGroup) -> Value {
    let means = |means: &[SessionMean]| -> Value {
        let one = |mean: &SessionMean| {
            let value =
                json!({ "mean": mean.mean, "ci_low": mean.ci_low, "ci_high": mean.ci_high, "n": mean.n });
            (mean.name.clone(), value)
        };
        means.iter().map(one).collect::<Map<_, _>>().into()
    };
    json!({
        "scenarios": group.scenarios,
        "sessions": group.sessions,
        "never_started": group.never_started,
        "turns": group.turns,
        "answered": group.answered.1,
        "answered_of": group.answered.0,
        "differ": group.differ,
        "differ_of": group.differ_of,
        "imported": means(&group.imported),
        "compat": means(&group.compat),
        "corrected": means(&group.corrected),
    })
}

/// A mean over the scenarios of a group; where it is known for fewer than all it says for how many.
fn mean_text(mean: Option<&SessionMean>, scenarios: u32) -> String {
    let Some(mean) = mean.filter(|mean| mean.mean.is_some()) else { return unknown() };
    let interval = mean.ci_low.zip(mean.ci_high).map(|(low, high)| format!(" ({low:.3}–{high:.3})"));
    let part = (mean.n != scenarios).then(|| format!(", known for {}", mean.n));
    format!("{}{}{}", number(mean.mean, 3), interval.unwrap_or_default(), part.unwrap_or_default())
}

fn to_text(all: &Sessions) -> String {
    let mut text = format!("{}\n{}\n\n", all.run, all.nothing_says);
    let mean_of = |means: &[SessionMean], name: &str, scenarios: u32| {
        mean_text(means.iter().find(|mean| mean.name == name), scenarios)
    };
    let scenarios = all.all.scenarios;
    let rows: Vec<Vec<String>> = all
        .all
        .imported
        .iter()
        .map(|mean| {
            let compat = mean_of(&all.all.compat, &mean.name, scenarios);
            vec![mean.name.clone(), mean_text(Some(mean), scenarios), compat]
        })
        .collect();
    text.push_str(&format!("means over {}, 95 % CI\n", counted(scenarios.into(), "scenario")));
    text.push_str(&text_table::table(&["metric", "imported", "compat"], &[false, true, true], &rows));
    text.push('\n');
    let rows: Vec<Vec<String>> = all
        .all
        .corrected
        .iter()
        .map(|mean| vec![mean.name.clone(), mean_text(Some(mean), mean.n), mean.n.to_string()])
        .collect();
    text.push_str(&text_table::table(&["corrected", "mean", "known for"], &[false, true, true], &rows));
    for (title, groups) in
        [("category", &all.categories), ("difficulty", &all.difficulties), ("language", &all.languages)]
    {
        let rows: Vec<Vec<String>> = groups
            .iter()
            .map(|group| {
                vec![
                    group.key.clone(),
                    group.scenarios.to_string(),
                    mean_of(&group.imported, "comprehension", group.scenarios),
                    mean_of(&group.imported, "efficiency", group.scenarios),
                    mean_of(&group.compat, "comprehension", group.scenarios),
                    mean_of(&group.compat, "efficiency", group.scenarios),
                    mean_of(&group.corrected, "tool_success", group.scenarios),
                ]
            })
            .collect();
        let head =
            [title, "scenarios", "comprehension", "efficiency", "compat C", "compat E", "tool success"];
        text.push('\n');
        text.push_str(&text_table::table(&head, &[false, true, true, true, true, true, true], &rows));
    }
    text.push('\n');
    text.push_str(&sessions_text(all));
    notes(&mut text, &all.cautions);
    text
}

fn sessions_text(all: &Sessions) -> String {
    let known = |value: Option<u32>| value.map_or_else(unknown, |value| value.to_string());
    let part = |pair: Option<(u32, u32)>| pair.map_or_else(unknown, |(part, all)| format!("{part}/{all}"));
    let rows: Vec<Vec<String>> = all
        .sessions
        .iter()
        .map(|row| {
            let figures = &row.figures;
            let twice = match (row.counts, &row.invalid) {
                (_, Some(_)) => " (withdrawn)",
                (true, None) => "",
                (false, None) => " (retried)",
            };
            vec![
                format!("{}{twice}", row.scenario),
                figures.status.clone().unwrap_or_else(unknown),
                known(figures.turns),
                known(figures.answered),
                known(figures.tool_calls),
                number(figures.imported.comprehension, 3),
                number(figures.imported.efficiency, 3),
                number(row.compat.map(|pair| pair.0), 3),
                number(row.compat.map(|pair| pair.1), 3),
                if row.differs.is_empty() {
                    String::new()
                } else {
                    format!("≠ {}", row.differs.join(", "))
                },
                part(figures.corrected.tool_success),
                part(figures.corrected.read_before_write),
            ]
        })
        .collect();
    let head = [
        "scenario",
        "status",
        "turns",
        "answered",
        "calls",
        "C",
        "E",
        "compat C",
        "compat E",
        "differs",
        "tool success",
        "read before write",
    ];
    let right = [false, false, true, true, true, true, true, true, true, false, true, true];
    text_table::table(&head, &right, &rows)
}
