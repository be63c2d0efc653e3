//! Figures, tables and reports from the command line: the real program on real results.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use test_folders::copy;

use crate::kinds;

struct Library {
    folder: tempfile::TempDir,
    sources: PathBuf,
}

impl Library {
    /// A library of EvoCode's made-up results: several models, one of which is a hostile name.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the library");
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("the repository")
            .join("tests/fixtures");
        let sources = folder.path().join("sources");
        copy(&fixtures.join("evocode"), &sources.join("evocode"));
        let library = Self { folder, sources };
        let read = library.run(&["ingest", library.sources.join("evocode").to_str().expect("UTF-8")]);
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        library
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("--db")
            .arg(self.folder.path().join("library.sqlite"))
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .expect("stamina runs")
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("hint:"), "{message}");
        message
    }

    fn runs(&self) -> Vec<String> {
        let runs: Value = serde_json::from_str(&self.ok(&["runs", "--json"])).expect("JSON");
        runs.as_array().expect("runs").iter().filter_map(|r| Some(r["id"].as_str()?.to_owned())).collect()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

const FORMATS: [&str; 7] = ["svg", "pdf", "png", "tex", "csv", "parquet", "toml"];

/// Every file makes one of these formats again, and the spec alone each of them. That every file of a kind has the same spec, and
/// that a spec gives the same bytes in every format, is what a test of `figures` says of all kinds (`tests/export.rs`).
fn made_again(library: &Library, kind: &str, formats: &[&str]) {
    let others = FORMATS.iter().zip(formats.iter().cycle().skip(1));
    for (source, form) in others.chain(formats.iter().map(|form| (&"toml", form))) {
        let (spec, out) = (format!("{kind}.{source}"), format!("again.{form}"));
        library.ok(&["figure", &spec, "--out", &out]);
        assert!(library.bytes(&out) == library.bytes(&format!("{kind}.{form}")), "{spec} gives other bytes");
    }
}

#[test]
fn every_file_of_a_figure_makes_every_other_again() {
    let library = Library::new();
    let runs = library.runs();
    let runs: Vec<&str> = runs.iter().take(3).map(String::as_str).collect();
    assert!(runs.len() > 1, "the fixture has several runs");
    for kind in ["survival", "differences"] {
        for format in FORMATS {
            let out = format!("{kind}.{format}");
            let mut args = vec!["figure", kind];
            args.extend(&runs);
            args.extend(["--out", &out, "--preset", "acl"]);
            let caption = library.ok(&args);
            assert!(caption.contains("Stamina Lab"), "{caption}");
        }
        made_again(&library, kind, &["svg", "pdf", "tex", "csv"]);
    }
    let grey = library.ok(&["figure", "survival.pdf", "--grey", "--preset", "icml:full"]);
    assert!(grey.starts_with("<svg") && grey.contains("width=\"486pt\""), "{}", &grey[..200.min(grey.len())]);
}

#[test]
fn every_kind_of_figure_and_table_is_made() {
    let library = Library::new();
    let runs = library.runs();
    let all: Vec<&str> = runs.iter().map(String::as_str).collect();
    for kind in kinds::figures() {
        let runs = if kind == "paired" { &all[..2] } else { &all[..] };
        let args = [&["figure", kind.as_str()][..], runs].concat();
        // These runs say no cost, and made one attempt a turn: a figure without a point is none.
        let nothing = [("pareto", "no run has a known cost"), ("retries", "no turn had a second attempt")];
        if let Some((_, reason)) = nothing.iter().find(|(refused, _)| *refused == kind) {
            let words = library.fails(&args);
            assert!(words.contains(reason), "{words}");
            continue;
        }
        let svg = library.ok(&args);
        assert!(svg.starts_with("<svg"), "{kind}");
        assert!(library.ok(&[&args[..], &["--dark"]].concat()) != svg, "{kind} in the dark");
        let out = format!("{kind}.pdf");
        let export: Value =
            serde_json::from_str(&library.ok(&[&args[..], &["--out", &out, "--json"]].concat()))
                .expect("JSON");
        assert_eq!(export["bytes"].as_u64(), Some(library.bytes(&out).len() as u64));
        assert!((export["inches"][0].as_f64().expect("a width") - 3.25).abs() < 1e-9, "{export}");
    }
    for kind in kinds::tables_of_runs() {
        let args = [&["table", kind.as_str()][..], &all].concat();
        let printed = library.ok(&args);
        assert!(printed.contains("| --- |") || printed.contains("---: |"), "{kind}");
        for format in ["csv", "parquet", "tex", "toml", "md", "html"] {
            let out = format!("{kind}-table.{format}");
            library.ok(&[&args[..], &["--out", &out]].concat());
            assert!(!library.bytes(&out).is_empty());
        }
        // As a picture it has the venue's width, unless a page cannot hold it.
        let out = format!("{kind}-table.svg");
        let export = library.run(&[&args[..], &["--out", &out, "--preset", "neurips", "--json"]].concat());
        if export.status.success() {
            let export: Value = serde_json::from_slice(&export.stdout).expect("JSON");
            assert!((export["inches"][0].as_f64().expect("a width") - 5.5).abs() < 1e-9, "{kind}: {export}");
        } else {
            let message = String::from_utf8_lossy(&export.stderr).into_owned();
            assert!(
                message.contains("fit a page") && message.contains("hint: CSV and Parquet"),
                "{kind}: {message}"
            );
        }
    }
}

/// First failures of 30 runs in one column are higher than a page.
#[test]
fn a_figure_that_no_page_holds_is_refused_and_not_written() {
    let library = Library::new();
    let mut table = String::from("run,harness,model,scenario,turn,attempt,passed\n");
    for (run, turn, passed) in (0..30).flat_map(|run| [(run, 1, true), (run, 2, false)]) {
        table.push_str(&format!("many-{run},h,m-{run},task,{turn},1,{passed}\n"));
    }
    std::fs::write(library.sources.join("many.csv"), table).expect("a table");
    library.ok(&["ingest", "sources/many.csv"]);
    let runs: Vec<String> = library.runs().into_iter().filter(|run| run.contains("many-")).collect();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    assert_eq!(runs.len(), 30);
    let args = [&["figure", "first-failures", "--preset", "icml", "--out", "high.pdf"][..], &runs].concat();
    let message = library.fails(&args);
    assert!(message.contains("in high, and a page has room for 9.0 in"), "{message}");
    assert!(!library.folder.path().join("high.pdf").exists());
}

#[test]
fn a_figure_that_is_printed_has_its_spec_and_what_was_asked_for() {
    let library = Library::new();
    let runs = library.runs();
    let args = ["figure", "survival", runs[0].as_str(), runs[1].as_str()];
    let printed = library.ok(&[&args[..], &["--preset", "acl:full", "--grey", "--height", "200"]].concat());
    library
        .ok(&[&args[..], &["--preset", "acl:full", "--grey", "--height", "200", "--out", "direct.svg"]]
            .concat());
    assert!(printed.as_bytes() == library.bytes("direct.svg"), "what is printed is what is written");
    let screen = library.ok(&args);
    let dark = library.ok(&[&args[..], &["--dark"]].concat());
    for (name, svg) in [("paper.svg", &printed), ("screen.svg", &screen), ("dark.svg", &dark)] {
        std::fs::write(library.folder.path().join(name), svg).expect("a file");
        assert_eq!(&library.ok(&["figure", name]), svg, "{name} makes itself again");
    }
    assert!(screen != dark && screen.contains("width=\"720"), "{}", &screen[..200]);
    let json: Value =
        serde_json::from_str(&library.ok(&[&args[..], &["--grey", "--json"]].concat())).expect("JSON");
    assert!(json["svg"].as_str().is_some_and(|svg| svg.contains("<metadata")), "{json}");
    assert_eq!(library.run(&[&args[..], &["--grey", "--dark"]].concat()).status.code(), Some(2));
    let low = ["figure", "bars", runs[0].as_str(), runs[1].as_str(), "--height", "40"];
    let written = [&low[..], &["--out", "low.svg"]].concat();
    for args in [&low[..], &written, &["figure", "direct.svg", "--height", "40"]] {
        let message = library.fails(args);
        assert!(message.contains("cannot be 40 pt high: its least height is "), "{args:?}: {message}");
    }
    assert!(!library.folder.path().join("low.svg").exists());
}

#[test]
fn bands_the_other_run_and_baselines_can_be_chosen_as_on_the_pages() {
    let library = Library::new();
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs");
    library.ok(&["ingest", jobs.to_str().expect("UTF-8")]);
    let three = ["failures", "oracle-k2", "nop"];
    let plot = |kind: &str, more: &[&str]| library.ok(&[&["figure", kind][..], &three, more].concat());
    let bands = |choice| plot("survival", &["--bands", choice]).matches("-band-").count();
    assert!(
        bands("none") == 0 && bands("auto") == 1 && bands("all") == 2,
        "{} {}",
        bands("auto"),
        bands("all")
    );
    let message = library.fails(&[&["figure", "paired"][..], &three].concat());
    assert!(message.contains("--other"), "{message}");
    // With the first as the reference, each of the others.
    let turned = ["--reference", "oracle-k2"];
    let [second, third] = [0, 2].map(|i| plot("paired", &[&turned[..], &["--other", three[i]]].concat()));
    assert!(second.starts_with("<svg") && third.starts_with("<svg") && second != third);
    let message = library.fails(&[&["figure", "paired"][..], &three, &["--other", three[0]]].concat());
    assert!(message.contains("not one of the runs that are compared"), "{message}");
    // Of failures without a run the benchmark can be named, as on their page.
    let message = library.fails(&["table", "failures", "--benchmark", "no-such"]);
    assert!(message.contains("no-such"), "{message}");
    let rows = |more: &[&str]| -> usize {
        let table_json = library.ok(&[&["table", "matrix", "--json"][..], more].concat());
        let table_json: Value = serde_json::from_str(&table_json).expect("JSON");
        table_json["rows"].as_array().map_or(0, Vec::len)
    };
    assert!(rows(&["--with-baselines"]) > rows(&[]), "{} {}", rows(&["--with-baselines"]), rows(&[]));
    // A run that is left out counts in no cell, as in `stamina matrix`.
    let n = |more: &[&str]| -> u64 {
        let table_json = library.ok(&[&["table", "matrix", "--with-baselines", "--json"][..], more].concat());
        let table_json: Value = serde_json::from_str(&table_json).expect("JSON");
        table_json["rows"].as_array().expect("rows").iter().filter_map(|row| row["n"].as_u64()).sum()
    };
    assert!(n(&["--without", three[0]]) < n(&[]), "{} {}", n(&["--without", three[0]]), n(&[]));
    let figure = |more: &[&str]| library.ok(&[&["figure", "matrix", "--with-baselines"][..], more].concat());
    assert_ne!(figure(&["--without", three[0]]), figure(&[]));
}

#[test]
fn a_table_is_printed_as_json_for_scripts() {
    let library = Library::new();
    let runs = library.runs();
    let table = |args: &[&str]| -> Value {
        serde_json::from_str(&library.ok(&[&["table"][..], args, &["--json"]].concat())).expect("JSON")
    };
    let table_json = table(&["runs", &runs[0], &runs[1]]);
    assert_eq!(table_json["name"], "runs");
    assert!(table_json["title"].is_string() && table_json["notes"].is_array(), "{table_json}");
    let columns = table_json["columns"].as_array().expect("columns");
    let mean = columns.iter().find(|c| c["name"] == "mean_stamina").expect("a mean");
    assert_eq!((&mean["kind"], &mean["unit"]), (&"number".into(), &"turns".into()));
    let rows = table_json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["mean_stamina"].is_number() && row["n"].is_u64()), "{table_json}");
    assert!(rows.iter().all(|row| row["cost_usd"].is_null()), "unknown is null: {table_json}");
    let all = table(&["library"]);
    assert_eq!(all["rows"].as_array().map(Vec::len), Some(runs.len()));
    assert_eq!(table(&["played"])["rows"], Value::Array(Vec::new()));
    assert!(library.fails(&["table", "library", &runs[0]]).contains("stamina table runs"));
}

