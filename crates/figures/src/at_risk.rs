//! The table of numbers at risk under a turn axis, with the names of the series.

use analysis::survival::SurvivalPoint;

use crate::display_names::shown_all;
use crate::frame::Sizes;
use crate::marks::{Anchor, Canvas};
use crate::series_style::{Style, sample_width};
use crate::sheet::{PAD, Sheet};
use crate::spec::SeriesLabel;
use crate::summary_text;

/// One row.
pub(crate) struct Row<'a> {
    pub(crate) label: &'a SeriesLabel,
    pub(crate) style: Style,
    pub(crate) points: &'a [SurvivalPoint],
    /// Texts right of the numbers, one per column of [`Place::extras`].
    pub(crate) extras: Vec<&'a str>,
}

/// The place of the table.
pub(crate) struct Place<'a> {
    /// Upper edge.
    pub(crate) top: f64,
    /// Right edge of the column with names and samples; `None` = each name is in a line above its numbers.
    pub(crate) names_right: Option<f64>,
    /// Turns that may have a column, with their places.
    pub(crate) columns: &'a [(u32, f64)],
    /// Columns at the right: their right edges and heads.
    pub(crate) extras: &'a [(f64, &'a str)],
}

/// What stands before the numbers.
pub(crate) const HEAD: &str = "At risk";
/// Room above the head, in letters.
const TOP: f64 = 0.2;

/// Height of a line of a row.
pub(crate) fn row_height(sizes: &Sizes) -> f64 {
    (1.36 * sizes.tick_font).round()
}

/// The lines of a row.
pub(crate) const fn lines_of_row(has_names_above: bool) -> usize {
    if has_names_above { 2 } else { 1 }
}

/// Height of a table with this number of rows, with the room above it.
pub(crate) fn height(rows: usize, has_names_above: bool, sizes: &Sizes) -> f64 {
    (rows * lines_of_row(has_names_above) + 1) as f64 * row_height(sizes) + TOP * sizes.tick_font
}

/// Width of the samples beside the names.
pub(crate) fn sample_room(sizes: &Sizes) -> f64 {
    sample_width(sizes) + 0.9 * sizes.tick_font
}

/// The places of names and samples.
struct Names {
    /// x of the head, of the names, and of the left end of the samples.
    head: f64,
    text: f64,
    sample: f64,
    /// Width for a name.
    room: f64,
    anchor: Anchor,
}

fn names(sheet: &Sheet, place: &Place<'_>, rows: &[Row<'_>]) -> Names {
    let size = sheet.sizes.tick_font;
    let samples = sample_room(&sheet.sizes);
    if let Some(right) = place.names_right {
        let text = right - samples;
        // With short names the head is wider than their column.
        let head = text.max(PAD + sheet.tick_width(HEAD));
        return Names { head, text, sample: text + 0.5 * size, room: text - PAD, anchor: Anchor::End };
    }
    let left = sheet.names_left();
    let text = left + samples;
    let right = extras_left(sheet, place, rows).map_or(sheet.width - PAD, |extras| extras - 0.8 * size);
    Names { head: left, text, sample: left, room: right - text, anchor: Anchor::Start }
}

/// Left edge of the texts of the first column at the right.
fn extras_left(sheet: &Sheet, place: &Place<'_>, rows: &[Row<'_>]) -> Option<f64> {
    let (right, _) = place.extras.first()?;
    let first = rows.iter().filter_map(|r| r.extras.first());
    Some(right - first.map(|text| sheet.tick_width(text)).fold(0.0, f64::max))
}

/// Draws the table. Returns the upper edge of each row.
pub(crate) fn draw(sheet: &Sheet, canvas: &Canvas<'_>, place: &Place<'_>, rows: &[Row<'_>]) -> Vec<f64> {
    let sizes = &sheet.sizes;
    let (size, row_height) = (sizes.tick_font, row_height(sizes));
    let base =
        |line: usize| place.top + TOP * size + line as f64 * row_height + 0.5 * row_height + 0.35 * size;
    // Below the head.
    let lines_each = lines_of_row(place.names_right.is_none());
    let first_line = |row: usize| 1 + row * lines_each;
    let places = names(sheet, place, rows);
    canvas.part("at-risk");
    canvas.text(HEAD, (places.head, base(0)), places.anchor, size, sheet.tokens.muted);
    for (right, head) in place.extras {
        canvas.text(head, (*right, base(0)), Anchor::End, size, sheet.tokens.muted);
    }
    let columns = columns(sheet, place, rows);
    let names = shown_all(&rows.iter().map(|row| row.label).collect::<Vec<_>>(), places.room, size);
    for (i, (row, name)) in rows.iter().zip(&names).enumerate() {
        let base_of_name = base(first_line(i));
        let base_of_numbers = base(first_line(i) + lines_each - 1);
        let color = if row.style.muted { sheet.tokens.muted } else { sheet.tokens.label };
        canvas.text(name, (places.text, base_of_name), places.anchor, size, color);
        row.style.sample(canvas, (places.sample, base_of_name - 0.35 * size), sample_width(sizes), sizes);
        for (turn, x) in &columns {
            if let Some(text) = number(row.points, *turn) {
                canvas.text(&text, (*x, base_of_numbers), Anchor::Middle, size, color);
            }
        }
        for ((right, _), text) in place.extras.iter().zip(&row.extras) {
            canvas.text(text, (*right, base_of_name), Anchor::End, size, color);
        }
    }
    (0..rows.len()).map(|i| place.top + TOP * size + first_line(i) as f64 * row_height).collect()
}

/// How many are at risk at a turn, if its table has it.
pub(crate) fn number(points: &[SurvivalPoint], turn: u32) -> Option<String> {
    // Before turn 1, the same episodes are at risk as at turn 1.
    points.iter().find(|p| p.turn == turn.max(1)).map(|p| summary_text::count(p.at_risk))
}

/// The columns in which the numbers of all rows do not touch their neighbors.
fn columns(sheet: &Sheet, place: &Place<'_>, rows: &[Row<'_>]) -> Vec<(u32, f64)> {
    let size = sheet.sizes.tick_font;
    let mut free_from = place.names_right.unwrap_or(PAD);
    // Names above the numbers have the columns at the right beside them.
    let end = place.names_right.and_then(|_| extras_left(sheet, place, rows));
    let mut kept = Vec::new();
    for (turn, x) in place.columns {
        let widest = rows
            .iter()
            .filter_map(|r| number(r.points, *turn))
            .map(|text| sheet.tick_width(&text))
            .fold(0.0, f64::max);
        let half = widest / 2.0;
        let inside = x + half <= sheet.width - PAD;
        let clear = end.is_none_or(|end| x + half + 0.5 * size <= end);
        if x - half + 0.01 >= free_from && inside && clear {
            kept.push((*turn, *x));
            free_from = x + half + 0.6 * size;
        }
    }
    kept
}
