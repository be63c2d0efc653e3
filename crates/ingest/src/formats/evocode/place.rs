//! What lies in a place beside the files of its tasks: the index, the table of published totals, and the models that they name.

use std::collections::{BTreeMap, HashSet};

use model::{Benchmark, Run, TaskTotals, Warning};
use serde_json::Value;

use crate::format_trait::Report;
use crate::readers::json::Node;
use crate::readers::value::{self, UnusableValues};
use files::{Entry, Stamp, Tree, join, parent};

use super::sweep::Sweep;

/// Largest index that is read, in bytes.
pub(super) const INDEX_CAP: u64 = 64 << 20;
/// Models and tasks of an index that are read: each model has an episode, or a total, of each task. Some twenty were published.
pub(super) const MODEL_CAP: usize = 200;
const INDEXED_CAP: usize = 1_000;
/// Models of the index and of the table up to which the names of one are looked for in the other.
const ALIASED: usize = 100;
/// The suffixes of a site name that say how long the model may think.
const EFFORTS: [&str; 6] = ["minimal", "low", "medium", "high", "xhigh", "max"];
/// Names that are known to mean the same model, where the table does not say so: on the site, in the table.
const ALIASES: [(&str, &str); 1] = [("Opus-4.8-xhigh", "Claude-Opus-4.8")];

/// A task as the index names it.
#[derive(Debug, Clone)]
pub(super) struct IndexTask {
    pub(super) task: String,
    pub(super) rounds: Option<u32>,
    /// By the site's model name: passed rounds / rounds, rounded; `None` = blank.
    score: BTreeMap<String, Option<f64>>,
}

/// What lies in a place but the tasks' files themselves.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Model names as the site has them.
    pub(super) models: Vec<String>,
    pub(super) tasks: Vec<IndexTask>,
    /// Whether the index could be read; if not, every file counts.
    pub(super) indexed: bool,
    /// Whether it names more models or tasks than are read.
    is_cut: bool,
    /// Task files: name without `.json`.
    pub(super) files: Vec<Entry>,
    pub(super) sweep: Option<Sweep>,
    pub(super) stamp: Stamp,
}

/// The files of tasks of a place.
pub(super) fn task_files(tree: &Tree, folder: &str) -> Vec<Entry> {
    tree.list(&join(folder, "tasks"))
        .into_iter()
        .filter(|e| {
            !e.is_folder()
                && !e.name.starts_with('.')
                && e.name.rsplit_once('.').is_some_and(|(_, x)| x == "json")
        })
        .collect()
}

/// The task that a file is of, by its name.
pub(super) fn task_name(entry: &Entry) -> Option<&str> {
    entry.name.strip_suffix(".json")
}

impl Place {
    /// Reads the index and the table, and lists the files of tasks. Without an index the models are for the caller to find.
    pub(super) fn read(tree: &Tree, folder: &str, report: &mut Report) -> Self {
        let mut place = Self { files: task_files(tree, folder), ..Self::default() };
        let path = join(folder, "index.json");
        place.stamp = place.stamp.number(tree.entry(&path).map_or(0, |e| e.stamp));
        match tree.read_json::<Node>(&path, INDEX_CAP) {
            Ok(index) => {
                place.take_index(&index).warn(&path, report);
                if place.is_cut {
                    let message = format!(
                        "The index names more than {MODEL_CAP} models, or more than {INDEXED_CAP} tasks. The others are left out."
                    );
                    report.warn(Warning::skipped(&path, "evocode.too_many", message));
                }
                report.files_read += 1;
            }
            Err(error) => {
                report.unreadable(&path, &error, "Models and tasks are told from the tasks' own files.");
            }
        }
        if let Some((path, entry)) = sweep_file(tree, folder) {
            place.stamp = place.stamp.text(&path).number(entry.stamp);
            match Sweep::read(tree, &path) {
                Ok(mut sweep) => {
                    std::mem::take(&mut sweep.unusable).warn(&path, report);
                    place.sweep = Some(sweep);
                    report.files_read += 1;
                }
                Err(error) => report.unreadable(&path, &error, "The published totals are unknown."),
            }
        }
        place
    }

    /// Gives what stands in the index and cannot be.
    fn take_index(&mut self, index: &Node) -> UnusableValues {
        let mut unusable = UnusableValues::default();
        self.indexed = true;
        let mut known = HashSet::new();
        for name in index.get("models").map_or(&[][..], Node::list).iter().filter_map(Node::word) {
            if known.insert(name) {
                self.models.push(name.to_owned());
            }
        }
        self.is_cut = self.models.len() > MODEL_CAP;
        self.models.truncate(MODEL_CAP);
        for node in index.get("tasks").map_or(&[][..], Node::list) {
            let Some(task) = node.get("task").and_then(Node::word) else { continue };
            if self.tasks.len() >= INDEXED_CAP {
                self.is_cut = true;
                break;
            }
            let rounds = unusable.take(&format!("n_rounds of {task}"), node.get("n_rounds"), value::count);
            let score = node.get("score").map_or(&[][..], Node::map).iter().map(|(model, value)| {
                (model.clone(), unusable.take(&format!("{model} at {task}"), Some(value), value::share))
            });
            self.tasks.push(IndexTask { task: task.to_owned(), rounds, score: score.collect() });
        }
        unusable
    }

    /// Tasks that the index names and no file describes.
    pub(super) fn missing(&self) -> impl Iterator<Item = &IndexTask> {
        let described: HashSet<&str> = self.files.iter().filter_map(task_name).collect();
        self.tasks.iter().filter(move |t| !described.contains(t.task.as_str()))
    }

