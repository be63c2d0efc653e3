//! How many bytes the pages of a Parquet column unpack to, by their headers alone: a page of a few bytes may claim
//! gigabytes, and the library makes room for what a header claims.
//!
//! Headers are Thrift structs in the compact protocol (Apache Thrift, "Thrift compact protocol"); their fields are those of
//! `parquet.thrift`, `PageHeader`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use bytes::Bytes;

/// Most pages of a column in a row group.
const PAGES_CAP: usize = 1 << 20;
/// Most bytes of a header: it may hold statistics.
const HEADER_CAP: u64 = 16 << 20;
/// Structs in structs in a header.
const DEPTH_CAP: u32 = 16;

/// The bytes of a file, at any place.
pub(super) enum Raw {
    File(File),
    Bytes(Bytes),
}

impl Raw {
    /// Reads up to so many bytes; none = the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, offset),
            Self::Bytes(bytes) => {
                let from = usize::try_from(offset).map_or(&[][..], |at| bytes.get(at..).unwrap_or_default());
                let read = from.len().min(buffer.len());
                buffer[..read].copy_from_slice(&from[..read]);
                Ok(read)
            }
        }
    }

    fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// How many bytes the description of the whole file has, which stands at its end; `None` = it is no Parquet.
    pub(super) fn footer(&self) -> io::Result<Option<u64>> {
        let mut end = [0; 8];
        let Some(at) = self.len()?.checked_sub(8) else { return Ok(None) };
        if self.read_at(&mut end, at)? < 8 {
            return Ok(None);
        }
        Ok(Some(u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]))))
    }
}

/// A data page: rows and bytes that it unpacks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Page {
    rows: u64,
    bytes: u64,
}

/// The pages of a column in a row group.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    /// Bytes of its dictionaries.
    dictionary: u64,
    data: Vec<Page>,
}

impl Pages {
    /// Reads the headers of the pages that lie in a range of the file.
    pub(super) fn read(raw: &Raw, begin: u64, length: u64) -> Result<Self, String> {
        let end = begin.saturating_add(length);
        let (mut pages, mut at) = (Self::default(), begin);
        while at < end {
            let mut header = Header { raw, at, buffer: Vec::new(), next: 0, left: HEADER_CAP };
            let page = header.page(0).map_err(|error| format!("the header of a page: {error}"))?;
            let (Some(bytes), Some(packed)) = (page.unpacked, page.packed) else {
                return Err("a page without a size".to_owned());
            };
            match page.kind {
                Some(DATA | DATA_V2) => pages.data.push(Page { rows: page.rows.unwrap_or(0), bytes }),
                Some(DICTIONARY) => pages.dictionary = pages.dictionary.saturating_add(bytes),
                _ => {}
            }
            if pages.data.len() > PAGES_CAP {
                return Err(format!("a column of more than {PAGES_CAP} pages"));
            }
            at = header.place().saturating_add(packed);
        }
        Ok(pages)
    }

    /// The most bytes that are in memory while any `rows` rows after each other are read.
    pub(super) fn most_bytes(&self, rows: u64) -> u64 {
        let (mut sum, mut rows_behind, mut end, mut most) = (0_u64, 0_u64, 0, 0);
        for (at, first) in self.data.iter().enumerate() {
            if end <= at {
                (sum, rows_behind, end) = (first.bytes, 0, at + 1);
            }
            // The rows may begin with the last of the first page.
            while rows_behind.saturating_add(1) < rows
                && let Some(page) = self.data.get(end)
            {
                sum = sum.saturating_add(page.bytes);
                rows_behind = rows_behind.saturating_add(page.rows);
                end += 1;
            }
            most = most.max(sum);
            sum = sum.saturating_sub(first.bytes);
            if let Some(second) = self.data.get(at + 1).filter(|_| end > at + 1) {
                rows_behind = rows_behind.saturating_sub(second.rows);
            }
        }
        self.dictionary.saturating_add(most)
    }
}

/// Words of `PageType`.
const DATA: u64 = 0;
const DICTIONARY: u64 = 2;
const DATA_V2: u64 = 3;

/// What a header says.
#[derive(Debug, Default)]
struct Said {
    kind: Option<u64>,
    unpacked: Option<u64>,
    packed: Option<u64>,
    rows: Option<u64>,
}

/// A header while it is read.
struct Header<'a> {
    raw: &'a Raw,
    /// Where the buffer begins in the file.
    at: u64,
    buffer: Vec<u8>,
    next: usize,
    left: u64,
}

