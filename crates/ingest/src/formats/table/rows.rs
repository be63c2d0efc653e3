//! The rows of a table, one after the other, whatever its file is.

use std::io::{self, Read};

use files::ReadError;

use super::cell::Cell;

/// Most bytes of a row.
pub(super) const ROW_CAP: u64 = 4 << 20;
/// Most columns of a table.
pub(super) const COLUMNS_CAP: usize = 2_000;

/// What a table's file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Fields with a delimiter.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// Columns.
    Parquet,
}

impl Encoding {
    /// What a file's name says; `None` = no table.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        if name.starts_with('.') {
            return None;
        }
        match ending.to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "tab" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Refuses a text in UTF-16, as spreadsheets and Windows save it, by its first bytes.
pub(super) fn check_encoding(head: &[u8]) -> Result<(), ReadError> {
    let has_mark = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    // Of the two bytes of a letter of a header one is 0.
    let is_letter = matches!(head, [0, other, ..] | [other, 0, ..] if *other != 0);
    if has_mark || is_letter {
        let message = "it is a text in UTF-16; save it as UTF-8".to_owned();
        return Err(ReadError::Malformed { code: "file.not_utf8", message });
    }
    Ok(())
}

/// Where a row begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowStart {
    /// Its number as a person counts: the first row of a file is row 1, which of a CSV is the header. Blank lines count.
    pub(super) row: u64,
    /// Byte in the file; in Parquet the row from 0.
    pub(super) offset: u64,
}

/// Why the rows of a file end before the file does.
#[derive(Debug)]
pub(super) enum RowError {
    /// This row cannot be read; the next one can.
    Row(&'static str, String),
    /// Nor can any after it.
    Rest(ReadError),
}

impl From<io::Error> for RowError {
    fn from(error: io::Error) -> Self {
        Self::Rest(error.into())
    }
}

/// Rows of a table.
pub(super) trait Rows: Send {
    /// Names of the columns.
    fn header(&self) -> &[String];
    /// Names of columns that are not read because of their types.
    fn unread(&self) -> &[String] {
        &[]
    }
    /// Goes to the next row. `None` = there is none.
    fn advance(&mut self) -> Option<Result<(), RowError>>;
    /// Where the row begins.
    fn start(&self) -> RowStart;
    /// A cell of the row.
    fn cell(&self, column: usize) -> Cell<'_>;
    /// Whether numbers may have a comma.
    fn decimal_comma(&self) -> bool {
        false
    }
    /// Bytes of the row, unpacked.
    fn bytes(&self) -> u64;
    /// Adds the whole row to a stamp.
    fn stamp(&self, stamp: u64) -> u64;
}

/// A reader that gives at most so many bytes until its caller reports a new row, so that a quote that is never closed
/// does not read a whole file into one cell.
pub(super) struct BudgetedReader<R> {
    inner: R,
    free_bytes: u64,
    /// Of what was read: the last byte that ends no line, and whether it was all.
    last: Option<u8>,
    is_over: bool,
}

impl<R: Read> BudgetedReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, free_bytes: ROW_CAP, last: None, is_over: false }
    }

    /// A row begins.
    pub(super) fn renew(&mut self) {
        self.free_bytes = ROW_CAP;
    }

    /// Whether the end of the file was met.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the end of the file was met, and no quote stands there.
    pub(super) fn ends_without_quote(&self) -> bool {
        self.is_over && self.last != Some(b'"')
    }
}

impl<R: Read> Read for BudgetedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.free_bytes == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a row has more than {} MB", ROW_CAP >> 20),
            ));
        }
        let most = usize::try_from(self.free_bytes).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.free_bytes -= read as u64;
        self.is_over = read == 0;
        let last = buffer[..read].iter().rev().find(|byte| !matches!(byte, b'\r' | b'\n'));
        self.last = last.copied().or(self.last);
        Ok(read)
    }
}

/// Adds bytes to a stamp, eight at once.
pub(super) fn hash_bytes(stamp: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut chunks = bytes.chunks_exact(8);
    let mut stamp = stamp ^ (bytes.len() as u64).wrapping_mul(PRIME);
    let mut add = |word: u64| {
        stamp = (stamp ^ word).wrapping_mul(PRIME);
        stamp ^= stamp >> 29;
    };
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        add(u64::from_le_bytes(word));
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        add(u64::from_le_bytes(word));
    }
    stamp
}
