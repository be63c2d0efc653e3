//! What a run of somebody else gets of this machine, and that its page shows all that its folder decides.

use super::*;

fn settings(added: &[&str]) -> RunSettings {
    let values = ["agent=CODEX", "codex.model_id=acme/new", "output_dir=/nowhere/run"];
    let values: Vec<String> = values.iter().chain(added).map(|&text| text.to_owned()).collect();
    runner::settings::resolve(&[], &values).unwrap()
}

fn local_endpoint() -> Endpoint {
    Endpoint { base_url: "https://ours.example".to_owned(), key: KeySource::Env("OUR_KEY".to_owned()) }
}

const THEIRS: [&str; 2] = ["endpoint.base_url=https://theirs.example", "endpoint.key_env=HOME_KEY"];

#[test]
// docs/security.md: A resume
fn endpoint_and_key_are_ours_unless_the_folders_are_chosen() {
    let foreign_settings = settings(&THEIRS);
    let changed = |trust: TrustRun, changes: &[&str]| {
        let changes = changes.iter().map(|&text| text.to_owned()).collect();
        with_local_settings(&foreign_settings, changes, &trust, Some(&local_endpoint())).unwrap()
    };
    let local_changes =
        ["endpoint.base_url=https://ours.example", "endpoint.key_env=OUR_KEY", "endpoint.key_name="];
    assert_eq!(changed(TrustRun::default(), &[]), local_changes);
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
    let refused = with_local_settings(&foreign_settings, Vec::new(), &TrustRun::default(), None).unwrap_err();
    assert_eq!(refused.code, "run.choose");
}

#[test]
// docs/security.md: A resume
fn what_was_chosen_of_one_folder_is_not_ours_for_the_next_one() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    std::fs::create_dir_all(folder.join(".stamina")).unwrap();
    let begun = "2026-11-24T00:00:00Z";
    let text = serde_json::json!({
        "version": "stamina-run/1", "id": "0a1b2c3d", "settings": settings(&THEIRS),
        "harness": { "name": "codex", "title": "Codex CLI", "version": "1", "image": "stamina/codex:1" },
        "owner": "1:0:0", "started_at": begun, "part_started_at": begun, "seconds": 0.0,
        "episodes": [{ "name": "scenario_0", "scenario": 0, "turns": 2 }],
        "spent": gateway::Spent::default(), "finish": null,
    });
    std::fs::write(folder.join(".stamina/run.json"), text.to_string()).unwrap();
    let db = Some(room.path().join("library.sqlite"));
    let workbench = Workbench::open(crate::Options { db, ..crate::Options::default() }).unwrap();
    let digest = workbench.trust_of(&folder).unwrap().digest;
    let trust = TrustRun { digest, keep_endpoint: true, keep_key: true, ..TrustRun::default() };
    let (changes, _) = workbench.admitted(&folder, Vec::new(), Some(&trust)).unwrap();
    assert_eq!(changes, [""; 0]);
    // As its first event says, in this resume and in later ones.
    for _ in 0..2 {
        workbench.remember_run(&origin::record(&folder).unwrap()).unwrap();
        assert!(workbench.trust_of(&folder).unwrap().trusted);
        assert!(workbench.endpoints_here().unwrap().is_empty());
    }
}

#[test]
// docs/security.md: A resume
fn credentials_and_variables_are_handed_over_only_where_they_are_chosen() {
    let direct = settings(&["endpoint.mode=direct", "docker.env_vars=[HOME,A=b]"]);
    let refused = with_local_settings(&direct, Vec::new(), &TrustRun::default(), None).unwrap_err();
    assert_eq!(refused.code, "run.choose");
    let keep_key = TrustRun { keep_key: true, ..TrustRun::default() };
    assert_eq!(
        with_local_settings(&direct, Vec::new(), &keep_key, None).unwrap(),
        ["docker.env_vars=[\"A=b\"]"]
    );
    let keep_all = TrustRun { keep_variables: true, ..keep_key };
    assert!(with_local_settings(&direct, Vec::new(), &keep_all, None).unwrap().is_empty());
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
    ("harness_file", "Harness", TO_THEIRS, &["agent=CUSTOM", "custom.model_id=a", "harness_file=/h.toml"]),
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
    ("extra_docker_args", "Bound folders", TO_THEIRS, &["docker.extra_docker_args=-v /opt/data:/data:ro"]),
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
    let (scenario_count, turns) =
        if settings.quick_debug { (2, 2) } else { (generation.n_scenarios, generation.n_turns) };
    let episodes = &settings.execute_episodes;
    let scenarios: Vec<u32> =
        if episodes.is_empty() { (0..scenario_count).collect() } else { episodes.clone() };
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
