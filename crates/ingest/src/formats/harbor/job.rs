//! From a job's own files to runs.
//!
//! One run per job, agent and model; in the layout of EvoCode-Bench one per model folder and agent over all tasks.
//! Harbor's own figures are kept as reported: they are never the score (see the module of the format).

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Baseline, Benchmark, Extra, Run, Warning};
use store::JOB_ID;

use crate::format_trait::Report;
use crate::readers::clock;
use crate::readers::json::Node;
use crate::readers::value::{self, UnusableValues};
use files::{Tree, file_name, join};

use super::agent_settings::{AgentSettings, VALUES};
use super::agent_version::AgentVersions;
use super::gradings;
use super::head::Head;
use super::job_files::{JobFiles, without_copies};
use super::layout::{Job, Kind};
use super::limits::RESULT_CAP;
use super::settings::{self, flatten};

/// Most bytes of the id of a job.
const JOB_ID_BYTES: usize = 200;

/// Counts of trials, which stand with their agent and model, or before Harbor 0.6 in the statistics of the job.
const TRIALS: [&str; 2] = ["n_trials", "n_errors"];
/// Other numbers of the statistics of a job.
const STATS: [&str; 6] =
    ["n_retries", "n_cancelled_trials", "n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd"];

/// What belongs to one run, collected over the trials of a place.
#[derive(Debug)]
pub(super) struct RunParts {
    pub(super) key: String,
    pub(super) head: Head,
    /// Indices of its jobs.
    pub(super) jobs: BTreeSet<usize>,
    /// Data sets that its tasks were taken from; where no trial of it says one, those of the other runs of the place.
    pub(super) sources: BTreeSet<String>,
    /// Its trial folders.
    pub(super) trials: Vec<String>,
    /// Those of them that grade the recorded work of another trial again.
    pub(super) regraded: Vec<String>,
    /// The settings of its agent in each trial.
    pub(super) agent_settings: AgentSettings,
}

