//! The survival curve: the share that is alive after each turn.

use analysis::survival::SurvivalPoint;

use crate::curve::{Curve, Y_TICKS, last_turn};
use crate::font::text_width;
use crate::frame::{Frame, Margins, Sizes};
use crate::marks::{Anchor, Canvas, Pen, Plot};
use crate::scene::{Scene, hundredths};
use crate::spec::{Layout, RunData};
use crate::summary_text;
use crate::svg::{self, SvgHead};
use crate::theme::{Theme, Tokens};
use crate::{Drawing, Hit};

/// On the screen, the at-risk row is another track. In print, it belongs to the figure.
const MARGINS: Margins = Margins {
    screen_top: 10.0,
    screen_bottom: 24.0,
    free_top: 5.0 / 7.0,
    free_bottom: 2.0,
    widest_y: "0.25",
};

pub(crate) fn draw(data: &RunData, layout: &Layout, theme: Theme) -> Drawing {
    let frame = Frame::from_layout(layout, MARGINS, last_turn(&data.points));
    let tokens = theme.tokens();
    let curve = Curve::from_points(&data.points, frame.axis.turns);
    let mut scene = Scene::default();
    {
        let canvas = Canvas::new(&mut scene, frame.width, frame.height);
        if theme.has_paper() {
            canvas.part("paper");
            canvas.bar((0.0, 0.0), (frame.width, frame.height), tokens.paper);
        }
        let last = f64::from(frame.axis.turns) + 0.5;
        let plot = canvas.plot(
            [(0.0, frame.axis.x(0.0)), (last, frame.axis.right())],
            [(0.0, frame.bottom), (1.0, frame.top)],
        );
        draw_y_axis(&frame, &canvas, tokens);
        frame.draw_turn_axis(&canvas, tokens, true, "Turn");
        draw_rules(&frame, &canvas, &plot, &curve, data.summary.restricted_mean.tau, tokens);
        if curve.known == 0 {
            let middle = f64::midpoint(frame.axis.x(0.0), frame.axis.right());
            let y = frame.top + 0.25 * (frame.bottom - frame.top);
            canvas.part("nothing");
            canvas.text(
                "No turn was observed",
                (middle, y),
                Anchor::Middle,
                frame.sizes.name_font,
                tokens.muted,
            );
        } else {
            draw_curve(&frame, &canvas, &plot, &curve, tokens);
        }
        if frame.free {
            draw_at_risk(&frame, &canvas, &data.points, tokens);
        }
    }
    let summary = summary_text::survival_summary(data, frame.axis.turns);
    let head = SvgHead {
        width: frame.width,
        height: frame.height,
        print: frame.print,
        kind: "survival",
        title: "Survival curve",
        summary: &summary,
    };
    let svg = svg::write(&scene, &head);
    let hits = data
        .points
        .iter()
        .filter(|p| (1..=frame.axis.turns).contains(&p.turn))
        .map(|p| {
            let (x0, x1) = frame.axis.column(p.turn);
            let y = hundredths(y_of(&frame, p.survival));
            Hit { turn: p.turn, x0, x1, y, lines: summary_text::survival_lines(p) }
        })
        .collect();
    let ticks = frame.axis.ticks(frame.sizes.tick_font);
    Drawing { svg, scene, width: frame.width, height: frame.height, hits, marks: Vec::new(), ticks, summary }
}

fn y_of(frame: &Frame, survival: f64) -> f64 {
    frame.top + (1.0 - survival.clamp(0.0, 1.0)) * (frame.bottom - frame.top)
}

fn draw_y_axis(frame: &Frame, canvas: &Canvas<'_>, tokens: &Tokens) {
    let Sizes { tick_font, name_font, axis, tick, gap, .. } = frame.sizes;
    let pen = Pen::new(tokens.axis, axis);
    let left = frame.axis.x(0.0);
    canvas.part("y-axis");
    canvas.line(&[(left, frame.top), (left, frame.bottom)], pen);
    for (value, label) in Y_TICKS {
        let y = y_of(frame, value);
        canvas.line(&[(left - tick, y), (left, y)], pen);
        let base = y + (0.35 * tick_font).round();
        canvas.text(label, (left - tick - gap, base), Anchor::End, tick_font, tokens.label);
    }
    if frame.free {
        let middle = f64::midpoint(frame.top, frame.bottom);
        let x = left - tick - gap - text_width("0.25", tick_font) - 4.0;
        canvas.upright("Share alive", (x, middle), name_font, tokens.label);
    }
}

