//! Which tests of an episode are the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{TestResult, Turn, description_of_test, is_numeric_id, without_turn};

/// What identifies a test.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// An id that is valid in every turn: the number of its file in [`Files`], and the rest of it.
    Id(usize, &'a str),
    /// The description of a test with a numeric id: group, intent and scenario.
    Description(String),
    /// A numeric id without a description, which is valid only in this turn.
    InTurn(u32, &'a str),
}

/// The files of ids, each with a number from 1. Files whose names differ only in the turn have one number. A suite has hundreds
/// of cases, nearly all in one file.
#[derive(Debug, Default)]
struct Files<'a> {
    /// By the name without the turn.
    numbers: HashMap<String, usize>,
    last: Option<(&'a str, usize)>,
}

impl<'a> Files<'a> {
    /// The number of the file of an id, and the rest of the id; 0 and the whole id if it names no file.
    fn split(&mut self, id: &'a str) -> (usize, &'a str) {
        // The name of a file has no `::`, so the first one follows it.
        if let Some((file, number)) = self.last
            && let Some(rest) = id.strip_prefix(file)
            && let Some(name) = rest.strip_prefix("::")
        {
            return (number, name);
        }
        let Some((file, name)) = id.split_once("::") else { return (0, id) };
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(without_turn(file)).or_insert(next);
        self.last = Some((file, number));
        (number, name)
    }
}

/// The last naming of a test.
#[derive(Debug, Clone, Copy, Default)]
struct LastNaming<'a> {
    /// The turn, as counted by [`Numbers::turns`].
    turn: usize,
    /// The id in that turn.
    id: &'a str,
    /// Its index among the tests of that turn.
    place: usize,
}

/// The numbers of the tests of an episode, from 0. Two ids with one number are the same test.
///
/// An id is looked up once per turn, by its short part, because suites have hundreds of cases and turns many attempts.
#[derive(Debug, Default)]
pub(super) struct Numbers<'a> {
    files: Files<'a>,
    tests: HashMap<Key<'a>, usize>,
    /// By the number of the test.
    last_named: Vec<LastNaming<'a>>,
    turns: usize,
    earlier: EarlierTests,
}

/// What earlier turns leave open of tests with numeric ids.
#[derive(Debug, Default)]
struct EarlierTests {
    /// Whether there are tests at all.
    exist: bool,
    /// Whether some have a numeric id and no description.
    undescribed: bool,
    /// The descriptions that two tests of one turn share.
    shared: HashSet<String>,
}

/// A test of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnTest<'a> {
    /// Its id in this turn.
    pub(super) id: &'a str,
    /// Its number in the episode.
    pub(super) test: usize,
    /// Whether a later turn with all its tests shows whether it has this test.
    pub(super) is_followed: bool,
    /// Whether no other turn has it: its id is numeric, and no description of its own identifies it.
    pub(super) is_of_turn: bool,
    /// Whether an earlier turn has a test that may be this one, although nothing identifies it there.
    pub(super) may_be_earlier: bool,
}

/// The tests of a turn.
#[derive(Debug, Default)]
pub(super) struct TurnTests<'a> {
    /// Each id once, in the order of their first naming.
    pub(super) tests: Vec<TurnTest<'a>>,
    /// For each attempt and each of its tests, the index in `tests`.
    pub(super) places: Vec<Vec<usize>>,
}

impl<'a> Numbers<'a> {
    /// The number of tests.
    pub(super) fn len(&self) -> usize {
        self.tests.len()
    }