    /// Every model under the name that is shown.
    pub(super) fn names(&self) -> Vec<ModelName> {
        // Each is compared with each over all tasks; of more models than were ever published each keeps its name.
        let columns = self.sweep.as_ref().map_or(&[][..], |s| &s.models);
        let columns = if columns.len().max(self.models.len()) > ALIASED { &[] } else { columns };
        let free: Vec<&String> = columns.iter().filter(|c| !self.models.contains(c)).collect();
        self.models
            .iter()
            .map(|site| {
                let mut by_score = free.iter().filter(|c| self.agrees(site, c));
                let alias = match (by_score.next(), by_score.next()) {
                    (Some(only), None) => Some((*only).clone()),
                    _ => known_alias(site).map(str::to_owned),
                };
                let shown = if columns.contains(site) { None } else { alias };
                ModelName { site: site.clone(), shown: shown.unwrap_or_else(|| site.clone()) }
            })
            .collect()
    }

    /// Whether a column of the table has the scores that the index gives a model.
    fn agrees(&self, site: &str, column: &str) -> bool {
        let Some(sweep) = &self.sweep else { return false };
        let mut compared = 0;
        for task in &self.tasks {
            let rounds = sweep.cell(&task.task, column).and_then(|cell| cell.rounds);
            let (Some(Some(share)), Some((passed, total))) = (task.score.get(site), rounds) else {
                continue;
            };
            compared += 1;
            if total == 0 || (share - f64::from(passed) / f64::from(total)).abs() > 0.002 {
                return false;
            }
        }
        compared > 0
    }

    /// The run of a model.
    pub(super) fn run(&self, model_name: &ModelName) -> Run {
        let benchmark =
            Benchmark { key: "evocode-bench".to_owned(), name: "EvoCode-Bench, published".to_owned() };
        let mut run = Run::unknown(model_name.key(), benchmark);
        run.harness = Some("terminus-2".to_owned());
        run.runner = Some(("Harbor".to_owned(), None));
        run.model = Some(model_name.shown.clone());
        let planned = if self.indexed { self.tasks.len() } else { self.files.len() } as u32;
        run.planned_episodes = Some(planned);
        run.extra.insert("planned_tasks".to_owned(), planned.into());
        run.attempt_limit = Some(1);
        if let Some(effort) = model_name.effort() {
            run.settings.insert("reasoning_effort".to_owned(), Value::String(effort.to_owned()));
        }
        if model_name.site != model_name.shown {
            run.extra.insert("site_name".to_owned(), Value::String(model_name.site.clone()));
        }
        if let Some(sweep) = &self.sweep {
            run.reported.figures = sweep.figures(&model_name.shown);
        }
        for task in self.missing() {
            let cell = self.sweep.as_ref().and_then(|s| s.cell(&task.task, &model_name.shown));
            let rounds = cell.and_then(|c| c.rounds);
            let turns = task.rounds.or(rounds.map(|(_, total)| total));
            let share = task.score.get(&model_name.site).copied().flatten();
            let by_share = share.zip(turns).map(|(share, n)| (share * f64::from(n)).round());
            // The table may count other rounds than the index.
            let by_cell = rounds.filter(|(passed, _)| turns.is_none_or(|n| *passed <= n));
            run.reported.totals_only.push(TaskTotals {
                scenario: task.task.clone(),
                turns,
                passed_turns: by_share.or(by_cell.map(|(passed, _)| f64::from(passed))),
                case_ratio: cell.and_then(|c| c.cases).map(|percent| percent / 100.0),
            });
        }
        run
    }
}

/// A model under the site's name and the one that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelName {
    pub(super) site: String,
    pub(super) shown: String,
}

impl ModelName {
    /// Identity of its run. It may not depend on the table, which can be missing today and there tomorrow.
    pub(super) fn key(&self) -> &str {
        known_alias(&self.site).unwrap_or(&self.site)
    }

    /// `xhigh` of `Opus-4.8-xhigh`, shown as `Claude-Opus-4.8`.
    fn effort(&self) -> Option<&str> {
        let (_, last) = self.site.rsplit_once('-')?;
        (self.site != self.shown && EFFORTS.contains(&last) && !self.shown.ends_with(last)).then_some(last)
    }

    /// That its name on the site is another one.
    pub(super) fn warning(&self, folder: &str) -> Option<Warning> {
        if self.site == self.shown {
            return None;
        }
        let kept = self.effort().map_or(String::new(), |e| format!(" “{e}” is kept as reasoning effort."));
        Some(Warning::read_differently(
            join(folder, "index.json"),
            "model.alias",
            format!(
                "{} is the same model as {} of the table, whose name is used.{kept}",
                self.site, self.shown
            ),
        ))
    }
}

fn known_alias(site: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(name, _)| *name == site).map(|(_, table)| *table)
}

/// The table: beside the index, or in one of the two folders above it; the last by name.
fn sweep_file(tree: &Tree, place_folder: &str) -> Option<(String, Entry)> {
    let mut folder = place_folder;
    for _ in 0..3 {
        let table = tree.list(folder).into_iter().rfind(|e| {
            !e.is_folder()
                && e.name.starts_with("sweep")
                && e.name.rsplit_once('.').is_some_and(|(_, x)| x == "csv")
        });
        if let Some(entry) = table {
            return Some((join(folder, &entry.name), entry));
        }
        if folder.is_empty() {
            break;
        }
        folder = parent(folder);
    }
    None
}
