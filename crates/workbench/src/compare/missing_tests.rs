//! Why there is no log-rank test over all members.

use std::collections::{BTreeMap, BTreeSet};

use analysis::clusters::InScenario;
use analysis::survival::Observation;

use super::pair_tests::in_common;
use crate::api::Comparison;

/// Why there is no log-rank test over all members, plain and stratified, where there is none. `groups` are the episodes
/// of the members.
pub(super) fn missing_test_reasons(
    data: &Comparison,
    groups: &[&[InScenario]],
) -> (Option<String>, Option<String>) {
    let one_turn = data.of_one_turn;
    let at_once = if one_turn { "every trial that is scored failed" } else { ALL_AT_ONCE };
    let common: Vec<String> = data.overlaps.iter().map(|overlap| in_common(data, *overlap)).collect();
    let empty: Vec<&str> =
        data.members.iter().filter(|m| m.stamina.n == 0).map(|m| m.name.as_str()).collect();
    let shared_reason = if data.members.len() < 2 {
        Some("there is only one member".to_owned())
    } else if !common.is_empty() {
        Some(format!("members have runs in common ({})", common.join("; ")))
    } else if !empty.is_empty() {
        Some(format!("no episodes: {}", empty.join(", ")))
    } else if data.members.iter().all(|member| member.stamina.events == 0) {
        Some(if one_turn { "no trial failed" } else { "no episode failed" }.to_owned())
    } else {
        None
    };
    let variation = Variation::over_all(groups);
    let plain = shared_reason.clone().unwrap_or_else(|| {
        match variation {
            Variation::AtOnce => at_once,
            Variation::Apart | Variation::NoFailure => {
                "whenever an episode failed, no other member had one that was still alive"
            }
            // A test that is clustered needs more scenarios with a score than it has degrees of freedom.
            Variation::Varies if data.overall_clustered && one_turn => {
                "too few tasks for a test that is clustered by task"
            }
            Variation::Varies if data.overall_clustered => {
                "too few scenarios for a test that is clustered by scenario"
            }
            Variation::Varies => "it is not defined",
        }
        .to_owned()
    });
    let stratified = shared_reason.unwrap_or_else(|| {
        match data.shared_scenarios {
            0 if one_turn => "no task was played by all members",
            0 => "no scenario was played by all members",
            1 if one_turn => "only one task was played by all members",
            1 => "only one scenario was played by all members",
            _ if variation == Variation::AtOnce => at_once,
            _ => within_scenarios(groups),
        }
        .to_owned()
    });
    (data.overall.is_none().then_some(plain), data.overall_stratified.is_none().then_some(stratified))
}

/// Said where the first failure ended all episodes that were still at risk.
const ALL_AT_ONCE: &str = "all episodes that were still alive failed at the same turn";

/// Why nothing varies within the scenarios.
fn within_scenarios(groups: &[&[InScenario]]) -> &'static str {
    let mut strata: BTreeMap<_, Vec<(usize, Observation)>> = BTreeMap::new();
    for (member, episodes) in groups.iter().enumerate() {
        for episode in *episodes {
            strata.entry(episode.scenario_and_part()).or_default().push((member, episode.observation));
        }
    }
    let each: Vec<Variation> = strata.values().map(|episodes| Variation::new(episodes)).collect();
    match (each.contains(&Variation::AtOnce), each.contains(&Variation::Apart)) {
        (true, false) => "in each scenario, all episodes that were still alive failed at the same turn",
        (true, true) => {
            "in each scenario, all episodes that were still alive failed at the same turn, or were of one member"
        }
        (false, _) => {
            "whenever an episode failed, no other member had one of the same scenario that was still alive"
        }
    }
}

/// Whether failures tell members apart. Episodes at risk at a turn were at risk at all turns before, so the first turn
/// with a failure decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variation {
    /// No episode failed.
    NoFailure,
    /// At the first failure, only one member had episodes at risk.
    Apart,
    /// At the first failure, several members had episodes at risk, and all of these failed.
    AtOnce,
    /// At the first failure, several members had episodes at risk, and some of these did not fail.
    Varies,
}

impl Variation {
    /// Of the episodes of all members.
    fn over_all(groups: &[&[InScenario]]) -> Self {
        let episodes: Vec<(usize, Observation)> = groups
            .iter()
            .enumerate()
            .flat_map(|(member, episodes)| episodes.iter().map(move |e| (member, e.observation)))
            .collect();
        Self::new(&episodes)
    }

    /// Of episodes, each with its member.
    fn new(episodes: &[(usize, Observation)]) -> Self {
        let Some(first) = episodes.iter().filter_map(|(_, episode)| episode.failed_turn()).min() else {
            return Self::NoFailure;
        };
        let at_risk = || episodes.iter().filter(|(_, episode)| episode.last_at_risk() >= first);
        let members: BTreeSet<usize> = at_risk().map(|(member, _)| *member).collect();
        if members.len() < 2 {
            Self::Apart
        } else if at_risk().all(|(_, episode)| episode.failed_turn() == Some(first)) {
            Self::AtOnce
        } else {
            Self::Varies
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_decides_whether_failures_tell_members_apart() {
        let failed = Observation::failed_at;
        let censored = Observation::censored_after;
        for (episodes, variation) in [
            (vec![(0, censored(3)), (1, censored(2))], Variation::NoFailure),
            (vec![(0, failed(3)), (1, censored(2))], Variation::Apart),
            (vec![(0, failed(3)), (1, failed(3)), (1, censored(2))], Variation::AtOnce),
            (vec![(0, failed(3)), (1, censored(3))], Variation::Varies),
            (vec![(0, failed(3)), (1, failed(4))], Variation::Varies),
            (vec![(0, failed(2)), (0, failed(3)), (1, failed(3))], Variation::Varies),
        ] {
            assert_eq!(Variation::new(&episodes), variation, "{episodes:?}");
        }
    }
}
