//! How the model is reached, and what it costs: `endpoint.*`.

use super::keys::Keys;
use super::secrets::is_rather_a_key;
use super::variables::is_variable;
use super::{EndpointSettings, KeySource, SettingsError};

/// Where the model is, and where its key comes from.
pub(super) fn endpoint(
    keys: &Keys<'_>,
    agent: &str,
    model: Option<&str>,
) -> Result<EndpointSettings, SettingsError> {
    let base_url = keys.text("endpoint.base_url");
    let key = match (keys.text("endpoint.key_env"), keys.text("endpoint.key_name")) {
        (Some(_), Some(_)) => {
            return Err(SettingsError::new(
                "endpoint.key_name",
                "there is endpoint.key_env too; give one of them",
            ));
        }
        (Some(name), None) if !is_variable(&name) || is_rather_a_key(&name) => {
            return Err(SettingsError::new(
                "endpoint.key_env",
                "it takes the name of an environment variable, such as OPENAI_API_KEY, and never the key itself",
            ));
        }
        (Some(name), None) => KeySource::Env(name),
        (None, Some(name)) => KeySource::Keychain(name),
        (None, None) => KeySource::None,
    };
    // Direct mode hands credentials of this machine to a container with an open network, so it is never a default.
    let mode = match (keys.word("endpoint.mode"), &base_url, model) {
        (Some(mode), ..) => mode,
        (None, Some(_), _) => "gateway",
        (None, None, Some(model)) if agent != "mock" => {
            return Err(SettingsError::new(
                "endpoint.base_url",
                format!(
                    "the model \"{model}\" is named, but no endpoint. Give endpoint.base_url=… for a model behind an \
                     address, or endpoint.mode=oracle for the simulated model. endpoint.mode=direct hands the AWS \
                     credentials of this machine to the container"
                ),
            ));
        }
        (None, None, _) => "oracle",
    };
    match (mode, base_url) {
        ("gateway", Some(base_url)) => {
            let base_url = plain_url(&base_url)?;
            Ok(EndpointSettings::Gateway { base_url, key })
        }
        ("gateway", None) => Err(SettingsError::new(
            "endpoint.base_url",
            "endpoint.mode=gateway needs it: where the endpoint is, such as https://api.openai.com",
        )),
        (_, Some(_)) => Err(SettingsError::new(
            "endpoint.base_url",
            format!("endpoint.mode={mode} has no such address; it belongs to endpoint.mode=gateway"),
        )),
        ("direct", None) => Ok(EndpointSettings::Direct),
        (_, None) => Ok(EndpointSettings::Oracle),
    }
}

/// Without the slash at the end and without `/v1`, which the three APIs put behind it.
fn plain_url(text: &str) -> Result<String, SettingsError> {
    let refuse = |reason: &str| SettingsError::new("endpoint.base_url", reason);
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else {
        return Err(refuse("it begins with http:// or https:// and names a host"));
    };
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        return Err(refuse("a name or key before the host would be written to files; use endpoint.key_env"));
    }
    if text.contains(['?', '#']) || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(refuse("it has a query, a fragment or a blank"));
    }
    let text = text.trim_end_matches('/');
    Ok(text.strip_suffix("/v1").unwrap_or(text).to_owned())
}

/// The price of a million tokens, or of an hour of the machine; `None` = unknown.
pub(super) fn price(keys: &Keys<'_>) -> Result<Option<gateway::Price>, SettingsError> {
    let (input, output) = (keys.number("endpoint.price.input"), keys.number("endpoint.price.output"));
    let (cached, cache_write) =
        (keys.number("endpoint.price.cached"), keys.number("endpoint.price.cache_write"));
    if let Some(per_hour) = keys.number("endpoint.price.per_hour") {
        let tokens = [("input", input), ("cached", cached), ("cache_write", cache_write), ("output", output)];
        return match tokens.iter().find(|(_, price)| price.is_some()) {
            None => Ok(Some(gateway::Price::per_machine_hour(per_hour))),
            Some((name, _)) => Err(SettingsError::new(
                "endpoint.price.per_hour",
                format!(
                    "a run has a price per hour of the machine or prices of tokens, and endpoint.price.{name} is given too; \
                     leave one of them out"
                ),
            )),
        };
    }
    match (input, output) {
        (Some(input), Some(output)) => {
            Ok(Some(gateway::Price { input, cached, cache_write, output, per_hour: None }))
        }
        (None, None) if cached.or(cache_write).is_none() => Ok(None),
        _ => Err(SettingsError::new(
            "endpoint.price",
            "it takes input and output, both in US dollars for a million tokens",
        )),
    }
}
