//! Wishes to a running run: a small file that the runner looks at twice a second, `.stamina/control.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::disk::{self, Keep};
use crate::state::Place;

/// What somebody wants of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// No new attempt begins while this is set; those in flight end.
    pub pause: bool,
    /// Attempts in flight are dropped (they are played again after a resume), the run ends.
    pub stop: bool,
    /// Episodes whose attempt in flight is to be ended and played again from its snapshot, or that are over because of
    /// something outside and are to be played on ([`crate::live::is_played_on`]); each with a number that grows with every
    /// wish.
    pub retry: std::collections::BTreeMap<String, u32>,
}

/// Reads the wish; absent or unreadable = none.
pub fn read(folder: &Path) -> Wish {
    disk::read_json(&path(folder)).ok().flatten().unwrap_or_default()
}

/// Writes it, atomically.
pub fn write(folder: &Path, wish: &Wish) -> Result<(), RunError> {
    disk::write_json(&path(folder), wish, Keep::WhileTheMachineRuns)
}

fn path(folder: &Path) -> std::path::PathBuf {
    Place::new(folder).own().join("control.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_read_as_it_was_written() {
        let room = tempfile::tempdir().unwrap();
        assert_eq!(read(room.path()), Wish::default());
        std::fs::create_dir(room.path().join(".stamina")).unwrap();
        let wish = Wish { pause: true, stop: false, retry: [("scenario_1".to_owned(), 2)].into() };
        write(room.path(), &wish).unwrap();
        assert_eq!(read(room.path()), wish);
        std::fs::write(path(room.path()), "{").unwrap();
        assert_eq!(read(room.path()), Wish::default());
    }
}
