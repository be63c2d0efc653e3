//! Tags and notes. They hang on a run's slug, not on its row, and so survive re-reading, closing and purging.

use crate::{Result, Store};

impl Store {
    /// Adds and removes tags of runs, and sets their note if one is given (an empty one deletes it). Slugs that no run
    /// ever had are passed over. Blank tags are not stored.
    pub fn annotate(
        &self,
        runs: &[String],
        add: &[String],
        remove: &[String],
        note: Option<&str>,
    ) -> Result<()> {
        todo!()
    }
}
