//! What is a tidy table, in which words its columns may be written, and what lies beside it.

use std::collections::BTreeMap;
use std::fs;

use files::Tree;
use ingest::discover::discover;
use ingest::formats::table::{header_id, incomplete_tables};
use model::Verdict::{Failed, Passed, Unfinished};
use model::{ArtifactKind, Request};

use crate::table::{HEADER, Read, folder, read, table};

#[test]
fn every_way_to_write_one_gives_the_same() {
    let rows = "a,h,\"m, \"\"x\"\"\",s 1,1,1,true,0.5\na,h,\"m, \"\"x\"\"\",s 1,2,1,false,NaN\n";
    let plain = table("t.csv", format!("{HEADER},cost_usd\n{rows}"));
    let with_mark = format!("\u{feff}{HEADER},cost_usd\n{rows}").replace('\n', "\r\n");
    let german = "run;harness;model;scenario;turn;attempt;passed;cost_usd\n\
                  a;h;\"m, \"\"x\"\"\";s 1;1;1;1;0,5\na;h;\"m, \"\"x\"\"\";s 1;2;1;0;\n";
    let tabs = "Run\tHarness\tModel\tScenario\tTurn\tAttempt\tPassed\tCost USD\n\
                a\th\t\"m, \"\"x\"\"\"\ts 1\t1\t1\tyes\t0.5\na\th\t\"m, \"\"x\"\"\"\ts 1\t2\t1\tno\tNA\n";
    let lines = "{\"run\":\"a\",\"harness\":\"h\",\"model\":\"m, \\\"x\\\"\",\"scenario\":\"s 1\",\"turn\":1,\"attempt\":1,\"passed\":true,\"cost_usd\":0.5}\n\n\
                 {\"run\":\"a\",\"harness\":\"h\",\"model\":\"m, \\\"x\\\"\",\"scenario\":\"s 1\",\"turn\":2.0,\"attempt\":1,\"passed\":false,\"cost_usd\":NaN}";
    for (name, text) in
        [("t.csv", with_mark.as_str()), ("t.csv", german), ("t.tsv", tabs), ("t.jsonl", lines)]
    {
        let other = table(name, text);
        assert_eq!(other.warnings(), [], "{name}: {text}");
        assert_eq!(other.runs, plain.runs, "{name}");
        assert_eq!(other.episodes, plain.episodes, "{name}");
    }
    assert_eq!(plain.runs[0].model.as_deref(), Some("m, \"x\""));
}

#[test]
fn a_quoted_line_break_stands_in_one_row() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},request\na,h,m,s,1,1,1,\"Build it.\nWith tests.\"\na,h,m,s,2,1,0,Add users\na,h,m,s,2,1,0,twice\n"
        ),
    );
    let Some(Request::Text(text)) = &read.episode("a", "s").turns[0].request else { panic!() };
    assert_eq!(text, "Build it.\nWith tests.");
    assert_eq!(read.episode("a", "s").turns[1].title.as_deref(), Some("Add users"));
    let [(code, message)] = read.warnings()[..] else { panic!("{:?}", read.warnings()) };
    assert_eq!(code, "table.duplicate");
    assert!(message.starts_with("Row 4 is attempt 1 at turn 2 of scenario “s”, as is row 3."), "{message}");
}

#[test]
fn other_names_are_guessed_and_mapped() {
    let text = "experiment,agent,llm,task,round,try,ok\ne1,h,m,s,1,1,1\ne1,h,m,s,2,1,0\n";
    let folder = folder("rounds.csv", text);
    let tree = Tree::from_file(&folder.path().join("rounds.csv")).unwrap();
    let error = discover(&tree).unwrap_err();
    let [lacking] = &error.tables[..] else { panic!("{error:?}") };
    assert_eq!(lacking.present, ["harness", "scenario"]);
    assert_eq!(
        lacking.suggestion(),
        "--map run=experiment --map model=llm --map turn=round --map attempt=try --map passed=ok"
    );
    let header: Vec<String> = text.lines().next().unwrap().split(',').map(str::to_owned).collect();
    let names_of = lacking.missing.iter().map(|(name, column)| ((*name).to_owned(), column.clone().unwrap()));
    let names = BTreeMap::from([(header_id(&header), names_of.collect())]);
    let tree = tree.with_column_names(names);
    assert!(incomplete_tables(&tree).is_empty());
    let read = read(&tree, "");
    assert_eq!(read.verdicts("e1", "s"), [(1, 1, Passed), (2, 1, Failed)]);
    assert!(read.episodes[0].1.turns[0].attempts[0].extra.is_empty(), "a column that is mapped is no other");
}

