//! `stamina run`, `resume`, `pause`, `stop`, `preflight`, `images`, `clean`, `harnesses`.
//!
//! A run is played in this process, in the foreground. What it is doing stands in its results folder, so that the desktop app
//! shows it, and another terminal can pause or stop it.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use runner::live::{self, RunState};
use runner::settings::RunSettings;
use runner::{Event, Finish, OnEvent, RunError};
use scenario::config::ConfigFile;
use serde_json::{Value, json};
use workbench::api::{ApiError, Check, CheckState, Preflight, RunAction, RunEstimate};
use workbench::runs::{self, ImageNews, bytes, duration, short};
use workbench::{Options, Workbench};

use crate::args::{ImagesCommand, RunArgs};
use crate::commands::{note, print, print_json};
use crate::progress::Progress;
use crate::scenario_commands::{self, cancel_on_signal, read_config};
use crate::serve::StopSignals;
use crate::table;

/// Exit code of what was stopped.
const STOPPED: u8 = 130;

/// The settings that the arguments name, with absolute paths: a run may be resumed from elsewhere.
fn settings(args: &RunArgs) -> Result<RunSettings, ApiError> {
    let files: Vec<ConfigFile> =
        args.configs.iter().map(|path| read_config(path)).collect::<Result<_, _>>()?;
    if files.is_empty() && args.values.is_empty() {
        return Err(ApiError::new("run.no_settings", "Nothing says what to run").hint(
            "Name a file with --configs, or keys with --values: stamina run --values agent=MOCK output_dir=results/smoke \
             quick_debug=true",
        ));
    }
    let mut settings = runner::settings::resolve(&files, &args.values).map_err(|error| {
        ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys of a run")
    })?;
    settings.output_dir = absolute(&settings.output_dir)?;
    settings.scenarios_dir = settings.scenarios_dir.as_deref().map(absolute).transpose()?;
    settings.harness_file = settings.harness_file.as_deref().map(absolute).transpose()?;
    runs::priced(&mut settings)?;
    Ok(settings)
}

fn absolute(path: &Path) -> Result<PathBuf, ApiError> {
    std::path::absolute(path).map_err(|e| {
        ApiError::new("run.folder", format!("The path can not be used: {e}")).at(path.display().to_string())
    })
}

/// The library, for what earlier runs took and to show this one; a run does not need it.
fn library(db: Option<&Path>) -> Option<Arc<Workbench>> {
    match Workbench::open(Options { db: db.map(Path::to_owned), ..Options::default() }) {
        Ok(workbench) => Some(workbench),
        Err(error) => {
            note(&format!(
                "warning: the library can not be opened, so the run is not shown in it: {}",
                error.message
            ));
            None
        }
    }
}

/// Without a library, one that lies nowhere for long.
fn scratch() -> Result<(tempdir::Scratch, Arc<Workbench>), ApiError> {
    let scratch = tempdir::Scratch::new()?;
    let db = Some(scratch.path.join("library.sqlite"));
    Ok((scratch, Workbench::open(Options { db, ..Options::default() })?))
}

mod tempdir {
    use super::{ApiError, PathBuf};

    /// A folder that goes with this value.
    pub(super) struct Scratch {
        pub(super) path: PathBuf,
    }

    impl Scratch {
        pub(super) fn new() -> Result<Self, ApiError> {
            let path = std::env::temp_dir().join(format!("stamina-{}", std::process::id()));
            std::fs::create_dir_all(&path).map_err(|e| {
                ApiError::new("run.no_folder", format!("No temporary folder can be made: {e}"))
            })?;
            Ok(Self { path })
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.path));
        }
    }
}

fn look_before(
    library: Option<&Arc<Workbench>>,
    settings: &RunSettings,
    call: bool,
) -> Result<Preflight, ApiError> {
    match library {
        Some(library) => library.look_before(settings, call),
        None => scratch()?.1.look_before(settings, call),
    }
}

