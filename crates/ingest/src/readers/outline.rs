//! What a JSON document looks like, without holding it: names and kinds of values down to a few levels, of lists the first
//! element, of texts the beginning. Of a document that breaks off, or of which only the first bytes are read, what
//! came until then.

use std::fmt;

use files::strict_json;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Levels of objects and lists that are looked into.
const LEVELS: u8 = 4;
/// Names of one object that are kept.
const NAMES: usize = 100;
/// Bytes of a text that are kept.
const TEXT: usize = 64;

/// A value without its bulk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Outline {
    /// `null`, or a value that breaks off before its start.
    #[default]
    Nothing,
    /// `true`, `false`
    Truth,
    /// A number.
    Number,
    /// The beginning of a text.
    Text(String),
    /// A list, by its first element.
    List(Option<Box<Outline>>),
    /// An object.
    Object(Vec<(String, Outline)>),
}

impl Outline {
    /// The outline of the first JSON value in the first bytes of a file; `None` where they do not begin with an object or
    /// a list.
    pub(crate) fn from_beginning(bytes: &[u8]) -> Option<Self> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if !matches!(text.iter().find(|b| !b.is_ascii_whitespace()), Some(b'{' | b'[')) {
            return None;
        }
        let (outline, whole) = Self::from_bytes(text);
        if whole {
            return Some(outline);
        }
        // What Python writes and strict JSON does not have; else it breaks off.
        Some(strict_json(text).map_or(outline, |strict| Self::from_bytes(&strict).0))
    }

    /// The outline of the first value, and whether that value is whole.
    fn from_bytes(text: &[u8]) -> (Self, bool) {
        let mut outline = Self::Nothing;
        let mut json = serde_json::Deserializer::from_slice(text);
        let whole = OutlineSeed { outline: &mut outline, levels: LEVELS }.deserialize(&mut json).is_ok();
        (outline, whole)
    }

    /// The value at a way of names; `[]` is the first element of a list, `{}` the first value of an object.
    pub(crate) fn descendant(&self, way: &[&str]) -> Option<&Self> {
        way.iter().try_fold(self, |outline, name| match outline {
            Self::List(first) if *name == "[]" => first.as_deref(),
            Self::Object(names) if *name == "{}" => names.first().map(|(_, value)| value),
            Self::Object(names) => names.iter().find(|(n, _)| n == name).map(|(_, value)| value),
            _ => None,
        })
    }

    /// A text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Fills in an outline while the parser reads, so that what came before an error stays.
struct OutlineSeed<'a> {
    outline: &'a mut Outline,
    levels: u8,
}

impl<'de> DeserializeSeed<'de> for OutlineSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OutlineSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        *self.outline = Outline::Truth;
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        *self.outline = Outline::Number;
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        *self.outline = Outline::Number;
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        *self.outline = Outline::Number;
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        let end = (0..=text.len().min(TEXT)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        *self.outline = Outline::Text(text[..end].to_owned());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        *self.outline = Outline::List(None);
        let Some(levels) = self.levels.checked_sub(1) else {
            while access.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        // A first element that breaks off still is one.
        let mut first = Outline::Nothing;
        let read = access.next_element_seed(OutlineSeed { outline: &mut first, levels });
        if !matches!(read, Ok(None)) && (read.is_ok() || first != Outline::Nothing) {
            *self.outline = Outline::List(Some(Box::new(first)));
        }
        if read?.is_some() {
            while access.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        *self.outline = Outline::Object(Vec::new());
        let Some(levels) = self.levels.checked_sub(1) else {
            while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let Outline::Object(names) = self.outline else { return Ok(()) };
        while names.len() < NAMES {
            let Some(name) = access.next_key::<String>()? else { return Ok(()) };
            names.push((name, Outline::Nothing));
            if let Some((_, value)) = names.last_mut() {
                access.next_value_seed(OutlineSeed { outline: value, levels })?;
            }
        }
        while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Outline {
        Outline::from_bytes(text.as_bytes()).0
    }

    #[test]
    fn names_and_kinds_are_kept_and_bulk_is_not() {
        let long = "ä".repeat(TEXT);
        let found = outline(&format!(
            r#"{{"a": {{"b": [{{"c": 1.5}}, {{"d": 2}}]}}, "t": "{long}", "n": null, "y": true, "deep": [[[[[1]]]]]}}"#
        ));
        assert_eq!(found.descendant(&["a", "b", "[]", "c"]), Some(&Outline::Number));
        assert_eq!(found.descendant(&["a", "b", "[]", "d"]), None);
        assert_eq!(found.descendant(&["t"]).and_then(Outline::text), Some(&*"ä".repeat(TEXT / 2)));
        assert_eq!(
            (found.descendant(&["n"]), found.descendant(&["y"])),
            (Some(&Outline::Nothing), Some(&Outline::Truth))
        );
        assert_eq!(found.descendant(&["deep", "[]", "[]", "[]"]), Some(&Outline::List(None)));
    }

    #[test]
    fn a_value_that_breaks_off_keeps_its_beginning() {
        for text in [
            r#"{"info": {"x": 1}, "messages": [{"role": "us"#,
            r#"{"info": {"x": 1}, "messages": [{"role": "user"}, {"role"#,
            r#"{"info": {"x": 1}, "messages": [{"role": "user"}]} and more"#,
        ] {
            let found = outline(text);
            assert_eq!(found.descendant(&["info", "x"]), Some(&Outline::Number), "{text}");
            assert!(found.descendant(&["messages", "[]", "role"]).is_some(), "{text}");
        }
        assert_eq!(outline("[").descendant(&["[]"]), None);
        assert_eq!(outline("[]"), Outline::List(None));
        assert_eq!(outline("[1"), Outline::List(Some(Box::new(Outline::Number))));
        let nested = "[".repeat(100_000);
        assert!(matches!(outline(&nested), Outline::List(_)));
        let many_keys = (0..1000).map(|n| format!("\"k{n}\": {n},")).collect::<Vec<_>>().concat();
        let Outline::Object(names) = outline(&format!("{{{many_keys} \"z\": 1}}")) else {
            panic!("no object")
        };
        assert_eq!(names.len(), NAMES);
    }
}
