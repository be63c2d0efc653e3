//! One measure, with one horizontal bar per run.

use std::borrow::Cow;

use crate::display_names::{clean, fit, full_name, readable_width, shown_all, usual_width};
use crate::footnotes;
use crate::labels::Area;
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::{amount, decimal};
use crate::scale::ValueAxis;
use crate::series_style::{has_own_colors, hollow_diamond};
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{BarRow, Bars, Layout, Published, Scale, SeriesLabel};
use crate::summary_text::counted;
use crate::theme::Theme;
use crate::{Drawing, Mark};

struct BarsPlan {
    /// Bars have no markers: a color that two runs share would suggest a relation.
    has_own_colors: bool,
    names_right: f64,
    axis: ValueAxis,
    row: f64,
    bottom: f64,
    /// Rows whose word about the value has no room behind it: it is among the notes.
    is_noted_below: Vec<bool>,
    /// How many published numbers of each row have room beside its bar: the others are among the notes.
    published_beside: Vec<usize>,
    notes: Vec<String>,
    height: f64,
}

const TOP: f64 = 2.0;

pub(crate) fn draw(data: &Bars, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let plan = plan(data, &sheet);
    let form = NumberForm::from_bars(data);
    let drawing_names = DrawingNames { kind: "bars", title: "Measure by run", summary: summary(data) };
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        let labels: Vec<&SeriesLabel> = data.rows.iter().map(|row| &row.label).collect();
        let names = shown_all(&labels, plan.names_right - sheet.names_left(), sheet.sizes.tick_font);
        for (i, (row, name)) in data.rows.iter().zip(&names).enumerate() {
            let row = without_note(row, plan.is_noted_below[i]);
            draw_row(&sheet, canvas, &plan, (i, name), &row, form);
        }
        let (zero, name) = (plan.axis.position(0.0), axis_name(data));
        if has_value(data) {
            sheet.draw_across(canvas, "x-axis", &plan.axis, plan.bottom, &name);
            canvas.part("zero");
            canvas.line(&[(zero, TOP), (zero, plan.bottom)], Pen::new(sheet.tokens.axis, sheet.sizes.axis));
        } else {
            // Without a value, the axis would be invented.
            let (left, right) = plan.axis.ends();
            canvas.part("x-axis");
            sheet.name_below(canvas, f64::midpoint(left, right), plan.bottom, &name);
        }
        let top = plan.bottom + sheet.below(true);
        footnotes::draw(&sheet, canvas, &plan.notes, top);
    });
    drawing.marks = data
        .rows
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let top = TOP + i as f64 * plan.row;
            let area = Area { left: PAD, top, right: sheet.width - PAD, bottom: top + plan.row };
            Mark::new(format!("row-{i}"), Some(i), area, row_texts(row, data, form))
        })
        .collect();
    drawing
}

/// Whether there is a value to draw.
pub(crate) fn has_value(data: &Bars) -> bool {
    let is_known = |row: &BarRow| row.value.is_some_and(f64::is_finite);
    data.rows.iter().any(|row| is_known(row) || row.published.iter().any(|p| p.value.is_finite()))
}

/// `Cost per survived turn ($)`.
pub(crate) fn with_unit(name: &str, unit: Option<&str>) -> String {
    unit.map_or_else(|| clean(name), |unit| format!("{} ({})", clean(name), clean(unit)))
}

pub(crate) fn axis_name(data: &Bars) -> String {
    with_unit(&data.measure, data.unit.as_deref())
}

/// An amount with its unit: `$0.42`, `2.31 M tokens`.
pub(crate) fn in_unit(value: f64, unit: Option<&str>) -> String {
    with_sign(amount(value), unit)
}

/// A number with the sign of its unit, if that has one: `$0.42`.
fn with_sign(text: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit)
            if unit.chars().count() == 1 && !unit.chars().all(char::is_alphanumeric) && unit != "%" =>
        {
            text.strip_prefix('−').map_or_else(|| format!("{unit}{text}"), |rest| format!("−{unit}{rest}"))
        }
        _ => text,
    }
}

/// How the numbers of a figure are written.
#[derive(Debug, Clone, Copy)]
struct NumberForm<'a> {
    unit: Option<&'a str>,
    /// The decimals of zero: the most that another value has.
    zero_decimals: usize,
}

