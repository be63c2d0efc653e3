//! Which files a place has, and of which agents they are.

use std::collections::{BTreeMap, BTreeSet};

use files::{Stamp, Tree, join};
use model::Warning;

use crate::format_trait::{Report, Sniff};
use crate::readers::json::Node;
use crate::readers::outline::Outline;

use super::lines;

/// The folders that the program writes.
const FOLDERS: [&str; 2] = ["intermediate_agent_results", "evaluation_agent_results"];
const CONVERSATIONS: &str = "conversations_";
/// Bytes that decide the form of a file.
const HEAD: u64 = 64 << 10;
/// Most bytes of a checkpoint.
const CHECKPOINT_CAP: u64 = 32 << 20;
/// Most agents of a place. The files of each are read for it, and may be those of others as well.
const AGENTS: usize = 100;

/// What there is of an agent.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// Files of records, one a line.
    pub(super) incremental: Vec<String>,
    /// Files of final results.
    pub(super) finals: Vec<String>,
    /// Transcripts.
    pub(super) conversations: Vec<String>,
    checkpoints: Vec<String>,
}

impl Agent {
    /// A hash over the names, sizes and times of its files.
    pub(super) fn stamp(&self, tree: &Tree) -> u64 {
        let all = [&self.incremental, &self.finals, &self.conversations, &self.checkpoints];
        let entry = |stamp: Stamp, path: &String| {
            stamp.text(path).number(tree.entry(path).map_or(0, |entry| entry.stamp))
        };
        all.into_iter().flatten().fold(Stamp::new(), entry).finish()
    }

