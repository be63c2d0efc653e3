//! `stamina compare`.

use std::process::ExitCode;

use model::{amount_in_dollars, cost_in_words, counted};
use serde_json::{Value, json};
use workbench::Workbench;
use workbench::api::{ApiError, ChiSquare, ComparedMember, ComparedPair, Comparison, Pairs};
use workbench::{is_about_scores, p_number, p_value};

use super::turn_scores::{ScoredLine, scores_text};
use crate::members::request;
use crate::numbers::{
    chi_square, estimate, interval, mean_stamina, notes, number, percent, percent_interval, score_text,
    unknown,
};
use crate::print::{print, print_json};
use crate::{json, text_table};

/// `stamina compare`.
pub(crate) fn compare(
    workbench: &Workbench,
    runs: &[String],
    reference: Option<&str>,
    all_pairs: bool,
    tau: Option<u32>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let pairs = if all_pairs { Pairs::All } else { Pairs::Reference };
    let comparison = workbench.compare_runs(request(workbench, runs, reference, pairs, tau)?)?;
    if as_json {
        print_json(&comparison_json(&comparison));
    } else {
        print(&comparison_text(&comparison));
    }
    Ok(ExitCode::SUCCESS)
}

fn comparison_json(comparison: &Comparison) -> Value {
    let id = |index: u32| comparison.members.get(index as usize).map(|m| m.id.as_str());
    let run = |m: &ComparedMember| {
        json!({
            "id": m.id,
            "name": m.name,
            "runs": m.runs,
            "harness": m.harness,
            "model": m.model,
            "benchmark": m.benchmark.0,
            "n": m.stamina.n,
            "events": m.stamina.events,
            "censored": m.stamina.censored,
            "mean_stamina": mean_stamina(&m.stamina),
            "pass_rate": json::pass_rate(m.pass_rate.as_ref()),
            "pass_at_k": json::by_k(m.pass_rate.as_ref().map(|rate| &rate.pass_at_k)),
            "pass_hat_k": json::by_k(m.pass_rate.as_ref().map(|rate| &rate.pass_hat_k)),
            "pass_at_k_ci": json::intervals_by_k(m.pass_rate.as_ref().map(|rate| &rate.pass_at_k_ci)),
            "pass_hat_k_ci": json::intervals_by_k(m.pass_rate.as_ref().map(|rate| &rate.pass_hat_k_ci)),
            "mean_stamina_bootstrap": m.stamina_bootstrap.map(|(low, high)| json!({ "ci_low": low, "ci_high": high })),
            "median": m.stamina.median.time(),
            "median_reached": m.stamina.median.is_reached(),
            "censored_failed": mean_stamina(&m.censored_failed),
            "censored_dropped": mean_stamina(&m.censored_dropped),
            "early_censored": m.early_censored,
            "score": m.score,
            "scores": json::turn_scores(m.scores.as_ref()),
            "spent": m.used(),
            "simulated": m.simulated,
            "baseline": m.baseline,
            "caveats": m.caveats,
            "doubts": m.doubts,
        })
    };
    let pair = |p: &ComparedPair| {
        let mut logrank = chi_square(p.logrank);
        if let Value::Object(map) = &mut logrank {
            map.insert("p_holm".to_owned(), json!(p.p_holm));
        }
        json!({
            "a": id(p.a),
            "b": id(p.b),
            "in_both": p.in_both,
            "clustered": p.clustered,
            "logrank": logrank,
            "logrank_permutation": p.logrank_permutation,
            "logrank_stratified": chi_square(p.logrank_stratified),
            "difference": estimate(p.difference),
            "difference_bootstrap": p.difference_bootstrap.map(|(low, high)| json!({ "ci_low": low, "ci_high": high })),
            "pass_rate_difference": p.pass_rate_difference.map(|d| json!({ "value": d.value, "ci_low": d.ci_low, "ci_high": d.ci_high })),
            "ratio": estimate(p.ratio),
            "paired": p.paired.as_ref().map(|paired| json!({
                "n": paired.n,
                "tau": paired.tau,
                "mean": paired.mean,
                "ci_low": paired.ci_low,
                "ci_high": paired.ci_high,
                "p": paired.p,
                "p_sign_flip": paired.p_sign_flip,
                "wins": { "a": paired.wins.0, "same": paired.wins.1, "b": paired.wins.2, "undecided": paired.undecided },
                "scenarios": paired.scenarios,
            })),
        })
    };
    json!({
        "differences": comparison.differences,
        "equal": comparison.equal.iter().map(|(setting, value)| json!({ "setting": setting, "value": value })).collect::<Vec<_>>(),
        "comparability": comparison.comparability,
        "of_one_turn": comparison.of_one_turn,
        "tau": comparison.tau,
        "shared_scenarios": comparison.shared_scenarios,
        "reference": id(comparison.reference),
        "holm_pairs": comparison.pairs.iter().filter(|pair| pair.p_holm.is_some()).count(),
        "runs": comparison.members.iter().map(run).collect::<Vec<_>>(),
        "pairs": comparison.pairs.iter().map(pair).collect::<Vec<_>>(),
        "overlaps": comparison.overlaps.iter().map(|(a, b, runs)| json!({ "a": id(*a), "b": id(*b), "runs": runs })).collect::<Vec<_>>(),
        "overall": chi_square(comparison.overall),
        "overall_clustered": comparison.overall_clustered,
        "no_overall": comparison.no_overall,
        "overall_stratified": chi_square(comparison.overall_stratified),
        "no_overall_stratified": comparison.no_overall_stratified,
        "published_scores": comparison.published_scores,
        "cautions": comparison.cautions,
        "policy": comparison.policy,
        "seed": comparison.seed,
    })
}

