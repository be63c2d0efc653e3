//! What of a file is no strict JSON, counted and in words.

use std::fmt;
use std::ops::Range;

/// 2^64: numbers from here on are taken for unknown. Nothing that is counted or measured here comes near.
pub const BEYOND_64_BITS: f64 = 18_446_744_073_709_551_616.0;

/// What of a file is no strict JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// `NaN`, `Infinity`, `-Infinity`.
    pub(crate) not_numbers: u64,
    /// Numbers whose magnitude is 2^64 or more.
    pub(crate) beyond: u64,
    /// Objects and lists more than 127 levels deep.
    pub(crate) deep: u64,
    /// Halves of characters.
    pub(crate) halves: u64,
    /// Members of objects whose name comes again in the same object.
    pub(crate) repeated: u64,
    /// Where those members stand: sorted, apart from each other.
    pub(super) superseded: Vec<Range<u64>>,
}

impl Findings {
    /// Whether there is nothing to put right.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Findings {
    /// `2 values are NaN or infinite (unknown), 1 name stands twice in its object (the last one counts)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, singular: &str, plural: &str| match count {
            0 => None,
            1 => Some(format!("1 {singular}")),
            n => Some(format!("{n} {plural}")),
        };
        let parts = [
            counted(
                self.not_numbers,
                "value is NaN or infinite (unknown)",
                "values are NaN or infinite (unknown)",
            ),
            counted(
                self.beyond,
                "number is beyond 64 bits (unknown)",
                "numbers are beyond 64 bits (unknown)",
            ),
            counted(
                self.deep,
                "value lies more than 127 levels deep (unknown)",
                "values lie more than 127 levels deep (unknown)",
            ),
            counted(
                self.repeated,
                "name stands twice in its object (the last one counts)",
                "names stand twice in their object (the last one counts)",
            ),
            counted(
                self.halves,
                "half of a character is read as “\u{fffd}”",
                "halves of characters are read as “\u{fffd}”",
            ),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
