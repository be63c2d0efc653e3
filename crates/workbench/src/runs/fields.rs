//! The form and a configuration file, both ways, by the table of the crate `settings`.
//!
//! What the form has is written as a configuration (JSON is YAML), so that one reader, that of `stamina run`, decides what
//! is right and says what is not.

use runner::settings::{
    EndpointSettings, Feedback, KeySource, RunSettings, SettingsError, TaskProtocol, resolve,
};
use serde_json::{Map, Value, json};
use settings::{
    Benchmark, ConfigFile, DefaultValue, Generation, KeyName, MODEL, Need, Setting, WHOLE_PACK, all, fields,
    is_player,
};

use crate::api::{
    EndpointMode, FieldChoice, FieldError, FormFeedback, FormField, FormProtocol, FormSettings, FormSource,
    KeyPlace,
};

/// Bytes of a gibibyte.
const GIB: f64 = (1u64 << 30) as f64;
/// The section of the model that fills in scenarios.
const SAMPLER_SECTION: &str = "llm_sampler";

/// The form's fields, for a person.
pub(super) fn described() -> Vec<FormField> {
    fields()
        .map(|setting| FormField {
            field: setting.field.to_owned(),
            key: setting.key_with(Benchmark::Iterative, "AGENT"),
            section: setting.section.as_str().to_owned(),
            label: setting.label.to_owned(),
            unit: setting.unit.to_owned(),
            about: setting.help.to_owned(),
            takes: setting.takes.words(),
            empty: match setting.default {
                DefaultValue::Empty(meaning) => meaning.to_owned(),
                DefaultValue::Is(_) | DefaultValue::Depends(_) | DefaultValue::Needed(_) => String::new(),
            },
            needs: setting.needs.to_vec(),
            choices: setting
                .choices
                .iter()
                .map(|choice| FieldChoice {
                    value: choice.value.to_owned(),
                    label: choice.label.to_owned(),
                    about: choice.help.to_owned(),
                })
                .collect(),
        })
        .collect()
}

fn benchmark(settings: &FormSettings) -> Benchmark {
    match (settings.source, settings.iterative) {
        (FormSource::Tasks, _) => Benchmark::Harbor,
        (FormSource::Scenarios, true) => Benchmark::Iterative,
        (FormSource::Scenarios, false) => Benchmark::SingleTurn,
    }
}

/// Whether a setting says anything under what the form plays.
fn holds(setting: &Setting, form: &FormSettings) -> bool {
    // Of the model that samples nothing is asked without it, but what a file says of it stays in the file.
    if matches!(setting.key, KeyName::Free(SAMPLER_SECTION, _)) {
        return true;
    }
    let is_tasks = form.source == FormSource::Tasks;
    let is_met = |need: &Need| match need {
        Need::Scenarios => !is_tasks,
        Need::Tasks => is_tasks,
        Need::NoProtocol => !is_tasks || form.protocol == FormProtocol::Own,
        Need::Model => !is_tasks || !is_player(&form.agent),
        Need::Sampler => form.use_llm_sampler,
        // The form does not show such fields; what was entered before is kept, and the run says what it cannot have.
        Need::Containers | Need::PaidEndpoint => true,
    };
    // This protocol has one attempt at each step; the others take a number.
    let is_set = is_tasks && form.protocol == FormProtocol::Evocode && setting.field == "attempt_limit";
    !is_set && setting.needs.iter().all(is_met)
}

/// The field that an error's key is about.
fn field_of(key: &str, form: &FormSettings) -> String {
    let inside = format!("{key}.");
    let key_of = |setting: &Setting| setting.key_with(benchmark(form), &form.agent);
    all()
        .filter(|setting| !matches!(setting.key, KeyName::OfForm(..)))
        .find(|setting| key_of(setting) == key)
        .or_else(|| all().find(|setting| key_of(setting).starts_with(&inside)))
        .map_or_else(String::new, |setting| setting.field.to_owned())
}

/// A key with its value, and the field it comes from.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) field: &'static str,
    pub(super) key: String,
    pub(super) value: Value,
}

