//! `report.json`: who played, and what came of it.

use std::path::Path;

use serde_json::{Map, Value, json};

use model::EndReason;

use super::SCHEMA;
use super::trajectory::{TurnSummary, exception, sum};
use crate::disk::{self, Durability};
use crate::settings::TaskSettings;
use crate::state::{RunFile, RunPaths};
use crate::{Finish, RunError};

/// What is known of an episode.
pub(crate) struct EpisodeScore {
    /// `scenario_3`.
    pub(crate) name: String,
    pub(crate) planned_turns: u32,
    pub(crate) turns: Vec<TurnSummary>,
    pub(crate) end_reason: Option<EndReason>,
}

impl EpisodeScore {
    /// Mean over the planned turns of passed / total at the final attempt; turns without a count are 0. `None` = no turn
    /// was decided.
    pub(crate) fn score(&self) -> Option<f64> {
        let planned = f64::from(self.planned_turns.max(1));
        (!self.turns.is_empty()).then(|| self.turns.iter().map(share).sum::<f64>() / planned)
    }

    fn turns_passed(&self) -> u32 {
        self.turns.iter().filter(|turn| turn.state.is_passed()).count() as u32
    }

    pub(crate) fn stamina(&self) -> u32 {
        self.turns.iter().take_while(|turn| turn.state.is_passed()).count() as u32
    }
}

fn share(turn: &TurnSummary) -> f64 {
    match (turn.passed, turn.total) {
        (Some(passed), Some(total)) if total > 0 => f64::from(passed) / f64::from(total),
        _ => 0.0,
    }
}

/// Mean of the scores of the episodes that have one.
pub(crate) fn average_score(episodes: &[&EpisodeScore]) -> Option<f64> {
    let scores: Vec<f64> = episodes.iter().filter_map(|episode| episode.score()).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

/// Replaces the report.
pub(crate) fn write(results: &Path, run: &RunFile, episodes: &[&EpisodeScore]) -> Result<(), RunError> {
    let success = |episode: &&EpisodeScore| episode.turns_passed() == episode.planned_turns;
    let begun = episodes.iter().filter(|episode| !episode.turns.is_empty()).count();
    let successes = episodes.iter().filter(|episode| success(episode)).count();
    let rate = (begun > 0).then(|| successes as f64 / episodes.len().max(1) as f64);
    let mut report = Map::new();
    let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
    put("schema_version", SCHEMA.into());
    put("agent", run.harness.name.clone().into());
    put("benchmark", run.settings.generation.benchmark.as_str().to_lowercase().into());
    put("success_rate", json!(rate));
    put("average_score", json!(average_score(episodes)));
    put("num_tasks", episodes.len().into());
    let mut part = run_part(run);
    // The log grows until then, and is read once.
    if let Some(speed) = run.finish.as_ref().and_then(|_| tokens_per_second(results)) {
        part["tokens_per_second"] = speed;
    }
    put("run", part);
    let results_list = episodes.iter().filter(|episode| !episode.turns.is_empty()).map(|episode| {
        json!({
            "scenario": episode.name,
            "score": episode.score(),
            "success": success(episode),
            "turns_passed": episode.turns_passed(),
            "planned_turns": episode.planned_turns,
        })
    });
    put("results", results_list.collect());
    let summaries = episodes.iter().filter(|episode| !episode.turns.is_empty()).map(|episode| {
        let tokens = episode.turns.iter().fold(model::Tokens::default(), |sum, turn| sum.plus(turn.tokens));
        let costs: Option<Vec<f64>> = episode.turns.iter().map(|turn| turn.cost_usd).collect();
        json!({
            "scenario": episode.name,
            "attempts": episode.turns.iter().map(|turn| turn.attempts).sum::<u32>(),
            "turns": episode.turns.len(),
            "stamina": episode.stamina(),
            "end_reason": episode.end_reason,
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cost_usd": costs.and_then(|costs| sum(costs.into_iter().map(Some))),
            "agent_seconds": sum(episode.turns.iter().map(|turn| turn.agent_seconds)),
        })
    });
    put("trajectory_summaries", summaries.collect());
    disk::write_json(&results.join("report.json"), &Value::Object(report), Durability::Synced)
}

/// How fast the endpoint read and wrote, by the gateway's log. `None` = unknown.
fn tokens_per_second(results: &Path) -> Option<Value> {
    let speeds = match gateway::read_totals(&RunPaths::new(results).gateway_log()) {
        Ok(totals) => totals.speeds,
        Err(error) => {
            tracing::warn!("the speed of the endpoint stays unknown: its log cannot be read: {error}");
            return None;
        }
    };
    let speed = speeds.tokens_per_second();
    (speed != gateway::TokensPerSecond::default()).then(|| json!(speed))
}

fn run_part(run: &RunFile) -> Value {
    let simulated = run.settings.has_simulated_model();
    let data_set = run.settings.tasks.as_ref().map(TaskSettings::data_set);
    let finished_at =
        run.finish.as_ref().filter(|finish| **finish == Finish::Finished).map(|_| crate::clock::now());
    let (end_reason, exception) = match &run.finish {
        None | Some(Finish::Finished) => (None, None),
        Some(Finish::Stopped) => (Some(EndReason::Cancelled), None),
        Some(Finish::Budget) => (Some(EndReason::Budget), None),
        Some(Finish::Failed { message }) => {
            (Some(EndReason::Environment), Some(exception("RunFailed", message)))
        }
    };
    let mut part = json!({
        "harness": run.harness.name,
        "harness_version": run.harness.version,
        "model": run.settings.model.as_deref().or(simulated.then_some("oracle")),
        "runner": "Stamina Lab",
        "runner_version": env!("CARGO_PKG_VERSION"),
        "simulated": simulated,
        "planned_turns": run.turns(),
        "attempt_limit": run.settings.attempt_limit,
        "started_at": run.started_at,
        "finished_at": finished_at,
        "end_reason": end_reason,
        "exception": exception,
        "seconds": run.seconds_now(),
        "run_id": run.id,
        "image": run.harness.image,
        "pack_sha256": run.pack_sha256,
        "tags": run.settings.tags,
        "data_set": data_set,
        "tasks_refused": (!run.refused.is_empty()).then_some(&run.refused),
    });
    if let Some(counts) = run.endpoint {
        part["attempts_retried_for_endpoint"] = counts.retried.into();
        part["attempts_lost_to_endpoint"] = counts.lost.into();
    }
    part
}
