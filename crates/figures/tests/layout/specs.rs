//! What captions and specs say.

use figures::{Figure, FigureSpec, Layout, Scale, Theme, caption, draw, venue::Preset};

use crate::cases::many;
use crate::layout::{each_kind, texts};

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
        "Mean stamina (turns) by harness and model, 95 % CI",
        "in 10 cells",
        "τ = 100",
        "2,000 bootstrap resamples by scenario, seed 7",
        "OpenHands × GPT-5.5 is simulated.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
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
    let page = include_str!("../../../../docs/figures.md");
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
