//! `stamina figure`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;
use workbench::Workbench;
use workbench::api::{
    ApiError, Bands, DrawFigure, ExportFormat, ExportRequest, ExportSubject, FigureSubject, FigureTheme,
    Measure, RetriesRequest,
};

use super::exports::{absolute, format_of, words, written};
use super::selection::{SelectionArgs, compared, failures, matrix, other};
use crate::api_words::api_word;
use crate::library_runs::find_run;
use crate::print::{note, print_data, print_json};

/// The kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureWord {
    /// Kaplan–Meier curves with at-risk table
    Survival,
    /// Turn of first failure, one histogram a run
    FirstFailures,
    /// Differences in mean stamina to the reference, unpaired; on shared scenarios `paired` says more
    Differences,
    /// Ratios of mean stamina to the reference, unpaired
    Ratios,
    /// Two runs on the scenarios that both played
    Paired,
    /// One measure a run
    Bars,
    /// Mean stamina against cost
    Pareto,
    /// Comprehension against efficiency of runs of LoCoBench-Agent, with published models
    Plane,
    /// Mean stamina by harness and model
    Matrix,
    /// Mean stamina against the retry budget
    Retries,
    /// Failed attempts by class
    Failures,
}

/// What `--measure` takes.
const MEASURES: &str =
    "stamina pass-rate score tokens cost time steps steps-survived tool-calls cost-per-survived-turn";

/// What `--bands` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BandsWord {
    /// All of two runs, the reference's of more
    Auto,
    /// Every run's
    All,
    /// None
    None,
}

/// Reads a height. Whether a figure of it fits a page is said where it is drawn.
fn parse_height(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a height is a whole number of points (72 are an inch), as 200".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// A kind (survival, first-failures, differences, ratios, paired, bars, pareto, plane, matrix, retries, failures), or a file
    /// with a spec: .toml, or an SVG, PDF, PNG, .tex or Parquet file that was made here
    #[arg(value_name = "KIND|SPEC")]
    what: String,
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME, cell:HARNESS×MODEL
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// File to write; its ending selects the format: svg, pdf, png, csv, parquet, tex or toml. Without it, the chart is
    // words: ok: the name of an option.
    /// printed as SVG: for the screen, or for paper if --preset, --height or --grey is given
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Venue, for its width and letters: icml (one column), icml:full (two), neurips, acl, ieee, acm, aaai, cvpr, …
    #[arg(long, value_name = "VENUE")]
    preset: Option<String>,
    /// Height in pt; by default what the figure needs. A height that the figure cannot have is refused
    #[arg(long, value_name = "PT", value_parser = parse_height, allow_negative_numbers = true)]
    height: Option<u32>,
    /// In grayscale
    #[arg(long)]
    grey: bool,
    /// Draw for the dark theme (without --out)
    // words: ok: the name of an option.
    #[arg(long, conflicts_with_all = ["out", "preset", "height", "grey"])]
    dark: bool,
    /// What `bars` show; by default mean stamina, of runs of one turn their pass rate
    #[arg(long, value_parser = api_word::<Measure>(MEASURES))]
    measure: Option<Measure>,
    /// Whose confidence bands `survival` has
    #[arg(long, value_enum, default_value_t = BandsWord::Auto)]
    bands: BandsWord,
    /// Which of several runs `paired` sets against the reference
    #[arg(long, value_name = "RUN")]
    other: Option<String>,
    /// Lay published numbers over (bars of stamina, matrix, retries); the caption says why one is not drawn
    #[arg(long)]
    published: bool,
    #[command(flatten)]
    selection: SelectionArgs,
}

pub(super) const FIGURES: &[(&str, ExportFormat)] = &[
    ("svg", ExportFormat::Svg),
    ("pdf", ExportFormat::Pdf),
    ("png", ExportFormat::Png),
    ("csv", ExportFormat::Csv),
    ("parquet", ExportFormat::Parquet),
    ("tex", ExportFormat::Tex),
    ("toml", ExportFormat::Toml),
];
/// The ids of runs of a benchmark without tests.
fn untested_runs(workbench: &Workbench, runs: &[String]) -> Result<Vec<String>, ApiError> {
    runs.iter().map(|run| Ok(find_run(workbench, run)?.id)).collect()
}

