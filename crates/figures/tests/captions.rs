//! The content of captions: method, n, events, censoring policy, software, and nothing without a meaning for a kind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use figures::{
    Bands, EpisodeCounts, Figure, FigureSpec, Layout, Method, Published, SharesForm, Theme, caption, draw,
    short_caption,
};

use crate::cases::many;
use crate::kinds;

/// A method with all possible parts of a caption.
fn method() -> Method {
    let counts = |name: &str, n, events| EpisodeCounts {
        name: name.to_owned(),
        n,
        events: Some(events),
        censored: Some(n - events),
        ..EpisodeCounts::default()
    };
    Method {
        policy: Some("default".to_owned()),
        intervals: Some("given intervals".to_owned()),
        test: Some("given test".to_owned()),
        counts: vec![counts("one", 20, 17), counts("two", 1_000, 4)],
        notes: vec!["a note".to_owned()],
        ..Method::default()
    }
}

#[test]
fn every_kind_says_how_many_there_are_and_how_its_numbers_were_made() {
    for (name, figure) in kinds::all() {
        let own = matches!(
            figure,
            Figure::Survival(_)
                | Figure::FirstFailures(_)
                | Figure::SurvivalComparison(_)
                | Figure::FirstFailuresComparison(_)
        );
        let counted = match &figure {
            _ if own => "censored",
            Figure::Matrix(_) => "21 events, 999 censored in 23 cells",
            Figure::FailureShares(_) | Figure::Plane(_) => "n = ",
            Figure::Paired(_) => {
                "All episodes of one: n = 20, 17 events, 3 censored. All episodes of two: n = 1,000, "
            }
            Figure::Retries(_) => "one with the most retries: n = 20, 17 events, 3 censored. two with ",
            _ => "one: n = 20, 17 events, 3 censored. two: n = 1,000, 4 events, 996 censored.",
        };
        // Without a drawn band, because nobody failed or there is no episode, the caption names none.
        let intervals = match &figure {
            Figure::FirstFailures(_) | Figure::FirstFailuresComparison(_) | Figure::FailureShares(_) => false,
            Figure::Survival(_) | Figure::SurvivalComparison(_) => {
                let spec = FigureSpec::new(figure.clone(), Layout::print(234.0), Theme::Print);
                let svg = draw(&spec).svg;
                svg.contains("band")
            }
            _ => true,
        };
        let spec = FigureSpec::new(figure, Layout::print(234.0), Theme::Print).with_method(method());
        let text = caption(&spec);
        for part in [
            counted,
            "Test: given test.",
            "censoring policy default.",
            "a note.",
            "Made with Stamina Lab 0.1.0.",
        ] {
            assert!(text.contains(part), "{name}: {part} is not in: {text}");
        }
        assert!(
            !text.contains("; ") && !text.contains(".."),
            "{name}: sentences, not a chain of parts: {text}"
        );
        assert_eq!(text.contains("given intervals"), intervals, "{name}: {text}");
    }
}

/// The caption of 42 models of one family named 22 of them in full, in 2,800 letters.
#[test]
fn very_long_names_of_many_runs_are_short_in_a_caption() {
    let Figure::SurvivalComparison(mut data) = many::survival(many::runs(42, 20, 9), 9) else {
        unreachable!()
    };
    for (i, series) in data.series.iter_mut().enumerate() {
        series.label.name =
            format!("organization-with-a-long-name/qwen3.5-instruct-variant-{i:02}-2026-06-01-high-1m");
        series.summary.n = if i < 20 { 6 } else { 5 };
        (series.summary.events, series.summary.censored) = (5, 0);
    }
    let first = data.series[0].label.name.clone();
    let figure = Figure::SurvivalComparison(data);
    let text = caption(&FigureSpec::new(figure, Layout::print(486.0), Theme::Print).with_method(method()));
    assert!(text.contains("variant-00, variant-01, variant-02"), "{text}");
    assert!(text.contains(&format!("variant-00 is {first}.")), "{text}");
    assert_eq!(text.matches("organization").count(), 1, "{text}");
}

