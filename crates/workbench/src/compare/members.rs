//! From what is asked for to runs with their episodes: resolving, naming, drawing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use analysis::clusters::InScenario;
use analysis::sensitivity::Ended;
use analysis::survival::Observation;
use model::{Benchmark, CensoringPolicy};
use store::{EpisodeEntry, RunEntry, RunFilter, RunRecord, Store};

use super::copies::{self, Copied};
use super::names;
use super::sets::{self, ScenarioSets};
use super::swatches::by_levels;
use crate::api::{ApiError, Member, PublishedNumber, Swatch, marked};
use crate::episodes::{ended, in_scenario, of_one_turn, of_unknown_turns, run_record, turn_axis};
use crate::published;
use crate::rounds;
use crate::sessions::no_stamina;

/// A run of a member.
#[derive(Clone)]
pub(crate) struct PooledRun {
    /// The run with its settings.
    pub(crate) record: RunRecord,
    /// Its episodes, by slug, without those that are counted in another run.
    pub(crate) episodes: Vec<EpisodeEntry>,
    /// Those that are.
    pub(crate) copied: Copied,
    /// Its withdrawn trials, those included that are withdrawn as trials of another run ([`Store::withdrawn_trials`]).
    pub(crate) withdrawn: BTreeSet<String>,
    /// Which set of scenarios its scenario names belong to.
    pub(crate) set: u32,
    /// Whether its scores stand with another run: both are parts of one job.
    pub(crate) is_scored_elsewhere: bool,
}

impl PooledRun {
    /// The scenario of an episode: the same exactly for the same scenario.
    pub(crate) fn scenario<'a>(&self, episode: &'a EpisodeEntry) -> Scenario<'a> {
        (self.set, self.scenario_name(&episode.scenario))
    }

    /// A text that is the same exactly for the same scenario, or the same task.
    pub(crate) fn identity(&self, scenario: &str) -> String {
        ScenarioSets::identity(self.set, &self.scenario_name(scenario))
    }

    /// The name that a scenario has in its benchmark.
    pub(crate) fn scenario_name<'a>(&self, scenario: &'a str) -> Cow<'a, str> {
        sets::scenario_name(&self.record.entry.benchmark, scenario)
    }
}

/// A set of scenarios and a name in it.
pub(crate) type Scenario<'a> = (u32, Cow<'a, str>);

/// A member with its runs.
#[derive(Clone)]
pub(crate) struct Pool {
    /// What was asked for.
    pub(crate) member: Member,
    /// Stable text.
    pub(crate) id: String,
    /// The shortest name that tells it from the others.
    pub(crate) name: String,
    /// The same where there is little room for it.
    pub(crate) short_name: String,
    /// How it is drawn.
    pub(crate) swatch: Swatch,
    /// Its runs, by slug.
    pub(crate) runs: Vec<PooledRun>,
    /// Which runs of the group are left out, in words: baselines and simulated ones, withdrawn ones.
    pub(crate) left_out: Vec<String>,
    /// Which of its trials it has more than once, in words; each counts once.
    pub(crate) copied: Vec<String>,
}

impl Pool {
    /// Whether a simulated model stood in for a real one in any of its runs.
    pub(crate) fn simulated(&self) -> bool {
        self.runs.iter().any(|run| run.record.entry.simulated)
    }

    /// Its name as tables and texts have it.
    pub(crate) fn marked(&self) -> String {
        marked(&self.name, self.simulated())
    }

    /// The episodes of all runs.
    pub(crate) fn episodes(&self) -> impl Iterator<Item = &EpisodeEntry> {
        self.runs.iter().flat_map(|run| &run.episodes)
    }

    /// The runs with their scores. Parts of one job are one.
    pub(crate) fn scored(&self) -> impl Iterator<Item = &RunEntry> {
        self.runs.iter().filter(|run| !run.is_scored_elsewhere).map(|run| &run.record.entry)
    }

    /// The most turns that an episode plans, as in [`crate::episodes::planned_turns`].
    pub(crate) fn planned(&self) -> Option<u32> {
        self.episodes()
            .map(|e| e.planned_turns.map(|planned| planned.max(e.known_turns)))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .max()
    }

    /// The last turn that an episode plans or is seen to have.
    pub(crate) fn turns(&self) -> u32 {
        self.runs.iter().map(|run| turn_axis(&run.episodes)).max().unwrap_or(0)
    }

    /// Its episodes as survival analysis sees them, each with the identity of its scenario; rounds by themselves with that of
    /// their task.
    pub(crate) fn in_scenarios(&self, policy: &CensoringPolicy) -> Vec<InScenario> {
        self.runs
            .iter()
            .flat_map(|run| {
                let plays_alone = run.record.entry.benchmark.plays_steps_alone();
                run.episodes.iter().map(move |e| {
                    let observation = Observation::from_reason(e.stamina, e.end_reason, policy);
                    in_scenario(plays_alone, &e.scenario, |scenario| run.identity(scenario), observation)
                })
            })
            .collect()
    }

    /// Whether all its episodes play one turn.
    pub(crate) fn of_one_turn(&self) -> bool {
        of_one_turn(self.episodes())
            && self.runs.iter().all(|run| run.record.run.reported.totals_only.is_empty())
    }

    /// Whether its number of turns is unknown, because no episode was at risk.
    pub(crate) fn of_unknown_turns(&self) -> bool {
        of_unknown_turns(self.episodes())
            && self.runs.iter().all(|run| run.record.run.reported.totals_only.is_empty())
    }

    /// Its episodes with why they ended.
    pub(crate) fn ended(&self) -> Vec<Ended> {
        self.episodes().map(ended).collect()
    }

