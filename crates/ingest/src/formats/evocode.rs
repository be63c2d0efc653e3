//! EvoCode-Bench's published results: what its site is made of.
//!
//! ```text
//! <place>/
//!   index.json         {models: [name], tasks: [{task, name, difficulty, category, n_rounds, score: {model: share}}]}
//!   tasks/<task>.json  {task, meta, n_rounds, rounds: [{n, title, md}], models: {model: {"1": cell | null, …}}, score}
//!   sweep*.csv         task,total_rounds,<models>,__note with cells like `7/9 c100% r55.2`, `—` for blank
//! ```
//!
//! One run per model (harness terminus-2), one episode per task, one turn per round with one attempt. A cell is
//! `{pass, total, fail, reward, fails: [{req, type, n, reason, cases: [{id, intent, scenario, expected, actual,
//! reason}]}], early?, note?}`:
//!
//! - reward ≥ 0.999: passed; else `total` 0: nothing could be tested, build failed (`early` is the first telling
//!   line); else failed;
//! - `null`: neither output nor reward. Nulls at the end mean that the chain stopped: the first of them was due and has
//!   no verdict, the others were not reached. A null before a graded round has no verdict either;
//! - at most five cases per requirement are described; `fails` can also count fewer cases than `fail` does (the
//!   published scripts lose cases with quotes), which is warned of. `pass`, `total` and `fail` are always those of the
//!   cell; per requirement they are kept in the attempt's `extra.requirements`.
//!
//! The site and the table name one model differently; such names are matched by their scores, and the table's is used.
//! A task that the index names and no file describes is kept as totals of each run, with its case share from the table.

mod sweep;
mod task;

use std::collections::{BTreeMap, HashSet};

use model::{Benchmark, Run, TaskTotals, Transcript, Warning};
use serde_json::Value;

use crate::format::{Format, Part, PartReader, Planned, Reading, Report, Sniff, Survey};
use crate::readers::json::Node;
use crate::readers::value::{self, Unusable};
use files::{Entry, ReadError, Stamp, Tree, join, parent};

use self::sweep::Sweep;

const INDEX_CAP: u64 = 64 << 20;
/// Models and tasks of an index that are read: each model has an episode, or a total, of each task. Some twenty were published.
const MODEL_CAP: usize = 200;
const INDEXED_CAP: usize = 1_000;
/// Models of the index and of the table up to which the names of one are looked for in the other.
const ALIASED: usize = 100;
/// The suffixes of a site name that say how long the model may think.
const EFFORTS: [&str; 6] = ["minimal", "low", "medium", "high", "xhigh", "max"];
/// Names that are known to mean the same model, where the table does not tell: on the site, in the table.
const ALIASES: [(&str, &str); 1] = [("Opus-4.8-xhigh", "Claude-Opus-4.8")];

/// EvoCode-Bench's published results.
#[derive(Debug, Clone, Copy)]
pub struct EvoCode;

/// A task as the index names it.
#[derive(Debug, Clone)]
struct IndexTask {
    task: String,
    rounds: Option<u32>,
    /// By the site's model name: passed rounds / rounds, rounded; `None` = blank.
    score: BTreeMap<String, Option<f64>>,
}

/// What lies in a place but the tasks' files themselves.
#[derive(Debug, Default)]
struct Place {
    /// Model names as the site has them.
    models: Vec<String>,
    tasks: Vec<IndexTask>,
    /// Whether the index could be read; if not, every file counts.
    indexed: bool,
    /// Whether it names more models or tasks than are read.
    is_cut: bool,
    /// Task files: name without `.json`.
    files: Vec<Entry>,
    sweep: Option<Sweep>,
    stamp: Stamp,
}

/// A share of the rounds of a task.
fn share(value: &Node) -> Option<f64> {
    value::reward(value).filter(|n| (0.0..=1.0).contains(n))
}

/// Reads the files of tasks.
struct TaskReader {
    tasks: String,
    place: Place,
}

impl PartReader for TaskReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        task::read(tree, &join(&self.tasks, &part.key), &self.place, report)
    }
}

