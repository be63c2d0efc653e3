//! Nothing is hidden or dropped without a word: equal lines, numbers without room, heights, ids, axes of panels.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use analysis::survival::Observation;
use figures::export::{Format, export};
use figures::{
    EpisodeCounts, Figure, FigureSpec, Layout, Published, Retries, SharesForm, Theme, caption, draw,
    short_caption, venue::Preset,
};
use resvg::usvg::roxmltree::Document;

use crate::cases::{self, many};
use crate::kinds;

fn column() -> Layout {
    Preset::parse("icml").unwrap().layout()
}

fn on_paper(figure: Figure) -> FigureSpec {
    FigureSpec::new(figure, column(), Theme::Print)
}

/// Runs of retries without published marks: more than six have a panel each.
fn retries(count: usize) -> Retries {
    let Figure::Retries(mut data) = many::retries(count) else { unreachable!() };
    data.published.clear();
    data
}

/// The texts in every part whose id has this word.
fn texts_in(svg: &str, word: &str) -> Vec<Vec<String>> {
    let document = Document::parse(svg).unwrap();
    let parts = document.descendants().filter(|n| n.attribute("id").is_some_and(|id| id.contains(word)));
    let texts = parts.map(|part| {
        let texts = part.children().filter(|n| n.has_tag_name("text"));
        texts.map(|text| text.text().unwrap_or_default().to_owned()).collect()
    });
    texts.collect()
}

fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    texts.map(|text| text.text().unwrap_or_default().to_owned()).collect()
}

/// Nine panels of retries had nine parts `series-0`.
#[test]
fn no_figure_has_an_id_twice() {
    let mut figures = kinds::all();
    figures.push(("retries-9", Figure::Retries(retries(9))));
    figures.push(("survival-13", many::survival(many::runs(13, 20, 9), 9)));
    figures.push(("first-failures-13", many::first_failures(many::runs(13, 20, 9))));
    figures.push(("failures-13", many::failures(9, 13, SharesForm::SideBySide)));
    for (name, figure) in figures {
        for layout in [column(), Layout::panel(640.0)] {
            let svg = draw(&FigureSpec::new(figure.clone(), layout, Theme::Light)).svg;
            let mut ids = BTreeSet::new();
            let document = Document::parse(&svg).unwrap();
            for id in document.descendants().filter_map(|node| node.attribute("id")) {
                assert!(ids.insert(id.to_owned()), "{name}: {id} twice");
            }
        }
    }
}

/// One row of panels of means of at most 12 turns ended at 15, the next at 20.
#[test]
fn panels_of_retries_have_one_scale_that_ends_at_the_horizon() {
    let mut data = retries(9);
    data.tau = Some(12);
    for point in data.series.iter_mut().flat_map(|series| &mut series.points) {
        for value in [&mut point.mean, &mut point.ci_low, &mut point.ci_high] {
            *value = value.map(|value| value / 6.0);
        }
    }
    data.series[0].points[5].ci_high = Some(12.0);
    let mut layouts: Vec<Layout> =
        (400..1000).step_by(25).map(|width| Layout::panel(f64::from(width))).collect();
    layouts.extend(["icml", "icml:full", "neurips"].map(|preset| Preset::parse(preset).unwrap().layout()));
    for layout in layouts {
        let svg = draw(&FigureSpec::new(Figure::Retries(data.clone()), layout, Theme::Print)).svg;
        let axes = texts_in(&svg, "-y-axis-");
        assert!(axes.len() > 1, "{layout:?}: {axes:?}");
        assert!(axes.iter().all(|axis| *axis == axes[0]), "{layout:?}: {axes:?}");
        let highest = axes[0].iter().filter_map(|text| text.parse::<f64>().ok()).fold(0.0, f64::max);
        assert!((highest - 12.0).abs() < 1e-9, "{layout:?}: {axes:?}");
    }
}

/// "weak…_code (sim.)" stood beside its line.
#[test]
fn names_of_retries_are_whole_or_in_the_legend() {
    let names = ["weak · claude_code", "strong · claude_code", "weak · kimi_code", "strong · kimi_code"];
    let mut data = retries(4);
    for (series, name) in data.series.iter_mut().zip(names) {
        name.clone_into(&mut series.label.name);
        series.label.simulated = true;
    }
    for preset in ["icml", "icml:full", "neurips", "acl"] {
        let layout = Preset::parse(preset).unwrap().layout();
        let spec = FigureSpec::new(Figure::Retries(data.clone()), layout, Theme::Print);
        let words = texts(&draw(&spec).svg);
        assert!(words.iter().all(|word| !word.contains('…')), "{preset}: {words:?}");
        // All of them share the end of the name of their harness.
        for name in names.map(|name| name.trim_end_matches("_code")) {
            assert!(words.iter().any(|word| word.starts_with(name)), "{preset}: {name} is not in {words:?}");
        }
        assert!(caption(&spec).contains("All 4 runs are simulated."), "{}", caption(&spec));
    }
}

