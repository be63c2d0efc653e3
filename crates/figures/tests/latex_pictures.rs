//! Figures as pictures of LaTeX: for every kind and venue they compile without a warning, are as large as they say, keep
//! their texts where the layout has them, and look like the PNG. In `npm test` each width of a venue has every third kind, the next
//! width the next ones.
//!
//! Needs `pdflatex` with pgf and `pdftotext`, `pdffonts` and `pdftoppm` (poppler-utils). Where they are missing,
//! nothing is tested, but in CI that is a failure.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use figures::export::{Format, export};
use figures::venue::Preset;
use figures::{Drawing, Figure, FigureSpec, PLEX_SANS_REGULAR, Theme, draw, text_width};
use resvg::tiny_skia::{Pixmap, Transform};
use usvg::roxmltree;

use crate::cases;
use crate::kinds;
use crate::papers::{Picture, difference, have, output_of, painted, plain, run_pdflatex, spec, unescaped};

/// A picture as it stands in a document.
struct Page {
    name: String,
    drawing: Drawing,
}

/// Names that are hard for LaTeX.
const HOSTILE: [&str; 4] = [
    "100 % of #1 & $x$ in {a}_b^c~d \\\\e [f]",
    "\\input{/etc/passwd}\\end{pgfpicture}\\undefined",
    "a--b ---c ?`d !` ,,e'' <<f>> |g| \"h\" 'i'",
    "É ß ø – — … “q” ‘r’ ± × − ≤ ≥ τ Δ",
];

/// Every kind that is drawn in LaTeX, and names that are hard to set. Tables are LaTeX tables.
fn kinds() -> Vec<(String, Figure)> {
    kinds::all()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("table"))
        .map(|(name, figure)| (name.to_owned(), figure))
        .chain([("retries-8".to_owned(), cases::many::retries(8))])
        .chain([("survival-9".to_owned(), cases::many::survival(cases::many::runs(9, 25, 9), 9))])
        .chain(HOSTILE.iter().enumerate().map(|(i, name)| (format!("hostile-{i}"), kinds::named(name))))
        .collect()
}

/// A document with `preamble`, in which every page is a picture and as large as it.
fn document(
    folder: &Path,
    name: &str,
    preamble: &str,
    specs: Vec<(String, FigureSpec)>,
) -> (PathBuf, Vec<Page>) {
    let (mut body, mut pages) = (String::new(), Vec::new());
    for (index, (title, spec)) in specs.into_iter().enumerate() {
        let file = match export(&spec, Format::Tex) {
            Ok(file) => file,
            // What does not fit is said, and nothing is written.
            Err(error) => {
                assert!(error.advice().is_some(), "{title}: {error}");
                continue;
            }
        };
        fs::write(folder.join(format!("{name}-{index}.tex")), file.bytes).unwrap();
        body.push_str(&format!("\\onpage{{{name}-{index}}}\n"));
        pages.push(Page { name: title, drawing: draw(&spec) });
    }
    let document = format!(
        "\\documentclass[10pt]{{article}}\n\\usepackage{{pgf}}\n{preamble}\n\\newbox\\picture\n\\hfuzz=0pt\n\
         \\newcommand\\onpage[1]{{\\setbox\\picture\\hbox{{\\input{{#1}}}}\\pdfpagewidth=\\wd\\picture\n\
         \\pdfpageheight=\\dimexpr\\ht\\picture+\\dp\\picture\\relax\\shipout\\box\\picture}}\n\
         \\pdfhorigin=0pt\n\\pdfvorigin=0pt\n\\begin{{document}}\n{body}\\end{{document}}\n"
    );
    run_pdflatex(folder, name, &document);
    let pdf = folder.join(format!("{name}.pdf"));
    if let Some(keep) = std::env::var_os("KEEP_PAPERS") {
        fs::create_dir_all(&keep).unwrap();
        fs::copy(&pdf, Path::new(&keep).join(format!("pictures-{name}.pdf"))).unwrap();
    }
    (pdf, pages)
}

/// A word of a page: its text, and its left, top, right and bottom.
struct Word {
    text: String,
    area: [f64; 4],
}

/// A page's width and height, and its words.
struct Words {
    size: [f64; 2],
    words: Vec<Word>,
}

