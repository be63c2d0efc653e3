//! The hash of all that is played of the tasks of a run.

use std::io::Read as _;

use files::{Tree, join};
use sha2::Digest as _;

use super::{PLAYED, Task};

/// Largest file whose contents are in the hash of the tasks, in bytes: the most that a folder of a task may hold and be played
/// ([`super::super::archives::fits`]).
const LARGEST_HASHED: u64 = 256 << 20;

/// SHA-256 over names and contents of all that is played.
pub(super) fn hash(tree: &Tree, list: &[Task]) -> String {
    let mut hash = sha2::Sha256::new();
    for task in list {
        hash_file(tree, &join(&task.folder, "task.toml"), 0, &mut hash);
        for folder in PLAYED {
            hash_folder(tree, &join(&task.folder, folder), &mut hash);
        }
    }
    crate::origin::hex(&hash.finalize())
}

fn hash_folder(tree: &Tree, folder: &str, hash: &mut sha2::Sha256) {
    for entry in tree.list(folder) {
        let path = join(folder, &entry.name);
        if entry.is_folder() {
            hash_folder(tree, &path, hash);
        } else {
            hash_file(tree, &path, entry.size, hash);
        }
    }
}

fn hash_file(tree: &Tree, path: &str, size: u64, hash: &mut sha2::Sha256) {
    hash.update((path.len() as u64).to_le_bytes());
    hash.update(path.as_bytes());
    hash.update(size.to_le_bytes());
    if size > LARGEST_HASHED {
        return;
    }
    let Ok(mut file) = tree.open_file(path) else { return };
    let mut piece = vec![0; 64 << 10];
    while let Ok(count) = file.read(&mut piece) {
        if count == 0 {
            break;
        }
        hash.update(piece.get(..count).unwrap_or_default());
    }
}
