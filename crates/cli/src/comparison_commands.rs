//! `stamina compare`, `stamina matrix`, `stamina failures`.

use std::process::ExitCode;

use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{
    ApiError, ChiSquare, Comparability, CompareRequest, ComparedMember, ComparedPair, Comparison, Estimate,
    FailureCase, FailureCasesRequest, FailureGroup, FailureGrouping, FailureScope, Failures, FailuresRequest,
    ListRuns, Matrix, MatrixRequest, Member, Pairs, RunGrouping, Stamina,
};

use crate::args::{FailuresBy, FailuresScope};
use crate::commands::{find_run, print, print_json};
use crate::table;

/// A run by its id (or a part of it), or a group: `harness:opencode`, `model:glm-5@staminabench`, `tag:final`.
pub(crate) fn find_member(workbench: &Workbench, asked: &str) -> Result<Member, ApiError> {
    let group = ["harness", "model", "tag"].into_iter().find_map(|by| {
        let name = asked.strip_prefix(by)?.strip_prefix(':')?;
        Some((by, name))
    });
    let Some((by, name)) = group else {
        return Ok(Member::Run { run: find_run(workbench, asked)?.id });
    };
    // Names may hold an `@` themselves: only the key of a benchmark behind it is one.
    let facets =
        workbench.list_runs(ListRuns { limit: 1, group: RunGrouping::None, ..ListRuns::default() })?.facets;
    let (name, benchmark) = match name.rsplit_once('@') {
        Some((name, key)) if facets.benchmarks.iter().any(|(benchmark, _, _)| benchmark == key) => {
            (name.to_owned(), key.to_owned())
        }
        _ => (name.to_owned(), String::new()),
    };
    Ok(match by {
        "harness" => Member::Harness { harness: name, benchmark },
        "model" => Member::Model { model: name, benchmark },
        _ => Member::Tag { tag: name, benchmark },
    })
}

/// The members that are named, in their order.
pub(crate) fn find_members(workbench: &Workbench, asked: &[String]) -> Result<Vec<Member>, ApiError> {
    asked.iter().map(|asked| find_member(workbench, asked)).collect()
}

/// The request that a list of members and a reference make.
pub(crate) fn request(
    workbench: &Workbench,
    asked: &[String],
    reference: Option<&str>,
    tau: Option<u32>,
) -> Result<CompareRequest, ApiError> {
    let mut members = find_members(workbench, asked)?;
    let (place, pairs) = match reference {
        None => (0, Pairs::All),
        Some(reference) => {
            let reference = find_member(workbench, reference)?;
            let place = members.iter().position(|member| *member == reference).unwrap_or_else(|| {
                members.insert(0, reference);
                0
            });
            (place, Pairs::Reference)
        }
    };
    Ok(CompareRequest { members, reference: place as u32, tau, pairs })
}

/// `stamina compare`.
pub(crate) fn compare(
    workbench: &Workbench,
    runs: &[String],
    reference: Option<&str>,
    tau: Option<u32>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let comparison = workbench.compare_runs(request(workbench, runs, reference, tau)?)?;
    if as_json {
        print_json(&comparison_json(&comparison));
    } else {
        print(&comparison_text(&comparison));
    }
    Ok(ExitCode::SUCCESS)
}

fn mean_stamina(stamina: &Stamina) -> Value {
    json!({ "value": stamina.mean, "ci_low": stamina.ci_low, "ci_high": stamina.ci_high, "tau": stamina.tau })
}

fn chi_square(test: Option<ChiSquare>) -> Value {
    test.map_or(Value::Null, |t| json!({ "chi2": t.chi2, "df": t.df, "p": t.p }))
}

fn estimate(estimate: Option<Estimate>) -> Value {
    estimate.map_or(
        Value::Null,
        |e| json!({ "value": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high, "p": e.p }),
    )
}

