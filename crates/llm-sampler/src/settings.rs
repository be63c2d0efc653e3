//! The model and its endpoint: the settings `llm_sampler.*`.

use std::collections::BTreeMap;
use std::time::Duration;

use ::settings::{KeyName, Setting, ValueKind, all};
use serde_json::Value;

use crate::openai::is_on_this_machine;
use crate::{Limits, UnusableModel};

/// The default time limit of a call to a model on this machine. A small model on one busy core took 180 seconds for a first
/// schema.
const LOCAL_CALL_TIMEOUT: Duration = Duration::from_mins(10);

/// The endpoint of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An endpoint with the chat completions API of `OpenAI`.
    OpenAi {
        /// `https://api.openai.com/v1`.
        base_url: String,
        /// The environment variable with its key. No setting has the key itself.
        key_variable: String,
    },
    /// Amazon Bedrock, through Converse.
    Bedrock {
        /// The region; `None` = the region of the environment or profile, else `us-east-1`.
        region: Option<String>,
        /// Another endpoint than that of Amazon.
        endpoint_url: Option<String>,
    },
}

/// The model, its endpoint and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The name of the model at its endpoint.
    pub model: String,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The limits.
    pub limits: Limits,
}

/// The section of the settings.
const SECTION: &str = "llm_sampler";

/// The settings in it as they are declared, each with the last part of its key.
fn declared_settings() -> impl Iterator<Item = (&'static str, &'static Setting)> {
    all().filter_map(|setting| {
        let KeyName::Free(SECTION, name) = setting.key else { return None };
        Some((name, setting))
    })
}

impl Settings {
    /// From settings such as `llm_sampler.base_url`. Other sections are ignored. With a `base_url` it is an OpenAI-compatible
    /// endpoint, without one Amazon Bedrock.
    pub fn new<'a>(
        model: &str,
        settings: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Result<Self, UnusableModel> {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for (key, value) in settings {
            let Some(name) = key.strip_prefix(SECTION).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            if !declared_settings().any(|(known, _)| known == name) {
                let known: Vec<String> =
                    declared_settings().map(|(known, _)| format!("`{SECTION}.{known}`")).collect();
                return Err(UnusableModel(format!(
                    "There is no setting `{key}`. Those of the model's endpoint are: {}",
                    known.join(", ")
                )));
            }
            let text = match value {
                Value::Null => continue,
                Value::String(text) if !text.is_empty() => text.clone(),
                Value::Number(number) => number.to_string(),
                other => {
                    return Err(UnusableModel(format!("`{key}` is {other}; it takes a text or a number")));
                }
            };
            texts.insert(name, text);
        }
        let mut take = |name: &str| texts.remove(name);
        let (base_url, key_variable) = (take("base_url"), take("key_variable"));
        let (region, endpoint_url) = (take("region"), take("endpoint_url"));
        let mut limits = Limits::default();
        let url = base_url.as_deref().and_then(|base_url| reqwest::Url::parse(base_url).ok());
        if let Some(seconds) = whole_number("timeout_seconds", take("timeout_seconds"))? {
            limits.call = Duration::from_secs(seconds);
        } else if url.is_some_and(|url| is_on_this_machine(&url)) {
            limits.call = LOCAL_CALL_TIMEOUT;
        }
        if let Some(calls) = whole_number("calls_at_once", take("calls_at_once"))? {
            limits.at_once = calls as usize;
        }
        let endpoint = match base_url {
            Some(base_url) => {
                if region.is_some() || endpoint_url.is_some() {
                    return Err(UnusableModel(
                        "`llm_sampler.base_url` is for OpenAI-compatible endpoints, `llm_sampler.region` and \
                         `llm_sampler.endpoint_url` are for Amazon Bedrock: set one or the other"
                            .to_owned(),
                    ));
                }
                let key_variable = key_variable.unwrap_or_else(|| "OPENAI_API_KEY".to_owned());
                // A key in place of its variable is an error, before it gets into a manifest.
                if !key_variable.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                    || key_variable.len() > 64
                {
                    return Err(UnusableModel(
                        "`llm_sampler.key_variable` takes the name of an environment variable (letters, digits, `_`), \
                         not the key"
                            .to_owned(),
                    ));
                }
                Endpoint::OpenAi { base_url, key_variable }
            }
            None if key_variable.is_some() => {
                return Err(UnusableModel(
                    "`llm_sampler.key_variable` needs `llm_sampler.base_url`; Amazon Bedrock takes the credentials of \
                     the AWS tools"
                        .to_owned(),
                ));
            }
            None => Endpoint::Bedrock { region, endpoint_url },
        };
        Ok(Self { model: model.to_owned(), endpoint, limits })
    }
}

