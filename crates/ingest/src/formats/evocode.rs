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
//! - reward ≥ 0.999: passed; else `total` 0: nothing could be tested, build failed (`early` is the first line that
//!   shows why); else failed;
//! - `null`: neither output nor reward. Nulls at the end mean that the chain stopped: the first of them was due and has
//!   no verdict, the others were not reached. A null before a graded round has no verdict either;
//! - at most five cases per requirement are described; `fails` can also count fewer cases than `fail` does (the
//!   published scripts lose cases with quotes), which is warned of. `pass`, `total` and `fail` are always those of the
//!   cell; per requirement they are kept in the attempt's `extra.requirements`.
//!
//! The site and the table name one model differently; such names are matched by their scores, and the table's is used.
//! A task that the index names and no file describes is kept as totals of each run, with its case share from the table.

mod place;
mod sweep;
mod task;

use std::collections::HashSet;

use model::{Transcript, Warning};

use crate::format_trait::{Format, Part, PartReader, PlannedScenario, Reading, Report, Sniff, Survey};
use crate::readers::json::Node;
use files::{Entry, ReadError, Tree, join};

use self::place::{INDEX_CAP, ModelName, Place, task_files, task_name};

/// EvoCode-Bench's published results.
#[derive(Debug, Clone, Copy)]
pub struct EvoCode;

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

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        let path = join(folder, "index.json");
        if tree.entry(&path).is_none_or(|e| e.is_folder()) {
            return Sniff::Not { found: "none".to_owned(), closeness: 0 };
        }
        match tree.read_json::<Node>(&path, INDEX_CAP) {
            Ok(index) if is_index(&index) => Sniff::Recognized,
            Ok(_) => Sniff::Not { found: "index.json without models and tasks".to_owned(), closeness: 10 },
            Err(_) if task_files(tree, folder).iter().any(|e| begins_like_a_task(tree, folder, e)) => {
                Sniff::Recognized
            }
            Err(_) => Sniff::Not { found: "an index.json that cannot be read".to_owned(), closeness: 15 },
        }
    }

    fn planned(&self, tree: &Tree, folder: &str, _: &str) -> Option<Vec<PlannedScenario>> {
        let place = read_place(tree, folder, &mut Report::default());
        let tasks = place.tasks.iter().map(|task| task.task.clone());
        place.indexed.then(|| PlannedScenario::count(tasks))
    }

    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let place = read_place(tree, folder, report);
        let names: Vec<ModelName> = place.names();
        let mut out = Survey::default();
        for model_name in &names {
            out.runs.push(place.run(model_name));
            if let Some(warning) = model_name.warning(folder) {
                report.warn(warning);
            }
        }
        let indexed: HashSet<&str> = place.tasks.iter().map(|t| t.task.as_str()).collect();
        for entry in &place.files {
            let path = join(&join(folder, "tasks"), &entry.name);
            if place.indexed && !task_name(entry).is_some_and(|task| indexed.contains(task)) {
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
                join(folder, "index.json"),
                "task.no_file",
                format!(
                    "The index names the task {} and no file describes it. It is shown as totals only, not in survival.",
                    task.task
                ),
            ));
        }
        out
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        // The survey has warned of what is wrong here.
        let place = read_place(tree, folder, &mut Report::default());
        Box::new(TaskReader { tasks: join(folder, "tasks"), place })
    }

    fn transcript(&self, _tree: &Tree, _artifact: &model::Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            message: "The published results hold no transcripts".to_owned(),
        })
    }
}

/// What lies in a place. Without an index the first file of a task that can be read names the models.
fn read_place(tree: &Tree, folder: &str, report: &mut Report) -> Place {
    let mut place = Place::read(tree, folder, report);
    if !place.indexed {
        place.models = task::models_of_first(tree, folder, &place.files);
    }
    place
}

fn is_index(index: &Node) -> bool {
    let has_name = |t: &Node| t.get("task").and_then(Node::word).is_some();
    !index.get("models").map_or(&[][..], Node::list).is_empty()
        && index.get("tasks").map_or(&[][..], Node::list).iter().any(has_name)
}

fn begins_like_a_task(tree: &Tree, folder: &str, entry: &Entry) -> bool {
    tree.read_range(&join(&join(folder, "tasks"), &entry.name), 0, 4096).is_ok_and(|(bytes, _)| {
        let start = String::from_utf8_lossy(&bytes);
        ["\"task\"", "\"meta\"", "\"n_rounds\""].iter().all(|key| start.contains(key))
    })
}
