//! When two tests of an episode are the same.

use std::collections::HashMap;

use model::{TestResult, Turn};

/// Most bytes of a description that tests are compared by.
const DESCRIPTION: usize = 1024;

/// What a test is followed by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// An id that means the same test in every turn.
    Id(String),
    /// An id that is a number: group, intent and circumstances.
    Description(String),
    /// A number without a description: the same test in this turn only.
    InTurn(u32, String),
}

impl Key {
    /// Whether a later turn that names all its tests shows whether it has this one.
    pub(super) const fn is_followed(&self) -> bool {
        matches!(self, Self::Id(_))
    }
}

/// The keys of the tests of a turn.
#[derive(Debug, Default)]
pub(super) struct Identities {
    by_id: HashMap<String, Key>,
    order: Vec<String>,
}

impl Identities {
    pub(super) fn of(turn: &Turn) -> Self {
        let mut identities = Self::default();
        let mut described: HashMap<String, Vec<String>> = HashMap::new();
        for test in turn.attempts.iter().flat_map(|attempt| &attempt.tests) {
            if !identities.by_id.contains_key(&test.id) {
                let key = if is_number(&test.id) {
                    Key::InTurn(turn.number, test.id.clone())
                } else {
                    Key::Id(without_turn(&test.id))
                };
                identities.by_id.insert(test.id.clone(), key);
                identities.order.push(test.id.clone());
            }
            if is_number(&test.id)
                && let Some(description) = description(test)
            {
                let ids = described.entry(description).or_default();
                if !ids.contains(&test.id) {
                    ids.push(test.id.clone());
                }
            }
        }
        // A description that two ids share says nothing; an id with two descriptions (one an attempt) takes the first.
        let mut own: Vec<(String, String)> = described
            .into_iter()
            .filter_map(|(description, ids)| <[String; 1]>::try_from(ids).ok().map(|[id]| (id, description)))
            .collect();
        own.sort();
        for (id, description) in own {
            if let Some(key @ Key::InTurn(..)) = identities.by_id.get_mut(&id) {
                *key = Key::Description(description);
            }
        }
        identities
    }

    pub(super) fn key(&self, id: &str) -> Option<&Key> {
        self.by_id.get(id)
    }

    /// Every id of the turn, in the order in which they are first named.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Key)> {
        self.order.iter().filter_map(|id| Some((id.as_str(), self.by_id.get(id)?)))
    }
}

/// Whether an id is a number, with at most a word before it: `c094`, `T53`, `case-12`, `c001#2`.
pub(super) fn is_number(id: &str) -> bool {
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.split('#').next().unwrap_or(name);
    let number = name.trim_start_matches(|c: char| c.is_alphabetic() || matches!(c, '_' | '-' | ' '));
    let word = name.len() - number.len();
    word <= 8 && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// An id without the turn that its file's name holds: `suites/turn_3.py::test_a` and `suites/turn_4.py::test_a` are one.
pub(super) fn without_turn(id: &str) -> String {
    let Some((file, name)) = id.split_once("::") else { return id.to_owned() };
    let mut out = String::with_capacity(id.len());
    let mut rest = file;
    while let Some((at, word)) =
        ["turn", "round", "step", "iteration"].iter().filter_map(|word| Some((rest.find(word)?, *word))).min()
    {
        let after = at + word.len();
        out.push_str(&rest[..after]);
        rest = rest[after..].trim_start_matches(['_', '-']);
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest = &rest[number..];
    }
    out.push_str(rest);
    out.push_str("::");
    out.push_str(name);
    out
}

/// What a numbered test is described with; `None` if with nothing.
fn description(test: &TestResult) -> Option<String> {
    let intent = test.intent.as_deref()?;
    let scenario = test.message.as_deref().and_then(|m| m.lines().find_map(|l| l.strip_prefix("scenario: ")));
    let whole =
        format!("{}\n{intent}\n{}", test.group.as_deref().unwrap_or_default(), scenario.unwrap_or_default());
    Some(whole[..whole.floor_char_boundary(DESCRIPTION)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_names() {
        for id in ["c094", "T53", "12", "case-12", "c001#2", "a.py::test_3"] {
            assert!(is_number(id), "{id}");
        }
        for id in
            ["orders.create.minimal", "test_orders", "t.py::test_turn", "c", "", "verylongword12", "a1b2"]
        {
            assert!(!is_number(id), "{id}");
        }
    }

    #[test]
    fn the_turn_of_a_file_is_no_part_of_a_test() {
        assert_eq!(without_turn("suites/turn_3.py::test_a"), without_turn("suites/turn_14.py::test_a"));
        assert_eq!(without_turn("round-2/test.py::a"), without_turn("round-3/test.py::a"));
        assert_ne!(without_turn("test_1.py::a"), without_turn("test_2.py::a"));
        assert_eq!(without_turn("a.py::turn_3"), "a.py::turn_3");
    }
}
