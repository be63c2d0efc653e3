//! A figure is readable or is refused with a reason.

use std::collections::BTreeSet;

use figures::{
    Figure, FigureSpec, Layout, PublishedPoint, Scale, SeriesLabel, SharesForm, Theme, draw,
    export::{Format, drawing_refusal, export},
    grayscale_check,
    venue::Preset,
};

use crate::cases::{self, many};
use crate::layout::{check, everywhere, fitting, presets, texts};

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
        for preset in presets() {
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
    // Many groups have rows.
    assert_eq!(written, BTreeSet::from([1, 3, 9, 13, 42]));
    assert!(refused > 0);
}

/// A matrix with names of this number of letters, which differ in their middle.
fn named_matrix(rows: usize, columns: usize, letters: usize) -> Figure {
    let Figure::Matrix(mut data) = many::matrix(rows, columns) else { unreachable!() };
    // Rows with published numbers and words about simulations are higher: 42 of them are no page.
    if rows.max(columns) > 13 {
        for cell in &mut data.cells {
            cell.simulated = false;
            cell.published.clear();
        }
    }
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
/// a reason: too wide, or higher than a page.
#[test]
fn a_matrix_of_many_columns_is_readable_or_refused() {
    let (mut written, mut refused) = (BTreeSet::new(), 0);
    for (rows, columns) in
        [(1, 1), (3, 3), (1, 9), (3, 9), (1, 13), (6, 13), (1, 42), (3, 42), (42, 3), (42, 42)]
    {
        for letters in [3, 120] {
            for preset in presets() {
                let figure = named_matrix(rows, columns, letters);
                let spec = FigureSpec::new(figure, preset.layout(), Theme::Print);
                if let Err(error) = export(&spec, Format::Svg) {
                    let message = error.to_string();
                    assert!(
                        ["no room for whole numbers", "in high"].iter().any(|w| message.contains(w)),
                        "{message}"
                    );
                    assert!(error.advice().is_some());
                    refused += 1;
                    continue;
                }
                // Once for each number of rows and columns it is drawn twice.
                let drawing = if written.insert((rows, columns)) { check(&spec) } else { fitting(&spec) };
                let texts: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
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

/// One column of nine panels was 12.2 in high at `ieee`, so the figure was refused.
#[test]
fn panels_of_retries_are_narrower_before_they_do_not_fit_a_page() {
    let Figure::Retries(mut data) = many::retries(9) else { panic!("a figure of retries") };
    data.published.clear();
    for preset in presets() {
        let spec = FigureSpec::new(Figure::Retries(data.clone()), preset.layout(), Theme::Print);
        assert_eq!(drawing_refusal(&spec), None, "{}", preset.name());
        fitting(&spec);
    }
}

/// The note ended with "…" while the marks of later letters were drawn.
#[test]
fn every_letter_of_a_published_mark_has_its_name() {
    let Figure::Retries(mut data) = many::retries(4) else { panic!("a figure of retries") };
    let subjects =
        ["Step-3.5-Flash", "Nemotron-3-Super", "GLM-5", "Qwen3.5-122B", "MiniMax-M2.5", "Kimi-K2.5"];
    let harnesses = ["OpenCode", "mini-swe-agent"];
    data.published = subjects
        .iter()
        .flat_map(|subject| harnesses.map(|harness| format!("{subject} · {harness} · no feedback")))
        .zip(0_u32..)
        .map(|(name, place)| PublishedPoint {
            label: SeriesLabel::new(name, 2),
            retries: place % 4,
            mean: 5.0 + 3.0 * f64::from(place),
            source: "StaminaBench, secondary article of 20 June 2026".to_owned(),
        })
        .collect();
    for preset in presets() {
        let spec = FigureSpec::new(Figure::Retries(data.clone()), preset.layout(), Theme::Print);
        let written: Vec<String> = texts(&draw(&spec)).into_iter().map(|set| set.text).collect();
        let notes = written.join(" ");
        for (mark, letter) in data.published.iter().zip('a'..) {
            let name = format!("{letter}: {}", mark.label.name);
            assert!(notes.contains(&name), "{}: {name} is not in {notes}", preset.name());
        }
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

/// Figures without a value were axes from 0 to 1 around the word "unknown".
#[test]
fn an_empty_plot_is_refused_and_has_no_invented_axis() {
    let Figure::Bars(mut bars) = many::bars(3) else { panic!("bars") };
    for row in &mut bars.rows {
        (row.value, row.ci_low, row.ci_high) = (None, None, None);
        row.published.clear();
    }
    let Figure::Differences(mut unknown) = many::differences(3) else { panic!("differences") };
    for row in &mut unknown.rows {
        (row.value, row.ci_low, row.ci_high, row.p) = (None, None, None, None);
    }
    let mut ratios = unknown.clone();
    ratios.scale = Scale::Log;
    let Figure::Matrix(mut cells) = many::matrix(2, 2) else { panic!("a matrix") };
    cells.cells.clear();
    cells.row_means.clear();
    cells.column_means.clear();
    let Figure::Pareto(mut costs) = many::pareto(3, Scale::Log) else { panic!("a Pareto figure") };
    for point in &mut costs.points {
        point.cost = Some(0.0);
    }
    // Of runs of one turn.
    let rates = figures::Pareto {
        measure: Some("Pass rate".to_owned()),
        measure_unit: Some("%".to_owned()),
        tau: None,
        ..costs.clone()
    };
    let Figure::Paired(tasks) = many::paired(0, 1) else { panic!("pairs") };
    let tasks = figures::PairedScenarios { of_rates: true, ..tasks };
    let unknown_alone = [
        (Figure::Bars(bars), "no run has a known value of \"Cost per survived turn\""),
        (Figure::Differences(unknown), "no difference is known"),
        (Figure::Differences(ratios), "no ratio above 0 is known"),
        (Figure::Pareto(costs), "no run has a known cost and stamina,"),
        (Figure::Pareto(rates), "no run has a known cost and pass rate,"),
    ];
    for (figure, _) in &unknown_alone {
        for layout in [Preset::parse("icml").unwrap().layout(), Layout::panel(640.0)] {
            let drawn = texts(&draw(&FigureSpec::new(figure.clone(), layout, Theme::Print)));
            let numbers: Vec<&str> = drawn
                .iter()
                .map(|set| set.text.as_str())
                .filter(|text| text.parse::<f64>().is_ok())
                .collect();
            assert!(numbers.is_empty(), "an axis without a value: {numbers:?} of {figure:?}");
        }
    }
    let empty = [
        (many::differences(0), "no run beside the reference"),
        (many::bars(0), "no run has a known value"),
        (many::survival(Vec::new(), 9), "no turn was observed"),
        (many::first_failures(Vec::new()), "no turn was observed"),
        (Figure::Survival(cases::nothing()), "no turn was observed"),
        (Figure::FirstFailures(cases::nothing()), "no turn was observed"),
        (many::paired(0, 9), "no scenario is in both runs"),
        (Figure::Paired(tasks), "no task is in both runs"),
        (many::retries(0), "no turn had a second attempt"),
        (many::plane(0), "no run has both values"),
        (many::failures(6, 0, SharesForm::Auto), "no failure of this scope counts"),
        (Figure::Matrix(cells), "no cell has a known mean"),
    ];
    for (figure, reason) in unknown_alone.into_iter().chain(empty) {
        for preset in ["icml", "neurips"] {
            let spec = FigureSpec::new(figure.clone(), Preset::parse(preset).unwrap().layout(), Theme::Print);
            for format in [Format::Svg, Format::Pdf, Format::Tex] {
                let error = export(&spec, format).unwrap_err();
                assert!(error.to_string().contains(reason), "{reason}: {error}");
                assert!(error.advice().is_some());
            }
            assert!(
                export(&spec, Format::Csv).is_ok(),
                "the data behind it are there all the same: {reason}"
            );
        }
    }
}

/// "unknown" stood on the dashed line of no difference.
#[test]
fn the_line_of_no_difference_does_not_run_through_a_word() {
    let Figure::Differences(mut data) = many::ratios() else { panic!("ratios") };
    for (row, value) in data.rows.iter_mut().zip([Some(1.2), None, Some(3.0), Some(2.0)]) {
        row.value = value;
        (row.ci_low, row.ci_high) = (value, value.map(|v| v * 1.1));
    }
    let spec = FigureSpec::new(Figure::Differences(data), Layout::print(234.0), Theme::Print);
    let svg = draw(&spec).svg;
    let row = svg.split("row-1").nth(1).and_then(|part| part.split("</g>").next()).unwrap();
    let (paper, word) = (row.find("<rect").unwrap(), row.find("unknown").unwrap());
    assert!(paper < word, "{row}");
}

/// Of nine curves four were gray lines without a name beside them, and of 42 curves 37 were equal.
#[test]
fn survival_curves_of_more_than_eight_runs_have_a_panel_each() {
    for count in [9, 13] {
        let Figure::SurvivalComparison(mut data) = many::survival(many::runs(count, 25, 9), 9) else {
            panic!("curves")
        };
        data.events = true;
        for preset in ["icml", "icml:full", "acl", "neurips"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let spec = FigureSpec::new(Figure::SurvivalComparison(data.clone()), layout, Theme::Print);
            assert!(export(&spec, Format::Svg).is_ok() && export(&spec, Format::Tex).is_ok(), "{preset}");
            let drawing = check(&spec);
            assert!(grayscale_check(&spec).is_empty(), "names stand over their panels");
            let texts: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
            let times = |word: &str| texts.iter().filter(|text| *text == word).count();
            if preset.starts_with("icml") {
                for name in &many::MODELS[..count] {
                    assert_eq!(times(name), 1, "{name} in {preset}: {texts:?}");
                }
            }
            // How many failed stands under each name, and 25 at risk before turn 1 in each panel.
            assert_eq!(texts.iter().filter(|text| text.ends_with("/25 failed")).count(), count, "{preset}");
            assert!(times("25") >= count && times("At risk") > 1, "{preset}: {texts:?}");
            assert_eq!(times("τ = 9 (dashed line)"), 1, "{preset}: {texts:?}");
            // A name and every turn of a panel can be pointed at.
            for series in 0..count as u32 {
                let own = || drawing.marks.iter().filter(move |mark| mark.series == Some(series));
                assert_eq!(own().filter(|mark| mark.id.starts_with("name-")).count(), 1);
                let turn = own().find(|mark| mark.id == format!("turn-{series}-1")).unwrap();
                assert!(turn.lines[1].ends_with("at risk 25"), "{turn:?}");
            }
            assert_eq!(drawing.svg.matches("-curve-").count(), count);
            // So can the turns after the end of a curve, as in a plot of all of them.
            let last = |series: usize| {
                let id = format!("turn-{series}-9");
                drawing
                    .marks
                    .iter()
                    .find(|mark| mark.id == id)
                    .map_or("nothing", |mark| mark.lines[1].as_str())
            };
            for (series, run) in data.series.iter().enumerate() {
                let is_over = run.points.iter().all(|point| point.turn != 9 || point.at_risk == 0);
                assert_eq!(last(series).ends_with("nobody at risk"), is_over, "{}", last(series));
            }
            assert!((0..count).any(|series| last(series) == "0, nobody at risk"));
        }
    }
    // Up to eight, and where some are a background that was asked for, all are in one plot.
    for spec in
        [FigureSpec::new(many::survival(many::runs(8, 25, 9), 9), Layout::print(234.0), Theme::Print), {
            let Figure::SurvivalComparison(mut data) = many::survival(many::runs(42, 25, 9), 9) else {
                panic!("curves")
            };
            data.series.iter_mut().skip(3).for_each(|series| series.highlight = false);
            FigureSpec::new(Figure::SurvivalComparison(data), Layout::print(234.0), Theme::Print)
        }]
    {
        assert!(export(&spec, Format::Svg).is_ok());
        assert_eq!(draw(&spec).hits.len(), 9);
    }
}

/// First failures of 42 runs were a picture of 3.25 × 21.96 in.
#[test]
fn what_no_page_holds_is_refused() {
    let spec = |figure: Figure, preset: &str| {
        FigureSpec::new(figure, Preset::parse(preset).unwrap().layout(), Theme::Print)
    };
    for figure in [many::first_failures(many::runs(42, 25, 9)), many::first_failures(many::runs(20, 25, 9))] {
        let spec = spec(figure, "icml");
        for format in [Format::Svg, Format::Pdf, Format::Png, Format::Tex] {
            let error = export(&spec, format).unwrap_err();
            assert!(error.to_string().contains("in high, and a page has room for 9.0 in"), "{error}");
            assert!(error.advice().is_some_and(|advice| advice.contains("wider venue")));
        }
        assert!(drawing_refusal(&spec).is_some_and(|reason| reason.contains("in high")));
        assert!(export(&spec, Format::Csv).is_ok(), "the data behind it are there all the same");
    }
    assert!(export(&spec(many::first_failures(many::runs(13, 25, 9)), "icml"), Format::Svg).is_ok());
    // On the screen one scrolls.
    let screen =
        FigureSpec::new(many::first_failures(many::runs(42, 25, 9)), Layout::panel(640.0), Theme::Light);
    assert!(export(&screen, Format::Svg).is_ok() && drawing_refusal(&screen).is_none());

    let curves = |count: usize| many::survival(many::runs(count, 25, 9), 9);
    assert!(export(&spec(curves(13), "icml"), Format::Svg).is_ok());
    let error = export(&spec(curves(42), "icml"), Format::Svg).unwrap_err();
    assert!(error.to_string().contains("in high, and a page has room for 9.0 in"), "{error}");
}
