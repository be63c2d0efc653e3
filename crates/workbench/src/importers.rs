//! Importers of others: a program that makes a tidy table of a folder, run only where a user says so.
//!
//! `stamina-import-NAME`, found on the `PATH` or in the settings ([`importer_list`]), gets the folder as its only argument and writes
//! the table to its standard output. Its exit code says whether the folder is its own. What it writes is kept beside the
//! library, and read as a table.

mod importer_list;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use files::Stamp;
use files::deadline::within_limit;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

pub(crate) use self::importer_list::{listed, program};
use crate::Workbench;
use crate::api::{ApiError, ImporterArgument, ImporterArgumentRequest};
use crate::sources::open_tree;

/// The exit code that says that a folder is not the importer's: that of Rerun's external importers.
pub const NOT_MINE: i32 = 66;
/// How long one may take.
const LONGEST: Duration = Duration::from_mins(10);
/// Most bytes that it may write.
const MOST_BYTES: u64 = 2 << 30;
/// Most bytes of what it complains of that are shown.
const COMPLAINT: usize = 2_000;
/// How often it is looked after.
const LOOK: Duration = Duration::from_millis(20);
/// How long what it wrote before its end may take to be read.
const DRAINED: Duration = Duration::from_secs(30);
/// The variable by which the processes that an importer starts are known.
const MARK: &str = "STAMINA_IMPORTER";

/// A word that no other process has in its environment.
fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{nanos}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The processes of this user that have a word in the environment that they were started with.
fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let found = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()).then_some(pid)
    });
    found.collect()
}

/// Ends a program with all that it started, whatever group or session that made itself a part of.
fn end(child: &mut Child, mark: &str) {
    /// What starts others while it is looked for is found at the next look.
    const LOOKS: usize = 20;
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    for _ in 0..LOOKS {
        let remaining = marked(mark);
        if remaining.is_empty() {
            return;
        }
        for pid in remaining {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(LOOK);
    }
}

/// Does something in a thread of its own; the answer comes through the channel.
fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, answer) = sync_channel(1);
    std::thread::spawn(move || sender.send(work()));
    answer
}

/// Copies at most [`MOST_BYTES`]; the first byte beyond is counted and not written.
fn copy(mut reader: impl Read, mut target: File, written: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        if written.fetch_add(read as u64, Ordering::Relaxed) + read as u64 > MOST_BYTES {
            return Ok(());
        }
        target.write_all(&buffer[..read])?;
    }
}

/// The end of what a program complains of.
fn complaint(mut reader: impl Read) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(COMPLAINT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

/// The argument that an importer gets of a folder or zip: its path without links.
fn argument(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Runs an importer on a folder; what it writes goes into `out`.
fn run(program: &Path, folder: &Path, out: &Path, longest: Duration) -> Result<(), ApiError> {
    let failed =
        |message: String| ApiError::new("importer.failed", message).with_path(program.display().to_string());
    let file = File::create(out).map_err(|error| failed(format!("Its table cannot be kept: {error}")))?;
    let mark = new_mark();
    let mut child = Command::new(program)
        .arg(folder)
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(format!("The importer cannot be started: {error}")))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let written = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let counted = Arc::clone(&written);
    let copying = apart(move || stdout.map_or(Ok(()), |out| copy(out, file, &counted)));
    let complaining = apart(move || stderr.map_or_else(String::new, complaint));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if begun.elapsed() > longest => break Err("takes too long"),
            Ok(None) if written.load(Ordering::Relaxed) > MOST_BYTES => break Err("writes too much"),
            Ok(None) => std::thread::sleep(LOOK),
            Err(_) => break Err("cannot be waited for"),
        }
    };
    // What it left running holds its output open.
    end(&mut child, &mark);
    let copied = copying
        .recv_timeout(DRAINED)
        .unwrap_or_else(|_| Err(io::Error::other("a process that it left running holds its output open")));
    let words = complaining.recv_timeout(DRAINED).unwrap_or_default();
    let sentence = if words.is_empty() { String::new() } else { format!(". It said: {words}") };
    let status =
        status.map_err(|problem| failed(format!("The importer {problem}, and was ended{sentence}")))?;
    copied.map_err(|error| failed(format!("Its table cannot be kept: {error}")))?;
    if written.load(Ordering::Relaxed) > MOST_BYTES {
        return Err(failed(format!("The importer writes more than {} GB", MOST_BYTES >> 30)));
    }
    match status.code() {
        Some(0) => Ok(()),
        Some(NOT_MINE) => Err(ApiError::new(
            "importer.not_mine",
            format!("The importer does not read this folder{sentence}"),
        )
        .with_path(folder.display().to_string())
        .hint("Open the folder without an importer, or with another one")),
        Some(code) => Err(failed(format!("The importer ended with exit code {code}{sentence}"))),
        None => Err(failed(format!("The importer was ended by a signal{sentence}"))),
    }
}

