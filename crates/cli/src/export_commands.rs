//! `stamina figure`, `stamina table`, `stamina report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;
use workbench::Workbench;
use workbench::api::{
    ApiError, Bands, CompareRequest, DisagreementMode, DisagreementRequest, DisagreementSort, DrawFigure,
    ExportFormat, ExportOf, ExportRequest, Exported, FailureCasesRequest, FailureGrouping, FailureOrigin,
    FailureScope, FailuresRequest, FigureKind, FigureOf, FigureTheme, GridSort, MatrixRequest, Measure,
    RetriesRequest, RunFigureRequest, RunGridRequest, TableOf,
};

use crate::args::FailuresScope;
use crate::commands::{find_run, note, print, print_json};
use crate::members::{self, find_members};

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureWord {
    /// Kaplan–Meier curves with at-risk table
    Survival,
    /// Turn of first failure, one histogram a run
    FirstFailures,
    /// Differences in mean stamina to the reference
    Differences,
    /// Ratios of mean stamina to the reference
    Ratios,
    /// Two runs on the scenarios that both played
    Paired,
    /// One measure a run
    Bars,
    /// Mean stamina against cost
    Pareto,
    /// Mean stamina by harness and model
    Matrix,
    /// Mean stamina against the retry budget
    Retries,
    /// Failed attempts by class
    Failures,
}

/// What a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableWord {
    /// Runs with n, events, mean stamina, intervals, median, score, tokens, cost
    Runs,
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
    /// Failing tests by origin: new, regression, still failing
    Origins,
    /// Turns that failed at first, by the attempt that passed
    Repairs,
    /// Tests that flip most
    Flips,
    /// Rules that classify failures
    Rules,
}

/// What `--measure` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureWord {
    Stamina,
    Score,
    Tokens,
    Cost,
    Time,
    Steps,
    CostPerSurvivedTurn,
}

/// What `--by` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupWord {
    Run,
    Harness,
    Turn,
    Attempt,
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
    /// Never passed before in its episode
    New,
    /// Passed in an earlier turn
    Regression,
    /// Failed at the turn before, too
    StillFailing,
    /// Earlier turns do not describe their tests
    Unknown,
}

/// Whose numbers, and how they are compared.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The run that others are compared with; the first by default
    #[arg(long, value_name = "RUN")]
    reference: Option<String>,
    /// Horizon of mean stamina in turns; by default as far as every curve is known
    #[arg(long, value_name = "TURNS")]
    tau: Option<u32>,
    /// Benchmark of a matrix; by default the one with most runs
    #[arg(long, value_name = "KEY")]
    benchmark: Option<String>,
    /// How failures are grouped
    #[arg(long, value_enum, default_value_t = GroupWord::Run)]
    by: GroupWord,
    /// Which failed attempts count: all, the final ones of turns not passed, or those that ended stamina
    #[arg(long, value_enum, default_value_t = FailuresScope::Attempts)]
    scope: FailuresScope,
}

#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// A kind (survival, first-failures, differences, ratios, paired, bars, pareto, matrix, retries, failures), or a file
    /// with a spec: .toml, or an SVG, PDF, PNG, .tex or Parquet file that was made here
    #[arg(value_name = "KIND|SPEC")]
    what: String,
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Where to write it; the ending says as what: svg, pdf, png, csv, parquet, tex or toml. Without it, the chart is
    /// printed as SVG
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Venue, for its width and letters: icml (one column), icml:full (two), neurips, acl, ieee, acm, aaai, cvpr, …
    #[arg(long, value_name = "VENUE")]
    preset: Option<String>,
    /// Height in pt; by default what the figure needs
    #[arg(long, value_name = "PT")]
    height: Option<u32>,
    /// In greys
    #[arg(long)]
    grey: bool,
    /// Draw for the dark theme (without --out)
    #[arg(long, conflicts_with = "out")]
    dark: bool,
    /// What `bars` show
    #[arg(long, value_enum, default_value_t = MeasureWord::Stamina)]
    measure: MeasureWord,
    /// Lay published numbers over (bars of stamina, matrix, retries)
    #[arg(long)]
    published: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// What it is about
    #[arg(value_enum)]
    kind: TableWord,
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Where to write it; the ending says as what: csv, parquet, tex, md or html. Without it, it is printed as Markdown
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
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
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// The folder to write to, made if it is not there; with --zip, the file
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Write one zip
    #[arg(long)]
    zip: bool,
    /// Venue of its figures
    #[arg(long, value_name = "VENUE", default_value = "icml")]
    preset: String,
    /// The run that others are compared with; the first by default
    #[arg(long, value_name = "RUN")]
    reference: Option<String>,
    /// Horizon of mean stamina in turns; by default as far as every curve is known
    #[arg(long, value_name = "TURNS")]
    tau: Option<u32>,
}

