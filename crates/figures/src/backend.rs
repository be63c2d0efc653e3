//! Our plotters backend: it records what plotters draws as a [`Scene`].
//!
//! Plotters counts in whole units, so a unit here is a hundredth of a px. Plotters also clips to the drawing, but a
//! track's axis may stand left of it, so everything is shifted by [`SHIFT`] on the way in and back on the way out.
//!
//! Texts are placed by their base line, whatever vertical anchor they have.

use std::convert::Infallible;

use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::font::text_width;
use crate::scene::{Anchor, Item, Paint, Position, Scene, Text, unit};

/// How far outside the drawing things may stand, in px.
const SHIFT: f64 = 4_000.0;

type DrawResult = Result<(), DrawingErrorKind<Infallible>>;

/// A place in backend units.
pub(crate) fn point(x: f64, y: f64) -> BackendCoord {
    (unit(x + SHIFT), unit(y + SHIFT))
}

fn place((x, y): BackendCoord) -> Position {
    (x - unit(SHIFT), y - unit(SHIFT))
}

/// Records what plotters draws in a [`Scene`].
pub(crate) struct SceneBackend<'a> {
    scene: &'a mut Scene,
    size: (u32, u32),
}

impl<'a> SceneBackend<'a> {
    pub(crate) fn new(scene: &'a mut Scene, width: f64, height: f64) -> Self {
        let size = (unit(width + 2.0 * SHIFT) as u32, unit(height + 2.0 * SHIFT) as u32);
        Self { scene, size }
    }

    /// Ends the current part of the figure and begins one of this name.
    pub(crate) fn begin_part(&mut self, name: &str) {
        self.scene.items.push(Item::Part(name.to_owned()));
    }

    /// A path with dashes, in px.
    pub(crate) fn draw_dashed<S: BackendStyle>(
        &mut self,
        points: impl IntoIterator<Item = BackendCoord>,
        style: &S,
        dashes: &str,
    ) {
        self.path(points, false, stroke(style, dashes));
    }

    fn path(&mut self, points: impl IntoIterator<Item = BackendCoord>, closed: bool, paint: Paint) {
        let mut points: Vec<Position> = points.into_iter().map(place).collect();
        points.dedup();
        self.scene.items.push(Item::Path { points, closed, paint });
    }
}

fn stroke<S: BackendStyle>(style: &S, dashes: &str) -> Paint {
    let (color, width) = (style.color().into(), style.stroke_width().cast_signed());
    Paint::Stroke { color, width, dashes: dashes.to_owned() }
}

fn paint<S: BackendStyle>(style: &S, fill: bool) -> Paint {
    if fill { Paint::Fill(style.color().into()) } else { stroke(style, "") }
}

impl DrawingBackend for SceneBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> DrawResult {
        let paint = Paint::Fill(color.into());
        self.scene.items.push(Item::Rectangle { corner: place(point), size: (1, 1), paint });
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        start: BackendCoord,
        end: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.draw_path([start, end], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let corner = place((upper_left.0.min(bottom_right.0), upper_left.1.min(bottom_right.1)));
        let size = ((upper_left.0 - bottom_right.0).abs(), (upper_left.1 - bottom_right.1).abs());
        self.scene.items.push(Item::Rectangle { corner, size, paint: paint(style, fill) });
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.path(path, false, stroke(style, ""));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let (center, radius) = (place(center), radius.cast_signed());
        self.scene.items.push(Item::Circle { center, radius, paint: paint(style, fill) });
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> DrawResult {
        self.path(vert, true, Paint::Fill(style.color().into()));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        baseline: BackendCoord,
    ) -> DrawResult {
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        self.scene.items.push(Item::Text(Text {
            content: text.to_owned(),
            position: place(baseline),
            anchor,
            size: style.size().round() as i32,
            color: style.color().into(),
            upright: !matches!(style.transform(), FontTransform::None),
        }));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((text_width(text, style.size()).ceil() as u32, style.size().ceil() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_drawing() {
        assert_eq!(place(point(-18.0, 10.504)), (-1_800, 1_050));
    }
}
