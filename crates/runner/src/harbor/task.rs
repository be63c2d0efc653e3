//! The tasks of a folder or zip: what lies around each `task.toml`, what of them can be played, and why the others cannot.

mod hash;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use files::{Tree, join};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::file::{self, StepFile, TaskFile};
use super::player::{self, Player};
use super::{Recipe, TaskImage, TaskPreview, archives};
use crate::settings::{RunSettings, SettingsError, TaskSession, TaskSettings};
use crate::state::{PlannedEpisode, episode_name};
use crate::{RunError, secrets};

/// Largest `task.toml`, and largest instruction, in bytes.
const LARGEST_FILE: u64 = 1 << 20;
/// Most bytes of all `task.toml`, and of all recipes that are looked at for a person, together.
const LARGEST_FILES: u64 = 8 << 20;
const LARGEST_RECIPES: u64 = 32 << 20;
/// Most tasks of a run.
const MOST_TASKS: usize = 1000;
/// Most bytes of what is played of all tasks together, which is read to be hashed.
const MOST_BYTES: u64 = 16 << 30;
/// What of a task's folder is played.
const PLAYED: [&str; 4] = ["environment", "solution", "steps", "tests"];
/// KiB of solutions that are in memory at once, over all tasks, for a simulated model that writes them.
const SOLUTIONS: u32 = 64 << 10;

/// The tasks of a run.
#[derive(Debug)]
pub(crate) struct Tasks {
    pub(super) tree: Tree,
    pub(super) list: Vec<Task>,
    /// Made when it is asked for: all that is played is read.
    sha256: OnceLock<String>,
    /// A permit for each KiB of [`SOLUTIONS`].
    solutions: Arc<Semaphore>,
    /// Images that are built or were, each held while it is: tasks of the same files share one.
    building: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// One task.
#[derive(Debug)]
pub(super) struct Task {
    /// The name of its folder.
    pub(super) name: String,
    /// Its path in the tree.
    pub(super) folder: String,
    /// `Err` = its `task.toml` cannot be read.
    read: Result<file::ParsedTask, String>,
    /// What its folder lacks, or holds too much of.
    lacks: Vec<String>,
    /// Whether its image is built from a `Dockerfile`.
    pub(super) is_built: bool,
    /// Whether a solution of it is more than a simulated model writes.
    has_large_solution: bool,
    /// The first step without a reference solution, of those that have a step behind them.
    unsolved: Option<String>,
    /// Whether its tests print CASE lines, once somebody has asked.
    uses_cases: OnceLock<bool>,
}

/// A solution in memory, which counts among [`SOLUTIONS`] for as long as it lives.
#[derive(Debug)]
pub(super) struct HeldSolution {
    /// Names relative to its folder, and contents.
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) held: OwnedSemaphorePermit,
}

