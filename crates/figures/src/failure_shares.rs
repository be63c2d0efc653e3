//! Classes of failures as shares: one stacked bar per group, or one row per class.

use std::borrow::Cow;

use crate::display_names::{clean, fit, fit_all, full_name, natural_width, readable_width_of, shown_all};
use crate::labels::Area;
use crate::line_breaks::{broken, widest_part};
use crate::marks::{Anchor, Pen};
use crate::number::percent;
use crate::pattern;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{FailureClass, FailureGroup, FailureShares, Layout, SeriesLabel, SharesForm};
use crate::summary_text::{count, counted};
use crate::theme::{SERIES, Theme};
use crate::{Drawing, Mark};

mod by_group;
mod stacked_bars;

/// Most classes in a stacked bar. The rest is "other".
const MOST_STACKED: usize = 6;
/// Most classes and groups that are drawn.
const MOST: usize = 200;
/// More groups have rows, if their names would be upright over columns.
const MOST_IN_COLUMNS: usize = 6;
/// Most lines of the name of a group over its column.
const MOST_NAME_LINES: usize = 4;
/// Distance of these lines, in heights of letters.
const NAME_LINE: f64 = 1.2;

pub(crate) fn draw(data: &FailureShares, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    match stacked(data) {
        Some(gathered) => stacked_bars::draw(&gathered, &sheet),
        None if are_in_rows(data, &sheet) => by_group::draw(data, &sheet),
        None => draw_rows(data, &sheet),
    }
}

/// The least whole percentage that is greater than the share of every segment without room for its number; `None` = all have their
/// numbers.
pub(crate) fn percent_without_number(data: &FailureShares, layout: &Layout, theme: Theme) -> Option<u64> {
    let stacked = stacked(data)?;
    stacked_bars::percent_without_number(&stacked, &Sheet::from_layout(layout, theme))
}

/// Whether groups have rows and classes have columns: there are many groups, whose names would be upright over columns.
fn are_in_rows(data: &FailureShares, sheet: &Sheet) -> bool {
    data.groups.len() > MOST_IN_COLUMNS && rows_plan(data, sheet).upright && by_group::fits(data, sheet)
}

/// The data of stacked bars, with at most six classes; `None` = the classes are side by side.
pub(crate) fn stacked(data: &FailureShares) -> Option<Cow<'_, FailureShares>> {
    let one_class_each = data.groups.iter().all(|g| g.total.is_none_or(|t| u64::from(t) >= sum(g)));
    let stacked = match data.form {
        SharesForm::Auto => one_class_each && data.classes.len() <= MOST_STACKED,
        SharesForm::Stacked => one_class_each,
        SharesForm::SideBySide => false,
    };
    stacked.then(|| gathered(data))
}

fn sum(group: &FailureGroup) -> u64 {
    group.counts.iter().map(|c| u64::from(*c)).sum()
}

/// The denominator of the shares of a group.
pub(crate) fn whole(group: &FailureGroup) -> u64 {
    group.total.map_or_else(|| sum(group), u64::from)
}

pub(crate) fn counted_of(group: &FailureGroup, class: usize) -> u64 {
    group.counts.get(class).copied().map_or(0, u64::from)
}

/// At most six classes: the five largest and "other".
fn gathered(data: &FailureShares) -> Cow<'_, FailureShares> {
    if data.classes.len() <= MOST_STACKED {
        return Cow::Borrowed(data);
    }
    let total = |class: usize| data.groups.iter().map(|g| counted_of(g, class)).sum::<u64>();
    let mut order: Vec<usize> = (0..data.classes.len()).collect();
    order.sort_by_key(|c| (std::cmp::Reverse(total(*c)), *c));
    let mut kept = order[..MOST_STACKED - 1].to_vec();
    kept.sort_unstable();
    let mut classes: Vec<FailureClass> = kept.iter().map(|c| data.classes[*c].clone()).collect();
    let is_fixed = data.classes.iter().any(|class| class.pattern.is_some());
    let pattern = is_fixed.then_some(pattern::REST);
    classes.push(FailureClass { name: "other".to_owned(), harness: false, pattern });
    let groups = data
        .groups
        .iter()
        .map(|group| {
            let mut counts: Vec<u32> = kept.iter().map(|c| counted_of(group, *c) as u32).collect();
            let rest = sum(group) - counts.iter().map(|c| u64::from(*c)).sum::<u64>();
            counts.push(rest.min(u64::from(u32::MAX)) as u32);
            FailureGroup { counts, ..group.clone() }
        })
        .collect();
    Cow::Owned(FailureShares { classes, groups, ..data.clone() })
}

/// The pattern of the class at this place.
fn pattern_at(data: &FailureShares, place: usize) -> usize {
    data.classes.get(place).and_then(|class| class.pattern).map_or(place, usize::from)
}

