//! The tables of a comparison that are of two members each: tests, and scenarios that both played.

use std::collections::BTreeSet;

use figures::table::{Column, Table, known, maybe};
use model::counted;

use super::super::paired_turns::counted_turns;
use super::comparison::ends;
use super::{ScenarioNames, first_turns, for_machines_if, name, parts, scenario_columns};
use crate::api::{ApiError, ComparedMember, Comparison};
use crate::compare::members::Pool;
use crate::compare::{in_common, shorter};

/// The tests of a comparison.
pub(super) fn pairs(data: &Comparison) -> Table {
    let [low, high] = Column::interval("difference_", 2);
    let [drawn_low, drawn_high] = Column::interval_by("difference_bootstrap_", "bootstrap", 2);
    let [ratio_low, ratio_high] = Column::interval("ratio_", 2);
    let [paired_low, paired_high] = Column::interval("paired_", 2);
    // As the figures name it.
    let holm_heading = data
        .holm_pairs()
        .map_or_else(|| "p (log-rank, Holm)".to_owned(), |pairs| format!("p (log-rank, Holm over {pairs})"));
    let one_turn = data.of_one_turn;
    let [rate_low, rate_high] = Column::interval("pass_rate_difference_", 3);
    let unit = if one_turn { "task" } else { "scenario" };
    let rates = vec![
        Column::number("pass_rate_difference", "Difference of pass rates", 3).missing("n/a"),
        rate_low,
        rate_high,
    ];
    let means = vec![Column::number("difference", "Difference", 2).unit("turns").missing("n/a"), low, high];
    let p_of_means = vec![Column::p("difference_p", "p (difference)")];
    let paired_heading = if one_turn { "Paired difference of pass rates" } else { "Paired difference" };
    let paired_mean =
        Column::number("paired_mean", paired_heading, if one_turn { 3 } else { 2 }).missing("n/a");
    let mut columns = vec![Column::text("a", "Run"), Column::text("b", "Against")];
    columns.extend(for_machines_if(!one_turn, rates));
    columns.extend(for_machines_if(one_turn, means));
    columns.extend([drawn_low, drawn_high]);
    columns.extend(for_machines_if(one_turn, p_of_means));
    columns.extend([
        Column::number("ratio", "Ratio", 2).missing("n/a"),
        ratio_low,
        ratio_high,
        Column::number("logrank_chi2", "Log-rank χ²", 2).missing("n/a"),
        Column::integer("logrank_df", "df").missing("n/a"),
        Column::p("logrank_p", "p (log-rank)"),
        Column::p("logrank_p_holm", &holm_heading),
        Column::p("logrank_p_permutation", "p (permutation)"),
        Column::p("logrank_p_stratified", &format!("p (stratified by {unit})")),
        Column::integer("shared_scenarios", &format!("Shared {unit}s")).missing("n/a"),
        Column {
            for_machines: one_turn,
            ..Column::integer("paired_tau", "Paired τ").unit("turns").missing("n/a")
        },
        if one_turn { paired_mean } else { paired_mean.unit("turns") },
        paired_low,
        paired_high,
        Column::p("paired_p", "p (paired t)"),
        Column::p("paired_p_sign_flip", "p (sign flip)"),
    ]);
    let mut table = Table::new("pairs", "Comparisons of two", columns);
    for pair in &data.pairs {
        let [value, low, high, p] = parts(pair.difference).map(maybe);
        let [rate, rate_low, rate_high, _] = parts(pair.pass_rate_difference).map(maybe);
        let [ratio, ratio_low, ratio_high, _] = parts(pair.ratio).map(maybe);
        let paired = pair.paired.as_ref();
        let [drawn_low, drawn_high] = ends(pair.difference_bootstrap);
        table.push(vec![
            name(data, pair.a),
            name(data, pair.b),
            rate,
            rate_low,
            rate_high,
            value,
            low,
            high,
            drawn_low,
            drawn_high,
            p,
            ratio,
            ratio_low,
            ratio_high,
            maybe(pair.logrank.map(|t| t.chi2)),
            maybe(pair.logrank.map(|t| t.df)),
            maybe(pair.logrank.map(|t| t.p)),
            maybe(pair.p_holm),
            maybe(pair.logrank_permutation.map(|t| t.p)),
            maybe(pair.logrank_stratified.map(|t| t.p)),
            // Of members with runs in common nothing is paired, whatever they share.
            maybe(paired.map(|p| p.n).or((pair.in_both == 0).then_some(0))),
            maybe(paired.map(|p| p.tau)),
            maybe(paired.map(|p| p.mean)),
            maybe(paired.and_then(|p| p.ci_low)),
            maybe(paired.and_then(|p| p.ci_high)),
            maybe(paired.and_then(|p| p.p)),
            maybe(paired.and_then(|p| p.p_sign_flip)),
        ]);
    }
    let explanation = if one_turn {
        "Differences and ratios of pass rates are run against reference".to_owned()
    } else {
        "Differences and ratios of mean stamina are run against reference over the first τ turns".to_owned()
    };
    table.notes.push(format!("{explanation}; the bootstrap draws {unit}s (seed {}).", data.seed));
    if data.pairs.iter().any(|pair| pair.clustered) {
        let repeats_of = if one_turn { "trials of a task" } else { "episodes of a scenario" };
        table.notes.push(format!(
            "Where a run has several {repeats_of} they are alike: intervals of differences and ratios and the log-rank test are clustered."
        ));
    }
    if data.pairs.iter().any(|pair| pair.paired.as_ref().is_some_and(|paired| paired.n > 1)) {
        table.notes.push(format!(
            "Differences and ratios are unpaired; on shared {unit}s the paired difference is the one to read first."
        ));
    }
    table.notes.extend(shorter(data));
    table.notes.extend(in_common(data));
    table
}

