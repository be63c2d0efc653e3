//! What figures and tables for papers say of their values and runs is what they show.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figures::table::Value;
use figures::{Figure, FigureSpec, caption, draw};
use test_folders::data_beside_the_repository;
use workbench::api::{
    CompareRequest, ExportFormat, ExportRequest, ExportSubject, FailuresRequest, FigureSubject, ListRuns,
    MatrixRequest, Measure, TableSubject,
};

use crate::library::{Library, members, repository};

/// The ids of all runs of a library.
fn ids(library: &Library) -> Vec<String> {
    let rows = library.workbench.list_runs(ListRuns { limit: 20, ..ListRuns::default() }).unwrap().rows;
    rows.into_iter().map(|run| run.id).collect()
}

fn request(ids: &[String]) -> CompareRequest {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    CompareRequest { members: members(&ids), ..CompareRequest::default() }
}

fn on_paper(library: &Library, figure: &FigureSubject) -> FigureSpec {
    library.workbench.print_spec(figure, "icml", None, false).unwrap()
}

/// The turns that count in a paired figure of the first two runs over this horizon, and the heads of its table.
fn paired(library: &Library, ids: &[String], tau: Option<u32>) -> (Option<u32>, Vec<String>) {
    let request = CompareRequest { tau, ..request(ids) };
    let spec = on_paper(library, &FigureSubject::Paired { request: request.clone(), other: 1 });
    let Figure::Paired(data) = &spec.figure else { panic!("{:?}", spec.figure) };
    let table = library.workbench.table(&TableSubject::Paired { request, other: Some(1) }).unwrap();
    let heads = table.columns.iter().filter(|column| column.name.ends_with("stamina"));
    (data.first_turns, heads.map(|column| column.heading.clone()).collect())
}

/// A run that passed 3 turns, and one that passed 1, on two scenarios.
fn two_runs() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    let mut text = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n".to_owned();
    for scenario in ["a", "b"] {
        for (run, stamina) in [("r", 3), ("s", 1)] {
            for turn in 1..=stamina + 1 {
                text.push_str(&format!("{run},h,{run},{scenario},{turn},1,{},4\n", turn <= stamina));
            }
        }
    }
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// GPT-5.5 passed 8 turns and stood at 7 on an axis "Stamina (turns passed)".
#[test]
fn a_paired_figure_and_its_table_say_that_later_turns_do_not_count() {
    let (_folder, path) = two_runs();
    let library = Library::new(&[path]);
    let runs = ids(&library);
    let cut = ["Stamina (of the first 2 turns)", "Stamina of the reference (of the first 2 turns)"];
    assert_eq!(paired(&library, &runs, Some(2)), (Some(2), cut.map(str::to_owned).to_vec()));
    let whole = ["Stamina", "Stamina of the reference"].map(str::to_owned).to_vec();
    assert_eq!(paired(&library, &runs, None), (None, whole));
}

/// The same of the published results, where it was seen.
#[test]
fn gpt_5_5_passed_more_turns_than_count() {
    let Some(path) = data_beside_the_repository("data/evocode-published") else { return };
    let library = Library::new(&[path]);
    let runs = ["evocode-published.claude-opus-4.8", "evocode-published.gpt-5.5"].map(str::to_owned);
    assert_eq!(paired(&library, &runs, Some(7)).0, Some(7));
    // Over 9 turns, nobody passed more.
    assert_eq!(paired(&library, &runs, None).0, None);
}

/// The mean difference is one of pseudo-observations, −2.52, beside a column whose own mean is −2.04: both are named.
#[test]
fn both_means_of_the_published_differences_are_named() {
    let Some(path) = data_beside_the_repository("data/evocode-published") else { return };
    let library = Library::new(&[path]);
    let runs = ["evocode-published.claude-opus-4.8", "evocode-published.gpt-5.5"].map(str::to_owned);
    let subject = FigureSubject::Paired { request: request(&runs), other: 1 };
    let text = caption(&on_paper(&library, &subject));
    let adjusted = "mean Δ −2.52 [−4.35, −0.69] turns, p = 0.009";
    let observed = "the mean of the observed differences is −2.04";
    for expected in [adjusted, observed, "τ = 9 turns"] {
        assert!(text.contains(expected), "{expected:?} is not in {text:?}");
    }
    let subject = TableSubject::Paired { request: request(&runs), other: Some(1) };
    let table = library.workbench.table(&subject).unwrap();
    let notes = table.notes.join("\n");
    assert!(notes.contains("on average −2.52 turns") && notes.contains(observed), "{notes}");
}