#[test]
fn groups_of_runs_have_a_matrix_too() {
    let library = Library::new();
    let runs: Value = serde_json::from_str(&library.ok(&["runs", "--json"])).expect("JSON");
    let model = runs.as_array().expect("runs").iter().find_map(|run| run["model"].as_str()).expect("a model");
    let group = format!("model:{model}");
    let json: Value =
        serde_json::from_str(&library.ok(&["table", "matrix", &group, "--json"])).expect("JSON");
    let models: Vec<&str> = json["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["n"].is_u64())
        .filter_map(|row| row["model"].as_str())
        .collect();
    assert!(!models.is_empty() && models.iter().all(|named| *named == model), "{models:?}");
    assert!(library.ok(&["figure", "matrix", &group]).starts_with("<svg"));
}

#[test]
fn failures_of_a_benchmark_are_asked_for_as_a_matrix_is() {
    let library = Library::new();
    let table: Value = serde_json::from_str(&library.ok(&["table", "failures", "--json"])).expect("JSON");
    assert!(table["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    for kind in ["figure", "table"] {
        let message = library.fails(&[kind, "failures", "--benchmark", "none-of-these"]);
        assert!(message.contains("none-of-these"), "{kind}: {message}");
    }
}

#[test]
fn a_turn_and_a_source_have_tables() {
    let library = Library::new();
    let run = &library.runs()[0];
    let shown: Value = serde_json::from_str(&library.ok(&["show", run, "--json"])).expect("JSON");
    let episode = shown["episodes"][0]["id"].as_str().or(shown["episodes"][0]["episode"].as_str());
    let episode = episode.expect("an episode with an id").to_owned();
    let place = ["--episode", &episode, "--turn", "1", "--json"];
    for kind in ["attempts", "tests"] {
        let table: Value =
            serde_json::from_str(&library.ok(&[&["table", kind, run][..], &place].concat())).expect("JSON");
        assert!(table["rows"].is_array(), "{kind}: {table}");
    }
    let joined = library.ok(&[&["table", "joined", run, run][..], &place].concat());
    assert!(joined.contains("Left: ") && joined.contains("Right: "), "{joined}");
    assert!(library.fails(&["table", "tests", run]).contains("--episode"));
    let warnings = library.ok(&["table", "warnings", "evocode", "--json"]);
    assert!(warnings.contains("Import warnings of evocode"), "{warnings}");
}

#[test]
fn reading_a_source_notes_warnings_first_and_calls_a_note_a_note() {
    let library = Library::new();
    let read = library.run(&["ingest", library.sources.join("evocode").to_str().expect("UTF-8")]);
    let noted = String::from_utf8_lossy(&read.stderr).into_owned();
    let severity = |line: &str| line.split_once(": ").map(|(severity, _)| severity.to_owned());
    let severities: Vec<String> = noted.lines().filter_map(severity).collect();
    assert_eq!(severities, ["warning", "warning", "note", "note", "note"], "{noted}");
    assert!(String::from_utf8_lossy(&read.stdout).contains("2 warnings, 3 notes"));
}

#[test]
fn what_is_no_run_has_tables_too() {
    let library = Library::new();
    let pack = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the repository")
        .join("data/sample-pack.zip");
    let pack = pack.to_str().expect("UTF-8");
    assert!(library.fails(&["table", "suite", pack]).contains("stamina ingest"));
    library.ok(&["ingest", pack]);
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&library.ok(&[&["table"][..], args, &["--json"]].concat())).expect("JSON")
    };
    let first = json(&["suite", pack, "--turn", "1"]);
    let later = json(&["suite", pack, "--scenario", "1", "--turn", "3"]);
    let count = |table: &Value| table["rows"].as_array().map_or(0, Vec::len);
    assert!(count(&first) > 10 && count(&later) > count(&first), "{} {}", count(&first), count(&later));
    assert!(library.fails(&["table", "progress", "."]).contains("hint"));
}

