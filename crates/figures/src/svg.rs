//! The backend of plotters, which writes SVG.
//!
//! Plotters uses whole units, so a unit is a hundredth of a px. [`unit`] and [`point`] convert, and numbers have at most two
//! decimals. Plotters also clips to the drawing, but the axis of a track may be left of it. All input is therefore shifted by
//! [`SHIFT`], and all output is shifted back.
//!
//! For texts the `Bottom` anchor means that y is the base line.

use std::convert::Infallible;
use std::fmt::Write as _;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::font::{FONT_FAMILY, text_width};

const PER_PX: f64 = 100.0;
/// How far outside of the drawing elements may be, in px.
const SHIFT: f64 = 4_000.0;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A length in backend units.
pub(crate) fn unit(px: f64) -> i32 {
    (px * PER_PX).round() as i32
}

/// A length with the precision of the output.
pub(crate) fn hundredths(px: f64) -> f64 {
    (px * PER_PX).round() / PER_PX
}

/// A place in backend units.
pub(crate) fn point(x: f64, y: f64) -> BackendCoord {
    (unit(x + SHIFT), unit(y + SHIFT))
}

/// A length in px with at most two decimals.
fn px(units: i32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let (whole, rest) = (units.unsigned_abs() / 100, units.unsigned_abs() % 100);
    match rest {
        0 => format!("{sign}{whole}"),
        r if r % 10 == 0 => format!("{sign}{whole}.{}", r / 10),
        r => format!("{sign}{whole}.{r:02}"),
    }
}

fn x_y((x, y): BackendCoord) -> (String, String) {
    (px(x - unit(SHIFT)), px(y - unit(SHIFT)))
}

/// Text for XML or HTML, in an element or in a quoted attribute. Characters that XML 1.0 does not allow are removed.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The placeholder for the prefix of ids until the content is known. No text can contain it.
const PREFIX: char = '\u{1}';

/// The content of a drawing in progress.
#[derive(Debug, Default)]
pub(crate) struct Document {
    body: String,
    part_open: bool,
}

/// The size of a drawing and its descriptions.
pub(crate) struct Outside<'a> {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Whether it is in pt in its own file, instead of in px inside a page.
    pub(crate) print: bool,
    /// A word for ids: `survival`.
    pub(crate) kind: &'a str,
    /// A short name.
    pub(crate) title: &'a str,
    /// The figure in words.
    pub(crate) summary: &'a str,
}

impl Document {
    fn close_part(&mut self) {
        if std::mem::take(&mut self.part_open) {
            self.body.push_str("</g>");
        }
    }

    /// The whole `<svg>` element. Ids start with the kind and a hash of the content: a figure always has the same ids, and two
    /// figures on one page have different ones.
    pub(crate) fn finish(mut self, outside: &Outside<'_>) -> String {
        self.close_part();
        let hash =
            self.body.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        let body = self.body.replace(PREFIX, &format!("{}-{hash:08x}-", outside.kind));
        let (width, height) = (px(unit(outside.width)), px(unit(outside.height)));
        let (title, summary) = (escape(outside.title), escape(outside.summary));
        let mut svg = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" ");
        // In a page, a <title> would show a tooltip over the data, so the name is an attribute.
        let (size_unit, described) = if outside.print {
            ("pt", format!("aria-label=\"{title}\"><title>{title}</title><desc>{summary}</desc>"))
        } else {
            ("", format!("overflow=\"visible\" aria-label=\"{summary}\">"))
        };
        let _ = write!(
            svg,
            "width=\"{width}{size_unit}\" height=\"{height}{size_unit}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             {described}<g font-family=\"{FONT_FAMILY}\" fill=\"none\">{body}</g></svg>",
        );
        svg
    }
}

fn paint(name: &str, color: BackendColor) -> String {
    let (r, g, b) = color.rgb;
    let mut out = format!(" {name}=\"#{r:02X}{g:02X}{b:02X}\"");
    if color.alpha < 1.0 {
        let _ = write!(out, " {name}-opacity=\"{}\"", px(unit(color.alpha)));
    }
    out
}

fn stroke<S: BackendStyle>(style: &S) -> String {
    format!("{} stroke-width=\"{}\"", paint("stroke", style.color()), px(style.stroke_width().cast_signed()))
}

