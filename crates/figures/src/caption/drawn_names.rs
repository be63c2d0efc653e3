//! What the drawing leaves out of the names of runs, which the caption has whole.

use super::{labels, listed, names_in_sentences};
use crate::display_names::{full_name, left_out_text};
use crate::scene::Item;
use crate::spec::FigureSpec;

/// `Names are drawn without "oracle-"`; `None` = they are whole, or share nothing.
pub(super) fn sentence(spec: &FigureSpec) -> Option<String> {
    let labels = labels(&spec.figure);
    let names: Vec<String> = labels.iter().map(|label| full_name(label)).collect();
    // Very long names are as short in the caption, which gives one of them as an example.
    if names_in_sentences(&names) != names {
        return None;
    }
    let left_out = left_out_text(&labels, || drawn_texts(spec));
    let quoted: Vec<String> = left_out.iter().map(|text| format!("\"{text}\"")).collect();
    (!quoted.is_empty()).then(|| format!("Names are drawn without {}", listed(&quoted)))
}

/// The texts of each part of the drawing, without its notes, which are sentences.
fn drawn_texts(spec: &FigureSpec) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut is_note = false;
    for item in crate::draw(spec).scene.items {
        match item {
            Item::Part(part) => {
                is_note = part == "notes";
                texts.push(String::new());
            }
            Item::Text(text) if !is_note => {
                if let Some(last) = texts.last_mut() {
                    last.push_str(&text.content);
                }
            }
            _ => {}
        }
    }
    texts
}
