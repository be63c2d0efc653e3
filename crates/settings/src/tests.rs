use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn file(text: &str) -> ConfigFile {
    ConfigFile { name: "a.yaml".to_owned(), text: text.to_owned() }
}

fn values(list: &[&str]) -> Result<Config, ConfigError> {
    resolve(&[], &list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
}

#[test]
fn without_any_key_it_is_the_readme() {
    let config = values(&[]).expect("nothing is a configuration");
    let generation = config.generation;
    assert_eq!(generation, Generation::default());
    let counts = (generation.n_scenarios, generation.n_turns, generation.num_changes_per_turn);
    assert_eq!((generation.benchmark, counts, generation.base_seed), (Benchmark::Iterative, (10, 3, 5), 42));
    assert_eq!((generation.use_llm_sampler, generation.llm_sampler_model_id), (false, None));
    assert_eq!(config.output_dir, None);
}

#[test]
fn the_commands_of_the_readme_are_taken() {
    let config = values(&[
        "agent=MINI_SWE",
        "benchmark=RESTFUL_SERVER_GEN_ITERATIVE",
        "output_dir=/path/to/results",
        "restful_server_gen_iterative.n_scenarios=20",
        "restful_server_gen_iterative.n_turns=100",
        "restful_server_gen_iterative.attempt_limit=10",
        "restful_server_gen_iterative.base_seed=0",
        "mini_swe.model_id=\"bedrock/zai.glm-5\"",
        "docker.image_name=agent-benchmarking:mini",
        "docker.extra_docker_args=-u 0:0 -e HOME=/root",
        "batch_size=5",
        "use_docker=true",
    ])
    .expect("they are all known");
    assert_eq!((config.generation.n_scenarios, config.generation.n_turns), (20, 100));
    assert_eq!(config.generation.base_seed, 0);
    assert_eq!(config.output_dir.as_deref(), Some("/path/to/results"));
    assert_eq!(config.values["mini_swe.model_id"], "bedrock/zai.glm-5");
    assert_eq!(config.values["docker.extra_docker_args"], "-u 0:0 -e HOME=/root");
}

#[test]
fn a_later_file_wins_and_a_value_wins_over_both() {
    let first = file("restful_server_gen_iterative:\n  n_turns: 5\n  n_scenarios: 7\n  base_seed: 1\n");
    let second = file("restful_server_gen_iterative.n_turns: 6\nbenchmark: RESTFUL_SERVER_GEN_ITERATIVE\n");
    let config = resolve(&[first, second], &["restful_server_gen_iterative.base_seed=2".to_owned()])
        .expect("it is a configuration");
    let generation = config.generation;
    assert_eq!((generation.n_turns, generation.n_scenarios, generation.base_seed), (6, 7, 2));
}

#[test]
fn the_single_turn_benchmark_has_its_own_section_and_one_turn() {
    let config = values(&[
        "benchmark=RESTFUL_SERVER_GEN",
        "restful_server_gen.n_scenarios=4",
        "restful_server_gen_iterative.n_turns=50",
    ])
    .expect("it is a configuration");
    let generation = config.generation;
    assert_eq!((generation.n_scenarios, generation.n_turns, generation.num_changes_per_turn), (4, 1, 0));
    assert_eq!(generation.check(), Ok(()));
    assert!(values(&["restful_server_gen.n_turns=2"]).is_err());
}

#[test]
fn quick_debug_is_two_by_two() {
    let config = values(&["quick_debug=true", "restful_server_gen_iterative.n_turns=50"]).expect("it is one");
    assert_eq!((config.generation.n_scenarios, config.generation.n_turns), (2, 2));
    let config = values(&["quick_debug=True", "benchmark=RESTFUL_SERVER_GEN"]).expect("it is one");
    assert_eq!((config.generation.n_scenarios, config.generation.n_turns), (2, 1));
}

#[test]
fn the_model_matters_only_with_the_sampler_that_asks_it() {
    let model = "restful_server_gen_iterative.llm_sampler_model_id=some/model";
    assert_eq!(values(&[model]).expect("it is one").generation.llm_sampler_model_id, None);
    let setting = "restful_server_gen_iterative.use_llm_sampler=true";
    let model_of = |list: &[&str]| values(list).expect("it is one").generation.llm_sampler_model_id;
    assert_eq!(model_of(&[setting]).as_deref(), Some("zai.glm-5"));
    assert_eq!(model_of(&[setting, model]).as_deref(), Some("some/model"));
}

#[test]
fn episodes_are_numbers_in_every_spelling() {
    let key = "restful_server_gen_iterative.execute_episodes";
    for spelling in ["1,5,10", "\"1,5,10\"", "1, 5, 10"] {
        let config = values(&[&format!("{key}={spelling}")]).expect("it is one");
        assert_eq!(config.values[key], json!([1, 5, 10]));
    }
    let listed = resolve(&[file(&format!("{key}: [1, 5, 10]\n"))], &[]).expect("it is one");
    assert_eq!(listed.values[key], json!([1, 5, 10]));
    let none = values(&[&format!("{key}=None")]).expect("it is one");
    assert!(none.values.is_empty());
    assert!(values(&[&format!("{key}=1,,2")]).is_err());
}

#[test]
fn messages_say_where_what_and_what_instead() {
    let refusal = |result: Result<Config, ConfigError>| result.expect_err("it is refused").to_string();
    let unknown = refusal(values(&["restful_server_gen_iterative.n_turn=3"]));
    assert_eq!(
        unknown,
        "--values: the configuration knows no key \"restful_server_gen_iterative.n_turn\". \
         The nearest is \"restful_server_gen_iterative.n_turns\""
    );
    assert!(refusal(values(&["n_turns=3"])).contains("nearest is \"restful_server_gen_iterative.n_turns\""));
    assert!(refusal(values(&["benchmrk=3"])).contains("nearest is \"benchmark\""));
    assert_eq!(refusal(values(&["foo=1"])), "--values: the configuration knows no key \"foo\"");
    assert_eq!(
        refusal(values(&["restful_server_gen_iterative.n_turns=0"])),
        "--values: \"restful_server_gen_iterative.n_turns\" is \"0\"; it takes a whole number from 1 to 1000"
    );
    assert!(refusal(values(&["use_docker=maybe"])).contains("it takes true or false"));
    assert!(refusal(values(&["agent"])).contains("no key=value"));
    let yaml = refusal(resolve(&[file("benchmark: [")], &[]));
    assert!(yaml.starts_with("a.yaml: "), "{yaml}");
    assert!(refusal(resolve(&[file("- one\n")], &[])).contains("a list"));
    let nested = refusal(resolve(&[file("restful_server_gen_iterative: {n_turns: {x: 1}}\n")], &[]));
    assert!(nested.contains("knows no key \"restful_server_gen_iterative.n_turns.x\""), "{nested}");
}

#[test]
fn settings_from_elsewhere_are_held_to_the_same_ranges() {
    let turns = |n_turns| Generation { n_turns, ..Generation::default() }.check();
    assert_eq!((turns(1), turns(1000)), (Ok(()), Ok(())));
    assert!(turns(0).is_err() && turns(1001).is_err());
    assert!(Generation { num_changes_per_turn: 51, ..Generation::default() }.check().is_err());
    assert!(Generation { base_seed: u64::MAX, ..Generation::default() }.check().is_err());
}

#[test]
fn an_empty_file_says_nothing() {
    for text in ["", "\n# only a note\n", "{}\n", "null\n"] {
        assert_eq!(resolve(&[file(text)], &[]), Ok(Config::default()), "{text:?}");
    }
}

/// A known key with a value that it takes.
fn any_pair() -> impl Strategy<Value = (String, Value)> {
    (0..keys().len()).prop_flat_map(|index| {
        let known = keys()[index];
        let value = match known.takes() {
            ValueKind::Truth => any::<bool>().prop_map(Value::from).boxed(),
            ValueKind::Integer(low, high) => (low..=high).prop_map(Value::from).boxed(),
            ValueKind::Word(words) => prop::sample::select(words).prop_map(Value::from).boxed(),
            ValueKind::Text => "[a-z][a-z/._-]{0,20}[a-z]"
                .prop_filter("a word that YAML reads as something else", |text| {
                    !matches!(text.as_str(), "null" | "true" | "false" | "yes" | "no" | "on" | "off")
                })
                .prop_map(Value::from)
                .boxed(),
            ValueKind::Numbers => prop::collection::vec(0_u64..=1000, 1..5).prop_map(Value::from).boxed(),
            ValueKind::Amount(low, high) => (low..=high).prop_map(Value::from).boxed(),
            ValueKind::Words => {
                prop::collection::vec("[a-z][a-z ]{0,8}[a-z]", 1..5).prop_map(Value::from).boxed()
            }
        };
        value.prop_map(move |value| (known.dotted(), value))
    })
}

fn as_pair(key: &str, value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let shown = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            items.iter().map(shown).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    };
    format!("{key}={text}")
}

