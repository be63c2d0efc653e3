//! Settings flattened to dotted keys, in Harbor's own names, so that two runs can be compared line by line.
//!
//! Secrets are recognized by the names of their keys, and by their place: an `env` map is where people put them, under
//! any name, so nothing of it is shown but templates (`${HF_TOKEN}`), which name a variable and hold no value.

use model::Extra;
use serde_json::Value;

use crate::readers::json::Node;

/// Of a trial's configuration: what says which trial it is, and not how it was run.
const NOT_SETTINGS: [&str; 6] = ["task", "trial_name", "trials_dir", "job_id", "source_trial", "artifacts"];
/// Words in the names of settings whose values are private. Harbor hides the ones that it knows of.
const SECRET: [&str; 8] =
    ["api_key", "apikey", "_token", "secret", "password", "authorization", "credential", "private_key"];

/// Adds a job's configuration, but its list of agents: a run has one of them.
pub(super) fn add_job_settings(config: &Node, out: &mut Extra) {
    for (key, value) in config.map() {
        if key != "agents" {
            flatten(key, value, out);
        }
    }
}

/// Adds what a trial's whole configuration says beyond its job's: agent, environment, verifier, timeouts.
pub(super) fn add_trial_settings(config: &Node, out: &mut Extra) {
    for (key, value) in config.map() {
        if !NOT_SETTINGS.contains(&key.as_str()) {
            flatten(key, value, out);
        }
    }
}

/// The most settings of a run that are kept. A name stands in the key of each value below it, so both are bounded.
const SETTINGS_CAP: usize = 5_000;
/// The longest key in bytes.
const KEY_CAP: usize = 1_000;

/// Adds a value under a dotted key; lists of plain values stay lists, null and empty values are left out, and what lies beyond
/// the bounds.
pub(in crate::formats) fn flatten(key: &str, value: &Node, out: &mut Extra) {
    if key.len() > KEY_CAP || out.len() >= SETTINGS_CAP {
        return;
    }
    match value {
        Node::Null => {}
        Node::Map(map) => {
            for (name, value) in map.iter().filter(|(name, _)| key.len() + name.len() < KEY_CAP) {
                flatten(&format!("{key}.{name}"), value, out);
            }
        }
        Node::List(list) if list.is_empty() => {}
        Node::List(list) if list.iter().any(|v| matches!(v, Node::Map(_) | Node::List(_))) => {
            for (index, value) in list.iter().enumerate() {
                flatten(&format!("{key}.{index}"), value, out);
            }
        }
        other => {
            out.entry(key).or_insert_with(|| plain(key, other));
        }
    }
}

/// The value as JSON, with `[hidden]` for each part whose key is that of a secret or that stands in an `env`, and that
/// is more than the name of a variable.
pub(in crate::formats) fn plain(key: &str, value: &Node) -> Value {
    let name = key.to_ascii_lowercase();
    let is_env = name.split('.').any(|part| part == "env" || part.ends_with("_env"));
    let hidden = || Value::String("[hidden]".to_owned());
    match value {
        Node::Null => Value::Null,
        Node::Map(map) => {
            map.iter().map(|(part, value)| (part.clone(), plain(&format!("{key}.{part}"), value))).collect()
        }
        Node::List(list) => list.iter().map(|value| plain(key, value)).collect(),
        Node::Text(text, _) if text.is_empty() || is_template(text) => value.to_value(),
        // Not even a number or a flag: what it means is private, too.
        _ if is_env => hidden(),
        Node::Text(..) if SECRET.iter().any(|word| name.contains(word)) => hidden(),
        other => other.to_value(),
    }
}

/// Whether a text is one `${NAME}`, and nothing else; `${NAME:-value}` holds a value.
fn is_template(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn settings_are_kept_up_to_a_number_and_a_length_of_their_names() {
        let flat_settings: serde_json::Map<String, Value> =
            (0..2 * SETTINGS_CAP).map(|index| (format!("k{index}"), index.into())).collect();
        let config = serde_json::json!({ "agent": { "x".repeat(100_000): flat_settings.clone(), "kwargs": flat_settings, "": 1 } });
        let node: Node = serde_json::from_str(&config.to_string()).unwrap();
        let mut out = Extra::new();
        add_trial_settings(&node, &mut out);
        assert_eq!(out.len(), SETTINGS_CAP);
        assert!(out.keys().all(|key| key.len() <= KEY_CAP));
    }

    #[test]
    fn nothing_of_an_env_is_shown_but_names_of_variables() {
        let node: Node = serde_json::from_str(
            r#"{"agent": {"env": {"DATABASE_URL": "postgres://u:pw@host/db", "PORT": 8080, "ON": true, "HF": "${HF_TOKEN}",
                                  "D": "${A:-pw}", "TWO": "${A}pw", "EMPTY": "", "MORE": ["pw"]}},
                "verifier": {"env": ["A=pw", "${B}"], "timeout": 5}, "env_broken": "x", "environment": {"type": "docker"}}"#,
        )
        .unwrap();
        let mut out = Extra::new();
        add_trial_settings(&node, &mut out);
        assert_eq!(
            serde_json::to_value(&out).unwrap(),
            serde_json::json!({
                "agent.env.DATABASE_URL": "[hidden]", "agent.env.PORT": "[hidden]", "agent.env.ON": "[hidden]",
                "agent.env.HF": "${HF_TOKEN}", "agent.env.D": "[hidden]", "agent.env.TWO": "[hidden]",
                "agent.env.EMPTY": "", "agent.env.MORE": ["[hidden]"], "verifier.env": ["[hidden]", "${B}"],
                "verifier.timeout": 5, "env_broken": "x", "environment.type": "docker"
            })
        );
        // What is kept whole, under an unknown name, is searched.
        let nested: Node =
            serde_json::from_str(r#"{"a": [{"env": {"X": "pw"}, "api_key": "pw", "n": 1}]}"#).unwrap();
        assert_eq!(
            plain("unknown", &nested),
            serde_json::json!({"a": [{"env": {"X": "[hidden]"}, "api_key": "[hidden]", "n": 1}]})
        );
    }

    #[test]
    fn keys_are_dotted_and_secrets_hidden() {
        let node: Node = serde_json::from_str(
            r#"{"agent": {"kwargs": {"api_base": "http://x", "temperature": 0.5}, "env": {"OPENAI_API_KEY": "sk-1", "HF_TOKEN": "${HF_TOKEN}"}, "skills": [], "none": null},
                "names": ["a", "b"], "datasets": [{"path": "t"}], "task": {"path": "x"}, "max_tokens": 5}"#,
        )
        .unwrap();
        let mut out = Extra::new();
        add_trial_settings(&node, &mut out);
        let out = serde_json::to_string(&out).unwrap();
        assert_eq!(
            out,
            r#"{"agent.kwargs.api_base":"http://x","agent.kwargs.temperature":0.5,"agent.env.OPENAI_API_KEY":"[hidden]","agent.env.HF_TOKEN":"${HF_TOKEN}","names":["a","b"],"datasets.0.path":"t","max_tokens":5}"#
        );
    }
}