    /// The scenarios that it played.
    pub(crate) fn scenarios(&self) -> BTreeSet<Scenario<'_>> {
        self.runs.iter().flat_map(|run| run.episodes.iter().map(|e| run.scenario(e))).collect()
    }

    /// The same with those of episodes that count in another member.
    pub(super) fn all_scenarios(&self) -> BTreeSet<Scenario<'_>> {
        let of_copies = self.runs.iter().flat_map(|run| {
            let names = run.copied.scenarios();
            names.map(move |name| (run.set, run.scenario_name(name)))
        });
        self.scenarios().into_iter().chain(of_copies).collect()
    }

    /// The benchmark.
    pub(crate) fn benchmark(&self) -> Benchmark {
        self.runs.first().map_or_else(
            || Benchmark { key: String::new(), name: String::new() },
            |run| run.record.entry.benchmark.clone(),
        )
    }

    /// The harness, if it is one and known.
    pub(crate) fn harness(&self) -> Option<&str> {
        only(self.runs.iter().map(|run| run.record.entry.harness.as_deref())).flatten()
    }

    /// The model, if it is one and known.
    pub(crate) fn model(&self) -> Option<&str> {
        only(self.runs.iter().map(|run| run.record.entry.model.as_deref())).flatten()
    }

    /// Model and harness in full.
    pub(crate) fn full_name(&self) -> String {
        let runs = match self.runs.len() {
            1 => "1 run".to_owned(),
            n => format!("{n} runs"),
        };
        match &self.member {
            Member::Run { .. } => self.both_labels(),
            Member::Harness { .. } => format!("{}, {runs}", self.harness_label()),
            Member::Model { .. } => format!("{}, {runs}", self.model_label()),
            Member::Cell { .. } => format!("{}, {runs}", self.both_labels()),
            Member::Tag { tag, .. } => format!("tag {tag}, {runs}"),
        }
    }

    pub(super) fn model_label(&self) -> String {
        self.model().unwrap_or("unknown model").to_owned()
    }

    pub(super) fn harness_label(&self) -> String {
        self.harness().unwrap_or("unknown harness").to_owned()
    }

    /// Model and harness. A baseline has one name for both, which is said once.
    pub(super) fn both_labels(&self) -> String {
        joined_names([self.model_label(), self.harness_label()])
    }

    /// What model it stands for among others: one, several, or the name of a tag.
    pub(super) fn model_level(&self) -> String {
        match &self.member {
            Member::Harness { .. } => String::new(),
            Member::Tag { tag, .. } => format!("tag {tag}"),
            Member::Run { .. } | Member::Model { .. } | Member::Cell { .. } => self.model_label(),
        }
    }

    pub(super) fn harness_level(&self) -> String {
        match &self.member {
            Member::Model { .. } => String::new(),
            Member::Tag { tag, .. } => format!("tag {tag}"),
            Member::Run { .. } | Member::Harness { .. } | Member::Cell { .. } => self.harness_label(),
        }
    }
}

/// Names of model and harness in one: `glm-5 · opencode`. Two equal names are said once: `oracle`.
pub(crate) fn joined_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    let mut last: Option<T> = None;
    for name in names {
        if last.as_ref().is_some_and(|last| last.as_ref() == name.as_ref()) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(" · ");
        }
        text.push_str(name.as_ref());
        last = Some(name);
    }
    text
}

/// Whether all pools play one turn. Those of which nobody was at risk and no number of turns is known follow the others.
pub(crate) fn all_of_one_turn<'a>(pools: impl IntoIterator<Item = &'a Pool>) -> bool {
    let mut any = false;
    let mut all = pools.into_iter().map(|pool| {
        let one = pool.of_one_turn();
        any |= one;
        one || pool.of_unknown_turns()
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
        if rounds::of_runs(pool.scored()).is_some() {
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

/// The one value that all are, if they are one.
pub(super) fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
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
    let mut seen = BTreeSet::new();
    let mut gaps = rounds::Gaps::new(store);
    for member in members {
        let (member, runs, left_out) = runs_of(store, member, only)?;
        let id = member.text();
        if !seen.insert(id.clone()) {
            return Err(ApiError::new("compare.twice", format!("\"{id}\" stands twice in this comparison"))
                .hint("Name each run or group once"));
        }
        // By itself a withdrawn run is shown, with its mark.
        if let (Member::Run { run }, [record]) = (&member, runs.as_slice())
            && let Some(reason) = record.entry.invalid.as_ref().filter(|_| members.len() > 1)
        {
            return Err(ApiError::new(
                "run.withdrawn",
                format!("\"{run}\" is withdrawn and cannot be taken together with other runs: {reason}"),
            )
            .hint("Leave it out, or let it count again: `stamina withdraw RUN --undo`, or its page"));
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
            let copied = Copied::default();
            pooled.push(PooledRun {
                record,
                episodes,
                copied,
                withdrawn,
                set: 0,
                is_scored_elsewhere: false,
            });
        }
        let swatch = Swatch::default();
        let (name, short_name) = (String::new(), String::new());
        let mut pool =
            Pool { member, id, name, short_name, swatch, runs: pooled, left_out, copied: Vec::new() };
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
        .map(|(count, what)| match count {
            1 => format!("1 {what} is left out of this group"),
            n => format!("{n} {what}s are left out of this group"),
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

/// Gives each member its swatch.
fn draw(pools: &mut [Pool]) {
    let models: Vec<String> = pools.iter().map(Pool::model_level).collect();
    let harnesses: Vec<String> = pools.iter().map(Pool::harness_level).collect();
    for (pool, swatch) in pools.iter_mut().zip(by_levels(&models, &harnesses)) {
        pool.swatch = swatch;
    }
}
