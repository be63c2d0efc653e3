//! A run from its own files.

use files::{Tree, file_name, join};
use model::{Baseline, Benchmark, Run};
use store::JOB_ID;

use crate::format_trait::Report;
use crate::formats::harbor::settings::{flatten, plain};
use crate::readers::json::Node;
use crate::readers::value::{self, UnusableValues};
use crate::source_name;

use super::files_of_run::{FILE_CAP, LOCK, METADATA, RESULTS, RESULTS_CAP, folder_name};

/// The longest id of a run that is kept.
const UUID_BYTES: usize = 200;

/// The files of a run, as far as they can be read.
#[derive(Debug, Default)]
pub(super) struct RunFiles {
    results: Option<Node>,
    metadata: Option<Node>,
    lock: Option<Node>,
}

/// Of the metadata: what says which run it is and whose, and not how it was run.
const NOT_SETTINGS: [&str; 18] = [
    "run_id",
    "uuid",
    "dataset_path",
    "output_path",
    "agent_name",
    "model_name",
    "username",
    "s3_bucket",
    "start_time",
    "end_time",
    "resumed_at",
    "accuracy",
    "pass_at_k",
    "task_ids",
    "dataset_size",
    "log_level",
    "commit_hash",
    "exclude_task_ids",
];

impl RunFiles {
    /// Reads what is there of `results.json`, `run_metadata.json` and `tb.lock`.
    pub(super) fn read(tree: &Tree, folder: &str, report: &mut Report) -> Self {
        let mut read = |name: &str, cap, consequence: &str| {
            let path = join(folder, name);
            tree.entry(&path).filter(|entry| !entry.is_folder())?;
            report.read_object(tree, &path, cap, consequence)
        };
        Self {
            results: read(
                RESULTS,
                RESULTS_CAP,
                "The trials are read from their own folders as far as they go.",
            ),
            metadata: read(
                METADATA,
                FILE_CAP,
                "Agent, model and data set are taken from tb.lock, if it is there.",
            ),
            lock: read(LOCK, FILE_CAP, "The settings of the run are those of run_metadata.json."),
        }
    }

    /// The entries of the results.
    pub(super) fn entries(&self) -> &[Node] {
        self.results.as_ref().and_then(|r| r.get("results")).map_or(&[][..], Node::list)
    }

    fn meta(&self, key: &str) -> Option<&Node> {
        self.metadata.as_ref()?.get(key)
    }

    fn locked(&self, keys: &[&str]) -> Option<&Node> {
        self.lock.as_ref()?.descendant(keys)
    }

    /// What the metadata says, else the lock.
    fn text(&self, key: &str, locked: &[&str]) -> Option<&str> {
        self.meta(key).or_else(|| self.locked(locked)).and_then(Node::word)
    }

    /// Identity of the run: the name of its folder, which is its id, unless the folder is the whole source.
    pub(super) fn key(&self, tree: &Tree, place_folder: &str) -> String {
        let folder = || Some(file_name(place_folder)).filter(|name| !name.is_empty());
        let id = || self.text("run_id", &["local_config", "run_id"]);
        let name = if source_name::is_whole(tree, place_folder) {
            id().or_else(folder)
        } else {
            folder().or_else(id)
        };
        name.map_or_else(|| tree.folder_name(), str::to_owned)
    }

    /// Its own id, which every copy of it has that was made before it was resumed.
    pub(super) fn uuid(&self) -> Option<&str> {
        self.meta("uuid").and_then(Node::word).filter(|uuid| uuid.len() >= 32)
    }

    /// The tasks that were to be played.
    pub(super) fn task_ids(&self) -> Vec<&str> {
        let ids = self.locked(&["dataset", "task_ids"]).or_else(|| self.meta("task_ids"));
        ids.map_or(&[][..], Node::list).iter().filter_map(Node::word).collect()
    }

    /// How often each task was to be played.
    pub(super) fn attempts(&self) -> Option<u32> {
        let attempts = self.meta("n_attempts").or_else(|| self.locked(&["run_config", "n_attempts"]));
        attempts.and_then(value::count).filter(|n| *n > 0)
    }

    fn planned(&self) -> Option<u32> {
        let locked = u32::try_from(self.task_ids().len()).ok().filter(|n| *n > 0);
        let tasks = self.meta("dataset_size").and_then(value::count).filter(|n| *n > 0).or(locked)?;
        tasks.checked_mul(self.attempts()?)
    }

