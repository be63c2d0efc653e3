//! Packs: generated, sampled by a model, replayed, checked, validated. These commands need no library.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use llm_sampler::{Counts, Tally};
use scenario::config::{Config, Generation, resolve};
use scenario::pack::{self, Manifest, Target};
use scenario::validate::{self, Report};
use serde_json::json;
use workbench::api::ApiError;
use workbench::sampler::Chosen;

use crate::args::Numbers;
use crate::pack_files::{config_error, lies_nowhere, open, pack_error, read_config};
use crate::print::{note, print, print_json};
use crate::signals::cancel_on_signal;
use crate::table;
use crate::told::{Told, rounded};

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
    let sampler = Chosen::by_settings(&config.generation, given(&config), &out, &cancel, &heard(), &note)?;
    write(&config.generation, &sampler, &out, force, &cancel, None, as_json)
}

/// `stamina generate --replay`: what comes out is held against the pack that it comes from.
pub(crate) fn replay(
    path: &Path,
    out: Option<PathBuf>,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let out = target_of(out, "Name a folder or a .zip with --out")?;
    let pack = open(path)?;
    let expected = pack.manifest().clone();
    let sampler = Chosen::by_answers(pack);
    write(&expected.config, &sampler, &out, force, &cancel_on_signal(), Some(&expected), as_json)
}

fn target_of(out: Option<PathBuf>, hint: &str) -> Result<PathBuf, ApiError> {
    out.ok_or_else(|| ApiError::new("generate.no_target", "Where the pack goes is not said").hint(hint))
}

