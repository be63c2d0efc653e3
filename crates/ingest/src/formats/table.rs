//! Tidy tables: anybody's results, one row an attempt, as CSV, JSON Lines or Parquet.
//!
//! A folder (or zip, or one file) is a place if a file of it has every required column of [`columns`], by its own name or by
//! the name that a user gave it ([`files::Tree::column_names`]). All tables of a folder together are one place: rows of
//! one run may stand in several.

mod agreement;
mod attempt;
mod cell;
pub mod columns;
mod csv_rows;
mod cursors;
mod episode;
mod files;
mod json_rows;
mod mapping;
mod open_rows;
mod parquet_bounds;
mod parquet_durations;
mod parquet_rows;
mod row;
mod row_values;
mod row_warnings;
mod rows;
mod rows_ahead;
mod runs;
mod scan;
mod shares;

use std::collections::HashMap;
use std::sync::OnceLock;

use ::files::{ReadError, Tree, parent};
use model::{Artifact, Transcript, Warning};

use crate::format_trait::{Format, Part, PartReader, Reading, Report, Sniff, Survey};

use self::cell::Cell;
use self::cursors::Cursors;
use self::episode::EpisodeBuilder;
use self::files::{Table, TablePosition};
use self::row::{EpisodeKey, Row};
use self::row_values::Place;
use self::row_warnings::{RowAction, RowWarnings};
use self::rows::{RowError, RowStart, Rows};
use self::scan::{PartSize, Piece};
use self::shares::Shares;

pub use self::episode::FORKED;
pub(crate) use self::files::are_likely_columns;
pub use self::files::{IncompleteTable, TableHeader, incomplete_tables, table_headers, unreadable_table};
pub use self::mapping::{ColumnRenames, header_id};
pub use self::runs::{FORMAT, PLANNED_TASKS, RESTORE_BEFORE_TRY, SCENARIO_SET, SCORING};

/// Tidy tables.
#[derive(Debug, Clone, Copy)]
pub struct TidyTable;

/// Whether a file may be a table, by its name.
pub fn is_table_name(name: &str) -> bool {
    rows::Encoding::from_name(name).is_some()
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

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        match files::find_table(tree, folder) {
            Ok(()) => Sniff::Recognized,
            Err(Some(incomplete)) if incomplete.is_likely() => {
                let missing: Vec<&str> = incomplete.missing.iter().map(|(name, _)| *name).collect();
                let found =
                    format!("{} without {}", ::files::file_name(&incomplete.path), missing.join(", "));
                Sniff::Not { found, closeness: 40 }
            }
            Err(_) => Sniff::Not { found: "none".to_owned(), closeness: 0 },
        }
    }

    fn search_below(&self) -> bool {
        true
    }

    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let tables = files::tables(tree, folder);
        for incomplete in files::incomplete_tables_in(tree, folder) {
            let missing: Vec<&str> = incomplete.missing.iter().map(|(name, _)| *name).collect();
            let message = format!(
                "It lacks {} of a tidy table and is not read. Opened by itself with {} it is.",
                missing.join(", "),
                incomplete.suggestion()
            );
            report.warn(Warning::skipped(incomplete.path, "table.columns", message));
        }
        for (path, error) in files::unreadable(tree, folder) {
            report.unreadable(&path, &error, "It is left out.");
        }
        let scanned = scan::scan(tree, &tables, report);
        Survey { runs: scanned.runs, parts: scanned.parts }
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        Box::new(TableReader::new(files::tables(tree, folder)))
    }

    fn transcript(&self, _: &Tree, _: &Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            message: "A tidy table has no transcripts".to_owned(),
        })
    }
}

/// Reads parts of the tables of a folder.
struct TableReader {
    tables: Vec<Table>,
    /// The rows by share, once a share is read. `None` = there is no room for the file: each share goes over all tables, as one
    /// does whose rows cannot be read back.
    shares: OnceLock<Option<Shares>>,
    cursors: Cursors,
}

/// So many shares go over all tables themselves: less work than a copy of the rows.
const SHARES_WITHOUT_COPY: u64 = 2;
/// Rows and bytes of a share that are kept at most. A share has far less, unless few episodes have nearly all rows: names that
/// fall into one share cannot be chosen without the library's key.
const SHARE_ROWS_CAP: u64 = 100_000;
const SHARE_BYTES_CAP: u64 = 96 << 20;

