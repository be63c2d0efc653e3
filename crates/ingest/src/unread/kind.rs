//! A kind of results that are named and not read.

use super::sign::Sign;

/// Something that another program writes.
pub(super) struct Kind {
    /// Stable word in JSON.
    pub(super) id: &'static str,
    /// What one is, as a sentence continues: `a log of Inspect`.
    pub(super) singular: &'static str,
    /// What several are.
    pub(super) plural: &'static str,
    /// How the sentence ends, of one: `which is not read`.
    pub(super) not_read: &'static str,
    /// What to open instead.
    pub(super) open: &'static str,
    /// What it is recognized by.
    pub(super) signs: &'static [Sign],
}
