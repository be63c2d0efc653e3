//! Dashes and markers of series, which distinguish them in addition to color.

use std::collections::BTreeSet;

use plotters::style::RGBColor;

use crate::frame::Sizes;
use crate::marks::{Canvas, Pen};
use crate::spec::SeriesLabel;
use crate::theme::{SERIES, Tokens};

/// Number of dash patterns and of markers. Larger indexes repeat them.
pub(crate) const MARKS: usize = 8;

/// Dashes in widths of a 1.6 px line: `UI.md`, "Color tokens"; the first is solid.
const DASHES: [&[f64]; MARKS] = [
    &[],
    &[6.0, 2.0],
    &[2.0, 2.0],
    &[6.0, 2.0, 2.0, 2.0],
    &[10.0, 3.0],
    &[1.2, 2.8],
    &[10.0, 2.0, 2.0, 2.0, 2.0, 2.0],
    &[5.0, 5.0],
];

/// Whether colors tell something of runs. Where there are more runs than colors and all colors are taken, they repeat, and two
/// runs with one color would look related. A few models of several harnesses share theirs on purpose.
pub(crate) fn has_own_colors(labels: &[&SeriesLabel]) -> bool {
    let colors: BTreeSet<usize> = labels.iter().map(|label| usize::from(label.color) % SERIES).collect();
    labels.len() <= SERIES || colors.len() < SERIES
}

/// The style of a series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) color: RGBColor,
    pub(crate) text: RGBColor,
    paper: RGBColor,
    dash: u8,
    marker: u8,
    /// In the background: a thin gray line with a small marker.
    pub(crate) muted: bool,
    /// Whether it has a marker.
    marked: bool,
}

impl Style {
    pub(crate) fn from_label(label: &SeriesLabel, tokens: &Tokens) -> Self {
        Self {
            color: tokens.series(label.color),
            text: tokens.series_text(label.color),
            paper: tokens.paper,
            dash: label.mark,
            marker: label.marker(),
            muted: false,
            marked: true,
        }
    }

    /// The styles of runs that stand beside their names, in a row or a panel each: with one color if theirs would repeat.
    pub(crate) fn from_labels(labels: &[&SeriesLabel], tokens: &Tokens) -> Vec<Self> {
        let has_own_colors = has_own_colors(labels);
        let style_of = |label: &&SeriesLabel| {
            let style = Self::from_label(label, tokens);
            if has_own_colors { style } else { Self { color: tokens.series(0), text: tokens.label, ..style } }
        };
        labels.iter().map(style_of).collect()
    }

    /// The style number `place` of `count` in the background. Up to the number of markers, markers distinguish them; with more, all
    /// are equal.
    pub(crate) fn in_background(tokens: &Tokens, place: usize, count: usize) -> Self {
        let marked = count <= MARKS;
        let color = if marked { tokens.muted } else { mixed(tokens.muted, tokens.paper) };
        let marker = u8::try_from(place % MARKS).unwrap_or(0);
        Self { color, text: tokens.muted, paper: tokens.paper, dash: 0, marker, muted: true, marked }
    }

    /// A line with its color, width and dashes.
    pub(crate) fn line(self, canvas: &Canvas<'_>, points: &[(f64, f64)], sizes: &Sizes) {
        if self.muted {
            canvas.line(points, Pen::new(self.color, sizes.axis.max(0.5)));
            return;
        }
        let pen = Pen::new(self.color, sizes.curve);
        let dashes = DASHES[usize::from(self.dash) % MARKS];
        if dashes.is_empty() {
            canvas.line(points, pen);
        } else {
            let scaled = |d: &f64| format!("{:.2}", d * sizes.curve / 1.6);
            let dashes: Vec<String> = dashes.iter().map(scaled).collect();
            canvas.dashed(points, pen, &dashes.join(" "));
        }
    }

