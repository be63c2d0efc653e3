//! Which sampler a generation takes: the programmatic one, a model, or the recorded answers of one; and the pack that a model
//! fills in before a run begins.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use llm_sampler::{Counts, Endpoint, Journal, LlmSampler, Replay, Settings, Tally};
use runner::settings::RunSettings;
use scenario::pack::{self, Pack, Progress, Target};
use scenario::sample::{ProgrammaticSampler, Sampler};
use serde_json::{Value, json};
use settings::{Generation, MODEL};

use crate::Workbench;
use crate::api::{AnswerCounts, ApiError, Generated, JobKind, JobRef, OpenSource, SampleScenarios};
use crate::jobs::Outcome;

/// A sampler, and how many scenarios it makes at a time.
#[expect(missing_debug_implementations, reason = "a sampler has none")]
pub struct ChosenSampler {
    /// It.
    pub sampler: Box<dyn Sampler>,
    /// As many as the machine has processors, unless something else is waited for.
    pub threads: Option<NonZero<usize>>,
    /// Where a model's answers are kept until they are in the pack.
    journal: Option<Arc<Journal>>,
    /// What becomes of a model's answers, if one is asked.
    pub tally: Option<Tally>,
}

impl ChosenSampler {
    /// The one that draws everything from the seed.
    pub fn programmatic() -> Self {
        Self { sampler: Box::new(ProgrammaticSampler), threads: None, journal: None, tally: None }
    }

    /// The one that the settings ask for, for a pack that goes to `out`; `model_keys` say where a model is. A
    /// model is not waited for any longer once `stop` is set. What there is to report goes to `report_line`, a line at a
    /// time, and what becomes of the model's answers to `tally`.
    pub fn from_settings<'a>(
        generation: &Generation,
        model_keys: impl IntoIterator<Item = (&'a str, &'a Value)>,
        out: &Path,
        stop: &Arc<AtomicBool>,
        tally: &Tally,
        report_line: &dyn Fn(&str),
    ) -> Result<Self, ApiError> {
        let Generation { use_llm_sampler, llm_sampler_model_id, .. } = generation;
        if !use_llm_sampler {
            return Ok(Self::programmatic());
        }
        let model = llm_sampler_model_id.as_deref().unwrap_or(MODEL);
        let unready = |error: llm_sampler::UnusableModel| {
            ApiError::new("sampler.unready", error.to_string()).hint(
                "Without use_llm_sampler=true no model is needed; docs/scenarios.md says how one is reached",
            )
        };
        let settings = Settings::new(model, model_keys).map_err(unready)?;
        // What was asked for depends on these alone; where the model is reached does not matter.
        let journal_head = json!({ "generator": env!("CARGO_PKG_VERSION"), "generation": generation });
        let journal = Arc::new(Journal::open(&sampled_pack_path(out), journal_head).map_err(unready)?);
        if journal.known() > 0 {
            report_line(&format!(
                "continues with the {} in {}",
                model::counted(journal.known() as u64, "answer"),
                journal.path().display()
            ));
        }
        let sampler =
            LlmSampler::new(&settings).map_err(unready)?.stopped_by(stop).keeping(&journal).counted_by(tally);
        Ok(Self {
            sampler: Box::new(sampler),
            threads: NonZero::new(settings.limits.at_once),
            journal: Some(journal),
            tally: Some(tally.clone()),
        })
    }

    /// The one that a pack was made with, with its answers in the place of a model.
    pub fn from_answers(pack: Pack) -> Self {
        if !pack.manifest().config.use_llm_sampler {
            return Self::programmatic();
        }
        let recorded = Replay::new(move |scenario, turn| {
            pack.answers(scenario, turn).map_err(|error| error.to_string())
        });
        Self { sampler: Box::new(LlmSampler::replay(recorded)), threads: None, journal: None, tally: None }
    }

    /// What is to be done with the answers now that the pack is written, or is not.
    pub fn finish(&self, written: bool, report_line: &dyn Fn(&str)) {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.is_begun()) else { return };
        let path = journal.path().display();
        if !written {
            report_line(&format!(
                "the answers so far are kept in {path}: sampling the same again continues them"
            ));
        } else if let Err(error) = journal.remove() {
            report_line(&format!("{path} is not needed any more, and could not be removed: {error}"));
        }
    }
}

/// Whether a model fills in the scenarios of a run, which it does before it.
pub fn is_sampled(settings: &RunSettings) -> bool {
    settings.scenarios_dir.is_none() && settings.generation.use_llm_sampler
}

/// Where these scenarios go: beside the results.
pub fn pack_beside(output_dir: &Path) -> PathBuf {
    // Without a slash at the end.
    let mut path = output_dir.components().as_path().as_os_str().to_owned();
    path.push("-pack");
    PathBuf::from(path)
}

