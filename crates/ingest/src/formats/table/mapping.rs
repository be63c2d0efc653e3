//! From the header of a table to its columns.

use std::collections::{BTreeMap, HashSet};

use files::Stamp;
use model::Artifact;

use super::columns::{COLUMNS, COUNT, Column, Field};

/// Columns of others that are kept.
pub(super) const OTHERS_CAP: usize = 64;
/// Bytes of an attempt, beside its texts.
pub(super) const ATTEMPT: usize = 700;
/// Bytes of a value of a column of others, beside its name and its text.
pub(super) const VALUE: usize = 128;
/// Bytes of the list of an attempt's files, beside their paths: the first one makes room for four.
pub(super) const FILES: usize = 4 * size_of::<Artifact>();

/// Columns that a user named: the name in the tidy table, the name in the header.
pub type ColumnRenames = BTreeMap<String, String>;

/// A name as names are compared: lower case, every other sign an underscore.
pub(super) fn plain(name: &str) -> String {
    let mut out = String::new();
    for letter in name.trim().chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            out.push(letter);
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Where the column stands that a user means by a name: the one that is called so, else the only one whose name is the same as
/// names are compared.
pub(super) fn column_index(header: &[String], name: &str) -> Option<usize> {
    let exact = header.iter().position(|column| column.trim() == name.trim());
    exact.or_else(|| {
        let wanted = Some(plain(name)).filter(|wanted| !wanted.is_empty())?;
        let mut alike = (0..header.len()).filter(|index| plain(&header[*index]) == wanted);
        let first = alike.next();
        first.filter(|_| alike.next().is_none())
    })
}

/// Whether a column of a tidy table has this name.
pub(super) fn is_known_name(name: &str) -> bool {
    let name = plain(name);
    COLUMNS.iter().any(|column| column.also.iter().chain([&column.name]).any(|known| *known == name))
}

/// What identifies a header, whatever file it stands in.
pub fn header_id(header: &[String]) -> String {
    let stamp = header.iter().fold(Stamp::new(), |stamp, name| stamp.text(&plain(name))).finish();
    format!("{stamp:016x}")
}

/// Which column of a table is which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    /// Place in the header, by field.
    places: [Option<usize>; COUNT],
    /// Columns that the tidy table does not define: place and name.
    pub(super) others: Vec<(usize, String)>,
    /// Names, as they stand, of columns that are not what they would be because one before them has the name.
    pub(super) repeated: Vec<String>,
}

impl Mapping {
    /// The mapping of a header: first the user's names, then equal names, then other known names.
    pub(super) fn new(header: &[String], renames: Option<&ColumnRenames>) -> Self {
        let names: Vec<String> = header.iter().map(|name| plain(name)).collect();
        let mut places = [None; COUNT];
        let mut taken = vec![false; names.len()];
        let take =
            |column: &Column, wanted: &str, places: &mut [Option<usize>; COUNT], taken: &mut [bool]| {
                let place = &mut places[column.field as usize];
                if place.is_some() {
                    return;
                }
                let wanted = plain(wanted);
                if let Some(position) =
                    (0..names.len()).find(|position| !taken[*position] && names[*position] == wanted)
                {
                    taken[position] = true;
                    *place = Some(position);
                }
            };
        for column in COLUMNS {
            let Some(name) = renames.and_then(|renames| renames.get(column.name)) else { continue };
            // The spelling that was chosen comes before another one of the same name.
            match column_index(header, name).filter(|position| !taken[*position]) {
                Some(position) => {
                    taken[position] = true;
                    places[column.field as usize] = Some(position);
                }
                None => take(column, name, &mut places, &mut taken),
            }
        }
        for column in COLUMNS {
            take(column, column.name, &mut places, &mut taken);
        }
        for column in COLUMNS {
            for name in column.also {
                take(column, name, &mut places, &mut taken);
            }
        }
        let read: HashSet<&str> =
            (0..names.len()).filter(|index| taken[*index]).map(|index| names[index].as_str()).collect();
        let (mut others, mut repeated, mut seen_names) = (Vec::new(), Vec::new(), HashSet::new());
        for (index, name) in header.iter().map(|name| name.trim()).enumerate() {
            let is_first = seen_names.insert(name);
            if taken[index] || names[index].is_empty() {
                continue;
            }
            if !is_first || read.contains(names[index].as_str()) {
                repeated.push(name.to_owned());
            }
            if is_first {
                others.push((index, name.to_owned()));
            }
        }
        Self { places, others, repeated }
    }

