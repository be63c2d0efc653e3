//! Answers, written at once to a file beside the new pack. Paid answers thus outlive an aborted generation, and the next
//! generation with the same settings starts with them.
//!
//! The file has one JSON object per line. The first line states what the answers depend on. An incomplete last line is
//! dropped.
//!
//! Its folder may belong to somebody else: no link below the folder is followed, and only a regular file with one name is read or
//! written.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use files::confined_path;
use rustix::fs::OFlags;
use scenario::sample::{Answer, SampleError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::UnusableModel;

/// The version of the file.
const FORMAT: &str = "stamina-answers/1";

/// The first bytes of the file.
const BEGIN: &[u8] = b"{\"format\":\"stamina-answers/1\"";

/// The size of the largest accepted file in bytes.
const CAP: u64 = 256 << 20;
/// The longest accepted line in bytes. Its folder may belong to somebody else, and a line takes up to fifty times as much memory while it
/// is parsed.
const LONGEST_LINE: u64 = 4 << 20;
/// The largest accepted number of answers.
const MOST_ANSWERS: usize = 500_000;

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    /// What the answers depend on.
    #[serde(rename = "of")]
    depends_on: Value,
}

#[derive(Serialize, Deserialize)]
struct Line {
    /// From 0.
    scenario: u32,
    /// From 1.
    turn: u32,
    answer: Answer,
}

/// The answers of a generation in progress.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The same below its folder as that is without links.
    place: PathBuf,
    /// What the answers depend on.
    depends_on: Value,
    /// The answers of an earlier generation, by scenario and turn.
    known: BTreeMap<(u32, u32), Vec<Answer>>,
    /// Created with the first answer.
    file: Mutex<Option<File>>,
}

impl Journal {
    /// Opens a journal in a file, with the answers of an earlier generation. `depends_on` is all that answers depend on. A file
    /// with another value is an error.
    pub fn open(path: &Path, depends_on: Value) -> Result<Self, UnusableModel> {
        let unusable = |error: &dyn std::fmt::Display| {
            UnusableModel(format!(
                "{} cannot be resumed: {error}. Delete it to ask for all answers again",
                path.display()
            ))
        };
        let mut journal = Self {
            path: path.to_owned(),
            place: in_resolved_folder(path),
            depends_on,
            known: BTreeMap::new(),
            file: Mutex::new(None),
        };
        let mut file = match confined_path::open_file(&journal.place, OFlags::RDWR) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
            Err(_) if journal.place.is_symlink() => return Err(unusable(&"it is not a regular file")),
            Err(error) => return Err(unusable(&error)),
        };
        lock_file(&file).map_err(|error| unusable(&error))?;
        let (mut reader, mut text) = (BufReader::new(&file), Vec::new());
        let (mut whole, mut count) = (0, 0);
        loop {
            text.clear();
            let length = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut text)
                .map_err(|error| unusable(&error))? as u64;
            if text.pop_if(|last| *last == b'\n').is_none() {
                if length == LONGEST_LINE {
                    return Err(unusable(&format!("it has a line of more than {LONGEST_LINE} bytes")));
                }
                break;
            }
            let is_first = whole == 0;
            whole += length;
            if is_first {
                let head: Head = serde_json::from_slice(&text).map_err(|error| unusable(&error))?;
                if head.format != FORMAT {
                    return Err(unusable(&format!("its format is not {FORMAT}")));
                }
                if head.depends_on != journal.depends_on {
                    return Err(unusable(&"its answers belong to other settings or another version"));
                }
            } else if !text.is_empty() {
                let Line { scenario, turn, answer } =
                    serde_json::from_slice(&text).map_err(|error| unusable(&error))?;
                journal.known.entry((scenario, turn)).or_default().push(answer);
                count += 1;
            }
            if whole > CAP || count > MOST_ANSWERS {
                return Err(unusable(&format!(
                    "it has more than {CAP} bytes, or more than {MOST_ANSWERS} answers"
                )));
            }
        }
        // Without a complete line, only the incomplete first line of a journal is dropped.
        if whole == 0 && !text.iter().zip(BEGIN).all(|(found, expected)| found == expected) {
            return Err(unusable(&format!("its format is not {FORMAT}")));
        }
        let kept = file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0)));
        kept.map_err(|error| unusable(&error))?;
        if whole > 0 {
            journal.file = Mutex::new(Some(file));
        } else {
            // The first answer creates it again.
            confined_path::remove_file(&journal.place).map_err(|error| unusable(&error))?;
        }
        Ok(journal)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of answers of an earlier generation.
    pub fn known(&self) -> usize {
        self.known.values().map(Vec::len).sum()
    }

    /// Whether there is a file: an answer was written, now or earlier.
    pub fn is_begun(&self) -> bool {
        model::lock(&self.file).is_some()
    }

    /// Removes the file, because the answers are in the pack now.
    pub fn remove(&self) -> io::Result<()> {
        match model::lock(&self.file).take() {
            Some(_) => confined_path::remove_file(&self.place),
            None => Ok(()),
        }
    }

    /// The answers of an earlier generation for a turn.
    pub(crate) fn answers(&self, scenario: u32, turn: u32) -> &[Answer] {
        self.known.get(&(scenario, turn)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Writes an answer.
    pub(crate) fn note(&self, scenario: u32, turn: u32, answer: &Answer) -> Result<(), SampleError> {
        let failed = |error: io::Error| {
            SampleError::Endpoint(format!("{} cannot be written: {error}", self.path.display()))
        };
        let mut file = model::lock(&self.file);
        let file = match &mut *file {
            Some(file) => file,
            none => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let new = confined_path::open_file(&self.place, flags).map_err(failed)?;
                lock_file(&new).map_err(failed)?;
                let new = none.insert(new);
                let head = Head { format: FORMAT.to_owned(), depends_on: self.depends_on.clone() };
                new.write_all(&line(&head).map_err(failed)?).map_err(failed)?;
                new
            }
        };
        let noted = Line { scenario, turn, answer: answer.clone() };
        file.write_all(&line(&noted).map_err(failed)?).map_err(failed)
    }
}

