//! A transcript that is one JSON document: the list of messages somewhere in it, of which a call reads only what is new.
//!
//! The document grows with the session and is read as a stream, so that what is old takes no memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Values of the new elements that are read.
const NODE_CAP: usize = 2_000_000;

/// Reads the elements after the first `skip` of the list at a way of keys. Gives the number of all elements; `None` where
/// there is no such list. A document that breaks off gives what stands before.
pub(super) fn read(json: &[u8], keys: &[&str], skip: usize, mut each: impl FnMut(&Value)) -> Option<usize> {
    let (mut seen, mut found) = (0, false);
    let budget = Cell::new(NODE_CAP);
    let walk = Walk { keys, skip, seen: &mut seen, found: &mut found, budget: &budget, each: &mut each };
    // What was read before an error counts all the same.
    let _ = walk.deserialize(&mut serde_json::Deserializer::from_slice(json));
    found.then_some(seen)
}

struct Walk<'a> {
    keys: &'a [&'a str],
    skip: usize,
    seen: &'a mut usize,
    found: &'a mut bool,
    budget: &'a Cell<usize>,
    each: &'a mut dyn FnMut(&Value),
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.keys.is_empty() {
            deserializer.deserialize_seq(self)
        } else {
            deserializer.deserialize_map(self)
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((wanted, rest)) = self.keys.split_first() else { return Ok(()) };
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == *wanted {
                map.next_value_seed(Walk {
                    keys: rest,
                    skip: self.skip,
                    seen: &mut *self.seen,
                    found: &mut *self.found,
                    budget: self.budget,
                    each: &mut *self.each,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        *self.found = true;
        loop {
            if *self.seen < self.skip {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(());
                }
            } else {
                let Some(element) = list.next_element_seed(Bounded(self.budget))? else { return Ok(()) };
                (self.each)(&element);
            }
            *self.seen += 1;
        }
    }
}

/// A value as long as the budget of values lasts.
struct Bounded<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let Some(left) = self.0.get().checked_sub(1) else {
            return Err(D::Error::custom("the document has too many values"));
        };
        self.0.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = list.next_element_seed(Bounded(self.0))? {
            all.push(element);
        }
        Ok(Value::Array(all))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            all.insert(key, map.next_value_seed(Bounded(self.0))?);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str, keys: &[&str], skip: usize) -> (Option<usize>, Vec<String>) {
        let mut seen = Vec::new();
        let count = read(json.as_bytes(), keys, skip, |value| seen.push(value.to_string()));
        (count, seen)
    }

    #[test]
    fn what_is_new_of_a_list_anywhere_in_a_document() {
        let json = r#"{"x":[1],"a":{"b":[{"n":1},{"n":[2,"é",null,true,-1,0.5]},3]},"z":0}"#;
        assert_eq!(
            of(json, &["a", "b"], 1),
            (Some(3), vec![r#"{"n":[2,"é",null,true,-1,0.5]}"#.into(), "3".into()])
        );
        assert_eq!(of(json, &["a", "b"], 9), (Some(3), Vec::new()));
        assert_eq!(of(json, &["a", "c"], 0), (None, Vec::new()));
        assert_eq!(of("[1,2]", &[], 1), (Some(2), vec!["2".into()]));
        assert_eq!(of(r#"{"a":7}"#, &["a"], 0), (None, Vec::new()));
    }

    #[test]
    fn a_document_that_breaks_off_gives_what_stands_before() {
        assert_eq!(of(r#"{"a":[1,2,{"x":"#, &["a"], 0), (Some(2), vec!["1".into(), "2".into()]));
        let bomb = format!("{{\"a\":[1,[{}0]]}}", "0,".repeat(NODE_CAP));
        assert_eq!(of(&bomb, &["a"], 0).1, ["1"]);
        let deep = format!("{{\"a\":[1,{}", "[".repeat(100_000));
        assert_eq!(of(&deep, &["a"], 0).1, ["1"]);
    }
}
