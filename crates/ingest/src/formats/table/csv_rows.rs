//! Rows of a CSV: commas, semicolons or tabs, with or without a byte order mark, lines ended in any way.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};
use files::{ReadError, Tree};

use super::cell::Cell;
use super::mapping::Mapping;
use super::rows::{BudgetedReader, COLUMNS_CAP, RowError, RowStart, Rows, check_encoding, mix};

type Source = Box<dyn Read + Send>;

/// Bytes in which a header ends.
const HEADER_CAP: u64 = 64 << 10;
/// Bytes that are read at once.
const BUFFER: usize = 128 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Rows of a CSV.
pub(super) struct CsvRows {
    header: Vec<String>,
    delimiter: u8,
    reader: Reader<BudgetedReader<Source>>,
    record: ByteRecord,
    /// Where the reader began.
    base: u64,
    begin: RowStart,
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
            return Err(ReadError::Malformed { code: "file.empty", what: "the file is empty".to_owned() });
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
            what: "its first line is no header in UTF-8".to_owned(),
        })?;
        if header.len() > COLUMNS_CAP {
            let what = format!("its header has {} columns", header.len());
            return Err(ReadError::Malformed { code: "csv.malformed", what });
        }
        let mut rows = Self {
            header,
            delimiter,
            reader: reader(tree.open_file_at(path, mark as u64)?, delimiter),
            record: ByteRecord::new(),
            base: mark as u64,
            begin: RowStart { row: 0, offset: mark as u64 },
        };
        // The header itself.
        match rows.advance() {
            Some(Err(RowError::Rest(error))) => Err(error),
            _ => Ok(rows),
        }
    }

    /// The same from another row on.
    pub(super) fn at(mut self, tree: &Tree, path: &str, begin: RowStart) -> Result<Self, ReadError> {
        self.reader = reader(tree.open_file_at(path, begin.offset)?, self.delimiter);
        self.base = begin.offset;
        self.begin = RowStart { row: begin.row.saturating_sub(1), offset: begin.offset };
        Ok(self)
    }
}

impl Rows for CsvRows {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        self.reader.get_mut().renew();
        self.begin.row += 1;
        self.begin.offset = self.base + self.reader.position().byte();
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => None,
            Ok(true) => {
                let surplus = self.record.iter().skip(self.header.len()).any(|cell| !cell.is_empty());
                if surplus {
                    let what =
                        format!("has {} cells, and the header {}", self.record.len(), self.header.len());
                    return Some(Err(RowError::Row("table.cells", what)));
                }
                if std::str::from_utf8(self.record.as_slice()).is_err() {
                    return Some(Err(RowError::Row("file.not_utf8", "is not UTF-8".to_owned())));
                }
                Some(Ok(()))
            }
            Err(error) => {
                let what = error.to_string();
                Some(Err(RowError::Rest(match error.into_kind() {
                    csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                        ReadError::Malformed { code: "table.row_too_long", what: error.to_string() }
                    }
                    csv::ErrorKind::Io(error) => error.into(),
                    _ => ReadError::Malformed { code: "csv.malformed", what },
                })))
            }
        }
    }

    fn begin(&self) -> RowStart {
        self.begin
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.record.get(column).and_then(Cell::of_csv).unwrap_or(Cell::Empty)
    }

    fn decimal_comma(&self) -> bool {
        self.delimiter == b';'
    }

    fn bytes(&self) -> u64 {
        self.record.as_slice().len() as u64
    }

    fn stamp(&self, stamp: u64) -> u64 {
        mix(stamp ^ self.record.len() as u64, self.record.as_slice())
    }
}