/// Episodes while their rows come, in the order of their first rows.
#[derive(Default)]
struct Episodes {
    building: Vec<EpisodeBuilder>,
    index_by_key: HashMap<EpisodeKey, usize>,
    key: EpisodeKey,
    last: Option<usize>,
    last_key: EpisodeKey,
    /// Rows of a share.
    size: PartSize,
}

impl Episodes {
    /// Takes a row of the episode in `self.key`.
    fn take(&mut self, row: &Row<'_>, place: &Place<'_>, warnings: &mut RowWarnings) {
        let index = match self.last.filter(|_| self.key == self.last_key) {
            Some(index) => index,
            None => match self.index_by_key.get(&self.key) {
                Some(index) => *index,
                None => {
                    let (Some(run), Some(scenario)) =
                        (row.name(columns::Field::Run), row.name(columns::Field::Scenario))
                    else {
                        return;
                    };
                    self.building.push(EpisodeBuilder::new(run, scenario, row, place, warnings));
                    self.index_by_key.insert(self.key.clone(), self.building.len() - 1);
                    self.building.len() - 1
                }
            },
        };
        self.last = Some(index);
        std::mem::swap(&mut self.key, &mut self.last_key);
        self.building[index].add(row, place, warnings);
    }
}

impl TableReader {
    fn new(tables: Vec<Table>) -> Self {
        Self { tables, shares: OnceLock::new(), cursors: Cursors::default() }
    }

    fn rows_in_a_row(
        &self,
        tree: &Tree,
        (index, start): (usize, RowStart),
        episodes: &mut Episodes,
        warnings: &mut RowWarnings,
    ) -> Result<(), ReadError> {
        let table = &self.tables[index];
        let Some(mut rows) = self.cursors.take(tree, table, start)? else { return Ok(()) };
        let place = self.place(tree, index);
        let row_bytes = table.mapping.row_bytes();
        let mut size = PartSize::default();
        let mut next = Some(Ok(()));
        while let Some(row_reader) = next {
            match row_reader {
                Ok(()) => {
                    let row = Row::new(rows.as_ref(), &table.mapping);
                    let has_episode = row.episode(&mut episodes.key);
                    // As the survey ends a part.
                    if size.is_full() && (!has_episode || episodes.key != episodes.last_key) {
                        self.cursors.keep(tree, table, rows);
                        return Ok(());
                    }
                    size.add(rows.as_ref(), row_bytes);
                    if has_episode {
                        episodes.take(&row, &place, warnings);
                    } else {
                        no_scenario(&row, table, warnings);
                    }
                }
                // The survey has reported it.
                Err(RowError::Row(..)) => {}
                Err(RowError::Rest(_)) => return Ok(()),
            }
            next = rows.advance();
        }
        Ok(())
    }

    /// The episodes of a share from the copy of the rows. `None` = there is none, or it cannot be read to its end.
    fn share_of_copy(&self, tree: &Tree, share: (u64, u64)) -> Option<(Episodes, RowWarnings)> {
        let (number, share_count) = share;
        if share_count <= SHARES_WITHOUT_COPY {
            return None;
        }
        let (mut episodes, mut warnings) = (Episodes::default(), RowWarnings::default());
        let shares =
            self.shares.get_or_init(|| Shares::sort(tree, &self.tables, share_count).ok()).as_ref()?;
        if let Some((table, row)) = shares.left_out
            && number == 0
        {
            let message = "and those after it are left out: the rows of its episodes lie apart, and they are more than 4 GB. \
                           Sort the table by run and scenario.";
            warnings.add_for_row(
                &self.tables[table].path,
                row,
                "table.too_many_attempts",
                RowAction::Skipped,
                message,
            );
        }
        let mut rows = shares.rows(number);
        while let Some(next) = rows.advance() {
            next.ok()?;
            let index = rows.table();
            self.tables.get(index)?;
            self.take(tree, index, &rows, share, &mut episodes, &mut warnings);
        }
        Some((episodes, warnings))
    }

    /// The same from the tables themselves.
    fn share_of_tables(&self, tree: &Tree, share: (u64, u64)) -> (Episodes, RowWarnings) {
        let (mut episodes, mut warnings) = (Episodes::default(), RowWarnings::default());
        for (index, table) in self.tables.iter().enumerate() {
            let Ok(mut rows) = table.rows(tree) else { continue };
            while let Some(next) = rows.advance() {
                match next {
                    Ok(()) => {}
                    Err(RowError::Row(..)) => continue,
                    Err(RowError::Rest(_)) => break,
                }
                self.take(tree, index, rows.as_ref(), share, &mut episodes, &mut warnings);
            }
        }
        (episodes, warnings)
    }

