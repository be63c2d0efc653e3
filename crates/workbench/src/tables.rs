//! Tables of others: which columns they lack, and what a user said that their columns are.

use std::collections::BTreeMap;
use std::path::Path;

use files::Tree;
use ingest::formats::table::columns::COLUMNS;
use ingest::formats::table::{ColumnRenames, table_headers};

use crate::Workbench;
use crate::api::{ApiError, MapColumns, Nothing};
use crate::importers::open_imported;
use crate::sources::open_tree;

impl Workbench {
    /// Opens a folder, zip or table, with what is remembered of the columns of tables.
    pub(crate) fn open_tables(&self, path: &Path) -> Result<Tree, ApiError> {
        let source = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let imported = self.store.imported_table(&source.to_string_lossy())?;
        let tree = match imported {
            Some(table) => open_imported(path, Path::new(&table))?,
            None => open_tree(path)?,
        };
        Ok(tree.with_column_names(self.store.column_names()?))
    }

    /// Keeps which column of a table is which, for every table with the same header, beside what is remembered of others of
    /// its columns; none at all forgets all of them.
    pub fn map_columns(&self, request: MapColumns) -> Result<Nothing, ApiError> {
        let MapColumns { path, columns } = request;
        self.map_tables(&open_tree(Path::new(&path))?, &columns, &path)?;
        Ok(Nothing {})
    }

    /// The same for the tables of a tree.
    pub(crate) fn map_tables(
        &self,
        tree: &Tree,
        columns: &ColumnRenames,
        path: &str,
    ) -> Result<(), ApiError> {
        for ours in columns.keys() {
            if !COLUMNS.iter().any(|column| column.name == ours) {
                let required = COLUMNS.iter().filter(|column| column.required).map(|column| column.name);
                let required: Vec<&str> = required.collect();
                return Err(ApiError::new(
                    "table.no_column",
                    format!("A tidy table has no column \"{ours}\""),
                )
                .hint(format!("It needs {}; docs/formats.md lists the others", required.join(", "))));
            }
        }
        let tables = table_headers(tree);
        let known = self.store.column_names()?;
        let mut found = false;
        for table in &tables {
            // Names are kept as the header spells them.
            let spelled: Option<ColumnRenames> = (columns.iter())
                .map(|(ours, name)| Some((ours.clone(), table.column(name)?.to_owned())))
                .collect();
            if let Some(spelled) = spelled {
                let mut names = known.get(&table.header).cloned().unwrap_or_default();
                names.extend(spelled);
                if columns.is_empty() {
                    names.clear();
                }
                self.store.set_column_names(&table.header, &names)?;
                found = true;
            }
        }
        if found {
            return Ok(());
        }
        // Of one table what it lacks is named; of several none may lack all of them.
        let is_lacked = |name: &&String| match &tables[..] {
            [table] => table.column(name).is_none(),
            _ => true,
        };
        let names: Vec<&str> = columns.values().filter(is_lacked).map(String::as_str).collect();
        let all = if tables.len() > 1 && names.len() > 1 { "all of " } else { "" };
        let message = format!("No table there has {all}the columns {}", names.join(", "));
        let hint = match tables.first() {
            Some(table) => format!("The first one has {}", table.columns.join(", ")),
            None => "Tables are files that end in .csv, .tsv, .jsonl or .parquet".to_owned(),
        };
        Err(ApiError::new("table.no_column", message).with_path(path.to_owned()).hint(hint))
    }
}

/// `turn=round` as `--map` takes it.
pub fn parse_map(texts: &[String]) -> Result<BTreeMap<String, String>, ApiError> {
    let pair = |text: &String| {
        let (ours, theirs) = text.split_once('=').ok_or_else(|| {
            ApiError::new("table.map", format!("\"{text}\" does not say which column is which"))
                .hint("Write the column of a tidy table, then the one of the file: --map turn=round")
        })?;
        Ok((ours.trim().to_owned(), theirs.trim().to_owned()))
    };
    texts.iter().map(pair).collect()
}
