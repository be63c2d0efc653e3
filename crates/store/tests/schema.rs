//! The printed schema of a library: every table, its indexes and its triggers at the present layout.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use store::schema;

/// The Rust files in a folder and below it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The files of this crate that create a table, relative to the crate.
fn owners(table: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let statements = [format!("CREATE TABLE {table} "), format!("CREATE VIRTUAL TABLE {table} ")];
    let mut owners: Vec<String> = rust_files(&root.join("src"))
        .into_iter()
        .filter(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            statements.iter().any(|statement| text.contains(statement))
        })
        .map(|path| path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"))
        .collect();
    owners.sort();
    owners
}

fn texts(conn: &Connection, sql: &str, table: &str) -> Vec<String> {
    let mut find = conn.prepare(sql).unwrap();
    let rows = find.query_map([table], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn printed_schema() -> String {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(&schema::statements(schema::VERSION)).unwrap();
    let mut printed = format!(
        "-- The tables of a library at layout {}, each with the file in src that owns it. tests/schema.rs writes this file.\n",
        schema::VERSION
    );
    let mut find = conn
        .prepare(
            "SELECT listed.name, sqlite_master.sql FROM pragma_table_list AS listed
             JOIN sqlite_master ON sqlite_master.name = listed.name
             WHERE listed.schema = 'main' AND listed.type IN ('table', 'virtual')
               AND listed.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY listed.name",
        )
        .unwrap();
    let tables = find.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    for table in tables {
        let (name, sql) = table.unwrap();
        let owners = owners(&name);
        assert_eq!(owners.len(), 1, "the table {name} belongs to one file: {owners:?}");
        writeln!(printed, "\n-- {name}: {}\n{sql};", owners[0]).unwrap();
        let others = "SELECT sql FROM sqlite_master WHERE tbl_name = ?1 AND type IN ('index', 'trigger')
                      AND sql IS NOT NULL ORDER BY type, name";
        for sql in texts(&conn, others, &name) {
            writeln!(printed, "{sql};").unwrap();
        }
    }
    printed
}

/// `UPDATE_SCHEMA=1 cargo nextest run --workspace --test schema` writes the file. Look at the difference before you commit it.
#[test]
fn the_printed_schema_is_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema.sql");
    let printed = printed_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    assert!(
        committed == printed,
        "crates/store/tests/schema.sql is not the schema of layout {}. Write it with `UPDATE_SCHEMA=1 cargo nextest run --workspace --test schema`. The schema is:\n{printed}",
        schema::VERSION
    );
}