/// A file with this ending, or what it can be instead.
fn format_of(out: &Path, fits: &[(&str, ExportFormat)]) -> Result<ExportFormat, ApiError> {
    let ending = out.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    fits.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format).ok_or_else(|| {
        let known: Vec<&str> = fits.iter().map(|(known, _)| *known).collect();
        let what = if ending.is_empty() { "no ending".to_owned() } else { format!("the ending .{ending}") };
        ApiError::new("export.format", format!("The file has {what}, which says nothing that can be made"))
            .at(out.display().to_string())
            .hint(format!("Name it .{}", known.join(", .")))
    })
}

const FIGURES: &[(&str, ExportFormat)] = &[
    ("svg", ExportFormat::Svg),
    ("pdf", ExportFormat::Pdf),
    ("png", ExportFormat::Png),
    ("csv", ExportFormat::Csv),
    ("parquet", ExportFormat::Parquet),
    ("tex", ExportFormat::Tex),
    ("toml", ExportFormat::Toml),
];
const TABLES: &[(&str, ExportFormat)] = &[
    ("csv", ExportFormat::Csv),
    ("parquet", ExportFormat::Parquet),
    ("tex", ExportFormat::Tex),
    ("md", ExportFormat::Md),
    ("html", ExportFormat::Html),
];

fn absolute(out: &Path) -> Result<String, ApiError> {
    let path = std::path::absolute(out).map_err(|e| {
        ApiError::new("export.path", format!("This path can not be made absolute: {e}"))
            .at(out.display().to_string())
    })?;
    path.into_os_string().into_string().map_err(|_| {
        ApiError::new("export.path", "The path is not UTF-8")
            .at(out.display().to_string())
            .hint("Name another")
    })
}

fn written(made: &Exported, as_json: bool) -> ExitCode {
    for warning in &made.warnings {
        note(&format!("warning: {warning}"));
    }
    if as_json {
        print_json(&json!({
            "path": made.path, "bytes": made.bytes, "inches": made.inches, "caption": made.caption, "warnings": made.warnings,
        }));
    } else {
        let size = made.inches.map_or_else(String::new, |(w, h)| format!(", {w:.2} × {h:.2} in"));
        note(&format!("{}{size}", made.path.as_deref().unwrap_or_default()));
        print(&format!("{}\n", made.caption));
    }
    ExitCode::SUCCESS
}

/// The request that runs, reference and τ make.
fn compared(
    workbench: &Workbench,
    runs: &[String],
    reference: Option<&str>,
    tau: Option<u32>,
) -> Result<CompareRequest, ApiError> {
    if runs.is_empty() {
        return Err(ApiError::new("export.no_runs", "There is no run to make this of")
            .hint("Name runs by their ids; `stamina runs` lists them"));
    }
    members::request(workbench, runs, reference, tau)
}

fn failures(workbench: &Workbench, runs: &[String], whose: &Whose) -> Result<FailuresRequest, ApiError> {
    Ok(FailuresRequest {
        members: find_members(workbench, runs)?,
        group: match whose.by {
            GroupWord::Run => FailureGrouping::Member,
            GroupWord::Harness => FailureGrouping::Harness,
            GroupWord::Turn => FailureGrouping::Turn,
            GroupWord::Attempt => FailureGrouping::Attempt,
        },
        scope: match whose.scope {
            FailuresScope::Attempts => FailureScope::Attempts,
            FailuresScope::Turns => FailureScope::Turns,
            FailuresScope::First => FailureScope::First,
        },
    })
}

/// The turns that `stamina table disagreements` lists, in the order of the page.
fn disagreements(workbench: &Workbench, args: &TableArgs) -> Result<DisagreementRequest, ApiError> {
    let of = compared(workbench, &args.runs, args.whose.reference.as_deref(), None)?;
    Ok(DisagreementRequest {
        members: of.members,
        reference: of.reference,
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
        of: failures(workbench, &args.runs, &args.whose)?,
        class: args.class.clone(),
        by_tests: args.by_tests,
        origin: args.origin.map(|origin| match origin {
            OriginWord::New => FailureOrigin::New,
            OriginWord::Regression => FailureOrigin::Regression,
            OriginWord::StillFailing => FailureOrigin::StillFailing,
            OriginWord::Unknown => FailureOrigin::Unknown,
        }),
        ..FailureCasesRequest::default()
    })
}

