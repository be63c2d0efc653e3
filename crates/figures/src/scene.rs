//! What a figure consists of after its layout: paths, circles and texts, each in its place. Every picture of a figure,
//! as SVG (`svg`) and as LaTeX (`export::latex`), is written from it.
//!
//! Lengths are whole hundredths of a px on the screen and of a pt in print, from the left upper corner, y downwards.

use plotters_backend::BackendColor;

const PER_PX: f64 = 100.0;

/// A place: x and y in hundredths.
pub(crate) type Position = (i32, i32);

/// A length in hundredths.
pub(crate) fn unit(px: f64) -> i32 {
    (px * PER_PX).round() as i32
}

/// A length as precise as it is written.
pub(crate) fn hundredths(px: f64) -> f64 {
    (px * PER_PX).round() / PER_PX
}

/// A length in px with at most two decimals: `1234` is `12.34`.
pub(crate) fn px(hundredths: i32) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    match rest {
        0 => format!("{sign}{whole}"),
        r if r % 10 == 0 => format!("{sign}{whole}.{}", r / 10),
        r => format!("{sign}{whole}.{r:02}"),
    }
}

/// The content of a drawing, in the order in which it is painted.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) items: Vec<Item>,
}

/// One thing in a drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// What follows belongs to a part of this name: `y-axis`. Names come from this crate, never from data.
    Part(String),
    /// Straight lines through these points.
    Path {
        points: Vec<Position>,
        /// Whether the last point is joined with the first.
        closed: bool,
        paint: Paint,
    },
    /// A rectangle by its left upper corner, its width and its height.
    Rectangle { corner: Position, size: (i32, i32), paint: Paint },
    /// A circle.
    Circle { center: Position, radius: i32, paint: Paint },
    /// A text in one line.
    Text(Text),
}

/// How a shape is painted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Paint {
    /// Its inside.
    Fill(Color),
    /// Its outline: lines of this width, with dashes as SVG writes them (`6 2`; empty = solid).
    Stroke { color: Color, width: i32, dashes: String },
}

/// A color with its opacity in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) rgb: (u8, u8, u8),
    pub(crate) opacity: i32,
}

impl From<BackendColor> for Color {
    fn from(color: BackendColor) -> Self {
        Self { rgb: color.rgb, opacity: unit(color.alpha) }
    }
}

/// Which point of a text stands at its place; y is the base line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text in one line, placed by its base line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) content: String,
    pub(crate) position: Position,
    pub(crate) anchor: Anchor,
    /// Height of its letters.
    pub(crate) size: i32,
    pub(crate) color: Color,
    /// Whether it reads from below upwards.
    pub(crate) upright: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals() {
        let written: Vec<String> = [0, 5, 10, 100, 1234, -4, -150].into_iter().map(px).collect();
        assert_eq!(written, ["0", "0.05", "0.1", "1", "12.34", "-0.04", "-1.5"]);
    }
}
