//! Many runs: one panel each on one scale, with all other lines in gray in the background.

use super::{RetriesPlan, all_marks, draw_series, known};
use crate::Drawing;
use crate::font::text_width;
use crate::marks::{Anchor, Canvas, Pen};
use crate::panels::{
    Columns, PanelGrid, PanelHeights, PanelPlace, across_with_names, even_lines, height_without_panels,
};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAGE, Sheet};
use crate::spec::{Bands, Retries, RetrySeries, SeriesLabel};

/// The most lines that are distinguishable in one plot.
const MOST_IN_ONE: usize = 6;
/// The usual and the least width of a plot, in letters of the ticks.
const USUAL_WIDTH: f64 = 15.0;
const NARROWEST: f64 = 9.0;
/// The usual and the least height of a plot, in letters of the ticks.
const USUAL_HEIGHT: f64 = 8.0;
const LOWEST: f64 = 5.0;
/// The most panels beside each other, if a page has room for all of them, and if it has not.
const MOST_ACROSS: usize = 4;
const MOST_ACROSS_A_FULL_PAGE: usize = 6;

/// Whether each run has a panel. With published marks, all lines are in one plot.
pub(crate) fn are_wanted(data: &Retries) -> bool {
    data.series.len() > MOST_IN_ONE && data.published.is_empty()
}

/// The least and the greatest value of all runs, and 0.
fn ends(data: &Retries) -> [f64; 2] {
    let points = data.series.iter().flat_map(|series| &series.points);
    let values = points.flat_map(|p| [p.mean, p.ci_low, p.ci_high]).flatten().filter(|v| v.is_finite());
    values.fold([0.0, 0.0], |[low, high], value| [low.min(value), high.max(value)])
}

/// The vertical axis of a plot of this height, for all panels. It stands at the top of the drawing.
fn scale(data: &Retries, ends: [f64; 2], sheet: &Sheet, height: f64) -> ValueAxis {
    // The heights of panels have rounding errors, which must not take a tick away.
    sheet.upwards_within(&ends.into_iter(), data.tau, height + 1e-6, 0.0)
}

fn grid(data: &Retries, sheet: &Sheet, ends: [f64; 2]) -> PanelGrid {
    let size = sheet.sizes.tick_font;
    let widest = |axis: &ValueAxis| axis.ticks.iter().map(|t| sheet.tick_width(&t.1)).fold(0.0, f64::max);
    // For any height of a panel, and any number of its ticks.
    let widest = (2_u8..=8).map(|ticks| widest(&scale(data, ends, sheet, f64::from(ticks) * 2.0 * size)));
    let left = sheet.names_left() + sheet.beside(widest.fold(0.0, f64::max), false);
    let count = data.series.len();
    let title = 1.6 * sheet.sizes.name_font;
    let below = sheet.below(false) + 0.4 * size;
    let (lowest, natural) = (title + LOWEST * size + below, title + USUAL_HEIGHT * size + below);
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let columns = Columns::new(sheet, left, 1.6 * size, 0.0);
    let rest = height_without_panels(sheet);
    let page = PAGE.max(sheet.height.unwrap_or(0.0));
    let fits_a_page = |across: &usize| {
        let rows = count.div_ceil(*across) as f64;
        !sheet.print || rest + rows * natural <= page
    };
    let most_columns = |most: usize, letters: f64| {
        (1..=count.min(most)).rev().find(|across| columns.width(*across) >= letters * size).unwrap_or(1)
    };
    let usual = most_columns(MOST_ACROSS, USUAL_WIDTH);
    // Narrower or lower panels are better than a figure that does not fit a page.
    let narrowest = most_columns(MOST_ACROSS_A_FULL_PAGE, NARROWEST).max(usual);
    let most_across = (usual..=narrowest).find(fits_a_page).unwrap_or(narrowest);
    let across = across_with_names(sheet, &labels, &columns, most_across, |across| fits_a_page(&across));
    let (across, rows) = even_lines(count, across);
    let whole = match sheet.height {
        Some(height) => ((height - rest) / rows as f64).clamp(lowest, 2.0 * natural),
        None if sheet.print => ((PAGE - rest) / rows as f64).clamp(lowest, natural),
        None => natural,
    };
    PanelGrid::new(sheet, &labels, &columns, across, PanelHeights { title, below, whole })
}

