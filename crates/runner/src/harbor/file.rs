//! `task.toml`: what a runner obeys of it, with the defaults of Harbor's schemas 1.1 to 1.4.
//!
//! Nothing is dropped silently: what this version cannot do is a reason to refuse the task ([`ParsedTask::refused`]), and keys that
//! no schema has are named ([`ParsedTask::unknown`]).

mod raw;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use self::raw::{NameOrNumber, Raw, RawArtifact, RawEnvironment, RawHealth, RawPhase, RawReward, RawStep};
use self::values::{
    LEAST_CPUS, LEAST_MEMORY_MB, check_least, check_name, name_key, seconds, size, variables,
};

/// Seconds of a verifier where its step says nothing. What `[verifier]` of the task says is not used for steps.
const VERIFIER_SECONDS: f64 = 600.0;
/// Most steps of a task.
const MOST_STEPS: usize = 1000;
/// Most bytes of what a task says once for all its steps, over all of them: each step has a copy.
const MOST_COPIED: usize = 8 << 20;
/// Bytes that a value takes beside its text.
const VALUE: usize = 64;
/// Most keys that are named because nothing obeys them, and letters of each.
const MOST_UNKNOWN: usize = 50;
const KEY_LETTERS: usize = 200;
/// Letters of a reason to refuse a task.
const REASON_LETTERS: usize = 400;
/// A key of a fork: whether a step continues the session of the one before.
const ONE_SESSION: &str = "inherit_prior_session";

/// A `task.toml` that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedTask {
    pub(super) file: TaskFile,
    /// What it asks for and cannot have, each by name.
    pub(super) refused: Vec<String>,
    /// Dotted keys that no schema has, or that nothing here obeys.
    pub(super) unknown: Vec<String>,
    /// How many further ones there are.
    pub(super) unknown_more: usize,
}

/// What is obeyed of a `task.toml`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskFile {
    /// `metadata.name`.
    pub(super) title: Option<String>,
    /// `final` or `mean`: what Harbor would make of the rewards. Steps are scored here one by one.
    pub(super) is_final: bool,
    /// An image that is there already.
    pub(super) image: Option<String>,
    pub(super) build_seconds: u64,
    pub(super) cpus: Option<f64>,
    pub(super) memory_mb: Option<u64>,
    pub(super) storage_mb: Option<u64>,
    pub(super) workdir: Option<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) health: Option<Health>,
    /// Whether it asks for the internet.
    pub(super) is_public: bool,
    pub(super) solution_env: BTreeMap<String, String>,
    pub(super) steps: Vec<StepFile>,
}

/// A step, with what the task says where the step does not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepFile {
    pub(super) name: String,
    /// `None` = as long as the settings of the run allow.
    pub(super) agent_seconds: Option<f64>,
    pub(super) agent_user: Option<String>,
    pub(super) verifier_seconds: f64,
    pub(super) verifier_user: Option<String>,
    pub(super) verifier_env: BTreeMap<String, String>,
    /// Least rewards by key, under which the chain ends.
    pub(super) min_reward: BTreeMap<String, f64>,
    pub(super) health: Option<Health>,
    pub(super) artifacts: Vec<Artifact>,
    /// Whether it asks to continue the session of the step before, or to begin one; `None` = it says nothing.
    pub(super) continues_session: Option<bool>,
}

/// A command that says whether a container is ready.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Health {
    pub(super) command: String,
    pub(super) interval: f64,
    pub(super) timeout: f64,
    /// Seconds in which failures do not count.
    pub(super) start_period: f64,
    pub(super) start_interval: f64,
    pub(super) retries: u32,
}

/// A file or folder of the container that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Artifact {
    /// Absolute.
    pub(super) source: String,
    /// Relative, below the folder of the step's artifacts.
    pub(super) destination: String,
}

