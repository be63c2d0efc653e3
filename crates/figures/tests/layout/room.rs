//! No text leaves a drawing and no text overlaps another.

use std::collections::BTreeSet;

use figures::{Bands, Figure, FigureSpec, Layout, Scale, SharesForm, Theme, draw, venue::Preset};
use proptest::prelude::*;

use crate::cases::{many, tables};
use crate::layout::{check, everywhere, presets, texts, with_names};

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
    everywhere(&many::survival(many::odd_names(), 12));
    // In panels: numbers of four digits, and names that do not fit.
    everywhere(&many::survival(many::runs(9, 2_000, 100), 100));
    let mut odd = many::runs(13, 25, 9);
    for (run, name) in odd.iter_mut().zip(many::ODD_NAMES) {
        name.clone_into(&mut run.label.name);
        run.label.simulated = true;
    }
    everywhere(&many::survival(odd, 9));
}

/// Names and the column of failures left the plot 54 % of a column.
#[test]
fn few_survival_curves_have_most_of_the_width_on_paper() {
    for preset in presets() {
        for (count, events, means) in
            [(1, false, false), (4, false, false), (1, true, false), (4, true, true)]
        {
            let Figure::SurvivalComparison(mut data) = many::survival(many::runs(count, 25, 9), 9) else {
                unreachable!()
            };
            (data.events, data.means) = (events, means);
            let figure = Figure::SurvivalComparison(data);
            let spec = FigureSpec::new(figure, preset.layout(), Theme::Print);
            let drawing = check(&spec);
            // The column of turn 1 begins half a column right of the axis.
            let (first, last) = (&drawing.hits[0], drawing.hits.last().unwrap());
            let plot = last.x1 - first.x0 + (first.x1 - first.x0) / 2.0;
            assert!(plot >= 0.61 * drawing.width, "{plot} of {}: {:?}", drawing.width, spec.layout);
            let texts: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
            if events {
                for text in many::MODELS[..count].iter().chain(&["Events/n"]) {
                    assert!(texts.iter().any(|drawn| drawn == text), "{text} is not in {texts:?}");
                }
            }
        }
    }
}

#[test]
fn every_other_kind_fits_everywhere() {
    for count in [1, 3, 8] {
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
    for (count, turns) in [(1, 1), (20, 15), (100, 100)] {
        everywhere(&many::paired(count, turns));
    }
    everywhere(&many::pareto(13, Scale::Log));
    for count in [0, 1, 8, 300] {
        everywhere(&tables::runs(count));
        everywhere(&tables::wide(count));
    }
    everywhere(&tables::odd(20));
}

/// "(τ = 100)" was missing in two figures side by side.
#[test]
fn the_name_of_an_axis_has_its_horizon_at_every_venue() {
    for figure in [many::pareto(3, Scale::Log), many::retries(3)] {
        for preset in presets() {
            let drawing = draw(&FigureSpec::new(figure.clone(), preset.layout(), Theme::Print));
            let is_named = texts(&drawing).iter().any(|set| set.text == "Mean stamina (τ = 100)");
            assert!(is_named, "{}: {}", preset.name(), drawing.svg);
        }
    }
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

fn figure() -> impl Strategy<Value = Figure> {
    (0..14u32, 0..9usize, 1..60usize, 1..101u32).prop_map(|(kind, count, n, turns)| match kind {
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
        12 => many::plane(count),
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
