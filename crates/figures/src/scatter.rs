//! Two numbers per run in a plane: marks with whiskers, with names beside them if there is room, else in a list below.

use crate::display_names::shown_all;
use crate::font::text_width;
use crate::footnotes;
use crate::labels::Area;
use crate::legend;
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{Layout, Scale, SeriesLabel};
use crate::theme::Theme;
use crate::{Drawing, Mark};

/// A run in the plot.
pub(crate) struct Dot<'a> {
    /// Its index in the figure.
    pub(crate) index: usize,
    pub(crate) label: &'a SeriesLabel,
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The interval of each value, if it has one.
    pub(crate) x_ends: Option<(f64, f64)>,
    pub(crate) y_ends: Option<(f64, f64)>,
    /// Its text for pointers.
    pub(crate) lines: Vec<String>,
}

/// The content of the plot.
pub(crate) struct Scatter<'a> {
    pub(crate) kind: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: String,
    pub(crate) dots: Vec<Dot<'a>>,
    pub(crate) x_name: String,
    /// Names of the y axis, the longest first.
    pub(crate) y_names: Vec<String>,
    pub(crate) x_scale: Scale,
    /// Whether both axes start at 0.
    pub(crate) begins_at_zero: bool,
    /// Whether a line joins the dots of the Pareto front.
    pub(crate) has_front: bool,
    /// The text in a plot without dots.
    pub(crate) empty: &'static str,
    /// The runs that are not in the plot, by reason.
    pub(crate) left_out: Vec<OmittedNames>,
    /// Further notes under the plot.
    pub(crate) notes: String,
}

/// Runs that are not in the plot.
pub(crate) struct OmittedNames {
    /// Why: `Cost unknown`.
    pub(crate) reason: String,
    /// Their complete names.
    pub(crate) names: Vec<String>,
}

impl OmittedNames {
    /// `None` = there are no such runs.
    pub(crate) fn from_names(reason: impl Into<String>, names: Vec<String>) -> Option<Self> {
        (!names.is_empty()).then(|| Self { reason: reason.into(), names })
    }
}

struct ScatterPlan {
    axes: (ValueAxis, ValueAxis),
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    notes: Vec<String>,
    /// Dots with names under the plot, because there is no room beside their marks.
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

pub(crate) fn draw(data: &Scatter<'_>, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let dots = &data.dots;
    let front = if data.has_front { front(dots) } else { Vec::new() };
    // First with all names in the plot. Names without a place are listed below, which changes the heights.
    let mut plan = plan(data, &sheet, Vec::new());
    let mut names = names(&sheet, &plan, dots, &front);
    let homeless: Vec<usize> = (0..dots.len()).filter(|d| names.iter().all(|n| n.dot != *d)).collect();
    if !homeless.is_empty() {
        plan = self::plan(data, &sheet, homeless.clone());
        names = self::names(&sheet, &plan, dots, &front);
        names.retain(|n| !homeless.contains(&n.dot));
    }
    let axes = &plan.axes;
    let drawing_names = DrawingNames { kind: data.kind, title: data.title, summary: data.summary.clone() };
    let y_names: Vec<&str> = data.y_names.iter().map(String::as_str).collect();
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        // Without a dot, the axes would be invented.
        if dots.is_empty() {
            let place = (f64::midpoint(plan.left, plan.right), f64::midpoint(plan.top, plan.bottom));
            sheet.centered(canvas, data.empty, place, sheet.sizes.name_font, sheet.tokens.muted);
        } else {
            sheet.draw_upwards(canvas, "y-axis", &axes.1, plan.left, &y_names);
            sheet.draw_across(canvas, "x-axis", &axes.0, plan.bottom, &data.x_name);
        }
        draw_front(&sheet, canvas, &plan, dots, &front);
        draw_dots(&sheet, canvas, axes, dots);
        draw_names(&sheet, canvas, dots, &names);
        let listed = listed_labels(&sheet, dots, &plan.listed);
        let entries: Vec<(&SeriesLabel, Style)> =
            listed.iter().map(|label| (label, Style::from_label(label, sheet.tokens))).collect();
        if !entries.is_empty() {
            legend::draw(&sheet, canvas, plan.legend_top, &entries);
        }
        footnotes::draw(&sheet, canvas, &plan.notes, plan.notes_top);
    });
    drawing.marks = dots
        .iter()
        .map(|dot| {
            let area = Area::around((axes.0.position(dot.x), axes.1.position(dot.y)), 2.5 * sheet.sizes.mark);
            Mark::new(format!("point-{}", dot.index), Some(dot.index), area, dot.lines.clone())
        })
        .collect();
    drawing
}

fn plan(data: &Scatter<'_>, sheet: &Sheet, listed: Vec<usize>) -> ScatterPlan {
    let size = sheet.sizes.tick_font;
    let dots = &data.dots;
    let right = sheet.width - PAD - size;
    let notes = notes_under(data, sheet);
    let legend_height = legend::height(sheet, listed_labels(sheet, dots, &listed).iter());
    let tables = legend_height + footnotes::height(notes.len(), size);
    let top = 0.8 * size;
    let below = sheet.below(true);
    let named = data.y_names.first().map_or(0.0, |name| sheet.height_for_name(name, top));
    let bottom = top + sheet.plot_height(top + below, tables, named.max(8.0 * size));
    let with_ends = |value: f64, ends: Option<(f64, f64)>| {
        [Some(value), ends.map(|ends| ends.0), ends.map(|ends| ends.1)].into_iter().flatten()
    };
    let zero = data.begins_at_zero.then_some(0.0);
    let ys = dots.iter().flat_map(|dot| with_ends(dot.y, dot.y_ends));
    let y = sheet.upwards(ys.chain(zero), Scale::Linear, bottom, top);
    let left = PAD + sheet.beside_ticks(&y);
    let zero = zero.filter(|_| data.x_scale == Scale::Linear);
    let xs: Vec<f64> = dots.iter().flat_map(|dot| with_ends(dot.x, dot.x_ends)).chain(zero).collect();
    let x = sheet.across(&xs.iter().copied(), data.x_scale, left, right);
    let legend_top = bottom + below;
    let notes_top = legend_top + legend_height;
    let height = notes_top + footnotes::height(notes.len(), size) + PAD;
    ScatterPlan { axes: (x, y), left, right, top, bottom, notes, listed, legend_top, notes_top, height }
}

