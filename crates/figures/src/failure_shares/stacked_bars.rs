//! One bar per group, with a segment per class.

use super::{
    MOST, class_name, class_names, counted_of, drawing_names, group_note, in_words, pattern_at, whole,
};
use crate::display_names::{clean, full_name, readable_width, shown_all, usual_width};
use crate::labels::Area;
use crate::marks::{Anchor, Canvas};
use crate::number::percent;
use crate::pattern;
use crate::scale::ValueAxis;
use crate::sheet::{PAD, Sheet};
use crate::spec::{FailureGroup, FailureShares, Scale, SeriesLabel};
use crate::{Drawing, Mark};

/// The places of bars and of the legend above them.
struct StackedPlan {
    names_right: f64,
    axis: ValueAxis,
    /// Line, left edge and name of each class.
    legend: Vec<(usize, f64, String)>,
    legend_height: f64,
    row: f64,
    bottom: f64,
}

/// A class in the bar of a group.
struct Segment {
    class: usize,
    count: u64,
    area: Area,
}

impl StackedPlan {
    /// The middle of the bar of a group.
    fn middle(&self, group: usize) -> f64 {
        self.legend_height + (group as f64 + 0.5) * self.row
    }

    /// The segments of the bar of a group, without empty ones.
    fn segments(&self, data: &FailureShares, index: usize, group: &FailureGroup) -> Vec<Segment> {
        let (all, middle, half) = (whole(group), self.middle(index), 0.36 * self.row);
        let place = |before: u64| self.axis.position(before as f64 / all as f64 * 100.0);
        let mut before = 0_u64;
        let mut segments = Vec::new();
        for class in 0..data.classes.len() {
            let n = counted_of(group, class);
            let left = place(before);
            before += n;
            let area = Area { left, top: middle - half, right: place(before), bottom: middle + half };
            if n > 0 {
                segments.push(Segment { class, count: n, area });
            }
        }
        segments
    }
}

fn shown_groups(data: &FailureShares) -> Vec<&FailureGroup> {
    data.groups.iter().take(MOST).collect()
}

fn plan(data: &FailureShares, sheet: &Sheet) -> StackedPlan {
    let size = sheet.sizes.tick_font;
    let groups = shown_groups(data);
    let labels: Vec<&SeriesLabel> = groups.iter().map(|group| &group.label).collect();
    let usual = usual_width(&labels, size, sheet.width, 0.32);
    let names = readable_width(&labels, size, usual, 0.45 * sheet.width);
    let names_right = sheet.names_left() + names;
    let widest = groups.iter().map(|g| sheet.tick_width(&group_note(g))).fold(0.0, f64::max);
    let (left, right) = (names_right + 0.7 * size, sheet.width - PAD - widest - 0.8 * size);
    let axis = ValueAxis::holding([0.0, 100.0].into_iter(), Scale::Linear, [left, right], 6);
    let legend = legend_places(data, sheet);
    let legend_height = legend.last().map_or(0.0, |l| (l.0 + 1) as f64 * 1.6 * size + 0.3 * size);
    let rest = legend_height + sheet.below(true) + PAD;
    let least = if sheet.print { 1.9 * size } else { 26.0 };
    let rows = groups.len().max(1) as f64;
    let row = sheet.height.map_or(least, |h| ((h - rest) / rows).clamp(least, 4.0 * size));
    let bottom = legend_height + rows * row;
    StackedPlan { names_right, axis, legend, legend_height, row, bottom }
}

/// The least whole percentage that is greater than the share of every segment without room for its number; `None` = all have their
/// numbers.
pub(super) fn percent_without_number(data: &FailureShares, sheet: &Sheet) -> Option<u64> {
    let plan = plan(data, sheet);
    let groups = shown_groups(data);
    let segments = groups.iter().enumerate().flat_map(|(g, group)| {
        let all = whole(group);
        plan.segments(data, g, group).into_iter().map(move |segment| (segment, all))
    });
    segments
        .filter(|(segment, all)| !pattern::has_room(segment.area, &percent(segment.count, *all), sheet))
        .map(|(segment, all)| segment.count.saturating_mul(100) / all + 1)
        .max()
}

pub(super) fn draw(data: &FailureShares, sheet: &Sheet) -> Drawing {
    let size = sheet.sizes.tick_font;
    let groups = shown_groups(data);
    let plan = plan(data, sheet);
    let mut marks = Vec::new();
    let height = plan.bottom + sheet.below(true) + PAD;
    let mut drawing = sheet.draw(height, &drawing_names(data), |canvas| {
        draw_legend(data, sheet, canvas, &plan);
        let labels: Vec<&SeriesLabel> = groups.iter().map(|group| &group.label).collect();
        let names = shown_all(&labels, plan.names_right - sheet.names_left(), size);
        for (g, (group, name)) in groups.iter().zip(&names).enumerate() {
            canvas.part(&format!("group-{g}"));
            let base = plan.middle(g) + 0.35 * size;
            canvas.text(name, (plan.names_right, base), Anchor::End, size, sheet.tokens.label);
            canvas.text(&group_note(group), (sheet.width - PAD, base), Anchor::End, size, sheet.tokens.muted);
            let all = whole(group);
            if all == 0 {
                let place = (plan.axis.ends().0 + 2.0, base);
                canvas.text("no failures", place, Anchor::Start, size, sheet.tokens.muted);
                continue;
            }
            for Segment { class, count: n, area } in plan.segments(data, g, group) {
                let look = pattern_at(data, class);
                pattern::fill(canvas, area, look, sheet);
                let text = percent(n, all);
                pattern::label(canvas, area, &text, look, sheet);
                let lines = vec![
                    format!("{}: {}", full_name(&group.label), class_name(&data.classes[class])),
                    format!("{} ({text})", in_words(n, all, &data.unit)),
                ];
                marks.push(Mark::new(format!("share-{g}-{class}"), Some(g), area, lines));
            }
        }
        let name = format!("Share of {} (%)", clean(&data.unit));
        sheet.draw_across(canvas, "x-axis", &plan.axis, plan.bottom, &name);
    });
    drawing.marks = marks;
    drawing
}

fn draw_legend(data: &FailureShares, sheet: &Sheet, canvas: &Canvas<'_>, plan: &StackedPlan) {
    let size = sheet.sizes.tick_font;
    canvas.part("legend");
    for (i, (line, x, text)) in plan.legend.iter().enumerate() {
        let middle = (*line as f64 + 0.5) * 1.6 * size;
        let sample =
            Area { left: *x, top: middle - 0.45 * size, right: x + 1.6 * size, bottom: middle + 0.45 * size };
        pattern::fill(canvas, sample, pattern_at(data, i), sheet);
        let place = (x + 2.1 * size, middle + 0.35 * size);
        canvas.text(text, place, Anchor::Start, size, sheet.tokens.label);
    }
}

/// Line and left edge of each class in the legend.
fn legend_places(data: &FailureShares, sheet: &Sheet) -> Vec<(usize, f64, String)> {
    let size = sheet.sizes.tick_font;
    let (mut line, mut left) = (0, PAD);
    class_names(data, sheet.width - 2.0 * PAD - 2.1 * size, size)
        .into_iter()
        .map(|text| {
            let width = 2.1 * size + sheet.tick_width(&text);
            if left > PAD && left + width > sheet.width - PAD {
                (line, left) = (line + 1, PAD);
            }
            let place = (line, left, text);
            left += width + 1.2 * size;
            place
        })
        .collect()
}