#[test]
fn every_file_of_a_table_makes_every_other_again() {
    let library = Library::new();
    let runs = library.runs();
    let runs: Vec<&str> = runs.iter().take(3).map(String::as_str).collect();
    for kind in ["runs", "pairs"] {
        for format in FORMATS {
            let out = format!("{kind}.{format}");
            let args =
                [&["table", kind][..], &runs, &["--out", &out, "--preset", "acl:full", "--grey"]].concat();
            library.ok(&args);
        }
        made_again(&library, kind, &FORMATS);
    }
    let svg = String::from_utf8(library.bytes("runs.svg")).expect("UTF-8");
    assert!(svg.contains("width=\"453.6pt\"") && svg.contains("Mean stamina"), "{}", &svg[..300]);
    // Notes stand in a picture, and in the caption of what has none.
    let notes = "restricted mean over the first";
    let args = |out| [&["table", "runs"][..], &runs, &["--out", out]].concat();
    assert!(
        library.ok(&args("notes.csv")).contains(notes) && !library.ok(&args("notes.svg")).contains(notes)
    );
    let narrow =
        library.fails(&[&["table", "runs"][..], &runs, &["--preset", "nature", "--out", "x.pdf"]].concat());
    assert!(narrow.contains("icml"), "{narrow}");
}

