//! How large a single value may be. The store cuts larger values; the source keeps them whole.

/// Most bytes of one message, expected or actual value of a test, an exception or a warning.
pub const MESSAGE_BYTES: usize = 8 * 1024;

/// Most bytes of a change request that is kept in the store.
pub const REQUEST_BYTES: usize = 1024 * 1024;

/// Most bytes of the identity of an episode. A longer identity is ignored.
pub const IDENTITY_BYTES: usize = 256;

/// Most turn columns of a grid row. Later turns are counted, but not drawn.
pub const GRID_TURNS: u32 = 10_000;

/// Cuts a text to at most `cap` bytes at a character boundary. Its end states how much is missing.
pub(crate) fn cut(text: &str, cap: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= cap {
        return text.into();
    }
    // The mark fits below the cap, so a cut text is never longer than the cap and cutting twice changes nothing.
    let end = text.floor_char_boundary(cap.saturating_sub(48));
    format!("{}\n… {} more bytes", &text[..end], text.len() - end).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_states_what_is_missing() {
        let long = "é".repeat(10_000);
        let once = cut(&long, 1000).into_owned();
        assert!(once.len() <= 1000 && once.ends_with(" more bytes"));
        assert_eq!(cut(&once, 1000), once);
        assert_eq!(cut("short", 1000), "short");
    }
}
