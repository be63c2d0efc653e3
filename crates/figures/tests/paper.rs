//! Figures and tables in a paper: fonts and text of PDFs, their picture, and a LaTeX document of everything.
//!
//! They need `pdffonts`, `pdftotext`, `pdfinfo` and `pdftoppm` (poppler-utils) and `pdflatex` with pgfplots. Without these
//! programs, nothing is tested, except in CI, where this is a failure.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; notes to who runs it"
)]

mod cases;
mod kinds;

use std::fs;
use std::path::Path;
use std::process::Command;

use figures::export::{Format, export};
use figures::table::{Column, Table, data_table, known};
use figures::venue::Preset;
use figures::{Figure, FigureSpec, Theme, draw};
use resvg::tiny_skia::Pixmap;

const HOW_TO_GET_THEM: &str = "On Debian and Ubuntu: sudo apt-get install poppler-utils texlive-latex-base texlive-latex-recommended texlive-pictures";

/// Whether these programs are installed. In CI they must be.
fn have(programs: &[&str]) -> bool {
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

fn output_of(program: &str, args: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(args).arg(file).arg("-").output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn plain(program: &str, file: &Path) -> String {
    let output = Command::new(program).arg(file).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn spec(figure: Figure, preset: &str) -> FigureSpec {
    FigureSpec::new(figure, Preset::parse(preset).unwrap().layout(), Theme::Print)
}

/// Every kind in a column, and in a page of one column and of two what is drawn there. A wide table may have more blocks
/// than fit a page of a narrow column.
fn in_presets() -> Vec<(&'static str, Figure, &'static str)> {
    ["icml", "neurips", "acl:full"]
        .into_iter()
        .flat_map(|preset| kinds::all().into_iter().map(move |(name, figure)| (name, figure, preset)))
        .collect()
}

/// Words of the drawing, in one line each.
fn words(svg: &str) -> Vec<String> {
    svg.split("<text ")
        .skip(1)
        .filter_map(|t| t.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| {
            text.replace("&amp;", "&")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
        })
        .collect()
}

#[test]
fn pdfs_have_their_fonts_their_text_their_size_and_no_more() {
    if !have(&["pdffonts", "pdftotext", "pdfinfo"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, figure, preset) in in_presets() {
        let spec = spec(figure, preset);
        let drawing = draw(&spec);
        let file = export(&spec, Format::Pdf).unwrap();
        let name = &format!("{name} for {preset}");
        let path = folder.path().join("figure.pdf");
        let wide = Preset::parse(preset).unwrap().width();
        fs::write(&path, &file.bytes).unwrap();

        let info = plain("pdfinfo", &path);
        let size = info.lines().find_map(|l| l.strip_prefix("Page size:")).unwrap().trim();
        let mut numbers = size.split_whitespace().filter_map(|w| w.parse::<f64>().ok());
        let (width, height) = (numbers.next().unwrap(), numbers.next().unwrap());
        assert!((width - wide).abs() < 0.01, "{name}: {size}");
        assert!((height - drawing.height).abs() < 0.01, "{name}: {size}, drawn {}", drawing.height);
        assert!(info.contains("Pages:           1"), "{name}: {info}");
        assert!(!info.contains("CreationDate") && !info.contains("ModDate"), "{name}: {info}");
        assert!(info.contains("Stamina Lab"), "{name}: {info}");

        let odd = !file.warnings.is_empty();
        let fonts = plain("pdffonts", &path);
        let rows: Vec<&str> = fonts.lines().skip(2).collect();
        assert!(!rows.is_empty(), "{name} has no font");
        for row in &rows {
            assert!(!row.contains("Type 3"), "{name}: {row}");
            let flags: Vec<&str> = row.split_whitespace().filter(|w| *w == "yes" || *w == "no").collect();
            assert_eq!(flags, ["yes", "yes", "yes"], "{name}: embedded, subset, unicode: {row}");
            assert!(odd || row.contains("IBMPlexSans"), "{name}: {row}");
        }
        let text = output_of("pdftotext", &["-raw"], &path);
        if name.starts_with("survival-odd") && !file.warnings.iter().any(|w| w.starts_with("No font")) {
            // Other fonts are subsets too, and their text can be searched.
            assert!(rows.iter().any(|row| !row.contains("IBMPlexSans")), "{name}: {fonts}");
            assert!(text.chars().any(|c| ('\u{4E00}'..'\u{A000}').contains(&c)), "{name}: {text}");
        }

        let text: String = text.split_whitespace().collect();
        for word in words(&drawing.svg).iter().filter(|w| w.is_ascii()) {
            let word: String = word.split_whitespace().collect();
            assert!(text.contains(&word), "{name}: {word:?} is not in the text of the PDF:\n{text}");
        }
        // A transparent band must not become a picture.
        assert!(!file.bytes.windows(15).any(|w| w == b"/Subtype /Image"), "{name} has a raster");
        assert!(file.bytes.len() < 200_000, "{name} has {} bytes", file.bytes.len());
    }
}

#[test]
fn a_pdf_looks_like_its_png() {
    if !have(&["pdftoppm"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, figure, preset) in in_presets() {
        let spec = spec(figure, preset);
        let name = &format!("{name}-{}", preset.replace(':', "-"));
        let path = folder.path().join(format!("{name}.pdf"));
        fs::write(&path, export(&spec, Format::Pdf).unwrap().bytes).unwrap();
        let painted = folder.path().join(name);
        // Raw colors, because compressing a PNG takes longer than painting.
        let status = Command::new("pdftoppm")
            .args(["-r", "300", "-singlefile"])
            .args([&path, &painted])
            .status()
            .unwrap();
        assert!(status.success());
        let ppm = fs::read(painted.with_extension("ppm")).unwrap();
        let by_poppler = Picture::of_ppm(&ppm);
        let ours = Pixmap::decode_png(&export(&spec, Format::Png).unwrap().bytes).unwrap();
        let ours = Picture::of_pixmap(&ours);
        assert!(by_poppler.width.abs_diff(ours.width) <= 1, "{name}");
        assert!(by_poppler.height.abs_diff(ours.height) <= 1, "{name}");
        let share = difference(&by_poppler, &ours);
        assert!(share < 0.004, "{name}: {:.2} % of the picture differ", share * 100.0);
    }
}

/// Dots of a picture, by line. Their first three bytes are red, green and blue.
struct Picture<'a> {
    width: usize,
    height: usize,
    bytes_of_a_dot: usize,
    dots: &'a [u8],
}

impl<'a> Picture<'a> {
    /// The output of pdftoppm: `P6`, width, height and 255, separated by white space, then three bytes per dot.
    fn of_ppm(ppm: &'a [u8]) -> Self {
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

    fn of_pixmap(map: &'a Pixmap) -> Self {
        Self {
            width: map.width() as usize,
            height: map.height() as usize,
            bytes_of_a_dot: 4,
            dots: map.data(),
        }
    }

    /// Sums of red, green and blue over cells of 6 × 6 dots, with the numbers of columns and rows.
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

/// Share of cells with a large difference of the mean gray. Renderers differ at the edges of letters and lines.
fn difference(a: &Picture, b: &Picture) -> f64 {
    let (columns, rows) = (a.width.min(b.width) / CELL, a.height.min(b.height) / CELL);
    let (of_a, of_b) = (a.cells(columns, rows), b.cells(columns, rows));
    let most = (60 * CELL * CELL * 3) as u32;
    let differ = of_a.iter().zip(&of_b).filter(|(a, b)| a.abs_diff(**b) > most).count();
    differ as f64 / (columns * rows) as f64
}

/// A document with one column of the width of a figure, with one figure or table per page.
fn compile(folder: &Path, name: &str, width_pt: f64, packages: &str, body: &str) {
    let geometry = format!("paperwidth=9in,paperheight=12in,textwidth={width_pt}bp,textheight=10in");
    compile_as(folder, name, ("10pt", &geometry), packages, body);
}

/// A document of this class option and page.
fn compile_as(folder: &Path, name: &str, (option, geometry): (&str, &str), packages: &str, body: &str) {
    let document = format!(
        "\\documentclass[{option}]{{article}}\n\\usepackage[{geometry}]{{geometry}}\n\
         {packages}\n\\setlength\\parindent{{0pt}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    );
    fs::write(folder.join(format!("{name}.tex")), document).unwrap();
    let mut log = String::new();
    // Widths of long tables are known after the third run.
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

#[test]
fn a_latex_document_of_every_figure_in_a_column_compiles_without_a_warning() {
    a_latex_document_of_every_figure("icml");
}

#[test]
fn a_latex_document_of_every_figure_in_half_a_page_compiles_without_a_warning() {
    a_latex_document_of_every_figure("neurips:half");
}

fn a_latex_document_of_every_figure(preset: &str) {
    if !have(&["pdflatex", "pdffonts"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let width = Preset::parse(preset).unwrap().width();
    let mut body = String::new();
    for (name, figure) in kinds::all() {
        let spec = spec(figure, preset);
        // A wide table may have more blocks than fit a page of half a column.
        let drawn = export(&spec, Format::Pdf);
        if name.starts_with("table") && drawn.as_ref().is_err_and(|e| e.advice().is_some()) {
            continue;
        }
        let pdf = format!("{}-{name}.pdf", preset.replace(':', "-"));
        fs::write(folder.path().join(&pdf), drawn.unwrap().bytes).unwrap();
        let tex = export(&spec, Format::Tex).unwrap();
        let input = format!("{}-{name}-plot.tex", preset.replace(':', "-"));
        fs::write(folder.path().join(&input), tex.bytes).unwrap();
        body.push_str(&format!("\\includegraphics{{{pdf}}}\\clearpage\n\\input{{{input}}}\\clearpage\n"));
    }
    let packages = "\\usepackage{graphicx}\\usepackage{pgfplots}\\pgfplotsset{compat=1.18}\\usepackage{array}\\usepackage{booktabs}";
    let document = preset.replace(':', "-");
    compile(folder.path(), &document, width, packages, &body);
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        fs::create_dir_all(&keep).unwrap();
        fs::copy(
            folder.path().join(format!("{document}.pdf")),
            Path::new(&keep).join(format!("{document}.pdf")),
        )
        .unwrap();
    }
    let fonts = plain("pdffonts", &folder.path().join(format!("{document}.pdf")));
    assert!(!fonts.contains("Type 3"), "{fonts}");
}

#[test]
fn a_latex_document_of_every_table_compiles_without_a_warning() {
    if !have(&["pdflatex"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut body = String::new();
    for (name, figure) in kinds::all() {
        let mut table = data_table(&figure);
        table.name = name.to_owned();
        table.notes.push("A note with 50 % & more_than_one $ sign, a-very-long-hyphenated-name-that-has-to-be-broken/somewhere.".to_owned());
        let input = format!("table-{name}.tex");
        fs::write(folder.path().join(&input), table.to_latex()).unwrap();
        body.push_str(&format!("\\input{{{input}}}\\clearpage\n"));
    }
    let packages = "\\usepackage{array}\\usepackage{booktabs}\\usepackage{graphicx}";
    compile(folder.path(), "tables", 486.0, packages, &body);
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        fs::create_dir_all(&keep).unwrap();
        fs::copy(folder.path().join("tables.pdf"), Path::new(&keep).join("tables.pdf")).unwrap();
    }
}

/// One test per venue, because each compiles a paper.
macro_rules! of_each {
    ($($test:ident: $venue:literal,)*) => {$(
        #[test]
        fn $test() {
            a_paper_of_two_columns($venue);
        }
    )*};
}

of_each! {
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_icml: "icml",
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_acl: "acl",
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_ieee: "ieee",
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_acm: "acm",
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_aaai: "aaai",
    a_paper_of_two_columns_of_every_table_compiles_without_a_warning_for_cvpr: "cvpr",
}

/// In two columns: narrow tables in one of them, wide ones over both, wider ones in blocks, long ones over pages.
fn a_paper_of_two_columns(venue: &str) {
    if !have(&["pdflatex", "pdftotext"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [column, page] = [venue.to_owned(), format!("{venue}:full")].map(|p| Preset::parse(&p).unwrap());
    let mut body = "Text around them.\n".to_owned();
    // One venue has all of them, the others those that differ by widths.
    let all = venue == "icml";
    let mut tables: Vec<(&str, Figure)> =
        kinds::all().into_iter().filter(|(name, _)| all || name.starts_with("table")).collect();
    tables.push(("table-long", cases::tables::runs(if all { 250 } else { 90 })));
    tables.push(("table-long-wide", cases::tables::wide(60)));
    let columns = vec![Column::text("run", "Run"), Column::integer("n", "n")];
    let mut narrow = Table::new("narrow", "Runs", columns);
    narrow.push(vec![known("GLM-5.2"), known(20_u32)]);
    tables.push(("narrow", Figure::Table(narrow)));
    for (name, figure) in tables {
        let table = Figure::Table(Table { name: name.to_owned(), ..data_table(&figure) });
        for preset in [column, page] {
            let tex = export(&FigureSpec::new(table.clone(), preset.layout(), Theme::Print), Format::Tex);
            let text = String::from_utf8(tex.unwrap().bytes).unwrap();
            let narrow = name == "narrow";
            if preset == column && (narrow || name.starts_with("table")) {
                assert_eq!(!text.contains("\\begin{table*}"), narrow, "{venue} {name}");
            }
            let input = format!("{venue}-{name}-{:.0}.tex", preset.width());
            fs::write(
                folder.path().join(&input),
                text.replace("tab:", &format!("tab:{:.0}", preset.width())),
            )
            .unwrap();
            body.push_str(&format!("\\input{{{input}}}\\clearpage\n"));
        }
    }
    let gap = page.width() - 2.0 * column.width();
    let geometry = format!(
        "paperwidth=9in,paperheight=11in,textwidth={}bp,textheight=9in,columnsep={gap}bp",
        page.width()
    );
    let packages = "\\usepackage{array}\\usepackage{booktabs}\\usepackage{graphicx}";
    let name = format!("two-{venue}");
    compile_as(folder.path(), &name, ("10pt,twocolumn", &geometry), packages, &body);
    let path = folder.path().join(format!("{name}.pdf"));
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        fs::create_dir_all(&keep).unwrap();
        fs::copy(&path, Path::new(&keep).join(format!("{name}.pdf"))).unwrap();
    }
    let text = output_of("pdftotext", &["-layout"], &path);
    assert!(text.contains("continued") && !text.contains("??"), "{venue}");
}
