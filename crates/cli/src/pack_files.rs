//! Opens the packs and settings files that commands name, or explains why they cannot be used.

use std::path::Path;

use scenario::pack::{Pack, PackError};
use settings::{ConfigError, ConfigFile};
use workbench::api::ApiError;

/// The largest configuration that is read.
const CONFIG_CAP: u64 = 1 << 20;

/// Whether no file exists at a path, rather than one that cannot be read.
pub(crate) fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// Opens a pack.
pub(crate) fn open(path: &Path) -> Result<Pack, ApiError> {
    if !path.exists() {
        return Err(ApiError::new("source.missing", "There is no such folder or zip")
            .with_path(path.display().to_string())
            .hint("Check the path"));
    }
    Pack::open_path(path).map_err(|error| pack_error(&error, path))
}

/// A file of `--configs`.
pub(crate) fn read_config(path: &Path) -> Result<ConfigFile, ApiError> {
    let shown = path.display().to_string();
    let unreadable = |message: String| {
        ApiError::new("config.unreadable", message)
            .with_path(shown.clone())
            .hint("--configs takes YAML files")
    };
    let bytes = files::confined_path::read_named_file(path, CONFIG_CAP)
        .map_err(|error| unreadable(format!("The file cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("The file is not UTF-8 text".to_owned()))?;
    Ok(ConfigFile { name: shown, text })
}

/// What is wrong with settings.
pub(crate) fn config_error(error: &ConfigError) -> ApiError {
    ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys")
}

/// What is wrong with a pack, and what to do about it.
pub(crate) fn pack_error(error: &PackError, path: &Path) -> ApiError {
    let place = error.path().unwrap_or(path);
    let api_error = ApiError::new(error.code(), error.to_string());
    let api_error = if place.as_os_str().is_empty() {
        api_error
    } else {
        api_error.with_path(place.display().to_string())
    };
    match error {
        PackError::Occupied { .. } => {
            api_error.hint("Choose another --out, or --force to replace a pack of other settings")
        }
        PackError::NotAPack(_) => api_error.hint("`stamina generate --out DIR` makes one"),
        PackError::Config(_) => api_error.hint("docs/cli.md lists the keys"),
        PackError::Version(_) => api_error.hint(
            "`stamina generate --values …` with the settings in its manifest makes it again; a pack of a later format \
             needs a newer Stamina Lab",
        ),
        _ => api_error,
    }
}
