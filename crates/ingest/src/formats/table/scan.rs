//! One pass over the tables of a folder, without keeping a row: which runs there are, and how they are read in parts.
//!
//! A part is some thousand rows in a row, up to the end of an episode. Where the rows of an episode lie apart, in one file or
//! in several, parts are shares of the episodes instead, for which the rows are set in order once ([`super::shares`]).

use std::collections::HashMap;

use files::{HashKey, Stamp, Tree};
use model::{Run, Warning};

use crate::format_trait::{Part, Report};

use super::cell::Cell;
use super::files::{Table, TablePosition};
use super::row::{EpisodeKey, Player, Row, keyed_hash};
use super::row_warnings::{RowAction, RowWarnings};
use super::rows::{RowError, RowStart, Rows};
use super::runs::{RUNS_CAP, Runs};

/// Rows from which on a part ends with the next episode.
const PART_ROWS: u64 = 20_000;
/// Bytes of rows from which on a part ends with the next episode: an episode is kept until its part is stored.
const PART_BYTES: u64 = 32 << 20;
/// Rows of a share of the episodes, on average: several shares are in memory at once.
const SHARE_ROWS: u64 = 20_000;
/// Most episodes that are distinguished while parts are looked for. With more of them parts are shares.
const EPISODES_CAP: usize = 7_000_000;

/// How parts name what they read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Rows in a row, from this one on.
    From { table: String, start: RowStart },
    /// A share of the episodes.
    Share { number: u64, share_count: u64 },
}

impl Piece {
    pub(super) fn key(&self) -> String {
        match self {
            Self::From { table, start } => format!("{table}#{}@{}", start.row, start.offset),
            Self::Share { number, share_count } => format!("share {number} of {share_count}"),
        }
    }

    pub(super) fn parse(key: &str) -> Option<Self> {
        if let Some((number, share_count)) =
            key.strip_prefix("share ").and_then(|rest| rest.split_once(" of "))
        {
            return Some(Self::Share {
                number: number.parse().ok()?,
                share_count: share_count.parse().ok()?,
            });
        }
        let (table, start) = key.rsplit_once('#')?;
        let (row, offset) = start.split_once('@')?;
        let start = RowStart { row: row.parse().ok()?, offset: offset.parse().ok()? };
        Some(Self::From { table: table.to_owned(), start })
    }
}

/// What a pass found.
pub(super) struct ScanResult {
    pub(super) runs: Vec<Run>,
    pub(super) parts: Vec<Part>,
}

/// How much a part has taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PartSize {
    rows: u64,
    bytes: u64,
}

impl PartSize {
    /// Takes a row; `row_bytes` are those of its [`Mapping`](super::mapping::Mapping::row_bytes).
    pub(super) fn add(&mut self, rows: &dyn Rows, row_bytes: u64) {
        self.rows += 1;
        self.bytes = self.bytes.saturating_add(rows.bytes()).saturating_add(row_bytes);
    }

    /// Whether it has reached a number of rows or of bytes.
    pub(super) fn exceeds(self, rows: u64, bytes: u64) -> bool {
        self.rows >= rows || self.bytes >= bytes
    }

    /// Whether the part ends with the next episode.
    pub(super) fn is_full(self) -> bool {
        self.exceeds(PART_ROWS, PART_BYTES)
    }
}

/// The rows in a row that are one part.
struct Chunk {
    piece: Piece,
    stamp: u64,
    size: PartSize,
}

/// Goes over the tables.
pub(super) fn scan(tree: &Tree, tables: &[Table], report: &mut Report) -> ScanResult {
    let mut warnings = RowWarnings::default();
    let mut runs = Runs::default();
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut chunk_of: HashMap<u64, u32> = HashMap::new();
    let (mut apart, mut all) = (false, PartSize::default());
    for (index, table) in tables.iter().enumerate() {
        let mut rows = match table.rows_ahead(tree) {
            Ok(rows) => rows,
            Err(error) => {
                report.unreadable(&table.path, &error, "Its rows are left out.");
                continue;
            }
        };
        report.files_read += 1;
        report_columns(table, rows.unread(), report);
        let (mut last, mut key) = (EpisodeKey::default(), EpisodeKey::default());
        let mut player = Player::default();
        let first = chunks.len();
        let row_bytes = table.mapping.row_bytes();
        while let Some(next) = rows.advance() {
            match next {
                Ok(()) => {}
                Err(RowError::Row(code, message)) => {
                    warnings.add_for_row(
                        &table.path,
                        rows.start().row,
                        code,
                        RowAction::Skipped,
                        &format!("{message}. It is left out."),
                    );
                    continue;
                }
                Err(RowError::Rest(error)) => {
                    let consequence = format!("It is read up to row {}.", rows.start().row.saturating_sub(1));
                    report.unreadable(&table.path, &error, &consequence);
                    break;
                }
            }
            let row = Row::new(rows.as_ref(), &table.mapping);
            let has_episode = row.episode(&mut key);
            let is_new = !has_episode || key != last;
            let full = chunks.len() == first || chunks.last().is_some_and(|chunk| chunk.size.is_full());
            if full && is_new {
                let piece = Piece::From { table: table.path.clone(), start: rows.start() };
                chunks.push(Chunk { piece, stamp: table.mapping.stamp(), size: PartSize::default() });
            }
            let number = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
            // In any case: the next row is compared with this one.
            let is_other_player = row.take_player(&mut player);
            if is_new || is_other_player {
                runs.add_row(&row, TablePosition { tables, index }, &mut warnings);
            }
            if is_new && has_episode {
                apart |= match chunk_of.get(&key.hash()) {
                    Some(known) => *known != number,
                    None if chunk_of.len() >= EPISODES_CAP => true,
                    None => chunk_of.insert(key.hash(), number).is_some(),
                };
                std::mem::swap(&mut last, &mut key);
            }
            if let Some(chunk) = chunks.last_mut() {
                chunk.size.add(rows.as_ref(), row_bytes);
                chunk.stamp = rows.stamp(chunk.stamp);
            }
            all.add(rows.as_ref(), row_bytes);
        }
    }
    if runs.too_many {
        warnings.add_for_row(
            "",
            1,
            "table.too_many_runs",
            RowAction::Skipped,
            &format!("and those after it name more than {RUNS_CAP} runs. Rows of further runs are left out."),
        );
    }
    warnings.write_to(report);
    let parts = if apart {
        shares(&chunks, all, tree.hash_key())
    } else {
        chunks.into_iter().map(Chunk::part).collect()
    };
    ScanResult { runs: runs.found, parts }
}

