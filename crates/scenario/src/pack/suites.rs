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
    /// Writes a suite. `known` gives the line of a case where it is there already.
    fn fill<'k>(
        &mut self,
        suite: &Suite,
        known: impl Fn(usize, Mark) -> Option<&'k [u8]>,
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
            match known(index, case.mark) {
                Some(line) => out.extend_from_slice(line),
                None => serde_json::to_writer(&mut *out, case)?,
            }
            self.cases.push((begin..out.len(), case.mark));
        }
        out.extend_from_slice(b"\n]}\n");
        Ok(())
    }
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
        now.fill(suite, |index, mark| {
            let (line, then) = before.cases.get((*equals.get(index)?)?)?;
            if *then == mark { before.text.get(line.clone()) } else { None }
        })?;
        Ok(&self.now.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Maker;
    use crate::sample::Programmatic;
    use crate::{Seed, code};

    #[test]
    fn what_is_taken_from_the_file_before_is_what_would_be_written() {
        for scenario in 0..2 {
            let mut maker = Maker::new(&Programmatic, Seed { base: 3, scenario }, 5);
            let (mut suites, mut tests) = (SuiteFiles::default(), code::PytestFiles::default());
            let (mut cases, mut equal) = (0, 0);
            for turn in 1..=25 {
                let made = maker.make_next().expect("it is made");
                let mut alone = File::default();
                alone.fill(&made.suite, |_, _| None).expect("it is written");
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
