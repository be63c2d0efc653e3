//! How long it takes until what failed passes, by group. Over every attempt: an attempt that ends a turn has none after it
//! that could repair it.

use std::collections::BTreeMap;

use analysis::failures::history::{Repair as Stretch, repair_times};

use super::found::{Found, Grouping};
use crate::api::{FailureGrouping, Repair, RepairGroup};

/// What began to fail in a group.
#[derive(Default)]
struct Began<'a> {
    simulated: bool,
    turns: Vec<&'a Stretch>,
    tests: Vec<&'a Stretch>,
}

impl Began<'_> {
    fn repair(&self) -> Repair {
        let turns = repair_times(self.turns.iter().copied());
        let tests = repair_times(self.tests.iter().copied());
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
            stretches: tests.failed,
            stretches_repaired: tests.repaired,
            repaired_in_same_turn: tests.in_same_turn,
            median_turns: tests.median_turns,
        }
    }
}

/// Of all, and of each group: every member, and of the others each in which something began to fail.
pub(super) fn by_group(found: &Found, grouping: &Grouping<'_>) -> (Repair, Vec<RepairGroup>) {
    let mut total = Began::default();
    let mut groups: BTreeMap<u32, Began<'_>> = BTreeMap::new();
    if grouping.by == FailureGrouping::Member {
        for (i, pool) in (0..).zip(&found.pools) {
            groups.insert(i, Began { simulated: pool.simulated(), ..Began::default() });
        }
    }
    for of in found.episodes() {
        let place = |stretch: &Stretch| grouping.place(of, stretch.turn, stretch.attempt);
        for stretch in of.episode.turn_repairs.iter().filter(|s| s.attempt == 1) {
            total.turns.push(stretch);
            let group = groups.entry(place(stretch)).or_default();
            group.simulated |= of.simulated();
            group.turns.push(stretch);
        }
        for stretch in &of.episode.test_repairs {
            total.tests.push(stretch);
            let group = groups.entry(place(stretch)).or_default();
            group.simulated |= of.simulated();
            group.tests.push(stretch);
        }
    }
    let named = |(place, began): (&u32, &Began<'_>)| {
        let (key, label) = grouping.named(*place);
        RepairGroup { key, label, simulated: began.simulated, repair: began.repair() }
    };
    (total.repair(), groups.iter().map(named).collect())
}
