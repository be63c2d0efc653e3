//! Tables for tests of drawings.

use figures::Figure;
use figures::table::{Column, Table, known, maybe};

use super::many::{HARNESSES, MODELS, ODD_NAMES, Random};

/// Runs with the columns of a paper.
pub fn runs(count: usize) -> Figure {
    let [low, high] = Column::interval("", 2);
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("n", "n"),
        Column::integer("events", "Failed"),
        Column::number("mean_stamina", "Mean stamina", 2).unit("turns"),
        low,
        high,
        Column::p("p_holm", "p (Holm)"),
    ];
    let mut table = Table::new("runs", "Runs", columns);
    let mut random = Random::new(9);
    for i in 0..count {
        let mean = 40.0 * random.unit() * random.unit();
        table.push(vec![
            known(MODELS[i % MODELS.len()]),
            known(20_u32),
            known(random.below(21)),
            maybe((i != 2).then_some(mean)),
            maybe((i != 2).then_some(mean * 0.7)),
            maybe((i != 2).then_some(mean * 1.3)),
            maybe((i != 0).then_some(random.unit().powi(6))),
        ]);
    }
    table.notes.push(
        "Mean stamina is the restricted mean over the first 40 turns, with Greenwood's 95 % interval; censoring policy: default."
            .to_owned(),
    );
    Figure::Table(table)
}

/// More columns than fit a column of a paper.
pub fn wide(count: usize) -> Figure {
    let [low, high] = Column::interval("", 2);
    let [drawn_low, drawn_high] = Column::interval_by("bootstrap_", "bootstrap", 2);
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("harness", "Harness"),
        Column::text("model", "Model"),
        Column::flag("simulated", "Simulated"),
        Column::integer("n", "n"),
        Column::integer("events", "Failed"),
        Column::integer("censored", "Censored"),
        Column::number("mean_stamina", "Mean stamina", 2).unit("turns"),
        low,
        high,
        Column::integer("tau", "τ"),
        Column::integer("median", "Median").missing("not reached"),
        drawn_low,
        drawn_high,
        Column::number("tokens_per_turn", "Tokens per turn", 0),
        Column::number("seconds_per_turn", "Time per turn", 0).unit("s"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::number("cost_per_survived_turn", "Cost per survived turn", 3).unit("US$"),
    ];
    let mut table = Table::new("runs-wide", "Runs", columns);
    let mut random = Random::new(4);
    for i in 0..count {
        let (harness, model) = (HARNESSES[i % HARNESSES.len()], MODELS[i % MODELS.len()]);
        let mean = 100.0 * random.unit();
        table.push(vec![
            known(format!("{model} · {harness} · {i}")),
            known(harness),
            known(model),
            known(i % 3 == 0),
            known(20_u32),
            known(random.below(21)),
            known(random.below(4)),
            known(mean),
            known(mean * 0.8),
            known(mean * 1.2),
            known(100_u32),
            maybe((i != 1).then_some(12_u32)),
            known(mean * 0.75),
            known(mean * 1.3),
            known(120_000.0 * random.unit()),
            known(900.0 * random.unit()),
            maybe((i != 2).then_some(80.0 * random.unit())),
            maybe((i != 2).then_some(2.0 * random.unit())),
        ]);
    }
    table.notes.push("A run on its own has no other to be compared with.".to_owned());
    Figure::Table(table)
}

/// Difficult names: 120 letters that differ in the middle, other scripts, hostile ones; and a text of `sentences` sentences.
pub fn odd(sentences: usize) -> Figure {
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("message", "Message").missing("none"),
        Column::integer("n", "Episodes"),
        Column::number("mean", "Mean stamina", 1),
    ];
    let mut table = Table::new("odd", "Odd <names> & \"signs\"", columns);
    let long = |i: u32| {
        format!("{}-{i}-{}", "the-same-beginning-of-every-name".repeat(2), "and-the-same-end".repeat(3))
    };
    let message = "expected status 409 of POST /orders/{id}/items, and found 200: the guard was ignored. "
        .repeat(sentences);
    let names = ODD_NAMES.iter().map(|name| (*name).to_owned()).chain([long(1), long(2)]);
    for (i, name) in (0_u32..).zip(names) {
        let message =
            if i == 3 { Some(message.clone()) } else { (i % 2 == 0).then(|| "wrong status".to_owned()) };
        table.push(vec![known(name), maybe(message), known(1_234_567 * i), known(f64::from(i) - 2.25)]);
    }
    Figure::Table(table)
}
