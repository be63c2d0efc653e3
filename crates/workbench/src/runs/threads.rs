//! Runs that this process plays, each on a thread of its own.
//!
//! The folder of a run says what it is doing, here as everywhere ([`super::status`]). Kept here is only what the folder cannot
//! tell: that it was begun a moment ago, and why it could not begin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use runner::live::RunState;
use runner::{Event, Finish, OnEvent, RunError};

use super::errors::run_error;
use super::folder::absolute_folder;
use super::runtime::runtime;
use super::smoke_test;
use crate::Workbench;
use crate::api::{ApiError, CheckState, ResumeRun, StartRun, StartedRun};

/// How long a start waits for the first event: an immediate error is reported immediately.
const FIRST_EVENT: Duration = Duration::from_secs(5);
/// How long a resume waits for the thread that played a run which has ended, as its folder tells.
const LETTING_GO: Duration = Duration::from_secs(20);
/// How often, and how long, a folder is offered to the library until it is recognized.
const ADOPTING: (Duration, u32) = (Duration::from_millis(250), 240);

/// A run that was begun by this process.
#[derive(Debug, Clone)]
pub(super) struct OwnRun {
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) simulated: bool,
    pub(super) is_smoke_test: bool,
    pub(super) begun: SystemTime,
    /// Whether its thread is at work.
    pub(super) playing: bool,
    /// Why it could not begin or go on.
    pub(super) error: Option<String>,
}

/// Those of this process, by folder.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    by_folder: Mutex<BTreeMap<PathBuf, OwnRun>>,
    /// Told whenever one of them is played no more.
    released: Condvar,
    /// Where smoke tests of this library lie.
    pub(super) smoke_tests: PathBuf,
    /// What preflight knows of packs.
    pub(super) packs: super::planned_checks::VerifiedPack,
    /// Rows of runs that are over, with a stamp of their folders.
    pub(super) ended: Mutex<BTreeMap<PathBuf, (u64, crate::api::LiveRunRow)>>,
}

impl Runs {
    /// Of a library.
    pub(crate) fn new(db: &Path) -> Self {
        Self { smoke_tests: smoke_test::folder_of_library(db), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, OwnRun>> {
        model::lock(&self.by_folder)
    }

    pub(super) fn all(&self) -> BTreeMap<PathBuf, OwnRun> {
        self.lock().clone()
    }

    /// Whether this process plays a run in a folder or below it.
    pub(crate) fn is_playing_within(&self, folder: &Path) -> bool {
        let playing: Vec<PathBuf> =
            self.lock().iter().filter(|(_, own_run)| own_run.playing).map(|(run, _)| run.clone()).collect();
        // A source lies where its links lead; a run is named as it was asked for.
        playing.iter().any(|run| files::confined_path::resolved(run).starts_with(folder))
    }

    pub(super) fn get(&self, folder: &Path) -> Option<OwnRun> {
        self.lock().get(folder).cloned()
    }

    /// Notes that a run is played no more, and why it could not begin or go on.
    fn note_end(&self, folder: &Path, error: Option<String>) {
        if let Some(own_run) = self.lock().get_mut(folder) {
            (own_run.playing, own_run.error) = (false, error);
        }
        self.released.notify_all();
    }

    /// Waits until this process plays a run no more, at most so long.
    fn wait_until_released(&self, folder: &Path, at_most: Duration) {
        let is_played =
            |runs: &mut BTreeMap<PathBuf, OwnRun>| runs.get(folder).is_some_and(|own_run| own_run.playing);
        // Where it is still played after that time, the next step says so.
        drop(self.released.wait_timeout_while(self.lock(), at_most, is_played));
    }
}

impl Workbench {
    /// Begins a run in the background of this process and opens its folder.
    pub fn start_run(&self, request: StartRun) -> Result<StartedRun, ApiError> {
        let form = if request.is_smoke_test {
            smoke_test::settings(request.settings, &self.runs.smoke_tests)?
        } else {
            request.settings
        };
        let mut settings = super::settings_of(&form)?;
        settings.is_smoke_test = request.is_smoke_test;
        super::prices::priced(&mut settings)?;
        let found = self.run_preflight(&settings, super::EndpointCall::Nothing)?;
        if let Some(check) = found.checks.iter().find(|check| check.state == CheckState::Fail) {
            let mut error = ApiError::new("run.preflight", format!("{}: {}", check.title, check.value))
                .with_path(form.output_dir);
            error.hint.clone_from(&check.sentence);
            return Err(error);
        }
        let own_run = OwnRun {
            agent: settings.agent.clone(),
            model: settings.model.clone(),
            simulated: settings.is_simulated(),
            is_smoke_test: request.is_smoke_test,
            begun: SystemTime::now(),
            playing: true,
            error: None,
        };
        let folder = settings.output_dir.clone();
        self.begin(folder, own_run, move |on_event| Box::pin(runner::run(settings, on_event)))
    }

    /// Continues a run that was stopped or killed, in the background of this process.
    pub fn resume_run(&self, request: ResumeRun) -> Result<StartedRun, ApiError> {
        let folder = absolute_folder(&request.folder)?;
        let known = runner::live::read(&folder).map_err(run_error)?;
        if matches!(known.state, RunState::Ended { .. }) {
            // Its folder tells that a moment before its thread is done.
            self.runs.wait_until_released(&folder, LETTING_GO);
        }
        let (changes, looked_at) = self.admitted(&folder, request.changes, request.trust.as_ref())?;
        let own_run = OwnRun {
            agent: known.agent,
            model: known.model,
            simulated: known.simulated,
            is_smoke_test: known.is_smoke_test,
            begun: SystemTime::now(),
            playing: true,
            error: None,
        };
        let changes = super::prices::priced_changes(&folder, changes)?;
        let run_folder = folder.clone();
        self.begin(folder, own_run, move |on_event| {
            Box::pin(runner::resume(run_folder, changes, looked_at, on_event))
        })
    }

    /// Runs on a thread, and returns when the run has begun or has failed to.
    fn begin(
        &self,
        folder: PathBuf,
        own_run: OwnRun,
        play: impl FnOnce(OnEvent) -> Playing + Send + 'static,
    ) -> Result<StartedRun, ApiError> {
        let runtime = runtime()?;
        {
            let mut runs = self.runs.lock();
            if runs.get(&folder).is_some_and(|own_run| own_run.playing) {
                return Err(ApiError::new("run.running", "This run is being played here already")
                    .with_path(folder.display().to_string()));
            }
            runs.insert(folder.clone(), own_run.clone());
        }
        let (begun, first) = sync_channel::<Option<ApiError>>(1);
        let weak_workbench = self.opened_sources.workbench();
        let results_folder = folder.clone();
        let on_event: OnEvent = {
            let (weak_workbench, results_folder, begun) =
                (weak_workbench.clone(), results_folder.clone(), begun.clone());
            let adopts = !own_run.is_smoke_test;
            Arc::new(move |event| {
                let Some(workbench) = weak_workbench.upgrade() else { return };
                if let Event::Started { record, .. } = event {
                    if let Some(record) = record
                        && let Err(error) = workbench.remember_run(record)
                    {
                        tracing::warn!(%error, "the library does not remember that this run began here: a resume will ask");
                    }
                    drop(begun.try_send(None));
                    if adopts {
                        workbench.adopt_soon(results_folder.clone());
                    }
                }
                workbench.changes.add([], []);
            })
        };
        let spawned = std::thread::Builder::new().name("run".to_owned()).spawn(move || {
            let played =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(play(on_event))));
            let error = match played {
                Ok(Ok(finish)) => {
                    if let Finish::Failed { message } = &finish {
                        tracing::warn!(%message, "the run failed");
                    }
                    None
                }
                Ok(Err(error)) => Some(run_error(error)),
                Err(_) => Some(ApiError::new("run.panicked", "It failed inside; the log says where")),
            };
            if let Some(workbench) = weak_workbench.upgrade() {
                let words = error.as_ref().map(|error| match &error.hint {
                    Some(hint) => format!("{}. {hint}", error.message),
                    None => error.message.clone(),
                });
                workbench.runs.note_end(&results_folder, words);
                workbench.changes.add([], []);
            }
            ended(&begun, error);
        });
        if let Err(error) = spawned {
            self.runs.lock().remove(&folder);
            return Err(ApiError::new("run.thread", format!("No thread can be started: {error}")));
        }
        let path = folder.display().to_string();
        match first.recv_timeout(FIRST_EVENT) {
            Ok(Some(error)) => {
                self.runs.lock().remove(&folder);
                Err(error)
            }
            // Preparing it takes longer, or it has begun.
            Ok(None) | Err(_) => Ok(StartedRun { folder: path }),
        }
    }

