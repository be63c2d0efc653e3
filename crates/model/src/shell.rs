//! Words of a POSIX shell.

use std::borrow::Cow;

/// A text as one word of a shell; a plain one stays as it is. No shell can have a NUL in a word, so NULs are left out.
pub fn shell_word(text: &str) -> String {
    let word = text.replace('\0', "");
    shlex::try_quote(&word).unwrap_or(Cow::Borrowed("''")).into_owned()
}

/// The words of a line, split as a shell splits them: blanks, `'…'`, `"…"`, `\` and comments. Nothing is expanded. `None` if a
/// quotation mark is not closed or a `\` ends the line.
pub fn shell_words(line: &str) -> Option<Vec<String>> {
    shlex::split(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_word_stays_and_any_other_is_quoted() {
        for (text, word) in [
            ("scenario_0/a-b.toml", "scenario_0/a-b.toml"),
            ("", "''"),
            ("/a b/setup.sh", "'/a b/setup.sh'"),
            ("it's; rm -rf", "\"it's; rm -rf\""),
            ("$HOME `x`", "'$HOME `x`'"),
            ("a\0b", "ab"),
        ] {
            assert_eq!(shell_word(text), word);
        }
        assert_eq!(shell_words("-e 'not closed"), None);
        assert_eq!(shell_words("-e x\\"), None);
    }

    proptest! {
        #[test]
        fn words_are_split_as_they_were_quoted(words in prop::collection::vec("[^\\x00]{0,12}", 0..5)) {
            let line = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(shell_words(&line), Some(words));
        }

        #[test]
        fn a_shell_reads_what_was_quoted(word in "[ -~é\\n\\t]{0,40}") {
            let script = format!("printf %s {}", shell_word(&word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output()?;
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
