//! A library of its own for a test.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workbench::api::Member;
use workbench::{Options, Workbench};

pub(crate) struct Library {
    pub(crate) workbench: Arc<Workbench>,
    _folder: tempfile::TempDir,
}

impl Library {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = Some(folder.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).expect("a library");
        for path in paths {
            workbench.ingest(path, &|_, _| {}).expect("read");
        }
        Self { workbench, _folder: folder }
    }

    pub(crate) fn fixtures(names: &[&str]) -> Self {
        let paths: Vec<PathBuf> = names.iter().map(|n| repository().join("tests/fixtures").join(n)).collect();
        Self::new(&paths)
    }
}

pub(crate) fn members(runs: &[&str]) -> Vec<Member> {
    runs.iter().map(|run| Member::Run { run: (*run).to_owned() }).collect()
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_path_buf()
}
