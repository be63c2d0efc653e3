//! The scale of the colors of a matrix: from 0 to the largest mean, with both numbers and the name of the measure.

use super::MatrixPlan;
use super::colors::ramp;
use crate::display_names::clean;
use crate::font::text_width;
use crate::marks::{Anchor, Canvas};
use crate::number::decimal;
use crate::sheet::{PAD, Sheet};
use crate::theme::{Theme, grey};

/// The number of colors in the bar.
const STEPS: u32 = 24;
/// The widest bar, and the narrowest one for a name behind it, in heights of letters.
const WIDEST: f64 = 12.0;
const NARROWEST: f64 = 4.0;

/// The height of the bar with its distance to the cells. 0 = no cell has a color above 0, and there is no bar.
pub(super) fn height(most: f64, size: f64) -> f64 {
    if most > 0.0 { 1.9 * size } else { 0.0 }
}

/// Draws the bar under the first column, with the least and the largest value beside its ends. Its name stands under those of rows,
/// otherwise behind the bar, if one of them has room for all of it.
pub(super) fn draw(sheet: &Sheet, canvas: &Canvas<'_>, plan: &MatrixPlan, measure: &str) {
    let size = plan.size;
    let bar_height = height(plan.most, size);
    if bar_height <= 0.0 {
        return;
    }
    let texts = ["0".to_owned(), decimal(plan.most, 1)];
    let [low, high] = [&texts[0], &texts[1]].map(|text| text_width(text, size));
    let labels = low + high + size;
    // Without room beside the names of rows, the bar begins at the edge.
    let least = labels + 3.0 * size;
    let start = if sheet.width - PAD - plan.left >= least { plan.left } else { PAD };
    let room = sheet.width - PAD - start - labels;
    let name = clean(measure);
    let name_width = text_width(&name, size);
    let names_right = start - 0.6 * size;
    let is_before = names_right - sheet.names_left() >= name_width;
    let room_before_name = room - size - name_width;
    let is_behind = !is_before && room_before_name >= NARROWEST * size;
    let width = if is_behind { room_before_name } else { room }.min(WIDEST * size);
    if width <= 0.0 {
        return;
    }
    let base = plan.notes_top - 0.5 * size;
    let (left, top) = (start + low + 0.5 * size, base - 0.75 * size);
    canvas.part("color-bar");
    canvas.text(&texts[0], (start, base), Anchor::Start, size, sheet.tokens.muted);
    for step in 0..STEPS {
        let x_of_step = |step: u32| left + width * f64::from(step.min(STEPS)) / f64::from(STEPS);
        let color = ramp((f64::from(step) + 0.5) / f64::from(STEPS));
        let color = if sheet.theme == Theme::Grey { grey(color) } else { color };
        // It reaches below the next one, so that no pale seam shows between two colors whose edge is within a pixel.
        canvas.bar((x_of_step(step), top), (x_of_step(step + 2), base), color);
    }
    let after = left + width + 0.5 * size;
    canvas.text(&texts[1], (after, base), Anchor::Start, size, sheet.tokens.muted);
    if is_before {
        canvas.text(&name, (names_right, base), Anchor::End, size, sheet.tokens.muted);
    } else if is_behind {
        canvas.text(&name, (after + high + size, base), Anchor::Start, size, sheet.tokens.muted);
    }
}
