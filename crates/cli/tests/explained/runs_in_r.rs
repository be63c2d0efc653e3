//! Numbers of runs, by lines of R.

use std::collections::BTreeMap;
use std::process::Command;

use crate::explained::library::Library;
use crate::explained::{entries, number, repository};

/// Whether R is there, with a package.
fn has_r(package: &str) -> bool {
    let output = Command::new("Rscript")
        .arg("-e")
        .arg(format!("quit(status = if (requireNamespace('{package}', quietly = TRUE)) 0 else 1)"))
        .output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn numbers_of_runs_are_what_the_lines_of_their_explanations_give_in_r() {
    if !has_r("survival") {
        println!("left out: R with its package survival is not there");
        return;
    }
    let sample = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let pair = sample.rows(&["pairs", &sample.reference, &sample.run]).remove(0);
    let stamina = sample.run_value("stamina");
    let compared = sample.home.json(&["compare", &sample.run, &sample.reference]);
    let bootstrap = &compared["runs"][0]["mean_stamina_bootstrap"];
    // What is expected, and how near: the draws of a bootstrap differ.
    let mut expected: BTreeMap<&str, (Vec<f64>, f64)> = BTreeMap::from([
        ("mean_stamina_ci", (vec![number(&stamina["ci_low"]), number(&stamina["ci_high"])], 1e-3)),
        ("bootstrap_ci", (vec![number(&bootstrap["ci_low"]), number(&bootstrap["ci_high"])], 0.4)),
        ("logrank", (vec![number(&pair["logrank_chi2"]), number(&pair["logrank_p"])], 1e-9)),
        ("p_stratified", (vec![number(&pair["logrank_p_stratified"])], 1e-9)),
        ("p_permutation", (vec![number(&pair["logrank_p_permutation"])], 0.03)),
        ("paired_p", (vec![number(&pair["paired_p"])], 1e-9)),
    ]);
    // A comparison ends where its shortest member does.
    let (tau, compared_tau) = (sample.tau.to_string(), compared["tau"].to_string());
    let mut wrong = Vec::new();
    for entry in entries().into_iter().filter(|entry| entry.language == "r") {
        let key = entry.key.as_str();
        let (expected, tolerance) = expected
            .remove(key)
            .unwrap_or_else(|| panic!("{key} is explained in R, and nothing here runs it"));
        if entry.code.contains("library(coin)") && !has_r("coin") {
            println!("left out: {key}: R has no package coin");
            continue;
        }
        let tau = if key == "bootstrap_ci" { &compared_tau } else { &tau };
        let computed = sample.computed(&entry, &[("TAU", tau)]);
        // Of a test both χ² and p are printed; p stands last.
        let skipped = computed.len().saturating_sub(expected.len());
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
        if computed.len() < expected.len() || !computed[skipped..].iter().zip(&expected).all(near) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}
