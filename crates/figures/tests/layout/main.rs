//! Rules for every figure of several runs: no text leaves the drawing, no text overlaps another, the same spec gives the
//! same bytes, whatever the names and numbers are.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod looks;
mod names;
mod refusals;
mod room;
mod sizes;
mod specs;

use std::collections::BTreeSet;

use figures::table::{Value, known};
use figures::{
    Drawing, Figure, FigureSpec, Layout, Scale, SeriesLabel, SharesForm, Theme, caption, draw, text_width,
    venue::Preset,
};
use resvg::usvg::roxmltree::Document;

use crate::cases::{self, many, tables};

/// The bounding box of a text: left, top, right, bottom.
#[derive(Debug, Clone)]
struct Set {
    text: String,
    area: [f64; 4],
}

fn texts(drawing: &Drawing) -> Vec<Set> {
    let document = Document::parse(&drawing.svg).unwrap();
    document
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .map(|node| {
            let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let (x, y, size) = (number("x"), number("y"), number("font-size"));
            let text = node.text().unwrap_or_default().to_owned();
            let width = text_width(&text, size);
            let before = match node.attribute("text-anchor") {
                Some("middle") => width / 2.0,
                Some("end") => width,
                _ => 0.0,
            };
            // Capitals reach 0.7 em up, descenders 0.22 em down.
            let (up, down) = (0.7 * size, 0.22 * size);
            let area = if node.attribute("transform").is_some() {
                [x - up, y - width + before, x + down, y + before]
            } else {
                [x - before, y - up, x - before + width, y + down]
            };
            Set { text, area }
        })
        .collect()
}

/// What a spec draws: twice the same, and with room for every text.
fn check(spec: &FigureSpec) -> Drawing {
    let drawing = fitting(spec);
    assert_eq!(drawing, draw(spec), "the same spec gives the same bytes");
    drawing
}

/// What a spec draws, which has room for every text.
fn fitting(spec: &FigureSpec) -> Drawing {
    let drawing = draw(spec);
    assert!(!drawing.summary.is_empty() && caption(spec).ends_with("Stamina Lab 0.1.0."));
    let mut texts = texts(&drawing);
    for Set { text, area: [left, top, right, bottom] } in &texts {
        // Half a unit, because letters have space at both sides.
        let inside =
            *left >= -0.5 && *top >= -0.5 && *right <= drawing.width + 0.5 && *bottom <= drawing.height + 0.5;
        assert!(
            inside,
            "\"{text}\" at {left} {top} {right} {bottom} leaves {} × {}: {:?}",
            drawing.width, drawing.height, spec.layout
        );
    }
    // From top to bottom: below the first one that begins under a text, all others do.
    texts.sort_by(|a, b| a.area[1].total_cmp(&b.area[1]));
    for (i, a) in texts.iter().enumerate() {
        for b in texts[i + 1..].iter().take_while(|b| a.area[3] > b.area[1] + 0.5) {
            let (a_box, b_box) = (a.area, b.area);
            let beside = a_box[2] <= b_box[0] + 0.5 || b_box[2] <= a_box[0] + 0.5;
            let apart = beside || b_box[3] <= a_box[1] + 0.5;
            assert!(
                apart,
                "\"{}\" {:?} on \"{}\" {:?}: {:?} {:?}",
                a.text, a.area, b.text, b.area, spec.layout, spec.figure
            );
        }
    }
    let mut ids = BTreeSet::new();
    for mark in &drawing.marks {
        assert!(mark.x1 >= mark.x0 && mark.y1 >= mark.y0 && !mark.lines.is_empty(), "{mark:?}");
        assert!(ids.insert(&mark.id), "{} twice", mark.id);
    }
    drawing
}

/// One preset of each width and size of letters: the others draw the same.
fn presets() -> Vec<Preset> {
    let mut presets: Vec<Preset> = Vec::new();
    for preset in Preset::all() {
        if presets.iter().all(|other| other.layout() != preset.layout()) {
            presets.push(preset);
        }
    }
    presets
}