#[test]
fn a_difference_says_whose_is_taken_from_whose() {
    let Figure::Paired(data) = many::paired(20, 15) else { unreachable!() };
    let (a, b) = (data.a.name.clone(), data.b.name.clone());
    let spec = FigureSpec::new(Figure::Paired(data), Layout::print(234.0), Theme::Print);
    let text = caption(&spec);
    assert!(text.contains(&format!("Δ: {b} − {a}")) && text.contains("mean Δ "), "{text}");
    let drawing = draw(&spec);
    assert!(drawing.summary.contains(&format!("{b} − {a}: ")), "{}", drawing.summary);
    assert!(drawing.svg.contains("Δ ="), "the head of the column says it by markers");
    let table = figures::table::data_table(&spec.figure);
    assert!(
        table.notes.iter().any(|n| n.starts_with(&format!("Differences are {b} − {a}."))),
        "{:?}",
        table.notes
    );
}

#[test]
fn the_name_of_the_forests_axis_is_never_cut() {
    let Figure::Differences(mut data) = many::differences(3) else { unreachable!() };
    data.reference.name = "qwen3.5-122b-a10b-instruct · opencode".to_owned();
    for width in [234.0, 486.0] {
        let spec = FigureSpec::new(Figure::Differences(data.clone()), Layout::print(width), Theme::Print);
        let svg = draw(&spec).svg;
        let whole = format!("{} vs. {}", data.axis, data.reference.name);
        let lines = [format!(">{}<", data.axis), format!(">vs. {}<", data.reference.name)];
        assert!(
            svg.contains(&format!(">{whole}<")) || lines.iter().all(|line| svg.contains(line)),
            "{width}"
        );
    }
}

#[test]
fn counts_without_ends_say_only_how_many() {
    let counts = vec![EpisodeCounts { name: "A".to_owned(), n: 3, ..EpisodeCounts::default() }];
    let spec = FigureSpec::new(many::bars(2), Layout::print(234.0), Theme::Print)
        .with_method(Method { counts, ..Method::default() });
    assert!(caption(&spec).contains(". A: n = 3. Made with Stamina"), "{}", caption(&spec));
    let text = toml::to_string(&spec).unwrap();
    assert_eq!(toml::from_str::<FigureSpec>(&text).unwrap(), spec);
}

fn words(figure: Figure) -> String {
    let spec = FigureSpec::new(figure, Layout::print(486.0), Theme::Print);
    let tex = figures::export::export(&spec, figures::export::Format::Tex).unwrap().bytes;
    let tex = String::from_utf8(tex).unwrap();
    let code: Vec<&str> = tex.lines().filter(|l| !l.starts_with('%')).collect();
    format!("{}\n{}", draw(&spec).svg, code.join("\n"))
}

#[test]
fn a_ratio_of_nought_is_known() {
    let Figure::Differences(mut data) = many::ratios() else { unreachable!() };
    data.rows.truncate(1);
    (data.rows[0].value, data.rows[0].ci_low, data.rows[0].ci_high) = (Some(0.0), None, None);
    let svg = draw(&FigureSpec::new(Figure::Differences(data), Layout::print(486.0), Theme::Print)).svg;
    assert!(svg.contains("← 0.00") && !svg.contains("unknown"), "{svg}");
}

#[test]
fn a_cell_of_published_numbers_alone_says_that_there_is_no_run() {
    let Figure::Matrix(mut data) = many::matrix(2, 2) else { unreachable!() };
    data.cells.truncate(1);
    data.cells[0].published = vec![Published { value: 12.5, source: "An article".to_owned() }];
    (data.cells[0].mean, data.cells[0].ci_low, data.cells[0].ci_high) = (None, None, None);
    data.cells[0].n = 0;
    let text = words(Figure::Matrix(data.clone()));
    assert!(text.contains("12.5") && text.contains("Hollow diamonds: published, An article"), "{text}");
    assert!(!text.contains("n = 0") && !text.contains(">unknown<") && text.matches("no run").count() >= 4);
    let spec = FigureSpec::new(Figure::Matrix(data.clone()), Layout::print(486.0), Theme::Print);
    assert!(caption(&spec).contains("n = 0 in 0 cells"), "{}", caption(&spec));
    // The denominators of means are the lines with a run.
    let Figure::Matrix(mut other) = many::matrix(2, 2) else { unreachable!() };
    other.cells.retain(|c| c.column == 0);
    other.cells.push(figures::MatrixCell { row: 0, column: 1, ..data.cells[0].clone() });
    for (margin, cells) in other.row_means.iter_mut().zip([1, 1]) {
        margin.cells = cells;
    }
    assert!(!words(Figure::Matrix(other)).contains("1 of 2"));
    let table = figures::table::data_table(&Figure::Matrix(data)).to_csv();
    let row = table.lines().nth(1).unwrap();
    assert!(row.ends_with(",,,,,,12.5,An article"), "{row}");
}

