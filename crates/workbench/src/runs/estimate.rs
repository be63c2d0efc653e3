//! What a run will take, from what earlier ones took.

use std::collections::HashSet;

use gateway::Price;
use runner::settings::{EndpointSettings, RunSettings};
use scenario::config::Benchmark;
use scenario::pack::Pack;
use store::{EpisodeId, RunId};

use super::abilities::Kept;
use super::machine;
use crate::Workbench;
use crate::api::{ApiError, EngineDisk, ListRuns, RunEstimate, RunRow};

/// Earlier runs that are looked at, the latest first.
const MOST_RUNS: usize = 20;
/// Bytes of a code snapshot, where nothing is known: the server of a hundred turns has about 6,000 lines.
const SNAPSHOT: u64 = 300_000;
/// Bytes of logs and verdicts of an attempt, likewise.
const RECORDS: u64 = 200_000;
/// Minutes of a turn, retries included, as the README of StaminaBench documents them.
const DOCUMENTED: (f64, f64) = (1.0, 10.0);

/// What is to be played.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) episodes: u32,
    pub(super) turns: u64,
    /// Bytes of their schemas, suites and reference servers.
    pub(super) bytes: u64,
    /// Steps of each task; empty for scenarios.
    pub(super) steps: Vec<u32>,
    /// Images that are built for tasks.
    pub(super) images: u64,
}

/// What is to be played, by the settings and their pack.
pub(super) fn plan(settings: &RunSettings, pack: Option<&Pack>) -> Plan {
    if settings.tasks.is_some() {
        let steps: Vec<u32> =
            runner::planned(settings).unwrap_or_default().into_iter().map(|(_, steps)| steps).collect();
        let turns = steps.iter().map(|steps| u64::from(*steps)).sum();
        // A harness is laid into every image, also into one that a task names.
        let images = super::planned::named_images(settings);
        let is_built = images.iter().filter(|(_, image)| settings.asks_model() || image.is_none());
        let images = is_built.count() as u64;
        return Plan { episodes: steps.len() as u32, turns, bytes: 0, steps, images };
    }
    let g = &settings.generation;
    let most = if g.benchmark == Benchmark::Iterative { g.n_turns } else { 1 };
    let named = &settings.execute_episodes;
    let numbers: Vec<u32> = match (named.is_empty(), settings.quick_debug) {
        (true, _) => (0..g.n_scenarios).collect(),
        (false, false) => named.clone(),
        // Two of those that are named.
        (false, true) => named.iter().copied().take(g.n_scenarios as usize).collect(),
    };
    let turns: Vec<u32> = match pack {
        Some(pack) => {
            let there = pack.scenarios();
            numbers.iter().filter_map(|n| Some(there.get(*n as usize)?.turns.min(most))).collect()
        }
        None => numbers.iter().map(|_| most).collect(),
    };
    let bytes = turns.iter().map(|n| crate::packs::estimated_bytes(*n, g.num_changes_per_turn)).sum();
    let (episodes, turns) = (turns.len() as u32, turns.iter().map(|n| u64::from(*n)).sum());
    Plan { episodes, turns, bytes, steps: Vec::new(), images: 0 }
}

/// Rates of earlier runs: what a turn took, episode by episode.
#[derive(Debug, Default)]
struct Rates {
    runs: usize,
    same_model: bool,
    seconds: Vec<f64>,
    /// Those of runs with the same endpoint and model.
    seconds_here: Vec<f64>,
    input: Vec<f64>,
    output: Vec<f64>,
    cost: Vec<f64>,
    cached: (f64, f64),
    speed: Speed,
}

/// How fast an endpoint was with a model in earlier runs of any harness, in tokens a second: the median of their medians.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Speed {
    runs: usize,
    prompt: Option<f64>,
    answer: Option<f64>,
}

impl Speed {
    fn from_runs(runs: &[(Option<f64>, Option<f64>)]) -> Self {
        let median = |mut speeds: Vec<f64>| {
            speeds.sort_by(f64::total_cmp);
            let (below, above) = (speeds.len().checked_sub(1)? / 2, speeds.len() / 2);
            Some(f64::midpoint(*speeds.get(below)?, *speeds.get(above)?))
        };
        Self {
            runs: runs.len(),
            prompt: median(runs.iter().filter_map(|(prompt, _)| *prompt).collect()),
            answer: median(runs.iter().filter_map(|(_, answer)| *answer).collect()),
        }
    }

