//! Opens the rows of a table by what its file is.

use files::{ReadError, Tree};

use super::csv_rows::CsvRows;
use super::json_rows::{self, JsonRows};
use super::parquet_rows::ParquetRows;
use super::rows::{Encoding, RowStart, Rows};
use super::rows_ahead::RowsAhead;

/// Bytes of a CSV that is worth a thread.
const LARGE: u64 = 1 << 20;

/// Opens a table at its first row. JSON Lines have the columns of their first lines.
pub(super) fn open(tree: &Tree, path: &str, encoding: Encoding) -> Result<Box<dyn Rows>, ReadError> {
    Ok(match encoding {
        Encoding::Csv => Box::new(CsvRows::open(tree, path)?),
        Encoding::JsonLines => Box::new(JsonRows::open(tree, path)?),
        Encoding::Parquet => Box::new(ParquetRows::open(tree, path)?),
    })
}

/// Opens it with these columns, which are those of its header but for JSON Lines; at a row that [`Rows::start`] gave, or at
/// the first.
pub(super) fn open_with(
    tree: &Tree,
    path: &str,
    encoding: Encoding,
    columns: &[String],
    start: Option<RowStart>,
) -> Result<Box<dyn Rows>, ReadError> {
    let Some(start) = start else {
        return match encoding {
            Encoding::JsonLines => Ok(Box::new(JsonRows::open(tree, path)?.with_columns(columns))),
            _ => open(tree, path, encoding),
        };
    };
    Ok(match encoding {
        Encoding::Csv => Box::new(CsvRows::open(tree, path)?.starting_at(tree, path, start)?),
        Encoding::JsonLines => {
            Box::new(JsonRows::open(tree, path)?.with_columns(columns).starting_at(tree, path, start)?)
        }
        Encoding::Parquet => Box::new(ParquetRows::open(tree, path)?.starting_at(start)),
    })
}

/// Opens it at its first row for a caller that reads all rows by itself. What takes a CSV apart runs beside it, if it is worth a
/// thread.
pub(super) fn open_ahead(
    tree: &Tree,
    path: &str,
    encoding: Encoding,
    columns: &[String],
) -> Result<Box<dyn Rows>, ReadError> {
    let is_large = tree.entry(path).is_some_and(|entry| entry.size >= LARGE);
    if encoding == Encoding::Csv
        && is_large
        && let Some(rows) = RowsAhead::new(CsvRows::open(tree, path)?)
    {
        return Ok(Box::new(rows));
    }
    open_with(tree, path, encoding, columns, None)
}

/// The names of all columns of a table whose first lines have these.
pub(super) fn all_columns(tree: &Tree, path: &str, encoding: Encoding, first: &[String]) -> Vec<String> {
    match encoding {
        Encoding::JsonLines => json_rows::columns(tree, path).unwrap_or_else(|_| first.to_vec()),
        Encoding::Csv | Encoding::Parquet => first.to_vec(),
    }
}
