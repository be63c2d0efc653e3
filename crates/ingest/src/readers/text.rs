//! Plain text as terminals and logs leave it.

use model::strip_ansi;

/// A title without the marks of Markdown that stand for bold, emphasis and code.
pub(crate) fn plain_title(title: &str) -> String {
    without_emphasis(&title.replace("**", "").replace('`', ""))
}

/// A text without the stars around emphasized words: `over *values*`. Stars that mean something else (`2 * 3`, `*.rs`) stay.
fn without_emphasis(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('*') {
        plain.push_str(before);
        let opens = !before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        let closed = after.split_once('*').filter(|(inside, behind)| {
            inside.ends_with(char::is_alphanumeric)
                && !inside.contains('\n')
                && !behind.starts_with(char::is_alphanumeric)
        });
        if let Some((inside, behind)) = closed.filter(|_| opens) {
            plain.push_str(inside);
            rest = behind;
        } else {
            plain.push('*');
            rest = after;
        }
    }
    plain.push_str(rest);
    plain
}

/// The title of a request: its first line, without those marks.
pub(crate) fn first_title(text: &str, cap: usize) -> Option<String> {
    first_line(&plain_title(text), cap)
}

/// The first line that says something, without heading marks, cut to `cap` characters.
pub(crate) fn first_line(text: &str, cap: usize) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
        assert_eq!(first_line("\u{feff}# Round 1\r\n", 80).as_deref(), Some("Round 1"));
        assert_eq!(first_line(" \n#\n", 4), None);
        assert_eq!(first_line("sh -c `date` **", 80).as_deref(), Some("sh -c `date` **"));
        assert_eq!(first_title("## **Round 2**: `notes add`\n", 80).as_deref(), Some("Round 2: notes add"));
        // From a request of EvoCode-Bench.
        let request = "The for..in loop currently iterates over array *values*, but *all of them*.";
        let title = "The for..in loop currently iterates over array values, but all of them.";
        assert_eq!(first_title(request, 80).as_deref(), Some(title));
    }

    #[test]
    fn stars_that_are_no_emphasis_stay() {
        for text in [
            "2 * 3 * 4",
            "2*3*4",
            "*.rs and *.py",
            "f(*args, **kwargs)",
            "count(*)",
            "* a",
            "*",
            "*a\nb*",
            "",
        ] {
            assert_eq!(without_emphasis(text), text);
        }
    }
}
