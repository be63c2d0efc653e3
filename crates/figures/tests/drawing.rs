//! Rules for every drawing: one turn axis, same bytes for the same input, nothing active in the SVG, no panic.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use std::collections::HashSet;

use analysis::survival::{Observation, SurvivalPoint};
use figures::{Drawing, Figure, FigureSpec, Fonts, Layout, RunData, Theme, TurnAxis, draw};
use proptest::prelude::*;
use resvg::usvg::roxmltree::{Document, Node};

use crate::cases;

const AXIS: TurnAxis = TurnAxis { plot_left: 64.0, px_per_turn: 36.0, turns: 15 };

fn screen(axis: TurnAxis, height: f64) -> Layout {
    let TurnAxis { plot_left, px_per_turn, turns } = axis;
    Layout::Screen { width: axis.right(), height, plot_left, px_per_turn, turns }
}

fn print(width: f64, height: f64, turns: u32) -> Layout {
    Layout::Print { width, height: Some(height), turns: Some(turns), fonts: Fonts::USUAL }
}

fn survival(data: RunData, layout: Layout) -> Drawing {
    draw(&FigureSpec::new(Figure::Survival(data), layout, Theme::Light))
}

fn first_failures(data: RunData, layout: Layout) -> Drawing {
    draw(&FigureSpec::new(Figure::FirstFailures(data), layout, Theme::Light))
}

/// The `d` or the other attribute of every element inside the group whose id ends so.
fn inside(svg: &str, part: &str, tag: &str, attribute: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let group =
        document.descendants().find(|n| n.attribute("id").is_some_and(|id| id.ends_with(part))).unwrap();
    group
        .children()
        .filter(|n| n.has_tag_name(tag))
        .map(|n| n.attribute(attribute).unwrap_or_default().to_owned())
        .collect()
}

/// A band has no width after the only turn.
#[test]
fn the_interval_of_a_run_of_one_turn_is_visible() {
    let failed = [Observation::failed_at(1); 5];
    let passed = [Observation::censored_after(1); 7];
    let data = cases::run("one turn", &[&failed[..], &passed[..]].concat(), 1);
    let point = data.points[0];
    let drawn = survival(data.clone(), screen(TurnAxis { turns: 1, ..AXIS }, 164.0));
    // The whisker, and a cap at each end.
    let lines = inside(&drawn.svg, "-band", "path", "d");
    assert_eq!(lines.len(), 3, "{lines:?}");
    let caption_of =
        |figure: Figure| figures::caption(&FigureSpec::new(figure, Layout::print(234.0), Theme::Print));
    assert!(point.ci_low.is_some());
    assert!(caption_of(Figure::Survival(data.clone())).starts_with("Kaplan–Meier, log-log 95 % CI."));

    let Figure::SurvivalComparison(mut compared) = cases::many::survival(cases::many::runs(2, 20, 1), 1)
    else {
        unreachable!()
    };
    for series in &mut compared.series {
        series.points.clone_from(&data.points);
    }
    let spec =
        FigureSpec::new(Figure::SurvivalComparison(compared.clone()), Layout::print(234.0), Theme::Print);
    let svg = draw(&spec).svg;
    // Beside each other.
    let [one, other] = ["-band-0", "-band-1"].map(|part| inside(&svg, part, "path", "d"));
    assert!(one.len() == 3 && other.len() == 3 && one[0] != other[0], "{one:?}, {other:?}");
    assert!(caption_of(Figure::SurvivalComparison(compared)).starts_with("Kaplan–Meier, log-log 95 % CI."));
}

#[test]
fn both_charts_meet_on_one_turn_axis() {
    let curve = survival(cases::normal(), screen(AXIS, 164.0));
    let bars = first_failures(cases::normal(), screen(AXIS, 72.0));
    for (a, b) in curve.hits.iter().zip(&bars.hits) {
        assert_eq!((a.turn, a.x0, a.x1), (b.turn, b.x0, b.x1));
        assert_eq!((a.x0, a.x1), AXIS.column(a.turn));
    }
    assert_eq!(curve.hits.len(), 15);
    // Ticks, censorings and bars are at the middle of their columns.
    let middle = |turn: u32| AXIS.x(f64::from(turn)).to_string();
    let labels = inside(&curve.svg, "-x-axis", "text", "x");
    assert_eq!(labels, (0..=15).map(middle).collect::<Vec<_>>());
    let censored = inside(&curve.svg, "-censored", "path", "d");
    assert_eq!(
        censored.iter().map(|d| d.split(' ').next().unwrap()[1..].to_owned()).collect::<Vec<_>>(),
        [middle(7), middle(8), middle(9)]
    );
    let left: Vec<f64> =
        inside(&bars.svg, "-events", "rect", "x").iter().map(|x| x.parse().unwrap()).collect();
    let width: Vec<f64> =
        inside(&bars.svg, "-events", "rect", "width").iter().map(|x| x.parse().unwrap()).collect();
    let centers: Vec<f64> = left.iter().zip(&width).map(|(x, w)| x + w / 2.0).collect();
    assert_eq!(centers, [1.0, 2.0, 3.0, 4.0, 5.0].map(|t| AXIS.x(t)));
    // The curve steps down in the middle of the column in which episodes failed, and ends with the last at risk.
    let path = &inside(&curve.svg, "-curve", "path", "d")[0];
    assert!(path.starts_with(&format!("M{} 10H{}V", middle(0), middle(1))), "{path}");
    assert!(path.ends_with(&format!("H{}", middle(9))), "{path}");
}

