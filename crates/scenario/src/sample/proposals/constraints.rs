//! Rules of fields: bounds, null, defaults, uniqueness.

use super::Scene;
use crate::change::uses::{self, Use};
use crate::change::{ConstraintChange, ConstraintKind};
use crate::check::{can_be_unique, can_sort, values::fits};
use crate::draw::Draw;
use crate::ir::{Effect, Entity, Field, Kind, Operand, Schema};
use crate::sample::fields::{is_created, value};
use crate::sample::names::word;
use crate::vocabulary::ValueDomain;

pub(super) fn propose(kind: ConstraintKind, draw: &mut Draw, scene: Scene<'_>) -> Option<ConstraintChange> {
    let schema = scene.schema;
    let plain = |field: &Field| field.is_writable() && field.target().is_none();
    let (home, chosen) = match kind {
        ConstraintKind::Tighten => scene.field(draw, |home, field| {
            plain(field) && has_bounds(&field.kind) && !is_written_to(schema, home, field)
        }),
        ConstraintKind::Loosen => {
            scene.field(draw, |home, field| plain(field) && is_bound(&field.kind) && !is_judged(home, field))
        }
        ConstraintKind::Require => scene.field(draw, |home, field| {
            field.is_writable()
                && !field.required
                && !is_created(schema, &home.key)
                && field.target().is_none()
        }),
        ConstraintKind::MakeOptional => scene.field(draw, |_, field| field.required),
        ConstraintKind::AllowNull => scene
            .field(draw, |home, field| plain(field) && !field.nullable && !needs_values(schema, home, field)),
        ConstraintKind::ForbidNull => scene
            .field(draw, |home, field| plain(field) && field.nullable && !is_cleared(schema, home, field)),
        ConstraintKind::ChangeDefault => {
            scene.field(draw, |_, field| plain(field) && !field.required && !field.unique)
        }
        ConstraintKind::MakeUnique => scene.field(draw, |home, field| {
            plain(field) && !field.unique && field.default.is_none() && is_identifying(schema, home, field)
        }),
        ConstraintKind::DropUnique => scene.field(draw, |_, field| field.unique),
        ConstraintKind::MakeImmutable => {
            scene.field(draw, |home, field| field.is_writable() && !field.immutable && !is_set(home, field))
        }
        ConstraintKind::MakeMutable => scene.field(draw, |_, field| field.immutable),
    }?;
    let (entity, field) = (home.key.clone(), chosen.key.clone());
    Some(match kind {
        ConstraintKind::Tighten => {
            ConstraintChange::Tighten { entity, field, kind: narrower_kind(draw, schema, chosen)? }
        }
        ConstraintKind::Loosen => {
            ConstraintChange::Loosen { entity, field, kind: looser(draw, &chosen.kind)? }
        }
        ConstraintKind::Require => ConstraintChange::Require { entity, field },
        ConstraintKind::MakeOptional => {
            let default = if chosen.unique || (chosen.nullable && draw.chance(50)) {
                None
            } else {
                value(draw, &chosen.kind)
            };
            if default.is_none() && !chosen.nullable {
                return None;
            }
            ConstraintChange::MakeOptional { entity, field, default }
        }
        ConstraintKind::AllowNull => ConstraintChange::AllowNull { entity, field },
        ConstraintKind::ForbidNull => {
            let default = if chosen.required || chosen.default.is_some() {
                None
            } else if chosen.unique {
                return None;
            } else {
                Some(value(draw, &chosen.kind)?)
            };
            ConstraintChange::ForbidNull { entity, field, default }
        }
        ConstraintKind::ChangeDefault => {
            let default = if chosen.nullable && chosen.default.is_some() && draw.chance(25) {
                None
            } else {
                Some(value(draw, &chosen.kind)?)
            };
            if default == chosen.default {
                return None;
            }
            ConstraintChange::ChangeDefault { entity, field, default }
        }
        ConstraintKind::MakeUnique => ConstraintChange::MakeUnique { entity, field },
        ConstraintKind::DropUnique => ConstraintChange::DropUnique { entity, field },
        ConstraintKind::MakeImmutable => ConstraintChange::MakeImmutable { entity, field },
        ConstraintKind::MakeMutable => ConstraintChange::MakeMutable { entity, field },
    })
}

fn has_bounds(kind: &Kind) -> bool {
    matches!(kind, Kind::String { .. } | Kind::Integer { .. } | Kind::Number { .. } | Kind::StringList { .. })
}

