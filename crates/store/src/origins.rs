//! Which runs this library started, on this machine.
//!
//! A results folder can claim anything about itself. The library recognizes its own runs by a message authentication code
//! (HMAC-SHA-256, RFC 2104) over the identity of the run, with a secret of this library. Code and secret stay here: no
//! folder, and no copy of rows of a library, can make a foreign run look like a run from here.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::migration::Migration;
use crate::{Result, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 8,
    sql: "
CREATE TABLE installation (
  -- one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes
  secret BLOB NOT NULL
) STRICT;
INSERT INTO installation (id, secret) VALUES (1, randomblob(32));
CREATE TABLE run_origin (
  -- id of the run, as its record has it
  run TEXT PRIMARY KEY,
  -- HMAC-SHA-256 of the identity of the run
  mac BLOB NOT NULL,
  -- endpoint that it was begun with, as JSON; NULL = none of a person's
  endpoint TEXT,
  -- order of the last begin or resume
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
",
}];

impl Store {
    /// Records that the run of an id was started or resumed here, with its identity (any bytes) and its endpoint. One that was begun
    /// without an endpoint keeps none, and so does one of [`Store::keep_endpoint_apart`].
    pub fn remember_run(&self, run: &str, identity: &[u8], endpoint: Option<&str>) -> Result<()> {
        let code = code(&self.secret()?, run, identity).finalize().into_bytes();
        self.write(|write| {
            write
                .tx
                .prepare_cached(
                    "INSERT INTO run_origin (run, mac, endpoint, number)
                     VALUES (?1, ?2, ?3, (SELECT coalesce(max(number), 0) + 1 FROM run_origin))
                     ON CONFLICT (run) DO UPDATE SET mac = excluded.mac, number = excluded.number,
                       endpoint = CASE WHEN run_origin.endpoint IS NULL THEN NULL ELSE excluded.endpoint END",
                )?
                .execute((run, code.as_slice(), endpoint))?;
            Ok(())
        })
    }

    /// Records that the run of an id is resumed with an endpoint or a key that its folder names: it is never among
    /// [`Store::endpoints`]. This says nothing of whose the run is.
    pub fn keep_endpoint_apart(&self, run: &str) -> Result<()> {
        self.write(|write| {
            write
                .tx
                .prepare_cached(
                    "INSERT INTO run_origin (run, mac, endpoint, number) VALUES (?1, x'', NULL, 0)
                     ON CONFLICT (run) DO UPDATE SET endpoint = NULL",
                )?
                .execute([run])?;
            Ok(())
        })
    }

    /// Whether the run of an id, with this identity, was started or last resumed here.
    pub fn began_here(&self, run: &str, identity: &[u8]) -> Result<bool> {
        let kept: Option<Vec<u8>> = self.read(|conn| {
            let mut find = conn.prepare_cached("SELECT mac FROM run_origin WHERE run = ?1")?;
            find.query_and_then([run], |row| Ok(row.get(0)?))?.next().transpose()
        })?;
        let Some(kept) = kept else { return Ok(false) };
        // Compared in constant time.
        Ok(code(&self.secret()?, run, identity).verify_slice(&kept).is_ok())
    }

    /// The endpoints with which runs were started or resumed here, as JSON, each once, the latest first.
    pub fn endpoints(&self) -> Result<Vec<String>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT endpoint FROM run_origin WHERE endpoint IS NOT NULL GROUP BY endpoint ORDER BY max(number) DESC",
            )?;
            find.query_and_then([], |row| Ok(row.get(0)?))?.collect()
        })
    }

    /// A constant key of this library for hashes that divide work. The author of a folder cannot know it.
    pub fn hash_key(&self) -> Result<[u8; 16]> {
        let digest = code(&self.secret()?, "hash key", b"").finalize().into_bytes();
        let mut key = [0; 16];
        for (key_byte, source) in key.iter_mut().zip(digest.iter()) {
            *key_byte = *source;
        }
        Ok(key)
    }

    fn secret(&self) -> Result<Vec<u8>> {
        self.read(|conn| {
            Ok(conn.query_row("SELECT secret FROM installation WHERE id = 1", [], |row| row.get(0))?)
        })
    }
}

fn code(secret: &[u8], run: &str, identity: &[u8]) -> Hmac<Sha256> {
    // A key that is shorter than a block is padded with zeros (RFC 2104).
    let mut block = [0; 64];
    for (key_byte, source) in block.iter_mut().zip(secret) {
        *key_byte = *source;
    }
    let mut code = Hmac::<Sha256>::new(&block.into());
    code.update(&(run.len() as u64).to_le_bytes());
    code.update(run.as_bytes());
    code.update(identity);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_from_here_are_recognized() {
        let (local, other) = (Store::in_memory().unwrap(), Store::in_memory().unwrap());
        local.remember_run("a1", b"identity", Some("{}")).unwrap();
        assert!(local.began_here("a1", b"identity").unwrap());
        assert!(!local.began_here("a1", b"another").unwrap());
        assert!(!local.began_here("a2", b"identity").unwrap());
        assert!(!other.began_here("a1", b"identity").unwrap());
        // The same row in another library proves nothing, because the secret differs.
        assert_ne!(local.secret().unwrap(), other.secret().unwrap());
        assert_ne!(local.hash_key().unwrap(), other.hash_key().unwrap());
        assert_eq!(local.hash_key().unwrap(), local.hash_key().unwrap());
        local.remember_run("a1", b"raised", None).unwrap();
        assert!(local.began_here("a1", b"raised").unwrap() && !local.began_here("a1", b"identity").unwrap());
        assert_eq!(local.endpoints().unwrap(), [""; 0]);
        local.remember_run("a2", b"x", Some("one")).unwrap();
        local.remember_run("a3", b"x", Some("two")).unwrap();
        local.remember_run("a4", b"x", Some("one")).unwrap();
        assert_eq!(local.endpoints().unwrap(), ["one", "two"]);
        // What a folder names is kept apart, before and after it is resumed; whose the run is stays as it was.
        local.keep_endpoint_apart("a5").unwrap();
        assert!(!local.began_here("a5", b"x").unwrap() && !local.began_here("a5", b"").unwrap());
        for _ in 0..2 {
            local.remember_run("a5", b"x", Some("theirs")).unwrap();
        }
        local.keep_endpoint_apart("a3").unwrap();
        assert!(local.began_here("a5", b"x").unwrap() && local.began_here("a3", b"x").unwrap());
        assert_eq!(local.endpoints().unwrap(), ["one"]);
    }
}
