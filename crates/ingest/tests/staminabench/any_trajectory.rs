//! Any trajectory is read.

use files::Tree;
use ingest::format_trait::Format;
use ingest::formats::staminabench::StaminaBench;
use model::{ArtifactKind, Verdict};
use proptest::prelude::*;

use crate::staminabench::read_tree;

/// JSON out of the words that trajectories use, in any nesting.
fn any_trajectory() -> impl Strategy<Value = String> {
    const KEYS: [&str; 23] = [
        "turns",
        "attempts",
        "turn",
        "attempt_idx",
        "passed",
        "total",
        "failed",
        "tests",
        "usage",
        "prompt_tokens",
        "cost",
        "messages",
        "steps",
        "role",
        "content",
        "turn_3",
        "turn_2_attempt_1",
        "results",
        "success",
        "error",
        "duration_ms",
        "n_turns",
        "a~b/c",
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        (-2i64..7).prop_map(|n| n.to_string()),
        prop::sample::select(vec![
            "1e308",
            "18446744073709551615",
            "\"7/9\"",
            "\"passed\"",
            "\"2026-06-01T10:00:00Z\""
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((prop::sample::select(KEYS.to_vec()), inner), 0..5).prop_map(|map| {
                let entries: Vec<String> = map.into_iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 2 / 5, ..ProptestConfig::default() })]

    /// Whatever a trajectory says, it is read without a fault, and what comes out is in order.
    #[test]
    fn any_trajectory_is_read(json in any_trajectory(), cut in prop::option::of(any::<prop::sample::Index>())) {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("scenario_0");
        std::fs::create_dir_all(scenario.join("test_results")).unwrap();
        let end = cut.map_or(json.len(), |cut| json.floor_char_boundary(cut.index(json.len())));
        std::fs::write(scenario.join("trajectory.json"), &json[..end]).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let read = read_tree(&tree);
        let episode = &read.episodes[0];
        prop_assert!(episode.turns.is_sorted_by(|a, b| a.number < b.number), "{:?}", episode.turns);
        for turn in &episode.turns {
            prop_assert!(turn.number >= 1);
            prop_assert!(turn.attempts.is_sorted_by(|a, b| a.number < b.number));
            for attempt in &turn.attempts {
                prop_assert!(attempt.number >= 1);
                if attempt.verdict == Verdict::Passed {
                    prop_assert!(attempt.passed.is_none_or(|p| attempt.total.is_none_or(|t| p >= t || t == 0)), "{attempt:?}");
                }
                for artifact in attempt.artifacts.iter().filter(|a| a.kind == ArtifactKind::Transcript) {
                    prop_assert!(StaminaBench.transcript(&tree, artifact).is_ok(), "{artifact:?} of {}", &json[..end]);
                }
            }
        }
        prop_assert!(episode.stamina() <= episode.known_turns());
    }
}
