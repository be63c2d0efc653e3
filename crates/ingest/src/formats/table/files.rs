//! Which files of a folder are tables, and which lack columns.

use files::{ReadError, Tree, join};

use super::mapping::{Mapping, column_index, guesses, header_id};
use super::open_rows;
use super::rows::{Encoding, RowStart, Rows};

/// Tables of one folder that are read.
const TABLES_CAP: usize = 10_000;
/// Files of one folder that are looked into until one is a table.
const SNIFFED: usize = 100;
/// Required columns that are there, or may be, from which on a file looks like a tidy table.
const LIKELY: usize = 4;

/// Bits of a [`RowPosition`] that the number of the row has. Those above have the place of its table ([`TABLES_CAP`]).
const NUMBER_BITS: u32 = 48;

/// A row of one of the tables of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowPosition(u64);

impl RowPosition {
    /// Its number as a person counts.
    pub(super) fn number(self) -> u64 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }

    /// The place of its table.
    fn table(self) -> usize {
        usize::try_from(self.0 >> NUMBER_BITS).unwrap_or(usize::MAX)
    }

    /// The path of its table; empty where there is none.
    pub(super) fn path(self, tables: &[Table]) -> &str {
        tables.get(self.table()).map_or("", |table| table.path.as_str())
    }
}

/// One of the tables of a folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct TablePosition<'a> {
    pub(super) tables: &'a [Table],
    /// Its place among them.
    pub(super) index: usize,
}

impl<'a> TablePosition<'a> {
    /// Its path; empty where there is none.
    pub(super) fn path(self) -> &'a str {
        self.tables.get(self.index).map_or("", |table| table.path.as_str())
    }

    /// The row of this number.
    pub(super) fn row(self, number: u64) -> RowPosition {
        RowPosition(((self.index as u64) << NUMBER_BITS) | (number & ((1 << NUMBER_BITS) - 1)))
    }

    /// A row in words, for a warning about a row of this table: with its file where that is another one.
    pub(super) fn name_of(self, row: RowPosition) -> String {
        let number = row.number();
        if row.table() == self.index {
            format!("row {number}")
        } else {
            format!("row {number} of {}", row.path(self.tables).escape_debug())
        }
    }
}

/// A file with every column that a tidy table has.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Relative to the tree.
    pub(super) path: String,
    encoding: Encoding,
    /// Names of its columns.
    columns: Vec<String>,
    pub(super) mapping: Mapping,
}

/// A table that lacks columns of a tidy table, or whose columns have other names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteTable {
    /// The file, relative to the tree.
    pub path: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// What identifies this header.
    pub header: String,
    /// Required columns that are there.
    pub present: Vec<&'static str>,
    /// Required columns that are not there, and the column of the file that each may be.
    pub missing: Vec<(&'static str, Option<String>)>,
}

impl Table {
    /// The same with the columns that only later lines have.
    fn whole(self, tree: &Tree) -> Self {
        if self.encoding != Encoding::JsonLines {
            return self;
        }
        let Ok(rows) = open_rows::open(tree, &self.path, self.encoding) else { return self };
        let header = header_id(rows.header());
        let columns = open_rows::all_columns(tree, &self.path, self.encoding, &self.columns);
        with_columns(tree, &self.path, &header, columns, self.encoding).unwrap_or(self)
    }

    pub(super) fn is_parquet(&self) -> bool {
        self.encoding == Encoding::Parquet
    }

    /// Its rows.
    pub(super) fn rows(&self, tree: &Tree) -> Result<Box<dyn Rows>, ReadError> {
        open_rows::open_with(tree, &self.path, self.encoding, &self.columns, None)
    }

    /// Its rows, for a caller that reads all of them by itself.
    pub(super) fn rows_ahead(&self, tree: &Tree) -> Result<Box<dyn Rows>, ReadError> {
        open_rows::open_ahead(tree, &self.path, self.encoding, &self.columns)
    }

    /// Its rows from one on.
    pub(super) fn rows_from(&self, tree: &Tree, start: RowStart) -> Result<Box<dyn Rows>, ReadError> {
        open_rows::open_with(tree, &self.path, self.encoding, &self.columns, Some(start))
    }
}

/// A table by its first lines, or what it lacks; `None` = no file of rows, or one that cannot be read.
fn open_table(tree: &Tree, path: &str) -> Option<Result<Table, IncompleteTable>> {
    let encoding = Encoding::from_name(files::file_name(path))?;
    let columns = open_rows::open(tree, path, encoding).ok()?.header().to_vec();
    let header = header_id(&columns);
    let found = with_columns(tree, path, &header, columns, encoding);
    match found {
        // What it lacks may stand further down in a file of JSON Lines.
        Err(incomplete) if incomplete.is_likely() => {
            let columns = open_rows::all_columns(tree, path, encoding, &incomplete.columns);
            let is_more = columns.len() > incomplete.columns.len();
            let whole = is_more.then(|| with_columns(tree, path, &header, columns, encoding));
            Some(whole.filter(Result::is_ok).unwrap_or(Err(incomplete)))
        }
        found => Some(found),
    }
}

fn with_columns(
    tree: &Tree,
    path: &str,
    header: &str,
    columns: Vec<String>,
    encoding: Encoding,
) -> Result<Table, IncompleteTable> {
    let mapping = Mapping::new(&columns, tree.column_names().get(header));
    let missing = guesses(&columns, &mapping);
    if missing.is_empty() {
        return Ok(Table { path: path.to_owned(), encoding, columns, mapping });
    }
    let present = super::columns::COLUMNS.iter().filter(|c| c.required).map(|c| c.name);
    let present = present.filter(|name| missing.iter().all(|(missing, _)| missing != name)).collect();
    Err(IncompleteTable { path: path.to_owned(), columns, header: header.to_owned(), present, missing })
}

