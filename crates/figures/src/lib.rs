//! Charts as figures: a [`FigureSpec`] goes in, a [`Drawing`] comes out, and what stands on the screen is what is
//! exported. Same input, same bytes.
//!
//! The way of a figure: `spec` (what to draw, data inside) → the kind's own file (`survival`, `differences`, `matrix`, …:
//! own layout, measured with the bundled IBM Plex Sans in `font`) → plotters (elements) → `backend` (our plotters backend,
//! which records a `scene` at a hundredth of a pixel) → `svg`, or `export::pgf` for LaTeX. Beside the SVG a drawing
//! carries what can be pointed at, and the figure in words for whoever does not see it. `docs/figures.md` describes specs.
//!
//! A kind first makes a plan (where everything stands, from measured texts), then draws it. The two of one run stand on
//! a [`TurnAxis`] that the page gives (`frame`); all others on a `sheet` whose height is up to them. What kinds share:
//! `scale` (ticks), `labels` (names that do not meet), `at_risk`, `legend`, `notes`, `lines` (texts that are broken),
//! `swatch` (dashes and markers), `names` (what is hostile or too long), `number`. To add a kind: a struct in `spec`, a file here, an arm in [`draw`]
//! and in `caption`, pictures in `tests`.
//!
//! Conventions: lengths are in px on the screen and in pt in print; turn t stands at [`TurnAxis::x`], the one function
//! that the grid, the at-risk row and both charts share. The SVG has presentation attributes only: no script, no style
//! sheet, no reference to anything outside; every text in it is escaped.

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
mod greyscale;
mod labels;
mod legend;
mod line_breaks;
mod marks;
mod matrix;
mod number;
mod paired;
mod pareto;
mod pattern;
mod plane;
mod retries;
mod scale;
mod scatter;
mod scene;
mod sheet;
mod spec;
mod summary_text;
mod survival;
mod survival_comparison;
mod svg;
mod swatch;
pub mod table;
mod tex;
mod theme;
pub mod venue;
mod web_font;

use serde::{Deserialize, Serialize};

use scene::Scene;

pub use axis::TurnAxis;
pub use caption::{caption, short_caption};
pub use font::{FONT_FAMILY, PLEX_SANS_REGULAR, missing_characters, text_width};
pub use greyscale::greyscale_check;
pub use number::{p_number, p_value, thousands};
pub use spec::{
    Bands, BarRow, Bars, Bootstrap, DifferenceRow, Differences, EpisodeCounts, FailureClass, FailureGroup,
    FailureShares, Figure, FigureSpec, FirstFailuresComparison, Fonts, Layout, Margin, Matrix, MatrixCell,
    Method, Pair, Paired, PairedMean, Pareto, ParetoPoint, Plane, PlanePoint, Published, PublishedPoint,
    Retries, RetryPoint, RetrySeries, RunData, SOFTWARE, SPEC_VERSION, Scale, SeriesData, SeriesLabel,
    SharesForm, SurvivalComparison,
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
    /// What else can be pointed at: bars, cells, dots, rows, names of curves.
    pub marks: Vec<Mark>,
    /// Turns that carry a tick label, see [`TurnAxis::ticks`]; an at-risk row or a grid header labels the same.
    pub ticks: Vec<u32>,
    /// The figure in words, for those who do not see it.
    pub summary: String,
}

/// What stands at one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The turn, from 1.
    pub turn: u32,
    /// Left edge of its column.
    pub x0: f64,
    /// Right edge.
    pub x1: f64,
    /// y of the data: the curve, the top of the bar.
    pub y: f64,
    /// What stands there, in words, one line each: `alive after: 0.36`.
    pub lines: Vec<String>,
}

/// Something that can be pointed at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// What it is, unique in the drawing: `row-2`, `cell-0-3`, `series-1`, `pair-12`.
    pub id: String,
    /// Index of the run (series, row, point) in the spec that it belongs to, if it belongs to one.
    pub series: Option<u32>,
    /// Left edge.
    pub x0: f64,
    /// Upper edge.
    pub y0: f64,
    /// Right edge.
    pub x1: f64,
    /// Lower edge.
    pub y1: f64,
    /// What stands there, in words, one line each; the first is its name.
    pub lines: Vec<String>,
}

impl Mark {
    pub(crate) fn new(id: String, series: Option<usize>, area: labels::Area, lines: Vec<String>) -> Self {
        let [x0, y0, x1, y1] = [area.left, area.top, area.right, area.bottom].map(scene::hundredths);
        Self { id, series: series.map(|i| i as u32), x0, y0, x1, y1, lines }
    }
}

/// Draws a figure. Never fails: sizes out of reach are brought into reach, points outside the axis are left out.
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
