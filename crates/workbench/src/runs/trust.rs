//! Whose run a folder holds, and what a run of somebody else gets of this machine.
//!
//! A resume does what the record in the folder says: it asks an endpoint with a key, starts an image with folders of this
//! machine bound into it. So a run that this library did not begin on this machine is a stranger's. It is resumed only after
//! a person has seen what it would do ([`RunTrust`]), and then with the endpoint and the key of this machine, unless those of
//! the folder are chosen, one by one.

mod loaded_settings;
mod tasks;
#[cfg(test)]
mod tests;

use std::path::Path;

use model::plain_line;
use runner::origin::{self, Identity, Record};
use runner::settings::{EndpointSettings, KeySource, RunSettings};
use serde::{Deserialize, Serialize};

use self::tasks::TaskImageList;
use super::errors::run_error;
use super::trust_rows::Amount;
use crate::Workbench;
use crate::api::{ApiError, LocalEndpoint, RunFolder, RunTrust, TrustRun};

/// An endpoint with its key, as the library remembers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Endpoint {
    base_url: String,
    key: KeySource,
}

impl Endpoint {
    fn from_settings(settings: &RunSettings) -> Option<Self> {
        match &settings.endpoint {
            EndpointSettings::Gateway { base_url, key } => {
                Some(Self { base_url: base_url.clone(), key: key.clone() })
            }
            EndpointSettings::Direct | EndpointSettings::Oracle => None,
        }
    }

    /// As `key=value`s of a configuration; a key that is not given is taken back.
    fn key_changes(key: &KeySource) -> [String; 2] {
        let (env, name) = match key {
            KeySource::None => ("", ""),
            KeySource::Env(env) => (env.as_str(), ""),
            KeySource::Keychain(name) => ("", name.as_str()),
        };
        [format!("endpoint.key_env={env}"), format!("endpoint.key_name={name}")]
    }
}

/// Where a key is, in words; never the key.
fn key_in_words(key: &KeySource) -> Option<String> {
    match key {
        KeySource::None => None,
        KeySource::Env(name) => Some(format!("the environment variable {name}")),
        KeySource::Keychain(name) => Some(format!("the keychain entry {name}")),
    }
}

impl Workbench {
    /// Whether the run in a folder was begun by this library on this machine, and what a resume of it would do.
    pub fn run_trust(&self, request: RunFolder) -> Result<RunTrust, ApiError> {
        self.trust_of(&super::folder::absolute_folder(&request.folder)?)
    }

    /// As [`Workbench::run_trust`], by its folder.
    pub fn trust_of(&self, folder: &Path) -> Result<RunTrust, ApiError> {
        let record = resumable(folder)?;
        let trusted = self.store.began_here(&record.identity.run, &record.identity.digest)?;
        Ok(described(folder, record, trusted, self.endpoints_here()?.first()))
    }

    /// Remembers a run that was begun or resumed here.
    pub fn remember_run(&self, record: &Record) -> Result<(), ApiError> {
        let Record { identity, settings, .. } = record;
        let endpoint =
            Endpoint::from_settings(settings).and_then(|endpoint| serde_json::to_string(&endpoint).ok());
        Ok(self.store.remember_run(&identity.run, &identity.digest, endpoint.as_deref())?)
    }

    /// What a resume changes and of which run, once it is one that may be resumed: begun here, or trusted by a person who has
    /// seen what it would do.
    pub fn admitted(
        &self,
        folder: &Path,
        changes: Vec<String>,
        trust: Option<&TrustRun>,
    ) -> Result<(Vec<String>, Identity), ApiError> {
        let Record { identity, settings, scenarios, .. } = resumable(folder)?;
        if self.store.began_here(&identity.run, &identity.digest)? {
            return Ok((changes, identity));
        }
        let Some(trust) = trust else { return Err(untrusted_error(folder)) };
        // The recipes lie beside the record: they may be others by now than those that were shown.
        if trust.digest != TaskImageList::new(&settings, &scenarios).digest_with(&identity) {
            return Err(run_error(runner::RunError::Changed { path: folder.to_owned() }));
        }
        let changes = with_local_settings(&settings, changes, trust, self.endpoints_here()?.first())?;
        // What is chosen of one folder is not this machine's for the next one.
        if trust.keep_endpoint || trust.keep_key {
            self.store.keep_endpoint_apart(&identity.run)?;
        }
        Ok((changes, identity))
    }