/// A horizon in words. Where nobody was at risk there is none.
pub(super) fn horizon(tau: Option<u32>) -> String {
    tau.map_or_else(unknown, |tau| counted(tau.into(), "turn"))
}

const fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn comparison_text(comparison: &Comparison) -> String {
    let members = &comparison.members;
    let mut text = String::new();
    if comparison.differences.is_empty() {
        text.push_str("No settings differ.\n");
    } else {
        let mut head = vec!["setting", "mark"];
        let names: Vec<String> = members.iter().map(ComparedMember::marked).collect();
        head.extend(names.iter().map(String::as_str));
        head.push("what it means");
        let rows: Vec<Vec<String>> = comparison
            .differences
            .iter()
            .map(|d| {
                let mut row = vec![d.setting.clone(), d.mark().to_owned()];
                row.extend(d.values.iter().map(|value| value.clone().unwrap_or_else(unknown)));
                row.push(d.note.clone());
                row
            })
            .collect();
        text.push_str(&text_table::table(&head, &vec![false; head.len()], &rows));
    }
    let scenario = if comparison.of_one_turn { "task" } else { "scenario" };
    let tau = format!(" τ = {}.", horizon(comparison.tau));
    let in_words =
        |shared: u32| format!(" {} {} shared.", counted(shared.into(), scenario), are(shared.into()));
    let shared = comparison.known_shared_scenarios().map(in_words).unwrap_or_default();
    text.push_str(&format!(
        "{} {} the same.{shared}{}\n\n",
        counted(comparison.equal.len() as u64, "setting"),
        are(comparison.equal.len() as u64),
        if comparison.of_one_turn { "" } else { &tau }
    ));
    if comparison.of_one_turn {
        text.push_str(&pass_rates_text(members));
    } else {
        text.push_str(&staminas_text(members));
    }
    text.push_str(&pairs_text(comparison));
    let test = |label: &str, test: ChiSquare| {
        format!("{label} χ² = {:.2}, {} degrees of freedom, {}\n", test.chi2, test.df, p_value(Some(test.p)))
    };
    if let Some(overall) = comparison.overall.filter(|_| members.len() > 2) {
        let clustered =
            if comparison.overall_clustered { format!(", clustered by {scenario},") } else { String::new() };
        text.push_str(&test(&format!("\nAll together: log-rank{clustered}"), overall));
    }
    if let Some(stratified) = comparison.overall_stratified.filter(|_| members.len() > 2) {
        text.push_str(&test(&format!("Stratified by {scenario}:"), stratified));
    }
    if let Some(reason) = comparison.no_overall.as_ref().filter(|_| members.len() > 2) {
        text.push_str(&format!("\nNo log-rank test over all: {reason}\n"));
    }
    text.push_str(&member_scores_text(comparison));
    notes(&mut text, &comparison.cautions);
    text.push_str(&caveats_text(members));
    text
}

