//! Survival curves of several runs over their at-risk table. More than eight have a panel each.

mod panels;
mod plan;
mod summary_text;

use crate::at_risk;
use crate::curve::{Curve, Y_TICKS, last_turn_shown};
use crate::display_names::shown_all;
use crate::labels::{Area, spread};
use crate::legend;
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{Bands, Layout, Scale, SeriesData, SeriesLabel, SurvivalComparison};
use crate::theme::Theme;
use crate::{Drawing, Mark};

pub(crate) use panels::has_others_behind;
use plan::{SurvivalPlan, extra_gap, leader, plan, room_beside};
use summary_text::{hit, series_mark, summary};

/// More series have a panel each, unless the spec puts some of them in the background.
const TOLD_APART: usize = 8;
/// Up to this number of series, names are beside their curves.
const NAMED_DIRECTLY: usize = 4;

/// The names of the axis. The shorter one is for a short axis, because a name is not cut.
const Y_NAMES: [&str; 2] = ["Share alive after turn", "Share alive"];
/// The head of the column of failures.
pub(crate) const EVENTS: &str = "Events/n";

/// A series as it is drawn.
struct Line<'a> {
    data: &'a SeriesData,
    style: Style,
    curve: Curve<'a>,
    index: usize,
}

pub(crate) fn draw(data: &SurvivalComparison, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let data_turns = last_turn_shown(data.series.iter().map(|s| s.points.as_slice()));
    let turns = sheet.turns_for(data_turns.max(data.tau.unwrap_or(1)));
    let lines = lines(data, &sheet, turns);
    let drawing_names =
        DrawingNames { kind: "survival-comparison", title: "Survival curves", summary: summary(data, turns) };
    if has_panels(data) {
        return panels::draw(data, &sheet, &drawing_names, turns, &lines);
    }
    let plan = plan(data, &sheet, turns, &lines);
    let mut y = ValueAxis::holding([0.0, 1.0].into_iter(), Scale::Linear, [plan.bottom, plan.top], 5);
    y.ticks = Y_TICKS.map(|(value, label)| (value, label.to_owned())).to_vec();
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        sheet.draw_upwards(canvas, "y-axis", &y, plan.left, &Y_NAMES);
        draw_turn_axis(&sheet, canvas, &plan);
        draw_rules(&sheet, canvas, &plan, &y, data.tau);
        draw_bands(&sheet, canvas, data, &plan, &y, &lines);
        draw_curves(&sheet, canvas, &plan, &y, &lines);
        if let Some(room) = plan.beside {
            marks.extend(draw_names(&sheet, canvas, &plan, &y, &lines, room));
        }
        marks.extend(draw_under(&sheet, canvas, data, &plan, &lines));
    });
    drawing.marks = marks;
    drawing.ticks = plan.axis.ticks(sheet.sizes.tick_font);
    drawing.hits = (1..=turns).map(|turn| hit(turn, data, &plan, &y, &lines)).collect();
    drawing
}

/// Whether each run has a panel: so many lines in one plot cannot be told apart.
pub(crate) fn has_panels(data: &SurvivalComparison) -> bool {
    data.series.len() > TOLD_APART && data.series.iter().all(|series| series.highlight)
}

/// Whether the series with this index has a band, if one is known.
fn wants_band(data: &SurvivalComparison, index: usize) -> bool {
    let reference = data.reference == u32::try_from(index).ok();
    data.series[index].highlight
        && match data.bands {
            Bands::None => false,
            Bands::All => true,
            Bands::Reference => reference,
            // In a panel of its own, a band covers no other.
            Bands::Auto => data.series.len() <= 2 || reference || has_panels(data),
        }
}

/// The series with a drawn band: those that should have one, with a known interval at some turn.
pub(crate) fn with_bands(data: &SurvivalComparison) -> Vec<&SeriesLabel> {
    let data_turns = last_turn_shown(data.series.iter().map(|s| s.points.as_slice()));
    let turns = data_turns.max(data.tau.unwrap_or(1));
    (0..data.series.len())
        .filter(|i| wants_band(data, *i) && Curve::from_points(&data.series[*i].points, turns).has_interval())
        .map(|i| &data.series[i].label)
        .collect()
}