/// Builds a run. `alone[job]` says whether a job has no other run.
pub(super) fn run(
    tree: &Tree,
    kind: Kind,
    folder: &str,
    jobs: &[JobFiles],
    is_only_run: &[bool],
    parts: &RunParts,
    report: &mut Report,
) -> Run {
    let mut run = Run::unknown(&parts.key, benchmark(tree, kind, folder, &parts.sources));
    let (provider, model) = parts.head.provider_and_model();
    run.harness.clone_from(&parts.head.agent);
    run.provider = provider.map(str::to_owned);
    run.model = model.map(str::to_owned);
    run.attempt_limit = Some(1);
    run.baseline = run.harness.as_deref().and_then(Baseline::from_harness_name);

    // The first result that can be read knows the agent's version and every setting, defaults included.
    let first = parts.trials.iter().take(8).find_map(|trial| {
        let result = tree.read_json::<Node>(&join(trial, "result.json"), RESULT_CAP).ok()?;
        report.files_read += 1;
        result.get("agent_info").is_some().then_some(result)
    });
    let info = first.as_ref().and_then(|r| r.get("agent_info"));
    let versions = AgentVersions::from_trials(tree, &parts.trials, info);
    run.harness_version = versions.shown();
    if let Some(info) = info {
        let text = |keys: &[&str]| info.descendant(keys).and_then(Node::word).map(str::to_owned);
        run.harness = text(&["name"]).or(run.harness);
        run.model = text(&["model_info", "name"]).or(run.model);
        run.provider = text(&["model_info", "provider"]).or(run.provider);
        run.baseline = run.baseline.or_else(|| run.harness.as_deref().and_then(Baseline::from_harness_name));
    }

    let counted = without_copies(&parts.jobs, jobs);
    let own: Vec<&JobFiles> = counted.iter().filter_map(|i| jobs.get(*i)).collect();
    let harbor_versions: BTreeSet<&str> = own.iter().filter_map(|j| j.harbor_version()).collect();
    let version =
        (!harbor_versions.is_empty()).then(|| harbor_versions.into_iter().collect::<Vec<_>>().join(", "));
    run.runner = Some(("Harbor".to_owned(), version));

    for config in own.iter().filter_map(|j| j.config.as_ref()).take(1) {
        settings::add_job_settings(config, &mut run.settings);
    }
    if let Some(config) = first.as_ref().and_then(|r| r.get("config")) {
        settings::add_trial_settings(config, &mut run.settings);
    } else if let Some(agent) = own.iter().find_map(|j| agent_config(j.config.as_ref()?, &parts.head)) {
        flatten("agent", agent, &mut run.settings);
    }

    let mut differing = parts.agent_settings.list_differing(&mut run.settings);
    if versions.differ() {
        differing.insert(0, "the agent's version");
    }
    if let Some(first) = differing.first() {
        let unlisted_text = match differing.len() {
            1 => String::new(),
            n => format!(" and of {}", model::counted(n as u64 - 1, "other setting")),
        };
        let message = format!(
            "The trials of {} have several values of {first}{unlisted_text}. They are one run, as in Harbor's own figures. It shows up to {VALUES} values; with more of them, they are unknown.",
            parts.key
        );
        report.warn(Warning::read_differently(folder, "harbor.settings_differ", message));
    }

    let mut planned = Some(0);
    for index in &counted {
        let is_only_run = is_only_run.get(*index).copied().unwrap_or(true);
        let agent = parts.head.agent.as_deref().unwrap_or_default();
        let job_count =
            jobs.get(*index).and_then(|j| j.planned(agent, parts.head.model.as_deref(), is_only_run));
        planned = planned.zip(job_count).map(|(a, b): (u32, u32)| a.saturating_add(b));
    }
    let extra_count = gradings::extra_gradings(tree, &parts.trials, &parts.regraded).len() as u32;
    run.planned_episodes = planned.map(|n| n.saturating_sub(extra_count)).filter(|n| *n > 0);
    times(&own, &mut run);
    if let [only] = own.as_slice()
        && let Some(id) = only.id().filter(|id| id.len() <= JOB_ID_BYTES)
    {
        run.extra.insert(JOB_ID.to_owned(), id.into());
    }
    reported(own.into_iter().zip(counted), parts, is_only_run, &mut run);
    run
}

fn agent_config<'a>(config: &'a Node, head: &Head) -> Option<&'a Node> {
    config.get("agents")?.list().iter().find(|a| {
        let text = |key| a.get(key).and_then(Node::word);
        text("name").or_else(|| text("import_path")) == head.agent.as_deref()
            && text("model_name") == head.model.as_deref()
    })
}

fn benchmark(tree: &Tree, kind: Kind, place_folder: &str, sources: &BTreeSet<String>) -> Benchmark {
    let name = match kind {
        // One job per task: the folder that holds the tasks names the set better than any of them.
        Kind::Tasks | Kind::Task if sources.len() != 1 => {
            let folder = Some(file_name(place_folder).to_owned()).filter(|name| !name.is_empty());
            folder.unwrap_or_else(|| tree.folder_name())
        }
        _ if sources.is_empty() => "adhoc".to_owned(),
        _ => sources.iter().map(String::as_str).collect::<Vec<_>>().join("+"),
    };
    Benchmark { key: format!("harbor:{name}"), name: format!("Harbor, {name}") }
}

/// The earliest begin and, if every job has ended, the latest end.
fn times(jobs: &[&JobFiles], run: &mut Run) {
    let time = |job: &JobFiles, key| {
        let time = job.result.as_ref()?.get(key)?.word()?;
        Some((clock::micros(time)?, time.to_owned()))
    };
    let start = jobs.iter().filter_map(|job| time(job, "started_at")).min();
    let end_times: Option<Vec<(i64, String)>> = jobs.iter().map(|job| time(job, "finished_at")).collect();
    (run.started_at, run.finished_at) =
        (start.map(|(_, start)| start), end_times.and_then(|end_times| Some(end_times.into_iter().max()?.1)));
}

