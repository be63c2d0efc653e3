//! What a run will take, from what earlier ones took.

mod plan;
mod time;

use std::collections::HashSet;

use gateway::Price;
use runner::settings::{EndpointSettings, RunSettings};
use store::{EpisodeId, RunId};

use self::plan::in_engine;
pub(super) use self::plan::{RunPlan, plan};
use self::time::{Speed, Time, by_the_hour, time};
use super::abilities::KeptAbilities;
use super::machine;
use crate::Workbench;
use crate::api::{ApiError, ListRuns, RunEstimate, RunRow};

/// Earlier runs that are looked at, the latest first.
const MOST_RUNS: usize = 20;
/// Bytes of a code snapshot, where nothing is known: the server of a hundred turns has about 6,000 lines.
const SNAPSHOT: u64 = 300_000;
/// Bytes of logs and verdicts of an attempt, likewise.
const RECORDS: u64 = 200_000;
/// Minutes of a turn, retries included, as the README of StaminaBench documents them.
const DOCUMENTED: (f64, f64) = (1.0, 10.0);

/// Rates of earlier runs: what a turn took, episode by episode.
#[derive(Debug, Default)]
struct Rates {
    runs: usize,
    same_model: bool,
    seconds: Vec<f64>,
    /// Those of runs with the same endpoint and model.
    seconds_at_endpoint: Vec<f64>,
    input: Vec<f64>,
    output: Vec<f64>,
    cost: Vec<f64>,
    cached: (f64, f64),
    speed: Speed,
}

/// The 10th and the 90th percentile of sorted numbers, between neighbors by their distance.
pub(super) fn spread(sorted: &[f64]) -> Option<(f64, f64)> {
    let percentile = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    (!sorted.is_empty()).then(|| (percentile(0.1), percentile(0.9)))
}

