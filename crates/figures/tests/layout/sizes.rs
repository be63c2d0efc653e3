//! Every kind of figure of 1, 3, 9, 13 and 42 members, at every width of a venue, with short and with long names, with names that
//! differ in their middle or everywhere, of simulated and other runs: no text leaves the drawing or meets another, no number is
//! cut, every name keeps what differs and enough of its letters. Or the figure is refused with a reason.
//!
//! In `npm test` that is so at the five widths of [`ALWAYS`]; each other one has every third pair of a number and a length.

use figures::{
    Figure, FigureSpec, Scale, SeriesLabel, SharesForm, Theme,
    export::{Format, export},
};

use crate::cases::{many, tables};
use crate::kinds::is_every_way;
use crate::layout::{check, fitting, presets, texts, with_names};

/// The narrowest and the widest, and those with the largest letters for their width, where names were cut to nonsense.
const ALWAYS: [&str; 5] = ["icml", "icml:full", "neurips:half", "acl", "aaai"];

const MEMBERS: [usize; 5] = [1, 3, 9, 13, 42];

/// Reasons for which a figure of values may be refused.
const REASONS: [&str; 4] = [
    "no room for whole numbers",
    "in high, and a page",
    "fit a page at this width",
    "no room for readable names",
];

/// The word that only this name has.
fn own(i: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("q{}{}z", letter(i / 26), letter(i))
}

/// What the names of members are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Short,
    /// All begin and end alike.
    Alike,
    /// Models and harnesses of the world, which share little.
    Real,
    /// The same, all of simulated runs.
    Simulated,
}

const NAMES: [Names; 4] = [Names::Short, Names::Alike, Names::Real, Names::Simulated];

/// A name, with its word in the middle of what all names share, or of the world.
fn name(i: usize, names: Names) -> String {
    match names {
        Names::Short => own(i),
        Names::Alike => {
            let (begin, end) = ("organization-with-a-long-name", "2026-06-01-thinking-high-context-1m");
            format!("{begin}/instruct-{}-{end}-{end}", own(i))
        }
        Names::Real | Names::Simulated => {
            let models = many::MODELS.len();
            let harness = ["codex", "claude_code", "mini-swe-agent", "OpenHands"][i / models % 4];
            format!("{} · {harness}", many::MODELS[i % models])
        }
    }
}

/// Marks the runs of a figure as simulated.
fn simulate(figure: &mut Figure) {
    let labels: Vec<&mut SeriesLabel> = match figure {
        Figure::SurvivalComparison(data) => data.series.iter_mut().map(|s| &mut s.label).collect(),
        Figure::FirstFailuresComparison(data) => data.series.iter_mut().map(|s| &mut s.label).collect(),
        Figure::Differences(data) => {
            std::iter::once(&mut data.reference).chain(data.rows.iter_mut().map(|r| &mut r.label)).collect()
        }
        Figure::Bars(data) => data.rows.iter_mut().map(|r| &mut r.label).collect(),
        Figure::Pareto(data) => data.points.iter_mut().map(|p| &mut p.label).collect(),
        Figure::Plane(data) => data.points.iter_mut().map(|p| &mut p.label).collect(),
        Figure::Retries(data) => data.series.iter_mut().map(|s| &mut s.label).collect(),
        Figure::Paired(data) => vec![&mut data.a, &mut data.b],
        Figure::FailureShares(data) => data.groups.iter_mut().map(|g| &mut g.label).collect(),
        Figure::Matrix(_) | Figure::Table(_) | Figure::Survival(_) | Figure::FirstFailures(_) => Vec::new(),
    };
    for label in labels {
        label.simulated = true;
    }
}

/// Whether a text was cut to nonsense: fewer than eight letters and digits are left beside its number and the suffix of a
/// simulated run, or nothing but that suffix. Or a number was cut.
fn is_nonsense(text: &str) -> bool {
    let Some((begin, _)) = text.split_once('…') else { return ["(sim.)", "(simulated)"].contains(&text) };
    let begins_as_number = begin.chars().any(|c| c.is_ascii_digit()) && !begin.contains(char::is_alphabetic);
    let name = text.trim_end_matches(" (sim.)").trim_end_matches(" (simulated)");
    let name = match name.split_once(": ") {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
        _ => name,
    };
    (begins_as_number && name == text) || name.chars().filter(|c| c.is_alphanumeric()).count() < 8
}

#[test]
fn what_was_seen_in_columns_of_acl_is_nonsense() {
    for text in ["2: (s….)", "De…ro", "2…", "−2.52 [−4…84]", "(sim.)"] {
        assert!(is_nonsense(text), "{text}");
    }
    for text in ["2: DeepSe…-Pro", "GLM-5.2 (sim.)", "organization…1m", "22 %"] {
        assert!(!is_nonsense(text), "{text}");
    }
}

/// Checks a kind. `shown`: how many of the names stand in a figure of so many members.
fn every_size(make: impl Fn(usize) -> Figure, shown: impl Fn(usize) -> usize) {
    const NUMBERS: [Option<f64>; 5] = [Some(1.0), Some(2.0), Some(0.5), Some(3.0), Some(4.0)];
    let (mut written, mut pair) = (0, 0);
    for members in MEMBERS {
        for names in NAMES {
            let mut figure = make(members);
            // Tables keep their names.
            if matches!(figure, Figure::Table(_)) && matches!(names, Names::Real | Names::Simulated) {
                continue;
            }
            pair += 1;
            if !matches!(figure, Figure::Table(_)) {
                let member_names: Vec<String> =
                    (0..shown(members).max(members)).map(|i| name(i, names)).collect();
                figure = with_names(figure, &member_names, &NUMBERS);
            }
            if names == Names::Simulated {
                simulate(&mut figure);
            }
            let mut is_drawn_twice = false;
            for (index, preset) in presets().into_iter().enumerate() {
                let is_always = is_every_way() || ALWAYS.contains(&preset.name().as_str());
                if !is_always && !(index + pair).is_multiple_of(3) {
                    continue;
                }
                let spec = FigureSpec::new(figure.clone(), preset.layout(), Theme::Print);
                let case = format!("{members} members, {names:?} names, {}", preset.name());
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
                assert_eq!(texts.iter().find(|text| is_nonsense(text)), None, "{case}");
                // A name alone has no other to differ from.
                let has_words = matches!(names, Names::Short | Names::Alike);
                let named = if shown(members) > 1 && has_words { shown(members) } else { 0 };
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
    ratios: ratio_differences, |n| n + 1;
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

fn ratio_differences(members: usize) -> Figure {
    let Figure::Differences(mut data) = many::differences(members) else { panic!("differences") };
    data.scale = Scale::Log;
    Figure::Differences(data)
}

fn in_panels(members: usize) -> Figure {
    let Figure::Retries(mut data) = many::retries(members) else { panic!("retries") };
    data.published.clear();
    Figure::Retries(data)
}
