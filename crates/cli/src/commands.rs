//! One function a command: asks the workbench, prints what it says.

use std::cell::Cell;
use std::io::{BufRead as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workbench::api::{
    ApiError, EpisodeRef, GridSort, ImportReportRequest, ListRuns, Nothing, RunAction, RunGridRequest,
    RunGrouping, RunRef, RunRow, RunSort, SourceInfo, SourceRef,
};
use workbench::{Options, Workbench};

use crate::args::{Args, Command, Sort};
use crate::{
    compare_command, exports, failures_command, json, machine_commands, matrix_command, play_commands,
    preflight_command, scenario_commands, serve, steer_commands, table,
};

/// How often a long reading says how far it is.
const PROGRESS: Duration = Duration::from_secs(2);

/// Runs the command that the arguments name.
pub(crate) fn run(args: Args) -> Result<ExitCode, ApiError> {
    let json = args.json;
    let open = |live| Workbench::open(Options { db: args.db.clone(), live, ..Options::default() });
    match args.command {
        Command::Ingest { paths } => Ok(ingest(&*open(false)?, &paths, json)),
        Command::Open { paths } => open_app(&paths, args.db.as_deref(), json),
        Command::Runs { text, sort, ascending } => runs(&*open(false)?, text, sort, ascending, json),
        Command::Survival { run } => survival(&*open(false)?, &run, json),
        Command::Show { run } => show(&*open(false)?, &run, json),
        Command::Compare { runs, reference, tau } => {
            compare_command::compare(&*open(false)?, &runs, reference.as_deref(), tau, json)
        }
        Command::Matrix { runs, benchmark, with_baselines, tau } => {
            matrix_command::matrix(&*open(false)?, &runs, benchmark, with_baselines, tau, json)
        }
        Command::Failures { runs, benchmark, by, scope, cases, class, by_tests } => {
            let asked =
                failures_command::FailuresAsked { runs, benchmark, by, scope, cases, class, by_tests };
            failures_command::failures(&*open(false)?, &asked, json)
        }
        Command::Sources => sources(&*open(false)?, json),
        Command::ImportReport { source } => import_report(&*open(false)?, &source, json),
        Command::Close { source } => close(&*open(false)?, &source, json),
        Command::Figure(args) => exports::figure(&*open(false)?, &args, json),
        Command::Table(args) => exports::table(&*open(false)?, &args, json),
        Command::Report(args) => exports::report(&*open(false)?, &args, json),
        Command::Serve { port, token, ui } => {
            let workbench = open(true)?;
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .map_err(|e| ApiError::new("serve.runtime", format!("The server can not be started: {e}")))?;
            let ended = runtime.block_on(serve::serve(workbench, port, token, ui, json));
            runtime.shutdown_background();
            ended.map(|()| ExitCode::SUCCESS)
        }
        Command::Generate { out, configs, values, force, check, replay } => match (check, replay) {
            (Some(manifest), _) => scenario_commands::check(&manifest, json),
            (None, Some(pack)) => scenario_commands::replay(&pack, out, force, json),
            (None, None) => scenario_commands::generate(out, &configs, &values, force, json),
        },
        Command::Validate { pack, scenarios, turns, mutants } => {
            scenario_commands::validate(&pack, scenarios.as_ref(), turns.as_ref(), mutants, json)
        }
        Command::ServeReference { pack, scenario, turn, schema, port } => {
            let from = match (schema, pack, scenario, turn) {
                (Some(file), ..) => scenario_commands::Reference::File(file),
                (None, Some(pack), Some(scenario), Some(turn)) => {
                    scenario_commands::Reference::OfPack { pack, scenario, turn }
                }
                // The arguments are checked when they are read; this is for readers of the code.
                _ => {
                    return Err(ApiError::new("serve.what", "What to serve is not said")
                        .hint("PACK --scenario S --turn T, or --schema FILE"));
                }
            };
            scenario_commands::serve_reference(&from, port, json)
        }
        Command::TestServer { pack, scenario, turn, url, cases } => {
            scenario_commands::test_server(&pack, (scenario, turn), &url, &cases, json)
        }
        Command::Run { what, yes } => play_commands::run(&what, args.db.as_deref(), yes, json),
        Command::Resume { folder, values } => {
            play_commands::resume(&folder, &values, args.db.as_deref(), json)
        }
        Command::Pause { folder, goes_on } => steer_commands::steer(
            &folder,
            if goes_on { &RunAction::Continue } else { &RunAction::Pause },
            json,
        ),
        Command::Stop { folder } => steer_commands::steer(&folder, &RunAction::Stop, json),
        Command::Status { folder } => steer_commands::status(&folder, json),
        Command::Preflight { what, no_call } => {
            preflight_command::preflight(&what, args.db.as_deref(), no_call, json)
        }
        Command::Images { command } => machine_commands::images(&command, json),
        Command::Harnesses => {
            machine_commands::harnesses(json);
            Ok(ExitCode::SUCCESS)
        }
        Command::Clean { yes, all } => machine_commands::clean(yes, all, json),
        Command::Rpc { name, request } => rpc(&open(false)?, name.as_deref(), &request),
    }
}

/// Writes to standard output. A reader that went away (`| head`) ends the program quietly; any other fault, such as a
/// full disk, is a failure.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        crate::report(&ApiError::new("output.failed", format!("The output can not be written: {error}")));
        std::process::exit(1);
    }
}

