//! New entities, from words.

use super::actions;
use super::fields::{new_words, plain, reference};
use super::names::{Noun, child_nouns, is_free, new_nouns, noun};
use crate::draw::Draw;
use crate::ir::{Entity, Field, Filter, FilterOp, Kind, Schema, Sort};
use crate::vocabulary::vocabulary;

/// An entity that fits a schema and is not in it yet; nothing if no word is left.
pub(super) fn new(draw: &mut Draw, schema: &Schema) -> Option<Entity> {
    let noun = new_noun(draw, schema)?;
    let fields = draw.number_between(6, 8) as usize;
    let mut entity = with_noun(draw, schema, &noun, fields);
    for _ in 0..2 {
        if draw.chance(40)
            && let Some(action) = actions::action(draw, schema, &entity)
        {
            entity.actions.push(action);
        }
    }
    Some(entity)
}

/// The topic's own words come first and most; those that belong to another entity keep a scenario from running out.
fn new_noun(draw: &mut Draw, schema: &Schema) -> Option<Noun> {
    let (own_nouns, shared) = new_nouns(schema);
    let roll = draw.number_below(100);
    let pool = if roll < 62 && !own_nouns.is_empty() {
        own_nouns
    } else if roll < 90 && !shared.is_empty() {
        shared
    } else {
        // Not a child of a child: names stay short.
        let parents: Vec<&Entity> =
            schema.entities.iter().filter(|entity| entity.name.matches('_').count() < 2).collect();
        let children = draw.pick(&parents).map(|parent| child_nouns(schema, parent)).unwrap_or_default();
        if children.is_empty() { if own_nouns.is_empty() { shared } else { own_nouns } } else { children }
    };
    // Words that refer to what is there are more plausible than others.
    let weights: Vec<u32> = pool
        .iter()
        .map(|noun| {
            let present =
                noun.refers.iter().filter(|target| entity_from_word(schema, target).is_some()).count();
            2 + 6 * present.min(2) as u32
        })
        .collect();
    let index = draw.weighted_index(&weights)?;
    pool.into_iter().nth(index)
}

/// The entity of a schema that came from the word with this singular.
pub(super) fn entity_from_word<'a>(schema: &'a Schema, name: &str) -> Option<&'a Entity> {
    let words = vocabulary();
    let own_words = words.topic(&schema.topic).into_iter().flat_map(|topic| &topic.entities);
    let word = own_words.chain(&words.shared).find(|word| word.name == name)?;
    schema.entity(word.plural)
}

/// An entity of a word, with references to what the word typically refers to, filters and sorts, but no actions.
pub(super) fn with_noun(draw: &mut Draw, schema: &Schema, noun: &Noun, fields: usize) -> Entity {
    let mut entity = Entity {
        key: noun.plural.clone(),
        name: noun.name.clone(),
        plural: noun.plural.clone(),
        about: noun.about.clone(),
        fields: Vec::new(),
        soft_delete: draw.chance(20),
        filters: Vec::new(),
        sorts: Vec::new(),
        default_sort: None,
        actions: Vec::new(),
        introduced_in: schema.turn,
    };
    let mut targets: Vec<&Entity> = Vec::new();
    targets.extend(noun.parent.as_deref().and_then(|key| schema.entity(key)));
    for target_noun in &noun.refers {
        let target = if *target_noun == "*" {
            draw.pick(&schema.entities)
        } else {
            entity_from_word(schema, target_noun)
        };
        if let Some(target) = target
            && (targets.is_empty() || draw.chance(70))
        {
            targets.push(target);
        }
    }
    if targets.is_empty() && draw.chance(35) {
        targets.extend(draw.pick(&schema.entities));
    }
    for target in targets {
        if let Some(field) = reference(draw, schema, &entity, target, false) {
            entity.fields.push(field);
        }
    }
    let words = new_words(draw, schema, &entity);
    let mut wanted = fields.saturating_sub(entity.fields.len());
    for (index, word) in words.into_iter().enumerate() {
        if wanted == 0 {
            break;
        }
        // The most typical words are never left out, the others sometimes.
        if index < 2 || draw.chance(80) {
            entity.fields.push(plain(draw, word, schema.turn, false));
            wanted -= 1;
        }
    }
    lists(draw, &mut entity);
    entity
}

/// Filters, sorts and a default order for an entity that has none.
fn lists(draw: &mut Draw, entity: &mut Entity) {
    let count = draw.number_between(2, 3);
    for _ in 0..count {
        entity.filters.extend(new_filter(draw, entity));
    }
    let mut sorts: Vec<String> = entity
        .fields
        .iter()
        .filter(|field| crate::check::can_sort(field))
        .map(|field| field.key.clone())
        .collect();
    draw.shuffle(&mut sorts);
    sorts.truncate(draw.number_between(1, 2) as usize);
    if draw.chance(35)
        && let Some(field) = sorts.first().cloned()
    {
        entity.default_sort = Some(Sort { field, descending: draw.chance(40) });
    }
    entity.sorts = sorts;
}

/// A filter that an entity does not have yet.
pub(super) fn new_filter(draw: &mut Draw, entity: &Entity) -> Option<Filter> {
    let ops = |field: &Field| -> &[FilterOp] {
        match field.kind {
            Kind::String { pattern: None, .. } => &[FilterOp::Contains, FilterOp::Equals],
            Kind::Integer { .. } | Kind::Number { .. } => {
                &[FilterOp::AtLeast, FilterOp::AtMost, FilterOp::Equals]
            }
            Kind::DateTime => &[FilterOp::AtLeast, FilterOp::AtMost],
            Kind::StringList { .. } => &[],
            _ => &[FilterOp::Equals],
        }
    };
    let all: Vec<Filter> = entity
        .fields
        .iter()
        .filter(|field| field.is_writable())
        .flat_map(|field| ops(field).iter().map(|op| Filter { field: field.key.clone(), op: *op }))
        .filter(|filter| !entity.filters.contains(filter))
        .collect();
    draw.pick(&all).cloned()
}

/// Other words for an entity: (singular, plural); nothing if none is left.
pub(super) fn other_name(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<(String, String)> {
    let mut others = noun(schema, entity)?.others;
    draw.shuffle(&mut others);
    others.into_iter().find(|(singular, plural)| is_free(schema, singular) && is_free(schema, plural))
}
