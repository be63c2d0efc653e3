//! What tests that play whole runs have in common.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use ingest::format::Format as _;
use model::Episode;
use runner::settings::RunSettings;
use runner::{Event, OnEvent};

/// The mock agent with the scripted model, without boxes, one episode of one turn; of a key that comes twice the last one
/// counts.
pub(crate) fn settings(folder: &Path, more: &[&str]) -> RunSettings {
    let mut list = vec![format!("output_dir={}", folder.display())];
    let always = [
        "agent=MOCK",
        "use_docker=false",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=1",
    ];
    list.extend(always.iter().chain(more).map(|&value| value.to_owned()));
    runner::settings::resolve(&[], &list).unwrap()
}

/// Keeps what a run tells.
pub(crate) fn keep() -> (OnEvent, Arc<Mutex<Vec<Event>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let to = kept.clone();
    (Arc::new(move |event: &Event| to.lock().unwrap().push(event.clone())), kept)
}

/// The episodes as the importer reads them, without a warning.
pub(crate) fn episodes(folder: &Path) -> Vec<Episode> {
    let tree = files::Tree::open(folder).unwrap();
    let mut report = ingest::format::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        episodes.extend(format.read(&tree, "", part, &mut report).into_iter().map(|read| read.episode));
    }
    assert_eq!(report.warnings, []);
    episodes
}
