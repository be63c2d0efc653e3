//! The JSON that `--json` prints. `docs/cli.md` documents its keys, which scripts rely on. Unknown is `null`.

use std::collections::HashMap;

use model::{Attempt, Episode, PassRate, RoundScores, Severity, TestResult, Tokens, Turn, Warning};
use serde_json::{Map, Value, json};
use workbench::api::{
    ApiError, FailureOrigin, GridRow, RerunList, RunDetail, RunRow, Stamina, SurvivalRow, TestHistory,
    TurnScores,
};
use workbench::{CopiedRun, IngestSummary};

/// The format of tidy tables.
const TABLE: &str = "table";

/// One source of `stamina ingest --json`.
pub(crate) fn ingest_summary(source: &IngestSummary) -> Value {
    let warnings: Vec<Value> = source.warnings.iter().map(warning).collect();
    json!({
        "path": source.path,
        "format": source.format,
        "runs": source.runs,
        "episodes": source.episodes,
        "turns": source.turns,
        "attempts": source.attempts,
        "unchanged": source.unchanged,
        "warnings": warnings,
        "severities": source.severities,
        "copies": source.copies.iter().map(copied_run).collect::<Vec<_>>(),
        "found": source.found,
        "closest": null,
    })
}

/// A run with trials that other runs have as well.
fn copied_run(copied: &CopiedRun) -> Value {
    let others: Vec<Value> =
        copied.other_runs.iter().map(|(run, trials)| json!({ "run": run, "trials": trials })).collect();
    json!({ "run": copied.run, "also_in": others })
}

/// One warning.
pub(crate) fn warning(warning: &Warning) -> Value {
    json!({
        "path": warning.path,
        "code": warning.code,
        "message": warning.message,
        "treatment": warning.treatment.as_str(),
        "severity": Severity::from_code(&warning.code).as_str(),
    })
}

/// An error in a list of results, with what was found at the path.
pub(crate) fn error(path: &str, error: &ApiError) -> Value {
    let nothing = error.not_recognised.as_deref();
    let closest = nothing.and_then(|nothing| nothing.closest.as_ref());
    json!({
        "path": path, "code": error.code, "message": error.message, "hint": error.hint,
        "found": nothing.map_or(&[][..], |nothing| &nothing.found),
        "tables": nothing.map_or(&[][..], |nothing| &nothing.tables),
        "closest": closest.map(|(sentence, folder)| json!({ "sentence": sentence, "at": folder })),
    })
}

fn stamina(stamina: &Stamina) -> Value {
    json!({
        "mean": stamina.mean,
        "ci_low": stamina.ci_low,
        "ci_high": stamina.ci_high,
        "clustered": stamina.clustered,
        "tau": stamina.tau,
        "n": stamina.n,
        "events": stamina.events,
        "censored": stamina.censored,
        "median": stamina.median.time(),
        "median_reached": stamina.median.is_reached(),
    })
}

/// The pass rate of a run of one turn; `null` elsewhere.
pub(crate) fn pass_rate(rate: Option<&PassRate>) -> Value {
    rate.map_or(Value::Null, |rate| {
        json!({
            "value": rate.value,
            "ci_low": rate.ci_low,
            "ci_high": rate.ci_high,
            "interval": rate.interval,
            "tasks": rate.tasks,
            "trials": rate.trials,
            "passed": rate.passed,
            "unscored": rate.unscored,
        })
    })
}

/// pass@k or pass^k by k; `null` where there is none.
pub(crate) fn by_k(values: Option<&Vec<f64>>) -> Value {
    values.filter(|values| !values.is_empty()).map_or(Value::Null, |values| {
        (1..)
            .zip(values)
            .map(|(k, value): (u32, &f64)| (k.to_string(), json!(value)))
            .collect::<Map<_, _>>()
            .into()
    })
}

/// The intervals of pass@k or pass^k by k; `null` where there is none.
pub(crate) fn intervals_by_k(intervals: Option<&Vec<Option<(f64, f64)>>>) -> Value {
    intervals.filter(|intervals| !intervals.is_empty()).map_or(Value::Null, |intervals| {
        (1..)
            .zip(intervals)
            .map(|(k, ends): (u32, _)| {
                (k.to_string(), json!(ends.map(|(low, high)| json!({ "ci_low": low, "ci_high": high }))))
            })
            .collect::<Map<_, _>>()
            .into()
    })
}

fn tokens(tokens: &Tokens) -> Value {
    json!({ "input": tokens.input, "cached": tokens.cached, "output": tokens.output })
}

