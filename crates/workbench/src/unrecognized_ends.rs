//! How much rests on ends that count as the agent's only because nothing proves another cause.

use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::pass_rate::pass_rate;
use analysis::sensitivity::{EpisodeEnd, sensitivity};
use analysis::survival::Observation;
use model::{CensoringPolicy, Ending};
use store::EpisodeEntry;

use crate::episodes::{ending, episode_end};
use crate::stamina_for_hosts::stamina_of;

/// What mean stamina over `tau` turns (of runs of one turn: the pass rate) would be if no end whose cause is not recognized
/// were the agent's, with the interval that fits repeats of a scenario. `trials` are the `episodes` in their order. `None` = there is no
/// such end, or nobody knows τ.
pub(crate) fn sensitivity_line(
    episodes: &[&EpisodeEntry],
    trials: &[InScenario],
    tau: Option<u32>,
    is_single_turn: bool,
    policy: &CensoringPolicy,
) -> Option<String> {
    let count = episodes.iter().filter(|e| e.unrecognised && ending(e, policy) == Ending::Event).count();
    let tau = tau.filter(|_| count > 0)?;
    let all = episodes.len();
    let premise = format!(
        "The cause of {count} of {all} ends is not recognized; they count against the agent. If none of these were the agent's,"
    );
    let read: Vec<InScenario> = episodes
        .iter()
        .zip(trials)
        .map(|(episode, trial)| {
            let ending = if episode.unrecognised { Ending::Censored } else { trial.observation.ending };
            InScenario { observation: Observation { ending, ..trial.observation }, ..trial.clone() }
        })
        .collect();
    if is_single_turn {
        return Some(format!("{premise} the pass rate would be {}.", pass_rate(&read).in_words()));
    }
    let ends: Vec<EpisodeEnd> = episodes.iter().map(|episode| episode_end(episode)).collect();
    let summary = sensitivity(&ends, policy, tau).unrecognized_censored;
    let other = stamina_of(&summary, &read, || bootstrap_mean(&read, tau, Resampling::default()));
    let mean = other.mean.map_or_else(|| "unknown".to_owned(), |mean| format!("{mean:.2}"));
    let clustered = if other.clustered { " by scenario" } else { "" };
    let interval = other.ci_low.zip(other.ci_high).map_or_else(
        || "95 % CI n/a".to_owned(),
        |(low, high)| format!("95 % CI{clustered} {low:.2}–{high:.2}"),
    );
    Some(format!("{premise} mean stamina would be {mean} ({interval}, τ = {tau})."))
}
