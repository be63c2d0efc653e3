//! Snapshots of an agent's workspace, and what changed between two of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use ts_rs::TS;

use super::text::escape;
use files::{ReadError, Tree, join};

/// Most files of a snapshot.
const MAX_FILES: usize = 5_000;
/// Largest file whose lines are compared or shown.
const MAX_TEXT: u64 = 1 << 20;
/// Time for comparing the lines of one file, and of all; what takes longer is compared more coarsely, or not by lines.
const FILE_TIME: Duration = Duration::from_millis(200);
const ALL_TIME: Duration = Duration::from_secs(2);

/// The files of a folder and the folders in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// By path.
    pub files: Vec<SnapshotFile>,
    /// Whether there are more than are listed.
    pub cut: bool,
    /// Folders that hold what tools made (`.git`, `node_modules`), which are not listed.
    pub left_out: Vec<String>,
}

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Path inside the snapshot.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// [`Entry::stamp`](files::Entry::stamp).
    stamp: u64,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// Not there before.
    Added,
    /// Not there any more.
    Removed,
    /// Other content.
    Modified,
    /// The same.
    Unchanged,
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileChange {
    /// Path inside the snapshot.
    pub path: String,
    /// How it changed.
    pub status: FileStatus,
    /// Lines added; `None` = binary or too large to compare.
    pub added: Option<u32>,
    /// Lines removed.
    pub removed: Option<u32>,
    /// Size after (before, if removed).
    pub bytes: u64,
}

/// What changed between two snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Changed files first, then unchanged ones, each by path.
    pub files: Vec<FileChange>,
    /// Lines added in all files.
    pub added: u32,
    /// Lines removed in all files.
    pub removed: u32,
    /// Whether there are more files than are listed.
    pub cut: bool,
}

/// Both sides of a file. A side is `None` where the file is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeFile {
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
    /// Why there is no text: binary, or larger than the cap.
    pub not_shown: Option<String>,
}

/// Lists the files of a snapshot. A folder that is not there has none.
pub fn snapshot(tree: &Tree, folder: &str) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut folders = vec![String::new()];
    while let Some(below) = folders.pop() {
        for entry in tree.list(&join_both(folder, &below)) {
            let path = join(&below, &entry.name);
            if !entry.is_folder() {
                if snapshot.files.len() == MAX_FILES {
                    snapshot.cut = true;
                    break;
                }
                snapshot.files.push(SnapshotFile { path, bytes: entry.size, stamp: entry.stamp });
            } else if is_made_by_tools(&entry.name) {
                snapshot.left_out.push(path);
            } else {
                folders.push(path);
            }
        }
    }
    snapshot.files.sort_by(|a, b| a.path.cmp(&b.path));
    snapshot.left_out.sort();
    snapshot
}

/// Says which files changed from one snapshot to another, and by how many lines. `before` = `None`: everything is new.
pub fn compare(tree: &Tree, before: Option<&str>, after: &str) -> Comparison {
    let old = before.map(|folder| snapshot(tree, folder)).unwrap_or_default();
    let new = snapshot(tree, after);
    let mut sides: BTreeMap<&str, (Option<&SnapshotFile>, Option<&SnapshotFile>)> = BTreeMap::new();
    for file in &old.files {
        sides.entry(&file.path).or_default().0 = Some(file);
    }
    for file in &new.files {
        sides.entry(&file.path).or_default().1 = Some(file);
    }
    let deadline = Instant::now() + ALL_TIME;
    let mut comparison = Comparison { cut: old.cut || new.cut, ..Comparison::default() };
    for (path, (old_file, new_file)) in sides {
        let old_path = before.map(|folder| join_both(folder, path));
        let change =
            FileComparison { tree, path, old_file, new_file, old_path, new_path: join_both(after, path) };
        comparison.files.push(change.compare(deadline));
    }
    comparison.files.sort_by(|a, b| {
        let unchanged = |file: &FileChange| file.status == FileStatus::Unchanged;
        (unchanged(a), &a.path).cmp(&(unchanged(b), &b.path))
    });
    comparison.added = comparison.files.iter().filter_map(|f| f.added).fold(0, u32::saturating_add);
    comparison.removed = comparison.files.iter().filter_map(|f| f.removed).fold(0, u32::saturating_add);
    comparison
}

