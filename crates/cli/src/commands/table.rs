//! `stamina table`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use workbench::Workbench;
use workbench::api::{
    ApiError, AttemptChoice, CompareRequest, DisagreementMode, DisagreementRequest, DisagreementSort,
    ExportFormat, ExportRequest, ExportSubject, FailureCasesRequest, FailureOrigin, GridSort, JobRef,
    JobState, ListRuns, Member, Nothing, PackInfo, RetriesRequest, RunFolder, ScenarioSuiteRequest,
    ScenarioTurnRef, TableSubject, TasksRequest, TurnRef, ValidatePack, WarningSelection,
};

use super::exports::{absolute, format_of, written};
use super::figure::FIGURES;
use super::selection::{SelectionArgs, compared, failures, matrix};
use super::sources::find_source;
use crate::library_runs::find_run;
use crate::print::{print, print_json};

/// The kinds of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableWord {
    /// Runs with n, events, mean stamina, intervals, median, score, tokens, cost
    Runs,
    /// Scores of turns: dataset, case, perfect, MT@k, SR, Gap, Comp
    Scores,
    /// Tokens, cost, time and tool calls of runs
    Spent,
    /// Pairs with difference, ratio, log-rank and paired test
    Pairs,
    /// Mean stamina under other ways to count censored episodes
    Sensitivity,
    /// Settings that differ
    Settings,
    /// Survival turn by turn
    Survival,
    /// Turns that one run passes and another fails (or those of --mode)
    Disagreements,
    /// Mean stamina by harness and model, with the means of rows and columns
    Matrix,
    /// Best and worst harness of each model
    Spread,
    /// Published numbers of the benchmark
    Published,
    /// Mean stamina by retry budget
    Retries,
    /// Gain by retries
    Gains,
    /// Failed attempts by class
    Failures,
    /// Failed attempts, one a row
    Cases,
    /// Failing tests by origin: new, regressed, still failing
    Origins,
    /// Turns (trials, of runs of one turn) that failed at first, by the attempt that passed
    Repairs,
    /// How long it takes until what failed passes, by group
    RepairTimes,
    /// Tests that flip most
    Flips,
    /// Rules that classify failures
    Rules,
    /// Scenarios that the reference and another run (or every other) both played
    Paired,
    /// Episodes, one a row
    Episodes,
    /// Turns of episodes, one a row
    Turns,
    /// Turns over all episodes: reached, passed, mean score, mean attempts
    ByTurn,
    /// Every attempt, one a row: the tidy table that `stamina ingest` reads. Without a run, of every run of the library
    Tidy,
    /// Tasks of runs of one turn, one row for each task and run: trials, passed, time, tokens, cost
    Tasks,
    /// The same with the runs as columns, marking tasks that only one run solves
    TaskGrid,
    /// Runs of one turn: pass rate, tasks solved, time, tokens and cost per task
    PerTask,
    /// pass@k and pass^k of runs of one turn
    PassAtK,
    /// Every run of the library; takes no run
    Library,
    /// Runs that this machine runs or ran; takes no run
    Played,
    /// Episodes of a run that this machine runs or ran; takes its folder
    Progress,
    /// Attempts at --turn of --episode
    Attempts,
    /// Tests of --attempt at --turn of --episode
    Tests,
    /// Tests of --turn of --episode in two runs, joined by their ids
    Joined,
    /// Import warnings of a source; takes its path, name or number
    Warnings,
    /// Cases of the suite of --scenario and --turn; takes an opened pack
    Suite,
    /// Problems of a pack, from a validation that begins now; takes an opened pack
    Findings,
    /// Mutants by operator, from a validation that begins now; takes an opened pack
    Mutants,
}

/// What `--mode` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeWord {
    /// Every turn that a run reached
    All,
    /// One passes it and another fails it
    Different,
    /// A run fails it
    Failures,
    /// It ended without a verdict for a run
    Errors,
}

/// What `--origin` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OriginWord {
    /// No earlier attempt of its episode had it
    New,
    /// Passed in an earlier turn or attempt, and not afterwards
    Regressed,
    /// Failed when its outcome was last known
    StillFailing,
    /// Earlier turns do not describe their tests
    Unknown,
}

/// What `--sort` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderWord {
    /// Longest first
    Stamina,
    /// By name
    Scenario,
    /// Highest first
    Score,
}

