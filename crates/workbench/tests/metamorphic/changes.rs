//! What happens to a folder before it is opened.

use std::fs;
use std::path::{Path, PathBuf};

use test_folders::copy;

/// What happens to a folder before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Trials, tables and files of sessions have other names, in another order.
    OtherNames,
    /// Files that belong to nothing lie beside the results.
    StrangeFiles,
    /// A program for Windows wrote the line ends.
    LineEnds,
    /// Texts begin with a byte order mark.
    ByteOrderMark,
    /// A field that nobody reads is no number.
    NotANumber,
    /// A trial was copied by hand: the folder or the file of one, or a file of rows.
    CopiedTrial,
    /// Times that have a zone are written in another one.
    OtherZone,
    /// Its files were made in another order, as a program that copies or unpacks them may.
    MadeInOtherOrder,
    /// It was zipped, the last file first.
    ZippedBackwards,
    /// It was zipped.
    Zipped,
}

pub(crate) const CHANGES: [Change; 10] = [
    Change::OtherNames,
    Change::StrangeFiles,
    Change::LineEnds,
    Change::ByteOrderMark,
    Change::NotANumber,
    Change::CopiedTrial,
    Change::OtherZone,
    Change::MadeInOtherOrder,
    Change::ZippedBackwards,
    Change::Zipped,
];

fn every_file(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { every_file(&path, found) } else { found.push(path) }
    }
}

/// Zips what python's module does, in this order of names.
const ZIP: &str = "import os, sys, zipfile\n\
    target, folder, backwards = sys.argv[1:]\n\
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]\n\
    with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED) as file:\n\
    \x20   for path in sorted(paths, reverse=backwards == 'yes'):\n\
    \x20       file.write(path, os.path.relpath(path, os.path.dirname(folder)))\n";

fn zipped(folder: &Path, backwards: &str) -> PathBuf {
    let zip = folder.with_extension("zip");
    let status = std::process::Command::new("python3")
        .args(["-c", ZIP])
        .arg(&zip)
        .arg(folder)
        .arg(backwards)
        .status()
        .expect("python3");
    assert!(status.success());
    zip
}

/// Makes all files and folders again, the last one first.
pub(crate) fn make_in_other_order(folder: &Path) {
    let aside = folder.with_extension("aside");
    fs::rename(folder, &aside).unwrap();
    let mut files = Vec::new();
    every_file(&aside, &mut files);
    files.sort_by(|a, b| b.cmp(a));
    for file in files {
        let target = folder.join(file.strip_prefix(&aside).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, target).unwrap();
    }
    fs::remove_dir_all(aside).unwrap();
}

/// Adds folders that belong to nothing where the steps of a trial have theirs.
pub(crate) fn add_strange_folders(trial: &Path) {
    fs::create_dir_all(trial.join("steps/notes")).unwrap();
    fs::create_dir_all(trial.join("steps/__pycache__")).unwrap();
    fs::write(trial.join("steps/__pycache__/look.cpython-313.pyc"), [0, 1, 2]).unwrap();
}

/// The folders of trials of a run of `tb`.
fn trials_of_tb(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let mut trials: Vec<PathBuf> = (files.into_iter())
        .filter(|file| file.ends_with("results.json"))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .filter(|trial| trial.as_path() != folder)
        .collect();
    trials.sort();
    trials
}

/// Adds a field that nobody reads, and whose values are no numbers, to the first object of a JSON text.
fn with_a_strange_field(text: &str) -> String {
    match text.find('{').map(|index| text.split_at(index + 1)) {
        Some((head, rest))
            if head
                .trim_start_matches('\u{feff}')
                .split_whitespace()
                .all(|word| matches!(word, "{" | "["))
                && rest.trim_start().starts_with('"') =>
        {
            format!("{head}\"nobody_reads_this\": [NaN, -Infinity],{rest}")
        }
        _ => text.to_owned(),
    }
}

