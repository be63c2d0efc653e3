//! What a reader must know about the numbers of a run, in sentences.

use model::{CensoringPolicy, Run, counted};
use store::{EpisodeEntry, RunRecord, SharedEpisodes};

use crate::Workbench;
use crate::api::{ApiError, RunRef};
use crate::compare::doubts::{unscored_in_score, withdrawn};
use crate::episodes::{episode_noun, grades_turns, in_scenarios, is_single_turn, observations, run_record};
use crate::sessions::nothing_sentence;
use crate::undeclared_turns::way_out;
use crate::unrecognized_ends::sensitivity_line;

impl Workbench {
    /// What a reader must know about the numbers of a run, beside how much rests on ends that are not recognized: of runs that are
    /// taken together that is a line of its own. `is_in_group`: it is one of a group, which says itself where its trials count.
    pub(crate) fn caveats(&self, record: &RunRecord, is_in_group: bool) -> Result<Vec<String>, ApiError> {
        let shared = if is_in_group { Vec::new() } else { self.store.shared_episodes(record.entry.id)? };
        self.caveats_from(record, &shared, self.tested_episodes(record)?.as_deref())
    }

    /// The same of a run that stands alone, with that line. `shared` are the episodes that other runs have too.
    pub(crate) fn caveats_alone(
        &self,
        record: &RunRecord,
        shared: &[SharedEpisodes],
        policy: &CensoringPolicy,
    ) -> Result<Vec<String>, ApiError> {
        let episodes = self.tested_episodes(record)?;
        let mut caveats = self.caveats_from(record, shared, episodes.as_deref())?;
        caveats.extend(episodes.and_then(|episodes| not_recognized(record, &episodes, policy)));
        Ok(caveats)
    }

    /// The episodes of a run that count; `None` = its benchmark has no tests.
    fn tested_episodes(&self, record: &RunRecord) -> Result<Option<Vec<EpisodeEntry>>, ApiError> {
        if !record.entry.benchmark.has_verdicts() {
            return Ok(None);
        }
        Ok(Some(self.store.episodes(record.entry.id)?))
    }

    fn caveats_from(
        &self,
        record: &RunRecord,
        shared: &[SharedEpisodes],
        episodes: Option<&[EpisodeEntry]>,
    ) -> Result<Vec<String>, ApiError> {
        let mut caveats = Vec::new();
        if let Some(reason) = &record.entry.invalid {
            caveats.push(format!(
                "This run is withdrawn: {}. Its own numbers are shown; it is left out wherever runs are taken together.",
                reason.trim_end_matches('.')
            ));
        }
        caveats.extend(self.withdrawn_of(record)?);
        let Some(episodes) = episodes else {
            caveats.push(format!(
                "{} has no tests: there is no stamina, and this run takes no part in survival, matrix or comparisons.",
                record.entry.benchmark.name
            ));
            caveats.push(nothing_sentence());
            return Ok(caveats);
        };
        let undeclared = episodes.iter().filter(|e| e.planned_turns.is_none()).count();
        // A score that is known is in doubt: the doubts of the run say so.
        let has_score = record.entry.summary.as_ref().is_some_and(|summary| summary.score.is_some());
        if undeclared > 0 && !has_score {
            let all = counted(episodes.len() as u64, episode_noun(is_single_turn(episodes)));
            caveats.push(undeclared_turns(undeclared, &all, &record.entry.format));
        }
        let by_turn = grades_turns(record);
        let unscored = record.entry.summary.as_ref();
        let unscored = unscored.and_then(|s| unscored_in_score(s.pass_rate.as_ref(), s.score, by_turn));
        caveats.extend(unscored.map(|sentence| format!("{sentence}.")));
        caveats.extend(self.other_mean(record, episodes.len())?);
        caveats.extend(shared.iter().map(shared_caveat));
        caveats.extend(network_note(&record.run));
        caveats.extend(self.grader_note_of(record)?);
        caveats.extend(self.processes_note_of(record)?);
        if let Some((tool, Some(version))) = &record.run.runner
            && tool == "Harbor"
            && older_than(version, (0, 24))
        {
            caveats.push(format!(
                "Harbor {version} wiped the tests of the step before only after the agent had run; its results may be contaminated."
            ));
        }
        Ok(caveats)
    }

    /// That the tasks of a run were played here without the internet, which published results had; `None` = they were not, or it
    /// is unknown.
    pub fn network_note(&self, request: &RunRef) -> Result<Option<String>, ApiError> {
        Ok(network_note(&run_record(&self.store, &request.run)?.run))
    }

    /// How much of the numbers of a run rests on ends whose cause is not recognized; `None` = there is no such end.
    pub fn unrecognized_note(&self, request: &RunRef) -> Result<Option<String>, ApiError> {
        let policy = self.store.get_policy()?;
        let record = run_record(&self.store, &request.run)?;
        let episodes = self.tested_episodes(&record)?;
        Ok(episodes.and_then(|episodes| not_recognized(&record, &episodes, &policy)))
    }

