//! Runs and episodes whose numbers must not count, with the reason that a user gives.

use model::{counted, is_missing_value};
use store::{EpisodeEntry, RunRecord};

use crate::Workbench;
use crate::api::{ApiError, Nothing, WithdrawRuns};
use crate::episodes::{episode_noun, run_record};

/// So many withdrawn episodes are named with their reasons; more are counted.
const NAMED: usize = 5;

impl Workbench {
    /// Withdraws runs, or episodes of one, for a reason, or takes that back.
    ///
    /// Errors: `withdraw.no_reason`, `withdraw.one_run`, `run.not_found`, `episode.not_found`.
    pub fn withdraw(&self, request: WithdrawRuns) -> Result<Nothing, ApiError> {
        let reason = request.reason.as_deref().map(str::trim);
        // In a table such a word says that there is no reason.
        if reason.is_some_and(|reason| reason.is_empty() || is_missing_value(reason)) {
            return Err(ApiError::new(
                "withdraw.no_reason",
                "A run is withdrawn for a reason, and none is given",
            )
            .hint("Say in a few words why its numbers must not count"));
        }
        for run in &request.runs {
            run_record(&self.store, run)?;
        }
        match (request.runs.as_slice(), request.episodes.as_slice()) {
            (runs, []) => self.store.withdraw(runs, reason)?,
            ([run], episodes) => {
                let id = run_record(&self.store, run)?.entry.id;
                for episode in episodes {
                    if self.store.episode(id, episode)?.is_none() {
                        return Err(not_found(run, episode));
                    }
                }
                self.store.withdraw_episodes(run, episodes, reason)?;
            }
            (runs, _) => {
                return Err(ApiError::new(
                    "withdraw.one_run",
                    format!("Episodes are withdrawn of one run at a time, and {} are named", runs.len()),
                )
                .hint("Name the run that the episodes are of"));
            }
        }
        Ok(Nothing {})
    }

    /// The id of the episode of a run that this names: by its id, else by its key where no other has that, else by the name that
    /// its source gives the trial or by its scenario where the run plays that once; else by a begin of one of these that names
    /// it alone.
    ///
    /// Errors: `run.not_found`, `episode.not_found`, `episode.ambiguous`.
    pub fn find_episode(&self, run: &str, wanted: &str) -> Result<String, ApiError> {
        let record = run_record(&self.store, run)?;
        let all = self.store.all_episodes(record.entry.id)?;
        // The id of the first repeat of a task may be the name of the task, which all of its repeats have.
        let by_id = all.iter().find(|episode| episode.slug == wanted);
        if let Some(found) = by_id.or_else(|| only_with_key(&all, wanted)) {
            return Ok(found.slug.clone());
        }
        let exact: Vec<&EpisodeEntry> =
            all.iter().filter(|episode| names(episode).any(|name| name == wanted)).collect();
        let found = if exact.is_empty() {
            // An empty name, of a variable that is not set, is the beginning of every name.
            let begins = |name: &str| !wanted.is_empty() && name.starts_with(wanted);
            all.iter().filter(|episode| names(episode).any(begins)).collect()
        } else {
            exact
        };
        match found.as_slice() {
            [one] => Ok(one.slug.clone()),
            [] => Err(not_found(run, wanted)),
            several => {
                let ids: Vec<&str> =
                    several.iter().take(NAMED).map(|episode| episode.slug.as_str()).collect();
                Err(ApiError::new(
                    "episode.ambiguous",
                    format!("\"{wanted}\" names {} episodes of {run}", several.len()),
                )
                .hint(format!("Name one of: {}", ids.join(", "))))
            }
        }
    }

    /// Whether a run has an episode with this id.
    ///
    /// Errors: `run.not_found`.
    pub fn has_episode(&self, run: &str, id: &str) -> Result<bool, ApiError> {
        let record = run_record(&self.store, run)?;
        Ok(self.store.all_episodes(record.entry.id)?.iter().any(|episode| episode.slug == id))
    }

    /// What is said of a run of which episodes are withdrawn.
    pub(crate) fn withdrawn_of(&self, record: &RunRecord) -> Result<Option<String>, ApiError> {
        if record.entry.withdrawn_episodes == 0 {
            return Ok(None);
        }
        let mut all = self.store.all_episodes(record.entry.id)?;
        all.retain(|episode| episode.invalid.is_some());
        let (verb, clause) = if all.len() == 1 { ("is", "it is") } else { ("are", "they are") };
        let named: Vec<String> = (all.iter().take(NAMED))
            .map(|episode| {
                let reason = episode.invalid.as_deref().unwrap_or_default();
                format!("{} ({})", episode.slug, reason.trim_end_matches('.'))
            })
            .collect();
        let ellipsis = if all.len() > NAMED { ", …" } else { "" };
        let rate = record.entry.summary.as_ref().and_then(|summary| summary.pass_rate.as_ref());
        Ok(Some(format!(
            "{} {verb} withdrawn and in no number, though {clause} shown: {}{ellipsis}.",
            counted(all.len() as u64, episode_noun(rate.is_some())),
            named.join(", ")
        )))
    }
}

fn not_found(run: &str, episode: &str) -> ApiError {
    ApiError::new("episode.not_found", format!("There is no episode \"{episode}\" in {run}"))
        .hint(format!("`stamina show {run}` lists its episodes with their ids"))
}

/// The only episode with a key, which parts of a run may have in common.
fn only_with_key<'a>(all: &'a [EpisodeEntry], key: &str) -> Option<&'a EpisodeEntry> {
    let mut found = all.iter().filter(|episode| episode.key == key);
    found.next().filter(|_| found.next().is_none())
}

/// By what an episode may be named.
fn names(episode: &EpisodeEntry) -> impl Iterator<Item = &str> {
    let trial = episode.key.rsplit('/').next().unwrap_or(&episode.key);
    [episode.slug.as_str(), episode.key.as_str(), trial, episode.scenario.as_str()].into_iter()
}
