//! Comparisons through the workbench, on real results and on small ones that can be counted by hand.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workbench::api::{
    CompareRequest, Comparison, DisagreementMode, DisagreementRequest, DisagreementSort, Member, Pairs,
};
use workbench::{Options, Workbench};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_path_buf()
}

struct Library {
    workbench: Arc<Workbench>,
    _folder: tempfile::TempDir,
}

impl Library {
    fn of(paths: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = Some(folder.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).expect("a library");
        for path in paths {
            workbench.ingest(path, &|_, _| {}).expect("read");
        }
        Self { workbench, _folder: folder }
    }

    fn compare(&self, runs: &[&str], pairs: Pairs) -> Comparison {
        let request = CompareRequest { members: members(runs), pairs, ..CompareRequest::default() };
        self.workbench.compare_runs(request).expect("a comparison")
    }
}

fn members(runs: &[&str]) -> Vec<Member> {
    runs.iter().map(|run| Member::Run { run: (*run).to_owned() }).collect()
}

/// The published results, where this machine has them.
fn published() -> Option<Library> {
    let beside = std::env::var_os("STAMINA_SHARED").map(PathBuf::from);
    let folder = beside.unwrap_or_else(|| repository().join("../shared")).join("data/evocode-published");
    folder.is_dir().then(|| Library::of(&[folder]))
}

#[test]
fn published_runs_compare_as_the_design_shows() {
    let Some(library) = published() else { return };
    let runs = [
        "evocode-published.claude-opus-4.8",
        "evocode-published.gpt-5.5",
        "evocode-published.glm-5.2",
        "evocode-published.deepseek-v4-pro",
    ];
    let comparison = library.compare(&runs, Pairs::Reference);
    assert_eq!(comparison.tau, 9);
    let names: Vec<&str> = comparison.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["Claude-Opus-4.8", "GPT-5.5", "GLM-5.2", "DeepSeek-V4-Pro"]);
    let means: Vec<String> =
        comparison.members.iter().map(|m| format!("{:.2}", m.stamina.mean.unwrap())).collect();
    assert_eq!(means, ["4.32", "1.80", "1.04", "0.76"]);
    assert_eq!(comparison.shared_scenarios, 25);
    let page = library
        .workbench
        .list_disagreements(DisagreementRequest {
            members: members(&runs),
            reference: 0,
            mode: DisagreementMode::Different,
            sort: DisagreementSort::ReferenceFails,
            text: String::new(),
            offset: 0,
            limit: 3,
        })
        .unwrap();
    // Counted from the cells of the four grids by another program.
    assert_eq!(page.counts, (216, 151, 209, 21));
    let top: Vec<(&str, u32)> =
        page.rows.iter().map(|row| (row.title.as_deref().unwrap_or_default(), row.turn)).collect();
    let expected = [
        ("ml-checkpoint-reproducibility-engine", 2),
        ("secaudit-log-sentinel", 1),
        ("flowctl-pipeline-wiring", 5),
    ];
    assert_eq!(top, expected);
    let cell = page.rows[0].cells[0].as_ref().unwrap();
    assert_eq!((cell.passed, cell.total, cell.episodes), (Some(145), Some(151), (1, 0)));
}