/// One run of `stamina runs --json`, with what its number would be if no end whose cause is not recognized were the agent's.
pub(crate) fn run(row: &RunRow, note: Option<&str>) -> Value {
    let reported: Map<String, Value> =
        row.reported.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let end_reasons: Map<String, Value> =
        row.end_reasons.iter().map(|e| (e.reason.as_str().to_owned(), json!(e.count))).collect();
    // What is withdrawn is not missing.
    let planned = row.planned_episodes.map(|planned| planned.saturating_sub(row.withdrawn_episodes));
    let mut value = json!({
        "id": row.id,
        "source": row.source_name,
        "source_label": row.source_label,
        "format": row.format,
        "benchmark": row.benchmark.key,
        "harness": row.harness,
        "harness_version": row.harness_version,
        "runner": row.runner.as_ref().map(|(name, version)| json!({ "name": name, "version": version })),
        "model": row.model,
        "provider": row.provider,
        "episodes": row.episodes,
        "planned_episodes": row.planned_episodes,
        "coverage": { "planned": planned, "present": row.episodes, "scored": row.scored_episodes },
        "planned_turns": row.planned_turns.map(|(_, most)| most),
        "planned_turns_min": row.planned_turns.map(|(least, _)| least),
        "attempt_limit": row.attempt_limit,
        "stamina": row.tested.then(|| stamina(&row.stamina)),
        "pass_rate": pass_rate(row.pass_rate.as_ref()),
        "pass_at_k": by_k(row.pass_rate.as_ref().map(|rate| &rate.pass_at_k)),
        "pass_hat_k": by_k(row.pass_rate.as_ref().map(|rate| &rate.pass_hat_k)),
        "score": row.score,
        "dataset_score": row.dataset_score,
        "case_score": row.case_score,
        "perfect": row.perfect,
        "reported": reported,
        "end_reasons": end_reasons,
        "unrecognised": row.unrecognised,
        "tokens": tokens(&row.tokens),
        // A simulated model has no cost, whatever its source counts.
        "cost_usd": row.cost_usd.filter(|_| !row.simulated),
        // If fewer are known than exist, the sum lacks the others.
        "tokens_known": { "known": row.tokens_known, "of": row.episodes },
        "cost_known": { "known": if row.simulated { 0 } else { row.cost_known }, "of": row.episodes },
        "baseline": row.baseline.map(model::Baseline::as_str),
        "simulated": row.simulated,
        "started_at": row.started_at,
        "warnings": row.warnings,
        "severities": row.severities,
        "partial": row.partial,
        "tags": row.tags,
        "note": row.note,
        "invalid": row.invalid,
    });
    // The macro cannot take more keys at once.
    let of_rounds = rounds(row.rounds.as_ref());
    for key in ["mt_at_k", "sr", "gap", "comp"] {
        value[key] = of_rounds[key].clone();
    }
    for key in ["sr_at_k", "round_by_round", "alone"] {
        value[key] = of_rounds[key].clone();
    }
    value["rounds_missing"] = match &row.rounds {
        Some(_) => of_rounds["missing"].clone(),
        None => json!([no_rounds(row)]),
    };
    value["unrecognised_note"] = json!(note);
    value["withdrawn_episodes"] = json!(row.withdrawn_episodes);
    value["doubts"] = json!(row.doubts);
    value["tokens_per_second"] = tokens_per_second(row);
    value["pass_at_k_ci"] = intervals_by_k(row.pass_rate.as_ref().map(|rate| &rate.pass_at_k_ci));
    value["pass_hat_k_ci"] = intervals_by_k(row.pass_rate.as_ref().map(|rate| &rate.pass_hat_k_ci));
    value
}

/// The speed of the endpoint; `null` where it is unknown.
fn tokens_per_second(row: &RunRow) -> Value {
    let speed = |part: &str| {
        let median = row.tokens_per_second(part, "median")?;
        Some(json!({ "median": median, "p10": row.tokens_per_second(part, "p10") }))
    };
    json!({ "prompt": speed("prompt"), "answer": speed("answer") })
}

/// Why no score of rounds applies to a run.
fn no_rounds(row: &RunRow) -> String {
    let reason = if row.episodes == 0 {
        "the run has no episode"
    } else if row.pass_rate.is_some() {
        "each task has one turn, and pass@k is its score"
    } else if row.format == TABLE {
        "its turns score by their share of tests passed; a column scoring that says turns has them score as a whole"
    } else {
        "its turns are not graded by themselves"
    };
    format!("MT@k, SR, Gap and Comp do not apply: {reason}.")
}

/// MT@k by k, SR, Gap and Comp, and the reasons for missing ones; all `null` where they do not apply.
fn rounds(scores: Option<&RoundScores>) -> Value {
    json!({
        "mt_at_k": by_k(scores.map(|rounds| &rounds.mt_at_k)),
        "sr": scores.and_then(|rounds| rounds.sr),
        "gap": scores.and_then(|rounds| rounds.gap),
        "comp": scores.and_then(|rounds| rounds.comp),
        "sr_at_k": by_k(scores.map(|rounds| &rounds.sr_at_k)),
        "round_by_round": scores.map(|rounds| rounds.round_by_round),
        "alone": scores.map(|rounds| rounds.alone),
        "missing": scores.map(|rounds| &rounds.missing),
    })
}