pub(crate) fn group_note(group: &FailureGroup) -> String {
    format!("n = {}", number_of(group))
}

fn number_of(group: &FailureGroup) -> String {
    count(whole(group).min(u64::from(u32::MAX)) as u32)
}

/// The names of classes for this width. Different names stay different.
pub(crate) fn class_names(data: &FailureShares, width: f64, size: f64) -> Vec<String> {
    fit_all(&data.classes.iter().map(class_name).collect::<Vec<_>>(), width, size)
}

pub(crate) fn class_name(class: &FailureClass) -> String {
    let name = clean(&class.name);
    if class.harness { format!("{name} (harness)") } else { name }
}

/// A share without its sign, which is elsewhere: `22`, `<1`.
fn without_sign(part: u64, whole: u64) -> String {
    percent(part, whole).trim_end_matches(" %").replace(' ', "")
}

/// The places of rows of classes and columns of groups.
pub(crate) struct RowsPlan {
    pub(crate) names_right: f64,
    pub(crate) left: f64,
    pub(crate) column: f64,
    /// Room for a bar of the greatest share beside its number; `None` = there are only numbers.
    pub(crate) bar_room: Option<f64>,
    /// The greatest share.
    pub(crate) most: f64,
    /// Room for the name of a group and its n.
    pub(crate) head_room: f64,
    /// The names of groups in lines, if they do not fit beside each other in one line.
    pub(crate) in_lines: Option<Vec<Vec<String>>>,
    /// Whether names of groups are vertical.
    pub(crate) upright: bool,
    pub(crate) names_height: f64,
    /// Height of names and n together.
    pub(crate) head: f64,
    pub(crate) row: f64,
    /// Whether shares have no percent sign, which is in the corner instead.
    pub(crate) bare: bool,
    /// The head over the names of classes.
    pub(crate) corner: String,
    /// The text of n of each group.
    pub(crate) notes: Vec<String>,
    pub(crate) height: f64,
}

impl RowsPlan {
    /// A share in its column: `22 %`, or `22` with the sign in the corner.
    pub(crate) fn written(&self, part: u64, whole: u64) -> String {
        if self.bare { without_sign(part, whole) } else { percent(part, whole) }
    }

    /// Base lines of the name of a group in this number of lines. The last one is over n.
    pub(crate) fn name_bases(&self, lines: usize, size: f64) -> Vec<f64> {
        name_bases(lines, self.names_height, size)
    }
}

/// Complete names in lines with natural breaks; `None` = a name does not fit.
fn names_in_lines(names: impl Iterator<Item = String>, width: f64, size: f64) -> Option<Vec<Vec<String>>> {
    names
        .map(|name| {
            let lines = broken(&name, width, size);
            (widest_part(&name, size) <= width && lines.len() <= MOST_NAME_LINES).then_some(lines)
        })
        .collect()
}

/// Height of level names of at most this number of lines.
fn level_height(lines: usize, size: f64) -> f64 {
    1.3 * size + lines.saturating_sub(1) as f64 * NAME_LINE * size
}

/// Base lines of a name in this number of lines, the last one at the bottom of names of this height.
fn name_bases(lines: usize, names_height: f64, size: f64) -> Vec<f64> {
    let last = names_height - 0.3 * size;
    (0..lines).rev().map(|below| last - below as f64 * NAME_LINE * size).collect()
}

