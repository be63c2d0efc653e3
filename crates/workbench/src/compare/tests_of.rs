//! Tests of two members, from `analysis` to the edge.

use analysis::bootstrap::Bootstrapped;
use analysis::logrank::LogRank;
use analysis::paired::Paired;

use super::sets::ScenarioSets;
use crate::api::{ChiSquare, ComparedPair, Estimate, PairedComparison, PairedScenarioRow, PermutationTest};

/// A pair of members, with how many runs are in both.
pub(crate) fn pair(pair: &analysis::compare::Pair, in_both: u32) -> ComparedPair {
    ComparedPair {
        in_both,
        a: pair.a as u32,
        b: pair.b as u32,
        logrank: pair.logrank.as_ref().and_then(chi_square),
        p_holm: pair.p_holm,
        logrank_permutation: pair.permutation.map(|test| PermutationTest {
            p: test.p,
            arrangements: test.arrangements,
            exact: test.exact,
        }),
        logrank_stratified: pair.stratified.as_ref().and_then(chi_square),
        difference: pair.difference.map(|d| Estimate {
            value: d.value,
            ci_low: d.ci_low,
            ci_high: d.ci_high,
            p: d.p,
        }),
        difference_bootstrap: pair.difference_bootstrap.and_then(|b| b.ci_low.zip(b.ci_high)),
        ratio: pair.ratio.map(|r| Estimate { value: r.value, ci_low: r.ci_low, ci_high: r.ci_high, p: r.p }),
        paired: pair.paired.as_ref().map(paired),
    }
}

/// A log-rank test; `None` = it has no degree of freedom.
pub(crate) fn chi_square(test: &LogRank) -> Option<ChiSquare> {
    (test.df > 0 && test.p.is_finite()).then_some(ChiSquare { chi2: test.chi2, df: test.df, p: test.p })
}

/// An estimate with its interval by bootstrap, which has no p.
pub(crate) fn bootstrapped(b: &Bootstrapped) -> Estimate {
    Estimate { value: b.value, ci_low: b.ci_low, ci_high: b.ci_high, p: None }
}

fn paired(paired: &Paired) -> PairedComparison {
    // Sums of sevenths and the like may miss 0 by a rounding error.
    let sign = |d: f64| if d.abs() < 1e-9 { 0 } else { d.signum() as i8 };
    let count = |wanted: i8| paired.scenarios.iter().filter(|s| sign(s.difference) == wanted).count() as u32;
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
        ci_low: paired.ci_low,
        ci_high: paired.ci_high,
        p: paired.p,
        p_sign_flip: paired.p_sign_flip,
        wins: (count(1), count(0), count(-1)),
        scenarios: scenarios
            .into_iter()
            .map(|s| PairedScenarioRow {
                scenario: ScenarioSets::name_of(&s.scenario).to_owned(),
                a: s.a_observed,
                b: s.b_observed,
                a_at_least: s.a_at_least,
                b_at_least: s.b_at_least,
            })
            .collect(),
    }
}
