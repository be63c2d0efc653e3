//! Many runs: one panel each on one scale, with all other lines in gray in the background.

use super::{Plan, all_marks, draw_series, known};
use crate::Drawing;
use crate::display_names::{natural_width, shown_each};
use crate::font::text_width;
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::sheet::{Described, PAD, Sheet};
use crate::spec::{Bands, Retries, RetrySeries, Scale, SeriesLabel};
use crate::swatch::Style;

/// The most lines that are distinguishable in one plot.
const MOST_IN_ONE: usize = 6;

/// Whether each run has a panel. With published marks, all lines are in one plot.
pub(crate) fn are_wanted(data: &Retries) -> bool {
    data.series.len() > MOST_IN_ONE && data.published.is_empty()
}

/// The places of panels.
struct Grid {
    ends: [f64; 2],
    across: usize,
    left: f64,
    width: f64,
    gap: f64,
    top: f64,
    panel: f64,
    title: f64,
    names: Vec<String>,
    name_size: f64,
    height: f64,
}

/// The least and the greatest value of all runs, and 0.
fn ends(data: &Retries) -> [f64; 2] {
    let points = data.series.iter().flat_map(|series| &series.points);
    let values = points.flat_map(|p| [p.mean, p.ci_low, p.ci_high]).flatten().filter(|v| v.is_finite());
    values.fold([0.0, 0.0], |[low, high], value| [low.min(value), high.max(value)])
}

fn scale(ends: [f64; 2], sheet: &Sheet, bottom: f64, top: f64) -> ValueAxis {
    sheet.upwards(ends.into_iter(), Scale::Linear, bottom, top)
}

fn grid(data: &Retries, sheet: &Sheet) -> Grid {
    let (size, name_font) = (sheet.sizes.tick_font, sheet.sizes.name_font);
    let plot = 8.0 * size;
    let widest = |axis: &ValueAxis| axis.ticks.iter().map(|t| sheet.tick_width(&t.1)).fold(0.0, f64::max);
    let ends = ends(data);
    // For any height of a panel, and any number of its ticks.
    let widest = (2_u8..=8).map(|ticks| widest(&scale(ends, sheet, f64::from(ticks) * 2.0 * size, 0.0)));
    let left = PAD + sheet.beside(widest.fold(0.0, f64::max), false);
    let (gap, least) = (1.6 * size, 15.0 * size);
    let count = data.series.len();
    let across = (((sheet.width - PAD - left + gap) / (least + gap)) as usize).clamp(1, count.min(4));
    let rows = count.div_ceil(across);
    let across = count.div_ceil(rows);
    let width = (sheet.width - PAD - left - gap * (across - 1) as f64) / across as f64;
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let room = width - swatch_room(sheet);
    let fits = |letters: &f64| labels.iter().all(|label| natural_width(label, *letters) <= room);
    let name_size = [name_font, size].into_iter().find(fits).unwrap_or(size);
    let names = shown_each(&labels, &vec![room; count], name_size);
    let title = 1.6 * name_font;
    let top = 1.5 * name_font;
    let below = sheet.below(false) + 0.4 * size;
    let rest = top + name_font + 5.0 + PAD;
    let natural = title + plot + below;
    let panel = sheet.height.map_or(natural, |height| {
        ((height - rest) / rows as f64).clamp(title + 5.0 * size + below, 2.0 * natural)
    });
    Grid {
        ends,
        across,
        left,
        width,
        gap,
        top,
        panel,
        title,
        names,
        name_size,
        height: rest + panel * rows as f64,
    }
}

fn swatch_room(sheet: &Sheet) -> f64 {
    1.8 * sheet.sizes.mark + 0.5 * sheet.sizes.tick_font
}

