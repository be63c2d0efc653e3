//! Parts: the units of reading, and the one write through which all results come.

use std::collections::HashMap;

use model::{Episode, Warning};

use crate::{Result, SourceId, Store};

/// What reading one part gave.
#[derive(Debug, Clone, Copy)]
pub struct PartRead<'a> {
    /// The folder of the source in which the format begins (`""` = its root).
    pub place: &'a str,
    /// The part's key inside its place.
    pub key: &'a str,
    /// Changes when the part's files change.
    pub stamp: u64,
    /// Episodes, each with the key of its run (put before with [`Store::put_runs`]).
    pub episodes: &'a [(String, Episode)],
    /// What could not be taken as it stood.
    pub warnings: &'a [Warning],
    /// Files parsed.
    pub files_read: u64,
}

impl Store {
    /// The stamps of all parts that were read whole, by (place, part key).
    pub fn part_stamps(&self, source: SourceId) -> Result<HashMap<(String, String), u64>> {
        todo!()
    }

    /// Replaces all that this part gave before, in one transaction. Writing the same reading again changes nothing.
    ///
    /// Episodes keep their slugs. An episode that names a run which [`Store::put_runs`] did not is left out with the
    /// warning `episode.run_unknown`, and the part counts as not read; of two episodes with one key in one run the
    /// later stays, with the warning `episode.duplicate`.
    pub fn put_part(&self, source: SourceId, part: &PartRead<'_>) -> Result<()> {
        todo!()
    }

    /// Deletes the parts that are not in `keep` (place, part key), with their episodes and warnings.
    pub fn drop_parts(&self, source: SourceId, keep: &[(String, String)]) -> Result<()> {
        todo!()
    }

    /// Deletes the runs and parts of places that are not in `keep`.
    pub fn drop_places(&self, source: SourceId, keep: &[String]) -> Result<()> {
        todo!()
    }
}
