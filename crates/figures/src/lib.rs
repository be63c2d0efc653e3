//! Charts as figures: [`draw`] turns a [`FigureSpec`] into a [`Drawing`]. Screen and export use the same drawing. The same
//! input gives the same bytes.
//!
//! The steps of a figure:
//!
//! 1. `spec`: the content, with its data;
//! 2. the file of the kind (`survival`, `differences`, `matrix`, …): its layout, measured with IBM Plex Sans in `font`;
//! 3. plotters: the elements;
//! 4. `backend`: the backend of plotters, which records a `scene` at a hundredth of a pixel;
//! 5. `svg`, and `export::latex` for LaTeX: the scene as a file.
//!
//! A drawing also has areas for pointers, and the figure in words for screen readers. `docs/figures.md` describes specs.
//!
//! A kind first makes a plan (all places, from measured texts), then draws it. The two kinds for one run use a [`TurnAxis`] of
//! the page (`frame`). All others use a `sheet` with a free height. The common parts are `scale` (ticks), `labels` (places
//! without overlap), `at_risk`, `legend`, `footnotes`, `line_breaks`, `series_style` (dashes and markers), `display_names` (hostile
//! or long names) and `number`.
//!
//! To add a kind: a struct in `spec`, a file here, an arm in [`draw`] and in `caption`, pictures in `tests`.
//!
//! Conventions: lengths are in px on the screen and in pt in print. Turn t is at [`TurnAxis::x`], which grid, at-risk row and
//! both charts use. The SVG has only presentation attributes: no script, no style sheet, no external reference. Every text in
//! it is escaped.

mod at_risk;
mod axis;
mod backend;
mod bars;
mod caption;
mod curve;
mod differences;
mod display_names;
mod drawn_table;
pub mod export;
mod failure_shares;
mod first_failures;
mod first_failures_comparison;
mod font;
mod footnotes;
mod frame;
mod grayscale;
mod labels;
mod latex_text;
mod legend;
mod line_breaks;
mod marks;
mod matrix;
mod number;
mod paired;
mod panels;
mod pareto;
mod pattern;
mod plane;
mod retries;
mod scale;
mod scatter;
mod scene;
mod series_style;
mod sheet;
mod spec;
mod summary_text;
mod survival;
mod survival_comparison;
mod svg;
pub mod table;
mod theme;
pub mod venue;
mod web_font;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use scene::Scene;

pub use axis::TurnAxis;
pub use caption::{caption, short_caption};
pub use display_names::short_names;
pub use font::{FONT_FAMILY, PLEX_SANS_REGULAR, missing_characters, text_width};
pub use grayscale::grayscale_check;
pub use number::{p_number, p_value, thousands};
pub use spec::{
    Bands, BarRow, Bars, Bootstrap, CLASS_PATTERNS, DifferenceRow, Differences, EpisodeCounts, FailureClass,
    FailureGroup, FailureShares, Figure, FigureSpec, FirstFailuresComparison, Fonts, Layout, Margin, Matrix,
    MatrixCell, Method, Pair, PairedMean, PairedScenarios, Pareto, ParetoPoint, Plane, PlanePoint, Published,
    PublishedPoint, Retries, RetryPoint, RetrySeries, RunData, SOFTWARE, SPEC_VERSION, Scale, SeriesData,
    SeriesLabel, SharesForm, SurvivalComparison,
};
pub use theme::{SERIES, Theme, Tokens};
pub use web_font::font_face;

/// A drawn figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// A whole `<svg>` element, without XML declaration.
    pub svg: String,
    /// What the picture consists of, from which its other forms are written.
    #[serde(skip)]
    pub(crate) scene: Scene,
    /// Width: px on the screen, pt in print.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// One per turn of the axis, from turn 1, for figures over turns; else empty.
    pub hits: Vec<Hit>,
    /// Other areas for pointers: bars, cells, dots, rows, names of curves.
    pub marks: Vec<Mark>,
    /// Turns with a tick label, see [`TurnAxis::ticks`]. An at-risk row or a grid header has the same labels.
    pub ticks: Vec<u32>,
    /// The figure in words, for screen readers.
    pub summary: String,
}

/// One place of a figure that stands for data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(rename = "FigureHit")]
pub struct Hit {
    /// The turn.
    pub turn: u32,
    /// Left edge in px.
    pub x0: f64,
    /// Right edge in px.
    pub x1: f64,
    /// y of the data in px.
    pub y: f64,
    /// What stands there, in words, one line each.
    pub lines: Vec<String>,
}

/// An area for pointers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Its id, unique in the drawing: `row-2`, `cell-0-3`, `series-1`, `pair-12`.
    pub id: String,
    /// Index of its run (series, row, point) in the spec, if it has one.
    pub series: Option<u32>,
    /// Left edge.
    pub x0: f64,
    /// Upper edge.
    pub y0: f64,
    /// Right edge.
    pub x1: f64,
    /// Lower edge.
    pub y1: f64,
    /// Its values in words, one line each. The first line is its name.
    pub lines: Vec<String>,
}

impl Mark {
    pub(crate) fn new(id: String, series: Option<usize>, area: labels::Area, lines: Vec<String>) -> Self {
        let [x0, y0, x1, y1] = [area.left, area.top, area.right, area.bottom].map(scene::hundredths);
        Self { id, series: series.map(|i| i as u32), x0, y0, x1, y1, lines }
    }
}

/// Draws a figure. It never fails: invalid sizes are clamped, and points outside of the axis are left out.
pub fn draw(spec: &FigureSpec) -> Drawing {
    match &spec.figure {
        Figure::Survival(data) => survival::draw(data, &spec.layout, spec.theme),
        Figure::FirstFailures(data) => first_failures::draw(data, &spec.layout, spec.theme),
        Figure::SurvivalComparison(data) => survival_comparison::draw(data, &spec.layout, spec.theme),
        Figure::Differences(data) => differences::draw(data, &spec.layout, spec.theme),
        Figure::Bars(data) => bars::draw(data, &spec.layout, spec.theme),
        Figure::Paired(data) => paired::draw(data, &spec.layout, spec.theme),
        Figure::Retries(data) => retries::draw(data, &spec.layout, spec.theme),
        Figure::Pareto(data) => pareto::draw(data, &spec.layout, spec.theme),
        Figure::Plane(data) => plane::draw(data, &spec.layout, spec.theme),
        Figure::Matrix(data) => matrix::draw(data, &spec.layout, spec.theme),
        Figure::FirstFailuresComparison(data) => {
            first_failures_comparison::draw(data, &spec.layout, spec.theme)
        }
        Figure::FailureShares(data) => failure_shares::draw(data, &spec.layout, spec.theme),
        Figure::Table(table) => {
            drawn_table::draw(&caption::with_method(table, spec), &spec.layout, spec.theme)
        }
    }
}
