//! Axes, names and numbers state what is drawn.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use figures::export::{Format, export, height_refusal};
use figures::{Figure, FigureSpec, SharesForm, Theme, caption, draw, venue::Preset};

use crate::cases::many;

fn on_paper(figure: Figure) -> FigureSpec {
    FigureSpec::new(figure, Preset::parse("icml").unwrap().layout(), Theme::Print)
}

/// An axis "Stamina (turns passed)" stood under values that ended at τ.
#[test]
fn an_axis_of_staminas_of_the_first_turns_says_so() {
    let Figure::Paired(mut data) = many::paired(20, 7) else { unreachable!() };
    let whole = on_paper(Figure::Paired(data.clone()));
    data.first_turns = Some(7);
    let cut = on_paper(Figure::Paired(data));
    let axis = "Stamina (of the first 7 turns)";
    let sentence = "Later turns do not count.";
    assert!(draw(&cut).svg.contains(&format!(">{axis}</text>")) && draw(&cut).summary.contains(axis));
    let text = caption(&cut);
    assert!(text.starts_with(&format!("{axis} by scenario, ")) && text.contains(sentence), "{text}");
    assert!(draw(&whole).svg.contains(">Stamina (turns passed)</text>"));
    assert!(!caption(&whole).contains(sentence) && !caption(&whole).contains(axis));
    let read: FigureSpec = toml::from_str(&toml::to_string(&cut).unwrap()).unwrap();
    assert_eq!(read, cut);
}

/// "oracle-strong" was "strong" in bars, and no caption said so. Rows of simulated runs in failures had no label.
#[test]
fn a_caption_says_what_all_names_leave_out() {
    let Figure::FailureShares(mut data) = many::failures(3, 9, SharesForm::Stacked) else { unreachable!() };
    for (i, group) in data.groups.iter_mut().enumerate() {
        let model = ["strong", "middling", "weak"][i / 3];
        let harness = ["claude_code", "codex", "kimi_code"][i % 3];
        group.label.name = format!("oracle-{model} · {harness}");
        group.label.simulated = true;
    }
    let spec = on_paper(Figure::FailureShares(data.clone()));
    assert_eq!(draw(&spec).svg.matches(" (sim.)</text>").count(), 9);
    let text = caption(&spec);
    assert!(text.contains("Names are drawn without \"oracle-\"."), "{text}");
    // Where there is room for whole names, there is nothing to say.
    let wide = FigureSpec { layout: figures::Layout::panel(900.0), ..spec };
    assert!(!caption(&wide).contains("drawn without"), "{}", caption(&wide));
    // A harness that all have is left out whole.
    for group in &mut data.groups {
        group.label.name = group.label.name.replace("claude_code", "codex").replace("kimi_code", "codex");
    }
    data.groups = data.groups.into_iter().step_by(3).collect();
    for group in &mut data.groups {
        group.label.name.insert_str(0, "organization-with-a-long-name/");
    }
    let text = caption(&on_paper(Figure::FailureShares(data)));
    let sentence = "Names are drawn without \"organization-with-a-long-name/oracle-\" and \"codex\".";
    assert!(text.contains(sentence), "{text}");
}

/// "0 (n = 25)" stood beside "0.12 (n = 25)".
#[test]
fn zero_has_the_decimals_of_its_column() {
    let Figure::Bars(mut data) = many::bars(3) else { unreachable!() };
    let texts = |data: &figures::Bars, values: [f64; 3]| {
        let mut data = data.clone();
        for (row, value) in data.rows.iter_mut().zip(values) {
            (row.value, row.ci_low, row.ci_high, row.note) = (Some(value), None, None, None);
            row.published.clear();
        }
        draw(&on_paper(Figure::Bars(data))).svg
    };
    data.unit = Some("turns".to_owned());
    assert!(texts(&data, [0.12, 0.0, 4.2]).contains(">0.00</text>"));
    assert!(!texts(&data, [120.0, 0.0, 1_200_000.0]).contains(">0.0"), "values without decimals");
    data.unit = Some("$".to_owned());
    assert!(texts(&data, [0.0042, 0.0, 4.2]).contains(">$0.0000</text>"));
}

/// A height that a figure cannot have was written with a warning.
#[test]
fn a_height_that_cannot_be_kept_has_a_reason() {
    let reason = |height: f64, format| {
        let spec = on_paper(many::bars(6));
        let spec = FigureSpec { layout: spec.layout.with_height(height), ..spec };
        height_refusal(&spec, format)
    };
    let least = reason(40.0, Format::Svg).unwrap();
    assert!(least.starts_with("The figure cannot be 40 pt high: its least height is "), "{least}");
    let greatest = reason(600.0, Format::Tex).unwrap();
    assert!(greatest.starts_with("The figure cannot be 600 pt high: its greatest height is "), "{greatest}");
    assert_eq!(reason(40.0, Format::Csv), None, "values have no height");
    for limit in [least, greatest] {
        let height = limit.trim_end_matches(" pt").rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(reason(height, Format::Pdf), None, "{limit}");
    }
}

/// A picture for LaTeX had no caption to copy.
#[test]
fn a_picture_for_latex_has_its_caption_in_both_forms_as_a_comment() {
    let spec = on_paper(many::bars(3));
    let tex = String::from_utf8(export(&spec, Format::Tex).unwrap().bytes).unwrap();
    let line = tex.lines().find(|line| line.contains("\\caption[")).unwrap();
    assert!(line.starts_with("% \\caption[Cost per survived turn ") && line.ends_with('}'), "{line}");
    assert!(line.contains("]{Cost per survived turn ") && line.contains("Made with Stamina Lab"), "{line}");
}
