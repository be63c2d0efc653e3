//! Harbor's jobs: real ones (`tests/fixtures/harbor`), and what is made of them by damage, kills and other layouts.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

mod damages;
mod ends;
mod layouts;
mod numbers_of_steps;
mod real_jobs;
mod single_step;
mod transcripts;

use std::path::{Path, PathBuf};

use files::{Tree, join};
use ingest::format_trait::{Format, Part, Report, Sniff};
use ingest::formats::harbor::Harbor;
use model::{Episode, Run};
use test_folders::copy;

#[derive(Default)]
struct Read {
    runs: Vec<Run>,
    /// Run key and episode.
    episodes: Vec<(String, Episode)>,
    parts: Vec<(String, Part)>,
    report: Report,
}

/// Reads every place below a folder as discovery does.
fn read(path: &Path) -> Read {
    let tree = Tree::open(path).unwrap();
    let mut out = Read::default();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        if Harbor.sniff(&tree, &folder) != Sniff::Recognized {
            folders
                .extend(tree.list(&folder).iter().filter(|e| e.is_folder()).map(|e| join(&folder, &e.name)));
            continue;
        }
        let survey = Harbor.survey(&tree, &folder, &mut out.report);
        for part in survey.parts {
            for reading in Harbor.read(&tree, &folder, &part, &mut out.report) {
                assert!(survey.runs.iter().any(|r| r.key == reading.run), "no run {}", reading.run);
                out.episodes.push((reading.run, reading.episode));
            }
            out.parts.push((folder.clone(), part));
        }
        out.runs.extend(survey.runs);
    }
    out
}

impl Read {
    fn run(&self, key: &str) -> &Run {
        self.runs.iter().find(|r| r.key == key).unwrap_or_else(|| panic!("no run {key}"))
    }
    fn episodes_of(&self, run: &str) -> Vec<&Episode> {
        self.episodes.iter().filter(|(r, _)| r == run).map(|(_, e)| e).collect()
    }
    fn episode(&self, trial: &str) -> &Episode {
        let found = |e: &Episode| e.extra.get("trial").and_then(|t| t.as_str()) == Some(trial);
        &self.episodes.iter().find(|(_, e)| found(e)).unwrap_or_else(|| panic!("no trial {trial}")).1
    }
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
}

/// `p` passed, `f` failed, `e` error, `n` not reached, `c` stopped from outside.
fn letters(episode: &Episode) -> String {
    episode.turns.iter().map(|t| t.state().letter()).collect()
}

/// Passed steps / declared steps, and the mean share of cases over declared steps.
fn score(episode: &Episode) -> (f64, f64) {
    let planned = f64::from(episode.planned_turns.unwrap());
    let passed = episode.turns.iter().filter(|t| t.state().is_passed()).count() as f64;
    let cases: f64 = episode
        .turns
        .iter()
        .filter_map(|t| t.attempts.last())
        .filter_map(|a| Some(f64::from(a.passed?) / f64::from(a.total.filter(|t| *t > 0)?)))
        .sum();
    (passed / planned, cases / planned)
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor")
}

fn edit(path: &Path, old: &str, new: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{} has no {old}", path.display());
    std::fs::write(path, text.replace(old, new)).unwrap();
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const V1: &str = "theme_v1_w1_notes_regression__FbTCbSY";
const V2: &str = "theme_v2_w1_notes_abort_no_rewar__sPM4jnR";
const V5: &str = "theme_v5_w1_notes_min_reward__PAxApKs";
const V6: &str = "theme_v6_w1_notes_env_broken__RcH4Ruz";
const V7: &str = "theme_v7_w1_notes_verifier_timeo__T4gXUFs";

/// A job with two of the trials, and their tasks.
fn small_job(dir: &Path) -> PathBuf {
    let job = dir.join("jobs/failures-k1");
    for trial in [V1, V2] {
        copy(&fixture().join("jobs/failures-k1").join(trial), &job.join(trial));
    }
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(fixture().join("jobs/failures-k1").join(file), job.join(file)).unwrap();
    }
    for task in ["theme_v1_w1_notes_regression", "theme_v2_w1_notes_abort_no_reward"] {
        copy(&fixture().join("tasks").join(task), &dir.join("tasks").join(task));
    }
    job
}
