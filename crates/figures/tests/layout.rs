//! Rules for every figure of several runs: no text leaves the drawing, no text overlaps another, the same spec gives the
//! same bytes, whatever the names and numbers are.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;

use std::collections::BTreeSet;

use cases::{many, tables};
use figures::table::{Value, known};
use figures::{
    Bands, Drawing, Figure, FigureSpec, Layout, Scale, SeriesLabel, SharesForm, Theme, caption, draw,
    export::{Format, export},
    grayscale_check, text_width,
    venue::Preset,
};
use proptest::prelude::*;
use resvg::usvg::roxmltree::Document;

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

fn check(spec: &FigureSpec) {
    let drawing = draw(spec);
    assert_eq!(drawing, draw(spec), "the same spec gives the same bytes");
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
}

fn everywhere(figure: &Figure) {
    // The narrowest, the widest, and those with the largest letters for their width.
    for preset in ["icml", "icml:full", "neurips:half", "acl", "ieee:full"] {
        check(&FigureSpec::new(figure.clone(), Preset::parse(preset).unwrap().layout(), Theme::Print));
    }
    for width in [360.0, 640.0, 1180.0] {
        check(&FigureSpec::new(figure.clone(), Layout::panel(width), Theme::Dark));
        check(&FigureSpec::new(figure.clone(), Layout::panel(width).with_height(300.0), Theme::Light));
    }
}

#[test]
fn survival_fits_everywhere() {
    for (count, n, planned) in [(1, 1, 1), (1, 20, 100), (2, 1000, 40), (4, 25, 9), (8, 20, 100), (13, 25, 9)]
    {
        let series = many::runs(count, n, planned);
        everywhere(&many::survival(series.clone(), planned));
        everywhere(&many::first_failures(series.clone()));
        let Figure::SurvivalComparison(mut data) = many::survival(series, planned) else { unreachable!() };
        (data.means, data.bands) = (true, Bands::All);
        everywhere(&Figure::SurvivalComparison(data.clone()));
        data.at_risk = false;
        everywhere(&Figure::SurvivalComparison(data));
    }
    everywhere(&many::survival(Vec::new(), 9));
    everywhere(&many::first_failures(Vec::new()));
    everywhere(&many::survival(many::odd_names(), 12));
}

#[test]
fn every_other_kind_fits_everywhere() {
    for count in [0, 1, 3, 8] {
        everywhere(&many::differences(count));
        everywhere(&many::bars(count));
        everywhere(&many::retries(count));
        everywhere(&many::pareto(count, Scale::Log));
        everywhere(&many::pareto(count, Scale::Linear));
        everywhere(&many::plane(count));
        everywhere(&many::failures(6, count, SharesForm::Auto));
        everywhere(&many::failures(20, count.min(6), SharesForm::Auto));
        everywhere(&many::failures(20, count, SharesForm::Stacked));
        everywhere(&many::matrix(count.min(6), count));
    }
    everywhere(&many::ratios());
    for (count, turns) in [(0, 9), (1, 1), (20, 15), (100, 100)] {
        everywhere(&many::paired(count, turns));
    }
    everywhere(&many::pareto(13, Scale::Log));
    for count in [0, 1, 8, 300] {
        everywhere(&tables::runs(count));
        everywhere(&tables::wide(count));
    }
    everywhere(&tables::odd(20));
}

#[test]
fn a_vertical_axis_has_a_whole_name_at_every_height() {
    let kinds = [
        (many::survival(many::runs(3, 20, 9), 9), ["Share alive after turn", "Share alive"]),
        (many::pareto(3, Scale::Log), ["Mean stamina (τ = 100)", "Mean stamina"]),
        (many::retries(3), ["Mean stamina (τ = 100)", "Mean stamina"]),
    ];
    for (figure, names) in kinds {
        let mut found = BTreeSet::new();
        for height in [120.0, 180.0, 240.0, 400.0] {
            let layout = Layout::panel(470.0).with_height(height);
            let drawing = draw(&FigureSpec::new(figure.clone(), layout, Theme::Light));
            let start = names[1].split(' ').next().unwrap();
            let named = texts(&drawing).into_iter().map(|set| set.text).find(|t| t.starts_with(start));
            assert!(named.is_some(), "{names:?} has no axis at {height} px: {}", drawing.svg);
            let named = named.unwrap();
            assert!(names.contains(&named.as_str()), "{names:?} is {named} at {height} px");
            found.insert(named);
        }
        assert!(found.contains(names[0]), "{found:?}");
    }
}

