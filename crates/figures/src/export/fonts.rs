//! Which font has which letter.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use ttf_parser::Face;
use usvg::fontdb::{Database, ID};

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
fn of_this_machine() -> Arc<Database> {
    static ALL: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(ALL.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(PLEX_SANS_REGULAR.to_vec());
        fonts.load_system_fonts();
        // The stack of the drawing names fonts that this machine may have; the shipped one goes before them.
        only_shipped_families(&mut fonts);
        Arc::new(fonts)
    }))
}

fn only_shipped_families(fonts: &mut Database) {
    fonts.set_sans_serif_family("IBM Plex Sans");
    fonts.set_serif_family("IBM Plex Sans");
}

/// A drawing as usvg reads it, with fonts for its letters; and what is to be said of them.
pub(super) fn tree(svg: &str) -> Result<(usvg::Tree, Vec<String>), usvg::Error> {
    let missing = missing(svg);
    let (fonts, warnings) = if missing.is_empty() { (shipped(), Vec::new()) } else { elsewhere(&missing) };
    let options =
        usvg::Options { fontdb: fonts, font_family: "IBM Plex Sans".to_owned(), ..usvg::Options::default() };
    Ok((usvg::Tree::from_str(svg, &options)?, warnings))
}

/// What is to be said of an SVG, whose letters are painted by whoever shows it.
pub(super) fn missing_in_svg(svg: &str) -> Option<String> {
    let missing = missing(svg);
    (!missing.is_empty()).then(|| {
        format!(
            "The letters \"{}\" are not in IBM Plex Sans; what shows the SVG chooses a font for them",
            some(&missing)
        )
    })
}

fn some(letters: &BTreeSet<char>) -> String {
    let more = if letters.len() > 20 { "…" } else { "" };
    format!("{}{more}", letters.iter().take(20).collect::<String>())
}

/// The letters of a drawing's texts that the shipped font does not have.
fn missing(svg: &str) -> BTreeSet<char> {
    if svg.is_ascii() {
        return BTreeSet::new();
    }
    // The words for those who do not see the figure are not painted.
    let texts = svg.split("<text ").skip(1).filter_map(|t| t.split_once("</text>")).map(|(t, _)| t);
    let letters: String = texts.filter_map(|t| t.split_once('>')).map(|(_, text)| text).collect();
    missing_characters(&letters).into_iter().collect()
}

/// Fonts of this machine for these letters, and what is to be said.
fn elsewhere(missing: &BTreeSet<char>) -> (Arc<Database>, Vec<String>) {
    let fonts = of_this_machine();
    let faces: Vec<(ID, String)> =
        fonts.faces().map(|f| (f.id, f.families.first().map_or_else(String::new, |f| f.0.clone()))).collect();
    let mut nowhere = BTreeSet::new();
    let mut used = BTreeSet::new();
    for letter in missing {
        let has = |id: ID| {
            fonts
                .with_face_data(id, |data, index| {
                    Face::parse(data, index).is_ok_and(|f| f.glyph_index(*letter).is_some())
                })
                .unwrap_or(false)
        };
        match faces.iter().find(|(id, _)| has(*id)) {
            Some((_, family)) => drop(used.insert(family.clone())),
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
            "No font on this machine has the letters \"{}\": they are shown as empty boxes. Install one that has them (Debian: fonts-noto-cjk, fonts-noto-core) and export again",
            some(&nowhere)
        ));
    }
    (fonts, warnings)
}