/// Path data; steps become `H` and `V`.
fn path_data(points: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut out = String::new();
    let mut before: Option<BackendCoord> = None;
    for at in points {
        let (x, y) = x_y(at);
        match before {
            None => write!(out, "M{x} {y}"),
            Some(b) if b == at => Ok(()),
            Some(b) if b.1 == at.1 => write!(out, "H{x}"),
            Some(b) if b.0 == at.0 => write!(out, "V{y}"),
            Some(_) => write!(out, "L{x} {y}"),
        }
        .unwrap_or_default();
        before = Some(at);
    }
    out
}

/// Writes the elements of plotters into a [`Document`].
pub(crate) struct SvgBackend<'a> {
    document: &'a mut Document,
    size: (u32, u32),
}

impl<'a> SvgBackend<'a> {
    pub(crate) fn new(document: &'a mut Document, width: f64, height: f64) -> Self {
        let size = (unit(width + 2.0 * SHIFT) as u32, unit(height + 2.0 * SHIFT) as u32);
        Self { document, size }
    }

    /// Ends the current part of the figure and starts one of this name.
    pub(crate) fn begin_part(&mut self, name: &str) {
        self.document.close_part();
        let _ = write!(self.document.body, "<g id=\"{PREFIX}{name}\">");
        self.document.part_open = true;
    }

    /// A path with dashes, in px.
    pub(crate) fn draw_dashed<S: BackendStyle>(
        &mut self,
        points: impl IntoIterator<Item = BackendCoord>,
        style: &S,
        dashes: &str,
    ) {
        let _ = write!(
            self.document.body,
            "<path d=\"{}\"{} stroke-dasharray=\"{dashes}\"/>",
            path_data(points),
            stroke(style)
        );
    }
}

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        let (x, y) = x_y(point);
        let _ = write!(
            self.document.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\".01\" height=\".01\"{}/>",
            paint("fill", color)
        );
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let left_top = (upper_left.0.min(bottom_right.0), upper_left.1.min(bottom_right.1));
        let (x, y) = x_y(left_top);
        let width = px((upper_left.0 - bottom_right.0).abs());
        let height = px((upper_left.1 - bottom_right.1).abs());
        let paint = if fill { paint("fill", style.color()) } else { stroke(style) };
        let _ = write!(
            self.document.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{paint}/>"
        );
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let _ = write!(self.document.body, "<path d=\"{}\"{}/>", path_data(path), stroke(style));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let (x, y) = x_y(center);
        let paint = if fill { paint("fill", style.color()) } else { stroke(style) };
        let _ = write!(
            self.document.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"{paint}/>",
            px(radius.cast_signed())
        );
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        let _ =
            write!(self.document.body, "<path d=\"{}Z\"{}/>", path_data(vert), paint("fill", style.color()));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let (x, y) = x_y(at);
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        // The digits of Plex Sans are 0.7 em high.
        let drop = match style.anchor().v_pos {
            VPos::Bottom => 0.0,
            VPos::Center => 0.35,
            VPos::Top => 0.7,
        } * style.size()
            / PER_PX;
        let shift = if drop == 0.0 { String::new() } else { format!(" dy=\"{}\"", px(unit(drop))) };
        let turned = match style.transform() {
            FontTransform::None => String::new(),
            FontTransform::Rotate90 => format!(" transform=\"rotate(90 {x} {y})\""),
            FontTransform::Rotate180 => format!(" transform=\"rotate(180 {x} {y})\""),
            FontTransform::Rotate270 => format!(" transform=\"rotate(-90 {x} {y})\""),
        };
        let _ = write!(
            self.document.body,
            "<text x=\"{x}\" y=\"{y}\"{shift} font-size=\"{}\"{anchor}{turned}{}>{}</text>",
            px(style.size().round() as i32),
            paint("fill", style.color()),
            escape(text)
        );
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
    fn numbers_have_at_most_two_decimals() {
        let written: Vec<String> = [0, 5, 10, 100, 1234, -4, -150].into_iter().map(px).collect();
        assert_eq!(written, ["0", "0.05", "0.1", "1", "12.34", "-0.04", "-1.5"]);
        assert_eq!(x_y(point(-18.0, 10.504)), ("-18".to_owned(), "10.5".to_owned()));
    }

    #[test]
    fn no_text_can_break_out() {
        assert_eq!(escape("a<b>&\"'\u{0}\u{1}\u{1b}[31m\n]]>"), "a&lt;b&gt;&amp;&quot;&#39;[31m ]]&gt;");
        assert_eq!(escape("\u{FFFE}生 τ"), "生 τ");
    }

    #[test]
    fn steps_are_written_short() {
        let steps = [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0), (2.0, 3.0), (4.0, 5.0)].map(|(x, y)| point(x, y));
        assert_eq!(path_data(steps), "M0 1H2V3L4 5");
    }
}
