//! What is taken over from the turn before, against the same made again.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::ir::Schema;
use crate::pack::TurnMaker;
use crate::sample::ProgrammaticSampler;
use crate::suite::{Suite, SuiteFile, SuiteFiles, suite};
use crate::{Seed, code, text};

#[test]
fn what_is_taken_over_from_the_turn_before_is_what_would_be_made() {
    for scenario in 0..3 {
        let seed = Seed { base: 11, scenario };
        let mut maker = TurnMaker::new(&ProgrammaticSampler, seed, 5);
        let mut before: Option<(Schema, Suite)> = None;
        let (mut cases, mut equal) = (0, 0);
        for turn in 1..=30 {
            let made_turn = maker.make_next().expect("it is made");
            let alone = suite(seed, &made_turn.schema, before.as_ref().map(|(_, suite)| suite));
            for (made_turn, alone) in made_turn.suite.cases.iter().zip(&alone.cases) {
                assert_eq!(made_turn, alone, "turn {turn} of {scenario}");
            }
            assert!(made_turn.suite == alone, "the suite of turn {turn} of {scenario}");
            assert_eq!(made_turn.specification, text::specification(&made_turn.schema));
            if let (Some((schema, _)), Some(changes)) = (&before, &made_turn.changes) {
                let changes: Vec<Change> = changes.changes.iter().map(|change| change.what.clone()).collect();
                assert_eq!(
                    made_turn.request,
                    text::change_request(seed, schema, &changes, &made_turn.schema)
                );
                cases += made_turn.suite.cases.len();
                equal += made_turn.equals.iter().flatten().count();
            }
            before = Some((made_turn.schema.clone(), alone));
        }
        // Where a body of a record is another now, what is written of the cases about that entity may be other too.
        assert!(equal * 10 > cases * 7, "only {equal} of {cases} cases are taken over as they are");
    }
}

#[test]
fn what_files_of_earlier_turns_write_is_what_would_be_written() {
    for scenario in 0..2 {
        let mut maker = TurnMaker::new(&ProgrammaticSampler, Seed { base: 3, scenario }, 5);
        let (mut suites, mut tests) = (SuiteFiles::default(), code::PytestFiles::default());
        let mut files = BTreeMap::new();
        let (mut all, mut alone, mut tests_all, mut tests_alone) = (0, 0, 0, 0);
        let mut functions = BTreeMap::new();
        for turn in 1..=25 {
            let made_turn = maker.make_next().expect("it is made");
            let text = suites.next(&made_turn.suite, &made_turn.equals).expect("it is written");
            files.insert(turn, text.to_vec());
            let file = SuiteFile::read(text).expect("it is a file of a suite");
            assert!(file.refers_to().iter().all(|other| *other < turn));
            let read = file.suite(&files).expect("it can be read");
            assert!(read == made_turn.suite, "what is read of turn {turn} of {scenario}");
            let whole = made_turn.suite.to_json().expect("it is written");
            assert!(Suite::from_json(&whole).expect("it can be read") == made_turn.suite);
            (all, alone) = (all + text.len(), alone + whole.len());
            let (text, whole) =
                (tests.next(&made_turn.suite, &made_turn.equals), code::pytest(&made_turn.suite));
            run(text, &mut functions);
            let place = format!("turn {turn} of {scenario}");
            assert_eq!(functions.keys().count(), made_turn.suite.cases.len(), "the tests of {place}");
            let mut whole_tests = BTreeMap::new();
            run(&whole, &mut whole_tests);
            assert!(functions == whole_tests, "the tests of {place}");
            assert_eq!(records(text), records(&whole), "{place}");
            (tests_all, tests_alone) = (tests_all + text.len(), tests_alone + whole.len());
        }
        assert!(all * 2 < alone, "{all} bytes, and {alone} if every file wrote all its cases");
        assert!(
            tests_all * 3 < tests_alone,
            "{tests_all} bytes of tests, and {tests_alone} if all were whole"
        );
    }
}

/// What Python does with a file of tests: takes functions away and defines others, by name.
fn run(text: &str, functions: &mut BTreeMap<String, String>) {
    let mut parts = text.split("\n\n\ndef test_");
    let head = parts.next().unwrap_or_default();
    for removed in head.lines().filter_map(|line| line.strip_prefix("del test_")) {
        assert!(functions.remove(removed).is_some(), "{removed} is taken away and was not there");
    }
    for part in parts {
        let name = part.split('(').next().unwrap_or_default();
        let body = part.split("\n\n\n# ---").next().unwrap_or_default().trim_end();
        functions.insert(name.to_owned(), body.to_owned());
    }
}

/// How a file says that requests begin again, and how records are made.
fn records(text: &str) -> &str {
    let reset_start = text.find("\nRESET = ").expect("how it begins again");
    let length = text[reset_start..].find("\n}\n").expect("the end of the records");
    &text[reset_start..reset_start + length]
}

#[test]
fn tests_whose_names_would_be_the_same_are_written_whole() {
    let mut maker = TurnMaker::new(&ProgrammaticSampler, Seed { base: 3, scenario: 0 }, 5);
    let mut tests = code::PytestFiles::default();
    let mut suite = maker.make_next().expect("it is made").suite.clone();
    tests.next(&suite, &vec![None; suite.cases.len()]);
    suite.turn = 2;
    let equals: Vec<Option<usize>> = (0..suite.cases.len()).map(Some).collect();
    let text = tests.next(&suite, &equals);
    assert!(text.contains("from turn_1 import *") && !text.contains("def test_"), "nothing is new: {text}");
    suite.turn = 3;
    suite.cases[0].id = suite.cases[1].id.clone();
    let mut equals = equals;
    equals[0] = None;
    let text = tests.next(&suite, &equals).to_owned();
    assert_eq!(text, code::pytest(&suite), "two cases have one name");
    suite.turn = 4;
    assert!(
        tests
            .next(&suite, &(0..suite.cases.len()).map(Some).collect::<Vec<_>>())
            .contains("from turn_3 import *")
    );
}
