//! One pass over the tables of a folder, without keeping a row: which runs there are, and how they are read in parts.
//!
//! A part is some thousand rows in a row, up to the end of an episode. Where the rows of an episode lie apart, in one file or
//! in several, parts are shares of the episodes instead, for which the rows are set in order once ([`super::shares`]).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use files::{HashKey, Stamp, Tree};
use model::{Baseline, Benchmark, Run};

use crate::format::{Part, Report};

use super::FORMAT;
use super::cell::Cell;
use super::columns::Field;
use super::episode::odd_span;
use super::files::Table;
use super::mapping::Mapping;
use super::rows::{Begin, RowError, Rows, mix};
use super::warnings::{Done, RowWarnings};

/// Rows from which on a part ends with the next episode.
const PART_ROWS: u64 = 20_000;
/// Bytes of rows from which on a part ends with the next episode: an episode is kept until its part is stored.
const PART_BYTES: u64 = 32 << 20;
/// Rows of a share of the episodes, on average: several shares are in memory at once.
const SHARE_ROWS: u64 = 20_000;
/// Most episodes and scenarios that are told apart while parts are looked for. With more episodes parts are shares; of more
/// scenarios it is not said that their turns differ.
const EPISODES_CAP: usize = 7_000_000;
const SCENARIOS_CAP: usize = 1_000_000;
/// Most runs of a folder.
const RUNS_CAP: usize = 20_000;
/// Letters of a name.
const NAME_CAP: usize = 1_000;

/// A row with the meaning of its cells.
pub(super) struct Row<'a> {
    rows: &'a dyn Rows,
    mapping: &'a Mapping,
}

impl<'a> Row<'a> {
    pub(super) fn new(rows: &'a dyn Rows, mapping: &'a Mapping) -> Self {
        Self { rows, mapping }
    }

    /// The cell of a field; empty where the table has no such column.
    pub(super) fn cell(&self, field: Field) -> Cell<'a> {
        self.mapping.place(field).map_or(Cell::Empty, |at| self.rows.cell(at))
    }

    /// Whether the table has a column that counts tests.
    pub(super) fn counts_tests(&self) -> bool {
        [Field::TestsPassed, Field::TestsTotal].iter().any(|field| self.mapping.place(*field).is_some())
    }

    /// The cell of a column that the tidy table does not define.
    pub(super) fn other(&self, at: usize) -> Cell<'a> {
        self.rows.cell(at)
    }

    /// A name or words.
    pub(super) fn text(&self, field: Field) -> Option<String> {
        self.cell(field).text().map(|text| text.chars().take(NAME_CAP).collect())
    }

    /// Its number.
    pub(super) fn number(&self) -> u64 {
        self.rows.begin().row
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
                other => match other.text() {
                    Some(text) => key.0.push_str(&text),
                    None => return false,
                },
            }
            key.0.push('\u{1f}');
        }
        key.0.push_str(&self.repeat());
        true
    }

    /// Which repeat of its scenario it is of: a number however it is written, else the words that tell it from others.
    pub(super) fn repeat(&self) -> std::borrow::Cow<'a, str> {
        let cell = self.cell(Field::Repeat);
        match cell.count(self.decimal_comma()) {
            Some(number) => number.to_string().into(),
            None if cell.is_unknown() => "1".into(),
            None => cell.text().unwrap_or_default(),
        }
    }
}

/// Run, scenario and repeat in one text.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(super) struct EpisodeKey(pub(super) String);

impl EpisodeKey {
    /// Which share of the episodes it is in. Without the key nobody can choose names that fall into one.
    pub(super) fn share(&self, shares: u64, hash_key: HashKey) -> u64 {
        keyed(hash_key, &self.0) % shares.max(1)
    }

    fn hash(&self) -> u64 {
        Stamp::new().number(mix(0, self.0.as_bytes())).finish()
    }
}

fn keyed(hash_key: HashKey, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&hash_key);
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// How parts name what they read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Rows in a row, from this one on.
    From { table: String, begin: Begin },
    /// A share of the episodes.
    Share { number: u64, of: u64 },
}