#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Kind of the table
    #[arg(value_enum)]
    kind: TableWord,
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME; or a folder, or a pack
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// File to write; its ending selects the format: svg, pdf, png, csv, parquet, jsonl, tex, toml, md or html. Without it,
    /// the table is printed as Markdown, or as JSON with --json
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Venue, for width and letters of a picture: icml (one column), icml:full (two), neurips, acl, ieee, acm, aaai, …
    #[arg(long, value_name = "VENUE", default_value = "icml", requires = "out")]
    preset: String,
    /// In grayscale
    #[arg(long, requires = "out")]
    grey: bool,
    /// Which turns `disagreements` lists
    #[arg(long, value_enum, default_value_t = ModeWord::Different)]
    mode: ModeWord,
    /// Only `cases` of this class
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// With --class: attempts with a failing test of it, whatever their own class
    #[arg(long, requires = "class")]
    by_tests: bool,
    /// Only `cases` with a failing test of this origin
    #[arg(long, value_enum)]
    origin: Option<OriginWord>,
    /// Order of `episodes` and `turns`
    #[arg(long, value_enum, default_value_t = OrderWord::Stamina)]
    sort: OrderWord,
    /// Scenario of a `suite` (from 0; 0 by default), and of a validation (all by default)
    #[arg(long, value_name = "S")]
    scenario: Option<u32>,
    /// Episode of `attempts`, `tests` and `joined` (which takes two, where the runs name theirs differently)
    #[arg(long, value_name = "ID")]
    episode: Vec<String>,
    /// Attempt of `tests`; the last by default
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// Turn of a `suite`, of `attempts`, `tests` and `joined`, from 1
    #[arg(long, value_name = "T", default_value_t = 1)]
    turn: u32,
    /// Mutants of each operator at each turn of a validation
    #[arg(long, value_name = "N", default_value_t = 1)]
    mutants: u32,
    #[command(flatten)]
    selection: SelectionArgs,
}

/// The formats of a table that a figure does not have.
const TEXT: [(&str, ExportFormat); 3] =
    [("md", ExportFormat::Md), ("html", ExportFormat::Html), ("jsonl", ExportFormat::Jsonl)];

/// The turns that `stamina table disagreements` lists, in the order of the page.
fn disagreements(workbench: &Workbench, args: &TableArgs) -> Result<DisagreementRequest, ApiError> {
    let request = compared(workbench, &args.runs, args.selection.reference.as_deref(), None)?;
    Ok(DisagreementRequest {
        members: request.members,
        reference: request.reference,
        mode: match args.mode {
            ModeWord::All => DisagreementMode::All,
            ModeWord::Different => DisagreementMode::Different,
            ModeWord::Failures => DisagreementMode::Failures,
            ModeWord::Errors => DisagreementMode::Errors,
        },
        sort: DisagreementSort::default(),
        text: String::new(),
        offset: 0,
        limit: 0,
    })
}

/// The failed attempts that `stamina table cases` lists.
fn cases(workbench: &Workbench, args: &TableArgs) -> Result<FailureCasesRequest, ApiError> {
    Ok(FailureCasesRequest {
        failures: failures(workbench, &args.runs, &args.selection)?,
        class: args.class.clone(),
        by_tests: args.by_tests,
        origin: args.origin.map(|origin| match origin {
            OriginWord::New => FailureOrigin::New,
            OriginWord::Regressed => FailureOrigin::Regressed,
            OriginWord::StillFailing => FailureOrigin::StillFailing,
            OriginWord::Unknown => FailureOrigin::Unknown,
        }),
        ..FailureCasesRequest::default()
    })
}

/// An error if runs are named for a table that takes none.
fn no_run(args: &TableArgs, instead: &str) -> Result<(), ApiError> {
    if args.runs.is_empty() {
        return Ok(());
    }
    Err(ApiError::new("export.runs", "This table takes no run").hint(instead.to_owned()))
}

/// The only thing that is named, or an error.
fn one<'a>(args: &'a TableArgs, noun: &str, hint: &str) -> Result<&'a str, ApiError> {
    match args.runs.as_slice() {
        [run] => Ok(run),
        named => Err(ApiError::new(
            "export.one",
            format!("This table is of one {noun}, and {} are named", named.len()),
        )
        .hint(hint.to_owned())),
    }
}