    /// The scenarios that its checkpoints name, each once.
    pub(super) fn planned(&self, tree: &Tree) -> Vec<String> {
        let mut names = Vec::new();
        let mut task_names = BTreeSet::new();
        for path in &self.checkpoints {
            let Ok(checkpoint) = tree.read_json::<Node>(path, CHECKPOINT_CAP) else { continue };
            let listed = checkpoint.get("scenarios").map_or(&[][..], Node::list);
            for name in listed.iter().filter_map(Node::word) {
                if task_names.insert(name.to_owned()) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }
}

/// What a file of the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Incremental,
    Final,
    Conversation,
    Checkpoint,
}

/// What the head of a file says it is.
fn kind(name: &str, outline: &Outline) -> Option<Kind> {
    let text = |way: &[&str]| outline.descendant(way).is_some_and(|value| value.text().is_some());
    let is_present = |way: &[&str]| outline.descendant(way).is_some();
    if name.ends_with(".jsonl") {
        let record = text(&["agent_name"]) && text(&["scenario_id"]) && is_present(&["metric_results"]);
        return record.then_some(Kind::Incremental);
    }
    if !name.ends_with(".json") {
        None
    } else if outline.descendant(&["evaluation_metadata", "framework"]).and_then(Outline::text)
        == Some("LoCoBench-Agent")
    {
        Some(Kind::Final)
    } else if text(&["evaluation_info", "agent_name"]) && text(&["evaluation_info", "scenario_id"]) {
        Some(Kind::Conversation)
    } else if text(&["checkpoint_version"])
        && is_present(&["completed_evaluations"])
        && is_present(&["scenarios"])
    {
        Some(Kind::Checkpoint)
    } else {
        None
    }
}

fn outline(tree: &Tree, path: &str) -> Option<Outline> {
    let (bytes, _) = tree.read_range(path, 0, HEAD).ok()?;
    // A line of its own is a document of its own: what follows it is none of it.
    let first = if path.ends_with(".jsonl") { bytes.split(|b| *b == b'\n').next()? } else { &bytes };
    Outline::from_beginning(first)
}

/// Whether a file's name is one that the program gives to results.
fn is_named_so(name: &str) -> bool {
    (name.starts_with("agent_incremental_results") && name.ends_with(".jsonl"))
        || (name.contains("_agent_evaluation_results_") && name.ends_with(".json"))
}

/// The folders of a place that may hold files.
fn folders(tree: &Tree, folder: &str) -> Vec<String> {
    let inner = tree
        .list(folder)
        .into_iter()
        .filter(|entry| entry.is_folder() && FOLDERS.contains(&entry.name.as_str()));
    std::iter::once(folder.to_owned()).chain(inner.map(|entry| join(folder, &entry.name))).collect()
}

fn names(tree: &Tree, folder: &str, is_folder: bool) -> Vec<String> {
    let entries = tree.list(folder).into_iter().filter(|entry| entry.is_folder() == is_folder);
    entries.map(|entry| entry.name).filter(|name| !name.starts_with('.')).collect()
}

fn json_files(tree: &Tree, folder: &str) -> Vec<String> {
    names(tree, folder, false)
        .into_iter()
        .filter(|name| name.ends_with(".json") || name.ends_with(".jsonl"))
        .collect()
}

/// Whether the program wrote here, by names and the head of one file.
pub(super) fn sniff(tree: &Tree, place_folder: &str) -> Sniff {
    let mut looked_at = Vec::new();
    for folder in folders(tree, place_folder) {
        let files = json_files(tree, &folder);
        let conversations =
            names(tree, &folder, true).into_iter().filter(|name| name.starts_with(CONVERSATIONS));
        let candidate =
            files.iter().find(|name| is_named_so(name)).map(|name| join(&folder, name)).or_else(|| {
                let inner = conversations.into_iter().map(|name| join(&folder, &name));
                inner
                    .into_iter()
                    .find_map(|inner| json_files(tree, &inner).first().map(|name| join(&inner, name)))
            });
        // Files under other names are read in the folder itself only: one, or this would cost every folder of every tree.
        let candidate = candidate
            .or_else(|| files.first().filter(|_| folder == place_folder).map(|name| join(&folder, name)));
        if let Some(path) = candidate {
            let results = [Kind::Incremental, Kind::Final, Kind::Conversation];
            if outline(tree, &path).and_then(|o| kind(&path, &o)).is_some_and(|kind| results.contains(&kind))
            {
                return Sniff::Recognized;
            }
            if is_named_so(files::file_name(&path)) || folder != place_folder {
                looked_at.push(path);
            }
        }
    }
    match looked_at.first() {
        None => Sniff::Not { found: "none".to_owned(), closeness: 0 },
        Some(path) => Sniff::Not { found: format!("{path} of another form"), closeness: 20 },
    }
}

/// The agents of a place with their files, by name.
pub(super) fn agents(tree: &Tree, place_folder: &str, report: &mut Report) -> BTreeMap<String, Agent> {
    let mut agents = Agents::default();
    let mut checkpoints: Vec<(String, Vec<String>)> = Vec::new();
    for folder in folders(tree, place_folder) {
        for name in json_files(tree, &folder) {
            let path = join(&folder, &name);
            let Some(outline) = outline(tree, &path) else { continue };
            match kind(&name, &outline) {
                Some(Kind::Incremental) => match lines::agents(tree, &path, AGENTS) {
                    Ok(names) => {
                        report.files_read += 1;
                        for name in names {
                            agents.add(name, |agent| agent.incremental.push(path.clone()));
                        }
                    }
                    Err(error) => report.unreadable(&path, &error, "Its records are left out."),
                },
                Some(Kind::Final) => {
                    let listed = keys(outline.descendant(&["agent_summaries"]))
                        .or_else(|| keys(outline.descendant(&["detailed_results"])));
                    for name in listed.unwrap_or_default() {
                        agents.add(name, |agent| agent.finals.push(path.clone()));
                    }
                }
                Some(Kind::Conversation) => {
                    if let Some(name) =
                        outline.descendant(&["evaluation_info", "agent_name"]).and_then(Outline::text)
                    {
                        agents.add(name.to_owned(), |agent| agent.conversations.push(path));
                    }
                }
                Some(Kind::Checkpoint) => {
                    let names = tree.read_json::<Node>(&path, CHECKPOINT_CAP).ok().map(|node| {
                        let listed = node.get("agents").map_or(&[][..], Node::list);
                        listed.iter().filter_map(Node::word).map(str::to_owned).collect()
                    });
                    checkpoints.push((path, names.unwrap_or_default()));
                }
                None => {}
            }
        }
        for inner in names(tree, &folder, true) {
            // The folder is named after the agent, so that thousands of transcripts need not be looked into.
            let Some(agent) = inner.strip_prefix(CONVERSATIONS) else { continue };
            let inner = join(&folder, &inner);
            let files = json_files(tree, &inner).into_iter().map(|name| join(&inner, &name));
            let files: Vec<String> = files.filter(|name| name.ends_with(".json")).collect();
            if !files.is_empty() {
                agents.add(agent.to_owned(), |agent| agent.conversations.extend(files));
            }
        }
    }
    for (path, names) in checkpoints {
        let mut known = false;
        for name in names {
            // A checkpoint alone is a plan: nothing was played yet.
            if let Some(agent) = agents.known.get_mut(&name) {
                // It may name one a million times.
                if agent.checkpoints.last() != Some(&path) {
                    agent.checkpoints.push(path.clone());
                }
                known = true;
            }
        }
        if !known {
            report.warn(Warning::skipped(
                path,
                "locobench.checkpoint_alone",
                "The checkpoint names agents of which there are no results.",
            ));
        }
    }
    if agents.has_more {
        let message = format!("There are more than {AGENTS} agents here. Further ones are left out.");
        report.warn(Warning::skipped(place_folder, "locobench.too_many", message));
    }
    agents.known
}

/// The agents of a place, up to a number.
#[derive(Default)]
struct Agents {
    known: BTreeMap<String, Agent>,
    has_more: bool,
}

impl Agents {
    fn add(&mut self, name: String, add: impl FnOnce(&mut Agent)) {
        if self.known.len() < AGENTS || self.known.contains_key(&name) {
            add(self.known.entry(name).or_default());
        } else {
            self.has_more = true;
        }
    }
}

fn keys(outline: Option<&Outline>) -> Option<Vec<String>> {
    match outline {
        Some(Outline::Object(names)) => Some(names.iter().map(|(name, _)| name.clone()).collect()),
        _ => None,
    }
}
