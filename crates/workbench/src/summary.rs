//! From a run's episodes to its statistics, which the store keeps so that the library can be sorted in SQL.

use std::collections::BTreeSet;

use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::pass_rate::pass_rate;
use analysis::survival::{self, StaminaSummary, anyone_at_risk};
use ingest::formats::table;
use model::{CensoringPolicy, counted};
use serde_json::Value;
use store::{EpisodeEntry, RunRecord, Store, Summary};

use crate::Workbench;
use crate::api::{ApiError, Stamina};
use crate::compare::doubts::{Number, Part};
use crate::episodes::{
    early_censored, episode_noun, in_scenarios, is_single_turn, observations, planned_turns, scores,
};
use crate::processes_left::doubts_about_processes;
use crate::rounds;
use crate::stamina_for_hosts::stamina_of;
use crate::undeclared_turns::doubt_about_turns;

impl Workbench {
    /// Computes the summaries that are missing or older than the episodes or the policy.
    pub(crate) fn refresh_summaries(&self) -> Result<(), ApiError> {
        let stale = self.store.stale_runs()?;
        // In a library that can only be looked at they stay as they are.
        if stale.is_empty() || self.store.is_read_only() {
            return Ok(());
        }
        let policy = self.store.get_policy()?;
        for stale_run in &stale {
            let Some(record) = self.store.run(&stale_run.slug)? else { continue };
            let episodes = self.store.episodes(stale_run.run)?;
            let rounds = rounds::scores(&self.store, &record, &episodes)?;
            let withdrawn = withdrawn_scenarios(&self.store, &record)?;
            let mut summary = Summary { rounds, ..summarize(&record, &episodes, &withdrawn, &policy) };
            let (run, format) = (record.entry.id, &record.entry.format);
            let about_turns = doubt_about_turns(&self.store, &[run], format, &summary)?;
            summary.doubts.extend(about_turns);
            summary.doubts.extend(doubts_about_processes(&self.store, &record)?);
            self.store.put_summary(stale_run, &summary)?;
        }
        Ok(())
    }
}

/// Mean stamina of a run with the interval that fits its episodes.
fn mean_of(stamina: &StaminaSummary, trials: &[InScenario]) -> Stamina {
    let tau = stamina.restricted_mean.tau;
    stamina_of(stamina, trials, || bootstrap_mean(trials, tau?, Resampling::default()))
}

/// What a figure of a run says of its mean, with that interval.
pub(crate) fn stamina_summary(
    record: &RunRecord,
    episodes: &[EpisodeEntry],
    policy: &CensoringPolicy,
) -> StaminaSummary {
    let observations = observations(episodes, policy);
    let mut stamina = survival::summarize(&observations, planned_turns(episodes));
    let mean = mean_of(&stamina, &in_scenarios(record, episodes, &observations));
    (stamina.restricted_mean.ci_low, stamina.restricted_mean.ci_high) = (mean.ci_low, mean.ci_high);
    stamina
}

fn summarize(
    record: &RunRecord,
    episodes: &[EpisodeEntry],
    withdrawn: &BTreeSet<String>,
    policy: &CensoringPolicy,
) -> Summary {
    let partial = partial(record, episodes, withdrawn);
    // Without tests there is no stamina and no score of turns.
    if !record.entry.benchmark.has_verdicts() {
        let mut doubts: Vec<String> = partial.iter().cloned().collect();
        if record.entry.withdrawn_episodes > 0 {
            let withdrawn = counted(record.entry.withdrawn_episodes.into(), "withdrawn session");
            doubts.push(format!("{withdrawn} left out"));
        }
        return Summary { doubts, partial, ..Summary::default() };
    }
    let observations = observations(episodes, policy);
    let stamina = survival::summarize(&observations, planned_turns(episodes));
    let trials = in_scenarios(record, episodes, &observations);
    let tau = stamina.restricted_mean.tau;
    let mean = mean_of(&stamina, &trials);
    let scores = scores(record, episodes, policy);
    let pass_rate = is_of_one_turn(record, episodes).then(|| pass_rate(&trials));
    let number = Number {
        parts: vec![Part { entry: &record.entry, partial: partial.as_deref(), episodes, pooled: None }],
        stamina: &mean,
        pass_rate: pass_rate.as_ref(),
        early_censored: early_censored(episodes.iter(), tau, policy),
    };
    let doubts = number.doubts(policy);
    Summary {
        stamina: mean,
        score: scores.score,
        dataset_score: scores.dataset,
        case_score: scores.case,
        perfect: scores.perfect,
        partial,
        scored: observations
            .iter()
            .filter(|observation| anyone_at_risk(std::slice::from_ref(observation)))
            .count() as u32,
        pass_rate,
        rounds: None,
        doubts,
    }
}

