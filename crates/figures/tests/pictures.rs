//! Pictures of figures: the SVG as text, and its rendering by resvg with the bundled font.
//!
//! `UPDATE_PICTURES=1 cargo nextest run --workspace --test figures_integration` writes the pictures again. Look at them
//! before you commit them. If a picture differs, the new one is in the target folder, and the message has its path.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use figures::{Figure, Fonts, Layout, RunData, Theme};

use crate::cases;
use crate::painted::check;

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
    let layout = Layout::Print { width: 234.0, height: Some(145.0), turns: Some(turns), fonts: Fonts::USUAL };
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
