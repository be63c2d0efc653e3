//! 200 failing tests of real results, labeled by hand (`tests/fixtures/labels/failures.json`), against the classes that the
//! rules give them. `docs/metrics.md` has the table, and says what the labels are from.
//!
//! The published EvoCode-Bench results are not ours to ship: the labels name their failures, and the results are read from
//! `../shared/data/evocode-published`, or from where `EVOCODE_PUBLISHED` says. Where they are not, their labels are left out.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use analysis::failures::FailureClass as C;
use serde::Deserialize;
use test_folders::{copy, data_beside_the_repository};
use workbench::api::{FailureCasesRequest, FailuresRequest};

use crate::library::{Library, members, repository};

/// The least share of the failures that a class was given which have its label.
const PRECISION: f64 = 0.95;

#[derive(Deserialize)]
struct Labels {
    failures: Vec<Label>,
}

/// A failure by its place, and what it is.
#[derive(Deserialize)]
struct Label {
    source: String,
    run: String,
    episode: String,
    turn: u32,
    attempt: u32,
    test: String,
    class: String,
}

/// Where the results of a source are; `None` = not on this machine.
fn results(source: &str) -> Option<PathBuf> {
    let path = match source {
        "harbor" => repository().join("tests/fixtures/harbor"),
        "sample" => repository().join("data/sample-simulated.zip"),
        _ => match std::env::var_os("EVOCODE_PUBLISHED") {
            Some(path) => PathBuf::from(path),
            None => data_beside_the_repository("data/evocode-published")?,
        },
    };
    path.exists().then_some(path)
}

/// The class of a failure by its attempt and test.
type Classes = HashMap<(String, u32, u32, String), String>;

fn classes(library: &Library, run: &str) -> Classes {
    let request = FailuresRequest { members: members(&[run]), ..FailuresRequest::default() };
    let asked = FailureCasesRequest {
        of: request,
        most_tests: 100_000,
        limit: 100_000,
        ..FailureCasesRequest::default()
    };
    let page = library.workbench.list_failure_cases(asked).expect("cases");
    let of_case = page.rows.into_iter().flat_map(|case| {
        let (episode, turn, attempt) = (case.episode, case.turn, case.attempt);
        case.failing.into_iter().map(move |test| ((episode.clone(), turn, attempt, test.test), test.class))
    });
    of_case.collect()
}

fn labels() -> Labels {
    let text =
        std::fs::read_to_string(repository().join("tests/fixtures/labels/failures.json")).expect("labels");
    serde_json::from_str(&text).expect("labels")
}

/// The documentation counts the labels of every class, and names the classes that have none.
#[test]
fn what_the_documentation_says_about_the_labels_is_so() {
    let page = std::fs::read_to_string(repository().join("docs/metrics.md")).expect("a page");
    let labels = labels().failures;
    let of_class = |class: C| labels.iter().filter(|label| label.class == class.as_str()).count();
    let without = page.lines().find(|line| line.starts_with("Classes without a label")).expect("a line");
    let named: Vec<&str> = without
        .split_once(": ")
        .and_then(|(_, rest)| rest.split_once('.'))
        .map(|(names, _)| names.split(", ").collect())
        .expect("names");
    let none: Vec<&str> =
        C::ALL.iter().filter(|class| of_class(**class) == 0).map(|class| class.label()).collect();
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(", ")
    };
    assert_eq!(sorted(named), sorted(none));
    for class in C::ALL.iter().filter(|class| of_class(**class) > 0) {
        let row = format!("| {} | {} |", class.label(), of_class(*class));
        assert!(page.lines().any(|line| line.starts_with(&row)), "no row {row}");
    }
    // What only the kind of a case tells has labels of the sample alone.
    let by_kind = [C::GuardIgnored, C::MissingCascade, C::WrongAggregate, C::WrongEffect, C::WrongList];
    let of_kind: Vec<&Label> =
        labels.iter().filter(|label| by_kind.iter().any(|class| class.as_str() == label.class)).collect();
    assert!(of_kind.iter().all(|label| label.source == "sample"));
    assert!(page.contains(&format!("The {} labels *guard ignored*", of_kind.len())));
}