/// The attempts that `count` runs, --episode, --turn and --attempt name.
fn attempts(workbench: &Workbench, args: &TableArgs, count: usize) -> Result<Vec<AttemptChoice>, ApiError> {
    if args.runs.len() != count {
        let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
        let error = ApiError::new(
            "export.runs",
            format!("This table is of {runs}, and {} are named", args.runs.len()),
        );
        return Err(error.hint("Name runs by their ids; `stamina runs` lists them"));
    }
    let last = args.episode.last().ok_or_else(|| {
        ApiError::new("export.episode", "This table is of an episode, and none is named")
            .hint("Name it with --episode; `stamina show RUN` lists those of a run")
    })?;
    let named = args.runs.iter().enumerate().map(|(index, run)| {
        Ok(AttemptChoice {
            run: find_run(workbench, run)?.id,
            episode: args.episode.get(index).unwrap_or(last).clone(),
            turn: args.turn,
            attempt: args.attempt,
        })
    });
    named.collect()
}

/// Finds an opened pack by its path or its name.
fn pack(workbench: &Workbench, args: &TableArgs) -> Result<PackInfo, ApiError> {
    let hint = "Open its folder or zip first: `stamina ingest PACK`";
    let wanted = one(args, "pack", hint)?;
    // A link or a path with `..` leads to the same pack, as with sources.
    let path = Path::new(wanted).canonicalize().ok();
    let packs = workbench.list_packs(Nothing {})?.packs;
    packs
        .into_iter()
        .find(|pack| pack.name == wanted || path.as_deref().is_some_and(|path| Path::new(&pack.path) == path))
        .ok_or_else(|| ApiError::new("export.no_pack", format!("No opened pack is \"{wanted}\"")).hint(hint))
}