/// The steps of the curve in color of each run; one in the background or without a curve has none.
pub(crate) fn curves(data: &SurvivalComparison) -> Vec<(&SeriesLabel, Vec<(f64, f64)>)> {
    let turns = last_turn_shown(data.series.iter().map(|s| s.points.as_slice())).max(data.tau.unwrap_or(1));
    let steps = |series: &SeriesData| {
        let curve = Curve::from_points(&series.points, turns);
        let is_drawn = series.highlight && curve.known > 0;
        if is_drawn { curve.steps(|point| point.survival) } else { Vec::new() }
    };
    data.series.iter().map(|series| (&series.label, steps(series))).collect()
}

/// Whether a curve has a tick: a series in color of which episodes were censored at a turn with somebody at risk.
pub(crate) fn has_ticks(data: &SurvivalComparison) -> bool {
    let data_turns = last_turn_shown(data.series.iter().map(|s| s.points.as_slice()));
    let turns = data_turns.max(data.tau.unwrap_or(1));
    let is_marked = |series: &SeriesData| {
        Curve::from_points(&series.points, turns).points.iter().any(|point| point.censored > 0)
    };
    data.series.iter().filter(|series| series.highlight).any(is_marked)
}

/// The series in color.
pub(crate) fn in_front(data: &SurvivalComparison) -> Vec<&SeriesLabel> {
    data.series.iter().filter(|series| series.highlight).map(|series| &series.label).collect()
}

fn lines<'a>(data: &'a SurvivalComparison, sheet: &Sheet, turns: u32) -> Vec<Line<'a>> {
    let behind: Vec<usize> = (0..data.series.len()).filter(|i| !data.series[*i].highlight).collect();
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let styles = has_panels(data).then(|| Style::from_labels(&labels, sheet.tokens));
    data.series
        .iter()
        .enumerate()
        .map(|(index, series)| {
            let style = if let Some(styles) = &styles {
                styles[index]
            } else if series.highlight {
                Style::from_label(&series.label, sheet.tokens)
            } else {
                let place = behind.iter().position(|i| *i == index).unwrap_or(0);
                Style::in_background(sheet.tokens, place, behind.len())
            };
            Line { data: series, style, curve: Curve::from_points(&series.points, turns), index }
        })
        .collect()
}

fn draw_turn_axis(sheet: &Sheet, canvas: &Canvas<'_>, plan: &SurvivalPlan) {
    let pen = Pen::new(sheet.tokens.axis, sheet.sizes.axis);
    canvas.part("x-axis");
    canvas.line(&[(plan.left, plan.bottom), (plan.right, plan.bottom)], pen);
    for turn in plan.axis.ticks(sheet.sizes.tick_font) {
        let x = plan.axis.x(f64::from(turn));
        canvas.line(&[(x, plan.bottom), (x, plan.bottom + sheet.sizes.tick)], pen);
        let place = (x, sheet.tick_base(plan.bottom));
        sheet.centered(canvas, &turn.to_string(), place, sheet.sizes.tick_font, sheet.tokens.label);
    }
    sheet.name_below(canvas, f64::midpoint(plan.left, plan.right), plan.bottom, "Turn");
}

fn draw_rules(sheet: &Sheet, canvas: &Canvas<'_>, plan: &SurvivalPlan, y: &ValueAxis, tau: Option<u32>) {
    let pen = Pen::new(sheet.tokens.rule, sheet.sizes.rule);
    canvas.part("half");
    canvas.dashed(&[(plan.left, y.position(0.5)), (plan.right, y.position(0.5))], pen, "2 3");
    let Some(tau) = tau.filter(|t| (1..=plan.axis.turns).contains(t)) else { return };
    canvas.part("tau");
    let x = plan.axis.x(f64::from(tau));
    canvas.dashed(&[(x, plan.top), (x, plan.bottom)], pen, "2 3");
    let size = sheet.sizes.tick_font;
    sheet.centered(canvas, &format!("τ = {tau}"), (x, plan.top - 0.4 * size), size, sheet.tokens.muted);
}

