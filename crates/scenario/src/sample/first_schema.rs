//! The schema of turn 1.

use super::names::{Noun, new_nouns, note_names, targets};
use super::{actions, analytics, conventions, entities, fields};
use crate::Seed;
use crate::draw::Draw;
use crate::ir::{Entity, Field, SCHEMA_VERSION, Schema};
use crate::vocabulary::{Topic, topics};

/// The topic of a scenario: no two of the first scenarios of a pack have the same.
pub fn topic(seed: Seed) -> Option<&'static Topic> {
    let mut order: Vec<&Topic> = topics().iter().collect();
    Seed { base: seed.base, scenario: 0 }.draw(0, "topics").shuffle(&mut order);
    order.get(seed.scenario as usize % order.len().max(1)).copied()
}

/// A first schema, valid.
pub(super) fn first_schema(seed: Seed) -> Option<Schema> {
    let topic = topic(seed)?;
    let mut schema = Schema {
        version: SCHEMA_VERSION.to_owned(),
        title: topic.title.to_owned(),
        topic: topic.key.to_owned(),
        turn: 1,
        conventions: conventions::first(&mut seed.draw(1, "conventions")),
        entities: Vec::new(),
        analytics: Vec::new(),
        removed: Vec::new(),
        used: Vec::new(),
    };
    let mut draw = seed.draw(1, "entities");
    let count = draw.number_between(3, 4) as usize;
    for noun in core(&mut draw, &schema, count) {
        let fields = draw.number_between(5, 6) as usize;
        let entity = entities::with_noun(&mut draw, &schema, &noun, fields);
        schema.entities.push(entity);
    }
    references(&mut seed.draw(1, "references"), &mut schema);
    let mut draw = seed.draw(1, "actions");
    let wanted = draw.number_between(2, 3);
    let mut order: Vec<usize> = (0..schema.entities.len()).collect();
    draw.shuffle(&mut order);
    for index in order.iter().cycle().take(3 * wanted as usize) {
        if schema.entities.iter().map(|entity| entity.actions.len()).sum::<usize>() >= wanted as usize {
            break;
        }
        let action =
            schema.entities.get(*index).and_then(|entity| actions::action(&mut draw, &schema, entity));
        if let (Some(action), Some(entity)) = (action, schema.entities.get_mut(*index)) {
            entity.actions.push(action);
        }
    }
    let mut draw = seed.draw(1, "analytics");
    for _ in 0..8 {
        if schema.analytics.len() == 2 {
            break;
        }
        if let Some(analytic) = analytics::new(&mut draw, &schema)
            && schema.analytics.iter().all(|known| known.name != analytic.name)
        {
            schema.analytics.push(analytic);
        }
    }
    note_names(&mut schema);
    Some(schema)
}

/// Words that belong together: one that refers to others, those, and what refers to them; what is referred to first.
fn core(draw: &mut Draw, schema: &Schema, count: usize) -> Vec<Noun> {
    let mut pool = new_nouns(schema).0;
    pool.truncate(8);
    let mut chosen: Vec<Noun> = Vec::new();
    let hubs: Vec<usize> = (0..pool.len())
        .filter(|index| pool.get(*index).is_some_and(|noun| !noun.refers.is_empty()))
        .collect();
    let Some(hub) = draw.pick(&hubs).copied() else { return pool.into_iter().take(count).collect() };
    chosen.push(pool.remove(hub));
    while chosen.len() < count && !pool.is_empty() {
        let weights: Vec<u32> = pool
            .iter()
            .map(|noun| {
                let wanted = chosen.iter().any(|other| other.refers.contains(&noun.name.as_str()));
                let has_target =
                    noun.refers.iter().any(|target| chosen.iter().any(|other| other.name == *target));
                if wanted {
                    12
                } else if has_target {
                    6
                } else {
                    1
                }
            })
            .collect();
        let Some(index) = draw.weighted_index(&weights) else { break };
        chosen.push(pool.remove(index));
    }
    // In order: nothing refers to what comes after it. References of words form no cycle among so few, or are left out.
    let mut ordered: Vec<Noun> = Vec::new();
    while !chosen.is_empty() {
        let index = chosen
            .iter()
            .position(|noun| {
                noun.refers.iter().all(|target| chosen.iter().all(|other| other.name != *target))
            })
            .unwrap_or(0);
        ordered.push(chosen.remove(index));
    }
    ordered
}

/// Two to four references among the entities.
fn references(draw: &mut Draw, schema: &mut Schema) {
    let count = |schema: &Schema| {
        schema
            .entities
            .iter()
            .flat_map(|entity| &entity.fields)
            .filter(|field| field.target().is_some())
            .count()
    };
    for _ in 0..40 {
        if count(schema) >= 2 {
            break;
        }
        let index = draw.number_below(schema.entities.len());
        let small = schema.entities.get(index).filter(|entity| entity.fields.len() < 7);
        let field: Option<Field> = small.and_then(|entity| {
            let possible: Vec<&Entity> = targets(schema, &entity.key)
                .into_iter()
                .filter(|target| !entity.fields.iter().any(|field| field.target() == Some(&target.key)))
                .collect();
            let target = *draw.pick(&possible)?;
            fields::reference(draw, schema, entity, target, false)
        });
        if let (Some(field), Some(entity)) = (field, schema.entities.get_mut(index)) {
            entity.fields.push(field);
        }
    }
    // More than four: the last ones were not needed.
    let mut left = 4;
    for entity in &mut schema.entities {
        entity.fields.retain(|field| {
            if field.target().is_none() {
                return true;
            }
            left -= 1;
            left >= 0
        });
        let keys: Vec<String> = entity.fields.iter().map(|field| field.key.clone()).collect();
        entity.filters.retain(|filter| keys.contains(&filter.field));
    }
}
