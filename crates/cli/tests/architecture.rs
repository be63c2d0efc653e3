//! What the documents say of the house: ARCHITECTURE.md which crate depends on which, docs/security.md which tests hold its
//! promises.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Table = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository")
}

/// The table under "Rooms": | `crate` | folder | what | depends on |
fn documented() -> Table {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rooms = text.split("## Rooms").nth(1).expect("a section Rooms");
    rooms
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let names =
                cells[4].split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
            (cells[1].trim_matches('`').to_owned(), names)
        })
        .collect()
}

fn actual() -> Table {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|d| d["kind"].is_null())
                .filter_map(|d| d["name"].as_str())
                .filter(|name| ours.contains(name))
                .map(str::to_owned)
                .collect();
            (package["name"].as_str().expect("name").to_owned(), dependencies)
        })
        .collect()
}

#[test]
fn the_crate_table_is_what_cargo_says() {
    assert_eq!(documented(), actual());
}

/// The text of every Rust file of the crates.
fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}

#[test]
fn every_test_that_a_promise_of_security_names_exists() {
    let text = std::fs::read_to_string(root().join("docs/security.md")).expect("docs/security.md");
    let mut all = String::new();
    sources(&root().join("crates"), &mut all);
    let mut named = 0;
    for paragraph in text.split("\n\n").filter(|paragraph| paragraph.starts_with("Tests: ")) {
        for name in paragraph.split('`').skip(1).step_by(2) {
            named += 1;
            let exists = if name.contains('/') {
                root().join(name).is_file()
            } else {
                all.contains(&format!("fn {name}("))
            };
            assert!(exists, "docs/security.md names {name}, which does not exist");
        }
    }
    assert!(named > 20, "only {named} tests are named");
}
