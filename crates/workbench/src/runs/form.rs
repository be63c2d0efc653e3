//! The form of a new run: what it is built from, what is wrong with it, from where it is filled.

use std::path::{Path, PathBuf};

use files::deadline::within_limit;
use model::{plain_line, shell_word};
use runner::settings::{RunSettings, resolve};
use serde_json::Value;
use settings::{ConfigFile, Need, OmittedKey, protocols};

use super::errors::settings_error;
use super::fields;
use crate::Workbench;
use crate::api::{
    ApiError, EndpointMode, FormProtocol, FormSettings, FormSource, FormTaskTimeout, HarnessInfo, LaunchForm,
    LoadSettings, LoadedSettings, Nothing, PackChoice, ProtocolSets, SaveSettings, SavedFile, SettingsCheck,
};
use crate::episodes::run_record;
use crate::sources::is_there;

/// The largest configuration that is read.
const CONFIG_CAP: u64 = 1 << 20;
/// The harness that a new form begins with.
const FIRST_HARNESS: &str = "opencode";

impl Workbench {
    /// What the form of a new run is built from.
    pub fn launch_form(&self, _: Nothing) -> Result<LaunchForm, ApiError> {
        let packs = self
            .list_packs(Nothing {})?
            .packs
            .into_iter()
            .filter(|pack| pack.problem.is_none())
            .map(|pack| PackChoice {
                path: if pack.folder.is_empty() {
                    pack.path
                } else {
                    Path::new(&pack.path).join(&pack.folder).display().to_string()
                },
                name: pack.name,
                scenarios: u32::try_from(pack.scenarios.len()).unwrap_or(u32::MAX),
                turns: pack.scenarios.iter().map(|s| s.turns).max().unwrap_or(0),
            })
            // A pack inside a zip of other things has no path that a run could take.
            .filter(|pack| is_there(Path::new(&pack.path)))
            .collect();
        Ok(LaunchForm {
            harnesses: harnesses(),
            packs,
            defaults: defaults(FIRST_HARNESS, true)?,
            fields: fields::described(),
            protocols: [FormProtocol::Evocode, FormProtocol::MtAtK, FormProtocol::Sr, FormProtocol::Ours]
                .map(sets)
                .into(),
            prices: self.get_prices(Nothing {})?.prices,
            cores: std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)),
            memory: super::machine::memory(),
        })
    }

    /// What is wrong with settings, what differs from the defaults, the same as YAML and for a terminal.
    pub fn check_settings(&self, form: FormSettings) -> Result<SettingsCheck, ApiError> {
        let mut standard = defaults_of(&form)?;
        if let Some((scenarios, turns)) =
            pack_size(&form.scenarios_dir).filter(|_| form.source == FormSource::Scenarios)
        {
            (standard.n_scenarios, standard.n_turns) = (Some(scenarios), Some(turns));
        }
        let differ = fields::differ(&form, &standard);
        let config_path = config_path(&form.output_dir);
        let mut check = SettingsCheck {
            errors: Vec::new(),
            yaml: String::new(),
            command: format!("stamina run --configs {}", shell_word(&config_path)),
            command_values: String::new(),
            config_path,
            differ,
            free_folder: standard.output_dir.clone(),
        };
        match settings_of(&form) {
            Ok(settings) => {
                check.yaml = remarked(&applied_yaml(&settings), &form, &standard, &check.differ);
                check.command_values = in_one_line(&form, &standard, &check.differ);
            }
            Err(errors) => check.errors = errors,
        }
        Ok(check)
    }

    /// Settings of a file, a text, a run or a results folder.
    pub fn load_settings(&self, request: LoadSettings) -> Result<LoadedSettings, ApiError> {
        // A text is in front of whoever gives it; a file may be somebody else's.
        let is_own = request.yaml.is_some();
        let (origin, text) = match request {
            LoadSettings { yaml: Some(text), file: None, run: None, folder: None } => {
                ("the text".to_owned(), text)
            }
            LoadSettings { yaml: None, file: Some(file), run: None, folder: None } => {
                let text = read_config(Path::new(&file))?;
                (file, text)
            }
            LoadSettings { yaml: None, file: None, run: None, folder: Some(folder) } => {
                let path = config_in(Path::new(&folder))?;
                (format!("the run in {folder}"), read_config(&path)?)
            }
            LoadSettings { yaml: None, file: None, run: Some(run), folder: None } => {
                (format!("the run {run}"), self.config_of_run(&run)?)
            }
            _ => {
                return Err(ApiError::new(
                    "settings.from_where",
                    "Exactly one of text, file, run and folder is taken",
                ));
            }
        };
        let mut loaded = loaded(origin, text)?;
        if !is_own {
            let notes = self.without_foreign(&mut loaded.settings)?;
            loaded.notes.extend(notes);
            loaded.notes.extend(super::foreign_sampler::take_out(&mut loaded.settings));
            // They name what the file holds.
            for note in &mut loaded.notes {
                *note = plain_line(note);
            }
        }
        Ok(loaded)
    }

    fn config_of_run(&self, run: &str) -> Result<String, ApiError> {
        let record = run_record(&self.store, run)?;
        let tree = self.opened_sources.tree(record.entry.source, &record.source_path)?;
        ["config.yaml", "config.yml"]
            .iter()
            .find_map(|name| tree.read(&files::join(&record.entry.place, name), CONFIG_CAP).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .ok_or_else(|| {
                ApiError::new("settings.no_config", format!("The run {run} has no config.yaml"))
                    .with_path(record.source_path.clone())
                    .hint("Only runs of Stamina Lab and StaminaBench have one")
            })
    }

    /// Writes settings as YAML.
    pub fn save_settings(&self, request: SaveSettings) -> Result<SavedFile, ApiError> {
        let check = self.check_settings(request.settings)?;
        if let Some(error) = check.errors.first() {
            return Err(ApiError::new("settings.value", format!("{}: {}", error.field, error.message))
                .hint("Mend it in the form first"));
        }
        let path = PathBuf::from(request.path.trim());
        if !path.is_absolute() {
            return Err(ApiError::new("settings.relative", "The place must be an absolute path")
                .with_path(request.path));
        }
        let failed = |message: String| {
            ApiError::new("settings.not_written", message)
                .with_path(path.display().to_string())
                .hint("Choose another place")
        };
        path.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .map_err(|e| failed(format!("The file cannot be written: {e}")))?;
        // In the place of a link or a pipe of this name, never through it: a loaded file names the folder, and somebody else may have made
        // what lies there.
        crate::export::write_whole(&path, check.yaml.as_bytes()).map_err(|error| failed(error.message))?;
        Ok(SavedFile { path: path.display().to_string() })
    }
}

