//! Rows of a CSV: commas, semicolons or tabs, with or without a byte order mark, lines ended in any way.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};
use files::{ReadError, Tree};

use super::cell::Cell;
use super::mapping::Mapping;
use super::rows::{BudgetedReader, COLUMNS_CAP, RowError, RowStart, Rows, check_encoding, hash_bytes};

type Source = Box<dyn Read + Send>;

/// Bytes in which a header ends.
const HEADER_CAP: u64 = 64 << 10;
/// Bytes that are read at once.
const BUFFER: usize = 128 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A row of a CSV.
pub(super) struct CsvRow {
    record: ByteRecord,
    pub(super) start: RowStart,
    /// Why it cannot be read.
    pub(super) error: Option<RowError>,
}

impl Default for CsvRow {
    fn default() -> Self {
        Self { record: ByteRecord::new(), start: RowStart { row: 0, offset: 0 }, error: None }
    }
}

impl CsvRow {
    pub(super) fn cell(&self, column: usize) -> Cell<'_> {
        self.record.get(column).and_then(Cell::from_csv).unwrap_or(Cell::Empty)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.record.as_slice().len() as u64
    }

    pub(super) fn stamp(&self, stamp: u64) -> u64 {
        hash_bytes(stamp ^ self.record.len() as u64, self.record.as_slice())
    }
}

/// Rows of a CSV.
pub(super) struct CsvRows {
    header: Vec<String>,
    delimiter: u8,
    reader: Reader<BudgetedReader<Source>>,
    row: CsvRow,
    /// Where the reader began.
    base: u64,
    /// Whether lines end with `\r\n`. The reader ends a row with the first of these bytes, and begins the next one with the second.
    has_crlf: bool,
    /// Whether the blank lines before the next row are in its number already.
    is_numbered: bool,
}

fn reader(source: Source, delimiter: u8) -> Reader<BudgetedReader<Source>> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(BudgetedReader::new(source))
}

/// The first record of what a CSV begins with.
fn first_record(head: &[u8], delimiter: u8) -> Option<Vec<String>> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(head);
    let mut record = ByteRecord::new();
    reader.read_byte_record(&mut record).ok().filter(|read| *read)?;
    record.iter().map(|field| std::str::from_utf8(field).ok().map(|name| name.trim().to_owned())).collect()
}

impl CsvRows {
    /// Opens a CSV behind its header. Of the delimiters the one is taken with which most of the header is known.
    pub(super) fn open(tree: &Tree, path: &str) -> Result<Self, ReadError> {
        let (head, size) = tree.read_range(path, 0, HEADER_CAP)?;
        if size == 0 {
            return Err(ReadError::Malformed { code: "file.empty", message: "the file is empty".to_owned() });
        }
        check_encoding(&head)?;
        let mark = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let head = &head[mark..];
        let rank = |delimiter: &u8| {
            let header = first_record(head, *delimiter).unwrap_or_default();
            (7_usize.saturating_sub(Mapping::new(&header, None).missing().len()), header.len())
        };
        let delimiter = [b'\t', b';', b','].into_iter().max_by_key(rank).unwrap_or(b',');
        let header = first_record(head, delimiter).ok_or_else(|| ReadError::Malformed {
            code: "csv.malformed",
            message: "its first line is no header in UTF-8".to_owned(),
        })?;
        if header.len() > COLUMNS_CAP {
            let message = format!("its header has {} columns", header.len());
            return Err(ReadError::Malformed { code: "csv.malformed", message });
        }
        let mut rows = Self {
            header,
            delimiter,
            reader: reader(tree.open_file_at(path, mark as u64)?, delimiter),
            row: CsvRow { start: RowStart { row: 0, offset: mark as u64 }, ..CsvRow::default() },
            base: mark as u64,
            has_crlf: head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b"\r")),
            is_numbered: false,
        };
        // The header itself.
        match rows.advance() {
            Some(Err(RowError::Rest(error))) => Err(error),
            _ => Ok(rows),
        }
    }

    /// The same from another row on.
    pub(super) fn starting_at(mut self, tree: &Tree, path: &str, start: RowStart) -> Result<Self, ReadError> {
        self.reader = reader(tree.open_file_at(path, start.offset)?, self.delimiter);
        self.base = start.offset;
        self.is_numbered = true;
        self.row.start = RowStart { row: start.row.saturating_sub(1), offset: start.offset };
        Ok(self)
    }

    /// Reads the next row into its place. `false` = there is none.
    fn read(&mut self) -> bool {
        let Self { header, delimiter, reader, row, base, has_crlf, is_numbered } = self;
        reader.get_mut().renew();
        let (line, byte) = (reader.position().line(), reader.position().byte());
        row.start.row += 1;
        row.start.offset = *base + byte;
        let read = reader.read_byte_record(&mut row.record);
        let is_whole = matches!(read, Ok(true));
        row.error = match read {
            Ok(false) => return false,
            Ok(true) => fault(&row.record, header.len(), *delimiter, reader.get_ref().ends_without_quote()),
            Err(error) => Some(unreadable(error)),
        };
        if std::mem::take(is_numbered) || !is_whole {
            return true;
        }
        // The end of this line, or of the one before.
        let is_ended = if *has_crlf { byte > 0 } else { !reader.get_ref().is_over() };
        let lines = reader.position().line() - line;
        if lines > u64::from(is_ended) {
            row.start.row += (lines - u64::from(is_ended)).saturating_sub(line_breaks(&row.record));
        }
        true
    }

    /// Reads the next row into another place, and takes what lies there for a later one. `false` = there is none.
    pub(super) fn take(&mut self, row: &mut CsvRow) -> bool {
        let has_row = self.read();
        std::mem::swap(&mut self.row, row);
        self.row.start = row.start;
        has_row
    }
}