/// Whether a kind has a bound or pattern that can be given up.
fn is_bound(kind: &Kind) -> bool {
    match kind {
        Kind::String { min_length, max_length, pattern } => {
            min_length.is_some() || max_length.is_some() || pattern.is_some()
        }
        Kind::Integer { min, max } => min.is_some() || max.is_some(),
        Kind::Number { min, max } => min.is_some() || max.is_some(),
        Kind::StringList { min_items, max_items } => min_items.is_some() || max_items.is_some(),
        _ => false,
    }
}

/// A plausible narrower kind, which keeps the default.
fn narrower_kind(draw: &mut Draw, schema: &Schema, field: &Field) -> Option<Kind> {
    let word = word(schema, field).map(|word| &word.domain);
    let kind = match &field.kind {
        Kind::String { min_length: None, max_length: None, pattern: None } => match word {
            Some(ValueDomain::Pattern(form)) => {
                Kind::String { min_length: None, max_length: None, pattern: Some(*form) }
            }
            Some(ValueDomain::Text(Some((_, most)))) => {
                Kind::String { min_length: None, max_length: Some(*most), pattern: None }
            }
            _ => Kind::String { min_length: None, max_length: Some(200), pattern: None },
        },
        Kind::String { min_length, max_length, pattern: None } => {
            let shorter = max_length.map_or(120, |most| most * 2 / 3);
            let longer = min_length.map_or(2, |least| least + 1);
            if draw.chance(70) && shorter >= 12 {
                Kind::String { min_length: *min_length, max_length: Some(shorter), pattern: None }
            } else if longer <= 5 && max_length.is_none_or(|most| most >= longer + 5) {
                Kind::String { min_length: Some(longer), max_length: *max_length, pattern: None }
            } else {
                return None;
            }
        }
        Kind::Integer { min, max } => {
            let (least, most) = match word {
                Some(ValueDomain::Integer(least, most)) => (*least, *most),
                _ => (min.unwrap_or(0), max.unwrap_or(1000)),
            };
            match (min, max) {
                (None, max) if max.is_none_or(|max| max > least + 5) => {
                    Kind::Integer { min: Some(least), max: *max }
                }
                (min, None) if min.is_none_or(|min| min + 5 < most) => {
                    Kind::Integer { min: *min, max: Some(most) }
                }
                (Some(min), Some(max)) if max - min >= 8 => {
                    if draw.chance(65) {
                        Kind::Integer { min: Some(*min), max: Some(max - (max - min) / 4) }
                    } else {
                        Kind::Integer { min: Some(min + ((max - min) / 10).max(1)), max: Some(*max) }
                    }
                }
                _ => return None,
            }
        }
        Kind::Number { min, max } => {
            let (least, most) = match word {
                Some(ValueDomain::Number(least, most)) => (*least, *most),
                _ => (min.unwrap_or(0.0), max.unwrap_or(1000.0)),
            };
            match (min, max) {
                (None, max) if max.is_none_or(|max| max > least + 5.0) => {
                    Kind::Number { min: Some(least), max: *max }
                }
                (min, None) if min.is_none_or(|min| min + 5.0 < most) => {
                    Kind::Number { min: *min, max: Some(most) }
                }
                (Some(min), Some(max)) if max - min >= 8.0 => {
                    if draw.chance(65) {
                        Kind::Number { min: Some(*min), max: Some(max - ((max - min) / 4.0).floor()) }
                    } else {
                        Kind::Number {
                            min: Some(min + ((max - min) / 10.0).floor().max(1.0)),
                            max: Some(*max),
                        }
                    }
                }
                _ => return None,
            }
        }
        Kind::StringList { min_items, max_items } => match max_items {
            None => {
                Kind::StringList { min_items: *min_items, max_items: Some(draw.number_between(5, 10) as u32) }
            }
            Some(most) if *most >= 4 && draw.chance(60) => Kind::StringList {
                min_items: *min_items,
                max_items: Some(most - draw.number_between(1, 2) as u32),
            },
            Some(most) if min_items.unwrap_or(0) + 2 <= *most => {
                Kind::StringList { min_items: Some(min_items.unwrap_or(0) + 1), max_items: *max_items }
            }
            Some(_) => return None,
        },
        _ => return None,
    };
    let keeps_default = field.default.as_ref().is_none_or(|default| fits(&kind, default));
    let keeps_unique = !field.unique || can_be_unique(&kind);
    (keeps_default && keeps_unique).then_some(kind)
}

