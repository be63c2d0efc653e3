//! Failures of real results, labeled by hand (`tests/fixtures/labels`), against the classes that the rules give them.
//! `docs/metrics.md` has the tables, and says what the labels are from.
//!
//! The published EvoCode-Bench results are not ours to ship: the labels name their failures, and the results are read from
//! `../shared/data/evocode-published`, or from where `EVOCODE_PUBLISHED` says. Where they are not, their labels are left out.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

mod recordings;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use analysis::failures::FailureClass as C;
use serde::Deserialize;
use test_folders::{copy, data_beside_the_repository};
use workbench::api::{FailureCasesRequest, FailuresRequest};

use crate::library::{Library, members, repository};

/// The least share, in percent, of the failures that a class was given which have its label.
const PRECISION: u32 = 95;
/// The fewest labels with which a class counts as checked.
const LABELS: u32 = 8;

#[derive(Deserialize)]
struct Labels {
    failures: Vec<Label>,
    attempts: Vec<Label>,
}

/// A failure by its place, and what it is.
#[derive(Deserialize)]
struct Label {
    source: String,
    run: String,
    episode: String,
    turn: u32,
    attempt: u32,
    /// Of a failing test; without it, it is an attempt's end.
    #[serde(default)]
    test: String,
    class: String,
}

/// Where the results of a source are; `None` = not on this machine.
fn results(source: &str) -> Option<PathBuf> {
    let path = match source {
        "harbor" => repository().join("tests/fixtures/harbor"),
        "sample" => repository().join("tests/fixtures/labels/sample-simulated.zip"),
        _ => match std::env::var_os("EVOCODE_PUBLISHED") {
            Some(path) => PathBuf::from(path),
            None => data_beside_the_repository("data/evocode-published")?,
        },
    };
    path.exists().then_some(path)
}

/// The class of a failure by its attempt and test; that of the attempt by the test `""`.
type Classes = HashMap<(String, u32, u32, String), String>;

fn classes(library: &Library, run: &str) -> Classes {
    let request = FailuresRequest { members: members(&[run]), ..FailuresRequest::default() };
    let cases_request = FailureCasesRequest {
        failures: request,
        most_tests: 100_000,
        limit: 100_000,
        ..FailureCasesRequest::default()
    };
    let page = library.workbench.list_failure_cases(cases_request).expect("cases");
    let case_labels = page.rows.into_iter().flat_map(|case| {
        let (episode, turn, attempt) = (case.episode, case.turn, case.attempt);
        let tests = case.failing.into_iter().map(|test| (test.test, test.class));
        let all: Vec<_> = tests.chain([(String::new(), case.class)]).collect();
        all.into_iter().map(move |(test, class)| ((episode.clone(), turn, attempt, test), class))
    });
    case_labels.collect()
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> T {
    let path = repository().join("tests/fixtures/labels").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("labels")).expect("labels")
}

/// How often each class was given to failures of each label.
#[derive(Default)]
struct Confusion(BTreeMap<(C, C), u32>);

impl Confusion {
    fn add(&mut self, given: &str, label: &str) {
        let class = |word: &str| C::parse(word).unwrap_or_else(|| panic!("no class {word}"));
        *self.0.entry((class(given), class(label))).or_default() += 1;
    }

    fn count(&self, condition: impl Fn(C, C) -> bool) -> u32 {
        self.0.iter().filter(|((given, label), _)| condition(*given, *label)).map(|(_, n)| n).sum()
    }

    fn labeled(&self, class: C) -> u32 {
        self.count(|_, label| label == class)
    }

    fn given(&self, class: C) -> u32 {
        self.count(|given, _| given == class)
    }

    fn right(&self, class: C) -> u32 {
        self.count(|given, label| given == class && label == class)
    }

    /// The rows of the documentation: labels, how often given and rightly, precision, recall.
    fn rows(&self) -> Vec<String> {
        let percent = |part: u32, whole: u32| match whole {
            0 => "n/a".to_owned(),
            // Down, so that a precision below the least one never reads as it.
            _ => format!("{} %", part * 100 / whole),
        };
        let known = C::ALL.iter().filter(|class| self.labeled(**class) + self.given(**class) > 0);
        known
            .map(|&class| {
                let (labeled, given, right) = (self.labeled(class), self.given(class), self.right(class));
                format!(
                    "| {} | {labeled} | {given} | {right} | {} | {} |",
                    class.label(),
                    percent(right, given),
                    percent(right, labeled)
                )
            })
            .collect()
    }

    /// The checked classes whose precision is too low.
    fn below(&self) -> Vec<String> {
        let checked = C::ALL.iter().filter(|class| class.is_checked() && **class != C::Other);
        checked
            .filter(|class| self.right(**class) * 100 < PRECISION * self.given(**class))
            .map(|class| format!("{}: {} of {}", class.label(), self.right(*class), self.given(*class)))
            .collect()
    }
}

