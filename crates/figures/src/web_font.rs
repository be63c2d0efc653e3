//! Subsets of the shipped font for pages and SVG files, with only the needed letters. They are small, and texts have their
//! measured widths on every machine.
//!
//! A subset has every glyph number of the font. Unneeded glyphs are empty. Kerning and ligatures are omitted, because widths
//! are measured without them. PDF files have other subsets.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ttf_parser::{Face, RawFace, Tag};

use crate::font::PLEX_SANS_REGULAR;

/// Tables that are copied unchanged.
const KEPT: [&[u8; 4]; 9] = [b"OS/2", b"cmap", b"cvt ", b"fpgm", b"head", b"hhea", b"hmtx", b"maxp", b"prep"];

/// What [`@font-face`](https://www.w3.org/TR/css-fonts-4/) needs to show the letters of `text` in IBM Plex Sans: a rule of
/// CSS with the font in it. Empty where the text has no letter of it.
pub fn font_face(text: &str) -> String {
    subset(&text.chars().collect()).map_or_else(String::new, |font| {
        format!(
            "@font-face{{font-family:'IBM Plex Sans';font-weight:400;src:url(data:font/ttf;base64,{}) format('truetype')}}",
            STANDARD.encode(font)
        )
    })
}

/// The font with the glyphs of these letters; `None` = it has none of them.
fn subset(letters: &BTreeSet<char>) -> Option<Vec<u8>> {
    let face = Face::parse(PLEX_SANS_REGULAR, 0).ok()?;
    let raw = face.raw_face();
    let mut wanted: BTreeSet<u16> =
        letters.iter().filter_map(|letter| face.glyph_index(*letter)).map(|glyph| glyph.0).collect();
    if wanted.is_empty() {
        return None;
    }
    // The glyph for missing letters.
    wanted.insert(0);
    let outlines = Outlines::from_face(raw)?;
    let mut open: Vec<u16> = wanted.iter().copied().collect();
    while let Some(glyph) = open.pop() {
        for part in outlines.parts(glyph) {
            if wanted.insert(part) {
                open.push(part);
            }
        }
    }
    let (glyf, loca) = outlines.only(&wanted);
    let table = |name: &[u8; 4]| raw.table(Tag::from_bytes(name));
    let mut tables: Vec<([u8; 4], Vec<u8>)> =
        KEPT.iter().filter_map(|name| Some((**name, table(name)?.to_vec()))).collect();
    // Offsets of glyphs have four bytes.
    let (_, head) = tables.iter_mut().find(|(name, _)| name == b"head")?;
    head.get_mut(50..52)?.copy_from_slice(&[0, 1]);
    head.get_mut(8..12)?.fill(0);
    tables.push((*b"glyf", glyf));
    tables.push((*b"loca", loca));
    // Author and license stay in the font.
    tables.push((*b"name", table(b"name")?.to_vec()));
    // Glyphs have no names.
    let mut post = table(b"post")?.get(..32)?.to_vec();
    post.get_mut(..4)?.copy_from_slice(&[0, 3, 0, 0]);
    tables.push((*b"post", post));
    tables.sort();
    Some(written(&tables))
}

/// The outlines of all glyphs.
struct Outlines<'a> {
    glyf: &'a [u8],
    /// The offset of each glyph, and the end of the last one.
    places: Vec<usize>,
}

impl<'a> Outlines<'a> {
    fn from_face(raw: &RawFace<'a>) -> Option<Self> {
        let table = |name: &[u8; 4]| raw.table(Tag::from_bytes(name));
        let (glyf, loca, head) = (table(b"glyf")?, table(b"loca")?, table(b"head")?);
        let long = *head.get(51)? == 1;
        let places = if long {
            loca.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize).collect()
        } else {
            loca.chunks_exact(2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])) * 2).collect()
        };
        Some(Self { glyf, places })
    }

    fn count(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    fn outline(&self, glyph: usize) -> &'a [u8] {
        let place = |i: usize| self.places.get(i).copied();
        place(glyph)
            .zip(place(glyph + 1))
            .and_then(|(start, end)| self.glyf.get(start..end))
            .unwrap_or_default()
    }

    /// The components of a glyph (OpenType, "Composite Glyph Description").
    fn parts(&self, glyph: u16) -> Vec<u16> {
        const WORDS: u16 = 0x0001;
        const SCALE: u16 = 0x0008;
        const MORE: u16 = 0x0020;
        const TWO_SCALES: u16 = 0x0040;
        const MATRIX: u16 = 0x0080;
        let outline = self.outline(glyph.into());
        let word =
            |offset: usize| Some(u16::from_be_bytes([*outline.get(offset)?, *outline.get(offset + 1)?]));
        let mut parts = Vec::new();
        // A negative number of contours means a composite glyph.
        if word(0).is_none_or(|contours| contours < 0x8000) {
            return parts;
        }
        let mut offset = 10;
        while let (Some(flags), Some(part)) = (word(offset), word(offset + 2)) {
            parts.push(part);
            offset += if flags & WORDS != 0 { 8 } else { 6 };
            offset += match flags {
                flags if flags & SCALE != 0 => 2,
                flags if flags & TWO_SCALES != 0 => 4,
                flags if flags & MATRIX != 0 => 8,
                _ => 0,
            };
            if flags & MORE == 0 {
                break;
            }
        }
        parts
    }

    /// The tables `glyf` and `loca` with these glyphs. The others are empty.
    fn only(&self, wanted: &BTreeSet<u16>) -> (Vec<u8>, Vec<u8>) {
        let (mut glyf, mut loca) = (Vec::new(), Vec::new());
        for glyph in 0..self.count() {
            loca.extend((glyf.len() as u32).to_be_bytes());
            if u16::try_from(glyph).is_ok_and(|glyph| wanted.contains(&glyph)) {
                glyf.extend(self.outline(glyph));
                glyf.resize(glyf.len().next_multiple_of(4), 0);
            }
        }
        loca.extend((glyf.len() as u32).to_be_bytes());
        (glyf, loca)
    }
}

