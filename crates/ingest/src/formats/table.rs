//! Tidy tables: anybody's results, one row an attempt, as CSV, JSON Lines or Parquet.
//!
//! A folder (or zip, or one file) is a place if a file of it has every required column of [`columns`], by its own name or by
//! the name that a user said it has ([`files::Tree::column_names`]). All tables of a folder together are one place: rows of
//! one run may stand in several.

mod cell;
pub mod columns;
mod csv_rows;
mod episode;
mod files;
mod json_rows;
mod mapping;
mod notes;
mod parquet_bounds;
mod parquet_rows;
mod rows;
mod scan;
mod thrift;

use std::collections::HashMap;

use ::files::{ReadError, Tree, parent};
use model::{Artifact, Transcript, Warning};

use crate::format::{Format, Part, PartReader, Reading, Report, Sniff, Survey};

use self::episode::{Building, Place};
use self::files::Table;
use self::notes::{Done, Notes};
use self::rows::{RowError, Rows};
use self::scan::{EpisodeKey, Piece, Row, Taken};

pub use self::files::{Headed, Near, headed, near};
pub use self::mapping::{Renamed, header_id};
pub use self::scan::{SCENARIO_SET, SCORING};

/// The word of the format.
pub const FORMAT: &str = "table";

/// Tidy tables.
#[derive(Debug, Clone, Copy)]
pub struct TidyTable;

/// Whether a file may be a table, by its name.
pub fn is_table_name(name: &str) -> bool {
    rows::Encoding::of_name(name).is_some()
}

impl Format for TidyTable {
    fn id(&self) -> &'static str {
        FORMAT
    }

    fn name(&self) -> &'static str {
        "Tidy table"
    }

    fn looked_for(&self) -> &'static str {
        "a CSV, JSON Lines or Parquet file with the columns run, harness, model, scenario, turn, attempt, passed"
    }

    fn sniff(&self, tree: &Tree, at: &str) -> Sniff {
        match files::any(tree, at) {
            Ok(()) => Sniff::Recognised,
            Err(Some(near)) if near.is_likely() => {
                let missing: Vec<&str> = near.missing.iter().map(|(name, _)| *name).collect();
                let found = format!("{} without {}", ::files::file_name(&near.path), missing.join(", "));
                Sniff::Not { found, closeness: 40 }
            }
            Err(_) => Sniff::Not { found: "none".to_owned(), closeness: 0 },
        }
    }

    fn search_below(&self) -> bool {
        true
    }

    fn survey(&self, tree: &Tree, at: &str, report: &mut Report) -> Survey {
        let tables = files::tables(tree, at);
        for near in files::lacking(tree, at) {
            let missing: Vec<&str> = near.missing.iter().map(|(name, _)| *name).collect();
            let what = format!(
                "It lacks {} of a tidy table and is not read. Opened by itself with {} it is.",
                missing.join(", "),
                near.suggestion()
            );
            report.warn(Warning::skipped(near.path, "table.columns", what));
        }
        for (path, error) in files::unreadable(tree, at) {
            report.unreadable(&path, &error, "It is left out.");
        }
        let scanned = scan::scan(tree, &tables, report);
        Survey { runs: scanned.runs, parts: scanned.parts }
    }

    fn reader(&self, tree: &Tree, at: &str) -> Box<dyn PartReader> {
        Box::new(TableReader { tables: files::tables(tree, at) })
    }

    fn transcript(&self, _: &Tree, _: &Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            what: "A tidy table has no transcripts".to_owned(),
        })
    }
}

/// Reads parts of the tables of a folder.
struct TableReader {
    tables: Vec<Table>,
}

/// Episodes while their rows come, in the order of their first rows.
#[derive(Default)]
struct Episodes {
    building: Vec<Building>,
    at: HashMap<EpisodeKey, usize>,
    key: EpisodeKey,
    last: Option<usize>,
    last_key: EpisodeKey,
}

