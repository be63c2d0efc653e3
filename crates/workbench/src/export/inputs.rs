//! Hashes of what was read: the files below each run's place in its source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use files::Tree;
use sha2::{Digest as _, Sha256};

use crate::Workbench;
use crate::api::{ApiError, Comparison};
use crate::episodes::run_record;

/// The most bytes that are hashed for one export: transcripts of a large library may have terabytes. Of files there may be
/// any number.
pub(super) const MOST_BYTES: u64 = 64 << 30;
/// Threads that hash; more of them wait for one disk.
const THREADS: usize = 4;
/// The most files that are named one by one as not hashed.
const MOST_NAMED: usize = 1_000;

/// How an export goes on, for whoever waits for it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Told after each file that was hashed: how many are done, and of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Stops it when it becomes true; nothing is written then.
    pub cancel: &'a AtomicBool,
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Watch<'_> {
    /// For an export that nobody observes or stops.
    pub fn nobody() -> Watch<'static> {
        Watch { progress: &|_, _| {}, cancel: &NEVER }
    }

    pub(super) fn check_continues(&self) -> Result<(), ApiError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(ApiError::new("export.stopped", "It was stopped, and nothing was written"));
        }
        Ok(())
    }
}

/// What was hashed.
pub(super) struct Inputs {
    /// `HASH  SOURCE/PATH`, as `sha256sum` writes it, sorted by path; what was left out stands above as comments.
    pub(super) sums: String,
    /// What was left out, and why.
    pub(super) warnings: Vec<String>,
}

/// A file that is to be hashed.
struct Input {
    tree: Arc<Tree>,
    source: i64,
    path: String,
    /// `SOURCE/PATH`.
    name: String,
    size: u64,
}

/// Hashes the files of the runs of a comparison, up to so many bytes in the order of their paths.
pub(super) fn hash(
    workbench: &Workbench,
    data: &Comparison,
    most_bytes: u64,
    watch: &Watch<'_>,
) -> Result<Inputs, ApiError> {
    let mut omitted = LeftOutFiles::default();
    let (names, inputs) = find(workbench, data, &mut omitted)?;
    let mut bytes = 0_u64;
    let (within, beyond): (Vec<Input>, Vec<Input>) = inputs.into_iter().partition(|input| {
        bytes = bytes.saturating_add(input.size);
        bytes <= most_bytes
    });
    let hashed = hash_all(&within, watch)?;
    let mut sums = String::new();
    for (input, hash) in within.iter().zip(hashed) {
        match hash {
            Some(hash) => {
                let _ = writeln!(sums, "{hash}  {}", line(&input.name));
            }
            None => omitted.file(input, UNREADABLE),
        }
    }
    for input in &beyond {
        omitted.file(input, BEYOND);
    }
    Ok(Inputs {
        sums: format!("{}{sums}", omitted.comments()),
        warnings: omitted.warnings(&names, most_bytes),
    })
}

fn line(name: &str) -> String {
    name.replace(['\n', '\r'], "?")
}

/// Why a file is not hashed.
const UNREADABLE: &str = "cannot be read";
const BEYOND: &str = "is beyond what one export hashes";

