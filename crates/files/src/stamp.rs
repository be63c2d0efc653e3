//! Stamps: 64-bit hashes that tell whether something changed.
//!
//! They are kept in the store between runs of the program, so they must come out the same in every build; the hashers of
//! the standard library promise no such thing. FNV-1a with a finisher is enough: a stamp guards against forgetting to
//! re-read, not against an adversary, who could as well set a file's time.

/// Adds up a stamp, part by part. Order matters, and so do the borders between parts.
#[derive(Debug, Clone, Copy)]
pub struct Stamp(u64);

impl Default for Stamp {
    fn default() -> Self {
        Self::new()
    }
}

impl Stamp {
    /// An empty one.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text: a name, a path.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.number(text.len() as u64)
    }

    /// Adds a number: a size, a time, an [`Entry::stamp`](super::Entry::stamp).
    #[must_use]
    pub const fn number(mut self, number: u64) -> Self {
        // The finisher of splitmix64: every bit of the number reaches every bit of the stamp.
        let mut z = self.0.wrapping_add(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
        self
    }

    /// The stamp of all that was added.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_borders_and_values_count() {
        let stamp = |parts: &[&str]| parts.iter().fold(Stamp::new(), |s, p| s.text(p)).finish();
        assert_ne!(stamp(&["ab", "c"]), stamp(&["a", "bc"]));
        assert_ne!(stamp(&["a", "b"]), stamp(&["b", "a"]));
        assert_ne!(Stamp::new().number(0).finish(), Stamp::new().finish());
        assert_eq!(stamp(&["a"]), stamp(&["a"]));
        // Kept in stores: a change of the algorithm makes every source be read again.
        assert_eq!(Stamp::new().text("result.json").number(42).finish(), 12_605_912_645_321_126_505);
    }
}
