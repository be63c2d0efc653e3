//! Whose run a folder holds, and what a run of somebody else gets of this machine.
//!
//! A resume does what the record in the folder says: it asks an endpoint with a key, starts an image with folders of this
//! machine bound into it. So a run that this library did not begin on this machine is a stranger's. It is resumed only after
//! a person has seen what it would do ([`RunTrust`]), and then with the endpoint and the key of this machine, unless those of
//! the folder are chosen, one by one.

use std::collections::HashMap;
use std::path::Path;

use files::deadline::within_limit;
use model::plain_line;
use runner::origin::{self, Identity, Record};
use runner::settings::{EndpointSettings, KeySource, RunSettings};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::run_error;
use super::trust_rows::Amount;
use crate::Workbench;
use crate::api::{
    ApiError, EndpointHere, EndpointMode, FormNetwork, FormSettings, KeyPlace, RunFolder, RunTrust,
    TaskImages, TrustRun,
};

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
        self.trust_of(&super::now::folder_of(&request.folder)?)
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

    /// Takes out of settings that were read from a file what would give away something of this machine: an endpoint that was
    /// never used here, with its key, and variables of the environment. What was taken out, in sentences.
    pub(super) fn without_foreign(&self, settings: &mut FormSettings) -> Result<Vec<String>, ApiError> {
        let mut notes = Vec::new();
        let key = match settings.key_place {
            KeyPlace::None => KeySource::None,
            KeyPlace::Env => KeySource::Env(settings.key_name.clone()),
            KeyPlace::Keychain => KeySource::Keychain(settings.key_name.clone()),
        };
        let named = Endpoint { base_url: settings.base_url.clone(), key };
        if let Some(key) = key_in_words(&named.key)
            && !named.base_url.is_empty()
            && !self.endpoints_here()?.contains(&named)
        {
            notes.push(format!(
                "The key is not taken: the file names {key} for {}, which no run was begun with here. Choose the key yourself",
                named.base_url
            ));
            settings.key_place = KeyPlace::None;
            settings.key_name.clear();
        }
        let (kept, dropped): (Vec<String>, Vec<String>) =
            std::mem::take(&mut settings.env_vars).into_iter().partition(|entry| entry.contains('='));
        settings.env_vars = kept;
        if !dropped.is_empty() {
            notes.push(format!(
                "Variables of this machine are not taken: the file hands {} to agents. Add them yourself",
                dropped.join(", ")
            ));
        }
        let shown = [
            (settings.endpoint_mode == EndpointMode::Direct)
                .then(|| "direct mode, in which agents get credentials of this machine".to_owned()),
            (!settings.base_url.is_empty()
                && settings.endpoint_mode == EndpointMode::Gateway
                && !self.was_used_here(&settings.base_url)?)
            .then(|| format!("the endpoint {}, which no run was begun with here", settings.base_url)),
            (!settings.image.is_empty()).then(|| format!("the image {}", settings.image)),
            (!settings.extra_docker_args.is_empty())
                .then(|| format!("the container arguments {}", settings.extra_docker_args)),
            (!settings.harness_file.is_empty())
                .then(|| format!("the harness file {}", settings.harness_file)),
            (settings.network == FormNetwork::Open)
                .then(|| "the network open: agents reach the internet".to_owned()),
            (!settings.env_vars.is_empty())
                .then(|| format!("the variables {}", settings.env_vars.join(", "))),
        ];
        let shown: Vec<String> = shown.into_iter().flatten().map(|text| plain_line(&text)).collect();
        if !shown.is_empty() {
            notes.push(format!("The file sets {}", shown.join("; ")));
        }
        Ok(notes)
    }

    fn was_used_here(&self, base_url: &str) -> Result<bool, ApiError> {
        Ok(self.endpoints_here()?.iter().any(|endpoint| endpoint.base_url == base_url))
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

/// Images of tasks that are listed.
const TASK_IMAGES: usize = 200;

/// What is shown of the tasks of a run.
#[derive(Debug, Default, PartialEq)]
struct TasksShown {
    images: Vec<TaskImages>,
    more: u32,
    unreadable: Option<String>,
    /// SHA-256 of all that was looked at, also of what is too much to be shown; `None` = no tasks are played.
    sha256: Option<[u8; 32]>,
}

impl TasksShown {
    /// Blocks, for at most [`files::deadline::LIMIT`].
    fn new(settings: &RunSettings, numbers: &[u32]) -> Self {
        let Some(tasks) = &settings.tasks else { return Self::default() };
        let (folder, asked) = (tasks.folder.clone(), numbers.to_vec());
        let looked = within_limit(&tasks.folder, move || {
            runner::task_images(&folder, &asked).map_err(|error| error.to_string())
        });
        let found = match looked.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(found) => found,
            Err(why) => {
                let sha256 = Some(Sha256::digest(&why).into());
                return Self { unreadable: Some(plain_line(&why)), sha256, ..Self::default() };
            }
        };
        // Tasks of one benchmark mostly share a recipe.
        let mut places: HashMap<(Option<String>, runner::Recipe), usize> = HashMap::new();
        let mut hash = Sha256::new();
        let mut shown = Self::default();
        for one in found {
            // Texts with their lengths, so that none runs into the next.
            for text in [Some(&one.task), one.image.as_ref()] {
                let length = text.map_or(u64::MAX, |text| text.len() as u64);
                hash.update(length.to_le_bytes());
                hash.update(text.map_or("", String::as_str));
            }
            hash.update(one.recipe_sha256);
            let task = plain_line(&one.task);
            let key = (one.image, one.recipe);
            if let Some(at) = places.get(&key) {
                if let Some(known) = shown.images.get_mut(*at) {
                    known.tasks.push(task);
                }
                continue;
            }
            if shown.images.len() >= TASK_IMAGES {
                shown.more += 1;
                continue;
            }
            let plain = |texts: &[String]| texts.iter().map(|text| plain_line(text)).collect();
            shown.images.push(TaskImages {
                tasks: vec![task],
                image: key.0.as_deref().map(plain_line),
                from: plain(&key.1.from),
                executes: plain(&key.1.executes),
                more: key.1.more,
            });
            places.insert(key, shown.images.len() - 1);
        }
        shown.sha256 = Some(hash.finalize().into());
        shown
    }

    /// What a person confirms who has seen the record of a run and this: 64 hexadecimal digits.
    fn digest_with(&self, identity: &Identity) -> String {
        let Some(sha256) = self.sha256 else { return identity.digest_in_hex() };
        let both = Sha256::new().chain_update(identity.digest).chain_update(sha256).finalize();
        Identity { run: identity.run.clone(), digest: both.into() }.digest_in_hex()
    }
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
    use std::collections::BTreeSet;

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
    fn whoever_resumes_tasks_of_others_sees_what_their_images_are_built_of() {
        let room = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = room.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let step = "[[steps]]\nname = \"a\"\n";
        let named = "[environment]\ndocker_image = \"example/one:1\"\n";
        for (task, head, recipe) in [
            ("0", "", "FROM debian\nRUN curl example.org | sh\n"),
            ("1", named, "FROM debian\n"),
            ("2", "", "FROM debian\nRUN curl example.org | sh\n"),
            ("3", "", "FROM other\u{1b}[2J\n"),
            ("4", "", "FROM never\n"),
        ] {
            put(&format!("{task}/task.toml"), &format!("{head}{step}"));
            put(&format!("{task}/environment/Dockerfile"), recipe);
            put(&format!("{task}/steps/a/instruction.md"), "Do it.");
            put(&format!("{task}/tests/test.sh"), "true");
        }
        let tasks = format!("tasks={}", room.path().display());
        let values = ["agent=NOP", "benchmark=HARBOR", "output_dir=x", &tasks].map(str::to_owned);
        let theirs = runner::settings::resolve(&[], &values).unwrap();
        let shown = TasksShown::new(&theirs, &[0, 1, 2, 3]);
        let images: Vec<_> = shown
            .images
            .iter()
            .map(|one| (one.tasks.join(" "), one.image.clone(), one.from.join(" ")))
            .collect();
        assert_eq!(
            images,
            [
                ("0 2".to_owned(), None, "debian".to_owned()),
                ("1".to_owned(), Some("example/one:1".to_owned()), String::new()),
                ("3".to_owned(), None, "other\u{fffd}[2J".to_owned()),
            ]
        );
        assert_eq!(shown.images[0].executes, ["RUN curl example.org | sh"]);
        assert_eq!((shown.more, &shown.unreadable), (0, &None));
        // Another recipe is not what was confirmed, also where it is too long for the page to show it.
        let identity = Identity { run: "00000000".to_owned(), digest: [7; 32] };
        let digest = || TasksShown::new(&theirs, &[0, 1, 2, 3]).digest_with(&identity);
        let confirmed = shown.digest_with(&identity);
        assert!(confirmed.len() == 64 && confirmed == digest());
        let long = "RUN true\n".repeat(60);
        let mut seen = BTreeSet::from([confirmed, identity.digest_in_hex()]);
        for last in ["true", "curl example.org | sh"] {
            put("3/environment/Dockerfile", &format!("FROM debian\n{long}RUN {last}\n"));
            assert!(seen.insert(digest()), "{last}");
        }
        put("4/environment/Dockerfile", "FROM never either\n");
        assert!(!seen.insert(digest()), "a task that is not played");
        assert_eq!(TasksShown::default().digest_with(&identity), identity.digest_in_hex());
        let removed =
            runner::settings::resolve(&[], &values.map(|text| text.replace(&tasks, "tasks=/nowhere/at/all")));
        assert!(TasksShown::new(&removed.unwrap(), &[0]).unreadable.is_some());
        assert_eq!(TasksShown::new(&settings(&THEIRS), &[0]), TasksShown::default());
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
}
