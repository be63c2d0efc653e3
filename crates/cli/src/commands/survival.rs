//! `stamina survival`.

use std::process::ExitCode;

use serde_json::Value;
use workbench::Workbench;
use workbench::api::{ApiError, RunRef};

use super::show::print_marks;
use crate::library_runs::find_run;
use crate::numbers::number;
use crate::print::{print, print_json};
use crate::{json, text_table};

/// `stamina survival`.
pub(crate) fn survival(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let row = find_run(workbench, run)?;
    let rows = workbench.run_survival(RunRef { run: row.id.clone() })?.rows;
    if as_json {
        print_json(&Value::Array(rows.iter().map(json::survival).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    print_marks(&row);
    let band = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| format!("{v:.3}"));
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            vec![
                r.turn.to_string(),
                r.at_risk.to_string(),
                r.events.to_string(),
                r.censored.to_string(),
                number(r.survival, 3),
                band(r.ci_low),
                band(r.ci_high),
            ]
        })
        .collect();
    print(&text_table::table(
        &["turn", "at risk", "events", "censored", "survival", "ci low", "ci high"],
        &[true; 7],
        &lines,
    ));
    if row.stamina.clustered {
        let of_one_turn = row.pass_rate.is_some();
        print(if of_one_turn {
            "\nTasks repeat: the interval is by task.\n"
        } else {
            "\nScenarios repeat: the interval is by scenario.\n"
        });
    }
    Ok(ExitCode::SUCCESS)
}