impl<'a> NumberForm<'a> {
    fn from_bars(data: &'a Bars) -> Self {
        let texts = data.rows.iter().filter_map(|row| row.value).map(amount);
        let decimals = texts.filter_map(|text| {
            let (_, decimals) = text.split_once('.')?;
            // Behind the decimals of a large number is its unit: `2.31 M`.
            decimals.bytes().all(|byte| byte.is_ascii_digit()).then_some(decimals.len())
        });
        Self { unit: data.unit.as_deref(), zero_decimals: decimals.max().unwrap_or(0) }
    }

    /// A number without its unit.
    fn bare(self, value: f64) -> String {
        if value == 0.0 { decimal(0.0, self.zero_decimals) } else { amount(value) }
    }

    /// A number with the sign of its unit.
    fn text(self, value: f64) -> String {
        with_sign(self.bare(value), self.unit)
    }

    /// What stands behind the bar of a row.
    fn row_text(self, row: &BarRow) -> String {
        let note = row.note.as_ref().map(|n| format!(" ({})", clean(n))).unwrap_or_default();
        row.value.filter(|v| v.is_finite()).map_or_else(
            || format!("{}{note}", row.instead.as_deref().map_or_else(|| "unknown".to_owned(), clean)),
            |v| format!("{}{note}", self.text(v)),
        )
    }
}

/// The sources of published values, each once.
pub(crate) fn published(data: &Bars) -> Vec<String> {
    footnotes::each_once(data.rows.iter().flat_map(|row| &row.published).map(|p| clean(&p.source)))
}

/// What the hollow marks are; empty = there are none.
pub(crate) fn published_note(sources: &[String]) -> String {
    if sources.is_empty() {
        String::new()
    } else {
        format!("Hollow diamonds: published, {}", sources.join("; "))
    }
}

fn plan(data: &Bars, sheet: &Sheet) -> BarsPlan {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let form = NumberForm::from_bars(data);
    let labels: Vec<&SeriesLabel> = data.rows.iter().map(|row| &row.label).collect();
    let usual = usual_width(&labels, size, sheet.width, 0.32);
    let names_right = sheet.names_left() + readable_width(&labels, size, usual, 0.45 * sheet.width);
    let left = names_right + 0.7 * size;
    let widest = data.rows.iter().map(|r| beside_width(sheet, r, form)).fold(0.0, f64::max);
    // Numbers are right of the longest bar.
    let after = (widest + 0.8 * size).min(0.45 * sheet.width);
    let right = (sheet.width - PAD - after).max(left + 4.0 * size);
    let values = data.rows.iter().flat_map(|r| [r.value, r.ci_low, r.ci_high]).flatten();
    let others = data.rows.iter().flat_map(|r| &r.published).map(|p| p.value);
    let axis = sheet.across(&values.chain(others).chain([0.0]), Scale::Linear, left, right);
    let right = widened(data, sheet, &axis);
    let axis = axis.moved([left, right]);
    let has_room = |row: &BarRow| {
        beside_width(sheet, row, form) <= sheet.width - PAD - after_marks(sheet, &axis, row) + 0.5
    };
    let is_noted_below: Vec<bool> =
        data.rows.iter().map(|row| row.note.is_some() && !has_room(row)).collect();
    let below = data.rows.iter().zip(&is_noted_below).filter_map(|(row, is_below)| {
        let note = row.note.as_ref().filter(|_| *is_below)?;
        Some(format!("{}: {}", full_name(&row.label), clean(note)))
    });
    let published = Some(published_note(&published(data))).filter(|note| !note.is_empty());
    let notes: Vec<String> = published.into_iter().chain(below).collect();
    let notes_width = sheet.width - 2.0 * PAD;
    let mut notes = footnotes::wrap(&notes.join(". "), notes_width, size);
    let published_beside: Vec<usize> = data
        .rows
        .iter()
        .zip(&is_noted_below)
        .map(|(row, is_below)| count_published_beside(sheet, &axis, &without_note(row, *is_below), form))
        .collect();
    let names = shown_all(&labels, names_right - sheet.names_left(), size);
    notes.extend(footnotes::wrap(&published_below(data, &names, &published_beside), notes_width, size));
    let count = data.rows.len().max(1) as f64;
    let rest = TOP + sheet.below(true) + footnotes::height(notes.len(), size) + PAD;
    let least = if sheet.print { 1.6 * size } else { 22.0 };
    let row = sheet.height.map_or(least, |h| ((h - rest) / count).clamp(least, 4.0 * size));
    let bottom = TOP + count * row;
    BarsPlan {
        has_own_colors: has_own_colors(&labels),
        names_right,
        axis,
        row,
        bottom,
        is_noted_below,
        published_beside,
        notes,
        height: bottom + rest - TOP,
    }
}