impl Workbench {
    /// What a run will take. `task_images` = bytes of images of other tasks in the engine.
    pub(super) fn estimate(
        &self,
        settings: &RunSettings,
        plan: &RunPlan,
        task_images: &[u64],
    ) -> Result<RunEstimate, ApiError> {
        let mut rates = self.rates(settings)?;
        let turns = plan.turns as f64;
        let total = |rates: &mut Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            spread(rates).map(|(low, high)| (low * turns, high * turns))
        };
        let at_once = f64::from(settings.batch_size.min(plan.episodes).max(1));
        let at_endpoint = total(&mut rates.seconds_at_endpoint);
        let elsewhere = total(&mut rates.seconds);
        let simulated = settings.is_simulated();
        let tokens_in = total(&mut rates.input);
        let tokens_out = total(&mut rates.output);
        let cached = (rates.cached.1 > 0.0).then(|| (rates.cached.0 / rates.cached.1).clamp(0.0, 1.0));
        let worked = tokens_in.zip(tokens_out).and_then(|(input, output)| {
            let seconds_at = |input, output| rates.speed.seconds(input, cached.unwrap_or(0.0), output);
            seconds_at(input.0, output.0).zip(seconds_at(input.1, output.1))
        });
        let Time { mut seconds, basis: of_time } = time(at_endpoint, worked, elsewhere, rates.speed);
        let price = settings.price.or_else(|| super::prices::price_of(settings.model.as_deref()));
        let mut of_cost = None;
        let cost_usd = match (simulated, price, tokens_in, tokens_out) {
            (true, ..) => Some((0.0, 0.0)),
            // An hour costs the same, whatever it was asked for.
            (false, Some(Price { per_hour: Some(usd), .. }), ..) => {
                let slots = super::abilities::slots(settings, KeptAbilities::new(&self.store));
                let cost = worked.map(|seconds| by_the_hour(seconds, at_once, slots, usd));
                if cost.is_some() && slots.is_none() && at_once > 1.0 {
                    of_cost = Some(
                        ". Cost: from all episodes at once to one after the other, because how many requests the endpoint works on \
                         at once is unknown",
                    );
                }
                cost
            }
            (false, Some(price), Some(input), Some(output)) => {
                let share = cached.unwrap_or(0.0);
                let cost_of = |input: f64, output: f64| {
                    price.cost_of_amounts(input * (1.0 - share), input * share, 0.0, output)
                };
                Some((cost_of(input.0, output.0), cost_of(input.1, output.1)))
            }
            _ if rates.same_model => total(&mut rates.cost),
            _ => None,
        };
        let mut basis = basis(settings, &rates);
        basis.push_str(&of_time.unwrap_or_default());
        basis.push_str(of_cost.unwrap_or_default());
        if seconds.is_none() && !simulated && settings.tasks.is_none() {
            seconds = Some((DOCUMENTED.0 * 60.0 * turns, DOCUMENTED.1 * 60.0 * turns));
            basis.push_str(". Time: the 1 to 10 minutes a turn that StaminaBench documents");
        }
        let seconds = seconds.map(|(low, high)| (low / at_once, high / at_once));
        let attempts_at_most = plan.turns * u64::from(settings.attempt_limit);
        let kept = settings.keep_snapshots.map_or(plan.turns, |n| u64::from(n) * u64::from(plan.episodes));
        let budgets = budgets(settings, seconds, cost_usd, tokens_in.zip(tokens_out));
        Ok(RunEstimate {
            episodes: plan.episodes,
            turns: plan.turns,
            attempts_at_most,
            seconds,
            tokens_in,
            cached,
            tokens_out,
            cost_usd,
            bytes: Some(plan.bytes + kept * SNAPSHOT + plan.turns * RECORDS),
            engine: in_engine(settings, plan, task_images),
            budgets,
            basis,
        })
    }

    fn rates(&self, settings: &RunSettings) -> Result<Rates, ApiError> {
        // A step of a task takes another time than a turn of a scenario.
        let benchmark = if settings.tasks.is_some() { "harbor" } else { "staminabench" };
        let model = settings.model.as_deref().map(plain_model);
        let is_same_model = |row: &RunRow| model.is_some() && row.model.as_deref().map(plain_model) == model;
        let mut similar_runs: Vec<RunRow> = Vec::new();
        let mut timed: Vec<RunRow> = Vec::new();
        let mut offset = 0;
        loop {
            let page = self.list_runs(ListRuns { offset, limit: 500, ..ListRuns::default() })?;
            offset += page.rows.len() as u32;
            let done = page.rows.is_empty() || offset >= page.total;
            for row in page.rows.into_iter().filter(|row| row.baseline.is_none() && row.invalid.is_none()) {
                if is_same_model(&row) && speed_of(&row) != (None, None) {
                    timed.push(row.clone());
                }
                if row.harness.as_deref() == Some(settings.agent.as_str())
                    && row.simulated == settings.is_simulated()
                    && row.benchmark.key.starts_with(benchmark)
                {
                    similar_runs.push(row);
                }
            }
            if done {
                break;
            }
        }
        let same: Vec<RunRow> = similar_runs.iter().filter(|row| is_same_model(row)).cloned().collect();
        let mut rates =
            Rates { same_model: !same.is_empty(), speed: self.speed(settings, timed)?, ..Rates::default() };
        let mut chosen = if rates.same_model { same } else { similar_runs };
        chosen.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        let mut runs: Vec<RunId> = Vec::new();
        let mut at_endpoint: HashSet<RunId> = HashSet::new();
        for row in chosen.into_iter().take(MOST_RUNS) {
            let Some(record) = self.store.run(&row.id)? else { continue };
            runs.push(record.entry.id);
            if rates.same_model && is_at_endpoint(settings, &record.run.settings) {
                at_endpoint.insert(record.entry.id);
            }
        }
        let copies: HashSet<EpisodeId> =
            self.store.copies_among(&runs)?.into_iter().map(|copy| copy.episode).collect();
        for run in runs {
            let mut episodes = self.store.episodes(run)?;
            let before = episodes.len();
            episodes.retain(|episode| !copies.contains(&episode.id));
            // A run whose every episode is a copy is no further run.
            if before > 0 && episodes.is_empty() {
                continue;
            }
            let plays = self.store.episode_turns(run)?;
            rates.runs += 1;
            for episode in episodes.iter().filter(|episode| episode.reached_turns > 0) {
                let turns = f64::from(episode.reached_turns);
                let (input, cached) = (episode.tokens.input, episode.tokens.cached);
                rates.input.extend(input.map(|n| n as f64 / turns));
                rates.output.extend(episode.tokens.output.map(|n| n as f64 / turns));
                rates.cost.extend(episode.cost_usd.map(|cost| cost / turns));
                if let (Some(input), Some(cached)) = (input, cached) {
                    rates.cached = (rates.cached.0 + cached as f64, rates.cached.1 + input as f64);
                }
                let played = plays.iter().find(|play| play.episode == episode.id);
                let seconds = played.and_then(|play| play.agent_seconds).map(|s| s / turns);
                rates.seconds.extend(seconds);
                rates.seconds_at_endpoint.extend(seconds.filter(|_| at_endpoint.contains(&run)));
            }
        }
        Ok(rates)
    }

    /// The speed of the endpoint by runs with its model that tell one; the latest count.
    fn speed(&self, settings: &RunSettings, mut timed: Vec<RunRow>) -> Result<Speed, ApiError> {
        timed.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        let mut speeds = Vec::new();
        for row in timed.into_iter().take(MOST_RUNS) {
            let record = self.store.run(&row.id)?;
            if record.is_some_and(|record| is_at_endpoint(settings, &record.run.settings)) {
                speeds.push(speed_of(&row));
            }
        }
        Ok(Speed::from_runs(&speeds))
    }
}

