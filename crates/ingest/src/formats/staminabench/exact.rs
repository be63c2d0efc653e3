//! A scenario in Stamina Lab's own schema, read exactly as `docs/formats.md` defines it and the runner writes it.
//!
//! Nothing is guessed here: what is not as the schema says is read by `heuristic`, which this module knows nothing of.

mod episode;
mod harbor_step;
mod schema;

use model::{Episode, Warning};

pub use self::schema::SCHEMA;
pub(super) use self::schema::{SCHEMA_FAMILY, Trajectory};
use super::file_head::head;
use super::part_warnings::PartWarnings;
use files::{Stamp, Tree, join};

/// Largest trajectory that is read, in bytes.
pub(super) const TRAJECTORY_CAP: u64 = 4 << 30;

/// Whether a trajectory is in Stamina Lab's own schema, by its first bytes: `schema_version` is its first key.
pub(super) fn is_own(tree: &Tree, path: &str) -> bool {
    let Some(head) = head(tree, path, 256) else { return false };
    head.find("\"schema_version\"").is_some_and(|index| head[index..].contains(&format!("\"{SCHEMA}\"")))
}

/// Stamp of a scenario in our own schema: the trajectory, and every test log.
pub(super) fn stamp(tree: &Tree, folder: &str) -> Stamp {
    let mut stamp = Stamp::new().text(SCHEMA);
    let logs = join(folder, "test_results");
    let entries = tree.entry(&join(folder, "trajectory.json")).into_iter().chain(tree.list(&logs));
    for entry in entries {
        stamp = stamp.text(&entry.name).number(entry.size).number(entry.stamp);
    }
    stamp
}

/// The trajectory at a path. `None` = it is in another schema, or not what its schema says, of which the second is warned of.
pub(super) fn trajectory(tree: &Tree, path: &str, warnings: &mut PartWarnings<'_>) -> Option<Trajectory> {
    if !is_own(tree, path) {
        return None;
    }
    let mut recorded = Trajectory::default();
    warnings.read_file();
    let error = match tree.read_json_into(path, TRAJECTORY_CAP, &mut recorded) {
        Ok(()) => return Some(recorded),
        Err(error) => error,
    };
    warnings.warn(if error.code() == "json.wrong_type" {
        Warning::read_differently(
            path,
            "schema.mismatch",
            format!(
                "{error}. It says that it is of {SCHEMA} and is not: it is read for what it plainly says."
            ),
        )
    } else {
        Warning::skipped(
            path,
            error.code(),
            format!("{error}. The turns before that place are read, later ones from the other files."),
        )
    });
    None
}

/// The episode that a trajectory in the scenario folder records, and how many attempts a turn of it may have, where it says
/// so.
pub(super) fn episode(
    tree: &Tree,
    folder: &str,
    episode: Episode,
    recorded: Trajectory,
    warnings: &mut PartWarnings<'_>,
) -> (Episode, Option<u32>) {
    let limit = recorded.attempt_limit;
    (episode::episode(tree, folder, episode, recorded, warnings), limit)
}
