//! Tables as data: a typed [`Table`] becomes CSV, Parquet, LaTeX, Markdown or HTML. As a figure ([`crate::Figure::Table`]) it
//! is drawn, and its files contain its spec.
//!
//! A column has a type (`kind`), a unit and a number of printed decimals. CSV and Parquet are for machines: columns with stable
//! names, complete numbers, unknown as an empty field or null. LaTeX, Markdown and HTML are for people: headings in words,
//! rounded numbers, the two ends of an interval in one column, unknown as a word.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod csv;
mod data_table;
mod html;
mod json_lines;
mod latex;
mod markdown;
mod parquet;
mod print;
mod serialized;
mod small_numbers;

pub use crate::svg::escape as escape_html;
pub use data_table::data_table;
pub use markdown::escape as escape_markdown;
pub use parquet::{PARQUET_SPEC_KEY, TableError, parquet_spec};
pub(crate) use print::columns;

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "serialized::SerializedTable", into = "serialized::SerializedTable")]
pub struct Table {
    /// A stable word for file names and labels: `survival`.
    pub name: String,
    /// Its content, as the start of its caption: `Survival by turn`.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with one value per column; `None` = unknown.
    pub rows: Vec<Vec<Option<Value>>>,
    /// The notes, in sentences.
    pub notes: Vec<String>,
    /// Rows with another word for missing values than that of the column, by their index (`no run`).
    pub absent: BTreeMap<usize, Cow<'static, str>>,
    /// Missing values with another word than that of their row or column, by the indices of row and column.
    pub absent_cells: BTreeMap<(usize, usize), Cow<'static, str>>,
    /// Numbers that are sums of what is known of more, by the indices of row and column: people read `≥ 2.70`.
    pub at_least: BTreeSet<(usize, usize)>,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Stable name for machines, unique in its table: `ci_low`.
    pub name: String,
    /// Heading for readers: `Mean stamina`.
    pub heading: String,
    /// Unit, if there is one: `turns`, `US$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Its type.
    #[serde(default)]
    pub kind: Kind,
    /// Decimals of printed numbers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub decimals: u8,
    /// The most that a score or share can be. One that rounds to 0 or to this and is not that is printed as `< 0.1` or `> 99.9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
    /// The word for unknown values: `unknown`, `n/a`.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub missing: Cow<'static, str>,
    /// Whether this column and the next are the ends of one interval, which is one column for people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interval: bool,
    /// Whether only files for machines have it, for example ids.
    #[serde(default, skip_serializing_if = "is_default")]
    pub for_machines: bool,
}

/// The default word for unknown values.
const UNKNOWN: &str = "unknown";

fn unknown() -> Cow<'static, str> {
    Cow::Borrowed(UNKNOWN)
}

#[expect(clippy::ptr_arg, reason = "serde gives the field as it is")]
fn is_unknown(word: &Cow<'static, str>) -> bool {
    word == UNKNOWN
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The type of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Words.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Probabilities: small ones are printed as `< 0.001`.
    P,
    /// Yes or no.
    Flag,
}

/// A value of a [`Table`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number. A number that is not finite is unknown.
    Number(f64),
    /// Any text.
    Text(String),
}

impl Column {
    /// A column of words.
    pub fn text(name: &str, heading: &str) -> Self {
        Self {
            name: name.to_owned(),
            heading: heading.to_owned(),
            unit: None,
            kind: Kind::Text,
            decimals: 0,
            top: None,
            missing: unknown(),
            interval: false,
            for_machines: false,
        }
    }

    /// A column of whole numbers.
    pub fn integer(name: &str, heading: &str) -> Self {
        Self { kind: Kind::Integer, ..Self::text(name, heading) }
    }

    /// A column of numbers, printed with `decimals`.
    pub fn number(name: &str, heading: &str, decimals: u8) -> Self {
        Self { kind: Kind::Number, decimals, ..Self::text(name, heading) }
    }

    /// A column of scores from 0 to 100.
    pub fn score(name: &str, heading: &str) -> Self {
        Self { top: Some(100.0), ..Self::number(name, heading, 1) }
    }

    /// A column of shares from 0 to 1.
    pub fn share(name: &str, heading: &str) -> Self {
        Self { top: Some(1.0), ..Self::number(name, heading, 3) }
    }