#[test]
fn a_number_that_is_less_sure_than_it_looks_has_a_star() {
    let Figure::Matrix(mut data) = many::matrix(1, 2) else { unreachable!() };
    let plain = words(Figure::Matrix(data.clone()));
    data.cells[0].doubtful = true;
    let mean = format!("{:.1}", data.cells[0].mean.unwrap());
    let starred = words(Figure::Matrix(data.clone()));
    assert!(starred.contains(&format!("{mean}*")) && !plain.contains('*'), "{starred}");
    let spec = FigureSpec::new(Figure::Matrix(data), Layout::print(486.0), Theme::Print);
    let tex = figures::export::export(&spec, figures::export::Format::Tex).unwrap().bytes;
    assert!(String::from_utf8(tex).unwrap().contains(&format!("{mean}*")));
}

#[test]
fn a_caption_says_whose_band_is_drawn() {
    let caption_with = |count, bands| {
        let Figure::SurvivalComparison(mut data) = many::survival(many::runs(count, 20, 9), 9) else {
            unreachable!()
        };
        (data.bands, data.reference) = (bands, Some(1));
        let name = data.series[1].label.name.clone();
        let figure = Figure::SurvivalComparison(data);
        (caption(&FigureSpec::new(figure, Layout::print(234.0), Theme::Print)), name)
    };
    assert!(caption_with(2, Bands::Auto).0.starts_with("Kaplan–Meier, log-log 95 % CI. "));
    assert!(caption_with(4, Bands::All).0.starts_with("Kaplan–Meier, log-log 95 % CI. "));
    assert!(caption_with(4, Bands::None).0.starts_with("Kaplan–Meier. Vertical ticks"));
    // A run in the background has no band, and neither has a run without failures.
    let Figure::SurvivalComparison(mut data) = many::survival(many::runs(13, 20, 9), 9) else {
        unreachable!()
    };
    (data.bands, data.reference) = (Bands::Auto, Some(12));
    let whole = data.clone();
    data.series.iter_mut().skip(5).for_each(|series| series.highlight = false);
    let caption_and_bands = |data: &figures::SurvivalComparison| {
        let figure = Figure::SurvivalComparison(data.clone());
        let spec = FigureSpec::new(figure, Layout::print(234.0), Theme::Print);
        (caption(&spec), draw(&spec).svg.matches("band-").count())
    };
    let (text, drawn) = caption_and_bands(&data);
    assert!(drawn == 0 && text.starts_with("Kaplan–Meier. Vertical ticks"), "{drawn}: {text}");
    data.bands = Bands::All;
    let (text, drawn) = caption_and_bands(&data);
    assert!(drawn > 0 && text.contains("CI of "), "{drawn}: {text}");
    // In panels of their own, all have bands, and the caption says what is gray.
    let (text, drawn) = caption_and_bands(&whole);
    assert!(
        drawn > 5 && text.starts_with("Kaplan–Meier, log-log 95 % CI. Vertical ticks"),
        "{drawn}: {text}"
    );
    assert!(text.contains("Each panel has the curve of one run; those of the others are gray."), "{text}");
    // A drawing does not grow with the square of many long runs, and the caption promises no gray curves.
    let long = many::survival(many::runs(60, 400, 200), 200);
    let spec = FigureSpec::new(long, Layout::panel(900.0), Theme::Print);
    let text = caption(&spec);
    assert!(text.contains("Each panel has the curve of one run. "), "{text}");
    let bytes = draw(&spec).svg.len();
    assert!(bytes < 4 << 20, "{bytes} bytes");
    data.series.truncate(2);
    (data.bands, data.reference) = (Bands::Auto, Some(0));
    for point in &mut data.series[0].points {
        (point.events, point.survival, point.ci_low, point.ci_high) = (0, 1.0, None, None);
    }
    let (text, drawn) = caption_and_bands(&data);
    let name = &data.series[1].label.name;
    assert!(drawn > 0 && text.starts_with(&format!("Kaplan–Meier, log-log 95 % CI of {name}. ")), "{text}");
    let (text, name) = caption_with(4, Bands::Auto);
    assert!(text.starts_with(&format!("Kaplan–Meier, log-log 95 % CI of {name}. ")), "{text}");
}

