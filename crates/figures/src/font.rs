//! The font in which figures are typeset and measured.

use std::sync::OnceLock;

use ttf_parser::Face;

/// IBM Plex Sans Regular, © IBM, SIL Open Font License 1.1 (`fonts/LICENSE-OFL.txt`).
pub const PLEX_SANS_REGULAR: &[u8] = include_bytes!("../fonts/IBMPlexSans-Regular.ttf");

/// The font stack of every text, equal to `--font-sans` of the UI.
pub const FONT_FAMILY: &str = "'IBM Plex Sans','Inter','Noto Sans','Noto Sans CJK SC',system-ui,sans-serif";

fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(PLEX_SANS_REGULAR, 0).expect("the bundled font is valid"))
}

/// Width of `text` in IBM Plex Sans at `size`, in the unit of `size`, without kerning. Characters that the font lacks are
/// typeset in another font with unknown widths. Characters of East Asia count as one em, which is right, and others as 0.7 em,
/// which is more than Arabic or Hebrew usually take.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() / f64::from(face().units_per_em()) * size
}

/// How far a character moves the next one, in units of the font.
fn advance(character: char) -> f64 {
    /// Of ASCII, by its code: most texts have nothing else, and each is measured often.
    static ASCII: OnceLock<[f64; 128]> = OnceLock::new();
    let measured = |c: char| {
        let face = face();
        let known = face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph));
        known.map_or_else(|| fallback_width(c) * f64::from(face.units_per_em()), f64::from)
    };
    if !character.is_ascii() {
        return measured(character);
    }
    let ascii = ASCII.get_or_init(|| std::array::from_fn(|code| measured(char::from(code as u8))));
    ascii[character as usize]
}

/// Width in em of a character that the font lacks.
fn fallback_width(c: char) -> f64 {
    match c {
        // Combining marks, joiners and variation selectors have no width of their own.
        '\u{0300}'..='\u{036F}'
        | '\u{0591}'..='\u{05BD}'
        | '\u{064B}'..='\u{065F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}' => 0.0,
        '\u{1100}'..='\u{115F}'
        | '\u{2E80}'..='\u{A4CF}'
        | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF60}'
        | '\u{FFE0}'..='\u{FFE6}'
        | '\u{20000}'..='\u{3FFFD}' => 1.0,
        '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}' => 1.3,
        _ => 0.7,
    }
}

/// The characters of `text` that the bundled font lacks, sorted, each once: a PDF or PNG needs another font for them.
/// Invisible characters are not listed.
pub fn missing_characters(text: &str) -> Vec<char> {
    let shows = |c: &char| !c.is_control() && !c.is_whitespace() && fallback_width(*c) > 0.0;
    let missing: std::collections::BTreeSet<char> =
        text.chars().filter(shows).filter(|c| face().glyph_index(*c).is_none()).collect();
    missing.into_iter().collect()
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

    #[test]
    fn what_the_font_lacks_is_named() {
        assert_eq!(missing_characters("a模b模ש τ≥−×…←→\n\u{301}"), ['ש', '模']);
    }
}
