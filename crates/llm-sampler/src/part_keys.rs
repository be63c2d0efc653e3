//! New keys for new parts: the key is the first name, wherever the part is mentioned.

use std::collections::BTreeMap;

use scenario::ir::{Analytic, Computed, Condition, Effect, Entity, Field, Kind, Measure, Operand};

/// The new key of each old key. Other keys stay.
#[derive(Default)]
struct Keys {
    entities: BTreeMap<String, String>,
    /// Fields and actions, by (entity, part).
    parts: BTreeMap<(String, String), String>,
    /// The target of a reference, by (entity, field).
    targets: BTreeMap<(String, String), String>,
}

impl Keys {
    fn new(entities: &[Entity]) -> Self {
        let mut keys = Self::default();
        for entity in entities {
            let home = &entity.key;
            keys.entities.insert(home.clone(), entity.plural.clone());
            for field in &entity.fields {
                keys.parts.insert((home.clone(), field.key.clone()), part_key(field));
                if let Some(target) = field.target() {
                    keys.targets.insert((home.clone(), field.key.clone()), target.to_owned());
                }
            }
            for action in &entity.actions {
                keys.parts.insert((home.clone(), action.key.clone()), action.name.clone());
            }
        }
        keys
    }

    fn entity(&self, key: &mut String) {
        if let Some(new) = self.entities.get(key) {
            key.clone_from(new);
        }
    }

    fn part(&self, entity: &str, key: &mut String) {
        if let Some(new) = self.parts.get(&(entity.to_owned(), key.clone())) {
            key.clone_from(new);
        }
    }

    /// A field of what a reference of this entity refers to.
    fn referenced_field(&self, entity: &str, reference: &str, key: &mut String) {
        if let Some(target) = self.targets.get(&(entity.to_owned(), reference.to_owned())) {
            self.part(target, key);
        }
    }

    /// A reference field of another entity, and then that entity.
    fn foreign_reference(&self, entity: &mut String, reference: &mut String) {
        self.part(entity, reference);
        self.entity(entity);
    }

    fn operand(&self, entity: &str, operand: &mut Operand) {
        if let Operand::Own(field) = operand {
            self.part(entity, field);
        }
    }
}

/// The key of a new field: its name, of a reference without the ending that only says that it is one.
pub(crate) fn part_key(field: &Field) -> String {
    let name = field.name.as_str();
    let key = if field.target().is_some() { name.strip_suffix("_id").unwrap_or(name) } else { name };
    key.to_owned()
}

/// Gives entities (with their fields and actions) and analytics the keys that are their names, and follows every mention of
/// the old ones among them.
pub(crate) fn rekey(entities: &mut [Entity], analytics: &mut [Analytic]) {
    let keys = Keys::new(entities);
    for entity in entities {
        rekey_entity(&keys, entity);
    }
    for analytic in analytics {
        let home = analytic.entity.clone();
        match &mut analytic.measure {
            Measure::Count => {}
            Measure::Sum(field) | Measure::Average(field) | Measure::Min(field) | Measure::Max(field) => {
                keys.part(&home, field);
            }
        }
        if let Some(field) = &mut analytic.group_by {
            keys.part(&home, field);
        }
        if let Some(only) = &mut analytic.only {
            match &mut only.through {
                Some(reference) => {
                    keys.referenced_field(&home, reference, &mut only.field);
                    keys.part(&home, reference);
                }
                None => keys.part(&home, &mut only.field),
            }
        }
        if let Some(field) = &mut analytic.by {
            keys.part(&home, field);
        }
        keys.entity(&mut analytic.entity);
        analytic.key.clone_from(&analytic.name);
    }
}

fn rekey_entity(keys: &Keys, entity: &mut Entity) {
    let home = entity.key.clone();
    for field in &mut entity.fields {
        keys.part(&home, &mut field.key);
        if let Kind::Reference { entity, .. } = &mut field.kind {
            keys.entity(entity);
        }
        match &mut field.computed {
            None => {}
            Some(
                Computed::Joined { first: one, second: other, .. }
                | Computed::Product { left: one, right: other }
                | Computed::Sum { left: one, right: other },
            ) => {
                keys.part(&home, one);
                keys.part(&home, other);
            }
            Some(Computed::AtLeast { field, .. }) => keys.part(&home, field),
            Some(Computed::CountOf { entity, reference }) => keys.foreign_reference(entity, reference),
            Some(Computed::TotalOf { entity, reference, field }) => {
                keys.part(entity, field);
                keys.foreign_reference(entity, reference);
            }
        }
    }
    for filter in &mut entity.filters {
        keys.part(&home, &mut filter.field);
    }
    for sort in &mut entity.sorts {
        keys.part(&home, sort);
    }
    if let Some(sort) = &mut entity.default_sort {
        keys.part(&home, &mut sort.field);
    }
    for action in &mut entity.actions {
        keys.part(&home, &mut action.key);
        for guard in &mut action.guards {
            match &mut guard.condition {
                Condition::Field { field, .. } => keys.part(&home, field),
                Condition::Related { reference, field, .. } => {
                    keys.referenced_field(&home, reference, field);
                    keys.part(&home, reference);
                }
                Condition::HasAtLeast { entity, reference, .. }
                | Condition::HasNone { entity, reference } => {
                    keys.foreign_reference(entity, reference);
                }
            }
        }
        for effect in &mut action.effects {
            match effect {
                Effect::Set { field, to: operand } | Effect::Increment { field, by: operand } => {
                    keys.part(&home, field);
                    keys.operand(&home, operand);
                }
                Effect::Create { entity, reference, values } => {
                    for value in values {
                        keys.part(entity, &mut value.field);
                        keys.operand(&home, &mut value.from);
                    }
                    keys.foreign_reference(entity, reference);
                }
            }
        }
    }
    entity.key.clone_from(&entity.plural);
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Seed;
    use scenario::check::check;
    use scenario::sample::{ProgrammaticSampler, Sampler as _, note_names};

    #[test]
    fn every_mention_follows_a_new_name() {
        for scenario in 0..12 {
            let mut schema =
                ProgrammaticSampler.first_schema(Seed { base: 3, scenario }).expect("a schema").value;
            let drawn = schema.clone();
            rekey(&mut schema.entities, &mut schema.analytics);
            assert_eq!(schema, drawn, "what is new has its name for a key");

            let renamed = |name: &mut String| name.insert(0, 'x');
            for entity in &mut schema.entities {
                renamed(&mut entity.name);
                renamed(&mut entity.plural);
                entity.fields.iter_mut().for_each(|field| renamed(&mut field.name));
                entity.actions.iter_mut().for_each(|action| renamed(&mut action.name));
            }
            schema.analytics.iter_mut().for_each(|analytic| renamed(&mut analytic.name));
            rekey(&mut schema.entities, &mut schema.analytics);
            schema.used.clear();
            note_names(&mut schema);
            assert_eq!(check(&schema), []);
            assert!(schema.entities.iter().all(|entity| entity.key.starts_with('x')
                && entity.fields.iter().all(|field| field.key.starts_with('x'))));
        }
    }
}
