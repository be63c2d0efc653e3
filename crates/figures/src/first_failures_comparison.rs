//! First failures of several runs: small multiples on one turn axis and one scale.

use analysis::survival::SurvivalPoint;

use crate::axis::TurnAxis;
use crate::curve::last_turn_shown;
use crate::display_names::{full_name, natural_width, shown_each};
use crate::first_failures::{Bar, Widths, labels};
use crate::labels::Area;
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{FirstFailuresComparison, Layout, SeriesData, SeriesLabel};
use crate::summary_text::{count, counted};
use crate::theme::Theme;
use crate::{Drawing, Mark};

/// Ticks of the axis of counts.
const MOST_TICKS: usize = 4;

struct FirstFailuresPlan {
    styles: Vec<Style>,
    across: usize,
    /// Room for the axis of counts at the left.
    left: f64,
    panel_width: f64,
    gap: f64,
    /// Height of a panel with its title.
    panel: f64,
    title: f64,
    legend: f64,
    turns: u32,
    most: u32,
    /// Names over the panels, and the size of their letters.
    names: Vec<String>,
    name_size: f64,
    /// Whether the counts are below a name, and not right of it.
    is_below: bool,
    height: f64,
}

pub(crate) fn draw(data: &FirstFailuresComparison, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let plan = plan(data, &sheet);
    let drawing_names = DrawingNames {
        kind: "first-failures-comparison",
        title: "Turns of first failure",
        summary: summary(data, plan.turns),
    };
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        draw_legend(&sheet, canvas, &plan);
        for (i, series) in data.series.iter().enumerate() {
            let named = i + plan.across >= data.series.len();
            marks.extend(draw_panel(&sheet, canvas, &plan, i, series, named));
        }
        let base = plan.height - PAD - 0.25 * sheet.sizes.name_font;
        canvas.part("x-name");
        let place = (sheet.width / 2.0, base);
        sheet.centered(canvas, "Turn of first failure", place, sheet.sizes.name_font, sheet.tokens.label);
    });
    drawing.marks = marks;
    drawing
}

fn shown_points(series: &SeriesData, turns: u32) -> Vec<&SurvivalPoint> {
    series.points.iter().filter(|p| (1..=turns).contains(&p.turn)).collect()
}

fn plan(data: &FirstFailuresComparison, sheet: &Sheet) -> FirstFailuresPlan {
    let size = sheet.sizes.tick_font;
    let turns = sheet.turns_for(last_turn_shown(data.series.iter().map(|s| s.points.as_slice())));
    let most =
        data.series.iter().flat_map(|s| shown_points(s, turns)).map(|p| p.events.max(p.censored)).max();
    let gap = 1.6 * size;
    let least = 16.0 * size;
    let count = data.series.len().max(1);
    let across = (((sheet.width - 2.0 * PAD + gap) / (least + gap)) as usize).clamp(1, count.min(4));
    // Rows are as even as possible: four panels are two by two and not three and one.
    let rows = count.div_ceil(across);
    let across = count.div_ceil(rows);
    // One scale of counts for all panels. Its axis is at the panels of the left.
    let most = most.unwrap_or(0);
    let ticks = (2..=MOST_TICKS).map(|ticks| sheet.beside_ticks(&counts(most, [0.0, 1.0], ticks)));
    let left = PAD + ticks.fold(0.0, f64::max);
    let panel_width = (sheet.width - PAD - left - gap * (across - 1) as f64) / across as f64;
    // A name without room beside its numbers is over them, in smaller letters if needed.
    let name_font = sheet.sizes.name_font;
    let room = |s: &SeriesData, is_below: bool| {
        let beside = if is_below { 0.0 } else { sheet.tick_width(&numbers(s)) + size };
        panel_width - beside - marker_room(sheet)
    };
    let forms = [(false, name_font), (true, name_font), (true, size)];
    let fits = |(is_below, name_size): (bool, f64)| {
        data.series.iter().all(|s| natural_width(&s.label, name_size) <= room(s, is_below))
    };
    let (is_below, name_size) = forms.into_iter().find(|form| fits(*form)).unwrap_or(forms[2]);
    let rooms: Vec<f64> = data.series.iter().map(|s| room(s, is_below)).collect();
    let title = 1.5 * name_font + if is_below { 1.3 * size } else { 0.0 };
    let legend = 1.6 * size;
    let axis_room = sheet.below(false) + 0.4 * size;
    let rest = legend + sheet.sizes.name_font + 4.0;
    let plot = 6.5 * size;
    let natural = title + plot + axis_room;
    let least = title + 3.5 * size + axis_room;
    let panel = sheet.height.map_or(natural, |h| ((h - rest) / rows as f64).max(least));
    let height = rest + panel * rows as f64 + PAD;
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|s| &s.label).collect();
    let names = shown_each(&labels, &rooms, name_size);
    FirstFailuresPlan {
        styles: Style::from_labels(&labels, sheet.tokens),
        across,
        left,
        panel_width,
        gap,
        panel,
        title,
        legend,
        turns,
        most,
        names,
        name_size,
        is_below,
        height,
    }
}

