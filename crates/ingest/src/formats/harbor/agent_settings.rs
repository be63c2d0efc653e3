//! Settings of an agent that are not the same in all trials of a run. A job may name one agent and model several times, with
//! different settings. Harbor's own figures combine their trials, so they are one run here, too.

use std::collections::BTreeMap;

use model::Extra;
use serde_json::Value;

/// Most values of a setting that are shown. With more of them the setting is unknown.
pub(super) const VALUES: usize = 8;
/// Most settings that are compared.
const SETTINGS: usize = 1_000;
/// What the names of its settings begin with.
const AGENT: &str = "agent.";
/// What names the agent and its model. The run says it.
const NAMES: [&str; 3] = ["name", "import_path", "model_name"];
/// Settings of which Harbor writes those that were given. Other settings may lack because an older version did not have them.
const GIVEN: &str = "agent.kwargs.";

/// The values of each setting over the trials of a run.
#[derive(Debug, Default)]
pub(super) struct AgentSettings {
    trials: u32,
    by_name: BTreeMap<String, Values>,
}

/// The values of one setting.
#[derive(Debug, Default)]
struct Values {
    /// The different ones, at most one more than are shown.
    different: Vec<Value>,
    trials: u32,
}

impl AgentSettings {
    /// Adds the settings of a trial under their dotted names. A trial without any says nothing.
    pub(super) fn add(&mut self, settings: Extra) {
        if settings.is_empty() {
            return;
        }
        self.trials += 1;
        for (name, value) in settings {
            if name.strip_prefix(AGENT).is_some_and(|name| NAMES.contains(&name))
                || self.by_name.len() >= SETTINGS && !self.by_name.contains_key(&name)
            {
                continue;
            }
            let values = self.by_name.entry(name).or_default();
            values.trials += 1;
            if values.different.len() <= VALUES && !values.different.contains(&value) {
                values.different.push(value);
            }
        }
    }

    /// Replaces each setting that differs between trials by the list of its values (null = not set), and removes it if there
    /// are too many. Returns the names of these settings.
    pub(super) fn list_differing(&self, settings: &mut Extra) -> Vec<&str> {
        let mut names = Vec::new();
        for (name, values) in &self.by_name {
            let is_partly_set = name.starts_with(GIVEN) && values.trials < self.trials;
            if values.different.len() < 2 && !is_partly_set {
                continue;
            }
            names.push(name.as_str());
            if values.different.len() > VALUES {
                settings.remove(name);
                continue;
            }
            let mut list = values.different.clone();
            list.sort_by_cached_key(Value::to_string);
            if is_partly_set {
                list.push(Value::Null);
            }
            settings.insert(name.clone(), list.into());
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed_settings(trials: &[Value]) -> (Value, Vec<String>) {
        let mut all = AgentSettings::default();
        for trial in trials {
            all.add(trial.as_object().unwrap().clone());
        }
        let mut settings = trials[0].as_object().unwrap().clone();
        let names = all.list_differing(&mut settings).into_iter().map(str::to_owned).collect();
        (settings.into(), names)
    }

    #[test]
    fn a_setting_that_differs_is_the_list_of_its_values() {
        let trial = |effort: &str| json!({ "agent.name": "a", "agent.kwargs.effort": effort, "agent.kwargs.version": 2, "agent.new": true });
        assert_eq!(listed_settings(&[trial("low"), trial("low")]), (trial("low"), vec![]));
        let names = vec!["agent.kwargs.effort".to_owned()];
        let mut combined = trial("low");
        combined["agent.kwargs.effort"] = json!(["high", "low"]);
        assert_eq!(
            listed_settings(&[trial("low"), trial("high"), trial("low")]),
            (combined.clone(), names.clone())
        );
        // What a trial does not have was not set, if Harbor writes what was set.
        let partial = json!({ "agent.name": "a", "agent.kwargs.version": 2 });
        combined["agent.kwargs.effort"] = json!(["low", null]);
        assert_eq!(listed_settings(&[trial("low"), partial]), (combined, names));
    }

    #[test]
    fn a_setting_of_many_values_is_unknown() {
        let trial = |number: usize| json!({ "agent.kwargs.id": number, "agent.kwargs.version": 2 });
        let values = |count: usize| (0..count).map(trial).collect::<Vec<_>>();
        let known: Vec<usize> = (0..VALUES).collect();
        assert_eq!(listed_settings(&values(VALUES)).0["agent.kwargs.id"], json!(known));
        let (settings, names) = listed_settings(&values(VALUES + 1));
        assert_eq!(settings, json!({ "agent.kwargs.version": 2 }));
        assert_eq!(names, ["agent.kwargs.id"]);
    }
}