fn figure_of(workbench: &Workbench, kind: FigureWord, args: &FigureArgs) -> Result<FigureSubject, ApiError> {
    let selection = &args.selection;
    let request = || compared(workbench, &args.runs, selection.reference.as_deref(), selection.tau);
    let published = args.published;
    Ok(match kind {
        FigureWord::Survival => FigureSubject::Survival {
            request: request()?,
            bands: match args.bands {
                BandsWord::Auto => Bands::Auto,
                BandsWord::All => Bands::All,
                BandsWord::None => Bands::None,
            },
        },
        FigureWord::FirstFailures => FigureSubject::FirstFailures { request: request()? },
        FigureWord::Differences => FigureSubject::Differences { request: request()?, ratio: false },
        FigureWord::Ratios => FigureSubject::Differences { request: request()?, ratio: true },
        FigureWord::Paired => {
            let request = request()?;
            let other = other(workbench, &request, args.other.as_deref())?;
            FigureSubject::Paired { request, other }
        }
        FigureWord::Bars => {
            let requested = request()?;
            let measure = match args.measure {
                Some(measure) => measure,
                None if workbench.compare_runs(requested.clone())?.of_one_turn => Measure::PassRate,
                None => Measure::Stamina,
            };
            FigureSubject::Bars { request: requested, measure, published }
        }
        FigureWord::Pareto => FigureSubject::Pareto { request: request()? },
        FigureWord::Plane => FigureSubject::Plane { runs: untested_runs(workbench, &args.runs)? },
        FigureWord::Matrix => {
            FigureSubject::Matrix { request: matrix(workbench, &args.runs, selection)?, published }
        }
        FigureWord::Retries => FigureSubject::Retries {
            request: RetriesRequest { members: request()?.members, ..RetriesRequest::default() },
            published,
        },
        FigureWord::Failures => {
            FigureSubject::Failures { request: failures(workbench, &args.runs, selection)? }
        }
    })
}

/// `stamina figure`.
pub(crate) fn figure(workbench: &Workbench, args: &FigureArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let Ok(kind) = FigureWord::from_str(&args.what, true) else {
        return figure_again(workbench, args, as_json);
    };
    if args.published && !matches!(kind, FigureWord::Bars | FigureWord::Matrix | FigureWord::Retries) {
        note(&format!(
            "--published has no effect on {}: published numbers are laid over bars of stamina, matrix and retries",
            args.what
        ));
    }
    let figure = figure_of(workbench, kind, args)?;
    let preset = args.preset.clone().unwrap_or_else(|| "icml".to_owned());
    if let Some(out) = &args.out {
        let format = format_of(out, FIGURES)?;
        let figure = ExportSubject::Figure { figure, preset, height_pt: args.height, grey: args.grey };
        let made = workbench.export_at_height(ExportRequest {
            subject: figure,
            format,
            path: Some(absolute(out)?),
        })?;
        return Ok(written(&made, as_json));
    }
    // Each of these options is about paper, so the figure is drawn for paper.
    if args.preset.is_some() || args.height.is_some() || args.grey {
        let spec = workbench.print_spec(&figure, &preset, args.height, args.grey)?;
        let (svg, warnings) = workbench.svg_of(&spec)?;
        note_published(args.published, &spec.method.notes);
        print_svg(&svg, &warnings, as_json);
        return Ok(ExitCode::SUCCESS);
    }
    let theme = if args.dark { FigureTheme::Dark } else { FigureTheme::Light };
    let request = DrawFigure { figure, theme, width: 720.0, height: None };
    // A figure for the screen carries its spec too, so that it can be reproduced.
    let spec = workbench.screen_spec(&request)?;
    let (svg, _) = workbench.svg_of(&spec)?;
    note_published(args.published, &spec.method.notes);
    if as_json {
        let mut drawn = json!(workbench.draw_figure(request)?);
        drawn["svg"] = json!(svg);
        print_json(&drawn);
    } else {
        print_data(&svg);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints an SVG for paper, and its warnings on the standard error.
fn print_svg(svg: &str, warnings: &[String], as_json: bool) {
    for warning in warnings {
        note(&format!("warning: {warning}"));
    }
    if as_json {
        print_json(&json!({ "svg": svg, "warnings": warnings }));
    } else {
        print_data(svg);
    }
}

/// Without a file no caption is printed, which says why a published number is not drawn.
fn note_published(is_requested: bool, notes: &[String]) {
    for text in notes.iter().filter(|text| is_requested && text.to_lowercase().contains("published")) {
        note(text);
    }
}

/// Reproduces a figure from its spec.
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
    let target = args.out.as_deref().map(absolute).transpose()?;
    let made = workbench.reexport(&workbench::SpecFile {
        path: path.to_owned(),
        preset: args.preset.clone(),
        height_pt: args.height,
        grey: args.grey,
        format: format.unwrap_or(ExportFormat::Svg),
        target,
    })?;
    match made {
        workbench::Reexport::Written(made) => Ok(written(&made, as_json)),
        workbench::Reexport::Svg { svg, warnings } => {
            print_svg(&svg, &warnings, as_json);
            Ok(ExitCode::SUCCESS)
        }
    }
}
