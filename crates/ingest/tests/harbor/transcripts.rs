//! Which files of a step are transcripts of their own.

use files::Tree;
use ingest::format_trait::Format;
use ingest::formats::harbor::Harbor;
use model::ArtifactKind;
use serde_json::json;
use test_folders::copy;

use crate::harbor::{fixture, read, write};

#[test]
fn a_file_that_continues_another_is_shown_with_it_and_not_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture().join("jobs/terminus2-mock-priced"), dir.path());
    let agent = dir.path().join("theme_t1_w1_notes_cli__xVc8kuG/steps/round-1/agent");
    for (name, next) in [
        ("trajectory.json", Some("trajectory.later.json")),
        // Its name does not say that it continues the one before.
        ("trajectory.later.json", None),
        ("trajectory.helper.json", Some("trajectory.helper.cont-1.json")),
        ("trajectory.helper.cont-1.json", Some("trajectory.helper.cont-2.json")),
        ("trajectory.helper.cont-2.json", None),
        // The files that these continue are lost.
        ("trajectory.lost.cont-1.json", Some("trajectory.lost.cont-2.json")),
        ("trajectory.lost.cont-2.json", None),
        ("trajectory.other.json", None),
        // Their names say that they belong together, and they do not.
        ("trajectory.parted.json", None),
        ("trajectory.parted.cont-1.json", None),
        ("trajectory.whole.json", Some("trajectory.whole.part2.json")),
        ("trajectory.whole.part2.json", None),
    ] {
        let steps = json!([{ "source": "agent", "message": name }]);
        write(&agent.join(name), &json!({ "steps": steps, "continued_trajectory_ref": next }).to_string());
    }
    let read = read(dir.path());
    let attempt = &read.episodes[0].1.turns[0].attempts[0];
    assert_eq!(attempt.steps, Some(2), "those of the main one, with its continuation");
    let tree = Tree::open(dir.path()).unwrap();
    let shown: Vec<Vec<String>> = attempt
        .artifacts
        .iter()
        .filter(|artifact| artifact.kind == ArtifactKind::Transcript)
        .map(|artifact| {
            let steps = Harbor.transcript(&tree, artifact).unwrap().steps;
            steps.into_iter().map(|step| step.text).collect()
        })
        .collect();
    assert_eq!(
        shown,
        [
            vec!["trajectory.json", "trajectory.later.json"],
            vec!["trajectory.helper.json", "trajectory.helper.cont-1.json", "trajectory.helper.cont-2.json"],
            vec!["trajectory.lost.cont-1.json", "trajectory.lost.cont-2.json"],
            vec!["trajectory.other.json"],
            vec!["trajectory.parted.cont-1.json"],
            vec!["trajectory.parted.json"],
            vec!["trajectory.whole.json", "trajectory.whole.part2.json"],
        ]
    );
}