    /// Why the mean reward that Harbor reports is another number than the score here, as far as a cause is found.
    fn other_mean(&self, record: &RunRecord, episodes: usize) -> Result<Option<String>, ApiError> {
        let figure = |name: &str| {
            record.run.reported.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
        };
        let score = record.entry.summary.as_ref().and_then(|s| s.score);
        let (Some(harbor), Some(score)) = (figure("harbor.mean.reward"), score) else { return Ok(None) };
        if (100.0 * harbor - score).abs() < 0.05 {
            return Ok(None);
        }
        let rewards = self.store.reward_totals(record.entry.id)?;
        let mut causes = Vec::new();
        match rewards.partial {
            0 => {}
            1 => causes.push("1 reward is neither 0 nor 1, and counts here as passed or not".to_owned()),
            n => causes.push(format!("{n} rewards are neither 0 nor 1, and count here as passed or not")),
        }
        let unrewarded = rewards.turns.saturating_sub(rewards.rewarded);
        if unrewarded > 0 {
            let (verb, object, subject_and_verb) =
                if unrewarded == 1 { ("has", "it", "it counts") } else { ("have", "them", "they count") };
            causes.push(format!(
                "{unrewarded} of {} {verb} no reward; Harbor leaves {object} out, here {subject_and_verb} as not passed",
                counted(rewards.turns.into(), "declared step")
            ));
        }
        if let Some(trials) = figure("harbor.n_trials").filter(|n| (n - episodes as f64).abs() > 0.0) {
            causes.push(format!(
                "Harbor counts {}, here are {episodes}",
                counted(trials.max(0.0) as u64, "trial")
            ));
        }
        Ok((!causes.is_empty()).then(|| {
            format!(
                "Harbor reports a mean reward of {harbor:.3}, the score here is {score:.1} of 100: {}.",
                causes.join("; ")
            )
        }))
    }
}

/// What it means that the declared number of turns is unknown for so many of `all` episodes of a run of this format without a score.
fn undeclared_turns(undeclared: usize, all: &str, format: &str) -> String {
    let hint = way_out(format);
    format!("The declared number of turns is unknown for {undeclared} of {all}{hint}, and so is the score.")
}

/// The note on the network of a run of tasks that Stamina Lab played.
fn network_note(run: &Run) -> Option<String> {
    let is_own = run.runner.as_ref().is_some_and(|(name, _)| name == "Stamina Lab");
    let network = run.settings.get("limits.network").and_then(|network| network.as_str());
    (is_own && run.benchmark.is_of_tasks() && network == Some("gateway")).then(|| {
        "Its tasks were played without the internet (limits.network=gateway); published results of such tasks had it."
            .to_owned()
    })
}

/// Which episodes of a run another one has too, and where they count.
fn shared_caveat(shared: &SharedEpisodes) -> String {
    let (subject, clause) = match shared.episodes {
        1 => ("1 trial is".to_owned(), "it counts"),
        n => (format!("{n} trials are"), "they count"),
    };
    let place = match shared.counted_there {
        0 => "here".to_owned(),
        count if count == shared.episodes => "there".to_owned(),
        count => format!("{count} of them there"),
    };
    let mark = withdrawn(shared.withdrawn.as_deref());
    let mark = mark.map(|mark| format!(", which is {mark}")).unwrap_or_default();
    format!(
        "{subject} also in {} (source {}){mark}. Where runs are taken together {clause} once, {place}.",
        shared.run, shared.source
    )
}

/// How much rests on ends that count as the agent's only because nothing proves another cause.
fn not_recognized(record: &RunRecord, episodes: &[EpisodeEntry], policy: &CensoringPolicy) -> Option<String> {
    let trials = in_scenarios(record, episodes, &observations(episodes, policy));
    let summary = record.entry.summary.as_ref();
    sensitivity_line(
        &episodes.iter().collect::<Vec<_>>(),
        &trials,
        summary.and_then(|summary| summary.stamina.tau),
        summary.is_some_and(|summary| summary.pass_rate.is_some()),
        policy,
    )
}

/// Whether a version such as `0.13.1` is older than (major, minor). What is no version is not.
fn older_than(version: &str, than: (u32, u32)) -> bool {
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < than,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{older_than, undeclared_turns};

    /// "The score may be too high" was said where no turn was seen, and no score was known.
    #[test]
    fn a_score_that_is_unknown_is_not_said_to_be_too_high() {
        let unknown = "The declared number of turns is unknown for 3 of 3 episodes";
        let caveat = |format: &str| undeclared_turns(3, "3 episodes", format);
        assert_eq!(caveat("evocode"), format!("{unknown}, and so is the score."));
        assert_eq!(
            caveat("table"),
            format!("{unknown} (give the column planned_turns), and so is the score.")
        );
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(older_than("0.5.0", (0, 24)) && older_than("0.13.1", (0, 24)));
        assert!(!older_than("0.24.0", (0, 24)) && !older_than("1.0", (0, 24)) && !older_than("dev", (0, 24)));
    }
}