    /// The tests of the next turn.
    pub(super) fn next_turn(&mut self, turn: &'a Turn) -> TurnTests<'a> {
        self.turns += 1;
        let mut turn_tests = TurnTests::default();
        let mut described: HashMap<String, Vec<usize>> = HashMap::new();
        let mut others: HashMap<&str, usize> = HashMap::new();
        let mut tests_before: &[TestResult] = &[];
        for attempt in &turn.attempts {
            let places_before = turn_tests.places.last().map_or(&[][..], Vec::as_slice);
            let mut places = Vec::with_capacity(attempt.tests.len());
            for (index, test) in attempt.tests.iter().enumerate() {
                // Attempts of a turn have one suite, and most name the same tests in the same order.
                let place = match tests_before.get(index) {
                    Some(before) if before.id == test.id => places_before[index],
                    _ => self.place(&test.id, &mut others, &mut turn_tests.tests),
                };
                if !turn_tests.tests[place].is_followed
                    && let Some(description) = description_of_test(test)
                {
                    let sharing = described.entry(description).or_default();
                    if !sharing.contains(&place) {
                        sharing.push(place);
                    }
                }
                places.push(place);
            }
            turn_tests.places.push(places);
            tests_before = &attempt.tests;
        }
        self.number_the_rest(turn.number, described, &mut turn_tests.tests);
        turn_tests
    }

    /// The index of an id among the tests of the turn. `others`: indexes of numeric ids, and of ids whose test has another id in
    /// the turn, too.
    fn place(
        &mut self,
        id: &'a str,
        others: &mut HashMap<&'a str, usize>,
        tests: &mut Vec<TurnTest<'a>>,
    ) -> usize {
        let next = tests.len();
        if is_numeric_id(id) {
            // Its number is set when all descriptions of the turn are known.
            let place = *others.entry(id).or_insert(next);
            if place == next {
                tests.push(TurnTest {
                    id,
                    test: usize::MAX,
                    is_followed: false,
                    is_of_turn: false,
                    may_be_earlier: false,
                });
            }
            return place;
        }
        let (file, name) = self.files.split(id);
        let test = number(&mut self.tests, Key::Id(file, name));
        if test >= self.last_named.len() {
            self.last_named.resize(test + 1, LastNaming::default());
        }
        let last = &mut self.last_named[test];
        let place = if last.turn != self.turns {
            *last = LastNaming { turn: self.turns, id, place: next };
            next
        } else if last.id == id {
            last.place
        } else {
            *others.entry(id).or_insert(next)
        };
        if place == next {
            tests.push(TurnTest { id, test, is_followed: true, is_of_turn: false, may_be_earlier: false });
        }
        place
    }

    /// Sets the numbers of the numeric ids of a turn, by their descriptions.
    fn number_the_rest(
        &mut self,
        turn: u32,
        described: HashMap<String, Vec<usize>>,
        tests: &mut [TurnTest<'a>],
    ) {
        // A description of two ids identifies no test. An id with two descriptions (in two attempts) has the first one.
        let mut own: BTreeMap<usize, String> = BTreeMap::new();
        let mut shared: HashMap<usize, Vec<String>> = HashMap::new();
        for (description, sharing) in described {
            match <[usize; 1]>::try_from(sharing) {
                Ok([place]) => {
                    let first = own.entry(place).or_insert_with(|| description.clone());
                    if description < *first {
                        *first = description;
                    }
                }
                Err(sharing) => {
                    for place in sharing {
                        shared.entry(place).or_default().push(description.clone());
                    }
                }
            }
        }
        let mut has_undescribed = false;
        let mut shared_now: Vec<String> = Vec::new();
        for (place, test) in tests.iter_mut().enumerate().filter(|(_, test)| !test.is_followed) {
            let key = if let Some(description) = own.remove(&place) {
                test.may_be_earlier = self.earlier.undescribed || self.earlier.shared.contains(&description);
                Key::Description(description)
            } else {
                test.is_of_turn = true;
                let descriptions = shared.remove(&place).unwrap_or_default();
                if descriptions.is_empty() {
                    has_undescribed = true;
                    test.may_be_earlier = self.earlier.exist;
                } else {
                    test.may_be_earlier = self.earlier.undescribed
                        || descriptions.iter().any(|one| self.is_in_earlier_turn(one));
                }
                shared_now.extend(descriptions);
                Key::InTurn(turn, test.id)
            };
            test.test = number(&mut self.tests, key);
        }
        self.earlier.exist |= !tests.is_empty();
        self.earlier.undescribed |= has_undescribed;
        self.earlier.shared.extend(shared_now);
    }

    /// Whether a test of an earlier turn has this description, alone or with others. In this turn several tests have it.
    fn is_in_earlier_turn(&self, description: &str) -> bool {
        self.earlier.shared.contains(description)
            || self.tests.contains_key(&Key::Description(description.to_owned()))
    }
}

/// The number of the test with this key, or a new one.
fn number<'a>(tests: &mut HashMap<Key<'a>, usize>, key: Key<'a>) -> usize {
    let next = tests.len();
    *tests.entry(key).or_insert(next)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Attempt, TestOutcome, Verdict};
    use proptest::prelude::*;

    use super::*;

    /// A turn whose attempts name these tests, each with its description.
    fn turn(number: u32, attempts: &[Vec<(&str, Option<&str>)>]) -> Turn {
        let mut turn = Turn::new(number);
        for (attempt_number, tests) in (1..).zip(attempts) {
            let mut attempt = Attempt::new(attempt_number, Verdict::Failed);
            for (id, intent) in tests {
                let mut test = TestResult::new(*id, TestOutcome::Failed);
                test.intent = intent.map(str::to_owned);
                attempt.tests.push(test);
            }
            turn.attempts.push(attempt);
        }
        turn
    }