/// Reads both sides of a file of two snapshots. Errors: only if neither side is there, or one cannot be read.
pub fn file_pair(tree: &Tree, before: Option<&str>, after: &str, path: &str) -> Result<CodeFile, ReadError> {
    let mut file = CodeFile::default();
    let mut side = |folder: Option<&str>| -> Result<Option<String>, ReadError> {
        let Some(folder) = folder else { return Ok(None) };
        match read_file_text(tree, &join_both(folder, path)) {
            Ok(Text::Text(text)) => Ok(Some(escape(&text))),
            Ok(Text::NotShown(reason)) => {
                file.not_shown = Some(reason);
                Ok(None)
            }
            Err(ReadError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let (old, new) = (side(before)?, side(Some(after))?);
    if file.not_shown.is_some() {
        return Ok(file);
    }
    if old.is_none() && new.is_none() {
        return Err(ReadError::Missing);
    }
    Ok(CodeFile { before: old, after: new, not_shown: None })
}

struct FileComparison<'a> {
    tree: &'a Tree,
    path: &'a str,
    old_file: Option<&'a SnapshotFile>,
    new_file: Option<&'a SnapshotFile>,
    old_path: Option<String>,
    new_path: String,
}

impl FileComparison<'_> {
    fn compare(&self, deadline: Instant) -> FileChange {
        let status = match (self.old_file, self.new_file) {
            (None, _) => FileStatus::Added,
            (_, None) => FileStatus::Removed,
            (Some(old_file), Some(new_file)) if self.is_same(old_file, new_file) => FileStatus::Unchanged,
            _ => FileStatus::Modified,
        };
        let lines = match status {
            FileStatus::Unchanged => Some((0, 0)),
            _ if Instant::now() > deadline => None,
            _ => self.count_lines(deadline),
        };
        FileChange {
            path: self.path.to_owned(),
            status,
            added: lines.map(|(added, _)| added),
            removed: lines.map(|(_, removed)| removed),
            bytes: self.new_file.or(self.old_file).map_or(0, |file| file.bytes),
        }
    }

    fn is_same(&self, old_file: &SnapshotFile, new_file: &SnapshotFile) -> bool {
        if old_file.bytes != new_file.bytes {
            return false;
        }
        // In a zip equal stamps are equal check sums; in a folder only the content decides.
        if self.tree.is_zip() {
            return old_file.stamp == new_file.stamp;
        }
        let Some(old_path) = &self.old_path else { return false };
        same_bytes(self.tree, old_path, &self.new_path).unwrap_or(false)
    }

    fn count_lines(&self, deadline: Instant) -> Option<(u32, u32)> {
        let read = |file: Option<&SnapshotFile>, path: Option<&String>| match (file, path) {
            (Some(file), Some(path)) if file.bytes <= MAX_TEXT => match read_file_text(self.tree, path) {
                Ok(Text::Text(text)) => Some(text),
                _ => None,
            },
            (Some(_), _) => None,
            (None, _) => Some(String::new()),
        };
        let old = read(self.old_file, self.old_path.as_ref())?;
        let new = read(self.new_file, Some(&self.new_path))?;
        let file_deadline = deadline.min(Instant::now() + FILE_TIME);
        let diff = TextDiff::configure().deadline(file_deadline).diff_lines(&old, &new);
        let mut lines = (0_u32, 0_u32);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => lines.0 += 1,
                ChangeTag::Delete => lines.1 += 1,
                ChangeTag::Equal => {}
            }
        }
        Some(lines)
    }
}

enum Text {
    Text(String),
    NotShown(String),
}