/// The notes under the plot in lines: the runs that are not in it, and what else is to be said.
fn notes_under(data: &Scatter<'_>, sheet: &Sheet) -> Vec<String> {
    let (width, size) = (sheet.width - 2.0 * PAD, sheet.sizes.tick_font);
    let in_words = |list: &OmittedNames| footnotes::names_in_lines(&list.reason, &list.names, width, size);
    let lists = data.left_out.iter().map(in_words).collect::<Vec<_>>().join("; ");
    let parts = [lists.as_str(), data.notes.as_str()].into_iter().filter(|part| !part.is_empty());
    footnotes::wrap(&parts.collect::<Vec<_>>().join(". "), width, size)
}

/// The labels of the dots in the list, with names that differ from those of all dots, not only from each other.
fn listed_labels(sheet: &Sheet, dots: &[Dot<'_>], listed: &[usize]) -> Vec<SeriesLabel> {
    let labels: Vec<&SeriesLabel> = dots.iter().map(|dot| dot.label).collect();
    let names = shown_all(&labels, legend::room_of_name(sheet), sheet.sizes.tick_font);
    // A name says that it is simulated.
    let label =
        |dot: &usize| SeriesLabel { name: names[*dot].clone(), simulated: false, ..dots[*dot].label.clone() };
    listed.iter().map(label).collect()
}

/// Indices of the Pareto front: no other dot has at most this x and more y. By ascending x.
pub(crate) fn front(dots: &[Dot<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|a, b| dots[*a].x.total_cmp(&dots[*b].x).then(dots[*b].y.total_cmp(&dots[*a].y)));
    let mut best = f64::NEG_INFINITY;
    order.retain(|i| {
        let better = dots[*i].y > best;
        best = best.max(dots[*i].y);
        better
    });
    order
}

fn draw_front(sheet: &Sheet, canvas: &Canvas<'_>, plan: &ScatterPlan, dots: &[Dot<'_>], front: &[usize]) {
    let (x, y) = &plan.axes;
    let mut line: Vec<(f64, f64)> = Vec::new();
    for i in front {
        let place = (x.position(dots[*i].x), y.position(dots[*i].y));
        if let Some(before) = line.last().copied() {
            line.push((place.0, before.1));
        }
        line.push(place);
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
        let style = Style::from_label(dot.label, sheet.tokens);
        let place = (x.position(dot.x), y.position(dot.y));
        let (cap, pen) = (0.8 * sizes.mark, Pen::new(style.color, sizes.axis.max(0.6)));
        if let Some((low, high)) = dot.y_ends {
            let (low, high) = (y.position(low), y.position(high));
            canvas.line(&[(place.0, low), (place.0, high)], pen);
            canvas.line(&[(place.0 - cap, low), (place.0 + cap, low)], pen);
            canvas.line(&[(place.0 - cap, high), (place.0 + cap, high)], pen);
        }
        if let Some((low, high)) = dot.x_ends {
            let (low, high) = (x.position(low), x.position(high));
            canvas.line(&[(low, place.1), (high, place.1)], pen);
            canvas.line(&[(low, place.1 - cap), (low, place.1 + cap)], pen);
            canvas.line(&[(high, place.1 - cap), (high, place.1 + cap)], pen);
        }
        style.marker(canvas, place, 1.3 * sizes.mark);
    }
}

/// The places of names without overlap with marks, whiskers and other names. Names without such a place are left out.
fn names(sheet: &Sheet, plan: &ScatterPlan, dots: &[Dot<'_>], front: &[usize]) -> Vec<Name> {
    let (x, y) = &plan.axes;
    let size = sheet.sizes.tick_font;
    let half = 1.3 * sheet.sizes.mark;
    let dot_place = |d: &Dot<'_>| (x.position(d.x), y.position(d.y));
    let mut taken: Vec<Area> = dots.iter().map(|d| Area::around(dot_place(d), half + 1.0)).collect();
    taken.extend(dots.iter().filter_map(|d| {
        let (low, high) = d.y_ends.map(|(low, high)| (y.position(low), y.position(high)))?;
        let x = dot_place(d).0;
        Some(Area { left: x - half, top: high - 1.0, right: x + half, bottom: low + 1.0 })
    }));
    taken.extend(dots.iter().filter_map(|d| {
        let (low, high) = d.x_ends.map(|(low, high)| (x.position(low), x.position(high)))?;
        let y = dot_place(d).1;
        Some(Area { left: low - 1.0, top: y - half, right: high + 1.0, bottom: y + half })
    }));
    let line: Vec<(f64, f64)> = front.iter().map(|i| dot_place(&dots[*i])).collect();
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
    let labels: Vec<&SeriesLabel> = dots.iter().map(|dot| dot.label).collect();
    let texts = shown_all(&labels, 0.4 * sheet.width, size);
    for (i, (dot, text)) in dots.iter().zip(texts).enumerate() {
        let width = text_width(&text, size);
        let (px, py) = dot_place(dot);
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
            let area = Area::from_text_line((left, base), width, size);
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
        let style = Style::from_label(dots[name.dot].label, sheet.tokens);
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
