//! How a run is resumed: what may be changed of it, and what it is checked against.

use std::path::{Path, PathBuf};

use gateway::Spent;
use sandbox::Process;

use crate::agent::{harness_choice, trial};
use crate::blocking::blocking;
use crate::disk::{self, Durability};
use crate::origin::{self, Identity};
use crate::run::PreparedRun;
use crate::scenarios::Scenarios;
use crate::settings::{self, EndpointSettings, RunSettings, SettingsError};
use crate::state::{Lock, RunFile, RunPaths};
use crate::{Finish, OnEvent, RunError, begin, clock, control, kill_points, reopen, run, spending};

/// What a resume may change.
const CHANGEABLE: [&str; 6] =
    ["limits.", "endpoint.", "docker.env_vars", "batch_size", "keep_snapshots", "tags"];

/// Continues a run.
pub(crate) async fn continue_run(
    folder: PathBuf,
    change: Vec<String>,
    looked_at: Identity,
    on_event: OnEvent,
) -> Result<Finish, RunError> {
    let (ready, harness) = blocking(move || {
        let folder = std::path::absolute(&folder).map_err(|error| disk::error_at(&folder, error))?;
        let paths = RunPaths::new(&folder);
        RunFile::read(&paths)?;
        let lock = Lock::take_over(&paths)?;
        begin::fresh_gateway_folder(&paths)?;
        // As the part before has left it: that may have ended only now.
        let mut run = RunFile::read(&paths)?;
        settings::check_record(&run.settings)?;
        // One from a file is kept with the run, so that a resume has the one that it began with. It is read once: what was
        // looked at is what plays.
        let kept = run.settings.harness_file.as_ref().map(|_| paths.harness_file());
        let harness = harness_choice::load(&run.settings, kept.as_deref())?;
        if origin::run_identity(&paths, &run, harness.text())? != looked_at {
            return Err(RunError::Changed { path: folder });
        }
        run.settings = changed(&run.settings, &folder, &change)?;
        settings::check(&run.settings)?;
        can_be_kept(&run.settings)?;
        trial(&*harness, &run.settings)?;
        let mut again = run.settings.clone();
        let (scenarios, _) = Scenarios::from_settings(&mut again)?;
        if scenarios.sha256() != run.pack_sha256 {
            let reason = "the pack at scenarios_dir is another one than the run began with".to_owned();
            return Err(RunError::NotResumable { path: folder, reason });
        }
        if let Some(now) = scenarios.made_by()
            && run.made_by.as_ref() != Some(&now)
        {
            let original = run.made_by.as_ref().map_or_else(|| "an earlier version".to_owned(), ToString::to_string);
            let reason = format!(
                "its scenarios are made while it is played, by {original}; this program is {now}, and may make others of the same \
                 seed"
            );
            return Err(RunError::NotResumable { path: folder, reason });
        }
        // Clears pause and stop, which were carried out. Requests to retry stay, because they are counted.
        control::change(&folder, |control_request| (control_request.pause, control_request.stop) = (false, false))?;
        run.seconds = seconds_so_far(&paths, &run);
        if run.finish.is_none() && run.settings.endpoint == EndpointSettings::Direct {
            // Only its harness knew what an attempt that was killed has spent.
            let cut = run.episodes.iter().filter(|planned| reopen::is_cut_off(&paths, planned)).count();
            let unknown = Spent { unmetered: cut as u64, ..Spent::default() };
            run.spent = spending::sum(run.spent, unknown);
        }
        run.finish = None;
        run.owner = Process::current();
        run.part_started_at = clock::now();
        if !change.is_empty() {
            disk::write(
                &paths.results.join("config.yaml"),
                run.settings.to_yaml().as_bytes(),
                Durability::Synced,
            )?;
        }
        run.write(&paths)?;
        Ok((PreparedRun { paths, run, scenarios, lock }, harness))
    })
    .await?;
    kill_points::point("run taken up");
    run::run_to_end(ready, harness, on_event, true).await
}

/// The settings with what a resume may change.
fn changed(old: &RunSettings, folder: &Path, change: &[String]) -> Result<RunSettings, RunError> {
    for pair in change {
        let key = pair.split('=').next().unwrap_or_default().trim();
        if !CHANGEABLE.iter().any(|may| key.starts_with(may)) {
            let reason = "it cannot be changed in a run that was begun; limits, budgets, the endpoint and batch_size can";
            return Err(SettingsError::new(key, reason).into());
        }
    }
    let mut old = old.clone();
    folder.clone_into(&mut old.output_dir);
    if change.is_empty() {
        return Ok(old);
    }
    if replaces_price(&old, change) {
        old.price = None;
    }
    let file = ::settings::ConfigFile { name: "config.yaml".to_owned(), text: old.to_yaml() };
    let mut new = settings::resolve(&[file], change)?;
    new.is_smoke_test = old.is_smoke_test;
    if std::mem::discriminant(&new.endpoint) != std::mem::discriminant(&old.endpoint) {
        let reason = "a run keeps its way to the model: its attempts would not be comparable";
        return Err(SettingsError::new("endpoint.mode", reason).into());
    }
    if new.reach != old.reach {
        let reason = "a run keeps what its agents reach: its attempts would not be comparable";
        return Err(SettingsError::new("limits.network", reason).into());
    }
    Ok(new)
}

