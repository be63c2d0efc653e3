//! Many groups: one row per group and one column per class. Names of classes are in lines, or upright where columns are narrow.

use super::{
    MOST, class_name, class_names, counted_of, drawing_names, in_words, level_height, name_bases,
    names_in_lines, number_of, share, style_of, whole, without_sign,
};
use crate::display_names::{clean, full_name, natural_width, readable_width, shown_all, usual_width};
use crate::labels::Area;
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::percent;
use crate::sheet::{PAD, Sheet};
use crate::spec::{FailureClass, FailureGroup, FailureShares, SeriesLabel};
use crate::theme::SERIES;
use crate::{Drawing, Mark};

/// The places of rows of groups and columns of classes.
struct GroupsPlan {
    names_right: f64,
    notes_right: f64,
    left: f64,
    column: f64,
    /// Width of the widest number in a cell.
    widest: f64,
    /// Room for a bar of the greatest share before its number; `None` = there are only numbers.
    bar_room: Option<f64>,
    /// The greatest share.
    most: f64,
    /// The complete names of classes in lines; `None` = they are upright.
    in_lines: Option<Vec<Vec<String>>>,
    names_height: f64,
    head: f64,
    row: f64,
    bottom: f64,
    height: f64,
}

fn shown_groups(data: &FailureShares) -> Vec<&FailureGroup> {
    data.groups.iter().take(MOST).collect()
}

fn plan(data: &FailureShares, sheet: &Sheet) -> GroupsPlan {
    let size = sheet.sizes.tick_font;
    let groups = shown_groups(data);
    let classes = data.classes.len().min(MOST);
    let natural = groups.iter().map(|g| natural_width(&g.label, size)).fold(0.0, f64::max);
    let labels: Vec<&SeriesLabel> = groups.iter().map(|group| &group.label).collect();
    let notes = groups.iter().map(|g| sheet.tick_width(&number_of(g))).fold(sheet.tick_width("n"), f64::max);
    let cells = || groups.iter().flat_map(move |g| (0..classes).map(move |class| (*g, class)));
    let numbers = cells().map(|(g, class)| sheet.tick_width(&without_sign(counted_of(g, class), whole(g))));
    let widest = numbers.fold(0.0, f64::max);
    let columns = |usual: f64| {
        let names = readable_width(&labels, size, usual, 0.5 * sheet.width);
        let names_right = sheet.names_left() + names;
        let notes_right = names_right + 0.8 * size + notes;
        let left = notes_right + 0.8 * size;
        (names_right, notes_right, left, (sheet.width - PAD - left) / classes.max(1) as f64)
    };
    // Whole names may narrow the columns only as far as the numbers fit them.
    let wide = columns(usual_width(&labels, size, sheet.width, 0.36));
    let (names_right, notes_right, left, column) =
        if holds_numbers(wide.3, widest, size) { wide } else { columns(natural.min(0.36 * sheet.width)) };
    let most = cells().map(|(g, class)| share(g, class)).fold(0.0, f64::max).max(0.01);
    let bar_room = Some(column - widest - 0.9 * size).filter(|room| *room >= 1.5 * size);
    let class_names = || data.classes.iter().take(MOST).map(class_name);
    let in_lines = names_in_lines(class_names(), column - 0.5 * size, size);
    let names_height = if let Some(names) = &in_lines {
        level_height(names.iter().map(Vec::len).max().unwrap_or(1), size)
    } else {
        let widest_name = class_names().map(|name| sheet.tick_width(&name)).fold(0.0, f64::max);
        widest_name.min(16.0 * size) + 0.6 * size
    };
    let head = names_height + 0.4 * size;
    let below = 1.6 * sheet.sizes.name_font + PAD;
    let least = if sheet.print { 1.45 * size } else { 18.0 };
    let rows = groups.len().max(1) as f64;
    let row = sheet.height.map_or(least, |h| ((h - head - below) / rows).clamp(least, 3.0 * size));
    let bottom = head + rows * row;
    let height = bottom + below;
    GroupsPlan {
        names_right,
        notes_right,
        left,
        column,
        widest,
        bar_room,
        most,
        in_lines,
        names_height,
        head,
        row,
        bottom,
        height,
    }
}

/// Whether every number fits its column, and the names of classes fit beside each other.
pub(super) fn fits(data: &FailureShares, sheet: &Sheet) -> bool {
    let (size, plan) = (sheet.sizes.tick_font, plan(data, sheet));
    holds_numbers(plan.column, plan.widest, size)
}

/// Whether a column of this width has room for numbers of this width.
fn holds_numbers(column: f64, widest: f64, size: f64) -> bool {
    column >= (widest + 0.3 * size).max(1.2 * size)
}

