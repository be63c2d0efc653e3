//! SVG with its spec.

use super::spec_text;
use crate::web_font::font_face;

/// The namespace of the element with the spec. It is a name, not an address.
const NAMESPACE: &str = "urn:stamina-lab:figure";

/// Adds the spec to the `<svg>` element as its last child, where it does not affect viewers.
pub(super) fn with_spec(svg: &str, toml: &str) -> String {
    let Some(body) = svg.strip_suffix("</svg>") else { return svg.to_owned() };
    let text = escape(&spec_text::marked(toml));
    format!("{body}<metadata><spec xmlns=\"{NAMESPACE}\">{text}</spec></metadata></svg>")
}

/// Adds the font of its texts to the `<svg>` element, so that they have their measured widths everywhere.
pub(super) fn with_font(svg: &str) -> String {
    let rule = font_face(svg);
    match svg.find("<g font-family=") {
        Some(offset) if !rule.is_empty() => {
            format!("{}<style>{rule}</style>{}", &svg[..offset], &svg[offset..])
        }
        _ => svg.to_owned(),
    }
}

/// Text of an element with its lines. The written TOML has no other control characters.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
