//! A member of a comparison with its runs and their episodes. How they are read and named is not here.

use std::borrow::Cow;
use std::collections::BTreeSet;

use analysis::clusters::InScenario;
use analysis::sensitivity::EpisodeEnd;
use analysis::survival::Observation;
use model::{Benchmark, CensoringPolicy};
use store::{EpisodeEntry, RunEntry, RunRecord};

use super::copied_episodes::CopiedEpisodes;
use super::sets::{self, ScenarioSets};
use crate::api::{Member, SeriesStyle, marked};
use crate::episodes::{episode_end, has_unknown_turns, in_scenario, is_single_turn, turn_axis};

/// A run of a member.
#[derive(Clone)]
pub(crate) struct PooledRun {
    /// The run with its settings.
    pub(crate) record: RunRecord,
    /// Its episodes, by slug, without those that are counted in another run.
    pub(crate) episodes: Vec<EpisodeEntry>,
    /// Those that are.
    pub(crate) copied: CopiedEpisodes,
    /// Its withdrawn trials, those included that are withdrawn as trials of another run ([`store::Store::withdrawn_trials`]).
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
    pub(crate) style: SeriesStyle,
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
    pub(crate) fn is_single_turn(&self) -> bool {
        is_single_turn(self.episodes())
            && self.runs.iter().all(|run| run.record.run.reported.totals_only.is_empty())
    }

    /// Whether its number of turns is unknown, because no episode was at risk.
    pub(crate) fn has_unknown_turns(&self) -> bool {
        has_unknown_turns(self.episodes())
            && self.runs.iter().all(|run| run.record.run.reported.totals_only.is_empty())
    }

    /// Its episodes with why they ended.
    pub(crate) fn episode_ends(&self) -> Vec<EpisodeEnd> {
        self.episodes().map(episode_end).collect()
    }

    /// The scenarios that it played.
    pub(crate) fn scenarios(&self) -> BTreeSet<Scenario<'_>> {
        self.runs.iter().flat_map(|run| run.episodes.iter().map(|e| run.scenario(e))).collect()
    }

    /// The same with those of episodes that count in another member.
    pub(super) fn all_scenarios(&self) -> BTreeSet<Scenario<'_>> {
        let copied_episodes = self.runs.iter().flat_map(|run| {
            let names = run.copied.scenarios();
            names.map(move |name| (run.set, run.scenario_name(name)))
        });
        self.scenarios().into_iter().chain(copied_episodes).collect()
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

/// A run with those of its episodes that count.
pub(crate) struct Part<'a> {
    /// The run.
    pub(crate) entry: &'a RunEntry,
    /// What of it is missing, in words.
    pub(crate) partial: Option<&'a str>,
    /// Its episodes.
    pub(crate) episodes: &'a [EpisodeEntry],
    /// The run among those that it is taken together with; `None` = it stands alone.
    pub(crate) pooled: Option<&'a PooledRun>,
}

impl<'a> Part<'a> {
    /// The runs of members.
    pub(crate) fn from_pools(pools: impl IntoIterator<Item = &'a Pool>) -> Vec<Self> {
        let runs = pools.into_iter().flat_map(|pool| &pool.runs);
        runs.map(|run| {
            let entry = &run.record.entry;
            let partial = entry.summary.as_ref().and_then(|summary| summary.partial.as_deref());
            Self { entry, partial, episodes: &run.episodes, pooled: Some(run) }
        })
        .collect()
    }
}

/// The one value that all are, if they are one.
pub(super) fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
