//! The form and a configuration file, both ways, by the table of the crate `settings`.
//!
//! What the form has is written as a configuration (JSON is YAML), so that one reader, that of `stamina run`, decides what
//! is right and says what is not.

use runner::settings::{EndpointSettings, Feedback, KeySource, RunSettings, SettingsError, resolve};
use serde_json::{Map, Value, json};
use settings::{
    Benchmark, ConfigFile, DefaultValue, FormValue, KeyName, Need, Setting, ValueKind, WHOLE_PACK, all,
    fields, is_player,
};

use crate::api::{
    EndpointMode, FieldChoice, FieldError, FormFeedback, FormField, FormProtocol, FormSettings, FormSource,
    KeyPlace,
};

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
                DefaultValue::Value(_) | DefaultValue::Depends(_) | DefaultValue::Needed(_) => String::new(),
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
    let prefix = format!("{key}.");
    let key_of = |setting: &Setting| setting.key_with(benchmark(form), &form.agent);
    all()
        .filter(|setting| !matches!(setting.key, KeyName::OfForm(..)))
        .find(|setting| key_of(setting) == key)
        .or_else(|| all().find(|setting| key_of(setting).starts_with(&prefix)))
        .map_or_else(String::new, |setting| setting.field.to_owned())
}

/// A key with its value, and the field it comes from.
#[derive(Debug, Clone)]
pub(super) struct GivenKey {
    pub(super) field: &'static str,
    pub(super) key: String,
    pub(super) value: Value,
}