/// On paper and on a screen it is drawn twice; at the other sizes once.
fn everywhere(figure: &Figure) {
    let on_paper =
        |preset: &str| FigureSpec::new(figure.clone(), Preset::parse(preset).unwrap().layout(), Theme::Print);
    check(&on_paper("icml"));
    // The widest, and those with the largest letters for their width; the one above is the narrowest.
    for preset in ["icml:full", "neurips:half", "acl", "ieee:full"] {
        fitting(&on_paper(preset));
    }
    check(&FigureSpec::new(figure.clone(), Layout::panel(360.0), Theme::Dark));
    for width in [640.0, 1180.0] {
        fitting(&FigureSpec::new(figure.clone(), Layout::panel(width), Theme::Dark));
    }
    for width in [360.0, 640.0, 1180.0] {
        fitting(&FigureSpec::new(figure.clone(), Layout::panel(width).with_height(300.0), Theme::Light));
    }
}

/// A figure with other names and numbers.
fn with_names(mut figure: Figure, names: &[String], numbers: &[Option<f64>]) -> Figure {
    let mut i = 0;
    let mut number = move || {
        i += 1;
        numbers[i % numbers.len()]
    };
    let mut k = 0;
    let mut rename = |label: &mut SeriesLabel| {
        label.name.clone_from(&names[k % names.len()]);
        label.simulated = k % 3 == 1;
        k += 1;
    };
    match &mut figure {
        Figure::SurvivalComparison(data) => data.series.iter_mut().for_each(|s| rename(&mut s.label)),
        Figure::FirstFailuresComparison(data) => data.series.iter_mut().for_each(|s| rename(&mut s.label)),
        Figure::Differences(data) => {
            rename(&mut data.reference);
            for row in &mut data.rows {
                rename(&mut row.label);
                (row.value, row.ci_low, row.ci_high, row.p) = (number(), number(), number(), number());
            }
        }
        Figure::Bars(data) => {
            for row in &mut data.rows {
                rename(&mut row.label);
                (row.value, row.ci_low, row.ci_high) = (number(), number(), number());
            }
        }
        Figure::Pareto(data) => {
            for point in &mut data.points {
                rename(&mut point.label);
                (point.cost, point.mean, point.ci_low, point.ci_high) =
                    (number(), number(), number(), number());
            }
        }
        Figure::Plane(data) => {
            for point in &mut data.points {
                rename(&mut point.label);
                (point.x, point.y) = (number(), number());
                (point.x_ends, point.y_ends) = (number().zip(number()), number().zip(number()));
            }
        }
        Figure::Retries(data) => {
            for series in &mut data.series {
                rename(&mut series.label);
                for point in &mut series.points {
                    (point.mean, point.ci_low, point.ci_high) = (number(), number(), number());
                }
            }
        }
        Figure::Paired(data) => {
            rename(&mut data.a);
            rename(&mut data.b);
            for (pair, name) in data.pairs.iter_mut().zip(names.iter().cycle()) {
                pair.scenario.clone_from(name);
                (pair.a, pair.b) = (number().unwrap_or(0.0), number().unwrap_or(f64::NAN));
            }
        }
        Figure::Matrix(data) => {
            data.rows.iter_mut().zip(names).for_each(|(row, name)| row.clone_from(name));
            data.columns
                .iter_mut()
                .zip(names.iter().rev())
                .for_each(|(column, name)| column.clone_from(name));
            for cell in &mut data.cells {
                (cell.mean, cell.ci_low, cell.ci_high) = (number(), number(), number());
            }
        }
        Figure::FailureShares(data) => {
            data.groups.iter_mut().for_each(|g| rename(&mut g.label));
            data.classes.iter_mut().zip(names).for_each(|(class, name)| class.name.clone_from(name));
        }
        Figure::Table(table) => {
            table.columns.iter_mut().zip(names).for_each(|(column, name)| column.heading.clone_from(name));
            for (value, name) in table.rows.iter_mut().flatten().zip(names.iter().cycle()) {
                *value = match value {
                    Some(Value::Text(_)) => known(name.as_str()),
                    Some(Value::Number(_)) => number().map(Value::Number),
                    _ => value.take(),
                };
            }
        }
        Figure::Survival(_) | Figure::FirstFailures(_) => {}
    }
    figure
}

/// One figure of each kind.
fn each_kind() -> Vec<Figure> {
    vec![
        Figure::Survival(cases::normal()),
        Figure::FirstFailures(cases::normal()),
        many::survival(many::odd_names(), 12),
        many::first_failures(many::runs(3, 20, 9)),
        many::differences(3),
        many::ratios(),
        many::paired(20, 15),
        many::bars(4),
        many::pareto(6, Scale::Log),
        many::matrix(3, 4),
        many::retries(3),
        many::failures(6, 3, SharesForm::Stacked),
        tables::runs(3),
    ]
}
