//! Many runs: one panel each on one scale, with its numbers at risk, and with all other curves in gray in the background.

use super::plan::mean_text;
use super::summary_text::{at_turn, series_mark};
use super::{Line, Y_NAMES, draw_band, draw_censored, wants_band};
use crate::at_risk;
use crate::axis::TurnAxis;
use crate::display_names::{fit, full_name};
use crate::font::text_width;
use crate::labels::Area;
use crate::marks::{Anchor, Canvas, Pen};
use crate::panels::{
    Columns, PanelGrid, PanelHeights, PanelPlace, across_with_names, even_lines, height_without_panels,
};
use crate::scale::ValueAxis;
use crate::sheet::{DrawingNames, PAD, PAGE, Sheet};
use crate::spec::{Scale, SeriesLabel, SurvivalComparison};
use crate::summary_text::count;
use crate::{Drawing, Mark};

/// The most panels beside each other.
const MOST_ACROSS: usize = 6;
/// The least width of a plot, in letters of the ticks.
const NARROWEST: f64 = 9.0;
/// The usual and the least height of a plot, in letters of the ticks.
const USUAL: f64 = 6.5;
const LOWEST: f64 = 4.2;
/// With more points in all panels, none has the curves of the others: the drawing would grow with the square of the runs.
const MOST_BEHIND: usize = 100_000;
/// Labels of the axis of a share: a panel is low.
const TICKS: [(f64, &str); 3] = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")];

/// What all panels have.
struct Panels {
    grid: PanelGrid,
    /// Half of the widest number below an axis.
    half: f64,
    /// Texts under the names: how many failed, the mean.
    facts: Option<Vec<String>>,
}

/// One panel.
struct Panel {
    axis: TurnAxis,
    y: ValueAxis,
    plot: PanelPlace,
}

impl Panel {
    fn place(&self, (turn, share): &(f64, f64)) -> (f64, f64) {
        (self.axis.x(*turn), self.y.position(*share))
    }
}

/// Whether the curves of the other runs are behind that of a panel.
pub(crate) fn has_others_behind(data: &SurvivalComparison) -> bool {
    let steps = data.series.iter().flat_map(|series| &series.points).filter(|point| point.events > 0).count();
    let points = 2 * (data.series.len() + steps);
    points.saturating_mul(data.series.len()) <= MOST_BEHIND
}

pub(super) fn draw(
    data: &SurvivalComparison,
    sheet: &Sheet,
    drawing_names: &DrawingNames<'_>,
    turns: u32,
    lines: &[Line<'_>],
) -> Drawing {
    let panels = panels(data, sheet, turns, lines);
    let grid = &panels.grid;
    let ticks = panel(grid, sheet, turns, 0).axis.ticks(sheet.sizes.tick_font);
    let known = |line: &Line<'_>| {
        if line.curve.known > 0 { line.curve.steps(|point| point.survival) } else { Vec::new() }
    };
    let behind: Vec<Vec<(f64, f64)>> =
        if has_others_behind(data) { lines.iter().map(known).collect() } else { Vec::new() };
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(grid.height, drawing_names, |canvas| {
        let tau = data.tau.filter(|tau| (1..=turns).contains(tau));
        draw_head(sheet, canvas, tau);
        for (i, line) in lines.iter().enumerate() {
            let panel = panel(grid, sheet, turns, i);
            draw_behind(sheet, canvas, &panel, (i, &behind), tau);
            draw_title(sheet, canvas, &panels, &panel, i, line);
            draw_axes(sheet, canvas, &panels, &panel, (i, line), (ticks.as_slice(), data.at_risk));
            draw_curve(sheet, canvas, &panel, line, wants_band(data, line.index));
            marks.extend(panel_marks(grid, &panel, i, line));
        }
        grid.draw_x_name(sheet, canvas, "Turn");
    });
    drawing.marks = marks;
    drawing.ticks = ticks;
    drawing
}

