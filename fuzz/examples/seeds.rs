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
        ("terminal_bench", "terminal_bench/run-a"),
        ("evocode", "evocode"),
        ("locobench", "locobench/recorded"),
        ("staminabench", "staminabench/own"),
    ] {
        for (number, (_, bytes)) in files(&fixture(sample)).iter().enumerate() {
            let number = u16::try_from(number).expect("a sample is small");
            write(target, format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    for (target, sample) in [("pack", Sample::pack()), ("run_state", Sample::run())] {
        for (number, (_, bytes)) in sample.files().iter().enumerate() {
            let number = u16::try_from(number).expect("a sample is small");
            write(target, format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    let config = fs::read(fixture("staminabench/own/config.yaml")).expect("a fixture can be read");
    write("settings", "seed-file".to_owned(), &config);
    write("settings", "seed-values".to_owned(), VALUES);
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

/// Settings as the command line takes them.
const VALUES: &[u8] = b"agent=CODEX\ncodex.model_id=acme/new\nendpoint.base_url=https://a.example\nendpoint.key_env=KEY\n\
    docker.env_vars=[A, B=c]\nlimits.run.usd=3\nrestful_server_gen_iterative.n_turns=5\noutput_dir=/x\n";

/// A stored and a deflated entry.
const TWO_ENTRIES: &[u8] = include_bytes!("two_entries.zip");