#[test]
fn classes_are_those_that_a_person_gives_to_real_failures() {
    let labels = labels();
    assert_eq!(labels.failures.len(), 200);
    let mut by_source: BTreeMap<&str, Vec<&Label>> = BTreeMap::new();
    for label in &labels.failures {
        by_source.entry(&label.source).or_default().push(label);
    }
    // By class given and label: how often.
    let mut table: BTreeMap<(String, &str), u32> = BTreeMap::new();
    for (source, labels) in by_source {
        let Some(path) = results(source) else {
            eprintln!(
                "{} labels are left out: the results of {source} are not on this machine",
                labels.len()
            );
            continue;
        };
        let library = Library::new(&[path]);
        let mut given: HashMap<&str, Classes> = HashMap::new();
        for label in labels {
            let given = given.entry(&label.run).or_insert_with(|| classes(&library, &label.run));
            let at = (label.episode.clone(), label.turn, label.attempt, label.test.clone());
            let class = given.get(&at).unwrap_or_else(|| panic!("{} {at:?} is no failure", label.run));
            if *class != label.class {
                eprintln!("{}, not {class}: {} {at:?}", label.class, label.run);
            }
            *table.entry((class.clone(), &label.class)).or_default() += 1;
        }
    }
    let sum = |of: &dyn Fn(&str, &str) -> bool| -> u32 {
        table.iter().filter(|((class, label), _)| of(class, label)).map(|(_, n)| n).sum()
    };
    let mut words: Vec<&str> = table.keys().flat_map(|(class, label)| [class.as_str(), *label]).collect();
    words.sort_unstable();
    words.dedup();
    let mut below = Vec::new();
    for word in words {
        let right = sum(&|class, label| class == word && label == word);
        let (given, labeled) = (sum(&|class, _| class == word), sum(&|_, label| label == word));
        eprintln!("| {} | {labeled} | {given} | {right} |", word.replace('_', " "));
        if f64::from(right) < PRECISION * f64::from(given) && word != "other" {
            below.push(format!("{word}: {right} of {given}"));
        }
    }
    assert!(below.is_empty(), "given to other failures: {}", below.join("; "));
}

/// A real job of Harbor over a program, and the same job with ids that look like cases of the suites of this project.
#[test]
fn other_ids_give_no_failure_of_a_foreign_suite_another_class() {
    const IDS: [(&str, &str); 6] = [
        ("c001", "notes.export.delete"),
        ("c002", "notes.guard.export"),
        ("c003", "notes.sort.list"),
        ("c004", "analytics.total"),
        ("c008", "gone.notes"),
        ("c009", "notes.effect.done"),
    ];
    fn rename(folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                rename(&path);
            } else if path.file_name().is_some_and(|name| name == "test-stdout.txt") {
                let mut text = std::fs::read_to_string(&path).expect("an output");
                for (id, other) in IDS {
                    text = text.replace(&format!("case_id={id} "), &format!("case_id={other} "));
                }
                std::fs::write(&path, text).expect("written");
            }
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let job = repository().join("tests/fixtures/harbor/jobs/failures-k1");
    let of_job = |name: &str| {
        let path = folder.path().join(name).join("failures-k1");
        copy(&job, &path);
        path
    };
    let (as_played, renamed) = (of_job("a"), of_job("b"));
    rename(&renamed);
    let read = |path: PathBuf| classes(&Library::new(&[path]), "failures-k1-oracle");
    let as_played: Classes = read(as_played)
        .into_iter()
        .map(|((episode, turn, attempt, id), class)| {
            let other = IDS.iter().find(|(from, _)| *from == id).map_or(id, |(_, to)| (*to).to_owned());
            ((episode, turn, attempt, other), class)
        })
        .collect();
    assert!(as_played.keys().any(|(.., id)| id == "gone.notes"), "{as_played:?}");
    assert_eq!(read(renamed), as_played);
}