    /// The id and the number of each test of a turn, in the order of their first naming.
    fn numbers<'a>(turn_tests: &TurnTests<'a>) -> Vec<(&'a str, usize)> {
        turn_tests.tests.iter().map(|turn_test| (turn_test.id, turn_test.test)).collect()
    }

    #[test]
    fn a_test_keeps_its_number_over_attempts_and_turns_in_any_order() {
        let turns = [
            turn(1, &[vec![("a", None), ("t_1.py::b", None)], vec![("t_1.py::b", None), ("a", None)]]),
            turn(2, &[vec![("c", None), ("a", None), ("t_1.py::b", None)]]),
            turn(3, &[vec![("turn_3.py::d", None)]]),
            turn(4, &[vec![("turn_4.py::d", None), ("turn_3.py::d", None)]]),
        ];
        let mut all = Numbers::default();
        let first = all.next_turn(&turns[0]);
        assert_eq!(numbers(&first), [("a", 0), ("t_1.py::b", 1)]);
        assert_eq!(first.places, [vec![0, 1], vec![1, 0]]);
        assert_eq!(numbers(&all.next_turn(&turns[1])), [("c", 2), ("a", 0), ("t_1.py::b", 1)]);
        assert_eq!(numbers(&all.next_turn(&turns[2])), [("turn_3.py::d", 3)]);
        assert_eq!(numbers(&all.next_turn(&turns[3])), [("turn_4.py::d", 3), ("turn_3.py::d", 3)]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_unique_description_identifies_a_numeric_id() {
        let turns = [
            turn(1, &[vec![("c1", Some("x")), ("c2", Some("y")), ("c3", Some("y")), ("c4", None)]]),
            turn(2, &[vec![("c1", Some("y")), ("c9", Some("x")), ("c4", None)]]),
        ];
        let mut all = Numbers::default();
        let first = all.next_turn(&turns[0]);
        assert_eq!(numbers(&first), [("c1", 0), ("c2", 1), ("c3", 2), ("c4", 3)]);
        assert!(first.tests.iter().all(|turn_test| !turn_test.is_followed));
        // Two tests share `y` in turn 1, and one test has it in turn 2. `c4` is another test in each turn.
        assert_eq!(numbers(&all.next_turn(&turns[1])), [("c1", 4), ("c9", 0), ("c4", 5)]);
    }

    const IDS: [&str; 6] = ["a", "b", "turn_1.py::t", "turn_2.py::t", "c1", "c2"];

    proptest! {
        /// The caches of ids and attempts change nothing: the result equals a lookup of each id alone.
        #[test]
        fn numbers_equal_those_of_single_lookups(
            named in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_usize..6, 0..6), 1..4), 1..5)
        ) {
            let turns: Vec<Turn> = (1..)
                .zip(&named)
                .map(|(number, attempts)| {
                    let ids = |tests: &Vec<usize>| -> Vec<(&'static str, Option<&'static str>)> {
                        tests.iter().map(|index| (IDS[*index], None)).collect()
                    };
                    turn(number, &attempts.iter().map(ids).collect::<Vec<_>>())
                })
                .collect();
            let mut all = Numbers::default();
            let mut by_key: HashMap<String, usize> = HashMap::new();
            for turn in &turns {
                let turn_tests = all.next_turn(turn);
                let mut expected: Vec<&str> = Vec::new();
                for (attempt, places) in turn.attempts.iter().zip(&turn_tests.places) {
                    let ids: Vec<&str> = attempt.tests.iter().map(|test| test.id.as_str()).collect();
                    let placed: Vec<&str> = places.iter().map(|place| turn_tests.tests[*place].id).collect();
                    prop_assert_eq!(&placed, &ids);
                    for id in ids {
                        if !expected.contains(&id) {
                            expected.push(id);
                        }
                    }
                }
                let ids: Vec<&str> = turn_tests.tests.iter().map(|turn_test| turn_test.id).collect();
                prop_assert_eq!(ids, expected);
                for turn_test in &turn_tests.tests {
                    let key = match turn_test.id.split_once("::") {
                        _ if is_numeric_id(turn_test.id) => format!("{} in turn {}", turn_test.id, turn.number),
                        Some((file, name)) => format!("{}::{name}", without_turn(file)),
                        None => turn_test.id.to_owned(),
                    };
                    prop_assert_eq!(turn_test.is_followed, !is_numeric_id(turn_test.id));
                    prop_assert_eq!(*by_key.entry(key).or_insert(turn_test.test), turn_test.test);
                }
            }
            let numbers: BTreeSet<usize> = by_key.values().copied().collect();
            prop_assert_eq!(numbers.len(), by_key.len());
            prop_assert_eq!(numbers.len(), all.len());
        }
    }

    #[test]
    fn numeric_ids_are_recognized() {
        for id in ["c094", "T53", "12", "case-12", "c001#2", "a.py::test_3"] {
            assert!(is_numeric_id(id), "{id}");
        }
        for id in
            ["orders.create.minimal", "test_orders", "t.py::test_turn", "c", "", "verylongword12", "a1b2"]
        {
            assert!(!is_numeric_id(id), "{id}");
        }
    }

    #[test]
    fn the_turn_of_a_file_does_not_identify_a_test() {
        let ids = ["a.py::turn_x3", "a.py::turn_x4", "turn_3", "turn_3.py::a::b", "turn_4.py::a::b"];
        let mut files = Files::default();
        let split = ids.map(|id| files.split(id));
        assert_eq!(split, [(1, "turn_x3"), (1, "turn_x4"), (0, "turn_3"), (2, "a::b"), (2, "a::b")]);
    }
}