/// An axis of counts from 0 to at least `most`, with at most `ticks` ticks.
fn counts(most: u32, places: [f64; 2], ticks: usize) -> ValueAxis {
    ValueAxis::from_highest_bar(most, places, ticks)
}

/// The counts right of a name or below it.
fn numbers(series: &SeriesData) -> String {
    format!("{} of {} failed", count(series.summary.events), count(series.summary.n))
}

/// Half of the marker of a panel.
fn half_marker(sheet: &Sheet) -> f64 {
    0.9 * sheet.sizes.mark
}

/// Width of the marker left of a name.
fn marker_room(sheet: &Sheet) -> f64 {
    2.0 * half_marker(sheet) + 0.5 * sheet.sizes.tick_font
}

/// Colors of the sample of a bar: those of the first runs, each once.
const MOST_COLORS: usize = 3;

fn draw_legend(sheet: &Sheet, canvas: &Canvas<'_>, plan: &FirstFailuresPlan) {
    let size = sheet.sizes.tick_font;
    canvas.part("legend");
    let mut colors = Vec::new();
    for color in plan.styles.iter().map(|style| style.color) {
        if !colors.contains(&color) && colors.len() < MOST_COLORS {
            colors.push(color);
        }
    }
    let mut right = sheet.width - PAD;
    for (label, width, colors) in [("censored", 2.0, vec![sheet.tokens.censored]), ("failed", size, colors)] {
        canvas.text(label, (right, size), Anchor::End, size, sheet.tokens.muted);
        let mark = right - sheet.tick_width(label) - 0.4 * size;
        let part = width / colors.len().max(1) as f64;
        for (i, color) in colors.iter().enumerate() {
            let left = mark - width + i as f64 * part;
            canvas.bar((left, 0.2 * size), (left + part, size), *color);
        }
        right = mark - width - 1.2 * size;
    }
}

