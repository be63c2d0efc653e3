//! From files and `key=value` lists to [`RunSettings`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use settings::{Benchmark, Config, ConfigFile, LeftOut, is_free_section};

use super::secrets::{is_rather_a_key, is_secret_name};
use super::write::GIB;
use super::{EndpointSettings, Feedback, KeySource, RunSettings, SettingsError, arguments, tasks};

/// Names under which a section gives its agent's model; the first is ours.
const MODEL_KEYS: [&str; 3] = ["model_id", "model", "model_name"];
/// Variables of the containers.
const ENV_VARS: &str = "docker.env_vars";
/// Most scenarios or turns: where a pack is given and nothing bounds it.
const ALL: u32 = 1000;

/// Puts YAML files and `key=value` lists together; later ones win.
pub fn resolve(files: &[ConfigFile], values: &[String]) -> Result<RunSettings, SettingsError> {
    of_config(&settings::resolve(files, values)?)
}

/// Settings of a file that was written elsewhere, such as the original's snapshot: what cannot be taken is left out and
/// told. Only a file that names no harness, or none that is known, or none that is described, or is no YAML, is refused.
pub fn read(file: &ConfigFile) -> Result<(RunSettings, Vec<LeftOut>), SettingsError> {
    let (mut config, mut left_out) = settings::read(file)?;
    // The folder is asked for anew anyway: results that were moved, or come from elsewhere.
    config.output_dir.get_or_insert_with(|| "results".to_owned());
    left_out.extend(leave_out_variables(&mut config));
    left_out.extend(without_an_endpoint(&mut config));
    loop {
        match of_config(&config) {
            Ok(settings) => return Ok((settings, left_out)),
            Err(SettingsError::Value { key, why, .. }) if config.leave_out(&key) => {
                left_out.push(LeftOut { why: format!("{key}: {why}"), key, is_unknown: false });
            }
            // Something is missing that the endpoint asks for.
            Err(SettingsError::Value { key, why, .. })
                if key != "harness_file" && config.leave_out("endpoint") =>
            {
                let why = format!("endpoint, as {key} is missing: {why}");
                config.given.insert("endpoint.mode".to_owned(), Value::from("oracle"));
                left_out.push(LeftOut { key: "endpoint".to_owned(), why, is_unknown: false });
            }
            Err(other) => return Err(other),
        }
    }
}

/// A file that names a model and no endpoint, as the original's do: the simulated model stands in until one is chosen.
fn without_an_endpoint(config: &mut Config) -> Option<LeftOut> {
    let keys = Keys { given: &config.given, section: "" };
    let agent = keys.word("agent")?.to_lowercase();
    let model = model(&keys, &agent)?;
    if agent == "mock" || keys.text("endpoint.base_url").is_some() || keys.word("endpoint.mode").is_some() {
        return None;
    }
    config.given.insert("endpoint.mode".to_owned(), Value::from("oracle"));
    let why = format!(
        "the file names the model \"{model}\" and no endpoint: choose one, or direct as in the original"
    );
    Some(LeftOut { key: "endpoint".to_owned(), why, is_unknown: false })
}

/// Leaves the entries of a list of variables out that cannot be taken, each on its own.
fn leave_out_variables(config: &mut Config) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    if config.given.contains_key(ENV_VARS) {
        let keys = Keys { given: &config.given, section: "" };
        let (good, bad): (Vec<_>, Vec<_>) = keys
            .words(ENV_VARS)
            .into_iter()
            .map(|entry| check_variable(&entry).map(|()| entry))
            .partition(Result::is_ok);
        left_out.extend(bad.into_iter().filter_map(Result::err).map(|why| LeftOut {
            key: ENV_VARS.to_owned(),
            why: format!("{ENV_VARS}: {why}"),
            is_unknown: false,
        }));
        if !left_out.is_empty() {
            let good = good.into_iter().filter_map(Result::ok).map(Value::from).collect();
            config.given.insert(ENV_VARS.to_owned(), Value::Array(good));
        }
    }
    left_out
}

