//! Writes real files as first inputs of every target.

use std::fs;
use std::path::Path;

use fuzz::{Sample, files, fixture};

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let write = |target: &str, name: String, bytes: &[u8]| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(name), bytes).expect("a seed can be written");
    };
    for (target, sample) in [
        ("harbor", "harbor/jobs/terminus2-mock-priced"),
        ("evocode", "evocode"),
        ("staminabench", "staminabench/own"),
    ] {
        for (number, (_, bytes)) in files(&fixture(sample)).iter().enumerate() {
            let number = u16::try_from(number).expect("a sample is small");
            write(target, format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    for (number, (path, bytes)) in Sample::of_zip("../../data/sample-pack.zip").files().iter().enumerate() {
        let number = u16::try_from(number).expect("a sample is small");
        // Code and texts are shown only.
        if path.extension().is_some_and(|ending| ending == "json" || ending == "yaml") {
            write("pack", format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    for (number, (_, bytes)) in files(&fixture("pytest/logs")).iter().enumerate() {
        write("pytest_log", format!("seed-{number}"), bytes);
    }
    let all = files(&fixture("harbor/jobs"));
    for (number, (_, bytes)) in all.iter().filter(|(path, _)| path.ends_with("trajectory.json")).enumerate() {
        write("atif", format!("seed-{number}"), bytes);
    }
    let empty_zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    write("zip_tree", "seed-empty".to_owned(), empty_zip);
    write("zip_tree", "seed-two".to_owned(), TWO_ENTRIES);
}

/// A stored and a deflated entry.
const TWO_ENTRIES: &[u8] = include_bytes!("two_entries.zip");