#[test]
fn errors_say_what_can_be_asked_for() {
    let library = Library::new();
    let runs = library.runs();
    let run = runs[0].as_str();
    assert!(library.fails(&["figure", "pie", run]).contains("survival, first-failures"));
    assert!(library.fails(&["figure", "survival", run, "--out", "x.docx"]).contains(".pdf"));
    let message = library.fails(&["figure", "survival", run, "--out", "x.pdf", "--preset", "nature"]);
    assert!(["icml", "neurips", "rpc list_presets"].iter().all(|word| message.contains(word)), "{message}");
    assert!(library.fails(&["figure", "survival", "--out", "x.pdf"]).contains("stamina runs"));
    assert!(library.fails(&["figure", "survival", run, "--out", "no/such/x.pdf"]).contains("no/such"));
    assert!(library.fails(&["figure", "survival", run, "--out", "x.pdf", "--height", "5"]).contains("pt"));
    assert!(library.fails(&["table", "runs", run, "--out", "x.docx"]).contains(".csv"));
    std::fs::write(library.folder.path().join("notes.toml"), "a = 1").expect("a file");
    assert!(library.fails(&["figure", "notes.toml", "--out", "x.pdf"]).contains("spec"));

    // Sources are never changed.
    let before: Vec<_> = std::fs::read_dir(library.sources.join("evocode")).expect("the source").collect();
    for out in ["sources/evocode/x.pdf", "sources/evocode/tasks/../x.pdf"] {
        let message = library.fails(&["figure", "survival", run, "--out", out]);
        assert!(message.contains("opened source"), "{message}");
    }
    let message = library.fails(&["report", run, "--out", "sources/evocode/report"]);
    assert!(message.contains("opened source"), "{message}");
    let after: Vec<_> = std::fs::read_dir(library.sources.join("evocode")).expect("the source").collect();
    assert_eq!(before.len(), after.len());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(library.sources.join("evocode"), library.folder.path().join("link"))
            .expect("a link");
        let message = library.fails(&["figure", "survival", run, "--out", "link/x.pdf"]);
        assert!(message.contains("opened source"), "{message}");
    }
}