impl Format for EvoCode {
    fn id(&self) -> &'static str {
        "evocode"
    }

    fn name(&self) -> &'static str {
        "EvoCode-Bench, published"
    }

    fn looked_for(&self) -> &'static str {
        "index.json with models and tasks, and tasks/*.json beside it"
    }

    fn sniff(&self, tree: &Tree, at: &str) -> Sniff {
        let path = join(at, "index.json");
        if tree.entry(&path).is_none_or(|e| e.is_folder()) {
            return Sniff::Not { found: "none".to_owned(), closeness: 0 };
        }
        match tree.read_json::<Node>(&path, INDEX_CAP) {
            Ok(index) if is_index(&index) => Sniff::Recognized,
            Ok(_) => Sniff::Not { found: "index.json without models and tasks".to_owned(), closeness: 10 },
            Err(_) if task_files(tree, at).iter().any(|e| begins_like_a_task(tree, at, e)) => {
                Sniff::Recognized
            }
            Err(_) => Sniff::Not { found: "an index.json that cannot be read".to_owned(), closeness: 15 },
        }
    }

    fn planned(&self, tree: &Tree, at: &str, _: &str) -> Option<Vec<Planned>> {
        let place = Place::read(tree, at, &mut Report::default());
        let tasks = place.tasks.iter().map(|task| task.task.clone());
        place.indexed.then(|| Planned::count(tasks))
    }

    fn survey(&self, tree: &Tree, at: &str, report: &mut Report) -> Survey {
        let place = Place::read(tree, at, report);
        let names: Vec<Named> = place.names();
        let mut out = Survey::default();
        for named in &names {
            out.runs.push(place.run(named));
            if let Some(warning) = named.warning(at) {
                report.warn(warning);
            }
        }
        let indexed: HashSet<&str> = place.tasks.iter().map(|t| t.task.as_str()).collect();
        for entry in &place.files {
            let path = join(&join(at, "tasks"), &entry.name);
            if place.indexed && !task_of(entry).is_some_and(|task| indexed.contains(task)) {
                report.warn(Warning::skipped(
                    path,
                    "evocode.not_in_index",
                    "The index does not name this task: it is no part of the published results, or of an older version.",
                ));
                continue;
            }
            let stamp = place.stamp.text(&entry.name).number(entry.stamp);
            out.parts.push(Part { key: entry.name.clone(), stamp: stamp.finish() });
        }
        for task in place.missing() {
            report.warn(Warning::skipped(
                join(at, "index.json"),
                "task.no_file",
                format!(
                    "The index names the task {} and no file describes it. It is shown as totals only, not in survival.",
                    task.task
                ),
            ));
        }
        out
    }

    fn reader(&self, tree: &Tree, at: &str) -> Box<dyn PartReader> {
        // The survey has warned of what is wrong here.
        let place = Place::read(tree, at, &mut Report::default());
        Box::new(TaskReader { tasks: join(at, "tasks"), place })
    }

    fn transcript(&self, _tree: &Tree, _artifact: &model::Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            what: "The published results hold no transcripts".to_owned(),
        })
    }
}

fn is_index(index: &Node) -> bool {
    let named = |t: &Node| t.get("task").and_then(Node::word).is_some();
    !index.get("models").map_or(&[][..], Node::list).is_empty()
        && index.get("tasks").map_or(&[][..], Node::list).iter().any(named)
}

fn task_files(tree: &Tree, at: &str) -> Vec<Entry> {
    tree.list(&join(at, "tasks"))
        .into_iter()
        .filter(|e| {
            !e.is_folder()
                && !e.name.starts_with('.')
                && e.name.rsplit_once('.').is_some_and(|(_, x)| x == "json")
        })
        .collect()
}

fn begins_like_a_task(tree: &Tree, at: &str, entry: &Entry) -> bool {
    tree.read_range(&join(&join(at, "tasks"), &entry.name), 0, 4096).is_ok_and(|(bytes, _)| {
        let begin = String::from_utf8_lossy(&bytes);
        ["\"task\"", "\"meta\"", "\"n_rounds\""].iter().all(|key| begin.contains(key))
    })
}

fn task_of(entry: &Entry) -> Option<&str> {
    entry.name.strip_suffix(".json")
}