impl Tasks {
    /// Opens a folder or zip: a task, tasks, or a folder of tasks. Only what says what the tasks are is read. Blocks.
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        let wrong = |reason: String| SettingsError::new("tasks", format!("{}: {reason}", path.display()));
        let tree = Tree::open(path).map_err(|error| wrong(error.to_string()))?;
        let folders = task_folders(&tree);
        if folders.is_empty() {
            return Err(wrong("no folder in it holds a task.toml".to_owned()).into());
        }
        if folders.len() > MOST_TASKS {
            return Err(
                wrong(format!("it holds {} tasks; at most {MOST_TASKS} are played", folders.len())).into()
            );
        }
        let files = folders.iter().filter_map(|folder| tree.entry(&join(folder, "task.toml")));
        if files.map(|entry| entry.size).sum::<u64>() > LARGEST_FILES {
            let most = LARGEST_FILES >> 20;
            return Err(
                wrong(format!("the task.toml of its tasks hold more than {most} MiB together")).into()
            );
        }
        let mut left = MOST_BYTES;
        let played = folders.iter().flat_map(|folder| PLAYED.map(|name| join(folder, name)));
        if !played.into_iter().all(|folder| fits_in(&tree, &folder, &mut left)) {
            return Err(wrong(format!("its tasks hold more than {} GiB", MOST_BYTES >> 30)).into());
        }
        let list: Vec<Task> = folders.into_iter().map(|folder| Task::read(&tree, folder)).collect();
        let solutions = Arc::new(Semaphore::new(SOLUTIONS as usize));
        Ok(Self { tree, list, sha256: OnceLock::new(), solutions, building: Mutex::default() })
    }

    /// What is held while an image is built.
    pub(super) fn building(&self, image: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut known = model::lock(&self.building);
        known.entry(image.to_owned()).or_default().clone()
    }

    /// SHA-256 of all that is played, which is read for it when this is called first. Blocks.
    pub(crate) fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| hash::hash(&self.tree, &self.list))
    }

    /// The files of a solution for a simulated model. Waits while there are too many in memory. The error is a sentence.
    pub(super) async fn solution(self: &Arc<Self>, folder: String) -> Result<HeldSolution, String> {
        let most = u32::try_from(archives::LARGEST_SOLUTION >> 10).unwrap_or(SOLUTIONS).min(SOLUTIONS);
        let permits = self.solutions.clone().acquire_many_owned(most).await;
        let mut held = permits.map_err(|error| error.to_string())?;
        let tasks = self.clone();
        let read = tokio::task::spawn_blocking(move || archives::contents(&tasks.tree, &folder)).await;
        let files = read.map_err(|panicked| panicked.to_string())??;
        let bytes: u64 = files.iter().map(|(name, content)| (name.len() + content.len()) as u64).sum();
        let needed = usize::try_from(bytes.div_ceil(1 << 10)).unwrap_or(usize::MAX);
        if let Some(needed) = held.split(needed) {
            held = needed;
        }
        Ok(HeldSolution { files, held })
    }

    /// What is to be played: the tasks that can be, or those of them that are named. Numbers count all tasks, from 0.
    pub(crate) fn plan(&self, settings: &RunSettings) -> Result<Vec<PlannedEpisode>, RunError> {
        let task_count = self.list.len() as u32;
        if let Some(beyond) = settings.execute_episodes.iter().find(|number| **number >= task_count) {
            let reason = format!("there is no task {beyond}: there are {task_count}, counted from 0");
            return Err(SettingsError::new("execute_episodes", reason).into());
        }
        let named = &settings.execute_episodes;
        // A debug run plays two steps of two tasks.
        let (most, steps) = if settings.quick_debug { (2, 2) } else { (usize::MAX, u32::MAX) };
        let planned: Vec<PlannedEpisode> = (0_u32..)
            .zip(&self.list)
            .filter(|(number, task)| {
                (named.is_empty() || named.contains(number)) && task.refusals(settings).is_empty()
            })
            .take(most)
            .map(|(number, task)| PlannedEpisode {
                name: episode_name(number),
                scenario: number,
                turns: task.steps().min(steps),
            })
            .collect();
        if planned.is_empty() {
            let first = self.list.iter().find_map(|task| {
                Some(format!("{}: {}", task.name, task.refusals(settings).into_iter().next()?))
            });
            let reason = format!("no task in it can be run. {}", first.unwrap_or_default());
            return Err(SettingsError::new("tasks", reason).into());
        }
        Ok(planned)
    }

    /// The task of an episode.
    pub(super) fn task(&self, planned: &PlannedEpisode) -> Option<&Task> {
        self.list.get(planned.scenario as usize)
    }

    /// The images of some tasks, by number.
    pub(super) fn images(&self, numbers: &[u32]) -> Result<Vec<TaskImage>, RunError> {
        let tasks = numbers.iter().filter_map(|number| self.list.get(*number as usize));
        let mut left = LARGEST_RECIPES;
        let image = |task: &Task| {
            let image = task.file().ok().and_then(|file| file.image.clone());
            let (recipe, text) = if task.is_built {
                let path = join(&task.folder, "environment/Dockerfile");
                let (text, _) = self
                    .tree
                    .read_text(&path, LARGEST_FILE)
                    .map_err(|error| SettingsError::new("tasks", format!("{path}: {error}")))?;
                left = left.checked_sub(text.len() as u64).ok_or_else(|| {
                    let most = LARGEST_RECIPES >> 20;
                    SettingsError::new(
                        "tasks",
                        format!("{path}: the recipes hold more than {most} MiB together"),
                    )
                })?;
                (Recipe::from_text(&text), text)
            } else {
                (Recipe::default(), String::new())
            };
            let recipe_sha256 = Sha256::digest(text.as_bytes()).into();
            Ok(TaskImage { task: task.name.clone(), image, recipe, recipe_sha256 })
        };
        tasks.map(image).collect()
    }

    /// Each task as preflight shows it.
    pub(crate) fn previews(&self, settings: &RunSettings) -> Vec<TaskPreview> {
        let warnings = self.tree.warnings();
        self.list
            .iter()
            .map(|task| {
                let mut notes = task.notes(settings);
                let within =
                    |path: &str| task.folder.is_empty() || path.starts_with(&format!("{}/", task.folder));
                notes.extend(
                    warnings
                        .iter()
                        .filter(|warning| within(&warning.path))
                        .map(|warning| format!("{}: {}", warning.path, warning.message)),
                );
                TaskPreview {
                    name: task.name.clone(),
                    steps: task.steps(),
                    image: task.file().ok().and_then(|file| file.image.clone()),
                    refused: task.refusals(settings),
                    notes,
                }
            })
            .collect()
    }
}

