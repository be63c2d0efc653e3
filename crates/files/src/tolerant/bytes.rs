//! Values that strict JSON does not have, replaced byte by byte.

use serde::de::IgnoredAny;
use serde_json::Number;

use super::findings::{BEYOND_64_BITS, Findings};

/// Bytes of one number that are looked at. Longer ones are beyond anything that is counted here.
const WORD_CAP: usize = 1024;
/// Levels of objects and lists that the strict parser reads.
const MOST_LEVELS: usize = 127;
/// What stands for half of a character.
const REPLACEMENT: &[u8] = br"\ufffd";

/// Replaces what strict JSON does not have, and counts it.
#[derive(Debug, Default)]
pub(super) struct JsonRepairer {
    pub(super) found: Findings,
    state: State,
    /// The number or word that is being read.
    word: Vec<u8>,
    /// The escape or character that is being read.
    piece: Vec<u8>,
    /// A first half (`\ud83d`) whose second half may follow.
    half: Vec<u8>,
    /// Objects and lists that are open.
    depth: usize,
    /// Those that are open in a value that is left out.
    left_out: usize,
    /// Whether there was something that no parser takes, whatever is put right.
    pub(super) is_lost: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// In a number, or a word such as `true`.
    Word,
    /// In a number of more than [`WORD_CAP`] bytes.
    LongNumber,
    /// In a word that is no JSON, whatever comes.
    Junk,
    Text,
    /// After a backslash; with the digits of `\u` in `piece`.
    Escape,
    /// In three bytes that may be half of a character (`ed a0 80`).
    Bytes,
    /// In an object or list that lies too deep.
    Deep,
    /// In a text of one.
    DeepText {
        escaped: bool,
    },
}