#[test]
fn a_report_stands_alone_and_a_bundle_is_the_same_twice() {
    let library = Library::new();
    let runs = library.runs();
    let args: Vec<&str> = runs.iter().take(2).map(String::as_str).collect();
    let export: Value =
        serde_json::from_str(&library.ok(&[&["report"][..], &args, &["--out", "report", "--json"]].concat()))
            .expect("JSON");
    let files: Vec<&str> =
        export["files"].as_array().expect("files").iter().filter_map(Value::as_str).collect();
    for file in [
        "README.md",
        "figures/survival.pdf",
        "figures/survival.tex",
        "inputs.sha256",
        "report.html",
        "report.md",
        "figures/survival.parquet",
        "specs/table-runs.toml",
        "tables/runs.parquet",
        "tables/runs.pdf",
        "tables/runs.png",
        "tables/runs.svg",
        "settings.json",
        "specs/survival.toml",
        "tables/runs.tex",
    ] {
        assert!(files.contains(&file), "{file} is missing: {files:?}");
    }
    let html = String::from_utf8(library.bytes("report/report.html")).expect("UTF-8");
    for outside in ["<script", "href=", "src=", "url(http", "@import", "javascript:"] {
        assert!(!html.contains(outside), "{outside} in the report");
    }
    let svgs = html.matches("<svg").count();
    let figures = files.iter().filter(|f| f.starts_with("figures/") && f.ends_with(".svg")).count();
    assert!(svgs == figures && svgs >= 6, "{svgs} figures, {figures} files");
    let markdown = String::from_utf8(library.bytes("report/report.md")).expect("UTF-8");
    let linked: Vec<&str> = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(linked.len() == figures && linked.iter().all(|file| files.contains(file)), "{linked:?}");
    let sums = String::from_utf8(library.bytes("report/inputs.sha256")).expect("UTF-8");
    assert!(
        sums.lines().all(|l| l.len() > 66 && l.as_bytes()[64] == b' ') && sums.contains("index.json"),
        "{sums}"
    );
    let settings: Value = serde_json::from_slice(&library.bytes("report/settings.json")).expect("JSON");
    assert_eq!(settings["runs"].as_array().map(Vec::len), Some(2));
    library.ok(&["figure", "report/specs/survival.toml", "--out", "again.pdf"]);
    assert!(library.bytes("again.pdf") == library.bytes("report/figures/survival.pdf"));
    library.ok(&["figure", "report/specs/table-runs.toml", "--out", "again.pdf"]);
    assert!(library.bytes("again.pdf") == library.bytes("report/tables/runs.pdf"));

    for name in ["a.zip", "b.zip"] {
        library.ok(&[&["report"][..], &args, &["--out", name, "--zip"]].concat());
    }
    assert!(library.bytes("a.zip").starts_with(b"PK") && library.bytes("a.zip") == library.bytes("b.zip"));
}

