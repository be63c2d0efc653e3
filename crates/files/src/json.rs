//! JSON out of a tree, in bounded memory, with errors that say what is wrong and where.

use std::io::{self, BufReader, Read};

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::{ReadError, ShortTexts};

/// Up to here the bytes are taken whole, which parses about three times faster; beyond, they stream.
const WHOLE: u64 = 4 << 20;

pub(super) fn read<T: DeserializeOwned>(
    mut file: Box<dyn Read + Send>,
    size: u64,
    cap: u64,
) -> Result<T, ReadError> {
    if size > cap {
        return Err(ReadError::TooLarge { size, cap });
    }
    let mut head = Vec::with_capacity(usize::try_from(size.min(WHOLE)).unwrap_or(0) + 1);
    // A file that is being written may have grown since its size was taken.
    file.by_ref().take(WHOLE.min(cap) + 1).read_to_end(&mut head)?;
    if head.is_empty() {
        return Err(ReadError::malformed("file.empty", "The file is empty"));
    }
    let begin = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let text = &head[begin..];
    if head.len() as u64 <= WHOLE.min(cap) {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::malformed("file.empty", "The file is empty but for blanks"));
        }
        return serde_json::from_slice(text).map_err(|error| json_error(error, Some(text)));
    }
    if head.len() as u64 > cap {
        return Err(ReadError::TooLarge { size: head.len() as u64, cap });
    }
    let rest = Capped { inner: file, left: cap - head.len() as u64, cap };
    let stream = BufReader::with_capacity(64 << 10, ShortTexts::new(text.chain(rest)));
    serde_json::from_reader(stream).map_err(|error| json_error(error, None))
}

/// What a parser's error means for a reader: `json.truncated`, `json.malformed`, `json.wrong_type` or `file.not_utf8`, with
/// line and column. `text` is the file, where it is in memory.
pub fn json_error(error: serde_json::Error, text: Option<&[u8]>) -> ReadError {
    if text.is_some_and(|text| text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff])) {
        return ReadError::malformed("file.not_utf8", "The file is UTF-16; only UTF-8 is read");
    }
    let place = format!("at line {} column {}", error.line(), error.column());
    match error.classify() {
        Category::Io => ReadError::from(io::Error::from(error)),
        Category::Eof => ReadError::malformed(
            "json.truncated",
            format!("The JSON breaks off {place}: the file is cut short"),
        ),
        Category::Data => {
            ReadError::malformed("json.wrong_type", format!("The JSON has another form: {error}"))
        }
        Category::Syntax => {
            let bad_text = text.is_some_and(|text| std::str::from_utf8(text).is_err())
                || error.to_string().starts_with("invalid unicode code point");
            if bad_text {
                return ReadError::malformed("file.not_utf8", format!("The file is not UTF-8 {place}"));
            }
            ReadError::malformed("json.malformed", format!("It is not JSON: {error}"))
        }
    }
}

/// Ends with an error, not silently, where a growing file passes the cap.
struct Capped<R> {
    inner: R,
    left: u64,
    cap: u64,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            let over = self.inner.read(&mut [0])? > 0;
            return if over {
                Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("it grew beyond {} bytes while it was read", self.cap),
                ))
            } else {
                Ok(0)
            };
        }
        let got = self.inner.read(&mut buffer[..most])?;
        self.left -= got as u64;
        Ok(got)
    }
}
