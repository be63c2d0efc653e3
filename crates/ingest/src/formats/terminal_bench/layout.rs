//! Which trials a run has: those that its results list, and those that have a folder.

use std::collections::BTreeMap;

use files::{Stamp, Tree, join};

use crate::format_trait::Report;
use crate::readers::clock;
use crate::readers::json::Node;

use super::files_of_run::{FILE_CAP, RESULTS};
use super::run::RunFiles;

/// A trial, as far as names and the run's own results show it.
#[derive(Debug)]
pub(super) struct Trial {
    /// The task.
    pub(super) task: String,
    /// `<task>.<attempt>-of-<attempts>.<run id>`; also the name of its folder.
    pub(super) name: String,
    /// Its folder, if it is there.
    pub(super) folder: Option<String>,
    /// Its entry in the results of the run.
    entry: Option<Node>,
    /// Whether its own `results.json` is there.
    has_result: bool,
}

/// Where a trial stands among those of its task: by the number of its attempt, then by when it began.
pub(super) type Order = (u32, i64, String);

/// The trials by task, in the order of their names.
pub(super) fn trials(tree: &Tree, place_folder: &str, files: &RunFiles) -> BTreeMap<String, Vec<Trial>> {
    let mut named: BTreeMap<(String, String), Trial> = BTreeMap::new();
    for (index, entry) in files.entries().iter().enumerate() {
        let text = |key| entry.get(key).and_then(Node::word).map(str::to_owned);
        let Some(task) = text("task_id") else { continue };
        let name = text("trial_name").unwrap_or_else(|| format!("{task}.{}", index + 1));
        let trial = Trial {
            task: task.clone(),
            name: name.clone(),
            folder: None,
            entry: Some(entry.clone()),
            has_result: false,
        };
        // A trial that was retried stands once; the last entry is the one that counts.
        named.insert((task, name), trial);
    }
    let mut called_otherwise = Vec::new();
    for task in folders(tree, place_folder) {
        let path = join(place_folder, &task);
        for name in folders(tree, &path) {
            let folder = join(&path, &name);
            let entries = tree.list(&folder);
            let has_entry =
                |name: &str, is_folder| entries.iter().any(|e| e.name == name && e.is_folder() == is_folder);
            let has_result = has_entry(RESULTS, false);
            if !has_result && !["panes", "sessions", "agent-logs"].iter().any(|name| has_entry(name, true)) {
                continue;
            }
            let id = (task.clone(), name);
            match named.get_mut(&id) {
                Some(trial) => (trial.folder, trial.has_result) = (Some(folder), has_result),
                None => {
                    let own = if has_result { own_names(tree, &join(&folder, RESULTS)) } else { None };
                    called_otherwise.push((own.unwrap_or_else(|| id.clone()), id, folder, has_result));
                }
            }
        }
    }
    // A folder that was renamed is of the trial and the task that its own result names, unless that one has a folder: then it
    // is a copy.
    called_otherwise.sort_by_key(|(own, id, ..)| own != id);
    for (own, id, folder, has_result) in called_otherwise {
        let is_free = |id: &(String, String)| named.get(id).is_none_or(|trial| trial.folder.is_none());
        let (task, name) = if is_free(&own) { own } else { free_name(id, is_free) };
        let trial = named.entry((task.clone(), name.clone())).or_insert_with(|| Trial {
            task,
            name,
            folder: None,
            entry: None,
            has_result: false,
        });
        (trial.folder, trial.has_result) = (Some(folder), has_result);
    }
    let mut trials: BTreeMap<String, Vec<Trial>> = BTreeMap::new();
    for trial in named.into_values() {
        trials.entry(trial.task.clone()).or_default().push(trial);
    }
    trials
}

