//! One figure of every kind, for tests over all kinds.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of them")]

use figures::{Figure, Scale, SharesForm};

use crate::cases::{self, many, tables};

/// Whether everything is tested, and not only what `npm test` has time for.
pub fn is_every_way() -> bool {
    std::env::var_os("STAMINA_EVERY_WAY").is_some()
}

/// Every kind, and its forms with other drawings, each with a name.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("survival", Figure::Survival(cases::normal())),
        ("first-failures", Figure::FirstFailures(cases::normal())),
        ("survival-1", many::survival(many::runs(1, 20, 12), 12)),
        ("survival-8", many::survival(many::runs(8, 20, 100), 60)),
        ("survival-odd", many::survival(many::odd_names(), 12)),
        ("first-failures-4", many::first_failures(many::runs(4, 20, 40))),
        ("differences", many::differences(7)),
        ("ratios", many::ratios()),
        ("paired", many::paired(20, 40)),
        ("bars", many::bars(6)),
        ("pareto", many::pareto(8, Scale::Log)),
        ("pareto-linear", many::pareto(4, Scale::Linear)),
        ("plane", many::plane(9)),
        ("matrix", many::matrix(5, 5)),
        ("retries", many::retries(3)),
        ("failures-stacked", many::failures(5, 4, SharesForm::Stacked)),
        ("failures-side-by-side", many::failures(9, 3, SharesForm::SideBySide)),
        ("table", tables::runs(6)),
        ("table-wide", tables::wide(5)),
        ("table-odd", tables::odd(2)),
    ]
}

/// A comparison of two runs, one of which has this name.
pub fn named(name: &str) -> Figure {
    let mut runs = many::runs(2, 10, 8);
    name.clone_into(&mut runs[1].label.name);
    many::survival(runs, 8)
}
