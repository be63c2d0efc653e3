//! Which sampler a generation takes: the programmatic one, a model, or the recorded answers of one.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use llm_sampler::{Journal, LlmSampler, Replay, Settings};
use scenario::config::{Config, Generation, MODEL};
use scenario::pack::Pack;
use scenario::sample::{Programmatic, Sampler};
use serde_json::json;
use workbench::api::ApiError;

use crate::commands::note;

/// A sampler, and how many scenarios it makes at a time.
pub(crate) struct Chosen {
    pub(crate) sampler: Box<dyn Sampler>,
    /// As many as the machine has processors, unless something else is waited for.
    pub(crate) threads: Option<NonZero<usize>>,
    /// Where a model's answers are kept until they are in the pack.
    journal: Option<Arc<Journal>>,
}

impl Chosen {
    pub(crate) fn programmatic() -> Self {
        Self { sampler: Box::new(Programmatic), threads: None, journal: None }
    }

    /// The one that the settings ask for, for a pack that goes to `out`. A model is not waited for any longer once
    /// `stop` is set.
    pub(crate) fn by_settings(config: &Config, out: &Path, stop: &Arc<AtomicBool>) -> Result<Self, ApiError> {
        let Generation { use_llm_sampler, llm_sampler_model_id, .. } = &config.generation;
        if !use_llm_sampler {
            return Ok(Self::programmatic());
        }
        let model = llm_sampler_model_id.as_deref().unwrap_or(MODEL);
        let given = config.given.iter().map(|(key, value)| (key.as_str(), value));
        let unready = |error: llm_sampler::Unready| {
            ApiError::new("sampler.unready", error.to_string()).hint(
                "Without use_llm_sampler=true no model is needed; docs/scenarios.md says how one is reached",
            )
        };
        let settings = Settings::new(model, given).map_err(unready)?;
        // What was asked for depends on these alone; where the model is reached does not matter.
        let of = json!({ "generator": env!("CARGO_PKG_VERSION"), "generation": config.generation });
        let journal = Arc::new(Journal::open(&beside(out), of).map_err(unready)?);
        if journal.known() > 0 {
            note(&format!("goes on with the {} answers in {}", journal.known(), journal.path().display()));
        }
        let sampler = LlmSampler::new(&settings).map_err(unready)?.stopped_by(stop).keeping(&journal);
        Ok(Self {
            sampler: Box::new(sampler),
            threads: NonZero::new(settings.limits.at_once),
            journal: Some(journal),
        })
    }

    /// The one that a pack was made with, with its answers in the place of a model.
    pub(crate) fn by_answers(pack: Pack) -> Self {
        if !pack.manifest().config.use_llm_sampler {
            return Self::programmatic();
        }
        let recorded = Replay::new(move |scenario, turn| {
            pack.answers(scenario, turn).map_err(|error| error.to_string())
        });
        Self { sampler: Box::new(LlmSampler::replay(recorded)), threads: None, journal: None }
    }

    /// What is to be done with the answers now that the pack is written, or is not.
    pub(crate) fn ended(&self, written: bool) {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.is_begun()) else { return };
        let path = journal.path().display();
        if !written {
            note(&format!("the answers so far are kept in {path}: the same command goes on with them"));
        } else if let Err(error) = journal.remove() {
            note(&format!("{path} is not needed any more, and could not be removed: {error}"));
        }
    }
}

/// The file for the answers of a pack: `pack.answers.jsonl`.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".answers.jsonl");
    out.with_file_name(name)
}
