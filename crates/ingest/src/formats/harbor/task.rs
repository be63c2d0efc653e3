//! Task folders: what was asked, in how many steps, and what the tests and the reference are.
//!
//! The declared number of steps is not in a job folder, so the task's own folder is looked for inside the opened tree:
//! below every folder above the job, at the path that the trial's configuration names (or the end of it, since that
//! path is of the runner's machine), and in the usual places by its name.

use model::{Artifact, ArtifactKind, Extra, Warning};

use crate::format_trait::Report;
use crate::readers::text::first_title;
use files::{ReadError, Stamp, Tree, join, parent};

use super::head::Head;
use super::layout::{Job, folders, is_file, is_folder};

const TOML_CAP: u64 = 1 << 20;
pub(super) const TITLE_CAP: usize = 120;

/// A task as its folder describes it.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Its folder.
    pub(super) path: String,
    /// The names of its steps in order; empty for a task of one step.
    pub(super) steps: Vec<String>,
    /// Whether `task.toml` (or, if that cannot be read, the folders) says so.
    pub(super) known: bool,
    /// `metadata.name`.
    pub(super) title: Option<String>,
    /// Difficulty, category.
    pub(super) extra: Extra,
    /// Whether its tests print CASE lines.
    pub(super) uses_cases: bool,
}

/// The folder of the task that trials of a job played.
pub(super) fn find(tree: &Tree, job: &Job, head: &Head) -> Option<String> {
    if let Some(task) = &job.task {
        return Some(task.clone());
    }
    let is_task = |path: &str| is_file(tree, &join(path, "task.toml"));
    let path = head.task_path.as_deref().unwrap_or(&head.task).replace('\\', "/");
    let parts: Vec<&str> = path.split('/').filter(|p| !matches!(*p, "" | "." | "..")).collect();
    let name = parts.last().copied().unwrap_or(&head.task);
    let mut folders_above = vec![job.path.as_str()];
    while let Some(last) = folders_above.last().filter(|p| !p.is_empty()) {
        folders_above.push(parent(last));
    }
    // The longest end of the path that is there, nearest first: a bare name may be another task of that name.
    (0..parts.len().saturating_sub(1))
        .flat_map(|first_part| folders_above.iter().map(move |folder| (folder, first_part)))
        .map(|(folder, first_part)| join(folder, &parts[first_part..].join("/")))
        .chain(folders_above.iter().flat_map(|folder| {
            ["tasks", "task", "datasets", "dataset", ""].map(|sub| {
                let folder = if sub.is_empty() { (*folder).to_owned() } else { join(folder, sub) };
                join(&folder, name)
            })
        }))
        .find(|path| is_task(path))
}

impl Task {
    /// Reads `task.toml`.
    pub(super) fn read(tree: &Tree, path: &str, report: &mut Report) -> Self {
        let mut task = Self { path: path.to_owned(), ..Self::default() };
        let file = join(path, "task.toml");
        let table = tree.read_text(&file, TOML_CAP).and_then(|(text, _)| {
            text.parse::<toml::Table>().map_err(|error| ReadError::Malformed {
                code: "toml.malformed",
                message: format!("It is not TOML: {}", error.message()),
            })
        });
        match table {
            Ok(table) => {
                report.files_read += 1;
                task.take(&table);
            }
            Err(error) => {
                report.unreadable(&file, &error, "The steps are told from the task's folders.");
                task.steps = folders(tree, &join(path, "steps")).map(|e| e.name).collect();
                task.steps.sort_by_key(|name| natural(name));
                task.known = !task.steps.is_empty();
            }
        }
        let tests = (1..=task.steps.len().max(1)).find_map(|n| task.suite(tree, n));
        task.uses_cases = tests.is_some_and(|folder| {
            tree.list(&folder).iter().filter(|e| !e.is_folder() && e.size < TOML_CAP).take(20).any(|e| {
                tree.read_text(&join(&folder, &e.name), TOML_CAP)
                    .is_ok_and(|(t, _)| t.contains("CASE_SUMMARY"))
            })
        });
        task
    }