impl JsonRepairer {
    /// Takes a byte of the file and adds to `out` what is passed on.
    pub(super) fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Outside => self.read_outside(byte, out),
            State::Word if is_word_byte(byte) => {
                if self.word.len() < WORD_CAP {
                    self.word.push(byte);
                } else if matches!(self.word.first(), Some(b'-' | b'0'..=b'9')) {
                    self.state = State::LongNumber;
                } else {
                    out.append(&mut self.word);
                    out.push(byte);
                    (self.state, self.is_lost) = (State::Junk, true);
                }
            }
            State::LongNumber if is_word_byte(byte) => {}
            State::Junk if is_word_byte(byte) => out.push(byte),
            State::Word | State::LongNumber | State::Junk => {
                self.end_word(out);
                self.read_outside(byte, out);
            }
            State::Text => self.text(byte, out),
            State::Escape => self.escape(byte, out),
            State::Deep => {
                match byte {
                    b'"' => self.state = State::DeepText { escaped: false },
                    b'{' | b'[' => self.left_out += 1,
                    b'}' | b']' => self.left_out -= 1,
                    _ => {}
                }
                if self.left_out == 0 {
                    self.state = State::Outside;
                }
            }
            State::DeepText { escaped: true } => self.state = State::DeepText { escaped: false },
            State::DeepText { escaped: false } => match byte {
                b'\\' => self.state = State::DeepText { escaped: true },
                b'"' => self.state = State::Deep,
                _ => {}
            },
            State::Bytes => {
                self.piece.push(byte);
                match self.piece[..] {
                    [_, 0xa0..=0xbf] => {}
                    [_, 0xa0..=0xbf, 0x80..=0xbf] => {
                        self.piece.clear();
                        self.found.halves += 1;
                        out.extend_from_slice(REPLACEMENT);
                        self.state = State::Text;
                    }
                    // Another character, or none.
                    _ => {
                        self.piece.pop();
                        out.append(&mut self.piece);
                        self.state = State::Text;
                        self.text(byte, out);
                    }
                }
            }
        }
    }

    /// Adds to `out` what was held back when the file ended.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.end_word(out);
        out.append(&mut self.half);
        out.append(&mut self.piece);
    }

    fn read_outside(&mut self, byte: u8, out: &mut Vec<u8>) {
        if is_word_byte(byte) {
            self.word.push(byte);
            self.state = State::Word;
            return;
        }
        match byte {
            b'{' | b'[' if self.depth == MOST_LEVELS => {
                self.found.deep += 1;
                self.left_out = 1;
                self.state = State::Deep;
                out.extend_from_slice(b"null");
                return;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        out.push(byte);
        self.is_lost |= !byte.is_ascii_whitespace() && !b"{}[]:,\"".contains(&byte);
        self.state = if byte == b'"' { State::Text } else { State::Outside };
    }

    fn text(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            // Whether the first half before it stays alone is known behind the escape.
            b'\\' => {
                self.piece.push(byte);
                self.state = State::Escape;
                return;
            }
            0xed => {
                self.piece.push(byte);
                self.state = State::Bytes;
            }
            _ => self.is_lost |= byte < 0x20,
        }
        self.replace_half(out);
        if byte != 0xed {
            out.push(byte);
            self.state = if byte == b'"' { State::Outside } else { State::Text };
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        let is_digit = self.piece.len() >= 2 && byte.is_ascii_hexdigit();
        let is_u = self.piece.len() == 1 && byte == b'u';
        if !is_digit && !is_u {
            self.replace_half(out);
            // `\n`, or what is no escape at all: the parser says so.
            let is_short = self.piece.len() == 1;
            out.append(&mut self.piece);
            self.state = State::Text;
            if is_short {
                out.push(byte);
            } else {
                self.text(byte, out);
            }
            return;
        }
        self.piece.push(byte);
        if self.piece.len() < 6 {
            return;
        }
        let digits = std::str::from_utf8(&self.piece[2..]).unwrap_or_default();
        match u16::from_str_radix(digits, 16).unwrap_or_default() {
            0xd800..=0xdbff => {
                self.replace_half(out);
                self.half.append(&mut self.piece);
            }
            0xdc00..=0xdfff if self.half.is_empty() => {
                self.found.halves += 1;
                self.piece.clear();
                out.extend_from_slice(REPLACEMENT);
            }
            0xdc00..=0xdfff => {
                out.append(&mut self.half);
                out.append(&mut self.piece);
            }
            _ => {
                self.replace_half(out);
                out.append(&mut self.piece);
            }
        }
        self.state = State::Text;
    }

    /// A first half that was held back has no second half.
    fn replace_half(&mut self, out: &mut Vec<u8>) {
        if !self.half.is_empty() {
            self.half.clear();
            self.found.halves += 1;
            out.extend_from_slice(REPLACEMENT);
        }
    }

    fn end_word(&mut self, out: &mut Vec<u8>) {
        if self.state != State::LongNumber && is_short_integer(&self.word) {
            out.extend_from_slice(&self.word);
        } else if self.state == State::LongNumber || exceeds_64_bits(&self.word) {
            self.found.beyond += 1;
            out.extend_from_slice(b"null");
        } else if matches!(&self.word[..], b"NaN" | b"Infinity" | b"-Infinity") {
            self.found.not_numbers += 1;
            out.extend_from_slice(b"null");
        } else {
            self.is_lost |=
                !self.word.is_empty() && serde_json::from_slice::<IgnoredAny>(&self.word).is_err();
            out.extend_from_slice(&self.word);
        }
        self.word.clear();
        self.state = match self.state {
            State::Word | State::LongNumber | State::Junk => State::Outside,
            other => other,
        };
    }
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether it is an integer of JSON that 64 bits surely hold. Most words are, and need no parser.
fn is_short_integer(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_json = matches!(digits, [b'0'] | [b'1'..=b'9', ..]);
    is_json && digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit)
}

/// Whether it is a number of JSON that 64 bits do not hold.
fn exceeds_64_bits(word: &[u8]) -> bool {
    let is_number = matches!(word.first(), Some(b'-' | b'0'..=b'9'))
        && serde_json::from_slice::<IgnoredAny>(word).is_ok();
    is_number
        // The largest integers round to 2^64.
        && !serde_json::from_slice::<Number>(word).is_ok_and(|n| !n.is_f64())
        && std::str::from_utf8(word).ok().and_then(|w| w.parse().ok()).is_none_or(|n: f64| n.abs() >= BEYOND_64_BITS)
}
