//! A whole source: full of harm, or with nothing that is recognized.

use std::fs;
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::import::{ImportError, import};
use store::{Store, WarningFilter};

use crate::hostile_formats::damaged;
use crate::hostile_formats::samples::harbor;
use crate::hostile_kit::{ZipEntry, write_folder, zip};

/// Everything at once, through the store: the import ends, says what it left out, and does the same again.
#[test]
// docs/security.md: An opened folder or zip
fn a_folder_and_a_zip_full_of_harm_are_imported_all_the_same() {
    let sample = harbor();
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    write_folder(&root, &sample.files);
    let mut entries: Vec<_> = sample.files.iter().map(|(p, b)| ZipEntry::deflated(p, b)).collect();
    let trials: Vec<_> =
        sample.files.iter().filter_map(|(p, _)| p.strip_suffix("/trial.log")).map(str::to_owned).collect();
    for (trial, damage) in trials.iter().zip(["cut", "empty", "not UTF-8", "a list", "large"]) {
        let path = root.join(trial).join("result.json");
        let bytes = damaged(&fs::read(&path).unwrap(), damage).unwrap();
        fs::write(&path, &bytes).unwrap();
        let name = format!("{trial}/result.json");
        let entry = entries.iter_mut().find(|e| e.name == name.as_bytes()).unwrap();
        *entry = ZipEntry::stored(name, bytes);
        if damage == "large" {
            fs::File::options().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
            entry.size = u32::MAX - 1;
        }
    }
    std::os::unix::fs::symlink("/etc", root.join("failures/etc")).unwrap();
    std::os::unix::fs::symlink("..", root.join("failures/loop")).unwrap();
    entries.push(ZipEntry::stored("../evil", "x"));
    entries.push(ZipEntry::stored("failures/etc", "/etc").changed(|e| e.mode = 0o120_777));
    entries.push(ZipEntry::stored("failures/result.json", "{}"));
    let zipped = temp.path().join("results.zip");
    fs::write(&zipped, zip(&entries)).unwrap();

    for path in [&root, &zipped] {
        let store = Store::in_memory().unwrap();
        let source = store.put_source(path.to_str().unwrap(), "results", path == &zipped).unwrap();
        let run_import = || {
            let tree = Tree::open(path).unwrap();
            import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap()
        };
        let first = run_import();
        assert_eq!(first.counts.episodes as usize, trials.len());
        let page = store.warnings(source, &WarningFilter::default(), 0, 1000).unwrap();
        let codes: Vec<_> = page.warnings.iter().map(|w| w.code.as_str()).collect();
        for code in ["json.truncated", "file.empty", "file.not_utf8", "json.wrong_type", "link.skipped"] {
            assert!(codes.contains(&code), "{code}: {codes:?}");
        }
        assert!(!codes.contains(&"reader.failed"), "{codes:?}");
        if path == &zipped {
            assert!(codes.contains(&"zip.name") && codes.contains(&"zip.duplicate"), "{codes:?}");
        } else {
            assert!(codes.contains(&"file.too_large"), "{codes:?}");
        }
        let repeated = run_import();
        assert_eq!((repeated.parts_read, repeated.counts), (0, first.counts));
    }
}

#[test]
fn a_folder_of_nothing_names_every_format() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("notes.md"), "n").unwrap();
    let store = Store::in_memory().unwrap();
    let source = store.put_source("x", "x", false).unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    let error = import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap_err();
    let ImportError::NotRecognized(listed) = error else { panic!("{error}") };
    assert_eq!((listed.files, listed.folders, listed.depth), (1, 1, 1));
    assert_eq!(listed.formats.len(), ingest::formats::all().len());
    assert!(listed.formats.iter().all(|f| !f.looked_for.is_empty() && f.found == "none"), "{listed:?}");
    assert_eq!(listed.closest, None);
}
