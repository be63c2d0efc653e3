//! How many answers of a model were taken and refused, and how many were filled from the seed instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What became of the answers so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Answers that were taken.
    pub taken: u64,
    /// Of these, at the first attempt.
    pub taken_first: u64,
    /// Answers that were refused, or that never came.
    pub refused: u64,
    /// Questions of which every answer was refused: what the seed gives took the place of an answer.
    pub filled: u64,
}

impl Counts {
    /// `9 answers taken, 1 refused, 0 filled from the seed`.
    pub fn in_words(self) -> String {
        let Self { taken, refused, filled, .. } = self;
        let answers = if taken == 1 { "answer" } else { "answers" };
        format!("{taken} {answers} taken, {refused} refused, {filled} filled from the seed")
    }
}

/// Who hears of every answer.
type Hears = dyn Fn(Counts) + Send + Sync;

/// Counts answers, of all threads that ask; clones count together.
#[derive(Clone, Default)]
pub struct Tally {
    counts: Arc<Mutex<(Counts, BTreeMap<String, Counts>)>>,
    hears: Option<Arc<Hears>>,
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Tally {
    /// One that tells somebody after every answer.
    pub fn with_listener(hears: impl Fn(Counts) + Send + Sync + 'static) -> Self {
        Self { hears: Some(Arc::new(hears)), ..Self::default() }
    }

    /// What became of the answers so far.
    pub fn counts(&self) -> Counts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// The same by what was asked for: `first`, `change`.
    pub fn by_purpose(&self) -> BTreeMap<String, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// An answer came, at an attempt from 1.
    pub(crate) fn answered(&self, purpose: &str, attempt: u32, taken: bool) {
        let purpose = purpose.split(' ').next().unwrap_or_default();
        self.count(purpose, |counts| {
            counts.taken += u64::from(taken);
            counts.taken_first += u64::from(taken && attempt == 1);
            counts.refused += u64::from(!taken);
        });
    }

    /// What the seed gives took the place of an answer.
    pub(crate) fn filled(&self, purpose: &str) {
        self.count(purpose.split(' ').next().unwrap_or_default(), |counts| counts.filled += 1);
    }

    fn count(&self, purpose: &str, add: impl Fn(&mut Counts)) {
        let now = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut counts.0);
            if !counts.1.contains_key(purpose) {
                counts.1.insert(purpose.to_owned(), Counts::default());
            }
            counts.1.get_mut(purpose).into_iter().for_each(add);
            counts.0
        };
        if let Some(hears) = &self.hears {
            hears(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_what_was_asked_and_told_at_once() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        let tally =
            Tally::with_listener(move |counts| kept.lock().expect("no panic").push(counts.in_words()));
        tally.answered("first", 1, true);
        for attempt in 1..=3 {
            tally.answered("change 2", attempt, false);
        }
        tally.filled("change 2");
        tally.answered("change 3", 2, true);
        assert_eq!(tally.counts(), Counts { taken: 2, taken_first: 1, refused: 3, filled: 1 });
        assert_eq!(tally.by_purpose()["change"], Counts { taken: 1, taken_first: 0, refused: 3, filled: 1 });
        let heard = heard.lock().expect("no panic");
        assert_eq!(heard[0], "1 answer taken, 0 refused, 0 filled from the seed");
        assert_eq!(
            heard.last().map(String::as_str),
            Some("2 answers taken, 3 refused, 1 filled from the seed")
        );
    }
}