/// The guide at 0.5 and the rule at τ with its label.
fn draw_rules(
    frame: &Frame,
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    curve: &Curve<'_>,
    tau: Option<u32>,
    tokens: &Tokens,
) {
    let pen = Pen::new(tokens.rule, frame.sizes.rule);
    canvas.part("half");
    plot.dotted(&[(0.0, 0.5), (f64::from(frame.axis.turns) + 0.5, 0.5)], pen);
    let Some(tau) = tau.filter(|tau| (1..=frame.axis.turns).contains(tau)) else { return };
    canvas.part("tau");
    plot.dotted(&[(f64::from(tau), 1.0), (f64::from(tau), 0.0)], pen);
    let (label, size) = (format!("τ = {tau}"), frame.sizes.tick_font);
    let (width, x) = (text_width(&label, size), frame.axis.x(f64::from(tau)));
    if x + 4.0 + width <= frame.width {
        canvas.text(&label, (x + 4.0, frame.top + 8.0), Anchor::Start, size, tokens.muted);
    } else if let Some(base) = free_base_line(frame, curve, x - 4.0 - width, x - 4.0, size) {
        canvas.text(&label, (x - 4.0, base), Anchor::End, size, tokens.muted);
    }
}

/// The highest base line at which a text from `left` to `right` touches neither curve nor band.
fn free_base_line(frame: &Frame, curve: &Curve<'_>, left: f64, right: f64, size: f64) -> Option<f64> {
    let mut lines = vec![curve.steps(|p| p.survival)];
    lines.extend(curve.band().into_iter().flatten());
    lines.extend(curve.whisker().map(|ends| ends.to_vec()));
    let is_free = |base: f64| {
        let (above, below) = (base - 0.9 * size, base + 0.3 * size);
        lines.iter().flat_map(|line| line.windows(2)).all(|ends| {
            let (left_end, right_end) = (frame.axis.x(ends[0].0), frame.axis.x(ends[1].0));
            let (y0, y1) = (y_of(frame, ends[0].1), y_of(frame, ends[1].1));
            right_end < left || left_end > right || y0.max(y1) < above || y0.min(y1) > below
        })
    };
    let highest = frame.top + 8.0;
    let choices = ((frame.bottom - 4.0 - highest) / 2.0).max(0.0) as u32;
    (0..choices).map(|i| highest + f64::from(i) * 2.0).find(|base| is_free(*base))
}

fn draw_curve(frame: &Frame, canvas: &Canvas<'_>, plot: &Plot<'_>, curve: &Curve<'_>, tokens: &Tokens) {
    let Sizes { curve: line_width, edge, censor, .. } = frame.sizes;
    if let Some([upper, lower]) = curve.band() {
        canvas.part("band");
        let outline: Vec<(f64, f64)> = upper.iter().chain(lower.iter().rev()).copied().collect();
        plot.fill(&outline, tokens.series[0], tokens.band_opacity);
        let thin = Pen::new(tokens.series[0], edge).opacity(0.7);
        plot.line(&upper, thin);
        // The left end of the band is drawn with its lower edge, unless the step of the curve covers it.
        let left: Vec<(f64, f64)> = upper.first().copied().into_iter().chain(lower).collect();
        plot.line(&left, thin);
    } else if let Some(ends) = curve.whisker() {
        canvas.part("band");
        // Beside the step of the curve, which would cover it.
        let (beside, cap) = if frame.print { (4.0, 1.5) } else { (7.0, 3.0) };
        let ends = ends.map(|(turn, share)| (frame.axis.x(turn) - beside, y_of(frame, share)));
        canvas.whisker(ends, cap, Pen::new(tokens.series[0], censor));
    }
    canvas.part("curve");
    plot.line(&curve.steps(|p| p.survival), Pen::new(tokens.series[0], line_width));
    canvas.part("censored");
    let censored: Vec<&SurvivalPoint> = curve.points.iter().filter(|p| p.censored > 0).collect();
    // Many long ticks would hide the curve.
    let half = if frame.print || censored.len() > 15 { 2.5 } else { 4.0 };
    for point in censored {
        let (x, y) = (frame.axis.x(f64::from(point.turn)), y_of(frame, point.survival));
        canvas.line(&[(x, y - half), (x, y + half)], Pen::new(tokens.series[0], censor));
    }
}

/// Numbers at risk under the labeled turns, and under turn 1 if turn 0 is labeled and there is room.
fn draw_at_risk(frame: &Frame, canvas: &Canvas<'_>, points: &[SurvivalPoint], tokens: &Tokens) {
    let Sizes { tick_font, .. } = frame.sizes;
    let base = frame.height - 2.0;
    canvas.part("at-risk");
    canvas.text("At risk", (1.0, base), Anchor::Start, tick_font, tokens.label);
    let mut free_from = 1.0 + text_width("At risk", tick_font) + 3.0;
    let mut turns = frame.axis.ticks(tick_font);
    turns[0] = 1;
    turns.dedup();
    for turn in turns {
        let Some(point) = points.iter().find(|p| p.turn == turn) else { continue };
        let (text, x) = (summary_text::count(point.at_risk), frame.axis.x(f64::from(turn)));
        let half = text_width(&text, tick_font) / 2.0;
        if x - half >= free_from {
            canvas.text(&text, (x, base), Anchor::Middle, tick_font, tokens.label);
            free_from = x + half + 3.0;
        }
    }
}