/// Scores of turns of a member or a cell; `null` where they do not apply.
pub(crate) fn turn_scores(turns: Option<&TurnScores>) -> Value {
    let Some(scores) = turns else { return Value::Null };
    let mut value = rounds(Some(&scores.rounds));
    value["runs"] = json!(scores.runs);
    value["dataset_score"] = json!(scores.dataset_score);
    value["case_score"] = json!(scores.case_score);
    value["perfect"] = json!(scores.perfect);
    value
}

/// The trials that a run has in common with others.
pub(crate) fn copies(detail: &RunDetail) -> Value {
    let copies: Vec<Value> = detail
        .copies
        .iter()
        .map(|c| {
            let own_count = c.episodes - c.counted_there.min(c.episodes);
            let counted = if c.counted_there > own_count { &c.run } else { &detail.row.id };
            json!({
                "run": c.run,
                "source": c.source,
                "trials": c.episodes,
                "counted_in": counted,
                "counted_there": c.counted_there,
            })
        })
        .collect();
    json!({ "run": detail.row.id, "copies": copies })
}

/// `stamina rerun-list --json`.
pub(crate) fn reruns(list: &RerunList) -> Value {
    json!({ "run": list.run, "runner": list.runner, "trials": list.trials, "unnamed": list.unnamed, "commands": list.commands })
}

/// One turn of `stamina survival --json`.
pub(crate) fn survival(row: &SurvivalRow) -> Value {
    json!({
        "turn": row.turn,
        "at_risk": row.at_risk,
        "events": row.events,
        "censored": row.censored,
        "survival": row.survival,
        "ci_low": row.ci_low,
        "ci_high": row.ci_high,
    })
}

/// One episode of `stamina show --json`, with every known turn, reached or not.
pub(crate) fn episode(row: &GridRow, episode: &Episode) -> Value {
    let histories = workbench::histories(episode);
    let turns: Vec<Value> = (1..=episode.known_turns())
        .map(|number| match episode.turn(number) {
            Some(described) => turn(described, &histories),
            None => turn(&Turn::new(number), &histories),
        })
        .collect();
    json!({
        "episode": row.episode,
        "scenario": row.scenario,
        "title": row.title,
        "repeat": row.repeat,
        "planned_turns": row.planned_turns,
        "stamina": row.stamina,
        // A censored episode did not fail, whatever turn the observation ended at.
        "failed_turn": row.failed_turn.filter(|_| !row.censored),
        "end_reason": row.end_reason.as_str(),
        "unrecognised": row.unrecognised,
        "censored": row.censored,
        "invalid": row.invalid,
        "score": row.score,
        "exception": exception(episode.exception.as_ref()),
        "turns": turns,
    })
}

/// The earlier outcomes of failing tests, by turn, attempt and index among the attempt's tests.
type Histories = HashMap<(u32, u32, usize), TestHistory>;

fn turn(turn: &Turn, histories: &Histories) -> Value {
    let attempts: Vec<Value> =
        turn.attempts.iter().map(|played| attempt(turn.number, played, histories)).collect();
    json!({ "turn": turn.number, "title": turn.title, "verdict": turn.state(), "attempts": attempts })
}

fn attempt(turn: u32, attempt: &Attempt, histories: &Histories) -> Value {
    let failing_at = attempt.tests.iter().enumerate().filter(|(_, test)| test.is_failing());
    let failing: Vec<Value> = failing_at
        .map(|(index, failing)| test(failing, histories.get(&(turn, attempt.number, index))))
        .collect();
    json!({
        "attempt": attempt.number,
        "verdict": attempt.verdict.as_str(),
        "passed": attempt.passed,
        "total": attempt.total,
        "reward": attempt.reward,
        "end_reason": attempt.end_reason.map(model::EndReason::as_str),
        "exception": exception(attempt.exception.as_ref()),
        "tokens": tokens(&attempt.tokens),
        "cost_usd": attempt.cost_usd,
        "steps": attempt.steps,
        "tool_calls": attempt.tool_calls,
        "grader_places": attempt.grader_places,
        "agent_seconds": attempt.timing.agent_seconds,
        "test_seconds": attempt.timing.test_seconds,
        "left_out": attempt.left_out().map(|(names, more)| json!({ "names": names, "more": more })),
        "repeats": attempt.repeats(),
        "failing": failing,
        "failing_not_described": attempt.failing_not_described(),
    })
}

fn exception(exception: Option<&(String, String)>) -> Value {
    exception.map_or(Value::Null, |(kind, message)| json!({ "type": kind, "message": message }))
}

fn test(test: &TestResult, history: Option<&TestHistory>) -> Value {
    json!({
        "id": test.id,
        "history": history.map_or(FailureOrigin::Unknown, |earlier| earlier.history),
        "passed_in_turn": history.and_then(|earlier| earlier.passed_in_turn),
        "since_turn": history.and_then(|earlier| earlier.since_turn),
        "outcome": test.outcome,
        "group": test.group,
        "intent": test.intent,
        "scenario": test.scenario,
        "expected": test.expected,
        "actual": test.actual,
        "message": test.message,
    })
}
