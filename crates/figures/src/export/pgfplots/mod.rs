//! A figure as a pgfplots picture, for papers that typeset their figures.
//!
//! The picture has exactly the size of the figure, so it fills a column like the PDF, in any font of the paper. Sizes of
//! letters are whole points, which every font has. Its data are coordinates, so it can be edited.

mod grid;
mod planes;
mod rows;
mod shares;
mod turns;

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::caption::with_method;
use crate::display_names::{clean, fit, shown_all};
use crate::footnotes;
use crate::spec::{Figure, FigureSpec, Fonts, Layout, SeriesLabel};
use crate::table::Value;
use crate::tex::{NEEDS, escape};
use crate::theme::SERIES;
use crate::{Drawing, SOFTWARE};

/// Dash patterns by mark: solid, 6-2, 2-2, 6-2-2-2, 10-3, and three more.
const DASHES: [&str; 8] = [
    "solid",
    "dash pattern=on 4.5bp off 1.5bp",
    "dash pattern=on 1.5bp off 1.5bp",
    "dash pattern=on 4.5bp off 1.5bp on 1.5bp off 1.5bp",
    "dash pattern=on 7.5bp off 2.25bp",
    "dash pattern=on 0.9bp off 2.1bp",
    "dash pattern=on 7.5bp off 1.5bp on 1.5bp off 1.5bp on 1.5bp off 1.5bp",
    "dash pattern=on 3.75bp off 3.75bp",
];
const MARKS: [&str; 8] = ["*", "square*", "triangle*", "diamond*", "x", "o", "square", "asterisk"];

/// The start of a picture, and the sizes of its parts.
struct Picture {
    out: String,
    width: f64,
    height: f64,
    label: f64,
    tick: f64,
    /// Lines under everything else.
    notes: Vec<String>,
}

/// The place of an axis in a picture, in bp from its left lower corner.
struct Place {
    left: f64,
    bottom: f64,
    width: f64,
    height: f64,
}

/// The figure as LaTeX, without its spec. A table is not drawn: it is a LaTeX table.
pub(super) fn write(spec: &FigureSpec, drawing: &Drawing) -> String {
    let fonts = match spec.layout {
        Layout::Print { fonts, .. } => fonts,
        _ => Fonts::USUAL,
    };
    // Fonts have sizes in whole points. For other sizes LaTeX warns and uses another one.
    let size = |pt: f64| if pt.is_finite() { pt.round().clamp(5.0, 10.0) } else { 7.0 };
    let mut picture = Picture {
        out: String::new(),
        width: drawing.width,
        height: drawing.height,
        label: size(fonts.label),
        tick: size(fonts.tick),
        notes: Vec::new(),
    };
    match &spec.figure {
        Figure::Survival(data) => turns::survival_of_run(&mut picture, spec, data),
        Figure::SurvivalComparison(data) => turns::survival(&mut picture, spec, data),
        Figure::FirstFailures(data) => turns::first_failures_of_run(&mut picture, spec, data),
        Figure::FirstFailuresComparison(data) => turns::first_failures(&mut picture, spec, data),
        Figure::Retries(data) => turns::retries(&mut picture, data),
        Figure::Differences(data) => rows::differences(&mut picture, data),
        Figure::Paired(data) => rows::paired(&mut picture, data),
        Figure::Bars(data) => rows::bars(&mut picture, data),
        Figure::FailureShares(data) => shares::failure_shares(&mut picture, spec, data),
        Figure::Pareto(data) => planes::pareto(&mut picture, data),
        Figure::Plane(data) => planes::plane(&mut picture, data),
        Figure::Matrix(data) => grid::matrix(&mut picture, spec, data),
        Figure::Table(table) => {
            let table = with_method(table, spec);
            return match spec.layout {
                Layout::Print { width, .. } => table.to_latex_for(width),
                _ => table.to_latex(),
            };
        }
    }
    picture.write_notes();
    let mut out = format!(
        "% Made by {SOFTWARE}. Needs: \\usepackage{{pgfplots}} \\pgfplotsset{{compat=1.18}}\n\\begingroup\n{NEEDS}"
    );
    for (index, color) in spec.theme.tokens().series.iter().enumerate() {
        let RGBColor(r, g, b) = *color;
        let _ = writeln!(out, "\\definecolor{{stamina{index}}}{{HTML}}{{{r:02X}{g:02X}{b:02X}}}%");
    }
    let _ = write!(
        out,
        "\\begin{{tikzpicture}}[x=1bp,y=1bp,font={}]%\n\\path[use as bounding box] (0,0) rectangle ({},{});\n{}\\end{{tikzpicture}}%\n\\endgroup\n",
        font(picture.tick),
        bp(picture.width),
        bp(picture.height),
        picture.out
    );
    out
}

