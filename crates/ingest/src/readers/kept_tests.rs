//! Tests of a part of a source, in bounded memory: of further ones some are only counted.

use model::{Attempt, TestResult};

/// Bytes of tests that are kept of one part, over all its attempts: some 200,000 tests of short names. Three parts are in memory
/// at once, and the attempts that are being read beside them.
const MOST_BYTES: usize = 48 << 20;

/// Bytes that the allocation of a text takes beside the text.
const ALLOCATION: usize = 16;

/// How much of tests a part may still keep.
#[derive(Debug)]
pub(crate) struct KeptTests {
    /// Bytes.
    free_bytes: usize,
}

impl KeptTests {
    /// Of a part of which nothing is read yet.
    pub(crate) const fn new() -> Self {
        Self { free_bytes: MOST_BYTES }
    }

    /// Leaves an attempt no more tests than there is room for: first those that passed go, then all that do not fit. Says
    /// whether some went.
    pub(crate) fn keep(&mut self, attempt: &mut Attempt) -> bool {
        let total = |tests: &[TestResult]| tests.iter().map(bytes).sum::<usize>();
        let is_cut = total(&attempt.tests) > self.free_bytes;
        if is_cut {
            attempt.tests.retain(TestResult::is_failing);
            let mut left = self.free_bytes;
            let kept = attempt.tests.iter().take_while(|test| {
                let fits = bytes(test) <= left;
                left = left.saturating_sub(bytes(test));
                fits
            });
            let kept = kept.count();
            attempt.tests.truncate(kept);
            attempt.tests.shrink_to_fit();
        }
        self.free_bytes -= total(&attempt.tests);
        is_cut
    }
}

/// Bytes that a test takes in memory, with all its texts.
fn bytes(test: &TestResult) -> usize {
    let TestResult { id, outcome: _, group, kind, intent, scenario, expected, actual, message } = test;
    let texts = [group, kind, intent, scenario, expected, actual, message].into_iter().flatten();
    let lengths = std::iter::once(id).chain(texts).map(|text| text.len() + ALLOCATION);
    size_of::<TestResult>() + lengths.sum::<usize>()
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
        let test_bytes = bytes(&attempt(1, 10).tests[0]);
        let mut tests = KeptTests { free_bytes: 100 * test_bytes };
        let (mut first, mut second, mut third) = (attempt(80, 10), attempt(80, 10), attempt(4, 10));
        assert!(!tests.keep(&mut first));
        assert_eq!(first.tests.len(), 80);
        assert!(tests.keep(&mut second), "of 80 the 20 that failed");
        assert!(second.tests.len() == 20 && second.tests.iter().all(TestResult::is_failing));
        assert!(tests.keep(&mut third));
        assert_eq!(third.tests.len(), 0);
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn every_text_of_a_test_counts_in_full() {
        let plain = TestResult::new("", TestOutcome::Failed);
        let long = || Some("x".repeat(255));
        let with_text: [fn(&mut TestResult, Option<String>); 7] = [
            |test, text| test.group = text,
            |test, text| test.kind = text,
            |test, text| test.intent = text,
            |test, text| test.scenario = text,
            |test, text| test.expected = text,
            |test, text| test.actual = text,
            |test, text| test.message = text,
        ];
        for (number, set) in with_text.into_iter().enumerate() {
            let mut test = plain.clone();
            set(&mut test, long());
            assert!(bytes(&test) >= bytes(&plain) + 255, "text {number}");
            // As many as fit, of more than there is room for.
            let mut tests = KeptTests { free_bytes: 10 * bytes(&test) };
            let mut attempt = Attempt::new(1, Verdict::Failed);
            attempt.tests = vec![test; 40];
            assert!(tests.keep(&mut attempt));
            assert_eq!((attempt.tests.len(), tests.free_bytes), (10, 0), "text {number}");
        }
        // What a part keeps is bounded in bytes, however the texts are called.
        let mut attempt = Attempt::new(1, Verdict::Failed);
        attempt.tests = vec![TestResult { group: Some("x".repeat(200_000)), ..plain }; 300];
        let mut tests = KeptTests::new();
        assert!(tests.keep(&mut attempt));
        assert!((200..300).contains(&attempt.tests.len()), "{}", attempt.tests.len());
    }
}
