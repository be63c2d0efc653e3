//! The published results of EvoCode-Bench.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use test_folders::data_beside_the_repository;

use crate::library::Library;
use crate::scores::{compared, compared_runs, runs};

#[derive(Deserialize)]
struct Golden {
    mt_at_1: f64,
    comp: Option<f64>,
    dataset_score: f64,
    perfect: u32,
}

/// `golden/make_evocode_scores.py` calculates them from the site's JSON, without Stamina Lab.
#[test]
fn the_published_results_of_evocode_bench_have_the_scores_of_an_independent_calculation() {
    let Some(path) = data_beside_the_repository("data/evocode-published") else { return };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/evocode_scores.json");
    let golden: BTreeMap<String, Golden> =
        serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    let library = Library::new(&[path]);
    let runs = runs(&library);
    assert_eq!((runs.len(), golden.len()), (13, 13));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    for (name, wanted) in &golden {
        // The site has another name for one model than the printed table.
        let name = if name == "Opus-4.8-xhigh" { "Claude-Opus-4.8" } else { name };
        let run = runs.iter().find(|run| run.model.as_deref() == Some(name)).unwrap();
        let found = compared(&library, &run.id).unwrap();
        let [mt_at_1] = found.rounds.mt_at_k[..] else { panic!("{name}: {found:?}") };
        assert!(near(mt_at_1, wanted.mt_at_1), "{name}: {mt_at_1}");
        assert!(near(found.dataset_score.unwrap(), wanted.dataset_score), "{name}: {found:?}");
        assert!(near(found.perfect.unwrap(), f64::from(wanted.perfect)), "{name}: {found:?}");
        match (found.rounds.comp, wanted.comp) {
            (Some(found), Some(wanted)) => assert!(near(found, wanted), "{name}: {found}"),
            (found, wanted) => assert_eq!(found, wanted, "{name}"),
        }
        let unknown = found.rounds.missing.iter().any(|reason| reason.starts_with("Comp is unknown"));
        assert_eq!(unknown, wanted.comp.is_none(), "{name}: {:?}", found.rounds.missing);
        assert_eq!(run.rounds.as_ref(), Some(&found.rounds), "{name}");
    }
    // Beside them the table of the paper, which has other models and is evaluated round by round.
    let data = library.workbench.compare_runs(compared_runs(&[&runs[0].id])).unwrap();
    let published =
        data.published_scores.iter().find(|n| n.model == "Xiaomi-MiMo-V2.5-Pro" && n.metric == "gap");
    assert_eq!(published.map(|number| number.value), Some(-9.4));
    assert!(
        data.cautions.iter().any(|caution| caution.contains("evaluates round by round")),
        "{:?}",
        data.cautions
    );
}