/// Harbor's own figures, of jobs with their numbers. Over several jobs, counts are sums and means are means of the jobs' means.
fn reported<'a>(
    jobs: impl Iterator<Item = (&'a JobFiles, usize)>,
    parts: &RunParts,
    is_only_run: &[bool],
    run: &mut Run,
) {
    let mut sums = Sums::default();
    let mut means = Sums::default();
    let trials: HashSet<&str> = parts.trials.iter().map(|trial| file_name(trial)).collect();
    for (job, index) in jobs {
        let Some(stats) = job.result.as_ref().and_then(|r| r.get("stats")) else { continue };
        // Values of them that cannot be are reported once for each job, whatever its runs are.
        let unusable = &mut UnusableValues::default();
        let evals = stats.get("evals").map_or(&[][..], Node::map);
        let own: Vec<&(String, Node)> =
            evals.iter().filter(|(_, e)| evals.len() == 1 || counts_any(e, &trials)).collect();
        for (key, eval) in &own {
            let suffix = if own.len() > 1 { format!("@{key}") } else { String::new() };
            for count in TRIALS {
                if let Some(n) = stat(eval, "", count, unusable) {
                    sums.add(format!("harbor.{count}{suffix}"), n);
                }
            }
            for (name, value) in metrics(eval, unusable) {
                means.add(format!("harbor.{name}{suffix}"), value);
            }
        }
        if is_only_run.get(index).copied().unwrap_or(true) {
            for count in STATS {
                if let Some(n) = stat(stats, "stats.", count, unusable).filter(|n| *n > 0.0) {
                    sums.add(format!("harbor.{count}"), n);
                }
            }
            // Before 0.6 the counts stood here.
            for count in TRIALS {
                if own.is_empty()
                    && let Some(n) = stat(stats, "stats.", count, unusable)
                {
                    sums.add(format!("harbor.{count}"), n);
                }
            }
        }
        if let Some(result) = &job.result {
            unknown_fields(result, &mut run.extra);
        }
    }
    let means = means.named.into_iter().map(|(name, sum, n)| (name, sum / f64::from(n)));
    run.reported.figures = means.chain(sums.named.into_iter().map(|(name, sum, _)| (name, sum))).collect();
}

/// Sums by name, in the order of the names' first values.
#[derive(Default)]
struct Sums {
    /// Name, sum, number of values.
    named: Vec<(String, f64, u32)>,
    places: HashMap<String, usize>,
}

impl Sums {
    fn add(&mut self, name: String, value: f64) {
        if let Some((_, sum, n)) = self.places.get(&name).and_then(|place| self.named.get_mut(*place)) {
            (*sum, *n) = (*sum + value, *n + 1);
        } else {
            self.places.insert(name.clone(), self.named.len());
            self.named.push((name, value, 1));
        }
    }
}

/// Whether an entry of `stats.evals` counts one of the trials of these names. Its key is not taken apart: names may hold `__`.
fn counts_any(eval: &Node, trials: &HashSet<&str>) -> bool {
    let named = |map: &Node| map.list().iter().filter_map(Node::text).any(|name| trials.contains(name));
    let rewards = eval.get("reward_stats").map_or(&[][..], Node::map);
    let exceptions = eval.get("exception_stats").map_or(&[][..], Node::map);
    rewards.iter().flat_map(|(_, values)| values.map()).chain(exceptions).any(|(_, names)| named(names))
}

/// A number of a job's result under the rule of its kind; `place` is where it stands.
fn stat(node: &Node, place: &str, key: &str, unusable: &mut UnusableValues) -> Option<f64> {
    let rule = |value: &Node| match key {
        "cost_usd" => value::dollars(value),
        "n_input_tokens" | "n_cache_tokens" | "n_output_tokens" => value::tokens(value).map(|n| n as f64),
        _ => value::count(value).map(f64::from),
    };
    unusable.take(&format!("{place}{key}"), node.get(key), rule)
}

