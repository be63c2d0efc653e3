//! A paper of everything that `stamina figure` and `stamina table` make compiles without a warning.
//!
//! Needs `pdflatex` with pgf, `pdffonts` and `pdftotext`. Where they are missing, nothing is tested, but in CI that is a failure.

use std::path::Path;
use std::process::{Command, Output};

use crate::kinds;

const HOW_TO_GET_THEM: &str = "On Debian and Ubuntu: sudo apt-get install poppler-utils texlive-latex-base texlive-latex-recommended texlive-pictures";

/// Whether these programs are here; in CI they must be.
fn have(programs: &[&str]) -> bool {
    let missing: Vec<&&str> =
        programs.iter().filter(|p| Command::new(p).arg("-v").output().is_err()).collect();
    assert!(
        missing.is_empty() || std::env::var("CI").map_or(true, |ci| ci != "true"),
        "{missing:?} are missing. {HOW_TO_GET_THEM}"
    );
    missing.is_empty()
}

fn attempt(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamina"))
        .args(["--db", "library.sqlite"])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("stamina runs")
}

fn stamina(folder: &Path, args: &[&str]) -> Output {
    let output = attempt(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn output_of(program: &str, folder: &Path, args: &[&str]) -> String {
    let output =
        Command::new(program).args(args).current_dir(folder).output().expect("a program that is here");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Every kind of figure, and what changes how it is drawn: its name and how to ask for it.
fn figures(runs: &[&str]) -> Vec<(String, Vec<String>)> {
    let args = |kind: &str, runs: &[&str], more: &[&str]| -> Vec<String> {
        [&["figure", kind][..], runs, more].concat().into_iter().map(str::to_owned).collect()
    };
    let mut all: Vec<(String, Vec<String>)> = kinds::figures()
        .into_iter()
        .map(|kind| {
            let subject = match kind.as_str() {
                "paired" => &runs[1..3],
                // A matrix is of one benchmark.
                "matrix" => &runs[..1],
                _ => runs,
            };
            let arguments = args(&kind, subject, &[]);
            (kind, arguments)
        })
        .collect();
    let measures = [
        "pass-rate",
        "score",
        "tokens",
        "cost",
        "time",
        "steps",
        "steps-survived",
        "tool-calls",
        "cost-per-survived-turn",
    ];
    for measure in measures {
        all.push((format!("bars-{measure}"), args("bars", runs, &["--measure", measure])));
    }
    for (kind, subject) in [("bars", runs), ("matrix", &runs[..1]), ("retries", runs)] {
        all.push((format!("{kind}-published"), args(kind, subject, &["--published"])));
    }
    for grouping in ["harness", "turn", "attempt"] {
        all.push((format!("failures-by-{grouping}"), args("failures", runs, &["--by", grouping])));
    }
    all.push(("survival-all-bands".to_owned(), args("survival", runs, &["--bands", "all"])));
    all
}

/// Compiles a paper without a warning; its text.
fn compile(folder: &Path, name: &str, body: &str) -> String {
    let document = format!(
        "\\documentclass[10pt]{{article}}\n\\usepackage[paperwidth=9in,paperheight=12in,textwidth=486bp,textheight=10in]{{geometry}}\n\
         \\usepackage{{graphicx}}\\usepackage{{pgf}}\n\
         \\usepackage{{array}}\\usepackage{{booktabs}}\\usepackage{{longtable}}\n\
         \\setlength\\parindent{{0pt}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    );
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    std::fs::write(file("tex"), document).expect("a document");
    let mut log = String::new();
    // Widths of long tables are known at the third time.
    for _ in 0..3 {
        output_of(
            "pdflatex",
            folder,
            &["-interaction=nonstopmode", "-halt-on-error", &format!("{name}.tex")],
        );
        log = String::from_utf8_lossy(&std::fs::read(file("log")).expect("a log")).into_owned();
        assert!(log.contains(&format!("Output written on {name}.pdf")), "{log}");
        if !log.contains("Rerun") && !log.contains("rerun") {
            break;
        }
    }
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        std::fs::create_dir_all(&keep).expect("a folder to keep papers in");
        std::fs::copy(file("pdf"), Path::new(&keep).join(format!("{name}.pdf"))).expect("a copy");
    }
    let marks = ["Warning", "Overfull", "Missing character", "undefined"];
    let bad: Vec<&str> = log.lines().filter(|l| marks.iter().any(|mark| l.contains(mark))).collect();
    assert!(bad.is_empty(), "{name}: {}", bad.join("\n"));
    let pdf = format!("{name}.pdf");
    let fonts = output_of("pdffonts", folder, &[&pdf]);
    assert!(fonts.contains("IBMPlexSans") && !fonts.contains("Type 3"), "{name}: {fonts}");
    output_of("pdftotext", folder, &["-layout", &pdf, "-"])
}

#[test]
fn a_paper_of_every_figure_and_table_compiles_without_a_warning() {
    if !have(&["pdflatex", "pdffonts", "pdftotext"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the repository")
        .join("tests/fixtures");
    for source in ["staminabench", "harbor/jobs", "world/cache-beside"] {
        stamina(folder, &["ingest", fixtures.join(source).to_str().expect("UTF-8")]);
    }
    let pack = fixtures.join("../../data/sample-pack.zip");
    let pack = pack.to_str().expect("UTF-8");
    stamina(folder, &["ingest", pack]);
    let played = [
        "run",
        "--values",
        "agent=MOCK",
        "output_dir=results",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=2",
        "restful_server_gen_iterative.num_changes_per_turn=1",
    ];
    stamina(folder, &played);
    // Runs whose settings differ, with retries, failures of many kinds and odd names.
    let runs = ["staminabench.own", "oracle-k2", "nop", "failures"];
    let mut figure_pages = String::new();
    for (name, args) in figures(&runs) {
        let mut is_made = true;
        for format in ["pdf", "tex"] {
            let out = format!("{name}.{format}");
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            args.extend(["--out", &out, "--preset", "icml"]);
            let tried = attempt(folder, &args);
            let words = String::from_utf8_lossy(&tried.stderr).into_owned();
            // Some measures are unknown of all of them: such a figure is refused.
            is_made = tried.status.success();
            assert!(is_made || words.contains("no run has a known value"), "{args:?}: {words}");
        }
        if !is_made {
            continue;
        }
        figure_pages.push_str(&format!(
            "\\includegraphics{{{name}.pdf}}\\clearpage\n\\input{{{name}.tex}}\\clearpage\n"
        ));
    }
    let (tables, mut many, mut table_pages) = (kinds::tables(), 0, String::new());
    for kind in &tables {
        let subject: &[&str] = match kind.as_str() {
            "matrix" | "spread" | "published" => &runs[..1],
            "library" | "played" => &[],
            "progress" => &["results"],
            "suite" => &[pack],
            "findings" | "mutants" => &[pack, "--scenario", "0"],
            "attempts" | "tests" => &["staminabench.own", "--episode", "scenario_0", "--turn", "2"],
            "joined" => &["staminabench.own", "staminabench.own", "--episode", "scenario_0", "--turn", "2"],
            "warnings" => &["staminabench"],
            kind if kinds::OF_ONE_TURN.contains(&kind) => &["cache-beside"],
            _ => &runs,
        };
        let out = format!("table-{kind}.tex");
        stamina(folder, &[&["table", kind.as_str()][..], subject, &["--out", &out]].concat());
        table_pages.push_str(&format!("\\input{{{out}}}\\clearpage\n"));
        // Drawn, where a page can hold it.
        let drawn = format!("table-{kind}.pdf");
        let args =
            [&["table", kind.as_str()][..], subject, &["--out", &drawn, "--preset", "icml:full"]].concat();
        if attempt(folder, &args).status.success() {
            table_pages.push_str(&format!("\\includegraphics{{{drawn}}}\\clearpage\n"));
            many += 1;
        }
    }
    assert!(many > tables.len() / 2, "{many} tables were drawn");
    // Apart, since widths of long tables are known at the third time, and figures take TeX the longest.
    let figures = compile(folder, "figures", &figure_pages);
    let tables = compile(folder, "tables", &table_pages);
    let text = format!("{figures}{tables}");
    for wanted in [
        "Settings that differ",
        "Comparisons of two",
        // A head of two lines: p (sign flip).
        "flip)",
        "Retries (R)",
        "Failed attempts by class",
        "Mutants by operator",
        "Turns over all episodes",
        "censoring policy default",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in {text}");
    }
}