fn comparison_json(comparison: &Comparison) -> Value {
    let id = |index: u32| comparison.members.get(index as usize).map(|m| m.id.as_str());
    let run = |m: &ComparedMember| {
        json!({
            "id": m.id,
            "name": m.name,
            "runs": m.runs,
            "harness": m.harness,
            "model": m.model,
            "benchmark": m.benchmark.0,
            "n": m.stamina.n,
            "events": m.stamina.events,
            "censored": m.stamina.censored,
            "mean_stamina": mean_stamina(&m.stamina),
            "median": m.stamina.median,
            "censored_failed": mean_stamina(&m.censored_failed),
            "censored_dropped": mean_stamina(&m.censored_dropped),
            "early_censored": m.early_censored,
            "score": m.score,
            "spent": m.spent,
            "simulated": m.simulated,
            "baseline": m.baseline,
            "caveats": m.caveats,
        })
    };
    let pair = |p: &ComparedPair| {
        let mut logrank = chi_square(p.logrank);
        if let Value::Object(map) = &mut logrank {
            map.insert("p_holm".to_owned(), json!(p.p_holm));
        }
        json!({
            "a": id(p.a),
            "b": id(p.b),
            "logrank": logrank,
            "logrank_stratified": chi_square(p.logrank_stratified),
            "difference": estimate(p.difference),
            "difference_bootstrap": p.difference_bootstrap.map(|(low, high)| json!({ "ci_low": low, "ci_high": high })),
            "ratio": estimate(p.ratio),
            "paired": p.paired.as_ref().map(|paired| json!({
                "n": paired.n,
                "mean": paired.mean,
                "ci_low": paired.ci_low,
                "ci_high": paired.ci_high,
                "p": paired.p,
                "p_sign_flip": paired.p_sign_flip,
                "wins": { "a": paired.wins.0, "same": paired.wins.1, "b": paired.wins.2 },
                "scenarios": paired.scenarios,
            })),
        })
    };
    json!({
        "differences": comparison.differences,
        "equal": comparison.equal.iter().map(|(setting, value)| json!({ "setting": setting, "value": value })).collect::<Vec<_>>(),
        "comparability": comparison.comparability,
        "tau": comparison.tau,
        "shared_scenarios": comparison.shared_scenarios,
        "reference": id(comparison.reference),
        "runs": comparison.members.iter().map(run).collect::<Vec<_>>(),
        "pairs": comparison.pairs.iter().map(pair).collect::<Vec<_>>(),
        "overall": chi_square(comparison.overall),
        "overall_stratified": chi_square(comparison.overall_stratified),
        "cautions": comparison.cautions,
        "policy": comparison.policy,
        "seed": comparison.seed,
    })
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(unknown, |value| format!("{value:.digits$}"))
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low:.2}–{high:.2}"),
        _ => "n/a".to_owned(),
    }
}

/// With signs between which a dash could not be told from a minus.
fn signed_interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low:+.2} to {high:+.2}"),
        _ => "n/a".to_owned(),
    }
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "n/a".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

fn mark(comparability: Comparability) -> &'static str {
    match comparability {
        Comparability::NotComparable => "not comparable",
        Comparability::CannotBeRuledOut => "can not be ruled out",
        Comparability::NoEffect => "no effect",
    }
}