fn of_config(config: &Config) -> Result<RunSettings, SettingsError> {
    let keys = Keys { given: &config.given, section: config.generation.benchmark.section() };
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
        let why = format!(
            "{name} holds the endpoint's key, which agents never get: the gateway gives them one of its own. Leave it out here"
        );
        return Err(SettingsError::new(ENV_VARS, why));
    }
    let use_docker = keys.truth("use_docker").unwrap_or(agent != "mock");
    let reach = match (keys.word("limits.network"), &endpoint) {
        (Some("open"), _) | (None, EndpointSettings::Direct) => sandbox::Reach::Open,
        (Some(_), EndpointSettings::Direct) => {
            return Err(SettingsError::new(
                "limits.network",
                "with endpoint.mode=direct the agent itself reaches its endpoint, which needs the network open",
            ));
        }
        _ => sandbox::Reach::Gateway,
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
        batch_size: keys.count("batch_size").unwrap_or(1),
        quick_debug: keys.truth("quick_debug").unwrap_or(false),
        attempt_limit: match config.generation.benchmark {
            Benchmark::Harbor => tasks::attempt_limit(&keys),
            _ => keys.of_benchmark("attempt_limit").and_then(whole).unwrap_or(10),
        },
        restore_before_try: keys.truth("restore_before_try").unwrap_or(false),
        feedback: feedback(&keys, config.generation.benchmark),
        fail_stop: keys.truth("fail_stop").unwrap_or(false),
        execute_episodes: episodes(&keys),
        image: keys.text("docker.image_name"),
        env_vars,
        extra: extra(&keys)?,
        endpoint,
        context_window: keys.amount("endpoint.context_window").unwrap_or(200_000),
        price,
        limits: limits(&keys),
        reach,
        budgets: gateway::Budgets {
            attempt: budget(&keys, "attempt"),
            episode: budget(&keys, "episode"),
            run: budget(&keys, "run"),
        },
        oracle: ability(&keys, use_docker),
        tags: keys.words("tags"),
        shakedown: false,
        keep_snapshots: keys.count("keep_snapshots"),
        tasks: tasks::named(&keys)?,
        kept: BTreeMap::new(),
    };
    tasks::apply_protocol(&mut settings, &keys)?;
    bound_by_pack(&mut settings, config);
    settings.kept = kept(&config.given, &settings.agent);
    check(&settings)?;
    Ok(settings)
}

/// Where a pack gives the scenarios, only what was said bounds them: the README's defaults do not.
fn bound_by_pack(settings: &mut RunSettings, config: &Config) {
    if settings.scenarios_dir.is_none() || settings.quick_debug {
        return;
    }
    let section = settings.generation.benchmark.section();
    let is_given = |name: &str| config.given.contains_key(&format!("{section}.{name}"));
    if !is_given("n_scenarios") {
        settings.generation.n_scenarios = ALL;
    }
    if settings.generation.benchmark == Benchmark::Iterative && !is_given("n_turns") {
        settings.generation.n_turns = ALL;
    }
}

/// A file describes a harness of one's own, and no other.
fn check_harness_file(agent: &str, has_file: bool) -> Result<(), SettingsError> {
    if (agent == "custom") == has_file {
        return Ok(());
    }
    let why = if has_file {
        format!("a harness of one's own is agent=CUSTOM, and agent is {}", agent.to_uppercase())
    } else {
        "agent=CUSTOM needs it: the TOML file that describes the harness".to_owned()
    };
    Err(SettingsError::new("harness_file", why))
}

/// What holds between settings, however they came here: a resume reads them from a record that somebody else may have
/// written.
pub(crate) fn check(s: &RunSettings) -> Result<(), SettingsError> {
    tasks::check(s)?;
    check_harness_file(&s.agent, s.harness_file.is_some())?;
    if s.image.is_none() && s.use_docker && s.agent == "custom" && s.harness_file.is_none() {
        return Err(SettingsError::new("docker.image_name", "a harness of one's own needs an image"));
    }
    let harmless = s.agent == "mock" && s.is_simulated();
    if !s.use_docker && !harmless {
        return Err(SettingsError::new(
            "use_docker",
            "without containers only agent=MOCK with endpoint.mode=oracle is played: anything else would run what a \
             model writes on this machine",
        ));
    }
    if !s.use_docker && !s.env_vars.is_empty() {
        return Err(SettingsError::new(ENV_VARS, "without containers no variables are handed on"));
    }
    if !s.use_docker && s.extra != sandbox::ExtraArgs::default() {
        let why = "without containers there is nothing that takes them";
        return Err(SettingsError::new("docker.extra_docker_args", why));
    }
    if !s.use_docker && s.oracle.stack != gateway::oracle::Stack::Native {
        return Err(SettingsError::new("oracle.stack", "without containers it is native"));
    }
    if matches!(s.endpoint, EndpointSettings::Gateway { .. }) && s.model.is_none() {
        let key = format!("{}.model_id", s.agent);
        return Err(SettingsError::new(&key, "it is not given; it is the model's name at the endpoint"));
    }
    if s.endpoint == EndpointSettings::Direct && s.agent == "mock" {
        return Err(SettingsError::new(
            "endpoint.mode",
            "the mock agent has no endpoint of its own; use oracle or gateway",
        ));
    }
    let of_attempt = s.budgets.attempt;
    if s.endpoint == EndpointSettings::Direct && (of_attempt.tokens.is_some() || of_attempt.usd.is_some()) {
        return Err(SettingsError::new(
            "limits.attempt",
            "with endpoint.mode=direct nobody counts tokens or money while an agent works; of an attempt only minutes can be \
             limited, and tokens and money of the episode and of the run between attempts",
        ));
    }
    Ok(())
}