/// The folders with a `task.toml`: the tree itself, those in it, or those in a single folder of it.
fn task_folders(tree: &Tree) -> Vec<String> {
    let is_task =
        |folder: &str| tree.entry(&join(folder, "task.toml")).is_some_and(|entry| !entry.is_folder());
    if is_task("") {
        return vec![String::new()];
    }
    let folders = |folder: &str| -> Vec<String> {
        tree.list(folder)
            .into_iter()
            .filter(files::Entry::is_folder)
            .map(|entry| join(folder, &entry.name))
            .collect()
    };
    let mut top = folders("");
    let found: Vec<String> = top.iter().filter(|folder| is_task(folder)).cloned().collect();
    match (found.is_empty(), top.len()) {
        (false, _) => found,
        (true, 1) => folders(&top.remove(0)).into_iter().filter(|folder| is_task(folder)).collect(),
        (true, _) => Vec::new(),
    }
}

impl Task {
    fn read(tree: &Tree, folder: String) -> Self {
        let name = match folder.as_str() {
            "" => tree.folder_name(),
            folder => files::file_name(folder).to_owned(),
        };
        let text = tree.read_text(&join(&folder, "task.toml"), LARGEST_FILE);
        let read = text.map_err(|error| error.to_string()).and_then(|(text, _)| file::read(&text));
        let mut task = Self {
            name,
            folder,
            read,
            lacks: Vec::new(),
            is_built: false,
            has_large_solution: false,
            unsolved: None,
            uses_cases: OnceLock::new(),
        };
        if let Ok(read) = &task.read {
            let file = read.file.clone();
            task.check_files(tree, &file);
        }
        task
    }

    fn check_files(&mut self, tree: &Tree, file: &TaskFile) {
        let is_there = |path: &str| tree.entry(&join(&self.folder, path)).is_some();
        let mut lacks = Vec::new();
        let compose = ["docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml"];
        if let Some(name) = compose.iter().find(|name| is_there(&format!("environment/{name}"))) {
            lacks.push(format!("environment/{name}: several containers for one task are not played"));
        }
        let has_recipe = is_there("environment/Dockerfile");
        if !has_recipe && file.image.is_none() {
            lacks.push("it has neither environment/Dockerfile nor environment.docker_image".to_owned());
        }
        for step in &file.steps {
            let step_path = |rest: &str| format!("steps/{}/{rest}", step.name);
            if !is_there(&step_path("instruction.md")) {
                lacks.push(format!("{} is not there", step_path("instruction.md")));
            }
            if !is_there(&step_path("tests/test.sh")) && !is_there("tests/test.sh") {
                lacks.push(format!("{} is not there, nor is tests/test.sh", step_path("tests/test.sh")));
            }
        }
        for folder in PLAYED.iter().filter(|folder| !archives::fits(tree, &join(&self.folder, folder))) {
            lacks.push(format!("{folder}/ is too large"));
        }
        let step_folders = file.steps.iter().map(|step| format!("steps/{}/solution", step.name));
        self.has_large_solution = step_folders
            .chain(["solution".to_owned()])
            .any(|folder| !archives::is_solution_written(tree, &join(&self.folder, &folder)));
        let earlier = file.steps.split_last().map_or(&[][..], |(_, earlier)| earlier);
        let unsolved = earlier.iter().find(|step| self.solution(tree, step).is_none());
        self.unsolved = unsolved.map(|step| step.name.clone());
        // An image that is named wins, as with Harbor.
        (self.lacks, self.is_built) = (lacks, has_recipe && file.image.is_none());
    }

