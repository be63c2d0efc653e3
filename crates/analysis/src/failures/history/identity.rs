//! When two tests of an episode are the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// The tests of a turn, each with its key, in the order in which they are first named.
#[derive(Debug, Default)]
pub(super) struct Identities<'a> {
    /// Places in `tests`.
    by_id: HashMap<&'a str, usize>,
    pub(super) tests: Vec<(&'a str, Key)>,
}

impl<'a> Identities<'a> {
    pub(super) fn of(turn: &'a Turn) -> Self {
        let mut identities = Self::default();
        let mut described: HashMap<String, Vec<usize>> = HashMap::new();
        for test in turn.attempts.iter().flat_map(|attempt| &attempt.tests) {
            let at = match identities.by_id.entry(&test.id) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => {
                    let key = if is_number(&test.id) {
                        Key::InTurn(turn.number, test.id.clone())
                    } else {
                        Key::Id(without_turn(&test.id))
                    };
                    identities.tests.push((&test.id, key));
                    *place.insert(identities.tests.len() - 1)
                }
            };
            if !matches!(identities.tests[at].1, Key::Id(_))
                && let Some(description) = description(test)
            {
                let ids = described.entry(description).or_default();
                if !ids.contains(&at) {
                    ids.push(at);
                }
            }
        }
        // A description that two ids share says nothing; an id with two descriptions (one an attempt) takes the first.
        let mut own: Vec<(&str, usize, String)> = described
            .into_iter()
            .filter_map(|(description, ids)| <[usize; 1]>::try_from(ids).ok().map(|[at]| (at, description)))
            .map(|(at, description)| (identities.tests[at].0, at, description))
            .collect();
        own.sort();
        for (_, at, description) in own {
            let key = &mut identities.tests[at].1;
            if matches!(key, Key::InTurn(..)) {
                *key = Key::Description(description);
            }
        }
        identities
    }

    /// The place of a test.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
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