/// Every name in a figure, for the letters in it.
pub(super) fn names(figure: &Figure) -> Vec<&str> {
    fn name(label: &SeriesLabel) -> &str {
        &label.name
    }
    match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => vec![&data.name],
        Figure::SurvivalComparison(data) => data.series.iter().map(|s| name(&s.label)).collect(),
        Figure::FirstFailuresComparison(data) => data.series.iter().map(|s| name(&s.label)).collect(),
        Figure::Differences(data) => {
            data.rows.iter().map(|r| name(&r.label)).chain([name(&data.reference)]).collect()
        }
        Figure::Paired(data) => {
            data.pairs.iter().map(|p| p.scenario.as_str()).chain([name(&data.a), name(&data.b)]).collect()
        }
        Figure::Bars(data) => data.rows.iter().map(|r| name(&r.label)).collect(),
        Figure::Pareto(data) => data.points.iter().map(|p| name(&p.label)).collect(),
        Figure::Plane(data) => data.points.iter().map(|p| name(&p.label)).collect(),
        Figure::Matrix(data) => data.rows.iter().chain(&data.columns).map(String::as_str).collect(),
        Figure::Retries(data) => data.series.iter().map(|s| name(&s.label)).collect(),
        Figure::FailureShares(data) => data
            .groups
            .iter()
            .map(|g| name(&g.label))
            .chain(data.classes.iter().map(|c| c.name.as_str()))
            .collect(),
        Figure::Table(table) => {
            let cells = table.rows.iter().flatten().filter_map(|value| match value {
                Some(Value::Text(text)) => Some(text.as_str()),
                _ => None,
            });
            let heads = table.columns.iter().map(|column| column.heading.as_str());
            heads.chain(cells).chain([table.title.as_str()]).collect()
        }
    }
}

/// A length with at most two decimals.
fn bp(length: f64) -> String {
    number((length * 100.0).round() / 100.0)
}

/// A number for pgf.
fn number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:?}").trim_end_matches(".0").to_owned() }
}

fn font(size: f64) -> String {
    format!("\\fontsize{{{}}}{{{}}}\\selectfont", number(size), bp(size * 1.2))
}

fn color(label: &SeriesLabel) -> String {
    format!("stamina{}", usize::from(label.color) % SERIES)
}

fn dash(label: &SeriesLabel) -> &'static str {
    DASHES[usize::from(label.mark) % DASHES.len()]
}

fn mark(label: &SeriesLabel) -> &'static str {
    MARKS[usize::from(label.marker()) % MARKS.len()]
}

/// A text of at most `width` at `size`, without its middle if needed.
fn fitted(text: &str, width: f64, size: f64) -> String {
    escape(&fit(&clean(text), width, size))
}

/// Names of runs of at most `width` at `size`. Different names stay different.
fn fitted_names(labels: &[&SeriesLabel], width: f64, size: f64) -> Vec<String> {
    shown_all(labels, width, size).iter().map(|name| escape(name)).collect()
}

fn finite(values: impl IntoIterator<Item = Option<f64>>) -> Vec<f64> {
    values.into_iter().flatten().filter(|v| v.is_finite()).collect()
}

/// The least and the greatest of some numbers; 0 and 1 without any.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) }
}

impl Picture {
    /// Height of a line of small letters.
    fn line(&self) -> f64 {
        (self.tick * 1.35).ceil()
    }

    /// Room under an axis for its numbers and its name, and for the notes.
    fn under_axis(&self) -> f64 {
        self.tick + self.label + 12.0 + footnotes::height(self.notes.len(), self.tick)
    }

