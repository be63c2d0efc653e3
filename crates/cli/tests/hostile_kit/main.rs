//! The hostile kit: sources and records of runs that were made to do harm, given to the real program. Whatever lies there, the
//! program ends by itself, in bounded memory, says in words what is wrong, and touches nothing outside.
//!
//! docs/security.md names this kit. Everything is made from fixed numbers, so a failure comes again.

mod bounded_run;
mod endpoints;
mod figures;
mod outside;
mod packs;
mod records;
mod settings;
mod sources;
mod tables;
mod texts;
mod zips;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use bounded_run::{MOST_MEMORY, MOST_WORK, Ran};
use outside::Outside;

/// What holds of every run of the program.
fn is_harmless(label: &str, ran: &Ran, outside: &Outside) {
    let Ran { status, output, peak, work } = ran;
    assert!(status.code().is_some_and(|code| code < 100), "{label}: {status}\n{output}");
    assert!(*peak <= MOST_MEMORY, "{label} took {peak} MiB");
    assert!(*work <= MOST_WORK, "{label} took {work} s of processor time");
    assert!(!output.contains("panicked") && !output.contains("fault in Stamina Lab"), "{label}: {output}");
    assert!(!output.contains("hunter2"), "{label} shows what lies outside: {output}");
    // Beside controls: marks, embeddings, overrides and isolates of the direction of writing.
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || turns(c);
    assert!(!output.contains(obeyed), "{label} prints what a terminal obeys: {output:?}");
    outside.is_untouched(label);
}

/// Whether a run of the program says that something is not as it should be, whatever weight that has for the results.
fn reports_a_problem(ran: &Ran) -> bool {
    ["warning: ", "repair: ", "note: "].iter().any(|severity| ran.output.contains(severity))
}

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    root.join("tests/fixtures").join(name)
}

fn fifo(path: &Path) {
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

fn link(target: impl AsRef<Path>, link_path: &Path) {
    drop(fs::remove_file(link_path));
    drop(fs::remove_dir_all(link_path));
    symlink(target, link_path).expect("a link");
}

fn sparse(path: &Path, bytes: u64) {
    drop(fs::remove_file(path));
    fs::File::create(path).expect("a file").set_len(bytes).expect("a size");
}

/// What is wrong with a source, in words, and what makes it so.
type SourceHarm = (&'static str, Box<dyn Fn(&Path)>);
