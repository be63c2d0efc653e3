//! Mean stamina against cost, with the front of runs that none beats in both.

use crate::bars::{in_unit, with_unit};
use crate::font::text_width;
use crate::labels::Area;
use crate::legend;
use crate::marks::{Anchor, Canvas, Pen};
use crate::names::{said, shown_all};
use crate::notes;
use crate::number::{decimal, interval};
use crate::scale::ValueAxis;
use crate::sheet::{Described, PAD, Sheet};
use crate::spec::{Layout, Pareto, ParetoPoint, Scale, SeriesLabel};
use crate::swatch::Style;
use crate::theme::Theme;
use crate::words::counted;
use crate::{Drawing, Mark};

/// A run that stands in the plot.
struct Dot<'a> {
    index: usize,
    point: &'a ParetoPoint,
    cost: f64,
    mean: f64,
}

struct Plan {
    axes: (ValueAxis, ValueAxis),
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    notes: Vec<String>,
    /// Runs whose names stand under the plot, because there is no room beside their marks.
    listed: Vec<usize>,
    legend_top: f64,
    notes_top: f64,
    height: f64,
}

/// A name beside a mark.
struct Name {
    dot: usize,
    text: String,
    area: Area,
    base: f64,
    leader: Option<[(f64, f64); 2]>,
}

pub(crate) fn draw(data: &Pareto, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::of(layout, theme);
    let dots = dots(data);
    // First with all names in the plot; those that find no place are listed below, which changes the heights.
    let mut plan = plan(data, &sheet, &dots, Vec::new());
    let mut names = names(&sheet, &plan, &dots);
    let homeless: Vec<usize> = (0..dots.len()).filter(|d| names.iter().all(|n| n.dot != *d)).collect();
    if !homeless.is_empty() {
        plan = self::plan(data, &sheet, &dots, homeless.iter().map(|d| dots[*d].index).collect());
        names = self::names(&sheet, &plan, &dots);
        names.retain(|n| !homeless.contains(&n.dot));
    }
    let axes = &plan.axes;
    let described = Described { kind: "pareto", title: "Stamina against cost", summary: summary(data) };
    let y_name =
        data.tau.map_or_else(|| "Mean stamina".to_owned(), |tau| format!("Mean stamina (τ = {tau})"));
    let mut drawing = sheet.draw(plan.height, &described, |canvas| {
        sheet.draw_upwards(canvas, "y-axis", &axes.1, plan.left, &[&y_name, "Mean stamina"]);
        sheet.draw_across(
            canvas,
            "x-axis",
            &axes.0,
            plan.bottom,
            &with_unit(&data.cost, data.unit.as_deref()),
        );
        if dots.is_empty() {
            let at = (f64::midpoint(plan.left, plan.right), f64::midpoint(plan.top, plan.bottom));
            sheet.centred(canvas, "No run has a known cost", at, sheet.sizes.name_font, sheet.tokens.muted);
        }
        draw_front(&sheet, canvas, &plan, axes, &dots);
        draw_dots(&sheet, canvas, axes, &dots);
        draw_names(&sheet, canvas, &dots, &names);
        let entries: Vec<(&SeriesLabel, Style)> = plan
            .listed
            .iter()
            .map(|i| (&data.points[*i].label, Style::of_label(&data.points[*i].label, sheet.tokens)))
            .collect();
        if !entries.is_empty() {
            legend::draw(&sheet, canvas, plan.legend_top, &entries);
        }
        notes::draw(canvas, &plan.notes, (PAD, plan.notes_top), sheet.sizes.tick_font, sheet.tokens.muted);
    });
    drawing.marks = dots
        .iter()
        .map(|dot| {
            let at = (axes.0.at(dot.cost), axes.1.at(dot.mean));
            let area = Area::around(at, 2.5 * sheet.sizes.mark);
            Mark::of(format!("point-{}", dot.index), Some(dot.index), area, said_point(dot.point, data))
        })
        .collect();
    drawing
}

fn dots(data: &Pareto) -> Vec<Dot<'_>> {
    let stands = |cost: &f64| cost.is_finite() && (data.scale == Scale::Linear || *cost > 0.0);
    data.points
        .iter()
        .enumerate()
        .filter_map(|(index, point)| {
            let (cost, mean) = (point.cost.filter(stands)?, point.mean.filter(|m| m.is_finite())?);
            Some(Dot { index, point, cost, mean })
        })
        .collect()
}