    /// Adds notes at the bottom. Call it before anything is drawn.
    fn note(&mut self, text: &str) {
        self.notes = footnotes::wrap(text, self.width - 6.0, self.tick);
    }

    fn write_notes(&mut self) {
        let line = self.tick * 1.3;
        for (row, text) in std::mem::take(&mut self.notes).iter().rev().enumerate() {
            let at = (1.0, line * row as f64 + 0.3 * self.tick);
            self.words(at, "base west", ",text=black!60", &escape(text));
        }
    }

    /// A text at a place, with an `anchor` of `TikZ`.
    fn words(&mut self, (x, y): (f64, f64), anchor: &str, more: &str, text: &str) {
        let _ = writeln!(
            self.out,
            "\\node[anchor={anchor},inner sep=0bp{more}] at ({},{}) {{{text}}};",
            bp(x),
            bp(y)
        );
    }

    /// Columns and rows of a legend.
    fn legend_size(&self, labels: usize) -> (usize, usize) {
        let columns = if labels > 4 && self.width > 150.0 { 2 } else { 1 };
        (columns, labels.div_ceil(columns))
    }

    /// Height of a legend with this number of names.
    fn legend_height(&self, labels: usize) -> f64 {
        if labels == 0 { 0.0 } else { self.legend_size(labels).1 as f64 * self.line() + 3.0 }
    }

    /// Sets the height of the picture so that its plot has this height between the parts above and below it. Call it before
    /// anything is drawn.
    fn make_room(&mut self, above: f64, plot: f64, below: f64) {
        self.height = self.height.max((above + plot + below).ceil());
    }

    /// A legend over the plot. Returns its height.
    fn legend(&mut self, labels: &[&SeriesLabel], with_mark: bool) -> f64 {
        if labels.is_empty() {
            return 0.0;
        }
        let (columns, rows) = self.legend_size(labels.len());
        let wide = self.width / columns as f64;
        let line = self.line();
        let names = fitted_names(labels, wide - 26.0, self.tick);
        for (index, (label, name)) in labels.iter().zip(names).enumerate() {
            let x = wide * (index / rows) as f64;
            let y = self.height - line * ((index % rows) as f64 + 0.5);
            let (color, dash, mark) = (color(label), dash(label), mark(label));
            let _ = writeln!(
                self.out,
                "\\draw[{color},line width=1.2bp,{dash}] ({},{y}) -- ({},{y});",
                bp(x + 1.0),
                bp(x + 19.0),
                y = bp(y)
            );
            if with_mark {
                let _ = writeln!(
                    self.out,
                    "\\path[{color},mark={mark},mark size=1.6bp] plot coordinates {{({},{})}};",
                    bp(x + 10.0),
                    bp(y)
                );
            }
            self.words((x + 22.0, y), "west", "", &name);
        }
        self.legend_height(labels.len())
    }

    /// Starts an axis with its plot at this place.
    fn axis(&mut self, place: &Place, options: &str) {
        let _ = write!(
            self.out,
            "\\begin{{axis}}[at={{({}bp,{}bp)}},anchor=south west,scale only axis,width={}bp,height={}bp,\n  \
             axis x line*=bottom,axis y line*=left,axis line style={{line width=0.5bp}},\n  \
             tick style={{line width=0.5bp,black}},tick align=outside,major tick length=2.5bp,\n  \
             tick label style={{font={}}},label style={{font={}}},scaled ticks=false,clip mode=individual,\n  \
             /pgf/number format/fixed,/pgf/number format/1000 sep={{{{,}}}},\n  {options}]\n",
            bp(place.left),
            bp(place.bottom),
            bp(place.width.max(10.0)),
            bp(place.height.max(10.0)),
            font(self.tick),
            font(self.label)
        );
    }

    fn end_axis(&mut self) {
        self.out.push_str("\\end{axis}\n");
    }

    fn add(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }
}

/// `(x,y) (x,y)`
fn coordinates(points: &[(f64, f64)]) -> String {
    points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(|(x, y)| format!("({},{})", number(*x), number(*y)))
        .collect::<Vec<_>>()
        .join(" ")
}