fn comparison_text(comparison: &Comparison) -> String {
    let members = &comparison.members;
    let mut text = String::new();
    if comparison.differences.is_empty() {
        text.push_str("No settings differ.\n");
    } else {
        let mut head = vec!["setting", "mark"];
        head.extend(members.iter().map(|m| m.name.as_str()));
        head.push("what it means");
        let rows: Vec<Vec<String>> = comparison
            .differences
            .iter()
            .map(|d| {
                let mut row = vec![d.setting.clone(), mark(d.comparability).to_owned()];
                row.extend(d.values.iter().map(|value| value.clone().unwrap_or_else(unknown)));
                row.push(d.note.clone());
                row
            })
            .collect();
        text.push_str(&table::table(&head, &vec![false; head.len()], &rows));
    }
    text.push_str(&format!(
        "{} settings are the same. {} scenarios are shared. τ = {} turns.\n\n",
        comparison.equal.len(),
        comparison.shared_scenarios,
        comparison.tau
    ));
    let rows: Vec<Vec<String>> = members
        .iter()
        .map(|m| {
            vec![
                m.name.clone(),
                m.stamina.n.to_string(),
                m.stamina.events.to_string(),
                m.stamina.censored.to_string(),
                number(m.stamina.mean, 2),
                interval(m.stamina.ci_low, m.stamina.ci_high),
                m.stamina.median.map_or_else(|| "not reached".to_owned(), |median| median.to_string()),
                number(m.score, 1),
                number(m.spent.cost_usd, 2),
                number(m.spent.cost_per_survived_turn, 2),
            ]
        })
        .collect();
    text.push_str(&table::table(
        &[
            "run",
            "n",
            "events",
            "censored",
            "stamina",
            "95 % CI",
            "median",
            "score",
            "cost ($)",
            "$ per survived turn",
        ],
        &[false, true, true, true, true, true, true, true, true, true],
        &rows,
    ));
    if !comparison.pairs.is_empty() {
        text.push('\n');
        let name = |index: u32| members.get(index as usize).map_or("", |m| m.name.as_str());
        let rows: Vec<Vec<String>> = comparison
            .pairs
            .iter()
            .map(|p| {
                let paired = p.paired.as_ref();
                vec![
                    format!("{} − {}", name(p.a), name(p.b)),
                    p.difference.map_or_else(|| "n/a".to_owned(), |d| format!("{:+.2}", d.value)),
                    p.difference.map_or_else(unknown, |d| signed_interval(d.ci_low, d.ci_high)),
                    p.ratio.map_or_else(|| "n/a".to_owned(), |r| format!("{:.2}", r.value)),
                    p_value(p.logrank.map(|l| l.p)),
                    p_value(p.p_holm),
                    paired.map_or_else(|| "0".to_owned(), |p| p.n.to_string()),
                    paired.map_or_else(|| "n/a".to_owned(), |p| format!("{:+.2}", p.mean)),
                    paired.map_or_else(|| "n/a".to_owned(), |p| signed_interval(p.ci_low, p.ci_high)),
                    p_value(paired.and_then(|p| p.p)),
                ]
            })
            .collect();
        text.push_str(&table::table(
            &[
                "pair",
                "difference",
                "95 % CI",
                "ratio",
                "log-rank p",
                "Holm p",
                "shared",
                "paired",
                "95 % CI",
                "paired p",
            ],
            &[false, true, true, true, true, true, true, true, true, true],
            &rows,
        ));
    }
    if let Some(overall) = comparison.overall.filter(|_| members.len() > 2) {
        text.push_str(&format!(
            "\nAll together: log-rank χ² = {:.2}, {} degrees of freedom, p {}\n",
            overall.chi2,
            overall.df,
            p_value(Some(overall.p))
        ));
    }
    notes(&mut text, &comparison.cautions);
    for member in members {
        for caveat in &member.caveats {
            text.push_str(&format!("{}: {caveat}\n", member.name));
        }
    }
    text
}

fn notes(text: &mut String, sentences: &[String]) {
    if !sentences.is_empty() {
        text.push('\n');
    }
    for sentence in sentences {
        text.push_str(sentence);
        text.push('\n');
    }
}

/// `stamina matrix`.
pub(crate) fn matrix(
    workbench: &Workbench,
    runs: &[String],
    benchmark: Option<String>,
    with_baselines: bool,
    tau: Option<u32>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let runs =
        runs.iter().map(|run| find_run(workbench, run).map(|row| row.id)).collect::<Result<Vec<_>, _>>()?;
    let matrix = workbench.get_matrix(MatrixRequest { benchmark, runs, with_baselines, tau })?;
    if as_json {
        print_json(&matrix_json(&matrix));
    } else {
        print(&matrix_text(&matrix));
    }
    Ok(ExitCode::SUCCESS)
}

fn matrix_json(matrix: &Matrix) -> Value {
    let harness = |row: usize| matrix.harnesses.get(row).and_then(|line| line.name.clone());
    let model = |column: usize| matrix.models.get(column).and_then(|line| line.name.clone());
    let columns = matrix.models.len().max(1);
    let mut cells = Vec::new();
    let mut missing = Vec::new();
    for (place, cell) in matrix.cells.iter().enumerate() {
        let (row, column) = (place / columns, place % columns);
        match cell {
            None => missing.push(json!({ "harness": harness(row), "model": model(column) })),
            Some(cell) => cells.push(json!({
                "harness": harness(row),
                "model": model(column),
                "n": cell.stamina.n,
                "events": cell.stamina.events,
                "censored": cell.stamina.censored,
                "mean_stamina": mean_stamina(&cell.stamina),
                "median": cell.stamina.median,
                "runs": cell.runs,
                "simulated": cell.simulated,
            })),
        }
    }
    let spread: Vec<Value> = matrix
        .spread
        .iter()
        .enumerate()
        .filter_map(|(column, spread)| {
            let spread = spread.as_ref()?;
            Some(json!({
                "model": model(column),
                "best": harness(spread.best as usize),
                "worst": harness(spread.worst as usize),
                "ratio": estimate(spread.ratio),
            }))
        })
        .collect();
    json!({
        "benchmark": { "key": matrix.benchmark.0, "name": matrix.benchmark.1 },
        "tau": matrix.tau,
        "harnesses": matrix.harnesses,
        "models": matrix.models,
        "cells": cells,
        "missing": missing,
        "spread": spread,
        "not_comparable": matrix.not_comparable,
        "published": matrix.published,
        "cautions": matrix.cautions,
        "policy": matrix.policy,
        "seed": matrix.seed,
    })
}

