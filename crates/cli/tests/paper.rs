//! A paper of everything that `stamina figure` and `stamina table` make compiles without a warning.
//!
//! Needs `pdflatex` with pgfplots, `pdffonts` and `pdftotext`. Where they are missing, nothing is tested, but in CI that is a failure.

mod kinds;

use std::path::Path;
use std::process::{Command, Output};

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

fn said(program: &str, folder: &Path, args: &[&str]) -> String {
    let output =
        Command::new(program).args(args).current_dir(folder).output().expect("a program that is here");
    String::from_utf8_lossy(&output.stdout).into_owned()
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
    for source in ["staminabench", "harbor/jobs"] {
        stamina(folder, &["ingest", fixtures.join(source).to_str().expect("UTF-8")]);
    }
    // Runs whose settings differ, with retries, failures of many kinds and odd names.
    let runs = ["staminabench.own", "oracle-k2", "nop", "failures"];
    let mut body = String::new();
    for kind in kinds::FIGURES {
        let runs = if kind == "paired" { &runs[1..3] } else { &runs[..] };
        // A matrix is of one benchmark.
        let runs = if kind == "matrix" { &runs[..1] } else { runs };
        for format in ["pdf", "tex"] {
            let out = format!("{kind}.{format}");
            stamina(folder, &[&["figure", kind][..], runs, &["--out", &out, "--preset", "icml"]].concat());
        }
        body.push_str(&format!(
            "\\includegraphics{{{kind}.pdf}}\\clearpage\n\\input{{{kind}.tex}}\\clearpage\n"
        ));
    }
    let mut many = 0;
    for kind in kinds::TABLES {
        let of_benchmark = ["matrix", "spread", "published"].contains(&kind);
        let runs = if of_benchmark { &runs[..1] } else { &runs[..] };
        let out = format!("table-{kind}.tex");
        stamina(folder, &[&["table", kind][..], runs, &["--out", &out]].concat());
        body.push_str(&format!("\\input{{{out}}}\\clearpage\n"));
        // Drawn, where a page can hold it.
        let drawn = format!("table-{kind}.pdf");
        let args = [&["table", kind][..], runs, &["--out", &drawn, "--preset", "icml:full"]].concat();
        if attempt(folder, &args).status.success() {
            body.push_str(&format!("\\includegraphics{{{drawn}}}\\clearpage\n"));
            many += 1;
        }
    }
    assert!(many > kinds::TABLES.len() / 2, "{many} tables were drawn");
    let document = format!(
        "\\documentclass[10pt]{{article}}\n\\usepackage[paperwidth=9in,paperheight=12in,textwidth=486bp,textheight=10in]{{geometry}}\n\
         \\usepackage{{graphicx}}\\usepackage{{pgfplots}}\\pgfplotsset{{compat=1.18}}\n\
         \\usepackage{{array}}\\usepackage{{booktabs}}\\usepackage{{longtable}}\n\
         \\setlength\\parindent{{0pt}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    );
    std::fs::write(folder.join("paper.tex"), document).expect("a document");
    let mut log = String::new();
    // Widths of long tables are known at the third time.
    for _ in 0..3 {
        said("pdflatex", folder, &["-interaction=nonstopmode", "-halt-on-error", "paper.tex"]);
        log = String::from_utf8_lossy(&std::fs::read(folder.join("paper.log")).expect("a log")).into_owned();
        assert!(log.contains("Output written on paper.pdf"), "{log}");
        if !log.contains("Rerun") && !log.contains("rerun") {
            break;
        }
    }
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        std::fs::create_dir_all(&keep).expect("a folder to keep papers in");
        std::fs::copy(folder.join("paper.pdf"), Path::new(&keep).join("paper.pdf")).expect("a copy");
    }
    let marks = ["Warning", "Overfull", "Missing character", "undefined"];
    let bad: Vec<&str> = log.lines().filter(|l| marks.iter().any(|mark| l.contains(mark))).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let fonts = said("pdffonts", folder, &["paper.pdf"]);
    assert!(fonts.contains("IBMPlexSans") && !fonts.contains("Type 3"), "{fonts}");
    let text = said("pdftotext", folder, &["-layout", "paper.pdf", "-"]);
    for wanted in [
        "Settings that differ",
        "Comparisons of two",
        "p (sign flip)",
        "Retries (R)",
        "Failed attempts by class",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in {text}");
    }
}
