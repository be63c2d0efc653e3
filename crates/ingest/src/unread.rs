//! What other programs write and Stamina Lab does not read, so that it can be named, and what to open instead.
//!
//! Looked for where no format recognized anything, and beside the places that formats recognized. Each kind is recognized by its structure, from a table ([`table`]):
//! names in a folder, the form of a JSON document, the first bytes of a file. How much is read is bounded, whatever
//! the folder holds.

use std::borrow::Cow;
use std::collections::HashSet;

mod form;
mod kind;
mod sign;
mod table;

pub use self::form::by_form;

use files::{Entry, Tree, join};

use crate::noise::is_noise;
use crate::readers::outline::Outline;

use self::kind::Kind;
use self::sign::Sign;

/// Most folders that are looked into.
const FOLDERS: usize = 2_000;
/// Levels below the root that are looked into.
const LEVELS: u32 = 6;
/// Most files that are opened.
const FILES: usize = 400;
/// Most files of one folder that are opened.
const FILES_OF_FOLDER: usize = 20;
/// Most bytes of one file that are read.
const HEAD: u64 = 1 << 20;
/// Most bytes that are read.
const BYTES: u64 = 64 << 20;
/// Bytes that are read first; they decide whether more are read.
const FIRST: u64 = 512;

/// Results of another program, and where the first of them lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadResults {
    /// Stable word: `mini_swe_agent`.
    pub kind: &'static str,
    /// What it is, in words that fit the count: `a trajectory of mini-swe-agent`, `3 trajectories of mini-swe-agent`.
    pub name: String,
    /// How a sentence about it continues: `which is not read`; nothing where the name says all.
    pub not_read: String,
    /// The first file or folder, relative to the tree.
    pub path: String,
    /// How many files or folders were recognized among those that were read.
    pub count: usize,
    /// What to open instead.
    pub instead: Cow<'static, str>,
}

/// The kinds, as `docs/formats.md` lists them: the stable word, and what it is called.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    table::KINDS.iter().map(|kind| (kind.id, kind.singular))
}

/// Whether a file begins as a zip that holds something.
pub fn begins_as_zip(tree: &Tree, path: &str) -> bool {
    tree.read_range(path, 0, sign::ZIP.len() as u64).is_ok_and(|(bytes, _)| bytes == sign::ZIP)
}

/// Looks for results of other programs; what there is most of comes first.
pub fn find(tree: &Tree) -> Vec<UnreadResults> {
    find_outside(tree, &HashSet::new())
}

/// The same beside what is read: outside of the folders that are, and without what belongs to these formats, such as the tasks
/// of a job.
pub(crate) fn find_beside(tree: &Tree, folders: &HashSet<&str>, formats: &[&str]) -> Vec<UnreadResults> {
    let is_of_format = |found: &UnreadResults| {
        let format = match found.kind {
            "harbor_task" => "harbor",
            "terminal_bench_task" => "terminal-bench",
            "locobench_agent" => "locobench",
            _ => return false,
        };
        formats.contains(&format)
    };
    let mut found = find_outside(tree, folders);
    found.retain(|found| !is_of_format(found));
    found
}

fn find_outside(tree: &Tree, places: &HashSet<&str>) -> Vec<UnreadResults> {
    let mut search = ResultSearch { tree, found: Vec::new(), files_left: FILES, bytes_left: BYTES };
    // What is in it may be packed by a method that is not read.
    if places.is_empty()
        && tree.is_zip()
        && let Some(kind) = position(|sign| sign.is_of_zip(&tree.name()))
    {
        search.take(kind, "");
        return search.sorted();
    }
    let mut level = vec![String::new()];
    let mut folders = 0;
    for _ in 0..=LEVELS {
        let mut next = Vec::new();
        for folder in level {
            if folders == FOLDERS {
                break;
            }
            if places.contains(folder.as_str()) {
                continue;
            }
            folders += 1;
            next.extend(search.folder(&folder));
        }
        level = next;
    }
    search.sorted()
}