    fn endpoints_here(&self) -> Result<Vec<Endpoint>, ApiError> {
        let kept = self.store.endpoints()?;
        Ok(kept.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }
}

fn untrusted_error(folder: &Path) -> ApiError {
    ApiError::new("run.stranger", "This run was not begun by this library on this machine")
        .with_path(folder.display().to_string())
        .hint(
            "Its folder decides what a resume does. Look at what it would do, then resume it with --trust, or with Trust and \
             resume in the app",
        )
}

/// The record of the run in a folder, if its binds do not hand over the machine.
fn resumable(folder: &Path) -> Result<Record, ApiError> {
    let record = origin::record(folder).map_err(run_error)?;
    super::binds::resumable(folder, &record.settings)?;
    Ok(record)
}

/// What a resume of the run would do. Whoever made the folder wrote these texts: none may look like another row.
fn described(folder: &Path, record: Record, trusted: bool, local_endpoint: Option<&Endpoint>) -> RunTrust {
    let Record { identity, settings, harness, image, scenarios, turns } = record;
    let tasks = TaskImageList::new(&settings, &scenarios);
    let amount = Amount { episodes: scenarios.len() as u64, turns };
    let (mode, endpoint, key) = match &settings.endpoint {
        EndpointSettings::Gateway { base_url, key } => ("gateway", Some(base_url.clone()), key_in_words(key)),
        EndpointSettings::Direct => (
            "direct",
            None,
            Some("the AWS credentials of this machine, which go into the container".to_owned()),
        ),
        EndpointSettings::Oracle => ("simulated", None, None),
    };
    let lines = |texts: Vec<String>| texts.iter().map(|text| plain_line(text)).collect::<Vec<_>>();
    let (set, variables) = settings.env_vars.iter().cloned().partition(|entry| entry.contains('='));
    let folder = files::confined_path::resolved(folder);
    let private = folder.join(".stamina");
    // A folder that containers get is written to as well, unless it is bound to be read only.
    let bound = settings.extra.binds.iter().filter(|bind| !bind.ends_with(":ro"));
    let writes = bound.filter_map(|bind| bind.split(':').next()).map(super::binds::end_of);
    let mut run = RunTrust {
        trusted,
        digest: tasks.digest_with(&identity),
        mode: mode.to_owned(),
        endpoint: endpoint.as_deref().map(plain_line),
        key: key.as_deref().map(plain_line),
        model: settings.model.as_deref().map(plain_line),
        budget: super::trust_rows::budget_in_words(&settings),
        harness: plain_line(&harness),
        harness_file: settings
            .harness_file
            .as_ref()
            .map(|_| private.join("harness.toml").display().to_string()),
        image: settings.use_docker.then(|| plain_line(&image)),
        binds: lines(settings.extra.binds.iter().map(|bind| super::binds::with_its_end(bind)).collect()),
        arguments: plain_line(&settings.extra_arguments()),
        variables: lines(variables),
        variables_set: lines(set),
        network: match settings.reach {
            sandbox::NetworkAccess::Gateway => "gateway",
            sandbox::NetworkAccess::Open => "open",
        }
        .to_owned(),
        host_processes: !settings.use_docker,
        limits: super::trust_rows::limits_in_words(&settings),
        scenarios: match (&settings.scenarios_dir, &settings.tasks) {
            (Some(pack), _) => Some(plain_line(&pack.display().to_string())),
            (None, Some(tasks)) => Some(plain_line(&format!(
                "{}, whose images are built with the network of the engine",
                tasks.folder.display()
            ))),
            (None, None) => None,
        },
        plays: super::trust_rows::amount_in_words(&settings, &amount),
        task_images: tasks.images,
        task_images_more: tasks.more,
        tasks_unreadable: tasks.unreadable,
        writes: lines(std::iter::once(folder.display().to_string()).chain(writes).collect()),
        here: local_endpoint.map(|endpoint| LocalEndpoint {
            base_url: endpoint.base_url.clone(),
            key: key_in_words(&endpoint.key),
        }),
        rows: Vec::new(),
    };
    run.rows = super::trust_rows::rows(&run);
    run
}

/// The changes of a resume, with the endpoint, the key and the variables of this machine in the place of the folder's.
fn with_local_settings(
    settings: &RunSettings,
    mut changes: Vec<String>,
    trust: &TrustRun,
    local_endpoint: Option<&Endpoint>,
) -> Result<Vec<String>, ApiError> {
    let given = |keys: &[&str]| {
        changes.iter().any(|change| {
            let key = change.split('=').next().unwrap_or_default().trim();
            keys.contains(&key)
        })
    };
    let (endpoint_given, key_given) =
        (given(&["endpoint.base_url"]), given(&["endpoint.key_env", "endpoint.key_name"]));
    let variables_given = given(&["docker.env_vars"]);
    let choose = |subject: &str, reason: &str| {
        ApiError::new("run.choose", format!("The {subject} of this run is to be chosen: {reason}"))
    };
    match &settings.endpoint {
        EndpointSettings::Gateway { .. } => {
            if !endpoint_given && !trust.keep_endpoint {
                let local_endpoint = local_endpoint.ok_or_else(|| {
                    choose("endpoint", "no run was begun with one here yet")
                        .hint("Give --values endpoint.base_url=…, or keep the folder's with --keep endpoint")
                })?;
                changes.push(format!("endpoint.base_url={}", local_endpoint.base_url));
                if !key_given && !trust.keep_key {
                    changes.extend(Endpoint::key_changes(&local_endpoint.key));
                }
            } else if !key_given && !trust.keep_key {
                changes.extend(Endpoint::key_changes(&KeySource::None));
            }
        }
        EndpointSettings::Direct if !trust.keep_key => {
            return Err(choose(
                "key",
                "in direct mode the credentials of this machine go into the container",
            )
            .hint("Hand them over with --keep key, or begin a new run"));
        }
        EndpointSettings::Direct | EndpointSettings::Oracle => {}
    }
    let names_variables = settings.env_vars.iter().any(|entry| !entry.contains('='));
    if names_variables && !variables_given && !trust.keep_variables {
        let kept: Vec<&str> =
            settings.env_vars.iter().map(String::as_str).filter(|entry| entry.contains('=')).collect();
        // Each in quotes: a value may hold commas.
        changes.push(format!("docker.env_vars={}", serde_json::json!(kept)));
    }
    Ok(changes)
}