/// Scores of turns that are graded by themselves, of each member.
fn member_scores_text(comparison: &Comparison) -> String {
    let members = comparison.members.iter();
    let lines: Vec<ScoredLine<'_>> = members
        .map(|member| ScoredLine {
            names: vec![member.marked()],
            scores: member.scores.as_ref(),
            is_doubtful: has_doubtful_score(member),
        })
        .collect();
    let has_published = comparison.published_scores.iter().any(|number| number.metric == "mt4");
    scores_text(&["run"], &lines, has_published)
}

/// Whether a doubt of a member is about its scores.
fn has_doubtful_score(member: &ComparedMember) -> bool {
    member.doubts.iter().any(|doubt| is_about_scores(doubt))
}

/// The score of a member, with a star where a doubt is about scores. The lines below the tables say which.
fn starred_score(member: &ComparedMember) -> String {
    let star = if member.score.is_some() && has_doubtful_score(member) { "*" } else { "" };
    score_text(member.score) + star
}

/// What makes numbers of members less sure, and what must be known of them, each sentence once with those that it is of.
fn caveats_text(members: &[ComparedMember]) -> String {
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    for member in members {
        // What is missing of a member is both a doubt and a caveat.
        let is_new = |caveat: &&String| !member.doubts.contains(caveat);
        for sentence in member.doubts.iter().chain(member.caveats.iter().filter(is_new)) {
            match remarks.iter_mut().find(|(one, _)| one == sentence) {
                Some((_, names)) => names.push(&member.name),
                None => remarks.push((sentence, vec![&member.name])),
            }
        }
    }
    let line = |(caveat, names): &(&str, Vec<&str>)| match names.len() {
        2 if members.len() == 2 => format!("Both members: {caveat}\n"),
        all if all == members.len() && all > 1 => format!("All {all} members: {caveat}\n"),
        _ => format!("{}: {caveat}\n", names.join(", ")),
    };
    remarks.iter().map(line).collect()
}

/// The table of members of one turn.
fn pass_rates_text(members: &[ComparedMember]) -> String {
    let rows: Vec<Vec<String>> = members
        .iter()
        .map(|m| {
            let rate = m.pass_rate.clone().unwrap_or_default();
            vec![
                m.marked(),
                rate.tasks.to_string(),
                rate.trials.to_string(),
                rate.passed.to_string(),
                rate.trials.saturating_sub(rate.passed).to_string(),
                rate.unscored.to_string(),
                percent(rate.value),
                percent_interval(rate.ci_low, rate.ci_high),
                rate.interval.map_or_else(|| "n/a".to_owned(), |method| method.in_words().to_owned()),
                starred_score(m),
                cost(m),
            ]
        })
        .collect();
    let head = [
        "run",
        "tasks",
        "trials",
        "passed",
        "failed",
        "not scored",
        "pass rate",
        "95 % CI",
        "interval",
        "score",
        "cost ($)",
    ];
    text_table::table(&head, &[false, true, true, true, true, true, true, true, false, true, true], &rows)
}

/// What a member cost, as far as it is known.
fn cost(member: &ComparedMember) -> String {
    let (known, total) = (member.spent.cost_known, member.stamina.n);
    cost_in_words(member.spent.cost_usd, member.simulated, |sum| {
        let amount = amount_in_dollars(sum);
        if known < total { format!("≥ {amount} (known for {known} of {total})") } else { amount }
    })
}

/// Dollars for each turn survived, or why there is no such number.
fn cost_per_survived_turn(member: &ComparedMember) -> String {
    let spent = &member.spent;
    if !member.simulated && spent.cost_per_survived_turn.is_none() {
        return spent.instead_of_cost_per_survived_turn(false).to_owned();
    }
    cost_in_words(spent.cost_per_survived_turn, member.simulated, amount_in_dollars)
}

