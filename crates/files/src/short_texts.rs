//! JSON in which no text is longer than memory should bear.
//!
//! A parser takes each text into memory whole before anybody can say that a piece would do. So what lies beyond
//! [`TEXT_LIMIT`] bytes of a text is taken out of the stream before the parser sees it.

use std::io::{self, Read};

/// Bytes of one text, as it is written in the file, that are passed on.
pub const TEXT_LIMIT: usize = 8 << 20;

/// Passes JSON on with every text cut to about [`TEXT_LIMIT`] bytes, between characters.
#[derive(Debug)]
pub struct ShortTexts<R> {
    inner: R,
    limit: usize,
    state: State,
    /// Bytes of the text so far.
    length: usize,
    dropping: bool,
    /// The last escape was the first half of a pair (`\ud83d\ude00`), which must not be left alone.
    half: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Text,
    Escape,
    /// Digits of `\u` to come, and the number so far.
    Hex(u8, u16),
}

impl<R: Read> ShortTexts<R> {
    /// Reads from `inner`, which begins outside a text.
    pub fn new(inner: R) -> Self {
        Self::with_limit(inner, TEXT_LIMIT)
    }

    fn with_limit(inner: R, limit: usize) -> Self {
        Self { inner, limit, state: State::Outside, length: 0, dropping: false, half: false }
    }

    /// Whether the byte is passed on.
    fn take(&mut self, byte: u8) -> bool {
        match self.state {
            State::Outside => {
                if byte == b'"' {
                    (self.state, self.length, self.half) = (State::Text, 0, false);
                }
                true
            }
            State::Text if byte == b'"' => {
                (self.state, self.dropping) = (State::Outside, false);
                true
            }
            State::Text => {
                self.length += 1;
                let between_characters = byte & 0b1100_0000 != 0b1000_0000 && !self.half;
                self.dropping |= self.length > self.limit && between_characters;
                if byte == b'\\' {
                    self.state = State::Escape;
                } else {
                    self.half = false;
                }
                !self.dropping
            }
            State::Escape => {
                self.half &= byte == b'u';
                self.state = if byte == b'u' { State::Hex(4, 0) } else { State::Text };
                !self.dropping
            }
            State::Hex(left, number) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as u16;
                let number = number << 4 | digit;
                self.state = State::Hex(left - 1, number);
                if left == 1 {
                    self.state = State::Text;
                    self.half = (0xd800..0xdc00).contains(&number);
                }
                !self.dropping
            }
        }
    }
}

impl<R: Read> Read for ShortTexts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read_bytes = self.inner.read(buffer)?;
            if read_bytes == 0 {
                return Ok(0);
            }
            let mut kept = 0;
            for index in 0..read_bytes {
                let byte = buffer[index];
                if self.take(byte) {
                    buffer[kept] = byte;
                    kept += 1;
                }
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn through(json: &[u8], limit: usize, piece: usize) -> Vec<u8> {
        let mut reader = ShortTexts::with_limit(json, limit);
        let mut out = Vec::new();
        let mut buffer = vec![0; piece];
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return out,
                count => out.extend_from_slice(&buffer[..count]),
            }
        }
    }

    #[test]
    fn pairs_and_escapes_stay_whole() {
        let json = br#"["\ud83d\ude00\ud83d\ude00x", "a\"b\\c", "\u00e9\u00e9"]"#;
        for limit in 0..30 {
            let out = through(json, limit, 7);
            serde_json::from_slice::<Value>(&out).unwrap_or_else(|e| panic!("{limit}: {e}"));
        }
        assert_eq!(through(json, 100, 3), json);
    }

    proptest! {
        #[test]
        fn texts_become_beginnings_of_themselves(
            list in prop::collection::vec("[a-zäß€😀\"\\\\\n]{0,40}", 0..6),
            limit in 1_usize..50,
            piece in 1_usize..20,
        ) {
            let json = serde_json::to_vec(&list).unwrap();
            let out: Vec<String> = serde_json::from_slice(&through(&json, limit, piece)).unwrap();
            prop_assert_eq!(out.len(), list.len());
            for (short, whole) in out.iter().zip(&list) {
                prop_assert!(whole.starts_with(short.as_str()));
                prop_assert!(short.len() <= limit + 4);
                let escaped = serde_json::to_string(whole).unwrap().len() - 2;
                prop_assert!(escaped > limit || short == whole);
            }
        }

        #[test]
        fn anything_passes_in_pieces_as_it_does_whole(
            bytes in prop::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b'u'), any::<u8>()], 0..200),
            piece in 1_usize..9,
        ) {
            prop_assert_eq!(through(&bytes, 5, piece), through(&bytes, 5, 500));
        }
    }
}
