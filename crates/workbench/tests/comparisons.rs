//! Comparisons through the workbench, on real results and on small ones that can be counted by hand.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workbench::api::{
    Annotate, Comparability, CompareRequest, Comparison, DisagreementMode, DisagreementRequest,
    DisagreementSort, Member, Pairs,
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

    fn fixtures(names: &[&str]) -> Self {
        let paths: Vec<PathBuf> = names.iter().map(|n| repository().join("tests/fixtures").join(n)).collect();
        Self::of(&paths)
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
    println!("{}", serde_json::to_string_pretty(&comparison).unwrap());
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
    println!("{}", serde_json::to_string_pretty(&page).unwrap());
    assert_eq!(page.counts.0, 216);
    assert_eq!(page.counts.1, 125);
    let first = &page.rows[0];
    assert_eq!((first.scenario.as_str(), first.turn), ("x", 2));
}
