//! A row with the meaning of its cells, and which episode it is of.

use std::hash::{DefaultHasher, Hasher as _};

use files::{HashKey, Stamp};

use super::cell::Cell;
use super::columns::Field;
use super::mapping::Mapping;
use super::rows::{Rows, hash_bytes};
use crate::readers::clock;

/// Letters of a name.
pub(super) const NAME_CAP: usize = 1_000;

/// A row with the meaning of its cells.
pub(super) struct Row<'a> {
    rows: &'a dyn Rows,
    mapping: &'a Mapping,
}

impl<'a> Row<'a> {
    /// The row at which the rows are.
    pub(super) fn new(rows: &'a dyn Rows, mapping: &'a Mapping) -> Self {
        Self { rows, mapping }
    }

    /// The cell of a field; empty where the table has no such column.
    pub(super) fn cell(&self, field: Field) -> Cell<'a> {
        self.mapping.place(field).map_or(Cell::Empty, |index| self.rows.cell(index))
    }

    /// Whether the table has a column that counts tests.
    pub(super) fn counts_tests(&self) -> bool {
        [Field::TestsPassed, Field::TestsTotal].iter().any(|field| self.mapping.place(*field).is_some())
    }

    /// The cell of a column that the tidy table does not define.
    pub(super) fn other_cell(&self, column: usize) -> Cell<'a> {
        self.rows.cell(column)
    }

    /// Words.
    pub(super) fn text(&self, field: Field) -> Option<String> {
        self.cell(field).text().map(|text| text.chars().take(NAME_CAP).collect())
    }

    /// The name of a run or a scenario, which a list or an object is not.
    pub(super) fn name(&self, field: Field) -> Option<String> {
        self.cell(field).name().map(|name| name.chars().take(NAME_CAP).collect())
    }

    /// Says of a list or an object that a name is wanted, what is done, and how a key of an object is taken. `None` = the cell
    /// is neither.
    pub(super) fn nested_name(&self, field: Field, consequence: &str) -> Option<String> {
        let cell = self.cell(field);
        let Cell::Nested(text) = cell else { return None };
        let shown = cell.shown();
        let Some(keys) = text.strip_prefix("{\"") else {
            return Some(format!("“{shown}”, which is a list and no name. {consequence}"));
        };
        let place = self.mapping.place(field);
        let column =
            place.and_then(|index| self.rows.header().get(index)).map_or(field.name(), String::as_str);
        let key = keys.split('"').next().unwrap_or_default();
        let hint = format!("--map {}={column}.{key}", field.name());
        let hint = Cell::Text(&hint).shown();
        Some(format!("“{shown}”, which is an object and no name. {consequence} “{hint}” takes a part of it."))
    }

    /// Its number.
    pub(super) fn number(&self) -> u64 {
        self.rows.start().row
    }

    /// Whether numbers may have a comma.
    pub(super) fn decimal_comma(&self) -> bool {
        self.rows.decimal_comma()
    }

    /// Which episode it is of: run, scenario, repeat. `false` = it names no run, or no scenario.
    pub(super) fn episode(&self, key: &mut EpisodeKey) -> bool {
        key.0.clear();
        for field in [Field::Run, Field::Scenario] {
            match self.cell(field) {
                Cell::Text(text) => key.0.push_str(text.trim()),
                other => match other.name() {
                    Some(text) => key.0.push_str(&text),
                    None => return false,
                },
            }
            key.0.push('\u{1f}');
        }
        key.0.push_str(&self.repeat());
        true
    }

    /// Takes the harness and the model that it names. Whether one is another than before. Nearly every row names the same: then
    /// its bytes are compared and nothing is copied.
    pub(super) fn take_player(&self, known: &mut Player) -> bool {
        let mut is_other = false;
        for (field, known) in [(Field::Harness, &mut known.harness), (Field::Model, &mut known.model)] {
            let cell = self.cell(field);
            let is_same = match cell {
                Cell::Text(text) => text.trim() == known.as_str(),
                Cell::Empty => known.is_empty(),
                _ => false,
            };
            if !is_same {
                let text = cell.name().unwrap_or_default();
                is_other |= text != known.as_str();
                known.clear();
                known.push_str(&text);
            }
        }
        is_other
    }

    /// Which repeat of its scenario it is of: a number however it is written, else the words that identify it.
    pub(super) fn repeat(&self) -> std::borrow::Cow<'a, str> {
        let cell = self.cell(Field::Repeat);
        match cell.count(self.decimal_comma()) {
            Some(number) => number.to_string().into(),
            None if cell.is_unknown() => "1".into(),
            None => cell.text().unwrap_or_default(),
        }
    }
}

/// The harness and the model that a row names.
#[derive(Debug, Default)]
pub(super) struct Player {
    harness: String,
    model: String,
}

/// Run, scenario and repeat in one text.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(super) struct EpisodeKey(pub(super) String);

impl EpisodeKey {
    /// Which share of the episodes it is in. Without the key no writer of a table can choose names that fall into one.
    pub(super) fn share(&self, shares: u64, hash_key: HashKey) -> u64 {
        keyed_hash(hash_key, &self.0) % shares.max(1)
    }

    /// The same for equal episodes.
    pub(super) fn hash(&self) -> u64 {
        Stamp::new().number(hash_bytes(0, self.0.as_bytes())).finish()
    }
}

/// A hash that cannot be predicted without the key.
pub(super) fn keyed_hash(hash_key: HashKey, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&hash_key);
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// What is wrong with a begin and an end whose distance is unknown. Both are kept as they are.
pub(super) fn odd_span(start: (Field, Option<&str>), end: (Field, Option<&str>)) -> Option<String> {
    let ((begin_field, start), (end_field, end)) = (start, end);
    let (start, end) = (start?, end?);
    clock::seconds_between(start, end).is_none().then(|| {
        format!(
            "says {} “{}” and {} “{}”: the end is before the begin, or one of them has no zone. The time between is unknown.",
            begin_field.name(),
            Cell::Text(start).shown(),
            end_field.name(),
            Cell::Text(end).shown()
        )
    })
}
