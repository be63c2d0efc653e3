//! The rows of tables whose episodes lie apart, set in the order of their shares.
//!
//! Each share of the episodes needs rows from everywhere. Reading all tables once for each share would take a time that grows
//! with the square of their size, so the rows are copied once, into a file without a name: blocks of rows, each of one share.
//! Only cells that are read are kept. Each share then reads its own blocks.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use files::Tree;

use super::cell::Cell;
use super::files::Table;
use super::row::{EpisodeKey, Row};
use super::rows::{RowError, RowStart, Rows};

/// Bytes of rows that wait for their block to be full, over all shares.
const WAITING: usize = 64 << 20;
/// Bytes from which on a block is written.
const SMALLEST_BLOCK: usize = 4 << 10;
const LARGEST_BLOCK: usize = 256 << 10;
/// Most bytes of the file. Rows after them are left out.
const FILE_CAP: u64 = 4 << 30;

/// The rows of some tables, by share.
#[derive(Debug)]
pub(super) struct Shares {
    file: File,
    /// Where the blocks of each share lie: offset and bytes.
    blocks: Vec<Vec<(u64, usize)>>,
    /// Table and number of the first row that is left out because there are too many.
    pub(super) left_out: Option<(usize, u64)>,
}

/// Where files are made that are too large for a file system in memory, as `/tmp` often is.
fn folder() -> PathBuf {
    let large = PathBuf::from("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && large.is_dir() { large } else { std::env::temp_dir() }
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// A cell that says something, as it lies in the file.
const TEXT: u8 = 0;
const INTEGER: u8 = 1;
const NUMBER: u8 = 2;
const NO: u8 = 3;
const YES: u8 = 4;
const NESTED: u8 = 5;

fn put_cell(column: usize, cell: Cell<'_>, out: &mut Vec<u8>) {
    if cell == Cell::Empty {
        return;
    }
    put_number(column as u64 + 1, out);
    match cell {
        Cell::Empty => {}
        Cell::Text(text) | Cell::Nested(text) => {
            out.push(if matches!(cell, Cell::Nested(_)) { NESTED } else { TEXT });
            put_number(text.len() as u64, out);
            out.extend(text.as_bytes());
        }
        Cell::Integer(number) => {
            out.push(INTEGER);
            out.extend(number.to_le_bytes());
        }
        Cell::Number(number) => {
            out.push(NUMBER);
            out.extend(number.to_bits().to_le_bytes());
        }
        Cell::Flag(flag) => out.push(if flag { YES } else { NO }),
    }
}

/// A row: its table, its number, whether numbers may have a comma, and its cells by column, ended by 0.
fn put_row(table: usize, rows: &dyn Rows, columns: &[usize], out: &mut Vec<u8>) {
    put_number(table as u64, out);
    put_number(rows.start().row, out);
    out.push(u8::from(rows.decimal_comma()));
    for column in columns {
        put_cell(*column, rows.cell(*column), out);
    }
    put_number(0, out);
}

impl Shares {
    /// Goes over the tables once. Rows without an episode are in the first share.
    ///
    /// Errors: where no file can be made, or the file system has no room for it.
    pub(super) fn sort(tree: &Tree, tables: &[Table], share_count: u64) -> io::Result<Self> {
        let share_count = share_count.max(1);
        let number =
            usize::try_from(share_count).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let block = (WAITING / number).clamp(SMALLEST_BLOCK, LARGEST_BLOCK);
        let mut waiting: Vec<Vec<u8>> = vec![Vec::new(); number];
        let mut shares =
            Self { file: tempfile::tempfile_in(folder())?, blocks: vec![Vec::new(); number], left_out: None };
        let mut end = 0;
        let mut key = EpisodeKey::default();
        'tables: for (index, table) in tables.iter().enumerate() {
            let Ok(mut rows) = table.rows_ahead(tree) else { continue };
            let columns = table.mapping.columns();
            while let Some(next) = rows.advance() {
                match next {
                    Ok(()) => {}
                    // The survey has reported it.
                    Err(RowError::Row(..)) => continue,
                    Err(RowError::Rest(_)) => break,
                }
                let has_episode = Row::new(rows.as_ref(), &table.mapping).episode(&mut key);
                let share = if has_episode { key.share(share_count, tree.hash_key()) as usize } else { 0 };
                put_row(index, rows.as_ref(), &columns, &mut waiting[share]);
                if waiting[share].len() >= block {
                    shares.put_block(share, &mut waiting[share], &mut end)?;
                    if end >= FILE_CAP {
                        shares.left_out = Some((index, rows.start().row + 1));
                        break 'tables;
                    }
                }
            }
        }
        for (share, rows) in waiting.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            shares.put_block(share, rows, &mut end)?;
        }
        Ok(shares)
    }

    fn put_block(&mut self, share: usize, rows: &mut Vec<u8>, end: &mut u64) -> io::Result<()> {
        self.file.write_all(rows)?;
        self.blocks[share].push((*end, rows.len()));
        *end += rows.len() as u64;
        rows.clear();
        Ok(())
    }

    /// Takes the rows out of the file, as a disk that fails does.
    #[cfg(test)]
    pub(super) fn fail_after(&self, bytes: u64) {
        self.file.set_len(bytes).expect("a file");
    }

    /// The rows of a share, in the order of the tables.
    pub(super) fn rows(&self, share: u64) -> ShareRows<'_> {
        let blocks = usize::try_from(share).ok().and_then(|share| self.blocks.get(share));
        ShareRows {
            file: &self.file,
            blocks: blocks.map_or(&[][..], Vec::as_slice).iter(),
            block: Vec::new(),
            row_start: 0,
            table: 0,
            row: 0,
            comma: false,
            cells: Vec::new(),
        }
    }
}

