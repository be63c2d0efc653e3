//! What other tables do to the row of a source or of a run: find it, mark it as changed, delete it.

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, RunId, SourceId, StoreError, changes, summaries};

/// The sums of a run are computed again when one in so many of its episodes changed. Their time grows with the run, so
/// sums after every change would make reading a large run quadratic.
const SUMMED_PART: u32 = 8;

/// Where a source lies and what it is called.
pub(crate) struct Address {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) is_zip: bool,
}

/// Path and name of a source.
pub(crate) fn address(conn: &Connection, source: SourceId) -> Result<Address> {
    conn.prepare_cached("SELECT path, name, zip FROM source WHERE id = ?1")?
        .query_row([source], |row| Ok(Address { path: row.get(0)?, name: row.get(1)?, is_zip: row.get(2)? }))
        .optional()?
        .ok_or(StoreError::NoSource(source))
}

/// Records that a run or its episodes changed: its summary is stale, and the change is logged. Its sums are computed at once
/// if the run is small or much of it changed, else by [`crate::Store::sum_runs`].
pub(crate) fn touch(conn: &Connection, run: RunId) -> Result<()> {
    let found = conn
        .prepare_cached("SELECT source, slug FROM run WHERE id = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((source, slug)) = found else { return Ok(()) };
    let seq = changes::log_run(conn, source, slug)?;
    let (unsummed, episodes): (u32, u32) = conn
        .prepare_cached(
            "UPDATE run SET version = ?2, unsummed = unsummed + 1 WHERE id = ?1
             RETURNING unsummed, coalesce((SELECT episodes FROM run_totals WHERE run_totals.run = run.id), 0)",
        )?
        .query_row((run, seq), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if unsummed.saturating_mul(SUMMED_PART) >= episodes { sum(conn, run) } else { Ok(()) }
}

/// The same, with sums that are always computed at once. Use it outside of the reading of a source.
pub(crate) fn touch_and_sum(conn: &Connection, run: RunId) -> Result<()> {
    touch(conn, run)?;
    sum(conn, run)
}

/// Computes the sums of a run.
pub(crate) fn sum(conn: &Connection, run: RunId) -> Result<()> {
    summaries::put_totals(conn, run)?;
    conn.prepare_cached("UPDATE run SET unsummed = 0 WHERE id = ?1")?.execute([run])?;
    Ok(())
}

/// Deletes a run with its episodes. Their parts must be read again if the run returns.
pub(crate) fn delete(conn: &Connection, run: RunId) -> Result<()> {
    conn.prepare_cached(
        "UPDATE part SET stamp = NULL WHERE id IN (SELECT part FROM episode WHERE run = ?1)",
    )?
    .execute([run])?;
    remove(conn, run)
}

/// Deletes a run with its episodes, and leaves the stamps of their parts as they are.
pub(crate) fn remove(conn: &Connection, run: RunId) -> Result<()> {
    let (source, slug) = conn
        .prepare_cached("SELECT source, slug FROM run WHERE id = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    conn.prepare_cached("DELETE FROM run WHERE id = ?1")?.execute([run])?;
    changes::log_run(conn, source, slug)?;
    Ok(())
}

/// The run of a place, if it has exactly one.
pub(crate) fn only_one_of_place(conn: &Connection, source: SourceId, place: &str) -> Result<Option<RunId>> {
    let mut find = conn.prepare_cached("SELECT id FROM run WHERE source = ?1 AND place = ?2 LIMIT 2")?;
    let found: Vec<RunId> =
        find.query_map((source, place), |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(if let [run] = *found { Some(run) } else { None })
}