/// A row as it is drawn, without its word about the value if that is among the notes.
fn without_note(row: &BarRow, is_noted_below: bool) -> Cow<'_, BarRow> {
    if is_noted_below { Cow::Owned(BarRow { note: None, ..row.clone() }) } else { Cow::Borrowed(row) }
}

/// The published numbers of a row that can be written.
fn published_of(row: &BarRow) -> impl Iterator<Item = &Published> {
    row.published.iter().filter(|published| published.value.is_finite())
}

/// How many published numbers of a row have room behind its own number.
fn count_published_beside(sheet: &Sheet, axis: &ValueAxis, row: &BarRow, form: NumberForm<'_>) -> usize {
    let mut right = after_marks(sheet, axis, row) + sheet.tick_width(&form.row_text(row));
    let fits = |published: &&Published| {
        right += published_width(sheet, published, form);
        right <= sheet.width - PAD + 0.5
    };
    published_of(row).take_while(fits).count()
}

/// The published numbers without room beside their bars, for a note below them; empty = all have room.
fn published_below(data: &Bars, names: &[String], published_beside: &[usize]) -> String {
    let form = NumberForm::from_bars(data);
    let rows = data.rows.iter().zip(names).zip(published_beside).filter_map(|((row, name), beside)| {
        let numbers: Vec<String> =
            published_of(row).skip(*beside).map(|published| form.text(published.value)).collect();
        (!numbers.is_empty()).then(|| format!("{name}: {}", numbers.join(", ")))
    });
    let rows: Vec<String> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("Published, without room beside the bar: {}", rows.join("; "))
}

/// Where the number of a row begins: behind its bar, its interval and published marks.
fn after_marks(sheet: &Sheet, axis: &ValueAxis, row: &BarRow) -> f64 {
    let high = row.ci_low.and(row.ci_high).filter(|_| row.value.is_some());
    let ends = [row.value.filter(|v| v.is_finite()), high].into_iter().flatten().map(|v| axis.position(v));
    let marks = row.published.iter().filter(|p| axis.holds(p.value));
    let marks = marks.map(|p| axis.position(p.value) + 1.5 * sheet.sizes.mark);
    ends.chain(marks).fold(axis.position(0.0), f64::max) + 0.5 * sheet.sizes.tick_font
}

/// The right end of the axis that leaves room for the number of every row. The first estimate keeps room for the widest
/// number right of the axis, but this number often belongs to a short bar.
fn widened(data: &Bars, sheet: &Sheet, axis: &ValueAxis) -> f64 {
    let size = sheet.sizes.tick_font;
    let (left, right) = axis.ends();
    let limit = sheet.width - PAD;
    let form = NumberForm::from_bars(data);
    let room = data.rows.iter().filter_map(|row| {
        let published = row.published.iter().map(|p| p.value);
        let values = [row.value, row.ci_high].into_iter().flatten().chain(published);
        let end =
            values.filter(|v| axis.holds(*v)).map(|v| axis.position(v)).fold(axis.position(0.0), f64::max);
        let share = (end - left) / (right - left);
        let text = beside_width(sheet, row, form) + 0.5 * size + 2.0 * sheet.sizes.mark;
        (share > 0.0).then(|| left + (limit - text - left) / share)
    });
    // Half of the label of the last tick is right of the axis.
    let label = axis.ticks.last().map_or(0.0, |t| sheet.tick_width(&t.1)) / 2.0;
    room.fold(limit - label, f64::min).max(right)
}

