//! Plain text as terminals and logs leave it.

use model::strip_ansi;

/// A title without the marks of Markdown that stand for bold and code.
pub(crate) fn plain_title(title: &str) -> String {
    title.replace("**", "").replace('`', "")
}

/// The title of a request: its first line, without those marks.
pub(crate) fn first_title(text: &str, cap: usize) -> Option<String> {
    first_line(&plain_title(text), cap)
}

/// The first line that says something, without heading marks, cut to `cap` characters.
pub(crate) fn first_line(text: &str, cap: usize) -> Option<String> {
    let line = text.lines().map(|l| l.trim().trim_start_matches('#').trim()).find(|l| !l.is_empty())?;
    let line = strip_ansi(line);
    if line.chars().count() <= cap {
        return Some(line.into_owned());
    }
    Some(line.chars().take(cap - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_request() {
        assert_eq!(first_line("\n\n## Round 1 - notes\n\nmore", 80).as_deref(), Some("Round 1 - notes"));
        assert_eq!(first_line("abcdef", 4).as_deref(), Some("abc…"));
        assert_eq!(first_line(" \n#\n", 4), None);
        assert_eq!(first_line("sh -c `date` **", 80).as_deref(), Some("sh -c `date` **"));
        assert_eq!(first_title("## **Round 2**: `notes add`\n", 80).as_deref(), Some("Round 2: notes add"));
    }
}
