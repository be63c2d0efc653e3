//! Names are whole, or stay different where they are cut.

use figures::{
    Figure, FigureSpec, Layout, Scale, SharesForm, Theme, draw, export::drawing_refusal, venue::Preset,
};

use crate::cases::many;
use crate::layout::{check, everywhere, texts, with_names};

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

/// "Claude-Opus-4.8" was "Claude-…us-4.8" beside wide columns, for a point that its column lacked.
#[test]
fn names_of_models_are_whole_beside_a_matrix() {
    for preset in ["acl", "neurips:half"] {
        let layout = Preset::parse(preset).unwrap().layout();
        let drawing = check(&FigureSpec::new(many::matrix(1, 6), layout, Theme::Print));
        let texts: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
        for model in &many::MODELS[..6] {
            assert!(texts.iter().any(|text| text == model), "{preset}: {model} is cut: {texts:?}");
        }
    }
}

/// Names of 120 characters that differ in one word each: at the start, in the middle, at the end.
#[test]
fn names_of_failures_keep_what_differs_wherever_that_is() {
    let base = "organization-with-a-long-name/claude-opus-4.8-instruct-thinking-high-context-1m-tools-\
                2026-06-01-checkpoint-final-weekly";
    let names = [("organization", "corporations"), ("thinking", "planning"), ("weekly", "hourly")]
        .map(|(word, own)| (base.replace(word, own), own));
    let Figure::FailureShares(mut data) = many::failures(6, 4, SharesForm::SideBySide) else {
        unreachable!()
    };
    base.clone_into(&mut data.groups[0].label.name);
    for (group, (name, _)) in data.groups[1..].iter_mut().zip(&names) {
        group.label.name.clone_from(name);
    }
    for form in [SharesForm::SideBySide, SharesForm::Stacked] {
        data.form = form;
        let figure = Figure::FailureShares(data.clone());
        for preset in ["icml", "acl", "neurips:half"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let spec = FigureSpec::new(figure.clone(), layout, Theme::Print);
            if let Some(reason) = drawing_refusal(&spec) {
                assert!(reason.contains("no room for readable names"), "{preset}: {reason}");
                continue;
            }
            let texts: Vec<String> = texts(&check(&spec)).into_iter().map(|set| set.text).collect();
            for (_, own) in &names {
                // A part of the word is enough where no other name has it.
                let is_there = texts.iter().any(|text| text.contains(&own[..4]) || text.ends_with(&own[2..]));
                assert!(is_there, "{preset}, {form:?}: {own} is not in {texts:?}");
            }
        }
    }
}

/// The name over a matrix of one cell stood upright, and was cut, beside free space.
#[test]
fn a_long_name_over_one_column_lies_and_is_whole() {
    let long =
        "claude-opus-4.8-with-extended-thinking-and-a-very-long-name-of-its-checkpoint/2026-06-01-preview-"
            .repeat(2);
    let Figure::Matrix(mut data) = many::matrix(1, 1) else { unreachable!() };
    let name = &long[..120];
    data.columns = vec![name.to_owned()];
    let figure = Figure::Matrix(data);
    for layout in [Preset::parse("icml").unwrap().layout(), Layout::panel(640.0), Layout::panel(1180.0)] {
        let drawing = check(&FigureSpec::new(figure.clone(), layout, Theme::Print));
        assert!(!drawing.svg.contains("rotate("), "the name stands upright: {}", drawing.svg);
        let all: String = texts(&drawing).into_iter().map(|set| set.text).collect();
        assert!(all.contains(name), "{name} is cut: {all}");
    }
    everywhere(&figure);
}