    /// Where a field stands.
    pub(super) fn place(&self, field: Field) -> Option<usize> {
        self.places[field as usize]
    }

    /// Every column that is read, in ascending order.
    pub(super) fn columns(&self) -> Vec<usize> {
        let known = self.places.iter().flatten().copied();
        let others = self.others.iter().take(OTHERS_CAP).map(|(index, _)| *index);
        let mut columns: Vec<usize> = known.chain(others).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Bytes that a row keeps at most beside its texts: an attempt, its files, and the columns of others with their names.
    pub(super) fn row_bytes(&self) -> u64 {
        let others = self.others.iter().take(OTHERS_CAP).map(|(_, name)| name.len() + VALUE);
        let files = self.places[Field::Log as usize].map_or(0, |_| FILES);
        (ATTEMPT + files + others.sum::<usize>()) as u64
    }

    /// The required columns that are not there.
    pub(super) fn missing(&self) -> Vec<&'static Column> {
        COLUMNS.iter().filter(|c| c.required && self.places[c.field as usize].is_none()).collect()
    }

    /// What it says of itself, so that a table is read again when it is mapped otherwise.
    pub(super) fn stamp(&self) -> u64 {
        let place = |place: &Option<usize>| place.map_or(0, |index| index as u64 + 1);
        let stamp = self.places.iter().fold(Stamp::new(), |stamp, index| stamp.number(place(index)));
        self.others.iter().fold(stamp, |stamp, (index, name)| stamp.number(*index as u64).text(name)).finish()
    }
}

/// Names that other tables often use for a column, beside [`Column::also`].
const GUESSES: &[(&str, &[&str])] = &[
    ("run", &["run_id", "run_name", "experiment", "job", "config", "id"]),
    ("harness", &["agent_name", "agent_type", "framework", "tool", "system", "cli"]),
    ("model", &["model_id", "model_name", "llm", "engine"]),
    (
        "scenario",
        &["scenario_id", "task_name", "instance", "instance_id", "problem", "episode", "case", "example"],
    ),
    ("turn", &["round", "step", "turn_number", "turn_index", "iteration", "stage", "k"]),
    ("attempt", &["try", "retry", "attempt_number", "trial", "sample", "n_try", "attempt_index"]),
    (
        "passed",
        &["ok", "success", "pass", "resolved", "is_resolved", "solved", "correct", "result", "successful"],
    ),
];

/// A column of the tidy table and the column of the header that it may be.
pub(super) fn guesses(header: &[String], mapping: &Mapping) -> Vec<(&'static str, Option<String>)> {
    // What has the name of a column of the tidy table was given to no column because a user gave that one another: it is none
    // whose name only looks alike.
    let mut free: Vec<&(usize, String)> =
        mapping.others.iter().filter(|(_, name)| !is_known_name(name)).collect();
    let mut out = Vec::new();
    for column in mapping.missing() {
        let close = GUESSES.iter().find(|(name, _)| *name == column.name).map_or(&[][..], |(_, close)| close);
        let rank = |(_, name): &&(usize, String)| {
            let name = plain(name);
            let listed = close.iter().position(|close| *close == name);
            let containing = name.contains(column.name).then_some(close.len());
            let misspelled = (distance(&name, column.name) <= 2 && name.len() > 3).then_some(close.len() + 1);
            listed.or(containing).or(misspelled)
        };
        let best = free.iter().enumerate().filter_map(|(index, other)| Some((rank(other)?, index))).min();
        let found = best.map(|(_, index)| free.remove(index).1.clone());
        out.push((column.name, found));
    }
    debug_assert!(header.len() >= mapping.others.len());
    out
}

