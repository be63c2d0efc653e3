//! SVG with its spec.

use super::spec_text;

/// The namespace of the element that holds the spec; a name, not a place.
const NAMESPACE: &str = "urn:stamina-lab:figure";

/// Puts the spec into the `<svg>` element as its last child, where no reader of the drawing is disturbed.
pub(super) fn with_spec(svg: &str, toml: &str) -> String {
    let Some(body) = svg.strip_suffix("</svg>") else { return svg.to_owned() };
    let text = escape(&spec_text::marked(toml));
    format!("{body}<metadata><spec xmlns=\"{NAMESPACE}\">{text}</spec></metadata></svg>")
}

/// Text of an element, lines kept; TOML as it is written here has no other control characters.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
