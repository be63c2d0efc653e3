//! The commands of the scenario engine. They need no library.

use std::io::Read as _;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use scenario::client::{CaseResult, CaseStatus};
use scenario::config::{Config, ConfigError, ConfigFile, Generation, resolve};
use scenario::ir::{SCHEMA_CAP, Schema};
use scenario::pack::{self, Manifest, Pack, PackError, Target};
use scenario::validate::{self, Report};
use serde_json::json;
use workbench::api::ApiError;
use workbench::sampler::Chosen;

use crate::args::Numbers;
use crate::commands::{note, print, print_json};
use crate::serve::{StopSignals, stop_signal};
use crate::table;

/// How often something long says how far it is.
const PROGRESS: Duration = Duration::from_secs(1);
/// Longest time for a suite against a server.
const SUITE_TIME: Duration = Duration::from_mins(30);
/// The largest configuration that is read.
const CONFIG_CAP: u64 = 1 << 20;

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
    let sampler = Chosen::by_settings(&config.generation, given(&config), &out, &cancel, &note)?;
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
    let bytes = std::fs::read(path).map_err(|error| {
        let code = if lies_nowhere(&error) { "manifest.missing" } else { "manifest.unreadable" };
        ApiError::new(code, format!("The manifest can not be read: {error}"))
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
    workbench::sampler::sample(&config.generation, given(&config), out, &progress, cancel, &note)
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
    let progress = |at: pack::Progress| told.tell(|| format!("generated {} of {} turns", at.done, at.total));
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

/// What `stamina serve-reference` serves.
pub(crate) enum Reference {
    /// A turn of a pack.
    OfPack {
        /// Folder or zip.
        pack: PathBuf,
        /// From 0.
        scenario: u32,
        /// From 1.
        turn: u32,
    },
    /// A schema in a file, from whoever wrote it.
    File(PathBuf),
}

impl Reference {
    fn schema(&self) -> Result<Schema, ApiError> {
        match self {
            Self::OfPack { pack, scenario, turn } => {
                open(pack)?.schema(*scenario, *turn).map_err(|error| pack_error(&error, pack))
            }
            Self::File(path) => {
                let told = |code: &str, what: String| {
                    ApiError::new(code, what)
                        .at(path.display().to_string())
                        .hint("--schema takes a schema of a turn, as a pack has it in schemas/turn_N.yaml")
                };
                let unreadable = |error: std::io::Error| {
                    let code = if lies_nowhere(&error) { "schema.missing" } else { "schema.unreadable" };
                    told(code, format!("It can not be read: {error}"))
                };
                let mut bytes = Vec::new();
                let file = std::fs::File::open(path).map_err(unreadable)?;
                file.take(SCHEMA_CAP + 1).read_to_end(&mut bytes).map_err(unreadable)?;
                if bytes.len() as u64 > SCHEMA_CAP {
                    return Err(told("schema.large", format!("It has more than {SCHEMA_CAP} bytes")));
                }
                let text = String::from_utf8(bytes)
                    .map_err(|_| told("schema.form", "It is no text in UTF-8".to_owned()))?;
                Schema::from_yaml(&text).map_err(|error| told("schema.form", error.to_string()))
            }
        }
    }
}

/// `stamina serve-reference`.
pub(crate) fn serve_reference(from: &Reference, port: u16, as_json: bool) -> Result<ExitCode, ApiError> {
    let schema = from.schema()?;
    let turn = schema.turn;
    let scenario = match from {
        Reference::OfPack { scenario, .. } => Some(*scenario),
        Reference::File(_) => None,
    };
    runtime()?.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let address = (std::net::Ipv4Addr::LOCALHOST, port).into();
        let serving = scenario::reference::serve(world, address).await.map_err(|error| {
            ApiError::new("serve.port", format!("Port {port} can not be opened: {error}"))
                .hint("Choose another with --port, or 0 for a free one")
        })?;
        let url = format!("http://{}", serving.address);
        if as_json {
            print_json(&json!({ "url": url, "scenario": scenario, "turn": turn }));
        } else {
            print(&format!("{url}\n"));
        }
        note("Ctrl-C ends it");
        stop_signal().await;
        drop(serving);
        Ok(ExitCode::SUCCESS)
    })
}