fn read_file_text(tree: &Tree, path: &str) -> Result<Text, ReadError> {
    let bytes = match tree.read(path, MAX_TEXT) {
        Ok(bytes) => bytes,
        Err(ReadError::TooLarge { size, .. }) => {
            return Ok(Text::NotShown(format!("The file has {size} bytes; up to {MAX_TEXT} are shown.")));
        }
        Err(error) => return Err(error),
    };
    if bytes.contains(&0) {
        return Ok(Text::NotShown(format!("The file is binary ({} bytes).", bytes.len())));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text::Text(text)),
        Err(error) => {
            Ok(Text::NotShown(format!("The file is not UTF-8 text ({} bytes).", error.as_bytes().len())))
        }
    }
}

fn same_bytes(tree: &Tree, a: &str, b: &str) -> Result<bool, ReadError> {
    let (mut a, mut b) = (tree.open_file(a)?, tree.open_file(b)?);
    let (mut left, mut right) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let byte_count = fill(&mut a, &mut left)?;
        if byte_count != fill(&mut b, &mut right)? || left[..byte_count] != right[..byte_count] {
            return Ok(false);
        }
        if byte_count < left.len() {
            return Ok(true);
        }
    }
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, ReadError> {
    let mut byte_count = 0;
    while byte_count < buffer.len() {
        match reader.read(&mut buffer[byte_count..])? {
            0 => break,
            more => byte_count += more,
        }
    }
    Ok(byte_count)
}

fn join_both(folder: &str, below: &str) -> String {
    if below.is_empty() { folder.to_owned() } else { join(folder, below) }
}

fn is_made_by_tools(name: &str) -> bool {
    matches!(
        name,
        ".git" | "node_modules" | "__pycache__" | ".venv" | "venv" | ".pytest_cache" | ".mypy_cache"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[test]
    fn a_comparison_tells_added_removed_modified_and_binary() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        write(root, "t1/app.py", "a\nb\nc\n");
        write(root, "t1/same.py", "s\n");
        write(root, "t1/old.py", "1\n2\n");
        write(root, "t1/image", b"\0\x01");
        write(root, "t2/app.py", "a\nB\nc\nd\n");
        write(root, "t2/same.py", "s\n");
        write(root, "t2/lib/new.py", "n\n");
        write(root, "t2/image", b"\0\x02");
        write(root, "t2/.git/objects/x", "x");
        write(root, "t2/large", vec![b'x'; (MAX_TEXT + 1) as usize]);
        let tree = Tree::open(root).unwrap();
        let comparison = compare(&tree, Some("t1"), "t2");
        let statuses: Vec<_> = comparison
            .files
            .iter()
            .map(|f| (f.path.as_str(), f.status, f.added, f.removed, f.bytes))
            .collect();
        assert_eq!(
            statuses,
            [
                ("app.py", FileStatus::Modified, Some(2), Some(1), 8),
                ("image", FileStatus::Modified, None, None, 2),
                ("large", FileStatus::Added, None, None, MAX_TEXT + 1),
                ("lib/new.py", FileStatus::Added, Some(1), Some(0), 2),
                ("old.py", FileStatus::Removed, Some(0), Some(2), 4),
                ("same.py", FileStatus::Unchanged, Some(0), Some(0), 2),
            ]
        );
        assert_eq!((comparison.added, comparison.removed), (3, 3));
        assert_eq!(snapshot(&tree, "t2").left_out, [".git"]);
        let all_new = compare(&tree, None, "t1");
        assert!(all_new.files.iter().all(|f| f.status == FileStatus::Added));

        let pair = file_pair(&tree, Some("t1"), "t2", "app.py").unwrap();
        assert_eq!(pair.before.as_deref(), Some("a\nb\nc\n"));
        assert_eq!(pair.after.as_deref(), Some("a\nB\nc\nd\n"));
        assert_eq!(file_pair(&tree, Some("t1"), "t2", "old.py").unwrap().after, None);
        assert!(file_pair(&tree, Some("t1"), "t2", "image").unwrap().not_shown.unwrap().contains("binary"));
        assert!(file_pair(&tree, Some("t1"), "t2", "large").unwrap().not_shown.unwrap().contains("bytes"));
        assert!(matches!(file_pair(&tree, Some("t1"), "t2", "none"), Err(ReadError::Missing)));
        assert!(matches!(file_pair(&tree, Some("t1"), "t2", "../t1/app.py"), Err(ReadError::Outside)));
    }
}
