//! The way to the containers and to the model: made at the start, and made anew when the engine has been away.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::{Gateway, Retry, Upstream, oracle};
use sandbox::{Containers, Engine, GatewayPlace, Local};

use crate::run_context::{Accounts, Ending, RunConnections, RunContext};
use crate::settings::{EndpointSettings, RunSettings, SettingsError};
use crate::state::RunPaths;
use crate::{RunError, secrets};

/// How long an engine that is gone is waited for.
const PATIENCE: Duration = Duration::from_mins(10);
/// Between two looks for it, at first and at most.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LONGEST_LOOK: Duration = Duration::from_secs(20);

/// Connects to the engine, and takes away what dead runs have left there.
pub(crate) async fn swept(settings: &RunSettings, paths: &RunPaths) -> Result<Containers, RunError> {
    let containers = containers(settings).await?;
    if let Containers::Engine(engine) = &containers {
        // What crashed runs have left.
        if let Err(error) = engine.sweep().await {
            // They are in nobody's way; `stamina clean` says what cannot be removed.
            tracing::warn!(%error, "what crashed runs have left cannot be removed");
        }
    } else {
        let state = paths.own().join("state");
        crate::agent::blocking(move || {
            end_orphans(&state);
            Ok(())
        })
        .await?;
    }
    Ok(containers)
}

/// Takes away what a run has in the engine, and where its gateway listened. What cannot be taken away is said, and found again
/// by its labels.
pub(crate) async fn clear(containers: &Containers, run: &str, paths: &RunPaths) {
    if let Err(error) = containers.clear(run).await {
        tracing::warn!("the run's containers could not be cleared: {error}");
    }
    let folder = paths.gateway_folder();
    if let Err(error) = crate::disk::briefly(|| crate::copy::remove(&folder)) {
        tracing::warn!("the gateway's socket could not be removed: {error}");
    }
}

/// What a gateway continues with.
pub(crate) enum EarlierSpending<'a> {
    /// What earlier parts of the run have spent.
    Spent(&'a Accounts),
    /// The accounts of the gateway whose place it takes.
    Gateway(Option<&'a Gateway>),
}

/// Makes the run's way to the gateway and starts that; none in direct mode.
pub(crate) async fn open(
    settings: &RunSettings,
    apis: &[harness::Api],
    paths: &RunPaths,
    run: &str,
    before: EarlierSpending<'_>,
    containers: &Containers,
) -> Result<Option<Gateway>, RunError> {
    let gateway_place = containers.prepare(run, settings.reach, &paths.gateway_folder()).await?;
    match containers.guard(run).await {
        Ok(true) => tracing::debug!("servers in containers reach nothing of this machine"),
        // Preflight names the services that can be reached.
        Ok(false) => {}
        Err(error) => tracing::warn!(
            "services of this machine that listen on all addresses can be reached from the containers of servers: {error}"
        ),
    }
    let asked = settings.clone();
    let gateway = match crate::agent::blocking(move || upstream(&asked)).await? {
        None => None,
        Some(upstream) => {
            let hidden = secrets::Scrub::of(&secrets::forwarded(settings), settings).hidden();
            let (spent, episodes, is_run_answered) = match before {
                EarlierSpending::Spent(accounts) => {
                    (accounts.run, accounts.episodes.clone(), accounts.is_answered)
                }
                EarlierSpending::Gateway(old) => {
                    let is_answered = old.and_then(Gateway::is_run_answered) == Some(true);
                    (gateway::Spent::default(), std::collections::BTreeMap::new(), is_answered)
                }
            };
            let settings = gateway::Settings {
                upstream,
                routes: apis.iter().copied().map(route).collect(),
                hosted_tools: settings.reach == sandbox::Reach::Open,
                price: settings.price,
                budgets: settings.budgets,
                retry: Retry::default(),
                spent,
                episodes,
                is_run_answered,
                hidden,
                log: Some(paths.gateway_log()),
            };
            let (listen, socket) = match gateway_place {
                GatewayPlace::Address(host) => (vec![SocketAddr::new(host, 0)], None),
                GatewayPlace::Socket { path, seen } => (Vec::new(), Some((path, seen))),
            };
            let mut gateway = match before {
                EarlierSpending::Gateway(Some(old)) => old.successor(&listen, settings).await?,
                _ => Gateway::start(&listen, settings).await?,
            };
            if let Some((path, seen)) = socket {
                gateway.listen_at(&path, seen)?;
            }
            Some(gateway)
        }
    };
    Ok(gateway)
}

/// The gateway's word for an API.
pub(crate) fn route(api: harness::Api) -> gateway::Route {
    match api {
        harness::Api::ChatCompletions => gateway::Route::ChatCompletions,
        harness::Api::Responses => gateway::Route::Responses,
        harness::Api::Messages => gateway::Route::Messages,
    }
}

/// Where containers run.
pub(crate) async fn containers(settings: &RunSettings) -> Result<Containers, RunError> {
    if settings.use_docker {
        return Ok(Containers::Engine(Engine::connect_to_play().await?));
    }
    Ok(Containers::Local(Local::new(program()?)))
}

/// Ends what a killed part of the run has left where there are no containers: processes in its folders that were given
/// `$STAMINA`. Where the system has no `/proc` they end by themselves or stay.
fn end_orphans(state: &std::path::Path) {
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for entry in processes.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let inside = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(state));
        let given = || {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"STAMINA="))
        };
        if inside
            && given()
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// The command line of Stamina Lab: this program, or the one beside it; `STAMINA_BIN` names another.
fn program() -> Result<PathBuf, RunError> {
    if let Some(named) = std::env::var_os("STAMINA_BIN") {
        return Ok(PathBuf::from(named));
    }
    let this = std::env::current_exe().map_err(|error| crate::disk::at(&PathBuf::from("stamina"), error))?;
    beside(this)
}