/// What is not hashed.
#[derive(Default)]
struct LeftOutFiles {
    /// Files with the reason.
    files: Vec<(String, &'static str)>,
    /// How many of a source for which reason.
    counts: BTreeMap<(i64, &'static str), u64>,
    /// Sources that could not be opened.
    sources: Vec<String>,
}

impl LeftOutFiles {
    fn file(&mut self, input: &Input, reason: &'static str) {
        *self.counts.entry((input.source, reason)).or_default() += 1;
        self.files.push((input.name.clone(), reason));
    }

    /// As `sha256sum` passes over them.
    fn comments(&self) -> String {
        let mut out = String::new();
        for source in &self.sources {
            let _ = writeln!(out, "# Not hashed: {}", line(source));
        }
        for (name, reason) in self.files.iter().take(MOST_NAMED) {
            let _ = writeln!(out, "# Not hashed: {} {reason}", line(name));
        }
        if self.files.len() > MOST_NAMED {
            let more = model::counted((self.files.len() - MOST_NAMED) as u64, "more file");
            let _ = writeln!(out, "# Not hashed: {more}");
        }
        out
    }

    fn warnings(&self, names: &BTreeMap<i64, String>, most_bytes: u64) -> Vec<String> {
        let counted = self.counts.iter().map(|((source, reason), count)| {
            let files = if *count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let reason = if *reason == BEYOND {
                format!("one export hashes at most {} GiB", most_bytes >> 30)
            } else {
                format!("{} be read", if *count == 1 { "it cannot" } else { "they cannot" })
            };
            format!("{files} of {} not hashed: {reason}", names[source])
        });
        self.sources.iter().cloned().chain(counted).collect()
    }
}

/// The files below the places of the runs, by their names, and what those of each source begin with.
fn find(
    workbench: &Workbench,
    data: &Comparison,
    omitted: &mut LeftOutFiles,
) -> Result<(BTreeMap<i64, String>, Vec<Input>), ApiError> {
    // Places of each source; a run's place is the folder that its files lie in.
    let mut places: BTreeSet<(i64, String)> = BTreeSet::new();
    let mut paths: BTreeMap<i64, String> = BTreeMap::new();
    for run in data.members.iter().flat_map(|m| &m.runs) {
        let record = run_record(&workbench.store, run)?;
        places.insert((record.entry.source, record.entry.place.clone()));
        paths.insert(record.entry.source, record.source_path.clone());
    }
    let names = names(&paths);
    let mut trees: BTreeMap<i64, Option<Arc<Tree>>> = BTreeMap::new();
    for (source, path) in &paths {
        let tree = match workbench.opened_sources.tree(*source, path) {
            Ok(tree) => Some(tree),
            Err(error) => {
                let name = &names[source];
                omitted.sources.push(format!(
                    "The files of {name} cannot be read, so they are not hashed: {}",
                    error.message
                ));
                None
            }
        };
        trees.insert(*source, tree);
    }
    // Places of runs may lie in one another.
    let mut found: BTreeMap<String, Input> = BTreeMap::new();
    for (source, place) in places {
        let Some(tree) = &trees[&source] else { continue };
        let mut folders = vec![place];
        while let Some(folder) = folders.pop() {
            for entry in tree.list(&folder) {
                let path = files::join(&folder, &entry.name);
                if entry.is_folder() {
                    folders.push(path);
                    continue;
                }
                let name = format!("{}/{path}", names[&source]);
                let input =
                    Input { tree: Arc::clone(tree), source, path, name: name.clone(), size: entry.size };
                found.insert(name, input);
            }
        }
    }
    Ok((names, found.into_values().collect()))
}

/// The hash of each file; `None` = it cannot be read.
fn hash_all(inputs: &[Input], watch: &Watch<'_>) -> Result<Vec<Option<String>>, ApiError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut own = Vec::new();
        while watch.check_continues().is_ok() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(place) else { break };
            own.push((place, sum(&input.tree, &input.path, watch.cancel)));
            (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, inputs.len());
        }
        own
    };
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, THREADS);
    let parts: Vec<_> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    watch.check_continues()?;
    let mut hashes = vec![None; inputs.len()];
    for part in parts {
        let part = part.map_err(|_| ApiError::new("export.failed", "Hashing the inputs failed inside"))?;
        for (place, hash) in part {
            hashes[place] = hash;
        }
    }
    Ok(hashes)
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

