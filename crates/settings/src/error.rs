//! What can be wrong with a configuration.

/// Why a configuration cannot be used. `place` is the file, or `--values`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No such key.
    #[error("{} knows no key \"{key}\"{}", place_or(place), proposal(nearest.as_deref()))]
    UnknownKey {
        /// As given.
        key: String,
        /// The known key that is most like it, if one is like it.
        nearest: Option<String>,
        /// Where it stands.
        place: String,
    },
    /// The key takes something else.
    #[error("{}\"{key}\" is {value}; it takes {wanted}", place_before(place))]
    Value {
        /// The key.
        key: String,
        /// What was given, shortened.
        value: String,
        /// What it takes, in words.
        wanted: String,
        /// Where it stands.
        place: String,
    },
    /// A word among the values that is no `key=value`.
    #[error("\"{text}\" is no key=value")]
    NotAPair {
        /// As given.
        text: String,
    },
    /// A file that is no YAML, or no mapping.
    #[error("{place}: {problem}")]
    Yaml {
        /// The file.
        place: String,
        /// What is wrong, with line and column where they are known.
        problem: String,
    },
    /// A file that has keys, none of which is a setting. Nothing of it is quoted: it may be any file of this machine.
    // words: ok, the error is older than the word list.
    #[error("{place} is no settings file: none of its keys is a setting")]
    NoSettings {
        /// The file.
        place: String,
    },
}

impl ConfigError {
    /// Stable word for the edge.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } => "config.unknown_key",
            Self::Value { .. } => "config.value",
            Self::NotAPair { .. } => "config.not_a_pair",
            Self::Yaml { .. } => "config.yaml",
            Self::NoSettings { .. } => "config.no_settings",
        }
    }
}

fn place_or(place: &str) -> String {
    if place.is_empty() { "The configuration".to_owned() } else { format!("{place}: the configuration") }
}

fn proposal(nearest: Option<&str>) -> String {
    nearest.map(|key| format!(". The nearest is \"{key}\"")).unwrap_or_default()
}

fn place_before(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}