#[test]
fn a_caption_says_which_lines_coincide() {
    let mut data = retries(4);
    let text = caption(&on_paper(Figure::Retries(data.clone())));
    assert!(!text.contains("coincide"), "{text}");
    let points = data.series[0].points.clone();
    data.series[1].points.clone_from(&points);
    data.series[3].points = points;
    let [a, b, c] = [0, 1, 3].map(|i: usize| data.series[i].label.name.clone());
    let text = caption(&on_paper(Figure::Retries(data)));
    assert!(text.contains(&format!(" The lines of {a}, {b} and {c} coincide. ")), "{text}");

    let mut runs = many::runs(3, 20, 9);
    let points = runs[0].points.clone();
    runs[2].points = points;
    let [a, c] = [0, 2].map(|i: usize| runs[i].label.name.clone());
    let text = caption(&on_paper(many::survival(runs, 9)));
    assert!(text.contains(&format!(" The curves of {a} and {c} coincide. ")), "{text}");
}

/// "The lines of A and B coincide" was said of one mark each.
#[test]
fn a_caption_says_points_of_runs_without_a_line() {
    let mut data = retries(2);
    let first = data.series[0].points[0];
    for series in &mut data.series {
        series.points = vec![first];
    }
    let text = caption(&on_paper(Figure::Retries(data)));
    let [a, b] = [0, 1].map(|i: usize| many::MODELS[i]);
    assert!(text.contains(&format!(" The points of {a} and {b} coincide. ")), "{text}");
    assert!(!text.contains("The lines of"), "{text}");
}

/// Survival panels said so, those of retries did not.
#[test]
fn a_caption_of_panels_of_retries_says_what_is_gray() {
    let sentence = "Each panel has the line of one run; those of the others are gray.";
    let text = caption(&on_paper(Figure::Retries(retries(9))));
    assert!(text.contains(sentence), "{text}");
    let text = caption(&on_paper(Figure::Retries(retries(6))));
    assert!(!text.contains("panel"), "{text}");
}

/// Each run is visible in its panel.
#[test]
fn a_caption_of_panels_says_nothing_of_coinciding_lines() {
    let mut data = retries(9);
    let points = data.series[0].points.clone();
    data.series[1].points = points;
    let text = caption(&on_paper(Figure::Retries(data)));
    assert!(!text.contains("coincide"), "{text}");

    let mut runs = many::runs(9, 20, 9);
    let points = runs[0].points.clone();
    runs[2].points = points;
    let text = caption(&on_paper(many::survival(runs.clone(), 9)));
    assert!(!text.contains("coincide"), "{text}");
    runs[8].highlight = false;
    let text = caption(&on_paper(many::survival(runs, 9)));
    assert!(text.contains(" coincide. "), "{text}");
}

/// A curve that ends earlier, on another one, was hidden without a word.
#[test]
fn a_caption_says_where_a_hidden_line_ends() {
    let passed = |name: &str, turns: u32| {
        many::series(many::label(name), &[Observation::censored_after(turns); 5], turns)
    };
    let runs = vec![passed("A", 8), passed("B", 12), passed("C", 12), passed("D", 8)];
    let text = caption(&on_paper(many::survival(runs, 12)));
    assert!(
        text.contains(" The curves of B and C coincide. The curves of A, B and D coincide to turn 8. "),
        "{text}"
    );

    // A curve that fails before the other ends is another one.
    let failed = many::series(many::label("B"), &[Observation::failed_at(4); 5], 12);
    let text = caption(&on_paper(many::survival(vec![passed("A", 8), failed], 12)));
    assert!(!text.contains("coincide"), "{text}");

    let mut data = retries(2);
    data.series[1].points = data.series[0].points[..3].to_vec();
    let [a, b] = [0, 1].map(|i: usize| many::MODELS[i]);
    let text = caption(&on_paper(Figure::Retries(data)));
    assert!(text.contains(&format!(" The lines of {a} and {b} coincide to R = 2. ")), "{text}");
}

#[test]
fn a_caption_does_not_list_many_coinciding_lines() {
    let mut data = retries(6);
    let points = data.series[0].points.clone();
    for series in &mut data.series[1..5] {
        series.points.clone_from(&points);
    }
    let text = caption(&on_paper(Figure::Retries(data.clone())));
    let last = many::MODELS[5];
    assert!(text.contains(&format!(" The lines of all runs but {last} coincide. ")), "{text}");
    data.series[5].points = points;
    let text = caption(&on_paper(Figure::Retries(data)));
    assert!(text.contains(" The lines of all 6 runs coincide. "), "{text}");
}