    /// Whether its tests print CASE lines. At most 20 files of two folders are looked at, once. Blocks.
    pub(super) fn uses_cases(&self, tree: &Tree) -> bool {
        *self.uses_cases.get_or_init(|| {
            let steps = self.read.iter().filter_map(|read| read.file.steps.first());
            let step_path = steps.map(|step| format!("steps/{}/tests", step.name));
            step_path.chain(["tests".to_owned()]).any(|folder| {
                let folder = join(&self.folder, &folder);
                tree.list(&folder).iter().filter(|entry| !entry.is_folder()).take(20).any(|entry| {
                    tree.read_text(&join(&folder, &entry.name), LARGEST_FILE)
                        .is_ok_and(|(text, _)| text.contains("CASE_SUMMARY"))
                })
            })
        })
    }

    pub(super) fn file(&self) -> Result<&TaskFile, String> {
        self.read.as_ref().map(|read| &read.file).map_err(Clone::clone)
    }

    fn steps(&self) -> u32 {
        self.read.as_ref().map_or(0, |read| read.file.steps.len() as u32)
    }

    /// Why it cannot be played; empty = it can.
    fn refusals(&self, settings: &RunSettings) -> Vec<String> {
        let read = match &self.read {
            Ok(read) => read,
            Err(error) => return vec![format!("task.toml: {error}")],
        };
        let mut refusals = read.refused.clone();
        refusals.extend(self.lacks.iter().cloned());
        let handed = secrets::forwarded(settings);
        let players = [&read.file.env, &read.file.solution_env];
        let plays_alone = settings.tasks.as_ref().is_some_and(TaskSettings::plays_alone);
        // The simulated model executes the solution as well, and so do steps that are played by themselves.
        let is_solved =
            settings.agent == Player::Oracle.word() || settings.has_simulated_model() || plays_alone;
        let environments = players.into_iter().take(if is_solved { 2 } else { 1 });
        let environments = environments.chain(read.file.steps.iter().map(|step| &step.verifier_env));
        for refusal in environments.filter_map(|env| variables(env, &handed).err()) {
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
        if settings.has_simulated_model() && self.has_large_solution {
            refusals.push(format!(
                "a solution of it holds more than {} MiB or {} entries, more than the simulated model writes: play it with agent=ORACLE",
                archives::LARGEST_SOLUTION >> 20,
                archives::MOST_FILES
            ));
        }
        if plays_alone && let Some(step) = &self.unsolved {
            refusals.push(format!(
                "its step {step} has no reference solution (solution/solve.sh), and with harbor.protocol=sr later steps begin from it"
            ));
        }
        if settings.asks_model() && settings.reach == sandbox::NetworkAccess::Open && !read.file.is_public {
            refusals.push(
                "it asks for no network, and with limits.network=open the model is reached over the network: play it with limits.network=gateway"
                    .to_owned(),
            );
        }
        refusals
    }

    /// What of it is not obeyed, or is different here.
    fn notes(&self, settings: &RunSettings) -> Vec<String> {
        let Ok(read) = &self.read else { return Vec::new() };
        let mut notes: Vec<String> =
            read.unknown.iter().map(|key| format!("task.toml: the key {key} is not obeyed")).collect();
        if read.unknown_more > 0 {
            let more = model::counted(read.unknown_more as u64, "further key");
            let verb = if read.unknown_more == 1 { "is" } else { "are" };
            notes.push(format!("task.toml: {more} {verb} not obeyed"));
        }
        if read.file.is_public && settings.reach == sandbox::NetworkAccess::Gateway {
            notes.push("it may use the internet, and has none here unless limits.network=open".to_owned());
        }
        notes.extend(session_note(&read.file.steps, settings).map(str::to_owned));
        if read.file.is_final {
            notes.push(
                "multi_step_reward_strategy = \"final\" is not the score: steps are scored one by one"
                    .to_owned(),
            );
        }
        let limits = &settings.limits;
        if let Some(memory) = read.file.memory_mb.filter(|mb| mb.saturating_mul(1 << 20) > limits.memory) {
            notes.push(format!("it asks for {memory} MB of memory, and limits.memory_gib gives less"));
        }
        if let Some(storage) = read.file.storage_mb.filter(|mb| mb.saturating_mul(1 << 20) > limits.disk) {
            notes.push(format!("it asks for {storage} MB of storage, and limits.disk_gib gives less"));
        }
        if let Some(cpus) = read.file.cpus.filter(|cpus| *cpus > limits.cpus) {
            notes.push(format!("it asks for {cpus} CPUs, and limits.cpus gives less"));
        }
        notes
    }

    /// The instruction of a step. Blocks.
    pub(super) fn instruction(&self, tree: &Tree, step: &StepFile) -> Result<String, String> {
        let path = join(&self.folder, &format!("steps/{}/instruction.md", step.name));
        let read = tree.read_text(&path, LARGEST_FILE);
        read.map(|(text, _)| text).map_err(|error| format!("{path}: {error}"))
    }

    /// The folder of the reference solution: that of the step where it has one, else the task's. `None` = it has no
    /// `solve.sh`.
    pub(super) fn solution(&self, tree: &Tree, step: &StepFile) -> Option<String> {
        let folder = self.step_path(tree, step, "solution").or_else(|| self.task_path(tree, "solution"))?;
        tree.entry(&join(&folder, "solve.sh")).map(|_| folder)
    }

    /// A file or folder of a step, if it is there.
    pub(super) fn step_path(&self, tree: &Tree, step: &StepFile, rest: &str) -> Option<String> {
        self.task_path(tree, &format!("steps/{}/{rest}", step.name))
    }

    /// A file or folder of the task, if it is there.
    pub(super) fn task_path(&self, tree: &Tree, rest: &str) -> Option<String> {
        let path = join(&self.folder, rest);
        tree.entry(&path).map(|_| path)
    }
}

/// What is said of steps that ask for another session of their harness than the settings give them. A player has none.
fn session_note(steps: &[StepFile], settings: &RunSettings) -> Option<&'static str> {
    let tasks = settings.tasks.as_ref().filter(|_| !player::is_player(&settings.agent))?;
    let (wanted, note) = if tasks.session == TaskSession::Fresh || tasks.plays_alone() {
        let note = "a step of it asks to continue the session of the step before (inherit_prior_session = true), and each step begins a new one here";
        (true, note)
    } else {
        let note = "a step of it asks for a session of its own (inherit_prior_session = false), and its steps are one session here unless harbor.session=fresh";
        (false, note)
    };
    // The first step begins one in any case.
    steps.iter().skip(1).any(|step| step.continues_session == Some(wanted)).then_some(note)
}

