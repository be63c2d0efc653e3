//! Values out of the cells of a row: what cannot be is unknown, and is warned of.

use files::{Tree, join};
use model::{CachedInput, Tokens};

use super::cell::Cell;
use super::columns::{Field, Kind};
use super::files::TablePosition;
use super::row::Row;
use super::row_warnings::{RowAction, RowWarnings};

/// Letters of a text that is kept.
pub(super) const TEXT_CAP: usize = 8 * 1024;
/// Longest title that is made of a request.
pub(super) const TITLE_CAP: usize = 120;

/// Most seconds of an attempt or an episode, about three years.
const MOST_SECONDS: f64 = 1e8;

/// Where rows come from.
pub(super) struct Place<'a> {
    pub(super) tree: &'a Tree,
    pub(super) table: TablePosition<'a>,
    /// The folder of the table.
    pub(super) folder: &'a str,
    pub(super) path: &'a str,
    /// Columns that the tidy table does not define.
    pub(super) others: &'a [(usize, String)],
}

/// Takes values out of a row, and says which cannot be.
pub(super) struct Taker<'a, 'b> {
    pub(super) row: &'a Row<'b>,
    pub(super) place: &'a Place<'a>,
    /// The run that the row names.
    pub(super) run: &'a str,
    pub(super) warnings: &'a mut RowWarnings,
}

impl<'b> Taker<'_, 'b> {
    /// The value of a field by a rule. `None` = it is unknown, or cannot be, which is warned of.
    pub(super) fn take<T>(
        &mut self,
        field: Field,
        rule: impl FnOnce(Cell<'b>, bool) -> Option<T>,
    ) -> Option<T> {
        let cell = self.row.cell(field);
        if cell.is_unknown() {
            return None;
        }
        let taken = rule(cell, self.row.decimal_comma());
        if taken.is_none() {
            let code =
                if field.column().kind == Kind::EndReason { "table.end_reason" } else { "value.not_usable" };
            let message = format!(
                "says {} “{}”, which is no {}. It is unknown.",
                field.name(),
                cell.shown(),
                field.column().kind.words()
            );
            self.warn(code, RowAction::Differently, &message);
        }
        taken
    }

    /// Warns of the row.
    pub(super) fn warn(&mut self, code: &'static str, action: RowAction, message: &str) {
        self.warnings.add_for_run(self.run, self.place.path, self.row.number(), code, action, message);
    }

    /// A whole number.
    pub(super) fn count(&mut self, field: Field) -> Option<u32> {
        self.take(field, |cell, comma| cell.count(comma).and_then(|n| u32::try_from(n).ok()))
    }

    /// The number of the repeat that the row is of; 1 where the table does not give one. Words still tell its episode from others
    /// while rows are read, and pages would show all such repeats of a scenario under one number.
    pub(super) fn repeat(&mut self) -> u32 {
        let cell = self.row.cell(Field::Repeat);
        if cell.is_unknown() {
            return 1;
        }
        let count = cell.count(self.row.decimal_comma());
        if let Some(number) = count.and_then(|n| u32::try_from(n).ok()) {
            return number;
        }
        let reason = if count.is_some() {
            "is too large".to_owned()
        } else {
            format!("is no {}", Field::Repeat.column().kind.words())
        };
        let message = format!(
            "says {} “{}”, which {reason}. It is of an episode of its own, which is shown as repeat 1. Give a number up to {} to each repeat of a scenario: they are told apart by it.",
            Field::Repeat.name(),
            cell.shown(),
            u32::MAX
        );
        self.warn("table.repeat", RowAction::Differently, &message);
        1
    }

    /// Three counts of tokens.
    pub(super) fn tokens(&mut self, input: Field, cached: Field, output: Field) -> Tokens {
        let mut count_of = |field| self.take(field, Cell::tokens);
        Tokens { input: count_of(input), cached: count_of(cached), output: count_of(output) }
    }

    /// What the counts say of cached tokens. Where they exceed the input, that is reported.
    pub(super) fn cached_input(&mut self, tokens: &Tokens) -> CachedInput {
        let basis = CachedInput::from_counts(tokens);
        if let (CachedInput::Added, Some(input), Some(cached)) = (basis, tokens.input, tokens.cached) {
            let message = format!(
                "says {input} input and {cached} cached tokens: the input is counted without the cached ones. They are added, at every attempt of the run."
            );
            self.warn("tokens.cache_added", RowAction::Repaired, &message);
        }
        basis
    }

    /// An amount that is not negative.
    pub(super) fn amount(&mut self, field: Field) -> Option<f64> {
        self.take(field, Cell::amount)
    }

    /// Seconds. So many are of another unit, whatever the column is called: nanoseconds are integers in many files.
    pub(super) fn seconds(&mut self, field: Field) -> Option<f64> {
        let seconds = self.amount(field)?;
        if seconds <= MOST_SECONDS {
            return Some(seconds);
        }
        let message = format!(
            "says {} “{}”, which is more than three years: seconds are wanted. It is unknown.",
            field.name(),
            self.row.cell(field).shown()
        );
        self.warn("value.not_usable", RowAction::Differently, &message);
        None
    }

    /// A point in time.
    pub(super) fn time(&mut self, field: Field) -> Option<String> {
        self.take(field, |cell, _| cell.time())
    }

    /// A text, cut where it is long.
    pub(super) fn text(&self, field: Field) -> Option<String> {
        self.row.cell(field).text().map(|text| text.chars().take(TEXT_CAP).collect())
    }

    /// A file beside the table, if it is there.
    pub(super) fn file(&self, text: &str) -> Option<String> {
        let is_path = text.len() <= 1_000 && !text.contains(['\n', '\r']);
        let path = is_path.then(|| join(self.place.folder, text))?;
        self.place.tree.entry(&path).filter(|entry| !entry.is_folder()).map(|_| path)
    }
}
