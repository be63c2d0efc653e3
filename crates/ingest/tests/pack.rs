//! Scenario packs as sources: a folder and a zip, healthy and broken.

use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::discover::discover;
use ingest::import::{ImportResult, import};
use model::Warning;
use store::{Store, WarningFilter};

use crate::hostile_kit::{open_zip, zip_of};

const MANIFEST: &str = r#"{
  "format": "stamina-pack/7",
  "generator": {"name": "stamina", "version": "0.1.0"},
  "scenarios": [
    {"folder": "scenario_0", "title": "Parcel logistics", "turns": 1},
    {"folder": "scenario_1", "title": "Bicycle workshop", "turns": 1}
  ]
}
"#;

fn pack(manifest: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("manifest.json".to_owned(), manifest.as_bytes().to_vec())];
    for scenario in 0..2 {
        for path in ["schemas/turn_1.yaml", "test_suites/turn_1.py", "ground_truth/turn_1.py"] {
            files.push((format!("scenario_{scenario}/{path}"), b"x: 1\n".to_vec()));
        }
    }
    files
}

fn folder(files: &[(String, Vec<u8>)]) -> (tempfile::TempDir, Tree) {
    let temp = tempfile::tempdir().expect("a folder");
    for (path, bytes) in files {
        let path = temp.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    let tree = Tree::open(temp.path()).expect("a tree");
    (temp, tree)
}

fn read(tree: &Tree) -> (ImportResult, Vec<Warning>) {
    let temp = tempfile::tempdir().expect("a folder");
    let store = Store::open(&temp.path().join("library.sqlite")).expect("a library");
    let source = store.put_source("/somewhere", "pack", tree.is_zip()).expect("a source");
    let imported = import(tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).expect("it is read");
    let warnings = store.warnings(source, &WarningFilter::default(), 0, 100).expect("warnings").warnings;
    (imported, warnings)
}

#[test]
fn a_pack_is_a_source_without_runs_in_a_folder_and_a_zip() {
    let files = pack(MANIFEST);
    let (_kept, in_folder) = folder(&files);
    let (_kept_too, in_zip) = open_zip(&zip_of(&files));
    for tree in [in_folder, in_zip.expect("a tree")] {
        let found = discover(&tree).expect("it is recognized");
        assert_eq!(found.places.len(), 1, "what lies below is not searched");
        let (imported, warnings) = read(&tree);
        assert_eq!(
            (imported.formats.as_slice(), imported.format_names.as_str()),
            (&["pack"][..], "Scenario pack")
        );
        assert_eq!((imported.counts.runs, imported.parts_read), (0, 0));
        assert_eq!(warnings, [], "nothing is wrong with it");
    }
}

#[test]
fn a_pack_below_other_folders_is_found() {
    let nested: Vec<_> =
        pack(MANIFEST).into_iter().map(|(path, bytes)| (format!("packs/a/{path}"), bytes)).collect();
    let (_kept, tree) = folder(&nested);
    let found = discover(&tree).expect("it is recognized");
    assert_eq!(found.places.iter().map(|place| place.folder.as_str()).collect::<Vec<_>>(), ["packs/a"]);
}

#[test]
fn what_is_wrong_with_a_pack_is_reported() {
    let mut files = pack(MANIFEST);
    files.retain(|(path, _)| !path.starts_with("scenario_1/"));
    let codes_of = |files: &[(String, Vec<u8>)]| {
        let (_kept, tree) = folder(files);
        read(&tree).1.into_iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    assert!(codes_of(&files).contains(&"pack.scenario_missing".to_owned()));
    for earlier in ["pack/3", "pack/4", "pack/5", "pack/6"] {
        assert_eq!(codes_of(&pack(&MANIFEST.replace("pack/7", earlier))), [""; 0], "{earlier} is read");
    }
    assert_eq!(codes_of(&pack(&MANIFEST.replace("pack/7", "pack/9"))), ["pack.version"]);
    assert_eq!(codes_of(&pack(&MANIFEST[..MANIFEST.len() / 2])), ["json.truncated"]);
}

#[test]
// docs/security.md: A scenario pack
fn a_manifest_of_millions_of_scenarios_is_refused() {
    let manifest = |count: usize| {
        let scenarios = vec![r#"{"folder":"scenario_0"}"#; count].join(",");
        format!(r#"{{"format":"stamina-pack/7","scenarios":[{scenarios}]}}"#)
    };
    let warnings_of = |manifest: &str| {
        let (_kept, tree) = folder(&pack(manifest));
        let warnings = read(&tree).1.into_iter();
        warnings.map(|warning| (warning.code, warning.path, warning.message)).collect::<Vec<_>>()
    };
    assert!(warnings_of(&manifest(1000)).is_empty());
    for count in [1001, 100_000] {
        let warnings = warnings_of(&manifest(count));
        let [(code, path, message)] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!((code.as_str(), path.as_str()), ("json.wrong_type", "manifest.json"));
        assert!(message.contains("at most 1000 scenarios"), "{message}");
    }
    let long = manifest(1).replace("scenario_0", &"x".repeat(1 << 20));
    let warnings = warnings_of(&long);
    let [(code, path, _)] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!((code.as_str(), path.as_str()), ("pack.scenario_missing", "manifest.json"));
}

#[test]
fn a_manifest_of_something_else_is_no_pack() {
    let (_kept, tree) = folder(&pack(r#"{"name": "an app", "scenarios": []}"#));
    let error = discover(&tree).expect_err("it is nothing");
    let lookup =
        error.formats.iter().find(|lookup| lookup.format == "Scenario pack").expect("it was looked for");
    assert_eq!(lookup.found, "manifest.json of another format");
}
