//! Colors, shades of gray and widths of lines.

use std::collections::BTreeSet;

use figures::{
    Figure, FigureSpec, Layout, Scale, SeriesLabel, SharesForm, Theme, draw, grayscale_check, venue::Preset,
};
use resvg::usvg::roxmltree::Document;

use crate::cases::many;
use crate::layout::{check, each_kind, texts};

#[test]
fn greys_that_cannot_be_told_apart_are_named() {
    let spec = |series| FigureSpec::new(many::survival(series, 9), Layout::panel(600.0), Theme::Print);
    assert!(grayscale_check(&spec(many::runs(8, 20, 9))).is_empty());
    assert!(grayscale_check(&spec(many::runs(13, 20, 9))).is_empty(), "names stand over their panels");
    let mut series = many::runs(3, 20, 9);
    for s in &mut series {
        s.label.mark = 0;
    }
    // Blue, vermillion and green differ by at most 12.
    let found = grayscale_check(&spec(series.clone()));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("Claude-Opus-4.8 and GPT-5.5"), "{found:?}");
    series[1].label.color = 4;
    assert_eq!(grayscale_check(&spec(series)).len(), 1);
}

#[test]
fn no_two_of_eight_series_share_their_look_in_greys() {
    type Alone = fn(SeriesLabel) -> Figure;
    let kinds: [Alone; 6] = [
        |label| {
            let Figure::SurvivalComparison(mut data) = many::survival(many::runs(1, 20, 9), 9) else {
                unreachable!()
            };
            data.series[0].label = label;
            Figure::SurvivalComparison(data)
        },
        |label| {
            let Figure::FirstFailuresComparison(mut data) = many::first_failures(many::runs(1, 20, 9)) else {
                unreachable!()
            };
            data.series[0].label = label;
            Figure::FirstFailuresComparison(data)
        },
        |label| {
            let Figure::Retries(mut data) = many::retries(1) else { unreachable!() };
            data.series[0].label = label;
            Figure::Retries(data)
        },
        |label| {
            let Figure::Pareto(mut data) = many::pareto(1, Scale::Linear) else { unreachable!() };
            data.points[0].label = label;
            Figure::Pareto(data)
        },
        |label| {
            let Figure::Differences(mut data) = many::differences(1) else { unreachable!() };
            data.rows[0].label = label;
            Figure::Differences(data)
        },
        |label| {
            let Figure::Paired(mut data) = many::paired(4, 9) else { unreachable!() };
            data.a = label;
            Figure::Paired(data)
        },
    ];
    // Each with its own mark, and all of one harness, so that only markers differ.
    let own = |i: u8| SeriesLabel::new("the same name", i);
    let harness_label = |i: u8| SeriesLabel { mark: 0, marker: Some(i), ..own(i) };
    for alone in kinds {
        for label in [&own as &dyn Fn(u8) -> SeriesLabel, &harness_label] {
            let looks: BTreeSet<String> = (0..8)
                .map(|i| {
                    let spec = FigureSpec::new(alone(label(i)), Layout::print(234.0), Theme::Grey);
                    let svg = draw(&spec).svg;
                    // The rest without the gray of each, and without the ids, which are a hash of it.
                    let shapes = svg.split("=\"#").map(|part| part.get(6..).unwrap_or_default());
                    let shapes: String = shapes.collect();
                    shapes.split("id=\"").map(|part| part.split_once('"').map_or(part, |p| p.1)).collect()
                })
                .collect();
            assert_eq!(looks.len(), 8);
        }
    }
    // Runs of four models in two harnesses. Without their own markers they would look the same.
    let mut series = many::runs(8, 20, 9);
    for (i, s) in (0..).zip(&mut series) {
        (s.label.color, s.label.mark) = (i % 4, i / 4);
    }
    let spec = |series: &[figures::SeriesData]| {
        FigureSpec::new(many::survival(series.to_vec(), 9), Layout::panel(600.0), Theme::Print)
    };
    assert!(!grayscale_check(&spec(&series)).is_empty());
    for (i, s) in (0..).zip(&mut series) {
        s.label.marker = Some(i);
    }
    assert!(grayscale_check(&spec(&series)).is_empty());
}