/// Whether a model fills in the scenarios, which it does before the run.
fn is_sampled(settings: &RunSettings) -> bool {
    settings.scenarios_dir.is_none() && settings.generation.use_llm_sampler
}

/// Where these scenarios go: beside the results.
fn pack_beside(output_dir: &Path) -> PathBuf {
    let mut path = output_dir.as_os_str().to_owned();
    path.push("-pack");
    PathBuf::from(path)
}

/// `stamina preflight`.
pub(crate) fn preflight(
    args: &RunArgs,
    db: Option<&Path>,
    no_call: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let settings = settings(args)?;
    let found = look_before_all(library(db).as_ref(), &settings, !no_call)?;
    if as_json {
        print_json(&json!(found));
    } else {
        print(&table_of(&found.checks));
        if let Some(estimate) = &found.estimate {
            print(&format!("\n{}", estimated(estimate, settings.is_simulated())));
        }
    }
    Ok(ExitCode::from(u8::from(!found.can_start)))
}

/// The same, where scenarios may still have to be sampled.
fn look_before_all(
    library: Option<&Arc<Workbench>>,
    settings: &RunSettings,
    call: bool,
) -> Result<Preflight, ApiError> {
    let mut found = look_before(library, settings, call)?;
    if is_sampled(settings) {
        for check in found.checks.iter_mut().filter(|check| check.id == "pack") {
            check.state = CheckState::Warn;
            check.sentence = Some(format!(
                "`stamina run` has a model sample the scenarios first, into {}. What that takes is not in the estimate.",
                pack_beside(&settings.output_dir).display()
            ));
        }
        found.can_start = found.checks.iter().all(|check| check.state != CheckState::Fail);
    }
    Ok(found)
}

/// An error if a check fails.
fn must_start(found: &Preflight) -> Result<(), ApiError> {
    match found.checks.iter().find(|check| check.state == CheckState::Fail) {
        None => Ok(()),
        Some(check) => Err(ApiError::new(
            "run.preflight",
            format!("{}: {}; nothing was begun", check.title, check.value),
        )
        .hint("`stamina preflight` with the same arguments says more")),
    }
}

fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Warn => "warning",
        CheckState::Fail => "fails",
        CheckState::Unknown => "unknown",
    }
}