    fn benchmark(&self) -> Benchmark {
        let version = self.text("dataset_version", &["dataset", "version"]);
        let folder = || self.text("dataset_path", &["dataset", "local_path"]).map(folder_name);
        let name = match (self.text("dataset_name", &["dataset", "name"]), version) {
            (Some(name), Some(version)) => format!("{name}=={version}"),
            (Some(name), None) => name.to_owned(),
            (None, _) => folder().filter(|name| !name.is_empty()).unwrap_or("adhoc").to_owned(),
        };
        Benchmark { key: format!("terminal-bench:{name}"), name: format!("Terminal-Bench, {name}") }
    }

    /// The run.
    pub(super) fn run(&self, tree: &Tree, folder: &str, report: &mut Report) -> Run {
        let mut run = Run::unknown(self.key(tree, folder), self.benchmark());
        let version = self.locked(&["harness", "version"]).and_then(Node::word).map(str::to_owned);
        run.runner = Some(("Terminal-Bench".to_owned(), version));
        run.harness = self.text("agent_name", &["agent", "name"]).map(str::to_owned);
        run.baseline = run.harness.as_deref().and_then(Baseline::from_harness_name);
        if let Some(model) = self.text("model_name", &["agent", "model_name"]) {
            // As its client of models parts them.
            let (provider, name) = model.split_once('/').map_or((None, model), |(p, m)| (Some(p), m));
            (run.provider, run.model) = (provider.map(str::to_owned), Some(name.to_owned()));
        }
        run.attempt_limit = Some(1);
        run.planned_episodes = self.planned();
        let mut unusable = UnusableValues::default();
        run.started_at = unusable.time("start_time", self.meta("start_time"));
        run.finished_at = unusable.time("end_time", self.meta("end_time"));
        for key in ["n_attempts", "dataset_size"] {
            unusable.take(key, self.meta(key), value::count);
        }
        unusable.warn(&join(folder, METADATA), report);
        for (key, value) in self.metadata.as_ref().map_or(&[][..], Node::map) {
            if !NOT_SETTINGS.contains(&key.as_str()) {
                flatten(key, value, &mut run.settings);
            }
        }
        for (key, value) in self.locked(&["run_config"]).map_or(&[][..], Node::map) {
            if !NOT_SETTINGS.contains(&key.as_str()) {
                flatten(key, value, &mut run.settings);
            }
        }
        if let Some(kwargs) = self.locked(&["agent", "extra_kwargs"]) {
            flatten("agent_kwargs", kwargs, &mut run.settings);
        }
        if let Some(commit) = self.meta("commit_hash").and_then(Node::word).filter(|hash| *hash != "unknown")
        {
            run.extra.insert("commit_hash".to_owned(), commit.into());
        }
        self.reported(&mut run, folder, report);
        if let Some(stated) = run.extra.remove(JOB_ID) {
            run.extra.insert(format!("results.{JOB_ID}"), stated);
        }
        if let Some(uuid) = self.uuid().filter(|uuid| uuid.len() <= UUID_BYTES) {
            run.extra.insert(JOB_ID.to_owned(), uuid.into());
        }
        run
    }

    /// Its own figures. The metadata has them from the end on, the results after each trial.
    fn reported(&self, run: &mut Run, folder: &str, report: &mut Report) {
        const KNOWN: [&str; 8] = [
            "id",
            "results",
            "accuracy",
            "n_resolved",
            "n_unresolved",
            "resolved_ids",
            "unresolved_ids",
            "pass_at_k",
        ];
        let results = self.results.as_ref();
        for (file, summary) in [(RESULTS, results), (METADATA, self.metadata.as_ref())] {
            let Some(summary) = summary else { continue };
            let mut unusable = UnusableValues::default();
            let shares = summary.get("pass_at_k").map_or(&[][..], Node::map);
            let counts = ["n_resolved", "n_unresolved"].map(|key| {
                let count = unusable.take(key, summary.get(key), value::count);
                (key.to_owned(), count.map(f64::from))
            });
            let accuracy = unusable.take("accuracy", summary.get("accuracy"), value::share);
            let mut figures = vec![("accuracy".to_owned(), accuracy)];
            figures.extend(counts);
            figures.extend(shares.iter().map(|(k, share)| {
                let name = format!("pass@{k}");
                let share = unusable.take(&name, Some(share), value::share);
                (name, share)
            }));
            for (name, figure) in figures {
                let name = format!("tb.{name}");
                let known = run.reported.figures.iter().any(|(other, _)| *other == name);
                run.reported.figures.extend(figure.filter(|_| !known).map(|figure| (name, figure)));
            }
            unusable.warn(&join(folder, file), report);
        }
        for (key, value) in results.map_or(&[][..], Node::map) {
            if !KNOWN.contains(&key.as_str()) && *value != Node::Null {
                run.extra.insert(key.clone(), plain(key, value));
            }
        }
    }
}
