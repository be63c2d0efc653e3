//! Fonts for the letters of a drawing.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use ttf_parser::Face;
use usvg::FontResolver;
use usvg::fontdb::{Database, ID, Stretch, Style, Weight};

use crate::font::{PLEX_SANS_REGULAR, missing_characters};

/// The shipped font, loaded once.
fn shipped() -> Arc<Database> {
    static SHIPPED: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(SHIPPED.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(PLEX_SANS_REGULAR.to_vec());
        only_shipped_families(&mut fonts);
        Arc::new(fonts)
    }))
}

/// The shipped font first, then those of this machine, loaded when a letter needs them.
fn system_fonts() -> Arc<Database> {
    static ALL: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(ALL.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(PLEX_SANS_REGULAR.to_vec());
        fonts.load_system_fonts();
        // The font stack of the drawing names fonts that this machine may have. The shipped font precedes them.
        only_shipped_families(&mut fonts);
        Arc::new(fonts)
    }))
}

fn only_shipped_families(fonts: &mut Database) {
    fonts.set_sans_serif_family("IBM Plex Sans");
    fonts.set_serif_family("IBM Plex Sans");
}

/// A drawing for usvg, with fonts for its letters, and warnings about them.
pub(super) fn parse_svg(svg: &str) -> Result<(usvg::Tree, Vec<String>), usvg::Error> {
    let missing = missing_letters(svg);
    let (fonts, warnings) =
        if missing.is_empty() { (shipped(), Vec::new()) } else { machine_fonts(&missing) };
    let font_resolver = FontResolver {
        select_font: FontResolver::default_font_selector(),
        select_fallback: Box::new(|letter, tried, fonts| {
            let fonts: &Database = fonts;
            faces_by_similarity(fonts).find(|face| !tried.contains(face) && has(fonts, *face, letter))
        }),
    };
    let options = usvg::Options {
        fontdb: fonts,
        font_family: "IBM Plex Sans".to_owned(),
        font_resolver,
        ..usvg::Options::default()
    };
    Ok((usvg::Tree::from_str(svg, &options)?, warnings))
}

/// Warnings about an SVG, whose viewer paints the letters.
pub(super) fn missing_in_svg(svg: &str) -> Option<String> {
    let missing = missing_letters(svg);
    (!missing.is_empty()).then(|| {
        format!(
            "The letters \"{}\" are not in IBM Plex Sans; what shows the SVG chooses a font for them",
            letter_list(&missing)
        )
    })
}

fn letter_list(letters: &BTreeSet<char>) -> String {
    let more = if letters.len() > 20 { "…" } else { "" };
    format!("{}{more}", letters.iter().take(20).collect::<String>())
}

/// The letters of the texts of a drawing that the shipped font lacks.
fn missing_letters(svg: &str) -> BTreeSet<char> {
    if svg.is_ascii() {
        return BTreeSet::new();
    }
    // Texts for screen readers are not painted.
    let texts = svg.split("<text ").skip(1).filter_map(|t| t.split_once("</text>")).map(|(t, _)| t);
    let letters: String = texts.filter_map(|t| t.split_once('>')).map(|(_, text)| text).collect();
    missing_characters(&letters).into_iter().collect()
}

/// The faces, those that are most similar to the shipped one first: upright, neither bold nor narrow, not monospaced.
fn faces_by_similarity(fonts: &Database) -> impl Iterator<Item = ID> {
    let mut faces: Vec<_> = fonts
        .faces()
        .map(|face| {
            let plain = face.style == Style::Normal
                && face.weight == Weight::NORMAL
                && face.stretch == Stretch::Normal;
            ((!plain, face.monospaced), face.id)
        })
        .collect();
    faces.sort_by_key(|(unlike, _)| *unlike);
    faces.into_iter().map(|(_, id)| id)
}

fn has(fonts: &Database, face: ID, letter: char) -> bool {
    let parsed = |data: &[u8], index| Face::parse(data, index).is_ok_and(|f| f.glyph_index(letter).is_some());
    fonts.with_face_data(face, parsed).unwrap_or(false)
}

/// Fonts of this machine for these letters, and warnings.
fn machine_fonts(missing: &BTreeSet<char>) -> (Arc<Database>, Vec<String>) {
    let fonts = system_fonts();
    let faces: Vec<ID> = faces_by_similarity(&fonts).collect();
    let mut nowhere = BTreeSet::new();
    let mut used = BTreeSet::new();
    for letter in missing {
        match faces.iter().find(|face| has(&fonts, **face, *letter)) {
            Some(face) => {
                let family = fonts.face(*face).and_then(|f| Some(f.families.first()?.0.clone()));
                used.extend(family);
            }
            None => drop(nowhere.insert(*letter)),
        }
    }
    let mut warnings = Vec::new();
    if !used.is_empty() {
        warnings.push(format!(
            "Some letters are not in IBM Plex Sans and are set in fonts of this machine ({}); other machines may give another picture",
            used.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    if !nowhere.is_empty() {
        warnings.push(format!(
            // words: ok (not containers)
            "No font on this machine has the letters \"{}\": they are shown as empty boxes. Install one that has them (Debian: fonts-wqy-microhei, or fonts-noto-cjk and fonts-noto-core) and export again",
            letter_list(&nowhere)
        ));
    }
    (fonts, warnings)
}

#[cfg(test)]
mod tests {
    use usvg::{Group, Node};

    use super::*;

    /// The glyphs of a text from left to right: their letters, and their numbers in the font.
    fn glyphs(text: &str) -> Option<Vec<(String, u16)>> {
        fn collect_glyphs(group: &Group, found: &mut Vec<(f32, String, u16)>) {
            for node in group.children() {
                match node {
                    Node::Group(group) => collect_glyphs(group, found),
                    Node::Text(text) => {
                        let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                        found.extend(glyphs.map(|g| (g.transform().tx, g.text.clone(), g.id.0)));
                    }
                    _ => {}
                }
            }
        }
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" height=\"40\"><text x=\"10\" y=\"20\" \
             font-size=\"12\" font-family=\"IBM Plex Sans\">{text}</text></svg>"
        );
        let (tree, warnings) = parse_svg(&svg).unwrap();
        if warnings.iter().any(|w| w.starts_with("No font")) {
            assert!(
                std::env::var("CI").map_or(true, |ci| ci != "true"),
                "{warnings:?}. On Debian and Ubuntu: sudo apt-get install fonts-dejavu-core fonts-wqy-microhei"
            );
            return None;
        }
        let mut found = Vec::new();
        collect_glyphs(tree.root(), &mut found);
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(found.into_iter().map(|(_, text, id)| (text, id)).collect())
    }

    #[test]
    fn text_runs_the_way_that_it_is_read() {
        let order = |text: &str| Some(glyphs(text)?.into_iter().map(|(text, _)| text).collect::<String>());
        let turned = |text: &str| text.chars().rev().collect::<String>();
        let Some(hebrew) = order("מודל") else { return };
        assert_eq!(hebrew, turned("מודל"), "the first letter stands at the right");
        assert_eq!(order("通义").unwrap(), "通义");
        // Only the name itself is right-to-left, and the text before it stays before it.
        let mixed = order("GLM מודל").unwrap();
        assert_eq!(mixed, format!("GLM {}", turned("מודל")));
        // Letters of Arabic join: they have another form at the start of a word than alone.
        let arabic = glyphs("نموذج").unwrap();
        let alone = glyphs("ن").unwrap();
        let (first, id) = arabic.last().unwrap();
        assert_eq!(first, "ن");
        assert_ne!(*id, alone[0].1, "the letters do not join");
    }
}