fn table_of(checks: &[Check]) -> String {
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|c| {
            vec![
                word(c.state).to_owned(),
                c.title.clone(),
                c.value.clone(),
                c.sentence.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table::table(&["state", "check", "value", "what it means"], &[false; 4], &rows)
}

fn range(of: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    match of {
        None => "unknown".to_owned(),
        Some((low, high)) if show(low) == show(high) => show(low),
        Some((low, high)) => format!("{}–{}", show(low), show(high)),
    }
}

fn estimated(e: &RunEstimate, simulated: bool) -> String {
    let usd = || range(e.cost_usd, |usd| format!("${usd:.2}"));
    let rows = [
        ("turns", format!("{} (at most {} attempts)", e.turns, e.attempts_at_most)),
        ("time", range(e.seconds, duration)),
        (
            "tokens in",
            format!(
                "{}{}",
                range(e.tokens_in, short),
                e.cached.map_or_else(String::new, |share| format!(" ({:.0} % cached)", share * 100.0))
            ),
        ),
        ("tokens out", range(e.tokens_out, short)),
        ("cost", if simulated { "none: simulated".to_owned() } else { usd() }),
        ("disk", e.bytes.map_or_else(|| "unknown".to_owned(), bytes)),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        text.push_str(&format!("{name:<11} {value}\n"));
    }
    for budget in &e.budgets {
        text.push_str(&format!("{:<11} {budget}\n", "budget"));
    }
    text.push_str(&format!("{}\n", e.basis));
    text
}

/// `stamina run`.
pub(crate) fn run(args: &RunArgs, db: Option<&Path>, yes: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut settings = settings(args)?;
    let library = library(db);
    if is_sampled(&settings) {
        let pack = pack_beside(&settings.output_dir);
        // Nothing is paid for a run that could not begin.
        if settings.output_dir.join(".stamina").exists() {
            return Err(runs::run_error(RunError::Taken { path: settings.output_dir }));
        }
        must_start(&look_before_all(library.as_ref(), &settings, true)?)?;
        note(&format!("a model samples the scenarios first, into {}", pack.display()));
        scenario_commands::sampled(&args.configs, &args.values, &pack)?;
        settings.scenarios_dir = Some(pack);
    }
    let found = look_before(library.as_ref(), &settings, true)?;
    for check in found.checks.iter().filter(|c| matches!(c.state, CheckState::Warn | CheckState::Fail)) {
        let word = if check.state == CheckState::Fail { "fails" } else { "warning" };
        let sentence = check.sentence.as_deref().unwrap_or_default();
        note(&format!("{word}: {}: {}. {sentence}", check.title, check.value));
    }
    must_start(&found)?;
    let warned = found.checks.iter().any(|check| check.state == CheckState::Warn);
    if !as_json {
        if let Some(estimate) = &found.estimate {
            note(&estimated(estimate, settings.is_simulated()));
        }
        if warned && !yes && std::io::stdin().is_terminal() && !confirmed("Begin all the same?") {
            return Ok(ExitCode::from(STOPPED));
        }
    }
    let folder = settings.output_dir.clone();
    play(&folder, library, as_json, async |on_event| runner::run(settings, on_event).await)
}

/// `stamina resume`.
pub(crate) fn resume(
    folder: &Path,
    values: &[String],
    db: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let (of, changes) = (folder.clone(), values.to_vec());
    play(&folder, library(db), as_json, async |on_event| runner::resume(of, changes, on_event).await)
}

/// A question at the terminal; no answer is no.
fn confirmed(question: &str) -> bool {
    drop(write!(std::io::stderr(), "{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok_and(|_| answer.trim().eq_ignore_ascii_case("y"))
}

/// Plays to the end, or until it is stopped; tells what happens.
fn play<F>(
    folder: &Path,
    library: Option<Arc<Workbench>>,
    as_json: bool,
    begin: F,
) -> Result<ExitCode, ApiError>
where
    F: AsyncFnOnce(OnEvent) -> Result<Finish, RunError>,
{
    let told = Arc::new(Told {
        progress: Mutex::new(Progress::new(as_json, folder)),
        begun: AtomicBool::new(false),
    });
    let on_event: OnEvent = {
        let (told, folder) = (Arc::clone(&told), folder.to_owned());
        Arc::new(move |event: &Event| {
            if matches!(event, Event::Started { .. }) {
                told.begun.store(true, Ordering::Relaxed);
                if let Some(library) = &library
                    && let Err(error) = library.adopt(&folder)
                {
                    tracing::info!(%error, "the run is not shown in the library yet");
                }
            }
            told.lock().event(event);
        })
    };
    let runtime = runs::runtime()?;
    let of = folder.to_owned();
    // Listened for before anything is begun that would have to be stopped.
    let signals = {
        let _inside = runtime.enter();
        StopSignals::new()
    };
    let stopper = runtime.spawn({
        let told = Arc::clone(&told);
        async move {
            let Ok(mut signals) = signals else { return };
            signals.next().await;
            told.lock().says("stopping: what was finished is kept; once more ends it at once");
            stop(&of, &told);
            signals.next().await;
            std::process::exit(i32::from(STOPPED));
        }
    });
    let ticker = runtime.spawn({
        let told = Arc::clone(&told);
        async move {
            loop {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                let told = Arc::clone(&told);
                // It reads files and writes to the terminal.
                drop(tokio::task::spawn_blocking(move || told.lock().tick()).await);
            }
        }
    });
    let finish = runtime.block_on(begin(on_event));
    stopper.abort();
    ticker.abort();
    told.lock().end();
    let finish = finish.map_err(runs::run_error)?;
    match &finish {
        Finish::Failed { message } => {
            return Err(ApiError::new("run.failed", message.clone())
                .at(folder.display().to_string())
                .hint(format!("Mend it, then go on with: stamina resume {}", folder.display())));
        }
        Finish::Finished if !as_json => {
            let outside = ended_from_outside(folder);
            if outside > 0 {
                note(&format!(
                    "{outside} of the episodes were ended by the endpoint or the boxes, not by the agent; play them on with: \
                     stamina resume {}",
                    folder.display()
                ));
            }
        }
        Finish::Stopped | Finish::Budget if !as_json => {
            note(&format!("go on with: stamina resume {}", folder.display()));
        }
        _ => {}
    }
    Ok(ExitCode::from(finish.code()))
}

/// Episodes of a run that is over which can be played on.
fn ended_from_outside(folder: &Path) -> usize {
    live::read(folder).map_or(0, |run| {
        let outside = |reason| matches!(reason, model::EndReason::Endpoint | model::EndReason::Environment);
        run.episodes.iter().filter(|episode| episode.end_reason.is_some_and(outside)).count()
    })
}

/// What is told of a run, from several threads.
struct Told {
    progress: Mutex<Progress>,
    begun: AtomicBool,
}

impl Told {
    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the run of this process to stop; one that has not begun yet just ends.
fn stop(folder: &Path, told: &Told) {
    if !told.begun.load(Ordering::Relaxed) {
        std::process::exit(i32::from(STOPPED));
    }
    let wished = live::read(folder)
        .map_err(runs::run_error)
        .and_then(|run| runs::wish(folder, &run, &RunAction::Stop));
    if let Err(error) = wished {
        crate::report(&error);
    }
}

/// `stamina pause`, `stamina stop`: of a run of another process.
pub(crate) fn steer(folder: &Path, action: &RunAction, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let run = live::read(&folder).map_err(runs::run_error)?;
    runs::wish(&folder, &run, action)?;
    let said = match action {
        RunAction::Pause => "pausing: attempts in play end, no new ones begin",
        RunAction::Continue => "it goes on",
        RunAction::Stop => "stopping: what was finished is kept",
        RunAction::Retry { .. } => "the attempt is played again",
    };
    if as_json {
        print_json(&json!({ "folder": folder, "wish": said }));
    } else {
        note(said);
    }
    Ok(ExitCode::SUCCESS)
}

/// `stamina status`: what a run is doing.
pub(crate) fn status(folder: &Path, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let run = live::read(&folder).map_err(runs::run_error)?;
    if as_json {
        print_json(&json!(run));
        return Ok(ExitCode::SUCCESS);
    }
    let state = match &run.state {
        RunState::Running => "running".to_owned(),
        RunState::Paused => "paused".to_owned(),
        RunState::Stopping => "stopping".to_owned(),
        RunState::Lost => "lost: its process is gone; `stamina resume` goes on with it".to_owned(),
        RunState::Ended { finish } => crate::progress::ended(finish),
    };
    let model = run.model.as_deref().unwrap_or("model unknown");
    let simulated = if run.simulated { ", simulated" } else { "" };
    let cost = run.spent.cost_usd.map_or_else(|| "unknown".to_owned(), |usd| format!("${usd:.2}"));
    print(&format!("{} · {model}{simulated}: {state}\n", run.agent));
    print(&format!("{}, {} requests, cost {cost}\n", duration(run.seconds), run.spent.requests));
    let rows: Vec<Vec<String>> = run.episodes.iter().map(|e| crate::progress::row(e, run.turns)).collect();
    print(&table::table(
        &["episode", "state", "turns", "turn", "attempt", "now"],
        &[false, false, false, true, true, false],
        &rows,
    ));
    Ok(ExitCode::SUCCESS)
}

/// `stamina images`.
pub(crate) fn images(command: &ImagesCommand, as_json: bool) -> Result<ExitCode, ApiError> {
    let outcomes: Mutex<Vec<Value>> = Mutex::default();
    let on_news = |news: ImageNews<'_>| match news {
        ImageNews::Progress(..) => {}
        ImageNews::Line(line) => note(&plain(line)),
        ImageNews::Outcome(outcome) => {
            if as_json {
                outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(json!(outcome));
            } else {
                let word = if outcome.ok { "ok" } else { "does not work" };
                print(&format!("{}: {word}: {}\n", outcome.name, plain(&outcome.message)));
            }
        }
    };
    let result = match command {
        ImagesCommand::List => return list_images(as_json),
        ImagesCommand::Build { names, ca } => {
            runs::build_named(names, ca.clone(), &on_news, &cancel_on_signal())
        }
        ImagesCommand::Test { names } => runs::test_images(names, &on_news, &cancel_on_signal()),
    };
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    if as_json {
        print_json(&Value::Array(outcomes));
    }
    result.map(|()| ExitCode::SUCCESS)
}

fn plain(line: &str) -> String {
    line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
}

fn list_images(as_json: bool) -> Result<ExitCode, ApiError> {
    let list = runs::images()?;
    if as_json {
        print_json(&json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(problem) = &list.problem {
        note(&format!("warning: {problem}"));
    }
    let rows: Vec<Vec<String>> = list
        .images
        .iter()
        .map(|i| {
            let state = match (i.built, i.current) {
                (None, _) => "unknown",
                (Some(false), _) => "not built",
                (Some(true), Some(false)) => "of an older recipe",
                (Some(true), _) => "built",
            };
            vec![
                i.name.clone(),
                i.image.clone(),
                state.to_owned(),
                i.size.map_or_else(String::new, bytes),
                i.harnesses.join(", "),
            ]
        })
        .collect();
    print(&table::table(
        &["name", "image", "state", "size", "harness"],
        &[false, false, false, true, false],
        &rows,
    ));
    Ok(ExitCode::SUCCESS)
}

/// `stamina harnesses`.
pub(crate) fn harnesses(as_json: bool) {
    let all = runs::harnesses();
    if as_json {
        print_json(&json!(all));
        return;
    }
    let rows: Vec<Vec<String>> = all
        .into_iter()
        .map(|h| vec![h.name.to_uppercase(), h.title, h.version, h.api.replace('_', " "), h.image])
        .collect();
    print(&table::table(&["agent", "program", "version", "API", "image"], &[false; 5], &rows));
}

/// `stamina clean`.
pub(crate) fn clean(yes: bool, all: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let list = runs::leftovers()?;
    if list.engine.is_none() {
        return Err(ApiError::new("engine.none", list.problem.unwrap_or_default()));
    }
    let (gone, kept): (Vec<_>, Vec<_>) = list.leftovers.into_iter().partition(|l| all || !l.in_use);
    if !as_json {
        let rows: Vec<Vec<String>> = gone
            .iter()
            .map(|l| {
                let state = if l.in_use { "in use" } else { "left behind" };
                vec![l.kind.clone(), l.name.clone(), l.run.clone(), state.to_owned()]
            })
            .collect();
        if gone.is_empty() {
            note("nothing was left behind");
        } else {
            print(&table::table(&["kind", "name", "run", "state"], &[false; 4], &rows));
        }
        if !kept.is_empty() {
            note(&format!("{} of living runs stay; --all removes them, too", kept.len()));
        }
    }
    let asked =
        yes || (!as_json && std::io::stdin().is_terminal() && !gone.is_empty() && confirmed("Remove them?"));
    let removed = asked && !gone.is_empty();
    if removed {
        runs::clean(all)?;
    }
    if as_json {
        print_json(&json!({ "found": gone, "kept": kept, "removed": removed }));
    } else if removed {
        note(&format!("removed {}", gone.len()));
    } else if !gone.is_empty() {
        note("nothing was removed; --yes removes it");
    }
    Ok(ExitCode::SUCCESS)
}
