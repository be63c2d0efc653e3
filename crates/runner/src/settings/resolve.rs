//! From files and `key=value` lists to [`RunSettings`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use settings::{Benchmark, Config, ConfigFile, OmittedKey, WHOLE_PACK, is_free_section};

use super::check::{check, check_harness_file};
use super::endpoint::{endpoint, price};
use super::keys::{Keys, choice_from_word, whole_number};
use super::secrets::is_secret_name;
use super::variables::{ENV_VARS, env_vars, leave_out_variables};
use super::write::GIB;
use super::{EndpointSettings, Feedback, KeySource, RunSettings, SettingsError, arguments, tasks};

/// Names under which a section gives its agent's model; the first is ours.
const MODEL_KEYS: [&str; 3] = ["model_id", "model", "model_name"];

/// Puts YAML files and `key=value` lists together; later ones win.
pub fn resolve(files: &[ConfigFile], values: &[String]) -> Result<RunSettings, SettingsError> {
    from_config(&settings::resolve(files, values)?)
}

/// Settings of a file that was written elsewhere, such as the original's snapshot: what cannot be taken is left out and
/// told. Only a file that names no harness, or none that is known, or none that is described, or is no YAML, is refused.
pub fn read(file: &ConfigFile) -> Result<(RunSettings, Vec<OmittedKey>), SettingsError> {
    let (mut config, mut left_out) = settings::read(file)?;
    // The folder is asked for anew anyway: results that were moved, or come from elsewhere.
    config.output_dir.get_or_insert_with(|| "results".to_owned());
    left_out.extend(leave_out_variables(&mut config));
    left_out.extend(without_an_endpoint(&mut config));
    loop {
        match from_config(&config) {
            Ok(settings) => return Ok((settings, left_out)),
            Err(SettingsError::Value { key, reason, .. }) if config.leave_out(&key) => {
                left_out.push(OmittedKey { reason: format!("{key}: {reason}"), key, is_unknown: false });
            }
            // Something is missing that the endpoint asks for.
            Err(SettingsError::Value { key, reason, .. })
                if key != "harness_file" && config.leave_out("endpoint") =>
            {
                let reason = format!("endpoint, as {key} is missing: {reason}");
                config.values.insert("endpoint.mode".to_owned(), Value::from("oracle"));
                left_out.push(OmittedKey { key: "endpoint".to_owned(), reason, is_unknown: false });
            }
            Err(other) => return Err(other),
        }
    }
}

/// A file that names a model and no endpoint, as the original's do: the simulated model stands in until one is chosen.
fn without_an_endpoint(config: &mut Config) -> Option<OmittedKey> {
    let keys = Keys { values: &config.values, section: "" };
    let agent = keys.word("agent")?.to_lowercase();
    let model = model(&keys, &agent)?;
    if agent == "mock" || keys.text("endpoint.base_url").is_some() || keys.word("endpoint.mode").is_some() {
        return None;
    }
    config.values.insert("endpoint.mode".to_owned(), Value::from("oracle"));
    let reason = format!(
        "the file names the model \"{model}\" and no endpoint: choose one, or direct as in the original"
    );
    Some(OmittedKey { key: "endpoint".to_owned(), reason, is_unknown: false })
}

