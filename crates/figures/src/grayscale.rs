//! Whether a figure is readable without color.

use crate::caption::labels;
use crate::display_names::full_name;
use crate::retries::has_panels;
use crate::series_style::MARKS;
use crate::spec::{Figure, FigureSpec, SeriesLabel};
use crate::theme::{SERIES, Theme, lightness};

/// Grays with a smaller difference in lightness L* look the same.
const NEAR: f64 = 15.0;

/// Pairs of series with equal dash and marker and similar lightness, which look the same in grayscale, one sentence each.
/// Empty = the figure is readable.
///
/// Figures with each name beside its bar, row or cell need no check.
pub fn grayscale_check(spec: &FigureSpec) -> Vec<String> {
    let tokens = Theme::Print.tokens();
    let marks_are_drawn = match &spec.figure {
        Figure::Paired(_) | Figure::Pareto(_) | Figure::Plane(_) => true,
        Figure::SurvivalComparison(data) => !crate::survival_comparison::has_panels(data),
        Figure::Retries(data) => !has_panels(data),
        Figure::Survival(_)
        | Figure::FirstFailures(_)
        | Figure::FirstFailuresComparison(_)
        | Figure::Differences(_)
        | Figure::Bars(_)
        | Figure::Matrix(_)
        | Figure::FailureShares(_)
        | Figure::Table(_) => false,
    };
    if !marks_are_drawn {
        return Vec::new();
    }
    let has_lines = matches!(spec.figure, Figure::SurvivalComparison(_) | Figure::Retries(_));
    let all = shown(&spec.figure);
    let mut found = Vec::new();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            let same = |a: u8, b: u8| usize::from(a) % MARKS == usize::from(b) % MARKS;
            let same_mark = same(a.marker(), b.marker()) && (!has_lines || same(a.mark, b.mark));
            let apart = (lightness(tokens.series(a.color)) - lightness(tokens.series(b.color))).abs();
            if same_mark && apart < NEAR {
                let same_color = usize::from(a.color) % SERIES == usize::from(b.color) % SERIES;
                let colors =
                    if same_color { "the same color" } else { "colors of nearly the same lightness" };
                found.push(format!(
                    "Printed in grayscale, {} and {} look alike: the same dash and marker, {colors}",
                    full_name(a),
                    full_name(b)
                ));
            }
        }
    }
    found
}

/// The series with their own marks.
fn shown(figure: &Figure) -> Vec<&SeriesLabel> {
    match figure {
        Figure::SurvivalComparison(data) => crate::survival_comparison::in_front(data),
        figure => labels(figure),
    }
}
