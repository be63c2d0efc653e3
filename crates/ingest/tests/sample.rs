//! The simulated results that are shipped: what a new library begins with is whole, says what it is, and reads without
//! a warning.

#![allow(clippy::unwrap_used, reason = "a test that cannot read the sample has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use files::Tree;
use ingest::format_trait::{Format, Report, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{EndReason, Verdict};

const HARNESSES: [&str; 3] = ["claude_code", "codex", "kimi_code"];
const TURNS: usize = 12;
const MODELS: [&str; 3] = ["oracle-middling", "oracle-strong", "oracle-weak"];

#[test]
fn the_sample_is_three_harnesses_by_three_abilities_and_says_that_it_is_simulated() {
    let zip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-simulated.zip");
    let tree = Tree::open(&zip).unwrap();
    let mut pairs = BTreeSet::new();
    let mut scenarios: BTreeMap<String, u32> = BTreeMap::new();
    let mut survivors: BTreeMap<String, u32> = BTreeMap::new();
    for place in tree.list("").into_iter().filter(files::Entry::is_folder) {
        assert_eq!(StaminaBench.sniff(&tree, &place.name), Sniff::Recognized, "{}", place.name);
        let mut report = Report::default();
        let survey = StaminaBench.survey(&tree, &place.name, &mut report);
        let [run] = survey.runs.as_slice() else { panic!("one run in {}", place.name) };
        assert!(run.simulated, "{}", place.name);
        assert_eq!((run.attempt_limit, run.planned_episodes), (Some(3), Some(5)), "{}", place.name);
        let model = run.model.clone().unwrap();
        assert_eq!(run.tags, ["sample", model.trim_start_matches("oracle-")]);
        pairs.insert((run.harness.clone().unwrap(), model.clone()));
        let episodes: Vec<_> = survey
            .parts
            .iter()
            .flat_map(|part| StaminaBench.read(&tree, &place.name, part, &mut report))
            .map(|reading| reading.episode)
            .collect();
        assert_eq!(episodes.len(), 5, "{}", place.name);
        for episode in &episodes {
            assert_eq!(episode.planned_turns, Some(TURNS as u32));
            assert_eq!(episode.turns.len(), TURNS, "episodes continue after a failed turn");
            *scenarios.entry(episode.title.clone().unwrap()).or_default() += 1;
            for attempt in episode.turns.iter().flat_map(|turn| &turn.attempts) {
                let passed = attempt.verdict == Verdict::Passed;
                let failed = attempt.end_reason == Some(EndReason::TestsFailed);
                assert!(passed || failed, "{}: {:?}", place.name, attempt.end_reason);
                assert!(attempt.tokens.input.is_some() && attempt.tokens.output.is_some());
            }
            let passed = |turn: &&model::Turn| {
                turn.attempts.last().is_some_and(|attempt| attempt.verdict == Verdict::Passed)
            };
            *survivors.entry(model.clone()).or_default() +=
                episode.turns.iter().take_while(passed).count() as u32;
        }
        assert!(report.warnings.is_empty(), "{:#?}", report.warnings);
    }
    let all = HARNESSES.iter().flat_map(|h| MODELS.map(|m| ((*h).to_owned(), m.to_owned())));
    assert_eq!(pairs, all.collect());
    // The same five for all, so that runs can be paired.
    assert_eq!(scenarios.values().copied().collect::<Vec<_>>(), [9; 5]);
    let [middling, strong, weak] = MODELS.map(|model| survivors[model]);
    assert!(weak * 3 < middling * 2 && middling * 3 < strong * 2, "{survivors:?}");
}