/// The form as settings that the app can play: with absolute paths.
pub(super) fn settings_of(form: &FormSettings) -> Result<RunSettings, Vec<crate::api::FieldError>> {
    let settings = fields::settings(form)?;
    let relative = |field: &str, path: &Path| {
        (!path.is_absolute()).then(|| crate::api::FieldError {
            field: field.to_owned(),
            message: "It must be an absolute path: it begins with / (or a drive letter)".to_owned(),
        })
    };
    let errors: Vec<_> = [
        relative("output_dir", &settings.output_dir),
        settings.tasks.as_ref().and_then(|tasks| relative("tasks", &tasks.folder)),
        settings.scenarios_dir.as_deref().and_then(|path| relative("scenarios_dir", path)),
        settings.harness_file.as_deref().and_then(|path| relative("harness_file", path)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// The form without what is wrong in it; `None` where the size of the run itself is.
pub(super) fn without_errors(form: &FormSettings, errors: &[crate::api::FieldError]) -> Option<FormSettings> {
    /// What one error hides is found after it: most rounds of fixing.
    const ROUNDS: usize = 20;
    let mut fixed = without_these(form, errors)?;
    for _ in 0..ROUNDS {
        let Err(errors) = settings_of(&fixed) else { return Some(fixed) };
        fixed = without_these(&fixed, &errors)?;
    }
    None
}

fn without_these(form: &FormSettings, errors: &[crate::api::FieldError]) -> Option<FormSettings> {
    /// What decides how much is to be run.
    const SIZE: [&str; 10] = [
        "source",
        "tasks",
        "protocol",
        "n_scenarios",
        "n_turns",
        "attempt_limit",
        "batch_size",
        "scenarios_dir",
        "execute_episodes",
        "iterative",
    ];
    let standard = serde_json::to_value(defaults_of(form).ok()?).ok()?;
    let mut fixed = serde_json::to_value(form).ok()?;
    for error in errors {
        if SIZE.contains(&error.field.as_str()) {
            return None;
        }
        *fixed.get_mut(&error.field)? = match error.field.as_str() {
            // They have no default, and an estimate needs neither.
            "base_url" => "https://endpoint.invalid".into(),
            "model" => "unknown".into(),
            field => standard.get(field)?.clone(),
        };
        if error.field == "key_name" {
            *fixed.get_mut("key_place")? = standard.get("key_place")?.clone();
        }
    }
    serde_json::from_value(fixed).ok()
}

/// Every harness that is built in.
pub fn harnesses() -> Vec<HarnessInfo> {
    harness::all()
        .iter()
        .map(|harness| HarnessInfo {
            name: harness.name().to_owned(),
            title: harness.title().to_owned(),
            version: harness.version().to_owned(),
            image: harness.image().to_owned(),
            api: match harness.api() {
                harness::Api::ChatCompletions => "chat_completions",
                harness::Api::Responses => "responses",
                harness::Api::Messages => "messages",
            }
            .to_owned(),
        })
        .collect()
}

/// What the fields of a form are that nobody has changed: a protocol sets its own.
fn defaults_of(form: &FormSettings) -> Result<FormSettings, ApiError> {
    let mut standard = defaults(&form.agent, form.iterative)?;
    if form.source == FormSource::Tasks {
        let sets = sets(form.protocol);
        standard.attempt_limit = Some(f64::from(sets.attempt_limit));
        (standard.fail_stop, standard.restore_before_try) = (sets.fail_stop, sets.restore_before_try);
        standard.task_timeout = sets.task_timeout;
        // Tasks are played in containers only.
        standard.use_docker = true;
    }
    Ok(standard)
}

/// What a protocol of tasks sets; settings of one's own begin with what is played where none is named.
fn sets(protocol: FormProtocol) -> ProtocolSets {
    let sets = match protocol {
        FormProtocol::Own | FormProtocol::Evocode => protocols::EVOCODE,
        FormProtocol::MtAtK => protocols::MT_AT_K,
        FormProtocol::Sr => protocols::SR,
        FormProtocol::Ours => protocols::FEEDBACK,
    };
    ProtocolSets {
        protocol,
        attempt_limit: sets.attempts,
        fail_stop: sets.fail_stop,
        restore_before_try: sets.restore_before_try,
        task_timeout: if sets.timeout == "stop" { FormTaskTimeout::Stop } else { FormTaskTimeout::Graded },
    }
}

/// What a new form has.
fn defaults(agent: &str, iterative: bool) -> Result<FormSettings, ApiError> {
    let agent = if agent.trim().is_empty() { FIRST_HARNESS } else { agent };
    let results = dirs::home_dir().unwrap_or_else(|| PathBuf::from("/")).join("stamina-results");
    // A folder that is not there yet.
    let folder = (1..1000)
        .map(|n| results.join(format!("{}-{n}", agent.replace('_', "-"))))
        .find(|folder| !folder.exists())
        .unwrap_or(results);
    let benchmark = if iterative { "RESTFUL_SERVER_GEN_ITERATIVE" } else { "RESTFUL_SERVER_GEN" };
    let values = [
        "agent=MINI_SWE".to_owned(),
        "endpoint.mode=oracle".to_owned(),
        "use_docker=true".to_owned(),
        format!("benchmark={benchmark}"),
        format!("output_dir=\"{}\"", folder.display()),
    ];
    let settings = resolve(&[], &values).map_err(settings_error)?;
    let mut form = fields::form(&settings);
    agent.clone_into(&mut form.agent);
    // A new form is valid: until an endpoint is named the simulated model answers, which needs none.
    if agent == "mock" {
        form.use_docker = false;
        form.oracle_stack = crate::api::FormStack::Native;
    }
    Ok(form)
}

/// Scenarios and turns of a pack; `None` = there is none, or its file system does not answer in time.
fn pack_size(path: &str) -> Option<(f64, f64)> {
    let path = path.trim();
    if path.is_empty() {
        return None;
    }
    let pack_path = PathBuf::from(path);
    let size = move || {
        let pack = scenario::pack::Pack::open_path(&pack_path).ok()?;
        let turns = pack.scenarios().iter().map(|entry| entry.turns).max()?;
        Some((pack.scenarios().len() as f64, f64::from(turns)))
    };
    within_limit(Path::new(path), size).ok()?
}

/// Where the configuration of a run is put: beside its results folder.
fn config_path(output_dir: &str) -> String {
    let folder = output_dir.trim().trim_end_matches('/');
    if folder.is_empty() { "config.yaml".to_owned() } else { format!("{folder}.yaml") }
}

fn loaded(origin: String, text: String) -> Result<LoadedSettings, ApiError> {
    let file = ConfigFile { name: origin.clone(), text };
    let (settings, left_out) = runner::settings::read(&file).map_err(settings_error)?;
    let mut form = fields::form(&settings);
    if left_out.iter().any(|omitted| omitted.key == "endpoint") {
        // A person chooses: the form asks for the address.
        form.endpoint_mode = EndpointMode::Gateway;
    }
    let mut notes = left_out_in_words(&left_out);
    let keys: Vec<&str> =
        form.other.iter().filter_map(|pair| pair.split_once('=')).map(|(key, _)| key).collect();
    if !keys.is_empty() {
        notes.push(format!("These keys have no field here and are kept: {}", keys.join(", ")));
    }
    if let Some(pack) = settings.scenarios_dir.as_deref().filter(|pack| !is_there(pack)) {
        notes.push(format!("Its pack is not on this machine: {}", pack.display()));
    }
    if let Some(tasks) = settings.tasks.as_ref().filter(|tasks| !is_there(&tasks.folder)) {
        notes.push(format!("Its tasks are not on this machine: {}", tasks.folder.display()));
    }
    if is_there(&settings.output_dir) || !settings.output_dir.is_absolute() {
        let free = defaults(&form.agent, true)?.output_dir;
        if settings.output_dir.is_absolute() {
            notes.push(format!("Its folder {} is there already; another one is proposed", form.output_dir));
        }
        form.output_dir = free;
    }
    Ok(LoadedSettings { settings: form, origin, notes })
}

/// What of a file was left out: keys that nothing here has in one sentence, the others each with its reason.
fn left_out_in_words(left_out: &[OmittedKey]) -> Vec<String> {
    let (unknown, refused): (Vec<&OmittedKey>, Vec<&OmittedKey>) =
        left_out.iter().partition(|omitted| omitted.is_unknown);
    let keys: Vec<&str> = unknown.iter().map(|omitted| omitted.key.as_str()).collect();
    let unknown = (!keys.is_empty())
        .then(|| format!("Left out, because nothing here has such keys: {}", keys.join(", ")));
    unknown.into_iter().chain(refused.iter().map(|omitted| format!("Left out: {}", omitted.reason))).collect()
}

fn config_in(folder: &Path) -> Result<PathBuf, ApiError> {
    ["config.yaml", "config.yml"].iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(
        || {
            ApiError::new("settings.no_config", "The folder has no config.yaml")
                .with_path(folder.display().to_string())
                .hint("Choose the results folder of a run")
        },
    )
}

fn read_config(path: &Path) -> Result<String, ApiError> {
    let wrong = |message: String| {
        ApiError::new("config.unreadable", message)
            .with_path(path.display().to_string())
            .hint("A YAML file is taken")
    };
    // Its folder may be somebody else's: the file itself is no link, no pipe and no device.
    let real = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => files::confined_path::resolved(folder).join(name),
        _ => path.to_owned(),
    };
    let bytes = files::confined_path::read_file(&real, CONFIG_CAP)
        .map_err(|error| wrong(format!("It cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| wrong("It is not UTF-8 text".to_owned()))
}

/// The settings as YAML. Without containers it says nothing of what containers may use: nothing keeps such limits.
fn applied_yaml(settings: &RunSettings) -> String {
    if settings.use_docker {
        return settings.to_yaml();
    }
    let mut config = settings.to_config();
    for setting in settings::fields().filter(|setting| setting.needs.contains(&Need::Containers)) {
        let key = setting.key_with(settings.generation.benchmark, settings.agent_section());
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key.as_str()));
        let place =
            if section.is_empty() { String::new() } else { format!("/{}", section.replace('.', "/")) };
        if let Some(values) = config.pointer_mut(&place).and_then(Value::as_object_mut) {
            values.retain(|key, _| key != name);
        }
    }
    scenario::pack::to_yaml(&config).unwrap_or_default()
}

/// The same run without a file.
fn in_one_line(form: &FormSettings, standard: &FormSettings, differ: &[String]) -> String {
    let always = ["agent", "output_dir", "endpoint_mode"];
    let mut line = "stamina run --values".to_owned();
    for given_key in fields::given_keys(form) {
        let is_named = always.contains(&given_key.field)
            || given_key.field == "other"
            || given_key.field == "iterative" && !form.iterative
            || differ.iter().any(|field| field == given_key.field)
            || fields::default_of(given_key.field, form, standard)
                .is_some_and(|(_, value)| value != given_key.value && given_key.field == "use_docker");
        if is_named {
            let value = match &given_key.value {
                Value::String(text) => text.clone(),
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                other => other.to_string(),
            };
            line.push(' ');
            line.push_str(&format!("{}={}", shell_word(&given_key.key), shell_word(&value)));
        }
    }
    line
}

/// The configuration with remarks at what differs from its default.
fn remarked(yaml: &str, form: &FormSettings, standard: &FormSettings, differ: &[String]) -> String {
    let remarks: Vec<(String, String)> = differ
        .iter()
        .filter_map(|field| fields::default_of(field, form, standard))
        .filter_map(|(key, value)| match value {
            Value::String(text) if !text.is_empty() && !text.contains(['\n', '#']) => Some((key, text)),
            Value::Number(_) | Value::Bool(_) => Some((key, value.to_string())),
            _ => None,
        })
        .collect();
    let mut sections: Vec<(usize, String)> = Vec::new();
    let mut text = String::new();
    for line in yaml.lines() {
        text.push_str(line);
        let indent = line.len() - line.trim_start().len();
        sections.retain(|(outer, _)| *outer < indent);
        if let Some((key, value)) = line.trim_start().split_once(':') {
            let whole: Vec<&str> = sections.iter().map(|(_, name)| name.as_str()).chain([key]).collect();
            let whole = whole.join(".");
            let simple = value.starts_with(' ') && !value.contains(['"', '\'', '|', '>', '#', '[', '{']);
            if let Some((_, default)) = remarks.iter().find(|(key, _)| simple && *key == whole) {
                let gap = 32usize.saturating_sub(line.chars().count()).max(2);
                text.push_str(&format!("{}# default {default}", " ".repeat(gap)));
            }
            if value.trim().is_empty() {
                sections.push((indent, key.to_owned()));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