fn from_config(config: &Config) -> Result<RunSettings, SettingsError> {
    let section = config.generation.benchmark.section();
    let keys = Keys { values: &config.values, section };
    // With the declared default of each key that is not given.
    let values = config.with_defaults();
    let values = Keys { values: &values, section };
    let Some(agent) = keys.word("agent") else {
        return Err(SettingsError::new(
            "agent",
            "it is not given; it names the harness, such as MINI_SWE or MOCK",
        ));
    };
    let agent = agent.to_lowercase();
    let harness_file = keys.path("harness_file");
    check_harness_file(&agent, harness_file.is_some())?;
    let Some(output_dir) = config.output_dir.as_ref().map(PathBuf::from) else {
        return Err(SettingsError::new("output_dir", "it is not given; it is the folder for the results"));
    };
    tasks::check_keys(&keys)?;
    let model = model(&keys, &agent);
    let endpoint = endpoint(&keys, &agent, model.as_deref())?;
    let env_vars = env_vars(&keys)?;
    if let EndpointSettings::Gateway { key: KeySource::Env(name), .. } = &endpoint
        && env_vars.contains(name)
    {
        let reason = format!(
            "{name} holds the endpoint's key, which agents never get: the gateway gives them one of its own. Leave it out here"
        );
        return Err(SettingsError::new(ENV_VARS, reason));
    }
    let use_docker = keys.boolean("use_docker").unwrap_or(agent != "mock");
    let reach = match (keys.choice::<sandbox::NetworkAccess>("limits.network"), &endpoint) {
        (Some(sandbox::NetworkAccess::Open), _) | (None, EndpointSettings::Direct) => {
            sandbox::NetworkAccess::Open
        }
        (Some(_), EndpointSettings::Direct) => {
            return Err(SettingsError::new(
                "limits.network",
                "with endpoint.mode=direct the agent itself reaches its endpoint, which needs the network open",
            ));
        }
        _ => sandbox::NetworkAccess::Gateway,
    };
    let price = price(&keys)?;
    if endpoint == EndpointSettings::Direct && price.is_some_and(|price| price.per_hour.is_some()) {
        return Err(SettingsError::new(
            "endpoint.price.per_hour",
            "with endpoint.mode=direct nobody sees how long the endpoint works; give endpoint.base_url, or prices of tokens",
        ));
    }
    let mut settings = RunSettings {
        model,
        agent,
        harness_file,
        generation: config.generation.clone(),
        scenarios_dir: keys.path("scenarios_dir"),
        output_dir,
        use_docker,
        batch_size: values.count("batch_size").unwrap_or_default(),
        quick_debug: values.boolean("quick_debug").unwrap_or_default(),
        attempt_limit: match config.generation.benchmark {
            Benchmark::Harbor => tasks::attempt_limit(&keys),
            _ => values.benchmark_value("attempt_limit").and_then(whole_number).unwrap_or_default(),
        },
        restore_before_try: values.boolean("restore_before_try").unwrap_or_default(),
        feedback: feedback(&values, config.generation.benchmark),
        fail_stop: values.boolean("fail_stop").unwrap_or_default(),
        execute_episodes: episodes(&keys),
        image: keys.text("docker.image_name"),
        env_vars,
        extra: extra(&keys)?,
        endpoint,
        context_window: values.amount("endpoint.context_window").unwrap_or_default(),
        price,
        limits: limits(&values),
        reach,
        budgets: gateway::Budgets {
            attempt: budget(&keys, "attempt"),
            episode: budget(&keys, "episode"),
            run: budget(&keys, "run"),
        },
        oracle: ability(&values, use_docker),
        tags: keys.words("tags"),
        is_smoke_test: false,
        keep_snapshots: keys.count("keep_snapshots"),
        tasks: tasks::task_settings(&values)?,
        other_values: BTreeMap::new(),
    };
    tasks::apply_protocol(&mut settings, &keys)?;
    bound_by_pack(&mut settings, config);
    settings.other_values = other_values(&config.values, &settings.agent);
    check(&settings)?;
    Ok(settings)
}

/// Where a pack gives the scenarios, only what was said bounds them: the README's defaults do not.
fn bound_by_pack(settings: &mut RunSettings, config: &Config) {
    if settings.scenarios_dir.is_none() || settings.quick_debug {
        return;
    }
    let section = settings.generation.benchmark.section();
    let is_given = |name: &str| config.values.contains_key(&format!("{section}.{name}"));
    if !is_given("n_scenarios") {
        settings.generation.n_scenarios = WHOLE_PACK;
    }
    if settings.generation.benchmark == Benchmark::Iterative && !is_given("n_turns") {
        settings.generation.n_turns = WHOLE_PACK;
    }
}

fn model(keys: &Keys<'_>, agent: &str) -> Option<String> {
    MODEL_KEYS.iter().find_map(|name| keys.text(&format!("{agent}.{name}")))
}