/// `stamina test-server`.
pub(crate) fn test_server(
    path: &Path,
    (scenario, turn): (u32, u32),
    url: &str,
    cases: &[String],
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let mut suite = open(path)?.suite(scenario, turn).map_err(|error| pack_error(&error, path))?;
    for wanted in cases {
        if !suite.cases.iter().any(|case| is_of(&case.id, wanted)) {
            return Err(ApiError::new("case.no_such", format!("The suite has no case \"{wanted}\"")).hint(
                "`stamina test-server … --json` lists their ids; the begin of ids up to a dot is taken too",
            ));
        }
    }
    if !cases.is_empty() {
        suite.cases.retain(|case| cases.iter().any(|wanted| is_of(&case.id, wanted)));
    }
    let total = suite.cases.len();
    let told = Told::new();
    let mut results: Vec<CaseResult> = Vec::with_capacity(total);
    let begun = Instant::now();
    let mut on_case = |_: &scenario::suite::Case, result: &CaseResult| {
        results.push(result.clone());
        told.tell(|| format!("ran {} of {total} cases", results.len()));
        ControlFlow::Continue(())
    };
    let options =
        scenario::client::Options { total: Some(SUITE_TIME), ..scenario::client::Options::default() };
    scenario::client::run_http(url, &suite, &options, &mut on_case).map_err(|error| {
        ApiError::new("server.url", error.to_string()).hint("For example --url http://127.0.0.1:8000")
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let passed = results.iter().filter(|result| result.status == CaseStatus::Passed).count();
    if as_json {
        print_json(&json!({
            "passed": passed,
            "total": total,
            "cases": results.iter().map(|result| json!({
                "id": result.id,
                "status": result.status,
                "message": result.message,
            })).collect::<Vec<_>>(),
            "seconds": rounded(seconds),
        }));
    } else {
        let mut text = String::new();
        for result in results.iter().filter(|result| result.status != CaseStatus::Passed) {
            let word = if result.status == CaseStatus::Failed { "failed" } else { "error" };
            text.push_str(&format!("{word}  {}  {}\n", result.id, result.message.as_deref().unwrap_or("")));
        }
        text.push_str(&format!("{passed} of {total} cases passed in {seconds:.2} s\n"));
        print(&text);
    }
    Ok(ExitCode::from(u8::from(passed != total)))
}

/// Whether a case is meant: its id, or all below a begin of it.
fn is_of(id: &str, wanted: &str) -> bool {
    id.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether no file lies at a path, rather than one that can not be read.
fn lies_nowhere(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

fn open(path: &Path) -> Result<Pack, ApiError> {
    if !path.exists() {
        return Err(ApiError::new("source.missing", "There is no such folder or zip")
            .at(path.display().to_string())
            .hint("Check the path"));
    }
    Pack::open_path(path).map_err(|error| pack_error(&error, path))
}

pub(crate) fn read_config(path: &Path) -> Result<ConfigFile, ApiError> {
    let shown = path.display().to_string();
    let unreadable = |what: String| {
        ApiError::new("config.unreadable", what).at(shown.clone()).hint("--configs takes YAML files")
    };
    let size = std::fs::metadata(path).map_err(|e| unreadable(format!("It can not be read: {e}")))?.len();
    if size > CONFIG_CAP {
        return Err(unreadable(format!("It has {size} bytes; at most {CONFIG_CAP} are read")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(format!("It can not be read: {e}")))?;
    Ok(ConfigFile { name: shown, text })
}

fn config_error(error: &ConfigError) -> ApiError {
    ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys")
}

fn pack_error(error: &PackError, path: &Path) -> ApiError {
    let place = error.path().unwrap_or(path);
    let told = ApiError::new(error.code(), error.to_string());
    let told = if place.as_os_str().is_empty() { told } else { told.at(place.display().to_string()) };
    match error {
        PackError::Occupied { .. } => {
            told.hint("Choose another --out, or --force to replace a pack of other settings")
        }
        PackError::NotAPack(_) => told.hint("`stamina generate --out DIR` makes one"),
        PackError::Config(_) => told.hint("docs/cli.md lists the keys"),
        PackError::Version(_) => told.hint(
            "`stamina generate --values …` with the settings in its manifest makes it again; a pack of a later format \
             needs a newer Stamina Lab",
        ),
        _ => told,
    }
}

/// One thread: answers are made one after the other, and hopping between threads would take longer than making them.
fn runtime() -> Result<tokio::runtime::Runtime, ApiError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| ApiError::new("serve.runtime", format!("The network can not be used: {e}")))
}

/// A flag that Ctrl-C and SIGTERM set, so that what was begun is taken away; the second ends the program at once.
pub(crate) fn cancel_on_signal() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let (listening, listens) = std::sync::mpsc::sync_channel::<()>(1);
    std::thread::spawn(move || {
        let Ok(runtime) = runtime() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = StopSignals::new() else { return };
            drop(listening);
            signals.next().await;
            set.store(true, Ordering::Relaxed);
            signals.next().await;
            std::process::exit(130);
        });
    });
    // Nothing is begun before a signal would be heard: it would leave half of it behind. Ends in an error either way.
    let _ = listens.recv();
    flag
}

/// Says how far something is, now and then, on standard error.
struct Told(Mutex<Instant>);

impl Told {
    fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    fn tell(&self, text: impl Fn() -> String) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PROGRESS {
            *last = Instant::now();
            note(&text());
        }
    }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