/// Names of tasks of EvoCode-Bench in one column: "ml-checkpoint…bility-engine" stood beside free space, and at `acl`
/// "gomlops-platf…odernization".
#[test]
fn names_of_tasks_are_whole_beside_their_pairs() {
    const NAMES: [&str; 5] = [
        "ml-checkpoint-forensics-engine",
        "gomlops-platform-modernization",
        "forgekit-monorepo-build-pipeline",
        "hermetic-build-artifact-verifier",
        "numeriforge-reproducibility-migration",
    ];
    let Figure::Paired(mut data) = many::paired(20, 9) else { unreachable!() };
    for (pair, name) in data.pairs.iter_mut().zip(NAMES) {
        pair.scenario = name.to_owned();
    }
    let figure = Figure::Paired(data);
    for (preset, whole) in [("icml", 5), ("acl", 4)] {
        let layout = Preset::parse(preset).unwrap().layout();
        let drawing = check(&FigureSpec::new(figure.clone(), layout, Theme::Print));
        let words: Vec<String> = texts(&drawing).into_iter().map(|text| text.text).collect();
        for name in &NAMES[..whole] {
            assert!(words.iter().any(|word| word == name), "{preset}: {name} is cut: {words:?}");
        }
        // A name without room for all of it loses whole words.
        let is_cut = |word: &&String| word.contains('…') && *word != "numeriforge-reproducibility-…";
        assert_eq!(words.iter().find(is_cut), None, "{preset}");
    }
    everywhere(&figure);
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

/// The ratios of the same runs: `middling…aude_code (sim.)` was cut beside a wide axis.
#[test]
fn names_of_nine_simulated_runs_are_whole_beside_their_ratios() {
    let names: Vec<String> = ["strong", "middling", "weak"]
        .iter()
        .flat_map(|model| ["codex", "claude_code", "kimi_code"].map(|h| format!("oracle-{model} · {h}")))
        .collect();
    let Figure::Differences(mut data) = many::differences(8) else { unreachable!() };
    "Ratio of mean stamina".clone_into(&mut data.axis);
    data.scale = Scale::Log;
    data.reference.name.clone_from(&names[0]);
    data.reference.simulated = true;
    for (row, name) in data.rows.iter_mut().zip(&names[1..]) {
        row.label.name.clone_from(name);
        row.label.simulated = true;
        (row.value, row.ci_low, row.ci_high, row.p) = (Some(0.71), Some(0.41), Some(1.23), Some(0.000_1));
    }
    let figure = Figure::Differences(data);
    for preset in ["icml", "icml:full", "neurips"] {
        let layout = Preset::parse(preset).unwrap().layout();
        let drawing = check(&FigureSpec::new(figure.clone(), layout, Theme::Print));
        let solid = |text: &str| text.replace(' ', "");
        let all: String = texts(&drawing).iter().map(|set| solid(&set.text)).collect();
        for name in &names[1..] {
            let whole = solid(&format!("{} (sim", name.trim_start_matches("oracle-")));
            assert!(all.contains(&whole), "{preset}: {whole} is not in: {all}");
        }
    }
    everywhere(&figure);
}

/// Their differences have wider numbers: `middlin…i_code (sim.)` stood over `middlin…e_code (sim.)`.
#[test]
fn names_of_nine_simulated_runs_are_whole_beside_their_differences() {
    let names: Vec<String> = ["strong", "middling", "weak"]
        .iter()
        .flat_map(|model| ["kimi_code", "claude_code", "codex"].map(|h| format!("oracle-{model} · {h}")))
        .collect();
    let Figure::Differences(mut data) = many::differences(8) else { unreachable!() };
    data.reference.name.clone_from(&names[0]);
    data.reference.simulated = true;
    for (row, name) in data.rows.iter_mut().zip(&names[1..]) {
        row.label.name.clone_from(name);
        row.label.simulated = true;
        (row.value, row.ci_low, row.ci_high, row.p) = (Some(-12.6), Some(-18.24), Some(-6.96), Some(0.057));
    }
    let figure = Figure::Differences(data);
    let layout = Preset::parse("icml").unwrap().layout();
    let drawing = check(&FigureSpec::new(figure.clone(), layout, Theme::Print));
    let words: Vec<String> = texts(&drawing).into_iter().map(|set| set.text).collect();
    assert!(words.iter().all(|word| !word.contains('…')), "a name is cut: {words:?}");
    for line in ["oracle-middling ·", "claude_code (simulated)", "kimi_code (simulated)"] {
        assert!(words.iter().any(|word| word == line), "{line} is not in: {words:?}");
    }
    everywhere(&figure);
}

/// Names that differ only in their middle, and are longer than any place for them. The word in the middle is nowhere else.
fn alike(own: &[&str]) -> Vec<String> {
    let (begin, end) =
        ("organization-with-a-long-name".repeat(3), "2026-06-01-thinking-high-context-1m".repeat(3));
    own.iter().map(|own| format!("{begin}/{own}-{end}")).collect()
}

const OWN: [&str; 4] = ["qzebra", "qyak", "qxerus", "qwombat"];

/// A figure whose names these are, each with its word.
fn named_alike(figure: Figure) -> Figure {
    with_names(figure, &alike(&OWN), &[Some(1.0), Some(2.0), Some(0.5), Some(3.0), Some(4.0)])
}

#[test]
fn long_names_that_differ_stay_different_wherever_they_are_cut() {
    let figures = [
        (many::survival(many::runs(4, 20, 9), 9), 4),
        (many::survival(many::runs(8, 20, 9), 9), 4),
        (many::first_failures(many::runs(4, 20, 9)), 4),
        // The reference is named at the axis.
        (many::differences(3), 4),
        (many::differences(1), 2),
        (many::bars(4), 4),
        (many::bars(2), 2),
        (many::pareto(4, Scale::Linear), 4),
        (many::retries(4), 4),
        (many::retries(6), 4),
        // The scenarios, and the two runs above them.
        (many::paired(4, 9), 4),
        (many::matrix(4, 4), 4),
        (many::failures(4, 4, SharesForm::SideBySide), 4),
        (many::failures(4, 4, SharesForm::Stacked), 4),
    ];
    for (figure, names) in figures {
        for preset in ["icml", "neurips:half", "acl", "ieee"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let spec = FigureSpec::new(named_alike(figure.clone()), layout, Theme::Print);
            let texts: Vec<String> = texts(&draw(&spec)).into_iter().map(|t| t.text).collect();
            for own in &OWN[..names] {
                assert!(texts.iter().any(|t| t.contains(own)), "{preset}: {own} is not in {texts:?}");
            }
        }
    }
}

/// One row beside a reference: both were "organization-with-a-…king-high-context-1m".
#[test]
fn a_single_row_is_told_from_its_reference() {
    let drawn = |preset: &str| -> Vec<String> {
        let layout = Preset::parse(preset).unwrap().layout();
        let spec = FigureSpec::new(named_alike(many::differences(1)), layout, Theme::Print);
        texts(&draw(&spec)).into_iter().map(|t| t.text).collect()
    };
    for preset in ["icml", "icml:full", "neurips"] {
        let words = drawn(preset);
        assert!(words.iter().any(|t| t.starts_with("vs. ") && t.contains(OWN[0])), "{preset}: {words:?}");
        assert!(words.iter().any(|t| !t.starts_with("vs. ") && t.contains(OWN[1])), "{preset}: {words:?}");
    }
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

/// Names of 13 models were upright over columns.
#[test]
fn many_models_have_rows_in_failure_shares() {
    let Figure::FailureShares(mut data) = many::failures(9, 13, SharesForm::SideBySide) else {
        unreachable!()
    };
    for (group, model) in data.groups.iter_mut().zip(many::MODELS) {
        group.label.name = model.to_owned();
    }
    let figure = Figure::FailureShares(data);
    for preset in ["icml", "icml:full", "neurips"] {
        let layout = Preset::parse(preset).unwrap().layout();
        let spec = FigureSpec::new(figure.clone(), layout, Theme::Print);
        let drawing = check(&spec);
        let texts = texts(&drawing);
        for model in many::MODELS {
            let level = |set: &crate::layout::Set| set.area[2] - set.area[0] > set.area[3] - set.area[1];
            assert!(
                texts.iter().any(|set| set.text == model && level(set)),
                "{preset}: {model} in {texts:?}"
            );
        }
        assert_eq!(drawing.marks.len(), 9 * 13, "every share can be pointed at");
    }
    everywhere(&figure);
}

/// Names of classes were upright over rows of models, however wide their columns were.
#[test]
fn names_of_classes_stand_in_lines_over_wide_columns() {
    let Figure::FailureShares(mut data) = many::failures(5, 13, SharesForm::SideBySide) else {
        unreachable!()
    };
    for (group, model) in data.groups.iter_mut().zip(many::MODELS) {
        group.label.name = model.to_owned();
    }
    let drawing_of = |width: f64| {
        check(&FigureSpec::new(Figure::FailureShares(data.clone()), Layout::panel(width), Theme::Light))
    };
    // Models have rows in both.
    let (wide, narrow) = (drawing_of(1000.0), drawing_of(480.0));
    assert!(!wide.svg.contains("rotate("), "names stand upright where there is room: {}", wide.svg);
    let solid = |text: &str| text.replace(' ', "");
    for drawing in [&wide, &narrow] {
        let all: String = texts(drawing).iter().map(|set| solid(&set.text)).collect();
        for class in &data.classes {
            assert!(all.contains(&solid(&class.name)), "{} is not whole: {all}", class.name);
        }
        let first = drawing.marks.iter().find(|mark| mark.id == "share-0-0").unwrap();
        let below = drawing.marks.iter().find(|mark| mark.id == "share-1-0").unwrap();
        assert!(below.y0 >= first.y1 - 0.01, "models have rows");
    }
}

/// In print, axis names of panels and legends began 1.2 pt from the edge.
#[test]
fn panels_of_retries_and_the_legend_of_pairs_do_not_touch_the_edge() {
    let Figure::Retries(mut retries) = many::retries(8) else { unreachable!() };
    retries.published.clear();
    for figure in [Figure::Retries(retries), many::paired(20, 15), many::paired(100, 9)] {
        for preset in ["icml", "acl", "neurips"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let spec = FigureSpec::new(figure.clone(), layout, Theme::Print);
            let drawing = check(&spec);
            let left = texts(&drawing).iter().map(|set| set.area[0]).fold(f64::INFINITY, f64::min);
            assert!(left >= 2.9, "{left} in {preset}: {}", drawing.svg);
        }
    }
}

/// "Doubao-Seed-2.1-Pro" began 1.3 pt from the edge of the picture, a pixel or two on paper.
#[test]
fn names_at_the_left_do_not_touch_the_edge() {
    let names: Vec<String> = many::MODELS.map(|model| format!("{model}-and-more-of-it")).to_vec();
    let numbers = [Some(1.0), Some(2.0), Some(0.5), Some(3.0), Some(4.0)];
    let figures = [
        many::ratios(),
        many::differences(12),
        many::bars(13),
        many::matrix(13, 2),
        many::paired(13, 9),
        many::failures(20, 6, SharesForm::SideBySide),
        many::failures(5, 6, SharesForm::Stacked),
    ];
    for figure in figures {
        for preset in ["icml", "acl", "neurips"] {
            let layout = Preset::parse(preset).unwrap().layout();
            let with_names = with_names(figure.clone(), &names, &numbers);
            let drawing = draw(&FigureSpec::new(with_names, layout, Theme::Print));
            // The reference at the axis is in no column of names.
            let row = |text: &str| {
                let is_name = many::MODELS.iter().any(|model| text.contains(model)) || text.contains('…');
                // Nor is the note of a row below them all.
                (is_name || many::CLASSES.contains(&text)) && !text.contains("vs. ") && !text.contains(": ")
            };
            let left = texts(&drawing)
                .into_iter()
                .filter(|set| row(&set.text))
                .map(|set| set.area[0])
                .fold(f64::INFINITY, f64::min);
            assert!(left.is_finite() && left >= 2.9, "{left} in {preset}: {}", drawing.svg);
        }
    }
}
