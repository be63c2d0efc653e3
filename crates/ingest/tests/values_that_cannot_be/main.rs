//! Values that cannot be what their names say, in every place where a source has them: unknown, and reported
//! (`docs/formats.md`, *Values that cannot be*).

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod counts;
mod other_values;

use std::fs;
use std::path::Path;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::Report;
use model::{Attempt, Episode, Run, Warning};
use serde_json::{Value, json};

/// What a folder is read as.
struct Read {
    runs: Vec<Run>,
    episodes: Vec<Episode>,
    warnings: Vec<Warning>,
}

impl Read {
    fn from_folder(root: &Path) -> Self {
        let tree = Tree::open(root).unwrap();
        let (mut report, mut runs, mut episodes) = (Report::default(), Vec::new(), Vec::new());
        for place in discover(&tree).unwrap().places {
            let survey = place.format.survey(&tree, &place.folder, &mut report);
            runs.extend(survey.runs);
            for part in &survey.parts {
                let readings = place.format.read(&tree, &place.folder, part, &mut report);
                episodes.extend(readings.into_iter().map(|reading| reading.episode));
            }
        }
        report.warnings.extend(tree.warnings());
        Self { runs, episodes, warnings: report.warnings }
    }

    /// The only attempt of a scenario of one turn.
    fn attempt(&self, scenario: &str) -> &Attempt {
        let episode = self.episodes.iter().find(|episode| episode.scenario == scenario);
        &episode.unwrap_or_else(|| panic!("no {scenario}")).turns[0].attempts[0]
    }

    /// Codes of the warnings of a path with this in it, in alphabetical order, but for that its job has no files.
    fn codes(&self, part: &str) -> Vec<&str> {
        let part_warnings = self.warnings.iter().filter(|warning| warning.path.contains(part));
        let mut codes: Vec<&str> = part_warnings.map(|warning| warning.code.as_str()).collect();
        codes.retain(|code| *code != "harbor.no_job_files");
        codes.sort_unstable();
        codes
    }

    /// Everything that is reported of values that cannot be.
    fn unusable(&self) -> String {
        let odd = self.warnings.iter().filter(|warning| warning.code == "value.not_usable");
        odd.map(|warning| [&warning.path, ": ", &warning.message, "\n"].concat()).collect()
    }
}

/// Writes a trial of one step into a Harbor job; `fields` are those of its result beside the usual ones, `files` lie in its folder.
fn trial(job: &Path, name: &str, fields: &Value, files: &[(&str, String)]) {
    let folder = job.join(format!("{name}__AAAAAA1"));
    let config = json!({
        "task": { "path": format!("tasks/{name}") }, "agent": { "name": "agent-a", "model_name": "v/m" },
        "trial_name": format!("{name}__AAAAAA1"),
    });
    let mut result = json!({
        "id": format!("id-{name}"), "task_name": name, "trial_name": format!("{name}__AAAAAA1"), "config": config,
        "verifier_result": { "rewards": { "reward": 0.0 } },
        "agent_execution": { "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:01:00Z" },
        "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:02:00Z",
    });
    for (key, value) in fields.as_object().unwrap() {
        result[key] = value.clone();
    }
    fs::create_dir_all(&folder).unwrap();
    if !job.join("config.json").exists() {
        let agents = json!({ "job_name": "job", "agents": [{ "name": "agent-a", "model_name": "v/m" }] });
        fs::write(job.join("config.json"), agents.to_string()).unwrap();
    }
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    fs::write(folder.join("result.json"), result.to_string()).unwrap();
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
