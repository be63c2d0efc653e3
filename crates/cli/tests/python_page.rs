//! The programs of `docs/python.md`: what they print for the sample is what Stamina Lab shows, for every run of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::app::{TestHome, text};
use crate::folders::fixtures;

/// What to do about a golden value that is no longer one.
const AGAIN: &str = "make tests/fixtures/table/python_page.json again, with python_page.py beside it";

/// The language and the text of the first code block.
fn code_block(section: &str) -> Option<(&str, &str)> {
    let (_, rest) = section.split_once("\n```")?;
    let (language, rest) = rest.split_once('\n')?;
    let (code, _) = rest.split_once("```")?;
    Some((language, code))
}

/// Programs by the headings of their sections, with their languages.
fn programs(page: &str) -> BTreeMap<&str, (&str, &str)> {
    let sections = page.split("\n## ").skip(1).filter_map(|section| {
        let (heading, _) = section.split_once('\n')?;
        let (language, code) = code_block(section)?;
        (language != "sh").then_some((heading, (language, code)))
    });
    sections.collect()
}

/// What a program prints here, beside the table that it reads; `None` = its language or one of its packages is not installed.
fn output_here(language: &str, program: &str, table: &Path) -> Option<String> {
    let (interpreter, name) = match language {
        "python" => ("python3", "program.py"),
        "r" => ("Rscript", "program.R"),
        other => panic!("a program in {other}"),
    };
    let room = table.parent().expect("a folder");
    let run = |code: &str| {
        let file = room.join(name);
        fs::write(&file, code).expect("written");
        Command::new(interpreter).arg(&file).current_dir(room).output().ok()
    };
    let is_package =
        |line: &&str| ["import ", "from ", "library("].iter().any(|begin| line.starts_with(begin));
    let packages: Vec<&str> = program.lines().filter(is_package).collect();
    run(&packages.join("\n")).filter(|output| output.status.success())?;
    let output = run(program).expect("it has just run");
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(text(&output.stdout))
}

/// What the programs read of a table: run, stamina, whether the episode was censored, why it is withdrawn.
fn what_is_read(table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let columns = ["run_id", "stamina", "at_least", "invalid"]
        .map(|name| header.iter().position(|other| other == name).expect(name));
    let mut rows: Vec<Vec<String>> = reader
        .records()
        .map(|row| row.expect("a row"))
        .map(|row| columns.iter().map(|&column| row[column].to_owned()).collect())
        .collect();
    rows.sort();
    rows
}

#[test]
fn the_programs_of_the_page_print_the_mean_stamina_of_every_run() {
    let home = TestHome::new();
    let repository = fixtures().join("../..");
    let page = fs::read_to_string(repository.join("docs/python.md")).expect("the page");
    let golden = fs::read(fixtures().join("table/python_page.json")).expect("the golden values");
    let golden: Value = serde_json::from_slice(&golden).expect("JSON");

    // Its commands make the table that the programs have read.
    let table = home.path("episodes.csv");
    let path_of = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (language, commands) = code_block(&page).expect("the commands");
    assert_eq!(language, "sh");
    for command in commands.lines() {
        let words: Vec<String> = command
            .split_whitespace()
            .map(|word| match word {
                "data/sample-table.csv" => path_of(&repository.join(word)),
                "episodes.csv" => path_of(&table),
                other => other.to_owned(),
            })
            .collect();
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let output = home.stamina(&arguments);
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    }
    let table_text = fs::read_to_string(&table).expect("the table");
    let read = golden["episodes"].as_str().expect("the table");
    assert_eq!(what_is_read(&table_text), what_is_read(read), "{AGAIN}");

    // Each program is the one whose output is kept, and runs here where its packages are installed.
    let programs = programs(&page);
    let kept: BTreeMap<&str, &Value> = golden["programs"]
        .as_object()
        .expect("programs")
        .iter()
        .map(|(heading, kept)| (heading.as_str(), kept))
        .collect();
    assert_eq!(programs.len(), 3);
    assert!(kept.keys().all(|heading| programs.contains_key(heading)), "{AGAIN}");
    let runs = home.json(&["runs"]);
    let means: BTreeMap<&str, f64> = runs
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| (run["id"].as_str().expect("an id"), run["stamina"]["mean"].as_f64().expect("a mean")))
        .collect();
    assert_eq!(means.len(), 4);
    for (heading, (language, program)) in programs {
        let kept = kept.get(heading).map(|kept| {
            assert_eq!(kept["program"].as_str(), Some(program), "{heading}: {AGAIN}");
            kept["output"].as_str().expect("output").to_owned()
        });
        assert!(kept.is_some(), "{heading}: {AGAIN}");
        let local_output = output_here(language, program, &table);
        if local_output.is_none() {
            println!("left out: the program of \"{heading}\", whose packages are not installed");
        }
        for output in kept.into_iter().chain(local_output) {
            let printed: BTreeMap<&str, f64> = output
                .lines()
                .filter_map(|line| line.trim_end().rsplit_once(' '))
                .map(|(run, mean)| (run, mean.parse().expect("a number")))
                .collect();
            assert_eq!(
                printed.keys().collect::<Vec<_>>(),
                means.keys().collect::<Vec<_>>(),
                "{heading} prints every run"
            );
            for (run, mean) in &means {
                assert!((printed[run] - mean).abs() < 1e-9, "{heading}, {run}: {} and {mean}", printed[run]);
            }
        }
    }
}
