//! Pieces of text files.

use files::{ReadError, Tree};
use model::push_escaped;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Bytes of a piece when the caller does not say.
pub const DEFAULT_LIMIT: u32 = 256 << 10;
/// Most bytes of a piece.
pub const MAX_LIMIT: u32 = 2 << 20;

/// Longest color code that is kept together.
const COLOR_BYTES: usize = 32;

/// A piece of a text. Control characters other than line feed and tab are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TextPage {
    /// The text, always valid Unicode.
    // Control characters other than line feed and tab are escaped (`\u{7}`, `\u{202e}`), color codes (`ESC[…m`) are kept. What
    // is not UTF-8 is U+FFFD.
    pub text: String,
    /// Byte at which it begins.
    pub offset: u64,
    /// Byte at which to continue; `None` = that was all.
    pub next_offset: Option<u64>,
    /// Bytes in all.
    pub total: u64,
}

/// A piece of at most `limit` bytes (0 = [`DEFAULT_LIMIT`]) from byte `offset`, which counts from the end when negative.
/// Pieces begin and end between characters and never inside a color code; following `next_offset` gives the whole file.
pub fn text_page(tree: &Tree, path: &str, offset: i64, limit: u32) -> Result<TextPage, ReadError> {
    let limit = if limit == 0 { DEFAULT_LIMIT } else { limit.min(MAX_LIMIT) }.max(COLOR_BYTES as u32);
    let (start, bytes, total) = if offset < 0 {
        // The size must be known first; opening the file shows whether it can be read at all.
        let (_, total) = tree.read_range(path, 0, 0)?;
        let start = total.saturating_sub(offset.unsigned_abs());
        let (bytes, total) = tree.read_range(path, start, u64::from(limit))?;
        (start, bytes, total)
    } else {
        let start = offset.unsigned_abs();
        let (bytes, total) = tree.read_range(path, start, u64::from(limit))?;
        (start.min(total), bytes, total)
    };
    let skip = if start == 0 { 0 } else { bytes.iter().take(3).take_while(|b| is_continuation(**b)).count() };
    let end = if start + (bytes.len() as u64) < total { whole_end(&bytes, skip) } else { bytes.len() };
    let text = String::from_utf8_lossy(&bytes[skip..end]);
    let next = start + end as u64;
    Ok(TextPage {
        text: escape_controls(&text, true, true),
        offset: start + skip as u64,
        next_offset: (next < total && end > 0).then_some(next),
        total,
    })
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The most bytes that end between characters, not inside a color code and not between CR and LF; all if that is none.
fn whole_end(bytes: &[u8], start: usize) -> usize {
    let mut end = bytes.len();
    // The last character's first byte says how long it is.
    if let Some(back) = (1..=4.min(end)).find(|back| !is_continuation(bytes[end - back])) {
        let length = match bytes[end - back] {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        if length > back {
            end -= back;
        }
    }
    let tail = end.saturating_sub(COLOR_BYTES);
    if let Some(escape) = bytes[tail..end].iter().rposition(|b| *b == 0x1b) {
        let code = &bytes[tail + escape..end];
        if code.len() < COLOR_BYTES && color_code(code).is_none() && may_become_color(code) {
            end = tail + escape;
        }
    }
    if end > 0 && bytes[end - 1] == b'\r' {
        end -= 1;
    }
    if end <= start { bytes.len() } else { end }
}

/// The length of the color code that a text begins with.
fn color_code(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"\x1b[")?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    (rest.get(digits) == Some(&b'm') && digits + 3 <= COLOR_BYTES).then_some(digits + 3)
}

fn may_become_color(bytes: &[u8]) -> bool {
    match bytes {
        [0x1b] => true,
        [0x1b, b'[', rest @ ..] => rest.iter().all(|b| b.is_ascii_digit() || *b == b';'),
        _ => false,
    }
}

/// A text in which control characters other than line feed and tab are escaped, and those that turn the reading order
/// around. CR before LF stays, so that line ends can be compared.
pub fn escape(text: &str) -> String {
    escape_controls(text, false, false)
}

fn escape_controls(text: &str, colors: bool, drop_cr: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut position = 0;
    while let Some(c) = text[position..].chars().next() {
        let start = position;
        position += c.len_utf8();
        match c {
            '\r' if text[position..].starts_with('\n') => {
                if !drop_cr {
                    out.push(c);
                }
            }
            '\x1b' if colors && color_code(&text.as_bytes()[start..]).is_some() => {
                let length = color_code(&text.as_bytes()[start..]).unwrap_or(1);
                out.push_str(&text[start..start + length]);
                position = start + length;
            }
            c => push_escaped(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn pages(bytes: &[u8], limit: u32) -> Vec<TextPage> {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("log"), bytes).unwrap();
        let tree = Tree::open(temp.path()).unwrap();
        let mut pages = vec![text_page(&tree, "log", 0, limit).unwrap()];
        while let Some(next) = pages.last().unwrap().next_offset {
            pages.push(text_page(&tree, "log", next.cast_signed(), limit).unwrap());
        }
        pages
    }

    fn whole(bytes: &[u8], limit: u32) -> String {
        pages(bytes, limit).into_iter().map(|page| page.text).collect()
    }

    #[test]
    fn controls_are_escaped_and_colors_kept() {
        let text = "a\x1b[31mred\x1b[0m\x1b[2J\x07\r\nb\rc\u{202e}d\u{9b}\t\x7f\0";
        assert_eq!(
            whole(text.as_bytes(), 0),
            "a\x1b[31mred\x1b[0m\\u{1b}[2J\\u{7}\nb\\u{d}c\\u{202e}d\\u{9b}\t\\u{7f}\\u{0}"
        );
        assert_eq!(escape("x\r\n\x1b[31m"), "x\r\n\\u{1b}[31m");
    }

    #[test]
    fn an_offset_counts_from_the_end_too() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("log"), "0123456789äbc").unwrap();
        let tree = Tree::open(temp.path()).unwrap();
        let page = text_page(&tree, "log", -3, 0).unwrap();
        assert_eq!((page.text.as_str(), page.offset, page.next_offset, page.total), ("bc", 12, None, 14));
        assert_eq!(text_page(&tree, "log", -100, 0).unwrap().offset, 0);
        let page_past_end = text_page(&tree, "log", 100, 0).unwrap();
        assert_eq!(
            (page_past_end.text.as_str(), page_past_end.offset, page_past_end.next_offset),
            ("", 14, None)
        );
        assert_eq!(text_page(&tree, "none", -5, 0).unwrap_err().code(), "file.missing");
    }

    proptest! {
        #[test]
        fn pages_together_are_the_whole(text in "[a-zäß€😀\r\n\x1b\\[0-9;mJ]{0,300}", limit in 32_u32..80) {
            prop_assert_eq!(whole(text.as_bytes(), limit), whole(text.as_bytes(), MAX_LIMIT));
        }

        #[test]
        fn any_bytes_give_pages_that_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let pages = pages(&bytes, 32);
            for page in &pages {
                prop_assert!(page.text.chars().all(|c| c == '\n' || c == '\t' || c == '\x1b' || !c.is_control()));
            }
            prop_assert_eq!(pages.last().unwrap().total, bytes.len() as u64);
        }
    }
}
