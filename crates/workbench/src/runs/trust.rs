//! Whose run a folder holds, and what a run of somebody else gets of this machine.
//!
//! A resume does what the record in the folder says: it asks an endpoint with a key, starts an image with folders of this
//! machine bound into it. So a run that this library did not begin on this machine is a stranger's. It is resumed only after
//! a person has seen what it would do ([`RunTrust`]), and then with the endpoint and the key of this machine, unless those of
//! the folder are chosen, one by one.

mod loaded;
mod tasks;

use std::path::Path;

use model::plain_line;
use runner::origin::{self, Identity, Record};
use runner::settings::{EndpointSettings, KeySource, RunSettings};
use serde::{Deserialize, Serialize};

use self::tasks::TasksShown;
use super::run_error;
use super::trust_rows::Amount;
use crate::Workbench;
use crate::api::{ApiError, EndpointHere, RunFolder, RunTrust, TrustRun};

/// An endpoint with its key, as the library remembers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Endpoint {
    base_url: String,
    key: KeySource,
}

impl Endpoint {
    fn of_settings(settings: &RunSettings) -> Option<Self> {
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
        self.trust_of(&super::status::folder_of(&request.folder)?)
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
            Endpoint::of_settings(settings).and_then(|endpoint| serde_json::to_string(&endpoint).ok());
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
        let Some(trust) = trust else { return Err(stranger(folder)) };
        // The recipes lie beside the record: they may be others by now than those that were shown.
        if trust.digest != TasksShown::new(&settings, &scenarios).digest_with(&identity) {
            return Err(run_error(runner::RunError::Changed { path: folder.to_owned() }));
        }
        let changes = with_what_is_ours(&settings, changes, trust, self.endpoints_here()?.first())?;
        Ok((changes, identity))
    }