/// The model that is to sample and where it is, in words: `zai.glm-5 at Amazon Bedrock`; it is not asked anything.
///
/// # Errors
/// What is wrong with its settings, in words.
pub(crate) fn model_in_words(settings: &RunSettings) -> Result<String, String> {
    let model = settings.generation.llm_sampler_model_id.as_deref().unwrap_or(MODEL);
    let model_keys = settings.other_values.iter().map(|(key, value)| (key.as_str(), value));
    let found = Settings::new(model, model_keys).map_err(|error| error.to_string())?;
    let place: &str = match &found.endpoint {
        Endpoint::OpenAi { base_url, .. } => base_url,
        Endpoint::Bedrock { endpoint_url: Some(address), .. } => address,
        Endpoint::Bedrock { endpoint_url: None, .. } => "Amazon Bedrock",
    };
    Ok(model::plain_line(&format!("{model} at {place}")))
}

/// Has a model fill in the scenarios of a run, into `out`. A pack of the same settings that lies there is taken as it is.
pub fn sample<'a>(
    generation: &Generation,
    model_keys: impl IntoIterator<Item = (&'a str, &'a Value)>,
    out: &Path,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Arc<AtomicBool>,
    tally: &Tally,
    report_line: &dyn Fn(&str),
) -> Result<(), ApiError> {
    if Pack::open_path(out).is_ok_and(|pack| pack.manifest().config == *generation) {
        return Ok(());
    }
    let chosen = ChosenSampler::from_settings(generation, model_keys, out, stop, tally, report_line)?;
    let options = pack::Options { threads: chosen.threads, ..pack::Options::default() };
    let sampler =
        pack::generate(generation, &*chosen.sampler, &Target::from_path(out), &options, progress, stop);
    chosen.finish(sampler.is_ok(), report_line);
    sampler.map(drop).map_err(|error| {
        let mut error = ApiError::from(error).with_path(out.display().to_string());
        if error.code == "pack.occupied" {
            error.hint =
                Some("Remove it, choose another output_dir, or name a pack with scenarios_dir".to_owned());
        }
        error
    })
}

/// Jobs that sample, by where they write to, with what they sample.
pub(crate) type Samplings = Mutex<BTreeMap<PathBuf, (u64, Generation)>>;

impl Workbench {
    /// Has a model fill in the scenarios of a run, in the background: the pack that the run then plays.
    pub fn sample_scenarios(&self, request: SampleScenarios) -> Result<JobRef, ApiError> {
        let settings = crate::runs::settings_of(&request.settings)?;
        if !is_sampled(&settings) {
            return Err(ApiError::new("run.not_sampled", "No model samples the scenarios of this run")
                .hint("Begin it: what it needs exists, or is generated from the seed"));
        }
        let out = pack_beside(&settings.output_dir);
        let path = out.display().to_string();
        let weak_workbench = self.opened_sources.workbench();
        // Held from the look to the start: two that ask at once get one job.
        let mut samplings = model::lock(&self.samplings);
        let known = samplings.get(&out).filter(|(job, _)| self.jobs.is_running(*job));
        match known {
            Some((job, same)) if *same == settings.generation => return Ok(JobRef { job: *job }),
            Some(_) => {
                return Err(ApiError::new(
                    "run.sampling",
                    "A model samples other scenarios into this place now",
                )
                .with_path(path)
                .hint("Wait for it, stop it, or choose another output_dir"));
            }
            None => {}
        }
        let place = out.clone();
        let generation = settings.generation.clone();
        let title = format!("Sample {}", files::file_name(&path));
        let job = self.jobs.start(JobKind::Sampling, title, None, Some(path.clone()), move |job| {
            let begun = Instant::now();
            let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            let progress = |p: Progress| job.progress(number(p.done), number(p.total));
            let model_keys = settings.other_values.iter().map(|(key, value)| (key.as_str(), value));
            let counted = job.clone();
            let tally = Tally::with_listener(move |counts: Counts| {
                counted.answers(AnswerCounts {
                    taken: number(counts.taken),
                    refused: number(counts.refused),
                    filled: number(counts.filled),
                });
            });
            let report_line = |line: &str| job.add_line(line);
            sample(&settings.generation, model_keys, &out, &progress, job.stop_flag(), &tally, &report_line)?;
            let pack =
                Pack::open_path(&out).map_err(|error| ApiError::from(error).with_path(path.clone()))?;
            if let Some(workbench) = weak_workbench.upgrade()
                && let Err(error) = workbench.open_source(OpenSource { path: path.clone() })
            {
                tracing::warn!(%error, "the new pack was not opened");
            }
            let manifest = pack.manifest();
            Ok(Outcome::Generated(Generated {
                path,
                scenarios: manifest.config.n_scenarios,
                turns: manifest.config.n_turns,
                bytes: manifest.bytes,
                seconds: begun.elapsed().as_secs_f64(),
                sha256: manifest.sha256.clone(),
            }))
        });
        samplings.insert(place, (job, generation));
        Ok(JobRef { job })
    }
}

/// The file for the answers of a pack: `pack.answers.jsonl`.
fn sampled_pack_path(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".answers.jsonl");
    out.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_lies_beside_the_results() {
        for folder in ["/runs/a", "/runs/a/"] {
            assert_eq!(pack_beside(Path::new(folder)), Path::new("/runs/a-pack"));
        }
    }
}
