//! Tables that are read from one part to the next.
//!
//! A part of a Parquet file or of an entry of a zip begins where only reading everything before it leads. So the reader of
//! a part leaves its rows here, and the next part continues from there: all parts together cost a time that grows with the size of
//! the table and not with its square.

use std::sync::Mutex;

use files::{ReadError, Tree};

use super::files::Table;
use super::rows::{RowError, RowStart, Rows};

/// Tables that are kept open: one for each thread that reads parts.
const KEPT: usize = 2;

/// Rows of a table at one of them.
struct Cursor {
    path: String,
    rows: Box<dyn Rows>,
}

/// The tables that are kept open.
#[derive(Default)]
pub(super) struct Cursors {
    cursors: Mutex<Vec<Cursor>>,
    #[cfg(test)]
    pub(super) opened: std::sync::atomic::AtomicUsize,
}

/// Whether what lies before a row has to be read to come to it.
fn is_read_in_order(tree: &Tree, table: &Table) -> bool {
    tree.is_zip() || table.is_parquet()
}

/// The rows on the first one from a number on.
fn skip_to(mut rows: Box<dyn Rows>, start: RowStart) -> Option<Box<dyn Rows>> {
    loop {
        match rows.advance()? {
            Ok(()) if rows.start().row >= start.row => return Some(rows),
            Ok(()) | Err(RowError::Row(..)) => {}
            Err(RowError::Rest(_)) => return None,
        }
    }
}

impl Cursors {
    /// The rows of a table, on the row where a part begins; `None` = it is not there any more.
    pub(super) fn take(
        &self,
        tree: &Tree,
        table: &Table,
        start: RowStart,
    ) -> Result<Option<Box<dyn Rows>>, ReadError> {
        let kept = is_read_in_order(tree, table).then(|| self.nearest(&table.path, start)).flatten();
        if let Some(rows) = kept {
            let is_at_row = rows.start().row == start.row;
            return Ok(if is_at_row { Some(rows) } else { skip_to(rows, start) });
        }
        #[cfg(test)]
        self.opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(skip_to(table.rows_from(tree, start)?, start))
    }

    /// Keeps the rows of a table at the one that the next part begins with.
    pub(super) fn keep(&self, tree: &Tree, table: &Table, rows: Box<dyn Rows>) {
        if !is_read_in_order(tree, table) {
            return;
        }
        let mut cursors = model::lock(&self.cursors);
        if cursors.len() >= KEPT
            && let Some((last, _)) = cursors.iter().enumerate().min_by_key(|(_, cursor)| cursor.rows.start())
        {
            cursors.swap_remove(last);
        }
        cursors.push(Cursor { path: table.path.clone(), rows });
    }

    /// Of the kept ones the last that does not lie behind a row.
    fn nearest(&self, path: &str, start: RowStart) -> Option<Box<dyn Rows>> {
        let mut cursors = model::lock(&self.cursors);
        // Those of other tables are done with.
        cursors.retain(|cursor| cursor.path == path);
        let earlier_cursors =
            cursors.iter().enumerate().filter(|(_, cursor)| cursor.rows.start().row <= start.row);
        let (index, _) = earlier_cursors.max_by_key(|(_, cursor)| cursor.rows.start().row)?;
        Some(cursors.swap_remove(index).rows)
    }
}
