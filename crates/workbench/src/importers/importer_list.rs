//! Which importers there are: those on the `PATH`, and those of the settings, a file in the user's configuration folder.
//!
//! Nothing else names one: no source, no settings of a run, no library.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use files::deadline::within_limit;
use model::{lock, shell_word};
use serde::{Deserialize, Serialize};

use crate::Workbench;
use crate::api::{ApiError, ImporterInfo, ImporterList, ImporterState, Nothing, SetImporters};

/// What the file of an importer on the `PATH` begins with.
const PREFIX: &str = "stamina-import-";
/// Most bytes of the settings.
const MOST_BYTES: u64 = 1 << 20;
/// Held from reading the settings until they are written.
static EDITED: Mutex<()> = Mutex::new(());

/// The importers that the settings name.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Absolute paths by name.
    #[serde(default)]
    importers: BTreeMap<String, String>,
}

impl Settings {
    fn load(file: &Path) -> Result<Self, ApiError> {
        let wrong = |reason: String| {
            ApiError::new("importer.settings", format!("The settings of importers cannot be read: {reason}"))
                .with_path(file.display().to_string())
                .hint("Mend the file, or delete it")
        };
        let bytes = match files::confined_path::read_named_file(file, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let settings: Self = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        for (name, path) in &settings.importers {
            if !Path::new(path).is_absolute() {
                return Err(wrong(format!("the path of \"{name}\" is not absolute")));
            }
        }
        Ok(settings)
    }

    /// Writes the file as a whole. A link stays: the file that it leads to is written.
    fn save(&self, file: &Path) -> Result<(), ApiError> {
        let write = |draft: &Path, real: &Path| -> io::Result<()> {
            let mut out = File::create(draft)?;
            serde_json::to_writer_pretty(&mut out, self)?;
            out.write_all(b"\n")?;
            out.sync_all()?;
            fs::rename(draft, real)
        };
        let save = || -> io::Result<()> {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
            let draft = real.with_extension(format!("{}.draft", std::process::id()));
            let written = write(&draft, &real);
            if written.is_err() {
                // What was written until then is of no use.
                drop(fs::remove_file(&draft));
            }
            written
        };
        save().map_err(|error| {
            ApiError::new(
                "importer.settings",
                format!("The settings of importers cannot be written: {error}"),
            )
            .with_path(file.display().to_string())
        })
    }

    /// Adds a program under the name of its file.
    fn add(&mut self, path: &str, folders: &[PathBuf]) -> Result<(), ApiError> {
        let program = Path::new(path);
        if !program.is_absolute() || path.contains(char::is_control) {
            return Err(ApiError::new(
                "importer.path",
                "The path of an importer must be absolute, without control characters",
            )
            .with_path(path.replace(char::is_control, "\u{fffd}"))
            .hint("Begin the path with /"));
        }
        if let Some(defect) = problem(state_of(program)) {
            return Err(ApiError::new("importer.missing", format!("The importer {defect}"))
                .with_path(path)
                .hint("Name an executable file; chmod +x FILE makes a file executable"));
        }
        let name = name_of(program).ok_or_else(|| {
            ApiError::new(
                "importer.name",
                "The file of an importer has a name of letters (a to z), digits, and the characters - _ . only",
            )
            .with_path(path)
            .hint("Rename the file, or add a link to it")
        })?;
        let is_other = |known: &ImporterInfo| known.name == name && !is_same(Path::new(&known.path), program);
        if let Some(other) = known(self, folders).into_iter().find(is_other) {
            let place = if other.in_settings { "The settings have" } else { "The PATH has" };
            return Err(ApiError::new("importer.name", format!("{place} another importer \"{name}\""))
                .with_path(other.path)
                .hint("Remove that one, or rename the file of this one"));
        }
        self.importers.insert(name, path.to_owned());
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), ApiError> {
        self.importers.remove(name).map(drop).ok_or_else(|| {
            ApiError::new("importer.missing", format!("The settings name no importer \"{name}\""))
                .hint("To remove one on the PATH, remove its file")
        })
    }
}

/// The file of the settings.
fn settings_file() -> Result<PathBuf, ApiError> {
    dirs::config_dir().map(|folder| folder.join("stamina-lab").join("importers.json")).ok_or_else(|| {
        ApiError::new("importer.no_folder", "The user's configuration folder is unknown")
            .hint("Set XDG_CONFIG_HOME or HOME")
    })
}

/// The settings; without a configuration folder there are none.
fn settings() -> Result<Settings, ApiError> {
    settings_file().map_or_else(|_| Ok(Settings::default()), |file| Settings::load(&file))
}

/// The folders of a `PATH`. A relative one is left out: what lies in it depends on the current folder, which may be a source.
fn folders_from(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

fn folders() -> Vec<PathBuf> {
    folders_from(&std::env::var_os("PATH").unwrap_or_default())
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// The name of the importer in a file.
fn name_of(program: &Path) -> Option<String> {
    let file = program.file_name()?.to_str()?;
    let name = file.strip_prefix(PREFIX).unwrap_or(file);
    is_word(name).then(|| name.to_owned())
}

fn state_of(program: &Path) -> ImporterState {
    let owned_program = program.to_owned();
    match within_limit(program, move || fs::metadata(owned_program)) {
        Ok(Ok(about)) if about.is_file() && about.permissions().mode() & 0o111 != 0 => ImporterState::Ready,
        Ok(Err(error)) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            ImporterState::Missing
        }
        Ok(_) => ImporterState::NotExecutable,
        Err(_) => ImporterState::NoAnswer,
    }
}

/// Why a program cannot be run; `None` = it can.
fn problem(state: ImporterState) -> Option<&'static str> {
    match state {
        ImporterState::Ready => None,
        ImporterState::Missing => Some("is missing"),
        ImporterState::NotExecutable => Some("is not an executable file"),
        ImporterState::NoAnswer => Some("lies on a file system that does not answer"),
    }
}

/// Whether two paths lead to one file.
fn is_same(left_path: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs::canonicalize(path).ok();
    left_path == other
        || (state_of(left_path) == ImporterState::Ready
            && file(left_path).is_some_and(|path| file(other) == Some(path)))
}

/// The names of what looks like an importer in a folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let file = entry.file_name();
        file.to_str()?.strip_prefix(PREFIX).filter(|name| is_word(name)).map(str::to_owned)
    });
    names.collect()
}