#[test]
fn the_axis_of_turns_reaches_the_turn_limit_or_says_that_it_does_not() {
    let last_tick = |limit: u32, last_at_risk: u32| {
        let mut runs = many::runs(2, 20, limit);
        for point in runs.iter_mut().flat_map(|run| &mut run.points).filter(|p| p.turn > last_at_risk) {
            (point.at_risk, point.events, point.censored) = (0, 0, 0);
        }
        let spec = FigureSpec::new(many::survival(runs, 3), Layout::print(486.0), Theme::Print);
        (
            draw(&spec).hits.len(),
            caption(&spec).contains(&format!("Nobody is at risk after turn {last_at_risk} of {limit}.")),
        )
    };
    assert_eq!(last_tick(15, 12), (15, false));
    assert_eq!(last_tick(15, 9), (10, true), "an axis is not empty over more than a quarter");
    assert_eq!(last_tick(100, 9), (10, true));
}

#[test]
fn where_nobody_was_ever_at_risk_the_caption_names_no_turn_at_which_someone_was() {
    for limit in [1, 2, 5] {
        let mut runs = many::runs(2, 20, limit);
        for point in runs.iter_mut().flat_map(|run| &mut run.points) {
            (point.at_risk, point.events, point.censored) = (0, 0, 0);
        }
        let spec = FigureSpec::new(many::survival(runs, 3), Layout::print(486.0), Theme::Print);
        let text = caption(&spec);
        assert!(text.contains("Nobody was at risk at any turn.") && !text.contains("after turn"), "{text}");
    }
}

/// The row of the job `failures-k1` began with 7 beside "7/8", and nothing said why.
#[test]
fn episodes_that_were_never_at_risk_are_said_where_n_counts_them() {
    let lost = |mut runs: Vec<figures::SeriesData>, index: usize| {
        runs[index].summary.n += 1;
        runs[index].summary.censored += 1;
        runs
    };
    let caption_of = |figure: Figure| caption(&FigureSpec::new(figure, Layout::print(486.0), Theme::Print));
    let runs = || many::runs(2, 20, 12);
    for figure in [many::survival(runs(), 12), many::first_failures(runs())] {
        let text = caption_of(figure);
        assert!(!text.contains("never at risk"), "{text}");
    }
    let name = runs()[1].label.name.clone();
    for figure in [many::survival(lost(runs(), 1), 12), many::first_failures(lost(runs(), 1))] {
        let text = caption_of(figure);
        let ended = format!("1 of 21 episodes of {name} ended before the verdict of turn 1");
        let note = format!("{ended}: it counts in n, and is never at risk.");
        assert!(text.contains(&note), "{text}");
    }
    let all = (0..5).fold(many::runs(5, 20, 12), lost);
    let text = caption_of(many::survival(all, 12));
    let note = "5 of 105 episodes of 5 runs ended before the verdict of turn 1: they count in n, and are never at risk.";
    assert!(text.contains(note), "{text}");
}

