//! What preflight learned about model endpoints, by address, model and API, with the time. The workbench decides what the
//! JSON means. It holds no keys of endpoints.

use crate::migration::Migration;
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

/// Most endpoints that are kept. A new one replaces the oldest.
const MOST_KEPT: i64 = 500;
/// Longest text that is kept, in bytes. A longer text is not kept.
const LONGEST_TEXT: usize = 64 << 10;

impl Store {
    /// What preflight learned about a model at an address by an API: the time, in seconds since 1970, and the JSON.
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

    /// Replaces what is known about a model at an address by an API.
    pub fn keep_abilities(
        &self,
        address: &str,
        model: &str,
        api: &str,
        known_at: i64,
        found: &str,
    ) -> Result<()> {
        if address.len() + model.len() + found.len() > LONGEST_TEXT {
            return Ok(());
        }
        self.write(|write| {
            write
                .tx
                .prepare_cached(
                    "INSERT OR REPLACE INTO endpoint_abilities (address, model, api, at, found)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute((address, model, api, known_at, found))?;
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
    fn the_latest_result_is_kept_and_the_oldest_endpoint_is_deleted() {
        let store = Store::in_memory().unwrap();
        let known = |model: &str| store.abilities("http://127.0.0.1:8080", model, "/v1/messages").unwrap();
        let keep = |model: &str, known_at: i64, found: &str| {
            store.keep_abilities("http://127.0.0.1:8080", model, "/v1/messages", known_at, found).unwrap();
        };
        assert_eq!(known("m"), None);
        keep("m", 7, "{}");
        keep("m", 8, "{\"tools\":true}");
        assert_eq!(known("m"), Some((8, "{\"tools\":true}".to_owned())));
        assert_eq!(store.abilities("http://127.0.0.1:8080", "m", "/v1/responses").unwrap(), None);
        keep("long", 9, &"x".repeat(LONGEST_TEXT + 1));
        assert_eq!(known("long"), None, "an endpoint does not fill a library");
        for n in 0..MOST_KEPT {
            keep(&format!("m{n}"), 100 + n, "{}");
        }
        assert_eq!(known("m"), None);
        assert!(known("m0").is_some() && known(&format!("m{}", MOST_KEPT - 1)).is_some());
    }
}
