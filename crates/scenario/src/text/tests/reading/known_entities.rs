//! The entities that a reader knows from the old specification.

use super::clauses::ReadResult;

/// The entities of a specification, by its text.
pub(super) struct KnownEntities(Vec<Entity>);

/// An entity by its names.
pub(super) struct Entity {
    pub(super) one: String,
    pub(super) many: String,
    path: String,
}

impl KnownEntities {
    /// Reads the headings and first sentences of the entities.
    pub(super) fn new(specification: &str) -> Self {
        let mut heading = "";
        let mut entities = Vec::new();
        for line in specification.lines() {
            if let Some(text) = line.strip_prefix("### ") {
                heading = text;
            } else if let Some((singular, _, path)) = split_description(line) {
                let many = heading.chars().next().into_iter().flat_map(char::to_lowercase);
                let many = many.chain(heading.chars().skip(1)).collect();
                entities.push(Entity { one: singular.to_owned(), many, path: path.to_owned() });
            }
        }
        Self(entities)
    }

    pub(super) fn entity_at(&self, path: &str) -> ReadResult<&Entity> {
        self.0.iter().find(|entity| entity.path == path).ok_or_else(|| format!("no entity at {path}"))
    }

    /// The text in small letters, with `§` for what is in backquotes and `@` for entities; and the plurals of these.
    pub(super) fn masked(&self, text: &str) -> (String, Vec<&str>) {
        let plain: String = text
            .split('`')
            .enumerate()
            .map(|(index, part)| if index % 2 == 0 { part.to_lowercase() } else { "§".to_owned() })
            .collect();
        let (mut out, mut found) = (String::new(), Vec::new());
        let mut rest = plain.as_str();
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let names = self.0.iter().flat_map(|entity| [(&entity.many, entity), (&entity.one, entity)]);
            let longest = names
                .filter(|(name, _)| {
                    let behind = rest.strip_prefix(name.as_str()).map(|behind| behind.chars().next());
                    !before.is_alphanumeric()
                        && behind.is_some_and(|next| {
                            !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
                        })
                })
                .max_by_key(|(name, _)| name.len());
            let taken = if let Some((name, entity)) = longest {
                out.push('@');
                found.push(entity.many.as_str());
                name.len()
            } else {
                out.push(first);
                first.len_utf8()
            };
            let (done, behind) = rest.split_at(taken);
            before = done.chars().last().unwrap_or(' ');
            rest = behind;
        }
        (out, found)
    }
}

/// Singular, what it is, and path of an entity.
pub(super) fn split_description(text: &str) -> Option<(&str, &str, &str)> {
    let (definition, rest) = text.split_once(". The collection is at `")?;
    let (path, rest) = rest.split_once("`, a single record at `")?;
    let definition = definition.strip_prefix("A ").or_else(|| definition.strip_prefix("An "))?;
    let (singular, definition_rest) = definition.split_once(" is ")?;
    (rest == format!("{path}/{{id}}`.")).then_some((singular, definition_rest, path))
}