    fn endpoints_here(&self) -> Result<Vec<Endpoint>, ApiError> {
        let kept = self.store.endpoints()?;
        Ok(kept.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }
}

fn stranger(folder: &Path) -> ApiError {
    ApiError::new("run.stranger", "This run was not begun by this library on this machine")
        .at(folder.display().to_string())
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
fn described(folder: &Path, record: Record, trusted: bool, here: Option<&Endpoint>) -> RunTrust {
    let Record { identity, settings, harness, image, scenarios, turns } = record;
    let tasks = TasksShown::new(&settings, &scenarios);
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
    let folder = files::beneath::resolved(folder);
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
            sandbox::Reach::Gateway => "gateway",
            sandbox::Reach::Open => "open",
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
        here: here.map(|endpoint| EndpointHere {
            base_url: endpoint.base_url.clone(),
            key: key_in_words(&endpoint.key),
        }),
        rows: Vec::new(),
    };
    run.rows = super::trust_rows::rows(&run);
    run
}

/// The changes of a resume, with the endpoint, the key and the variables of this machine in the place of the folder's.
fn with_what_is_ours(
    settings: &RunSettings,
    mut changes: Vec<String>,
    trust: &TrustRun,
    here: Option<&Endpoint>,
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
    let choose = |what: &str, how: &str| {
        ApiError::new("run.choose", format!("The {what} of this run is to be chosen: {how}"))
    };
    match &settings.endpoint {
        EndpointSettings::Gateway { .. } => {
            if !endpoint_given && !trust.keep_endpoint {
                let here = here.ok_or_else(|| {
                    choose("endpoint", "no run was begun with one here yet")
                        .hint("Give --values endpoint.base_url=…, or keep the folder's with --keep endpoint")
                })?;
                changes.push(format!("endpoint.base_url={}", here.base_url));
                if !key_given && !trust.keep_key {
                    changes.extend(Endpoint::key_changes(&here.key));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &[&str]) -> RunSettings {
        let values = ["agent=CODEX", "codex.model_id=acme/new", "output_dir=/nowhere/run"];
        let values: Vec<String> = values.iter().chain(more).map(|&text| text.to_owned()).collect();
        runner::settings::resolve(&[], &values).unwrap()
    }

    fn here() -> Endpoint {
        Endpoint { base_url: "https://ours.example".to_owned(), key: KeySource::Env("OUR_KEY".to_owned()) }
    }

    const THEIRS: [&str; 2] = ["endpoint.base_url=https://theirs.example", "endpoint.key_env=HOME_KEY"];

    #[test]
    // docs/security.md: A resume
    fn endpoint_and_key_are_ours_unless_the_folders_are_chosen() {
        let theirs = settings(&THEIRS);
        let changed = |trust: TrustRun, changes: &[&str]| {
            let changes = changes.iter().map(|&text| text.to_owned()).collect();
            with_what_is_ours(&theirs, changes, &trust, Some(&here())).unwrap()
        };
        let ours =
            ["endpoint.base_url=https://ours.example", "endpoint.key_env=OUR_KEY", "endpoint.key_name="];
        assert_eq!(changed(TrustRun::default(), &[]), ours);
        let keep_endpoint = || TrustRun { keep_endpoint: true, ..TrustRun::default() };
        assert_eq!(changed(keep_endpoint(), &[]), ["endpoint.key_env=", "endpoint.key_name="]);
        assert_eq!(changed(TrustRun { keep_key: true, ..keep_endpoint() }, &[]), [""; 0]);
        let chosen = ["endpoint.base_url=http://127.0.0.1:9", "endpoint.key_env=MINE"];
        assert_eq!(changed(TrustRun::default(), &chosen), chosen);
        // An address of one's own never gets the key that the folder names.
        assert_eq!(
            changed(TrustRun::default(), &chosen[..1]),
            ["endpoint.base_url=http://127.0.0.1:9", "endpoint.key_env=", "endpoint.key_name="]
        );
        let refused = with_what_is_ours(&theirs, Vec::new(), &TrustRun::default(), None).unwrap_err();
        assert_eq!(refused.code, "run.choose");
    }

    #[test]
    // docs/security.md: A resume
    fn credentials_and_variables_are_handed_over_only_where_they_are_chosen() {
        let direct = settings(&["endpoint.mode=direct", "docker.env_vars=[HOME,A=b]"]);
        let refused = with_what_is_ours(&direct, Vec::new(), &TrustRun::default(), None).unwrap_err();
        assert_eq!(refused.code, "run.choose");
        let keep_key = TrustRun { keep_key: true, ..TrustRun::default() };
        assert_eq!(
            with_what_is_ours(&direct, Vec::new(), &keep_key, None).unwrap(),
            ["docker.env_vars=[\"A=b\"]"]
        );
        let keep_all = TrustRun { keep_variables: true, ..keep_key };
        assert!(with_what_is_ours(&direct, Vec::new(), &keep_all, None).unwrap().is_empty());
    }

    const TO_THEIRS: &[&str] = &[
        "agent=CODEX",
        "codex.model_id=acme/new",
        "endpoint.base_url=https://theirs.example",
        "endpoint.key_env=HOME_KEY",
        "limits.run.usd=5",
        "output_dir=/nowhere/run",
    ];
    const WITH_PRICES: &[&str] =
        &["endpoint.price.input=1", "endpoint.price.output=2", "limits.run.usd=5", "agent=CODEX"];
    const TASKS: &[&str] = &["agent=NOP", "benchmark=HARBOR", "tasks=/nowhere/tasks", "use_docker=true"];

    /// The row that shows a setting, and a configuration with what makes it say something else.
    const SHOWN: &[(&str, &str, &[&str], &[&str])] = &[
        ("agent", "Harness", TO_THEIRS, &["agent=OPENCODE", "opencode.model_id=acme/new"]),
        (
            "harness_file",
            "Harness",
            TO_THEIRS,
            &["agent=CUSTOM", "custom.model_id=a", "harness_file=/h.toml"],
        ),
        ("image", "Image", TO_THEIRS, &["docker.image_name=example/other:1"]),
        (
            "endpoint_mode",
            "Endpoint",
            &["endpoint.mode=direct"],
            &["endpoint.mode=gateway", "endpoint.base_url=http://x"],
        ),
        ("base_url", "Endpoint", TO_THEIRS, &["endpoint.base_url=https://another.example"]),
        ("model", "Model", TO_THEIRS, &["codex.model_id=acme/other"]),
        ("key_name", "Key", TO_THEIRS, &["endpoint.key_env=OTHER_KEY"]),
        ("price_input", "Budget", WITH_PRICES, &["endpoint.price.input=0"]),
        ("price_output", "Budget", WITH_PRICES, &["endpoint.price.output=0"]),
        ("price_cached", "Budget", WITH_PRICES, &["endpoint.price.cached=0"]),
        ("price_cache_write", "Budget", WITH_PRICES, &["endpoint.price.cache_write=0"]),
        ("price_per_hour", "Budget", TO_THEIRS, &["endpoint.price.per_hour=0.01"]),
        ("source", "Scenarios", &["agent=CODEX"], &["benchmark=HARBOR", "tasks=/nowhere/tasks"]),
        ("tasks", "Scenarios", TASKS, &["tasks=/nowhere/others"]),
        ("protocol", "Plays", TASKS, &["harbor.protocol=mt_at_k"]),
        ("scenarios_dir", "Scenarios", TO_THEIRS, &["scenarios_dir=/nowhere/pack"]),
        ("n_scenarios", "Plays", TO_THEIRS, &["restful_server_gen_iterative.n_scenarios=900"]),
        ("n_turns", "Plays", TO_THEIRS, &["restful_server_gen_iterative.n_turns=900"]),
        (
            "execute_episodes",
            "Plays",
            TO_THEIRS,
            &["restful_server_gen_iterative.execute_episodes=[1,3,5,7,9,11,13]"],
        ),
        ("quick_debug", "Plays", TO_THEIRS, &["quick_debug=true"]),
        ("attempt_limit", "Plays", TO_THEIRS, &["restful_server_gen_iterative.attempt_limit=900"]),
        ("batch_size", "Plays", TO_THEIRS, &["batch_size=900"]),
        ("restore_before_try", "Plays", TASKS, &["restore_before_try=true"]),
        ("task_snapshots", "Plays", TASKS, &["harbor.snapshots=each_step"]),
        ("use_docker", "Processes here", &["agent=MOCK", "use_docker=true"], &["use_docker=false"]),
        ("attempt_minutes", "Limits", TO_THEIRS, &["limits.attempt_minutes=90000"]),
        ("cpus", "Limits", TO_THEIRS, &["limits.cpus=900"]),
        ("memory_gib", "Limits", TO_THEIRS, &["limits.memory_gib=900"]),
        ("disk_gib", "Limits", TO_THEIRS, &["limits.disk_gib=900"]),
        ("pids", "Limits", TO_THEIRS, &["limits.pids=900000"]),
        ("network", "Network", TO_THEIRS, &["limits.network=open"]),
        ("attempt_tokens", "Budget", TO_THEIRS, &["limits.attempt.tokens=9"]),
        ("attempt_usd", "Budget", TO_THEIRS, &["limits.attempt.usd=9"]),
        ("attempt_wall_minutes", "Budget", TO_THEIRS, &["limits.attempt.minutes=9"]),
        ("episode_tokens", "Budget", TO_THEIRS, &["limits.episode.tokens=9"]),
        ("episode_usd", "Budget", TO_THEIRS, &["limits.episode.usd=9"]),
        ("episode_minutes", "Budget", TO_THEIRS, &["limits.episode.minutes=9"]),
        ("run_tokens", "Budget", TO_THEIRS, &["limits.run.tokens=9"]),
        ("run_usd", "Budget", TO_THEIRS, &["limits.run.usd=9"]),
        ("run_minutes", "Budget", TO_THEIRS, &["limits.run.minutes=9"]),
        ("output_dir", "Writes in", TO_THEIRS, &["output_dir=/nowhere/else"]),
        ("env_vars", "Variables set", TO_THEIRS, &["docker.env_vars=[A=b]"]),
        (
            "extra_docker_args",
            "Bound folders",
            TO_THEIRS,
            &["docker.extra_docker_args=-v /opt/data:/data:ro"],
        ),
    ];

    /// Settings that reach nothing of this machine, beyond what rows say, with why.
    const NOT_SHOWN: &[(&str, &[&str])] = &[
        ("a number that the harness gets", &["context_window"]),
        (
            "what feedback an agent gets and how a turn is graded, within attempts, budgets and limits",
            &["feedback", "fail_stop", "task_timeout", "task_background", "task_session"],
        ),
        ("which scenarios were generated", &["base_seed", "num_changes_per_turn"]),
        (
            "what samples scenarios before a run begins; a resume samples none",
            &[
                "use_llm_sampler",
                "llm_sampler_model_id",
                "sampler_base_url",
                "sampler_key_variable",
                "sampler_region",
                "sampler_endpoint_url",
                "sampler_seconds",
                "sampler_calls",
            ],
        ),
        ("what is kept in the folder of the run", &["tags", "keep_snapshots"]),
        (
            "what the simulated model does, which is part of this program",
            &[
                "oracle_seed",
                "oracle_defect_rate",
                "oracle_most_defects",
                "oracle_repair",
                "oracle_carries_over",
                "oracle_stack",
                "oracle_stall",
                "oracle_overflow",
                "oracle_malformed",
                "oracle_kill",
                "oracle_give_up",
            ],
        ),
    ];

    /// What the rows of a name say of a run with these settings; of two for one key the later one holds.
    fn values_of(name: &str, base: &[&str], changes: &[&str]) -> Vec<String> {
        let key = |value: &str| value.split('=').next().unwrap_or_default().to_owned();
        let changed: Vec<String> = changes.iter().map(|change| key(change)).collect();
        let mut values: Vec<String> = base
            .iter()
            .filter(|value| !changed.contains(&key(value)))
            .chain(changes)
            .map(|&value| value.to_owned())
            .collect();
        if !values.iter().any(|value| value.starts_with("output_dir=")) {
            values.push("output_dir=/nowhere/run".to_owned());
        }
        if values.contains(&"agent=CODEX".to_owned()) {
            let needed = ["codex.model_id=acme/new", "endpoint.base_url=https://theirs.example"];
            let missing = needed.iter().filter(|value| !values.iter().any(|given| key(given) == key(value)));
            let missing: Vec<String> = missing.map(|&value| value.to_owned()).collect();
            values.extend(missing);
        }
        if !values.iter().any(|value| value.starts_with("agent=")) {
            values.extend(["agent=CODEX", "codex.model_id=acme/new"].map(str::to_owned));
        }
        let settings = runner::settings::resolve(&[], &values).unwrap();
        // As a record plans what its settings ask for.
        let generation = &settings.generation;
        let (asked, turns) =
            if settings.quick_debug { (2, 2) } else { (generation.n_scenarios, generation.n_turns) };
        let episodes = &settings.execute_episodes;
        let scenarios: Vec<u32> = if episodes.is_empty() { (0..asked).collect() } else { episodes.clone() };
        let record = Record {
            identity: Identity { run: "00000000".to_owned(), digest: [7; 32] },
            harness: settings.agent.clone(),
            image: settings.image.clone().unwrap_or_default(),
            turns: scenarios.len() as u64 * u64::from(turns),
            scenarios,
            settings,
        };
        let folder = record.settings.output_dir.clone();
        let rows = described(&folder, record, false, None).rows;
        rows.into_iter().filter(|row| row.name == name).map(|row| row.value).collect()
    }

    #[test]
    // docs/security.md: A resume
    fn everything_that_the_folder_decides_has_a_line() {
        for setting in settings::all() {
            // A question of the form has no key that a folder could carry.
            if matches!(setting.key, settings::KeyName::OfForm(..)) {
                continue;
            }
            let shown = SHOWN.iter().filter(|(field, ..)| *field == setting.field).count();
            let reasons = NOT_SHOWN.iter().filter(|(_, fields)| fields.contains(&setting.field)).count();
            assert_eq!(shown + reasons, 1, "{}: which row shows it, or why does none?", setting.field);
        }
        for (field, name, base, changes) in SHOWN {
            let (before, after) = (values_of(name, base, &[]), values_of(name, base, changes));
            assert!(!after.is_empty() && before != after, "{field}: {name} says {after:?} either way");
        }
    }
}
