//! Plain text tables whose columns line up in every script.

use unicode_width::UnicodeWidthStr;

/// Lays out rows in columns. `right` is true for columns of numbers. Control characters are replaced.
pub(crate) fn table(head: &[&str], right: &[bool], rows: &[Vec<String>]) -> String {
    let plain = |text: &str| text.replace(char::is_control, "\u{fffd}");
    let head: Vec<String> = head.iter().map(|cell| plain(cell)).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let mut widths: Vec<usize> = head.iter().map(|h| h.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut out = String::new();
        for (i, cell) in cells.enumerate() {
            let gap = " ".repeat(widths[i].saturating_sub(cell.width()));
            if i > 0 {
                out.push_str("  ");
            }
            if right[i] {
                out.push_str(&gap);
                out.push_str(cell);
            } else {
                out.push_str(cell);
                out.push_str(&gap);
            }
        }
        text.push_str(out.trim_end());
        text.push('\n');
    };
    line(&mut head.iter().map(String::as_str));
    for row in &rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn wide_characters_line_up() {
        let text = table(
            &["a", "n"],
            &[false, true],
            &[vec!["漢字".into(), "1".into()], vec!["x".into(), "22".into()]],
        );
        assert_eq!(text, "a      n\n漢字   1\nx     22\n");
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        let text = table(&["\u{1b}[2J"], &[false], &[vec!["a\u{7}\nb".into()]]);
        assert_eq!(text, "\u{fffd}[2J\na\u{fffd}\u{fffd}b\n");
    }
}
