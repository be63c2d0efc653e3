//! Tests of a part of a source, in bounded memory: of further ones some are only counted.

use model::{Attempt, TestResult};

/// Tests that are kept of one part, over all its attempts; a test with long texts counts for several. Three parts are in memory
/// at once, and a test takes some 200 bytes.
const MOST: usize = 300_000;

/// How many tests a part may still keep.
#[derive(Debug)]
pub(crate) struct KeptTests {
    left: usize,
}

impl KeptTests {
    /// Of a part of which nothing is read yet.
    pub(crate) const fn new() -> Self {
        Self { left: MOST }
    }

    /// Leaves an attempt no more tests than there is room for: first those that passed go, then all that do not fit. Says
    /// whether some went.
    pub(crate) fn keep(&mut self, attempt: &mut Attempt) -> bool {
        let total = |tests: &[TestResult]| tests.iter().map(weight).sum::<usize>();
        let is_cut = total(&attempt.tests) > self.left;
        if is_cut {
            attempt.tests.retain(TestResult::is_failing);
            let mut left = self.left;
            let kept = attempt.tests.iter().take_while(|test| {
                let fits = weight(test) <= left;
                left = left.saturating_sub(weight(test));
                fits
            });
            let kept = kept.count();
            attempt.tests.truncate(kept);
            attempt.tests.shrink_to_fit();
        }
        self.left -= total(&attempt.tests);
        is_cut
    }
}

fn weight(test: &TestResult) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    1 + (test.id.len() + text(&test.message) + text(&test.expected) + text(&test.actual)) / 256
}

#[cfg(test)]
mod tests {
    use model::{TestOutcome, Verdict};

    use super::*;

    fn attempt(count: usize, text: usize) -> Attempt {
        let mut attempt = Attempt::new(1, Verdict::Failed);
        attempt.tests = (0..count)
            .map(|number| {
                let outcome = if number % 4 == 0 { TestOutcome::Failed } else { TestOutcome::Passed };
                TestResult { message: Some("x".repeat(text)), ..TestResult::new("t", outcome) }
            })
            .collect();
        attempt
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn tests_of_a_part_are_kept_up_to_a_bound() {
        let mut tests = KeptTests { left: 100 };
        let (mut first, mut second, mut third) = (attempt(80, 10), attempt(80, 10), attempt(4, 10));
        assert!(!tests.keep(&mut first));
        assert_eq!(first.tests.len(), 80);
        assert!(tests.keep(&mut second), "of 80 the 20 that failed");
        assert!(second.tests.len() == 20 && second.tests.iter().all(TestResult::is_failing));
        assert!(tests.keep(&mut third));
        assert_eq!(third.tests.len(), 0);
        // Long texts count.
        let (mut tests, mut long) = (KeptTests { left: 100 }, attempt(100, 2_560));
        assert!(tests.keep(&mut long));
        assert_eq!(long.tests.len(), 9);
    }
}
