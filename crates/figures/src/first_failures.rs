//! The turns of first failures, and the turns after which episodes were censored.
//!
//! Events are solid bars, censorings are thin bars on the same scale. They are never stacked. If a turn has both, they are
//! side by side.

use analysis::survival::SurvivalPoint;

use crate::curve::last_turn;
use crate::font::text_width;
use crate::frame::{Frame, Margins, Sizes};
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::scene::{Scene, hundredths};
use crate::spec::{Layout, RunData};
use crate::summary_text;
use crate::svg::{self, SvgHead};
use crate::theme::{Theme, Tokens};
use crate::{Drawing, Hit};

const MARGINS: Margins =
    Margins { screen_top: 18.0, screen_bottom: 8.0, free_top: 22.0 / 7.0, free_bottom: 0.0, widest_y: "" };
/// Most ticks of the axis of counts, because a track of the run page is low.
const COUNTS: usize = 3;

/// Width of the widest bar, and of a thin one.
const WIDEST: f64 = 28.0;
const THIN: f64 = 2.0;
/// Distance between the end of a bar and the base line of its label.
const LABEL_GAP: f64 = 3.0;

pub(crate) fn draw(data: &RunData, layout: &Layout, theme: Theme) -> Drawing {
    let most = data.points.iter().map(|p| p.events.max(p.censored)).max().unwrap_or(0);
    let counts = |places| ValueAxis::from_highest_bar(most, places, COUNTS);
    let widest_y = match counts([0.0, 1.0]).ticks.iter().map(|(_, label)| label.len()).max() {
        Some(..=1) | None => "0",
        Some(2) => "00",
        Some(3) => "000",
        Some(_) => "00,000",
    };
    let frame = Frame::from_layout(layout, Margins { widest_y, ..MARGINS }, last_turn(&data.points));
    let tokens = theme.tokens();
    let points: Vec<&SurvivalPoint> =
        data.points.iter().filter(|p| (1..=frame.axis.turns).contains(&p.turn)).collect();
    let scale = counts([frame.bottom, frame.top]);
    let top = |count: u32| scale.position(f64::from(count));
    let widths = Widths::from_column(
        frame.axis.px_per_turn,
        points.iter().filter(|p| p.events > 0 && p.censored > 0).count(),
    );
    let bars: Vec<Bar> =
        points.iter().flat_map(|p| widths.bars(frame.axis.x(f64::from(p.turn)), p, top)).collect();
    let mut scene = Scene::default();
    {
        let canvas = Canvas::new(&mut scene, frame.width, frame.height);
        if theme.has_paper() {
            canvas.part("paper");
            canvas.bar((0.0, 0.0), (frame.width, frame.height), tokens.paper);
        }
        if most > 0 {
            draw_counts(&frame, &canvas, tokens, &scale, widest_y);
        }
        canvas.part("events");
        for bar in bars.iter().filter(|b| b.event) {
            canvas.bar((bar.left, bar.top), (bar.right, frame.bottom), tokens.series[0]);
        }
        canvas.part("censored");
        for bar in bars.iter().filter(|b| !b.event) {
            canvas.bar((bar.left, bar.top), (bar.right, frame.bottom), tokens.censored);
        }
        // Drawn over the lower ends of bars, so that the line is complete.
        frame.draw_turn_axis(&canvas, tokens, frame.free, "Turn of first failure");
        canvas.part("counts");
        for label in labels(frame.sizes.tick_font, frame.axis.px_per_turn, &bars) {
            let color = if label.event { tokens.label } else { tokens.muted };
            canvas.text(&label.text, (label.x, label.base), Anchor::Middle, frame.sizes.tick_font, color);
        }
        if most == 0 {
            let middle = f64::midpoint(frame.axis.x(0.0), frame.axis.right());
            let y = f64::midpoint(frame.top, frame.bottom);
            canvas.text(
                "No turn was observed",
                (middle, y),
                Anchor::Middle,
                frame.sizes.name_font,
                tokens.muted,
            );
        }
        if frame.free {
            draw_legend(&frame, &canvas, tokens);
        }
    }
    let summary = summary_text::first_failures_summary(data, frame.axis.turns);
    let head = SvgHead {
        width: frame.width,
        height: frame.height,
        print: frame.print,
        kind: "first-failures",
        title: "Turn of first failure",
        summary: &summary,
    };
    let svg = svg::write(&scene, &head);
    let hits = points
        .iter()
        .map(|p| {
            let (x0, x1) = frame.axis.column(p.turn);
            let y = hundredths(top(p.events.max(p.censored)));
            Hit { turn: p.turn, x0, x1, y, lines: summary_text::first_failure_lines(p) }
        })
        .collect();
    let ticks = frame.axis.ticks(frame.sizes.tick_font);
    Drawing { svg, scene, width: frame.width, height: frame.height, hits, marks: Vec::new(), ticks, summary }
}