pub(super) fn draw(
    data: &Retries,
    sheet: &Sheet,
    described: &Described<'_>,
    retries: &[u32],
    axis_name: &str,
) -> Drawing {
    let grid = grid(data, sheet);
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(grid.height, described, |canvas| {
        let size = sheet.sizes.name_font;
        canvas.part("y-name");
        canvas.text(axis_name, (PAD, size), Anchor::Start, size, sheet.tokens.label);
        for (i, series) in data.series.iter().enumerate() {
            let plan = plan(sheet, &grid, retries, i);
            draw_panel(sheet, canvas, data, &grid, &plan, i);
            let one = alone(data, series);
            draw_series(sheet, canvas, &one, &plan, &plan.y, 0, series);
            draw_turns(sheet, canvas, &grid, &plan, i + grid.across >= data.series.len());
            let renamed = all_marks(&one, sheet, &plan, &plan.y).into_iter().map(|mut mark| {
                mark.id = mark.id.replacen("point-0-", &format!("point-{i}-"), 1);
                mark.series = Some(i as u32);
                mark
            });
            marks.extend(renamed);
        }
        canvas.part("x-name");
        let at = (sheet.width / 2.0, grid.height - PAD - 0.25 * size);
        sheet.centered(canvas, "Retries allowed, R", at, size, sheet.tokens.label);
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

/// The plot of a panel.
fn plan(sheet: &Sheet, grid: &Grid, retries: &[u32], i: usize) -> Plan {
    let left = grid.left + (i % grid.across) as f64 * (grid.width + grid.gap);
    let top = grid.top + (i / grid.across) as f64 * grid.panel + grid.title;
    let bottom = top - grid.title + grid.panel - sheet.below(false) - 0.4 * sheet.sizes.tick_font;
    Plan {
        y: scale(grid.ends, sheet, bottom, top),
        left,
        right: left + grid.width,
        top,
        bottom,
        retries: retries.to_vec(),
        most: retries.last().copied().unwrap_or(1).max(1),
        beside: None,
        legend_top: 0.0,
        notes: Vec::new(),
        notes_top: 0.0,
        height: grid.height,
    }
}

/// Name, axis and the gray lines of the other runs.
fn draw_panel(sheet: &Sheet, canvas: &Canvas<'_>, data: &Retries, grid: &Grid, plan: &Plan, i: usize) {
    let sizes = &sheet.sizes;
    canvas.part(&format!("panel-{i}"));
    let style = Style::of_label(&data.series[i].label, sheet.tokens);
    let half = 0.9 * sizes.mark;
    let base = plan.top - 0.5 * sizes.name_font;
    style.marker(canvas, (plan.left + half, base - 0.35 * grid.name_size), half);
    let at = (plan.left + swatch_room(sheet), base);
    canvas.text(&grid.names[i], at, Anchor::Start, grid.name_size, style.text);
    if i.is_multiple_of(grid.across) {
        sheet.draw_upwards(canvas, &format!("y-axis-{i}"), &plan.y, plan.left, &[]);
        canvas.part(&format!("panel-{i}-lines"));
    }
    let gray = Pen::new(sheet.tokens.rule, sizes.axis.max(0.5));
    for other in data.series.iter().enumerate().filter(|(other, _)| *other != i).map(|(_, other)| other) {
        let line: Vec<(f64, f64)> =
            known(other).map(|(p, mean)| (plan.x(p.retries), plan.y.at(mean))).collect();
        if line.len() > 1 {
            canvas.line(&line, gray);
        }
    }
}

/// The horizontal axis. Only the lowest panels have its numbers.
fn draw_turns(sheet: &Sheet, canvas: &Canvas<'_>, grid: &Grid, plan: &Plan, is_numbered: bool) {
    let sizes = &sheet.sizes;
    let pen = Pen::new(sheet.tokens.axis, sizes.axis);
    canvas.line(&[(plan.left, plan.bottom), (plan.left + grid.width, plan.bottom)], pen);
    let mut free_from = f64::MIN;
    for retries in &plan.retries {
        let (x, text) = (plan.x(*retries), retries.to_string());
        canvas.line(&[(x, plan.bottom), (x, plan.bottom + sizes.tick)], pen);
        let half = text_width(&text, sizes.tick_font) / 2.0;
        if is_numbered && x - half >= free_from {
            let at = (x, sheet.tick_base(plan.bottom));
            canvas.text(&text, at, Anchor::Middle, sizes.tick_font, sheet.tokens.label);
            free_from = x + half + 0.5 * sizes.tick_font;
        }
    }
}
