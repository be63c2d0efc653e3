//! What is taken over from the turn before, against the same made anew.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::ir::Schema;
use crate::pack::Maker;
use crate::sample::Programmatic;
use crate::suite::{Suite, SuiteFile, SuiteFiles, suite};
use crate::{Seed, code, text};

#[test]
fn what_is_taken_over_from_the_turn_before_is_what_would_be_made() {
    for scenario in 0..3 {
        let seed = Seed { base: 11, scenario };
        let mut maker = Maker::new(&Programmatic, seed, 5);
        let mut before: Option<(Schema, Suite)> = None;
        let (mut cases, mut equal) = (0, 0);
        for turn in 1..=30 {
            let made = maker.make_next().expect("it is made");
            let alone = suite(seed, &made.schema, before.as_ref().map(|(_, suite)| suite));
            for (made, alone) in made.suite.cases.iter().zip(&alone.cases) {
                assert_eq!(made, alone, "turn {turn} of {scenario}");
            }
            assert!(made.suite == alone, "the suite of turn {turn} of {scenario}");
            assert_eq!(made.specification, text::specification(&made.schema));
            if let (Some((schema, _)), Some(changes)) = (&before, &made.changes) {
                let changes: Vec<Change> = changes.changes.iter().map(|change| change.what.clone()).collect();
                assert_eq!(made.request, text::change_request(seed, schema, &changes, &made.schema));
                cases += made.suite.cases.len();
                equal += made.equals.iter().flatten().count();
            }
            before = Some((made.schema.clone(), alone));
        }
        // Where a body of a record is another now, what is written of the cases about that entity may be other too.
        assert!(equal * 10 > cases * 7, "only {equal} of {cases} cases are taken over as they are");
    }
}

#[test]
fn what_files_of_earlier_turns_write_is_what_would_be_written() {
    for scenario in 0..2 {
        let mut maker = Maker::new(&Programmatic, Seed { base: 3, scenario }, 5);
        let (mut suites, mut tests) = (SuiteFiles::default(), code::PytestFiles::default());
        let mut files = BTreeMap::new();
        let (mut all, mut alone) = (0, 0);
        for turn in 1..=25 {
            let made = maker.make_next().expect("it is made");
            let text = suites.next(&made.suite, &made.equals).expect("it is written");
            files.insert(turn, text.to_vec());
            let file = SuiteFile::read(text).expect("it is a file of a suite");
            assert!(file.refers_to().iter().all(|other| *other < turn));
            let read = file.suite(&files).expect("it can be read");
            assert!(read == made.suite, "what is read of turn {turn} of {scenario}");
            let whole = made.suite.to_json().expect("it is written");
            assert!(Suite::from_json(&whole).expect("it can be read") == made.suite);
            (all, alone) = (all + text.len(), alone + whole.len());
            let text = tests.next(&made.suite, &made.equals);
            assert!(text == code::pytest(&made.suite), "the tests of turn {turn} of {scenario}");
        }
        assert!(all * 2 < alone, "{all} bytes, and {alone} if every file wrote all its cases");
    }
}