    /// Its marker. `half` is half of its size.
    pub(crate) fn marker(self, canvas: &Canvas<'_>, place: (f64, f64), half: f64) {
        if !self.marked {
            return;
        }
        let half = if self.muted { 0.8 * half } else { half };
        match outline(self.marker, place, half) {
            Outline::Circle => canvas.disc(place, half, self.color),
            Outline::HollowCircle => {
                canvas.disc(place, 1.1 * half, self.color);
                canvas.disc(place, 0.55 * half, self.paper);
            }
            Outline::Shape(points) => canvas.shape(&points, self.color, 1.0),
            Outline::HollowShape(outer, inner) => {
                canvas.shape(&outer, self.color, 1.0);
                canvas.shape(&inner, self.paper, 1.0);
            }
            Outline::Strokes(strokes) => {
                for stroke in strokes {
                    canvas.line(&stroke, Pen::new(self.color, 0.5 * half));
                }
            }
        }
    }

    /// A sample of line and marker from `left`, `width` long.
    pub(crate) fn sample(self, canvas: &Canvas<'_>, (left, y): (f64, f64), width: f64, sizes: &Sizes) {
        self.line(canvas, &[(left, y), (left + width, y)], sizes);
        self.marker(canvas, (left + width / 2.0, y), 0.9 * sizes.mark);
    }
}

/// The mean of two colors, for figures without transparency.
fn mixed(a: RGBColor, b: RGBColor) -> RGBColor {
    RGBColor(u8::midpoint(a.0, b.0), u8::midpoint(a.1, b.1), u8::midpoint(a.2, b.2))
}

/// Length of the sample of a line.
pub(crate) fn sample_width(sizes: &Sizes) -> f64 {
    2.2 * sizes.tick_font
}

/// The mark of published numbers.
pub(crate) fn hollow_diamond(
    canvas: &Canvas<'_>,
    (x, y): (f64, f64),
    half: f64,
    color: RGBColor,
    paper: RGBColor,
    width: f64,
) {
    let h = 1.25 * half;
    let points = [(x, y - h), (x + h, y), (x, y + h), (x - h, y)];
    canvas.shape(&points, paper, 1.0);
    canvas.line(&[points[0], points[1], points[2], points[3], points[0], points[1]], Pen::new(color, width));
}

enum Outline {
    Circle,
    HollowCircle,
    Shape(Vec<(f64, f64)>),
    HollowShape(Vec<(f64, f64)>, Vec<(f64, f64)>),
    Strokes(Vec<[(f64, f64); 2]>),
}

fn outline(marker: u8, (x, y): (f64, f64), half: f64) -> Outline {
    let around = |points: &[(f64, f64)]| points.iter().map(|p| (x + p.0 * half, y + p.1 * half)).collect();
    let strokes =
        |ends: &[[(f64, f64); 2]]| ends.iter().map(|e| e.map(|p| (x + p.0 * half, y + p.1 * half))).collect();
    let square = |half: f64| [(-half, -half), (half, -half), (half, half), (-half, half)];
    // On a line, an upright cross would look like a censoring tick, and a second triangle like the first.
    match usize::from(marker) % MARKS {
        0 => Outline::Circle,
        1 => Outline::Shape(around(&square(0.9))),
        2 => Outline::Shape(around(&[(0.0, -1.1), (1.05, 0.8), (-1.05, 0.8)])),
        3 => Outline::Shape(around(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)])),
        4 => Outline::Strokes(strokes(&[[(-0.9, -0.9), (0.9, 0.9)], [(-0.9, 0.9), (0.9, -0.9)]])),
        5 => Outline::HollowCircle,
        6 => Outline::HollowShape(around(&square(1.0)), around(&square(0.5))),
        _ => Outline::Strokes(strokes(&[
            [(-1.1, 0.0), (1.1, 0.0)],
            [(-0.6, -1.0), (0.6, 1.0)],
            [(-0.6, 1.0), (0.6, -1.0)],
        ])),
    }
}