/// A font file of tables, sorted by name (OpenType, "Table Directory").
fn written(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.checked_ilog2().unwrap_or(0) as u16;
    let range = 16 << power;
    let mut file = vec![0, 1, 0, 0];
    for number in [count, range, power, 16 * count - range] {
        file.extend(number.to_be_bytes());
    }
    let mut offset = 12 + 16 * tables.len();
    for (name, table) in tables {
        file.extend(name);
        file.extend(checksum(table).to_be_bytes());
        file.extend((offset as u32).to_be_bytes());
        file.extend((table.len() as u32).to_be_bytes());
        offset += table.len().next_multiple_of(4);
    }
    for (_, table) in tables {
        file.extend(table);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    // The sum over the whole file, with this field 0, is 0xB1B0AFBA.
    let adjustment = 0xB1B0_AFBA_u32.wrapping_sub(checksum(&file)).to_be_bytes();
    let mut head = 12 + 16 * tables.len();
    for (name, table) in tables {
        if name == b"head" {
            if let Some(field) = file.get_mut(head + 8..head + 12) {
                field.copy_from_slice(&adjustment);
            }
            break;
        }
        head += table.len().next_multiple_of(4);
    }
    file
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.chunks(4).fold(0, |sum: u32, chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u32::from_be_bytes(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_has_the_glyphs_of_its_letters_as_the_font_has_them_and_no_others() {
        struct Path(String);
        impl ttf_parser::OutlineBuilder for Path {
            fn move_to(&mut self, x: f32, y: f32) {
                self.0.push_str(&format!("M{x} {y}"));
            }
            fn line_to(&mut self, x: f32, y: f32) {
                self.0.push_str(&format!("L{x} {y}"));
            }
            fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
                self.0.push_str(&format!("Q{x1} {y1} {x} {y}"));
            }
            fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
                self.0.push_str(&format!("C{x1} {y1} {x2} {y2} {x} {y}"));
            }
            fn close(&mut self) {
                self.0.push('Z');
            }
        }
        let whole = Face::parse(PLEX_SANS_REGULAR, 0).unwrap();
        let outline = |face: &Face<'_>, letter| {
            let mut path = Path(String::new());
            let glyph = face.glyph_index(letter)?;
            face.outline_glyph(glyph, &mut path);
            Some((path.0, face.glyph_hor_advance(glyph)))
        };
        // Accented letters are composite glyphs.
        let letters: BTreeSet<char> = "agé Åτ≥–7".chars().collect();
        let bytes = subset(&letters).unwrap();
        let small = Face::parse(&bytes, 0).unwrap();
        for letter in letters {
            assert_eq!(outline(&small, letter), outline(&whole, letter), "{letter}");
        }
        let has_outline = |letter| {
            let glyph = small.glyph_index(letter);
            glyph.is_some_and(|glyph| small.outline_glyph(glyph, &mut Path(String::new())).is_some())
        };
        assert!(has_outline('a') && !has_outline('b'), "it is not asked for");
        assert_eq!(checksum(&bytes), 0xB1B0_AFBA);
        assert!(bytes.len() < 20_000, "{}", bytes.len());
        let families: Vec<String> = (small.names().into_iter())
            .filter(|name| name.name_id == ttf_parser::name_id::FAMILY)
            .filter_map(|name| name.to_string())
            .collect();
        assert!(families.contains(&"IBM Plex Sans".to_owned()), "{families:?}");
    }

    #[test]
    fn a_usual_page_gets_a_small_font_and_one_without_letters_none() {
        let page: String = (' '..='~').chain("–—≥≤×·τχ²χéüß…→µ".chars()).collect();
        let rule = font_face(&page);
        assert!(rule.starts_with("@font-face{") && rule.len() < 48_000, "{}", rule.len());
        assert_eq!(font_face("模型"), "");
        assert_eq!(font_face(""), "");
    }
}