/// The axis of counts, left of turn 1.
fn draw_counts(frame: &Frame, canvas: &Canvas<'_>, tokens: &Tokens, scale: &ValueAxis, widest: &str) {
    let Sizes { tick_font, name_font, axis, tick, gap, .. } = frame.sizes;
    let pen = Pen::new(tokens.axis, axis);
    let left = frame.axis.x(0.0);
    canvas.part("y-axis");
    canvas.line(&[(left, frame.top), (left, frame.bottom)], pen);
    for (value, label) in &scale.ticks {
        let y = scale.position(*value);
        canvas.line(&[(left - tick, y), (left, y)], pen);
        let base = y + (0.35 * tick_font).round();
        canvas.text(label, (left - tick - gap, base), Anchor::End, tick_font, tokens.label);
    }
    if frame.free {
        let x = left - tick - gap - text_width(widest, tick_font) - 4.0;
        let middle = f64::midpoint(frame.top, frame.bottom);
        canvas.upright("Episodes", (x, middle), name_font, tokens.label);
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bar {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    count: u32,
    pub(crate) event: bool,
}

/// The widths of bars in all columns of a figure.
pub(crate) struct Widths {
    /// Of the bar of an event, alone in its column and beside a thin one.
    wide: [f64; 2],
    /// Of the bar of a censoring, alone in its column and beside a wide one.
    thin: [f64; 2],
    gap: f64,
}

impl Widths {
    /// A wide bar is always in the middle of its column. A thin bar beside it is in the free space at the right. Narrow columns
    /// have no such space, so the wide bar gets narrower (in all columns, if many turns have both).
    pub(crate) fn from_column(column: f64, turns_with_both: usize) -> Self {
        if column >= 12.0 {
            let wide = (column - (0.4 * column).min(8.0)).min(WIDEST);
            let side = (column - wide) / 2.0;
            let gap = if side > 6.0 { 3.0 } else { 1.0 };
            return Self { wide: [wide; 2], thin: [THIN, THIN.min(side - 1.0)], gap };
        }
        let alone = (column - 1.0).max(0.75 * column);
        let (thin, gap) = (THIN.min(0.2 * alone), 0.1 * alone);
        let beside = alone - 2.0 * (thin + gap);
        let wide = [if turns_with_both > 3 { beside } else { alone }, beside];
        Self { wide, thin: [THIN.min(0.4 * alone), thin], gap }
    }

    /// The bars of a turn around `middle`.
    pub(crate) fn bars(&self, middle: f64, point: &SurvivalPoint, top: impl Fn(u32) -> f64) -> Vec<Bar> {
        let both = usize::from(point.events > 0 && point.censored > 0);
        let (wide, thin) = (self.wide[both], self.thin[both]);
        let thin_at = if both == 1 { middle + wide / 2.0 + self.gap } else { middle - thin / 2.0 };
        let bar =
            |left, width, count, event| Bar { left, right: left + width, top: top(count), count, event };
        [bar(middle - wide / 2.0, wide, point.events, true), bar(thin_at, thin, point.censored, false)]
            .into_iter()
            .filter(|b| b.count > 0)
            .collect()
    }
}

/// A count above a bar.
pub(crate) struct Label {
    pub(crate) x: f64,
    pub(crate) base: f64,
    half: f64,
    pub(crate) text: String,
    pub(crate) event: bool,
}

/// Counts above bars, if they do not touch bars or each other. If columns are too narrow for all of them, only the highest bar
/// of each kind has its count, which gives the scale.
pub(crate) fn labels(size: f64, px_per_turn: f64, bars: &[Bar]) -> Vec<Label> {
    let highest = bars.iter().map(|b| b.count).max().unwrap_or(0);
    let mut wanted: Vec<&Bar> = bars.iter().collect();
    wanted.sort_by_key(|b| std::cmp::Reverse(b.count));
    // If a column has no room for a digit, only the highest bars have numbers.
    if px_per_turn < text_width(&summary_text::count(highest.min(9)), size) + 4.0 {
        let first = |event| wanted.iter().copied().find(|b| b.event == event);
        wanted = [first(true), first(false)].into_iter().flatten().collect();
    }
    let mut placed: Vec<Label> = Vec::new();
    for bar in wanted {
        let text = summary_text::count(bar.count);
        let half = text_width(&text, size) / 2.0;
        let (x, base) = (f64::midpoint(bar.left, bar.right), bar.top - LABEL_GAP);
        let clear_of = |left: f64, right: f64, top: f64| right < x - half || left > x + half || top > base;
        let clear = bars.iter().all(|b| clear_of(b.left - 1.0, b.right + 1.0, b.top))
            && placed.iter().all(|l| {
                clear_of(l.x - l.half - 2.0, l.x + l.half + 2.0, l.base - size) || l.base < base - size
            });
        if clear {
            placed.push(Label { x, base, half, text, event: bar.event });
        }
    }
    placed
}

/// In print, the figure has a legend of its bars.
fn draw_legend(frame: &Frame, canvas: &Canvas<'_>, tokens: &Tokens) {
    let size = frame.sizes.tick_font;
    let base = size;
    canvas.part("legend");
    let mut right = frame.axis.right();
    for (label, width, color) in [("censored", THIN, tokens.censored), ("failed", 7.0, tokens.series[0])] {
        canvas.text(label, (right, base), Anchor::End, size, tokens.label);
        let mark = right - text_width(label, size) - 3.0;
        canvas.bar((mark - width, base - 6.0), (mark, base + 0.5), color);
        right = mark - width - 10.0;
    }
}