    /// Takes a row if it is of the share.
    fn take(
        &self,
        tree: &Tree,
        index: usize,
        rows: &dyn Rows,
        (number, share_count): (u64, u64),
        episodes: &mut Episodes,
        warnings: &mut RowWarnings,
    ) {
        let table = &self.tables[index];
        let row = Row::new(rows, &table.mapping);
        if !row.episode(&mut episodes.key) {
            if number == 0 {
                no_scenario(&row, table, warnings);
            }
            return;
        }
        if episodes.key.share(share_count, tree.hash_key()) != number {
            return;
        }
        if episodes.size.exceeds(SHARE_ROWS_CAP, SHARE_BYTES_CAP) {
            let message = "has an episode beside which too many others would be kept. It is left out.";
            return warnings.add_for_row(
                &table.path,
                row.number(),
                "table.too_many_attempts",
                RowAction::Skipped,
                message,
            );
        }
        episodes.size.add(rows, table.mapping.row_bytes());
        episodes.take(&row, &self.place(tree, index), warnings);
    }

    fn place<'a>(&'a self, tree: &'a Tree, index: usize) -> Place<'a> {
        let Table { path, mapping, .. } = &self.tables[index];
        let table = TablePosition { tables: &self.tables, index };
        Place { tree, table, folder: parent(path), path, others: &mapping.others }
    }
}

/// A row may name a run alone: that has no episode then.
fn no_scenario(row: &Row<'_>, table: &Table, warnings: &mut RowWarnings) {
    let has_attempt_columns = [columns::Field::Turn, columns::Field::Attempt, columns::Field::Passed]
        .iter()
        .any(|field| !row.cell(*field).is_unknown());
    // The survey has reported a list or an object in place of a scenario.
    let is_nested = matches!(row.cell(columns::Field::Scenario), Cell::Nested(_));
    if has_attempt_columns && !is_nested && row.cell(columns::Field::Run).name().is_some() {
        warnings.add_for_row(
            &table.path,
            row.number(),
            "table.no_name",
            RowAction::Skipped,
            "names no scenario. It is left out.",
        );
    }
}