#[test]
fn no_line_on_paper_is_thinner_than_a_quarter_point() {
    for figure in each_kind() {
        let drawing = draw(&FigureSpec::new(figure, Preset::parse("icml").unwrap().layout(), Theme::Print));
        let document = Document::parse(&drawing.svg).unwrap();
        for width in document.descendants().filter_map(|n| n.attribute("stroke-width")) {
            assert!(width.parse::<f64>().unwrap() >= 0.25, "{width}");
        }
        for size in document.descendants().filter_map(|n| n.attribute("font-size")) {
            assert!(size == "6" || size == "8", "letters of {size} pt");
        }
    }
}

/// How many of the colors of series a figure has.
fn series_colors_in(figure: Figure) -> usize {
    let drawing = draw(&FigureSpec::new(figure, Layout::panel(640.0), Theme::Light));
    let document = Document::parse(&drawing.svg).unwrap();
    let tokens = Theme::Light.tokens();
    let series = tokens.series.iter().map(|c| format!("#{:02X}{:02X}{:02X}", c.0, c.1, c.2));
    let colors: BTreeSet<&str> =
        document.descendants().flat_map(|n| [n.attribute("fill"), n.attribute("stroke")]).flatten().collect();
    series.filter(|color| colors.contains(color.as_str())).count()
}

/// The same results: GPT-5.5 and MiniMax-M2.7 were blue, each beside its name.
#[test]
fn more_rows_and_panels_than_colors_have_one_color() {
    let in_panels = |count| {
        let Figure::Retries(mut data) = many::retries(count) else { unreachable!() };
        data.published.clear();
        Figure::Retries(data)
    };
    let curves = |count| many::survival(many::runs(count, 25, 9), 9);
    let failures = |count| many::first_failures(many::runs(count, 25, 9));
    assert_eq!((series_colors_in(many::differences(8)), series_colors_in(many::differences(12))), (8, 1));
    assert_eq!((series_colors_in(curves(8)), series_colors_in(curves(13))), (8, 1));
    assert_eq!((series_colors_in(failures(8)), series_colors_in(failures(13))), (8, 1));
    assert_eq!((series_colors_in(in_panels(8)), series_colors_in(in_panels(13))), (8, 1));
    // Thirteen runs of four models: a color is a model.
    let Figure::Differences(mut data) = many::differences(13) else { unreachable!() };
    for row in &mut data.rows {
        row.label.color %= 4;
    }
    assert_eq!(series_colors_in(Figure::Differences(data)), 4);
}

/// The published results of EvoCode-Bench: five of thirteen bars had the color of another model, and no marker.
#[test]
fn more_bars_than_colors_have_one_color() {
    let colors_of = |count| {
        // As a comparison gives them: after the last color they begin anew.
        let Figure::Bars(mut data) = many::bars(count) else { unreachable!() };
        for row in &mut data.rows {
            row.label.color %= 8;
        }
        series_colors_in(Figure::Bars(data))
    };
    // The third run of the case has no value.
    assert_eq!((colors_of(8), colors_of(13)), (7, 1));
}

#[test]
fn more_groups_than_colors_have_none() {
    let drawn = |groups| {
        let figure = many::failures(20, groups, SharesForm::SideBySide);
        let drawing = draw(&FigureSpec::new(figure, Layout::panel(1_180.0), Theme::Print));
        let document = Document::parse(&drawing.svg).unwrap();
        let colors: BTreeSet<String> = document
            .descendants()
            .filter(|n| n.has_tag_name("text") && n.text().is_some_and(|t| many::HARNESSES.contains(&t)))
            .filter_map(|n| n.attribute("fill").map(str::to_owned))
            .collect();
        colors.len()
    };
    assert_eq!((drawn(6), drawn(13)), (6, 1));
}

