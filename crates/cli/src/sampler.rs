//! Which sampler a generation takes: the programmatic one, a model, or the recorded answers of one.

use std::num::NonZero;

use llm_sampler::{LlmSampler, Replay, Settings};
use scenario::config::{Config, Generation};
use scenario::pack::Pack;
use scenario::sample::{Programmatic, Sampler};
use workbench::api::ApiError;

/// The model if none is named; the one of the StaminaBench README.
const MODEL: &str = "zai.glm-5";

/// A sampler, and how many scenarios it makes at a time.
pub(crate) struct Chosen {
    pub(crate) sampler: Box<dyn Sampler>,
    /// As many as the machine has processors, unless something else is waited for.
    pub(crate) threads: Option<NonZero<usize>>,
}

impl Chosen {
    pub(crate) fn programmatic() -> Self {
        Self { sampler: Box::new(Programmatic), threads: None }
    }

    /// The one that the settings ask for.
    pub(crate) fn by_settings(config: &Config) -> Result<Self, ApiError> {
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
        let sampler = LlmSampler::new(&settings).map_err(unready)?;
        Ok(Self { sampler: Box::new(sampler), threads: NonZero::new(settings.limits.at_once) })
    }

    /// The one that a pack was made with, with its answers in the place of a model.
    pub(crate) fn by_answers(pack: Pack) -> Self {
        if !pack.manifest().config.use_llm_sampler {
            return Self::programmatic();
        }
        let recorded = Replay::new(move |scenario, turn| {
            pack.answers(scenario, turn).map_err(|error| error.to_string())
        });
        Self { sampler: Box::new(LlmSampler::replay(recorded)), threads: None }
    }
}
