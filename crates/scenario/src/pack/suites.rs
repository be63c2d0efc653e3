//! The suites of a scenario as JSON, one after the other.

use std::io::Write as _;
use std::ops::Range;

use crate::suite::{Mark, Suite};

/// A suite as JSON with a builder and a case per line, so that two turns compare line by line.
#[derive(Debug, Default)]
struct File {
    text: Vec<u8>,
    /// Where the cases stand, and their marks.
    cases: Vec<(Range<usize>, Mark)>,
}

impl File {
    /// Writes a suite. `known` gives the line of a case where it is there already, and the mark in it.
    fn fill<'k>(
        &mut self,
        suite: &Suite,
        known: impl Fn(usize) -> Option<(&'k [u8], Mark)>,
    ) -> serde_json::Result<()> {
        self.text.clear();
        self.cases.clear();
        let out = &mut self.text;
        let version = serde_json::to_string(&suite.version)?;
        let reset = serde_json::to_string(&suite.reset)?;
        write!(
            out,
            "{{\"version\":{version},\"scenario\":{},\"turn\":{},\"reset\":{reset},\n\"builders\":[",
            suite.scenario, suite.turn
        )
        .map_err(serde_json::Error::io)?;
        let between = |index: usize| -> &[u8] { if index == 0 { b"\n" } else { b",\n" } };
        for (index, builder) in suite.builders.iter().enumerate() {
            out.extend_from_slice(between(index));
            serde_json::to_writer(&mut *out, builder)?;
        }
        out.extend_from_slice(b"\n],\n\"cases\":[");
        for (index, case) in suite.cases.iter().enumerate() {
            out.extend_from_slice(between(index));
            let begin = out.len();
            match known(index) {
                Some((line, mark)) if mark == case.mark => out.extend_from_slice(line),
                Some((line, _)) if remark(out, line, case.mark)?.is_some() => {}
                _ => serde_json::to_writer(&mut *out, case)?,
            }
            self.cases.push((begin..out.len(), case.mark));
        }
        out.extend_from_slice(b"\n]}\n");
        Ok(())
    }
}

/// What stands before the mark of a case. Inside a text the quotes would be escaped.
const MARK: &[u8] = b",\"mark\":";

/// Writes the line of a case with another mark; nothing if there is none in it.
fn remark(out: &mut Vec<u8>, line: &[u8], mark: Mark) -> serde_json::Result<Option<()>> {
    let Some(place) = line.windows(MARK.len()).position(|window| window == MARK) else { return Ok(None) };
    let begin = place + MARK.len();
    let (Some(head), Some(rest)) = (line.get(..begin), line.get(begin..)) else { return Ok(None) };
    let Some(end) = rest.iter().position(|&byte| byte == b',') else { return Ok(None) };
    out.extend_from_slice(head);
    serde_json::to_writer(&mut *out, &mark)?;
    out.extend_from_slice(rest.get(end..).unwrap_or_default());
    Ok(Some(()))
}

/// The files of one suite after another: the line of a case is taken from the file before where it is the same.
#[derive(Debug, Default)]
pub(super) struct SuiteFiles {
    now: File,
    before: File,
}

impl SuiteFiles {
    /// The next suite. `equals` says for each of its cases where in the suite before the one stands that it is equal to in
    /// everything but the mark.
    pub(super) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> serde_json::Result<&[u8]> {
        std::mem::swap(&mut self.now, &mut self.before);
        let Self { now, before } = self;
        now.fill(suite, |index| {
            let (line, mark) = before.cases.get((*equals.get(index)?)?)?;
            Some((before.text.get(line.clone())?, *mark))
        })?;
        Ok(&self.now.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::ir::Schema;
    use crate::pack::Maker;
    use crate::sample::Programmatic;
    use crate::suite::suite;
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
                    let changes: Vec<Change> =
                        changes.changes.iter().map(|change| change.what.clone()).collect();
                    assert_eq!(made.request, text::change_request(seed, schema, &changes, &made.schema));
                    cases += made.suite.cases.len();
                    equal += made.equals.iter().flatten().count();
                }
                before = Some((made.schema.clone(), alone));
            }
            assert!(equal * 4 > cases * 3, "only {equal} of {cases} cases are taken over as they are");
        }
    }

    #[test]
    fn what_is_taken_from_the_file_before_is_what_would_be_written() {
        for scenario in 0..2 {
            let mut maker = Maker::new(&Programmatic, Seed { base: 3, scenario }, 5);
            let (mut suites, mut tests) = (SuiteFiles::default(), code::PytestFiles::default());
            let (mut cases, mut equal) = (0, 0);
            for turn in 1..=25 {
                let made = maker.make_next().expect("it is made");
                let mut alone = File::default();
                alone.fill(&made.suite, |_| None).expect("it is written");
                let text = suites.next(&made.suite, &made.equals).expect("it is written");
                assert!(text == alone.text, "the suite of turn {turn} of {scenario}");
                let text = tests.next(&made.suite, &made.equals);
                assert!(text == code::pytest(&made.suite), "the tests of turn {turn} of {scenario}");
                if turn > 1 {
                    cases += made.suite.cases.len();
                    equal += made.equals.iter().flatten().count();
                }
            }
            assert!(equal * 2 > cases, "only {equal} of {cases} cases stay as they are");
        }
    }
}