/// Over which turns the staminas of these pairs are, where an episode passed more of them, as the figure names it; `None` = over
/// every turn.
fn in_brackets(data: &Comparison, pools: &[Pool], is_asked: &dyn Fn(u32, u32) -> bool) -> Option<String> {
    let asked_pairs = || data.pairs.iter().filter(move |pair| is_asked(pair.a, pair.b));
    let horizons: BTreeSet<u32> =
        asked_pairs().filter_map(|pair| pair.paired.as_ref()).map(|paired| paired.tau).collect();
    asked_pairs().find_map(|pair| counted_turns(data, pair.a, pools))?;
    // Each pair has its own horizon, which a note names.
    let [tau] = horizons.into_iter().collect::<Vec<u32>>()[..] else {
        return Some("(of the turns that count)".to_owned());
    };
    Some(format!("(of {})", first_turns(Some(tau))))
}

/// The reference and another member, or every other, on the scenarios that both played.
pub(super) fn paired(
    data: &Comparison,
    other: Option<u32>,
    names: &ScenarioNames,
    pools: &[Pool],
) -> Result<Table, ApiError> {
    if let Some(other) =
        other.filter(|other| *other == data.reference || *other as usize >= data.members.len())
    {
        return Err(ApiError::new(
            "export.paired",
            format!("There is no other member {other} in this comparison"),
        )
        .hint(format!("Members are counted from 0; {} is the reference", data.reference)));
    }
    let one_turn = data.of_one_turn;
    let measure = if one_turn { "Pass rate" } else { "Stamina" };
    let unit = if one_turn { "task" } else { "scenario" };
    let number = |key: &str, title: &str| {
        if one_turn { Column::number(key, title, 3) } else { Column::number(key, title, 2).unit("turns") }
    };
    let is_asked = |a: u32, b: u32| b == data.reference && other.is_none_or(|other| other == a);
    let cut = in_brackets(data, pools, &is_asked);
    let value = |key: &str, heading: &str| match &cut {
        // The brackets have the unit.
        Some(cut) => Column::number(key, &format!("{heading} {cut}"), 2),
        None => number(key, heading),
    };
    let [scenario, title] = scenario_columns(one_turn);
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("against", "Against"),
        scenario,
        title,
        value("stamina", measure),
        Column::flag("at_least", "At least"),
        value("reference_stamina", &format!("{measure} of the reference")),
        Column::flag("reference_at_least", "At least"),
        number("difference", "Difference"),
        number("adjusted", "Adjusted difference"),
    ];
    let mut table = Table::new("paired", &format!("{measure} by {unit}, of two"), columns);
    let names = names.in_all_sets();
    for pair in data.pairs.iter().filter(|pair| is_asked(pair.a, pair.b)) {
        let text =
            |index: u32| data.members.get(index as usize).map(ComparedMember::marked).unwrap_or_default();
        let (a, b) = (text(pair.a), text(pair.b));
        let Some(paired) = &pair.paired else {
            table.notes.push(pair.not_paired(&a, &b, one_turn));
            continue;
        };
        for row in &paired.scenarios {
            table.push(vec![
                known(a.as_str()),
                known(b.as_str()),
                known(row.scenario.as_str()),
                known(names.get(row.scenario.as_str()).copied().unwrap_or(&row.scenario)),
                known(row.a),
                known(row.a_at_least),
                known(row.b),
                known(row.b_at_least),
                known(row.a - row.b),
                known(row.adjusted),
            ]);
        }
        let shown = |share: f64| {
            let text = if one_turn { format!("{:.1}", 100.0 * share) } else { format!("{share:.2}") };
            text.replace('-', "−")
        };
        let interval = match (paired.ci_low, paired.ci_high) {
            (Some(low), Some(high)) => {
                format!(" (95 % CI {} to {}, {})", shown(low), shown(high), figures::p_value(paired.p))
            }
            _ if paired.n == 1 => format!(" (no interval: one {unit})"),
            _ => " (no interval: no variation)".to_owned(),
        };
        let sign = if paired.mean < 0.0 { "" } else { "+" };
        let mean = format!("{sign}{} {}", shown(paired.mean), if one_turn { "pp" } else { "turns" });
        let scenarios = counted(paired.n.into(), &format!("shared {unit}"));
        let turns = match paired.tau {
            _ if one_turn => String::new(),
            tau => format!(" and the first {}", counted(tau.into(), "turn")),
        };
        table.notes.push(format!(
            "{a} − {b}: on average {mean}{interval}, over {scenarios}{turns}{}.",
            paired.observed_in_words(one_turn).map(|observed| format!("; {observed}")).unwrap_or_default()
        ));
    }
    table.notes.push(if one_turn {
        "A trial that was stopped from outside is not scored, and in no pass rate.".to_owned()
    } else {
        "Stamina is that of the turns which count; where an episode was censored before the last of them, it is at least that.".to_owned()
    });
    Ok(table)
}
