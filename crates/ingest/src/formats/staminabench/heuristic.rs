//! The one door to all guessing: what scenarios and reports of unknown origin plainly say.
//!
//! The schemas of the original `trajectory.json` and of the entries of `report.json` are not public. What is taken for what
//! stands in [`field_names`] and [`file_names`]; what is not named there is kept as it stands. The rest of the format sees
//! what this file offers and nothing else, and the exact layout does not even see that.

mod episode;
mod facts;
mod field_names;
mod fields;
mod file_names;
mod listing;
mod odd_values;
mod recognition;
mod report_entries;
mod speaker;
mod step_sums;
mod trajectory;
mod transcript;
mod usage;

use model::{Episode, Transcript, Warning};

use self::facts::TrajectoryFacts;
pub(super) use self::report_entries::ReportEntries;
use self::step_sums::SummaryDocument;
use super::exact::{TRAJECTORY_CAP, is_own};
use super::part_warnings::PartWarnings;
use crate::readers::json::Node;
use files::{ReadError, Stamp, Tree};

/// A folder that is, or may be, a scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScenarioFolder<'a> {
    tree: &'a Tree,
    folder: &'a str,
}

impl<'a> ScenarioFolder<'a> {
    /// The folder of a tree.
    pub(super) const fn new(tree: &'a Tree, folder: &'a str) -> Self {
        Self { tree, folder }
    }

    /// Whether it is a scenario that was played; if not, what there is of one, and how close that is (0 to 100).
    pub(super) fn recognize(self) -> Result<(), (String, u8)> {
        recognition::is_scenario(self.tree, self.folder)
    }

    /// Changes with every name, size and time of what [`Self::read`] reads.
    pub(super) fn stamp(self) -> Stamp {
        listing::list(self.tree, self.folder).stamp
    }

    /// Completes an episode by what the trajectory says, what the names of files say, and what the test logs say.
    pub(super) fn read(self, episode: Episode, warnings: &mut PartWarnings<'_>) -> Episode {
        let listing = listing::list(self.tree, self.folder);
        let mut reported = TrajectoryFacts::default();
        if let Some((path, _)) = &listing.trajectory {
            let mut document = SummaryDocument::default();
            warnings.read_file();
            let done = self.tree.read_json_into(path, TRAJECTORY_CAP, &mut document);
            // Of one in our own schema was warned already.
            if let Err(error) = done
                && !is_own(self.tree, path)
            {
                warnings.warn(Warning::skipped(
                    path,
                    error.code(),
                    format!("{error}. What came before that place is read, the rest from the other files."),
                ));
            }
            reported = trajectory::trajectory(document, path);
            if reported.is_cut {
                warnings.warn(Warning::read_differently(
                    path,
                    "trajectory.too_large",
                    "There is more in this trajectory than is kept in memory. What came first is read.",
                ));
            }
        }
        episode::episode(self.tree, self.folder, episode, reported, listing, warnings)
    }
}

/// The steps at a JSON pointer of a file (`/turns/2/attempts/0/steps`; a range of a list as `/steps/3..7`).
///
/// Errors: the file cannot be read, or has no steps there.
pub(super) fn transcript(tree: &Tree, path: &str, pointer: &str) -> Result<Transcript, ReadError> {
    transcript::read(tree, path, pointer)
}

/// A JSON document of at most `cap` bytes, without its transcripts and within bounds.
///
/// Errors: the file cannot be read, is larger, or breaks off.
pub(super) fn document(tree: &Tree, path: &str, cap: u64) -> Result<Node, ReadError> {
    let mut document = SummaryDocument::default();
    tree.read_json_into(path, cap, &mut document)?;
    Ok(document.root)
}
