//! Random choices that are equal on every machine and independent of each other.
//!
//! Every choice comes from a [`Draw`] named by base seed, scenario, turn and purpose. Turn k of a scenario therefore does
//! not depend on the number of later turns, and a purpose does not depend on the draws of another purpose. Choices that
//! hold over all turns of a scenario, for example values in tests, use turn 0.
//!
//! The arithmetic uses integers only. A library could change its algorithm, so `ChaCha8` only gives the words, and this
//! module makes the choices.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// A stream of random choices.
#[derive(Debug, Clone)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The stream of a purpose in a turn (0 = over all turns) of a scenario (from 0).
    pub fn new(base_seed: u64, scenario: u32, turn: u32, purpose: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"stamina-draw/1");
        hash.update(base_seed.to_le_bytes());
        hash.update(scenario.to_le_bytes());
        hash.update(turn.to_le_bytes());
        hash.update(purpose.as_bytes());
        Self(ChaCha8Rng::from_seed(hash.finalize().into()))
    }

    /// An integer from 0 to `n` − 1, all equally likely (Lemire 2019, "Fast random integer generation in an interval",
    /// with rejection). 0 if `n` is 0.
    pub fn number_below(&mut self, n: usize) -> usize {
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            if wide as u64 >= n.wrapping_neg() % n {
                return (wide >> 64) as usize;
            }
        }
    }

    /// An integer from `low` to `high`, both included.
    pub fn number_between(&mut self, low: i64, high: i64) -> i64 {
        low.saturating_add_unsigned(self.number_below((high - low + 1).max(0) as usize) as u64)
    }

    /// True with a probability of `percent` / 100.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.number_below(100) < percent as usize
    }

    /// An item of `choices`, all equally likely. `None` if it is empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.number_below(choices.len()))
    }

    /// An index of `weights`, with a probability proportional to its weight. `None` if all weights are 0.
    pub fn weighted_index(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        if total == 0 {
            return None;
        }
        let mut rest = self.number_below(total as usize) as u64;
        for (index, &weight) in weights.iter().enumerate() {
            if rest < u64::from(weight) {
                return Some(index);
            }
            rest -= u64::from(weight);
        }
        None
    }

    /// Puts items into a random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.number_below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_for_ever() {
        let mut draw = Draw::new(0, 3, 17, "changes");
        let drawn: Vec<usize> = (0..8).map(|_| draw.number_below(1000)).collect();
        assert_eq!(drawn, GOLDEN);
    }
    const GOLDEN: [usize; 8] = [634, 722, 307, 79, 680, 892, 510, 724];

    #[test]
    fn every_part_of_its_name_counts() {
        let first =
            |seed, scenario, turn, purpose| Draw::new(seed, scenario, turn, purpose).number_below(usize::MAX);
        let all = [
            first(0, 0, 0, "a"),
            first(1, 0, 0, "a"),
            first(0, 1, 0, "a"),
            first(0, 0, 1, "a"),
            first(0, 0, 0, "b"),
        ];
        for (index, drawn) in all.iter().enumerate() {
            assert!(!all[index + 1..].contains(drawn));
        }
    }

    #[test]
    fn choices_stay_in_their_bounds() {
        let mut draw = Draw::new(7, 0, 0, "bounds");
        for _ in 0..1000 {
            assert!(draw.number_below(3) < 3);
            assert!((-2..=2).contains(&draw.number_between(-2, 2)));
            assert!(draw.weighted_index(&[0, 2, 0, 1]).is_some_and(|index| index == 1 || index == 3));
        }
        assert_eq!(draw.weighted_index(&[0, 0]), None);
        assert_eq!(draw.pick::<u8>(&[]), None);
        let mut items = [1, 2, 3, 4, 5];
        draw.shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, [1, 2, 3, 4, 5]);
    }
}
