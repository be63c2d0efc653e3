//! Keys of endpoints. They are in the environment or in the keychain of the operating system, and nowhere else: not in settings,
//! files, logs or command lines.
//!
//! The keychain is the Secret Service on Linux (GNOME Keyring, `KWallet`, `KeePassXC`), Keychain on macOS, and the Credential
//! Manager on Windows. Entries belong to the service [`SERVICE`]. A keychain may ask the user to unlock it, so every function here
//! blocks.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use keyring::{Entry, Error};
use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The service that entries in a keychain belong to.
pub const SERVICE: &str = "Stamina Lab";

/// How long the user may take to unlock a keychain.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where a key is. Never the key itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The endpoint needs none.
    #[default]
    None,
    /// An environment variable.
    Env(String),
    /// An entry of the keychain.
    Keychain(String),
}

/// Why there is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set, is empty, or is not text.
    #[error(
        "The environment variable {name} holds no key. Set it in the shell or session that starts Stamina Lab"
    )]
    NotSet {
        /// Its name.
        name: String,
    },
    /// The keychain has no such entry.
    #[error(
        "The keychain has no key named {name}. Store it first, or name an environment variable that holds it"
    )]
    NotStored {
        /// Its name.
        name: String,
    },
    /// No keychain answers.
    #[error("No keychain answers ({reason}). Put the key into an environment variable and name that instead")]
    NoKeychain {
        /// Why.
        reason: String,
    },
    /// The key or its name is invalid.
    #[error("{reason}")]
    Invalid {
        /// Why.
        reason: String,
    },
}

/// The key of a source. `None` if it needs none.
pub fn find(source: &KeySource) -> Result<Option<Secret>, KeyError> {
    match source {
        KeySource::None => Ok(None),
        KeySource::Env(name) => match std::env::var(name) {
            Ok(text) if !text.trim().is_empty() => Ok(Some(Secret::new(text))),
            _ => Err(KeyError::NotSet { name: name.clone() }),
        },
        KeySource::Keychain(name) => {
            let text = with_entry(name, Entry::get_password)?;
            Ok(Some(Secret::new(text)))
        }
    }
}

/// Stores a key in the keychain. It replaces one of the same name.
pub fn store(name: &str, key: &Secret) -> Result<(), KeyError> {
    let key = key.clone();
    if key.reveal().is_empty() || key.reveal().contains(char::is_control) {
        return Err(KeyError::Invalid { reason: "A key is one line of text and not empty".to_owned() });
    }
    with_entry(name, move |entry| entry.set_password(key.reveal()))
}

/// Removes a key from the keychain.
pub fn forget(name: &str) -> Result<(), KeyError> {
    with_entry(name, Entry::delete_credential)
}

/// Uses an entry on a separate thread, which is abandoned if the keychain never answers.
fn with_entry<T: Send + 'static>(
    name: &str,
    act: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
) -> Result<T, KeyError> {
    if name.trim().is_empty() {
        return Err(KeyError::Invalid { reason: "A key in the keychain has a name".to_owned() });
    }
    let (answer, answered) = sync_channel(1);
    let entry_name = name.to_owned();
    std::thread::Builder::new()
        .name("keychain".to_owned())
        .spawn(move || {
            let result = match Entry::store_status() {
                Ok(()) => Entry::new(SERVICE, &entry_name).and_then(|entry| act(&entry)),
                Err(error) => Err(Error::Invalid("keychain".to_owned(), error.to_string())),
            };
            // The caller may have stopped waiting.
            let _ = answer.send(result);
        })
        .map_err(|error| KeyError::NoKeychain { reason: error.to_string() })?;
    match answered.recv_timeout(PATIENCE) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Error::NoEntry)) => Err(KeyError::NotStored { name: name.to_owned() }),
        Ok(Err(Error::Invalid(_, reason))) => Err(KeyError::NoKeychain { reason }),
        // Some of these errors contain the secret, so only their kind is reported.
        Ok(Err(error)) => Err(KeyError::NoKeychain { reason: kind(&error).to_owned() }),
        Err(RecvTimeoutError::Timeout) => {
            Err(KeyError::NoKeychain { reason: format!("it did not answer for {} s", PATIENCE.as_secs()) })
        }
        Err(RecvTimeoutError::Disconnected) => {
            Err(KeyError::NoKeychain { reason: "the thread that asks it failed".to_owned() })
        }
    }
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::NoStorageAccess(_) => "it is locked, or access was refused",
        Error::PlatformFailure(_) => "it reported an error",
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "its entry is not text",
        Error::TooLong(..) => "the name or the key is too long for it",
        Error::Ambiguous(_) => "it holds several keys of this name",
        _ => "it is not usable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unset_variable_is_named() {
        assert_eq!(find(&KeySource::None).unwrap().map(|_| ()), None);
        let error = find(&KeySource::Env("STAMINA_NO_SUCH_KEY".to_owned())).unwrap_err();
        assert!(error.to_string().contains("STAMINA_NO_SUCH_KEY"));
        let key = find(&KeySource::Env("PATH".to_owned())).unwrap().unwrap();
        assert_eq!(key.reveal(), std::env::var("PATH").unwrap());
    }

    #[test]
    fn an_invalid_key_is_not_stored() {
        for text in ["", "  ", "a\nb"] {
            assert!(matches!(store("x", &Secret::new(text.to_owned())), Err(KeyError::Invalid { .. })));
        }
    }

    /// Runs itself again without a session bus, because a test may not change its own environment.
    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_keychain_the_error_names_the_variable() {
        if std::env::var_os("STAMINA_TEST_NO_BUS").is_some() {
            let error = find(&KeySource::Keychain("mine".to_owned())).unwrap_err();
            assert!(matches!(error, KeyError::NoKeychain { .. }), "{error:?}");
            assert!(error.to_string().contains("environment variable"), "{error}");
            return;
        }
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "keys::tests::without_a_keychain_the_error_names_the_variable", "--nocapture"])
            .env("STAMINA_TEST_NO_BUS", "1")
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && output.contains("1 passed"), "{output}");
    }
}