/// Whether a change gives a price of the other kind than the run's: by the hour in place of tokens, or the other way round. Nobody
/// could leave out the one that the run has, which may be from the price table.
fn replaces_price(old: &RunSettings, change: &[String]) -> bool {
    let Some(price) = &old.price else { return false };
    change
        .iter()
        .filter_map(|pair| pair.split_once('='))
        .filter(|(_, value)| value.trim().parse::<f64>().is_ok())
        .filter_map(|(key, _)| key.trim().strip_prefix("endpoint.price."))
        .any(|kind| (kind == "per_hour") != price.per_hour.is_some())
}

/// A budget in dollars needs a price. In direct mode the harness may tell what it has cost.
fn can_be_kept(settings: &RunSettings) -> Result<(), SettingsError> {
    let budgets = &settings.budgets;
    let limited = [("attempt", budgets.attempt), ("episode", budgets.episode), ("run", budgets.run)]
        .into_iter()
        .find(|(_, budget)| budget.usd.is_some());
    let Some((scope, _)) = limited else { return Ok(()) };
    if settings.price.is_some() || !matches!(settings.endpoint, EndpointSettings::Gateway { .. }) {
        return Ok(());
    }
    let model = settings.model.as_deref().unwrap_or("the model");
    let reason = format!(
        "a budget in dollars cannot be kept, because the price of {model} is not known. Give it (`endpoint.price.input` and \
         `.output`, or in the price table), or limit tokens"
    );
    Err(SettingsError::new(&format!("limits.{scope}.usd"), reason))
}

/// Wall seconds of earlier parts. One that was killed ran until its last event.
fn seconds_so_far(paths: &RunPaths, run: &RunFile) -> f64 {
    if run.finish.is_some() {
        return run.seconds;
    }
    // By whoever holds its lock now, so nobody plays it, also where its process lives: this may be it.
    crate::live::live_run(paths, run.clone(), false).seconds.max(run.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_reach_stays() {
        let values = ["agent=MOCK", "endpoint.mode=oracle", "output_dir=x"];
        let old = settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        let resumed = |change: &str| {
            changed(&old, Path::new("/x"), &[change.to_owned()]).map_err(|error| error.to_string())
        };
        let refused = resumed("limits.network=open").unwrap_err();
        assert!(refused.starts_with("limits.network: ") && refused.contains("comparable"), "{refused}");
        assert_eq!(resumed("limits.network=gateway").unwrap().reach, sandbox::NetworkAccess::Gateway);
        assert!(resumed("limits.attempt_minutes=30").is_ok());
    }

    #[test]
    fn a_budget_in_dollars_that_comes_with_a_resume_needs_a_price() {
        let values = [
            "agent=CODEX",
            "codex.model_id=acme/new",
            "endpoint.base_url=http://127.0.0.1:9",
            "output_dir=x",
        ];
        let old = settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        let resumed = |change: &[&str]| {
            let change: Vec<String> = change.iter().map(|&pair| pair.to_owned()).collect();
            let new = changed(&old, Path::new("/x"), &change).unwrap();
            can_be_kept(&new).map_err(|error| error.to_string())
        };
        assert_eq!(resumed(&["limits.run.tokens=5"]), Ok(()));
        let refused = resumed(&["limits.episode.usd=5"]).unwrap_err();
        assert!(
            refused.starts_with("limits.episode.usd: ") && refused.contains("price of acme/new"),
            "{refused}"
        );
        assert_eq!(
            resumed(&["limits.run.usd=5", "endpoint.price.input=1", "endpoint.price.output=2"]),
            Ok(())
        );
    }

    #[test]
    fn a_price_that_comes_with_a_resume_takes_the_place_of_one_of_the_other_kind() {
        let values = ["agent=CODEX", "codex.model_id=acme/new", "endpoint.base_url=http://127.0.0.1:9"];
        let run = |price: &[&str]| {
            let all: Vec<String> =
                values.iter().chain(&["output_dir=x"]).chain(price).map(|&pair| pair.to_owned()).collect();
            settings::resolve(&[], &all).unwrap()
        };
        let tokens = ["endpoint.price.input=1", "endpoint.price.cached=0.1", "endpoint.price.output=2"];
        let hour = ["endpoint.price.per_hour=0.3"];
        let resumed = |old: &RunSettings, change: &[&str]| {
            let change: Vec<String> = change.iter().map(|&pair| pair.to_owned()).collect();
            changed(old, Path::new("/x"), &change).map(|new| new.price).map_err(|error| error.to_string())
        };
        let (by_tokens, by_hour) = (run(&tokens), run(&hour));
        assert_eq!(resumed(&by_tokens, &hour), Ok(by_hour.price));
        assert_eq!(resumed(&by_hour, &tokens), Ok(by_tokens.price));
        let dearer = resumed(&by_tokens, &["endpoint.price.output=3"]).unwrap().unwrap();
        assert_eq!(
            (dearer.cached, dearer.output, dearer.per_hour),
            (Some(0.1), 3.0, None),
            "one of its kind"
        );
        let both_limits = [&tokens[..], &hour].concat();
        assert!(resumed(&by_tokens, &both_limits).is_err(), "both together");
        assert_eq!(resumed(&by_hour, &["limits.run.usd=5"]), Ok(by_hour.price), "it stays");
    }
}