    fn take(&mut self, table: &toml::Table) {
        if let Some(steps) = table.get("steps").and_then(toml::Value::as_array) {
            self.steps = steps
                .iter()
                .filter_map(|s| s.get("name").and_then(toml::Value::as_str).map(str::to_owned))
                .collect();
        }
        self.known = true;
        if let Some(metadata) = table.get("metadata") {
            let text = |key| metadata.get(key).and_then(toml::Value::as_str).filter(|t| !t.is_empty());
            self.title = text("name").map(str::to_owned);
            for key in ["difficulty", "category"] {
                if let Some(value) = text(key) {
                    self.extra.insert(key.to_owned(), value.into());
                }
            }
        }
    }

    /// How many turns it declares.
    pub(super) fn turns(&self) -> Option<u32> {
        self.known.then_some(self.steps.len().max(1) as u32)
    }

    /// Where the files of a turn lie: the step's folder, else the task's.
    fn folders(&self, turn: usize) -> Vec<String> {
        let step = turn.checked_sub(1).and_then(|i| self.steps.get(i));
        let step = step.map(|name| join(&join(&self.path, "steps"), name));
        step.into_iter().chain([self.path.clone()]).collect()
    }

    /// The request of a turn and its first line.
    pub(super) fn request(&self, tree: &Tree, turn: usize) -> Option<(Artifact, Option<String>)> {
        let path = self.folders(turn).iter().map(|f| join(f, "instruction.md")).find(|p| is_file(tree, p))?;
        let title = tree
            .read_range(&path, 0, 4096)
            .ok()
            .and_then(|(bytes, _)| first_title(&String::from_utf8_lossy(&bytes), TITLE_CAP));
        Some((Artifact::new(ArtifactKind::Request, path), title))
    }

    fn suite(&self, tree: &Tree, turn: usize) -> Option<String> {
        self.folders(turn).iter().map(|f| join(f, "tests")).find(|p| is_folder(tree, p))
    }

    /// The reference solution and the tests of a turn.
    pub(super) fn artifacts(&self, tree: &Tree, turn: usize) -> Vec<Artifact> {
        let solution =
            self.folders(turn).iter().map(|f| join(f, "solution/solve.sh")).find(|p| is_file(tree, p));
        let reference = solution.map(|path| Artifact::new(ArtifactKind::Reference, path));
        let suite = self.suite(tree, turn).map(|path| Artifact::new(ArtifactKind::Suite, path));
        reference.into_iter().chain(suite).collect()
    }
}

/// Adds what a task's folder gives to the result of reading its trials.
pub(super) fn stamp(tree: &Tree, path: &str, mut stamp: Stamp) -> Stamp {
    let mut add = |folder: &str, names: &[&str]| {
        for entry in tree.list(folder) {
            if names.contains(&entry.name.as_str()) {
                stamp = stamp.text(folder).text(&entry.name).number(entry.stamp);
            }
        }
    };
    add(path, &["task.toml", "instruction.md", "tests", "solution"]);
    for step in folders(tree, &join(path, "steps")) {
        add(&join(&join(path, "steps"), &step.name), &["instruction.md", "tests", "solution"]);
    }
    stamp
}

/// Warns that a task's steps are not those that a trial ran.
pub(super) fn differs(trial: &str, declared: usize, ran: usize) -> Warning {
    Warning::read_differently(
        trial,
        "harbor.steps_differ",
        format!(
            "The task's folder declares {} and the trial was run with {ran}: the task was changed since. The trial's own number is used.",
            model::counted(declared as u64, "step")
        ),
    )
}

/// A key to sort names with numbers by: `round-2` before `round-10`.
pub(super) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[text..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| text + n);
        key.push((rest[..text].to_owned(), rest[text..digits].parse().unwrap_or(u64::MAX)));
        rest = &rest[digits..];
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["round-10", "round-2", "round-1", "a-3"];
        names.sort_by_key(|n| natural(n));
        assert_eq!(names, ["a-3", "round-1", "round-2", "round-10"]);
    }
}
