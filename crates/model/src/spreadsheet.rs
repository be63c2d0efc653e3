//! Texts of tables that a spreadsheet would evaluate instead of showing them.

use std::borrow::Cow;

/// What makes a spreadsheet evaluate a text, also behind apostrophes.
fn begins_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// The text with an apostrophe before it, where a spreadsheet would evaluate it. Numbers as texts stay. A text with an
/// apostrophe gets another one, so that [`without_guard`] restores every text.
pub fn with_guard(text: &str) -> Cow<'_, str> {
    if begins_formula(text) && text.parse::<f64>().is_err() && text.len() > 1 {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text without the apostrophe of [`with_guard`].
pub fn without_guard(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| begins_formula(rest)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_its_guard_is_the_text() {
        for text in ["", "a", "-", "-5", "-5 %", "=1+1", "'=1", "''@x", "+", "it's", "'a", "\tx", "@"] {
            assert_eq!(without_guard(&with_guard(text)), text, "{text:?}");
        }
        assert_eq!(with_guard("=1+1"), "'=1+1");
        assert_eq!(with_guard("-5"), "-5");
    }
}
