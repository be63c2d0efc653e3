//! JSON of other programs, read in little memory.
//!
//! Result files mix small facts with bulk that nothing here needs (token ids, log probabilities, rollout details).
//! [`Node`] is a JSON value in which such bulk never reaches memory: the keys in [`BULK`] are skipped while parsing,
//! texts longer than [`TEXT_CAP`] bytes are cut and remember by how much, and a document of more than
//! [`NODE_CAP`] values, or of texts as long as so many, is refused. Looking things up never fails: a value of another type than asked for is `None`.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// Keys whose values are never kept.
pub const BULK: &[&str] =
    &["rollout_details", "prompt_token_ids", "completion_token_ids", "logprobs", "api_request_times_msec"];
/// Bytes of one text that are kept.
pub const TEXT_CAP: usize = 64 * 1024;
/// Values in one document.
pub const NODE_CAP: u64 = 1_000_000;
/// So many bytes of texts and names count as one value more.
const TEXT_OF_A_VALUE: u64 = 64;

/// A JSON value without bulk.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, and how many bytes were cut from its end.
    Text(String, u64),
    /// A list.
    List(Vec<Node>),
    /// An object in the order of the file.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key; `None` where there is none, and for `null`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => {
                map.iter().find(|(k, _)| k == key).map(|(_, v)| v).filter(|v| **v != Self::Null)
            }
            _ => None,
        }
    }

    /// The value at a way of keys.
    pub fn descendant(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text, _) => Some(text),
            _ => None,
        }
    }

    /// A text that says something.
    pub fn word(&self) -> Option<&str> {
        self.text().map(str::trim).filter(|t| !t.is_empty())
    }

    /// A finite number, also one written as text.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(n) => n.as_f64(),
            Self::Text(text, 0) => text.trim().parse().ok(),
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
        .filter(|n| n.is_finite())
    }

    /// A count: a whole number, not negative.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Number(n) => n.as_u64().or_else(|| {
                n.as_f64()
                    .filter(|f| (0.0..files::BEYOND_64_BITS).contains(f) && f.fract() == 0.0)
                    .map(|f| f as u64)
            }),
            _ => None,
        }
    }

    /// A truth value.
    pub const fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// How many values it is, as [`NODE_CAP`] counts them.
    pub fn values(&self) -> u64 {
        let text_values = |text: &str| text.len() as u64 / TEXT_OF_A_VALUE;
        1 + match self {
            Self::Text(text, _) => text_values(text),
            Self::List(list) => list.iter().map(Self::values).sum(),
            Self::Map(map) => map.iter().map(|(name, value)| text_values(name) + value.values()).sum(),
            Self::Null | Self::Bool(_) | Self::Number(_) => 0,
        }
    }

    /// The elements of a list; none for everything else.
    pub fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    /// The entries of an object; none for everything else.
    pub fn map(&self) -> &[(String, Self)] {
        match self {
            Self::Map(map) => map,
            _ => &[],
        }
    }

    /// The same as a JSON value.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(n) => Value::Number(n.clone()),
            Self::Text(text, 0) => Value::String(text.clone()),
            Self::Text(text, cut) => Value::String(format!("{text}… ({cut} bytes cut)")),
            Self::List(list) => list.iter().map(Self::to_value).collect(),
            Self::Map(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), v.to_value())).collect()),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = Cell::new(NODE_CAP);
        NodeSeed::new(&left).deserialize(deserializer)
    }
}

/// A `T` that is written as an object. Without it, a struct is also read out of a list, field by field.
#[derive(Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// Parses a [`Node`] out of a budget of values that several of them share.
#[derive(Clone, Copy)]
pub(crate) struct NodeSeed<'a> {
    /// Values that may still be kept.
    pub(crate) free_values: &'a Cell<u64>,
    /// Bytes of one text that are kept.
    pub(crate) text_cap: usize,
    /// Keys whose values are not kept.
    pub(crate) bulk: &'static [&'static str],
}

impl<'a> NodeSeed<'a> {
    /// With the caps of every [`Node`].
    pub(crate) const fn new(free_values: &'a Cell<u64>) -> Self {
        Self { free_values, text_cap: TEXT_CAP, bulk: BULK }
    }

