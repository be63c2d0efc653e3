//! Settings flattened to dotted keys, in Harbor's own names, so that two runs can be compared line by line.

use model::Extra;
use serde_json::Value;

use crate::readers::json::Node;

/// Of a trial's configuration: what says which trial it is, and not how it was run.
const NOT_SETTINGS: [&str; 6] = ["task", "trial_name", "trials_dir", "job_id", "source_trial", "artifacts"];
/// Words in the names of settings whose values are nobody's business. Harbor hides the ones that it knows of.
const SECRET: [&str; 8] =
    ["api_key", "apikey", "_token", "secret", "password", "authorization", "credential", "private_key"];

/// Adds a job's configuration, but its list of agents: a run has one of them.
pub(super) fn of_job(config: &Node, out: &mut Extra) {
    for (key, value) in config.map() {
        if key != "agents" {
            flatten(key, value, out);
        }
    }
}

/// Adds what a trial's whole configuration says beyond its job's: agent, environment, verifier, timeouts.
pub(super) fn of_trial(config: &Node, out: &mut Extra) {
    for (key, value) in config.map() {
        if !NOT_SETTINGS.contains(&key.as_str()) {
            flatten(key, value, out);
        }
    }
}

/// Adds a value under a dotted key; lists of plain values stay lists, null and empty values are left out.
pub(super) fn flatten(key: &str, value: &Node, out: &mut Extra) {
    match value {
        Node::Null => {}
        Node::Map(map) => {
            for (name, value) in map {
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

/// The value as JSON, or `[hidden]` where its key is that of a secret and it is more than the name of a variable.
pub(super) fn plain(key: &str, value: &Node) -> Value {
    let name = key.to_ascii_lowercase();
    let secret = SECRET.iter().any(|word| name.contains(word));
    match value {
        Node::Text(text, _) if secret && !text.starts_with("${") && !text.is_empty() => {
            Value::String("[hidden]".to_owned())
        }
        other => other.to_value(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_dotted_and_secrets_hidden() {
        let node: Node = serde_json::from_str(
            r#"{"agent": {"kwargs": {"api_base": "http://x", "temperature": 0.5}, "env": {"OPENAI_API_KEY": "sk-1", "HF_TOKEN": "${HF_TOKEN}"}, "skills": [], "none": null},
                "names": ["a", "b"], "datasets": [{"path": "t"}], "task": {"path": "x"}, "max_tokens": 5}"#,
        )
        .unwrap();
        let mut out = Extra::new();
        of_trial(&node, &mut out);
        let out = serde_json::to_string(&out).unwrap();
        assert_eq!(
            out,
            r#"{"agent.kwargs.api_base":"http://x","agent.kwargs.temperature":0.5,"agent.env.OPENAI_API_KEY":"[hidden]","agent.env.HF_TOKEN":"${HF_TOKEN}","names":["a","b"],"datasets.0.path":"t","max_tokens":5}"#
        );
    }
}
