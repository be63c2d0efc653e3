//! Unreadable files of a scenario, and the turns that could not be validated because of them.

use std::collections::BTreeMap;

use scenario::pack::{Mismatch, PackError};

/// The damage of a scenario, with each place once.
pub(super) struct Damage {
    found: Vec<Mismatch>,
    /// The index of a place in `found`.
    places: BTreeMap<String, usize>,
    /// By index in `found`: the turns that needed it, ascending.
    needed_at: BTreeMap<usize, Vec<u32>>,
}

impl Damage {
    /// Starts with the mismatches between content and manifest.
    pub(super) fn new(found: Vec<Mismatch>) -> Self {
        let places = found.iter().enumerate().map(|(index, mismatch)| (mismatch.at.clone(), index)).collect();
        Self { found, places, needed_at: BTreeMap::new() }
    }

    /// The result of reading for a turn; `None` if a file of the pack is missing or damaged, which is recorded.
    ///
    /// Errors: those without a damaged file of the pack.
    pub(super) fn read_or_record<T>(
        &mut self,
        turn: u32,
        read: Result<T, PackError>,
    ) -> Result<Option<T>, PackError> {
        let mismatch = match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) => error.damage()?,
        };
        let index = *self.places.entry(mismatch.at.clone()).or_insert(self.found.len());
        if index == self.found.len() {
            self.found.push(mismatch);
        }
        let turns = self.needed_at.entry(index).or_default();
        if turns.last() != Some(&turn) {
            turns.push(turn);
        }
        Ok(None)
    }

    /// All damage, with the turns that were not completely validated.
    pub(super) fn into_mismatches(mut self) -> Vec<Mismatch> {
        for (index, turns) in &self.needed_at {
            if let Some(mismatch) = self.found.get_mut(*index) {
                let problem = mismatch.what.trim_end_matches('.');
                let (s, turns) = (if turns.len() == 1 { "" } else { "s" }, ranges(turns));
                mismatch.what = format!("{problem}. Turn{s} {turns} could not be checked in full");
            }
        }
        self.found
    }
}

/// `3, 5-9`.
fn ranges(turns: &[u32]) -> String {
    turns
        .chunk_by(|previous, next| previous + 1 == *next)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run.iter().map(u32::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}
