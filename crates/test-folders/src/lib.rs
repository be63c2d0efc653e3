//! Folders of tests: copies of fixtures, what a folder holds, and data that is no part of the repository.
//!
//! For tests only: whatever fails here ends the test. Programs read folders of others through `files`, which never leaves them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// Copies a folder with everything in it. Files of the same names in `target_folder` are replaced, others stay.
///
/// # Panics
/// If something cannot be read or written.
pub fn copy(source: &Path, target_folder: &Path) {
    for entry in entries(source) {
        let target = target_folder.join(below(&entry, source));
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).expect("a folder to copy into");
        } else {
            fs::copy(entry.path(), target).expect("a file to copy");
        }
    }
}

/// Every file below a folder, by its path in it.
///
/// # Panics
/// If something cannot be read.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    entries(folder)
        .filter(|entry| !entry.file_type().is_dir())
        .map(|entry| (below(&entry, folder).to_owned(), fs::read(entry.path()).expect("a file")))
        .collect()
}

/// Where data lies that is no part of the repository: in the folder `shared` beside it, or where `STAMINA_SHARED` says.
///
/// `None` = it is not on this machine. A line says so then, and the end of `npm test` lists the test: it has passed, and shown
/// nothing of this data.
pub fn data_beside_the_repository(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let data = env::var_os("STAMINA_SHARED").map_or_else(beside, PathBuf::from).join(path);
    if data.exists() {
        return Some(data);
    }
    say_what_is_missing(path);
    None
}

/// The line that `scripts/check/nextest.mjs` finds in the output of a test.
#[allow(clippy::print_stdout, reason = "the runner of the tests reads it")]
fn say_what_is_missing(path: &str) {
    println!("not run for lack of data: {path}");
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.expect("an entry of the folder"))
}

fn below<'a>(entry: &'a DirEntry, folder: &Path) -> &'a Path {
    entry.path().strip_prefix(folder).expect("a path below the folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_not_on_this_machine_is_none() {
        assert_eq!(data_beside_the_repository("nothing/of this name"), None);
    }

    #[test]
    fn a_copy_holds_what_the_folder_holds() {
        let room = tempfile::tempdir().expect("a folder");
        let (source, target) = (room.path().join("from"), room.path().join("to"));
        fs::create_dir_all(source.join("a/empty")).expect("a folder");
        fs::write(source.join("a/b.txt"), "b").expect("a file");
        fs::write(source.join("c"), [0, 1, 2]).expect("a file");
        copy(&source, &target);
        assert!(target.join("a/empty").is_dir());
        let expected = [(PathBuf::from("a/b.txt"), b"b".to_vec()), (PathBuf::from("c"), vec![0, 1, 2])];
        assert_eq!(contents(&target), BTreeMap::from(expected));
        assert_eq!(contents(&source), contents(&target));
    }
}