pub(crate) fn rows_plan(data: &FailureShares, sheet: &Sheet) -> RowsPlan {
    let size = sheet.sizes.tick_font;
    let groups: Vec<&FailureGroup> = data.groups.iter().take(MOST).collect();
    let classes = data.classes.len().min(MOST);
    let unit = clean(&data.unit);
    let widest_class =
        data.classes.iter().take(MOST).map(|c| sheet.tick_width(&class_name(c))).fold(0.0, f64::max);
    let class_names: Vec<String> = data.classes.iter().take(MOST).map(class_name).collect();
    let columns = |corner: &str| {
        let usual = widest_class.max(sheet.tick_width(corner)).min(0.36 * sheet.width);
        let names_right =
            sheet.names_left() + readable_width_of(&class_names, size, usual, 0.5 * sheet.width);
        let left = names_right + 0.7 * size;
        (names_right, left, (sheet.width - PAD - left) / groups.len().max(1) as f64)
    };
    let (names_right, left, column) = columns(&format!("n; share of {unit}"));
    // If even numbers without bars are too wide, the sign and the denominator are in the corner and in the caption.
    let bare = sheet.tick_width("100 %") > column - 0.6 * size;
    let (names_right, left, column) = if bare { columns("n; %") } else { (names_right, left, column) };
    let numbers = sheet.tick_width("100 %") + 0.5 * size;
    let most = groups.iter().flat_map(|g| (0..classes).map(|c| share(g, c))).fold(0.0, f64::max).max(0.01);
    // If columns are too narrow for bars and numbers, there are only numbers.
    let bar_room = Some(column - numbers - 0.8 * size).filter(|room| *room >= 1.5 * size);
    // Names that do not fit beside each other are in lines, or else vertical. Short numbers may be closer.
    let head_room = column - if bare { 0.2 } else { 0.6 } * size;
    let widest = groups.iter().map(|g| natural_width(&g.label, size)).fold(0.0, f64::max);
    let too_wide = widest > head_room;
    let full_names = groups.iter().map(|group| full_name(&group.label));
    let in_lines = too_wide.then(|| names_in_lines(full_names, head_room, size)).flatten();
    let upright = too_wide && in_lines.is_none();
    let lines = in_lines.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let names_height = if upright { widest.min(16.0 * size) + 0.6 * size } else { level_height(lines, size) };
    let head = names_height + 1.6 * size;
    let least = if sheet.print { 1.45 * size } else { 18.0 };
    let rows = classes.max(1) as f64;
    let row = sheet.height.map_or(least, |h| ((h - head - PAD) / rows).clamp(least, 3.0 * size));
    // "n = 149" in every column, or, if too wide, only the numbers, with their meaning in the corner.
    let whole_note = groups.iter().all(|g| sheet.tick_width(&group_note(g)) <= head_room);
    let notes = groups.iter().map(|g| if whole_note { group_note(g) } else { number_of(g) }).collect();
    let share_of = if bare { "%".to_owned() } else { format!("share of {unit}") };
    let corner = if whole_note { share_of } else { format!("n; {share_of}") };
    let height = head + rows * row + 0.3 * size + PAD;
    RowsPlan {
        names_right,
        left,
        column,
        bar_room,
        most,
        head_room,
        in_lines,
        upright,
        names_height,
        head,
        row,
        bare,
        corner,
        notes,
        height,
    }
}

/// Why the numbers of a figure do not fit its columns; `None` = they do.
pub(crate) fn too_narrow(data: &FailureShares, sheet: &Sheet) -> Option<String> {
    if stacked(data).is_some() || are_in_rows(data, sheet) {
        return None;
    }
    let plan = rows_plan(data, sheet);
    let shown = data.groups.iter().take(MOST);
    let widest = shown
        .flat_map(|group| {
            (0..data.classes.len().min(MOST)).map(|class| (counted_of(group, class), whole(group)))
        })
        .map(|(part, whole)| plan.written(part, whole))
        .chain(plan.notes.iter().cloned())
        .map(|text| sheet.tick_width(&text))
        .fold(0.0, f64::max);
    (widest > plan.head_room).then(|| {
        format!(
            "{} beside each other leave no room for whole numbers at this width",
            counted(data.groups.len() as u32, "group", "groups")
        )
    })
}

/// The style of a group: its color, or a common one if there are more groups than colors.
fn style_of(label: &SeriesLabel, has_own_colors: bool, sheet: &Sheet) -> Style {
    let mut style = Style::from_label(label, sheet.tokens);
    if !has_own_colors {
        (style.color, style.text) = (sheet.tokens.series[0], sheet.tokens.label);
    }
    style
}