/// What the form says, key by key; what it leaves empty is not said.
pub(super) fn given(settings: &FormSettings) -> Vec<Given> {
    let Ok(Value::Object(values)) = serde_json::to_value(settings) else { return Vec::new() };
    let mut list = Vec::new();
    let section = benchmark(settings).section();
    let gateway = settings.endpoint_mode == EndpointMode::Gateway;
    for setting in fields().filter(|setting| holds(setting, settings)) {
        let (field, key) = (setting.field, setting.key_with(benchmark(settings), &settings.agent));
        let mut put = |key: &str, value: Value| {
            list.push(Given { field, key: key.to_owned(), value });
        };
        let key = key.as_str();
        match field {
            "protocol" if settings.protocol == FormProtocol::Own => {}
            "agent" => put(key, Value::from(settings.agent.to_uppercase())),
            // With scenarios it is the field beside it that says which benchmark.
            "source" if settings.source == FormSource::Scenarios => {}
            "source" | "iterative" => put(key, Value::from(benchmark(settings).as_str())),
            "n_turns" | "num_changes_per_turn" if !settings.iterative => {}
            "base_url" if !gateway => {}
            "key_place" => {}
            "key_name" => match settings.key_place {
                KeyPlace::Env if gateway => put("endpoint.key_env", Value::from(settings.key_name.clone())),
                KeyPlace::Keychain if gateway => put(key, Value::from(settings.key_name.clone())),
                _ => {}
            },
            "feedback" => match settings.feedback {
                FormFeedback::None => {
                    put(&format!("{section}.enable_feedback"), Value::from(false));
                }
                FormFeedback::Minimal => put(key, Value::from("MINIMAL")),
                FormFeedback::Medium => put(key, Value::from("MEDIUM")),
                FormFeedback::Detailed => put(key, Value::from("DETAILED")),
            },
            _ => match values.get(field) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) if text.trim().is_empty() => {}
                Some(Value::Array(items)) if items.is_empty() => {}
                Some(Value::Number(number)) => put(key, plain(number.as_f64().unwrap_or(f64::NAN))),
                Some(Value::String(text)) => put(key, Value::from(text.trim())),
                Some(value) => put(key, value.clone()),
            },
        }
    }
    if !settings.use_llm_sampler {
        // The form does not show these fields now, so that nobody could mend them there.
        let is_fit = |one: &Given| ::settings::resolve(&[file([one])], &[]).is_ok();
        list.retain(|one| sampler_key(&one.key).is_none() || is_fit(one));
    }
    for pair in &settings.other {
        if let Some((key, value)) = pair.split_once('=') {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            list.push(Given { field: "other", key: key.to_owned(), value });
        }
    }
    list
}

/// A whole number without a point, so that it is taken where whole ones are.
fn plain(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT { Value::from(number as i64) } else { json!(number) }
}

/// The form as a configuration.
fn file<'a>(given: impl IntoIterator<Item = &'a Given>) -> ConfigFile {
    let map: Map<String, Value> = given.into_iter().map(|g| (g.key.clone(), g.value.clone())).collect();
    ConfigFile { name: String::new(), text: Value::Object(map).to_string() }
}

