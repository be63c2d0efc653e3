//! Samples and names of series in lines, under a plot or above it.

use crate::display_names::shown_all;
use crate::font::text_width;
use crate::labels::Area;
use crate::marks::{Anchor, Canvas};
use crate::series_style::{Style, sample_width};
use crate::sheet::{PAD, Sheet};
use crate::spec::SeriesLabel;

/// An entry: its line, its left edge and its text.
struct Entry {
    line: usize,
    left: f64,
    text: String,
}

/// The places of the entries. A name takes at most one line. Different names stay different.
fn entries(sheet: &Sheet, labels: &[&SeriesLabel]) -> Vec<Entry> {
    let size = sheet.sizes.tick_font;
    let before = sample_space(sheet);
    let begin = sheet.names_left();
    let (mut line, mut left) = (0, begin);
    shown_all(labels, room_of_name(sheet), size)
        .into_iter()
        .map(|text| {
            let width = text_width(&text, size);
            if left > begin && left + before + width > sheet.width - PAD {
                line += 1;
                left = begin;
            }
            let entry = Entry { line, left, text };
            left += before + width + 1.4 * size;
            entry
        })
        .collect()
}

/// Room before a name: its sample.
fn sample_space(sheet: &Sheet) -> f64 {
    sample_width(&sheet.sizes) + 0.5 * sheet.sizes.tick_font
}

/// The widest name of an entry.
pub(crate) fn room_of_name(sheet: &Sheet) -> f64 {
    (sheet.width - PAD - sheet.names_left() - sample_space(sheet)).max(0.0)
}

fn line_height(size: f64) -> f64 {
    1.5 * size
}

/// Height of a legend of these series, with the space above it.
pub(crate) fn height<'a>(sheet: &Sheet, labels: impl Iterator<Item = &'a SeriesLabel>) -> f64 {
    let size = sheet.sizes.tick_font;
    let entries = entries(sheet, &labels.collect::<Vec<_>>());
    entries.last().map_or(0.0, |last| (last.line + 1) as f64 * line_height(size) + 0.4 * size)
}

/// Draws a legend from `top` downwards. Returns the places of its entries.
pub(crate) fn draw(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    top: f64,
    series: &[(&SeriesLabel, Style)],
) -> Vec<Area> {
    let size = sheet.sizes.tick_font;
    let sample = sample_width(&sheet.sizes);
    canvas.part("legend");
    entries(sheet, &series.iter().map(|s| s.0).collect::<Vec<_>>())
        .into_iter()
        .zip(series)
        .map(|(Entry { line, left, text }, (_, style))| {
            let middle = top + 0.4 * size + (line as f64 + 0.5) * line_height(size);
            style.sample(canvas, (left, middle), sample, &sheet.sizes);
            let place = (left + sample + 0.5 * size, middle + 0.35 * size);
            let color = if style.muted { sheet.tokens.muted } else { sheet.tokens.label };
            canvas.text(&text, place, Anchor::Start, size, color);
            let right = place.0 + text_width(&text, size);
            let half = line_height(size) / 2.0;
            Area { left, top: middle - half, right, bottom: middle + half }
        })
        .collect()
}