/// A whole number within what is declared.
fn whole_number(name: &str, text: Option<String>) -> Result<Option<u64>, UnusableModel> {
    let Some(text) = text else { return Ok(None) };
    let takes = declared_settings().find(|(known, _)| *known == name).map(|(_, setting)| setting.takes);
    let (low, high) =
        if let Some(ValueKind::Integer(low, high)) = takes { (low, high) } else { (0, u64::MAX) };
    match text.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
        _ => Err(UnusableModel(format!(
            "`{SECTION}.{name}` is {text}; it takes an integer from {low} to {high}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(values: &[(&str, Value)]) -> Result<Settings, UnusableModel> {
        Settings::new("m", values.iter().map(|(key, value)| (*key, value)))
    }

    #[test]
    fn bedrock_is_the_default_and_a_base_url_means_openai() {
        let bedrock = settings(&[("restful_server_gen.base_seed", json!(1))]).expect("valid");
        assert_eq!(bedrock.endpoint, Endpoint::Bedrock { region: None, endpoint_url: None });
        let openai = settings(&[
            ("llm_sampler.base_url", json!("http://localhost:1/v1")),
            ("llm_sampler.timeout_seconds", json!(7)),
        ])
        .expect("valid");
        assert_eq!(
            openai.endpoint,
            Endpoint::OpenAi {
                base_url: "http://localhost:1/v1".to_owned(),
                key_variable: "OPENAI_API_KEY".to_owned()
            }
        );
        assert_eq!(openai.limits.call, Duration::from_secs(7));
    }

    #[test]
    fn what_is_declared_of_an_empty_setting_is_what_holds() {
        use ::settings::DefaultValue;
        let meaning = |name: &str| {
            let (_, setting) = declared_settings().find(|(known, _)| *known == name).expect("it is declared");
            let DefaultValue::Empty(words) = setting.default else { panic!("{name}: {:?}", setting.default) };
            words
        };
        let openai = settings(&[("llm_sampler.base_url", json!("https://x"))]).expect("valid");
        assert_eq!(meaning("calls_at_once"), openai.limits.at_once.to_string());
        let (local, elsewhere) = (LOCAL_CALL_TIMEOUT.as_secs(), openai.limits.call.as_secs());
        let seconds = format!("{local} at an address of this machine, else {elsewhere}");
        assert_eq!(meaning("timeout_seconds"), seconds);
        let Endpoint::OpenAi { key_variable, .. } = openai.endpoint else { panic!("it has an address") };
        assert_eq!(meaning("key_variable"), key_variable);
    }

    #[test]
    fn a_model_on_this_machine_has_more_time_to_answer() {
        for (base_url, seconds) in [
            ("http://127.0.0.1:8080/v1", 600),
            ("http://localhost:11434/v1", 600),
            ("http://[::1]:1/v1", 600),
            ("http://192.168.1.20:8080/v1", 120),
            ("https://api.openai.com/v1", 120),
            ("nowhere", 120),
        ] {
            let settings = settings(&[("llm_sampler.base_url", json!(base_url))]).expect("valid");
            assert_eq!(settings.limits.call.as_secs(), seconds, "{base_url}");
        }
        assert_eq!(settings(&[]).expect("valid").limits.call.as_secs(), 120, "Bedrock");
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (key, value, expected) in [
            ("llm_sampler.base_ulr", json!("x"), "base_ulr"),
            ("llm_sampler.timeout_seconds", json!("soon"), "soon"),
            ("llm_sampler.calls_at_once", json!(0), "from 1"),
            ("llm_sampler.key_variable", json!("X"), "base_url"),
            ("llm_sampler.region", json!([1]), "[1]"),
        ] {
            let error = settings(&[(key, value)]).expect_err(key);
            assert!(error.0.contains(expected), "{error}");
        }
        let outcome =
            settings(&[("llm_sampler.base_url", json!("http://x")), ("llm_sampler.region", json!("eu"))]);
        assert!(outcome.is_err());
    }

    #[test]
    fn a_key_in_the_place_of_its_variable_is_refused_and_not_repeated() {
        let key = "sk-proj-abcdef-0123";
        let error = settings(&[
            ("llm_sampler.base_url", json!("https://x")),
            ("llm_sampler.key_variable", json!(key)),
        ])
        .expect_err("a key");
        assert!(!error.0.contains(key), "{error}");
    }
}