#[test]
fn a_turn_reads_like_the_run_page() {
    let curve = survival(cases::normal(), screen(AXIS, 164.0));
    let lines = |turn: usize| curve.hits[turn - 1].lines.join("; ");
    assert_eq!(lines(5), "alive after: 0.36; band 0.18–0.54; at risk 13, failed 4");
    assert_eq!(lines(7), "alive after: 0.36; band 0.18–0.54; at risk 9, failed 0, censored 5");
    assert_eq!(lines(10), "alive after: unknown; nobody at risk");
    assert!((curve.hits[4].y - (10.0 + 0.64 * 130.0)).abs() < 1e-9);
    let bars = first_failures(cases::normal(), screen(AXIS, 72.0));
    assert_eq!(bars.hits[4].lines, ["4 of 13 at risk failed first here", "0 censored after it"]);
    let flat = survival(cases::all_censored(), screen(AXIS, 164.0));
    assert_eq!(flat.hits[0].lines[1], "band n/a (no variation)");
    let dead = survival(cases::all_fail_at_turn_1(), screen(AXIS, 164.0));
    assert_eq!(dead.hits[1].lines, ["alive after: 0", "nobody at risk"]);
}

#[test]
fn the_summary_says_what_the_picture_shows() {
    assert_eq!(
        survival(cases::normal(), screen(AXIS, 164.0)).summary,
        "Survival of Claude-Opus-4.8 · terminus-2 over 15 turns: 25 episodes, 16 failed, 9 censored. Share alive: 0.76 \
         after turn 1, 0.68 after turn 2, 0.52 after turn 4, 0.36 after turn 7, 0.36 after turn 9. Half have failed by \
         turn 5. Mean stamina 4.32 turns (τ = 9), 95 % CI 2.85–5.79."
    );
    assert_eq!(
        first_failures(cases::normal(), screen(AXIS, 72.0)).summary,
        "First failures of Claude-Opus-4.8 · terminus-2 over 15 turns: 25 episodes, 16 failed, 9 censored. Failed at turn \
         1 (6), turn 2 (2), turn 3 (3), turn 4 (1), turn 5 (4). Censored after turn 7 (5), turn 8 (2), turn 9 (2)."
    );
}

#[test]
fn a_spec_draws_the_same_bytes_after_a_round_trip() {
    let print = print(234.0, 145.0, 40);
    for (layout, theme) in [(screen(AXIS, 164.0), Theme::Dark), (print, Theme::Print)] {
        for figure in [Figure::Survival(cases::thousand()), Figure::FirstFailures(cases::thousand())] {
            let spec = FigureSpec::new(figure, layout, theme);
            let again: FigureSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
            assert_eq!(draw(&spec), draw(&again));
        }
    }
    let mut later = serde_json::to_value(FigureSpec::new(
        Figure::Survival(cases::nothing()),
        screen(AXIS, 164.0),
        Theme::Light,
    ))
    .unwrap();
    later["version"] = 2.into();
    let error = serde_json::from_value::<FigureSpec>(later).unwrap_err().to_string();
    assert_eq!(error, "figure spec version 2 is not known here; this Stamina Lab reads versions 1 to 1");
}

/// Allowed elements and attributes of a drawing. Others could be active.
fn assert_harmless(svg: &str) -> HashSet<String> {
    const TAGS: [&str; 8] = ["svg", "g", "path", "rect", "circle", "text", "title", "desc"];
    const ATTRIBUTES: [&str; 24] = [
        "width",
        "height",
        "viewBox",
        "role",
        "overflow",
        "aria-label",
        "font-family",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-opacity",
        "stroke-width",
        "stroke-dasharray",
        "id",
        "d",
        "x",
        "y",
        "dy",
        "font-size",
        "text-anchor",
        "transform",
        "cx",
        "cy",
        "r",
    ];
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
    let mut ids = HashSet::new();
    for node in document.descendants().filter(Node::is_element) {
        assert!(TAGS.contains(&node.tag_name().name()), "<{}>", node.tag_name().name());
        for attribute in node.attributes() {
            assert!(ATTRIBUTES.contains(&attribute.name()), "{}", attribute.name());
            assert!(!attribute.value().contains("url("), "{attribute:?}");
        }
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id.to_owned()), "{id} twice");
        }
    }
    ids
}

