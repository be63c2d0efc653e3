//! Keys in memory.

/// A key that appears nowhere: not in `Debug`, not in errors.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps it without surrounding white space, which copying often adds.
    pub fn new(text: String) -> Self {
        let trimmed = text.trim();
        Self(if trimmed.len() == text.len() { text } else { trimmed.to_owned() })
    }

    /// The key itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces it in a text from outside.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "…") }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}
