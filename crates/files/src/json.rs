//! JSON out of a tree, in bounded memory, with errors that say what is wrong and where.
//!
//! One reader for every format: strict first; a file that the strict parser refuses is read again with what other
//! programs write and JSON does not have put right ([`super::tolerant`]).
//!
//! A number with which a file breaks off is unknown: of `12` nobody knows whether 1,234 was meant. No sink keeps it.

use std::io::{self, BufReader, Read};

use serde::de::{DeserializeOwned, Deserializer};
use serde_json::error::Category;

use super::tolerant::{Findings, RepairedJson};
use super::{ReadError, ShortTexts};

/// Up to here the bytes are taken whole, which parses about three times faster; beyond, they stream.
const WHOLE_BYTES: u64 = if cfg!(test) { 256 << 10 } else { 8 << 20 };
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes at the end of a file beyond [`WHOLE_BYTES`] in which a number that breaks off is looked for.
const LAST_BYTES: usize = 64 << 10;

/// Takes a JSON document piece by piece, and may keep what it has when an error ends it.
pub trait JsonSink {
    /// Forgets everything: the document is read again from its start.
    fn restart(&mut self);
    /// Reads the document.
    ///
    /// Errors: those of the deserializer, and its own for a document of another form.
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error>;
}

/// What is done with a file that has more bytes than are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverLimit {
    /// [`ReadError::TooLarge`].
    Refused,
    /// Its first bytes are read, as of a file that breaks off there.
    CutOff,
}

/// A file of a known size, opened at its start.
type OpenFile = (Box<dyn Read + Send>, u64);

/// A value of any type as a sink.
#[derive(Debug)]
struct Value<T>(Option<T>);

impl<T: DeserializeOwned> JsonSink for Value<T> {
    fn restart(&mut self) {
        self.0 = None;
    }
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        self.0 = Some(T::deserialize(json)?);
        Ok(())
    }
}

/// Reads a value, and says what was put right for that.
pub(super) fn read<T: DeserializeOwned>(
    open: impl Fn() -> Result<OpenFile, ReadError>,
    cap: u64,
) -> Result<(T, Findings), ReadError> {
    let mut value = Value(None);
    let findings = read_into(open, cap, OverLimit::Refused, &mut value)?;
    let value = value.0.ok_or_else(|| ReadError::malformed("json.malformed", "The file holds no value"))?;
    Ok((value, findings))
}

/// Reads into a sink, and says what was put right for that. On an error the sink holds what came before it.
pub(super) fn read_into(
    open: impl Fn() -> Result<OpenFile, ReadError>,
    cap: u64,
    beyond: OverLimit,
    sink: &mut impl JsonSink,
) -> Result<Findings, ReadError> {
    let (mut file, size) = open()?;
    if size > cap && beyond == OverLimit::Refused {
        return Err(ReadError::TooLarge { size, cap });
    }
    let whole = WHOLE_BYTES.min(cap);
    let mut head = Vec::with_capacity(usize::try_from(size.min(whole)).unwrap_or(0) + 1);
    // A file that is being written may have grown since its size was taken.
    file.by_ref().take(whole + 1).read_to_end(&mut head)?;
    if head.is_empty() {
        return Err(ReadError::malformed("file.empty", "The file is empty"));
    }
    let text = without_mark(&head);
    if head.len() as u64 <= whole {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::malformed("file.empty", "The file is empty but for blanks"));
        }
        return whole_text(text, sink);
    }
    if head.len() as u64 > cap {
        return Err(ReadError::TooLarge { size: head.len() as u64, cap });
    }
    let strict = match parse_stream(stream(text, file, cap - head.len() as u64, cap, beyond), sink) {
        Ok(()) => return Ok(Findings::default()),
        Err(error) => error,
    };
    if strict.is_io() {
        return Err(json_error(strict, None));
    }
    let again = || -> Result<_, ReadError> {
        let (mut file, _) = open()?;
        let mut head = Vec::new();
        file.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head)?;
        let left = cap.saturating_sub(head.len() as u64);
        Ok(stream(io::Cursor::new(without_mark(&head).to_vec()), file, left, cap, beyond))
    };
    let findings = Findings::from_reader(again()?)?;
    let repaired = || -> Result<_, ReadError> {
        Ok(BufReader::with_capacity(64 << 10, RepairedJson::new(again()?, &findings)))
    };
    let error = if findings.is_empty() {
        strict
    } else {
        sink.restart();
        match parse_stream(repaired()?, sink) {
            Ok(()) => return Ok(findings),
            Err(error) => error,
        }
    };
    // Only a parser that came to the end has seen with what the document ends; one that met something else may have stopped long
    // before, in a file of any size.
    if error.is_eof()
        && let Some(known) = length_without_cut_number(repaired()?)?
    {
        sink.restart();
        // What is wrong with the file was found out above.
        let _ = parse_stream(repaired()?.take(known), sink);
    }
    Err(json_error(error, None))
}

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}

