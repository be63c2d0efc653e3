//! Pictures of figures of several runs, on the screen and on paper; see `pictures.rs`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use figures::{Figure, FigureSpec, Layout, Scale, SharesForm, Theme};

use crate::cases::{self, many, tables};
use crate::painted::{check, describe};

/// A pane of the Compare page in both themes, and a column of ICML.
fn everywhere(name: &str, figure: &Figure) {
    panel(name, figure, 640.0);
    check(&format!("{name}-print"), figure.clone(), column(), Theme::Print);
}

fn panel(name: &str, figure: &Figure, width: f64) {
    check(&format!("{name}-light"), figure.clone(), Layout::panel(width), Theme::Light);
    check(&format!("{name}-dark"), figure.clone(), Layout::panel(width), Theme::Dark);
}

fn column() -> Layout {
    figures::venue::Preset::parse("icml").unwrap().layout()
}

fn full_width() -> Layout {
    figures::venue::Preset::parse("icml:full").unwrap().layout()
}

#[test]
fn survival_of_four_runs() {
    everywhere("survival-4", &many::survival(many::runs(4, 25, 9), 9));
}

#[test]
fn survival_of_two_runs_has_two_bands() {
    everywhere("survival-2", &many::survival(many::runs(2, 20, 100), 100));
}

#[test]
fn survival_of_eight_runs_in_one_column() {
    everywhere("survival-8", &many::survival(many::runs(8, 20, 40), 40));
    check("survival-8-grey", many::survival(many::runs(8, 20, 40), 40), column(), Theme::Grey);
}

#[test]
fn survival_of_thirteen_runs_in_one_column() {
    let figure = many::survival(many::runs(13, 25, 9), 9);
    check("survival-13-print", figure, column(), Theme::Print);
}

#[test]
fn survival_with_odd_names() {
    everywhere("survival-odd-names", &many::survival(many::odd_names(), 12));
}

#[test]
fn survival_with_means() {
    let Figure::SurvivalComparison(mut data) = many::survival(many::runs(6, 20, 40), 40) else {
        unreachable!()
    };
    data.means = true;
    let figure = Figure::SurvivalComparison(data);
    panel("survival-means", &figure, 900.0);
    check("survival-means-print", figure, full_width(), Theme::Print);
}

#[test]
fn survival_without_table() {
    let Figure::SurvivalComparison(mut data) = many::survival(many::runs(6, 20, 40), 40) else {
        unreachable!()
    };
    data.at_risk = false;
    check("survival-legend-print", Figure::SurvivalComparison(data), column(), Theme::Print);
}

#[test]
fn survival_of_small_data() {
    let single_episode =
        many::series(many::label("one episode"), &[analysis::survival::Observation::failed_at(1)], 1);
    check("survival-one-episode-print", many::survival(vec![single_episode], 1), column(), Theme::Print);
    check("survival-nothing-light", many::survival(Vec::new(), 9), Layout::panel(480.0), Theme::Light);
    let thousand = many::series(many::label("1,000 episodes"), &many::episodes(3, 1000, 40, 0.05, 0.01), 40);
    let perfect =
        many::series(figures::SeriesLabel::new("no failure", 1), &many::episodes(3, 20, 40, 0.0, 0.0), 40);
    let figure = many::survival(vec![thousand, perfect], 40);
    everywhere("survival-thousand", &figure);
}

#[test]
fn differences() {
    everywhere("differences-3", &many::differences(3));
    check("differences-12-print", many::differences(12), column(), Theme::Print);
    everywhere("ratios", &many::ratios());
}

#[test]
fn paired() {
    everywhere("paired-20", &many::paired(20, 15));
    check("paired-100-print", many::paired(100, 100), column(), Theme::Print);
    check("paired-1-light", many::paired(1, 1), Layout::panel(480.0), Theme::Light);
}

#[test]
fn first_failures_of_several() {
    everywhere("first-failures-4", &many::first_failures(many::runs(4, 25, 9)));
    check("first-failures-8-print", many::first_failures(many::runs(8, 20, 100)), column(), Theme::Print);
}

#[test]
fn bars() {
    everywhere("bars-4", &many::bars(4));
    check("bars-8-print", many::bars(8), column(), Theme::Print);
}

