//! How a run begins: its folder, its lock, and what is written down before anything is played.

use std::path::Path;
use std::sync::Arc;

use crate::agent::{Agent, blocking};
use crate::control::Wish;
use crate::disk::{self, Keep};
use crate::scenarios::Scenarios;
use crate::schedule::Ready;
use crate::settings::RunSettings;
use crate::state::{HarnessNamed, Lock, Place, RunFile};
use crate::{Finish, OnEvent, RunError, control, faults, schedule};

/// Begins a run.
pub(crate) async fn begin(mut settings: RunSettings, on_event: OnEvent) -> Result<Finish, RunError> {
    absolute(&mut settings)?;
    let (ready, harness) = blocking(move || {
        let harness = harness(&settings, settings.harness_file.as_deref())?;
        let (scenarios, planned) = Scenarios::plan(&mut settings)?;
        let place = Place::new(&settings.output_dir);
        if is_taken(&place.results) {
            return Err(RunError::Taken { path: place.results });
        }
        disk::folder(&place.own().join("episodes"))?;
        let lock = Lock::take(&place)?;
        // Another begin may have been quicker.
        if is_taken(&place.results) {
            return Err(RunError::Taken { path: place.results });
        }
        control::write(&place.results, &Wish::default())?;
        disk::write(&place.results.join("config.yaml"), settings.to_yaml().as_bytes(), Keep::Durably)?;
        let named = HarnessNamed {
            name: harness.name().to_owned(),
            title: harness.title().to_owned(),
            version: harness.version().to_owned(),
            image: settings.image.clone().unwrap_or_else(|| harness.image().to_owned()),
        };
        let sha256 = scenarios.sha256();
        let mut run = RunFile::new(settings, named, planned, sha256);
        run.made_by = scenarios.made_by();
        if let Some(file) = &run.settings.harness_file {
            let text = std::fs::read(file).map_err(|error| disk::at(file, error))?;
            disk::write(&place.own().join("harness.toml"), &text, Keep::Durably)?;
        }
        run.write(&place)?;
        Ok((Ready { place, run, scenarios, lock }, harness))
    })
    .await?;
    faults::point("run begun");
    schedule::play(ready, harness, on_event, false).await
}

/// Paths that hold wherever it is gone on from.
fn absolute(settings: &mut RunSettings) -> Result<(), RunError> {
    let whole = |path: &Path| std::path::absolute(path).map_err(|error| disk::at(path, error));
    settings.output_dir = whole(&settings.output_dir)?;
    settings.scenarios_dir = settings.scenarios_dir.as_deref().map(whole).transpose()?;
    settings.harness_file = settings.harness_file.as_deref().map(whole).transpose()?;
    Ok(())
}

/// Whether a folder holds results already. What was left by a begin that was killed is none.
pub(crate) fn is_taken(folder: &Path) -> bool {
    if Place::new(folder).run_file().exists() || folder.join("report.json").exists() {
        return true;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("scenario_"))
}

/// The harness that plays: of a file, or the one of the settings' name. One that can not be called with these settings is
/// refused before anything is played.
pub(crate) fn harness(settings: &RunSettings, file: Option<&Path>) -> Result<Agent, RunError> {
    let harness = match file {
        Some(file) => Agent::Own(Arc::new(harness::load(file)?)),
        None => Agent::BuiltIn(harness::find(&settings.agent)?),
    };
    crate::agent::trial(&*harness, settings)?;
    Ok(harness)
}