/// What a cell is, with the place of a text in the block.
#[derive(Debug, Clone)]
enum StoredCell {
    Text(std::ops::Range<usize>),
    Nested(std::ops::Range<usize>),
    Integer(i64),
    Number(f64),
    Flag(bool),
}

/// The rows of a share.
pub(super) struct ShareRows<'a> {
    file: &'a File,
    blocks: std::slice::Iter<'a, (u64, usize)>,
    block: Vec<u8>,
    /// Where the next row begins in the block.
    row_start: usize,
    table: usize,
    row: u64,
    comma: bool,
    /// By column, in ascending order.
    cells: Vec<(usize, StoredCell)>,
}

impl ShareRows<'_> {
    /// Which of the tables the row is of.
    pub(super) fn table(&self) -> usize {
        self.table
    }

    /// Takes the next row apart. `None` = it is not as it was written.
    fn take_row(&mut self) -> Option<()> {
        let mut rest = self.block.get(self.row_start..)?;
        let length = self.block.len();
        self.table = usize::try_from(take_number(&mut rest)?).ok()?;
        self.row = take_number(&mut rest)?;
        self.comma = take_bytes(&mut rest, 1)? == [1];
        self.cells.clear();
        while let Some(column) = usize::try_from(take_number(&mut rest)?).ok()?.checked_sub(1) {
            let cell = match take_bytes(&mut rest, 1)?[0] {
                kind @ (TEXT | NESTED) => {
                    let size = usize::try_from(take_number(&mut rest)?).ok()?;
                    let start = length - rest.len();
                    take_bytes(&mut rest, size)?;
                    let text = start..start + size;
                    if kind == NESTED { StoredCell::Nested(text) } else { StoredCell::Text(text) }
                }
                INTEGER => {
                    StoredCell::Integer(i64::from_le_bytes(take_bytes(&mut rest, 8)?.try_into().ok()?))
                }
                NUMBER => {
                    let bits = u64::from_le_bytes(take_bytes(&mut rest, 8)?.try_into().ok()?);
                    StoredCell::Number(f64::from_bits(bits))
                }
                flag => StoredCell::Flag(flag == YES),
            };
            self.cells.push((column, cell));
        }
        self.row_start = length - rest.len();
        Some(())
    }
}