fn draw_row(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &BarsPlan,
    (i, name): (usize, &str),
    row: &BarRow,
    form: NumberForm<'_>,
) {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let middle = TOP + (i as f64 + 0.5) * plan.row;
    let base = middle + 0.35 * size;
    let color = if plan.has_own_colors { row.label.color } else { 0 };
    let fill = sheet.tokens.series(color);
    canvas.part(&format!("row-{i}"));
    canvas.text(name, (plan.names_right, base), Anchor::End, size, sheet.tokens.label);
    let zero = plan.axis.position(0.0);
    if let Some(value) = row.value.filter(|v| v.is_finite()) {
        let x = plan.axis.position(value);
        let half = 0.32 * plan.row;
        canvas.bar((zero.min(x), middle - half), (zero.max(x), middle + half), fill);
        if let (Some(low), Some(high)) = (row.ci_low, row.ci_high) {
            let (low, high) = (plan.axis.position(low), plan.axis.position(high));
            let cap = 0.16 * plan.row;
            // On a bar, a whisker needs a light outline.
            for (color, width) in
                [(sheet.tokens.paper, 2.6 * sizes.axis), (sheet.tokens.axis, 1.4 * sizes.axis)]
            {
                let pen = Pen::new(color, width);
                canvas.line(&[(low, middle), (high, middle)], pen);
                for end in [low, high] {
                    canvas.line(&[(end, middle - cap), (end, middle + cap)], pen);
                }
            }
        }
    }
    for published in row.published.iter().filter(|p| plan.axis.holds(p.value)) {
        let x = plan.axis.position(published.value);
        hollow_diamond(
            canvas,
            (x, middle),
            1.2 * sizes.mark,
            sheet.tokens.axis,
            sheet.tokens.paper,
            sizes.censor,
        );
    }
    let color = if row.value.is_some() { sheet.tokens.label } else { sheet.tokens.muted };
    // Published numbers follow the number of the run, each with its mark.
    let mut left = after_marks(sheet, &plan.axis, row);
    let text = fit(&form.row_text(row), sheet.width - PAD - left, size);
    canvas.text(&text, (left, base), Anchor::Start, size, color);
    left += sheet.tick_width(&text);
    for published in published_of(row).take(plan.published_beside[i]) {
        let text = form.text(published.value);
        let half = 0.8 * sizes.mark;
        left += before_published(sheet);
        hollow_diamond(
            canvas,
            (left + half, middle),
            half,
            sheet.tokens.axis,
            sheet.tokens.paper,
            sizes.censor,
        );
        canvas.text(&text, (left + 3.0 * half, base), Anchor::Start, size, sheet.tokens.muted);
        left += 3.0 * half + sheet.tick_width(&text);
    }
}

/// Between a number and the mark of a published one.
fn before_published(sheet: &Sheet) -> f64 {
    0.8 * sheet.sizes.tick_font
}

/// Width of the texts after a bar: its number, and published numbers with their marks.
fn beside_width(sheet: &Sheet, row: &BarRow, form: NumberForm<'_>) -> f64 {
    let own = sheet.tick_width(&form.row_text(row));
    own + published_of(row).map(|published| published_width(sheet, published, form)).sum::<f64>()
}

/// Width of a published number with its mark, and the room before it.
fn published_width(sheet: &Sheet, published: &Published, form: NumberForm<'_>) -> f64 {
    before_published(sheet) + 2.4 * sheet.sizes.mark + sheet.tick_width(&form.text(published.value))
}

fn row_texts(row: &BarRow, data: &Bars, form: NumberForm<'_>) -> Vec<String> {
    let mut lines = vec![full_name(&row.label), format!("{}: {}", axis_name(data), form.row_text(row))];
    if let (Some(low), Some(high)) = (row.ci_low, row.ci_high) {
        lines.push(format!("95 % CI {}–{}", form.bare(low), form.bare(high)));
    }
    lines.extend(
        row.published.iter().map(|p| format!("published: {} ({})", form.text(p.value), clean(&p.source))),
    );
    lines
}

fn summary(data: &Bars) -> String {
    let mut sentences =
        vec![format!("{} of {}.", axis_name(data), counted(data.rows.len() as u32, "run", "runs"))];
    let form = NumberForm::from_bars(data);
    for row in &data.rows {
        let texts = row_texts(row, data, form);
        let rest: Vec<&str> = texts[2..].iter().map(String::as_str).collect();
        let value = form.row_text(row);
        let rest = if rest.is_empty() { String::new() } else { format!(", {}", rest.join(", ")) };
        sentences.push(format!("{}: {value}{rest}.", texts[0]));
    }
    sentences.join(" ")
}