fn matrix_text(matrix: &Matrix) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(unknown);
    let mut text = format!("{}: mean stamina, τ = {} turns\n", matrix.benchmark.1, matrix.tau);
    let models: Vec<String> = matrix.models.iter().map(|line| name(&line.name)).collect();
    let mut head = vec!["harness"];
    head.extend(models.iter().map(String::as_str));
    head.push("mean over models");
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (line, cells) in matrix.harnesses.iter().zip(matrix.cells.chunks(models.len().max(1))) {
        let mut row = vec![name(&line.name)];
        row.extend(cells.iter().map(|cell| {
            cell.as_ref().map_or_else(
                || "no run".to_owned(),
                |cell| {
                    let stamina = &cell.stamina;
                    format!(
                        "{} ({}, n = {})",
                        number(stamina.mean, 2),
                        interval(stamina.ci_low, stamina.ci_high),
                        stamina.n
                    )
                },
            )
        }));
        row.push(format!("{} ({} of {})", number(line.mean, 2), line.cells, line.cells + line.missing));
        rows.push(row);
    }
    let mut last = vec!["mean over harnesses".to_owned()];
    last.extend(
        matrix.models.iter().map(|line| {
            format!("{} ({} of {})", number(line.mean, 2), line.cells, line.cells + line.missing)
        }),
    );
    last.push(String::new());
    rows.push(last);
    let mut right = vec![true; head.len()];
    right[0] = false;
    text.push_str(&table::table(&head, &right, &rows));
    for (model, spread) in models.iter().zip(&matrix.spread) {
        let Some(spread) = spread else { continue };
        let line =
            |row: u32| matrix.harnesses.get(row as usize).map_or_else(unknown, |line| name(&line.name));
        let ratio = spread.ratio.map_or_else(
            || "not defined, the worst is 0".to_owned(),
            |ratio| format!("{:.2} ({})", ratio.value, interval(ratio.ci_low, ratio.ci_high)),
        );
        text.push_str(&format!(
            "{model}: best {}, worst {}, ratio {ratio}\n",
            line(spread.best),
            line(spread.worst)
        ));
    }
    for difference in &matrix.not_comparable {
        text.push_str(&format!("not comparable: {difference}\n"));
    }
    notes(&mut text, &matrix.cautions);
    text
}

/// What `stamina failures` was asked.
pub(crate) struct FailuresAsked {
    pub(crate) runs: Vec<String>,
    pub(crate) by: FailuresBy,
    pub(crate) scope: FailuresScope,
    pub(crate) cases: bool,
    pub(crate) class: Option<String>,
}

