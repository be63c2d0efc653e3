//! Whole entities.

use super::Scene;
use crate::change::{EntityChange, EntityKind};
use crate::draw::Draw;
use crate::ir::{Effect, Entity, Schema};
use crate::sample::entities;

pub(super) fn propose(kind: EntityKind, draw: &mut Draw, scene: Scene<'_>) -> Option<EntityChange> {
    let Scene { schema, touched } = scene;
    match kind {
        EntityKind::AddEntity => entities::new(draw, schema).map(|entity| EntityChange::AddEntity { entity }),
        EntityKind::SetSoftDelete => scene.search(draw, |_, entity| {
            (!touched.has_in(&entity.key, "soft_delete"))
                .then(|| EntityChange::SetSoftDelete { entity: entity.key.clone(), on: !entity.soft_delete })
        }),
        _ => {
            let untouched: Vec<&Entity> =
                schema.entities.iter().filter(|entity| !touched.has_any_in(&entity.key)).collect();
            if kind == EntityKind::RenameEntity {
                let entity = *draw.pick(&untouched)?;
                let (name, plural) = entities::other_name(draw, schema, entity)?;
                return Some(EntityChange::RenameEntity { entity: entity.key.clone(), name, plural });
            }
            // What has been there for a while and little depends on goes before what others need.
            let weights: Vec<u32> = untouched
                .iter()
                .map(|entity| {
                    let age = schema.turn.saturating_sub(entity.introduced_in);
                    if age < 5 || is_only_effect(schema, &entity.key) {
                        return 0;
                    }
                    match schema.references_to(&entity.key).count() {
                        0 => 8,
                        1 => 4,
                        2 => 1,
                        _ => 0,
                    }
                })
                .collect();
            let entity = untouched.get(draw.weighted_index(&weights)?)?;
            Some(EntityChange::RemoveEntity { entity: entity.key.clone() })
        }
    }
}

/// Whether some action elsewhere does nothing but create records of an entity.
fn is_only_effect(schema: &Schema, key: &str) -> bool {
    schema.entities.iter().filter(|entity| entity.key != key).flat_map(|entity| &entity.actions).any(
        |action| {
            action
                .effects
                .iter()
                .all(|effect| matches!(effect, Effect::Create { entity, .. } if entity == key))
        },
    )
}
