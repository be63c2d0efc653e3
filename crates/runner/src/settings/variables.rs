//! Variables for the containers: `docker.env_vars`.

use serde_json::Value;
use settings::{Config, OmittedKey};

use super::SettingsError;
use super::keys::Keys;
use super::secrets::is_secret_name;

/// Variables of the containers.
pub(super) const ENV_VARS: &str = "docker.env_vars";

/// Leaves the entries of a list of variables out that cannot be taken, each on its own.
pub(super) fn leave_out_variables(config: &mut Config) -> Vec<OmittedKey> {
    let mut left_out = Vec::new();
    if config.values.contains_key(ENV_VARS) {
        let keys = Keys { values: &config.values, section: "" };
        let (good, bad): (Vec<_>, Vec<_>) = keys
            .words(ENV_VARS)
            .into_iter()
            .map(|entry| check_variable(&entry).map(|()| entry))
            .partition(Result::is_ok);
        left_out.extend(bad.into_iter().filter_map(Result::err).map(|reason| OmittedKey {
            key: ENV_VARS.to_owned(),
            reason: format!("{ENV_VARS}: {reason}"),
            is_unknown: false,
        }));
        if !left_out.is_empty() {
            let good = good.into_iter().filter_map(Result::ok).map(Value::from).collect();
            config.values.insert(ENV_VARS.to_owned(), Value::Array(good));
        }
    }
    left_out
}

/// `docker.env_vars` as a list, as words with commas between, or as a map.
pub(super) fn env_vars(keys: &Keys<'_>) -> Result<Vec<String>, SettingsError> {
    let mut list = keys.words(ENV_VARS);
    let prefix = format!("{ENV_VARS}.");
    for (key, value) in keys.values {
        if let Some(name) = key.strip_prefix(&prefix) {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            list.push(format!("{name}={value}"));
        }
    }
    for entry in &list {
        // One of a mapping has a key of its own.
        let entry_key = format!("{prefix}{}", entry.split('=').next().unwrap_or_default());
        let key = if keys.values.contains_key(&entry_key) { entry_key.as_str() } else { ENV_VARS };
        check_variable(entry).map_err(|reason| SettingsError::new(key, reason))?;
    }
    Ok(list)
}

/// Whether a variable for the containers can be taken: `NAME`, or `NAME=value`. The error names no value.
fn check_variable(entry: &str) -> Result<(), String> {
    let (name, value) = entry.split_once('=').map_or((entry, None), |(n, v)| (n, Some(v)));
    if name.is_empty() || !is_variable(name) {
        return Err(format!("\"{}\" is no name of a variable", name.escape_debug()));
    }
    if value.is_some() && is_secret_name(name) {
        return Err(format!(
            "{name}=… looks like a secret, and settings are written to files; give its name only, and its value is taken from \
             the environment"
        ));
    }
    Ok(())
}

/// Whether it can be the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= 200 && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}