/// Reads a `task.toml`. The error is one sentence: it is no TOML, a value has the wrong type or range, or a name cannot be
/// one.
pub(super) fn read(text: &str) -> Result<ParsedTask, String> {
    // Only the place and not the message of the parser, which quotes keys and values: a folder of tasks may be any folder.
    let raw: Raw = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("It cannot be read: line {line}: this is no TOML, or a value of another type than a task has there")
    })?;
    let mut met = ReadingNotes::default();
    met.keys("", &raw.other);
    met.keys("solution.", &raw.solution.other);
    met.keys("environment.", &raw.environment.other);
    let is_public = met.environment(&raw.environment);
    met.phase("agent", &raw.agent);
    met.agent_env("agent", &raw.agent);
    met.phase("verifier", &raw.verifier);
    let steps = match raw.steps {
        None => Vec::new(),
        Some(steps) if steps.len() > MOST_STEPS => {
            return Err(format!("It has {} steps; at most {MOST_STEPS} are played", steps.len()));
        }
        Some(steps) => steps,
    };
    if steps.is_empty() {
        met.refused.push("it has no [[steps]]: tasks of a single step are not played here".to_owned());
    }
    let task_parts = Common { agent: &raw.agent, verifier: &raw.verifier, artifacts: &raw.artifacts };
    if task_parts.bytes().saturating_mul(steps.len()) > MOST_COPIED {
        return Err(format!(
            "What it says for all its {} steps (verifier.env, artifacts, users) is more than {} MiB over all of them",
            steps.len(),
            MOST_COPIED >> 20
        ));
    }
    let mut names = BTreeSet::new();
    let mut read = Vec::with_capacity(steps.len());
    for step in steps {
        check_name(&step.name)?;
        if !names.insert(name_key(&step.name)) {
            return Err(format!(
                "Two steps are called \"{}\", where case and the spelling of letters do not count",
                step.name.escape_debug()
            ));
        }
        read.push(task_parts.step(step, &mut met)?);
    }
    let strategy = raw.multi_step_reward_strategy.as_deref().unwrap_or("mean");
    if !matches!(strategy, "mean" | "final") {
        return Err(format!(
            "multi_step_reward_strategy is \"{}\"; it is mean or final",
            strategy.escape_debug()
        ));
    }
    let environment = raw.environment;
    let file = TaskFile {
        title: raw.metadata.get("name").and_then(Value::as_str).map(str::to_owned),
        is_final: strategy == "final",
        image: environment.docker_image.filter(|name| !name.is_empty()),
        build_seconds: seconds(
            "environment.build_timeout_sec",
            environment.build_timeout_sec.unwrap_or(600.0),
        )?
        .ceil() as u64,
        cpus: check_least("environment.cpus", LEAST_CPUS, environment.cpus)?,
        memory_mb: size("memory", LEAST_MEMORY_MB, environment.memory_mb, environment.memory)?,
        storage_mb: size("storage", 1, environment.storage_mb, environment.storage)?,
        workdir: environment.workdir.filter(|folder| !folder.is_empty()),
        env: variables("environment.env", environment.env)?,
        health: environment.healthcheck.map(|raw| health("environment.", raw, &mut met)).transpose()?,
        is_public,
        solution_env: variables("solution.env", raw.solution.env)?,
        steps: read,
    };
    if file.workdir.as_deref().is_some_and(|folder| !folder.starts_with('/')) {
        return Err("environment.workdir is no absolute path".to_owned());
    }
    Ok(ParsedTask { file, refused: met.refused, unknown: met.unknown, unknown_more: met.unknown_more })
}

/// What is met on the way and does not stop the reading.
#[derive(Default)]
struct ReadingNotes {
    refused: Vec<String>,
    unknown: Vec<String>,
    unknown_more: usize,
}

