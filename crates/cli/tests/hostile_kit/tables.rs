//! Tidy tables.

use std::fs;
use std::path::Path;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{SourceHarm, fifo, is_harmless, link, sparse};

/// Tables of so many rows or cells that they take long to read. In `npm test` they are read in their folder alone: by itself each is
/// read in the same way.
const LONG: [&str; 3] =
    ["turns from the last to the first", "episodes that lie apart", "a million cells in a row"];

#[test]
// docs/security.md: The hostile kit
fn hostile_tables_do_no_harm() {
    const HEADER: &str = "run,harness,model,scenario,turn,attempt,passed\n";
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let row = "a,h,m,s,1,1,1\n";
    let kinds = ["csv", "jsonl", "parquet"];
    let backwards: String = std::iter::once(HEADER.to_owned())
        .chain((0..4).flat_map(|n| (1..=10_000).rev().map(move |turn| format!("a,h,m,s{n},{turn},1,1\n"))))
        .collect();
    let apart: String = std::iter::once(HEADER.to_owned())
        .chain((1..=12).flat_map(|turn| (0..5000).map(move |n| format!("a,h,m,s{n},{turn},1,1\n"))))
        .collect();
    let never_ends = format!("{HEADER}{row}a,h,\"m,s,2,1,1\n{}", "x".repeat(64 << 20));
    let many_cells = format!("{HEADER}{row}a,h,m,s,2,1,1{}\n", ",1".repeat(1 << 20));
    let many_columns = format!("run,harness,model,scenario,turn,attempt,passed{}\n", ",x".repeat(30_000));
    let obeyed = format!(
        "{HEADER}\u{1b}]0;x\u{7},\u{9b}31m,\u{202e}\u{2067}\u{200f}\u{61c}m,s\u{1b}[2J,1,1,\u{1b}c\n"
    );
    let deep = format!("{{\"run\":\"a\"}}\n{{\"run\":{}\n", "[".repeat(3 << 20));
    let harms: Vec<SourceHarm> = vec![
        ("turns from the last to the first", writes("t.csv", backwards)),
        ("episodes that lie apart", writes("t.csv", apart)),
        ("a cell that never ends", writes("t.csv", never_ends)),
        ("a million cells in a row", writes("t.csv", many_cells)),
        ("thousands of columns", writes("t.csv", many_columns)),
        ("cells that a terminal obeys", writes("t.csv", obeyed)),
        ("deep brackets in a line", writes("t.jsonl", deep)),
        ("a line that never ends", writes("t.jsonl", "{\"run\":\"".to_owned() + &"x".repeat(64 << 20))),
        ("a Parquet that is none", writes("t.parquet", "PAR1\0\0\0\u{7f}PAR1".to_owned())),
        (
            "pipes in the place of tables",
            Box::new(move |folder| {
                for kind in kinds {
                    fifo(&folder.join(format!("t.{kind}")));
                }
            }),
        ),
        (
            "links to devices",
            Box::new(move |folder| {
                for kind in kinds {
                    link("/dev/zero", &folder.join(format!("t.{kind}")));
                }
            }),
        ),
        (
            "giants",
            Box::new(move |folder| {
                for kind in kinds {
                    sparse(&folder.join(format!("t.{kind}")), 64 << 30);
                }
            }),
        ),
        ("a link to a file outside", {
            let secret = outside.folder.join("secret.txt");
            Box::new(move |folder| link(&secret, &folder.join("t.csv")))
        }),
    ];
    for (number, (label, harm)) in harms.into_iter().enumerate() {
        let folder = test_home.path(&format!("tables-{number}"));
        fs::create_dir(&folder).expect("a folder");
        // Beside it lies one that is as it should be.
        fs::write(folder.join("good.csv"), format!("{HEADER}good,h,m,s,1,1,1\n")).expect("a file");
        harm(&folder);
        let mut sources = vec![folder.clone()];
        if !LONG.contains(&label) || std::env::var_os("STAMINA_EVERY_WAY").is_some() {
            sources.extend(kinds.map(|kind| folder.join(format!("t.{kind}"))));
        }
        for source in sources {
            // Whoever names a link chose where it leads.
            if source.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) {
                let ran = run(&test_home, &["ingest", &source.display().to_string()]);
                is_harmless(label, &ran, &outside);
                assert!(source != folder || ran.status.success(), "{label}: {}", ran.output);
            }
        }
    }
    let ran = run(&test_home, &["runs"]);
    is_harmless("the library of all tables", &ran, &outside);
}

/// Writes a file of a folder.
fn writes(name: &'static str, text: String) -> Box<dyn Fn(&Path)> {
    Box::new(move |folder| fs::write(folder.join(name), &text).expect("a file"))
}