/// The form as settings, or everything that is wrong with it.
pub(super) fn settings(form: &FormSettings) -> Result<RunSettings, Vec<FieldError>> {
    let given = given(form);
    let mut errors: Vec<FieldError> = Vec::new();
    for one in &given {
        if let Err(error) = ::settings::resolve(&[file([one])], &[]) {
            errors.push(FieldError { field: one.field.to_owned(), message: sentence(&error.into()) });
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let settings = resolve(&[file(&given)], &[]).map_err(|error| {
        let field = match &error {
            SettingsError::Value { key, .. } => field_of(key, form),
            SettingsError::Config(_) => String::new(),
        };
        vec![FieldError { field, message: sentence(&error) }]
    })?;
    Ok(settings)
}

/// Without its key, which the form shows anyway, and with a capital.
fn sentence(error: &SettingsError) -> String {
    use ::settings::ConfigError;
    let text = match error {
        SettingsError::Config(ConfigError::Value { given, wanted, .. }) => {
            format!("{given} is not possible: enter {wanted}")
        }
        SettingsError::Value { why, .. } => why.clone(),
        SettingsError::Config(error) => error.to_string(),
    };
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Settings as the form has them.
pub(super) fn form(s: &RunSettings) -> FormSettings {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let count = |n: u32| Some(f64::from(n));
    let minutes = |seconds: Option<u64>| seconds.map(|n| n as f64 / 60.0);
    let tokens = |n: Option<u64>| n.map(|n| n as f64);
    // With a pack, this number means that nothing bounds it.
    let bounded = |n: u32| (s.scenarios_dir.is_none() || n < WHOLE_PACK).then(|| f64::from(n));
    let g = &s.generation;
    let (mode, base_url, key) = match &s.endpoint {
        EndpointSettings::Gateway { base_url, key } => (EndpointMode::Gateway, base_url.clone(), key.clone()),
        EndpointSettings::Direct => (EndpointMode::Direct, String::new(), KeySource::None),
        EndpointSettings::Oracle => (EndpointMode::Oracle, String::new(), KeySource::None),
    };
    let (key_place, key_name) = match key {
        KeySource::None => (KeyPlace::None, String::new()),
        KeySource::Env(name) => (KeyPlace::Env, name),
        KeySource::Keychain(name) => (KeyPlace::Keychain, name),
    };
    let tokens_price = s.price.filter(|price| price.per_hour.is_none());
    // What tasks have no use for is as a new form has it.
    let standard = Generation::default();
    let g = if s.tasks.is_some() { &standard } else { g };
    let iterative = g.benchmark == Benchmark::Iterative;
    let of_sampler = SamplerKeys(s);
    FormSettings {
        agent: s.agent.clone(),
        harness_file: s.harness_file.as_deref().map(path).unwrap_or_default(),
        model: s.model.clone().unwrap_or_default(),
        image: s.image.clone().unwrap_or_default(),
        endpoint_mode: mode,
        base_url,
        key_place,
        key_name,
        context_window: tokens(Some(s.context_window)),
        price_input: tokens_price.map(|p| p.input),
        price_cached: s.price.and_then(|p| p.cached),
        price_cache_write: s.price.and_then(|p| p.cache_write),
        price_output: tokens_price.map(|p| p.output),
        price_per_hour: s.price.and_then(|p| p.per_hour),
        source: if s.tasks.is_some() { FormSource::Tasks } else { FormSource::Scenarios },
        tasks: s.tasks.as_ref().map(|tasks| path(&tasks.folder)).unwrap_or_default(),
        protocol: match s.tasks.as_ref().and_then(|tasks| tasks.protocol) {
            None => FormProtocol::Own,
            Some(TaskProtocol::Evocode) => FormProtocol::Evocode,
            Some(TaskProtocol::MtAtK) => FormProtocol::MtAtK,
            Some(TaskProtocol::Sr) => FormProtocol::Sr,
            Some(TaskProtocol::Ours) => FormProtocol::Ours,
        },
        restore_before_try: s.restore_before_try,
        task_timeout: s.tasks.as_ref().map(|tasks| tasks.timeout).unwrap_or_default(),
        task_background: s.tasks.as_ref().map(|tasks| tasks.background).unwrap_or_default(),
        task_snapshots: s.tasks.as_ref().map(|tasks| tasks.snapshots).unwrap_or_default(),
        task_session: s.tasks.as_ref().map(|tasks| tasks.session).unwrap_or_default(),
        iterative,
        scenarios_dir: s.scenarios_dir.as_deref().map(path).unwrap_or_default(),
        n_scenarios: bounded(g.n_scenarios),
        n_turns: if iterative { bounded(g.n_turns) } else { count(1) },
        num_changes_per_turn: iterative.then(|| f64::from(g.num_changes_per_turn)),
        base_seed: g.base_seed.to_string(),
        execute_episodes: s.execute_episodes.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        use_llm_sampler: g.use_llm_sampler,
        // Also where no model samples: it stands there as soon as one is asked to.
        llm_sampler_model_id: g.llm_sampler_model_id.clone().unwrap_or_else(|| MODEL.to_owned()),
        sampler_base_url: of_sampler.text("base_url"),
        sampler_key_variable: of_sampler.text("key_variable"),
        sampler_region: of_sampler.text("region"),
        sampler_endpoint_url: of_sampler.text("endpoint_url"),
        sampler_seconds: of_sampler.number("timeout_seconds"),
        sampler_calls: of_sampler.number("calls_at_once"),
        attempt_limit: count(s.attempt_limit),
        feedback: match s.feedback {
            _ if s.tasks.is_some() => FormFeedback::Detailed,
            Feedback::None => FormFeedback::None,
            Feedback::Minimal => FormFeedback::Minimal,
            Feedback::Medium => FormFeedback::Medium,
            Feedback::Detailed => FormFeedback::Detailed,
        },
        fail_stop: s.fail_stop,
        batch_size: count(s.batch_size),
        quick_debug: s.quick_debug,
        use_docker: s.use_docker,
        attempt_minutes: minutes(Some(s.limits.seconds)),
        cpus: Some(s.limits.cpus),
        memory_gib: Some(s.limits.memory as f64 / GIB),
        disk_gib: Some(s.limits.disk as f64 / GIB),
        pids: count(s.limits.pids),
        network: s.reach,
        attempt_tokens: tokens(s.budgets.attempt.tokens),
        attempt_usd: s.budgets.attempt.usd,
        attempt_wall_minutes: minutes(s.budgets.attempt.seconds),
        episode_tokens: tokens(s.budgets.episode.tokens),
        episode_usd: s.budgets.episode.usd,
        episode_minutes: minutes(s.budgets.episode.seconds),
        run_tokens: tokens(s.budgets.run.tokens),
        run_usd: s.budgets.run.usd,
        run_minutes: minutes(s.budgets.run.seconds),
        output_dir: path(&s.output_dir),
        tags: s.tags.clone(),
        keep_snapshots: s.keep_snapshots.map(f64::from),
        env_vars: s.env_vars.clone(),
        extra_docker_args: s.extra_arguments(),
        oracle_seed: s.oracle.seed.to_string(),
        oracle_defect_rate: Some(s.oracle.defect_rate),
        oracle_most_defects: count(s.oracle.most_defects),
        oracle_repair: Some(s.oracle.repair),
        oracle_carries_over: s.oracle.carries_over,
        oracle_stack: s.oracle.stack,
        oracle_stall: Some(s.oracle.fault_injection.stall),
        oracle_overflow: Some(s.oracle.fault_injection.overflow),
        oracle_malformed: Some(s.oracle.fault_injection.malformed),
        oracle_kill: Some(s.oracle.fault_injection.kill),
        oracle_give_up: Some(s.oracle.fault_injection.give_up),
        other: others(s),
    }
}

/// Keys that have no field, and those whose values no field takes.
fn others(s: &RunSettings) -> Vec<String> {
    let of_sampler = SamplerKeys(s);
    let others = s.kept.iter().filter(|(key, _)| !of_sampler.has_field(key));
    others.map(|(key, value)| format!("{key}={value}")).collect()
}

/// The last part of a key of the model that fills in scenarios; `None` = it is another key.
fn sampler_key(key: &str) -> Option<&str> {
    key.strip_prefix(SAMPLER_SECTION)?.strip_prefix('.')
}

/// Keys of the model that fills in scenarios, which settings keep as they were given.
struct SamplerKeys<'a>(&'a RunSettings);

impl SamplerKeys<'_> {
    fn given(&self, name: &str) -> Option<&Value> {
        self.0.kept.get(&format!("{SAMPLER_SECTION}.{name}"))
    }

    fn text(&self, name: &str) -> String {
        self.given(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn number(&self, name: &str) -> Option<f64> {
        let value = self.given(name)?;
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
    }

    /// Whether a field has the value of a key.
    fn has_field(&self, key: &str) -> bool {
        match sampler_key(key) {
            Some(name @ ("base_url" | "key_variable" | "region" | "endpoint_url")) => {
                self.given(name).is_some_and(Value::is_string)
            }
            Some(name @ ("timeout_seconds" | "calls_at_once")) => self.number(name).is_some(),
            _ => false,
        }
    }
}

/// Fields whose values are others than the defaults'. What is empty counts as its default.
pub(super) fn differ(form: &FormSettings, defaults: &FormSettings) -> Vec<String> {
    let (Ok(Value::Object(all)), Ok(Value::Object(standard))) =
        (serde_json::to_value(form), serde_json::to_value(defaults))
    else {
        return Vec::new();
    };
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    fields()
        .map(|setting| setting.field)
        // What has no sensible default is always the user's.
        .filter(|field| !matches!(*field, "output_dir"))
        .filter(|field| match (all.get(*field), standard.get(*field)) {
            (Some(value), Some(standard)) => !empty(value) && value != standard,
            _ => false,
        })
        .map(str::to_owned)
        .collect()
}

/// The default of a field as a configuration spells it, and its key.
pub(super) fn default_of(
    field: &str,
    form: &FormSettings,
    defaults: &FormSettings,
) -> Option<(String, Value)> {
    let untouched = FormSettings {
        agent: form.agent.clone(),
        source: form.source,
        protocol: FormProtocol::Own,
        iterative: form.iterative,
        endpoint_mode: form.endpoint_mode,
        ..defaults.clone()
    };
    if field == "source" {
        return Some(("benchmark".to_owned(), Value::from(Benchmark::Iterative.as_str())));
    }
    given(&untouched).into_iter().find(|g| g.field == field).map(|g| (g.key, g.value))
}