/// The window cannot serve what a run without containers starts, so it needs the command line beside it. `npm start` builds
/// that only after the window is open.
fn beside(this: PathBuf) -> Result<PathBuf, RunError> {
    let beside = this.with_file_name(format!("stamina{}", std::env::consts::EXE_SUFFIX));
    if beside.is_file() {
        return Ok(beside);
    }
    if this.file_stem().is_some_and(|name| name == "stamina-lab") {
        let why = "is not there, and a run without containers needs it. `npm start` builds it once the window is open: wait some minutes and try again".to_owned();
        return Err(RunError::Files { path: beside, why });
    }
    Ok(this)
}

/// Where requests go; nothing in direct mode. May wait for a person who unlocks a keychain.
pub(crate) fn upstream(settings: &RunSettings) -> Result<Option<Upstream>, RunError> {
    match &settings.endpoint {
        EndpointSettings::Direct => Ok(None),
        EndpointSettings::Oracle => {
            let oracle = oracle::Oracle::new(settings.oracle.clone());
            Ok(Some(Upstream::Oracle(Arc::new(oracle))))
        }
        EndpointSettings::Gateway { base_url, key } => Ok(Some(Upstream::Http {
            base_url: base_url.clone(),
            key: gateway::keys::find(key)
                .map_err(|error| SettingsError::of("endpoint.key", error.to_string()))?,
            model: settings.model.clone(),
        })),
    }
}

/// The way once more. What attempts come to that still end on the old one counts on, whenever that is.
async fn anew(context: &RunContext, old: &RunConnections) -> Result<RunConnections, RunError> {
    let containers = swept(&context.settings, &context.paths).await?;
    let apis = context.harness.apis();
    let before = EarlierSpending::Gateway(old.gateway.as_ref());
    let gateway = open(&context.settings, &apis, &context.paths, &context.id, before, &containers).await?;
    Ok(RunConnections { containers, gateway })
}

/// Waits for an engine that is gone, and makes the way anew. False where it does not come back: then the run ends.
pub(crate) async fn wait(context: &RunContext, old: &Arc<RunConnections>, why: &str) -> bool {
    let until = Instant::now() + PATIENCE;
    let mut look = FIRST_LOOK;
    loop {
        // Others wait as well: the first to find it again makes the way for all. Meanwhile the old one can be read.
        {
            let _one = context.mending.lock().await;
            if !Arc::ptr_eq(&context.connections().await, old) {
                return true;
            }
            match anew(context, old).await {
                Ok(new) => {
                    *context.connections.write().await = Arc::new(new);
                    return true;
                }
                Err(error) => tracing::info!("the container engine is still away: {error}"),
            }
        }
        if Instant::now() >= until {
            context.end(Ending::Broken(format!(
                "{why}; it did not come back within {} minutes",
                PATIENCE.as_secs() / 60
            )));
            return false;
        }
        tokio::select! {
            () = tokio::time::sleep(look) => {}
            () = context.stop.cancelled() => return false,
        }
        look = (look * 2).min(LONGEST_LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_the_command_line_beside_it_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let window = folder.path().join(format!("stamina-lab{}", std::env::consts::EXE_SUFFIX));
        let error = beside(window.clone()).unwrap_err();
        assert!(error.to_string().contains("is not there, and a run without containers needs it"), "{error}");
        let line = folder.path().join(format!("stamina{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&line, "").unwrap();
        assert_eq!(beside(window).unwrap(), line);
        // Any other program is the command line itself, or a test that plays it.
        std::fs::remove_file(&line).unwrap();
        assert_eq!(beside(line.clone()).unwrap(), line);
    }
}