fn panels(data: &SurvivalComparison, sheet: &Sheet, turns: u32, lines: &[Line<'_>]) -> Panels {
    let (size, name_font) = (sheet.sizes.tick_font, sheet.sizes.name_font);
    let total = lines.len().max(1);
    let labels: Vec<&SeriesLabel> = lines.iter().map(|line| &line.data.label).collect();

    let most = lines.iter().flat_map(|line| line.curve.points).map(|p| p.at_risk).max().unwrap_or(0);
    let number = if data.at_risk { sheet.tick_width(&count(most)) } else { 0.0 };
    let half = number.max(sheet.tick_width(&turns.to_string())) / 2.0 + 0.2;
    let head =
        if data.at_risk { sheet.names_left() + sheet.tick_width(at_risk::HEAD) + 0.4 * size } else { PAD };
    let left = (PAD + sheet.beside(sheet.tick_width("0.5"), false)).max(head + half);
    let columns = Columns::new(sheet, left, (1.6 * size).max(2.0 * half + 0.8 * size), half);

    let below = sheet.below(false) + if data.at_risk { at_risk::row_height(&sheet.sizes) } else { 0.0 };
    let below = below + 0.4 * size;
    let rest = height_without_panels(sheet);
    let title_with = |has_facts: bool| 1.6 * name_font + if has_facts { 1.25 * size } else { 0.0 };
    let fits_a_page = |rows: usize, has_facts: bool| {
        let lowest = title_with(has_facts) + LOWEST * size + below;
        !sheet.print || rest + rows as f64 * lowest <= PAGE
    };

    let most_across =
        (1..=total.min(MOST_ACROSS)).rev().find(|n| columns.width(*n) >= NARROWEST * size).unwrap_or(1);
    let across = across_with_names(sheet, &labels, &columns, most_across, |across| {
        fits_a_page(total.div_ceil(across), false)
    });
    let (across, rows) = even_lines(total, across);

    let facts = facts(data, lines, sheet, columns.width(across)).filter(|_| fits_a_page(rows, true));
    let title = title_with(facts.is_some());
    let (lowest, natural) = (title + LOWEST * size + below, title + USUAL * size + below);
    let whole = match sheet.height {
        Some(height) => ((height - rest) / rows as f64).clamp(lowest, 2.0 * natural),
        None if sheet.print => ((PAGE - rest) / rows as f64).clamp(lowest, natural),
        None => natural,
    };
    let heights = PanelHeights { title, below, whole };
    Panels { grid: PanelGrid::new(sheet, &labels, &columns, across, heights), half, facts }
}

/// The texts under the names, if all fit this width: what does not fit is left out, means first.
fn facts(data: &SurvivalComparison, lines: &[Line<'_>], sheet: &Sheet, width: f64) -> Option<Vec<String>> {
    let failed = |line: &Line<'_>| {
        format!("{}/{} failed", count(line.data.summary.events), count(line.data.summary.n))
    };
    let mean = |line: &Line<'_>| format!("mean {}", mean_text(line));
    let both = |line: &Line<'_>| format!("{}, {}", failed(line), mean(line));
    let forms: Vec<Vec<String>> = match (data.at_risk && data.events, data.at_risk && data.means) {
        (true, true) => vec![lines.iter().map(both).collect(), lines.iter().map(failed).collect()],
        (true, false) => vec![lines.iter().map(failed).collect()],
        (false, true) => vec![lines.iter().map(mean).collect()],
        (false, false) => Vec::new(),
    };
    forms.into_iter().find(|texts| texts.iter().all(|text| sheet.tick_width(text) <= width))
}

/// Panel `i`.
fn panel(grid: &PanelGrid, sheet: &Sheet, turns: u32, i: usize) -> Panel {
    let plot = grid.place(sheet, i);
    let px_per_turn = grid.width / f64::from(turns);
    let mut y = ValueAxis::holding([0.0, 1.0].into_iter(), Scale::Linear, [plot.bottom, plot.top], 5);
    y.ticks = TICKS.map(|(value, label)| (value, label.to_owned())).to_vec();
    Panel { axis: TurnAxis { plot_left: plot.left + px_per_turn / 2.0, px_per_turn, turns }, y, plot }
}

/// The name of the vertical axis, and what the dashed line of each panel is.
fn draw_head(sheet: &Sheet, canvas: &Canvas<'_>, tau: Option<u32>) {
    let (size, name_font) = (sheet.sizes.tick_font, sheet.sizes.name_font);
    let left = sheet.names_left();
    let room = sheet.width - left - PAD;
    let about: Vec<String> =
        tau.map_or_else(Vec::new, |tau| vec![format!("τ = {tau} (dashed line)"), format!("τ = {tau}")]);
    let beside = |name: &str| {
        let taken = text_width(name, name_font) + size;
        about.iter().find(|text| taken + sheet.tick_width(text) <= room)
    };
    let name = Y_NAMES.into_iter().find(|name| about.is_empty() || beside(name).is_some());
    let name = name.unwrap_or(Y_NAMES[1]);
    canvas.part("y-name");
    canvas.text(&fit(name, room, name_font), (left, name_font), Anchor::Start, name_font, sheet.tokens.label);
    if let Some(text) = beside(name) {
        canvas.part("tau");
        canvas.text(text, (sheet.width - PAD, name_font), Anchor::End, size, sheet.tokens.muted);
    }
}

/// What is behind the curve of panel `i`: the rules, and those of all `curves` in gray that are of other runs.
fn draw_behind(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    panel: &Panel,
    (i, curves): (usize, &[Vec<(f64, f64)>]),
    tau: Option<u32>,
) {
    let sizes = &sheet.sizes;
    canvas.part(&format!("panel-{i}"));
    let gray = Pen::new(sheet.tokens.rule, sizes.axis.max(0.5));
    for (other, curve) in curves.iter().enumerate() {
        if other != i && !curve.is_empty() {
            canvas.line(&curve.iter().map(|point| panel.place(point)).collect::<Vec<_>>(), gray);
        }
    }
    let rule = Pen::new(sheet.tokens.rule, sizes.rule);
    canvas.dashed(&[panel.place(&(0.0, 0.5)), (panel.plot.right, panel.y.position(0.5))], rule, "2 3");
    if let Some(tau) = tau {
        let x = panel.axis.x(f64::from(tau));
        let pen = Pen::new(sheet.tokens.muted, sizes.rule);
        canvas.dashed(&[(x, panel.plot.top), (x, panel.plot.bottom)], pen, "2 3");
    }
}

/// Marker and name, and how many failed.
fn draw_title(sheet: &Sheet, canvas: &Canvas<'_>, panels: &Panels, panel: &Panel, i: usize, line: &Line<'_>) {
    let size = sheet.sizes.tick_font;
    let plot = &panel.plot;
    let mut base = plot.top - 0.5 * sheet.sizes.name_font;
    canvas.part(&format!("name-{i}"));
    if let Some(facts) = &panels.facts {
        base = plot.top - 1.95 * size;
        let place = (plot.left, plot.top - 0.7 * size);
        canvas.text(&facts[i], place, Anchor::Start, size, sheet.tokens.muted);
    }
    panels.grid.draw_name(sheet, canvas, i, (plot.left, base), line.style);
}

/// The axes of a panel, and its numbers at risk under every tick, every second one, …, as they fit.
fn draw_axes(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    panels: &Panels,
    panel: &Panel,
    (i, line): (usize, &Line<'_>),
    (ticks, is_counted): (&[u32], bool),
) {
    let sizes = &sheet.sizes;
    let (size, plot) = (sizes.tick_font, &panel.plot);
    if plot.is_first {
        sheet.draw_upwards(canvas, &format!("y-axis-{i}"), &panel.y, plot.left, &[]);
    }
    canvas.part(&format!("x-axis-{i}"));
    let pen = Pen::new(sheet.tokens.axis, sizes.axis);
    canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], pen);
    let base = sheet.tick_base(plot.bottom);
    for turn in ticks {
        let x = panel.axis.x(f64::from(*turn));
        canvas.line(&[(x, plot.bottom), (x, plot.bottom + sizes.tick)], pen);
        // Above numbers at risk, turns stand in every panel: else those would be read as turns.
        if is_counted || plot.is_lowest {
            canvas.text(&turn.to_string(), (x, base), Anchor::Middle, size, sheet.tokens.label);
        }
    }
    if !is_counted {
        return;
    }
    let base = base + at_risk::row_height(sizes);
    if plot.is_first {
        let place = (plot.left - panels.half - 0.4 * size, base);
        canvas.text(at_risk::HEAD, place, Anchor::End, size, sheet.tokens.muted);
    }
    let apart = ticks.windows(2).next().map(|two| f64::from(two[1] - two[0]) * panel.axis.px_per_turn);
    let every = apart.map_or(1.0, |apart| ((2.0 * panels.half + 0.5 * size) / apart).ceil());
    for turn in ticks.iter().step_by((every as usize).max(1)) {
        if let Some(number) = at_risk::number(&line.data.points, *turn) {
            let place = (panel.axis.x(f64::from(*turn)), base);
            canvas.text(&number, place, Anchor::Middle, size, sheet.tokens.muted);
        }
    }
}