fn staminas_text(members: &[ComparedMember]) -> String {
    let rows: Vec<Vec<String>> = members
        .iter()
        .map(|m| {
            vec![
                m.marked(),
                m.stamina.n.to_string(),
                m.stamina.events.to_string(),
                m.stamina.censored.to_string(),
                number(m.stamina.mean, 2),
                interval(m.stamina.ci_low, m.stamina.ci_high),
                m.stamina.median.to_string(),
                starred_score(m),
                cost(m),
                cost_per_survived_turn(m),
            ]
        })
        .collect();
    text_table::table(
        &[
            "run",
            "n",
            "events",
            "censored",
            "stamina",
            "95 % CI",
            "median",
            "score",
            "cost ($)",
            "$ per survived turn",
        ],
        &[false, true, true, true, true, true, true, true, true, true],
        &rows,
    )
}

/// The table of tested pairs. For members of one turn, differences are of pass rates.
fn pairs_text(comparison: &Comparison) -> String {
    let members = &comparison.members;
    let mut text = String::new();
    if !comparison.pairs.is_empty() {
        text.push('\n');
        let name = |index: u32| members.get(index as usize).map_or_else(String::new, ComparedMember::marked);
        // Of pass rates, in percentage points.
        let one = comparison.of_one_turn;
        let difference = |p: &ComparedPair| if one { p.pass_rate_difference } else { p.difference };
        let shown = |value: f64| if one { format!("{:+.1}", 100.0 * value) } else { format!("{value:+.2}") };
        let ends = |low: Option<f64>, high: Option<f64>| match (low, high) {
            (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
            _ => "n/a".to_owned(),
        };
        let few = comparison.pairs.iter().any(|p| p.logrank_permutation.is_some());
        let shared = comparison.pairs.iter().any(|p| p.logrank_stratified.is_some());
        let rows: Vec<Vec<String>> = comparison
            .pairs
            .iter()
            .map(|p| {
                let paired = p.paired.as_ref();
                let mut row = vec![
                    format!("{} − {}", name(p.a), name(p.b)),
                    difference(p).map_or_else(|| "n/a".to_owned(), |d| shown(d.value)),
                    difference(p).map_or_else(|| "n/a".to_owned(), |d| ends(d.ci_low, d.ci_high)),
                    p.ratio.map_or_else(|| "n/a".to_owned(), |r| format!("{:.2}", r.value)),
                    p.ratio.map_or_else(|| "n/a".to_owned(), |r| interval(r.ci_low, r.ci_high)),
                    p_number(p.logrank.map(|l| l.p)),
                    p_number(p.p_holm),
                ];
                row.extend(few.then(|| p_number(p.logrank_permutation.map(|test| test.p))));
                row.extend(shared.then(|| p_number(p.logrank_stratified.map(|test| test.p))));
                row.extend([
                    paired.map_or_else(
                        || if p.in_both > 0 { "n/a".to_owned() } else { "0".to_owned() },
                        |p| p.n.to_string(),
                    ),
                    paired.map_or_else(|| "n/a".to_owned(), |p| shown(p.mean)),
                    paired.map_or_else(|| "n/a".to_owned(), |p| ends(p.ci_low, p.ci_high)),
                    p_number(paired.and_then(|p| p.p)),
                    p_number(paired.and_then(|p| p.p_sign_flip)),
                ]);
                row
            })
            .collect();
        let holm = comparison
            .holm_pairs()
            .map_or_else(|| "Holm p".to_owned(), |pairs| format!("p (Holm over {pairs})"));
        let (of_means, of_pairs) =
            if one { ("difference (pp)", "paired (pp)") } else { ("difference", "paired") };
        let mut head = vec!["pair", of_means, "95 % CI", "ratio", "95 % CI", "log-rank p", holm.as_str()];
        head.extend(few.then_some("permutation p"));
        head.extend(shared.then_some("stratified p"));
        head.extend(["shared", of_pairs, "95 % CI", "paired t p", "sign-flip p"]);
        let mut right = vec![true; head.len()];
        right[0] = false;
        text.push_str(&text_table::table(&head, &right, &rows));
        if comparison.pairs.iter().any(|pair| pair.paired.as_ref().is_some_and(|paired| paired.n > 1)) {
            let scenarios = if one { "tasks" } else { "scenarios" };
            text.push_str(&format!(
                "Difference and ratio are unpaired. On shared {scenarios} read the paired difference first.\n"
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizon_of_nobody_is_unknown() {
        assert_eq!([None, Some(1), Some(9)].map(horizon), ["unknown", "1 turn", "9 turns"]);
    }
}
