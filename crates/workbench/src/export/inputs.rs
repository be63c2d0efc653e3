//! Hashes of what was read: the files below each run's place in its source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use files::Tree;
use sha2::{Digest as _, Sha256};

use crate::Workbench;
use crate::api::{ApiError, Comparison};
use crate::summary::run_record;

/// The most files and bytes that are hashed for one export; a library of transcripts may have terabytes.
const MOST_FILES: usize = 50_000;
const MOST_BYTES: u64 = 4 << 30;

/// What was hashed.
pub(super) struct Inputs {
    /// `HASH  SOURCE/PATH`, as `sha256sum` writes it, sorted by path.
    pub(super) sums: String,
    /// What was left out, and why.
    pub(super) warnings: Vec<String>,
}

/// Hashes the files of the runs of a comparison.
pub(super) fn hash(workbench: &Workbench, data: &Comparison) -> Result<Inputs, ApiError> {
    // Places of each source; a run's place is the folder that its files lie in.
    let mut places: BTreeSet<(i64, String)> = BTreeSet::new();
    let mut paths: BTreeMap<i64, String> = BTreeMap::new();
    for run in data.members.iter().flat_map(|m| &m.runs) {
        let record = run_record(&workbench.store, run)?;
        places.insert((record.entry.source, record.entry.place.clone()));
        paths.insert(record.entry.source, record.source_path.clone());
    }
    let names = names(&paths);
    let mut sums: BTreeMap<String, String> = BTreeMap::new();
    let mut seen: BTreeSet<(i64, String)> = BTreeSet::new();
    let mut warnings = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    for (source, place) in places {
        let (name, path) = (&names[&source], &paths[&source]);
        let tree = match workbench.live.tree(source, path) {
            Ok(tree) => tree,
            Err(error) => {
                warnings.push(format!(
                    "The files of {name} can not be read, so they are not hashed: {}",
                    error.message
                ));
                continue;
            }
        };
        let mut left = 0_u64;
        let mut folders = vec![place];
        while let Some(folder) = folders.pop() {
            for entry in tree.list(&folder) {
                let path = files::join(&folder, &entry.name);
                if entry.is_folder() {
                    folders.push(path);
                    continue;
                }
                // Places of runs may lie in one another.
                if !seen.insert((source, path.clone())) {
                    continue;
                }
                if count >= MOST_FILES || bytes >= MOST_BYTES {
                    left += 1;
                    continue;
                }
                match sum(&tree, &path) {
                    Some((hash, size)) => {
                        count += 1;
                        bytes += size;
                        sums.insert(format!("{name}/{path}"), hash);
                    }
                    None => left += 1,
                }
            }
        }
        if left > 0 {
            warnings.push(format!(
                "{left} files of {name} are not hashed: they can not be read, or there are too many"
            ));
        }
    }
    let lines = sums.into_iter().map(|(path, hash)| format!("{hash}  {}\n", path.replace(['\n', '\r'], "?")));
    Ok(Inputs { sums: lines.collect(), warnings })
}

/// What the paths of each source begin with: its name, and with as many folders above it as tell it from the others. No two
/// files of different sources get one path.
fn names(paths: &BTreeMap<i64, String>) -> BTreeMap<i64, String> {
    let parts: BTreeMap<i64, Vec<String>> = paths
        .iter()
        .map(|(source, path)| {
            let parts = Path::new(path).components().filter_map(|part| match part {
                std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            });
            (*source, parts.collect())
        })
        .collect();
    let mut taken: BTreeMap<i64, usize> = parts.keys().map(|source| (*source, 1)).collect();
    let tail = |source: &i64, taken: usize| {
        let all = &parts[source];
        &all[all.len().saturating_sub(taken)..]
    };
    loop {
        // One that begins another's path could hold a file of the same name.
        let meets = |a: &i64, b: &i64| a != b && tail(a, taken[a]).starts_with(tail(b, taken[b]));
        let longer: Vec<i64> = parts
            .keys()
            .filter(|a| parts.keys().any(|b| meets(a, b) || meets(b, a)) && taken[a] < parts[a].len())
            .copied()
            .collect();
        if longer.is_empty() {
            break;
        }
        for source in longer {
            *taken.entry(source).or_default() += 1;
        }
    }
    parts.keys().map(|source| (*source, tail(source, taken[source]).join("/"))).collect()
}

/// Hash and size of a file; `None` = it can not be read.
fn sum(tree: &Tree, path: &str) -> Option<(String, u64)> {
    let mut file = tree.open_file(path).ok()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut size = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(&buffer[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some((hex(&hash.finalize()), size))
}

/// Bytes in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        names(&(1..).zip(paths.iter().map(|path| (*path).to_owned())).collect()).into_values().collect()
    }

    #[test]
    fn sources_of_one_name_are_told_apart_by_the_folders_above_them() {
        assert_eq!(of(&["/data/results", "/data/other.zip"]), ["results", "other.zip"]);
        assert_eq!(of(&["/x/a/results", "/x/b/results"]), ["a/results", "b/results"]);
        assert_eq!(
            of(&["/a/x/results", "/b/x/results", "/c/results"]),
            ["a/x/results", "b/x/results", "c/results"]
        );
        // A source whose name is a folder of another's path.
        assert_eq!(of(&["/1/a", "/2/a/results", "/3/b/results"]), ["1/a", "2/a/results", "b/results"]);
        assert_eq!(of(&["/results", "/results/results"]), ["results", "results/results"]);
    }
}
