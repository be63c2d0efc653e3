//! How many answers of a model were accepted and refused, and how many the seed filled instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The counts so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Accepted answers.
    pub taken: u64,
    /// Answers that were accepted at the first attempt.
    pub taken_first: u64,
    /// Refused and missing answers.
    pub refused: u64,
    /// Questions with only refused answers, which the seed filled.
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

/// Called after every answer.
type Listener = dyn Fn(Counts) + Send + Sync;

/// Counts the answers of all threads. Clones share their counts.
#[derive(Clone, Default)]
pub struct Tally {
    counts: Arc<Mutex<(Counts, BTreeMap<String, Counts>)>>,
    listener: Option<Arc<Listener>>,
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Tally {
    /// A tally that calls a listener after every answer.
    pub fn with_listener(listener: impl Fn(Counts) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        model::lock(&self.counts).0
    }

    /// The counts by purpose: `first`, `change`.
    pub fn by_purpose(&self) -> BTreeMap<String, Counts> {
        model::lock(&self.counts).1.clone()
    }

    /// Counts an answer, with the number of its attempt, from 1.
    pub(crate) fn count_answer(&self, purpose: &str, attempt: u32, taken: bool) {
        let purpose = purpose.split(' ').next().unwrap_or_default();
        self.count(purpose, |counts| {
            counts.taken += u64::from(taken);
            counts.taken_first += u64::from(taken && attempt == 1);
            counts.refused += u64::from(!taken);
        });
    }

    /// Counts a question that the seed filled.
    pub(crate) fn count_filled(&self, purpose: &str) {
        self.count(purpose.split(' ').next().unwrap_or_default(), |counts| counts.filled += 1);
    }

    fn count(&self, purpose: &str, add: impl Fn(&mut Counts)) {
        let now = {
            let mut counts = model::lock(&self.counts);
            add(&mut counts.0);
            if !counts.1.contains_key(purpose) {
                counts.1.insert(purpose.to_owned(), Counts::default());
            }
            counts.1.get_mut(purpose).into_iter().for_each(add);
            counts.0
        };
        if let Some(listener) = &self.listener {
            listener(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_purpose_and_reported_at_once() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        let tally =
            Tally::with_listener(move |counts| kept.lock().expect("no panic").push(counts.in_words()));
        tally.count_answer("first", 1, true);
        for attempt in 1..=3 {
            tally.count_answer("change 2", attempt, false);
        }
        tally.count_filled("change 2");
        tally.count_answer("change 3", 2, true);
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
