//! The schemas of a scenario as YAML, one after the other.

use std::collections::HashMap;

use super::yaml;
use crate::ir::{Entity, Key, Schema};

/// The files of one schema after another: an entity that stays as it is is written down once.
#[derive(Debug, Default)]
pub(super) struct SchemaFiles {
    /// The entities of the schema before, and what was written of them.
    known: HashMap<Key, (Entity, String)>,
}

impl SchemaFiles {
    /// The same text as [`yaml::to_string`] of the next schema.
    pub(super) fn next(&mut self, schema: &Schema) -> serde_json::Result<String> {
        let mut known = HashMap::with_capacity(schema.entities.len());
        for entity in &schema.entities {
            let written = match self.known.remove(&entity.key) {
                Some(written) if written.0 == *entity => written,
                _ => (entity.clone(), yaml::item(entity)?),
            };
            known.insert(entity.key.clone(), written);
        }
        self.known = known;
        let rest = Schema {
            version: schema.version.clone(),
            title: schema.title.clone(),
            topic: schema.topic.clone(),
            turn: schema.turn,
            conventions: schema.conventions.clone(),
            entities: Vec::new(),
            analytics: schema.analytics.clone(),
            removed: schema.removed.clone(),
            used: schema.used.clone(),
        };
        let entities = schema.entities.iter().filter_map(|entity| self.known.get(&entity.key));
        let items: Vec<&str> = entities.map(|(_, text)| text.as_str()).collect();
        yaml::to_string_with(&rest, "entities", &items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sample::{ProgrammaticSampler, Sampler as _};

    #[test]
    fn what_is_taken_from_the_schema_before_is_what_would_be_written() {
        for scenario in 0..3 {
            let seed = Seed { base: 5, scenario };
            let mut schema = ProgrammaticSampler.first_schema(seed).expect("there is one").value;
            let mut files = SchemaFiles::default();
            for turn in 1..=30 {
                let alone = yaml::to_string(&schema).expect("it can be written");
                assert_eq!(
                    files.next(&schema).expect("it can be written"),
                    alone,
                    "turn {turn} of {scenario}"
                );
                schema = ProgrammaticSampler.next_turn(seed, &schema, 5).expect("there is one").value.after;
            }
            schema.entities.clear();
            assert_eq!(
                files.next(&schema).expect("it can be written"),
                yaml::to_string(&schema).expect("it can be written")
            );
        }
    }
}