#[test]
fn pareto() {
    everywhere("pareto-6", &many::pareto(6, Scale::Log));
    check("pareto-13-print", many::pareto(13, Scale::Linear), column(), Theme::Print);
}

#[test]
fn matrix() {
    everywhere("matrix-3-4", &many::matrix(3, 4));
    check("matrix-6-7-print", many::matrix(6, 7), full_width(), Theme::Print);
    check("matrix-6-7-column-print", many::matrix(6, 7), column(), Theme::Print);
    check("matrix-grey", many::matrix(3, 4), column(), Theme::Grey);
}

#[test]
fn retries() {
    everywhere("retries-3", &many::retries(3));
    check("retries-8-print", many::retries(8), column(), Theme::Print);
}

#[test]
fn failure_shares() {
    everywhere("failures-stacked", &many::failures(6, 4, SharesForm::Auto));
    everywhere("failures-rows", &many::failures(20, 3, SharesForm::Auto));
    check("failures-many-print", many::failures(20, 6, SharesForm::SideBySide), column(), Theme::Print);
    check("failures-gathered-grey", many::failures(20, 3, SharesForm::Stacked), column(), Theme::Grey);
}

#[test]
fn tables() {
    everywhere("table-6", &tables::runs(6));
    check("table-1-print", tables::runs(1), column(), Theme::Print);
    check("table-nothing-print", tables::runs(0), column(), Theme::Print);
    check("table-13-grey", tables::runs(13), full_width(), Theme::Grey);
    check("table-wide-print", tables::wide(5), column(), Theme::Print);
    check("table-wide-full-print", tables::wide(5), full_width(), Theme::Print);
    check("table-odd-print", tables::odd(20), column(), Theme::Print);
    check("table-odd-full-print", tables::odd(20), full_width(), Theme::Print);
    // A picture of a full screen has megabytes. A page is smaller, and is cut by the same rule.
    describe("table-long-light", tables::runs(1_500), Layout::panel(640.0), Theme::Light);
    check("table-long-print", tables::runs(120), column(), Theme::Print);
}

#[test]
fn in_greys() {
    for (name, figure) in [
        ("differences-3", many::differences(3)),
        ("paired-20", many::paired(20, 15)),
        ("first-failures-4", many::first_failures(many::runs(4, 25, 9))),
        ("bars-4", many::bars(4)),
        ("pareto-6", many::pareto(6, Scale::Log)),
        ("retries-3", many::retries(3)),
        ("failures-rows", many::failures(20, 3, SharesForm::Auto)),
    ] {
        // words: ok (the name of committed pictures)
        check(&format!("{name}-grey"), figure, column(), Theme::Grey);
    }
}

/// The published results of `EvoCode-Bench`, 13 models on 25 tasks, as their survival tables.
#[test]
fn published_results_in_one_column() {
    let spec: FigureSpec = serde_json::from_str(include_str!("specs/evocode-published.json")).unwrap();
    check("evocode-published-print", spec.figure.clone(), spec.layout, Theme::Print);
    check("evocode-published-grey", spec.figure.clone(), spec.layout, Theme::Grey);
    check("evocode-published-wide-print", spec.figure.clone(), full_width(), Theme::Print);
    let Figure::SurvivalComparison(mut eight) = spec.figure else { unreachable!() };
    eight.series.truncate(8);
    for (i, series) in (0..).zip(&mut eight.series) {
        (series.highlight, series.label.color, series.label.mark) = (true, i, i);
    }
    check("evocode-published-8-print", Figure::SurvivalComparison(eight), spec.layout, Theme::Print);
}

#[test]
fn four_runs_across_a_page() {
    let layout = figures::venue::Preset::parse("neurips").unwrap().layout();
    check("survival-4-neurips-print", many::survival(many::runs(4, 25, 9), 9), layout, Theme::Print);
}

#[test]
fn one_run_in_a_panel() {
    for (name, figure) in [
        ("survival", Figure::Survival(cases::hundred_turns())),
        ("first-failures", Figure::FirstFailures(cases::hundred_turns())),
    ] {
        check(&format!("panel-{name}-light"), figure.clone(), Layout::panel(640.0), Theme::Light);
        check(&format!("panel-{name}-dark"), figure.clone(), Layout::panel(640.0), Theme::Dark);
        // words: ok (the name of committed pictures)
        check(&format!("panel-{name}-grey"), figure, column(), Theme::Grey);
    }
}
