//! What the crate `settings` declares is what a run reads and writes.

use std::collections::BTreeSet;

use settings::{AGENTS, DefaultValue, Key, ValueKind, keys, protocols};

use super::{resolved_values, written_and_read};

/// Settings under which a key means something.
fn base(key: &str) -> Vec<String> {
    let mut list = vec!["agent=MINI_SWE", "output_dir=/r", "use_docker=true"];
    if key.starts_with("restful_server_gen.") {
        list.push("benchmark=RESTFUL_SERVER_GEN");
    }
    if key.starts_with("harbor.") || matches!(key, "tasks" | "attempt_limit") {
        list.extend(["benchmark=HARBOR", "tasks=/t"]);
    }
    match key {
        "harness_file" => list.extend(["agent=CUSTOM", "harness_file=/h.toml"]),
        "use_docker" => list.push("agent=MOCK"),
        "attempt_limit" | "harbor.attempt_limit" => list.push("restore_before_try=true"),
        "restore_before_try" => list.push("restful_server_gen_iterative.enable_feedback=false"),
        "restful_server_gen.llm_sampler_model_id" => list.push("restful_server_gen.use_llm_sampler=true"),
        "restful_server_gen_iterative.llm_sampler_model_id" => {
            list.push("restful_server_gen_iterative.use_llm_sampler=true");
        }
        "endpoint.base_url" | "endpoint.key_env" | "endpoint.key_name" => {
            list.extend(["mini_swe.model_id=m", "endpoint.base_url=http://x"]);
        }
        "endpoint.price.input"
        | "endpoint.price.output"
        | "endpoint.price.cached"
        | "endpoint.price.cache_write" => {
            list.extend(["endpoint.price.input=1", "endpoint.price.output=1"]);
        }
        _ => {}
    }
    list.into_iter().map(str::to_owned).collect()
}

/// A value that is not the default.
fn other_value(key: &Key) -> String {
    let name = key.dotted();
    match key.takes() {
        ValueKind::Truth => {
            let is_on = key.setting.default == DefaultValue::Value("true") || name == "use_docker";
            (!is_on).to_string()
        }
        ValueKind::Integer(low, _) => (low.max(1) + 1).to_string(),
        ValueKind::Amount(low, _) => (low + 0.5).to_string(),
        ValueKind::Word(words) => words[1].to_owned(),
        ValueKind::Text if name == "endpoint.key_env" => "OTHER_KEY".to_owned(),
        ValueKind::Text if name == "endpoint.base_url" => "http://other".to_owned(),
        ValueKind::Text => "/other".to_owned(),
        ValueKind::Numbers => "0,2".to_owned(),
        ValueKind::Words => "a,b".to_owned(),
    }
}

/// The settings of a key's base with one more value.
fn with_value(key: &str, more: Option<&str>) -> super::RunSettings {
    let mut list = base(key);
    list.extend(more.map(|value| format!("{key}={value}")));
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    resolved_values(&list).unwrap_or_else(|error| panic!("{list:?}: {error}"))
}

#[test]
fn every_key_that_is_declared_is_read_and_comes_back() {
    for key in keys() {
        let (name, value) = (key.dotted(), other_value(key));
        let changed = with_value(&name, Some(&value));
        assert_ne!(changed, with_value(&name, None), "{name}={value} is not read");
        assert_eq!(written_and_read(&changed), changed, "{name}={value} does not come back");
    }
}

#[test]
fn a_default_that_is_declared_is_the_one_that_holds() {
    for key in keys() {
        if let DefaultValue::Value(value) = key.setting.default {
            let name = key.dotted();
            assert_eq!(
                with_value(&name, Some(value)),
                with_value(&name, None),
                "{name}={value} is not the default"
            );
        }
    }
}

#[test]
fn the_words_of_agents_are_those_of_the_harnesses() {
    let existing: BTreeSet<String> =
        harness::all().iter().map(|harness| harness.name().to_ascii_uppercase()).collect();
    let is_player = |word: &str| crate::harbor::player::is_player(&word.to_ascii_lowercase());
    let declared: BTreeSet<String> = AGENTS
        .iter()
        .filter(|word| **word != "CUSTOM" && !is_player(word))
        .map(|word| (*word).to_owned())
        .collect();
    assert_eq!(declared, existing, "crates/settings/src/harness_words.rs");
    for word in AGENTS {
        assert_eq!(is_player(word), settings::is_player(&word.to_ascii_lowercase()), "{word}");
    }
}

#[test]
fn the_words_of_protocols_are_those_of_the_run() {
    for protocol in protocols::ALL {
        let named = format!("harbor.protocol={}", protocol.word);
        let settings =
            resolved_values(&["agent=NOP", "output_dir=/r", "benchmark=HARBOR", "tasks=/t", &named]).unwrap();
        let tasks = settings.tasks.unwrap();
        assert_eq!(tasks.protocol.map(super::TaskProtocol::as_str), Some(protocol.word));
        assert_eq!(
            (settings.attempt_limit, settings.fail_stop, settings.restore_before_try),
            (protocol.attempts, protocol.fail_stop, protocol.restore_before_try)
        );
        assert_eq!(tasks.timeout == super::TaskTimeout::Stop, protocol.timeout == "stop");
    }
}