fn feedback(keys: &Keys<'_>, benchmark: Benchmark) -> Feedback {
    // The format knows none.
    if benchmark == Benchmark::Harbor {
        return Feedback::None;
    }
    if keys.benchmark_value("enable_feedback") == Some(&Value::Bool(false)) {
        return Feedback::None;
    }
    keys.benchmark_value("test_fail_feedback_type").and_then(choice_from_word).unwrap_or_default()
}

fn episodes(keys: &Keys<'_>) -> Vec<u32> {
    let mut list: Vec<u32> = match keys.benchmark_value("execute_episodes") {
        Some(Value::Array(items)) => items.iter().filter_map(whole_number).collect(),
        _ => Vec::new(),
    };
    list.sort_unstable();
    list.dedup();
    list
}

fn limits(keys: &Keys<'_>) -> sandbox::Limits {
    let number = |key: &str| keys.number(key).unwrap_or_default();
    let bytes = |key: &str| (number(key) * GIB) as u64;
    sandbox::Limits {
        cpus: number("limits.cpus"),
        memory: bytes("limits.memory_gib"),
        disk: bytes("limits.disk_gib"),
        seconds: (number("limits.attempt_minutes") * 60.0).round() as u64,
        pids: keys.count("limits.pids").unwrap_or_default(),
        // Those that no setting changes.
        ..sandbox::Limits::default()
    }
}

fn budget(keys: &Keys<'_>, scope: &str) -> gateway::Budget {
    gateway::Budget {
        tokens: keys.amount(&format!("limits.{scope}.tokens")),
        usd: keys.number(&format!("limits.{scope}.usd")),
        seconds: keys
            .number(&format!("limits.{scope}.minutes"))
            .map(|minutes| (minutes * 60.0).round() as u64),
    }
}

fn ability(keys: &Keys<'_>, use_docker: bool) -> gateway::simulated_model::Ability {
    use gateway::simulated_model::{Ability, FaultInjection, Stack};
    // words: ok: the keys keep their name.
    let share = |name: &str| keys.number(&format!("oracle.mischief.{name}")).unwrap_or_default();
    Ability {
        seed: keys.amount("oracle.seed").unwrap_or_default(),
        defect_rate: keys.number("oracle.defect_rate").unwrap_or_default(),
        most_defects: keys.count("oracle.most_defects").unwrap_or_default(),
        repair: keys.number("oracle.repair").unwrap_or_default(),
        carries_over: keys.boolean("oracle.carries_over").unwrap_or_default(),
        fault_injection: FaultInjection {
            stall: share("stall"),
            overflow: share("overflow"),
            malformed: share("malformed"),
            kill: share("kill"),
            give_up: share("give_up"),
        },
        stack: keys.choice("oracle.stack").unwrap_or(if use_docker { Stack::Flask } else { Stack::Native }),
    }
}

fn extra(keys: &Keys<'_>) -> Result<sandbox::ExtraArgs, SettingsError> {
    let words = match keys.values.get("docker.extra_docker_args") {
        Some(Value::String(line)) => arguments::split_arguments(line)
            .map_err(|reason| SettingsError::new("docker.extra_docker_args", reason))?,
        _ => keys.words("docker.extra_docker_args"),
    };
    arguments::parse(&words)
}

/// What of the free sections is nobody's here.
fn other_values(values: &BTreeMap<String, Value>, agent: &str) -> BTreeMap<String, Value> {
    const TAKEN: [&str; 3] = ["docker.image_name", ENV_VARS, "docker.extra_docker_args"];
    let ours = |key: &str| {
        let section = key.split('.').next().unwrap_or_default();
        let free = is_free_section(section) && key.contains('.');
        let model = MODEL_KEYS.iter().any(|name| key == format!("{agent}.{name}"));
        !free || TAKEN.contains(&key) || key.starts_with("docker.env_vars.") || model
    };
    // The section is a known name.
    let is_secret = |key: &str| key.split('.').skip(1).any(is_secret_name);
    values
        .iter()
        .filter(|(key, _)| !ours(key) && !is_secret(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