/// The curve of the run of a panel, with its band and its censored episodes.
fn draw_curve(sheet: &Sheet, canvas: &Canvas<'_>, panel: &Panel, line: &Line<'_>, has_band: bool) {
    if line.curve.known == 0 {
        canvas.part(&format!("nothing-{}", line.index));
        let size = sheet.sizes.tick_font;
        let text = fit("No turn was observed", panel.plot.right - panel.plot.left, size);
        let place = (f64::midpoint(panel.plot.left, panel.plot.right), panel.y.position(0.65));
        canvas.text(&text, place, Anchor::Middle, size, sheet.tokens.muted);
        return;
    }
    if has_band {
        draw_band(sheet, canvas, line, |place| panel.place(place));
    }
    canvas.part(&format!("curve-{}", line.index));
    let steps: Vec<(f64, f64)> =
        line.curve.steps(|point| point.survival).iter().map(|place| panel.place(place)).collect();
    line.style.line(canvas, &steps, &sheet.sizes);
    draw_censored(sheet, canvas, line, |place| panel.place(place));
}

/// What can be pointed at: the name of a panel, and all its turns, also those after the end of its curve.
fn panel_marks(grid: &PanelGrid, panel: &Panel, i: usize, line: &Line<'_>) -> Vec<Mark> {
    let (plot, heights) = (&panel.plot, grid.heights);
    let title = Area { left: plot.left, top: plot.top - heights.title, right: plot.right, bottom: plot.top };
    let turns = (1..=panel.axis.turns).map(|turn| {
        let (left, right) = panel.axis.column(turn);
        let area =
            Area { left, top: plot.top, right: right.min(plot.right), bottom: plot.bottom + heights.below };
        let lines = vec![full_name(&line.data.label), at_turn(line, turn)];
        Mark::new(format!("turn-{i}-{turn}"), Some(line.index), area, lines)
    });
    std::iter::once(series_mark("name", line, title)).chain(turns).collect()
}