    /// Takes values from the budget.
    fn count<E: de::Error>(self, values: u64) -> Result<(), E> {
        let Some(left) = self.free_values.get().checked_sub(values) else {
            return Err(E::custom("more values, or more MB of texts, than are kept of one document"));
        };
        self.free_values.set(left);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.count(1)?;
        deserializer.deserialize_any(self)
    }
}

/// The text without what is longer than `cap` bytes, and how many bytes that was.
pub(crate) fn cut(text: &str, cap: usize) -> (&str, u64) {
    let end = text.floor_char_boundary(cap);
    (&text[..end], (text.len() - end) as u64)
}

/// A number as it stands, unless 64 bits do not hold it: then the tolerant reader makes it unknown, and says so.
pub(crate) fn within_64_bits<E: de::Error>(number: f64) -> Result<Number, E> {
    Number::from_f64(number)
        .filter(|_| number.abs() < files::BEYOND_64_BITS)
        .ok_or_else(|| de::Error::custom(format_args!("the number {number:e} is beyond 64 bits")))
}

/// Finds names that an object has twice. Such a one is an error, so that the tolerant reader decides which one counts.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Up to here looking through the members is faster than a set.
    const FEW: usize = 24;

    /// Checks the name of the next member. `members` are those before it.
    ///
    /// Errors: one of them has the name.
    pub(crate) fn check<E: de::Error>(&mut self, members: &[(String, Node)], name: &str) -> Result<(), E> {
        let is_new = if members.len() < Self::FEW {
            members.iter().all(|(before, _)| before != name)
        } else {
            if self.0.is_empty() {
                self.0.extend(members.iter().map(|(before, _)| before.clone()));
            }
            self.0.insert(name.to_owned())
        };
        if is_new {
            return Ok(());
        }
        Err(E::custom(format_args!("duplicate field `{}`", cut(name, 100).0)))
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Node, E> {
        Ok(Node::Bool(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Node, E> {
        Ok(Node::Number(v.into()))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Node, E> {
        Ok(Node::Number(v.into()))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Node, E> {
        within_64_bits(v).map(Node::Number)
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<Node, E> {
        let (kept, cut) = cut(v, self.text_cap);
        self.count(kept.len() as u64 / TEXT_OF_A_VALUE)?;
        Ok(Node::Text(kept.to_owned(), cut))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = seq.next_element_seed(self)? {
            list.push(node);
        }
        Ok(Node::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        let mut names = Names::default();
        while let Some(key) = access.next_key::<String>()? {
            names.check(&map, &key)?;
            self.count(key.len() as u64 / TEXT_OF_A_VALUE)?;
            if self.bulk.contains(&key.as_str()) {
                access.next_value::<IgnoredAny>()?;
            } else {
                let value = access.next_value_seed(self)?;
                map.push((key, value));
            }
        }
        Ok(Node::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_is_left_out_and_long_texts_are_cut() {
        let long = "ä".repeat(TEXT_CAP);
        let json = format!(
            r#"{{"a": {{"rollout_details": [[1,2]], "n": 3, "z": null}}, "t": "{long}", "x": "1.5", "neg": -1}}"#
        );
        let node: Node = serde_json::from_str(&json).unwrap();
        assert_eq!(node.descendant(&["a", "n"]).and_then(Node::count), Some(3));
        assert_eq!(node.descendant(&["a", "rollout_details"]), None);
        assert_eq!(node.descendant(&["a", "z"]), None);
        assert_eq!(node.get("x").and_then(Node::number), Some(1.5));
        assert_eq!(node.get("neg").and_then(Node::count), None);
        assert!(
            matches!(node.get("t"), Some(Node::Text(t, cut)) if t.len() == TEXT_CAP && *cut == TEXT_CAP as u64)
        );
    }

    #[test]
    fn a_list_is_no_object() {
        #[derive(Debug, Deserialize)]
        struct Sample {
            #[serde(default)]
            a: u8,
        }
        assert_eq!(serde_json::from_str::<Object<Sample>>("{\"a\": 1, \"b\": []}").unwrap().0.a, 1);
        assert!(serde_json::from_str::<Object<Sample>>("[1]").is_err());
        assert!(serde_json::from_str::<Object<Sample>>("[]").unwrap_err().is_data());
    }

    #[test]
    fn too_many_values_are_refused() {
        let long_list = format!("[{}0]", "0,".repeat(NODE_CAP as usize));
        assert!(serde_json::from_str::<Node>(&long_list).is_err());
    }
}