impl Episodes {
    /// Takes a row of the episode in `self.key`.
    fn take(&mut self, row: &Row<'_>, place: &Place<'_>, notes: &mut Notes) {
        let index = match self.last.filter(|_| self.key == self.last_key) {
            Some(index) => index,
            None => match self.at.get(&self.key) {
                Some(index) => *index,
                None => {
                    let (Some(run), Some(scenario)) =
                        (row.text(columns::Field::Run), row.text(columns::Field::Scenario))
                    else {
                        return;
                    };
                    self.building.push(Building::new(run, scenario, row, place, notes));
                    self.at.insert(self.key.clone(), self.building.len() - 1);
                    self.building.len() - 1
                }
            },
        };
        self.last = Some(index);
        std::mem::swap(&mut self.key, &mut self.last_key);
        self.building[index].add(row, place, notes);
    }
}

impl TableReader {
    fn rows_in_a_row(
        tree: &Tree,
        table: &Table,
        mut rows: Box<dyn Rows>,
        episodes: &mut Episodes,
        notes: &mut Notes,
    ) {
        let place = Self::place(tree, table);
        let mut taken = Taken::default();
        while let Some(next) = rows.advance() {
            match next {
                Ok(()) => {}
                // The survey has said it.
                Err(RowError::Row(..)) => continue,
                Err(RowError::Rest(_)) => return,
            }
            let row = Row::new(rows.as_ref(), &table.mapping);
            let has_episode = row.episode(&mut episodes.key);
            // As the survey ends a part.
            if taken.is_full() && (!has_episode || episodes.key != episodes.last_key) {
                return;
            }
            taken.add(rows.as_ref());
            if has_episode {
                episodes.take(&row, &place, notes);
            } else {
                no_scenario(&row, table, notes);
            }
        }
    }

    fn share(&self, tree: &Tree, (number, of): (u64, u64), episodes: &mut Episodes, notes: &mut Notes) {
        for table in &self.tables {
            let Ok(mut rows) = table.rows(tree) else { continue };
            let place = Self::place(tree, table);
            while let Some(next) = rows.advance() {
                match next {
                    Ok(()) => {}
                    Err(RowError::Row(..)) => continue,
                    Err(RowError::Rest(_)) => break,
                }
                let row = Row::new(rows.as_ref(), &table.mapping);
                if !row.episode(&mut episodes.key) {
                    if number == 0 {
                        no_scenario(&row, table, notes);
                    }
                } else if episodes.key.share(of) == number {
                    episodes.take(&row, &place, notes);
                }
            }
        }
    }

    fn place<'a>(tree: &'a Tree, table: &'a Table) -> Place<'a> {
        Place { tree, folder: parent(&table.path), path: &table.path, others: &table.mapping.others }
    }
}

/// A row may name a run alone: that has no episode then.
fn no_scenario(row: &Row<'_>, table: &Table, notes: &mut Notes) {
    let says_more = [columns::Field::Turn, columns::Field::Attempt, columns::Field::Passed]
        .iter()
        .any(|field| !row.cell(*field).is_unknown());
    if says_more && row.cell(columns::Field::Run).text().is_some() {
        notes.row(
            &table.path,
            row.number(),
            "table.no_name",
            Done::Skipped,
            "names no scenario. It is left out.",
        );
    }
}

impl PartReader for TableReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let (mut episodes, mut notes) = (Episodes::default(), Notes::default());
        let mut path = "";
        match Piece::parse(&part.key) {
            Some(Piece::From { table, begin }) => {
                let table = self.tables.iter().find(|known| known.path == table);
                if let Some(table) = table {
                    path = &table.path;
                    match table.rows_from(tree, begin) {
                        Ok(rows) => Self::rows_in_a_row(tree, table, rows, &mut episodes, &mut notes),
                        Err(error) => report.unreadable(&table.path, &error, "Its rows are left out."),
                    }
                }
            }
            Some(Piece::Share { number, of }) => {
                if let [only] = &self.tables[..] {
                    path = &only.path;
                }
                self.share(tree, (number, of), &mut episodes, &mut notes);
            }
            None => {}
        }
        let readings = episodes.building.into_iter().map(|building| {
            let (run, episode) = building.finish(path, &mut notes);
            Reading { run, episode }
        });
        let readings = readings.collect();
        notes.settle(report);
        readings
    }
}