#[test]
fn the_measured_speed_of_an_endpoint_is_in_the_list_of_runs_and_in_their_table() {
    let library = Library::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    let own_folder = library.sources.join("own");
    copy(&fixtures.join("tests/fixtures/staminabench/own"), &own_folder);
    let path = own_folder.join("report.json");
    let mut report: Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let speed = json!({ "median": 148.25, "p10": 96.5 });
    report["run"]["tokens_per_second"] = json!({ "prompt": speed, "answer": null });
    std::fs::write(&path, report.to_string()).expect("it is written");
    library.ok(&["ingest", own_folder.to_str().expect("UTF-8")]);

    let runs: Value = serde_json::from_str(&library.ok(&["runs", "--json"])).expect("JSON");
    let speeds = runs.as_array().expect("runs").iter().map(|run| &run["tokens_per_second"]);
    let (known, unknown): (Vec<&Value>, Vec<&Value>) = speeds.partition(|entry| !entry["prompt"].is_null());
    assert_eq!(known, [&json!({ "prompt": speed, "answer": null })]);
    assert!(
        !unknown.is_empty()
            && unknown.iter().all(|entry| **entry == json!({ "prompt": null, "answer": null }))
    );

    let table: Value = serde_json::from_str(&library.ok(&["table", "library", "--json"])).expect("JSON");
    let rows = table["rows"].as_array().expect("rows");
    let values = |name: &str| -> Vec<f64> { rows.iter().filter_map(|row| row[name].as_f64()).collect() };
    assert!(rows.iter().all(|row| row.get("answer_tokens_per_second").is_some()), "unknown, not left out");
    assert_eq!(values("prompt_tokens_per_second").len(), 1);
    assert!((values("prompt_tokens_per_second")[0] - 148.25).abs() < 0.1);
    assert_eq!(values("prompt_tokens_per_second_p10").len(), 1);
    assert!((values("prompt_tokens_per_second_p10")[0] - 96.5).abs() < 0.1);
    assert!(values("answer_tokens_per_second").is_empty());
    assert!(rows.iter().all(|row| row.get("answer_tokens_per_second_p10").is_some()));
    assert!(values("answer_tokens_per_second_p10").is_empty());
}