impl Rows for ShareRows<'_> {
    fn header(&self) -> &[String] {
        &[]
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        if self.row_start >= self.block.len() {
            let (offset, size) = *self.blocks.next()?;
            self.block.resize(size, 0);
            self.row_start = 0;
            if let Err(error) = self.file.read_exact_at(&mut self.block, offset) {
                return Some(Err(error.into()));
            }
        }
        Some(self.take_row().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData).into()))
    }

    fn start(&self) -> RowStart {
        RowStart { row: self.row, offset: 0 }
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let Ok(range) = self.cells.binary_search_by_key(&column, |(column, _)| *column) else {
            return Cell::Empty;
        };
        let text = |range: &std::ops::Range<usize>| {
            self.block.get(range.clone()).and_then(|text| std::str::from_utf8(text).ok())
        };
        match &self.cells[range].1 {
            StoredCell::Text(range) => text(range).map_or(Cell::Empty, Cell::Text),
            StoredCell::Nested(range) => text(range).map_or(Cell::Empty, Cell::Nested),
            StoredCell::Integer(number) => Cell::Integer(*number),
            StoredCell::Number(number) => Cell::Number(*number),
            StoredCell::Flag(flag) => Cell::Flag(*flag),
        }
    }

    fn decimal_comma(&self) -> bool {
        self.comma
    }

    fn bytes(&self) -> u64 {
        let sizes = self.cells.iter().map(|(_, cell)| match cell {
            StoredCell::Text(range) | StoredCell::Nested(range) => range.len() as u64,
            _ => 8,
        });
        sizes.sum()
    }

    fn stamp(&self, stamp: u64) -> u64 {
        stamp
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use files::Tree;

    use super::super::files::tables;
    use super::*;

    /// Two tables whose episodes lie apart, of so many rows together.
    fn tree(rows: usize) -> (tempfile::TempDir, Tree) {
        let room = tempfile::tempdir().unwrap();
        let mut csv = "run,harness,model,scenario,turn,attempt,passed,mine\n".to_owned();
        let mut jsonl = String::new();
        for turn in 1..=2 {
            for number in 0..rows / 4 {
                writeln!(csv, "a,h,m,s{number},{turn},1,true,{}", "é".repeat(number % 9)).unwrap();
                writeln!(
                    jsonl,
                    "{{\"run\":\"b\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s{number}\",\"turn\":{turn},\
                     \"attempt\":1,\"passed\":true,\"cost_usd\":0.5}}"
                )
                .unwrap();
            }
        }
        std::fs::write(room.path().join("a.csv"), csv).unwrap();
        std::fs::write(room.path().join("b.jsonl"), jsonl).unwrap();
        let tree = Tree::open(room.path()).unwrap();
        (room, tree)
    }

    /// What each row of a table says, with its number.
    fn row_text(rows: &dyn Rows, columns: &[usize]) -> String {
        let cells = columns.iter().map(|column| format!("{:?}", rows.cell(*column)));
        format!("{} {} {}", rows.start().row, rows.decimal_comma(), cells.collect::<Vec<_>>().join("|"))
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn each_row_is_read_once_from_its_table_and_once_from_its_share() {
        const ROWS: usize = 4_000;
        for share_count in [1, 7, 64, 2_000] {
            let (room, tree) = tree(ROWS);
            let tables = tables(&tree, "");
            let mut expected: Vec<Vec<String>> = Vec::new();
            for table in &tables {
                let (mut rows, columns) = (table.rows(&tree).unwrap(), table.mapping.columns());
                let mut all = Vec::new();
                while let Some(next) = rows.advance() {
                    next.unwrap();
                    all.push(row_text(rows.as_ref(), &columns));
                }
                expected.push(all);
            }
            let shares = Shares::sort(&tree, &tables, share_count).unwrap();
            // Nothing is read of the tables from here on.
            for name in ["a.csv", "b.jsonl"] {
                std::fs::remove_file(room.path().join(name)).unwrap();
            }
            let mut found = vec![Vec::new(); tables.len()];
            let (mut bytes, mut key) = (0, EpisodeKey::default());
            for share in 0..share_count {
                let mut rows = shares.rows(share);
                bytes += rows.blocks.clone().map(|(_, size)| *size as u64).sum::<u64>();
                let mut last = (0, 0);
                while let Some(next) = rows.advance() {
                    next.unwrap();
                    let table = rows.table();
                    let mapping = &tables[table].mapping;
                    assert!((table, rows.start().row) > last, "in the order of the tables");
                    last = (table, rows.start().row);
                    assert!(Row::new(&rows, mapping).episode(&mut key));
                    assert_eq!(key.share(share_count, tree.hash_key()), share);
                    found[table].push(row_text(&rows, &mapping.columns()));
                }
            }
            assert_eq!(
                bytes,
                shares.file.metadata().unwrap().len(),
                "of {share_count} shares: each block once"
            );
            for all in expected.iter_mut().chain(&mut found) {
                all.sort_unstable();
            }
            assert_eq!(expected.iter().map(Vec::len).sum::<usize>(), ROWS);
            assert_eq!(found, expected, "of {share_count} shares");
        }
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        for number in [0, 1, 127, 128, 300, 1 << 32, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((take_number(&mut rest), rest.len()), (Some(number), 0));
            assert_eq!(take_number(&mut &bytes[..bytes.len() - 1]), None, "cut off");
        }
    }
}
