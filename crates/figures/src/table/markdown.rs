//! Markdown in the dialect of GitHub.

use std::fmt::Write as _;

use super::Table;
use super::print::{columns, without_controls};

/// Escaped text: no markup, no link, no HTML, no end of the cell.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let line = without_controls(text);
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '!' | '#' | '$' => out.extend(['\\', c]),
            // Viewers make links from similar texts. No link continues after a colon with a space.
            ':' if letters.peek().is_some_and(|next| !next.is_whitespace()) => out.push_str("&#58;"),
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    // Some viewers read this as a link without a scheme.
    if out.contains("www.") { out.replace("www.", "www&#46;") } else { out }
}

pub(super) fn write(table: &Table) -> String {
    let printed = columns(table, usize::MAX);
    let mut out = format!("**{}**\n\n", escape(&table.title));
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&line(printed.iter().map(|c| escape(&c.heading)).collect()));
    out.push_str(&line(printed.iter().map(|c| if c.right { "---:" } else { "---" }.to_owned()).collect()));
    for row in 0..table.rows.len() {
        out.push_str(&line(printed.iter().map(|c| escape(&c.texts[row])).collect()));
    }
    for note in &table.notes {
        let _ = write!(out, "\n{}\n", escape(note));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            escape("a|b\n[x](javascript:1) <img> `c` www.x.y"),
            "a\\|b \\[x\\](javascript&#58;1) &lt;img&gt; \\`c\\` www&#46;x.y"
        );
        assert_eq!(escape("Note: see https://x.y:80/ a:"), "Note: see https&#58;//x.y&#58;80/ a:");
    }
}
