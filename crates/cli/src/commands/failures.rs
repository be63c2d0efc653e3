//! `stamina failures`.

use std::process::ExitCode;

use model::{RateInterval, counted};
use serde_json::{Value, json};
use workbench::api::{
    ApiError, FailureCase, FailureCasesRequest, FailureGroup, FailureScope, Failures, FailuresRequest,
    Repair, RepairGroup,
};
use workbench::{Workbench, stretch_ends, turn_repairs};

use crate::args::{FailuresBy, FailuresScope};
use crate::members::find_members;
use crate::numbers::{benchmarks, notes, unknown};
use crate::print::{print, print_json};
use crate::text_table;

/// The arguments of `stamina failures`.
pub(crate) struct FailuresOptions {
    pub(crate) runs: Vec<String>,
    pub(crate) benchmark: Option<String>,
    pub(crate) grouping: FailuresBy,
    pub(crate) scope: FailuresScope,
    pub(crate) cases: bool,
    pub(crate) class: Option<String>,
    pub(crate) by_tests: bool,
}

/// `stamina failures`.
pub(crate) fn failures(
    workbench: &Workbench,
    options: &FailuresOptions,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let request = FailuresRequest {
        members: find_members(workbench, &options.runs)?,
        group: options.grouping.into(),
        scope: options.scope.into(),
        benchmark: options.benchmark.clone(),
    };
    let failures = workbench.get_failures(request.clone())?;
    let cases = if options.cases { every_case(workbench, &request, options)? } else { Vec::new() };
    if as_json {
        let mut value = failures_json(&failures);
        if options.cases {
            value["cases"] = Value::Array(cases.iter().map(case_json).collect());
        }
        print_json(&value);
    } else {
        print(&failures_text(&failures, request.scope));
        if options.cases {
            print(&cases_text(&cases, &failures));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the cases behind a share, page by page.
fn every_case(
    workbench: &Workbench,
    request: &FailuresRequest,
    options: &FailuresOptions,
) -> Result<Vec<FailureCase>, ApiError> {
    let mut cases = Vec::new();
    loop {
        let page = workbench.list_failure_cases(FailureCasesRequest {
            failures: request.clone(),
            class: options.class.clone(),
            by_tests: options.by_tests,
            offset: cases.len() as u32,
            limit: 1000,
            most_tests: u32::MAX,
            ..FailureCasesRequest::default()
        })?;
        let done = page.rows.is_empty();
        cases.extend(page.rows);
        if done || cases.len() >= page.total as usize {
            return Ok(cases);
        }
    }
}

fn failures_json(failures: &Failures) -> Value {
    let group = |group: &FailureGroup| {
        json!({
            "group": group.key,
            "label": group.label,
            "simulated": group.simulated,
            "made": group.attempts_in_scope,
            "attempts": group.attempts,
            "interval": group.interval,
            "rate": group.rate.map(|(value, low, high)| json!({ "value": value, "ci_low": low, "ci_high": high })),
            "rate_interval": group.rate_interval,
            "classes": group.shares,
        })
    };
    let repair = |group: &RepairGroup| {
        let mut value = repair_json(&group.repair);
        value["group"] = json!(group.key);
        value["label"] = json!(group.label);
        value["simulated"] = json!(group.simulated);
        value
    };
    json!({
        "benchmark": failures.benchmark.as_ref().map(|(key, name)| json!({ "key": key, "name": name })),
        "benchmarks": benchmarks(&failures.benchmarks),
        "not_comparable": failures.not_comparable,
        "attempts": failures.attempts,
        "all_attempts": failures.all_attempts,
        "tests": failures.tests,
        "not_described": failures.not_described,
        "classes": failures.classes,
        "total": group(&failures.total),
        "groups": failures.groups.iter().map(group).collect::<Vec<_>>(),
        "origins": failures.origins.iter().map(|(origin, n)| json!({ "origin": origin, "tests": n })).collect::<Vec<_>>(),
        "repair": repair_json(&failures.repair),
        "repairs": failures.repairs.iter().map(repair).collect::<Vec<_>>(),
        "flips": failures.flips,
        "cautions": failures.cautions,
    })
}

fn repair_json(repair: &Repair) -> Value {
    json!({
        "failed_first": repair.failed_first,
        "tried_again": repair.tried_again,
        "repaired": repair.repaired,
        "median_attempts": repair.median_attempts.time(),
        "at_attempt": repair.at_attempt.iter().map(|(attempt, n)| json!({ "attempt": attempt, "turns": n })).collect::<Vec<_>>(),
        "stretches": repair.stretches,
        "stretches_unknown": repair.stretches_unknown,
        "stretches_repaired": repair.stretches_repaired,
        "repaired_in_same_turn": repair.repaired_in_same_turn,
        "median_turns": repair.median_turns.time(),
    })
}

fn case_json(case: &FailureCase) -> Value {
    let (new, regressed, still_failing, unknown) = case.origins;
    json!({
        "run": case.run,
        "episode": case.episode,
        "scenario": case.scenario,
        "repeat": case.repeat,
        "turn": case.turn,
        "attempt": case.attempt,
        "class": case.class,
        "rule": case.rule,
        "tests": case.tests.iter().map(|(class, n)| json!({ "class": class, "tests": n })).collect::<Vec<_>>(),
        "origins": { "new": new, "regressed": regressed, "still_failing": still_failing, "unknown": unknown },
        "failing": case.failing,
        "not_described": case.not_described,
        "test": case.test,
        "passed_in_turn": case.passed_in_turn,
        "message": case.message,
        "passed": case.passed,
        "total": case.total,
    })
}

fn percent(share: f64) -> String {
    format!("{} %", model::bounded(100.0 * share, 100.0, 1))
}

/// How the intervals of shares of all failed attempts are made.
fn interval_line(failures: &Failures) -> String {
    let noun = if failures.of_one_turn { "task" } else { "scenario" };
    match failures.total.interval {
        Some(RateInterval::Wilson) => "95 % CI: Wilson's\n".to_owned(),
        Some(RateInterval::Clustered) => {
            format!(
                "95 % CI: Wilson's, clustered by {noun}, since several failed attempts are of one {noun}\n"
            )
        }
        None if failures.attempts > 0 => {
            format!("95 % CI: n/a, since all failed attempts are of one {noun}\n")
        }
        None => String::new(),
    }
}

/// An interval; one that is not known is n/a.
fn interval(ci_low: Option<f64>, ci_high: Option<f64>) -> String {
    ci_low
        .zip(ci_high)
        .map_or_else(|| "n/a".to_owned(), |(low, high)| format!("{}–{}", percent(low), percent(high)))
}

/// What the numbers of failing tests by origin are of, where `tried_again` turns had another attempt.
fn origins_head(scope: FailureScope, tried_again: u32) -> &'static str {
    if scope == FailureScope::Attempts || tried_again == 0 {
        "Failing tests by origin"
    } else {
        "Failing tests by origin, at the last attempt of a turn, where few are new or regressed (--scope attempts: at every one)"
    }
}

fn failures_text(failures: &Failures, scope: FailureScope) -> String {
    let one = failures.of_one_turn;
    let (unit, outcome) = match scope {
        FailureScope::Attempts => ("attempt", "failed"),
        FailureScope::Turns if one => ("trial", "that began ended in a failed attempt"),
        FailureScope::Turns => ("turn", "reached failed"),
        FailureScope::First if one => ("scored trial", "failed"),
        FailureScope::First => ("turn", "at risk failed"),
    };
    let mut text = String::new();
    if let Some((_, name)) = &failures.benchmark {
        text.push_str(&format!("{name}\n"));
    }
    text.push_str(&format!(
        "{} of {} {outcome}; {} {} described, {} only counted\n",
        failures.attempts,
        counted(failures.total.attempts_in_scope.into(), unit),
        counted(failures.tests.into(), "failing test"),
        if failures.tests == 1 { "is" } else { "are" },
        failures.not_described
    ));
    for difference in &failures.not_comparable {
        text.push_str(&format!("not comparable: {difference}\n"));
    }
    if failures.total.simulated {
        text.push_str("simulated: runs in which no real model answered are counted\n");
    }
    text.push('\n');
    let mut head = vec!["class", "side", "attempts", "share", "95 % CI", "tests"];
    let several = failures.groups.len() > 1;
    let named = |group: &FailureGroup| format!("{}, n = {}", group.marked(), group.attempts);
    let names: Vec<String> = failures.groups.iter().map(named).collect();
    if several {
        head.extend(names.iter().map(String::as_str));
    }
    let share_of = |group: &FailureGroup, class: &str| {
        group.shares.iter().find(|share| share.class == class).map_or_else(
            || if group.attempts == 0 { "n/a".to_owned() } else { percent(0.0) },
            |share| percent(share.share),
        )
    };
    let rows: Vec<Vec<String>> = failures
        .classes
        .iter()
        .filter_map(|class| {
            let share = failures.total.shares.iter().find(|share| share.class == class.class)?;
            let mut row = vec![
                class.label.clone(),
                class.side.clone(),
                share.attempts.to_string(),
                percent(share.share),
                interval(share.ci_low, share.ci_high),
                share.tests.to_string(),
            ];
            if several {
                row.extend(failures.groups.iter().map(|group| share_of(group, &class.class)));
            }
            Some(row)
        })
        .collect();
    let mut right = vec![true; head.len()];
    (right[0], right[1]) = (false, false);
    text.push_str(&text_table::table(&head, &right, &rows));
    text.push_str(&interval_line(failures));
    let origins: Vec<String> = failures
        .origins
        .iter()
        .map(|(origin, n)| {
            let word = serde_json::to_value(origin).ok();
            let word = word.as_ref().and_then(Value::as_str).unwrap_or("unknown").replace('_', " ");
            format!("{n} {word}")
        })
        .collect();
    if !origins.is_empty() {
        text.push_str(&format!(
            "\n{}: {}\n",
            origins_head(scope, failures.repair.tried_again),
            origins.join(", ")
        ));
    }
    let repair = &failures.repair;
    let scope_words = if scope == FailureScope::Attempts { "" } else { "Over every attempt: " };
    text.push_str(&format!("{scope_words}{}\n", turn_repairs(repair, one)));
    if let Some(ends) = stretch_ends(repair, one) {
        text.push_str(&format!("{ends}\n"));
    }
    if failures.benchmarks.len() > 1 {
        let others = failures
            .benchmarks
            .iter()
            .filter(|(key, ..)| failures.benchmark.as_ref().is_none_or(|own| own.0 != *key));
        let others: Vec<String> = others.map(|(key, _, runs)| format!("{key} ({runs})")).collect();
        text.push_str(&format!("Not counted are the runs of other benchmarks: {}\n", others.join(", ")));
    }
    notes(&mut text, &failures.cautions);
    text
}

fn cases_text(cases: &[FailureCase], failures: &Failures) -> String {
    let label = |case: &FailureCase| {
        let class = failures.classes.iter().find(|class| class.class == case.class);
        class.map_or_else(|| case.class.clone(), |class| class.label.clone())
    };
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            vec![
                case.run.clone(),
                case.episode.clone(),
                case.turn.to_string(),
                case.attempt.to_string(),
                label(case),
                match case.passed.zip(case.total) {
                    Some((passed, total)) => format!("{passed}/{total}"),
                    None => unknown(),
                },
                case.test.clone().unwrap_or_default(),
                case.message.as_deref().and_then(|m| m.lines().next()).unwrap_or_default().to_owned(),
            ]
        })
        .collect();
    let episode = if failures.of_one_turn { "trial" } else { "episode" };
    let head = ["run", episode, "turn", "attempt", "class", "passed", "test", "message"];
    let right = [false, false, true, true, false, true, false, false];
    format!("\n{}", text_table::table(&head, &right, &rows))
}

#[cfg(test)]
mod tests {
    use workbench::api::FailureScope;

    use super::origins_head;

    #[test]
    fn where_only_last_attempts_count_the_origins_say_so() {
        assert_eq!(origins_head(FailureScope::Attempts, 3), "Failing tests by origin");
        assert_eq!(origins_head(FailureScope::First, 0), "Failing tests by origin");
        for scope in [FailureScope::First, FailureScope::Turns] {
            assert!(origins_head(scope, 3).contains("at the last attempt of a turn"));
        }
    }
}
