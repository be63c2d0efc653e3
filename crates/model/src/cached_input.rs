//! Whether a count of input tokens includes those that came from a cache.
//!
//! Harnesses differ in what they call input. In Stamina Lab, input always includes cached reads. A reader therefore adds
//! them to a count that lacks them, and records beside the count how it knew.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use ts_rs::TS;

use crate::Tokens;

/// Why the input tokens of an attempt, or of a whole episode, include the cached ones.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    TS,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CachedInput {
    /// The source includes them, or there are none.
    #[default]
    Included,
    /// Nothing proves that the source includes them. Another attempt of the run may prove that it does not.
    Assumed,
    /// The source counts them separately, so the reader added them.
    Added,
    /// The store added them, because another attempt of the same run has more cached than input tokens.
    AddedByRun,
}

impl CachedInput {
    /// Every value.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What the counts prove. More cached than input tokens can only be separate counts; other cached tokens may be.
    pub fn from_counts(tokens: &Tokens) -> Self {
        if tokens.cache_exceeds_input() {
            Self::Added
        } else if tokens.input.is_some() && tokens.cached.is_some_and(|cached| cached > 0) {
            Self::Assumed
        } else {
            Self::Included
        }
    }

    /// The inverse of [`CachedInput::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Tokens {
    /// Whether there are more cached than input tokens. The input then does not include the cached ones.
    pub fn cache_exceeds_input(&self) -> bool {
        self.input.zip(self.cached).is_some_and(|(input, cached)| cached > input)
    }

    /// The same counts with the cached tokens added to the input, where the input is known.
    #[must_use]
    pub fn adding_cached(self) -> Self {
        let input = self.input.map(|input| input.saturating_add(self.cached.unwrap_or(0)));
        Self { input, ..self }
    }

    /// The same counts with an input that includes the cached tokens, which are added if they exceed it.
    #[must_use]
    pub fn with_cached_included(self) -> Self {
        if self.cache_exceeds_input() { self.adding_cached() } else { self }
    }

    /// The same counts, without cached tokens if the input is unknown. In a sum, they would otherwise count as a part of
    /// the input of others.
    #[must_use]
    pub fn without_part_of_unknown(self) -> Self {
        Self { cached: self.cached.filter(|_| self.input.is_some()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_added_to_a_smaller_input() {
        let input = |input, cached| Tokens { input, cached, output: None }.with_cached_included().input;
        assert_eq!(input(Some(1_000), Some(9_000)), Some(10_000));
        assert_eq!(input(Some(9_000), Some(9_000)), Some(9_000));
        assert_eq!(input(Some(9_000), None), Some(9_000));
        assert_eq!(input(None, Some(9_000)), None, "the cached tokens do not tell the input");
        assert_eq!(input(Some(1), Some(u64::MAX)), Some(u64::MAX));
        let part =
            |input| Tokens { input, cached: Some(5), output: Some(7) }.without_part_of_unknown().cached;
        assert_eq!((part(Some(10)), part(None)), (Some(5), None));
        for value in CachedInput::ALL {
            assert_eq!(CachedInput::parse(value.as_str()), Some(*value));
        }
    }
}