    /// A column of probabilities.
    pub fn p(name: &str, heading: &str) -> Self {
        Self { kind: Kind::P, decimals: 3, missing: Cow::Borrowed("n/a"), ..Self::text(name, heading) }
    }

    /// A column of yes and no.
    pub fn flag(name: &str, heading: &str) -> Self {
        Self { kind: Kind::Flag, ..Self::text(name, heading) }
    }

    /// The two columns of a 95 % interval: `PREFIXci_low`, `PREFIXci_high`.
    pub fn interval(prefix: &str, decimals: u8) -> [Self; 2] {
        [("ci_low", "95 % CI, low", true), ("ci_high", "95 % CI, high", false)].map(
            |(name, heading, interval)| Self {
                interval,
                missing: Cow::Borrowed("n/a"),
                ..Self::number(&format!("{prefix}{name}"), heading, decimals)
            },
        )
    }

    /// The same with the shown method: `95 % CI, bootstrap`.
    pub fn interval_by(prefix: &str, method: &str, decimals: u8) -> [Self; 2] {
        Self::interval(prefix, decimals)
            .map(|column| Self { heading: column.heading.replace("CI", &format!("CI, {method}")), ..column })
    }

    /// The same column, only in files for machines.
    #[must_use]
    pub fn for_machines(self) -> Self {
        Self { for_machines: true, ..self }
    }

