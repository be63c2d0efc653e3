//! JSON as it streams in, kept as far as it came: a trajectory that breaks off still gives the turns before the break.

use std::io::{BufReader, Read};

use serde::Deserializer;

use files::{ReadError, ShortTexts, Tree, json_error};

/// Up to here the bytes are taken whole, which parses several times faster.
const WHOLE: u64 = 8 << 20;

/// Takes a JSON document piece by piece, and keeps what it has when an error ends it.
pub(super) trait Sink {
    /// Reads the document.
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error>;
}

/// Reads a JSON file of at most `cap` bytes into a sink. On an error the sink holds what came before it.
pub(super) fn read_into(tree: &Tree, path: &str, cap: u64, sink: &mut impl Sink) -> Result<(), ReadError> {
    let mut file = tree.open_file(path)?;
    let mut head = Vec::new();
    file.by_ref().take(WHOLE.min(cap) + 1).read_to_end(&mut head)?;
    if head.len() as u64 > cap {
        return Err(ReadError::TooLarge { size: head.len() as u64, cap });
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Malformed { code: "file.empty", what: "The file is empty".to_owned() });
    }
    // Every document that is read into a sink has parts; a lone text or number would leave the sink empty unsaid.
    if let Some(b'"' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') = text.trim_ascii_start().first()
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
    {
        return Err(ReadError::Malformed {
            code: "json.wrong_type",
            what: "The JSON has another form: it is a single value, neither an object nor a list".to_owned(),
        });
    }
    if head.len() as u64 <= WHOLE {
        let mut json = serde_json::Deserializer::from_slice(text);
        return sink.take(&mut json).and_then(|()| json.end()).map_err(|error| json_error(error, Some(text)));
    }
    // One byte more than is allowed, so that a file beyond the cap ends as cut short and not as whole.
    let rest = file.take(cap + 1 - head.len() as u64);
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(
        64 << 10,
        ShortTexts::new(text.chain(rest)),
    ));
    sink.take(&mut json).and_then(|()| json.end()).map_err(|error| json_error(error, None))
}
