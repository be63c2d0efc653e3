//! From what is asked for to runs with their episodes: resolving, naming, drawing.

use std::collections::{BTreeMap, BTreeSet};

use store::{RunFilter, RunRecord, Store};

use super::copied_episodes::CopiedEpisodes;
pub(crate) use super::pool::{Pool, PooledRun, Scenario, joined_names};
use super::series_styles::by_levels;
use super::sets::ScenarioSets;
use super::{copies, names};
use crate::api::{ApiError, Member, PublishedNumber, SeriesStyle};
use crate::episodes::run_record;
use crate::published;
use crate::rounds;
use crate::sessions::no_stamina;

/// Whether all pools play one turn. Those of which nobody was at risk and no number of turns is known follow the others.
pub(crate) fn all_of_one_turn<'a>(pools: impl IntoIterator<Item = &'a Pool>) -> bool {
    let mut any = false;
    let mut all = pools.into_iter().map(|pool| {
        let one_turn = pool.is_single_turn();
        any |= one_turn;
        one_turn || pool.has_unknown_turns()
    });
    all.all(|follows| follows) && any
}

/// What others published about a question on the benchmarks of these members, each sentence with its source.
pub(crate) fn published(pools: &[Pool], about: &str) -> Vec<String> {
    let benchmarks: BTreeSet<String> = pools.iter().map(|pool| pool.benchmark().key).collect();
    benchmarks.iter().flat_map(|key| published::statements(key, about)).collect()
}

/// What others published of the scores of turns of the tasks that these members played, where they have such scores.
pub(crate) fn published_scores(pools: &[Pool]) -> Vec<PublishedNumber> {
    let mut by_benchmark: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for pool in pools {
        if rounds::turn_scores(pool.scored()).is_some() {
            let tasks = pool.episodes().map(|episode| episode.scenario.as_str());
            by_benchmark.entry(pool.benchmark().key).or_default().extend(tasks);
        }
    }
    let mut found: Vec<PublishedNumber> = Vec::new();
    for (benchmark, tasks) in by_benchmark {
        for number in published::numbers_of_tasks(&benchmark, tasks) {
            if !found.contains(&number) {
                found.push(number);
            }
        }
    }
    found
}

/// Refuses a run that a user has withdrawn beside other runs.
pub(crate) fn withdrawn_beside_others(run: &str, reason: &str) -> ApiError {
    ApiError::new(
        "run.withdrawn",
        format!("\"{run}\" is withdrawn and cannot be taken together with other runs: {reason}"),
    )
    .hint("Leave it out, or let it count again: `stamina withdraw RUN --undo`, or its page")
}

/// Reads the members of a request with their runs and episodes.
pub(crate) fn resolve(store: &Store, members: &[Member]) -> Result<Vec<Pool>, ApiError> {
    resolve_only(store, members, &[])
}

/// The same with only these runs of groups, if any are named.
pub(crate) fn resolve_only(
    store: &Store,
    members: &[Member],
    only: &[String],
) -> Result<Vec<Pool>, ApiError> {
    let mut pools = Vec::new();
    let mut seen_ids = BTreeSet::new();
    let mut gaps = rounds::Gaps::new(store);
    for member in members {
        let (member, runs, left_out) = runs_of(store, member, only)?;
        let id = member.text();
        if !seen_ids.insert(id.clone()) {
            return Err(ApiError::new("compare.twice", format!("\"{id}\" stands twice in this comparison"))
                .hint("Name each run or group once"));
        }
        // By itself a withdrawn run is shown, with its mark.
        if let (Member::Run { run }, [record]) = (&member, runs.as_slice())
            && let Some(reason) = record.entry.invalid.as_ref().filter(|_| members.len() > 1)
        {
            return Err(withdrawn_beside_others(run, reason));
        }
        if let Some(untested) = runs.iter().find(|record| !record.entry.benchmark.has_verdicts()) {
            return Err(no_stamina(&untested.entry));
        }
        let mut pooled = Vec::new();
        for mut record in runs {
            gaps.fill(&mut record.entry)?;
            let episodes = store.episodes(record.entry.id)?;
            let withdrawn = match record.entry.withdrawn_episodes {
                0 => BTreeSet::new(),
                _ => store.withdrawn_trials(record.entry.id)?.into_iter().map(|(_, trial)| trial).collect(),
            };
            let copied = CopiedEpisodes::default();
            pooled.push(PooledRun {
                record,
                episodes,
                copied,
                withdrawn,
                set: 0,
                is_scored_elsewhere: false,
            });
        }
        let style = SeriesStyle::default();
        let (name, short_name) = (String::new(), String::new());
        let mut pool =
            Pool { member, id, name, short_name, style, runs: pooled, left_out, copied: Vec::new() };
        copies::count_once_in(store, &mut pool)?;
        pools.push(pool);
    }
    let sets = ScenarioSets::from_runs(pools.iter().flat_map(|p| &p.runs).map(|run| &run.record));
    for run in pools.iter_mut().flat_map(|p| &mut p.runs) {
        run.set = sets.set(&run.record);
    }
    names::name(&mut pools);
    draw(&mut pools);
    Ok(pools)
}

