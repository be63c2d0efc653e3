//! The meanings that a user gave to the columns of tables, by header. The next table with this header is read at once.

use std::collections::BTreeMap;

use crate::migration::Migration;
use crate::values::{json, parse};
use crate::{Result, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 14,
    sql: "
CREATE TABLE column_names (
  -- what tells the header from another
  header TEXT PRIMARY KEY,
  -- JSON: the name of each column by its meaning
  names TEXT NOT NULL
) STRICT, WITHOUT ROWID;
",
}];

impl Store {
    /// The names of columns by their meaning, by header.
    pub fn column_names(&self) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached("SELECT header, names FROM column_names")?;
            find.query_and_then([], |row| Ok((row.get(0)?, parse(&row.get::<_, String>(1)?)?)))?.collect()
        })
    }

    /// Replaces the names of the columns of a header. Without names, the header is deleted.
    pub fn set_column_names(&self, header: &str, names: &BTreeMap<String, String>) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            if names.is_empty() {
                conn.prepare_cached("DELETE FROM column_names WHERE header = ?1")?.execute([header])?;
            } else {
                conn.prepare_cached("INSERT OR REPLACE INTO column_names (header, names) VALUES (?1, ?2)")?
                    .execute((header, json(names)?))?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_by_header() {
        let store = Store::in_memory().unwrap();
        let names = |turn: &str| BTreeMap::from([("turn".to_owned(), turn.to_owned())]);
        store.set_column_names("a", &names("round")).unwrap();
        store.set_column_names("b", &names("step")).unwrap();
        store.set_column_names("a", &names("stage")).unwrap();
        store.set_column_names("b", &BTreeMap::new()).unwrap();
        let kept = store.column_names().unwrap();
        assert_eq!(kept, BTreeMap::from([("a".to_owned(), names("stage"))]));
    }
}
