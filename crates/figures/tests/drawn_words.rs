//! A caption names lines, arrows, ticks, bars and intervals where they are drawn, and nowhere else.

use analysis::survival::SurvivalPoint;
use figures::{Figure, FigureSpec, Layout, Method, Scale, Theme, caption, draw};

use crate::cases::many;
use crate::kinds;

fn spec(figure: &Figure) -> FigureSpec {
    FigureSpec::new(figure.clone(), Layout::print(486.0), Theme::Print)
}

/// What is drawn, without the figure in words.
fn drawn(figure: &Figure) -> String {
    draw(&spec(figure)).svg.split_once("<g font-family").unwrap().1.to_owned()
}

/// The caption with a method that states how intervals are made.
fn words(figure: &Figure) -> String {
    let method = Method { intervals: Some("given intervals".to_owned()), ..Method::default() };
    caption(&spec(figure).with_method(method))
}

fn points(figure: &mut Figure) -> Vec<&mut SurvivalPoint> {
    match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => data.points.iter_mut().collect(),
        Figure::SurvivalComparison(data) => data.series.iter_mut().flat_map(|run| &mut run.points).collect(),
        Figure::FirstFailuresComparison(data) => {
            data.series.iter_mut().flat_map(|run| &mut run.points).collect()
        }
        _ => Vec::new(),
    }
}

fn without_censored(mut figure: Figure) -> Figure {
    for point in points(&mut figure) {
        point.censored = 0;
    }
    if let Figure::Paired(data) = &mut figure {
        data.pairs.iter_mut().for_each(|pair| (pair.a_censored, pair.b_censored) = (false, false));
    }
    figure
}

fn without_intervals(mut figure: Figure) -> Figure {
    for point in points(&mut figure) {
        (point.ci_low, point.ci_high) = (None, None);
    }
    match &mut figure {
        Figure::Differences(data) => {
            data.rows.iter_mut().for_each(|row| (row.ci_low, row.ci_high) = (None, None));
        }
        Figure::Paired(data) => {
            data.mean.iter_mut().for_each(|mean| (mean.ci_low, mean.ci_high) = (None, None));
        }
        Figure::Bars(data) => {
            data.rows.iter_mut().for_each(|row| (row.ci_low, row.ci_high) = (None, None));
        }
        Figure::Pareto(data) => {
            data.points.iter_mut().for_each(|point| (point.ci_low, point.ci_high) = (None, None));
        }
        Figure::Plane(data) => {
            data.points.iter_mut().for_each(|point| (point.x_ends, point.y_ends) = (None, None));
        }
        Figure::Matrix(data) => {
            data.cells.iter_mut().for_each(|cell| (cell.ci_low, cell.ci_high) = (None, None));
        }
        Figure::Retries(data) => {
            let points = data.series.iter_mut().flat_map(|run| &mut run.points);
            points.for_each(|point| (point.ci_low, point.ci_high) = (None, None));
        }
        _ => {}
    }
    figure
}

fn without_costs(mut figure: Figure) -> Figure {
    if let Figure::Pareto(data) = &mut figure {
        data.points.iter_mut().for_each(|point| point.cost = None);
    }
    figure
}

/// Every kind, and figures of which the forms above are others.
fn figures() -> Vec<(&'static str, Figure)> {
    let mut all = kinds::all();
    all.retain(|(_, figure)| !matches!(figure, Figure::Table(_)));
    all.extend([
        ("survival-13", many::survival(many::runs(13, 25, 9), 9)),
        ("first-failures-13", many::first_failures(many::runs(13, 25, 9))),
        ("pareto-1", many::pareto(1, Scale::Linear)),
        ("retries-1", many::retries(1)),
    ]);
    all
}

/// A caption of runs without known costs named a line and intervals over an empty plot, and one of a pair arrows where no value
/// was a lower bound.
#[test]
fn what_a_caption_names_is_drawn_and_what_is_not_drawn_it_does_not_name() {
    for (name, figure) in figures() {
        // Ticks, thin bars and arrows: the picture is another one without them.
        let bare = without_censored(figure.clone());
        let named = ["Vertical ticks", "hin bars", "Arrows"].iter().any(|word| words(&figure).contains(word));
        assert_eq!(named, drawn(&figure) != drawn(&bare), "{name}: {}", words(&figure));
        for word in ["tick", "hick bars", "hin bars", "rrow"] {
            assert!(!words(&bare).contains(word), "{name}: {word}: {}", words(&bare));
        }

        let bare = without_intervals(figure.clone());
        let named = words(&figure).contains("given intervals");
        // That of a paired mean stands in the caption itself.
        let has_intervals = matches!(figure, Figure::Paired(_)) || drawn(&figure) != drawn(&bare);
        assert_eq!(named, has_intervals, "{name}: {}", words(&figure));
        assert!(!words(&bare).contains("interval") || words(&bare).contains("(no interval: "), "{name}");
        assert!(!words(&bare).contains("given intervals") && !words(&bare).contains("CI"), "{name}");

        let bare = without_costs(figure.clone());
        for table_figure in [&figure, &bare] {
            assert_eq!(
                words(table_figure).contains("The line "),
                drawn(table_figure).contains("-front\""),
                "{name}"
            );
        }
        assert!(!words(&bare).contains("The line "), "{name}: {}", words(&bare));
        if matches!(figure, Figure::Pareto(_)) {
            assert!(!words(&bare).contains("given intervals"), "{name}: {}", words(&bare));
        }
    }
}

/// The head of panels spoke of a dotted line, and every rule is dashed.
#[test]
fn lines_are_called_as_they_are_drawn() {
    for (name, figure) in figures() {
        let (text, picture) = (words(&figure), drawn(&figure));
        assert!(!text.contains("dotted") && !picture.contains("dotted"), "{name}");
        if text.contains("dashed") || picture.contains("dashed line") {
            assert!(picture.contains("stroke-dasharray"), "{name}");
        }
    }
}

#[test]
fn a_front_of_one_run_joins_nothing() {
    let text = words(&many::pareto(1, Scale::Linear));
    assert!(text.contains("The line begins at the run that none beats in both."), "{text}");
    assert!(words(&many::pareto(8, Scale::Log)).contains("The line joins the runs that none beats in both."));
}