/// Generates a pack, and says what it is; and whether it is the one that was expected.
fn write(
    config: &Generation,
    sampler: &Chosen,
    out: &Path,
    force: bool,
    cancel: &AtomicBool,
    expected: Option<&Manifest>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let begun = Instant::now();
    let options = pack::Options { force, ..pack::Options::default() };
    let written = run(config, sampler, &Target::at(out), &options, cancel);
    sampler.ended(written.is_ok(), &note);
    let manifest = written?;
    let seconds = begun.elapsed().as_secs_f64();
    let same = expected.is_none_or(|expected| expected.sha256 == manifest.sha256);
    let differences = expected.map(|expected| expected.differences(&manifest)).unwrap_or_default();
    if as_json {
        let mut said = json!({
            "scenarios": manifest.config.n_scenarios,
            "turns": manifest.config.n_turns,
            "bytes": manifest.bytes,
            "seconds": rounded(seconds),
            "sha256": manifest.sha256,
        });
        if let (Some(tally), Some(said)) = (&sampler.tally, said.as_object_mut()) {
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
            said.insert("answers".to_owned(), answers);
        }
        if let (Some(expected), Some(said)) = (expected, said.as_object_mut()) {
            said.insert("same".to_owned(), json!(same));
            said.insert("expected".to_owned(), json!(expected.sha256));
            said.insert("differences".to_owned(), json!(differences));
        }
        print_json(&said);
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
            print(&format!("{}\n", tally.counts().told()));
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
    let bytes = files::beneath::read_named_file(path, MANIFEST_CAP).map_err(|error| {
        let code = if lies_nowhere(&error) { "manifest.missing" } else { "manifest.unreadable" };
        ApiError::new(code, format!("The manifest cannot be read: {error}"))
            .at(path.display().to_string())
            .hint("Check the path")
    })?;
    let expected =
        Manifest::from_json(&bytes, &path.display().to_string()).map_err(|e| pack_error(&e, path))?;
    let sampler = if expected.config.use_llm_sampler {
        // Its answers lie beside it.
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Chosen::by_answers(open(beside.unwrap_or(Path::new(".")))?)
    } else {
        Chosen::programmatic()
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
            "seconds": rounded(seconds),
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

/// The pack that a model samples for a run, made before it; one of the same settings that lies there is taken as it is.
pub(crate) fn sampled(
    configs: &[PathBuf],
    values: &[String],
    out: &Path,
    cancel: &Arc<AtomicBool>,
) -> Result<(), ApiError> {
    let files = configs.iter().map(|path| read_config(path)).collect::<Result<Vec<_>, _>>()?;
    let config = resolve(&files, values).map_err(|error| config_error(&error))?;
    let told = Told::new();
    let progress = |at: pack::Progress| told.tell(|| format!("generated {} of {} turns", at.done, at.total));
    workbench::sampler::sample(&config.generation, given(&config), out, &progress, cancel, &heard(), &note)
}

/// Says now and then what became of a model's answers.
fn heard() -> Tally {
    let told = Told::new();
    Tally::heard_by(move |counts| told.tell(|| counts.told()))
}

/// The settings that were given, by their keys: they say where a model is.
fn given(config: &Config) -> impl Iterator<Item = (&str, &serde_json::Value)> {
    config.given.iter().map(|(key, value)| (key.as_str(), value))
}

fn run(
    config: &Generation,
    sampler: &Chosen,
    target: &Target,
    options: &pack::Options,
    cancel: &AtomicBool,
) -> Result<Manifest, ApiError> {
    let options = pack::Options { threads: sampler.threads, ..*options };
    let told = Told::new();
    let progress = |at: pack::Progress| {
        told.tell(|| {
            let answers = sampler.tally.as_ref().map(|tally| format!("; {}", tally.counts().told()));
            format!("generated {} of {} turns{}", at.done, at.total, answers.unwrap_or_default())
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

/// `stamina validate`.
pub(crate) fn validate(
    path: &Path,
    scenarios: Option<&Numbers>,
    turns: Option<&Numbers>,
    mutants: u32,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let pack = open(path)?;
    let config = &pack.manifest().config;
    let options = validate::Options {
        scenarios: chosen(scenarios, 0..=config.n_scenarios - 1, "scenario", path)?,
        turns: chosen(turns, 1..=config.n_turns, "turn", path)?,
        mutants,
        threads: None,
    };
    let cancel = cancel_on_signal();
    let told = Told::new();
    let progress = |at: pack::Progress| told.tell(|| format!("validated {} of {} turns", at.done, at.total));
    let report =
        validate::validate(&pack, &options, &progress, &cancel).map_err(|error| pack_error(&error, path))?;
    if as_json {
        print_json(&serde_json::to_value(&report).unwrap_or_default());
    } else {
        print(&described(&report));
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}

/// The numbers that are named, or all that a pack has. A number that it does not have is refused: a report about less
/// than was asked for would look like one about all of it.
fn chosen(
    given: Option<&Numbers>,
    all: RangeInclusive<u32>,
    what: &str,
    path: &Path,
) -> Result<Vec<u32>, ApiError> {
    let Some(numbers) = given else { return Ok(all.collect()) };
    let Some(outside) = numbers.outside(&all) else { return Ok(numbers.among(all)) };
    let (first, last) = (outside.start(), outside.end());
    let named = if first == last { format!("{what} {first}") } else { format!("{what}s {first} to {last}") };
    let has = counted(u64::from(all.end() - all.start()) + 1, what);
    let ends = if all.start() == all.end() {
        format!("number {}", all.start())
    } else {
        format!("counted from {} to {}", all.start(), all.end())
    };
    Err(ApiError::new("pack.no_such", format!("The pack has no {named}: it has {has}, {ends}"))
        .at(path.display().to_string())
        .hint(format!("Name others with --{what}s, or leave it out for all")))
}

/// A report for people.
fn described(report: &Report) -> String {
    let mut text = format!(
        "{}, {} each: {} of the reference, {} that no text states, {}, content {}\n",
        counted(report.scenarios.into(), "scenario"),
        counted(report.turns.into(), "turn"),
        counted(report.reference_failures, "failure"),
        counted(report.unstated_demands, "demand"),
        counted(report.vacuous_turns, "vacuous turn"),
        if report.hashes_ok { "as the manifest says" } else { "not as the manifest says" }
    );
    for mismatch in report.mismatches.iter().take(20) {
        text.push_str(&format!("  {}: {}\n", mismatch.at, mismatch.what));
    }
    if report.mismatches.len() > 20 {
        text.push_str(&format!("  … {} more; --json lists them\n", report.mismatches.len() - 20));
    }
    for failure in report.failures.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: the reference fails {}: {}\n",
            failure.scenario, failure.turn, failure.case, failure.message
        ));
    }
    for unstated in report.unstated.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: not stated: {}: {}\n",
            unstated.scenario, unstated.turn, unstated.at, unstated.what
        ));
    }
    for vacuous in report.vacuous.iter().take(20) {
        text.push_str(&format!(
            "  scenario {}, turn {}: the reference of the turn before passes the suite\n",
            vacuous.scenario, vacuous.turn
        ));
    }
    if report.mutants > 0 {
        text.push_str(&format!(
            "{} of {} mutants noticed ({})\n\n",
            report.killed,
            report.mutants,
            percent(report.killed, report.mutants)
        ));
        let rows: Vec<Vec<String>> = report
            .operators
            .iter()
            .map(|(name, operator)| {
                vec![
                    name.clone(),
                    operator.mutants.to_string(),
                    operator.killed.to_string(),
                    percent(operator.killed, operator.mutants),
                ]
            })
            .collect();
        text.push_str(&table::table(
            &["operator", "mutants", "noticed", "share"],
            &[false, true, true, true],
            &rows,
        ));
        for survivor in report.survivors.iter().take(50) {
            text.push_str(&format!(
                "survived: {} in scenario {}, turn {}, at {}: {}\n",
                survivor.operator, survivor.scenario, survivor.turn, survivor.site, survivor.reason
            ));
        }
        if report.survivors.len() > 50 {
            text.push_str(&format!("… {} more; --json lists them\n", report.survivors.len() - 50));
        }
    }
    text
}

/// `1 turn`, `2 turns`.
fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.2} %", part as f64 * 100.0 / whole as f64) }
}
