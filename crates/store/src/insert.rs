//! Rows that are inserted several at a time: to begin and end a statement takes as long as a short row.

use rusqlite::{Connection, Statement, ToSql};

use crate::Result;

/// How many rows a statement takes: as many as fit, then fewer.
const SIZES: [u16; 3] = [16, 4, 1];

/// Where rows go.
pub(crate) struct Destination {
    /// The table. Its key is an `INTEGER PRIMARY KEY` that is not among the columns.
    pub table: &'static str,
    /// The columns, with commas between them.
    pub columns: &'static str,
}

impl Destination {
    /// How many columns a row has.
    fn width(&self) -> usize {
        self.columns.split(',').count()
    }
}

/// The values of a statement's rows, in their order.
pub(crate) struct Values<'a, 'conn> {
    statement: &'a mut Statement<'conn>,
    bound: usize,
}

impl Values<'_, '_> {
    /// Adds a row: a value for each column.
    pub(crate) fn add(&mut self, row: &[&dyn ToSql]) -> Result<()> {
        for value in row {
            self.bound += 1;
            self.statement.raw_bind_parameter(self.bound, value)?;
        }
        Ok(())
    }
}

/// Inserts rows, and returns their keys in the same order. `add` adds the values of a row. Nothing else writes to the table
/// meanwhile, so the keys of a statement follow each other.
pub(crate) fn insert<T>(
    conn: &Connection,
    destination: &Destination,
    mut rows: &[T],
    add: impl Fn(&T, &mut Values<'_, '_>) -> Result<()>,
) -> Result<Vec<i64>> {
    let mut keys = Vec::with_capacity(rows.len());
    for size in SIZES {
        while rows.len() >= usize::from(size) {
            let (now, later) = rows.split_at(usize::from(size));
            let mut statement = conn.prepare_cached(&sql(destination, now.len()))?;
            let mut values = Values { statement: &mut statement, bound: 0 };
            for row in now {
                add(row, &mut values)?;
            }
            debug_assert_eq!(values.bound, now.len() * destination.width(), "a value for each column");
            statement.raw_execute()?;
            let last = conn.last_insert_rowid();
            keys.extend(last - i64::from(size) + 1..=last);
            rows = later;
        }
    }
    Ok(keys)
}

fn sql(destination: &Destination, rows: usize) -> String {
    let Destination { table, columns } = destination;
    let row = format!("({})", vec!["?"; destination.width()].join(","));
    format!("INSERT INTO {table} ({columns}) VALUES {}", vec![row.as_str(); rows].join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_key_however_many_there_are() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, length INTEGER) STRICT")
            .unwrap();
        let destination = Destination { table: "word", columns: "text, length" };
        for count in [0, 1, 3, 4, 16, 39] {
            let words: Vec<String> = (0..count).map(|number| format!("word {number}")).collect();
            let keys = insert(&conn, &destination, &words, |word, values| {
                values.add(&[word, &i64::try_from(word.len()).unwrap()])
            })
            .unwrap();
            let read: Vec<String> = keys
                .iter()
                .map(|key| {
                    conn.query_row("SELECT text FROM word WHERE id = ?1", [key], |row| row.get(0)).unwrap()
                })
                .collect();
            assert_eq!(read, words);
        }
    }
}