/// The same in every file that holds JSON, whole or line by line, and as a column of CSV.
fn add_strange_fields(folder: &Path) {
    every_json(folder, |text| with_a_strange_field(&text));
    let mut files = Vec::new();
    every_file(folder, &mut files);
    for file in files {
        let is_of = |ending: &str| file.extension().is_some_and(|extension| extension == ending);
        if !is_of("jsonl") && !is_of("csv") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let changed: Vec<String> = if is_of("jsonl") {
            text.lines().map(with_a_strange_field).collect()
        } else if text.starts_with("run,") {
            let cells = std::iter::once("odd").chain(std::iter::repeat("NaN"));
            text.lines().zip(cells).map(|(line, cell)| format!("{line},{cell}")).collect()
        } else {
            continue;
        };
        fs::write(&file, changed.join("\n") + "\n").unwrap();
    }
}

/// The folders of trials: those with a result whose parent has a configuration.
pub(crate) fn trials(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let mut trials: Vec<PathBuf> = (files.into_iter())
        .filter(|file| file.file_name().is_some_and(|name| name == "result.json"))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .filter(|trial| {
            trial.parent().is_some_and(|job| job.join("config.json").is_file()) && trial.as_path() != folder
        })
        .collect();
    trials.sort();
    trials
}

/// The folders of scenarios of a run of StaminaBench.
fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_scenario = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("scenario"))
    };
    let mut scenarios: Vec<PathBuf> = entries.filter(is_scenario).collect();
    scenarios.sort();
    scenarios
}

/// Endings of the files that are read as text, line by line or whole.
const TEXTS: [&str; 9] = ["json", "jsonl", "csv", "toml", "yaml", "yml", "txt", "log", "md"];

fn every_text(folder: &Path, change: impl Fn(&[u8]) -> Vec<u8>) {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let is_text = |file: &&PathBuf| {
        file.extension().is_some_and(|extension| TEXTS.iter().any(|text| extension == *text))
    };
    for file in files.iter().filter(is_text) {
        fs::write(file, change(&fs::read(file).unwrap())).unwrap();
    }
}

fn with_line_ends_of_windows(text: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().enumerate() {
        if *byte == b'\n' && (index == 0 || text[index - 1] != b'\r') {
            written.push(b'\r');
        }
        written.push(*byte);
    }
    written
}

fn with_a_byte_order_mark(text: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if text.starts_with(MARK) { text.to_vec() } else { [MARK, text].concat() }
}

fn copy_beside(file: &Path) {
    let [name, ending] = [file.file_stem(), file.extension()].map(|part| part.unwrap().to_str().unwrap());
    fs::copy(file, file.with_file_name(format!("{name} copy.{ending}"))).unwrap();
}

/// Files that are one trial each, or rows of many: tasks of EvoCode-Bench, tables, results and transcripts of LoCoBench-Agent. Of
/// each folder of them the first is copied.
fn copy_files_of_trials(folder: &Path) {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let is_trial = |file: &&PathBuf| {
        let place = file.parent().unwrap();
        let has_name =
            |begin: &str| place.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin));
        let has_ending = |ending: &str| file.extension().is_some_and(|extension| extension == ending);
        let is_result = ["tasks", "conversations_", "evaluation_agent_results"].into_iter().any(has_name);
        let is_table = place == folder && (has_ending("csv") || has_ending("parquet"));
        is_result && has_ending("json") || has_ending("jsonl") || is_table
    };
    let mut found: Vec<&PathBuf> = files.iter().filter(is_trial).collect();
    found.sort();
    found.dedup_by(|a, b| a.parent() == b.parent() && a.extension() == b.extension());
    for file in found {
        copy_beside(file);
    }
}

/// Files whose names mean nothing: tables, and what LoCoBench-Agent writes.
fn files_of_any_name(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let is_site = folder.join("tasks").is_dir();
    files.retain(|file| {
        let place = file.parent().unwrap();
        let name = place.file_name().unwrap().to_string_lossy();
        let has_ending = |ending: &str| file.extension().is_some_and(|extension| extension == ending);
        let is_table = place == folder && ["csv", "jsonl", "parquet"].into_iter().any(has_ending);
        let is_result = name.starts_with("conversations_") || name.ends_with("_agent_results");
        is_table && !is_site || is_result && (has_ending("json") || has_ending("jsonl"))
    });
    files.sort();
    files
}