/// A plausible wider kind.
fn looser(draw: &mut Draw, kind: &Kind) -> Option<Kind> {
    let drops = draw.chance(30);
    Some(match kind {
        Kind::String { pattern: Some(_), .. } => {
            Kind::String { min_length: None, max_length: None, pattern: None }
        }
        Kind::String { min_length: Some(least), max_length, pattern } if drops || max_length.is_none() => {
            let less = if *least > 2 { Some(least - 1) } else { None };
            Kind::String { min_length: less, max_length: *max_length, pattern: *pattern }
        }
        Kind::String { min_length, max_length: Some(most), pattern } => Kind::String {
            min_length: *min_length,
            max_length: if drops || *most >= 200 { None } else { Some((most * 3 / 2).clamp(most + 1, 200)) },
            pattern: *pattern,
        },
        Kind::Integer { min, max: Some(max) } if !drops || min.is_none() => {
            let more = max + ((max - min.unwrap_or(0)) / 2).max(1);
            Kind::Integer { min: *min, max: (more <= 900_000).then_some(more) }
        }
        Kind::Integer { min: Some(_), max } => Kind::Integer { min: None, max: *max },
        Kind::Number { min, max: Some(max) } if !drops || min.is_none() => {
            let more = max + ((max - min.unwrap_or(0.0)) / 2.0).floor().max(1.0);
            Kind::Number { min: *min, max: (more <= 900_000.0).then_some(more) }
        }
        Kind::Number { min: Some(_), max } => Kind::Number { min: None, max: *max },
        Kind::StringList { min_items: Some(_), max_items } if drops || max_items.is_none() => {
            Kind::StringList { min_items: None, max_items: *max_items }
        }
        Kind::StringList { min_items, max_items: Some(most) } => Kind::StringList {
            min_items: *min_items,
            max_items: Some(most + draw.number_between(1, 4) as u32),
        },
        _ => return None,
    })
}

/// Whether an action writes a field.
fn is_set(home: &Entity, field: &Field) -> bool {
    home.actions.iter().flat_map(|action| &action.effects).any(|effect| {
        matches!(effect, Effect::Set { field: set, .. } | Effect::Increment { field: set, .. } if *set == field.key)
    })
}

/// Whether an action writes a field, here or in a record that it creates: narrower bounds would make it fail.
fn is_written_to(schema: &Schema, home: &Entity, field: &Field) -> bool {
    is_set(home, field)
        || schema.entities.iter().flat_map(|entity| &entity.actions).flat_map(|action| &action.effects).any(
            |effect| {
                matches!(effect, Effect::Create { entity, values, .. }
                    if *entity == home.key && values.iter().any(|value| value.field == field.key))
            },
        )
}

/// Whether records that actions create take a field's value over: it could get too wide for where it goes.
fn is_judged(home: &Entity, field: &Field) -> bool {
    home.actions.iter().flat_map(|action| &action.effects).any(|effect| {
        matches!(effect, Effect::Create { values, .. }
            if values.iter().any(|value| matches!(&value.from, Operand::Own(key) if *key == field.key)))
    })
}

/// Whether a field is needed as one that is always set.
fn needs_values(schema: &Schema, home: &Entity, field: &Field) -> bool {
    (can_sort(field) && home.sorts.contains(&field.key))
        || uses::field_uses(schema, &home.key, &field.key).iter().any(|needs| match needs {
            Use::Computed(..) | Use::DefaultSort => true,
            Use::Effect(..) => is_set(home, field) || is_judged(home, field),
            _ => false,
        })
}

/// Whether a guard asks if a field is null, or an action makes it null.
fn is_cleared(schema: &Schema, home: &Entity, field: &Field) -> bool {
    uses::field_uses(schema, &home.key, &field.key)
        .iter()
        .any(|needs| matches!(needs, Use::Guard(..) | Use::Effect(..)))
}

/// Whether it is plausible that no two records share a value.
fn is_identifying(schema: &Schema, home: &Entity, field: &Field) -> bool {
    let plausible = match &field.kind {
        Kind::String { pattern: Some(_), .. } => true,
        Kind::String { max_length, .. } => {
            max_length.is_none_or(|most| most >= 20)
                && ["title", "label", "name", "alias", "slug"].iter().any(|word| field.key.contains(word))
        }
        Kind::Integer { min, max } => {
            max.unwrap_or(1_000_000) - min.unwrap_or(0) >= 500 && field.key.contains("number")
        }
        _ => false,
    };
    plausible && !is_written_to(schema, home, field) && !(field.required && is_created(schema, &home.key))
}
