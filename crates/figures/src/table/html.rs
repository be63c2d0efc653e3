//! A `<table>` element.

use std::fmt::Write as _;

use super::Table;
use super::print::{columns, without_controls};
use crate::svg::escape;

pub(super) fn write(table: &Table) -> String {
    let printed = columns(table, usize::MAX);
    let safe = |text: &str| escape(&without_controls(text));
    let mut out = format!("<table>\n<caption>{}</caption>\n<thead><tr>", safe(&table.title));
    let class = |right: bool| if right { " class=\"number\"" } else { "" };
    for column in &printed {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(column.right), safe(&column.heading));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in 0..table.rows.len() {
        out.push_str("<tr>");
        for column in &printed {
            let _ = write!(out, "<td{}>{}</td>", class(column.right), safe(&column.texts[row]));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    for note in &table.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", safe(note));
    }
    out
}