impl Place {
    fn read(tree: &Tree, at: &str, report: &mut Report) -> Self {
        let mut place = Self { files: task_files(tree, at), ..Self::default() };
        let path = join(at, "index.json");
        place.stamp = place.stamp.number(tree.entry(&path).map_or(0, |e| e.stamp));
        match tree.read_json::<Node>(&path, INDEX_CAP) {
            Ok(index) => {
                place.take_index(&index).warn(&path, report);
                if place.is_cut {
                    let what = format!(
                        "The index names more than {MODEL_CAP} models, or more than {INDEXED_CAP} tasks. The others are left out."
                    );
                    report.warn(Warning::skipped(&path, "evocode.too_many", what));
                }
                report.files_read += 1;
            }
            Err(error) => {
                report.unreadable(&path, &error, "Models and tasks are told from the tasks' own files.");
                place.models = task::models_of_first(tree, at, &place.files);
            }
        }
        if let Some((path, entry)) = sweep_file(tree, at) {
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
    fn take_index(&mut self, index: &Node) -> Unusable {
        let mut unusable = Unusable::default();
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
            let score = node.get("score").map_or(&[][..], Node::map).iter().map(|(model, value)| {
                (model.clone(), unusable.take(&format!("{model} at {task}"), Some(value), share))
            });
            self.tasks.push(IndexTask {
                task: task.to_owned(),
                rounds: node.get("n_rounds").and_then(Node::count).map(small),
                score: score.collect(),
            });
        }
        unusable
    }

    /// Tasks that the index names and no file describes.
    fn missing(&self) -> impl Iterator<Item = &IndexTask> {
        let described: HashSet<&str> = self.files.iter().filter_map(task_of).collect();
        self.tasks.iter().filter(move |t| !described.contains(t.task.as_str()))
    }

    /// Every model under the name that is shown.
    fn names(&self) -> Vec<Named> {
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
                Named { site: site.clone(), shown: shown.unwrap_or_else(|| site.clone()) }
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

    fn run(&self, named: &Named) -> Run {
        let benchmark =
            Benchmark { key: "evocode-bench".to_owned(), name: "EvoCode-Bench, published".to_owned() };
        let mut run = Run::unknown(named.key(), benchmark);
        run.harness = Some("terminus-2".to_owned());
        run.runner = Some(("Harbor".to_owned(), None));
        run.model = Some(named.shown.clone());
        run.planned_episodes = Some(if self.indexed { self.tasks.len() } else { self.files.len() } as u32);
        run.attempt_limit = Some(1);
        if let Some(effort) = named.effort() {
            run.settings.insert("reasoning_effort".to_owned(), Value::String(effort.to_owned()));
        }
        if named.site != named.shown {
            run.extra.insert("site_name".to_owned(), Value::String(named.site.clone()));
        }
        if let Some(sweep) = &self.sweep {
            run.reported.figures = sweep.figures(&named.shown);
        }
        for task in self.missing() {
            let cell = self.sweep.as_ref().and_then(|s| s.cell(&task.task, &named.shown));
            let rounds = cell.and_then(|c| c.rounds);
            let turns = task.rounds.or(rounds.map(|(_, total)| total));
            let share = task.score.get(&named.site).copied().flatten();
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
struct Named {
    site: String,
    shown: String,
}

impl Named {
    /// Identity of its run. It may not depend on the table, which can be missing today and there tomorrow.
    fn key(&self) -> &str {
        known_alias(&self.site).unwrap_or(&self.site)
    }

    /// `xhigh` of `Opus-4.8-xhigh`, shown as `Claude-Opus-4.8`.
    fn effort(&self) -> Option<&str> {
        let (_, last) = self.site.rsplit_once('-')?;
        (self.site != self.shown && EFFORTS.contains(&last) && !self.shown.ends_with(last)).then_some(last)
    }

    fn warning(&self, at: &str) -> Option<Warning> {
        if self.site == self.shown {
            return None;
        }
        let kept = self.effort().map_or(String::new(), |e| format!(" “{e}” is kept as reasoning effort."));
        Some(Warning::read_differently(
            join(at, "index.json"),
            "model.alias",
            format!(
                "{} is the same model as {} of the table, whose name is used.{kept}",
                self.site, self.shown
            ),
        ))
    }
}

/// A count of a hostile file: the largest value of the type if the number does not fit, rather than its low bits.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn known_alias(site: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(name, _)| *name == site).map(|(_, table)| *table)
}

/// The table: beside the index, or in one of the two folders above it; the last by name.
fn sweep_file(tree: &Tree, at: &str) -> Option<(String, Entry)> {
    let mut folder = at;
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
