//! Every kind of figure of 1, 3, 9, 13 and 42 members, at every width of a venue, with short and with long names: no text leaves
//! the drawing or meets another, no number is cut, and every name keeps what differs. Or the figure is refused with a reason.
//!
//! In `npm test` that is so at the five widths of [`ALWAYS`]; each other one has every third pair of a number and a length.

use figures::{
    Figure, FigureSpec, Scale, SharesForm, Theme,
    export::{Format, export},
};

use crate::cases::{many, tables};
use crate::kinds::is_every_way;
use crate::layout::{check, fitting, presets, texts, with_names};

/// The narrowest and the widest, and those with the largest letters for their width.
const ALWAYS: [&str; 5] = ["icml", "icml:full", "neurips:half", "acl", "ieee:full"];

const MEMBERS: [usize; 5] = [1, 3, 9, 13, 42];

/// Reasons for which a figure of values may be refused.
const REASONS: [&str; 3] = ["no room for whole numbers", "in high, and a page", "fit a page at this width"];

/// The word that only this name has.
fn own(i: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("q{}{}z", letter(i / 26), letter(i))
}

/// A name with its word in the middle of what all names share.
fn name(i: usize, is_long: bool) -> String {
    if is_long {
        let (begin, end) = ("organization-with-a-long-name", "2026-06-01-thinking-high-context-1m");
        format!("{begin}/instruct-{}-{end}-{end}", own(i))
    } else {
        own(i)
    }
}

/// Checks a kind. `shown`: how many of the names stand in a figure of so many members.
fn every_size(make: impl Fn(usize) -> Figure, shown: impl Fn(usize) -> usize) {
    const NUMBERS: [Option<f64>; 5] = [Some(1.0), Some(2.0), Some(0.5), Some(3.0), Some(4.0)];
    let (mut written, mut pair) = (0, 0);
    for members in MEMBERS {
        for is_long in [false, true] {
            pair += 1;
            let mut figure = make(members);
            if !matches!(figure, Figure::Table(_)) {
                let names: Vec<String> = (0..shown(members).max(members)).map(|i| name(i, is_long)).collect();
                figure = with_names(figure, &names, &NUMBERS);
            }
            let mut is_drawn_twice = false;
            for (index, preset) in presets().into_iter().enumerate() {
                let is_always = is_every_way() || ALWAYS.contains(&preset.name().as_str());
                if !is_always && !(index + pair).is_multiple_of(3) {
                    continue;
                }
                let spec = FigureSpec::new(figure.clone(), preset.layout(), Theme::Print);
                let case = format!("{members} members, long: {is_long}, {}", preset.name());
                if let Err(error) = export(&spec, Format::Svg) {
                    let message = error.to_string();
                    assert!(REASONS.iter().any(|reason| message.contains(reason)), "{case}: {message}");
                    assert!(error.advice().is_some(), "{case}: {message}");
                    continue;
                }
                let drawing = if is_drawn_twice { fitting(&spec) } else { check(&spec) };
                is_drawn_twice = true;
                written += 1;
                let texts: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
                let is_cut = |text: &&String| {
                    text.trim_start_matches(['<', '>', '−', ' ']).starts_with(|c: char| c.is_ascii_digit())
                        && text.contains('…')
                };
                assert_eq!(texts.iter().find(is_cut), None, "{case}");
                // A name alone has no other to differ from.
                let named = if shown(members) > 1 { shown(members) } else { 0 };
                for own in (0..named).map(own) {
                    assert!(
                        texts.iter().any(|text| text.contains(&own)),
                        "{case}: {own} is not in {texts:?}"
                    );
                }
            }
        }
    }
    assert!(written > 0, "nothing was written");
}

macro_rules! every_size_of {
    ($($test:ident: $make:expr, $shown:expr;)*) => {$(
        #[test]
        fn $test() {
            every_size($make, $shown);
        }
    )*};
}

every_size_of! {
    survival: |n| many::survival(many::runs(n, 20, 9), 9), |n| n;
    first_failures: |n| many::first_failures(many::runs(n, 20, 9)), |n| n;
    // The reference has a name, too.
    differences: many::differences, |n| n + 1;
    ratios: of_ratios, |n| n + 1;
    bars: many::bars, |n| n;
    pareto: |n| many::pareto(n, Scale::Log), |n| n;
    plane: many::plane, |n| n;
    retries: many::retries, |n| n;
    retries_in_panels: in_panels, |n| n;
    // Beyond 40 scenarios rows have no names; both runs have.
    paired: |n| many::paired(n as u32, 9), |n| if n > 40 { 2 } else { n };
    matrix: |n| many::matrix(3, n), |n| n.max(3);
    failures_stacked: |n| many::failures(6, n, SharesForm::Stacked), |n| n;
    failures_side_by_side: |n| many::failures(6, n, SharesForm::SideBySide), |n| n;
    tables: tables::runs, |_| 0;
    wide_tables: tables::wide, |_| 0;
}

fn of_ratios(members: usize) -> Figure {
    let Figure::Differences(mut data) = many::differences(members) else { panic!("differences") };
    data.scale = Scale::Log;
    Figure::Differences(data)
}

fn in_panels(members: usize) -> Figure {
    let Figure::Retries(mut data) = many::retries(members) else { panic!("retries") };
    data.published.clear();
    Figure::Retries(data)
}
