//! Samples and names of series in lines, under a plot or above it.

use crate::font::text_width;
use crate::labels::Area;
use crate::marks::{Anchor, Canvas};
use crate::names::{natural_width, shown};
use crate::sheet::{PAD, Sheet};
use crate::spec::SeriesLabel;
use crate::swatch::{Style, sample_width};

/// Where the entries stand: line and left edge, and how wide their names may be.
fn places<'a>(sheet: &Sheet, labels: impl Iterator<Item = &'a SeriesLabel>) -> Vec<(usize, f64, f64)> {
    let size = sheet.sizes.tick_font;
    let before = sample_width(&sheet.sizes) + 0.5 * size;
    let room = sheet.width - 2.0 * PAD;
    let (mut line, mut left) = (0, PAD);
    labels
        .map(|label| {
            let width = natural_width(label, size).min(room - before).max(0.0);
            if left > PAD && left + before + width > PAD + room {
                line += 1;
                left = PAD;
            }
            let at = (line, left, width);
            left += before + width + 1.4 * size;
            at
        })
        .collect()
}

fn line_height(size: f64) -> f64 {
    1.5 * size
}

/// Height of a legend of these series, with some room above it.
pub(crate) fn height<'a>(sheet: &Sheet, labels: impl Iterator<Item = &'a SeriesLabel>) -> f64 {
    let size = sheet.sizes.tick_font;
    places(sheet, labels).last().map_or(0.0, |last| (last.0 + 1) as f64 * line_height(size) + 0.4 * size)
}

/// Draws a legend from `top` downwards. Returns where its entries stand.
pub(crate) fn draw(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    top: f64,
    entries: &[(&SeriesLabel, Style)],
) -> Vec<Area> {
    let size = sheet.sizes.tick_font;
    let sample = sample_width(&sheet.sizes);
    canvas.part("legend");
    places(sheet, entries.iter().map(|e| e.0))
        .into_iter()
        .zip(entries)
        .map(|((line, left, width), (label, style))| {
            let middle = top + 0.4 * size + (line as f64 + 0.5) * line_height(size);
            style.sample(canvas, (left, middle), sample, &sheet.sizes);
            let text = shown(label, width + 0.01, size);
            let at = (left + sample + 0.5 * size, middle + 0.35 * size);
            let color = if style.muted { sheet.tokens.muted } else { sheet.tokens.label };
            canvas.text(&text, at, Anchor::Start, size, color);
            let right = at.0 + text_width(&text, size);
            let half = line_height(size) / 2.0;
            Area { left, top: middle - half, right, bottom: middle + half }
        })
        .collect()
}
