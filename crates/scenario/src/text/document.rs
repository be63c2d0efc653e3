//! The specification as a document: every clause under its heading.

use super::english::capital;
use super::pieces::{Part, Piece, Pieces};
use super::{analytic, entity, general, removed};
use crate::ir::{Schema, words};

/// All clauses in the order of the document.
pub(super) fn pieces(schema: &Schema) -> Pieces {
    let mut out = Pieces(Vec::with_capacity(48 + schema.entities.len() * 24));
    general::pieces(schema, &mut out);
    for (index, each) in schema.entities.iter().enumerate() {
        entity::pieces(schema, each, index, &mut out);
    }
    for each in &schema.analytics {
        out.put(Part::Analytic, format!("analytics.{}", each.key), analytic::text(schema, each));
    }
    for (index, each) in schema.removed.iter().enumerate() {
        out.put(Part::Removed, format!("gone.{index}"), removed::text(schema, each));
    }
    out
}

/// The document, its headings beginning at `level`.
pub(super) fn write(schema: &Schema, level: usize, out: &mut String) {
    write_pieces(schema, &pieces(schema).0, level, out);
}

/// The same with the clauses of the schema.
pub(super) fn write_pieces(schema: &Schema, pieces: &[Piece], level: usize, out: &mut String) {
    out.reserve(pieces.iter().map(|piece| piece.clause.text.len() + 8).sum());
    let mut before = None;
    for piece in pieces {
        let part = piece.part;
        if before != Some(part) {
            headings(schema, before, part, level, out);
            before = Some(part);
        }
        match part {
            Part::Entity(_) => {}
            Part::Rule(_) => out.push_str("  - "),
            _ => out.push_str("- "),
        }
        out.push_str(&piece.clause.text);
        out.push('\n');
    }
}

fn headings(schema: &Schema, before: Option<Part>, part: Part, level: usize, out: &mut String) {
    let title = match part {
        Part::Server => "Server",
        Part::Errors => "Errors",
        Part::Records => "Records",
        Part::Bodies => "Request bodies",
        Part::Types => "Types and rules of fields",
        Part::Operations => "Routes of every entity",
        Part::Lists => "Lists",
        Part::Deletion => "Deletion",
        Part::Actions => "Actions",
        Part::Analytics | Part::Analytic => "Analytics",
        Part::Removed => "Removed in this turn",
        Part::Entity(index) => {
            if !matches!(
                before,
                Some(Part::Entity(_) | Part::Field(_) | Part::List(_) | Part::Action(_) | Part::Rule(_))
            ) {
                heading(out, level, "Entities");
            }
            let name = schema.entities.get(index).map_or("", |entity| &entity.plural);
            heading(out, level + 1, &capital(&words(name)));
            return;
        }
        Part::Field(_) => return label(out, "Fields:"),
        Part::List(_) => return label(out, "List:"),
        Part::Action(_) if matches!(before, Some(Part::Rule(_))) => return,
        Part::Action(_) => return label(out, "Actions:"),
        Part::Rule(_) => return,
    };
    let title = match part {
        Part::Analytic if matches!(before, Some(Part::Analytics)) => return,
        Part::Analytics => "Analytics in general",
        Part::Actions => "Actions in general",
        _ => title,
    };
    heading(out, level, title);
}

fn heading(out: &mut String, level: usize, title: &str) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    for _ in 0..level {
        out.push('#');
    }
    out.push(' ');
    out.push_str(title);
    out.push_str("\n\n");
}

fn label(out: &mut String, title: &str) {
    out.push('\n');
    out.push_str(title);
    out.push_str("\n\n");
}