    /// The same column with a unit.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Some(unit.to_owned());
        self
    }

    /// The same column with another word for unknown values.
    #[must_use]
    pub fn missing(mut self, word: &'static str) -> Self {
        self.missing = Cow::Borrowed(word);
        self
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// A known value.
pub fn known(value: impl Into<Value>) -> Option<Value> {
    Some(value.into())
}

/// A value that may be unknown.
pub fn maybe<T: Into<Value>>(value: Option<T>) -> Option<Value> {
    value.map(Into::into)
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, title: &str, columns: Vec<Column>) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
            absent: BTreeMap::new(),
            absent_cells: BTreeMap::new(),
            at_least: BTreeSet::new(),
        }
    }

    /// Adds a row. Missing values at its end are unknown, and extra values are left out.
    pub fn push(&mut self, mut row: Vec<Option<Value>>) {
        row.resize(self.columns.len(), None);
        self.rows.push(row);
    }

    /// Adds a row with `word` for its missing values.
    pub fn push_absent(&mut self, row: Vec<Option<Value>>, word: &'static str) {
        self.absent.insert(self.rows.len(), Cow::Borrowed(word));
        self.push(row);
    }

    /// Gives the missing value of the last row in this column a word of its own. Without such a column or row nothing changes.
    pub fn name_absent(&mut self, column: &str, word: &'static str) {
        if let Some(place) = self.last_row_cell(column) {
            self.absent_cells.insert(place, Cow::Borrowed(word));
        }
    }

    /// Says of the number of the last row in this column that it is the sum of what is known, and the whole may be more.
    pub fn mark_at_least(&mut self, column: &str) {
        self.at_least.extend(self.last_row_cell(column));
    }

    fn last_row_cell(&self, column: &str) -> Option<(usize, usize)> {
        let place = self.columns.iter().position(|own| own.name == column);
        self.rows.len().checked_sub(1).zip(place)
    }

    /// The table for a page, which has less room than a file for machines: numbers that are unknown in every row have no column,
    /// and a note names them.
    pub fn without_unknown(&self) -> Cow<'_, Self> {
        let is_unknown = |index: usize| {
            let column = &self.columns[index];
            let in_interval =
                column.interval || index.checked_sub(1).is_some_and(|before| self.columns[before].interval);
            !matches!(column.kind, Kind::Text)
                && column.missing == UNKNOWN
                && !column.for_machines
                && !in_interval
                && self.rows.iter().all(|row| row.get(index).is_none_or(Option::is_none))
        };
        // A row or cell with its own word for missing values shows it in its columns.
        if self.rows.is_empty() || !self.absent.is_empty() || !self.absent_cells.is_empty() {
            return Cow::Borrowed(self);
        }
        let (left_out, kept): (Vec<usize>, Vec<usize>) =
            (0..self.columns.len()).partition(|index| is_unknown(*index));
        if left_out.is_empty() {
            return Cow::Borrowed(self);
        }
        let keep = |row: &Vec<Option<Value>>| -> Vec<Option<Value>> {
            kept.iter().map(|index| row.get(*index).cloned().flatten()).collect()
        };
        let headings: Vec<&str> =
            left_out.iter().map(|index| self.columns[*index].heading.as_str()).collect();
        let unknown_for_all = format!("Unknown for all: {}.", headings.join(", "));
        Cow::Owned(Self {
            name: self.name.clone(),
            title: self.title.clone(),
            columns: kept.iter().map(|index| self.columns[*index].clone()).collect(),
            rows: self.rows.iter().map(keep).collect(),
            notes: std::iter::once(unknown_for_all).chain(self.notes.iter().cloned()).collect(),
            absent: BTreeMap::new(),
            absent_cells: BTreeMap::new(),
            at_least: (self.at_least.iter())
                .filter_map(|(row, column_index)| {
                    Some((*row, kept.iter().position(|own| own == column_index)?))
                })
                .collect(),
        })
    }

    /// RFC 4180 with a heading line, and CR LF at line ends. Numbers have the shortest form that is parsed as the same number.
    /// Unknown is empty. Yes and no are `true` and `false`. A text that a spreadsheet would evaluate begins with an apostrophe,
    /// which readers of these files take away.
    pub fn to_csv(&self) -> String {
        csv::write(self)
    }

    /// JSON Lines: one object per row by the names of the columns, with complete numbers. Unknown is `null`.
    pub fn to_json_lines(&self) -> String {
        json_lines::write(self)
    }

    /// Parquet, uncompressed, with one row group. `spec` is in the key-value metadata of the file under
    /// [`PARQUET_SPEC_KEY`].
    pub fn to_parquet(&self, spec: Option<&str>) -> Result<Vec<u8>, TableError> {
        parquet::write(self, spec)
    }

    /// A LaTeX table with booktabs rules, for `\input`, [without columns that are all unknown](Self::without_unknown). Its first
    /// lines list the needed packages.
    pub fn to_latex(&self) -> String {
        latex::write(self, None)
    }

    /// The same for a venue with this width of figures in pt: one column of two, or the page.
    pub fn to_latex_for(&self, width: f64) -> String {
        latex::write(self, Some(width))
    }

    /// A Markdown table with title and notes.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// A `<table>` element. Every text in it is escaped.
    pub fn to_html(&self) -> String {
        html::write(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leaves_out_numbers_that_are_unknown_for_all_and_says_so() {
        let columns = vec![
            Column::text("run", "Run"),
            Column::integer("tokens", "Tokens per turn"),
            Column::integer("n", "n"),
            Column::text("model", "Model"),
            Column::p("p", "p"),
        ];
        let mut table = Table::new("runs", "Runs", columns);
        table.push(vec![known("a"), None, known(3_u32), None, None]);
        table.push(vec![known("b"), None, None, None, None]);
        let shown = table.without_unknown();
        let headings: Vec<&str> = shown.columns.iter().map(|column| column.heading.as_str()).collect();
        assert_eq!(
            headings,
            ["Run", "n", "Model", "p"],
            "words stay, what one row has, and what is not defined"
        );
        assert_eq!(shown.rows[1], vec![known("b"), None, None, None]);
        assert_eq!(shown.notes, ["Unknown for all: Tokens per turn."]);

        let latex = table.to_latex();
        let (caption, rows) = latex.split_once("\\toprule").unwrap();
        assert!(caption.contains("Unknown for all: Tokens per turn.") && !rows.contains("Tokens"), "{latex}");
        assert!(rows.contains("unknown"), "{latex}");
        assert!(table.to_csv().starts_with("run,tokens,n,model,p\r\n"), "files of values have all");

        table.push(vec![known("c"), known(1_u32), None, None, None]);
        assert_eq!(*table.without_unknown(), table);
        // What is a part of a sum is said where the number stands, also where columns before it are left out.
        table.rows.pop();
        table.rows[0][2] = known(3_u32);
        table.at_least.insert((0, 2));
        assert_eq!(table.without_unknown().at_least.iter().copied().collect::<Vec<_>>(), [(0, 1)]);
        assert!(table.to_markdown().contains("≥ 3"), "{}", table.to_markdown());
        assert!(!table.to_csv().contains('≥'), "{}", table.to_csv());
        table.at_least.clear();
        table.push(vec![known("c"), known(1_u32), None, None, None]);
        // The word of a row is in its columns.
        table.rows.pop();
        table.push_absent(vec![known("d")], "no run");
        assert_eq!(*table.without_unknown(), table);
    }
}