    /// Seconds in which it works for so many tokens, of whose input a share is cached. Unknown where one of its speeds is.
    fn seconds(self, input: f64, cached: f64, output: f64) -> Option<f64> {
        Some(input * (1.0 - cached) / self.prompt? + output / self.answer?)
    }

    /// `from 3 runs: prompt 148.2 tok/s, answer 21.4 tok/s`; nothing where nothing is known.
    fn words(self) -> Option<String> {
        let part = |name: &str, speed: Option<f64>| speed.map(|speed| format!("{name} {speed:.1} tok/s"));
        let parts: Vec<String> =
            [part("prompt", self.prompt), part("answer", self.answer)].into_iter().flatten().collect();
        (!parts.is_empty())
            .then(|| format!("from {}: {}", model::counted(self.runs as u64, "run"), parts.join(", ")))
    }
}

/// The time of a run, and what it rests on where that is not the runs of the harness.
#[derive(Debug, PartialEq)]
struct Time {
    seconds: Option<(f64, f64)>,
    basis: Option<String>,
}

/// Agent seconds over all turns, one episode at a time. Earlier runs at the same endpoint come first: they hold its speed. Else what
/// the endpoint would take for as many tokens, and last what the harness took elsewhere.
fn time(
    here: Option<(f64, f64)>,
    worked: Option<(f64, f64)>,
    elsewhere: Option<(f64, f64)>,
    speed: Speed,
) -> Time {
    let speed_text = speed.words();
    match (here, worked) {
        (Some(_), _) => {
            Time { seconds: here, basis: speed_text.map(|text| format!(". Speed of this endpoint, {text}")) }
        }
        (None, Some(_)) => Time {
            seconds: worked,
            basis: speed_text.map(|text| {
                format!(". Time: by the speed of this endpoint, {text}; what tools take is not in it")
            }),
        },
        (None, None) => Time {
            seconds: elsewhere,
            basis: speed_text.map(|text| format!(". Speed of this endpoint, {text}")),
        },
    }
}

/// US dollars of seconds in which an endpoint works, counted one request at a time. Requests at once share the time of the machine
/// as far as it has slots for them: further ones wait. Where its slots are unknown, from all at once to none.
fn by_the_hour((low, high): (f64, f64), at_once: f64, slots: Option<u64>, usd: f64) -> (f64, f64) {
    let usd_of = |seconds: f64, at_once: f64| seconds / at_once / 3600.0 * usd;
    match slots {
        Some(slots) => {
            let at_once = at_once.min(slots.max(1) as f64);
            (usd_of(low, at_once), usd_of(high, at_once))
        }
        None => (usd_of(low, at_once), usd_of(high, 1.0)),
    }
}

/// The 10th and the 90th percentile of sorted numbers, between neighbors by their distance.
pub(super) fn spread(sorted: &[f64]) -> Option<(f64, f64)> {
    let at = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    (!sorted.is_empty()).then(|| (at(0.1), at(0.9)))
}

/// What a run of tasks will take in the engine. `sizes` = bytes of images of other tasks there; where there are none, what images
/// take is unknown.
fn in_engine(settings: &RunSettings, plan: &Plan, sizes: &[u64]) -> Option<EngineDisk> {
    settings.tasks.as_ref()?;
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let images = match plan.images {
        0 => Some(0),
        images => sizes.get(sizes.len() / 2).map(|size| size.saturating_mul(images)),
    };
    let mut steps = plan.steps.clone();
    steps.sort_unstable_by_key(|steps| std::cmp::Reverse(*steps));
    // The longest ones may meet.
    steps.truncate(settings.batch_size.max(1) as usize);
    let kept: u64 = steps.iter().map(|steps| u64::from(*steps)).sum();
    let snapshots = if settings.restore_before_try { kept } else { 0 };
    let containers_at_most = settings.limits.disk.saturating_mul(steps.len() as u64 + snapshots);
    Some(EngineDisk { images, containers_at_most, snapshots })
}