#[test]
fn a_matrix_has_the_scale_of_its_colors() {
    let bars = |figure: &Figure, layout, theme| {
        let svg = draw(&FigureSpec::new(figure.clone(), layout, theme)).svg;
        svg.split("color-bar").nth(1).map_or(0, |part| part.matches("<rect").count())
    };
    let Figure::Matrix(mut data) = many::matrix(3, 4) else { unreachable!() };
    let figure = Figure::Matrix(data.clone());
    for (layout, theme) in [
        (Layout::print(234.0), Theme::Print),
        (Layout::print(486.0), Theme::Grey),
        (Layout::panel(600.0), Theme::Dark),
    ] {
        assert!(bars(&figure, layout, theme) >= 24, "{layout:?}");
        let drawing = draw(&FigureSpec::new(figure.clone(), layout, theme));
        let most = data.cells.iter().filter_map(|cell| cell.mean).fold(0.0, f64::max);
        let words: Vec<String> = texts(&drawing).into_iter().map(|text| text.text).collect();
        assert!(words.contains(&"0".to_owned()) && words.contains(&format!("{most:.1}")), "{words:?}");
        assert!(words.contains(&"Mean stamina (turns)".to_owned()), "{layout:?}: {words:?}");
    }
    // Colors overlap: edges that only touched would let the paper shine through.
    let svg = draw(&FigureSpec::new(figure, Layout::panel(600.0), Theme::Light)).svg;
    let bar = svg.split("color-bar").nth(1).and_then(|part| part.split("</g>").next()).expect("a bar");
    let value = |rect: &str, name: &str| -> f64 {
        let text = rect.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} in {rect}"))
    };
    let colors: Vec<(f64, f64)> =
        bar.split("<rect").skip(1).map(|rect| (value(rect, " x"), value(rect, " width"))).collect();
    assert!(colors.windows(2).all(|two| two[0].0 + two[0].1 > two[1].0 + 1.0), "{colors:?}");
    // Without a mean above 0 there is no scale.
    for cell in &mut data.cells {
        cell.mean = cell.mean.map(|_| 0.0);
    }
    assert_eq!(bars(&Figure::Matrix(data), Layout::print(486.0), Theme::Print), 0);
}

/// Thirteen models of one harness stood in the left third of a page.
#[test]
fn a_narrow_matrix_stands_in_the_middle_of_its_paper() {
    for preset in ["icml:full", "acl:full"] {
        let layout = Preset::parse(preset).unwrap().layout();
        let drawing = check(&FigureSpec::new(many::matrix(1, 13), layout, Theme::Print));
        let texts = texts(&drawing);
        let names = texts.iter().filter(|set| many::MODELS.contains(&set.text.as_str()));
        let left = names.map(|set| set.area[0]).fold(f64::INFINITY, f64::min);
        let right = drawing.width - drawing.marks.iter().map(|mark| mark.x1).fold(0.0, f64::max);
        assert!(left > 100.0 && (left - right).abs() < 5.0, "{preset}: {left} and {right}");
        assert!(texts.iter().any(|set| set.text == "Mean stamina (turns)"), "{preset}: {texts:?}");
    }
}

/// The diamond of a published number in a cell without a run was filled with the color of the value 0.
#[test]
fn the_diamond_of_a_cell_without_a_run_is_hollow() {
    let Figure::Matrix(mut data) = many::matrix(3, 4) else { unreachable!() };
    data.cells.retain(|cell| !cell.published.is_empty());
    assert_eq!(data.cells.len(), 1, "one cell has a published number");
    for cell in &mut data.cells {
        (cell.mean, cell.ci_low, cell.ci_high, cell.n) = (None, None, None, 0);
    }
    let figure = Figure::Matrix(data);
    for theme in [Theme::Print, Theme::Light, Theme::Dark] {
        let svg = draw(&FigureSpec::new(figure.clone(), Layout::panel(600.0), theme)).svg.to_lowercase();
        assert!(svg.contains("57.0"), "{svg}");
        // The first color of the scale.
        assert!(!svg.contains("00224e"), "the diamond has the color of 0 in {theme:?}: {svg}");
    }
}

/// "Not classified" was purple beside two other classes, and teal where it was alone.
#[test]
fn a_class_is_drawn_alike_whatever_stands_beside_it() {
    let Figure::FailureShares(mut data) = many::failures(3, 1, SharesForm::Stacked) else { unreachable!() };
    for (class, pattern) in data.classes.iter_mut().zip([0, 9, 3]) {
        class.pattern = Some(pattern);
    }
    data.groups[0].counts = vec![2, 3, 4];
    let mut alone = data.clone();
    alone.classes.drain(..2);
    alone.groups[0].counts = vec![4];
    let color = |pattern: u8| {
        let color = Theme::Print.tokens().series_text(pattern);
        format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
    };
    let colors = |data| {
        let figure = Figure::FailureShares(data);
        let svg = draw(&FigureSpec::new(figure, Layout::print(234.0), Theme::Print)).svg;
        [0, 9, 3].map(|pattern| svg.contains(&color(pattern)))
    };
    assert_eq!(colors(data), [true, true, true]);
    assert_eq!(colors(alone), [false, false, true]);
}
