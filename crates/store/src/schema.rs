//! The layout of the database, and the migration of older files. `tests/schema.sql` shows every table of the present layout.
//!
//! Each module that owns a table has a `MIGRATIONS` constant: steps of statements, each with the layout version that it
//! leads to. A released step is never edited; a change is a new step. All steps that a file lacks run in one immediate
//! transaction, which first reads the version of the file. Several processes may therefore open one file at once.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::migration::Migration;
use crate::{Result, StoreError};

/// The layout that this program writes (`PRAGMA user_version`).
pub const VERSION: i64 = 26;

/// Marks a SQLite file as a library of Stamina Lab (`PRAGMA application_id`): the letters `StLb`.
pub const APPLICATION_ID: i64 = 0x5374_4c62;

/// The steps of every table. Tables that others refer to come first.
const ALL: &[&[Migration]] = &[
    crate::sources::MIGRATIONS,
    crate::slugs::MIGRATIONS,
    crate::copies::MIGRATIONS,
    crate::withdrawn::MIGRATIONS,
    crate::parts::MIGRATIONS,
    crate::runs::MIGRATIONS,
    crate::copied_runs::MIGRATIONS,
    crate::interned::MIGRATIONS,
    crate::episodes::MIGRATIONS,
    crate::turns::MIGRATIONS,
    crate::episode_turns::MIGRATIONS,
    crate::sessions::MIGRATIONS,
    crate::import_report::MIGRATIONS,
    crate::omitted_counts::MIGRATIONS,
    crate::summaries::MIGRATIONS,
    crate::annotations::MIGRATIONS,
    crate::policy::MIGRATIONS,
    crate::views::MIGRATIONS,
    crate::column_names::MIGRATIONS,
    crate::origins::MIGRATIONS,
    crate::abilities::MIGRATIONS,
    crate::changes::MIGRATIONS,
    crate::search::MIGRATIONS,
    crate::texts::index::MIGRATIONS,
    crate::texts::claims::MIGRATIONS,
    crate::texts::shared_files::MIGRATIONS,
];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// An empty file.
    Empty,
    /// A library of this layout.
    Library(i64),
    /// Something else.
    Foreign,
}

fn file_kind(conn: &Connection) -> rusqlite::Result<FileKind> {
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application == APPLICATION_ID {
        return Ok(FileKind::Library(version));
    }
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    Ok(if objects == 0 && version == 0 && application == 0 { FileKind::Empty } else { FileKind::Foreign })
}

/// Refuses files that are not libraries, or are newer than this program, without writing to them.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<()> {
    // A reading transaction, so that both pragmas come from one state of the file.
    let tx = conn.unchecked_transaction()?;
    match file_kind(&tx) {
        Ok(FileKind::Empty) => Ok(()),
        Ok(FileKind::Library(version)) if version <= VERSION => Ok(()),
        Ok(FileKind::Library(version)) => {
            Err(StoreError::Newer { path: path.to_path_buf(), found: version, known: VERSION })
        }
        Ok(FileKind::Foreign) => Err(StoreError::Foreign { path: path.to_path_buf() }),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Err(StoreError::Foreign { path: path.to_path_buf() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses files that are not libraries of this layout, for a file that cannot be migrated.
pub(crate) fn check_current(conn: &Connection, path: &Path) -> Result<()> {
    check(conn, path)?;
    if file_kind(conn)? == FileKind::Library(VERSION) {
        Ok(())
    } else {
        Err(StoreError::ReadOnly { path: path.to_path_buf() })
    }
}

/// The steps from one version to another, in the order of versions. A step may need earlier changes of any table.
fn steps(first: i64, last: i64) -> impl Iterator<Item = &'static Migration> {
    (first + 1..=last)
        .flat_map(|version| ALL.iter().copied().flatten().filter(move |step| step.version == version))
}

/// Migrates a file to [`VERSION`].
pub(crate) fn migrate(conn: &mut Connection) -> Result<()> {
    if file_kind(conn)? == FileKind::Library(VERSION) {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated the file meanwhile.
    let old_version = match file_kind(&tx)? {
        FileKind::Library(version) => version,
        FileKind::Empty | FileKind::Foreign => 0,
    };
    for step in steps(old_version, VERSION) {
        tx.execute_batch(step.sql)?;
    }
    if old_version < VERSION {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(tx.commit()?)
}

/// The statements that create an empty database of a layout version.
pub fn statements(version: i64) -> String {
    let mut sql: String = steps(0, version).map(|step| step.sql).collect();
    sql.push_str(&format!("\nPRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {version};\n"));
    sql
}