fn draw_panel(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &FirstFailuresPlan,
    i: usize,
    series: &SeriesData,
    labeled: bool,
) -> Vec<Mark> {
    let sizes = &sheet.sizes;
    let (size, name_size) = (sizes.tick_font, plan.name_size);
    let left = plan.left + (i % plan.across) as f64 * (plan.panel_width + plan.gap);
    let top = plan.legend + (i / plan.across) as f64 * plan.panel;
    let right = left + plan.panel_width;
    let style = plan.styles[i];
    canvas.part(&format!("panel-{i}"));
    let half_marker = half_marker(sheet);
    style.marker(canvas, (left + half_marker, top + 0.75 * name_size), half_marker);
    let name_left = left + marker_room(sheet);
    canvas.text(&plan.names[i], (name_left, top + 1.05 * name_size), Anchor::Start, name_size, style.text);
    if plan.is_below {
        let base = top + 1.05 * sizes.name_font + 1.2 * size;
        canvas.text(&numbers(series), (name_left, base), Anchor::Start, size, sheet.tokens.muted);
    } else {
        let base = top + 1.05 * name_size;
        canvas.text(&numbers(series), (right, base), Anchor::End, size, sheet.tokens.muted);
    }
    let bottom = top + plan.panel - sheet.below(false) - 0.4 * size;
    // Room for the count above the highest bar.
    let highest = top + plan.title + 1.2 * size;
    // Counts above the first and the last bar, and turns below them, may be wider than their columns.
    let edge = sheet.tick_width(&count(plan.most.max(plan.turns))) / 2.0;
    let px_per_turn = (plan.panel_width - 2.0 * edge) / (f64::from(plan.turns) + 0.5);
    let axis = TurnAxis { plot_left: left + edge + px_per_turn / 2.0, px_per_turn, turns: plan.turns };
    let points = shown_points(series, plan.turns);
    let ticks = ((bottom - highest) / (1.6 * size)) as usize;
    let scale = counts(plan.most, [bottom, highest], ticks.clamp(2, MOST_TICKS));
    if i.is_multiple_of(plan.across) {
        sheet.draw_upwards(canvas, &format!("y-axis-{i}"), &scale, left, &["Episodes"]);
        canvas.part(&format!("panel-{i}-bars"));
    }
    let y = |n: u32| scale.position(f64::from(n));
    let both = points.iter().filter(|p| p.events > 0 && p.censored > 0).count();
    let widths = Widths::from_column(px_per_turn, both);
    let bars: Vec<Bar> = points.iter().flat_map(|p| widths.bars(axis.x(f64::from(p.turn)), p, y)).collect();
    for bar in &bars {
        let color = if bar.event { style.color } else { sheet.tokens.censored };
        canvas.bar((bar.left, bar.top), (bar.right, bottom), color);
    }
    for label in labels(size, px_per_turn, &bars) {
        let color = if label.event { sheet.tokens.label } else { sheet.tokens.muted };
        canvas.text(&label.text, (label.x, label.base), Anchor::Middle, size, color);
    }
    if bars.is_empty() {
        let place = (f64::midpoint(left, right), f64::midpoint(highest, bottom));
        canvas.text("No turn was observed", place, Anchor::Middle, size, sheet.tokens.muted);
    }
    let pen = Pen::new(sheet.tokens.axis, sizes.axis);
    canvas.line(&[(left, bottom), (right, bottom)], pen);
    for turn in axis.ticks(size).into_iter().filter(|t| *t > 0) {
        let x = axis.x(f64::from(turn));
        canvas.line(&[(x, bottom), (x, bottom + sizes.tick)], pen);
        if labeled {
            let text = turn.to_string();
            let half = sheet.tick_width(&text) / 2.0;
            let x = x.clamp(left, (sheet.width - PAD - half).max(left));
            canvas.text(&text, (x, sheet.tick_base(bottom)), Anchor::Middle, size, sheet.tokens.label);
        }
    }
    points
        .iter()
        .filter(|p| p.at_risk > 0 || p.events > 0 || p.censored > 0)
        .map(|p| {
            let (x0, x1) = axis.column(p.turn);
            let area = Area { left: x0, top: top + plan.title, right: x1, bottom };
            let mut lines = vec![format!("{}, turn {}", full_name(&series.label), p.turn)];
            lines.extend(crate::summary_text::first_failure_lines(p));
            Mark::new(format!("bar-{i}-{}", p.turn), Some(i), area, lines)
        })
        .collect()
}

fn summary(data: &FirstFailuresComparison, turns: u32) -> String {
    let mut sentences = vec![format!(
        "Turns of first failure of {} over {}.",
        counted(data.series.len() as u32, "run", "runs"),
        counted(turns, "turn", "turns")
    )];
    for series in &data.series {
        let s = &series.summary;
        let most = shown_points(series, turns)
            .into_iter()
            .filter(|p| p.events > 0)
            .max_by_key(|p| (p.events, std::cmp::Reverse(p.turn)));
        let most =
            most.map(|p| format!(", most at turn {} ({})", p.turn, count(p.events))).unwrap_or_default();
        sentences.push(format!(
            "{}: {} of {} failed{most}, {} censored.",
            full_name(&series.label),
            count(s.events),
            counted(s.n, "episode", "episodes"),
            count(s.censored)
        ));
    }
    sentences.join(" ")
}