/// Whether a run plays one turn. Tasks that the source only counts are of no known length.
fn is_of_one_turn(record: &RunRecord, episodes: &[EpisodeEntry]) -> bool {
    record.run.reported.totals_only.is_empty() && is_single_turn(episodes)
}

/// The scenarios of the withdrawn episodes of a run of which some tasks are only counted.
fn withdrawn_scenarios(store: &Store, record: &RunRecord) -> Result<BTreeSet<String>, ApiError> {
    if record.entry.withdrawn_episodes == 0 || record.run.reported.totals_only.is_empty() {
        return Ok(BTreeSet::new());
    }
    let all = store.all_episodes(record.entry.id)?.into_iter();
    Ok(all.filter(|episode| episode.invalid.is_some()).map(|episode| episode.scenario).collect())
}

/// What is missing, in words: tasks where some are known by totals only, and episodes where more of these are missing.
fn partial(record: &RunRecord, episodes: &[EpisodeEntry], withdrawn: &BTreeSet<String>) -> Option<String> {
    let read = episodes.len() as u64;
    let tasks: BTreeSet<&str> = episodes.iter().map(|episode| episode.scenario.as_str()).collect();
    let mut known = tasks.clone();
    known.extend(withdrawn.iter().map(String::as_str));
    let described = known.len() as u64;
    known.extend(record.run.reported.totals_only.iter().map(|task| task.scenario.as_str()));
    let known = known.len() as u64;
    let planned_tasks = record.run.extra.get(table::PLANNED_TASKS).and_then(Value::as_u64);
    let all = planned_tasks.unwrap_or(0).max(known);
    // What is withdrawn is not missing.
    let counted_tasks = all - (described - tasks.len() as u64);
    let task_note =
        (known > described).then(|| format!("{} of {}", tasks.len(), counted(counted_tasks, "task")));
    // A source may plan an episode of each task that it does not describe: that is said with the tasks.
    let missing_tasks = if task_note.is_some() { all - described } else { 0 };
    let planned = record.run.planned_episodes.unwrap_or(0).saturating_sub(record.entry.withdrawn_episodes);
    let noun = if record.entry.benchmark.has_verdicts() {
        episode_noun(is_of_one_turn(record, episodes))
    } else {
        "session"
    };
    let episode_note = (read.saturating_add(missing_tasks) < u64::from(planned))
        .then(|| format!("{read} of {}", counted(planned.into(), noun)));
    let parts: Vec<String> = task_note.into_iter().chain(episode_note).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run};
    use store::ParsedPart;

    use crate::api::{ListRuns, Nothing};
    use crate::{Options, Workbench};

    /// The first call of a window made every summary first, and so did each that follows the reading of a folder.
    #[test]
    fn the_state_of_the_app_makes_no_summaries_and_counts_warnings_as_the_list_once_they_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let db = Some(folder.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        let source = workbench.store.put_source("/no/such/place", "results", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        // One of four episodes is there.
        let run = Run { planned_episodes: Some(4), ..Run::unknown("r", benchmark) };
        workbench.store.put_runs(source, "", "table", &[run]).unwrap();
        let episodes = [("r".to_owned(), Episode::new("a", "a"))];
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        workbench.store.put_part(source, &part).unwrap();

        let before = workbench.app_state(Nothing {}).unwrap();
        assert_eq!((before.runs, workbench.store.stale_runs().unwrap().len()), (1, 1));
        let change = workbench.store.last_change().unwrap();
        let listed =
            workbench.list_runs(ListRuns { with_warnings: true, ..ListRuns::default() }).unwrap().total;
        assert_eq!(listed, 1);
        // A window that follows changes asks again.
        assert!(workbench.store.last_change().unwrap() > change);
        assert_eq!(workbench.app_state(Nothing {}).unwrap().runs_with_warnings, listed);
    }
}