/// The row had the note "unknown", and the line below the table in a report had the setting once more.
#[test]
fn that_all_runs_are_simulated_stands_in_the_settings_once_and_with_its_note() {
    let library = Library::new(&[repository().join("data/sample-simulated.zip")]);
    let compared = request(&ids(&library)[..2]);
    let table = library.workbench.table(&TableSubject::Settings { request: compared.clone() }).unwrap();
    let is_played_by = |row: &&Vec<Option<Value>>| row[0] == Some(Value::from("Played by"));
    let rows: Vec<_> = table.rows.iter().filter(is_played_by).collect();
    let expected =
        ["Played by", "the same for all", "simulated model", "simulated model", "no real model answered"];
    assert_eq!(rows, [&expected.map(|word| Some(Value::from(word))).to_vec()]);
    let report = ExportSubject::Report { request: compared, preset: "icml".to_owned() };
    let request = ExportRequest { subject: report, format: ExportFormat::Md, path: None };
    let exported = library.workbench.export(request).unwrap();
    let text = String::from_utf8(STANDARD.decode(exported.base64.unwrap()).unwrap()).unwrap();
    let same = text.lines().find(|line| line.starts_with("The same for all: ")).unwrap();
    assert!(!same.contains("Played by"), "{same}");
    assert_eq!(text.matches("| Played by |").count(), 1, "{text}");
}

/// Rows of simulated runs had no label in failures, and "oracle-strong" was "strong" in some figures of the same runs, which no
/// caption said.
#[test]
fn figures_of_the_sample_name_simulated_runs_and_say_what_their_names_leave_out() {
    let library = Library::new(&[repository().join("data/sample-simulated.zip")]);
    let runs = ids(&library);
    assert_eq!(runs.len(), 9, "{runs:?}");
    let compared = request(&runs);
    let failures = FailuresRequest { members: compared.members.clone(), ..FailuresRequest::default() };
    let failures = on_paper(&library, &FigureSubject::Failures { request: failures });
    let svg = draw(&failures).svg;
    assert_eq!(svg.matches("(sim.)</text>").count() + svg.matches("(simulated)</text>").count(), 9, "{svg}");
    let bars = FigureSubject::Bars { request: compared.clone(), measure: Measure::Stamina, published: false };
    let sentence = "Names are drawn without \"oracle-\".";
    for spec in [failures, on_paper(&library, &bars)] {
        assert!(caption(&spec).contains(sentence), "{}", caption(&spec));
    }
    let differences = on_paper(&library, &FigureSubject::Differences { request: compared, ratio: false });
    let (svg, text) = (draw(&differences).svg, caption(&differences));
    assert_eq!(svg.contains(">oracle-"), !text.contains(sentence), "{text}");
}

/// The horizon stood three times in a caption, Greenwood and the policy twice, and there was no short form.
#[test]
fn the_caption_of_a_table_has_a_short_form_and_says_everything_once() {
    let library = Library::fixtures(&["evocode"]);
    let first_two = || request(&ids(&library)[..2]);
    let written = |table: TableSubject| {
        let subject = ExportSubject::Table { table, preset: "icml".to_owned(), grey: false };
        let request = ExportRequest { subject, format: ExportFormat::Tex, path: None };
        let exported = library.workbench.export(request).unwrap();
        (String::from_utf8(STANDARD.decode(exported.base64.unwrap()).unwrap()).unwrap(), exported.caption)
    };
    let (tex, caption) = written(TableSubject::Runs { request: first_two() });
    assert!(tex.contains("\\caption[Runs]{Runs. "), "{tex}");
    for word in ["Greenwood", "censoring policy", "τ = "] {
        assert_eq!(caption.matches(word).count(), 1, "{word}: {caption}");
    }
    assert!(!caption.contains("over the first 4 turns"), "{caption}");
    // What must be known of published numbers stands where they are.
    let paper = "The paper of EvoCode-Bench evaluates round by round.";
    for table in [
        TableSubject::Runs { request: first_two() },
        TableSubject::Scores { request: first_two() },
        TableSubject::Matrix { request: MatrixRequest::default() },
    ] {
        let caption = written(table).1;
        assert!(!caption.contains(paper), "{caption}");
    }
    let caption = written(TableSubject::Published { request: MatrixRequest::default() }).1;
    assert!(caption.contains(paper), "{caption}");
}