fn matrix(workbench: &Workbench, runs: &[String], whose: &Whose) -> Result<MatrixRequest, ApiError> {
    let runs = runs.iter().map(|run| Ok(find_run(workbench, run)?.id)).collect::<Result<_, ApiError>>()?;
    Ok(MatrixRequest { benchmark: whose.benchmark.clone(), runs, with_baselines: false, tau: whose.tau })
}

fn figure_of(workbench: &Workbench, kind: FigureWord, args: &FigureArgs) -> Result<FigureOf, ApiError> {
    let whose = &args.whose;
    let of = || compared(workbench, &args.runs, whose.reference.as_deref(), whose.tau);
    let published = args.published;
    Ok(match kind {
        FigureWord::Survival => FigureOf::Survival { of: of()?, bands: Bands::Auto },
        FigureWord::FirstFailures => FigureOf::FirstFailures { of: of()? },
        FigureWord::Differences => FigureOf::Differences { of: of()?, ratio: false },
        FigureWord::Ratios => FigureOf::Differences { of: of()?, ratio: true },
        FigureWord::Paired => {
            let of = of()?;
            if of.members.len() != 2 {
                return Err(ApiError::new(
                    "export.paired",
                    format!("A paired figure is of two runs, and there are {}", of.members.len()),
                )
                .hint("Name two runs, or one and a --reference"));
            }
            let other = 1 - of.reference;
            FigureOf::Paired { of, other }
        }
        FigureWord::Bars => FigureOf::Bars {
            of: of()?,
            measure: match args.measure {
                MeasureWord::Stamina => Measure::Stamina,
                MeasureWord::Score => Measure::Score,
                MeasureWord::Tokens => Measure::Tokens,
                MeasureWord::Cost => Measure::Cost,
                MeasureWord::Time => Measure::Time,
                MeasureWord::Steps => Measure::Steps,
                MeasureWord::CostPerSurvivedTurn => Measure::CostPerSurvivedTurn,
            },
            published,
        },
        FigureWord::Pareto => FigureOf::Pareto { of: of()? },
        FigureWord::Matrix => FigureOf::Matrix { of: matrix(workbench, &args.runs, whose)?, published },
        FigureWord::Retries => FigureOf::Retries { of: RetriesRequest { members: of()?.members }, published },
        FigureWord::Failures => FigureOf::Failures { of: failures(workbench, &args.runs, whose)? },
    })
}

/// `stamina figure`.
pub(crate) fn figure(workbench: &Workbench, args: &FigureArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let Ok(kind) = FigureWord::from_str(&args.what, true) else {
        return figure_again(workbench, args, as_json);
    };
    let Some(out) = &args.out else { return figure_on_screen(workbench, kind, args, as_json) };
    let format = format_of(out, FIGURES)?;
    let of = ExportOf::Figure {
        figure: figure_of(workbench, kind, args)?,
        preset: args.preset.clone().unwrap_or_else(|| "icml".to_owned()),
        height_pt: args.height,
        grey: args.grey,
    };
    let made = workbench.export(ExportRequest { of, format, to: Some(absolute(out)?) })?;
    Ok(written(&made, as_json))
}