#[test]
fn no_other_table_is_taken_for_one() {
    let folder = folder("prices.csv", "model,input,output\nm,1,2\n");
    fs::write(folder.path().join("log.jsonl"), "{\"run\":\"a\",\"model\":\"m\"}\n").unwrap();
    fs::write(folder.path().join("no.parquet"), b"PAR1 is not enough").unwrap();
    fs::write(folder.path().join("empty.csv"), b"").unwrap();
    fs::write(folder.path().join("bytes.csv"), b"\xff\xfe,\x00").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let error = discover(&tree).unwrap_err();
    assert!(error.tables.is_empty(), "{error:?}");
}

#[test]
fn a_quote_that_nobody_closes_does_not_take_the_file() {
    let mut text = format!("{HEADER}\na,h,m,s,1,1,1\na,h,\"m,s,2,1,1\n");
    text.push_str(&"x".repeat(6 << 20));
    let read = table("t.csv", text);
    assert_eq!(read.codes(), ["table.row_too_long"]);
    assert!(read.warnings()[0].1.contains("It is read up to row 2."), "{:?}", read.warnings());
    assert_eq!(read.verdicts("a", "s").len(), 1);
}

#[test]
fn files_beside_the_table_are_found_and_nothing_else() {
    let folder = folder(
        "t.csv",
        format!("{HEADER},log,request\na,h,m,s,1,1,1,logs/1.txt,asked.md\na,h,m,s,2,1,1,../secret,none.md\n"),
    );
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/1.txt"), "hello").unwrap();
    fs::write(folder.path().join("asked.md"), "Build it").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let read = read(&tree, "");
    let turns = &read.episode("a", "s").turns;
    assert_eq!(turns[0].attempts[0].artifacts[0].kind, ArtifactKind::AgentLog);
    assert!(matches!(&turns[0].request, Some(Request::File(file)) if file.path == "asked.md"));
    assert!(matches!(&turns[1].request, Some(Request::Text(text)) if text == "none.md"));
    assert_eq!(read.codes(), ["file.missing"]);
}

#[test]
fn columns_of_json_lines_are_read_wherever_they_begin() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for scenario in 0..300 {
        let cost =
            if scenario < 250 { String::new() } else { format!(",\"cost_usd\":{scenario},\"seed\":7") };
        let row = format!("\"run\":\"r\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s{scenario}\"");
        let _ = writeln!(text, "{{{row},\"turn\":1,\"attempt\":1,\"passed\":true{cost}}}");
    }
    let late_columns = table("late.jsonl", &text);
    let attempt = |read: &Read, scenario: &str| read.episode("r", scenario).turns[0].attempts[0].clone();
    assert_eq!(attempt(&late_columns, "s100").cost_usd, None);
    assert_eq!(attempt(&late_columns, "s299").cost_usd, Some(299.0));
    assert_eq!(attempt(&late_columns, "s299").extra.get("seed"), Some(&serde_json::json!(7)));
    // A required one, too: the first rows have no verdict.
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(index, line)| if index < 220 { line.replace(",\"passed\":true", "") } else { line.to_owned() })
        .collect();
    let late_columns = table("late.jsonl", lines.join("\n"));
    assert_eq!(attempt(&late_columns, "s219").verdict, Unfinished);
    assert_eq!(attempt(&late_columns, "s220").verdict, Passed);
}
