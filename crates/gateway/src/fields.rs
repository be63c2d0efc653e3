//! The fields of a JSON object in order, with unparsed values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Whether an endpoint may read a field under a known name. Some (those in Go) ignore case, and fold the long s and the Kelvin
/// sign to letters.
pub(crate) fn may_be_read_as(field: &str, known: &str) -> bool {
    let fold = |letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    };
    field.chars().map(fold).eq(known.chars().map(fold))
}

/// Fields in order, duplicates included.
pub(crate) struct Fields<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_as_endpoints_without_case_do() {
        for field in ["tools", "Tools", "TOOLS", "tool\u{17f}"] {
            assert!(may_be_read_as(field, "tools"), "{field}");
        }
        assert!(may_be_read_as("bac\u{212a}ground", "background"));
        for field in ["tool", "toolss", "t\u{f6}ols", ""] {
            assert!(!may_be_read_as(field, "tools"), "{field}");
        }
    }
}
