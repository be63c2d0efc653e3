//! `stamina validate`: whether a pack is valid. It needs no library.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;

use model::counted;
use scenario::pack;
use validation::validate::{self, Report};
use workbench::api::ApiError;

use crate::args::Numbers;
use crate::pack_files::{open, pack_error};
use crate::print::{print, print_json};
use crate::progress_throttle::ProgressThrottle;
use crate::signals::cancel_on_signal;
use crate::text_table;

/// `stamina validate`.
pub(crate) fn validate(
    path: &Path,
    scenarios: Option<&Numbers>,
    turns: Option<&Numbers>,
    mutants: u32,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let pack = open(path)?;
    let config = &pack.manifest().config;
    let options = validate::Options {
        scenarios: chosen(scenarios, 0..=config.n_scenarios - 1, "scenario", path)?,
        turns: chosen(turns, 1..=config.n_turns, "turn", path)?,
        mutants,
        threads: None,
    };
    let cancel = cancel_on_signal();
    let throttle = ProgressThrottle::new();
    let progress = |at: pack::Progress| throttle.report(|| format!("validated {}", at.in_words()));
    let report =
        validate::validate(&pack, &options, &progress, &cancel).map_err(|error| pack_error(&error, path))?;
    if as_json {
        print_json(&serde_json::to_value(&report).unwrap_or_default());
    } else {
        print(&report_text(&report));
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}

/// The named numbers, or all that a pack has. A number that it does not have is refused: a report about fewer than
/// requested would look like a full one.
fn chosen(
    given: Option<&Numbers>,
    all: RangeInclusive<u32>,
    noun: &str,
    path: &Path,
) -> Result<Vec<u32>, ApiError> {
    let Some(numbers) = given else { return Ok(all.collect()) };
    let Some(outside) = numbers.outside(&all) else { return Ok(numbers.among(all)) };
    let (first, last) = (outside.start(), outside.end());
    let named = if first == last { format!("{noun} {first}") } else { format!("{noun}s {first} to {last}") };
    let count = counted(u64::from(all.end() - all.start()) + 1, noun);
    let ends = if all.start() == all.end() {
        format!("number {}", all.start())
    } else {
        format!("counted from {} to {}", all.start(), all.end())
    };
    Err(ApiError::new("pack.no_such", format!("The pack has no {named}: it has {count}, {ends}"))
        .with_path(path.display().to_string())
        .hint(format!("Name others with --{noun}s, or leave it out for all")))
}

/// A report for people.
fn report_text(report: &Report) -> String {
    let mut text = format!(
        "{}, {} each: {} of the reference, {} that no text states, {}, content {}\n",
        counted(report.scenarios.into(), "scenario"),
        counted(report.turns.into(), "turn"),
        counted(report.reference_failures, "failure"),
        counted(report.unstated_demands, "demand"),
        counted(report.vacuous_turns, "vacuous turn"),
        if report.hashes_ok { "as the manifest says" } else { "not as the manifest says" }
    );
    for mismatch in report.mismatches.iter().take(20) {
        text.push_str(&format!("  {}: {}\n", mismatch.at, mismatch.what));
    }
    if report.mismatches.len() > 20 {
        text.push_str(&format!("  … {} more; --json lists them\n", report.mismatches.len() - 20));
    }
    for failure in report.failures.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: the reference fails {}: {}\n",
            failure.scenario, failure.turn, failure.case, failure.message
        ));
    }
    for unstated in report.unstated.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: not stated: {}: {}\n",
            unstated.scenario, unstated.turn, unstated.place, unstated.what
        ));
    }
    for vacuous in report.vacuous.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: the reference of the turn before passes the suite\n",
            vacuous.scenario, vacuous.turn
        ));
    }
    if report.mutants > 0 {
        text.push_str(&format!(
            "{} of {} noticed ({})\n\n",
            report.killed,
            counted(report.mutants, "mutant"),
            percent(report.killed, report.mutants)
        ));
        let rows: Vec<Vec<String>> = report
            .operators
            .iter()
            .map(|(name, operator)| {
                vec![
                    name.clone(),
                    operator.mutants.to_string(),
                    operator.killed.to_string(),
                    percent(operator.killed, operator.mutants),
                ]
            })
            .collect();
        text.push_str(&text_table::table(
            &["operator", "mutants", "noticed", "share"],
            &[false, true, true, true],
            &rows,
        ));
        for survivor in report.survivors.iter().take(50) {
            text.push_str(&format!(
                "survived: {} in scenario {}, turn {}, at {}: {}\n",
                survivor.operator, survivor.scenario, survivor.turn, survivor.site, survivor.reason
            ));
        }
        if report.survivors.len() > 50 {
            text.push_str(&format!("… {} more; --json lists them\n", report.survivors.len() - 50));
        }
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{} %", model::bounded(part as f64 * 100.0 / whole as f64, 100.0, 2))
}
