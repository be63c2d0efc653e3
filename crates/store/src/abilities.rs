//! What preflight has found out of model endpoints: by address, model and API, with the time. What it means is the workbench's
//! affair. Keys of endpoints are no part of it.

use crate::schema::Migration;
use crate::{Result, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 19,
    sql: "
CREATE TABLE endpoint_abilities (
  -- without user, password and query
  address TEXT NOT NULL,
  model TEXT NOT NULL,
  -- path of the API
  api TEXT NOT NULL,
  -- when the oldest part of it was found out, in seconds since 1970
  at INTEGER NOT NULL,
  -- JSON
  found TEXT NOT NULL,
  PRIMARY KEY (address, model, api)
) STRICT, WITHOUT ROWID;
",
}];

/// Most endpoints that are kept. The oldest make room.
const MOST_KEPT: i64 = 500;
/// Longest text that is kept, in bytes. What is longer is not kept at all.
const LONGEST: usize = 64 << 10;

impl Store {
    /// What was found out of a model at an address by an API: when, in seconds since 1970, and what, as JSON.
    pub fn abilities(&self, address: &str, model: &str, api: &str) -> Result<Option<(i64, String)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT at, found FROM endpoint_abilities WHERE address = ?1 AND model = ?2 AND api = ?3",
            )?;
            find.query_and_then([address, model, api], |row| Ok((row.get(0)?, row.get(1)?)))?
                .next()
                .transpose()
        })
    }

    /// Keeps what was found out, in place of what was known.
    pub fn keep_abilities(&self, address: &str, model: &str, api: &str, at: i64, found: &str) -> Result<()> {
        if address.len() + model.len() + found.len() > LONGEST {
            return Ok(());
        }
        self.write(|write| {
            write
                .tx
                .prepare_cached(
                    "INSERT OR REPLACE INTO endpoint_abilities (address, model, api, at, found)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute((address, model, api, at, found))?;
            write
                .tx
                .prepare_cached(
                    "DELETE FROM endpoint_abilities WHERE (address, model, api) IN
                     (SELECT address, model, api FROM endpoint_abilities ORDER BY at DESC LIMIT -1 OFFSET ?1)",
                )?
                .execute([MOST_KEPT])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_out_last_is_kept_and_the_oldest_makes_room() {
        let store = Store::in_memory().unwrap();
        let of = |model: &str| store.abilities("http://127.0.0.1:8080", model, "/v1/messages").unwrap();
        let keep = |model: &str, at: i64, found: &str| {
            store.keep_abilities("http://127.0.0.1:8080", model, "/v1/messages", at, found).unwrap();
        };
        assert_eq!(of("m"), None);
        keep("m", 7, "{}");
        keep("m", 8, "{\"tools\":true}");
        assert_eq!(of("m"), Some((8, "{\"tools\":true}".to_owned())));
        assert_eq!(store.abilities("http://127.0.0.1:8080", "m", "/v1/responses").unwrap(), None);
        keep("long", 9, &"x".repeat(LONGEST + 1));
        assert_eq!(of("long"), None, "an endpoint does not fill a library");
        for n in 0..MOST_KEPT {
            keep(&format!("m{n}"), 100 + n, "{}");
        }
        assert_eq!(of("m"), None);
        assert!(of("m0").is_some() && of(&format!("m{}", MOST_KEPT - 1)).is_some());
    }
}
