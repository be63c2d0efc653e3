//! A write transaction.

use rusqlite::Transaction;

use crate::interned::InternedRows;

/// A write transaction with the cache of known rows.
pub(crate) struct Write<'a> {
    pub tx: Transaction<'a>,
    pub interned: &'a mut InternedRows,
}
