//! Paints drawings and compares them with committed pictures.
#![allow(unreachable_pub, reason = "shared by test files")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figures::{Drawing, Figure, FigureSpec, Layout, PLEX_SANS_REGULAR, Theme, draw};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg;

/// Pictures are painted at twice their size.
const SCALE: f32 = 2.0;

/// Fonts with the letters that the shipped font lacks, from these Debian packages, so that pictures are equal everywhere.
const OTHERS: [(&str, &str); 2] = [
    ("fonts-dejavu-core", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
    ("fonts-wqy-microhei", "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),
];

/// Whether there is a letter that the shipped font lacks.
fn is_foreign(drawing: &Drawing) -> bool {
    let texts =
        drawing.svg.split("<text ").skip(1).filter_map(|t| t.split_once('>')?.1.split_once("</text>"));
    let face = ttf_parser::Face::parse(PLEX_SANS_REGULAR, 0).unwrap();
    texts.flat_map(|(text, _)| text.chars()).any(|c| face.glyph_index(c).is_none())
}

/// Whether the other fonts are installed. In CI they must be.
fn have_others() -> bool {
    let missing: Vec<&str> =
        OTHERS.iter().filter(|(_, path)| !Path::new(path).is_file()).map(|(name, _)| *name).collect();
    assert!(
        missing.is_empty() || std::env::var("CI").map_or(true, |ci| ci != "true"),
        "{missing:?} are missing. On Debian and Ubuntu: sudo apt-get install {}",
        missing.join(" ")
    );
    missing.is_empty()
}

fn paint(drawing: &Drawing, theme: Theme) -> Pixmap {
    let mut options = usvg::Options::default();
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(PLEX_SANS_REGULAR.to_vec());
    if is_foreign(drawing) {
        for (_, path) in OTHERS {
            fonts.load_font_file(path).unwrap();
        }
    }
    options.fontdb = Arc::new(fonts);
    let tree = usvg::Tree::from_str(&drawing.svg, &options).expect("a drawing is SVG");
    let size = tree.size();
    let mut pixmap =
        Pixmap::new((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32).unwrap();
    pixmap.fill(match theme {
        Theme::Dark => Color::from_rgba8(0x1E, 0x1F, 0x21, 255),
        _ => Color::WHITE,
    });
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap
}

/// Share of pixels that differ visibly.
fn difference(a: &Pixmap, b: &Pixmap) -> f64 {
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return 1.0;
    }
    let visible = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 24);
    let differ = a.data().chunks(4).zip(b.data().chunks(4)).filter(visible).count();
    differ as f64 / f64::from(a.width() * a.height())
}

/// Compares a drawing as text.
pub fn describe(name: &str, figure: Figure, layout: Layout, theme: Theme) -> Drawing {
    let drawing = draw(&FigureSpec::new(figure, layout, theme));
    let text = drawing.svg.replace("><", ">\n<");
    insta::with_settings!({ omit_expression => true, snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, format!("{}\n\n{text}\n", drawing.summary));
    });
    drawing
}

/// Compares a drawing as text and as a picture. If both differ, both are written for inspection.
pub fn check(name: &str, figure: Figure, layout: Layout, theme: Theme) {
    let drawing = draw(&FigureSpec::new(figure.clone(), layout, theme));
    let is_unpaintable = is_foreign(&drawing) && !have_others();
    let differs = if is_unpaintable { None } else { painted_otherwise(name, &drawing, theme) };
    describe(name, figure, layout, theme);
    assert_eq!(differs, None);
}

/// How a drawing differs from its picture, and the path of its new picture.
fn painted_otherwise(name: &str, drawing: &Drawing, theme: Theme) -> Option<String> {
    let painted = paint(drawing, theme);
    let expected: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/pictures/{name}.png"));
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        painted.save_png(&expected).unwrap();
    }
    let known = Pixmap::load_png(&expected).unwrap_or_else(|e| panic!("{}: {e}", expected.display()));
    let share = difference(&painted, &known);
    if share <= 0.001 {
        return None;
    }
    let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    painted.save_png(&actual).unwrap();
    Some(format!("{name} looks different in {:.2} % of its pixels, see {}", share * 100.0, actual.display()))
}