/// Line breaks in the cells of a row.
fn line_breaks(record: &ByteRecord) -> u64 {
    record.as_slice().split(|byte| *byte == b'\n').skip(1).count() as u64
}

/// Why a row cannot be read. `columns` are those of the header; `is_open` = it is the last one, and no quote ends it.
fn fault(record: &ByteRecord, columns: usize, delimiter: u8, is_open: bool) -> Option<RowError> {
    if (record.len() < columns || is_open)
        && let Some(rows) = rows_in_last_cell(record, columns, delimiter)
    {
        let left_out = if rows == 1 { "It is left out" } else { "They are left out" };
        let message = format!(
            "has a quote that is not closed: one of its cells has {rows} of the rows after it. {left_out}, too"
        );
        return Some(RowError::Row("table.cells", message));
    }
    let surplus = record.iter().skip(columns).any(|cell| !cell.is_empty());
    if surplus {
        let cells = model::counted(record.len() as u64, "cell");
        let message = format!("has {cells}, and the header {columns}");
        return Some(RowError::Row("table.cells", message));
    }
    let is_text = std::str::from_utf8(record.as_slice()).is_ok();
    (!is_text).then(|| RowError::Row("file.not_utf8", "is not UTF-8".to_owned()))
}

/// How many rows the last cell of a row has in it, where the row has too few cells, or ends the file. With a quote that is not closed a cell extends
/// to the next quote, or to the end of the file. A text of several lines, in a row that leaves out its last cells, has no lines with
/// as many delimiters as a row.
fn rows_in_last_cell(record: &ByteRecord, columns: usize, delimiter: u8) -> Option<usize> {
    let last = record.len().checked_sub(1).and_then(|last| record.get(last))?;
    let cells = |line: &[u8]| line.split(|byte| *byte == delimiter).count();
    let rows = last.split(|byte| *byte == b'\n').skip(1).filter(|line| cells(line) >= columns).count();
    (rows > 0).then_some(rows)
}

/// Why no row after an error can be read.
fn unreadable(error: csv::Error) -> RowError {
    let message = error.to_string();
    RowError::Rest(match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            ReadError::Malformed { code: "table.row_too_long", message: error.to_string() }
        }
        csv::ErrorKind::Io(error) => error.into(),
        _ => ReadError::Malformed { code: "csv.malformed", message },
    })
}

impl Rows for CsvRows {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        self.read().then(|| self.row.error.take().map_or(Ok(()), Err))
    }

    fn start(&self) -> RowStart {
        self.row.start
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.row.cell(column)
    }

    fn decimal_comma(&self) -> bool {
        self.delimiter == b';'
    }

    fn bytes(&self) -> u64 {
        self.row.bytes()
    }

    fn stamp(&self, stamp: u64) -> u64 {
        self.row.stamp(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where each row after the header begins.
    fn begins(rows: &mut CsvRows) -> Vec<RowStart> {
        let mut all = Vec::new();
        while let Some(row) = rows.advance() {
            row.unwrap();
            all.push(rows.start());
        }
        all
    }

    #[test]
    fn rows_have_the_numbers_that_a_spreadsheet_shows() {
        const ROWS: &str = "run,text\na,1\n\n\nb,2\nc,\"x\n\ny\"\n\nd,4";
        let cases = [(ROWS.to_owned(), 0), (format!("{ROWS}\n"), 0), (format!("\n\n{ROWS}\n\n"), 2)];
        for ((text, blank), line_end) in cases.iter().flat_map(|case| [(case, "\n"), (case, "\r\n")]) {
            for mark in ["", "\u{feff}"] {
                let folder = tempfile::tempdir().unwrap();
                let text = format!("{mark}{}", text.replace('\n', line_end));
                std::fs::write(folder.path().join("t.csv"), &text).unwrap();
                let tree = Tree::open(folder.path()).unwrap();
                let open = || CsvRows::open(&tree, "t.csv").unwrap();
                let all = begins(&mut open());
                let numbers: Vec<u64> = all.iter().map(|start| start.row - blank).collect();
                assert_eq!(numbers, [2, 5, 6, 8], "{text:?}");
                // Who begins at a row comes to the same numbers.
                for (index, start) in all.iter().enumerate() {
                    let mut rest = open().starting_at(&tree, "t.csv", *start).unwrap();
                    assert_eq!(begins(&mut rest), all[index..], "{text:?}");
                }
            }
        }
    }
}