pub(crate) fn print_json(value: &Value) {
    print(&format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()));
}

/// A question at the terminal; no answer is no.
pub(crate) fn confirmed(question: &str) -> bool {
    drop(write!(std::io::stderr(), "{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok_and(|_| answer.trim().eq_ignore_ascii_case("y"))
}

pub(crate) fn note(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}

fn ingest(workbench: &Workbench, paths: &[PathBuf], as_json: bool) -> ExitCode {
    let mut sources = Vec::new();
    let mut errors = Vec::new();
    let mut failed = false;
    for path in paths {
        let told = Cell::new(Instant::now());
        let progress = |done: u32, total: u32| {
            if told.get().elapsed() >= PROGRESS {
                told.set(Instant::now());
                note(&format!("{}: read {done} of {total}", path.display()));
            }
        };
        match workbench.ingest(path, &progress) {
            Ok(read) => {
                if !as_json {
                    print(&format!(
                        "{}: {}, {} runs, {} episodes, {} turns, {} attempts, {} warnings\n",
                        read.path,
                        read.format_name,
                        read.runs,
                        read.episodes,
                        read.turns,
                        read.attempts,
                        read.warnings.len()
                    ));
                    for warning in read.warnings.iter().take(10) {
                        note(&format!("warning: {}: {} [{}]", warning.path, warning.message, warning.code));
                    }
                    if read.warnings.len() > 10 {
                        note(&format!(
                            "… {} more warnings; `stamina import-report {}` lists them",
                            read.warnings.len() - 10,
                            read.name
                        ));
                    }
                }
                sources.push(json::ingested(&read));
            }
            Err(error) => {
                crate::report(&error);
                failed |= !crate::is_of_the_command_line(&error.code);
                errors.push(json::error(&path.display().to_string(), &error));
            }
        }
    }
    let code = match (errors.is_empty(), failed) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    if as_json {
        print_json(&json!({ "sources": sources, "errors": errors }));
    }
    ExitCode::from(code)
}

fn open_app(paths: &[PathBuf], db: Option<&Path>, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut absolute = Vec::new();
    for path in paths {
        absolute.push(path.canonicalize().map_err(|e| {
            ApiError::new("source.missing", format!("The folder or zip can not be opened: {e}"))
                .at(path.display().to_string())
        })?);
    }
    let options = Options { db: db.map(Path::to_owned), live: false, ..Options::default() };
    if workbench::app_is_running(&options) {
        // The running app notices new sources of its library by itself.
        let workbench = Workbench::open(options)?;
        for path in &absolute {
            workbench.register(path)?;
        }
        finish_open("handed to the running app", as_json);
        return Ok(ExitCode::SUCCESS);
    }
    let program = find_app()?;
    let mut process = Process::new(&program);
    if let Some(db) = db {
        process.arg("--db").arg(db);
    }
    process.args(&absolute).stdin(std::process::Stdio::null()).spawn().map_err(|e| {
        ApiError::new("open.failed", format!("The desktop app can not be started: {e}"))
            .at(program.display().to_string())
    })?;
    finish_open("started the app", as_json);
    Ok(ExitCode::SUCCESS)
}

fn finish_open(what: &str, as_json: bool) {
    if as_json {
        print_json(&json!({ "opened": what }));
    } else {
        note(what);
    }
}

/// The desktop app lies beside this program, or on the `PATH`.
fn find_app() -> Result<PathBuf, ApiError> {
    let beside = std::env::current_exe().ok().and_then(|p| p.parent().map(|f| f.join("stamina-lab")));
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect::<Vec<_>>())
        .unwrap_or_default();
    beside
        .into_iter()
        .chain(on_path.into_iter().map(|folder| folder.join("stamina-lab")))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            ApiError::new("open.no_app", "The desktop app `stamina-lab` was not found beside this program or on the PATH")
                .hint("`npm start` in the checkout builds and starts it; `stamina serve` shows the app in a browser")
        })
}

