//! What figures look like: the SVG as text, and its picture as resvg paints it with the bundled font.
//!
//! `UPDATE_PICTURES=1 cargo test -p figures` writes the pictures anew; look at them before committing. Where a picture
//! differs, what was painted lies in the target folder, and the message says where.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that can not go on has failed")]

mod cases;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figures::{Drawing, Figure, FigureSpec, Layout, PLEX_SANS_REGULAR, RunData, Theme, draw};
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

fn check(name: &str, figure: Figure, layout: Layout, theme: Theme) {
    let spec = FigureSpec::new(figure, layout, theme);
    let drawing = draw(&spec);
    let text = drawing.svg.replace("><", ">\n<");
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
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

/// Both tracks of the run page.
fn screen(name: &str, data: &RunData, px_per_turn: f64, turns: u32, theme: Theme) {
    let plot_left = 64.0;
    let width = plot_left + px_per_turn * f64::from(turns) + 40.0;
    let layout = |height| Layout::Screen { width, height, plot_left, px_per_turn, turns };
    check(&format!("{name}-survival"), Figure::Survival(data.clone()), layout(164.0), theme);
    check(&format!("{name}-first-failures"), Figure::FirstFailures(data.clone()), layout(72.0), theme);
}

/// ICML's column, 3.25 in wide.
fn print(name: &str, data: &RunData, turns: u32) {
    let layout = Layout::print(234.0).with_height(145.0).with_turns(turns);
    check(&format!("{name}-survival"), Figure::Survival(data.clone()), layout, Theme::Print);
    check(&format!("{name}-first-failures"), Figure::FirstFailures(data.clone()), layout, Theme::Print);
}

#[test]
fn normal() {
    screen("normal-light", &cases::normal(), 36.0, 15, Theme::Light);
    screen("normal-dark", &cases::normal(), 36.0, 15, Theme::Dark);
    screen("normal-wide-light", &cases::normal(), 60.0, 15, Theme::Light);
    print("normal-print", &cases::normal(), 15);
}

#[test]
fn hundred_turns() {
    screen("hundred-turns-light", &cases::hundred_turns(), 6.0, 100, Theme::Light);
    screen("hundred-turns-wide-dark", &cases::hundred_turns(), 10.0, 100, Theme::Dark);
    print("hundred-turns-print", &cases::hundred_turns(), 100);
}

#[test]
fn one_episode() {
    screen("one-episode-light", &cases::one_episode(), 48.0, 9, Theme::Light);
    print("one-episode-print", &cases::one_episode(), 9);
}

#[test]
fn all_fail_at_turn_1() {
    screen("all-fail-light", &cases::all_fail_at_turn_1(), 48.0, 9, Theme::Light);
    screen("all-fail-dark", &cases::all_fail_at_turn_1(), 48.0, 9, Theme::Dark);
}

#[test]
fn all_censored() {
    screen("all-censored-light", &cases::all_censored(), 48.0, 9, Theme::Light);
    screen("all-censored-dark", &cases::all_censored(), 48.0, 9, Theme::Dark);
    print("all-censored-print", &cases::all_censored(), 9);
}

#[test]
fn thousand_episodes() {
    screen("thousand-light", &cases::thousand(), 15.0, 40, Theme::Light);
    screen("thousand-dark", &cases::thousand(), 15.0, 40, Theme::Dark);
    print("thousand-print", &cases::thousand(), 40);
}

#[test]
fn nothing() {
    screen("nothing-light", &cases::nothing(), 48.0, 9, Theme::Light);
}
