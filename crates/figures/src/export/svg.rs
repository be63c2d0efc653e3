//! SVG with its spec.

use super::spec_text;
use crate::web_font::font_face;

/// The namespace of the element that holds the spec; a name, not a place.
const NAMESPACE: &str = "urn:stamina-lab:figure";

/// Puts the spec into the `<svg>` element as its last child, where no reader of the drawing is disturbed.
pub(super) fn with_spec(svg: &str, toml: &str) -> String {
    let Some(body) = svg.strip_suffix("</svg>") else { return svg.to_owned() };
    let text = escape(&spec_text::marked(toml));
    format!("{body}<metadata><spec xmlns=\"{NAMESPACE}\">{text}</spec></metadata></svg>")
}

/// Puts the letters of its texts into the `<svg>` element, so that they are as wide wherever it is shown as they were measured.
pub(super) fn with_font(svg: &str) -> String {
    let rule = font_face(svg);
    match svg.find("<g font-family=") {
        Some(at) if !rule.is_empty() => format!("{}<style>{rule}</style>{}", &svg[..at], &svg[at..]),
        _ => svg.to_owned(),
    }
}

/// Text of an element, lines kept; TOML as it is written here has no other control characters.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
