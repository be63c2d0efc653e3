//! How a run begins: its folder, its lock, and what is written down before anything is played.

use std::path::Path;

use crate::agent::harness_choice::{HarnessChoice, load};
use crate::blocking::blocking;
use crate::control::ControlRequest;
use crate::disk::{self, Durability};
use crate::run::PreparedRun;
use crate::scenarios::Scenarios;
use crate::settings::{RunSettings, SettingsError};
use crate::state::{Lock, RunFile, RunHarness, RunPaths};
use crate::{Finish, OnEvent, RunError, control, kill_points, run};

/// Begins a run.
pub(crate) async fn begin(mut settings: RunSettings, on_event: OnEvent) -> Result<Finish, RunError> {
    make_paths_absolute(&mut settings)?;
    let (ready, harness) = blocking(move || {
        // A person chose it: it may be reached through links.
        settings.harness_file = settings.harness_file.as_deref().map(files::confined_path::resolved);
        let harness = harness(&settings, settings.harness_file.as_deref())?;
        let (scenarios, planned) = Scenarios::plan(&mut settings)?;
        let paths = RunPaths::new(&settings.output_dir);
        if is_taken(&paths.results) {
            return Err(RunError::FolderTaken { path: paths.results });
        }
        disk::folder(&paths.stamina_folder())?;
        let lock = Lock::take(&paths)?;
        // Another begin may have been quicker.
        if is_taken(&paths.results) {
            return Err(RunError::FolderTaken { path: paths.results });
        }
        fresh_records(&paths)?;
        control::write(&paths.results, &ControlRequest::default())?;
        disk::write(&paths.results.join("config.yaml"), settings.to_yaml().as_bytes(), Durability::Synced)?;
        let named = RunHarness {
            name: harness.name().to_owned(),
            title: harness.title().to_owned(),
            version: harness.version().to_owned(),
            image: settings.image.clone().unwrap_or_else(|| harness.image().to_owned()),
        };
        let sha256 = scenarios.sha256();
        let mut run = RunFile::new(settings, named, planned, sha256);
        run.made_by = scenarios.made_by();
        run.refused = scenarios.refused(&run.settings);
        // What could not be read back is not begun.
        run.check_names().map_err(|reason| SettingsError::new("scenarios_dir", reason))?;
        if let Some(text) = harness.text() {
            disk::write(&paths.harness_file(), text.as_bytes(), Durability::Synced)?;
        }
        run.write(&paths)?;
        Ok((PreparedRun { paths, run, scenarios, lock }, harness))
    })
    .await?;
    kill_points::point("run begun");
    run::run_to_end(ready, harness, on_event, false).await
}

/// Removes what lies beside the lock: of a begin that was killed, or of somebody who prepared the folder. Sessions, workspaces and
/// spending in it would become those of the new run.
fn fresh_records(paths: &RunPaths) -> Result<(), RunError> {
    let folder = paths.stamina_folder();
    let wrong = |error: std::io::Error| disk::error_at(&folder, error);
    for (name, _) in files::confined_path::list_folder(&folder).map_err(wrong)? {
        if name != "lock" {
            crate::copy::remove(&folder.join(name)).map_err(wrong)?;
        }
    }
    disk::folder(&folder.join("episodes"))?;
    fresh_gateway_folder(paths)
}

/// The gateway's socket gets a folder of its own: what an earlier part left under its name, or somebody else, is taken away.
pub(crate) fn fresh_gateway_folder(paths: &RunPaths) -> Result<(), RunError> {
    let folder = paths.gateway_folder();
    crate::copy::remove(&folder).map_err(|error| disk::error_at(&folder, error))?;
    disk::folder(&folder)
}

/// Paths that hold wherever it is gone on from.
fn make_paths_absolute(settings: &mut RunSettings) -> Result<(), RunError> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| disk::error_at(path, error));
    settings.output_dir = absolute(&settings.output_dir)?;
    settings.scenarios_dir = settings.scenarios_dir.as_deref().map(absolute).transpose()?;
    settings.harness_file = settings.harness_file.as_deref().map(absolute).transpose()?;
    if let Some(tasks) = &mut settings.tasks {
        tasks.folder = absolute(&tasks.folder)?;
    }
    Ok(())
}

/// Whether a folder holds results already. What was left by a begin that was killed is none.
pub(crate) fn is_taken(folder: &Path) -> bool {
    if RunPaths::new(folder).run_file().exists() || folder.join("report.json").exists() {
        return true;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("scenario_"))
}

/// The harness that plays: of a file, or the one of the settings' name. One that cannot be called with these settings is
/// refused before anything is played.
pub(crate) fn harness(settings: &RunSettings, file: Option<&Path>) -> Result<HarnessChoice, RunError> {
    let harness = load(settings, file)?;
    crate::agent::trial(&*harness, settings)?;
    Ok(harness)
}