#[test]
fn long_names_of_a_few_groups_stand_in_lines() {
    let names = [
        "Claude-Opus-4.8 · mini-swe-agent",
        "Qwen3.5-397B-A17B · OpenHands",
        "GLM-5.2",
        "GPT-5.5 · Codex CLI",
    ];
    let Figure::FailureShares(mut data) = many::failures(20, 4, SharesForm::SideBySide) else {
        unreachable!()
    };
    for (group, name) in data.groups.iter_mut().zip(names) {
        name.clone_into(&mut group.label.name);
    }
    let figure = Figure::FailureShares(data);
    let drawing = draw(&FigureSpec::new(figure.clone(), Layout::panel(640.0), Theme::Light));
    assert!(!drawing.svg.contains("rotate("), "names stand upright where there is room: {}", drawing.svg);
    let solid = |text: &str| text.replace(' ', "");
    let all: String = texts(&drawing).iter().map(|set| solid(&set.text)).collect();
    for name in names {
        assert!(all.contains(&solid(name)), "{name} is not whole: {all}");
    }
    everywhere(&figure);
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(many::ODD_NAMES.to_vec()).prop_map(str::to_owned),
        any::<String>(),
        "[a-zA-Z0-9 ._-]{0,120}",
    ]
}

fn odd_number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -10.0..100.0f64, 1 => any::<f64>(), 1 => Just(0.0), 1 => 1e6..1e12f64]
}

fn maybe() -> impl Strategy<Value = Option<f64>> {
    prop::option::weighted(0.8, odd_number())
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![
        (0..Preset::all().len()).prop_map(|i| Preset::all()[i].layout()),
        (340.0..1400.0f64).prop_map(Layout::panel),
        (340.0..1400.0f64, 60.0..900.0f64).prop_map(|(w, h)| Layout::panel(w).with_height(h)),
    ]
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

fn figure() -> impl Strategy<Value = Figure> {
    (0..13u32, 0..9usize, 1..60usize, 1..101u32).prop_map(|(kind, count, n, turns)| match kind {
        0 | 1 => many::survival(many::runs(count, n, turns), turns),
        2 => many::first_failures(many::runs(count, n, turns)),
        3 => many::differences(count),
        4 => many::bars(count),
        5 => many::pareto(count, if n % 2 == 0 { Scale::Log } else { Scale::Linear }),
        6 => many::matrix(count.min(6), count),
        7 => many::retries(count),
        8 => many::paired(n as u32, turns),
        9 => many::failures(6, count, SharesForm::Auto),
        10 => tables::runs(n),
        11 => tables::wide(n),
        _ => many::failures(20, count.min(6), SharesForm::SideBySide),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(ProptestConfig::default().cases * 2 / 5) })]

    #[test]
    fn texts_stay_inside_and_apart(
        figure in figure(),
        layout in layout(),
        names in prop::collection::vec(name(), 1..8),
        numbers in prop::collection::vec(maybe(), 5..40),
    ) {
        check(&FigureSpec::new(with_names(figure, &names, &numbers), layout, Theme::Print));
    }
}

