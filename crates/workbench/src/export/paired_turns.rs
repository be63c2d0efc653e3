//! How many turns count in a paired comparison.

use std::collections::HashSet;

use crate::api::Comparison;
use crate::compare::members::Pool;

/// The turns that count between the reference and another member, if an episode of either on their shared scenarios passed more
/// of them: their values are then no whole staminas. `None` = every turn counts, or nothing is paired.
pub(super) fn counted_turns(data: &Comparison, other: u32, pools: &[Pool]) -> Option<u32> {
    let pair = data.pairs.iter().find(|pair| (pair.a, pair.b) == (other, data.reference))?;
    let paired = pair.paired.as_ref().filter(|_| !data.of_one_turn)?;
    let shared: HashSet<&str> = paired.scenarios.iter().map(|row| row.scenario.as_str()).collect();
    let mut runs = [data.reference, other]
        .into_iter()
        .filter_map(|index| pools.get(index as usize))
        .flat_map(|pool| &pool.runs);
    let has_longer = runs.any(|run| {
        run.episodes.iter().any(|episode| {
            episode.stamina > paired.tau && shared.contains(&*run.scenario_name(&episode.scenario))
        })
    });
    has_longer.then_some(paired.tau)
}