/// The member with its benchmark made explicit, its runs, and which were left out, in words.
fn runs_of(
    store: &Store,
    member: &Member,
    only: &[String],
) -> Result<(Member, Vec<RunRecord>, Vec<String>), ApiError> {
    let (filter, benchmark) = match member {
        Member::Run { run } => return Ok((member.clone(), vec![run_record(store, run)?], Vec::new())),
        Member::Harness { harness, benchmark } => {
            (RunFilter { harnesses: vec![harness.clone()], ..RunFilter::default() }, benchmark)
        }
        Member::Model { model, benchmark } => {
            (RunFilter { models: vec![model.clone()], ..RunFilter::default() }, benchmark)
        }
        Member::Cell { harness, model, benchmark } => (
            RunFilter {
                harnesses: vec![harness.clone()],
                models: vec![model.clone()],
                ..RunFilter::default()
            },
            benchmark,
        ),
        Member::Tag { tag, benchmark } => {
            (RunFilter { tags: vec![tag.clone()], ..RunFilter::default() }, benchmark)
        }
    };
    let benchmarks: Vec<String> = Some(benchmark.clone()).filter(|b| !b.is_empty()).into_iter().collect();
    let mut found = store.list_runs(&RunFilter { benchmarks, ..filter })?.rows;
    let all = found.len();
    found.retain(|(_, run)| run.invalid.is_none());
    let withdrawn = all - found.len();
    let untested = found.iter().find(|(_, run)| !run.benchmark.has_verdicts()).map(|(_, run)| run.clone());
    let before = found.len();
    found.retain(|(_, run)| run.benchmark.has_verdicts());
    let without_tests = before - found.len();
    if let Some(untested) = untested.filter(|_| found.is_empty()) {
        return Err(no_stamina(&untested));
    }
    if !only.is_empty() {
        found.retain(|(_, run)| only.contains(&run.slug));
    }
    let keys: BTreeMap<&str, &str> =
        found.iter().map(|(_, run)| (run.benchmark.key.as_str(), run.benchmark.name.as_str())).collect();
    let Some((key, _)) = keys.first_key_value() else {
        let valid = if withdrawn > 0 { "runs that are not withdrawn" } else { "runs" };
        return Err(ApiError::new(
            "compare.no_runs",
            format!("\"{}\" has no {valid} in the library", member.text()),
        )
        .hint("`stamina runs`, or the library, shows harnesses, models and tags as they are written"));
    };
    if keys.len() > 1 {
        let names: Vec<String> = keys.iter().map(|(key, name)| format!("{name} ({key})")).collect();
        return Err(ApiError::new(
            "compare.mixed_benchmarks",
            format!(
                "The runs of \"{}\" belong to {} benchmarks and cannot be pooled",
                member.text(),
                keys.len()
            ),
        )
        .hint(format!("Name one of them: {}", names.join(", "))));
    }
    let benchmark = (*key).to_owned();
    let real = |run: &store::RunEntry| run.baseline.is_none() && !run.simulated;
    // Who tags a run means that run; who names a harness does not mean rehearsals with a simulated model.
    let all =
        matches!(member, Member::Tag { .. }) || !only.is_empty() || !found.iter().any(|(_, run)| real(run));
    let mut slugs: Vec<&str> =
        found.iter().filter(|(_, run)| all || real(run)).map(|(_, run)| run.slug.as_str()).collect();
    slugs.sort_unstable();
    let counted = [
        (found.len() - slugs.len(), "baseline or simulated run"),
        (withdrawn, "withdrawn run"),
        (without_tests, "run without tests"),
    ];
    let left_out = (counted.into_iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| match count {
            1 => format!("1 {noun} is left out of this group"),
            n => format!("{n} {noun}s are left out of this group"),
        })
        .collect();
    let records = slugs.into_iter().map(|slug| run_record(store, slug)).collect::<Result<_, _>>()?;
    let member = match member.clone() {
        Member::Harness { harness, .. } => Member::Harness { harness, benchmark },
        Member::Model { model, .. } => Member::Model { model, benchmark },
        Member::Cell { harness, model, .. } => Member::Cell { harness, model, benchmark },
        Member::Tag { tag, .. } => Member::Tag { tag, benchmark },
        run @ Member::Run { .. } => run,
    };
    Ok((member, records, left_out))
}

/// Gives each member its style.
fn draw(pools: &mut [Pool]) {
    let models: Vec<String> = pools.iter().map(Pool::model_level).collect();
    let harnesses: Vec<String> = pools.iter().map(Pool::harness_level).collect();
    for (pool, style) in pools.iter_mut().zip(by_levels(&models, &harnesses)) {
        pool.style = style;
    }
}
