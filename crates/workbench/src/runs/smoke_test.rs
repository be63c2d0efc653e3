//! Smoke tests: three turns, or two steps of a task, with the simulated model, to see whether a harness works here before any money is spent.
//!
//! They lie in the temporary folder of this user, a folder for each library, and stay out of the library. Whatever is
//! older than a day goes when the app starts.

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::live::{self, RunState};

use crate::api::{ApiError, FormProtocol, FormSettings, FormSource, SmokeTestVerdict};

/// Turns of a smoke test.
const TURNS: u32 = 3;
/// How long its folder is kept.
const KEPT: Duration = Duration::from_hours(24);

/// The same harness with the simulated model, short, in a temporary folder. It ends at the first attempt that does not
/// pass: the simulated model makes no mistakes here, so a second one would tell nothing new.
pub(super) fn settings(mut form: FormSettings, folder: &Path) -> Result<FormSettings, ApiError> {
    let standard = FormSettings::default();
    if form.source == FormSource::Tasks {
        form.execute_episodes = first_task(&form);
        form.protocol = FormProtocol::Own;
        form.restore_before_try = false;
        form.quick_debug = true;
    } else {
        form.execute_episodes.clear();
        form.quick_debug = false;
    }
    form.endpoint_mode = crate::api::EndpointMode::Oracle;
    form.network = crate::api::FormNetwork::Gateway;
    form.scenarios_dir.clear();
    form.iterative = true;
    form.use_llm_sampler = false;
    form.n_scenarios = Some(1.0);
    form.n_turns = Some(f64::from(TURNS));
    form.num_changes_per_turn = None;
    form.batch_size = Some(1.0);
    form.attempt_limit = Some(1.0);
    form.fail_stop = true;
    form.tags = vec!["shakedown".to_owned()];
    (form.attempt_tokens, form.attempt_usd, form.attempt_wall_minutes) = (None, None, None);
    (form.episode_tokens, form.episode_usd, form.episode_minutes) = (None, None, None);
    (form.run_tokens, form.run_usd, form.run_minutes) = (None, None, None);
    (form.price_input, form.price_cached, form.price_cache_write, form.price_output) =
        (None, None, None, None);
    form.price_per_hour = None;
    (form.oracle_defect_rate, form.oracle_most_defects, form.oracle_repair) = (None, None, None);
    (form.oracle_stall, form.oracle_overflow, form.oracle_malformed) = (None, None, None);
    (form.oracle_kill, form.oracle_give_up) = (None, None);
    form.oracle_seed = standard.oracle_seed;
    let no_folder = |reason: String| {
        ApiError::new("run.no_folder", format!("The temporary folder cannot be made: {reason}"))
            .with_path(folder.display().to_string())
    };
    make(folder).map_err(no_folder)?;
    form.output_dir = (1..u32::MAX)
        .map(|n| folder.join(format!("{}-{}-{n}", form.agent, std::process::id())))
        .find(|run| !run.exists())
        .ok_or_else(|| no_folder("it is full".to_owned()))?
        .display()
        .to_string();
    Ok(form)
}

/// The first task that would be run. The start of the smoke test reports what is wrong with tasks.
fn first_task(form: &FormSettings) -> String {
    let planned = super::settings_of(form).ok().and_then(|settings| runner::planned(&settings).ok());
    let first = planned.and_then(|planned| planned.first().map(|(number, _)| number.to_string()));
    first.unwrap_or_else(|| form.execute_episodes.clone())
}

/// What a smoke test came to; nothing while it is played, or where its record cannot be read.
pub(super) fn verdict(folder: &Path, run: &live::LiveRun) -> Option<SmokeTestVerdict> {
    let is_unknown = run.episodes.first().is_some_and(|episode| episode.phase == live::Phase::Unknown);
    if !run.is_smoke_test || is_unknown || !matches!(run.state, RunState::Ended { .. } | RunState::Lost) {
        return None;
    }
    let passed = run.episodes.first().map_or(0, |episode| {
        let passed = |state: &&model::TurnState| {
            matches!(state, model::TurnState::Passed | model::TurnState::PassedAfterRetries)
        };
        episode.cells.iter().take_while(passed).count() as u32
    });
    let failed = live::first_not_passed(folder);
    let works = passed == run.turns && run.turns > 0;
    let (turn, reason, message) = match failed {
        Some(failed) => (Some(failed.turn), failed.reason, failed.message),
        None => (None, run.episodes.first().and_then(|episode| episode.end_reason), None),
    };
    let reason = reason.filter(|_| !works);
    Some(SmokeTestVerdict { works, passed, turns: run.turns, turn, reason, message })
}