/// The first letters of a text.
fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl ReadingNotes {
    fn keys(&mut self, section: &str, other: &Table) {
        for key in other.keys() {
            self.key(section, key);
        }
    }

    fn key(&mut self, section: &str, key: &str) {
        if self.unknown.len() < MOST_UNKNOWN {
            self.unknown.push(format!("{section}{}", cut(key, KEY_LETTERS)));
        } else {
            self.unknown_more += 1;
        }
    }

    fn refuse(&mut self, refusal: impl Into<String>) {
        let refusal = cut(&refusal.into(), REASON_LETTERS);
        if !self.refused.contains(&refusal) {
            self.refused.push(refusal);
        }
    }

    /// Whether the environment asks for the internet.
    fn environment(&mut self, raw: &RawEnvironment) -> bool {
        if let Some(os) = raw.os.as_deref().filter(|os| !os.eq_ignore_ascii_case("linux")) {
            self.refuse(format!("environment.os = \"{}\": only linux is played", os.escape_debug()));
        }
        if raw.gpus.is_some_and(|gpus| gpus > 0.0)
            || raw.gpu_types.as_ref().is_some_and(|types| !types.is_empty())
        {
            self.refuse("environment.gpus: it needs a GPU");
        }
        if raw.tpu.is_some() {
            self.refuse("environment.tpu: it needs a TPU");
        }
        if !raw.mcp_servers.is_empty() {
            self.refuse("environment.mcp_servers: servers of tools beside the container are not started");
        }
        if raw.skills_dir.as_deref().is_some_and(|folder| !folder.is_empty()) {
            self.refuse("environment.skills_dir: skills are not handed to agents");
        }
        if raw.network_mode.as_deref() == Some("allowlist")
            || raw.allowed_hosts.as_ref().is_some_and(|h| !h.is_empty())
        {
            self.refuse("environment.network_mode = \"allowlist\": the network is open or closed");
        }
        match (raw.network_mode.as_deref(), raw.allow_internet) {
            (Some("no-network"), _) | (None, Some(false)) => false,
            (Some("public" | "allowlist") | None, _) => true,
            (Some(other), _) => {
                self.refuse(format!("environment.network_mode = \"{}\" is not known", other.escape_debug()));
                true
            }
        }
    }

    /// No player of this version gets variables of its own: the reference solution has those of `[solution]`.
    fn agent_env(&mut self, name: &str, raw: &RawPhase) {
        if !raw.env.is_empty() {
            self.key(&format!("{name}."), "env");
        }
    }

    fn phase(&mut self, name: &str, raw: &RawPhase) {
        self.keys(&format!("{name}."), &raw.other);
        if raw.network_mode.is_some() || raw.allowed_hosts.as_ref().is_some_and(|hosts| !hosts.is_empty()) {
            self.refuse(format!("{name}.network_mode: a container has the same network in all its phases"));
        }
        let separate = raw.environment.is_some() || raw.environment_mode.as_deref() == Some("separate");
        if separate {
            self.refuse(format!("{name}.environment: a verifier in a container of its own is not played"));
        }
        if !raw.collect.is_empty() {
            self.refuse(format!(
                "{name}.collect: commands before the artifacts are collected are not executed"
            ));
        }
    }
}

/// What the task says for all its steps.
struct Common<'a> {
    agent: &'a RawPhase,
    verifier: &'a RawPhase,
    artifacts: &'a [RawArtifact],
}

