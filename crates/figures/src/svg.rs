//! A drawing as SVG: only presentation attributes, numbers with at most two decimals.

use std::fmt::Write as _;

use crate::font::FONT_FAMILY;
use crate::scene::{Anchor, Color, Item, Paint, Position, Scene, Text, px, unit};

/// Text for XML or HTML, in an element or in a quoted attribute. Display controls and characters that XML 1.0 does not allow are
/// removed.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if model::is_display_control(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The placeholder for the prefix of ids until the content is known. No text can contain it.
const PREFIX: char = '\u{1}';

/// The size of a drawing and its descriptions.
pub(crate) struct SvgHead<'a> {
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

/// The whole `<svg>` element. Ids start with the kind and a hash of the content: a figure always has the same ids, and
/// two figures on one page have different ones.
pub(crate) fn write(scene: &Scene, head: &SvgHead<'_>) -> String {
    let body = content(scene);
    let hash = body.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    let body = body.replace(PREFIX, &format!("{}-{hash:08x}-", head.kind));
    let (width, height) = (px(unit(head.width)), px(unit(head.height)));
    let (title, summary) = (escape(head.title), escape(head.summary));
    let mut svg = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    // In a page a <title> would show a tooltip over the data, so the name is an attribute.
    let (size_unit, described) = if head.print {
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

fn content(scene: &Scene) -> String {
    let (mut body, mut part_open) = (String::new(), false);
    for item in &scene.items {
        match item {
            Item::Part(name) => {
                let close = if part_open { "</g>" } else { "" };
                let _ = write!(body, "{close}<g id=\"{PREFIX}{name}\">");
                part_open = true;
            }
            Item::Path { points, closed, paint } => {
                let close = if *closed { "Z" } else { "" };
                let _ = write!(body, "<path d=\"{}{close}\"{}/>", path_data(points), painted(paint));
            }
            Item::Rectangle { corner: (x, y), size: (width, height), paint } => {
                let [x, y, width, height] = [*x, *y, *width, *height].map(px);
                let _ = write!(
                    body,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{}/>",
                    painted(paint)
                );
            }
            Item::Circle { center: (x, y), radius, paint } => {
                let [x, y, radius] = [*x, *y, *radius].map(px);
                let _ = write!(body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{}/>", painted(paint));
            }
            Item::Text(text) => write_text(&mut body, text),
        }
    }
    if part_open {
        body.push_str("</g>");
    }
    body
}

fn write_text(body: &mut String, text: &Text) {
    let [x, y, size] = [text.position.0, text.position.1, text.size].map(px);
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turned = if text.upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let _ = write!(
        body,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{turned}{}>{}</text>",
        ink("fill", text.color),
        escape(&text.content)
    );
}

fn ink(name: &str, Color { rgb: (r, g, b), opacity }: Color) -> String {
    let mut out = format!(" {name}=\"#{r:02X}{g:02X}{b:02X}\"");
    if opacity < 100 {
        let _ = write!(out, " {name}-opacity=\"{}\"", px(opacity));
    }
    out
}

fn painted(paint: &Paint) -> String {
    match paint {
        Paint::Fill(color) => ink("fill", *color),
        Paint::Stroke { color, width, dashes } => {
            let mut out = format!("{} stroke-width=\"{}\"", ink("stroke", *color), px(*width));
            if !dashes.is_empty() {
                let _ = write!(out, " stroke-dasharray=\"{dashes}\"");
            }
            out
        }
    }
}

/// Path data; steps become `H` and `V`.
fn path_data(points: &[Position]) -> String {
    let mut out = String::new();
    let mut before: Option<Position> = None;
    for point in points {
        let (x, y) = (px(point.0), px(point.1));
        match before {
            None => write!(out, "M{x} {y}"),
            Some(b) if b.1 == point.1 => write!(out, "H{x}"),
            Some(b) if b.0 == point.0 => write!(out, "V{y}"),
            Some(_) => write!(out, "L{x} {y}"),
        }
        .unwrap_or_default();
        before = Some(*point);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_break_out() {
        assert_eq!(escape("a<b>&\"'\u{0}\u{1}\u{1b}[31m\n]]>"), "a&lt;b&gt;&amp;&quot;&#39;[31m ]]&gt;");
        assert_eq!(escape("\u{FFFE}生 τ"), "生 τ");
    }

    #[test]
    fn steps_are_written_short() {
        let steps = [(0, 100), (200, 100), (200, 300), (400, 500)];
        assert_eq!(path_data(&steps), "M0 1H2V3L4 5");
    }
}