fn all_runs(workbench: &Workbench, request: &ListRuns) -> Result<Vec<RunRow>, ApiError> {
    let mut rows = Vec::new();
    loop {
        let page =
            workbench.list_runs(ListRuns { offset: rows.len() as u32, limit: 500, ..request.clone() })?;
        let done = page.rows.is_empty();
        rows.extend(page.rows);
        if done || rows.len() >= page.total as usize {
            return Ok(rows);
        }
    }
}

fn runs(
    workbench: &Workbench,
    text: String,
    sort: Sort,
    ascending: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let sort = match sort {
        Sort::Stamina => RunSort::Stamina,
        Sort::Model => RunSort::Model,
        Sort::Harness => RunSort::Harness,
        Sort::Benchmark => RunSort::Benchmark,
        Sort::Source => RunSort::Source,
        Sort::Episodes => RunSort::Episodes,
        Sort::Turns => RunSort::Turns,
        Sort::Score => RunSort::Score,
        Sort::Tokens => RunSort::Tokens,
        Sort::Cost => RunSort::Cost,
        Sort::Date => RunSort::Date,
    };
    let request = ListRuns { text, sort, ascending, group: RunGrouping::None, ..ListRuns::default() };
    let rows = all_runs(workbench, &request)?;
    if as_json {
        print_json(&Value::Array(rows.iter().map(json::run).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    let unknown = || "unknown".to_owned();
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.id.clone(),
                format!("{}{}", row.model.as_deref().unwrap_or("unknown"), simulated(row)),
                row.harness.clone().unwrap_or_else(unknown),
                row.episodes.to_string(),
                row.stamina.mean.map_or_else(unknown, |mean| format!("{mean:.2}")),
                match (row.stamina.ci_low, row.stamina.ci_high) {
                    (Some(low), Some(high)) => format!("{low:.2}–{high:.2}"),
                    _ => "n/a".to_owned(),
                },
                row.stamina.tau.to_string(),
                format!("{}/{}", row.stamina.events, row.stamina.censored),
                row.score.map_or_else(unknown, |score| format!("{score:.1}")),
                row.cost_usd.map_or_else(unknown, |cost| format!("${cost:.2}")),
            ]
        })
        .collect();
    print(&table::table(
        &[
            "id",
            "model",
            "harness",
            "episodes",
            "stamina",
            "95 % CI",
            "tau",
            "events/censored",
            "score",
            "cost",
        ],
        &[false, false, false, true, true, true, true, true, true, true],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}

/// What follows the name of a simulated run.
fn simulated(row: &RunRow) -> &'static str {
    if row.simulated { " (simulated)" } else { "" }
}

/// The line above what is printed of one run, where a scripted model stood in for a real one.
fn print_simulated(row: &RunRow) {
    if row.simulated {
        print(&format!("{}: simulated, a scripted model stood in for a real one\n\n", row.id));
    }
}

/// Finds a run by its id, or by a begin or part of it that names it alone.
pub(crate) fn find_run(workbench: &Workbench, asked: &str) -> Result<RunRow, ApiError> {
    let mut rows = all_runs(workbench, &ListRuns::default())?;
    if let Some(exact) = rows.iter().position(|row| row.id == asked) {
        return Ok(rows.swap_remove(exact));
    }
    rows.retain(|row| row.id.contains(asked));
    if let Some(prefix) = rows.iter().position(|row| row.id.starts_with(asked))
        && rows.iter().filter(|row| row.id.starts_with(asked)).count() == 1
    {
        return Ok(rows.swap_remove(prefix));
    }
    match rows.len() {
        1 => Ok(rows.swap_remove(0)),
        0 => Err(ApiError::new("run.not_found", format!("There is no run \"{asked}\" in the library"))
            .hint("`stamina runs` lists the runs with their ids")),
        _ => {
            let ids: Vec<&str> = rows.iter().take(5).map(|row| row.id.as_str()).collect();
            Err(ApiError::new("run.ambiguous", format!("\"{asked}\" names {} runs", rows.len()))
                .hint(format!("Name one of: {}", ids.join(", "))))
        }
    }
}

fn survival(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let row = find_run(workbench, run)?;
    let rows = workbench.run_survival(RunRef { run: row.id.clone() })?.rows;
    if as_json {
        print_json(&Value::Array(rows.iter().map(json::survival).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    print_simulated(&row);
    let band = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| format!("{v:.3}"));
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            vec![
                r.turn.to_string(),
                r.at_risk.to_string(),
                r.events.to_string(),
                r.censored.to_string(),
                format!("{:.3}", r.survival),
                band(r.ci_low),
                band(r.ci_high),
            ]
        })
        .collect();
    print(&table::table(
        &["turn", "at risk", "events", "censored", "survival", "ci low", "ci high"],
        &[true; 7],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}

fn show(workbench: &Workbench, run: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let run = find_run(workbench, run)?;
    let grid = workbench.run_grid(RunGridRequest {
        run: run.id.clone(),
        sort: GridSort::default(),
        offset: 0,
        limit: 0,
    })?;
    if !as_json {
        print_simulated(&run);
        let lines: Vec<Vec<String>> = grid
            .rows
            .iter()
            .map(|e| {
                vec![
                    e.episode.clone(),
                    format!("{}{}", if e.censored { "≥ " } else { "" }, e.stamina),
                    e.failed_turn.map_or_else(String::new, |t| t.to_string()),
                    e.end_reason.label().to_owned(),
                    e.cells.clone(),
                ]
            })
            .collect();
        print(&table::table(
            &[
                "episode",
                "stamina",
                "first not passed",
                "end",
                "turns (p passed, r after retries, f failed, e error, n not reached, c censored)",
            ],
            &[false, true, true, false, false],
            &lines,
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let mut value = json::run(&run);
    let mut episodes = Vec::new();
    for row in &grid.rows {
        let episode =
            workbench.whole_episode(&EpisodeRef { run: run.id.clone(), episode: row.episode.clone() })?;
        episodes.push(json::episode(row, &episode));
    }
    value["episodes"] = Value::Array(episodes);
    print_json(&value);
    Ok(ExitCode::SUCCESS)
}

fn sources(workbench: &Workbench, as_json: bool) -> Result<ExitCode, ApiError> {
    let state = workbench.app_state(Nothing {})?;
    if as_json {
        print_json(&json!(state.sources));
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = state
        .sources
        .iter()
        .map(|s| {
            vec![
                s.id.to_string(),
                s.name.clone(),
                s.format.clone(),
                s.runs.to_string(),
                s.warnings.to_string(),
                s.path.clone(),
            ]
        })
        .collect();
    print(&table::table(
        &["number", "name", "format", "runs", "warnings", "path"],
        &[true, false, false, true, true, false],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}

fn find_source(workbench: &Workbench, asked: &str) -> Result<SourceInfo, ApiError> {
    let absolute = Path::new(asked).canonicalize().ok();
    let sources = workbench.app_state(Nothing {})?.sources;
    let mut found = sources.into_iter().filter(|s| {
        s.name == asked
            || s.id.to_string() == asked
            || absolute.as_deref().is_some_and(|p| Path::new(&s.path) == p)
    });
    match (found.next(), found.next()) {
        (Some(source), None) => Ok(source),
        (Some(_), Some(_)) => {
            Err(ApiError::new("source.ambiguous", format!("\"{asked}\" names more than one source"))
                .hint("Name it by its number; `stamina sources` lists them"))
        }
        _ => Err(ApiError::new("source.not_found", format!("There is no source \"{asked}\" in the library"))
            .hint("`stamina sources` lists them")),
    }
}

fn import_report(workbench: &Workbench, source: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let source = find_source(workbench, source)?;
    let mut request = ImportReportRequest {
        source: source.id,
        treatment: None,
        code: None,
        run: None,
        offset: 0,
        limit: 1000,
    };
    let mut report = workbench.import_report(request.clone())?;
    while (report.warnings.len() as u64) < report.matching {
        request.offset = report.warnings.len() as u32;
        let more = workbench.import_report(request.clone())?.warnings;
        if more.is_empty() {
            break;
        }
        report.warnings.extend(more);
    }
    if as_json {
        print_json(&json!(report));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: {}, {} runs, {} episodes, {} turns and {} not reached, {} attempts, {} files read, {} warnings\n",
        source.path,
        source.format,
        report.runs,
        report.episodes,
        report.turns,
        report.not_reached,
        report.attempts,
        report.files_read,
        report.matching
    );
    for warning in &report.warnings {
        let treatment = match warning.treatment {
            model::Treatment::Repaired => "repaired",
            model::Treatment::Skipped => "skipped",
            model::Treatment::ReadDifferently => "read differently",
        };
        text.push_str(&format!("{treatment}: {}: {} [{}]\n", warning.path, warning.message, warning.code));
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}

fn close(workbench: &Workbench, source: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let source = find_source(workbench, source)?;
    workbench.close_source(SourceRef { source: source.id })?;
    if as_json {
        print_json(&json!({ "closed": source.path }));
    } else {
        note(&format!("{} is not in the library any more; the files are untouched", source.path));
    }
    Ok(ExitCode::SUCCESS)
}

fn rpc(workbench: &Arc<Workbench>, name: Option<&str>, request: &str) -> Result<ExitCode, ApiError> {
    let Some(name) = name else {
        let lines: Vec<Vec<String>> = workbench::COMMANDS
            .iter()
            .map(|(name, doc)| vec![(*name).to_owned(), (*doc).to_owned()])
            .collect();
        print(&table::table(&["command", "what it does"], &[false, false], &lines));
        return Ok(ExitCode::SUCCESS);
    };
    let request = match request {
        "-" => std::io::read_to_string(std::io::stdin().lock())
            .map_err(|e| ApiError::new("request.unreadable", format!("The request can not be read: {e}")))?,
        given => given.to_owned(),
    };
    let request = serde_json::from_str(&request)
        .map_err(|e| ApiError::new("request.malformed", format!("The request is not JSON: {e}")))?;
    print_json(&workbench::call(workbench, name, request)?);
    Ok(ExitCode::SUCCESS)
}
