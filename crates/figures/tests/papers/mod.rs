//! Programs that look into PDFs and set LaTeX documents, and pictures that are compared.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stderr,
    reason = "each test file uses some of them; notes to who runs it"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use figures::venue::Preset;
use figures::{Figure, FigureSpec, Theme};
use resvg::tiny_skia::Pixmap;

const HOW_TO_GET_THEM: &str = "On Debian and Ubuntu: sudo apt-get install poppler-utils texlive-latex-base texlive-latex-recommended texlive-pictures";

/// Whether these programs are here; in CI they must be.
pub fn have(programs: &[&str]) -> bool {
    let missing: Vec<&&str> =
        programs.iter().filter(|p| Command::new(p).arg("-v").output().is_err()).collect();
    if missing.is_empty() {
        return true;
    }
    assert!(
        std::env::var("CI").map_or(true, |ci| ci != "true"),
        "{missing:?} are missing. {HOW_TO_GET_THEM}"
    );
    eprintln!("Not tested, for there is no {missing:?}. {HOW_TO_GET_THEM}");
    false
}

pub fn output_of(program: &str, args: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(args).arg(file).arg("-").output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn plain(program: &str, file: &Path) -> String {
    let output = Command::new(program).arg(file).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn spec(figure: Figure, preset: &str) -> FigureSpec {
    FigureSpec::new(figure, Preset::parse(preset).unwrap().layout(), Theme::Print)
}

/// Words that the drawing sets, in one line each.
pub fn words(svg: &str) -> Vec<String> {
    svg.split("<text ")
        .skip(1)
        .filter_map(|t| t.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| unescaped(text))
        .collect()
}

/// Text of XML or HTML as it was before it was escaped.
pub fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// A document of one column as wide as a figure, with a figure or table a page.
pub fn compile(folder: &Path, name: &str, width_pt: f64, packages: &str, body: &str) {
    let geometry = format!("paperwidth=9in,paperheight=12in,textwidth={width_pt}bp,textheight=10in");
    compile_as(folder, name, ("10pt", &geometry), packages, body);
}

/// A document of this class option and page.
pub fn compile_as(folder: &Path, name: &str, (option, geometry): (&str, &str), packages: &str, body: &str) {
    let document = format!(
        "\\documentclass[{option}]{{article}}\n\\usepackage[{geometry}]{{geometry}}\n\
         {packages}\n\\setlength\\parindent{{0pt}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    );
    run_pdflatex(folder, name, &document);
}

/// Sets a document, which gives no warning.
pub fn run_pdflatex(folder: &Path, name: &str, document: &str) {
    fs::write(folder.join(format!("{name}.tex")), document).unwrap();
    let mut log = String::new();
    // Widths of long tables are known at the third time.
    for _ in 0..3 {
        let output = Command::new("pdflatex")
            .args(["-interaction=nonstopmode", "-halt-on-error", &format!("{name}.tex")])
            .current_dir(folder)
            .output()
            .unwrap();
        log = fs::read_to_string(folder.join(format!("{name}.log")))
            .unwrap_or_else(|_| String::from_utf8_lossy(&output.stdout).into_owned());
        let end =
            log.lines().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
        assert!(output.status.success(), "{name} does not compile:\n{end}");
        if !log.contains("Rerun") && !log.contains("rerun") {
            break;
        }
    }
    let bad: Vec<&str> = log
        .lines()
        .filter(|l| {
            l.contains("Warning")
                || l.starts_with("Overfull")
                || l.contains("Missing character")
                || l.contains("undefined")
                || l.contains("unprocessed floats")
        })
        .collect();
    assert!(bad.is_empty(), "{name} compiles with warnings:\n{}", bad.join("\n"));
}

/// A page of a PDF at 300 dots an inch, as bare colors: packing them as a PNG takes longer than painting them.
pub fn painted(pdf: &Path, page: usize) -> Vec<u8> {
    let out = pdf.with_extension("");
    let page = page.to_string();
    let status = Command::new("pdftoppm")
        .args(["-r", "300", "-singlefile", "-f", &page, "-l", &page])
        .args([pdf, &out])
        .status()
        .unwrap();
    assert!(status.success());
    fs::read(out.with_extension("ppm")).unwrap()
}

/// Dots of a picture, line by line; the first three of their bytes are red, green and blue.
pub struct Picture<'a> {
    pub width: usize,
    pub height: usize,
    bytes_of_a_dot: usize,
    dots: &'a [u8],
}

impl<'a> Picture<'a> {
    /// What pdftoppm writes: `P6`, width, height and 255, each behind white space, then three bytes a dot.
    pub fn from_ppm(ppm: &'a [u8]) -> Self {
        let mut rest = ppm;
        let [kind, width, height, most] = [(); 4].map(|()| {
            let (word, after) = rest.split_at(rest.iter().position(u8::is_ascii_whitespace).unwrap());
            rest = &after[1..];
            std::str::from_utf8(word).unwrap()
        });
        assert_eq!((kind, most), ("P6", "255"));
        let (width, height) = (width.parse().unwrap(), height.parse().unwrap());
        assert_eq!(rest.len(), width * height * 3);
        Self { width, height, bytes_of_a_dot: 3, dots: rest }
    }

    pub fn from_pixmap(map: &'a Pixmap) -> Self {
        Self {
            width: map.width() as usize,
            height: map.height() as usize,
            bytes_of_a_dot: 4,
            dots: map.data(),
        }
    }

    /// Sums of red, green and blue over cells of 6 × 6 dots, of so many columns and rows of cells.
    fn cells(&self, columns: usize, rows: usize) -> Vec<u32> {
        let mut sums = vec![0; columns * rows];
        let lines = self.dots.chunks_exact(self.width * self.bytes_of_a_dot);
        for (y, line) in lines.take(rows * CELL).enumerate() {
            let cells = &mut sums[y / CELL * columns..][..columns];
            for (cell, dots) in cells.iter_mut().zip(line.chunks_exact(CELL * self.bytes_of_a_dot)) {
                for dot in dots.chunks_exact(self.bytes_of_a_dot) {
                    *cell += u32::from(dot[0]) + u32::from(dot[1]) + u32::from(dot[2]);
                }
            }
        }
        sums
    }
}

/// Width of a cell in dots: half a millimeter.
const CELL: usize = 6;

/// Share of cells whose mean gray differs much: painters differ in the edges of letters and lines.
pub fn difference(a: &Picture, b: &Picture) -> f64 {
    let (columns, rows) = (a.width.min(b.width) / CELL, a.height.min(b.height) / CELL);
    let (cells_a, cells_b) = (a.cells(columns, rows), b.cells(columns, rows));
    let most = (60 * CELL * CELL * 3) as u32;
    let differ = cells_a.iter().zip(&cells_b).filter(|(a, b)| a.abs_diff(**b) > most).count();
    differ as f64 / (columns * rows) as f64
}
