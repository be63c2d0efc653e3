//! Settings as `config.yaml`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{EndpointSettings, Feedback, KeySource, RunSettings, TaskSettings, arguments, keeps_none};

/// Bytes of a gibibyte.
pub(super) const GIB: f64 = (1u64 << 30) as f64;

pub(super) fn to_yaml(settings: &RunSettings) -> String {
    // Keys are texts and numbers are finite: there is nothing that YAML could not say.
    scenario::pack::to_yaml(&to_config(settings)).unwrap_or_default()
}

/// Sections with their keys; what is not given has none.
pub(super) fn to_config(settings: &RunSettings) -> Value {
    let mut file = File(Map::new());
    file.put_all(settings);
    Value::Object(file.0)
}

struct File(Map<String, Value>);

impl File {
    /// Puts a value at a dotted key; nothing where there is none.
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        if value.is_null() {
            return;
        }
        let mut map = &mut self.0;
        let mut rest = key;
        while let Some((section, inner)) = rest.split_once('.') {
            let entry = map.entry(section).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = entry else { return };
            (map, rest) = (next, inner);
        }
        map.insert(rest.to_owned(), value);
    }

    fn put_all(&mut self, s: &RunSettings) {
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        self.put("agent", s.agent.to_uppercase());
        self.put("benchmark", s.generation.benchmark.as_str());
        self.put("output_dir", path(&s.output_dir));
        self.put("use_docker", s.use_docker);
        self.put("batch_size", s.batch_size);
        self.put("quick_debug", s.quick_debug);
        self.put("scenarios_dir", s.scenarios_dir.as_deref().map(path));
        self.put("fail_stop", s.fail_stop);
        self.put("harness_file", s.harness_file.as_deref().map(path));
        self.put("tags", list_or_null(&s.tags));
        self.put("keep_snapshots", s.keep_snapshots);
        match &s.tasks {
            Some(tasks) => self.tasks(s, tasks),
            None => self.benchmark(s),
        }
        self.put(&format!("{}.model_id", s.agent_section()), s.model.clone());
        self.put("docker.image_name", s.image.clone());
        self.put("docker.env_vars", list_or_null(&s.env_vars));
        let line = arguments::line(&s.extra);
        self.put("docker.extra_docker_args", (!line.is_empty()).then_some(line));
        self.endpoint(s);
        self.limits(s);
        self.oracle(s);
        for (key, value) in &s.other_values {
            self.put(key, value.clone());
        }
    }

    fn tasks(&mut self, s: &RunSettings, tasks: &TaskSettings) {
        self.put("tasks", tasks.folder.to_string_lossy().into_owned());
        self.put("harbor.timeout", word(tasks.timeout));
        self.put("harbor.background", word(tasks.background));
        self.put("harbor.session", word(tasks.session));
        self.put("harbor.snapshots", json!((!keeps_none(&tasks.snapshots)).then_some(tasks.snapshots)));
        self.put("harbor.protocol", json!(tasks.protocol));
        self.put("harbor.attempt_limit", s.attempt_limit);
        self.put("restore_before_try", s.restore_before_try);
        let named: Vec<String> = s.execute_episodes.iter().map(u32::to_string).collect();
        self.put("harbor.execute_episodes", json!((!named.is_empty()).then(|| named.join(","))));
    }

    fn benchmark(&mut self, s: &RunSettings) {
        self.put("restore_before_try", s.restore_before_try.then_some(true));
        let section = s.generation.benchmark.section();
        let g = &s.generation;
        let mut put = |name: &str, value: Value| self.put(&format!("{section}.{name}"), value);
        put("n_scenarios", g.n_scenarios.into());
        if g.benchmark == settings::Benchmark::Iterative {
            put("n_turns", g.n_turns.into());
            put("num_changes_per_turn", g.num_changes_per_turn.into());
        }
        put("attempt_limit", s.attempt_limit.into());
        put("base_seed", g.base_seed.into());
        put("enable_feedback", (s.feedback != Feedback::None).into());
        // A key of its own says that there is none.
        let kind = if s.feedback == Feedback::None { Feedback::Detailed } else { s.feedback };
        put("test_fail_feedback_type", word(kind));
        put("use_llm_sampler", g.use_llm_sampler.into());
        put("llm_sampler_model_id", json!(g.llm_sampler_model_id));
        let episodes: Vec<String> = s.execute_episodes.iter().map(u32::to_string).collect();
        put("execute_episodes", json!((!episodes.is_empty()).then(|| episodes.join(","))));
    }

    fn endpoint(&mut self, s: &RunSettings) {
        match &s.endpoint {
            EndpointSettings::Direct => self.put("endpoint.mode", "direct"),
            EndpointSettings::Oracle => self.put("endpoint.mode", "oracle"),
            EndpointSettings::Gateway { base_url, key } => {
                self.put("endpoint.mode", "gateway");
                self.put("endpoint.base_url", base_url.clone());
                match key {
                    KeySource::None => {}
                    KeySource::Env(name) => self.put("endpoint.key_env", name.clone()),
                    KeySource::Keychain(name) => self.put("endpoint.key_name", name.clone()),
                }
            }
        }
        self.put("endpoint.context_window", s.context_window);
        if let Some(per_hour) = s.price.and_then(|price| price.per_hour) {
            self.put("endpoint.price.per_hour", per_hour);
        } else if let Some(price) = s.price {
            self.put("endpoint.price.input", price.input);
            self.put("endpoint.price.cached", price.cached);
            self.put("endpoint.price.cache_write", price.cache_write);
            self.put("endpoint.price.output", price.output);
        }
    }

    fn limits(&mut self, s: &RunSettings) {
        let limits = &s.limits;
        self.put("limits.cpus", limits.cpus);
        self.put("limits.memory_gib", limits.memory as f64 / GIB);
        self.put("limits.pids", limits.pids);
        self.put("limits.disk_gib", limits.disk as f64 / GIB);
        self.put("limits.attempt_minutes", limits.seconds as f64 / 60.0);
        self.put("limits.network", word(s.reach));
        let budgets =
            [("attempt", s.budgets.attempt), ("episode", s.budgets.episode), ("run", s.budgets.run)];
        for (scope, budget) in budgets {
            self.put(&format!("limits.{scope}.tokens"), budget.tokens);
            self.put(&format!("limits.{scope}.usd"), budget.usd);
            self.put(&format!("limits.{scope}.minutes"), budget.seconds.map(|s| s as f64 / 60.0));
        }
    }

    fn oracle(&mut self, s: &RunSettings) {
        let oracle = &s.oracle;
        self.put("oracle.seed", oracle.seed);
        self.put("oracle.defect_rate", oracle.defect_rate);
        self.put("oracle.most_defects", oracle.most_defects);
        self.put("oracle.repair", oracle.repair);
        self.put("oracle.carries_over", oracle.carries_over);
        self.put("oracle.stack", word(oracle.stack));
        let faults = &oracle.fault_injection;
        self.put("oracle.mischief.stall", faults.stall);
        self.put("oracle.mischief.overflow", faults.overflow);
        self.put("oracle.mischief.malformed", faults.malformed);
        self.put("oracle.mischief.kill", faults.kill);
        self.put("oracle.mischief.give_up", faults.give_up);
    }
}

/// The word of a choice.
fn word(choice: impl Serialize) -> Value {
    serde_json::to_value(choice).unwrap_or_default()
}

fn list_or_null(words: &[String]) -> Value {
    if words.is_empty() { Value::Null } else { Value::from(words.to_vec()) }
}
