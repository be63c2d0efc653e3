//! `stamina generate`: packs, from a seed or sampled with a model, replayed and checked. It needs no library.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use llm_sampler::{Counts, Tally};
use model::counted;
use scenario::pack::{self, Manifest, Target};
use serde_json::json;
use settings::{Config, Generation, resolve};
use workbench::api::ApiError;
use workbench::sampler::ChosenSampler;

use crate::numbers::rounded_seconds;
use crate::pack_files::{config_error, is_missing, open, pack_error, read_config};
use crate::print::{note, print, print_json};
use crate::progress_throttle::ProgressThrottle;
use crate::signals::cancel_on_signal;

/// The largest manifest that is read.
const MANIFEST_CAP: u64 = 96 << 20;

/// `stamina generate`.
pub(crate) fn generate(
    out: Option<PathBuf>,
    configs: &[PathBuf],
    values: &[String],
    force: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let files = configs.iter().map(|path| read_config(path)).collect::<Result<Vec<_>, _>>()?;
    let config = resolve(&files, values).map_err(|error| config_error(&error))?;
    let out = out.or_else(|| config.output_dir.as_ref().map(PathBuf::from));
    let out = target_of(out, "Name a folder or a .zip with --out, or with the key output_dir")?;
    let cancel = cancel_on_signal();
    let sampler = ChosenSampler::from_settings(
        &config.generation,
        given(&config),
        &out,
        &cancel,
        &answer_tally(),
        &note,
    )?;
    write(&config.generation, &sampler, &out, force, &cancel, None, as_json)
}

/// `stamina generate --replay`: the new pack is compared with the one that it is generated from.
pub(crate) fn replay(
    path: &Path,
    out: Option<PathBuf>,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let out = target_of(out, "Name a folder or a .zip with --out")?;
    let pack = open(path)?;
    let expected = pack.manifest().clone();
    let sampler = ChosenSampler::from_answers(pack);
    write(&expected.config, &sampler, &out, force, &cancel_on_signal(), Some(&expected), as_json)
}

fn target_of(out: Option<PathBuf>, hint: &str) -> Result<PathBuf, ApiError> {
    out.ok_or_else(|| ApiError::new("generate.no_target", "No folder is named for the pack").hint(hint))
}

/// Generates a pack and describes it. Exit code 1 if another one was expected.
fn write(
    config: &Generation,
    sampler: &ChosenSampler,
    out: &Path,
    force: bool,
    cancel: &AtomicBool,
    expected: Option<&Manifest>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let begun = Instant::now();
    let options = pack::Options { force, ..pack::Options::default() };
    let written = run(config, sampler, &Target::from_path(out), &options, cancel);
    sampler.finish(written.is_ok(), &note);
    let manifest = written?;
    let seconds = begun.elapsed().as_secs_f64();
    let same = expected.is_none_or(|expected| expected.sha256 == manifest.sha256);
    let differences = expected.map(|expected| expected.differences(&manifest)).unwrap_or_default();
    if as_json {
        let mut value = json!({
            "scenarios": manifest.config.n_scenarios,
            "turns": manifest.config.n_turns,
            "bytes": manifest.bytes,
            "seconds": rounded_seconds(seconds),
            "sha256": manifest.sha256,
        });
        if let (Some(tally), Some(keys)) = (&sampler.tally, value.as_object_mut()) {
            let counted = |counts: Counts| {
                json!({
                    "taken": counts.taken,
                    "taken_first": counts.taken_first,
                    "refused": counts.refused,
                    "filled": counts.filled,
                })
            };
            let mut answers = counted(tally.counts());
            answers["by_purpose"] =
                tally.by_purpose().into_iter().map(|(purpose, counts)| (purpose, counted(counts))).collect();
            keys.insert("answers".to_owned(), answers);
        }
        if let (Some(expected), Some(keys)) = (expected, value.as_object_mut()) {
            keys.insert("same".to_owned(), json!(same));
            keys.insert("expected".to_owned(), json!(expected.sha256));
            keys.insert("differences".to_owned(), json!(differences));
        }
        print_json(&value);
    } else {
        print(&format!(
            "{}: {}, {} each, {:.1} MB, {seconds:.1} s\nsha256 {}\n",
            out.display(),
            counted(manifest.config.n_scenarios.into(), "scenario"),
            counted(manifest.config.n_turns.into(), "turn"),
            manifest.bytes as f64 / 1e6,
            manifest.sha256
        ));
        if let Some(tally) = &sampler.tally {
            print(&format!("{}\n", tally.counts().in_words()));
        }
        if let Some(expected) = expected.filter(|_| !same) {
            let mut text = format!("Different: the pack that was replayed says {}\n", expected.sha256);
            for difference in &differences {
                text.push_str(&format!("  {difference}\n"));
            }
            print(&text);
        }
    }
    Ok(ExitCode::from(u8::from(!same)))
}