/// The task and name of a folder, with a number where another one has them already.
fn free_name(id: (String, String), is_free: impl Fn(&(String, String)) -> bool) -> (String, String) {
    let (task, name) = &id;
    let numbered = (2_u64..).map(|number| (task.clone(), format!("{name} ({number})")));
    let found = std::iter::once(id.clone()).chain(numbered).find(|id| is_free(id));
    found.unwrap_or(id)
}

/// The task and the name of a trial, as its own result has them.
fn own_names(tree: &Tree, path: &str) -> Option<(String, String)> {
    let result: Node = tree.read_json(path, FILE_CAP).ok()?;
    let text = |key| result.get(key).and_then(Node::word).map(str::to_owned);
    Some((text("task_id")?, text("trial_name")?))
}

fn folders(tree: &Tree, folder: &str) -> Vec<String> {
    let entries = tree.list(folder).into_iter();
    entries.filter(|e| e.is_folder() && !e.name.starts_with('.')).map(|e| e.name).collect()
}

impl Trial {
    /// What is recorded of it: its own file, else its entry in the run's. `None` = nothing, or nothing that can be read.
    pub(super) fn result(&self, tree: &Tree, report: &mut Report) -> Option<Node> {
        let own = self.folder.as_ref().filter(|_| self.has_result).and_then(|folder| {
            let consequence = if self.entry.is_some() {
                "The trial is read from its entry in the run's results.json."
            } else {
                "The trial has ended, and no verdict can be read."
            };
            report.read_object(tree, &join(folder, RESULTS), FILE_CAP, consequence)
        });
        own.or_else(|| self.entry.clone())
    }

    /// Whether it has ended, whatever can be read of that.
    pub(super) fn has_ended(&self) -> bool {
        self.has_result || self.entry.is_some()
    }

    /// The file that [`Self::result`] reads, for texts that stay where they are; `None` where that is the run's.
    pub(super) fn own_file(&self) -> Option<String> {
        self.folder.as_ref().filter(|_| self.has_result).map(|folder| join(folder, RESULTS))
    }

    /// Where it is, for warnings.
    pub(super) fn place(&self) -> String {
        self.own_file().or_else(|| self.folder.clone()).unwrap_or_else(|| self.name.clone())
    }

    pub(super) fn order(&self, result: Option<&Node>) -> Order {
        let began =
            result.and_then(|r| r.get("trial_started_at")).and_then(Node::word).and_then(clock::micros);
        (attempt(&self.name).unwrap_or(u32::MAX), began.unwrap_or(i64::MAX), self.name.clone())
    }

    /// Adds what reading it depends on.
    pub(super) fn stamp(&self, tree: &Tree, stamp: Stamp) -> Stamp {
        let entry = self.entry.as_ref().map(|entry| entry.to_value().to_string()).unwrap_or_default();
        let mut stamp = stamp.text(&self.name).text(&entry);
        let Some(folder) = &self.folder else { return stamp };
        for path in ["", "panes", "sessions", "agent-logs"].map(|part| join(folder, part)) {
            stamp = stamp.text(&path);
            for entry in tree.list(&path) {
                stamp = stamp.text(&entry.name).number(entry.stamp);
            }
        }
        stamp
    }
}

/// `2` of `task.2-of-5.run`, where the task may hold dots itself.
fn attempt(name: &str) -> Option<u32> {
    name.split('.').find_map(|part| {
        let (attempt, attempts) = part.split_once("-of-")?;
        let (attempt, attempts): (u32, u32) = (attempt.parse().ok()?, attempts.parse().ok()?);
        (1..=attempts).contains(&attempt).then_some(attempt)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_attempt_stands_in_the_name() {
        for (name, number) in [
            ("task-a.1-of-1.r", Some(1)),
            ("a.b.12-of-20.2025-01-01__10-00-00", Some(12)),
            ("one-of-us.2-of-3.r", Some(2)),
            ("task.3-of-2.r", None),
            ("task", None),
        ] {
            assert_eq!(attempt(name), number, "{name}");
        }
    }
}
