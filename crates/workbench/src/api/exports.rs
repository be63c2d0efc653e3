//! Figures, on the screen and for paper, and files of all that is exported.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{CompareRequest, FailuresRequest, FigureTheme, MatrixRequest, RetriesRequest, TableSubject};

/// What `bars` shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Mean stamina with its interval.
    #[default]
    Stamina,
    /// Pass rate with its interval, of members that play one turn.
    PassRate,
    /// The benchmark's own score.
    Score,
    /// Tokens per turn played.
    Tokens,
    /// US dollars per episode.
    Cost,
    /// Agent seconds per turn played.
    Time,
    /// Steps of the agent per turn played.
    Steps,
    /// Steps of the agent before the first turn not passed.
    StepsSurvived,
    /// Tool calls per turn played.
    ToolCalls,
    /// US dollars of whole episodes per turn survived.
    CostPerSurvivedTurn,
}

/// Which bands a comparison of curves has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Bands {
    /// All up to two members, the reference's from three on.
    #[default]
    Auto,
    /// Every member's.
    All,
    /// None.
    None,
}

/// A figure by what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FigureSubject {
    /// Kaplan–Meier curves with at-risk table; one member gives the curve of a run.
    Survival {
        /// Whose.
        request: CompareRequest,
        /// Which bands.
        #[serde(default)]
        bands: Bands,
    },
    /// Forest of differences in mean stamina to the reference.
    Differences {
        /// Whose.
        request: CompareRequest,
        /// Ratios instead of differences.
        #[serde(default)]
        ratio: bool,
    },
    /// Paired dots per shared scenario of the reference and one other member.
    Paired {
        /// Whose.
        request: CompareRequest,
        /// Index of the other member.
        other: u32,
    },
    /// Turn-of-failure histograms, one a member.
    FirstFailures {
        /// Whose.
        request: CompareRequest,
    },
    /// One measure a member.
    Bars {
        /// Whose.
        request: CompareRequest,
        /// Which.
        measure: Measure,
        /// Published mean staminas of the same harness and model laid over as reference; no other measure has any.
        #[serde(default)]
        published: bool,
    },
    /// Mean stamina against cost per episode, with the Pareto front.
    Pareto {
        /// Whose.
        request: CompareRequest,
    },
    /// Comprehension against efficiency of runs of LoCoBench-Agent, with what others published and a session that does nothing.
    Plane {
        /// Ids of the runs.
        runs: Vec<String>,
    },
    /// Harness × model.
    Matrix {
        /// Which.
        request: MatrixRequest,
        /// Published numbers laid over as reference.
        #[serde(default)]
        published: bool,
    },
    /// Mean stamina against the retry budget.
    Retries {
        /// Whose.
        request: RetriesRequest,
        /// Published numbers laid over as reference.
        #[serde(default)]
        published: bool,
    },
    /// Shares of failure classes.
    Failures {
        /// Whose.
        request: FailuresRequest,
    },
}

/// Asks for a figure on the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DrawFigure {
    /// Which.
    pub figure: FigureSubject,
    /// Colors.
    pub theme: FigureTheme,
    /// Width in px.
    pub width: f64,
    /// Height in px; `None` = as high as its content asks for.
    pub height: Option<f64>,
}

/// A figure on the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DrawnFigure {
    /// The SVG, drawn by the `figures` crate from numbers and escaped names only.
    pub svg: String,
    /// Width in px.
    pub width: f64,
    /// Height in px.
    pub height: f64,
    /// Places that stand for data, for hover and keys.
    pub marks: Vec<FigureMark>,
    /// The figure in words.
    pub summary: String,
    /// The caption of its export.
    pub caption: String,
}

/// A place of a figure that stands for data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FigureMark {
    /// What it belongs to: index of the member, row of a matrix, index of a group.
    pub series: u32,
    /// Turn, retry budget, scenario or class index, column of a matrix, where there is one.
    pub item: Option<u32>,
    /// Left edge in px.
    pub x0: f64,
    /// Upper edge.
    pub y0: f64,
    /// Right edge.
    pub x1: f64,
    /// Lower edge.
    pub y1: f64,
    /// What stands there, in words, one line each.
    pub lines: Vec<String>,
}

/// What is exported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ExportSubject {
    /// A figure.
    Figure {
        /// Which.
        figure: FigureSubject,
        /// Venue and columns: `icml`, `icml:full`, …; see `list_presets`.
        preset: String,
        /// Height in pt; `None` = the preset's.
        height_pt: Option<u32>,
        /// In grayscale.
        #[serde(default)]
        grey: bool,
    },
    /// A table. Venue and grayscale are those of its pictures.
    Table {
        /// Which.
        table: TableSubject,
        /// Venue and columns: `icml`, `icml:full`, …; see `list_presets`.
        preset: String,
        /// In grayscale.
        #[serde(default)]
        grey: bool,
    },
    /// A report of runs or of a comparison, with figures and tables.
    Report {
        /// Whose.
        request: CompareRequest,
        /// Venue of its figures.
        preset: String,
    },
    /// Report, figures, tables, specs, settings and hashes of the inputs.
    Bundle {
        /// Whose.
        request: CompareRequest,
        /// Venue of its figures and of the pictures of its tables.
        preset: String,
    },
}

/// File formats. Which of them fit, `list_presets` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Vector graphics for the web.
    Svg,
    /// Vector graphics for papers.
    Pdf,
    /// 300 dots an inch.
    Png,
    /// The data behind, or the table.
    Csv,
    /// The same in columns.
    Parquet,
    /// A table as JSON Lines: an object a row.
    Jsonl,
    /// A picture of LaTeX's pgf, or a booktabs table.
    Tex,
    /// The spec, from which `stamina figure` makes the same bytes again.
    Toml,
    /// Markdown.
    Md,
    /// One self-contained page.
    Html,
    /// Everything.
    Zip,
}

/// Asks for an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExportRequest {
    /// What.
    pub subject: ExportSubject,
    /// As what.
    pub format: ExportFormat,
    /// Absolute path to write to; `None` = the answer carries the content.
    pub path: Option<String>,
}

/// An export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Exported {
    /// A good name for the file.
    pub file_name: String,
    /// `image/svg+xml`.
    pub media_type: String,
    /// Where it was written.
    pub path: Option<String>,
    /// What was written beside it: the spec of a CSV, the figures of a Markdown report.
    pub beside: Vec<String>,
    /// The content in base64, if it was not written.
    pub base64: Option<String>,
    /// What then belongs beside it: what its name adds to that of the file, and the content in base64.
    pub beside_base64: Vec<(String, String)>,
    /// Size.
    pub bytes: u64,
    /// Caption for the paper.
    pub caption: String,
    /// The same in a sentence or two; empty for a report or bundle.
    pub short_caption: String,
    /// Width and height in inches, of a figure and of a table's picture.
    pub inches: Option<(f64, f64)>,
    /// What does not read well: series that look alike in grayscale, letters that the font lacks, …
    pub warnings: Vec<String>,
}

/// The venues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PresetList {
    /// In order.
    pub presets: Vec<PresetInfo>,
    /// Least and most height of a figure in pt.
    pub height_pt: (u32, u32),
}

/// A venue's figure size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PresetInfo {
    /// `icml`, `icml:full`.
    pub preset: String,
    /// `ICML, one column`.
    pub label: String,
    /// Width in inches.
    pub width_in: f64,
    /// Size of labels in pt.
    pub label_pt: f64,
    /// Size of tick labels in pt.
    pub tick_pt: f64,
}
