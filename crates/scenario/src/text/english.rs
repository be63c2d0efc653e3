//! How things are put into words: articles, lists, numbers of things, values, and the names of a schema's parts.
//!
//! Entities are written as plain words (`repair orders`), everything that a server has to match by letter in backquotes.
//! A key that the schema does not have is written as its words: texts never fail.

use serde_json::Value;

use crate::ir::{Action, Entity, Field, Kind, Schema, words};

/// In backquotes.
pub(super) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('`');
    out.push_str(text);
    out.push('`');
    out
}

/// `a` or `an` before a word.
pub(super) fn article(word: &str) -> &'static str {
    let first = word.split([' ', '_', '-']).next().unwrap_or(word);
    let spoken_as_consonant = ["uni", "use", "usa", "uti", "eu", "one", "ure"];
    // words: ok (texts in British spelling have it)
    let silent = ["hour", "honest", "honour", "heir"];
    if silent.iter().any(|begin| first.starts_with(begin))
        || (first.starts_with(['a', 'e', 'i', 'o', 'u'])
            && !spoken_as_consonant.iter().any(|begin| first.starts_with(begin)))
    {
        "an"
    } else {
        "a"
    }
}

/// `an order`.
pub(crate) fn with_article(word: &str) -> String {
    format!("{} {word}", article(word))
}

/// With a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// `a, b and c`.
pub(super) fn all_of(items: &[String]) -> String {
    joined(items, "and")
}

/// `a, b or c`.
pub(super) fn one_of(items: &[String]) -> String {
    joined(items, "or")
}

fn joined(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

/// `` `1` character``, `` `5` characters``.
pub(super) fn counted(n: u32, singular: &str, many: &str) -> String {
    format!("`{n}` {}", if n == 1 { singular } else { many })
}

/// A number as people write it: `40`, not `40.0`.
pub(super) fn plain_number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{}", value as i64) } else { format!("{value}") }
}

/// A value in backquotes: words of enums and times bare, other strings in JSON's quotes. Null is the word.
pub(super) fn value(kind: Option<&Kind>, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) if matches!(kind, Some(Kind::Enum { .. } | Kind::DateTime)) => code(text),
        Value::Number(number) if number.is_f64() => {
            code(&number.as_f64().map_or_else(|| number.to_string(), plain_number))
        }
        other => code(&other.to_string()),
    }
}

/// The names of a schema's parts as texts write them.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) schema: &'a Schema,
}

impl<'a> Names<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Self { schema }
    }

    /// `repair order`.
    pub(super) fn singular(self, entity: &str) -> String {
        self.schema.entity(entity).map_or_else(|| words(entity), |entity| words(&entity.name))
    }

    /// `repair orders`.
    pub(super) fn plural(self, entity: &str) -> String {
        self.schema.entity(entity).map_or_else(|| words(entity), |entity| words(&entity.plural))
    }

    /// A field by the keys of entity and field, as JSON writes it, in backquotes.
    pub(super) fn field(self, entity: &str, field: &str) -> String {
        let name = self.find(entity, field).map_or(field, |field| field.name.as_str());
        self.json(name)
    }

    /// A name as JSON writes it, in backquotes.
    pub(super) fn json(self, name: &str) -> String {
        code(&self.schema.json_name(name))
    }

    /// The type of a field.
    pub(super) fn kind(self, entity: &str, field: &str) -> Option<&'a Kind> {
        self.find(entity, field).map(|field| &field.kind)
    }

    pub(super) fn find(self, entity: &str, field: &str) -> Option<&'a Field> {
        self.schema.entity(entity)?.field(field)
    }

    /// The verb of an action in backquotes, as its path writes it.
    pub(super) fn verb(self, entity: &str, action: &str) -> String {
        let name = self
            .schema
            .entity(entity)
            .and_then(|entity| entity.action(action))
            .map_or(action, |action| action.name.as_str());
        code(&self.schema.path_name(name))
    }

    /// The path of an action: `/api/orders/{id}/cancel`.
    pub(super) fn action_path(self, entity: &Entity, action: &Action) -> String {
        format!("{}/{{id}}/{}", self.schema.collection_path(entity), self.schema.path_name(&action.name))
    }

    /// The nested path of children under a parent: `/api/customers/{id}/orders`.
    pub(super) fn nested_path(self, parent: &str, plural: &str) -> String {
        let parent = self.schema.entity(parent).map_or(parent, |parent| parent.plural.as_str());
        format!(
            "{}/{}/{{id}}/{}",
            self.schema.conventions.prefix,
            self.schema.path_name(parent),
            self.schema.path_name(plural)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn articles_follow_the_sound() {
        for (word, expected) in [
            ("order", "an order"),
            ("unit", "a unit"),
            ("user account", "a user account"),
            ("usher", "an usher"),
            ("hour log", "an hour log"),
            ("house", "a house"),
            ("parcel", "a parcel"),
            ("umbrella", "an umbrella"),
        ] {
            assert_eq!(with_article(word), expected);
        }
    }

    #[test]
    fn values_are_written_as_their_kind_asks() {
        let word = Kind::Enum { values: vec!["open".into(), "done".into()] };
        assert_eq!(value(Some(&word), &json!("open")), "`open`");
        assert_eq!(value(None, &json!("open")), "`\"open\"`");
        assert_eq!(value(None, &json!(40.0)), "`40`");
        assert_eq!(value(None, &json!(-0.25)), "`-0.25`");
        assert_eq!(value(None, &json!(null)), "null");
        assert_eq!(value(None, &json!(true)), "`true`");
    }

    #[test]
    fn lists_of_words_end_well() {
        let items = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(all_of(&items), "a, b and c");
        assert_eq!(one_of(&items[..2]), "a or b");
        assert_eq!(one_of(&items[..1]), "a");
        assert_eq!(all_of(&[]), "");
        assert_eq!(counted(1, "character", "characters"), "`1` character");
        assert_eq!(counted(2, "character", "characters"), "`2` characters");
    }
}
