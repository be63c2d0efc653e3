//! Slugs: the names of runs and episodes in links and on the command line, in lower case `[a-z0-9._-]`.
//!
//! A slug belongs to one run forever, identified by the path of its source, its place and its key, even if the run is
//! closed or purged: links, tags and notes refer to it. The slug of an episode belongs to its row.

use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{Connection, OptionalExtension};

use crate::migration::Migration;
use crate::rows::Address;
use crate::{Result, RunId};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
CREATE TABLE run_slug (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  UNIQUE (path, place, key)
) STRICT;
",
}];

/// Most letters of a slug before the mark that makes it unique.
const LETTERS: usize = 100;

/// A name as a slug: lower case, with one `-` for every run of other characters than `[a-z0-9._]`. An empty slug becomes
/// `unnamed`.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' | '.' | '_' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= LETTERS {
            break;
        }
    }
    // A link must not contain a relative path.
    let trimmed = slug.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unnamed".to_owned() } else { trimmed.to_owned() }
}

/// Whether a slug starts with another one as a whole word.
fn begins_with(slug: &str, word: &str) -> bool {
    slug.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_']))
}

/// The preferred slug of a run: the name of the opened folder, or of the one that was zipped, the folder of the run (unless the key starts with it) and the key,
/// without repetitions.
fn wanted_run_slug(source: &str, place: &str, key: &str) -> String {
    let mut parts = vec![slug(source)];
    let folder = place.rsplit('/').next().unwrap_or_default();
    for part in [folder, key].into_iter().filter(|part| !part.is_empty()) {
        let part = slug(part);
        // `failures-k1` before `failures-k1-oracle` adds no information.
        if parts.last().is_some_and(|last| begins_with(&part, last)) {
            parts.pop();
        }
        parts.push(part);
    }
    let mut joined = parts.join(".");
    joined.truncate(LETTERS);
    joined.trim_end_matches(['-', '.']).to_owned()
}

/// The first free slug of `wanted`, `wanted-2`, `wanted-3`, … After a few of them, it contains a hash of `key`, so that
/// thousands of equal names do not need thousands of queries each.
fn free_slug(wanted: &str, key: &str, mut taken: impl FnMut(&str) -> Result<bool>) -> Result<String> {
    let mut candidate = wanted.to_owned();
    let mut number = 1_u32;
    while taken(&candidate)? {
        number += 1;
        candidate = if number < 10 {
            format!("{wanted}-{number}")
        } else {
            let mut hasher = DefaultHasher::new();
            (key, number).hash(&mut hasher);
            format!("{wanted}-{:012x}", hasher.finish() >> 16)
        };
    }
    Ok(candidate)
}

/// The slug row of a run, inserted when the run is read for the first time.
pub(crate) fn run_slug(conn: &Connection, source: &Address, place: &str, key: &str) -> Result<i64> {
    let path = source.path.as_str();
    let known = conn
        .prepare_cached("SELECT id FROM run_slug WHERE path = ?1 AND place = ?2 AND key = ?3")?
        .query_row((path, place, key), |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let mut find = conn.prepare_cached("SELECT 1 FROM run_slug WHERE slug = ?1")?;
    let name = if source.is_zip { model::zipped_name(&source.name) } else { source.name.as_str() };
    let slug = free_slug(&wanted_run_slug(name, place, key), key, |candidate| Ok(find.exists([candidate])?))?;
    Ok(conn
        .prepare_cached("INSERT INTO run_slug (slug, path, place, key) VALUES (?1, ?2, ?3, ?4)")?
        .insert((slug, path, place, key))?)
}

/// The number of the slug of a run, and its source if the run is in the library now; `None` = no run ever had this slug.
pub(crate) fn find(conn: &Connection, slug: &str) -> Result<Option<(i64, Option<i64>)>> {
    Ok(conn
        .prepare_cached(
            "SELECT run_slug.id, run.source FROM run_slug LEFT JOIN run ON run.slug = run_slug.id WHERE run_slug.slug = ?1",
        )?
        .query_row([slug], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// A slug for a new episode of a run.
pub(crate) fn episode_slug(
    conn: &Connection,
    run: RunId,
    scenario: &str,
    repeat: u32,
    key: &str,
) -> Result<String> {
    let mut wanted = slug(scenario);
    if repeat > 1 {
        wanted.push_str(&format!("-r{repeat}"));
    }
    let mut find = conn.prepare_cached("SELECT 1 FROM episode WHERE run = ?1 AND slug = ?2")?;
    free_slug(&wanted, key, |candidate| Ok(find.exists((run, candidate))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_hold_only_letters_that_links_allow() {
        assert_eq!(slug("Claude Opus 4.8"), "claude-opus-4.8");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("a  --  b//c"), "a-b-c");
        assert_eq!(slug("…"), "unnamed");
        assert_eq!(slug(".."), "unnamed");
        assert_eq!(slug("模型"), "unnamed");
        assert_eq!(slug(&"x".repeat(500)).len(), LETTERS);
    }

    #[test]
    fn a_run_is_named_after_source_place_and_key_without_repeating() {
        assert_eq!(
            wanted_run_slug("evocode-published", "", "Claude Opus 4.8"),
            "evocode-published.claude-opus-4.8"
        );
        assert_eq!(wanted_run_slug("jobs", "oracle-k2", "oracle-k2"), "jobs.oracle-k2");
        assert_eq!(wanted_run_slug("oracle-k2", "", "oracle-k2/oracle"), "oracle-k2-oracle");
        assert_eq!(wanted_run_slug("app", "", "apple"), "app.apple");
        assert_eq!(wanted_run_slug("jobs", "a/oracle-k2", "oracle-k2-oracle"), "jobs.oracle-k2-oracle");
    }

    /// Runs of `b.ZIP` were called `b.zip.…`, and so were those of a folder `c.zip` called as those of a zip.
    #[test]
    fn a_zip_gives_its_runs_the_name_of_the_folder_that_was_zipped() {
        let store = crate::Store::in_memory().unwrap();
        let benchmark = model::Benchmark { key: "b".into(), name: "B".into() };
        for (name, is_zip) in [("a.zip", true), ("b.ZIP", true), ("c.zip", false)] {
            let source = store.put_source(&format!("/data/{name}"), name, is_zip).unwrap();
            let run = model::Run::unknown("nop", benchmark.clone());
            store.put_runs(source, "jobs/nop-k1", "harbor", &[run]).unwrap();
        }
        let runs = store.list_runs(&crate::RunFilter::default()).unwrap().rows;
        let mut slugs: Vec<String> = runs.into_iter().map(|(_, run)| run.slug).collect();
        slugs.sort();
        assert_eq!(slugs, ["a.nop-k1.nop", "b.nop-k1.nop", "c.zip.nop-k1.nop"]);
    }

    #[test]
    fn equal_names_get_different_slugs() {
        let mut taken: Vec<String> = Vec::new();
        for n in 0..40 {
            let slug = free_slug("a", &n.to_string(), |c| Ok(taken.iter().any(|t| t == c))).unwrap();
            assert!(!taken.contains(&slug));
            taken.push(slug);
        }
        assert_eq!(taken[..3], ["a", "a-2", "a-3"]);
    }
}
