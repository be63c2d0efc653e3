//! Markdown in the dialect of GitHub.

use std::fmt::Write as _;

use super::Table;
use super::print::{columns, without_controls};

/// Escaped text: no markup, no link, no HTML, no end of the cell.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let line = without_controls(text);
    for (index, c) in line.char_indices() {
        let (before, after) = (&line[..index], &line[index + c.len_utf8()..]);
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '!' | '#' | '$' => out.extend(['\\', c]),
            // Viewers make links from similar texts. No link continues after a colon with a space.
            ':' if after.starts_with(|next: char| !next.is_whitespace()) => out.push_str("&#58;"),
            '@' if !is_within_a_word(before, after) => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    // Some viewers read this as a link without a scheme.
    if out.contains("www.") { out.replace("www.", "www&#46;") } else { out }
}

/// An address of mail is not longer. Without a bound, a text of nothing but `@` would take the square of its length.
const MOST_LETTERS: usize = 254;

/// Whether an `@` between these is a letter as in MT@4: neither the name of a user nor an address of mail.
fn is_within_a_word(before: &str, after: &str) -> bool {
    let word: String = after.chars().take(MOST_LETTERS).take_while(|c| !c.is_whitespace()).collect();
    before.ends_with(char::is_alphanumeric) && !word.trim_end_matches(['.', ',', ')', ':']).contains('.')
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
        assert_eq!(escape("MT@4, pass@k. @me me@x.y (@x)"), "MT@4, pass@k. &#64;me me&#64;x.y (&#64;x)");
        // Of a longer text, what stands beyond an address says nothing.
        assert_eq!(escape(&format!("x@{}.y", "z".repeat(300))).find('@'), Some(1));
        assert_eq!(escape("Note: see https://x.y:80/ a:"), "Note: see https&#58;//x.y&#58;80/ a:");
    }
}