pub(super) fn draw(
    data: &Retries,
    sheet: &Sheet,
    drawing_names: &DrawingNames<'_>,
    retries: &[u32],
    axis_name: &str,
) -> Drawing {
    let ends = ends(data);
    let grid = grid(data, sheet, ends);
    let PanelHeights { title, below, whole } = grid.heights;
    let y = scale(data, ends, sheet, whole - title - below);
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let styles = Style::from_labels(&labels, sheet.tokens);
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(grid.height, drawing_names, |canvas| {
        let size = sheet.sizes.name_font;
        canvas.part("y-name");
        canvas.text(axis_name, (sheet.names_left(), size), Anchor::Start, size, sheet.tokens.label);
        for (i, series) in data.series.iter().enumerate() {
            let place = grid.place(sheet, i);
            let plan = plan(&y, &place, retries);
            draw_panel(sheet, canvas, data, &grid, &plan, (i, styles[i]));
            let panel_data = alone(data, series);
            canvas.part(&format!("series-{i}"));
            draw_series(sheet, canvas, &panel_data, &plan, (0, styles[i]));
            canvas.part(&format!("x-axis-{i}"));
            draw_budgets(sheet, canvas, &plan, place.is_lowest);
            let renamed = all_marks(&panel_data, sheet, &plan, &plan.y).into_iter().map(|mut mark| {
                mark.id = mark.id.replacen("point-0-", &format!("point-{i}-"), 1);
                mark.series = Some(i as u32);
                mark
            });
            marks.extend(renamed);
        }
        grid.draw_x_name(sheet, canvas, "Retries allowed, R");
    });
    drawing.marks = marks;
    drawing
}

/// One of the runs as a figure of its own: nothing but this run is copied, for any number of runs.
fn alone(data: &Retries, series: &RetrySeries) -> Retries {
    Retries {
        series: vec![series.clone()],
        reference: None,
        bands: if data.bands == Bands::None { Bands::None } else { Bands::All },
        published: Vec::new(),
        tau: data.tau,
    }
}

/// The plot of a panel, with the vertical axis of all panels.
fn plan(y: &ValueAxis, place: &PanelPlace, retries: &[u32]) -> RetriesPlan {
    RetriesPlan {
        y: y.clone().moved([place.bottom, place.top]),
        left: place.left,
        right: place.right,
        top: place.top,
        bottom: place.bottom,
        retries: retries.to_vec(),
        most: retries.last().copied().unwrap_or(1).max(1),
        beside: None,
        legend_top: 0.0,
        notes: Vec::new(),
        notes_top: 0.0,
        height: 0.0,
    }
}

/// Name, axis and the gray lines of the other runs.
fn draw_panel(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    data: &Retries,
    grid: &PanelGrid,
    plan: &RetriesPlan,
    (i, style): (usize, Style),
) {
    let sizes = &sheet.sizes;
    canvas.part(&format!("panel-{i}"));
    grid.draw_name(sheet, canvas, i, (plan.left, plan.top - 0.5 * sizes.name_font), style);
    if i.is_multiple_of(grid.across) {
        sheet.draw_upwards(canvas, &format!("y-axis-{i}"), &plan.y, plan.left, &[]);
        canvas.part(&format!("panel-{i}-lines"));
    }
    let gray = Pen::new(sheet.tokens.rule, sizes.axis.max(0.5));
    for other in data.series.iter().enumerate().filter(|(other, _)| *other != i).map(|(_, other)| other) {
        let line: Vec<(f64, f64)> =
            known(other).map(|(p, mean)| (plan.x(p.retries), plan.y.position(mean))).collect();
        if line.len() > 1 {
            canvas.line(&line, gray);
        }
    }
}

/// The horizontal axis. Only the lowest panels have its numbers.
fn draw_budgets(sheet: &Sheet, canvas: &Canvas<'_>, plan: &RetriesPlan, is_numbered: bool) {
    let sizes = &sheet.sizes;
    let pen = Pen::new(sheet.tokens.axis, sizes.axis);
    canvas.line(&[(plan.left, plan.bottom), (plan.right, plan.bottom)], pen);
    let mut free_from = f64::MIN;
    for retries in &plan.retries {
        let (x, text) = (plan.x(*retries), retries.to_string());
        canvas.line(&[(x, plan.bottom), (x, plan.bottom + sizes.tick)], pen);
        let half = text_width(&text, sizes.tick_font) / 2.0;
        if is_numbered && x - half >= free_from {
            let place = (x, sheet.tick_base(plan.bottom));
            canvas.text(&text, place, Anchor::Middle, sizes.tick_font, sheet.tokens.label);
            free_from = x + half + 0.5 * sizes.tick_font;
        }
    }
}