impl Common<'_> {
    /// Bytes that each step has a copy of.
    fn bytes(&self) -> usize {
        let user = |phase: &RawPhase| match &phase.user {
            Some(NameOrNumber::Name(name)) => name.len(),
            Some(NameOrNumber::Number(_)) | None => 0,
        };
        let env = self.verifier.env.iter().map(|(name, value)| name.len() + value.len() + VALUE);
        let artifacts = self.artifacts.iter().map(|artifact| match artifact {
            // Where it goes is made of where it lies.
            RawArtifact::Path(source) => 2 * source.len() + VALUE,
            RawArtifact::Entry { source, destination, .. } => {
                source.len() + destination.as_ref().map_or(source.len(), String::len) + VALUE
            }
        });
        user(self.agent) + user(self.verifier) + env.chain(artifacts).sum::<usize>()
    }

    fn step(&self, mut raw: RawStep, met: &mut ReadingNotes) -> Result<StepFile, String> {
        let prefix = format!("steps.{}.", raw.name);
        let continues_session = raw.other.get(ONE_SESSION).and_then(Value::as_bool);
        if continues_session.is_some() {
            raw.other.remove(ONE_SESSION);
        }
        met.keys(&prefix, &raw.other);
        met.phase(&format!("{prefix}agent"), &raw.agent);
        met.agent_env(&format!("{prefix}agent"), &raw.agent);
        met.phase(&format!("{prefix}verifier"), &raw.verifier);
        let min_reward = match raw.min_reward {
            None => BTreeMap::new(),
            Some(RawReward::Number(least)) => BTreeMap::from([("reward".to_owned(), least)]),
            Some(RawReward::Keyed(least)) => least,
        };
        if min_reward.values().any(|least| least.is_nan()) {
            return Err(format!("{prefix}min_reward is not a number"));
        }
        let agent_seconds = raw.agent.timeout_sec.or(self.agent.timeout_sec);
        let mut env = self.verifier.env.clone();
        env.extend(raw.verifier.env);
        let mut artifacts = Vec::new();
        for artifact in self.artifacts.iter().chain(&raw.artifacts) {
            artifacts.extend(read_artifact(artifact, met)?);
        }
        Ok(StepFile {
            agent_seconds: agent_seconds
                .map(|value| seconds(&format!("{prefix}agent.timeout_sec"), value))
                .transpose()?,
            agent_user: raw.agent.user.or_else(|| self.agent.user.clone()).map(String::from),
            verifier_seconds: seconds(
                &format!("{prefix}verifier.timeout_sec"),
                raw.verifier.timeout_sec.unwrap_or(VERIFIER_SECONDS),
            )?,
            verifier_user: raw.verifier.user.or_else(|| self.verifier.user.clone()).map(String::from),
            verifier_env: variables(&format!("{prefix}verifier.env"), env)?,
            min_reward,
            health: raw.healthcheck.map(|raw| health(&prefix, raw, met)).transpose()?,
            artifacts,
            continues_session,
            name: raw.name,
        })
    }
}

fn read_artifact(raw: &RawArtifact, met: &mut ReadingNotes) -> Result<Option<Artifact>, String> {
    let (source, destination) = match raw {
        RawArtifact::Path(source) => (source, None),
        RawArtifact::Entry { source, destination, exclude, service } => {
            if service.as_deref().is_some_and(|service| service != "main") {
                met.refuse("artifacts.service: there is no other container than the task's");
            }
            if !exclude.is_empty() {
                met.refuse("artifacts.exclude: patterns are not obeyed");
            }
            (source, destination.as_deref().filter(|path| !path.is_empty()))
        }
    };
    let leads_out = |path: &str| path.split('/').any(|part| part == "..");
    if !source.starts_with('/') || leads_out(source) || source.contains('\0') {
        return Err(format!("The artifact \"{}\" is no absolute path without ..", source.escape_debug()));
    }
    let destination = destination.unwrap_or(source).trim_start_matches('/');
    let bad = raw_destination(raw).is_some_and(|path| path.starts_with('/') || path.contains('\\'));
    if bad || leads_out(destination) || destination.is_empty() || destination.contains('\0') {
        return Err(format!(
            "An artifact goes to \"{}\", which is no relative path without ..",
            destination.escape_debug()
        ));
    }
    // Kept in any case.
    let conventional = source.trim_end_matches('/') == "/logs/artifacts";
    Ok((!conventional).then(|| Artifact { source: source.clone(), destination: destination.to_owned() }))
}

fn raw_destination(raw: &RawArtifact) -> Option<&str> {
    match raw {
        RawArtifact::Path(_) => None,
        RawArtifact::Entry { destination, .. } => destination.as_deref(),
    }
}

fn health(prefix: &str, raw: RawHealth, met: &mut ReadingNotes) -> Result<Health, String> {
    met.keys(&format!("{prefix}healthcheck."), &raw.other);
    let seconds_of = |name: &str, value: Option<f64>, default: f64| {
        seconds(&format!("{prefix}healthcheck.{name}"), value.unwrap_or(default))
    };
    Ok(Health {
        interval: seconds_of("interval_sec", raw.interval_sec, 5.0)?,
        timeout: seconds_of("timeout_sec", raw.timeout_sec, 30.0)?,
        start_period: seconds_of("start_period_sec", raw.start_period_sec, 0.0)?,
        start_interval: seconds_of("start_interval_sec", raw.start_interval_sec, 5.0)?,
        retries: raw.retries.unwrap_or(3).clamp(1, 1000),
        command: raw.command,
    })
}
