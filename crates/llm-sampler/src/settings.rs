//! The model and its endpoint: the settings `llm_sampler.*`.

use std::time::Duration;

use serde_json::Value;

use crate::openai::is_on_this_machine;
use crate::{Limits, Unready};

/// The default time limit of a call to a model on this machine. A small model on one busy core took 180 seconds for a first
/// schema.
const CALL_HERE: Duration = Duration::from_mins(10);

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
const SECTION: &str = "llm_sampler.";

/// The keys in it.
const KEYS: [&str; 6] =
    ["base_url", "key_variable", "region", "endpoint_url", "timeout_seconds", "calls_at_once"];

impl Settings {
    /// From settings such as `llm_sampler.base_url`. Other sections are ignored. With a `base_url` it is an OpenAI-compatible
    /// endpoint, without one Amazon Bedrock.
    pub fn new<'a>(
        model: &str,
        given: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Result<Self, Unready> {
        let mut texts: [Option<String>; 6] = Default::default();
        for (key, value) in given {
            let Some(name) = key.strip_prefix(SECTION) else { continue };
            let Some(index) = KEYS.iter().position(|known| *known == name) else {
                return Err(Unready(format!(
                    "There is no setting `{key}`. Those of the model's endpoint are: {}",
                    KEYS.map(|known| format!("`{SECTION}{known}`")).join(", ")
                )));
            };
            texts[index] = match value {
                Value::Null => None,
                Value::String(text) if !text.is_empty() => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                other => return Err(Unready(format!("`{key}` is {other}; it takes a text or a number"))),
            };
        }
        let [base_url, key_variable, region, endpoint_url, timeout, at_once] = texts;
        let mut limits = Limits::default();
        let url = base_url.as_deref().and_then(|base_url| reqwest::Url::parse(base_url).ok());
        if let Some(seconds) = whole("timeout_seconds", timeout, 1, 3600)? {
            limits.call = Duration::from_secs(seconds);
        } else if url.is_some_and(|url| is_on_this_machine(&url)) {
            limits.call = CALL_HERE;
        }
        if let Some(calls) = whole("calls_at_once", at_once, 1, 64)? {
            limits.at_once = calls as usize;
        }
        let endpoint = match base_url {
            Some(base_url) => {
                if region.is_some() || endpoint_url.is_some() {
                    return Err(Unready(
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
                    return Err(Unready(
                        "`llm_sampler.key_variable` takes the name of an environment variable (letters, digits, `_`), \
                         not the key"
                            .to_owned(),
                    ));
                }
                Endpoint::OpenAi { base_url, key_variable }
            }
            None if key_variable.is_some() => {
                return Err(Unready(
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

fn whole(name: &str, given: Option<String>, low: u64, high: u64) -> Result<Option<u64>, Unready> {
    let Some(given) = given else { return Ok(None) };
    match given.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
        _ => Err(Unready(format!("`{SECTION}{name}` is {given}; it takes an integer from {low} to {high}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(given: &[(&str, Value)]) -> Result<Settings, Unready> {
        Settings::new("m", given.iter().map(|(key, value)| (*key, value)))
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
        let both =
            settings(&[("llm_sampler.base_url", json!("http://x")), ("llm_sampler.region", json!("eu"))]);
        assert!(both.is_err());
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