/// A figure from its spec.
fn figure_again(workbench: &Workbench, args: &FigureArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let path = Path::new(&args.what);
    if !path.is_file() {
        return Err(ApiError::new(
            "export.figure",
            format!("\"{}\" is neither a kind of figure nor a file with a spec", args.what),
        )
        .hint(format!("Kinds: {}", words::<FigureWord>())));
    }
    if !args.runs.is_empty() {
        return Err(ApiError::new("export.figure", "A spec has its data in it, so no runs can be named")
            .hint(format!("Name a kind to draw runs: {}", words::<FigureWord>())));
    }
    let format = args.out.as_deref().map(|out| format_of(out, FIGURES)).transpose()?;
    let to = args.out.as_deref().map(absolute).transpose()?;
    let made = workbench.export_again(&workbench::SpecFile {
        path: path.to_owned(),
        preset: args.preset.clone(),
        height_pt: args.height,
        grey: args.grey,
        format: format.unwrap_or(ExportFormat::Svg),
        to,
    })?;
    match made {
        workbench::MadeAgain::Written(made) => Ok(written(&made, as_json)),
        workbench::MadeAgain::Svg(svg) => {
            if as_json {
                print_json(&json!({ "svg": svg }));
            } else {
                print(&svg);
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn words<T: ValueEnum>() -> String {
    let all: Vec<String> = T::value_variants()
        .iter()
        .filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned()))
        .collect();
    all.join(", ")
}

/// The chart as SVG on standard output; of one run as its page shows it.
fn figure_on_screen(
    workbench: &Workbench,
    kind: FigureWord,
    args: &FigureArgs,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let theme = if args.dark { FigureTheme::Dark } else { FigureTheme::Light };
    let of_run = match (kind, args.runs.as_slice()) {
        (FigureWord::Survival, [run]) => Some((FigureKind::Survival, run, 190.0)),
        (FigureWord::FirstFailures, [run]) => Some((FigureKind::FirstFailures, run, 100.0)),
        _ => None,
    };
    if let Some((kind, run, height)) = of_run.filter(|_| args.whose.reference.is_none()) {
        let run = find_run(workbench, run)?.id;
        let turns = workbench
            .run_grid(RunGridRequest { run: run.clone(), sort: GridSort::default(), offset: 0, limit: 1 })?
            .turns;
        let px_per_turn = (600.0 / f64::from(turns.max(1))).clamp(6.0, 60.0);
        let drawing = workbench.run_figure(RunFigureRequest {
            run,
            kind,
            theme,
            width: 60.0 + px_per_turn * f64::from(turns) + 40.0,
            height,
            plot_left: 60.0,
            px_per_turn,
            turns,
        })?;
        if as_json {
            print_json(&json!(drawing));
        } else {
            print(&drawing.svg);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let figure = figure_of(workbench, kind, args)?;
    let height = args.height.map(f64::from);
    let drawing = workbench.draw_figure(DrawFigure { figure, theme, width: 720.0, height })?;
    if as_json {
        print_json(&json!(drawing));
    } else {
        print(&drawing.svg);
    }
    Ok(ExitCode::SUCCESS)
}

/// `stamina table`.
pub(crate) fn table(workbench: &Workbench, args: &TableArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let whose = &args.whose;
    let of = || compared(workbench, &args.runs, whose.reference.as_deref(), whose.tau);
    let table = match args.kind {
        TableWord::Runs => TableOf::Runs { of: of()? },
        TableWord::Spent => TableOf::Spent { of: of()? },
        TableWord::Pairs => TableOf::Pairs { of: of()? },
        TableWord::Sensitivity => TableOf::Sensitivity { of: of()? },
        TableWord::Settings => TableOf::Settings { of: of()? },
        TableWord::Survival => TableOf::Survival { of: of()? },
        TableWord::Disagreements => TableOf::Disagreements { of: disagreements(workbench, args)? },
        TableWord::Matrix => TableOf::Matrix { of: matrix(workbench, &args.runs, whose)? },
        TableWord::Spread => TableOf::Spread { of: matrix(workbench, &args.runs, whose)? },
        TableWord::Published => TableOf::Published { of: matrix(workbench, &args.runs, whose)? },
        TableWord::Retries => TableOf::Retries { of: RetriesRequest { members: of()?.members } },
        TableWord::Gains => TableOf::Gains { of: RetriesRequest { members: of()?.members } },
        TableWord::Failures => TableOf::Failures { of: failures(workbench, &args.runs, whose)? },
        TableWord::Cases => TableOf::Cases { of: cases(workbench, args)? },
        TableWord::Origins => TableOf::Origins { of: failures(workbench, &args.runs, whose)? },
        TableWord::Repairs => TableOf::Repairs { of: failures(workbench, &args.runs, whose)? },
        TableWord::Flips => TableOf::Flips { of: failures(workbench, &args.runs, whose)? },
        TableWord::Rules => TableOf::Rules { of: failures(workbench, &args.runs, whose)? },
    };
    let Some(out) = &args.out else {
        print(&workbench.table(&table)?.to_markdown());
        return Ok(ExitCode::SUCCESS);
    };
    let format = format_of(out, TABLES)?;
    let made = workbench.export(ExportRequest {
        of: ExportOf::Table { table },
        format,
        to: Some(absolute(out)?),
    })?;
    Ok(written(&made, as_json))
}

/// `stamina report`.
pub(crate) fn report(workbench: &Workbench, args: &ReportArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let of = compared(workbench, &args.runs, args.reference.as_deref(), args.tau)?;
    if args.zip {
        let of = ExportOf::Bundle { of, preset: args.preset.clone() };
        let request = ExportRequest { of, format: ExportFormat::Zip, to: Some(absolute(&args.out)?) };
        return Ok(written(&workbench.export(request)?, as_json));
    }
    let folder = workbench.export_report(&of, &args.preset, Path::new(&absolute(&args.out)?))?;
    for warning in &folder.warnings {
        note(&format!("warning: {warning}"));
    }
    if as_json {
        print_json(&json!({ "path": folder.path, "files": folder.files, "warnings": folder.warnings }));
    } else {
        note(&format!("{}: {} files, begin with report.html or report.md", folder.path, folder.files.len()));
    }
    Ok(ExitCode::SUCCESS)
}