/// How many letters are to be changed, added or taken away (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &str) -> Vec<String> {
        names.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn equal_names_are_found_however_they_are_written() {
        let names = header("Run, Harness,MODEL,scenario,Turn,attempt,passed,Tests Passed,seconds,note");
        let mapping = Mapping::new(&names, None);
        assert!(mapping.missing().is_empty());
        assert_eq!(mapping.place(Field::TestsPassed), Some(7));
        assert_eq!(mapping.place(Field::AgentSeconds), Some(8));
        assert_eq!(mapping.others, [(9, "note".to_owned())]);
    }

    #[test]
    fn the_first_of_two_columns_with_one_name_is_read() {
        let names =
            header("run,harness,model,scenario,turn,attempt,Passed,passed,passed,p>1,p<1,note,note,,");
        let mapping = Mapping::new(&names, None);
        assert_eq!(mapping.place(Field::Passed), Some(6));
        let others: Vec<&str> = mapping.others.iter().map(|(_, name)| name.as_str()).collect();
        // Another spelling is kept beside, as any column of others.
        assert_eq!(others, ["passed", "p>1", "p<1", "note"]);
        assert_eq!(mapping.repeated, ["passed", "passed", "note"]);
        assert!(is_known_name("Tokens In") && is_known_name("cost") && !is_known_name("note"));
    }

    #[test]
    fn the_mapping_of_a_person_wins_and_the_rest_is_guessed() {
        let names = header("experiment,agent,model_name,task,round,try,ok,turn");
        let renames = ColumnRenames::from([("turn".to_owned(), "round".to_owned())]);
        let mapping = Mapping::new(&names, Some(&renames));
        assert_eq!(mapping.place(Field::Turn), Some(4));
        assert_eq!(mapping.place(Field::Harness), Some(1));
        let guessed = guesses(&names, &mapping);
        let guessed: Vec<_> = guessed.iter().map(|(name, column)| (*name, column.as_deref())).collect();
        let expected = [
            ("run", Some("experiment")),
            ("model", Some("model_name")),
            ("attempt", Some("try")),
            ("passed", Some("ok")),
        ];
        assert_eq!(guessed, expected);
        assert_ne!(mapping.stamp(), Mapping::new(&names, None).stamp());
        assert_eq!(
            header_id(&names),
            header_id(&header("Experiment,agent,model name,task,round,try,ok,turn"))
        );
        assert_eq!(distance("attemt", "attempt"), 1);
    }

    /// `--map turn=run` had the hint `--map run=turn`: the two differ by two letters.
    #[test]
    fn a_column_that_another_took_the_place_of_is_no_guess() {
        let names = header("run,harness,model,scenario,turn,attempt,passed,job");
        let renames = |column: &str| ColumnRenames::from([("turn".to_owned(), column.to_owned())]);
        let guessed =
            |names: &[String], column: &str| guesses(names, &Mapping::new(names, Some(&renames(column))));
        assert_eq!(guessed(&names, "run"), [("run", Some("job".to_owned()))]);
        assert_eq!(guessed(&names[..7], "run"), [("run", None)]);
        assert_eq!(guessed(&names[..7], "attempt"), [("attempt", None)]);
    }

    #[test]
    fn a_name_that_a_person_wrote_is_the_column_that_is_called_so_or_the_only_one_alike() {
        let names = header("run,harness,model,task,Round, Round No,ROUND,attempt,passed");
        assert_eq!(column_index(&names, "ROUND"), Some(6));
        assert_eq!(column_index(&names, "round_no"), Some(5));
        assert_eq!(column_index(&names, "round"), None, "two are alike");
        assert_eq!(column_index(&names, "stage"), None);
        // What is remembered is read as it was chosen, and by a header that writes its names otherwise.
        let turn = |names: &[String]| {
            let renames = ColumnRenames::from([("turn".to_owned(), "ROUND".to_owned())]);
            Mapping::new(names, Some(&renames)).place(Field::Turn)
        };
        assert_eq!(turn(&names), Some(6));
        assert_eq!(turn(&header("run,harness,model,task,round,attempt,passed")), Some(4));
    }
}
