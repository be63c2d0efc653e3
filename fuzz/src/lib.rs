//! The common code of the fuzz targets: a small real sample in which the input replaces one file.

use std::fs;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Report};
use model::{Artifact, ArtifactKind, Episode};
use runner::Recipe;

/// The files of [`Sample::pack`].
const PACK: [&str; 8] = [
    "manifest.json",
    "scenario_0/schemas/turn_1.yaml",
    "scenario_0/schemas/turn_2.yaml",
    "scenario_0/changes/turn_1.md",
    "scenario_0/changes/turn_2.md",
    "scenario_0/changes/turn_2.yaml",
    "scenario_0/test_suites/turn_1.json",
    "scenario_0/test_suites/turn_2.json",
];
/// Cases of a suite of [`Sample::pack`].
pub const CASES: usize = 12;

/// A sample of a format on disk. Each input replaces one of its files.
pub struct Sample {
    folder: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// The repository. These files are compiled for the fuzzer and, by `crates/workbench/tests/fuzz_targets.rs`, as a test.
fn repository() -> &'static Path {
    let is_root = |folder: &&Path| folder.join("fuzz/run").is_dir();
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(is_root).expect("the repository")
}

/// The path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    repository().join("tests/fixtures").join(name)
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

/// A suite with its first cases, one per line.
fn shortened(suite: &str) -> Vec<u8> {
    let (head, cases) = suite.split_once("\"cases\":[\n").expect("a list of cases");
    let kept: Vec<&str> = cases.lines().take(CASES).map(|line| line.trim_end_matches(',')).collect();
    format!("{head}\"cases\":[\n{}\n]}}\n", kept.join(",\n")).into_bytes()
}

/// A `task.toml` with the first of its steps.
fn first_step(task: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(task).expect("a task");
    let (head, steps) = text.split_once("[[steps]]").expect("a list of steps");
    let first = steps.split("[[steps]]").next().expect("a step");
    format!("{head}[[steps]]{first}").into_bytes()
}

/// Checks the shown lines of a recipe: they have the limits of the page of a resume, and no line forges another.
pub fn check_recipe(recipe: &Recipe) {
    assert!(recipe.images.len() <= 20 && recipe.executes.len() <= 100, "{recipe:?}");
    for line in recipe.images.iter().chain(&recipe.executes) {
        assert!(line.chars().count() <= 250 && !line.contains(['\n', '\r']), "{line:?}");
    }
}

impl Sample {
    /// Copies a fixture to a temporary folder.
    pub fn from_fixture(name: &str) -> Self {
        Self::from_files(files(&fixture(name)))
    }

    /// A folder of these files.
    pub fn from_files(files: Vec<(PathBuf, Vec<u8>)>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, bytes) in &files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder can be made");
            fs::write(path, bytes).expect("a file can be written");
        }
        Self { folder, files }
    }

    /// The records of a run, as its runner writes them.
    pub fn run() -> Self {
        Self::from_files(files(&repository().join("fuzz/run")))
    }

    /// A task of Harbor with the first of its steps, so that an input takes less than a millisecond.
    pub fn task() -> Self {
        let whole = files(&fixture("harbor/tasks/theme_v5_w1_notes_min_reward"));
        let is_kept = |path: &Path| !path.starts_with("steps") || path.starts_with("steps/round-1");
        let kept = whole.into_iter().filter(|(path, _)| is_kept(path)).map(|(path, bytes)| {
            let is_task_file = path == Path::new("task.toml");
            (path, if is_task_file { first_step(&bytes) } else { bytes })
        });
        Self::from_files(kept.collect())
    }

    /// A single trajectory of another program.
    pub fn foreign() -> Self {
        let path = "nested_folders/scenario-0/trajectory.json";
        let bytes = fs::read(fixture("staminabench").join(path)).expect("a fixture can be read");
        Self::from_files(vec![(PathBuf::from("scenario_0/trajectory.json"), bytes)])
    }

    /// Two turns of a scenario of the sample pack, without files that are only shown. The first suite has a few of its cases, so
    /// that an input takes milliseconds.
    pub fn pack() -> Self {
        let tree = Tree::open(&fixture("../../data/sample-pack.zip")).expect("the sample can be opened");
        let files = PACK.iter().map(|path| {
            let mut bytes = tree.read(path, 1 << 26).expect("the sample can be read");
            if path.contains("test_suites") {
                bytes = shortened(&String::from_utf8(bytes).expect("a suite"));
            }
            (PathBuf::from(path), bytes)
        });
        Self::from_files(files.collect())
    }

    /// The folder, as it is after the last input.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The files that an input can replace, in their order.
    pub fn files(&self) -> &[(PathBuf, Vec<u8>)] {
        &self.files
    }

    /// Reads the sample. The first two bytes of the input select a file, and the other bytes replace it.
    pub fn read_with(&self, format: &dyn Format, input: &[u8]) {
        self.with_input(input, |tree, _| read(format, &tree));
    }

    /// Runs `work` on the sample with the replaced file. `work` gets the path of this file.
    pub fn with_input(&self, input: &[u8], work: impl FnOnce(Tree, &Path)) {
        let [a, b, content @ ..] = input else { return };
        let (name, whole) = &self.files[usize::from(u16::from_le_bytes([*a, *b])) % self.files.len()];
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("a file can be written");
        work(Tree::open(self.folder.path()).expect("a folder can be opened"), name);
        fs::write(&path, whole).expect("a file can be written");
    }
}

/// All reading of a format.
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
