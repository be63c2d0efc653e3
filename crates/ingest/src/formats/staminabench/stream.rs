//! JSON as it streams in, kept as far as it came: a trajectory that breaks off still gives the turns before the break.

use std::io::{BufReader, Read};

use serde::Deserializer;
use serde_json::error::Category;

use crate::tree::{ReadError, ShortTexts, Tree};

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
    if head.len() as u64 <= WHOLE {
        let mut json = serde_json::Deserializer::from_slice(text);
        return sink.take(&mut json).and_then(|()| json.end()).map_err(error);
    }
    // One byte more than is allowed, so that a file beyond the cap ends as cut short and not as whole.
    let rest = file.take(cap + 1 - head.len() as u64);
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(
        64 << 10,
        ShortTexts::new(text.chain(rest)),
    ));
    sink.take(&mut json).and_then(|()| json.end()).map_err(error)
}

fn error(error: serde_json::Error) -> ReadError {
    let code = match error.classify() {
        Category::Io => return ReadError::from(std::io::Error::from(error)),
        Category::Eof => "json.truncated",
        Category::Data => "json.wrong_type",
        Category::Syntax if error.to_string().starts_with("invalid unicode code point") => "file.not_utf8",
        Category::Syntax => "json.malformed",
    };
    let what = match code {
        "json.truncated" => {
            format!(
                "The JSON breaks off at line {} column {}: the file is cut short",
                error.line(),
                error.column()
            )
        }
        "json.wrong_type" => format!("The JSON has another form: {error}"),
        _ => format!("It is not JSON: {error}"),
    };
    ReadError::Malformed { code, what }
}