fn draw_rows(data: &FailureShares, sheet: &Sheet) -> Drawing {
    let size = sheet.sizes.tick_font;
    let groups: Vec<&FailureGroup> = data.groups.iter().take(MOST).collect();
    let classes: Vec<&FailureClass> = data.classes.iter().take(MOST).collect();
    let rows = classes.len().max(1) as f64;
    let plan = rows_plan(data, sheet);
    let RowsPlan { names_right, left, column, bar_room, most, head_room, names_height, head, row, .. } = plan;
    // A common color of two groups would suggest a relation.
    let has_own_colors = groups.iter().all(|group| usize::from(group.label.color) < SERIES);
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(plan.height, &drawing_names(data), |canvas| {
        canvas.part("heads");
        let labels: Vec<&SeriesLabel> = groups.iter().map(|group| &group.label).collect();
        let names =
            shown_all(&labels, if plan.upright { names_height - 0.6 * size } else { head_room }, size);
        for (g, (group, text)) in groups.iter().zip(&names).enumerate() {
            let x = left + g as f64 * column;
            let style = style_of(&group.label, has_own_colors, sheet);
            if let Some(lines) = plan.in_lines.as_ref().map(|names| &names[g]) {
                for (line, base) in lines.iter().zip(plan.name_bases(lines.len(), size)) {
                    canvas.text(line, (x, base), Anchor::Start, size, style.text);
                }
            } else if plan.upright {
                let y = names_height - 0.3 * size - crate::text_width(text, size) / 2.0;
                canvas.upright(text, (x + 0.8 * size, y), size, style.text);
            } else {
                canvas.text(text, (x, size), Anchor::Start, size, style.text);
            }
            let note = fit(&plan.notes[g], head_room, size);
            canvas.text(&note, (x, names_height + 0.9 * size), Anchor::Start, size, sheet.tokens.muted);
        }
        let unit = fit(&plan.corner, names_right - sheet.names_left(), size);
        canvas.text(&unit, (names_right, names_height + 0.9 * size), Anchor::End, size, sheet.tokens.muted);
        let class_names = class_names(data, names_right - sheet.names_left(), size);
        let mut harness_before = classes.first().is_some_and(|c| c.harness);
        for (i, class) in classes.iter().enumerate() {
            canvas.part(&format!("class-{i}"));
            let (top, middle) = (head + i as f64 * row, head + (i as f64 + 0.5) * row);
            let base = middle + 0.35 * size;
            if class.harness != harness_before {
                // A rule between failures of the code and of the harness.
                let pen = Pen::new(sheet.tokens.rule, sheet.sizes.rule);
                canvas.line(&[(PAD, top), (sheet.width - PAD, top)], pen);
                harness_before = class.harness;
            }
            canvas.text(&class_names[i], (names_right, base), Anchor::End, size, sheet.tokens.label);
            for (g, group) in groups.iter().enumerate() {
                let x = left + g as f64 * column;
                let style = style_of(&group.label, has_own_colors, sheet);
                let (n, all) = (counted_of(group, i), whole(group));
                let mut end = x;
                if let Some(bar_room) = bar_room {
                    let width = share(group, i) / most * bar_room;
                    if n > 0 {
                        canvas.bar(
                            (x, middle - 0.32 * row),
                            (x + width.max(0.5), middle + 0.32 * row),
                            style.color,
                        );
                    }
                    end = x + width + 0.4 * size;
                }
                let text = percent(n, all);
                let written = plan.written(n, all);
                let color = if n == 0 { sheet.tokens.muted } else { sheet.tokens.label };
                canvas.text(&fit(&written, x + column - end, size), (end, base), Anchor::Start, size, color);
                let lines = vec![
                    format!("{}: {}", full_name(&group.label), class_name(class)),
                    format!("{} ({text})", in_words(n, all, &data.unit)),
                ];
                let area = Area { left: x, top, right: x + column, bottom: top + row };
                marks.push(Mark::new(format!("share-{g}-{i}"), Some(g), area, lines));
            }
        }
        if bar_room.is_some() {
            canvas.part("axes");
            for g in 0..groups.len() {
                let x = left + g as f64 * column;
                canvas.line(
                    &[(x, head), (x, head + rows * row)],
                    Pen::new(sheet.tokens.axis, sheet.sizes.axis),
                );
            }
        }
    });
    drawing.marks = marks;
    drawing
}

pub(crate) fn share(group: &FailureGroup, class: usize) -> f64 {
    let all = whole(group);
    if all == 0 { 0.0 } else { (counted_of(group, class) as f64 / all as f64).min(1.0) }
}

/// `3 of 10 failed attempts`. A unit is a plural, which loses its `s` where it is of one.
fn in_words(n: u64, all: u64, unit: &str) -> String {
    let unit = clean(unit);
    let unit = if all == 1 { unit.strip_suffix('s').unwrap_or(&unit) } else { &unit };
    format!("{} of {} {unit}", count(n as u32), count(all as u32))
}

fn drawing_names(data: &FailureShares) -> DrawingNames<'static> {
    DrawingNames { kind: "failure-shares", title: "Classes of failures", summary: summary(data) }
}

fn summary(data: &FailureShares) -> String {
    let mut sentences = vec![format!(
        "Classes of {} in {}.",
        clean(&data.unit),
        counted(data.groups.len() as u32, "group", "groups")
    )];
    for group in data.groups.iter().take(MOST) {
        let all = whole(group);
        let shares: Vec<String> = data
            .classes
            .iter()
            .take(MOST)
            .enumerate()
            .filter(|(i, _)| counted_of(group, *i) > 0)
            .map(|(i, class)| {
                let n = counted_of(group, i);
                format!("{} {} ({})", class_name(class), count(n as u32), percent(n, all))
            })
            .collect();
        let shares = if shares.is_empty() { "no failures".to_owned() } else { shares.join(", ") };
        sentences.push(format!("{} ({}): {shares}.", full_name(&group.label), group_note(group)));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "1 of 1 failed attempts" stood at a bar that is pointed at.
    #[test]
    fn one_failed_attempt_is_in_the_singular() {
        assert_eq!(in_words(1, 1, "failed attempts"), "1 of 1 failed attempt");
        assert_eq!(in_words(1, 1_200, "failed attempts"), "1 of 1,200 failed attempts");
    }
}