/// Names were short in one sentence and complete in the next.
#[test]
fn long_names_are_alike_in_all_sentences() {
    let mut runs = many::runs(3, 20, 9);
    let points = runs[0].points.clone();
    runs[1].points = points;
    runs[2].highlight = false;
    let long = "long ".repeat(60);
    let names = [format!("{long}· a"), format!("{long}· b"), "z".repeat(300)];
    for (run, name) in runs.iter_mut().zip(&names) {
        run.label.name.clone_from(name);
    }
    let text = caption(&on_paper(many::survival(runs, 9)));
    let [a, b, _] = &names;
    assert!(text.contains(&format!("The curves of {a} and {b} coincide")), "{text}");
    assert!(
        text.contains(&format!("{a}: n = ")) || text.contains(&format!("{a} and {b}: each n = ")),
        "{text}"
    );
}

/// "n = 1 episodes"
#[test]
fn one_episode_is_singular() {
    let mut spec = on_paper(many::failures(3, 2, SharesForm::Stacked));
    spec.method.counts = vec![EpisodeCounts { name: "A".to_owned(), n: 1, ..EpisodeCounts::default() }];
    let text = short_caption(&spec);
    assert!(text.contains("n = 1 episode."), "{text}");
}

/// The third of three published numbers of a row was dropped.
#[test]
fn no_published_number_is_dropped_beside_bars() {
    let Figure::Bars(mut data) = many::bars(4) else { unreachable!() };
    for row in &mut data.rows {
        row.published = (1..=5)
            .map(|i| Published { value: 1.0 + 0.11 * f64::from(i), source: "An article".to_owned() })
            .collect();
    }
    let all = texts(&draw(&on_paper(Figure::Bars(data))).svg).join(" ");
    assert!(all.contains("Published, without room beside the bar: "), "{all}");
    for number in ["$1.11", "$1.22", "$1.33", "$1.44", "$1.55"] {
        assert_eq!(all.matches(number).count(), 4, "{number}: {all}");
    }
    let Figure::Bars(data) = many::bars(4) else { unreachable!() };
    let all = texts(&draw(&FigureSpec::new(Figure::Bars(data), Layout::panel(900.0), Theme::Light)).svg);
    assert!(all.iter().all(|text| !text.contains("without room")), "{all:?}");
}

/// Segments of 4 to 8 % had no number, and the caption did not say so.
#[test]
fn a_caption_says_which_segments_have_no_number() {
    let with_counts = |counts: &[u32]| {
        let Figure::FailureShares(mut data) = many::failures(3, 2, SharesForm::Stacked) else {
            unreachable!()
        };
        for group in &mut data.groups {
            group.counts = counts.to_vec();
        }
        let spec = on_paper(Figure::FailureShares(data));
        (caption(&spec), texts(&draw(&spec).svg))
    };
    let (text, words) = with_counts(&[60, 36, 4]);
    assert!(text.contains("Segments without a number are below 5 %."), "{text}");
    assert!(words.contains(&"36 %".to_owned()) && !words.contains(&"4 %".to_owned()), "{words:?}");
    let (text, words) = with_counts(&[40, 30, 30]);
    assert!(!text.contains("without a number") && words.contains(&"40 %".to_owned()), "{text}: {words:?}");
}

/// A height that a figure cannot have was ignored without a word.
#[test]
fn a_height_that_a_figure_does_not_have_is_reported() {
    let warnings = |figure: Figure, height: f64, format| {
        let spec = FigureSpec::new(figure, column().with_height(height), Theme::Print);
        let drawn = draw(&spec).height;
        let warnings = export(&spec, format).unwrap().warnings;
        (drawn, warnings.into_iter().filter(|warning| warning.contains("as requested")).collect::<Vec<_>>())
    };
    for (height, reason) in [(60.0, "it needs this height"), (600.0, "it does not fill a greater height")] {
        for format in [Format::Svg, Format::Pdf, Format::Tex] {
            let (drawn, found) = warnings(many::bars(6), height, format);
            let expected =
                format!("the figure is {drawn:.0} pt high, not {height:.0} pt as requested: {reason}");
            assert_eq!(found, [expected], "{format:?}");
        }
        assert!(warnings(many::bars(6), height, Format::Csv).1.is_empty(), "values have no height");
    }
    let curves = many::survival(many::runs(3, 20, 9), 9);
    for figure in [many::retries(3), curves, Figure::Survival(cases::normal())] {
        let (_, found) = warnings(figure, 240.0, Format::Svg);
        assert!(found.is_empty(), "{found:?}");
    }
}