/// What stands under the plot because it cannot stand in it.
fn unknown(data: &Pareto) -> String {
    let listed = |what: &str, of: &dyn Fn(&ParetoPoint) -> bool| {
        let names: Vec<String> = data
            .points
            .iter()
            .filter(|p| of(p))
            .map(|p| match p.mean.filter(|_| p.cost.is_none()) {
                Some(mean) => format!("{} ({})", said(&p.label), decimal(mean, 1)),
                None => said(&p.label),
            })
            .collect();
        if names.is_empty() { String::new() } else { format!("{what}: {}", names.join(", ")) }
    };
    let parts = [
        listed("Cost unknown", &|p| p.cost.is_none()),
        listed("Mean stamina unknown", &|p| p.cost.is_some() && p.mean.is_none()),
        listed("No cost, not on a log axis", &|p| {
            data.scale == Scale::Log && p.mean.is_some() && p.cost.is_some_and(|c| c <= 0.0)
        }),
    ];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("; ")
}

fn plan(data: &Pareto, sheet: &Sheet, dots: &[Dot<'_>], listed: Vec<usize>) -> Plan {
    let size = sheet.sizes.tick_font;

    let right = sheet.width - PAD - size;
    let notes = notes::wrap(&unknown(data), sheet.width - 2.0 * PAD, size);
    let legend_height = legend::height(sheet, listed.iter().map(|i| &data.points[*i].label));
    let tables = legend_height + notes::height(notes.len(), size);
    let top = 0.8 * size;
    let below = sheet.below(true);
    let bottom = top + sheet.plot_height(top + below, tables, 8.0 * size);
    let ends = dots.iter().flat_map(|d| [Some(d.mean), d.point.ci_low, d.point.ci_high]).flatten();
    let y = sheet.upwards(ends.chain([0.0]), Scale::Linear, bottom, top);
    let left = PAD + sheet.beside_ticks(&y);
    let from_zero = (data.scale == Scale::Linear).then_some(0.0);
    let x = sheet.across(&dots.iter().map(|d| d.cost).chain(from_zero), data.scale, left, right);
    let legend_top = bottom + below;
    let notes_top = legend_top + legend_height;
    let height = notes_top + notes::height(notes.len(), size) + PAD;
    Plan { axes: (x, y), left, right, top, bottom, notes, listed, legend_top, notes_top, height }
}

/// Indices of dots that no other beats in both: cheaper or as cheap, and better. By rising cost.
fn front(dots: &[Dot<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|a, b| {
        dots[*a].cost.total_cmp(&dots[*b].cost).then(dots[*b].mean.total_cmp(&dots[*a].mean))
    });
    let mut best = f64::NEG_INFINITY;
    order.retain(|i| {
        let better = dots[*i].mean > best;
        best = best.max(dots[*i].mean);
        better
    });
    order
}

fn draw_front(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &Plan,
    (x, y): &(ValueAxis, ValueAxis),
    dots: &[Dot<'_>],
) {
    let front = front(dots);
    let mut line: Vec<(f64, f64)> = Vec::new();
    for i in front {
        let at = (x.at(dots[i].cost), y.at(dots[i].mean));
        if let Some(before) = line.last().copied() {
            line.push((at.0, before.1));
        }
        line.push(at);
    }
    if let Some(last) = line.last().copied() {
        line.push((plan.right, last.1));
        canvas.part("front");
        canvas.line(&line, Pen::new(sheet.tokens.muted, sheet.sizes.censor).opacity(0.7));
    }
}

fn draw_dots(sheet: &Sheet, canvas: &Canvas<'_>, (x, y): &(ValueAxis, ValueAxis), dots: &[Dot<'_>]) {
    let sizes = &sheet.sizes;
    canvas.part("runs");
    for dot in dots {
        let style = Style::of_label(&dot.point.label, sheet.tokens);
        let at = (x.at(dot.cost), y.at(dot.mean));
        if let (Some(low), Some(high)) = (dot.point.ci_low, dot.point.ci_high) {
            let (low, high, cap) = (y.at(low), y.at(high), 0.8 * sizes.mark);
            let pen = Pen::new(style.color, sizes.axis.max(0.6));
            canvas.line(&[(at.0, low), (at.0, high)], pen);
            canvas.line(&[(at.0 - cap, low), (at.0 + cap, low)], pen);
            canvas.line(&[(at.0 - cap, high), (at.0 + cap, high)], pen);
        }
        style.marker(canvas, at, 1.3 * sizes.mark);
    }
}

/// Names where they meet no mark, no whisker and no other name; those that find no such place are left out.
fn names(sheet: &Sheet, plan: &Plan, dots: &[Dot<'_>]) -> Vec<Name> {
    let (x, y) = &plan.axes;
    let size = sheet.sizes.tick_font;
    let half = 1.3 * sheet.sizes.mark;
    let at = |d: &Dot<'_>| (x.at(d.cost), y.at(d.mean));
    let mut taken: Vec<Area> = dots.iter().map(|d| Area::around(at(d), half + 1.0)).collect();
    taken.extend(dots.iter().filter_map(|d| {
        let (low, high) = (y.at(d.point.ci_low?), y.at(d.point.ci_high?));
        let x = at(d).0;
        Some(Area { left: x - half, top: high - 1.0, right: x + half, bottom: low + 1.0 })
    }));
    let line: Vec<(f64, f64)> = front(dots).into_iter().map(|i| at(&dots[i])).collect();
    taken.extend(line.windows(2).flat_map(|w| {
        [
            Area { left: w[0].0, top: w[0].1 - 1.0, right: w[1].0, bottom: w[0].1 + 1.0 },
            Area { left: w[1].0 - 1.0, top: w[1].1, right: w[1].0 + 1.0, bottom: w[0].1 },
        ]
    }));
    taken.extend(line.last().map(|l| Area {
        left: l.0,
        top: l.1 - 1.0,
        right: plan.right,
        bottom: l.1 + 1.0,
    }));
    let inside =
        Area { left: plan.left + 2.0, top: 0.0, right: sheet.width - PAD, bottom: plan.bottom - 2.0 };
    let mut names: Vec<Name> = Vec::new();
    let labels: Vec<&SeriesLabel> = dots.iter().map(|dot| &dot.point.label).collect();
    let texts = shown_all(&labels, 0.4 * sheet.width, size);
    for (i, (dot, text)) in dots.iter().zip(texts).enumerate() {
        let width = text_width(&text, size);
        let (px, py) = at(dot);
        let near = half + 0.35 * size;
        let middle = 0.3 * size;
        // Beside, above and below the mark first, then farther away with a line to it.
        let mut places = vec![(px + near, py + middle), (px - near - width, py + middle)];
        for row in 1..=5 {
            let shift = f64::from(row) * 1.15 * size;
            for dy in [-shift, shift] {
                places.extend([
                    (px + near, py + middle + dy),
                    (px - near - width, py + middle + dy),
                    (px - width / 2.0, py + middle + dy),
                ]);
            }
        }
        let free = places.into_iter().find_map(|(left, base)| {
            let area = Area::of_text((left, base), width, size);
            (area.within(&inside) && taken.iter().all(|t| !area.meets(t))).then_some((area, base))
        });
        let Some((area, base)) = free else { continue };
        let middle_y = base - middle;
        let leader = ((middle_y - py).abs() > 0.8 * size).then(|| {
            let straight = area.left <= px && area.right >= px;
            let end = if area.left > px {
                area.left - 1.0
            } else if area.right < px {
                area.right + 1.0
            } else {
                px
            };
            let end_y = if straight { if middle_y < py { area.bottom } else { area.top } } else { middle_y };
            [(px, py), (end, end_y)]
        });
        taken.push(Area { left: area.left - 2.0, right: area.right + 2.0, ..area });
        names.push(Name { dot: i, text, area, base, leader });
    }
    names
}

fn draw_names(sheet: &Sheet, canvas: &Canvas<'_>, dots: &[Dot<'_>], names: &[Name]) {
    canvas.part("names");
    for name in names {
        let style = Style::of_label(&dots[name.dot].point.label, sheet.tokens);
        if let Some(leader) = name.leader {
            canvas.line(&leader, Pen::new(style.color, sheet.sizes.edge.max(0.4)).opacity(0.6));
        }
        canvas.text(
            &name.text,
            (name.area.left, name.base),
            Anchor::Start,
            sheet.sizes.tick_font,
            style.text,
        );
    }
}

fn said_point(point: &ParetoPoint, data: &Pareto) -> Vec<String> {
    let cost = point.cost.map_or_else(|| "unknown".to_owned(), |c| in_unit(c, data.unit.as_deref()));
    let mean = point.mean.map_or_else(
        || "unknown".to_owned(),
        |m| format!("{} {}", decimal(m, 2), interval(point.ci_low, point.ci_high, 2)),
    );
    let n = point.n.map(|n| format!(", n = {n}")).unwrap_or_default();
    vec![
        said(&point.label),
        format!("{}: {cost}", with_unit(&data.cost, data.unit.as_deref())),
        format!("mean stamina {mean}{n}"),
    ]
}

fn summary(data: &Pareto) -> String {
    let dots = dots(data);
    let mut sentences = vec![format!(
        "Mean stamina against {} of {}.",
        with_unit(&data.cost, data.unit.as_deref()),
        counted(data.points.len() as u32, "run", "runs")
    )];
    for point in &data.points {
        let said = said_point(point, data);
        sentences.push(format!("{}: {}, {}.", said[0], said[1], said[2]));
    }
    let front: Vec<String> = front(&dots).into_iter().map(|i| said(&dots[i].point.label)).collect();
    if !front.is_empty() {
        sentences.push(format!("None is cheaper and lasts longer than {}.", front.join(", ")));
    }
    sentences.join(" ")
}
