//! Tests of two members, from `analysis` to the edge.

use analysis::bootstrap::BootstrapEstimate;
use analysis::logrank::LogRank;
use analysis::paired::{PairedDifferences, PairedScenario};
use analysis::pass_rate::difference;

use super::sets::ScenarioSets;
use crate::api::{
    ChiSquare, ComparedMember, ComparedPair, Comparison, Estimate, PairedComparison, PairedScenarioRow,
    PermutationTest,
};

/// A pair of members, with how many runs are in both.
pub(crate) fn pair(pair: &analysis::compare::Pair, in_both: u32) -> ComparedPair {
    ComparedPair {
        in_both,
        a: pair.a as u32,
        b: pair.b as u32,
        clustered: pair.clustered,
        logrank: pair.logrank.as_ref().and_then(chi_square),
        p_holm: pair.p_holm,
        logrank_permutation: pair.permutation.map(|test| PermutationTest {
            p: test.p,
            arrangements: test.arrangements,
            exact: test.exact,
        }),
        logrank_stratified: pair.stratified.as_ref().and_then(chi_square),
        difference: pair.difference,
        difference_bootstrap: pair.difference_bootstrap.and_then(|b| b.ci_low.zip(b.ci_high)),
        pass_rate_difference: None,
        ratio: pair.ratio,
        paired: pair.paired.as_ref().map(paired),
    }
}

/// Differences of pass rates of members that play one turn, where they have no runs in common.
pub(crate) fn compare_pass_rates(data: &mut Comparison) {
    let rate = |member: u32| data.members.get(member as usize).and_then(|m| m.pass_rate.as_ref());
    let differences: Vec<Option<Estimate>> = data
        .pairs
        .iter()
        .map(|pair| {
            let (value, interval) = difference(rate(pair.a)?, rate(pair.b)?).filter(|_| pair.in_both == 0)?;
            let (ci_low, ci_high) = (interval.map(|ends| ends.0), interval.map(|ends| ends.1));
            Some(Estimate { value, ci_low, ci_high, p: None })
        })
        .collect();
    for (pair, difference) in data.pairs.iter_mut().zip(differences) {
        pair.pass_rate_difference = difference;
    }
}

/// The mean of at least one number.
fn mean_of(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len() as f64;
    numbers.sum::<f64>() / count
}

/// A log-rank test; `None` = it has no degree of freedom.
pub(crate) fn chi_square(test: &LogRank) -> Option<ChiSquare> {
    (test.df > 0 && test.p.is_finite()).then_some(ChiSquare { chi2: test.chi2, df: test.df, p: test.p })
}

/// `A and B: 1 run is in both`.
pub(crate) fn in_common(data: &Comparison, (a, b, runs): (u32, u32, u32)) -> String {
    let name = |index: u32| data.members.get(index as usize).map(ComparedMember::marked).unwrap_or_default();
    in_both(&name(a), &name(b), runs)
}

/// The same of members of these names.
pub(crate) fn in_both(a: &str, b: &str, runs: u32) -> String {
    let runs = if runs == 1 {
        "1 run, or trials of it, is in both".to_owned()
    } else {
        format!("{runs} runs, or trials of them, are in both")
    };
    format!("{a} and {b}: {runs}")
}

/// An estimate with its interval by bootstrap, which has no p.
pub(crate) fn bootstrapped(b: &BootstrapEstimate) -> Estimate {
    Estimate { value: b.value, ci_low: b.ci_low, ci_high: b.ci_high, p: None }
}

/// Which of two lasted longer in a scenario: 1 = a, 0 = both the same, −1 = b. `None` = a lower bound leaves it open.
fn longer_member(scenario: &PairedScenario) -> Option<i8> {
    let difference = scenario.a_observed - scenario.b_observed;
    // Sums of sevenths and the like may miss 0 by a rounding error.
    let sign = if difference.abs() < 1e-9 { 0 } else { difference.signum() as i8 };
    let is_open = match sign {
        1 => scenario.b_at_least,
        -1 => scenario.a_at_least,
        _ => scenario.a_at_least || scenario.b_at_least,
    };
    (!is_open).then_some(sign)
}

fn paired(paired: &PairedDifferences) -> PairedComparison {
    let count =
        |wanted: Option<i8>| paired.scenarios.iter().filter(|s| longer_member(s) == wanted).count() as u32;
    let mut scenarios: Vec<_> = paired.scenarios.iter().collect();
    scenarios.sort_by(|x, y| {
        y.difference
            .abs()
            .total_cmp(&x.difference.abs())
            .then(y.difference.total_cmp(&x.difference))
            .then_with(|| x.scenario.cmp(&y.scenario))
    });
    PairedComparison {
        n: paired.n,
        tau: paired.tau,
        mean: paired.mean,
        observed_mean: mean_of(paired.scenarios.iter().map(|s| s.a_observed - s.b_observed)),
        ci_low: paired.ci_low,
        ci_high: paired.ci_high,
        p: paired.p,
        p_sign_flip: paired.p_sign_flip,
        wins: (count(Some(1)), count(Some(0)), count(Some(-1))),
        undecided: count(None),
        scenarios: scenarios
            .into_iter()
            .map(|s| PairedScenarioRow {
                scenario: ScenarioSets::name_of(&s.scenario).to_owned(),
                a: s.a_observed,
                b: s.b_observed,
                a_at_least: s.a_at_least,
                b_at_least: s.b_at_least,
                adjusted: s.difference,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The aborted run of the sample against a whole one: "same 3", where one of these was stopped.
    #[test]
    fn who_lasted_longer_is_open_where_a_lower_bound_leaves_it_open() {
        let scenario = |a_observed: f64, a_at_least, b_observed: f64, b_at_least| PairedScenario {
            scenario: "s".to_owned(),
            a: a_observed,
            b: b_observed,
            difference: a_observed - b_observed,
            a_observed,
            b_observed,
            a_at_least,
            b_at_least,
        };
        let cases = [
            (scenario(8.0, true, 0.0, false), Some(1)),
            (scenario(0.0, false, 8.0, true), Some(-1)),
            (scenario(2.0, true, 3.0, false), None),
            (scenario(3.0, false, 2.0, true), None),
            (scenario(3.0, true, 3.0, false), None),
            (scenario(3.0, true, 3.0, true), None),
            (scenario(0.1 + 0.2, false, 0.3, false), Some(0)),
            (scenario(1.0, false, 2.0, false), Some(-1)),
        ];
        for (scenario, expected) in cases {
            assert_eq!(longer_member(&scenario), expected, "{scenario:?}");
        }
    }
}