/// The importers in the folders of a `PATH`, of each name the first.
fn on_path(folders: &[PathBuf]) -> Vec<ImporterInfo> {
    let mut found: BTreeMap<String, ImporterInfo> = BTreeMap::new();
    for folder in folders {
        let owned_folder = folder.clone();
        for name in within_limit(folder, move || names_in(&owned_folder)).unwrap_or_default() {
            let program = folder.join(format!("{PREFIX}{name}"));
            let Some(path) = program.to_str() else { continue };
            if !found.contains_key(&name) && state_of(&program) == ImporterState::Ready {
                let (path, state) = (path.to_owned(), ImporterState::Ready);
                found.insert(name.clone(), ImporterInfo { name, path, in_settings: false, state });
            }
        }
    }
    found.into_values().collect()
}

/// All importers by name, of one name that of the settings first.
fn known(settings: &Settings, folders: &[PathBuf]) -> Vec<ImporterInfo> {
    let settings_importers = settings.importers.iter().map(|(name, path)| ImporterInfo {
        name: name.clone(),
        path: path.clone(),
        in_settings: true,
        state: state_of(Path::new(path)),
    });
    let mut all: Vec<ImporterInfo> = settings_importers.collect();
    for other in on_path(folders) {
        let is_there = |own: &ImporterInfo| {
            own.name == other.name && is_same(Path::new(&own.path), Path::new(&other.path))
        };
        if !all.iter().any(is_there) {
            all.push(other);
        }
    }
    all.sort_by(|importer, other| importer.name.cmp(&other.name));
    all
}

/// What is executed of an importer.
fn executed(importer: ImporterInfo) -> Result<PathBuf, ApiError> {
    match problem(importer.state) {
        None => Ok(PathBuf::from(importer.path)),
        Some(defect) => {
            Err(ApiError::new("importer.missing", format!("The importer \"{}\" {defect}", importer.name))
                .with_path(importer.path)
                .hint("Restore the file, or remove the importer from the settings"))
        }
    }
}

/// The only importer of a name.
fn named(name: &str, all: Vec<ImporterInfo>) -> Result<PathBuf, ApiError> {
    let mut found = all.into_iter().filter(|importer| importer.name == name);
    match (found.next(), found.next()) {
        (Some(importer), None) => executed(importer),
        (Some(first), Some(other)) => Err(ApiError::new(
            "importer.ambiguous",
            format!("The settings and the PATH have different importers \"{name}\""),
        )
        .hint(format!(
            "Name one by its path: --with {}, or --with {}",
            shell_word(&first.path),
            shell_word(&other.path)
        ))),
        (None, _) => Err(ApiError::new(
            "importer.missing",
            format!("No program {PREFIX}{name} is on the PATH, and the settings name no importer \"{name}\""),
        )
        .hint("Install it, or name its path: --with ./PROGRAM")),
    }
}

