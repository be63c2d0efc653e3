//! `docker.extra_docker_args`: what of `docker run`'s arguments is understood.

use model::{shell_word, shell_words};
use sandbox::ExtraArgs;

use super::SettingsError;
use super::secrets::is_secret_name;

const KEY: &str = "docker.extra_docker_args";
const KNOWN: &str = "-u USER, -e NAME=VALUE, -v HOST:CONTAINER, --add-host NAME:ADDRESS";

/// Splits a line into words as a shell does: blanks, `'…'`, `"…"` and `\`. Nothing is expanded.
pub fn split_arguments(line: &str) -> Result<Vec<String>, String> {
    shell_words(line).ok_or_else(|| "a quotation mark is not closed, or a \\ ends the line".to_owned())
}

/// Reads the words.
pub(super) fn parse(words: &[String]) -> Result<ExtraArgs, SettingsError> {
    let refuse = |reason: String| SettingsError::new(KEY, reason);
    let mut extra = ExtraArgs::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || {
            let value = joined.clone().or_else(|| words.next().cloned()).filter(|value| !value.is_empty());
            value.ok_or_else(|| refuse(format!("{name} has no value")))
        };
        match name {
            "-u" | "--user" => extra.user = Some(value()?),
            "-e" | "--env" => {
                let pair = value()?;
                let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                    return Err(refuse(format!(
                        "-e {pair} has no value; to hand a variable on, name it in docker.env_vars"
                    )));
                };
                if is_secret_name(name) {
                    return Err(refuse(format!(
                        "-e {name}=… looks like a secret, and settings are written to files; set it in the environment \
                         and name it in docker.env_vars"
                    )));
                }
                extra.env.push((name.to_owned(), value.to_owned()));
            }
            "-v" | "--volume" => extra.binds.push(value()?),
            "--add-host" => extra.hosts.push(value()?),
            other => return Err(refuse(format!("{other} is not understood; it takes {KNOWN}"))),
        }
    }
    Ok(extra)
}

/// As one line that [`split_arguments`] and [`parse`] read back.
pub(super) fn line(extra: &ExtraArgs) -> String {
    let user = extra.user.iter().map(|user| ("-u", user.clone()));
    let env = extra.env.iter().map(|(name, value)| ("-e", format!("{name}={value}")));
    let binds = extra.binds.iter().map(|bind| ("-v", bind.clone()));
    let hosts = extra.hosts.iter().map(|host| ("--add-host", host.clone()));
    let words = user.chain(env).chain(binds).chain(hosts);
    words.map(|(flag, value)| format!("{flag} {}", shell_word(&value))).collect::<Vec<_>>().join(" ")
}
