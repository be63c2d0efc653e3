//! The shapes that `--json` prints. Their keys are a promise, documented in `docs/cli.md`; unknown is `null`.

use model::{TestResult, Tokens, Warning};
use serde_json::{Map, Value, json};
use workbench::Ingested;
use workbench::api::{ApiError, AttemptDetail, GridRow, RunRow, Stamina, SurvivalRow, TurnRow};

/// One source of `stamina ingest --json`.
pub(crate) fn ingested(source: &Ingested) -> Value {
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
    })
}

/// One warning.
pub(crate) fn warning(warning: &Warning) -> Value {
    json!({
        "path": warning.path,
        "code": warning.code,
        "message": warning.message,
        "treatment": warning.treatment.as_str(),
    })
}

/// An error inside a list of results.
pub(crate) fn error(path: &str, error: &ApiError) -> Value {
    json!({ "path": path, "code": error.code, "message": error.message, "hint": error.hint })
}

fn stamina(stamina: &Stamina) -> Value {
    json!({
        "mean": stamina.mean,
        "ci_low": stamina.ci_low,
        "ci_high": stamina.ci_high,
        "tau": stamina.tau,
        "n": stamina.n,
        "events": stamina.events,
        "censored": stamina.censored,
        "median": stamina.median,
    })
}

fn tokens(tokens: &Tokens) -> Value {
    json!({ "input": tokens.input, "cached": tokens.cached, "output": tokens.output })
}

/// One run of `stamina runs --json`.
pub(crate) fn run(row: &RunRow) -> Value {
    let reported: Map<String, Value> =
        row.reported.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let end_reasons: Map<String, Value> =
        row.end_reasons.iter().map(|e| (e.reason.as_str().to_owned(), json!(e.count))).collect();
    json!({
        "id": row.id,
        "source": row.source_name,
        "format": row.format,
        "benchmark": row.benchmark.key,
        "harness": row.harness,
        "harness_version": row.harness_version,
        "runner": row.runner.as_ref().map(|(name, version)| json!({ "name": name, "version": version })),
        "model": row.model,
        "provider": row.provider,
        "episodes": row.episodes,
        "planned_episodes": row.planned_episodes,
        "planned_turns": row.planned_turns.map(|(_, most)| most),
        "planned_turns_min": row.planned_turns.map(|(least, _)| least),
        "attempt_limit": row.attempt_limit,
        "stamina": stamina(&row.stamina),
        "score": row.score,
        "dataset_score": row.dataset_score,
        "case_score": row.case_score,
        "perfect": row.perfect,
        "reported": reported,
        "end_reasons": end_reasons,
        "tokens": tokens(&row.tokens),
        "cost_usd": row.cost_usd,
        "baseline": row.baseline.map(model::Baseline::as_str),
        "simulated": row.simulated,
        "started_at": row.started_at,
        "warnings": row.warnings,
        "partial": row.partial,
        "tags": row.tags,
        "note": row.note,
    })
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

/// One episode of `stamina show --json`, without its turns.
pub(crate) fn episode(row: &GridRow, turns: &[Value]) -> Value {
    json!({
        "episode": row.episode,
        "scenario": row.scenario,
        "title": row.title,
        "repeat": row.repeat,
        "planned_turns": row.planned_turns,
        "stamina": row.stamina,
        "failed_turn": row.failed_turn,
        "end_reason": row.end_reason.as_str(),
        "censored": row.censored,
        "score": row.score,
        "turns": turns,
    })
}

/// One turn of `stamina show --json`.
pub(crate) fn turn(row: &TurnRow, attempts: &[AttemptDetail]) -> Value {
    let attempts: Vec<Value> = attempts.iter().map(attempt).collect();
    json!({ "turn": row.number, "title": row.title, "verdict": row.state, "attempts": attempts })
}

fn attempt(attempt: &AttemptDetail) -> Value {
    let failing: Vec<Value> = attempt.failing.iter().map(test).collect();
    json!({
        "attempt": attempt.number,
        "verdict": attempt.verdict.as_str(),
        "passed": attempt.passed,
        "total": attempt.total,
        "reward": attempt.reward,
        "end_reason": attempt.end_reason.map(model::EndReason::as_str),
        "exception": attempt.exception.as_ref().map(|(kind, message)| json!({ "type": kind, "message": message })),
        "tokens": tokens(&attempt.tokens),
        "cost_usd": attempt.cost_usd,
        "failing": failing,
        "failing_not_described": attempt.failing_not_described,
    })
}

fn test(test: &TestResult) -> Value {
    json!({
        "id": test.id,
        "outcome": test.outcome,
        "group": test.group,
        "intent": test.intent,
        "expected": test.expected,
        "actual": test.actual,
        "message": test.message,
    })
}