/// The program that a name means: a path where there is a `/` in it, else an importer of the settings or on the `PATH`.
pub(crate) fn program(name: &str) -> Result<PathBuf, ApiError> {
    if name.contains('/') {
        return Path::new(name).canonicalize().map_err(|error| {
            ApiError::new("importer.missing", format!("The importer cannot be found: {error}"))
                .with_path(name)
                .hint("Name a program, or stamina-import-NAME on the PATH by its NAME")
        });
    }
    named(name, known(&settings()?, &folders()))
}

/// The program at a path, which must be that of an importer of the settings or on the `PATH`.
pub(crate) fn listed(path: &str) -> Result<PathBuf, ApiError> {
    let all = known(&settings()?, &folders());
    let found = all.into_iter().find(|importer| importer.path == path);
    let missing = || {
        ApiError::new("importer.not_listed", "Neither the settings nor the PATH have this importer")
            .with_path(path)
            .hint("Add it to the importers first")
    };
    found.ok_or_else(missing).and_then(executed)
}

impl Workbench {
    /// Importers of others: programs on the `PATH` and in the settings.
    pub fn list_importers(&self, _: Nothing) -> Result<ImporterList, ApiError> {
        let path = settings_file().map_or_else(|_| String::new(), |file| file.display().to_string());
        Ok(ImporterList { importers: known(&settings()?, &folders()), path })
    }

