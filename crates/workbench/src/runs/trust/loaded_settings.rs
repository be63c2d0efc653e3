//! Settings that are loaded into the form out of a file that somebody else may have made.

use model::plain_line;
use runner::settings::KeySource;

use super::{Endpoint, key_in_words};
use crate::Workbench;
use crate::api::{ApiError, EndpointMode, FormNetwork, FormSettings, FormSource, KeyPlace};

impl Workbench {
    /// Takes out of settings that were read from a file what would give away something of this machine: an endpoint that was
    /// never used here, with its key, and variables of the environment. What was taken out, in sentences.
    pub(in crate::runs) fn without_foreign(
        &self,
        settings: &mut FormSettings,
    ) -> Result<Vec<String>, ApiError> {
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
            // What a form for scenarios holds of tasks, and the other way round, is not played.
            (settings.source == FormSource::Tasks && !settings.tasks.is_empty()).then(|| {
                format!("the tasks {}, whose images are built with the network of the engine", settings.tasks)
            }),
            (settings.source == FormSource::Scenarios && !settings.scenarios_dir.is_empty())
                .then(|| format!("the pack of scenarios {}", settings.scenarios_dir)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::api::LoadSettings;

    #[test]
    // docs/security.md: A resume
    fn what_a_loaded_file_has_played_is_named() {
        let room = tempfile::tempdir().unwrap();
        let db = Some(room.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        let file = room.path().join("config.yaml");
        let notes = |text: &str| {
            std::fs::write(&file, format!("output_dir: /r\n{text}")).unwrap();
            let file = Some(file.display().to_string());
            let request = LoadSettings { yaml: None, file, run: None, folder: None };
            workbench.load_settings(request).unwrap().notes.join("\n")
        };
        let tasks = notes("agent: NOP\nbenchmark: HARBOR\ntasks: /r/stranger/tasks\n");
        let named = "The file sets the tasks /r/stranger/tasks, whose images are built with the network of the engine";
        assert!(tasks.contains(named), "{tasks}");
        let pack = notes("agent: MOCK\nscenarios_dir: /r/stranger/pack\n");
        assert!(pack.contains("The file sets the pack of scenarios /r/stranger/pack"), "{pack}");
        let hostile_notes = notes("agent: MOCK\nscenarios_dir: \"/r/a\\u202eb\\nThe key is ours\"\n");
        assert!(
            hostile_notes.contains("not on this machine: /r/a\u{fffd}b\u{fffd}The key"),
            "{hostile_notes}"
        );
        let neither = notes("agent: MOCK\n");
        assert!(!neither.contains("The file sets"), "{neither}");
    }
}
