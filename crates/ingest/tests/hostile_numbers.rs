//! Files of some kilobytes that state numbers or repeat names: what is made of them stays bounded, in memory and in work. A
//! test binary of its own, because it measures the whole process.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::Report;
use ingest::import::import;
use model::Episode;
use store::{RunFilter, Store, WarningFilter};
use test_folders::copy;

/// The most memory that this process ever held, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Seconds of processor time of this thread.
fn worked() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Every episode of a folder, the number of its runs, and the codes of warnings.
fn read(folder: &Path) -> (Vec<Episode>, usize, Vec<String>) {
    let tree = Tree::open(folder).unwrap();
    let mut report = Report::default();
    let (mut episodes, mut runs) = (Vec::new(), 0);
    for place in discover(&tree).unwrap().places {
        let survey = place.format.survey(&tree, &place.folder, &mut report);
        runs += survey.runs.len();
        for part in &survey.parts {
            let readings = place.format.read(&tree, &place.folder, part, &mut report);
            episodes.extend(readings.into_iter().map(|reading| reading.episode));
        }
    }
    (episodes, runs, report.warnings.into_iter().map(|warning| warning.code).collect())
}

#[test]
// docs/security.md: An opened folder or zip
fn an_index_of_many_models_and_a_number_of_rounds_make_no_gigabytes() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..5_000).map(|n| format!("\"m{n}\"")).collect();
    let tasks: Vec<String> = (0..5_000).map(|n| format!("{{\"task\":\"t{n}\"}}")).collect();
    let index = format!("{{\"models\":[{}],\"tasks\":[{}]}}", names.join(","), tasks.join(","));
    fs::write(folder.path().join("index.json"), index).unwrap();
    fs::create_dir(folder.path().join("tasks")).unwrap();
    let models: Vec<String> = names.iter().map(|name| format!("{name}:{{}}")).collect();
    let task = format!(
        "{{\"task\":\"t0\",\"n_rounds\":10000,\"rounds\":[{{\"n\":1,\"md\":\"{}\"}}],\"models\":{{{}}}}}",
        "x".repeat(60_000),
        models.join(",")
    );
    fs::write(folder.path().join("tasks/t0.json"), task).unwrap();
    let (before, begun) = (peak(), worked());
    let (episodes, runs, codes) = read(folder.path());
    assert_eq!((episodes.len(), runs), (200, 200));
    assert!(codes.iter().any(|code| code == "evocode.too_many"), "{:?}", codes.first());
    assert!(peak() < before + 300, "it took {} MiB", peak() - before);
    assert!(worked() < begun + 10.0, "it took {} s", worked() - begun);
}

#[test]
// docs/security.md: An opened folder or zip
fn a_job_of_many_metrics_takes_time_that_grows_with_their_number() {
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs/nop-k1");
    let folder = tempfile::tempdir().unwrap();
    copy(&jobs, folder.path());
    let path = folder.path().join("result.json");
    let mut result: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let many_metrics = (0..60_000).map(|n| (format!("metric-of-a-long-name-{n}"), 0.5.into())).collect();
    let eval = result["stats"]["evals"].as_object_mut().unwrap().values_mut().next().unwrap();
    eval["metrics"] = serde_json::Value::Array(vec![serde_json::Value::Object(many_metrics)]);
    fs::write(&path, result.to_string()).unwrap();
    let begun = worked();
    let (episodes, ..) = read(folder.path());
    assert_eq!(episodes.len(), 2);
    assert!(worked() < begun + 10.0, "it took {} s", worked() - begun);
}

#[test]
// docs/security.md: An opened folder or zip
fn more_planned_turns_than_a_page_can_have_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let header = "run,harness,model,scenario,turn,attempt,passed,planned_turns";
    let rows = "a,h,m,s,1,1,1,4000000000\na,h,m,t,1,1,1,10000\n";
    fs::write(folder.path().join("t.csv"), format!("{header}\n{rows}")).unwrap();
    let store = Store::open(&folder.path().join("library.db")).unwrap();
    let source = store.put_source(folder.path().to_str().unwrap(), "t", false).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    let planned: Vec<_> =
        store.episodes(run.id).unwrap().into_iter().map(|e| (e.planned_turns, e.known_turns)).collect();
    assert_eq!(planned, [(None, 1), (Some(10_000), 10_000)]);
    let warnings_of = store.warnings(source, &WarningFilter::default(), 0, 10).unwrap().warnings;
    assert!(warnings_of.iter().any(|warning| warning.code == "turns.out_of_range"), "{warnings_of:?}");
}

#[test]
// docs/security.md: An opened folder or zip
fn more_planned_trials_than_a_list_can_have_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terminal_bench/run-a");
    copy(&run, folder.path());
    let planned = || {
        let tree = Tree::open(folder.path()).unwrap();
        let found = discover(&tree).unwrap();
        let run = found.places[0].format.survey(&tree, "", &mut Report::default()).runs.remove(0).key;
        ingest::view::planned(&tree, "terminal-bench", "", &run)
    };
    assert!(planned().is_some_and(|planned| !planned.is_empty()));
    let path = folder.path().join("run_metadata.json");
    let mut metadata: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    metadata["n_attempts"] = 4_000_000_000_u32.into();
    fs::write(&path, metadata.to_string()).unwrap();
    assert!(planned().is_none());
}