/// `stamina failures`.
pub(crate) fn failures(
    workbench: &Workbench,
    asked: &FailuresAsked,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let request = FailuresRequest {
        members: find_members(workbench, &asked.runs)?,
        group: match asked.by {
            FailuresBy::Run => FailureGrouping::Member,
            FailuresBy::Harness => FailureGrouping::Harness,
            FailuresBy::Turn => FailureGrouping::Turn,
            FailuresBy::Attempt => FailureGrouping::Attempt,
        },
        scope: match asked.scope {
            FailuresScope::Attempts => FailureScope::Attempts,
            FailuresScope::Turns => FailureScope::Turns,
            FailuresScope::First => FailureScope::First,
        },
    };
    let failures = workbench.get_failures(request.clone())?;
    let cases = if asked.cases { every_case(workbench, &request, asked.class.as_ref())? } else { Vec::new() };
    if as_json {
        let mut value = failures_json(&failures);
        if asked.cases {
            value["cases"] = Value::Array(cases.iter().map(case_json).collect());
        }
        print_json(&value);
    } else {
        print(&failures_text(&failures));
        if asked.cases {
            print(&cases_text(&cases));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The cases behind a share, page by page.
fn every_case(
    workbench: &Workbench,
    of: &FailuresRequest,
    class: Option<&String>,
) -> Result<Vec<FailureCase>, ApiError> {
    let mut cases = Vec::new();
    loop {
        let page = workbench.list_failure_cases(FailureCasesRequest {
            of: of.clone(),
            class: class.cloned(),
            offset: cases.len() as u32,
            limit: 1000,
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
    let group = |group: &FailureGroup| json!({ "group": group.key, "label": group.label, "attempts": group.attempts, "classes": group.shares });
    json!({
        "attempts": failures.attempts,
        "all_attempts": failures.all_attempts,
        "tests": failures.tests,
        "not_described": failures.not_described,
        "classes": failures.classes,
        "total": group(&failures.total),
        "groups": failures.groups.iter().map(group).collect::<Vec<_>>(),
        "origins": failures.origins.iter().map(|(origin, n)| json!({ "origin": origin, "tests": n })).collect::<Vec<_>>(),
        "repair": {
            "failed_first": failures.repair.failed_first,
            "repaired": failures.repair.repaired,
            "median_attempts": failures.repair.median_attempts,
            "at_attempt": failures.repair.at_attempt.iter().map(|(attempt, n)| json!({ "attempt": attempt, "turns": n })).collect::<Vec<_>>(),
            "tests_followed": failures.repair.tests_followed,
            "tests_repaired_later": failures.repair.tests_repaired_later,
            "median_turns": failures.repair.median_turns,
        },
        "flips": failures.flips,
    })
}

fn case_json(case: &FailureCase) -> Value {
    let (new, regression, still_failing, unknown) = case.origins;
    json!({
        "run": case.run,
        "episode": case.episode,
        "scenario": case.scenario,
        "turn": case.turn,
        "attempt": case.attempt,
        "class": case.class,
        "rule": case.rule,
        "tests": case.tests.iter().map(|(class, n)| json!({ "class": class, "tests": n })).collect::<Vec<_>>(),
        "origins": { "new": new, "regression": regression, "still_failing": still_failing, "unknown": unknown },
        "test": case.test,
        "passed_in_turn": case.passed_in_turn,
        "message": case.message,
        "passed": case.passed,
        "total": case.total,
    })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn failures_text(failures: &Failures) -> String {
    let mut text = format!(
        "{} of {} attempts failed in scope; {} failing tests are described, {} only counted\n\n",
        failures.attempts, failures.all_attempts, failures.tests, failures.not_described
    );
    let mut head = vec!["class", "side", "attempts", "share", "95 % CI", "tests"];
    let several = failures.groups.len() > 1;
    if several {
        head.extend(failures.groups.iter().map(|group| group.label.as_str()));
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
                format!("{}–{}", percent(share.ci_low), percent(share.ci_high)),
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
    text.push_str(&table::table(&head, &right, &rows));
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
        text.push_str(&format!("\nFailing tests by origin: {}\n", origins.join(", ")));
    }
    let repair = &failures.repair;
    text.push_str(&format!(
        "Turns whose first attempt failed: {}, of which {} passed at a later one (median {})\n",
        repair.failed_first,
        repair.repaired,
        repair.median_attempts.map_or_else(
            || "not reached".to_owned(),
            |n| if n == 1 { "1 attempt more".to_owned() } else { format!("{n} attempts more") }
        )
    ));
    text
}

fn cases_text(cases: &[FailureCase]) -> String {
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            vec![
                case.run.clone(),
                case.episode.clone(),
                case.turn.to_string(),
                case.attempt.to_string(),
                case.class.clone(),
                match case.passed.zip(case.total) {
                    Some((passed, total)) => format!("{passed}/{total}"),
                    None => unknown(),
                },
                case.test.clone().unwrap_or_default(),
                case.message.as_deref().and_then(|m| m.lines().next()).unwrap_or_default().to_owned(),
            ]
        })
        .collect();
    let head = ["run", "episode", "turn", "attempt", "class", "passed", "test", "message"];
    let right = [false, false, true, true, false, true, false, false];
    format!("\n{}", table::table(&head, &right, &rows))
}
