//! The file of records: a line each, appended while the program runs.
//!
//! A program that was killed in the middle of a line leaves it cut off, and the next record that it appends begins on the same
//! line. Such a line holds the start of one record and the whole of another.

use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};

use files::{ReadError, Tree};

/// What every record begins with.
const BEGIN: &[u8] = b"{\"agent_name\": \"";
/// Most bytes of a line.
pub(super) const LINE_CAP: u64 = 64 << 20;
/// Longest name of an agent, in bytes.
const NAME_CAP: usize = 1_000;

/// A line: its number from 0 on, where it begins, and its bytes; `None` = it is longer than lines are.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) offset: u64,
    pub(super) bytes: Option<Vec<u8>>,
}

/// Calls `take` with every line that is not blank, until it says that it has enough.
pub(super) fn for_each_line(
    tree: &Tree,
    path: &str,
    mut take: impl FnMut(Line) -> bool,
) -> Result<(), ReadError> {
    let mut reader = BufReader::with_capacity(256 << 10, tree.open_file(path)?);
    let mut next = 0;
    for number in 0.. {
        let mut bytes = Vec::new();
        let read_count = reader.by_ref().take(LINE_CAP).read_until(b'\n', &mut bytes)?;
        if read_count == 0 {
            break;
        }
        let offset = next;
        next += read_count as u64;
        let mut is_whole = true;
        if read_count as u64 == LINE_CAP && bytes.last() != Some(&b'\n') {
            is_whole = false;
            next += reader.skip_until(b'\n')? as u64;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if !take(Line { number, offset, bytes: is_whole.then_some(bytes) }) {
            break;
        }
    }
    Ok(())
}

/// The line that begins at a byte of a file, so that what stands before it is not read.
pub(super) fn line_at(tree: &Tree, path: &str, offset: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    BufReader::with_capacity(256 << 10, tree.open_file_at(path, offset)?)
        .take(LINE_CAP)
        .read_until(b'\n', &mut bytes)?;
    Ok(bytes)
}

/// The agents whose records a file holds, by how each line begins; `most` of them and one more, where there are more.
pub(super) fn agents(tree: &Tree, path: &str, most: usize) -> Result<BTreeSet<String>, ReadError> {
    let mut names = BTreeSet::new();
    for_each_line(tree, path, |line| {
        for piece in line.bytes.as_deref().map(pieces).unwrap_or_default() {
            names.extend(agent(piece));
        }
        names.len() <= most
    })?;
    Ok(names)
}

/// The name of the agent that a record begins with.
fn agent(piece: &[u8]) -> Option<String> {
    let key_position = piece.windows(12).take(64).position(|window| window == b"\"agent_name\"")?;
    let rest = piece[key_position + 12..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let mut json = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
    json.next()?.ok().filter(|name| !name.trim().is_empty() && name.len() <= NAME_CAP)
}

/// The records that a line holds: one, or the start of one and others behind it. A line that is JSON as a whole is one record: an
/// object within it may begin as a record does.
pub(super) fn pieces(line: &[u8]) -> Vec<&[u8]> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut record_starts: Vec<usize> = Vec::new();
    let mut offset = 1;
    while let Some(position) = find(&line[offset.min(line.len())..], BEGIN) {
        record_starts.push(offset + position);
        offset += position + BEGIN.len();
    }
    if !record_starts.is_empty() && serde_json::from_slice::<IgnoredAny>(line).is_ok() {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for beginning in record_starts {
        if !line[start..beginning].trim_ascii().is_empty() {
            pieces.push(&line[start..beginning]);
        }
        start = beginning;
    }
    pieces.push(&line[start..]);
    pieces
}

/// Where `pattern` first stands. It begins with a rare byte, which is looked for first.
fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    let mut offset = 0;
    while let Some(index) = bytes[offset..].iter().position(|b| *b == pattern[0]) {
        if bytes[offset + index..].starts_with(pattern) {
            return Some(offset + index);
        }
        offset += index + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parted_where_records_begin() {
        let line = br#"{"agent_name": "a", "t": "{\"agent_name\": \"x\"}", "cut{"agent_name": "b", "n": 1}"#;
        let found = pieces(line);
        assert_eq!(found.len(), 2);
        assert_eq!(found.iter().map(|piece| agent(piece).unwrap()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(pieces(b"").len(), 1);
        let whole = br#"{"agent_name": "a", "tool_responses": [{"result": {"agent_name": "x"}}]}"#;
        assert_eq!(pieces(whole), [whole]);
        let marked = [&b"\xef\xbb\xbf"[..], whole].concat();
        assert_eq!(pieces(&marked), [whole]);
        assert_eq!(pieces(&[&b"  "[..], whole].concat()).len(), 1);
        assert_eq!(agent(b"{ \"agent_name\" :  \"\\u00e4\""), Some("\u{e4}".to_owned()));
        assert_eq!(agent(b"{\"scenario_id\": 1}"), None);
    }
}