/// Hash of a file; `None` = it cannot be read, or nobody waits for it any more.
fn sum(tree: &Tree, path: &str, cancel: &AtomicBool) -> Option<String> {
    let mut file = tree.open_file(path).ok()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hash.update(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(hex(&hash.finalize()))
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
    use crate::api::{CompareRequest, ListRuns, Member};

    fn names_of(paths: &[&str]) -> Vec<String> {
        names(&(1..).zip(paths.iter().map(|path| (*path).to_owned())).collect()).into_values().collect()
    }

    /// A library of the made-up results, and their comparison.
    fn compared(folder: &Path) -> (Arc<Workbench>, Comparison) {
        let db = Some(folder.join("library.sqlite"));
        let workbench = Workbench::open(crate::Options { db, ..crate::Options::default() }).unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/staminabench/own");
        workbench.ingest(&fixture, &|_, _| {}).unwrap();
        let run =
            workbench.list_runs(ListRuns { limit: 1, ..ListRuns::default() }).unwrap().rows.remove(0).id;
        let request = CompareRequest { members: vec![Member::Run { run }], ..CompareRequest::default() };
        let data = workbench.compare_runs(request).unwrap();
        (workbench, data)
    }

    #[test]
    fn what_is_beyond_the_most_bytes_is_named_in_the_file_and_in_the_warnings() {
        let folder = tempfile::tempdir().unwrap();
        let (workbench, data) = compared(folder.path());
        let reported = AtomicUsize::new(0);
        let progress = |_: usize, total: usize| {
            reported.fetch_max(total, Ordering::Relaxed);
        };
        let watch = Watch { progress: &progress, cancel: &NEVER };
        let all = hash(&workbench, &data, MOST_BYTES, &watch).unwrap();
        let files = all.sums.lines().count();
        assert!(files > 3 && all.warnings.is_empty() && !all.sums.contains('#'), "{}", all.sums);
        assert_eq!(reported.load(Ordering::Relaxed), files, "each file is reported");
        assert_eq!(all.sums, hash(&workbench, &data, MOST_BYTES, &Watch::nobody()).unwrap().sums);
        let bounded = hash(&workbench, &data, 2_000, &Watch::nobody()).unwrap();
        let (omitted, hashed): (Vec<&str>, Vec<&str>) =
            bounded.sums.lines().partition(|l| l.starts_with("# "));
        assert!(
            !omitted.is_empty() && !hashed.is_empty() && omitted.len() + hashed.len() == files,
            "{}",
            bounded.sums
        );
        assert!(
            omitted.iter().all(|l| l.starts_with("# Not hashed: own/") && l.ends_with("one export hashes"))
        );
        assert!(hashed.iter().all(|line| all.sums.contains(line)));
        assert!(
            bounded.warnings[0].starts_with(&format!("{} file", omitted.len())),
            "{:?}",
            bounded.warnings
        );
    }

    #[test]
    fn it_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let (workbench, data) = compared(folder.path());
        let cancel = AtomicBool::new(false);
        let progress = |_: usize, _: usize| cancel.store(true, Ordering::Relaxed);
        let stopped = hash(&workbench, &data, MOST_BYTES, &Watch { progress: &progress, cancel: &cancel });
        assert_eq!(stopped.err().map(|error| error.code), Some("export.stopped".to_owned()));
    }

    #[test]
    fn sources_of_one_name_are_told_apart_by_the_folders_above_them() {
        assert_eq!(names_of(&["/data/results", "/data/other.zip"]), ["results", "other.zip"]);
        assert_eq!(names_of(&["/x/a/results", "/x/b/results"]), ["a/results", "b/results"]);
        assert_eq!(
            names_of(&["/a/x/results", "/b/x/results", "/c/results"]),
            ["a/x/results", "b/x/results", "c/results"]
        );
        // A source whose name is a folder of another's path.
        assert_eq!(names_of(&["/1/a", "/2/a/results", "/3/b/results"]), ["1/a", "2/a/results", "b/results"]);
        assert_eq!(names_of(&["/results", "/results/results"]), ["results", "results/results"]);
    }
}