impl Piece {
    pub(super) fn key(&self) -> String {
        match self {
            Self::From { table, begin } => format!("{table}#{}@{}", begin.row, begin.offset),
            Self::Share { number, of } => format!("share {number} of {of}"),
        }
    }

    pub(super) fn parse(key: &str) -> Option<Self> {
        if let Some((number, of)) = key.strip_prefix("share ").and_then(|rest| rest.split_once(" of ")) {
            return Some(Self::Share { number: number.parse().ok()?, of: of.parse().ok()? });
        }
        let (table, begin) = key.rsplit_once('#')?;
        let (row, offset) = begin.split_once('@')?;
        let begin = Begin { row: row.parse().ok()?, offset: offset.parse().ok()? };
        Some(Self::From { table: table.to_owned(), begin })
    }
}

/// What is known of the runs.
#[derive(Default)]
struct Runs {
    found: Vec<Run>,
    at: HashMap<String, usize>,
    /// Of each scenario (benchmark and name): its turns, and the row that said so.
    planned: HashMap<u64, (u64, u64)>,
    too_many: bool,
}

/// What a pass found.
pub(super) struct Scanned {
    pub(super) runs: Vec<Run>,
    pub(super) parts: Vec<Part>,
}

/// How much a part has taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Taken {
    rows: u64,
    bytes: u64,
}

impl Taken {
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
    taken: Taken,
}

/// Goes over the tables.
pub(super) fn scan(tree: &Tree, tables: &[Table], report: &mut Report) -> Scanned {
    let mut warnings = RowWarnings::default();
    let mut runs = Runs::default();
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut chunk_of: HashMap<u64, u32> = HashMap::new();
    let (mut apart, mut all) = (false, Taken::default());
    for table in tables {
        let mut rows = match table.rows(tree) {
            Ok(rows) => rows,
            Err(error) => {
                report.unreadable(&table.path, &error, "Its rows are left out.");
                continue;
            }
        };
        report.files_read += 1;
        let (mut last, mut key) = (EpisodeKey::default(), EpisodeKey::default());
        let first = chunks.len();
        let row_bytes = table.mapping.row_bytes();
        while let Some(next) = rows.advance() {
            match next {
                Ok(()) => {}
                Err(RowError::Row(code, what)) => {
                    warnings.row(
                        &table.path,
                        rows.begin().row,
                        code,
                        Done::Skipped,
                        &format!("{what}. It is left out."),
                    );
                    continue;
                }
                Err(RowError::Rest(error)) => {
                    let consequence = format!("It is read up to row {}.", rows.begin().row.saturating_sub(1));
                    report.unreadable(&table.path, &error, &consequence);
                    break;
                }
            }
            let row = Row::new(rows.as_ref(), &table.mapping);
            let has_episode = row.episode(&mut key);
            let is_new = !has_episode || key != last;
            let full = chunks.len() == first || chunks.last().is_some_and(|chunk| chunk.taken.is_full());
            if full && is_new {
                let piece = Piece::From { table: table.path.clone(), begin: rows.begin() };
                chunks.push(Chunk { piece, stamp: table.mapping.stamp(), taken: Taken::default() });
            }
            let number = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
            if is_new {
                runs.see(&row, &table.path, &mut warnings);
                if has_episode {
                    apart |= match chunk_of.get(&key.hash()) {
                        Some(known) => *known != number,
                        None if chunk_of.len() >= EPISODES_CAP => true,
                        None => chunk_of.insert(key.hash(), number).is_some(),
                    };
                    std::mem::swap(&mut last, &mut key);
                }
            }
            if let Some(chunk) = chunks.last_mut() {
                chunk.taken.add(rows.as_ref(), row_bytes);
                chunk.stamp = rows.stamp(chunk.stamp);
            }
            all.add(rows.as_ref(), row_bytes);
        }
    }
    if runs.too_many {
        warnings.row(
            "",
            1,
            "table.too_many_runs",
            Done::Skipped,
            &format!("and those after it name more than {RUNS_CAP} runs. Rows of further runs are left out."),
        );
    }
    warnings.settle(report);
    let parts = if apart {
        shares(&chunks, all, tree.hash_key())
    } else {
        chunks.into_iter().map(Chunk::part).collect()
    };
    Scanned { runs: runs.found, parts }
}

