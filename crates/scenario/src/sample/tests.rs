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

#[test]
#[ignore = "features"]
fn features() {
    for number in 0..12 {
        for (schema, _) in scenario(number, 100).iter().step_by(6) {
            let f: Vec<&crate::ir::Field> = schema.entities.iter().flat_map(|e| &e.fields).collect();
            let a: Vec<&crate::ir::Action> = schema.entities.iter().flat_map(|e| &e.actions).collect();
            use crate::ir::*;
            println!("CSV,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                crate::code::flask(schema).lines().count(),
                schema.entities.len(),
                f.iter().filter(|f| f.is_writable() && f.target().is_none()).count(),
                f.iter().filter(|f| f.target().is_some()).count(),
                f.iter().filter(|f| matches!(f.kind, Kind::Reference{nested:true,..})).count(),
                f.iter().filter(|f| f.computed.is_some()).count(),
                schema.entities.iter().map(|e| e.filters.len()).sum::<usize>(),
                schema.entities.iter().map(|e| e.sorts.len()).sum::<usize>(),
                a.len(),
                a.iter().map(|a| a.guards.len()).sum::<usize>(),
                a.iter().map(|a| a.effects.len()).sum::<usize>(),
                a.iter().map(|a| a.params.len()).sum::<usize>(),
                schema.analytics.len(),
                schema.entities.iter().filter(|e| e.soft_delete).count(),
                f.iter().filter(|f| f.unique).count());
        }
    }
}

#[test]
#[ignore = "refusals"]
fn refusals() {
    let mut nothing: BTreeMap<ChangeKind, usize> = BTreeMap::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (mut made, mut applies) = (0, 0);
    for number in 0..4 {
        let mut schema = Programmatic.first(seed(number)).unwrap().made;
        for _ in 1..100 {
            schema = next_turn(&schema);
            let mut touched = Touched::new();
            for index in 1..=5 {
                let mut draw = seed(number).draw(schema.turn, &format!("change {index}"));
                loop {
                    let kind = draw_kind(&mut draw, &schema, !touched.is_swept());
                    let Some(change) = propose(kind, &mut draw, &schema, &touched) else {
                        *nothing.entry(kind).or_default() += 1;
                        continue;
                    };
                    applies += 1;
                    match apply(&schema, &change) {
                        Err(refusal) => *refused.entry(format!("{kind:?} {}", refusal.reason.split('`').step_by(2).collect::<Vec<_>>().join("_"))).or_default() += 1,
                        Ok(after) => {
                            if touched.note(&schema, &change, &after) { schema = after; made += 1; break; }
                            *refused.entry(format!("{kind:?} touched")).or_default() += 1;
                        }
                    }
                }
            }
        }
    }
    println!("made {made} applies {applies}");
    println!("nothing {nothing:?}");
    let mut refused: Vec<_> = refused.into_iter().collect();
    refused.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (why, n) in refused.iter().take(40) { println!("{n} {why}"); }
}

#[test]
#[ignore = "reading"]
fn reading() {
    let number = std::env::var("N").map_or(7, |n| n.parse().unwrap());
    let all = scenario(number, 100);
    let mut before = all[0].0.clone();
    println!("{}", serde_json::to_string_pretty(&before).unwrap());
    for (schema, changes) in &all[1..] {
        println!("--- turn {}", schema.turn);
        let mut now = next_turn(&before);
        for change in changes {
            println!("{}", crate::text::summary(&now, change));
            now = apply(&now, change).unwrap();
        }
        before = schema.clone();
    }
    for entity in &before.entities {
        println!("{} ({}): {}", entity.plural, entity.about, entity.fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>().join(" "));
        for action in &entity.actions { println!("   {} {:?} -> {:?}", action.name, action.guards.iter().map(|g| &g.key).collect::<Vec<_>>(), action.effects); }
    }
    for a in &before.analytics { println!("{}", a.name); }
}