#[test]
fn captions_say_method_numbers_policy_and_software() {
    let mut spec =
        FigureSpec::new(many::survival(many::runs(2, 25, 9), 9), Layout::panel(600.0), Theme::Light);
    spec.method.policy = Some("default".to_owned());
    spec.method.test = Some("log-rank, Holm-adjusted".to_owned());
    let text = caption(&spec);
    let Figure::SurvivalComparison(data) = &spec.figure else { unreachable!() };
    let s: Vec<String> = data
        .series
        .iter()
        .map(|s| {
            format!("{}: n = 25, {} events, {} censored", s.label.name, s.summary.events, s.summary.censored)
        })
        .collect();
    assert_eq!(
        text,
        format!(
            "Kaplan–Meier, log-log 95 % CI. Vertical ticks mark censored episodes. {}. The horizon is τ = 9 turns. \
             Test: log-rank, Holm-adjusted. Failures and censored episodes follow censoring policy default. Made with \
             Stamina Lab 0.1.0.",
            s.join(". ")
        )
    );
    let mut matrix = FigureSpec::new(many::matrix(3, 4), Layout::panel(600.0), Theme::Light);
    matrix.method.bootstrap =
        Some(figures::Bootstrap { resamples: 2_000, seed: 7, unit: "scenario".to_owned() });
    let text = caption(&matrix);
    for part in [
        "Mean stamina (turns) by Harness and Model, 95 % CI",
        "in 10 cells",
        "τ = 100",
        "2,000 bootstrap resamples by scenario, seed 7",
        "OpenHands × GPT-5.5 is simulated.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Names of tasks of EvoCode-Bench in one column: "ml-checkpoint…bility-engine" stood beside free space.
#[test]
fn names_of_tasks_are_whole_beside_their_pairs() {
    const NAMES: [&str; 3] = [
        "ml-checkpoint-forensics-engine",
        "gomlops-platform-modernization",
        "numeriforge-reproducibility-migration",
    ];
    let Figure::Paired(mut data) = many::paired(20, 9) else { unreachable!() };
    for (pair, name) in data.pairs.iter_mut().zip(NAMES) {
        pair.scenario = name.to_owned();
    }
    let spec = FigureSpec::new(Figure::Paired(data), Preset::parse("icml").unwrap().layout(), Theme::Print);
    check(&spec);
    let words: Vec<String> = texts(&draw(&spec)).into_iter().map(|text| text.text).collect();
    for name in NAMES {
        assert!(words.iter().any(|word| word == name), "{name} is cut: {words:?}");
    }
}

/// The runs of the sample, whose names were cut to nonsense.
#[test]
fn names_of_nine_simulated_runs_are_whole_beside_their_bars() {
    let names: Vec<String> = ["strong", "middling", "weak"]
        .iter()
        .flat_map(|model| ["codex", "claude_code", "kimi_code"].map(|h| format!("oracle-{model} · {h}")))
        .collect();
    let Figure::Bars(mut data) = many::bars(9) else { unreachable!() };
    for (row, name) in data.rows.iter_mut().zip(&names) {
        row.label.name.clone_from(name);
        row.label.simulated = true;
        (row.value, row.ci_low, row.ci_high) = (Some(16.6), Some(10.6), Some(20.0));
        row.note = Some("n = 5".to_owned());
        row.published.clear();
    }
    let spec = FigureSpec::new(Figure::Bars(data), Preset::parse("icml").unwrap().layout(), Theme::Print);
    check(&spec);
    let words: Vec<String> = texts(&draw(&spec)).into_iter().map(|text| text.text).collect();
    for name in &names {
        let whole = format!("{} (sim.)", name.trim_start_matches("oracle-"));
        assert!(words.contains(&whole), "{whole} is not in: {words:?}");
    }
}

/// The published results of EvoCode-Bench in one column: "Doubao-Seed-2.1-Pro" was cut beside a longer axis.
#[test]
fn names_of_thirteen_models_are_whole_beside_their_differences() {
    const NAMES: [&str; 12] = [
        "GPT-5.5",
        "GLM-5.2",
        "DeepSeek-V4-Pro",
        "MiniMax-M3",
        "Kimi-K2.6",
        "Qwen3.7-Max",
        "Qwen3.6-Plus",
        "Kimi-K2.7-Code",
        "Doubao-Seed-2.1-Pro",
        "DeepSeek-V4-Flash",
        "GLM-5.1",
        "MiniMax-M2.7",
    ];
    let Figure::Differences(mut data) = many::differences(12) else { unreachable!() };
    data.reference.name = "Claude-Opus-4.8".to_owned();
    for (row, name) in data.rows.iter_mut().zip(NAMES) {
        row.label.name = name.to_owned();
        (row.value, row.ci_low, row.ci_high, row.p) = (Some(-3.32), Some(-4.47), Some(-2.17), Some(0.000_1));
    }
    let spec =
        FigureSpec::new(Figure::Differences(data), Preset::parse("icml").unwrap().layout(), Theme::Print);
    let words: Vec<String> = texts(&draw(&spec)).into_iter().map(|text| text.text).collect();
    for name in NAMES {
        assert!(words.iter().any(|word| word == name), "{name} is cut: {words:?}");
    }
}

#[test]
fn greys_that_cannot_be_told_apart_are_named() {
    let spec = |series| FigureSpec::new(many::survival(series, 9), Layout::panel(600.0), Theme::Print);
    assert!(grayscale_check(&spec(many::runs(8, 20, 9))).is_empty());
    assert!(
        grayscale_check(&spec(many::runs(13, 20, 9))).is_empty(),
        "the background has no marks to confuse"
    );
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
    let of_one_harness = |i: u8| SeriesLabel { mark: 0, marker: Some(i), ..own(i) };
    for alone in kinds {
        for label in [&own as &dyn Fn(u8) -> SeriesLabel, &of_one_harness] {
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
fn what_is_simulated_or_unknown_is_said_in_the_figure() {
    let words = |figure: Figure| {
        let drawing = draw(&FigureSpec::new(figure, Preset::parse("icml").unwrap().layout(), Theme::Print));
        texts(&drawing).into_iter().map(|t| t.text).collect::<Vec<_>>().join("\n")
    };
    // A cut name leaves the short suffix.
    assert!(words(many::survival(many::odd_names(), 12)).contains("(sim.)"));
    let mut short = many::runs(3, 20, 12);
    short[1].label.simulated = true;
    assert!(words(many::survival(short, 12)).contains("(simulated)"));
    assert!(words(many::ratios()).contains("(simulated)"));
    assert!(words(many::bars(3)).contains("unknown"));
    assert!(words(many::pareto(4, Scale::Log)).contains("Cost unknown: DeepSeek-V4-Pro"));
    let plane = words(many::plane(4));
    assert!(plane.contains("Unknown: DeepSeek-V4-Pro.") && plane.contains("Published:"), "{plane}");
    assert!(plane.contains("does nothing"), "{plane}");
    let matrix = words(many::matrix(3, 4));
    assert!(
        matrix.contains("no run")
            && matrix.contains("simulated")
            && matrix.contains("Hollow diamonds: published")
    );
    let survival = words(many::survival(many::runs(4, 1_000, 40), 40));
    assert!(survival.contains("1,000") && survival.contains("At risk"), "{survival}");
}

/// Names that differ only in their middle, and are longer than any place for them.
fn alike() -> Vec<String> {
    let name = |own: char| format!("{}-{own}-{}", "the-same-beginning".repeat(6), "the-same-end".repeat(6));
    ['4', '5', '7', '8'].map(name).to_vec()
}

#[test]
fn long_names_that_differ_stay_different_wherever_they_are_cut() {
    let figures = [
        many::survival(many::runs(4, 20, 9), 9),
        many::survival(many::runs(8, 20, 9), 9),
        many::first_failures(many::runs(4, 20, 9)),
        many::differences(4),
        many::bars(4),
        many::pareto(4, Scale::Linear),
        many::retries(4),
        many::retries(6),
        many::paired(4, 9),
        many::matrix(4, 4),
        many::failures(4, 4, SharesForm::SideBySide),
        many::failures(4, 4, SharesForm::Stacked),
    ];
    for figure in figures {
        for preset in ["icml", "neurips:half"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let figure = with_names(
                figure.clone(),
                &alike(),
                &[Some(1.0), Some(2.0), Some(0.5), Some(3.0), Some(4.0)],
            );
            let spec = FigureSpec::new(figure, layout, Theme::Print);
            let texts: Vec<String> = texts(&draw(&spec)).into_iter().map(|t| t.text).collect();
            // The names of axes are cut, too.
            let cut: BTreeSet<&String> =
                texts.iter().filter(|t| t.contains('…') && !t.starts_with("to ")).collect();
            assert!(cut.len() >= 4, "{preset}: {cut:?} in {texts:?}");
        }
    }
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

#[test]
fn specs_survive_json_and_toml() {
    for figure in each_kind() {
        let mut spec = FigureSpec::new(figure, Preset::parse("acl").unwrap().layout(), Theme::Print);
        spec.method.bootstrap =
            Some(figures::Bootstrap { resamples: 2_000, seed: 7, unit: "scenario".to_owned() });
        let json: FigureSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        let toml: FigureSpec = toml::from_str(&toml::to_string(&spec).unwrap()).unwrap();
        assert_eq!(toml, spec);
        // serde_json reads some floats with an error in the last bit, which is not visible.
        assert_eq!((draw(&json), draw(&toml)), (draw(&spec), draw(&spec)));
    }
}

#[test]
fn the_spec_of_the_documentation_is_one() {
    let page = include_str!("../../../docs/figures.md");
    let block = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let spec: FigureSpec = toml::from_str(block).unwrap();
    assert_eq!(
        caption(&spec),
        "Difference in mean stamina (turns) vs. Claude-Opus-4.8, Greenwood 95 % CI. Test: log-rank, Holm-adjusted. \
         Failures and censored episodes follow censoring policy default. Made with Stamina Lab 0.1.0."
    );
    let words: Vec<String> = texts(&draw(&spec)).into_iter().map(|t| t.text).collect();
    assert!(
        words.iter().any(|w| w == "−2.52 [−4.20, −0.84]") && words.iter().any(|w| w == "p = 0.003"),
        "{words:?}"
    );
    let table = page.split("```toml").find(|block| block.contains("kind = \"table\"")).unwrap();
    let table: FigureSpec = toml::from_str(table.split("```").next().unwrap()).unwrap();
    let words: Vec<String> = texts(&draw(&table)).into_iter().map(|t| t.text).collect();
    for word in ["Mean stamina (turns)", "3.18 to 5.86", "unknown", "n/a", "τ is 9 turns."] {
        assert!(words.iter().any(|w| w == word), "{word}: {words:?}");
    }
    // The table of presets equals the presets.
    for preset in Preset::all() {
        let row = page.lines().find(|l| {
            l.starts_with("| `") && l.contains(&format!("`{}`", preset.name().split(':').next().unwrap()))
        });
        let inches = (preset.width() / 72.0 * 1_000.0).round() / 1_000.0;
        let fonts = format!("| {} / {} |", preset.fonts().label, preset.fonts().tick);
        let row = row.unwrap();
        assert!(
            row.contains(&inches.to_string()) && row.ends_with(&fonts),
            "{} {inches} {fonts}: {row}",
            preset.name()
        );
    }
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

/// No share and no n is ever cut: for each number of groups and each venue, a figure has complete numbers or is refused with a
/// reason.
#[test]
fn numbers_of_failure_shares_are_whole_or_the_figure_is_refused() {
    let is_cut = |text: &str| {
        let begins = text.trim_start_matches(['<', '>', ' ']);
        begins.starts_with(|c: char| c.is_ascii_digit()) && (text.contains('…') || text.contains("..."))
    };
    let (mut written, mut refused) = (BTreeSet::new(), 0);
    for groups in [1, 3, 9, 13, 42] {
        for preset in Preset::all() {
            let figure = many::failures(20, groups, SharesForm::SideBySide);
            let spec = FigureSpec::new(figure, preset.layout(), Theme::Print);
            match export(&spec, Format::Svg) {
                Ok(_) => {
                    let texts = texts(&draw(&spec));
                    let cut: Vec<&str> =
                        texts.iter().map(|set| set.text.as_str()).filter(|text| is_cut(text)).collect();
                    assert!(cut.is_empty(), "{groups} groups, {}: {cut:?}", preset.name());
                    written.insert(groups);
                }
                Err(error) => {
                    assert!(error.to_string().contains("no room for whole numbers"), "{error}");
                    assert!(error.advice().is_some());
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(written, BTreeSet::from([1, 3, 9, 13]));
    assert!(refused > 0);
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

/// A matrix with names of this number of letters, which differ in their middle.
fn named_matrix(rows: usize, columns: usize, letters: usize) -> Figure {
    let Figure::Matrix(mut data) = many::matrix(rows, columns) else { unreachable!() };
    // No other text of the figure has these letters.
    let name = |kind: char, i: usize| {
        let own = format!("{kind}{i:02}");
        let around = (letters - own.len()) / 2;
        let filler = if kind == 'h' { "q" } else { "x" };
        format!("{}{own}{}", filler.repeat(around), filler.repeat(letters - own.len() - around))
    };
    data.rows = (0..rows).map(|i| name('h', i)).collect();
    data.columns = (0..columns).map(|i| name('k', i)).collect();
    Figure::Matrix(data)
}

/// For each number of columns, length of names and venue, a matrix has complete numbers and different names, or is refused with
/// a reason.
#[test]
fn a_matrix_of_many_columns_is_readable_or_refused() {
    let (mut written, mut refused) = (BTreeSet::new(), 0);
    for (rows, columns) in
        [(1, 1), (3, 3), (1, 9), (3, 9), (1, 13), (6, 13), (1, 42), (3, 42), (42, 3), (42, 42)]
    {
        for letters in [3, 120] {
            for preset in Preset::all() {
                let figure = named_matrix(rows, columns, letters);
                let spec = FigureSpec::new(figure, preset.layout(), Theme::Print);
                if let Err(error) = export(&spec, Format::Svg) {
                    assert!(error.to_string().contains("no room for whole numbers"), "{error}");
                    assert!(error.advice().is_some());
                    refused += 1;
                    continue;
                }
                check(&spec);
                let texts: Vec<String> = texts(&draw(&spec)).into_iter().map(|set| set.text).collect();
                let case = format!("{rows} × {columns}, {letters} letters, {}", preset.name());
                let is_cut =
                    |text: &&String| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('…');
                assert_eq!(texts.iter().find(is_cut), None, "{case}");
                let distinct = |filler: char| {
                    texts.iter().filter(|text| text.contains(filler)).collect::<BTreeSet<_>>().len()
                };
                let shown = |kind: char, count: usize| {
                    (0..count).filter(|i| texts.contains(&format!("{kind}{i:02}"))).count()
                };
                let named = if letters == 3 {
                    (shown('h', rows), shown('k', columns))
                } else {
                    (distinct('q'), distinct('x'))
                };
                assert_eq!(named, (rows, columns), "{case}: {texts:?}");
                written.insert((rows, columns));
            }
        }
    }
    // Many models beside few harnesses fit as rows. Many of both do not fit a page.
    assert!(written.contains(&(1, 42)) && written.contains(&(3, 42)) && written.contains(&(6, 13)));
    assert!(refused > 0 && !written.contains(&(42, 42)), "{written:?}");
}

#[test]
fn many_models_of_one_harness_stand_in_rows() {
    let spec = FigureSpec::new(named_matrix(1, 13, 8), Layout::panel(560.0), Theme::Light);
    let drawing = draw(&spec);
    assert!(!drawing.svg.contains("rotate("), "no name stands upright: {}", drawing.svg);
    // Ids use the rows and columns of the data.
    let ids: BTreeSet<&str> = drawing.marks.iter().map(|mark| mark.id.as_str()).collect();
    assert!(ids.contains("cell-0-12") && !ids.contains("cell-12-0"), "{ids:?}");
    let last = drawing.marks.iter().find(|mark| mark.id == "cell-0-12").unwrap();
    let first = drawing.marks.iter().find(|mark| mark.id == "cell-0-0").unwrap();
    assert!(last.y0 > first.y1 && last.lines[0].contains("h00") && last.lines[0].contains("k12"), "{last:?}");
    let words: Vec<String> = texts(&drawing).into_iter().map(|text| text.text).collect();
    let means = words.iter().filter(|word| *word == "Mean").count();
    assert!(means <= 1, "a row of one cell has no mean of its own: {words:?}");
}

#[test]
fn names_over_first_failures_are_whole_and_every_bar_has_its_number() {
    let series = many::runs(13, 25, 9);
    let bars: usize = series
        .iter()
        .flat_map(|s| &s.points)
        .map(|p| usize::from(p.events > 0) + usize::from(p.censored > 0))
        .sum();
    let figure = many::first_failures(series);
    let spec = FigureSpec::new(figure, Preset::parse("icml").unwrap().layout(), Theme::Print);
    let texts = texts(&draw(&spec));
    for model in many::MODELS {
        assert!(texts.iter().any(|set| set.text == model), "{model} is not whole: {texts:?}");
    }
    let numbers = texts.iter().filter(|set| set.text.parse::<u32>().is_ok()).count();
    // Those of axes are among them.
    assert!(numbers >= bars, "{numbers} numbers over {bars} bars");
}

#[test]
fn retries_of_many_runs_have_a_panel_each() {
    for count in [7, 9, 13] {
        let Figure::Retries(mut data) = many::retries(count) else { panic!("a figure of retries") };
        data.published.clear();
        let figure = Figure::Retries(data);
        everywhere(&figure);
        let spec = FigureSpec::new(figure, Preset::parse("icml").unwrap().layout(), Theme::Print);
        let drawing = draw(&spec);
        assert!(grayscale_check(&spec).is_empty(), "names stand over their panels");
        let texts = texts(&drawing);
        for name in &many::MODELS[..count] {
            assert!(texts.iter().any(|set| set.text == *name), "{name} is not whole: {texts:?}");
        }
        let places: BTreeSet<(i64, i64)> =
            drawing.marks.iter().map(|mark| (mark.x0 as i64, mark.y0 as i64)).collect();
        assert_eq!(places.len(), drawing.marks.len(), "no mark hides another");
        let series: BTreeSet<Option<u32>> = drawing.marks.iter().map(|mark| mark.series).collect();
        assert_eq!(series.len(), count);
    }
}

#[test]
fn retries_without_one_are_refused() {
    let Figure::Retries(mut data) = many::retries(3) else { panic!("a figure of retries") };
    for series in &mut data.series {
        series.points.truncate(1);
    }
    let spec = FigureSpec::new(Figure::Retries(data), Preset::parse("icml").unwrap().layout(), Theme::Print);
    let error = export(&spec, Format::Svg).unwrap_err();
    assert!(error.to_string().contains("retries cannot be assessed"), "{error}");
    assert!(export(&spec, Format::Csv).is_ok(), "the data behind it are there all the same");
}

#[test]
fn a_figure_without_a_point_is_refused() {
    let Figure::Pareto(mut data) = many::pareto(3, Scale::Linear) else { panic!("a Pareto figure") };
    for point in &mut data.points {
        point.cost = None;
    }
    let spec = FigureSpec::new(Figure::Pareto(data), Preset::parse("icml").unwrap().layout(), Theme::Print);
    let error = export(&spec, Format::Pdf).unwrap_err();
    assert!(error.to_string().contains("no run has a known cost"), "{error}");
    assert!(export(&spec, Format::Csv).is_ok(), "the data behind it are there all the same");
}
