//! Folders of a task as archives for its container.

use files::{Tree, join};
use sandbox::PackedFiles;

/// Most bytes and entries of one archive: it is held in memory.
const MOST_BYTES: u64 = 256 << 20;
const MOST_ENTRIES: u32 = 50_000;
/// Most bytes and entries of a solution that a simulated model writes, file by file.
pub(super) const LARGEST_SOLUTION: u64 = 4 << 20;
pub(super) const MOST_FILES: u32 = 1_000;

/// Adds what lies in a folder to an archive, below `target`. The error is a sentence that names the file. Blocks.
pub(super) fn folder(
    tree: &Tree,
    source: &str,
    target: &str,
    packed: &mut PackedFiles,
) -> Result<(), String> {
    add(tree, source, target, packed, &mut RoomLeft::empty_archive())
}

/// Whether what lies in a folder fits into an archive, told by the sizes that the folder states. Blocks.
pub(super) fn fits(tree: &Tree, source: &str) -> bool {
    fits_into(tree, source, &mut RoomLeft::empty_archive())
}

/// Whether a solution is one that a simulated model writes, told by the sizes that its folder states. Blocks.
pub(super) fn is_solution_written(tree: &Tree, source: &str) -> bool {
    fits_into(tree, source, &mut RoomLeft::empty_solution())
}

fn fits_into(tree: &Tree, source: &str, left: &mut RoomLeft) -> bool {
    tree.list(source).into_iter().all(|entry| {
        left.take(entry.size) && (!entry.is_folder() || fits_into(tree, &join(source, &entry.name), left))
    })
}

/// What lies in the folder of a solution: names relative to it, and contents. The error is a sentence that names the file.
/// Blocks.
pub(super) fn contents(tree: &Tree, source: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    fn add(
        tree: &Tree,
        source: &str,
        target: &str,
        left: &mut RoomLeft,
        found: &mut Vec<(String, Vec<u8>)>,
    ) -> Result<(), String> {
        for entry in tree.list(source) {
            let (path, name) = (join(source, &entry.name), join(target, &entry.name));
            if !left.take(entry.size) {
                return Err(format!("{source} holds {}", left.what_is_too_much(entry.size)));
            }
            if entry.is_folder() {
                add(tree, &path, &name, left, found)?;
            } else {
                let content =
                    tree.read(&path, LARGEST_SOLUTION).map_err(|error| format!("{path}: {error}"))?;
                found.push((name, content));
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    add(tree, source, "", &mut RoomLeft::empty_solution(), &mut found)?;
    Ok(found)
}

/// What still has room.
struct RoomLeft {
    bytes: u64,
    entries: u32,
    /// What there was room for.
    most: (u64, u32),
}

impl RoomLeft {
    const fn empty_archive() -> Self {
        Self { bytes: MOST_BYTES, entries: MOST_ENTRIES, most: (MOST_BYTES, MOST_ENTRIES) }
    }

    const fn empty_solution() -> Self {
        Self { bytes: LARGEST_SOLUTION, entries: MOST_FILES, most: (LARGEST_SOLUTION, MOST_FILES) }
    }

    /// Why something of a size was not taken.
    fn what_is_too_much(&self, bytes: u64) -> String {
        if self.bytes < bytes {
            format!("more than {} MiB", self.most.0 >> 20)
        } else {
            format!("more than {} entries", self.most.1)
        }
    }

    /// Takes one entry; false once there is no room.
    fn take(&mut self, bytes: u64) -> bool {
        match (self.bytes.checked_sub(bytes), self.entries.checked_sub(1)) {
            (Some(bytes), Some(entries)) => {
                (self.bytes, self.entries) = (bytes, entries);
                true
            }
            _ => false,
        }
    }
}

fn add(
    tree: &Tree,
    source: &str,
    target: &str,
    packed: &mut PackedFiles,
    left: &mut RoomLeft,
) -> Result<(), String> {
    for entry in tree.list(source) {
        let (path, name) = (join(source, &entry.name), join(target, &entry.name));
        if entry.is_folder() {
            if !left.take(0) {
                return Err(format!("{source} holds {}", left.what_is_too_much(0)));
            }
            packed.folder(&name, false).map_err(|error| format!("{path}: {error}"))?;
            add(tree, &path, &name, packed, left)?;
            continue;
        }
        let content = tree.read(&path, left.bytes).map_err(|error| format!("{path}: {error}"))?;
        let bytes = content.len() as u64;
        if !left.take(bytes) {
            return Err(format!("{source} holds {}", left.what_is_too_much(bytes)));
        }
        packed.file(&name, &content).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_named() {
        let mut left = RoomLeft { bytes: 10, entries: 1, ..RoomLeft::empty_archive() };
        assert!(!left.take(11));
        assert_eq!(left.what_is_too_much(11), "more than 256 MiB");
        assert!(left.take(10) && !left.take(0));
        assert_eq!(left.what_is_too_much(0), "more than 50000 entries");
        assert_eq!(RoomLeft::empty_solution().what_is_too_much(5 << 20), "more than 4 MiB");
    }
}
