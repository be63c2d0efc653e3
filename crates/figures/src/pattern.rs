//! Fills that differ without color: grays with hatches.

use plotters::style::RGBColor;

use crate::font::text_width;
use crate::labels::Area;
use crate::marks::{Anchor, Canvas, Pen};
use crate::sheet::Sheet;
use crate::spec::CLASS_PATTERNS;

/// How a fill is hatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hatch {
    Plain,
    Rising,
    Falling,
    Crossed,
    Level,
    Upright,
    Grid,
}

/// Distances of the lines of a hatch, in heights of letters.
const NARROW: f64 = 0.55;
const WIDE: f64 = 1.1;

/// Kinds of fills: the strength of the color of the series, its hatch, and the distance of its lines. No two are alike, and those that
/// differ most come first.
const FILLS: [(f64, Hatch, f64); CLASS_PATTERNS as usize] = [
    (1.0, Hatch::Plain, NARROW),
    (0.0, Hatch::Rising, NARROW),
    (0.45, Hatch::Plain, NARROW),
    (0.0, Hatch::Crossed, NARROW),
    (0.2, Hatch::Falling, NARROW),
    (0.12, Hatch::Level, NARROW),
    (0.0, Hatch::Upright, NARROW),
    (0.45, Hatch::Rising, NARROW),
    (0.0, Hatch::Grid, NARROW),
    (0.2, Hatch::Plain, NARROW),
    (0.0, Hatch::Falling, NARROW),
    (0.45, Hatch::Level, NARROW),
    (0.2, Hatch::Rising, NARROW),
    (0.7, Hatch::Plain, NARROW),
    (0.0, Hatch::Level, WIDE),
    (0.45, Hatch::Falling, NARROW),
    (0.2, Hatch::Crossed, NARROW),
    (0.45, Hatch::Upright, NARROW),
    (0.0, Hatch::Rising, WIDE),
    (0.2, Hatch::Grid, NARROW),
    (0.0, Hatch::Falling, WIDE),
    (0.45, Hatch::Crossed, NARROW),
    (0.2, Hatch::Upright, NARROW),
    (0.0, Hatch::Crossed, WIDE),
    (0.45, Hatch::Grid, NARROW),
    (0.2, Hatch::Level, WIDE),
    (0.45, Hatch::Level, WIDE),
    (0.0, Hatch::Upright, WIDE),
    (0.2, Hatch::Rising, WIDE),
    (0.2, Hatch::Falling, WIDE),
    (0.0, Hatch::Grid, WIDE),
    (0.45, Hatch::Rising, WIDE),
    (0.45, Hatch::Falling, WIDE),
    (0.2, Hatch::Crossed, WIDE),
    (0.45, Hatch::Crossed, WIDE),
    (0.2, Hatch::Upright, WIDE),
];

/// The pattern of classes that are drawn together as "other". It is the last one.
pub(crate) const REST: u8 = CLASS_PATTERNS - 1;

/// Fills an area with the pattern of an index.
pub(crate) fn fill(canvas: &Canvas<'_>, area: Area, index: usize, sheet: &Sheet) {
    let (strength, hatch, distance) = FILLS[index % FILLS.len()];
    let color = color(index, sheet);
    if strength >= 1.0 {
        canvas.bar((area.left, area.top), (area.right, area.bottom), color);
    } else if strength > 0.0 {
        let corners = [
            (area.left, area.top),
            (area.right, area.top),
            (area.right, area.bottom),
            (area.left, area.bottom),
        ];
        canvas.shape(&corners, color, strength);
    }
    let pen = Pen::new(color, sheet.sizes.rule);
    let every = distance * sheet.sizes.tick_font;
    match hatch {
        Hatch::Plain => {}
        Hatch::Rising => diagonals(canvas, area, every, true, pen),
        Hatch::Falling => diagonals(canvas, area, every, false, pen),
        Hatch::Crossed => {
            diagonals(canvas, area, every, true, pen);
            diagonals(canvas, area, every, false, pen);
        }
        Hatch::Level => level(canvas, area, every, pen),
        Hatch::Upright => upright(canvas, area, every, pen),
        Hatch::Grid => {
            level(canvas, area, every, pen);
            upright(canvas, area, every, pen);
        }
    }
    canvas.frame(
        (area.left, area.top),
        (area.right, area.bottom),
        Pen::new(sheet.tokens.label, sheet.sizes.axis),
    );
}

/// Whether a text fits into a filled area.
pub(crate) fn has_room(area: Area, text: &str, sheet: &Sheet) -> bool {
    let size = sheet.sizes.tick_font;
    text_width(text, size) + 0.8 * size <= area.right - area.left && 1.2 * size <= area.bottom - area.top
}

/// A text in the middle of a filled area, if it fits there.
pub(crate) fn label(canvas: &Canvas<'_>, area: Area, text: &str, index: usize, sheet: &Sheet) {
    let size = sheet.sizes.tick_font;
    let width = text_width(text, size);
    if !has_room(area, text, sheet) {
        return;
    }
    let (x, y) = (f64::midpoint(area.left, area.right), f64::midpoint(area.top, area.bottom));
    let (strength, hatch, _) = FILLS[index % FILLS.len()];
    let ink = if strength >= 1.0 { sheet.tokens.paper } else { sheet.tokens.label };
    if hatch != Hatch::Plain || strength < 1.0 {
        // Letters must not be on lines.
        let half = width / 2.0 + 0.2 * size;
        canvas.bar((x - half, y - 0.55 * size), (x + half, y + 0.55 * size), sheet.tokens.paper);
    }
    canvas.text(text, (x, y + 0.35 * size), Anchor::Middle, size, ink);
}

fn color(index: usize, sheet: &Sheet) -> RGBColor {
    sheet.tokens.series_text(index as u8)
}

/// Horizontal lines, which stand closer than those of other hatches.
fn level(canvas: &Canvas<'_>, area: Area, every: f64, pen: Pen) {
    let mut y = area.top + 0.5 * every;
    while y < area.bottom {
        canvas.line(&[(area.left, y), (area.right, y)], pen);
        y += 0.6 * every;
    }
}

/// Vertical lines.
fn upright(canvas: &Canvas<'_>, area: Area, every: f64, pen: Pen) {
    let mut x = area.left + 0.5 * every;
    while x < area.right {
        canvas.line(&[(x, area.top), (x, area.bottom)], pen);
        x += 0.6 * every;
    }
}

/// Parallel lines at 45°, cut at the edges.
fn diagonals(canvas: &Canvas<'_>, area: Area, every: f64, rising: bool, pen: Pen) {
    let (width, height) = (area.right - area.left, area.bottom - area.top);
    if !(width > 0.0 && height > 0.0 && every > 0.1) {
        return;
    }
    let count = ((width + height) / every).min(2_000.0) as u32;
    for i in 1..=count {
        // By the distance from the upper left corner: from the left or lower edge to the upper or right one.
        let d = f64::from(i) * every;
        let (x0, y0) = if d <= height { (0.0, d) } else { (d - height, height) };
        let (x1, y1) = if d <= width { (d, 0.0) } else { (width, d - width) };
        if x0 >= x1 {
            continue;
        }
        let flip = |y: f64| if rising { area.top + y } else { area.bottom - y };
        canvas.line(&[(area.left + x0, flip(y0)), (area.left + x1, flip(y1))], pen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fills_are_alike() {
        for (i, fill) in FILLS.iter().enumerate() {
            assert!(!FILLS[..i].contains(fill), "{fill:?}");
        }
    }
}