#[test]
fn a_short_caption_counts_and_names_nobody() {
    let mut series = many::runs(13, 25, 9);
    // Runs of equal counts are named together, so each has its own.
    for (events, curve) in (0..).zip(&mut series) {
        (curve.summary.events, curve.summary.censored) = (events, 25 - events);
    }
    let last = series[12].label.name.clone();
    let mut spec = FigureSpec::new(many::survival(series, 9), Layout::panel(600.0), Theme::Print);
    spec.method = method();
    let (short, full) = (short_caption(&spec), caption(&spec));
    assert!(short.contains("13 runs, n = 325, τ = 9"), "{short}");
    assert!(full.contains(" events, ") && !short.contains(" events, "), "{short}\n{full}");
    assert!(full.contains(&last) && !short.contains(&last), "{short}");
    assert!(short.ends_with('.') && short.len() < full.len() / 3, "{short}\n{full}");
    for (name, figure) in kinds::all() {
        let spec =
            FigureSpec { method: method(), ..FigureSpec::new(figure, Layout::panel(600.0), Theme::Light) };
        let short = short_caption(&spec);
        assert!(short.ends_with('.') && !short.contains(".."), "{name}: {short}");
        assert!(matches!(spec.figure, Figure::Table(_)) || short.contains("n = "), "{name}: {short}");
    }
}

#[test]
fn a_short_caption_counts_cells_and_episodes_where_runs_are_pooled() {
    let short = |figure: Figure, counts: Vec<EpisodeCounts>| {
        short_caption(
            &FigureSpec::new(figure, Layout::print(234.0), Theme::Print)
                .with_method(Method { counts, ..Method::default() }),
        )
    };
    // Four cells of a matrix, one of which may pool several runs.
    let cells = ["a × x", "a × y", "b × x", "b × y"].map(|name| counts(name, 20, 17)).to_vec();
    let cell_caption = short(many::matrix(2, 2), cells);
    assert!(cell_caption.contains("4 cells, n = 80") && !cell_caption.contains("run"), "{cell_caption}");
    // Of many runs the method has the sum.
    let run_caption = short(many::failures(3, 2, SharesForm::Auto), vec![counts("13 runs", 325, 300)]);
    assert!(run_caption.contains("n = 325 episodes") && !run_caption.contains("1 run"), "{run_caption}");
}

#[test]
fn a_short_caption_says_what_was_simulated() {
    let mut series = many::runs(3, 20, 9);
    series[0].label.simulated = true;
    let short = |series: &[figures::SeriesData]| {
        short_caption(&FigureSpec::new(
            many::survival(series.to_vec(), 9),
            Layout::panel(600.0),
            Theme::Light,
        ))
    };
    assert!(short(&series).ends_with("1 of 3 simulated."), "{}", short(&series));
    for curve in &mut series {
        curve.label.simulated = true;
    }
    assert!(short(&series).ends_with("All simulated."), "{}", short(&series));
}

#[test]
fn two_runs_that_are_all_are_both() {
    let mut series = many::runs(2, 20, 9);
    for curve in &mut series {
        curve.label.simulated = true;
    }
    let spec = FigureSpec::new(many::survival(series, 9), Layout::panel(600.0), Theme::Light);
    assert!(caption(&spec).contains("Both runs are simulated."), "{}", caption(&spec));
}

fn counts(name: &str, n: u32, events: u32) -> EpisodeCounts {
    EpisodeCounts {
        name: name.to_owned(),
        n,
        events: Some(events),
        censored: Some(n - events),
        ..EpisodeCounts::default()
    }
}

/// Trials that passed were counted among the censored.
#[test]
fn trials_of_one_turn_are_scored_passed_or_failed() {
    let trials = |name: &str, unscored| EpisodeCounts {
        name: name.to_owned(),
        n: 20,
        passed: Some(12),
        unscored: Some(unscored),
        tasks: Some(10),
        ..EpisodeCounts::default()
    };
    let Figure::Paired(mut data) = many::paired(4, 1) else { unreachable!() };
    data.of_rates = true;
    for pair in &mut data.pairs {
        (pair.a_censored, pair.b_censored) = (false, false);
    }
    let spec =
        FigureSpec::new(Figure::Paired(data), Layout::print(234.0), Theme::Print).with_method(Method {
            policy: Some("default".to_owned()),
            counts: vec![trials("one", 3), trials("two", 0)],
            scenarios: Some(4),
            ..Method::default()
        });
    let text = caption(&spec);
    for part in [
        "All trials of one: n = 20 scored trials of 10 tasks, 12 passed, 8 failed, 3 not scored.",
        "All trials of two: n = 20 scored trials of 10 tasks, 12 passed, 8 failed.",
        "4 tasks",
        "The runs share 4 tasks.",
        "Which trials are scored follows censoring policy default.",
    ] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(!text.contains("ensored") && !text.contains("scenario") && !text.contains("event"), "{text}");
    assert!(short_caption(&spec).contains("2 runs, n = 40 scored trials."), "{}", short_caption(&spec));
    let text = toml::to_string(&spec).unwrap();
    assert_eq!(toml::from_str::<FigureSpec>(&text).unwrap(), spec);
}