/// Validates a pack and waits until that is finished.
fn validation(workbench: &Workbench, args: &TableArgs) -> Result<JobRef, ApiError> {
    const POLL_INTERVAL: Duration = Duration::from_millis(50);
    let pack = pack(workbench, args)?;
    let job = workbench.validate_pack(ValidatePack {
        source: pack.source,
        folder: pack.folder,
        mutants: args.mutants,
        scenarios: args.scenario.into_iter().collect(),
    })?;
    loop {
        let now = workbench.get_job(job.clone())?;
        if now.state != JobState::Running {
            return match now.error {
                Some(error) => Err(ApiError::new("export.validation", error)),
                None => Ok(job),
            };
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The runs of the library that have tests.
fn every_run(workbench: &Workbench) -> Result<Vec<Member>, ApiError> {
    let runs = workbench.list_runs(ListRuns { limit: u32::MAX, ..ListRuns::default() })?.rows;
    Ok(runs.into_iter().filter(|run| run.tested).map(|run| Member::Run { run: run.id }).collect())
}

fn sort(args: &TableArgs) -> GridSort {
    match args.sort {
        OrderWord::Stamina => GridSort::Stamina,
        OrderWord::Scenario => GridSort::Scenario,
        OrderWord::Score => GridSort::Score,
    }
}

/// A comparison that has a pair.
fn require_pair(request: CompareRequest) -> Result<CompareRequest, ApiError> {
    if request.members.len() < 2 {
        return Err(ApiError::new("export.pairs", "Pairs are of two runs or more, and there is 1")
            .hint("Name another run, or a group of runs; `stamina table runs RUN` has one alone"));
    }
    Ok(request)
}

fn table_of(workbench: &Workbench, args: &TableArgs) -> Result<TableSubject, ApiError> {
    let selection = &args.selection;
    let request = || compared(workbench, &args.runs, selection.reference.as_deref(), selection.tau);
    let failed = || failures(workbench, &args.runs, selection);
    let in_matrix = || matrix(workbench, &args.runs, selection);
    let tasks = || Ok::<_, ApiError>(TasksRequest { members: request()?.members, ..TasksRequest::default() });
    let by_budget =
        || Ok::<_, ApiError>(RetriesRequest { members: request()?.members, ..RetriesRequest::default() });
    Ok(match args.kind {
        TableWord::Runs => TableSubject::Runs { request: request()? },
        TableWord::Scores => TableSubject::Scores { request: request()? },
        TableWord::Spent => TableSubject::Spent { request: request()? },
        TableWord::Pairs => TableSubject::Pairs { request: require_pair(request()?)? },
        TableWord::Paired => TableSubject::Paired { request: request()?, other: None },
        TableWord::Sensitivity => TableSubject::Sensitivity { request: request()? },
        TableWord::Settings => TableSubject::Settings { request: request()? },
        TableWord::Survival => TableSubject::Survival { request: request()? },
        TableWord::Disagreements => TableSubject::Disagreements { request: disagreements(workbench, args)? },
        TableWord::Matrix => TableSubject::Matrix { request: in_matrix()? },
        TableWord::Spread => TableSubject::Spread { request: in_matrix()? },
        TableWord::Published => TableSubject::Published { request: in_matrix()? },
        TableWord::Retries => TableSubject::Retries { request: by_budget()? },
        TableWord::Gains => TableSubject::Gains { request: by_budget()? },
        TableWord::Failures => TableSubject::Failures { request: failed()? },
        TableWord::Cases => TableSubject::Cases { request: cases(workbench, args)? },
        TableWord::Origins => TableSubject::Origins { request: failed()? },
        TableWord::Repairs => TableSubject::Repairs { request: failed()? },
        TableWord::RepairTimes => TableSubject::RepairTimes { request: failed()? },
        TableWord::Flips => TableSubject::Flips { request: failed()? },
        TableWord::Rules => TableSubject::Rules { request: failed()? },
        TableWord::Episodes => TableSubject::Episodes { members: request()?.members, sort: sort(args) },
        TableWord::Turns => TableSubject::Turns { members: request()?.members, sort: sort(args) },
        TableWord::ByTurn => TableSubject::ByTurn { members: request()?.members },
        TableWord::Tidy if args.runs.is_empty() => TableSubject::Tidy { members: every_run(workbench)? },
        TableWord::Tidy => TableSubject::Tidy { members: request()?.members },
        TableWord::Tasks => TableSubject::Tasks { request: tasks()? },
        TableWord::TaskGrid => TableSubject::TaskGrid { request: tasks()? },
        TableWord::PerTask => TableSubject::PerTask { request: tasks()? },
        TableWord::PassAtK => TableSubject::PassAtK { request: tasks()? },
        TableWord::Library => {
            no_run(args, "`stamina table runs RUN…` has those that are named")?;
            TableSubject::Library { request: ListRuns::default() }
        }
        TableWord::Played => {
            no_run(args, "`stamina table progress DIR` has the episodes of one")?;
            TableSubject::Played { only_ended: false }
        }
        TableWord::Progress => {
            let folder = one(args, "results folder", "`stamina table played` lists them")?;
            TableSubject::Progress { run: RunFolder { folder: absolute(Path::new(folder))? } }
        }
        TableWord::Attempts => {
            let AttemptChoice { run, episode, turn, .. } = attempts(workbench, args, 1)?.remove(0);
            TableSubject::Attempts { turn: TurnRef { run, episode, turn } }
        }
        TableWord::Tests => TableSubject::Tests { attempt: attempts(workbench, args, 1)?.remove(0) },
        TableWord::Joined => {
            let mut both = attempts(workbench, args, 2)?;
            TableSubject::Joined { right: both.remove(1), left: both.remove(0) }
        }
        TableWord::Warnings => {
            let wanted = one(args, "source", "`stamina sources` lists them")?;
            let source = find_source(workbench, wanted)?.id;
            TableSubject::Warnings { selection: WarningSelection { source, treatment: None, run: None } }
        }
        TableWord::Suite => {
            let pack = pack(workbench, args)?;
            let scenario = args.scenario.unwrap_or(0);
            TableSubject::Suite {
                request: ScenarioSuiteRequest {
                    turn: ScenarioTurnRef {
                        source: pack.source,
                        folder: pack.folder,
                        scenario,
                        turn: args.turn,
                    },
                    text: String::new(),
                    marks: Vec::new(),
                    aspects: Vec::new(),
                    offset: 0,
                    limit: 0,
                },
            }
        }
        TableWord::Findings => TableSubject::Findings { job: validation(workbench, args)? },
        TableWord::Mutants => TableSubject::Mutants { job: validation(workbench, args)? },
    })
}

/// `stamina table`.
pub(crate) fn table(workbench: &Workbench, args: &TableArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    // A file name without a known ending is refused before anything is computed.
    let fits = [FIGURES, &TEXT].concat();
    let format = args.out.as_deref().map(|out| format_of(out, &fits)).transpose()?;
    let table = table_of(workbench, args)?;
    let (Some(out), Some(format)) = (&args.out, format) else {
        if as_json {
            print_json(&workbench.table_json(&table)?);
        } else {
            print(&workbench.table(&table)?.to_markdown());
        }
        return Ok(ExitCode::SUCCESS);
    };
    let table = ExportSubject::Table { table, preset: args.preset.clone(), grey: args.grey };
    let made = workbench.export(ExportRequest { subject: table, format, path: Some(absolute(out)?) })?;
    Ok(written(&made, as_json))
}
