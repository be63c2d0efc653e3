//! Rows that another thread parses, some thousand ahead of the reader.
//!
//! The survey goes over a table by itself, before parts of it are read by several threads. With this it keeps two cores busy.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::cell::Cell;
use super::csv_rows::{CsvRow, CsvRows};
use super::rows::{RowError, RowStart, Rows};

/// Rows that are handed over together.
const TOGETHER: usize = 1_024;
/// Bytes from which on fewer are: a row may have 4 MB.
const TOGETHER_BYTES: u64 = 512 << 10;
/// So many of these wait at most, beside the one that is being filled and the one that is read.
const WAITING: usize = 2;

/// Bytes of a row whose room is kept for a later one. Rows of 4 MB would keep theirs in each place where one has stood.
const KEPT_BYTES: u64 = 4 << 10;

/// Rows that are handed over together. The rows behind `filled` are room for later ones.
#[derive(Default)]
struct Batch {
    rows: Vec<CsvRow>,
    filled: usize,
}

impl Batch {
    /// Leaves the room of its rows for later ones.
    fn empty(&mut self) {
        self.filled = 0;
        for row in self.rows.iter_mut().filter(|row| row.bytes() > KEPT_BYTES) {
            *row = CsvRow::default();
        }
    }
}

/// The rows of a CSV.
pub(super) struct RowsAhead {
    header: Vec<String>,
    decimal_comma: bool,
    full: Receiver<Batch>,
    empty: Sender<Batch>,
    thread: Option<JoinHandle<()>>,
    batch: Batch,
    /// The row in the batch that is read, and the one after it.
    current: usize,
    next: usize,
}

impl RowsAhead {
    /// Takes the rows apart from the next one on. `None` = the system has no thread left for it.
    pub(super) fn new(mut rows: CsvRows) -> Option<Self> {
        let (header, decimal_comma) = (rows.header().to_vec(), rows.decimal_comma());
        let (full_sender, full) = sync_channel(WAITING);
        let (empty, empty_receiver) = channel::<Batch>();
        let take_apart = move || {
            let mut is_over = false;
            while !is_over {
                let mut batch = empty_receiver.try_recv().unwrap_or_default();
                is_over = fill(&mut batch, &mut rows);
                // They are not read any more.
                if full_sender.send(batch).is_err() {
                    return;
                }
            }
        };
        let thread = Some(thread::Builder::new().spawn(take_apart).ok()?);
        let batch = Batch::default();
        Some(Self { header, decimal_comma, full, empty, thread, batch, current: 0, next: 0 })
    }

    /// The row that is read.
    fn row(&self) -> Option<&CsvRow> {
        self.batch.rows.get(self.current)
    }
}

/// Fills a batch. Whether there are no rows behind it.
fn fill(batch: &mut Batch, rows: &mut CsvRows) -> bool {
    batch.empty();
    let mut bytes = 0;
    while batch.filled < TOGETHER && bytes < TOGETHER_BYTES {
        if batch.rows.len() == batch.filled {
            batch.rows.push(CsvRow::default());
        }
        let row = &mut batch.rows[batch.filled];
        if !rows.take(row) {
            return true;
        }
        bytes += row.bytes();
        batch.filled += 1;
    }
    false
}

impl Rows for RowsAhead {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        while self.next >= self.batch.filled {
            // Nothing is lost if it is not filled again.
            let _ = self.empty.send(std::mem::take(&mut self.batch));
            self.next = 0;
            match self.full.recv() {
                Ok(batch) => self.batch = batch,
                // The thread has ended: with the rows, or since it failed. As a reader that fails here, it is reported then.
                Err(_) => match self.thread.take()?.join() {
                    Ok(()) => return None,
                    Err(panic) => resume_unwind(panic),
                },
            }
        }
        self.current = self.next;
        self.next += 1;
        Some(self.batch.rows[self.current].error.take().map_or(Ok(()), Err))
    }

    fn start(&self) -> RowStart {
        self.row().map_or(RowStart { row: 0, offset: 0 }, |row| row.start)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.row().map_or(Cell::Empty, |row| row.cell(column))
    }

    fn decimal_comma(&self) -> bool {
        self.decimal_comma
    }

    fn bytes(&self) -> u64 {
        self.row().map_or(0, CsvRow::bytes)
    }

    fn stamp(&self, stamp: u64) -> u64 {
        self.row().map_or(stamp, |row| row.stamp(stamp))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use files::Tree;

    use super::*;

    fn csv(text: &[u8]) -> (tempfile::TempDir, Tree) {
        let room = tempfile::tempdir().unwrap();
        std::fs::write(room.path().join("t.csv"), text).unwrap();
        let tree = Tree::open(room.path()).unwrap();
        (room, tree)
    }

    /// All that the rows say, and why they end.
    fn contents(mut rows: impl Rows) -> Vec<String> {
        let mut all = vec![format!("{:?} {}", rows.header(), rows.decimal_comma())];
        while let Some(next) = rows.advance() {
            let cells: Vec<String> = (0..9).map(|column| format!("{:?}", rows.cell(column))).collect();
            let start = rows.start();
            let size = (rows.bytes(), rows.stamp(7));
            match next {
                Ok(()) => all.push(format!("{start:?} {size:?} {}", cells.join("|"))),
                Err(RowError::Row(code, message)) => all.push(format!("{start:?} {code} {message}")),
                Err(RowError::Rest(error)) => {
                    all.push(format!("{start:?} {error}"));
                    break;
                }
            }
        }
        all
    }

    #[test]
    fn rows_that_are_taken_apart_ahead_are_those_of_the_file() {
        let mut rows = "a;b;c\n".to_owned();
        for number in 0..5_000 {
            writeln!(rows, "{number};\"x;{}\";'=é", "y".repeat(number % 7)).unwrap();
        }
        let mut damaged = rows.clone().into_bytes();
        damaged.extend(b"1;2;3;4;5\n1;\xff;3\n6;7;8\n");
        let endless = format!("{rows}1;\"{}", "z".repeat(5 << 20));
        for text in
            [b"a,b\n".to_vec(), b"\xef\xbb\xbfa,b\r\n1,2".to_vec(), rows.into(), damaged, endless.into()]
        {
            let (_room, tree) = csv(&text);
            let open = || CsvRows::open(&tree, "t.csv").unwrap();
            assert_eq!(contents(RowsAhead::new(open()).unwrap()), contents(open()));
        }
    }

    #[test]
    fn large_rows_keep_no_room() {
        let text = format!("a,b\n1,2\n3,4\n5,{}\n6,7\n", "x".repeat(1 << 20));
        let (_room, tree) = csv(text.as_bytes());
        let mut rows = CsvRows::open(&tree, "t.csv").unwrap();
        let mut batch = Batch::default();
        assert!(!fill(&mut batch, &mut rows));
        assert_eq!((batch.filled, batch.rows.len()), (3, 3));
        assert!(fill(&mut batch, &mut rows));
        assert_eq!((batch.filled, batch.rows.len()), (1, 3));
        assert!(batch.rows.iter().all(|row| row.bytes() <= KEPT_BYTES));
    }

    #[test]
    fn rows_that_nobody_looks_at_any_more_are_left() {
        let (_room, tree) = csv("a,b\n1,2\n".repeat(100_000).as_bytes());
        let mut rows = RowsAhead::new(CsvRows::open(&tree, "t.csv").unwrap()).unwrap();
        assert!(rows.advance().is_some());
        let thread = rows.thread.take().unwrap();
        drop(rows);
        thread.join().unwrap();
    }
}
