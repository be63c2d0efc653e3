//! What a reader must know is said wherever the numbers are, and once.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use workbench::api::{
    CompareRequest, ComparedMember, ExportFormat, ExportRequest, ExportSubject, FailureCasesRequest,
    FailuresRequest, FigureSubject, ListRuns, Member, RunRow, TableSubject,
};

use crate::library::{Library, members, repository};

fn rows(library: &Library) -> Vec<RunRow> {
    library.workbench.list_runs(ListRuns { limit: 9, ..ListRuns::default() }).unwrap().rows
}

/// The group of all runs of the harness of this run.
fn compared_group(library: &Library, run: &RunRow) -> ComparedMember {
    let harness = run.harness.clone().unwrap_or_default();
    let members = vec![Member::Harness { harness, benchmark: run.benchmark.key.clone() }];
    let request = CompareRequest { members, ..CompareRequest::default() };
    library.workbench.compare_runs(request).unwrap().members.remove(0)
}

fn sentences(member: &ComparedMember) -> BTreeSet<&str> {
    member.doubts.iter().chain(&member.caveats).map(|sentence| sentence.trim_end_matches('.')).collect()
}

/// One of EvoCode-Bench's tasks is known by totals only: every caption said so, but not those of failures.
#[test]
fn failures_name_the_tasks_that_are_known_by_totals_only() {
    let library = Library::fixtures(&["evocode"]);
    let rows = rows(&library);
    let ids: Vec<&str> = rows.iter().take(2).map(|run| run.id.as_str()).collect();
    let request = || FailuresRequest { members: members(&ids), ..FailuresRequest::default() };
    let expected = "Each of them: 2 of 3 tasks.";
    let failures = library.workbench.get_failures(request()).unwrap();
    let times =
        |sentences: &[String]| sentences.iter().filter(|sentence| sentence.contains("2 of 3 tasks")).count();
    assert!(failures.cautions.contains(&expected.to_owned()), "{:?}", failures.cautions);
    for table in [
        TableSubject::Failures { request: request() },
        TableSubject::Origins { request: request() },
        TableSubject::Repairs { request: request() },
        TableSubject::RepairTimes { request: request() },
        TableSubject::Flips { request: request() },
        TableSubject::Cases {
            request: FailureCasesRequest { failures: request(), ..FailureCasesRequest::default() },
        },
    ] {
        let notes = library.workbench.table(&table).unwrap().notes;
        assert_eq!(times(&notes), 1, "{table:?}: {notes:?}");
    }
    let figure = FigureSubject::Failures { request: request() };
    let subject = ExportSubject::Figure { figure, preset: "icml".to_owned(), height_pt: None, grey: false };
    let export_request = ExportRequest { subject, format: ExportFormat::Svg, path: None };
    let exported = library.workbench.export(export_request).unwrap();
    assert_eq!(exported.caption.matches(expected).count(), 1, "{}", exported.caption);
}

/// A group had "2 of 3 tasks of RUN" beside "RUN: 2 of 3 tasks".
#[test]
fn what_is_missing_of_the_runs_of_a_group_is_said_once() {
    let library = Library::fixtures(&["evocode"]);
    let rows = rows(&library);
    let missing = rows.iter().filter(|run| run.partial.is_some()).count();
    assert!(missing > 1, "{rows:?}");
    let member = compared_group(&library, &rows[0]);
    let found: Vec<&str> = sentences(&member).into_iter().filter(|s| s.contains("of 3 tasks")).collect();
    assert_eq!(found.len(), missing, "{found:?}");
}

/// A group said where its trials count as a group, and once more for each of its runs.
#[test]
fn a_copy_in_a_group_is_named_once() {
    let room = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| room.path().join(name));
    for place in [&one, &two] {
        test_folders::copy(&repository().join("tests/fixtures/harbor/jobs/failures-k1"), place);
    }
    let library = Library::new(&[one, two]);
    let rows = rows(&library);
    assert_eq!(rows.len(), 2);
    let member = compared_group(&library, &rows[0]);
    let found: Vec<&str> = sentences(&member)
        .into_iter()
        .filter(|sentence| sentence.contains("the same trial") || sentence.contains("also in"))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Where every attempt passed a report had heads of tables over nothing.
#[test]
fn a_report_has_no_table_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,planned_turns\n\
         r,h,m,a,1,1,true,2\nr,h,m,a,2,1,true,2\nr,h,m,b,1,1,true,2\nr,h,m,b,2,1,true,2\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = rows(&library)[0].id.clone();
    let report = |format| {
        let request = CompareRequest { members: members(&[&run]), ..CompareRequest::default() };
        let subject = ExportSubject::Report { request, preset: "icml".to_owned() };
        let exported = library.workbench.export(ExportRequest { subject, format, path: None }).unwrap();
        String::from_utf8(STANDARD.decode(exported.base64.unwrap()).unwrap()).unwrap()
    };
    let sentence = "Attempts that did not pass, by why they ended: none.";
    let html = report(ExportFormat::Html);
    assert!(html.contains(sentence), "{html}");
    let tables: Vec<&str> = html.split("<table").skip(1).collect();
    assert!(!tables.is_empty());
    for table in tables {
        assert!(table.split("</table>").next().unwrap().contains("<td"), "{table}");
    }
    assert!(report(ExportFormat::Md).contains(sentence));
}