impl Chunk {
    fn part(self) -> Part {
        Part {
            key: self.piece.key(),
            stamp: Stamp::new().number(self.stamp).number(self.taken.rows).finish(),
        }
    }
}

/// The parts of episodes whose rows lie apart: any change of any file may change each, and so does another division of the
/// episodes, by another key or by the hash of another version of the standard library.
fn shares(chunks: &[Chunk], all: Taken, hash_key: HashKey) -> Vec<Part> {
    let share_count = all.rows.div_ceil(SHARE_ROWS).max(all.bytes.div_ceil(PART_BYTES)).max(1);
    let whole = Stamp::new().number(keyed(hash_key, ""));
    let whole = chunks.iter().fold(whole, |stamp, chunk| stamp.number(chunk.stamp).number(chunk.taken.rows));
    let part = |number| Part {
        key: Piece::Share { number, of: share_count }.key(),
        stamp: whole.number(number).finish(),
    };
    (0..share_count).map(part).collect()
}

impl Runs {
    /// Looks at the first row of some of an episode.
    fn see(&mut self, row: &Row<'_>, path: &str, warnings: &mut RowWarnings) {
        let Some(key) = row.text(Field::Run) else {
            return warnings.row(
                path,
                row.number(),
                "table.no_name",
                Done::Skipped,
                "names no run. It is left out.",
            );
        };
        let index = match self.at.get(&key) {
            Some(index) => *index,
            None if self.found.len() >= RUNS_CAP => {
                self.too_many = true;
                return;
            }
            None => {
                let run = run(row, &key, path, warnings);
                self.at.insert(key.clone(), self.found.len());
                self.found.push(run);
                self.found.len() - 1
            }
        };
        let run = &mut self.found[index];
        for (field, known) in [(Field::Harness, &mut run.harness), (Field::Model, &mut run.model)] {
            match (row.cell(field).text(), known.as_deref()) {
                (Some(new), Some(known)) if new != known => {
                    let what = format!(
                        "says {} “{}” of a run that had “{known}” before. The first is taken.",
                        field.name(),
                        Cell::Text(&new).shown()
                    );
                    warnings.of_run(
                        &key,
                        path,
                        row.number(),
                        "table.contradiction",
                        Done::Differently,
                        &what,
                    );
                }
                (Some(new), None) => *known = Some(new.chars().take(NAME_CAP).collect()),
                _ => {}
            }
        }
        self.see_planned(row, &key, path, warnings);
    }

    /// A scenario has as many turns in every run.
    fn see_planned(&mut self, row: &Row<'_>, run: &str, path: &str, warnings: &mut RowWarnings) {
        let Some(turns) = row.cell(Field::PlannedTurns).count(row.decimal_comma()) else { return };
        let name = |field| row.cell(field).text().unwrap_or_default();
        let scenario = Stamp::new()
            .text(&name(Field::Benchmark))
            .text(&name(Field::ScenarioSet))
            .text(&name(Field::Scenario));
        let scenario = scenario.finish();
        if self.planned.len() >= SCENARIOS_CAP && !self.planned.contains_key(&scenario) {
            return;
        }
        let (known, first) = *self.planned.entry(scenario).or_insert((turns, row.number()));
        if known != turns {
            let what = format!(
                "says planned_turns {turns} of scenario “{}”, of which row {first} says {known}. Each episode has its own.",
                Cell::Text(&name(Field::Scenario)).shown()
            );
            warnings.of_run(run, path, row.number(), "table.contradiction", Done::Differently, &what);
        }
    }
}