fn as_yaml(key: &str, value: &Value) -> String {
    match key.split_once('.') {
        Some((section, name)) => format!("{section}:\n  {name}: {value}\n"),
        None => format!("{key}: {value}\n"),
    }
}

proptest! {
    #[test]
    fn yaml_and_values_say_the_same(pairs in prop::collection::vec(any_pair(), 0..12)) {
        let files: Vec<ConfigFile> = pairs.iter().map(|(key, value)| file(&as_yaml(key, value))).collect();
        let list: Vec<String> = pairs.iter().map(|(key, value)| as_pair(key, value)).collect();
        let by_files = resolve(&files, &[]).expect("every key takes its value");
        prop_assert_eq!(&by_files, &resolve(&[], &list).expect("every key takes its value"));
        prop_assert_eq!(by_files.generation.check(), Ok(()));
        for (key, value) in &by_files.values {
            let last = pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v);
            prop_assert_eq!(Some(value), last);
        }
    }

    #[test]
    fn nothing_makes_it_panic(list in prop::collection::vec("[ -~\u{e9}\u{1f600}\n]{0,40}", 0..5), text in "[ -~\n]{0,80}") {
        drop(resolve(&[file(&text)], &[]));
        drop(resolve(&[], &list));
    }

    #[test]
    fn what_an_unknown_key_is_near_to_is_known(key in "[a-z_]{1,30}(\\.[a-z_]{1,30})?") {
        if let Err(ConfigError::UnknownKey { nearest: Some(nearest), .. }) = values(&[&format!("{key}=1")]) {
            prop_assert!(keys().iter().any(|known| known.dotted() == nearest));
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused(number in 1001_u64..) {
        for name in ["n_turns", "n_scenarios", "num_changes_per_turn"] {
            let pair = format!("restful_server_gen_iterative.{name}={number}");
            prop_assert!(values(&[&pair]).is_err());
        }
    }
}

#[test]
fn values_take_lists_and_mappings_as_yaml_has_them() {
    let config = resolve(
        &[],
        &[
            "tags=[a, b]".to_owned(),
            "restful_server_gen_iterative.execute_episodes=[1,5]".to_owned(),
            "docker.env_vars={A: x, B: 'y z'}".to_owned(),
            "opencode.model_id='[plain]'".to_owned(),
        ],
    )
    .unwrap();
    assert_eq!(config.values["tags"], serde_json::json!(["a", "b"]));
    assert_eq!(config.values["restful_server_gen_iterative.execute_episodes"], serde_json::json!([1, 5]));
    assert_eq!(config.values["docker.env_vars.A"], "x");
    assert_eq!(config.values["docker.env_vars.B"], "y z");
    assert_eq!(config.values["opencode.model_id"], "[plain]");
    let broken = resolve(&[], &["tags=[a, [b]".to_owned()]).unwrap_err();
    assert_eq!(broken.code(), "config.yaml");
}

#[test]
fn what_refers_to_its_surroundings_is_not_taken_literally() {
    let error = resolve(&[], &["output_dir=${oc.env:HOME}/results".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("${…} is not resolved"), "{error}");
    assert_eq!(resolve(&[], &["tags=['${now:}', b]".to_owned()]).unwrap_err().code(), "config.value");
}

#[test]
fn nothing_in_a_section_takes_the_whole_section_back() {
    let text = "docker:\n  image_name: a\nopenhands: null\n".to_owned();
    let first = ConfigFile { name: "a.yaml".to_owned(), text };
    let second =
        ConfigFile { name: "b.yaml".to_owned(), text: "docker: null\nrestful_server_gen: null\n".to_owned() };
    assert!(resolve(std::slice::from_ref(&first), &[]).unwrap().values.contains_key("docker.image_name"));
    assert!(resolve(&[first, second], &[]).unwrap().values.is_empty());
}

#[test]
fn a_file_from_elsewhere_is_read_as_far_as_it_is_understood() {
    let text = "agent: MINI_SWE\nlog_level: INFO\nuse_docker: perhaps\nrestful_server_gen:\nopenhands:\n\
                restful_server_gen_iterative:\n  n_turns: 7\n  max_fields: 12\n"
        .to_owned();
    let (config, left_out) = read(&ConfigFile { name: "config.yaml".to_owned(), text }).unwrap();
    assert_eq!(config.generation.n_turns, 7);
    let mut reported: Vec<(&str, bool)> =
        left_out.iter().map(|left| (left.key.as_str(), left.is_unknown)).collect();
    reported.sort_unstable();
    assert_eq!(
        reported,
        [("log_level", true), ("restful_server_gen_iterative.max_fields", true), ("use_docker", false)]
    );
    assert!(
        left_out.iter().any(|left| left.reason == "\"use_docker\" is \"perhaps\"; it takes true or false")
    );
}

#[test]
// docs/security.md: A file that is loaded as settings
fn nothing_of_a_file_that_is_no_settings_file_is_quoted() {
    let secrets = [
        "[default]\naws_access_key_id = hunter2\n",
        "hunter2\n",
        "- hunter2\n",
        "hunter2: hunter2\nother: [1]\n",
        "a: hunter2: hunter2\n",
        "\"hunter2\n",
        "root:x:0:0:hunter2:/root:/bin/bash\nhunter2: *hunter2\n",
        "hunter2: 1\nhunter2: 2\n",
        "hunter2_token: abc\nother: 1\n",
    ];
    for text in secrets {
        let strict = resolve(&[file(text)], &[]).expect_err(text).to_string();
        assert!(strict.starts_with("a.yaml") && !strict.contains("hunter2"), "{strict}");
        let lenient = read(&file(text)).expect_err(text).to_string();
        assert!(lenient.starts_with("a.yaml") && !lenient.contains("hunter2"), "{lenient}");
    }
    // A file with a setting says which of its keys are unknown.
    let (_, left_out) = read(&file("benchmark: RESTFUL_SERVER_GEN\nmine: 1\n")).expect("it is one");
    assert_eq!(left_out[0].key, "mine");
}

#[test]
fn a_number_of_a_section_of_others_that_is_out_of_range_is_refused_where_it_is_read() {
    for value in ["0", "3601", "1.5", "soon"] {
        let pair = format!("llm_sampler.timeout_seconds={value}");
        let error = resolve(&[], &[pair]).unwrap_err().to_string();
        assert!(error.contains("llm_sampler.timeout_seconds") && error.contains("from 1 to 3600"), "{error}");
    }
    let taken = resolve(&[], &["llm_sampler.timeout_seconds=3600".to_owned()]).unwrap();
    assert_eq!(taken.values["llm_sampler.timeout_seconds"], 3600);
    let (config, left_out) = read(&file("agent: MOCK\nllm_sampler:\n  calls_at_once: 65\n")).unwrap();
    assert!(!config.values.contains_key("llm_sampler.calls_at_once"));
    assert_eq!(left_out[0].key, "llm_sampler.calls_at_once");
}
