//! Saved views: addresses of the app under names that a user chose. The app decides what an address means.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::migration::Migration;
use crate::{Result, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 4,
    sql: "
CREATE TABLE saved_view (
  name TEXT PRIMARY KEY,
  -- in lower case, to sort by
  folded TEXT NOT NULL,
  -- route and query of the app: compare?members=…
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
",
}];

/// What the app shows, kept under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedView {
    /// As it was given.
    pub name: String,
    /// Route and query of the app: `compare?members=…`.
    pub address: String,
}

impl Store {
    /// The saved views, by name.
    pub fn views(&self) -> Result<Vec<SavedView>> {
        self.read(|conn| {
            let mut find =
                conn.prepare_cached("SELECT name, address FROM saved_view ORDER BY folded, name")?;
            find.query_and_then([], |row| Ok(SavedView { name: row.get(0)?, address: row.get(1)? }))?
                .collect()
        })
    }

    /// Saves an address under a name. It replaces an earlier address with this name.
    pub fn save_view(&self, name: &str, address: &str) -> Result<()> {
        self.write(|write| {
            write
                .tx
                .prepare_cached(
                    "INSERT OR REPLACE INTO saved_view (name, folded, address) VALUES (?1, ?2, ?3)",
                )?
                .execute((name, name.to_lowercase(), address))?;
            Ok(())
        })
    }

    /// Deletes a view. An unknown name is ignored.
    pub fn remove_view(&self, name: &str) -> Result<()> {
        self.write(|write| {
            write.tx.prepare_cached("DELETE FROM saved_view WHERE name = ?1")?.execute([name])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_kept_by_name() {
        let store = Store::in_memory().unwrap();
        assert_eq!(store.views().unwrap(), []);
        store.save_view("weak models", "compare?members=a,b").unwrap();
        store.save_view("All of GLM", "library?model=glm").unwrap();
        store.save_view("weak models", "compare?members=a,c").unwrap();
        store.remove_view("nothing of this name").unwrap();
        let view =
            |name: &str, address: &str| SavedView { name: name.to_owned(), address: address.to_owned() };
        assert_eq!(
            store.views().unwrap(),
            [view("All of GLM", "library?model=glm"), view("weak models", "compare?members=a,c")]
        );
        store.remove_view("All of GLM").unwrap();
        assert_eq!(store.views().unwrap(), [view("weak models", "compare?members=a,c")]);
    }
}