    /// Adds importers to the settings, or removes them. Nothing is executed.
    pub fn set_importers(&self, request: SetImporters) -> Result<ImporterList, ApiError> {
        let file = settings_file()?;
        {
            let _edited = lock(&EDITED);
            let mut changed = Settings::load(&file)?;
            for name in &request.remove {
                changed.remove(name)?;
            }
            for path in &request.add {
                changed.add(path, &folders())?;
            }
            changed.save(&file)?;
        }
        self.list_importers(Nothing {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An executable file, and its path.
    fn program(folder: &Path, name: &str) -> String {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Name, whether it is of the settings, and how it is.
    fn listed(settings: &Settings, folders: &[PathBuf]) -> Vec<(String, bool, ImporterState)> {
        known(settings, folders)
            .into_iter()
            .map(|importer| (importer.name, importer.in_settings, importer.state))
            .collect()
    }

    fn row(name: &str, in_settings: bool, state: ImporterState) -> (String, bool, ImporterState) {
        (name.to_owned(), in_settings, state)
    }

    #[test]
    // docs/security.md: An importer of others
    fn importers_of_the_settings_are_kept_beside_those_on_the_path() {
        let temp = tempfile::tempdir().unwrap();
        let (file, bin) = (temp.path().join("config/importers.json"), temp.path().join("bin"));
        let alpha = program(&bin, "stamina-import-alpha");
        fs::write(bin.join("stamina-import-text"), "no program").unwrap();
        let folders = [bin.clone()];
        let mut settings = Settings::load(&file).unwrap();
        assert_eq!(listed(&settings, &folders), [row("alpha", false, ImporterState::Ready)]);

        let beta = program(&temp.path().join("own"), "beta.py");
        settings.add(&beta, &folders).unwrap();
        settings.save(&file).unwrap();
        let mut settings = Settings::load(&file).unwrap();
        let rows = [row("alpha", false, ImporterState::Ready), row("beta.py", true, ImporterState::Ready)];
        assert_eq!(listed(&settings, &folders), rows);
        assert_eq!(named("beta.py", known(&settings, &folders)).unwrap(), Path::new(&beta));
        assert_eq!(named("alpha", known(&settings, &folders)).unwrap(), Path::new(&alpha));

        // A file that is gone is shown as missing, and comes back.
        fs::rename(&beta, temp.path().join("away")).unwrap();
        assert_eq!(listed(&settings, &folders)[1], row("beta.py", true, ImporterState::Missing));
        let error = named("beta.py", known(&settings, &folders)).unwrap_err();
        assert_eq!((error.code.as_str(), error.path.as_deref()), ("importer.missing", Some(beta.as_str())));
        fs::rename(temp.path().join("away"), &beta).unwrap();
        fs::set_permissions(&beta, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(listed(&settings, &folders)[1], row("beta.py", true, ImporterState::NotExecutable));

        settings.remove("beta.py").unwrap();
        assert_eq!(listed(&settings, &folders), rows[..1]);
        assert!(Path::new(&beta).exists());
        for name in ["beta.py", "alpha"] {
            assert_eq!(settings.remove(name).unwrap_err().code, "importer.missing", "{name}");
        }
    }

    #[test]
    fn settings_behind_a_link_are_written_where_it_leads_and_no_draft_is_left() {
        let temp = tempfile::tempdir().unwrap();
        let (kept, link) =
            (temp.path().join("kept/importers.json"), temp.path().join("config/importers.json"));
        fs::create_dir_all(temp.path().join("kept")).unwrap();
        fs::create_dir_all(temp.path().join("config")).unwrap();
        fs::write(&kept, "{}").unwrap();
        std::os::unix::fs::symlink(&kept, &link).unwrap();
        let mut settings = Settings::load(&link).unwrap();
        settings.add(&program(&temp.path().join("own"), "beta"), &[]).unwrap();
        settings.save(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Settings::load(&kept).unwrap().importers, settings.importers);
        // A folder in its place cannot be replaced.
        fs::remove_file(&kept).unwrap();
        fs::create_dir(&kept).unwrap();
        assert_eq!(settings.save(&link).unwrap_err().code, "importer.settings");
        let file_count = |folder: &str| fs::read_dir(temp.path().join(folder)).unwrap().count();
        assert_eq!((file_count("kept"), file_count("config")), (1, 1));
    }

    #[test]
    // docs/security.md: An importer of others
    fn one_name_never_means_two_importers() {
        let temp = tempfile::tempdir().unwrap();
        let (bin, own_tools) = (temp.path().join("bin"), temp.path().join("own tools"));
        let on_path = program(&bin, "stamina-import-alpha");
        let folders = [bin.clone(), temp.path().join("nowhere")];
        let mut settings = Settings::default();
        let other = program(&own_tools, "alpha");
        let error = settings.add(&other, &folders).unwrap_err();
        assert_eq!((error.code.as_str(), error.path.as_deref()), ("importer.name", Some(on_path.as_str())));
        let first = program(&own_tools, "stamina-import-beta");
        settings.add(&first, &folders).unwrap();
        let error = settings.add(&program(&own_tools, "beta"), &folders).unwrap_err();
        assert_eq!((error.code.as_str(), error.path.as_deref()), ("importer.name", Some(first.as_str())));
        // The same one again, and the file that is on the PATH, are not others.
        settings.add(&first, &folders).unwrap();
        settings.add(&on_path, &folders).unwrap();
        let rows = [row("alpha", true, ImporterState::Ready), row("beta", true, ImporterState::Ready)];
        assert_eq!(listed(&settings, &folders), rows);

        // One that comes onto the PATH later is listed, and the name alone runs neither.
        let later = program(&bin, "stamina-import-beta");
        let all = known(&settings, &folders);
        assert_eq!(all.iter().filter(|importer| importer.name == "beta").count(), 2);
        let error = named("beta", all).unwrap_err();
        assert_eq!(error.code, "importer.ambiguous");
        let hint = error.hint.unwrap();
        assert!(hint.contains(&format!("--with '{first}'")) && hint.contains(&later), "{hint}");
    }

    #[test]
    // docs/security.md: An importer of others
    fn only_an_executable_file_at_an_absolute_path_is_an_importer() {
        let temp = tempfile::tempdir().unwrap();
        let path_to = |name: &str| temp.path().join(name).to_str().unwrap().to_owned();
        fs::write(path_to("text"), "no program").unwrap();
        fs::create_dir(path_to("folder")).unwrap();
        let mut settings = Settings::default();
        for (path, code) in [
            ("./importer".to_owned(), "importer.path"),
            ("importer".to_owned(), "importer.path"),
            (path_to("new\nline"), "importer.path"),
            (path_to("nothing"), "importer.missing"),
            (path_to("text/below"), "importer.missing"),
            (path_to("text"), "importer.missing"),
            (path_to("folder"), "importer.missing"),
            (program(temp.path(), "two words"), "importer.name"),
        ] {
            assert_eq!(settings.add(&path, &[]).unwrap_err().code, code, "{path:?}");
        }
        assert!(settings.importers.is_empty());
        let file = temp.path().join("importers.json");
        for text in ["{", "{\"importers\": {\"a\": \"./a\"}}", "{\"with\": []}"] {
            fs::write(&file, text).unwrap();
            assert_eq!(Settings::load(&file).unwrap_err().code, "importer.settings", "{text}");
        }
        // The current folder, which may be that of a source, is no place of importers.
        assert_eq!(folders_from(OsStr::new(":.:bin:/usr/bin")), [PathBuf::from("/usr/bin")]);
    }
}
