//! A transcript that is one JSON document with a list of messages. A call reads only the new ones.
//!
//! The document grows with the session. It is read as a stream, so that old messages take no memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::bounded::{Bounded, Budget};

/// Most values of the new elements.
const NODE_CAP: usize = 2_000_000;

/// What is known about a list after reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListSummary {
    /// The number of elements, up to the end of the document.
    pub(super) count: usize,
    /// Whether the document was read to its end. Otherwise it is half-written, or not JSON after some element.
    pub(super) whole: bool,
    /// Whether elements are missing, because the new ones have too many values.
    pub(super) too_large: bool,
}

/// Reads the elements after the first `skip` of the list at a path of keys. Without keys, the document is the list. `None` =
/// there is no such list. An incomplete document gives the elements before its end.
pub(super) fn read(
    json: &[u8],
    keys: &[&str],
    skip: usize,
    mut each: impl FnMut(&Value),
) -> Option<ListSummary> {
    let (mut element_count, mut found) = (0, false);
    let budget = Budget::new(NODE_CAP);
    let walk = Walk {
        keys,
        skip,
        element_count: &mut element_count,
        found: &mut found,
        budget: &budget,
        each: &mut each,
    };
    let mut document = serde_json::Deserializer::from_slice(json);
    // Elements before an error count.
    let whole = walk.deserialize(&mut document).is_ok() && document.end().is_ok();
    found.then_some(ListSummary { count: element_count, whole, too_large: budget.is_spent() })
}

struct Walk<'a> {
    keys: &'a [&'a str],
    skip: usize,
    element_count: &'a mut usize,
    found: &'a mut bool,
    budget: &'a Budget,
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
                    element_count: &mut *self.element_count,
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
            if *self.element_count < self.skip || self.budget.is_spent() {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(());
                }
            } else {
                let Some(element) = list.next_element_seed(Bounded(self.budget))? else { return Ok(()) };
                // An element beyond the budget is incomplete.
                if !self.budget.is_spent() {
                    (self.each)(&element);
                }
            }
            *self.element_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_elements(json: &str, keys: &[&str], skip: usize) -> (Option<usize>, Vec<String>) {
        let mut elements = Vec::new();
        let found = read(json.as_bytes(), keys, skip, |value| elements.push(value.to_string()));
        (found.map(|found| found.count), elements)
    }

    fn is_whole(json: &str) -> bool {
        read(json.as_bytes(), &["a"], 0, |_| ()).unwrap().whole
    }

    #[test]
    fn the_new_elements_of_a_list_anywhere_in_a_document_are_read() {
        let json = r#"{"x":[1],"a":{"b":[{"n":1},{"n":[2,"é",null,true,-1,0.5]},3]},"z":0}"#;
        assert_eq!(
            new_elements(json, &["a", "b"], 1),
            (Some(3), vec![r#"{"n":[2,"é",null,true,-1,0.5]}"#.into(), "3".into()])
        );
        assert_eq!(new_elements(json, &["a", "b"], 9), (Some(3), Vec::new()));
        assert_eq!(new_elements(json, &["a", "c"], 0), (None, Vec::new()));
        assert_eq!(new_elements("[1,2]", &[], 1), (Some(2), vec!["2".into()]));
        assert_eq!(new_elements(r#"{"a":7}"#, &["a"], 0), (None, Vec::new()));
    }

    #[test]
    fn an_incomplete_document_gives_the_elements_before_its_end() {
        assert_eq!(new_elements(r#"{"a":[1,2,{"x":"#, &["a"], 0), (Some(2), vec!["1".into(), "2".into()]));
        let deep = format!("{{\"a\":[1,{}", "[".repeat(100_000));
        assert_eq!(new_elements(&deep, &["a"], 0).1, ["1"]);
        assert!(is_whole(r#"{"a":[1,2],"b":[]}"#));
        for broken in [r#"{"a":[1,2"#, r#"{"a":[1,2],"b":["#, r#"{"a":[1,2]} {"a":"#] {
            assert!(!is_whole(broken), "{broken}");
        }
    }

    /// Otherwise the next call would read them as its own.
    #[test]
    fn elements_that_are_too_large_are_counted_and_skipped() {
        let bomb = format!("{{\"a\":[1,[{}0],2]}}", "0,".repeat(NODE_CAP));
        let mut elements = Vec::new();
        let found = read(bomb.as_bytes(), &["a"], 0, |value| elements.push(value.to_string()));
        assert_eq!(found, Some(ListSummary { count: 3, whole: true, too_large: true }));
        assert_eq!(elements, ["1"]);
    }
}