fn candidates(tree: &Tree, folder: &str, most: usize) -> Vec<String> {
    let entries = tree.list(folder).into_iter();
    let tables = entries.filter(|entry| !entry.is_folder() && Encoding::from_name(&entry.name).is_some());
    tables.take(most).map(|entry| join(folder, &entry.name)).collect()
}

/// The tables of a folder.
pub(super) fn tables(tree: &Tree, folder: &str) -> Vec<Table> {
    let tables =
        candidates(tree, folder, TABLES_CAP).into_iter().filter_map(|path| open_table(tree, &path)?.ok());
    tables.map(|table| table.whole(tree)).collect()
}

/// Files of a folder that look like tables and lack columns.
pub(super) fn incomplete_tables_in(tree: &Tree, folder: &str) -> Vec<IncompleteTable> {
    let incomplete =
        candidates(tree, folder, TABLES_CAP).into_iter().filter_map(|path| open_table(tree, &path)?.err());
    incomplete.filter(IncompleteTable::is_likely).collect()
}

/// Parquet files of a folder that cannot be opened, and why. Of other files their names do not say that they are tables.
pub(super) fn unreadable(tree: &Tree, folder: &str) -> Vec<(String, ReadError)> {
    let is_parquet = |path: &String| Encoding::from_name(files::file_name(path)) == Some(Encoding::Parquet);
    let opened = candidates(tree, folder, TABLES_CAP).into_iter().filter(is_parquet).filter_map(|path| {
        let error = open_rows::open(tree, &path, Encoding::Parquet).err()?;
        Some((path, error))
    });
    opened.collect()
}

/// Why a file has no rows that is a table by its name; `None` = it has, or is none by its name.
pub fn unreadable_table(tree: &Tree, path: &str) -> Option<ReadError> {
    open_rows::open(tree, path, Encoding::from_name(files::file_name(path))?).err()
}

/// Whether a folder has a table; else the one that comes closest.
pub(super) fn find_table(tree: &Tree, folder: &str) -> Result<(), Option<IncompleteTable>> {
    let mut closest: Option<IncompleteTable> = None;
    for path in candidates(tree, folder, SNIFFED) {
        match open_table(tree, &path) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(incomplete)) if closest.as_ref().is_none_or(|c| c.rank() < incomplete.rank()) => {
                closest = Some(incomplete);
            }
            _ => {}
        }
    }
    Err(closest)
}

impl IncompleteTable {
    /// How close it comes: required columns that are there, and that may be.
    fn rank(&self) -> usize {
        2 * self.present.len() + self.missing.iter().filter(|(_, guess)| guess.is_some()).count()
    }

    /// Whether it may be meant as one: a file that somebody chose is, one of a folder must have most of the columns.
    pub(super) fn is_likely(&self) -> bool {
        self.present.len() + self.missing.iter().filter(|(_, guess)| guess.is_some()).count() >= LIKELY
    }

    /// What is to be written behind `stamina ingest FILE` so that it is read: what is not guessed stands in capitals.
    pub fn suggestion(&self) -> String {
        let part = |(name, column): &(&str, Option<String>)| {
            let column = column.clone().unwrap_or_else(|| "COLUMN".to_owned());
            let plain = column.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
            if plain { format!("--map {name}={column}") } else { format!("--map '{name}={column}'") }
        };
        self.missing.iter().map(part).collect::<Vec<_>>().join(" ")
    }
}

/// Whether columns of these names look like those of a tidy table.
pub(crate) fn are_likely_columns(names: &[String]) -> bool {
    let mapping = Mapping::new(names, None);
    let required = super::columns::COLUMNS.iter().filter(|column| column.required).count();
    let unguessed = guesses(names, &mapping).iter().filter(|(_, guess)| guess.is_none()).count();
    required - unguessed >= LIKELY
}

/// Files of a tree that may be tables: in its root and the folders of the next level.
fn table_candidates(tree: &Tree) -> impl Iterator<Item = String> {
    let subfolders =
        tree.list("").into_iter().filter(files::Entry::is_folder).take(SNIFFED).map(|entry| entry.name);
    std::iter::once(String::new()).chain(subfolders).flat_map(|folder| candidates(tree, &folder, SNIFFED))
}

/// Tables of a tree that lack columns: in its root and the folders of the next level.
pub fn incomplete_tables(tree: &Tree) -> Vec<IncompleteTable> {
    const MOST: usize = 5;
    let incomplete = table_candidates(tree).filter_map(|path| open_table(tree, &path)?.err());
    incomplete.filter(|incomplete| tree.is_single() || incomplete.is_likely()).take(MOST).collect()
}

/// A table's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableHeader {
    /// What identifies its header.
    pub header: String,
    /// Names of its columns.
    pub columns: Vec<String>,
}

impl TableHeader {
    /// The column that a name means, in the spelling of the header: the one that is called so, else the only one whose name is the
    /// same as names are compared.
    pub fn column(&self, name: &str) -> Option<&str> {
        let index = column_index(&self.columns, name)?;
        self.columns.get(index).map(|column| column.trim())
    }
}

/// The headers of the tables of a tree, whether they have every column or not.
pub fn table_headers(tree: &Tree) -> Vec<TableHeader> {
    let header = |path: &str| {
        let rows = open_rows::open(tree, path, Encoding::from_name(files::file_name(path))?).ok()?;
        Some(TableHeader { header: header_id(rows.header()), columns: rows.header().to_vec() })
    };
    table_candidates(tree).filter_map(|path| header(&path)).collect()
}