/// What the form says, key by key; what it leaves empty is not said.
pub(super) fn given_keys(settings: &FormSettings) -> Vec<GivenKey> {
    let Ok(Value::Object(values)) = serde_json::to_value(settings) else { return Vec::new() };
    let mut list = Vec::new();
    let section = benchmark(settings).section();
    let gateway = settings.endpoint_mode == EndpointMode::Gateway;
    for setting in fields().filter(|setting| holds(setting, settings)) {
        let (field, key) = (setting.field, setting.key_with(benchmark(settings), &settings.agent));
        let mut put_value = |key: &str, value: Value| {
            list.push(GivenKey { field, key: key.to_owned(), value });
        };
        let key = key.as_str();
        match field {
            "protocol" if settings.protocol == FormProtocol::Own => {}
            "agent" => put_value(key, Value::from(settings.agent.to_uppercase())),
            // With scenarios it is the field beside it that says which benchmark.
            "source" if settings.source == FormSource::Scenarios => {}
            "source" | "iterative" => put_value(key, Value::from(benchmark(settings).as_str())),
            "n_turns" | "num_changes_per_turn" if !settings.iterative => {}
            "base_url" if !gateway => {}
            "key_place" => {}
            "key_name" => match settings.key_place {
                KeyPlace::Env if gateway => {
                    put_value("endpoint.key_env", Value::from(settings.key_name.clone()));
                }
                KeyPlace::Keychain if gateway => put_value(key, Value::from(settings.key_name.clone())),
                _ => {}
            },
            "feedback" => match settings.feedback {
                FormFeedback::None => {
                    put_value(&format!("{section}.enable_feedback"), Value::from(false));
                }
                FormFeedback::Minimal => put_value(key, Value::from("MINIMAL")),
                FormFeedback::Medium => put_value(key, Value::from("MEDIUM")),
                FormFeedback::Detailed => put_value(key, Value::from("DETAILED")),
            },
            _ => match values.get(field) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) if text.trim().is_empty() => {}
                Some(Value::Array(items)) if items.is_empty() => {}
                Some(Value::Number(number)) => put_value(key, plain(number.as_f64().unwrap_or(f64::NAN))),
                Some(Value::String(text)) => put_value(key, Value::from(text.trim())),
                Some(value) => put_value(key, value.clone()),
            },
        }
    }
    if !settings.use_llm_sampler {
        // The form does not show these fields now, so that nobody could mend them there.
        let is_fit = |one: &GivenKey| ::settings::resolve(&[file([one])], &[]).is_ok();
        list.retain(|one| sampler_key(&one.key).is_none() || is_fit(one));
    }
    for pair in &settings.other {
        if let Some((key, value)) = pair.split_once('=') {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            list.push(GivenKey { field: "other", key: key.to_owned(), value });
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
fn file<'a>(keys: impl IntoIterator<Item = &'a GivenKey>) -> ConfigFile {
    let map: Map<String, Value> =
        keys.into_iter().map(|given| (given.key.clone(), given.value.clone())).collect();
    ConfigFile { name: String::new(), text: Value::Object(map).to_string() }
}

/// The form as settings, or everything that is wrong with it.
pub(super) fn settings(form: &FormSettings) -> Result<RunSettings, Vec<FieldError>> {
    let keys = given_keys(form);
    let mut errors: Vec<FieldError> = Vec::new();
    for given in &keys {
        if let Err(error) = ::settings::resolve(&[file([given])], &[]) {
            errors.push(FieldError { field: given.field.to_owned(), message: sentence(&error.into()) });
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let settings = resolve(&[file(&keys)], &[]).map_err(|error| {
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
        SettingsError::Config(ConfigError::Value { value, wanted, .. }) => {
            format!("{value} is not possible: enter {wanted}")
        }
        SettingsError::Value { reason, .. } => reason.clone(),
        SettingsError::Config(error) => error.to_string(),
    };
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Settings as the form has them: the values of a configuration of them, or else the defaults of their declarations.
pub(super) fn form(s: &RunSettings) -> FormSettings {
    let config = s.to_config();
    let value_of = |setting: &Setting| {
        let key = setting.key_with(s.generation.benchmark, s.agent_section());
        let value = config.pointer(&format!("/{}", key.replace('.', "/"))).cloned();
        value_in_form(setting, &value.or_else(|| setting.default_value())?)
    };
    let mut values: Map<String, Value> = fields()
        // These answer questions of the form alone.
        .filter(|setting| setting.field != "source" && !matches!(setting.key, KeyName::OfForm(..)))
        .filter_map(|setting| Some((setting.field.to_owned(), value_of(setting)?)))
        .collect();
    values.insert("other".to_owned(), Value::from(others(s)));
    // A field takes every value that its declaration takes, which a test holds.
    let mut form: FormSettings = serde_json::from_value(Value::Object(values)).unwrap_or_default();
    form.source = if s.tasks.is_some() { FormSource::Tasks } else { FormSource::Scenarios };
    // What tasks have no use for is as a new form has it.
    form.iterative = s.generation.benchmark != Benchmark::SingleTurn;
    if !form.iterative {
        (form.n_turns, form.num_changes_per_turn) = (Some(1.0), None);
    }
    if s.scenarios_dir.is_some() {
        // With a pack, this number means that nothing bounds it.
        let is_bound = |number: &f64| *number < f64::from(WHOLE_PACK);
        form.n_scenarios = form.n_scenarios.filter(is_bound);
        form.n_turns = form.n_turns.filter(is_bound);
    }
    if s.feedback == Feedback::None && s.tasks.is_none() {
        form.feedback = FormFeedback::None;
    }
    (form.key_place, form.key_name) = match &s.endpoint {
        EndpointSettings::Gateway { key: KeySource::Env(name), .. } => (KeyPlace::Env, name.clone()),
        EndpointSettings::Gateway { key: KeySource::Keychain(name), .. } => {
            (KeyPlace::Keychain, name.clone())
        }
        EndpointSettings::Gateway { key: KeySource::None, .. }
        | EndpointSettings::Direct
        | EndpointSettings::Oracle => (KeyPlace::None, String::new()),
    };
    form
}

/// The value of a setting as its field has it; `None` where no field takes it.
fn value_in_form(setting: &Setting, value: &Value) -> Option<Value> {
    match (setting.form_value(), value) {
        // Settings keep what they do not use themselves as it was given.
        (FormValue::Number, Value::String(text)) => {
            text.trim().parse().ok().filter(|number: &f64| number.is_finite()).map(Value::from)
        }
        // More digits than a number of the page has.
        (FormValue::Text, Value::Number(number)) if matches!(setting.takes, ValueKind::Integer(..)) => {
            Some(Value::from(number.to_string()))
        }
        (FormValue::Text | FormValue::Word, Value::String(word))
            if matches!(setting.takes, ValueKind::Word(_)) =>
        {
            Some(Value::from(word.to_lowercase()))
        }
        (FormValue::Truth, Value::Bool(_))
        | (FormValue::List, Value::Array(_))
        | (FormValue::Number, Value::Number(_))
        | (FormValue::Text, Value::String(_)) => Some(value.clone()),
        _ => None,
    }
}

/// Keys that have no field, and those whose values no field takes.
fn others(s: &RunSettings) -> Vec<String> {
    let has_field = |key: &str, value: &Value| {
        let is_declared = |setting: &&Setting| {
            matches!(setting.key, KeyName::Free(..)) && setting.key_with(s.generation.benchmark, "") == key
        };
        fields().find(is_declared).is_some_and(|setting| value_in_form(setting, value).is_some())
    };
    let others = s.other_values.iter().filter(|(key, value)| !has_field(key, value));
    others.map(|(key, value)| format!("{key}={value}")).collect()
}

/// The last part of a key of the model that fills in scenarios; `None` = it is another key.
fn sampler_key(key: &str) -> Option<&str> {
    key.strip_prefix(SAMPLER_SECTION)?.strip_prefix('.')
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
    given_keys(&untouched).into_iter().find(|g| g.field == field).map(|g| (g.key, g.value))
}
