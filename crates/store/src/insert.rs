//! Rows that are inserted several at a time, without the columns for which none of them has a value. To begin and end a
//! statement takes as long as a short row, and to hand over a NULL as long as a number.

use std::borrow::Cow;

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use crate::Result;

/// Most rows of a statement. What is left after the last such statement is inserted in powers of two.
pub(crate) const MOST_ROWS: usize = 64;

/// Where rows go.
pub(crate) struct Destination<const N: usize> {
    /// The table. Its key is an `INTEGER PRIMARY KEY` that is not among the columns.
    pub table: &'static str,
    /// The columns. The first is never NULL; one that may be NULL has no other default.
    pub columns: [&'static str; N],
}

/// A row: a value for each column.
pub(crate) type RowValues<'a, const N: usize> = [ToSqlOutput<'a>; N];

/// The value, or NULL if there is none.
pub(crate) fn or_null<'a, T: Into<ToSqlOutput<'a>>>(value: Option<T>) -> ToSqlOutput<'a> {
    value.map_or(ToSqlOutput::Owned(Value::Null), Into::into)
}

/// A text that may be borrowed.
pub(crate) fn text(text: Cow<'_, str>) -> ToSqlOutput<'_> {
    match text {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => text.into(),
    }
}

/// Inserts rows, and returns their keys in the same order. Nothing else writes to the table meanwhile, so the keys of a
/// statement follow each other.
pub(crate) fn insert<const N: usize>(
    conn: &Connection,
    destination: &Destination<N>,
    mut rows: &[RowValues<'_, N>],
) -> Result<Vec<i64>> {
    let mut keys = Vec::with_capacity(rows.len());
    while !rows.is_empty() {
        let count = 1_u16 << rows.len().min(MOST_ROWS).ilog2();
        let (now, later) = rows.split_at(usize::from(count));
        insert_together(conn, destination, now)?;
        let last = conn.last_insert_rowid();
        keys.extend(last - i64::from(count) + 1..=last);
        rows = later;
    }
    Ok(keys)
}

fn insert_together<const N: usize>(
    conn: &Connection,
    destination: &Destination<N>,
    rows: &[RowValues<'_, N>],
) -> Result<()> {
    let known: Vec<usize> =
        (0..N).filter(|column| *column == 0 || rows.iter().any(|row| !is_null(&row[*column]))).collect();
    let mut statement = conn.prepare_cached(&sql(destination, &known, rows.len()))?;
    let mut parameter = 0;
    for row in rows {
        for column in &known {
            parameter += 1;
            statement.raw_bind_parameter(parameter, &row[*column])?;
        }
    }
    statement.raw_execute()?;
    Ok(())
}

fn is_null(value: &ToSqlOutput<'_>) -> bool {
    matches!(value, ToSqlOutput::Owned(Value::Null) | ToSqlOutput::Borrowed(ValueRef::Null))
}

fn sql<const N: usize>(destination: &Destination<N>, known: &[usize], rows: usize) -> String {
    let columns: Vec<&str> = known.iter().map(|column| destination.columns[*column]).collect();
    let row = format!("({})", vec!["?"; known.len()].join(","));
    format!(
        "INSERT INTO {} ({}) VALUES {}",
        destination.table,
        columns.join(","),
        vec![row.as_str(); rows].join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Destination<3> = Destination { table: "word", columns: ["text", "length", "note"] };

    fn words() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL, length INTEGER, note TEXT) STRICT",
        )
        .unwrap();
        conn
    }

    #[test]
    fn each_row_has_its_key_however_many_there_are() {
        let conn = words();
        for count in [0, 1, 3, 4, 16, 39, 64, 200] {
            let words: Vec<String> = (0..count).map(|number| format!("word {number}")).collect();
            let rows: Vec<RowValues<'_, 3>> = words
                .iter()
                .map(|word| [word.as_str().into(), or_null::<i64>(None), or_null::<&str>(None)])
                .collect();
            let keys = insert(&conn, &WORDS, &rows).unwrap();
            let read: Vec<String> = keys
                .iter()
                .map(|key| {
                    conn.query_row("SELECT text FROM word WHERE id = ?1", [key], |row| row.get(0)).unwrap()
                })
                .collect();
            assert_eq!(read, words);
        }
    }

    #[test]
    fn a_value_that_few_rows_have_is_theirs_alone() {
        let conn = words();
        let row = |note: Option<&'static str>| -> RowValues<'static, 3> {
            ["word".into(), or_null(Some(4_i64)), or_null(note)]
        };
        for notes in [vec![None; 8], vec![None, Some("here"), None, None], vec![Some("last"), None]] {
            let rows: Vec<_> = notes.iter().map(|note| row(*note)).collect();
            let keys = insert(&conn, &WORDS, &rows).unwrap();
            for (key, note) in keys.iter().zip(&notes) {
                let read: (i64, Option<String>) = conn
                    .query_row("SELECT length, note FROM word WHERE id = ?1", [key], |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })
                    .unwrap();
                assert_eq!(read, (4, note.map(str::to_owned)));
            }
        }
    }
}