#[test]
fn names_are_text_and_ids_are_not_shared() {
    let evil =
        "</desc><script>alert(1)</script>\"' onload=\"x\" \u{0}\u{1}\u{1b}[31m &amp; <svg/> 生 \u{202e}";
    let mut data = cases::normal();
    data.name = evil.to_owned();
    data.policy = evil.to_owned();
    let print = print(234.0, 145.0, 15);
    let drawings = [
        survival(data.clone(), screen(AXIS, 164.0)),
        first_failures(data.clone(), screen(AXIS, 72.0)),
        survival(data.clone(), print),
        first_failures(data, print),
    ];
    let mut ids = HashSet::new();
    for drawing in &drawings {
        let own = assert_harmless(&drawing.svg);
        assert!(ids.is_disjoint(&own));
        ids.extend(own);
        let document = Document::parse(&drawing.svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let summary = root.children().find(|n| n.has_tag_name("desc")).and_then(|n| n.text());
        let summary = summary.or(root.attribute("aria-label")).unwrap();
        assert!(
            summary.contains("</desc><script>alert(1)</script>\"' onload=\"x\" [31m &amp; <svg/> 生"),
            "{summary}"
        );
    }
}

#[test]
fn names_of_several_runs_are_text_too() {
    use cases::many;
    let evil = "</text><script>alert(1)</script><a href=\"x\" onload='y'>\u{0}&amp;\u{202e} 生";
    for mut series in [many::runs(3, 20, 9), many::runs(9, 20, 9)] {
        for s in &mut series {
            evil.clone_into(&mut s.label.name);
        }
        for layout in [Layout::panel(640.0), Layout::print(234.0)] {
            for figure in [many::survival(series.clone(), 9), many::first_failures(series.clone())] {
                let drawing = draw(&FigureSpec::new(figure, layout, Theme::Light));
                assert_harmless(&drawing.svg);
                assert!(!drawing.svg.contains('\u{202e}'));
            }
        }
    }
    for figure in [
        many::differences(3),
        many::paired(9, 9),
        many::bars(4),
        many::pareto(6, figures::Scale::Log),
        many::matrix(3, 4),
        many::retries(3),
        many::failures(6, 3, figures::SharesForm::Stacked),
        many::failures(20, 3, figures::SharesForm::SideBySide),
    ] {
        assert_harmless(&draw(&FigureSpec::new(figure, Layout::panel(640.0), Theme::Dark)).svg);
    }
}

/// How long it takes is measured by `npm run bench` (`run_figure`). Here sixteen times the episodes take at most a hundred times as
/// long, on any machine: work that grows with their square takes 256 times as long.
#[test]
fn the_work_of_a_drawing_does_not_grow_with_the_square_of_its_episodes() {
    let quickest = |spec: &FigureSpec| {
        (0..5)
            .map(|_| {
                let start = std::time::Instant::now();
                std::hint::black_box(draw(spec));
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let axis = TurnAxis { px_per_turn: 10.0, turns: 40, ..AXIS };
    for figure in [Figure::Survival, Figure::FirstFailures] {
        let [few, many] = [1_000, 16_000].map(|count| {
            let data = cases::run("at random", &cases::drawn_at_random(count), 40);
            quickest(&FigureSpec::new(figure(data), screen(axis, 248.0), Theme::Light))
        });
        assert!(many < few * 100, "{few:?}, and of sixteen times as many {many:?}");
    }
}

fn anything() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -10.0..3000.0, Just(f64::NAN), Just(f64::INFINITY)]
}

fn layout() -> impl Strategy<Value = Layout> {
    let turns = || prop_oneof![0u32..200, any::<u32>()];
    prop_oneof![
        (anything(), anything(), anything(), anything(), turns()).prop_map(
            |(width, height, plot_left, px_per_turn, turns)| Layout::Screen {
                width,
                height,
                plot_left,
                px_per_turn,
                turns
            }
        ),
        (anything(), anything(), turns()).prop_map(|(width, height, turns)| print(width, height, turns)),
        anything().prop_map(Layout::print),
        (anything(), anything(), turns()).prop_map(|(width, height, turns)| Layout::Panel {
            width,
            height: Some(height),
            turns: Some(turns)
        }),
        anything().prop_map(Layout::panel),
    ]
}

fn points() -> impl Strategy<Value = Vec<SurvivalPoint>> {
    let share = || prop::option::of(prop_oneof![0.0..1.0, any::<f64>()]);
    let number = || prop_oneof![0u32..50, any::<u32>()];
    let point = (number(), number(), number(), number(), share(), share(), share()).prop_map(
        |(turn, at_risk, events, censored, survival, ci_low, ci_high)| SurvivalPoint {
            turn,
            at_risk,
            events,
            censored,
            survival: survival.unwrap_or(1.0),
            ci_low,
            ci_high,
        },
    );
    prop::collection::vec(point, 0..30)
}

proptest! {
    #[test]
    fn no_spec_panics_or_breaks_the_svg(layout in layout(), points in points(), name in any::<String>(), dark in any::<bool>()) {
        let data = RunData { name, points, ..cases::normal() };
        let theme = if dark { Theme::Dark } else { Theme::Print };
        for figure in [Figure::Survival(data.clone()), Figure::FirstFailures(data)] {
            assert_harmless(&draw(&FigureSpec::new(figure, layout, theme)).svg);
        }
    }
}