#[test]
fn runs_with_equal_counts_are_named_together() {
    let text = |each: Vec<EpisodeCounts>| {
        caption(
            &FigureSpec::new(many::bars(2), Layout::print(234.0), Theme::Print)
                .with_method(Method { counts: each, ..Method::default() }),
        )
    };
    let pair = text(vec![counts("A", 25, 24), counts("B", 25, 16), counts("C", 25, 24)]);
    assert!(
        pair.contains("A and C: each n = 25, 24 events, 1 censored. B: n = 25, 16 events, 9 censored."),
        "{pair}"
    );
    // The published results of EvoCode-Bench: 13 models, and most of them failed in all 25 tasks.
    let mut models = vec![counts("Claude", 25, 16), counts("GLM", 25, 24), counts("DeepSeek", 25, 24)];
    models.push(counts("MiniMax", 25, 23));
    models.extend((0..9).map(|i| counts(&format!("model-{i}"), 25, 25)));
    let whole = text(models.clone());
    assert!(
        whole.contains(
            "Claude: n = 25, 16 events, 9 censored. GLM and DeepSeek: each n = 25, 24 events, 1 censored. \
             MiniMax: n = 25, 23 events, 2 censored. The other 9: each n = 25, 25 events, 0 censored."
        ),
        "{whole}"
    );
    assert!(!whole.contains("model-3"), "{whole}");
    let alike = text(models.split_off(4));
    assert!(alike.contains(". All 9: each n = 25, 25 events, 0 censored."), "{alike}");
    // A name keeps its letters.
    assert!(text(vec![counts("all glm", 3, 1)]).contains(". all glm: n = 3, 1 event, 2 censored."));
}

#[test]
fn the_vertical_ticks_are_named_whatever_the_intervals_are() {
    let Figure::SurvivalComparison(data) = many::survival(many::runs(1, 20, 9), 9) else { unreachable!() };
    let spec = FigureSpec::new(Figure::SurvivalComparison(data), Layout::print(234.0), Theme::Print)
        .with_method(Method { intervals: Some("given intervals".to_owned()), ..Method::default() });
    assert!(
        caption(&spec).contains("given intervals. Vertical ticks mark censored episodes."),
        "{}",
        caption(&spec)
    );
}

#[test]
fn a_front_of_pass_rates_is_called_so() {
    let Figure::Pareto(mut data) = many::pareto(3, figures::Scale::Linear) else { unreachable!() };
    for point in &mut data.points {
        (point.mean, point.ci_low, point.ci_high) = (Some(50.0), Some(9.5), Some(90.5));
    }
    (data.tau, data.measure, data.measure_unit) = (None, Some("Pass rate".to_owned()), Some("%".to_owned()));
    let spec = FigureSpec::new(Figure::Pareto(data), Layout::print(486.0), Theme::Print);
    let drawing = draw(&spec);
    assert!(drawing.svg.contains(">Pass rate (%)<") && !drawing.svg.contains("stamina ("), "{}", drawing.svg);
    assert!(drawing.summary.starts_with("Pass rate against"), "{}", drawing.summary);
    assert!(drawing.summary.contains("pass rate 50.00 % [9.50, 90.50]"), "{}", drawing.summary);
    assert!(!drawing.summary.to_lowercase().contains("mean stamina"), "{}", drawing.summary);
    assert!(caption(&spec).starts_with("Pass rate against cost per episode"), "{}", caption(&spec));
    let table = figures::table::data_table(&spec.figure);
    assert!(table.to_csv().lines().next().unwrap().contains("measure"), "{}", table.to_csv());
}
