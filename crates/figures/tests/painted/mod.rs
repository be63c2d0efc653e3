//! Paints drawings and compares them with the pictures that are known.
#![allow(unreachable_pub, reason = "shared by test files")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figures::{Drawing, Figure, FigureSpec, Layout, PLEX_SANS_REGULAR, Theme, draw};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg;

/// Pictures are painted at twice their size.
const SCALE: f32 = 2.0;

fn paint(drawing: &Drawing, theme: Theme) -> Pixmap {
    let mut options = usvg::Options::default();
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(PLEX_SANS_REGULAR.to_vec());
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

pub fn check(name: &str, figure: Figure, layout: Layout, theme: Theme) {
    let spec = FigureSpec::new(figure, layout, theme);
    let drawing = draw(&spec);
    let text = drawing.svg.replace("><", ">\n<");
    insta::with_settings!({ omit_expression => true, snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, format!("{}\n\n{text}\n", drawing.summary));
    });
    let painted = paint(&drawing, theme);
    let expected: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/pictures/{name}.png"));
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        painted.save_png(&expected).unwrap();
    }
    let known = Pixmap::load_png(&expected).unwrap_or_else(|e| panic!("{}: {e}", expected.display()));
    let share = difference(&painted, &known);
    if share > 0.001 {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        painted.save_png(&actual).unwrap();
        panic!("{name} looks different in {:.2} % of its pixels, see {}", share * 100.0, actual.display());
    }
}