/// The words of each page.
fn words(pdf: &Path) -> Vec<Words> {
    let found = output_of("pdftotext", &["-bbox"], pdf);
    let attribute = |line: &str, name: &str| -> f64 {
        let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let word = |line: &str| {
        let text = unescaped(line.split_once('>')?.1.split_once("</word>")?.0);
        Some(Word { text, area: ["xMin", "yMin", "xMax", "yMax"].map(|name| attribute(line, name)) })
    };
    let words = |page: &str| page.lines().filter(|l| l.contains("<word ")).filter_map(word).collect();
    let page = |text: &str| Words {
        size: ["width", "height"].map(|name| attribute(text, name)),
        words: words(text),
    };
    found.split("<page ").skip(1).map(page).collect()
}

/// Letters and digits, which every font of LaTeX has as they are.
fn bare(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A text of a drawing: where it stands, `x` being that of its anchor.
struct Set {
    text: String,
    x: f64,
    base: f64,
    width: f64,
    /// How much of its width stands left of `x`.
    before: f64,
    upright: bool,
}

fn texts(drawing: &Drawing) -> Vec<Set> {
    let document = roxmltree::Document::parse(&drawing.svg).unwrap();
    let set = |node: roxmltree::Node<'_, '_>| {
        let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let text = node.text().unwrap_or_default().to_owned();
        let before = match node.attribute("text-anchor") {
            Some("middle") => 0.5,
            Some("end") => 1.0,
            _ => 0.0,
        };
        let width = text_width(&text, number("font-size"));
        let upright = node.attribute("transform").is_some();
        Set { text, x: number("x"), base: number("y"), width, before, upright }
    };
    document.descendants().filter(|n| n.has_tag_name("text")).map(set).collect()
}

/// Whether a page is as large as its drawing, has its texts, and has them in their places.
fn check(page: &Page, words: &Words) {
    let Page { name, drawing } = page;
    let Words { size: [width, height], words } = words;
    assert!((width - drawing.width).abs() < 0.02, "{name} is {width} wide, drawn {}", drawing.width);
    assert!((height - drawing.height).abs() < 0.02, "{name} is {height} high, drawn {}", drawing.height);

    let mut missing: Vec<String> = Vec::new();
    let all: String = words.iter().map(|word| bare(&word.text)).collect();
    for Word { text, area: [left, top, right, bottom] } in words {
        // These heights are those of the font, and letters are lower.
        let inside =
            *left >= -0.2 && *top >= -2.0 && *right <= drawing.width + 0.2 && *bottom <= drawing.height + 2.0;
        assert!(inside, "{name}: \"{text}\" at {left} {top} {right} {bottom} leaves the picture");
    }
    for set in texts(drawing) {
        for part in set.text.split_whitespace().map(bare).filter(|part| !part.is_empty()) {
            if !all.contains(&part) {
                missing.push(part);
            }
        }
        // A text of one word, which no other can be taken for.
        let alone = set.text.is_ascii() && set.text == bare(&set.text) && set.text.len() > 1;
        let same = |word: &&Word| word.text == set.text;
        if !alone || set.upright || words.iter().filter(same).count() != 1 {
            continue;
        }
        let [left, top, right, bottom] = words.iter().find(same).unwrap().area;
        let x = left + set.before * (right - left);
        assert!((x - set.x).abs() < 0.5, "{name}: \"{}\" stands at {x}, not {}", set.text, set.x);
        assert!(right - left <= set.width + 0.2, "{name}: \"{}\" is {} wide", set.text, right - left);
        assert!(
            top < set.base && set.base < bottom + 0.2,
            "{name}: \"{}\" stands from {top} to {bottom}, not on {}",
            set.text,
            set.base
        );
    }
    assert!(missing.is_empty(), "{name} lacks {missing:?}: {all}");
}

/// A test for each venue, since each sets a document of its own.
macro_rules! venue_tests {
    ($($test:ident: $venues:expr,)*) => {$(
        #[test]
        fn $test() {
            every_kind_of($venues);
        }
    )*};
}

venue_tests! {
    every_picture_compiles_and_keeps_its_texts_for_icml: &["icml", "cvpr"],
    every_picture_compiles_and_keeps_its_texts_for_neurips: &["neurips", "acm"],
    every_picture_compiles_and_keeps_its_texts_for_acl: &["acl", "aaai"],
    every_picture_compiles_and_keeps_its_texts_for_ieee: &["ieee", "tmlr", "jmlr"],
}

fn every_kind_of(venues: &[&str]) {
    if !have(&["pdflatex", "pdftotext", "pdffonts"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let presets: Vec<Preset> = Preset::all()
        .into_iter()
        .filter(|preset| venues.contains(&preset.name().split(':').next().unwrap()))
        .collect();
    assert_eq!(presets.len(), 2 * venues.len(), "each venue has two widths");
    let specs = presets.iter().enumerate().flat_map(|(index, preset)| {
        let is_meant = move |kind: usize| kinds::is_every_way() || (index + kind).is_multiple_of(3);
        kinds().into_iter().enumerate().filter(move |(kind, _)| is_meant(*kind)).map(
            move |(_, (name, figure))| {
                let spec = FigureSpec::new(figure, preset.layout(), Theme::Print);
                (format!("{name} for {preset}"), spec)
            },
        )
    });
    let specs: Vec<(String, FigureSpec)> = specs.collect();
    let spec_count = specs.len();
    let (pdf, pages) = document(folder.path(), venues[0], "", specs);
    assert!(pages.len() + presets.len() >= spec_count, "{} of {spec_count} were written", pages.len());
    let words = words(&pdf);
    assert_eq!(words.len(), pages.len());
    for (page, words) in pages.iter().zip(&words) {
        check(page, words);
    }
    let fonts = plain("pdffonts", &pdf);
    assert!(!fonts.contains("Type 3"), "{fonts}");
}

/// The drawing without its texts, at 300 dots an inch.
fn shapes(drawing: &Drawing) -> Pixmap {
    let mut svg = String::new();
    for (i, part) in drawing.svg.split("<text ").enumerate() {
        let rest = if i == 0 { part } else { part.split_once("</text>").unwrap().1 };
        svg.push_str(rest);
    }
    let mut options = usvg::Options::default();
    Arc::make_mut(&mut options.fontdb).load_font_data(PLEX_SANS_REGULAR.to_vec());
    let tree = usvg::Tree::from_str(&svg, &options).unwrap();
    let scale = 300.0 / 72.0;
    let (width, height) = ((drawing.width * scale).round() as u32, (drawing.height * scale).round() as u32);
    let mut pixmap = Pixmap::new(width, height).unwrap();
    let (across, down) = (width as f32 / tree.size().width(), height as f32 / tree.size().height());
    resvg::render(&tree, Transform::from_scale(across, down), &mut pixmap.as_mut());
    pixmap
}

#[test]
fn the_shapes_of_a_latex_picture_are_those_of_the_drawing() {
    if !have(&["pdflatex", "pdftoppm"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // In `npm test` each kind at one of two widths.
    let specs = ["icml", "neurips"].into_iter().enumerate().flat_map(|(index, preset)| {
        let is_meant = move |kind: usize| kinds::is_every_way() || kind % 2 == index;
        kinds()
            .into_iter()
            .enumerate()
            .filter(move |(kind, _)| is_meant(*kind))
            .map(move |(_, (name, figure))| (name, spec(figure, preset)))
    });
    let grey = FigureSpec { theme: Theme::Grey, ..spec(cases::many::matrix(5, 5), "icml") };
    let specs = specs.chain([("matrix-grey".to_owned(), grey)]).collect();
    // The letters of LaTeX are others, so that only what is not text can be compared.
    let (pdf, pages) = document(folder.path(), "shapes", "\\newcommand\\staminatext[8]{}", specs);
    for (index, Page { name, drawing }) in pages.iter().enumerate() {
        let ppm = painted(&pdf, index + 1);
        let (by_latex, ours) = (Picture::from_ppm(&ppm), shapes(drawing));
        let ours = Picture::from_pixmap(&ours);
        assert!(by_latex.width.abs_diff(ours.width) <= 1, "{name}");
        assert!(by_latex.height.abs_diff(ours.height) <= 1, "{name}");
        let share = difference(&by_latex, &ours);
        assert!(share < 0.004, "{name}: {:.2} % of the picture differ", share * 100.0);
    }
}

#[test]
fn a_paper_chooses_colors_and_letters() {
    if !have(&["pdflatex", "pdffonts", "pdftoppm"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dots = |name: &str, preamble: &str| {
        let figure = cases::many::survival(cases::many::runs(1, 20, 12), 12);
        let (pdf, _) = document(folder.path(), name, preamble, vec![(name.to_owned(), spec(figure, "icml"))]);
        let ppm = painted(&pdf, 1);
        let count = |color: [u8; 3]| ppm.windows(3).filter(|dot| *dot == color).count();
        (count([0x00, 0x72, 0xB2]), count([0xFF, 0x00, 0x00]), plain("pdffonts", &pdf))
    };
    let (blue, red, fonts) = dots("as-it-is", "");
    assert!(
        blue > 500 && red == 0 && fonts.contains("CMR6") && !fonts.contains("CMSS"),
        "{blue} {red} {fonts}"
    );
    let preamble = "\\definecolor{staminaSeries1}{HTML}{FF0000}\\newcommand\\staminafont{\\sffamily}";
    let (blue, red, fonts) = dots("of-the-paper", preamble);
    assert!(blue == 0 && red > 500 && fonts.contains("CMSS"), "{blue} {red} {fonts}");
}
