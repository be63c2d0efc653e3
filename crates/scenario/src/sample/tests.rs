//! What the sampler makes.

use std::collections::BTreeMap;

use super::*;
use crate::check::check;

fn seed(scenario: u32) -> Seed {
    Seed { base: 0, scenario }
}

/// The schemas of the first turns of a scenario, and the changes that led to each.
fn scenario(scenario: u32, turns: u32) -> Vec<(Schema, Vec<Change>)> {
    let first = Programmatic.first(seed(scenario)).unwrap().made;
    let mut all = vec![(first, Vec::new())];
    for _ in 1..turns {
        let turn = Programmatic.turn(seed(scenario), &all.last().unwrap().0, 5).unwrap().made;
        all.push((turn.after, turn.changes));
    }
    all
}

#[test]
#[ignore = "prints what scenarios look like"]
fn stats() {
    let mut kinds: BTreeMap<ChangeKind, usize> = BTreeMap::new();
    for number in 0..6 {
        let start = std::time::Instant::now();
        let all = scenario(number, 100);
        let took = start.elapsed();
        for (turn, (schema, changes)) in all.iter().enumerate() {
            for change in changes {
                *kinds.entry(ChangeKind::of(change)).or_default() += 1;
            }
            let faults = check(schema);
            assert!(faults.is_empty(), "{number} {turn} {faults:?}");
            if [0, 19, 49, 79, 99].contains(&turn) {
                let fields: Vec<usize> = schema.entities.iter().map(|e| e.fields.len()).collect();
                println!(
                    "{number} {} turn {} size {} of {} entities {} fields {fields:?} actions {} analytics {} flask {}",
                    schema.topic,
                    turn + 1,
                    size(schema),
                    scheduled(schema.turn),
                    schema.entities.len(),
                    schema.entities.iter().map(|e| e.actions.len()).sum::<usize>(),
                    schema.analytics.len(),
                    if turn % 2 == 1 || turn == 0 { crate::code::flask(schema).lines().count() } else { 0 },
                );
            }
        }
        println!("{number}: {took:?}");
    }
    for kind in ChangeKind::ALL {
        println!("{kind:?} {}", kinds.get(&kind).copied().unwrap_or(0));
    }
}