fn whole_text(text: &[u8], sink: &mut impl JsonSink) -> Result<Findings, ReadError> {
    let strict = match parse_text(text, sink) {
        Ok(()) => return Ok(Findings::default()),
        Err(error) => error,
    };
    let findings = Findings::from_reader(text)?;
    if findings.is_empty() {
        forget_cut_number(text, sink);
        return Err(json_error(strict, Some(text)));
    }
    let mut repaired = Vec::with_capacity(text.len());
    RepairedJson::new(text, &findings).read_to_end(&mut repaired)?;
    sink.restart();
    if let Err(error) = parse_text(&repaired, sink) {
        forget_cut_number(&repaired, sink);
        return Err(json_error(error, Some(&repaired)));
    }
    Ok(findings)
}

fn parse_text(text: &[u8], sink: &mut impl JsonSink) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_slice(text);
    sink.take(&mut json).and_then(|()| json.end())
}

/// Lets a sink that met an error read the text again without a number with which the text breaks off.
fn forget_cut_number(text: &[u8], sink: &mut impl JsonSink) {
    if let Some(known) = without_cut_number(text) {
        sink.restart();
        // What is wrong with the text is known already.
        let _ = parse_text(known, sink);
    }
}

/// A text that breaks off, up to the number with which it ends; `None` = it ends with something else. Blanks and zero bytes
/// behind the number do not make it whole: an editor, or a file system after a power cut, adds them.
pub fn without_cut_number(text: &[u8]) -> Option<&[u8]> {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let is_filler = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let end = text.iter().rposition(|byte| !is_filler(byte))? + 1;
    let begin = text[..end].iter().rposition(|byte| !is_of_number(byte)).map_or(0, |index| index + 1);
    matches!(text[begin..end].first(), Some(b'-' | b'0'..=b'9')).then(|| &text[..begin])
}

/// The same of a text that streams by: how many of its bytes come before that number.
fn length_without_cut_number(mut reader: impl Read) -> io::Result<Option<u64>> {
    let (mut last, mut bytes) = (Vec::new(), 0_u64);
    let mut piece = vec![0; LAST_BYTES];
    loop {
        let read_bytes = reader.read(&mut piece)?;
        if read_bytes == 0 {
            break;
        }
        bytes += read_bytes as u64;
        last.extend_from_slice(&piece[..read_bytes]);
        // Not at each piece: these may be small.
        if last.len() > 4 * LAST_BYTES {
            last.drain(..last.len() - LAST_BYTES);
        }
    }
    Ok(without_cut_number(&last).map(|known| bytes - (last.len() - known.len()) as u64))
}

/// The same as strict JSON, where something had to be put right as [`super::Tree::read_json`] does; `None` where nothing
/// was. For JSON that is no file of its own, such as a line of a log.
pub fn strict_json(text: &[u8]) -> Option<Vec<u8>> {
    let plain = without_mark(text);
    let findings = Findings::from_reader(plain).ok()?;
    if findings.is_empty() {
        return (plain.len() < text.len()).then(|| plain.to_vec());
    }
    let mut repaired = Vec::with_capacity(plain.len());
    RepairedJson::new(plain, &findings).read_to_end(&mut repaired).ok()?;
    Some(repaired)
}

/// How many values a JSON text has at most: one before each comma, and one in each list or object. What a reader makes of a
/// value takes tens to hundreds of bytes, however few it has in the text, so this is counted before a stranger's text is parsed.
pub fn most_values(text: &[u8]) -> usize {
    let (mut count, mut is_in_text, mut is_escaped) = (1, false, false);
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_text => is_escaped = true,
            b'"' => is_in_text = !is_in_text,
            b',' | b'[' | b'{' if !is_in_text => count += 1,
            _ => {}
        }
    }
    count
}

fn stream<'a>(
    head: impl Read + 'a,
    rest: Box<dyn Read + Send>,
    left: u64,
    cap: u64,
    beyond: OverLimit,
) -> impl Read + 'a {
    let rest: Box<dyn Read> = match beyond {
        OverLimit::Refused => Box::new(CappedFile { inner: rest, free_bytes: left, cap }),
        OverLimit::CutOff => Box::new(rest.take(left)),
    };
    BufReader::with_capacity(64 << 10, ShortTexts::new(head.chain(rest)))
}

fn parse_stream(reader: impl Read, sink: &mut impl JsonSink) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    sink.take(&mut json).and_then(|()| json.end())
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
struct CappedFile<R> {
    inner: R,
    free_bytes: u64,
    cap: u64,
}

impl<R: Read> Read for CappedFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.free_bytes).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            let has_more = self.inner.read(&mut [0])? > 0;
            return if has_more {
                Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("it grew beyond {} bytes while it was read", self.cap),
                ))
            } else {
                Ok(0)
            };
        }
        let read_bytes = self.inner.read(&mut buffer[..most])?;
        self.free_bytes -= read_bytes as u64;
        Ok(read_bytes)
    }
}