fn draw_bands(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    data: &SurvivalComparison,
    plan: &SurvivalPlan,
    y: &ValueAxis,
    lines: &[Line<'_>],
) {
    let has_band = |line: &&Line<'_>| wants_band(data, line.index);
    let place = |p: &(f64, f64)| (plan.axis.x(p.0), y.position(p.1));
    for line in lines.iter().filter(has_band) {
        draw_band(sheet, canvas, line, place);
    }
}

/// Draws the band of a curve, if it has one, or the whisker that stands for it. `place` maps turn and share to a place.
fn draw_band(sheet: &Sheet, canvas: &Canvas<'_>, line: &Line<'_>, place: impl Fn(&(f64, f64)) -> (f64, f64)) {
    if let Some(ends) = line.curve.whisker() {
        canvas.part(&format!("band-{}", line.index));
        // Beside the step of the curve, which would cover it, and beside that of another run.
        let mark = sheet.sizes.mark;
        let beside = (2.5 + 2.0 * (line.index % 3) as f64) * mark;
        let ends = ends.map(|end| place(&end)).map(|(x, y)| (x - beside, y));
        canvas.whisker(ends, 0.7 * mark, Pen::new(line.style.color, sheet.sizes.censor));
    }
    let Some([upper, lower]) = line.curve.band() else { return };
    canvas.part(&format!("band-{}", line.index));
    let (upper, lower): (Vec<_>, Vec<_>) =
        (upper.iter().map(&place).collect(), lower.iter().map(&place).collect());
    let outline: Vec<(f64, f64)> = upper.iter().chain(lower.iter().rev()).copied().collect();
    canvas.shape(&outline, line.style.color, sheet.tokens.band_opacity);
    let thin = Pen::new(line.style.color, sheet.sizes.edge).opacity(0.7);
    canvas.line(&upper, thin);
    canvas.line(&lower, thin);
}

/// Draws a tick for each turn of a curve after which episodes were censored.
fn draw_censored(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    line: &Line<'_>,
    place: impl Fn(&(f64, f64)) -> (f64, f64),
) {
    let sizes = &sheet.sizes;
    let censored = || line.curve.points.iter().filter(|p| p.censored > 0);
    let half = if censored().count() > 15 { 2.0 } else { 1.1 * sizes.mark };
    for point in censored() {
        let (x, y) = place(&(f64::from(point.turn), point.survival));
        canvas.line(&[(x, y - half), (x, y + half)], Pen::new(line.style.color, sizes.censor));
    }
}

fn draw_curves(sheet: &Sheet, canvas: &Canvas<'_>, plan: &SurvivalPlan, y: &ValueAxis, lines: &[Line<'_>]) {
    let sizes = &sheet.sizes;
    let in_front: Vec<&Line<'_>> = lines.iter().filter(|l| !l.style.muted).collect();
    // The background first, and the first series on top of the others.
    let behind = lines.iter().filter(|l| l.style.muted);
    for line in behind.chain(in_front.iter().rev().copied()) {
        if line.curve.known == 0 {
            continue;
        }
        canvas.part(&format!("curve-{}", line.index));
        let steps: Vec<(f64, f64)> =
            line.curve.steps(|p| p.survival).iter().map(|p| (plan.axis.x(p.0), y.position(p.1))).collect();
        line.style.line(canvas, &steps, sizes);
    }
    // Each series has markers at other turns, so that markers of equal curves do not cover each other.
    let apart = 5.5 * 2.0 * sizes.mark / plan.axis.px_per_turn;
    let every = (apart.ceil() as u32).max(if in_front.len() > 1 && plan.axis.turns > 4 { 2 } else { 1 });
    for (k, line) in in_front.iter().enumerate().rev() {
        let first = 1 + (k as u32 * every) / in_front.len() as u32;
        canvas.part(&format!("marks-{}", line.index));
        draw_censored(sheet, canvas, line, |p| (plan.axis.x(p.0), y.position(p.1)));
        for turn in (first..=line.curve.known).step_by(every as usize) {
            let place = (plan.axis.x(f64::from(turn)), y.position(line.curve.value_at(turn)));
            line.style.marker(canvas, place, 0.85 * sizes.mark);
        }
    }
    // Markers of the background are side by side on the first two steps of their curves, because most of them end there.
    let behind: Vec<&Line<'_>> = lines.iter().filter(|l| l.style.muted && l.curve.known > 0).collect();
    for (k, line) in behind.iter().enumerate() {
        canvas.part(&format!("marks-{}", line.index));
        let share = (k as f64 + 1.0) / (behind.len() as f64 + 1.0);
        for turn in 1..=line.curve.known.min(2) {
            let height = line.curve.value_at(turn);
            // At 0, all markers would overlap.
            if height > 0.0 || turn == 1 {
                let beyond = if height > 0.0 && turn < line.curve.known { share } else { 0.0 };
                let place = (plan.axis.x(f64::from(turn) + beyond), y.position(height));
                line.style.marker(canvas, place, 0.85 * sizes.mark);
            }
        }
    }
    if lines.iter().all(|l| l.curve.known == 0) {
        let place = (f64::midpoint(plan.left, plan.right), y.position(0.75));
        canvas.part("nothing");
        sheet.centered(canvas, "No turn was observed", place, sizes.name_font, sheet.tokens.muted);
    }
}