pub(super) fn draw(data: &FailureShares, sheet: &Sheet) -> Drawing {
    let size = sheet.sizes.tick_font;
    let groups = shown_groups(data);
    let classes: Vec<&FailureClass> = data.classes.iter().take(MOST).collect();
    let plan = plan(data, sheet);
    let has_own_colors = groups.iter().all(|group| usize::from(group.label.color) < SERIES);
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(plan.height, &drawing_names(data), |canvas| {
        draw_heads(data, &classes, sheet, canvas, &plan);
        let labels: Vec<&SeriesLabel> = groups.iter().map(|group| &group.label).collect();
        let names = shown_all(&labels, plan.names_right - sheet.names_left(), size);
        for (g, (group, name)) in groups.iter().zip(&names).enumerate() {
            canvas.part(&format!("group-{g}"));
            let style = style_of(&group.label, has_own_colors, sheet);
            let (top, middle) = (plan.head + g as f64 * plan.row, plan.head + (g as f64 + 0.5) * plan.row);
            let base = middle + 0.35 * size;
            canvas.text(name, (plan.names_right, base), Anchor::End, size, style.text);
            let note = number_of(group);
            canvas.text(&note, (plan.notes_right, base), Anchor::End, size, sheet.tokens.muted);
            for (i, class) in classes.iter().enumerate() {
                let x = plan.left + i as f64 * plan.column;
                let (n, all) = (counted_of(group, i), whole(group));
                let mut end = x;
                if let Some(bar_room) = plan.bar_room {
                    let width = share(group, i) / plan.most * bar_room;
                    if n > 0 {
                        let (above, below) = (middle - 0.32 * plan.row, middle + 0.32 * plan.row);
                        canvas.bar((x, above), (x + width.max(0.5), below), style.color);
                    }
                    end = x + width + 0.4 * size;
                }
                let color = if n == 0 { sheet.tokens.muted } else { sheet.tokens.label };
                canvas.text(&without_sign(n, all), (end, base), Anchor::Start, size, color);
                let text = percent(n, all);
                let lines = vec![
                    format!("{}: {}", full_name(&group.label), class_name(class)),
                    format!("{} ({text})", in_words(n, all, &data.unit)),
                ];
                let area = Area { left: x, top, right: x + plan.column, bottom: top + plan.row };
                marks.push(Mark::new(format!("share-{g}-{i}"), Some(g), area, lines));
            }
        }
        let unit = format!("Share of {} (%)", clean(&data.unit));
        let place = (sheet.width / 2.0, plan.bottom + 1.2 * sheet.sizes.name_font);
        canvas.part("unit");
        sheet.centered(canvas, &unit, place, sheet.sizes.name_font, sheet.tokens.label);
    });
    drawing.marks = marks;
    drawing
}

/// The names of classes, and lines between columns.
fn draw_heads(
    data: &FailureShares,
    classes: &[&FailureClass],
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &GroupsPlan,
) {
    let size = sheet.sizes.tick_font;
    canvas.part("heads");
    let base = plan.names_height - 0.3 * size;
    canvas.text("n", (plan.notes_right, base), Anchor::End, size, sheet.tokens.muted);
    let left_of = |i: usize| plan.left + i as f64 * plan.column;
    if let Some(names) = &plan.in_lines {
        for (i, lines) in names.iter().enumerate() {
            for (line, line_base) in lines.iter().zip(name_bases(lines.len(), plan.names_height, size)) {
                canvas.text(line, (left_of(i), line_base), Anchor::Start, size, sheet.tokens.label);
            }
        }
    } else {
        let room = plan.names_height - 0.6 * size;
        for (i, name) in class_names(data, room, size).iter().take(classes.len()).enumerate() {
            let y = base - crate::text_width(name, size) / 2.0;
            canvas.upright(name, (left_of(i) + 0.8 * size, y), size, sheet.tokens.label);
        }
    }
    for (i, class) in classes.iter().enumerate() {
        let x = left_of(i);
        // A rule between failures of the code and of the harness.
        if i > 0 && class.harness != classes[i - 1].harness {
            let x = x - 0.25 * size;
            let pen = Pen::new(sheet.tokens.rule, sheet.sizes.rule);
            canvas.line(&[(x, PAD), (x, plan.bottom)], pen);
        }
        if plan.bar_room.is_some() {
            let pen = Pen::new(sheet.tokens.axis, sheet.sizes.axis);
            canvas.line(&[(x, plan.head), (x, plan.bottom)], pen);
        }
    }
}