impl Workbench {
    /// What a run will take. `task_images` = bytes of images of other tasks in the engine.
    pub(super) fn estimate(
        &self,
        settings: &RunSettings,
        plan: &Plan,
        task_images: &[u64],
    ) -> Result<RunEstimate, ApiError> {
        let mut rates = self.rates(settings)?;
        let turns = plan.turns as f64;
        let total = |rates: &mut Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            spread(rates).map(|(low, high)| (low * turns, high * turns))
        };
        let at_once = f64::from(settings.batch_size.min(plan.episodes).max(1));
        let here = total(&mut rates.seconds_here);
        let elsewhere = total(&mut rates.seconds);
        let simulated = settings.is_simulated();
        let tokens_in = total(&mut rates.input);
        let tokens_out = total(&mut rates.output);
        let cached = (rates.cached.1 > 0.0).then(|| (rates.cached.0 / rates.cached.1).clamp(0.0, 1.0));
        let worked = tokens_in.zip(tokens_out).and_then(|(input, output)| {
            let seconds_at = |input, output| rates.speed.seconds(input, cached.unwrap_or(0.0), output);
            seconds_at(input.0, output.0).zip(seconds_at(input.1, output.1))
        });
        let Time { mut seconds, basis: of_time } = time(here, worked, elsewhere, rates.speed);
        let price = settings.price.or_else(|| super::prices::price_of(settings.model.as_deref()));
        let mut of_cost = None;
        let cost_usd = match (simulated, price, tokens_in, tokens_out) {
            (true, ..) => Some((0.0, 0.0)),
            // An hour costs the same, whatever it was asked for.
            (false, Some(Price { per_hour: Some(usd), .. }), ..) => {
                let slots = super::abilities::slots(settings, Kept::new(&self.store));
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
                    let fresh = price.input * (1.0 - share) + price.cached.unwrap_or(price.input) * share;
                    (input * fresh + output * price.output) / 1e6
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
        let mut alike: Vec<RunRow> = Vec::new();
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
                    alike.push(row);
                }
            }
            if done {
                break;
            }
        }
        let same: Vec<RunRow> = alike.iter().filter(|row| is_same_model(row)).cloned().collect();
        let mut rates =
            Rates { same_model: !same.is_empty(), speed: self.speed(settings, timed)?, ..Rates::default() };
        let mut chosen = if rates.same_model { same } else { alike };
        chosen.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        let mut runs: Vec<RunId> = Vec::new();
        let mut here: HashSet<RunId> = HashSet::new();
        for row in chosen.into_iter().take(MOST_RUNS) {
            let Some(record) = self.store.run(&row.id)? else { continue };
            runs.push(record.entry.id);
            if rates.same_model && is_at_endpoint(settings, &record.run.settings) {
                here.insert(record.entry.id);
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
                rates.seconds_here.extend(seconds.filter(|_| here.contains(&run)));
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
    if let (Some(most), Some(((_, input), (_, output)))) = (budget.tokens, tokens)
        && input + output > most as f64
    {
        hit.push(format!("may hit {} tokens", machine::short(most as f64)));
    }
    if let (Some(most), Some((_, high))) = (budget.seconds, seconds)
        && high > most as f64
    {
        hit.push(format!("may hit {}", machine::duration(most as f64)));
    }
    hit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &[&str]) -> RunSettings {
        let mut values = vec!["agent=MOCK".to_owned(), "output_dir=/r".to_owned()];
        values.extend(more.iter().map(|&value| value.to_owned()));
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
    fn containers_and_snapshots_of_tasks_and_their_images_are_counted() {
        const GIB: u64 = 1 << 30;
        let tasks = |more: &[&str]| {
            let always =
                ["agent=ORACLE", "benchmark=HARBOR", "tasks=/t", "limits.disk_gib=2", "batch_size=2"];
            settings(&[&always[..], more].concat())
        };
        let plan = Plan { episodes: 3, turns: 12, bytes: 0, steps: vec![3, 5, 4], images: 2 };
        let chain = in_engine(&tasks(&[]), &plan, &[]).unwrap();
        let expected = EngineDisk { images: None, containers_at_most: 4 * GIB, snapshots: 0 };
        assert_eq!(chain, expected, "two at once, and what images take is unknown");
        let tries = in_engine(&tasks(&["restore_before_try=true"]), &plan, &[700, 100, 300]).unwrap();
        // Nine snapshots of the two longest tasks and their containers; the median of three images, twice.
        let expected = EngineDisk { images: Some(600), containers_at_most: 22 * GIB, snapshots: 9 };
        assert_eq!(tries, expected);
        let named = Plan { images: 0, ..plan.clone() };
        assert_eq!(in_engine(&tasks(&[]), &named, &[]).unwrap().images, Some(0), "all of them are there");
        assert_eq!(in_engine(&settings(&[]), &plan, &[700]), None, "scenarios leave nothing in the engine");
    }

    #[test]
    fn requests_share_the_time_of_a_machine_as_far_as_it_has_slots_for_them() {
        let hours = (3600.0, 7200.0);
        assert_eq!(by_the_hour(hours, 4.0, Some(1), 2.0), (2.0, 4.0), "three of four wait");
        assert_eq!(by_the_hour(hours, 4.0, Some(2), 2.0), (1.0, 2.0));
        assert_eq!(by_the_hour(hours, 4.0, Some(8), 2.0), (0.5, 1.0));
        assert_eq!(by_the_hour(hours, 4.0, None, 2.0), (0.5, 4.0), "unknown");
        assert_eq!(by_the_hour(hours, 1.0, None, 2.0), (2.0, 4.0));
    }

    #[test]
    fn the_speed_of_an_endpoint_is_the_median_of_its_runs_and_is_said() {
        let speed = Speed::from_runs(&[(Some(100.0), Some(20.0)), (Some(200.0), None), (None, Some(10.0))]);
        assert_eq!(speed, Speed { runs: 3, prompt: Some(150.0), answer: Some(15.0) });
        assert_eq!(speed.words().unwrap(), "from 3 runs: prompt 150.0 tok/s, answer 15.0 tok/s");
        // 30,000 tokens of which a half is cached, and 150 that are written.
        assert_eq!(speed.seconds(30_000.0, 0.5, 150.0), Some(110.0));
        let half = Speed::from_runs(&[(None, Some(90.0))]);
        assert_eq!(half.words().unwrap(), "from 1 run: answer 90.0 tok/s");
        assert_eq!(half.seconds(1.0, 0.0, 1.0), None, "how long a prompt takes is unknown");
        assert_eq!((Speed::from_runs(&[]).words(), Speed::from_runs(&[]).prompt), (None, None));
    }

    #[test]
    fn runs_at_the_same_endpoint_go_before_its_speed_and_that_before_runs_elsewhere() {
        let speed = Speed { runs: 2, prompt: Some(150.0), answer: Some(90.0) };
        let (here, worked, elsewhere) = (Some((1.0, 2.0)), Some((3.0, 4.0)), Some((5.0, 6.0)));
        let chosen = |here, worked, speed| {
            let time = time(here, worked, elsewhere, speed);
            (time.seconds, time.basis.unwrap_or_default())
        };
        let (seconds, said) = chosen(here, worked, speed);
        assert!(
            seconds == here
                && said == ". Speed of this endpoint, from 2 runs: prompt 150.0 tok/s, answer 90.0 tok/s",
            "{said}"
        );
        let (seconds, said) = chosen(None, worked, speed);
        assert!(
            seconds == worked && said.contains("Time: by the speed") && said.contains("from 2 runs"),
            "{said}"
        );
        assert_eq!(chosen(None, None, Speed::default()), (elsewhere, String::new()));
    }

    #[test]
    fn only_runs_at_the_same_address_are_of_the_same_endpoint() {
        let asked =
            settings(&["agent=CODEX", "codex.model_id=m", "endpoint.base_url=http://127.0.0.1:8080/v1"]);
        let value_of = |value: serde_json::Value| value.as_object().unwrap().clone();
        let same = value_of(serde_json::json!({ "endpoint.base_url": "http://127.0.0.1:8080" }));
        assert!(is_at_endpoint(&asked, &same));
        assert!(!is_at_endpoint(
            &asked,
            &value_of(serde_json::json!({ "endpoint.base_url": "http://127.0.0.1:8081" }))
        ));
        assert!(!is_at_endpoint(&asked, &value_of(serde_json::json!({}))));
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
    fn what_is_chosen_is_counted() {
        let all = settings(&["restful_server_gen_iterative.n_turns=7"]);
        assert_eq!((plan(&all, None).episodes, plan(&all, None).turns), (10, 70));
        let some = settings(&["restful_server_gen_iterative.execute_episodes=1,3,99"]);
        assert_eq!((plan(&some, None).episodes, plan(&some, None).turns), (3, 9), "as they are played");
        let quick = settings(&["restful_server_gen_iterative.execute_episodes=1,3,99", "quick_debug=true"]);
        assert_eq!((plan(&quick, None).episodes, plan(&quick, None).turns), (2, 4));
    }

    #[test]
    fn budgets_that_the_upper_end_reaches_are_told() {
        let asked = settings(&["limits.run.usd=60", "limits.run.minutes=90", "limits.run.tokens=1000"]);
        let message =
            budgets(&asked, Some((60.0, 6000.0)), Some((1.0, 61.0)), Some(((1.0, 900.0), (1.0, 90.0))));
        assert_eq!(message, ["may hit $60", "may hit 1 h 30 m"]);
    }
}
