//! The index of transcripts and logs: how large it is, and that the open app makes it by itself.

use std::time::{Duration, Instant};

use workbench::api::{OpenSource, Search, TextKind};
use workbench::{Options, Workbench};

mod library;

use library::{Library, repository};

fn search(workbench: &Workbench, text: &str) -> workbench::api::TextHits {
    workbench.search_texts(Search { text: text.to_owned(), limit: 50 }).expect("places")
}

#[test]
fn the_index_is_at_most_a_quarter_of_the_text() {
    for source in ["data/sample-simulated.zip", "tests/fixtures/harbor/jobs", "tests/fixtures/staminabench"] {
        let library = Library::of(&[repository().join(source)]);
        assert!(!search(&library.workbench, "error").complete, "an import does not wait for it");
        let text = library.workbench.index_texts().expect("an index");
        let index = library.workbench.text_index_bytes().expect("its size");
        assert!(text > 20_000, "{source} has {text} bytes of text");
        assert!(4 * index <= text, "{source}: {index} bytes of index for {text} bytes of text");
        assert!(search(&library.workbench, "error").complete);
        assert_eq!(library.workbench.index_texts().expect("an index"), 0, "nothing is left to index");
    }
}

#[test]
fn an_open_library_is_searchable_after_a_while_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = Some(folder.path().join("library.sqlite"));
    let workbench = Workbench::open(Options { db, live: true, ..Options::default() }).expect("a library");
    let path = repository().join("tests/fixtures/harbor/jobs/failures-k1");
    workbench.open_source(OpenSource { path: path.display().to_string() }).expect("opened");
    let deadline = Instant::now() + Duration::from_mins(1);
    let found = loop {
        let found = search(&workbench, "error");
        if found.complete && !found.hits.is_empty() {
            break found;
        }
        assert!(Instant::now() < deadline, "never searchable");
        std::thread::sleep(Duration::from_millis(100));
    };
    for hit in &found.hits {
        let of_log = hit.kind == TextKind::Log && hit.log.is_some() && hit.line.is_some();
        assert!(of_log || hit.kind == TextKind::Transcript && hit.step.is_some(), "{hit:?}");
        assert!(hit.snippet.to_lowercase().contains("error"), "{hit:?}");
    }
}
