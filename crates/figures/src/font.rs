//! The font that figures are set and measured in.

use std::sync::OnceLock;

use ttf_parser::Face;

/// IBM Plex Sans Regular, © IBM, SIL Open Font License 1.1 (`fonts/LICENSE-OFL.txt`).
pub const PLEX_SANS_REGULAR: &[u8] = include_bytes!("../fonts/IBMPlexSans-Regular.ttf");

/// The font stack of every text, the same as the UI's `--font-sans`.
pub const FONT_FAMILY: &str = "'IBM Plex Sans','Inter','Noto Sans','Noto Sans CJK SC',system-ui,sans-serif";

/// Width of `text` set in IBM Plex Sans at `size`, in the unit of `size`. Kerning is left out; characters that the font
/// does not have count as one em, which is right for CJK.
pub fn text_width(text: &str, size: f64) -> f64 {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    #[expect(
        clippy::missing_panics_doc,
        reason = "the bundled font is valid, and every figure would show otherwise"
    )]
    let face = FACE.get_or_init(|| Face::parse(PLEX_SANS_REGULAR, 0).expect("the bundled font is valid"));
    let em = f64::from(face.units_per_em());
    let advance = |c| face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph));
    text.chars().map(|c| advance(c).map_or(em, f64::from)).sum::<f64>() / em * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_tabular_and_widths_scale() {
        let zero = text_width("0", 11.0);
        assert!((6.0..7.0).contains(&zero));
        assert!("123456789".chars().all(|c| (text_width(&c.to_string(), 11.0) - zero).abs() < 1e-9));
        assert!((text_width("0.25", 22.0) - 2.0 * text_width("0.25", 11.0)).abs() < 1e-9);
        assert!((text_width("生", 11.0) - 11.0).abs() < 1e-9);
        assert!((text_width("τ", 11.0) - 11.0).abs() > 1.0, "the font has Greek");
    }
}