/// Medians of prompt and answer that a run tells.
fn speed_of(row: &RunRow) -> (Option<f64>, Option<f64>) {
    let median = |part: &str| row.tokens_per_second(part, "median").filter(|speed| *speed > 0.0);
    (median("prompt"), median("answer"))
}

/// Whether a run with these settings asked the same endpoint.
fn is_at_endpoint(settings: &RunSettings, of_run: &model::Extra) -> bool {
    let EndpointSettings::Gateway { base_url, .. } = &settings.endpoint else { return false };
    of_run.get("endpoint.base_url").and_then(serde_json::Value::as_str) == Some(base_url.as_str())
}

/// What an estimate rests on, in a sentence.
fn basis(settings: &RunSettings, rates: &Rates) -> String {
    let played_model = match (settings.is_simulated(), &settings.model) {
        // A player of tasks asks no model, simulated or not.
        (true, _) if !settings.asks_model() => settings.agent.to_uppercase(),
        (true, _) => format!("simulated {}", settings.agent),
        (false, Some(model)) if rates.same_model => {
            format!("{} with {}", settings.agent, plain_model(model))
        }
        (false, _) => settings.agent.clone(),
    };
    match rates.runs {
        0 => format!("There is no earlier run of {played_model} in the library"),
        n => {
            let runs = if n == 1 { "1 earlier run".to_owned() } else { format!("{n} earlier runs") };
            let mut text = format!("From {runs} of {played_model}, 10th to 90th percentile per turn");
            if let (false, false, Some(model)) = (rates.same_model, settings.is_simulated(), &settings.model)
            {
                text.push_str(&format!(". No earlier run used {}", plain_model(model)));
            }
            text
        }
    }
}

/// Without its provider: `bedrock/zai.glm-5` and `zai.glm-5` are the same model.
fn plain_model(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Budgets of the run that the upper end of the estimate reaches.
fn budgets(
    settings: &RunSettings,
    seconds: Option<(f64, f64)>,
    cost: Option<(f64, f64)>,
    tokens: Option<((f64, f64), (f64, f64))>,
) -> Vec<String> {
    let budget = settings.budgets.run;
    let mut hit = Vec::new();
    if let (Some(usd), Some((_, high))) = (budget.usd, cost)
        && high > usd
    {
        hit.push(format!("may hit ${usd}"));
    }
    if let (Some(limit), Some(((_, input), (_, output)))) = (budget.tokens, tokens)
        && input + output > limit as f64
    {
        hit.push(format!("may hit {} tokens", machine::short(limit as f64)));
    }
    if let (Some(limit), Some((_, high))) = (budget.seconds, seconds)
        && high > limit as f64
    {
        hit.push(format!("may hit {}", machine::duration(limit as f64)));
    }
    hit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(added: &[&str]) -> RunSettings {
        let mut values = vec!["agent=MOCK".to_owned(), "output_dir=/r".to_owned()];
        values.extend(added.iter().map(|&value| value.to_owned()));
        runner::settings::resolve(&[], &values).unwrap()
    }

    #[test]
    fn a_player_of_tasks_is_not_called_simulated() {
        let player = settings(&["agent=ORACLE", "benchmark=HARBOR", "tasks=/t"]);
        assert_eq!(basis(&player, &Rates::default()), "There is no earlier run of ORACLE in the library");
        let simulated = basis(&settings(&[]), &Rates::default());
        assert_eq!(simulated, "There is no earlier run of simulated mock in the library");
    }

    #[test]
    fn only_runs_at_the_same_address_are_of_the_same_endpoint() {
        let requested =
            settings(&["agent=CODEX", "codex.model_id=m", "endpoint.base_url=http://127.0.0.1:8080/v1"]);
        let value_of = |value: serde_json::Value| value.as_object().unwrap().clone();
        let same = value_of(serde_json::json!({ "endpoint.base_url": "http://127.0.0.1:8080" }));
        assert!(is_at_endpoint(&requested, &same));
        assert!(!is_at_endpoint(
            &requested,
            &value_of(serde_json::json!({ "endpoint.base_url": "http://127.0.0.1:8081" }))
        ));
        assert!(!is_at_endpoint(&requested, &value_of(serde_json::json!({}))));
        assert!(!is_at_endpoint(&settings(&[]), &same), "the simulated model has no address");
    }

    #[test]
    fn percentiles_lie_between_neighbors() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0]), Some((3.0, 3.0)));
        let ten: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(spread(&ten), Some((1.0, 9.0)));
    }

    #[test]
    fn budgets_that_the_upper_end_reaches_are_told() {
        let requested = settings(&["limits.run.usd=60", "limits.run.minutes=90", "limits.run.tokens=1000"]);
        let message =
            budgets(&requested, Some((60.0, 6000.0)), Some((1.0, 61.0)), Some(((1.0, 900.0), (1.0, 90.0))));
        assert_eq!(message, ["may hit $60", "may hit 1 h 30 m"]);
    }
}