/// The labels against what the rules give, and whether every source was there.
fn confusion(labels: &[Label]) -> (Confusion, bool) {
    let mut by_source: BTreeMap<&str, Vec<&Label>> = BTreeMap::new();
    for label in labels {
        by_source.entry(&label.source).or_default().push(label);
    }
    let (mut confusion, mut is_whole) = (Confusion::default(), true);
    for (source, labels) in by_source {
        let Some(path) = results(source) else {
            eprintln!(
                "{} labels are left out: the results of {source} are not on this machine",
                labels.len()
            );
            is_whole = false;
            continue;
        };
        let library = Library::new(&[path]);
        let mut given: HashMap<&str, Classes> = HashMap::new();
        for label in labels {
            let given = given.entry(&label.run).or_insert_with(|| classes(&library, &label.run));
            let key = (label.episode.clone(), label.turn, label.attempt, label.test.clone());
            let class = given.get(&key).unwrap_or_else(|| panic!("{} {key:?} is no failure", label.run));
            if *class != label.class {
                eprintln!("{}, not {class}: {} {key:?}", label.class, label.run);
            }
            confusion.add(class, &label.class);
        }
    }
    (confusion, is_whole)
}

/// The rows of the table of the documentation with this first column.
fn documented(first: &str) -> Vec<String> {
    let page = std::fs::read_to_string(repository().join("docs/metrics.md")).expect("a page");
    let head = format!("| {first} | labeled | given | of these right | precision | recall |");
    let rows = page.lines().skip_while(|line| *line != head).skip(2);
    rows.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn classes_are_those_that_a_person_gives_to_real_failures() {
    let labels: Labels = read("failures.json");
    assert!(labels.failures.len() >= 200);
    let (tests, has_tests) = confusion(&labels.failures);
    let (mut ends, has_ends) = confusion(&labels.attempts);
    recordings::add_ends(&mut ends);
    let from_output = recordings::from_output_alone();
    for (table, is_whole, first) in [
        (&tests, has_tests, "class of a failing test"),
        (&ends, has_ends, "class of an attempt's end"),
        (&from_output, true, "class from output alone"),
    ] {
        eprintln!("{first}\n{}", table.rows().join("\n"));
        assert_eq!(table.below(), Vec::<String>::new(), "{first}");
        if is_whole {
            assert_eq!(documented(first), table.rows(), "{first}");
        }
    }
    // Checked is what has enough labels, in one of the two tables that know the whole end.
    if has_tests && has_ends {
        for class in C::ALL.iter().filter(|class| **class != C::Other) {
            let labeled = tests.labeled(*class).max(ends.labeled(*class));
            assert_eq!(class.is_checked(), labeled >= LABELS, "{}: {labeled} labels", class.label());
        }
    }
}

/// What only the kind of a case tells has labels of the sample alone.
#[test]
fn classes_that_only_the_kind_of_a_case_tells_are_labeled_in_the_sample() {
    let labels: Labels = read("failures.json");
    let by_kind = [C::GuardIgnored, C::MissingCascade, C::WrongAggregate, C::WrongEffect, C::WrongList];
    let kind_labels: Vec<&Label> = labels
        .failures
        .iter()
        .filter(|label| by_kind.iter().any(|class| class.as_str() == label.class))
        .collect();
    assert!(kind_labels.iter().all(|label| label.source == "sample"));
    let page = std::fs::read_to_string(repository().join("docs/metrics.md")).expect("a page");
    assert!(page.contains(&format!("The {} labels *guard ignored*", kind_labels.len())));
    let counts = |source: &str| {
        let test_labels = labels.failures.iter().filter(|label| label.source == source).count();
        (test_labels, labels.attempts.iter().filter(|label| label.source == source).count())
    };
    let (evocode, harbor, sample) = (counts("evocode"), counts("harbor"), counts("sample"));
    let sentence = format!(
        "{} failing tests and {} ends of attempts of real results were labeled by hand",
        labels.failures.len(),
        labels.attempts.len() + recordings::labels().len()
    );
    assert!(page.contains(&sentence), "{sentence}");
    let sentence = format!(
        "tests: {} of the published EvoCode-Bench results (13 models), {} of real Harbor jobs, {} of the servers of the first sample",
        evocode.0, harbor.0, sample.0
    );
    assert!(page.contains(&sentence), "{sentence}");
    let sentence = format!(
        "ends: {} of EvoCode-Bench, {} of Harbor, {} recorded ends of the nine harnesses",
        evocode.1,
        harbor.1,
        recordings::labels().len()
    );
    assert!(page.contains(&sentence), "{sentence}");
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
    let job_labels = |name: &str| {
        let path = folder.path().join(name).join("failures-k1");
        copy(&job, &path);
        path
    };
    let (as_played, renamed) = (job_labels("a"), job_labels("b"));
    rename(&renamed);
    let read = |path: PathBuf| classes(&Library::new(&[path]), "failures-k1-oracle");
    let as_played: Classes = read(as_played)
        .into_iter()
        .map(|((episode, turn, attempt, id), class)| {
            let other = IDS
                .iter()
                .find(|(case_id, _)| *case_id == id)
                .map_or(id, |(_, other_id)| (*other_id).to_owned());
            ((episode, turn, attempt, other), class)
        })
        .collect();
    assert!(as_played.keys().any(|(.., id)| id == "gone.notes"), "{as_played:?}");
    assert_eq!(read(renamed), as_played);
}