/// Whether settings that a record holds are what a configuration gives. A record is a file in the results folder, and somebody
/// else may have written it: what no configuration can hold (a key of Docker among those that do nothing, a list that hides an
/// entry in another) is refused as a whole, so that what is shown of a record is all that it does.
pub(crate) fn check_record(recorded: &RunSettings) -> Result<(), SettingsError> {
    check(recorded)?;
    let file = ConfigFile { name: "run.json".to_owned(), text: recorded.to_yaml() };
    let mut read_back = resolve(&[file], &[])?;
    read_back.shakedown = recorded.shakedown;
    if read_back == *recorded {
        return Ok(());
    }
    Err(SettingsError::new("settings", "the record of this run holds settings that no configuration gives"))
}

pub(super) struct Keys<'a> {
    given: &'a BTreeMap<String, Value>,
    pub(super) section: &'static str,
}

impl Keys<'_> {
    pub(super) fn of_benchmark(&self, name: &str) -> Option<&Value> {
        self.given.get(&format!("{}.{name}", self.section))
    }

    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.given.get(key).and_then(Value::as_str)
    }

    /// A text, or a number that was meant as one.
    fn text(&self, key: &str) -> Option<String> {
        match self.given.get(key)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        self.word(key).map(PathBuf::from)
    }

    pub(super) fn truth(&self, key: &str) -> Option<bool> {
        self.given.get(key).and_then(Value::as_bool)
    }

    fn amount(&self, key: &str) -> Option<u64> {
        self.given.get(key).and_then(Value::as_u64)
    }

    pub(super) fn count(&self, key: &str) -> Option<u32> {
        self.given.get(key).and_then(whole)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.given.get(key).and_then(Value::as_f64)
    }

    /// A list of words; a text is taken apart at commas.
    fn words(&self, key: &str) -> Vec<String> {
        match self.given.get(key) {
            Some(Value::String(text)) => {
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

pub(super) fn whole(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn model(keys: &Keys<'_>, agent: &str) -> Option<String> {
    MODEL_KEYS.iter().find_map(|name| keys.text(&format!("{agent}.{name}")))
}

fn feedback(keys: &Keys<'_>, benchmark: Benchmark) -> Feedback {
    // The format knows none.
    if benchmark == Benchmark::Harbor {
        return Feedback::None;
    }
    if keys.of_benchmark("enable_feedback") == Some(&Value::Bool(false)) {
        return Feedback::None;
    }
    match keys.of_benchmark("test_fail_feedback_type").and_then(Value::as_str) {
        Some("MINIMAL") => Feedback::Minimal,
        Some("MEDIUM") => Feedback::Medium,
        _ => Feedback::Detailed,
    }
}

fn episodes(keys: &Keys<'_>) -> Vec<u32> {
    let mut list: Vec<u32> = match keys.of_benchmark("execute_episodes") {
        Some(Value::Array(items)) => items.iter().filter_map(whole).collect(),
        _ => Vec::new(),
    };
    list.sort_unstable();
    list.dedup();
    list
}

fn endpoint(keys: &Keys<'_>, agent: &str, model: Option<&str>) -> Result<EndpointSettings, SettingsError> {
    let base_url = keys.text("endpoint.base_url");
    let key = match (keys.text("endpoint.key_env"), keys.text("endpoint.key_name")) {
        (Some(_), Some(_)) => {
            return Err(SettingsError::new(
                "endpoint.key_name",
                "there is endpoint.key_env too; give one of them",
            ));
        }
        (Some(name), None) if !is_variable(&name) || is_rather_a_key(&name) => {
            return Err(SettingsError::new(
                "endpoint.key_env",
                "it takes the name of an environment variable, such as OPENAI_API_KEY, and never the key itself",
            ));
        }
        (Some(name), None) => KeySource::Env(name),
        (None, Some(name)) => KeySource::Keychain(name),
        (None, None) => KeySource::None,
    };
    // Direct mode hands credentials of this machine to a container with an open network, so it is never a default.
    let mode = match (keys.word("endpoint.mode"), &base_url, model) {
        (Some(mode), ..) => mode,
        (None, Some(_), _) => "gateway",
        (None, None, Some(model)) if agent != "mock" => {
            return Err(SettingsError::new(
                "endpoint.base_url",
                format!(
                    "the model \"{model}\" is named, but no endpoint: give endpoint.base_url=… for a model behind an \
                     address, endpoint.mode=direct to hand the AWS credentials of this machine to the container, or \
                     endpoint.mode=oracle for the simulated model"
                ),
            ));
        }
        (None, None, _) => "oracle",
    };
    match (mode, base_url) {
        ("gateway", Some(base_url)) => {
            let base_url = plain_url(&base_url)?;
            Ok(EndpointSettings::Gateway { base_url, key })
        }
        ("gateway", None) => Err(SettingsError::new(
            "endpoint.base_url",
            "endpoint.mode=gateway needs it: where the endpoint is, such as https://api.openai.com",
        )),
        (_, Some(_)) => Err(SettingsError::new(
            "endpoint.base_url",
            format!("endpoint.mode={mode} has no such address; it belongs to endpoint.mode=gateway"),
        )),
        ("direct", None) => Ok(EndpointSettings::Direct),
        (_, None) => Ok(EndpointSettings::Oracle),
    }
}

fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= 200 && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Without the slash at the end and without `/v1`, which the three APIs put behind it.
fn plain_url(text: &str) -> Result<String, SettingsError> {
    let refuse = |why: &str| SettingsError::new("endpoint.base_url", why);
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else {
        return Err(refuse("it begins with http:// or https:// and names a host"));
    };
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        return Err(refuse("a name or key before the host would be written to files; use endpoint.key_env"));
    }
    if text.contains(['?', '#']) || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(refuse("it has a query, a fragment or a blank"));
    }
    let text = text.trim_end_matches('/');
    Ok(text.strip_suffix("/v1").unwrap_or(text).to_owned())
}

fn price(keys: &Keys<'_>) -> Result<Option<gateway::Price>, SettingsError> {
    let (input, output) = (keys.number("endpoint.price.input"), keys.number("endpoint.price.output"));
    let (cached, cache_write) =
        (keys.number("endpoint.price.cached"), keys.number("endpoint.price.cache_write"));
    if let Some(per_hour) = keys.number("endpoint.price.per_hour") {
        let tokens = [("input", input), ("cached", cached), ("cache_write", cache_write), ("output", output)];
        return match tokens.iter().find(|(_, price)| price.is_some()) {
            None => Ok(Some(gateway::Price::of_machine(per_hour))),
            Some((name, _)) => Err(SettingsError::new(
                "endpoint.price.per_hour",
                format!(
                    "a run has a price per hour of the machine or prices of tokens, and endpoint.price.{name} is given too; \
                     leave one of them out"
                ),
            )),
        };
    }
    match (input, output) {
        (Some(input), Some(output)) => {
            Ok(Some(gateway::Price { input, cached, cache_write, output, per_hour: None }))
        }
        (None, None) if cached.or(cache_write).is_none() => Ok(None),
        _ => Err(SettingsError::new(
            "endpoint.price",
            "it takes input and output, both in US dollars for a million tokens",
        )),
    }
}

fn limits(keys: &Keys<'_>) -> sandbox::Limits {
    let standard = sandbox::Limits::default();
    let bytes = |key: &str| keys.number(key).map(|gib| (gib * GIB) as u64);
    let minutes = keys.number("limits.attempt_minutes");
    sandbox::Limits {
        cpus: keys.number("limits.cpus").unwrap_or(standard.cpus),
        memory: bytes("limits.memory_gib").unwrap_or(standard.memory),
        disk: bytes("limits.disk_gib").unwrap_or(standard.disk),
        seconds: minutes.map_or(standard.seconds, |minutes| (minutes * 60.0).round() as u64),
        pids: keys.count("limits.pids").unwrap_or(standard.pids),
        ..standard
    }
}

fn budget(keys: &Keys<'_>, of: &str) -> gateway::Budget {
    gateway::Budget {
        tokens: keys.amount(&format!("limits.{of}.tokens")),
        usd: keys.number(&format!("limits.{of}.usd")),
        seconds: keys.number(&format!("limits.{of}.minutes")).map(|minutes| (minutes * 60.0).round() as u64),
    }
}

fn ability(keys: &Keys<'_>, use_docker: bool) -> gateway::oracle::Ability {
    use gateway::oracle::{Ability, FaultInjection, Stack};
    let standard = Ability::default();
    // words: ok: the keys keep their name.
    let share = |name: &str| keys.number(&format!("oracle.mischief.{name}")).unwrap_or(0.0);
    Ability {
        seed: keys.amount("oracle.seed").unwrap_or(standard.seed),
        defect_rate: keys.number("oracle.defect_rate").unwrap_or(standard.defect_rate),
        most_defects: keys.count("oracle.most_defects").unwrap_or(standard.most_defects),
        repair: keys.number("oracle.repair").unwrap_or(standard.repair),
        carries_over: keys.truth("oracle.carries_over").unwrap_or(standard.carries_over),
        fault_injection: FaultInjection {
            stall: share("stall"),
            overflow: share("overflow"),
            malformed: share("malformed"),
            kill: share("kill"),
            give_up: share("give_up"),
        },
        stack: match keys.word("oracle.stack") {
            Some("flask") => Stack::Flask,
            None if use_docker => Stack::Flask,
            _ => Stack::Native,
        },
    }
}

/// `docker.env_vars` as a list, as words with commas between, or as a map.
fn env_vars(keys: &Keys<'_>) -> Result<Vec<String>, SettingsError> {
    let mut list = keys.words(ENV_VARS);
    let within = format!("{ENV_VARS}.");
    for (key, value) in keys.given {
        if let Some(name) = key.strip_prefix(&within) {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            list.push(format!("{name}={value}"));
        }
    }
    for entry in &list {
        // One of a mapping has a key of its own.
        let entry_key = format!("{within}{}", entry.split('=').next().unwrap_or_default());
        let key = if keys.given.contains_key(&entry_key) { entry_key.as_str() } else { ENV_VARS };
        check_variable(entry).map_err(|why| SettingsError::new(key, why))?;
    }
    Ok(list)
}

/// Whether a variable for the containers can be taken: `NAME`, or `NAME=value`. The error names no value.
fn check_variable(entry: &str) -> Result<(), String> {
    let (name, value) = entry.split_once('=').map_or((entry, None), |(n, v)| (n, Some(v)));
    if name.is_empty() || !is_variable(name) {
        return Err(format!("\"{}\" is no name of a variable", name.escape_debug()));
    }
    if value.is_some() && is_secret_name(name) {
        return Err(format!(
            "{name}=… looks like a secret, and settings are written to files; give its name only, and its value is taken from \
             the environment"
        ));
    }
    Ok(())
}

fn extra(keys: &Keys<'_>) -> Result<sandbox::ExtraArgs, SettingsError> {
    let words = match keys.given.get("docker.extra_docker_args") {
        Some(Value::String(line)) => arguments::split_arguments(line)
            .map_err(|why| SettingsError::new("docker.extra_docker_args", why))?,
        _ => keys.words("docker.extra_docker_args"),
    };
    arguments::parse(&words)
}

/// What of the free sections is nobody's here.
fn kept(given: &BTreeMap<String, Value>, agent: &str) -> BTreeMap<String, Value> {
    const TAKEN: [&str; 3] = ["docker.image_name", ENV_VARS, "docker.extra_docker_args"];
    let ours = |key: &str| {
        let section = key.split('.').next().unwrap_or_default();
        let free = is_free_section(section) && key.contains('.');
        let model = MODEL_KEYS.iter().any(|name| key == format!("{agent}.{name}"));
        !free || TAKEN.contains(&key) || key.starts_with("docker.env_vars.") || model
    };
    // The section is a known name.
    let is_secret = |key: &str| key.split('.').skip(1).any(is_secret_name);
    given
        .iter()
        .filter(|(key, _)| !ours(key) && !is_secret(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
