//! How long it takes until what failed passes, by group. Over every attempt: an attempt that ends a turn has none after it
//! that could repair it.

use std::collections::BTreeMap;

use analysis::failures::history::{PassVisibility, Repair as Stretch, repair_times};
use model::Median;

use super::found_failures::{FoundFailures, Grouping, PlacedEpisode};
use crate::api::{FailureGrouping, Repair, RepairGroup};

/// What began to fail in a group.
#[derive(Default)]
struct FailureStarts<'a> {
    simulated: bool,
    turns: Vec<&'a Stretch>,
    /// Of which a pass can be seen.
    tests: Vec<&'a Stretch>,
    /// Of the others: what nobody could see is unknown, and not a failure to repair.
    unseen_tests: u32,
}

impl<'a> FailureStarts<'a> {
    fn repair(&self) -> Repair {
        let turns = repair_times(self.turns.iter().copied());
        let tests = repair_times(self.tests.iter().copied());
        let is_known = tests.failed > 0 || self.unseen_tests == 0;
        let mut at_attempt: BTreeMap<u32, u32> = BTreeMap::new();
        for repair in self.turns.iter().filter(|repair| repair.repaired) {
            *at_attempt.entry(repair.attempt + repair.attempts).or_default() += 1;
        }
        Repair {
            failed_first: turns.failed,
            tried_again: self.turns.iter().filter(|repair| repair.attempts > 0).count() as u32,
            repaired: turns.repaired,
            median_attempts: turns.median_attempts,
            at_attempt: at_attempt.into_iter().collect(),
            stretches: tests.failed + self.unseen_tests,
            stretches_unknown: self.unseen_tests,
            stretches_repaired: is_known.then_some(tests.repaired),
            repaired_in_same_turn: is_known.then_some(tests.in_same_turn),
            median_turns: if is_known { tests.median_turns } else { Median::Unknown },
        }
    }

    fn take_test(&mut self, stretch: &'a Stretch, is_seen: bool) {
        if is_seen {
            self.tests.push(stretch);
        } else {
            self.unseen_tests += 1;
        }
    }
}

/// Of all, and of each group: every member, and of the others each in which something began to fail.
pub(super) fn by_group(found: &FoundFailures, grouping: &Grouping<'_>) -> (Repair, Vec<RepairGroup>) {
    let mut total = FailureStarts::default();
    let mut groups: BTreeMap<u32, FailureStarts<'_>> = BTreeMap::new();
    if grouping.kind == FailureGrouping::Member {
        for (i, pool) in (0..).zip(&found.pools) {
            groups.insert(i, FailureStarts { simulated: pool.simulated(), ..FailureStarts::default() });
        }
    }
    let hiding: Vec<Vec<bool>> =
        found.runs.iter().map(|runs| runs.iter().map(|run| run.hides_passes()).collect()).collect();
    // Where the source names failing tests only, the episodes in which all fail are chosen by their outcome: that no test of
    // theirs passed again says nothing.
    let is_seen = |placed_episode: &PlacedEpisode<'_>| match placed_episode.episode.passes {
        PassVisibility::Shown => true,
        PassVisibility::NonePassed => !hiding[placed_episode.member][placed_episode.run],
        PassVisibility::Hidden => false,
    };
    for placed_episode in found.episodes() {
        let place = |stretch: &Stretch| grouping.place(placed_episode, stretch.turn, stretch.attempt);
        for stretch in placed_episode.episode.turn_repairs.iter().filter(|s| s.attempt == 1) {
            total.turns.push(stretch);
            let group = groups.entry(place(stretch)).or_default();
            group.simulated |= placed_episode.simulated();
            group.turns.push(stretch);
        }
        for stretch in &placed_episode.episode.test_repairs {
            let is_seen = is_seen(&placed_episode) && !stretch.is_hidden;
            total.take_test(stretch, is_seen);
            let group = groups.entry(place(stretch)).or_default();
            group.simulated |= placed_episode.simulated();
            group.take_test(stretch, is_seen);
        }
    }
    let named = |(place, began): (&u32, &FailureStarts<'_>)| {
        let (key, label) = grouping.named(*place);
        RepairGroup { key, label, simulated: began.simulated, repair: began.repair() }
    };
    (total.repair(), groups.iter().map(named).collect())
}