/// Where all of this user lie.
fn root() -> PathBuf {
    std::env::temp_dir().join(format!("stamina-lab-shakedowns-{}", rustix::process::geteuid().as_raw()))
}

/// A folder that is ours: no link, and of this user.
fn is_smoke_test_folder(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw())
}

/// Makes the folder of a library, which others cannot look into. The temporary folder is everybody's: whatever lies there
/// under this name already must be ours.
fn make(folder: &Path) -> Result<(), String> {
    for place in [root().as_path(), folder] {
        match std::fs::DirBuilder::new().mode(0o700).create(place) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.to_string()),
        }
        if !is_smoke_test_folder(place) {
            return Err(format!("{} is not a folder of this user", place.display()));
        }
    }
    Ok(())
}

/// The folders in a folder that are ours.
pub(super) fn folders(folder: &Path) -> Vec<PathBuf> {
    if !is_smoke_test_folder(folder) {
        return Vec::new();
    }
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_smoke_test_folder(path)).collect()
}

/// Where those of a library lie. The same in every build: an app that was renewed finds what the last one left.
pub(super) fn folder_of_library(db: &Path) -> PathBuf {
    let db = std::path::absolute(db).unwrap_or_else(|_| db.to_path_buf());
    root().join(format!("{:016x}", files::Stamp::new().text(&db.to_string_lossy()).finish()))
}

/// Removes what old smoke tests left, on a thread of its own.
pub fn remove_old_smoke_tests() {
    let spawned =
        std::thread::Builder::new().name("old smoke tests".to_owned()).spawn(|| sweep(&root(), KEPT));
    if let Err(error) = spawned {
        tracing::warn!(%error, "old smoke tests stay");
    }
}

/// Only folders that nobody plays and that have not changed for this long: those that hold a smoke test by their own record, and
/// those without a record, which one left that was killed as it began. Folders of libraries without any go as well.
fn sweep(root: &Path, kept: Duration) {
    for library in folders(root) {
        for run in folders(&library).into_iter().filter(|run| is_left(run, kept)) {
            // It follows no links, and what an agent made unreadable is ours to remove.
            if let Err(error) = runner::remove_run(&run) {
                tracing::debug!(%error, "an old smoke test stays");
            }
        }
        if is_old(&library, kept) {
            // Only an empty one goes.
            let _ = std::fs::remove_dir(&library);
        }
    }
}

fn is_old(path: &Path, kept: Duration) -> bool {
    std::fs::symlink_metadata(path)
        .and_then(|meta| meta.modified())
        .is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= kept))
}

