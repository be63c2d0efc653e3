//! The elements of figures: those of plotters, and two more for our backend only.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Circle, Drawable, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{Cartesian2d, DrawingArea, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBAColor, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

pub(crate) use crate::scene::Anchor;

use crate::backend::{SceneBackend, point};
use crate::scene::{Scene, unit};

/// Color and width of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    color: RGBAColor,
    width: f64,
}

impl Pen {
    pub(crate) fn new(color: RGBColor, width: f64) -> Self {
        Self { color: color.to_rgba(), width }
    }

    pub(crate) fn opacity(self, opacity: f64) -> Self {
        Self { color: self.color.mix(opacity), ..self }
    }

    fn style(self) -> ShapeStyle {
        self.color.stroke_width(unit(self.width).max(1) as u32)
    }
}

/// A drawing with elements placed in px.
pub(crate) struct Canvas<'a> {
    root: DrawingArea<SceneBackend<'a>, Shift>,
}

/// The plot of a drawing, with elements placed by (turn, value).
pub(crate) struct Plot<'a> {
    area: DrawingArea<SceneBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
}

/// Drawing an element can only fail by an error of this crate, because the backend writes to memory.
const INFALLIBLE: &str = "drawing into memory does not fail";

impl<'a> Canvas<'a> {
    pub(crate) fn new(scene: &'a mut Scene, width: f64, height: f64) -> Self {
        Self { root: SceneBackend::new(scene, width, height).into_drawing_area() }
    }

    /// A plot over turns `x.0` to `x.1` and values `y.0` to `y.1`, each with its place in px.
    pub(crate) fn plot(&self, x: [(f64, f64); 2], y: [(f64, f64); 2]) -> Plot<'a> {
        let [(x0, left), (x1, right)] = x;
        let [(y0, bottom), (y1, top)] = y;
        let ((left, bottom), (right, top)) = (point(left, bottom), point(right, top));
        Plot {
            area: self.root.apply_coord_spec(Cartesian2d::new(x0..x1, y0..y1, (left..right, bottom..top))),
        }
    }

    /// Starts a part of the figure: a group with an id.
    ///
    /// Names are unique in a drawing.
    pub(crate) fn part(&self, name: &str) {
        self.root.draw(&Part(name)).expect(INFALLIBLE);
    }

    pub(crate) fn line(&self, points: &[(f64, f64)], pen: Pen) {
        let points: Vec<BackendCoord> = points.iter().map(|p| point(p.0, p.1)).collect();
        self.root.draw(&PathElement::new(points, pen.style())).expect(INFALLIBLE);
    }

    /// An upright whisker between two places, with a cap at each end.
    pub(crate) fn whisker(&self, ends: [(f64, f64); 2], cap: f64, pen: Pen) {
        self.line(&ends, pen);
        for (x, y) in ends {
            self.line(&[(x - cap, y), (x + cap, y)], pen);
        }
    }

    /// A line with dashes as SVG writes them: `6 2`.
    pub(crate) fn dashed(&self, points: &[(f64, f64)], pen: Pen, dashes: &str) {
        let points: Vec<BackendCoord> = points.iter().map(|p| point(p.0, p.1)).collect();
        self.root
            .draw(&DashedPath { points, style: pen.style(), dashes: dashes.to_owned() })
            .expect(INFALLIBLE);
    }

    /// A filled shape.
    pub(crate) fn shape(&self, points: &[(f64, f64)], color: RGBColor, opacity: f64) {
        let points: Vec<BackendCoord> = points.iter().map(|p| point(p.0, p.1)).collect();
        self.root.draw(&Polygon::new(points, color.mix(opacity))).expect(INFALLIBLE);
    }

    /// A filled circle.
    pub(crate) fn disc(&self, center: (f64, f64), radius: f64, color: RGBColor) {
        let radius = unit(radius).max(1);
        self.root.draw(&Circle::new(point(center.0, center.1), radius, color.filled())).expect(INFALLIBLE);
    }

    /// The outline of a rectangle.
    pub(crate) fn frame(&self, left_top: (f64, f64), right_bottom: (f64, f64), pen: Pen) {
        let corners = [point(left_top.0, left_top.1), point(right_bottom.0, right_bottom.1)];
        self.root.draw(&Rectangle::new(corners, pen.style())).expect(INFALLIBLE);
    }

    pub(crate) fn bar(&self, left_top: (f64, f64), right_bottom: (f64, f64), color: RGBColor) {
        let corners = [point(left_top.0, left_top.1), point(right_bottom.0, right_bottom.1)];
        self.root.draw(&Rectangle::new(corners, color.filled())).expect(INFALLIBLE);
    }

    pub(crate) fn text(&self, text: &str, (x, y): (f64, f64), anchor: Anchor, size: f64, color: RGBColor) {
        self.write(text, (x, y), anchor, size, color, FontTransform::None);
    }

    /// A text that is read upwards.
    pub(crate) fn upright(&self, text: &str, (x, y): (f64, f64), size: f64, color: RGBColor) {
        self.write(text, (x, y), Anchor::Middle, size, color, FontTransform::Rotate270);
    }

    fn write(
        &self,
        text: &str,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        color: RGBColor,
        turned: FontTransform,
    ) {
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let font = ("IBM Plex Sans", f64::from(unit(size))).into_font().transform(turned);
        let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Bottom));
        self.root.draw(&Text::new(text, point(x, y), style)).expect(INFALLIBLE);
    }
}

impl Plot<'_> {
    pub(crate) fn line(&self, points: &[(f64, f64)], pen: Pen) {
        self.area.draw(&PathElement::new(points, pen.style())).expect(INFALLIBLE);
    }

    pub(crate) fn dotted(&self, points: &[(f64, f64)], pen: Pen) {
        let dashes = "2 3".to_owned();
        self.area
            .draw(&DashedPath { points: points.to_vec(), style: pen.style(), dashes })
            .expect(INFALLIBLE);
    }

    pub(crate) fn fill(&self, points: &[(f64, f64)], color: RGBColor, opacity: f64) {
        self.area.draw(&Polygon::new(points, color.mix(opacity))).expect(INFALLIBLE);
    }
}

/// Starts a group with an id. It draws nothing.
struct Part<'n>(&'n str);

impl<'a> plotters::element::PointCollection<'a, BackendCoord> for &'a Part<'_> {
    type Point = &'a BackendCoord;
    type IntoIter = std::iter::Empty<&'a BackendCoord>;
    fn point_iter(self) -> Self::IntoIter {
        std::iter::empty()
    }
}

impl<'a> Drawable<SceneBackend<'a>> for Part<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        backend: &mut SceneBackend<'a>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<<SceneBackend<'a> as DrawingBackend>::ErrorType>> {
        backend.begin_part(self.0);
        Ok(())
    }
}

/// A dashed path. Plotters would cut it into many short lines.
struct DashedPath<C> {
    points: Vec<C>,
    style: ShapeStyle,
    dashes: String,
}

impl<'a, C: 'a> plotters::element::PointCollection<'a, C> for &'a DashedPath<C> {
    type Point = &'a C;
    type IntoIter = &'a [C];
    fn point_iter(self) -> Self::IntoIter {
        &self.points
    }
}

impl<'a, C> Drawable<SceneBackend<'a>> for DashedPath<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        backend: &mut SceneBackend<'a>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<<SceneBackend<'a> as DrawingBackend>::ErrorType>> {
        backend.draw_dashed(points, &self.style, &self.dashes);
        Ok(())
    }
}
