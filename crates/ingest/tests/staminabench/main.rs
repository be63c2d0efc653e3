//! StaminaBench folders in several shapes, read through the format's own interface.
//!
//! `tests/fixtures/staminabench/make.py` plays the same two scenarios in every shape, so that every shape must give the
//! same turns, attempts and verdicts.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixtures has failed")]

mod any_trajectory;
mod damages;
mod exceptions;
mod own_schema;
mod shapes;
mod undecided;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Report, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{EndReason, Episode, Run, Turn, TurnState, Verdict};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/staminabench").join(name)
}

struct Read {
    run: Run,
    episodes: Vec<Episode>,
    report: Report,
}

impl Read {
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn warning(&self, code: &str) -> &model::Warning {
        self.report
            .warnings
            .iter()
            .find(|w| w.code == code)
            .unwrap_or_else(|| panic!("no {code} in {:#?}", self.report.warnings))
    }
}

fn read_tree(tree: &Tree) -> Read {
    assert_eq!(StaminaBench.sniff(tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = StaminaBench.survey(tree, "", &mut report);
    let run = survey.runs.into_iter().next().unwrap();
    let mut episodes = Vec::new();
    for part in &survey.parts {
        for reading in StaminaBench.read(tree, "", part, &mut report) {
            assert_eq!(reading.run, run.key);
            episodes.push(reading.episode);
        }
    }
    report.warnings.extend(tree.warnings());
    Read { run, episodes, report }
}

fn read(path: &Path) -> Read {
    read_tree(&Tree::open(path).unwrap())
}

fn stamps(path: &Path) -> BTreeMap<String, u64> {
    let survey = StaminaBench.survey(&Tree::open(path).unwrap(), "", &mut Report::default());
    survey.parts.into_iter().map(|p| (p.key, p.stamp)).collect()
}

/// A copy of a fixture that may be changed.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    test_folders::copy(&fixture(name), folder.path());
    folder
}

fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    let text = std::fs::read_to_string(path).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed, "{} was not changed", path.display());
    std::fs::write(path, changed).unwrap();
}

type Outcome = (Verdict, Option<u32>, Option<u32>, Option<EndReason>);

/// (verdict, passed, total, end reason) of every attempt.
fn play(episode: &Episode) -> Vec<Vec<Outcome>> {
    let outcomes =
        |t: &Turn| t.attempts.iter().map(|a| (a.verdict, a.passed, a.total, a.end_reason)).collect();
    episode.turns.iter().map(outcomes).collect()
}

fn check_play(episodes: &[Episode], shape: &str) {
    use EndReason::{ServerFailed, TestsFailed};
    use Verdict::{Failed, Passed};
    let first = &episodes[0];
    assert_eq!(
        play(first),
        vec![
            vec![(Passed, Some(3), Some(3), None)],
            vec![(Failed, Some(3), Some(4), Some(TestsFailed)), (Passed, Some(4), Some(4), None)],
            vec![
                (Failed, Some(3), Some(5), Some(TestsFailed)),
                (Failed, Some(4), Some(5), Some(TestsFailed)),
                (Failed, Some(4), Some(5), Some(TestsFailed)),
            ],
            vec![(Failed, Some(0), Some(6), Some(ServerFailed))],
        ],
        "{shape}"
    );
    assert_eq!(first.stamina(), 2, "{shape}");
    assert_eq!(first.end(), (Some(3), TestsFailed), "{shape}");
    let failing: Vec<&str> =
        first.turns[2].attempts[2].tests.iter().filter(|t| t.is_failing()).map(|t| t.id.as_str()).collect();
    assert_eq!(failing, ["test_turn.py::test_holds"], "{shape}");
    let test = first.turns[2].attempts[2].tests.iter().find(|t| t.is_failing()).unwrap();
    assert_eq!((test.expected.as_deref(), test.actual.as_deref()), (Some("201"), Some("500")), "{shape}");
    assert!(
        test.message.as_deref().unwrap().starts_with("AssertionError: POST /holds: expected 201, got 500"),
        "{shape}: {test:?}"
    );
    if let Some(second) = episodes.get(1) {
        assert_eq!(second.stamina(), 4, "{shape}");
        assert_eq!(second.end(), (None, EndReason::PassedAll), "{shape}");
        assert_eq!(second.turns[0].state(), TurnState::PassedAfterRetries, "{shape}");
    }
}

/// A folder of some files, read.
fn written(files: &[(&str, &str)]) -> Read {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        if path.to_str().unwrap().ends_with('/') {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    read(folder.path())
}

const PLAN: &str = "agent: MINI_SWE\nrestful_server_gen_iterative:\n  n_turns: 4\n";
