//! What the fuzz targets share: a small real sample in which one file is replaced by the input.

use std::fs;
use std::path::{Path, PathBuf};

use ingest::format::{Format, Report};
use files::{Tree, join};
use model::{Artifact, ArtifactKind, Episode};

/// A sample of a format on disk, one file of which changes from input to input.
pub struct Sample {
    folder: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Where a fixture lies.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}

/// The files below a folder, by path.
pub fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a fixture can be listed") {
            let path = entry.expect("a fixture can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).expect("a fixture can be read");
                files.push((path.strip_prefix(root).expect("below its root").to_owned(), bytes));
            }
        }
    }
    files.sort();
    files
}

impl Sample {
    /// Copies a fixture to a temporary folder.
    pub fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let files = files(&fixture(name));
        for (path, bytes) in &files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder can be made");
            fs::write(path, bytes).expect("a file can be written");
        }
        Self { folder, files }
    }

    /// Unpacks a fixture that is a zip.
    pub fn of_zip(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = Tree::open(&fixture(name)).expect("a fixture can be opened");
        let mut folders = vec![String::new()];
        while let Some(at) = folders.pop() {
            for entry in tree.list(&at) {
                let path = join(&at, &entry.name);
                if entry.is_folder() {
                    fs::create_dir(folder.path().join(&path)).expect("a folder can be made");
                    folders.push(path);
                } else {
                    let bytes = tree.read(&path, 1 << 26).expect("a fixture can be read");
                    fs::write(folder.path().join(&path), bytes).expect("a file can be written");
                }
            }
        }
        let files = files(folder.path());
        Self { folder, files }
    }

    /// The files that an input can replace, in their order.
    pub fn files(&self) -> &[(PathBuf, Vec<u8>)] {
        &self.files
    }

    /// Reads the sample with the file that the first two bytes choose replaced by the others.
    pub fn read_with(&self, format: &dyn Format, input: &[u8]) {
        self.with(input, |tree| read(format, &tree));
    }

    /// Does anything with the sample in which that file is replaced.
    pub fn with(&self, input: &[u8], work: impl FnOnce(Tree)) {
        let [a, b, content @ ..] = input else { return };
        let (path, whole) = &self.files[usize::from(u16::from_le_bytes([*a, *b])) % self.files.len()];
        let path = self.folder.path().join(path);
        fs::write(&path, content).expect("a file can be written");
        work(Tree::open(self.folder.path()).expect("a folder can be opened"));
        fs::write(&path, whole).expect("a file can be written");
    }
}

/// Everything that a format does with a tree.
fn read(format: &dyn Format, tree: &Tree) {
    format.sniff(tree, "");
    let mut report = Report::default();
    let survey = format.survey(tree, "", &mut report);
    for part in &survey.parts {
        for reading in format.read(tree, "", part, &mut report) {
            assert!(survey.runs.iter().any(|run| run.key == reading.run), "an episode without a run");
            for artifact in transcripts(&reading.episode) {
                let _ = format.transcript(tree, artifact);
            }
        }
    }
}

fn transcripts(episode: &Episode) -> impl Iterator<Item = &Artifact> {
    let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
    attempts.flat_map(|a| &a.artifacts).filter(|a| a.kind == ArtifactKind::Transcript)
}
