//! What lies in a scenario folder: every file that its name gives to a turn or an attempt.

use model::ArtifactKind;

use super::file_names::{self, FilePlace};
use crate::formats::staminabench::folder_names;
use files::{Entry, Stamp, Tree, join};

/// Deepest folder below a folder of known kind that is looked into.
const DEPTH: u32 = 3;
/// Most entries that are taken from one scenario.
const MOST: usize = 200_000;

/// A file, or a folder with the code of an attempt.
#[derive(Debug, Clone)]
pub(super) struct ListedFile {
    /// Relative to the tree.
    pub(super) path: String,
    /// What it is.
    pub(super) kind: ArtifactKind,
    /// Where its name says it belongs.
    pub(super) placed: FilePlace,
    /// The folder of the scenario that it lies in; numbers are counted alike in one.
    pub(super) group: &'static str,
    /// Size in bytes; 0 for folders.
    pub(super) size: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// In the order of the folders, by name.
    pub(super) files: Vec<ListedFile>,
    /// `trajectory.json`, with its size.
    pub(super) trajectory: Option<(String, u64)>,
    /// Empty folders that stand where a file is expected.
    pub(super) no_files: Vec<String>,
    /// Changes with every name, size and time that was seen.
    pub(super) stamp: Stamp,
}

/// What lies in a folder, but for what macOS writes beside each file on a disk of another system: `._01.md` has the name of
/// `01.md`, and nothing of what that says.
fn entries(tree: &Tree, folder: &str) -> impl Iterator<Item = Entry> {
    tree.list(folder).into_iter().filter(|entry| !entry.name.starts_with("._"))
}

/// Lists a scenario folder.
pub(super) fn list(tree: &Tree, scenario: &str) -> Listing {
    let mut listing = Listing { stamp: Stamp::new(), ..Listing::default() };
    for entry in entries(tree, scenario) {
        let path = join(scenario, &entry.name);
        if !entry.is_folder() {
            listing.note(&entry);
            if entry.name.eq_ignore_ascii_case("trajectory.json") {
                listing.trajectory = Some((path, entry.size));
            }
            continue;
        }
        if entry.name.eq_ignore_ascii_case("trajectory.json") {
            listing.no_files.push(path);
        } else if let Some(kind) = folder_names::folder_kind(&entry.name) {
            listing.stamp = listing.stamp.text(&entry.name);
            if kind == ArtifactKind::Code {
                listing.code(tree, &path);
            } else {
                listing.below(tree, &path, "", Some(kind), group(kind), 0);
            }
        } else if file_names::file_place(&entry.name).turn.is_some()
            && entry.name.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            // A folder of a turn: `turn_3/attempt_2/server.log`.
            listing.stamp = listing.stamp.text(&entry.name);
            listing.below(tree, &path, &entry.name, None, "turn folders", 1);
        }
    }
    listing
}

const fn group(kind: ArtifactKind) -> &'static str {
    match kind {
        ArtifactKind::Reference => "ground_truth",
        ArtifactKind::Suite => "test_suites",
        ArtifactKind::Schema => "schemas",
        ArtifactKind::ServerLog => "server_logs",
        ArtifactKind::TestOutput => "test_results",
        ArtifactKind::AgentLog => "agent_logs",
        ArtifactKind::Request => "changes",
        _ => "agent_code",
    }
}

impl Listing {
    fn note(&mut self, entry: &Entry) {
        self.stamp = self.stamp.text(&entry.name).number(entry.size).number(entry.stamp);
    }

    fn below(
        &mut self,
        tree: &Tree,
        folder: &str,
        named: &str,
        kind: Option<ArtifactKind>,
        group: &'static str,
        depth: u32,
    ) {
        for entry in entries(tree, folder) {
            if self.files.len() >= MOST {
                return;
            }
            let path = join(folder, &entry.name);
            let named = join(named, &entry.name);
            if entry.is_folder() {
                self.stamp = self.stamp.text(&entry.name);
                // `turn_1_attempt_1.txt/`: a name of a file.
                if entry.name.contains('.') && self.no_files.len() < 100 && tree.list(&path).is_empty() {
                    self.no_files.push(path.clone());
                }
                let inner = kind.or_else(|| folder_names::folder_kind(&entry.name));
                if inner == Some(ArtifactKind::Code) {
                    let placed = file_names::file_place(&named);
                    self.files.push(ListedFile { path, kind: ArtifactKind::Code, placed, group, size: 0 });
                } else if depth < DEPTH {
                    self.below(tree, &path, &named, inner, group, depth + 1);
                }
                continue;
            }
            self.note(&entry);
            let kind = kind.unwrap_or_else(|| file_names::file_kind(&entry.name));
            self.files.push(ListedFile {
                path,
                kind,
                placed: file_names::file_place(&named),
                group,
                size: entry.size,
            });
        }
    }

    /// Snapshots of the code: of an attempt, or of a turn with attempts below it. What lies in a snapshot is not
    /// read.
    fn code(&mut self, tree: &Tree, folder: &str) {
        let group = "agent_code";
        for entry in entries(tree, folder) {
            self.stamp = self.stamp.text(&entry.name);
            let path = join(folder, &entry.name);
            let placed = file_names::file_place(&entry.name);
            if placed.turn.is_none() {
                continue;
            }
            let mut attempt_files = Vec::new();
            if entry.is_folder() && placed.attempt.is_none() {
                for inner in entries(tree, &path) {
                    let named = join(&entry.name, &inner.name);
                    let attempt_place = file_names::file_place(&named);
                    let is_attempt = attempt_place.attempt.is_some()
                        && (inner.is_folder() || inner.name.to_ascii_lowercase().contains("attempt"));
                    if is_attempt {
                        self.stamp = self.stamp.text(&inner.name);
                        attempt_files.push((join(&path, &inner.name), attempt_place));
                    }
                }
            }
            if attempt_files.is_empty() {
                attempt_files.push((path, placed));
            }
            for (path, placed) in attempt_files {
                if self.files.len() < MOST {
                    self.files.push(ListedFile { path, kind: ArtifactKind::Code, placed, group, size: 0 });
                }
            }
        }
    }
}
