//! The form of a new run: what it is built from, what is wrong with it, from where it is filled.

use std::path::{Path, PathBuf};

use runner::settings::{RunSettings, resolve};
use serde_json::Value;
use settings::{ConfigFile, LeftOut};

use super::fields;
use crate::Workbench;
use crate::api::{
    ApiError, EndpointMode, FormProtocol, FormSettings, FormSource, FormTaskTimeout, HarnessInfo, LaunchForm,
    LoadSettings, LoadedSettings, Nothing, PackChoice, SaveSettings, SavedFile, SettingsCheck,
};
use crate::summary::run_record;

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
                path: if pack.at.is_empty() {
                    pack.path
                } else {
                    Path::new(&pack.path).join(&pack.at).display().to_string()
                },
                name: pack.name,
                scenarios: u32::try_from(pack.scenarios.len()).unwrap_or(u32::MAX),
                turns: pack.scenarios.iter().map(|s| s.turns).max().unwrap_or(0),
            })
            // A pack inside a zip of other things has no path that a run could take.
            .filter(|pack| Path::new(&pack.path).exists())
            .collect();
        Ok(LaunchForm {
            harnesses: harnesses(),
            packs,
            defaults: defaults(FIRST_HARNESS, true)?,
            fields: fields::described(),
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
            command: format!("stamina run --configs {}", quoted(&config_path)),
            command_values: String::new(),
            config_path,
            differ,
            free_folder: standard.output_dir.clone(),
        };
        match settings_of(&form) {
            Ok(settings) => {
                check.yaml = remarked(&settings.to_yaml(), &form, &standard, &check.differ);
                check.command_values = in_one_line(&form, &standard, &check.differ);
            }
            Err(errors) => check.errors = errors,
        }
        Ok(check)
    }

    /// Settings of a file, a text, a run or a results folder.
    pub fn load_settings(&self, request: LoadSettings) -> Result<LoadedSettings, ApiError> {
        // A text is in front of whoever gives it; a file may be somebody else's.
        let own = request.yaml.is_some();
        let (from, text) = match request {
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
        let mut loaded = loaded(from, text)?;
        if !own {
            let notes = self.without_foreign(&mut loaded.settings)?;
            loaded.notes.extend(notes);
        }
        Ok(loaded)
    }

    fn config_of_run(&self, run: &str) -> Result<String, ApiError> {
        let record = run_record(&self.store, run)?;
        let tree = self.live.tree(record.entry.source, &record.source_path)?;
        ["config.yaml", "config.yml"]
            .iter()
            .find_map(|name| tree.read(&files::join(&record.entry.place, name), CONFIG_CAP).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .ok_or_else(|| {
                ApiError::new("settings.no_config", format!("The run {run} has no config.yaml"))
                    .at(record.source_path.clone())
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
            return Err(
                ApiError::new("settings.relative", "The place must be an absolute path").at(request.path)
            );
        }
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, check.yaml));
        written.map_err(|e| {
            ApiError::new("settings.not_written", format!("The file cannot be written: {e}"))
                .at(path.display().to_string())
                .hint("Choose another place")
        })?;
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
        let is_chain_of_tries = form.protocol == FormProtocol::MtAtK;
        let is_of_tries = is_chain_of_tries || form.protocol == FormProtocol::Sr;
        standard.attempt_limit = Some(match form.protocol {
            FormProtocol::MtAtK => 4.0,
            FormProtocol::Ours => 10.0,
            FormProtocol::Own | FormProtocol::Evocode | FormProtocol::Sr => 1.0,
        });
        (standard.fail_stop, standard.restore_before_try) = (is_chain_of_tries, is_of_tries);
        standard.task_timeout = if is_of_tries { FormTaskTimeout::Stop } else { FormTaskTimeout::Graded };
        // Tasks are played in containers only.
        standard.use_docker = true;
    }
    Ok(standard)
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

/// Scenarios and turns of a pack.
fn pack_size(path: &str) -> Option<(f64, f64)> {
    let path = path.trim();
    if path.is_empty() {
        return None;
    }
    let pack = scenario::pack::Pack::open_path(Path::new(path)).ok()?;
    let turns = pack.scenarios().iter().map(|entry| entry.turns).max()?;
    Some((pack.scenarios().len() as f64, f64::from(turns)))
}

/// Where the configuration of a run is put: beside its results folder.
fn config_path(output_dir: &str) -> String {
    let folder = output_dir.trim().trim_end_matches('/');
    if folder.is_empty() { "config.yaml".to_owned() } else { format!("{folder}.yaml") }
}

pub(crate) fn settings_error(error: runner::settings::SettingsError) -> ApiError {
    ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys")
}

fn loaded(from: String, text: String) -> Result<LoadedSettings, ApiError> {
    let file = ConfigFile { name: from.clone(), text };
    let (settings, left_out) = runner::settings::read(&file).map_err(settings_error)?;
    let mut form = fields::form(&settings);
    if left_out.iter().any(|left| left.key == "endpoint") {
        // A person chooses: the form asks for the address.
        form.endpoint_mode = EndpointMode::Gateway;
    }
    let mut notes = left_out_in_words(&left_out);
    if !settings.kept.is_empty() {
        let keys: Vec<&str> = settings.kept.keys().map(String::as_str).collect();
        notes.push(format!("These keys do nothing here and are kept: {}", keys.join(", ")));
    }
    if let Some(pack) = settings.scenarios_dir.as_deref().filter(|pack| !pack.exists()) {
        notes.push(format!("Its pack is not on this machine: {}", pack.display()));
    }
    if let Some(tasks) = settings.tasks.as_ref().filter(|tasks| !tasks.folder.exists()) {
        notes.push(format!("Its tasks are not on this machine: {}", tasks.folder.display()));
    }
    if settings.output_dir.exists() || !settings.output_dir.is_absolute() {
        let free = defaults(&form.agent, true)?.output_dir;
        if settings.output_dir.is_absolute() {
            notes.push(format!("Its folder {} is there already; another one is proposed", form.output_dir));
        }
        form.output_dir = free;
    }
    Ok(LoadedSettings { settings: form, from, notes })
}

/// What of a file was left out: keys that nothing here has in one sentence, the others each with its reason.
fn left_out_in_words(left_out: &[LeftOut]) -> Vec<String> {
    let (unknown, refused): (Vec<&LeftOut>, Vec<&LeftOut>) =
        left_out.iter().partition(|left| left.is_unknown);
    let keys: Vec<&str> = unknown.iter().map(|left| left.key.as_str()).collect();
    let unknown = (!keys.is_empty())
        .then(|| format!("Left out, because nothing here has such keys: {}", keys.join(", ")));
    unknown.into_iter().chain(refused.iter().map(|left| format!("Left out: {}", left.why))).collect()
}

fn config_in(folder: &Path) -> Result<PathBuf, ApiError> {
    ["config.yaml", "config.yml"].iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(
        || {
            ApiError::new("settings.no_config", "The folder has no config.yaml")
                .at(folder.display().to_string())
                .hint("Choose the results folder of a run")
        },
    )
}

fn read_config(path: &Path) -> Result<String, ApiError> {
    let wrong = |what: String| {
        ApiError::new("config.unreadable", what).at(path.display().to_string()).hint("A YAML file is taken")
    };
    // Its folder may be somebody else's: the file itself is no link, no pipe and no device.
    let real = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => files::beneath::resolved(folder).join(name),
        _ => path.to_owned(),
    };
    let bytes = files::beneath::read_file(&real, CONFIG_CAP)
        .map_err(|error| wrong(format!("It cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| wrong("It is not UTF-8 text".to_owned()))
}

/// The same run without a file.
fn in_one_line(form: &FormSettings, standard: &FormSettings, differ: &[String]) -> String {
    let always = ["agent", "output_dir", "endpoint_mode"];
    let mut line = "stamina run --values".to_owned();
    for given in fields::given(form) {
        let said = always.contains(&given.field)
            || given.field == "other"
            || given.field == "iterative" && !form.iterative
            || differ.iter().any(|field| field == given.field)
            || fields::default_of(given.field, form, standard)
                .is_some_and(|(_, value)| value != given.value && given.field == "use_docker");
        if said {
            let value = match &given.value {
                Value::String(text) => text.clone(),
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                other => other.to_string(),
            };
            line.push(' ');
            line.push_str(&quoted(&format!("{}={value}", given.key)));
        }
    }
    line
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
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
mod tests {
    use super::*;

    fn form() -> FormSettings {
        FormSettings {
            endpoint_mode: crate::api::EndpointMode::Gateway,
            base_url: "https://api.example/v1".to_owned(),
            model: "zai.glm-5".to_owned(),
            output_dir: "/r/x y".to_owned(),
            ..defaults("opencode", true).unwrap()
        }
    }

    #[test]
    fn what_a_form_says_comes_back_from_its_yaml_and_its_line() {
        let mut asked = form();
        asked.n_turns = Some(40.0);
        asked.feedback = crate::api::FormFeedback::None;
        asked.tags = vec!["glm-5".to_owned(), "r10".to_owned()];
        asked.run_usd = Some(60.0);
        asked.cpus = Some(1.5);
        let settings = fields::settings(&asked).unwrap();
        let back = fields::form(&settings);
        assert_eq!(back, FormSettings { base_url: "https://api.example".to_owned(), ..asked.clone() });
        let standard = defaults("opencode", true).unwrap();
        let differ = fields::differ(&asked, &standard);
        assert_eq!(
            differ,
            ["endpoint_mode", "base_url", "model", "n_turns", "feedback", "cpus", "run_usd", "tags"]
        );
        let yaml = remarked(&settings.to_yaml(), &asked, &standard, &differ);
        assert!(yaml.contains("n_turns: 40") && yaml.contains("# default 3\n"), "{yaml}");
        let read = resolve(&[ConfigFile { name: "x".into(), text: yaml }], &[]).unwrap();
        assert_eq!(read, settings);
        let line = in_one_line(&asked, &standard, &differ);
        assert!(line.contains("'output_dir=/r/x y'"), "{line}");
        let words = runner::settings::split_arguments(&line).unwrap();
        assert_eq!(resolve(&[], &words[3..]).unwrap(), settings);
    }

    fn tasks(more: FormSettings) -> FormSettings {
        FormSettings {
            source: FormSource::Tasks,
            tasks: "/t/evo code".to_owned(),
            attempt_limit: Some(1.0),
            output_dir: "/r/x".to_owned(),
            ..more
        }
    }

    /// What comes back of a form from its YAML and from its line, and which fields are marked.
    fn back(asked: &FormSettings) -> (FormSettings, Vec<String>) {
        let settings = fields::settings(asked).unwrap();
        let standard = defaults_of(asked).unwrap();
        let differ = fields::differ(asked, &standard);
        let text = remarked(&settings.to_yaml(), asked, &standard, &differ);
        let read = resolve(&[ConfigFile { name: "x".into(), text }], &[]).unwrap();
        assert_eq!(read, settings);
        let line = in_one_line(asked, &standard, &differ);
        let words = runner::settings::split_arguments(&line).unwrap();
        assert_eq!(resolve(&[], &words[3..]).unwrap(), settings, "{line}");
        (fields::form(&settings), differ)
    }

    #[test]
    fn tasks_come_back_from_their_yaml_and_their_line() {
        for agent in ["mini_swe", "oracle", "nop"] {
            for (protocol, attempts) in [
                (FormProtocol::Own, 1.0),
                (FormProtocol::Evocode, 1.0),
                (FormProtocol::MtAtK, 3.0),
                (FormProtocol::Sr, 2.0),
                (FormProtocol::Ours, 3.0),
            ] {
                let is_of_tries = matches!(protocol, FormProtocol::MtAtK | FormProtocol::Sr);
                let asked = tasks(FormSettings {
                    agent: agent.to_owned(),
                    protocol,
                    fail_stop: protocol == FormProtocol::MtAtK,
                    restore_before_try: is_of_tries,
                    task_timeout: if is_of_tries { FormTaskTimeout::Stop } else { FormTaskTimeout::Graded },
                    ..defaults(agent, true).unwrap()
                });
                let asked = FormSettings { attempt_limit: Some(attempts), ..asked };
                let (read, differ) = back(&asked);
                assert_eq!(read, asked);
                let mut marked = vec!["source", "tasks"];
                marked.extend((protocol != FormProtocol::Own).then_some("protocol"));
                let takes_attempts = is_of_tries || protocol == FormProtocol::Ours;
                marked.extend(takes_attempts.then_some("attempt_limit"));
                assert_eq!(differ, marked, "{agent} {protocol:?}");
            }
        }
        let own = tasks(FormSettings {
            attempt_limit: Some(4.0),
            restore_before_try: true,
            ..defaults("codex", true).unwrap()
        });
        let own = FormSettings { attempt_limit: Some(4.0), ..own };
        assert_eq!(back(&own).0, own);
        let ended = FormSettings {
            task_background: crate::api::FormTaskBackground::End,
            task_session: crate::api::FormTaskSession::Fresh,
            ..own
        };
        let (read, differ) = back(&ended);
        assert!(read == ended && differ.contains(&"task_background".to_owned()), "{differ:?}");
    }

    #[test]
    fn what_is_wrong_with_tasks_is_named_at_its_field() {
        let said = |change: FormSettings| {
            let errors = settings_of(&tasks(change)).unwrap_err();
            (errors[0].field.clone(), errors[0].message.clone())
        };
        let new = || defaults("mini_swe", true).unwrap();
        assert_eq!(said(FormSettings { agent: "mock".to_owned(), ..new() }).0, "agent");
        let empty = FormSettings { tasks: String::new(), ..tasks(new()) };
        assert_eq!(settings_of(&empty).unwrap_err()[0].field, "tasks");
        let relative = FormSettings { tasks: "t".to_owned(), ..tasks(new()) };
        assert_eq!(settings_of(&relative).unwrap_err()[0].field, "tasks");
        let tries = FormSettings { attempt_limit: Some(2.0), ..tasks(new()) };
        let errors = settings_of(&tries).unwrap_err();
        assert!(errors[0].field == "attempt_limit" && errors[0].message.contains("restore_before_try"));
        let player =
            FormSettings { source: FormSource::Scenarios, ..tasks(defaults("oracle", true).unwrap()) };
        assert_eq!(settings_of(&player).unwrap_err()[0].field, "agent");
        // What only a model needs is not said where none is asked.
        let unasked = FormSettings { run_tokens: Some(5.0), ..tasks(defaults("nop", true).unwrap()) };
        assert_eq!(settings_of(&unasked).unwrap().budgets.run.tokens, None);
        // What scenarios have stays in the form, and says nothing while tasks are played.
        let kept = FormSettings { scenarios_dir: "/p".to_owned(), n_turns: Some(0.0), ..tasks(new()) };
        assert!(settings_of(&kept).is_ok());
    }

    #[test]
    fn a_run_of_one_turn_comes_back_from_its_line() {
        back(&FormSettings { iterative: false, ..form() });
    }

    #[test]
    fn a_model_that_samples_has_its_default_before_it_is_asked_for() {
        let mut asked = defaults("mock", true).unwrap();
        assert_eq!((asked.use_llm_sampler, asked.llm_sampler_model_id.as_str()), (false, "zai.glm-5"));
        asked.output_dir = "/r/x".to_owned();
        asked.use_llm_sampler = true;
        let settings = fields::settings(&asked).unwrap();
        assert_eq!(settings.generation.llm_sampler_model_id.as_deref(), Some("zai.glm-5"));
    }

    #[test]
    fn what_is_wrong_is_left_out_of_an_estimate_but_for_the_size_of_the_run() {
        let right = |form: &FormSettings| {
            let errors = settings_of(form).unwrap_err();
            without_errors(form, &errors).map(|form| settings_of(&form).is_ok())
        };
        let wrong = FormSettings { base_url: String::new(), cpus: Some(-1.0), ..form() };
        assert_eq!(right(&wrong), Some(true));
        assert_eq!(right(&FormSettings { output_dir: "relative".to_owned(), ..form() }), Some(true));
        assert_eq!(right(&FormSettings { n_turns: Some(0.0), ..form() }), None);
    }

    #[test]
    fn every_wrong_field_is_named_with_a_sentence() {
        let mut asked = form();
        asked.n_turns = Some(0.0);
        asked.batch_size = Some(1.5);
        asked.base_seed = "x".to_owned();
        asked.oracle_repair = Some(2.0);
        let errors = fields::settings(&asked).unwrap_err();
        let wrong: Vec<&str> = errors.iter().map(|e| e.field.as_str()).collect();
        assert_eq!(wrong, ["n_turns", "base_seed", "batch_size", "oracle_repair"]);
        assert_eq!(errors[0].message, "0 is not possible: enter a whole number from 1 to 1000");
        let said = |form: &FormSettings| {
            let errors = fields::settings(form).unwrap_err();
            (errors[0].field.clone(), errors[0].message.clone())
        };
        assert_eq!(said(&FormSettings { base_url: String::new(), ..form() }).0, "base_url");
        assert_eq!(said(&FormSettings { model: String::new(), ..form() }).0, "model");
        let direct = FormSettings {
            endpoint_mode: crate::api::EndpointMode::Direct,
            network: crate::api::FormNetwork::Open,
            attempt_usd: Some(1.0),
            ..form()
        };
        assert_eq!(said(&direct).0, "attempt_tokens");
    }

    #[test]
    fn a_new_form_is_valid_for_every_harness_and_has_a_folder_of_its_own() {
        for harness in harnesses() {
            let form = defaults(&harness.name, true).unwrap();
            assert!(settings_of(&form).is_ok(), "{}", harness.name);
            assert!(!Path::new(&form.output_dir).exists());
        }
    }

    #[test]
    fn the_scripts_know_the_harnesses_that_run_in_containers() {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/lib/harness-words.mjs");
        let text = std::fs::read_to_string(list).unwrap();
        let mut named: Vec<(String, String)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.strip_suffix("\",")?.split_once(": \""))
            .map(|(word, image)| (word.to_lowercase(), image.to_owned()))
            .collect();
        let image = |image: &str| image.trim_start_matches("stamina/").split(':').next().map(str::to_owned);
        let mut there: Vec<(String, String)> = harnesses()
            .into_iter()
            .filter(|harness| harness.name != "mock")
            .filter_map(|harness| Some((harness.name, image(&harness.image)?)))
            .collect();
        named.sort_unstable();
        there.sort_unstable();
        assert_eq!(named, there, "scripts/lib/harness-words.mjs");
    }

    #[test]
    fn every_field_of_the_form_is_in_the_table_once() {
        let Ok(Value::Object(all)) = serde_json::to_value(FormSettings::default()) else { panic!() };
        let described = fields::described();
        for field in all.keys().filter(|field| *field != "other") {
            let times = described.iter().filter(|d| d.field == *field).count();
            assert_eq!(times, 1, "{field}");
        }
        assert!(described.iter().all(|d| all.contains_key(&d.field)));
        let turns = described.iter().find(|d| d.field == "n_turns").unwrap();
        assert_eq!(turns.takes, "a whole number from 1 to 1000");
        let unsaid: Vec<&str> =
            described.iter().filter(|d| !d.about.ends_with('.')).map(|d| d.field.as_str()).collect();
        assert_eq!(unsaid, [] as [&str; 0], "every field says what it means");
    }

    #[test]
    fn a_field_takes_the_choices_that_the_form_offers() {
        let Ok(Value::Object(all)) = serde_json::to_value(FormSettings::default()) else { panic!() };
        for field in fields::described() {
            let is_truth = all[&field.field].is_boolean();
            for choice in &field.choices {
                let value =
                    if is_truth { Value::from(choice.value == "true") } else { choice.value.as_str().into() };
                let mut asked = all.clone();
                asked.insert(field.field.clone(), value);
                let read = serde_json::from_value::<FormSettings>(Value::Object(asked));
                assert!(read.is_ok(), "{}: {}", field.field, choice.value);
            }
            let values: Vec<&str> = field.choices.iter().map(|choice| choice.value.as_str()).collect();
            if is_truth && !values.is_empty() {
                assert_eq!(values, ["false", "true"], "{}", field.field);
            }
            // A word that is none of the choices is refused where there are choices: the type has no other.
            if !is_truth && !values.is_empty() {
                let mut asked = all.clone();
                asked.insert(field.field.clone(), "something else".into());
                assert!(
                    serde_json::from_value::<FormSettings>(Value::Object(asked)).is_err(),
                    "{}",
                    field.field
                );
            }
        }
    }

    #[test]
    fn an_original_configuration_fills_the_form() {
        let text = "agent: MINI_SWE\noutput_dir: results/a\nrestful_server_gen_iterative:\n  n_turns: 100\n\
                    mini_swe:\n  model_id: bedrock/zai.glm-5\n  temperature: 0.5\n";
        let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
        assert_eq!(loaded.settings.model, "bedrock/zai.glm-5");
        assert_eq!(loaded.settings.n_turns, Some(100.0));
        assert_eq!(loaded.settings.other, ["mini_swe.temperature=0.5"]);
        let budget =
            super::loaded("x.yaml".to_owned(), format!("{text}limits.attempt.minutes: 7\n")).unwrap();
        assert_eq!(budget.settings.attempt_wall_minutes, Some(7.0));
        assert_eq!(budget.settings.other, loaded.settings.other, "a budget that holds is a field");
        assert!(loaded.notes.iter().any(|note| note.contains("mini_swe.temperature")), "{:?}", loaded.notes);
        // The original would hand over this machine's credentials; here a person chooses.
        assert_eq!(
            (loaded.settings.endpoint_mode, loaded.settings.base_url.as_str()),
            (EndpointMode::Gateway, "")
        );
        assert!(loaded.notes[0].contains("no endpoint"), "{:?}", loaded.notes);
        assert!(Path::new(&loaded.settings.output_dir).is_absolute());
    }

    #[test]
    fn the_originals_whole_snapshot_fills_the_form_and_what_is_not_ours_is_told() {
        let text = "agent: OPENCODE\noutput_dir: results/a\nlog_level: INFO\nopenhands: null\ndocker:\n  \
                    image_name: mine\n  extra_docker_args: --gpus all\n  env_vars:\n    TZ: UTC\n    TOKEN: abc\n\
                    restful_server_gen_iterative:\n  n_turns: 100\n  max_entities: 9\nuse_docker: true\n";
        let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
        assert_eq!(loaded.settings.n_turns, Some(100.0));
        assert_eq!(loaded.settings.image, "mine");
        let notes = loaded.notes.join("\n");
        assert!(notes.contains("log_level, restful_server_gen_iterative.max_entities"), "{notes}");
        assert!(notes.contains("docker.extra_docker_args: --gpus is not understood"), "{notes}");
        assert!(notes.contains("TOKEN=… looks like a secret"), "{notes}");
        assert!(!notes.contains("abc"), "{notes}");
        assert_eq!(loaded.settings.env_vars, ["TZ=UTC"]);
    }

    #[test]
    fn one_variable_that_cannot_be_taken_does_not_take_the_others_with_it() {
        let text = "agent: OPENCODE\noutput_dir: results/a\ndocker:\n  env_vars: [TZ=UTC, TOKEN=abc, 1X, HF_TOKEN]\n";
        let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
        assert_eq!(loaded.settings.env_vars, ["TZ=UTC", "HF_TOKEN"]);
        let notes = loaded.notes.join("\n");
        assert!(
            notes.contains("TOKEN=… looks like a secret") && notes.contains("\"1X\" is no name"),
            "{notes}"
        );
        assert!(!notes.contains("abc"), "{notes}");
    }

    #[test]
    fn an_endpoint_that_is_not_whole_is_left_out_and_told() {
        let text = "agent: OPENCODE\noutput_dir: results/a\nopencode:\n  model_id: m\nendpoint:\n  mode: gateway\n  \
                    base_url: ${oc.env:URL}\n";
        let notes = loaded("x.yaml".to_owned(), text.to_owned()).unwrap().notes.join("\n");
        assert!(notes.contains("${…} is not resolved"), "{notes}");
        assert!(notes.contains("endpoint, as endpoint.base_url is missing"), "{notes}");
    }
}