/// What an importer has just written, in the place of the table that one made of the same source before.
pub(crate) struct NewTable {
    pub(crate) path: PathBuf,
    /// Where the one before lies meanwhile, if there was one.
    before: PathBuf,
}

impl NewTable {
    /// Keeps it where it is a table that can be read; else the one before comes back.
    pub(crate) fn settle(&self, is_read: bool) {
        if is_read {
            let _ = fs::remove_file(&self.before);
        } else if fs::rename(&self.before, &self.path).is_err() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Workbench {
    /// Where what importers write is kept: beside the library.
    fn imported_folder(&self) -> Result<PathBuf, ApiError> {
        let library = self.store.path().ok_or_else(|| {
            ApiError::new("importer.failed", "A library in memory has no place for what an importer writes")
        })?;
        let mut name = library.file_name().unwrap_or_default().to_owned();
        name.push(".imported");
        Ok(library.with_file_name(name))
    }

    /// What an importer would get of a folder or zip as its argument. Nothing is executed.
    pub fn importer_argument(&self, request: ImporterArgumentRequest) -> Result<ImporterArgument, ApiError> {
        let path = PathBuf::from(&request.path);
        let real = within_limit(&path.clone(), move || argument(&path)).ok().and_then(Result::ok);
        Ok(ImporterArgument { asked: request.path, real: real.map(|real| real.display().to_string()) })
    }

    /// Runs an importer on a folder or zip and keeps what it writes, until it is known whether that is a table.
    pub(crate) fn imported_with(&self, path: &Path, program: &Path) -> Result<NewTable, ApiError> {
        let source = argument(path).map_err(|_| {
            ApiError::new("source.missing", "There is no such folder or zip")
                .with_path(path.display().to_string())
        })?;
        let folder = self.imported_folder()?;
        let failed = |error: io::Error| {
            ApiError::new("importer.failed", format!("Its table cannot be kept: {error}"))
                .with_path(folder.display().to_string())
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let id = Stamp::new().text(&source.to_string_lossy()).finish();
        // The same source may be opened twice at once.
        let new_part = || folder.join(format!("{id:016x}.{}.part", new_mark()));
        let (part, before) = (new_part(), new_part());
        let outcome = run(program, &source, &part, LONGEST).and_then(|()| {
            if part.metadata().map_err(failed)?.len() == 0 {
                let message = "The importer ended with exit code 0 and wrote nothing";
                return Err(
                    ApiError::new("importer.failed", message).with_path(program.display().to_string())
                );
            }
            let is_json = File::open(&part).and_then(|file| {
                let mut first = [0; 512];
                let read = file.take(512).read(&mut first)?;
                Ok(first[..read].trim_ascii_start().first() == Some(&b'{'))
            });
            let ending = if is_json.map_err(failed)? { "jsonl" } else { "csv" };
            let table = folder.join(format!("{id:016x}.{ending}"));
            // There may be none.
            let _ = fs::rename(&table, &before);
            let outcome = NewTable { path: table, before };
            fs::rename(&part, &outcome.path).map_err(|error| {
                outcome.settle(false);
                failed(error)
            })?;
            Ok(outcome)
        });
        if outcome.is_err() {
            // What it wrote until then is of no use.
            let _ = fs::remove_file(&part);
        }
        outcome
    }
}

impl Workbench {
    /// Removes the table that an importer made of a source, if it is one of those that are kept beside the library.
    pub(crate) fn remove_table(&self, table: &str) -> Result<(), ApiError> {
        let table = Path::new(table);
        if table.parent() != Some(self.imported_folder()?.as_path()) {
            return Ok(());
        }
        match fs::remove_file(table) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ApiError::new(
                "importer.failed",
                format!(
                    "The source is closed; the table that an importer made of it cannot be removed: {error}"
                ),
            )
            .with_path(table.display().to_string())
            .hint("Remove it by hand")),
            _ => Ok(()),
        }
    }

    /// Removes tables of importers that no source needs: those of sources that were closed at least `age` ago, or that were
    /// opened again without an importer.
    pub(crate) fn remove_imported(&self, age: Duration) -> Result<(), ApiError> {
        let Ok(folder) = self.imported_folder() else { return Ok(()) };
        let Ok(files) = fs::read_dir(&folder) else { return Ok(()) };
        let needed: BTreeSet<String> = self.store.imported_tables(age)?.into_iter().collect();
        for file in files.flatten() {
            let path = file.path();
            let age = match path.extension().and_then(OsStr::to_str) {
                Some("csv" | "jsonl") => age,
                // What an importer is writing, or was when the program was killed.
                Some("part") => age.max(LONGEST * 2),
                _ => continue,
            };
            // One that was made a moment ago may be of a source that is not noted yet.
            let modified = file.metadata().and_then(|about| about.modified()).ok();
            let is_old =
                modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|since| since >= age);
            if is_old && !needed.contains(&*path.to_string_lossy()) {
                // Another process may have removed it; whatever else keeps it, it is no more than a file too many.
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

/// Opens a folder through the table that an importer made of it.
pub(crate) fn open_imported(path: &Path, table: &Path) -> Result<files::Tree, ApiError> {
    open_tree(path)?.with_table(table).map_err(|error| {
        ApiError::new(
            "source.missing",
            format!("The table that an importer made of it cannot be read: {error}"),
        )
        .with_path(table.display().to_string())
        .hint("Run the importer again: Open with an importer…, or stamina ingest FOLDER --with NAME")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn script(folder: &Path, body: &str) -> PathBuf {
        let path = folder.join("importer");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    // docs/security.md: An importer of others
    fn the_argument_that_is_shown_is_the_one_that_an_importer_gets() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(&place, place.join("latest")).unwrap();
        let db = Some(place.join("library.sqlite"));
        let workbench = Workbench::open(crate::Options { db, ..crate::Options::default() }).unwrap();
        let shown = |path: PathBuf| {
            let path = path.display().to_string();
            workbench.importer_argument(ImporterArgumentRequest { path }).unwrap().real
        };
        assert_eq!(shown(place.join("latest")), Some(place.display().to_string()));
        assert_eq!(shown(place.join("nothing")), None);
    }

    #[test]
    // docs/security.md: An importer of others
    fn what_an_importer_does_is_told_by_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let run = |body: &str, longest| run(&script(folder.path(), body), folder.path(), &out, longest);
        run("echo \"run,$1\"", LONGEST).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), format!("run,{}\n", folder.path().display()));
        // words: ok: the output of an importer.
        let error = run("echo not one of ours >&2; exit 66", LONGEST).unwrap_err();
        assert_eq!(error.code, "importer.not_mine");
        // words: ok: the output of an importer.
        assert!(error.message.ends_with("It said: not one of ours"), "{}", error.message);
        let error = run("echo broken >&2; exit 3", LONGEST).unwrap_err();
        assert_eq!(error.message, "The importer ended with exit code 3. It said: broken");
        // It and whatever it started are ended.
        let error = run("sleep 600 & sleep 600", Duration::ZERO).unwrap_err();
        assert_eq!(error.message, "The importer takes too long, and was ended");
    }

    #[test]
    // docs/security.md: An importer of others
    fn what_an_importer_started_in_a_session_of_its_own_does_not_outlive_it() {
        let folder = tempfile::tempdir().unwrap();
        let (out, pid) = (folder.path().join("out"), folder.path().join("pid"));
        let grandchild = format!("setsid sh -c 'echo $$ > {}; exec sleep 600' &", pid.display());
        let remaining_files = || {
            let pid = fs::read_to_string(&pid).unwrap();
            // One that has ended and was not waited for has no command line.
            fs::read(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|line| !line.is_empty())
        };
        let wait = format!("while ! [ -s {} ]; do sleep 0.01; done", pid.display());
        let begun = Instant::now();
        let body = format!("{grandchild}\n{wait}\nsleep 600");
        let error =
            run(&script(folder.path(), &body), folder.path(), &out, Duration::from_secs(2)).unwrap_err();
        assert_eq!(error.message, "The importer takes too long, and was ended");
        assert!(!remaining_files() && begun.elapsed() < DRAINED);
        // Nor where the importer ends well, and the grandchild holds its output open.
        fs::remove_file(&pid).unwrap();
        let body = format!("{grandchild}\n{wait}\necho run");
        run(&script(folder.path(), &body), folder.path(), &out, LONGEST).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "run\n");
        assert!(!remaining_files());
    }

    #[test]
    fn only_a_name_or_a_path_is_a_program() {
        for name in ["", "no such", "../x", "nothing-of-this-name"] {
            assert_eq!(program(name).unwrap_err().code, "importer.missing", "{name}");
        }
    }
}
