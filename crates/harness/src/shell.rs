//! Commands for containers: without standard input, without a shell, with at most 128 KiB per argument.

use serde_json::Value;

use crate::{Call, HarnessError, HomeFile, Invocation};

/// The file of the request in HOME.
pub(crate) const PROMPT: &str = ".stamina/prompt.md";
/// The limit of Linux for one argument, without its closing zero.
const ARGUMENT_CAP: usize = 128 * 1024 - 1;

/// Builds an [`Invocation`].
#[derive(Debug, Default)]
pub(crate) struct Command {
    invocation: Invocation,
}

impl Command {
    /// Starts with a program and arguments.
    pub(crate) fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            invocation: Invocation {
                argv: argv.into_iter().map(Into::into).collect(),
                ..Invocation::default()
            },
        }
    }

    /// Adds arguments.
    #[must_use]
    pub(crate) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.invocation.argv.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.invocation.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a file in HOME.
    #[must_use]
    pub(crate) fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        self.invocation.files.push(HomeFile { path: path.to_owned(), text: text.into() });
        self
    }

    /// Adds files in HOME.
    #[must_use]
    pub(crate) fn files(mut self, files: Vec<HomeFile>) -> Self {
        self.invocation.files.extend(files);
        self
    }

    /// Adds the request as a file in HOME.
    #[must_use]
    pub(crate) fn prompt_file(self, call: &Call<'_>) -> Self {
        self.file(PROMPT, call.prompt)
    }

    /// Adds the request as a file in HOME and as the standard input of the command. The shell that opens the file gets the
    /// rest as arguments, so it never interprets them.
    #[must_use]
    pub(crate) fn prompt_on_stdin(mut self, call: &Call<'_>) -> Self {
        let tool = std::mem::take(&mut self.invocation.argv);
        self.invocation.argv =
            ["sh", "-c", r#"f=$1; shift; exec "$@" < "$f""#, "sh"].map(str::to_owned).into();
        self.invocation.argv.push(prompt_path(call));
        self.invocation.argv.extend(tool);
        self.prompt_file(call)
    }

    /// The invocation, or an error if an argument is too long.
    pub(crate) fn done(self, harness: &str) -> Result<Invocation, HarnessError> {
        match self.invocation.argv.iter().map(String::len).max() {
            Some(bytes) if bytes > ARGUMENT_CAP => {
                Err(HarnessError::PromptTooLong { harness: harness.to_owned(), bytes })
            }
            _ => Ok(self.invocation),
        }
    }
}

/// The path of the request for this call.
pub(crate) fn prompt_path(call: &Call<'_>) -> String {
    format!("{}/{PROMPT}", call.home)
}

/// Whether the id of a session may be an argument. It comes from a container, and must not look like an option or a sentence.
pub(crate) fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
        && !id.contains("..")
}

/// Whether it is a UUID as text.
pub(crate) fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.char_indices().all(|(index, c)| match index {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        })
}

/// A text as a TOML string. The escapes of JSON are valid in TOML; DEL needs an escape of its own.
pub(crate) fn toml_text(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_may_be_arguments() {
        for id in [
            "ses_e0302d922ffeTIPyTr0w9hsrPC",
            "session_dc4de231-b482",
            "3487e9b4-c0d0-8adc-54f2-3258963d0811",
        ] {
            assert!(is_id(id));
        }
        for id in ["", "--yolo", "a b", "a/../b", "..", "a..b", "x\n", "é"] {
            assert!(!is_id(id), "{id}");
        }
        assert!(is_uuid("3487e9b4-c0d0-8adc-54f2-3258963d0811"));
        assert!(!is_uuid("3487e9b4-c0d0-8adc-54f2-3258963d081"));
    }

    #[test]
    fn toml_texts_round_trip() {
        let text = "a\"b\\c\n\u{1}\u{7f}é\u{10ffff}";
        let read: toml::Table = toml::from_str(&format!("x = {}", toml_text(text))).unwrap();
        assert_eq!(read["x"].as_str(), Some(text));
    }
}