/// Names of columns that a warning lists.
const COLUMNS_NAMED: usize = 5;

/// Says which columns of a table are not what they look like.
fn report_columns(table: &Table, unread: &[String], report: &mut Report) {
    let list = |names: &[String]| {
        let named = names.iter().take(COLUMNS_NAMED).map(|name| format!("“{}”", Cell::Text(name).shown()));
        let list = named.collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(COLUMNS_NAMED) {
            0 => list,
            more => format!("{list} and {more} more"),
        }
    };
    let mut repeated = table.mapping.repeated.clone();
    repeated.sort_unstable();
    repeated.dedup();
    if !repeated.is_empty() {
        let message = format!(
            "It has more than one column with the name {}. The first one of each name is taken.",
            list(&repeated)
        );
        report.warn(Warning::read_differently(&table.path, "table.column_twice", message));
    }
    if !unread.is_empty() {
        let names = list(unread);
        let message = match unread.len() {
            1 => format!("It has a column of a type that is not read: {names}. What it says is unknown."),
            _ => format!("It has columns of types that are not read: {names}. What they say is unknown."),
        };
        report.warn(Warning::skipped(&table.path, "table.column_type", message));
    }
}

impl Chunk {
    fn part(self) -> Part {
        Part { key: self.piece.key(), stamp: Stamp::new().number(self.stamp).number(self.size.rows).finish() }
    }
}

/// The parts of episodes whose rows lie apart: any change of any file may change each, and so does another division of the
/// episodes, by another key or by the hash of another version of the standard library.
fn shares(chunks: &[Chunk], all: PartSize, hash_key: HashKey) -> Vec<Part> {
    let share_count = all.rows.div_ceil(SHARE_ROWS).max(all.bytes.div_ceil(PART_BYTES)).max(1);
    let whole = Stamp::new().number(keyed_hash(hash_key, ""));
    let whole = chunks.iter().fold(whole, |stamp, chunk| stamp.number(chunk.stamp).number(chunk.size.rows));
    let part = |number| Part {
        key: Piece::Share { number, share_count }.key(),
        stamp: whole.number(number).finish(),
    };
    (0..share_count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_part_says_what_it_reads() {
        let pieces = [
            Piece::From { table: "a#b/c@d.csv".to_owned(), start: RowStart { row: 20_001, offset: 1_234 } },
            Piece::Share { number: 3, share_count: 17 },
        ];
        for piece in pieces {
            assert_eq!(Piece::parse(&piece.key()), Some(piece));
        }
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn names_that_were_chosen_for_one_share_are_in_all_of_them_with_another_key() {
        const SHARE_COUNT: u64 = 50;
        let (known, secret): (HashKey, HashKey) = ([0; 16], [7; 16]);
        let names = (0..100_000).map(|number| EpisodeKey(format!("run\u{1f}s{number}\u{1f}1")));
        let chosen: Vec<EpisodeKey> = names.filter(|key| key.share(SHARE_COUNT, known) == 0).collect();
        assert!(chosen.len() > 1_000, "{}", chosen.len());
        let mut counts = vec![0; SHARE_COUNT as usize];
        for key in &chosen {
            counts[key.share(SHARE_COUNT, secret) as usize] += 1;
        }
        let average = chosen.len() / SHARE_COUNT as usize;
        assert!(counts.iter().all(|count| (average / 3..average * 3).contains(count)), "{counts:?}");
    }

    #[test]
    fn parts_are_read_again_where_another_key_divides_the_episodes() {
        let room = tempfile::tempdir().unwrap();
        let mut table = "run,harness,model,scenario,turn,attempt,passed\n".to_owned();
        for turn in 1..=2 {
            for number in 0..25_000 {
                table.push_str(&format!("a,h,m,s{number},{turn},1,true\n"));
            }
        }
        std::fs::write(room.path().join("apart.csv"), table).unwrap();
        let parts = |key: Option<HashKey>| {
            let tree = Tree::open(room.path()).unwrap();
            if let Some(key) = key {
                tree.set_hash_key(key);
            }
            let tables = super::super::files::tables(&tree, "");
            scan(&tree, &tables, &mut Report::default()).parts
        };
        let (unkeyed, keyed) = (parts(None), parts(Some([1; 16])));
        assert_eq!(unkeyed.len(), 3);
        assert_eq!(keyed, parts(Some([1; 16])));
        for (part, other) in unkeyed.iter().zip(&keyed) {
            assert_eq!(part.key, other.key);
            assert_ne!(part.stamp, other.stamp);
        }
    }
}
