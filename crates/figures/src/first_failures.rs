//! At which turn episodes failed first, and after which they were censored.
//!
//! Events are solid bars, censorings thin ones on the same scale. They are never stacked: where a turn has both, they
//! stand side by side.

use analysis::survival::SurvivalPoint;

use crate::font::text_width;
use crate::frame::{Frame, Room};
use crate::marks::{Anchor, Canvas};
use crate::spec::{Layout, RunData};
use crate::svg::{Document, Outside};
use crate::theme::{Theme, Tokens};
use crate::words;
use crate::{Drawing, Hit};

const ROOM: Room =
    Room { screen_top: 18.0, screen_bottom: 8.0, print_top: 22.0, print_bottom: 0.0, widest_y: "" };

/// Width of the widest bar, and of a thin one.
const WIDEST: f64 = 28.0;
const THIN: f64 = 2.0;
/// Between a bar's end and its label's base line.
const LABEL_GAP: f64 = 3.0;

pub(crate) fn draw(data: &RunData, layout: &Layout, theme: Theme) -> Drawing {
    let frame = Frame::of(layout, ROOM);
    let tokens = theme.tokens();
    let points: Vec<&SurvivalPoint> =
        data.points.iter().filter(|p| (1..=frame.axis.turns).contains(&p.turn)).collect();
    let most = points.iter().map(|p| p.events.max(p.censored)).max().unwrap_or(0);
    let bars: Vec<Bar> = points.iter().flat_map(|p| bars_of(&frame, p, most)).collect();
    let mut document = Document::default();
    {
        let canvas = Canvas::new(&mut document, frame.width, frame.height);
        if theme == Theme::Print {
            canvas.part("paper");
            canvas.bar((0.0, 0.0), (frame.width, frame.height), tokens.paper);
        }
        canvas.part("events");
        for bar in bars.iter().filter(|b| b.event) {
            canvas.bar((bar.left, bar.top), (bar.right, frame.bottom), tokens.series);
        }
        canvas.part("censored");
        for bar in bars.iter().filter(|b| !b.event) {
            canvas.bar((bar.left, bar.top), (bar.right, frame.bottom), tokens.censored);
        }
        // Over the bars' feet, so that the line is whole.
        frame.draw_turn_axis(&canvas, tokens, frame.print, "Turn of first failure");
        canvas.part("counts");
        for label in labels(&frame, &bars) {
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
        if frame.print {
            draw_legend(&frame, &canvas, tokens);
        }
    }
    let summary = words::first_failures_summary(data, frame.axis.turns);
    let svg = document.finish(&Outside {
        width: frame.width,
        height: frame.height,
        print: frame.print,
        kind: "first-failures",
        title: "Turn of first failure",
        summary: &summary,
    });
    let hits = points
        .iter()
        .map(|p| {
            let (x0, x1) = frame.axis.column(p.turn);
            let y = bars_of(&frame, p, most).iter().map(|b| b.top).fold(frame.bottom, f64::min);
            Hit { turn: p.turn, x0, x1, y, lines: words::first_failure_lines(p) }
        })
        .collect();
    let ticks = frame.axis.ticks(frame.sizes.tick_font);
    Drawing { svg, width: frame.width, height: frame.height, hits, ticks, summary }
}

#[derive(Debug, Clone, Copy)]
struct Bar {
    left: f64,
    right: f64,
    top: f64,
    count: u32,
    event: bool,
}

/// The bars of one turn: none, one in the middle of its column, or two side by side in the same room.
fn bars_of(frame: &Frame, point: &SurvivalPoint, most: u32) -> Vec<Bar> {
    let middle = frame.axis.x(f64::from(point.turn));
    let column = frame.axis.px_per_turn;
    let margin = if column >= 16.0 { 8.0 } else { (0.1 * column).max(0.5).min(0.3 * column).ceil().min(1.0) };
    let width = (column - margin).clamp(0.5 * column, WIDEST);
    let thin = THIN.min(width / 2.0);
    let (left, right) = (middle - width / 2.0, middle + width / 2.0);
    let top =
        |count: u32| frame.bottom - (frame.bottom - frame.top) * f64::from(count) / f64::from(most.max(1));
    let bar = |left, right, count, event| Bar { left, right, top: top(count), count, event };
    match (point.events, point.censored) {
        (0, 0) => vec![],
        (events, 0) => vec![bar(left, right, events, true)],
        (0, censored) => vec![bar(middle - thin / 2.0, middle + thin / 2.0, censored, false)],
        (events, censored) => {
            let gap = (0.2 * width).min(3.0);
            vec![bar(left, right - thin - gap, events, true), bar(right - thin, right, censored, false)]
        }
    }
}

struct Label {
    x: f64,
    base: f64,
    half: f64,
    text: String,
    event: bool,
}

/// Counts above bars, the largest first, as far as they stay clear of bars and of each other. Where columns are too
/// narrow for all of them, ones are left out unless nothing is higher.
fn labels(frame: &Frame, bars: &[Bar]) -> Vec<Label> {
    let size = frame.sizes.tick_font;
    let highest = bars.iter().map(|b| b.count).max().unwrap_or(0);
    let all_fit = frame.axis.px_per_turn >= text_width(&words::count(highest), size) + 4.0;
    let mut wanted: Vec<&Bar> = bars.iter().filter(|b| all_fit || b.count > 1).collect();
    if wanted.is_empty() {
        wanted.extend(bars.first());
    }
    wanted.sort_by_key(|b| std::cmp::Reverse(b.count));
    let mut placed: Vec<Label> = Vec::new();
    for bar in wanted {
        let text = words::count(bar.count);
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

/// In print the figure says itself what its bars are.
fn draw_legend(frame: &Frame, canvas: &Canvas<'_>, tokens: &Tokens) {
    let size = frame.sizes.tick_font;
    let base = size;
    canvas.part("legend");
    let mut right = frame.axis.right();
    for (label, width, color) in [("censored", THIN, tokens.censored), ("failed", 7.0, tokens.series)] {
        canvas.text(label, (right, base), Anchor::End, size, tokens.label);
        let mark = right - text_width(label, size) - 3.0;
        canvas.bar((mark - width, base - 6.0), (mark, base + 0.5), color);
        right = mark - width - 10.0;
    }
}
