//! Which agent, model and task a trial is of: read from its small files, so that a survey need not parse results.

use crate::readers::json::Node;
use crate::source_name;
use files::{Tree, file_name, join};
use model::Extra;

use super::layout::{Job, Kind, stem};
use super::limits::{CONFIG_CAP, RESULT_CAP};
use super::settings::flatten;

/// What names a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The agent's name; `None` if no file says it.
    pub(super) agent: Option<String>,
    /// The model as configured, with its provider (`openai/gpt-4o-mini`).
    pub(super) model: Option<String>,
    /// Where the task lay on the runner's machine.
    pub(super) task_path: Option<String>,
    /// The task's name: `org/name`, or its folder's name.
    pub(super) task: String,
    /// The trial's name in its job, which copies of its folder have in common.
    pub(super) trial: Option<String>,
    /// The data set that the task was taken from.
    pub(super) source: Option<String>,
    /// The repository that the task was taken from.
    pub(super) repository: Option<String>,
    /// Whether the agent continues with its session from step to step.
    pub(super) resumes: bool,
    /// Whether it grades the recorded work of another trial again.
    pub(super) regraded: bool,
}

impl Head {
    /// Reads `config.json`, and only where it does not say enough `lock.json`, then `result.json`, then the job's
    /// configuration if that names a single agent.
    pub(super) fn read(tree: &Tree, trial: &str, job_config: Option<&Node>) -> Self {
        Self::read_with_settings(tree, trial, job_config).0
    }

    /// The same with the agent's settings in `config.json`, under dotted names.
    pub(super) fn read_with_settings(tree: &Tree, trial: &str, job_config: Option<&Node>) -> (Self, Extra) {
        let (mut head, mut settings) = (Self::default(), Extra::new());
        if let Ok(config) = tree.read_json::<Node>(&join(trial, "config.json"), CONFIG_CAP) {
            head.take(&config);
            if let Some(agent) = config.get("agent") {
                flatten("agent", agent, &mut settings);
            }
        }
        if head.agent.is_none() || head.task.is_empty() {
            if let Ok(lock) = tree.read_json::<Node>(&join(trial, "lock.json"), CONFIG_CAP) {
                head.take(&lock);
            }
            if let Ok(result) = tree.read_json::<Node>(&join(trial, "result.json"), RESULT_CAP) {
                head.take_result(&result);
            }
        }
        if head.agent.is_none()
            && let Some([agent]) = job_config.and_then(|c| c.get("agents")).map(Node::list)
        {
            head.take_agent(agent);
        }
        if head.task.is_empty() {
            stem(trial).clone_into(&mut head.task);
        }
        (head, settings)
    }

    /// An agent of a job's configuration, without a task.
    pub(super) fn from_agent(agent: &Node) -> Self {
        let mut head = Self::default();
        head.take_agent(agent);
        head
    }

    /// A task of a job's configuration, without an agent.
    pub(super) fn from_task(task: &Node) -> Self {
        let mut head = Self::default();
        head.take_task(task);
        head
    }

    /// A trial by its entry in a lock, or its configuration.
    pub(super) fn from_config(config: &Node) -> Self {
        let mut head = Self::default();
        head.take(config);
        head
    }

    /// What a trial's result says of itself; it wins over nothing that is known.
    pub(super) fn take_result(&mut self, result: &Node) {
        if let Some(config) = result.get("config") {
            self.take(config);
        }
        if self.agent.is_none() {
            self.agent = result.descendant(&["agent_info", "name"]).and_then(Node::word).map(str::to_owned);
        }
        if self.task.is_empty()
            && let Some(name) = result.get("task_name").and_then(Node::word)
        {
            name.clone_into(&mut self.task);
        }
        if self.source.is_none() {
            self.source = result.get("source").and_then(Node::word).map(str::to_owned);
        }
    }

    fn take(&mut self, config: &Node) {
        self.trial =
            self.trial.take().or_else(|| config.get("trial_name").and_then(Node::word).map(str::to_owned));
        self.regraded |= config.get("source_trial").is_some();
        if let Some(agent) = config.get("agent") {
            self.take_agent(agent);
        }
        if let Some(task) = config.get("task") {
            self.take_task(task);
        }
    }

    fn take_task(&mut self, task: &Node) {
        let text = |key| task.get(key).and_then(Node::word).map(str::to_owned);
        self.task_path = self.task_path.take().or_else(|| text("path"));
        self.source = self.source.take().or_else(|| text("source"));
        self.repository = self.repository.take().or_else(|| text("git_url"));
        if self.task.is_empty() {
            let name_from_path = || Some(folder_name(&text("path")?).to_owned());
            self.task = text("name").or_else(name_from_path).unwrap_or_default();
        }
    }

    fn take_agent(&mut self, agent: &Node) {
        let text = |key| agent.get(key).and_then(Node::word).map(str::to_owned);
        if self.agent.is_none() {
            // `my_package.agents:MyAgent`
            self.agent = text("name").or_else(|| text("import_path"));
            self.model = self.model.take().or_else(|| text("model_name"));
            self.resumes = agent.get("resume_trajectory").and_then(Node::truth) == Some(true);
        }
    }

    /// What the task was taken from: its data set, else its repository. With the name it distinguishes tasks.
    pub(super) fn task_origin(&self) -> Option<&str> {
        self.source.as_deref().or(self.repository.as_deref())
    }

    /// Provider and model as Harbor parts them: at the first slash.
    pub(super) fn provider_and_model(&self) -> (Option<&str>, Option<&str>) {
        match self.model.as_deref().map(|m| m.split_once('/').ok_or(m)) {
            Some(Ok((provider, model))) => (Some(provider), Some(model)),
            Some(Err(model)) => (None, Some(model)),
            None => (None, None),
        }
    }

    /// The run that the trial belongs to, in [`model::Run::key`]'s sense.
    pub(super) fn run_key(&self, kind: Kind, job: &Job, job_name: &str) -> String {
        let agent = self.agent.as_deref().unwrap_or("unknown-agent");
        if let (Kind::Task | Kind::Tasks, Some(bucket)) = (kind, &job.bucket) {
            return format!("{bucket}/{agent}");
        }
        match self.model.as_deref().filter(|m| *m != agent) {
            Some(model) => format!("{job_name}/{agent}/{model}"),
            None => format!("{job_name}/{agent}"),
        }
    }
}

/// The id of the trial whose recorded work a trial grades again, by its configuration or, where that has only a path, by its lock.
pub(super) fn graded_source(tree: &Tree, trial: &str, config: &Node) -> Option<String> {
    let source = config.get("source_trial")?;
    let id = |source: &Node| source.get("trial_id").and_then(Node::word).map(str::to_owned);
    id(source).or_else(|| {
        let lock = tree.read_json::<Node>(&join(trial, "lock.json"), CONFIG_CAP).ok()?;
        id(lock.get("source_trial")?)
    })
}

/// The name of a job: of its folder, else by its configuration. Where it is the whole source, its configuration comes first: its
/// zip, in which its folder lies, may have any name.
pub(super) fn job_name(tree: &Tree, job: &Job, config: Option<&Node>) -> String {
    let folder = || Some(file_name(&job.path)).filter(|name| job.whole && !name.is_empty());
    let configured = || config.and_then(|c| c.get("job_name")).and_then(Node::word);
    let name = if source_name::is_whole(tree, &job.path) {
        configured().or_else(folder)
    } else {
        folder().or_else(configured)
    };
    name.map_or_else(|| tree.folder_name(), str::to_owned)
}

/// The last part of a path of any system.
pub(super) fn folder_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}