/// Names right of the plot, each with a line to the end of its curve.
fn draw_names(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &SurvivalPlan,
    y: &ValueAxis,
    lines: &[Line<'_>],
    room: f64,
) -> Vec<Mark> {
    let sizes = &sheet.sizes;
    let size = sizes.name_font;
    let ends: Vec<f64> = lines.iter().map(|l| y.position(l.curve.value_at(l.curve.known))).collect();
    let Some(places) = spread(&ends, 1.2 * size, plan.top - 0.5 * size, plan.bottom + 0.5 * size) else {
        return Vec::new();
    };
    canvas.part("names");
    let left = plan.right + leader(sizes);
    let mut marks = Vec::new();
    let labels: Vec<&SeriesLabel> = lines.iter().map(|line| &line.data.label).collect();
    let texts = shown_all(&labels, room_beside(room, sizes), size);
    for (((line, end), middle), text) in lines.iter().zip(ends).zip(places).zip(texts) {
        let pen = Pen::new(line.style.color, sizes.edge.max(0.5));
        let ends_at = plan.axis.x(f64::from(line.curve.known));
        if ends_at < plan.right - 1.0 {
            canvas.dashed(&[(ends_at + 2.0, end), (plan.right, end)], pen.opacity(0.6), "1 2");
        }
        let bend = leader(sizes) / 3.0;
        canvas.line(
            &[(plan.right + 1.0, end), (plan.right + bend, end), (left - bend, middle), (left - 1.5, middle)],
            pen,
        );
        canvas.text(&text, (left, middle + 0.35 * size), Anchor::Start, size, line.style.text);
        let area = Area::from_text_line((left, middle + 0.35 * size), crate::text_width(&text, size), size);
        marks.push(series_mark("name", line, area));
    }
    marks
}

fn draw_under(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    data: &SurvivalComparison,
    plan: &SurvivalPlan,
    lines: &[Line<'_>],
) -> Vec<Mark> {
    if lines.is_empty() {
        return Vec::new();
    }
    if !data.at_risk {
        if plan.beside.is_none() {
            let entries: Vec<_> = lines.iter().map(|l| (&l.data.label, l.style)).collect();
            let areas = legend::draw(sheet, canvas, plan.under, &entries);
            return lines.iter().zip(areas).map(|(line, area)| series_mark("row", line, area)).collect();
        }
        return Vec::new();
    }
    // A number under each tick. Under 0, the number of episodes.
    let turns = plan.axis.ticks(sheet.sizes.tick_font).into_iter();
    let columns: Vec<(u32, f64)> = turns.map(|t| (t, plan.axis.x(f64::from(t)))).collect();
    let rows: Vec<at_risk::Row<'_>> = lines
        .iter()
        .enumerate()
        .map(|(i, line)| at_risk::Row {
            label: &line.data.label,
            style: line.style,
            points: &line.data.points,
            extras: plan.extras.iter().map(|extra| extra.texts[i].as_str()).collect(),
        })
        .collect();
    let mut right = sheet.width - PAD;
    let mut extras: Vec<(f64, &str)> = Vec::new();
    for extra in plan.extras.iter().rev() {
        let room = extra.width + extra_gap(sheet.sizes.tick_font);
        let head = if sheet.tick_width(extra.head) > room { extra.short } else { extra.head };
        extras.insert(0, (right, head));
        right -= room;
    }
    let place =
        at_risk::Place { top: plan.under, names_right: plan.names_right, columns: &columns, extras: &extras };
    let lines_each = at_risk::lines_of_row(plan.names_right.is_none());
    let height = lines_each as f64 * at_risk::row_height(&sheet.sizes);
    let tops = at_risk::draw(sheet, canvas, &place, &rows);
    let area = |top: f64| Area { left: PAD, top, right: sheet.width - PAD, bottom: top + height };
    lines.iter().zip(tops).map(|(line, top)| series_mark("row", line, area(top))).collect()
}
