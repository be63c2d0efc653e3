//! `docs/metrics.md` and the code say the same.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use analysis::failures::FailureClass;
use analysis::failures::rules::rules;
use model::{EndReason, Ending};

/// The rows of the table with this head, without its rule.
fn table(head: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("{head}\n")).unwrap_or_else(|| panic!("no table {head}"));
    rest.lines().skip(1).take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn the_classes_of_failures_in_the_docs_are_those_of_the_code() {
    let coded: Vec<String> = FailureClass::ALL
        .iter()
        .map(|class| format!("| {} | {} | {} |", class.label(), class.side().label(), class.about()))
        .collect();
    assert_eq!(table("| class | side | when it applies |"), coded, "\n{}", coded.join("\n"));
}

#[test]
fn the_rules_over_failures_in_the_docs_are_those_of_the_code() {
    let coded: Vec<String> =
        rules().map(|rule| format!("| `{}` | {} | {} |", rule.id, rule.class.label(), rule.about)).collect();
    assert_eq!(table("| rule | class | applies when |"), coded, "\n{}", coded.join("\n"));
}

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
