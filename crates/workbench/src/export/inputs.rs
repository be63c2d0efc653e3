//! Hashes of what was read: the files below each run's place in its source.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;

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
    let mut places: BTreeMap<(i64, String), (String, String)> = BTreeMap::new();
    for run in data.members.iter().flat_map(|m| &m.runs) {
        let record = run_record(&workbench.store, run)?;
        places
            .entry((record.entry.source, record.entry.place.clone()))
            .or_insert_with(|| (record.entry.source_name.clone(), record.source_path.clone()));
    }
    let mut sums: BTreeMap<String, String> = BTreeMap::new();
    let mut warnings = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    for ((source, place), (name, path)) in places {
        let tree = match workbench.live.tree(source, &path) {
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
                let label = format!("{name}/{path}");
                if sums.contains_key(&label) {
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
                        sums.insert(label, hash);
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