/// Whether a folder holds nothing that anybody looks at any more.
fn is_left(run: &Path, kept: Duration) -> bool {
    let record = run.join(".stamina/run.json");
    if std::fs::symlink_metadata(&record).is_err() {
        let private_folder = run.join(".stamina");
        return is_old(run, kept) && (!private_folder.exists() || is_old(&private_folder, kept));
    }
    let is_over = |read: live::LiveRun| {
        read.is_smoke_test && matches!(read.state, RunState::Ended { .. } | RunState::Lost)
    };
    is_old(&record, kept) && live::read(run).is_ok_and(is_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder in a library's, with what a run keeps beside its results.
    fn run(root: &Path, name: &str) -> PathBuf {
        let run = root.join("0123456789abcdef").join(name);
        std::fs::create_dir_all(run.join(".stamina")).unwrap();
        run
    }

    /// A budget that is too small for the simulated model would tell nothing about the harness.
    #[test]
    fn no_budget_of_the_run_bounds_its_smoke_test() {
        let temp = tempfile::tempdir().unwrap();
        let mut given =
            serde_json::to_value(FormSettings { agent: "mock".to_owned(), ..FormSettings::default() })
                .unwrap();
        let budgets: Vec<String> = ["attempt", "episode", "run"]
            .iter()
            .flat_map(|scope| {
                ["tokens", "usd", "minutes"]
                    .map(|measure| format!("{scope}_{measure}").replace("attempt_m", "attempt_wall_m"))
            })
            .collect();
        for budget in &budgets {
            *given.get_mut(budget).unwrap() = serde_json::json!(1.0);
        }
        let filled_form: FormSettings = serde_json::from_value(given).unwrap();
        let made = settings(filled_form, temp.path()).unwrap();
        let made = serde_json::to_value(&made).unwrap();
        for budget in &budgets {
            assert!(made[budget].is_null(), "{budget}");
        }
        assert!(made["output_dir"].as_str().unwrap().starts_with(&temp.path().display().to_string()));
    }

    #[test]
    fn a_smoke_test_of_tasks_plays_two_steps_of_the_first_one_that_can_be_played() {
        let temp = tempfile::tempdir().unwrap();
        let room = temp.path().join("tasks");
        let write_file = |path: &str, text: &str| {
            let path = room.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let steps = "[[steps]]\nname = \"a\"\n[[steps]]\nname = \"b\"\n[[steps]]\nname = \"c\"\n";
        for task in ["one", "two", "three"] {
            write_file(&format!("{task}/task.toml"), steps);
            write_file(&format!("{task}/environment/Dockerfile"), "FROM scratch\n");
            write_file(&format!("{task}/tests/test.sh"), "true");
            for step in ["a", "b", "c"] {
                write_file(&format!("{task}/steps/{step}/instruction.md"), "Do it.");
            }
        }
        // In the order of their names the first one cannot be played.
        write_file("one/environment/docker-compose.yaml", "services: {}\n");
        let filled_form = FormSettings {
            agent: "codex".to_owned(),
            source: FormSource::Tasks,
            tasks: room.display().to_string(),
            protocol: FormProtocol::MtAtK,
            endpoint_mode: crate::api::EndpointMode::Gateway,
            base_url: "https://api.example/v1".to_owned(),
            model: "m".to_owned(),
            output_dir: temp.path().join("r").display().to_string(),
            oracle_seed: "0".to_owned(),
            ..FormSettings::default()
        };
        let made = settings(filled_form, &temp.path().join("smoke-tests")).unwrap();
        assert_eq!(made.execute_episodes, "1");
        let settings = super::super::settings_of(&made).unwrap();
        assert!(settings.is_simulated() && settings.attempt_limit == 1 && !settings.restore_before_try);
        assert_eq!(runner::planned(&settings).unwrap(), [(1, 2)]);
    }

    #[test]
    fn what_a_smoke_test_left_that_was_killed_as_it_began_goes() {
        let temp = tempfile::tempdir().unwrap();
        let begun = run(temp.path(), "begun");
        sweep(temp.path(), Duration::from_hours(1));
        assert!(begun.exists(), "it may have begun a moment ago");
        sweep(temp.path(), Duration::ZERO);
        assert!(!begun.exists());
        assert!(!begun.parent().unwrap().exists(), "nor does the empty folder of its library stay");
    }

    #[test]
    fn what_somebody_plays_stays_whatever_its_record_says() {
        let temp = tempfile::tempdir().unwrap();
        let played = run(temp.path(), "played");
        let lock = std::fs::File::create(played.join(".stamina/lock")).unwrap();
        lock.lock().unwrap();
        sweep(temp.path(), Duration::ZERO);
        assert!(played.exists());
        drop(lock);
        sweep(temp.path(), Duration::ZERO);
        assert!(!played.exists());
    }

    #[test]
    fn a_library_has_the_same_folder_in_every_build() {
        let folder = folder_of_library(Path::new("/data/library.sqlite"));
        assert_eq!(folder.file_name().unwrap(), "05b0032038badf52");
    }
}
