//! The index of transcripts and logs: how large it is, and that the open app makes it by itself.

use std::path::Path;
use std::time::{Duration, Instant};

use test_folders::copy;
use workbench::api::{OpenSource, SearchRequest, TextKind};
use workbench::{Options, Workbench};

use crate::library::{Library, repository};

fn search(workbench: &Workbench, text: &str) -> workbench::api::TextHits {
    workbench.search_texts(SearchRequest { text: text.to_owned(), limit: 50 }).expect("places")
}

/// Unpacks a folder of a zip.
fn unpack(tree: &files::Tree, folder: &str, target_folder: &Path) {
    std::fs::create_dir_all(target_folder).expect("a folder");
    for entry in tree.list(folder) {
        let (path, target) = (files::join(folder, &entry.name), target_folder.join(&entry.name));
        if entry.is_folder() {
            unpack(tree, &path, &target);
        } else {
            std::fs::write(target, tree.read(&path, 1 << 30).expect("a file")).expect("a file");
        }
    }
}

#[test]
fn the_index_is_at_most_a_quarter_of_the_text() {
    let root = repository();
    let folder = tempfile::tempdir().expect("a folder");
    // One scenario of one run of the sample: it is like the others.
    let sample = files::Tree::open(&root.join("data/sample-simulated.zip")).expect("the sample");
    let run = folder.path().join("claude-code-middling");
    unpack(&sample, "claude-code-middling/scenario_0", &run.join("scenario_0"));
    for name in ["config.yaml", "report.json"] {
        let content = sample.read(&format!("claude-code-middling/{name}"), 1 << 20).expect("a file");
        std::fs::write(run.join(name), content).expect("a file");
    }
    let fixtures = root.join("tests/fixtures");
    for source in [run, fixtures.join("harbor/jobs"), fixtures.join("staminabench")] {
        let library = Library::new(std::slice::from_ref(&source));
        let source = source.display();
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
// docs/security.md: An opened folder or zip
fn a_log_that_all_trials_of_a_job_name_is_indexed_and_found_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("oracle-k2");
    copy(&repository().join("tests/fixtures/harbor/jobs/oracle-k2"), &job);
    let text = |words: &str| format!("{words}\n").repeat(100_000);
    std::fs::write(job.join("job.log"), text("zwiebelkuchen")).expect("a log");
    let library = Library::new(&[job]);
    // Six trials name it.
    let bytes = library.workbench.index_texts().expect("an index");
    let log_bytes = text("zwiebelkuchen").len() as u64;
    assert!(
        (log_bytes - 100_000..2 * log_bytes).contains(&bytes),
        "{bytes} bytes read of a log of {log_bytes}"
    );
    let found = search(&library.workbench, "zwiebelkuchen");
    assert_eq!((found.hits.len(), found.complete, found.in_part), (1, true, 0), "{found:?}");
    assert_eq!((found.hits[0].log.as_deref(), found.hits[0].line), (Some("job.log"), Some(1)));
}

/// A line with each of the words stood for a file that has them as a phrase further down.
#[test]
fn the_line_with_the_phrase_is_the_place_and_quotation_marks_want_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("oracle-k2");
    copy(&repository().join("tests/fixtures/harbor/jobs/oracle-k2"), &job);
    let lines = "zwiebel has no such kuchen\nfiller\nerror: zwiebel kuchen, whole\nzwiebel kuchens\n";
    std::fs::write(job.join("job.log"), lines).expect("a log");
    let library = Library::new(&[job]);
    library.workbench.index_texts().expect("an index");
    for words in ["zwiebel kuchen", "\"Zwiebel kuchen\"", "zwiebel \"kuchen", "\"\" zwiebel kuchen"] {
        let found = search(&library.workbench, words).hits;
        let everywhere = library.workbench.search_everything(words, 10, &|_, _| {}).expect("places").hits;
        for hit in [&found[0], &everywhere[0]] {
            assert_eq!((hit.line, hit.log.as_deref()), (Some(3), Some("job.log")), "{words}: {hit:?}");
            assert!(hit.snippet.contains("zwiebel kuchen, whole"), "{words}: {hit:?}");
        }
    }
    assert!(search(&library.workbench, "\"kuchen zwiebel\"").hits.is_empty());
    assert!(search(&library.workbench, "\"has kuchen\"").hits.is_empty());
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
        let is_log_line = hit.kind == TextKind::Log && hit.log.is_some() && hit.line.is_some();
        assert!(is_log_line || hit.kind == TextKind::Transcript && hit.step.is_some(), "{hit:?}");
        assert!(hit.snippet.to_lowercase().contains("error"), "{hit:?}");
    }
}