/// `metrics` and `pass_at_k`. With one reward key the entry is named after the metric (`mean`), with several after the
/// keys; both become `mean.<reward key>`.
fn metrics(eval: &Node, unusable: &mut UnusableValues) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    let keys: Vec<&str> =
        eval.get("reward_stats").map_or(&[][..], Node::map).iter().map(|(k, _)| k.as_str()).collect();
    for (index, metric) in eval.get("metrics").map_or(&[][..], Node::list).iter().enumerate() {
        for (name, value) in metric.map() {
            let Some(value) = unusable.take(name, Some(value), value::figure) else { continue };
            let name = match keys.as_slice() {
                [only] if only != name => format!("{name}.{only}"),
                _ if index == 0 => format!("mean.{name}"),
                _ => format!("metric_{}.{name}", index + 1),
            };
            out.push((name, value));
        }
    }
    for (k, value) in eval.get("pass_at_k").map_or(&[][..], Node::map) {
        let name = format!("pass@{k}");
        if let Some(value) = unusable.take(&name, Some(value), value::share) {
            out.push((name, value));
        }
    }
    out
}

fn unknown_fields(result: &Node, extra: &mut Extra) {
    const KNOWN: [&str; 8] = [
        "id",
        "started_at",
        "updated_at",
        "finished_at",
        "n_total_trials",
        "stats",
        "status",
        "trial_results",
    ];
    const KNOWN_STATS: [&str; 14] = [
        "n_completed_trials",
        "n_errored_trials",
        "n_running_trials",
        "n_pending_trials",
        "n_cancelled_trials",
        "n_retries",
        "evals",
        "n_input_tokens",
        "n_cache_tokens",
        "n_output_tokens",
        "cost_usd",
        "n_trials",
        "n_errors",
        "status",
    ];
    for (prefix, node, known) in
        [("", Some(result), &KNOWN[..]), ("stats.", result.get("stats"), &KNOWN_STATS[..])]
    {
        for (key, value) in node.map_or(&[][..], Node::map) {
            if !known.contains(&key.as_str()) && *value != Node::Null {
                extra.entry(format!("{prefix}{key}")).or_insert_with(|| settings::plain(key, value));
            }
        }
    }
}

/// Warns of what a job planned and did not do.
pub(super) fn check(job: &Job, files: &JobFiles, trials: usize, report: &mut Report) {
    let Some(result) = &files.result else { return };
    let mut unusable = UnusableValues::default();
    let [start, end] = ["started_at", "finished_at"].map(|key| unusable.time(key, result.get(key)));
    unusable.span("started_at to finished_at", start.as_deref(), end.as_deref());
    let planned = unusable.take("n_total_trials", result.get("n_total_trials"), value::count);
    let stats = result.get("stats");
    for (_, eval) in stats.and_then(|stats| stats.get("evals")).map_or(&[][..], Node::map) {
        for key in TRIALS {
            stat(eval, "", key, &mut unusable);
        }
        metrics(eval, &mut unusable);
    }
    if let Some(stats) = stats {
        for key in STATS.iter().chain(&TRIALS) {
            stat(stats, "stats.", key, &mut unusable);
        }
    }
    unusable.warn(&join(&job.path, "result.json"), report);
    let mut unusable_config = UnusableValues::default();
    unusable_config.take("n_attempts", files.config.as_ref().and_then(|c| c.get("n_attempts")), value::count);
    unusable_config.warn(&join(&job.path, "config.json"), report);
    if let Some(planned) = planned.filter(|planned| *planned as usize > trials) {
        report.warn(Warning::skipped(
            join(&job.path, "result.json"),
            "harbor.trials_missing",
            format!(
                "The job planned {} and has {}. The others are not shown as episodes.",
                model::counted(planned.into(), "trial"),
                model::counted(trials as u64, "trial folder")
            ),
        ));
    }
    if result.get("finished_at").is_none() {
        report.warn(Warning::read_differently(
            join(&job.path, "result.json"),
            "harbor.job_unfinished",
            "The job has no end: it is running, or was interrupted or killed. Its trials are read as far as they go.",
        ));
    }
}