/// The path below its folder as that is without links: whoever names the folder chose it.
fn in_resolved_folder(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => confined_path::resolved(folder).join(name),
        _ => whole,
    }
}

/// Locks the file, because two generations would mix their lines.
fn lock_file(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(io::Error::other("another generation writes it")),
        // Some file systems have no locks.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

/// An object with a line end, to be written at once.
fn line(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(object)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(text: &str) -> Answer {
        Answer { purpose: "change 1".to_owned(), attempt: 1, text: text.to_owned(), refused: None }
    }

    #[test]
    fn the_next_generation_knows_written_answers_and_an_incomplete_line_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pack.answers.jsonl");
        let depends_on = json!({"seed": 1});
        let journal = Journal::open(&path, depends_on.clone()).expect("there is no file");
        assert!(!journal.is_begun() && !path.exists());
        journal.note(1, 2, &answer("one\ntwo")).expect("it is written");
        assert!(Journal::open(&path, depends_on.clone()).is_err(), "it is in use");
        drop(journal);
        let cut =
            [std::fs::read(&path).expect("a file").as_slice(), b"{\"scenario\":1,\"turn\":2,\"ans"].concat();
        std::fs::write(&path, cut).expect("it is written");

        let journal = Journal::open(&path, depends_on.clone()).expect("it is one");
        assert_eq!(
            (journal.known(), journal.answers(1, 2), journal.answers(0, 2)),
            (1, &[answer("one\ntwo")][..], &[][..])
        );
        journal.note(0, 3, &answer("three")).expect("it is written");
        drop(journal);
        let journal = Journal::open(&path, depends_on).expect("it is one");
        assert_eq!((journal.known(), journal.answers(0, 3)), (2, &[answer("three")][..]));
        journal.remove().expect("it is there");
        assert!(!path.exists());
    }

    #[test]
    fn a_journal_of_other_settings_or_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let head = json!({"format": FORMAT, "of": {"seed": 1}}).to_string();
        for text in [
            format!("{head}\nnonsense\n"),
            "nonsense\n".to_owned(),
            "one line without an end".to_owned(),
            json!({"format": "stamina-answers/2", "of": {"seed": 1}}).to_string() + "\n",
            json!({"format": FORMAT, "of": {"seed": 2}}).to_string() + "\n",
        ] {
            std::fs::write(&path, &text).expect("it is written");
            let error = Journal::open(&path, json!({"seed": 1})).expect_err(&text);
            assert!(error.0.contains("Delete it"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text, "it is left as it is");
        }
        std::fs::write(&path, &head[..40]).expect("it is written");
        let journal = Journal::open(&path, json!({"seed": 1})).expect("a first line that was cut off");
        journal.note(0, 1, &answer("one")).expect("it is written");
        drop(journal);
        assert_eq!(Journal::open(&path, json!({"seed": 1})).expect("it is one").known(), 1);
    }

    #[test]
    fn a_line_that_no_answer_has_is_not_parsed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let many = "0,".repeat(3 << 20);
        let head = json!({"format": FORMAT, "of": {"seed": 1}}).to_string();
        for text in [
            format!("{{\"format\":\"{FORMAT}\",\"of\":[{many}0]}}\n"),
            format!("{head}\n{{\"scenario\":0,\"turn\":1,\"answer\":[{many}0]}}\n"),
            format!("{head}\n{many}"),
        ] {
            std::fs::write(&path, &text).expect("it is written");
            let error = Journal::open(&path, json!({"seed": 1})).expect_err("a long line");
            assert!(error.0.contains("a line of more than 4194304 bytes"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_read_or_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, outside) = (folder.path().join("x"), folder.path().join("outside"));
        // An empty file in another folder, in which a journal would start.
        std::fs::write(&outside, "").expect("it is written");
        std::os::unix::fs::symlink(&outside, &path).expect("a link");
        let error = Journal::open(&path, json!({})).expect_err("a link");
        assert!(error.0.contains("not a regular file"), "{error}");
        std::fs::remove_file(&path).expect("a link");
        std::fs::create_dir(&path).expect("a folder");
        assert!(Journal::open(&path, json!({})).is_err());
        std::fs::remove_dir(&path).expect("a folder");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let error = Journal::open(&path, json!({})).expect_err("a pipe");
        assert!(error.0.contains("not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn neither_a_folder_that_is_swapped_in_nor_a_file_with_another_name_is_written() {
        let room = tempfile::tempdir().expect("a folder");
        let (folder, outside) = (room.path().join("packs"), room.path().join("outside"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::create_dir(&outside).expect("a folder");
        let journal = Journal::open(&folder.join("x"), json!({})).expect("there is no file");
        std::fs::remove_dir(&folder).expect("a folder");
        std::os::unix::fs::symlink(&outside, &folder).expect("a link");
        journal.note(0, 1, &answer("one")).expect_err("a link");
        assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 0);
        // Who names a folder through a link chose it.
        let journal = Journal::open(&folder.join("x"), json!({})).expect("there is no file");
        journal.note(0, 1, &answer("one")).expect("it is written");
        drop(journal);
        std::fs::hard_link(outside.join("x"), outside.join("theirs")).expect("a hard link");
        let error = Journal::open(&folder.join("x"), json!({})).expect_err("a hard link");
        assert!(error.0.contains("hard link"), "{error}");
    }
}
