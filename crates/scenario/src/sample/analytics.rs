//! New analytics, with names composed of what they compute.

use serde_json::json;

use super::fields::is_quantity;
use super::names::{is_free, joined};
use crate::draw::Draw;
use crate::ir::{Analytic, Entity, Field, Kind, Measure, RecordRestriction, Schema};

/// Words of names that say nothing about what is computed, so that it may change.
const NEUTRAL_WORDS: [&str; 7] =
    ["overview", "figures", "summary", "statistics", "report", "digest", "outline"];

/// A new analytic; nothing if no name is free.
pub(super) fn new(draw: &mut Draw, schema: &Schema) -> Option<Analytic> {
    let entity = draw.pick(&schema.entities)?;
    let measure = measure(draw, entity, None)?;
    let group_by = if draw.chance(60) { group(draw, entity) } else { None };
    let only = if draw.chance(35) { restriction(draw, schema, entity, group_by.as_deref()) } else { None };
    let group_field = if draw.chance(30) { pick_by(draw, entity, group_by.as_deref()) } else { None };
    let mut analytic = Analytic {
        key: String::new(),
        name: String::new(),
        entity: entity.key.clone(),
        measure,
        group_by,
        only,
        by: group_field,
        introduced_in: schema.turn,
    };
    let mut names = if draw.chance(50) {
        neutral_names(draw, entity, &analytic)
    } else {
        telling_names(entity, &analytic, 0)
    };
    names.extend(telling_names(entity, &analytic, 0));
    let name = names.into_iter().find(|name| is_free(schema, name))?;
    analytic.key.clone_from(&name);
    analytic.name = name;
    Some(analytic)
}

fn neutral_names(draw: &mut Draw, entity: &Entity, analytic: &Analytic) -> Vec<String> {
    let mut words = NEUTRAL_WORDS;
    draw.shuffle(&mut words);
    let subject = match analytic.measure.field() {
        Some(field) => joined(&entity.name, field),
        None => entity.name.clone(),
    };
    words.iter().map(|word| joined(&subject, word)).filter(|name| *name != subject).collect()
}

/// `average_weight_by_carrier`; in the other `way`, `mean_weight_per_carrier`.
fn telling_names(entity: &Entity, analytic: &Analytic, way: usize) -> Vec<String> {
    let measured = |words: [&str; 2]| words.get(way).copied().unwrap_or(words[0]).to_owned();
    let subject = match &analytic.measure {
        Measure::Count => vec![format!("{}_{}", measured(["number_of", "count_of"]), entity.plural)],
        Measure::Sum(field) => names_with_field(&measured(["total", "combined"]), entity, field),
        Measure::Average(field) => names_with_field(&measured(["average", "mean"]), entity, field),
        Measure::Min(field) => names_with_field(&measured(["lowest", "least"]), entity, field),
        Measure::Max(field) => names_with_field(&measured(["highest", "greatest"]), entity, field),
    };
    let tail = match (&analytic.group_by, &analytic.only) {
        (Some(group), _) => vec![format!("_{}_{group}", if way == 0 { "by" } else { "per" })],
        (None, Some(only)) => match only.equals.as_str() {
            Some(value) => vec![format!("_if_{value}"), format!("_if_{}_{value}", only.field)],
            None => vec![format!("_with_{}", only.field)],
        },
        (None, None) if way == 0 => vec![String::new(), "_overall".to_owned()],
        (None, None) => vec!["_overall".to_owned()],
    };
    let mut names = Vec::new();
    for tail in &tail {
        names.extend(subject.iter().map(|subject| format!("{subject}{tail}")));
    }
    names
}

fn names_with_field(word: &str, entity: &Entity, field: &str) -> Vec<String> {
    vec![joined(word, field), joined(word, &joined(&entity.name, field))]
}

/// What can be measured, other than this.
pub(super) fn measure(draw: &mut Draw, entity: &Entity, not: Option<&Measure>) -> Option<Measure> {
    let mut all = vec![Measure::Count];
    for field in entity.fields.iter().filter(|field| field.is_writable() && field.is_numeric()) {
        let key = || field.key.clone();
        // A sum of large numbers is no number that tests can hold.
        if is_summable(field) && is_quantity(field) {
            all.extend([Measure::Sum(key()), Measure::Sum(key())]);
        }
        all.extend([
            Measure::Average(key()),
            Measure::Average(key()),
            Measure::Min(key()),
            Measure::Max(key()),
        ]);
    }
    all.retain(|measure| Some(measure) != not);
    draw.pick(&all).cloned()
}

fn is_summable(field: &Field) -> bool {
    match field.kind {
        Kind::Integer { max, .. } => max.is_none_or(|max| max <= 100_000),
        Kind::Number { max, .. } => max.is_none_or(|max| max <= 100_000.0),
        _ => false,
    }
}

/// A field to group by.
pub(super) fn group(draw: &mut Draw, entity: &Entity) -> Option<String> {
    let mut all: Vec<&String> = Vec::new();
    for field in entity.fields.iter().filter(|field| field.is_writable()) {
        let weight = match field.kind {
            Kind::Enum { .. } | Kind::Reference { .. } => 3,
            Kind::Boolean => 2,
            Kind::String { pattern: None, .. } if !field.unique => 1,
            _ => 0,
        };
        all.extend((0..weight).map(|_| &field.key));
    }
    draw.pick(&all).map(|key| (*key).clone())
}

/// A restriction to some records, other than by the field that groups them.
pub(super) fn restriction(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    group_by: Option<&str>,
) -> Option<RecordRestriction> {
    let judged =
        |field: &&Field| field.is_writable() && matches!(field.kind, Kind::Enum { .. } | Kind::Boolean);
    let mut all: Vec<(Option<&Field>, &Field)> = entity
        .fields
        .iter()
        .filter(judged)
        .filter(|field| Some(field.key.as_str()) != group_by)
        .map(|field| (None, field))
        .collect();
    for reference in &entity.fields {
        if let Some(target) = reference.target().and_then(|key| schema.entity(key)) {
            all.extend(target.fields.iter().filter(judged).map(|field| (Some(reference), field)));
        }
    }
    let (through, field) = *draw.pick(&all)?;
    let equals = match &field.kind {
        Kind::Enum { values } => json!(draw.pick(values)?),
        _ => json!(draw.chance(65)),
    };
    Some(RecordRestriction {
        through: through.map(|field| field.key.clone()),
        field: field.key.clone(),
        equals,
    })
}

/// A reference whose name is a query parameter.
pub(super) fn pick_by(draw: &mut Draw, entity: &Entity, not: Option<&str>) -> Option<String> {
    let all: Vec<&Field> = entity
        .fields
        .iter()
        .filter(|field| field.target().is_some() && Some(field.key.as_str()) != not)
        .collect();
    draw.pick(&all).map(|field| field.key.clone())
}

/// Another name for an analytic; nothing if it had one already.
pub(super) fn other_name(draw: &mut Draw, schema: &Schema, analytic: &Analytic) -> Option<String> {
    if analytic.name != analytic.key {
        return None;
    }
    let entity = schema.entity(&analytic.entity)?;
    let names = if super::names::is_neutral(analytic) {
        neutral_names(draw, entity, analytic)
    } else {
        telling_names(entity, analytic, 1)
    };
    names.into_iter().find(|name| is_free(schema, name))
}
