//! The suite of a turn, and what a validation of a pack found.

use figures::table::{Column, Table, known, maybe};
use model::counted;

use crate::Workbench;
use crate::api::{ApiError, JobRef, ScenarioSuiteRequest, Validation};

/// Cases that are read at once.
const PAGE: u32 = 1_000;

/// Every case of a turn's suite that the filters leave, whatever the request says of pages.
pub(super) fn suite(workbench: &Workbench, request: &ScenarioSuiteRequest) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("case", "Case"),
        Column::text("title", "What it checks"),
        Column::text("mark", "Against the turn before"),
        Column::text("aspect", "Kind of rule"),
        Column::integer("steps", "Steps"),
    ];
    let title = format!("Suite of scenario {}, turn {}", request.turn.scenario, request.turn.turn);
    let mut table = Table::new("suite", &title, columns);
    let mut offset = 0;
    loop {
        let page =
            workbench.list_scenario_cases(ScenarioSuiteRequest { offset, limit: PAGE, ..request.clone() })?;
        offset += page.cases.len() as u32;
        for case in &page.cases {
            table.push(vec![
                known(case.id.as_str()),
                known(case.title.as_str()),
                known(case.mark.as_str()),
                known(case.aspect.replace('_', " ")),
                known(case.steps),
            ]);
        }
        if page.cases.is_empty() || offset >= page.total {
            if page.total < page.all {
                table.notes.push(filtered(page.total, page.all));
            }
            break;
        }
    }
    Ok(table)
}

/// How many cases of a suite the filters leave.
fn filtered(left: u32, all: u32) -> String {
    format!("{left} of {}: those that the filters leave.", counted(all.into(), "case"))
}

fn validation(workbench: &Workbench, job: &JobRef) -> Result<Validation, ApiError> {
    workbench.get_job(job.clone())?.validation.ok_or_else(|| {
        ApiError::new("export.no_validation", "This validation has not ended, so there is nothing to write")
            .hint("Wait for it, or begin it again")
    })
}

/// What a validation found to be wrong, in the order of its page.
pub(super) fn findings(workbench: &Workbench, job: &JobRef) -> Result<Table, ApiError> {
    let found = validation(workbench, job)?;
    let columns = vec![
        Column::text("place", "Where"),
        Column::text("kind", "What kind"),
        Column::text("what", "What").missing("n/a"),
    ];
    let mut table = Table::new("findings", "What a validation found", columns);
    let mut add = |kind: &'static str, rows: &[(String, String)]| {
        for (place, problem) in rows {
            table.push(vec![known(place.as_str()), known(kind), known(problem.as_str())]);
        }
    };
    add("the reference fails", &found.failures);
    add("no text states it", &found.unstated);
    let plain = |places: &[String], problem: &str| -> Vec<(String, String)> {
        places.iter().map(|place| (place.clone(), problem.to_owned())).collect()
    };
    add("vacuous turn", &plain(&found.vacuous_turns, "The reference of the turn before passes this suite"));
    add("mutant not noticed", &found.survivors);
    add("not as the manifest says", &plain(&found.damaged, "Is not what the manifest says"));
    table.notes.push(findings_in_words(&found));
    Ok(table)
}

/// How much of each kind a validation found.
fn findings_in_words(found: &Validation) -> String {
    format!(
        "Turns: {}, scenarios: {}: {}. Of each kind at most 100 stand here. In all: {}, {}, {}, {} of {}, {} not as the manifest says.",
        found.turns,
        found.scenarios,
        if found.good { "valid" } else { "not valid" },
        counted(found.reference_failures, "failing case"),
        counted(found.unstated_demands, "unstated demand"),
        counted(found.vacuous_turns.len() as u64, "vacuous turn"),
        counted((found.mutants - found.killed).into(), "unnoticed mutant"),
        found.mutants,
        counted(found.damages.into(), "place"),
    )
}

/// How many mutants were noticed.
fn noticed(killed: u32, mutants: u32) -> String {
    let were = if killed == 1 { "was" } else { "were" };
    format!("{killed} of {} {were} noticed.", counted(mutants.into(), "mutant"))
}

/// Mutants by operator.
pub(super) fn mutants(workbench: &Workbench, job: &JobRef) -> Result<Table, ApiError> {
    let found = validation(workbench, job)?;
    let columns = vec![
        Column::text("operator", "Operator"),
        Column::integer("mutants", "Mutants"),
        Column::integer("noticed", "Noticed"),
        Column::share("rate", "Rate").missing("n/a"),
    ];
    let mut table = Table::new("mutants", "Mutants by operator", columns);
    for (operator, tried, noticed) in &found.operators {
        let rate = (*tried > 0).then(|| f64::from(*noticed) / f64::from(*tried));
        table.push(vec![known(operator.replace('_', " ")), known(*tried), known(*noticed), maybe(rate)]);
    }
    table.notes.push(noticed(found.killed, found.mutants));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "1 of 1 cases", "1 failing cases", "1 vacuous turns" and "1 of 1 mutants" stood below the tables.
    #[test]
    fn one_of_a_kind_is_in_the_singular() {
        assert_eq!(filtered(1, 1), "1 of 1 case: those that the filters leave.");
        assert_eq!(filtered(1, 2), "1 of 2 cases: those that the filters leave.");
        assert_eq!(noticed(1, 1), "1 of 1 mutant was noticed.");
        assert_eq!(noticed(2, 3), "2 of 3 mutants were noticed.");
        let found = Validation {
            scenarios: 1,
            turns: 2,
            good: false,
            reference_failures: 1,
            failures: Vec::new(),
            unstated_demands: 2,
            unstated: Vec::new(),
            vacuous_turns: vec!["scenario 0, turn 2".to_owned()],
            mutants: 9,
            killed: 8,
            operators: Vec::new(),
            survivors: Vec::new(),
            damages: 1,
            damaged: Vec::new(),
        };
        let expected = "In all: 1 failing case, 2 unstated demands, 1 vacuous turn, 1 unnoticed mutant of 9, \
                        1 place not as the manifest says.";
        assert!(findings_in_words(&found).ends_with(expected), "{}", findings_in_words(&found));
    }
}