impl PartReader for TableReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let (mut episodes, mut warnings) = (Episodes::default(), RowWarnings::default());
        match Piece::parse(&part.key) {
            Some(Piece::From { table, start }) => {
                let index = self.tables.iter().position(|known| known.path == table);
                if let Some(index) = index {
                    let read = self.rows_in_a_row(tree, (index, start), &mut episodes, &mut warnings);
                    if let Err(error) = read {
                        report.unreadable(&table, &error, "Its rows are left out.");
                    }
                }
            }
            Some(Piece::Share { number, share_count }) => {
                let share = (number, share_count);
                (episodes, warnings) =
                    self.share_of_copy(tree, share).unwrap_or_else(|| self.share_of_tables(tree, share));
            }
            None => {}
        }
        let readings = episodes.building.into_iter().map(|building| {
            let (run, episode) = building.finish(&self.tables, &mut warnings);
            Reading { run, episode }
        });
        let readings = readings.collect();
        warnings.write_to(report);
        readings
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A Parquet file of so many attempts, each of a scenario of its own.
    fn parquet(rows: usize) -> Vec<u8> {
        use parquet::data_type::{ByteArray, ByteArrayType};
        use parquet::file::properties::WriterProperties;
        use parquet::file::writer::SerializedFileWriter;
        const COLUMNS: [&str; 7] = ["run", "harness", "model", "scenario", "turn", "attempt", "passed"];
        let columns = COLUMNS.map(|name| format!("required binary {name} (UTF8);")).join(" ");
        let schema =
            parquet::schema::parser::parse_message_type(&format!("message t {{ {columns} }}")).unwrap();
        let properties = WriterProperties::builder().build().into();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for name in COLUMNS {
            let value = |row: usize| match name {
                "scenario" => format!("s{row}"),
                "turn" | "attempt" | "passed" => "1".to_owned(),
                name => name.to_owned(),
            };
            let values: Vec<ByteArray> = (0..rows).map(|row| ByteArray::from(value(row).as_str())).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn parts_of_a_parquet_go_over_it_once() {
        const ROWS: usize = 90_000;
        let room = tempfile::tempdir().unwrap();
        std::fs::write(room.path().join("t.parquet"), parquet(ROWS)).unwrap();
        let tree = Tree::open(room.path()).unwrap();
        let parts = TidyTable.survey(&tree, "", &mut Report::default()).parts;
        assert_eq!(parts.len(), 5);
        let reader = TableReader::new(files::tables(&tree, ""));
        let read = |reader: &TableReader, part: &Part| -> Vec<String> {
            let readings = reader.read(&tree, part, &mut Report::default()).into_iter();
            readings.map(|reading| reading.episode.scenario).collect()
        };
        let all: Vec<String> = parts.iter().flat_map(|part| read(&reader, part)).collect();
        assert_eq!(all, (0..ROWS).map(|row| format!("s{row}")).collect::<Vec<_>>());
        assert_eq!(reader.cursors.opened.load(std::sync::atomic::Ordering::Relaxed), 1, "for five parts");
        // In any order it is the same.
        let other = TableReader::new(files::tables(&tree, ""));
        let mut repeated_names: Vec<String> =
            [4, 0, 3, 1, 2].iter().flat_map(|index| read(&other, &parts[*index])).collect();
        repeated_names.sort_unstable();
        let mut all = all;
        all.sort_unstable();
        assert_eq!(repeated_names, all);
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn shares_of_episodes_that_lie_apart_go_over_the_tables_once() {
        const SHARE_COUNT: u64 = 50;
        let room = tempfile::tempdir().unwrap();
        let mut table =
            "run,harness,model,scenario,repeat,turn,attempt,passed,cost_usd,log,mine\n".to_owned();
        for turn in 1..=3 {
            for number in 0..300 {
                let repeat = number % 2 + 1;
                writeln!(table, "a,h,m,s{number},{repeat},{turn},1,{},0.25,no.log,x{number}", turn < 3)
                    .unwrap();
            }
        }
        // A row without a scenario gives one warning.
        writeln!(table, "a,h,m,,,1,1,true,,,").unwrap();
        let path = room.path().join("apart.csv");
        std::fs::write(&path, &table).unwrap();
        let tree = Tree::open(room.path()).unwrap();
        let all = |share_count: u64, once_read: &dyn Fn()| {
            let reader = TidyTable.reader(&tree, "");
            let (mut readings, mut warnings) = (Vec::new(), Vec::new());
            for number in 0..share_count {
                let mut report = Report::default();
                let part = Part { key: Piece::Share { number, share_count }.key(), stamp: 0 };
                readings.extend(reader.read(&tree, &part, &mut report));
                warnings.extend(report.warnings);
                once_read();
            }
            readings.sort_by(|a, b| a.episode.key.cmp(&b.episode.key));
            warnings.retain(|warning| warning.code == "table.no_name");
            (readings, warnings)
        };
        let (expected, expected_warnings) = all(1, &|| {});
        assert_eq!((expected.len(), expected_warnings.len()), (300, 1));
        assert!(expected.iter().all(|reading| reading.episode.turns.len() == 3));
        // A second pass over the tables finds them empty.
        let empty = || std::fs::write(&path, table.lines().next().unwrap()).unwrap();
        assert_eq!(all(SHARE_COUNT, &empty), (expected, expected_warnings));
    }

    #[test]
    fn rows_that_cannot_be_read_back_are_read_from_the_tables() {
        const SHARE_COUNT: u64 = 5;
        let room = tempfile::tempdir().unwrap();
        let mut table = "run,harness,model,scenario,turn,attempt,passed\n".to_owned();
        for turn in 1..=2 {
            for number in 0..200 {
                writeln!(table, "a,h,m,s{number},{turn},1,true").unwrap();
            }
        }
        std::fs::write(room.path().join("apart.csv"), &table).unwrap();
        let tree = Tree::open(room.path()).unwrap();
        let reader = TableReader::new(files::tables(&tree, ""));
        let all = || -> Vec<Reading> {
            let share = |number| {
                let part = Part { key: Piece::Share { number, share_count: SHARE_COUNT }.key(), stamp: 0 };
                reader.read(&tree, &part, &mut Report::default())
            };
            (0..SHARE_COUNT).flat_map(share).collect()
        };
        let expected = all();
        assert_eq!(expected.len(), 200);
        let copy = reader.shares.get().unwrap().as_ref().unwrap();
        // In the middle of a share, and all of it.
        for bytes in [1_000, 0] {
            copy.fail_after(bytes);
            assert_eq!(all(), expected);
        }
    }
}
