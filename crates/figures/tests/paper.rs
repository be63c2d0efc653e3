//! Figures and tables in a paper: fonts and text of PDFs, their picture, and a LaTeX document of everything.
//!
//! They need `pdffonts`, `pdftotext`, `pdfinfo` and `pdftoppm` (poppler-utils) and `pdflatex` with pgf. Without these
//! programs, nothing is tested, except in CI, where this is a failure.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use figures::export::{Format, export};
use figures::table::{Column, Table, data_table, known};
use figures::venue::Preset;
use figures::{Figure, FigureSpec, Theme, draw};
use resvg::tiny_skia::Pixmap;

use crate::cases;
use crate::kinds;
use crate::papers::{Picture, compile, compile_as, difference, have, output_of, painted, plain, spec, words};

/// Every kind in a column, and in a page of one column and of two what is drawn there. A wide table may have more blocks
/// than fit a page of a narrow column. In `npm test` each kind has one of the three, the next kind the next.
fn in_presets() -> Vec<(&'static str, Figure, &'static str)> {
    let presets = ["icml", "neurips", "acl:full"];
    let pictures_of_kind = |(index, (name, figure)): (usize, (&'static str, Figure))| {
        let meant = if kinds::is_every_way() { &presets[..] } else { &presets[index % 3..=index % 3] };
        meant.iter().map(|preset| (name, figure.clone(), *preset)).collect::<Vec<_>>()
    };
    kinds::all().into_iter().enumerate().flat_map(pictures_of_kind).collect()
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
        // The version that pdfLaTeX writes: of a later one it warns.
        assert!(file.bytes.starts_with(b"%PDF-1.5"), "{name}: {:?}", file.bytes.get(..8));

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
        let ppm = painted(&path, 1);
        let by_poppler = Picture::from_ppm(&ppm);
        let ours = Pixmap::decode_png(&export(&spec, Format::Png).unwrap().bytes).unwrap();
        let ours = Picture::from_pixmap(&ours);
        assert!(by_poppler.width.abs_diff(ours.width) <= 1, "{name}");
        assert!(by_poppler.height.abs_diff(ours.height) <= 1, "{name}");
        let share = difference(&by_poppler, &ours);
        assert!(share < 0.004, "{name}: {:.2} % of the picture differ", share * 100.0);
    }
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
    let packages = "\\usepackage{graphicx}\\usepackage{pgf}\\usepackage{array}\\usepackage{booktabs}";
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
macro_rules! venue_tests {
    ($($test:ident: $venue:literal,)*) => {$(
        #[test]
        fn $test() {
            a_paper_of_two_columns($venue);
        }
    )*};
}

venue_tests! {
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
