//! The connections of a run to the container engine and the gateway: opened at the start, and again after an outage of the
//! engine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::{Gateway, Retry, Upstream, simulated_model};
use sandbox::{Containers, Engine, GatewayPlace, Local};

use crate::blocking::blocking;
use crate::run_context::{Accounts, Ending, RunConnections, RunContext};
use crate::settings::{EndpointSettings, RunSettings, SettingsError};
use crate::state::RunPaths;
use crate::{RunError, secrets};

/// How long a run waits for an engine that does not answer.
const ENGINE_TIMEOUT: Duration = Duration::from_mins(10);
/// The first and the longest wait between two tries to reach it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Connects to the engine, and removes what killed runs have left there.
pub(crate) async fn swept(settings: &RunSettings, paths: &RunPaths) -> Result<Containers, RunError> {
    let containers = containers(settings).await?;
    if let Containers::Engine(engine) = &containers {
        if let Err(error) = engine.sweep().await {
            // They do not disturb this run; `stamina clean` lists what cannot be removed.
            tracing::warn!(%error, "what crashed runs have left cannot be removed");
        }
    } else {
        let state = paths.stamina_folder().join("state");
        blocking(move || {
            end_orphans(&state);
            Ok(())
        })
        .await?;
    }
    Ok(containers)
}

/// Removes what a run has in the engine, and the socket of its gateway. What cannot be removed is logged, and found later by
/// its labels.
pub(crate) async fn clear(containers: &Containers, run: &str, paths: &RunPaths) {
    if let Err(error) = containers.clear(run).await {
        tracing::warn!("the run's containers could not be cleared: {error}");
    }
    let folder = paths.gateway_folder();
    if let Err(error) = crate::disk::block_briefly(|| crate::copy::remove(&folder)) {
        tracing::warn!("the gateway's socket could not be removed: {error}");
    }
}

/// The earlier spending that a gateway continues.
pub(crate) enum EarlierSpending<'a> {
    /// What earlier parts of the run have spent.
    Spent(&'a Accounts),
    /// The accounts of the gateway that it replaces.
    Gateway(Option<&'a Gateway>),
}

/// Prepares the run's network and starts its gateway; none in direct mode.
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
    let run_settings = settings.clone();
    let gateway = match blocking(move || upstream(&run_settings)).await? {
        None => None,
        Some(upstream) => {
            let hidden = secrets::SecretFilter::new(&secrets::forwarded(settings), settings).hidden_values();
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
                hosted_tools: settings.reach == sandbox::NetworkAccess::Open,
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
                GatewayPlace::Socket { path, container_address } => {
                    (Vec::new(), Some((path, container_address)))
                }
            };
            let mut gateway = match before {
                EarlierSpending::Gateway(Some(old)) => old.successor(&listen, settings).await?,
                _ => Gateway::start(&listen, settings).await?,
            };
            if let Some((path, container_address)) = socket {
                gateway.listen_at(&path, container_address)?;
            }
            Some(gateway)
        }
    };
    Ok(gateway)
}

/// The gateway's route of an API.
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

/// Ends the processes that a killed part of the run left where there are no containers: those in its folders that have the
/// variable `STAMINA`. On a system without `/proc` they exit on their own or stay.
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
    let executable =
        std::env::current_exe().map_err(|error| crate::disk::error_at(&PathBuf::from("stamina"), error))?;
    command_line_of(executable)
}

/// The window cannot start the servers of a run without containers, so it needs the command line beside it. `npm start`
/// builds that only after the window is open.
fn command_line_of(executable: PathBuf) -> Result<PathBuf, RunError> {
    let command_line = executable.with_file_name(format!("stamina{}", std::env::consts::EXE_SUFFIX));
    if command_line.is_file() {
        return Ok(command_line);
    }
    if executable.file_stem().is_some_and(|name| name == "stamina-lab") {
        let reason = "is not there, and a run without containers needs it. `npm start` builds it once the window is open: wait some minutes and try again".to_owned();
        return Err(RunError::Files { path: command_line, reason });
    }
    Ok(executable)
}

/// The target of requests; `None` in direct mode. May wait for a person who unlocks a keychain.
pub(crate) fn upstream(settings: &RunSettings) -> Result<Option<Upstream>, RunError> {
    match &settings.endpoint {
        EndpointSettings::Direct => Ok(None),
        EndpointSettings::Oracle => {
            let model = simulated_model::SimulatedModel::new(settings.oracle.clone());
            Ok(Some(Upstream::Simulated(Arc::new(model))))
        }
        EndpointSettings::Gateway { base_url, key } => Ok(Some(Upstream::Http {
            base_url: base_url.clone(),
            key: gateway::keys::find(key)
                .map_err(|error| SettingsError::new("endpoint.key", error.to_string()))?,
            model: settings.model.clone(),
        })),
    }
}

/// Opens the connections again. Attempts that still finish on the old ones count too, whenever that is.
async fn reconnected(context: &RunContext, old: &RunConnections) -> Result<RunConnections, RunError> {
    let containers = swept(&context.settings, &context.paths).await?;
    let apis = context.harness.apis();
    let before = EarlierSpending::Gateway(old.gateway.as_ref());
    let gateway =
        open(&context.settings, &apis, &context.paths, &context.engine_run, before, &containers).await?;
    Ok(RunConnections { containers, gateway })
}

/// Waits for an engine that does not answer, and opens the connections again. False if it does not come back: then the run
/// ends.
pub(crate) async fn wait(context: &RunContext, old: &Arc<RunConnections>, reason: &str) -> bool {
    let until = Instant::now() + ENGINE_TIMEOUT;
    let mut wait = FIRST_WAIT;
    loop {
        // Other episodes wait too: the first that reaches the engine reconnects for all. Meanwhile the old connections can
        // be read.
        {
            let _one = context.reconnecting.lock().await;
            if !Arc::ptr_eq(&context.connections().await, old) {
                return true;
            }
            match reconnected(context, old).await {
                Ok(new) => {
                    *context.connections.write().await = Arc::new(new);
                    return true;
                }
                Err(error) => tracing::info!("the container engine is still away: {error}"),
            }
        }
        if Instant::now() >= until {
            context.end(Ending::Broken(format!(
                "{reason}; it did not come back within {} minutes",
                ENGINE_TIMEOUT.as_secs() / 60
            )));
            return false;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = context.stop.cancelled() => return false,
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_the_command_line_beside_it_names_the_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let window = folder.path().join(format!("stamina-lab{}", std::env::consts::EXE_SUFFIX));
        let error = command_line_of(window.clone()).unwrap_err();
        assert!(error.to_string().contains("is not there, and a run without containers needs it"), "{error}");
        let line = folder.path().join(format!("stamina{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&line, "").unwrap();
        assert_eq!(command_line_of(window).unwrap(), line);
        // Any other program is the command line itself, or a test in its place.
        std::fs::remove_file(&line).unwrap();
        assert_eq!(command_line_of(line.clone()).unwrap(), line);
    }
}