    /// Opens a results folder as soon as it is recognized, on a thread of its own.
    fn adopt_soon(&self, folder: PathBuf) {
        let weak_workbench = self.opened_sources.workbench();
        let spawned = std::thread::Builder::new().name("adopt".to_owned()).spawn(move || {
            for _ in 0..ADOPTING.1 {
                let Some(workbench) = weak_workbench.upgrade() else { return };
                match workbench.adopt(&folder) {
                    Ok(source) => {
                        workbench.opened_sources.read(source);
                        return;
                    }
                    Err(error) => tracing::debug!(%error, "the folder of the run is not recognized yet"),
                }
                drop(workbench);
                std::thread::sleep(ADOPTING.0);
            }
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "the folder of the run was not opened");
        }
    }

    /// Puts the results folder of a run into the library, unless it lies in a source already. Gives the source.
    pub fn adopt(&self, folder: &Path) -> Result<i64, ApiError> {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let around = self
            .store
            .sources()?
            .into_iter()
            .filter(|source| !source.zip)
            .find(|source| real != Path::new(&source.path) && real.starts_with(&source.path));
        match around {
            Some(source) => Ok(source.id),
            None => self.register(folder),
        }
    }
}

/// A run being played.
type Playing = std::pin::Pin<Box<dyn Future<Output = Result<Finish, RunError>>>>;

fn ended(begun: &SyncSender<Option<ApiError>>, error: Option<ApiError>) {
    // Whoever waited for the beginning may have gone long ago.
    drop(begun.try_send(error));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_resumes_a_run_waits_for_the_thread_that_played_it() {
        let folder = Path::new("/results");
        let own_run = OwnRun {
            agent: "mock".to_owned(),
            model: None,
            simulated: true,
            is_smoke_test: false,
            begun: SystemTime::now(),
            playing: true,
            error: None,
        };
        let runs = Runs::default();
        runs.lock().insert(folder.to_owned(), own_run);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                runs.note_end(folder, Some("why".to_owned()));
            });
            runs.wait_until_released(folder, Duration::from_mins(2));
        });
        let known = runs.get(folder).map(|own_run| (own_run.playing, own_run.error));
        assert_eq!(known, Some((false, Some("why".to_owned()))));
        // One that goes on is not waited for without an end.
        runs.lock().entry(folder.to_owned()).and_modify(|own_run| own_run.playing = true);
        runs.wait_until_released(folder, Duration::from_millis(10));
        assert!(runs.is_playing_within(folder));
    }
}