impl Header<'_> {
    /// Where the next byte stands in the file.
    fn place(&self) -> u64 {
        self.at.saturating_add(self.next as u64)
    }

    fn byte(&mut self) -> Result<u8, String> {
        const AT_ONCE: usize = 256;
        self.left = self.left.checked_sub(1).ok_or("it is too long")?;
        if self.next >= self.buffer.len() {
            (self.at, self.next) = (self.place(), 0);
            self.buffer.resize(AT_ONCE, 0);
            let read = self.raw.read_at(&mut self.buffer, self.at).map_err(|error| error.to_string())?;
            self.buffer.truncate(read);
        }
        let byte = *self.buffer.get(self.next).ok_or("the file ends in it")?;
        self.next += 1;
        Ok(byte)
    }

    fn pass_over(&mut self, bytes: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes).ok_or("it is too long")?;
        let place = self.place().saturating_add(bytes);
        (self.at, self.next) = (place, 0);
        self.buffer.clear();
        Ok(())
    }

    /// An unsigned number of any length.
    fn varint(&mut self) -> Result<u64, String> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number is too long".to_owned())
    }

    /// A number with a sign, which must not be negative.
    fn count(&mut self) -> Result<u64, String> {
        let zigzag = self.varint()?;
        if zigzag & 1 == 1 { Err("a size is negative".to_owned()) } else { Ok(zigzag >> 1) }
    }

    /// The id and type of the next field; `None` = the struct ends.
    fn field(&mut self, last: &mut u64) -> Result<Option<(u64, u8)>, String> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.count()?,
            step => last.saturating_add(u64::from(step)),
        };
        Ok(Some((*last, byte & 0x0f)))
    }

    /// `PageHeader` (depth 0), or one of the headers in it, of which the first field is the number of values.
    fn page(&mut self, depth: u32) -> Result<Said, String> {
        let (mut said, mut last) = (Said::default(), 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            match (depth, id, kind) {
                (0, 1, INTEGER) => said.kind = Some(self.count()?),
                (0, 2, INTEGER) => said.unpacked = Some(self.count()?),
                (0, 3, INTEGER) => said.packed = Some(self.count()?),
                (0, 5 | 8, STRUCT) => said.rows = self.page(1)?.rows,
                (1, 1, INTEGER) => said.rows = Some(self.count()?),
                _ => self.skip(kind, 0)?,
            }
        }
        Ok(said)
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), String> {
        if depth > DEPTH_CAP {
            return Err("it is too deep".to_owned());
        }
        match kind {
            // True and false have no bytes of their own in a struct.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4 | INTEGER | 6 => self.varint().map(drop),
            7 => self.pass_over(8),
            8 => {
                let length = self.varint()?;
                self.pass_over(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let items = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                (0..items).try_for_each(|_| match head & 0x0f {
                    1 | 2 => self.byte().map(drop),
                    item => self.skip(item, depth + 1),
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(format!("a field of type {kind}")),
        }
    }
}

/// Types of the compact protocol.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(data: &[(u64, u64)], dictionary: u64) -> Pages {
        Pages {
            dictionary,
            data: data.iter().map(|(rows, bytes)| Page { rows: *rows, bytes: *bytes }).collect(),
        }
    }

    /// By every window of so many rows.
    fn by_all(pages: &Pages, rows: u64) -> u64 {
        let of_row: Vec<usize> =
            pages.data.iter().enumerate().flat_map(|(at, page)| vec![at; page.rows as usize]).collect();
        let window = |begin: usize| {
            let mut seen: Vec<usize> = of_row[begin..(begin + rows as usize).min(of_row.len())].to_vec();
            seen.dedup();
            seen.iter().map(|at| pages.data[*at].bytes).sum::<u64>()
        };
        pages.dictionary + (0..of_row.len()).map(window).max().unwrap_or(0)
    }

    #[test]
    fn the_most_bytes_are_those_of_the_heaviest_rows_after_each_other() {
        let columns = [
            pages(&[(4, 10), (1, 500), (1, 400), (10, 20), (1, 3)], 7),
            pages(&[(1, 1), (1, 2), (1, 3), (1, 4)], 0),
            pages(&[(100, 9)], 1),
            pages(&[], 5),
        ];
        for column in &columns {
            for rows in 1..20 {
                assert_eq!(column.most_bytes(rows), by_all(column, rows), "{rows} rows of {column:?}");
            }
        }
    }

    #[test]
    fn a_header_that_is_none_is_an_error_and_not_an_endless_loop() {
        for bytes in [
            &[][..],
            &[0],
            &[0x15],
            &[0x15, 0, 0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0xff; 64],
            &[0x1c; 64],
            &[0x19, 0xfc, 0xff, 0xff, 0x7f],
        ] {
            let raw = Raw::Bytes(Bytes::copy_from_slice(bytes));
            assert!(Pages::read(&raw, 0, 1_000).is_err(), "{bytes:?}");
        }
        // A data page of 3 values in 5 bytes, 9 unpacked.
        let header = [0x15, 0, 0x15, 18, 0x15, 10, 0x2c, 0x15, 6, 0, 0, 1, 2, 3, 4, 5];
        let raw = Raw::Bytes(Bytes::copy_from_slice(&header));
        assert_eq!(Pages::read(&raw, 0, header.len() as u64), Ok(pages(&[(3, 9)], 0)));
    }
}