/// A run from its first row.
fn run(row: &Row<'_>, key: &str, path: &str, warnings: &mut RowWarnings) -> Run {
    let (name, title) = (row.text(Field::Benchmark), row.text(Field::BenchmarkName));
    let benchmark = match (name, title) {
        (Some(key), title) => Benchmark { name: title.unwrap_or_else(|| key.clone()), key },
        (None, _) => Benchmark { key: FORMAT.to_owned(), name: "Tidy table".to_owned() },
    };
    let mut run = Run::unknown(key, benchmark);
    let comma = row.decimal_comma();
    let mut odd = |field: Field| {
        let cell = row.cell(field);
        if !cell.is_unknown() {
            let what = format!(
                "says {} “{}”, which is no {}. It is unknown.",
                field.name(),
                cell.shown(),
                field.column().kind.words()
            );
            warnings.of_run(key, path, row.number(), "value.not_usable", Done::Differently, &what);
        }
    };
    run.harness = row.text(Field::Harness);
    run.model = row.text(Field::Model);
    run.provider = row.text(Field::Provider);
    run.harness_version = row.text(Field::HarnessVersion);
    run.runner = row.text(Field::Runner).map(|name| (name, row.text(Field::RunnerVersion)));
    run.baseline = run.harness.as_deref().and_then(Baseline::of_harness);
    run.simulated = row.cell(Field::Simulated).flag().unwrap_or_else(|| {
        odd(Field::Simulated);
        false
    });
    let mut count = |field: Field| {
        let found = row.cell(field).count(comma).and_then(|n| u32::try_from(n).ok());
        if found.is_none() {
            odd(field);
        }
        found
    };
    run.planned_episodes = count(Field::PlannedEpisodes);
    run.attempt_limit = count(Field::AttemptLimit).filter(|n| *n > 0);
    for (field, time) in
        [(Field::RunStartedAt, &mut run.started_at), (Field::RunFinishedAt, &mut run.finished_at)]
    {
        *time = row.cell(field).time();
        if time.is_none() {
            odd(field);
        }
    }
    let span = odd_span(
        (Field::RunStartedAt, run.started_at.as_deref()),
        (Field::RunFinishedAt, run.finished_at.as_deref()),
    );
    if let Some(what) = span {
        warnings.of_run(key, path, row.number(), "value.not_usable", Done::Differently, &what);
    }
    run.invalid = row.text(Field::Invalid);
    for (field, setting) in [(Field::ScenarioSet, SCENARIO_SET), (Field::Scoring, SCORING)] {
        if let Some(text) = row.text(field) {
            run.settings.insert(setting.to_owned(), text.into());
        }
    }
    // A table that counts no tests has no shares to score by.
    if !row.counts_tests() {
        run.settings.entry(SCORING.to_owned()).or_insert_with(|| "turns".into());
    }
    run
}

/// Settings of a run that a table gives.
pub const SCENARIO_SET: &str = "scenario_set";
/// The same: `turns` where a turn scores as a whole.
pub const SCORING: &str = "scoring";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_part_says_what_it_reads() {
        let pieces = [
            Piece::From { table: "a#b/c@d.csv".to_owned(), begin: Begin { row: 20_001, offset: 1_234 } },
            Piece::Share { number: 3, of: 17 },
        ];
        for piece in pieces {
            assert_eq!(Piece::parse(&piece.key()), Some(piece));
        }
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn names_that_were_chosen_for_one_share_are_in_all_of_them_with_another_key() {
        const OF: u64 = 50;
        let (known, secret): (HashKey, HashKey) = ([0; 16], [7; 16]);
        let names = (0..100_000).map(|number| EpisodeKey(format!("run\u{1f}s{number}\u{1f}1")));
        let chosen: Vec<EpisodeKey> = names.filter(|key| key.share(OF, known) == 0).collect();
        assert!(chosen.len() > 1_000, "{}", chosen.len());
        let mut counts = vec![0; OF as usize];
        for key in &chosen {
            counts[key.share(OF, secret) as usize] += 1;
        }
        let average = chosen.len() / OF as usize;
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
        let (without, one) = (parts(None), parts(Some([1; 16])));
        assert_eq!(without.len(), 3);
        assert_eq!(one, parts(Some([1; 16])));
        for (part, other) in without.iter().zip(&one) {
            assert_eq!(part.key, other.key);
            assert_ne!(part.stamp, other.stamp);
        }
    }
}