/// `stamina generate --check`.
pub(crate) fn check(path: &Path, as_json: bool) -> Result<ExitCode, ApiError> {
    let bytes = files::confined_path::read_named_file(path, MANIFEST_CAP).map_err(|error| {
        let code = if is_missing(&error) { "manifest.missing" } else { "manifest.unreadable" };
        ApiError::new(code, format!("The manifest cannot be read: {error}"))
            .with_path(path.display().to_string())
            .hint("Check the path")
    })?;
    let expected =
        Manifest::from_json(&bytes, &path.display().to_string()).map_err(|e| pack_error(&e, path))?;
    let sampler = if expected.config.use_llm_sampler {
        // The pack beside the manifest has the answers of its model.
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        ChosenSampler::from_answers(open(beside.unwrap_or(Path::new(".")))?)
    } else {
        ChosenSampler::programmatic()
    };
    let begun = Instant::now();
    let cancel = cancel_on_signal();
    let manifest = run(&expected.config, &sampler, &Target::Nowhere, &pack::Options::default(), &cancel)?;
    let seconds = begun.elapsed().as_secs_f64();
    let differences = expected.differences(&manifest);
    let same = manifest.sha256 == expected.sha256;
    if as_json {
        print_json(&json!({
            "same": same,
            "scenarios": manifest.config.n_scenarios,
            "turns": manifest.config.n_turns,
            "bytes": manifest.bytes,
            "seconds": rounded_seconds(seconds),
            "sha256": manifest.sha256,
            "expected": expected.sha256,
            "differences": differences,
        }));
    } else if same {
        print(&format!("The same: sha256 {}, {seconds:.1} s\n", manifest.sha256));
    } else {
        let mut text =
            format!("Different: sha256 {}, the manifest says {}\n", manifest.sha256, expected.sha256);
        for difference in &differences {
            text.push_str(&format!("  {difference}\n"));
        }
        print(&text);
    }
    Ok(ExitCode::from(u8::from(!same)))
}

/// Generates the pack that a model samples for a run. An existing pack of the same settings is used as it is.
pub(crate) fn sampled(
    configs: &[PathBuf],
    values: &[String],
    out: &Path,
    cancel: &Arc<AtomicBool>,
) -> Result<(), ApiError> {
    let files = configs.iter().map(|path| read_config(path)).collect::<Result<Vec<_>, _>>()?;
    let config = resolve(&files, values).map_err(|error| config_error(&error))?;
    let throttle = ProgressThrottle::new();
    let progress = |at: pack::Progress| throttle.report(|| format!("generated {}", at.in_words()));
    workbench::sampler::sample(
        &config.generation,
        given(&config),
        out,
        &progress,
        cancel,
        &answer_tally(),
        &note,
    )
}

/// Counts a model's answers and reports the counts.
fn answer_tally() -> Tally {
    let throttle = ProgressThrottle::new();
    Tally::with_listener(move |counts| throttle.report(|| counts.in_words()))
}

/// The given settings by their keys, which name the endpoint of a model.
fn given(config: &Config) -> impl Iterator<Item = (&str, &serde_json::Value)> {
    config.values.iter().map(|(key, value)| (key.as_str(), value))
}

fn run(
    config: &Generation,
    sampler: &ChosenSampler,
    target: &Target,
    options: &pack::Options,
    cancel: &AtomicBool,
) -> Result<Manifest, ApiError> {
    let options = pack::Options { threads: sampler.threads, ..*options };
    let throttle = ProgressThrottle::new();
    let progress = |at: pack::Progress| {
        throttle.report(|| {
            let answers = sampler.tally.as_ref().map(|tally| format!("; {}", tally.counts().in_words()));
            format!("generated {}{}", at.in_words(), answers.unwrap_or_default())
        });
    };
    let path = match target {
        Target::Folder(path) | Target::Zip(path) => path.as_path(),
        Target::Nowhere => Path::new(""),
    };
    pack::generate(config, &*sampler.sampler, target, &options, &progress, cancel)
        .map(|generated| generated.manifest)
        .map_err(|error| pack_error(&error, path))
}
