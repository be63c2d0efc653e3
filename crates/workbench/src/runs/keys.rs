//! Keys of endpoints: whether they are there. They are read where they are used and told to nobody.

use gateway::Secret;
use gateway::keys::{self, KeyError, KeySource};

use crate::Workbench;
use crate::api::{ApiError, KeyName, KeyPlace, KeyStatus, StoreKey};

impl Workbench {
    /// Whether a key is there; the key itself is never told.
    pub fn key_known(&self, request: KeyName) -> Result<KeyStatus, ApiError> {
        let name = request.name.trim().to_owned();
        let source = match request.place {
            KeyPlace::None => KeySource::None,
            KeyPlace::Env => KeySource::Env(name),
            KeyPlace::Keychain => KeySource::Keychain(name),
        };
        Ok(match keys::find(&source) {
            Ok(secret) => KeyStatus { known: Some(secret.is_some()), problem: None },
            Err(error @ KeyError::NoKeychain { .. }) => {
                KeyStatus { known: None, problem: Some(error.to_string()) }
            }
            Err(error) => KeyStatus { known: Some(false), problem: Some(error.to_string()) },
        })
    }

    /// Puts a key into the OS keychain.
    pub fn store_key(&self, request: StoreKey) -> Result<KeyStatus, ApiError> {
        let name = request.name.trim().to_owned();
        let secret = Secret::new(request.key);
        let done = if secret.reveal().is_empty() {
            match keys::forget(&name) {
                Err(KeyError::NotStored { .. }) => Ok(()),
                other => other,
            }
        } else {
            keys::store(&name, &secret)
        };
        done.map_err(|error| ApiError::new("key.keychain", error.to_string()))?;
        self.key_known(KeyName { place: KeyPlace::Keychain, name })
    }
}