/// The first kind that has a sign.
fn position(has: impl Fn(Sign) -> bool) -> Option<usize> {
    table::KINDS.iter().position(|kind| kind.signs.iter().any(|sign| has(*sign)))
}

/// Where a kind was seen.
struct Occurrence {
    path: String,
    count: usize,
}

impl Kind {
    fn unread_results(&self, occurrence: Occurrence) -> UnreadResults {
        let (name, not_read) = if occurrence.count == 1 {
            (self.singular.to_owned(), self.not_read.to_owned())
        } else {
            (format!("{} {}", occurrence.count, self.plural), plural(self.not_read))
        };
        UnreadResults {
            kind: self.id,
            name,
            not_read,
            path: occurrence.path,
            count: occurrence.count,
            instead: self.open.into(),
        }
    }
}

/// `which is not read` of several.
fn plural(clause: &str) -> String {
    let words = clause.split(' ').map(|word| match word {
        "is" => "are",
        "has" => "have",
        "it" => "they",
        "its" => "their",
        "itself" => "themselves",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

struct ResultSearch<'a> {
    tree: &'a Tree,
    /// By the place of the kind in the table.
    found: Vec<(usize, Occurrence)>,
    files_left: usize,
    bytes_left: u64,
}

impl ResultSearch<'_> {
    fn sorted(mut self) -> Vec<UnreadResults> {
        self.found.sort_by(|(a, first), (b, other)| other.count.cmp(&first.count).then(a.cmp(b)));
        self.found
            .into_iter()
            .map(|(index, occurrence)| table::KINDS[index].unread_results(occurrence))
            .collect()
    }

    /// Reads a folder and its files. Returns the folders below that are to be read.
    fn folder(&mut self, folder_path: &str) -> Vec<String> {
        let entries = self.tree.list(folder_path);
        let folder_kind = position(|sign| sign.is_of_folder(&entries));
        if let Some(kind) = folder_kind {
            // All that lies in it is part of it.
            self.take(kind, folder_path);
            return Vec::new();
        }
        let files = entries.iter().filter(|entry| !entry.is_folder() && may_be_results(&entry.name));
        for entry in files.take(FILES_OF_FOLDER) {
            if self.files_left == 0 || self.bytes_left == 0 {
                break;
            }
            self.files_left -= 1;
            let path = join(folder_path, &entry.name);
            if let Some(kind) = self.file(&path, entry) {
                self.take(kind, &path);
            }
        }
        let subfolders = entries.iter().filter(|entry| entry.is_folder() && !is_noise(&entry.name));
        subfolders.map(|entry| join(folder_path, &entry.name)).collect()
    }

    fn file(&mut self, path: &str, entry: &Entry) -> Option<usize> {
        let mut read = |most: u64| {
            let most = most.min(self.bytes_left);
            let (bytes, _) = self.tree.read_range(path, 0, most).ok()?;
            self.bytes_left -= (bytes.len() as u64).min(self.bytes_left);
            Some(bytes)
        };
        let mut bytes = read(FIRST)?;
        let is_json = Outline::from_beginning(&bytes).is_some();
        if is_json && bytes.len() as u64 == FIRST {
            bytes = read(HEAD)?;
        }
        let outline = Outline::from_beginning(&bytes);
        position(|sign| sign.is_of_file(&entry.name, &bytes, outline.as_ref()))
    }

    fn take(&mut self, kind: usize, folder: &str) {
        match self.found.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, seen)) => seen.count += 1,
            None => self.found.push((kind, Occurrence { path: folder.to_owned(), count: 1 })),
        }
    }
}

/// Files that are surely something else: most of a folder of results is logs and code.
fn may_be_results(name: &str) -> bool {
    const OTHER: [&str; 16] = [
        "txt", "log", "md", "py", "sh", "toml", "yaml", "yml", "csv", "png", "svg", "html", "cast", "patch",
        "diff", "rs",
    ];
    !name.starts_with('.') && !name.rsplit_once('.').is_some_and(|(_, ending)| OTHER.contains(&ending))
}

#[cfg(test)]
mod tests;