/// Variables with what they stand for on this machine: `${NAME}` and `${NAME:-value}` as a whole. Only variables that the
/// settings hand on are looked up. The error names the variable and says what to do.
pub(super) fn variables(
    env: &BTreeMap<String, String>,
    handed: &[(String, String)],
) -> Result<Vec<(String, String)>, String> {
    env.iter()
        .map(|(name, value)| {
            let Some((variable, default)) = template(value) else { return Ok((name.clone(), value.clone())) };
            let found = handed.iter().find(|(handed, _)| handed == variable).map(|(_, value)| value.as_str());
            found.or(default).map(|value| (name.clone(), value.to_owned())).ok_or_else(|| {
                format!(
                    "it needs the variable {variable} of this machine; hand it on with docker.env_vars={variable}, once it is set"
                )
            })
        })
        .collect()
}

/// Name and default of `${NAME}` or `${NAME:-default}`.
fn template(value: &str) -> Option<(&str, Option<&str>)> {
    let inner = value.strip_prefix("${")?.strip_suffix('}')?;
    let (name, default) = inner.split_once(":-").map_or((inner, None), |(name, value)| (name, Some(value)));
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some((name, default))
}

/// Whether a folder has at most as many bytes as are left; takes them.
fn fits_in(tree: &Tree, folder: &str, left: &mut u64) -> bool {
    tree.list(folder).into_iter().all(|entry| {
        let Some(rest) = left.checked_sub(entry.size) else { return false };
        *left = rest;
        !entry.is_folder() || fits_in(tree, &join(folder, &entry.name), left)
    })
}

#[cfg(test)]
mod tests;
