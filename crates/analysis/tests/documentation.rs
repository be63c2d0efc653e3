//! `docs/metrics.md` and the code say the same.
#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use model::{EndReason, Ending};

#[test]
fn the_policy_table_in_the_docs_is_the_default_policy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let text = std::fs::read_to_string(path).unwrap();
    let table = text.split("| end reason | counted as | why |").nth(1).unwrap().split("\n\n").next().unwrap();
    let documented: Vec<(String, String)> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            assert!(!cells[3].is_empty(), "{line} gives no reason");
            (cells[1].to_owned(), cells[2].to_owned())
        })
        .collect();
    let word = |ending| if ending == Ending::Event { "event" } else { "censored" };
    let coded: Vec<(String, String)> = EndReason::ALL
        .iter()
        .map(|reason| (reason.label().to_owned(), word(reason.default_ending()).to_owned()))
        .collect();
    assert_eq!(documented, coded);
}