fn every_json(folder: &Path, change: impl Fn(String) -> String) {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        fs::write(file, change(fs::read_to_string(file).unwrap())).unwrap();
    }
}

/// Two hours farther east, where that is the same day: `T10:00:00Z` is `T12:00:00+02:00`. Every other time stays, so that a reader
/// that leaves zones out finds other durations and another order.
fn in_other_zone(text: &str) -> String {
    let (mut out, mut times) = (String::new(), 0_usize);
    for (number, piece) in text.split('"').enumerate() {
        if number > 0 {
            out.push('"');
        }
        let local = piece.strip_suffix('Z').or_else(|| piece.strip_suffix("+00:00"));
        let hour = || piece.get(11..13)?.parse::<u32>().ok().filter(|hour| *hour < 22);
        match local.filter(|_| piece.is_ascii() && piece.get(10..11) == Some("T")).zip(hour()) {
            Some((local, hour)) if times.is_multiple_of(2) => {
                times += 1;
                out.push_str(&format!("{}{:02}{}+02:00", &local[..11], hour + 2, &local[13..]));
            }
            found => {
                times += usize::from(found.is_some());
                out.push_str(piece);
            }
        }
    }
    out
}

/// Changes a folder; gives what is to be read, which is another place once it is zipped.
pub(crate) fn changed(folder: PathBuf, harbor: bool, change: Change) -> PathBuf {
    match change {
        Change::OtherNames => {
            // Of the others names of folders mean something: they have no trials here.
            let trials = if harbor { trials(&folder) } else { trials_of_tb(&folder) };
            for (number, trial) in trials.into_iter().rev().enumerate() {
                fs::rename(&trial, trial.with_file_name(format!("renamed {number}"))).unwrap();
            }
            let files = if harbor { Vec::new() } else { files_of_any_name(&folder) };
            for (number, file) in files.into_iter().rev().enumerate() {
                let ending = file.extension().unwrap().to_str().unwrap();
                fs::rename(&file, file.with_file_name(format!("renamed {number:02}.{ending}"))).unwrap();
            }
        }
        Change::StrangeFiles => {
            fs::write(folder.join("README.md"), "# Our results\nturn 3 failed: 12 tests").unwrap();
            fs::write(folder.join(".DS_Store"), [0, 0, 0, 1, 0x42]).unwrap();
            fs::create_dir(folder.join("plots")).unwrap();
            fs::write(folder.join("plots/figure.svg"), "<svg/>").unwrap();
            // With the endings of files that are read.
            fs::write(folder.join("plots/package.json"), r#"{"name":"plots","version":"1.0.0"}"#).unwrap();
            fs::write(folder.join("plots/notes.csv"), "a,b\n1,2\n").unwrap();
            fs::write(folder.join("plots/log.jsonl"), "{\"level\":\"info\"}\n").unwrap();
            for trial in trials(&folder) {
                fs::write(trial.join("notes.txt"), "looked at by hand").unwrap();
                add_strange_folders(&trial);
            }
        }
        Change::LineEnds => every_text(&folder, with_line_ends_of_windows),
        Change::ByteOrderMark => every_text(&folder, with_a_byte_order_mark),
        Change::NotANumber => add_strange_fields(&folder),
        Change::CopiedTrial => {
            let tb_trials = || Some(trials_of_tb(&folder)).filter(|trials| !trials.is_empty());
            let trials =
                if harbor { trials(&folder) } else { tb_trials().unwrap_or_else(|| scenarios(&folder)) };
            if let Some(trial) = trials.first() {
                let name = trial.file_name().unwrap().to_str().unwrap();
                copy(trial, &trial.with_file_name(format!("{name} copy")));
            }
            if !harbor {
                copy_files_of_trials(&folder);
            }
        }
        Change::MadeInOtherOrder => make_in_other_order(&folder),
        Change::OtherZone => every_json(&folder, |text| in_other_zone(&text)),
        // One zip is enough.
        Change::ZippedBackwards | Change::Zipped if folder.is_file() => {}
        Change::ZippedBackwards => return zipped(&folder, "yes"),
        Change::Zipped => return zipped(&folder, "no"),
    }
    folder
}
